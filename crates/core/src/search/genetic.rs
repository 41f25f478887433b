//! The guided genetic algorithm (EVO-11 … EVO-23): every individual calls into the target frame, and no operator loses that call.

pub mod init;
pub mod selection;

use std::rc::Rc;

use super::{Engine, Evaluator, Scored, Stop};
use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::{Palette, Policy};
use crate::testcase::vary::{Context, crossover, mutate};

/// Parameters; the defaults are EvoCrash's (EVO-22, EVO-23) but for restarts, which count evaluations instead of minutes.
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
    /// Restart after so many evaluations without improvement.
    pub stagnation: u64,
    /// Longest test made by initialisation.
    pub max_initial: usize,
    /// Best individuals that survive a restart.
    pub keep: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { population: 50, growth: 25, max_population: 300, crossover: 0.75, bias: 1.7, stagnation: 3000, max_initial: 12, keep: 2 }
    }
}

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
}

impl Engine for Genetic<'_> {
    fn name(&self) -> &'static str {
        "genetic"
    }

    fn search(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng) -> Result<(), Stop> {
        let end = evaluator.evaluations() + self.slice;
        let mut size = self.parameters.population;
        if self.population.is_empty() {
            self.population = self.fresh(evaluator, rng, size, Vec::new())?;
        }
        let mut best = (self.population.first().map(|s| s.score.clone()), evaluator.evaluations());
        // a population that cannot be built or that produces nothing but duplicates is out of ideas
        let mut idle = 0;
        while evaluator.evaluations() < end && !self.population.is_empty() && idle < 50 {
            let before = evaluator.evaluations();
            self.generation(evaluator, rng, size)?;
            idle = if evaluator.evaluations() == before { idle + 1 } else { 0 };
            let now = self.population.first().map(|s| s.score.clone());
            if now < best.0 {
                best = (now, evaluator.evaluations());
            } else if evaluator.evaluations() - best.1 > self.parameters.stagnation {
                size = (size + self.parameters.growth).min(self.parameters.max_population);
                let kept = self.population.drain(..self.parameters.keep.min(self.population.len())).collect();
                self.population = self.fresh(evaluator, rng, size, kept)?;
                best = (self.population.first().map(|s| s.score.clone()), evaluator.evaluations());
            }
        }
        Ok(())
    }
}

impl Genetic<'_> {
    /// Guided initialisation, evaluated and sorted.
    fn fresh(&self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize, kept: Vec<Scored>) -> Result<Vec<Scored>, Stop> {
        let facts = evaluator.facts.clone();
        let context = Context { palette: &self.palette, facts: &facts, policy: &self.policy };
        let mut tests = Vec::with_capacity(size);
        for _ in 0..size.saturating_sub(kept.len()) {
            let made = match rng.pick(&self.seeds) {
                Some(seed) if rng.chance(0.4) => init::from_seed(&context, rng, seed),
                _ => init::guided(&context, rng, self.parameters.max_initial),
            };
            tests.extend(made);
        }
        let mut population = kept;
        population.extend(evaluator.evaluate(tests)?);
        sort(&mut population);
        Ok(population)
    }

    /// One generation: as many offspring as parents, the fittest of both survive (µ+λ).
    fn generation(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng, size: usize) -> Result<(), Stop> {
        let facts = evaluator.facts.clone();
        let context = Context { palette: &self.palette, facts: &facts, policy: &self.policy };
        let mut offspring: Vec<TestCase> = Vec::with_capacity(size);
        while offspring.len() < size {
            let a = &self.population[selection::rank(rng, self.population.len(), self.parameters.bias)].test;
            let b = &self.population[selection::rank(rng, self.population.len(), self.parameters.bias)].test;
            let (c, d) = if rng.chance(self.parameters.crossover) { crossover::apply(&context, rng, a, b) } else { (a.clone(), b.clone()) };
            for child in [c, d] {
                offspring.push(mutate(&context, rng, &child).unwrap_or(child));
            }
        }
        let scored = evaluator.evaluate(offspring)?;
        self.population.extend(scored);
        sort(&mut self.population);
        self.population.truncate(size);
        Ok(())
    }
}

/// Best first; among equals the shorter, then the newer would do as well as the older, so the sort is stable. Duplicates go.
fn sort(population: &mut Vec<Scored>) {
    population.sort_by(|a, b| a.score.cmp(&b.score).then(a.test.len().cmp(&b.test.len())));
    let mut seen = rustc_hash::FxHashSet::default();
    population.retain(|s| seen.insert(s.test.clone()));
}
