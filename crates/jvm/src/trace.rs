//! Java stack traces in text: finding them in whatever a user has, and printing them.
//!
//! The input is bytes, of any encoding, with any log around the trace; reading is total, takes linear time and bounded memory,
//! and tells what was odd. The target is the throwable that is printed first. Whether the frames exist in the program is not
//! asked here, and nothing is guessed: frames without an exception above them are a diagnostic, not a trace.

mod assemble;
mod decode;
mod frame;
mod head;
mod hints;
mod prefix;
mod print;

use rethrow_core::parsed::Parsed;
use rethrow_core::trace::Trace;
use serde::{Deserialize, Serialize};

pub use decode::text as decode_text;
pub use frame::is_platform;
pub use hints::{foreign_language, looks_obfuscated, nearest_lines};
pub use print::{Place, Standard};

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
pub fn parse_all(bytes: &[u8]) -> Parsed<Vec<FoundTrace>> {
    let mut assembler = assemble::Assembler::default();
    decode::for_each_line(bytes, |line| assembler.line(line));
    assembler.finish()
}
