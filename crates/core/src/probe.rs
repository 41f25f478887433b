//! The one source of probe numbers: which instruction of which method a number in an [`crate::execution::Execution`] means.
//!
//! The language crate lists the points of each method (it knows where a probe may stand); numbers are given here, in order, so worker and model
//! cannot disagree. Methods without points are simply not observed.

use rustc_hash::FxHashMap;

use crate::program::MethodId;
use crate::trace::Frame;

/// What a conditional branch compares `left - right` with zero by, for the jump to be taken.
pub use crate::program::ir::Relation;

/// A place whose execution is observed: the instruction at `pc` was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    pub pc: u32,
    pub line: Option<u32>,
}

/// A conditional branch whose operands are observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchPoint {
    pub pc: u32,
    /// The jump is taken if the comparison holds.
    pub taken_if: Relation,
}

/// The observed points of one method, with their first numbers.
#[derive(Clone, Debug)]
pub struct MethodProbes {
    pub method: MethodId,
    pub first_point: u32,
    pub points: Vec<Point>,
    pub first_branch: u32,
    pub branches: Vec<BranchPoint>,
    pub first_switch: u32,
    /// pc of each switch.
    pub switches: Vec<u32>,
}

impl MethodProbes {
    /// The number of the last probe at or before `pc` in instruction order: reached iff the instruction before it completed.
    pub fn point_at(&self, pc: u32) -> Option<u32> {
        self.points.iter().position(|p| p.pc == pc).map(|i| self.first_point + i as u32)
    }
    pub fn branch_at(&self, pc: u32) -> Option<(u32, BranchPoint)> {
        self.branches.iter().position(|b| b.pc == pc).map(|i| (self.first_branch + i as u32, self.branches[i]))
    }
    pub fn switch_at(&self, pc: u32) -> Option<u32> {
        self.switches.iter().position(|s| *s == pc).map(|i| self.first_switch + i as u32)
    }
}

/// A frame of the trace whose callers are observed when its line is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainFrame {
    pub frame: Frame,
    /// The points on its line, ascending.
    pub points: Vec<u32>,
}

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct ProbePlan {
    methods: Vec<MethodProbes>,
    index: FxHashMap<MethodId, usize>,
    pub points: u32,
    pub branches: u32,
    pub switches: u32,
    /// The wanted frames, innermost first; empty if nobody asks who called them.
    pub chain: Vec<ChainFrame>,
}

impl ProbePlan {
    /// Appends a method; its numbers follow those already given.
    pub fn add(&mut self, method: MethodId, points: Vec<Point>, branches: Vec<BranchPoint>, switches: Vec<u32>) {
        let probes = MethodProbes { method, first_point: self.points, points, first_branch: self.branches, branches, first_switch: self.switches, switches };
        self.points += probes.points.len() as u32;
        self.branches += probes.branches.len() as u32;
        self.switches += probes.switches.len() as u32;
        self.index.insert(method, self.methods.len());
        self.methods.push(probes);
    }
    pub fn of(&self, method: MethodId) -> Option<&MethodProbes> {
        self.index.get(&method).map(|i| &self.methods[*i])
    }
    pub fn methods(&self) -> &[MethodProbes] {
        &self.methods
    }
}
