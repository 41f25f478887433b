//! How a written test is confirmed: which files are written, which commands prepare and run them, and what a run's result means.
//!
//! The plan is language knowledge; running it, in the jail, is the shell's. Nothing is started here.
//!
//! A result is text: `RETURNED` or `THROWN`, for each exception of the chain a line `T`, name, message, for each of its frames a line `F` with what the
//! language tells of it, then `END`. Fields are separated by tabs; what is not plain ASCII is written as `\uXXXX`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::trace::{Frame, Throwable};

/// No honest result has more.
const MAX_LINES: usize = 200_000;

/// In a command, stands for the folder of its own that each run is given.
pub const RUN_FOLDER: &str = "{run}";
/// The file, in its run's folder, that a run writes its result to.
pub const RESULT_FILE: &str = "result";

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Beside what the jail sets.
    pub env: Vec<(OsString, OsString)>,
}

impl Command {
    /// The command for a run in `folder`.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Command {
        let folder = folder.to_string_lossy();
        let place = |arg: &OsString| match arg.to_str() {
            Some(text) if text.contains(RUN_FOLDER) => text.replace(RUN_FOLDER, &folder).into(),
            _ => arg.clone(),
        };
        Command { args: self.args.iter().map(place).collect(), ..self.clone() }
    }
}

/// Files, commands, and where the trace appears.
#[derive(Clone, Debug)]
pub struct ConfirmPlan {
    /// To be written first: path below the scratch folder, and text.
    pub files: Vec<(PathBuf, String)>,
    /// To be made first, below the scratch folder.
    pub folders: Vec<PathBuf>,
    /// In order; each must succeed.
    pub compile: Vec<Command>,
    /// Throws the crash. [`RUN_FOLDER`] is to be replaced; the result is then in [`RESULT_FILE`] there.
    pub run: Command,
    /// The same for the written test where that one has to pass.
    pub passes: Option<Command>,
    /// What the commands read beside the system's own folders.
    pub readable: Vec<PathBuf>,
    /// Types that are ours: their frames are not the program's.
    pub harness: Vec<String>,
    /// Reads what a run wrote; `None` if it is not whole. Total: the program may have written it.
    pub read: fn(&str) -> Option<Ended>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The test passed.
    Returned,
    /// The throwable and its causes, outermost first, platform frames marked.
    Thrown(Vec<Throwable>),
}

/// The chain without the frames of the test and of what called it.
#[must_use]
pub fn drop_harness(mut chain: Vec<Throwable>, harness: &[String]) -> Vec<Throwable> {
    for thrown in &mut chain {
        thrown.frames.retain(|f| !harness.contains(&f.class));
    }
    chain
}

/// What a run wrote; `None` if it is not whole. `frame` reads the fields of a line `F`.
pub fn read_result<'t>(text: &'t str, frame: impl Fn(&mut dyn Iterator<Item = &'t str>) -> Option<Frame>) -> Option<Ended> {
    let mut lines = text.lines();
    let returned = match lines.next()? {
        "RETURNED" => true,
        "THROWN" => false,
        _ => return None,
    };
    let mut chain: Vec<Throwable> = Vec::new();
    for line in lines.take(MAX_LINES) {
        let mut fields = line.split('\t');
        match fields.next()? {
            "T" => chain.push(Throwable { exception: unescape(fields.next()?), message: fields.next().map(unescape), ..Throwable::default() }),
            "F" => chain.last_mut()?.frames.push(frame(&mut fields)?),
            "END" if returned => return Some(Ended::Returned),
            "END" => return (!chain.is_empty()).then_some(Ended::Thrown(chain)),
            _ => return None,
        }
    }
    None
}

/// Undoes `\uXXXX`, by units of UTF-16.
pub fn unescape(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        units.extend(rest[..at].encode_utf16());
        match rest.get(at + 2..at + 6).and_then(|d| u16::from_str_radix(d, 16).ok()) {
            Some(unit) => {
                units.push(unit);
                rest = &rest[at + 6..];
            }
            None => {
                units.extend("\\u".encode_utf16());
                rest = &rest[at + 2..];
            }
        }
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

/// Paths as search paths have them.
pub fn joined<'a>(paths: impl IntoIterator<Item = &'a Path>) -> OsString {
    let mut out = OsString::new();
    for path in paths {
        if !out.is_empty() {
            out.push(":");
        }
        out.push(path);
    }
    out
}
