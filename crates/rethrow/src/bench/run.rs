//! `rethrow bench run`: suite × variant × seed, each run a `rethrow reproduce` of its own.
//!
//! What is already in the results file is not run again. The binary is copied first: a build in the meantime must not change what
//! is measured. Nothing here judges a result; what a run claims is its own record.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::fetch::{self, Ready};
use super::results::{Line, Log, Outcome, Setting};
use crate::cli::{BenchRunArgs, Variant};
use crate::config::Host;
use crate::error::UserError;
use crate::record::{Input, RunRecord, Verdict};
use crate::report::complain;

/// How long after its budget a run is taken for hung.
const GRACE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const INTERRUPTED: u8 = 130;
/// Exit codes of runs that never began.
const WRONG_FLAGS: i32 = 2;
const NO_ENVIRONMENT: i32 = 4;
/// Some crash could not be run at all.
const INCOMPLETE: u8 = 1;

/// One run that has to be made.
#[derive(Clone, Debug)]
struct Job {
    setting: Setting,
    log: PathBuf,
    program: Vec<String>,
}

/// What all jobs share.
struct Bench<'a> {
    host: &'a Host,
    binary: PathBuf,
    scratch: PathBuf,
    /// All runs, and those that are in the file.
    total: usize,
    done: AtomicUsize,
    /// What could not be run.
    missing: AtomicUsize,
    queue: Mutex<VecDeque<Job>>,
    log: Mutex<Log>,
    failed: Mutex<Option<UserError>>,
}

pub fn run(args: &BenchRunArgs, host: &Host) -> Result<u8, UserError> {
    let crashes = super::suite::read(&args.suite, host)?;
    let log = Log::open(&host.cwd.join(&args.results))?;
    let scratch = Scratch::create()?;
    let (binary, hash) = copy_of_this_program(&scratch.0)?;
    let mut ready: Vec<Ready> = Vec::new();
    let mut missing = 0;
    for crash in &crashes {
        if host.interrupted.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        match fetch::ready(crash, host) {
            Ok(crash) => ready.push(crash),
            Err(why) => {
                missing += 1;
                complain(&format!("{} is left out: {why}\n", crash.id));
            }
        }
    }
    let all = plan(args, &ready, &hash, host.cores);
    let total = all.len();
    let queue: VecDeque<Job> = all.into_iter().filter(|job| !log.has(&job.setting)).collect();
    complain(&format!("{total} runs, {} of them done before\n", total - queue.len()));
    let done = AtomicUsize::new(total - queue.len());
    let bench = Bench {
        host,
        binary,
        scratch: scratch.0.clone(),
        total,
        done,
        missing: AtomicUsize::new(missing),
        queue: Mutex::new(queue),
        log: Mutex::new(log),
        failed: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for number in 0..args.jobs {
            let bench = &bench;
            scope.spawn(move || bench.work(number));
        }
    });
    let failed = bench.failed.lock().expect("no thread panics while it holds the lock").take();
    match failed {
        Some(error) => Err(error),
        None if host.interrupted.load(Ordering::Relaxed) => Ok(INTERRUPTED),
        None if bench.missing.load(Ordering::Relaxed) > 0 => Ok(INCOMPLETE),
        None => Ok(0),
    }
}

/// All runs. The seed changes slowest: what is there after an interruption has as many runs of each crash and variant.
fn plan(args: &BenchRunArgs, crashes: &[Ready], binary: &str, cores: usize) -> Vec<Job> {
    let default = [Variant { name: "default".into(), flags: vec![] }];
    let variants = if args.variants.is_empty() { &default[..] } else { &args.variants[..] };
    let share = (cores / args.jobs as usize).max(1);
    let mut jobs = Vec::new();
    for seed in 1..=args.seeds {
        for crash in crashes {
            for variant in variants {
                jobs.push(Job {
                    setting: setting(crash, variant, (seed, args.budget), (binary, share)),
                    log: crash.log.clone(),
                    program: crash.program.flags(),
                });
            }
        }
    }
    jobs
}

fn setting(crash: &Ready, variant: &Variant, (seed, budget): (u64, Duration), (binary, share): (&str, usize)) -> Setting {
    let mut flags = variant.flags.clone();
    // Runs at the same time share the cores, unless the variant says otherwise.
    if !flags.iter().any(|flag| flag.starts_with("--workers")) {
        flags.extend(["--workers".into(), share.min(4).to_string()]);
    }
    Setting {
        crash: crash.id.clone(),
        language: crash.program.language().into(),
        variant: variant.name.clone(),
        flags,
        seed,
        budget_ms: budget.as_millis() as u64,
        inputs: crash.inputs.clone(),
        binary: binary.into(),
    }
}

impl Bench<'_> {
    /// Makes runs until there are none left, or it should stop.
    fn work(&self, number: u32) {
        let dir = self.scratch.join(number.to_string());
        loop {
            let stop = self.host.interrupted.load(Ordering::Relaxed) || self.failed.lock().is_ok_and(|failed| failed.is_some());
            let next = self.queue.lock().ok().and_then(|mut queue| queue.pop_front());
            let Some(job) = next.filter(|_| !stop) else { return };
            // Half a run is no result.
            let Some(outcome) = self.reproduce(&job, &dir) else { return };
            let _ = std::fs::remove_dir_all(&dir);
            if matches!(outcome.exit, Some(WRONG_FLAGS | NO_ENVIRONMENT)) {
                // Not the crash's fault, and worth another try.
                let why = outcome.note.unwrap_or_default();
                complain(&format!("{} {} seed {} did not run: {why}\n", job.setting.crash, job.setting.variant, job.setting.seed));
                self.missing.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let line = Line::new(job.setting, outcome);
            self.tell(&line);
            let added = self.log.lock().map(|mut log| log.add(line));
            if let (Ok(Err(error)), Ok(mut failed)) = (added, self.failed.lock()) {
                *failed = Some(error);
            }
        }
    }

    /// `None` if it was interrupted.
    fn reproduce(&self, job: &Job, dir: &Path) -> Option<Outcome> {
        let started = Instant::now();
        let run_dir = dir.join("run");
        let child = self.start(job, dir);
        let exit = match child {
            Err(e) => return Some(Outcome { verdict: "error".into(), note: Some(e.to_string()), ..Outcome::default() }),
            Ok(child) => self.wait(child, Duration::from_millis(job.setting.budget_ms) + GRACE)?,
        };
        let wall_ms = started.elapsed().as_millis() as u64;
        let record = RunRecord::read(&run_dir).ok();
        // Ctrl-C reaches the run as well, and it may be the first to end.
        if exit == Some(i32::from(INTERRUPTED)) || record.as_ref().is_some_and(|record| record.verdict == Verdict::Interrupted) {
            return None;
        }
        let said = std::fs::read(dir.join("said")).unwrap_or_default();
        Some(outcome(exit, record.as_ref(), &String::from_utf8_lossy(&said), wall_ms))
    }

    fn start(&self, job: &Job, dir: &Path) -> std::io::Result<Child> {
        std::fs::create_dir_all(dir)?;
        let said = std::fs::File::create(dir.join("said"))?;
        let setting = &job.setting;
        let mut command = Command::new(&self.binary);
        command.arg("reproduce").arg(&job.log).args(&job.program).args(&setting.flags);
        command.args(["--seed", &setting.seed.to_string(), "--budget", &format!("{}ms", setting.budget_ms), "--quiet", "--run-dir"]).arg(dir.join("run"));
        command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn()
    }

    /// The exit code, `Some(None)` if it hung and was killed; `None` if the user wants to stop.
    fn wait(&self, mut child: Child, patience: Duration) -> Option<Option<i32>> {
        let started = Instant::now();
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(status.code());
            }
            let interrupted = self.host.interrupted.load(Ordering::Relaxed);
            if interrupted || started.elapsed() > patience {
                // Its workers end with it.
                let _ = child.kill();
                let _ = child.wait();
                return if interrupted { None } else { Some(None) };
            }
            std::thread::sleep(POLL);
        }
    }

    fn tell(&self, line: &Line) {
        let (s, o) = (&line.setting, &line.outcome);
        let note = o.note.as_deref().map(|note| format!("  {note}")).unwrap_or_default();
        let seconds = o.wall_ms as f64 / 1000.0;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        complain(&format!(
            "{done}/{}  {} {} seed {}: {} {}/{} in {seconds:.1} s{note}\n",
            self.total, s.crash, s.variant, s.seed, o.verdict, o.reached, o.target
        ));
    }
}

/// What a process that has ended leaves.
fn outcome(exit: Option<i32>, record: Option<&RunRecord>, said: &str, wall_ms: u64) -> Outcome {
    let Some(record) = record else {
        let note = said.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().chars().take(200).collect());
        let note = note.or_else(|| exit.is_none().then(|| "killed: it did not end".to_string()));
        return Outcome { exit, verdict: "error".into(), wall_ms, note, ..Outcome::default() };
    };
    // What was not confirmed does not count.
    let counts = matches!(record.verdict, Verdict::Reproduced | Verdict::Partial);
    let verdict = serde_json::to_value(record.verdict).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let nearest = record.nearest.as_ref().map(|nearest| format!("not reached: {}", nearest.place));
    Outcome {
        exit,
        verdict,
        reached: if counts { record.frames.reached } else { 0 },
        target: record.frames.target,
        total: record.frames.total,
        evaluations: record.evaluations,
        wall_ms,
        search_ms: record.elapsed_ms.search,
        note: nearest.filter(|_| !counts),
    }
}

/// A copy of this program, and its hash.
pub fn copy_of_this_program(dir: &Path) -> Result<(PathBuf, String), UserError> {
    let this = crate::commands::jail::own_executable()?;
    let copy = dir.join("rethrow");
    let failed = |e: std::io::Error| UserError::RunDirUnusable { path: copy.clone(), why: e.to_string() };
    std::fs::copy(&this, &copy).map_err(failed)?;
    let hash = Input::read(&copy).map_err(failed)?.sha256;
    Ok((copy, hash[..16].into()))
}

/// A folder that goes when the benchmark ends.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn create() -> Result<Scratch, UserError> {
        let path = std::env::temp_dir().join(format!("rethrow-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| UserError::RunDirUnusable { path: path.clone(), why: e.to_string() })?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fetch::Program;
    use super::*;
    use crate::cli::{BenchCommand, Cli, Command};
    use clap::Parser;

    fn args(words: &str) -> BenchRunArgs {
        let words = ["rethrow", "bench", "run", "s.toml"].into_iter().chain(words.split('|').filter(|w| !w.is_empty()));
        let Command::Bench(BenchCommand::Run(args)) = Cli::try_parse_from(words).unwrap().command else { panic!("another command") };
        args
    }

    fn crash(id: &str) -> Ready {
        Ready { id: id.into(), log: "/l".into(), program: Program::Jars(vec!["/a.jar".into(), "/b.jar".into()]), inputs: vec!["x".into()] }
    }

    #[test]
    fn every_crash_with_every_variant_and_seed() {
        let jobs = plan(&args("--variant|a=--x 1|--variant|b=--workers 2|--seeds|2|--jobs|2"), &[crash("A"), crash("B")], "bin", 4);
        let told: Vec<String> = jobs.iter().map(|j| format!("{}{}{}", j.setting.crash, j.setting.variant, j.setting.seed)).collect();
        assert_eq!(told, ["Aa1", "Ab1", "Ba1", "Bb1", "Aa2", "Ab2", "Ba2", "Bb2"]);
        assert_eq!(jobs[0].setting.flags, ["--x", "1", "--workers", "2"]);
        assert_eq!(jobs[1].setting.flags, ["--workers", "2"]);
        assert_eq!(jobs[0].program, ["--classpath", "/a.jar:/b.jar"]);
        assert_eq!(plan(&args(""), &[crash("A")], "bin", 1)[0].setting.variant, "default");
    }

    #[test]
    fn a_process_without_a_record_is_an_error_with_its_first_words() {
        let o = outcome(Some(3), None, "\nthe program does not match the trace  (exit 3)\n  more\n", 5);
        assert_eq!((o.verdict.as_str(), o.note.as_deref()), ("error", Some("the program does not match the trace  (exit 3)")));
        assert_eq!(outcome(None, None, "", 5).note.as_deref(), Some("killed: it did not end"));
    }
}
