//! What the numbers of a test mean in this JVM: classes, methods and fields, looked up when first used.
//!
//! A lookup may run a class's initialiser, as the use of a member in Java does; so it happens while the statement that needs it executes, and what
//! the initialiser throws is what the statement throws.

use jvmti_bindings::sys::jni::{jfieldID, jmethodID, jthrowable};
use rethrow_core::program::{Base, FieldId, MethodId, Ty, TypeId};
use rethrow_worker::protocol::{self, Define};
use rustc_hash::FxHashMap;

use super::classes::Classes;
use super::descriptor::{self, Kind};
use super::vm::{Env, Global, c_string, jni};

/// Why a member cannot be used.
pub enum Unusable {
    /// It does not exist, or not as described.
    Invalid(String),
    /// Initialising its class failed.
    Thrown(jthrowable),
}

/// A parameter as it is checked.
#[derive(Clone)]
pub enum Param {
    Prim(rethrow_core::program::Prim),
    /// Anything but a primitive may be passed.
    Object,
    Ref(String, Option<Global>),
}

/// A method ready to be called.
pub struct MethodEntry {
    pub class: Global,
    pub id: jmethodID,
    pub params: Vec<Param>,
    pub result: Kind,
    pub is_static: bool,
}

/// A field ready to be used.
pub struct FieldEntry {
    pub class: Global,
    pub id: jfieldID,
    pub kind: Kind,
    pub is_static: bool,
}

/// See the module documentation.
#[derive(Default)]
pub struct Members {
    types: FxHashMap<TypeId, String>,
    methods: FxHashMap<MethodId, protocol::Method>,
    fields: FxHashMap<FieldId, protocol::Field>,
    stubs: FxHashMap<TypeId, Vec<MethodId>>,
    /// By number: every call of every test asks.
    ready_methods: Vec<Option<std::rc::Rc<MethodEntry>>>,
    ready_fields: FxHashMap<FieldId, std::rc::Rc<FieldEntry>>,
    ready_types: FxHashMap<Ty, Global>,
}

impl Members {
    pub fn define(&mut self, define: Define) {
        self.types.extend(define.types);
        self.methods.extend(define.methods);
        self.fields.extend(define.fields);
        self.stubs.extend(define.stubs);
    }

    /// The method as it was named, not looked up.
    pub fn named_method(&self, id: MethodId) -> Result<&protocol::Method, String> {
        self.methods.get(&id).ok_or_else(|| format!("{id:?} was never defined"))
    }

    /// The methods that a stub of the type has to define.
    pub fn stub_methods(&self, ty: TypeId) -> Result<&[MethodId], String> {
        self.stubs.get(&ty).map(|m| &m[..]).ok_or_else(|| format!("{ty:?} was never named as a stub"))
    }

    /// The name of a type as `Class.forName` takes it; `None` for primitives, `void` and numbers never defined.
    pub fn type_name(&self, ty: Ty) -> Option<String> {
        let dims = "[".repeat(usize::from(ty.dims));
        match ty.base {
            Base::Ref(id) if ty.dims == 0 => self.types.get(&id).cloned(),
            Base::Ref(id) => self.types.get(&id).map(|name| format!("{dims}L{name};")),
            Base::Prim(p) if ty.dims > 0 => Some(format!("{dims}{}", descriptor::letter(p))),
            Base::Prim(_) | Base::Void => None,
        }
    }

    /// The class of a reference type.
    pub fn class(&mut self, env: Env, classes: &mut Classes, ty: Ty) -> Result<Global, String> {
        if let Some(known) = self.ready_types.get(&ty) {
            return Ok(*known);
        }
        let name = self.type_name(ty).ok_or_else(|| format!("{ty:?} is not a known reference type"))?;
        let class = classes.find(env, &name)?;
        self.ready_types.insert(ty, class);
        Ok(class)
    }

    pub fn method(&mut self, env: Env, classes: &mut Classes, id: MethodId) -> Result<std::rc::Rc<MethodEntry>, Unusable> {
        let place = id.0 as usize;
        if let Some(Some(ready)) = self.ready_methods.get(place) {
            return Ok(ready.clone());
        }
        let def = self.methods.get(&id).ok_or_else(|| Unusable::Invalid(format!("{id:?} was never defined")))?;
        let (params, result) = descriptor::method(&def.desc).ok_or_else(|| Unusable::Invalid(format!("bad descriptor {}", def.desc)))?;
        let class = classes.find(env, &def.owner).map_err(Unusable::Invalid)?;
        let (name, desc) = (c_string(&def.name), c_string(&def.desc));
        let method = if def.is_static {
            jni!(env, GetStaticMethodID, class.0, name.as_ptr(), desc.as_ptr())
        } else {
            jni!(env, GetMethodID, class.0, name.as_ptr(), desc.as_ptr())
        };
        lookup_failed(env, classes, || format!("method {}.{}{}", def.owner, def.name, def.desc))?;
        let params = params.into_iter().map(|kind| param(env, classes, kind)).collect();
        let entry = std::rc::Rc::new(MethodEntry { class, id: method, params, result, is_static: def.is_static });
        if self.ready_methods.len() <= place {
            self.ready_methods.resize(place + 1, None);
        }
        self.ready_methods[place] = Some(entry.clone());
        Ok(entry)
    }

    pub fn field(&mut self, env: Env, classes: &mut Classes, id: FieldId) -> Result<std::rc::Rc<FieldEntry>, Unusable> {
        if let Some(ready) = self.ready_fields.get(&id) {
            return Ok(ready.clone());
        }
        let def = self.fields.get(&id).ok_or_else(|| Unusable::Invalid(format!("{id:?} was never defined")))?;
        let kind = descriptor::field(&def.desc).ok_or_else(|| Unusable::Invalid(format!("bad descriptor {}", def.desc)))?;
        let class = classes.find(env, &def.owner).map_err(Unusable::Invalid)?;
        let (name, desc) = (c_string(&def.name), c_string(&def.desc));
        let field = if def.is_static {
            jni!(env, GetStaticFieldID, class.0, name.as_ptr(), desc.as_ptr())
        } else {
            jni!(env, GetFieldID, class.0, name.as_ptr(), desc.as_ptr())
        };
        lookup_failed(env, classes, || format!("field {}.{}", def.owner, def.name))?;
        let entry = std::rc::Rc::new(FieldEntry { class, id: field, kind, is_static: def.is_static });
        self.ready_fields.insert(id, entry.clone());
        Ok(entry)
    }
}

/// Tells a member that does not exist from an initialiser that failed.
fn lookup_failed(env: Env, classes: &mut Classes, what: impl Fn() -> String) -> Result<(), Unusable> {
    let Some(thrown) = env.take_exception() else { return Ok(()) };
    match &*classes.of(env, thrown).name {
        "java.lang.NoSuchMethodError" | "java.lang.NoSuchFieldError" => Err(Unusable::Invalid(format!("no {}", what()))),
        _ => Err(Unusable::Thrown(thrown)),
    }
}

pub(super) fn param(env: Env, classes: &mut Classes, kind: Kind) -> Param {
    match kind {
        Kind::Prim(p) => Param::Prim(p),
        Kind::Ref(name) if name == "java.lang.Object" => Param::Object,
        // A class that cannot be loaded has no instances: only null passes.
        Kind::Ref(name) => {
            let class = classes.find(env, &name).ok();
            Param::Ref(name, class)
        }
        Kind::Void => Param::Ref("void".to_owned(), None),
    }
}
