//! Sessions with real interpreters, in the jail: what tests do to their worker, and that the next test does not notice.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use rethrow_core::execution::{Execution, Outcome, Seen};
use rethrow_core::probe::ChainFrame;
use rethrow_core::target::Session;
use rethrow_core::testcase::{Data, Stmt, TestCase};
use rethrow_core::trace::{Frame, Throwable};
use support::{Fixture, interpreters};

fn fixtures() -> Vec<Fixture> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session/subject.py");
    interpreters().iter().map(|python| Fixture::new(python, &file, "subject")).collect()
}

fn one(f: &Fixture, test: &TestCase) -> Execution {
    let mut got = f.session().execute(std::slice::from_ref(test)).unwrap();
    assert_eq!(got.len(), 1);
    got.remove(0)
}

fn thrown(e: &Execution) -> &[Throwable] {
    e.thrown().unwrap_or_else(|| panic!("{:?}", e.outcome)).1
}

fn places(t: &Throwable) -> Vec<String> {
    t.frames.iter().map(|f| format!("{}.{}:{}", f.class, f.method, f.line.unwrap_or(0))).collect()
}

fn int(n: i128) -> Data {
    Data::Int(n)
}

#[test]
fn calls_pass_arguments_as_declared() {
    for f in fixtures() {
        let rest = Data::List(vec![int(10), int(20)]);
        let named = Data::Dict(vec![(Data::text("z"), int(100))]);
        let cases: Vec<(Vec<Data>, &str)> = vec![
            (vec![int(1), Data::Absent, Data::Absent, Data::Absent, Data::Absent], "6"),
            (vec![int(1), int(1), rest.clone(), int(0), named], "132"),
            (vec![int(1), Data::Absent, Data::List(vec![]), int(5), Data::Absent], "8"),
        ];
        for (args, sum) in cases {
            let mut test = f.call("add", &args);
            let got = test.len() - 1;
            // 1 // (sum - expected) shows the value.
            let method = f.method("", "check");
            let text = test.push(Stmt::Call { method: f.method("", "add"), recv: None, args: vec![] });
            test = test.prefix(text.0 as usize);
            test.push(Stmt::Call { method, recv: None, args: vec![rethrow_core::testcase::Var(got as u32)] });
            let e = one(&f, &test);
            assert_eq!(thrown(&e)[0].message.as_deref(), Some(sum), "{} {args:?}", f.python.label());
        }
        let e = one(&f, &f.call("add", &[int(1), Data::Absent, rest, Data::Absent, Data::Absent]));
        assert!(matches!(e.outcome, Outcome::Invalid { at: 5, .. }), "{:?}", e.outcome);
    }
}

#[test]
fn exceptions_have_their_frames_and_causes() {
    for f in fixtures() {
        let label = f.python.label();
        let e = one(&f, &f.call("outer", &[int(7)]));
        let chain = thrown(&e);
        assert_eq!((chain[0].exception.as_str(), chain[0].message.as_deref()), ("subject.Custom", Some("wrapped")), "{label}");
        assert_eq!(places(&chain[0]), [format!("subject.middle:{}", f.line("# wrap")), format!("subject.outer:{}", f.line("# outer"))]);
        assert_eq!((chain[1].exception.as_str(), chain[1].message.as_deref()), ("KeyError", Some("7")));
        assert_eq!(places(&chain[1]), [format!("subject.inner:{}", f.line("# key")), format!("subject.middle:{}", f.line("# middle"))]);
        let e = one(&f, &f.call("inner", &[int(8)]));
        assert_eq!((thrown(&e)[0].exception.as_str(), thrown(&e)[0].message.as_deref()), ("IndexError", None));
        assert_eq!(places(&thrown(&e)[0])[0], format!("subject.nested:{}", f.line("# nested")));
        let e = one(&f, &f.call("inner", &[int(0)]));
        let frames = places(&thrown(&e)[0]);
        assert_eq!(frames.last().unwrap(), &format!("subject.inner:{}", f.line("# divide")), "{label}");
        let mut test = TestCase::default();
        let size = test.push(Stmt::Data(int(3)));
        let colour = test.push(Stmt::Data(Data::Absent));
        let new = test.push(Stmt::New { ctor: f.method("Box", "__init__"), args: vec![size, colour] });
        test.push(Stmt::Call { method: f.method("Box", "fail"), recv: Some(new), args: vec![] });
        let e = one(&f, &test);
        assert_eq!(places(&thrown(&e)[0]), [format!("subject:Box.fail:{}", f.line("# fail"))]);
        assert_eq!(e.types[2], f.program.find_type("subject:Box"));
        assert!(e.hits.contains(&f.points("# fail")[0]));
    }
}

#[test]
fn what_the_harness_cannot_do_is_invalid_and_not_thrown() {
    for f in fixtures() {
        let set = f.call("outer", &[Data::Set(vec![Data::List(vec![])])]);
        let mut receiver = TestCase::default();
        let none = receiver.push(Stmt::Data(Data::None));
        receiver.push(Stmt::Call { method: f.method("Box", "fail"), recv: Some(none), args: vec![] });
        let arity = f.call("outer", &[]);
        let got = f.session().execute(&[set, receiver, arity]).unwrap();
        let kinds: Vec<u32> = got.iter().map(|e| if let Outcome::Invalid { at, .. } = e.outcome { at } else { panic!("{:?}", e.outcome) }).collect();
        assert_eq!(kinds, [0, 1, 0], "{}", f.python.label());
    }
}

#[test]
fn hostile_tests_end_alone() {
    for f in fixtures() {
        let label = f.python.label();
        let fine = || f.call("outer", &[int(1)]);
        let plain = |name: &str| f.call(name, &[]);
        let names = ["hang", "hang_swallowing", "sleep", "regex", "hog", "power", "segfault", "fork_bomb", "fork_on", "fork_and_return", "thread", "flood"];
        let mut tests = vec![fine()];
        for name in names {
            tests.extend([plain(name), plain("threads_now"), fine()]);
        }
        tests.extend([f.call("leave", &[int(3)]), fine(), f.call("leave_hard", &[int(4)]), fine(), f.call("recurse", &[int(0)]), fine()]);
        let mut session = f.session();
        let got = session.execute(&tests).unwrap();
        let of = |name: &str| &got[1 + 3 * names.iter().position(|n| *n == name).unwrap()].outcome;
        for name in ["hang", "hang_swallowing", "sleep", "regex", "power"] {
            assert!(matches!(of(name), Outcome::TimeLimit { at: 0 } | Outcome::StepLimit { at: 0 }), "{label} {name}: {:?}", of(name));
        }
        assert!(matches!(of("hog"), Outcome::Thrown { chain, .. } if chain[0].exception == "MemoryError"), "{label} {:?}", of("hog"));
        assert!(matches!(of("segfault"), Outcome::Died { .. }), "{label} {:?}", of("segfault"));
        assert!(!matches!(of("fork_bomb"), Outcome::Normal), "{label} {:?}", of("fork_bomb"));
        for name in ["fork_on", "fork_and_return", "thread", "flood"] {
            assert_eq!(of(name), &Outcome::Normal, "{label} {name}");
        }
        let rest = &got[got.len() - 6..];
        assert_eq!((&rest[0].outcome, &rest[2].outcome), (&Outcome::Exit { at: 1, code: 3 }, &Outcome::Exit { at: 1, code: 4 }));
        assert_eq!(thrown(&rest[4])[0].exception, "RecursionError");
        assert!(places(&thrown(&rest[4])[0]).iter().filter(|p| **p == format!("subject.recurse:{}", f.line("# recurse"))).count() > 100);
        for (i, e) in got.iter().enumerate().filter(|(i, _)| tests[*i] == fine() || tests[*i] == plain("threads_now")) {
            assert_eq!(e.outcome, Outcome::Normal, "{label} test {i} after {:?}", got[i - 1].outcome);
        }
        assert_eq!(session.stats().deaths, 0, "{label}: the worker itself survives {:?}", names.iter().map(|n| of(n)).collect::<Vec<_>>());
    }
}

#[test]
fn state_is_fresh_for_each_batch_and_each_pristine_test() {
    for f in fixtures() {
        let test = f.call("count", &[]);
        let mut session = f.session();
        for _ in 0..3 {
            assert_eq!(session.execute(std::slice::from_ref(&test)).unwrap()[0].outcome, Outcome::Normal);
            assert_eq!(session.execute_pristine(&test).unwrap().outcome, Outcome::Normal);
        }
        let both = session.execute(&[test.clone(), test]).unwrap();
        assert!(matches!(both[0].outcome, Outcome::Normal));
    }
}

/// Patterns that batch after batch compiles are compiled once for all; what pristine tests see is a process that has compiled nothing.
#[test]
fn patterns_that_come_again_are_compiled_beforehand() {
    for f in fixtures() {
        let test = f.call("pattern", &[]);
        let mut session = f.session();
        let ends: Vec<bool> = (0..4).map(|_| session.execute(std::slice::from_ref(&test)).unwrap()[0].thrown().is_some()).collect();
        assert_eq!(ends, [false, false, true, true]);
        let own = f.call("own_pattern", &[]);
        for _ in 0..4 {
            assert_eq!(session.execute(std::slice::from_ref(&own)).unwrap()[0].outcome, Outcome::Normal, "the program's own types are left alone");
        }
    }
}

/// What takes long to make is made once, and each test finds it as new; a pristine test makes its own.
#[test]
fn slow_objects_are_made_beforehand() {
    for f in fixtures() {
        let mut test = TestCase::default();
        let size = test.push(Stmt::Data(int(2)));
        let slow = test.push(Stmt::New { ctor: f.method("Slow", "__init__"), args: vec![size] });
        test.push(Stmt::Call { method: f.method("Slow", "use"), recv: Some(slow), args: Vec::new() });
        let mut session = f.session();
        let two = [test.clone(), test.clone()];
        let first = session.execute(&two).unwrap();
        assert!(first.iter().all(|e| e.outcome == Outcome::Normal), "{first:?}");
        for execution in session.execute(&two).unwrap() {
            assert_eq!(thrown(&execution)[0].message.as_deref(), Some("made beforehand"));
        }
        assert_eq!(session.execute_pristine(&test).unwrap().outcome, Outcome::Normal);
    }
}

/// BBC-3.
#[test]
fn who_called_the_frames_of_the_trace_is_told() {
    for mut f in fixtures() {
        let frame = |method: &str, mark: &str| {
            let frame = Frame { class: "subject".into(), method: method.into(), line: Some(f.line(mark)), ..Frame::default() };
            ChainFrame { frame, points: f.points(mark) }
        };
        f.watch.plan.chain = vec![frame("low", "# inside"), frame("high", "# outside")];
        let reach = |function: &str, n: i128| one(&f, &f.call(function, &[int(n)])).reach;
        assert_eq!(reach("high", 5), [2, 2]);
        assert_eq!(reach("high", 1), [0, 2]);
        assert_eq!(reach("beside", 5), [1, 0]);
    }
}

#[test]
fn the_jail_holds_and_chance_is_fixed() {
    for f in fixtures() {
        let target = std::env::temp_dir().join("rethrow-python-must-not-exist");
        let _ = std::fs::remove_file(&target);
        let tests = [f.call("write", &[Data::text(target.to_str().unwrap())]), f.call("dice", &[]), f.call("dice", &[])];
        let got = f.session().execute(&tests).unwrap();
        assert!(thrown(&got[0])[0].exception.ends_with("Error") && !target.exists());
        assert_eq!(thrown(&got[1])[0].message, thrown(&got[2])[0].message);
        assert_eq!(got[1].thrown().unwrap().1[0].message, f.session().execute(&tests[1..2]).unwrap()[0].thrown().unwrap().1[0].message);
    }
}

#[test]
fn data_becomes_values() {
    for f in fixtures() {
        let thing = Data::Object(vec![("size".into(), int(1000))]);
        let args = [Data::Function(Box::new(int(1))), Data::Iterator(vec![int(10), Data::Bool(true)]), Data::Stream(Box::new(Data::text("abc"))), thing];
        let mut test = f.call("use", &args);
        let last = rethrow_core::testcase::Var(test.len() as u32 - 1);
        test.push(Stmt::Call { method: f.method("", "check"), recv: None, args: vec![last] });
        assert_eq!(thrown(&one(&f, &test))[0].message.as_deref(), Some("1015"), "{}", f.python.label());
        let e = one(&f, &f.call("read", &[Data::File(Box::new(Data::text("conten")))]));
        assert_eq!(thrown(&e)[0].message.as_deref(), Some("conten"));
        let branch = e.branch(f.branches("# content")[0]).unwrap();
        assert_eq!((branch.equal, branch.hint), (true, 1.0));
        assert!(e.seen.contains(&Seen::Str("content".into())));
        let big = f.call("check", &[int(i128::MAX)]);
        assert_eq!(thrown(&one(&f, &big))[0].message, Some(i128::MAX.to_string()));
    }
}

#[test]
fn conditions_tell_how_near_they_came() {
    for f in fixtures() {
        let e = one(&f, &f.call("kinds", &[Data::text("abX"), int(9), Data::List(vec![int(1)]), Data::None]));
        assert_eq!(e.outcome, Outcome::Normal, "{}", f.python.label());
        let near = |text: &str| f.branches(text).iter().map(|n| e.branch(*n).map(|b| (b.above, b.equal, b.hint))).collect::<Vec<_>>();
        let inf = f64::INFINITY;
        let no = |d: f64| Some((inf, true, d));
        assert_eq!(near("# starts"), [no(1.0)]);
        assert_eq!(near("# member"), [no(4.0)]);
        assert_eq!(near("# chain"), [no(4.0)]);
        assert_eq!(near("# both"), [no(92.0), None]);
        assert_eq!(near("# loop"), [Some((1.0, true, 1.0))]);
        assert_eq!(near("# rounds"), [no(10.0)]);
        assert_eq!(near("# kept"), [no(1.0), None]);
        assert_eq!(near("# digits"), [no(3.0)]);
        let e = one(&f, &f.call("outer", &[int(9)]));
        let seven = e.branch(f.branches("# seven")[0]).unwrap();
        assert_eq!((seven.equal, seven.hint), (true, 2.0));
        assert!(e.seen.contains(&Seen::Int(7)));
    }
}

#[test]
fn patterns_that_were_not_found_are_told() {
    for f in fixtures() {
        let e = one(&f, &f.call("fits", &[Data::text("xyz")]));
        assert_eq!(e.outcome, Outcome::Normal, "{}", f.python.label());
        let unfit = |pattern: &str| e.seen.contains(&Seen::Unfit { text: "xyz".into(), pattern: pattern.into() });
        assert_eq!(["a+b", "c{2}", "d", "x."].map(unfit), [true, true, true, false], "{}: {:?}", f.python.label(), e.seen);
    }
}

#[test]
fn truth_is_tested_as_often_as_without_probes() {
    for f in fixtures() {
        let mut test = TestCase::default();
        let odd = test.push(Stmt::New { ctor: f.method("Odd", "__init__"), args: vec![] });
        test.push(Stmt::Call { method: f.method("", "tested"), recv: None, args: vec![odd] });
        assert_eq!(one(&f, &test).outcome, Outcome::Normal, "{}", f.python.label());
    }
}

#[test]
fn numbers_and_texts_of_any_size_survive_the_wire() {
    for f in fixtures() {
        let mut ints: Vec<i128> = (0..127).flat_map(|bit| [1i128 << bit, -(1i128 << bit), (1i128 << bit) - 1]).collect();
        ints.extend([i128::MIN, i128::MAX, 0]);
        let texts: Vec<String> = [0, 1, 127, 128, 300].iter().map(|n| "x".repeat(*n)).collect();
        let list = Data::List(ints.iter().map(|n| Data::Int(*n)).collect());
        let words = Data::List(texts.iter().map(Data::text).collect());
        let floats = Data::List([0.1, -0.0, 1e300, f64::INFINITY].iter().map(|v| Data::float(*v)).collect());
        let tests = [list, words, floats, Data::Bytes((0..=255).collect())].map(|d| f.call("check", &[d]));
        let got = f.session().execute(&tests).unwrap();
        let said: Vec<&str> = got.iter().map(|e| thrown(e)[0].message.as_deref().unwrap()).collect();
        // Messages have their own limit.
        let all = format!("{ints:?}");
        assert_eq!(said[0], all.chars().take(4096).collect::<String>(), "{}", f.python.label());
        assert_eq!(said[1], format!("{texts:?}").replace('"', "'"));
        assert_eq!(said[2], "[0.1, -0.0, 1e+300, inf]");
        assert!(said[3].starts_with("b'\\x00\\x01") && said[3].ends_with("\\xfe\\xff'"), "{}", said[3]);
    }
}
