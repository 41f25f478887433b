//! Hill climbing on the literals of the best tests (algorithms §5.13): while nothing improves, the whole neighbourhood of one of them is looked through
//! instead of waiting for the one step that is missing, and whatever is better is climbed on from.

use rustc_hash::FxHashSet;

use super::{Evaluator, Scored, Stop};
use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::Palette;
use crate::testcase::vary::neighbours::neighbours;

/// Tests handed over at once: a better one is followed before the rest is tried.
const BATCH: usize = 50;
/// Neighbours of one test that are looked at.
const AROUND: usize = 300;
/// Of the fittest, those that may be climbed from: the population behind them is mostly made of their children.
const TOP: usize = 10;

/// Which tests were climbed from, and what that took.
#[derive(Debug, Default)]
pub struct Climber {
    climbed: FxHashSet<TestCase>,
    pub spent: u64,
}

impl Climber {
    /// Climbs from the fittest test that was not climbed from; what it found on the way, best last.
    pub fn climb(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, palette: &Palette<'_>, population: &[Scored]) -> Result<Vec<Scored>, Stop> {
        let Some(start) = population.iter().take(TOP).find(|s| !self.climbed.contains(&s.test)) else { return Ok(Vec::new()) };
        let before = evaluator.evaluations();
        let found = self.from(evaluator, rng, palette, start.clone());
        self.spent += evaluator.evaluations() - before;
        found
    }

    fn from(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, palette: &Palette<'_>, start: Scored) -> Result<Vec<Scored>, Stop> {
        let mut current = start;
        let mut found = Vec::new();
        loop {
            self.climbed.insert(current.test.clone());
            let seen = evaluator.seen_by(&current.test)?;
            let around = neighbours(rng, &current.test, |at| palette.customs.is_binary(&current.test, at), &seen, AROUND);
            let Some(better) = step(evaluator, &current, &around)? else { return Ok(found) };
            found.push(better.clone());
            current = better;
        }
    }
}

/// The best of the first batch that has a better one.
fn step(evaluator: &mut Evaluator<'_>, current: &Scored, around: &[TestCase]) -> Result<Option<Scored>, Stop> {
    for batch in around.chunks(BATCH) {
        let best = evaluator.evaluate(batch.to_vec())?.into_iter().min_by(|a, b| a.score.cmp(&b.score));
        if let Some(best) = best.filter(|b| b.score < current.score) {
            return Ok(Some(best));
        }
    }
    Ok(None)
}
