//! Replaces a call by another with the same result type (EVO-19), its arguments made anew.

use super::Context;
use crate::program::{Assignability, MethodKind};
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::{Stmt, TestCase, Var};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let stmt = &test.stmts[at];
    let old = stmt.callee()?;
    if context.is_target(stmt) {
        return None;
    }
    let program = context.palette.program;
    let ty = test.ty(program, Var(at as u32));
    let mut made = None;
    let longer = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        made = match ty.as_ref() {
            Some(t) => {
                let producers = context.palette.producers(t);
                let others: Vec<_> = producers.iter().filter_map(|p| p.method()).filter(|m| *m != old).collect();
                let method = *maker.rng.pick(&others)?;
                maker.call(method)
            }
            None => {
                let owner = program.method(old).owner;
                let same = program.methods_of(owner).filter(|m| *m != old && program.signature(*m).ret == ty);
                let others: Vec<_> = same
                    .filter(|m| program.method(*m).kind != MethodKind::Constructor && context.palette.allowed(*m) && !context.palette.is_inner(*m))
                    .collect();
                let method = *maker.rng.pick(&others)?;
                match stmt {
                    Stmt::Call { recv: Some(r), .. } if program.method(method).kind == MethodKind::Instance => maker.call_on(method, *r),
                    _ => maker.call(method),
                }
            }
        };
        made.map(|_| maker.test)
    })?;
    let made = made?;
    if program.assignable(longer.ty(program, made), ty) != Assignability::Yes {
        return None;
    }
    let gone = Var((longer.len() - test.len() + at) as u32);
    let mut changed = longer;
    for s in &mut changed.stmts {
        s.operands_mut().into_iter().filter(|v| **v == gone).for_each(|v| *v = made);
    }
    let mut remove = vec![false; changed.len()];
    remove[gone.0 as usize] = true;
    Some(changed.without(&remove).sweep())
}
