//! A test written by hand against commons-collections 3.1, confirmed in fresh, jailed JVMs.

#![allow(clippy::unwrap_used)]

#[path = "../src/confirm.rs"]
mod confirm;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use confirm::{Confirmation, RunResult, Settings};
use rethrow_core::goal::{CrashGoal, resolve};
use rethrow_core::program::{Program, Ty};
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, TestStyle};
use rethrow_core::testcase::{Stmt, TestCase, Value};
use rethrow_core::trace::Via;
use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::{self, Jdk};
use rethrow_jvm::junit::{self, ConfirmConfig, JUnit};
use rethrow_worker::process::Scratch;
use rethrow_worker::sandbox::Sandbox;

const CRASH: &str = "java.lang.IllegalArgumentException: LRUMap max size must be greater than 0
\tat org.apache.commons.collections.map.LRUMap.<init>(LRUMap.java:121)
\tat org.apache.commons.collections.map.LRUMap.<init>(LRUMap.java:104)
\tat org.apache.commons.collections.map.LRUMap.<init>(LRUMap.java:79)
";
const MAP: &str = "org.apache.commons.collections.map.LRUMap";

struct World {
    jdk: Jdk,
    jar: PathBuf,
    class_path: Arc<ClassPath>,
    program: Program,
    goal: CrashGoal,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let (java_home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
        let found = jdk::find(jdk::Search { explicit: None, java_home: java_home.as_deref(), path: path.as_deref(), user_home: None });
        let jdk = found.into_iter().find(|j| j.javac.is_some()).expect("tests need a JDK");
        let jar = jar();
        let class_path = Arc::new(ClassPath::open(&[jar.display().to_string()], &jdk).unwrap().value);
        let program = load(class_path.clone()).value;
        let trace = rethrow_jvm::trace::parse_all(CRASH.as_bytes()).value.remove(0).trace;
        let goal = resolve(&trace, &program).unwrap();
        World { jdk, jar, class_path, program, goal }
    })
}

/// Fetched from Maven Central once.
fn jar() -> PathBuf {
    let folder = std::env::home_dir().expect("a home folder").join(".cache/rethrow/jars");
    let jar = folder.join("commons-collections-3.1.jar");
    if !jar.exists() {
        let done = Command::new("mvn")
            .args(["-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", "-Dartifact=commons-collections:commons-collections:3.1"])
            .arg(format!("-DoutputDirectory={}", folder.display()))
            .status()
            .expect("mvn starts");
        assert!(done.success(), "mvn cannot fetch commons-collections");
    }
    jar
}

/// `new LRUMap(size)`
fn made_with(size: i32) -> TestCase {
    let program = &world().program;
    let ctor = program.find_method(program.find_type(MAP).unwrap(), "<init>", "(I)V").unwrap();
    let mut test = TestCase::default();
    let size = test.push(Stmt::Lit(Value::Int(size)));
    test.push(Stmt::New { ctor, args: vec![size] });
    test
}

fn render(test: &TestCase, style: TestStyle, framework: u32) -> RenderedTest {
    let world = world();
    let header = Header { tool: "rethrow 0".into(), seed: 1, reached: "frame 3 of 3".into(), ..Header::default() };
    JUnit::new(world.class_path.clone()).render(&world.program, &world.goal, 3, test, &RenderStyle { style, framework, header }).unwrap()
}

struct Way {
    expect: bool,
    /// The expecting test differs from the failing one.
    spoil: bool,
    framework: u32,
    level: usize,
    runs: usize,
    deadline: Option<Instant>,
}

impl Default for Way {
    fn default() -> Self {
        Way { expect: false, spoil: false, framework: 4, level: 3, runs: 2, deadline: None }
    }
}

fn confirm_test(test: &TestCase, way: Way) -> Confirmation {
    let failing = render(test, TestStyle::Failing, way.framework);
    confirm_rendered(&failing, test, way)
}

fn confirm_rendered(failing: &RenderedTest, test: &TestCase, way: Way) -> Confirmation {
    let world = world();
    let scratch = Scratch::create(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let mut expecting = way.expect.then(|| render(test, TestStyle::Expect, way.framework));
    if let Some(expecting) = expecting.as_mut().filter(|_| way.spoil) {
        expecting.text = expecting.text.replace("new LRUMap(0)", "new LRUMap(1)");
    }
    let config = ConfirmConfig {
        scratch: scratch.path(),
        java: &world.jdk.java,
        javac: world.jdk.javac.as_ref().unwrap(),
        homes: vec![world.jdk.home.clone()],
        class_path: std::slice::from_ref(&world.jar),
        framework: way.framework,
        has_framework: false,
        assertions: false,
    };
    let plan = junit::plan(failing, expecting.as_ref(), &config);
    let settings = Settings {
        scratch: scratch.path(),
        launcher: Path::new(env!("CARGO_BIN_EXE_rethrow")),
        sandbox: Sandbox::Default,
        allow_read: &[],
        runs: way.runs,
        parallel: 2,
        run_limit: Duration::from_secs(30),
        deadline: way.deadline,
    };
    confirm::confirm(&plan, &world.goal, way.level, &settings).unwrap()
}

#[test]
fn a_test_that_throws_the_crash_is_confirmed() {
    let done = confirm_test(&made_with(0), Way { runs: 5, ..Way::default() });
    assert_eq!(done.compiled, Ok(()));
    assert_eq!(done.runs, vec![RunResult::Met { level: 3, via: Via::Direct, alike: true }; 5]);
    assert_eq!((done.confirmed, done.level, done.via), (5, 3, Some(Via::Direct)));
}

#[test]
fn an_expecting_test_passes() {
    for framework in [4, 5] {
        let done = confirm_test(&made_with(0), Way { expect: true, framework, ..Way::default() });
        assert_eq!(done.confirmed, 2, "{done:?}");
    }
}

#[test]
fn an_expecting_test_that_meets_no_crash_fails() {
    let done = confirm_test(&made_with(1), Way { expect: true, ..Way::default() });
    assert_eq!((done.runs, done.confirmed, done.level), (vec![RunResult::Returned; 2], 0, 0));
}

#[test]
fn an_expecting_test_that_does_not_pass_confirms_nothing() {
    let done = confirm_test(&made_with(0), Way { expect: true, spoil: true, ..Way::default() });
    assert_eq!((done.runs.len(), done.confirmed), (2, 0), "{done:?}");
}

#[test]
fn another_exception_is_not_the_crash() {
    let program = &world().program;
    let map = program.find_type(MAP).unwrap();
    let ctor = program.find_method(map, "<init>", "(Ljava/util/Map;)V").unwrap();
    let mut test = TestCase::default();
    let null = test.push(Stmt::Null(Ty::reference(program.find_type("java.util.Map").unwrap())));
    test.push(Stmt::New { ctor, args: vec![null] });
    let done = confirm_test(&test, Way::default());
    assert_eq!(done.runs, vec![RunResult::Other { thrown: "java.lang.NullPointerException".into(), level: 0 }; 2]);
    assert_eq!(done.confirmed, 0);
}

#[test]
fn what_does_not_compile_is_told() {
    let test = made_with(0);
    let mut failing = render(&test, TestStyle::Failing, 4);
    failing.text = failing.text.replace("new LRUMap(0)", "new LRUMap(nothing)");
    let done = confirm_rendered(&failing, &test, Way::default());
    assert!(done.compiled.as_ref().unwrap_err().contains("cannot find symbol"), "{done:?}");
    assert!(done.runs.is_empty() && done.confirmed == 0);
}

#[test]
fn a_test_that_ends_the_process_has_no_result_and_one_that_hangs_is_stopped() {
    let test = made_with(0);
    let mut failing = render(&test, TestStyle::Failing, 4);
    let calm = failing.text.clone();
    failing.text = calm.replace("new LRUMap(0)", "System.exit(3)");
    let done = confirm_rendered(&failing, &test, Way::default());
    assert!(matches!(&done.runs[0], RunResult::NoResult { why } if why.contains('3')), "{done:?}");
    failing.text = calm.replace("new LRUMap(0)", "Thread.sleep(1000000L)");
    let deadline = Some(Instant::now() + Duration::from_secs(15));
    let done = confirm_rendered(&failing, &test, Way { runs: 4, deadline, ..Way::default() });
    assert!(done.compiled.is_err() || done.runs[2..] == [RunResult::NotRun, RunResult::NotRun], "{done:?}");
    assert_eq!(done.confirmed, 0);
}
