//! Minimisation (EVO-21, §3.7): statements → arguments → constructors → stubs → literals to a fixpoint; every step is re-verified, so the result
//! meets the goal at the same level, is 1-minimal in its statements, and minimising it again changes nothing.

pub mod arguments;
pub mod constructors;
pub mod data;
pub mod literals;
pub mod statements;
pub mod stubs;

use rustc_hash::FxHashMap;

use crate::program::Program;
use crate::search::{Evaluator, Event, Stop};
use crate::testcase::TestCase;

/// Says whether a candidate still meets the goal; remembers answers and counts questions.
pub struct Oracle<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    level: usize,
    known: FxHashMap<TestCase, Option<TestCase>>,
    left: u32,
    /// Only what a worker that has run nothing before shows is accepted.
    pristine: bool,
    /// `true` when the reserved time is over: what stands is kept.
    out_of_time: &'e dyn Fn() -> bool,
}

impl Oracle<'_, '_> {
    /// The candidate, if it is accepted (cut behind the statement that throws).
    pub fn accept(&mut self, candidate: TestCase) -> Result<Option<TestCase>, Stop> {
        if let Some(known) = self.known.get(&candidate) {
            return Ok(known.clone());
        }
        if self.left == 0 || (self.out_of_time)() {
            return Ok(None);
        }
        self.left -= 1;
        let at = self.evaluator.holds(&candidate, self.level, self.pristine)?;
        let cut = at.map(|at| candidate.prefix(at as usize + 1));
        self.known.insert(candidate, cut.clone());
        Ok(cut)
    }
}

/// Each round makes the test simpler, so a few are enough; more would mean that two forms take turns.
const MAX_ROUNDS: u32 = 50;

/// How much a minimisation may cost.
pub struct Effort<'e> {
    pub executions: u32,
    pub out_of_time: &'e dyn Fn() -> bool,
}

/// Statements only, each dropped if the goal is still met without it (BCN-7); arguments stay as they were found.
pub fn greedy(evaluator: &mut Evaluator<'_>, level: usize, test: &TestCase, effort: Effort<'_>) -> Result<TestCase, Stop> {
    evaluator.emit(Event::Minimizing { statements: test.len() });
    let mut oracle = Oracle { evaluator, level, known: FxHashMap::default(), left: effort.executions, pristine: false, out_of_time: effort.out_of_time };
    let best = statements::pass(&mut oracle, test)?;
    if best != *test && !oracle.evaluator.holds_pristine(&best, level)? {
        return Ok(test.clone());
    }
    Ok(best)
}

/// The smallest test that the passes find; `test` itself if nothing smaller is accepted.
pub fn minimize(evaluator: &mut Evaluator<'_>, program: &Program, level: usize, test: &TestCase, effort: Effort<'_>) -> Result<TestCase, Stop> {
    evaluator.emit(Event::Minimizing { statements: test.len() });
    let mut oracle = Oracle { evaluator, level, known: FxHashMap::default(), left: effort.executions, pristine: false, out_of_time: effort.out_of_time };
    let mut best = test.clone();
    for _ in 0..MAX_ROUNDS {
        let before = best.clone();
        best = statements::pass(&mut oracle, &best)?;
        best = arguments::pass(&mut oracle, program, &best)?;
        best = constructors::pass(&mut oracle, program, &best)?;
        best = stubs::pass(&mut oracle, &best)?;
        best = literals::pass(&mut oracle, &best)?;
        if best == before {
            break;
        }
    }
    // what the worker's history made possible does not count
    if best != *test && !oracle.evaluator.holds_pristine(&best, level)? {
        (oracle.pristine, oracle.known) = (true, FxHashMap::default());
        return statements::pass(&mut oracle, test);
    }
    Ok(best)
}
