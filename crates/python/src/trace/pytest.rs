//! Pytest's own formats: `path:12: in f` with the `E` lines behind (short), and source with `>` and `E`, then `path:12: ValueError` (long).

use rethrow_core::trace::Frame;

use super::frame::{exception, frame, is_identifier};

/// A line `path:N: rest`.
pub struct Place<'l> {
    pub path: &'l str,
    pub line: u32,
    pub rest: &'l str,
}

pub fn place(text: &str) -> Option<Place<'_>> {
    let (place, rest) = text.split_once(": ").or_else(|| text.strip_suffix(':').map(|t| (t, "")))?;
    let (path, line) = place.rsplit_once(':')?;
    let known = path.ends_with(".py") || path.ends_with(".pyx");
    (known && !path.starts_with(char::is_whitespace)).then_some(())?;
    Some(Place { path, line: line.parse().ok()?, rest: rest.trim() })
}

/// `E   text`: what went wrong.
pub fn error(text: &str) -> Option<&str> {
    text.strip_prefix("E  ").map(|rest| rest.trim_start())
}

pub fn is_error(text: &str) -> bool {
    error(text).is_some_and(|rest| exception(rest).is_some())
}

/// `____ test_name ____`: a report begins.
pub fn is_rule(text: &str) -> bool {
    let text = text.trim_end();
    (text.starts_with("____") || text.starts_with("====")) && (text.ends_with("____") || text.ends_with("===="))
}

/// What one report has told so far.
#[derive(Default)]
pub struct Report {
    /// Outermost first.
    pub frames: Vec<Frame>,
    pub exception: Option<String>,
    pub message: Vec<String>,
    pub first_line: usize,
    function: Option<String>,
}

/// More are not kept.
const MAX_FRAMES: usize = 4000;
const MAX_MESSAGE: usize = 100;

impl Report {
    /// Takes a line of a report; whether it meant something.
    pub fn line(&mut self, number: usize, text: &str) -> bool {
        if let Some(rest) = error(text) {
            self.error(number, rest);
            return true;
        }
        if let Some(name) = defined(text) {
            self.function.get_or_insert_with(|| name.to_string());
        }
        let Some(place) = place(text) else { return false };
        let (name, ends) = match place.rest.strip_prefix("in ") {
            Some(name) => (name.to_string(), false),
            None => (self.function.take().unwrap_or_default(), !place.rest.is_empty()),
        };
        self.function = None;
        if ends && exception(place.rest).is_none() {
            return false;
        }
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(frame(place.path, &name, Some(place.line)));
        }
        if ends && self.exception.as_deref().is_none_or(|e| e.rsplit('.').next() != place.rest.rsplit('.').next()) {
            self.exception = Some(place.rest.to_string());
        }
        true
    }

    fn error(&mut self, number: usize, rest: &str) {
        if self.exception.is_none() {
            self.first_line = number;
            let (name, message) = match exception(rest) {
                Some((name, message)) => (name, message.unwrap_or_default()),
                None => ("AssertionError", rest),
            };
            self.exception = Some(name.to_string());
            self.message.push(message.to_string());
        } else if self.message.len() < MAX_MESSAGE {
            self.message.push(rest.to_string());
        }
    }

    pub fn is_whole(&self) -> bool {
        self.exception.is_some() && !self.frames.is_empty()
    }
}

/// The function whose source is shown: `    def name(`.
fn defined(text: &str) -> Option<&str> {
    let code = text.trim_start_matches(['>', ' ']);
    let rest = code.strip_prefix("def ").or_else(|| code.strip_prefix("async def "))?;
    let name = rest.split('(').next()?.trim();
    is_identifier(name).then_some(name)
}
