//! The erased signature of an inherited method, as seen from a type that fixes its supertypes' parameters.
//!
//! `interface ByName extends Comparator<Name>` asks for `compare(Name, Name)`, although the descriptor says `compare(Object, Object)`. A class
//! that overrides the erasure of what it inherits always compiles, so erased types are all that is represented here.

use rethrow_core::program::{MethodId, Program, Ty, TypeId};

use super::generics::Generics;
use crate::signature::{Bindings, Text, arguments, class, erase};

/// Hierarchies and bounds deeper than this are damage.
const MAX_DEPTH: usize = 40;

/// Parameters and result.
pub(super) type Erased = (Vec<Ty>, Ty);

/// See the module documentation. `None` if declarations cannot be read.
pub(super) fn seen_from(program: &Program, generics: &dyn Generics, ty: TypeId, method: MethodId) -> Option<Erased> {
    let signature = program.signature(method);
    let own = (signature.params.to_vec(), signature.ret);
    let owner = program.method(method).owner;
    // members of a raw type are erased, and so are those it inherits
    if owner == ty || generics.of(program, ty).parameterised {
        return Some(own);
    }
    let view = View { program, generics };
    let Some(text) = generics.of(program, owner).signature_of(program, method).map(str::to_string) else { return Some(own) };
    match view.bindings(ty, &Bindings::new(), owner, 0)? {
        None => Some(own),
        Some(bindings) => view.method(&text, bindings),
    }
}

struct View<'a> {
    program: &'a Program,
    generics: &'a dyn Generics,
}

impl View<'_> {
    /// What the type variables of `to` are in the hierarchy of `from`; `Some(None)` if `to` is used raw.
    fn bindings(&self, from: TypeId, known: &Bindings, to: TypeId, depth: usize) -> Option<Option<Bindings>> {
        if depth > MAX_DEPTH {
            return None;
        }
        for (above, args) in self.supertypes(from, known)? {
            if !self.program.is_subtype(above, to) {
                continue;
            }
            let generics = self.generics.of(self.program, above);
            if generics.parameterised && args.is_empty() {
                return Some(None);
            }
            let formals = generics.signature.as_deref().map(|s| Text(s).formals(|t| erase(self.program, t, &Bindings::new()))).unwrap_or_default();
            let bound: Bindings = formals.into_iter().map(|(name, _)| name).zip(args).collect();
            if above == to {
                return Some(Some(bound));
            }
            return self.bindings(above, &bound, to, depth + 1);
        }
        None
    }

    /// Direct supertypes with their arguments.
    fn supertypes(&self, from: TypeId, known: &Bindings) -> Option<Vec<(TypeId, Vec<Ty>)>> {
        let generics = self.generics.of(self.program, from);
        let Some(signature) = &generics.signature else {
            let def = self.program.ty(from);
            return Some(def.superclass.iter().chain(def.interfaces.iter()).map(|t| (*t, Vec::new())).collect());
        };
        let mut text = Text(signature);
        text.formals(|_| Some(self.program.well_known().object));
        let mut out = Vec::new();
        while !text.0.is_empty() {
            let one = text.reference()?;
            out.push((class(self.program, one)?, arguments(self.program, one, known)?));
        }
        Some(out)
    }

    fn method(&self, text: &str, mut bindings: Bindings) -> Option<Erased> {
        let mut text = Text(text);
        for (name, ty) in text.formals(|t| erase(self.program, t, &bindings)) {
            bindings.insert(name, ty);
        }
        text.skip('(')?;
        let mut params = Vec::new();
        while !text.0.starts_with(')') {
            params.push(erase(self.program, text.next()?, &bindings)?);
        }
        text.skip(')')?;
        Some((params, erase(self.program, text.next()?, &bindings)?))
    }
}
