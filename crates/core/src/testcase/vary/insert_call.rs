//! Insertion: a member of the class under test, or a call on an object that the test already has; never behind the last target call.

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::{Stmt, TestCase, Var};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let last = test.stmts.iter().rposition(|s| context.is_target(s)).unwrap_or(test.len());
    let at = at.min(last);
    splice(test, at, |head| {
        let inserted = if context.policy.impurity && rng.chance(0.5) { on_object(context, rng, head.clone()) } else { None };
        inserted.or_else(|| member(context, rng, head))
    })
}

fn member(context: &Context<'_, '_>, rng: &mut Rng, head: TestCase) -> Option<TestCase> {
    let method = context.trusted(rng, &context.palette.members)?;
    let mut maker = context.maker_of(rng, head);
    maker.call(method)?;
    Some(maker.test)
}

/// Object fuzzing: a method that may change an object, called on it.
fn on_object(context: &Context<'_, '_>, rng: &mut Rng, head: TestCase) -> Option<TestCase> {
    let program = context.palette.program;
    let string = program.well_known().string;
    let objects: Vec<Var> = (0..head.len() as u32)
        .map(Var)
        .filter(|v| {
            let ty = head.ty(program, *v);
            ty.as_ref().is_some() && ty != string && !matches!(head.stmt(*v), Stmt::Null(_) | Stmt::Class(_))
        })
        .collect();
    let object = *rng.pick(&objects)?;
    let ty = head.ty(program, object).as_ref()?;
    let method = context.trusted(rng, &context.palette.fuzzers(ty))?;
    let mut maker = context.maker_of(rng, head);
    maker.call_on(method, object)?;
    Some(maker.test)
}
