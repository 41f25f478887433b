//! Repair (EVO-17): statements taken out of one test case fit into another again.

use rustc_hash::FxHashMap;

use super::build::Maker;
use super::validity::{operand_ty, receiver};
use super::{Stmt, TestCase, Var};
use crate::program::{Assignability, Ty};

/// Appends `tail` to the maker's test. An operand defined in the tail moves along; any other is bound to a fitting variable or created; a statement
/// that cannot be fitted is dropped.
pub fn append_tail(maker: &mut Maker<'_, '_>, donor: &TestCase, from: usize) {
    let mut place: FxHashMap<Var, Var> = FxHashMap::default();
    for (i, stmt) in donor.stmts.iter().enumerate().skip(from) {
        if let Some(var) = fit(maker, donor, stmt, &place) {
            place.insert(Var(i as u32), var);
        }
    }
}

fn fit(maker: &mut Maker<'_, '_>, donor: &TestCase, stmt: &Stmt, place: &FxHashMap<Var, Var>) -> Option<Var> {
    // an element access belongs to its array: another may be shorter, or null
    if let Stmt::ArraySet { array, .. } | Stmt::ArrayGet { array, .. } = stmt
        && !place.contains_key(array)
    {
        return None;
    }
    let len = maker.test.len();
    let mut fitted = stmt.clone();
    let operands = stmt.operands();
    for (n, old) in operands.iter().enumerate() {
        let new = match place.get(old) {
            Some(new) => Some(*new),
            None => bind(maker, operand_ty(maker.palette.program, donor, stmt, n), donor, *old, receiver(maker.palette.program, stmt) == Some(*old) && n == 0),
        };
        match new {
            Some(new) => *fitted.operands_mut()[n] = new,
            None => {
                maker.test.stmts.truncate(len);
                return None;
            }
        }
    }
    Some(maker.test.push(fitted))
}

/// A variable of type `ty`: a literal is copied, else an existing variable, else a new value.
fn bind(maker: &mut Maker<'_, '_>, ty: Ty, donor: &TestCase, old: Var, needed: bool) -> Option<Var> {
    if donor.stmt(old).is_literal() {
        return Some(maker.test.push(donor.stmt(old).clone()));
    }
    if needed {
        return maker.receiver(ty);
    }
    let program = maker.palette.program;
    let known: Vec<Var> = maker.vars().filter(|v| program.assignable(maker.test.ty(program, *v), ty) == Assignability::Yes).collect();
    maker.rng.pick(&known).copied().or_else(|| maker.value(ty, None))
}
