//! Rewires one argument of a call: another variable, null, or a new value (EVO-19).

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::validity::operand_ty;
use crate::testcase::{Stmt, TestCase};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let stmt = &test.stmts[at];
    let (method, receiver) = match stmt {
        Stmt::New { ctor, .. } => (*ctor, usize::from(context.palette.program.takes_outer(*ctor))),
        Stmt::Call { method, recv, .. } => (*method, usize::from(recv.is_some())),
        _ => return None,
    };
    let count = stmt.operands().len() - receiver;
    if count == 0 {
        return None;
    }
    let n = rng.below(count);
    let ty = operand_ty(context.palette.program, test, stmt, n + receiver);
    let mut made = None;
    let longer = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        maker.for_call(test, stmt);
        made = maker.value(ty, Some((method, if matches!(stmt, Stmt::New { .. }) { n + receiver } else { n })));
        made.map(|_| maker.test)
    })?;
    let place = longer.len() - test.len() + at;
    let mut changed = longer;
    *changed.stmts[place].operands_mut()[n + receiver] = made?;
    let changed = changed.sweep();
    (changed != *test).then_some(changed)
}
