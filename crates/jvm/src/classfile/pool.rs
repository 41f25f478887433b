//! The constant pool: where each constant starts, and decoding of one constant at a time.
//!
//! References between constants are followed when asked, one level each, so cycles in a damaged pool
//! cannot make it loop.

use super::reader::Reader;
use super::{ClassError, JavaStr};

pub(crate) mod tag {
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELD: u8 = 9;
    pub const METHOD: u8 = 10;
    pub const INTERFACE_METHOD: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// The constants of one class.
#[derive(Debug, Clone)]
pub struct Pool<'a> {
    bytes: &'a [u8],
    /// Offset of each constant's tag; 0 for index 0 and the second slot of long and double.
    offsets: Vec<u32>,
}

/// A decoded constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Const<'a> {
    Utf8(JavaStr<'a>),
    Integer(i32),
    Float(f32),
    Long(i64),
    Double(f64),
    /// Internal name, or a descriptor if it starts with `[`.
    Class(JavaStr<'a>),
    String(JavaStr<'a>),
    Field(MemberRef<'a>),
    Method(MemberRef<'a>),
    NameAndType {
        name: JavaStr<'a>,
        descriptor: JavaStr<'a>,
    },
    /// `reference` is the constant index of a field or method.
    MethodHandle {
        kind: u8,
        reference: u16,
    },
    MethodType(JavaStr<'a>),
    /// A value computed by bootstrap method number `bootstrap`.
    Dynamic {
        bootstrap: u16,
        name: JavaStr<'a>,
        descriptor: JavaStr<'a>,
    },
    /// A call site linked by bootstrap method number `bootstrap`.
    InvokeDynamic {
        bootstrap: u16,
        name: JavaStr<'a>,
        descriptor: JavaStr<'a>,
    },
    Module(JavaStr<'a>),
    Package(JavaStr<'a>),
}

/// A field or method of some class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberRef<'a> {
    pub owner: JavaStr<'a>,
    pub name: JavaStr<'a>,
    pub descriptor: JavaStr<'a>,
    /// It was written as `InterfaceMethodref`.
    pub in_interface: bool,
}

impl<'a> Pool<'a> {
    pub(crate) fn parse(r: &mut Reader<'a>) -> Result<Self, ClassError> {
        let count = usize::from(r.u16()?);
        // Each constant takes at least three bytes.
        let mut offsets = Vec::with_capacity(count.min(r.remaining() / 3 + 1));
        offsets.push(0);
        while offsets.len() < count {
            let at = r.position();
            offsets.push(u32::try_from(at).map_err(|_| ClassError::TooLarge("constant pool"))?);
            let tag = r.u8()?;
            r.bytes(constant_length(tag, r).ok_or(ClassError::Malformed { what: "unknown constant tag", at })?)?;
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                offsets.push(0);
            }
        }
        offsets.truncate(count.max(1));
        Ok(Self { bytes: r.whole(), offsets })
    }

    /// `constant_pool_count`: one more than the highest index.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// No constant but the reserved index 0.
    pub fn is_empty(&self) -> bool {
        self.offsets.len() <= 1
    }

    fn reader(&self, index: u16, expected: &'static str) -> Result<(u8, Reader<'a>), ClassError> {
        let at = self.offsets.get(usize::from(index)).copied().filter(|at| *at != 0);
        let at = at.ok_or(ClassError::Constant { index, expected })?;
        let mut r = Reader::at(self.bytes, at as usize);
        Ok((r.u8()?, r))
    }

    fn tagged(&self, index: u16, tag: u8, expected: &'static str) -> Result<Reader<'a>, ClassError> {
        match self.reader(index, expected)? {
            (found, r) if found == tag => Ok(r),
            _ => Err(ClassError::Constant { index, expected }),
        }
    }

    pub fn utf8(&self, index: u16) -> Result<JavaStr<'a>, ClassError> {
        let mut r = self.tagged(index, tag::UTF8, "a string of text")?;
        let length = usize::from(r.u16()?);
        Ok(JavaStr::new(r.bytes(length)?))
    }

    /// Internal name in a class constant; a descriptor for arrays.
    pub fn class_name(&self, index: u16) -> Result<JavaStr<'a>, ClassError> {
        let mut r = self.tagged(index, tag::CLASS, "a class")?;
        self.utf8(r.u16()?)
    }

    /// Name and descriptor.
    pub fn name_and_type(&self, index: u16) -> Result<(JavaStr<'a>, JavaStr<'a>), ClassError> {
        let mut r = self.tagged(index, tag::NAME_AND_TYPE, "a name and type")?;
        Ok((self.utf8(r.u16()?)?, self.utf8(r.u16()?)?))
    }

    /// A field, method, or interface method.
    pub fn member(&self, index: u16) -> Result<MemberRef<'a>, ClassError> {
        match self.get(index)? {
            Const::Field(member) | Const::Method(member) => Ok(member),
            _ => Err(ClassError::Constant { index, expected: "a field or method" }),
        }
    }

    /// Decodes one constant and the text it refers to.
    pub fn get(&self, index: u16) -> Result<Const<'a>, ClassError> {
        let (found, mut r) = self.reader(index, "a constant")?;
        Ok(match found {
            tag::UTF8 => Const::Utf8(self.utf8(index)?),
            tag::INTEGER => Const::Integer(r.i32()?),
            tag::FLOAT => Const::Float(f32::from_bits(r.u32()?)),
            tag::LONG => Const::Long(r.i64()?),
            tag::DOUBLE => Const::Double(f64::from_bits(r.i64()?.cast_unsigned())),
            tag::CLASS => Const::Class(self.utf8(r.u16()?)?),
            tag::STRING => Const::String(self.utf8(r.u16()?)?),
            tag::FIELD => Const::Field(self.member_at(r, false)?),
            tag::METHOD => Const::Method(self.member_at(r, false)?),
            tag::INTERFACE_METHOD => Const::Method(self.member_at(r, true)?),
            tag::NAME_AND_TYPE => {
                let (name, descriptor) = self.name_and_type(index)?;
                Const::NameAndType { name, descriptor }
            }
            tag::METHOD_HANDLE => Const::MethodHandle { kind: r.u8()?, reference: r.u16()? },
            tag::METHOD_TYPE => Const::MethodType(self.utf8(r.u16()?)?),
            tag::DYNAMIC => {
                let (bootstrap, (name, descriptor)) = (r.u16()?, self.name_and_type(r.u16()?)?);
                Const::Dynamic { bootstrap, name, descriptor }
            }
            tag::INVOKE_DYNAMIC => {
                let (bootstrap, (name, descriptor)) = (r.u16()?, self.name_and_type(r.u16()?)?);
                Const::InvokeDynamic { bootstrap, name, descriptor }
            }
            tag::MODULE => Const::Module(self.utf8(r.u16()?)?),
            tag::PACKAGE => Const::Package(self.utf8(r.u16()?)?),
            _ => {
                return Err(ClassError::Constant { index, expected: "a constant" });
            }
        })
    }

    fn member_at(&self, mut r: Reader<'a>, in_interface: bool) -> Result<MemberRef<'a>, ClassError> {
        let owner = self.class_name(r.u16()?)?;
        let (name, descriptor) = self.name_and_type(r.u16()?)?;
        Ok(MemberRef { owner, name, descriptor, in_interface })
    }

    /// The indices that hold a constant.
    pub fn indices(&self) -> impl Iterator<Item = u16> + '_ {
        (0..=u16::MAX).zip(&self.offsets).filter(|(_, at)| **at != 0).map(|(index, _)| index)
    }

    /// The constants that can be decoded, in pool order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, Const<'a>)> + '_ {
        self.indices().filter_map(|index| Some((index, self.get(index).ok()?)))
    }
}

/// Bytes after the tag.
fn constant_length(tag: u8, r: &Reader<'_>) -> Option<usize> {
    Some(match tag {
        tag::UTF8 => 2 + usize::from(r.clone().u16().unwrap_or(0)),
        tag::INTEGER | tag::FLOAT | tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD => 4,
        tag::NAME_AND_TYPE | tag::DYNAMIC | tag::INVOKE_DYNAMIC => 4,
        tag::LONG | tag::DOUBLE => 8,
        tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
        tag::METHOD_HANDLE => 3,
        _ => return None,
    })
}
