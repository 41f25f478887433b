//! The trace reader takes any bytes, and reads what it prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethrow_jvm::trace::{Standard, decode_text, foreign_language, looks_obfuscated, nearest_lines, parse_all};

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse_all(bytes);
    for found in &parsed.value {
        assert!(found.count > 0 && found.first_line > 0);
        assert!(found.trace.chain().any(|thrown| !thrown.frames.is_empty()));
        looks_obfuscated(&found.trace);
        // Odd messages may read as something else; what matters is that reading goes on being total.
        parse_all(Standard(&found.trace).to_string().as_bytes());
    }
    let text = decode_text(bytes);
    foreign_language(&text);
    assert!(nearest_lines(&text).len() <= 3);
});
