//! What earlier tests left behind: in a registry, a cache, a logger that lives as long as the process. A hit that only such a history made possible is no
//! reproduction, but joined with the test that left it there it may be one: "add a handler, then log".

use std::collections::VecDeque;

use super::Stop;
use crate::execution::{Execution, Outcome};
use crate::testcase::TestCase;

/// Tests that are remembered. What was left before them is not found.
const LENGTH: usize = 256;
/// Hits that are looked into; each may take a dozen processes.
const MAX_ENQUIRIES: u32 = 8;
/// How many of the last tests are tried first; then so many times more.
const FIRST: usize = 8;
const GROWTH: usize = 4;

/// A test that ran, and how many of its statements ended normally.
#[derive(Debug, Clone)]
struct Past {
    test: TestCase,
    whole: usize,
}

/// See the module documentation.
#[derive(Debug, Default)]
pub struct History {
    past: VecDeque<Past>,
    enquiries: u32,
}

impl History {
    pub fn note(&mut self, test: &TestCase, execution: &Execution) {
        let whole = match execution.outcome {
            Outcome::Normal => test.len(),
            Outcome::Thrown { at, .. } => at as usize,
            _ => 0,
        };
        if self.past.len() == LENGTH {
            self.past.pop_front();
        }
        self.past.push_back(Past { test: test.clone(), whole });
    }

    /// From now on no hit is looked into: published configurations know no such thing.
    pub fn close(&mut self) {
        self.enquiries = MAX_ENQUIRIES;
    }

    /// Whether another hit is worth looking into.
    pub fn enquire(&mut self) -> bool {
        let more = self.enquiries < MAX_ENQUIRIES;
        self.enquiries += u32::from(more);
        more
    }

    /// The test behind what an earlier one left for it, if `hits` says that the tests before it, in order, are why it hits. Nothing is left of the history.
    pub fn joined(&mut self, test: &TestCase, mut hits: impl FnMut(&[TestCase]) -> Result<bool, Stop>) -> Result<Option<TestCase>, Stop> {
        let past: Vec<Past> = std::mem::take(&mut self.past).into();
        let tests: Vec<TestCase> = past.iter().map(|p| p.test.clone()).collect();
        let Some((mut first, mut beyond)) = stretch(&tests, &mut hits)? else { return Ok(None) };
        while beyond - first > 1 {
            let middle = first.midpoint(beyond);
            if hits(&tests[middle..])? {
                first = middle;
            } else {
                beyond = middle;
            }
        }
        let mut joined = past[first].test.prefix(past[first].whole);
        joined.append(test);
        Ok(Some(joined))
    }
}

/// Where the last test begins without which the rest does not hit: not before the first number, and before the second.
fn stretch(tests: &[TestCase], hits: &mut impl FnMut(&[TestCase]) -> Result<bool, Stop>) -> Result<Option<(usize, usize)>, Stop> {
    let (mut beyond, mut length) = (tests.len(), FIRST);
    while beyond > 0 {
        let first = tests.len().saturating_sub(length);
        if hits(&tests[first..])? {
            return Ok(Some((first, beyond)));
        }
        (beyond, length) = (first, length * GROWTH);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{Stmt, Value, Var};

    fn ran(n: i32) -> TestCase {
        let mut test = TestCase::default();
        test.push(Stmt::Lit(Value::Int(n)));
        test
    }

    fn history(count: i32) -> History {
        let mut history = History::default();
        let ended = Execution::ended(Outcome::Normal);
        (0..count).for_each(|n| history.note(&ran(n), &ended));
        history
    }

    /// As if the test with number `n` had left something behind.
    fn left_by(n: i32, replays: &mut u32) -> impl FnMut(&[TestCase]) -> Result<bool, Stop> {
        move |tests| {
            *replays += 1;
            Ok(tests.contains(&ran(n)))
        }
    }

    #[test]
    fn the_test_that_left_something_is_found_wherever_it_is() {
        for n in [0, 1, 100, 190, 198, 199] {
            let mut replays = 0;
            let joined = history(200).joined(&ran(-1), left_by(n, &mut replays)).unwrap().unwrap();
            assert_eq!(joined.stmts, [Stmt::Lit(Value::Int(n)), Stmt::Lit(Value::Int(-1))]);
            assert!(replays <= 12, "{n}: {replays}");
        }
        assert_eq!(history(200).joined(&ran(-1), left_by(500, &mut 0)).unwrap(), None);
        assert_eq!(history(0).joined(&ran(-1), left_by(0, &mut 0)).unwrap(), None);
    }

    #[test]
    fn only_so_many_tests_and_enquiries() {
        let mut long = history(LENGTH as i32 + 10);
        assert_eq!(long.joined(&ran(-1), left_by(9, &mut 0)).unwrap(), None);
        assert!((0..MAX_ENQUIRIES).all(|_| long.enquire()) && !long.enquire());
    }

    #[test]
    fn variables_of_the_second_are_moved() {
        let mut test = ran(1);
        test.push(Stmt::ArraySet { array: Var(0), index: 0, value: Var(0) });
        let mut joined = ran(7);
        assert_eq!(joined.append(&test), 1);
        assert_eq!(joined.stmts[2], Stmt::ArraySet { array: Var(1), index: 0, value: Var(1) });
    }
}
