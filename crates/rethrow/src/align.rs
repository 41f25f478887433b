//! From a log and a program to a goal: everything that can be told before any process of the program starts.
//!
//! Reads the trace and the program and holds each frame against it. What does not fit is told with the nearest thing that would. Nothing of the program
//! is executed here; how a program of the language at hand is read is `language`'s business.

use rethrow_core::goal::{self, CrashGoal, Mismatch};
use rethrow_core::program::Program;
use rethrow_core::report::Report;
use rethrow_core::trace::Trace;
use rethrow_worker::process::probe;
use rethrow_worker::sandbox::Layers;

use crate::cli::Sandbox;
use crate::commands::jail::{own_executable, spawn_error};
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::error::{FrameRow, FrameTable, UserError};
use crate::hunt;
use crate::language::{self, FoundTrace, Language, Opened, Platform};
use crate::log::Log;
use crate::record::Input;
use crate::report::Event;

/// What a search starts from.
pub struct Aligned {
    pub platform: Box<dyn Platform>,
    pub program: Program,
    pub goal: CrashGoal,
    /// What the log says beside the trace.
    pub report: Report,
    /// The log and the program's files, hashed.
    pub inputs: Vec<Input>,
    pub diagnostics: Vec<String>,
}

/// See the module documentation. Tells of each step by an event.
pub fn align(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Aligned, UserError> {
    if let Some(choice) = &config.hunt {
        return hunt::align(config, choice, emit);
    }
    let layers = probe_sandbox(config)?;
    emit(Event::Sandbox { layers: banner(config, &layers) });
    let mut notes = Vec::new();
    let Picked { language, trace, first_line, report, others } = read_trace(config, &mut notes)?;
    let program_frames = check_frames(&trace)?;
    emit(Event::Trace { exception: trace.thrown.exception.clone(), frames: program_frames, line: Some(first_line), others });
    let opened = language::open(language, config, (&trace, &report), &mut notes)?;
    let inputs = read_inputs(config)?;
    emit(Event::Program { source: opened.source.clone(), classes: count_classes(&opened.program), runtime: opened.runtime.clone() });
    let goal = resolve(config, &opened, &notes)?;
    opened.platform.check(&opened.program, &goal, &mut notes)?;
    let platform = opened.trace.thrown.frames.iter().filter(|f| f.platform).count();
    emit(Event::Aligned { fit: goal.outermost(), total: goal.total, platform });
    notes.extend(goal.mismatches.first().map(|m| beyond(m, &*opened.platform)));
    notes.iter().for_each(|text| emit(Event::Note { text: text.clone() }));
    let Opened { platform, program, .. } = opened;
    Ok(Aligned { platform, program, goal, report, inputs, diagnostics: notes })
}

/// Enters a jail and leaves it: what it lacks is told now, not after a search.
pub fn probe_sandbox(config: &Config) -> Result<Layers, UserError> {
    let launcher = own_executable()?;
    probe(&launcher, sandbox_mode(config.sandbox)).map_err(|error| spawn_error(error, "a probe"))
}

pub fn banner(config: &Config, layers: &Layers) -> String {
    match config.sandbox {
        Sandbox::Off => "OFF: the program can touch files and the network".into(),
        Sandbox::Default | Sandbox::Strict => layers.to_string(),
    }
}

/// The trace to reproduce, out of a log.
struct Picked {
    language: Language,
    trace: Trace,
    /// The line (from 1) of the log that names the exception.
    first_line: usize,
    /// What stands around it.
    report: Report,
    /// How many further traces the log has.
    others: usize,
}

fn read_trace(config: &Config, notes: &mut Vec<String>) -> Result<Picked, UserError> {
    let log = config.log_name();
    let read = Log::open(&config.log).map_err(|e| UserError::LogUnreadable { log: log.clone(), why: e.to_string() })?;
    let (language, mut parsed) = language::find_traces(&read.bytes, config).map_err(|error| match error {
        UserError::NoTrace { log, lines, nearest } => {
            let nearest = nearest.into_iter().map(|(line, text)| (read.number(line), text)).collect();
            UserError::NoTrace { log, lines: read.lines().unwrap_or(lines), nearest }
        }
        other => other,
    })?;
    parsed.diagnostics.iter_mut().for_each(|d| d.line = d.line.map(|l| read.number(l)));
    notes.extend(parsed.diagnostics.iter().map(|d| format!("{log}: {d}")));
    let mut found = parsed.value;
    if config.pick > found.len() {
        let found = found.iter().map(|f| format!("line {}: {}", read.number(f.first_line), f.trace.thrown.exception)).collect();
        return Err(UserError::NoSuchTrace { log, asked: config.pick, found });
    }
    let others = found.len() - 1;
    let FoundTrace { trace, first_line } = found.swap_remove(config.pick - 1);
    let report = Report::read(&String::from_utf8_lossy(&read.bytes), first_line);
    Ok(Picked { language, trace, first_line: read.number(first_line), report, others })
}

/// How many program frames the trace has anywhere in its chain.
fn check_frames(trace: &Trace) -> Result<usize, UserError> {
    let counts = trace.chain().map(|t| t.program_frames().len());
    match counts.into_iter().find(|n| *n > 0) {
        Some(n) => Ok(n),
        None => {
            let frames = trace.chain().map(|t| t.frames.len()).sum();
            Err(UserError::OnlyPlatformFrames { exception: trace.thrown.exception.clone(), frames })
        }
    }
}

pub fn read_inputs(config: &Config) -> Result<Vec<Input>, UserError> {
    let read = |path: &std::path::PathBuf| Input::read(path).map_err(|e| UserError::ClassPathCorrupt { path: path.clone(), why: e.to_string() });
    let log = Some(&config.log).filter(|_| config.hunt.is_none());
    log.into_iter().chain(&config.classpath).map(read).collect()
}

pub fn count_classes(program: &Program) -> usize {
    let ours = |t: &rethrow_core::program::TypeId| {
        let def = program.ty(*t);
        !def.platform && !def.missing
    };
    program.types().filter(ours).count()
}

fn resolve(config: &Config, opened: &Opened, notes: &[String]) -> Result<CrashGoal, UserError> {
    let table = |total: usize, mismatches: &[Mismatch]| FrameTable {
        rows: frame_rows(&opened.trace, total, mismatches),
        classpath: opened.platform.entries(),
        notes: explanations(mismatches, &*opened.platform, notes),
    };
    let goal = goal::resolve(&opened.trace, &opened.program).map_err(|u| UserError::DoesNotMatch(table(u.total, &u.mismatches)))?;
    match config.target_frame {
        Some(asked) if asked > goal.outermost() => Err(UserError::TargetFrameTooFar { asked, table: table(goal.total, &goal.mismatches) }),
        _ if config.search.looks_near() => Ok(goal.with_near(&opened.program)),
        _ => Ok(goal),
    }
}

/// All program frames of the throwable that `total` counts, with their misfits.
fn frame_rows(trace: &Trace, total: usize, mismatches: &[Mismatch]) -> Vec<FrameRow> {
    let frames = trace.chain().map(|t| t.program_frames()).find(|f| f.len() == total).unwrap_or_default();
    let why = |number: usize| mismatches.iter().find(|m| m.number == number).map(|m| m.why.clone());
    frames.into_iter().enumerate().map(|(i, frame)| FrameRow { frame, why: why(i + 1) }).collect()
}

/// Why the first misfit may be there, and what was odd in the inputs, which may be the reason too.
fn explanations(mismatches: &[Mismatch], platform: &dyn Platform, notes: &[String]) -> Vec<String> {
    const TOLD: usize = 5;
    let hint = mismatches.iter().filter(|m| m.why == goal::Misfit::NoClass).find_map(|m| platform.missing_hint(&m.frame.class));
    hint.into_iter().chain(notes.iter().cloned()).take(TOLD).collect()
}

/// Why frames beyond this one are not aimed at.
fn beyond(mismatch: &Mismatch, platform: &dyn Platform) -> String {
    let frame = &mismatch.frame;
    let why = match &mismatch.why {
        goal::Misfit::NoClass => platform.missing_hint(&frame.class).unwrap_or_else(|| "the class is not on the class path".into()),
        goal::Misfit::NoMethod { .. } => "the class has no such method".into(),
        goal::Misfit::NoLine { nearest: Some(line), .. } => format!("no such line, nearest {line}"),
        goal::Misfit::NoLine { nearest: None, .. } => "no such line".into(),
    };
    format!("frame {} ({}.{}) is not aimed at, nor those beyond: {why}", mismatch.number, frame.class, frame.method)
}
