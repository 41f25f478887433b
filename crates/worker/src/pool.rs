//! Several workers and a spare: spreads a batch over them, replaces those that die or retire, and returns results in the order of the batch.
//!
//! A result is a function of its test and of the steps that its batch is allowed, so it does not matter which worker ran it; a test that killed its worker is blamed and not run again,
//! the others of its run are. It knows nothing of a language.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rethrow_core::execution::{Execution, Outcome};
use rethrow_core::program::Program;
use rethrow_core::target::SessionLost;
use rethrow_core::testcase::TestCase;

use crate::patience::Patience;
use crate::protocol::{Define, Done};
use crate::session::{Clock, Fate, Job, Launch, Limits, Names, StartError, Worker};

/// Tests given to a worker at once, at most.
const CHUNK: usize = 256;
/// Starts that may fail, and deaths without a culprit, in a row.
const MAX_FAILURES: u32 = 3;

/// How a pool works.
#[derive(Clone, Copy, Debug)]
pub struct PoolConfig {
    pub workers: usize,
    pub limits: Limits,
    /// Tests after which a worker is replaced: static state that nobody can put back does not grow for ever.
    pub recycle_every: u64,
    /// Steps are slow: tests that take many are worth them only now and then ([`Patience`]).
    pub slow_steps: bool,
}

/// What a pool did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    pub tests: u64,
    /// Workers started.
    pub starts: u64,
    /// Workers that died under a test.
    pub deaths: u64,
    /// Tests ended by the wall clock: from then on a run is not reproducible by its seed alone.
    pub timeouts: u64,
    /// Processor time of the workers' processes.
    pub cpu_us: u64,
    /// Why workers were replaced, and how often.
    pub replaced: BTreeMap<String, u64>,
}

type Starting = JoinHandle<Result<Worker, StartError>>;

/// See the module documentation.
pub struct Pool {
    launch: Arc<dyn Launch>,
    config: PoolConfig,
    lanes: Vec<Option<Worker>>,
    shared: Shared,
    names: Names,
    clock: Arc<Clock>,
    patience: Option<Patience>,
}

/// What the lanes share while a batch runs.
struct Shared {
    spare: Mutex<Option<Starting>>,
    /// Ran a single test and is as good as new.
    second_hand: Mutex<Option<Worker>>,
    stats: Mutex<PoolStats>,
    last_failure: Mutex<String>,
    preparation: Mutex<Arc<Preparation>>,
    /// Workers on their way out.
    ending: Mutex<Vec<JoinHandle<()>>>,
    /// The values of the batch's statements are wanted.
    inspect: AtomicBool,
}

/// So many times the steps of a test are allowed where types are used for the first time: their initialisers take part.
const FIRST_USE: u32 = 50;
/// So many times its time: nothing is compiled yet.
const FIRST_TIME: u32 = 5;

impl PoolConfig {
    fn limits(&self, steps: u32, pristine: bool) -> Limits {
        let times = if pristine { FIRST_USE } else { 1 };
        Limits { steps: steps.saturating_mul(times), time_ms: self.limits.time_ms.saturating_mul(times.min(FIRST_TIME)), ..self.limits }
    }
}

/// Types that workers make ready outside any test.
#[derive(Clone, Default)]
struct Preparation {
    /// Only ever grows.
    list: Vec<String>,
    /// Those that cannot, or must not, be made ready.
    banned: Vec<String>,
    /// Those that were tried in vain, and how often they cost a worker since.
    in_vain: Vec<(String, u32)>,
    /// Those of them that cost too many; only ever grows.
    broken: Vec<String>,
}

/// So many workers are replaced for the sake of a type that nobody can make ready, so that each test meets it like the first. Then it is left as it is.
const MAX_IN_VAIN: u32 = 3;

impl Preparation {
    fn note_failure(&mut self, name: &str) {
        let Some((_, times)) = self.in_vain.iter_mut().find(|(known, _)| known == name) else { return };
        *times += 1;
        if *times == MAX_IN_VAIN {
            self.broken.push(name.to_owned());
        }
    }
}

/// The state of one batch.
struct Batch<'a> {
    program: &'a Program,
    names: &'a Names,
    tests: &'a [TestCase],
    queue: Mutex<VecDeque<usize>>,
    results: Mutex<Vec<Option<Execution>>>,
    lost: Mutex<Option<SessionLost>>,
    chunk: usize,
    clock: &'a Clock,
    /// That each of its tests may take.
    steps: u32,
}

/// Tests given to a worker at once: several times for each, so that none waits long for the slowest; a worker that is alone gets as much as it may.
fn chunk(tests: usize, lanes: usize) -> usize {
    let parts = if lanes == 1 { 1 } else { lanes * 2 };
    tests.div_ceil(parts).clamp(1, CHUNK)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Starts the first worker, so that what is wrong with all of them is told at once.
    pub fn start(launch: Arc<dyn Launch>, config: PoolConfig) -> Result<Pool, StartError> {
        let first = Worker::start(&*launch)?;
        let mut lanes: Vec<Option<Worker>> = (0..config.workers.max(1)).map(|_| None).collect();
        lanes[0] = Some(first);
        let shared = Shared {
            spare: Mutex::default(),
            second_hand: Mutex::default(),
            stats: Mutex::default(),
            last_failure: Mutex::default(),
            preparation: Mutex::default(),
            ending: Mutex::default(),
            inspect: AtomicBool::new(false),
        };
        lock(&shared.stats).starts = 1;
        let patience = config.slow_steps.then(|| Patience::new(config.limits.steps));
        Ok(Pool { launch, config, lanes, shared, names: Names::default(), clock: Arc::default(), patience })
    }

    pub fn stats(&self) -> PoolStats {
        let mut stats = lock(&self.shared.stats).clone();
        stats.cpu_us += self.lanes.iter().flatten().map(Worker::cpu_us).sum::<u64>();
        stats
    }

    /// A worker that runs, for what it can tell about its platform and its jail.
    pub fn any_worker(&self) -> Option<&Worker> {
        self.lanes.iter().flatten().next()
    }

    /// Adds names; numbers already named must not come again.
    pub fn define(&mut self, new: Define) {
        let all = &mut self.names.all;
        all.types.extend(new.types);
        all.methods.extend(new.methods);
        all.fields.extend(new.fields);
        all.stubs.extend(new.stubs);
        if !new.prepare.is_empty() {
            Arc::make_mut(&mut lock(&self.shared.preparation)).list.extend(new.prepare);
        }
    }

    /// When batches have to be over: what has not run by then counts as ended by the clock.
    pub fn clock(&self) -> Arc<Clock> {
        self.clock.clone()
    }

    /// Types whose first use always belongs to the test.
    pub fn never_prepare(&mut self, types: impl IntoIterator<Item = String>) {
        Arc::make_mut(&mut lock(&self.shared.preparation)).banned.extend(types);
    }

    /// Results in the order of `tests`; only of the first of them if the time is up.
    pub fn execute(&mut self, program: &Program, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        let steps = self.patience.as_mut().map_or(self.config.limits.steps, Patience::next);
        let results = self.execute_within(steps, program, tests)?;
        if let Some(patience) = &mut self.patience {
            patience.note(&results);
        }
        Ok(results)
    }

    fn execute_within(&mut self, steps: u32, program: &Program, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        let lanes = self.lanes.len();
        let batch = Batch {
            program,
            names: &self.names,
            tests,
            queue: Mutex::new((0..tests.len()).collect()),
            results: Mutex::new(tests.iter().map(|_| None).collect()),
            lost: Mutex::default(),
            chunk: chunk(tests.len(), lanes),
            clock: &self.clock,
            steps,
        };
        let (launch, config, shared) = (&self.launch, self.config, &self.shared);
        if lanes == 1 || tests.len() == 1 {
            Lane { worker: &mut self.lanes[0], launch, config, shared }.work(&batch);
        } else {
            std::thread::scope(|scope| {
                for worker in &mut self.lanes {
                    let batch = &batch;
                    scope.spawn(move || Lane { worker, launch, config, shared }.work(batch));
                }
            });
        }
        let lost = lock(&batch.lost).take();
        let results = std::mem::take(&mut *lock(&batch.results));
        self.warm_up();
        if let Some(lost) = lost {
            return Err(lost);
        }
        if self.clock.is_over() {
            // what comes after the first that was not run any more is not in order
            return Ok(results.into_iter().map_while(|r| r).collect());
        }
        results.into_iter().map(|r| r.ok_or_else(|| SessionLost("a test was never run".to_owned()))).collect()
    }

    /// The same, with the values of the statements.
    pub fn inspect(&mut self, program: &Program, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.shared.inspect.store(true, Ordering::Relaxed);
        let results = self.execute_within(self.config.limits.steps, program, tests);
        self.shared.inspect.store(false, Ordering::Relaxed);
        results
    }

    /// Runs one test in a worker that has run nothing.
    pub fn execute_pristine(&mut self, program: &Program, test: &TestCase) -> Result<Execution, SessionLost> {
        for _ in 0..MAX_FAILURES {
            let Some(mut worker) = self.shared.fresh(&self.launch) else { continue };
            let limits = self.config.limits(self.config.limits.steps, true);
            let job = Job { program, names: &self.names, prepare: &[], banned: &[], broken: &[], limits, pristine: true, inspect: false, clock: None };
            let mut ran = worker.run(&job, vec![test.clone()]);
            self.shared.count(&ran.results, matches!(ran.fate, Fate::Dead));
            self.shared.note_replaced(&ran.fate, &ran.why);
            match ran.fate {
                Fate::Healthy => *lock(&self.shared.second_hand) = Some(worker),
                _ => self.shared.retire(worker),
            }
            self.warm_up();
            if let Some((_, execution)) = ran.results.pop() {
                return Ok(execution);
            }
            *lock(&self.shared.last_failure) = ran.why;
        }
        Err(SessionLost(lock(&self.shared.last_failure).clone()))
    }

    /// All in order, in one worker that has run nothing before.
    pub fn replay(&mut self, program: &Program, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.renew();
        let others = self.lanes.split_off(1);
        let results = self.execute_within(self.config.limits.steps, program, tests);
        self.lanes.extend(others);
        results
    }

    /// Replaces all workers.
    pub fn renew(&mut self) {
        let used = self.lanes.iter_mut().filter_map(Option::take).chain(lock(&self.shared.second_hand).take());
        used.for_each(|worker| self.shared.retire(worker));
    }

    /// Sees to it that a spare is on its way.
    fn warm_up(&self) {
        let mut spare = lock(&self.shared.spare);
        if spare.is_none() {
            *spare = Some(start_in_background(&self.launch));
        }
    }
}

impl Drop for Pool {
    /// Waits for a spare on its way in and workers on their way out, so that no process or folder is left behind.
    fn drop(&mut self) {
        for ending in std::mem::take(&mut *lock(&self.shared.ending)) {
            drop(ending.join());
        }
        if let Some(starting) = lock(&self.shared.spare).take() {
            drop(starting.join());
        }
    }
}

fn start_in_background(launch: &Arc<dyn Launch>) -> Starting {
    let launch = launch.clone();
    std::thread::spawn(move || Worker::start(&*launch))
}

impl Shared {
    /// A worker that has run nothing; `None` if it cannot be started, which is noted.
    fn fresh(&self, launch: &Arc<dyn Launch>) -> Option<Worker> {
        let spare = lock(&self.spare).take();
        let started = match spare.map(JoinHandle::join) {
            Some(Ok(Ok(worker))) => Ok(worker),
            _ => Worker::start(&**launch),
        };
        lock(&self.stats).starts += 1;
        started.map_err(|e| *lock(&self.last_failure) = e.to_string()).ok()
    }

    /// A worker for ordinary tests.
    fn next(&self, launch: &Arc<dyn Launch>) -> Option<Worker> {
        if let Some(worker) = lock(&self.second_hand).take() {
            return Some(worker);
        }
        let worker = self.fresh(launch);
        let mut spare = lock(&self.spare);
        if spare.is_none() {
            *spare = Some(start_in_background(launch));
        }
        worker
    }

    /// True if something new was learned.
    fn note_preparation(&self, done: &Done) -> bool {
        if done.prepare.is_empty() && done.unprepared.is_empty() {
            return false;
        }
        let mut known = lock(&self.preparation);
        let known = Arc::make_mut(&mut known);
        let before = (known.list.len(), known.banned.len());
        for name in &done.prepare {
            if !known.list.contains(name) {
                known.list.push(name.clone());
            }
            known.note_failure(name);
        }
        for name in &done.unprepared {
            if !known.in_vain.iter().any(|(known, _)| known == name) {
                known.in_vain.push((name.clone(), 0));
                known.banned.push(name.clone());
            }
        }
        before != (known.list.len(), known.banned.len())
    }

    fn note_replaced(&self, fate: &Fate, why: &str) {
        const LENGTH: usize = 100;
        if !matches!(fate, Fate::Healthy) {
            let why: String = why.lines().next().unwrap_or_default().chars().take(LENGTH).collect();
            *lock(&self.stats).replaced.entry(why).or_default() += 1;
        }
    }

    fn retire(&self, worker: Worker) {
        lock(&self.stats).cpu_us += worker.cpu_us();
        // Ending a process takes a while, and no test waits for it.
        let mut ending = lock(&self.ending);
        ending.retain(|thread| !thread.is_finished());
        ending.push(std::thread::spawn(move || drop(worker)));
    }

    fn count(&self, results: &[(usize, Execution)], died: bool) {
        let mut stats = lock(&self.stats);
        stats.tests += results.len() as u64;
        stats.deaths += u64::from(died);
        stats.timeouts += results.iter().filter(|(_, e)| matches!(e.outcome, Outcome::TimeLimit { .. })).count() as u64;
    }
}

/// One worker's place while a batch runs.
struct Lane<'a> {
    worker: &'a mut Option<Worker>,
    launch: &'a Arc<dyn Launch>,
    config: PoolConfig,
    shared: &'a Shared,
}

/// What a lane's run was good for.
#[derive(PartialEq, Eq)]
enum Yield {
    Useful,
    /// Its first test cannot be told from the first use of a type that cannot be made ready before.
    Stubborn,
    Nothing,
}

impl Lane<'_> {
    fn work(&mut self, batch: &Batch<'_>) {
        let (mut failures, mut stubborn) = (0, false);
        while failures < MAX_FAILURES {
            if batch.clock.is_over() {
                return;
            }
            let Some(worker) = self.worker.take().or_else(|| self.shared.next(self.launch)) else {
                failures += 1;
                continue;
            };
            let room = self.config.recycle_every.max(1).saturating_sub(worker.ran()).max(1);
            let room = if stubborn { 1 } else { usize::try_from(room).unwrap_or(usize::MAX) };
            let taken = batch.take(room);
            if taken.is_empty() {
                *self.worker = Some(worker);
                return;
            }
            let got = self.run(batch, worker, &taken, stubborn);
            stubborn = got == Yield::Stubborn;
            failures = if got == Yield::Nothing { failures + 1 } else { 0 };
        }
        self.give_up(batch);
    }

    fn run(&mut self, batch: &Batch<'_>, mut worker: Worker, taken: &[usize], pristine: bool) -> Yield {
        let tests = taken.iter().map(|i| batch.tests[*i].clone()).collect();
        let known = lock(&self.shared.preparation).clone();
        let Preparation { list, banned, broken, .. } = &*known;
        let inspect = self.shared.inspect.load(Ordering::Relaxed);
        let (limits, clock) = (self.config.limits(batch.steps, pristine), Some(batch.clock));
        let job = Job { program: batch.program, names: batch.names, prepare: list, banned, broken, limits, pristine, inspect, clock };
        let ran = worker.run(&job, tests);
        self.shared.count(&ran.results, matches!(ran.fate, Fate::Dead));
        self.shared.note_replaced(&ran.fate, &ran.why);
        let learned = self.shared.note_preparation(&ran.done);
        let got = match ran.fate {
            _ if learned || !ran.results.is_empty() => Yield::Useful,
            Fate::Retired if !ran.done.prepare.is_empty() => Yield::Stubborn,
            _ => Yield::Nothing,
        };
        if got == Yield::Nothing {
            *lock(&self.shared.last_failure) = ran.why;
        }
        batch.note(taken, ran.results);
        if matches!(ran.fate, Fate::Healthy) && worker.ran() < self.config.recycle_every {
            *self.worker = Some(worker);
        } else {
            self.shared.retire(worker);
        }
        got
    }

    fn give_up(&self, batch: &Batch<'_>) {
        let why = lock(&self.shared.last_failure).clone();
        *lock(&batch.lost) = Some(SessionLost(why));
        lock(&batch.queue).clear();
    }
}

impl Batch<'_> {
    fn take(&self, room: usize) -> Vec<usize> {
        let mut queue = lock(&self.queue);
        let count = queue.len().min(self.chunk).min(room);
        queue.drain(..count).collect()
    }

    /// Keeps results; what has none goes back to the front of the queue.
    fn note(&self, taken: &[usize], results: Vec<(usize, Execution)>) {
        let mut all = lock(&self.results);
        for (place, execution) in results {
            all[taken[place]] = Some(execution);
        }
        let mut queue = lock(&self.queue);
        for index in taken.iter().rev().filter(|i| all[**i].is_none()) {
            queue.push_front(*index);
        }
    }
}
