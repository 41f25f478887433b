//! The walk of `rethrow generate`: read the program, search, choose what to keep, render, compile and run in fresh processes, write.
//!
//! Each step is one function; none contains an algorithm. The budget covers everything.

pub mod classes;
mod compiler;
mod errors;
mod fresh;
mod page;
mod record;
mod running;
mod suites;
mod suspects;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rethrow_core::probe::ProbePlan;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::search::grt::{Component, Generator, Round, Settings, World};
use rethrow_core::search::{Limits, Stop};
use rethrow_core::target::suite::SuiteFile;
use rethrow_core::testcase::TestCase;
use rethrow_worker::process::Scratch;

use crate::align::{banner, probe_sandbox};
use crate::cli::{ComponentName, GeneratePreset};
use crate::config::Config;
use crate::error::UserError;
use crate::language::{self, Live, Opened, Suites, UnderTest};
use crate::record::{write_atomically, write_quickly};
use crate::report::{Event, Phase, Progress};
use fresh::Fresh;
pub use record::GenerateRecord;
use suites::Regression;

/// What only this command has.
pub struct Options {
    pub under_test: UnderTest,
    pub preset: GeneratePreset,
    pub only: Vec<ComponentName>,
    pub without: Vec<ComponentName>,
}

/// Of the budget, so much is kept for compiling and confirming …
const TAIL_SHARE: f64 = 0.33;
/// … at least and at most this …
const TAIL_MIN: Duration = Duration::from_secs(3);
const TAIL_MAX: Duration = Duration::from_secs(25);
/// … but never more than this share of a small budget.
const TAIL_MAX_SHARE: f64 = 0.6;
/// So often it is looked whether tests found so far can be compiled and run beside the search …
const SLICE: Duration = Duration::from_millis(400);
/// … every so often where all of them are waited for …
const BESIDE: Duration = Duration::from_millis(100);
/// … for the first time after this share of it, then again after such a share …
const AHEAD_FIRST: f64 = 0.1;
const AHEAD_EVERY: f64 = 0.2;
/// … few of them at first, to get the compiler warm, then as many as fit into this: a part costs as much as hundreds of its tests.
const FIRST_PART: usize = 60;
const AHEAD_ROOM: Duration = Duration::from_millis(2500);
/// Of the tail, compiling one part may take so much …
const COMPILE_SHARE: f64 = 0.4;
/// … and none is begun when less than this is left.
const PART_MIN: Duration = Duration::from_millis(1500);
/// However slow the compiler seems, so many tests are tried.
const MIN_TESTS: usize = 60;
/// The search goes on after a tail only if it has at least this long.
const AGAIN: Duration = Duration::from_secs(2);
/// Starting a fresh process, and looking for defects, takes that long or more.
const RUNNING: Duration = Duration::from_millis(2500);
const POLL: Duration = Duration::from_millis(5);
/// What a batch of the search may overrun its end by.
const OVERRUN: Duration = Duration::from_millis(500);
/// Writing hundreds of files and ending the workers takes that long.
const CLEANING: Duration = Duration::from_millis(700);
/// What the tail may overrun its end by, so that the whole stays within two seconds of the budget.
const GRACE: Duration = Duration::from_millis(800);

/// Generates suites for the classes that the options name.
pub fn run(config: &Config, options: &Options, emit: &mut dyn FnMut(Event)) -> Result<GenerateRecord, UserError> {
    let layers = probe_sandbox(config)?;
    emit(Event::Sandbox { layers: banner(config, &layers) });
    let mut notes = Vec::new();
    let (opened, types) = language::open_generate(config, &options.under_test, &mut notes)?;
    let Opened { platform, program, runtime, source, .. } = opened;
    emit(Event::Program { source, classes: types.len(), runtime });
    notes.iter().for_each(|text| emit(Event::Note { text: text.clone() }));
    let suites = platform.suites();
    let unusable = |e: String| UserError::RunDirUnusable { path: config.run_dir.clone(), why: e };
    let scratch = Scratch::create(&config.run_dir).map_err(|e| unusable(e.to_string()))?;
    let walk = Walk { config, program: &program, types: &types, suites, scratch: scratch.path() };
    let mut record = GenerateRecord::new(config, settings(config, options), options, platform.runtime());
    record.diagnostics = notes;
    walk.generate(&mut record, emit)?;
    record.elapsed_ms.total = config.host.elapsed().as_millis() as u64;
    Ok(record)
}

fn settings(config: &Config, options: &Options) -> Settings {
    let mut settings = match options.preset {
        GeneratePreset::Default => Settings::all(config.seed),
        GeneratePreset::Grt => Settings::grt(config.seed),
        GeneratePreset::Randoop => Settings::randoop(config.seed),
    };
    if !options.only.is_empty() {
        settings.components = options.only.iter().map(|c| component(*c)).collect();
    }
    settings.components.retain(|c| !options.without.iter().any(|w| component(*w) == *c));
    settings.max_tests = config.max_evaluations.unwrap_or(u64::MAX);
    settings
}

fn component(name: ComponentName) -> Component {
    match name {
        ComponentName::ConstantMining => Component::ConstantMining,
        ComponentName::Impurity => Component::Impurity,
        ComponentName::ElephantBrain => Component::ElephantBrain,
        ComponentName::Detective => Component::Detective,
        ComponentName::Orienteering => Component::Orienteering,
        ComponentName::Bloodhound => Component::Bloodhound,
    }
}

struct Deadline {
    until: Instant,
    interrupted: Arc<AtomicBool>,
}

impl Limits for Deadline {
    fn time_is_up(&self) -> bool {
        Instant::now() >= self.until
    }
    fn cancelled(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// What the steps share.
struct Walk<'c> {
    config: &'c Config,
    program: &'c Program,
    types: &'c [TypeId],
    suites: &'c dyn Suites,
    scratch: &'c Path,
}

impl Walk<'_> {
    /// When everything but writing and cleaning up is over.
    fn end(&self) -> Instant {
        self.config.host.started + self.config.budget() - CLEANING.min(self.config.budget() / 4)
    }

    /// When the search has to stop, so that the tail fits into the budget; `needed` is the time that compiling takes, once it is known.
    fn search_end(&self, needed: Option<Duration>) -> Instant {
        let budget = self.config.budget();
        let tail = needed
            .map_or(budget.mul_f64(TAIL_SHARE), |needed| needed.mul_f64(1.2).saturating_add(RUNNING))
            .clamp(TAIL_MIN, TAIL_MAX)
            .min(budget.mul_f64(TAIL_MAX_SHARE));
        self.end() - tail
    }

    fn generate(&self, record: &mut GenerateRecord, emit: &mut dyn FnMut(Event)) -> Result<(), UserError> {
        let mut started = self.suites.start(self.config, self.program, self.types, self.scratch)?;
        record.diagnostics.append(&mut started.problems);
        emit(Event::Phase { phase: Phase::Search });
        let begun = Instant::now();
        let rules = self.suites.rules(self.program, self.types);
        let world = World { program: self.program, plan: &started.plan, types: self.types, rules: &rules, oracle: self.suites.oracle() };
        let generator = Generator::new(world, record.settings.clone());
        record.elapsed_ms.prepare = begun.elapsed().as_millis() as u64;
        let fresh = Fresh::new(self.config, self.program, self.suites, self.scratch)?;
        let mut making = Making { generator, fresh, regression: Regression::new(self.suites) };
        let stop = self.search_while_time_is_left(&mut making, &mut *started.session, emit)?;
        record.elapsed_ms.search = begun.elapsed().as_millis() as u64;
        if let Stop::SessionLost(why) = &stop
            && making.generator.kept.is_empty()
        {
            return Err(UserError::WorkerWillNotStart { why: why.clone() });
        }
        record.note_search(&making.generator, &stop);
        emit(Event::Phase { phase: Phase::Confirm });
        self.finish(making, &started.plan, &mut *started.session, record)?;
        record.note_workers(&*started.session, self.config);
        Ok(())
    }

    /// How long the tail takes is a guess of a cold compiler. Where it was guessed too long, the search goes on.
    fn search_while_time_is_left(&self, making: &mut Making<'_, '_>, session: &mut dyn Live, emit: &mut dyn FnMut(Event)) -> Result<Stop, UserError> {
        loop {
            let stop = self.search(making, session, emit)?;
            if stop != Stop::BudgetSpent || making.generator.is_done() || self.config.max_evaluations.is_some() {
                return Ok(stop);
            }
            let stop = self.catch_up(making, session, emit)?;
            if stop != Stop::BudgetSpent || Instant::now() + AGAIN > self.search_end(making.needed()) {
                return Ok(stop);
            }
        }
    }

    /// Compiles and runs all that is open, while the search goes on beside it.
    fn catch_up(&self, making: &mut Making<'_, '_>, session: &mut dyn Live, emit: &mut dyn FnMut(Event)) -> Result<Stop, UserError> {
        let latest = self.end() - RUNNING;
        session.clock().set(latest + OVERRUN);
        let mut all_in = false;
        loop {
            making.fresh.tick(self.end())?;
            let left = latest.saturating_duration_since(Instant::now());
            if left.is_zero() || (all_in && making.fresh.is_idle()) {
                return Ok(Stop::BudgetSpent);
            }
            if !all_in && !making.fresh.is_busy() {
                let room = self.room(&making.fresh, left);
                all_in = making.regression.open(&making.generator) <= room;
                making.choose(self.program, session, (room, false), self.end())?;
                continue;
            }
            let needed = making.fresh.time_for(0).unwrap_or_default();
            if self.config.host.cores == 1 && needed > left {
                // searching on would only take the core from what has to be compiled and run
                std::thread::sleep(POLL);
                continue;
            }
            let stop = self.search_until(&mut making.generator, session, latest.min(Instant::now() + BESIDE), emit);
            if stop != Stop::BudgetSpent || making.generator.is_done() {
                return Ok(stop);
            }
        }
    }

    /// The search in slices: between them, tests found so far are compiled and run beside it.
    fn search(&self, making: &mut Making<'_, '_>, session: &mut dyn Live, emit: &mut dyn FnMut(Event)) -> Result<Stop, UserError> {
        let begun = Instant::now();
        let whole = self.search_end(making.needed()).saturating_duration_since(begun);
        // what is compiled when depends on the clock, which must not decide anything where the number of tests is given
        if self.config.max_evaluations.is_some() {
            return Ok(self.search_until(&mut making.generator, session, self.search_end(None), emit));
        }
        let mut next = begun + whole.mul_f64(AHEAD_FIRST);
        loop {
            let until = self.search_end(making.needed());
            session.clock().set(until + OVERRUN);
            let stop = self.search_until(&mut making.generator, session, until.min(Instant::now() + SLICE), emit);
            if stop != Stop::BudgetSpent || making.generator.is_done() || Instant::now() >= until {
                return Ok(stop);
            }
            making.fresh.tick(self.end())?;
            if making.fresh.is_busy() {
                next = next.max(Instant::now());
            } else if Instant::now() >= next {
                let room = making.fresh.rate.map_or(FIRST_PART, |rate| (rate * AHEAD_ROOM.as_secs_f64()) as usize).max(MIN_TESTS);
                making.choose(self.program, session, (room, false), self.end())?;
                next = Instant::now() + whole.mul_f64(AHEAD_EVERY);
            }
        }
    }

    fn search_until(&self, generator: &mut Generator<'_>, session: &mut dyn Live, until: Instant, emit: &mut dyn FnMut(Event)) -> Stop {
        let deadline = Deadline { until, interrupted: self.config.host.interrupted.clone() };
        generator.run(session, &deadline, &mut |round: Round| emit(Event::Progress(progress(round))))
    }

    /// Chooses, compiles and runs until nothing is open or no time is left; then writes.
    fn finish(&self, mut making: Making<'_, '_>, plan: &ProbePlan, session: &mut dyn Live, record: &mut GenerateRecord) -> Result<(), UserError> {
        let (begun, end) = (Instant::now(), self.end());
        session.clock().set(end);
        let until = begun + errors::share(end.saturating_duration_since(begun));
        let search = errors::Search { program: self.program, plan, suites: self.suites, generator: &making.generator, types: self.types, until };
        let failing = search.files(session)?;
        self.work_off(&mut making, session, failing)?;
        making.fresh.settle(Instant::now())?;
        record.elapsed_ms.confirm = begun.elapsed().as_millis() as u64;
        record.compiled_per_s = making.fresh.rate;
        let page = page::page(self.program, self.types, &making.generator);
        let (files, losses) = making.fresh.into_files();
        for (file, _) in &files {
            let path = self.config.out.join(&file.path);
            write_quickly(&path, file.text.as_bytes()).map_err(|e| UserError::RunDirUnusable { path: path.clone(), why: e.to_string() })?;
        }
        record.note_suite(&files, losses, making.regression.unsteady);
        self.write(&self.config.run_dir.join("coverage.md"), &page)
    }

    /// Compiles and runs `first`, then what is chosen, until nothing is open or no time is left.
    fn work_off(&self, making: &mut Making<'_, '_>, session: &mut dyn Live, mut first: Vec<SuiteFile>) -> Result<(), UserError> {
        let end = self.end();
        let (mut exhausted, mut doubtful) = (false, false);
        while Instant::now() < end + GRACE {
            making.fresh.tick(end)?;
            let left = end.saturating_duration_since(Instant::now());
            if !making.fresh.is_busy() && left > PART_MIN {
                if !first.is_empty() {
                    making.fresh.submit(std::mem::take(&mut first), end)?;
                    continue;
                }
                if !exhausted || making.fresh.has_lost() || !doubtful {
                    // what will probably not compile comes last
                    doubtful |= exhausted;
                    exhausted = !making.choose(self.program, session, (self.room(&making.fresh, left), doubtful), end)?;
                    continue;
                }
            }
            if making.fresh.is_idle() {
                break;
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Tests that can be compiled and run in what is left; all of them where no clock decides.
    fn room(&self, fresh: &Fresh<'_>, left: Duration) -> usize {
        match fresh.rate.filter(|_| self.config.max_evaluations.is_none()) {
            Some(rate) => ((rate * left.as_secs_f64() * COMPILE_SHARE) as usize).max(MIN_TESTS),
            None => usize::MAX,
        }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), UserError> {
        write_atomically(path, text.as_bytes()).map_err(|e| UserError::RunDirUnusable { path: path.to_path_buf(), why: e.to_string() })
    }
}

/// A suite in the making.
struct Making<'p, 'f> {
    generator: Generator<'p>,
    fresh: Fresh<'f>,
    regression: Regression<'f>,
}

impl Making<'_, '_> {
    /// How long what is still to be written takes, once that can be told.
    fn needed(&self) -> Option<Duration> {
        self.fresh.rate?;
        self.fresh.time_for(self.regression.open(&self.generator))
    }

    /// Chooses up to `room` further tests, if wanted also of those that will probably not compile, and hands them in; false if there are none.
    fn choose(&mut self, program: &Program, session: &mut dyn Live, (room, doubtful): (usize, bool), deadline: Instant) -> Result<bool, UserError> {
        for lost in self.fresh.take_lost() {
            self.regression.selection.drop(lost);
        }
        for loud in self.fresh.take_loud() {
            self.regression.silence(loud);
        }
        self.fresh.suspects.refused().for_each(|method| self.generator.give_up(method));
        let suspects = &self.fresh.suspects;
        let wanted = |test: &TestCase| doubtful || !suspects.suspects(test);
        let files = self.regression.next((program, &self.generator), session, room, wanted)?;
        let any = !files.is_empty();
        if any {
            self.fresh.submit(files, deadline)?;
        }
        Ok(any)
    }
}

fn progress(round: Round) -> Progress {
    Progress { evaluations: round.tests, reached: round.branches.covered as usize, target: round.branches.total as usize, ..Progress::default() }
}
