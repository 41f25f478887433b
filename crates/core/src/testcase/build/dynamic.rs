//! Values where the language declares no types: what a parameter's name, default, annotation and use suggest ([`Shape`]), else anything.
//!
//! Suggestions are followed most of the time, never always: a crash is often what a value of the wrong kind does.

use super::{Maker, binary, literals, told};
use crate::program::{MethodId, MethodKind, Shape, Taking, Ty, TypeId};
use crate::rng::Rng;
use crate::testcase::{Data, Stmt, Var};

/// Nested values are built so deep.
const MAX_DEPTH: u32 = 3;
/// Chance that an optional parameter is left to its default, and how many of many are given on average: each of them may be wrong.
const LEAVE_OUT: f64 = 0.6;
const GIVEN: f64 = 1.2;
/// The same where an object is made that the test only needs: mostly one as its class makes it.
const GIVEN_IN_PASSING: f64 = 0.5;
/// Chance that a suggestion is followed where there is one.
const FOLLOW: f64 = 0.85;
/// Chance that each suggestion is taken before the next, less convincing one.
const CONVINCED: f64 = 0.55;
/// Chance that a value is as the log's message tells.
const TOLD_SHAPE: f64 = 0.15;

/// How often an option of no known kind is a switch; else how often it is a text that the test has already.
const SWITCH: f64 = 0.4;
const NAMES_SOMETHING: f64 = 0.35;
/// How often an option is one that the trace's own code mentions, where there are some.
const ON_TRACE: f64 = 0.6;
/// How often anything is an object with what others lacked.
const WANTED: f64 = 0.05;
/// How often a text is one that the test has already.
const SAID_BEFORE: f64 = 0.12;
/// How often a function is one of the program's, where there are some.
const NAMED_FUNCTION: f64 = 0.4;
/// How often a value is a type, where the trace's code looks at declared types.
const TYPE: f64 = 0.06;
/// How often an object is one that a module of the trace has.
const LOOSE: f64 = 0.25;

/// A number of up to 36 digits: a power of ten, or any of that size.
pub fn magnitude(rng: &mut Rng) -> i128 {
    let size = 10_i128.pow(rng.below(36) as u32);
    if rng.chance(0.5) { size } else { size.saturating_mul(1 + rng.below(9) as i128) + rng.below(1000) as i128 }
}

impl Maker<'_, '_> {
    /// An argument for `param`, or any value.
    pub(super) fn dynamic_value(&mut self, param: Option<(MethodId, usize)>) -> Option<Var> {
        let parameter = param.and_then(|(method, i)| self.palette.program.parameters(method).get(i).cloned());
        let Some(parameter) = parameter else {
            let data = self.data(&Shape::Any, 0);
            return Some(self.statement(data));
        };
        match parameter.taking {
            Taking::Rest if self.rng.chance(0.6) => return Some(self.statement(Data::Absent)),
            Taking::Rest => {
                let shape = self.suggested(&parameter.shapes);
                let items = self.items(&shape, 0);
                return Some(self.statement(Data::List(items)));
            }
            Taking::RestNamed => {
                let options = self.options(&parameter.shapes);
                return Some(self.statement(options));
            }
            _ => {}
        }
        if parameter.optional && !self.gives_option(param) {
            return Some(self.statement(Data::Absent));
        }
        let shape = self.told_shape().unwrap_or_else(|| self.suggested(&parameter.shapes));
        if let Some(v) = self.reused(&shape) {
            return Some(v);
        }
        let mut data = self.data(&shape, 0);
        if let Data::Dict(pairs) = &mut data {
            self.complete(pairs, &parameter.shapes);
        }
        Some(self.statement(data))
    }

    /// Whether an option of a call is given.
    fn gives_option(&mut self, param: Option<(MethodId, usize)>) -> bool {
        let Some((method, _)) = param else { return true };
        let program = self.palette.program;
        let options = program.parameters(method).iter().filter(|p| p.optional).count();
        let in_passing = program.method(method).kind == MethodKind::Constructor && !self.palette.targets.iter().any(|t| t.method == method);
        let given = if in_passing { GIVEN_IN_PASSING } else { GIVEN };
        self.rng.chance((given / options as f64).min(1.0 - LEAVE_OUT))
    }

    /// Where some keys are known to be looked for, the others are often there too.
    fn complete(&mut self, pairs: &mut Vec<(Data, Data)>, shapes: &[Shape]) {
        for (key, shape) in shapes.iter().filter_map(keyed) {
            if pairs.iter().all(|(k, _)| *k != key) && self.rng.chance(0.4) {
                let value = self.data(&shape, 1);
                pairs.push((key, value));
            }
        }
    }

    /// Named arguments that a function collects: those that it is known to look for, most of them left out.
    fn options(&mut self, shapes: &[Shape]) -> Data {
        let keyed: Vec<(Data, Shape)> = shapes.iter().filter_map(keyed).collect();
        if self.rng.chance(if keyed.is_empty() { 0.9 } else { LEAVE_OUT }) {
            return Data::Absent;
        }
        let on_trace: Vec<(Data, Shape)> = keyed.iter().filter(|(key, _)| self.is_on_trace(key)).cloned().collect();
        let mut pairs: Vec<(Data, Data)> = Vec::new();
        loop {
            let from = if !on_trace.is_empty() && self.rng.chance(ON_TRACE) { &on_trace } else { &keyed };
            let (key, shape) = match self.rng.pick(from) {
                Some((key, shape)) => (key.clone(), shape.clone()),
                None => (Data::Str(self.key_text()), Shape::Any),
            };
            let value = self.option_value(&shape);
            if pairs.iter().all(|(k, _)| *k != key) {
                pairs.push((key, value));
            }
            if self.rng.chance(0.6) {
                return Data::Dict(pairs);
            }
        }
    }

    /// An option whose kind nothing tells is mostly a switch, or the name of something that the test has named before.
    fn option_value(&mut self, shape: &Shape) -> Data {
        if *shape == Shape::Any && self.rng.chance(SWITCH) {
            return Data::Bool(self.rng.chance(0.8));
        }
        if *shape == Shape::Any
            && self.policy.follows
            && self.rng.chance(NAMES_SOMETHING)
            && let Some(text) = self.said()
        {
            return Data::Str(text);
        }
        self.data(shape, 1)
    }

    /// Whether the trace's own code mentions the option.
    fn is_on_trace(&self, key: &Data) -> bool {
        matches!(key, Data::Str(text) if self.palette.literals.is_on_trace(text))
    }

    /// A value that is a variable already needs no statement of its own.
    fn statement(&mut self, data: Data) -> Var {
        match data {
            Data::Var(v) => v,
            data => self.test.push(Stmt::Data(data)),
        }
    }

    /// The kind of value that the log's message tells of.
    fn told_shape(&mut self) -> Option<Shape> {
        if self.palette.hints.shapes.is_empty() || !self.rng.chance(TOLD_SHAPE) {
            return None;
        }
        self.rng.pick(&self.palette.hints.shapes).cloned()
    }

    /// One of the suggestions, the first ones more often.
    fn suggested(&mut self, shapes: &[Shape]) -> Shape {
        if shapes.is_empty() || !self.rng.chance(FOLLOW) {
            return Shape::Any;
        }
        let chosen = shapes.iter().find(|_| self.rng.chance(CONVINCED)).cloned();
        chosen.unwrap_or_else(|| shapes[self.rng.below(shapes.len())].clone())
    }

    /// The result of an earlier call, where it may fit.
    fn reused(&mut self, shape: &Shape) -> Option<Var> {
        let wanted = match shape {
            Shape::Instance(t) => Some(*t),
            _ => None,
        };
        let made: Vec<Var> = self.vars().filter(|v| matches!(self.test.stmt(*v), Stmt::New { .. } | Stmt::Call { .. })).collect();
        let made = self.others(made);
        let fitting: Vec<Var> = made.iter().copied().filter(|v| wanted.is_some_and(|t| self.may_be(*v, t))).collect();
        match (self.rng.pick(&fitting), self.rng.pick(&made)) {
            (Some(v), _) if self.rng.chance(self.policy.reuse_object) => Some(*v),
            (None, Some(v)) if self.rng.chance(0.1) => Some(*v),
            _ => None,
        }
    }

    /// Whether the value is, or was seen to be, of the type.
    pub(super) fn may_be(&self, var: Var, ty: TypeId) -> bool {
        let program = self.palette.program;
        match self.test.stmt(var) {
            Stmt::New { ctor, .. } => program.is_subtype(program.method(*ctor).owner, ty),
            Stmt::Call { method, .. } => self.facts.returned(*method).iter().any(|t| program.is_subtype(*t, ty)),
            _ => false,
        }
    }

    /// A value of that shape; inside of another now and then one as the message tells, whatever is suggested there.
    pub fn data(&mut self, shape: &Shape, depth: u32) -> Data {
        if depth > 0
            && let Some(told) = self.told_shape()
        {
            return self.shaped(&told, depth);
        }
        self.shaped(shape, depth)
    }

    fn shaped(&mut self, shape: &Shape, depth: u32) -> Data {
        match shape {
            Shape::Any => self.anything(depth),
            Shape::None => Data::None,
            Shape::Bool => Data::Bool(self.rng.chance(0.5)),
            Shape::Int => Data::Int(self.integer()),
            Shape::Float => self.number(),
            Shape::Str => Data::Str(self.said_before().unwrap_or_else(|| self.text_value())),
            Shape::Bytes => Data::Bytes(binary::bytes(self.palette, self.facts, self.policy, self.rng)),
            Shape::List(inner) => Data::List(self.items(inner, depth)),
            Shape::Set(inner) => Data::Set(self.items(inner, depth)),
            Shape::Iterator(inner) => Data::Iterator(self.items(inner, depth)),
            Shape::Tuple(parts) => Data::Tuple(parts.iter().map(|p| self.data(p, depth + 1)).collect()),
            Shape::Dict(inner) => self.dict(&inner.0, &inner.1, depth),
            Shape::Function => self.function(depth),
            Shape::Stream => Data::Stream(Box::new(self.content())),
            Shape::File => Data::File(Box::new(self.content())),
            Shape::Instance(t) => self.instance(*t).map_or_else(|| self.anything(depth), Data::Var),
            Shape::Class(t) if self.policy.derive && depth < MAX_DEPTH && self.rng.chance(0.25) => self.derived_class(Some(*t), depth),
            Shape::Class(t) => Data::Var(self.test.push(Stmt::Class(Ty::reference(*t)))),
            Shape::Having(names) => self.having(names, depth),
            Shape::Value(data) => self.near(data),
        }
    }

    /// A text that the test has already: what one call is given is often a name that another was given.
    fn said_before(&mut self) -> Option<String> {
        if !self.policy.follows || !self.rng.chance(SAID_BEFORE) {
            return None;
        }
        self.said()
    }

    fn said(&mut self) -> Option<String> {
        fn texts<'d>(data: &'d Data, out: &mut Vec<&'d String>) {
            match data {
                Data::Str(text) => out.push(text),
                _ => data.children().into_iter().for_each(|child| texts(child, out)),
            }
        }
        let mut all = Vec::new();
        self.test.stmts.iter().for_each(|s| {
            if let Stmt::Data(data) = s {
                texts(data, &mut all)
            }
        });
        self.rng.pick(&all).map(|text| (*text).clone())
    }

    fn instance(&mut self, ty: TypeId) -> Option<Var> {
        self.new_object(Ty::reference(ty))
    }

    /// The value itself, or another of its kind.
    fn near(&mut self, data: &Data) -> Data {
        if self.rng.chance(0.6) {
            return data.clone();
        }
        let shape = kind_of(data);
        self.data(&shape, 1)
    }

    fn integer(&mut self) -> i128 {
        if self.rng.chance(0.03) {
            return magnitude(self.rng);
        }
        if let Some(v) = self.rng.pick(self.facts.met()).filter(|v| i64::try_from(**v).is_err())
            && self.rng.chance(0.15)
        {
            return *v;
        }
        i128::from(literals::int(self.palette, self.facts, self.policy, self.rng, 0.5))
    }

    fn number(&mut self) -> Data {
        match self.rng.below(4) {
            0 => Data::Int(self.integer()),
            _ => Data::float(literals::float(self.palette, self.facts, self.policy, self.rng)),
        }
    }

    fn items(&mut self, shape: &Shape, depth: u32) -> Vec<Data> {
        if depth >= MAX_DEPTH {
            return Vec::new();
        }
        let len = self.rng.below(4);
        let mut items: Vec<Data> = (0..len).map(|_| self.data(shape, depth + 1)).collect();
        // equal items are what ordering and removal stumble over
        if len >= 2 && self.rng.chance(0.2) {
            items[1] = items[0].clone();
        }
        items
    }

    fn dict(&mut self, key: &Shape, value: &Shape, depth: u32) -> Data {
        if depth >= MAX_DEPTH {
            return Data::Dict(Vec::new());
        }
        let len = self.rng.below(4);
        let mut pairs: Vec<(Data, Data)> = Vec::with_capacity(len);
        for _ in 0..len {
            let key = match key {
                Shape::Any | Shape::Str if self.rng.chance(0.8) => Data::Str(self.key_text()),
                other => self.data(other, MAX_DEPTH),
            };
            if hashable(&key) && pairs.iter().all(|(k, _)| *k != key) {
                pairs.push((key, self.data(value, depth + 1)));
            }
        }
        Data::Dict(pairs)
    }

    /// A key: mostly a word that the program itself mentions.
    pub(super) fn key_text(&mut self) -> String {
        if let Some(text) = self.said_before().or_else(|| told::text(self.palette, self.rng)) {
            return text;
        }
        let (palette, facts) = (self.palette, self.facts);
        for known in [facts.told(), facts.strings()] {
            if self.rng.chance(0.3)
                && let Some(word) = self.rng.pick(known)
            {
                return word.to_string();
            }
        }
        match self.rng.pick(palette.literals.words()) {
            Some(word) if self.rng.chance(0.85) => word.clone(),
            _ => literals::noise(self.rng, 4),
        }
    }

    fn function(&mut self, depth: u32) -> Data {
        if let Some(named) = self.named_function() {
            return named;
        }
        if depth >= MAX_DEPTH {
            return Data::Function(Box::new(Data::None));
        }
        Data::Function(Box::new(self.data(&Shape::Any, depth + 1)))
    }

    fn content(&mut self) -> Data {
        let shape = if self.rng.chance(0.4) { Shape::Bytes } else { Shape::Str };
        self.data(&shape, MAX_DEPTH)
    }

    fn having(&mut self, names: &[String], depth: u32) -> Data {
        if depth >= MAX_DEPTH {
            return Data::Object(Vec::new());
        }
        let mut attributes = Vec::with_capacity(names.len());
        for name in names {
            if self.rng.chance(0.9) {
                let value = if self.rng.chance(0.3) { self.function(depth + 1) } else { self.data(&Shape::Any, depth + 1) };
                attributes.push((name.clone(), value));
            }
        }
        Data::Object(attributes)
    }

    fn anything(&mut self, depth: u32) -> Data {
        let any = || Box::new(Shape::Any);
        if self.policy.follows && depth < MAX_DEPTH && !self.facts.lacking().is_empty() && self.rng.chance(WANTED) {
            return self.wanted_object(depth);
        }
        if self.rng.chance(TYPE)
            && let Some(declared) = self.declared_type(depth)
        {
            return declared;
        }
        match self.rng.below(100) {
            0..=34 => self.data(&Shape::Str, depth),
            35..=52 => self.data(&Shape::Int, depth),
            53..=59 => Data::None,
            60..=63 => Data::Bool(self.rng.chance(0.5)),
            64..=68 => self.number(),
            69..=77 => self.data(&Shape::List(any()), depth),
            78..=85 => self.data(&Shape::Dict(Box::new((Shape::Str, Shape::Any))), depth),
            86..=88 => Data::Tuple(self.items(&Shape::Any, depth)),
            89..=90 => self.data(&Shape::Bytes, depth),
            91 => self.function(depth),
            92 => self.data(&Shape::Iterator(any()), depth),
            93 => self.data(&Shape::Stream, depth),
            94 if self.policy.derive && depth < MAX_DEPTH => self.own_object(depth),
            _ => self.some_instance().unwrap_or(Data::None),
        }
    }

    /// An object with what others were asked for in vain.
    fn wanted_object(&mut self, depth: u32) -> Data {
        let mut attributes: Vec<(String, Data)> = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let Some(name) = self.rng.pick(self.facts.lacking()).map(ToString::to_string) else { break };
            if attributes.iter().all(|(known, _)| *known != name) {
                attributes.push((name, self.data(&Shape::Any, depth + 1)));
            }
        }
        Data::Object(attributes)
    }

    /// A function of the program: mostly one of the trace, since somebody calls it.
    fn named_function(&mut self) -> Option<Data> {
        let named = &self.palette.named;
        let from = if self.rng.chance(0.7) { &named.on_trace } else { &named.functions };
        if !self.policy.follows || from.is_empty() || !self.rng.chance(NAMED_FUNCTION) {
            return None;
        }
        let field = *self.rng.pick(from)?;
        Some(Data::Var(self.test.push(Stmt::GetStatic(field))))
    }

    /// An object of one of the trace's own classes, or one that its modules have.
    fn some_instance(&mut self) -> Option<Data> {
        if self.policy.follows
            && let Some(field) = self.rng.pick(&self.palette.named.loose).copied()
            && self.rng.chance(LOOSE)
        {
            return Some(Data::Var(self.test.push(Stmt::GetStatic(field))));
        }
        let ty = *self.rng.pick(self.palette.trace_types())?;
        self.instance(ty).map(Data::Var)
    }
}

/// The key and the value's shape of a dictionary with a certain key.
fn keyed(shape: &Shape) -> Option<(Data, Shape)> {
    match shape {
        Shape::Dict(kv) => match &kv.0 {
            Shape::Value(key) => Some((key.clone(), kv.1.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The shape that a value has.
pub fn kind_of(data: &Data) -> Shape {
    let any = || Box::new(Shape::Any);
    match data {
        Data::None => Shape::None,
        Data::Bool(_) => Shape::Bool,
        Data::Int(_) => Shape::Int,
        Data::Float(_) => Shape::Float,
        Data::Str(_) => Shape::Str,
        Data::Bytes(_) => Shape::Bytes,
        Data::List(items) => Shape::List(Box::new(items.first().map_or(Shape::Any, kind_of))),
        Data::Tuple(items) => Shape::Tuple(items.iter().map(kind_of).collect()),
        Data::Set(_) => Shape::Set(any()),
        Data::Dict(pairs) => Shape::Dict(Box::new((Shape::Str, pairs.first().map_or(Shape::Any, |(_, v)| kind_of(v))))),
        Data::Function(_) => Shape::Function,
        Data::Iterator(_) => Shape::Iterator(any()),
        Data::Stream(_) => Shape::Stream,
        Data::File(_) => Shape::File,
        Data::Object(attributes) => Shape::Having(attributes.iter().map(|(n, _)| n.clone()).collect()),
        Data::Var(_) | Data::Absent | Data::Class { .. } | Data::Made { .. } | Data::Of { .. } => Shape::Any,
    }
}

/// Whether it may be a key or stand in a set.
pub fn hashable(data: &Data) -> bool {
    match data {
        Data::List(_) | Data::Dict(_) | Data::Set(_) => false,
        Data::Tuple(items) => items.iter().all(hashable),
        _ => true,
    }
}
