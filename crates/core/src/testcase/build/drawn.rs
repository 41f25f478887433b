//! Objects that earlier tests made, put into the test at hand. Where they are kept, and which one is offered, is the pool's business.

use std::rc::Rc;

use super::Maker;
use crate::program::{Flags, MethodId, Ty, TypeId};
use crate::rng::Rng;
use crate::testcase::validity::Scope;
use crate::testcase::{TestCase, Var};

/// A test does not grow beyond this by what is drawn.
const MAX_STATEMENTS: usize = 50;
/// Calls that change a drawn object before it is used.
const MAX_CHANGES: usize = 3;
/// How often they are chosen by what the call under test reads, if anything writes that.
const AIMED: f64 = 0.7;

/// A test case and the value in it that is offered.
#[derive(Clone, Debug)]
pub struct Offer {
    pub test: Rc<TestCase>,
    pub var: Var,
}

/// A pool of objects.
pub trait Objects {
    /// An object that fits `ty` and can be made in `scope`. `building`: it goes into another object, not into the call under test.
    fn offer(&self, ty: TypeId, scope: &Scope, building: bool, rng: &mut Rng) -> Option<Offer>;
}

impl Maker<'_, '_> {
    /// An object of the pool, now and then changed by calls (GRT-8).
    pub(super) fn drawn(&mut self, ty: Ty) -> Option<Var> {
        let (pool, wanted) = (self.pool?, ty.as_ref()?);
        if ty.is_array() || !self.rng.chance(self.policy.draw) {
            return None;
        }
        let offer = pool.offer(wanted, &self.palette.scope, self.depth > 0, self.rng)?;
        if self.test.len() + offer.test.len() > MAX_STATEMENTS {
            return None;
        }
        let len = self.test.len();
        let var = self.append(&offer);
        let Some(var) = self.cast_if_needed(var, ty) else {
            self.test.stmts.truncate(len);
            return None;
        };
        for _ in 0..MAX_CHANGES {
            if !self.rng.chance(self.policy.fuzz) || self.test.len() > MAX_STATEMENTS / 2 {
                break;
            }
            self.change(var);
        }
        Some(var)
    }

    /// A call of `method` on an object of the pool whose exact type is `receiver` or below: the only way to classes that cannot be named.
    pub fn call_drawn(&mut self, method: MethodId, receiver: TypeId) -> Option<Var> {
        let pool = self.pool?;
        self.or_roll_back(|maker| {
            let offer = pool.offer(receiver, &maker.palette.scope, false, maker.rng)?;
            let var = maker.append(&offer);
            let owner = Ty::reference(maker.palette.program.method(method).owner);
            let var = maker.cast_if_needed(var, owner)?;
            maker.call_on(method, var)
        })
    }

    fn append(&mut self, offer: &Offer) -> Var {
        Var(offer.var.0 + self.test.append(&offer.test))
    }

    /// A call that may change the object, mostly of something that the call under test reads; other arguments come from the same test first, as
    /// everywhere.
    fn change(&mut self, var: Var) {
        let Some(ty) = self.test.ty(self.palette.program, var).as_ref() else { return };
        let fuzzers = self.palette.fuzzers(ty);
        let mut aimed: Vec<MethodId> = Vec::new();
        if let Some(aim) = self.aim
            && self.rng.chance(AIMED)
        {
            aimed.extend(fuzzers.iter().copied().filter(|m| aim.writes(self.palette.program, *m)));
        }
        if let Some(method) = self.rng.pick(if aimed.is_empty() { &fuzzers } else { &aimed }).copied()
            && !self.palette.program.method(method).flags.has(Flags::DEPRECATED)
        {
            self.depth += 1;
            self.call_on(method, var);
            self.depth -= 1;
        }
    }
}
