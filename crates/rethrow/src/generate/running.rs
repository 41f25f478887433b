//! Tests of one part in a fresh process, which runs while other work goes on. Another process follows whenever a test ends it or hangs.
//!
//! Which tests stay is decided elsewhere (`fresh`).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethrow_core::target::confirmation::RESULT_FILE;
use rethrow_core::target::suite::{LIST_FILE, TestEnd, TestResult};
use rethrow_worker::process::{Jailed, JailedCommand, spawn};

use super::fresh::{Part, listed, read_result, write};
use crate::error::UserError;

/// Processes that run the tests of one part.
const MAX_RUNS: usize = 6;
/// So many tests say how long one takes.
const TELLING: u32 = 300;
/// What starting a process takes, whatever it runs.
const STARTING: Duration = Duration::from_millis(500);

/// See the module documentation.
pub struct Running {
    pub part: Part,
    /// File and place in it, for each test.
    pub tests: Vec<(usize, usize)>,
    pub ends: Vec<Option<TestEnd>>,
    process: Option<(Jailed, PathBuf)>,
    parse: fn(&str) -> Vec<TestResult>,
    starts: usize,
    begun: Instant,
}

/// What became of it.
pub enum Goes {
    On,
    /// The process ended before all tests had run.
    Again,
    Ended,
}

impl Running {
    pub fn new(part: Part, tests: Vec<(usize, usize)>) -> Running {
        let ends = vec![None; tests.len()];
        Running { part, tests, ends, process: None, parse: |_| Vec::new(), starts: 0, begun: Instant::now() }
    }

    /// Tests that have not ended.
    pub fn open(&self) -> usize {
        self.ends.iter().filter(|end| end.is_none()).count()
    }

    /// What one test took; `None` if there were too few to say.
    pub fn each(&self) -> Option<Duration> {
        let ran = u32::try_from(self.tests.len()).ok().filter(|n| *n >= TELLING)?;
        Some(self.begun.elapsed().saturating_sub(STARTING) / ran)
    }

    /// Runs the open tests.
    pub fn start(&mut self, command: &JailedCommand, folder: &Path, parse: fn(&str) -> Vec<TestResult>) -> Result<(), UserError> {
        let list = self.tests.iter().zip(&self.ends).map(|((f, t), end)| if end.is_some() { String::new() } else { listed(&self.part, *f, *t) });
        write(&folder.join(LIST_FILE), &(list.collect::<Vec<_>>().join("\n") + "\n"))?;
        let process = spawn(command).map_err(|e| UserError::WorkerWillNotStart { why: e.to_string() })?;
        self.process = Some((process, folder.join(RESULT_FILE)));
        self.parse = parse;
        self.starts += 1;
        Ok(())
    }

    /// Looks whether the process has ended; never waits.
    pub fn look(&mut self) -> Goes {
        let Some((process, _)) = &mut self.process else { return Goes::Ended };
        if matches!(process.wait_timeout(Duration::ZERO), Ok(None)) {
            return Goes::On;
        }
        self.stop();
        match self.ends.iter().position(Option::is_none) {
            None => Goes::Ended,
            Some(first) => {
                // it ended the process, or was stopped because it hangs
                self.ends[first] = Some(TestEnd::Hung);
                if self.starts < MAX_RUNS && self.open() > 0 { Goes::Again } else { Goes::Ended }
            }
        }
    }

    /// Ends the process and reads what it told.
    pub fn stop(&mut self) {
        let Some((mut process, results)) = self.process.take() else { return };
        process.kill();
        for result in read_result(&results).map(|text| (self.parse)(&text)).unwrap_or_default() {
            if let Some(slot) = self.ends.get_mut(result.index) {
                *slot = Some(result.ended);
            }
        }
    }
}
