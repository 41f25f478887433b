//! Which language a log speaks: the only place in the program that asks.
//!
//! There is one language so far. A second one adds an arm here, and nothing above changes.

use rethrow_core::parsed::Parsed;
use rethrow_jvm::trace::{self, FoundTrace};

use crate::error::UserError;

/// All traces in the text; `log` names it in messages.
pub fn find_traces(bytes: &[u8], log: &str) -> Result<Parsed<Vec<FoundTrace>>, UserError> {
    let found = trace::parse_all(bytes);
    if !found.value.is_empty() {
        return Ok(found);
    }
    let text = trace::decode_text(bytes);
    let log = log.to_string();
    Err(match trace::foreign_language(&text) {
        Some(language) => UserError::OtherLanguage { log, language },
        None => UserError::NoTrace { log, lines: text.lines().count(), nearest: trace::nearest_lines(&text) },
    })
}
