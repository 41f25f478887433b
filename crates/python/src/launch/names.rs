//! What Python calls things: modules are imported before tests use what is in them.

use rethrow_core::program::{MethodKind, Program, Ty, TypeId};
use rethrow_worker::names::Naming;

use crate::pytest::names::module_of;

/// See the module documentation.
pub struct PyNaming;

impl Naming for PyNaming {
    const TYPES_ARE_USES: bool = true;

    fn unit(program: &Program, owner: TypeId) -> Option<String> {
        let module = module_of(program.type_name(owner));
        (module != "builtins").then(|| module.to_owned())
    }

    fn is_static(kind: MethodKind) -> bool {
        kind != MethodKind::Instance
    }

    /// Nothing declares a type.
    fn descriptor(_: &Program, _: Ty) -> String {
        String::new()
    }
}
