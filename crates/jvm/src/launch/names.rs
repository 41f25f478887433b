//! Which names the workers have to be told before they can run a batch: each type, method and field once, and which classes of the program to
//! initialise beforehand, because tests name their members.

use rethrow_core::program::{Base, FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};
use rethrow_core::testcase::{Stmt, Stub, TestCase};
use rethrow_worker::protocol::{Define, Field, Method};
use rustc_hash::FxHashSet;

/// See the module documentation.
#[derive(Default)]
pub struct Named {
    types: FxHashSet<TypeId>,
    methods: FxHashSet<MethodId>,
    fields: FxHashSet<FieldId>,
    prepared: FxHashSet<TypeId>,
    stubs: FxHashSet<TypeId>,
}

impl Named {
    /// What `tests` mention and was not named before.
    pub fn new_names(&mut self, program: &Program, tests: &[TestCase]) -> Define {
        let mut new = Define::default();
        for stmt in tests.iter().flat_map(|t| &t.stmts) {
            match stmt {
                Stmt::Null(ty) | Stmt::Class(ty) | Stmt::NewArray { elem: ty, .. } | Stmt::Cast { ty, .. } => self.ty(program, *ty, &mut new),
                Stmt::New { ctor: method, .. } | Stmt::Call { method, .. } => self.method(program, *method, &mut new),
                Stmt::GetStatic(field) | Stmt::GetField { field, .. } | Stmt::SetField { field, .. } => self.field(program, *field, &mut new),
                Stmt::Stub(stub) => self.stub(program, stub, &mut new),
                Stmt::Lit(_) | Stmt::Str(_) | Stmt::Data(_) | Stmt::Env(_) | Stmt::ArraySet { .. } | Stmt::ArrayGet { .. } => {}
            }
        }
        new
    }

    /// Types to make ready before any test names them.
    pub fn prepare_all(&mut self, program: &Program, types: &[TypeId]) -> Define {
        let mut new = Define::default();
        types.iter().filter(|t| has_state(program, **t)).for_each(|t| self.prepare(program, *t, &mut new));
        new
    }

    fn ty(&mut self, program: &Program, ty: Ty, new: &mut Define) {
        if let Base::Ref(id) = ty.base
            && self.types.insert(id)
        {
            new.types.push((id, program.type_name(id).to_owned()));
        }
    }

    fn stub(&mut self, program: &Program, stub: &Stub, new: &mut Define) {
        self.ty(program, Ty::reference(stub.ty), new);
        stub.ctor.iter().for_each(|c| self.method(program, *c, new));
        let acts = stub.answers.iter().filter_map(|a| a.act.as_ref());
        acts.for_each(|act| self.method(program, act.method, new));
        if self.stubs.insert(stub.ty) {
            let required = program.abstract_methods(stub.ty);
            required.iter().for_each(|m| self.method(program, *m, new));
            new.stubs.push((stub.ty, required));
        }
    }

    fn prepare(&mut self, program: &Program, owner: TypeId, new: &mut Define) {
        if !program.ty(owner).platform && self.prepared.insert(owner) {
            new.prepare.push(program.type_name(owner).to_owned());
        }
    }

    fn method(&mut self, program: &Program, id: MethodId, new: &mut Define) {
        if !self.methods.insert(id) {
            return;
        }
        let def = program.method(id);
        self.prepare(program, def.owner, new);
        let method = Method {
            owner: program.type_name(def.owner).to_owned(),
            name: program.method_name(id).to_owned(),
            desc: program.method_desc(id).to_owned(),
            is_static: def.kind == MethodKind::Static,
        };
        new.methods.push((id, method));
    }

    fn field(&mut self, program: &Program, id: FieldId, new: &mut Define) {
        if !self.fields.insert(id) {
            return;
        }
        let def = program.field(id);
        self.prepare(program, def.owner, new);
        let field = Field {
            owner: program.type_name(def.owner).to_owned(),
            name: program.field_name(id).to_owned(),
            desc: descriptor(program, def.ty),
            is_static: def.flags.has(Flags::STATIC),
        };
        new.fields.push((id, field));
    }
}

/// Whether initialising a type does anything, or a test may be the first to write its static fields.
fn has_state(program: &Program, ty: TypeId) -> bool {
    let written = |f: FieldId| program.field(f).flags.has(Flags::STATIC) && !program.field(f).flags.has(Flags::FINAL);
    program.methods_of(ty).any(|m| program.method(m).kind == MethodKind::TypeInitializer) || program.fields_of(ty).any(written)
}

/// The JVM's text for a type.
fn descriptor(program: &Program, ty: Ty) -> String {
    let base = match ty.base {
        Base::Void => "V".to_owned(),
        Base::Prim(p) => crate::embed::letter(p).to_string(),
        Base::Ref(id) => format!("L{};", program.type_name(id).replace('.', "/")),
    };
    "[".repeat(usize::from(ty.dims)) + &base
}
