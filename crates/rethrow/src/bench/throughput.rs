//! How many tests a worker executes in a second of processor time, and what of that the probes and the jail cost.
//!
//! Four sessions take turns in short slices, so that whatever else the machine does meets them alike: the tests with all probes, the same tests
//! without (the floor), and harmless tests in the jail and outside. Calls with invented arguments never run outside the jail; the harmless tests
//! are shorter than others, so the jail's part of them is rather over- than underestimated.
//!
//! Tests that spend all steps, time or memory are left out: without probes nothing but the clock stops them, and there would be no floor.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rethrow_core::execution::{Execution, Outcome};
use rethrow_core::program::Program;
use rethrow_core::target::{Session, SessionLost};
use rethrow_core::testcase::TestCase;
use rethrow_jvm::classpath::{self, ClassPath};
use rethrow_jvm::jdk::Jdk;
use rethrow_jvm::launch::{self, JvmSession, SessionConfig, Watch, watch};
use rethrow_worker::process::Scratch;
use rethrow_worker::sandbox::Sandbox;
use serde::Serialize;

use super::calls::{self, Calls};
use super::machine::{self, Machine};
use super::subject;
use crate::cli::{Format, ThroughputArgs};
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::Host;
use crate::error::UserError;
use crate::report::say;

/// Distinct tests, but for those left out; they come again when all were run.
const TESTS: usize = 8000;
/// Tests of one slice.
const SLICE: usize = 2000;
/// Tests handed over at once, about as an engine does.
const BATCH: usize = 50;
/// The part of the time in which the JVMs get warm and nothing counts.
const WARM_UP: f64 = 0.3;

/// The result; times are processor time of the workers unless named otherwise.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    /// With lines, distances and traces.
    tests_per_cpu_s: f64,
    /// How many times slower than without probes.
    ratio_to_floor: f64,
    /// What the jail adds, as a part of the time without it.
    jail_cost: f64,
    floor_tests_per_cpu_s: f64,
    /// From the start of the first worker on, its warming up included.
    cold_tests_per_cpu_s: f64,
    /// By the clock on the wall, the parent's work included.
    tests_per_s: f64,
    /// From the command to the first result, by the clock on the wall.
    first_test_ms: u64,
    worker_rss_mb: u64,
    parent_rss_mb: u64,
    heap_mb: u32,
    tests: u64,
    /// Of the distinct tests, those that do not end by themselves.
    left_out: usize,
    methods: usize,
    outcomes: Outcomes,
    workers_started: u64,
    seed: u64,
    seconds: u32,
    workers: usize,
    jar: String,
    jdk: String,
    jail: String,
    machine: Machine,
}

/// How the measured tests ended.
#[derive(Debug, Default, Serialize)]
struct Outcomes {
    normal: u64,
    thrown: u64,
    invalid: u64,
    step_limit: u64,
    time_limit: u64,
    exit: u64,
    died: u64,
}

impl Outcomes {
    fn count(&mut self, executions: &[Execution]) {
        for execution in executions {
            *match execution.outcome {
                Outcome::Normal => &mut self.normal,
                Outcome::Thrown { .. } => &mut self.thrown,
                Outcome::Invalid { .. } => &mut self.invalid,
                Outcome::StepLimit { .. } => &mut self.step_limit,
                Outcome::TimeLimit { .. } => &mut self.time_limit,
                Outcome::Exit { .. } => &mut self.exit,
                Outcome::Died { .. } => &mut self.died,
            } += 1;
        }
    }
}

/// Measures and prints.
pub fn run(args: &ThroughputArgs, host: &Host) -> Result<(), UserError> {
    let report = measure(args, host)?;
    match args.format {
        Format::Text => say(&report.text()),
        Format::Json => say(&format!("{}\n", serde_json::to_string_pretty(&report).expect("a report is plain data"))),
    }
    Ok(())
}

fn lost(error: impl ToString) -> UserError {
    UserError::WorkerWillNotStart { why: error.to_string() }
}

/// The program that is measured.
struct Subject {
    jar: PathBuf,
    jdk: Jdk,
    classpath: Arc<ClassPath>,
    program: Program,
}

impl Subject {
    fn open(args: &ThroughputArgs, host: &Host) -> Result<Subject, UserError> {
        let jar = subject::jar(args.jar.as_deref(), host)?;
        let jdk = host.jdks(args.java_home.as_deref()).into_iter().next();
        let jdk = jdk.ok_or_else(|| UserError::NoJdk { looked: crate::commands::doctor::places(host) })?;
        let opened = ClassPath::open(&[jar.display().to_string()], &jdk);
        let opened = opened.map_err(|e| UserError::ClassPathCorrupt { path: jar.clone(), why: e.to_string() })?;
        let classpath = Arc::new(opened.value);
        let program = classpath::load(classpath.clone()).value;
        Ok(Subject { jar, jdk, classpath, program })
    }

    /// Every class of the jar.
    fn watch(&self) -> Watch {
        let types: Vec<_> = self.program.types().filter(|t| !self.program.ty(*t).platform && !self.program.ty(*t).missing).collect();
        watch(&self.program, &types, |name| self.classpath.class_bytes(name))
    }

    fn config(&self, args: &ThroughputArgs, host: &Host, scratch: &Scratch) -> Result<SessionConfig, UserError> {
        let entries = self.classpath.launch_entries(scratch.path()).map_err(lost)?;
        let mut config = SessionConfig::new(own_executable()?, self.jdk.clone(), entries, scratch.path().to_owned());
        config.workers = args.workers as usize;
        config.sandbox = sandbox_mode(args.jail.sandbox);
        // Workers that warm up again now and then would make the slices unlike; what starting one costs is told as `cold_tests_per_cpu_s`.
        config.recycle_every = u64::MAX;
        config.allow_read = args.jail.allow_read.iter().map(|dir| host.cwd.join(dir)).collect();
        Ok(config)
    }
}

/// A session with its tests and what they took.
struct Runner<'p> {
    session: JvmSession<'p>,
    /// Processor time of each measured slice.
    slices_us: Vec<u64>,
    wall: Duration,
    /// Before anything counted.
    warm_up_us: u64,
}

impl<'p> Runner<'p> {
    fn start(program: &'p Program, watch: &Watch, config: &SessionConfig) -> Result<Runner<'p>, UserError> {
        let session = launch::start(program, watch, config).map_err(lost)?;
        Ok(Runner { session, slices_us: Vec::new(), wall: Duration::ZERO, warm_up_us: 0 })
    }

    fn slice(&mut self, tests: &[TestCase], counts: bool, mut see: impl FnMut(&[Execution])) -> Result<(), SessionLost> {
        let (before, began) = (self.session.stats().cpu_us, Instant::now());
        for batch in tests.chunks(BATCH) {
            see(&self.session.execute(batch)?);
        }
        let took = self.session.stats().cpu_us.saturating_sub(before);
        if counts {
            self.slices_us.push(took);
            self.wall += began.elapsed();
        } else {
            self.warm_up_us += took;
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.slices_us.iter().sum::<u64>() as f64 / 1e6
    }
}

fn measure(args: &ThroughputArgs, host: &Host) -> Result<Report, UserError> {
    if sandbox_mode(args.jail.sandbox) == Sandbox::Off {
        return Err(UserError::BadFlags { why: "calls with invented arguments are measured in the jail only".into() });
    }
    let machine = Machine::describe(host.cores);
    let subject = Subject::open(args, host)?;
    let program = &subject.program;
    let scratch = Scratch::create(&std::env::temp_dir()).map_err(lost)?;
    let config = subject.config(args, host, &scratch)?;
    let watch = subject.watch();
    let methods = calls::public_statics(program);
    if methods.is_empty() {
        return Err(UserError::ClassPathCorrupt { path: subject.jar, why: "no public static methods".into() });
    }
    let mut probed = Runner::start(program, &watch, &config)?;
    let first = Calls::new(program, methods.clone(), args.seed).take(1);
    probed.session.execute(&first).map_err(lost)?;
    let first_test_ms = host.started.elapsed().as_millis() as u64;

    let tests = Calls::new(program, methods.clone(), args.seed).take(TESTS);
    let harmless = Calls::new(program, calls::harmless(program), args.seed).take(TESTS);
    let mut plain = Runner::start(program, &Watch::default(), &SessionConfig { instrument: false, ..config.clone() })?;
    let all = tests.len();
    let tests = ending(tests, &mut [&mut probed.session, &mut plain.session]).map_err(lost)?;
    let left_out = all - tests.len();
    let mut jailed = Runner::start(program, &Watch::default(), &config)?;
    let mut free = Runner::start(program, &Watch::default(), &SessionConfig { sandbox: Sandbox::Off, ..config.clone() })?;

    let mut outcomes = Outcomes::default();
    let (began, total) = (Instant::now(), Duration::from_secs(args.seconds.into()));
    let mut rounds = 0;
    while rounds == 0 || probed.slices_us.is_empty() || began.elapsed() < total {
        let counts = rounds > 0 && began.elapsed() >= total.mul_f64(WARM_UP);
        let slice = window(&tests, rounds);
        let see = |e: &[Execution]| {
            if counts {
                outcomes.count(e);
            }
        };
        probed.slice(&slice, counts, see).map_err(lost)?;
        plain.slice(&slice, counts, |_| {}).map_err(lost)?;
        let slice = window(&harmless, rounds);
        jailed.slice(&slice, counts, |_| {}).map_err(lost)?;
        free.slice(&slice, counts, |_| {}).map_err(lost)?;
        rounds += 1;
    }
    let count = (probed.slices_us.len() * SLICE) as f64;
    let stats = probed.session.stats();
    Ok(Report {
        schema: 1,
        tests_per_cpu_s: rounded(count / probed.seconds()),
        ratio_to_floor: probed.seconds() / plain.seconds(),
        jail_cost: median_ratio(&jailed.slices_us, &free.slices_us) - 1.0,
        floor_tests_per_cpu_s: rounded(count / plain.seconds()),
        cold_tests_per_cpu_s: rounded(stats.tests as f64 * 1e6 / stats.cpu_us.max(1) as f64),
        tests_per_s: rounded(count / probed.wall.as_secs_f64()),
        first_test_ms,
        worker_rss_mb: probed.session.worker_rss_bytes() >> 20,
        parent_rss_mb: machine::peak_rss_mb(),
        heap_mb: config.heap_mb,
        tests: count as u64,
        left_out,
        methods: methods.len(),
        outcomes,
        workers_started: stats.starts,
        seed: args.seed,
        seconds: args.seconds,
        workers: config.workers,
        jar: subject.jar.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        jdk: subject.jdk.version.clone(),
        jail: probed.session.layers().map(|l| l.to_string()).unwrap_or_default(),
        machine,
    })
}

/// The tests that every session brings to an end by themselves.
fn ending(mut tests: Vec<TestCase>, sessions: &mut [&mut JvmSession<'_>]) -> Result<Vec<TestCase>, SessionLost> {
    for session in sessions {
        let mut kept = Vec::with_capacity(tests.len());
        for batch in tests.chunks(BATCH) {
            let results = session.execute(batch)?;
            kept.extend(results.iter().map(ends));
        }
        let mut kept = kept.into_iter();
        tests.retain(|_| kept.next().unwrap_or(false));
    }
    Ok(tests)
}

fn ends(execution: &Execution) -> bool {
    match &execution.outcome {
        Outcome::Normal => true,
        Outcome::Thrown { chain, .. } => !chain.iter().any(|t| t.exception == "java.lang.OutOfMemoryError"),
        _ => false,
    }
}

/// The tests of a round.
fn window(tests: &[TestCase], round: usize) -> Vec<TestCase> {
    tests.iter().cycle().skip(round * SLICE % tests.len().max(1)).take(SLICE).cloned().collect()
}

/// Of slices run side by side: robust against a neighbour that wakes up in one of them.
fn median_ratio(a: &[u64], b: &[u64]) -> f64 {
    let mut ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| *a as f64 / (*b).max(1) as f64).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
}

fn rounded(v: f64) -> f64 {
    v.round()
}

impl Report {
    fn text(&self) -> String {
        let Outcomes { normal, thrown, invalid, step_limit, time_limit, exit, died } = &self.outcomes;
        let rows = [
            ("tests per CPU-second", format!("{:.0} (floor without probes {:.0})", self.tests_per_cpu_s, self.floor_tests_per_cpu_s)),
            ("slower than the floor", format!("{:.2} x", self.ratio_to_floor)),
            ("cost of the jail", format!("{:.1} %", self.jail_cost * 100.0)),
            ("with start and warm-up", format!("{:.0} tests per CPU-second, {} workers started", self.cold_tests_per_cpu_s, self.workers_started)),
            ("tests per second", format!("{:.0} with {} workers", self.tests_per_s, self.workers)),
            ("first test after", format!("{} ms", self.first_test_ms)),
            ("memory", format!("worker {} MB with a heap of {} MB, parent {} MB", self.worker_rss_mb, self.heap_mb, self.parent_rss_mb)),
            ("measured", format!("{} tests on {} methods of {}, seed {}, {} left out", self.tests, self.methods, self.jar, self.seed, self.left_out)),
            (
                "they ended",
                format!(
                    "{normal} normal, {thrown} thrown, {invalid} invalid, {step_limit} by steps, {time_limit} by time, {exit} by exit, {died} with their worker"
                ),
            ),
            ("on", format!("JDK {}, {} ({} cores, load {})", self.jdk, self.machine.cpu, self.machine.cores, self.machine.load)),
            ("jail", self.jail.clone()),
        ];
        rows.iter().map(|(name, value)| format!("{name:<24}{value}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_slice_does_not_change_the_ratio() {
        assert_eq!(median_ratio(&[105, 900, 105], &[100, 100, 100]), 1.05);
        assert_eq!(median_ratio(&[], &[]), 1.0);
    }
}
