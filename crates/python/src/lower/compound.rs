//! Statements that hold others: branches, loops, handlers, definitions.

use rethrow_core::program::TypeId;
use rethrow_core::program::ir::{BlockId, CallKind, Edge, EdgeKind, Hazards, Insn, Op, Operand, Reg, Relation};
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtClassDef, StmtFor, StmtFunctionDef, StmtIf, StmtMatch, StmtTry, StmtWith};
use ruff_text_size::Ranged;

use super::statement::{ANY, Exit, Lowerer};
use crate::source::index::CodeKind;
use crate::source::walk;

/// Copies of `finally` blocks for returns and jumps out of them.
const MAX_COPIES: usize = 60;

impl<'a> Lowerer<'a> {
    pub fn if_(&mut self, s: &'a StmtIf) {
        let done = self.new_block();
        let mut test = Some(&*s.test);
        let mut body = &*s.body;
        let mut clauses = s.elif_else_clauses.iter();
        loop {
            let Some(condition) = test else {
                self.suite(body);
                break;
            };
            let (yes, no) = (self.new_block(), self.new_block());
            self.condition(condition, yes, no);
            self.go(yes);
            self.suite(body);
            self.jump(done);
            self.go(no);
            let Some(clause) = clauses.next() else { break };
            (test, body) = (clause.test.as_ref(), &clause.body);
            if test.is_some() {
                self.begin(clause.range.start().to_u32());
            }
        }
        self.jump(done);
        self.go(done);
    }

    pub fn loop_body(&mut self, body: &'a [Stmt], (head, start): (BlockId, BlockId), out: BlockId) {
        self.go(start);
        self.exits.push(Exit::Loop { out, next: head });
        self.suite(body);
        self.exits.pop();
        self.jump(head);
    }

    pub fn for_(&mut self, s: &'a StmtFor) {
        let iter = self.expr(&s.iter);
        self.opaque(vec![iter], Hazards::CAST);
        let (head, body, other, done) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.jump(head);
        self.go(head);
        let item = self.opaque(vec![iter], ANY);
        self.branch(item, s.iter.range().start().to_u32(), body, other);
        self.go(body);
        self.assign(&s.target, item);
        let start = self.new_block();
        self.jump(start);
        self.loop_body(&s.body, (head, start), done);
        self.go(other);
        self.suite(&s.orelse);
        self.jump(done);
        self.go(done);
    }

    pub fn leave_loop(&mut self, to: impl Fn((BlockId, BlockId)) -> BlockId) {
        let at = self.exits.iter().rposition(|e| matches!(e, Exit::Loop { .. }));
        let Some(at) = at else { return };
        self.unwind(at + 1);
        if let Some(Exit::Loop { out, next }) = self.exits.get(at).copied() {
            self.jump(to((out, next)));
        }
    }

    /// Runs the `finally` blocks between here and exit number `down_to`.
    pub fn unwind(&mut self, down_to: usize) {
        let (exits, scopes, handlers) = (self.exits.clone(), self.scopes.clone(), self.handlers.clone());
        let (pc, line) = (self.pc, self.line);
        for i in (down_to..exits.len()).rev() {
            let Exit::Finally(body, around) = exits[i] else { continue };
            self.copies += 1;
            if self.copies > MAX_COPIES {
                break;
            }
            self.exits.truncate(i);
            self.scopes.truncate(around);
            self.set_handlers();
            self.fresh();
            self.suite(body);
        }
        (self.pc, self.line) = (pc, line);
        (self.exits, self.scopes, self.handlers) = (exits, scopes, handlers);
    }

    pub fn try_(&mut self, s: &'a StmtTry) {
        let around = self.scopes.len();
        let done = self.new_block();
        let last = (!s.finalbody.is_empty()).then(|| self.new_block());
        if let Some(block) = last {
            self.scopes.push(vec![(None, block)]);
            self.exits.push(Exit::Finally(&s.finalbody, around));
        }
        self.set_handlers();
        let after = self.new_block();
        let handlers: Vec<BlockId> = s.handlers.iter().map(|_| self.new_block()).collect();
        let scope =
            s.handlers.iter().zip(&handlers).flat_map(|(ExceptHandler::ExceptHandler(h), block)| {
                self.caught_types(h.type_.as_deref()).into_iter().map(|ty| (ty, *block)).collect::<Vec<_>>()
            });
        let scope = scope.collect();
        self.scopes.push(scope);
        self.set_handlers();
        self.fresh();
        self.suite(&s.body);
        self.scopes.pop();
        self.set_handlers();
        self.fresh();
        self.suite(&s.orelse);
        self.jump(after);
        for (ExceptHandler::ExceptHandler(h), block) in s.handlers.iter().zip(handlers) {
            self.go(block);
            let to = h.name.as_ref().map(|n| self.local(n.as_str()));
            let to = to.unwrap_or_else(|| self.temp());
            let line = self.lines.line(h.range.start());
            let ty = h.type_.as_deref().and_then(|t| self.meaning(t)).and_then(|m| self.type_of(&m));
            self.emit_at(Op::Caught { to, ty }, Hazards::NONE, self.pc, line);
            let outer = self.caught.replace(to);
            self.suite(&h.body);
            self.caught = outer;
            self.jump(after);
        }
        self.scopes.truncate(around);
        if last.is_some() {
            self.exits.pop();
        }
        self.set_handlers();
        // the block was made inside, but what follows is outside
        self.drafts[after.0 as usize].handlers = self.handlers.clone();
        self.go(after);
        self.suite(&s.finalbody);
        self.jump(done);
        if let Some(block) = last {
            self.drafts[block.0 as usize].handlers = self.handlers.clone();
            self.go(block);
            let to = self.temp();
            self.emit(Op::Caught { to, ty: None }, Hazards::NONE);
            self.suite(&s.finalbody);
            // raised again, by no line of its own
            let draft = &mut self.drafts[self.current];
            if !draft.ended {
                draft.insns.push(Insn { op: Op::Throw { value: to }, pc: self.pc, line: None, hazards: Hazards::EXPLICIT });
            }
            self.end(Vec::new());
        }
        self.go(done);
    }

    /// What a handler catches; `None` is everything, which is what an unknown class is taken for.
    pub fn caught_types(&self, ty: Option<&Expr>) -> Vec<Option<TypeId>> {
        let one = |e: &Expr| {
            let found = self.meaning(e).and_then(|m| self.type_of(&m))?;
            let all = matches!(self.program.type_name(found), "builtins:Exception" | "builtins:BaseException");
            (!all).then_some(found)
        };
        match ty {
            None => vec![None],
            Some(Expr::Tuple(t)) => t.elts.iter().map(one).collect(),
            Some(e) => vec![one(e)],
        }
    }

    pub fn with(&mut self, s: &'a StmtWith) {
        for item in &s.items {
            let manager = self.expr(&item.context_expr);
            let value = self.opaque(vec![manager], ANY.with(Hazards::NULL));
            if let Some(target) = &item.optional_vars {
                self.assign(target, value);
            }
        }
        let (pc, line) = (self.pc, self.line);
        self.suite(&s.body);
        (self.pc, self.line) = (pc, line);
        if !self.drafts[self.current].ended {
            self.opaque(Vec::new(), ANY);
        }
    }

    pub fn match_(&mut self, s: &'a StmtMatch) {
        let subject = self.expr(&s.subject);
        let done = self.new_block();
        for case in &s.cases {
            let (matched, next) = (self.new_block(), self.new_block());
            let mut values = Vec::new();
            walk::pattern_exprs(&case.pattern, &mut |e| values.push(e), 0);
            let mut args = vec![subject];
            args.extend(values.into_iter().map(|e| self.expr(e)));
            let test = self.opaque(args, ANY);
            if is_wildcard(&case.pattern) {
                self.jump(matched);
            } else {
                self.emit(Op::If { left: test, relation: Relation::Ne, right: Operand::Zero }, Hazards::NONE);
                self.end(vec![Edge { to: matched, kind: EdgeKind::Branch { taken: true } }, Edge { to: next, kind: EdgeKind::Branch { taken: false } }]);
            }
            self.go(matched);
            let mut bound = Vec::new();
            walk::pattern_names(&case.pattern, &mut |n| bound.push(n), 0);
            for name in bound {
                let to = self.local(name);
                self.emit(Op::Copy { to, from: subject }, Hazards::NONE);
            }
            if let Some(guard) = &case.guard {
                let body = self.new_block();
                self.condition(guard, body, next);
                self.go(body);
            }
            self.suite(&case.body);
            self.jump(done);
            self.go(next);
        }
        self.jump(done);
        self.go(done);
    }

    pub fn define(&mut self, def: &'a StmtFunctionDef) {
        def.decorator_list.iter().for_each(|d| self.eval(&d.expression));
        let mut defaults = Vec::new();
        walk::defaults(&def.parameters, &mut |d| defaults.push(d));
        defaults.into_iter().for_each(|d| self.eval(d));
        let mut value = self.code_object(CodeKind::Function, def.range, false);
        if !def.decorator_list.is_empty() {
            value = self.opaque(vec![value], ANY);
        }
        let to = self.local(def.name.as_str());
        self.emit(Op::Copy { to, from: value }, Hazards::NONE);
    }

    pub fn class(&mut self, def: &'a StmtClassDef) {
        def.decorator_list.iter().for_each(|d| self.eval(&d.expression));
        if let Some(arguments) = &def.arguments {
            arguments.args.iter().chain(arguments.keywords.iter().map(|k| &k.value)).for_each(|a| self.eval(a));
        }
        let value = self.code_object(CodeKind::Class, def.range, true);
        let to = self.local(def.name.as_str());
        self.emit(Op::Copy { to, from: value }, Hazards::NONE);
    }

    /// A reference to code that this one makes, or runs at once.
    pub fn code_object(&mut self, kind: CodeKind, range: ruff_text_size::TextRange, run: bool) -> Reg {
        let codes = &self.sources.files[self.file].index.codes;
        let code = codes.iter().position(|c| c.kind == kind && c.range == range);
        let method = code.and_then(|c| self.sources.methods.get(&(self.file, c)).copied());
        match method {
            Some(method) if run => self.invoke(method, CallKind::Static, Vec::new()),
            Some(method) => self.lambda(method, Vec::new()),
            None => self.opaque(Vec::new(), Hazards::NONE),
        }
    }
}

fn is_wildcard(pattern: &ruff_python_ast::Pattern) -> bool {
    matches!(pattern, ruff_python_ast::Pattern::MatchAs(p) if p.pattern.is_none())
}
