//! `rethrow generate`: options to a configuration, the run directory, the walk, the closing words.

use super::{catch_interrupts, reporter};
use crate::cli::{Format, GenerateArgs};
use crate::config::{Config, Host};
use crate::error::{UserError, log_bugs_in};
use crate::generate::{self, Options};
use crate::language::UnderTest;
use crate::record::RunDir;
use crate::report::say;

pub fn run(args: GenerateArgs, host: Host) -> Result<u8, UserError> {
    let output = args.output;
    let config = Config::for_generate(&args, host)?;
    let under_test = UnderTest { classes: args.classes, modules: args.module };
    let options = Options { under_test, preset: args.preset, only: args.only, without: args.without };
    catch_interrupts(&config.host.interrupted);
    let dir = RunDir::open(&config.run_dir)?;
    log_bugs_in(dir.path());
    dir.clear()?;
    let mut reporter = reporter(&config, output);
    let walked = {
        let mut emit = |event| reporter.on(&event, config.host.elapsed());
        generate::run(&config, &options, &mut emit)
    };
    reporter.finish();
    let record = match walked {
        Ok(record) => record,
        Err(error) => {
            dir.abandon();
            return Err(error);
        }
    };
    record.write(dir.path())?;
    match output.format {
        Format::Text => say(&record.summary(&config.host.cwd)),
        Format::Json => say(&format!("{}\n", record.json())),
    }
    Ok(record.exit_code)
}
