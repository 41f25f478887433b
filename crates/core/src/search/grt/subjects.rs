//! The methods under test: what a generated test may call so that a body of the selected classes runs.
//!
//! A method that the test's package can name is called as it is. One of a class that cannot be named is called through a supertype's declaration, on an
//! object that the pool remembers (its class is known by its exact run-time type only).

use rustc_hash::FxHashSet;

use crate::program::{Flags, MethodId, MethodKind, Program, TypeId};
use crate::testcase::build::Palette;

/// Methods of the same class that a body may lead to; more do not change its weight.
const MAX_REACHED: usize = 40;

/// A body and the call that runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub body: MethodId,
    /// What the test calls.
    pub entry: MethodId,
    pub class: TypeId,
    /// Index of the palette it is called with.
    pub palette: usize,
    /// The receiver must be an object of the pool, of exactly `class` or below.
    pub drawn: bool,
    /// The body, and bodies that no test can call by themselves (private, synthetic) but this one leads to.
    pub reached: Vec<MethodId>,
}

/// Whether only the program itself calls a method.
pub type Hidden = fn(&Program, MethodId) -> bool;

/// The subjects of one class; `palette` is that of its package.
pub fn of_class(palette: &Palette<'_>, index: usize, class: TypeId, hidden: Hidden) -> Vec<Subject> {
    let program = palette.program;
    let mut out = Vec::new();
    for body in program.methods_of(class) {
        let def = program.method(body);
        let callable = def.kind != MethodKind::TypeInitializer && !def.flags.has(Flags::SYNTHETIC) && !def.flags.has(Flags::ABSTRACT);
        if !callable || hidden(program, body) {
            continue;
        }
        let subject = |entry, drawn| Subject { body, entry, class, palette: index, drawn, reached: reached(program, body, hidden) };
        if palette.allowed(body) {
            out.push(subject(body, false));
        } else if let Some(entry) = above(palette, body) {
            out.push(subject(entry, true));
        }
    }
    out
}

/// The declaration in a supertype through which a method of a class that cannot be named is called.
fn above(palette: &Palette<'_>, method: MethodId) -> Option<MethodId> {
    let program = palette.program;
    let def = program.method(method);
    if def.kind != MethodKind::Instance {
        return None;
    }
    let (name, arity) = (program.method_name(method), program.signature(method).params.len());
    let exact = |m: &MethodId| program.method(*m).desc == def.desc;
    let above = program.supertypes(def.owner).into_iter().skip(1);
    let mut all: Vec<MethodId> = above.flat_map(|t| program.methods_named(t, name).collect::<Vec<_>>()).collect();
    all.retain(|m| program.signature(*m).params.len() == arity && palette.allowed(*m));
    all.iter().find(|m| exact(m)).or(all.first()).copied()
}

fn reached(program: &Program, body: MethodId, is_hidden: Hidden) -> Vec<MethodId> {
    let mut out = vec![body];
    let mut seen: FxHashSet<MethodId> = out.iter().copied().collect();
    let mut i = 0;
    while i < out.len() && out.len() < MAX_REACHED {
        if let Some(code) = program.body(out[i]) {
            let called = code.calls().map(|c| c.method).chain(code.lambdas().map(|(_, m)| m)).filter_map(|r| program.resolve_ref(r));
            let hidden = called.filter(|m| {
                let def = program.method(*m);
                let closed = is_hidden(program, *m) || def.flags.has(Flags::SYNTHETIC) || program.ty(def.owner).flags.has(Flags::UNNAMEABLE);
                closed && !program.ty(def.owner).platform
            });
            out.extend(hidden.filter(|m| seen.insert(*m)));
        }
        i += 1;
    }
    out
}
