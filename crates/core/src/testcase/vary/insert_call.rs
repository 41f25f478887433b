//! Insertion: a member of the class under test, or a call on an object that the test already has; never behind the last target call.

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::{Stmt, TestCase, Var};

/// How often a call is put on an object that the test already has.
const ON_OBJECT: f64 = 0.5;
/// How often that object is one which the target call is made of: what happens to others cannot change the crash.
const ON_WHAT_THE_TARGET_TAKES: f64 = 0.7;
/// How often what was handed out is changed at once.
const CHANGE_RESULT: f64 = 0.5;

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let last = test.stmts.iter().rposition(|s| context.is_target(s)).unwrap_or(test.len());
    if context.policy.impurity && rng.chance(ON_OBJECT) {
        let inserted = on_object(context, rng, test, last);
        if inserted.is_some() {
            return inserted;
        }
    }
    splice(test, at.min(last), |head| member(context, rng, head))
}

fn member(context: &Context<'_, '_>, rng: &mut Rng, head: TestCase) -> Option<TestCase> {
    let method = context.member(rng)?;
    let mut maker = context.maker_of(rng, head);
    maker.call(method)?;
    Some(maker.test)
}

/// Object fuzzing: a method that may change an object, called on it somewhere between its making and the target call at `last`.
fn on_object(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, last: usize) -> Option<TestCase> {
    let objects = objects(context, &test.prefix(last));
    let taken = test.stmts.get(last).map_or_else(Vec::new, |_| test.needed_by(last));
    let is_taken = |v: &Var| taken.get(v.0 as usize).is_some_and(|t| *t);
    // what a call on them gave may be a part of them
    let is_part = |v: &Var| matches!(test.stmt(*v), Stmt::Call { recv: Some(recv), .. } if is_taken(recv));
    let near: Vec<Var> = objects.iter().copied().filter(|v| is_taken(v) || is_part(v)).collect();
    let aimed = context.policy.aimed;
    let object = match rng.pick(&near) {
        Some(near) if aimed && rng.chance(ON_WHAT_THE_TARGET_TAKES) => *near,
        _ => *rng.pick(&objects)?,
    };
    let made = object.0 as usize + 1;
    let at = made + rng.below(last - made + 1);
    // what a class of the test's own does is mostly decided by what it was declared with
    let derived = test.derived_from(object).filter(|ty| !context.palette.touchers(*ty).is_empty());
    let ty = derived.or_else(|| test.ty(context.palette.program, object).as_ref())?;
    let method = context.change_of(rng, ty)?;
    splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        let result = maker.call_on(method, object)?;
        // what an object hands out is mostly a part of it: often that is what has to change
        if aimed
            && context.palette.touchers(ty).contains(&method)
            && maker.rng.chance(CHANGE_RESULT)
            && let Some(part) = maker.test.ty(context.palette.program, result).as_ref()
            && let Some(change) = context.change_of(maker.rng, part)
        {
            maker.call_on(change, result);
        }
        Some(maker.test)
    })
}

/// The variables that hold objects with methods to call.
fn objects(context: &Context<'_, '_>, test: &TestCase) -> Vec<Var> {
    let program = context.palette.program;
    let string = program.well_known().string;
    let is_object = |v: &Var| {
        let ty = test.ty(program, *v);
        ty.as_ref().is_some() && ty != string && !matches!(test.stmt(*v), Stmt::Null(_) | Stmt::Class(_))
    };
    (0..test.len() as u32).map(Var).filter(is_object).collect()
}
