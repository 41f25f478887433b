//! Which names the workers have to be told before they can run a batch: each type, method and field once, and which modules to import beforehand,
//! because tests name their members.

use rethrow_core::program::{Base, FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};
use rethrow_core::testcase::{Stmt, TestCase};
use rethrow_worker::protocol::{Define, Field, Method};
use rustc_hash::FxHashSet;

/// See the module documentation.
#[derive(Default)]
pub struct Named {
    types: FxHashSet<TypeId>,
    methods: FxHashSet<MethodId>,
    fields: FxHashSet<FieldId>,
    modules: FxHashSet<String>,
}

/// The module of a type: `yaml.scanner` for `yaml.scanner:Scanner`.
pub fn module_of(type_name: &str) -> &str {
    type_name.split_once(':').map_or(type_name, |(module, _)| module)
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
                Stmt::Lit(_) | Stmt::Str(_) | Stmt::Data(_) | Stmt::Stub(_) | Stmt::Env(_) | Stmt::ArraySet { .. } | Stmt::ArrayGet { .. } => {}
            }
        }
        new
    }

    fn ty(&mut self, program: &Program, ty: Ty, new: &mut Define) {
        if let Base::Ref(id) = ty.base
            && self.types.insert(id)
        {
            self.prepare(program, id, new);
            new.types.push((id, program.type_name(id).to_owned()));
        }
    }

    fn prepare(&mut self, program: &Program, owner: TypeId, new: &mut Define) {
        let module = module_of(program.type_name(owner));
        if module != "builtins" && self.modules.insert(module.to_owned()) {
            new.prepare.push(module.to_owned());
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
            is_static: def.kind != MethodKind::Instance,
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
            desc: String::new(),
            is_static: def.flags.has(Flags::STATIC),
        };
        new.fields.push((id, field));
    }
}
