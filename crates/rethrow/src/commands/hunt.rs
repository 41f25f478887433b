//! `rethrow hunt`: options to a configuration; the rest is as for `reproduce`.

use super::reproduce;
use crate::cli::HuntArgs;
use crate::config::{Config, Host};
use crate::error::UserError;

pub fn run(args: HuntArgs, host: Host) -> Result<u8, UserError> {
    let output = args.run.output;
    reproduce::walk(Config::for_hunt(args, host)?, output)
}
