//! Building stubs: which type gets one at what weight, and what its methods answer.

use super::producers::{Producer, Way};
use super::{Maker, Palette};
use crate::program::{Assignability, Flags, MethodId, MethodKind, Ty, TypeId};
use crate::testcase::stub::{stubbable, usable_ctor};
use crate::testcase::{Act, Answer, Given, Stmt, Stub, Var};

/// A type with more methods than these is no listener: its stub would be longer than the rest of the test.
const MAX_METHODS: usize = 80;
/// Answers of a fresh stub.
const MAX_ANSWERS: usize = 4;
/// A fresh stub answers anew what every object has …
const UNIVERSAL: f64 = 0.05;
/// … and a stub of the root type, which has nothing else to say, is made so often, compared with the best other way.
const OWN_CLASS: f64 = 0.1;
/// Null instead of what every object gives.
const NULL: f64 = 0.5;
/// A fresh answer acts by itself.
const ACTS: f64 = 0.15;

impl Palette<'_> {
    /// Ways by a stub of the type, given the other ways to get an object: at once if there are none, else as a last resort. Types with one
    /// method are there to be implemented by whoever calls.
    pub(super) fn stub_ways(&self, ty: TypeId, others: &[Producer]) -> Vec<Producer> {
        let program = self.program;
        let def = program.ty(ty);
        let Some(required) = stubbable(program, &self.scope, ty).filter(|r| r.len() <= MAX_METHODS) else { return Vec::new() };
        let function = required.len() == 1 && def.flags.has(Flags::INTERFACE);
        let root = program.is_root(ty);
        // a platform type that something implements is better served by that: its callers are loops that we do not count
        if def.platform && !function && !root && !others.is_empty() {
            return Vec::new();
        }
        let best = others.iter().map(|p| p.weight).fold(0.0, f64::max);
        let weight = match (best > 0.0, function) {
            _ if root => OWN_CLASS * best,
            (false, _) => 1.0,
            (true, true) => 0.5 * best,
            (true, false) => 0.12 * best,
        };
        if def.flags.has(Flags::INTERFACE) {
            return vec![Producer { way: Way::Stub(ty, None), weight, needs: 0 }];
        }
        let ctors: Vec<MethodId> = program.methods_of(ty).filter(|m| usable_ctor(program, &self.scope, *m)).collect();
        let share = weight / ctors.len().max(1) as f64;
        ctors.into_iter().map(|c| Producer { way: Way::Stub(ty, Some(c)), weight: share, needs: super::producers::needs(program, c) }).collect()
    }
}

impl Maker<'_, '_> {
    /// A new stub with some answers.
    pub fn stub(&mut self, ty: TypeId, ctor: Option<MethodId>) -> Option<Var> {
        let program = self.palette.program;
        let root = program.is_root(ty);
        if root && !self.policy.derive {
            return None;
        }
        let mut required = stubbable(program, &self.palette.scope, ty)?;
        let mut args = Vec::new();
        for (i, param) in ctor.iter().flat_map(|c| program.signature(*c).params.iter().enumerate()) {
            args.push(self.value(*param, ctor.map(|c| (c, i)))?);
        }
        let mut answers = Vec::new();
        while answers.len() < MAX_ANSWERS && !required.is_empty() {
            let method = required.swap_remove(self.rng.below(required.len()));
            if self.rng.chance(0.6) {
                answers.extend(self.answer(ty, method));
            }
        }
        if root || (self.policy.derive && self.rng.chance(UNIVERSAL)) {
            let universal = program.universal_methods(ty);
            let method = self.rng.pick(&universal).copied();
            answers.extend(method.filter(|m| answers.iter().all(|a: &Answer| a.method != *m)).and_then(|m| self.universal_answer(ty, m)));
        }
        answers.sort_by_key(|a| a.method);
        Some(self.test.push(Stmt::Stub(Box::new(Stub { ty, ctor, args, answers }))))
    }

    /// What a method that every object has may do. Nobody expects null of it.
    fn universal_answer(&mut self, ty: TypeId, method: MethodId) -> Option<Answer> {
        let ret = self.palette.program.signature(method).ret;
        if ret.is_reference() && self.rng.chance(NULL) {
            let value = Some(self.test.push(Stmt::Null(ret)));
            return Some(Answer { method, value, act: None });
        }
        self.answer(ty, method)
    }

    /// What a method of a stub may do; `None` if that is nothing.
    pub fn answer(&mut self, ty: TypeId, method: MethodId) -> Option<Answer> {
        let ret = self.palette.program.signature(method).ret;
        let value = if ret.is_void() { None } else { self.value(ret, None) };
        let acts = value.is_none() || self.rng.chance(ACTS);
        let act = if acts { self.act(ty, method) } else { None };
        (value.is_some() || act.is_some()).then_some(Answer { method, value, act })
    }

    /// A call on what the method is handed, or on an object that the test has already.
    pub fn act(&mut self, ty: TypeId, method: MethodId) -> Option<Act> {
        let program = self.palette.program;
        let mut objects: Vec<(Given, TypeId)> = Vec::new();
        for (i, param) in program.signature(method).params.iter().enumerate() {
            objects.extend(param.as_ref().map(|t| (Given::Param(i as u8), t)));
        }
        if objects.is_empty() || self.rng.chance(0.3) {
            let vars = self.vars().filter(|v| !self.test.stmt(*v).is_literal());
            objects.extend(vars.filter_map(|v| Some((Given::Var(v), self.test.ty(program, v).as_ref()?))));
        }
        objects.retain(|(_, t)| Ty::reference(*t) != program.well_known().string);
        let (recv, class) = *self.rng.pick(&objects)?;
        let called = *self.rng.pick(&self.palette.fuzzers(class))?;
        if program.method(called).kind != MethodKind::Instance {
            return None;
        }
        let mut args = Vec::new();
        for param in program.signature(called).params.iter() {
            args.push(self.given(ty, method, *param)?);
        }
        Some(Act { method: called, recv: Some(recv), args })
    }

    /// The stub itself, one of its parameters, or a value.
    fn given(&mut self, ty: TypeId, method: MethodId, wanted: Ty) -> Option<Given> {
        let program = self.palette.program;
        let mut near = Vec::new();
        if wanted.as_ref().is_some_and(|t| program.is_subtype(ty, t)) {
            near.push(Given::This);
        }
        let params = program.signature(method).params.iter().enumerate();
        near.extend(params.filter(|(_, p)| program.assignable(**p, wanted) == Assignability::Yes).map(|(i, _)| Given::Param(i as u8)));
        match self.rng.pick(&near) {
            Some(given) if self.rng.chance(0.6) => Some(*given),
            _ => self.value(wanted, None).map(Given::Var),
        }
    }
}
