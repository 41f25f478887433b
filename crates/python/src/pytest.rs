//! pytest files: a test case as one Python source file, and the plan by which that file is confirmed.
//!
//! The file is plain ASCII, imports what it uses by the module that defines it, and holds exactly one test function. Running the plan is not done here;
//! neither is choosing the test.

mod body;
mod confirm;
mod literal;
pub(crate) mod names;
mod suite;
mod suite_plan;

use rethrow_core::goal::CrashGoal;
use rethrow_core::program::Program;
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, TestStyle};
use rethrow_core::testcase::TestCase;
use rethrow_core::trace::Frame;

use crate::rules::exception_type;
use body::Body;
pub use confirm::{ConfirmConfig, Runner, parse_result, plan, runner};
use names::Imports;
pub use suite_plan::{SuiteConfig, suite_plan};

/// A message longer than this is cut in the header.
const MAX_MESSAGE: usize = 200;
/// More frames than these add nothing to the header.
const MAX_FRAMES: usize = 30;

/// Renders test cases as pytest tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pytest;

impl Render for Pytest {
    fn render(&self, program: &Program, goal: &CrashGoal, level: usize, test: &TestCase, style: &RenderStyle) -> Result<RenderedTest, String> {
        let frame = &goal.frame(style.header.shown(level).min(goal.frames.len())).frame;
        let module = names::word(&names::module_of(program.type_name(goal.frame(level).class)).replace('.', "_"));
        let function = format!("test_{}_crash", names::word(&frame.method));
        let file = File { program, goal, level, style, function: &function };
        let name = format!("test_{module}_crash");
        Ok(RenderedTest { path: format!("{name}.py").into(), text: file.text(test)?, name, method: function })
    }
}

/// The file around the body.
struct File<'a> {
    program: &'a Program,
    goal: &'a CrashGoal,
    level: usize,
    style: &'a RenderStyle,
    function: &'a str,
}

impl File<'_> {
    fn text(&self, test: &TestCase) -> Result<String, String> {
        let mut imports = Imports::default();
        let raised = self.raised(&mut imports);
        let Body { mut lines, needs_folder, inside: around, .. } = body::render(self.program, test, &mut imports)?;
        if let Some(last) = lines.last_mut() {
            last.push_str(&format!("  # raises {}", literal::comment(simple(&self.goal.exception))));
        }
        let mut out = self.header();
        out.push(String::new());
        // What is raised while a module is imported belongs into the test.
        let imports_inside = self.goal.frames[..self.level].iter().any(|f| f.frame.method == "<module>");
        let mut inside = Vec::new();
        let named = imports.lines();
        let (before, within): (Vec<String>, Vec<String>) = if imports_inside { (vec![], named) } else { (named, vec![]) };
        let before: Vec<String> = self.framework().into_iter().chain(before).collect();
        if !before.is_empty() {
            out.extend(before);
            out.extend([String::new(), String::new()]);
        }
        // the surroundings are there before modules of the program are imported
        let (first, within): (Vec<String>, Vec<String>) = within.into_iter().partition(|line| around.is_some() && line.starts_with("import "));
        inside.extend(within);
        match self.style.style {
            TestStyle::Expect => {
                let last = lines.pop().unwrap_or_else(|| "pass".into());
                inside.extend(lines);
                inside.push(format!("with pytest.raises({raised}):"));
                inside.push(format!("    {last}"));
            }
            TestStyle::Failing | TestStyle::XFail => inside.extend(lines),
        }
        if let Some(head) = around {
            inside = first.into_iter().chain([head]).chain(inside.into_iter().map(|line| format!("    {line}"))).collect();
        }
        if self.style.style == TestStyle::XFail {
            out.push(format!("@pytest.mark.xfail(strict=True, raises={raised})"));
        }
        out.push(format!("def {}({}):", self.function, if needs_folder { "tmp_path" } else { "" }));
        out.extend(inside.into_iter().map(|line| format!("    {line}")));
        Ok(out.join("\n") + "\n")
    }

    fn framework(&self) -> Option<String> {
        (self.style.style != TestStyle::Failing).then(|| "import pytest".to_owned())
    }

    /// The exception's class, as the test names it.
    fn raised(&self, imports: &mut Imports) -> String {
        if self.style.style == TestStyle::Failing {
            return String::new();
        }
        exception(self.program, &self.goal.exception, imports)
    }

    fn header(&self) -> Vec<String> {
        let Header { tool, seed, refused, reached, frames: _, needs_assertions } = &self.style.header;
        let message = self.goal.message.as_ref().map(|m| format!(": {}", m.chars().take(MAX_MESSAGE).collect::<String>())).unwrap_or_default();
        let mut lines = vec![format!("Reproduces a crash at {reached}. Written by {tool}, seed {seed}."), String::new()];
        let frames = &self.goal.frames[..self.style.header.shown(self.level).min(self.goal.frames.len())];
        lines.extend(frames.iter().take(MAX_FRAMES).rev().map(|f| format!("  {}", shown_frame(&f.frame))));
        lines.push(format!("  {}{message}", self.goal.exception));
        lines.extend(self.goal.causes.iter().map(|cause| format!("  caused by {cause}")));
        if *needs_assertions || !refused.is_empty() {
            lines.push(String::new());
        }
        if *needs_assertions {
            lines.push("Run without -O: the crash is a failed assertion.".into());
        }
        lines.extend(refused.iter().map(|what| format!("refused in the jail: {what}")));
        lines.iter().map(|line| format!("# {}", literal::comment(line)).trim_end().to_string()).collect()
    }
}

/// How a test names an exception class.
fn exception(program: &Program, printed: &str, imports: &mut Imports) -> String {
    let Some(guessed) = printed.rsplit_once('.') else { return printed.to_string() };
    let known = exception_type(program, printed).and_then(|t| program.type_name(t).split_once(':'));
    let (module, name) = known.unwrap_or(guessed);
    if name.split('.').all(names::is_identifier) { imports.path(module, name) } else { "Exception".into() }
}

fn simple(exception: &str) -> &str {
    exception.rsplit('.').next().unwrap_or(exception)
}

/// As a traceback prints it, the path from the package on.
fn shown_frame(frame: &Frame) -> String {
    let file = frame.file.as_deref().unwrap_or(&frame.class);
    let file = ["site-packages/", "dist-packages/"].iter().find_map(|dir| file.rsplit_once(dir)).map_or(file, |(_, rest)| rest);
    let line = frame.line.map(|line| format!(", line {line}")).unwrap_or_default();
    format!("File \"{file}\"{line}, in {}", frame.method)
}
