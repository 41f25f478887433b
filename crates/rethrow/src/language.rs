//! The languages: which one a log speaks, and what the walk asks of it ([`Platform`]). The only place in the program that tells them apart.
//!
//! Another language adds a file here and an arm in [`find_traces`] and [`open`]; nothing above changes.

pub mod java;
pub mod python;

use std::path::Path;
use std::sync::Arc;

use rethrow_core::goal::CrashGoal;
use rethrow_core::parsed::Parsed;
use rethrow_core::probe::ProbePlan;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::report::Report;
use rethrow_core::search::grt::oracle::OracleRules;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::target::confirmation::ConfirmPlan;
use rethrow_core::target::suite::{CompilerPlan, RenderSuite, RenderedSuite, SuitePlan};
use rethrow_core::target::{Render, RenderedTest, Session};
use rethrow_core::trace::Trace;
use rethrow_jvm::trace as java_trace;
use rethrow_python::trace as python_trace;
use rethrow_worker::names::Naming;
use rethrow_worker::pool::PoolStats;
use rethrow_worker::sandbox::Layers;
use rethrow_worker::session::Clock;
use rethrow_worker::workers::Workers;

use crate::align::Aligned;
use crate::config::{Config, HuntChoice};
use crate::error::UserError;
use crate::record::Runtime;

/// A test of a suite that takes longer hangs.
const TEST_LIMIT_MS: u32 = 3_000;

/// See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Java,
    Python,
}

/// A trace and where it was found.
pub struct FoundTrace {
    pub trace: Trace,
    /// The line (from 1) that names the exception.
    pub first_line: usize,
}

/// All traces in the text; `log` names it in messages. A log may have traces of several languages: what the user gave for the program decides then.
pub fn find_traces(bytes: &[u8], config: &Config) -> Result<(Language, Parsed<Vec<FoundTrace>>), UserError> {
    let text = java_trace::decode_text(bytes);
    let python_first = config.classpath.is_empty() && (config.python.is_some() || !config.source.is_empty());
    let order = if python_first { [Language::Python, Language::Java] } else { [Language::Java, Language::Python] };
    for language in order {
        let found = traces_of(language, bytes, &text);
        if !found.value.is_empty() {
            return Ok((language, found));
        }
    }
    let log = config.log_name();
    Err(match java_trace::foreign_language(&text) {
        Some(language) if language != "Python" => UserError::OtherLanguage { log, language },
        _ => UserError::NoTrace { log, lines: text.lines().count(), nearest: java_trace::nearest_lines(&text) },
    })
}

fn traces_of(language: Language, bytes: &[u8], text: &str) -> Parsed<Vec<FoundTrace>> {
    match language {
        Language::Java => {
            let found = java_trace::parse_all(bytes);
            let value = found.value.into_iter().map(|f| FoundTrace { trace: f.trace, first_line: f.first_line }).collect();
            Parsed { value, diagnostics: found.diagnostics }
        }
        Language::Python => {
            let found = python_trace::parse_all(text);
            let value = found.value.into_iter().map(|f| FoundTrace { trace: f.trace, first_line: f.first_line }).collect();
            Parsed { value, diagnostics: found.diagnostics }
        }
    }
}

/// A program that was read for a trace.
pub struct Opened {
    pub platform: Box<dyn Platform>,
    pub program: Program,
    /// In the program's own names.
    pub trace: Trace,
    /// What it is, in a few words: `JDK 17.0.2`.
    pub runtime: String,
    /// What was read: `2 entries on the class path`.
    pub source: String,
}

/// Reads the program that the configuration names.
pub fn open(language: Language, config: &Config, (trace, report): (&Trace, &Report), notes: &mut Vec<String>) -> Result<Opened, UserError> {
    match language {
        Language::Java => java::open(config, trace, notes),
        Language::Python => python::open(config, trace, report, notes),
    }
}

/// Reads the program that a hunt is in, and says what may be called.
pub fn open_hunt(config: &Config, choice: &HuntChoice, notes: &mut Vec<String>) -> Result<(Opened, CrashGoal), UserError> {
    match (&choice.class, &choice.module) {
        (Some(class), _) => java::open_hunt(config, choice, class, notes),
        (None, Some(module)) => python::open_hunt(config, choice, module, notes),
        (None, None) => Err(UserError::BadFlags { why: "give --module or --class".into() }),
    }
}

/// What tests are written for.
pub struct UnderTest {
    /// Patterns of Java classes.
    pub classes: Vec<String>,
    /// Python modules and packages.
    pub modules: Vec<String>,
}

/// Reads the program that tests are written for, and says which of its types are under test.
pub fn open_generate(config: &Config, wanted: &UnderTest, notes: &mut Vec<String>) -> Result<(Opened, Vec<TypeId>), UserError> {
    match &wanted.modules[..] {
        [] => java::open_generate(config, &wanted.classes, notes),
        modules => python::open_generate(config, modules, notes),
    }
}

/// What runs a program: everything that the walk does differently from language to language.
pub trait Platform {
    /// For the record.
    fn runtime(&self) -> Runtime;
    /// The names of what was read, for messages.
    fn entries(&self) -> Vec<String>;
    /// Where a type that is missing may be found.
    fn missing_hint(&self, class: &str) -> Option<String>;
    /// What makes the goal impossible though every frame is there.
    fn check(&self, program: &Program, goal: &CrashGoal, notes: &mut Vec<String>) -> Result<(), UserError>;
    fn rules(&self, program: &Program, goal: &CrashGoal) -> BuildRules;
    fn start<'a>(&'a self, config: &Config, aligned: &'a Aligned, scratch: &Path) -> Result<Started<'a>, UserError>;
    fn render(&self) -> &dyn Render;
    /// Version of the test framework that tests are written for.
    fn framework(&self, config: &Config) -> u32;
    /// Assertions of the program have to be switched on for the crash.
    fn needs_assertions(&self, goal: &CrashGoal) -> bool;
    fn confirmation(&self, config: &Config, aligned: &Aligned, tests: &Rendered, scratch: &Path) -> Result<ConfirmPlan, UserError>;
    /// How a user runs the written test.
    fn run_command(&self, config: &Config, path: &Path, name: &str) -> String;
    /// Whole suites.
    fn suites(&self) -> &dyn Suites;
}

/// What generating whole suites asks of a language.
pub trait Suites {
    fn rules(&self, program: &Program, types: &[TypeId]) -> BuildRules;
    fn oracle(&self) -> &'static OracleRules;
    /// Workers that observe what the classes cover.
    fn start<'a>(&'a self, config: &Config, program: &'a Program, types: &[TypeId], scratch: &Path) -> Result<Started<'a>, UserError>;
    fn render(&self) -> &dyn RenderSuite;
    fn plan(&self, files: &[RenderedSuite], config: &Config, scratch: &Path) -> Result<SuitePlan, UserError>;
    /// A compiler that stays, if there is one.
    fn compiler(&self, scratch: &Path) -> Result<Option<CompilerPlan>, UserError>;
}

/// The two styles of one test.
pub struct Rendered {
    /// Shows the trace.
    pub failing: RenderedTest,
    pub expecting: Option<RenderedTest>,
}

impl Rendered {
    /// The one that is written.
    pub fn written(&self) -> &RenderedTest {
        self.expecting.as_ref().unwrap_or(&self.failing)
    }
}

/// Workers at work.
pub struct Started<'a> {
    pub session: Box<dyn Live + 'a>,
    pub plan: ProbePlan,
    /// What cannot be observed, for the record.
    pub problems: Vec<String>,
}

/// A session with processes behind it.
pub trait Live: Session {
    fn stats(&self) -> PoolStats;
    /// The layers of isolation that a worker runs in.
    fn layers(&self) -> Option<Layers>;
    /// When tests have to be over, whatever they do.
    fn clock(&self) -> Arc<Clock>;
}

impl<N: Naming> Live for Workers<'_, N> {
    fn stats(&self) -> PoolStats {
        Workers::stats(self)
    }
    fn layers(&self) -> Option<Layers> {
        Workers::layers(self)
    }
    fn clock(&self) -> Arc<Clock> {
        Workers::clock(self)
    }
}
