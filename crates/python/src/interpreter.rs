//! Asks an interpreter what it is: version, paths, whether it has pytest. It is started in the jail and has to answer in time.
//!
//! Choosing an interpreter is not done here, and no environment variable is read.

mod importing;
mod members;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethrow_worker::process::{JailedCommand, Scratch, SpawnError, run_to_end};
use rethrow_worker::sandbox::Sandbox;

pub use importing::{ImportProblem, try_imports};
pub use members::{Member, MemberKind, members};

/// The oldest version whose syntax trees and tracebacks are understood.
pub const OLDEST: (u32, u32) = (3, 8);
/// A plain interpreter answers within a tenth of a second; a large site directory on a cold disk may take a few.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
const MAX_ANSWER: usize = 256 << 10;
const SAID: usize = 300;
/// Marks the lines that are the answer: site hooks may print as well.
const MARK: &str = "rethrow:";

/// The question, in what every Python since 2.6 reads, so that an old one can be told by its version.
const QUESTION: &str = r#"
import sys, os
def tell(key, value):
    if not isinstance(value, bytes):
        value = os.fsencode(value) if hasattr(os, 'fsencode') else str(value)
    out.write(b'rethrow:' + key.encode('ascii') + b'=' + value + b'\n')
out = getattr(sys.stdout, 'buffer', sys.stdout)
tell('version', '%d.%d.%d' % sys.version_info[:3])
tell('implementation', getattr(getattr(sys, 'implementation', None), 'name', 'python'))
tell('prefix', sys.prefix)
tell('base_prefix', getattr(sys, 'base_prefix', sys.prefix))
tell('executable', sys.executable or '')
for p in sys.path:
    if p: tell('path', os.path.abspath(p))
try:
    import sysconfig
    paths = sysconfig.get_paths()
    for key in ('stdlib', 'platstdlib'): tell('stdlib', paths[key])
    for key in ('purelib', 'platlib'): tell('site', paths[key])
    tell('stdlib', os.path.dirname(os.path.abspath(os.__file__)))
except Exception: pass
try:
    import site
    for p in site.getsitepackages(): tell('site', p)
    if site.ENABLE_USER_SITE: tell('site', site.getusersitepackages())
except Exception: pass
try:
    import pytest
    tell('pytest', pytest.__version__)
except Exception: pass
tell('end', '')
out.flush()
"#;

/// An interpreter that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// As it was given: a virtual environment is recognised by it, so symbolic links are kept.
    pub path: PathBuf,
    pub version: (u32, u32, u32),
    /// `cpython`, `pypy`, …
    pub implementation: String,
    pub prefix: PathBuf,
    /// That of the interpreter a virtual environment was made from.
    pub base_prefix: PathBuf,
    /// Where modules are looked for.
    pub sys_path: Vec<PathBuf>,
    pub stdlib: Vec<PathBuf>,
    pub site_packages: Vec<PathBuf>,
    /// The version of pytest, if it can be imported.
    pub pytest: Option<String>,
    /// Where `pip install --user` puts things, if those are to be seen.
    pub user_base: Option<PathBuf>,
}

/// How to ask.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    pub launcher: &'a Path,
    pub sandbox: Sandbox,
    pub scratch_parent: &'a Path,
    /// `~/.local`, if the user's interpreter looks there.
    pub user_base: Option<&'a Path>,
    pub limit: Duration,
}

impl<'a> Question<'a> {
    pub fn new(launcher: &'a Path, scratch_parent: &'a Path) -> Question<'a> {
        Question { launcher, sandbox: Sandbox::Default, scratch_parent, user_base: None, limit: ANSWER_LIMIT }
    }
}

/// Why an interpreter cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    #[error("no interpreter at {}", .0.display())]
    Missing(PathBuf),
    #[error("{} cannot be run: {source}", path.display())]
    NotExecutable { path: PathBuf, source: SpawnError },
    #[error("{} is not a Python interpreter{}", path.display(), quoted(.said))]
    NotPython { path: PathBuf, said: String },
    #[error("{} is Python {version}; {}.{} is the oldest that works", path.display(), OLDEST.0, OLDEST.1)]
    TooOld { path: PathBuf, version: String },
    #[error("{} did not answer within {} s", path.display(), limit.as_secs_f32())]
    Hangs { path: PathBuf, limit: Duration },
    #[error(transparent)]
    Jail(SpawnError),
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}

/// Asks the interpreter at `path`, which may be a name on the jail's search path.
pub fn ask(path: &Path, question: &Question<'_>) -> Result<Interpreter, InterpreterError> {
    let named = path.as_os_str().as_bytes().contains(&b'/');
    if named && !path.exists() {
        return Err(InterpreterError::Missing(path.to_owned()));
    }
    let path = if named { std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
    let scratch = Scratch::create(question.scratch_parent).map_err(InterpreterError::Jail)?;
    let mut command = JailedCommand::new(question.launcher, scratch.path(), path.as_os_str()).args(["-B", "-c", QUESTION]).mode(question.sandbox);
    command.read.extend(homes(&path));
    if let Some(base) = question.user_base {
        command = command.env("PYTHONUSERBASE", base).read(base);
    }
    let ended = run_to_end(&command, question.limit, MAX_ANSWER).map_err(|source| refused(&path, source))?;
    if ended.timed_out {
        return Err(InterpreterError::Hangs { path, limit: question.limit });
    }
    let answer = Answer::read(&ended.stdout.bytes);
    if let Some(version) = answer.version.filter(|v| (v.0, v.1) < OLDEST) {
        return Err(InterpreterError::TooOld { path, version: format!("{}.{}.{}", version.0, version.1, version.2) });
    }
    let said = || ended.stderr.text().trim().chars().take(SAID).collect();
    answer.interpreter(&path, question.user_base).ok_or_else(|| InterpreterError::NotPython { path, said: said() })
}

fn refused(path: &Path, source: SpawnError) -> InterpreterError {
    match source {
        SpawnError::NotFound(_) => InterpreterError::Missing(path.to_owned()),
        SpawnError::NotExecutable { .. } => InterpreterError::NotExecutable { path: path.to_owned(), source },
        other => InterpreterError::Jail(other),
    }
}

/// What an interpreter reads before it can tell where it lies: the folders above it and above what it links to.
fn homes(path: &Path) -> Vec<PathBuf> {
    let above = |p: &Path| p.parent().and_then(Path::parent).map(Path::to_owned);
    let mut homes: Vec<PathBuf> = above(path).into_iter().collect();
    let mut link = path.to_owned();
    for _ in 0..16 {
        let Ok(target) = std::fs::read_link(&link) else { break };
        link = link.parent().unwrap_or(Path::new("/")).join(target);
        homes.extend(above(&link));
    }
    homes.extend(path.canonicalize().ok().as_deref().and_then(above));
    // A whole file system is nobody's home.
    homes.retain(|home| home.parent().is_some());
    homes
}

/// The lines of the answer.
#[derive(Default)]
struct Answer {
    version: Option<(u32, u32, u32)>,
    whole: bool,
    fields: Vec<(String, OsString)>,
}

impl Answer {
    fn read(bytes: &[u8]) -> Answer {
        let mut answer = Answer::default();
        for line in bytes.split(|b| *b == b'\n') {
            let Some(rest) = line.strip_prefix(MARK.as_bytes()) else { continue };
            let Some(at) = rest.iter().position(|b| *b == b'=') else { continue };
            let (key, value) = (String::from_utf8_lossy(&rest[..at]).into_owned(), OsString::from_vec(rest[at + 1..].to_vec()));
            match key.as_str() {
                "version" => answer.version = value.to_str().and_then(version),
                "end" => answer.whole = true,
                _ => answer.fields.push((key, value)),
            }
        }
        answer
    }

    fn all(&self, key: &str) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for path in self.fields.iter().filter(|(k, _)| k == key).map(|(_, v)| PathBuf::from(v)) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }

    fn one(&self, key: &str) -> Option<&OsStr> {
        self.fields.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_os_str())
    }

    fn interpreter(&self, path: &Path, user_base: Option<&Path>) -> Option<Interpreter> {
        if !self.whole {
            return None;
        }
        // A name on the search path is from now on meant by its place.
        let place = if path.is_absolute() { path.to_owned() } else { PathBuf::from(self.one("executable")?) };
        Some(Interpreter {
            path: place,
            version: self.version?,
            implementation: self.one("implementation")?.to_string_lossy().into_owned(),
            prefix: self.one("prefix")?.into(),
            base_prefix: self.one("base_prefix")?.into(),
            sys_path: self.all("path"),
            stdlib: self.all("stdlib"),
            site_packages: self.all("site"),
            pytest: self.one("pytest").map(|v| v.to_string_lossy().into_owned()),
            user_base: user_base.map(Path::to_owned),
        })
    }
}

fn version(text: &str) -> Option<(u32, u32, u32)> {
    let mut numbers = text.split('.').map(|n| n.parse::<u32>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

impl Interpreter {
    /// `CPython 3.11.7`
    pub fn label(&self) -> String {
        let (major, minor, micro) = self.version;
        let name = if self.implementation == "cpython" { "CPython" } else { &self.implementation };
        format!("{name} {major}.{minor}.{micro}")
    }

    /// Everything it has to read to run.
    pub fn readable(&self) -> Vec<PathBuf> {
        let mut all = homes(&self.path);
        all.extend([&self.prefix, &self.base_prefix].into_iter().chain(&self.sys_path).chain(&self.stdlib).chain(&self.site_packages).cloned());
        all.extend(self.user_base.clone());
        all.retain(|p| p.parent().is_some());
        all.sort();
        all.dedup();
        all
    }

    /// What its environment needs, beside the jail's, so that it sees what `pip install --user` put there.
    pub fn user_site(&self) -> Vec<(OsString, OsString)> {
        self.user_base.iter().map(|base| ("PYTHONUSERBASE".into(), base.clone().into())).collect()
    }

    /// Whether a file belongs to the interpreter's own library.
    pub fn is_stdlib(&self, file: &Path) -> bool {
        self.stdlib.iter().any(|dir| file.starts_with(dir)) && !self.site_packages.iter().any(|dir| file.starts_with(dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_among_noise_and_only_whole() {
        let text = b"hello\nrethrow:version=3.12.1\nrethrow:implementation=cpython\nrethrow:prefix=/v\nrethrow:base_prefix=/b\n\
            rethrow:path=/b/lib\xff\nrethrow:path=/v/site\nrethrow:stdlib=/b/lib\nrethrow:stdlib=/b/lib\nrethrow:site=/b/lib/site-packages\nrethrow:end=\n";
        let python = Answer::read(text).interpreter(Path::new("/v/bin/python"), None).unwrap();
        assert_eq!((python.version, python.label().as_str()), ((3, 12, 1), "CPython 3.12.1"));
        assert_eq!((python.sys_path.len(), python.stdlib.len(), &python.pytest), (2, 1, &None));
        assert!(python.is_stdlib(Path::new("/b/lib/json/decoder.py")) && !python.is_stdlib(Path::new("/b/lib/site-packages/yaml/x.py")));
        assert!(Answer::read(&text[..text.len() - 13]).interpreter(Path::new("/v/bin/python"), None).is_none());
    }
}
