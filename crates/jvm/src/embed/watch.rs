//! The clock over the running test: asks the JVM to stop it, and ends the process if that does not help.
//!
//! Processor time counts, so that a busy machine does not make a test look endless; a test that merely waits is judged by the wall clock, and sooner if
//! it waits for something that has no end of its own (a lock, a result that nobody computes), at once if no other thread could end it. Results written
//! before are flushed before the process ends, and the shared page says which test it was.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jvmti::{JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER, JVMTI_THREAD_STATE_WAITING_INDEFINITELY};

use super::progress::ProgressPage;
use super::threads::Others;
use super::vm::{Global, Tools, jvmti};

const POLL: Duration = Duration::from_millis(10);
/// How long a test may take to react to being stopped.
const GRACE: Duration = Duration::from_millis(300);
/// The wall clock's limit, in multiples of the processor's.
const PATIENCE: u32 = 4;
/// What waits without an end of its own is given this part of the limit.
const HOPELESS_PART: u32 = 4;
/// … and this long if nothing else moves, since a lock may be on its way.
const DEADLOCK: Duration = Duration::from_millis(25);
/// A thread that got less than this part of the processor waits for something.
const IDLE_PART: u32 = 10;
/// The exit code of a worker that ended itself; any would do, since the shared page tells.
const ENDED: i32 = 75;

/// Frames on their way to the parent.
pub struct Out {
    pub stream: UnixStream,
    pub buffer: Vec<u8>,
}

impl Out {
    pub fn flush(&mut self) -> std::io::Result<()> {
        let result = self.stream.write_all(&self.buffer);
        self.buffer.clear();
        result
    }
}

/// See the module documentation.
pub struct Watch {
    /// Number of the running test, 0 for none.
    running: Mutex<u32>,
    /// The test that was told to stop.
    stopped: AtomicU32,
    limit_ms: AtomicU32,
    tests: AtomicU32,
    pub progress: ProgressPage,
    pub out: Mutex<Out>,
}

/// What the clock needs to know about the thread that runs the tests.
pub struct Watched {
    pub tools: Tools,
    pub thread: Global,
    /// The throwable that stops it.
    pub throwable: Global,
    pub cpu_clock: libc::clockid_t,
}

impl Watch {
    pub fn new(progress: ProgressPage, stream: UnixStream) -> Watch {
        Watch {
            running: Mutex::new(0),
            stopped: AtomicU32::new(0),
            limit_ms: AtomicU32::new(u32::MAX),
            tests: AtomicU32::new(0),
            progress,
            out: Mutex::new(Out { stream, buffer: Vec::new() }),
        }
    }

    pub fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, u32> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_limit(&self, limit_ms: u32) {
        self.limit_ms.store(limit_ms, Ordering::Relaxed);
    }

    pub fn begin(&self, test: u32) {
        self.progress.begin(test);
        *self.running() = self.tests.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// From here on the test is not stopped any more. True if it was.
    pub fn end(&self) -> bool {
        let test = std::mem::take(&mut *self.running());
        self.progress.end();
        self.stopped.load(Ordering::Relaxed) == test
    }

    /// Watches until the process ends.
    pub fn keep(&self, target: &Watched, others: &Others) {
        let mut seen = 0;
        let (mut since, mut cpu) = (Instant::now(), Duration::ZERO);
        let mut hopeless = Hopeless::default();
        loop {
            std::thread::sleep(POLL);
            let test = *self.running();
            if test != seen || test == 0 {
                (seen, since, cpu) = (test, Instant::now(), cpu_time(target.cpu_clock));
                hopeless = Hopeless::default();
                continue;
            }
            let limit = Duration::from_millis(self.limit_ms.load(Ordering::Relaxed).into());
            let now = cpu_time(target.cpu_clock);
            let waited = hopeless.look(target, now);
            let dead = waited >= DEADLOCK && !others.may_act();
            if dead || waited * HOPELESS_PART >= limit || is_over(since.elapsed(), now.saturating_sub(cpu), limit) {
                self.stop(target, test);
            }
        }
    }

    fn stop(&self, target: &Watched, test: u32) {
        {
            let running = self.running();
            if *running != test {
                return;
            }
            self.stopped.store(test, Ordering::Relaxed);
            // Under the lock: the test cannot end before the exception is on its way, and no later test can get it.
            jvmti!(target.tools, StopThread, target.thread.0, target.throwable.0);
        }
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(1));
            if *self.running() != test {
                return;
            }
        }
        self.give_up()
    }

    fn give_up(&self) -> ! {
        self.progress.timed_out();
        // The running test does not write, so nobody holds it for long.
        let _ = self.out().flush();
        // SAFETY: ends the process at once, without the JVM's own shutdown, which the test could hang.
        unsafe { libc::_exit(ENDED) }
    }
}

/// Since when the thread has only waited for something that has no end of its own.
#[derive(Default)]
struct Hopeless {
    since: Option<(Instant, Duration)>,
}

impl Hopeless {
    /// How long by now; `cpu` is the thread's processor time.
    fn look(&mut self, target: &Watched, cpu: Duration) -> Duration {
        let mut state = 0;
        jvmti!(target.tools, GetThreadState, target.thread.0, &raw mut state);
        if state & (JVMTI_THREAD_STATE_WAITING_INDEFINITELY | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) == 0 {
            self.since = None;
            return Duration::ZERO;
        }
        match self.since {
            Some((since, then)) if then == cpu => since.elapsed(),
            _ => {
                self.since = Some((Instant::now(), cpu));
                Duration::ZERO
            }
        }
    }
}

fn is_over(wall: Duration, cpu: Duration, limit: Duration) -> bool {
    let waits = wall >= limit && cpu * IDLE_PART < wall;
    cpu >= limit || waits || wall >= limit.saturating_mul(PATIENCE)
}

/// The clock of the calling thread's processor time, readable from other threads.
pub fn cpu_clock_of_this_thread() -> libc::clockid_t {
    let mut clock = libc::CLOCK_MONOTONIC;
    // SAFETY: `clock` receives the result; on failure the wall clock is a sound substitute.
    unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    clock
}

/// Processor time of this whole process.
pub fn process_cpu_us() -> u64 {
    cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID).as_micros() as u64
}

fn cpu_time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` receives the result.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_waiting_and_starved_tests_are_judged_differently() {
        let ms = Duration::from_millis;
        for (wall, cpu, over) in [(100, 100, true), (99, 99, false), (150, 20, false), (150, 2, true), (99, 0, false), (400, 90, true)] {
            assert_eq!(is_over(ms(wall), ms(cpu), ms(100)), over, "wall {wall}, cpu {cpu}");
        }
    }
}
