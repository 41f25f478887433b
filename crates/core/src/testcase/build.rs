//! Building statements: values of a type, calls with their receiver and arguments (EVO-15, value creation policy §3.3).
//!
//! A [`Palette`] is what can be built from one package for one program: it does not change during a search. A [`Maker`] appends to a test case.
//! Nothing here knows whether a statement is useful; that is for the search to find out.

pub mod binary;
pub mod customs;
pub mod derived;
pub mod drawn;
pub mod dynamic;
pub mod literals;
pub mod named;
pub mod notations;
pub mod own;
pub mod pattern;
pub mod producers;
pub mod stubs;
pub mod surroundings;
pub mod told;

use std::rc::Rc;

use crate::program::mod_ref::Touching;
use crate::program::{Assignability, Base, Flags, Generic, MethodId, MethodKind, Prim, Program, Ty, TypeId};
use crate::rng::Rng;
use crate::search::facts::Facts;
use crate::testcase::portable::{TyName, find_ty};
use crate::testcase::{Stmt, TestCase, Value, Var, needs_receiver};

pub use drawn::{Objects, Offer};
pub use literals::LiteralPool;
pub use own::Taker;
pub use producers::{Palette, Producer, TargetCall};

/// Probabilities of the value creation policy (§3.3); the defaults are those of EvoSuite but for `null`, which crashes like more.
#[derive(Clone, Debug)]
pub struct Policy {
    pub reuse_object: f64,
    pub reuse_primitive: f64,
    /// How often the object that a call is made on is among what may be its argument: what contains itself mostly recurses without end.
    pub itself: f64,
    pub null: f64,
    /// A literal comes from a pool, not from the generator.
    pub pool: f64,
    /// A literal is one of the class that takes it.
    pub own: f64,
    /// A parameter that the callee casts gets one of those types.
    pub cast: f64,
    /// An insertion writes a field instead of calling a method.
    pub field_write: f64,
    /// An insertion repeats a call that is there.
    pub repeat: f64,
    /// How often a text that mutation picks is changed, instead of removed or followed by an insertion; all three alike in EVO-18.
    pub change_text: f64,
    /// Calls that mostly throw or hang are inserted less.
    pub trusting: bool,
    /// Calls that touch what the way to the crash reads are inserted more.
    pub aimed: bool,
    /// Values follow what executions showed: parts of texts become what they were compared with, and what met the goal further in is given again.
    pub follows: bool,
    /// Texts may be samples of well-known notations.
    pub notations: bool,
    pub max_depth: u32,
    pub max_array: u32,
    /// An object comes from the pool of earlier ones, if there is one.
    pub draw: f64,
    /// What no pool offers is built (GRT-10).
    pub build: bool,
    /// A constant, or an object from the pool, is changed before it is used (GRT-5, GRT-6, GRT-8).
    pub fuzz: f64,
    /// Tests set up what surrounds the program: files, settings, locale, time zone, input.
    pub environment: bool,
    /// What the log's message tells is tried (§5.1).
    pub messages: bool,
    /// Constants of the program and values that comparisons saw are tried.
    pub constants: bool,
    /// Objects are changed by calls of their own methods.
    pub impurity: bool,
    /// Values are used as what executions showed them to be (GRT-9).
    pub exact_types: bool,
    /// Tests define classes of their own: where types are not declared, and else objects that answer anew what every object has.
    pub derive: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            reuse_object: 0.7,
            reuse_primitive: 0.3,
            itself: 0.15,
            null: 0.12,
            pool: 0.6,
            own: 0.2,
            cast: 0.8,
            field_write: 0.08,
            repeat: 0.12,
            change_text: 0.7,
            trusting: true,
            aimed: true,
            follows: true,
            notations: true,
            max_depth: 5,
            max_array: 3,
            draw: 0.8,
            build: true,
            fuzz: 0.0,
            environment: false,
            messages: true,
            constants: true,
            impurity: true,
            exact_types: true,
            derive: true,
        }
    }
}

/// Appends statements to `test`.
pub struct Maker<'a, 'p> {
    pub palette: &'a Palette<'p>,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    pub rng: &'a mut Rng,
    pub test: TestCase,
    depth: u32,
    pool: Option<&'a dyn Objects>,
    /// What the call under test reads.
    aim: Option<&'a Touching>,
    /// Who takes what is being made.
    taker: Option<Taker>,
    /// On what it is called.
    called_on: Option<Var>,
    /// The type arguments of what is being made, and of what is being filled.
    bound: Option<Rc<[Option<Ty>]>>,
    filling: Option<Rc<[Option<Ty>]>>,
}

impl<'a, 'p> Maker<'a, 'p> {
    pub fn new(palette: &'a Palette<'p>, facts: &'a Facts, policy: &'a Policy, rng: &'a mut Rng, test: TestCase) -> Self {
        Maker { palette, facts, policy, rng, test, depth: 0, pool: None, aim: None, taker: None, called_on: None, bound: None, filling: None }
    }

    /// Objects may also come from `pool`.
    #[must_use]
    pub fn drawing_from(mut self, pool: &'a dyn Objects) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Objects are changed in what is read.
    #[must_use]
    pub fn aiming_at(mut self, aim: Option<&'a Touching>) -> Self {
        self.aim = aim;
        self
    }

    fn program(&self) -> &'p Program {
        self.palette.program
    }

    /// A call of `method`: receiver, then each argument, then the call. Leaves the test as it was if that fails.
    pub fn call(&mut self, method: MethodId) -> Option<Var> {
        self.or_roll_back(|maker| {
            let def = maker.program().method(method);
            if def.kind == MethodKind::Constructor && maker.program().ty(def.owner).flags.has(Flags::ABSTRACT) {
                return maker.stub(def.owner, Some(method));
            }
            let recv = match needs_receiver(maker.program(), method) {
                true => Some(maker.receiver(Ty::reference(maker.program().method(method).owner))?),
                false => maker.class_below(method),
            };
            maker.finish_call(method, recv)
        })
    }

    /// Where types are not declared, a class's own function may be called on a class of the test's own that is derived from it.
    fn class_below(&mut self, method: MethodId) -> Option<Var> {
        const BELOW: f64 = 0.3;
        let owner = self.program().method(method).owner;
        let offered = self.program().is_dynamic() && self.policy.derive && self.palette.has_constructor(owner);
        if !offered || !self.palette.targets.iter().any(|t| t.method == method) || !self.rng.chance(BELOW) {
            return None;
        }
        let class = self.derived_class(Some(owner), 0);
        Some(self.test.push(Stmt::Data(class)))
    }

    /// A call of `method` on a given receiver.
    pub fn call_on(&mut self, method: MethodId, recv: Var) -> Option<Var> {
        self.or_roll_back(|maker| maker.finish_call(method, Some(recv)))
    }

    /// A call that leads to the target frame (a member of M_crash).
    pub fn target_call(&mut self, target: &TargetCall) -> Option<Var> {
        if target.receivers.is_empty() {
            return self.call(target.method);
        }
        self.or_roll_back(|maker| maker.call_on_made(target.method, &target.receivers))
    }

    /// A call on an object that was made in one of the given ways.
    fn call_on_made(&mut self, method: MethodId, ways: &[Producer]) -> Option<Var> {
        let owner = Ty::reference(self.program().method(method).owner);
        let known: Vec<Var> = self.vars().filter(|v| ways.iter().any(|p| p.made(self.test.stmt(*v)))).collect();
        let recv = match self.rng.pick(&known) {
            Some(v) if self.rng.chance(self.policy.reuse_object) => *v,
            _ => {
                let producer = ways[self.rng.weighted(ways.iter().map(|w| w.weight))?].clone();
                self.produce(&producer)?
            }
        };
        let recv = self.cast_if_needed(recv, owner)?;
        self.finish_call(method, Some(recv))
    }

    fn or_roll_back(&mut self, f: impl FnOnce(&mut Self) -> Option<Var>) -> Option<Var> {
        let (len, depth) = (self.test.len(), self.depth);
        let made = f(self);
        self.depth = depth;
        if made.is_none() {
            self.test.stmts.truncate(len);
        }
        made
    }

    fn finish_call(&mut self, method: MethodId, recv: Option<Var>) -> Option<Var> {
        let taker = Taker::called_on(self.palette, &self.test, method, recv);
        let outer = (self.taker.replace(taker), std::mem::replace(&mut self.called_on, recv));
        let args = self.arguments(method);
        (self.taker, self.called_on) = outer;
        let args = args?;
        let stmt = match self.program().method(method).kind {
            MethodKind::Constructor => Stmt::New { ctor: method, args },
            _ => Stmt::Call { method, recv, args },
        };
        Some(self.test.push(stmt))
    }

    fn arguments(&mut self, method: MethodId) -> Option<Vec<Var>> {
        let params = self.program().signature(method).params.iter().enumerate();
        let outer = self.program().takes_outer(method);
        params.map(|(i, ty)| if i == 0 && outer { self.receiver(*ty) } else { self.value(*ty, Some((method, i))) }).collect()
    }

    /// From now on values are made as arguments of that statement.
    pub fn for_call(&mut self, test: &TestCase, stmt: &Stmt) {
        self.taker = Taker::at(self.palette, test, stmt);
        self.called_on = if let Stmt::Call { recv, .. } = stmt { *recv } else { None };
    }

    /// Mostly without the object that the call is made on.
    fn others(&mut self, mut known: Vec<Var>) -> Vec<Var> {
        if let Some(recv) = self.called_on.filter(|v| known.contains(v))
            && !self.rng.chance(self.policy.itself)
        {
            known.retain(|v| *v != recv);
        }
        known
    }

    /// A non-null value to call something on.
    pub fn receiver(&mut self, ty: Ty) -> Option<Var> {
        let bound = self.bound.take();
        let made = self.some_receiver(ty);
        self.bound = bound;
        made
    }

    fn some_receiver(&mut self, ty: Ty) -> Option<Var> {
        let known: Vec<Var> = self.assignable_vars(ty).into_iter().filter(|v| !matches!(self.test.stmt(*v), Stmt::Null(_))).collect();
        if !known.is_empty() && self.rng.chance(0.9) {
            return self.rng.pick(&known).copied();
        }
        self.drawn(ty).or_else(|| self.new_object(ty)).or_else(|| known.last().copied())
    }

    /// A value of type `ty`, for parameter `param` if it is an argument.
    pub fn value(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Var> {
        let ty = self.element(ty, param).unwrap_or(ty);
        let bound = self.bound_by(ty, param);
        let outer = (std::mem::replace(&mut self.bound, bound), self.filling.take());
        let made = self.some_value(ty, param);
        (self.bound, self.filling) = outer;
        made
    }

    /// The type arguments that a parameter is declared with.
    fn bound_by(&self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Rc<[Option<Ty>]>> {
        let (method, i) = param?;
        // only the platform's containers are filled
        if !ty.as_ref().is_some_and(|t| self.program().ty(t).platform) || ty == self.program().well_known().string {
            return None;
        }
        match self.program().generics(method).get(i)? {
            Generic::With(args) => Some(args.clone().into()),
            _ => None,
        }
    }

    /// What the container being filled is declared to hold, where the parameter takes it.
    fn element(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Ty> {
        const DECLARED: f64 = 0.85;
        let (filling, (method, i)) = (self.filling.as_ref()?, param?);
        let Generic::Variable(n) = self.program().generics(method).get(i)?.clone() else { return None };
        let element = (*filling.get(n)?)?;
        let fits = self.program().assignable(element, ty) == Assignability::Yes;
        (fits && self.rng.chance(DECLARED)).then_some(element)
    }

    fn some_value(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Var> {
        if let Some(told) = self.told_value(ty, param) {
            return Some(told);
        }
        if self.program().is_dynamic() {
            return self.dynamic_value(param);
        }
        match (ty.as_prim(), ty.is_array()) {
            (Some(prim), _) => Some(self.primitive(prim)),
            (None, true) => self.array(ty),
            (None, false) if ty == self.program().well_known().string => Some(self.string(param)),
            (None, false) => self.object(ty, param),
        }
    }

    fn primitive(&mut self, prim: Prim) -> Var {
        let known = self.exact_vars(Ty::prim(prim));
        if !known.is_empty() && self.rng.chance(self.policy.reuse_primitive) {
            return known[self.rng.below(known.len())];
        }
        let value = literals::value(self.palette, self.facts, self.policy, self.rng, prim, self.taker);
        self.test.push(Stmt::Lit(value))
    }

    fn string(&mut self, param: Option<(MethodId, usize)>) -> Var {
        let ty = self.program().well_known().string;
        let known = self.assignable_vars(ty);
        if !known.is_empty() && self.rng.chance(self.policy.reuse_primitive) {
            return known[self.rng.below(known.len())];
        }
        if self.rng.chance(self.policy.null) {
            return self.test.push(Stmt::Null(ty));
        }
        if let Some(path) = self.path_for(param) {
            return path;
        }
        self.text()
    }

    fn text(&mut self) -> Var {
        let text = self.text_value();
        self.test.push(Stmt::Str(text))
    }

    fn text_value(&mut self) -> String {
        literals::text(self.palette, self.facts, self.policy, self.rng, self.taker)
    }

    fn array(&mut self, ty: Ty) -> Option<Var> {
        let known = self.assignable_vars(ty);
        if !known.is_empty() && self.rng.chance(self.policy.reuse_object) {
            return self.rng.pick(&known).copied();
        }
        if self.rng.chance(self.policy.null) || self.depth >= self.policy.max_depth || !self.palette.scope.nameable_ty(self.program(), ty) {
            return Some(self.test.push(Stmt::Null(ty)));
        }
        if let Some(made) = self.array_from_factory(ty) {
            return Some(made);
        }
        let elem = ty.element()?;
        let len = self.rng.below(self.policy.max_array as usize + 1) as u32;
        let array = self.test.push(Stmt::NewArray { elem, len });
        self.depth += 1;
        for index in 0..len {
            if self.rng.chance(0.7)
                && let Some(value) = self.value(elem, None)
            {
                self.test.push(Stmt::ArraySet { array, index, value });
            }
        }
        self.depth -= 1;
        Some(array)
    }

    fn object(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Var> {
        let wanted = self.narrowed(ty, param);
        let known = self.assignable_vars(wanted);
        let known = self.others(known);
        if !known.is_empty() && self.rng.chance(self.policy.reuse_object) {
            return self.rng.pick(&known).copied();
        }
        if self.rng.chance(self.policy.null) {
            return Some(self.test.push(Stmt::Null(ty)));
        }
        if wanted == self.program().well_known().string {
            return Some(self.string(param));
        }
        if wanted.is_array() {
            return self.array(wanted);
        }
        if self.takes_class(wanted) {
            let ty = self.palette.class_literal(self.rng);
            return Some(self.test.push(Stmt::Class(ty)));
        }
        let made = self.drawn(wanted).or_else(|| self.new_object(wanted));
        made.or_else(|| known.last().copied()).or_else(|| Some(self.test.push(Stmt::Null(ty))))
    }

    /// Whether a class literal is a value for the type: where classes are asked for, and mostly where they are one of few kinds of what is.
    fn takes_class(&mut self, wanted: Ty) -> bool {
        const FEW: usize = 40;
        const MOSTLY: f64 = 0.7;
        let program = self.program();
        let class = program.well_known().class;
        let few = |t: TypeId| program.ty(t).platform && program.subtypes(t, FEW).len() < FEW;
        wanted == class || (program.assignable(class, wanted) == Assignability::Yes && wanted.as_ref().is_some_and(few) && self.rng.chance(MOSTLY))
    }

    /// The declared type, narrowed by the casts that the callee applies to the parameter, or, for the root type, to something buildable.
    fn narrowed(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Ty {
        if let Some(told) = self.told_type(ty) {
            return told;
        }
        if let Some(asked) = param.and_then(|(method, _)| self.asked_for(method, ty)) {
            return asked;
        }
        if let Some((method, i)) = param
            && self.rng.chance(self.policy.cast)
        {
            let casts = self.palette.casts_of(method, i);
            let fitting: Vec<Ty> = casts.iter().copied().filter(|c| self.program().assignable(*c, ty) == Assignability::Yes).collect();
            if let Some(cast) = self.rng.pick(&fitting) {
                return *cast;
            }
        }
        if let Some(t) = ty.as_ref()
            && self.rng.chance(0.5)
        {
            let subtypes: Vec<TypeId> = self.palette.trace_types().iter().copied().filter(|s| *s != t && self.program().is_subtype(*s, t)).collect();
            let root = ty == self.program().well_known().object;
            // elements of containers and values of maps are cast where they are taken out
            if root
                && self.policy.cast > 0.0
                && self.rng.chance(0.5)
                && let Some(cast) = self.rng.pick(self.palette.expected_types())
            {
                return *cast;
            }
            if let Some(s) = self.rng.pick(&subtypes)
                && (!root || self.rng.chance(0.4))
            {
                return Ty::reference(*s);
            }
            if root && self.rng.chance(0.6) {
                return self.program().well_known().string;
            }
        }
        ty
    }

    /// Half of the time a class that calls of the method asked for in vain: what an erased type stands for shows only when it is cast.
    fn asked_for(&mut self, method: MethodId, ty: Ty) -> Option<Ty> {
        let asked = self.facts.asked_for(method);
        if !self.policy.follows || asked.is_empty() || self.rng.chance(0.5) {
            return None;
        }
        let name = self.rng.pick(asked)?;
        let found = find_ty(self.program(), &TyName(name.to_string())).ok()?;
        (found != ty && self.program().assignable(found, ty) == Assignability::Yes).then_some(found)
    }

    /// A new object by one of the ways that the palette knows.
    pub(super) fn new_object(&mut self, ty: Ty) -> Option<Var> {
        let Base::Ref(t) = ty.base else { return None };
        if ty.is_array() {
            return self.array(ty);
        }
        if ty == self.program().well_known().string {
            return Some(self.text());
        }
        if self.depth >= self.policy.max_depth || !self.policy.build {
            return None;
        }
        let producers = self.palette.producers(t);
        for _ in 0..3 {
            let weights: Vec<f64> = producers
                .iter()
                .map(|p| p.weight * self.facts.trust(p.method()) * self.shown_to_make(p, t) * if self.depth >= 2 { p.simplicity() } else { 1.0 })
                .collect();
            let producer = producers[self.rng.weighted(weights.into_iter())?].clone();
            if let Some(v) = self.or_roll_back(|maker| maker.produce(&producer)) {
                self.fill(v);
                return Some(v);
            }
        }
        None
    }

    /// How much less a way is worth that executions showed to make something else.
    fn shown_to_make(&self, producer: &Producer, ty: TypeId) -> f64 {
        const ELSE: f64 = 0.02;
        if !self.program().is_dynamic() {
            return 1.0;
        }
        let made = producer.method().map_or(&[][..], |m| self.facts.returned(m));
        if made.is_empty() || made.iter().any(|t| self.program().is_subtype(*t, ty)) { 1.0 } else { ELSE }
    }

    /// An object made in exactly that way.
    pub fn produced(&mut self, producer: &Producer) -> Option<Var> {
        self.or_roll_back(|maker| maker.produce(producer))
    }

    fn produce(&mut self, producer: &Producer) -> Option<Var> {
        self.depth += 1;
        let made = match &producer.way {
            producers::Way::Method(m) => self.call(*m),
            producers::Way::Field(f) => Some(self.test.push(Stmt::GetStatic(*f))),
            producers::Way::On(m, ways) => self.call_on_made(*m, ways),
            producers::Way::Text => Some(self.text()),
            producers::Way::Stub(ty, ctor) => self.stub(*ty, *ctor),
            producers::Way::Derived(ty) if self.policy.derive => self.derived_object(*ty, 0),
            producers::Way::Derived(_) => None,
        };
        self.depth -= 1;
        made
    }

    /// `var` as a value of type `ty`, by a cast if the static type is too wide.
    pub fn cast_if_needed(&mut self, var: Var, ty: Ty) -> Option<Var> {
        match self.program().assignable(self.test.ty(self.program(), var), ty) {
            Assignability::Yes => Some(var),
            Assignability::Maybe if self.program().is_dynamic() => Some(var),
            Assignability::Maybe if self.palette.scope.nameable_ty(self.program(), ty) => Some(self.test.push(Stmt::Cast { value: var, ty })),
            _ => None,
        }
    }

    pub fn vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.test.len() as u32).map(Var)
    }

    fn exact_vars(&self, ty: Ty) -> Vec<Var> {
        self.vars().filter(|v| self.test.ty(self.program(), *v) == ty).collect()
    }

    /// Variables that may stand where `ty` is asked for without a cast; those that executions showed to fit are cast first.
    fn assignable_vars(&mut self, ty: Ty) -> Vec<Var> {
        let program = self.program();
        let fits: Vec<Var> = self.vars().filter(|v| program.assignable(self.test.ty(program, *v), ty) == Assignability::Yes).collect();
        if !fits.is_empty() {
            return fits;
        }
        let Some(wanted) = ty.as_ref() else {
            return fits;
        };
        if !self.policy.exact_types {
            return fits;
        }
        let shown = self.vars().find(|v| match self.test.stmt(*v) {
            Stmt::Call { method, .. } => {
                program.assignable(self.test.ty(program, *v), ty) == Assignability::Maybe
                    && self.facts.returned(*method).iter().any(|t| program.is_subtype(*t, wanted))
            }
            _ => false,
        });
        shown.and_then(|v| self.cast_if_needed(v, ty)).into_iter().collect()
    }
}

/// Runs `f` on the first `at` statements and puts the rest behind what it appended.
pub fn splice(test: &TestCase, at: usize, f: impl FnOnce(TestCase) -> Option<TestCase>) -> Option<TestCase> {
    let mut out = f(test.prefix(at))?;
    let shift = (out.len() - at) as u32;
    for stmt in &test.stmts[at..] {
        let mut stmt = stmt.clone();
        for v in stmt.operands_mut() {
            if v.0 as usize >= at {
                v.0 += shift;
            }
        }
        out.stmts.push(stmt);
    }
    Some(out)
}

/// The value with which memory starts out: the simplest of a primitive type.
pub fn zero(prim: Prim) -> Value {
    Value::of_int(prim, 0)
}
