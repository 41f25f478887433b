//! `rethrow jail -- CMD`: any command in the sandbox that tests run in, with a scratch folder as its working directory.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rethrow_worker::process::{JailedCommand, Output, Scratch, SpawnError, spawn};

use super::{catch_interrupts, sandbox_mode};
use crate::cli::JailArgs;
use crate::config::Host;
use crate::error::UserError;

/// How soon an interrupt is noticed.
const POLL: Duration = Duration::from_millis(100);
const INTERRUPTED: u8 = 130;

pub fn run(args: JailArgs, host: &Host) -> Result<u8, UserError> {
    let mut words = args.command.into_iter();
    let program = words.next().expect("the command line demands a command");
    let name = program.to_string_lossy().into_owned();
    let failed = |error: SpawnError| spawn_error(error, &name);
    let scratch = Scratch::create(&std::env::temp_dir()).map_err(failed)?;
    let launcher = own_executable()?;
    let mut command = JailedCommand::new(launcher, scratch.path(), program).args(words).mode(sandbox_mode(args.jail.sandbox));
    command.output = Output::Inherited;
    command.read = args.jail.allow_read.iter().map(|dir| host.cwd.join(dir)).collect();
    command.loopback = args.loopback;
    if let Some(path) = host.search_path() {
        command = command.env("PATH", path);
    }
    catch_interrupts(&host.interrupted);
    let mut jailed = spawn(&command).map_err(failed)?;
    let lost = |e: std::io::Error| UserError::WorkerWillNotStart { why: e.to_string() };
    loop {
        if let Some(status) = jailed.wait_timeout(POLL).map_err(lost)? {
            return Ok(exit_code(status));
        }
        if host.interrupted.load(Ordering::Relaxed) {
            jailed.kill();
            return Ok(INTERRUPTED);
        }
    }
}

/// This program, which is its own launcher.
pub fn own_executable() -> Result<std::path::PathBuf, UserError> {
    std::env::current_exe().map_err(|e| UserError::WorkerWillNotStart { why: format!("cannot find this program: {e}") })
}

/// What is told when something does not start in the sandbox.
pub fn spawn_error(error: SpawnError, command: &str) -> UserError {
    match error {
        SpawnError::Missing { missing } => UserError::SandboxMissing { layers: missing.iter().map(|layer| layer.name().to_string()).collect() },
        SpawnError::NotFound(_) | SpawnError::NotExecutable { .. } => UserError::CommandNotStarted { command: command.into(), why: error.to_string() },
        other => UserError::WorkerWillNotStart { why: other.to_string() },
    }
}

/// As a shell tells it: a signal is 128 and its number.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
