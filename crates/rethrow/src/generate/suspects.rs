//! Which tests will probably not compile: those that call what was only ever seen in tests that did not. One such test costs its whole part a second
//! compilation, so they wait until nothing else is left.

use std::collections::BTreeSet;

use rethrow_core::program::MethodId;
use rethrow_core::testcase::{Stmt, TestCase};

/// See the module documentation.
#[derive(Default)]
pub struct Suspects {
    fine: BTreeSet<MethodId>,
    bad: BTreeSet<MethodId>,
}

impl Suspects {
    pub fn note(&mut self, test: &TestCase, compiles: bool) {
        let known = if compiles { &mut self.fine } else { &mut self.bad };
        known.extend(methods(test));
    }

    pub fn suspects(&self, test: &TestCase) -> bool {
        !self.bad.is_empty() && methods(test).any(|m| self.bad.contains(&m) && !self.fine.contains(&m))
    }
}

/// What a test calls, and what it implements.
fn methods(test: &TestCase) -> impl Iterator<Item = MethodId> {
    let implemented = |stmt: &Stmt| match stmt {
        Stmt::Stub(stub) => stub.answers.iter().map(|a| a.method).collect(),
        _ => Vec::new(),
    };
    test.stmts.iter().flat_map(move |stmt| stmt.callee().into_iter().chain(implemented(stmt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compiled_once_is_not_suspected() {
        let calls = |ids: &[u32]| TestCase { stmts: ids.iter().map(|id| Stmt::Call { method: MethodId(*id), recv: None, args: Vec::new() }).collect() };
        let mut suspects = Suspects::default();
        assert!(!suspects.suspects(&calls(&[1])));
        suspects.note(&calls(&[1, 2]), false);
        assert!(suspects.suspects(&calls(&[1])) && suspects.suspects(&calls(&[3, 2])));
        suspects.note(&calls(&[1]), true);
        assert!(!suspects.suspects(&calls(&[1, 3])) && suspects.suspects(&calls(&[1, 2])));
    }
}
