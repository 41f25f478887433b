//! Insertion of a field write: fields of the trace's classes that the test may name (EVO-28: `buffer.tail = 82`, `NDC.ht = null`).
//! A test that needs one builds a state that the class's own methods may not allow; calls are therefore tried far more often.

use super::Context;
use crate::program::Flags;
use crate::rng::Rng;
use crate::testcase::build::splice;
use crate::testcase::{Stmt, TestCase};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let last = test.stmts.iter().rposition(|s| context.is_target(s)).unwrap_or(test.len());
    let field = *rng.pick(&context.palette.fields)?;
    let program = context.palette.program;
    let def = program.field(field);
    splice(test, at.min(last), |head| {
        let mut maker = context.maker_of(rng, head);
        let recv = match def.flags.has(Flags::STATIC) {
            true => None,
            false => Some(maker.receiver(crate::program::Ty::reference(def.owner))?),
        };
        let value = maker.value(def.ty, None)?;
        maker.test.push(Stmt::SetField { field, recv, value });
        Some(maker.test)
    })
}
