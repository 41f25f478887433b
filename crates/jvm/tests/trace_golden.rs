//! Every log in `testdata/logs/java` is read as its `.json` says. `UPDATE_GOLDEN=1` rewrites the expectations: read the diff.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rethrow_core::parsed::{Diagnostic, Parsed};
use rethrow_core::trace::{Frame, Throwable, Trace, Via, Wanted, accepts};
use rethrow_jvm::trace::{FoundTrace, Standard, parse_all};
use serde_json::{Map, Value, json};

fn logs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/java");
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
        let got = shown(&parse_all(&fs::read(&log).unwrap()));
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
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/java");
    let json = fs::read_dir(dir).unwrap().filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "json")).count();
    assert_eq!(json, logs().len(), "each log has its expectation");
    assert!(json >= 36);
}

/// What was read can be printed as a JVM would, and is then read as the same.
#[test]
fn every_whole_trace_survives_printing() {
    let mut survived = 0;
    for log in logs() {
        for found in parse_all(&fs::read(&log).unwrap()).value.iter().filter(|found| is_printable(&found.trace)) {
            let again = parse_all(Standard(&found.trace).to_string().as_bytes());
            assert_eq!(again.value.first().map(|f| &f.trace), Some(&found.trace), "{}", log.display());
            survived += 1;
        }
    }
    assert!(survived >= 30, "{survived}");
}

/// Printing has no place for what is missing.
fn is_printable(trace: &Trace) -> bool {
    let named = |frame: &Frame| !frame.class.is_empty();
    let whole = |thrown: &Throwable| thrown.frames.iter().all(named) && thrown.suppressed.iter().all(is_printable);
    !trace.truncated && trace.chain().all(whole)
}

/// The same crash as JDK 8 and JDK 17 print it, the latter from a test: it is recognised, and mutants of it are not.
#[test]
fn the_jdk_does_not_matter_and_the_program_does() {
    let old = "java.lang.IndexOutOfBoundsException: Index: 2, Size: 1
\tat java.util.ArrayList.rangeCheck(ArrayList.java:657)
\tat java.util.ArrayList.get(ArrayList.java:433)
\tat org.shop.Shelf.take(Shelf.java:27)
\tat sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
\tat java.lang.reflect.Method.invoke(Method.java:498)
\tat org.shop.Shop.sell(Shop.java:14)";
    let new = "java.lang.IndexOutOfBoundsException: Index 2 out of bounds for length 1
\tat java.base/jdk.internal.util.Preconditions.outOfBounds(Preconditions.java:64)
\tat java.base/java.util.Objects.checkIndex(Objects.java:359)
\tat java.base/java.util.ArrayList.get(ArrayList.java:427)
\tat app//org.shop.Shelf.take(Shelf.java:27)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:568)
\tat app//org.shop.Shop.sell(Shop.java:14)
\tat app//org.shop.Shelf_CrashTest.test(Shelf_CrashTest.java:9)";
    let read = |text: &str| parse_all(text.as_bytes()).value.remove(0).trace;
    let want = read(old);
    let frames = want.program_frames();
    let wanted = Wanted { frames: &frames, exception: &want.thrown.exception, causes: &[], frames_of: 0 };
    let via = |text: &str| accepts(&wanted, &read(text).chain().cloned().collect::<Vec<_>>());
    assert_eq!(via(new), Some(Via::Direct));
    assert_eq!(via(&format!("a.WrapperException\n\tat a.B.c(B.java:1)\nCaused by: {new}")), Some(Via::Cause));
    for (from, to) in
        [("Shelf.java:27", "Shelf.java:28"), ("Shelf.take", "Shelf.put"), ("org.shop.Shop.sell", "org.shop.Stop.sell"), ("IndexOutOf", "StringIndexOutOf")]
    {
        assert_eq!(via(&new.replace(from, to)), None, "{to}");
    }
}
