//! Constructor pass: an object is made without arguments where its class allows it.

use super::Oracle;
use super::arguments::weight;
use crate::program::{Access, MethodId, MethodKind, Program};
use crate::search::Stop;
use crate::testcase::{Stmt, TestCase};

pub fn pass(oracle: &mut Oracle<'_, '_>, program: &Program, test: &TestCase) -> Result<TestCase, Stop> {
    let mut best = test.clone();
    let mut at = best.len();
    while at > 0 {
        at = at.min(best.len()) - 1;
        let Some(candidate) = plain(program, &best, at) else { continue };
        if weight(&candidate) < weight(&best)
            && let Some(accepted) = oracle.accept(candidate)?
        {
            best = accepted;
        }
    }
    Ok(best)
}

/// The test with the constructor without parameters at `at`. Its last statement stays: it is what crashes.
fn plain(program: &Program, test: &TestCase, at: usize) -> Option<TestCase> {
    let Stmt::New { ctor, args } = &test.stmts[at] else { return None };
    if args.is_empty() || at + 1 == test.len() {
        return None;
    }
    let owner = program.method(*ctor).owner;
    let is_plain = |m: &MethodId| {
        let def = program.method(*m);
        def.kind == MethodKind::Constructor && def.access == Access::Public && program.signature(*m).params.is_empty()
    };
    let ctor = program.methods_of(owner).find(is_plain)?;
    let mut candidate = test.clone();
    candidate.stmts[at] = Stmt::New { ctor, args: Vec::new() };
    Some(candidate.sweep())
}
