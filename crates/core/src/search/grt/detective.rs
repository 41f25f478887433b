//! Detective: types that the methods under test ask for but none of them returns (GRT-10). The ways to make them are tried once each in its opening;
//! what comes out goes to the main pool, what was needed on the way to the secondary one.
//!
//! The ways themselves, and their recursion into further types, are the builder's (`build::producers`): there is one builder of missing types.

use rustc_hash::FxHashSet;

use super::subjects::Subject;
use crate::program::{MethodId, MethodKind, Program, TypeId};

/// The types that are asked for and made nowhere, in the order in which they are first asked for.
pub fn unavailable(program: &Program, subjects: &[Subject]) -> Vec<TypeId> {
    let made: Vec<TypeId> = subjects.iter().filter_map(|s| made_by(program, s.entry)).collect();
    let mut available: FxHashSet<TypeId> = FxHashSet::default();
    for ty in made {
        if available.insert(ty) {
            available.extend(program.supertypes(ty));
        }
    }
    let string = program.well_known().string.as_ref();
    let mut seen: FxHashSet<TypeId> = FxHashSet::default();
    let wanted = subjects.iter().flat_map(|s| program.signature(s.entry).params.iter()).filter_map(|p| p.as_ref().or(p.element().and_then(|e| e.as_ref())));
    wanted.filter(|t| Some(*t) != string && !available.contains(t) && seen.insert(*t)).collect()
}

fn made_by(program: &Program, method: MethodId) -> Option<TypeId> {
    match program.method(method).kind {
        MethodKind::Constructor => Some(program.method(method).owner),
        _ => program.signature(method).ret.as_ref(),
    }
}
