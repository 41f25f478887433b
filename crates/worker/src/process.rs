//! The one gate to foreign processes: start, feed, watch, kill.
//!
//! Everything that runs foreign code (a worker, a confirmation run, a compiler, `rethrow jail`) is a
//! [`JailedCommand`] given to [`spawn`] or [`run_to_end`]. A [`Jailed`] process never outlives its handle, its
//! output never grows beyond its cap, and its whole tree ends with it, also when this process is killed.
//!
//! Not here: what the processes say to each other (the protocol), and what the layers of the jail are
//! ([`crate::sandbox`]).

#![allow(unsafe_code)]

mod output;
mod scratch;
pub mod tree;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub use output::Captured;
use output::Drain;
pub use scratch::Scratch;

use crate::sandbox::{self, Layer, Layers, Note, Sandbox, Spec};

/// Where programs are looked for inside, unless the command sets its own.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
/// What is kept of each output stream by [`spawn`].
const KEPT_OUTPUT: usize = 64 << 10;
/// The largest file that may be written, unless the command says otherwise.
const DEFAULT_FILE_SIZE: u64 = 64 << 20;
/// How long entering the jail may take; it takes milliseconds.
const ENTRY_LIMIT: Duration = Duration::from_secs(20);
/// How long the supervisor may take to end everything before it is killed itself.
const KILL_LIMIT: Duration = Duration::from_secs(8);
/// How long output is awaited after all processes ended.
const OUTPUT_LIMIT: Duration = Duration::from_secs(2);

/// What to do with standard output and error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Drained; the last part is kept.
    #[default]
    Captured,
    /// Goes where this process's goes.
    Inherited,
}

/// A foreign command and what it may touch.
#[derive(Clone, Debug)]
pub struct JailedCommand {
    /// A binary whose `main` begins with [`sandbox::run_if_launcher`]; usually the current executable.
    pub launcher: PathBuf,
    /// A path, or a name looked up in the jail's `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Added to the small fixed environment (`PATH`, `LANG`, `HOME`, `TMPDIR`), over which it takes precedence.
    pub env: Vec<(OsString, OsString)>,
    /// Readable beyond the system's own directories. What does not exist is skipped.
    pub read: Vec<PathBuf>,
    /// The only writable directory; also the working directory, `HOME` and `TMPDIR`.
    pub scratch: PathBuf,
    pub mode: Sandbox,
    /// Layers to do without, as if the kernel refused them: to try out the fallbacks, or to work around a kernel.
    pub withhold: Vec<Layer>,
    /// Processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// The largest file that may be written.
    pub file_size: u64,
    /// Whether the program has TCP on the loopback of a network of its own; where no such network can be made, nothing starts.
    pub loopback: bool,
    /// Whether the program gets a stream to us as descriptor [`sandbox::PROTOCOL_FD`].
    pub protocol: bool,
    pub output: Output,
}

impl JailedCommand {
    pub fn new(launcher: impl Into<PathBuf>, scratch: impl Into<PathBuf>, program: impl Into<OsString>) -> Self {
        JailedCommand {
            launcher: launcher.into(),
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            read: Vec::new(),
            scratch: scratch.into(),
            mode: Sandbox::Default,
            withhold: Vec::new(),
            cpu_seconds: None,
            file_size: DEFAULT_FILE_SIZE,
            loopback: false,
            protocol: false,
            output: Output::Captured,
        }
    }

    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    pub fn mode(mut self, mode: Sandbox) -> Self {
        self.mode = mode;
        self
    }

    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let scratch = self.scratch.as_os_str();
        let fixed: [(&str, &OsStr); 4] = [("PATH", OsStr::new(PATH)), ("LANG", OsStr::new("C.UTF-8")), ("HOME", scratch), ("TMPDIR", scratch)];
        let overridden = |name: &str| self.env.iter().any(|(given, _)| given == name);
        let fixed = fixed.into_iter().filter(|(name, _)| !overridden(name));
        let fixed = fixed.map(|(name, value)| (name.as_bytes().to_vec(), bytes(value)));
        let given = self.env.iter().map(|(name, value)| (bytes(name), bytes(value)));
        fixed.chain(given).collect()
    }

    /// The program as a path.
    fn resolve(&self) -> Result<PathBuf, SpawnError> {
        let missing = || SpawnError::NotFound(self.program.clone());
        if self.program.as_bytes().contains(&b'/') {
            return std::path::absolute(&self.program).map_err(|_| missing());
        }
        let own = self.env.iter().rfind(|(name, _)| name == "PATH");
        let path = own.map_or(OsStr::new(PATH), |(_, value)| value.as_os_str());
        let candidates = std::env::split_paths(path).map(|dir| dir.join(&self.program));
        candidates.into_iter().find(|file| file.is_file()).ok_or_else(missing)
    }

    fn spec(&self, program: Option<&Path>, protocol: Option<RawFd>) -> Spec {
        // The program itself is readable wherever it lies.
        let read = self.read.iter().map(PathBuf::as_path).chain(program);
        Spec {
            program: program.map(bytes),
            args: self.args.iter().map(bytes).collect(),
            env: self.environment(),
            read: read.map(absolute_bytes).collect(),
            scratch: absolute_bytes(&self.scratch),
            mode: self.mode,
            withhold: self.withhold.clone(),
            cpu_seconds: self.cpu_seconds,
            file_size: self.file_size,
            loopback: self.loopback,
            protocol,
        }
    }
}

fn bytes(text: impl AsRef<OsStr>) -> Vec<u8> {
    text.as_ref().as_bytes().to_vec()
}

/// The launcher changes its directory, so relative paths are resolved here.
fn absolute_bytes(path: &Path) -> Vec<u8> {
    bytes(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Why a command did not start. What it does once started is never an error.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("program not found: {}", .0.display())]
    NotFound(OsString),
    #[error("cannot execute {}: {source}", program.display())]
    NotExecutable { program: PathBuf, source: io::Error },
    #[error("scratch directory {}: {source}", path.display())]
    Scratch { path: PathBuf, source: io::Error },
    #[error("cannot start the launcher {}: {source}", launcher.display())]
    Launcher { launcher: PathBuf, source: io::Error },
    #[error("strict sandbox not available here, missing: {}", names(.missing))]
    Missing { missing: Vec<Layer> },
    #[error("cannot enter the jail: {step}: {source}")]
    Jail { step: String, source: io::Error },
}

fn names(layers: &[Layer]) -> String {
    let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
    names.join(", ")
}

/// A running foreign process and all its descendants.
#[derive(Debug)]
pub struct Jailed {
    supervisor: Child,
    /// Closing it ends the jail; its being closed tells the end of the jail.
    control: UnixStream,
    protocol: Option<UnixStream>,
    stdout: Drain,
    stderr: Drain,
    layers: Layers,
    status: Option<ExitStatus>,
}

/// Starts a command; returns when it runs (its `execve` succeeded).
pub fn spawn(command: &JailedCommand) -> Result<Jailed, SpawnError> {
    spawn_keeping(command, KEPT_OUTPUT)
}

/// The layers that a command in this mode gets on this machine. Enters a real jail and leaves it.
pub fn probe(launcher: &Path, mode: Sandbox) -> Result<Layers, SpawnError> {
    let scratch = Scratch::create(&std::env::temp_dir())?;
    let command = JailedCommand::new(launcher, scratch.path(), "").mode(mode);
    let jailed = start(&command, None, KEPT_OUTPUT)?;
    Ok(jailed.layers.clone())
}

fn spawn_keeping(command: &JailedCommand, kept: usize) -> Result<Jailed, SpawnError> {
    let program = command.resolve()?;
    start(command, Some(&program), kept)
}

fn start(command: &JailedCommand, program: Option<&Path>, kept: usize) -> Result<Jailed, SpawnError> {
    let not_launched = |source| SpawnError::Launcher { launcher: command.launcher.clone(), source };
    check_scratch(&command.scratch)?;
    let (ours, theirs) = if command.protocol {
        let (ours, theirs) = UnixStream::pair().map_err(not_launched)?;
        (Some(ours), Some(theirs))
    } else {
        (None, None)
    };
    let spec = command.spec(program, theirs.as_ref().map(AsRawFd::as_raw_fd));
    let mut jailed = launch(command, theirs, kept).map_err(not_launched)?;
    jailed.protocol = ours;
    let notes = jailed.introduce(&spec).map_err(not_launched)?;
    jailed.layers = entered(&notes, program)?;
    Ok(jailed)
}

fn check_scratch(path: &Path) -> Result<(), SpawnError> {
    let fault = |source| SpawnError::Scratch { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(fault)?.is_dir() {
        return Ok(());
    }
    Err(fault(io::ErrorKind::NotADirectory.into()))
}

fn launch(command: &JailedCommand, protocol: Option<UnixStream>, kept: usize) -> io::Result<Jailed> {
    let (control, theirs) = UnixStream::pair()?;
    let stdio = || match command.output {
        Output::Captured => Stdio::piped(),
        Output::Inherited => Stdio::inherit(),
    };
    let mut launcher = Command::new(&command.launcher);
    // No environment of ours: /proc shows the launcher's to others, and it needs none.
    launcher.arg(sandbox::LAUNCHER_ARGUMENT).env_clear();
    launcher.stdin(OwnedFd::from(theirs)).stdout(stdio()).stderr(stdio());
    if let Some(stream) = &protocol {
        let fd = stream.as_raw_fd();
        let inherit = move || match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        };
        // SAFETY: between fork and exec only `fcntl` is called, which is async-signal-safe. In the child, so that no
        // process started meanwhile by another thread inherits the stream.
        unsafe { launcher.pre_exec(inherit) };
    }
    let mut supervisor = launcher.spawn()?;
    Ok(Jailed {
        stdout: Drain::start(supervisor.stdout.take(), kept),
        stderr: Drain::start(supervisor.stderr.take(), kept),
        supervisor,
        control,
        protocol: None,
        layers: Layers::default(),
        status: None,
    })
}

/// Interprets what the launcher said before the program took over.
fn entered(mut notes: &[u8], program: Option<&Path>) -> Result<Layers, SpawnError> {
    let silent = || SpawnError::Jail { step: "launcher ended without a report".to_owned(), source: io::ErrorKind::UnexpectedEof.into() };
    let mut layers = Err(silent());
    while let Ok((note, rest)) = postcard::take_from_bytes::<Note>(notes) {
        notes = rest;
        layers = match note {
            Note::Entered(layers) => Ok(layers),
            Note::Missing(missing) => Err(SpawnError::Missing { missing }),
            Note::Failed { step, errno } => Err(SpawnError::Jail { step, source: io::Error::from_raw_os_error(errno) }),
            Note::NotExecutable { errno } => {
                Err(SpawnError::NotExecutable { program: program.unwrap_or(Path::new("")).to_owned(), source: io::Error::from_raw_os_error(errno) })
            }
        };
    }
    layers
}

impl Jailed {
    /// Hands the launcher its specification and returns its report.
    fn introduce(&mut self, spec: &Spec) -> io::Result<Vec<u8>> {
        let spec = postcard::to_stdvec(spec).map_err(io::Error::other)?;
        self.control.set_write_timeout(Some(ENTRY_LIMIT))?;
        self.control.set_read_timeout(Some(ENTRY_LIMIT))?;
        sandbox::write_block(&mut self.control, &spec)?;
        sandbox::read_block(&mut self.control)
    }

    /// The launcher's process id: the root of the tree.
    pub fn pid(&self) -> u32 {
        self.supervisor.id()
    }

    /// The layers this process is confined by.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The stream to the program, if one was asked for.
    pub fn protocol(&self) -> Option<&UnixStream> {
        self.protocol.as_ref()
    }

    /// Takes the stream to the program; once.
    pub fn take_protocol(&mut self) -> Option<UnixStream> {
        self.protocol.take()
    }

    /// What is kept of standard output so far.
    pub fn stdout(&self) -> Captured {
        self.stdout.captured()
    }

    /// What is kept of standard error so far.
    pub fn stderr(&self) -> Captured {
        self.stderr.captured()
    }

    /// Resident memory of the whole tree.
    pub fn rss_bytes(&self) -> u64 {
        tree::rss_bytes(self.pid())
    }

    /// How the program ended, if it did. From then on nothing of its tree is left.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.supervisor.try_wait()?;
        }
        Ok(self.status)
    }

    /// Waits at most `limit`; `None` if it still runs then.
    pub fn wait_timeout(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && self.ends_within(limit)? {
            self.status = Some(self.supervisor.wait()?);
        }
        Ok(self.status)
    }

    /// The supervisor's end of the control socket is closed by its end and by nothing else.
    fn ends_within(&self, limit: Duration) -> io::Result<bool> {
        let deadline = Instant::now().checked_add(limit);
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            // Rounded up, or the last millisecond would be spent spinning.
            let left_ms = left.map_or(i32::MAX, |left| i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
            if sandbox::hung_up(&self.control, left_ms)? {
                return Ok(true);
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
        }
    }

    /// Ends the whole tree and reaps it. Does nothing if it has ended.
    pub fn kill(&mut self) {
        if matches!(self.try_wait(), Ok(Some(_))) {
            return;
        }
        // The supervisor takes this as our end and leaves nothing behind.
        let _ = self.control.shutdown(std::net::Shutdown::Write);
        if !self.ends_within(KILL_LIMIT).unwrap_or(false) {
            tree::kill(self.pid());
        }
        self.status = self.supervisor.wait().ok();
    }
}

impl Drop for Jailed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A command that ran to its end or its limit.
#[derive(Clone, Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Captured,
    pub stderr: Captured,
    pub timed_out: bool,
    pub layers: Layers,
}

impl Finished {
    /// Ended by itself, with code 0.
    pub fn success(&self) -> bool {
        self.status.success() && !self.timed_out
    }
}

/// Runs a command to its end, at most for `limit`, keeping the last `max_output` bytes of each output stream.
pub fn run_to_end(command: &JailedCommand, limit: Duration, max_output: usize) -> Result<Finished, SpawnError> {
    let mut jailed = spawn_keeping(command, max_output)?;
    let lost = |source| SpawnError::Launcher { launcher: command.launcher.clone(), source };
    let ended = jailed.wait_timeout(limit).map_err(lost)?;
    jailed.kill();
    let status = ended.or(jailed.status);
    Ok(Finished {
        status: status.ok_or_else(|| lost(io::ErrorKind::BrokenPipe.into()))?,
        stdout: jailed.stdout.finished(OUTPUT_LIMIT),
        stderr: jailed.stderr.finished(OUTPUT_LIMIT),
        timed_out: ended.is_none(),
        layers: jailed.layers.clone(),
    })
}
