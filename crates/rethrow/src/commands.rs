//! One module for each command; each returns its exit code.

pub mod bench;
pub mod doctor;
pub mod generate;
pub mod hunt;
pub mod jail;
pub mod replay;
pub mod reproduce;

use std::io::Stderr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rethrow_worker::sandbox;

use crate::cli::{Command, Format, Output, Sandbox};
use crate::config::{Config, Host};
use crate::error::{BUG_EXIT, UserError};
use crate::record::RunRecord;
use crate::report::progress::{Mode, Reporter, Settings};
use crate::report::{Glyphs, complain, say, verdict};

/// Runs the command. An error is told here, in the form that the command was asked for.
pub fn run(command: Command, host: Host) -> u8 {
    let glyphs = Glyphs::for_locale(host.unicode);
    let (done, format) = match command {
        Command::Reproduce(args) => with_format(args.run.output.format, || reproduce::run(args, host)),
        Command::Hunt(args) => with_format(args.run.output.format, || hunt::run(args, host)),
        Command::Generate(args) => with_format(args.output.format, || generate::run(args, host)),
        Command::Replay(args) => with_format(args.output.format, || replay::run(&args, host)),
        Command::Doctor(args) => with_format(args.format, || Ok(doctor::run(&args, &host))),
        Command::Jail(args) => with_format(Format::Text, || jail::run(args, &host)),
        Command::Bench(args) => bench::run(args, host),
        #[cfg(debug_assertions)]
        Command::Panic => panic!("asked for"),
    };
    done.unwrap_or_else(|error| {
        if format == Format::Json {
            say(&format!("{}\n", error.json()));
        }
        complain(&error.text(glyphs));
        error.exit_code()
    })
}

/// The exit code of a command whose body panicked; the hook has told the user.
pub fn run_catching_bugs(command: Command, host: Host) -> u8 {
    let body = std::panic::AssertUnwindSafe(|| run(command, host));
    std::panic::catch_unwind(body).unwrap_or(BUG_EXIT)
}

fn with_format(format: Format, body: impl FnOnce() -> Result<u8, UserError>) -> (Result<u8, UserError>, Format) {
    (body(), format)
}

/// The first Ctrl-C (or polite kill) asks whoever works to stop; the second ends the process at once, and the workers with it.
fn catch_interrupts(flag: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset and only sets it. A signal that cannot be caught just kills.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, flag.clone());
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
}

/// Who hears of the progress, for these options.
fn reporter(config: &Config, output: Output) -> Reporter<Stderr> {
    let mode = match (output.format, output.quiet, config.host.stderr_is_terminal) {
        (Format::Json, ..) | (_, true, _) => Mode::Silent,
        (_, _, true) => Mode::Live,
        _ => Mode::Plain,
    };
    let glyphs = Glyphs::for_locale(config.host.unicode);
    let settings = Settings { seed: config.seed, budget: config.budget(), verbose: output.verbose, glyphs };
    Reporter::new(std::io::stderr(), mode, settings)
}

/// The closing words of a run.
fn tell(record: &RunRecord, host: &Host, output: Output) {
    match output.format {
        Format::Text => say(&verdict::block(record, Glyphs::for_locale(host.unicode), &host.cwd)),
        Format::Json => {
            let json = serde_json::to_string_pretty(record).expect("a record that was built is a JSON object");
            say(&format!("{json}\n"));
        }
    }
}

/// The jail's own word for the option.
pub fn sandbox_mode(sandbox: Sandbox) -> sandbox::Sandbox {
    match sandbox {
        Sandbox::Default => sandbox::Sandbox::Default,
        Sandbox::Strict => sandbox::Sandbox::Strict,
        Sandbox::Off => sandbox::Sandbox::Off,
    }
}
