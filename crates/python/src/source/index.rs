//! What a file declares: its code objects, classes, names and where they come from. Plain data, kept when the syntax tree is dropped.

use ruff_python_ast::{Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use rethrow_core::program::{Literal, Taking};

use super::file::Lines;
use super::walk::{self, MAX_DEPTH};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    Module,
    Class,
    Function,
    Lambda,
    Comprehension,
    Generator,
}

/// How a function is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Of a module, or nested.
    Plain,
    Instance,
    Static,
    Class,
    /// Read like an attribute.
    Getter,
    /// The setter or deleter of a property.
    Setter,
}

/// A parameter as declared, the receiver left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub name: String,
    pub taking: Taking,
    pub optional: bool,
}

/// A code object.
#[derive(Clone, Debug)]
pub struct Code {
    pub kind: CodeKind,
    pub name: String,
    pub role: Role,
    /// The innermost class around it.
    pub class: Option<usize>,
    pub range: TextRange,
    pub first_line: u32,
    pub last_line: u32,
    /// Offset of the statement it is part of.
    pub statement: u32,
    /// Not to be called by name: inside other code.
    pub nested: bool,
    pub params: Vec<Param>,
    pub is_async: bool,
    pub yields: bool,
    /// Its name stands for what a decorator made of it.
    pub decorated: bool,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    pub qualname: String,
    pub outer: Option<usize>,
    /// Bases as dotted names, where they are such.
    pub bases: Vec<Vec<String>>,
    pub decorators: Vec<String>,
    pub nameable: bool,
    /// Attributes, with a constant where the class body gives one.
    pub fields: Vec<Field>,
    /// `x: int = 3` in the class body, in order: what a dataclass takes.
    pub annotated: Vec<Param>,
    pub range: TextRange,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub shared: bool,
    pub constant: Option<Literal>,
    /// What is called to make its value, as a dotted name; empty if that is no name.
    pub made: Option<Vec<String>>,
}

/// What a name of a module means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Binding {
    Class(usize),
    Function(usize),
    Module(String),
    From { module: String, level: u32, name: String },
    Alias(Vec<String>),
    Other,
}

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The module's own first.
    pub codes: Vec<Code>,
    pub classes: Vec<Class>,
    pub names: FxHashMap<String, Binding>,
    /// `from x import *`: module and level.
    pub stars: Vec<(String, u32)>,
    pub globals: Vec<Field>,
}

impl Index {
    pub fn of(body: &[Stmt], lines: &Lines<'_>, version: (u32, u32)) -> Index {
        let last = lines.line(ruff_text_size::TextSize::new(u32::MAX));
        let range = TextRange::up_to(ruff_text_size::TextSize::new(u32::MAX));
        let module = Code {
            kind: CodeKind::Module,
            name: "<module>".into(),
            role: Role::Plain,
            class: None,
            range,
            first_line: 1,
            last_line: last,
            statement: 0,
            nested: true,
            params: Vec::new(),
            is_async: false,
            yields: false,
            decorated: false,
        };
        let mut walker = Walker { index: Index::default(), lines, inlined: version >= (3, 12), depth: 0 };
        walker.index.codes.push(module);
        walker.suite(body, Place { code: 0, class: None, in_function: false });
        walker.index
    }

    /// The innermost code of that name that has the line.
    pub fn code_at(&self, name: &str, line: u32) -> Option<usize> {
        let has = |c: &Code| c.first_line <= line && line <= c.last_line;
        let named = self.codes.iter().enumerate().filter(|(_, c)| has(c) && (c.name == name || name.is_empty() && c.kind != CodeKind::Comprehension));
        named.min_by_key(|(i, c)| (c.last_line - c.first_line, usize::MAX - i)).map(|(i, _)| i)
    }
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    code: usize,
    class: Option<usize>,
    in_function: bool,
}

struct Walker<'a> {
    index: Index,
    lines: &'a Lines<'a>,
    inlined: bool,
    depth: usize,
}

impl Walker<'_> {
    fn suite(&mut self, body: &[Stmt], place: Place) {
        if self.depth > MAX_DEPTH {
            return;
        }
        self.depth += 1;
        stacker::maybe_grow(128 << 10, 4 << 20, || body.iter().for_each(|stmt| self.stmt(stmt, place)));
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt, place: Place) {
        let statement = self.lines.start_of(stmt);
        let mut exprs = Vec::new();
        walk::own_exprs(stmt, &mut |e| exprs.push(e));
        exprs.into_iter().for_each(|e| self.expr(e, place, statement));
        match stmt {
            Stmt::FunctionDef(def) => self.function(def, place, statement),
            Stmt::ClassDef(def) => self.class(def, place, statement),
            _ => {
                self.bind(stmt, place);
                let mut blocks = Vec::new();
                walk::blocks(stmt, &mut |b| blocks.push(b));
                blocks.into_iter().for_each(|b| self.suite(b, place));
            }
        }
    }

    fn new_code(&mut self, kind: CodeKind, name: &str, range: TextRange, place: Place, statement: u32) -> usize {
        let end = ruff_text_size::TextSize::new(range.end().to_u32().saturating_sub(1).max(range.start().to_u32()));
        self.index.codes.push(Code {
            kind,
            name: name.to_string(),
            role: Role::Plain,
            class: place.class,
            range,
            first_line: self.lines.line(range.start()),
            last_line: self.lines.line(end),
            statement,
            nested: true,
            params: Vec::new(),
            is_async: false,
            yields: false,
            decorated: false,
        });
        self.index.codes.len() - 1
    }

    fn function(&mut self, def: &StmtFunctionDef, place: Place, statement: u32) {
        let at = self.new_code(CodeKind::Function, def.name.as_str(), def.range, place, statement);
        let in_class = place.class.is_some() && !place.in_function;
        let role = if in_class { role(def) } else { Role::Plain };
        let code = &mut self.index.codes[at];
        code.role = role;
        code.nested = place.in_function;
        code.is_async = def.is_async;
        code.decorated = def.decorator_list.iter().any(|d| !is_plain_decorator(&d.expression));
        code.params = params(&def.parameters, matches!(role, Role::Instance | Role::Class | Role::Getter | Role::Setter));
        if !place.in_function {
            match place.class {
                None => self.name(def.name.as_str(), Binding::Function(at)),
                Some(class) if matches!(role, Role::Getter) => self.field(class, def.name.as_str(), false, None),
                Some(_) => {}
            }
        }
        self.suite(&def.body, Place { code: at, in_function: true, ..place });
    }

    fn class(&mut self, def: &StmtClassDef, place: Place, statement: u32) {
        let code = self.new_code(CodeKind::Class, def.name.as_str(), def.range, place, statement);
        let qualname = match (place.in_function, place.class) {
            (true, _) => format!("{}.<locals>.{}", self.index.codes[place.code].name, def.name),
            (false, Some(outer)) => format!("{}.{}", self.index.classes[outer].qualname, def.name),
            (false, None) => def.name.to_string(),
        };
        let args = def.arguments.as_ref().map(|a| &*a.args).unwrap_or_default();
        let bases = args.iter().filter_map(|b| walk::dotted(base_name(b)).map(|parts| parts.into_iter().map(String::from).collect())).collect();
        let decorators = def.decorator_list.iter().filter_map(|d| walk::dotted(callee(&d.expression))).map(|p| p.join(".")).collect();
        let nameable = !place.in_function && place.class.is_none_or(|c| self.index.classes[c].nameable);
        let outer = place.class.filter(|_| !place.in_function);
        let class = Class { qualname, outer, bases, decorators, nameable, fields: Vec::new(), annotated: Vec::new(), range: def.range };
        self.index.classes.push(class);
        let at = self.index.classes.len() - 1;
        if !place.in_function && place.class.is_none() {
            self.name(def.name.as_str(), Binding::Class(at));
        }
        self.suite(&def.body, Place { code, class: Some(at), in_function: false });
    }

    /// Nested code in expressions.
    fn expr(&mut self, expr: &Expr, place: Place, statement: u32) {
        if self.depth > MAX_DEPTH {
            return;
        }
        self.depth += 1;
        stacker::maybe_grow(128 << 10, 4 << 20, || self.expr_inner(expr, place, statement));
        self.depth -= 1;
    }

    fn expr_inner(&mut self, expr: &Expr, place: Place, statement: u32) {
        let inside = match expr {
            Expr::Lambda(e) => {
                let at = self.new_code(CodeKind::Lambda, "<lambda>", e.range, place, statement);
                self.index.codes[at].params = e.parameters.as_ref().map(|p| params(p, false)).unwrap_or_default();
                Some(at)
            }
            Expr::ListComp(e) if !self.inlined => Some(self.new_code(CodeKind::Comprehension, "<listcomp>", e.range, place, statement)),
            Expr::SetComp(e) if !self.inlined => Some(self.new_code(CodeKind::Comprehension, "<setcomp>", e.range, place, statement)),
            Expr::DictComp(e) if !self.inlined => Some(self.new_code(CodeKind::Comprehension, "<dictcomp>", e.range, place, statement)),
            Expr::Generator(e) => Some(self.new_code(CodeKind::Generator, "<genexpr>", e.range, place, statement)),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.index.codes[place.code].yields = true;
                None
            }
            _ => None,
        };
        let inner = inside.map_or(place, |code| Place { code, in_function: true, ..place });
        let mut exprs = Vec::new();
        walk::children(expr, &mut |e| exprs.push(e));
        exprs.into_iter().for_each(|e| self.expr(e, inner, statement));
    }

    fn bind(&mut self, stmt: &Stmt, place: Place) {
        match stmt {
            Stmt::Import(s) if !place.in_function => {
                for alias in &s.names {
                    let full = alias.name.as_str();
                    match &alias.asname {
                        Some(name) => self.name(name.as_str(), Binding::Module(full.to_string())),
                        None => self.name(full.split('.').next().unwrap_or(full), Binding::Module(full.split('.').next().unwrap_or(full).to_string())),
                    }
                }
            }
            Stmt::ImportFrom(s) if !place.in_function => {
                let module = s.module.as_ref().map(|m| m.to_string()).unwrap_or_default();
                for alias in &s.names {
                    if alias.name.as_str() == "*" {
                        self.index.stars.push((module.clone(), s.level));
                        continue;
                    }
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.name(name.as_str(), Binding::From { module: module.clone(), level: s.level, name: alias.name.to_string() });
                }
            }
            Stmt::Assign(s) => s.targets.iter().for_each(|t| self.target(t, Some(&s.value), place)),
            Stmt::AugAssign(s) => self.target(&s.target, None, place),
            Stmt::AnnAssign(s) => {
                self.target(&s.target, s.value.as_deref(), place);
                if let (Expr::Name(n), Some(class), false) = (&*s.target, place.class, place.in_function)
                    && !is_class_var(&s.annotation)
                {
                    let param = Param { name: n.id.to_string(), taking: Taking::Any, optional: s.value.is_some() };
                    self.index.classes[class].annotated.push(param);
                }
            }
            Stmt::For(s) => self.target(&s.target, None, place),
            Stmt::With(s) => s.items.iter().filter_map(|i| i.optional_vars.as_deref()).for_each(|t| self.target(t, None, place)),
            _ => {}
        }
    }

    /// Module variables, class attributes, and `self.x = …` in methods.
    fn target(&mut self, target: &Expr, value: Option<&Expr>, place: Place) {
        match target {
            Expr::Name(n) if !place.in_function => {
                let name = n.id.as_str();
                match place.class {
                    Some(class) => self.field(class, name, true, value.and_then(literal)),
                    None => {
                        let alias = value.and_then(walk::dotted).map(|p| Binding::Alias(p.into_iter().map(String::from).collect()));
                        self.name(name, alias.unwrap_or(Binding::Other));
                        if !self.index.globals.iter().any(|f| f.name == name) && self.index.globals.len() < 2000 {
                            let made = value.and_then(made_by);
                            self.index.globals.push(Field { name: name.into(), shared: true, constant: value.and_then(literal), made });
                        }
                    }
                }
            }
            Expr::Attribute(a) if place.in_function => {
                if let (Expr::Name(n), Some(class)) = (&*a.value, place.class)
                    && matches!(n.id.as_str(), "self" | "cls")
                {
                    self.field(class, a.attr.as_str(), n.id.as_str() == "cls", None);
                }
            }
            Expr::Tuple(t) => t.elts.iter().for_each(|e| self.target(e, None, place)),
            Expr::List(t) => t.elts.iter().for_each(|e| self.target(e, None, place)),
            _ => {}
        }
    }

    fn name(&mut self, name: &str, binding: Binding) {
        // `try: import a except: a = None`: what says more is kept
        if binding == Binding::Other && self.index.names.contains_key(name) {
            return;
        }
        self.index.names.insert(name.to_string(), binding);
    }

    fn field(&mut self, class: usize, name: &str, shared: bool, constant: Option<Literal>) {
        let fields = &mut self.index.classes[class].fields;
        if fields.len() < 500 && !fields.iter().any(|f| f.name == name) {
            fields.push(Field { name: name.to_string(), shared, constant, made: None });
        }
    }
}

/// `Generic[T]` as `Generic`.
fn base_name(expr: &Expr) -> &Expr {
    if let Expr::Subscript(s) = expr { &s.value } else { expr }
}

/// `dataclass(frozen=True)` as `dataclass`.
pub fn callee(expr: &Expr) -> &Expr {
    if let Expr::Call(c) = expr { &c.func } else { expr }
}

fn is_class_var(annotation: &Expr) -> bool {
    walk::dotted(base_name(annotation)).is_some_and(|p| p.last() == Some(&"ClassVar"))
}

/// Decorators that leave a function as it is, or say only how it is bound.
fn is_plain_decorator(expr: &Expr) -> bool {
    let name = walk::dotted(callee(expr)).and_then(|parts| parts.last().copied());
    name.is_some_and(|n| matches!(n, "staticmethod" | "classmethod" | "property" | "setter" | "getter" | "deleter" | "abstractmethod" | "overload" | "final"))
}

fn role(def: &StmtFunctionDef) -> Role {
    for decorator in &def.decorator_list {
        let Some(parts) = walk::dotted(callee(&decorator.expression)) else { continue };
        match *parts.last().unwrap_or(&"") {
            "staticmethod" => return Role::Static,
            "classmethod" => return Role::Class,
            "setter" | "deleter" if parts.len() > 1 => return Role::Setter,
            "property" | "cached_property" | "getter" | "abstractproperty" | "lazyproperty" | "reify" | "cachedproperty" => return Role::Getter,
            _ => {}
        }
    }
    match def.name.as_str() {
        // class methods without being told
        "__new__" | "__init_subclass__" | "__class_getitem__" => Role::Class,
        _ => Role::Instance,
    }
}

/// Parameters in the order of a signature.
pub fn params(parameters: &Parameters, skip_first: bool) -> Vec<Param> {
    let mut out = Vec::new();
    let mut push = |name: &str, taking: Taking, optional: bool| out.push(Param { name: name.to_string(), taking, optional });
    parameters.posonlyargs.iter().for_each(|p| push(p.parameter.name.as_str(), Taking::PositionalOnly, p.default.is_some()));
    parameters.args.iter().for_each(|p| push(p.parameter.name.as_str(), Taking::Any, p.default.is_some()));
    parameters.vararg.iter().for_each(|p| push(p.name.as_str(), Taking::Rest, true));
    parameters.kwonlyargs.iter().for_each(|p| push(p.parameter.name.as_str(), Taking::KeywordOnly, p.default.is_some()));
    parameters.kwarg.iter().for_each(|p| push(p.name.as_str(), Taking::RestNamed, true));
    let first_is_receiver = out.first().is_some_and(|p| matches!(p.taking, Taking::Any | Taking::PositionalOnly));
    if skip_first && first_is_receiver {
        out.remove(0);
    }
    out
}

/// What a value is made by, where it is the result of a call.
fn made_by(value: &Expr) -> Option<Vec<String>> {
    let Expr::Call(call) = value else { return None };
    Some(walk::dotted(&call.func).into_iter().flatten().map(String::from).collect())
}

/// A literal that a field is set to.
pub fn literal(expr: &Expr) -> Option<Literal> {
    use ruff_python_ast::Number;
    match expr {
        Expr::StringLiteral(s) => Some(Literal::Str(s.value.to_str().to_string())),
        Expr::NumberLiteral(n) => match &n.value {
            Number::Int(i) => i.as_i64().map(|v| i32::try_from(v).map_or(Literal::Long(v), Literal::Int)),
            Number::Float(f) => Some(Literal::Double(*f)),
            Number::Complex { .. } => None,
        },
        _ => None,
    }
}

impl Code {
    /// Whether this is the code of that node.
    pub fn is_of(&self, node: impl Ranged) -> bool {
        self.range == node.range()
    }
}
