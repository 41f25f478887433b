//! Kinds of values as the JVM distinguishes them, read from descriptors. Total; knows nothing of references beyond their class name.

use rethrow_core::program::Prim;

pub use crate::signature::prim;

/// The kind of a parameter, result, field or array element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Void,
    Prim(Prim),
    /// The name as `Class.forName` takes it: `java.lang.String`, `[I`, `[Ljava.lang.String;`.
    Ref(String),
}

/// Parameters and result of a method descriptor.
pub fn method(desc: &str) -> Option<(Vec<Kind>, Kind)> {
    let mut rest = desc.strip_prefix('(')?;
    let mut params = Vec::new();
    while !rest.starts_with(')') {
        let (kind, after) = next(rest)?;
        params.push(kind);
        rest = after;
    }
    match next(&rest[1..])? {
        (result, "") => Some((params, result)),
        _ => None,
    }
}

/// A field descriptor.
pub fn field(desc: &str) -> Option<Kind> {
    match next(desc)? {
        (Kind::Void, _) => None,
        (kind, "") => Some(kind),
        _ => None,
    }
}

/// The element kind of an array class, given its run-time name (`[I`, `[[J`, `[Ljava.lang.String;`).
pub fn element(class_name: &str) -> Option<Kind> {
    let element = class_name.strip_prefix('[')?;
    if element.starts_with('[') {
        return Some(Kind::Ref(element.to_owned()));
    }
    field(element)
}

/// The descriptor of a kind.
pub fn text(kind: &Kind) -> String {
    match kind {
        Kind::Void => "V".to_owned(),
        Kind::Prim(p) => letter(*p).to_string(),
        Kind::Ref(name) if name.starts_with('[') => name.replace('.', "/"),
        Kind::Ref(name) => format!("L{};", name.replace('.', "/")),
    }
}

pub fn letter(prim: Prim) -> char {
    match prim {
        Prim::Bool => 'Z',
        Prim::Byte => 'B',
        Prim::Char => 'C',
        Prim::Short => 'S',
        Prim::Int => 'I',
        Prim::Long => 'J',
        Prim::Float => 'F',
        Prim::Double => 'D',
    }
}

fn next(desc: &str) -> Option<(Kind, &str)> {
    let dims = desc.bytes().take_while(|b| *b == b'[').count();
    let first = *desc.as_bytes().get(dims)?;
    let end = match first {
        b'L' => desc.find(';')? + 1,
        _ => dims + 1,
    };
    let (text, rest) = (desc.get(..end)?, desc.get(end..)?);
    let kind = match (first, dims) {
        (b'V', 0) => Kind::Void,
        (b'L', 0) => Kind::Ref(text[1..end - 1].replace('/', ".")),
        (b'L', _) => Kind::Ref(text.replace('/', ".")),
        (p, 0) => Kind::Prim(prim(p)?),
        (p, _) => prim(p).map(|_| Kind::Ref(text.to_owned()))?,
    };
    Some((kind, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_a_method() {
        let (params, result) = method("(I[[JLa/B;[La/C;Z)Ljava/lang/String;").unwrap();
        let class = |n: &str| Kind::Ref(n.into());
        assert_eq!(params, [Kind::Prim(Prim::Int), class("[[J"), class("a.B"), class("[La.C;"), Kind::Prim(Prim::Bool)]);
        assert_eq!(result, class("java.lang.String"));
        assert_eq!(method("()V").unwrap(), (vec![], Kind::Void));
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        for bad in ["", "(", "()", "(I", "(Q)V", "()VV", "([)V", "(La/b)V", "([V)V", ")V", "(é)V", "(I)é"] {
            assert_eq!(method(bad), None, "{bad}");
        }
        for bad in ["", "V", "II", "[", "L", "La"] {
            assert_eq!(field(bad), None, "{bad}");
        }
    }

    #[test]
    fn elements_of_arrays() {
        assert_eq!(element("[I"), Some(Kind::Prim(Prim::Int)));
        assert_eq!(element("[[I"), Some(Kind::Ref("[I".into())));
        assert_eq!(element("[La.B;"), Some(Kind::Ref("a.B".into())));
        assert_eq!(element("a.B"), None);
    }
}
