//! Every log in `testdata/logs/python` is read as its `.json` says. `UPDATE_GOLDEN=1` rewrites the expectations: read the diff.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rethrow_core::parsed::{Diagnostic, Parsed};
use rethrow_python::trace::{FoundTrace, looks_like_python, parse_all};
use serde_json::{Map, Value, json};

fn logs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/python");
    let entries = fs::read_dir(&dir).expect("the corpus is in the repository");
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).filter(|path| path.extension().is_some_and(|e| e == "log")).collect();
    logs.sort();
    logs
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

fn shown(parsed: &Parsed<Vec<FoundTrace>>) -> String {
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

#[test]
fn every_log_is_read_as_expected() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = String::new();
    for log in logs() {
        let got = shown(&parse_all(&fs::read_to_string(&log).unwrap()));
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

#[test]
fn the_corpus_is_complete() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/python");
    let json = fs::read_dir(dir).unwrap().filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "json")).count();
    assert_eq!(json, logs().len(), "each log has its expectation");
    assert!(json >= 28);
}

#[test]
fn what_has_a_trace_looks_like_python() {
    for log in logs() {
        let text = fs::read_to_string(&log).unwrap();
        let found = !parse_all(&text).value.is_empty();
        assert!(!found || looks_like_python(&text), "{}", log.display());
    }
    assert!(!looks_like_python("java.lang.X: y\n\tat a.B.c(D.java:1)\n"));
}
