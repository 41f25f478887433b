//! Class headers → [`Program`]: types, members, hierarchy, in class-path order, platform last.
//!
//! Bodies are not read here; [`crate::lower`] reads them when they are first asked for. Reading and inflating is spread over threads, defining
//! happens on one and in order, so that equal inputs give equal ids.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use rethrow_core::parsed::{Diagnostic, Parsed};
use rethrow_core::program::{Access, Flags, Literal, MethodKind, NewField, NewMethod, NewType, Prim, Program, ProgramBuilder, Signature, Ty};
use rustc_hash::FxHashSet;

use super::{ClassPath, Place};
use crate::classfile::reader::Reader;
use crate::classfile::{Attributes, Base, ClassFile, Const, FieldType, InnerClass, JavaStr, Member, MethodDescriptor, Pool, access};
use crate::lower::Lowering;

/// Stands for types that code of the platform mentions but no header does.
pub(crate) const UNKNOWN_TYPE: &str = "<unknown>";

/// Reads every class header. Classes that cannot be read are diagnostics.
pub fn load(classpath: Arc<ClassPath>) -> Parsed<Program> {
    let places: Vec<Place> = (0..classpath.root_count()).flat_map(|root| classpath.places(root)).collect();
    let mut loading = Loading::new(&classpath);
    read_in_order(&classpath, &places, |place, bytes| loading.add(place, bytes));
    let Loading { mut builder, diagnostics, highest_version, .. } = loading;
    classpath.set_highest_version(highest_version);
    builder.mention(UNKNOWN_TYPE);
    builder.restrict_nested();
    Parsed { value: builder.finish(Box::new(Lowering::new(classpath))), diagnostics: shorten(diagnostics) }
}

/// A broken archive must not bury what else there is to tell.
fn shorten(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    const TOLD: usize = 40;
    if let Some(more) = diagnostics.len().checked_sub(TOLD).filter(|more| *more > 0) {
        diagnostics.truncate(TOLD);
        diagnostics.push(Diagnostic::general(format!("{more} more classes cannot be read")));
    }
    diagnostics
}

type Contents = std::io::Result<Vec<u8>>;

/// Reads on a few threads, hands over on this one in the order of `places`. Little is in flight at a time.
fn read_in_order(classpath: &ClassPath, places: &[Place], mut each: impl FnMut(Place, Contents)) {
    const BATCH: usize = 64;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(4);
    let batches: Vec<&[Place]> = places.chunks(BATCH).collect();
    std::thread::scope(|scope| {
        let receivers: Vec<Receiver<Vec<Contents>>> = (0..threads)
            .map(|first| {
                let (send, receive) = sync_channel(2);
                let mine: Vec<&[Place]> = batches.iter().skip(first).step_by(threads).copied().collect();
                scope.spawn(move || {
                    for batch in mine {
                        if send.send(batch.iter().map(|place| classpath.read(*place)).collect()).is_err() {
                            return;
                        }
                    }
                });
                receive
            })
            .collect();
        for (batch, receiver) in batches.iter().zip(receivers.iter().cycle()) {
            let contents = receiver.recv().expect("the reader sends every batch and does not panic");
            batch.iter().zip(contents).for_each(|(place, contents)| each(*place, contents));
        }
    });
}

struct Loading<'c> {
    classpath: &'c ClassPath,
    builder: ProgramBuilder,
    diagnostics: Vec<Diagnostic>,
    highest_version: u16,
    /// Packages of the platform (internal names) that every program may use; `None` if it has no modules.
    exported: Option<FxHashSet<String>>,
    /// Class names and descriptors in pools of the program whose types have ids.
    mentioned: FxHashSet<Box<[u8]>>,
    /// Reused for names with dots.
    scratch: String,
}

impl<'c> Loading<'c> {
    fn new(classpath: &'c ClassPath) -> Self {
        let exported = classpath.image().map(|image| {
            let declarations = image.module_declarations();
            let usable = declarations.iter().filter(|(module, _)| !module.starts_with("jdk.incubator."));
            usable.flat_map(|(_, bytes)| exports(bytes)).collect()
        });
        let mut builder = ProgramBuilder::new();
        builder.well_known("java.lang.Object", "java.lang.String", "java.lang.Class");
        Loading { classpath, builder, diagnostics: Vec::new(), highest_version: 0, exported, mentioned: FxHashSet::default(), scratch: String::new() }
    }

    fn add(&mut self, place: Place, contents: Contents) {
        let name = self.classpath.name(place);
        dotted(&name, &mut self.scratch);
        if self.builder.is_defined(&self.scratch) {
            return;
        }
        let defined = contents.map_err(|e| e.to_string()).and_then(|bytes| {
            let class = ClassFile::parse(&bytes).map_err(|e| e.to_string())?;
            if class.name() != *name {
                return Err(format!("the class calls itself {}; is this the root of the classes?", class.name()));
            }
            self.define(place, &class).map_err(|e| e.to_string())
        });
        if let Err(why) = defined {
            let label = self.classpath.label(place.root);
            self.diagnostics.push(Diagnostic::general(format!("class {name} in {label} cannot be read: {why}")));
        }
    }

    fn define(&mut self, place: Place, class: &ClassFile<'_>) -> Result<(), crate::classfile::ClassError> {
        let platform = self.classpath.is_platform(place.root);
        let own = class.own_inner_class();
        let name = binary_name(class.name());
        let package = name.rsplit_once('.').map_or("", |(package, _)| package);
        let superclass = class.super_name()?.map(binary_name);
        let interfaces = class.interfaces().map(|name| name.map(binary_name)).collect::<Result<Vec<_>, _>>()?;
        let enclosing = class.enclosing_method();
        let outer = own.and_then(|row| row.outer).or(enclosing.map(|e| e.class)).map(binary_name);
        let new = NewType {
            name: &name,
            package,
            access: if platform && !self.is_exported(package) { Access::Private } else { access_of(own.map_or(class.access, |row| row.access)) },
            flags: type_flags(class, own.as_ref(), &name),
            superclass: superclass.as_deref(),
            interfaces: interfaces.iter().map(String::as_str).collect(),
            outer: outer.as_deref(),
            origin: place.root,
            platform,
        };
        let Some(id) = self.builder.define(new) else {
            return Ok(());
        };
        for field in &class.fields {
            self.add_field(id, field, &class.pool);
        }
        for method in &class.methods {
            self.add_method(id, method, &class.pool);
        }
        if !platform {
            self.highest_version = self.highest_version.max(class.major);
            self.mention_all(&class.pool);
        }
        Ok(())
    }

    fn is_exported(&self, package: &str) -> bool {
        match &self.exported {
            Some(exported) => exported.contains(package),
            None => !["sun.", "com.sun.", "jdk.internal."].iter().any(|prefix| package.starts_with(prefix)),
        }
    }

    fn add_field(&mut self, owner: rethrow_core::program::TypeId, field: &Member<'_>, pool: &Pool<'_>) {
        let Ok(parsed) = FieldType::parse(field.descriptor) else {
            self.diagnostics.push(Diagnostic::general(format!("field {} has no readable type", field.name)));
            return;
        };
        let ty = ty_of(&mut self.builder, &mut self.scratch, &parsed);
        let marks = Marks::of(field.attributes(), pool);
        let constant = if marks.constant { field.constant_value(pool).and_then(literal) } else { None };
        let flags = marks.flags(member_flags(field.access, &[(access::ENUM, Flags::ENUM)]));
        let new = NewField { name: &field.name.to_str_lossy(), ty, access: access_of(field.access), flags, constant };
        self.builder.add_field(owner, new);
    }

    fn add_method(&mut self, owner: rethrow_core::program::TypeId, method: &Member<'_>, pool: &Pool<'_>) {
        let (name, desc) = (method.name.to_str_lossy(), method.descriptor.to_str_lossy());
        let kind = match name.as_ref() {
            "<init>" => MethodKind::Constructor,
            "<clinit>" => MethodKind::TypeInitializer,
            _ if method.is_static() => MethodKind::Static,
            _ => MethodKind::Instance,
        };
        let extra = [(access::BRIDGE, Flags::BRIDGE), (access::VARARGS, Flags::VARARGS), (access::NATIVE, Flags::NATIVE), (access::ABSTRACT, Flags::ABSTRACT)];
        let flags = Marks::of(method.attributes(), pool).flags(member_flags(method.access, &extra));
        let new = NewMethod { name: &name, desc: &desc, kind, access: access_of(method.access), flags };
        let (scratch, diagnostics) = (&mut self.scratch, &mut self.diagnostics);
        self.builder.add_method(owner, new, |builder| {
            signature(builder, scratch, method.descriptor).unwrap_or_else(|| {
                diagnostics.push(Diagnostic::general(format!("method {} has no readable descriptor: {}", method.name, method.descriptor)));
                Signature { params: Box::new([]), ret: Ty::VOID }
            })
        });
    }

    /// Code refers to types by the pool; giving each an id now keeps the program frozen when code is lowered.
    fn mention_all(&mut self, pool: &Pool<'_>) {
        for (_, constant) in pool.iter() {
            let (Const::Class(text) | Const::NameAndType { descriptor: text, .. } | Const::MethodType(text)) = constant else { continue };
            // A descriptor of one letter names no class, but is spelt like one.
            let primitive = text.as_bytes().len() == 1 && !matches!(constant, Const::Class(_));
            if primitive || self.mentioned.contains(text.as_bytes()) {
                continue;
            }
            self.mentioned.insert(text.as_bytes().into());
            match constant {
                Const::Class(name) if name.as_bytes().first() != Some(&b'[') => {
                    dotted(&name.to_str_lossy(), &mut self.scratch);
                    self.builder.mention(&self.scratch);
                }
                _ => self.mention_types(text),
            }
        }
    }

    fn mention_types(&mut self, descriptor: JavaStr<'_>) {
        let mut add = |parsed: &FieldType<'_>| {
            ty_of(&mut self.builder, &mut self.scratch, parsed);
        };
        if let Ok(method) = MethodDescriptor::parse(descriptor) {
            method.parameters.iter().chain(&method.returns).for_each(add);
        } else if let Ok(field) = FieldType::parse(descriptor) {
            add(&field);
        }
    }
}

fn dotted(internal: &str, out: &mut String) {
    out.clear();
    for (i, part) in internal.split('/').enumerate() {
        if i > 0 {
            out.push('.');
        }
        out.push_str(part);
    }
}

/// `java/util/Map$Entry` → `java.util.Map$Entry`.
pub(crate) fn binary_name(internal: JavaStr<'_>) -> String {
    internal.to_str_lossy().replace('/', ".")
}

fn signature(builder: &mut ProgramBuilder, scratch: &mut String, descriptor: JavaStr<'_>) -> Option<Signature> {
    let parsed = MethodDescriptor::parse(descriptor).ok()?;
    let params = parsed.parameters.iter().map(|p| ty_of(builder, scratch, p)).collect();
    let ret = parsed.returns.map_or(Ty::VOID, |r| ty_of(builder, scratch, &r));
    Some(Signature { params, ret })
}

fn ty_of(builder: &mut ProgramBuilder, scratch: &mut String, parsed: &FieldType<'_>) -> Ty {
    ty_from(parsed, |name| {
        dotted(&name.to_str_lossy(), scratch);
        builder.mention(scratch)
    })
}

/// The type with class names resolved by `class`.
pub(crate) fn ty_from<'a>(parsed: &FieldType<'a>, class: impl FnOnce(JavaStr<'a>) -> rethrow_core::program::TypeId) -> Ty {
    let base = match parsed.base {
        Base::Boolean => Ty::prim(Prim::Bool),
        Base::Byte => Ty::prim(Prim::Byte),
        Base::Char => Ty::prim(Prim::Char),
        Base::Short => Ty::prim(Prim::Short),
        Base::Int => Ty::prim(Prim::Int),
        Base::Long => Ty::prim(Prim::Long),
        Base::Float => Ty::prim(Prim::Float),
        Base::Double => Ty::prim(Prim::Double),
        Base::Class(name) => Ty::reference(class(name)),
    };
    Ty { dims: parsed.dimensions, ..base }
}

fn access_of(flags: u16) -> Access {
    match flags & (access::PUBLIC | access::PRIVATE | access::PROTECTED) {
        access::PUBLIC => Access::Public,
        access::PRIVATE => Access::Private,
        access::PROTECTED => Access::Protected,
        _ => Access::Package,
    }
}

fn type_flags(class: &ClassFile<'_>, own: Option<&InnerClass<'_>>, name: &str) -> Flags {
    let bits = own.map_or(class.access, |row| row.access) | class.access & access::FINAL;
    let table = [
        (access::FINAL, Flags::FINAL),
        (access::ABSTRACT, Flags::ABSTRACT),
        (access::INTERFACE, Flags::INTERFACE),
        (access::ENUM, Flags::ENUM),
        (access::ANNOTATION, Flags::ANNOTATION),
        (access::SYNTHETIC, Flags::SYNTHETIC),
    ];
    let mut flags = Marks::of(class.attributes(), &class.pool).flags(collect(bits, &table));
    if own.is_some_and(|row| row.access & access::STATIC != 0) {
        flags = flags.with(Flags::STATIC);
    }
    // A local class has no outer in its row, an anonymous one no name; `package-info` is no identifier.
    let hidden = own.is_some_and(|row| row.outer.is_none() || row.name.is_none()) || class.enclosing_method().is_some();
    if hidden || name.ends_with("package-info") {
        flags = flags.with(Flags::UNNAMEABLE);
    }
    flags
}

fn member_flags(bits: u16, extra: &[(u16, Flags)]) -> Flags {
    let table = [(access::STATIC, Flags::STATIC), (access::FINAL, Flags::FINAL), (access::SYNTHETIC, Flags::SYNTHETIC)];
    collect(bits, &table).with(collect(bits, extra))
}

fn collect(bits: u16, table: &[(u16, Flags)]) -> Flags {
    table.iter().filter(|(bit, _)| bits & bit != 0).fold(Flags::default(), |all, (_, flag)| all.with(*flag))
}

/// Attributes that are flags, or tell that there is more to read; found in one pass.
#[derive(Default)]
struct Marks {
    deprecated: bool,
    synthetic: bool,
    constant: bool,
    sealed: bool,
}

impl Marks {
    fn of(attributes: Attributes<'_>, pool: &Pool<'_>) -> Marks {
        let mut marks = Marks::default();
        for (name, _) in attributes.iter() {
            match pool.utf8(name).map(|name| name.as_bytes()) {
                Ok(b"Deprecated") => marks.deprecated = true,
                Ok(b"Synthetic") => marks.synthetic = true,
                Ok(b"ConstantValue") => marks.constant = true,
                Ok(b"PermittedSubclasses") => marks.sealed = true,
                _ => {}
            }
        }
        marks
    }

    fn flags(&self, flags: Flags) -> Flags {
        let marked = [(self.deprecated, Flags::DEPRECATED), (self.synthetic, Flags::SYNTHETIC), (self.sealed, Flags::SEALED)];
        marked.iter().filter(|(set, _)| *set).fold(flags, |all, (_, flag)| all.with(*flag))
    }
}

fn literal(constant: Const<'_>) -> Option<Literal> {
    Some(match constant {
        Const::Integer(value) => Literal::Int(value),
        Const::Long(value) => Literal::Long(value),
        Const::Float(value) => Literal::Float(value),
        Const::Double(value) => Literal::Double(value),
        Const::String(text) => Literal::Str(text.to_str_lossy().into_owned()),
        _ => return None,
    })
}

/// Packages (dotted) that a module declaration exports to everybody.
fn exports(declaration: &[u8]) -> Vec<String> {
    let Ok(class) = ClassFile::parse(declaration) else {
        return Vec::new();
    };
    let Some(contents) = class.attributes().find(&class.pool, "Module") else {
        return Vec::new();
    };
    read_exports(contents, &class.pool).unwrap_or_default()
}

fn read_exports(contents: &[u8], pool: &Pool<'_>) -> Result<Vec<String>, crate::classfile::ClassError> {
    let mut r = Reader::new(contents);
    r.bytes(6)?;
    let requires = usize::from(r.u16()?);
    r.bytes(requires * 6)?;
    let mut packages = Vec::new();
    for _ in 0..r.u16()? {
        let (package, _flags, to) = (r.u16()?, r.u16()?, usize::from(r.u16()?));
        r.bytes(to * 2)?;
        if let (Const::Package(name), 0) = (pool.get(package)?, to) {
            packages.push(binary_name(name));
        }
    }
    Ok(packages)
}
