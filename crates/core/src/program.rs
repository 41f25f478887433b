//! The program under test as the search sees it: types, members, hierarchy, and bodies lowered when first asked for.
//!
//! A [`Program`] is frozen once built: every id is assigned by [`ProgramBuilder`] and iteration order is insertion order, so equal inputs give equal ids.
//! It does not know a language; class files and source live in the language crates, which fill it and give a [`BodySource`].

pub mod abstract_methods;
pub mod call_graph;
pub mod cfg;
pub mod control_dependence;
pub mod dominators;
pub mod generic;
pub mod ir;
pub mod literals;
pub mod mod_ref;
pub mod near;
pub mod parameter;
pub mod purity;
pub mod ty;

use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

pub use generic::Generic;
pub use parameter::{Parameter, Shape, Taking};
pub use ty::{Assignability, Base, Prim, Ty};

/// A type: class, interface, or a name that is mentioned but not on the class path ([`TypeDef::missing`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TypeId(pub u32);
/// A method, constructor or initialiser.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct MethodId(pub u32);
/// A field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FieldId(pub u32);
/// An interned string of one [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Sym(u32);

/// Who may name a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    Private,
    Package,
    Protected,
    Public,
}

/// Properties of types and members, as one set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u16);

impl Flags {
    pub const STATIC: Flags = Flags(1);
    pub const FINAL: Flags = Flags(2);
    pub const ABSTRACT: Flags = Flags(4);
    pub const INTERFACE: Flags = Flags(8);
    pub const ENUM: Flags = Flags(16);
    pub const SYNTHETIC: Flags = Flags(32);
    pub const BRIDGE: Flags = Flags(64);
    pub const NATIVE: Flags = Flags(128);
    pub const VARARGS: Flags = Flags(256);
    pub const DEPRECATED: Flags = Flags(512);
    /// Anonymous or local: no source outside its method can name it.
    pub const UNNAMEABLE: Flags = Flags(1024);
    pub const ANNOTATION: Flags = Flags(2048);
    /// Only the types that it names may extend it.
    pub const SEALED: Flags = Flags(4096);
    /// Its name stands for something that a decorator made of it.
    pub const DECORATED: Flags = Flags(8192);

    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// What kind of code a method is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MethodKind {
    Constructor,
    /// Runs when the type is first used; nobody calls it.
    TypeInitializer,
    Static,
    Instance,
}

/// A type. `name` is the run-time name with dots (`java.util.Map$Entry`).
#[derive(Clone, Debug)]
pub struct TypeDef {
    pub name: Sym,
    pub package: Sym,
    pub access: Access,
    pub flags: Flags,
    pub superclass: Option<TypeId>,
    pub interfaces: Box<[TypeId]>,
    /// The lexically enclosing type of a nested one.
    pub outer: Option<TypeId>,
    /// Index of the class-path entry it came from, for messages.
    pub origin: u16,
    /// Belongs to the platform (JDK, standard library): not searched for targets, not instrumented.
    pub platform: bool,
    /// Mentioned somewhere but found nowhere.
    pub missing: bool,
    methods: (u32, u32),
    fields: (u32, u32),
}

/// A method. `desc` is the language's own signature text, used in records and by the worker.
#[derive(Clone, Debug)]
pub struct MethodDef {
    pub owner: TypeId,
    pub name: Sym,
    pub desc: Sym,
    pub kind: MethodKind,
    pub access: Access,
    pub flags: Flags,
    sig: u32,
}

/// A field; `constant` is its compile-time value.
#[derive(Clone, Debug)]
pub struct FieldDef {
    pub owner: TypeId,
    pub name: Sym,
    pub ty: Ty,
    pub access: Access,
    pub flags: Flags,
    pub constant: Option<Literal>,
}

/// A literal found in a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Literal {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Str(String),
}

/// Parameters and result of a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    pub params: Box<[Ty]>,
    pub ret: Ty,
}

/// Where bodies come from; called at most once for each method.
pub trait BodySource: Send + Sync {
    /// `Ok(None)`: no code (abstract, native). `Err`: unreadable, told to the user as a diagnostic.
    fn body(&self, program: &Program, method: MethodId) -> Result<Option<ir::Body>, String>;
    /// The ways in which instructions raise exactly that exception, calls left aside.
    fn hazards(&self, _exception: &str) -> ir::Hazards {
        ir::Hazards::EXPLICIT
    }
    /// What is known of the parameters of a method, in the order of its signature; empty where declared types say it all.
    fn parameters(&self, _program: &Program, _method: MethodId) -> Vec<Parameter> {
        Vec::new()
    }
    /// How the parameters of a method are declared beyond their erasure, in the order of its signature; empty if as their erasure.
    fn generics(&self, _program: &Program, _method: MethodId) -> Vec<Generic> {
        Vec::new()
    }
}

/// See the module documentation.
pub struct Program {
    strings: Strings,
    types: Vec<TypeDef>,
    methods: Vec<MethodDef>,
    fields: Vec<FieldDef>,
    sigs: Vec<Signature>,
    by_name: FxHashMap<Sym, TypeId>,
    /// Direct subtypes in insertion order: `sub_items[sub_start[t]..sub_start[t + 1]]`.
    sub_start: Vec<u32>,
    sub_items: Vec<TypeId>,
    /// Supertypes, sorted, of types that were asked for: the commonest question of a search.
    above: Vec<OnceLock<Box<[TypeId]>>>,
    source: Box<dyn BodySource>,
    bodies: Mutex<FxHashMap<MethodId, Option<Arc<ir::Body>>>>,
    unreadable: Mutex<Vec<(MethodId, String)>>,
    parameters: Known<Parameter>,
    generics: Known<Generic>,
    well_known: WellKnown,
    dynamic: bool,
}

/// What was asked of methods before.
type Known<T> = Mutex<FxHashMap<MethodId, Arc<[T]>>>;

fn known<T>(answers: &Known<T>, id: MethodId, ask: impl FnOnce() -> Vec<T>) -> Arc<[T]> {
    if let Some(answer) = answers.lock().expect("no holder panics").get(&id) {
        return answer.clone();
    }
    let answer: Arc<[T]> = ask().into();
    answers.lock().expect("no holder panics").insert(id, answer.clone());
    answer
}

/// The few types that statements have without naming them.
#[derive(Clone, Copy, Debug)]
pub struct WellKnown {
    /// The root of all references.
    pub object: Ty,
    /// The type of string literals.
    pub string: Ty,
    /// The type of type literals.
    pub class: Ty,
}

#[derive(Default)]
struct Strings {
    ids: FxHashMap<Arc<str>, Sym>,
    texts: Vec<Arc<str>>,
}

impl Strings {
    fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.ids.get(text) {
            return *sym;
        }
        let sym = Sym(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, sym);
        sym
    }
}

impl Program {
    pub fn well_known(&self) -> WellKnown {
        self.well_known
    }
    pub fn text(&self, sym: Sym) -> &str {
        &self.strings.texts[sym.0 as usize]
    }
    /// The text without a copy if the program holds it already.
    pub fn shared_text(&self, text: &str) -> Arc<str> {
        match self.sym(text) {
            Some(sym) => self.strings.texts[sym.0 as usize].clone(),
            None => text.into(),
        }
    }
    pub fn sym(&self, text: &str) -> Option<Sym> {
        self.strings.ids.get(text).copied()
    }
    pub fn ty(&self, id: TypeId) -> &TypeDef {
        &self.types[id.0 as usize]
    }
    pub fn method(&self, id: MethodId) -> &MethodDef {
        &self.methods[id.0 as usize]
    }
    pub fn field(&self, id: FieldId) -> &FieldDef {
        &self.fields[id.0 as usize]
    }
    pub fn signature(&self, id: MethodId) -> &Signature {
        &self.sigs[self.method(id).sig as usize]
    }
    pub fn type_name(&self, id: TypeId) -> &str {
        self.text(self.ty(id).name)
    }
    pub fn package(&self, id: TypeId) -> &str {
        self.text(self.ty(id).package)
    }
    pub fn method_name(&self, id: MethodId) -> &str {
        self.text(self.method(id).name)
    }
    pub fn method_desc(&self, id: MethodId) -> &str {
        self.text(self.method(id).desc)
    }
    pub fn field_name(&self, id: FieldId) -> &str {
        self.text(self.field(id).name)
    }
    /// The type of that run-time name, unless it is missing from the class path.
    pub fn find_type(&self, name: &str) -> Option<TypeId> {
        let id = *self.by_name.get(&self.sym(name)?)?;
        (!self.ty(id).missing).then_some(id)
    }
    /// Also types that are mentioned but missing.
    pub fn find_mentioned(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(&self.sym(name)?).copied()
    }
    pub fn types(&self) -> impl Iterator<Item = TypeId> + '_ {
        (0..self.types.len() as u32).map(TypeId)
    }
    pub fn methods_of(&self, ty: TypeId) -> impl DoubleEndedIterator<Item = MethodId> + ExactSizeIterator + use<> {
        let (start, end) = self.ty(ty).methods;
        (start..end).map(MethodId)
    }
    pub fn fields_of(&self, ty: TypeId) -> impl DoubleEndedIterator<Item = FieldId> + ExactSizeIterator + use<> {
        let (start, end) = self.ty(ty).fields;
        (start..end).map(FieldId)
    }
    pub fn methods_named<'p>(&'p self, ty: TypeId, name: &'p str) -> impl Iterator<Item = MethodId> + 'p {
        self.methods_of(ty).filter(move |m| self.method_name(*m) == name)
    }
    /// The method of exactly that name and signature text declared in `ty`.
    pub fn find_method(&self, ty: TypeId, name: &str, desc: &str) -> Option<MethodId> {
        self.methods_of(ty).find(|m| self.method_name(*m) == name && self.method_desc(*m) == desc)
    }
    /// The same, looked up through superclasses and interfaces.
    pub fn resolve_method(&self, ty: TypeId, name: &str, desc: &str) -> Option<MethodId> {
        self.supertypes(ty).into_iter().find_map(|t| self.find_method(t, name, desc))
    }
    pub fn find_field(&self, ty: TypeId, name: &str) -> Option<FieldId> {
        self.fields_of(ty).find(|f| self.field_name(*f) == name)
    }
    pub fn direct_subtypes(&self, ty: TypeId) -> &[TypeId] {
        let i = ty.0 as usize;
        &self.sub_items[self.sub_start[i] as usize..self.sub_start[i + 1] as usize]
    }
    /// `ty` first, then superclasses, then interfaces, each once.
    pub fn supertypes(&self, ty: TypeId) -> Vec<TypeId> {
        let mut out = Vec::new();
        let mut class = Some(ty);
        while let Some(t) = class {
            if out.contains(&t) {
                break;
            }
            out.push(t);
            class = self.ty(t).superclass;
        }
        let mut i = 0;
        while i < out.len() {
            for s in self.ty(out[i]).interfaces.iter() {
                if !out.contains(s) {
                    out.push(*s);
                }
            }
            i += 1;
        }
        out
    }
    /// Strict and transitive, breadth first; at most `limit`.
    pub fn subtypes(&self, ty: TypeId, limit: usize) -> Vec<TypeId> {
        let mut out = vec![ty];
        let mut seen: rustc_hash::FxHashSet<TypeId> = [ty].into_iter().collect();
        let mut i = 0;
        // the root of all types has thousands: no more is looked at than was asked for
        while i < out.len() && out.len() <= limit {
            let room = limit + 1 - out.len();
            let new: Vec<TypeId> = self.direct_subtypes(out[i]).iter().copied().filter(|s| seen.insert(*s)).take(room).collect();
            out.extend(new);
            i += 1;
        }
        out.remove(0);
        out.truncate(limit);
        out
    }
    /// Methods of subtypes that override what `reference` names; at most `limit`.
    pub fn overriding(&self, reference: &ir::MethodRef, limit: usize) -> impl Iterator<Item = MethodId> {
        let below = self.subtypes(reference.owner, 4 * limit);
        below.into_iter().filter_map(|t| self.find_method(t, &reference.name, &reference.desc)).take(limit)
    }
    pub fn is_subtype(&self, sub: TypeId, sup: TypeId) -> bool {
        sub == sup || self.above[sub.0 as usize].get_or_init(|| self.sorted_supertypes(sub)).binary_search(&sup).is_ok()
    }

    fn sorted_supertypes(&self, ty: TypeId) -> Box<[TypeId]> {
        let mut all = self.supertypes(ty);
        all.sort_unstable();
        all.into()
    }

    /// The lowered body; `None` if there is no code or it cannot be read (then it is in [`Program::unreadable`]).
    pub fn body(&self, id: MethodId) -> Option<Arc<ir::Body>> {
        if let Some(known) = self.bodies.lock().expect("no holder panics").get(&id) {
            return known.clone();
        }
        let body = match self.source.body(self, id) {
            Ok(body) => body.map(Arc::new),
            Err(why) => {
                self.unreadable.lock().expect("no holder panics").push((id, why));
                None
            }
        };
        self.bodies.lock().expect("no holder panics").insert(id, body.clone());
        body
    }
    /// Whether any value may stand anywhere; see [`ProgramBuilder::dynamic`].
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }
    /// What is known of a method's parameters; empty where their declared types say it all.
    pub fn parameters(&self, id: MethodId) -> Arc<[Parameter]> {
        known(&self.parameters, id, || self.source.parameters(self, id))
    }
    /// How the parameters of a method are declared beyond their erasure; empty if as their erasure.
    pub fn generics(&self, id: MethodId) -> Arc<[Generic]> {
        known(&self.generics, id, || self.source.generics(self, id))
    }
    /// The ways in which an instruction itself raises exactly that exception, to be given to [`ir::Body::may_raise`]. For a frame
    /// that called on, look for calls ([`ir::Hazards::CALL`], [`ir::Hazards::INIT`]) instead.
    pub fn hazards(&self, exception: &str) -> ir::Hazards {
        self.source.hazards(exception)
    }
    pub fn unreadable(&self) -> Vec<(MethodId, String)> {
        self.unreadable.lock().expect("no holder panics").clone()
    }
    /// Whether the first argument of a constructor is the enclosing object, which the source writes before `new` and which is never null.
    pub fn takes_outer(&self, ctor: MethodId) -> bool {
        let def = self.method(ctor);
        let owner = self.ty(def.owner);
        let first = self.signature(ctor).params.first().and_then(|p| p.as_ref());
        def.kind == MethodKind::Constructor && owner.outer.is_some() && !owner.flags.has(Flags::STATIC) && first == owner.outer
    }
    /// `a.b.C.m` for messages.
    pub fn qualified(&self, id: MethodId) -> String {
        format!("{}.{}", self.type_name(self.method(id).owner), self.method_name(id))
    }
}

/// What a type declares; see [`ProgramBuilder::define`].
pub struct NewType<'a> {
    pub name: &'a str,
    pub package: &'a str,
    pub access: Access,
    pub flags: Flags,
    pub superclass: Option<&'a str>,
    pub interfaces: Vec<&'a str>,
    pub outer: Option<&'a str>,
    pub origin: u16,
    pub platform: bool,
}

/// A method to be added to the type being defined.
pub struct NewMethod<'a> {
    pub name: &'a str,
    pub desc: &'a str,
    pub kind: MethodKind,
    pub access: Access,
    pub flags: Flags,
}

/// A field to be added to the type being defined.
pub struct NewField<'a> {
    pub name: &'a str,
    pub ty: Ty,
    pub access: Access,
    pub flags: Flags,
    pub constant: Option<Literal>,
}

/// Assigns ids. A type is mentioned by name before or after it is defined; members follow their type's `define` at once.
#[derive(Default)]
pub struct ProgramBuilder {
    strings: Strings,
    types: Vec<TypeDef>,
    methods: Vec<MethodDef>,
    fields: Vec<FieldDef>,
    sigs: Vec<Signature>,
    sig_of: FxHashMap<Sym, u32>,
    by_name: FxHashMap<Sym, TypeId>,
    well_known: Option<WellKnown>,
    dynamic: bool,
}

impl ProgramBuilder {
    pub fn new() -> Self {
        Self::default()
    }
    /// Names the root type, the type of string literals and the type of type literals.
    pub fn well_known(&mut self, object: &str, string: &str, class: &str) {
        let [object, string, class] = [object, string, class].map(|name| Ty::reference(self.mention(name)));
        self.well_known = Some(WellKnown { object, string, class });
    }
    /// The language declares no types: any value may stand anywhere, and [`BodySource::parameters`] suggests what to pass.
    pub fn dynamic(&mut self) {
        self.dynamic = true;
    }
    /// The id of a name, defined or not.
    pub fn mention(&mut self, name: &str) -> TypeId {
        let sym = self.strings.intern(name);
        if let Some(id) = self.by_name.get(&sym) {
            return *id;
        }
        let package = self.strings.intern(name.rsplit_once('.').map_or("", |(p, _)| p));
        let id = TypeId(self.types.len() as u32);
        let none = (0, 0);
        self.types.push(TypeDef {
            name: sym,
            package,
            access: Access::Public,
            flags: Flags::default(),
            superclass: None,
            interfaces: Box::new([]),
            outer: None,
            origin: 0,
            platform: false,
            missing: true,
            methods: none,
            fields: none,
        });
        self.by_name.insert(sym, id);
        id
    }
    pub fn is_defined(&self, name: &str) -> bool {
        self.strings.ids.get(name).and_then(|s| self.by_name.get(s)).is_some_and(|t| !self.types[t.0 as usize].missing)
    }
    /// Defines a type; the first definition of a name wins (class-path order), later ones return `None`.
    pub fn define(&mut self, new: NewType<'_>) -> Option<TypeId> {
        let id = self.mention(new.name);
        if !self.types[id.0 as usize].missing {
            return None;
        }
        let package = self.strings.intern(new.package);
        let superclass = new.superclass.map(|n| self.mention(n));
        let interfaces = new.interfaces.iter().map(|n| self.mention(n)).collect();
        let outer = new.outer.map(|n| self.mention(n));
        let (m, f) = (self.methods.len() as u32, self.fields.len() as u32);
        let def = &mut self.types[id.0 as usize];
        *def = TypeDef {
            name: def.name,
            package,
            access: new.access,
            flags: new.flags,
            superclass,
            interfaces,
            outer,
            origin: new.origin,
            platform: new.platform,
            missing: false,
            methods: (m, m),
            fields: (f, f),
        };
        Some(id)
    }
    /// `signature` is called once for each distinct signature text.
    pub fn add_method(&mut self, owner: TypeId, new: NewMethod<'_>, signature: impl FnOnce(&mut Self) -> Signature) -> MethodId {
        let name = self.strings.intern(new.name);
        let desc = self.strings.intern(new.desc);
        let sig = match self.sig_of.get(&desc) {
            Some(sig) => *sig,
            None => {
                let signature = signature(self);
                let sig = self.sigs.len() as u32;
                self.sigs.push(signature);
                self.sig_of.insert(desc, sig);
                sig
            }
        };
        let id = MethodId(self.methods.len() as u32);
        self.methods.push(MethodDef { owner, name, desc, kind: new.kind, access: new.access, flags: new.flags, sig });
        let range = &mut self.types[owner.0 as usize].methods;
        debug_assert_eq!(range.1, id.0, "members follow their type's definition at once");
        range.1 = id.0 + 1;
        id
    }
    pub fn add_field(&mut self, owner: TypeId, new: NewField<'_>) -> FieldId {
        let name = self.strings.intern(new.name);
        let id = FieldId(self.fields.len() as u32);
        self.fields.push(FieldDef { owner, name, ty: new.ty, access: new.access, flags: new.flags, constant: new.constant });
        let range = &mut self.types[owner.0 as usize].fields;
        debug_assert_eq!(range.1, id.0, "members follow their type's definition at once");
        range.1 = id.0 + 1;
        id
    }
    /// A nested type is no more accessible, and no more nameable, than the types around it. To be called when all are defined.
    pub fn restrict_nested(&mut self) {
        for i in 0..self.types.len() {
            let (mut access, mut flags) = (self.types[i].access, self.types[i].flags);
            let mut outer = self.types[i].outer;
            // damaged input may nest types in a circle
            for _ in 0..64 {
                let Some(def) = outer.map(|t| &self.types[t.0 as usize]) else {
                    break;
                };
                access = access.min(def.access);
                flags = flags.with(Flags(def.flags.0 & Flags::UNNAMEABLE.0));
                outer = def.outer;
            }
            (self.types[i].access, self.types[i].flags) = (access, flags);
        }
    }
    pub fn finish(mut self, source: Box<dyn BodySource>) -> Program {
        cut_cycles(&mut self.types);
        let (sub_start, sub_items) = subtype_index(&self.types);
        let well_known = self.well_known.unwrap_or(WellKnown { object: Ty::VOID, string: Ty::VOID, class: Ty::VOID });
        let above = std::iter::repeat_with(OnceLock::new).take(self.types.len()).collect();
        Program {
            well_known,
            above,
            strings: self.strings,
            types: self.types,
            methods: self.methods,
            fields: self.fields,
            sigs: self.sigs,
            by_name: self.by_name,
            sub_start,
            sub_items,
            source,
            bodies: Mutex::default(),
            unreadable: Mutex::default(),
            parameters: Known::default(),
            generics: Known::default(),
            dynamic: self.dynamic,
        }
    }
}

/// Damaged input may declare a type its own ancestor; such a declaration is dropped, so that walks over the hierarchy end.
fn cut_cycles(types: &mut [TypeDef]) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let parents = |t: &TypeDef| t.superclass.into_iter().chain(t.interfaces.iter().copied()).collect::<Vec<_>>();
    let mut state = vec![State::New; types.len()];
    for root in 0..types.len() {
        let mut path = vec![(root, parents(&types[root]))];
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        while let Some((current, pending)) = path.last_mut() {
            let Some(parent) = pending.pop() else {
                state[*current] = State::Done;
                path.pop();
                continue;
            };
            let p = parent.0 as usize;
            match state[p] {
                State::Open => drop_parent(&mut types[*current], parent),
                State::Done => {}
                State::New => {
                    state[p] = State::Open;
                    path.push((p, parents(&types[p])));
                }
            }
        }
    }
}

fn drop_parent(ty: &mut TypeDef, parent: TypeId) {
    ty.superclass = ty.superclass.filter(|s| *s != parent);
    ty.interfaces = ty.interfaces.iter().copied().filter(|i| *i != parent).collect();
}

fn subtype_index(types: &[TypeDef]) -> (Vec<u32>, Vec<TypeId>) {
    let parents = |t: &TypeDef| t.superclass.into_iter().chain(t.interfaces.iter().copied()).collect::<Vec<_>>();
    let mut start = vec![0u32; types.len() + 1];
    for t in types {
        for p in parents(t) {
            start[p.0 as usize + 1] += 1;
        }
    }
    for i in 0..types.len() {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut items = vec![TypeId(0); start[types.len()] as usize];
    for (i, t) in types.iter().enumerate() {
        for p in parents(t) {
            items[next[p.0 as usize] as usize] = TypeId(i as u32);
            next[p.0 as usize] += 1;
        }
    }
    (start, items)
}
