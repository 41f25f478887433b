//! Who calls whom, inside one type: enough to find the public way to a private method.
//!
//! Bodies of other types are not lowered. Calls through an overriding method of a subtype are not seen.

use rustc_hash::FxHashSet;

use super::ir::MethodRef;
use super::{MethodId, Program, TypeId};

impl Program {
    /// The method that a reference in code means: declared in the owner or inherited.
    pub fn resolve_ref(&self, reference: &MethodRef) -> Option<MethodId> {
        let (name, desc) = (self.sym(&reference.name)?, self.sym(&reference.desc)?);
        let declared = |ty: TypeId| self.methods_of(ty).find(|m| self.method(*m).name == name && self.method(*m).desc == desc);
        declared(reference.owner).or_else(|| self.supertypes(reference.owner).into_iter().skip(1).find_map(declared))
    }

    /// The methods of `ty` that call `method`, or make a function object of it, each once and in declaration order.
    pub fn callers_in(&self, ty: TypeId, method: MethodId) -> Vec<MethodId> {
        let (name, desc) = (self.method_name(method), self.method_desc(method));
        let is_it = |r: &MethodRef| *r.name == *name && *r.desc == *desc && self.resolve_ref(r) == Some(method);
        let calls =
            |caller: MethodId| self.body(caller).is_some_and(|body| body.calls().any(|call| is_it(call.method)) || body.lambdas().any(|(_, r)| is_it(r)));
        self.methods_of(ty).filter(|caller| calls(*caller)).collect()
    }

    /// The methods of `ty` from which `method` can be reached without leaving `ty`: itself first, then nearest first.
    pub fn reaching_in(&self, ty: TypeId, method: MethodId) -> Vec<MethodId> {
        let mut found = vec![method];
        let mut seen: FxHashSet<MethodId> = found.iter().copied().collect();
        let mut i = 0;
        while i < found.len() {
            let callers = self.callers_in(ty, found[i]);
            found.extend(callers.into_iter().filter(|caller| seen.insert(*caller)));
            i += 1;
        }
        found
    }
}
