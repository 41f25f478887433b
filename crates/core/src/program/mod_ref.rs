//! Which fields the way to a crash looks at, and which methods touch one of them (mod/ref).
//!
//! Advice for a search: of two hundred methods of a class, those that change what the crashing code reads are worth calling first. Bodies are followed
//! a few calls deep, virtual calls to the named method and some that override it; what lies deeper is not seen.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ir::{Body, FieldRef, MethodRef, Op, Reg};
use super::purity::PurityRules;
use super::{FieldId, Flags, MethodId, MethodKind, Program, TypeId};

/// How many calls deep the reads of a start are followed.
const READ_DEPTH: u32 = 2;
/// How many calls deep a method is followed to a write.
const WRITE_DEPTH: u32 = 3;
/// Methods looked at for one question.
const MAX_METHODS: usize = 120;
/// Overriding methods considered for one call.
const MAX_OVERRIDES: usize = 4;

/// The fields that some methods look at, with the answers found so far.
#[derive(Default)]
pub struct Touching {
    fields: FxHashSet<FieldId>,
    owners: FxHashSet<TypeId>,
    rules: PurityRules,
    known: RefCell<FxHashMap<MethodId, bool>>,
}

impl Touching {
    /// The instance fields that `starts` read, themselves or in what they call.
    pub fn read_by(program: &Program, starts: &[MethodId], rules: PurityRules) -> Touching {
        let mut fields = FxHashSet::default();
        walk(program, starts, READ_DEPTH, |body| {
            for insn in &body.insns {
                if let Op::GetField { field, .. } = &insn.op {
                    fields.extend(resolve(program, field));
                }
            }
            true
        });
        fields.retain(|f| !program.ty(program.field(*f).owner).platform);
        let owners = fields.iter().map(|f| program.field(*f).owner).collect();
        Touching { fields, owners, rules, known: RefCell::default() }
    }

    /// Whether a call of the method may matter to the way to the crash.
    pub fn touches(&self, program: &Program, method: MethodId) -> bool {
        self.writes(program, method) || self.hands_out(program, method)
    }

    /// Whether the method may write one of the fields, or change what one of them holds.
    pub fn writes(&self, program: &Program, method: MethodId) -> bool {
        if self.fields.is_empty() {
            return false;
        }
        if let Some(known) = self.known.borrow().get(&method) {
            return *known;
        }
        let mut found = false;
        walk(program, &[method], WRITE_DEPTH, |body| {
            found |= self.touched_in(program, body);
            !found
        });
        self.known.borrow_mut().insert(method, found);
        found
    }

    /// Whether the method hands out an object that has one of the fields: then the way to it leads over its result.
    pub fn hands_out(&self, program: &Program, method: MethodId) -> bool {
        let signature = program.signature(method);
        let looks = program.method(method).kind == MethodKind::Instance && signature.params.is_empty();
        looks && signature.ret.as_ref().is_some_and(|t| t != program.method(method).owner && program.supertypes(t).iter().any(|s| self.owners.contains(s)))
    }

    fn touched_in(&self, program: &Program, body: &Body) -> bool {
        let mut held: FxHashSet<Reg> = FxHashSet::default();
        for insn in &body.insns {
            match &insn.op {
                Op::PutField { field, .. } if self.is_read(program, field) => return true,
                Op::GetField { to, field, .. } if self.is_read(program, field) => {
                    held.insert(*to);
                }
                Op::Copy { to, from } | Op::Cast { to, of: from, .. } if held.contains(from) => {
                    held.insert(*to);
                }
                Op::StoreElement { array, .. } if held.contains(array) => return true,
                Op::Call { method, args, .. } if args.first().is_some_and(|a| held.contains(a)) && self.changes(program, method) => return true,
                _ => {}
            }
        }
        false
    }

    fn is_read(&self, program: &Program, field: &FieldRef) -> bool {
        resolve(program, field).is_some_and(|f| self.fields.contains(&f))
    }

    /// Whether a method of the platform may change its receiver: the program's own are followed instead.
    fn changes(&self, program: &Program, method: &MethodRef) -> bool {
        program.ty(method.owner).platform && !self.rules.looks(program.type_name(method.owner), &method.name)
    }
}

fn resolve(program: &Program, field: &FieldRef) -> Option<FieldId> {
    program.supertypes(field.owner).into_iter().find_map(|t| program.find_field(t, &field.name))
}

/// Visits the bodies of `starts` and of what they call, breadth first, until `visit` has seen enough.
fn walk(program: &Program, starts: &[MethodId], depth: u32, mut visit: impl FnMut(&Body) -> bool) {
    let mut seen: FxHashSet<MethodId> = starts.iter().copied().collect();
    let mut layer = starts.to_vec();
    for level in 0..=depth {
        let mut next = Vec::new();
        for method in layer {
            let Some(body) = program.body(method) else { continue };
            if !visit(&body) {
                return;
            }
            if level < depth {
                let called = body.calls().flat_map(|call| called(program, call.method));
                next.extend(called.filter(|m| seen.len() < MAX_METHODS && seen.insert(*m)));
            }
        }
        layer = next;
    }
}

/// The program's methods that a call may mean.
fn called(program: &Program, reference: &MethodRef) -> Vec<MethodId> {
    let Some(named) = program.resolve_ref(reference) else { return Vec::new() };
    let mut out = vec![named];
    if program.method(named).flags.has(Flags::ABSTRACT) {
        out.extend(program.overriding(reference, MAX_OVERRIDES));
    }
    out.retain(|m| !program.ty(program.method(*m).owner).platform);
    out
}
