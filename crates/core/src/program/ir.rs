//! Bodies as typed register code with explicit exception edges.
//!
//! **Registers** are the source machine's variables (`0..locals`, "L") followed by its operand stack slots ("S"); they are reassigned freely, this is
//! not SSA form, because backward analysis wants plain assignments. **Blocks** hold straight-line code. An instruction that may raise does not end its
//! block: a block never spans two different sets of handlers, so its [`EdgeKind::Exception`] edges, in the order in which handlers are tried,
//! serve each of its raising instructions ([`Insn::hazards`] is not empty). The last two blocks are empty and virtual: [`Body::exit`], where every
//! return leads, and [`Body::raised`], where exceptions leave.
//!
//! Instructions keep the `pc` and `line` they came from. One pc may occur more than once: lowering copies shared code (old subroutines).
//! Nothing here knows a language; what raises which exception is answered by [`super::BodySource::hazards`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{Literal, Prim, Ty, TypeId};

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reg(pub u32);

/// Index of a [`Block`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

/// How an instruction can raise, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hazards(pub u16);

impl Hazards {
    pub const NONE: Hazards = Hazards(0);
    /// A null object is used.
    pub const NULL: Hazards = Hazards(1);
    /// An index is outside its array.
    pub const BOUNDS: Hazards = Hazards(2);
    pub const DIV_ZERO: Hazards = Hazards(4);
    pub const NEGATIVE_SIZE: Hazards = Hazards(8);
    pub const CAST: Hazards = Hazards(16);
    /// An element of the wrong type is stored into an array.
    pub const ARRAY_STORE: Hazards = Hazards(32);
    /// Whatever the callee raises, and failure to link it.
    pub const CALL: Hazards = Hazards(64);
    /// A type is initialised or linked.
    pub const INIT: Hazards = Hazards(128);
    /// A `throw`.
    pub const EXPLICIT: Hazards = Hazards(256);
    /// A lock is released that is not held.
    pub const MONITOR: Hazards = Hazards(512);

    #[must_use]
    pub const fn with(self, other: Hazards) -> Hazards {
        Hazards(self.0 | other.0)
    }
    pub const fn meets(self, other: Hazards) -> bool {
        self.0 & other.0 != 0
    }
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Hazards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 10] = ["null", "bounds", "div_zero", "negative_size", "cast", "array_store", "call", "init", "explicit", "monitor"];
        f.debug_set().entries(NAMES.iter().enumerate().filter(|(i, _)| self.0 >> i & 1 == 1).map(|(_, name)| name)).finish()
    }
}

/// A constant in code.
#[derive(Clone, PartialEq, Debug)]
pub enum Const {
    Null,
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Str(Arc<str>),
    Class(Ty),
    /// Computed when first used; its value is not known here.
    Opaque,
}

impl Const {
    /// As a value that a test can write; not for null, classes and opaque constants.
    pub fn literal(&self) -> Option<Literal> {
        Some(match self {
            Const::Int(v) => Literal::Int(*v),
            Const::Long(v) => Literal::Long(*v),
            Const::Float(v) => Literal::Float(*v),
            Const::Double(v) => Literal::Double(*v),
            Const::Str(text) => Literal::Str(text.to_string()),
            Const::Null | Const::Class(_) | Const::Opaque => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Ushr,
    And,
    Or,
    Xor,
}

/// Comparison giving −1, 0 or 1; `nan` is the result if an operand is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreeWay {
    pub ty: Prim,
    pub nan: i8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

/// The right side of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    Reg(Reg),
    Zero,
    Null,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallKind {
    Static,
    /// Chosen by the receiver's run-time type.
    Virtual,
    /// A constructor, a private method or the superclass's.
    Direct,
}

/// A method as code names it: not yet looked up through the hierarchy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodRef {
    pub owner: TypeId,
    pub name: Arc<str>,
    pub desc: Arc<str>,
}

/// A field as code names it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldRef {
    pub owner: TypeId,
    pub name: Arc<str>,
    pub ty: Ty,
}

/// What an instruction does. Every instruction but the last group writes at most `to`.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// Keeps a pc that does nothing here.
    Nop,
    Copy {
        to: Reg,
        from: Reg,
    },
    Const {
        to: Reg,
        value: Const,
    },
    Binary {
        to: Reg,
        op: BinOp,
        ty: Prim,
        left: Reg,
        right: Reg,
    },
    Negate {
        to: Reg,
        ty: Prim,
        of: Reg,
    },
    Convert {
        to: Reg,
        of: Reg,
        from: Prim,
        into: Prim,
    },
    Compare {
        to: Reg,
        kind: ThreeWay,
        left: Reg,
        right: Reg,
    },
    GetField {
        to: Reg,
        object: Reg,
        field: Arc<FieldRef>,
    },
    PutField {
        object: Reg,
        field: Arc<FieldRef>,
        value: Reg,
    },
    GetStatic {
        to: Reg,
        field: Arc<FieldRef>,
    },
    PutStatic {
        field: Arc<FieldRef>,
        value: Reg,
    },
    /// `element` is `None` for references.
    LoadElement {
        to: Reg,
        array: Reg,
        index: Reg,
        element: Option<Prim>,
    },
    StoreElement {
        array: Reg,
        index: Reg,
        value: Reg,
        element: Option<Prim>,
    },
    Length {
        to: Reg,
        array: Reg,
    },
    New {
        to: Reg,
        class: TypeId,
    },
    /// `ty` is the array's own type; one length for each dimension that is made.
    NewArray {
        to: Reg,
        ty: Ty,
        lengths: Box<[Reg]>,
    },
    InstanceOf {
        to: Reg,
        of: Reg,
        ty: Ty,
    },
    Cast {
        to: Reg,
        of: Reg,
        ty: Ty,
    },
    /// The receiver, if any, is the first argument.
    Call {
        to: Option<Reg>,
        kind: CallKind,
        method: Arc<MethodRef>,
        args: Box<[Reg]>,
    },
    /// A function object of type `interface` that runs `implementation` with `captured` first.
    Lambda {
        to: Reg,
        interface: TypeId,
        implementation: Arc<MethodRef>,
        captured: Box<[Reg]>,
    },
    /// Joins text: in `recipe`, U+0001 stands for the next of `args`.
    Concat {
        to: Reg,
        recipe: Arc<str>,
        args: Box<[Reg]>,
    },
    /// A call whose target only the run time knows: anything may come back.
    Opaque {
        to: Option<Reg>,
        ret: Ty,
        args: Box<[Reg]>,
    },
    Lock {
        object: Reg,
        enter: bool,
    },
    /// First instruction of a handler; `ty` is `None` if it catches everything.
    Caught {
        to: Reg,
        ty: Option<TypeId>,
    },

    /// Ends a block with two `Branch` edges; the one that is `taken` holds the condition.
    If {
        left: Reg,
        relation: Relation,
        right: Operand,
    },
    /// Ends a block with a `Case` edge for each key, the default last.
    Switch {
        on: Reg,
    },
    Goto,
    Return {
        value: Option<Reg>,
    },
    Throw {
        value: Reg,
    },
}

impl Op {
    /// The register it writes.
    pub fn written(&self) -> Option<Reg> {
        match self {
            Op::Copy { to, .. }
            | Op::Const { to, .. }
            | Op::Binary { to, .. }
            | Op::Negate { to, .. }
            | Op::Convert { to, .. }
            | Op::Compare { to, .. }
            | Op::GetField { to, .. }
            | Op::GetStatic { to, .. }
            | Op::LoadElement { to, .. }
            | Op::Length { to, .. }
            | Op::New { to, .. }
            | Op::NewArray { to, .. }
            | Op::InstanceOf { to, .. }
            | Op::Cast { to, .. }
            | Op::Lambda { to, .. }
            | Op::Concat { to, .. }
            | Op::Caught { to, .. } => Some(*to),
            Op::Call { to, .. } | Op::Opaque { to, .. } => *to,
            _ => None,
        }
    }

    /// The registers it reads, in operand order.
    pub fn read(&self) -> Vec<Reg> {
        match self {
            Op::Copy { from: r, .. }
            | Op::Negate { of: r, .. }
            | Op::Convert { of: r, .. }
            | Op::GetField { object: r, .. }
            | Op::PutStatic { value: r, .. }
            | Op::Length { array: r, .. }
            | Op::InstanceOf { of: r, .. }
            | Op::Cast { of: r, .. }
            | Op::Lock { object: r, .. }
            | Op::Switch { on: r }
            | Op::Throw { value: r } => vec![*r],
            Op::Binary { left, right, .. } | Op::Compare { left, right, .. } => vec![*left, *right],
            Op::PutField { object, value, .. } => vec![*object, *value],
            Op::LoadElement { array, index, .. } => vec![*array, *index],
            Op::StoreElement { array, index, value, .. } => vec![*array, *index, *value],
            Op::NewArray { lengths: list, .. }
            | Op::Call { args: list, .. }
            | Op::Lambda { captured: list, .. }
            | Op::Concat { args: list, .. }
            | Op::Opaque { args: list, .. } => list.to_vec(),
            Op::If { left, right: Operand::Reg(right), .. } => vec![*left, *right],
            Op::If { left, .. } => vec![*left],
            Op::Return { value } => value.iter().copied().collect(),
            Op::Nop | Op::Const { .. } | Op::GetStatic { .. } | Op::New { .. } | Op::Caught { .. } | Op::Goto => Vec::new(),
        }
    }
}

/// An instruction with its place in the source program.
#[derive(Clone, PartialEq, Debug)]
pub struct Insn {
    pub op: Op,
    pub pc: u32,
    pub line: Option<u32>,
    pub hazards: Hazards,
}

/// Why control passes along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeKind {
    Fall,
    Jump,
    Branch {
        taken: bool,
    },
    /// `None` is the default.
    Case(Option<i32>),
    Return,
    /// An exception of that type (`None`: any) was raised and no earlier edge of the block takes it.
    Exception(Option<TypeId>),
}

impl EdgeKind {
    pub fn is_exception(self) -> bool {
        matches!(self, EdgeKind::Exception(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    pub to: BlockId,
    pub kind: EdgeKind,
}

/// Straight-line code. Normal edges come before exception edges.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    pub insns: Range<u32>,
    pub succs: Vec<Edge>,
    /// Blocks with an edge to this one, each once, ascending.
    pub preds: Vec<BlockId>,
}

/// What a method declares, for the parts of a body that do not follow from its code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frame {
    /// Registers below this number are variables, the others stack slots.
    pub locals: u32,
    /// The registers of the receiver (if any) and the parameters at entry, and their types.
    pub params: Vec<(Reg, Ty)>,
    /// Whether `params` begins with a receiver.
    pub receiver: bool,
}

/// The code of a method. See the module documentation.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    pub insns: Vec<Insn>,
    /// Ordered by instructions; the entry is first.
    pub blocks: Vec<Block>,
    pub frame: Frame,
}

/// A call in a body.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Call<'b> {
    /// Index of the instruction.
    pub insn: usize,
    pub pc: u32,
    pub line: Option<u32>,
    pub kind: CallKind,
    pub method: &'b MethodRef,
}

/// A `throw` in a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thrown {
    pub insn: usize,
    pub pc: u32,
    pub line: Option<u32>,
    /// The type, if the thrown object was made by `new` on every path to here.
    pub ty: Option<TypeId>,
}

impl Body {
    /// Builds a body from blocks that hold ranges of `insns` and the edges out of them; adds the virtual blocks' predecessors.
    /// `blocks` must end with the two virtual ones.
    pub fn new(insns: Vec<Insn>, mut blocks: Vec<Block>, frame: Frame) -> Body {
        debug_assert!(blocks.len() >= 2, "the virtual blocks are there");
        let mut preds: Vec<Vec<BlockId>> = vec![Vec::new(); blocks.len()];
        for (i, block) in blocks.iter().enumerate() {
            for edge in &block.succs {
                let list = &mut preds[edge.to.0 as usize];
                if list.last() != Some(&BlockId(i as u32)) {
                    list.push(BlockId(i as u32));
                }
            }
        }
        for (block, preds) in blocks.iter_mut().zip(preds) {
            block.preds = preds;
        }
        Body { insns, blocks, frame }
    }

    pub fn entry(&self) -> BlockId {
        BlockId(0)
    }
    /// Virtual: where returns lead.
    pub fn exit(&self) -> BlockId {
        BlockId(self.blocks.len() as u32 - 2)
    }
    /// Virtual: where exceptions leave.
    pub fn raised(&self) -> BlockId {
        BlockId(self.blocks.len() as u32 - 1)
    }
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }
    /// Without the virtual ones.
    pub fn real_blocks(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks[..self.blocks.len() - 2].iter().enumerate().map(|(i, block)| (BlockId(i as u32), block))
    }
    pub fn insns_of(&self, id: BlockId) -> &[Insn] {
        let range = &self.block(id).insns;
        &self.insns[range.start as usize..range.end as usize]
    }
    /// The block of an instruction.
    pub fn block_of(&self, insn: usize) -> BlockId {
        let real = &self.blocks[..self.blocks.len() - 2];
        let after = real.partition_point(|block| block.insns.start as usize <= insn);
        BlockId(after.saturating_sub(1) as u32)
    }
    /// The first block with code of that pc.
    pub fn block_at(&self, pc: u32) -> Option<BlockId> {
        self.insns_at(pc).next().map(|insn| self.block_of(insn))
    }
    /// All instructions of that pc.
    pub fn insns_at(&self, pc: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.insns.len()).filter(move |i| self.insns[*i].pc == pc)
    }
    /// The instruction that ends a block, if it holds any.
    pub fn last_insn(&self, id: BlockId) -> Option<&Insn> {
        self.insns_of(id).last()
    }
    /// Exception edges of an instruction that may raise, in the order in which handlers are tried; the last leads out unless
    /// some handler takes everything.
    pub fn raise_edges(&self, insn: usize) -> impl Iterator<Item = &Edge> {
        let raises = !self.insns[insn].hazards.is_empty();
        let edges = &self.block(self.block_of(insn)).succs;
        edges.iter().filter(move |edge| raises && edge.kind.is_exception())
    }

    /// Line and instruction, for instructions that have a line, in code order.
    pub fn lines(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.insns.iter().enumerate().filter_map(|(i, insn)| Some((insn.line?, i)))
    }
    pub fn insns_on_line(&self, line: u32) -> impl Iterator<Item = usize> + '_ {
        self.lines().filter(move |(l, _)| *l == line).map(|(_, i)| i)
    }
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.insns.iter().enumerate().filter_map(|(i, insn)| match &insn.op {
            Op::Call { kind, method, .. } => Some(Call { insn: i, pc: insn.pc, line: insn.line, kind: *kind, method }),
            _ => None,
        })
    }
    /// Methods that function objects made here will run.
    pub fn lambdas(&self) -> impl Iterator<Item = (usize, &MethodRef)> {
        self.insns.iter().enumerate().filter_map(|(i, insn)| match &insn.op {
            Op::Lambda { implementation, .. } => Some((i, &**implementation)),
            _ => None,
        })
    }
    /// Whether an instruction can raise in one of these ways.
    pub fn may_raise(&self, insn: usize, hazards: Hazards) -> bool {
        self.insns.get(insn).is_some_and(|insn| insn.hazards.meets(hazards))
    }
    pub fn throws(&self) -> Vec<Thrown> {
        let thrown = |(i, insn): (usize, &Insn)| match insn.op {
            Op::Throw { value } => Some(Thrown { insn: i, pc: insn.pc, line: insn.line, ty: self.made_by_new(i, value) }),
            _ => None,
        };
        self.insns.iter().enumerate().filter_map(thrown).collect()
    }

    /// The class of the object in `reg` before `insn`, if every definition that reaches it is a `new` of that class.
    fn made_by_new(&self, insn: usize, reg: Reg) -> Option<TypeId> {
        let mut found = None;
        let mut pending = vec![(insn, reg)];
        let mut seen = vec![(insn, reg)];
        while let Some((at, reg)) = pending.pop() {
            let (defs, from_entry) = self.definitions(at, reg);
            if from_entry {
                return None;
            }
            for def in defs {
                match &self.insns[def].op {
                    Op::New { class, .. } if found.is_none_or(|f| f == *class) => found = Some(*class),
                    Op::Copy { from, .. } | Op::Cast { of: from, .. } if !seen.contains(&(def, *from)) => {
                        seen.push((def, *from));
                        pending.push((def, *from));
                    }
                    Op::Copy { .. } | Op::Cast { .. } => {}
                    _ => return None,
                }
            }
        }
        found
    }

    /// Instructions whose value of `reg` may be the one that `insn` sees, and whether the value at entry may be.
    pub fn definitions(&self, insn: usize, reg: Reg) -> (Vec<usize>, bool) {
        let (mut defs, mut from_entry) = (Vec::new(), false);
        let start = self.block_of(insn);
        let mut pending = Vec::new();
        match self.last_write(self.block(start).insns.start as usize..insn, reg) {
            Some(def) => defs.push(def),
            None => pending.push(start),
        }
        let mut seen = vec![[false; 2]; self.blocks.len()];
        while let Some(block) = pending.pop() {
            from_entry |= block == self.entry();
            for pred in &self.block(block).preds {
                let edges = self.block(*pred).succs.iter().filter(|edge| edge.to == block);
                for raised in edges.map(|edge| edge.kind.is_exception()) {
                    if std::mem::replace(&mut seen[pred.0 as usize][usize::from(raised)], true) {
                        continue;
                    }
                    let writes = self.writes_seen(*pred, reg, raised);
                    // After an exception the value may also be older than the block.
                    if writes.is_empty() || raised {
                        pending.push(*pred);
                    }
                    defs.extend(writes);
                }
            }
        }
        defs.sort_unstable();
        defs.dedup();
        (defs, from_entry)
    }

    /// Writes to `reg` in a block that are seen after it: the last, or any of them if the block is left by an exception.
    fn writes_seen(&self, block: BlockId, reg: Reg, raised: bool) -> Vec<usize> {
        let range = &self.block(block).insns;
        let range = range.start as usize..range.end as usize;
        match raised {
            true => range.filter(|i| self.insns[*i].op.written() == Some(reg)).collect(),
            false => self.last_write(range, reg).into_iter().collect(),
        }
    }

    fn last_write(&self, range: Range<usize>, reg: Reg) -> Option<usize> {
        range.rev().find(|i| self.insns[*i].op.written() == Some(reg))
    }

    /// Types that parameter `i` (the receiver not counted) is cast to or tested for, through any number of copies and whatever the order
    /// of instructions; each once, in code order.
    pub fn casts_of_param(&self, i: usize) -> Vec<Ty> {
        let mut types = Vec::new();
        let index = i + usize::from(self.frame.receiver);
        let Some((reg, declared)) = self.frame.params.get(index).copied() else { return types };
        let holders = self.holders_of(reg);
        for (at, insn) in self.insns.iter().enumerate() {
            if let Op::Cast { of, ty, .. } | Op::InstanceOf { of, ty, .. } = &insn.op
                && holders.contains(of)
                && *ty != declared
                && !types.contains(ty)
                && self.may_hold(at, *of, reg)
            {
                types.push(*ty);
            }
        }
        types
    }

    /// Calls that parameter `i` (the receiver not counted) is an argument of, and which of their parameters it is.
    pub fn hands_on(&self, i: usize) -> Vec<(Arc<MethodRef>, usize)> {
        let index = i + usize::from(self.frame.receiver);
        let Some((reg, _)) = self.frame.params.get(index).copied() else { return Vec::new() };
        let holders = self.holders_of(reg);
        let mut out = Vec::new();
        for (at, insn) in self.insns.iter().enumerate() {
            let Op::Call { kind, method, args, .. } = &insn.op else { continue };
            let receiver = usize::from(*kind != CallKind::Static);
            for (n, arg) in args.iter().enumerate().skip(receiver) {
                if holders.contains(arg) && self.may_hold(at, *arg, reg) {
                    out.push((method.clone(), n - receiver));
                }
            }
        }
        out
    }

    /// The parameter (the receiver not counted) whose value at entry a register may hold before an instruction.
    pub fn param_at(&self, insn: usize, reg: Reg) -> Option<usize> {
        let receiver = usize::from(self.frame.receiver);
        let params = self.frame.params.iter().enumerate().skip(receiver);
        params.filter(|(_, (param, _))| self.may_hold(insn, reg, *param)).map(|(i, _)| i - receiver).next()
    }

    /// Registers that the value of `reg` at entry may be copied to.
    fn holders_of(&self, reg: Reg) -> Vec<Reg> {
        let mut holders = vec![reg];
        loop {
            let before = holders.len();
            for insn in &self.insns {
                if let Op::Copy { to, from } | Op::Cast { to, of: from, .. } = insn.op
                    && holders.contains(&from)
                    && !holders.contains(&to)
                {
                    holders.push(to);
                }
            }
            if holders.len() == before {
                return holders;
            }
        }
    }

    /// Whether `reg` before `insn` may be the value that `param` had at entry.
    fn may_hold(&self, insn: usize, reg: Reg, param: Reg) -> bool {
        let mut pending = vec![(insn, reg)];
        let mut seen = pending.clone();
        while let Some((at, reg)) = pending.pop() {
            let (defs, from_entry) = self.definitions(at, reg);
            if from_entry && reg == param {
                return true;
            }
            for def in defs {
                if let Op::Copy { from, .. } | Op::Cast { of: from, .. } = self.insns[def].op
                    && !seen.contains(&(def, from))
                {
                    seen.push((def, from));
                    pending.push((def, from));
                }
            }
        }
        false
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, block) in self.real_blocks() {
            writeln!(f, "b{}:", id.0)?;
            for insn in self.insns_of(id) {
                let line = insn.line.map_or("-".to_owned(), |line| line.to_string());
                writeln!(f, "  {:>4} {line:>5}  {:?} {:?}", insn.pc, insn.op, insn.hazards)?;
            }
            for edge in &block.succs {
                writeln!(f, "  -> b{} {:?}", edge.to.0, edge.kind)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insn(op: Op, pc: u32, hazards: Hazards) -> Insn {
        Insn { op, pc, line: Some(10 + pc), hazards }
    }

    fn edge(to: u32, kind: EdgeKind) -> Edge {
        Edge { to: BlockId(to), kind }
    }

    fn block(insns: Range<u32>, succs: Vec<Edge>) -> Block {
        Block { insns, succs, preds: Vec::new() }
    }

    const A: Reg = Reg(0);
    const S: Reg = Reg(4);
    const CLASS: TypeId = TypeId(7);

    /// `if a == 0 { s = new C } else { s = a }; try { throw s } catch C { s = caught; return }`
    fn body() -> Body {
        let insns = vec![
            insn(Op::If { left: A, relation: Relation::Eq, right: Operand::Zero }, 0, Hazards::NONE),
            insn(Op::Copy { to: S, from: A }, 1, Hazards::NONE),
            insn(Op::New { to: S, class: CLASS }, 2, Hazards::INIT),
            insn(Op::Cast { to: S, of: S, ty: Ty::reference(CLASS) }, 3, Hazards::CAST),
            insn(Op::Throw { value: S }, 4, Hazards::EXPLICIT),
            insn(Op::Caught { to: S, ty: Some(CLASS) }, 5, Hazards::NONE),
            insn(Op::Return { value: None }, 6, Hazards::NONE),
        ];
        let raised = edge(6, EdgeKind::Exception(None));
        let blocks = vec![
            block(0..1, vec![edge(2, EdgeKind::Branch { taken: true }), edge(1, EdgeKind::Branch { taken: false })]),
            block(1..2, vec![edge(3, EdgeKind::Fall)]),
            block(2..3, vec![edge(3, EdgeKind::Fall), raised]),
            block(3..5, vec![edge(4, EdgeKind::Exception(Some(CLASS))), raised]),
            block(5..7, vec![edge(5, EdgeKind::Return)]),
            block(7..7, vec![]),
            block(7..7, vec![]),
        ];
        let frame = Frame { locals: 4, params: vec![(A, Ty::reference(TypeId(1)))], receiver: false };
        Body::new(insns, blocks, frame)
    }

    #[test]
    fn places_are_found_both_ways() {
        let body = body();
        assert_eq!((body.exit(), body.raised()), (BlockId(5), BlockId(6)));
        for i in 0..body.insns.len() {
            let id = body.block_of(i);
            assert!(body.block(id).insns.contains(&(i as u32)));
            assert_eq!(body.block_at(body.insns[i].pc), Some(id));
        }
        assert_eq!(body.block(BlockId(3)).preds, [BlockId(1), BlockId(2)]);
        assert_eq!(body.insns_on_line(14).collect::<Vec<_>>(), [4]);
        assert_eq!(body.block_at(99), None);
    }

    #[test]
    fn raise_edges_belong_to_what_can_raise() {
        let body = body();
        assert_eq!(body.raise_edges(4).map(|e| e.to).collect::<Vec<_>>(), [BlockId(4), BlockId(6)]);
        assert_eq!(body.raise_edges(5).count(), 0);
        assert!(body.may_raise(4, Hazards::EXPLICIT) && !body.may_raise(4, Hazards::NULL) && !body.may_raise(99, Hazards::EXPLICIT));
    }

    #[test]
    fn definitions_cross_joins_and_exceptions() {
        let body = body();
        assert_eq!(body.definitions(3, S), (vec![1, 2], false));
        assert_eq!(body.definitions(4, S), (vec![3], false));
        assert_eq!(body.definitions(1, A), (vec![], true));
        // what the handler finds in S may be the value before or after the cast
        assert_eq!(body.definitions(5, S), (vec![1, 2, 3], false));
    }

    #[test]
    fn types_of_thrown_and_cast_values_follow_all_paths() {
        let mut body = body();
        assert_eq!(body.throws()[0].ty, None, "one path brings a parameter");
        assert_eq!(body.casts_of_param(0), [Ty::reference(CLASS)]);
        body.insns[1].op = Op::New { to: S, class: CLASS };
        assert_eq!(body.throws()[0].ty, Some(CLASS));
        assert_eq!(body.casts_of_param(0), []);
        body.insns[1].op = Op::New { to: S, class: TypeId(8) };
        assert_eq!(body.throws()[0].ty, None, "two classes");
        assert_eq!(body.casts_of_param(3), []);
    }
}
