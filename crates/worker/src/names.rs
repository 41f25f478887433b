//! Which names the workers have to be told before they can run a batch: each type, method and field once, and what to make ready beforehand, because
//! tests name its members. What that is, a language says ([`Naming`]): classes to initialise, modules to import.

use rethrow_core::program::{Base, FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};
use rethrow_core::testcase::{Stmt, Stub, TestCase};
use rustc_hash::FxHashSet;

use crate::protocol::{Define, Field, Method};

/// How a language calls things.
pub trait Naming {
    /// What is made ready before the first use of a type's members, if anything.
    fn unit(program: &Program, owner: TypeId) -> Option<String>;
    /// Whether naming a type alone is a use of it.
    const TYPES_ARE_USES: bool;
    /// Whether a member is reached through its type.
    fn is_static(kind: MethodKind) -> bool;
    /// The text that tells a field's type.
    fn descriptor(program: &Program, ty: Ty) -> String;
}

/// See the module documentation.
#[derive(Default)]
pub struct Named {
    types: FxHashSet<TypeId>,
    methods: FxHashSet<MethodId>,
    fields: FxHashSet<FieldId>,
    units: FxHashSet<String>,
    stubs: FxHashSet<TypeId>,
}

impl Named {
    /// What `tests` mention and was not named before.
    pub fn new_names<N: Naming>(&mut self, program: &Program, tests: &[TestCase]) -> Define {
        let mut new = Define::default();
        for stmt in tests.iter().flat_map(|t| &t.stmts) {
            match stmt {
                Stmt::Null(ty) | Stmt::Class(ty) | Stmt::NewArray { elem: ty, .. } | Stmt::Cast { ty, .. } => self.ty::<N>(program, *ty, &mut new),
                Stmt::New { ctor: method, .. } | Stmt::Call { method, .. } => self.method::<N>(program, *method, &mut new),
                Stmt::GetStatic(field) | Stmt::GetField { field, .. } | Stmt::SetField { field, .. } => self.field::<N>(program, *field, &mut new),
                Stmt::Stub(stub) => self.stub::<N>(program, stub, &mut new),
                Stmt::Lit(_) | Stmt::Str(_) | Stmt::Data(_) | Stmt::Env(_) | Stmt::ArraySet { .. } | Stmt::ArrayGet { .. } => {}
            }
        }
        new
    }

    /// Types to make ready before any test names them.
    pub fn prepare_all<N: Naming>(&mut self, program: &Program, types: impl Iterator<Item = TypeId>) -> Define {
        let mut new = Define::default();
        types.for_each(|t| self.prepare::<N>(program, t, &mut new));
        new
    }

    fn ty<N: Naming>(&mut self, program: &Program, ty: Ty, new: &mut Define) {
        if let Base::Ref(id) = ty.base
            && self.types.insert(id)
        {
            if N::TYPES_ARE_USES {
                self.prepare::<N>(program, id, new);
            }
            new.types.push((id, program.type_name(id).to_owned()));
        }
    }

    fn stub<N: Naming>(&mut self, program: &Program, stub: &Stub, new: &mut Define) {
        self.ty::<N>(program, Ty::reference(stub.ty), new);
        stub.ctor.iter().for_each(|c| self.method::<N>(program, *c, new));
        let acts = stub.answers.iter().filter_map(|a| a.act.as_ref());
        acts.for_each(|act| self.method::<N>(program, act.method, new));
        stub.answers.iter().for_each(|a| self.method::<N>(program, a.method, new));
        if self.stubs.insert(stub.ty) {
            let required = program.abstract_methods(stub.ty);
            required.iter().for_each(|m| self.method::<N>(program, *m, new));
            new.stubs.push((stub.ty, required));
        }
    }

    fn prepare<N: Naming>(&mut self, program: &Program, owner: TypeId, new: &mut Define) {
        if let Some(unit) = N::unit(program, owner)
            && self.units.insert(unit.clone())
        {
            new.prepare.push(unit);
        }
    }

    fn method<N: Naming>(&mut self, program: &Program, id: MethodId, new: &mut Define) {
        if !self.methods.insert(id) {
            return;
        }
        let def = program.method(id);
        self.prepare::<N>(program, def.owner, new);
        let method = Method {
            owner: program.type_name(def.owner).to_owned(),
            name: program.method_name(id).to_owned(),
            desc: program.method_desc(id).to_owned(),
            is_static: N::is_static(def.kind),
        };
        new.methods.push((id, method));
    }

    fn field<N: Naming>(&mut self, program: &Program, id: FieldId, new: &mut Define) {
        if !self.fields.insert(id) {
            return;
        }
        let def = program.field(id);
        self.prepare::<N>(program, def.owner, new);
        let field = Field {
            owner: program.type_name(def.owner).to_owned(),
            name: program.field_name(id).to_owned(),
            desc: N::descriptor(program, def.ty),
            is_static: def.flags.has(Flags::STATIC),
        };
        new.fields.push((id, field));
    }
}
