//! A total, zero-copy reader of class files (versions 45 to 69, newer ones tolerated).
//!
//! [`ClassFile::parse`] walks the file once and checks that every length fits; it decodes nothing but
//! names of members, so that the 27,000 headers of a JDK image cost a fraction of a second. Everything else
//! (constants, attributes, code) is decoded when asked for, and each question answers with a
//! [`ClassError`] when the bytes do not hold what they should. Nothing here panics, recurses, or
//! allocates more than a small multiple of the input.
//!
//! It does not verify: types, flags, and references between constants are checked only where an answer
//! needs them. It does not write; see [`crate::instrument`].

pub mod code;
pub mod descriptor;
pub mod insn;
mod java_str;
mod pool;
pub(crate) mod reader;

pub use code::Code;
pub use descriptor::{Base, FieldType, MethodDescriptor};
pub use insn::{Insn, Instructions, Op};
pub use java_str::JavaStr;
pub use pool::{Const, MemberRef, Pool};

use reader::Reader;

/// Access flags, as in table 4.1-B, 4.5-A and 4.6-A of the JVM specification.
pub mod access {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const SUPER: u16 = 0x0020;
    pub const BRIDGE: u16 = 0x0040;
    pub const VOLATILE: u16 = 0x0040;
    pub const VARARGS: u16 = 0x0080;
    pub const TRANSIENT: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const STRICT: u16 = 0x0800;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// Why bytes are not the class file, constant, attribute, or instruction they were read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClassError {
    #[error("not a class file (wrong magic number)")]
    Magic,
    #[error("class file version {0} is older than 45")]
    Version(u16),
    #[error("class file ends early at byte {at}")]
    Truncated { at: usize },
    #[error("{what} at byte {at}")]
    Malformed { what: &'static str, at: usize },
    #[error("constant {index} is not {expected}")]
    Constant { index: u16, expected: &'static str },
    #[error("code at pc {pc}: {what}")]
    Code { pc: u32, what: &'static str },
    #[error("{0} does not fit into a class file")]
    TooLarge(&'static str),
}

/// One class file; borrows the bytes it was parsed from.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    pub minor: u16,
    pub major: u16,
    pub pool: Pool<'a>,
    pub access: u16,
    pub fields: Vec<Member<'a>>,
    pub methods: Vec<Member<'a>>,
    this_class: u16,
    super_class: u16,
    interfaces: &'a [u8],
    attributes: Attributes<'a>,
    layout: Layout,
}

/// Byte offsets of the parts of the file, which the editor splices between.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// First byte after the constant pool (the access flags).
    pub pool_end: usize,
    /// The `methods_count` field.
    pub methods: usize,
    /// First byte after the last method (the class attributes).
    pub methods_end: usize,
}

impl<'a> ClassFile<'a> {
    /// Reads the structure of a class file. Bytes after the last attribute are ignored.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ClassError> {
        let mut r = Reader::new(bytes);
        if r.u32()? != 0xCAFE_BABE {
            return Err(ClassError::Magic);
        }
        let (minor, major) = (r.u16()?, r.u16()?);
        if major < 45 {
            return Err(ClassError::Version(major));
        }
        let pool = Pool::parse(&mut r)?;
        let pool_end = r.position();
        let (access, this_class, super_class) = (r.u16()?, r.u16()?, r.u16()?);
        let interface_count = usize::from(r.u16()?);
        let interfaces = r.bytes(interface_count * 2)?;
        let fields = members(&mut r, &pool)?;
        let methods_at = r.position();
        let methods = members(&mut r, &pool)?;
        let methods_end = r.position();
        let attributes = Attributes::skip(&mut r)?;
        pool.class_name(this_class)?;
        let layout = Layout { pool_end, methods: methods_at, methods_end };
        Ok(Self { minor, major, pool, access, fields, methods, this_class, super_class, interfaces, attributes, layout })
    }

    /// Internal name (`java/lang/String`) of the class itself.
    pub fn name(&self) -> JavaStr<'a> {
        self.pool.class_name(self.this_class).expect("parse() checked this constant")
    }

    /// Internal name of the superclass; `None` for `java/lang/Object` and modules.
    pub fn super_name(&self) -> Result<Option<JavaStr<'a>>, ClassError> {
        (self.super_class != 0).then(|| self.pool.class_name(self.super_class)).transpose()
    }

    /// Internal names of the direct superinterfaces, in file order.
    pub fn interfaces(&self) -> impl Iterator<Item = Result<JavaStr<'a>, ClassError>> + '_ {
        u16s(self.interfaces).map(|i| self.pool.class_name(i))
    }

    pub fn is_interface(&self) -> bool {
        self.access & access::INTERFACE != 0
    }

    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        self.attributes.find(&self.pool, name)
    }

    pub fn source_file(&self) -> Option<JavaStr<'a>> {
        self.pool.utf8(Reader::new(self.attribute("SourceFile")?).u16().ok()?).ok()
    }

    pub fn signature(&self) -> Option<JavaStr<'a>> {
        self.attributes.signature(&self.pool)
    }

    pub fn is_deprecated(&self) -> bool {
        self.attribute("Deprecated").is_some()
    }

    pub fn is_synthetic(&self) -> bool {
        self.access & access::SYNTHETIC != 0 || self.attribute("Synthetic").is_some()
    }

    pub fn nest_host(&self) -> Option<JavaStr<'a>> {
        self.pool.class_name(Reader::new(self.attribute("NestHost")?).u16().ok()?).ok()
    }

    /// The `InnerClasses` rows that can be decoded.
    pub fn inner_classes(&self) -> Vec<InnerClass<'a>> {
        let mut rows = Vec::new();
        let Some(mut r) = self.attribute("InnerClasses").map(Reader::new) else {
            return rows;
        };
        for _ in 0..r.u16().unwrap_or(0) {
            let (Ok(inner), Ok(outer), Ok(name), Ok(access)) = (r.u16(), r.u16(), r.u16(), r.u16()) else {
                break;
            };
            let Ok(inner) = self.pool.class_name(inner) else {
                continue;
            };
            rows.push(InnerClass { inner, outer: self.pool.class_name(outer).ok(), name: self.pool.utf8(name).ok(), access });
        }
        rows
    }

    /// This class's own row of `InnerClasses`, which holds its real access flags; `None` for top-level classes.
    pub fn own_inner_class(&self) -> Option<InnerClass<'a>> {
        let name = self.name();
        self.inner_classes().into_iter().find(|row| row.inner == name)
    }

    /// The class, and the method's name and descriptor if any, around a local or anonymous class.
    pub fn enclosing_method(&self) -> Option<EnclosingMethod<'a>> {
        let mut r = Reader::new(self.attribute("EnclosingMethod")?);
        let (class, method) = (r.u16().ok()?, r.u16().ok()?);
        Some(EnclosingMethod { class: self.pool.class_name(class).ok()?, method: self.pool.name_and_type(method).ok() })
    }

    pub fn bootstrap_methods(&self) -> Vec<BootstrapMethod<'a>> {
        let mut rows = Vec::new();
        let Some(mut r) = self.attribute("BootstrapMethods").map(Reader::new) else {
            return rows;
        };
        for _ in 0..r.u16().unwrap_or(0) {
            let (Ok(handle), Ok(count)) = (r.u16(), r.u16()) else {
                break;
            };
            let Ok(arguments) = r.bytes(usize::from(count) * 2) else {
                break;
            };
            rows.push(BootstrapMethod { handle, arguments });
        }
        rows
    }

    /// The components of a record class; `None` if this is no record.
    pub fn record(&self) -> Option<Vec<RecordComponent<'a>>> {
        let mut r = Reader::new(self.attribute("Record")?);
        let mut components = Vec::new();
        for _ in 0..r.u16().ok()? {
            let (name, descriptor) = (self.pool.utf8(r.u16().ok()?).ok()?, self.pool.utf8(r.u16().ok()?).ok()?);
            let attributes = Attributes::skip(&mut r).ok()?;
            components.push(RecordComponent { name, descriptor, signature: attributes.signature(&self.pool) });
        }
        Some(components)
    }

    /// Internal names of the permitted direct subtypes of a sealed class; `None` if it is not sealed.
    pub fn permitted_subclasses(&self) -> Option<Vec<JavaStr<'a>>> {
        self.attributes.class_list(&self.pool, "PermittedSubclasses")
    }
}

#[derive(Debug, Clone, Copy)]
pub struct InnerClass<'a> {
    pub inner: JavaStr<'a>,
    pub outer: Option<JavaStr<'a>>,
    /// `None` for anonymous classes.
    pub name: Option<JavaStr<'a>>,
    pub access: u16,
}

#[derive(Debug, Clone, Copy)]
pub struct EnclosingMethod<'a> {
    pub class: JavaStr<'a>,
    pub method: Option<(JavaStr<'a>, JavaStr<'a>)>,
}

#[derive(Debug, Clone, Copy)]
pub struct BootstrapMethod<'a> {
    /// Constant index of a `MethodHandle`.
    pub handle: u16,
    arguments: &'a [u8],
}

impl<'a> BootstrapMethod<'a> {
    /// Constant indices of the static arguments.
    pub fn arguments(&self) -> impl Iterator<Item = u16> + 'a {
        u16s(self.arguments)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct RecordComponent<'a> {
    pub name: JavaStr<'a>,
    pub descriptor: JavaStr<'a>,
    pub signature: Option<JavaStr<'a>>,
}

/// A field or a method.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    pub access: u16,
    pub name: JavaStr<'a>,
    pub descriptor: JavaStr<'a>,
    attributes: Attributes<'a>,
}

impl<'a> Member<'a> {
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes
    }

    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    /// Contents of the `Code` attribute, undecoded; `None` for abstract and native methods.
    pub fn code_bytes(&self, pool: &Pool<'a>) -> Option<&'a [u8]> {
        self.attributes.find(pool, "Code")
    }

    /// The decoded `Code` attribute; `None` for abstract and native methods.
    pub fn code(&self, pool: &Pool<'a>) -> Option<Result<Code<'a>, ClassError>> {
        self.code_bytes(pool).map(|bytes| Code::parse(bytes, pool))
    }

    /// The constant of a `static final` field with `ConstantValue`.
    pub fn constant_value(&self, pool: &Pool<'a>) -> Option<Const<'a>> {
        pool.get(Reader::new(self.attributes.find(pool, "ConstantValue")?).u16().ok()?).ok()
    }

    /// Internal names in the `throws` clause; empty if there is none.
    pub fn exceptions(&self, pool: &Pool<'a>) -> Vec<JavaStr<'a>> {
        self.attributes.class_list(pool, "Exceptions").unwrap_or_default()
    }

    pub fn signature(&self, pool: &Pool<'a>) -> Option<JavaStr<'a>> {
        self.attributes.signature(pool)
    }

    pub fn is_deprecated(&self, pool: &Pool<'a>) -> bool {
        self.attributes.find(pool, "Deprecated").is_some()
    }

    pub fn is_synthetic(&self, pool: &Pool<'a>) -> bool {
        self.access & access::SYNTHETIC != 0 || self.attributes.find(pool, "Synthetic").is_some()
    }
}

fn members<'a>(r: &mut Reader<'a>, pool: &Pool<'a>) -> Result<Vec<Member<'a>>, ClassError> {
    let count = usize::from(r.u16()?);
    // A member takes at least eight bytes, so a lying count cannot make us allocate more than the file justifies.
    let mut members = Vec::with_capacity(count.min(r.remaining() / 8));
    for _ in 0..count {
        let access = r.u16()?;
        let (name, descriptor) = (pool.utf8(r.u16()?)?, pool.utf8(r.u16()?)?);
        members.push(Member { access, name, descriptor, attributes: Attributes::skip(r)? });
    }
    Ok(members)
}

/// An attribute table whose lengths have been checked.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    bytes: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Reads over a table (count and all), checking that each attribute fits.
    pub(crate) fn skip(r: &mut Reader<'a>) -> Result<Self, ClassError> {
        let count = r.u16()?;
        let start = r.position();
        for _ in 0..count {
            r.u16()?;
            let length = r.u32()?;
            r.bytes(usize::try_from(length).map_err(|_| ClassError::Truncated { at: start })?)?;
        }
        Ok(Self { bytes: r.since(start) })
    }

    /// Pairs of name constant and contents.
    pub fn iter(&self) -> AttributeIter<'a> {
        AttributeIter { r: Reader::new(self.bytes) }
    }

    /// Contents of the first attribute of that name.
    pub fn find(&self, pool: &Pool<'a>, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|(index, _)| pool.utf8(*index).is_ok_and(|n| n == *name)).map(|(_, contents)| contents)
    }

    fn signature(&self, pool: &Pool<'a>) -> Option<JavaStr<'a>> {
        pool.utf8(Reader::new(self.find(pool, "Signature")?).u16().ok()?).ok()
    }

    fn class_list(&self, pool: &Pool<'a>, name: &str) -> Option<Vec<JavaStr<'a>>> {
        let mut r = Reader::new(self.find(pool, name)?);
        let count = usize::from(r.u16().ok()?);
        Some(u16s(r.bytes(count * 2).ok()?).filter_map(|i| pool.class_name(i).ok()).collect())
    }
}

#[derive(Debug, Clone)]
pub struct AttributeIter<'a> {
    r: Reader<'a>,
}

impl<'a> Iterator for AttributeIter<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.r.u16().ok()?;
        let length = self.r.u32().ok()?;
        Some((name, self.r.bytes(usize::try_from(length).ok()?).ok()?))
    }
}

fn u16s(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}
