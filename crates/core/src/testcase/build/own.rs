//! The constants of the class that a value is handed to: names of modes, keys and limits are mostly told apart by the very class that takes them (GRT-4), however
//! many constants the rest of the program has.

use std::rc::Rc;

use super::{LiteralPool, Palette, Policy};
use crate::program::{MethodId, TypeId};
use crate::rng::Rng;
use crate::testcase::{Stmt, TestCase, Var};

/// Constants of a class and of the classes above it.
const MAX_SUPERTYPES: usize = 6;
/// How often the constants of the method itself are preferred to those of its class.
const OF_THE_METHOD: f64 = 0.5;

/// How often a text is the name of a class of the trace where it is called the name of a class.
const CLASS_NAME: f64 = 0.4;

/// Who takes a value: a method, and the class that it is called on, which may be below the one that declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Taker {
    pub method: MethodId,
    pub class: TypeId,
}

impl Taker {
    /// The first call that `var` is an operand of.
    pub fn of(palette: &Palette<'_>, test: &TestCase, var: Var) -> Option<Taker> {
        let user = test.stmts.iter().skip(var.0 as usize + 1).find(|s| s.callee().is_some() && s.operands().contains(&var))?;
        Taker::at(palette, test, user)
    }
    /// Who takes the operands of a statement.
    pub fn at(palette: &Palette<'_>, test: &TestCase, stmt: &Stmt) -> Option<Taker> {
        let method = stmt.callee()?;
        let recv = if let Stmt::Call { recv, .. } = stmt { *recv } else { None };
        Some(Taker::called_on(palette, test, method, recv))
    }
    pub fn called_on(palette: &Palette<'_>, test: &TestCase, method: MethodId, recv: Option<Var>) -> Taker {
        let declared = palette.program.method(method).owner;
        let exact = recv.and_then(|v| test.ty(palette.program, v).as_ref()).filter(|t| palette.program.is_subtype(*t, declared));
        Taker { method, class: exact.unwrap_or(declared) }
    }
}

/// The pools of constants of a taker.
#[derive(Debug, Default)]
pub(super) struct Own {
    method: LiteralPool,
    class: LiteralPool,
}

impl Palette<'_> {
    fn own(&self, taker: Taker) -> Option<Rc<Own>> {
        let program = self.program;
        if program.ty(taker.class).platform {
            return None;
        }
        if let Some(known) = self.own.borrow().get(&taker) {
            return Some(known.clone());
        }
        let mut own = Own::default();
        program.body(taker.method).iter().flat_map(|body| body.literals()).for_each(|l| own.method.add(&l));
        let above = program.supertypes(taker.class).into_iter().filter(|t| !program.ty(*t).platform);
        above.take(MAX_SUPERTYPES).for_each(|t| own.class.add_type(program, t));
        let own = Rc::new(own);
        self.own.borrow_mut().insert(taker, own.clone());
        Some(own)
    }
}

/// A text of the taker's own, now and then.
pub fn text(palette: &Palette<'_>, policy: &Policy, rng: &mut Rng, taker: Option<Taker>) -> Option<String> {
    if policy.own > 0.0 && rng.chance(CLASS_NAME) && taker.is_some_and(|t| palette.program.method_name(t.method).to_lowercase().contains("class")) {
        return rng.pick(palette.trace_types()).map(|t| palette.program.type_name(*t).to_string());
    }
    draw(palette, policy, rng, taker, |pool, rng| rng.pick(pool.strings()).filter(|s| telling(s)).cloned())
}

/// A number of the taker's own, now and then.
pub fn int(palette: &Palette<'_>, policy: &Policy, rng: &mut Rng, taker: Option<Taker>) -> Option<i64> {
    draw(palette, policy, rng, taker, |pool, rng| rng.pick(pool.ints()).copied())
}

fn draw<T>(palette: &Palette<'_>, policy: &Policy, rng: &mut Rng, taker: Option<Taker>, pick: impl Fn(&LiteralPool, &mut Rng) -> Option<T>) -> Option<T> {
    if !policy.constants || policy.own == 0.0 || !rng.chance(policy.own) {
        return None;
    }
    let own = palette.own(taker?)?;
    let first = if rng.chance(OF_THE_METHOD) { pick(&own.method, rng) } else { None };
    first.or_else(|| pick(&own.class, rng))
}

/// Whether a text may be a key or a name, and is not what a message says.
fn telling(text: &str) -> bool {
    const LONGEST: usize = 40;
    const SHORT: usize = 16;
    text.len() <= LONGEST && (text.len() <= SHORT || !text.contains(' '))
}
