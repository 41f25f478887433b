//! How many steps a test may take: as many as allowed only now and then, else some times those of the longest test that came to its end.
//!
//! Where a step is slow, one loop without end costs as much as hundreds of tests, and a search that found the way into one goes there again and again.
//! Which batches are patient is counted, not timed, so that a seed repeats a run.

use rethrow_core::execution::{Execution, Outcome};

/// Each such batch may take all steps; the first is one.
const EVERY: u32 = 8;
/// Otherwise so many times the longest that ended …
const TIMES: f64 = 8.0;
/// … but at least this part of all steps.
const LEAST: u32 = 20;
/// What a batch leaves of the memory of long tests, if none of its own is longer.
const FADING: f64 = 0.98;

/// See the module documentation.
#[derive(Debug)]
pub struct Patience {
    all: u32,
    longest: f64,
    batches: u32,
}

impl Patience {
    pub fn new(all: u32) -> Patience {
        Patience { all, longest: 0.0, batches: 0 }
    }

    /// The steps of each test of the next batch.
    pub fn next(&mut self) -> u32 {
        let patient = self.batches.is_multiple_of(EVERY);
        self.batches = self.batches.wrapping_add(1);
        if patient { self.all } else { ((self.longest * TIMES) as u32).clamp(self.all / LEAST, self.all) }
    }

    /// Takes in a batch.
    pub fn note(&mut self, executions: &[Execution]) {
        let ended = executions.iter().filter(|e| matches!(e.outcome, Outcome::Normal | Outcome::Thrown { .. }));
        let longest = ended.map(|e| f64::from(e.steps)).fold(0.0, f64::max);
        self.longest = longest.max(self.longest * FADING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(steps: u32, outcome: Outcome) -> Execution {
        Execution { steps, ..Execution::ended(outcome) }
    }

    #[test]
    fn long_tests_are_allowed_now_and_then_and_wherever_some_are_known_to_end() {
        let mut patience = Patience::new(100_000);
        assert_eq!(patience.next(), 100_000, "the first shows what is usual");
        patience.note(&[ran(100, Outcome::Normal), ran(100_000, Outcome::StepLimit { at: 0 })]);
        assert_eq!((1..8).map(|_| patience.next()).collect::<Vec<_>>(), [5_000; 7]);
        assert_eq!(patience.next(), 100_000);
        patience.note(&[ran(3_000, Outcome::Thrown { at: 0, chain: Vec::new().into() })]);
        assert_eq!(patience.next(), 24_000);
        (0..50).for_each(|_| patience.note(&[]));
        assert!((5_000..12_000).contains(&patience.next()), "what was long once is forgotten");
        patience.note(&[ran(90_000, Outcome::Normal)]);
        assert_eq!(patience.next(), 100_000, "never more than all");
    }
}
