//! Field and method descriptors (`[Ljava/lang/String;`, `(IJ)V`); generic signatures are not read here.

use super::{ClassError, JavaStr};

/// The type without its array dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base<'a> {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    /// Internal name.
    Class(JavaStr<'a>),
}

/// The type of a field, parameter, or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldType<'a> {
    pub dimensions: u8,
    pub base: Base<'a>,
}

impl<'a> FieldType<'a> {
    /// Parses a whole field descriptor.
    pub fn parse(text: JavaStr<'a>) -> Result<Self, ClassError> {
        let bytes = text.as_bytes();
        match field_type(bytes, 0)? {
            (parsed, end) if end == bytes.len() => Ok(parsed),
            (_, at) => Err(ClassError::Malformed { what: "text after a descriptor", at }),
        }
    }

    /// Local or stack slots a value takes: two for long and double, else one.
    pub fn slots(&self) -> u16 {
        if self.dimensions == 0 && matches!(self.base, Base::Long | Base::Double) { 2 } else { 1 }
    }

    pub fn is_reference(&self) -> bool {
        self.dimensions > 0 || matches!(self.base, Base::Class(_))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodDescriptor<'a> {
    pub parameters: Vec<FieldType<'a>>,
    /// `None` is void.
    pub returns: Option<FieldType<'a>>,
}

impl<'a> MethodDescriptor<'a> {
    pub fn parse(text: JavaStr<'a>) -> Result<Self, ClassError> {
        let bytes = text.as_bytes();
        if bytes.first() != Some(&b'(') {
            return Err(ClassError::Malformed { what: "method descriptor without '('", at: 0 });
        }
        let mut parameters = Vec::new();
        let mut at = 1;
        while bytes.get(at) != Some(&b')') {
            let (parameter, end) = field_type(bytes, at)?;
            parameters.push(parameter);
            at = end;
        }
        at += 1;
        if bytes.get(at..) == Some(b"V") {
            return Ok(Self { parameters, returns: None });
        }
        match field_type(bytes, at)? {
            (returns, end) if end == bytes.len() => Ok(Self { parameters, returns: Some(returns) }),
            (_, at) => Err(ClassError::Malformed { what: "text after a descriptor", at }),
        }
    }

    /// Slots of all parameters, without the receiver.
    pub fn parameter_slots(&self) -> u32 {
        self.parameters.iter().map(|p| u32::from(p.slots())).sum()
    }
}

/// The type at `start` and where it ends.
fn field_type(bytes: &[u8], start: usize) -> Result<(FieldType<'_>, usize), ClassError> {
    let malformed = |at| ClassError::Malformed { what: "malformed descriptor", at };
    let mut at = start;
    let mut dimensions = 0u8;
    while bytes.get(at) == Some(&b'[') {
        dimensions = dimensions.checked_add(1).ok_or(malformed(at))?;
        at += 1;
    }
    let base = match bytes.get(at) {
        Some(b'Z') => Base::Boolean,
        Some(b'B') => Base::Byte,
        Some(b'C') => Base::Char,
        Some(b'S') => Base::Short,
        Some(b'I') => Base::Int,
        Some(b'J') => Base::Long,
        Some(b'F') => Base::Float,
        Some(b'D') => Base::Double,
        Some(b'L') => {
            let name = &bytes[at + 1..];
            let length = name.iter().position(|b| *b == b';').filter(|n| *n > 0).ok_or(malformed(at))?;
            at += 1 + length;
            Base::Class(JavaStr::new(&name[..length]))
        }
        _ => return Err(malformed(at)),
    };
    Ok((FieldType { dimensions, base }, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_descriptors_split() {
        let parsed = MethodDescriptor::parse(JavaStr::new(b"(J[[Ljava/lang/String;I)[D")).unwrap();
        assert_eq!(parsed.parameter_slots(), 4);
        assert_eq!(parsed.parameters[1].dimensions, 2);
        assert_eq!(parsed.parameters[1].base, Base::Class(JavaStr::new(b"java/lang/String")));
        assert_eq!(parsed.returns, Some(FieldType { dimensions: 1, base: Base::Double }));
    }

    #[test]
    fn damaged_descriptors_are_refused() {
        for text in ["", "(", "()", "(V)V", "()VV", "(L;)V", "(Ljava", "I", "([)V"] {
            assert!(MethodDescriptor::parse(JavaStr::new(text.as_bytes())).is_err(), "{text}");
        }
        for text in ["", "[", "II", "V", "L", "Q"] {
            assert!(FieldType::parse(JavaStr::new(text.as_bytes())).is_err(), "{text}");
        }
    }
}
