//! Repetition of a call: the same method of the same object again, with the same arguments or others. Tables have several rows, trees several children, and
//! what takes its input bit by bit takes many.

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::validity::MAX_STATEMENTS;
use crate::testcase::{Stmt, TestCase};

/// How often another repetition follows.
const AGAIN: f64 = 0.55;
/// How often a repetition has the arguments of the first.
const ALIKE: f64 = 0.4;

/// Puts repetitions before a call of `test`, whichever.
pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase) -> Option<TestCase> {
    let calls: Vec<usize> = (0..test.len()).filter(|i| matches!(&test.stmts[*i], Stmt::Call { recv: Some(_), args, .. } if !args.is_empty())).collect();
    let at = *rng.pick(&calls)?;
    let Stmt::Call { method, recv: Some(recv), .. } = test.stmts[at] else { return None };
    let room = MAX_STATEMENTS.saturating_sub(test.len());
    let mut times = 1;
    while rng.chance(AGAIN) {
        times += 1;
    }
    splice(test, at, |head| {
        let before = head.len();
        let mut maker = context.maker_of(rng, head);
        for _ in 0..times {
            if maker.rng.chance(ALIKE) {
                maker.test.push(test.stmts[at].clone());
            } else {
                maker.call_on(method, recv)?;
            }
        }
        (maker.test.len() - before <= room).then_some(maker.test)
    })
}
