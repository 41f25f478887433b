//! From a log and a class path to a goal: everything that can be told before any process of the program starts.
//!
//! Reads the trace, chooses the JDK, reads the class path and holds each frame against it. What does not fit is told with the
//! nearest thing that would. Nothing of the program is executed here.

use std::path::Path;
use std::sync::Arc;

use rethrow_core::goal::{self, CrashGoal, Mismatch};
use rethrow_core::program::Program;
use rethrow_core::trace::{Frame, Trace};
use rethrow_jvm::classpath::{self, ClassPath, ClassPathError};
use rethrow_jvm::jdk::Jdk;
use rethrow_jvm::trace::{FoundTrace, looks_obfuscated};
use rethrow_worker::process::probe;
use rethrow_worker::sandbox::Layers;

use crate::cli::Sandbox;
use crate::commands::jail::{own_executable, spawn_error};
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::error::{FrameRow, FrameTable, UserError};
use crate::language;
use crate::record::Input;
use crate::report::Event;

/// Class files of Java N have version N + 44.
const CLASS_VERSION_OFFSET: u32 = 44;

/// What a search starts from.
pub struct Aligned {
    /// Runs the program.
    pub jdk: Jdk,
    /// Compiles the test: the same one if it has a compiler.
    pub compiler: Jdk,
    pub classpath: Arc<ClassPath>,
    pub program: Program,
    pub goal: CrashGoal,
    /// The log and the class path, hashed.
    pub inputs: Vec<Input>,
    pub diagnostics: Vec<String>,
}

/// See the module documentation. Tells of each step by an event.
pub fn align(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Aligned, UserError> {
    let layers = probe_sandbox(config)?;
    emit(Event::Sandbox { layers: banner(config, &layers) });
    let mut notes = Vec::new();
    let (found, others) = read_trace(config, &mut notes)?;
    let program_frames = check_frames(&found.trace)?;
    emit(Event::Trace { exception: found.trace.thrown.exception.clone(), frames: program_frames, line: Some(found.first_line), others });
    let inputs = read_inputs(config)?;
    let jdks = find_jdks(config)?;
    let opened = open_program(config, &found.trace, &jdks, &mut notes)?;
    let compiler = find_compiler(&opened.jdk, &jdks)?;
    emit(Event::Program {
        entries: opened.classpath.entries().filter(|e| !e.platform).count(),
        classes: count_classes(&opened.program),
        jdk: format!("JDK {}", opened.jdk.version),
    });
    let goal = resolve(config, &found.trace, &opened, &notes)?;
    check_supertypes(&goal, &opened, &mut notes)?;
    let platform = found.trace.thrown.frames.iter().filter(|f| f.platform).count();
    emit(Event::Aligned { fit: goal.outermost(), total: goal.total, platform });
    notes.extend(goal.mismatches.first().map(|m| beyond(m, &opened.classpath)));
    notes.iter().for_each(|text| emit(Event::Note { text: text.clone() }));
    let Opened { jdk, classpath, program } = opened;
    Ok(Aligned { jdk, compiler, classpath, program, goal, inputs, diagnostics: notes })
}

/// Enters a jail and leaves it: what it lacks is told now, not after a search.
fn probe_sandbox(config: &Config) -> Result<Layers, UserError> {
    let launcher = own_executable()?;
    probe(&launcher, sandbox_mode(config.sandbox)).map_err(|error| spawn_error(error, "a probe"))
}

fn banner(config: &Config, layers: &Layers) -> String {
    match config.sandbox {
        Sandbox::Off => "OFF: the program can touch files and the network".into(),
        Sandbox::Default | Sandbox::Strict => layers.to_string(),
    }
}

/// The trace to reproduce and how many others the log has.
fn read_trace(config: &Config, notes: &mut Vec<String>) -> Result<(FoundTrace, usize), UserError> {
    let log = config.log_name();
    let bytes = std::fs::read(&config.log).map_err(|e| UserError::LogUnreadable { log: log.clone(), why: e.to_string() })?;
    let parsed = language::find_traces(&bytes, &log)?;
    notes.extend(parsed.diagnostics.iter().map(|d| format!("{log}: {d}")));
    let mut found = parsed.value;
    if config.pick > found.len() {
        let found = found.iter().map(|f| format!("line {}: {}", f.first_line, f.trace.thrown.exception)).collect();
        return Err(UserError::NoSuchTrace { log, asked: config.pick, found });
    }
    let others = found.len() - 1;
    let picked = found.swap_remove(config.pick - 1);
    if looks_obfuscated(&picked.trace) {
        notes.push("the names in the trace look obfuscated; give a trace and a class path with the original names".into());
    }
    Ok((picked, others))
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

fn read_inputs(config: &Config) -> Result<Vec<Input>, UserError> {
    if config.classpath.is_empty() {
        return Err(UserError::NoClassPath);
    }
    if let Some(path) = config.classpath.iter().find(|path| !path.exists()) {
        return Err(UserError::ClassPathMissing { path: path.clone() });
    }
    let read = |path: &std::path::PathBuf| Input::read(path).map_err(|e| UserError::ClassPathCorrupt { path: path.clone(), why: e.to_string() });
    std::iter::once(&config.log).chain(&config.classpath).map(read).collect()
}

fn find_jdks(config: &Config) -> Result<Vec<Jdk>, UserError> {
    if let Some(home) = &config.java_home
        && Jdk::at(home).is_none()
    {
        return Err(UserError::BadJavaHome { path: home.clone(), why: "no Java runtime there".into() });
    }
    let jdks = config.host.jdks(config.java_home.as_deref());
    if jdks.is_empty() {
        return Err(UserError::NoJdk { looked: crate::commands::doctor::places(&config.host) });
    }
    Ok(jdks)
}

struct Opened {
    jdk: Jdk,
    classpath: Arc<ClassPath>,
    program: Program,
}

/// Reads the class path for the first JDK that can run it. A JDK that the user named is never replaced.
fn open_program(config: &Config, trace: &Trace, jdks: &[Jdk], notes: &mut Vec<String>) -> Result<Opened, UserError> {
    let candidates = if config.java_home.is_some() { &jdks[..1] } else { jdks };
    let opened = open_with(config, &candidates[0], notes)?;
    let needs = java_of(opened.classpath.highest_class_version());
    if needs <= opened.jdk.feature {
        return Ok(opened);
    }
    if let Some(newer) = candidates.iter().find(|jdk| jdk.feature >= needs) {
        notes.push(format!("using JDK {}, because the classes need Java {needs}", newer.version));
        return open_with(config, newer, notes);
    }
    // Classes that the crash does not touch may stay out of reach.
    let newest = candidates.iter().max_by_key(|jdk| jdk.feature).expect("at least the first JDK");
    if let Some((class, needs)) = newest_on_trace(trace, &opened.classpath).filter(|(_, needs)| *needs > newest.feature) {
        return Err(UserError::ClassTooNew { class, needs, found: Some(newest.feature) });
    }
    notes.push(format!("some classes need Java {needs} and are left out"));
    if newest.home == opened.jdk.home { Ok(opened) } else { open_with(config, newest, notes) }
}

fn open_with(config: &Config, jdk: &Jdk, notes: &mut Vec<String>) -> Result<Opened, UserError> {
    let spec: Vec<String> = config.classpath.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    let opened = ClassPath::open(&spec, jdk).map_err(|e| class_path_error(e, config))?;
    let classpath = Arc::new(opened.value);
    let loaded = classpath::load(classpath.clone());
    for diagnostic in opened.diagnostics.iter().chain(&loaded.diagnostics) {
        let text = diagnostic.to_string();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    Ok(Opened { jdk: jdk.clone(), classpath, program: loaded.value })
}

fn class_path_error(error: ClassPathError, config: &Config) -> UserError {
    let first = || config.classpath.first().cloned().unwrap_or_default();
    match error {
        ClassPathError::Empty => UserError::NoClassPath,
        ClassPathError::Unreadable(entries) => {
            let (path, why) = entries.into_iter().next().unwrap_or_else(|| (first(), "no classes in it".into()));
            UserError::ClassPathCorrupt { path, why }
        }
        ClassPathError::Platform { home, why } => UserError::BadJavaHome { path: home, why },
    }
}

/// The class of the trace that needs the newest Java, and which.
fn newest_on_trace(trace: &Trace, classpath: &ClassPath) -> Option<(String, u32)> {
    let frames = trace.chain().flat_map(|t| t.program_frames());
    let needs = |frame: Frame| {
        let bytes = classpath.class_bytes(&frame.class)?;
        let version = u16::from_be_bytes([*bytes.get(6)?, *bytes.get(7)?]);
        Some((frame.class, java_of(version)))
    };
    frames.filter_map(needs).max_by_key(|(_, java)| *java)
}

fn java_of(class_version: u16) -> u32 {
    u32::from(class_version).saturating_sub(CLASS_VERSION_OFFSET)
}

/// The JDK itself if it has a compiler, else the oldest other one that has and can read its class files.
fn find_compiler(jdk: &Jdk, jdks: &[Jdk]) -> Result<Jdk, UserError> {
    if jdk.javac.is_some() {
        return Ok(jdk.clone());
    }
    let others = jdks.iter().filter(|other| other.javac.is_some() && other.feature >= jdk.feature);
    let other = others.min_by_key(|other| other.feature);
    other.cloned().ok_or_else(|| UserError::NoCompiler { jdk: jdk.home.clone() })
}

fn count_classes(program: &Program) -> usize {
    let ours = |t: &rethrow_core::program::TypeId| {
        let def = program.ty(*t);
        !def.platform && !def.missing
    };
    program.types().filter(ours).count()
}

fn resolve(config: &Config, trace: &Trace, opened: &Opened, notes: &[String]) -> Result<CrashGoal, UserError> {
    let table = |total: usize, mismatches: &[Mismatch]| FrameTable {
        rows: frame_rows(trace, total, mismatches),
        classpath: file_names(&opened.classpath),
        notes: explanations(mismatches, &opened.classpath, notes),
    };
    let goal = goal::resolve(trace, &opened.program).map_err(|u| UserError::DoesNotMatch(table(u.total, &u.mismatches)))?;
    match config.target_frame {
        Some(asked) if asked > goal.outermost() => Err(UserError::TargetFrameTooFar { asked, table: table(goal.total, &goal.mismatches) }),
        _ => Ok(goal),
    }
}

/// A class without its supertypes never loads: no test goes through the innermost frame then, and a note tells of the others.
fn check_supertypes(goal: &CrashGoal, opened: &Opened, notes: &mut Vec<String>) -> Result<(), UserError> {
    let program = &opened.program;
    for (i, frame) in goal.frames.iter().enumerate() {
        let Some(absent) = program.supertypes(frame.class).into_iter().find(|t| program.ty(*t).missing) else { continue };
        let (class, missing) = (frame.frame.class.clone(), program.type_name(absent).to_string());
        if i == 0 {
            let note = opened.classpath.missing_hint(&missing);
            return Err(UserError::SupertypeMissing { class, missing, note });
        }
        notes.push(format!("frame {} ({class}) cannot be reached: its supertype {missing} is not on the class path", i + 1));
    }
    Ok(())
}

/// All program frames of the throwable that `total` counts, with their misfits.
fn frame_rows(trace: &Trace, total: usize, mismatches: &[Mismatch]) -> Vec<FrameRow> {
    let frames = trace.chain().map(|t| t.program_frames()).find(|f| f.len() == total).unwrap_or_default();
    let why = |number: usize| mismatches.iter().find(|m| m.number == number).map(|m| m.why.clone());
    frames.into_iter().enumerate().map(|(i, frame)| FrameRow { frame, why: why(i + 1) }).collect()
}

fn file_names(classpath: &ClassPath) -> Vec<String> {
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    classpath.entries().filter(|e| !e.platform).filter_map(|e| name(e.path)).collect()
}

/// Why the first misfit may be there, and what was odd in the inputs, which may be the reason too.
fn explanations(mismatches: &[Mismatch], classpath: &ClassPath, notes: &[String]) -> Vec<String> {
    const TOLD: usize = 5;
    let hint = mismatches.iter().filter(|m| m.why == goal::Misfit::NoClass).find_map(|m| classpath.missing_hint(&m.frame.class));
    hint.into_iter().chain(notes.iter().cloned()).take(TOLD).collect()
}

/// Why frames beyond this one are not aimed at.
fn beyond(mismatch: &Mismatch, classpath: &ClassPath) -> String {
    let frame = &mismatch.frame;
    let why = match &mismatch.why {
        goal::Misfit::NoClass => classpath.missing_hint(&frame.class).unwrap_or_else(|| "the class is not on the class path".into()),
        goal::Misfit::NoMethod { .. } => "the class has no such method".into(),
        goal::Misfit::NoLine { nearest: Some(line), .. } => format!("no such line, nearest {line}"),
        goal::Misfit::NoLine { nearest: None, .. } => "no such line".into(),
    };
    format!("frame {} ({}.{}) is not aimed at, nor those beyond: {why}", mismatch.number, frame.class, frame.method)
}
