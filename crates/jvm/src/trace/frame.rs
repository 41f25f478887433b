//! One line of a trace: the frames in it and the words between them.
//!
//! Bug trackers squeeze whole traces into one line, so a line yields several pieces. What the pieces mean together is decided
//! in `assemble`.

use rethrow_core::trace::Frame;

const MAX_NAME: usize = 4096;
/// Test names in Kotlin contain blanks; a sentence with a bracket in it is longer.
const MAX_SPACED_NAME: usize = 200;
const MAX_LOCATION: usize = 400;

/// The packages whose frames are neither counted nor compared.
const PLATFORM: [&str; 5] = ["java.", "javax.", "sun.", "jdk.", "com.sun."];

#[derive(Debug, PartialEq)]
pub enum Piece<'a> {
    /// Anything else, with its leading blanks.
    Text(&'a str),
    Frame(Frame),
    /// `Caused by: …`, with what follows the colon.
    Caused(&'a str),
    Suppressed(&'a str),
    /// Root cause first: the exception that wrapped the one before.
    Wrapped(&'a str),
    /// `... n more`: the last n frames are those of the enclosing exception.
    More(usize),
    /// Frames that the logger left out and that stand nowhere else.
    Omitted,
    /// `[CIRCULAR REFERENCE:…]`
    Circular,
}

/// Whether frames of this class belong to the JDK.
pub fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package))
}

/// The pieces of a line whose log prefix is already gone.
pub fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut done = 0;
    for (at, _) in line.match_indices("at ") {
        if at < done || line[..at].ends_with(is_name_char) {
            continue;
        }
        if let Some((frame, length)) = frame_after_at(&line[at + 3..]) {
            push_words(&line[done..at], done > 0, &mut out);
            out.push(Piece::Frame(frame));
            done = at + 3 + length;
        }
    }
    if done == 0
        && let Some(frame) = bare_frame(line)
    {
        return vec![Piece::Frame(frame)];
    }
    push_words(&line[done..], done > 0, &mut out);
    out
}

/// Whether the text has the beginning of a frame whose end may stand on the next line.
pub fn is_cut_frame(line: &str) -> bool {
    let Some(name) = line.trim_start().strip_prefix("at") else {
        return false;
    };
    if name.trim().is_empty() {
        return line.trim() == "at";
    }
    let Some(name) = name.strip_prefix(' ') else {
        return false;
    };
    let name = name.trim();
    name.len() < MAX_NAME && name.contains('.') && !name.contains(')') && !name.split('(').next().unwrap_or(name).contains(' ')
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Words between frames. After a frame only what belongs to a trace is kept: the rest is decoration.
fn push_words<'a>(words: &'a str, after_frame: bool, out: &mut Vec<Piece<'a>>) {
    let mut rest = if after_frame { &words[next_keyword(words)..] } else { words };
    while !rest.trim_start().is_empty() {
        let trimmed = rest.trim_start();
        let Some((make, skip)) = keyword(trimmed) else {
            return out.push(Piece::Text(rest));
        };
        let body = &trimmed[skip..];
        let end = if after_frame { next_keyword(body) } else { body.len() };
        out.push(make(body[..end].trim()));
        rest = &body[end..];
    }
}

type MakePiece = fn(&str) -> Piece<'_>;

/// The keyword that the text begins with, and its length.
fn keyword(text: &str) -> Option<(MakePiece, usize)> {
    let table: [(&str, MakePiece); 4] = [
        ("Caused by:", |text| Piece::Caused(text)),
        ("Suppressed:", |text| Piece::Suppressed(text)),
        ("Wrapped by:", |text| Piece::Wrapped(text)),
        ("[CIRCULAR REFERENCE", |_| Piece::Circular),
    ];
    for (word, make) in table {
        if let Some(rest) = text.strip_prefix(word) {
            let circular = rest.trim_start().starts_with("[CIRCULAR REFERENCE");
            return Some((if circular { |_| Piece::Circular } else { make }, word.len()));
        }
    }
    let dots = text.strip_prefix("...").or_else(|| text.strip_prefix('\u{2026}'))?;
    dots.trim_start().starts_with(|c: char| c.is_ascii_digit()).then_some((ellipsis as MakePiece, text.len() - dots.len()))
}

/// `12 more`, `12 common frames omitted`; any other reason to leave out frames loses them.
fn ellipsis(text: &str) -> Piece<'_> {
    let (count, reason) = text.split_once(|c: char| !c.is_ascii_digit()).unwrap_or((text, ""));
    let reason = reason.trim_start();
    match count.parse() {
        Ok(n) if reason.starts_with("more") || reason.starts_with("common") => Piece::More(n),
        _ => Piece::Omitted,
    }
}

/// Where the next keyword begins, or the end.
fn next_keyword(text: &str) -> usize {
    let begins = |at: usize, c: char| matches!(c, 'C' | 'S' | 'W' | '.' | '[' | '\u{2026}') && keyword(&text[at..]).is_some();
    text.char_indices().find(|(at, c)| begins(*at, *c)).map_or(text.len(), |(at, _)| at)
}

/// A line that is nothing but a frame, without `at`: its location must leave no doubt.
fn bare_frame(line: &str) -> Option<Frame> {
    let text = line.trim();
    if !text.ends_with([')', ']']) || text.contains(' ') && !text.contains("ative Method") && !text.ends_with(']') {
        return None;
    }
    let (frame, length) = frame_after_at(text)?;
    let certain = (frame.file.is_some() && frame.line.is_some() || frame.native) && frame.class.contains('.');
    (length == text.len() && certain).then_some(frame)
}

/// The frame at the beginning of the text, and its length with the packaging data.
fn frame_after_at(text: &str) -> Option<(Frame, usize)> {
    let start = text.len() - text.trim_start_matches(' ').len();
    let open = start + name_end(&text[start..])?;
    let name = &text[start..open];
    let (location, close) = bracketed(&text[open..])?;
    let place = place(location)?;
    if name.contains(' ') && !(place.certain) {
        return None;
    }
    let (class, method, loader) = split_name(name.trim_end())?;
    let after = open + close;
    let (packaging, length) = packaging(&text[after..]);
    let frame = Frame {
        class: class.to_string(),
        method: method.to_string(),
        file: place.file.map(str::to_string),
        line: place.line,
        native: place.native,
        platform: is_platform(class),
        origin: packaging.or(loader).map(str::to_string),
    };
    Some((frame, after + length))
}

/// Where the bracket of the location opens.
fn name_end(text: &str) -> Option<usize> {
    let (mut spaced, mut dotted) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' => return (at > 0).then_some(at),
            ' ' if !dotted => return None,
            ' ' => spaced = true,
            '.' => dotted = true,
            ')' | '"' | '=' | ';' | ',' | '\t' | '{' | '}' => return None,
            _ => {}
        }
        if at > if spaced { MAX_SPACED_NAME } else { MAX_NAME } {
            return None;
        }
    }
    None
}

/// What stands in the brackets that the text begins with, and where they end.
fn bracketed(text: &str) -> Option<(&str, usize)> {
    let window = &text[..text.char_indices().nth(MAX_LOCATION).map_or(text.len(), |(at, _)| at)];
    let close = window.find(')')?;
    let inner = &window[1..close];
    // J9 says how the code was compiled: (Foo.java:12(Compiled Code)) or (Foo.java(Compiled Code)).
    match inner.split_once('(') {
        None => Some((inner, close + 1)),
        Some((location, note)) if note.ends_with("Compiled Code") && window[close + 1..].starts_with(')') => Some((location, close + 2)),
        Some(_) => None,
    }
}

struct Place<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    native: bool,
    /// It cannot be anything but a place in a source.
    certain: bool,
}

fn place(location: &str) -> Option<Place<'_>> {
    let location = location.trim();
    let (file, line) = match location.rsplit_once(':') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => (file, line.parse().ok()),
        Some((file, "-1" | "-2" | "?")) => (file, None),
        _ => (location, None),
    };
    if matches!(file, "Native Method" | "Native method") {
        return Some(Place { file: None, line: None, native: true, certain: true });
    }
    if matches!(file, "Unknown Source" | "Hidden Source" | "Compiled Code" | "Inlined Compiled Code" | "Unknown source" | "") {
        return (!location.is_empty()).then_some(Place { file: None, line, native: false, certain: !file.is_empty() });
    }
    let extension =
        file.rsplit_once('.').is_some_and(|(stem, ext)| !stem.is_empty() && (1..=10).contains(&ext.len()) && ext.chars().all(char::is_alphanumeric));
    // A second number is a column: another language. A blank is a parameter list, unless a script's name contains it.
    let column = file.rsplit_once(':').is_some_and(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    let blank = file.contains(char::is_whitespace) && !(extension && line.is_some());
    (!column && !blank).then_some(Place { file: Some(file), line, native: false, certain: extension || line.is_some() })
}

/// `loader/module@version/package.Class.method` into class, method and what is before the class.
fn split_name(name: &str) -> Option<(&str, &str, Option<&str>)> {
    // The method follows the last dot of the part without blanks.
    let head = name.split(' ').next().unwrap_or(name);
    let dot = head.rfind('.')?;
    let (qualified, method) = (&name[..dot], &name[dot + 1..]);
    let class = match qualified.rsplit_once('/') {
        // A hidden class ends in a number that the JVM gave it.
        Some((before, tail)) if is_hidden_suffix(tail) => before.rfind('/').map_or(qualified, |at| &qualified[at + 1..]),
        Some((_, class)) => class,
        None => qualified,
    };
    let loader = qualified[..qualified.len() - class.len()].trim_end_matches('/');
    let named = !class.is_empty() && !method.is_empty() && !class.starts_with('.') && !class.contains([' ', '<', '>', '\'', '`', '\\', '|']);
    named.then_some((class, method, (!loader.is_empty()).then_some(loader)))
}

fn is_hidden_suffix(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `~[archive.jar:version]` after a frame: the evidence in it, if any, and its length.
fn packaging(text: &str) -> (Option<&str>, usize) {
    let inner = text.trim_start_matches(' ').trim_start_matches('~');
    let Some(rest) = inner.strip_prefix('[') else {
        return (None, 0);
    };
    let window = &rest[..rest.char_indices().nth(MAX_LOCATION).map_or(rest.len(), |(at, _)| at)];
    let Some(close) = window.find(']') else {
        return (None, 0);
    };
    let evidence = &window[..close];
    if !evidence.contains(':') {
        return (None, 0);
    }
    let unknown = evidence.split(':').all(|part| matches!(part, "?" | "na" | ""));
    ((!unknown).then_some(evidence), text.len() - rest.len() + close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(line: &str) -> Frame {
        match pieces(line).as_slice() {
            [Piece::Frame(frame)] => frame.clone(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn frames_of_many_shapes() {
        for (line, class, method, file, number, origin) in [
            ("\tat a.b.C.m(C.java:12)", "a.b.C", "m", Some("C.java"), Some(12), None),
            ("at C.m(C.java)", "C", "m", Some("C.java"), None, None),
            ("at a.C.<init>(Unknown Source)", "a.C", "<init>", None, None, None),
            ("at a.C.m(Unknown Source:7)", "a.C", "m", None, Some(7), None),
            ("at java.base/java.util.A.b(A.java:1)", "java.util.A", "b", Some("A.java"), Some(1), Some("java.base")),
            ("at java.base@17.0.1/java.util.A.b(A.java:1)", "java.util.A", "b", Some("A.java"), Some(1), Some("java.base@17.0.1")),
            ("at app//a.C.m(C.java:1)", "a.C", "m", Some("C.java"), Some(1), Some("app")),
            ("at app/my.mod@1.2/a.C.m(C.java:1)", "a.C", "m", Some("C.java"), Some(1), Some("app/my.mod@1.2")),
            ("at a.C.m(C.java:1) ~[x-1.2.jar:1.2]", "a.C", "m", Some("C.java"), Some(1), Some("x-1.2.jar:1.2")),
            ("at a.C.m(C.java:1) [?:?]", "a.C", "m", Some("C.java"), Some(1), None),
            ("at a.C$$Lambda$12/0x0000000800c03000.apply(Unknown Source)", "a.C$$Lambda$12/0x0000000800c03000", "apply", None, None, None),
            ("at app//a.C$$Lambda/0x00ff.run(Unknown Source)", "a.C$$Lambda/0x00ff", "run", None, None, Some("app")),
            ("at a.C$1.lambda$run$0(C.java:3)", "a.C$1", "lambda$run$0", Some("C.java"), Some(3), None),
            ("at a.FooTest.adds two numbers(FooTest.kt:9)", "a.FooTest", "adds two numbers", Some("FooTest.kt"), Some(9), None),
            ("at clojure.core$map.invoke (core.clj:22)", "clojure.core$map", "invoke", Some("core.clj"), Some(22), None),
            ("at a.C.m(C.java:12(Compiled Code))", "a.C", "m", Some("C.java"), Some(12), None),
            ("at é.Größe.ändern(Größe.java:5)", "é.Größe", "ändern", Some("Größe.java"), Some(5), None),
            ("  a.b.C.m(C.java:12)  ", "a.b.C", "m", Some("C.java"), Some(12), None),
        ] {
            let frame = only(line);
            let got = (frame.class.as_str(), frame.method.as_str(), frame.file.as_deref(), frame.line, frame.origin.as_deref());
            assert_eq!(got, (class, method, file, number, origin), "{line}");
        }
    }

    #[test]
    fn the_platform_is_told_by_its_packages() {
        for (class, platform) in
            [("java.util.A", true), ("javax.swing.A", true), ("com.sun.proxy.$Proxy3", true), ("javaslang.A", false), ("org.java.A", false), ("C", false)]
        {
            assert_eq!(is_platform(class), platform, "{class}");
        }
    }

    #[test]
    fn what_is_not_a_java_frame() {
        for line in [
            "at Object.run (/srv/app.js:10:5)",
            "   at Foo.Bar.Baz(String name, Int32 n) in C:\\x.cs:line 3",
            "   at Foo.Bar.Baz()",
            "we looked at the docs (chapter 3)",
            "somewhat a.b.C.m(C.java:1)",
            "com.acme.Log.write(Log.java:3) - hello",
            "at a.b.C.m(C.java:1",
        ] {
            assert!(!pieces(line).iter().any(|p| matches!(p, Piece::Frame(_))), "{line}");
        }
    }

    #[test]
    fn a_squeezed_trace_comes_apart() {
        let line = "E: bad at a.B.c(B.java:1) at a.B.d(B.java:2) ... 3 more Caused by: F: why at a.B.e(B.java:3) ... 12 common frames omitted";
        let got = pieces(line);
        assert_eq!(got.len(), 7, "{got:?}");
        assert_eq!(got[0], Piece::Text("E: bad "));
        assert_eq!(got[3], Piece::More(3));
        assert_eq!(got[4], Piece::Caused("F: why"));
        assert_eq!(got[6], Piece::More(12));
    }

    #[test]
    fn keywords_begin_a_line() {
        assert_eq!(pieces("  Caused by: a.E: at last"), [Piece::Caused("a.E: at last")]);
        assert_eq!(pieces("\tSuppressed: a.E"), [Piece::Suppressed("a.E")]);
        assert_eq!(pieces("Wrapped by: a.E"), [Piece::Wrapped("a.E")]);
        assert_eq!(pieces("\t... 12 more"), [Piece::More(12)]);
        assert_eq!(pieces("\t... 4 frames excluded"), [Piece::Omitted]);
        assert_eq!(pieces("\t[CIRCULAR REFERENCE:a.E]"), [Piece::Circular]);
        assert_eq!(pieces("Caused by: [CIRCULAR REFERENCE: a.E: x]"), [Piece::Circular]);
        assert_eq!(pieces("it was Caused by: rain"), [Piece::Text("it was Caused by: rain")]);
    }

    #[test]
    fn cut_frames_are_noticed() {
        for (line, cut) in [
            ("\tat com.acme.Foo.bar(Foo.ja", true),
            ("at com.acme.Fo", true),
            ("   at", true),
            ("at noon", false),
            ("at a.b(C.java:1)", false),
            ("attached a.b", false),
        ] {
            assert_eq!(is_cut_frame(line), cut, "{line}");
        }
    }
}
