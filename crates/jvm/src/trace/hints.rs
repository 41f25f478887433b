//! What can be told about a text in which no Java trace was found.

use rethrow_core::trace::Trace;

/// How many lines are shown as the nearest to a trace.
const NEAREST: usize = 3;
const MAX_SHOWN: usize = 160;

/// Whether a line, without the blanks around it, is of a language.
type Mark = fn(&str) -> bool;

/// The language of whose traces or panics the text has the marks, if it is not Java.
pub fn foreign_language(text: &str) -> Option<&'static str> {
    let any = |test: Mark| text.lines().any(|line| test(line.trim()));
    let languages: [(&'static str, Mark); 7] = [
        ("Python", |line| line.ends_with("Traceback (most recent call last):") || line.starts_with("File \"") && line.contains("\", line ")),
        ("Go", |line| line.starts_with("goroutine ") && line.ends_with("]:") || line.starts_with("panic: ")),
        ("Rust", |line| line.starts_with("thread '") && line.contains("panicked at")),
        ("C#", |line| {
            line.starts_with("at ") && line.contains(":line ")
                || line.starts_with("Unhandled exception. System.")
                || line.contains("Unhandled Exception: System.")
        }),
        ("JavaScript", is_javascript),
        ("Ruby", |line| line.contains(".rb:") && (line.contains(":in `") || line.contains(":in '"))),
        ("PHP", |line| line.contains("PHP Fatal error:") || line.starts_with("#0 ") && line.contains(".php(")),
    ];
    languages.iter().find(|(_, test)| any(*test)).map(|(name, _)| *name)
}

/// `at f (file.js:10:5)`: a line and a column.
fn is_javascript(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("at ") else {
        return false;
    };
    let mut parts = rest.trim_end_matches(')').rsplitn(3, ':');
    let numbers = [parts.next(), parts.next()].iter().all(|part| part.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())));
    numbers && parts.next().is_some()
}

/// The up to three lines that look most like part of a trace, with their numbers, in order.
pub fn nearest_lines(text: &str) -> Vec<(usize, String)> {
    let mut best: Vec<(usize, usize, &str)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let score = likeness(line);
        if score > 0 {
            // Kept short at once: a log may be all of such lines.
            let place = best.partition_point(|(other, ..)| *other >= score);
            best.insert(place, (score, at + 1, line));
            best.truncate(NEAREST);
        }
    }
    best.sort_by_key(|(_, number, _)| *number);
    best.into_iter().map(|(_, number, line)| (number, line.trim().chars().take(MAX_SHOWN).collect())).collect()
}

fn likeness(line: &str) -> usize {
    let marks = [
        (line.contains("Exception"), 3),
        (line.contains("Error"), 2),
        (line.contains("Caused by"), 3),
        (line.trim_start().starts_with("at "), 3),
        (line.contains(".java"), 3),
        (line.contains("java.") || line.contains("javax."), 2),
        (line.contains(".kt:") || line.contains(".scala:") || line.contains(".groovy:"), 3),
        (line.contains("Unknown Source") || line.contains("Native Method"), 2),
        (line.contains("error") || line.contains("exception"), 1),
        (line.contains("stack trace") || line.contains("stacktrace") || line.contains("Stacktrace"), 1),
    ];
    marks.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum()
}

/// Whether most program frames have names of one or two letters: an obfuscator's work, which a mapping file undoes.
pub fn looks_obfuscated(trace: &Trace) -> bool {
    let frames = trace.program_frames();
    let short = |name: &str| name.chars().count() <= 2;
    let renamed = frames.iter().filter(|f| short(f.class.rsplit(['.', '$']).next().unwrap_or(&f.class)) && (short(&f.method) || f.method.starts_with('<')));
    !frames.is_empty() && renamed.count() * 2 > frames.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rethrow_core::trace::{Frame, Throwable};

    #[test]
    fn other_languages_are_named() {
        for (text, language) in [
            ("Traceback (most recent call last):\n  File \"a.py\", line 3, in f", Some("Python")),
            ("panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:", Some("Go")),
            ("thread 'main' panicked at src/main.rs:3:5:", Some("Rust")),
            ("System.Exception: x\n   at Foo.Bar(Int32 n) in C:\\a.cs:line 3", Some("C#")),
            ("TypeError: x is undefined\n    at f (/srv/a.js:10:5)\n    at /srv/b.js:1:2", Some("JavaScript")),
            ("a.rb:3:in `f': bad (RuntimeError)", Some("Ruby")),
            ("java.lang.X\n\tat a.B.c(B.java:1)", None),
            ("", None),
        ] {
            assert_eq!(foreign_language(text), language, "{text}");
        }
    }

    #[test]
    fn the_nearest_lines_are_shown_in_order() {
        let text = "hello\nat com.acme.Foo.bar(Foo.java\nnothing\nSome error\nan Exception was thrown\nerror\n";
        let got = nearest_lines(text);
        assert_eq!(got.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!(nearest_lines("a\nb"), []);
    }

    #[test]
    fn obfuscation_is_a_matter_of_most_frames() {
        let trace = |names: &[(&str, &str)]| {
            let frames = names.iter().map(|(class, method)| Frame::new(*class, *method, None)).collect();
            Trace { thrown: Throwable { frames, ..Throwable::default() }, ..Trace::default() }
        };
        assert!(looks_obfuscated(&trace(&[("a.b.c", "a"), ("a.b.d$e", "<init>"), ("com.acme.Main", "main")])));
        assert!(!looks_obfuscated(&trace(&[("com.acme.Io", "read"), ("com.acme.Main", "main")])));
        assert!(!looks_obfuscated(&trace(&[])));
    }
}
