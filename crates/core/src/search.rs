//! The heart of every search: the [`Evaluator`], through which each execution passes, and what engines see of it.
//!
//! It deduplicates, counts the budget, scores, keeps the best, teaches [`facts::Facts`], emits events and ends the search at once when the goal is
//! met. An engine cannot miss a reproduction, overrun a budget or lie in statistics. Two doors: [`Evaluator::evaluate`] for engines,
//! [`Evaluator::holds`] for the minimiser.

pub mod beacon;
pub mod blocked;
pub mod climb;
pub mod facts;
pub mod genetic;
pub mod grt;
pub mod history;
pub mod novelty;
pub mod portfolio;
pub mod presets;
pub mod targets;

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{Execution, Outcome, Seen};
use crate::goal::CrashGoal;
use crate::objective::{Objective, Score};
use crate::rng::Rng;
use crate::target::{Session, SessionLost};
use crate::testcase::TestCase;
use crate::trace::{Throwable, Via, is_exhaustion, is_recursion};
use blocked::Blocked;
use facts::Facts;
use history::History;
use novelty::Novelty;

/// Why a search ended early; the only way it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The level that is pursued is met.
    Reproduced,
    BudgetSpent,
    Cancelled,
    SessionLost(String),
}

impl From<SessionLost> for Stop {
    fn from(lost: SessionLost) -> Stop {
        Stop::SessionLost(lost.0)
    }
}

/// What the outside world allows: the clock and the user enter the search only here.
pub trait Limits {
    fn time_is_up(&self) -> bool;
    fn cancelled(&self) -> bool;
}

/// All that a user interface ever sees of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A level is pursued by an engine.
    Pursuing {
        level: usize,
        engine: &'static str,
    },
    /// The best score improved.
    Improved {
        level: usize,
        score: f64,
        evaluations: u64,
    },
    /// The goal is met at `level` in a worker that had run nothing before.
    Reached {
        level: usize,
        evaluations: u64,
    },
    /// After each batch.
    Progress {
        evaluations: u64,
        reached: usize,
        best: f64,
    },
    Minimizing {
        statements: usize,
    },
}

/// A test that meets the goal.
#[derive(Debug, Clone)]
pub struct Found {
    pub level: usize,
    /// The frame whose package the test lives in, from 1.
    pub home: usize,
    pub test: TestCase,
    pub via: Via,
    pub refused: Vec<String>,
    /// Evaluations when it was found.
    pub evaluations: u64,
}

/// A scored test.
#[derive(Debug, Clone)]
pub struct Scored {
    pub test: TestCase,
    pub score: Score,
}

/// How often each outcome occurred.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub normal: u64,
    pub thrown: u64,
    pub invalid: u64,
    pub step_limit: u64,
    pub time_limit: u64,
    pub exit: u64,
    pub died: u64,
    /// Refused by the jail, with counts.
    pub refused: Vec<(String, u64)>,
    /// Other crashes met on the way, by exception and innermost program frame.
    pub crashes: Vec<(String, u64)>,
    /// By frame, innermost first: executions that reached its line.
    pub frames: Vec<u64>,
    /// Exceptions met anywhere in a chain, each with the first few of its messages.
    pub messages: Vec<(String, Vec<String>)>,
    /// What stands in the way, by level from 1.
    pub blocked: Vec<Blocked>,
    /// Generations after the first.
    pub generations: u64,
}

/// What an engine is: a way to choose the next tests.
pub trait Engine {
    fn name(&self) -> &'static str;
    /// Ends by `Stop`; `Ok(())` means it ran out of ideas.
    fn search(&mut self, evaluator: &mut Evaluator<'_>, rng: &mut Rng) -> Result<(), Stop>;
}

/// What an evaluator needs; see [`Evaluator::new`].
pub struct Setup<'a> {
    pub session: &'a mut dyn Session,
    pub goal: &'a CrashGoal,
    pub objective: Objective,
    pub limits: &'a dyn Limits,
    pub max_evaluations: u64,
    pub events: &'a mut dyn FnMut(Event),
}

/// See the module documentation.
pub struct Evaluator<'a> {
    session: &'a mut dyn Session,
    pub goal: &'a CrashGoal,
    objective: Objective,
    limits: &'a dyn Limits,
    max_evaluations: u64,
    events: &'a mut dyn FnMut(Event),
    pub facts: Facts,
    pub tally: Tally,
    pub novelty: Novelty,
    level: usize,
    /// The frame whose package the tests live in.
    home: usize,
    evaluations: u64,
    best: Option<Scored>,
    /// By the test's hash: 64 bits keep a few hundred thousand tests apart.
    known: FxHashMap<u64, Score>,
    /// Each further out than the one before.
    found: Vec<Found>,
    /// Hashes of tests that fresh processes refuted.
    refuted: FxHashSet<u64>,
    /// Hits looked at again after the time was up.
    late: u32,
    history: History,
    /// By the test's hash, the statement that threw; only for engines that ask.
    ends: Option<FxHashMap<u64, u32>>,
}

/// What became of an execution that may have met the goal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// A worker that has run nothing before shows something else.
    Refuted,
    /// Met, but further in than is pursued.
    Inner,
    Enough,
}

/// The score of a test that met the goal only in a worker with a history: as bad as one that throws nothing.
const REFUTED: f64 = 2.0;

/// How much worse a test counts that did not end by itself, or only because there was no more memory: a frame.
const HUNG: f64 = 1.0;

/// Hits that are looked at again after the time was up: their time is the tail's.
const MAX_LATE: u32 = 2;

/// Scores remembered for duplicates; beyond it the memory is emptied, which only costs repeated executions.
const MAX_KNOWN: usize = 200_000;

impl<'a> Evaluator<'a> {
    pub fn new(setup: Setup<'a>) -> Evaluator<'a> {
        let Setup { session, goal, objective, limits, max_evaluations, events } = setup;
        Evaluator {
            session,
            goal,
            objective,
            limits,
            max_evaluations,
            events,
            facts: Facts::default(),
            tally: Tally::default(),
            novelty: Novelty::default(),
            level: 1,
            home: 1,
            evaluations: 0,
            best: None,
            known: FxHashMap::default(),
            found: Vec::new(),
            refuted: FxHashSet::default(),
            late: 0,
            history: History::default(),
            ends: None,
        }
    }

    /// From now on, [`Evaluator::end_of`] knows.
    pub fn remember_ends(&mut self) {
        self.ends = Some(FxHashMap::default());
    }
    /// From now on, hits that only a worker's history made possible are set aside and nothing more.
    pub fn leave_history(&mut self) {
        self.history.close();
    }
    /// The statement at which a test that was evaluated threw.
    pub fn end_of(&self, test: &TestCase) -> Option<u32> {
        self.ends.as_ref()?.get(&key(test)).copied()
    }

    /// Scores from now on are those of `level`.
    pub fn pursue(&mut self, level: usize, engine: &'static str) {
        if self.level != level {
            self.known.clear();
            self.best = None;
        }
        (self.level, self.home) = (level, level);
        (self.events)(Event::Pursuing { level, engine });
    }
    /// Tests from now on live in the package of this frame; unless it is said, in that of the level's.
    pub fn live_in(&mut self, home: usize) {
        self.home = home;
    }
    pub fn level(&self) -> usize {
        self.level
    }
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
    /// The outermost level met so far; 0 if none.
    pub fn reached(&self) -> usize {
        self.found.last().map_or(0, |f| f.level)
    }
    pub fn found(&self) -> Option<&Found> {
        self.found.last()
    }
    /// All that met the goal at some level, each further out than the one before.
    pub fn all_found(&self) -> &[Found] {
        &self.found
    }
    /// Sets aside the outermost test found, which fresh processes do not confirm, under all the forms it was tried in: none of them counts again.
    pub fn refute(&mut self, forms: &[TestCase]) {
        self.found.pop();
        self.refuted.extend(forms.iter().map(key));
    }
    /// The best test for the level that is pursued.
    pub fn best(&self) -> Option<&Scored> {
        self.best.as_ref()
    }
    pub fn emit(&mut self, event: Event) {
        (self.events)(event);
    }

    fn check_limits(&self) -> Result<(), Stop> {
        if self.limits.cancelled() {
            return Err(Stop::Cancelled);
        }
        if self.evaluations >= self.max_evaluations || self.limits.time_is_up() {
            return Err(Stop::BudgetSpent);
        }
        Ok(())
    }

    /// Executes and scores; results in the order of `batch`. A duplicate costs nothing and counts nothing.
    pub fn evaluate(&mut self, batch: Vec<TestCase>) -> Result<Vec<Scored>, Stop> {
        self.check_limits()?;
        let mut fresh: Vec<TestCase> = Vec::new();
        for test in &batch {
            if !self.known.contains_key(&key(test)) && !fresh.contains(test) {
                fresh.push(test.clone());
            }
        }
        let room = (self.max_evaluations - self.evaluations).min(fresh.len() as u64) as usize;
        fresh.truncate(room);
        let executions = self.executed(&fresh)?;
        for (test, execution) in fresh.iter().zip(&executions) {
            self.take_in(test, execution)?;
        }
        let best = self.best.as_ref().map_or(f64::INFINITY, |b| b.score.value);
        let reached = self.reached();
        (self.events)(Event::Progress { evaluations: self.evaluations, reached, best });
        Ok(batch.into_iter().filter_map(|test| self.known.get(&key(&test)).cloned().map(|score| Scored { test, score })).collect())
    }

    /// An initialiser runs once in a process, so tests that aim at one each have their own. What the limits leave no room for has no result.
    fn executed(&mut self, tests: &[TestCase]) -> Result<Vec<Execution>, Stop> {
        if !self.goal.is_first_use(self.level) {
            return Ok(self.session.execute(tests)?);
        }
        let mut executions = Vec::new();
        for test in tests {
            if self.check_limits().is_err() {
                break;
            }
            executions.push(self.session.execute_pristine(test)?);
            if self.goal.met_by(self.level, &executions[executions.len() - 1]).is_some() {
                break;
            }
        }
        Ok(executions)
    }

    fn take_in(&mut self, test: &TestCase, execution: &Execution) -> Result<(), Stop> {
        self.evaluations += 1;
        if let (Some(ends), Some((at, _))) = (&mut self.ends, execution.thrown()) {
            ends.insert(key(test), at);
        }
        self.facts.learn(test, execution);
        let crash = execution.thrown().and_then(|(_, chain)| chain.first()).map(place_of);
        // where the stack was full is chance
        let place = crash.as_deref().filter(|place| !place.split(' ').next().is_some_and(is_recursion));
        self.novelty.note(self.level, test, execution, place);
        self.count(execution, crash);
        self.objective.count_frames(execution, &mut self.tally.frames);
        self.tally.blocked.resize_with(self.goal.outermost(), Blocked::default);
        self.tally.blocked[self.level - 1].count(&self.objective, self.goal, self.level, execution);
        let mut score = self.objective.score(self.goal, self.level, execution);
        let kept = self.keep_if_met(test, execution)?;
        self.history.note(test, execution);
        if matches!(execution.outcome, Outcome::StepLimit { .. } | Outcome::TimeLimit { .. }) || (!score.met && self.exhausts(execution)) {
            // its children would hang as well, and one of them takes as long as a hundred others
            score.value += HUNG;
        }
        if score.met && kept == Kept::Refuted {
            // what only the worker's history made possible must not lead the population
            score = Score { value: REFUTED, met: false, ..score };
        }
        if self.best.as_ref().is_none_or(|b| score.rank(&b.score) == std::cmp::Ordering::Less) {
            self.best = Some(Scored { test: test.clone(), score: score.clone() });
            (self.events)(Event::Improved { level: self.level, score: score.value, evaluations: self.evaluations });
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(key(test), score);
        if matches!(kept, Kept::Inner | Kept::Enough) {
            let level = self.reached();
            (self.events)(Event::Reached { level, evaluations: self.evaluations });
        }
        if kept == Kept::Enough { Err(Stop::Reproduced) } else { Ok(()) }
    }

    /// A hit counts only if a worker that has run nothing before shows it too.
    fn keep_if_met(&mut self, test: &TestCase, execution: &Execution) -> Result<Kept, Stop> {
        let level = execution.thrown().map_or(0, |(_, chain)| self.goal.level_of(chain));
        if level <= self.reached() {
            return Ok(Kept::Nothing);
        }
        if self.limits.time_is_up() {
            // a batch may end with many hits, and a worker that has run nothing takes as long to start as the rest of the batch
            if self.late == MAX_LATE {
                return Ok(Kept::Nothing);
            }
            self.late += 1;
        }
        let again = self.session.execute_pristine(test)?;
        if self.is_new_hit(&again) {
            return Ok(self.keep(test, &again));
        }
        let Some(joined) = self.joined_with_history(test)? else { return Ok(Kept::Refuted) };
        let again = self.session.execute_pristine(&joined)?;
        Ok(if self.is_new_hit(&again) { self.keep(&joined, &again) } else { Kept::Refuted })
    }

    /// Whether it is further out than all before.
    fn is_new_hit(&self, execution: &Execution) -> bool {
        execution.thrown().is_some_and(|(_, chain)| self.goal.level_of(chain) > self.reached())
    }

    /// A hit that comes only after other tests, with the one of them that it needs. What is replayed counts like any execution. All workers are new
    /// afterwards: what was left behind would mislead the search.
    fn joined_with_history(&mut self, test: &TestCase) -> Result<Option<TestCase>, Stop> {
        if self.limits.time_is_up() || !self.history.enquire() {
            return Ok(None);
        }
        let mut history = std::mem::take(&mut self.history);
        let joined = history.joined(test, |before| {
            self.check_limits()?;
            let tests = [before, std::slice::from_ref(test)].concat();
            if self.evaluations + tests.len() as u64 > self.max_evaluations {
                return Ok(false);
            }
            self.evaluations += tests.len() as u64;
            let executions = self.session.replay(&tests)?;
            Ok(executions.len() == tests.len() && executions.last().is_some_and(|e| self.is_new_hit(e)))
        });
        self.history = history;
        self.session.renew();
        joined
    }

    fn keep(&mut self, test: &TestCase, again: &Execution) -> Kept {
        let Some((at, chain)) = again.thrown() else { return Kept::Refuted };
        let level = self.goal.level_of(chain);
        let Some(via) = self.goal.met_by(level, again) else { return Kept::Refuted };
        if self.is_refusal(again) {
            return Kept::Refuted;
        }
        let test = test.prefix(at as usize + 1);
        if self.refuted.contains(&key(&test)) {
            return Kept::Refuted;
        }
        self.facts.remember(&test);
        self.found.push(Found { level, home: self.home, test, via, refused: again.refused.clone(), evaluations: self.evaluations });
        if level >= self.level { Kept::Enough } else { Kept::Inner }
    }

    /// Whether the test filled the memory, where the log tells of no such thing.
    fn exhausts(&self, execution: &Execution) -> bool {
        !is_exhaustion(&self.goal.exception) && execution.thrown().is_some_and(|(_, chain)| chain.iter().any(|t| is_exhaustion(&t.exception)))
    }

    /// An exception that is itself the jail's refusal is not a reproduction, unless the log tells of one too.
    fn is_refusal(&self, execution: &Execution) -> bool {
        let Some((_, chain)) = execution.thrown() else { return false };
        let wanted = chain.iter().filter(|t| t.exception == self.goal.exception).filter_map(|t| t.message.as_deref());
        let mut refused = wanted.filter(|m| execution.refused.iter().any(|r| r.ends_with(m)));
        refused.any(|m| self.goal.message.as_deref() != Some(m))
    }

    fn count(&mut self, execution: &Execution, crash: Option<String>) {
        let tally = &mut self.tally;
        match &execution.outcome {
            Outcome::Normal => tally.normal += 1,
            Outcome::Thrown { chain, .. } => {
                tally.thrown += 1;
                crash.into_iter().for_each(|place| bump(&mut tally.crashes, place));
                chain.iter().for_each(|thrown| keep_message(&mut tally.messages, thrown));
            }
            Outcome::Invalid { .. } => tally.invalid += 1,
            Outcome::StepLimit { .. } => tally.step_limit += 1,
            Outcome::TimeLimit { .. } => tally.time_limit += 1,
            Outcome::Exit { .. } => tally.exit += 1,
            Outcome::Died { .. } => tally.died += 1,
        }
        for refused in &execution.refused {
            bump(&mut tally.refused, refused.clone());
        }
    }

    /// Whether the test meets the goal at `level`, and at which statement. Counted like any execution; for the minimiser, whose time is reserved, so
    /// only the user's cancellation stops it.
    pub fn holds(&mut self, test: &TestCase, level: usize, pristine: bool) -> Result<Option<u32>, Stop> {
        if self.limits.cancelled() {
            return Err(Stop::Cancelled);
        }
        let execution = if pristine || self.goal.is_first_use(level) {
            Some(self.session.execute_pristine(test)?)
        } else {
            self.session.execute(std::slice::from_ref(test))?.pop()
        };
        self.evaluations += 1;
        let Some(execution) = execution else {
            return Ok(None);
        };
        let met = self.goal.met_by(level, &execution).is_some();
        Ok(execution.thrown().filter(|_| met).map(|(at, _)| at))
    }

    /// What comparisons see while the test runs. Counted like any execution.
    pub fn seen_by(&mut self, test: &TestCase) -> Result<Vec<Seen>, Stop> {
        self.check_limits()?;
        self.evaluations += 1;
        Ok(self.executed(std::slice::from_ref(test))?.pop().map(|e| e.seen).unwrap_or_default())
    }

    /// What the test throws in a worker that has run nothing before; nothing if it ends otherwise.
    pub fn thrown_by(&mut self, test: &TestCase) -> Result<Vec<Throwable>, Stop> {
        let execution = self.session.execute_pristine(test)?;
        Ok(execution.thrown().map(|(_, chain)| chain.to_vec()).unwrap_or_default())
    }

    /// Whether the goal is met at `level`, pristine: the last word before rendering.
    pub fn holds_pristine(&mut self, test: &TestCase, level: usize) -> Result<bool, Stop> {
        let execution = self.session.execute_pristine(test)?;
        Ok(self.goal.met_by(level, &execution).is_some())
    }
}

fn key(test: &TestCase) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    test.hash(&mut hasher);
    hasher.finish()
}

/// `Exception at a.B.c:7`, by the innermost program frame.
fn place_of(thrown: &Throwable) -> String {
    let place = thrown.frames.iter().find(|f| !f.platform).map_or(String::new(), |f| format!(" at {}.{}:{}", f.class, f.method, f.line.unwrap_or(0)));
    format!("{}{place}", thrown.exception)
}

fn keep_message(messages: &mut Vec<(String, Vec<String>)>, thrown: &Throwable) {
    const TYPES: usize = 100;
    const MESSAGES: usize = 8;
    let Some(message) = &thrown.message else { return };
    let full = messages.len() >= TYPES;
    match messages.iter_mut().find(|(exception, _)| *exception == thrown.exception) {
        Some((_, known)) if known.len() < MESSAGES && !known.contains(message) => known.push(message.clone()),
        None if !full => messages.push((thrown.exception.clone(), vec![message.clone()])),
        Some(_) | None => {}
    }
}

fn bump(counts: &mut Vec<(String, u64)>, key: String) {
    if let Some((_, n)) = counts.iter_mut().find(|(k, _)| *k == key) {
        *n += 1;
    } else if counts.len() < 200 {
        counts.push((key, 1));
    }
}
