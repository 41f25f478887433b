//! What Java lets a test in a given package name, call, read and write.
//!
//! Public members everywhere, package-private and protected ones from the same package, private and synthetic ones never; a type
//! only if all that enclose it can be named too. Platform types that no module exports are private by the time they get here.
//! Subclassing to reach a protected member, and reflection, are deliberately not considered.

use rethrow_core::program::{Access, Base, FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};

/// Nesting deeper than this is damage, not Java.
const MAX_NESTING: usize = 64;
/// How many subtypes are tried as another way to a member of a type that cannot be named.
const MAX_SUBTYPES: usize = 200;

/// Reserved words, literals, and the words that may not name a type.
const RESERVED: [&str; 59] = [
    "_",
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "permits",
    "private",
    "protected",
    "public",
    "record",
    "return",
    "sealed",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "var",
    "void",
    "volatile",
    "while",
    "yield",
];
/// Those of [`RESERVED`] that may still name methods, fields and packages.
const CONTEXTUAL: [&str; 5] = ["permits", "record", "sealed", "var", "yield"];

/// Whether source code in package `from` can write the type.
pub fn nameable(program: &Program, ty: Ty, from: &str) -> bool {
    match ty.base {
        Base::Void => ty.dims == 0,
        Base::Prim(_) => true,
        Base::Ref(id) => type_nameable(program, id, from),
    }
}

/// The same for a class or interface.
pub fn type_nameable(program: &Program, id: TypeId, from: &str) -> bool {
    let mut id = id;
    for _ in 0..MAX_NESTING {
        let def = program.ty(id);
        let hidden = def.missing || def.flags.has(Flags::UNNAMEABLE) || def.flags.has(Flags::SYNTHETIC);
        if hidden || !visible(def.access, program.package(id), from) || !simple_name(program, id).is_some_and(is_type_identifier) {
            return false;
        }
        match def.outer {
            Some(outer) => id = outer,
            None => return package_nameable(program.package(id), from),
        }
    }
    false
}

/// Whether a test in package `from` can call the method, given a receiver of a type that it can name.
pub fn callable(program: &Program, method: MethodId, from: &str) -> bool {
    let def = program.method(method);
    if !member_visible(program, method, from) {
        return false;
    }
    match def.kind {
        MethodKind::TypeInitializer => false,
        MethodKind::Constructor => instantiable(program, def.owner) && type_nameable(program, def.owner, from),
        MethodKind::Static => static_owner(program, method, from).is_some(),
        MethodKind::Instance => nameable_at_or_below(program, def.owner, from).is_some() || declaration(program, method, from).is_some(),
    }
}

/// Whether a test in package `from` can read the field.
pub fn readable(program: &Program, field: FieldId, from: &str) -> bool {
    let def = program.field(field);
    let named = is_member_identifier(program.field_name(field)) && !def.flags.has(Flags::SYNTHETIC);
    named && visible(def.access, program.package(def.owner), from) && field_owner(program, field, from).is_some()
}

/// Whether it can also assign to it.
pub fn writable(program: &Program, field: FieldId, from: &str) -> bool {
    !program.field(field).flags.has(Flags::FINAL) && readable(program, field, from)
}

/// The last part of a type's name as source code writes it, whether or not that can be written.
pub fn simple_name(program: &Program, id: TypeId) -> Option<&str> {
    let (name, def) = (program.type_name(id), program.ty(id));
    match def.outer {
        Some(outer) => name.strip_prefix(program.type_name(outer))?.strip_prefix('$'),
        None => match program.package(id) {
            "" => Some(name),
            package => name.strip_prefix(package)?.strip_prefix('.'),
        },
    }
}

/// The type that no other encloses.
pub fn outermost(program: &Program, id: TypeId) -> TypeId {
    let mut id = id;
    for _ in 0..MAX_NESTING {
        match program.ty(id).outer {
            Some(outer) => id = outer,
            None => break,
        }
    }
    id
}

/// A non-static nested class, whose constructors take the enclosing instance first.
pub fn is_inner(program: &Program, id: TypeId) -> bool {
    let def = program.ty(id);
    let implicit_static = Flags::INTERFACE.0 | Flags::ENUM.0 | Flags::STATIC.0;
    def.outer.is_some_and(|outer| !program.ty(outer).flags.has(Flags::INTERFACE)) && def.flags.0 & implicit_static == 0
}

/// Whether the name can stand for a method or field after a dot.
pub fn is_member_identifier(name: &str) -> bool {
    is_word(name) && (!is_reserved(name) || CONTEXTUAL.contains(&name))
}

/// Whether the name can stand for a type or a local variable.
pub fn is_type_identifier(name: &str) -> bool {
    is_word(name) && !is_reserved(name)
}

/// Whether two types are equal as parameters: the same erased list.
pub fn same_params(program: &Program, a: MethodId, b: MethodId) -> bool {
    program.signature(a).params == program.signature(b).params
}

/// Whether the member itself, its type aside, can be used from package `from`.
pub fn member_visible(program: &Program, method: MethodId, from: &str) -> bool {
    let def = program.method(method);
    let generated = def.flags.has(Flags::SYNTHETIC) || def.flags.has(Flags::BRIDGE);
    let named = def.kind == MethodKind::Constructor || is_member_identifier(program.method_name(method));
    !generated && named && visible(def.access, program.package(def.owner), from)
}

/// The type through whose name a static method is called: its own, or a subclass that can be named and inherits it.
pub(super) fn static_owner(program: &Program, method: MethodId, from: &str) -> Option<TypeId> {
    let owner = program.method(method).owner;
    if program.ty(owner).flags.has(Flags::INTERFACE) {
        return type_nameable(program, owner, from).then_some(owner);
    }
    nameable_at_or_below(program, owner, from)
}

/// The type through whose name a static field is read: its own, or a subtype that can be named.
pub(super) fn field_owner(program: &Program, field: FieldId, from: &str) -> Option<TypeId> {
    nameable_at_or_below(program, program.field(field).owner, from)
}

/// A declaration that `method` implements or overrides, in a type that can be named: another way to the same code.
pub(super) fn declaration(program: &Program, method: MethodId, from: &str) -> Option<MethodId> {
    let name = program.method_name(method);
    let named = program.supertypes(program.method(method).owner).into_iter().filter(|t| type_nameable(program, *t, from));
    let mut found = named.flat_map(|t| program.methods_named(t, name).collect::<Vec<_>>());
    found.find(|m| program.method(*m).kind == MethodKind::Instance && same_params(program, *m, method) && member_visible(program, *m, from))
}

fn nameable_at_or_below(program: &Program, owner: TypeId, from: &str) -> Option<TypeId> {
    if type_nameable(program, owner, from) {
        return Some(owner);
    }
    program.subtypes(owner, MAX_SUBTYPES).into_iter().find(|t| type_nameable(program, *t, from))
}

fn instantiable(program: &Program, id: TypeId) -> bool {
    let flags = program.ty(id).flags;
    !flags.has(Flags::ABSTRACT) && !flags.has(Flags::INTERFACE) && !flags.has(Flags::ENUM)
}

fn visible(access: Access, package: &str, from: &str) -> bool {
    match access {
        Access::Public => true,
        Access::Package | Access::Protected => package == from,
        Access::Private => false,
    }
}

/// Types of the unnamed package can only be named from within.
fn package_nameable(package: &str, from: &str) -> bool {
    if package.is_empty() { from.is_empty() } else { package.split('.').all(is_member_identifier) }
}

fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = |c: char| c == '_' || c == '$' || c.is_alphabetic();
    chars.next().is_some_and(starts) && chars.all(|c| starts(c) || c.is_alphanumeric())
}

fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn identifiers() {
        for (name, member, ty) in
            [("a1", true, true), ("1a", false, false), ("class", false, false), ("yield", true, false), ("a-b", false, false), ("", false, false)]
        {
            assert_eq!((is_member_identifier(name), is_type_identifier(name)), (member, ty), "{name}");
        }
        assert!(is_type_identifier("Größe") && is_type_identifier("$x"));
    }
}
