//! Change of a stub (§3.4): another answer, one more, one less, or a call of its own.

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::stub::stubbable;
use crate::testcase::{Answer, Stmt, TestCase};

/// How often it is an answer to what every object has.
const UNIVERSAL: f64 = 0.1;

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let Stmt::Stub(old) = &test.stmts[at] else { return None };
    let required = stubbable(context.palette.program, &context.palette.scope, old.ty)?;
    let universal = || context.palette.program.universal_methods(old.ty);
    let methods = if context.policy.derive && (required.is_empty() || rng.chance(UNIVERSAL)) { universal() } else { required };
    let method = *rng.pick(&methods)?;
    let known = old.answers.iter().position(|a| a.method == method);
    let mut stub = old.clone();
    let mut longer = 0;
    let grown = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        let what = maker.rng.below(4);
        match (known, what) {
            (Some(i), 0) => drop(stub.answers.remove(i)),
            (Some(i), 1) => stub.answers[i].act = if stub.answers[i].act.is_some() { None } else { maker.act(stub.ty, method) },
            (Some(i), _) => stub.answers[i] = maker.answer(stub.ty, method)?,
            (None, 0) => {
                let act = Some(maker.act(stub.ty, method)?);
                stub.answers.push(Answer { method, value: None, act });
            }
            (None, _) => stub.answers.push(maker.answer(stub.ty, method)?),
        }
        longer = maker.test.len() - at;
        Some(maker.test)
    })?;
    stub.answers.retain(|a| a.value.is_some() || a.act.is_some());
    stub.answers.sort_by_key(|a| a.method);
    let mut changed = grown;
    changed.stmts[at + longer] = Stmt::Stub(stub);
    let changed = changed.sweep();
    (changed != *test).then_some(changed)
}
