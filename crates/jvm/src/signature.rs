//! `Signature` attributes: how classes and methods are declared before erasure. Total: damage ends a reading early.

use std::collections::BTreeMap;

use rethrow_core::program::{Base, Prim, Program, Ty, TypeId};

/// Type variables and what they stand for, erased.
pub type Bindings = BTreeMap<String, Ty>;

/// The erasure of one type.
pub fn erase(program: &Program, text: &str, bindings: &Bindings) -> Option<Ty> {
    let dims = text.bytes().take_while(|b| *b == b'[').count();
    let inner = &text[dims..];
    let base = match inner.bytes().next()? {
        b'V' => Ty::VOID,
        b'L' => Ty { base: Base::Ref(class(program, inner)?), dims: 0 },
        b'T' => bindings.get(inner.get(1..inner.len() - 1)?).copied().unwrap_or(program.well_known().object),
        letter => Ty::prim(prim(letter)?),
    };
    Some(Ty { base: base.base, dims: base.dims.checked_add(u8::try_from(dims).ok()?)? })
}

/// `La/B<…>.C<…>;` is `a.B$C`.
pub fn class(program: &Program, text: &str) -> Option<TypeId> {
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
    program.find_mentioned(&name)
}

/// The arguments of the innermost part, erased.
pub fn arguments(program: &Program, text: &str, known: &Bindings) -> Option<Vec<Ty>> {
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
            out.push(program.well_known().object);
            continue;
        }
        let _ = list.skip('+').or_else(|| list.skip('-'));
        out.push(erase(program, list.next()?, known)?);
    }
    Some(out)
}

/// What is left of a signature.
pub struct Text<'t>(pub &'t str);

impl<'t> Text<'t> {
    pub fn skip(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    /// One type of any kind.
    pub fn next(&mut self) -> Option<&'t str> {
        let dims = self.0.bytes().take_while(|b| *b == b'[').count();
        match self.0.as_bytes().get(dims)? {
            b'L' | b'T' => self.reference(),
            _ => self.take(dims + 1),
        }
    }

    /// One class, variable or array of them, up to its `;`.
    pub fn reference(&mut self) -> Option<&'t str> {
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
    pub fn formals(&mut self, erase: impl Fn(&str) -> Option<Ty>) -> Vec<(String, Ty)> {
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

/// The primitive type of a letter in descriptors and signatures.
pub fn prim(letter: u8) -> Option<Prim> {
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
