//! Rendered tests: what statements look like, that they mean the same to the interpreter, and that the plan confirms them.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethrow_core::goal::{CrashGoal, resolve};
use rethrow_core::target::confirmation::{Command, ConfirmPlan, Ended, RESULT_FILE, drop_harness};
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, Session, TestStyle};
use rethrow_core::testcase::{Data, Env, Stmt, TestCase, Var};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rethrow_python::interpreter::Interpreter;
use rethrow_python::pytest::{ConfirmConfig, Pytest, Runner, parse_result, plan, runner};
use rethrow_worker::process::{JailedCommand, run_to_end};
use support::{Fixture, LAUNCHER, folder, interpreters};

fn fixture(python: &Interpreter) -> Fixture {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session/subject.py");
    Fixture::new(python, &file, "subject")
}

fn newest() -> Fixture {
    fixture(interpreters().last().unwrap())
}

fn goal(f: &Fixture, class: &str, method: &str, exception: &str) -> CrashGoal {
    let frames = vec![Frame { file: Some("/v/lib/site-packages/subject.py".into()), ..Frame::new(class, method, Some(3)) }];
    let thrown = Throwable { exception: exception.into(), message: Some("size\n\u{e9}".into()), frames, ..Throwable::default() };
    resolve(&Trace { thrown, ..Trace::default() }, &f.program).unwrap()
}

fn style(style: TestStyle) -> RenderStyle {
    let header = Header { tool: "rethrow 0".into(), seed: 1, reached: "frame 1 of 1".into(), ..Header::default() };
    RenderStyle { style, framework: 0, header }
}

fn render(f: &Fixture, test: &TestCase, how: TestStyle) -> RenderedTest {
    Pytest.render(&f.program, &goal(f, "subject:Box", "fail", "subject.Custom"), 1, test, &style(how)).unwrap()
}

/// The lines of the test function, without the mark on the last.
fn body(text: &str) -> Vec<&str> {
    text.lines().skip_while(|l| !l.starts_with("def ")).skip(1).map(|l| l.trim().trim_end_matches("  # raises Custom")).collect()
}

fn box_test(f: &Fixture) -> TestCase {
    let mut test = TestCase::default();
    let size = test.push(Stmt::Data(Data::Int(3)));
    let colour = test.push(Stmt::Data(Data::Absent));
    let new = test.push(Stmt::New { ctor: f.method("Box", "__init__"), args: vec![size, colour] });
    test.push(Stmt::Call { method: f.method("Box", "fail"), recv: Some(new), args: vec![] });
    test
}

#[test]
fn the_whole_file() {
    let f = newest();
    let test = box_test(&f);
    let rendered = render(&f, &test, TestStyle::Failing);
    assert_eq!(
        (rendered.path.to_str().unwrap(), rendered.name.as_str(), rendered.method.as_str()),
        ("test_subject_crash.py", "test_subject_crash", "test_fail_crash")
    );
    let expected = "# Reproduces a crash at frame 1 of 1. Written by rethrow 0, seed 1.\n#\n#   File \"subject.py\", line 3, in fail\n\
        #   subject.Custom: size\\n\\u{e9}\n\nfrom subject import Box\n\n\n\
        def test_fail_crash():\n    box = Box(3)\n    box.fail()  # raises Custom\n";
    assert_eq!(rendered.text, expected);
    let expecting = render(&f, &test, TestStyle::Expect).text;
    assert!(
        expecting.contains("import pytest\nfrom subject import Box, Custom\n")
            && expecting.contains("    with pytest.raises(Custom):\n        box.fail()  # raises Custom\n"),
        "{expecting}"
    );
    let marked = render(&f, &test, TestStyle::XFail).text;
    assert!(marked.contains("@pytest.mark.xfail(strict=True, raises=Custom)\ndef test_fail_crash():\n    box = Box(3)\n"), "{marked}");
}

#[test]
fn statements_read_as_a_person_would_write_them() {
    let f = newest();
    let text = |s: &str| Data::text(s);
    let calls: Vec<(&str, Vec<Data>, Vec<&str>)> = vec![
        ("add", vec![Data::Int(1), Data::Absent, Data::Absent, Data::Int(-4), Data::Absent], vec!["add(1, c=-4)"]),
        (
            "add",
            vec![Data::Int(1), Data::Int(2), Data::List(vec![Data::Int(3)]), Data::Absent, Data::Dict(vec![(text("z"), Data::None)])],
            vec!["add(1, 2, 3, z=None)"],
        ),
        (
            "add",
            vec![Data::Int(1), Data::Int(2), Data::Absent, Data::Absent, Data::Dict(vec![(text("a b"), Data::None)])],
            vec!["add(1, 2, **{\"a b\": None})"],
        ),
        (
            "check",
            vec![Data::Tuple(vec![Data::float(f64::INFINITY), Data::Set(vec![]), Data::Bytes(vec![255])])],
            vec!["check((float(\"inf\"), set(), b\"\\xff\"))"],
        ),
        ("check", vec![Data::Object(vec![("x".into(), Data::Tuple(vec![Data::Int(1)]))])], vec!["check(types.SimpleNamespace(x=(1,)))"]),
        ("check", vec![Data::Stream(Box::new(text("\u{e9}")))], vec!["check(io.StringIO(\"\\xe9\"))"]),
        ("check", vec![Data::Iterator(vec![Data::Bool(true)])], vec!["check(iter([True]))"]),
        ("check", vec![Data::Function(Box::new(Data::Int(i128::MAX)))], vec!["check(lambda *args, **kwargs: 170141183460469231731687303715884105727)"]),
        ("check", vec![Data::Function(Box::new(Data::List(vec![])))], vec!["returned = []", "check(lambda *args, **kwargs: returned)"]),
        ("check", vec![thing(&[("size", Data::Int(1))])], vec!["class Thing:", "size = 1", "check(Thing(None))"]),
        (
            "check",
            vec![thing(&[("io", Data::Int(1)), ("b", Data::Stream(Box::new(text("x"))))])],
            // inside the class, `io` is its own member
            vec!["given = io.StringIO(\"x\")", "class Thing:", "io = 1", "b = given", "check(Thing(None))"],
        ),
        (
            "check",
            vec![Data::Class {
                bases: Vec::new(),
                members: vec![
                    ("n".into(), Data::Int(1)),
                    ("k".into(), Data::Int(2)),
                    ("__annotations__".into(), Data::Dict(vec![(text("n"), Data::Str("int".into())), (text("m"), Data::Str("list[int]".into()))])),
                ],
                record: true,
            }],
            vec!["@dataclasses.dataclass", "class Thing:", "n: \"int\" = 1", "m: \"list[int]\"", "k = 2", "check(Thing)"],
        ),
        ("read", vec![Data::File(Box::new(text("x")))], vec!["path = tmp_path / \"path\"", "path.write_text(\"x\", encoding=\"utf-8\")", "read(str(path))"]),
    ];
    for (function, args, expected) in calls {
        let rendered = render(&f, &f.call(function, &args), TestStyle::Failing);
        assert_eq!(body(&rendered.text), expected, "{}", rendered.text);
        assert!(rendered.text.is_ascii());
    }
    let mut test = TestCase::default();
    let items = test.push(Stmt::Data(Data::List(vec![])));
    let nested = test.push(Stmt::Data(Data::Tuple(vec![Data::Var(items), Data::Var(items)])));
    let rest = test.push(Stmt::Data(Data::Absent));
    let made = test.push(Stmt::Call { method: f.method("Box", "make"), recv: None, args: vec![nested, rest] });
    test.push(Stmt::Call { method: f.method("", "outer"), recv: None, args: vec![made] });
    assert_eq!(body(&render(&f, &test, TestStyle::Failing).text), ["value = []", "result = Box.make(value, value)", "outer(result)"]);
}

/// What a class of the test's own with these members makes of `None`.
fn thing(members: &[(&str, Data)]) -> Data {
    let members = members.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect();
    Data::Made { class: Box::new(Data::Class { bases: Vec::new(), members, record: false }), args: vec![Data::None] }
}

struct Confirmed {
    plan: ConfirmPlan,
    ended: Option<Ended>,
    passed: Option<Option<Ended>>,
}

fn confirm(f: &Fixture, test: &TestCase, goal: &CrashGoal, passing: Option<TestStyle>, label: &str) -> Confirmed {
    let scratch = folder(&format!("confirm-{label}-{}-{}", f.python.version.1, f.python.version.2));
    let rendered = |how| Pytest.render(&f.program, goal, 1, test, &style(how)).unwrap();
    let sources = [f.file.parent().unwrap().to_owned()];
    let config = ConfirmConfig { scratch: &scratch, interpreter: &f.python, sources: &sources, watch: &f.watch };
    let plan = plan(&rendered(TestStyle::Failing), passing.map(rendered).as_ref(), &config);
    for folder in &plan.folders {
        std::fs::create_dir_all(scratch.join(folder)).unwrap();
    }
    for (path, text) in &plan.files {
        std::fs::write(scratch.join(path), text).unwrap();
    }
    let run = |command: &Command, name: &str| -> Option<Ended> {
        let own: PathBuf = scratch.join(name);
        std::fs::create_dir_all(&own).unwrap();
        let command = command.in_folder(&own);
        let mut jailed = JailedCommand::new(LAUNCHER, &own, &command.program).args(&command.args);
        jailed.read.extend(plan.readable.iter().cloned());
        let done = run_to_end(&jailed, Duration::from_secs(60), 1 << 16).unwrap();
        let result = std::fs::read_to_string(own.join(RESULT_FILE)).unwrap_or_else(|_| panic!("{} {}", done.stdout.text(), done.stderr.text()));
        parse_result(&result)
    };
    let ended = run(&plan.run, "run");
    let passed = plan.passes.as_ref().map(|command| run(command, "run-passing"));
    Confirmed { plan, ended, passed }
}

#[test]
fn the_plan_shows_what_a_session_shows() {
    let mut runners = Vec::new();
    for python in interpreters() {
        let f = fixture(python);
        let goal = goal(&f, "subject:Box", "fail", "subject.Custom");
        let mut tests = vec![box_test(&f), f.call("outer", &[Data::Int(7)]), f.call("inner", &[Data::Int(8)]), f.call("inner", &[Data::Int(0)])];
        tests.push(f.call("read", &[Data::File(Box::new(Data::text("\u{20ac}\n")))]));
        let shown = f.session().execute(&tests).unwrap();
        for (i, test) in tests.iter().enumerate() {
            let got = confirm(&f, test, &goal, None, &format!("same{i}"));
            let Some(Ended::Thrown(chain)) = got.ended else { panic!("{}: {i} {:?}", python.label(), got.ended) };
            let chain = drop_harness(chain, &got.plan.harness);
            let session = shown[i].thrown().unwrap().1;
            let view = |chain: &[Throwable]| -> Vec<(String, Option<String>, Vec<Frame>)> {
                chain.iter().map(|t| (t.exception.clone(), t.message.clone(), t.program_frames())).collect()
            };
            assert_eq!(view(&chain), view(session), "{} {i}", python.label());
            runners.push(runner(&f.python));
        }
        let fine = f.call("outer", &[Data::Int(1)]);
        assert_eq!(confirm(&f, &fine, &goal, None, "fine").ended, Some(Ended::Returned), "{}", python.label());
    }
    assert!(!runners.is_empty());
}

#[test]
fn tests_that_shall_pass_are_seen_to_pass() {
    assert!(interpreters().iter().any(|p| p.pytest.is_some()), "this test needs an interpreter with pytest");
    for python in interpreters().iter().filter(|p| p.pytest.is_some()) {
        let f = fixture(python);
        let goal = goal(&f, "subject:Box", "fail", "subject.Custom");
        for how in [TestStyle::Expect, TestStyle::XFail] {
            let got = confirm(&f, &box_test(&f), &goal, Some(how), "passing");
            assert_eq!((runner(&f.python), got.passed), (Runner::Pytest, Some(Some(Ended::Returned))), "{} {how:?}", python.label());
        }
        // The wrong exception: the test that expects it fails.
        let mut test = box_test(&f);
        let size = Var(0);
        test.stmts[size.0 as usize] = Stmt::Data(Data::Int(0));
        let other = self::goal(&f, "subject:Box", "fail", "KeyError");
        let got = confirm(&f, &test, &other, Some(TestStyle::Expect), "wrong");
        assert!(matches!(got.passed, Some(Some(Ended::Thrown(_)))), "{}", python.label());
    }
}

#[test]
fn settings_hold_for_the_whole_test() {
    let f = newest();
    let mut test = box_test(&f);
    test.insert(0, Stmt::Env(Box::new(Env::Setting { name: "MODE".into(), value: "'x'".into() })));
    let text = render(&f, &test, TestStyle::Failing).text;
    assert!(text.contains("import os\n") && text.contains("import unittest.mock\n"), "{text}");
    assert_eq!(body(&text)[0], "with unittest.mock.patch.dict(os.environ, {\"MODE\": \"'x'\"}):", "{text}");
    let expecting = render(&f, &test, TestStyle::Expect).text;
    assert!(expecting.contains("\n        with pytest.raises(Custom):\n            box.fail()"), "{expecting}");
}
