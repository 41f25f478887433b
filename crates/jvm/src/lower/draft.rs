//! A body on its way: blocks keyed by where they begin, linked when all are known.

use rethrow_core::program::ir::{Block, BlockId, Body, Edge, EdgeKind, Frame, Insn};
use rustc_hash::FxHashMap;

/// Where a block begins: the subroutine context, the instruction, and whether it is the code itself or the entry of a handler before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub context: u32,
    pub index: u32,
    /// Sorts handler entries before the code they lead to.
    pub part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    HandlerEntry,
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Block(Key),
    Exit,
    Raised,
}

#[derive(Debug, Default)]
pub(super) struct DraftBlock {
    pub insns: Vec<Insn>,
    pub succs: Vec<(Target, EdgeKind)>,
}

/// Puts blocks in order (the entry has the least key) and resolves edges; every target must be among the blocks.
pub(super) fn link(mut drafts: Vec<(Key, DraftBlock)>, frame: Frame) -> Body {
    drafts.sort_by_key(|(key, _)| *key);
    let ids: FxHashMap<Key, BlockId> = drafts.iter().enumerate().map(|(i, (key, _))| (*key, BlockId(i as u32))).collect();
    let (exit, raised) = (BlockId(drafts.len() as u32), BlockId(drafts.len() as u32 + 1));
    let mut insns = Vec::with_capacity(drafts.iter().map(|(_, draft)| draft.insns.len()).sum());
    let mut blocks = Vec::with_capacity(drafts.len() + 2);
    for (_, draft) in drafts {
        let start = insns.len() as u32;
        insns.extend(draft.insns);
        let resolve = |(target, kind)| {
            let to = match target {
                Target::Block(key) => *ids.get(&key).expect("every target is explored"),
                Target::Exit => exit,
                Target::Raised => raised,
            };
            Edge { to, kind }
        };
        blocks.push(Block { insns: start..insns.len() as u32, succs: draft.succs.into_iter().map(resolve).collect(), preds: Vec::new() });
    }
    let end = insns.len() as u32;
    blocks.extend([(); 2].map(|()| Block { insns: end..end, ..Block::default() }));
    Body::new(insns, blocks, frame)
}
