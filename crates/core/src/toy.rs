//! A tiny language (test support): it proves that the core works for a language it does not know, and lets engine tests run in milliseconds.
//!
//! Classes with fields, constructors and methods; integers, strings, references; one statement per line, so that a line names a statement.
//! A program is parsed ([`syntax`], [`parse`]), loaded ([`load`]), its bodies are lowered to the core's register code ([`lower`]), and that code is what
//! the in-process session executes ([`run`]); a test is rendered as a program of the same language ([`render`]). Deliberately left out: everything that
//! no test of the core needs (floats, array expressions, interfaces, static checking beyond names).
//!
//! ```text
//! class Account extends Base {
//!   field balance int
//!   private static field count int
//!   new(start int) {
//!     this.balance = start
//!   }
//!   method take(n int) int {
//!     if this.balance < n {
//!       throw Boom
//!     }
//!     try {
//!       this.audit(n)
//!     } wrap Failed
//!     return this.balance - n
//!   }
//! }
//! ```

pub mod lower;
pub mod parse;
pub mod render;
pub mod run;
pub mod syntax;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::probe::{BranchPoint, Point, ProbePlan};
use crate::program::ir::{Body, Hazards, Op};
use crate::program::{Access, BodySource, Flags, MethodId, MethodKind, NewMethod, NewType, Prim, Program, ProgramBuilder, Signature, Ty};
use crate::search::grt::oracle::OracleRules;
use crate::trace::{Frame, Throwable, Trace};
use syntax::{Class, Method, TypeName};

/// Raised where a null object is used.
pub const NULL_DEREF: &str = "NullDeref";
/// Raised by calls that are nested too deeply.
pub const OVERFLOW: &str = "StackOverflowError";
/// The name of constructors.
pub const NEW: &str = "new";
/// The field that holds what an exception wraps.
pub const CAUSE: &str = "cause";

/// What exceptions mean here: nothing is known.
pub const ORACLE: OracleRules = OracleRules {
    exception: |program, printed| program.find_type(printed),
    hidden: |program, method| program.method(method).access == Access::Private,
    unsteady: &[OVERFLOW],
    unchecked: &[],
    rejections: &[],
    machine: &[],
    poison: &[],
    checks: &[],
    nulls: &[(NULL_DEREF, "")],
    order: ("", ""),
    ranges: &[],
};

/// What is wrong with a program text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Error {
    pub line: u32,
    pub message: String,
}

impl Error {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Error {
        Error { line, message: message.into() }
    }
}

/// Parses a text and loads it; every body is lowered once, so that names are checked here.
pub fn load(text: &str) -> Result<Program, Error> {
    let parsed = parse::parse(text)?;
    let mut builder = ProgramBuilder::new();
    builder.well_known("object", "string", "class");
    for name in ["object", "string", "class"] {
        define(&mut builder, name, (name != "object").then_some("object"), Flags::default(), true);
    }
    let mut methods = BTreeMap::new();
    for class in parsed.classes {
        declare(&mut builder, class, &mut methods)?;
    }
    // what is thrown without being declared is a plain exception
    for name in parsed.exceptions.iter().map(String::as_str).chain([NULL_DEREF, OVERFLOW, run::BAD_CAST, run::BOUNDS]) {
        define(&mut builder, name, Some("object"), Flags::default(), true);
    }
    let methods = Arc::new(methods);
    let program = builder.finish(Box::new(Source { methods: methods.clone() }));
    for (id, method) in methods.iter() {
        lower::lower(&program, *id, method)?;
    }
    Ok(program)
}

fn define(builder: &mut ProgramBuilder, name: &str, superclass: Option<&str>, flags: Flags, platform: bool) -> Option<crate::program::TypeId> {
    let access = Access::Public;
    builder.define(NewType { name, package: "", access, flags, superclass, interfaces: Vec::new(), outer: None, origin: 0, platform })
}

fn declare(builder: &mut ProgramBuilder, class: Class, methods: &mut BTreeMap<MethodId, Method>) -> Result<(), Error> {
    let superclass = class.superclass.as_deref().unwrap_or("object");
    let flags = if class.is_abstract { Flags::ABSTRACT } else { Flags::default() };
    let id = define(builder, &class.name, Some(superclass), flags, false).ok_or_else(|| Error::new(class.line, format!("{} is defined twice", class.name)))?;
    for field in &class.fields {
        let ty = ty_of(builder, &field.ty);
        let flags = if field.is_static { Flags::STATIC } else { Flags::default() };
        let access = access(field.private);
        builder.add_field(id, crate::program::NewField { name: &field.name, ty, access, flags, constant: None });
    }
    for method in class.methods {
        let kind = match (method.name.as_str(), method.is_static) {
            (NEW, _) => MethodKind::Constructor,
            (_, true) => MethodKind::Static,
            (_, false) => MethodKind::Instance,
        };
        let desc = method.desc();
        let new = NewMethod { name: &method.name, desc: &desc, kind, access: access(method.private), flags: Flags::default() };
        let signature = |builder: &mut ProgramBuilder| {
            let params = method.params.iter().map(|(_, ty)| ty_of(builder, ty)).collect();
            Signature { params, ret: method.ret.as_ref().map_or(Ty::VOID, |ty| ty_of(builder, ty)) }
        };
        let id = builder.add_method(id, new, signature);
        methods.insert(id, method);
    }
    Ok(())
}

fn access(private: bool) -> Access {
    if private { Access::Private } else { Access::Public }
}

fn ty_of(builder: &mut ProgramBuilder, name: &TypeName) -> Ty {
    let base = match name.base.as_str() {
        "int" => Ty::prim(Prim::Int),
        other => Ty::reference(builder.mention(other)),
    };
    if name.array { base.array_of() } else { base }
}

struct Source {
    methods: Arc<BTreeMap<MethodId, Method>>,
}

impl BodySource for Source {
    fn body(&self, program: &Program, method: MethodId) -> Result<Option<Body>, String> {
        self.methods.get(&method).map(|source| lower::lower(program, method, source).map_err(|e| e.to_string())).transpose()
    }
    fn hazards(&self, exception: &str) -> Hazards {
        match exception {
            NULL_DEREF => Hazards::NULL,
            OVERFLOW => Hazards::CALL,
            _ => Hazards::EXPLICIT,
        }
    }
}

/// Every instruction and every branch of the program is observed.
pub fn plan(program: &Program) -> ProbePlan {
    let mut plan = ProbePlan::default();
    for method in program.types().flat_map(|ty| program.methods_of(ty)) {
        let Some(body) = program.body(method) else { continue };
        let points = body.insns.iter().map(|insn| Point { pc: insn.pc, line: insn.line }).collect();
        let branches = body.insns.iter().filter_map(|insn| match insn.op {
            Op::If { relation, .. } => Some(BranchPoint { pc: insn.pc, taken_if: relation }),
            _ => None,
        });
        plan.add(method, points, branches.collect(), Vec::new());
    }
    plan
}

/// A trace of the form `Boom Account.take:5 Account.run:deep | Cause Base.m:3`: frames innermost first, then causes. A line is a number or the label of
/// the line of `text` that ends with the comment `# label`. `None` if a frame is none.
pub fn trace(text: &str, crash: &str) -> Option<Trace> {
    let mut chain = crash.split('|').map(|one| throwable(text, one));
    Some(Trace { thrown: chain.next()??, causes: chain.collect::<Option<_>>()?, truncated: false })
}

fn throwable(text: &str, one: &str) -> Option<Throwable> {
    let mut words = one.split_whitespace();
    let exception = words.next()?.to_string();
    Some(Throwable { exception, frames: words.map(|word| frame(text, word)).collect::<Option<_>>()?, ..Throwable::default() })
}

fn frame(text: &str, word: &str) -> Option<Frame> {
    let (place, line) = word.split_once(':').map_or((word, None), |(place, line)| (place, Some(line)));
    let (class, method) = place.split_once('.')?;
    let line = match line {
        Some(line) => Some(line.parse().ok().or_else(|| line_of(text, line))?),
        None => None,
    };
    Some(Frame::new(class, method, line))
}

/// The number of the line that ends with the comment `# label`.
pub fn line_of(text: &str, label: &str) -> Option<u32> {
    let labelled = |line: &str| line.rsplit_once('#').is_some_and(|(_, comment)| comment.trim() == label);
    (1u32..).zip(text.lines()).find(|(_, line)| labelled(line)).map(|(n, _)| n)
}
