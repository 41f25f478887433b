use std::sync::Arc;

use rethrow_core::program::ir::{EdgeKind, Op};
use rethrow_core::program::{NewType, ProgramBuilder};

use super::*;
use crate::classfile::Member;
use crate::classpath::ClassPath;
use crate::jdk::{self, Jdk};

fn any_jdk() -> Jdk {
    let (java_home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
    let search = jdk::Search { java_home: java_home.as_deref(), path: path.as_deref(), ..jdk::Search::default() };
    jdk::find(search).into_iter().next().expect("tests need a JDK")
}

/// The platform and nothing else.
fn platform(name: &str) -> ClassPath {
    let empty = std::env::temp_dir().join(format!("rethrow-lower-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    let opened = ClassPath::open(&[empty.display().to_string()], &any_jdk()).unwrap();
    std::fs::remove_dir_all(empty).unwrap();
    opened.value
}

/// A program that knows one class by name only.
fn program() -> (Program, TypeId) {
    struct NoBodies;
    impl BodySource for NoBodies {
        fn body(&self, _: &Program, _: MethodId) -> Result<Option<Body>, String> {
            Ok(None)
        }
    }
    let mut builder = ProgramBuilder::new();
    builder.well_known("java.lang.Object", "java.lang.String", "java.lang.Class");
    builder.mention(crate::classpath::UNKNOWN_TYPE);
    let new = NewType {
        name: "p.C",
        package: "p",
        access: rethrow_core::program::Access::Public,
        flags: rethrow_core::program::Flags::default(),
        superclass: Some("java.lang.Object"),
        interfaces: Vec::new(),
        outer: None,
        origin: 0,
        platform: false,
    };
    let id = builder.define(new).unwrap();
    (builder.finish(Box::new(NoBodies)), id)
}

/// A class `p/C` whose only method `m` has that code; the pool has `p/C` as class 2 and the exception type as class 7.
fn class(descriptor: &str, code: &[u8], handlers: &[[u16; 4]]) -> Vec<u8> {
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 3, 0, 45, 0, 8];
    let mut text = |s: &str| {
        out.push(1);
        out.extend((s.len() as u16).to_be_bytes());
        out.extend(s.as_bytes());
    };
    text("p/C");
    out.extend([7, 0, 1]);
    let mut text = |s: &str| {
        out.push(1);
        out.extend((s.len() as u16).to_be_bytes());
        out.extend(s.as_bytes());
    };
    text("m");
    text(descriptor);
    text("Code");
    text("p/E");
    out.extend([7, 0, 6]);
    // public, this, no superclass, no interfaces, no fields; one public static method with one attribute
    out.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 0, 3, 0, 4, 0, 1, 0, 5]);
    let mut attribute = vec![0, 8, 0, 8];
    attribute.extend((code.len() as u32).to_be_bytes());
    attribute.extend(code);
    attribute.extend((handlers.len() as u16).to_be_bytes());
    attribute.extend(handlers.iter().flatten().flat_map(|v| v.to_be_bytes()));
    attribute.extend([0, 0]);
    out.extend((attribute.len() as u32).to_be_bytes());
    out.extend(attribute);
    out.extend([0, 0]);
    out
}

fn lower_member(program: &Program, owner: TypeId, class: &ClassFile<'_>, member: &Member<'_>) -> Option<Result<Body, String>> {
    let code = member.code(&class.pool)?;
    Some(code.map_err(|e| e.to_string()).and_then(|code| translate::lower(program, owner, class, member, &code)))
}

fn lower(descriptor: &str, code: &[u8], handlers: &[[u16; 4]]) -> Result<Body, String> {
    let bytes = class(descriptor, code, handlers);
    let class = ClassFile::parse(&bytes).unwrap();
    let (program, owner) = program();
    lower_member(&program, owner, &class, &class.methods[0]).unwrap()
}

fn pcs(body: &Body) -> Vec<u32> {
    body.insns.iter().map(|insn| insn.pc).collect()
}

#[test]
fn a_subroutine_is_copied_for_each_caller() {
    // 0: jsr 7; 3: jsr 7; 6: return; 7: astore_0; 8: ret 0
    let body = lower("()V", &[168, 0, 7, 168, 0, 4, 177, 75, 169, 0], &[]).unwrap();
    assert_eq!(pcs(&body), [0, 3, 6, 7, 8, 7, 8]);
    assert_eq!(body.insns_at(8).count(), 2);
    let order: Vec<u32> = {
        let mut at = body.entry();
        let mut seen = Vec::new();
        while at != body.exit() {
            seen.extend(body.insns_of(at).iter().map(|i| i.pc));
            at = body.block(at).succs[0].to;
        }
        seen
    };
    assert_eq!(order, [0, 7, 8, 3, 7, 8, 6]);
}

#[test]
fn a_handler_inside_its_own_range_that_calls_the_subroutine_again_ends() {
    // 0: aconst_null; 1: monitorenter (raises); 2: jsr 14; 5: return; 6: astore_1; 7: jsr 14; 10: aload_1; 11: athrow; 14: astore_2; 15: aconst_null; 16: monitorexit; 17: ret 2
    let code = [1, 194, 168, 0, 12, 177, 76, 168, 0, 7, 43, 191, 0, 0, 77, 1, 195, 169, 2];
    let body = lower("()V", &code, &[[0, 19, 6, 0]]).unwrap();
    assert!(body.insns.len() < 60, "{body}");
    assert!(body.insns_at(14).count() >= 2);
}

#[test]
fn exception_edges_stand_in_the_order_of_the_handlers() {
    // 0: aload_0; 1: athrow; 2: pop; 3: return; 4: pop; 5: return
    let body = lower("(Lp/E;)V", &[42, 191, 87, 177, 87, 177], &[[0, 2, 2, 7], [0, 2, 4, 0]]).unwrap();
    let kinds: Vec<EdgeKind> = body.block(body.entry()).succs.iter().map(|e| e.kind).collect();
    assert!(matches!(kinds[..], [EdgeKind::Exception(Some(_)), EdgeKind::Exception(None)]), "{kinds:?}");
    let thrown = body.raise_edges(1).count();
    assert_eq!((thrown, body.raise_edges(0).count()), (2, 0));
    let first = body.insns_of(body.block(body.entry()).succs[0].to);
    assert!(matches!(first[0].op, Op::Caught { ty: Some(_), .. }));
    let uncaught = lower("(Lp/E;)V", &[42, 191], &[]).unwrap();
    assert_eq!(uncaught.block(uncaught.entry()).succs[0].to, uncaught.raised());
}

#[test]
fn stack_shuffles_copy_at_once() {
    // lload_0 (2 words), iload_2, dup_x2, pop …: v1 goes below a long
    let body = lower("(JI)I", &[30, 28, 91, 87, 88, 172], &[]).unwrap();
    let copies: Vec<(u32, u32)> = body
        .insns
        .iter()
        .filter_map(|i| match i.op {
            Op::Copy { to, from } => Some((to.0, from.0)),
            _ => None,
        })
        .collect();
    // locals 0..8; the stack begins at 8: long in 8, int in 10 → int 8, long 9, int 11
    let mut regs = [0u32; 17];
    (regs[0], regs[2]) = (77, 5);
    for (to, from) in copies {
        regs[to as usize] = regs[from as usize];
    }
    assert_eq!((regs[8], regs[9], regs[11]), (5, 77, 5));
}

#[test]
fn impossible_code_is_an_error() {
    let bad: [(&str, &[u8]); 8] = [
        ("()V", &[87, 177]),                           // pop from nothing
        ("()V", &[0]),                                 // runs past its end
        ("()V", &[169, 0]),                            // ret without jsr
        ("()V", &[9, 87, 177]),                        // half a long
        ("()V", &[4, 153, 0, 4, 3, 3, 167, 255, 253]), // grows for ever
        ("()V", &[21, 9, 177]),                        // no such local
        ("(JJJJI)V", &[177]),                          // more parameters than locals
        ("()V", &[167, 0, 4, 17, 177, 177]),           // jump into an instruction
    ];
    for (i, (descriptor, code)) in bad.iter().enumerate() {
        let result = lower(descriptor, code, &[]);
        assert!(result.is_err(), "case {i}: {result:?}");
    }
}

#[test]
fn damaged_classes_never_panic() {
    let classpath = platform("damaged");
    let (program, owner) = program();
    let mut state = 88_172_645_463_325_252u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for name in ["java.util.HashMap", "java.lang.Integer", "java.util.stream.Collectors", "java.io.PrintStream"] {
        let bytes = classpath.class_bytes(name).unwrap();
        for _ in 0..400 {
            let mut changed = bytes.to_vec();
            for _ in 0..1 + next() % 4 {
                let at = (next() % changed.len() as u64) as usize;
                changed[at] = next() as u8;
            }
            let Ok(class) = ClassFile::parse(&changed) else { continue };
            for member in &class.methods {
                if let Some(Ok(body)) = lower_member(&program, owner, &class, member) {
                    body.literals();
                    body.throws();
                    body.casts_of_param(0);
                }
            }
        }
    }
}

#[test]
fn hazards_of_exceptions() {
    let lowering = Lowering::new(Arc::new(platform("hazards")));
    assert!(lowering.hazards("java.lang.NullPointerException").meets(Hazards::NULL));
    assert!(!lowering.hazards("java.lang.IllegalStateException").meets(Hazards::NULL));
    assert!(lowering.hazards("com.example.Odd").meets(Hazards::EXPLICIT));
}
