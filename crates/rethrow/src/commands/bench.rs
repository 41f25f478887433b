//! `rethrow bench`: measurements of rethrow itself. The measuring is in `bench`; here it is only called and told.

use super::catch_interrupts;
use crate::bench::{beacon, fetch, generate, report, run, throughput};
use crate::cli::{BenchCommand, Format};
use crate::config::Host;
use crate::error::UserError;

pub fn run(command: BenchCommand, host: Host) -> (Result<u8, UserError>, Format) {
    match command {
        BenchCommand::Throughput(args) => {
            let format = args.format;
            (throughput::run(&args, &host).map(|()| 0), format)
        }
        BenchCommand::Run(args) => {
            catch_interrupts(&host.interrupted);
            (run::run(&args, &host), Format::Text)
        }
        BenchCommand::Beacon(args) => {
            catch_interrupts(&host.interrupted);
            (beacon::run(&args, &host), Format::Text)
        }
        BenchCommand::Generate(args) => {
            catch_interrupts(&host.interrupted);
            (generate::run(&args, &host), Format::Text)
        }
        BenchCommand::Report(args) => (report::run(&args, &host), Format::Text),
        BenchCommand::Fetch(args) => (fetch::run(&args, &host), Format::Text),
    }
}
