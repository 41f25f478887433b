//! P18: a rendered test, compiled and run by plain Java, ends as the worker said it would. Random tests of real libraries, in the jail.

#![allow(clippy::unwrap_used)]

mod random;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rethrow_core::target::confirmation::Ended;
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, Session, TestStyle};
use rethrow_core::testcase::{Stmt, TestCase};
use rethrow_jvm::junit::{JUnit, parse_result};
use rethrow_jvm::launch;
use rethrow_worker::process::{JailedCommand, Scratch, run_to_end};

use random::{Random, Shown, Subject, WORKER, jdks, links};

/// Tests that are compared …
const TESTS: usize = 1000;
/// … and made, since some do not end by themselves.
const MADE: usize = 1100;
const BATCH: usize = 50;
/// Has calls that only a bridge method answers.
const SEED: u64 = 19;
const ALL_SEEDS: u64 = 5;
const MAIN: &str = "RethrowMain";
const RESULTS: &str = "results";
/// For all tests together, on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);
/// Tests that may end the JVM before it is given up.
const MAX_RESTARTS: usize = 10;

/// A test under a name of its own, and what the worker says of it.
struct Case {
    test: TestCase,
    rendered: RenderedTest,
    expected: Shown,
}

/// Which threads a JVM has, and under which numbers, is its own affair: the worker's and a plain one differ in it.
fn looks_at_threads(subject: &Subject, test: &TestCase) -> bool {
    let mut owners = test.stmts.iter().filter_map(Stmt::callee).map(|m| subject.program.method(m).owner);
    owners.any(|t| subject.program.type_name(t) == "org.apache.commons.lang3.ThreadUtils")
}

/// Executes the tests and renders those that end by themselves: the others would stop the whole run.
fn cases(subject: &Subject, seed: u64) -> (Vec<Case>, Vec<String>) {
    let random = subject.tests(seed, MADE);
    let tests: Vec<TestCase> = random.iter().map(|r| r.test.clone()).collect();
    let mut session = launch::start(&subject.program, &subject.watch(), &subject.config()).unwrap();
    let results: Vec<Shown> = tests.chunks(BATCH).flat_map(|batch| session.execute(batch).unwrap()).map(|e| Shown::of(&e)).collect();
    let junit = JUnit::new(subject.classpath.clone());
    let header = Header { tool: "rethrow".into(), seed, ..Header::default() };
    let style = RenderStyle { style: TestStyle::Failing, framework: 4, header };
    let (mut cases, mut refused) = (Vec::new(), Vec::new());
    for (i, (Random { goal, test }, expected)) in random.into_iter().zip(results).enumerate() {
        if matches!(expected, Shown::Other(_)) || expected.is_exhausted() || looks_at_threads(subject, &test) {
            continue;
        }
        match junit.render(&subject.program, &goal, 1, &test, &style) {
            Ok(rendered) => cases.push(Case { test, rendered: numbered(rendered, i), expected }),
            Err(why) => refused.push(why),
        }
    }
    cases.truncate(TESTS);
    (cases, refused)
}

/// `Foo7_CrashTest` for `Foo_CrashTest`.
fn numbered(test: RenderedTest, i: usize) -> RenderedTest {
    let simple = test.name.rsplit('.').next().unwrap();
    let stem = simple.strip_suffix("_CrashTest").unwrap();
    let own = format!("{stem}{i}_CrashTest");
    RenderedTest {
        path: test.path.with_file_name(format!("{own}.java")),
        name: test.name.replace(simple, &own),
        method: test.method,
        text: test.text.replace(&format!("class {simple} "), &format!("class {own} ")),
    }
}

/// Calls the tests from a number on, or one alone, and writes after each what it did.
fn main_source(cases: &[Case]) -> String {
    let mut calls = String::new();
    for (i, case) in cases.iter().enumerate() {
        writeln!(calls, "            case {i}: new {}().{}(); return;", case.rendered.name, case.rendered.method).unwrap();
    }
    MAIN_SOURCE.replace("MAIN", MAIN).replace("COUNT", &cases.len().to_string()).replace("CALLS", &calls)
}

const MAIN_SOURCE: &str = r#"public final class MAIN {
    static void call(int i) throws Throwable {
        switch (i) {
CALLS
        }
    }
    public static void main(String[] args) throws Exception {
        java.io.FileOutputStream file = new java.io.FileOutputStream(args[0], true);
        int from = Integer.parseInt(args[1]);
        int to = args.length > 2 ? from + 1 : COUNT;
        for (int i = from; i < to; i++) {
            Throwable thrown = null;
            try {
                call(i);
            } catch (Throwable t) {
                thrown = t;
            }
            StringBuilder out = new StringBuilder("TEST\t" + i + "\n" + (thrown == null ? "RETURNED\n" : "THROWN\n"));
            int depth = 0;
            for (Throwable t = thrown; t != null && depth++ < 20; t = causeOf(t)) {
                out.append("T\t").append(t.getClass().getName()).append('\n');
                for (StackTraceElement f : t.getStackTrace()) {
                    out.append("F\t" + f.getClassName() + "\t" + f.getMethodName() + "\t" + f.getLineNumber() + "\n");
                }
            }
            file.write(out.append("END\n").toString().getBytes("UTF-8"));
        }
        Runtime.getRuntime().halt(0);
    }
    static Throwable causeOf(Throwable t) {
        try {
            return t.getCause();
        } catch (Throwable broken) {
            return null;
        }
    }
}
"#;

/// The folder of compiled tests.
fn compile(subject: &Subject, cases: &[Case], folder: &Path) {
    let sources = folder.join("src");
    let mut files = vec![(PathBuf::from("org/junit/Test.java"), "package org.junit; public @interface Test {}".to_owned())];
    files.push((format!("{MAIN}.java").into(), main_source(cases)));
    files.extend(cases.iter().map(|c| (c.rendered.path.clone(), c.rendered.text.clone())));
    let mut list = String::new();
    for (path, text) in &files {
        let path = sources.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        writeln!(list, "{}", path.display()).unwrap();
    }
    fs::write(folder.join("files"), list).unwrap();
    let classes = folder.join("classes");
    fs::create_dir_all(&classes).unwrap();
    let done = Command::new(subject.jdk.javac.as_ref().unwrap())
        .args(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-Xmaxerrs", "2000", "-cp"])
        .arg(class_path(subject, &[]))
        .arg("-d")
        .arg(&classes)
        .arg(format!("@{}", folder.join("files").display()))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn class_path(subject: &Subject, more: &[&Path]) -> String {
    let entries = more.iter().copied().chain(subject.files.iter().map(PathBuf::as_path));
    entries.map(|p| p.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Plain Java in the jail, as a confirmation runs it: what tests did, by number.
fn run(subject: &Subject, folder: &Path, from: usize, alone: bool) -> BTreeMap<usize, Shown> {
    let scratch = Scratch::create(&std::env::temp_dir()).unwrap();
    let (classes, results) = (folder.join("classes"), scratch.path().join(RESULTS));
    let mut command = JailedCommand::new(WORKER, scratch.path(), &subject.jdk.java).read(&classes).read(&subject.jdk.home);
    command.read.extend(subject.files.iter().cloned());
    let mut args =
        ["-XX:-UsePerfData", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-OmitStackTraceInFastThrow", "-Xmx256m", "-Djava.awt.headless=true"]
            .map(str::to_owned)
            .to_vec();
    // As the worker has it: identity hashes are not left to chance, and there is one folder that can be written to.
    args.extend(["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"].map(str::to_owned));
    args.extend(["java.io.tmpdir", "user.home"].map(|property| format!("-D{property}={}", scratch.path().display())));
    args.extend(["-cp".into(), class_path(subject, &[&classes]), MAIN.into(), results.display().to_string(), from.to_string()]);
    args.extend(alone.then(|| "alone".to_owned()));
    command = command.args(args);
    let ended = run_to_end(&command, LIMIT, 4000).unwrap();
    let text = fs::read_to_string(&results).unwrap_or_else(|_| panic!("nothing ran: {}", ended.stderr.text()));
    text.split("TEST\t").filter_map(shown).collect()
}

/// A section of the results.
fn shown(section: &str) -> Option<(usize, Shown)> {
    let (number, rest) = section.split_once('\n')?;
    let shown = match parse_result(rest)? {
        Ended::Returned => Shown::Normal,
        Ended::Thrown(mut chain) => {
            chain.iter_mut().for_each(|t| t.frames.retain(|f| f.class != MAIN && !f.class.ends_with("_CrashTest")));
            Shown::Thrown(None, links(&chain))
        }
    };
    Some((number.parse().ok()?, shown))
}

/// All tests in as few processes as they allow. One that ends its process has no result.
fn run_all(subject: &Subject, folder: &Path, count: usize) -> BTreeMap<usize, Shown> {
    let mut all = BTreeMap::new();
    let mut from = 0;
    for _ in 0..MAX_RESTARTS {
        all.extend(run(subject, folder, from, false));
        from = all.last_key_value().map_or(from, |(last, _)| last + 1);
        if from >= count {
            return all;
        }
        from += 1;
    }
    panic!("the JVM ended {MAX_RESTARTS} times");
}

/// The statement is not known to Java.
fn anywhere(shown: &Shown) -> Shown {
    match shown {
        Shown::Thrown(_, chain) => Shown::Thrown(None, chain.clone()),
        other => other.clone(),
    }
}

fn check(subject: &Subject, seed: u64) {
    let (cases, refused) = cases(subject, seed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rendering-{}", subject.jdk.feature));
    let _ = fs::remove_dir_all(&folder);
    compile(subject, &cases, &folder);
    let got = run_all(subject, &folder, cases.len());
    let mut session = launch::start(&subject.program, &subject.watch(), &subject.config()).unwrap();
    let (mut failures, mut earlier, mut chance) = (Vec::new(), 0, 0);
    for (i, case) in cases.iter().enumerate() {
        if got.get(&i) == Some(&anywhere(&case.expected)) {
            continue;
        }
        // Nothing is put back between the tests of a plain JVM: alone they must agree.
        let alone = || run(subject, &folder, i, true).remove(&i);
        let (first, second) = (alone(), alone());
        let pristine = anywhere(&Shown::of(&session.execute_pristine(&case.test).unwrap()));
        if first != second {
            chance += 1;
        } else if first.as_ref() == Some(&pristine) && pristine == anywhere(&case.expected) {
            earlier += 1;
        } else {
            let Case { rendered, expected, test } = case;
            let shown = subject.show(test);
            failures.push(format!("worker {expected:?}, alone {pristine:?}\nJava {:?}, alone {first:?}\n{}{shown}", got.get(&i), rendered.text));
        }
    }
    let (jdk, count) = (subject.jdk.feature, cases.len());
    let thrown = cases.iter().filter(|c| c.expected != Shown::Normal).count();
    println!(
        "JDK {jdk}, seed {seed}: {count} compared, {thrown} of them throw, {} refused, {earlier} earlier, {chance} chance, {} differ",
        refused.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "JDK {jdk}, seed {seed}: {} of {count} differ\n{}", failures.len(), failures.join("\n"));
    assert!(count == TESTS && refused.len() < TESTS / 50 && thrown > TESTS / 10, "{count} compared, {thrown} throw, refused: {refused:?}");
    assert!(earlier + chance <= TESTS / 50, "{earlier} only differ alone, {chance} by chance");
}

#[test]
fn a_rendered_test_does_what_the_worker_saw() {
    let all = std::env::var_os("RETHROW_ALL").is_some();
    for jdk in jdks().into_iter().take(if all { usize::MAX } else { 1 }) {
        let subject = Subject::open(jdk);
        (SEED..SEED + if all { ALL_SEEDS } else { 1 }).for_each(|seed| check(&subject, seed));
    }
}
