//! What is recorded of the workers of a run.

use crate::config::Config;
use crate::language::Live;
use crate::record::RunRecord;

/// What the workers did, for the record.
pub fn note(session: &dyn Live, config: &Config, record: &mut RunRecord) {
    let stats = session.stats();
    record.stats.workers = config.workers;
    record.stats.restarts = stats.starts.saturating_sub(config.workers as u64);
    record.stats.replaced = stats.replaced;
    let layers = session.layers().map(|l| l.to_string()).unwrap_or_default();
    record.jail.layers = layers.split('+').filter(|l| !l.is_empty()).map(String::from).collect();
}
