//! Sessions with real JVMs, in the jail: what tests do to their worker, and that the next test does not notice.

// Functions that only tests call are tests too.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use rethrow_core::execution::{Execution, Outcome, Seen};
use rethrow_core::goal;
use rethrow_core::objective::context;
use rethrow_core::program::{MethodKind, Prim, Program, Ty};
use rethrow_core::target::Session;
use rethrow_core::testcase::{Env, Stmt, TestCase, Value, Var};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::{self, Jdk, Search};
use rethrow_jvm::launch::{self, JvmSession, SessionConfig, StartError, Watch, watch};

const WORKER: &str = env!("CARGO_BIN_EXE_jvm-worker");
const SUBJECT: &str = "s.Subject";

/// The subject, compiled and loaded for one JDK.
struct Fixture {
    jdk: Jdk,
    classes: PathBuf,
    classpath: Arc<ClassPath>,
    program: Program,
}

/// One for each version of the JDK on this machine.
fn fixtures() -> &'static [Fixture] {
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let (home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
        let found = jdk::find(Search { java_home: home.as_deref(), path: path.as_deref(), ..Search::default() });
        let mut usable: Vec<Jdk> = found.into_iter().filter(|j| j.javac.is_some()).collect();
        usable.sort_by_key(|j| j.feature);
        usable.dedup_by_key(|j| j.feature);
        assert!(!usable.is_empty(), "these tests need a JDK");
        usable.into_iter().map(fixture).collect()
    })
}

fn fixture(jdk: Jdk) -> Fixture {
    let classes = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("session-{}", jdk.feature));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session/Subject.java");
    std::fs::create_dir_all(&classes).unwrap();
    let javac = Command::new(jdk.javac.as_ref().unwrap()).args(["-nowarn", "-g", "-d"]).arg(&classes).arg(source).output().unwrap();
    assert!(javac.status.success(), "{}", String::from_utf8_lossy(&javac.stderr));
    let classpath = Arc::new(ClassPath::open(&[classes.to_str().unwrap().to_owned()], &jdk).unwrap().value);
    let program = load(classpath.clone()).value;
    Fixture { jdk, classes, classpath, program }
}

impl Fixture {
    fn watch(&self) -> Watch {
        let subject = self.program.find_type(SUBJECT).unwrap();
        let watch = watch(&self.program, &[subject], |name| self.classpath.class_bytes(name));
        assert!(watch.problems.is_empty(), "{:?}", watch.problems);
        watch
    }
    fn config(&self) -> SessionConfig {
        let mut config = SessionConfig::new(WORKER.into(), self.jdk.clone(), vec![self.classes.clone()], std::env::temp_dir());
        config.heap_mb = 96;
        config
    }
    fn session(&self) -> JvmSession<'_> {
        launch::start(&self.program, &self.watch(), &self.config()).unwrap()
    }
    fn string(&self) -> Ty {
        self.program.well_known().string
    }
}

/// Builds a test by names.
struct Build<'f>(&'f Program, TestCase);

impl<'f> Build<'f> {
    fn new(f: &'f Fixture) -> Self {
        Build(&f.program, TestCase::default())
    }
    fn int(&mut self, v: i32) -> Var {
        self.1.push(Stmt::Lit(Value::Int(v)))
    }
    fn text(&mut self, v: &str) -> Var {
        self.1.push(Stmt::Str(v.into()))
    }
    fn call(&mut self, class: &str, name: &str, recv: Option<Var>, args: &[Var]) -> Var {
        let ty = self.0.find_type(class).unwrap();
        let method = self.0.methods_named(ty, name).next().unwrap_or_else(|| panic!("no {class}.{name}"));
        let args = args.to_vec();
        self.1.push(match self.0.method(method).kind {
            MethodKind::Constructor => Stmt::New { ctor: method, args },
            _ => Stmt::Call { method, recv, args },
        })
    }
    fn subject(&mut self, value: i32) -> Var {
        let value = self.int(value);
        self.call(SUBJECT, "<init>", None, &[value])
    }
}

/// A test that calls one static method of the subject without arguments.
fn plain(f: &Fixture, method: &str) -> TestCase {
    let mut b = Build::new(f);
    b.call(SUBJECT, method, None, &[]);
    b.1
}

fn with_text(f: &Fixture, method: &str, text: &str) -> TestCase {
    let mut b = Build::new(f);
    let text = b.text(text);
    b.call(SUBJECT, method, None, &[text]);
    b.1
}

fn with_int(f: &Fixture, method: &str, n: i32) -> TestCase {
    let mut b = Build::new(f);
    let n = b.int(n);
    b.call(SUBJECT, method, None, &[n]);
    b.1
}

/// `new Subject(1).method(n)`
fn on_subject(f: &Fixture, method: &str, n: i32) -> TestCase {
    let mut b = Build::new(f);
    let subject = b.subject(1);
    let n = b.int(n);
    b.call(SUBJECT, method, Some(subject), &[n]);
    b.1
}

const SOURCE: &str = include_str!("fixtures/session/Subject.java");

/// `Class.method:` with the line of the source that holds `text`.
fn place(method: &str, text: &str) -> String {
    let mut lines = SOURCE.lines().enumerate().filter(|(_, line)| line.contains(text));
    let (number, _) = lines.next().unwrap_or_else(|| panic!("no {text}"));
    assert!(lines.next().is_none(), "{text} stands twice");
    format!("{method}:{}", number + 1)
}

fn line(text: &str) -> u32 {
    place("", text)[1..].parse().unwrap()
}

fn checked_then_wraps() -> String {
    place("Subject.checked", "too large") + " " + &place("Subject.wraps", "checked(n);")
}

fn chain(execution: &Execution) -> &[Throwable] {
    execution.thrown().unwrap_or_else(|| panic!("{:?}", execution.outcome)).1
}

/// `Subject.checked:24 Subject.wraps:31`
fn places(thrown: &Throwable) -> String {
    let program = thrown.frames.iter().filter(|f| !f.platform);
    let places: Vec<_> = program.map(|f| format!("{}.{}:{}", f.class.trim_start_matches("s."), f.method, f.line.unwrap_or(0))).collect();
    places.join(" ")
}

fn is_normal(execution: &Execution) -> bool {
    execution.outcome == Outcome::Normal
}

/// BBC-3: how far out the trace's frames called one another when a line was reached; frames of the JDK do not count.
#[test]
fn the_callers_of_the_frames_of_a_trace_are_noted() {
    for f in fixtures() {
        let frame = |method: &str, text: &str| Frame::new(SUBJECT, method, Some(line(text)));
        let lambda = f.program.methods_of(f.program.find_type(SUBJECT).unwrap()).find(|m| f.program.method_name(*m).starts_with("lambda$each"));
        let lambda = f.program.method_name(lambda.unwrap()).to_owned();
        let frames = vec![frame("checked", "too large"), frame("wraps", "checked(n);"), frame(&lambda, "// each"), frame("each", "// each")];
        let thrown = Throwable { exception: "java.lang.IllegalStateException".into(), frames, ..Throwable::default() };
        let goal = goal::resolve(&Trace { thrown, ..Trace::default() }, &f.program).unwrap();
        let mut watch = f.watch();
        watch.plan.chain = context::chain(&f.program, &watch.plan, &goal);
        let mut session = launch::start(&f.program, &watch, &f.config()).unwrap();
        let tests = [("checked", 41), ("checked", 42), ("wraps", 5), ("wraps", 42), ("each", 5), ("each", 42), ("checked", 41)];
        let tests = tests.map(|(method, n)| on_subject(f, method, n));
        let reach: Vec<Vec<u32>> = session.execute(&tests).unwrap().into_iter().map(|e| e.reach).collect();
        let expected = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0], [2, 2, 0, 0], [0, 4, 4, 4], [4, 4, 4, 4], [0, 0, 0, 0]];
        assert_eq!(reach, expected);
        assert_eq!(f.session().execute(&tests).unwrap()[1].reach, [0u32; 0]);
    }
}

#[test]
fn a_normal_call_ends_normally_and_shows_types_and_hits() {
    for f in fixtures() {
        let mut b = Build::new(f);
        let subject = b.subject(5);
        let n = b.int(3);
        b.call(SUBJECT, "add", Some(subject), &[n]);
        b.text("x");
        let got = f.session().execute(&[b.1]).unwrap();
        assert!(is_normal(&got[0]), "{:?}", got[0].outcome);
        let types: Vec<_> = got[0].types.iter().map(|t| t.map(|t| f.program.type_name(t))).collect();
        assert_eq!(types, [None, Some(SUBJECT), None, None, Some("java.lang.String")]);
        assert!(!got[0].hits.is_empty() && got[0].hits.is_sorted());
    }
}

#[test]
fn an_exception_has_its_frames_message_and_cause() {
    for f in fixtures() {
        let got = f.session().execute(&[on_subject(f, "wraps", 50), with_text(f, "length", "abc")]).unwrap();
        let chain = chain(&got[0]);
        assert_eq!(got[0].thrown().unwrap().0, 3);
        assert_eq!((chain[0].exception.as_str(), chain[0].message.as_deref()), ("java.lang.RuntimeException", Some("wrapped")));
        assert_eq!((chain[1].exception.as_str(), chain[1].message.as_deref()), ("java.lang.IllegalStateException", Some("too large: 50")));
        assert_eq!(places(&chain[0]), place("Subject.wraps", "\"wrapped\""));
        assert_eq!(places(&chain[1]), checked_then_wraps());
        assert_eq!(chain[0].frames[0].file.as_deref(), Some("Subject.java"));
        assert!(is_normal(&got[1]));
    }
}

#[test]
fn a_null_argument_is_passed_and_a_hot_exception_keeps_its_frames() {
    for f in fixtures() {
        let mut b = Build::new(f);
        let null = b.1.push(Stmt::Null(f.string()));
        b.call(SUBJECT, "length", None, &[null]);
        let got = f.session().execute(&vec![b.1; 6000]).unwrap();
        let expected = place("Subject.length", "return text.length()");
        assert!(got.iter().all(|e| places(&chain(e)[0]) == expected));
    }
}

#[test]
fn distances_and_compared_values_are_recorded() {
    for f in fixtures() {
        let watch = f.watch();
        let mut session = f.session();
        let tests = [
            on_subject(f, "checked", 30),
            with_text(f, "isMagic", "mugic"),
            with_text(f, "hasKey", "alpho"),
            with_int(f, "choose", 4000),
            with_text(f, "fits", "xyz"),
        ];
        let got = session.execute(&tests).unwrap();
        assert!(got.iter().all(is_normal));

        let subject = f.program.find_type(SUBJECT).unwrap();
        let probes = |name| watch.plan.of(f.program.methods_named(subject, name).next().unwrap()).unwrap();
        let checked = got[0].branch(probes("checked").first_branch).unwrap();
        assert_eq!((checked.above, checked.below, checked.equal), (f64::INFINITY, 11.0, false));
        assert!(got[0].seen.contains(&Seen::Int(41)) && got[0].seen.contains(&Seen::Int(30)));

        assert_eq!(got[1].branch(probes("isMagic").first_branch).unwrap().hint, 1.0);
        assert!(got[1].seen.contains(&Seen::Str("magic".into())) && got[1].seen.contains(&Seen::Str("mugic".into())));
        assert!(got[2].seen.contains(&Seen::Str("alpha".into())), "{:?}", got[2].seen);
        assert_eq!(got[3].switches, [(probes("choose").first_switch, 4000)]);
        let looked_for = |pattern: &str| got[4].seen.contains(&Seen::Unfit { text: "xyz".into(), pattern: pattern.into() });
        assert!(looked_for("a+b") && looked_for("c{2}"), "{:?}", got[4].seen);
        let hit_line = |e: &Execution, line| {
            probes("checked").points.iter().enumerate().any(|(i, p)| p.line == Some(line) && e.hit(probes("checked").first_point + i as u32))
        };
        assert!(hit_line(&got[0], line("return n;")) && !hit_line(&got[0], line("too large")));
    }
}

#[test]
fn exits_are_outcomes_and_the_worker_lives_on() {
    for f in fixtures() {
        let mut session = f.session();
        let tests = ["exits", "halts", "exitsQuietly", "count"].map(|m| plain(f, m));
        let got = session.execute(&tests).unwrap();
        assert_eq!(got[0].outcome, Outcome::Exit { at: 0, code: 7 });
        assert_eq!(got[1].outcome, Outcome::Exit { at: 0, code: 9 });
        assert!(matches!(got[2].outcome, Outcome::Exit { .. }));
        assert!(is_normal(&got[3]));
        assert_eq!((session.stats().deaths, session.stats().starts), (0, 1));
    }
}

#[test]
fn endless_loops_end_by_steps() {
    for f in fixtures() {
        let mut session = f.session();
        let got = session.execute(&["loops", "loopsQuietly", "count"].map(|m| plain(f, m))).unwrap();
        assert_eq!(got[0].outcome, Outcome::StepLimit { at: 0 });
        assert_eq!(got[1].outcome, Outcome::StepLimit { at: 0 });
        assert!(is_normal(&got[2]));
        assert_eq!(session.stats().deaths, 0);
    }
}

#[test]
fn what_steps_cannot_end_the_clock_does() {
    for f in fixtures() {
        let mut config = f.config();
        config.time_limit_ms = 300;
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let got = session.execute(&["loopsInTheJdk", "count", "sleeps", "count", "deadlocks", "count"].map(|m| plain(f, m))).unwrap();
        for (i, e) in got.iter().enumerate() {
            let expected = if i % 2 == 0 { Outcome::TimeLimit { at: 0 } } else { Outcome::Normal };
            assert_eq!(e.outcome, expected, "{i} on JDK {}", f.jdk.feature);
        }
        assert_eq!(session.stats().timeouts, 3);
    }
}

#[test]
fn what_waits_for_nothing_is_stopped_long_before_the_limit() {
    for f in fixtures() {
        let mut config = f.config();
        config.time_limit_ms = 8_000;
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let begun = std::time::Instant::now();
        let waiting = vec![plain(f, "waitsForNothing"); 10];
        let got = session.execute(&waiting).unwrap();
        assert!(got.iter().all(|e| e.outcome == Outcome::TimeLimit { at: 0 }), "on JDK {}", f.jdk.feature);
        // a quarter of the limit each would be twenty seconds
        assert!(begun.elapsed().as_secs() < 10, "on JDK {} after {:?}", f.jdk.feature, begun.elapsed());
        let got = session.execute(&["waitsForAnother", "count"].map(|m| plain(f, m))).unwrap();
        assert!(got.iter().all(is_normal), "on JDK {}", f.jdk.feature);
        assert_eq!((session.stats().timeouts, session.stats().deaths), (10, 0));
    }
}

#[test]
fn a_runaway_recursion_is_an_exception() {
    for f in fixtures() {
        let mut config = f.config();
        config.step_limit = 10_000_000;
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let test = on_subject(f, "recurses", 0);
        let got = session.execute(&vec![test; 50]).unwrap();
        for e in &got {
            let thrown = &chain(e)[0];
            assert_eq!(thrown.exception, "java.lang.StackOverflowError");
            assert!(thrown.frames.len() > 500 && thrown.frames.iter().rev().take(100).all(|f| f.method == "recurses"));
        }
        assert_eq!(session.stats().deaths, 0);
    }
}

#[test]
fn exhausted_memory_is_an_exception_and_at_last_replaces_the_worker() {
    for f in fixtures() {
        let mut session = f.session();
        let got = session.execute(&[plain(f, "allocates"), plain(f, "count")]).unwrap();
        assert_eq!(chain(&got[0])[0].exception, "java.lang.OutOfMemoryError");
        assert!(places(&chain(&got[0])[0]).starts_with("Subject.allocates:"));
        assert!(is_normal(&got[1]));
        let mut too_large = Build::new(f);
        too_large.1.push(Stmt::NewArray { elem: Ty::prim(Prim::Byte), len: 1 << 30 });
        let got = session.execute(&vec![too_large.1; 40]).unwrap();
        assert!(got.iter().all(|e| chain(e)[0].exception == "java.lang.OutOfMemoryError"));
        assert_eq!((session.stats().deaths, session.stats().starts), (0, 2));
    }
}

#[test]
fn static_fields_are_put_back() {
    for f in fixtures() {
        // 1 / (count() - 1) would throw in the second test if the first were still visible.
        let mut b = Build::new(f);
        let count = b.call(SUBJECT, "count", None, &[]);
        let numbers = b.1.push(Stmt::NewArray { elem: Ty::INT, len: 1 });
        b.1.push(Stmt::ArraySet { array: numbers, index: 0, value: count });
        b.call(SUBJECT, "sum", None, &[numbers]);
        let got = f.session().execute(&vec![b.1; 20]).unwrap();
        assert!(got.iter().all(is_normal), "{:?}", got.iter().map(|e| &e.outcome).collect::<Vec<_>>());
    }
}

#[test]
fn the_first_use_of_a_class_is_not_undone_nor_left_changed() {
    for f in fixtures() {
        // Divides by zero exactly if its class was just initialised.
        let mut session = f.session();
        let got = session.execute(&vec![plain(f, "usesFresh"); 20]).unwrap();
        for e in &got {
            assert_eq!(places(&chain(e)[0]), place("Fresh.next", "next++") + " " + &place("Subject.usesFresh", "Fresh.next()"));
        }
        let pristine = session.execute_pristine(&plain(f, "usesFresh")).unwrap();
        assert_eq!(chain(&pristine)[0].exception, "java.lang.ArithmeticException");
    }
}

#[test]
fn properties_and_locale_are_put_back() {
    for f in fixtures() {
        let got = f.session().execute(&[with_text(f, "property", "xx"), plain(f, "tellProperty")]).unwrap();
        assert!(got.iter().all(is_normal), "{:?}", got[1].outcome);
    }
}

#[test]
fn character_sets_that_the_class_path_brings_are_found() {
    for f in fixtures() {
        let services = f.classes.with_file_name(format!("session-services-{}", f.jdk.feature));
        let folder = services.join("META-INF/services");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("java.nio.charset.spi.CharsetProvider"), "s.Subject$Sets\n").unwrap();
        let mut with_provider = f.config();
        with_provider.classpath.push(services);
        let tests: Vec<TestCase> = ["x-brought", "IBM037", "UTF-16", "x-unknown"].iter().map(|name| with_text(f, "charset", name)).collect();
        let found = |config: &SessionConfig| {
            let mut session = launch::start(&f.program, &f.watch(), config).unwrap();
            session.execute(&tests).unwrap().iter().map(is_normal).collect::<Vec<bool>>()
        };
        assert_eq!(found(&f.config()), [false, true, true, false], "JDK {}", f.jdk.feature);
        assert_eq!(found(&with_provider), [true, true, true, false], "JDK {}", f.jdk.feature);
    }
}

#[test]
fn surroundings_are_there_for_one_test() {
    for f in fixtures() {
        let mut b = Build::new(f);
        let setting = Env::Setting { name: "rethrow.test".into(), value: "v".into() };
        for env in [setting, Env::Locale("tr".into()), Env::TimeZone("Asia/Kathmandu".into()), Env::Input("xy".into())] {
            b.1.push(Stmt::Env(Box::new(env)));
        }
        let path = b.1.push(Stmt::Env(Box::new(Env::File { name: "a.txt".into(), content: "abc".into() })));
        b.call(SUBJECT, "surrounded", None, &[path]);
        let mut folder = Build::new(f);
        let path = folder.1.push(Stmt::Env(Box::new(Env::Folder { name: "f".into() })));
        folder.call(SUBJECT, "surrounded", None, &[path]);
        let outside = TestCase { stmts: vec![Stmt::Env(Box::new(Env::File { name: "../x".into(), content: String::new() }))] };
        let got = f.session().execute(&[b.1, with_text(f, "surrounded", "a.txt"), folder.1, outside]).unwrap();
        let told = |i: usize| chain(&got[i])[0].message.clone().unwrap();
        assert_eq!(told(0), "false 3 v tr Asia/Kathmandu 2");
        assert!(told(1).starts_with("false 0 null ") && !told(1).contains("Kathmandu") && told(1).ends_with(" 0"), "{}", told(1));
        assert!(told(2).starts_with("true "), "{}", told(2));
        assert!(matches!(got[3].outcome, Outcome::Invalid { .. }), "{:?}", got[3].outcome);
    }
}

#[test]
fn ill_typed_arguments_and_null_receivers_are_invalid() {
    for f in fixtures() {
        let mut wrong = Build::new(f);
        let text = wrong.text("no list");
        wrong.call(SUBJECT, "take", None, &[text]);
        let mut prim = Build::new(f);
        let long = prim.1.push(Stmt::Lit(Value::Long(1)));
        prim.call(SUBJECT, "choose", None, &[long]);
        let mut null = Build::new(f);
        let nobody = null.1.push(Stmt::Null(Ty::reference(f.program.find_type(SUBJECT).unwrap())));
        let n = null.int(1);
        null.call(SUBJECT, "add", Some(nobody), &[n]);
        let mut receiver = Build::new(f);
        let text = receiver.text("no subject");
        let n = receiver.int(1);
        receiver.call(SUBJECT, "add", Some(text), &[n]);
        let mut cast = Build::new(f);
        let text = cast.text("no list");
        cast.1.push(Stmt::Cast { value: text, ty: Ty::reference(f.program.find_type("java.util.List").unwrap()) });
        let mut session = f.session();
        let got = session.execute(&[wrong.1, prim.1, null.1, receiver.1, cast.1]).unwrap();
        let at: Vec<_> = got.iter().map(|e| if let Outcome::Invalid { at, .. } = &e.outcome { *at } else { panic!("{:?}", e.outcome) }).collect();
        assert_eq!(at, [1, 1, 2, 2, 1]);
        assert_eq!(session.stats().deaths, 0);
    }
}

#[test]
fn arrays_fields_and_class_literals_work() {
    for f in fixtures() {
        let mut b = Build::new(f);
        let array = b.1.push(Stmt::NewArray { elem: Ty::INT, len: 3 });
        for (i, v) in [1, 2, 3].into_iter().enumerate() {
            let value = b.int(v);
            b.1.push(Stmt::ArraySet { array, index: i as u32, value });
        }
        let element = b.1.push(Stmt::ArrayGet { array, index: 2 });
        let subject = b.call(SUBJECT, "<init>", None, &[element]);
        let ty = f.program.find_type(SUBJECT).unwrap();
        let name = f.program.find_field(ty, "name").unwrap();
        let read = b.1.push(Stmt::GetField { field: name, recv: subject });
        b.1.push(Stmt::SetField { field: name, recv: Some(subject), value: read });
        b.1.push(Stmt::Class(Ty::prim(Prim::Int)));
        b.1.push(Stmt::Class(Ty::reference(ty).array_of()));
        let label = f.program.find_field(ty, "label").unwrap();
        b.1.push(Stmt::SetField { field: label, recv: None, value: read });
        b.call(SUBJECT, "sum", None, &[array]);
        let mut outside = Build::new(f);
        let array = outside.1.push(Stmt::NewArray { elem: f.string(), len: 1 });
        outside.1.push(Stmt::ArrayGet { array, index: 1 });
        let mut label_is_back = Build::new(f);
        let text = label_is_back.1.push(Stmt::GetStatic(label));
        label_is_back.call(SUBJECT, "length", None, &[text]);
        let got = f.session().execute(&[b.1, outside.1, label_is_back.1]).unwrap();
        assert_eq!(places(&chain(&got[0])[0]), place("Subject.sum", "sum - 6"), "6 / 0");
        assert_eq!(chain(&got[1])[0].exception, "java.lang.ArrayIndexOutOfBoundsException");
        assert!(got[2].seen.is_empty() && is_normal(&got[2]));
    }
}

#[test]
fn a_test_that_kills_its_worker_is_blamed_and_no_other() {
    for f in fixtures() {
        let mut session = f.session();
        let mut tests = vec![plain(f, "count"); 10];
        tests[6] = plain(f, "dies");
        let got = session.execute(&tests).unwrap();
        for (i, e) in got.iter().enumerate() {
            assert_eq!(matches!(e.outcome, Outcome::Died { .. }), i == 6, "{i}: {:?}", e.outcome);
            assert_eq!(is_normal(e), i != 6);
        }
        assert_eq!(session.stats().deaths, 1);
    }
}

#[test]
fn a_failed_initialiser_does_not_poison_later_tests() {
    for f in fixtures() {
        let tests = [with_int(f, "usesBroken", 1), plain(f, "count"), with_int(f, "usesBroken", 2), with_int(f, "usesBroken", 3)];
        let got = f.session().execute(&tests).unwrap();
        for i in [0, 2, 3] {
            let chain = chain(&got[i]);
            assert_eq!(chain[0].exception, "java.lang.ExceptionInInitializerError", "{i}");
            let wanted = [place("Broken.make", "\"broken\""), place("Broken.<clinit>", "VALUE = make()"), place("Subject.usesBroken", "Broken.VALUE")];
            assert_eq!(places(&chain[1]), wanted.join(" "));
        }
        assert!(is_normal(&got[1]));
    }
}

/// What the initialiser wrote before it failed is in a class that nobody can use: there is nothing to put back.
#[test]
fn a_class_that_is_optional_does_not_cost_a_process() {
    for f in fixtures() {
        let mut session = f.session();
        let got: Vec<Execution> = (0..4).flat_map(|_| session.execute(&vec![plain(f, "triesOptional"); 3]).unwrap()).collect();
        assert!(got.iter().all(is_normal), "{:?}", got.iter().map(|e| &e.outcome).collect::<Vec<_>>());
        let stats = session.stats();
        assert!(!stats.replaced.keys().any(|why| why == "static fields cannot be put back"), "{stats:?}");
        assert!(stats.starts <= 3, "{stats:?}");
    }
}

/// The step limit stops it in the first test, and breaks the class for that process; later ones find it ready.
#[test]
fn an_initialiser_that_takes_long_is_run_outside_the_tests() {
    for f in fixtures() {
        let config = SessionConfig { step_limit: 5000, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let got: Vec<Execution> = (0..4).flat_map(|_| session.execute(&vec![plain(f, "usesHeavy"); 5]).unwrap()).collect();
        assert!(got[5..].iter().all(is_normal), "{:?}", got.iter().map(|e| &e.outcome).collect::<Vec<_>>());
        let stats = session.stats();
        assert!(stats.starts <= 4, "{stats:?}");
        assert!(is_normal(&session.execute_pristine(&plain(f, "usesHeavy")).unwrap()));
    }
}

/// Each test meets the class like the first that uses it, until that costs too many processes.
#[test]
fn a_class_that_nobody_can_initialise_does_not_cost_a_process_for_ever() {
    for f in fixtures() {
        let mut session = f.session();
        let got = session.execute(&vec![with_int(f, "usesBroken", 1); 200]).unwrap();
        assert!(got.iter().all(|e| e.thrown().is_some()));
        let stats = session.stats();
        assert!(stats.starts < 30, "{stats:?}");
    }
}

#[test]
fn an_initialiser_that_hangs_costs_its_own_tests_only() {
    for f in fixtures() {
        let config = SessionConfig { time_limit_ms: 300, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let mut b = Build::new(f);
        b.call("s.Sleepy", "wake", None, &[]);
        let got = session.execute(&[plain(f, "count"), b.1, plain(f, "count")]).unwrap();
        assert_eq!(got[1].outcome, Outcome::TimeLimit { at: 0 });
        assert!(is_normal(&got[0]) && is_normal(&got[2]));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    for f in fixtures() {
        let mut tests = Vec::new();
        for i in 0..60 {
            tests.push(on_subject(f, "wraps", i * 3));
            tests.push(with_text(f, "isMagic", &"magical"[..(i % 7) as usize]));
            tests.push(plain(f, ["count", "loops", "exits", "usesFresh", "throwsOdd"][(i % 5) as usize]));
        }
        let run = |workers| {
            let config = SessionConfig { workers, step_limit: 2000, ..f.config() };
            let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
            let mut all = Vec::new();
            for batch in tests.chunks(50) {
                all.extend(session.execute(batch).unwrap());
            }
            all.iter().map(|e| format!("{e:?}")).collect::<Vec<_>>()
        };
        let (one, two) = (run(1), run(2));
        for (i, (a, b)) in one.iter().zip(&two).enumerate() {
            assert_eq!(a, b, "test {i}");
        }
    }
}

#[test]
fn recycling_makes_leaks_end() {
    for f in fixtures() {
        let config = SessionConfig { recycle_every: 5, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let got = session.execute(&vec![plain(f, "logged"); 12]).unwrap();
        assert!(got.iter().all(is_normal));
        assert_eq!(session.stats().starts, 3);
    }
}

#[test]
fn what_tests_left_behind_is_there_in_a_replay_and_gone_after_a_renewal() {
    for f in fixtures() {
        // divides by zero when it is logged for the sixth time
        let mut b = Build::new(f);
        let logged = b.call(SUBJECT, "logged", None, &[]);
        let numbers = b.1.push(Stmt::NewArray { elem: Ty::INT, len: 1 });
        b.1.push(Stmt::ArraySet { array: numbers, index: 0, value: logged });
        b.call(SUBJECT, "sum", None, &[numbers]);
        let config = SessionConfig { workers: 2, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        for _ in 0..2 {
            let got = session.replay(&vec![b.1.clone(); 6]).unwrap();
            assert_eq!(got.iter().map(is_normal).collect::<Vec<_>>(), [true, true, true, true, true, false]);
        }
        session.renew();
        assert!(session.execute(&vec![b.1; 5]).unwrap().iter().all(is_normal));
    }
}

#[test]
fn threads_left_behind_replace_the_worker() {
    for f in fixtures() {
        let mut session = f.session();
        let got = session.execute(&[plain(f, "leavesThreads"), plain(f, "count")]).unwrap();
        assert!(got.iter().all(is_normal));
        assert_eq!(session.stats().starts, 2);
    }
}

#[test]
fn threads_that_tests_leave_running_are_stopped() {
    for f in fixtures() {
        let config = SessionConfig { step_limit: 2_000_000_000, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let batch: Vec<TestCase> = ["leavesRunning", "isAlone"].map(|m| plain(f, m)).into_iter().cycle().take(20).collect();
        let got = session.execute(&batch).unwrap();
        assert!(got.iter().step_by(2).all(is_normal), "on JDK {}", f.jdk.feature);
        // one that the system has not let run yet cannot be seen; if nothing were stopped, no test would be alone
        let alone = got.iter().skip(1).step_by(2).filter(|e| is_normal(e)).count();
        assert!(alone >= 7, "{alone} of 10 on JDK {}", f.jdk.feature);
    }
}

#[test]
fn exceptions_with_hostile_accessors_are_read() {
    for f in fixtures() {
        let got = f.session().execute(&[plain(f, "throwsOdd")]).unwrap();
        let chain = chain(&got[0]);
        assert_eq!((chain.len(), chain[0].message.as_deref()), (1, None));
        assert_eq!(places(&chain[0]), place("Subject.throwsOdd", "new Odd()"));
    }
}

#[test]
fn much_output_is_drained() {
    for f in fixtures() {
        let config = SessionConfig { step_limit: 10_000_000, time_limit_ms: 20_000, ..f.config() };
        let mut session = launch::start(&f.program, &f.watch(), &config).unwrap();
        let got = session.execute(&[with_int(f, "prints", 8), plain(f, "count")]).unwrap();
        assert!(got.iter().all(is_normal));
    }
}

#[test]
fn without_probes_tests_run_but_show_no_hits() {
    for f in fixtures() {
        let config = SessionConfig { instrument: false, ..f.config() };
        let mut session = launch::start(&f.program, &Watch::default(), &config).unwrap();
        let got = session.execute(&[on_subject(f, "wraps", 50), on_subject(f, "add", 1)]).unwrap();
        assert_eq!(places(&chain(&got[0])[1]), checked_then_wraps());
        assert!(is_normal(&got[1]) && got[1].hits.is_empty());
    }
}

#[test]
fn a_worker_that_cannot_start_says_why() {
    let f = &fixtures()[0];
    let mut config = f.config();
    config.jdk.libjvm = "/does/not/exist/libjvm.so".into();
    let Err(error) = launch::start(&f.program, &f.watch(), &config) else { panic!("started without a JVM") };
    assert!(matches!(&error, StartError::Refused(why) if why.contains("/does/not/exist/libjvm.so")), "{error}");
    config = f.config();
    config.launcher = "/does/not/exist/rethrow".into();
    assert!(matches!(launch::start(&f.program, &f.watch(), &config), Err(StartError::Spawn(_))));
}
