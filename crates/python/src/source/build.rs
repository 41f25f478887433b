//! The core's [`Program`] out of indexed files.

use std::sync::Arc;

use rethrow_core::program::{
    Access, Flags, Literal, MethodId, MethodKind, NewField, NewMethod, NewType, Program, ProgramBuilder, Signature, Taking, Ty, TypeId,
};
use rustc_hash::FxHashMap;

use super::bodies::Bodies;
use super::file::File;
use super::index::{Class, Code, CodeKind, Param, Role};
use super::member::Beyond;
use super::resolve::{Entity, external_type};
use super::{Places, Sources, platform};
use crate::interpreter::Member;

const OBJECT: &str = "builtins:object";

/// Where a method comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A code of a file.
    Code(usize, usize),
    /// A constructor that a class has without writing it, and the code that takes its arguments, if any.
    Implicit { params: Vec<Param>, by: Option<(usize, usize)>, of: (usize, usize) },
    /// Number in the table of known functions.
    Known(usize),
    /// Something that a module has though its source does not define it, and the code it stands for, if any.
    Member { params: Vec<Param>, like: Option<(usize, usize)> },
}

/// Builds the program; files that are named alike are taken once, the first.
/// `hunted` is a module with what can be called in it.
pub fn build(places: Places, files: Vec<File>, hunted: Option<(&str, &[Member])>) -> (Program, Arc<Sources>) {
    let mut sources = Sources {
        places,
        files: Vec::new(),
        by_module: FxHashMap::default(),
        by_path: FxHashMap::default(),
        origins: Vec::new(),
        methods: FxHashMap::default(),
        attributes: FxHashMap::default(),
    };
    for file in files {
        if sources.by_module.contains_key(&file.module) {
            continue;
        }
        sources.by_module.insert(file.module.clone(), sources.files.len());
        sources.by_path.insert(file.path.clone(), sources.files.len());
        sources.files.push(file);
    }
    sources.attributes = attributes(&sources);
    let mut maker = Maker { builder: ProgramBuilder::new(), sources: &sources, origins: Vec::new(), methods: FxHashMap::default(), hunted };
    maker.builder.well_known(OBJECT, "builtins:str", "builtins:type");
    maker.builder.dynamic();
    for file in 0..sources.files.len() {
        maker.module(file);
        (0..sources.files[file].index.classes.len()).for_each(|class| maker.class(file, class));
    }
    maker.without_source();
    maker.platform();
    let Maker { builder, origins, methods, .. } = maker;
    (sources.origins, sources.methods) = (origins, methods);
    let sources = Arc::new(sources);
    (builder.finish(Box::new(Bodies { sources: sources.clone() })), sources)
}

/// Which classes define an attribute or method.
fn attributes(sources: &Sources) -> FxHashMap<String, Vec<(usize, usize)>> {
    let mut found: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
    for (f, file) in sources.files.iter().enumerate() {
        let mut add = |name: &str, class: usize| {
            let list = found.entry(name.to_string()).or_default();
            if list.last() != Some(&(f, class)) && list.len() < 64 {
                list.push((f, class));
            }
        };
        for code in file.index.codes.iter().filter(|c| c.kind == CodeKind::Function && !c.nested) {
            code.class.iter().for_each(|class| add(&code.name, *class));
        }
        for (c, class) in file.index.classes.iter().enumerate() {
            class.fields.iter().chain([]).for_each(|field| add(&field.name, c));
            class.annotated.iter().for_each(|field| add(&field.name, c));
        }
    }
    found
}

struct Maker<'s> {
    builder: ProgramBuilder,
    sources: &'s Sources,
    origins: Vec<Origin>,
    methods: FxHashMap<(usize, usize), MethodId>,
    hunted: Option<(&'s str, &'s [Member])>,
}

impl Maker<'_> {
    fn module(&mut self, file: usize) {
        let module = &self.sources.files[file];
        let Some(ty) = self.builder.define(new_type(&module.module, &module.module)) else { return };
        self.codes(file, None, ty);
        self.members(Some(file), ty);
        for field in &module.index.globals {
            match &field.made {
                Some(made) => self.value(ty, &field.name, self.class_of(file, made).as_deref()),
                None => self.field(ty, &field.name, true, field.constant.clone()),
            }
        }
        // a function is a value too: what is called back is often one of the program's own
        for code in module.index.codes.iter().filter(|c| c.kind == CodeKind::Function && c.class.is_none() && !c.nested) {
            if !module.index.globals.iter().any(|f| f.name == code.name) {
                self.value(ty, &code.name, None);
            }
        }
    }

    /// The class of what a call of that name makes, if it is one of the program's.
    fn class_of(&self, file: usize, made: &[String]) -> Option<String> {
        match self.sources.resolve(file, made)? {
            Entity::Class(f, c) => Some(self.sources.class_name(f, c)),
            _ => None,
        }
    }

    /// Something that a test can name as it is: an object that a module makes, a member of an enumeration, a function.
    fn value(&mut self, owner: TypeId, name: &str, class: Option<&str>) {
        let ty = Ty::reference(self.builder.mention(class.unwrap_or(OBJECT)));
        let flags = Flags::STATIC.with(Flags::FINAL);
        self.builder.add_field(owner, NewField { name, ty, access: Access::Public, flags, constant: None });
    }

    /// A hunted module that has no source.
    fn without_source(&mut self) {
        let Some((name, _)) = self.hunted.filter(|(name, _)| !self.sources.by_module.contains_key(*name)) else { return };
        if let Some(ty) = self.builder.define(new_type(name, name)) {
            self.members(None, ty);
        }
    }

    /// What the hunted module has beyond its source.
    fn members(&mut self, file: Option<usize>, ty: TypeId) {
        let own = file.map(|f| self.sources.files[f].module.as_str());
        let Some((_, members)) = self.hunted.filter(|(name, _)| own.is_none_or(|own| own == *name)) else { return };
        for member in members {
            if let Some(beyond) = self.sources.beyond_source(member, file) {
                let Beyond { desc, params, like } = beyond;
                let new = NewMethod { name: &member.name, desc: &desc, kind: MethodKind::Static, access: Access::Public, flags: Flags::default() };
                self.method(ty, new, params.len());
                self.origins.push(Origin::Member { params, like });
            }
        }
    }

    fn class(&mut self, file: usize, class: usize) {
        let module = &self.sources.files[file];
        let declared = &module.index.classes[class];
        let name = self.sources.class_name(file, class);
        let bases = self.bases(file, declared);
        let outer = declared.outer.map(|o| self.sources.class_name(file, o));
        let mut flags = Flags::STATIC;
        if !declared.nameable {
            flags = flags.with(Flags::UNNAMEABLE);
        }
        if bases.iter().any(|b| b.starts_with("enum:")) {
            flags = flags.with(Flags::ENUM);
        }
        let (superclass, interfaces) = bases.split_first().map_or((OBJECT, &[][..]), |(first, rest)| (first.as_str(), rest));
        let new = NewType {
            flags,
            superclass: Some(superclass),
            interfaces: interfaces.iter().map(String::as_str).collect(),
            outer: outer.as_deref(),
            ..new_type(&name, &module.module)
        };
        // a class that is defined twice in a module is one type, as its name is one
        let Some(ty) = self.builder.define(new) else { return };
        let same: Vec<usize> = (0..module.index.classes.len()).filter(|c| module.index.classes[*c].qualname == declared.qualname).collect();
        same.iter().for_each(|c| self.codes(file, Some(*c), ty));
        if !same.iter().any(|c| has_init(&module.index.codes, *c)) {
            self.implicit(file, class, ty);
        }
        let mut seen: Vec<&str> = Vec::new();
        for field in same.iter().flat_map(|c| &module.index.classes[*c].fields) {
            if !seen.contains(&field.name.as_str()) {
                seen.push(&field.name);
                match flags.has(Flags::ENUM) && field.shared && !field.name.starts_with('_') {
                    true => self.value(ty, &field.name, Some(&name)),
                    false => self.field(ty, &field.name, field.shared, field.constant.clone()),
                }
            }
        }
    }

    fn bases(&self, file: usize, class: &Class) -> Vec<String> {
        let name = |base: &Vec<String>| match self.sources.resolve(file, base)? {
            Entity::Class(f, c) => Some(self.sources.class_name(f, c)),
            Entity::External(full) => Some(external_type(&full)),
            _ => None,
        };
        let mut names: Vec<String> = class.bases.iter().filter_map(name).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        names.retain(|n| seen.insert(n.clone()) && n != OBJECT);
        names
    }

    /// The codes of a class, or of the module outside classes.
    fn codes(&mut self, file: usize, class: Option<usize>, ty: TypeId) {
        let index = &self.sources.files[file].index;
        for (at, code) in index.codes.iter().enumerate().filter(|(_, c)| c.class == class) {
            // the class body's code belongs to what is around it, which is what `class` says of it
            let (kind, access, flags) = character(code, class);
            let desc = desc(code.first_line, &code.params, code);
            let id = self.method(ty, NewMethod { name: &code.name, desc: &desc, kind, access, flags }, code.params.len());
            self.methods.insert((file, at), id);
            self.origins.push(Origin::Code(file, at));
        }
    }

    fn implicit(&mut self, file: usize, class: usize, ty: TypeId) {
        let (params, by) = self.inherited(file, class);
        let desc = signature_text(0, &params);
        let new = NewMethod { name: "__init__", desc: &desc, kind: MethodKind::Constructor, access: Access::Public, flags: Flags::default() };
        self.method(ty, new, params.len());
        self.origins.push(Origin::Implicit { params, by, of: (file, class) });
    }

    /// What a class without `__init__` takes: what its bases say, or its kind.
    fn inherited(&self, file: usize, class: usize) -> (Vec<Param>, Option<(usize, usize)>) {
        let (above, outside) = self.sources.ancestry(file, class);
        let declares = |f: usize, c: usize| &self.sources.files[f].index.classes[c];
        let is_data = |f: usize, c: usize| declares(f, c).decorators.iter().any(|d| is_data_decorator(d));
        let is_tuple = outside.iter().any(|o| matches!(o.rsplit('.').next(), Some("NamedTuple" | "BaseModel" | "TypedDict")));
        if is_tuple || above.iter().any(|(f, c)| is_data(*f, *c)) {
            let mut params: Vec<Param> = Vec::new();
            for p in above.iter().rev().flat_map(|(f, c)| &declares(*f, *c).annotated) {
                match params.iter_mut().find(|known| known.name == p.name) {
                    Some(known) => *known = p.clone(),
                    None => params.push(p.clone()),
                }
            }
            return (params, None);
        }
        for (f, c) in &above {
            let codes = &self.sources.files[*f].index.codes;
            let named = |name: &str| codes.iter().rposition(|code| code.class == Some(*c) && !code.nested && code.name == name);
            if let Some(code) = named("__init__").or_else(|| named("__new__")) {
                return (codes[code].params.clone(), Some((*f, code)));
            }
        }
        if outside.iter().any(|o| o.starts_with("enum.")) {
            return (vec![Param { name: "value".into(), taking: Taking::PositionalOnly, optional: false }], None);
        }
        match outside.iter().all(|o| matches!(o.as_str(), "builtins.object" | "abc.ABC" | "typing.Generic" | "typing.Protocol")) {
            true => (Vec::new(), None),
            false => (vec![Param { name: "args".into(), taking: Taking::Rest, optional: true }], None),
        }
    }

    fn method(&mut self, ty: TypeId, new: NewMethod<'_>, params: usize) -> MethodId {
        self.builder.add_method(ty, new, |b| {
            let object = Ty::reference(b.mention(OBJECT));
            Signature { params: vec![object; params].into(), ret: object }
        })
    }

    fn field(&mut self, ty: TypeId, name: &str, shared: bool, constant: Option<Literal>) {
        let object = Ty::reference(self.builder.mention(OBJECT));
        let flags = if shared { Flags::STATIC } else { Flags::default() };
        self.builder.add_field(ty, NewField { name, ty: object, access: Access::Public, flags, constant });
    }

    /// The standard library's types: those of the table, exceptions, and whatever the program derives from.
    fn platform(&mut self) {
        let known = platform::known();
        for (i, entry) in known.iter().enumerate() {
            if i > 0 && known[i - 1].owner == entry.owner {
                continue;
            }
            let module = entry.owner.split(':').next().unwrap_or(entry.owner);
            let superclass = (entry.owner != OBJECT && entry.owner.contains(':')).then_some(entry.base.unwrap_or(OBJECT));
            let Some(ty) = self.builder.define(NewType { platform: true, superclass, ..new_type(entry.owner, module) }) else { continue };
            for (j, call) in known.iter().enumerate().filter(|(_, k)| k.owner == entry.owner) {
                let params: Vec<Param> =
                    call.params.iter().map(|p| Param { name: p.name.into(), taking: Taking::PositionalOnly, optional: p.optional }).collect();
                let kind = if call.name == "__init__" { MethodKind::Constructor } else { MethodKind::Static };
                let desc = signature_text(0, &params);
                self.method(ty, NewMethod { name: call.name, desc: &desc, kind, access: Access::Public, flags: Flags::default() }, params.len());
                self.origins.push(Origin::Known(j));
            }
        }
        for name in platform::BUILTINS {
            self.outside(&format!("builtins:{name}"), OBJECT);
        }
        for name in platform::TYPING {
            self.outside(&format!("typing:{name}"), OBJECT);
        }
        for (name, parent) in platform::exceptions() {
            self.outside(&format!("builtins:{name}"), &format!("builtins:{parent}"));
        }
        let mut bases = Vec::new();
        for (f, file) in self.sources.files.iter().enumerate() {
            bases.extend(file.index.classes.iter().flat_map(|c| self.bases(f, c)));
        }
        bases.iter().for_each(|base| self.outside(base, OBJECT));
    }

    fn outside(&mut self, name: &str, superclass: &str) {
        if !self.builder.is_defined(name) {
            let module = name.split(':').next().unwrap_or(name);
            let superclass = (name != OBJECT).then_some(superclass);
            self.builder.define(NewType { platform: true, superclass, ..new_type(name, module) });
        }
    }
}

fn has_init(codes: &[Code], class: usize) -> bool {
    codes.iter().any(|c| c.class == Some(class) && !c.nested && c.name == "__init__")
}

fn is_data_decorator(name: &str) -> bool {
    matches!(
        name,
        "dataclass"
            | "dataclasses.dataclass"
            | "attr.s"
            | "attr.attrs"
            | "attrs"
            | "attr.define"
            | "attrs.define"
            | "define"
            | "frozen"
            | "attrs.frozen"
            | "attr.dataclass"
    )
}

fn new_type<'a>(name: &'a str, package: &'a str) -> NewType<'a> {
    NewType { name, package, access: Access::Public, flags: Flags::STATIC, superclass: None, interfaces: Vec::new(), outer: None, origin: 0, platform: false }
}

fn character(code: &Code, class: Option<usize>) -> (MethodKind, Access, Flags) {
    let hidden = (Access::Private, Flags::SYNTHETIC);
    match (code.kind, code.role) {
        (CodeKind::Module, _) => (MethodKind::TypeInitializer, hidden.0, hidden.1),
        (CodeKind::Function, role) if !code.nested => {
            let kind = match role {
                Role::Plain | Role::Static | Role::Class => MethodKind::Static,
                _ if code.name == "__init__" && class.is_some() => MethodKind::Constructor,
                _ => MethodKind::Instance,
            };
            match code.name == "__new__" || role == Role::Setter {
                true => (kind, hidden.0, hidden.1),
                false => (kind, Access::Public, if code.decorated { Flags::DECORATED } else { Flags::default() }),
            }
        }
        _ => (MethodKind::Static, hidden.0, hidden.1),
    }
}

/// The signature text, with a mark behind it where a plain call does not run the code: `@` read as an attribute, `*` iterated, `~` awaited.
fn desc(line: u32, params: &[Param], code: &Code) -> String {
    let mut text = signature_text(line, params);
    if code.kind == CodeKind::Function {
        if code.role == Role::Getter {
            text.push('@');
        }
        if code.yields {
            text.push('*');
        }
        if code.is_async {
            text.push('~');
        }
    }
    text
}

/// `12(a, /, b, c=, *rest, d, e=, **named)`.
pub(super) fn signature_text(line: u32, params: &[Param]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut star = false;
    for (i, p) in params.iter().enumerate() {
        if p.taking == Taking::KeywordOnly && !star {
            star = true;
            parts.push("*".into());
        }
        star |= p.taking == Taking::Rest;
        parts.push(match p.taking {
            Taking::Rest => format!("*{}", p.name),
            Taking::RestNamed => format!("**{}", p.name),
            _ if p.optional => format!("{}=", p.name),
            _ => p.name.clone(),
        });
        let ends = params.get(i + 1).is_none_or(|next| next.taking != Taking::PositionalOnly);
        if p.taking == Taking::PositionalOnly && ends {
            parts.push("/".into());
        }
    }
    format!("{line}({})", parts.join(", "))
}
