//! What of the surroundings the trace's code looks at, and statements that set it up: settings by the names that flow into their readers, files for
//! parameters that end as paths, locale, time zone and standard input where they are asked for.
//!
//! What reads what is the language's list ([`Readers`]). Nothing is set that nobody on the way to the crash looks at.

use rustc_hash::FxHashSet;

use super::{Maker, literals};
use crate::message::template::constant;
use crate::program::ir::{Body, Const, MethodRef, Op, Reg};
use crate::program::{MethodId, MethodKind, Program};
use crate::testcase::env::{PLAIN_NAME, is_file_name};
use crate::testcase::{Env, Stmt, Var};

/// A member of the platform: class and name.
pub type Member = (&'static str, &'static str);

/// Which members of the platform look at the surroundings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readers {
    /// Their first argument names a setting.
    pub settings: &'static [Member],
    /// Attributes and functions that hold settings where the owner of a name is not known: every word in capitals beside them may be one.
    pub settings_by_name: &'static [&'static str],
    /// Their first argument is a path.
    pub paths: &'static [Member],
    /// They make files that nobody removes; statements of the test make those that are needed.
    pub makers: &'static [Member],
    pub locale: &'static [Member],
    pub time_zone: &'static [Member],
    /// Fields.
    pub input: &'static [Member],
    pub locales: &'static [&'static str],
    pub time_zones: &'static [&'static str],
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looked {
    pub settings: Vec<String>,
    pub locale: bool,
    pub time_zone: bool,
    pub input: bool,
    /// The target is an initialiser: little but its surroundings can change what it does.
    pub first_use: bool,
}

/// Methods that are looked through.
const MAX_METHODS: usize = 600;
const MAX_SETTINGS: usize = 30;
/// How often a parameter that ends as a path is given that of a file that is there.
const PATH: f64 = 0.6;
const FOLDER: f64 = 0.12;

impl Looked {
    /// How often a test sets something up. What many programs look at in passing matters to few crashes.
    pub fn chance(&self) -> f64 {
        match self {
            _ if !self.any() => 0.0,
            Looked { first_use: true, .. } => 0.9,
            Looked { settings, input, .. } if *input || !settings.is_empty() => 0.15,
            _ => 0.04,
        }
    }
    pub fn any(&self) -> bool {
        self.locale || self.time_zone || self.input || !self.settings.is_empty()
    }
}

/// Looks through the code that is reachable from `starts` by the names in it, initialisers of the types on the way included.
pub fn look(program: &Program, starts: &[MethodId], readers: &Readers) -> Looked {
    let mut looked = Looked::default();
    let mut seen: FxHashSet<MethodId> = starts.iter().copied().collect();
    let mut pending: Vec<MethodId> = starts.to_vec();
    let mut next = 0;
    while next < pending.len() && next < MAX_METHODS {
        let method = pending[next];
        next += 1;
        let Some(body) = program.body(method) else { continue };
        note(program, &body, readers, &mut looked);
        let owner = program.method(method).owner;
        let named = body.calls().filter_map(|c| program.resolve_method(c.method.owner, &c.method.name, &c.method.desc));
        let types: Vec<_> = body.insns.iter().filter_map(|i| if let Op::GetStatic { field, .. } = &i.op { Some(field.owner) } else { None }).collect();
        let initialisers = |t| program.methods_of(t).filter(|m| program.method(*m).kind == MethodKind::TypeInitializer);
        let mut more: Vec<MethodId> = named.collect();
        let owners: Vec<_> = more.iter().map(|m| program.method(*m).owner).chain(types).chain([owner]).collect();
        more.extend(owners.into_iter().flat_map(initialisers));
        for m in more {
            if !program.ty(program.method(m).owner).platform && seen.insert(m) {
                pending.push(m);
            }
        }
    }
    looked
}

fn note(program: &Program, body: &Body, readers: &Readers, looked: &mut Looked) {
    for (at, insn) in body.insns.iter().enumerate() {
        match &insn.op {
            Op::Call { method, args, .. } => {
                if is_one(program, method, readers.settings) {
                    args.first().and_then(|r| text_at(body, at, *r)).into_iter().for_each(|name| add(looked, name));
                }
                looked.locale |= is_one(program, method, readers.locale);
                looked.time_zone |= is_one(program, method, readers.time_zone);
                if readers.settings_by_name.contains(&&*method.name) {
                    words_in_capitals(body, looked);
                }
            }
            Op::GetStatic { field, .. } | Op::GetField { field, .. } => {
                looked.input |= readers.input.iter().any(|(class, name)| *field.name == **name && program.type_name(field.owner) == *class);
                if readers.settings_by_name.contains(&&*field.name) {
                    words_in_capitals(body, looked);
                }
            }
            _ => {}
        }
    }
}

fn add(looked: &mut Looked, name: String) {
    let known = looked.settings.contains(&name) || looked.settings.len() >= MAX_SETTINGS;
    if !known && (Env::Setting { name: name.clone(), value: String::new() }).is_sound() {
        looked.settings.push(name);
    }
}

fn words_in_capitals(body: &Body, looked: &mut Looked) {
    let named = |s: &str| s.starts_with(|c: char| c.is_ascii_uppercase()) && s.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    for literal in body.literals() {
        if let crate::program::Literal::Str(s) = literal
            && named(&s)
        {
            add(looked, s);
        }
    }
}

fn is_one(program: &Program, method: &MethodRef, members: &[Member]) -> bool {
    members.iter().any(|(class, name)| *method.name == **name && program.type_name(method.owner) == *class)
}

fn text_at(body: &Body, insn: usize, reg: Reg) -> Option<String> {
    match constant(body, insn, reg)? {
        Const::Str(text) => Some(text.to_string()),
        _ => None,
    }
}

impl super::Palette<'_> {
    /// Whether parameter `i` of the method ends as a path.
    pub fn takes_path(&self, method: MethodId, i: usize) -> bool {
        if self.readers.paths.is_empty() {
            return false;
        }
        if let Some(known) = self.paths.borrow().get(&(method, i)) {
            return *known;
        }
        let found = self.finds_path(method, i, 2);
        self.paths.borrow_mut().insert((method, i), found);
        found
    }

    fn finds_path(&self, method: MethodId, i: usize, depth: u32) -> bool {
        let program = self.program;
        let def = program.method(method);
        let own = (program.type_name(def.owner), program.method_name(method));
        if i == 0 && self.readers.paths.iter().any(|(class, name)| (*class, *name) == own) {
            return true;
        }
        if depth == 0 || program.ty(def.owner).platform {
            return false;
        }
        let Some(body) = program.body(method) else { return false };
        body.hands_on(i).into_iter().any(|(callee, n)| {
            let found = program.resolve_method(callee.owner, &callee.name, &callee.desc);
            found.is_some_and(|m| m != method && self.finds_path(m, n, depth - 1))
        })
    }
}

impl Maker<'_, '_> {
    /// The path of a file or folder that is there, for a parameter that wants one.
    pub(super) fn path_for(&mut self, param: Option<(MethodId, usize)>) -> Option<Var> {
        let (method, i) = param.filter(|_| self.policy.environment)?;
        let program = self.palette.program;
        // what the program hands on may be less than a path
        let chance = if program.ty(program.method(method).owner).platform { PATH } else { PATH / 2.0 };
        if !self.palette.takes_path(method, i) || !self.rng.chance(chance) {
            return None;
        }
        let name = self.file_name();
        if self.rng.chance(FOLDER) {
            return Some(self.test.push(Stmt::Env(Box::new(Env::Folder { name }))));
        }
        let content = self.file_content();
        Some(self.test.push(Stmt::Env(Box::new(Env::File { name, content }))))
    }

    /// One that a constant mentions or ends with, since some programs ask.
    fn file_name(&mut self) -> String {
        let named = |s: &&String| s.contains('.') && is_file_name(s.trim_start_matches('.')) && !s.contains("..");
        let known: Vec<&String> = self.palette.literals.strings().iter().filter(named).collect();
        match self.rng.pick(&known) {
            Some(s) if self.rng.chance(0.4) => {
                if s.starts_with('.') {
                    format!("{PLAIN_NAME}{s}")
                } else {
                    s.to_string()
                }
            }
            _ => PLAIN_NAME.to_string(),
        }
    }

    pub(super) fn file_content(&mut self) -> String {
        let lines = if self.rng.chance(0.3) { 1 + self.rng.below(3) } else { 1 };
        if self.rng.chance(0.12) {
            return String::new();
        }
        let parts: Vec<String> = (0..lines).map(|_| literals::text(self.palette, self.facts, self.policy, self.rng, None)).collect();
        parts.join("\n")
    }

    /// Something of the surroundings that the trace's code looks at; `None` if there is nothing.
    pub fn surroundings(&mut self) -> Option<Env> {
        let (looked, readers) = (&self.palette.looked, self.palette.readers);
        let kinds = [
            looked.settings.len() as f64 * 2.0,
            f64::from(u8::from(looked.locale)),
            f64::from(u8::from(looked.time_zone)),
            f64::from(u8::from(looked.input)) * 2.0,
        ];
        Some(match self.rng.weighted(kinds.into_iter())? {
            0 => {
                let name = self.rng.pick(&looked.settings)?.clone();
                let value = self.setting_value();
                Env::Setting { name, value }
            }
            1 => Env::Locale((*self.rng.pick(readers.locales)?).to_string()),
            2 => Env::TimeZone((*self.rng.pick(readers.time_zones)?).to_string()),
            _ => Env::Input(self.file_content()),
        })
        .filter(Env::is_sound)
    }

    /// Settings are numbers and switches as often as texts.
    pub fn setting_value(&mut self) -> String {
        if self.rng.chance(0.3)
            && let Some(n) = self.rng.pick(&self.palette.hints.ints)
        {
            return n.to_string();
        }
        match self.rng.below(10) {
            0..=3 => literals::int(self.palette, self.facts, self.policy, self.rng, 0.1).to_string(),
            4 => (*self.rng.pick(&["true", "false"]).expect("not empty")).to_string(),
            5 => String::new(),
            _ => literals::text(self.palette, self.facts, self.policy, self.rng, None).replace('\0', ""),
        }
    }

    /// Sets something up at the beginning of the test.
    pub fn surround(&mut self) -> bool {
        match self.surroundings() {
            Some(env) => {
                // a second value for the same thing would hide the first
                let same = |s: &Stmt| matches!((s, &env), (Stmt::Env(old), new) if same_place(old, new));
                match self.test.stmts.iter().position(same) {
                    Some(at) => self.test.stmts[at] = Stmt::Env(Box::new(env)),
                    None => drop(self.test.insert(0, Stmt::Env(Box::new(env)))),
                }
                true
            }
            None => false,
        }
    }
}

fn same_place(a: &Env, b: &Env) -> bool {
    match (a, b) {
        (Env::Setting { name: a, .. }, Env::Setting { name: b, .. }) => a == b,
        (Env::File { .. } | Env::Folder { .. }, _) => false,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
