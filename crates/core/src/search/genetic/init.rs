//! Guided initialisation (EVO-14): random members of the class under test, with at least one call into the target frame.

use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::Maker;
use crate::testcase::validity::opened;
use crate::testcase::vary::{Context, append_target, change_env, mutate, trim};

/// The probability of a target call starts at 1/size and rises to 1 at the last step; after an insertion it starts again. An insertion adds
/// arguments too and may overshoot, so a target call is appended if none came.
pub fn guided(context: &Context<'_, '_>, rng: &mut Rng, max_len: usize) -> Option<TestCase> {
    for _ in 0..150 {
        let size = 1 + rng.below(max_len);
        let mut p = 1.0 / size as f64;
        let mut test = TestCase::default();
        while test.len() < size {
            let length = test.len();
            let target = rng.chance(p);
            let choice = if target { rng.pick(&context.palette.targets).cloned() } else { None };
            let mut maker = Maker::new(context.palette, context.facts, context.policy, rng, test);
            match choice {
                Some(call) => {
                    maker.target_call(&call);
                    p = 1.0 / size as f64;
                }
                None => {
                    let member = context.member(maker.rng);
                    member.and_then(|m| maker.call(m));
                    // 1 / (size - step + 1) for the step that follows: 1 when it is the last
                    p = 1.0 / size.saturating_sub(maker.test.len()).max(1) as f64;
                }
            }
            test = maker.test;
            if test.len() == length && rng.chance(0.2) {
                break;
            }
        }
        let test = if context.has_target(&test) { Some(test) } else { append_target(context, rng, test) };
        if let Some(test) = test {
            return Some(surrounded(context, rng, trim(context, &test)));
        }
    }
    None
}

fn surrounded(context: &Context<'_, '_>, rng: &mut Rng, test: TestCase) -> TestCase {
    if !context.palette.looked.any() || !rng.chance(context.palette.looked.chance()) {
        return test;
    }
    change_env::insert(context, rng, &test).unwrap_or(test)
}

/// A clone of a seed with a target call and up to three mutations. What is not open to this palette's tests is left out.
pub fn from_seed(context: &Context<'_, '_>, rng: &mut Rng, seed: &TestCase) -> Option<TestCase> {
    let seed = &opened(context.palette.program, &context.palette.scope, seed);
    let mut test = if context.has_target(seed) {
        seed.clone()
    } else {
        // mostly without its last call, which the new target makes itself; never with a call of an inner frame's method, whose branches, reached from
        // the test, would hide how near the new target comes to them (BBC-3)
        let keep = seed.len().saturating_sub(usize::from(rng.chance(0.7)));
        append_target(context, rng, without_inner(context, &seed.prefix(keep)))?
    };
    for _ in 0..rng.below(4) {
        test = mutate(context, rng, &test).unwrap_or(test);
    }
    Some(trim(context, &test))
}

fn without_inner(context: &Context<'_, '_>, test: &TestCase) -> TestCase {
    let mut remove: Vec<bool> = test.stmts.iter().map(|s| s.callee().is_some_and(|m| context.palette.is_inner(m))).collect();
    test.close_over_users(&mut remove);
    test.without(&remove)
}
