//! What a user sees: events of a run, the characters to draw with, and the two streams.
//!
//! Nothing here decides anything; `progress` turns events into lines, `verdict` turns a run record into the closing block.

pub mod progress;
pub mod verdict;

use std::io::Write;
use std::path::Path;

/// What happens in a run, as far as a user interface is concerned.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The sandbox that tests will run in: `landlock+seccomp`.
    Sandbox { layers: String },
    /// The trace was found.
    Trace { exception: String, frames: usize, line: Option<usize>, others: usize },
    /// The class path was read.
    Program { source: String, classes: usize, runtime: String },
    /// The trace was held against the program: `fit` of `total` program frames, `platform` frames ignored.
    Aligned { fit: usize, total: usize, platform: usize },
    /// What a hunt looks for, and among how many callables.
    Hunt { wanted: String, callables: usize },
    /// A test of a hunt throws what is wanted.
    Found { evaluations: u64 },
    /// Something odd that did not stop the run.
    Note { text: String },
    /// What is being done from now on.
    Phase { phase: Phase },
    /// How far it is.
    Progress(Progress),
    /// A test reached this frame for the first time.
    Reached { frame: usize, of: usize, place: String },
    /// A fresh process ran the written test.
    Confirmed { runs: u32, agreed: u32, of: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Search,
    Minimize,
    Confirm,
}

/// Numbers of a running search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub evaluations: u64,
    /// Program frames reached so far, and how many are aimed at.
    pub reached: usize,
    pub target: usize,
    /// Distance of the best test to the next frame; 0 is there.
    pub best: Option<f64>,
    pub timeouts: u64,
    pub refused: u64,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Search => "search",
            Phase::Minimize => "minimise",
            Phase::Confirm => "confirm",
        }
    }
}

/// The characters to draw with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    pub check: &'static str,
    pub cross: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    pub arrow: &'static str,
    pub dot: &'static str,
}

impl Glyphs {
    pub const UNICODE: Glyphs = Glyphs { check: "✔", cross: "✘", yes: "✓", no: "✗", arrow: "→", dot: "·" };
    pub const ASCII: Glyphs = Glyphs { check: "[ok]", cross: "[no]", yes: "+", no: "-", arrow: "->", dot: "|" };

    pub fn for_locale(unicode: bool) -> Glyphs {
        if unicode { Glyphs::UNICODE } else { Glyphs::ASCII }
    }
}

/// Prints results. A reader that went away (`| head`) is no error.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints what is not a result: errors, progress.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Text from a log or a program, safe to print: control characters, which a terminal would obey, are shown as `?`.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect()
}

/// A path as the user would type it.
pub fn short(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

/// A word of a shell command.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// `950`, `41.2k`, `1.3M`.
pub fn short_number(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}

/// `0.4s`, `12.3s`, `1m12s`, `2h03m`.
pub fn short_time(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..60 => format!("{}.{}s", s, ms % 1000 / 100),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        _ => format!("{}h{:02}m", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times() {
        assert_eq!([0, 9_999, 41_234, 1_310_000].map(short_number), ["0", "9999", "41.2k", "1.3M"]);
        assert_eq!([400, 12_345, 72_000, 7_380_000].map(short_time), ["0.4s", "12.3s", "1m12s", "2h03m"]);
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b.jar:c"), "a/b.jar:c");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!([quoted(""), quoted("a b"), quoted("$x")], ["''", "'a b'", "'$x'"]);
    }

    #[test]
    fn foreign_text_cannot_command_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\r"), "a?[2Jb?");
    }
}
