//! Which exceptions are defects and which are an answer to a wrong argument. The contracts that every object keeps are `contract`'s.
//!
//! A method that throws on purpose says that it was called wrongly; one whose code trips over its own data does not. So what counts is how the
//! exception came about: a `throw` of the program, or of a check that it calls, is a rejection; a null, an index or a cast that failed by itself
//! is a defect, unless the arguments explain it. Nothing here executes anything.

use crate::execution::Returned;
use crate::program::ir::Op;
use crate::program::{Access, Flags, MethodId, Program, TypeId};
use crate::testcase::{Data, Stmt, TestCase, Var};
use crate::trace::{Frame, Throwable};

/// What the language says about exceptions, and about what is not for others to call.
#[derive(Clone, Copy, Debug)]
pub struct OracleRules {
    /// The type of an exception, by the name that traces print.
    pub exception: fn(&Program, &str) -> Option<TypeId>,
    /// Whether only the program itself calls a method, whatever its access says.
    pub hidden: fn(&Program, MethodId) -> bool,
    /// Exceptions that depend on the machine or come once in a process: no test expects them.
    pub unsteady: &'static [&'static str],
    /// Roots of exceptions that need not be declared: whatever is below neither is declared, and so expected.
    pub unchecked: &'static [&'static str],
    /// Thrown to say that a call is not possible, with all below.
    pub rejections: &'static [&'static str],
    /// Of the machine, not of the program.
    pub machine: &'static [&'static str],
    /// A type stays broken after it.
    pub poison: &'static [&'static str],
    /// Methods of the platform that programs check arguments and state with.
    pub checks: &'static [(&'static str, &'static str)],
    /// A null was used: the exception, and how its message begins.
    pub nulls: &'static [(&'static str, &'static str)],
    /// The type whose method tells which of two objects comes first, and that method; empty if there is none.
    pub order: (&'static str, &'static str),
    /// An index or a size is out of range, with all below.
    pub ranges: &'static [&'static str],
}

/// Why an exception counts as a defect, or why it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Defect(String),
    Rejected(&'static str),
}

/// Judges what the last statement of `test` threw. `values` are those of its statements, as far as they are known.
pub fn judge(program: &Program, rules: &OracleRules, test: &TestCase, chain: &[Throwable], values: &[Option<Returned>]) -> Judgement {
    let (Some(thrown), Some(last)) = (chain.first(), test.stmts.last()) else { return Judgement::Rejected("nothing was thrown") };
    let Some(callee) = last.callee() else { return Judgement::Rejected("no call threw") };
    if test.stmts.iter().filter_map(Stmt::callee).any(|m| is_deprecated(program, m)) {
        return Judgement::Rejected("a method is deprecated");
    }
    if !test.stmts.iter().filter_map(Stmt::callee).all(|m| is_public(program, m)) {
        return Judgement::Rejected("it takes calls that only the program itself makes");
    }
    if test.stmts.iter().filter_map(Stmt::callee).any(|m| (rules.hidden)(program, m)) {
        return Judgement::Rejected("it takes calls that only the program itself makes");
    }
    let kind = (rules.exception)(program, &thrown.exception);
    let is = |roots: &[&str]| roots.iter().any(|root| *root == thrown.exception || below(program, rules, kind, root));
    if is(rules.machine) {
        return Judgement::Rejected("the machine decides it");
    }
    if !is(rules.unchecked) {
        return Judgement::Rejected("it is declared");
    }
    // what the program defines itself does not come about by itself, however many helpers make it
    if kind.is_some_and(|t| !program.ty(t).platform) {
        return Judgement::Rejected("the program throws it on purpose");
    }
    if thrown.frames.first().is_some_and(|f| rules.checks.contains(&(f.class.as_str(), f.method.as_str()))) {
        return Judgement::Rejected("the program checks for it");
    }
    let null = rules.nulls.iter().any(|(exception, message)| thrown.exception == *exception && said(thrown).starts_with(message));
    if !null && is(rules.rejections) {
        return Judgement::Rejected("it says that the call is not possible");
    }
    let Some(frame) = thrown.frames.iter().find(|f| !f.platform) else { return Judgement::Rejected("no code of the program took part") };
    let direct = thrown.frames.first().is_some_and(|f| !f.platform);
    if direct && throws_on(program, frame) {
        return Judgement::Rejected("the program throws it on purpose");
    }
    let depth = thrown.frames.iter().filter(|f| !f.platform).count();
    if null && any_null(test, values) {
        return Judgement::Rejected("a null was passed");
    }
    if is(rules.ranges) && (depth <= 1 && takes_numbers(program, callee) || any_negative(test)) {
        return Judgement::Rejected("a number that was passed is out of range");
    }
    let place = format!("{}.{}{}", frame.class, frame.method, frame.line.map(|l| format!(":{l}")).unwrap_or_default());
    Judgement::Defect(format!("{} by itself at {place}: no argument is null or out of range, and nothing throws it on purpose", thrown.exception))
}

fn is_deprecated(program: &Program, method: MethodId) -> bool {
    let def = program.method(method);
    def.flags.has(Flags::DEPRECATED) || program.ty(def.owner).flags.has(Flags::DEPRECATED)
}

fn below(program: &Program, rules: &OracleRules, exception: Option<TypeId>, root: &str) -> bool {
    exception.zip((rules.exception)(program, root)).is_some_and(|(t, r)| program.is_subtype(t, r))
}

fn said(thrown: &Throwable) -> &str {
    thrown.message.as_deref().unwrap_or_default()
}

/// Whether the frame's line has a `throw`.
fn throws_on(program: &Program, frame: &Frame) -> bool {
    let (Some(class), Some(line)) = (program.find_type(&frame.class), frame.line) else { return false };
    program
        .methods_named(class, &frame.method)
        .any(|m| program.body(m).is_some_and(|body| body.insns.iter().any(|i| matches!(i.op, Op::Throw { .. }) && i.line.is_some_and(|l| near(l, line)))))
}

/// A `throw new X(…)` over several lines has the line of its beginning or of its end.
fn near(a: u32, b: u32) -> bool {
    a.abs_diff(b) <= 2
}

/// Whether null takes part anywhere: as an argument, an element, or a result that is handed on.
fn any_null(test: &TestCase, values: &[Option<Returned>]) -> bool {
    let holes = test.stmts.iter().any(|s| matches!(s, Stmt::NewArray { elem, len } if *len > 0 && elem.is_reference()));
    let written = |v: &Var| matches!(test.stmt(*v), Stmt::Null(_)) || matches!(test.stmt(*v), Stmt::Data(data) if data.has_none());
    let is_null = |v: &Var| written(v) || values.get(v.0 as usize) == Some(&Some(Returned::Null));
    holes || test.stmts.iter().any(|s| s.operands().iter().any(is_null))
}

/// Whether a negative number is passed anywhere.
fn any_negative(test: &TestCase) -> bool {
    test.stmts.iter().any(|s| matches!(s, Stmt::Lit(v) if v.as_f64() < 0.0) || matches!(s, Stmt::Data(Data::Int(v)) if v.is_negative()))
}

fn is_public(program: &Program, method: MethodId) -> bool {
    let def = program.method(method);
    let mut ty = Some(def.owner);
    let mut open = def.access == Access::Public;
    while let Some(t) = ty {
        open &= program.ty(t).access == Access::Public;
        ty = program.ty(t).outer;
    }
    open
}

/// Where nothing declares a type, anything may be a number or a key.
fn takes_numbers(program: &Program, method: MethodId) -> bool {
    program.signature(method).params.iter().any(|p| p.as_prim().is_some() || program.is_dynamic())
}
