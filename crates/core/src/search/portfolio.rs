//! Which frame is pursued, for how long: inner frames first, then outwards from the highest success, all under one budget (architecture §13).

use std::rc::Rc;

use super::beacon;
use super::genetic::{Genetic, Parameters};
use super::targets::{BuildRules, palette};
use super::{Engine, Evaluator, Stop};
use crate::program::Program;
use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::{Palette, Policy};

/// How the levels share the budget, in evaluations.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The first slice of a level; later ones double.
    pub first_slice: u64,
    pub parameters: Parameters,
    pub policy: Policy,
    /// The level asked for; all up to the outermost otherwise.
    pub target: Option<usize>,
    /// Beacon's engine instead, for a hunt.
    pub beacon: Option<beacon::Settings>,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule { first_slice: 4000, parameters: Parameters::default(), policy: Policy::default(), target: None, beacon: None }
    }
}

/// Searches until the wanted level is met or something stops it; what was found stands in the evaluator.
pub fn run(evaluator: &mut Evaluator<'_>, program: &Program, rules: &BuildRules, schedule: &Schedule, seed: u64) -> Stop {
    if let Some(settings) = &schedule.beacon {
        return beacon::run(evaluator, program, settings, seed);
    }
    let wanted = schedule.target.unwrap_or(evaluator.goal.outermost()).min(evaluator.goal.outermost());
    let mut rng = Rng::stream(seed, "portfolio");
    // built when a level is first pursued: a deep trace rarely needs all of them
    let mut engines: Vec<Option<Genetic<'_>>> = (0..wanted).map(|_| None).collect();
    let mut slice = schedule.first_slice;
    loop {
        let mut moved = false;
        for (level, share) in round(wanted, program.is_dynamic()) {
            if level <= evaluator.reached() {
                continue;
            }
            let engine = engines[level - 1].get_or_insert_with(|| engine(palette(program, evaluator.goal, level, rules), schedule));
            if engine.palette.targets.is_empty() {
                continue;
            }
            moved = true;
            engine.slice = (slice as f64 * share) as u64;
            engine.seeds = seeds(evaluator);
            evaluator.pursue(level, "genetic");
            match engine.search(evaluator, &mut rng) {
                Ok(()) => {}
                Err(Stop::Reproduced) if evaluator.reached() < wanted => {}
                Err(stop) => return stop,
            }
        }
        if !moved {
            // everything that can be called is met, or nothing can be called at all
            return if evaluator.reached() > 0 { Stop::Reproduced } else { Stop::BudgetSpent };
        }
        slice = slice.saturating_mul(2);
    }
}

/// The levels of one round with their share of a slice: inner frames first, because they are quickly met. Without declared types it is the other way
/// round: an inner frame wants objects that have to be guessed, while the outermost mostly takes text or plain data; and what is executed there is
/// scored for every frame.
fn round(wanted: usize, dynamic: bool) -> Vec<(usize, f64)> {
    match dynamic {
        false => (1..=wanted).map(|level| (level, 1.0)).collect(),
        true => std::iter::once((wanted, 1.0)).chain((1..wanted).map(|level| (level, INNER_SHARE))).collect(),
    }
}

/// What an inner level gets beside the outermost.
const INNER_SHARE: f64 = 0.12;

fn engine<'p>(palette: Palette<'p>, schedule: &Schedule) -> Genetic<'p> {
    let (policy, parameters) = (schedule.policy.clone(), schedule.parameters.clone());
    Genetic { palette: Rc::new(palette), policy, parameters, seeds: Vec::new(), slice: 0, population: Vec::new(), size: 0, age: 0 }
}

fn seeds(evaluator: &Evaluator<'_>) -> Vec<TestCase> {
    evaluator.found().map(|f| f.test.clone()).into_iter().collect()
}
