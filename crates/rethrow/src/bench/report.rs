//! stub
use crate::cli::BenchReportArgs;
use crate::config::Host;
use crate::error::UserError;
pub fn run(_args: &BenchReportArgs, _host: &Host) -> Result<u8, UserError> {
    Ok(0)
}
