//! A test case cut to what one of its values needs: how it is made, and the calls that may have changed it.

use crate::program::purity::Purity;
use crate::program::{MethodKind, Program};
use crate::testcase::{Stmt, TestCase, Var};

/// The cut test and the value's place in it.
pub fn slice(program: &Program, purity: &Purity, test: &TestCase, var: Var) -> (TestCase, Var) {
    let mut needed = vec![false; test.len()];
    needed[var.0 as usize] = true;
    loop {
        let mut changed = false;
        for (i, stmt) in test.stmts.iter().enumerate().rev() {
            if !needed[i] && changes_needed(program, purity, test, stmt, &needed) {
                needed[i] = true;
                changed = true;
            }
            if needed[i] {
                for operand in stmt.operands() {
                    changed |= !std::mem::replace(&mut needed[operand.0 as usize], true);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let place = needed[..var.0 as usize].iter().filter(|n| **n).count() as u32;
    let remove: Vec<bool> = needed.iter().map(|n| !n).collect();
    (test.without(&remove), Var(place))
}

/// Whether a statement may change an object that is needed.
fn changes_needed(program: &Program, purity: &Purity, test: &TestCase, stmt: &Stmt, needed: &[bool]) -> bool {
    let matters = |v: &Var| needed[v.0 as usize] && !test.stmt(*v).is_literal();
    match stmt {
        Stmt::SetField { recv: Some(v), .. } | Stmt::ArraySet { array: v, .. } => matters(v),
        Stmt::Call { method, .. } | Stmt::New { ctor: method, .. } => {
            let operands = stmt.operands();
            if !operands.iter().any(matters) {
                return false;
            }
            let effects = purity.effects(program, *method);
            // a constructor's first position is the new object
            let shift = usize::from(program.method(*method).kind == MethodKind::Constructor);
            operands.iter().enumerate().any(|(i, v)| matters(v) && effects.changes(i + shift))
        }
        _ => false,
    }
}
