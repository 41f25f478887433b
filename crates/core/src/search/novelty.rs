//! What no test did before: the first to reach a point, to decide a branch some way or to crash at some place is worth keeping, however its score.
//!
//! A distance leads where every step shows in it. On the way into a parser it does not: the texts that come further look no better, and worse ones
//! take their place. So the genetic algorithm draws some parents from an archive of discoveries, as coverage-guided fuzzers do.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::execution::Execution;
use crate::rng::Rng;
use crate::testcase::TestCase;

/// What the tests of each level have shown so far.
#[derive(Debug, Default)]
pub struct Novelty {
    levels: FxHashMap<usize, Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    features: FxHashSet<u64>,
    /// Not yet fetched.
    discoveries: Vec<TestCase>,
}

impl Novelty {
    /// Takes note of an execution at `level`; `crash` is the place where it crashed.
    pub fn note(&mut self, level: usize, test: &TestCase, execution: &Execution, crash: Option<&str>) {
        let shown = self.levels.entry(level).or_default();
        let before = shown.features.len();
        shown.features.extend(features(execution, crash));
        if shown.features.len() > before {
            shown.discoveries.push(test.clone());
        }
    }
    /// The tests that showed something new at `level` since the last call.
    pub fn fetch(&mut self, level: usize) -> Vec<TestCase> {
        self.levels.get_mut(&level).map(|shown| std::mem::take(&mut shown.discoveries)).unwrap_or_default()
    }
}

/// Distances up to this are told apart.
const NEAR: f64 = 8.0;

fn features<'e>(execution: &'e Execution, crash: Option<&'e str>) -> impl Iterator<Item = u64> + 'e {
    let hits = execution.hits.iter().map(|hit| feature(0, *hit));
    let sides = execution.branches.iter().flat_map(|b| {
        let sides = [(1, b.above.is_finite()), (2, b.below.is_finite()), (3, b.equal)];
        sides.into_iter().filter(|(_, seen)| *seen).map(move |(kind, _)| feature(kind, b.branch))
    });
    // how near a condition came is new as well, as long as it is near: the way to it may be one step at a time
    let near = execution.branches.iter().flat_map(|b| {
        let distances = [(6, b.above), (7, b.below), (8, b.hint)];
        distances.into_iter().filter(|(_, d)| *d > 0.0 && *d <= NEAR).map(move |(kind, d)| feature(kind, (b.branch, d.ceil() as u32)))
    });
    let switches = execution.switches.iter().map(|s| feature(4, s));
    hits.chain(sides).chain(near).chain(switches).chain(crash.map(|place| feature(5, place)))
}

fn feature(kind: u8, what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    (kind, what).hash(&mut hasher);
    hasher.finish()
}

/// The discoveries that parents are drawn from, each with the draws that are left.
#[derive(Debug, Default)]
pub struct Archive {
    tests: Vec<(TestCase, u32)>,
}

/// Discoveries kept; beyond it a random one goes.
const ARCHIVE: usize = 400;
/// How often one is drawn before it is worn out: what has led nowhere by then rather takes the place of better ones.
const DRAWS: u32 = 100;

impl Archive {
    pub fn add(&mut self, discoveries: Vec<TestCase>, rng: &mut Rng) {
        for test in discoveries {
            if self.tests.len() >= ARCHIVE {
                let gone = rng.below(self.tests.len());
                self.tests.remove(gone);
            }
            self.tests.push((test, DRAWS));
        }
    }
    /// One of them, rather a late one: it stands on the shoulders of the others.
    pub fn draw(&mut self, rng: &mut Rng) -> Option<TestCase> {
        let n = self.tests.len();
        let at = rng.below(n).max(rng.below(n));
        let (test, left) = self.tests.get_mut(at)?;
        *left -= 1;
        if *left == 0 { Some(self.tests.remove(at).0) } else { Some(test.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Outcome;
    use crate::testcase::{Stmt, Value};

    fn test(number: i32) -> TestCase {
        TestCase { stmts: vec![Stmt::Lit(Value::Int(number))] }
    }
    fn hitting(hits: &[u32]) -> Execution {
        Execution { hits: hits.to_vec(), ..Execution::ended(Outcome::Normal) }
    }

    #[test]
    fn the_first_to_show_something_is_a_discovery_at_its_level() {
        let mut novelty = Novelty::default();
        novelty.note(1, &test(1), &hitting(&[3]), None);
        novelty.note(1, &test(2), &hitting(&[3]), None);
        novelty.note(1, &test(3), &hitting(&[3]), Some("E at a.B.c:7"));
        novelty.note(2, &test(4), &hitting(&[3]), None);
        assert_eq!((novelty.fetch(1), novelty.fetch(2)), (vec![test(1), test(3)], vec![test(4)]));
        assert!(novelty.fetch(1).is_empty());
    }

    #[test]
    fn an_archive_is_bounded_and_prefers_what_came_late() {
        let (mut archive, mut rng) = (Archive::default(), Rng::stream(1, "archive"));
        assert_eq!(archive.draw(&mut rng), None);
        archive.add((0..1000).map(test).collect(), &mut rng);
        assert_eq!(archive.tests.len(), ARCHIVE);
        let late: Vec<TestCase> = archive.tests[ARCHIVE / 2..].iter().map(|(test, _)| test.clone()).collect();
        let drawn = (0..1000).filter(|_| archive.draw(&mut rng).is_some_and(|t| late.contains(&t))).count();
        assert!((650..850).contains(&drawn), "{drawn}");
        let left = std::iter::from_fn(|| archive.draw(&mut rng)).count();
        assert_eq!(left + 1000, ARCHIVE * DRAWS as usize, "each is worn out in the end");
    }
}
