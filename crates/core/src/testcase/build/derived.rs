//! Classes of the test's own, where the language has no declared types to implement: derived from one of the program's, with members that libraries look for.
//! Schemas, models, factories and forms are declared that way, and objects with special methods come to be no other way.

use super::Maker;
use crate::program::{Flags, MethodKind, Shape, Ty, TypeId};
use crate::testcase::{Data, Stmt, Var};

/// What a class of the test's own may be given beyond its data; the names are the language's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Declaring {
    /// Methods that the language itself calls.
    pub special: &'static [&'static str],
    /// Classes inside a class that hold its settings.
    pub settings: &'static [&'static str],
}

/// How often a second base is given.
const MIXED: f64 = 0.12;
/// How often a member is an object of a class that the trace's code tests for, where there is one.
const TESTED_FOR: f64 = 0.4;
/// Most members of a class.
const MAX_MEMBERS: usize = 3;

impl Maker<'_, '_> {
    /// An object of a class derived from `ty`.
    pub(super) fn derived_object(&mut self, ty: TypeId, depth: u32) -> Option<Var> {
        let class = Box::new(self.derived_class(Some(ty), depth));
        let args = self.plain_arguments(ty);
        Some(self.test.push(Stmt::Data(Data::Made { class, args })))
    }

    /// An object of a class of the test's own that is derived from nothing.
    pub(super) fn own_object(&mut self, depth: u32) -> Data {
        Data::Made { class: Box::new(self.derived_class(None, depth)), args: Vec::new() }
    }

    /// A class of the test's own.
    pub fn derived_class(&mut self, base: Option<TypeId>, depth: u32) -> Data {
        let mut types: Vec<TypeId> = base.into_iter().collect();
        if let Some(base) = base
            && self.rng.chance(MIXED)
            && let Some(other) = self.related(base)
            && !self.program().is_subtype(other, base)
            && !self.program().is_subtype(base, other)
        {
            types.insert(self.rng.below(2), other);
        }
        let bases = types.into_iter().map(|t| Data::Var(self.test.push(Stmt::Class(Ty::reference(t))))).collect();
        let count = usize::from(base.is_none() || self.rng.chance(0.8)) + self.rng.below(MAX_MEMBERS);
        let mut members: Vec<(String, Data)> = Vec::new();
        for _ in 0..count {
            let (name, value) = self.member(base, depth);
            if members.iter().all(|(known, _)| *known != name) {
                members.push((name, value));
            }
        }
        Data::Class { bases, members }
    }

    /// A member of such a class.
    pub fn member(&mut self, base: Option<TypeId>, depth: u32) -> (String, Data) {
        let declaring = self.palette.declaring;
        if base.is_none() || self.rng.chance(0.08) {
            if let Some(name) = self.rng.pick(declaring.special).filter(|_| base.is_none() || self.rng.chance(0.8)) {
                return ((*name).to_string(), Data::Function(Box::new(self.data(&Shape::Any, depth + 1))));
            }
        } else if self.rng.chance(0.08)
            && depth == 0
            && let Some(name) = self.rng.pick(declaring.settings)
        {
            return ((*name).to_string(), self.derived_class(None, 1));
        }
        let name = self.member_name();
        let value = match self.rng.below(10) {
            0..=5 => self.related_object(base).unwrap_or(Data::None),
            6 => Data::Function(Box::new(self.data(&Shape::Any, depth + 1))),
            _ => self.data(&Shape::Any, depth + 1),
        };
        (name, value)
    }

    fn member_name(&mut self) -> String {
        let word = self.key_text();
        let fits = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if fits && self.rng.chance(0.6) { word } else { ["a", "b", "name", "value"][self.rng.below(4)].to_string() }
    }

    /// An object of a class of the trace, or of one like it.
    fn related_object(&mut self, base: Option<TypeId>) -> Option<Data> {
        let trace = self.palette.trace_types();
        let mut ty = *self.rng.pick(trace)?;
        if let Some(tested) = self.tested_for()
            && self.rng.chance(TESTED_FOR)
        {
            ty = tested;
        } else if self.rng.chance(0.4) {
            ty = self.related(ty).unwrap_or(ty);
        }
        if Some(ty) == base && self.rng.chance(0.8) {
            return None;
        }
        self.new_object(Ty::reference(ty)).map(Data::Var)
    }

    /// A class that the trace's code looks for among what it is given.
    fn tested_for(&mut self) -> Option<TypeId> {
        let program = self.program();
        let usable = |t: &TypeId| !program.ty(*t).platform && self.palette.has_constructor(*t);
        let tested: Vec<TypeId> = self.palette.expected_types().iter().filter_map(|t| t.as_ref()).filter(usable).collect();
        self.rng.pick(&tested).copied()
    }

    /// A class of the same library that has a base in common with `ty`, or any class of the trace.
    fn related(&mut self, ty: TypeId) -> Option<TypeId> {
        const MOST: usize = 200;
        let program = self.program();
        let above = program.ty(ty).superclass.filter(|t| !program.ty(*t).platform).unwrap_or(ty);
        let usable = |t: &TypeId| !program.ty(*t).platform && !program.ty(*t).flags.has(Flags::UNNAMEABLE) && *t != ty && self.palette.has_constructor(*t);
        let mut near: Vec<TypeId> = program.subtypes(above, MOST).into_iter().filter(usable).collect();
        near.extend(self.palette.trace_types().iter().copied().filter(usable));
        self.rng.pick(&near).copied()
    }

    /// Arguments for a constructor of `ty` as far as they can be given by their place.
    fn plain_arguments(&mut self, ty: TypeId) -> Vec<Data> {
        let program = self.program();
        let ctor = program.methods_of(ty).find(|m| program.method(*m).kind == MethodKind::Constructor);
        let Some(args) = ctor.and_then(|ctor| self.arguments(ctor)) else { return Vec::new() };
        let given = args.into_iter().take_while(|v| !matches!(self.test.stmt(*v), Stmt::Data(Data::Absent)));
        let places = ctor.map_or(0, |m| program.parameters(m).iter().take_while(|p| p.by_place()).count());
        given.take(places).map(Data::Var).collect()
    }
}
