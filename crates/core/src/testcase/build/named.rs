//! Values that a test can name where types are not declared: objects that modules make when they are imported, functions.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{FieldId, Flags, MethodId, Program, TypeId};

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Named {
    objects: FxHashMap<TypeId, Vec<FieldId>>,
    /// Objects of the trace's modules whose class nobody tells.
    pub loose: Vec<FieldId>,
    /// Functions of the trace's modules.
    pub functions: Vec<FieldId>,
    /// Those of the trace itself.
    pub on_trace: Vec<FieldId>,
}

impl Named {
    pub fn new(program: &Program, trace_types: &[TypeId]) -> Named {
        let mut named = Named::default();
        let object = program.well_known().object;
        let modules: FxHashSet<TypeId> = trace_types.iter().filter_map(|t| program.find_type(program.package(*t))).collect();
        for owner in program.types().filter(|t| !program.ty(*t).platform) {
            for f in program.fields_of(owner) {
                let def = program.field(f);
                if !def.flags.has(Flags::STATIC) || !def.flags.has(Flags::FINAL) {
                    continue;
                }
                match def.ty.as_ref().filter(|_| def.ty != object) {
                    Some(ty) if ty != owner => named.objects.entry(ty).or_default().push(f),
                    Some(_) => {}
                    None if !modules.contains(&owner) => {}
                    None if program.methods_named(owner, program.field_name(f)).next().is_some() => named.functions.push(f),
                    None => named.loose.push(f),
                }
            }
        }
        named
    }

    /// Tells which functions are on the trace.
    pub fn know_trace(&mut self, program: &Program, methods: &[MethodId]) {
        let is = |f: &FieldId| methods.iter().any(|m| program.method(*m).owner == program.field(*f).owner && program.method_name(*m) == program.field_name(*f));
        self.on_trace = self.functions.iter().copied().filter(is).collect();
    }

    /// Objects of exactly that class.
    pub fn of(&self, ty: TypeId) -> impl Iterator<Item = FieldId> {
        self.objects.get(&ty).into_iter().flatten().copied()
    }
}
