//! The guided genetic algorithm (EVO-11 … EVO-23): every individual calls into the target frame, and no operator loses that call.

pub mod init;
pub mod selection;

use std::cmp::Ordering;
use std::rc::Rc;

use super::climb::Climber;
use super::novelty::Archive;
use super::{Engine, Evaluator, Scored, Stop};
use crate::objective::{Score, obstacle};
use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::{Palette, Policy};
use crate::testcase::vary::{Context, crossover, mutate};

/// Who goes on to the next generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// The fittest of parents and offspring (EVO-11).
    MuPlusLambda,
    /// The best `elite`, then pairs of offspring where the better one is not worse than the better of its parents, else the parents (EVO-12).
    Monotonic { elite: usize },
}

/// When a population is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    Never,
    /// After so many evaluations in which the fitness did not improve, whatever the secondary objective did: it finds something to improve for ever. A
    /// new population begins; as soon as it stands still for [`FRESH`] evaluations it mixes with the one that was set aside.
    Plateau(u64),
    /// After so many evaluations.
    Every(u64),
}

/// Parameters; the defaults are EvoCrash's (EVO-22, EVO-23) but for restarts, which come with a plateau instead of minutes.
#[derive(Clone, Debug)]
pub struct Parameters {
    pub population: usize,
    /// A restart adds so many individuals …
    pub growth: usize,
    /// … up to this.
    pub max_population: usize,
    pub crossover: f64,
    /// Rank bias of selection.
    pub bias: f64,
    pub restart: Restart,
    pub replacement: Replacement,
    /// Longest test made by initialisation.
    pub max_initial: usize,
    /// The share of initial tests that grow from what met the goal at an inner level.
    pub from_seeds: f64,
    /// The share of parents that are discoveries instead of the fittest while nothing improves.
    pub discoveries: f64,
    /// The share of evaluations that may go into hill climbing while nothing improves.
    pub climb: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            population: 50,
            growth: 25,
            max_population: 300,
            crossover: 0.75,
            bias: 1.7,
            restart: Restart::Plateau(3000),
            replacement: Replacement::MuPlusLambda,
            max_initial: 12,
            from_seeds: 0.4,
            discoveries: 0.3,
            climb: 0.25,
        }
    }
}

/// Random tests that a population without declared types begins with: many such crashes need a lucky kind of value and no evolution.
const SCOUTS: usize = 300;

/// A new population that stands still for so long goes no further than the one before: what is set aside may only be slow.
const FRESH: u64 = 800;

/// Evaluations without improvement after which the whole share of parents are discoveries.
const STUCK: f64 = 400.0;

/// How long nothing has improved, as a part of [`STUCK`], before a test is climbed from.
const CLIMB_FROM: f64 = 0.5;

/// See the module documentation.
pub struct Genetic<'p> {
    pub palette: Rc<Palette<'p>>,
    pub policy: Policy,
    pub parameters: Parameters,
    /// Tests to start from: what met the goal at an inner level.
    pub seeds: Vec<TestCase>,
    /// Ends with `Ok` after so many evaluations.
    pub slice: u64,
    /// The population, kept from slice to slice.
    pub population: Vec<Scored>,
    /// How large it is to be now; 0: as the parameters begin.
    pub size: usize,
    /// Evaluations since it was made.
    pub age: u64,
    /// What showed something new.
    pub archive: Archive,
    /// The population that was set aside for a new one.
    pub aside: Vec<Scored>,
    pub climber: Climber,
    /// Evaluations of all its slices.
    pub spent: u64,
}

impl Engine for Genetic<'_> {
    fn name(&self) -> &'static str {
        "genetic"
    }

    fn search(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng) -> Result<(), Stop> {
        let end = evaluator.evaluations() + self.slice;
        let mut size = self.size.max(self.parameters.population);
        if self.population.is_empty() {
            self.population = self.scouted(evaluator, rng, size)?;
        }
        let mut watch = Stagnation::begin(&self.population, evaluator.evaluations());
        // a population that cannot be built or that produces nothing but duplicates is out of ideas
        let mut idle = 0;
        while evaluator.evaluations() < end && !self.population.is_empty() && idle < 50 {
            let before = evaluator.evaluations();
            self.generation(evaluator, rng, size, watch.stuck(evaluator))?;
            idle = if evaluator.evaluations() == before { idle + 1 } else { 0 };
            watch.note(&self.population, evaluator.evaluations());
            self.climb(evaluator, rng, size, &mut watch)?;
            self.age += evaluator.evaluations() - before;
            self.spent += evaluator.evaluations() - before;
            if self.is_over(&watch, evaluator) {
                size = (size + self.parameters.growth).min(self.parameters.max_population);
                self.age = 0;
                self.begin_anew(evaluator, rng, size)?;
                watch = Stagnation::begin(&self.population, evaluator.evaluations());
            }
        }
        // an attempt that is measured in evaluations goes on in the next slice
        self.size = if matches!(self.parameters.restart, Restart::Every(_)) { size } else { 0 };
        Ok(())
    }
}

/// The best score of a population and since when; and since when its fitness.
struct Stagnation {
    best: Option<Score>,
    since: u64,
    plateau: u64,
}

impl Stagnation {
    fn begin(population: &[Scored], now: u64) -> Stagnation {
        Stagnation { best: population.first().map(|s| s.score.clone()), since: now, plateau: now }
    }
    /// How long nothing has improved: 1 from [`STUCK`] evaluations on.
    fn stuck(&self, evaluator: &Evaluator<'_>) -> f64 {
        ((evaluator.evaluations() - self.since) as f64 / STUCK).min(1.0)
    }
    fn note(&mut self, population: &[Scored], now: u64) {
        let first = population.first().map(|s| &s.score);
        if let (Some(first), Some(best)) = (first, &self.best)
            && first.rank(best) == Ordering::Less
        {
            let plateau = if first.value == best.value { self.plateau } else { now };
            *self = Stagnation { plateau, ..Stagnation::begin(population, now) };
        }
    }
}

impl Genetic<'_> {
    fn is_over(&self, watch: &Stagnation, evaluator: &Evaluator<'_>) -> bool {
        match self.parameters.restart {
            Restart::Never => false,
            Restart::Plateau(limit) => evaluator.evaluations() - watch.plateau > if self.aside.is_empty() { limit } else { FRESH },
            Restart::Every(limit) => self.age >= limit,
        }
    }

    /// Climbs from one of the fittest if the population stands still and the share for it is not spent.
    fn climb(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize, watch: &mut Stagnation) -> Result<(), Stop> {
        if watch.stuck(evaluator) < CLIMB_FROM || !self.climber.may(self.parameters.climb, self.spent) {
            return Ok(());
        }
        let found = self.climber.climb(evaluator, rng, &self.palette, &self.population)?;
        if !found.is_empty() {
            self.population.extend(found);
            sort(&mut self.population);
            self.population.truncate(size);
            watch.note(&self.population, evaluator.evaluations());
        }
        Ok(())
    }

    fn begin_anew(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize) -> Result<(), Stop> {
        if !self.aside.is_empty() {
            self.population.append(&mut self.aside);
            sort(&mut self.population);
            self.population.truncate(size);
            return Ok(());
        }
        if matches!(self.parameters.restart, Restart::Plateau(_)) {
            let fresh = self.scouted(evaluator, rng, size)?;
            self.aside = std::mem::replace(&mut self.population, fresh);
            return Ok(());
        }
        self.population = self.fresh(evaluator, rng, size)?;
        Ok(())
    }

    /// The fittest of a first generation, which is larger where types are not declared.
    fn scouted(&self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize) -> Result<Vec<Scored>, Stop> {
        let first = if self.palette.program.is_dynamic() { size.max(SCOUTS) } else { size };
        let mut population = self.fresh(evaluator, rng, first)?;
        population.truncate(size);
        Ok(population)
    }

    /// Guided initialisation, evaluated and sorted.
    fn fresh(&self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize) -> Result<Vec<Scored>, Stop> {
        let facts = evaluator.facts.clone();
        let context = Context { palette: &self.palette, facts: &facts, policy: &self.policy };
        let mut tests = Vec::with_capacity(size);
        for _ in 0..size {
            let grown = match rng.pick(&self.seeds) {
                Some(seed) if rng.chance(self.parameters.from_seeds) => init::from_seed(&context, rng, seed),
                _ => None,
            };
            tests.extend(grown.or_else(|| init::guided(&context, rng, self.parameters.max_initial)));
        }
        let mut population = evaluator.evaluate(tests)?;
        sort(&mut population);
        Ok(population)
    }

    /// One generation: as many offspring as parents, then the survivors are chosen. `stuck` says how long nothing has improved, up to 1.
    fn generation(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize, stuck: f64) -> Result<(), Stop> {
        evaluator.tally.generations += 1;
        let facts = evaluator.facts.clone();
        let (palette, policy) = (self.palette.clone(), self.policy.clone());
        let context = Context { palette: &palette, facts: &facts, policy: &policy };
        let mut offspring: Vec<TestCase> = Vec::with_capacity(size);
        let mut parents = Vec::with_capacity(size / 2);
        let discovered = evaluator.novelty.fetch(evaluator.level());
        self.archive.add(discovered, rng);
        while offspring.len() < size {
            let (i, j) = (self.select(rng), self.select(rng));
            let (a, b) = (self.parent(rng, i, stuck), self.parent(rng, j, stuck));
            let (c, d) = if rng.chance(self.parameters.crossover) { crossover::apply(&context, rng, &a, &b) } else { (a, b) };
            for child in [c, d] {
                offspring.push(mutate(&context, rng, &child).unwrap_or(child));
            }
            parents.push((i, j));
        }
        match self.parameters.replacement {
            Replacement::MuPlusLambda => {
                let mut scored = evaluator.evaluate(offspring)?;
                // newer ones first among equals: where nothing tells the way, the population wanders instead of standing still
                std::mem::swap(&mut scored, &mut self.population);
                self.population.extend(scored);
            }
            Replacement::Monotonic { elite } => {
                let scored = evaluator.evaluate(offspring.clone())?;
                let pairs: Vec<[TestCase; 2]> = offspring.chunks_exact(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
                self.population = monotonic(&self.population, elite, &parents, &pairs, scored);
            }
        }
        sort(&mut self.population);
        self.population.truncate(size);
        Ok(())
    }

    /// The individual at `i`, or a discovery in its place.
    fn parent(&mut self, rng: &mut Rng, i: usize, stuck: f64) -> TestCase {
        let discovery = if rng.chance(self.parameters.discoveries * stuck) { self.archive.draw(rng) } else { None };
        discovery.unwrap_or_else(|| self.population[i].test.clone())
    }

    fn select(&self, rng: &mut Rng) -> usize {
        selection::rank(rng, self.population.len(), self.parameters.bias)
    }
}

/// EVO-12: each pair of offspring replaces its parents if its better one is not worse than the better of them. What could not be evaluated any more
/// (the budget ended within the batch) is not there.
fn monotonic(population: &[Scored], elite: usize, parents: &[(usize, usize)], pairs: &[[TestCase; 2]], scored: Vec<Scored>) -> Vec<Scored> {
    let mut next: Vec<Scored> = population[..elite.min(population.len())].to_vec();
    let find = |test: &TestCase| scored.iter().find(|s| s.test == *test);
    for ((i, j), [c, d]) in parents.iter().zip(pairs) {
        let before = better(&population[*i], &population[*j]);
        match (find(c), find(d)) {
            (Some(c), Some(d)) if better(c, d).score.rank(&before.score) != Ordering::Greater => next.extend([c.clone(), d.clone()]),
            _ => next.extend([population[*i].clone(), population[*j].clone()]),
        }
    }
    next
}

fn better<'s>(a: &'s Scored, b: &'s Scored) -> &'s Scored {
    if b.score.rank(&a.score) == Ordering::Less { b } else { a }
}

/// Best first; among equals the shorter, then those that came first: the sort is stable. Duplicates go.
fn sort(population: &mut Vec<Scored>) {
    population.sort_by(|a, b| a.score.cmp(&b.score).then(a.test.len().cmp(&b.test.len())));
    for group in population.chunk_by_mut(|a, b| a.score == b.score) {
        by_blocks(group);
        obstacle::arrange(group, |s| s.score.obstacle);
    }
    let mut seen = rustc_hash::FxHashSet::default();
    population.retain(|s| seen.insert(s.test.clone()));
}

/// Insertion, because the paper's comparison of blocks is not transitive, which a sort may answer with a panic.
fn by_blocks(group: &mut [Scored]) {
    if group.first().is_none_or(|s| s.score.blocks.is_none()) {
        return;
    }
    for i in 1..group.len() {
        let place = (0..i).rev().take_while(|j| group[i].score.rank(&group[*j].score) == Ordering::Less).last();
        if let Some(place) = place {
            group[place..=i].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{Stmt, Value};

    fn scored(name: i32, value: f64) -> Scored {
        let mut test = TestCase::default();
        test.push(Stmt::Lit(Value::Int(name)));
        Scored { test, score: Score { value, missing: 0, blocks: None, obstacle: None, met: false } }
    }

    #[test]
    fn a_plateau_of_the_fitness_lasts_while_only_the_second_objective_improves() {
        let of = |value: f64, missing: u32| {
            let mut one = scored(1, value);
            one.score.missing = missing;
            [one]
        };
        let mut watch = Stagnation::begin(&of(0.5, 9), 10);
        watch.note(&of(0.5, 7), 20);
        assert_eq!((watch.since, watch.plateau), (20, 10));
        watch.note(&of(0.5, 7), 30);
        assert_eq!((watch.since, watch.plateau), (20, 10), "nothing improved");
        watch.note(&of(0.4, 8), 40);
        assert_eq!((watch.since, watch.plateau), (40, 40));
    }

    /// EVO-12: the elite stays; a pair that is not worse replaces its parents, ties go to the children, a worse pair or one that was not evaluated
    /// does not.
    #[test]
    fn evo_12_a_pair_of_offspring_replaces_its_parents_unless_it_is_worse() {
        let population = [scored(1, 1.0), scored(2, 2.0), scored(3, 3.0)];
        let children = [scored(10, 2.0), scored(11, 9.0), scored(12, 4.0), scored(13, 3.5)];
        let pair = |a: usize, b: usize| [children[a].test.clone(), children[b].test.clone()];
        let parents = [(1, 2), (1, 2), (0, 1)];
        let lost = [scored(20, 0.0).test, scored(21, 0.0).test];
        let next = monotonic(&population, 1, &parents, &[pair(0, 1), pair(2, 3), lost], children.to_vec());
        let values: Vec<f64> = next.iter().map(|s| s.score.value).collect();
        assert_eq!(values, [1.0, 2.0, 9.0, 2.0, 3.0, 1.0, 2.0]);
    }
}
