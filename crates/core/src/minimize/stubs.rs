//! Stub pass: fewer answers. That a stub becomes null or another object is the argument pass's business.

use super::Oracle;
use crate::search::Stop;
use crate::testcase::{Stmt, TestCase};

pub fn pass(oracle: &mut Oracle<'_, '_>, test: &TestCase) -> Result<TestCase, Stop> {
    let mut best = test.clone();
    let mut at = best.len();
    while at > 0 {
        at -= 1;
        let mut answer = 0;
        while let Some(candidates) = best.stmts.get(at).and_then(|stmt| fewer(stmt, answer)) {
            let mut smaller = None;
            for stmt in candidates {
                let mut candidate = best.clone();
                candidate.stmts[at] = stmt;
                smaller = oracle.accept(candidate.sweep())?;
                if smaller.is_some() {
                    break;
                }
            }
            match smaller {
                Some(smaller) => {
                    best = smaller;
                    at = best.stmts.len().min(at + 1).saturating_sub(1);
                    answer = 0;
                }
                None => answer += 1,
            }
        }
    }
    Ok(best)
}

/// The stub without its answer of that number, or with less of it; `None` past the last.
fn fewer(stmt: &Stmt, answer: usize) -> Option<Vec<Stmt>> {
    let Stmt::Stub(stub) = stmt else { return None };
    let old = stub.answers.get(answer)?;
    let mut without = stub.clone();
    without.answers.remove(answer);
    let mut out = vec![Stmt::Stub(without)];
    if old.value.is_some() && old.act.is_some() {
        let (mut valueless, mut idle) = (stub.clone(), stub.clone());
        valueless.answers[answer].value = None;
        idle.answers[answer].act = None;
        out.extend([Stmt::Stub(valueless), Stmt::Stub(idle)]);
    }
    Some(out)
}
