//! Trees to the core's register code: a line's instructions in a row, conditions negated as compilers do, wrapping blocks as exception edges.

use std::sync::Arc;

use super::syntax::{Atom, Cond, Expr, Kind, Method, Stmt};
use super::{CAUSE, Error, NEW};
use crate::objective::line_distance::negated;
use crate::program::ir::{Block, BlockId, Body, CallKind, Const, Edge, EdgeKind, FieldRef, Frame, Hazards, Insn, MethodRef, Op, Operand, Reg, Relation};
use crate::program::{Access, FieldId, MethodId, MethodKind, Prim, Program, Ty, TypeId};

/// A place in the code that is jumped to.
type Label = usize;

pub fn lower(program: &Program, id: MethodId, method: &Method) -> Result<Body, Error> {
    let receiver = program.method(id).kind != MethodKind::Static;
    let owner = Ty::reference(program.method(id).owner);
    let this = receiver.then(|| ("this".to_string(), owner));
    let types = program.signature(id).params.iter().copied();
    let vars: Vec<(String, Ty)> = this.into_iter().chain(method.params.iter().map(|(name, _)| name.clone()).zip(types)).collect();
    let params = (0u32..).zip(&vars).map(|(i, (_, ty))| (Reg(i), *ty)).collect();
    let regs = vars.len() as u32;
    let vars = (0u32..).zip(vars).map(|(i, (name, ty))| (name, Reg(i), ty)).collect();
    let mut code = Lowering { program, vars, regs, line: method.end, code: Vec::new(), labels: Vec::new(), handler: None };
    code.stmts(&method.body)?;
    if code.open() {
        code.line = method.end;
        code.emit(Op::Return { value: None }, Hazards::NONE);
    }
    Ok(code.assemble(Frame { locals: 0, params, receiver }))
}

struct Emitted {
    insn: Insn,
    target: Option<Label>,
    handler: Option<Label>,
}

struct Lowering<'p> {
    program: &'p Program,
    vars: Vec<(String, Reg, Ty)>,
    regs: u32,
    line: u32,
    code: Vec<Emitted>,
    /// Instruction that each label stands before.
    labels: Vec<usize>,
    handler: Option<Label>,
}

fn ends(op: &Op) -> bool {
    matches!(op, Op::Goto | Op::Return { .. } | Op::Throw { .. })
}

impl Lowering<'_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::new(self.line, message))
    }
    fn reg(&mut self) -> Reg {
        self.regs += 1;
        Reg(self.regs - 1)
    }
    fn emit(&mut self, op: Op, hazards: Hazards) {
        let insn = Insn { op, pc: self.code.len() as u32, line: Some(self.line), hazards };
        self.code.push(Emitted { insn, target: None, handler: self.handler });
    }
    fn jump(&mut self, op: Op, target: Label) {
        self.emit(op, Hazards::NONE);
        self.code.last_mut().expect("just emitted").target = Some(target);
    }
    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }
    fn place(&mut self, label: Label) {
        self.labels[label] = self.code.len();
    }
    /// Whether control can come to the end of what is emitted so far.
    fn open(&self) -> bool {
        self.labels.contains(&self.code.len()) || self.code.last().is_none_or(|last| !ends(&last.insn.op))
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), Error> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Error> {
        self.line = stmt.line;
        match &stmt.kind {
            Kind::Assign(path, expr) => self.assign(path, expr)?,
            Kind::Do(expr) => drop(self.expr(expr)?),
            Kind::Return(value) => {
                let value = value.as_ref().map(|e| self.expr(e)).transpose()?;
                self.emit(Op::Return { value: value.map(|(reg, _)| reg) }, Hazards::NONE);
            }
            Kind::Throw(name) => self.throw(name, None)?,
            Kind::If(cond, then) => {
                let end = self.label();
                self.unless(cond, end)?;
                self.stmts(then)?;
                self.place(end);
            }
            Kind::While(cond, block) => {
                let (head, end) = (self.label(), self.label());
                self.place(head);
                self.unless(cond, end)?;
                self.stmts(block)?;
                self.line = stmt.line;
                self.jump(Op::Goto, head);
                self.place(end);
            }
            Kind::Wrap { block, exception, line } => self.wrap(block, exception, *line)?,
        }
        Ok(())
    }

    fn wrap(&mut self, block: &[Stmt], exception: &str, line: u32) -> Result<(), Error> {
        let (handler, end) = (self.label(), self.label());
        let outer = self.handler.replace(handler);
        self.stmts(block)?;
        self.handler = outer;
        self.line = line;
        let goes_on = self.open();
        if goes_on {
            self.jump(Op::Goto, end);
        }
        self.place(handler);
        let caught = self.reg();
        self.emit(Op::Caught { to: caught, ty: None }, Hazards::NONE);
        self.throw(exception, Some(caught))?;
        if goes_on {
            self.place(end);
        }
        Ok(())
    }

    fn throw(&mut self, name: &str, cause: Option<Reg>) -> Result<(), Error> {
        let class = self.class(name)?;
        let value = self.reg();
        self.emit(Op::New { to: value, class }, Hazards::NONE);
        if let Some(cause) = cause {
            let field = FieldRef { owner: class, name: CAUSE.into(), ty: self.program.well_known().object };
            self.emit(Op::PutField { object: value, field: Arc::new(field), value: cause }, Hazards::NONE);
        }
        self.emit(Op::Throw { value }, Hazards::EXPLICIT);
        Ok(())
    }

    /// Jumps to `target` if the condition does not hold.
    fn unless(&mut self, cond: &Cond, target: Label) -> Result<(), Error> {
        let (left, ty) = self.atom(&cond.left)?;
        if cond.right == Atom::Null {
            self.jump(Op::If { left, relation: negated(cond.relation), right: Operand::Null }, target);
            return Ok(());
        }
        let (right, _) = self.atom(&cond.right)?;
        if ty != self.program.well_known().string {
            self.jump(Op::If { left, relation: negated(cond.relation), right: Operand::Reg(right) }, target);
            return Ok(());
        }
        // strings are compared by a predicate, whose answer is then compared with 0
        let equal = self.reg();
        self.emit(Op::Opaque { to: Some(equal), ret: Ty::BOOL, args: Box::new([left, right]) }, Hazards::NONE);
        let relation = match cond.relation {
            Relation::Eq => Relation::Eq,
            Relation::Ne => Relation::Ne,
            _ => return self.error("strings are equal or not"),
        };
        self.jump(Op::If { left: equal, relation, right: Operand::Zero }, target);
        Ok(())
    }

    fn assign(&mut self, path: &[String], expr: &Expr) -> Result<(), Error> {
        let (value, ty) = self.expr(expr)?;
        let (name, owner) = path.split_last().expect("the parser makes no empty path");
        if owner.is_empty() {
            let known = self.vars.iter().find(|(var, _, _)| var == name).map(|(_, reg, _)| *reg);
            let to = known.unwrap_or_else(|| {
                let reg = self.reg();
                self.vars.push((name.clone(), reg, ty));
                reg
            });
            self.emit(Op::Copy { to, from: value }, Hazards::NONE);
            return Ok(());
        }
        if let Some(class) = self.class_path(owner) {
            let field = self.field(class, name)?;
            self.emit(Op::PutStatic { field, value }, Hazards::NONE);
            return Ok(());
        }
        let (object, ty) = self.path(owner)?;
        let field = self.field_of(ty, name)?;
        self.emit(Op::PutField { object, field, value }, Hazards::NULL);
        Ok(())
    }

    fn expr(&mut self, expr: &Expr) -> Result<(Reg, Ty), Error> {
        match expr {
            Expr::Atom(atom) => self.atom(atom),
            Expr::Binary(left, op, right) => {
                let (left, right) = (self.atom(left)?.0, self.atom(right)?.0);
                let to = self.reg();
                self.emit(Op::Binary { to, op: *op, ty: Prim::Int, left, right }, Hazards::NONE);
                Ok((to, Ty::INT))
            }
            Expr::New(name, args) => {
                let class = self.class(name)?;
                let to = self.reg();
                self.emit(Op::New { to, class }, Hazards::NONE);
                self.call(class, NEW, Some(to), args)?;
                Ok((to, Ty::reference(class)))
            }
            Expr::Call(path, args) => {
                let (name, owner) = path.split_last().expect("the parser makes no empty path");
                if let Some(class) = self.class_path(owner) {
                    return self.call(class, name, None, args);
                }
                let (recv, ty) = if owner.is_empty() { return self.error(format!("whose {name}?")) } else { self.path(owner)? };
                match ty.as_ref() {
                    Some(class) => self.call(class, name, Some(recv), args),
                    None => self.error(format!("no object to call {name} on")),
                }
            }
        }
    }

    /// A method is known by its name and the number of its parameters.
    fn call(&mut self, class: TypeId, name: &str, recv: Option<Reg>, args: &[Atom]) -> Result<(Reg, Ty), Error> {
        let program = self.program;
        let fits = |m: &MethodId| program.signature(*m).params.len() == args.len() && (program.method(*m).kind == MethodKind::Static) == recv.is_none();
        let found = program.supertypes(class).into_iter().find_map(|t| program.methods_named(t, name).find(fits));
        let Some(method) = found else { return self.error(format!("no {name} with {} parameters in {}", args.len(), program.type_name(class))) };
        let def = program.method(method);
        let mut regs: Vec<Reg> = recv.into_iter().collect();
        for arg in args {
            regs.push(self.atom(arg)?.0);
        }
        let (kind, hazards) = match (def.kind, def.access) {
            (MethodKind::Static, _) => (CallKind::Static, Hazards::CALL),
            (MethodKind::Constructor, _) => (CallKind::Direct, Hazards::CALL),
            (_, Access::Private) => (CallKind::Direct, Hazards::CALL.with(Hazards::NULL)),
            _ => (CallKind::Virtual, Hazards::CALL.with(Hazards::NULL)),
        };
        let (to, ret) = (self.reg(), program.signature(method).ret);
        let method = MethodRef { owner: def.owner, name: name.into(), desc: program.method_desc(method).into() };
        self.emit(Op::Call { to: (!ret.is_void()).then_some(to), kind, method: Arc::new(method), args: regs.into() }, hazards);
        Ok((to, ret))
    }

    fn atom(&mut self, atom: &Atom) -> Result<(Reg, Ty), Error> {
        let known = self.program.well_known();
        let (value, ty) = match atom {
            Atom::Path(path) => return self.path(path),
            Atom::Int(v) => (Const::Int(*v), Ty::INT),
            Atom::Str(text) => (Const::Str(text.clone()), known.string),
            Atom::Null => (Const::Null, known.object),
        };
        let to = self.reg();
        self.emit(Op::Const { to, value }, Hazards::NONE);
        Ok((to, ty))
    }

    fn path(&mut self, path: &[String]) -> Result<(Reg, Ty), Error> {
        let var = self.vars.iter().find(|(name, _, _)| *name == path[0]).map(|(_, reg, ty)| (*reg, *ty));
        let ((mut reg, mut ty), fields) = match (var, self.class_path(&path[..1])) {
            (Some(found), _) => (found, &path[1..]),
            (None, Some(class)) if path.len() > 1 => {
                let (field, to) = (self.field(class, &path[1])?, self.reg());
                self.emit(Op::GetStatic { to, field: field.clone() }, Hazards::NONE);
                ((to, field.ty), &path[2..])
            }
            _ => return self.error(format!("no variable {}", path[0])),
        };
        for name in fields {
            let to = self.reg();
            if ty.is_array() && name == "length" {
                self.emit(Op::Length { to, array: reg }, Hazards::NULL);
                (reg, ty) = (to, Ty::INT);
            } else {
                let field = self.field_of(ty, name)?;
                self.emit(Op::GetField { to, object: reg, field: field.clone() }, Hazards::NULL);
                (reg, ty) = (to, field.ty);
            }
        }
        Ok((reg, ty))
    }

    fn class(&self, name: &str) -> Result<TypeId, Error> {
        self.program.find_type(name).map_or_else(|| self.error(format!("no class {name}")), Ok)
    }

    /// The class that a path of one name means, unless a variable has that name.
    fn class_path(&self, path: &[String]) -> Option<TypeId> {
        match path {
            [name] if !self.vars.iter().any(|(var, _, _)| var == name) => self.program.find_type(name),
            _ => None,
        }
    }

    fn field_of(&self, ty: Ty, name: &str) -> Result<Arc<FieldRef>, Error> {
        match ty.as_ref() {
            Some(class) => self.field(class, name),
            None => self.error(format!("no object to have {name}")),
        }
    }

    fn field(&self, class: TypeId, name: &str) -> Result<Arc<FieldRef>, Error> {
        let found: Option<FieldId> = self.program.supertypes(class).into_iter().find_map(|t| self.program.find_field(t, name));
        let Some(def) = found.map(|f| self.program.field(f)) else { return self.error(format!("no field {name}")) };
        Ok(Arc::new(FieldRef { owner: def.owner, name: name.into(), ty: def.ty }))
    }

    fn assemble(self, mut frame: Frame) -> Body {
        frame.locals = self.regs;
        let starts = self.block_starts();
        let block_at = |label: Label| BlockId(starts.partition_point(|s| *s < self.labels[label]) as u32);
        let (exit, raised) = (BlockId(starts.len() as u32), BlockId(starts.len() as u32 + 1));
        let mut blocks: Vec<Block> = Vec::new();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(self.code.len());
            let last = &self.code[end - 1];
            let (next, target) = (BlockId(i as u32 + 1), last.target.map(&block_at));
            let mut succs = match (&last.insn.op, target) {
                (Op::If { .. }, Some(to)) => {
                    vec![Edge { to: next, kind: EdgeKind::Branch { taken: false } }, Edge { to, kind: EdgeKind::Branch { taken: true } }]
                }
                (Op::Goto, Some(to)) => vec![Edge { to, kind: EdgeKind::Jump }],
                (Op::Return { .. }, _) => vec![Edge { to: exit, kind: EdgeKind::Return }],
                (Op::Throw { .. }, _) => Vec::new(),
                _ => vec![Edge { to: next, kind: EdgeKind::Fall }],
            };
            if self.code[*start..end].iter().any(|e| !e.insn.hazards.is_empty()) {
                succs.push(Edge { to: last.handler.map_or(raised, &block_at), kind: EdgeKind::Exception(None) });
            }
            blocks.push(Block { insns: *start as u32..end as u32, succs, preds: Vec::new() });
        }
        blocks.extend([Block::default(), Block::default()]);
        Body::new(self.code.into_iter().map(|e| e.insn).collect(), blocks, frame)
    }

    /// Blocks begin at labels, behind jumps, and where the handler changes.
    fn block_starts(&self) -> Vec<usize> {
        let begins = |i: &usize| {
            let jumped_to = self.labels.contains(i);
            let before = i.checked_sub(1).map(|b| &self.code[b]);
            jumped_to || before.is_none_or(|b| b.target.is_some() || ends(&b.insn.op) || b.handler != self.code[*i].handler)
        };
        (0..self.code.len()).filter(begins).collect()
    }
}
