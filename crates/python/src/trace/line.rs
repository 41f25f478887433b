//! Lines as a log has them: escapes for colour, prefixes, tracebacks folded into one line.

use std::borrow::Cow;

/// What begins a traceback.
pub const HEADER: &str = "Traceback (most recent call last)";
pub const GROUP_HEADER: &str = "Exception Group Traceback (most recent call last)";
/// Longer lines are cut: no frame and no exception is named beyond.
const MAX_LINE: usize = 64 << 10;
/// Lines that one folded line may become.
const MAX_UNFOLDED: usize = 5000;

/// Lines with their numbers from 1; CR LF and lone CR end lines as well.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let old_mac = !text.contains('\n') && text.contains('\r');
    let end = if old_mac { '\r' } else { '\n' };
    text.split(end).enumerate().map(|(i, line)| (i + 1, cut(line.trim_end_matches('\r'))))
}

fn cut(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// A traceback that a log keeps in one line, as text of a JSON value or with escaped line ends, as its lines; anything else as it is.
pub fn unfold(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains(HEADER) {
        return vec![line.into()];
    }
    let trimmed = line.trim_start();
    if trimmed.starts_with('{')
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(trimmed)
    {
        let mut texts = Vec::new();
        texts_with_header(&value, &mut texts);
        return texts.iter().flat_map(|t| t.lines().take(MAX_UNFOLDED)).map(|l| Cow::Owned(l.to_string())).collect();
    }
    match line.split_once("\\n").is_some_and(|(first, rest)| first.contains(HEADER) && rest.contains("File ")) {
        true => line.split("\\n").take(MAX_UNFOLDED).map(|l| Cow::Owned(l.replace("\\\"", "\"").replace("\\'", "'"))).collect(),
        false => vec![line.into()],
    }
}

fn texts_with_header(value: &serde_json::Value, out: &mut Vec<String>) {
    // serde_json bounds the nesting
    match value {
        serde_json::Value::String(text) if text.contains(HEADER) && out.len() < 8 => out.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|v| texts_with_header(v, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|v| texts_with_header(v, out)),
        _ => {}
    }
}

/// Without escape sequences of terminals.
pub fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                chars.by_ref().find(|c| ('@'..='~').contains(c));
            }
            Some(']') => {
                chars.by_ref().find(|c| matches!(c, '\u{7}' | '\u{1b}'));
            }
            _ => {}
        }
    }
    out.into()
}

pub fn is_header(line: &str) -> bool {
    line.contains(HEADER)
}

/// The line without the prefix that the first line of its traceback has: the same text, or the same but for digits (a time, a counter).
pub fn strip<'l>(line: &'l str, prefix: &str) -> Option<&'l str> {
    if let Some(rest) = line.strip_prefix(prefix) {
        return Some(rest);
    }
    let mut rest = line.chars();
    for p in prefix.chars() {
        let c = rest.next()?;
        if c != p && !(c.is_ascii_digit() && p.is_ascii_digit()) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether a line looks like the beginning of a log record: a date, a time, a level.
pub fn begins_record(line: &str) -> bool {
    const LEVELS: [&str; 9] = ["DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTICE", "TRACE"];
    let start = line.trim_start_matches(['[', '(', ' ']);
    let digits = start.chars().take_while(char::is_ascii_digit).count();
    let after = start[digits..].chars().next();
    let dated = (digits == 4 && matches!(after, Some('-' | '/'))) || (digits == 2 && matches!(after, Some(':' | '/' | '-')));
    dated || LEVELS.iter().any(|level| start.strip_prefix(level).is_some_and(|rest| rest.starts_with([':', ' ', ']', '-'])))
}
