//! Modules that misbehave while they are imported, and interpreters that are none.

#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rethrow_core::execution::{Execution, Outcome};
use rethrow_core::target::Session;
use rethrow_core::testcase::Data;
use rethrow_python::interpreter::{ImportProblem, InterpreterError, Question, ask, try_imports};
use rethrow_python::launch;
use support::{Fixture, LAUNCHER, folder, interpreters};

fn fixture(module: &str) -> Fixture {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/session/{module}.py"));
    Fixture::new(interpreters().last().unwrap(), &file, module)
}

fn run(f: &Fixture, function: &str, args: &[Data]) -> Execution {
    let mut config = f.config();
    config.import_limit_ms = 1000;
    let mut session = launch::start(&f.program, &f.watch, &config).unwrap();
    session.execute(&[f.call(function, args)]).unwrap().remove(0)
}

#[test]
fn a_module_with_threads_gets_fresh_interpreters() {
    let f = fixture("starts_thread");
    let mut session = f.session();
    let tests = [f.call("alive", &[Data::Int(1)]), f.call("alive", &[Data::Int(0)]), f.call("alive", &[Data::Int(2)])];
    let got = session.execute(&tests).unwrap();
    assert_eq!((&got[0].outcome, &got[2].outcome), (&Outcome::Normal, &Outcome::Normal));
    let (at, chain) = got[1].thrown().unwrap();
    assert_eq!((at, chain[0].exception.as_str(), chain[0].frames[0].line), (1, "ZeroDivisionError", Some(f.line("# divide"))));
    assert!(got[1].hits.contains(&f.points("# divide")[0]));
}

#[test]
fn an_import_that_fails_is_what_the_test_shows() {
    let f = fixture("broken");
    let e = run(&f, "reached", &[]);
    let (at, chain) = e.thrown().unwrap();
    assert_eq!((at, chain[0].exception.as_str()), (0, "KeyError"));
    let frame = chain[0].frames.iter().find(|f| !f.platform).unwrap();
    assert_eq!((frame.class.as_str(), frame.method.as_str(), frame.line), ("broken", "<module>", Some(f.line("# import"))));
}

#[test]
fn an_import_that_hangs_leaves_or_forks_ends_in_time() {
    let hangs = run(&fixture("hangs"), "reached", &[]).outcome;
    assert!(matches!(hangs, Outcome::TimeLimit { at: 0 } | Outcome::StepLimit { at: 0 }), "{hangs:?}");
    assert_eq!(run(&fixture("leaves"), "reached", &[]).outcome, Outcome::Exit { at: 0, code: 0 });
    assert_eq!(run(&fixture("forks"), "reached", &[]).outcome, Outcome::Normal);
}

#[test]
fn why_a_module_cannot_be_imported_is_told() {
    let temp = std::env::temp_dir();
    let question = Question { limit: Duration::from_secs(5), ..Question::new(Path::new(LAUNCHER), &temp) };
    let sources = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session")];
    let python = interpreters().last().unwrap();
    let try_one = |name: &str| try_imports(python, &["json".into(), name.into()], &sources, &question);
    try_one("subject").unwrap();
    try_one("forks").unwrap();
    assert_eq!(try_one("broken").unwrap_err().to_string(), "broken cannot be imported: KeyError: 'missing'");
    assert_eq!(try_one("no_such").unwrap_err().to_string(), "no_such cannot be imported: ModuleNotFoundError: No module named 'no_such'");
    assert!(matches!(try_one("leaves"), Err(ImportProblem::Ends { module, .. }) if module == "leaves"));
    assert!(matches!(try_one("hangs"), Err(ImportProblem::Hangs { module, .. }) if module == "hangs"));
}

#[test]
fn what_is_no_interpreter_is_told_apart() {
    let temp = std::env::temp_dir();
    let question = Question { limit: Duration::from_secs(3), ..Question::new(Path::new(LAUNCHER), &temp) };
    let folder = folder("interpreters").join("bin");
    std::fs::create_dir(&folder).unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        ask(&path, &question).unwrap_err()
    };
    assert!(matches!(ask(Path::new("/nonexistent/python"), &question), Err(InterpreterError::Missing(_))));
    assert!(matches!(ask(Path::new("no-such-python"), &question), Err(InterpreterError::Missing(_))));
    let other = script("other", "echo not me >&2; exit 3");
    assert!(matches!(&other, InterpreterError::NotPython { said, .. } if said == "not me"), "{other}");
    let old = script("old", "echo rethrow:version=2.7.18; echo rethrow:end=");
    assert_eq!(old.to_string(), format!("{} is Python 2.7.18; 3.8 is the oldest that works", folder.join("old").display()));
    assert!(matches!(script("slow", "sleep 60"), InterpreterError::Hangs { .. }));
    let plain = folder.join("plain");
    std::fs::write(&plain, "text").unwrap();
    assert!(matches!(ask(&plain, &question), Err(InterpreterError::NotExecutable { .. })));
}
