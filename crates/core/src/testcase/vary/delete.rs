//! Deletion (EVO-20): users of the deleted value are bound to another fitting variable, else deleted too.

use super::Context;
use crate::program::Assignability;
use crate::rng::Rng;
use crate::testcase::validity::{operand_ty, receiver};
use crate::testcase::{Stmt, TestCase, Var};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let mut edited = test.clone();
    let gone = Var(at as u32);
    for user in test.uses(gone).collect::<Vec<_>>() {
        rebind(context, rng, &mut edited, user, gone);
    }
    let mut remove = vec![false; edited.len()];
    remove[at] = true;
    edited.close_over_users(&mut remove);
    let left = edited.without(&remove);
    (!left.is_empty()).then(|| left.sweep())
}

/// Lets every operand of statement `user` that is `gone` be another variable, where one fits.
fn rebind(context: &Context<'_, '_>, rng: &mut Rng, test: &mut TestCase, user: usize, gone: Var) {
    let program = context.palette.program;
    let operands = test.stmts[user].operands();
    for (n, operand) in operands.iter().enumerate() {
        if *operand != gone || matches!(test.stmts[user], Stmt::Cast { .. } | Stmt::ArraySet { .. } | Stmt::ArrayGet { .. }) {
            continue;
        }
        let ty = operand_ty(program, test, &test.stmts[user], n);
        let must = receiver(program, &test.stmts[user]) == Some(gone);
        let fits = |v: &Var| {
            let null = matches!(test.stmt(*v), Stmt::Null(_));
            *v != gone && !(n == 0 && null && must) && program.assignable(test.ty(program, *v), ty) == Assignability::Yes
        };
        let others: Vec<Var> = (0..user as u32).map(Var).filter(fits).collect();
        if let Some(other) = rng.pick(&others) {
            *test.stmts[user].operands_mut()[n] = *other;
        }
    }
}
