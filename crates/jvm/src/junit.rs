//! JUnit tests: a test case as one Java source file, and the plan by which that file is confirmed.
//!
//! The file is plain ASCII, needs nothing but JUnit's `@Test`, compiles as Java 5 wherever the program allows, and holds exactly one
//! class with one test method. Running the plan is not done here; neither is choosing the test.

pub mod access;
mod body;
mod compiler;
mod confirm;
mod erasure;
pub mod generics;
mod literal;
mod names;
mod stub;
mod suite;
mod suite_plan;
mod surroundings;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use rethrow_core::goal::CrashGoal;
use rethrow_core::program::Program;
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, TestStyle};
use rethrow_core::testcase::TestCase;
use rethrow_core::trace::Frame;

use crate::classpath::ClassPath;
use body::{Body, Scope};
pub use compiler::compiler_plan;
pub use confirm::{ConfirmConfig, parse_result, plan};
use generics::{FromClassFiles, Generics};
use names::TypeNames;
pub use suite_plan::{SuiteConfig, suite_plan};

/// Where tests go whose own package takes no further classes.
pub const FALLBACK_PACKAGE: &str = "rethrow.generated";
/// A message longer than this is cut in the header.
const MAX_MESSAGE: usize = 200;
/// More frames than these add nothing to the header.
const MAX_FRAMES: usize = 30;

/// Renders test cases as JUnit tests.
pub struct JUnit {
    /// What the erased program does not tell.
    pub generics: Box<dyn Generics>,
    /// Whether a package takes no further classes: sealed, signed, the platform's.
    pub is_closed: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Default for JUnit {
    fn default() -> Self {
        Self { generics: Box::new(generics::Unknown), is_closed: Box::new(|package| package.starts_with("java.")) }
    }
}

impl Render for JUnit {
    fn render(&self, program: &Program, goal: &CrashGoal, level: usize, test: &TestCase, style: &RenderStyle) -> Result<RenderedTest, String> {
        let package = self.package(program, goal, level);
        let unit = unit_name(program, goal, level);
        let names = TypeNames::new(program, &package, &unit);
        let body = body::render(Scope { program, package: &package, names: &names, generics: &*self.generics }, test)?;
        let frame = &goal.frame(style.header.shown(level).min(goal.frames.len())).frame;
        let method = names::test_method(&frame.class, &frame.method, &goal.exception);
        let file = File { goal, level, style, package: &package, unit: &unit, method: &method, names: &names };
        let text = literal::ascii(&file.text(&body));
        let folder: PathBuf = package.split('.').filter(|p| !p.is_empty()).collect();
        let name = if package.is_empty() { unit.clone() } else { format!("{package}.{unit}") };
        Ok(RenderedTest { path: folder.join(format!("{unit}.java")), name, method, text })
    }
}

impl JUnit {
    /// Knows what the class path tells.
    pub fn new(class_path: Arc<ClassPath>) -> JUnit {
        let closing = class_path.clone();
        let bytes = move |name: &str| class_path.class_bytes(name).map(Cow::into_owned);
        JUnit { generics: Box::new(FromClassFiles::new(bytes)), is_closed: Box::new(move |package| closing.is_closed(package)) }
    }

    /// The package of a test for `level`: that of the frame's class, so that its package-private members can be used.
    pub fn package(&self, program: &Program, goal: &CrashGoal, level: usize) -> String {
        let package = program.package(goal.frame(level).class);
        if (self.is_closed)(package) { FALLBACK_PACKAGE.to_string() } else { package.to_string() }
    }
}

/// `Foo_CrashTest` for `org.x.Foo$Bar`.
fn unit_name(program: &Program, goal: &CrashGoal, level: usize) -> String {
    let outermost = access::outermost(program, goal.frame(level).class);
    let simple = access::simple_name(program, outermost).unwrap_or("Program");
    format!("{}_CrashTest", names::ascii_word(simple))
}

/// The file around the body.
struct File<'a> {
    goal: &'a CrashGoal,
    level: usize,
    style: &'a RenderStyle,
    package: &'a str,
    unit: &'a str,
    method: &'a str,
    names: &'a TypeNames<'a>,
}

impl File<'_> {
    fn text(&self, body: &Body) -> String {
        let mut lines = self.header();
        if !self.package.is_empty() {
            lines.extend([format!("package {};", self.package), String::new()]);
        }
        let (annotation, mut imports) = self.annotation();
        imports.extend(self.names.imports());
        imports.sort();
        lines.extend(imports.iter().map(|name| format!("import {name};")));
        if !imports.is_empty() {
            lines.push(String::new());
        }
        let public = if self.style.framework >= 5 { "" } else { "public " };
        lines.push(format!("{public}class {} {{", self.unit));
        lines.push(String::new());
        if body.raw {
            lines.push("    @SuppressWarnings({\"rawtypes\", \"unchecked\"})".replace("SuppressWarnings", &self.names.java_lang("SuppressWarnings")));
        }
        lines.push(format!("    @{annotation}"));
        lines.push(format!("    {public}void {}() throws {} {{", self.method, self.names.java_lang("Throwable")));
        lines.extend(self.method_body(body).into_iter().map(|line| format!("        {line}").trim_end().to_string()));
        lines.push("    }".to_string());
        lines.extend(body.around.helpers(self.names));
        lines.push("}".to_string());
        lines.join("\n") + "\n"
    }

    /// The name of `@Test` and what must be imported for it.
    fn annotation(&self) -> (String, Vec<String>) {
        let full = if self.style.framework >= 5 { "org.junit.jupiter.api.Test" } else { "org.junit.Test" };
        if self.names.in_package("Test") { (full.to_string(), Vec::new()) } else { ("Test".to_string(), vec![full.to_string()]) }
    }

    fn header(&self) -> Vec<String> {
        let Header { tool, seed, refused, reached, frames: _, needs_assertions } = &self.style.header;
        let message = self.goal.message.as_ref().map(|m| format!(": {}", m.chars().take(MAX_MESSAGE).collect::<String>())).unwrap_or_default();
        let mut lines = vec![format!("Reproduces a crash at {reached}. Written by {tool}, seed {seed}."), String::new()];
        lines.push(format!("  {}{message}", self.goal.exception));
        let frames = &self.goal.frames[..self.style.header.shown(self.level).min(self.goal.frames.len())];
        lines.extend(frames.iter().take(MAX_FRAMES).map(|f| format!("      at {}", shown_frame(&f.frame))));
        lines.extend(self.goal.causes.iter().map(|cause| format!("  Caused by: {cause}")));
        if *needs_assertions || !refused.is_empty() {
            lines.push(String::new());
        }
        if *needs_assertions {
            lines.push("Run with -ea: the crash is a failed assertion.".into());
        }
        lines.extend(refused.iter().map(|what| format!("refused in the jail: {what}")));
        lines.iter().map(|line| format!("// {}", literal::comment(line)).trim_end().to_string()).collect()
    }

    fn method_body(&self, body: &Body) -> Vec<String> {
        let mut lines = body.lines.clone();
        if let Some(last) = lines.last_mut() {
            last.push_str(&format!(" // throws {}", literal::comment(simple(&self.goal.exception))));
        }
        let lines = match self.style.style {
            TestStyle::Failing => lines,
            TestStyle::Expect | TestStyle::XFail => self.expecting(lines),
        };
        body.around.put_back(self.names, lines)
    }

    /// Passes if the exception, or one that wraps it, came out of the innermost frame. The exception is compared by name: its class
    /// may be one that cannot be named or, being checked, not be caught.
    fn expecting(&self, body: Vec<String>) -> Vec<String> {
        let [throwable, error, element] = ["Throwable", "AssertionError", "StackTraceElement"].map(|name| self.names.java_lang(name));
        let innermost = &self.goal.frame(1).frame;
        let quoted = |text: &str| literal::string(text).unwrap_or_else(|_| "\"\"".into());
        let exception = quoted(&self.goal.exception);
        let mut lines = vec![format!("{throwable} thrown = null;"), "try {".into()];
        lines.extend(body.into_iter().map(|line| format!("    {line}")));
        lines.extend([
            format!("}} catch ({throwable} expected) {{"),
            "    thrown = expected;".into(),
            "}".into(),
            format!("while (thrown != null && !thrown.getClass().getName().equals({exception})) {{"),
            "    thrown = thrown.getCause();".into(),
            "}".into(),
            "boolean found = false;".into(),
            "for (; thrown != null && !found; thrown = thrown.getCause()) {".into(),
            format!("    for ({element} frame : thrown.getStackTrace()) {{"),
            format!(
                "        found |= frame.getClassName().equals({}) && frame.getMethodName().equals({});",
                quoted(&innermost.class),
                quoted(&innermost.method)
            ),
            "    }".into(),
            "}".into(),
            "if (!found) {".into(),
            format!("    throw new {error}({});", quoted(&format!("expected {} from {}.{}", self.goal.exception, innermost.class, innermost.method))),
            "}".into(),
        ]);
        lines
    }
}

fn simple(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

/// As a stack trace prints it.
fn shown_frame(frame: &Frame) -> String {
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "Unknown Source".into(),
    };
    format!("{}.{}({place})", frame.class, frame.method)
}
