//! The line that names the exception.
//!
//! Judges one line; which of several lines is the head of a trace is decided in `assemble`.

/// How surely a line is the head of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// An exception is named somewhere in the line.
    Mentioned,
    /// The line begins with the name of a class that is not that of an exception by convention.
    Possible,
    /// The line begins with what is an exception by its name, or by the words before it.
    Certain,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub exception: String,
    pub message: Option<String>,
    pub thread: Option<String>,
    pub certainty: Certainty,
}

const EXCEPTION_ENDS: [&str; 5] = ["Exception", "Error", "Throwable", "Failure", "ThreadDeath"];

/// Whether a class of this name is an exception by convention: its name, or that of a class around it, ends as theirs do.
pub fn is_exception_name(name: &str) -> bool {
    let simple = name.rsplit('.').next().unwrap_or(name);
    simple.split('$').any(|part| EXCEPTION_ENDS.iter().any(|end| part.ends_with(end)))
}

/// The head that the line is, if it is one.
pub fn head(line: &str) -> Option<Head> {
    let text = line.trim();
    if let Some((thread, rest)) = uncaught(text) {
        let (exception, message) = named(rest)?;
        return Some(Head { exception, message, thread: Some(thread.to_string()), certainty: Certainty::Certain });
    }
    let name = type_name(text);
    let rest = &text[name.len()..];
    let known = is_exception_name(name);
    let certainty = match (name.contains('.'), known) {
        (true, true) if rest.is_empty() || rest.starts_with([':', '[', '{', '(', '@']) => Certainty::Certain,
        // A word such as "Error" alone begins many lines that are none.
        (false, true) if is_plain_end(rest) && !EXCEPTION_ENDS.contains(&name) => Certainty::Certain,
        (true, false) if is_plain_end(rest) && names_class(name) => Certainty::Possible,
        (false, false) if rest != ":" && is_plain_end(rest) && names_class(name) && name.len() > 1 => {
            // "Failed: java.io.IOException: x" names the exception later.
            if let Some(head) = mentioned(text) {
                return Some(head);
            }
            Certainty::Possible
        }
        _ => return mentioned(text),
    };
    let (exception, message) = named(text)?;
    Some(Head { exception, message, thread: None, certainty })
}

/// The exception and message at the beginning of the text, whatever its name looks like.
pub fn named(text: &str) -> Option<(String, Option<String>)> {
    let name = type_name(text);
    let rest = &text[name.len()..];
    let message = match rest.strip_prefix(':') {
        Some(message) => Some(message.strip_prefix(' ').unwrap_or(message).trim_end().to_string()),
        None if rest.trim().is_empty() => None,
        None => Some(rest.trim().to_string()),
    };
    (!name.is_empty()).then(|| (name.to_string(), message))
}

/// The exception and message of a cause. `None` if what stands there is no name: some exceptions print other things for it.
pub fn cause(text: &str) -> Option<(String, Option<String>)> {
    let name = type_name(text);
    let rest = &text[name.len()..];
    let is_name = is_plain_end(rest) || name.contains('.') && rest.starts_with([' ', '[', '{', '(', '@', ':']);
    if is_name { named(text) } else { None }
}

/// `Exception in thread "main" …`
fn uncaught(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("Exception in thread ")?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\" "),
        None => rest.split_once(' '),
    }
}

/// An exception somewhere in the line; its message only if it is set off as one.
pub fn mentioned(text: &str) -> Option<Head> {
    let mut rest = text;
    while let Some(start) = rest.find(is_identifier_start) {
        let name = type_name(&rest[start..]);
        let after = &rest[start + name.len()..];
        if !name.is_empty() && name.contains('.') && is_exception_name(name) {
            let message = after.strip_prefix(": ").map(|message| message.trim_end().to_string());
            return Some(Head { exception: name.to_string(), message, thread: None, certainty: Certainty::Mentioned });
        }
        rest = if name.is_empty() { &rest[start + 1..] } else { after };
        // The rest of a word that is no name, such as a path, is not looked into.
        rest = rest.trim_start_matches(|c: char| is_identifier_part(c) || c == '.');
    }
    None
}

fn is_plain_end(rest: &str) -> bool {
    rest.is_empty() || rest == ":" || rest.starts_with(": ")
}

/// The last part of the name begins like a class, and it is not the state of a thread in a dump.
fn names_class(name: &str) -> bool {
    let simple = name.rsplit('.').next().unwrap_or(name);
    simple.starts_with(char::is_uppercase) && name != "java.lang.Thread.State"
}

fn is_identifier_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn is_identifier_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The longest dotted name that the text begins with.
fn type_name(text: &str) -> &str {
    let mut end = 0;
    let mut rest = text;
    while rest.starts_with(is_identifier_start) {
        let length = rest.find(|c| !is_identifier_part(c)).unwrap_or(rest.len());
        end = text.len() - rest.len() + length;
        match rest[length..].strip_prefix('.') {
            Some(next) => rest = next,
            None => break,
        }
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_how_sure_they_are() {
        use Certainty::{Certain, Mentioned, Possible};
        for (line, exception, message, certainty) in [
            ("java.lang.NullPointerException", "java.lang.NullPointerException", None, Certain),
            ("java.io.IOException: no\t", "java.io.IOException", Some("no"), Certain),
            ("java.io.IOException: ", "java.io.IOException", Some(""), Certain),
            ("MyException: x: y", "MyException", Some("x: y"), Certain),
            ("MyException", "MyException", None, Certain),
            ("Exception in thread \"a b\" Oops: bad", "Oops", Some("bad"), Certain),
            ("feign.FeignException$NotFound: [404]", "feign.FeignException$NotFound", Some("[404]"), Certain),
            ("a.ApiError{code=3}", "a.ApiError", Some("{code=3}"), Certain),
            ("org.acme.Problem: x", "org.acme.Problem", Some("x"), Possible),
            ("request failed: java.io.IOException: no", "java.io.IOException", Some("no"), Mentioned),
            ("we get a java.io.IOException here", "java.io.IOException", None, Mentioned),
            ("java.io.IOException was thrown", "java.io.IOException", None, Mentioned),
        ] {
            let got = head(line).expect(line);
            assert_eq!((got.exception.as_str(), got.message.as_deref(), got.certainty), (exception, message, certainty), "{line}");
        }
    }

    #[test]
    fn lines_that_are_no_heads() {
        for line in
            ["", "Error: could not start", "Stacktrace:", "com.acme.ErrorHandler started", "java.lang.Thread.State: RUNNABLE", "see a.b.c: d", "Hello there"]
        {
            assert_eq!(head(line), None, "{line}");
        }
    }

    #[test]
    fn a_cause_may_print_something_else_than_its_name() {
        assert_eq!(cause("Oops: bad"), Some(("Oops".into(), Some("bad".into()))));
        assert_eq!(cause("a.E [code 3]"), Some(("a.E".into(), Some("[code 3]".into()))));
        for text in ["C:\\app\\build.xml:11: ", "something else", "", "[x]"] {
            assert_eq!(cause(text), None, "{text}");
        }
    }

    #[test]
    fn the_thread_is_kept() {
        assert_eq!(head("Exception in thread \"pool-1\" a.E").and_then(|h| h.thread).as_deref(), Some("pool-1"));
    }
}
