//! Golden logs, for the readers of either language: every log of `testdata/logs/<language>` is read as its `.json` says. `UPDATE_GOLDEN=1` rewrites the
//! expectations: read the diff.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rethrow_core::parsed::{Diagnostic, Parsed};
use serde::Serialize;
use serde_json::{Map, Value, json};

fn files(language: &str, extension: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs").join(language);
    let entries = fs::read_dir(&dir).expect("the corpus is in the repository");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("readable").path()).filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

pub fn logs(language: &str) -> Vec<PathBuf> {
    files(language, "log")
}

/// Without what is absent, so that a reader sees what is there.
fn dense(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(dense).collect()),
        Value::Object(fields) => {
            let absent = |v: &Value| v.is_null() || *v == json!(false) || *v == json!([]);
            Value::Object(fields.into_iter().map(|(k, v)| (k, dense(v))).filter(|(_, v)| !absent(v)).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// JSON with one frame or diagnostic per line.
fn pretty(value: &Value, indent: usize) -> String {
    let block = |open: char, parts: Vec<String>, close: char| {
        let pad = " ".repeat(indent);
        format!("{open}\n {pad}{}\n{pad}{close}", parts.join(&format!(",\n {pad}")))
    };
    match value {
        Value::Array(items) if !items.is_empty() => block('[', items.iter().map(|item| pretty(item, indent + 1)).collect(), ']'),
        Value::Object(fields) if fields.values().any(|v| v.is_array() || v.is_object()) => {
            block('{', fields.iter().map(|(key, field)| format!("{}: {}", json!(key), pretty(field, indent + 1))).collect(), '}')
        }
        flat => flat.to_string(),
    }
}

fn shown<T: Serialize>(parsed: &Parsed<Vec<T>>) -> String {
    let diagnostics: Vec<String> = parsed.diagnostics.iter().map(Diagnostic::to_string).collect();
    let traces = serde_json::to_value(&parsed.value).expect("traces are plain data");
    pretty(&dense(json!({ "traces": traces, "diagnostics": diagnostics })), 0) + "\n"
}

fn diff(expected: &str, got: &str) -> String {
    let (expected, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    let same = expected.iter().zip(&got).take_while(|(e, g)| e == g).count();
    let tail = expected[same..].iter().rev().zip(got[same..].iter().rev()).take_while(|(e, g)| e == g).count();
    let lines = |mark: &str, lines: &[&str]| lines[same..lines.len() - tail].iter().fold(String::new(), |all, line| all + mark + line + "\n");
    format!("line {}:\n{}{}", same + 1, lines("- ", &expected), lines("+ ", &got))
}

/// Each log is read as expected.
pub fn check<T: Serialize>(language: &str, read: impl Fn(&[u8]) -> Parsed<Vec<T>>) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = String::new();
    for log in logs(language) {
        let got = shown(&read(&fs::read(&log).unwrap()));
        let path = log.with_extension("json");
        if update {
            fs::write(&path, &got).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if got != expected {
            let _ = writeln!(wrong, "{} at {}", log.display(), diff(&expected, &got));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each log has its expectation, and there are enough of them.
pub fn check_complete(language: &str, at_least: usize) {
    let expectations = files(language, "json").len();
    assert_eq!(expectations, logs(language).len(), "each log has its expectation");
    assert!(expectations >= at_least);
}
