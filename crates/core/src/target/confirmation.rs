//! How a written test is confirmed: which files are written, which commands prepare and run them, and what a run's result means.
//!
//! The plan is language knowledge; running it, in the jail, is the shell's. Nothing is started here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::trace::Throwable;

/// In a command, stands for the folder of its own that each run is given.
pub const RUN_FOLDER: &str = "{run}";
/// The file, in its run's folder, that a run writes its result to.
pub const RESULT_FILE: &str = "result";

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: PathBuf,
    pub args: Vec<OsString>,
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
        Command { program: self.program.clone(), args: self.args.iter().map(place).collect() }
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
