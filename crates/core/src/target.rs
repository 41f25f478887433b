//! The seam between the search and a language: how a test is executed, rendered and confirmed.

pub mod confirmation;
pub mod suite;

use std::path::PathBuf;

use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::program::Program;
use crate::testcase::TestCase;

/// The session cannot go on: no worker will start any more.
#[derive(Debug, thiserror::Error)]
#[error("the worker is lost: {0}")]
pub struct SessionLost(pub String);

/// Runs test cases. Implemented by the toy language in-process and by the language crates with worker processes.
pub trait Session {
    /// Results in the order of `batch`, fewer than asked for only when the time for them is up. What a test does (hang, exit, exhaust memory) is an
    /// `Outcome`, never an `Err`.
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost>;
    /// The same, with the values of the statements.
    fn inspect(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.execute(batch)
    }
    /// The same in a worker that has run nothing before.
    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost>;
    /// All in order, in one worker that has run nothing before but is prepared like others.
    fn replay(&mut self, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.execute(tests)
    }
    /// Replaces all workers: nothing is left of what tests did.
    fn renew(&mut self) {}
}

/// Which test framework and shape the written file has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestStyle {
    /// Red until the defect is fixed.
    Failing,
    /// Green now: expects the exception.
    Expect,
    /// Green now, marked as a known failure; where a framework has no such mark, as [`TestStyle::Expect`].
    XFail,
}

/// What a rendered test says in its header.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub tool: String,
    pub seed: u64,
    pub refused: Vec<String>,
    /// `frame 3 of 5`
    pub reached: String,
    /// Frames that the test goes through; 0: up to the one that it lives with.
    pub frames: usize,
    pub needs_assertions: bool,
}

impl Header {
    /// How many frames are shown of a test that lives with frame `home`.
    pub fn shown(&self, home: usize) -> usize {
        if self.frames == 0 { home } else { self.frames }
    }
}

/// How to render.
#[derive(Clone, Debug)]
pub struct RenderStyle {
    pub style: TestStyle,
    /// Version of the framework: 4 or 5 for JUnit.
    pub framework: u32,
    pub header: Header,
}

/// The written test: one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedTest {
    /// Relative to the output folder: `org/x/Foo_CrashTest.java`.
    pub path: PathBuf,
    /// `org.x.Foo_CrashTest`
    pub name: String,
    /// The test method.
    pub method: String,
    pub text: String,
}

/// Rendering is language knowledge; running the plan it gives is the shell's.
pub trait Render {
    fn render(&self, program: &Program, goal: &CrashGoal, level: usize, test: &TestCase, style: &RenderStyle) -> Result<RenderedTest, String>;
}
