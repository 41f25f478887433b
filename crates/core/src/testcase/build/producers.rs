//! What can be built from one package: the ways to get an object of a type, the calls that lead to the target, what parameters are cast to.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::LiteralPool;
use super::customs::Customs;
use super::derived::Declaring;
use super::named::Named;
use super::own::{Own, Taker};
use super::surroundings::{Looked, Readers};
use super::told::Hints;
use crate::message::Told;
use crate::program::ir::{Const, Op};
use crate::program::mod_ref::Touching;
use crate::program::near;
use crate::program::purity::Purity;
use crate::program::{FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};
use crate::rng::Rng;
use crate::testcase::stub::stubbable;
use crate::testcase::validity::Scope;
use crate::testcase::{Data, Stmt};

/// How an object comes about.
#[derive(Clone, PartialEq, Debug)]
pub enum Way {
    /// Constructor, factory, or a method of another object.
    Method(MethodId),
    /// A static field: enum constants, singletons.
    Field(FieldId),
    /// A method called on an object that itself comes about in one of these ways: its class cannot be named, only a supertype's method.
    On(MethodId, Rc<[Producer]>),
    /// A string literal.
    Text,
    /// The test implements the type itself, by that constructor if it is a class.
    Stub(TypeId, Option<MethodId>),
    /// The test derives a class from it.
    Derived(TypeId),
}

/// A way with its weight.
#[derive(Clone, PartialEq, Debug)]
pub struct Producer {
    pub way: Way,
    pub weight: f64,
    /// Object parameters, the receiver included: each may need an object of its own.
    pub needs: u32,
}

impl Producer {
    pub fn method(&self) -> Option<MethodId> {
        match self.way {
            Way::Method(m) | Way::On(m, _) => Some(m),
            Way::Stub(_, ctor) => ctor,
            Way::Field(_) | Way::Text | Way::Derived(_) => None,
        }
    }
    /// Whether the statement came about this way.
    pub fn made(&self, stmt: &Stmt) -> bool {
        match self.way {
            Way::Method(m) | Way::On(m, _) => stmt.callee() == Some(m),
            Way::Field(f) => *stmt == Stmt::GetStatic(f),
            Way::Text => matches!(stmt, Stmt::Str(_)),
            Way::Stub(ty, _) => matches!(stmt, Stmt::Stub(stub) if stub.ty == ty),
            Way::Derived(_) => matches!(stmt, Stmt::Data(Data::Made { .. })),
        }
    }
    /// Deep in a creation only simple ways keep a chance.
    pub fn simplicity(&self) -> f64 {
        1.0 / f64::from(1 + 4 * self.needs)
    }
}

/// A call that leads to the target frame. Where the frame's class cannot be named, `receivers` are the ways to get one of its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetCall {
    pub method: MethodId,
    pub receivers: Vec<Producer>,
}

/// How many types are considered for one wanted type: more dilute the choice.
const MAX_TYPES: usize = 14;
const MAX_PRODUCERS: usize = 40;
/// Subtypes of a wanted type that are looked through for methods that return them.
const MAX_SUBTYPES: usize = 300;
/// Types that casts ask for.
const MAX_EXPECTED: usize = 40;
/// How far a parameter is followed into the methods that it is handed on to.
const HANDED_ON: u32 = 2;

/// How much a function is worth that is named after what it may make, and how short such a name may be.
const NAMED_AFTER: f64 = 0.8;
const MIN_NAME: usize = 3;
/// How much a class of the test's own is worth beside the class itself.
const DERIVED: f64 = 0.12;
/// How much less a way is worth that leads through another library.
const FAR: f64 = 0.1;

/// See the module documentation.
pub struct Palette<'p> {
    pub program: &'p Program,
    pub scope: Scope,
    /// M_crash (EVO-13).
    pub targets: Vec<TargetCall>,
    /// Members of the class under test, for guided initialisation and insertion.
    pub members: Vec<MethodId>,
    /// Fields of the trace's classes that a test may write.
    pub fields: Vec<FieldId>,
    pub literals: LiteralPool,
    pub customs: Customs,
    trace_types: Vec<TypeId>,
    expected_types: Vec<Ty>,
    plain_packages: &'static [&'static str],
    banned: FxHashSet<MethodId>,
    inner: FxHashSet<MethodId>,
    returning: FxHashMap<TypeId, Vec<MethodId>>,
    /// Values that a test can name where types are not declared.
    pub named: Named,
    pub declaring: Declaring,
    producers: Cache<TypeId, Producer>,
    casts: Cache<(MethodId, usize), Ty>,
    fuzzers: Cache<TypeId, MethodId>,
    purity: Option<Rc<Purity>>,
    touching: Touching,
    touchers: Cache<TypeId, MethodId>,
    /// Members of the class under test that touch what the way to the crash reads.
    pub touching_members: Vec<MethodId>,
    literal_types: Vec<TypeId>,
    /// Types that the trace's classes name as literals themselves.
    mentioned_types: Vec<Ty>,
    /// What reads the surroundings, and what of them is read on the way to the target.
    pub readers: Readers,
    pub looked: Looked,
    /// What the log's message tells.
    pub hints: Hints,
    pub(super) told: RefCell<FxHashMap<(MethodId, usize), Option<Told>>>,
    pub(super) paths: RefCell<FxHashMap<(MethodId, usize), bool>>,
    pub(super) own: RefCell<FxHashMap<Taker, Rc<Own>>>,
}

/// Answers worked out when first asked for.
type Cache<K, V> = RefCell<FxHashMap<K, Rc<[V]>>>;

/// What a palette is made of.
pub struct PaletteSpec<'p> {
    pub program: &'p Program,
    pub scope: Scope,
    /// Classes of the trace, the class under test first.
    pub trace_types: Vec<TypeId>,
    pub literals: LiteralPool,
    /// Platform packages whose classes are plain data; the rest opens windows and sockets.
    pub plain_packages: &'static [&'static str],
    pub customs: Customs,
    /// Never called (V10).
    pub banned: FxHashSet<MethodId>,
}

impl<'p> Palette<'p> {
    pub fn new(spec: PaletteSpec<'p>) -> Palette<'p> {
        let PaletteSpec { program, scope, trace_types, literals, plain_packages, customs, banned } = spec;
        let returning = returning(program, &scope);
        let mut palette = Palette {
            program,
            scope,
            targets: Vec::new(),
            members: Vec::new(),
            fields: Vec::new(),
            literals,
            customs,
            trace_types,
            expected_types: Vec::new(),
            plain_packages,
            banned,
            inner: FxHashSet::default(),
            returning,
            named: Named::default(),
            declaring: Declaring::default(),
            producers: RefCell::default(),
            casts: RefCell::default(),
            fuzzers: RefCell::default(),
            purity: None,
            touching: Touching::default(),
            touchers: RefCell::default(),
            touching_members: Vec::new(),
            literal_types: Vec::new(),
            mentioned_types: Vec::new(),
            readers: Readers::default(),
            looked: Looked::default(),
            hints: Hints::default(),
            told: RefCell::default(),
            paths: RefCell::default(),
            own: RefCell::default(),
        };
        if program.is_dynamic() {
            palette.named = Named::new(program, &palette.trace_types);
        }
        palette.literal_types.clone_from(&palette.trace_types);
        if let Some(class) = palette.trace_types.first().copied() {
            palette.members = palette.members_of(class);
        }
        palette.expected_types = palette.find_expected();
        palette.mentioned_types = palette.find_mentioned();
        palette.fields = palette.trace_types.iter().flat_map(|t| program.fields_of(*t)).filter(|f| palette.writable(*f)).collect();
        palette
    }

    pub fn trace_types(&self) -> &[TypeId] {
        &self.trace_types
    }

    /// Types that the trace's classes cast values to or test them for.
    pub fn expected_types(&self) -> &[Ty] {
        &self.expected_types
    }

    /// The platform's interfaces that people make objects of and that these types implement: whose code ran is told by the log, which object it was by
    /// nothing else. `AbstractList.add` was called on some list.
    pub fn expect_kinds_of(&mut self, platform: &[TypeId]) {
        for ty in platform.iter().flat_map(|t| self.program.supertypes(*t)) {
            let (kind, def) = (Ty::reference(ty), self.program.ty(ty));
            if def.flags.has(Flags::INTERFACE) && !self.customs.factories(kind).is_empty() && !self.expected_types.contains(&kind) {
                self.expected_types.push(kind);
            }
        }
    }

    fn find_expected(&self) -> Vec<Ty> {
        self.types_in_code(|op| match op {
            Op::Cast { ty, .. } | Op::InstanceOf { ty, .. } => Some(*ty),
            _ => None,
        })
    }

    /// `Map.class.isAssignableFrom(type)`: what the program asks for is worth being given.
    fn find_mentioned(&self) -> Vec<Ty> {
        self.types_in_code(|op| match op {
            Op::Const { value: Const::Class(ty), .. } => Some(*ty),
            _ => None,
        })
    }

    /// What `named` finds in the code of the trace's classes, as far as a test may name it.
    fn types_in_code(&self, named: impl Fn(&Op) -> Option<Ty>) -> Vec<Ty> {
        let program = self.program;
        let root = program.well_known().object;
        let mut out: Vec<Ty> = Vec::new();
        let types = self.trace_types.iter().filter(|t| !program.ty(**t).platform).take(MAX_TYPES);
        for body in types.flat_map(|t| program.methods_of(*t)).filter_map(|m| program.body(m)) {
            for ty in body.insns.iter().filter_map(|insn| named(&insn.op)) {
                if ty != root && !out.contains(&ty) && out.len() < MAX_EXPECTED && self.scope.nameable_ty(program, ty) {
                    out.push(ty);
                }
            }
        }
        out
    }

    /// Leaves these methods to the program: a test that calls an inner frame's method itself reaches its line without the frames around it, which
    /// looks nearer to the goal than it is.
    pub fn leave_to_program(&mut self, methods: &FxHashSet<MethodId>) {
        self.members.retain(|m| !methods.contains(m));
        self.inner = methods.clone();
        self.producers.borrow_mut().clear();
    }

    /// Whether the method is left to the program.
    pub fn is_inner(&self, method: MethodId) -> bool {
        self.inner.contains(&method)
    }

    /// What changes an object is no longer guessed by its signature (GRT-7).
    pub fn know_purity(&mut self, purity: Rc<Purity>) {
        self.purity = Some(purity);
    }

    /// What touches the fields that the way to the crash reads is called more often. After `leave_to_program`.
    pub fn know_touching(&mut self, touching: Touching) {
        let touches = |m: &MethodId| touching.touches(self.program, *m);
        self.touching_members = self.members.iter().copied().filter(|m| self.program.method(*m).kind == MethodKind::Instance && touches(m)).collect();
        self.touching = touching;
    }

    /// Instance methods of the type that touch what the way to the crash reads, or hand out what has it.
    pub fn touchers(&self, ty: TypeId) -> Rc<[MethodId]> {
        if let Some(known) = self.touchers.borrow().get(&ty) {
            return known.clone();
        }
        let mut out: Vec<MethodId> = self.fuzzers(ty).to_vec();
        out.dedup();
        out.retain(|m| self.touching.touches(self.program, *m));
        let out: Rc<[MethodId]> = out.into();
        self.touchers.borrow_mut().insert(ty, out.clone());
        out
    }

    /// Types worth naming as literals, instead of the trace's.
    pub fn name_as_literals(&mut self, types: Vec<TypeId>) {
        self.literal_types = types;
    }

    pub fn allowed(&self, method: MethodId) -> bool {
        self.scope.callable(self.program, method) && !self.banned.contains(&method)
    }

    fn writable(&self, field: FieldId) -> bool {
        self.scope.readable(self.program, field) && !self.program.field(field).flags.has(Flags::FINAL)
    }

    /// Callable methods and constructors of a class and of its program superclasses.
    fn members_of(&self, class: TypeId) -> Vec<MethodId> {
        let mut out: Vec<MethodId> = Vec::new();
        for t in self.program.supertypes(class) {
            if self.program.ty(t).platform {
                continue;
            }
            let own = self.program.methods_of(t).filter(|m| self.allowed(*m));
            out.extend(own.filter(|m| t == class || self.program.method(*m).kind == MethodKind::Instance));
        }
        out
    }

    /// Instance methods that may change an object of the type: what insertion calls on existing objects.
    pub fn fuzzers(&self, ty: TypeId) -> Rc<[MethodId]> {
        if let Some(known) = self.fuzzers.borrow().get(&ty) {
            return known.clone();
        }
        let root = self.program.well_known().object.as_ref();
        let mut out: Vec<MethodId> = Vec::new();
        let mut signatures = FxHashSet::default();
        for t in self.program.supertypes(ty) {
            if Some(t) == root {
                continue;
            }
            for m in self.program.methods_of(t) {
                let def = self.program.method(m);
                if def.kind == MethodKind::Instance && self.allowed(m) && !self.inner.contains(&m) && signatures.insert((def.name, def.desc)) {
                    let sig = self.program.signature(m);
                    // a method without parameters and with a result is most likely a getter
                    let looks = match &self.purity {
                        Some(purity) => !purity.changes_receiver(self.program, m),
                        None => sig.params.is_empty() && !sig.ret.is_void(),
                    };
                    let copies = if looks { 1 } else { 3 };
                    out.extend(std::iter::repeat_n(m, copies));
                }
            }
        }
        let out: Rc<[MethodId]> = out.into();
        self.fuzzers.borrow_mut().insert(ty, out.clone());
        out
    }

    /// The types that a callee casts parameter `i` to or tests it for.
    pub fn casts_of(&self, method: MethodId, i: usize) -> Rc<[Ty]> {
        if let Some(known) = self.casts.borrow().get(&(method, i)) {
            return known.clone();
        }
        let casts: Rc<[Ty]> = self.find_casts(method, i, HANDED_ON).into();
        self.casts.borrow_mut().insert((method, i), casts.clone());
        casts
    }

    /// In the method itself, then in what it hands the parameter on to.
    fn find_casts(&self, method: MethodId, i: usize, depth: u32) -> Vec<Ty> {
        let program = self.program;
        let body = if program.ty(program.method(method).owner).platform { None } else { program.body(method) };
        let Some(body) = body else { return Vec::new() };
        let mut casts = body.casts_of_param(i);
        if depth > 0 {
            for (callee, n) in body.hands_on(i) {
                let found = program.resolve_method(callee.owner, &callee.name, &callee.desc);
                let more = found.map(|m| self.find_casts(m, n, depth - 1)).unwrap_or_default();
                more.into_iter().for_each(|ty| {
                    if !casts.contains(&ty) {
                        casts.push(ty)
                    }
                });
            }
        }
        casts
    }

    /// A type whose literal is worth passing as a type.
    pub fn class_literal(&self, rng: &mut Rng) -> Ty {
        let known = self.program.well_known();
        let nameable: Vec<Ty> = self.literal_types.iter().filter(|t| self.scope.nameable(self.program, **t)).map(|t| Ty::reference(*t)).collect();
        let from = |rng: &mut Rng, types: &[Ty]| rng.pick(types).copied().unwrap_or(known.string);
        match rng.below(12) {
            0 => known.string,
            1 => known.object,
            2 => Ty::INT,
            3 => known.object.array_of(),
            4..=6 if !self.mentioned_types.is_empty() => from(rng, &self.mentioned_types),
            7 if !self.expected_types.is_empty() => from(rng, &self.expected_types),
            8 => self.customs.some_staple(rng).map_or(known.string, Ty::reference),
            _ => from(rng, &nameable),
        }
    }

    /// The ways to get an object of the type or of a subtype, best first.
    pub fn producers(&self, ty: TypeId) -> Rc<[Producer]> {
        if let Some(known) = self.producers.borrow().get(&ty) {
            return known.clone();
        }
        let found: Rc<[Producer]> = self.find_producers(ty).into();
        self.producers.borrow_mut().insert(ty, found.clone());
        found
    }

    fn find_producers(&self, ty: TypeId) -> Vec<Producer> {
        let mut out: Vec<Producer> = Vec::new();
        for (rank, t) in self.types_for(ty).into_iter().enumerate() {
            let near = 1.0 / (1.0 + 0.3 * rank as f64);
            self.own_ways(t, near, &mut out);
        }
        for m in self.customs.factories(Ty::reference(ty)) {
            self.add(*m, 0.8, &mut out);
        }
        for t in std::iter::once(ty).chain(self.program.subtypes(ty, MAX_SUBTYPES)) {
            out.extend(self.named.of(t).map(|f| Producer { way: Way::Field(f), weight: 0.5, needs: 0 }));
        }
        if self.program.is_dynamic() && !self.program.ty(ty).platform && self.has_constructor(ty) && self.scope.nameable(self.program, ty) {
            out.push(Producer { way: Way::Derived(ty), weight: DERIVED, needs: 1 });
        }
        for m in self.named_after(ty) {
            self.add(m, NAMED_AFTER, &mut out);
        }
        let near = |m: &MethodId| if self.is_far(self.program.method(*m).owner, ty) { FAR } else { 1.0 };
        for m in self.returning.get(&ty).into_iter().flatten() {
            self.add(*m, 0.3 * near(m), &mut out);
        }
        // what returns a subtype will do as well, unless everything is one
        if Some(ty) != self.program.well_known().object.as_ref() {
            for t in self.program.subtypes(ty, MAX_SUBTYPES) {
                self.customs.factories(Ty::reference(t)).iter().for_each(|m| self.add(*m, 0.5, &mut out));
                self.returning.get(&t).into_iter().flatten().for_each(|m| self.add(*m, 0.15 * near(m), &mut out));
            }
        }
        // a test that makes an object of an inner frame's class by that frame's constructor calls the frame itself; see `leave_to_program`. Where
        // types are not declared, nothing asks for such an object
        let ours = |p: &Producer| !p.method().is_some_and(|m| self.inner.contains(&m));
        if self.program.is_dynamic() || out.iter().any(ours) {
            out.retain(ours);
        }
        let stubs = self.stub_ways(ty, &out);
        out.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        // everything makes an object of the root type; a class of the user's own must not drown in it
        out.truncate(MAX_PRODUCERS.saturating_sub(stubs.len()));
        out.extend(stubs);
        out.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        out
    }

    /// Where nothing declares what a function returns, its name mostly tells: `add_worksheet`, `createNode`. Executions show which do.
    fn named_after(&self, ty: TypeId) -> Vec<MethodId> {
        let program = self.program;
        let name = flat(program.type_name(ty).rsplit([':', '.']).next().unwrap_or_default());
        if !program.is_dynamic() || program.ty(ty).platform || name.len() < MIN_NAME {
            return Vec::new();
        }
        let family = near::family(program, ty);
        let types = program.types().filter(|t| !program.ty(*t).platform && near::family(program, *t) == family);
        let makes = |m: &MethodId| program.method(*m).kind != MethodKind::Constructor && flat(program.method_name(*m)).ends_with(&name);
        types.flat_map(|t| program.methods_of(t)).filter(makes).filter(|m| !program.method_name(*m).starts_with('_')).collect()
    }

    /// Whether the type is a class whose objects a test may make, and not a module.
    pub fn has_constructor(&self, ty: TypeId) -> bool {
        let program = self.program;
        program.methods_of(ty).any(|m| program.method(m).kind == MethodKind::Constructor && !self.inner.contains(&m))
    }

    /// Constructors, factories and constants that `t` itself declares.
    fn own_ways(&self, t: TypeId, near: f64, out: &mut Vec<Producer>) {
        if Ty::reference(t) == self.program.well_known().string {
            out.push(Producer { way: Way::Text, weight: near, needs: 0 });
            return;
        }
        for m in self.program.methods_of(t) {
            let def = self.program.method(m);
            let gives = |r: Option<TypeId>| r.is_some_and(|r| self.program.is_subtype(r, t));
            match def.kind {
                MethodKind::Constructor => self.add(m, near, out),
                MethodKind::Static if gives(self.program.signature(m).ret.as_ref()) => self.add(m, near * 0.6, out),
                // a class's own functions mostly make objects of it; executions show which
                MethodKind::Static if self.program.is_dynamic() => self.add(m, near * 0.3, out),
                _ => {}
            }
        }
        let closed = self.program.methods_of(t).len() > 0 && self.program.methods_of(t).all(|m| self.banned.contains(&m));
        for f in self.program.fields_of(t).filter(|_| !closed) {
            let def = self.program.field(f);
            let fits = def.flags.has(Flags::STATIC) && def.ty.as_ref().is_some_and(|r| self.program.is_subtype(r, t));
            if fits && self.scope.readable(self.program, f) {
                out.push(Producer { way: Way::Field(f), weight: near * 0.5, needs: 0 });
            }
        }
    }

    fn add(&self, method: MethodId, near: f64, out: &mut Vec<Producer>) {
        if !self.allowed(method) || self.program.method(method).flags.has(Flags::DEPRECATED) && self.program.ty(self.program.method(method).owner).platform {
            return;
        }
        let needs = needs(self.program, method);
        out.push(Producer { way: Way::Method(method), weight: near / f64::from(1 + needs), needs });
    }

    /// Types to try for a wanted one: of the trace, itself, then subtypes of the program, then well-known ones of the platform.
    fn types_for(&self, ty: TypeId) -> Vec<TypeId> {
        let mut all = vec![ty];
        all.extend(self.program.subtypes(ty, 1500));
        let usable = |t: &TypeId| {
            let def = self.program.ty(*t);
            self.scope.nameable(self.program, *t) && (!def.platform || self.common(*t) || *t == ty)
        };
        let mut types: Vec<TypeId> = all.into_iter().filter(usable).collect();
        // where the platform has usual implementations, the others are noise
        let usual = types.iter().any(|t| self.customs.rank(*t).is_some()) || !self.customs.factories(Ty::reference(ty)).is_empty();
        if usual || self.is_function(ty) {
            types.retain(|t| *t == ty || !self.program.ty(*t).platform || self.customs.rank(*t).is_some());
        }
        let key = |t: &TypeId| {
            let def = self.program.ty(*t);
            let here = self.program.package(*t) == self.scope.package;
            let rank = self.customs.rank(*t).unwrap_or(usize::MAX);
            let far = !def.platform && self.is_far(*t, ty);
            (!self.trace_types.contains(t), *t != ty, far, !here && !def.platform, rank, self.program.type_name(*t).len())
        };
        types.sort_by_key(key);
        types.truncate(MAX_TYPES);
        types
    }

    /// Whether a class belongs to another library than the trace and the wanted type: what the library depends on has ways to get anything, most of
    /// which need its own surroundings.
    fn is_far(&self, t: TypeId, wanted: TypeId) -> bool {
        let family = |t: TypeId| near::family(self.program, t);
        let own = family(t);
        family(wanted) != own && self.trace_types.iter().all(|trace| family(*trace) != own)
    }

    /// An interface of the platform with one method to implement: callers do that themselves.
    fn is_function(&self, ty: TypeId) -> bool {
        let def = self.program.ty(ty);
        def.platform && def.flags.has(Flags::INTERFACE) && stubbable(self.program, &self.scope, ty).is_some_and(|m| m.len() == 1)
    }

    fn common(&self, t: TypeId) -> bool {
        self.plain_packages.contains(&self.program.package(t))
    }
}

/// A name without what separates its words.
fn flat(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Object parameters and receiver.
pub(super) fn needs(program: &Program, method: MethodId) -> u32 {
    let string = program.well_known().string;
    let params = program.signature(method).params.iter().filter(|p| p.is_reference() && **p != string).count() as u32;
    params + u32::from(program.method(method).kind == MethodKind::Instance)
}

/// Program methods that the test may call, by the type that they return.
fn returning(program: &Program, scope: &Scope) -> FxHashMap<TypeId, Vec<MethodId>> {
    let mut out: FxHashMap<TypeId, Vec<MethodId>> = FxHashMap::default();
    for t in program.types().filter(|t| !program.ty(*t).platform && scope.nameable(program, *t)) {
        for m in program.methods_of(t) {
            let def = program.method(m);
            let result = program.signature(m).ret.as_ref();
            if let Some(r) = result
                && def.kind != MethodKind::Constructor
                && r != t
                && scope.callable(program, m)
            {
                out.entry(r).or_default().push(m);
            }
        }
    }
    out
}
