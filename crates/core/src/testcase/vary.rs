//! Variation operators: one file each, one table of all. Each returns a new, valid test case or `None` where it does not apply.

pub mod change_argument;
pub mod change_call;
pub mod change_data;
pub mod change_env;
pub mod change_literal;
pub mod change_stub;
pub mod crossover;
pub mod delete;
pub mod edit_text;
pub mod insert_call;
pub mod insert_write;
pub mod mix_text;
pub mod neighbours;
pub mod repeat_call;

use super::build::{Maker, Palette, Policy};
use super::{Data, Stmt, TestCase};
use crate::program::{MethodId, TypeId};
use crate::rng::Rng;
use crate::search::facts::Facts;

/// How often a method that touches what the way to the crash reads is preferred.
const TOUCHING: f64 = 0.4;

/// What every operator may draw on.
pub struct Context<'a, 'p> {
    pub palette: &'a Palette<'p>,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
}

impl<'a, 'p> Context<'a, 'p> {
    pub fn maker_of<'m>(&'m self, rng: &'m mut Rng, test: TestCase) -> Maker<'m, 'p> {
        Maker::new(self.palette, self.facts, self.policy, rng, test)
    }
    /// V6: some statement is a call of M_crash.
    pub fn has_target(&self, test: &TestCase) -> bool {
        test.stmts.iter().any(|s| self.is_target(s))
    }
    /// A member of the class under test, often one that touches what the way to the crash reads.
    pub fn member(&self, rng: &mut Rng) -> Option<MethodId> {
        let touching = &self.palette.touching_members;
        let aimed = self.policy.aimed && !touching.is_empty() && rng.chance(TOUCHING);
        self.trusted(rng, if aimed { touching } else { &self.palette.members })
    }
    /// A method to call on an object of the type: one that may change it, often one that touches what the way to the crash reads.
    pub fn change_of(&self, rng: &mut Rng, ty: TypeId) -> Option<MethodId> {
        let touching = self.palette.touchers(ty);
        let aimed = self.policy.aimed && !touching.is_empty() && rng.chance(TOUCHING);
        self.trusted(rng, &if aimed { touching } else { self.palette.fuzzers(ty) })
    }
    /// One of `methods`; rarely one whose calls hang, which costs as much as hundreds of tests, and less often one whose calls throw, where a test ends.
    pub fn trusted(&self, rng: &mut Rng, methods: &[MethodId]) -> Option<MethodId> {
        const TRIES: usize = 8;
        let mut picked = *rng.pick(methods)?;
        for _ in 0..TRIES {
            let patience = if self.policy.trusting { self.facts.patience(picked) } else { 1.0 };
            if patience >= 1.0 || rng.chance(patience) {
                break;
            }
            picked = *rng.pick(methods)?;
        }
        Some(picked)
    }
    pub fn is_target(&self, stmt: &super::Stmt) -> bool {
        stmt.callee().is_some_and(|m| self.palette.targets.iter().any(|t| t.method == m))
    }
}

/// An operator on the statement at an index.
pub type Operator = for<'a, 'p> fn(&Context<'a, 'p>, &mut Rng, &TestCase, usize) -> Option<TestCase>;

/// All changes of one statement, with their weight among changes.
pub const CHANGES: [(&str, f64, Operator); 4] = [
    ("change_literal", 4.0, change_literal::apply),
    ("change_argument", 2.0, change_argument::apply),
    ("change_call", 1.0, change_call::apply),
    ("change_stub", 4.0, change_stub::apply),
];

/// One change of the statement at `at` by an operator that applies to it.
pub fn change(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let mut tried = [false; CHANGES.len()];
    for _ in 0..CHANGES.len() {
        let weights = CHANGES.iter().zip(tried).map(|((_, w, _), t)| if t { 0.0 } else { *w });
        let i = rng.weighted(weights)?;
        tried[i] = true;
        if let Some(changed) = CHANGES[i].2(context, rng, test, at) {
            return Some(changed);
        }
    }
    None
}

/// EVO-18: each statement with probability 1/n is deleted, changed or followed by an insertion, each with probability 1/3; repeated until a target
/// call is left, at most 50 times; then one is appended, so the result always has one.
pub fn mutate(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase) -> Option<TestCase> {
    for _ in 0..50 {
        let mutant = mutate_once(context, rng, test);
        if mutant != *test && context.has_target(&mutant) && mutant.len() <= super::validity::MAX_STATEMENTS {
            return Some(trim(context, &mutant));
        }
    }
    append_target(context, rng, test.clone())
}

/// A test with a target call at its end.
pub fn append_target(context: &Context<'_, '_>, rng: &mut Rng, test: TestCase) -> Option<TestCase> {
    let target = rng.pick(&context.palette.targets)?.clone();
    let mut maker = Maker::new(context.palette, context.facts, context.policy, rng, test);
    maker.target_call(&target)?;
    Some(maker.test)
}

fn mutate_once(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase) -> TestCase {
    let mut current = test.clone();
    let p = 1.0 / test.len().max(1) as f64;
    let mut changed = false;
    // from the end, so that positions still to come keep their meaning
    for at in (0..test.len()).rev() {
        if at >= current.len() || !(rng.chance(p) || (at == 0 && !changed)) {
            continue;
        }
        let next = match kind_of_change(context, rng, &current.stmts[at]) {
            0 => delete::apply(context, rng, &current, at),
            1 => change(context, rng, &current, at),
            _ if context.palette.looked.any() && rng.chance(context.palette.looked.chance()) => change_env::insert(context, rng, &current),
            _ if rng.chance(context.policy.field_write) => insert_write::apply(context, rng, &current, at),
            _ if rng.chance(context.policy.repeat) => repeat_call::apply(context, rng, &current).or_else(|| insert_call::apply(context, rng, &current, at)),
            _ => insert_call::apply(context, rng, &current, at),
        };
        if let Some(next) = next {
            changed = true;
            current = next;
        }
    }
    current
}

/// 0 deletes, 1 changes, 2 inserts. A text is what parsers and the like crash on: it is changed more often than other things.
fn kind_of_change(context: &Context<'_, '_>, rng: &mut Rng, stmt: &Stmt) -> usize {
    let change = if carries_text(stmt) { context.policy.change_text } else { 1.0 / 3.0 };
    if rng.chance(change) { 1 } else { 2 * rng.below(2) }
}

fn carries_text(stmt: &Stmt) -> bool {
    fn within(data: &Data) -> bool {
        match data {
            Data::Str(text) => !text.is_empty(),
            Data::Bytes(bytes) => !bytes.is_empty(),
            _ => data.children().into_iter().any(within),
        }
    }
    match stmt {
        Stmt::Str(_) => true,
        Stmt::Data(data) => within(data),
        _ => false,
    }
}

/// V8: nothing stands behind the last target call; unused literals go.
pub fn trim(context: &Context<'_, '_>, test: &TestCase) -> TestCase {
    let last = test.stmts.iter().rposition(|s| context.is_target(s)).map_or(test.len(), |i| i + 1);
    test.prefix(last).sweep()
}
