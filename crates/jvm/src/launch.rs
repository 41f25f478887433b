//! The parent side of JVM workers: which command and options they are started with, which classes they watch, and how they are started.
//!
//! The generic part (starting, spreading, blaming, replacing) is `rethrow_worker::pool`; the other end is `embed`.

mod names;
mod options;
mod watch;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethrow_core::probe::ChainFrame;
use rethrow_core::program::Program;
use rethrow_worker::pool::PoolConfig;
use rethrow_worker::process::JailedCommand;
use rethrow_worker::sandbox::{PROTOCOL_FD, Sandbox};
use rethrow_worker::session::{Launch, Limits};
use rethrow_worker::workers::Workers;

pub use names::{JvmNaming, has_state};
pub use rethrow_worker::session::StartError;
pub use watch::{Watch, watch, watch_at};

use crate::embed::WORKER_ARGUMENT;
use crate::embed::setup::{self, Setup};
use crate::jdk::Jdk;

/// Stack of the thread that runs the tests. More than the JVM's default, because probes make frames larger.
const STACK_BYTES: u32 = 2 << 20;
/// The same where nobody looks for recursion: a test that recurses without end takes as long as its stack is deep.
const SHALLOW_STACK_BYTES: u32 = 512 << 10;
/// What a JVM needs beside its heap: code, metadata, stacks, direct memory.
const BESIDE_HEAP_MB: u64 = 512;

/// Tests after which a worker is replaced by default. A new JVM runs the program tens of times slower until it has compiled it, so that frequent
/// replacement would cost more than all tests together; what leaks into memory replaces a worker anyway.
const RECYCLE_EVERY: u64 = 100_000;

/// How a session runs. Everything that comes from flags or the environment is handed in.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// A binary whose `main` enters jails and serves as worker; usually the current executable.
    pub launcher: PathBuf,
    pub jdk: Jdk,
    /// As a JVM takes them: jars and directories.
    pub classpath: Vec<PathBuf>,
    /// Other files and directories that tests may read.
    pub allow_read: Vec<PathBuf>,
    pub workers: usize,
    pub sandbox: Sandbox,
    /// Scratch folders are made under it.
    pub scratch_parent: PathBuf,
    /// Method entries and loop rounds of one test.
    pub step_limit: u32,
    pub time_limit_ms: u32,
    pub heap_mb: u32,
    /// Whether `assert` statements are executed.
    pub assertions: bool,
    /// How many frames of a stack an exception keeps, where recursion without end is not what is looked for; `None` is the JVM's own choice.
    pub trace_depth: Option<u32>,
    /// Tests after which a worker is replaced.
    pub recycle_every: u64,
    /// Without probes: for measuring what they cost.
    pub instrument: bool,
    /// Classes (run-time names) whose initialiser is what the search is after: never initialised ahead of a test.
    pub lazy: Vec<String>,
}

impl SessionConfig {
    /// The defaults, for a launcher, a JDK and a class path.
    pub fn new(launcher: PathBuf, jdk: Jdk, classpath: Vec<PathBuf>, scratch_parent: PathBuf) -> SessionConfig {
        SessionConfig {
            launcher,
            jdk,
            classpath,
            allow_read: Vec::new(),
            workers: 1,
            sandbox: Sandbox::Default,
            scratch_parent,
            step_limit: 100_000,
            time_limit_ms: 400,
            heap_mb: 128,
            assertions: false,
            trace_depth: None,
            recycle_every: RECYCLE_EVERY,
            instrument: true,
            lazy: Vec::new(),
        }
    }
}

/// JVM workers that run tests of one program.
pub type JvmSession<'p> = Workers<'p, JvmNaming>;

/// Starts the first worker.
pub fn start<'p>(program: &'p Program, watch: &Watch, config: &SessionConfig) -> Result<JvmSession<'p>, StartError> {
    let limits = Limits { steps: config.step_limit, time_ms: config.time_limit_ms, rss_bytes: (u64::from(config.heap_mb) + BESIDE_HEAP_MB) << 20 };
    let pool = PoolConfig { workers: config.workers, limits, recycle_every: config.recycle_every, slow_steps: false };
    Workers::start(program, Arc::new(JvmLaunch::new(watch, config)), pool, &config.lazy)
}

/// How a JVM worker is started.
struct JvmLaunch {
    config: SessionConfig,
    /// Complete but for what depends on the scratch folder.
    setup: Setup,
}

impl JvmLaunch {
    fn new(watch: &Watch, config: &SessionConfig) -> JvmLaunch {
        let setup = Setup {
            libjvm: bytes(&config.jdk.libjvm),
            options: Vec::new(),
            progress: Vec::new(),
            stack_bytes: if config.trace_depth.is_some() { SHALLOW_STACK_BYTES } else { STACK_BYTES },
            instrument: config.instrument,
            watched: watch.classes.clone(),
            probes: watch.plan.points,
            branches: watch.plan.branches,
            switches: watch.plan.switches,
            chain: watch.plan.chain.iter().map(chain_frame).collect(),
        };
        JvmLaunch { config: config.clone(), setup }
    }
}

impl Launch for JvmLaunch {
    fn command(&self, scratch: &Path) -> JailedCommand {
        let config = &self.config;
        let fd = OsString::from(PROTOCOL_FD.to_string());
        let mut command = JailedCommand::new(&config.launcher, scratch, config.launcher.as_os_str());
        command.args = vec![WORKER_ARGUMENT.into(), fd];
        command.mode = config.sandbox;
        command.read = config.classpath.iter().chain(&config.allow_read).chain([&config.jdk.home]).cloned().collect();
        command
    }

    fn setup(&self, scratch: &Path, progress: &Path) -> Vec<u8> {
        let options = options::options(&self.config, scratch);
        let setup = Setup { options, progress: bytes(progress), ..self.setup.clone() };
        postcard::to_stdvec(&setup).expect("plain data can always be written")
    }

    fn scratch_parent(&self) -> &Path {
        &self.config.scratch_parent
    }
}

fn chain_frame(frame: &ChainFrame) -> setup::ChainFrame {
    let ChainFrame { frame, points } = frame;
    setup::ChainFrame { class: frame.class.replace('.', "/"), method: frame.method.clone(), line: frame.line, points: points.clone() }
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
