//! What the use of a value in code says about it: duck typing read backwards.

use rethrow_core::program::Shape;
use rethrow_core::testcase::data::Data;
use ruff_python_ast::{CmpOp, Expr, ExprCall, ExprCompare, Operator, Stmt};
use rustc_hash::FxHashSet;

use super::annotation::{Context, constant, shape_of};
use super::resolve::Entity;
use super::walk::{self, MAX_DEPTH};

const STR: [&str; 40] = [
    "split",
    "strip",
    "lstrip",
    "rstrip",
    "startswith",
    "endswith",
    "lower",
    "upper",
    "splitlines",
    "encode",
    "isdigit",
    "isalpha",
    "isspace",
    "isalnum",
    "isupper",
    "islower",
    "isnumeric",
    "isdecimal",
    "isidentifier",
    "title",
    "capitalize",
    "casefold",
    "swapcase",
    "partition",
    "rpartition",
    "rsplit",
    "zfill",
    "ljust",
    "rjust",
    "center",
    "expandtabs",
    "translate",
    "format",
    "join",
    "find",
    "rfind",
    "rindex",
    "replace",
    "removeprefix",
    "removesuffix",
];
const DICT: [&str; 8] = ["items", "keys", "values", "get", "setdefault", "popitem", "iteritems", "has_key"];
const LIST: [&str; 6] = ["append", "extend", "insert", "sort", "reverse", "remove"];
const STREAM: [&str; 7] = ["read", "readline", "readlines", "seek", "tell", "fileno", "readable"];
const SHARED: [&str; 8] = ["index", "count", "pop", "copy", "clear", "update", "write", "close"];
const TEXT_CALLS: [&str; 12] = ["match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "loads", "ord", "fromstring", "parse", "unescape"];
const LIST_CALLS: [&str; 13] = ["sorted", "list", "set", "tuple", "enumerate", "iter", "zip", "sum", "min", "max", "any", "all", "reversed"];

/// Calls that a value is followed into.
const MAX_PASSED: usize = 8;
/// Shapes that are told apart; options have many.
const MAX_WEIGHED: usize = 140;

/// Evidence: a shape and how much speaks for it.
#[derive(Default)]
pub struct Evidence {
    weighed: Vec<(Shape, u32)>,
    /// Attributes that no built-in type has.
    pub attributes: Vec<String>,
    /// Called like a function.
    pub called: bool,
    /// Calls of program functions that it is handed to: file and code.
    pub passed: Vec<(usize, usize, Passing)>,
    /// Attributes of the receiver that it is kept in.
    pub kept: Vec<String>,
    /// Names that its items are given in loops.
    pub items: Vec<String>,
}

/// How a value is handed to a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// As the argument at this place.
    At(usize),
    /// By the name of a parameter.
    As(String),
    /// Its items are the named arguments.
    Spread,
}

impl Evidence {
    pub fn add(&mut self, shape: Shape, weight: u32) {
        if let Some((_, w)) = self.weighed.iter_mut().find(|(s, _)| *s == shape) {
            *w += weight;
        } else if self.weighed.len() < MAX_WEIGHED {
            self.weighed.push((shape, weight));
        }
    }

    /// Lists hold such items.
    pub fn of_items(&mut self, item: &Shape) {
        for (shape, _) in &mut self.weighed {
            if *shape == Shape::List(Box::new(Shape::Any)) {
                *shape = Shape::List(Box::new(item.clone()));
            }
        }
    }

    /// Most convincing first.
    pub fn shapes(mut self) -> Vec<Shape> {
        self.weighed.sort_by_key(|(_, w)| std::cmp::Reverse(*w));
        self.weighed.into_iter().map(|(s, _)| s).collect()
    }
}

/// What is followed: a name, or an attribute of the receiver.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    Name(&'a str),
    Attribute(&'a str),
}

impl Subject<'_> {
    fn is(self, expr: &Expr) -> bool {
        match (self, expr) {
            (Subject::Name(name), Expr::Name(n)) => n.id.as_str() == name,
            (Subject::Attribute(name), Expr::Attribute(a)) => a.attr.as_str() == name && matches!(&*a.value, Expr::Name(n) if n.id.as_str() == "self"),
            _ => false,
        }
    }
}

/// Reads code for one subject.
pub struct Reader<'a> {
    pub context: Context<'a>,
    pub subject: Subject<'a>,
    pub evidence: Evidence,
    /// Nodes that are still looked at: large functions say it early.
    pub fuel: usize,
}

impl Reader<'_> {
    pub fn suite(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body {
            if self.fuel == 0 || depth > MAX_DEPTH / 4 {
                return;
            }
            self.stmt(stmt);
            let mut exprs = Vec::new();
            walk::own_exprs(stmt, &mut |e| exprs.push(e));
            exprs.into_iter().for_each(|e| self.expr(e));
            let mut blocks = Vec::new();
            walk::blocks(stmt, &mut |b| blocks.push(b));
            blocks.into_iter().for_each(|b| self.suite(b, depth + 1));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(s) if self.subject.is(&s.iter) => self.iterated(&s.target),
            Stmt::With(s) if s.items.iter().any(|i| self.subject.is(&i.context_expr)) => self.evidence.add(Shape::Stream, 3),
            Stmt::Assign(s) if self.subject.is(&s.value) => {
                for target in &s.targets {
                    match target {
                        Expr::Attribute(a) if matches!(&*a.value, Expr::Name(n) if n.id.as_str() == "self") => self.evidence.kept.push(a.attr.to_string()),
                        Expr::Tuple(t) => self.evidence.add(Shape::Tuple(vec![Shape::Any; t.elts.len().min(8)]), 3),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    pub fn expr(&mut self, root: &Expr) {
        let mut pending = vec![root];
        while let Some(expr) = pending.pop() {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            self.see(expr);
            walk::children(expr, &mut |e| pending.push(e));
        }
    }

    fn iterated(&mut self, target: &Expr) {
        match target {
            Expr::Tuple(t) => self.evidence.add(Shape::List(Box::new(Shape::Tuple(vec![Shape::Any; t.elts.len().min(8)]))), 4),
            _ => self.evidence.add(Shape::List(Box::new(Shape::Any)), 2),
        }
        if let Expr::Name(n) = target
            && self.evidence.items.len() < 4
        {
            self.evidence.items.push(n.id.to_string());
        }
    }

    fn see(&mut self, expr: &Expr) {
        match expr {
            Expr::Attribute(a) if self.subject.is(&a.value) => self.attribute(a.attr.as_str()),
            Expr::Call(c) => self.call(c),
            Expr::Subscript(s) if self.subject.is(&s.value) => match &*s.slice {
                Expr::StringLiteral(key) => self.evidence.add(Shape::Dict(Box::new((Shape::Value(Data::text(key.value.to_str())), Shape::Any))), 3),
                Expr::Slice(_) => {
                    self.evidence.add(Shape::Str, 2);
                    self.evidence.add(Shape::List(Box::new(Shape::Any)), 1);
                }
                Expr::NumberLiteral(_) | Expr::UnaryOp(_) => {
                    self.evidence.add(Shape::List(Box::new(Shape::Any)), 2);
                    self.evidence.add(Shape::Str, 1);
                    self.evidence.add(Shape::Tuple(vec![Shape::Any; 2]), 1);
                }
                _ => {
                    self.evidence.add(Shape::Dict(Box::new((Shape::Any, Shape::Any))), 1);
                    self.evidence.add(Shape::List(Box::new(Shape::Any)), 1);
                }
            },
            Expr::Subscript(s) if self.subject.is(&s.slice) => {
                self.evidence.add(Shape::Str, 1);
                self.evidence.add(Shape::Int, 1);
            }
            Expr::Compare(c) => self.compare(c),
            Expr::BinOp(b) if self.subject.is(&b.left) || self.subject.is(&b.right) => {
                let other = if self.subject.is(&b.left) { &b.right } else { &b.left };
                self.arithmetic(b.op, other, self.subject.is(&b.left));
            }
            Expr::UnaryOp(u) if self.subject.is(&u.operand) && u.op != ruff_python_ast::UnaryOp::Not => self.evidence.add(Shape::Int, 2),
            Expr::ListComp(c) => {
                c.generators.iter().filter(|g| self.subject.is(&g.iter)).map(|g| g.target.clone()).collect::<Vec<_>>().iter().for_each(|t| self.iterated(t))
            }
            Expr::Generator(c) => {
                c.generators.iter().filter(|g| self.subject.is(&g.iter)).map(|g| g.target.clone()).collect::<Vec<_>>().iter().for_each(|t| self.iterated(t))
            }
            Expr::Starred(s) if self.subject.is(&s.value) => self.evidence.add(Shape::List(Box::new(Shape::Any)), 2),
            Expr::YieldFrom(y) if self.subject.is(&y.value) => self.evidence.add(Shape::List(Box::new(Shape::Any)), 2),
            _ => {}
        }
    }

    fn attribute(&mut self, name: &str) {
        if STR.contains(&name) {
            self.evidence.add(Shape::Str, 4);
        } else if name == "decode" {
            self.evidence.add(Shape::Bytes, 5);
        } else if DICT.contains(&name) {
            self.evidence.add(Shape::Dict(Box::new((Shape::Any, Shape::Any))), 4);
        } else if LIST.contains(&name) {
            self.evidence.add(Shape::List(Box::new(Shape::Any)), 4);
        } else if STREAM.contains(&name) {
            self.evidence.add(Shape::Stream, 6);
        } else if matches!(name, "year" | "month" | "day" | "hour" | "minute" | "tzinfo" | "isoformat" | "strftime" | "days" | "total_seconds") {
            let class = if matches!(name, "days" | "total_seconds") { "datetime:timedelta" } else { "datetime:datetime" };
            if let Some(ty) = self.context.program.find_type(class) {
                self.evidence.add(Shape::Instance(ty), 4);
            }
        } else if !SHARED.contains(&name) && !name.starts_with("__") && !self.evidence.attributes.iter().any(|a| a == name) {
            self.evidence.attributes.push(name.to_string());
        }
    }

    fn arithmetic(&mut self, op: Operator, other: &Expr, left: bool) {
        match constant(other) {
            Some(Data::Str(_)) if op == Operator::Mod && !left => {}
            Some(Data::Str(_)) => self.evidence.add(Shape::Str, 3),
            Some(Data::Float(_)) => self.evidence.add(Shape::Float, 3),
            Some(Data::Int(_)) => self.evidence.add(Shape::Int, 3),
            Some(Data::List(_)) => self.evidence.add(Shape::List(Box::new(Shape::Any)), 3),
            _ if matches!(other, Expr::FString(_)) => self.evidence.add(Shape::Str, 3),
            _ => self.evidence.add(Shape::Int, 1),
        }
    }

    fn compare(&mut self, c: &ExprCompare) {
        let mut left = &*c.left;
        for (op, right) in c.ops.iter().zip(&*c.comparators) {
            if self.subject.is(left) {
                self.compared(*op, right);
            } else if self.subject.is(right) {
                match (op, constant(left)) {
                    (CmpOp::In | CmpOp::NotIn, Some(Data::Str(text))) => {
                        self.evidence.add(Shape::Str, 2);
                        self.evidence.add(Shape::Dict(Box::new((Shape::Value(Data::Str(text)), Shape::Any))), 2);
                    }
                    (CmpOp::In | CmpOp::NotIn, _) => self.evidence.add(Shape::List(Box::new(Shape::Any)), 1),
                    _ => self.compared(*op, left),
                }
            }
            left = right;
        }
    }

    fn compared(&mut self, op: CmpOp, with: &Expr) {
        let Some(data) = constant(with) else { return };
        let values = match (op, data) {
            (CmpOp::In | CmpOp::NotIn, Data::Tuple(items) | Data::List(items) | Data::Set(items)) => items,
            (CmpOp::In | CmpOp::NotIn, Data::Str(text)) => {
                self.evidence.add(Shape::Str, 3);
                text.chars().take(4).map(|c| Data::Str(c.to_string())).collect()
            }
            (_, data) => vec![data],
        };
        let ordered = matches!(op, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE);
        for value in values.into_iter().take(12) {
            if let Some(shape) = shape_of(&value) {
                let none = shape == Shape::None;
                self.evidence.add(shape, if none { 1 } else { 3 });
            }
            if !ordered && value != Data::None {
                self.evidence.add(Shape::Value(value), 2);
            }
        }
    }

    fn call(&mut self, c: &ExprCall) {
        if let Expr::Attribute(a) = &*c.func
            && self.subject.is(&a.value)
            && matches!(a.attr.as_str(), "get" | "pop" | "setdefault")
            && let Some(key @ Data::Str(_)) = c.arguments.args.first().and_then(constant)
        {
            // what stands in for a missing value tells what is expected
            let value = c.arguments.args.get(1).and_then(constant).and_then(|d| shape_of(&d)).filter(|s| *s != Shape::None);
            self.evidence.add(Shape::Dict(Box::new((Shape::Value(key), value.unwrap_or(Shape::Any)))), 3);
        }
        if self.subject.is(&c.func) {
            self.evidence.called = true;
        }
        let position = c.arguments.args.iter().position(|a| self.subject.is(a));
        let keyword = c.arguments.keywords.iter().find(|k| self.subject.is(&k.value));
        if let Some(k) = keyword
            && k.arg.is_none()
        {
            self.evidence.add(Shape::Dict(Box::new((Shape::Str, Shape::Any))), 4);
            self.passed_on(c, Passing::Spread);
        }
        let how = match (position, keyword.and_then(|k| k.arg.as_ref())) {
            (Some(i), _) => Passing::At(i),
            (None, Some(name)) => Passing::As(name.to_string()),
            (None, None) => return,
        };
        let name = match &*c.func {
            Expr::Name(n) => n.id.as_str(),
            Expr::Attribute(a) => a.attr.as_str(),
            _ => "",
        };
        if how == Passing::At(0) && matches!(name, "isinstance" | "issubclass") {
            if let Some(class) = c.arguments.args.get(1) {
                self.tested(class);
            }
            return;
        }
        self.handed(name, how, c);
    }

    fn tested(&mut self, class: &Expr) {
        let classes: Vec<&Expr> = if let Expr::Tuple(t) = class { t.elts.iter().collect() } else { vec![class] };
        for class in classes {
            self.context.class(class).into_iter().for_each(|s| self.evidence.add(s, 5));
        }
    }

    /// The value is an argument of a call.
    fn handed(&mut self, name: &str, how: Passing, c: &ExprCall) {
        let first = how == Passing::At(0);
        match name {
            "open" if first => self.evidence.add(Shape::File, 6),
            "len" => {
                self.evidence.add(Shape::Str, 1);
                self.evidence.add(Shape::List(Box::new(Shape::Any)), 1);
            }
            "int" | "float" => {
                self.evidence.add(Shape::Str, 2);
                self.evidence.add(Shape::Int, 2);
                self.evidence.add(Shape::Float, 1);
            }
            "range" | "chr" | "divmod" | "pow" | "bin" | "hex" => self.evidence.add(Shape::Int, 4),
            "abs" | "round" | "floor" | "ceil" | "sqrt" | "log" | "log10" | "isnan" | "isinf" | "exp" => {
                self.evidence.add(Shape::Float, 3);
                self.evidence.add(Shape::Int, 3);
            }
            "callable" => self.evidence.add(Shape::Function, 5),
            "hasattr" | "getattr" if first => {
                if let Some(Data::Str(attribute)) = c.arguments.args.get(1).and_then(constant) {
                    self.attribute(&attribute);
                }
            }
            "exists" | "isfile" | "isdir" | "basename" | "dirname" | "abspath" | "splitext" | "expanduser" | "realpath" | "getsize" => {
                self.evidence.add(Shape::File, 2)
            }
            "map" | "filter" if first => self.evidence.add(Shape::Function, 4),
            "map" | "filter" => self.evidence.add(Shape::List(Box::new(Shape::Any)), 3),
            "join" => self.evidence.add(Shape::List(Box::new(Shape::Str)), 4),
            "bytes" | "bytearray" | "unpack" | "b64decode" => self.evidence.add(Shape::Bytes, 3),
            "dict" | "OrderedDict" => self.evidence.add(Shape::Dict(Box::new((Shape::Any, Shape::Any))), 2),
            _ if TEXT_CALLS.contains(&name) => self.evidence.add(Shape::Str, 4),
            _ if LIST_CALLS.contains(&name) => self.evidence.add(Shape::List(Box::new(Shape::Any)), 2),
            _ => self.passed_on(c, how),
        }
    }

    fn passed_on(&mut self, c: &ExprCall, how: Passing) {
        let sources = self.context.sources;
        let Some(parts) = walk::dotted(&c.func) else { return };
        let found = match parts.as_slice() {
            ["self" | "cls", name] => {
                sources.attributes.get(*name).and_then(|list| list.iter().find(|(f, _)| *f == self.context.file)).and_then(|(file, class)| {
                    let codes = &sources.files[*file].index.codes;
                    codes.iter().rposition(|code| code.class == Some(*class) && code.name == *name && !code.nested).map(|code| (*file, code))
                })
            }
            _ => match sources.resolve(self.context.file, &parts) {
                Some(Entity::Function(file, code)) => Some((file, code)),
                Some(Entity::Class(file, class)) => sources.ancestry(file, class).0.into_iter().find_map(|(f, cl)| {
                    let codes = &sources.files[f].index.codes;
                    codes.iter().rposition(|code| code.class == Some(cl) && code.name == "__init__" && !code.nested).map(|code| (f, code))
                }),
                _ => None,
            },
        };
        if let Some((file, code)) = found
            && self.evidence.passed.len() < MAX_PASSED
        {
            self.evidence.passed.push((file, code, how));
        }
    }
}

/// Attributes that classes are told apart by, each once.
pub fn distinct(attributes: &[String]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    attributes.iter().filter(|a| seen.insert(a.as_str())).cloned().collect()
}
