//! Argument pass: an object argument becomes another variable that stands already, or null; an unneeded chain of construction then falls to the
//! statement pass.

use super::Oracle;
use crate::program::{Assignability, Program, Ty};
use crate::search::Stop;
use crate::testcase::validity::{operand_ty, receiver};
use crate::testcase::{Data, Stmt, TestCase, Var};

pub fn pass(oracle: &mut Oracle<'_, '_>, program: &Program, test: &TestCase) -> Result<TestCase, Stop> {
    let mut best = test.clone();
    let mut at = best.len();
    while at > 0 {
        at -= 1;
        let mut operand = 0;
        while at < best.len() && operand < best.stmts[at].operands().len() {
            match simpler(oracle, program, &best, at, operand)? {
                Some(smaller) => {
                    best = smaller;
                    at = at.min(best.len().saturating_sub(1));
                    operand = 0;
                }
                None => operand += 1,
            }
        }
    }
    Ok(best)
}

fn simpler(oracle: &mut Oracle<'_, '_>, program: &Program, test: &TestCase, at: usize, operand: usize) -> Result<Option<TestCase>, Stop> {
    let stmt = &test.stmts[at];
    let old = stmt.operands()[operand];
    let receiver = operand == 0 && receiver(program, stmt) == Some(old);
    let ty = operand_ty(program, test, stmt, operand);
    if receiver || !ty.is_reference() || matches!(stmt, Stmt::Cast { .. }) || matches!(test.stmt(old), Stmt::Null(_)) {
        return Ok(None);
    }
    // values without declared type are made small by `data`
    if matches!(test.stmt(old), Stmt::Data(_)) {
        return Ok(None);
    }
    let mut candidates: Vec<TestCase> = Vec::new();
    for nothing in nothings(program, stmt, ty) {
        let mut without = test.clone();
        without.insert(at, nothing);
        *without.stmts[at + 1].operands_mut()[operand] = Var(at as u32);
        candidates.push(without.sweep());
    }
    if !test.stmt(old).is_literal() {
        for v in (0..old.0).map(Var) {
            if program.assignable(test.ty(program, v), ty) == Assignability::Yes && test.uses(old).count() == 1 {
                let mut other = test.clone();
                *other.stmts[at].operands_mut()[operand] = v;
                candidates.push(other.sweep());
            }
        }
    }
    for candidate in candidates {
        if weight(&candidate) < weight(test)
            && let Some(accepted) = oracle.accept(candidate)?
        {
            return Ok(Some(accepted));
        }
    }
    Ok(None)
}

/// What may stand for an argument that is not needed: without declared types, a call may do without it, and there is no null that fits everything.
fn nothings(program: &Program, stmt: &Stmt, ty: Ty) -> Vec<Stmt> {
    match stmt {
        _ if !program.is_dynamic() => vec![Stmt::Null(ty)],
        Stmt::New { .. } | Stmt::Call { .. } => vec![Stmt::Data(Data::Absent), Stmt::Data(Data::None)],
        _ => vec![Stmt::Data(Data::None)],
    }
}

/// The order "simpler than": fewer calls, then fewer uses of anything but nothing, then fewer statements.
pub fn weight(test: &TestCase) -> (usize, usize, usize) {
    let calls = test.stmts.iter().filter(|s| !s.is_literal()).count();
    let nothing = |v: Var| matches!(test.stmt(v), Stmt::Null(_) | Stmt::Data(Data::Absent | Data::None));
    let used = |s: &Stmt| s.operands().into_iter().filter(|v| !nothing(*v)).count();
    (calls, test.stmts.iter().map(used).sum(), test.len())
}
