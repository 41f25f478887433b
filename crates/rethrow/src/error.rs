//! What can go wrong for a user: one enum, and one match from each variant to its exit code, message and hint.
//!
//! Everything here is expected and has a way out that the hint names. What is not expected is a bug of rethrow and ends with exit
//! code 70 through the panic hook below: a short message and a log, never a backtrace on the terminal.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rethrow_core::goal::Misfit;
use rethrow_core::trace::Frame;

use crate::report::{Glyphs, printable};

/// See the module documentation.
#[derive(Debug)]
pub enum UserError {
    /// The text has no trace of any language. `nearest`: the lines that look most like one, with their numbers.
    NoTrace {
        log: String,
        lines: usize,
        nearest: Vec<(usize, String)>,
    },
    /// There are fewer traces than `--pick` says.
    NoSuchTrace {
        log: String,
        asked: usize,
        found: Vec<String>,
    },
    /// A trace, but of a language that cannot be reproduced.
    OtherLanguage {
        log: String,
        language: &'static str,
    },
    LogUnreadable {
        log: String,
        why: String,
    },
    /// No frame of the trace is the program's.
    OnlyPlatformFrames {
        exception: String,
        frames: usize,
    },
    /// Not even the innermost program frame fits.
    DoesNotMatch(FrameTable),
    /// `--target-frame` asks for more than fits.
    TargetFrameTooFar {
        asked: usize,
        table: FrameTable,
    },
    /// No class is under test.
    NoClasses {
        wanted: String,
        near: String,
    },
    /// The hunted class is not there.
    NoSuchClass {
        class: String,
        near: Vec<String>,
    },
    /// A hunted module has nothing of its own that can be called.
    NothingToCall {
        module: String,
    },
    NoClassPath,
    ClassPathMissing {
        path: PathBuf,
    },
    ClassPathCorrupt {
        path: PathBuf,
        why: String,
    },
    /// The class of the innermost frame cannot be loaded without another that is not there.
    SupertypeMissing {
        class: String,
        missing: String,
        note: Option<String>,
    },
    /// A class on the trace needs a newer Java than any that was found.
    ClassTooNew {
        class: String,
        needs: u32,
        found: Option<u32>,
    },
    /// `looked` are the places that were searched.
    NoJdk {
        looked: Vec<String>,
    },
    /// `--java-home` is not a JDK that can be used.
    BadJavaHome {
        path: PathBuf,
        why: String,
    },
    NoCompiler {
        jdk: PathBuf,
    },
    /// No Python interpreter was found.
    NoPython,
    /// The interpreter cannot be used; `why` says which and what is wrong with it.
    BadPython {
        why: String,
    },
    /// The program's modules cannot be imported by the interpreter.
    NotImportable {
        why: String,
    },
    /// A folder of `--source` is not there.
    SourceMissing {
        path: PathBuf,
    },
    SandboxMissing {
        layers: Vec<String>,
    },
    WorkerWillNotStart {
        why: String,
    },
    RunDirUnusable {
        path: PathBuf,
        why: String,
    },
    RunDirLocked {
        path: PathBuf,
        pid: Option<u32>,
    },
    /// The folder of `replay` has no record that can be used.
    BadRecord {
        path: PathBuf,
        why: String,
    },
    /// The inputs are not those of the recorded run.
    InputsChanged {
        files: Vec<PathBuf>,
    },
    /// A suite or a results file that cannot be used.
    BenchInput {
        path: PathBuf,
        why: String,
    },
    /// A combination of flags that makes no sense.
    BadFlags {
        why: String,
    },
    /// A command that cannot be started in the jail.
    CommandNotStarted {
        command: String,
        why: String,
    },
}

/// Which frames of the trace fit the program, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameTable {
    /// Innermost first; the first has number 1.
    pub rows: Vec<FrameRow>,
    /// File names on the class path, against which the trace's own evidence is held.
    pub classpath: Vec<String>,
    /// What else may explain it.
    pub notes: Vec<String>,
}

/// One program frame of the trace; `why` is `None` if it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRow {
    pub frame: Frame,
    pub why: Option<Misfit>,
}

/// What the one match gives for each variant.
struct Told {
    /// For programs: a short stable name.
    code: &'static str,
    exit: u8,
    message: String,
    /// Indented lines below the message.
    details: Vec<String>,
    hint: String,
}

impl UserError {
    pub fn exit_code(&self) -> u8 {
        self.told(Glyphs::ASCII).exit
    }

    /// The whole message for a terminal.
    pub fn text(&self, glyphs: Glyphs) -> String {
        let told = self.told(glyphs);
        let mut message = told.message.lines();
        let mut out = format!("{} {}  (exit {})\n", glyphs.cross, message.next().unwrap_or_default(), told.exit);
        for line in message {
            let _ = writeln!(out, "  {}", printable(line));
        }
        for line in &told.details {
            let _ = writeln!(out, "  {}", printable(line));
        }
        let _ = writeln!(out, "  {} {}", glyphs.arrow, told.hint);
        out
    }

    /// One object for programs.
    pub fn json(&self) -> serde_json::Value {
        let told = self.told(Glyphs::ASCII);
        let error = serde_json::json!({ "code": told.code, "message": told.message, "details": told.details, "hint": told.hint });
        serde_json::json!({ "schema": crate::record::SCHEMA, "exit_code": told.exit, "error": error })
    }

    #[rustfmt::skip] // a table
    fn told(&self, glyphs: Glyphs) -> Told {
        use UserError as E;
        let (code, exit, message, details, hint): (_, u8, String, Vec<String>, String) = match self {
            E::NoTrace { log, lines, nearest } => ("no_trace", 3,
                format!("no stack trace in {log} ({lines} lines read)"),
                nearest_lines(nearest),
                "looked for `some.Exception: message` followed by lines like `at pkg.Class.method(File.java:12)`, and for \
                 `Traceback (most recent call last):`; give the log that has them".into()),
            E::NoSuchTrace { log, asked, found } => ("no_such_trace", 3,
                format!("{log} has {}, not {asked}", count(found.len(), "trace")),
                found.iter().enumerate().map(|(i, t)| format!("{}  {t}", i + 1)).collect(),
                format!("choose one with --pick 1..{}", found.len())),
            E::OtherLanguage { log, language } => ("other_language", 3,
                format!("{log} has a {language} stack trace, but none of Java or Python"), vec![],
                "this version reproduces crashes of Java and Python programs".into()),
            E::LogUnreadable { log, why } => ("log_unreadable", 3, format!("cannot read {log}: {why}"), vec![],
                "give a file, or `-` for standard input".into()),
            E::OnlyPlatformFrames { exception, frames } => ("no_program_frame", 3,
                format!("{exception}: all {} belong to the language's own library", count(*frames, "frame")), vec![],
                "there is no code of a program to call; if the log is cut off, give the whole trace".into()),
            E::DoesNotMatch(table) => ("does_not_match", 3, "the program does not match the trace".into(), table.lines(glyphs),
                table.advice().into()),
            E::TargetFrameTooFar { asked, table } => ("target_frame", 3,
                format!("--target-frame {asked}: only {} of the trace fit the program", count(table.fitting(), "frame")),
                table.lines(glyphs), format!("ask for at most --target-frame {}, or {}", table.fitting(), table.advice())),
            E::NoClasses { wanted, near } => ("no_classes", 3, format!("no class on the class path matches {wanted}"), vec![],
                format!("give names as in --classes 'org.example.*'; there are {near}")),
            E::NoSuchClass { class, near } => ("no_such_class", 3, format!("{class} is not on the class path"), vec![],
                format!("give the whole name with --class; there are {}", some_of(near))),
            E::NothingToCall { module } => ("nothing_to_call", 3, format!("{module} defines no function or class"), vec![],
                "name the module that does with --module; what it only imports from other packages does not count".into()),
            E::NoClassPath => ("no_class_path", 2, "no class path given".into(), vec![],
                "name the jars and class folders of the program: --classpath app.jar:lib/*".into()),
            E::ClassPathMissing { path } => ("class_path_missing", 3, format!("{} is not there", path.display()), vec![],
                "correct --classpath; entries are separated by colons".into()),
            E::ClassPathCorrupt { path, why } => ("class_path_corrupt", 3, format!("cannot read {}: {why}", path.display()), vec![],
                "build or download it again, or leave it off the class path".into()),
            E::SupertypeMissing { class, missing, note } => ("supertype_missing", 3,
                format!("{class} cannot be loaded: its supertype {missing} is not on the class path"), note.iter().cloned().collect(),
                "add the jar that has it to --classpath".into()),
            E::ClassTooNew { class, needs, found } => ("class_too_new", 4,
                match found {
                    Some(found) => format!("{class} needs Java {needs}; the newest JDK found is {found}"),
                    None => format!("{class} needs Java {needs}"),
                }, vec![],
                format!("install JDK {needs} or newer ({}) or give it with --java-home", install_jdk(*needs))),
            E::NoJdk { looked } => ("no_jdk", 4, "no JDK found".into(), looked.iter().map(|l| format!("looked in {l}")).collect(),
                format!("install one ({}) or give it with --java-home", install_jdk(17))),
            E::BadJavaHome { path, why } => ("bad_java_home", 4, format!("{} is not a usable JDK: {why}", path.display()), vec![],
                "give the folder that has bin/java and lib/server/libjvm.so".into()),
            E::NoCompiler { jdk } => ("no_compiler", 4, format!("{} has no javac, and no other JDK was found", jdk.display()), vec![],
                format!("install a full JDK, not only a runtime: {}", install_jdk(17))),
            E::NoPython => ("no_python", 4, "no Python interpreter found".into(), vec!["looked for $VIRTUAL_ENV, .venv, venv, python3 and python on $PATH".into()],
                "give the one that has the program's packages with --python .venv/bin/python".into()),
            E::BadPython { why } => ("bad_python", 4, why.clone(), vec![],
                "give CPython 3.8 or newer, with the program's packages, with --python".into()),
            E::NotImportable { why } => ("not_importable", 4, why.clone(), vec![],
                "install what it needs into the interpreter's environment, or give that of the program with --python".into()),
            E::SourceMissing { path } => ("source_missing", 3, format!("{} is not there", path.display()), vec![],
                "correct --source: it names folders with the program's modules".into()),
            E::SandboxMissing { layers } => ("sandbox_missing", 4,
                format!("--sandbox strict: this machine lacks {}", layers.join(", ")), vec![],
                "run without strict to use the layers that are there; `rethrow doctor` lists them".into()),
            E::WorkerWillNotStart { why } => ("worker", 4, format!("no worker process will start: {why}"), vec![],
                "`rethrow doctor` checks JDKs, interpreters and the sandbox".into()),
            E::RunDirUnusable { path, why } => ("run_dir", 4, format!("cannot write {}: {why}", path.display()), vec![],
                "choose another folder with --run-dir".into()),
            E::RunDirLocked { path, pid } => ("run_dir_locked", 4,
                format!("{} is in use by another run{}", path.display(), pid.map(|p| format!(" (process {p})")).unwrap_or_default()), vec![],
                "wait for it, or choose another folder with --run-dir".into()),
            E::BadRecord { path, why } => ("bad_record", 3, format!("{}: {why}", path.display()), vec![],
                "give the folder of a run (--run-dir) that found a test".into()),
            E::InputsChanged { files } => ("inputs_changed", 3, "the inputs are not those of the recorded run".into(),
                files.iter().map(|f| format!("changed or gone: {}", f.display())).collect(),
                "reproduce again with the present ones: rethrow reproduce".into()),
            E::BenchInput { path, why } => ("bench_input", 3, format!("{}: {why}", path.display()), vec![],
                "bench/README.md tells what suites and results look like".into()),
            E::BadFlags { why } => ("bad_flags", 2, why.clone(), vec![], "see rethrow --help".into()),
            E::CommandNotStarted { command, why } => ("command_not_started", 4, format!("cannot start {command} in the sandbox: {why}"), vec![],
                "give a full path, and --allow-read for folders it needs".into()),
        };
        Told { code, exit, message, details, hint }
    }
}

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.told(Glyphs::ASCII).message)
    }
}

impl FrameTable {
    /// How many frames fit, from the innermost, before the first that does not.
    pub fn fitting(&self) -> usize {
        self.rows.iter().take_while(|row| row.why.is_none()).count()
    }

    /// One line for each frame, then what the trace says about versions.
    pub fn lines(&self, glyphs: Glyphs) -> Vec<String> {
        let rows = self.rows.iter().enumerate().map(|(i, row)| row.line(i + 1, glyphs));
        rows.chain(self.version_evidence()).chain(self.notes.iter().cloned()).collect()
    }

    /// The archives that the trace names and the class path does not have.
    fn version_evidence(&self) -> Option<String> {
        let mut said: Vec<&str> = self.rows.iter().filter_map(|r| r.frame.origin.as_deref()).collect();
        said.dedup();
        said.retain(|origin| !self.classpath.iter().any(|file| origin.contains(file.as_str())));
        let said = said.first()?;
        Some(format!("the trace says [{said}]; the class path has {}", some_of(&self.classpath)))
    }

    fn advice(&self) -> &'static str {
        let lines_off = self.rows.iter().any(|r| matches!(r.why, Some(Misfit::NoLine { .. })));
        match lines_off {
            true => "use the version of the program that printed the trace",
            false => "add the jar that has these classes to --classpath",
        }
    }
}

impl FrameRow {
    fn line(&self, number: usize, glyphs: Glyphs) -> String {
        let (yes, no, f) = (glyphs.yes, glyphs.no, &self.frame);
        let place = match f.line {
            Some(line) => format!("{}.{}:{line}", f.class, f.method),
            None => format!("{}.{}", f.class, f.method),
        };
        let fit = match &self.why {
            None => format!("{yes} class {yes} method {yes} line"),
            Some(Misfit::NoClass) => format!("{no} class"),
            Some(Misfit::NoMethod { has }) => format!("{yes} class {no} method (has {})", some_of(has)),
            Some(Misfit::NoLine { nearest, span }) => {
                let line = f.line.map(|l| format!(" {l}")).unwrap_or_default();
                let span = span.map(|(a, b)| format!(" (method spans {a}-{b})")).unwrap_or_default();
                let nearest = nearest.map(|n| format!("  nearest line {n}")).unwrap_or_default();
                format!("{yes} class {yes} method {no} line{line}{span}{nearest}")
            }
        };
        format!("frame {number}  {fit}  {place}")
    }
}

/// How to get a JDK of at least that version.
pub fn install_jdk(version: u32) -> String {
    // Distributions package the long-term versions; others come from the JDK's own site.
    let packaged = [17, 21, 25].into_iter().find(|v| *v >= version);
    match packaged {
        Some(v) => format!("apt install openjdk-{v}-jdk-headless, or brew install openjdk@{v}"),
        None => "https://jdk.java.net".into(),
    }
}

fn nearest_lines(nearest: &[(usize, String)]) -> Vec<String> {
    let lines = nearest.iter().map(|(number, text)| format!("{number:>6}  {text}"));
    let head = (!nearest.is_empty()).then(|| "nearest lines".to_string());
    head.into_iter().chain(lines).collect()
}

fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<&str> = names.iter().map(String::as_str).filter(|n| !n.starts_with('<')).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    match (names.is_empty(), more) {
        (true, _) => "none".into(),
        (false, 0) => names.join(", "),
        (false, more) => format!("{} and {more} more", names.join(", ")),
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Where a bug is logged: beside the run record once there is a run directory.
static BUG_LOG: OnceLock<PathBuf> = OnceLock::new();

pub const BUG_EXIT: u8 = 70;

/// From now on a panic prints a short message with the way to repeat it, and logs the rest.
pub fn install_panic_hook(command_line: String) {
    std::panic::set_hook(Box::new(move |info| {
        let log = BUG_LOG.get().cloned().unwrap_or_else(|| std::env::temp_dir().join(format!("rethrow-bug-{}.log", std::process::id())));
        let trace = std::backtrace::Backtrace::force_capture();
        let details = format!("rethrow {}\n{command_line}\n{info}\n{trace}\n", env!("CARGO_PKG_VERSION"));
        let kept = std::fs::write(&log, details).is_ok();
        crate::report::complain(&bug_message(&info.to_string(), &command_line, kept.then_some(&log)));
    }));
}

/// Logs of a bug go there from now on.
pub fn log_bugs_in(run_dir: &Path) {
    // A process has one run directory; a second call has nothing to add.
    let _ = BUG_LOG.set(run_dir.join("bug.log"));
}

fn bug_message(info: &str, command_line: &str, log: Option<&PathBuf>) -> String {
    let place = info.lines().next().unwrap_or_default().trim_end_matches(':');
    let log = log.map_or("could not be written".to_string(), |l| l.display().to_string());
    format!("this is a bug in rethrow ({place})\n  replay  {command_line}\n  log     {log}\n  please report it with both\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(frame: &str, line: u32, why: Option<Misfit>) -> FrameRow {
        let (class, method) = frame.rsplit_once('.').unwrap();
        FrameRow { frame: Frame::new(class, method, Some(line)), why }
    }

    fn wrong_version() -> FrameTable {
        let mut first = row("a.B.cut", 413, Some(Misfit::NoLine { nearest: Some(406), span: Some((380, 407)) }));
        first.frame.origin = Some("lang-3.9.jar:3.9".into());
        let rows = vec![
            first,
            row("a.C.run", 7, None),
            row("a.D.x", 1, Some(Misfit::NoMethod { has: vec!["<init>".into(), "z".into(), "y".into(), "y".into()] })),
            row("q.E.x", 1, Some(Misfit::NoClass)),
        ];
        FrameTable { rows, classpath: vec!["lang-3.4.jar".into()], notes: vec![] }
    }

    #[test]
    fn a_mismatch_shows_every_frame_and_the_version() {
        let text = UserError::DoesNotMatch(wrong_version()).text(Glyphs::UNICODE);
        let want = "\
✘ the program does not match the trace  (exit 3)
  frame 1  ✓ class ✓ method ✗ line 413 (method spans 380-407)  nearest line 406  a.B.cut:413
  frame 2  ✓ class ✓ method ✓ line  a.C.run:7
  frame 3  ✓ class ✗ method (has y, z)  a.D.x:1
  frame 4  ✗ class  q.E.x:1
  the trace says [lang-3.9.jar:3.9]; the class path has lang-3.4.jar
  → use the version of the program that printed the trace
";
        assert_eq!(text, want);
    }

    #[test]
    fn ascii_has_no_other_character() {
        assert!(UserError::DoesNotMatch(wrong_version()).text(Glyphs::ASCII).is_ascii());
    }

    #[test]
    fn evidence_that_agrees_is_not_told() {
        let mut table = wrong_version();
        table.classpath = vec!["lang-3.9.jar".into()];
        assert!(!table.lines(Glyphs::ASCII).iter().any(|l| l.contains("the trace says")));
    }

    #[test]
    fn exit_codes() {
        let path = || PathBuf::from("/x");
        for (error, exit) in [
            (UserError::NoTrace { log: "l".into(), lines: 0, nearest: vec![] }, 3),
            (UserError::ClassPathMissing { path: path() }, 3),
            (UserError::SupertypeMissing { class: "A".into(), missing: "B".into(), note: None }, 3),
            (UserError::ClassTooNew { class: "A".into(), needs: 25, found: Some(17) }, 4),
            (UserError::NoJdk { looked: vec![] }, 4),
            (UserError::RunDirLocked { path: path(), pid: None }, 4),
            (UserError::BadFlags { why: "no".into() }, 2),
            (UserError::NoClassPath, 2),
        ] {
            assert_eq!(error.exit_code(), exit, "{error}");
        }
    }

    #[test]
    fn the_needed_jdk_is_named() {
        let text = UserError::ClassTooNew { class: "a.B".into(), needs: 25, found: Some(17) }.text(Glyphs::ASCII);
        assert!(text.contains("a.B needs Java 25; the newest JDK found is 17"), "{text}");
        assert!(text.contains("openjdk-25-jdk"), "{text}");
        assert!(install_jdk(99).contains("jdk.java.net"));
    }

    #[test]
    fn what_a_process_said_stays_below_the_headline() {
        let text = UserError::WorkerWillNotStart { why: "no\nError: \x1b[31mbad option".into() }.text(Glyphs::ASCII);
        assert!(text.starts_with("[no] no worker process will start: no  (exit 4)\n  Error: ?[31mbad option\n  -> "), "{text}");
    }

    #[test]
    fn a_bug_is_told_in_four_lines() {
        let text = bug_message("panicked at src/x.rs:1:2:\nindex out of bounds", "rethrow doctor", Some(&"/r/bug.log".into()));
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("panicked at src/x.rs:1:2)") && text.contains("rethrow doctor") && text.contains("/r/bug.log"), "{text}");
    }
}
