//! Python tracebacks in text: finding them in whatever a user has.
//!
//! The input is text with any log around the tracebacks; reading is total, takes linear time and bounded memory, and tells what was odd. The target
//! is what is printed last of a chain: that is what left the program; what it was raised from follows as causes, nearest first. Frames name the file as
//! it was printed; which type that is, only the program can tell (`source::align`).

mod assemble;
mod frame;
mod group;
mod line;
mod pytest;
mod sentry;

use rethrow_core::parsed::Parsed;
use rethrow_core::trace::Trace;
use serde::{Deserialize, Serialize};

pub use frame::is_platform;

/// A trace and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTrace {
    pub trace: Trace,
    /// The line (from 1) that names the exception, of the first copy.
    pub first_line: usize,
    /// How many identical copies there are.
    pub count: usize,
    pub thread: Option<String>,
}

/// All traces in the text, in order of appearance, identical ones merged.
pub fn parse_all(text: &str) -> Parsed<Vec<FoundTrace>> {
    if let Some(found) = sentry::event(text) {
        return Parsed::clean(found);
    }
    let mut assembler = assemble::Assembler::default();
    for (number, raw) in line::lines(text) {
        for line in line::unfold(raw) {
            assembler.line(number, &line::plain(&line));
        }
    }
    assembler.finish()
}

/// Whether the text has something that only Python prints.
pub fn looks_like_python(text: &str) -> bool {
    let found = |line: &str| line::is_header(line) || frame::plain(line).is_some() || pytest::is_error(line);
    sentry::event(text).is_some() || line::lines(text).any(|(_, line)| found(&line::plain(line)))
}
