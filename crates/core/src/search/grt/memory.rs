//! What a run leaves for later ones: the objects it made, and the crashes it met, each once.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::elephant_brain::Made;
use super::{Component, Crash, Generator, MAX_CRASHES, MAX_REMEMBERED, TRIAGE_FRAMES, slice};
use crate::execution::{Execution, Outcome};
use crate::program::{Base, TypeId};
use crate::testcase::validity::Scope;
use crate::testcase::{Stmt, TestCase, Var};
use crate::trace::Throwable;

impl Generator<'_> {
    /// Puts what a test made into the pool: the result of its last call, and the objects that the call may have changed.
    pub(super) fn remember(&mut self, test: &TestCase, execution: &Execution, detecting: bool) {
        if execution.outcome != Outcome::Normal {
            return;
        }
        let Some(last) = test.stmts.last() else { return };
        let result = Var(test.len() as u32 - 1);
        let mut vars = vec![result];
        vars.extend(last.operands());
        if detecting {
            vars.extend((0..result.0).map(Var));
        }
        for var in vars {
            let Some(ty) = self.type_of(test, var, execution) else { continue };
            let first = !self.pool.has(ty);
            let program = self.world.program;
            let (cut, at) = slice::slice(program, &self.purity, test, var);
            if cut.len() > MAX_REMEMBERED {
                continue;
            }
            let home = self.home_of(&cut);
            let secondary = detecting && var != result && !first;
            self.pool.add(Made { test: &cut, var: at, ty, cost: f64::from(execution.steps), home, secondary });
        }
    }

    /// The type to remember a value by: exact, or declared without elephant brain (GRT-9).
    fn type_of(&self, test: &TestCase, var: Var, execution: &Execution) -> Option<TypeId> {
        let exact = execution.types.get(var.0 as usize).copied().flatten()?;
        let stmt = test.stmt(var);
        if stmt.is_literal() || matches!(stmt, Stmt::NewArray { .. } | Stmt::Cast { .. }) {
            return None;
        }
        if self.settings.has(Component::ElephantBrain) { Some(exact) } else { test.ty(self.world.program, var).as_ref() }
    }

    /// The package that a test needs; `None` if it uses public members only.
    fn home_of(&mut self, test: &TestCase) -> Option<Rc<str>> {
        let program = self.world.program;
        let outside = Scope { package: self.world.rules.elsewhere.to_string() };
        let mut home = None;
        for stmt in &test.stmts {
            let (open, owner) = match stmt {
                Stmt::New { ctor: m, .. } | Stmt::Call { method: m, .. } => {
                    (*self.public.entry(*m).or_insert_with(|| outside.callable(program, *m)), program.method(*m).owner)
                }
                Stmt::GetStatic(f) | Stmt::GetField { field: f, .. } | Stmt::SetField { field: f, .. } => {
                    (outside.readable(program, *f), program.field(*f).owner)
                }
                Stmt::Cast { ty, .. } | Stmt::NewArray { elem: ty, .. } | Stmt::Class(ty) => match ty.base {
                    Base::Ref(t) => (outside.nameable(program, t), t),
                    _ => continue,
                },
                _ => continue,
            };
            if !open {
                home = Some(program.package(owner).into());
            }
        }
        home
    }

    pub(super) fn note_crash(&mut self, subject: usize, test: &TestCase, chain: &Arc<[Throwable]>) {
        let Some(thrown) = chain.first() else { return };
        let mut hasher = rustc_hash::FxHasher::default();
        (self.subjects[subject].entry, &thrown.exception).hash(&mut hasher);
        for frame in thrown.frames.iter().filter(|f| !f.platform).take(TRIAGE_FRAMES) {
            (&frame.class, &frame.method, frame.line).hash(&mut hasher);
        }
        match self.crash_keys.get(&hasher.finish()) {
            Some(known) => {
                let crash = &mut self.crashes[*known];
                crash.count += 1;
                if test.len() < crash.test.len() {
                    crash.test = test.clone();
                    crash.chain = chain.clone();
                }
            }
            None if self.crashes.len() < MAX_CRASHES => {
                self.crash_keys.insert(hasher.finish(), self.crashes.len());
                self.crashes.push(Crash { subject, test: test.clone(), chain: chain.clone(), count: 1 });
            }
            None => {}
        }
    }
}
