//! What javac sees and erased descriptors do not tell: which types and members are generic.
//!
//! Rendered tests use raw types throughout. That is safe except where a member is seen through a type that fixes its type
//! parameters (`class Names extends ArrayList<String>`), or belongs to no raw type at all (static generic methods). This module
//! tells the renderer where. It does not represent generic types: "is this parameter's declared type its erasure?" is enough.

use std::sync::{Arc, Mutex};

use rethrow_core::program::{FieldId, MethodId, Program, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classfile::ClassFile;

/// How a parameter is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Declared {
    /// As its erasure, or with wildcards only: takes what the descriptor says.
    Erased,
    /// A type variable, or an array of one.
    Variable,
    /// With type arguments.
    Parameterised,
}

/// The generic declarations of one type.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TypeGenerics {
    /// It has type parameters.
    pub parameterised: bool,
    /// By name and descriptor; only methods that declare more than their descriptor says.
    methods: FxHashMap<(String, String), Box<[Declared]>>,
    fields: FxHashSet<String>,
    /// The class's own `Signature`, if it has one.
    pub(super) signature: Option<String>,
    /// Those of its methods, by name and descriptor.
    signatures: FxHashMap<(String, String), String>,
    /// Exceptions that methods declare.
    thrown: FxHashMap<(String, String), Box<[String]>>,
    /// Of the class file; 0 if unknown.
    pub(super) version: u16,
}

/// Where generic declarations come from.
pub trait Generics: Send + Sync {
    fn of(&self, program: &Program, id: TypeId) -> Arc<TypeGenerics>;
}

/// Knows of no generic declaration.
pub struct Unknown;

impl Generics for Unknown {
    fn of(&self, _: &Program, _: TypeId) -> Arc<TypeGenerics> {
        Arc::default()
    }
}

/// Reads class files when first asked; `bytes` gives the class file of a run-time name (`java.util.Map$Entry`).
pub struct FromClassFiles<F> {
    bytes: F,
    known: Mutex<FxHashMap<TypeId, Arc<TypeGenerics>>>,
}

impl<F: Fn(&str) -> Option<Vec<u8>> + Send + Sync> FromClassFiles<F> {
    pub fn new(bytes: F) -> Self {
        Self { bytes, known: Mutex::default() }
    }
}

impl<F: Fn(&str) -> Option<Vec<u8>> + Send + Sync> Generics for FromClassFiles<F> {
    fn of(&self, program: &Program, id: TypeId) -> Arc<TypeGenerics> {
        if let Some(known) = self.known.lock().expect("no holder panics").get(&id) {
            return known.clone();
        }
        let read = (self.bytes)(program.type_name(id)).map(|bytes| TypeGenerics::read(&bytes)).unwrap_or_default();
        let read = Arc::new(read);
        self.known.lock().expect("no holder panics").insert(id, read.clone());
        read
    }
}

impl TypeGenerics {
    /// The declarations of a class file; none if it cannot be read.
    pub fn read(bytes: &[u8]) -> TypeGenerics {
        let Ok(class) = ClassFile::parse(bytes) else { return TypeGenerics::default() };
        let mut out = TypeGenerics { parameterised: class.signature().is_some_and(|s| s.as_bytes().starts_with(b"<")), ..TypeGenerics::default() };
        out.signature = class.signature().map(|s| s.to_str_lossy().into_owned());
        out.version = class.major;
        for method in &class.methods {
            let key = || (method.name.to_str_lossy().into_owned(), method.descriptor.to_str_lossy().into_owned());
            let thrown = method.exceptions(&class.pool);
            if !thrown.is_empty() {
                out.thrown.insert(key(), thrown.iter().map(|e| e.to_str_lossy().replace('/', ".")).collect());
            }
            if let Some(signature) = method.signature(&class.pool) {
                out.methods.insert(key(), parameters(signature.as_bytes()).into());
                out.signatures.insert(key(), signature.to_str_lossy().into_owned());
            }
        }
        let generic = class.fields.iter().filter(|f| f.signature(&class.pool).is_some());
        out.fields = generic.map(|f| f.name.to_str_lossy().into_owned()).collect();
        out
    }

    /// How the method declares its parameters; `None` if as its descriptor says.
    pub fn method(&self, program: &Program, method: MethodId) -> Option<&[Declared]> {
        if self.methods.is_empty() {
            return None;
        }
        let key = (program.method_name(method).to_string(), program.method_desc(method).to_string());
        self.methods.get(&key).map(|d| &d[..])
    }

    /// The method's `Signature`, if it has one.
    pub(super) fn signature_of(&self, program: &Program, method: MethodId) -> Option<&str> {
        let key = (program.method_name(method).to_string(), program.method_desc(method).to_string());
        self.signatures.get(&key).map(String::as_str)
    }

    /// The exceptions that the method declares.
    pub(super) fn thrown(&self, program: &Program, method: MethodId) -> &[String] {
        let key = (program.method_name(method).to_string(), program.method_desc(method).to_string());
        self.thrown.get(&key).map_or(&[], |t| t)
    }

    pub fn is_generic_field(&self, program: &Program, field: FieldId) -> bool {
        self.fields.contains(program.field_name(field))
    }
}

/// The parameters of a method's `Signature` attribute. Damage ends the list early, which only costs a cast.
fn parameters(signature: &[u8]) -> Vec<Declared> {
    let Some(open) = after_type_parameters(signature) else { return Vec::new() };
    let mut rest = &signature[open..];
    let mut out = Vec::new();
    while let Some((declared, len)) = parameter(rest) {
        out.push(declared);
        rest = &rest[len..];
    }
    out
}

/// Where the parameter list begins, just after `(`.
fn after_type_parameters(signature: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in signature.iter().enumerate() {
        match c {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b'(' if depth == 0 => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// The first parameter and its length.
fn parameter(rest: &[u8]) -> Option<(Declared, usize)> {
    let dims = rest.iter().take_while(|c| **c == b'[').count();
    let end_of = |from: usize| reference_end(&rest[from..]).map(|n| from + n);
    match rest.get(dims)? {
        b'T' => Some((Declared::Variable, end_of(dims)?)),
        b'L' => {
            let end = end_of(dims)?;
            Some((class_kind(&rest[dims..end]), end))
        }
        b')' => None,
        _ => Some((Declared::Erased, dims + 1)),
    }
}

/// The length of a class or variable, its `;` included.
fn reference_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in text.iter().enumerate() {
        match c {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// `Foo<*>` takes any `Foo`.
fn class_kind(text: &[u8]) -> Declared {
    match text.iter().position(|c| *c == b'<') {
        None => Declared::Erased,
        Some(open) if text[open..].iter().all(|c| b"<*>;".contains(c)) => Declared::Erased,
        Some(_) => Declared::Parameterised,
    }
}

#[cfg(test)]
mod tests {
    use super::Declared::{Erased, Parameterised, Variable};
    use super::*;

    #[test]
    fn parameters_of_signatures() {
        for (signature, expected) in [
            ("<T:Ljava/lang/Object;>(TT;[TT;I)V", vec![Variable, Variable, Erased]),
            ("<T:Ljava/lang/Enum<TT;>;>(Ljava/lang/Class<TT;>;Ljava/lang/String;)TT;", vec![Parameterised, Erased]),
            ("(Ljava/lang/Class<*>;[[JLa/Map<TK;Ljava/util/List<TV;>;>.Entry;)V", vec![Erased, Erased, Parameterised]),
            ("()TT;", vec![]),
            ("(Ljava/util/List<", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(parameters(signature.as_bytes()), expected, "{signature}");
        }
    }
}
