//! How files of many tests are confirmed: a syntax check of all, then one fresh interpreter without probes that calls the functions one after the other.
//!
//! Where the interpreter has no pytest, the one name that tests use of it is given along. Nothing is started here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rethrow_core::target::confirmation::{Command, RESULT_FILE, RUN_FOLDER, joined};
use rethrow_core::target::suite::{LIST_FILE, RenderedSuite, SuitePlan, parse_results};

use crate::interpreter::Interpreter;

const SOURCES: &str = "src";
const RUNNER: &str = "rethrow_suite.py";
const RUNNER_SOURCE: &str = include_str!("suite_runner.py");
const CHECKER: &str = "rethrow_check.py";
/// In place of pytest.
const STAND_IN: &str = "pytest/pytest.py";

/// Compiles the files named, and tells where one is no Python.
const CHECKER_SOURCE: &str = "\
import sys
bad = False
for path in sys.argv[1:]:
    try:
        with open(path, encoding='utf-8') as file:
            compile(file.read(), path, 'exec')
    except SyntaxError as error:
        bad = True
        print('%s:%d: %s' % (path, error.lineno or 0, error.msg))
sys.exit(bad)
";

const STAND_IN_SOURCE: &str = "\
class raises:
    def __init__(self, expected):
        self.expected = expected

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        assert kind is not None, 'nothing was raised'
        return issubclass(kind, self.expected)
";

/// What the plan is made for.
#[derive(Clone, Debug)]
pub struct SuiteConfig<'a> {
    /// Absolute; everything is written below it.
    pub scratch: &'a Path,
    pub interpreter: &'a Interpreter,
    /// Folders that modules are looked for in before all others.
    pub sources: &'a [PathBuf],
    /// A test that takes longer hangs.
    pub test_limit_ms: u32,
}

/// The plan for these files.
pub fn suite_plan(files: &[RenderedSuite], config: &SuiteConfig<'_>) -> SuitePlan {
    let sources = PathBuf::from(SOURCES);
    let mut all: Vec<(PathBuf, String)> = files.iter().map(|f| (sources.join(&f.path), f.text.clone())).collect();
    let mut check: Vec<OsString> = vec!["-B".into(), config.scratch.join(CHECKER).into()];
    check.extend(all.iter().map(|(path, _)| config.scratch.join(path).into()));
    all.push((CHECKER.into(), CHECKER_SOURCE.into()));
    all.push((RUNNER.into(), RUNNER_SOURCE.into()));
    let mut folders: Vec<PathBuf> = config.sources.to_vec();
    if config.interpreter.pytest.is_none() {
        all.push((STAND_IN.into(), STAND_IN_SOURCE.into()));
        folders.push(config.scratch.join(STAND_IN).with_file_name(""));
    }
    let mut run: Vec<OsString> = vec!["-B".into(), config.scratch.join(RUNNER).into()];
    run.extend([LIST_FILE, RESULT_FILE, "tmp"].map(|name| format!("{RUN_FOLDER}/{name}").into()));
    run.extend([config.scratch.join(SOURCES).into(), config.test_limit_ms.to_string().into()]);
    run.push(joined(folders.iter().map(PathBuf::as_path)));
    let program = config.interpreter.path.clone();
    let mut readable = vec![config.scratch.to_path_buf()];
    readable.extend(config.interpreter.readable());
    readable.extend(config.sources.iter().cloned());
    SuitePlan {
        files: all,
        folders: Vec::new(),
        compile: Command { program: program.clone(), args: check, env: Vec::new() },
        errors: parse_errors,
        run: Command { program, args: run, env: config.interpreter.user_site() },
        results: parse_results,
        readable,
        sources,
    }
}

/// `/path/test_a.py:12: invalid syntax`
fn parse_errors(text: &str) -> Vec<(PathBuf, usize)> {
    let place = |line: &str| {
        let (path, rest) = line.split_once(".py:")?;
        Some((PathBuf::from(format!("{path}.py")), rest.split(':').next()?.parse().ok()?))
    };
    text.lines().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_file_and_line() {
        assert_eq!(parse_errors("/s/src/test_a.py:12: invalid syntax: x\nnoise\n/s.py\n"), [(PathBuf::from("/s/src/test_a.py"), 12)]);
    }
}
