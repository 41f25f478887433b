//! Whether modules can be imported at all, and if not, why: asked once before a search, so that the user is told in a sentence.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use rethrow_worker::process::{JailedCommand, Scratch, SpawnError, run_to_end};

use super::{Answer, Interpreter, Question};

const MAX_OUTPUT: usize = 2 << 20;

/// Arguments: the number of folders to look in first, these, then the modules.
const SCRIPT: &str = r#"
import sys, os, importlib
out = os.dup(1)
def tell(key, value):
    os.write(out, b'rethrow:' + key + b'=' + value.encode('utf-8', 'replace').replace(b'\n', b' ') + b'\n')
count = int(sys.argv[1])
folders, modules = sys.argv[2:2 + count], sys.argv[2 + count:]
sys.path[:] = folders + [p for p in sys.path if p]
sys.argv[1:] = []
me = os.getpid()
for name in modules:
    tell(b'begun', name)
    try:
        importlib.import_module(name)
    except SystemExit as error:
        tell(b'left', str(error.code))
        os._exit(0)
    except BaseException as error:
        tell(b'raised', '%s: %s' % (type(error).__name__, error))
        os._exit(0)
    if os.getpid() != me:
        os._exit(0)
tell(b'version', '0.0.0')
tell(b'end', '')
os._exit(0)
"#;

/// Why a module cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportProblem {
    #[error("{module} cannot be imported: {why}")]
    Raised { module: String, why: String },
    #[error("importing {module} did not end within {} s", limit.as_secs_f32())]
    Hangs { module: String, limit: Duration },
    #[error("importing {module} ends the interpreter ({how})")]
    Ends { module: String, how: String },
    #[error(transparent)]
    Jail(#[from] SpawnError),
}

/// Imports the modules in order, in one jailed interpreter.
pub fn try_imports(python: &Interpreter, modules: &[String], sources: &[PathBuf], question: &Question<'_>) -> Result<(), ImportProblem> {
    run_script(python, SCRIPT, modules, sources, question).map(|_| ())
}

/// Runs a script that imports modules and tells of each; its whole answer, or why one of them cannot be imported.
pub(super) fn run_script(
    python: &Interpreter,
    script: &str,
    modules: &[String],
    sources: &[PathBuf],
    question: &Question<'_>,
) -> Result<Answer, ImportProblem> {
    let scratch = Scratch::create(question.scratch_parent)?;
    let mut command = JailedCommand::new(question.launcher, scratch.path(), python.path.as_os_str()).mode(question.sandbox);
    command.args = ["-B", "-c", script].map(OsString::from).to_vec();
    command.args.push(sources.len().to_string().into());
    command.args.extend(sources.iter().map(|p| p.clone().into_os_string()));
    command.args.extend(modules.iter().map(OsString::from));
    command.env = crate::launch::environment(python);
    command.read = python.readable();
    command.read.extend(sources.iter().cloned());
    let ended = run_to_end(&command, question.limit, MAX_OUTPUT)?;
    let answer = Answer::read(&ended.stdout.bytes);
    if answer.whole {
        return Ok(answer);
    }
    let text = |key: &str| answer.one(key).map(|v| v.to_string_lossy().into_owned());
    let module = answer.all("begun").last().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    Err(match (text("raised"), text("left")) {
        (Some(why), _) => ImportProblem::Raised { module, why },
        (_, Some(code)) => ImportProblem::Ends { module, how: format!("exit {code}") },
        _ if ended.timed_out => ImportProblem::Hangs { module, limit: question.limit },
        _ => ImportProblem::Ends { module, how: ended.status.to_string() },
    })
}
