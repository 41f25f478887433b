use rethrow_core::program::control_dependence::ControlDependence;
use rethrow_core::program::ir::{EdgeKind, Op};
use rethrow_core::program::{Literal, MethodId, Program};

use crate::plan;
use crate::source::program_of;

fn method(program: &Program, name: &str) -> MethodId {
    program.types().flat_map(|t| program.methods_of(t)).find(|m| program.method_name(*m) == name).unwrap()
}

/// Lines on which the body's code stands.
fn lines(text: &str, name: &str) -> Vec<u32> {
    let (program, _) = program_of(text, (3, 11));
    let mut lines: Vec<u32> = program.body(method(&program, name)).unwrap().lines().map(|(l, _)| l).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// The lines of the conditions that the line directly depends on.
fn decided_by(text: &str, line: u32) -> Vec<(u32, bool)> {
    let (program, _) = program_of(text, (3, 11));
    let body = program.body(method(&program, "f")).unwrap();
    let target = body.insns_on_line(line).map(|i| body.block_of(i)).next().expect("code on the line");
    let dependence = ControlDependence::of(&body);
    let parents = dependence.parents(target).iter();
    let mut found: Vec<(u32, bool)> = parents
        .map(|(block, edge)| {
            let EdgeKind::Branch { taken } = body.block(*block).succs[*edge].kind else { panic!("a branch decides") };
            (body.last_insn(*block).unwrap().line.unwrap(), taken)
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn branches_decide_what_runs() {
    assert_eq!(decided_by("def f(a, b):\n    if a:\n        x = 1\n    elif b:\n        x = 2\n    else:\n        x = 3\n", 5), [(4, true)]);
    assert_eq!(decided_by("def f(a, b):\n    if a:\n        x = 1\n    elif b:\n        x = 2\n    else:\n        x = 3\n", 7), [(4, false)]);
    assert_eq!(decided_by("def f(a, b):\n    if not a:\n        x = 1\n", 3), [(2, false)]);
    assert_eq!(decided_by("def f(a, b):\n    if (a and\n        b):\n        x = 1\n", 4), [(3, true)]);
    assert_eq!(decided_by("def f(a, b):\n    if (a or\n        b):\n        x = 1\n", 4), [(2, true), (3, true)]);
    assert_eq!(decided_by("def f(a):\n    for i in a:\n        i()\n", 3), [(2, true)]);
    assert_eq!(decided_by("def f(a):\n    while a:\n        if a > 3:\n            break\n    else:\n        a()\n", 6), [(2, false)]);
    assert_eq!(decided_by("def f(a):\n    assert a\n    a()\n", 3), [(2, true)]);
    assert_eq!(decided_by("def f(a):\n    x = (1 if a else\n         a())\n", 3), [(2, false)]);
    assert_eq!(decided_by("def f(a):\n    if a:\n        return 1\n    a()\n", 4), [(2, false)]);
    assert_eq!(decided_by("def f(a):\n    while True:\n        if a:\n            raise X\n        if a():\n            return\n", 4), [(3, true)]);
    assert_eq!(decided_by("def f(a):\n    match a:\n        case 1 if a.b:\n            a()\n", 4), [(3, true)]);
}

#[test]
fn lines_are_those_of_subexpressions() {
    let text = "@deco\ndef f(a,\n      b=g()):\n    '''Doc.'''\n    return h(\n        a.x,\n        [\n            b\n            .y()\n        ],\n    )\n";
    assert_eq!(lines(text, "f"), [5, 6, 7, 8, 9]);
    assert_eq!(lines(text, "<module>"), [1, 2, 3]);
    assert_eq!(lines("def f(a):\n    return [x.y\n            for x in a\n            if x]\n", "<listcomp>"), [2, 3, 4]);
}

#[test]
fn inlined_comprehensions_belong_to_their_function() {
    let text = "def f(a):\n    return [x.y\n            for x in a]\n";
    let (program, _) = program_of(text, (3, 12));
    let body = program.body(method(&program, "f")).unwrap();
    assert!(body.insns_on_line(2).count() > 0 && body.insns_on_line(3).any(|i| matches!(body.insns[i].op, Op::If { .. })));
}

#[test]
fn exceptions_go_to_their_handlers() {
    let text = "def f(a):\n    try:\n        a()\n    except KeyError:\n        x = 1\n    except (ValueError, TypeError) as e:\n        raise\n    else:\n        y = a.b\n    finally:\n        z = 3\n";
    let (program, _) = program_of(text, (3, 11));
    let body = program.body(method(&program, "f")).unwrap();
    let named = |line: u32| {
        let insn = body.insns_on_line(line).find(|i| !body.insns[*i].hazards.is_empty()).unwrap();
        let kinds = body.raise_edges(insn).map(|e| e.kind);
        kinds.map(|k| if let EdgeKind::Exception(Some(t)) = k { program.type_name(t).to_string() } else { "*".into() }).collect::<Vec<_>>()
    };
    assert_eq!(named(3), ["builtins:KeyError", "builtins:ValueError", "builtins:TypeError", "*"]);
    assert_eq!(named(7), ["*"], "the finally block");
    assert_eq!(named(9), ["*"]);
    assert!(body.insns_on_line(11).count() >= 2, "one copy for each way");
}

#[test]
fn calls_and_constants_are_seen() {
    let text = "
class Bad(ValueError): pass
class C:
    def f(self, a):
        self.g(a)
        helper(f'x{a}y' % 'fmt')
        if a > 60 * 60: raise Bad('no')
        return self.size
    def g(self, b): return lambda: b
    @property
    def size(self): return 1
def helper(q): return TABLE
TABLE = {'k1': [1.5, 'k2']}
";
    let (program, _) = program_of(text, (3, 11));
    let body = program.body(method(&program, "f")).unwrap();
    let mut called: Vec<String> = body.calls().map(|c| c.method.name.to_string()).collect();
    called.sort_unstable();
    assert_eq!(called, ["__init__", "g", "helper", "size"]);
    assert_eq!(body.throws()[0].ty, program.find_type("m:Bad"));
    let literals = body.literals();
    for wanted in [Literal::Str("x".into()), Literal::Str("y".into()), Literal::Str("fmt".into()), Literal::Int(3600)] {
        assert!(literals.contains(&wanted), "{wanted:?} in {literals:?}");
    }
    let table = program.body(method(&program, "<module>")).unwrap().literals();
    assert!(table.contains(&Literal::Str("k2".into())) && table.contains(&Literal::Double(1.5)));
    let c = program.find_type("m:C").unwrap();
    assert_eq!(program.callers_in(c, method(&program, "size")), [method(&program, "f")]);
    assert_eq!(program.callers_in(c, method(&program, "<lambda>")), [method(&program, "g")]);
}

#[test]
fn every_place_of_the_plan_has_its_instruction() {
    let text = "def f(a, b):\n    x = (a and\n         b.c)\n    for i in a:\n        if i: continue\n    return [y for y in a if y]\n";
    let (program, sources) = program_of(text, (3, 11));
    let watch = plan::watch(&program, &sources, &[program.find_type("m").unwrap()]);
    let f = watch.plan.of(method(&program, "f")).unwrap();
    let body = program.body(method(&program, "f")).unwrap();
    assert!(f.points.iter().all(|p| body.block_at(p.pc).is_some()));
    assert!(f.branches.iter().all(|b| body.insns_at(b.pc).any(|i| matches!(body.insns[i].op, Op::If { .. }))));
    assert_eq!(f.points.iter().map(|p| p.line.unwrap()).collect::<Vec<_>>(), [2, 4, 5, 5, 6]);
    let file = &watch.files[0];
    let positions: Vec<(u32, u32)> = file.points.iter().map(|s| (s.line, s.col)).collect();
    assert_eq!(positions, [(2, 4), (4, 4), (5, 8), (5, 14), (6, 4)]);
    let branches: Vec<(u32, u32)> = file.branches.iter().map(|s| (s.line, s.col)).collect();
    assert_eq!(branches, [(2, 9), (4, 13), (5, 11), (6, 23), (6, 28)]);
    assert!(file.points.iter().map(|s| s.number).eq(0..watch.plan.points));
}
