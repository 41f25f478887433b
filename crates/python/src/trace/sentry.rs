//! Sentry's event JSON: `exception.values[]`, the raised one last, with frames outermost first.

use rethrow_core::trace::{Throwable, Trace};
use serde_json::Value;

use super::FoundTrace;
use super::frame::frame;

const MAX_FRAMES: usize = 1 << 14;

/// The traces of an event, or of a list of events.
pub fn event(text: &str) -> Option<Vec<FoundTrace>> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) || !trimmed.contains("\"stacktrace\"") {
        return None;
    }
    let value: Value = serde_json::from_str(trimmed).ok()?;
    let events = value.as_array().cloned().unwrap_or_else(|| vec![value]);
    let found: Vec<FoundTrace> = events.iter().filter_map(one).map(|trace| FoundTrace { trace, first_line: 1, count: 1, thread: None }).collect();
    (!found.is_empty()).then_some(found)
}

fn one(event: &Value) -> Option<Trace> {
    let values = values(event)?;
    let mut chain: Vec<Throwable> = values.iter().rev().filter_map(throwable).collect();
    if chain.iter().all(|t| t.frames.is_empty()) {
        return None;
    }
    let thrown = chain.remove(0);
    Some(Trace { thrown, causes: chain, truncated: false })
}

/// Events have them directly; the web API's have them in an entry.
fn values(event: &Value) -> Option<&Vec<Value>> {
    let direct = event.get("exception").map(|e| e.get("values").unwrap_or(e));
    let entries = event.get("entries").and_then(Value::as_array).into_iter().flatten();
    let entry = entries.filter(|e| e.get("type").and_then(Value::as_str) == Some("exception")).find_map(|e| e.get("data")?.get("values"));
    direct.or(entry)?.as_array()
}

fn throwable(value: &Value) -> Option<Throwable> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let kind = text("type")?;
    let exception = match text("module") {
        Some(module) if !matches!(module, "builtins" | "__main__" | "exceptions") && !kind.contains('.') => format!("{module}.{kind}"),
        _ => kind.to_string(),
    };
    let frames = value.get("stacktrace").and_then(|s| s.get("frames")).and_then(Value::as_array);
    let frames = frames.into_iter().flatten().rev().take(MAX_FRAMES).filter_map(|f| {
        let text = |key: &str| f.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
        let number = f.get("lineno").or_else(|| f.get("lineNo")).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let path = text("abs_path").or_else(|| text("absPath")).or_else(|| text("filename"))?;
        Some(frame(path, text("function").unwrap_or_default(), number))
    });
    Some(Throwable { exception, message: text("value").map(String::from), frames: frames.collect(), suppressed: Vec::new() })
}
