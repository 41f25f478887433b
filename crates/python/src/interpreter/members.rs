//! What can be called in a module, as the interpreter sees it: also what the module has from elsewhere, and what has no source.
//!
//! The answer comes from a jailed process that imported the program, so it may be anything: what does not fit is left out.

use std::path::{Path, PathBuf};

use super::importing::{ImportProblem, run_script};
use super::{Interpreter, Question};

/// More are not looked at.
const MAX_MEMBERS: usize = 3000;

/// Tells each callable as `kind TAB name TAB module TAB qualified name TAB file TAB line TAB parameters`; without known parameters, the last is empty.
const SCRIPT: &str = r#"
import sys, os, importlib, inspect, re, types
out = os.dup(1)
def tell(key, value):
    os.write(out, b'rethrow:' + key + b'=' + value.encode('utf-8', 'replace').replace(b'\n', b' ') + b'\n')
count = int(sys.argv[1])
folders, modules = sys.argv[2:2 + count], sys.argv[2 + count:]
sys.path[:] = folders + [p for p in sys.path if p]
sys.argv[1:] = []
me = os.getpid()
name = modules[0]
tell(b'begun', name)
try:
    module = importlib.import_module(name)
except SystemExit as error:
    tell(b'left', str(error.code))
    os._exit(0)
except BaseException as error:
    tell(b'raised', '%s: %s' % (type(error).__name__, error))
    os._exit(0)
if os.getpid() != me:
    os._exit(0)

def written(signature):
    parts, star, before = [], False, False
    kinds = inspect.Parameter
    for p in signature.parameters.values():
        if before and p.kind != kinds.POSITIONAL_ONLY:
            parts.append('/')
        before = p.kind == kinds.POSITIONAL_ONLY
        if p.kind == kinds.KEYWORD_ONLY and not star:
            parts.append('*')
        star = star or p.kind in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)
        mark = {kinds.VAR_POSITIONAL: '*', kinds.VAR_KEYWORD: '**'}.get(p.kind, '')
        parts.append(mark + p.name + ('=' if p.default is not p.empty else ''))
    if before:
        parts.append('/')
    return '(' + ', '.join(parts) + ')'

def documented(name, doc):
    """The first line of many docstrings: `frombuffer(buffer, dtype=float, count=-1, *, like=None)`."""
    found = re.match(r'\s*(?:[\w.]*\.)?' + re.escape(name) + r'\(([^()]*(?:\([^()]*\)[^()]*)*)\)', doc)
    if found is None:
        return ''
    parts = []
    optional = 0
    for part in re.sub(r'\([^()]*\)', '', found.group(1)).split(','):
        here = optional > 0 or part.strip().startswith('[')
        optional += part.count('[') - part.count(']')
        part = part.strip(' []\t\n')
        plain = part.split('=')[0].split(':')[0].strip()
        if part in ('/', '*'):
            parts.append(part)
        elif re.fullmatch(r'\*{0,2}[A-Za-z_]\w*', plain):
            parts.append(plain + ('=' if ('=' in part or here) and not plain.startswith('*') else ''))
        elif part not in ('', '...'):
            return ''
    while parts and parts[-1] == '*':
        parts.pop()
    return '(' + ', '.join(parts) + ')'

top = name.partition('.')[0]
def ours(value):
    home = getattr(value, '__module__', None)
    if not isinstance(home, str):
        home = getattr(type(value), '__module__', '')
    return home.partition('.')[0] == top

def describe(name, value):
    wrapped = value
    try:
        wrapped = inspect.unwrap(value)
    except Exception:
        pass
    code = getattr(wrapped, '__code__', None)
    file, line, parameters = '', 0, ''
    if isinstance(value, type):
        kind = 'class'
    elif isinstance(code, types.CodeType):
        kind, file, line = 'function', code.co_filename, code.co_firstlineno
        if inspect.isgeneratorfunction(wrapped) or inspect.iscoroutinefunction(wrapped):
            kind = 'generator' if inspect.isgeneratorfunction(wrapped) else 'coroutine'
    else:
        kind = 'builtin'
    try:
        parameters = written(inspect.signature(value))
    except Exception:
        doc = getattr(value, '__doc__', None)
        parameters = documented(name, doc) if isinstance(doc, str) else ''
    fields = (kind, name, getattr(wrapped, '__module__', None), getattr(wrapped, '__qualname__', None), file, line, parameters)
    return '\t'.join(str(f).replace('\t', ' ') for f in fields)

for key in sorted(vars(module)):
    if key.startswith('__') or not key.isidentifier():
        continue
    try:
        value = getattr(module, key)
        if callable(value) and ours(value):
            tell(b'member', describe(key, value))
    except Exception:
        pass
tell(b'version', '0.0.0')
tell(b'end', '')
os._exit(0)
"#;

/// What kind of thing is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    Class,
    Function,
    Generator,
    Coroutine,
    /// Without code of its own in Python.
    Builtin,
}

/// A callable under its name in the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub kind: MemberKind,
    pub name: String,
    /// Where it was defined.
    pub module: String,
    pub qualname: String,
    pub file: PathBuf,
    pub line: u32,
    /// `(a, b=, *rest)`; `None` where nothing tells.
    pub parameters: Option<String>,
}

/// Imports the module in a jailed interpreter and lists what it has of its own package.
pub fn members(python: &Interpreter, module: &str, sources: &[PathBuf], question: &Question<'_>) -> Result<Vec<Member>, ImportProblem> {
    let answer = run_script(python, SCRIPT, &[module.to_string()], sources, question)?;
    let told = answer.fields.iter().filter(|(key, _)| key == "member").filter_map(|(_, value)| member(value.to_str()?));
    Ok(told.take(MAX_MEMBERS).collect())
}

fn member(line: &str) -> Option<Member> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [kind, name, module, qualname, file, first_line, parameters] = fields[..] else { return None };
    let kind = match kind {
        "class" => MemberKind::Class,
        "function" => MemberKind::Function,
        "generator" => MemberKind::Generator,
        "coroutine" => MemberKind::Coroutine,
        "builtin" => MemberKind::Builtin,
        _ => return None,
    };
    let parameters = Some(parameters).filter(|p| p.starts_with('(') && p.ends_with(')')).map(str::to_string);
    let (file, line) = (Path::new(file).to_path_buf(), first_line.parse().ok()?);
    Some(Member { kind, name: name.into(), module: module.into(), qualname: qualname.into(), file, line, parameters })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_member_or_nothing() {
        let found = member("builtin\tfrombuffer\tnumpy\tfrombuffer\t\t0\t(buffer, dtype=)").unwrap();
        assert_eq!((found.kind, found.name.as_str(), found.parameters.as_deref()), (MemberKind::Builtin, "frombuffer", Some("(buffer, dtype=)")));
        assert_eq!(member("builtin\tf\tm\tf\t\t0\t").unwrap().parameters, None);
        for odd in ["", "builtin", "module\tf\tm\tf\t\t0\t()", "builtin\tf\tm\tf\t\tx\t()"] {
            assert_eq!(member(odd), None, "{odd}");
        }
    }
}
