//! The traceback reader takes any text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethrow_python::trace::{looks_like_python, parse_all};

fuzz_target!(|text: &str| {
    let parsed = parse_all(text);
    for found in &parsed.value {
        assert!(found.count > 0 && found.first_line > 0);
        assert!(found.trace.chain().any(|thrown| !thrown.frames.is_empty()));
    }
    looks_like_python(text);
});
