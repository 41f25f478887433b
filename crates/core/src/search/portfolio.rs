//! Which frame is pursued, for how long: inner frames first, then outwards from the highest success, all under one budget (architecture §13).

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::beacon;
use super::climb::Climber;
use super::genetic::{Genetic, Parameters};
use super::novelty::Archive;
use super::targets::{BuildRules, palette_at};
use super::{Engine, Evaluator, Stop};
use crate::goal::CrashGoal;
use crate::program::{Program, Ty};
use crate::rng::Rng;
use crate::testcase::TestCase;
use crate::testcase::build::{Palette, Policy};
use crate::testcase::validity::check;

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
    if !schedule.policy.follows {
        evaluator.leave_history();
    }
    if let Some(settings) = &schedule.beacon {
        return beacon::run(evaluator, program, settings, seed);
    }
    let wanted = schedule.target.unwrap_or(evaluator.goal.outermost()).min(evaluator.goal.outermost());
    let mut rng = Rng::stream(seed, "portfolio");
    // built when a level is first pursued: a deep trace rarely needs all of them
    let mut engines: Vec<Option<Pursuit<'_>>> = (0..wanted).map(|_| None).collect();
    let mut slice = first_slice(program, wanted, schedule);
    loop {
        let mut moved = false;
        for (level, share) in round(program, evaluator.goal, evaluator.reached(), wanted) {
            if level <= evaluator.reached() {
                continue;
            }
            let mut pursuit = engines[level - 1].take().unwrap_or_else(|| pursuit(program, evaluator.goal, (level, level), rules, schedule));
            if let Some(moved) = at_home(&pursuit, program, evaluator, level, rules, schedule) {
                pursuit = moved;
            }
            let (home, engine) = engines[level - 1].insert(pursuit);
            if engine.palette.targets.is_empty() {
                continue;
            }
            moved = true;
            engine.slice = (slice as f64 * share) as u64;
            engine.seeds = seeds(evaluator);
            evaluator.pursue(level, "genetic");
            evaluator.live_in(*home);
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

/// Without declared types the outermost level comes first, and some programs are so slow that it would be the only one.
fn first_slice(program: &Program, wanted: usize, schedule: &Schedule) -> u64 {
    if program.is_dynamic() && wanted > 1 { schedule.first_slice * 3 / 8 } else { schedule.first_slice }
}

/// The levels of one round with their share of a slice: inner frames first, because they are quickly met; the outermost right after the first of them if
/// it takes text or the like, where the others may want objects: what is executed there is scored for every frame. Without declared types it comes
/// before all others: their objects would have to be guessed. A runaway recursion goes through the same methods again and again: each counts once.
fn round(program: &Program, goal: &CrashGoal, reached: usize, wanted: usize) -> Vec<(usize, f64)> {
    let mut entered = FxHashSet::default();
    let mut levels: Vec<usize> = (1..=wanted).filter(|l| !goal.overflow || entered.insert((goal.frame(*l).class, &goal.frame(*l).frame.method))).collect();
    levels.retain(|l| *l > reached);
    if program.is_dynamic() {
        let outermost = levels.pop().map(|l| (l, 1.0));
        return outermost.into_iter().chain(levels.into_iter().map(|l| (l, INNER_SHARE))).collect();
    }
    if levels.len() > 2
        && takes_text(program, goal, wanted)
        && let Some(outermost) = levels.pop()
    {
        levels.insert(1, outermost);
        return levels.into_iter().enumerate().map(|(i, l)| (l, if i < 2 { 1.0 } else { BETWEEN_SHARE })).collect();
    }
    levels.into_iter().map(|l| (l, 1.0)).collect()
}

/// Whether the frame's method takes a text, a stream or an array of small things: what a whole input comes in.
fn takes_text(program: &Program, goal: &CrashGoal, level: usize) -> bool {
    let (string, object) = (program.well_known().string, program.well_known().object);
    let plain =
        |ty: &Ty| *ty == string || ty.element().is_some_and(|e| e.as_ref().is_none()) || ty.as_ref().is_some_and(|t| program.ty(t).platform && *ty != object);
    goal.frame(level).methods.iter().any(|m| program.signature(*m).params.iter().any(plain))
}

/// What a level between the next one and an outermost that takes text gets: what is tried out there may meet it as well.
const BETWEEN_SHARE: f64 = 0.3;
/// What an inner level gets beside the outermost.
const INNER_SHARE: f64 = 0.12;

/// An engine for a level and the frame whose package its tests live in.
type Pursuit<'p> = (usize, Genetic<'p>);

fn pursuit<'p>(program: &'p Program, goal: &CrashGoal, at: (usize, usize), rules: &BuildRules, schedule: &Schedule) -> Pursuit<'p> {
    let mut engine = engine(palette_at(program, goal, at, rules), schedule);
    if goal.overflow {
        // by what contains itself
        engine.policy.itself = 1.0;
    }
    (at.1, engine)
}

/// Where an inner level was met by members that only its own package sees, this level is tried from there too: what made it crash is lost elsewhere.
fn at_home<'p>(
    pursuit: &Pursuit<'p>,
    program: &'p Program,
    evaluator: &Evaluator<'_>,
    level: usize,
    rules: &BuildRules,
    schedule: &Schedule,
) -> Option<Pursuit<'p>> {
    let found = evaluator.found()?;
    if found.home == pursuit.0 || check(program, &pursuit.1.palette.scope, &found.test).is_ok() {
        return None;
    }
    let moved = self::pursuit(program, evaluator.goal, (level, found.home), rules, schedule);
    (!moved.1.palette.targets.is_empty()).then_some(moved)
}

fn engine<'p>(palette: Palette<'p>, schedule: &Schedule) -> Genetic<'p> {
    let (policy, parameters) = (schedule.policy.clone(), schedule.parameters.clone());
    Genetic {
        palette: Rc::new(palette),
        policy,
        parameters,
        seeds: Vec::new(),
        slice: 0,
        population: Vec::new(),
        size: 0,
        age: 0,
        archive: Archive::default(),
        aside: Vec::new(),
        climber: Climber::default(),
        spent: 0,
    }
}

fn seeds(evaluator: &Evaluator<'_>) -> Vec<TestCase> {
    evaluator.found().map(|f| f.test.clone()).into_iter().collect()
}
