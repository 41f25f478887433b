//! The statements of a test case as Java source lines.
//!
//! Values become typed locals; literals stand where they are used. A local has the most specific type that the test's package can
//! name, and casts appear only where javac would otherwise refuse the use or pick another overload. What Java cannot say from that
//! package is an error with its reason, so that the search can look elsewhere. Names and imports are chosen in `names`.

use std::cell::Cell;

use rethrow_core::program::{Access, Assignability, Base, FieldId, Flags, MethodId, MethodKind, Prim, Program, Ty, TypeId};
use rethrow_core::testcase::{Stmt, TestCase, Var};

use super::generics::{Declared, Generics};
use super::names::{self, Locals, TypeNames};
use super::surroundings::{self, Around};
use super::{access, literal, stub};

/// Longer arrays are filled element by element.
const MAX_INITIALISER: u32 = 16;
/// Names that the expecting style uses around the body.
const TEMPLATE_LOCALS: [&str; 4] = ["thrown", "expected", "frame", "found"];

/// What the body is rendered in.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub program: &'a Program,
    pub package: &'a str,
    pub names: &'a TypeNames<'a>,
    pub generics: &'a dyn Generics,
}

/// The lines, unindented.
pub(super) struct Body {
    pub lines: Vec<String>,
    /// A generic type is used without arguments.
    pub raw: bool,
    pub around: Around,
}

/// What becomes of a statement's value.
#[derive(Clone, PartialEq, Debug)]
enum Place {
    /// Nobody needs it, and evaluating it does nothing.
    Nowhere,
    /// Part of the statement of that index.
    Absorbed,
    /// Written where it is used.
    Inline,
    Local {
        name: String,
        ty: Ty,
    },
    /// Evaluated for its effect.
    Effect,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// Can be followed by a dot.
    Primary,
    /// Needs parentheses before a dot.
    Prefix,
    Null,
    /// Carries type arguments, as `Foo.class` does.
    Typed,
}

/// An expression and the type that javac gives it, erased.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub text: String,
    pub ty: Ty,
    pub kind: Kind,
}

impl Expr {
    pub(super) fn primary(text: String, ty: Ty) -> Self {
        Self { text, ty, kind: Kind::Primary }
    }

    /// The text as something that a dot may follow.
    pub(super) fn dotted(&self) -> String {
        if self.kind == Kind::Prefix { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// The lines of `test`, or why Java cannot say it from this package.
pub(super) fn render(scope: Scope<'_>, test: &TestCase) -> Result<Body, String> {
    let parts = render_parts(scope, test, &[])?;
    // a stub takes several lines
    let lines = parts.lines.iter().flatten().flat_map(|text| text.split('\n')).map(str::to_string).collect();
    Ok(Body { lines, raw: parts.raw, around: Around::of(test) })
}

/// The lines by statement.
pub(super) struct Parts {
    pub lines: Vec<Option<String>>,
    /// The locals that hold the statements' values.
    pub locals: Vec<Option<String>>,
    pub raw: bool,
}

/// The same, statement by statement; the values marked in `named` become locals whether they are used or not.
pub(super) fn render_parts(scope: Scope<'_>, test: &TestCase, named: &[bool]) -> Result<Parts, String> {
    let mut writer = Writer::new(scope, test);
    writer.named = named.to_vec();
    writer.place_all();
    let lines = (0..test.len()).map(|i| writer.statement(i)).collect::<Result<_, _>>()?;
    let local = |place: &Place| match place {
        Place::Local { name, .. } => Some(name.clone()),
        _ => None,
    };
    Ok(Parts { lines, locals: writer.places.iter().map(local).collect(), raw: writer.raw.get() })
}

pub(super) struct Writer<'a> {
    pub scope: Scope<'a>,
    pub program: &'a Program,
    pub test: &'a TestCase,
    /// Uses of each value, with multiplicity.
    uses: Vec<usize>,
    /// Values that have to become locals.
    named: Vec<bool>,
    places: Vec<Place>,
    raw: Cell<bool>,
}

// ---------------------------------------------------------------- where values go

impl<'a> Writer<'a> {
    fn new(scope: Scope<'a>, test: &'a TestCase) -> Self {
        let mut uses = vec![0; test.len()];
        for operand in test.stmts.iter().flat_map(Stmt::operands) {
            uses[operand.0 as usize] += 1;
        }
        Self { scope, program: scope.program, test, uses, named: Vec::new(), places: vec![Place::Effect; test.len()], raw: Cell::new(false) }
    }

    fn place_all(&mut self) {
        for i in 0..self.test.len() {
            if matches!(self.test.stmts[i], Stmt::NewArray { .. }) {
                for set in self.initialising_sets(i) {
                    self.places[set] = Place::Absorbed;
                    self.uses[i] -= 1;
                }
            }
        }
        let mut locals = Locals::new(self.reserved());
        for i in 0..self.test.len() {
            if self.places[i] != Place::Absorbed {
                self.places[i] = self.place(i, &mut locals);
            }
        }
    }

    fn place(&self, i: usize, locals: &mut Locals) -> Place {
        let (stmt, uses) = (&self.test.stmts[i], self.uses[i]);
        let expression_statement = matches!(stmt, Stmt::New { .. } | Stmt::Call { .. } | Stmt::SetField { .. } | Stmt::ArraySet { .. } | Stmt::Env(_));
        match stmt {
            _ if stmt.is_literal() && uses == 0 => Place::Nowhere,
            _ if self.is_inlined_literal(Var(i as u32)) => Place::Inline,
            Stmt::GetStatic(field) if uses == 1 && self.stays_put(i) && self.is_fixed(*field) => Place::Inline,
            Stmt::NewArray { .. } if uses == 1 && self.stays_put(i) && self.is_argument(i) => Place::Inline,
            _ if uses == 0 && expression_statement && self.named.get(i) != Some(&true) => Place::Effect,
            _ => self.local(i, locals),
        }
    }

    /// Text used more than once is named instead.
    fn is_inlined_literal(&self, var: Var) -> bool {
        match self.test.stmt(var) {
            Stmt::Str(_) => self.uses[var.0 as usize] == 1,
            stmt => stmt.is_literal(),
        }
    }

    fn local(&self, i: usize, locals: &mut Locals) -> Place {
        let ty = self.declared(i);
        Place::Local { name: locals.fresh(&self.wish(i)), ty }
    }

    fn wish(&self, i: usize) -> String {
        let ty = self.test.ty(self.program, Var(i as u32));
        let noun = ty.as_prim().is_some();
        let told = match &self.test.stmts[i] {
            Stmt::Call { method, .. } => names::of_member(self.program.method_name(*method), noun),
            Stmt::GetField { field, .. } => names::of_member(self.program.field_name(*field), true),
            Stmt::Env(env) => surroundings::wish(env),
            _ => None,
        };
        told.unwrap_or_else(|| names::of_type(self.program, ty))
    }

    /// Names of types and packages that a local must not hide.
    fn reserved(&self) -> Vec<String> {
        let mut types: Vec<TypeId> = Vec::new();
        for (i, stmt) in self.test.stmts.iter().enumerate() {
            let mut mention = |ty: Ty| {
                if let Base::Ref(id) = ty.base {
                    types.push(id);
                }
            };
            mention(self.test.ty(self.program, Var(i as u32)));
            match stmt {
                Stmt::New { ctor: m, .. } | Stmt::Call { method: m, .. } => {
                    mention(Ty::reference(self.program.method(*m).owner));
                    self.program.signature(*m).params.iter().for_each(|p| mention(*p));
                }
                Stmt::GetStatic(f) | Stmt::GetField { field: f, .. } | Stmt::SetField { field: f, .. } => mention(Ty::reference(self.program.field(*f).owner)),
                Stmt::Class(ty) => mention(*ty),
                Stmt::Stub(stub) => self.program.abstract_methods(stub.ty).into_iter().chain(stub.answers.iter().map(|a| a.method)).for_each(|m| {
                    let signature = self.program.signature(m);
                    signature.params.iter().chain([&signature.ret]).for_each(|t| mention(*t));
                }),
                _ => {}
            }
        }
        let mut out: Vec<String> = types.into_iter().flat_map(|t| names::reserved_by(self.program, t)).collect();
        out.extend(self.reserved_by_stubs());
        out.extend(["java", "org"].into_iter().chain(TEMPLATE_LOCALS).chain(surroundings::LOCALS).map(str::to_string));
        out
    }

    /// Inside a stub, its parameters and the fields that it inherits hide locals.
    fn reserved_by_stubs(&self) -> Vec<String> {
        let stubs: Vec<TypeId> = self.test.stmts.iter().filter_map(|s| if let Stmt::Stub(stub) = s { Some(stub.ty) } else { None }).collect();
        let inherited = stubs.iter().flat_map(|t| self.program.supertypes(*t)).flat_map(|t| self.program.fields_of(t));
        let mut out: Vec<String> = inherited.map(|f| self.program.field_name(f).to_string()).collect();
        if !stubs.is_empty() {
            out.extend((0..stub::MAX_PARAMETERS).map(stub::parameter));
        }
        out
    }

    /// The element assignments right after the array statement `i` that can be written as its initialiser.
    fn initialising_sets(&self, i: usize) -> Vec<usize> {
        let Stmt::NewArray { elem, len } = &self.test.stmts[i] else { return Vec::new() };
        let mut sets = Vec::new();
        let mut seen = Vec::new();
        for (j, stmt) in self.test.stmts.iter().enumerate().skip(i + 1) {
            match stmt {
                Stmt::ArraySet { array, index, value } if array.0 as usize == i && *index < *len && !seen.contains(index) => {
                    let early = (value.0 as usize) < i || self.is_inlined_literal(*value);
                    let fits = self.program.assignable(self.test.ty(self.program, *value), *elem) == Assignability::Yes;
                    if !early || !fits {
                        break;
                    }
                    seen.push(*index);
                    sets.push(j);
                }
                stmt if stmt.is_literal() => {}
                _ => break,
            }
        }
        if *len > MAX_INITIALISER { Vec::new() } else { sets }
    }

    /// Whether nothing that could notice happens between statement `i` and its use.
    fn stays_put(&self, i: usize) -> bool {
        let quiet = |j: usize| {
            self.places[j] == Place::Absorbed || self.test.stmts[j].is_literal() || matches!(self.test.stmts[j], Stmt::GetStatic(_) | Stmt::NewArray { .. })
        };
        let user = self.test.uses(Var(i as u32)).find(|j| self.places[*j] != Place::Absorbed || !self.sets_own(*j, i));
        user.is_some_and(|user| self.places[user] != Place::Absorbed && (i + 1..user).all(quiet))
    }

    fn sets_own(&self, j: usize, array: usize) -> bool {
        matches!(&self.test.stmts[j], Stmt::ArraySet { array: a, .. } if a.0 as usize == array)
    }

    /// Whether the remaining use is as an argument.
    fn is_argument(&self, i: usize) -> bool {
        let var = Var(i as u32);
        self.test.uses(var).any(|j| matches!(&self.test.stmts[j], Stmt::New { args, .. } | Stmt::Call { args, .. } if args.contains(&var)))
    }

    /// A constant that can be written at its use: its value does not change, and its type can be named.
    fn is_fixed(&self, field: FieldId) -> bool {
        let def = self.program.field(field);
        def.flags.has(Flags::FINAL) && access::nameable(self.program, def.ty, self.scope.package)
    }

    /// The most specific type of statement `i` that can be named; among several, the one that serves most uses.
    fn declared(&self, i: usize) -> Ty {
        let ty = self.test.ty(self.program, Var(i as u32));
        let Base::Ref(id) = ty.base else { return ty };
        if access::type_nameable(self.program, id, self.scope.package) {
            return ty;
        }
        let needs = self.needs(Var(i as u32));
        let serves = |t: TypeId| needs.iter().filter(|n| self.is_subtype(Ty { base: Base::Ref(t), dims: ty.dims }, **n)).count();
        let named = self.program.supertypes(id).into_iter().filter(|t| access::type_nameable(self.program, *t, self.scope.package));
        let best = named.enumerate().max_by_key(|(order, t)| (serves(*t), std::cmp::Reverse(*order)));
        let base = best.map_or(self.program.well_known().object.base, |(_, t)| Base::Ref(t));
        Ty { base, dims: ty.dims }
    }

    /// The types that the uses of a value ask for.
    fn needs(&self, var: Var) -> Vec<Ty> {
        let mut out = Vec::new();
        for stmt in &self.test.stmts {
            match stmt {
                Stmt::New { ctor: m, args } | Stmt::Call { method: m, args, .. } => {
                    let params = self.program.signature(*m).params.iter();
                    out.extend(params.zip(args).filter(|(_, a)| **a == var).map(|(p, _)| *p));
                    if matches!(stmt, Stmt::Call { recv: Some(r), .. } if *r == var) {
                        let through = access::declaration(self.program, *m, self.scope.package).unwrap_or(*m);
                        out.push(Ty::reference(self.program.method(through).owner));
                    }
                }
                Stmt::GetField { field, recv } if *recv == var => out.push(Ty::reference(self.program.field(*field).owner)),
                Stmt::SetField { field, value, .. } if *value == var => out.push(self.program.field(*field).ty),
                Stmt::Stub(stub) => {
                    let used = stub.operands().into_iter().enumerate().filter(|(_, v)| *v == var);
                    out.extend(used.map(|(i, _)| stub.operand_ty(self.program, i)));
                }
                _ => {}
            }
        }
        out
    }
}

// ---------------------------------------------------------------- statements

impl Writer<'_> {
    fn statement(&self, i: usize) -> Result<Option<String>, String> {
        if matches!(self.places[i], Place::Nowhere | Place::Absorbed | Place::Inline) {
            return Ok(None);
        }
        let text = match &self.test.stmts[i] {
            Stmt::SetField { field, recv, value } => self.set_field(*field, *recv, *value)?,
            Stmt::ArraySet { array, index, value } => self.set_element(*array, *index, *value)?,
            _ => self.evaluated(i)?.text,
        };
        Ok(Some(match &self.places[i] {
            Place::Local { name, ty } => format!("{} {name} = {text};", self.type_name(*ty)?),
            _ => format!("{text};"),
        }))
    }

    /// The value of statement `i`, computed here.
    fn evaluated(&self, i: usize) -> Result<Expr, String> {
        let own = self.test.ty(self.program, Var(i as u32));
        match &self.test.stmts[i] {
            Stmt::Lit(value) => {
                let text = literal::value(*value, |name| self.scope.names.java_lang(name));
                let kind = if text.starts_with(['-', '(']) { Kind::Prefix } else { Kind::Primary };
                Ok(Expr { text, ty: own, kind })
            }
            Stmt::Str(text) => Ok(Expr::primary(literal::string(text)?, own)),
            Stmt::Null(_) => Ok(Expr { text: "null".into(), ty: own, kind: Kind::Null }),
            Stmt::Class(ty) => Ok(Expr { text: self.scope.names.ty(*ty)? + ".class", ty: own, kind: Kind::Typed }),
            Stmt::GetStatic(field) => {
                let generic = self.scope.generics.of(self.program, self.program.field(*field).owner).is_generic_field(self.program, *field);
                let kind = if generic { Kind::Typed } else { Kind::Primary };
                Ok(Expr { text: self.static_field(*field)?, ty: own, kind })
            }
            Stmt::New { ctor, args } => Ok(Expr::primary(self.new_object(*ctor, args)?, own)),
            Stmt::Call { method, recv, args } => Ok(Expr::primary(self.call(*method, *recv, args)?, own)),
            Stmt::GetField { field, recv } => Ok(Expr::primary(self.instance_field(*field, *recv)?, own)),
            Stmt::NewArray { elem, len } => Ok(Expr::primary(self.new_array(i, *elem, *len)?, own)),
            Stmt::ArrayGet { array, index } => Ok(Expr::primary(self.element(*array, *index)?, own)),
            Stmt::Cast { value, .. } => self.converted(*value, self.declared(i)),
            Stmt::SetField { .. } | Stmt::ArraySet { .. } => Err("an assignment has no value here".into()),
            Stmt::Stub(stub) => Ok(Expr::primary(self.stub(stub)?, own)),
            Stmt::Env(env) => Ok(Expr::primary(surroundings::expression(self.scope.names, env)?, own)),
            Stmt::Data(_) => Err("a value without declared type cannot be written in Java".into()),
        }
    }

    /// The value as it appears at a use.
    fn expr(&self, var: Var) -> Result<Expr, String> {
        match self.places.get(var.0 as usize) {
            Some(Place::Local { name, ty }) => Ok(Expr::primary(name.clone(), *ty)),
            Some(Place::Inline) => self.evaluated(var.0 as usize),
            _ => Err(format!("value {} is used but never made", var.0)),
        }
    }

    /// The value where `need` is asked for, cast if javac needs that.
    pub(super) fn operand(&self, var: Var, need: Ty) -> Result<Expr, String> {
        let expr = self.expr(var)?;
        let own = self.test.ty(self.program, var);
        let misfit = || format!("{} where {} is needed", self.shown(own), self.shown(need));
        if expr.kind == Kind::Null {
            return if need.is_reference() { Ok(expr) } else { Err(misfit()) };
        }
        if self.program.assignable(own, need) == Assignability::No {
            return Err(misfit());
        }
        if self.is_subtype(expr.ty, need) { Ok(expr) } else { self.cast(expr, need) }
    }

    pub(super) fn cast(&self, expr: Expr, to: Ty) -> Result<Expr, String> {
        let name = self.type_name(to)?;
        let related = expr.kind == Kind::Null || expr.ty.as_prim().is_some() || self.program.assignable(expr.ty, to) != Assignability::No;
        let text = if related { format!("({name}) {}", expr.text) } else { format!("({name}) ({}) {}", self.scope.names.java_lang("Object"), expr.text) };
        Ok(Expr { text, ty: to, kind: Kind::Prefix })
    }

    /// A cast statement; towards a supertype it says nothing. `to` can be named.
    fn converted(&self, value: Var, to: Ty) -> Result<Expr, String> {
        let expr = self.expr(value)?;
        if expr.ty.as_prim().is_some() != to.as_prim().is_some() {
            return Err(format!("{} cannot be cast to {}", self.shown(expr.ty), self.shown(to)));
        }
        let idle = expr.kind != Kind::Null && (expr.ty == to || to.is_reference() && self.is_subtype(expr.ty, to));
        if idle { Ok(expr) } else { self.cast(expr, to) }
    }

    fn new_array(&self, i: usize, elem: Ty, len: u32) -> Result<String, String> {
        let base = self.type_name(Ty { base: elem.base, dims: 0 })?;
        let dims = "[]".repeat(usize::from(elem.dims));
        let sets: Vec<(u32, Var)> = self.initialising_sets(i).into_iter().filter_map(|j| self.element_set(j)).collect();
        if sets.is_empty() {
            let len = i32::try_from(len).map_err(|_| format!("an array of {len} elements"))?;
            return Ok(format!("new {base}[{len}]{dims}"));
        }
        let values: Result<Vec<String>, String> = (0..len)
            .map(|index| match sets.iter().find(|(at, _)| *at == index) {
                Some((_, value)) => self.assigned(*value, elem),
                None => Ok(default_value(elem).to_string()),
            })
            .collect();
        Ok(format!("new {base}[]{dims} {{{}}}", values?.join(", ")))
    }

    fn element_set(&self, j: usize) -> Option<(u32, Var)> {
        match &self.test.stmts[j] {
            Stmt::ArraySet { index, value, .. } => Some((*index, *value)),
            _ => None,
        }
    }

    /// The value where constants convert by themselves.
    pub(super) fn assigned(&self, value: Var, need: Ty) -> Result<String, String> {
        match self.test.stmt(value) {
            Stmt::Lit(v) if need == Ty::prim(v.prim()) => Ok(literal::assigned(*v, |name| self.scope.names.java_lang(name))),
            _ => Ok(self.operand(value, need)?.text),
        }
    }

    fn element(&self, array: Var, index: u32) -> Result<String, String> {
        let expr = self.expr(array)?;
        if !expr.ty.is_array() || expr.kind == Kind::Null {
            return Err(format!("{} is indexed", self.shown(expr.ty)));
        }
        Ok(format!("{}[{index}]", expr.dotted()))
    }

    fn set_element(&self, array: Var, index: u32, value: Var) -> Result<String, String> {
        let need = self.test.ty(self.program, array).element().ok_or("a value that is no array is indexed")?;
        let target = self.element(array, index)?;
        Ok(format!("{target} = {}", self.assigned(value, need)?))
    }
}

pub(super) fn default_value(ty: Ty) -> &'static str {
    match ty.as_prim() {
        None => "null",
        Some(Prim::Bool) => "false",
        Some(Prim::Char) => "'\\u0000'",
        Some(Prim::Float) => "0.0F",
        Some(Prim::Double) => "0.0",
        Some(_) => "0",
    }
}

// ---------------------------------------------------------------- fields

impl Writer<'_> {
    fn static_field(&self, field: FieldId) -> Result<String, String> {
        let def = self.program.field(field);
        if !access::readable(self.program, field, self.scope.package) {
            return Err(self.no_access(def.owner, self.program.field_name(field)));
        }
        if !def.flags.has(Flags::STATIC) {
            return Err(format!("{} is not static", self.program.field_name(field)));
        }
        self.complete_type(def.owner)?;
        let owner = access::field_owner(self.program, field, self.scope.package).ok_or_else(|| self.no_access(def.owner, self.program.field_name(field)))?;
        Ok(format!("{}.{}", self.scope.names.reference(owner)?, self.program.field_name(field)))
    }

    fn instance_field(&self, field: FieldId, recv: Var) -> Result<String, String> {
        let def = self.program.field(field);
        let name = self.program.field_name(field);
        if !access::readable(self.program, field, self.scope.package) {
            return Err(self.no_access(def.owner, name));
        }
        self.complete_type(def.owner)?;
        let owner = Ty::reference(def.owner);
        let mut expr = self.operand(recv, owner)?;
        if expr.kind == Kind::Null {
            return Err("a field of null".into());
        }
        let hidden =
            expr.ty.as_ref().is_some_and(|t| self.program.supertypes(t).into_iter().find(|t| self.program.find_field(*t, name).is_some()) != Some(def.owner));
        let specialised = self.scope.generics.of(self.program, def.owner).is_generic_field(self.program, field) && !self.is_raw(expr.ty);
        let inherited_not = def.access == Access::Package && expr.ty != owner;
        if expr.ty != owner && (hidden || specialised || inherited_not) {
            expr = self.cast(expr, owner)?;
        }
        Ok(format!("{}.{name}", expr.dotted()))
    }

    fn set_field(&self, field: FieldId, recv: Option<Var>, value: Var) -> Result<String, String> {
        if !access::writable(self.program, field, self.scope.package) {
            return Err(self.no_access(self.program.field(field).owner, self.program.field_name(field)));
        }
        let target = match recv {
            Some(recv) => self.instance_field(field, recv)?,
            None => self.static_field(field)?,
        };
        Ok(format!("{target} = {}", self.assigned(value, self.program.field(field).ty)?))
    }
}

// ---------------------------------------------------------------- calls

impl Writer<'_> {
    fn new_object(&self, ctor: MethodId, args: &[Var]) -> Result<String, String> {
        let owner = self.program.method(ctor).owner;
        self.check_callable(ctor)?;
        self.check_arity(ctor, args.len())?;
        let inner = access::is_inner(self.program, owner);
        if inner && !self.program.takes_outer(ctor) {
            return Err(format!("{} needs an enclosing instance that its constructor does not take", self.program.type_name(owner)));
        }
        let exprs = self.operands(ctor, args)?;
        let (outer, exprs) = exprs.split_at(usize::from(inner));
        let raw = self.is_raw(Ty::reference(owner));
        let args = joined(&self.arguments(ctor, owner, exprs.to_vec(), raw)?);
        match (inner, outer) {
            (false, _) => Ok(format!("new {}({args})", self.type_name(Ty::reference(owner))?)),
            (true, [outer]) if outer.kind != Kind::Null => {
                self.type_name(Ty::reference(owner))?;
                let outer = self.enclosing(outer, owner)?;
                Ok(format!("{}.new {}({args})", outer.dotted(), access::simple_name(self.program, owner).unwrap_or_default()))
            }
            (true, _) => Err(format!("{} needs an enclosing instance", self.program.type_name(owner))),
        }
    }

    /// The instance that a new object of an inner class belongs to, as the class that declares it: a subclass may have another of the same name.
    fn enclosing(&self, outer: &Expr, inner: TypeId) -> Result<Expr, String> {
        match self.program.ty(inner).outer.map(Ty::reference) {
            Some(declaring) if declaring != outer.ty => self.cast(outer.clone(), declaring),
            _ => Ok(outer.clone()),
        }
    }

    fn call(&self, method: MethodId, recv: Option<Var>, args: &[Var]) -> Result<String, String> {
        self.check_callable(method)?;
        self.check_arity(method, args.len())?;
        let exprs = self.operands(method, args)?;
        match (self.program.method(method).kind, recv) {
            (MethodKind::Static, _) => {
                let owner = access::static_owner(self.program, method, self.scope.package)
                    .ok_or_else(|| self.no_access(self.program.method(method).owner, self.program.method_name(method)))?;
                let args = self.arguments(method, owner, exprs, false)?;
                Ok(format!("{}.{}({})", self.scope.names.reference(owner)?, self.program.method_name(method), joined(&args)))
            }
            (MethodKind::Instance, Some(recv)) => self.instance_call(method, self.expr(recv)?, exprs),
            _ => Err(format!("{} needs a receiver", self.program.qualified(method))),
        }
    }

    pub(super) fn instance_call(&self, method: MethodId, mut receiver: Expr, exprs: Vec<Expr>) -> Result<String, String> {
        let owner = self.program.method(method).owner;
        if receiver.kind == Kind::Null || receiver.ty.as_prim().is_some() {
            return Err(format!("{} is called on no object", self.program.qualified(method)));
        }
        if !self.is_subtype(receiver.ty, Ty::reference(owner)) {
            let entry = Ty::reference(self.entry(method)?);
            if !self.is_subtype(receiver.ty, entry) {
                receiver = self.cast(receiver, entry)?;
            }
        } else if self.seen_otherwise(method, &receiver, &exprs) && access::type_nameable(self.program, owner, self.scope.package) {
            receiver = self.cast(receiver, Ty::reference(owner))?;
        }
        let lookup = receiver.ty.as_ref().or(self.program.well_known().object.as_ref()).unwrap_or(owner);
        let raw = receiver.kind != Kind::Typed && self.is_raw(receiver.ty);
        let args = self.arguments(method, lookup, exprs, raw)?;
        Ok(format!("{}.{}({})", receiver.dotted(), self.program.method_name(method), joined(&args)))
    }

    /// The type to cast a receiver to, so that the call reaches `method`.
    fn entry(&self, method: MethodId) -> Result<TypeId, String> {
        let owner = self.program.method(method).owner;
        if access::type_nameable(self.program, owner, self.scope.package) {
            return Ok(owner);
        }
        let through = access::declaration(self.program, method, self.scope.package);
        through.map(|m| self.program.method(m).owner).ok_or_else(|| self.no_access(owner, self.program.method_name(method)))
    }

    /// Whether javac, looking from the receiver's own type, would see another method, other parameter types, or none.
    fn seen_otherwise(&self, method: MethodId, receiver: &Expr, exprs: &[Expr]) -> bool {
        let def = self.program.method(method);
        let Some(here) = receiver.ty.as_ref().filter(|t| *t != def.owner) else { return false };
        let not_inherited = def.access == Access::Package && self.program.package(here) != self.program.package(def.owner);
        let generic = self.scope.generics.of(self.program, def.owner).method(self.program, method).is_some();
        let specialised = generic && !self.is_raw(receiver.ty) && self.is_raw(Ty::reference(def.owner));
        not_inherited
            || specialised
            || self.is_hidden_below(method, here)
            || self.is_bridged(method, here)
            || self.is_rivalled(method, here, exprs).unwrap_or(true)
    }

    /// Whether what overrides `method` for `here` cannot be named from the test: protected, and of another package than what it overrides.
    fn is_hidden_below(&self, method: MethodId, here: TypeId) -> bool {
        let name = self.program.method_name(method);
        let same = |m: &MethodId| access::same_params(self.program, *m, method) && !self.program.method(*m).flags.has(Flags::BRIDGE);
        let nearest = self.program.supertypes(here).into_iter().find_map(|t| self.program.methods_named(t, name).find(same));
        nearest.is_some_and(|m| m != method && !access::member_visible(self.program, m, self.scope.package))
    }

    /// Whether a class from `here` upwards overrides `method` with another return or parameter type. Then its bridge, which has a frame of its own,
    /// runs only if the call names `method` where it is declared. In the platform's classes nobody looks at frames.
    fn is_bridged(&self, method: MethodId, here: TypeId) -> bool {
        let (name, desc) = (self.program.method_name(method), self.program.method_desc(method));
        let arity = self.program.signature(method).params.len();
        let is_bridge = |m: MethodId| self.program.method(m).flags.has(Flags::BRIDGE);
        self.program.supertypes(here).into_iter().filter(|t| !self.program.ty(*t).platform).any(|t| {
            let rivals = || self.program.methods_named(t, name).filter(|m| self.program.signature(*m).params.len() == arity);
            rivals().any(|m| is_bridge(m) && self.program.method_desc(m) == desc) && rivals().any(|m| !is_bridge(m))
        })
    }

    pub(super) fn operands(&self, method: MethodId, args: &[Var]) -> Result<Vec<Expr>, String> {
        let params = &self.program.signature(method).params;
        params.iter().zip(args).map(|(param, arg)| self.operand(*arg, *param)).collect()
    }

    /// The arguments, cast so that javac picks `method` among the members of `lookup`. `raw`: these members are erased.
    /// `exprs` may leave out leading parameters.
    pub(super) fn arguments(&self, method: MethodId, lookup: TypeId, mut exprs: Vec<Expr>, raw: bool) -> Result<Vec<Expr>, String> {
        let params = &self.program.signature(method).params;
        let params = &params[params.len() - exprs.len()..];
        if !raw {
            self.cast_generic(method, params, &mut exprs)?;
        }
        let varargs_null = self.program.method(method).flags.has(Flags::VARARGS) && exprs.last().is_some_and(|e| e.kind == Kind::Null);
        if self.is_rivalled(method, lookup, &exprs)? {
            for (expr, param) in exprs.iter_mut().zip(params) {
                self.make_exact(expr, *param)?;
            }
        } else if varargs_null && let (Some(last), Some(param)) = (exprs.last_mut(), params.last()) {
            self.make_exact(last, *param)?;
        }
        Ok(exprs)
    }

    fn make_exact(&self, expr: &mut Expr, param: Ty) -> Result<(), String> {
        if expr.kind == Kind::Null || expr.ty != param {
            *expr = self.cast(expr.clone(), param)?;
        }
        Ok(())
    }

    /// Parameters that are declared with type arguments or variables take the raw type, but not everything that erasure lets through.
    fn cast_generic(&self, method: MethodId, params: &[Ty], exprs: &mut [Expr]) -> Result<(), String> {
        let generics = self.scope.generics.of(self.program, self.program.method(method).owner);
        let Some(declared) = generics.method(self.program, method) else { return Ok(()) };
        // signatures leave out parameters that the compiler added, which come first
        for ((declared, param), expr) in declared.iter().rev().zip(params.iter().rev()).zip(exprs.iter_mut().rev()) {
            let same = expr.kind == Kind::Null || expr.ty == *param;
            let refused = match declared {
                Declared::Erased => false,
                Declared::Variable => !same && param.base != self.program.well_known().object.base,
                Declared::Parameterised => expr.kind == Kind::Typed || !same && !self.is_raw(expr.ty),
            };
            if refused && access::nameable(self.program, *param, self.scope.package) {
                *expr = self.cast(expr.clone(), *param)?;
            }
        }
        Ok(())
    }

    /// Whether javac could take another method of `lookup` for these arguments, or find the call ambiguous.
    fn is_rivalled(&self, method: MethodId, lookup: TypeId, exprs: &[Expr]) -> Result<bool, String> {
        let ctor = self.program.method(method).kind == MethodKind::Constructor;
        let places = if ctor { vec![lookup] } else { self.program.supertypes(lookup) };
        let params = self.program.signature(method).params.len();
        let own = &self.program.signature(method).params[params - exprs.len()..];
        let name = self.program.method_name(method);
        let named = places.into_iter().flat_map(|t| self.program.methods_named(t, name).collect::<Vec<_>>());
        for rival in named.filter(|m| access::member_visible(self.program, *m, self.scope.package)) {
            let theirs = &self.program.signature(rival).params;
            if theirs.len() != params || **theirs == *self.program.signature(method).params {
                continue;
            }
            let theirs = &theirs[params - exprs.len()..];
            if let Some(missing) = theirs.iter().find(|p| self.is_missing(**p)) {
                return Err(format!("{} has an overload with {}, which is not on the class path", self.program.qualified(method), self.shown(*missing)));
            }
            let applies = exprs.iter().zip(theirs).all(|(e, p)| self.strictly_applies(e, *p));
            let beaten = own.iter().zip(theirs).all(|(a, b)| self.is_subtype(*a, *b)) && !self.differs_in_generic(rival, own, theirs);
            if applies && !beaten {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a parameter of the rival that is not ours has type arguments: what erasure calls a subtype need not be one of those (`Properties` is no
    /// `Map<String, V>`).
    fn differs_in_generic(&self, rival: MethodId, own: &[Ty], theirs: &[Ty]) -> bool {
        let generics = self.scope.generics.of(self.program, self.program.method(rival).owner);
        let Some(declared) = generics.method(self.program, rival) else { return false };
        let params = declared.iter().rev().zip(own.iter().rev().zip(theirs.iter().rev()));
        params.into_iter().any(|(declared, (own, their))| own != their && *declared == Declared::Parameterised)
    }

    /// Phase 1 of overload resolution: by subtyping alone. The wanted method always applies in it, so later phases do not matter.
    fn strictly_applies(&self, expr: &Expr, param: Ty) -> bool {
        if expr.kind == Kind::Null { param.is_reference() } else { self.is_subtype(expr.ty, param) }
    }
}

// ---------------------------------------------------------------- questions

impl Writer<'_> {
    /// Subtyping of the language, primitives included (`int` is below `long`).
    pub(super) fn is_subtype(&self, sub: Ty, sup: Ty) -> bool {
        match (sub.as_prim(), sup.as_prim()) {
            (Some(a), Some(b)) => a == b || widens(a, b),
            (None, None) => self.program.assignable(sub, sup) == Assignability::Yes || self.array_interface(sub, sup),
            _ => false,
        }
    }

    /// Every array is cloneable and serialisable.
    fn array_interface(&self, sub: Ty, sup: Ty) -> bool {
        let Base::Ref(id) = sup.base else { return false };
        sub.dims > sup.dims && ["java.lang.Cloneable", "java.io.Serializable"].contains(&self.program.type_name(id))
    }

    /// Whether naming the type leaves out type arguments.
    pub(super) fn is_raw(&self, ty: Ty) -> bool {
        let mut at = match ty.base {
            Base::Ref(id) => Some(id),
            _ => None,
        };
        while let Some(id) = at {
            if self.scope.generics.of(self.program, id).parameterised {
                return true;
            }
            at = self.program.ty(id).outer.filter(|_| access::is_inner(self.program, id));
        }
        false
    }

    fn is_missing(&self, ty: Ty) -> bool {
        matches!(ty.base, Base::Ref(id) if self.program.ty(id).missing)
    }

    /// A type written in a declaration, cast or creation.
    pub(super) fn type_name(&self, ty: Ty) -> Result<String, String> {
        if self.is_raw(ty) {
            self.raw.set(true);
        }
        self.scope.names.ty(ty)
    }

    pub(super) fn check_callable(&self, method: MethodId) -> Result<(), String> {
        let def = self.program.method(method);
        if !access::callable(self.program, method, self.scope.package) {
            return Err(self.no_access(def.owner, self.program.method_name(method)));
        }
        let signature = self.program.signature(method);
        if let Some(missing) = signature.params.iter().chain([&signature.ret]).find(|t| self.is_missing(**t)) {
            return Err(format!("{} mentions {}, which is not on the class path", self.program.qualified(method), self.shown(*missing)));
        }
        self.complete_type(def.owner)
    }

    /// javac refuses to look into a type whose supertypes it cannot find.
    pub(super) fn complete_type(&self, id: TypeId) -> Result<(), String> {
        match self.program.supertypes(id).into_iter().find(|t| self.program.ty(*t).missing) {
            Some(missing) => Err(format!("{} extends {}, which is not on the class path", self.program.type_name(id), self.program.type_name(missing))),
            None => Ok(()),
        }
    }

    fn check_arity(&self, method: MethodId, args: usize) -> Result<(), String> {
        let params = self.program.signature(method).params.len();
        if params == args { Ok(()) } else { Err(format!("{} takes {params} arguments, not {args}", self.program.qualified(method))) }
    }

    fn no_access(&self, owner: TypeId, member: &str) -> String {
        let from = if self.scope.package.is_empty() { "the unnamed package" } else { self.scope.package };
        format!("{}.{member} cannot be used from {from}", self.program.type_name(owner))
    }

    fn shown(&self, ty: Ty) -> String {
        rethrow_core::testcase::portable::ty_name(self.program, ty).0
    }
}

pub(super) fn joined(args: &[Expr]) -> String {
    args.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Whether a value of `from` converts to `to` without a cast.
fn widens(from: Prim, to: Prim) -> bool {
    let rank = |p: Prim| match p {
        Prim::Bool => None,
        Prim::Byte => Some(0),
        Prim::Short => Some(1),
        Prim::Char => Some(2),
        Prim::Int => Some(3),
        Prim::Long => Some(4),
        Prim::Float => Some(5),
        Prim::Double => Some(6),
    };
    match (rank(from), rank(to)) {
        (Some(a), Some(b)) => a < b && to != Prim::Char,
        _ => false,
    }
}
