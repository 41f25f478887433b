//! Statements, and the state of lowering.

use std::rc::Rc;

use rethrow_core::program::ir::{BlockId, Edge, EdgeKind, Frame, Hazards, Insn, Op, Reg};
use rethrow_core::program::{Program, Ty, TypeId};
use ruff_python_ast::{Expr, Parameters, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::{self, Draft, EXIT, Handlers};
use super::node::Node;
use super::{Lowered, names};
use crate::source::index::{Code, CodeKind, Role};
use crate::source::resolve::Entity;
use crate::source::walk::MAX_DEPTH;
use crate::source::{Lines, Sources};

/// The first register that is not a variable.
const TEMPS: u32 = 1 << 12;
pub(super) const ANY: Hazards = Hazards::CAST.with(Hazards::CALL);

/// What lies between a jump and its target.
#[derive(Clone, Copy)]
pub(super) enum Exit<'a> {
    Loop {
        out: BlockId,
        next: BlockId,
    },
    /// A `finally` block, and how many handler scopes are around its `try`.
    Finally(&'a [Stmt], usize),
}

/// See the module documentation.
pub(super) struct Lowerer<'a> {
    pub program: &'a Program,
    pub sources: &'a Sources,
    pub file: usize,
    pub lines: Lines<'a>,
    pub object: Ty,
    pub class: Option<usize>,
    /// The name of the receiver or of the class it is called on.
    pub receiver: Option<String>,
    pub regs: FxHashMap<String, Reg>,
    /// Conditions are not watched.
    pub quiet: bool,
    pub branches: Vec<u32>,
    pub pc: u32,
    pub line: u32,
    pub last_line: u32,
    pub code: &'a Code,
    pub drafts: Vec<Draft>,
    pub current: usize,
    pub scopes: Vec<Vec<(Option<TypeId>, BlockId)>>,
    pub handlers: Handlers,
    pub exits: Vec<Exit<'a>>,
    pub caught: Option<Reg>,
    pub points: FxHashSet<u32>,
    pub order: Vec<u32>,
    pub frame: Frame,
    pub temps: u32,
    pub depth: usize,
    pub copies: usize,
}

impl<'a> Lowerer<'a> {
    pub fn new(program: &'a Program, sources: &'a Sources, (file, code): (usize, usize)) -> Self {
        let source = &sources.files[file];
        let code = &source.index.codes[code];
        Lowerer {
            program,
            sources,
            file,
            lines: source.lines(),
            object: program.well_known().object,
            class: code.class,
            receiver: None,
            regs: FxHashMap::default(),
            quiet: false,
            branches: Vec::new(),
            pc: code.statement,
            line: code.first_line,
            last_line: code.first_line,
            code,
            drafts: vec![Draft::default()],
            current: 0,
            scopes: Vec::new(),
            handlers: Handlers::default(),
            exits: Vec::new(),
            caught: None,
            points: FxHashSet::default(),
            order: Vec::new(),
            frame: Frame { locals: TEMPS, ..Frame::default() },
            temps: TEMPS,
            depth: 0,
            copies: 0,
        }
    }

    pub fn run(&mut self, node: Node<'a>) {
        match node {
            Node::Module(body) => self.suite_with_docstring(body, None),
            Node::Class(def) => self.suite_with_docstring(&def.body, None),
            Node::Function(def) => self.suite_with_docstring(&def.body, Some(&def.parameters)),
            Node::Lambda(e) => {
                if let Some(parameters) = &e.parameters {
                    self.parameters(parameters);
                }
                let mut stored = FxHashSet::default();
                names::in_expr(&e.body, &mut stored);
                self.declare(stored);
                self.part_of_statement();
                let value = self.expr(&e.body);
                self.finish_with(Some(value));
            }
            Node::Comprehension(generators, elements) => {
                let mut stored = FxHashSet::default();
                generators.iter().for_each(|g| names::in_expr(&g.target, &mut stored));
                self.declare(stored);
                self.part_of_statement();
                self.loops(generators, elements, true);
                self.finish_with(None);
            }
        }
    }

    /// Code without statements has no place of its own: its conditions are watched, its beginning is not.
    fn part_of_statement(&mut self) {
        self.emit(Op::Nop, Hazards::NONE);
    }

    fn suite_with_docstring(&mut self, body: &'a [Stmt], parameters: Option<&'a Parameters>) {
        if let Some(parameters) = parameters {
            self.parameters(parameters);
        }
        let mut stored = FxHashSet::default();
        names::stored(body, &mut stored);
        self.declare(stored);
        let body = match body.split_first() {
            Some((Stmt::Expr(first), rest)) if matches!(&*first.value, Expr::StringLiteral(_)) => rest,
            _ => body,
        };
        self.suite(body);
        self.finish_with(None);
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        let bound = matches!(self.code.role, Role::Instance | Role::Getter | Role::Setter);
        let hidden = self.code.role == Role::Class;
        let first = parameters.iter_non_variadic_params().next().map(|p| p.parameter.name.as_str());
        let in_order = parameters.posonlyargs.iter().chain(&parameters.args).map(|p| &p.parameter).chain(parameters.vararg.as_deref());
        let rest = parameters.kwonlyargs.iter().map(|p| &p.parameter).chain(parameters.kwarg.as_deref());
        for (i, p) in in_order.chain(rest).enumerate() {
            let reg = self.local(p.name.as_str());
            if i > 0 || !hidden {
                self.frame.params.push((reg, self.object));
            }
        }
        if bound || hidden {
            self.receiver = first.map(String::from);
            self.frame.receiver = bound && first.is_some();
        }
    }

    fn declare(&mut self, names: FxHashSet<&'a str>) {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        for name in names {
            self.local(name);
        }
    }

    pub fn local(&mut self, name: &str) -> Reg {
        let next = Reg((self.regs.len() as u32).min(TEMPS - 1));
        *self.regs.entry(name.to_string()).or_insert(next)
    }

    pub fn at_module_level(&self) -> bool {
        matches!(self.code.kind, CodeKind::Module | CodeKind::Class)
    }

    pub fn enter(&mut self) -> bool {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return false;
        }
        true
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn temp(&mut self) -> Reg {
        self.temps += 1;
        Reg(self.temps - 1)
    }

    pub fn emit(&mut self, op: Op, hazards: Hazards) {
        self.emit_at(op, hazards, self.pc, self.line);
    }

    pub fn emit_at(&mut self, op: Op, hazards: Hazards, pc: u32, line: u32) {
        self.last_line = line;
        let draft = &mut self.drafts[self.current];
        if !draft.ended {
            draft.insns.push(Insn { op, pc, line: Some(line), hazards });
        }
    }

    pub fn new_block(&mut self) -> BlockId {
        self.drafts.push(Draft { handlers: self.handlers.clone(), ..Draft::default() });
        BlockId(self.drafts.len() as u32 - 1)
    }

    pub fn go(&mut self, block: BlockId) {
        self.current = block.0 as usize;
        self.last_line = 0;
    }

    pub fn end(&mut self, succs: Vec<Edge>) {
        let draft = &mut self.drafts[self.current];
        if !std::mem::replace(&mut draft.ended, true) {
            draft.succs = succs;
        }
    }

    pub fn jump(&mut self, to: BlockId) {
        self.end(vec![Edge { to, kind: EdgeKind::Jump }]);
    }

    /// Goes on in a new block, with the handlers of now.
    pub fn fresh(&mut self) {
        let next = self.new_block();
        self.end(vec![Edge { to: next, kind: EdgeKind::Fall }]);
        self.go(next);
    }

    pub fn set_handlers(&mut self) {
        let mut all = Vec::new();
        for entry in self.scopes.iter().rev().flatten() {
            all.push(*entry);
            if entry.0.is_none() {
                break;
            }
        }
        self.handlers = Rc::new(all);
    }

    fn finish_with(&mut self, value: Option<Reg>) {
        let draft = &mut self.drafts[self.current];
        if !draft.ended {
            draft.insns.push(Insn { op: Op::Return { value }, pc: self.pc, line: None, hazards: Hazards::NONE });
        }
        self.end(vec![Edge { to: EXIT, kind: EdgeKind::Return }]);
    }

    pub fn finish(self) -> Lowered {
        let body = draft::body(self.drafts, self.frame);
        let lines = self.lines;
        let points = self.order.iter().filter(|pc| body.insns_at(**pc).next().is_some()).map(|pc| (*pc, lines.position(*pc).0));
        Lowered { points: points.collect(), branches: self.branches, body }
    }

    fn point(&mut self, pc: u32) {
        if self.points.insert(pc) {
            self.order.push(pc);
        }
        self.pc = pc;
    }

    pub fn suite(&mut self, body: &'a [Stmt]) {
        if !self.enter() {
            return;
        }
        for stmt in body {
            stacker::maybe_grow(128 << 10, 4 << 20, || self.stmt(stmt));
        }
        self.leave();
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        if matches!(stmt, Stmt::Global(_) | Stmt::Nonlocal(_)) || matches!(stmt, Stmt::ImportFrom(s) if s.module.as_deref() == Some("__future__")) {
            return;
        }
        if self.drafts[self.current].ended {
            let dead = self.new_block();
            self.go(dead);
        }
        self.begin(self.lines.start_of(stmt));
        let (pc, line) = (self.pc, self.line);
        self.stmt_inner(stmt);
        (self.pc, self.line) = (pc, line);
    }

    pub fn begin(&mut self, pc: u32) {
        self.point(pc);
        self.line = self.lines.position(pc).0;
        self.emit(Op::Nop, Hazards::NONE);
    }

    fn stmt_inner(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(s) => self.eval(&s.value),
            Stmt::Return(s) => {
                let value = s.value.as_deref().map(|v| self.expr(v));
                self.unwind(0);
                self.emit(Op::Return { value }, Hazards::NONE);
                self.end(vec![Edge { to: EXIT, kind: EdgeKind::Return }]);
            }
            Stmt::Assign(s) => {
                let value = self.expr(&s.value);
                s.targets.iter().for_each(|t| self.assign(t, value));
            }
            Stmt::AnnAssign(s) => {
                if let Some(value) = &s.value {
                    let value = self.expr(value);
                    self.assign(&s.target, value);
                }
            }
            Stmt::AugAssign(s) => {
                let left = self.expr(&s.target);
                let right = self.expr(&s.value);
                let value = self.binary_op(s.op, left, right);
                self.assign(&s.target, value);
            }
            Stmt::Delete(s) => s.targets.iter().for_each(|t| {
                let value = self.expr(t);
                self.opaque(vec![value], ANY.with(Hazards::BOUNDS).with(Hazards::NULL));
            }),
            Stmt::If(s) => self.if_(s),
            Stmt::While(s) => {
                let (head, body, other, done) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
                self.jump(head);
                self.go(head);
                self.condition(&s.test, body, other);
                self.loop_body(&s.body, (head, body), done);
                self.go(other);
                self.suite(&s.orelse);
                self.jump(done);
                self.go(done);
            }
            Stmt::For(s) => self.for_(s),
            Stmt::Try(s) => self.try_(s),
            Stmt::With(s) => self.with(s),
            Stmt::Match(s) => self.match_(s),
            Stmt::Raise(s) => {
                let value = match s.exc.as_deref() {
                    Some(exc) => self.raised(exc),
                    None => self.caught.unwrap_or_else(|| self.opaque_caught()),
                };
                s.cause.iter().for_each(|c| self.eval(c));
                self.throw(value);
            }
            Stmt::Assert(s) => {
                let (fail, done) = (self.new_block(), self.new_block());
                self.condition(&s.test, done, fail);
                self.go(fail);
                s.msg.iter().for_each(|m| self.eval(m));
                let value = self.construct(&Entity::External("builtins.AssertionError".into()), None);
                self.throw(value);
                self.go(done);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.discard(Vec::new(), Hazards::INIT.with(Hazards::CALL)),
            Stmt::FunctionDef(s) => self.define(s),
            Stmt::ClassDef(s) => self.class(s),
            Stmt::Break(_) => self.leave_loop(|(out, _)| out),
            Stmt::Continue(_) => self.leave_loop(|(_, next)| next),
            _ => {}
        }
    }

    fn opaque_caught(&mut self) -> Reg {
        self.opaque(Vec::new(), Hazards::NONE)
    }

    /// `raise X` makes an object of X.
    fn raised(&mut self, exc: &'a Expr) -> Reg {
        match self.meaning(exc) {
            Some(entity @ (Entity::Class(..) | Entity::External(_))) if !matches!(exc, Expr::Call(_)) => self.construct(&entity, None),
            _ => self.expr(exc),
        }
    }

    fn throw(&mut self, value: Reg) {
        self.emit(Op::Throw { value }, Hazards::EXPLICIT);
        self.end(Vec::new());
    }

    pub fn assign(&mut self, target: &'a Expr, value: Reg) {
        match target {
            Expr::Name(n) => match self.regs.get(n.id.as_str()).copied() {
                Some(to) => self.emit(Op::Copy { to, from: value }, Hazards::NONE),
                None => self.discard(vec![value], Hazards::NONE),
            },
            Expr::Attribute(a) => {
                let object = self.expr(&a.value);
                self.opaque(vec![object, value], ANY.with(Hazards::NULL));
            }
            Expr::Subscript(s) => {
                let (array, index) = (self.expr(&s.value), self.expr(&s.slice));
                self.emit(Op::StoreElement { array, index, value, element: None }, ANY.with(Hazards::BOUNDS));
            }
            Expr::Starred(s) => self.assign(&s.value, value),
            Expr::Tuple(t) => self.unpack(&t.elts, value),
            Expr::List(t) => self.unpack(&t.elts, value),
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: Reg) {
        if !self.enter() {
            return;
        }
        let item = self.opaque(vec![value], ANY);
        targets.iter().for_each(|t| self.assign(t, item));
        self.leave();
    }
}
