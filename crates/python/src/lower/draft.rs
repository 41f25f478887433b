//! Blocks in the making, and the body they become.

use std::rc::Rc;
use std::sync::Arc;

use rethrow_core::program::ir::{Block, BlockId, Body, CallKind, Edge, EdgeKind, Frame, Hazards, Insn, MethodRef, Op, Reg};
use rethrow_core::program::{MethodId, Program, TypeId};

/// Where returns lead and exceptions leave, until the number of blocks is known.
pub const EXIT: BlockId = BlockId(u32::MAX - 1);
pub const RAISED: BlockId = BlockId(u32::MAX);

/// Handlers in the order in which they are tried.
pub type Handlers = Rc<Vec<(Option<TypeId>, BlockId)>>;

#[derive(Default)]
pub struct Draft {
    pub insns: Vec<Insn>,
    pub succs: Vec<Edge>,
    pub handlers: Handlers,
    pub ended: bool,
}

/// The body of these blocks; what cannot be reached is dropped.
pub fn body(mut drafts: Vec<Draft>, frame: Frame) -> Body {
    for draft in &mut drafts {
        if draft.insns.iter().any(|i| !i.hazards.is_empty()) {
            let handlers = draft.handlers.clone();
            draft.succs.extend(handlers.iter().map(|(ty, to)| Edge { to: *to, kind: EdgeKind::Exception(*ty) }));
            if handlers.last().is_none_or(|(ty, _)| ty.is_some()) {
                draft.succs.push(Edge { to: RAISED, kind: EdgeKind::Exception(None) });
            }
        }
    }
    let alive = reachable(&drafts);
    let numbers: Vec<u32> = (0..alive.len()).scan(0, |next, i| Some(std::mem::replace(next, *next + u32::from(alive[i])))).collect();
    let number = alive.iter().filter(|a| **a).count() as u32;
    let target = |to: BlockId| match to {
        EXIT => BlockId(number),
        RAISED => BlockId(number + 1),
        BlockId(n) => BlockId(numbers[n as usize]),
    };
    let (mut insns, mut blocks) = (Vec::new(), Vec::new());
    for draft in drafts.into_iter().zip(&alive).filter(|(_, alive)| **alive).map(|(d, _)| d) {
        let start = insns.len() as u32;
        insns.extend(draft.insns);
        let succs = draft.succs.into_iter().map(|e| Edge { to: target(e.to), ..e }).collect();
        blocks.push(Block { insns: start..insns.len() as u32, succs, preds: Vec::new() });
    }
    let end = insns.len() as u32;
    blocks.extend([Block { insns: end..end, ..Block::default() }, Block { insns: end..end, ..Block::default() }]);
    Body::new(insns, blocks, frame)
}

fn reachable(drafts: &[Draft]) -> Vec<bool> {
    let mut alive = vec![false; drafts.len()];
    let mut pending = vec![0usize];
    while let Some(i) = pending.pop() {
        if i < drafts.len() && !std::mem::replace(&mut alive[i], true) {
            pending.extend(drafts[i].succs.iter().map(|e| e.to.0 as usize));
        }
    }
    alive
}

/// See `lower::forward`.
pub fn forward(program: &Program, to: Option<MethodId>, params: usize) -> Body {
    let object = program.well_known().object;
    let mut draft = Draft::default();
    let regs: Vec<Reg> = (0..=params as u32).map(Reg).collect();
    if let Some(method) = to {
        let reference = reference(program, method);
        let call = Op::Call { to: None, kind: CallKind::Direct, method: reference, args: regs.clone().into() };
        draft.insns.push(Insn { op: call, pc: 0, line: None, hazards: Hazards::CALL });
    }
    draft.insns.push(Insn { op: Op::Return { value: None }, pc: 0, line: None, hazards: Hazards::NONE });
    draft.succs.push(Edge { to: EXIT, kind: EdgeKind::Return });
    let frame = Frame { locals: regs.len() as u32, params: regs.into_iter().map(|r| (r, object)).collect(), receiver: true };
    body(vec![draft], frame)
}

/// A method as code names it.
pub fn reference(program: &Program, method: MethodId) -> Arc<MethodRef> {
    let owner = program.method(method).owner;
    let text = |text: &str| program.shared_text(text);
    Arc::new(MethodRef { owner, name: text(program.method_name(method)), desc: text(program.method_desc(method)) })
}
