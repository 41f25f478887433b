//! What the JVM calls things: classes of the program are initialised before tests use their members.

use rethrow_core::program::{Base, FieldId, Flags, MethodKind, Program, Ty, TypeId};
use rethrow_worker::names::Naming;

/// See the module documentation.
pub struct JvmNaming;

impl Naming for JvmNaming {
    const TYPES_ARE_USES: bool = false;

    fn unit(program: &Program, owner: TypeId) -> Option<String> {
        (!program.ty(owner).platform).then(|| program.type_name(owner).to_owned())
    }

    fn is_static(kind: MethodKind) -> bool {
        kind == MethodKind::Static
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
}

/// Whether initialising a type does anything, or a test may be the first to write its static fields.
pub fn has_state(program: &Program, ty: TypeId) -> bool {
    let written = |f: FieldId| program.field(f).flags.has(Flags::STATIC) && !program.field(f).flags.has(Flags::FINAL);
    program.methods_of(ty).any(|m| program.method(m).kind == MethodKind::TypeInitializer) || program.fields_of(ty).any(written)
}
