//! How far an execution stayed from a frame's line (EVO-4): approach level and branch distance over control dependence.
//!
//! For each branch side that the line depends on, its level (0: directly) is worked out once; an execution is then scored by the nearest such side it
//! came to. The control flow is that of the lowered body, the observations are those of the probe plan.

use super::block_coverage::{BlockCoverage, EffectiveBlocks};
use super::{crash_site, squash};
use crate::execution::{BranchSeen, Execution};
use crate::goal::GoalFrame;
use crate::probe::{MethodProbes, ProbePlan, Relation};
use crate::program::control_dependence::{BranchEdge, ControlDependence};
use crate::program::ir::{BlockId, Body, EdgeKind};
use crate::program::{MethodId, Program};

/// What the way within the line is worth, of the distance to it.
const IN_LINE: f64 = 0.3;

/// One side of a branch that leads towards the line.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// Conditional branch number, and how `left - right` must be for the side to be taken.
    Branch(u32, Relation),
    /// Switch number and the wanted value; `None` for the default side, wanted to be none of the listed.
    Case(u32, Option<i32>, Vec<i32>),
}

/// A side and how many further sides lie between it and the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub side: Side,
    pub level: u32,
    pub pc: u32,
    pub line: Option<u32>,
}

/// The line of one frame within one method.
#[derive(Clone, Debug)]
pub struct MethodGoal {
    pub method: MethodId,
    entry: u32,
    /// Probes on the line.
    targets: Vec<u32>,
    pub steps: Vec<Step>,
    /// The sides of the line's own branches that lead to where it crashes; empty if the whole line may.
    pub in_line: Vec<Step>,
    /// Probes on some way from the entry to the line, the line's own included.
    on_the_way: Vec<u32>,
    blocks: EffectiveBlocks,
}

/// The line of one frame, in whichever overload has it.
pub struct LineGoal {
    pub methods: Vec<MethodGoal>,
    /// The distance where only an exception on the way kept the line from being reached (EVO-4).
    pub blocked: f64,
}

impl LineGoal {
    pub fn new(program: &Program, plan: &ProbePlan, frame: &GoalFrame) -> LineGoal {
        let methods = frame.methods.iter().filter_map(|m| method_goal(program, plan.of(*m)?, frame.frame.line)).collect();
        LineGoal { methods, blocked: squash(1.0) }
    }

    /// Wants what lies behind branches of the line reached too, where the frame did its last only there.
    #[must_use]
    pub fn narrowed(mut self, program: &Program, plan: &ProbePlan, frame: &GoalFrame, last: &crash_site::Last<'_>) -> LineGoal {
        for goal in &mut self.methods {
            if let (Some(line), Some(body), Some(probes)) = (frame.frame.line, program.body(goal.method), plan.of(goal.method)) {
                let sites = crash_site::blocks(&body, line, last);
                goal.in_line = steps(&body, probes, &sites).into_iter().filter(|s| s.line == Some(line)).collect();
            }
        }
        self
    }

    /// In [0, 1]; 0 iff the line was reached, up to where it crashes. 1 if the method was not even entered.
    pub fn distance(&self, execution: &Execution) -> f64 {
        if self.methods.is_empty() {
            // not observed (a method that could not be instrumented): only exception and trace can tell
            return 0.0;
        }
        self.methods.iter().map(|m| m.distance(execution, self.blocked)).fold(1.0, f64::min)
    }

    pub fn reached(&self, execution: &Execution) -> bool {
        self.methods.iter().any(|m| m.reached(execution))
    }

    /// The blocks covered in the first overload that was entered, else in the first.
    pub fn blocks(&self, execution: &Execution) -> Option<BlockCoverage> {
        let entered = self.methods.iter().find(|m| execution.hit(m.entry));
        entered.or(self.methods.first()).map(|m| m.blocks.covered(m.method, execution))
    }

    /// Every probe on the line, ascending.
    pub fn targets(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.methods.iter().flat_map(|m| m.targets.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Probes on the way that were not hit, in the overload that came furthest.
    pub fn missing(&self, execution: &Execution) -> u32 {
        self.methods.iter().map(|m| m.on_the_way.iter().filter(|p| !execution.hit(**p)).count() as u32).min().unwrap_or(0)
    }
}

impl MethodGoal {
    fn reached(&self, execution: &Execution) -> bool {
        self.targets.iter().any(|p| execution.hit(*p))
    }

    fn distance(&self, execution: &Execution, blocked: f64) -> f64 {
        let near = if self.in_line.is_empty() { 0.0 } else { IN_LINE };
        if self.reached(execution) {
            return near * nearest(&self.in_line, execution).map_or(0.0, squash);
        }
        if !execution.hit(self.entry) {
            return 1.0;
        }
        let furthest = self.steps.iter().map(|s| s.level + 1).max().unwrap_or(0);
        let nearest = nearest(&self.steps, execution).unwrap_or(f64::INFINITY).min(f64::from(furthest));
        // control dependence satisfied, yet the line not reached: an exception on the way
        near + (1.0 - near) * if nearest == 0.0 { blocked } else { squash(nearest.max(f64::MIN_POSITIVE)) }
    }
}

/// The smallest distance of the steps whose branches were executed.
fn nearest(steps: &[Step], execution: &Execution) -> Option<f64> {
    steps.iter().filter_map(|s| step_distance(s, execution)).reduce(f64::min)
}

/// Whether the execution took the side, if it came to its branch.
pub fn leads_on(step: &Step, execution: &Execution) -> Option<bool> {
    step_distance(step, execution).map(|distance| distance <= f64::from(step.level))
}

/// Level and branch distance of a side, if its branch was executed.
fn step_distance(step: &Step, execution: &Execution) -> Option<f64> {
    let distance = match &step.side {
        Side::Branch(branch, relation) => branch_distance(execution.branch(*branch)?, *relation),
        Side::Case(switch, wanted, others) => {
            let values = execution.switches.iter().filter(|(s, _)| s == switch).map(|(_, v)| *v);
            values.map(|v| case_distance(v, *wanted, others)).fold(None, |best: Option<f64>, d| Some(best.map_or(d, |b| b.min(d))))?
        }
    };
    Some(f64::from(step.level) + squash(distance))
}

fn case_distance(value: i32, wanted: Option<i32>, others: &[i32]) -> f64 {
    match wanted {
        Some(w) => (f64::from(value) - f64::from(w)).abs(),
        None => f64::from(u8::from(others.contains(&value))),
    }
}

/// The smallest change of `left - right` that makes the relation hold (K = 1).
pub fn branch_distance(seen: &BranchSeen, relation: Relation) -> f64 {
    let zero_to = |d: f64| if seen.equal { d } else { f64::INFINITY };
    let truth = if seen.hint.is_finite() { seen.hint.max(f64::MIN_POSITIVE) } else { 1.0 };
    let distance = match relation {
        Relation::Eq => zero_to(0.0).min(seen.above).min(seen.below),
        Relation::Ne => {
            if seen.above.is_finite() || seen.below.is_finite() {
                0.0
            } else {
                zero_to(truth)
            }
        }
        Relation::Lt => {
            if seen.below.is_finite() {
                0.0
            } else {
                zero_to(1.0).min(seen.above + 1.0)
            }
        }
        Relation::Ge => {
            if seen.equal || seen.above.is_finite() {
                0.0
            } else {
                seen.below
            }
        }
        Relation::Gt => {
            if seen.above.is_finite() {
                0.0
            } else {
                zero_to(truth).min(seen.below + 1.0)
            }
        }
        Relation::Le => {
            if seen.equal || seen.below.is_finite() {
                0.0
            } else {
                seen.above
            }
        }
    };
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// The relation that holds on the other side.
pub fn negated(relation: Relation) -> Relation {
    match relation {
        Relation::Eq => Relation::Ne,
        Relation::Ne => Relation::Eq,
        Relation::Lt => Relation::Ge,
        Relation::Ge => Relation::Lt,
        Relation::Gt => Relation::Le,
        Relation::Le => Relation::Gt,
    }
}

fn method_goal(program: &Program, probes: &MethodProbes, line: Option<u32>) -> Option<MethodGoal> {
    let numbered = || probes.points.iter().enumerate().map(|(i, p)| (probes.first_point + i as u32, p));
    let entry = numbered().next()?.0;
    let targets: Vec<u32> = numbered().filter(|(_, p)| line.is_none() || p.line == line).map(|(n, _)| n).collect();
    let mut goal = MethodGoal {
        method: probes.method,
        entry,
        targets,
        steps: Vec::new(),
        in_line: Vec::new(),
        on_the_way: Vec::new(),
        blocks: EffectiveBlocks::default(),
    };
    let Some(body) = program.body(probes.method) else { return Some(goal) };
    if let Some(line) = line.filter(|_| goal.targets.is_empty()) {
        // inside a statement that began on a line above: its own point is the nearest thing that is observed
        let pcs: Vec<u32> = body.insns_on_line(line).map(|i| body.insns[i].pc).collect();
        goal.targets = numbered().filter(|(_, p)| pcs.contains(&p.pc)).map(|(n, _)| n).collect();
    }
    let blocks = target_blocks(&body, line);
    goal.steps = steps(&body, probes, &blocks);
    goal.blocks = EffectiveBlocks::new(&body, probes, &blocks, |pc| line.is_none() || body.insns_at(pc).any(|i| body.insns[i].line == line));
    let way = blocks_before(&body, &blocks);
    goal.on_the_way = numbered().filter(|(_, p)| body.block_at(p.pc).is_some_and(|b| way[b.0 as usize])).map(|(n, _)| n).collect();
    Some(goal)
}

/// Blocks with code of the line; all of them where the line is unknown.
fn target_blocks(body: &Body, line: Option<u32>) -> Vec<BlockId> {
    let mut blocks: Vec<BlockId> = match line {
        Some(line) => body.insns_on_line(line).map(|i| body.block_of(i)).collect(),
        None => vec![body.entry()],
    };
    blocks.dedup();
    blocks
}

/// Every branch side that the line depends on and that the plan observes.
pub(super) fn steps(body: &Body, probes: &MethodProbes, targets: &[BlockId]) -> Vec<Step> {
    let plain = ControlDependence::of(body).distance_to(targets);
    // a handler runs only after an exception, which normal edges do not show
    let levels = if plain.is_empty() { ControlDependence::with_exceptions(body).distance_to(targets) } else { plain };
    levels.into_iter().filter_map(|(edge, level)| step(body, probes, edge, level)).collect()
}

fn step(body: &Body, probes: &MethodProbes, (block, edge): BranchEdge, level: u32) -> Option<Step> {
    let last = body.last_insn(block)?;
    let succs = &body.block(block).succs;
    let side = match succs.get(edge)?.kind {
        EdgeKind::Branch { taken } => {
            let (number, point) = probes.branch_at(last.pc)?;
            Side::Branch(number, if taken { point.taken_if } else { negated(point.taken_if) })
        }
        EdgeKind::Case(wanted) => {
            let others = succs.iter().filter_map(|e| if let EdgeKind::Case(Some(k)) = e.kind { Some(k) } else { None }).collect();
            Side::Case(probes.switch_at(last.pc)?, wanted, others)
        }
        _ => return None,
    };
    Some(Step { side, level, pc: last.pc, line: last.line })
}

/// Which blocks lie on some way to the targets, over normal and exception edges, the targets included.
fn blocks_before(body: &Body, targets: &[BlockId]) -> Vec<bool> {
    let mut way = vec![false; body.blocks.len()];
    let mut pending: Vec<BlockId> = targets.to_vec();
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut way[block.0 as usize], true) {
            pending.extend(&body.block(block).preds);
        }
    }
    way
}
