//! The walk from a configuration to a run record: align, search, minimise, render, confirm, write (architecture §8).
//!
//! Each step is one function; none contains an algorithm. What is told to the user comes from what the steps returned, never from a guess.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rethrow_core::goal::CrashGoal;
use rethrow_core::minimize::{Effort, greedy, minimize};
use rethrow_core::objective::Objective;
use rethrow_core::probe::ProbePlan;
use rethrow_core::search::portfolio::{self, Schedule};
use rethrow_core::search::targets::BuildRules;
use rethrow_core::search::{self, Evaluator, Found, Limits, Setup, Stop};
use rethrow_core::target::{Header, RenderStyle, RenderedTest, Session, TestStyle};
use rethrow_core::testcase::portable::PortableTest;
use rethrow_core::trace::Throwable;
use rethrow_worker::session::Clock;

use crate::align::{Aligned, align};
use crate::cli::{Preset, Style};
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::confirm::{Confirmation, RunResult, Settings, confirm};
use crate::error::UserError;
use crate::explain::{advice, explain, explain_hunt};
use crate::hunt;
use crate::language::Rendered;
use crate::record::{self, Frames, Nearest, RunRecord, Verdict};
use crate::report::{Event, Phase, Progress};
use crate::worker;

/// Of the budget, so much is kept for minimising and confirming …
const TAIL_SHARE: f64 = 0.15;
/// … and at least this …
const TAIL_MIN: Duration = Duration::from_secs(4);
/// … but never more than this share of a small budget.
const TAIL_MAX_SHARE: f64 = 0.6;
/// A candidate is minimised by at most so many executions (§3.7).
const MINIMIZE_EXECUTIONS: u32 = 2000;
/// A test that takes longer in a fresh process hangs.
const RUN_LIMIT: Duration = Duration::from_secs(10);
/// What the tail may overrun the budget by, so that the whole stays within two seconds.
const GRACE: Duration = Duration::from_millis(800);
/// Tests that hold only now and then and are set aside for better ones.
const MAX_FLAKY: u64 = 4;
/// Without so much time left, a further candidate is not confirmed.
const CONFIRM_MIN: Duration = Duration::from_millis(2500);

/// Reproduces the crash that the configuration names.
pub fn run(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<RunRecord, UserError> {
    let aligned = align(config, emit)?;
    let mut record = new_record(config, &aligned);
    let walk = Walk::new(config, aligned)?;
    let found = walk.search(emit, &mut record)?;
    walk.write(found, &mut record)?;
    record.elapsed_ms.total = millis(config.host.elapsed());
    Ok(record)
}

/// Confirms the recorded test case once more; `record.config` is already that of the replay.
pub fn replay(record: &RunRecord, emit: &mut dyn FnMut(Event)) -> Result<RunRecord, UserError> {
    let config = &record.config;
    let aligned = align(config, emit)?;
    let mut again = new_record(config, &aligned);
    let bad = |why: String| UserError::BadRecord { path: config.run_dir.clone(), why };
    let recorded = record.test_case.as_ref().ok_or_else(|| bad("has no test case".into()))?;
    let test = recorded.resolve(&aligned.program).map_err(|e| bad(e.to_string()))?;
    let walk = Walk::new(config, aligned)?;
    let (level, home) = (record.frames.reached, record.home.max(1));
    let via = record.via.unwrap_or(rethrow_core::trace::Via::Direct);
    let found = Found { level, home, test, via, refused: record.refused.clone(), evaluations: record.evaluations };
    again.thrown = record.thrown.clone();
    let written = walk.confirm(found, emit, &mut again)?;
    walk.write(written, &mut again)?;
    again.evaluations = record.evaluations;
    again.elapsed_ms.total = millis(config.host.elapsed());
    Ok(again)
}

fn new_record(config: &Config, aligned: &Aligned) -> RunRecord {
    let goal = &aligned.goal;
    let frames = Frames { reached: 0, target: config.target_frame.unwrap_or(goal.outermost()), total: goal.total };
    let mut record = RunRecord::new(config, &goal.exception, frames, aligned.inputs.clone());
    record.diagnostics = aligned.diagnostics.clone();
    record.runtime = Some(aligned.platform.runtime());
    record
}

fn millis(d: Duration) -> u64 {
    d.as_millis() as u64
}

/// A test that was confirmed, or found and not to be confirmed.
struct Written {
    found: Found,
    rendered: RenderedTest,
    verdict: Verdict,
    confirmed: record::Confirmed,
}

/// When the search ends: its share of the budget, or the user.
struct Deadline {
    until: Instant,
    /// Ends what workers do, too: a batch may be full of tests that hang.
    clock: Arc<Clock>,
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
    aligned: Aligned,
    rules: BuildRules,
    scratch: rethrow_worker::process::Scratch,
}

impl<'c> Walk<'c> {
    fn new(config: &'c Config, mut aligned: Aligned) -> Result<Walk<'c>, UserError> {
        aligned.goal.same_message = config.search.match_message;
        let mut rules = aligned.platform.rules(&aligned.program, &aligned.goal);
        rules.clues.extend(aligned.report.clues());
        rules.ignore_messages = !config.search.schedule().policy.messages;
        let unusable = |e: String| UserError::RunDirUnusable { path: config.run_dir.clone(), why: e };
        std::fs::create_dir_all(&config.run_dir).map_err(|e| unusable(e.to_string()))?;
        let scratch = rethrow_worker::process::Scratch::create(&config.run_dir).map_err(|e| unusable(e.to_string()))?;
        Ok(Walk { config, aligned, rules, scratch })
    }

    fn goal(&self) -> &CrashGoal {
        &self.aligned.goal
    }

    /// The level asked for, else the outermost.
    fn wanted(&self) -> usize {
        self.config.target_frame.unwrap_or(usize::MAX).min(self.goal().outermost())
    }

    fn end(&self) -> Instant {
        self.config.host.started + self.config.budget()
    }

    /// When the search has to stop, so that the tail fits into the budget.
    fn search_end(&self) -> Instant {
        let budget = self.config.budget();
        let tail = budget.mul_f64(TAIL_SHARE).max(TAIL_MIN).min(budget.mul_f64(TAIL_MAX_SHARE));
        self.end() - tail
    }

    /// Steps 7–12: from the workers' start to the outermost test that fresh processes confirm.
    fn search(&self, emit: &mut dyn FnMut(Event), record: &mut RunRecord) -> Result<Option<Written>, UserError> {
        let mut started = self.aligned.platform.start(self.config, &self.aligned, self.scratch.path())?;
        record.diagnostics.extend(std::mem::take(&mut started.problems));
        emit(Event::Phase { phase: Phase::Search });
        let deadline = Deadline { until: self.search_end(), clock: started.session.clock(), interrupted: self.config.host.interrupted.clone() };
        let searched = self.with_evaluator(&mut *started.session, &started.plan, &deadline, emit, record);
        worker::note(&*started.session, self.config, record);
        searched
    }

    fn with_evaluator(
        &self,
        session: &mut dyn Session,
        plan: &ProbePlan,
        deadline: &Deadline,
        emit: &mut dyn FnMut(Event),
        record: &mut RunRecord,
    ) -> Result<Option<Written>, UserError> {
        let objective = Objective::new(self.config.search.objective(), &self.aligned.program, plan, self.goal());
        let (wanted, goal) = (self.wanted(), self.goal());
        let emit_cell = std::cell::RefCell::new(emit);
        let mut events = |event: search::Event| {
            if let Some(event) = told(goal, wanted, event) {
                (emit_cell.borrow_mut())(event);
            }
        };
        let max_evaluations = self.config.max_evaluations.unwrap_or(u64::MAX);
        let mut evaluator = Evaluator::new(Setup { session, goal, objective, limits: deadline, max_evaluations, events: &mut events });
        let schedule = Schedule { target: Some(wanted), ..self.config.search.schedule() };
        // what fresh processes refute, or confirm only now and then, is set aside, and the search goes on from another seed as long as it has time
        let mut flaky: Option<Written> = None;
        for refuted in 0.. {
            let started = Instant::now();
            deadline.clock.set(self.search_end());
            let stop = portfolio::run(&mut evaluator, &self.aligned.program, &self.rules, &schedule, self.config.seed.wrapping_add(refuted));
            record.elapsed_ms.search += millis(started.elapsed());
            if let Stop::SessionLost(why) = &stop
                && evaluator.found().is_none()
            {
                return Err(UserError::WorkerWillNotStart { why: why.clone() });
            }
            self.note_search(&evaluator, record);
            if stop == Stop::Cancelled {
                record.set_verdict(Verdict::Interrupted);
                record.test_case = evaluator.found().map(|f| PortableTest::of(&self.aligned.program, &f.test));
                break;
            }
            let late = self.end().saturating_duration_since(Instant::now()) < CONFIRM_MIN && record.confirmed.runs > 0;
            let Some(found) = evaluator.found().filter(|_| !late).cloned() else { break };
            deadline.clock.set(self.end());
            let smaller = self.minimized(&mut evaluator, found.clone(), record);
            let shown = smaller.test.clone();
            if goal.hunt.is_some() {
                record.thrown = evaluator.thrown_by(&shown).ok().and_then(|chain| chain.into_iter().next());
            }
            let emit = &mut **emit_cell.borrow_mut();
            if let Some(written) = self.confirm(smaller, emit, record)? {
                let again = written.verdict == Verdict::Flaky && !goal.overflow && refuted < MAX_FLAKY && Instant::now() < self.search_end();
                let better = steadier(flaky.take(), written);
                if !again || better.verdict != Verdict::Flaky {
                    return Ok(Some(better));
                }
                flaky = Some(better);
            }
            evaluator.refute(&[found.test, shown]);
        }
        Ok(flaky)
    }

    /// What the search did, and what came nearest if it found nothing.
    fn note_search(&self, evaluator: &Evaluator<'_>, record: &mut RunRecord) {
        note_stats(evaluator, record);
        if self.goal().hunt.is_some() {
            record.explanation = evaluator.found().is_none().then(|| explain_hunt(evaluator, &self.aligned.program, self.config));
            return;
        }
        let mut told = explain(evaluator, &self.aligned, &self.rules, self.wanted());
        if let Some(told) = &mut told {
            told.next = advice(told, self.config, evaluator.reached());
        }
        record.explanation = told;
        if evaluator.found().is_some() {
            record.nearest = None;
            return;
        }
        match evaluator.best() {
            Some(best) => record.nearest = Some(self.nearest(evaluator, best)),
            None => record.diagnostics.push("no test could be built that calls into the trace".into()),
        }
    }

    fn nearest(&self, evaluator: &Evaluator<'_>, best: &search::Scored) -> Nearest {
        let (tally, level, goal) = (&evaluator.tally, evaluator.level(), self.goal());
        let missed = (0..level).rev().find(|i| tally.frames.get(*i).copied().unwrap_or(0) == 0).unwrap_or(0);
        let frame = &goal.frame(missed + 1).frame;
        let place = format!("{}.{}{}", frame.class, frame.method, frame.line.map(|l| format!(":{l}")).unwrap_or_default());
        let blocked = match tally.frames.get(missed).copied().unwrap_or(0) {
            0 => format!("no test reached the line of frame {}", missed + 1),
            n => format!("{n} tests reached the line of frame {}, none threw {} there", missed + 1, goal.exception),
        };
        Nearest { place, blocked: Some(blocked), distance: best.score.value, test_case: PortableTest::of(&self.aligned.program, &best.test) }
    }

    /// Step 10. What cannot be made smaller in time stays as it is.
    fn minimized(&self, evaluator: &mut Evaluator<'_>, found: Found, record: &mut RunRecord) -> Found {
        let started = Instant::now();
        let left = self.end().saturating_duration_since(started);
        let until = started + left.saturating_sub(CONFIRM_MIN).mul_f64(0.6);
        let out_of_time = || Instant::now() >= until;
        let effort = Effort { executions: MINIMIZE_EXECUTIONS, out_of_time: &out_of_time };
        let smaller = match self.config.search.preset {
            Preset::Beacon => greedy(evaluator, found.level, &found.test, effort),
            _ => minimize(evaluator, &self.aligned.program, found.level, &found.test, effort),
        };
        record.elapsed_ms.minimize += millis(started.elapsed());
        match smaller {
            Ok(test) => Found { test, ..found },
            Err(_) => found,
        }
    }

    /// Steps 11 and 12: render, compile, run in fresh processes. `None` if none of them agrees.
    fn confirm(&self, found: Found, emit: &mut dyn FnMut(Event), record: &mut RunRecord) -> Result<Option<Written>, UserError> {
        let started = Instant::now();
        let rendered = match self.rendered(&found, record.thrown.as_ref()) {
            Ok(rendered) => rendered,
            Err(why) => {
                record.diagnostics.push(format!("a test for frame {} cannot be written: {why}", found.level));
                return Ok(None);
            }
        };
        if self.config.confirm_runs == 0 {
            return Ok(Some(Written { found, rendered: rendered.written().clone(), verdict: Verdict::Unconfirmed, confirmed: record::Confirmed::default() }));
        }
        emit(Event::Phase { phase: Phase::Confirm });
        let confirmation = self.run_fresh(&found, &rendered)?;
        record.elapsed_ms.confirm += millis(started.elapsed());
        emit(Event::Confirmed { runs: confirmation.runs.len() as u32, agreed: confirmation.confirmed as u32, of: self.config.confirm_runs });
        Ok(self.judge(found, rendered.written().clone(), &confirmation, record))
    }

    fn judge(&self, mut found: Found, rendered: RenderedTest, confirmation: &Confirmation, record: &mut RunRecord) -> Option<Written> {
        let (runs, agreed) = (confirmation.runs.len(), confirmation.confirmed);
        record.confirmed = record::Confirmed { runs: runs as u32, agreed: agreed as u32, alike: confirmation.alike as u32 };
        if let Err(why) = &confirmation.compiled {
            record.diagnostics.push(format!("the test for frame {} does not compile: {why}", found.level));
            return None;
        }
        if agreed == 0 {
            record.diagnostics.push(format!("the test for frame {} does not hold in fresh processes: {}", found.level, reason(confirmation)));
            return None;
        }
        found.level = confirmation.level;
        if self.goal().hunt.is_some() {
            record.thrown = confirmation.thrown.clone().or(record.thrown.take());
        }
        found.via = confirmation.via.unwrap_or(found.via);
        let verdict = match confirmation.alike == self.config.confirm_runs as usize {
            false => Verdict::Flaky,
            true if self.config.target_frame.is_some_and(|t| found.level < t) => Verdict::Partial,
            true => Verdict::Reproduced,
        };
        Some(Written { found, rendered, verdict, confirmed: record.confirmed })
    }

    /// Compiles and runs the rendered test as often as asked, within what is left of the budget.
    fn run_fresh(&self, found: &Found, rendered: &Rendered) -> Result<Confirmation, UserError> {
        let failed = |why: String| UserError::WorkerWillNotStart { why };
        let scratch = rethrow_worker::process::Scratch::create(self.scratch.path()).map_err(|e| failed(e.to_string()))?;
        let plan = self.aligned.platform.confirmation(self.config, &self.aligned, rendered, scratch.path())?;
        let settings = Settings {
            scratch: scratch.path(),
            launcher: &own_executable()?,
            sandbox: sandbox_mode(self.config.sandbox),
            allow_read: &self.config.allow_read,
            runs: self.config.confirm_runs as usize,
            parallel: self.config.host.cores.clamp(1, 4),
            run_limit: RUN_LIMIT,
            deadline: Some(self.end() + GRACE),
        };
        confirm(&plan, self.goal(), found.level, &settings).map_err(|e| failed(e.to_string()))
    }

    /// The test in the failing style, which shows the trace, and in the passing one if that is what is asked for.
    fn rendered(&self, found: &Found, thrown: Option<&Throwable>) -> Result<Rendered, String> {
        let program = &self.aligned.program;
        let shown = thrown.filter(|_| self.goal().hunt.is_some()).map(|thrown| hunt::shown(program, self.goal(), found, thrown));
        let (goal, home) = shown.as_ref().map_or((self.goal(), found.home), |goal| (goal, goal.outermost()));
        let render = |style| {
            let mut header = self.header(found);
            if let Some(thrown) = thrown.filter(|_| goal.hunt.is_some()) {
                header.reached = hunt::place(thrown);
            }
            let style = RenderStyle { style, framework: self.aligned.platform.framework(self.config), header };
            self.aligned.platform.render().render(program, goal, home, &found.test, &style)
        };
        let failing = render(TestStyle::Failing)?;
        let expecting = match self.config.style {
            Style::Failing => None,
            Style::Expect => Some(render(TestStyle::Expect)?),
            Style::Xfail => Some(render(TestStyle::XFail)?),
        };
        Ok(Rendered { failing, expecting })
    }

    fn header(&self, found: &Found) -> Header {
        Header {
            tool: format!("rethrow {}", env!("CARGO_PKG_VERSION")),
            seed: self.config.seed,
            refused: found.refused.clone(),
            reached: format!("frame {} of {}", found.level, self.goal().total),
            frames: found.level,
            needs_assertions: self.aligned.platform.needs_assertions(self.goal()),
        }
    }

    /// Step 13: the test, whole or not at all; nothing without a verdict that allows it.
    fn write(&self, written: Option<Written>, record: &mut RunRecord) -> Result<(), UserError> {
        let Some(Written { found, rendered, verdict, confirmed }) = written else { return Ok(()) };
        let path = self.config.out.join(&rendered.path);
        record::write_atomically(&path, rendered.text.as_bytes()).map_err(|e| UserError::RunDirUnusable { path: path.clone(), why: e.to_string() })?;
        record.set_verdict(verdict);
        record.confirmed = confirmed;
        record.frames.reached = found.level;
        if let Some(thrown) = &record.thrown {
            record.exception = thrown.exception.clone();
        }
        record.home = found.home;
        record.via = Some(found.via);
        record.refused = found.refused;
        record.test_case = Some(PortableTest::of(&self.aligned.program, &found.test));
        record.test_sha256 = Some(record::sha256(rendered.text.as_bytes()));
        record.run = Some(self.aligned.platform.run_command(self.config, &path, &rendered.name));
        record.test = Some(path);
        Ok(())
    }
}

/// The one of two tests to be written, of which the first held only now and then.
fn steadier(flaky: Option<Written>, other: Written) -> Written {
    match flaky {
        Some(flaky) if stays((flaky.found.level, flaky.confirmed), (other.found.level, other.confirmed)) => flaky,
        _ => other,
    }
}

/// Whether a test that held only now and then, by its level and runs, is better than another: it is further out and held mostly, or they are as far
/// out and it held more often.
fn stays((level, held): (usize, record::Confirmed), (other, other_held): (usize, record::Confirmed)) -> bool {
    if level == other { held.alike > other_held.alike } else { level > other && 2 * held.alike > held.runs }
}

/// What the first run that did not agree did instead.
fn reason(confirmation: &Confirmation) -> String {
    let first = confirmation.runs.iter().find(|r| !matches!(r, RunResult::Met { .. }));
    match first {
        Some(RunResult::Other { thrown, .. }) => format!("it throws {thrown}"),
        Some(RunResult::Returned) => "it passes".into(),
        Some(RunResult::TimedOut) => "it hangs".into(),
        Some(RunResult::NoResult { why }) => why.clone(),
        Some(RunResult::NotRun) | Some(RunResult::Met { .. }) | None => "there was no time left".into(),
    }
}

/// The search's events in the user's terms.
fn told(goal: &CrashGoal, wanted: usize, event: search::Event) -> Option<Event> {
    Some(match event {
        search::Event::Reached { evaluations, .. } if goal.hunt.is_some() => Event::Found { evaluations },
        search::Event::Reached { level, .. } => {
            let frame = &goal.frame(level).frame;
            let place = format!("{}.{}", frame.class, frame.method);
            Event::Reached { frame: level, of: wanted, place }
        }
        search::Event::Progress { evaluations, reached, best } => {
            Event::Progress(Progress { evaluations, reached, target: wanted, best: best.is_finite().then_some(best), ..Progress::default() })
        }
        search::Event::Minimizing { .. } => Event::Phase { phase: Phase::Minimize },
        search::Event::Pursuing { .. } | search::Event::Improved { .. } => return None,
    })
}

fn note_stats(evaluator: &Evaluator<'_>, record: &mut RunRecord) {
    let tally = &evaluator.tally;
    record.evaluations = evaluator.evaluations();
    record.stats.tests_per_s = evaluator.evaluations() as f64 / (record.elapsed_ms.search as f64 / 1e3).max(1e-3);
    record.stats.timeouts = tally.time_limit;
    record.stats.step_limits = tally.step_limit;
    record.stats.deaths = tally.died;
    record.stats.exits = tally.exit;
    record.stats.generations = tally.generations;
    record.deterministic = tally.time_limit == 0 && tally.died == 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaky_test_gives_way_to_a_steady_one_unless_it_is_further_out_and_mostly_held() {
        let held = |alike| record::Confirmed { runs: 5, agreed: alike, alike };
        assert!(!stays((3, held(4)), (3, held(5))));
        assert!(stays((5, held(4)), (3, held(5))));
        assert!(!stays((5, held(2)), (3, held(5))));
        assert!(!stays((2, held(4)), (3, held(1))));
        assert!(stays((3, held(2)), (3, held(1))));
    }
}
