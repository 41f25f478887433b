//! How a trace is aligned with the program.

use rethrow_core::goal::{Misfit, resolve};
use rethrow_core::toy;

use crate::worlds::PRESS;

/// The outermost target (0 if none) and the numbers of the frames that do not fit, with the reason.
fn check(crash: &str, outermost: usize, misfits: &[(usize, Misfit)]) {
    let program = toy::load(PRESS).unwrap();
    let (found, mismatches) = match resolve(&toy::trace(PRESS, crash).unwrap(), &program) {
        Ok(goal) => (goal.outermost(), goal.mismatches),
        Err(unresolved) => (0, unresolved.mismatches),
    };
    let got: Vec<(usize, Misfit)> = mismatches.into_iter().map(|m| (m.number, m.why)).collect();
    assert_eq!((found, &got[..]), (outermost, misfits), "{crash}");
}

fn line(label: &str) -> u32 {
    toy::line_of(PRESS, label).unwrap()
}

#[test]
fn frames_resolve_to_class_method_and_line() {
    check("Boom Press.burst:boom Press.squeeze:through", 2, &[]);
    check("Boom Press.burst Press.squeeze", 2, &[]);
}

#[test]
fn a_misfit_of_the_innermost_frame_leaves_no_target() {
    let boom = line("boom");
    let span = Some((boom - 1, boom + 2));
    check("Boom Pres.burst:boom", 0, &[(1, Misfit::NoClass)]);
    check("Boom Bar.shrink:boom", 0, &[(1, Misfit::NoMethod { has: vec!["new".into(), "grow".into()] })]);
    check(&format!("Boom Press.burst:{}", boom - 9), 0, &[(1, Misfit::NoLine { nearest: Some(boom - 1), span })]);
    check(&format!("Boom Press.burst:{}", boom + 9), 0, &[(1, Misfit::NoLine { nearest: Some(boom + 2), span })]);
}

#[test]
fn the_target_ends_before_the_first_misfit_even_if_later_frames_fit() {
    check("Boom Press.burst:boom Gone.m:1 Press.squeeze:through", 1, &[(2, Misfit::NoClass)]);
    let gaps = [(2, Misfit::NoClass), (4, Misfit::NoClass)];
    check("Boom Press.burst:boom Gone.m:1 Press.squeeze:through Lost.m:1", 1, &gaps);
    check("Boom Gone.m:1 Press.squeeze:through", 0, &[(1, Misfit::NoClass)]);
}

#[test]
fn all_overloads_that_have_the_line_are_targets() {
    let text = "class A {\nmethod m(n int) {\nthis.m()\n}\nmethod m() {\nthrow E\n}\n}";
    let program = toy::load(text).unwrap();
    for (crash, methods) in [("E A.m:3", 1), ("E A.m:6", 1), ("E A.m", 2)] {
        let goal = resolve(&toy::trace(text, crash).unwrap(), &program).unwrap();
        assert_eq!(goal.frame(1).methods.len(), methods, "{crash}");
    }
}

#[test]
fn levels_count_the_frames_that_match_from_the_innermost() {
    let program = toy::load(PRESS).unwrap();
    let goal = resolve(&toy::trace(PRESS, "Boom Press.burst:boom Press.squeeze:through").unwrap(), &program).unwrap();
    for (crash, level) in [
        ("Boom Press.burst:boom Press.squeeze:through Other.m:1", 2),
        ("Boom Press.burst:boom Press.squeeze:1", 1),
        ("Boom Press.squeeze:through", 0),
        ("Bang Press.burst:boom Press.squeeze:through", 0),
        ("Wrap Other.m:1 | Boom Press.burst:boom Press.squeeze:through", 2),
    ] {
        let trace = toy::trace(PRESS, crash).unwrap();
        let chain: Vec<_> = trace.chain().cloned().collect();
        assert_eq!(goal.level_of(&chain), level, "{crash}");
    }
}

/// What the trace's methods call has left the stack when they crash, and is near all the same; what only others call is not.
#[test]
fn types_near_a_trace_are_those_that_its_methods_run() {
    let text = r"
class Shop {
  field open int
  new() {
    this.open = 1
  }
  method sell(n int) {
    reader = new Reader(n)
    total = reader.read()
    throw Sold # sold
  }
}
class Reader {
  field count int
  new(count int) {
    this.count = count
  }
  method read() int {
    lexer = new Lexer()
    return 0
  }
}
class Lexer {
  field at int
  new() {
    this.at = 0
  }
}
class Stranger {
  field at int
  new() {
    this.at = 0
  }
}
";
    let program = toy::load(text).unwrap();
    let goal = resolve(&toy::trace(text, "Sold Shop.sell:sold").unwrap(), &program).unwrap().with_near(&program);
    let names: Vec<&str> = goal.near.iter().map(|t| program.type_name(*t)).collect();
    assert_eq!(names, ["Reader", "Lexer"]);
}
