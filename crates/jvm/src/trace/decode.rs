//! From the bytes of a log to clean lines of text.
//!
//! Knows encodings, line ends, colour codes and the ways in which whole traces are escaped into one line (JSON, syslog, `\n`).
//! Does not know what a trace looks like, but for the marks that tell an escaped one from ordinary text.

use std::borrow::Cow;

/// Longer lines are cut: no trace squeezed into one line is longer, and memory stays bounded.
const MAX_LINE: usize = 1 << 20;
const ESCAPE: char = '\u{1b}';

/// The keys under which log shippers put text that a program printed.
const JSON_TEXT_KEYS: [&str; 20] = [
    "log",
    "message",
    "msg",
    "@message",
    "stack_trace",
    "stackTrace",
    "stacktrace",
    "stack",
    "trace",
    "exception",
    "exc_info",
    "throwable",
    "thrown",
    "error",
    "textPayload",
    "extendedStackTrace",
    "full_message",
    "error.stack_trace",
    "exception.stacktrace",
    "error.stack",
];
const JSON_THREAD_KEYS: [&str; 4] = ["thread", "thread_name", "threadName", "process.thread.name"];

/// One line as the program printed it.
pub struct Line<'a> {
    /// Counted from 1 in the input, whatever was unpacked from it.
    pub number: usize,
    pub text: &'a str,
    /// The thread, where the wrapping of the line names it.
    pub thread: Option<&'a str>,
    /// The rest of it was left out.
    pub cut: bool,
}

/// Calls `each` for every line in order.
pub fn for_each_line(bytes: &[u8], mut each: impl FnMut(&Line<'_>)) {
    match utf16(bytes) {
        Some(text) => split_lines(text.as_bytes(), &mut each),
        None => split_lines(bytes, &mut each),
    }
}

/// The whole text in one string: for the hints that are given when no trace was found.
pub fn text(bytes: &[u8]) -> String {
    let mut out = String::new();
    for_each_line(bytes, |line| {
        out.push_str(line.text);
        out.push('\n');
    });
    out
}

/// UTF-16 is told by its mark, or by a NUL in every other byte of the beginning.
fn utf16(bytes: &[u8]) -> Option<String> {
    let little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => {
            let start = &bytes[..bytes.len().min(512)];
            let nuls = |odd: usize| start.iter().skip(odd).step_by(2).filter(|b| **b == 0).count() * 10;
            let half = start.len() / 2;
            match (nuls(0) > half * 7, nuls(1) > half * 7) {
                (false, true) if half >= 4 => true,
                (true, false) if half >= 4 => false,
                _ => return None,
            }
        }
    };
    let unit = |pair: &[u8]| {
        if little { u16::from_le_bytes([pair[0], pair[1]]) } else { u16::from_be_bytes([pair[0], pair[1]]) }
    };
    let units = bytes.chunks_exact(2).map(unit);
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn split_lines(bytes: &[u8], each: &mut impl FnMut(&Line<'_>)) {
    let (mut rest, mut number) = (bytes, 0);
    while !rest.is_empty() {
        number += 1;
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = &rest[..end.min(MAX_LINE)];
        let cut = end > MAX_LINE;
        let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = rest.get(end + width..).unwrap_or_default();
        let decoded = decode(line);
        unpack(&clean(&decoded), number, cut, each);
    }
}

/// UTF-8; a byte that is not is taken for Latin-1, the other encoding that logs are found in.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() * 2);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|b| char::from(*b)));
    }
    Cow::Owned(out)
}

/// Without colour codes, control characters and invisible characters; every kind of blank is a space.
fn clean(line: &str) -> Cow<'_, str> {
    let html = line.contains('&') && ["&lt;", "&gt;", "&nbsp;", "&#"].iter().any(|entity| line.contains(entity));
    let line = if html { Cow::Owned(without_entities(line)) } else { Cow::Borrowed(line) };
    let plain = line.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t'));
    if plain || !line.chars().any(|c| is_invisible(c) || is_odd_blank(c)) {
        return line;
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => skip_escape_sequence(&mut chars),
            c if is_odd_blank(c) => out.push(' '),
            c if is_invisible(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_odd_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' | '\u{b}' | '\u{c}')
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `ESC [ … letter` (colours) or `ESC ] … BEL` (titles); anything else is two characters.
fn skip_escape_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            while chars.peek().is_some_and(|c| matches!(c, '0'..='9' | ';' | '?' | ':')) {
                chars.next();
            }
            chars.next_if(char::is_ascii_alphabetic);
        }
        Some(']') => while chars.next().is_some_and(|c| c != '\u{7}') {},
        _ => {}
    }
}

fn without_entities(line: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&quot;", "\""), ("&#39;", "'"), ("&#36;", "$"), ("&amp;", "&")];
    pairs.iter().fold(line.to_string(), |text, (entity, plain)| text.replace(entity, plain))
}

/// Passes on the line, or the lines that were packed into it.
fn unpack(line: &str, number: usize, cut: bool, each: &mut impl FnMut(&Line<'_>)) {
    if let Some(object) = json_object(line) {
        for text in &object.texts {
            // A value may itself be an escaped or coloured line, as when one shipper feeds another; one level is enough.
            for part in clean_lines(text) {
                each(&Line { number, text: &part, thread: object.thread.as_deref(), cut });
            }
        }
        return;
    }
    match escaped_lines(line) {
        Some(text) => text.split(['\n', '\r']).for_each(|part| each(&Line { number, text: part, thread: None, cut })),
        None => each(&Line { number, text: line, thread: None, cut }),
    }
}

fn clean_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|part| clean(part.strip_suffix('\r').unwrap_or(part)))
}

/// Real line ends for `\n` and `#012`, if the line shows by an escaped frame that it is a whole trace.
fn escaped_lines(line: &str) -> Option<String> {
    let marks = ["\\n\\tat ", "\\nat ", "\\n at ", "\\n    at ", "\\n  at ", "#012#011at ", "#012\tat ", "#012 at ", "#012    at "];
    let packed = line.contains("\\n") || line.contains("#012");
    if !packed || !marks.iter().any(|mark| line.contains(mark)) {
        return None;
    }
    let syslog = line.contains("#012");
    let pairs: &[(&str, &str)] = if syslog { &[("#012", "\n"), ("#011", "\t")] } else { &[("\\r\\n", "\n"), ("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\"")] };
    Some(pairs.iter().fold(line.to_string(), |text, (from, to)| text.replace(from, to)))
}

struct JsonText {
    texts: Vec<String>,
    thread: Option<String>,
}

/// The printed text in a line that holds a JSON object, found by key; nesting does not matter.
fn json_object(line: &str) -> Option<JsonText> {
    let start = line.char_indices().take(200).find(|(_, c)| *c == '{')?.0;
    let body = &line[start..];
    if !body[1..].trim_start().starts_with('"') || !body.contains("\":") {
        return None;
    }
    let mut out = JsonText { texts: Vec::new(), thread: None };
    let (mut rest, mut key) = (body, String::new());
    while let Some(quote) = rest.find('"') {
        let (value, after) = json_string(&rest[quote + 1..]);
        rest = after;
        if rest.trim_start().starts_with(':') {
            key = value;
        } else if JSON_TEXT_KEYS.contains(&key.as_str()) {
            out.texts.push(value);
        } else if JSON_THREAD_KEYS.contains(&key.as_str()) {
            out.thread = Some(value);
        }
    }
    (!out.texts.is_empty()).then_some(out)
}

/// The string up to the closing quote, unescaped, and what follows it.
fn json_string(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &text[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 'b' | 'f')) => {}
                Some((at, 'u')) => {
                    let code = text.get(at + 1..at + 5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    if code.is_some() {
                        chars.nth(3);
                    }
                    out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some((_, other)) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        for_each_line(bytes, |line| out.push(line.text.to_string()));
        out
    }

    #[test]
    fn every_line_end_counts_once() {
        assert_eq!(lines(b"a\nb\r\nc\rd\n\ne"), ["a", "b", "c", "d", "", "e"]);
    }

    #[test]
    fn encodings_are_told_apart() {
        let le: Vec<u8> = "h\u{e9}ad\n\tat x".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "\u{feff}h\u{e9}ad\n\tat x".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [&le[..], &be, "\u{feff}h\u{e9}ad\n\tat x".as_bytes(), b"h\xe9ad\n\tat x"] {
            assert_eq!(lines(bytes), ["h\u{e9}ad", "\tat x"]);
        }
    }

    #[test]
    fn colours_controls_and_entities_go() {
        assert_eq!(lines(b"\x1b[1;31mE\x1b[0m\0x\x1b]0;title\x07y &lt;init&gt;"), ["Exy <init>"]);
        assert_eq!(lines("a\u{a0}b\u{200b}c".as_bytes()), ["a bc"]);
    }

    #[test]
    fn json_lines_are_unpacked_by_key() {
        let line = br#"{"log":"a\n","stream":"stderr"}"#;
        assert_eq!(lines(line), ["a"]);
        assert_eq!(lines(br#"x {"lvl":"E","m":{"message":"a\u0041","stack_trace":"b\n\tat c"}}"#), ["aA", "b", "\tat c"]);
        assert_eq!(lines(br#"{"level":"info"}"#), [r#"{"level":"info"}"#]);
        assert_eq!(lines(br#"{"log":"cut \u00"#), ["cut \u{fffd}00"]);
    }

    #[test]
    fn escaped_traces_are_unpacked_and_paths_are_not() {
        assert_eq!(lines(br"E: x\n\tat a.B.c(D)"), ["E: x", "\tat a.B.c(D)"]);
        assert_eq!(lines(b"E: x#012#011at a.B.c(D)"), ["E: x", "\tat a.B.c(D)"]);
        assert_eq!(lines(br"C:\new\table"), [r"C:\new\table"]);
    }

    #[test]
    fn endless_lines_are_cut() {
        let mut cut = Vec::new();
        for_each_line(&vec![b'x'; MAX_LINE * 2], |line| cut.push((line.text.len(), line.cut)));
        assert_eq!(cut, [(MAX_LINE, true)]);
    }
}
