//! Expressions: evaluated in order, each on its own line.

use std::sync::Arc;

use rethrow_core::program::ir::{BinOp, CallKind, Const, Edge, EdgeKind, FieldRef, Hazards, Op, Reg};
use rethrow_core::program::{MethodId, MethodKind, Prim, Ty, TypeId};
use ruff_python_ast::{BoolOp, Comprehension, Expr, ExprAttribute, ExprBinOp, ExprCall, Number, Operator, UnaryOp};
use ruff_text_size::Ranged;

use super::draft::reference;
use super::statement::Lowerer;
use crate::source::index::{CodeKind, Role};
use crate::source::resolve::{Entity, external_type};
use crate::source::walk;

/// Whatever an operation on an unknown value may raise.
const ANY: Hazards = Hazards::CAST.with(Hazards::CALL);

impl<'a> Lowerer<'a> {
    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &'a Expr) -> Reg {
        if !self.enter() {
            return self.opaque(Vec::new(), ANY);
        }
        let outer = self.line;
        let line = self.lines.line(expr.range().start());
        self.line = line;
        if self.last_line != line {
            self.emit(Op::Nop, Hazards::NONE);
        }
        let value = stacker::maybe_grow(128 << 10, 4 << 20, || self.expr_inner(expr));
        self.line = outer;
        self.leave();
        value
    }

    /// Evaluates for the effect.
    pub fn eval(&mut self, expr: &'a Expr) {
        self.expr(expr);
    }

    /// An operation whose result nobody wants.
    pub fn discard(&mut self, args: Vec<Reg>, hazards: Hazards) {
        self.opaque(args, hazards);
    }

    fn expr_inner(&mut self, expr: &'a Expr) -> Reg {
        match expr {
            Expr::StringLiteral(e) => self.constant(Const::Str(e.value.to_str().into())),
            Expr::BytesLiteral(e) => {
                // a character for each, as everywhere where bytes are handled as text
                let text: String = e.value.bytes().map(char::from).collect();
                self.constant(Const::Str(text.into()))
            }
            Expr::NumberLiteral(e) => self.constant(number(&e.value)),
            Expr::NoneLiteral(_) => self.constant(Const::Null),
            Expr::BooleanLiteral(_) | Expr::EllipsisLiteral(_) | Expr::IpyEscapeCommand(_) => self.constant(Const::Opaque),
            Expr::FString(_) | Expr::TString(_) => self.text(expr),
            Expr::Name(e) => self.name(e.id.as_str()),
            Expr::Attribute(e) => self.attribute(e),
            Expr::Subscript(e) => {
                let (array, index) = (self.expr(&e.value), self.expr(&e.slice));
                let to = self.temp();
                self.emit(Op::LoadElement { to, array, index, element: None }, ANY.with(Hazards::BOUNDS));
                to
            }
            Expr::Call(e) => self.call(e),
            Expr::BinOp(e) => self.binary(e),
            Expr::UnaryOp(e) if e.op == UnaryOp::USub => {
                let of = self.expr(&e.operand);
                let to = self.temp();
                self.emit(Op::Negate { to, ty: Prim::Long, of }, ANY);
                to
            }
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => self.truth(expr),
            Expr::BoolOp(_) => self.short_circuit(expr),
            Expr::If(e) => {
                let (yes, no, done) = (self.new_block(), self.new_block(), self.new_block());
                let to = self.temp();
                self.condition(&e.test, yes, no);
                for (block, value) in [(yes, &e.body), (no, &e.orelse)] {
                    self.go(block);
                    let from = self.expr(value);
                    self.emit(Op::Copy { to, from }, Hazards::NONE);
                    self.jump(done);
                }
                self.go(done);
                to
            }
            Expr::Named(e) => {
                let value = self.expr(&e.value);
                self.assign(&e.target, value);
                value
            }
            Expr::Lambda(e) => {
                if let Some(parameters) = &e.parameters {
                    let mut defaults = Vec::new();
                    walk::defaults(parameters, &mut |d| defaults.push(d));
                    defaults.into_iter().for_each(|d| self.eval(d));
                }
                self.function_object(CodeKind::Lambda, expr, Vec::new())
            }
            Expr::Generator(e) => {
                let first = e.generators.first().map(|g| self.expr(&g.iter));
                self.function_object(CodeKind::Generator, expr, first.into_iter().collect())
            }
            Expr::ListComp(e) => self.comprehension(expr, &e.generators, [Some(&e.elt), None]),
            Expr::SetComp(e) => self.comprehension(expr, &e.generators, [Some(&e.elt), None]),
            Expr::DictComp(e) => self.comprehension(expr, &e.generators, [e.key.as_deref(), Some(&e.value)]),
            Expr::Compare(_) | Expr::UnaryOp(_) | Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => self.combine(expr, ANY),
            Expr::Starred(_) => self.combine(expr, Hazards::CAST),
            Expr::Set(_) | Expr::Dict(_) => self.combine(expr, Hazards::CAST),
            Expr::List(_) | Expr::Tuple(_) | Expr::Slice(_) => self.combine(expr, Hazards::NONE),
        }
    }

    fn combine(&mut self, expr: &'a Expr, hazards: Hazards) -> Reg {
        let mut parts = Vec::new();
        walk::children(expr, &mut |e| parts.push(e));
        let args = parts.into_iter().map(|e| self.expr(e)).collect();
        self.opaque(args, hazards)
    }

    pub fn opaque(&mut self, args: Vec<Reg>, hazards: Hazards) -> Reg {
        let to = self.temp();
        let ret = self.object;
        self.emit(Op::Opaque { to: Some(to), ret, args: args.into() }, hazards);
        to
    }

    pub fn constant(&mut self, value: Const) -> Reg {
        let to = self.temp();
        self.emit(Op::Const { to, value }, Hazards::NONE);
        to
    }

    /// An f-string. Positions inside it are not those of the file before 3.12, so its conditions are not watched.
    fn text(&mut self, expr: &'a Expr) -> Reg {
        let quiet = std::mem::replace(&mut self.quiet, true);
        let mut parts = Vec::new();
        walk::children(expr, &mut |e| parts.push(e));
        let args: Vec<Reg> = parts.into_iter().map(|e| self.expr(e)).collect();
        self.quiet = quiet;
        let to = self.temp();
        let recipe: Arc<str> = walk::texts(expr).join("\u{1}").into();
        self.emit(Op::Concat { to, recipe, args: args.into() }, ANY);
        to
    }

    fn name(&mut self, name: &str) -> Reg {
        if let Some(reg) = self.regs.get(name) {
            return *reg;
        }
        match self.sources.resolve(self.file, &[name]) {
            Some(Entity::Variable(file, name)) => self.global(file, &name),
            Some(entity) => self.entity(&entity),
            None => self.opaque(Vec::new(), Hazards::INIT),
        }
    }

    fn global(&mut self, file: usize, name: &str) -> Reg {
        let to = self.temp();
        let Some(owner) = self.program.find_type(&self.sources.files[file].module) else { return self.opaque(Vec::new(), Hazards::INIT) };
        let field = Arc::new(FieldRef { owner, name: self.program.shared_text(name), ty: self.object });
        self.emit(Op::GetStatic { to, field }, Hazards::INIT);
        to
    }

    /// A class, function or module as a value.
    fn entity(&mut self, entity: &Entity) -> Reg {
        match entity {
            Entity::Class(..) => match self.type_of(entity) {
                Some(ty) => self.constant(Const::Class(Ty::reference(ty))),
                None => self.opaque(Vec::new(), Hazards::NONE),
            },
            Entity::Function(file, code) => match self.sources.methods.get(&(*file, *code)) {
                Some(method) => self.lambda(*method, Vec::new()),
                None => self.opaque(Vec::new(), Hazards::NONE),
            },
            _ => self.opaque(Vec::new(), Hazards::INIT),
        }
    }

    pub fn type_of(&self, entity: &Entity) -> Option<TypeId> {
        match entity {
            Entity::Class(file, class) => self.program.find_type(&self.sources.class_name(*file, *class)),
            Entity::External(full) => self.program.find_type(&external_type(full)),
            _ => None,
        }
    }

    /// What a dotted expression means, if its first name is not a variable of this code.
    pub fn meaning(&self, expr: &Expr) -> Option<Entity> {
        let parts = walk::dotted(expr)?;
        if self.regs.contains_key(parts[0]) && !self.at_module_level() {
            return None;
        }
        self.sources.resolve(self.file, &parts)
    }

    fn attribute(&mut self, e: &'a ExprAttribute) -> Reg {
        if let Some(getter) = self.own_method(e).filter(|m| self.program.method_desc(*m).contains('@')) {
            let object = self.expr(&e.value);
            return self.invoke(getter, CallKind::Virtual, vec![object]);
        }
        match self.meaning_of_attribute(e) {
            Some(Entity::Variable(file, name)) => return self.global(file, &name),
            Some(entity @ (Entity::Class(..) | Entity::Function(..))) => return self.entity(&entity),
            _ => {}
        }
        let object = self.expr(&e.value);
        let owner = self.receiver_type(&e.value).or(self.object.as_ref());
        let to = self.temp();
        let Some(owner) = owner else { return self.opaque(vec![object], ANY) };
        let field = Arc::new(FieldRef { owner, name: self.program.shared_text(e.attr.as_str()), ty: self.object });
        self.emit(Op::GetField { to, object, field }, Hazards::NULL.with(Hazards::CALL));
        self.attribute_line(e);
        to
    }

    fn meaning_of_attribute(&self, e: &ExprAttribute) -> Option<Entity> {
        let mut parts = walk::dotted(&e.value)?;
        if self.regs.contains_key(parts[0]) && !self.at_module_level() {
            return None;
        }
        parts.push(e.attr.as_str());
        self.sources.resolve(self.file, &parts)
    }

    /// Since 3.10 a method on a line of its own is called on that line.
    fn attribute_line(&mut self, e: &ExprAttribute) {
        let line = self.lines.line(e.attr.range.start());
        if line != self.line {
            let (pc, outer) = (self.pc, self.line);
            self.emit_at(Op::Nop, ANY, pc, line);
            self.line = outer;
        }
    }

    /// The class of `self`, `cls` and `super()`.
    fn receiver_type(&self, value: &Expr) -> Option<TypeId> {
        let class = self.class?;
        match value {
            Expr::Name(n) if self.receiver.as_deref() == Some(n.id.as_str()) => self.type_of(&Entity::Class(self.file, class)),
            Expr::Call(c) if matches!(&*c.func, Expr::Name(n) if n.id.as_str() == "super") => self.type_of(&Entity::Class(self.file, class)),
            _ => None,
        }
    }

    /// The method that `self.name`, `cls.name` or `super().name` means, as far as the source tells.
    fn own_method(&self, e: &ExprAttribute) -> Option<MethodId> {
        let ty = self.receiver_type(&e.value)?;
        let skip = usize::from(matches!(&*e.value, Expr::Call(_)));
        let above = self.program.supertypes(ty).into_iter().skip(skip);
        let mut named = above.flat_map(|t| self.program.methods_named(t, e.attr.as_str()).collect::<Vec<_>>());
        named.find(|m| !self.program.method(*m).flags.has(rethrow_core::program::Flags::SYNTHETIC))
    }

    pub fn lambda(&mut self, method: MethodId, captured: Vec<Reg>) -> Reg {
        let to = self.temp();
        let implementation = reference(self.program, method);
        let Some(interface) = self.object.as_ref() else { return self.opaque(captured, Hazards::NONE) };
        self.emit(Op::Lambda { to, interface, implementation, captured: captured.into() }, Hazards::NONE);
        to
    }

    fn nested(&self, kind: CodeKind, expr: &Expr) -> Option<MethodId> {
        let codes = &self.sources.files[self.file].index.codes;
        let code = codes.iter().position(|c| c.kind == kind && c.range == expr.range())?;
        self.sources.methods.get(&(self.file, code)).copied()
    }

    fn function_object(&mut self, kind: CodeKind, expr: &'a Expr, captured: Vec<Reg>) -> Reg {
        match self.nested(kind, expr) {
            Some(method) => self.lambda(method, captured),
            None => self.opaque(captured, Hazards::NONE),
        }
    }

    pub fn invoke(&mut self, method: MethodId, kind: CallKind, args: Vec<Reg>) -> Reg {
        let to = self.temp();
        let reference = reference(self.program, method);
        self.emit(Op::Call { to: Some(to), kind, method: reference, args: args.into() }, ANY);
        to
    }

    fn arguments(&mut self, e: &'a ExprCall) -> Vec<Reg> {
        let all = e.arguments.args.iter().chain(e.arguments.keywords.iter().map(|k| &k.value));
        all.map(|a| self.expr(a)).collect()
    }

    fn call(&mut self, e: &'a ExprCall) -> Reg {
        if let Expr::Attribute(a) = &*e.func
            && let Some(method) = self.own_method(a).filter(|m| !self.program.method_desc(*m).contains('@'))
        {
            let mut args = vec![self.expr(&a.value)];
            args.extend(self.arguments(e));
            let kind = match (self.program.method(method).kind, &*a.value) {
                (MethodKind::Static, _) => CallKind::Static,
                (_, Expr::Call(_)) => CallKind::Direct,
                _ => CallKind::Virtual,
            };
            let to = self.invoke(method, kind, args);
            self.attribute_line(a);
            return to;
        }
        if let (Expr::Name(n), [value, class]) = (&*e.func, &*e.arguments.args)
            && n.id.as_str() == "isinstance"
            && let Some(ty) = self.meaning(class).and_then(|m| self.type_of(&m))
        {
            let of = self.expr(value);
            self.expr(class);
            let to = self.temp();
            self.emit(Op::InstanceOf { to, of, ty: Ty::reference(ty) }, Hazards::NONE);
            return to;
        }
        match self.meaning(&e.func) {
            Some(entity @ Entity::Class(..)) => self.construct(&entity, Some(e)),
            Some(entity @ Entity::External(_)) if self.type_of(&entity).is_some() => self.construct(&entity, Some(e)),
            Some(Entity::Function(file, code)) if self.sources.methods.contains_key(&(file, code)) => {
                let method = self.sources.methods[&(file, code)];
                let args = self.arguments(e);
                let role = self.sources.files[file].index.codes[code].role;
                let kind = if matches!(role, Role::Instance | Role::Getter) { CallKind::Direct } else { CallKind::Static };
                self.invoke(method, kind, args)
            }
            _ => {
                let mut args = vec![self.expr(&e.func)];
                args.extend(self.arguments(e));
                let to = self.opaque(args, ANY);
                if let Expr::Attribute(a) = &*e.func {
                    self.attribute_line(a);
                }
                to
            }
        }
    }

    /// An object of a class, with the call of its constructor.
    pub fn construct(&mut self, class: &Entity, call: Option<&'a ExprCall>) -> Reg {
        let Some(class) = self.type_of(class) else { return self.opaque(Vec::new(), ANY) };
        let to = self.temp();
        let args = call.map(|c| self.arguments(c)).unwrap_or_default();
        self.emit(Op::New { to, class }, ANY);
        let mut ctors = self.program.methods_of(class).filter(|m| self.program.method(*m).kind == MethodKind::Constructor);
        if let Some(ctor) = ctors.next() {
            let args = [to].into_iter().chain(args).collect::<Vec<_>>();
            let method = reference(self.program, ctor);
            self.emit(Op::Call { to: None, kind: CallKind::Direct, method, args: args.into() }, ANY);
        }
        to
    }

    /// Chains of operators are long now and then, so the left side is not descended into.
    fn binary(&mut self, e: &'a ExprBinOp) -> Reg {
        let mut spine = vec![e];
        while let Expr::BinOp(left) = &*spine[spine.len() - 1].left {
            spine.push(left);
        }
        let innermost = spine[spine.len() - 1];
        let mut left = self.expr(&innermost.left);
        for e in spine.into_iter().rev() {
            let right = self.expr(&e.right);
            left = self.binary_op(e.op, left, right);
        }
        left
    }

    pub fn binary_op(&mut self, op: Operator, left: Reg, right: Reg) -> Reg {
        let (op, hazards) = match op {
            Operator::Add => (BinOp::Add, ANY),
            Operator::Sub => (BinOp::Sub, ANY),
            Operator::Mult => (BinOp::Mul, ANY),
            Operator::Div | Operator::FloorDiv => (BinOp::Div, ANY.with(Hazards::DIV_ZERO)),
            Operator::Mod => (BinOp::Rem, ANY.with(Hazards::DIV_ZERO)),
            Operator::LShift => (BinOp::Shl, ANY),
            Operator::RShift => (BinOp::Shr, ANY),
            Operator::BitOr => (BinOp::Or, ANY),
            Operator::BitXor => (BinOp::Xor, ANY),
            Operator::BitAnd => (BinOp::And, ANY),
            Operator::Pow | Operator::MatMult => return self.opaque(vec![left, right], ANY.with(Hazards::DIV_ZERO)),
        };
        let to = self.temp();
        self.emit(Op::Binary { to, op, ty: Prim::Long, left, right }, hazards);
        to
    }

    /// `not x` as a value.
    fn truth(&mut self, expr: &'a Expr) -> Reg {
        let (yes, no, done) = (self.new_block(), self.new_block(), self.new_block());
        let to = self.temp();
        self.condition(expr, yes, no);
        for block in [yes, no] {
            self.go(block);
            self.emit(Op::Const { to, value: Const::Opaque }, Hazards::NONE);
            self.jump(done);
        }
        self.go(done);
        to
    }

    /// `a and b` as a value: each operand but the last decides.
    fn short_circuit(&mut self, expr: &'a Expr) -> Reg {
        let Expr::BoolOp(e) = expr else { return self.opaque(Vec::new(), Hazards::NONE) };
        let (to, done) = (self.temp(), self.new_block());
        let Some((last, first)) = e.values.split_last() else { return to };
        for value in first {
            let next = self.new_block();
            let (yes, no) = if e.op == BoolOp::And { (next, done) } else { (done, next) };
            if matches!(value, Expr::BoolOp(_) | Expr::If(_)) || matches!(value, Expr::UnaryOp(u) if u.op == UnaryOp::Not) {
                self.condition(value, yes, no);
            } else {
                let from = self.expr(value);
                self.emit(Op::Copy { to, from }, Hazards::NONE);
                self.branch(from, value.range().start().to_u32(), yes, no);
            }
            self.go(next);
        }
        let from = self.expr(last);
        self.emit(Op::Copy { to, from }, Hazards::NONE);
        self.jump(done);
        self.go(done);
        to
    }

    /// A comprehension: a call of its own code, or loops in this one.
    fn comprehension(&mut self, expr: &'a Expr, generators: &'a [Comprehension], elements: [Option<&'a Expr>; 2]) -> Reg {
        match self.nested(CodeKind::Comprehension, expr) {
            Some(method) => {
                let first = generators.first().map(|g| self.expr(&g.iter));
                self.invoke(method, CallKind::Static, first.into_iter().collect())
            }
            None => {
                self.loops(generators, elements, false);
                self.opaque(Vec::new(), Hazards::NONE)
            }
        }
    }

    /// The loops of a comprehension; in its own code the first iterable was evaluated outside.
    pub fn loops(&mut self, generators: &'a [Comprehension], elements: [Option<&'a Expr>; 2], own: bool) {
        let Some((first, rest)) = generators.split_first() else {
            let args = elements.into_iter().flatten().map(|e| self.expr(e)).collect();
            self.opaque(args, Hazards::CAST);
            return;
        };
        if !self.enter() {
            return;
        }
        let iter = if own { self.opaque(Vec::new(), Hazards::NONE) } else { self.expr(&first.iter) };
        let (head, body, done) = (self.new_block(), self.new_block(), self.new_block());
        self.jump(head);
        self.go(head);
        let item = self.opaque(vec![iter], ANY);
        self.branch(item, first.iter.range().start().to_u32(), body, done);
        self.go(body);
        self.assign(&first.target, item);
        for test in &first.ifs {
            let next = self.new_block();
            self.condition(test, next, head);
            self.go(next);
        }
        self.loops(rest, elements, false);
        self.end(vec![Edge { to: head, kind: EdgeKind::Jump }]);
        self.go(done);
        self.leave();
    }
}

fn number(value: &Number) -> Const {
    match value {
        Number::Int(i) => i.as_i64().map_or(Const::Opaque, |v| i32::try_from(v).map_or(Const::Long(v), Const::Int)),
        Number::Float(f) => Const::Double(*f),
        Number::Complex { .. } => Const::Opaque,
    }
}
