//! How a rendered test is confirmed: which files are compiled by which command, which command runs them, and what its result means.
//!
//! The test is called by a small main of its own, in a fresh JVM without instrumentation, and the whole chain of what it throws is
//! written to a file: standard output belongs to the program. Where the class path has no JUnit, its annotation is compiled along, so
//! that no network is needed. Nothing is started here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rethrow_core::target::RenderedTest;
use rethrow_core::target::confirmation::{Command, ConfirmPlan, Ended, RESULT_FILE, RUN_FOLDER, joined, read_result, unescape};
use rethrow_core::trace::Frame;

use crate::trace::is_platform;

const RUNNER: &str = "RethrowConfirm";
/// No cause chain is that long; some are circular.
const MAX_CHAIN: usize = 64;

/// What the plan is made for.
#[derive(Clone, Debug)]
pub struct ConfirmConfig<'a> {
    /// Absolute; everything is written below it.
    pub scratch: &'a Path,
    pub java: &'a Path,
    pub javac: &'a Path,
    /// What the commands read of the JDKs.
    pub homes: Vec<PathBuf>,
    /// As given to a JVM.
    pub class_path: &'a [PathBuf],
    /// 4 or 5.
    pub framework: u32,
    /// The class path has that framework's `@Test`.
    pub has_framework: bool,
    /// Run with `-ea`.
    pub assertions: bool,
}

/// The plan for a test that throws. If the written test is to pass instead, it is `expecting`, and `failing` is the same test case
/// in the failing style: only that one shows the trace.
pub fn plan(failing: &RenderedTest, expecting: Option<&RenderedTest>, config: &ConfirmConfig<'_>) -> ConfirmPlan {
    let thrown = build(failing, "failing", config);
    let passing = expecting.map(|test| build(test, "expecting", config));
    let mut folders = vec![thrown.folder.clone()];
    let (mut files, mut compile) = (thrown.files, vec![thrown.compile]);
    let mut passes = None;
    if let Some(build) = passing {
        folders.push(build.folder);
        files.extend(build.files);
        compile.push(build.compile);
        passes = Some(build.run);
    }
    let mut readable: Vec<PathBuf> = folders.iter().map(|f| config.scratch.join(f)).collect();
    readable.extend(config.homes.iter().chain(config.class_path).cloned());
    let harness = vec![failing.name.clone(), in_package_of(&failing.name, RUNNER)];
    ConfirmPlan { files, folders, compile, run: thrown.run, passes, readable, harness, read: parse_result }
}

/// One test compiled into a folder of its own: two styles of a test have the same name.
struct Build {
    files: Vec<(PathBuf, String)>,
    folder: PathBuf,
    compile: Command,
    run: Command,
}

fn build(test: &RenderedTest, label: &str, config: &ConfirmConfig<'_>) -> Build {
    let (sources, classes) = (PathBuf::from(label).join("src"), PathBuf::from(label).join("classes"));
    let beside = test.path.with_file_name(format!("{RUNNER}.java"));
    let mut files = vec![(sources.join(&test.path), test.text.clone()), (sources.join(beside), runner(test))];
    if !config.has_framework {
        files.push(annotation(&sources, config.framework));
    }
    let written: Vec<PathBuf> = files.iter().map(|(path, _)| config.scratch.join(path)).collect();
    let classes_full = config.scratch.join(&classes);
    let compile = javac(config, &classes_full, &written);
    let run = java(config, &classes_full, &in_package_of(&test.name, RUNNER));
    Build { files, folder: classes, compile, run }
}

/// For every compilation.
pub(super) fn javac_options() -> Vec<OsString> {
    ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-nowarn", "-proc:none", "-encoding", "UTF-8"].map(OsString::from).to_vec()
}

/// For every run of tests.
pub(super) fn java_options() -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-XX:-UsePerfData", "-XX:-OmitStackTraceInFastThrow", "-Djava.awt.headless=true"].map(OsString::from).to_vec();
    args.push(format!("-Djava.io.tmpdir={RUN_FOLDER}").into());
    args.push(format!("-Duser.home={RUN_FOLDER}").into());
    args
}

fn javac(config: &ConfirmConfig<'_>, classes: &Path, sources: &[PathBuf]) -> Command {
    let mut args = javac_options();
    args.extend(["-d".into(), classes.into()]);
    // an empty class path would mean the working directory
    args.extend(["-cp".into(), joined(std::iter::once(classes).chain(config.class_path.iter().map(PathBuf::as_path)))]);
    args.extend(sources.iter().map(|path| path.clone().into_os_string()));
    Command { program: config.javac.to_path_buf(), args, env: Vec::new() }
}

fn java(config: &ConfirmConfig<'_>, classes: &Path, main: &str) -> Command {
    let mut args = java_options();
    if config.assertions {
        args.push("-ea".into());
    }
    args.extend(["-cp".into(), joined(std::iter::once(classes).chain(config.class_path.iter().map(PathBuf::as_path)))]);
    args.extend([main.into(), format!("{RUN_FOLDER}/{RESULT_FILE}").into()]);
    Command { program: config.java.to_path_buf(), args, env: Vec::new() }
}

pub(super) fn in_package_of(name: &str, simple: &str) -> String {
    name.rsplit_once('.').map_or_else(|| simple.to_string(), |(package, _)| format!("{package}.{simple}"))
}

fn annotation(sources: &Path, framework: u32) -> (PathBuf, String) {
    let package = if framework >= 5 { "org.junit.jupiter.api" } else { "org.junit" };
    (sources.join(package.replace('.', "/")).join("Test.java"), format!("package {package};\n\npublic @interface Test {{\n}}\n"))
}

/// Calls the test and writes what it throws. Names are written out in full, since the test's package may have a `String` of its own.
fn runner(test: &RenderedTest) -> String {
    let (package, simple) = test.name.rsplit_once('.').unwrap_or(("", &test.name));
    let package = if package.is_empty() { String::new() } else { super::literal::ascii(&format!("package {package};\n\n")) };
    package + &RUNNER_SOURCE.replace("RUNNER", RUNNER).replace("CHAIN", &MAX_CHAIN.to_string()).replace("TEST", simple).replace("METHOD", &test.method)
}

const RUNNER_SOURCE: &str = r#"final class RUNNER {

    public static void main(java.lang.String[] args) throws java.lang.Exception {
        java.lang.Throwable thrown = null;
        try {
            new TEST().METHOD();
        } catch (java.lang.Throwable t) {
            thrown = t;
        }
        java.lang.StringBuilder out = new java.lang.StringBuilder();
        out.append(thrown == null ? "RETURNED\n" : "THROWN\n");
        int depth = 0;
        for (java.lang.Throwable t = thrown; t != null && depth < CHAIN; t = causeOf(t), depth++) {
            describe(t, out);
        }
        out.append("END\n");
        java.io.FileOutputStream file = new java.io.FileOutputStream(args[0]);
        file.write(out.toString().getBytes("US-ASCII"));
        file.close();
        java.lang.Runtime.getRuntime().halt(0);
    }

    private static void describe(java.lang.Throwable t, java.lang.StringBuilder out) {
        out.append("T\t");
        escape(t.getClass().getName(), out);
        java.lang.String message = messageOf(t);
        if (message != null) {
            out.append('\t');
            escape(message, out);
        }
        out.append('\n');
        for (java.lang.StackTraceElement frame : t.getStackTrace()) {
            out.append("F\t");
            escape(frame.getClassName(), out);
            out.append('\t');
            escape(frame.getMethodName(), out);
            out.append('\t').append(frame.getLineNumber());
            if (frame.getFileName() != null) {
                out.append('\t');
                escape(frame.getFileName(), out);
            }
            out.append('\n');
        }
    }

    private static java.lang.Throwable causeOf(java.lang.Throwable t) {
        try {
            return t.getCause();
        } catch (java.lang.Throwable broken) {
            return null;
        }
    }

    private static java.lang.String messageOf(java.lang.Throwable t) {
        try {
            return t.getMessage();
        } catch (java.lang.Throwable broken) {
            return null;
        }
    }

    private static void escape(java.lang.String text, java.lang.StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c < 127 && c != '\\') {
                out.append(c);
            } else {
                java.lang.String hex = java.lang.Integer.toHexString(c);
                out.append("\\u").append("0000".substring(hex.length())).append(hex);
            }
        }
    }
}
"#;

/// What a run wrote; `None` if it is not whole.
pub fn parse_result(text: &str) -> Option<Ended> {
    read_result(text, frame)
}

fn frame(fields: &mut dyn Iterator<Item = &str>) -> Option<Frame> {
    let (class, method) = (unescape(fields.next()?), unescape(fields.next()?));
    // -1: unknown, -2: native
    let line: i64 = fields.next()?.parse().ok()?;
    let known = u32::try_from(line).ok().filter(|n| *n > 0);
    let platform = is_platform(&class);
    Some(Frame { file: fields.next().map(unescape), native: line == -2, platform, ..Frame::new(class, method, known) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "THROWN\nT\ta.E\tbad \\u00e9\\u000a\nF\ta.B\tm\t12\tB.java\nF\tjava.util.List\tof\t-1\nF\tp.X_CrashTest\tt\t9\nT\tjava.lang.Error\nF\ta.C\tn\t-2\nEND\n";

    #[test]
    fn a_result_is_read_back() {
        let Some(Ended::Thrown(chain)) = parse_result(RESULT) else { panic!("not thrown") };
        assert_eq!(chain[0].message.as_deref(), Some("bad é\n"));
        assert_eq!(chain[0].frames[0], Frame { file: Some("B.java".into()), ..Frame::new("a.B", "m", Some(12)) });
        assert!(chain[0].frames[1].platform && chain[0].frames[1].line.is_none());
        assert_eq!((chain[1].exception.as_str(), chain[1].message.as_deref(), chain[1].frames[0].native), ("java.lang.Error", None, true));
        let own = rethrow_core::target::confirmation::drop_harness(chain, &["p.X_CrashTest".into()]);
        assert_eq!(own[0].frames.len(), 2);
    }

    #[test]
    fn a_partial_result_is_none() {
        for end in 0..RESULT.len() - 1 {
            assert_eq!(parse_result(&RESULT[..end]).is_some(), RESULT[..end].ends_with("END"), "{end}");
        }
        assert_eq!(parse_result("RETURNED\nEND\n"), Some(Ended::Returned));
        assert_eq!(parse_result("THROWN\nEND\n"), None);
    }

    #[test]
    fn damaged_escapes_stay_as_they_are() {
        for (text, expected) in [("\\u00", "\\u00"), ("\\uzzzz1", "\\uzzzz1"), ("a\\u0041", "aA"), ("\\u\u{e9}\u{e9}\u{e9}", "\\ué\u{e9}é")] {
            assert_eq!(unescape(text), expected);
        }
    }
}
