//! rethrow: give it a stack trace and the program, get a minimal failing test.
//!
//! A table of contents. The same binary is also the launcher of the jail and the worker inside it; those starts never reach the
//! command line.

mod align;
mod bench;
mod choice;
mod cli;
mod commands;
mod config;
mod confirm;
mod error;
mod explain;
mod generate;
mod hunt;
mod language;
mod log;
mod mechanism;
mod record;
mod report;
mod reproduce;
mod worker;

use std::process::ExitCode;
use std::time::Instant;

/// Tests are many small trees that are made, sent, read and dropped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rethrow_worker::sandbox::run_if_launcher();
    run_if_worker();
    let started = Instant::now();
    error::install_panic_hook(command_line());
    let cli = cli::parse(std::env::args_os());
    ExitCode::from(commands::run_catching_bugs(cli.command, config::Host::read(started)))
}

/// Inside the jail this program is the worker, which never returns.
fn run_if_worker() {
    if std::env::args_os().nth(1).is_some_and(|first| first == rethrow_jvm::embed::WORKER_ARGUMENT) {
        rethrow_jvm::embed::worker_main(rethrow_worker::sandbox::PROTOCOL_FD);
    }
}

/// What was typed, for the report of a bug.
fn command_line() -> String {
    let words = std::env::args_os().map(|word| report::quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}
