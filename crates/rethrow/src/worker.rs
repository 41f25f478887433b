//! Starts the workers of a run: which classes they watch, in which jail, and what is recorded of them.

use std::path::Path;

use rethrow_core::program::TypeId;
use rethrow_jvm::launch::{JvmSession, SessionConfig, StartError, Watch, watch};

use crate::align::Aligned;
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::error::UserError;
use crate::record::RunRecord;

/// The trace's classes are watched in full (architecture §13, probes).
pub fn watch_trace(aligned: &Aligned) -> Watch {
    let mut types: Vec<TypeId> = Vec::new();
    for frame in &aligned.goal.frames {
        if !types.contains(&frame.class) {
            types.push(frame.class);
        }
    }
    watch(&aligned.program, &types, |name| aligned.classpath.class_bytes(name))
}

pub fn start<'a>(config: &Config, aligned: &'a Aligned, watch: &Watch, scratch: &Path) -> Result<JvmSession<'a>, UserError> {
    let failed = |why: String| UserError::WorkerWillNotStart { why };
    let entries = aligned.classpath.launch_entries(scratch).map_err(|e| failed(e.to_string()))?;
    let mut session = SessionConfig::new(own_executable()?, aligned.jdk.clone(), entries, scratch.to_path_buf());
    session.allow_read = config.allow_read.clone();
    session.workers = config.workers;
    session.sandbox = sandbox_mode(config.sandbox);
    session.lazy = initialised_by_tests(aligned);
    session.assertions = aligned.goal.exception == "java.lang.AssertionError";
    JvmSession::start(&aligned.program, watch, &session).map_err(start_error)
}

/// Classes whose initialiser is on the trace: the tests must be the first to use them.
fn initialised_by_tests(aligned: &Aligned) -> Vec<String> {
    let frames = aligned.goal.frames.iter().filter(|f| f.frame.method == "<clinit>");
    frames.map(|f| f.frame.class.clone()).collect()
}

fn start_error(error: StartError) -> UserError {
    UserError::WorkerWillNotStart { why: error.to_string() }
}

/// What the workers did, for the record.
pub fn note(session: &JvmSession<'_>, config: &Config, record: &mut RunRecord) {
    let stats = session.stats();
    record.stats.workers = config.workers;
    record.stats.restarts = stats.starts.saturating_sub(config.workers as u64);
    let layers = session.layers().map(|l| l.to_string()).unwrap_or_default();
    record.jail.layers = layers.split('+').filter(|l| !l.is_empty()).map(String::from).collect();
}
