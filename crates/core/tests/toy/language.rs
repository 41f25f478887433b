//! The toy language itself: what programs mean, and what is said about wrong ones.

use rethrow_core::execution::{BranchSeen, Outcome, Seen};
use rethrow_core::program::ir::Hazards;
use rethrow_core::target::{Header, Render, RenderStyle, Session, TestStyle};
use rethrow_core::testcase::{Stmt, TestCase, Value};
use rethrow_core::toy::{self, render::Renderer, run::Interpreter};

use crate::worlds;

/// How a call of `T.main(n)` ends: `normal`, `limit`, or the chain as `Type Class.method:line … | …`.
fn ends(text: &str, n: i32) -> String {
    let program = toy::load(text).unwrap();
    let plan = toy::plan(&program);
    let main = program.methods_named(program.find_type("T").unwrap(), "main").next().unwrap();
    let mut test = TestCase::default();
    let args = program.signature(main).params.iter().map(|_| test.push(Stmt::Lit(Value::Int(n)))).collect();
    test.push(Stmt::Call { method: main, recv: None, args });
    let execution = Interpreter::new(&program, &plan).execute(&[test]).unwrap().remove(0);
    match execution.outcome {
        Outcome::Normal => "normal".into(),
        Outcome::StepLimit { .. } => "limit".into(),
        Outcome::Thrown { chain, .. } => {
            let one = |t: &rethrow_core::trace::Throwable| {
                let frames = t.frames.iter().map(|f| format!(" {}.{}:{}", f.class, f.method, f.line.unwrap_or(0)));
                t.exception.clone() + &frames.collect::<String>()
            };
            chain.iter().map(one).collect::<Vec<_>>().join(" | ")
        }
        other => format!("{other:?}"),
    }
}

/// `body` stands in lines 2 and on of `T.main(n)`.
fn main_ends(body: &str, n: i32) -> String {
    ends(&format!("class T {{ static method main(n int) {{\n{body}\n}} }}"), n)
}

#[test]
fn statements_mean_what_they_say() {
    for (body, n, end) in [
        ("return", 0, "normal"),
        ("if n < 3 throw A", 2, "A T.main:2"),
        ("if n < 3 throw A", 3, "normal"),
        ("if n != 3 {\nm = n * 2\nm = m - 1\nif m == 7 throw A\n}", 4, "A T.main:5"),
        ("while n > 0 {\nn = n - 1\n}\nthrow Done", 9, "Done T.main:5"),
        ("while n == n {\n}", 1, "limit"),
        ("s = \"a\"\nif s == \"a\" throw Same", 0, "Same T.main:3"),
        ("s = null\nif s == null throw Nil", 0, "Nil T.main:3"),
        ("try {\nthrow In\n} wrap Out", 0, "Out T.main:4 | In T.main:3"),
        ("try {\ntry {\nthrow A\n} wrap B\n} wrap C", 0, "C T.main:6 | B T.main:5 | A T.main:4"),
        ("try {\nm = 1\n} wrap Out\nthrow After", 0, "After T.main:5"),
        ("T.main(n)", 0, &format!("StackOverflowError{}", " T.main:2".repeat(100))),
    ] {
        assert_eq!(main_ends(body, n), end, "{body}");
    }
}

#[test]
fn objects_have_fields_methods_and_superclasses() {
    let text = r"class A {
  field next A
  field n int
  new(n int) {
    this.n = n
  }
  method go() {
    throw FromA
  }
  method start() {
    this.go()
  }
}
class B extends A {
  static field last B
  new(n int) {
    this.n = n
  }
  method go() {
    throw FromB
  }
}
class T {
  static method main(n int) {
    b = new B(n)
    B.last = b
    if n == 1 b.start()
    if n == 2 b.next.go()
    B.last.next = new A(n)
    if B.last.n == 3 b.next.start()
  }
}";
    for (n, end) in [(1, "FromB B.go:20 A.start:11 T.main:27"), (2, "NullDeref T.main:28"), (3, "FromA A.go:8 A.start:11 T.main:30"), (4, "normal")] {
        assert_eq!(ends(text, n), end);
    }
}

#[test]
fn wrong_programs_are_refused_with_their_line() {
    for (text, line) in [
        ("clas A {\n}", 1),
        ("class A {\nmethod m() {\nx = y\n}\n}", 3),
        ("class A {\nmethod m() {\nx = \"a\n}\n}", 3),
        ("class A {\nmethod m() {\nx = 1 y = 2\n}\n}", 3),
        ("class A {\nmethod m() {\n\nthis.n()\n}\n}", 4),
        ("class A {\nmethod m() {\nthis.f = 1\n}\n}", 3),
        ("class A {\nmethod m() {\nif 1 throw X\n}\n}", 3),
        ("class A {\nmethod m() {\nx = 99999999999999999999\n}\n}", 3),
        ("class A {\n}\nclass A {\n}", 3),
        ("class A {", 1),
        ("class A {\nmethod m() {\nx = 1 % 2", 3),
    ] {
        assert_eq!(toy::load(text).err().map(|e| e.line), Some(line), "{text}");
    }
    let nested = format!("class A {{\nmethod m() {{\n{}", "if 1 == 1 {\n".repeat(100_000));
    assert!(toy::load(&nested).is_err());
}

#[test]
fn any_cut_of_a_program_is_read_without_panic() {
    for end in (0..worlds::PRESS.len()).filter(|i| worlds::PRESS.is_char_boundary(*i)) {
        let _ = toy::load(&worlds::PRESS[..end]);
    }
}

#[test]
fn branches_tell_how_near_they_came() {
    let none = BranchSeen { branch: 0, above: f64::INFINITY, below: f64::INFINITY, equal: false, hint: f64::INFINITY };
    for (body, expected) in [
        ("if n < 10 return", BranchSeen { below: 3.0, ..none }),
        ("if n == 2 return", BranchSeen { above: 5.0, ..none }),
        ("if n == 7 return", BranchSeen { equal: true, ..none }),
        ("while n > 5 {\nn = n - 1\n}", BranchSeen { above: 1.0, equal: true, ..none }),
        ("s = \"house\"\nif s == \"mouse\" return", BranchSeen { equal: true, hint: 1.0, ..none }),
        ("s = \"house\"\nif s == \"house\" return", BranchSeen { above: 1.0, ..none }),
        ("s = null\nif s == null return", BranchSeen { equal: true, ..none }),
    ] {
        let program = toy::load(&format!("class T {{ static method main() {{\nn = 7\n{body}\n}} }}")).unwrap();
        let plan = toy::plan(&program);
        let main = program.methods_of(program.find_type("T").unwrap()).next().unwrap();
        let test = TestCase { stmts: vec![Stmt::Call { method: main, recv: None, args: Vec::new() }] };
        let execution = Interpreter::new(&program, &plan).execute(&[test]).unwrap().remove(0);
        assert_eq!(execution.branches, [expected], "{body}");
        let strings = execution.seen.iter().filter(|s| matches!(s, Seen::Str(_))).count();
        assert_eq!(strings > 0, body.contains('"'), "{body}");
    }
}

/// Blocks cover the code in order, every edge leads somewhere, and what may raise has a way to go.
#[test]
fn lowered_bodies_are_well_formed() {
    for world in [worlds::press(), worlds::deep_number(), worlds::object_state(), worlds::private_method(), worlds::three_frames()] {
        for method in world.program.types().flat_map(|t| world.program.methods_of(t)) {
            let body = world.program.body(method).unwrap();
            let mut next = 0;
            for (id, block) in body.real_blocks() {
                assert_eq!(block.insns.start, next, "{body}");
                assert!(block.insns.end > block.insns.start, "{body}");
                next = block.insns.end;
                assert!(!block.succs.is_empty() && block.succs.iter().all(|e| (e.to.0 as usize) < body.blocks.len()), "{body}");
                let normal_first = block.succs.windows(2).all(|w| w[0].kind.is_exception() <= w[1].kind.is_exception());
                assert!(normal_first, "{body}");
                let raises = block.insns.clone().any(|i| !body.insns[i as usize].hazards.is_empty());
                assert_eq!(raises, block.succs.iter().any(|e| e.kind.is_exception()), "{body}");
                assert!(id == body.entry() || !block.preds.is_empty(), "a block that nothing leads to in {body}");
            }
            assert_eq!(next as usize, body.insns.len());
        }
    }
}

#[test]
fn hazards_name_what_raises() {
    let world = worlds::press();
    assert_eq!(world.program.hazards("NullDeref"), Hazards::NULL);
    assert_eq!(world.program.hazards("Boom"), Hazards::EXPLICIT);
    let body = world.program.body(world.method("Press", "burst")).unwrap();
    let thrown = body.throws();
    assert_eq!(thrown.iter().map(|t| t.ty.map(|ty| world.program.type_name(ty))).collect::<Vec<_>>(), [Some("Boom")]);
}

/// The written text, loaded with the program and run, crashes as the test does.
#[test]
fn rendered_tests_crash_as_the_test_did() {
    let world = worlds::press();
    // most have an array somewhere, which the language cannot write
    let found = (1..=200).filter_map(|seed| world.search(&mut world.session(), seed, 3000).test).map(|test| crate::minimizer::minimized(&world, &test).0);
    let mut rendered = 0;
    for test in found {
        if rendered == 3 {
            break;
        }
        let header = Header { tool: "toy".into(), ..Header::default() };
        let style = RenderStyle { style: TestStyle::Failing, framework: 0, header };
        let Ok(text) = Renderer.render(&world.program, &world.goal, 2, &test, &style) else { continue };
        let whole = format!("{}{}", worlds::PRESS, text.text);
        let again = worlds::World::new(&whole, "Boom Press.burst:boom Press.squeeze:through");
        let crash = Stmt::Call { method: again.method(&text.name, &text.method), recv: None, args: Vec::new() };
        let execution = again.execute(&TestCase { stmts: vec![crash] });
        assert!(again.goal.met_by(2, &execution).is_some(), "{}", text.text);
        rendered += 1;
    }
    assert_eq!(rendered, 3, "too few tests could be rendered");
}
