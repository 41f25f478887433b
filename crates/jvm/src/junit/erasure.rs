//! The erased signature of an inherited method, as seen from a type that fixes its supertypes' parameters.
//!
//! `interface ByName extends Comparator<Name>` asks for `compare(Name, Name)`, although the descriptor says `compare(Object, Object)`. A class
//! that overrides the erasure of what it inherits always compiles, so erased types are all that is represented here.

use std::collections::BTreeMap;

use rethrow_core::program::{Base, MethodId, Prim, Program, Ty, TypeId};

use super::generics::Generics;

/// Hierarchies and bounds deeper than this are damage.
const MAX_DEPTH: usize = 40;

/// Type variables and what they stand for, erased.
type Bindings = BTreeMap<String, Ty>;

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
            let formals = generics.signature.as_deref().map(|s| Text(s).formals(|t| self.erase(t, &Bindings::new()))).unwrap_or_default();
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
            out.push((self.class(one)?, self.arguments(one, known)?));
        }
        Some(out)
    }

    fn method(&self, text: &str, mut bindings: Bindings) -> Option<Erased> {
        let mut text = Text(text);
        for (name, ty) in text.formals(|t| self.erase(t, &bindings)) {
            bindings.insert(name, ty);
        }
        text.skip('(')?;
        let mut params = Vec::new();
        while !text.0.starts_with(')') {
            params.push(self.erase(text.next()?, &bindings)?);
        }
        text.skip(')')?;
        Some((params, self.erase(text.next()?, &bindings)?))
    }

    /// The erasure of one type.
    fn erase(&self, text: &str, bindings: &Bindings) -> Option<Ty> {
        let dims = text.bytes().take_while(|b| *b == b'[').count();
        let inner = &text[dims..];
        let base = match inner.bytes().next()? {
            b'V' => Ty::VOID,
            b'L' => Ty { base: Base::Ref(self.class(inner)?), dims: 0 },
            b'T' => bindings.get(inner.get(1..inner.len() - 1)?).copied().unwrap_or(self.program.well_known().object),
            letter => Ty::prim(prim(letter)?),
        };
        Some(Ty { base: base.base, dims: base.dims.checked_add(u8::try_from(dims).ok()?)? })
    }

    /// `La/B<…>.C<…>;` is `a.B$C`.
    fn class(&self, text: &str) -> Option<TypeId> {
        let mut name = String::new();
        let mut depth = 0usize;
        for c in text.strip_prefix('L')?.chars() {
            match c {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                ';' => break,
                '.' => name.push('$'),
                '/' => name.push('.'),
                c => name.push(c),
            }
        }
        self.program.find_mentioned(&name)
    }

    /// The arguments of the innermost part, erased.
    fn arguments(&self, text: &str, known: &Bindings) -> Option<Vec<Ty>> {
        let Some(inner) = text.strip_suffix(">;") else { return Some(Vec::new()) };
        let mut depth = 1usize;
        let open = inner.char_indices().rev().find(|(_, c)| {
            match c {
                '>' => depth += 1,
                '<' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let mut list = Text(&inner[open.0 + 1..]);
        let mut out = Vec::new();
        while !list.0.is_empty() {
            if list.skip('*').is_some() {
                out.push(self.program.well_known().object);
                continue;
            }
            let _ = list.skip('+').or_else(|| list.skip('-'));
            out.push(self.erase(list.next()?, known)?);
        }
        Some(out)
    }
}

/// What is left of a signature.
struct Text<'t>(&'t str);

impl<'t> Text<'t> {
    fn skip(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    /// One type of any kind.
    fn next(&mut self) -> Option<&'t str> {
        let dims = self.0.bytes().take_while(|b| *b == b'[').count();
        match self.0.as_bytes().get(dims)? {
            b'L' | b'T' => self.reference(),
            _ => self.take(dims + 1),
        }
    }

    /// One class, variable or array of them, up to its `;`.
    fn reference(&mut self) -> Option<&'t str> {
        let mut depth = 0usize;
        let end = self.0.bytes().position(|c| {
            match c {
                b'<' => depth += 1,
                b'>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == b';' && depth == 0
        })?;
        self.take(end + 1)
    }

    fn take(&mut self, n: usize) -> Option<&'t str> {
        let (taken, rest) = (self.0.get(..n)?, self.0.get(n..)?);
        self.0 = rest;
        Some(taken)
    }

    /// The type parameters at the beginning, with the erasure of their first bound. Damage ends them early.
    fn formals(&mut self, erase: impl Fn(&str) -> Option<Ty>) -> Vec<(String, Ty)> {
        let mut out: Vec<(String, Ty)> = Vec::new();
        if self.skip('<').is_none() {
            return out;
        }
        while self.skip('>').is_none() {
            let Some(colon) = self.0.find(':') else { return out };
            let Some(name) = self.take(colon) else { return out };
            let mut first = None;
            while self.skip(':').is_some() {
                if self.0.starts_with(':') {
                    continue;
                }
                let Some(bound) = self.reference() else { return out };
                first.get_or_insert(bound);
            }
            let earlier =
                first.and_then(|b| b.strip_prefix('T')).and_then(|b| b.strip_suffix(';')).and_then(|b| out.iter().find(|(n, _)| n == b)).map(|(_, t)| *t);
            if let Some(ty) = earlier.or_else(|| first.and_then(&erase)) {
                out.push((name.to_string(), ty));
            }
        }
        out
    }
}

fn prim(letter: u8) -> Option<Prim> {
    Some(match letter {
        b'Z' => Prim::Bool,
        b'B' => Prim::Byte,
        b'C' => Prim::Char,
        b'S' => Prim::Short,
        b'I' => Prim::Int,
        b'J' => Prim::Long,
        b'F' => Prim::Float,
        b'D' => Prim::Double,
        _ => return None,
    })
}
