//! What every parser of foreign input returns: a value, and what was odd on the way.
//!
//! Such parsers are total: they never panic and never give up silently. This module does not decide what is odd enough to stop
//! for; that is the caller's judgement.

use serde::{Deserialize, Serialize};

/// The value that could be read, and everything in the input that did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parsed<T> {
    pub value: T,
    pub diagnostics: Vec<Diagnostic>,
}

/// One oddity of the input, with the line (from 1) where it stands, if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub line: Option<usize>,
    pub text: String,
}

impl<T> Parsed<T> {
    /// A value read without any oddity.
    pub fn clean(value: T) -> Self {
        Self { value, diagnostics: Vec::new() }
    }

    /// The same diagnostics around another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed { value: change(self.value), diagnostics: self.diagnostics }
    }
}

impl Diagnostic {
    pub fn at(line: usize, text: impl Into<String>) -> Self {
        Self { line: Some(line), text: text.into() }
    }

    pub fn general(text: impl Into<String>) -> Self {
        Self { line: None, text: text.into() }
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_name_their_line() {
        assert_eq!(Diagnostic::at(7, "cut off").to_string(), "line 7: cut off");
        assert_eq!(Diagnostic::general("empty").to_string(), "empty");
    }

    #[test]
    fn mapping_keeps_the_diagnostics() {
        let parsed = Parsed { value: 2, diagnostics: vec![Diagnostic::general("odd")] };
        let mapped = parsed.map(|n| n * 2);
        assert_eq!((mapped.value, mapped.diagnostics.len()), (4, 1));
    }
}
