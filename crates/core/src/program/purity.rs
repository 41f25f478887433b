//! Which methods change what they are given (GRT-7): the objects reachable from each parameter, the receiver first, and static state.
//!
//! Flow-insensitive, on lowered bodies: a register may hold what is reachable from a set of parameters; a store through it, or a call that changes that
//! argument, makes the method impure for them. Calls are settled over whole regions of the call graph by a fixpoint. What is not known counts as
//! changing its receiver. Answers err towards impure; they are advice for a search, never a proof.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ir::{Body, CallKind, MethodRef, Op, Reg};
use super::{MethodId, MethodKind, Program};

/// What the language knows of its platform's methods, whose bodies are not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct PurityRules {
    /// Types whose objects never change.
    pub unchanging: &'static [&'static str],
    /// Beginnings of names of methods that only look.
    pub looking: &'static [&'static str],
}

impl PurityRules {
    /// Whether the platform's method changes nothing that it is given.
    pub fn looks(&self, owner: &str, name: &str) -> bool {
        self.unchanging.contains(&owner) || self.looking.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// Methods looked at to answer one question.
const MAX_REGION: usize = 200;
/// Overriding methods considered for one call.
const MAX_OVERRIDES: usize = 16;

/// What a call changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// By position, the receiver (if any) first; those beyond 63 share the last bit.
    params: u64,
    /// Static state is written.
    pub statics: bool,
}

impl Effects {
    const RECEIVER: Effects = Effects { params: 1, statics: false };
    const ALL: Effects = Effects { params: u64::MAX, statics: true };

    pub fn changes(self, position: usize) -> bool {
        self.params & bit(position) != 0
    }
    pub fn is_pure(self) -> bool {
        self.params == 0 && !self.statics
    }
}

fn bit(position: usize) -> u64 {
    1 << position.min(63)
}

/// The analysis, with its answers so far.
pub struct Purity {
    rules: PurityRules,
    known: RefCell<FxHashMap<MethodId, Effects>>,
}

/// A method's own part of the answer.
struct Draft {
    own: Effects,
    calls: Vec<CallSite>,
}

struct CallSite {
    targets: Vec<MethodId>,
    /// What each argument may reach, as sets of the caller's parameters.
    reaches: Vec<u64>,
    unknown: bool,
}

impl Purity {
    pub fn new(rules: PurityRules) -> Purity {
        Purity { rules, known: RefCell::default() }
    }

    pub fn effects(&self, program: &Program, method: MethodId) -> Effects {
        if let Some(known) = self.known.borrow().get(&method) {
            return *known;
        }
        self.settle(program, method);
        self.known.borrow()[&method]
    }

    /// Whether a call on an object may change it.
    pub fn changes_receiver(&self, program: &Program, method: MethodId) -> bool {
        program.method(method).kind == MethodKind::Instance && self.effects(program, method).changes(0)
    }

    fn settle(&self, program: &Program, method: MethodId) {
        let drafts = self.region(program, method);
        let mut answers: FxHashMap<MethodId, Effects> = drafts.iter().map(|(m, d)| (*m, d.own)).collect();
        loop {
            let mut changed = false;
            for (m, draft) in &drafts {
                let mut effects = answers[m];
                for call in &draft.calls {
                    self.apply(call, &answers, &mut effects);
                }
                changed |= answers.insert(*m, effects) != Some(effects);
            }
            if !changed {
                break;
            }
        }
        self.known.borrow_mut().extend(answers);
    }

    fn apply(&self, call: &CallSite, answers: &FxHashMap<MethodId, Effects>, into: &mut Effects) {
        let known = self.known.borrow();
        let target = |m: &MethodId| answers.get(m).or_else(|| known.get(m)).copied().unwrap_or(Effects::ALL);
        for effects in call.targets.iter().map(target).chain(call.unknown.then_some(Effects::RECEIVER)) {
            into.statics |= effects.statics;
            for (position, reach) in call.reaches.iter().enumerate() {
                if effects.changes(position) {
                    into.params |= reach;
                }
            }
        }
    }

    /// The methods that `method` may run and that are not settled, with their own effects.
    fn region(&self, program: &Program, method: MethodId) -> Vec<(MethodId, Draft)> {
        let mut seen: FxHashSet<MethodId> = [method].into_iter().collect();
        let mut queue = vec![method];
        let mut drafts = Vec::new();
        while let Some(m) = queue.pop() {
            let draft = self.draft(program, m);
            for target in draft.calls.iter().flat_map(|c| &c.targets) {
                if seen.len() < MAX_REGION && !self.known.borrow().contains_key(target) && seen.insert(*target) {
                    queue.push(*target);
                }
            }
            drafts.push((m, draft));
        }
        drafts.sort_by_key(|(m, _)| *m);
        drafts
    }

    fn draft(&self, program: &Program, method: MethodId) -> Draft {
        let owner = program.method(method).owner;
        if program.ty(owner).platform {
            return Draft { own: self.of_platform(program, method), calls: Vec::new() };
        }
        match program.body(method) {
            Some(body) => drafted(program, &body),
            // abstract: whoever calls it looks at the overriding methods too; native: unknown
            None if program.method(method).flags.has(super::Flags::ABSTRACT) => Draft { own: Effects::default(), calls: Vec::new() },
            None => Draft { own: Effects::ALL, calls: Vec::new() },
        }
    }

    fn of_platform(&self, program: &Program, method: MethodId) -> Effects {
        let def = program.method(method);
        match def.kind {
            MethodKind::Constructor => Effects::RECEIVER,
            _ if self.rules.looks(program.type_name(def.owner), program.text(def.name)) => Effects::default(),
            MethodKind::Instance => Effects::RECEIVER,
            _ => Effects { params: u64::MAX, statics: false },
        }
    }
}

fn drafted(program: &Program, body: &Body) -> Draft {
    let reach = reaches(body);
    let of = |r: Reg| reach.get(&r).copied().unwrap_or(0);
    let mut draft = Draft { own: Effects::default(), calls: Vec::new() };
    for insn in &body.insns {
        match &insn.op {
            Op::PutField { object: r, .. } | Op::StoreElement { array: r, .. } => draft.own.params |= of(*r),
            Op::PutStatic { .. } => draft.own.statics = true,
            Op::Call { kind, method, args, .. } => {
                let (targets, unknown) = targets(program, *kind, method);
                draft.calls.push(CallSite { targets, unknown, reaches: args.iter().map(|a| of(*a)).collect() });
            }
            Op::Opaque { args, .. } => {
                let all = args.iter().map(|a| of(*a)).fold(0, |a, b| a | b);
                draft.own.params |= all;
            }
            _ => {}
        }
    }
    draft
}

/// What each register may reach, as a set of parameters: a fixpoint over all instructions, whatever their order.
fn reaches(body: &Body) -> FxHashMap<Reg, u64> {
    let mut reach: FxHashMap<Reg, u64> = FxHashMap::default();
    for (position, (reg, ty)) in body.frame.params.iter().enumerate() {
        if ty.is_reference() {
            *reach.entry(*reg).or_default() |= bit(position);
        }
    }
    loop {
        let mut changed = false;
        for insn in &body.insns {
            let (to, from) = match &insn.op {
                Op::Copy { to, from } | Op::Cast { to, of: from, .. } | Op::GetField { to, object: from, .. } => (*to, vec![*from]),
                Op::LoadElement { to, array, element: None, .. } => (*to, vec![*array]),
                // what is put into an object is reachable from it
                Op::PutField { object, value, .. } => (*object, vec![*value]),
                Op::StoreElement { array, value, element: None, .. } => (*array, vec![*value]),
                Op::Call { to: Some(to), args, .. } => (*to, args.to_vec()),
                _ => continue,
            };
            let all = from.iter().filter_map(|r| reach.get(r)).fold(0, |a, b| a | b);
            let slot = reach.entry(to).or_default();
            changed |= *slot | all != *slot;
            *slot |= all;
        }
        if !changed {
            return reach;
        }
    }
}

/// The methods that a call may mean, and whether there may be more.
fn targets(program: &Program, kind: CallKind, reference: &MethodRef) -> (Vec<MethodId>, bool) {
    let Some(named) = program.resolve_ref(reference) else { return (Vec::new(), true) };
    let mut out = vec![named];
    if kind != CallKind::Virtual || program.ty(program.method(named).owner).platform {
        return (out, false);
    }
    out.extend(program.overriding(reference, MAX_OVERRIDES));
    out.dedup();
    let unknown = out.len() > MAX_OVERRIDES;
    (out, unknown)
}
