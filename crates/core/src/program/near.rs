//! What lies near a trace: the types whose code its methods run, though no frame of theirs was left when it crashed. Texts are mostly taken apart there,
//! and what they are compared with is told nowhere else.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{MethodId, Program, TypeId};

/// Bodies that are looked into.
const MAX_BODIES: usize = 500;
/// Methods of one type that was come to: where receivers have no declared type, only that it is made is known.
const MAX_METHODS: usize = 60;

/// At most `most` types, where they are declared of the same library, that `methods` lead to by calls, the nearest first, without those of `known`.
pub fn near(program: &Program, methods: &[MethodId], known: &[TypeId], most: usize) -> Vec<TypeId> {
    let families: FxHashSet<&str> = known.iter().map(|t| family(program, *t)).collect();
    let mut queue: VecDeque<MethodId> = methods.iter().copied().collect();
    let mut seen: FxHashSet<MethodId> = methods.iter().copied().collect();
    let mut found: Vec<TypeId> = Vec::new();
    let mut bodies = 0;
    while let Some(method) = queue.pop_front() {
        let Some(body) = program.body(method) else { continue };
        bodies += 1;
        if bodies > MAX_BODIES || found.len() >= most {
            break;
        }
        for call in body.calls() {
            let owner = call.method.owner;
            // where types are not declared, no more of other libraries is read than what the trace's files import
            let foreign = !program.is_dynamic() && !families.contains(family(program, owner));
            if program.ty(owner).platform || program.ty(owner).missing || foreign {
                continue;
            }
            let mut next: Vec<MethodId> = program.resolve_method(owner, &call.method.name, &call.method.desc).into_iter().collect();
            if !known.contains(&owner) && !found.contains(&owner) && found.len() < most {
                found.push(owner);
                next.extend(program.methods_of(owner).take(MAX_METHODS));
            }
            queue.extend(next.into_iter().filter(|m| seen.insert(*m)));
        }
    }
    found
}

/// The part of a package's name that a library's packages share.
pub fn family(program: &Program, ty: TypeId) -> &str {
    let parts = if program.is_dynamic() { 1 } else { 2 };
    let package = program.package(ty);
    package.match_indices('.').nth(parts - 1).map_or(package, |(i, _)| &package[..i])
}
