//! Runs a confirmation plan: the written test, compiled and run several times in fresh processes, compared with the crash.
//!
//! What to compile and run is the language crate's plan; whether a result is the crash is the goal's business. Everything foreign
//! happens in the jail, each run in a folder of its own, so that no run sees what another left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethrow_core::goal::CrashGoal;
use rethrow_core::target::confirmation::{Command, ConfirmPlan, Ended, RESULT_FILE, drop_harness};
use rethrow_core::trace::{Throwable, Via};

use rethrow_worker::process::{Finished, JailedCommand, SpawnError, run_to_end};
use rethrow_worker::sandbox::Sandbox;

/// Compilers that take longer have lost their way.
const COMPILE_LIMIT: Duration = Duration::from_secs(60);
const KEPT_OUTPUT: usize = 16 << 10;
/// A chain of exceptions with full traces takes tens of kilobytes.
const MAX_RESULT_BYTES: u64 = 32 << 20;

/// How to run a plan.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// The same folder that the plan was made for; exists.
    pub scratch: &'a Path,
    pub launcher: &'a Path,
    pub sandbox: Sandbox,
    /// Readable beyond what the plan needs.
    pub allow_read: &'a [PathBuf],
    pub runs: usize,
    /// Runs at a time.
    pub parallel: usize,
    pub run_limit: Duration,
    /// Nothing starts after it, and nothing runs beyond it.
    pub deadline: Option<Instant>,
}

/// How one run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// The crash, at the level asked for.
    Met {
        level: usize,
        via: Via,
        /// A runaway recursion also ended where the log's did.
        alike: bool,
    },
    /// Something was thrown, but not that; `level` frames of it agree.
    Other {
        thrown: String,
        level: usize,
    },
    Returned,
    TimedOut,
    /// The process ended without a result: it was told to exit, or died.
    NoResult {
        why: String,
    },
    /// There was no time left.
    NotRun,
}

/// What the runs showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// What the compiler says otherwise.
    pub compiled: Result<(), String>,
    pub runs: Vec<RunResult>,
    /// Runs that met the goal.
    pub confirmed: usize,
    /// Runs that met the goal and ended where the log did.
    pub alike: usize,
    /// The least that any run which met the goal reached; 0 if none did.
    pub level: usize,
    /// Wrapped in at least one run: `Cause`.
    pub via: Option<Via>,
    /// What the first run that met the goal threw.
    pub thrown: Option<Throwable>,
}

/// Why nothing could be confirmed or refuted.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmError {
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// Compiles once, then runs; a test that does not compile is a result, not an error.
pub fn confirm(plan: &ConfirmPlan, goal: &CrashGoal, level: usize, settings: &Settings<'_>) -> Result<Confirmation, ConfirmError> {
    write_files(plan, settings.scratch)?;
    let compiled = compile(plan, settings)?;
    if compiled.is_err() {
        return Ok(Confirmation { compiled, runs: Vec::new(), confirmed: 0, alike: 0, level: 0, via: None, thrown: None });
    }
    let (mut runs, thrown): (Vec<RunResult>, Vec<Option<Throwable>>) = run_all(plan, goal, level, settings)?.into_iter().unzip();
    if let Some(command) = &plan.passes
        && !passes(plan, command, settings)?
    {
        refute(&mut runs);
    }
    Ok(Confirmation { thrown: thrown.into_iter().flatten().next(), ..summary(runs) })
}

/// A test that expects the crash and was not seen to pass confirms nothing, whatever its body throws.
fn refute(runs: &mut [RunResult]) {
    for run in runs.iter_mut().filter(|run| matches!(run, RunResult::Met { .. })) {
        *run = RunResult::NoResult { why: "the test that expects the crash does not pass".into() };
    }
}

fn summary(runs: Vec<RunResult>) -> Confirmation {
    let met: Vec<(usize, Via)> = runs
        .iter()
        .filter_map(|run| match run {
            RunResult::Met { level, via, .. } => Some((*level, *via)),
            _ => None,
        })
        .collect();
    let alike = runs.iter().filter(|run| matches!(run, RunResult::Met { alike: true, .. })).count();
    Confirmation {
        compiled: Ok(()),
        confirmed: met.len(),
        alike,
        level: met.iter().map(|(level, _)| *level).min().unwrap_or(0),
        via: met.iter().map(|(_, via)| *via).max(),
        thrown: None,
        runs,
    }
}

fn write_files(plan: &ConfirmPlan, scratch: &Path) -> Result<(), ConfirmError> {
    for folder in &plan.folders {
        make_folder(&scratch.join(folder))?;
    }
    for (path, text) in &plan.files {
        let path = scratch.join(path);
        if let Some(parent) = path.parent() {
            make_folder(parent)?;
        }
        fs::write(&path, text).map_err(|source| ConfirmError::Write { path, source })?;
    }
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), ConfirmError> {
    fs::create_dir_all(path).map_err(|source| ConfirmError::Write { path: path.to_path_buf(), source })
}

fn compile(plan: &ConfirmPlan, settings: &Settings<'_>) -> Result<Result<(), String>, ConfirmError> {
    for command in &plan.compile {
        let Some(limit) = time_left(COMPILE_LIMIT, settings) else { return Ok(Err("no time left to compile".into())) };
        let ended = run_to_end(&jailed(plan, command, settings.scratch, settings), limit, KEPT_OUTPUT)?;
        if ended.timed_out {
            return Ok(Err("the compiler did not end in time".into()));
        }
        if !ended.success() {
            return Ok(Err(said(&ended)));
        }
    }
    Ok(Ok(()))
}

fn run_all(plan: &ConfirmPlan, goal: &CrashGoal, level: usize, settings: &Settings<'_>) -> Result<Vec<Run>, ConfirmError> {
    let numbers: Vec<usize> = (0..settings.runs).collect();
    let mut results = Vec::new();
    for group in numbers.chunks(settings.parallel.max(1)) {
        let group: Vec<Result<Run, ConfirmError>> = std::thread::scope(|scope| {
            let started: Vec<_> = group.iter().map(|n| scope.spawn(move || run(plan, goal, level, *n, settings))).collect();
            started.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
        });
        for result in group {
            results.push(result?);
        }
    }
    Ok(results)
}

/// How a run ended, and what it threw if that met the goal.
type Run = (RunResult, Option<Throwable>);

fn run(plan: &ConfirmPlan, goal: &CrashGoal, level: usize, number: usize, settings: &Settings<'_>) -> Result<Run, ConfirmError> {
    let ended = match start(plan, &plan.run, &format!("run-{number}"), settings)? {
        Start::Ended(ended) => ended,
        Start::Not(result) => return Ok((result, None)),
    };
    Ok(match ended {
        Ended::Returned => (RunResult::Returned, None),
        Ended::Thrown(chain) => compared(goal, level, drop_harness(chain, &plan.harness)),
    })
}

fn compared(goal: &CrashGoal, level: usize, chain: Vec<Throwable>) -> Run {
    let reached = goal.level_of(&chain);
    match goal.accepts(level, &chain) {
        Some(via) => {
            let alike = goal.ends_alike(&chain);
            (RunResult::Met { level: reached.max(level), via, alike }, chain.into_iter().next().map(own_frames))
        }
        None => (RunResult::Other { thrown: chain.first().map(|t| t.exception.clone()).unwrap_or_default(), level: reached }, None),
    }
}

/// Without the frames of the platform, among which are those of the test framework.
fn own_frames(thrown: Throwable) -> Throwable {
    Throwable { frames: thrown.program_frames(), ..thrown }
}

fn passes(plan: &ConfirmPlan, command: &Command, settings: &Settings<'_>) -> Result<bool, ConfirmError> {
    Ok(matches!(start(plan, command, "run-expecting", settings)?, Start::Ended(Ended::Returned)))
}

/// A process that gave a result, or what came instead.
enum Start {
    Ended(Ended),
    Not(RunResult),
}

fn start(plan: &ConfirmPlan, command: &Command, label: &str, settings: &Settings<'_>) -> Result<Start, ConfirmError> {
    let Some(limit) = time_left(settings.run_limit, settings) else { return Ok(Start::Not(RunResult::NotRun)) };
    let folder = settings.scratch.join(label);
    make_folder(&folder)?;
    let ended = run_to_end(&jailed(plan, &command.in_folder(&folder), &folder, settings), limit, KEPT_OUTPUT)?;
    let result = read_result(&folder.join(RESULT_FILE)).as_deref().and_then(plan.read);
    Ok(match result {
        Some(result) => Start::Ended(result),
        None if ended.timed_out => Start::Not(RunResult::TimedOut),
        None => Start::Not(RunResult::NoResult { why: said(&ended) }),
    })
}

/// The jailed program wrote it, so it may be anything: only a plain file of moderate size is read.
fn read_result(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    let plain = meta.file_type().is_file() && meta.len() <= MAX_RESULT_BYTES;
    plain.then(|| fs::read_to_string(path).ok()).flatten()
}

fn jailed(plan: &ConfirmPlan, command: &Command, scratch: &Path, settings: &Settings<'_>) -> JailedCommand {
    let mut jailed = JailedCommand::new(settings.launcher, scratch, &command.program).args(&command.args).mode(settings.sandbox);
    jailed.read.extend(plan.readable.iter().chain(settings.allow_read).cloned());
    jailed.env.extend(command.env.iter().cloned());
    jailed
}

/// `limit`, or less if the deadline is nearer; `None` if it has passed.
fn time_left(limit: Duration, settings: &Settings<'_>) -> Option<Duration> {
    match settings.deadline {
        None => Some(limit),
        Some(deadline) => deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).map(|left| left.min(limit)),
    }
}

fn said(ended: &Finished) -> String {
    let text = [ended.stderr.text(), ended.stdout.text()].into_iter().find(|t| !t.trim().is_empty()).unwrap_or_default();
    format!("{} ({})", text.trim(), ended.status).trim_start().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_run_counts() {
        let met = |level, via| RunResult::Met { level, via, alike: true };
        let all = summary(vec![met(3, Via::Direct), met(2, Via::Cause)]);
        assert_eq!((all.confirmed, all.level, all.via), (2, 2, Some(Via::Cause)));
        let one = summary(vec![met(3, Via::Direct), RunResult::Returned]);
        assert_eq!((one.confirmed, one.level), (1, 3));
        let mut runs = vec![met(1, Via::Direct), RunResult::TimedOut];
        refute(&mut runs);
        assert_eq!((summary(runs.clone()).confirmed, &runs[1]), (0, &RunResult::TimedOut));
        assert_eq!(summary(Vec::new()).level, 0);
    }
}
