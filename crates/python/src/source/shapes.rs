//! What is known of parameters: annotations, docstrings, use in the body, defaults, and last the name.

use rethrow_core::program::{Parameter, Program, Shape, Taking, TypeId};
use rethrow_core::testcase::data::Data;
use ruff_python_ast::{Expr, Parameters, Stmt};

use super::annotation::{Context, constant, shape_of};
use super::index::Param;
use super::usage::{Evidence, Passing, Reader, Subject, distinct};
use super::{Sources, docstring, examples, walk};
use crate::lower::{Node, find_node};

/// More are not worth trying.
const MAX_SHAPES: usize = 10;
/// The same for named arguments that a function collects: each is an option of its own.
const MAX_OPTIONS: usize = 120;
/// How far a value is followed into the functions it is passed to.
const MAX_HOPS: usize = 2;
const FUEL: usize = 20_000;

/// The parameters of a code, the receiver left out.
pub fn of_code(program: &Program, sources: &Sources, (file, code): (usize, usize)) -> Vec<Parameter> {
    let params = &sources.files[file].index.codes[code].params;
    let finder = Finder { program, sources, hops: 0 };
    params.iter().map(|p| parameter(p, finder.shapes((file, code), p))).collect()
}

/// The parameters of what a module has from elsewhere: as the code says that it stands for, else by their names alone.
pub fn of_member(program: &Program, sources: &Sources, like: Option<(usize, usize)>, params: &[Param]) -> Vec<Parameter> {
    let known = like.map(|like| of_code(program, sources, like)).unwrap_or_default();
    let shapes = |p: &Param| known.iter().find(|k| k.name == p.name).map_or_else(|| by_name(&p.name), |k| k.shapes.clone());
    params.iter().map(|p| parameter(p, shapes(p))).collect()
}

/// The parameters of a class that takes its fields.
pub fn of_fields(program: &Program, sources: &Sources, (file, class): (usize, usize), params: &[Param]) -> Vec<Parameter> {
    let (above, _) = sources.ancestry(file, class);
    let one = |p: &Param| {
        let found = above.iter().find_map(|(f, c)| field_shapes(program, sources, (*f, *c), &p.name));
        parameter(p, found.unwrap_or_else(|| by_name(&p.name)))
    };
    params.iter().map(one).collect()
}

fn parameter(p: &Param, shapes: Vec<Shape>) -> Parameter {
    let most = if p.taking == Taking::RestNamed { MAX_OPTIONS } else { MAX_SHAPES };
    let mut kept: Vec<Shape> = Vec::new();
    for shape in shapes {
        if !kept.contains(&shape) && kept.len() < most {
            kept.push(shape);
        }
    }
    let kept = match p.taking {
        Taking::Rest => vec![Shape::List(Box::new(kept.into_iter().next().unwrap_or(Shape::Any)))],
        Taking::RestNamed => {
            let named: Vec<Shape> = kept.into_iter().filter(is_keyed).collect();
            if named.is_empty() { vec![Shape::Dict(Box::new((Shape::Str, Shape::Any)))] } else { named }
        }
        _ if kept.is_empty() => vec![Shape::Any],
        _ => kept,
    };
    Parameter { name: p.name.clone(), taking: p.taking, optional: p.optional, shapes: kept }
}

/// A dictionary with a certain key.
fn is_keyed(shape: &Shape) -> bool {
    matches!(shape, Shape::Dict(kv) if matches!(kv.0, Shape::Value(_)))
}

fn field_shapes(program: &Program, sources: &Sources, (file, class): (usize, usize), name: &str) -> Option<Vec<Shape>> {
    let tree = sources.files[file].tree().ok()?;
    let range = sources.files[file].index.classes[class].range;
    let code = sources.files[file].index.codes.iter().find(|c| c.range == range)?;
    let Node::Class(def) = find_node(tree.body(), code)? else { return None };
    let context = Context { program, sources, file };
    def.body.iter().find_map(|stmt| match stmt {
        Stmt::AnnAssign(s) if matches!(&*s.target, Expr::Name(n) if n.id.as_str() == name) => Some(context.annotation(&s.annotation, 0)),
        _ => None,
    })
}

#[derive(Clone, Copy)]
struct Finder<'a> {
    program: &'a Program,
    sources: &'a Sources,
    hops: usize,
}

impl Finder<'_> {
    fn shapes(&self, (file, code): (usize, usize), param: &Param) -> Vec<Shape> {
        let source = &self.sources.files[file];
        let Ok(tree) = source.tree() else { return by_name(&param.name) };
        let context = Context { program: self.program, sources: self.sources, file };
        let mut all = Vec::new();
        match find_node(tree.body(), &source.index.codes[code]) {
            Some(Node::Function(def)) => {
                all.extend(annotated(&def.parameters, &param.name).map(|a| context.annotation(a, 0)).unwrap_or_default());
                let told = all.iter().any(|s| !matches!(s, Shape::Any | Shape::None));
                if let Some(text) = docstring::of(&def.body).filter(|_| !told) {
                    all.extend(docstring::shapes(text, &param.name, &context));
                }
                all.extend(self.shown((file, code), tree.body(), &def.body, param));
                let default = default_of(&def.parameters, &param.name);
                let mut used = self.used(&context, code, &param.name, |reader| reader.suite(&def.body, 0));
                // what the default is says more than weak evidence, but a None default says nothing
                let by_default = default.map(|d| of_default(&context, d)).unwrap_or_default();
                // weak evidence goes, but each key that is looked for is an option of its own
                let mut others = 0;
                used.retain(|shape| {
                    others += usize::from(!is_keyed(shape));
                    is_keyed(shape) || others <= 6
                });
                let strong = by_default.iter().any(|s| !matches!(s, Shape::None | Shape::Value(_)));
                if strong && !told {
                    all.extend(by_default);
                    all.extend(used);
                } else {
                    all.extend(used);
                    all.extend(by_default);
                }
            }
            Some(Node::Lambda(def)) => all.extend(self.used(&context, code, &param.name, |reader| reader.expr(&def.body))),
            _ => {}
        }
        if param.taking == Taking::RestNamed {
            all.extend(self.fields_taken((file, code), &context));
            all.extend(self.described((file, code), tree.body()));
        }
        let told = all.iter().any(|s| !matches!(s, Shape::Any | Shape::None | Shape::Value(_)));
        if !told {
            let none = all.iter().position(|s| *s == Shape::None).map(|i| all.remove(i));
            all.extend(by_name(&param.name));
            all.extend(none);
        }
        all
    }

    /// The fields that named arguments of a constructor may set, where its class or one above takes its fields: `Config(**settings)`.
    fn fields_taken(&self, (file, code): (usize, usize), context: &Context<'_>) -> Vec<Shape> {
        let code = &self.sources.files[file].index.codes[code];
        let Some(class) = code.class.filter(|_| code.name == "__init__") else { return Vec::new() };
        let mut found = Vec::new();
        for (f, c) in self.sources.ancestry(file, class).0 {
            for field in &self.sources.files[f].index.classes[c].annotated {
                let shapes = field_shapes(context.program, self.sources, (f, c), &field.name).unwrap_or_default();
                let shape = shapes.into_iter().find(|s| !matches!(s, Shape::None)).unwrap_or(Shape::Any);
                found.push(Shape::Dict(Box::new((Shape::Value(Data::text(&field.name)), shape))));
            }
        }
        found
    }

    /// Named arguments that the documentation of a function, or of the class that it makes, describes.
    fn described(&self, (file, code): (usize, usize), module: &[Stmt]) -> Vec<Shape> {
        let index = &self.sources.files[file].index;
        let code = &index.codes[code];
        let class = code.class.filter(|_| code.name == "__init__").and_then(|c| index.codes.iter().find(|k| k.range == index.classes[c].range));
        let texts = [Some(code), class].into_iter().flatten().filter_map(|code| match find_node(module, code)? {
            Node::Function(def) => docstring::of(&def.body),
            Node::Class(def) => docstring::of(&def.body),
            _ => None,
        });
        let own = |name: &&str| code.params.iter().all(|p| p.name != *name);
        let option = |name: &str| {
            let value = told_by_name(name).and_then(|shapes| shapes.into_iter().next()).unwrap_or(Shape::Any);
            Shape::Dict(Box::new((Shape::Value(Data::text(name)), value)))
        };
        texts.flat_map(docstring::options).filter(own).map(option).collect()
    }

    /// Values that the report passes, and the examples of the function's, its class's or its module's documentation.
    fn shown(&self, (file, code): (usize, usize), module: &[Stmt], body: &[Stmt], param: &Param) -> Vec<Shape> {
        let index = &self.sources.files[file].index;
        let code = &index.codes[code];
        let class = code.class.map(|c| &index.classes[c]);
        let callee = match class {
            Some(class) if code.name == "__init__" => class.qualname.rsplit('.').next().unwrap_or_default(),
            _ => &code.name,
        };
        let around = class.and_then(|class| index.codes.iter().find(|c| c.range == class.range)).and_then(|c| find_node(module, c));
        let class_body = match &around {
            Some(Node::Class(def)) => &def.body[..],
            _ => &[],
        };
        let told = self.sources.places.shown.iter().map(String::as_str);
        let mut values = examples::values(told, callee, &code.params, &param.name);
        for text in [body, class_body, module].into_iter().filter_map(docstring::of) {
            let examples = examples::examples(text);
            values.extend(examples::values(examples.iter().map(String::as_str), callee, &code.params, &param.name));
        }
        values.into_iter().take(4).map(Shape::Value).collect()
    }

    /// Shapes by use, in this code and one step beyond it.
    fn used(&self, context: &Context<'_>, code: usize, name: &str, read: impl Fn(&mut Reader<'_>)) -> Vec<Shape> {
        let mut reader = Reader { context: *context, subject: Subject::Name(name), evidence: Evidence::default(), fuel: FUEL };
        read(&mut reader);
        let mut evidence = reader.evidence;
        if let Some(class) = self.sources.files[context.file].index.codes[code].class {
            for attribute in std::mem::take(&mut evidence.kept).iter().take(2) {
                evidence = self.kept(context, class, attribute, evidence);
            }
        }
        for item in std::mem::take(&mut evidence.items) {
            let mut reader = Reader { context: *context, subject: Subject::Name(&item), evidence: Evidence::default(), fuel: FUEL / 4 };
            read(&mut reader);
            let called = reader.evidence.called;
            if let Some(shape) =
                self.settle(&item, reader.evidence).into_iter().find(|s| !matches!(s, Shape::None | Shape::Value(_) | Shape::Any)).filter(|_| !called)
            {
                evidence.of_items(&shape);
            }
        }
        if let Some(shapes) = told_by_name(name).filter(|_| name.len() > 1) {
            let telling = shapes.len() <= 2;
            let like = |i: usize| if i == 0 && telling { 3 } else { 1 };
            shapes.into_iter().enumerate().for_each(|(i, s)| evidence.add(s, like(i)));
        }
        let passed = std::mem::take(&mut evidence.passed);
        for (file, to, how) in passed.into_iter().filter(|(file, to, _)| self.hops < MAX_HOPS && (*file, *to) != (context.file, code)) {
            self.follow((file, to), &how, &mut evidence);
        }
        self.settle(name, evidence)
    }

    /// What the function says that the value is handed to.
    fn follow(&self, to: (usize, usize), how: &Passing, evidence: &mut Evidence) {
        let further = Finder { hops: self.hops + 1, ..*self };
        let params = &self.sources.files[to.0].index.codes[to.1].params;
        let param = match how {
            Passing::At(i) => params.get(*i),
            Passing::As(name) => params.iter().find(|p| p.name == *name),
            Passing::Spread => {
                for p in params.iter().filter(|p| !matches!(p.taking, Taking::Rest | Taking::RestNamed | Taking::PositionalOnly)) {
                    let value = further.shapes(to, p).into_iter().find(|s| !matches!(s, Shape::None)).unwrap_or(Shape::Any);
                    evidence.add(Shape::Dict(Box::new((Shape::Value(Data::text(&p.name)), value))), 2);
                }
                params.iter().find(|p| p.taking == Taking::RestNamed)
            }
        };
        let taken_apart = |p: &Param| *how != Passing::Spread && matches!(p.taking, Taking::Rest | Taking::RestNamed);
        let Some(param) = param.filter(|p| !taken_apart(p)) else { return };
        for (i, shape) in further.shapes(to, param).into_iter().enumerate() {
            if i < 3 || is_keyed(&shape) {
                evidence.add(shape, 2u32.saturating_sub(i as u32));
            }
        }
    }

    /// The same for an attribute that the value is kept in, over the methods of the class.
    fn kept<'a>(&'a self, context: &Context<'a>, class: usize, attribute: &'a str, evidence: Evidence) -> Evidence {
        let source = &self.sources.files[context.file];
        let Ok(tree) = source.tree() else { return evidence };
        let mut reader = Reader { context: *context, subject: Subject::Attribute(attribute), evidence, fuel: FUEL };
        for code in source.index.codes.iter().filter(|c| c.class == Some(class) && !c.nested) {
            if let Some(Node::Function(def)) = find_node(tree.body(), code) {
                reader.suite(&def.body, 0);
            }
        }
        reader.evidence
    }

    fn settle(&self, name: &str, mut evidence: Evidence) -> Vec<Shape> {
        if evidence.called {
            self.classes_named(name).into_iter().for_each(|ty| evidence.add(Shape::Class(ty), 8));
            evidence.add(Shape::Function, 6);
        }
        let attributes = distinct(&evidence.attributes);
        if !attributes.is_empty() {
            let weight = 3 + 2 * attributes.len().min(6) as u32;
            let owners = self.having(&attributes);
            owners.iter().for_each(|ty| evidence.add(Shape::Instance(*ty), weight));
            if owners.is_empty() {
                evidence.add(Shape::Having(attributes), weight);
            }
        }
        evidence.shapes()
    }

    /// Program classes that have most of these attributes, inherited ones included; few, or none.
    fn having(&self, attributes: &[String]) -> Vec<TypeId> {
        let mut votes: Vec<((usize, usize), usize)> = Vec::new();
        for attribute in attributes {
            for class in self.sources.attributes.get(attribute).into_iter().flatten() {
                match votes.iter_mut().find(|(c, _)| c == class) {
                    Some((_, n)) => *n += 1,
                    None => votes.push((*class, 1)),
                }
            }
        }
        let most = votes.iter().map(|(_, n)| *n).max().unwrap_or(0);
        let best: Vec<(usize, usize)> = votes.into_iter().filter(|(_, n)| *n == most).map(|(c, _)| c).collect();
        if best.len() > 8 || most * 2 < attributes.len() {
            return Vec::new();
        }
        best.into_iter().take(4).filter_map(|(f, c)| self.program.find_type(&self.sources.class_name(f, c))).collect()
    }

    /// Classes whose name ends like that of a parameter that is called: `Loader`, `token_class`.
    fn classes_named(&self, name: &str) -> Vec<TypeId> {
        let plain = name.trim_end_matches("_class").trim_end_matches("_cls").trim_end_matches("_type").replace('_', "").to_lowercase();
        let is_class = name.starts_with(char::is_uppercase) || plain.len() < name.replace('_', "").len();
        if !is_class || plain.len() < 3 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (f, file) in self.sources.files.iter().enumerate() {
            for (c, class) in file.index.classes.iter().enumerate().filter(|(_, c)| c.nameable) {
                if class.qualname.to_lowercase().ends_with(&plain) {
                    found.push((class.qualname.len(), f, c));
                }
            }
        }
        found.sort_unstable();
        found.into_iter().take(6).filter_map(|(_, f, c)| self.program.find_type(&self.sources.class_name(f, c))).collect()
    }
}

fn annotated<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a Expr> {
    parameters.iter().find(|p| p.name().as_str() == name).and_then(|p| p.annotation())
}

fn default_of<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a Expr> {
    parameters.iter_non_variadic_params().find(|p| p.parameter.name.as_str() == name)?.default.as_deref()
}

/// The shape of a default, and the default itself where it says more than that.
fn of_default(context: &Context<'_>, default: &Expr) -> Vec<Shape> {
    if let Some(data) = constant(default) {
        let value = match &data {
            Data::Str(text) if !text.is_empty() => Some(Shape::Value(data.clone())),
            _ => None,
        };
        return shape_of(&data).into_iter().chain(value).collect();
    }
    match default {
        Expr::Lambda(_) => vec![Shape::Function],
        _ if walk::dotted(default).is_some() => match context.class(default).into_iter().next() {
            Some(Shape::Instance(ty)) => vec![Shape::Class(ty)],
            _ => Vec::new(),
        },
        Expr::Call(c) => context.class(&c.func),
        _ => Vec::new(),
    }
}

/// What a name suggests, whatever it is.
fn by_name(name: &str) -> Vec<Shape> {
    let list = Shape::List(Box::new(Shape::Any));
    let dict = Shape::Dict(Box::new((Shape::Str, Shape::Any)));
    told_by_name(name).unwrap_or_else(|| vec![Shape::Str, Shape::Int, Shape::None, list, dict])
}

/// What people call things.
fn told_by_name(name: &str) -> Option<Vec<Shape>> {
    let list = || Shape::List(Box::new(Shape::Any));
    let dict = || Shape::Dict(Box::new((Shape::Str, Shape::Any)));
    let lower = name.trim_matches('_').to_lowercase();
    let last = lower.rsplit('_').next().unwrap_or(&lower);
    let words = |words: &[&str]| words.iter().map(|w| Shape::Value(Data::text(*w))).chain([Shape::Str]).collect();
    Some(match last {
        "locale" | "lang" | "language" | "languages" => words(&["en", "en_US", "de", "fr", "pt_BR", "ru", "ar", "ja", "zh", "hu", "tr"]),
        "tz" | "timezone" | "tzname" | "zone" => words(&["UTC", "Europe/Berlin", "US/Eastern", "Asia/Kolkata", "+01:00", "local"]),
        "currency" => words(&["USD", "EUR", "JPY", "INR"]),
        "country" | "region" | "territory" => words(&["US", "DE", "GB", "JP", "BR", "CH"]),
        "unit" | "units" => words(&["m", "kg", "s", "day", "hour", "byte", "%"]),
        "color" | "colour" => words(&["red", "#fff", "#00ff00", "rgb(1, 2, 3)"]),
        "mode" => words(&["r", "w", "rb", "a", "strict"]),
        "lines" | "names" | "words" | "strings" | "argv" | "texts" => vec![Shape::List(Box::new(Shape::Str)), Shape::Str],
        "text" | "string" | "str" | "s" | "name" | "word" | "line" | "key" | "label" | "title" | "msg" | "message" | "prefix" | "suffix" | "pattern"
        | "regex" | "sql" | "html" | "xml" | "markdown" | "md" | "source" | "src" | "code" | "expr" | "expression" | "query" | "url" | "uri" | "tag"
        | "format" | "fmt" | "sep" | "delimiter" | "char" | "c" | "ch" | "token" | "content" | "body" | "template" | "input" | "date" | "datestr"
        | "timestr" | "isoformat" => vec![Shape::Str],
        "encoding" | "charset" => vec![Shape::Value(Data::text("utf-8")), Shape::Value(Data::text("ascii")), Shape::None, Shape::Str],
        "path" | "filename" | "file" | "fname" | "filepath" => vec![Shape::Str, Shape::File],
        "data" | "payload" | "buf" | "buffer" | "raw" => vec![Shape::Str, Shape::Bytes, dict(), list()],
        "n" | "i" | "j" | "k" | "count" | "num" | "number" | "size" | "length" | "index" | "idx" | "offset" | "start" | "stop" | "end" | "pos" | "position"
        | "width" | "height" | "depth" | "level" | "limit" | "max" | "min" | "step" | "total" | "year" | "month" | "day" | "hour" | "minute" | "second"
        | "seconds" | "indent" | "column" | "lineno" | "port" | "id" | "precision" | "digits" => vec![Shape::Int],
        "x" | "y" | "z" | "ratio" | "scale" | "factor" | "rate" | "timeout" | "weight" => vec![Shape::Float, Shape::Int],
        "items" | "values" | "list" | "lst" | "seq" | "sequence" | "iterable" | "args" | "elements" | "rows" | "keys" | "tokens" | "parts" | "nodes"
        | "children" | "blocks" | "objs" | "patch" => vec![list()],
        "doc" | "document" | "config" | "options" | "opts" | "kwargs" | "params" | "dict" | "mapping" | "d" | "dct" | "attrs" | "attributes" | "headers"
        | "settings" | "context" | "env" | "meta" | "metadata" | "operation" | "schema" => vec![dict()],
        "fp" | "stream" | "f" | "fd" | "fileobj" | "handle" | "reader" => vec![Shape::Stream, Shape::Str],
        "callback" | "func" | "function" | "fn" | "hook" | "cb" | "predicate" | "handler" | "factory" | "callable" | "filter" => vec![Shape::Function],
        "flag" | "strict" | "verbose" | "debug" | "force" | "recursive" | "inplace" | "deep" => vec![Shape::Bool],
        _ if last.len() > 3 && last.ends_with('s') => vec![list(), Shape::Str],
        _ => return None,
    })
}
