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
    /// How types are declared, where the trace's code looks at that.
    pub types: Option<&'static DeclaredTypes>,
}

/// The language's way to declare the types of members.
#[derive(Debug)]
pub struct DeclaredTypes {
    /// The member of a class that has them.
    pub member: &'static str,
    /// Types without arguments, and what their values look like.
    pub plain: &'static [(&'static str, Kind)],
    /// Types with so many arguments.
    pub generic: &'static [(&'static str, usize)],
}

/// What values of a declared type look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Int,
    Float,
    Bool,
    Str,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    /// As its constructor makes them.
    Object,
}

/// How often a second base is given.
const MIXED: f64 = 0.12;
/// How often a member is an object of a class that the trace's code tests for, where there is one.
const TESTED_FOR: f64 = 0.4;
/// Most members of a class.
const MAX_MEMBERS: usize = 3;
/// How often a class declares types where somebody looks at them, and is a record then; how often its objects get what it declares.
const DECLARES: f64 = 0.6;
const RECORD: f64 = 0.75;
const AS_DECLARED: f64 = 0.85;
/// How often a type has arguments, and is a class of the test's own.
const GENERIC: f64 = 0.3;
const NESTED: f64 = 0.12;

impl Maker<'_, '_> {
    /// An object of a class derived from `ty`.
    pub(super) fn derived_object(&mut self, ty: TypeId, depth: u32) -> Option<Var> {
        let class = Box::new(self.derived_class(Some(ty), depth));
        let args = self.declared_arguments(&class).unwrap_or_else(|| self.plain_arguments(ty));
        Some(self.test.push(Stmt::Data(Data::Made { class, args })))
    }

    /// An object of a class of the test's own that is derived from nothing.
    pub(super) fn own_object(&mut self, depth: u32) -> Data {
        let class = Box::new(self.derived_class(None, depth));
        let args = self.declared_arguments(&class).unwrap_or_default();
        Data::Made { class, args }
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
        let declares = self.palette.declaring.types.filter(|_| self.rng.chance(DECLARES));
        let record = declares.is_some() && self.rng.chance(RECORD);
        if let Some(types) = declares {
            members.push((types.member.to_string(), self.declared_members(depth)));
        }
        Data::Class { bases, members, record }
    }

    /// Names with types.
    fn declared_members(&mut self, depth: u32) -> Data {
        let mut pairs: Vec<(Data, Data)> = Vec::new();
        for _ in 0..1 + self.rng.below(MAX_MEMBERS) {
            let name = Data::Str(self.member_name());
            if let Some(ty) = self.declared_type(depth + 1)
                && pairs.iter().all(|(known, _)| *known != name)
            {
                pairs.push((name, ty));
            }
        }
        Data::Dict(pairs)
    }

    /// A type as code declares it; `None` where nobody looks at that.
    pub fn declared_type(&mut self, depth: u32) -> Option<Data> {
        let types = self.palette.declaring.types?;
        if depth < 3 && self.rng.chance(GENERIC) {
            let (name, count) = *self.rng.pick(types.generic)?;
            let class = Box::new(self.class_named(name)?);
            let args: Option<Vec<Data>> = (0..count).map(|_| self.declared_type(depth + 1)).collect();
            return args.map(|args| Data::Of { class, args });
        }
        if self.policy.derive && depth < 3 && self.rng.chance(NESTED) {
            return Some(self.derived_class(None, depth + 1));
        }
        if self.rng.chance(NESTED)
            && let Some(ty) = self.rng.pick(self.palette.trace_types()).copied()
        {
            return Some(Data::Var(self.test.push(Stmt::Class(Ty::reference(ty)))));
        }
        let (name, _) = self.rng.pick(types.plain)?;
        self.class_named(name)
    }

    fn class_named(&mut self, name: &str) -> Option<Data> {
        let ty = self.program().find_type(name)?;
        Some(Data::Var(self.test.push(Stmt::Class(Ty::reference(ty)))))
    }

    /// What an object of the class is made of, if its class says so.
    fn declared_arguments(&mut self, class: &Data) -> Option<Vec<Data>> {
        let types = self.palette.declaring.types?;
        let Data::Class { members, record: true, .. } = class else { return None };
        let Some((_, Data::Dict(declared))) = members.iter().find(|(name, _)| name == types.member) else { return None };
        Some(declared.iter().map(|(_, ty)| self.of_declared(ty, types)).collect())
    }

    /// A value as it is declared, mostly.
    fn of_declared(&mut self, ty: &Data, types: &DeclaredTypes) -> Data {
        let name = |data: &Data| match data {
            Data::Var(v) => match self.test.stmt(*v) {
                Stmt::Class(ty) => ty.as_ref().map(|t| self.program().type_name(t)),
                _ => None,
            },
            _ => None,
        };
        let kind = name(ty).and_then(|name| types.plain.iter().find(|(plain, _)| *plain == name)).copied();
        match (kind, ty) {
            (Some(kind), _) if self.rng.chance(AS_DECLARED) => {
                let shape = self.shape_of(kind);
                self.data(&shape, 1)
            }
            (None, Data::Class { .. }) if self.rng.chance(AS_DECLARED) => {
                let args = self.declared_arguments(ty).unwrap_or_default();
                Data::Made { class: Box::new(ty.clone()), args }
            }
            (None, Data::Of { class, args }) if self.rng.chance(AS_DECLARED) => self.of_generic(class, args, types),
            _ => self.data(&Shape::Any, 1),
        }
    }

    fn shape_of(&self, (name, kind): (&str, Kind)) -> Shape {
        let any = || Box::new(Shape::Any);
        match kind {
            Kind::Int => Shape::Int,
            Kind::Float => Shape::Float,
            Kind::Bool => Shape::Bool,
            Kind::Str => Shape::Str,
            Kind::Bytes => Shape::Bytes,
            Kind::List => Shape::List(any()),
            Kind::Tuple => Shape::Tuple(vec![Shape::Any]),
            Kind::Set => Shape::Set(any()),
            Kind::Dict => Shape::Dict(Box::new((Shape::Str, Shape::Any))),
            Kind::Object => self.program().find_type(name).map_or(Shape::Any, Shape::Instance),
        }
    }

    /// A value of a type with arguments: a container of them, as far as its shape is known.
    fn of_generic(&mut self, class: &Data, args: &[Data], types: &DeclaredTypes) -> Data {
        let items: Vec<Data> = args.iter().map(|arg| self.of_declared(arg, types)).collect();
        let Data::Var(class) = class else { return Data::None };
        let Stmt::Class(ty) = self.test.stmt(*class) else { return Data::None };
        let name = ty.as_ref().map_or("", |t| self.program().type_name(t));
        let kind = types.plain.iter().find(|(plain, _)| *plain == name).map(|(_, kind)| kind);
        match (kind, items.as_slice()) {
            (Some(Kind::Dict), [key, value]) => Data::Dict(vec![(key.clone(), value.clone())]),
            (Some(Kind::Tuple), _) => Data::Tuple(items),
            (Some(Kind::Set), _) => Data::Set(items),
            (Some(_), _) => Data::List(items),
            (None, [only]) if self.rng.chance(0.8) => only.clone(),
            (None, _) => Data::None,
        }
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
