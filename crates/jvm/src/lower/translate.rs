//! One method's bytecode, walked from its entry along all paths, as register code.
//!
//! Every block is visited once, with the operand stack that the first path brings; later paths must agree with it. `jsr` enters a *context*, a copy of the subroutine for
//! that caller, so that `ret` has one place to go. A subroutine cannot be active twice, so entering one that is on the chain of contexts means
//! that the earlier activation was left by a jump or an exception; the chain is cut there, which keeps the number of contexts finite.

use rethrow_core::program::ir::{BinOp, CallKind, Const, EdgeKind, Frame, Hazards, Insn as IrInsn, Op as Ir, Operand, Reg, Relation, ThreeWay};
use rethrow_core::program::{Prim, Program, Ty, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::{DraftBlock, Key, Part, Target, link};
use super::pool::{Dynamic, Names};
use super::stack::{Stack, Value};
use crate::classfile::code::Handler;
use crate::classfile::insn::{Arith, Compare, Cond, Convert, Element, Insn, Invoke, Kind, StackOp};
use crate::classfile::{ClassFile, Code, FieldType, Member, MethodDescriptor, Op};
use rethrow_core::program::ir::Body;

type Outcome<T> = Result<T, String>;

/// More than any real method gives, even with subroutines copied.
const MAX_INSNS: usize = 1 << 19;

pub(super) fn lower(program: &Program, owner: TypeId, class: &ClassFile<'_>, member: &Member<'_>, code: &Code<'_>) -> Outcome<Body> {
    let names = Names::new(program, class);
    let frame = frame(&names, owner, member, code)?;
    let ops: Vec<Op<'_>> = code.instructions().collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let layout = Layout::new(code, &ops)?;
    let this = frame.receiver && !ops.iter().any(|op| writes_slot(&op.insn, 0));
    let mut walk = Walk {
        names,
        code,
        ops: &ops,
        layout,
        owner,
        this_is_fixed: this,
        scratch: Reg(u32::from(code.max_locals) + u32::from(code.max_stack)),
        contexts: vec![Context::default()],
        started: FxHashMap::default(),
        pending: Vec::new(),
        done: Vec::new(),
        insns: 0,
    };
    walk.run()?;
    Ok(link(walk.done, frame))
}

fn writes_slot(insn: &Insn<'_>, slot: u16) -> bool {
    match insn {
        Insn::Store(_, s) | Insn::Iinc { slot: s, .. } => *s == slot,
        _ => false,
    }
}

/// Receiver and parameters lie in the first locals.
fn frame(names: &Names<'_, '_>, owner: TypeId, member: &Member<'_>, code: &Code<'_>) -> Outcome<Frame> {
    let descriptor = MethodDescriptor::parse(member.descriptor).map_err(|e| e.to_string())?;
    let receiver = !member.is_static();
    let mut params = Vec::new();
    let mut slot = 0;
    if receiver {
        params.push((Reg(0), Ty::reference(owner)));
        slot = 1;
    }
    for parameter in &descriptor.parameters {
        params.push((Reg(slot), names.ty(parameter)));
        slot += u32::from(parameter.slots());
    }
    if slot > u32::from(code.max_locals) {
        return Err("more parameters than locals".to_owned());
    }
    Ok(Frame { locals: u32::from(code.max_locals), params, receiver })
}

/// What can be told of code without walking it.
struct Layout<'c> {
    /// Index of the instruction at each pc.
    index_of: Vec<u32>,
    /// Instructions that begin a block.
    leaders: FxHashSet<u32>,
    handlers: &'c [Handler],
}

const NO_INSN: u32 = u32::MAX;

impl<'c> Layout<'c> {
    fn new(code: &'c Code<'_>, ops: &[Op<'_>]) -> Outcome<Self> {
        let mut index_of = vec![NO_INSN; code.bytecode.len()];
        for (i, op) in ops.iter().enumerate() {
            index_of[op.pc as usize] = i as u32;
        }
        let mut layout = Layout { index_of, leaders: FxHashSet::default(), handlers: &code.handlers };
        layout.find_leaders(code, ops)?;
        Ok(layout)
    }

    fn find_leaders(&mut self, code: &Code<'_>, ops: &[Op<'_>]) -> Outcome<()> {
        for (i, op) in ops.iter().enumerate() {
            if let Some(target) = op.insn.jump_target() {
                self.leaders.insert(self.index(target)?);
                self.leaders.insert(i as u32 + 1);
            }
            if let Insn::Switch(switch) = op.insn {
                self.leaders.insert(self.index(switch.default)?);
                for (_, target) in switch.cases() {
                    self.leaders.insert(self.index(target)?);
                }
            }
        }
        for handler in &code.handlers {
            self.leaders.insert(self.index(u32::from(handler.start))?);
            self.leaders.insert(self.index(u32::from(handler.handler))?);
            if usize::from(handler.end) < code.bytecode.len() {
                self.leaders.insert(self.index(u32::from(handler.end))?);
            }
        }
        Ok(())
    }

    fn index(&self, pc: u32) -> Outcome<u32> {
        let found = self.index_of.get(pc as usize).copied().filter(|i| *i != NO_INSN);
        found.ok_or_else(|| format!("no instruction begins at pc {pc}"))
    }
}

/// An activation of a subroutine; the first is the method itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Context {
    parent: u32,
    /// First instruction of the subroutine.
    entry: u32,
    /// Instruction after the `jsr`.
    return_to: u32,
}

/// What a path brings to a block.
#[derive(Debug, Clone)]
struct State {
    stack: Stack,
    /// Locals that hold return addresses, with the context each belongs to.
    returns: Vec<(u16, u32)>,
}

struct Walk<'p, 'a> {
    names: Names<'p, 'a>,
    code: &'p Code<'a>,
    ops: &'p [Op<'a>],
    layout: Layout<'p>,
    owner: TypeId,
    /// Local 0 is the receiver all the time.
    this_is_fixed: bool,
    /// A register that neither locals nor stack use.
    scratch: Reg,
    contexts: Vec<Context>,
    started: FxHashMap<Key, Stack>,
    pending: Vec<(Key, State)>,
    done: Vec<(Key, DraftBlock)>,
    insns: usize,
}

/// How control leaves an instruction.
enum Flow {
    Next,
    Ends,
}

/// A block while its instructions are translated.
struct Current {
    key: Key,
    state: State,
    /// As on entry, for handlers.
    entry_returns: Vec<(u16, u32)>,
    draft: DraftBlock,
    pc: u32,
    line: Option<u32>,
}

impl Current {
    fn emit(&mut self, op: Ir, hazards: Hazards) {
        self.draft.insns.push(IrInsn { op, pc: self.pc, line: self.line, hazards });
    }

    fn push(&mut self, value: Value) -> Outcome<Reg> {
        Ok(self.state.stack.push(value)?)
    }

    fn pop(&mut self) -> Outcome<Reg> {
        Ok(self.state.stack.pop()?.1)
    }

    /// A reference and whether it may be null.
    fn pop_object(&mut self) -> Outcome<(Reg, Hazards)> {
        let (value, reg) = self.state.stack.pop()?;
        Ok((reg, if value == Value::NonNull { Hazards::NONE } else { Hazards::NULL }))
    }

    fn pop_many(&mut self, count: usize) -> Outcome<Box<[Reg]>> {
        let mut regs = (0..count).map(|_| self.pop()).collect::<Outcome<Vec<_>>>()?;
        regs.reverse();
        Ok(regs.into())
    }

    /// The constant that was put into `reg` just now.
    fn constant_in(&self, reg: Reg) -> Option<&Const> {
        let last = self.draft.insns.iter().rev().find(|insn| insn.op.written() == Some(reg))?;
        match &last.op {
            Ir::Const { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl Walk<'_, '_> {
    fn run(&mut self) -> Outcome<()> {
        let stack = Stack::new(u32::from(self.code.max_locals), u32::from(self.code.max_stack));
        self.reach(Key { context: 0, index: 0, part: Part::Code }, State { stack, returns: Vec::new() })?;
        while let Some((key, state)) = self.pending.pop() {
            self.block(key, state)?;
            if self.insns > MAX_INSNS {
                return Err("the method is too large when its subroutines are copied".to_owned());
            }
        }
        Ok(())
    }

    /// Notes that a path leads to `key`.
    fn reach(&mut self, key: Key, state: State) -> Outcome<()> {
        let stack = state.stack.forget();
        match self.started.get(&key) {
            Some(known) if known.fits(&stack) => Ok(()),
            Some(_) => Err(format!("paths to pc {} disagree about the operand stack", self.pc_of(key.index))),
            None => {
                self.started.insert(key, stack.clone());
                self.pending.push((key, State { stack, ..state }));
                Ok(())
            }
        }
    }

    fn pc_of(&self, index: u32) -> u32 {
        self.ops.get(index as usize).map_or(0, |op| op.pc)
    }

    fn block(&mut self, key: Key, state: State) -> Outcome<()> {
        let entry_returns = state.returns.clone();
        let mut current = Current { key, state, entry_returns, draft: DraftBlock::default(), pc: 0, line: None };
        match key.part {
            Part::HandlerEntry => self.handler_entry(&mut current)?,
            Part::Code => self.code_block(&mut current)?,
        }
        self.insns += current.draft.insns.len();
        self.done.push((key, current.draft));
        Ok(())
    }

    fn handler_entry(&mut self, current: &mut Current) -> Outcome<()> {
        self.locate(current, current.key.index);
        let (_, to) = current.state.stack.clone().pop()?;
        let rows = self.layout.handlers.iter().filter(|h| u32::from(h.handler) == current.pc);
        let mut types: Vec<u16> = rows.map(|h| h.catch_type).collect();
        types.dedup();
        let ty = match types[..] {
            [only] if only != 0 => Some(self.names.class_id(only)?),
            _ => None,
        };
        current.emit(Ir::Caught { to, ty }, Hazards::NONE);
        self.go(current, current.key.index, EdgeKind::Fall)
    }

    fn locate(&self, current: &mut Current, index: u32) {
        current.pc = self.pc_of(index);
        current.line = self.code.line_at(current.pc).map(u32::from);
    }

    fn code_block(&mut self, current: &mut Current) -> Outcome<()> {
        let mut index = current.key.index;
        loop {
            let op = *self.ops.get(index as usize).ok_or("code runs past its end")?;
            self.locate(current, index);
            let flow = self.step(current, index, &op.insn).map_err(|why| format!("pc {}: {why}", op.pc))?;
            index += 1;
            match flow {
                Flow::Ends => break,
                Flow::Next if self.layout.leaders.contains(&index) => {
                    self.go(current, index, EdgeKind::Fall)?;
                    break;
                }
                Flow::Next => {}
            }
        }
        self.raise(current)
    }

    /// Adds an edge to the code at `index` in the same context.
    fn go(&mut self, current: &mut Current, index: u32, kind: EdgeKind) -> Outcome<()> {
        self.go_in(current, current.key.context, index, kind)
    }

    fn go_in(&mut self, current: &mut Current, context: u32, index: u32, kind: EdgeKind) -> Outcome<()> {
        if index as usize >= self.ops.len() {
            return Err("code runs past its end".to_owned());
        }
        let key = Key { context, index, part: Part::Code };
        self.reach(key, current.state.clone())?;
        current.draft.succs.push((Target::Block(key), kind));
        Ok(())
    }

    /// Adds the exception edges of a finished block.
    fn raise(&mut self, current: &mut Current) -> Outcome<()> {
        if current.draft.insns.iter().all(|insn| insn.hazards.is_empty()) {
            return Ok(());
        }
        let pc = self.pc_of(current.key.index);
        let mut seen = Vec::new();
        for handler in self.layout.handlers {
            if !(u32::from(handler.start)..u32::from(handler.end)).contains(&pc) || seen.contains(&handler.catch_type) {
                continue;
            }
            seen.push(handler.catch_type);
            let index = self.layout.index(u32::from(handler.handler))?;
            let key = Key { context: current.key.context, index, part: Part::HandlerEntry };
            let stack = current.state.stack.with_exception()?.0;
            self.reach(key, State { stack, returns: current.entry_returns.clone() })?;
            let ty = if handler.catch_type == 0 { None } else { Some(self.names.class_id(handler.catch_type)?) };
            current.draft.succs.push((Target::Block(key), EdgeKind::Exception(ty)));
            if ty.is_none_or(|ty| self.names.program.type_name(ty) == "java.lang.Throwable") {
                return Ok(());
            }
        }
        current.draft.succs.push((Target::Raised, EdgeKind::Exception(None)));
        Ok(())
    }

    fn step(&mut self, c: &mut Current, index: u32, insn: &Insn<'_>) -> Outcome<Flow> {
        match *insn {
            Insn::Nop => c.emit(Ir::Nop, Hazards::NONE),
            Insn::Null => self.constant(c, Value::Ref, Const::Null)?,
            Insn::Int(v) => self.constant(c, Value::Int, Const::Int(v))?,
            Insn::Long(v) => self.constant(c, Value::Long, Const::Long(v))?,
            Insn::Float(v) => self.constant(c, Value::Float, Const::Float(v))?,
            Insn::Double(v) => self.constant(c, Value::Double, Const::Double(v))?,
            Insn::Ldc(i) => self.load_constant(c, i)?,
            Insn::Load(kind, slot) => self.load(c, kind, slot)?,
            Insn::Store(_, slot) => self.store(c, slot)?,
            Insn::ArrayLoad(element) => array_load(c, element)?,
            Insn::ArrayStore(element) => array_store(c, element)?,
            Insn::Stack(op) => self.shuffle(c, op)?,
            Insn::Arith(op, kind) => arithmetic(c, op, kind)?,
            Insn::Iinc { slot, by } => self.increment(c, slot, by)?,
            Insn::Convert(convert) => conversion(c, convert)?,
            Insn::Compare(compare) => comparison(c, compare)?,
            Insn::GetStatic(_) | Insn::PutStatic(_) | Insn::GetField(_) | Insn::PutField(_) => self.field(c, insn)?,
            Insn::Invoke(Invoke::Dynamic, i) => self.invoke_dynamic(c, i)?,
            Insn::Invoke(kind, i) => self.invoke(c, kind, i)?,
            Insn::New(i) => {
                let class = self.names.class_id(i)?;
                let to = c.push(Value::NonNull)?;
                c.emit(Ir::New { to, class }, self.initialises(class));
            }
            Insn::NewArray(code) => new_array(c, primitive(code)?.array_of(), 1)?,
            Insn::NewRefArray(i) => new_array(c, self.names.class_ty(i)?.array_of(), 1)?,
            Insn::NewMultiArray { class, dimensions } => {
                let ty = self.names.class_ty(class)?;
                if dimensions == 0 || dimensions > ty.dims {
                    return Err("array of no dimensions".to_owned());
                }
                new_array(c, ty, usize::from(dimensions))?;
            }
            Insn::ArrayLength => {
                let (array, hazards) = c.pop_object()?;
                let to = c.push(Value::Int)?;
                c.emit(Ir::Length { to, array }, hazards);
            }
            Insn::CheckCast(i) => {
                let ty = self.names.class_ty(i)?;
                let (value, of) = c.state.stack.pop()?;
                let to = c.push(value)?;
                c.emit(Ir::Cast { to, of, ty }, Hazards::CAST);
            }
            Insn::InstanceOf(i) => {
                let ty = self.names.class_ty(i)?;
                let of = c.pop()?;
                let to = c.push(Value::Int)?;
                c.emit(Ir::InstanceOf { to, of, ty }, Hazards::NONE);
            }
            Insn::MonitorEnter => {
                let (object, hazards) = c.pop_object()?;
                c.emit(Ir::Lock { object, enter: true }, hazards);
            }
            Insn::MonitorExit => {
                let object = c.pop()?;
                c.emit(Ir::Lock { object, enter: false }, Hazards::MONITOR);
            }
            _ => return self.transfer(c, index, insn),
        }
        Ok(Flow::Next)
    }

    /// Instructions that end a block.
    fn transfer(&mut self, c: &mut Current, index: u32, insn: &Insn<'_>) -> Outcome<Flow> {
        match *insn {
            Insn::If { cond, target } => {
                let left = c.pop()?;
                self.branch(c, index, (left, relation(cond), Operand::Zero), target)?;
            }
            Insn::IfIcmp { cond, target } => {
                let (right, left) = (c.pop()?, c.pop()?);
                self.branch(c, index, (left, relation(cond), Operand::Reg(right)), target)?;
            }
            Insn::IfAcmp { equal, target } => {
                let (right, left) = (c.pop()?, c.pop()?);
                self.branch(c, index, (left, equality(equal), Operand::Reg(right)), target)?;
            }
            Insn::IfNull { null, target } => {
                let left = c.pop()?;
                self.branch(c, index, (left, equality(null), Operand::Null), target)?;
            }
            Insn::Goto(target) => {
                c.emit(Ir::Goto, Hazards::NONE);
                self.go(c, self.layout.index(target)?, EdgeKind::Jump)?;
            }
            Insn::Jsr(target) => self.jsr(c, index, target)?,
            Insn::Ret(slot) => self.ret(c, slot)?,
            Insn::Switch(switch) => {
                let on = c.pop()?;
                c.emit(Ir::Switch { on }, Hazards::NONE);
                for (key, target) in switch.cases() {
                    self.go(c, self.layout.index(target)?, EdgeKind::Case(Some(key)))?;
                }
                self.go(c, self.layout.index(switch.default)?, EdgeKind::Case(None))?;
            }
            Insn::Return(kind) => {
                let value = kind.map(|_| c.pop()).transpose()?;
                c.emit(Ir::Return { value }, Hazards::NONE);
                c.draft.succs.push((Target::Exit, EdgeKind::Return));
            }
            Insn::Throw => {
                let (value, hazards) = c.pop_object()?;
                c.emit(Ir::Throw { value }, hazards.with(Hazards::EXPLICIT));
            }
            _ => return Err("unexpected instruction".to_owned()),
        }
        Ok(Flow::Ends)
    }

    fn branch(&mut self, c: &mut Current, index: u32, condition: (Reg, Relation, Operand), target: u32) -> Outcome<()> {
        let (left, relation, right) = condition;
        c.emit(Ir::If { left, relation, right }, Hazards::NONE);
        self.go(c, self.layout.index(target)?, EdgeKind::Branch { taken: true })?;
        self.go(c, index + 1, EdgeKind::Branch { taken: false })
    }

    fn jsr(&mut self, c: &mut Current, index: u32, target: u32) -> Outcome<()> {
        let entry = self.layout.index(target)?;
        let mut parent = c.key.context;
        let mut outer = parent;
        while outer != 0 {
            let Context { parent: next, entry: active, .. } = self.contexts[outer as usize];
            if active == entry {
                parent = next;
            }
            outer = next;
        }
        let new = Context { parent, entry, return_to: index + 1 };
        let known = self.contexts.iter().skip(1).position(|context| *context == new).map(|i| i as u32 + 1);
        let context = known.unwrap_or_else(|| {
            self.contexts.push(new);
            self.contexts.len() as u32 - 1
        });
        c.push(Value::ReturnAddress(context))?;
        c.emit(Ir::Goto, Hazards::NONE);
        self.go_in(c, context, entry, EdgeKind::Jump)
    }

    fn ret(&mut self, c: &mut Current, slot: u16) -> Outcome<()> {
        let held = c.state.returns.iter().find(|(s, _)| *s == slot).ok_or("ret without a return address")?;
        let Context { parent, return_to, .. } = self.contexts[held.1 as usize];
        c.emit(Ir::Goto, Hazards::NONE);
        self.go_in(c, parent, return_to, EdgeKind::Jump)
    }

    fn constant(&mut self, c: &mut Current, value: Value, constant: Const) -> Outcome<()> {
        let to = c.push(value)?;
        c.emit(Ir::Const { to, value: constant }, Hazards::NONE);
        Ok(())
    }

    fn load_constant(&mut self, c: &mut Current, index: u16) -> Outcome<()> {
        let (constant, described) = self.names.loadable(index)?;
        let value = match (&constant, described) {
            (_, Some(ty)) => value_of(&ty),
            (Const::Int(_), _) => Value::Int,
            (Const::Long(_), _) => Value::Long,
            (Const::Float(_), _) => Value::Float,
            (Const::Double(_), _) => Value::Double,
            _ => Value::NonNull,
        };
        let to = c.push(value)?;
        c.emit(Ir::Const { to, value: constant }, if described.is_some() { Hazards::CALL } else { Hazards::NONE });
        Ok(())
    }

    fn check_slot(&self, slot: u16, value: Value) -> Outcome<Reg> {
        let fits = u32::from(slot) + value.words() <= u32::from(self.code.max_locals);
        fits.then_some(Reg(u32::from(slot))).ok_or_else(|| format!("no local {slot}"))
    }

    fn load(&mut self, c: &mut Current, kind: Kind, slot: u16) -> Outcome<()> {
        let value = if slot == 0 && self.this_is_fixed && kind == Kind::Ref { Value::NonNull } else { Value::of(kind) };
        let from = self.check_slot(slot, value)?;
        let to = c.push(value)?;
        c.emit(Ir::Copy { to, from }, Hazards::NONE);
        Ok(())
    }

    fn store(&mut self, c: &mut Current, slot: u16) -> Outcome<()> {
        let (value, from) = c.state.stack.pop()?;
        let to = self.check_slot(slot, value)?;
        c.state.returns.retain(|(s, _)| *s != slot);
        match value {
            Value::ReturnAddress(context) => {
                c.state.returns.push((slot, context));
                c.emit(Ir::Nop, Hazards::NONE);
            }
            _ => c.emit(Ir::Copy { to, from }, Hazards::NONE),
        }
        Ok(())
    }

    fn increment(&mut self, c: &mut Current, slot: u16, by: i16) -> Outcome<()> {
        let reg = self.check_slot(slot, Value::Int)?;
        c.emit(Ir::Const { to: self.scratch, value: Const::Int(i32::from(by)) }, Hazards::NONE);
        c.emit(Ir::Binary { to: reg, op: BinOp::Add, ty: Prim::Int, left: reg, right: self.scratch }, Hazards::NONE);
        Ok(())
    }

    fn shuffle(&mut self, c: &mut Current, op: StackOp) -> Outcome<()> {
        let (moved, below) = match op {
            StackOp::Pop | StackOp::Pop2 => {
                c.state.stack.take_words(if op == StackOp::Pop { 1 } else { 2 })?;
                c.emit(Ir::Nop, Hazards::NONE);
                return Ok(());
            }
            StackOp::Swap => return self.swap(c),
            StackOp::Dup => (1, 0),
            StackOp::DupX1 => (1, 1),
            StackOp::DupX2 => (1, 2),
            StackOp::Dup2 => (2, 0),
            StackOp::Dup2X1 => (2, 1),
            StackOp::Dup2X2 => (2, 2),
        };
        let top = c.state.stack.take_words(moved)?;
        let under = c.state.stack.take_words(below)?;
        let order: Vec<_> = top.iter().chain(&under).chain(&top).copied().collect();
        self.rearrange(c, &order)
    }

    fn swap(&mut self, c: &mut Current) -> Outcome<()> {
        let (top, under) = (c.state.stack.take_words(1)?, c.state.stack.take_words(1)?);
        let order: Vec<_> = top.iter().chain(&under).copied().collect();
        self.rearrange(c, &order)
    }

    /// Pushes `order` again, as if all copies happened at once.
    fn rearrange(&mut self, c: &mut Current, order: &[(Value, Reg)]) -> Outcome<()> {
        let mut moves = Vec::new();
        for (value, from) in order {
            let to = c.push(*value)?;
            if to != *from {
                moves.push((to, *from));
            }
        }
        while !moves.is_empty() {
            let free = (0..moves.len()).find(|i| moves.iter().all(|(_, from)| *from != moves[*i].0));
            match free {
                Some(i) => {
                    let (to, from) = moves.remove(i);
                    c.emit(Ir::Copy { to, from }, Hazards::NONE);
                }
                // A cycle, of which a stack instruction makes at most one.
                None => {
                    let saved = moves[0].1;
                    c.emit(Ir::Copy { to: self.scratch, from: saved }, Hazards::NONE);
                    moves.iter_mut().filter(|(_, from)| *from == saved).for_each(|(_, from)| *from = self.scratch);
                }
            }
        }
        Ok(())
    }

    /// Using a class for the first time runs its initialiser; this one's is running or has run.
    fn initialises(&self, class: TypeId) -> Hazards {
        if class == self.owner { Hazards::NONE } else { Hazards::INIT }
    }

    fn field(&mut self, c: &mut Current, insn: &Insn<'_>) -> Outcome<()> {
        match *insn {
            Insn::GetStatic(i) => {
                let field = self.names.field(i)?;
                let to = c.push(value_of_ty(field.ty))?;
                let hazards = self.initialises(field.owner);
                c.emit(Ir::GetStatic { to, field }, hazards);
            }
            Insn::PutStatic(i) => {
                let field = self.names.field(i)?;
                let value = c.pop()?;
                let hazards = self.initialises(field.owner);
                c.emit(Ir::PutStatic { field, value }, hazards);
            }
            Insn::GetField(i) => {
                let field = self.names.field(i)?;
                let (object, hazards) = c.pop_object()?;
                let to = c.push(value_of_ty(field.ty))?;
                c.emit(Ir::GetField { to, object, field }, hazards);
            }
            Insn::PutField(i) => {
                let field = self.names.field(i)?;
                let value = c.pop()?;
                let (object, hazards) = c.pop_object()?;
                c.emit(Ir::PutField { object, field, value }, hazards);
            }
            _ => return Err("unexpected instruction".to_owned()),
        }
        Ok(())
    }

    fn invoke(&mut self, c: &mut Current, invoke: Invoke, index: u16) -> Outcome<()> {
        let (method, descriptor) = self.names.method(index)?;
        let mut args = c.pop_many(descriptor.parameters.len())?.into_vec();
        let (kind, mut hazards) = match invoke {
            Invoke::Static => (CallKind::Static, self.initialises(method.owner)),
            Invoke::Special => (CallKind::Direct, Hazards::NONE),
            _ => (CallKind::Virtual, Hazards::NONE),
        };
        if kind != CallKind::Static {
            let (receiver, null) = c.pop_object()?;
            args.insert(0, receiver);
            // A constructor is only ever called on an object just made, or on `this`.
            if *method.name != *"<init>" {
                hazards = hazards.with(null);
            }
        }
        let to = descriptor.returns.as_ref().map(|ty| c.push(value_of(ty))).transpose()?;
        c.emit(Ir::Call { to, kind, method, args: args.into() }, hazards.with(Hazards::CALL));
        Ok(())
    }

    fn invoke_dynamic(&mut self, c: &mut Current, index: u16) -> Outcome<()> {
        let (dynamic, descriptor) = self.names.dynamic(index)?;
        let args = c.pop_many(descriptor.parameters.len())?;
        let Some(returns) = descriptor.returns else {
            c.emit(Ir::Opaque { to: None, ret: Ty::VOID, args }, Hazards::CALL);
            return Ok(());
        };
        match dynamic {
            Dynamic::Lambda { interface, implementation } => {
                let to = c.push(Value::NonNull)?;
                c.emit(Ir::Lambda { to, interface, implementation, captured: args }, Hazards::NONE);
            }
            Dynamic::Concat(recipe) => {
                let calls = descriptor.parameters.iter().any(FieldType::is_reference);
                let to = c.push(Value::NonNull)?;
                c.emit(Ir::Concat { to, recipe, args }, if calls { Hazards::CALL } else { Hazards::NONE });
            }
            Dynamic::Opaque => {
                let to = Some(c.push(value_of(&returns))?);
                c.emit(Ir::Opaque { to, ret: self.names.ty(&returns), args }, Hazards::CALL);
            }
        }
        Ok(())
    }
}

fn value_of(ty: &FieldType<'_>) -> Value {
    use crate::classfile::Base;
    match (ty.dimensions, ty.base) {
        (0, Base::Long) => Value::Long,
        (0, Base::Float) => Value::Float,
        (0, Base::Double) => Value::Double,
        (0, Base::Class(_)) | (1.., _) => Value::Ref,
        _ => Value::Int,
    }
}

fn value_of_ty(ty: Ty) -> Value {
    match ty.as_prim() {
        None => Value::Ref,
        Some(Prim::Long) => Value::Long,
        Some(Prim::Float) => Value::Float,
        Some(Prim::Double) => Value::Double,
        Some(_) => Value::Int,
    }
}

fn prim_of(kind: Kind) -> Outcome<Prim> {
    Ok(match kind {
        Kind::Int => Prim::Int,
        Kind::Long => Prim::Long,
        Kind::Float => Prim::Float,
        Kind::Double => Prim::Double,
        Kind::Ref => return Err("arithmetic on references".to_owned()),
    })
}

fn element_of(element: Element) -> (Option<Prim>, Value) {
    match element {
        Element::Int => (Some(Prim::Int), Value::Int),
        Element::Long => (Some(Prim::Long), Value::Long),
        Element::Float => (Some(Prim::Float), Value::Float),
        Element::Double => (Some(Prim::Double), Value::Double),
        Element::Ref => (None, Value::Ref),
        Element::Byte => (Some(Prim::Byte), Value::Int),
        Element::Char => (Some(Prim::Char), Value::Int),
        Element::Short => (Some(Prim::Short), Value::Int),
    }
}

fn array_load(c: &mut Current, element: Element) -> Outcome<()> {
    let (element, value) = element_of(element);
    let index = c.pop()?;
    let (array, hazards) = c.pop_object()?;
    let to = c.push(value)?;
    c.emit(Ir::LoadElement { to, array, index, element }, hazards.with(Hazards::BOUNDS));
    Ok(())
}

fn array_store(c: &mut Current, element: Element) -> Outcome<()> {
    let (element, _) = element_of(element);
    let (value, index) = (c.pop()?, c.pop()?);
    let (array, hazards) = c.pop_object()?;
    let stores_reference = if element.is_none() { Hazards::ARRAY_STORE } else { Hazards::NONE };
    c.emit(Ir::StoreElement { array, index, value, element }, hazards.with(Hazards::BOUNDS).with(stores_reference));
    Ok(())
}

/// `ty` is the array's own type.
fn new_array(c: &mut Current, ty: Ty, lengths: usize) -> Outcome<()> {
    let lengths = c.pop_many(lengths)?;
    let known = lengths.iter().all(|reg| matches!(c.constant_in(*reg), Some(Const::Int(0..))));
    let to = c.push(Value::NonNull)?;
    c.emit(Ir::NewArray { to, ty, lengths }, if known { Hazards::NONE } else { Hazards::NEGATIVE_SIZE });
    Ok(())
}

/// The element types of `newarray`.
fn primitive(code: u8) -> Outcome<Ty> {
    let prim = match code {
        4 => Prim::Bool,
        5 => Prim::Char,
        6 => Prim::Float,
        7 => Prim::Double,
        8 => Prim::Byte,
        9 => Prim::Short,
        10 => Prim::Int,
        11 => Prim::Long,
        _ => return Err(format!("no element type {code}")),
    };
    Ok(Ty::prim(prim))
}

fn arithmetic(c: &mut Current, arith: Arith, kind: Kind) -> Outcome<()> {
    let ty = prim_of(kind)?;
    let op = match arith {
        Arith::Neg => {
            let of = c.pop()?;
            let to = c.push(Value::of(kind))?;
            c.emit(Ir::Negate { to, ty, of }, Hazards::NONE);
            return Ok(());
        }
        Arith::Add => BinOp::Add,
        Arith::Sub => BinOp::Sub,
        Arith::Mul => BinOp::Mul,
        Arith::Div => BinOp::Div,
        Arith::Rem => BinOp::Rem,
        Arith::Shl => BinOp::Shl,
        Arith::Shr => BinOp::Shr,
        Arith::Ushr => BinOp::Ushr,
        Arith::And => BinOp::And,
        Arith::Or => BinOp::Or,
        Arith::Xor => BinOp::Xor,
    };
    let (right, left) = (c.pop()?, c.pop()?);
    let divides = matches!(op, BinOp::Div | BinOp::Rem) && matches!(kind, Kind::Int | Kind::Long);
    let safe = match c.constant_in(right) {
        Some(Const::Int(v)) => *v != 0,
        Some(Const::Long(v)) => *v != 0,
        _ => false,
    };
    let to = c.push(Value::of(kind))?;
    c.emit(Ir::Binary { to, op, ty, left, right }, if divides && !safe { Hazards::DIV_ZERO } else { Hazards::NONE });
    Ok(())
}

fn conversion(c: &mut Current, convert: Convert) -> Outcome<()> {
    use Prim::{Byte, Char, Double, Float, Int, Long, Short};
    let (from, into) = match convert {
        Convert::I2l => (Int, Long),
        Convert::I2f => (Int, Float),
        Convert::I2d => (Int, Double),
        Convert::L2i => (Long, Int),
        Convert::L2f => (Long, Float),
        Convert::L2d => (Long, Double),
        Convert::F2i => (Float, Int),
        Convert::F2l => (Float, Long),
        Convert::F2d => (Float, Double),
        Convert::D2i => (Double, Int),
        Convert::D2l => (Double, Long),
        Convert::D2f => (Double, Float),
        Convert::I2b => (Int, Byte),
        Convert::I2c => (Int, Char),
        Convert::I2s => (Int, Short),
    };
    let of = c.pop()?;
    let to = c.push(value_of_ty(Ty::prim(into)))?;
    c.emit(Ir::Convert { to, of, from, into }, Hazards::NONE);
    Ok(())
}

fn comparison(c: &mut Current, compare: Compare) -> Outcome<()> {
    let kind = match compare {
        Compare::Lcmp => ThreeWay { ty: Prim::Long, nan: 0 },
        Compare::Fcmpl => ThreeWay { ty: Prim::Float, nan: -1 },
        Compare::Fcmpg => ThreeWay { ty: Prim::Float, nan: 1 },
        Compare::Dcmpl => ThreeWay { ty: Prim::Double, nan: -1 },
        Compare::Dcmpg => ThreeWay { ty: Prim::Double, nan: 1 },
    };
    let (right, left) = (c.pop()?, c.pop()?);
    let to = c.push(Value::Int)?;
    c.emit(Ir::Compare { to, kind, left, right }, Hazards::NONE);
    Ok(())
}

fn relation(cond: Cond) -> Relation {
    match cond {
        Cond::Eq => Relation::Eq,
        Cond::Ne => Relation::Ne,
        Cond::Lt => Relation::Lt,
        Cond::Ge => Relation::Ge,
        Cond::Gt => Relation::Gt,
        Cond::Le => Relation::Le,
    }
}

fn equality(equal: bool) -> Relation {
    if equal { Relation::Eq } else { Relation::Ne }
}
