//! Golden logs of Python, and what holds for all of them.

#[path = "../../core/tests/support/golden.rs"]
mod golden;

use std::fs;

use rethrow_python::trace::{looks_like_python, parse_all};

#[test]
fn every_log_is_read_as_expected() {
    golden::check("python", |bytes| parse_all(std::str::from_utf8(bytes).expect("the logs are UTF-8")));
}

#[test]
fn the_corpus_is_complete() {
    golden::check_complete("python", 28);
}

#[test]
fn what_has_a_trace_looks_like_python() {
    for log in golden::logs("python") {
        let text = fs::read_to_string(&log).unwrap();
        let found = !parse_all(&text).value.is_empty();
        assert!(!found || looks_like_python(&text), "{}", log.display());
    }
    assert!(!looks_like_python("java.lang.X: y\n\tat a.B.c(D.java:1)\n"));
}
