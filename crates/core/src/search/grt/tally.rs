//! How the tests of a run ended.

use crate::execution::{Execution, Outcome};
use crate::testcase::TestCase;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub tests: u64,
    /// Calls of methods and constructors that were begun.
    pub calls: u64,
    pub normal: u64,
    pub thrown: u64,
    pub invalid: u64,
    pub step_limit: u64,
    pub time_limit: u64,
    pub exit: u64,
    pub died: u64,
}

impl Tally {
    pub fn count(&mut self, test: &TestCase, execution: &Execution) {
        self.tests += 1;
        let (counter, stopped) = match &execution.outcome {
            Outcome::Normal => (&mut self.normal, usize::MAX),
            Outcome::Thrown { at, .. } => (&mut self.thrown, *at as usize),
            Outcome::Invalid { at, .. } => (&mut self.invalid, (*at as usize).saturating_sub(1)),
            Outcome::StepLimit { at } => (&mut self.step_limit, *at as usize),
            Outcome::TimeLimit { at } => (&mut self.time_limit, *at as usize),
            Outcome::Exit { at, .. } => (&mut self.exit, *at as usize),
            Outcome::Died { .. } => (&mut self.died, 0),
        };
        *counter += 1;
        self.calls += test.stmts.iter().take(stopped.saturating_add(1)).filter(|s| s.callee().is_some()).count() as u64;
    }
}
