//! Real class files become programs and bodies: compiled samples with known facts, real jars, the JDK's own classes.
//!
//! `RETHROW_ALL=1` lowers every class of every JDK found instead of a sample of one.

// Clippy knows test functions, but not the functions they share.
#![allow(clippy::unwrap_used)]

#[path = "program/interpreter.rs"]
mod interpreter;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use rethrow_core::program::control_dependence::ControlDependence;
use rethrow_core::program::ir::{BlockId, Body, CallKind, Hazards, Op};
use rethrow_core::program::{Access, Flags, Literal, MethodId, MethodKind, Prim, Program, Ty, TypeId};
use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::{self, Jdk};

fn jdks() -> Vec<Jdk> {
    let (java_home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
    let user_home = std::env::home_dir();
    let search = jdk::Search { java_home: java_home.as_deref(), path: path.as_deref(), user_home: user_home.as_deref(), explicit: None };
    let found: Vec<Jdk> = jdk::find(search).into_iter().filter(|jdk| jdk.javac.is_some()).collect();
    assert!(!found.is_empty(), "these tests need a JDK");
    found
}

fn cache() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("program");
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// A jar of Maven Central, fetched once.
fn jar(group: &str, artifact: &str, version: &str) -> PathBuf {
    let dir = std::env::home_dir().map_or_else(cache, |home| home.join(".cache/rethrow/jars"));
    let file = dir.join(format!("{artifact}-{version}.jar"));
    if !file.is_file() {
        let fetched = Command::new("mvn")
            .args(["-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"])
            .arg(format!("-Dartifact={group}:{artifact}:{version}"))
            .arg(format!("-DoutputDirectory={}", dir.display()))
            .current_dir(cache())
            .status();
        assert!(fetched.is_ok_and(|s| s.success()) && file.is_file(), "cannot fetch {group}:{artifact}:{version}");
    }
    file
}

fn open(jdk: &Jdk, elements: &[PathBuf]) -> Program {
    let spec: Vec<String> = elements.iter().map(|path| path.display().to_string()).collect();
    let opened = ClassPath::open(&spec, jdk).unwrap();
    assert_eq!(opened.diagnostics, []);
    let loaded = load(Arc::new(opened.value));
    assert_eq!(loaded.diagnostics, []);
    loaded.value
}

const SAMPLE: &str = include_str!("program/Sample.java");

/// The compiled sample: the directory of its classes.
fn compiled() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let (source, out) = (cache().join("Sample.java"), cache().join("classes"));
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).unwrap();
        fs::write(&source, SAMPLE).unwrap();
        let javac = jdks()[0].javac.clone().unwrap();
        let status = Command::new(javac).args(["-g", "-proc:none", "-encoding", "UTF-8", "-d"]).arg(&out).arg(&source).status().unwrap();
        assert!(status.success());
        out
    })
}

fn sample() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| open(&jdks()[0], &[compiled().to_path_buf()]))
}

fn ty(name: &str) -> TypeId {
    sample().find_type(name).unwrap_or_else(|| panic!("no type {name}"))
}

fn method(owner: &str, name: &str) -> MethodId {
    sample().methods_named(ty(owner), name).next().unwrap_or_else(|| panic!("no method {name}"))
}

fn body(owner: &str, name: &str) -> Arc<Body> {
    sample().body(method(owner, name)).unwrap_or_else(|| panic!("no body: {:?}", sample().unreadable()))
}

/// The line of the sample with that mark (`// mark`).
fn line(mark: &str) -> u32 {
    let mark = format!("// {mark}");
    SAMPLE.lines().position(|l| l.ends_with(&mark)).unwrap() as u32 + 1
}

#[test]
fn types_have_their_access_flags_and_place() {
    let program = sample();
    let access = |name: &str| program.ty(ty(name)).access;
    assert_eq!(access("p.Sample"), Access::Public);
    assert_eq!(access("p.Sample$Open"), Access::Public);
    assert_eq!(access("p.Sample$Hidden"), Access::Private);
    assert_eq!(access("p.Sample$Hidden$Deep"), Access::Private, "no better than what surrounds it");
    assert_eq!(access("p.Aside$Inside"), Access::Package);
    assert!(program.ty(ty("p.Sample$Open")).flags.has(Flags::STATIC));
    assert!(!program.ty(ty("p.Sample$Hidden")).flags.has(Flags::STATIC));
    for hidden in ["p.Sample$1", "p.Sample$1Local"] {
        assert!(program.ty(ty(hidden)).flags.has(Flags::UNNAMEABLE), "{hidden}");
    }
    assert_eq!(program.ty(ty("p.Sample$Open")).outer, Some(ty("p.Sample")));
    assert!(program.ty(ty("p.Sample$Color")).flags.has(Flags::ENUM));
    assert_eq!((program.package(ty("p.Sample")), program.ty(ty("p.Sample")).platform), ("p", false));
    let list = ty("java.util.List");
    assert!(program.ty(list).platform && program.ty(list).flags.has(Flags::INTERFACE));
    assert_eq!(program.ty(list).access, Access::Public);
    if jdks()[0].feature >= 9 {
        assert_eq!(access("sun.security.util.Debug"), Access::Private, "its package is not exported");
    }
    assert!(program.is_subtype(ty("java.util.ArrayList"), ty("java.util.Collection")));
}

#[test]
fn members_have_kinds_signatures_and_constants() {
    let program = sample();
    let kind = |name: &str| program.method(method("p.Sample", name)).kind;
    assert_eq!(kind("<init>"), MethodKind::Constructor);
    assert_eq!(kind("<clinit>"), MethodKind::TypeInitializer);
    assert_eq!(kind("classify"), MethodKind::Static);
    assert_eq!(kind("use"), MethodKind::Instance);
    let signature = program.signature(method("p.Sample", "mixed"));
    let object = program.well_known().object;
    assert_eq!(*signature.params, [Ty::prim(Prim::Long), object.array_of().array_of(), Ty::INT]);
    assert_eq!(signature.ret, program.well_known().string);
    let field = program.find_field(ty("p.Sample"), "LIMIT").unwrap();
    assert_eq!(program.field(field).constant, Some(Literal::Int(4711)));
    assert!(program.method(method("p.Sample", "varied")).flags.has(Flags::VARARGS));
    assert!(program.method(method("p.Sample", "old")).flags.has(Flags::DEPRECATED));
}

#[test]
fn the_same_class_path_gives_the_same_ids() {
    let again = open(&jdks()[0], &[compiled().to_path_buf()]);
    let names = |program: &Program| -> Vec<String> { program.types().map(|t| program.type_name(t).to_owned()).collect() };
    assert_eq!(names(&again), names(sample()));
    assert_eq!(again.find_type("p.Sample"), sample().find_type("p.Sample"));
}

#[test]
fn lines_and_calls_of_a_body() {
    let body = body("p.Sample", "use");
    let on_line: Vec<usize> = body.insns_on_line(line("calls")).collect();
    assert!(!on_line.is_empty());
    let calls: Vec<(String, CallKind, Option<u32>)> = body.calls().map(|c| (c.method.name.to_string(), c.kind, c.line)).collect();
    let at = Some(line("calls"));
    for expected in [("append", CallKind::Virtual), ("trim", CallKind::Virtual), ("classify", CallKind::Static)] {
        assert!(calls.contains(&(expected.0.to_owned(), expected.1, at)), "{expected:?} in {calls:?}");
    }
    let classify = body.calls().find(|c| *c.method.name == *"classify").unwrap();
    assert_eq!(sample().resolve_ref(classify.method), Some(method("p.Sample", "classify")));
    let append = body.calls().find(|c| *c.method.name == *"append").unwrap();
    assert!(sample().resolve_ref(append.method).is_some());
    let block = body.block_at(append.pc).unwrap();
    assert!(body.block(block).insns.contains(&(append.insn as u32)));
}

#[test]
fn casts_follow_the_parameter_and_only_it() {
    let program = sample();
    let types = |i: usize| -> Vec<&str> { body("p.Sample", "casts").casts_of_param(i).iter().map(|t| program.type_name(t.as_ref().unwrap())).collect() };
    assert_eq!(types(0), ["java.lang.String", "java.util.List"]);
    assert_eq!(types(1), ["java.lang.Integer"]);
    assert_eq!(types(2), Vec::<&str>::new());
}

#[test]
fn literals_are_mined_with_folding() {
    let body = body("p.Sample", "literals");
    let found = body.literals();
    let expected = [
        Literal::Int(-7),
        Literal::Long(0xCAFE_BABE),
        Literal::Double(2.5),
        Literal::Str("ready:".to_owned()),
        Literal::Int(300),
        Literal::Int(-1000),
        Literal::Int('Q' as i32),
    ];
    for literal in expected {
        assert!(found.contains(&literal), "{literal:?} in {found:?}");
    }
    let classes: Vec<&str> = body.class_literals().iter().map(|t| sample().type_name(t.as_ref().unwrap())).collect();
    assert_eq!(classes, ["java.lang.Thread"]);
}

#[test]
fn throws_know_the_type_when_it_is_made_there() {
    let program = sample();
    let thrown = body("p.Sample", "raise").throws();
    let described: Vec<(Option<&str>, Option<u32>)> = thrown.iter().map(|t| (t.ty.map(|ty| program.type_name(ty)), t.line)).collect();
    assert_eq!(described, [(Some("java.lang.IllegalStateException"), Some(line("made"))), (None, Some(line("given")))]);
}

#[test]
fn only_instructions_that_can_raise_are_candidates() {
    let program = sample();
    let body = body("p.Sample", "derefs");
    let npe = program.hazards("java.lang.NullPointerException");
    let candidates: Vec<&Op> = body.insns_on_line(line("derefs")).filter(|i| body.may_raise(*i, npe)).map(|i| &body.insns[i].op).collect();
    // this.next is read from `this`, which is never null; next.next and the array are not safe
    assert_eq!(candidates.iter().filter(|op| matches!(op, Op::GetField { .. })).count(), 2, "{body}");
    assert_eq!(candidates.iter().filter(|op| matches!(op, Op::LoadElement { .. })).count(), 1);
    let zero = program.hazards("java.lang.ArithmeticException");
    let divisions = body.insns.iter().enumerate().filter(|(i, _)| body.may_raise(*i, zero)).count();
    assert_eq!(divisions, 1, "division by a constant cannot raise");
    assert!(body.insns.iter().any(|i| i.hazards.meets(Hazards::NEGATIVE_SIZE)));
}

#[test]
fn private_methods_are_reached_through_their_callers() {
    let program = sample();
    let callers = program.callers_in(ty("p.Sample"), method("p.Sample", "deepest"));
    assert_eq!(callers, [method("p.Sample", "deeper")]);
    let all = program.reaching_in(ty("p.Sample"), method("p.Sample", "deepest"));
    assert_eq!(all, ["deepest", "deeper", "surface"].map(|name| method("p.Sample", name)));
    let lambda_caller = program.methods_of(ty("p.Sample")).find(|m| program.method_name(*m).starts_with("lambda$"));
    assert_eq!(program.callers_in(ty("p.Sample"), lambda_caller.unwrap()), [method("p.Sample", "lambdas")]);
}

#[test]
fn control_dependence_counts_the_decisions_before_a_line() {
    let body = body("p.Sample", "nested");
    let target = body.insns_on_line(line("target")).map(|i| body.block_of(i)).collect::<Vec<BlockId>>();
    let levels = ControlDependence::of(&body).distance_to(&target);
    let mut depths: Vec<u32> = levels.values().copied().collect();
    depths.sort_unstable();
    assert_eq!(depths, [0, 1, 2], "{body}");
    for (block, edge) in levels.keys() {
        assert!(matches!(body.last_insn(*block).unwrap().op, Op::If { .. }) && *edge < 2);
    }
}

#[test]
fn lowered_code_computes_what_the_jvm_computes() {
    let java = &jdks()[0].java;
    let out = Command::new(java).arg("-cp").arg(compiled()).arg("p.Compute").output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let expected = String::from_utf8(out.stdout).unwrap();
    let mut checked = 0;
    for row in expected.lines() {
        let [name, a, b, result] = row.split(' ').collect::<Vec<_>>()[..] else { panic!("odd row {row}") };
        let found = interpreter::run(sample(), method("p.Compute", name), [a, b].map(|n| n.parse().unwrap()));
        assert_eq!(found, result, "{name}({a}, {b})");
        checked += 1;
    }
    assert!(checked > 500, "{checked}");
}

/// Lowers every `step`th class of the wanted part; how many bodies and how many copies of a pc there were.
fn lower_all(program: &Program, wanted: impl Fn(TypeId) -> bool, step: usize) -> (usize, usize) {
    let (mut bodies, mut copied) = (0, 0);
    for t in program.types().filter(|t| wanted(*t)).step_by(step) {
        for m in program.methods_of(t) {
            let Some(body) = program.body(m) else { continue };
            bodies += 1;
            check_shape(&body);
            let mut pcs: Vec<u32> = body.insns.iter().filter(|i| matches!(i.op, Op::Return { .. })).map(|i| i.pc).collect();
            let before = pcs.len();
            pcs.sort_unstable();
            pcs.dedup();
            copied += before - pcs.len();
        }
    }
    assert_eq!(program.unreadable().iter().map(|(m, why)| format!("{}: {why}", program.qualified(*m))).collect::<Vec<_>>(), Vec::<String>::new());
    (bodies, copied)
}

/// What every body must satisfy.
fn check_shape(body: &Body) {
    let mut next = 0;
    for (id, block) in body.real_blocks() {
        assert_eq!(block.insns.start, next);
        assert!(block.insns.end > block.insns.start, "a real block holds code");
        next = block.insns.end;
        assert!(!block.succs.is_empty(), "every block leads somewhere");
        let raises = body.insns_of(id).iter().any(|i| !i.hazards.is_empty());
        assert_eq!(raises, block.succs.iter().any(|e| e.kind.is_exception()));
        let first_exception = block.succs.iter().position(|e| e.kind.is_exception()).unwrap_or(block.succs.len());
        assert!(block.succs[first_exception..].iter().all(|e| e.kind.is_exception()), "normal edges come first");
        for edge in &block.succs {
            assert!(body.block(edge.to).preds.contains(&id));
        }
    }
    assert_eq!(next as usize, body.insns.len());
}

#[test]
fn every_class_of_real_jars_lowers() {
    let jars = [
        ("commons-collections", "commons-collections", "3.1"),
        ("log4j", "log4j", "1.2.15"),
        ("org.apache.commons", "commons-lang3", "3.12.0"),
        ("ant", "ant", "1.6.5"),
        ("com.google.guava", "guava", "31.1-jre"),
    ];
    let files: Vec<PathBuf> = jars.iter().map(|(g, a, v)| jar(g, a, v)).collect();
    let program = open(&jdks()[0], &files);
    let (bodies, _) = lower_all(&program, |t| !program.ty(t).platform && !program.ty(t).missing, 1);
    assert!(bodies > 20_000, "{bodies}");
    let with_subroutines = program.types().filter(|t| !program.ty(*t).platform).flat_map(|t| program.methods_of(t)).filter(|m| {
        program.body(*m).is_some_and(|body| {
            let mut pcs: Vec<u32> = body.insns.iter().filter(|i| matches!(i.op, Op::Goto)).map(|i| i.pc).collect();
            pcs.sort_unstable();
            pcs.windows(2).any(|w| w[0] == w[1])
        })
    });
    assert!(with_subroutines.count() > 10, "old jars have jsr and ret");
}

#[test]
fn the_classes_of_the_jdk_lower() {
    let all = std::env::var_os("RETHROW_ALL").is_some();
    let jdks = jdks();
    for jdk in &jdks[..if all { jdks.len() } else { 1 }] {
        let program = open(jdk, &[compiled().to_path_buf()]);
        let (bodies, _) = lower_all(&program, |t| program.ty(t).platform, if all { 1 } else { 20 });
        assert!(bodies > 5_000, "{bodies}");
    }
}
