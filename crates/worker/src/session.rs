//! One conversation with one worker process: greeting, names, runs, and the blame if it dies.
//!
//! Whatever the worker says or does, a run ends in time and never in an error: a dead, silent or lying worker is a [`Fate`]. Starting another one is
//! `pool`'s business; what a worker runs is the language crate's ([`Launch`]).

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rethrow_core::execution::{BranchSeen, Execution, Outcome, Seen};
use rethrow_core::program::{Program, TypeId};
use rethrow_core::testcase::TestCase;
use rethrow_core::trace::{Frame, Throwable};

use crate::process::{self, Jailed, JailedCommand, Scratch, SpawnError};
use crate::protocol::{
    self, Define, Done, Ended, FrameError, FrameReader, Known, Observed, PREPARING, PROGRESS_BYTES, Progress, Reply, Request, Run, SeenValue, Thrown, VERSION,
};

/// How often the parent looks at a worker that says nothing.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a worker may take to be ready.
const START_LIMIT: Duration = Duration::from_secs(30);
/// What a worker may take beyond its own limits before it is killed: its own clock is four times as patient as the limit, and reacts in a second.
const PATIENCE: u32 = 4;
const SLACK: Duration = Duration::from_secs(3);
/// How long the end of a process is awaited once its stream is closed.
const END_LIMIT: Duration = Duration::from_secs(2);
const STDERR_TAIL: usize = 600;
const PROGRESS_FILE: &str = ".progress";

/// What is special about a language's workers.
pub trait Launch: Send + Sync + 'static {
    /// The command; it finds its stream as the protocol descriptor. Scratch, protocol and output are set by the caller.
    fn command(&self, scratch: &Path) -> JailedCommand;
    /// The worker's setup, as its own side reads it.
    fn setup(&self, scratch: &Path, progress: &Path) -> Vec<u8>;
    /// Under which folder scratch folders are made.
    fn scratch_parent(&self) -> &Path;
}

/// Why a worker did not become ready.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("{0}")]
    Refused(String),
    #[error("the worker did not answer: {why}{}", tail(.stderr))]
    Silent { why: String, stderr: String },
}

fn tail(stderr: &str) -> String {
    if stderr.trim().is_empty() { String::new() } else { format!("\n{}", stderr.trim_end()) }
}

/// Bounds of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub steps: u32,
    pub time_ms: u32,
    /// Resident memory of the whole worker.
    pub rss_bytes: u64,
}

/// All names ever defined, in order; a worker knows a prefix of each list.
#[derive(Debug, Default)]
pub struct Names {
    pub all: Define,
}

/// Everything about a run but its tests.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub program: &'a Program,
    pub names: &'a Names,
    /// Types to make ready first; unless the run is pristine. The list only ever grows.
    pub prepare: &'a [String],
    /// Those of them that cannot be made ready.
    pub banned: &'a [String],
    /// Those of them that have cost too many workers and are not tried again. The list only ever grows.
    pub broken: &'a [String],
    pub limits: Limits,
    /// See [`Run::pristine`].
    pub pristine: bool,
    /// See [`Run::inspect`].
    pub inspect: bool,
    /// When it has to be over, whatever the tests do.
    pub clock: Option<&'a Clock>,
}

/// When all work has to be over. It may be moved while workers run.
#[derive(Debug)]
pub struct Clock {
    made: Instant,
    /// Milliseconds after that.
    end: AtomicU64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { made: Instant::now(), end: AtomicU64::new(u64::MAX) }
    }
}

impl Clock {
    pub fn set(&self, end: Instant) {
        let ms = end.saturating_duration_since(self.made).as_millis();
        self.end.store(u64::try_from(ms).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
    pub fn is_over(&self) -> bool {
        self.made.elapsed().as_millis() >= u128::from(self.end.load(Ordering::Relaxed))
    }
}

/// What becomes of a worker after a run.
#[derive(Debug)]
pub enum Fate {
    Healthy,
    /// To be replaced; nothing is wrong with the tests.
    Retired,
    Dead,
}

/// What a run gave. Tests without a result have to run elsewhere.
#[derive(Debug)]
pub struct Ran {
    pub results: Vec<(usize, Execution)>,
    pub fate: Fate,
    pub done: Done,
    /// Why it is not healthy.
    pub why: String,
}

/// See the module documentation.
pub struct Worker {
    reader: FrameReader<UnixStream>,
    writer: UnixStream,
    progress: File,
    /// How much of [`Names`] it knows: types, methods, fields, stubs; and of the lists of types to make ready and of broken ones.
    knows: [usize; 6],
    /// The types it was last told to make ready.
    preparing: Vec<String>,
    types: Vec<Option<TypeId>>,
    stacks: Vec<Vec<Frame>>,
    chains: Vec<Arc<[Throwable]>>,
    ran: u64,
    runtime: String,
    cpu_us: u64,
    process: Jailed,
    /// After the process in drop order: the folder outlives what is in it.
    _scratch: Scratch,
}

impl Worker {
    /// Starts a process and waits until it is ready.
    pub fn start(launch: &dyn Launch) -> Result<Worker, StartError> {
        let scratch = Scratch::create(launch.scratch_parent())?;
        let progress_path = scratch.path().join(PROGRESS_FILE);
        let fault = |source| SpawnError::Scratch { path: progress_path.clone(), source };
        let progress = OpenOptions::new().create_new(true).read(true).write(true).open(&progress_path).map_err(fault)?;
        progress.set_len(PROGRESS_BYTES as u64).map_err(fault)?;
        let mut command = launch.command(scratch.path());
        command.protocol = true;
        let mut process = process::spawn(&command)?;
        let Some(stream) = process.take_protocol() else {
            return Err(StartError::Refused("the worker has no stream".to_owned()));
        };
        let silent = |e: std::io::Error| StartError::Silent { why: e.to_string(), stderr: String::new() };
        stream.set_read_timeout(Some(GLANCE)).map_err(silent)?;
        stream.set_write_timeout(Some(START_LIMIT)).map_err(silent)?;
        let setup = launch.setup(scratch.path(), &progress_path);
        let mut worker = Worker {
            reader: FrameReader::new(stream.try_clone().map_err(silent)?),
            writer: stream,
            progress,
            knows: [0; 6],
            preparing: Vec::new(),
            types: Vec::new(),
            stacks: Vec::new(),
            chains: Vec::new(),
            ran: 0,
            runtime: String::new(),
            cpu_us: 0,
            process,
            _scratch: scratch,
        };
        worker.greet(setup)?;
        Ok(worker)
    }

    fn greet(&mut self, setup: Vec<u8>) -> Result<(), StartError> {
        let hello = Request::Hello { version: VERSION, setup };
        protocol::send(&mut self.writer, &hello).map_err(|e| self.silent(&e.to_string()))?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            match self.reader.receive::<Reply>() {
                Ok(Reply::Ready { version: VERSION, runtime }) => {
                    self.runtime = runtime;
                    return Ok(());
                }
                Ok(Reply::Failed(why)) => return Err(StartError::Refused(format!("{why}{}", tail(&self.stderr())))),
                Ok(_) => return Err(StartError::Refused("the worker is of another version".to_owned())),
                Err(e) if e.is_timeout() && Instant::now() < deadline => {}
                Err(e) => return Err(self.silent(&e.to_string())),
            }
        }
    }

    fn silent(&mut self, why: &str) -> StartError {
        let ended = self.process.wait_timeout(END_LIMIT).ok().flatten();
        let why = ended.map_or_else(|| why.to_owned(), |status| format!("it ended with {status}"));
        StartError::Silent { why, stderr: self.stderr() }
    }

    /// The last lines of its standard error.
    pub fn stderr(&self) -> String {
        let text = self.process.stderr().text();
        let from = text.char_indices().rev().nth(STDERR_TAIL).map_or(0, |(i, _)| i);
        text[from..].to_owned()
    }

    pub fn runtime(&self) -> &str {
        &self.runtime
    }

    pub fn process(&self) -> &Jailed {
        &self.process
    }

    /// Tests run so far.
    pub fn ran(&self) -> u64 {
        self.ran
    }

    /// Processor time used so far, as last told.
    pub fn cpu_us(&self) -> u64 {
        self.cpu_us
    }

    /// Runs tests in order. Indices in the result are those in `tests`.
    pub fn run(&mut self, job: &Job<'_>, tests: Vec<TestCase>) -> Ran {
        let (count, limits) = (tests.len(), job.limits);
        let mut ran = Ran { results: Vec::with_capacity(count), fate: Fate::Healthy, done: Done::default(), why: String::new() };
        let run = Run { step_limit: limits.steps, time_limit_ms: limits.time_ms, pristine: job.pristine, inspect: job.inspect, tests };
        let sent = self.send_names(job).and_then(|()| protocol::send(&mut self.writer, &Request::Run(run)));
        let end = match sent {
            Ok(()) => self.listen(job, count, &mut ran),
            Err(e) => Err(Ending::Lost(e)),
        };
        self.ran += ran.results.len() as u64;
        match end {
            Ok(done) => {
                self.cpu_us = done.cpu_us;
                if let Some(why) = &done.retire {
                    ran.why.clone_from(why);
                    ran.fate = Fate::Retired;
                }
                ran.done = done;
            }
            Err(Ending::Over) => {
                self.process.kill();
                ran.fate = Fate::Retired;
                "the time was up".clone_into(&mut ran.why);
            }
            Err(ending) => self.bury(ending, count, &mut ran),
        }
        ran
    }

    fn send_names(&mut self, job: &Job<'_>) -> Result<(), FrameError> {
        let all = &job.names.all;
        let [types, methods, fields, stubs, prepared, broken] = self.knows;
        let prepare = if job.pristine { &[] } else { &job.prepare[prepared..] };
        self.knows = [all.types.len(), all.methods.len(), all.fields.len(), all.stubs.len(), prepared + prepare.len(), job.broken.len()];
        self.preparing = prepare.iter().filter(|name| !job.banned.contains(name)).cloned().collect();
        let define = Define {
            types: all.types[types..].to_vec(),
            methods: all.methods[methods..].to_vec(),
            fields: all.fields[fields..].to_vec(),
            stubs: all.stubs[stubs..].to_vec(),
            prepare: self.preparing.clone(),
            broken: job.broken[broken..].to_vec(),
            time_limit_ms: job.limits.time_ms,
        };
        if define.is_empty() { Ok(()) } else { protocol::send(&mut self.writer, &Request::Define(define)) }
    }

    fn listen(&mut self, job: &Job<'_>, count: usize, ran: &mut Ran) -> Result<Done, Ending> {
        let mut patience = Patience::new(job.limits);
        loop {
            match self.reader.receive::<Reply>() {
                Ok(Reply::Known(known)) => self.learn(job.program, known),
                Ok(Reply::Result(observed)) if (observed.test as usize) < count => {
                    ran.results.push((observed.test as usize, self.execution(observed)));
                }
                Ok(Reply::Done(done)) => return Ok(done),
                Ok(_) => return Err(Ending::Lying),
                Err(e) if e.is_timeout() => {}
                Err(e) => return Err(Ending::Lost(e)),
            }
            if patience.glance_is_due() {
                if job.clock.is_some_and(Clock::is_over) {
                    return Err(Ending::Over);
                }
                patience.check(self.progress(), || self.process.rss_bytes())?;
            }
        }
    }

    fn progress(&self) -> Progress {
        let mut bytes = [0; PROGRESS_BYTES];
        match self.progress.read_exact_at(&mut bytes, 0) {
            Ok(()) => Progress::from_bytes(bytes),
            Err(_) => Progress::default(),
        }
    }

    /// Ends the process and blames the test that was running, if one was.
    fn bury(&mut self, ending: Ending, count: usize, ran: &mut Ran) {
        let status = match ending {
            Ending::Lost(_) => self.process.wait_timeout(END_LIMIT).ok().flatten(),
            _ => None,
        };
        self.process.kill();
        let progress = self.progress();
        ran.fate = Fate::Dead;
        ran.why = match (&ending, status) {
            (Ending::Stuck, _) => "it did not react to its time limit".to_owned(),
            (Ending::Fat(bytes), _) => format!("it used {} MiB of memory", bytes >> 20),
            (Ending::Over, _) => "the time was up".to_owned(),
            (Ending::Lying, _) => "it broke the protocol".to_owned(),
            (Ending::Lost(_), Some(status)) => format!("it ended with {status}{}", tail(&self.stderr())),
            (Ending::Lost(e), None) => format!("{e}{}", tail(&self.stderr())),
        };
        if progress.test == PREPARING {
            ran.done.unprepared.extend(self.preparing.get(progress.at as usize).cloned());
        }
        let timed_out = progress.timed_out != 0 || matches!(ending, Ending::Stuck);
        let blamed = (progress.test as usize).checked_sub(1).filter(|i| *i < count && ran.results.iter().all(|(done, _)| done != i));
        if let Some(index) = blamed {
            let outcome = if timed_out { Outcome::TimeLimit { at: progress.at } } else { Outcome::Died { why: ran.why.clone() } };
            ran.results.push((index, Execution::ended(outcome)));
        }
    }

    fn learn(&mut self, program: &Program, known: Known) {
        if known.forget {
            self.stacks.clear();
            self.chains.clear();
        }
        self.types.extend(known.types.iter().map(|name| program.find_type(name)));
        for stack in known.stacks {
            self.stacks.push(stack.into_iter().map(frame).collect());
        }
        for chain in known.chains {
            let chain = chain.into_iter().map(|link| self.throwable(link)).collect();
            self.chains.push(chain);
        }
    }

    fn throwable(&self, link: Thrown) -> Throwable {
        let frames = self.stacks.get(link.stack as usize).cloned().unwrap_or_default();
        Throwable { exception: link.exception, message: link.message, frames, suppressed: Vec::new() }
    }

    fn execution(&self, observed: Observed) -> Execution {
        let branches = observed.branches.into_iter().map(|b| BranchSeen {
            branch: b.branch,
            above: b.above.into(),
            below: b.below.into(),
            equal: b.equal,
            hint: b.hint.into(),
        });
        let known_type = |n: u32| n.checked_sub(1).and_then(|i| *self.types.get(i as usize)?);
        let outcome = self.outcome(observed.ended);
        let mut refused = observed.refused;
        if let Outcome::Thrown { chain, .. } = &outcome {
            refused.extend(refusals(chain));
        }
        Execution {
            outcome,
            hits: from_differences(observed.hits),
            branches: branches.collect(),
            switches: observed.switches,
            types: observed.types.into_iter().map(known_type).collect(),
            seen: observed.seen.into_iter().map(seen).collect(),
            refused,
            reach: observed.reach,
            steps: observed.steps,
            values: observed.values,
        }
    }

    fn outcome(&self, ended: Ended) -> Outcome {
        match ended {
            Ended::Normal => Outcome::Normal,
            Ended::Thrown { at, chain } => match self.chains.get(chain as usize) {
                Some(chain) => Outcome::Thrown { at, chain: chain.clone() },
                None => Outcome::Died { why: "the worker named an exception it never described".to_owned() },
            },
            Ended::Invalid { at, why } => Outcome::Invalid { at, why },
            Ended::StepLimit { at } => Outcome::StepLimit { at },
            Ended::TimeLimit { at } => Outcome::TimeLimit { at },
            Ended::Exit { at, code } => Outcome::Exit { at, code },
            Ended::Died { why } => Outcome::Died { why },
        }
    }
}

/// How the system words what the jail refuses (`strerror` of EACCES, EPERM and EROFS).
const REFUSALS: [&str; 3] = ["Permission denied", "Operation not permitted", "Read-only file system"];

/// What the jail refused, as far as it shows in the exceptions: `exception: message`.
fn refusals(chain: &[Throwable]) -> impl Iterator<Item = String> {
    let refused = |t: &&Throwable| t.message.as_deref().is_some_and(|m| REFUSALS.iter().any(|r| m.contains(r)));
    chain.iter().filter(refused).map(|t| format!("{}: {}", t.exception, t.message.as_deref().unwrap_or_default()))
}

/// Why a run did not end with `Done`.
enum Ending {
    Lost(FrameError),
    Stuck,
    Fat(u64),
    Lying,
    /// Nothing is wrong with it, but there is no time left.
    Over,
}

/// Watches a worker that should be at work.
struct Patience {
    limits: Limits,
    glanced: Instant,
    sequence: u32,
    since: Instant,
}

impl Patience {
    fn new(limits: Limits) -> Patience {
        Patience { limits, glanced: Instant::now(), sequence: u32::MAX, since: Instant::now() }
    }

    fn glance_is_due(&mut self) -> bool {
        let due = self.glanced.elapsed() >= GLANCE;
        if due {
            self.glanced = Instant::now();
        }
        due
    }

    fn check(&mut self, progress: Progress, rss: impl FnOnce() -> u64) -> Result<(), Ending> {
        if progress.sequence != self.sequence {
            (self.sequence, self.since) = (progress.sequence, Instant::now());
        }
        let limit = Duration::from_millis(self.limits.time_ms.into()).saturating_mul(PATIENCE).saturating_add(SLACK);
        if self.since.elapsed() > limit {
            return Err(Ending::Stuck);
        }
        match rss() {
            bytes if bytes > self.limits.rss_bytes => Err(Ending::Fat(bytes)),
            _ => Ok(()),
        }
    }
}

fn frame(f: protocol::StackFrame) -> Frame {
    Frame { class: f.class, method: f.method, file: f.file, line: f.line, native: f.native, platform: f.platform, origin: None }
}

fn seen(value: SeenValue) -> Seen {
    match value {
        SeenValue::Int(v) => Seen::Int(v),
        SeenValue::Str(text) => Seen::Str(text.into()),
        SeenValue::Pair(a, b) => Seen::Pair(a.into(), b.into()),
        SeenValue::Unfit { text, pattern } => Seen::Unfit { text: text.into(), pattern: pattern.into() },
    }
}

fn from_differences(mut hits: Vec<u32>) -> Vec<u32> {
    let mut sum = 0u32;
    for hit in &mut hits {
        sum = sum.saturating_add(*hit);
        *hit = sum;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_sums_of_differences() {
        assert_eq!(from_differences(vec![3, 1, 5]), [3, 4, 9]);
        assert_eq!(from_differences(vec![u32::MAX, 5]), [u32::MAX, u32::MAX]);
    }

    #[test]
    fn a_worker_is_killed_only_when_it_makes_no_progress_or_is_too_large() {
        let limits = Limits { steps: 1, time_ms: 0, rss_bytes: 100 };
        let mut patience = Patience::new(limits);
        let progress = |sequence| Progress { sequence, ..Progress::default() };
        assert!(patience.check(progress(1), || 50).is_ok());
        assert!(matches!(patience.check(progress(1), || 101), Err(Ending::Fat(101))));
        patience.since = Instant::now() - SLACK - Duration::from_millis(1);
        assert!(patience.check(progress(2), || 50).is_ok());
        patience.since = Instant::now() - SLACK - Duration::from_millis(1);
        assert!(matches!(patience.check(progress(2), || 50), Err(Ending::Stuck)));
    }
}
