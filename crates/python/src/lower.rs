//! Function bodies as core IR: blocks, branch edges and exception edges, with the lines that a traceback would print.
//!
//! Everything is dynamic, so instructions say little about values; what counts is the control flow, who calls whom, and the constants. The `pc` of an
//! instruction is the offset of its statement in the file, that of a branch the offset of its condition: positions that the worker finds again.

mod compound;
mod condition;
mod draft;
mod expression;
mod names;
mod node;
mod statement;
#[cfg(test)]
mod tests;

use rethrow_core::program::ir::Body;
use rethrow_core::program::{MethodId, Program};

use crate::source::Sources;
pub(crate) use node::{Node, find as find_node};

/// A body with the places in it that can be watched.
pub(crate) struct Lowered {
    pub body: Body,
    /// Statements: offset and line.
    pub points: Vec<(u32, u32)>,
    /// Offsets of conditions.
    pub branches: Vec<u32>,
}

/// Lowers a code of a file. `Err` if the file cannot be read as it was.
pub(crate) fn lower(program: &Program, sources: &Sources, (file, code): (usize, usize)) -> Result<Lowered, String> {
    let tree = sources.files[file].tree()?;
    let wanted = &sources.files[file].index.codes[code];
    let node = node::find(tree.body(), wanted).ok_or("the code is not where it was")?;
    let mut lowerer = statement::Lowerer::new(program, sources, (file, code));
    lowerer.run(node);
    Ok(lowerer.finish())
}

/// A constructor that nobody wrote: it hands its arguments to the code that takes them.
pub(crate) fn forward(program: &Program, to: Option<MethodId>, params: usize) -> Body {
    draft::forward(program, to, params)
}
