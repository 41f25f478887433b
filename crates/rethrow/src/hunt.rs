//! From a target without a trace to a goal: which callables, which exception; and what a found test tells of itself.
//!
//! The search, minimisation and confirmation are those of `reproduce`. How the callables of a module or class are found is `language`'s business.

use rethrow_core::goal::CrashGoal;
use rethrow_core::goal::hunt::Hunt;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::report::Report;
use rethrow_core::search::Found;
use rethrow_core::trace::Throwable;

use crate::align::{Aligned, banner, count_classes, probe_sandbox, read_inputs};
use crate::config::{Config, HuntChoice};
use crate::error::UserError;
use crate::language::{self, Opened};
use crate::report::Event;

/// Subtypes of an exception that are looked at.
const MAX_SUBTYPES: usize = 5000;
/// A word shorter than this is in every file.
const MIN_WORD: usize = 5;

/// See the module documentation. Tells of each step by an event.
pub fn align(config: &Config, choice: &HuntChoice, emit: &mut dyn FnMut(Event)) -> Result<Aligned, UserError> {
    let layers = probe_sandbox(config)?;
    emit(Event::Sandbox { layers: banner(config, &layers) });
    let mut notes = Vec::new();
    let (opened, goal) = language::open_hunt(config, choice, &mut notes)?;
    let inputs = read_inputs(config)?;
    emit(Event::Program { source: opened.source.clone(), classes: count_classes(&opened.program), runtime: opened.runtime.clone() });
    opened.platform.check(&opened.program, &goal, &mut notes)?;
    emit(Event::Hunt { wanted: choice.words(), callables: goal.frame(1).methods.len() });
    notes.iter().for_each(|text| emit(Event::Note { text: text.clone() }));
    let Opened { platform, program, .. } = opened;
    Ok(Aligned { platform, program, goal, report: Report::default(), inputs, diagnostics: notes })
}

/// The criteria, with the exception's whole name and its subtypes where the program knows them.
pub fn criteria(choice: &HuntChoice, program: &Program) -> Hunt {
    let mut hunt = Hunt { exception: choice.exception.clone(), message: choice.message.clone(), function: choice.function.clone(), ..Hunt::default() };
    let Some(asked) = choice.exception.as_deref() else { return hunt };
    let is_it = |t: &TypeId| {
        let name = printed(program.type_name(*t));
        name.strip_suffix(asked).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '$']))
    };
    let named: Vec<TypeId> = program.types().filter(is_it).collect();
    if let [only] = named[..] {
        hunt.exception = Some(printed(program.type_name(only)));
    }
    for ty in named {
        hunt.subtypes.push(printed(program.type_name(ty)));
        hunt.subtypes.extend(program.subtypes(ty, MAX_SUBTYPES).into_iter().map(|t| printed(program.type_name(t))));
    }
    hunt
}

/// A type's name as traces print it: `yaml.scanner.ScannerError` for `yaml.scanner:ScannerError`, `KeyError` for `builtins:KeyError`.
fn printed(name: &str) -> String {
    let dotted = name.replace(':', ".");
    dotted.strip_prefix("builtins.").map(str::to_string).unwrap_or(dotted)
}

/// Words by which the code that makes the message may be found.
pub fn telling_words(choice: &HuntChoice) -> Vec<String> {
    let message = choice.message.as_deref().unwrap_or_default().to_lowercase();
    message.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= MIN_WORD).map(str::to_string).collect()
}

/// The goal that a written test tells of: what it throws.
pub fn shown(program: &Program, goal: &CrashGoal, found: &Found, thrown: &Throwable) -> CrashGoal {
    let called = found.test.stmts.last().and_then(|s| s.callee()).map_or("", |m| program.method_name(m));
    goal.shown(program, thrown, called)
}

/// Where it is thrown: `yaml.scanner:Scanner.scan_anchor:922`.
pub fn place(thrown: &Throwable) -> String {
    match thrown.frames.iter().find(|f| !f.platform) {
        Some(f) => format!("{}.{}{}", f.class, f.method, f.line.map(|l| format!(":{l}")).unwrap_or_default()),
        None => "a built-in function".into(),
    }
}
