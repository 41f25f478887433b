//! What a module has though its source does not define it: names imported from elsewhere, and what is built in.

use rethrow_core::program::Taking;

use super::Sources;
use super::build::signature_text;
use super::index::{CodeKind, Param};
use crate::interpreter::{Member, MemberKind};

/// Where nothing tells the parameters, from none to three are tried.
const GUESSED: &str = "(a=, b=, c=, /)";
/// Behind the signature of what has no code in Python: an exception without frames may be its own.
const BARE: char = '!';

/// A member as a function of the module.
pub struct Beyond {
    pub desc: String,
    pub params: Vec<Param>,
    /// The code that it stands for.
    pub like: Option<(usize, usize)>,
}

impl Sources {
    /// `None` if the source of the module, `file`, says it all: its own functions, and classes of the program.
    pub fn beyond_source(&self, member: &Member, file: Option<usize>) -> Option<Beyond> {
        if member.kind == MemberKind::Class && self.has_class(&member.module, &member.qualname) {
            return None;
        }
        let like = self.code_of(member);
        let own = |(f, code): (usize, usize)| {
            let code = &self.files[f].index.codes[code];
            Some(f) == file && !code.nested && code.class.is_none() && code.name == member.name
        };
        if like.is_some_and(own) {
            return None;
        }
        let plain = like.map(|(f, code)| &self.files[f].index.codes[code]).filter(|code| code.class.is_none());
        let params = match (plain, &member.parameters) {
            (Some(code), _) => code.params.clone(),
            (None, Some(told)) => parameters(told),
            (None, None) => parameters(GUESSED),
        };
        let mut desc = signature_text(0, &params);
        match member.kind {
            MemberKind::Generator => desc.push('*'),
            MemberKind::Coroutine => desc.push('~'),
            MemberKind::Function => {}
            MemberKind::Class | MemberKind::Builtin => desc.push(BARE),
        }
        Some(Beyond { desc, params, like })
    }

    fn has_class(&self, module: &str, qualname: &str) -> bool {
        let file = self.by_module.get(module);
        file.is_some_and(|f| self.files[*f].index.classes.iter().any(|c| c.qualname == qualname))
    }

    fn code_of(&self, member: &Member) -> Option<(usize, usize)> {
        let path = &member.file;
        let real = || path.canonicalize().ok();
        let file = *self.by_path.get(path).or_else(|| self.by_path.get(&real()?))?;
        let codes = &self.files[file].index.codes;
        codes.iter().position(|c| c.kind == CodeKind::Function && c.first_line == member.line).map(|code| (file, code))
    }
}

/// Of `(a, /, b, c=, *rest, d, **named)`.
fn parameters(told: &str) -> Vec<Param> {
    let inside = told.trim_start_matches('(').trim_end_matches(')');
    let mut found: Vec<Param> = Vec::new();
    let mut taking = Taking::Any;
    for part in inside.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let mut add = |name: &str, taking| found.push(Param { name: name.trim_end_matches('=').into(), taking, optional: name.ends_with('=') });
        match part {
            "/" => found.iter_mut().for_each(|p| p.taking = Taking::PositionalOnly),
            "*" => taking = Taking::KeywordOnly,
            _ => match (part.strip_prefix("**"), part.strip_prefix('*')) {
                (Some(name), _) => add(name, Taking::RestNamed),
                (None, Some(name)) => {
                    add(name, Taking::Rest);
                    taking = Taking::KeywordOnly;
                }
                (None, None) => add(part, taking),
            },
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_parameters_are_written_as_they_were() {
        for told in ["(a, /, b, c=, *rest, d, **named)", "(a=, b=, c=, /)", "()", "(a, *, b=)"] {
            assert_eq!(signature_text(0, &parameters(told)), format!("0{told}"));
        }
    }
}
