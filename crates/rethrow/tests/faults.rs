//! Faults of the program, of the class path and of the user, through the binary: each has its documented end, and none leaves anything
//! behind. Rows X01–X24 and I-rows of the fault table; wrong flags and unusable logs are in `cli.rs`, hostile programs in `jail.rs`.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use binary::{Ran, assert_no_survivor, command, compile, fixtures, folder, jdk_tool, living, log_of, repository, rethrow, snapshot};

const ILLEGAL_STATE: &str = "java.lang.IllegalStateException: crash";
/// What a run may take beyond its budget, by its own account …
const GRACE_MS: u64 = 2000;
/// … and how long a test waits for something to happen on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn sources() -> PathBuf {
    repository().join("testdata/faults/src/x")
}

/// The fault programs, compiled once. Copy before changing anything.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let classes = folder("faults", "classes");
        compile(&sources(), &classes);
        classes
    })
}

/// Some classes of package `x`, in a folder of their own.
fn some_classes(name: &str, chosen: &[&str]) -> PathBuf {
    let dir = folder("faults", &format!("classes-{name}"));
    std::fs::create_dir(dir.join("x")).unwrap();
    for class in chosen {
        std::fs::copy(class_file(classes(), class), class_file(&dir, class)).unwrap();
    }
    dir
}

fn class_file(classes: &Path, class: &str) -> PathBuf {
    classes.join("x").join(class).with_extension("class")
}

fn log(exception: &str, class: &str) -> String {
    log_of(exception, &format!("x.{class}"), "go", &sources().join(class).with_extension("java"))
}

/// A folder with the log of that crash.
fn crash(name: &str, exception: &str, class: &str) -> PathBuf {
    let cwd = folder("faults", name);
    std::fs::write(cwd.join("crash.log"), log(exception, class)).unwrap();
    cwd
}

/// `reproduce` within 60 s; checks what holds for every run.
fn reproduce(cwd: &Path, class_path: &Path, args: &[&str]) -> Ran {
    let before = snapshot(cwd);
    let all = [&["reproduce", "crash.log", "-cp", class_path.to_str().unwrap(), "--budget", "60s", "--workers", "1"], args].concat();
    let ran = rethrow(cwd, &all);
    assert_no_survivor(cwd, cwd.to_str().unwrap());
    assert_eq!(before, snapshot(cwd), "nothing changes outside the run directory");
    if let Some(ms) = ran.record["elapsed_ms"]["total"].as_u64() {
        assert!(ms <= 60_000 + GRACE_MS, "{ms} ms");
    }
    ran
}

#[track_caller]
fn check_reproduced(class: &str, exception: &str) -> Ran {
    let ran = reproduce(&crash(class, exception, class), classes(), &["--confirm-runs", "2"]);
    ran.check_verdict(0, "reproduced");
    assert!(ran.test().is_some());
    ran
}

#[test]
fn an_initialiser_that_never_ends_costs_little() {
    let ran = check_reproduced("SleepyInit", ILLEGAL_STATE);
    assert!(ran.record["stats"]["timeouts"].as_u64().unwrap() <= 4, "{:#}", ran.record["stats"]);
}

#[test]
fn a_class_poisoned_by_its_initialiser_harms_no_other_test() {
    check_reproduced("BadInit", ILLEGAL_STATE);
}

#[test]
fn endless_recursion_is_a_crash_like_others() {
    check_reproduced("Deep", "java.lang.StackOverflowError");
}

#[test]
fn a_crash_of_the_virtual_machine_ends_a_test_and_not_the_search() {
    let ran = check_reproduced("NativeCrash", ILLEGAL_STATE);
    assert!(ran.record["stats"]["deaths"].as_u64().unwrap() > 0, "{:#}", ran.record["stats"]);
    assert_eq!(ran.record["deterministic"], false);
}

#[test]
fn threads_that_stay_behind_do_not_pile_up() {
    check_reproduced("Threads", ILLEGAL_STATE);
}

#[test]
fn output_without_measure_and_closed_streams_do_not_disturb() {
    check_reproduced("Noise", ILLEGAL_STATE);
}

#[test]
fn input_is_at_its_end() {
    check_reproduced("Stdin", ILLEGAL_STATE);
}

#[test]
fn what_earlier_tests_left_is_no_part_of_the_crash() {
    let test = check_reproduced("SecondCall", ILLEGAL_STATE).test().unwrap();
    assert_eq!(test.matches("SecondCall.go()").count(), 2, "{test}");
}

#[test]
fn what_only_sometimes_crashes_is_not_called_reproduced() {
    let ran = reproduce(&crash("Flaky", ILLEGAL_STATE, "Flaky"), classes(), &["--confirm-runs", "12"]);
    assert!([Some(1), Some(5)].contains(&ran.code), "{ran:?}");
    assert!(["flaky", "not_reproduced"].contains(&ran.record["verdict"].as_str().unwrap()), "{ran:?}");
    assert!(!ran.out.contains('✔'), "{}", ran.out);
}

#[test]
fn a_missing_supertype_is_named_before_anything_runs() {
    let cwd = crash("Needs", ILLEGAL_STATE, "Needs");
    let ran = reproduce(&cwd, &some_classes("needs", &["Needs"]), &[]);
    ran.check(3, &["x.Needs cannot be loaded: its supertype x.Absent is not on the class path", "--classpath"]);
    assert!(!cwd.join("rethrow.out").exists(), "no worker started");
}

/// Whoever runs the test has JUnit: a class that extends it needs no more than that.
#[test]
fn what_extends_junit_is_loaded_with_the_junit_that_runs_tests() {
    let cwd = folder("faults", "framework");
    let (source, classes) = (cwd.join("Suite.java"), cwd.join("classes"));
    let jar = |name: &str| repository().join("target/jars").join(name);
    let text = "package x;\npublic class Suite extends junit.framework.TestCase {\n    public static void go(int n) {\n        if (n == 7)\n            throw new \
                IllegalStateException(\"crash\"); // crash\n    }\n}\n";
    std::fs::write(&source, text).unwrap();
    let mut javac = Command::new(jdk_tool("javac"));
    assert!(javac.arg("-g").arg("-cp").arg(jar("junit-4.13.2.jar")).arg("-d").arg(&classes).arg(&source).status().unwrap().success());
    std::fs::write(cwd.join("crash.log"), log_of(ILLEGAL_STATE, "x.Suite", "go", &source)).unwrap();
    let home = cwd.join("home");
    let run = || {
        let args = ["reproduce", "crash.log", "--classpath", "classes", "--budget", "60s", "--confirm-runs", "1"];
        Ran::of(command(&cwd, &args).env("HOME", &home).output().unwrap(), Instant::now(), &cwd.join("rethrow.out"))
    };
    run().check(3, &["its supertype junit.framework.TestCase is not on the class path"]);
    for (folder, name) in [("junit/junit/4.13.2", "junit-4.13.2.jar"), ("org/hamcrest/hamcrest-core/1.3", "hamcrest-core-1.3.jar")] {
        let folder = home.join(".m2/repository").join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(jar(name), folder.join(name)).unwrap();
    }
    run().check_verdict(0, "reproduced");
}

#[test]
fn a_missing_class_that_the_crash_does_not_need_is_not_in_the_way() {
    let ran = reproduce(&crash("Mentions", ILLEGAL_STATE, "Mentions"), &some_classes("mentions", &["Mentions"]), &["--confirm-runs", "2"]);
    ran.check_verdict(0, "reproduced");
}

#[test]
fn a_corrupt_class_on_the_trace_is_told() {
    let class_path = some_classes("corrupt", &["Stdin", "SecondCall"]);
    cut_in_half(&class_file(&class_path, "Stdin"));
    let ran = reproduce(&crash("corrupt", ILLEGAL_STATE, "Stdin"), &class_path, &[]);
    ran.check(3, &["frame 1  ✗ class", "class x/Stdin in", "cannot be read: class file ends early"]);
}

#[test]
fn a_corrupt_class_off_the_trace_is_noted() {
    let class_path = some_classes("corrupt-off", &["Stdin", "SecondCall"]);
    cut_in_half(&class_file(&class_path, "Stdin"));
    let ran = reproduce(&crash("corrupt-off", ILLEGAL_STATE, "SecondCall"), &class_path, &["--confirm-runs", "1"]);
    ran.check_verdict(0, "reproduced");
    assert!(ran.record["diagnostics"].to_string().contains("class x/Stdin"), "{:#}", ran.record["diagnostics"]);
}

#[test]
fn a_class_off_the_trace_that_no_jdk_can_read_is_left_out() {
    let class_path = some_classes("new-off", &["Stdin", "SecondCall"]);
    let file = class_file(&class_path, "Stdin");
    let mut class = std::fs::read(&file).unwrap();
    class[6..8].copy_from_slice(&[0, 70]);
    std::fs::write(file, class).unwrap();
    let ran = reproduce(&crash("new-off", ILLEGAL_STATE, "SecondCall"), &class_path, &["--confirm-runs", "1"]);
    ran.check_verdict(0, "reproduced");
}

#[test]
fn a_jar_that_was_cut_off_is_told() {
    let cwd = crash("cut-jar", ILLEGAL_STATE, "Stdin");
    let jar = cwd.join("app.jar");
    let made = Command::new(jdk_tool("jar")).arg("cf").arg(&jar).arg("-C").arg(classes()).arg("x").status().unwrap();
    assert!(made.success());
    reproduce(&cwd, &jar, &["--confirm-runs", "1"]).check_verdict(0, "reproduced");
    cut_in_half(&jar);
    reproduce(&cwd, &jar, &[]).check(3, &["cannot read", "app.jar"]);
}

fn cut_in_half(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

/// A search that finds nothing for five minutes, seen to have a worker.
fn start_endless(cwd: &Path) -> Child {
    let args = ["reproduce", "crash.log", "-cp", classes().to_str().unwrap(), "--budget", "5m", "--workers", "1"];
    let child = command(cwd, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while workers(cwd).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!workers(cwd).is_empty(), "no worker was seen");
    child
}

/// Processes that work below the run directory.
fn workers(cwd: &Path) -> Vec<String> {
    living(&cwd.join("rethrow.out"), "no process is called like this")
}

#[test]
fn killing_rethrow_ends_its_workers_and_frees_the_run_directory() {
    let cwd = crash("kill", "java.lang.ArithmeticException", "Deep");
    let mut child = start_endless(&cwd);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_no_survivor(&cwd, cwd.to_str().unwrap());
    std::fs::write(cwd.join("crash.log"), log(ILLEGAL_STATE, "Stdin")).unwrap();
    reproduce(&cwd, classes(), &["--confirm-runs", "1"]).check_verdict(0, "reproduced");
    let left: Vec<_> = std::fs::read_dir(cwd.join("rethrow.out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| ["run.json", "lock", "tests"].iter().any(|known| name == known)), "of the killed run there is still {left:?}");
}

#[test]
fn a_second_run_in_the_same_directory_leaves_the_first_alone() {
    let cwd = crash("two-runs", "java.lang.ArithmeticException", "Deep");
    let mut first = start_endless(&cwd);
    let second = rethrow(&cwd, &["reproduce", "crash.log", "-cp", classes().to_str().unwrap()]);
    second.check(4, &["in use by another run", &first.id().to_string(), "--run-dir"]);
    assert!(first.try_wait().unwrap().is_none() && !workers(&cwd).is_empty(), "the first goes on");
    assert!(Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(130));
    assert_no_survivor(&cwd, cwd.to_str().unwrap());
}

/// What of a record does not depend on clocks, folders and the number of workers.
fn timeless(ran: &Ran) -> serde_json::Value {
    let mut record = ran.record.clone();
    let object = record.as_object_mut().unwrap();
    for key in ["elapsed_ms", "config", "test", "run", "replay"] {
        assert!(object.remove(key).is_some(), "{key}");
    }
    let stats = object["stats"].as_object_mut().unwrap();
    for key in ["tests_per_s", "workers", "restarts"] {
        assert!(stats.remove(key).is_some(), "{key}");
    }
    object.insert("text".into(), ran.test().into());
    record
}

#[test]
fn the_seed_decides_everything_whatever_the_number_of_workers() {
    for (fixture, evaluations) in [("F10", "20000"), ("F11", "20000"), ("F03", "6000")] {
        let log = fixtures().join("logs").join(fixture).with_extension("log");
        let class_path = fixtures().join("classes");
        let run = |workers: &str, seed: &str, label: &str| {
            let cwd = folder("faults", &format!("seed-{fixture}-{label}"));
            let args = ["reproduce", log.to_str().unwrap(), "-cp", class_path.to_str().unwrap(), "--seed", seed, "--workers", workers];
            timeless(&rethrow(&cwd, &[&args[..], &["--max-evaluations", evaluations, "--confirm-runs", "0"]].concat()))
        };
        let first = run("1", "3", "one");
        assert_eq!(first["deterministic"], true, "{first:#}");
        assert_eq!(first, run("1", "3", "again"), "{fixture}: the same twice");
        assert_eq!(first, run("2", "3", "two"), "{fixture}: with two workers");
        assert_ne!(first, run("1", "4", "other"), "{fixture}: another seed is another search");
    }
}
