//! M_crash (EVO-13): which calls lead to the target frame, and the palette to build them with.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::goal::CrashGoal;
use crate::message::Clue;
use crate::message::template::Joining;
use crate::program::ir::{MethodRef, Op};
use crate::program::mod_ref::Touching;
use crate::program::purity::PurityRules;
use crate::program::{Flags, Literal, MethodId, MethodKind, Program, TypeId};
use crate::testcase::build::customs::Customs;
use crate::testcase::build::derived::Declaring;
use crate::testcase::build::producers::{PaletteSpec, Way};
use crate::testcase::build::surroundings::{Looked, Readers, look};
use crate::testcase::build::told::Hints;
use crate::testcase::build::{LiteralPool, Palette, Producer, TargetCall};
use crate::testcase::stub::{stubbable, usable_ctor};
use crate::testcase::validity::Scope;

/// What the language says about building tests.
#[derive(Clone, Debug, Default)]
pub struct BuildRules {
    /// Platform packages whose classes are plain data.
    pub plain_packages: &'static [&'static str],
    /// Platform types that are used everywhere, the commonest first.
    pub staples: &'static [&'static str],
    /// (class, method) of the platform that give objects which nothing else gives.
    pub factories: &'static [(&'static str, &'static str)],
    /// (class, method) that put something into a container of the platform.
    pub fillers: &'static [(&'static str, &'static str)],
    /// How a text becomes bytes, one for each character: (class, method) of texts, and (class, field) of the encoding that it is given.
    pub bytes: Option<[(&'static str, &'static str); 2]>,
    /// (class, method) that no test may call (V10).
    pub banned: &'static [(&'static str, &'static str)],
    /// Packages that a test cannot be put into: then it lives in `elsewhere` and uses public members only.
    pub closed_packages: Vec<String>,
    pub elsewhere: &'static str,
    /// What looks at the surroundings.
    pub readers: Readers,
    /// What the messages of the log tell, as the language reads them.
    pub clues: Vec<Clue>,
    /// How the language joins texts.
    pub joining: Joining,
    /// What classes of the test's own may have.
    pub declaring: Declaring,
    /// What is known of the platform's methods without looking at them.
    pub purity: PurityRules,
    /// The messages of the log are not looked at.
    pub ignore_messages: bool,
}

/// The package that a test for `level` lives in.
pub fn scope_of(program: &Program, goal: &CrashGoal, level: usize, rules: &BuildRules) -> Scope {
    let package = program.package(goal.frame(level).class);
    let closed = rules.closed_packages.iter().any(|p| package == p);
    Scope { package: if closed { rules.elsewhere } else { package }.to_string() }
}

/// The palette for a level, for tests that live in its frame's package.
pub fn palette<'p>(program: &'p Program, goal: &CrashGoal, level: usize, rules: &BuildRules) -> Palette<'p> {
    palette_at(program, goal, (level, level), rules)
}

/// The palette for a level, for tests that live in the package of frame `home`; its `targets` are empty if nothing that such a test may call leads to
/// the frame.
pub fn palette_at<'p>(program: &'p Program, goal: &CrashGoal, (level, home): (usize, usize), rules: &BuildRules) -> Palette<'p> {
    let scope = scope_of(program, goal, home, rules);
    let mut trace_types: Vec<TypeId> = Vec::new();
    for frame in goal.frames[..level].iter().rev().chain(&goal.frames[level..]) {
        if !trace_types.contains(&frame.class) {
            trace_types.push(frame.class);
        }
    }
    if goal.hunt.is_some() {
        trace_types = goal.classes();
    }
    let literals = literals(program, goal, &trace_types, !rules.ignore_messages);
    let mut banned = banned(program, rules);
    banned.extend(members(program, rules.readers.makers));
    let customs = Customs::new(program, rules);
    let mut palette = Palette::new(PaletteSpec { program, scope, trace_types, literals, plain_packages: rules.plain_packages, customs, banned });
    palette.expect_kinds_of(&goal.platform);
    palette.targets = targets(&palette, goal, level);
    let mut inner: FxHashSet<MethodId> = goal.frames[..level - 1].iter().flat_map(|f| f.methods.iter().copied()).collect();
    palette.targets.iter().for_each(|t| {
        inner.remove(&t.method);
    });
    palette.leave_to_program(&inner);
    let way: Vec<MethodId> = goal.frames[..level].iter().flat_map(|f| f.methods.iter().copied()).collect();
    palette.know_touching(Touching::read_by(program, &way, rules.purity));
    palette.named.know_trace(program, &goal.frames.iter().flat_map(|f| f.methods.iter().copied()).collect::<Vec<_>>());
    palette.readers = rules.readers;
    palette.declaring = rules.declaring;
    let starts: Vec<MethodId> = goal.frames.iter().flat_map(|f| f.methods.iter().copied()).chain(palette.members.iter().copied()).collect();
    palette.looked = Looked { first_use: goal.is_first_use(level), ..look(program, &starts, &rules.readers) };
    if !rules.ignore_messages {
        let messages: Vec<&str> = goal.messages.iter().map(|(_, message)| message.as_str()).collect();
        let methods: Vec<MethodId> = goal.frames.iter().flat_map(|f| f.methods.iter().copied()).collect();
        palette.hints = Hints::new(program, &rules.clues, &messages, &methods, &rules.joining);
    }
    palette
}

fn literals(program: &Program, goal: &CrashGoal, types: &[TypeId], messages: bool) -> LiteralPool {
    let mut pool = LiteralPool::default();
    if let Some(message) = goal.message.as_ref().filter(|_| messages) {
        pool.add_message(message);
        if ["IndexOutOfBoundsException", "IndexError", "BufferOverflowException"].iter().any(|e| goal.exception.ends_with(e)) {
            pool.overrun(message);
        }
    }
    let sites = goal.hunt.iter().flat_map(|hunt| &hunt.sites);
    let own: Vec<&crate::goal::GoalFrame> = if goal.hunt.is_none() { goal.frames.iter().collect() } else { sites.collect() };
    for method in own.into_iter().flat_map(|f| &f.methods) {
        if let Some(body) = program.body(*method) {
            body.literals().iter().for_each(|l| pool.prefer(l));
        }
    }
    types.iter().for_each(|t| pool.add_type(program, *t));
    types.iter().for_each(|t| add_names(program, goal, *t, &mut pool));
    // where modules are types, their tables of constants belong to all that is defined in them
    let modules_of = |list: &[TypeId]| list.iter().filter_map(|t| program.find_type(program.package(*t))).filter(|m| !types.contains(m)).collect::<Vec<_>>();
    modules_of(types).iter().for_each(|m| pool.add_type(program, *m));
    if !goal.near.is_empty() {
        pool.only_near_from_here();
        goal.near.iter().chain(&modules_of(&goal.near)).for_each(|t| pool.add_type(program, *t));
        // parsers inherit their tables of tokens
        let above = goal.near.iter().flat_map(|t| program.supertypes(*t)).filter(|t| !program.ty(*t).platform && !goal.near.contains(t) && !types.contains(t));
        above.collect::<BTreeSet<_>>().into_iter().for_each(|t| pool.add_type(program, t));
    }
    if goal.overflow {
        pool.deepen();
    }
    let frames = || goal.frames.iter().map(|f| &f.frame);
    pool.read_names(frames().flat_map(|f| [f.class.as_str(), f.method.as_str()]).chain([goal.exception.as_str()]));
    // handlers are often called by what a text says: `visit_avg`, `ForeachDirective`
    frames().flat_map(|f| [f.method.as_str(), f.class.as_str()]).for_each(|name| pool.prefer_words_of(name));
    pool
}

/// Plug-ins and drivers are named by text. What lies in another package than the outermost frame got there somehow: mostly by its name.
fn add_names(program: &Program, goal: &CrashGoal, ty: TypeId, pool: &mut LiteralPool) {
    let name = if program.is_dynamic() { program.package(ty) } else { program.type_name(ty) };
    let top = |t: TypeId| program.package(t).split('.').next().unwrap_or_default().to_string();
    let outermost = goal.frame(goal.outermost()).class;
    if program.is_dynamic() && top(ty) != top(outermost) {
        pool.prefer(&Literal::Str(name.to_string()));
    } else {
        pool.add_name(name);
    }
    if program.is_dynamic() && program.package(ty) != program.package(outermost) {
        // dialects, formats and handlers of one package are chosen by the last part of a name
        let short = [program.package(ty), program.type_name(ty)].map(|n| n.rsplit(['.', ':']).next().unwrap_or(n).to_string());
        short.into_iter().for_each(|s| pool.prefer(&Literal::Str(s)));
    }
}

pub(crate) fn banned(program: &Program, rules: &BuildRules) -> FxHashSet<MethodId> {
    members(program, rules.banned)
}

fn members(program: &Program, named: &[(&str, &str)]) -> FxHashSet<MethodId> {
    let types = named.iter().filter_map(|(class, name)| Some((program.find_type(class)?, *name)));
    types.flat_map(|(t, name)| program.methods_of(t).filter(move |m| name == "*" || program.method_name(*m) == name)).collect()
}

/// The calls for a level; where none is possible, those of the next outer frame (as Botsing climbs).
fn targets(palette: &Palette<'_>, goal: &CrashGoal, level: usize) -> Vec<TargetCall> {
    if !goal.frames[level - 1].methods.iter().any(|m| palette.allowed(*m)) {
        let wrapped = wrapped_by(palette, goal, level);
        if !wrapped.is_empty() {
            return wrapped;
        }
    }
    for frame in &goal.frames[level - 1..] {
        let mut calls = Vec::new();
        for method in &frame.methods {
            for call in calls_to(palette, *method, &mut FxHashSet::default()) {
                if !calls.contains(&call) {
                    calls.push(call);
                }
            }
        }
        if !calls.is_empty() {
            return calls;
        }
    }
    Vec::new()
}

/// The decorated functions further in, nearest first: a frame that nobody can call is often what a decorator put around one of them.
fn wrapped_by(palette: &Palette<'_>, goal: &CrashGoal, level: usize) -> Vec<TargetCall> {
    let decorated = |m: &&MethodId| palette.program.method(**m).flags.has(Flags::DECORATED) && palette.allowed(**m);
    let inner = goal.frames[..level - 1].iter().rev();
    let found = inner.map(|f| f.methods.iter().filter(decorated).copied().collect::<Vec<_>>()).find(|methods| !methods.is_empty());
    found.into_iter().flatten().map(|method| TargetCall { method, receivers: Vec::new() }).collect()
}

/// What a test may call so that `method` runs: itself, or its callers within the class.
fn calls_to(palette: &Palette<'_>, method: MethodId, seen: &mut FxHashSet<MethodId>) -> Vec<TargetCall> {
    let program = palette.program;
    if !seen.insert(method) {
        return Vec::new();
    }
    let def = program.method(method);
    if def.kind == MethodKind::TypeInitializer {
        return uses_of(palette, def.owner);
    }
    if palette.allowed(method) {
        return vec![TargetCall { method, receivers: Vec::new() }];
    }
    if def.kind == MethodKind::Constructor && program.ty(def.owner).flags.has(Flags::ABSTRACT) {
        let ctors = program.subtypes(def.owner, 200).into_iter().flat_map(|s| program.methods_of(s));
        let below = ctors.filter(|m| program.method(*m).kind == MethodKind::Constructor && palette.allowed(*m)).take(30);
        let calls: Vec<TargetCall> = below.map(|method| TargetCall { method, receivers: Vec::new() }).collect();
        let stub = calls.is_empty() && stubbable(program, &palette.scope, def.owner).is_some() && usable_ctor(program, &palette.scope, method);
        return if stub { vec![TargetCall { method, receivers: Vec::new() }] } else { calls };
    }
    let through_type = through_supertype(palette, method);
    if !through_type.is_empty() {
        return through_type;
    }
    let callers = program.callers_in(def.owner, method);
    let outer = program.ty(def.owner).outer.map(|o| program.callers_in(o, method)).unwrap_or_default();
    callers.into_iter().chain(outer).flat_map(|caller| calls_to(palette, caller, seen)).collect()
}

/// An instance method of a class that cannot be named, called through a supertype on an object that some method hands out.
fn through_supertype(palette: &Palette<'_>, method: MethodId) -> Vec<TargetCall> {
    let program = palette.program;
    let def = program.method(method);
    if def.kind != MethodKind::Instance || palette.scope.nameable(program, def.owner) {
        return Vec::new();
    }
    let receivers = Makers { palette, places: places(program, def.owner) }.of(def.owner, 4);
    match declared_above(palette, method) {
        Some(method) if !receivers.is_empty() => vec![TargetCall { method, receivers }],
        _ => Vec::new(),
    }
}

/// The method of a supertype that a test may call and that leads to `method`.
fn declared_above(palette: &Palette<'_>, method: MethodId) -> Option<MethodId> {
    let program = palette.program;
    let arity = program.signature(method).params.len();
    let above = program.supertypes(program.method(method).owner).into_iter().skip(1);
    let mut declared = above.flat_map(|t| program.methods_named(t, program.method_name(method)).collect::<Vec<_>>());
    declared.find(|m| program.signature(*m).params.len() == arity && palette.allowed(*m))
}

/// Types whose code may create objects of a class that cannot be named: those around it, then its package.
fn places(program: &Program, class: TypeId) -> Vec<TypeId> {
    let mut out: Vec<TypeId> = std::iter::successors(program.ty(class).outer, |t| program.ty(*t).outer).collect();
    let near = program.types().filter(|t| program.ty(*t).package == program.ty(class).package && !program.ty(*t).platform && !program.ty(*t).missing);
    out.extend(near.take(MAX_PLACES));
    let mut seen = FxHashSet::default();
    out.retain(|t| seen.insert(*t));
    out
}

/// More types of a package than this are not looked through.
const MAX_PLACES: usize = 400;
/// Ways to get one object.
const MAX_MAKERS: usize = 8;

/// Finds the ways to get an object of a class that cannot be named.
struct Makers<'a, 'p> {
    palette: &'a Palette<'p>,
    places: Vec<TypeId>,
}

impl Makers<'_, '_> {
    /// Methods that hand out an object of `class`: they create it, or call one that does. A method of a class that cannot be named either is called
    /// on an object that is made the same way, at most `depth` deep.
    fn of(&self, class: TypeId, depth: u32) -> Vec<Producer> {
        let program = self.palette.program;
        let mut makers: Vec<Producer> = Vec::new();
        for (method, weight) in self.handing_out(class) {
            let way = if self.palette.allowed(method) {
                Some(Way::Method(method))
            } else if depth > 0 && !self.palette.scope.nameable(program, program.method(method).owner) {
                self.on_made(method, depth - 1)
            } else {
                None
            };
            if let Some(way) = way {
                makers.push(Producer { way, weight, needs: 0 });
            }
            if makers.len() >= MAX_MAKERS {
                break;
            }
        }
        makers
    }

    fn on_made(&self, method: MethodId, depth: u32) -> Option<Way> {
        let program = self.palette.program;
        let above = declared_above(self.palette, method)?;
        let owner = program.method(method).owner;
        let mut owners = vec![owner];
        owners.extend(program.subtypes(owner, 8));
        let receivers: Vec<Producer> = owners.into_iter().flat_map(|o| self.of(o, depth)).take(MAX_MAKERS).collect();
        (!receivers.is_empty()).then(|| Way::On(above, receivers.into()))
    }

    /// Methods whose result may be an object of `class`: its creators, and with less weight their callers as far as the result fits. A caller that
    /// returns just any object rather returns something else.
    fn handing_out(&self, class: TypeId) -> Vec<(MethodId, f64)> {
        let program = self.palette.program;
        let root = program.well_known().object.as_ref();
        let fits = |m: MethodId| program.signature(m).ret.as_ref().is_some_and(|r| program.is_subtype(class, r));
        let all: Vec<MethodId> = self.places.iter().flat_map(|t| program.methods_of(*t)).filter(|m| fits(*m)).collect();
        let mut found: Vec<(MethodId, f64)> = all.iter().filter(|m| creates(program, **m, class)).map(|m| (*m, 1.0)).collect();
        let told = |m: MethodId| program.signature(m).ret.as_ref() != root;
        let mut i = 0;
        while i < found.len() && found.len() < 40 {
            let (method, weight) = found[i];
            let new = |m: &&MethodId| found.iter().all(|(f, _)| f != *m) && told(**m) && may_call(program, **m, method);
            let callers: Vec<(MethodId, f64)> = all.iter().filter(new).map(|m| (*m, weight * 0.3)).collect();
            found.extend(callers);
            i += 1;
        }
        found
    }
}

/// Whether a body calls `callee` or something that it overrides.
fn may_call(program: &Program, caller: MethodId, callee: MethodId) -> bool {
    let (name, desc, owner) = (program.method_name(callee), program.method_desc(callee), program.method(callee).owner);
    let same = |r: &MethodRef| *r.name == *name && *r.desc == *desc && (program.is_subtype(owner, r.owner) || program.is_subtype(r.owner, owner));
    program.body(caller).is_some_and(|body| body.calls().any(|call| same(call.method)))
}

fn creates(program: &Program, method: MethodId, class: TypeId) -> bool {
    program.body(method).is_some_and(|body| body.insns.iter().any(|insn| matches!(insn.op, Op::New { class: c, .. } if c == class)))
}

/// The first use of a type runs its initialiser: any static member or constructor.
fn uses_of(palette: &Palette<'_>, ty: TypeId) -> Vec<TargetCall> {
    let program = palette.program;
    let own = program.methods_of(ty).filter(|m| program.method(*m).kind != MethodKind::Instance && palette.allowed(*m));
    own.map(|method| TargetCall { method, receivers: Vec::new() }).collect()
}
