//! The jar that is measured by default, fetched once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::config::Host;
use crate::error::UserError;

const ARTIFACT: &str = "org.apache.commons:commons-lang3:3.12.0";
const FILE: &str = "commons-lang3-3.12.0.jar";

/// The jar that was given, else the default one.
pub fn jar(given: Option<&Path>, host: &Host) -> Result<PathBuf, UserError> {
    let jar = match given {
        Some(given) => host.cwd.join(given),
        None => default_jar(host)?,
    };
    if jar.is_file() { Ok(jar) } else { Err(UserError::ClassPathMissing { path: jar }) }
}

fn default_jar(host: &Host) -> Result<PathBuf, UserError> {
    let failed = |why: &str| UserError::BadFlags { why: format!("{FILE} is not here and cannot be fetched: {why}; give a jar with --jar") };
    let folder = host.cache.as_ref().ok_or_else(|| failed("there is no home folder"))?.join("jars");
    let jar = folder.join(FILE);
    if jar.is_file() {
        return Ok(jar);
    }
    let maven = host.which("mvn").ok_or_else(|| failed("mvn is not installed"))?;
    std::fs::create_dir_all(&folder).map_err(|e| failed(&e.to_string()))?;
    let mut fetch = Command::new(maven);
    fetch.args(["-q", "-B", "dependency:copy"]).arg(format!("-Dartifact={ARTIFACT}")).arg(format!("-DoutputDirectory={}", folder.display()));
    let done = fetch.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|e| failed(&e.to_string()))?;
    if done.success() { Ok(jar) } else { Err(failed("mvn failed")) }
}
