//! `rethrow replay`: the recorded test case of an earlier run, confirmed once more with the same inputs.

use super::{catch_interrupts, reporter, tell};
use crate::cli::ReplayArgs;
use crate::config::Host;
use crate::error::UserError;
use crate::record::RunRecord;
use crate::reproduce;

pub fn run(args: &ReplayArgs, host: Host) -> Result<u8, UserError> {
    let run_dir = host.cwd.join(&args.run_dir);
    let mut old = RunRecord::read(&run_dir)?;
    let bad = |why: &str| UserError::BadRecord { path: run_dir.join("run.json"), why: why.into() };
    if old.test_case.is_none() {
        return Err(bad("this run found no test to replay"));
    }
    let files = old.changed_inputs();
    if !files.is_empty() {
        return Err(UserError::InputsChanged { files });
    }
    catch_interrupts(&host.interrupted);
    old.config.budget_ms = args.budget.as_millis() as u64;
    // The folder may have been moved since.
    old.config.run_dir = run_dir;
    let recorded_home = old.runtime.as_ref().map(|runtime| runtime.home.clone()).filter(|home| home.is_dir());
    old.config.java_home = args.java_home.as_ref().map(|home| host.cwd.join(home)).or(recorded_home);
    old.config.host = host;
    let mut reporter = reporter(&old.config, args.output);
    let replayed = reproduce::replay(&old, &mut |event| reporter.on(&event, old.config.host.elapsed()));
    reporter.finish();
    let record = replayed?;
    tell(&record, &old.config.host, args.output);
    Ok(record.exit_code)
}
