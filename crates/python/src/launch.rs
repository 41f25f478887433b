//! The parent side of Python workers: the command they are started with, what they are told first, and how they are started.
//!
//! The generic part (starting, spreading, blaming, replacing) is `rethrow_worker::pool`; the other end is `worker.py`.

mod names;
mod setup;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethrow_core::program::Program;
use rethrow_worker::pool::PoolConfig;
use rethrow_worker::process::JailedCommand;
use rethrow_worker::sandbox::Sandbox;
use rethrow_worker::session::{Launch, Limits};
use rethrow_worker::workers::Workers;

pub use names::PyNaming;
pub use rethrow_worker::session::StartError;
pub use setup::WORKER_SOURCE;
pub(crate) use setup::environment;

use crate::interpreter::Interpreter;
use crate::plan::Watch;
use setup::Setup;

/// What the processes of a worker need beside what tests may allocate: the interpreter, the modules, twice over for server and child.
const BESIDE_TESTS_MB: u64 = 1024;
/// Tests after which a worker is replaced. Each batch has a fresh fork anyway.
const RECYCLE_EVERY: u64 = 100_000;

/// How a session runs. Everything that comes from flags or the environment is handed in.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// A binary whose `main` enters jails; usually the current executable.
    pub launcher: PathBuf,
    pub interpreter: Interpreter,
    /// Folders that modules are looked for in before all others.
    pub sources: Vec<PathBuf>,
    /// Other files and directories that tests may read.
    pub allow_read: Vec<PathBuf>,
    pub workers: usize,
    pub sandbox: Sandbox,
    /// Scratch folders are made under it.
    pub scratch_parent: PathBuf,
    /// Loop rounds and function entries of one test.
    pub step_limit: u32,
    /// Processor time of one test; four times as much by the clock.
    pub time_limit_ms: u32,
    /// What importing one module may take.
    pub import_limit_ms: u32,
    /// What a test may allocate.
    pub memory_mb: u32,
    pub recycle_every: u64,
    /// Tests that share a fork.
    pub batch: u32,
    /// Without probes: for measuring what they cost.
    pub instrument: bool,
    /// Modules whose import is what the search is after: never imported ahead of a test.
    pub lazy: Vec<String>,
}

impl SessionConfig {
    /// The defaults, for a launcher and an interpreter.
    pub fn new(launcher: PathBuf, interpreter: Interpreter, scratch_parent: PathBuf) -> SessionConfig {
        SessionConfig {
            launcher,
            interpreter,
            sources: Vec::new(),
            allow_read: Vec::new(),
            workers: 1,
            sandbox: Sandbox::Default,
            scratch_parent,
            step_limit: 100_000,
            time_limit_ms: 400,
            import_limit_ms: 20_000,
            memory_mb: 256,
            recycle_every: RECYCLE_EVERY,
            batch: 32,
            instrument: true,
            lazy: Vec::new(),
        }
    }
}

/// Python workers that run tests of one program.
pub type PySession<'p> = Workers<'p, PyNaming>;

/// Starts the first worker.
pub fn start<'p>(program: &'p Program, watch: &Watch, config: &SessionConfig) -> Result<PySession<'p>, StartError> {
    let limits = Limits { steps: config.step_limit, time_ms: config.time_limit_ms, rss_bytes: (u64::from(config.memory_mb) + BESIDE_TESTS_MB) << 20 };
    let pool = PoolConfig { workers: config.workers, limits, recycle_every: config.recycle_every, slow_steps: true };
    Workers::start(program, Arc::new(PyLaunch::new(watch, config)), pool, &config.lazy)
}

/// How a Python worker is started.
struct PyLaunch {
    config: SessionConfig,
    /// Complete but for what depends on the scratch folder.
    setup: Setup,
}

impl PyLaunch {
    fn new(watch: &Watch, config: &SessionConfig) -> PyLaunch {
        PyLaunch { config: config.clone(), setup: Setup::new(watch, config) }
    }
}

impl Launch for PyLaunch {
    fn command(&self, scratch: &Path) -> JailedCommand {
        let config = &self.config;
        let python = &config.interpreter;
        let mut command = JailedCommand::new(&config.launcher, scratch, python.path.as_os_str());
        command.args = setup::arguments(python).into_iter().map(OsString::from).collect();
        command.env = setup::environment(python);
        command.mode = config.sandbox;
        command.read = python.readable();
        command.read.extend(config.sources.iter().chain(&config.allow_read).cloned());
        command
    }

    fn setup(&self, scratch: &Path, progress: &Path) -> Vec<u8> {
        self.setup.encoded(scratch, progress)
    }

    fn scratch_parent(&self) -> &Path {
        &self.config.scratch_parent
    }
}
