//! Shapes that type names suggest: annotations, classes in `isinstance`, types in docstrings.

use rethrow_core::program::{Program, Shape};
use rethrow_core::testcase::data::Data;
use ruff_python_ast::{Expr, Number, Operator};

use super::Sources;
use super::resolve::{Entity, external_type};
use super::walk;

/// Annotations nested deeper say nothing new.
const MAX_DEPTH: usize = 6;

/// Where a name is looked up.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub program: &'a Program,
    pub sources: &'a Sources,
    pub file: usize,
}

fn any() -> Box<Shape> {
    Box::new(Shape::Any)
}

impl Context<'_> {
    /// The shapes of an annotation, most telling first.
    pub fn annotation(&self, expr: &Expr, depth: usize) -> Vec<Shape> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        match expr {
            Expr::NoneLiteral(_) => vec![Shape::None],
            Expr::StringLiteral(s) => match ruff_python_parser::parse_expression(s.value.to_str()) {
                Ok(parsed) if s.value.to_str().len() < 500 => self.annotation(&parsed.syntax().body, depth + 1),
                _ => Vec::new(),
            },
            Expr::BinOp(b) if b.op == Operator::BitOr => {
                let mut all = self.annotation(&b.left, depth + 1);
                all.extend(self.annotation(&b.right, depth + 1));
                all
            }
            Expr::Tuple(t) => t.elts.iter().flat_map(|e| self.annotation(e, depth + 1)).collect(),
            Expr::Subscript(s) => self.generic(&s.value, &s.slice, depth + 1),
            _ => self.class(expr),
        }
    }

    fn generic(&self, base: &Expr, slice: &Expr, depth: usize) -> Vec<Shape> {
        let Some(name) = walk::dotted(base).and_then(|p| p.last().copied()) else { return Vec::new() };
        let args: Vec<&Expr> = if let Expr::Tuple(t) = slice { t.elts.iter().collect() } else { vec![slice] };
        let first = |i: usize| args.get(i).and_then(|a| self.annotation(a, depth).into_iter().next()).unwrap_or(Shape::Any);
        match name {
            "Optional" => args.iter().flat_map(|a| self.annotation(a, depth)).chain([Shape::None]).collect(),
            "Union" | "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" => {
                let taken = if name == "Union" { args.len() } else { 1 };
                args.iter().take(taken).flat_map(|a| self.annotation(a, depth)).collect()
            }
            "Literal" => args.iter().filter_map(|a| constant(a)).map(Shape::Value).collect(),
            "Type" | "type" => match self.annotation(slice, depth).into_iter().next() {
                Some(Shape::Instance(ty)) => vec![Shape::Class(ty)],
                _ => Vec::new(),
            },
            "Tuple" | "tuple" => match args.as_slice() {
                [_, Expr::EllipsisLiteral(_)] => vec![Shape::List(Box::new(first(0)))],
                _ => vec![Shape::Tuple((0..args.len()).map(first).collect())],
            },
            "Dict" | "dict" | "Mapping" | "MutableMapping" | "OrderedDict" | "DefaultDict" | "defaultdict" => vec![Shape::Dict(Box::new((first(0), first(1))))],
            "List" | "list" | "Sequence" | "MutableSequence" | "Iterable" | "Collection" | "Reversible" | "Container" | "Deque" => {
                vec![Shape::List(Box::new(first(0)))]
            }
            "Set" | "set" | "FrozenSet" | "frozenset" | "AbstractSet" | "MutableSet" => vec![Shape::Set(Box::new(first(0)))],
            "Iterator" | "Generator" | "AsyncIterator" => vec![Shape::Iterator(Box::new(first(0)))],
            _ => self.class(base),
        }
    }

    /// The shape of a class that is named.
    pub fn class(&self, expr: &Expr) -> Vec<Shape> {
        let Some(parts) = walk::dotted(expr) else { return Vec::new() };
        let entity = self.sources.resolve(self.file, &parts);
        if let Some(Entity::Class(file, class)) = &entity
            && let Some(ty) = self.program.find_type(&self.sources.class_name(*file, *class))
        {
            return vec![Shape::Instance(ty)];
        }
        let mut shapes = word(parts.last().copied().unwrap_or_default());
        if let Some(Entity::External(full)) = &entity
            && let Some(ty) = self.program.find_type(&external_type(full))
            && !full.starts_with("builtins.")
            && self.program.methods_of(ty).len() > 0
        {
            shapes.insert(0, Shape::Instance(ty));
        }
        shapes
    }

    /// The shapes of one word of a docstring.
    pub fn described(&self, text: &str) -> Vec<Shape> {
        let trimmed = text.trim().trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some((outer, inner)) = trimmed.split_once(" of ")
            && !inner.contains(" of ")
        {
            let item = self.described(inner.trim_end_matches('s')).into_iter().next().unwrap_or(Shape::Any);
            return match word(outer).into_iter().next() {
                Some(Shape::List(_)) => vec![Shape::List(Box::new(item))],
                Some(Shape::Set(_)) => vec![Shape::Set(Box::new(item))],
                Some(Shape::Iterator(_)) => vec![Shape::Iterator(Box::new(item))],
                other => other.into_iter().collect(),
            };
        }
        let known = word(trimmed);
        if !known.is_empty() {
            return known;
        }
        let name = trimmed.rsplit(['.', '`', ':']).next().unwrap_or(trimmed);
        if name.is_empty() || !name.starts_with(char::is_uppercase) {
            return Vec::new();
        }
        self.sources
            .resolve(self.file, &[name])
            .into_iter()
            .filter_map(|e| match e {
                Entity::Class(file, class) => self.program.find_type(&self.sources.class_name(file, class)).map(Shape::Instance),
                _ => None,
            })
            .collect()
    }
}

/// What a bare type name means, whatever module it comes from.
fn word(name: &str) -> Vec<Shape> {
    vec![match name {
        "str" | "string" | "String" | "unicode" | "Text" | "text" | "basestring" | "AnyStr" | "text_type" | "string_types" | "StrOrBytesPath" => Shape::Str,
        "int" | "integer" | "long" | "Int" | "integer_types" | "Integral" | "number" => Shape::Int,
        "float" | "Float" | "Number" | "Real" | "double" => Shape::Float,
        "bool" | "boolean" | "Boolean" => Shape::Bool,
        "bytes" | "bytestring" | "binary_type" | "ByteString" => Shape::Bytes,
        "list" | "List" | "Sequence" | "Iterable" | "iterable" | "MutableSequence" | "Collection" | "sequence" | "array" | "array_like" | "array-like" => {
            Shape::List(any())
        }
        "tuple" | "Tuple" => Shape::Tuple(vec![Shape::Any, Shape::Any]),
        "set" | "Set" | "frozenset" | "FrozenSet" => Shape::Set(any()),
        "dict" | "Dict" | "Mapping" | "mapping" | "dictionary" | "MutableMapping" | "MappingType" => Shape::Dict(Box::new((Shape::Any, Shape::Any))),
        "Callable" | "callable" | "function" | "FunctionType" | "func" | "Function" => Shape::Function,
        "Iterator" | "iterator" | "Generator" | "generator" => Shape::Iterator(any()),
        "IO" | "TextIO" | "BinaryIO" | "IOBase" | "StringIO" | "BytesIO" | "TextIOWrapper" | "stream" | "file-like" | "file" => Shape::Stream,
        "PathLike" | "PurePath" => Shape::File,
        "NoneType" | "None" => Shape::None,
        "object" | "Any" | "any" => Shape::Any,
        _ => return Vec::new(),
    }]
}

/// Constants are nested at most so deep: trees in examples are.
const MAX_NESTED: usize = 12;

/// A constant expression as a value.
pub fn constant(expr: &Expr) -> Option<Data> {
    constant_at(expr, 0)
}

fn constant_at(expr: &Expr, depth: usize) -> Option<Data> {
    if depth > MAX_NESTED {
        return None;
    }
    let all = |elts: &[Expr]| elts.iter().take(20).map(|e| constant_at(e, depth + 1)).collect::<Option<Vec<Data>>>();
    Some(match expr {
        Expr::NoneLiteral(_) => Data::None,
        Expr::BooleanLiteral(b) => Data::Bool(b.value),
        Expr::StringLiteral(s) => Data::text(s.value.to_str()),
        Expr::BytesLiteral(b) => Data::Bytes(b.value.bytes().collect()),
        Expr::NumberLiteral(n) => match &n.value {
            Number::Int(i) => Data::Int(i128::from(i.as_i64()?)),
            Number::Float(f) => Data::float(*f),
            Number::Complex { .. } => return None,
        },
        Expr::UnaryOp(u) if u.op == ruff_python_ast::UnaryOp::USub => match constant_at(&u.operand, depth + 1)? {
            Data::Int(v) => Data::Int(-v),
            Data::Float(bits) => Data::float(-f64::from_bits(bits)),
            _ => return None,
        },
        Expr::List(l) => Data::List(all(&l.elts)?),
        Expr::Tuple(t) => Data::Tuple(all(&t.elts)?),
        Expr::Set(s) => Data::Set(all(&s.elts)?),
        Expr::Dict(d) => {
            let pair = |i: &ruff_python_ast::DictItem| Some((constant_at(i.key.as_ref()?, depth + 1)?, constant_at(&i.value, depth + 1)?));
            Data::Dict(d.items.iter().take(20).map(pair).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// The shape that values like this one have.
pub fn shape_of(data: &Data) -> Option<Shape> {
    Some(match data {
        Data::None => Shape::None,
        Data::Bool(_) => Shape::Bool,
        Data::Int(_) => Shape::Int,
        Data::Float(_) => Shape::Float,
        Data::Str(_) => Shape::Str,
        Data::Bytes(_) => Shape::Bytes,
        Data::List(items) => Shape::List(Box::new(items.first().and_then(shape_of).unwrap_or(Shape::Any))),
        Data::Tuple(items) => Shape::Tuple(items.iter().map(|i| shape_of(i).unwrap_or(Shape::Any)).collect()),
        Data::Set(_) => Shape::Set(any()),
        Data::Dict(_) => Shape::Dict(Box::new((Shape::Any, Shape::Any))),
        _ => return None,
    })
}
