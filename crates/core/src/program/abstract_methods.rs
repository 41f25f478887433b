//! Which methods a class that extends or implements a type has to define. Whether anybody may write such a class is not asked here.

use super::{Flags, MethodId, MethodKind, Program, TypeId};

impl Program {
    /// Abstract methods that nothing in the hierarchy of `ty` implements, each name and signature once, nearest declaration first.
    pub fn abstract_methods(&self, ty: TypeId) -> Vec<MethodId> {
        let supertypes = self.supertypes(ty);
        let mut declared: Vec<MethodId> = supertypes.iter().flat_map(|t| self.methods_of(*t)).filter(|m| self.is_overridable(*m)).collect();
        // what every object has implements what an interface declares
        if let Some(root) = self.well_known().object.as_ref()
            && !supertypes.contains(&root)
        {
            declared.extend(self.methods_of(root).filter(|m| self.is_overridable(*m)));
        }
        let mut out: Vec<MethodId> = Vec::new();
        for m in declared.iter().filter(|m| self.method(**m).flags.has(Flags::ABSTRACT)) {
            let known = out.iter().any(|o| self.same_call(*o, *m));
            if !known && !declared.iter().any(|other| self.implements(*other, *m)) {
                out.push(*m);
            }
        }
        out
    }

    fn is_overridable(&self, method: MethodId) -> bool {
        self.method(method).kind == MethodKind::Instance && self.method(method).access != super::Access::Private
    }

    fn same_call(&self, a: MethodId, b: MethodId) -> bool {
        let (a, b) = (self.method(a), self.method(b));
        a.name == b.name && a.desc == b.desc
    }

    /// Whether `other` gives `method` its code: a class's code counts before any interface's, an interface's only below the declaration.
    fn implements(&self, other: MethodId, method: MethodId) -> bool {
        if !self.same_call(other, method) || self.method(other).flags.has(Flags::ABSTRACT) {
            return false;
        }
        let (owner, declares) = (self.method(other).owner, self.method(method).owner);
        let of_class = |t: TypeId| !self.ty(t).flags.has(Flags::INTERFACE);
        // a class that declares a method abstract again takes the code away from its subclasses
        (of_class(owner) && !of_class(declares)) || self.is_subtype(owner, declares)
    }
}
