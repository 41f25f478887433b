//! How many tests a session executes each second.

use crate::cli::ThroughputArgs;
use crate::config::Host;
use crate::error::UserError;

/// Measures and prints.
pub fn run(args: &ThroughputArgs, host: &Host) -> Result<(), UserError> {
    let jar = host.cwd.join(&args.jar);
    if !jar.exists() {
        return Err(UserError::ClassPathMissing { path: jar });
    }
    Err(UserError::BadFlags { why: "throughput is not measured by this version".into() })
}
