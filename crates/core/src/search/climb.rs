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
    spent: u64,
    climbs: u32,
    /// Those that found something better.
    gains: u32,
}

impl Climber {
    /// Whether another climb is within `share` of `all` evaluations. Where climbs lead nowhere, the literals are not what is missing, and the share
    /// shrinks.
    pub fn may(&self, share: f64, all: u64) -> bool {
        let credit = f64::from(self.gains + 1) / f64::from(self.climbs + 1);
        (self.spent as f64) < share * credit * all as f64
    }

    /// Climbs from the fittest test that was not climbed from; what it found on the way, best last.
    pub fn climb(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, palette: &Palette<'_>, population: &[Scored]) -> Result<Vec<Scored>, Stop> {
        let Some(start) = population.iter().take(TOP).find(|s| !self.climbed.contains(&s.test)) else { return Ok(Vec::new()) };
        let before = evaluator.evaluations();
        let found = self.from(evaluator, rng, palette, start.clone());
        self.spent += evaluator.evaluations() - before;
        self.climbs += 1;
        self.gains += u32::from(found.as_ref().is_ok_and(|f| !f.is_empty()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn climbs_that_lead_nowhere_become_rare() {
        let after = |climbs, gains| Climber { climbs, gains, spent: 300, ..Climber::default() };
        assert!(Climber::default().may(0.25, 1) && !Climber::default().may(0.0, 1_000_000));
        assert!(after(4, 4).may(0.25, 1300) && !after(4, 4).may(0.25, 1100));
        assert!(!after(4, 0).may(0.25, 5000) && after(4, 0).may(0.25, 6100));
    }
}
