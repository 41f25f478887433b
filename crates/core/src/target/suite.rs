//! Test files with many tests: what is rendered, and the plan by which all of them are compiled and run in one fresh process.
//!
//! How a language writes and runs them is its crate's knowledge; running the plan, in the jail, is the shell's.

use std::path::{Path, PathBuf};

use super::confirmation::Command;
use crate::execution::Returned;
use crate::program::{Program, TypeId};
use crate::testcase::{TestCase, Var};

/// How a test of a suite ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It runs through, and its checks hold.
    Pass,
    /// Its last statement throws exactly that, which the test expects.
    Throws { exception: String },
    /// Its last statement throws, and nothing catches it: the test shows a defect.
    Fails { exception: String },
    /// The last statement's value is not this, though it should be: the test shows a defect.
    Broken { should: bool },
    /// The last statement's number does not stand as it should to another: the test shows a defect.
    Unfit { claim: Claim },
}

/// What the last statement's number should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Zero,
    SameAs(Var),
    OppositeSign(Var),
}

/// One test.
#[derive(Clone, Debug)]
pub struct SuiteTest {
    /// Means something to who made it.
    pub id: usize,
    /// What it calls, for the name of its method.
    pub name: String,
    pub test: TestCase,
    /// Values to assert.
    pub checks: Vec<(Var, Returned)>,
    pub expect: Expect,
    /// Lines above the method.
    pub comment: Vec<String>,
}

/// What the tests of a file are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteKind {
    /// What the program does now.
    Regression,
    /// What looks like a defect.
    Error,
}

/// One file to be written.
#[derive(Clone, Debug)]
pub struct SuiteFile {
    pub package: String,
    /// Simple name of the test class or module.
    pub unit: String,
    pub kind: SuiteKind,
    pub header: Vec<String>,
    pub tests: Vec<SuiteTest>,
}

/// A written file and where its tests stand.
#[derive(Clone, Debug)]
pub struct RenderedSuite {
    /// Relative to the output folder.
    pub path: PathBuf,
    /// Full name of the test class.
    pub name: String,
    pub text: String,
    /// By test of the file: its method and lines (first and last, from 1), or why it cannot be written.
    pub methods: Vec<Result<Placed, String>>,
}

/// A test method in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub method: String,
    pub lines: (usize, usize),
}

/// Renders files of tests.
pub trait RenderSuite {
    /// The name of the file (without its ending) for the tests of a class, the `number`th of them.
    fn unit(&self, program: &Program, class: TypeId, kind: SuiteKind, number: usize) -> String;
    fn render_suite(&self, program: &Program, file: &SuiteFile) -> RenderedSuite;
}

/// How the files are compiled and run.
#[derive(Clone, Debug)]
pub struct SuitePlan {
    /// To be written first, below the scratch folder.
    pub files: Vec<(PathBuf, String)>,
    pub folders: Vec<PathBuf>,
    pub compile: Command,
    /// Places of errors in what the compiler said: file and line.
    pub errors: fn(&str) -> Vec<(PathBuf, usize)>,
    /// Runs the tests listed in [`LIST_FILE`] of its folder, one `class method` a line; the results appear in its result file as they come.
    pub run: Command,
    pub results: fn(&str) -> Vec<TestResult>,
    pub readable: Vec<PathBuf>,
    /// Where sources are written, below the scratch folder.
    pub sources: PathBuf,
}

/// In a run's folder: the tests to run.
pub const LIST_FILE: &str = "tests";

/// How a test of the list ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Its place in the list.
    pub index: usize,
    pub ended: TestEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestEnd {
    Passed,
    /// What it threw: type and message.
    Failed(String),
    Hung,
}

impl SuitePlan {
    /// The place of a source file below the scratch folder.
    pub fn source(&self, path: &Path) -> PathBuf {
        self.sources.join(path)
    }
}

/// How tests ended: lines `P n`, `F n what`, `H n`; anything else is noise of the program.
pub fn parse_results(text: &str) -> Vec<TestResult> {
    let parse = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (kind, index) = (words.next()?, words.next()?.parse().ok()?);
        let ended = match kind {
            "P" => TestEnd::Passed,
            "F" => TestEnd::Failed(words.next().unwrap_or_default().to_string()),
            "H" => TestEnd::Hung,
            _ => return None,
        };
        Some(TestResult { index, ended })
    };
    text.lines().filter_map(parse).collect()
}

/// A compiler that stays and takes jobs: files `job-N` in [`JOBS_FOLDER`], each a list of sources, answered by `done-N`.
#[derive(Clone, Debug)]
pub struct CompilerPlan {
    /// To be written first, below the scratch folder.
    pub files: Vec<(PathBuf, String)>,
    pub folders: Vec<PathBuf>,
    pub command: Command,
    pub readable: Vec<PathBuf>,
}

/// Below the scratch folder.
pub const JOBS_FOLDER: &str = "jobs";

/// What a compilation said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    pub succeeded: bool,
    pub millis: u64,
    /// File, line, and what is wrong there.
    pub errors: Vec<(PathBuf, usize, String)>,
}

/// Reads a `done-N`; `None` if it is not whole.
pub fn read_done(text: &str) -> Option<Compiled> {
    let mut done = Compiled::default();
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "E" => {
                let (number, rest) = rest.split_once(' ')?;
                let (file, message) = rest.split_once('\t')?;
                done.errors.push((PathBuf::from(file), number.parse().unwrap_or(0), message.to_string()));
            }
            "OK" | "BAD" => {
                done.succeeded = kind == "OK";
                done.millis = rest.trim().parse().ok()?;
                return Some(done);
            }
            _ => done.errors.push((PathBuf::new(), 0, rest.to_string())),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let done = read_done("E 12 /a/B.java\tno such thing\nBAD 17\n").unwrap();
        assert_eq!((done.succeeded, done.millis), (false, 17));
        assert_eq!(done.errors, [(PathBuf::from("/a/B.java"), 12, "no such thing".to_string())]);
        assert!(read_done("OK 5").unwrap().succeeded);
        assert_eq!(read_done("E 12 /a/B.java\tno such"), None);
        assert_eq!(read_done(""), None);
    }

    #[test]
    fn results_are_read_as_far_as_they_go() {
        let ended: Vec<(usize, TestEnd)> = parse_results("P 0\nF 1 a.B: no\nnoise\nH 2\nP x\nP").into_iter().map(|r| (r.index, r.ended)).collect();
        assert_eq!(ended, [(0, TestEnd::Passed), (1, TestEnd::Failed("a.B: no".into())), (2, TestEnd::Hung)]);
    }
}
