//! How a rendered test is confirmed: which files are written, which command runs them, and what its result means.
//!
//! The test runs under pytest in a fresh interpreter without probes, and the whole chain of what it raises is written to a file: standard output belongs
//! to the program. Where the interpreter has no pytest, the test function is called directly, and the result says so. Nothing is started here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rethrow_core::target::RenderedTest;
use rethrow_core::target::confirmation::{Command, ConfirmPlan, Ended, RESULT_FILE, RUN_FOLDER, joined, read_result, unescape};
use rethrow_core::trace::Frame;

use crate::interpreter::Interpreter;
use crate::plan::{Code, Watch};

const RUNNER: &str = "rethrow_confirm.py";
const CODES: &str = "codes";
const RUNNER_SOURCE: &str = concat!(include_str!("../worker/frames.py"), include_str!("runner.py"));

/// Who calls the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    Pytest,
    /// The interpreter has no pytest: the function is called directly.
    Plain,
}

/// What the plan is made for.
#[derive(Clone, Debug)]
pub struct ConfirmConfig<'a> {
    /// Absolute; everything is written below it.
    pub scratch: &'a Path,
    pub interpreter: &'a Interpreter,
    /// Folders that modules are looked for in before all others.
    pub sources: &'a [PathBuf],
    /// Names the code objects.
    pub watch: &'a Watch,
}

/// The plan for a test that raises. If the written test is to pass instead, it is `passing`, and `failing` is the same test case in the failing style:
/// only that one shows the trace.
pub fn plan(failing: &RenderedTest, passing: Option<&RenderedTest>, config: &ConfirmConfig<'_>) -> ConfirmPlan {
    let runner = runner(config.interpreter);
    let mut files = vec![(CODES.into(), codes(config.watch))];
    let mut folders = Vec::new();
    let mut build = |test: &RenderedTest, label: &str| {
        let folder = PathBuf::from(label);
        let written = [(folder.join(&test.path), test.text.clone()), (folder.join("pytest.ini"), "[pytest]\n".to_owned())];
        files.extend(written.into_iter().chain([(folder.join(RUNNER), RUNNER_SOURCE.to_owned())]));
        folders.push(folder.clone());
        command(test, &config.scratch.join(&folder), runner, config)
    };
    let run = build(failing, "failing");
    let passes = passing.filter(|_| runner == Runner::Pytest).map(|test| build(test, "passing"));
    let mut readable: Vec<PathBuf> = folders.iter().map(|f| config.scratch.join(f)).collect();
    readable.push(config.scratch.join(CODES));
    readable.extend(config.interpreter.readable());
    readable.extend(config.sources.iter().cloned());
    ConfirmPlan { files, folders, compile: Vec::new(), run, passes, readable, harness: vec![failing.name.clone()], read: parse_result }
}

/// Who will call the test.
pub fn runner(interpreter: &Interpreter) -> Runner {
    if interpreter.pytest.is_some() { Runner::Pytest } else { Runner::Plain }
}

fn command(test: &RenderedTest, folder: &Path, runner: Runner, config: &ConfirmConfig<'_>) -> Command {
    let mode = if runner == Runner::Pytest { "pytest" } else { "plain" };
    let mut args: Vec<OsString> = vec!["-B".into(), folder.join(RUNNER).into(), format!("{RUN_FOLDER}/{RESULT_FILE}").into(), mode.into()];
    args.extend([folder.join(&test.path).into(), test.method.clone().into(), config.scratch.join(CODES).into(), format!("{RUN_FOLDER}/tmp").into()]);
    args.push(joined(config.interpreter.stdlib.iter().map(PathBuf::as_path)));
    args.push(joined(config.interpreter.site_packages.iter().map(PathBuf::as_path)));
    args.push(joined(config.sources.iter().map(PathBuf::as_path)));
    Command { program: config.interpreter.path.clone(), args, env: config.interpreter.user_site() }
}

/// The table of code objects: a line with the file, then one for each code object in it.
fn codes(watch: &Watch) -> String {
    let own = watch.files.iter().map(|f| (&f.path, &f.codes));
    let others = watch.codes.iter().map(|f| (&f.path, &f.codes));
    let mut out = String::new();
    for (path, codes) in own.chain(others) {
        out.push_str(&format!("{}\n", path.to_string_lossy()));
        for Code { first_line, name, class } in codes {
            out.push_str(&format!("\t{first_line}\t{name}\t{class}\n"));
        }
    }
    out
}

/// What a run wrote; `None` if it is not whole.
pub fn parse_result(text: &str) -> Option<Ended> {
    read_result(text, frame)
}

fn frame(fields: &mut dyn Iterator<Item = &str>) -> Option<Frame> {
    let (class, method) = (unescape(fields.next()?), unescape(fields.next()?));
    let line: u32 = fields.next()?.parse().ok()?;
    let platform = fields.next()? == "1";
    Some(Frame { file: fields.next().map(unescape), platform, ..Frame::new(class, method, Some(line).filter(|n| *n > 0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "THROWN\nT\ta.E\tbad \\u00e9\\u000a\nF\ta:B\tm\t12\t0\t/x/a.py\nF\tjson\tloads\t3\t1\t/l/json.py\nT\tKeyError\nEND\n";

    #[test]
    fn a_result_is_read_back_and_only_whole() {
        let Some(Ended::Thrown(chain)) = parse_result(RESULT) else { panic!("not thrown") };
        assert_eq!((chain[0].message.as_deref(), chain[0].frames.len(), chain.len()), (Some("bad é\n"), 2, 2));
        assert!(!chain[0].frames[0].platform && chain[0].frames[1].platform);
        assert_eq!(rethrow_core::target::confirmation::drop_harness(chain, &["a:B".into()])[0].frames.len(), 1);
        for end in 0..RESULT.len() - 1 {
            assert_eq!(parse_result(&RESULT[..end]).is_some(), RESULT[..end].ends_with("END"), "{end}");
        }
        assert_eq!(parse_result("RETURNED\nEND\n"), Some(Ended::Returned));
    }
}
