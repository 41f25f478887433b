//! `rethrow reproduce`: options to a configuration, the run directory, the walk, the closing words.

use super::{catch_interrupts, reporter, tell};
use crate::cli::{Output, ReproduceArgs};
use crate::config::{Config, Host};
use crate::error::{UserError, log_bugs_in};
use crate::log::Log;
use crate::record::{RunDir, RunRecord, write_atomically};
use crate::reproduce;

pub fn run(args: ReproduceArgs, host: Host) -> Result<u8, UserError> {
    let output = args.run.output;
    walk(Config::resolve(args, host)?, output)
}

/// A whole run, from the run directory to the closing words.
pub fn walk(config: Config, output: Output) -> Result<u8, UserError> {
    catch_interrupts(&config.host.interrupted);
    let dir = RunDir::open(&config.run_dir)?;
    log_bugs_in(dir.path());
    dir.clear()?;
    let mut reporter = reporter(&config, output);
    let walked = keep_stdin(&config).and_then(|()| {
        let mut emit = |event| reporter.on(&event, config.host.elapsed());
        reproduce::run(&config, &mut emit)
    });
    reporter.finish();
    let record: RunRecord = match walked {
        Ok(record) => record,
        Err(error) => {
            dir.abandon();
            return Err(error);
        }
    };
    dir.write(&record)?;
    tell(&record, &config.host, output);
    Ok(record.exit_code)
}

/// A log from standard input is kept in the run directory: a replay needs it again.
fn keep_stdin(config: &Config) -> Result<(), UserError> {
    if !config.from_stdin {
        return Ok(());
    }
    let read = Log::read(std::io::stdin().lock()).map_err(|e| UserError::LogUnreadable { log: config.log_name(), why: e.to_string() })?;
    let written = write_atomically(&config.log, &read.bytes);
    written.map_err(|e| UserError::RunDirUnusable { path: config.log.clone(), why: e.to_string() })
}
