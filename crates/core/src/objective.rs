//! Objectives: how far an execution is from the goal. A closed set of pure functions; 0 if and only if the goal is met.

pub mod line_distance;
pub mod st_distance;
pub mod trace_distance;
pub mod weighted_sum;

use std::cmp::Ordering;

use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::probe::ProbePlan;
use crate::program::Program;
use line_distance::LineGoal;

/// How good a test is; smaller is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The published fitness value; never NaN, 0 if and only if `met`.
    pub value: f64,
    /// Among equals: instructions on the way to the target that were *not* reached (BBC in the lattice order, on instructions).
    pub missing: u32,
    pub met: bool,
}

impl Eq for Score {}
impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(self.missing.cmp(&other.missing))
    }
}

/// Which fitness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// EvoCrash: 3·line + 2·exception + trace (EVO-3).
    WeightedSum,
    /// Botsing: frame by frame from the outermost inwards (BBC-2).
    StDistance,
}

/// φ(x) = x / (x + 1): [0, ∞] → [0, 1].
pub fn squash(x: f64) -> f64 {
    if x.is_infinite() { 1.0 } else { x / (x + 1.0) }
}

/// A fitness function for one goal, with the line goals of its frames worked out.
pub struct Objective {
    kind: Kind,
    /// By frame, innermost first.
    lines: Vec<LineGoal>,
    /// Whether ties are broken by instructions reached.
    secondary: bool,
}

impl Objective {
    pub fn new(kind: Kind, program: &Program, plan: &ProbePlan, goal: &CrashGoal) -> Objective {
        let lines = goal.frames.iter().map(|f| LineGoal::new(program, plan, f)).collect();
        Objective { kind, lines, secondary: true }
    }

    pub fn score(&self, goal: &CrashGoal, level: usize, execution: &Execution) -> Score {
        let met = goal.met_by(level, execution).is_some();
        let value = match (met, self.kind) {
            (true, _) => 0.0,
            (false, Kind::WeightedSum) => weighted_sum::value(&self.lines, goal, level, execution),
            (false, Kind::StDistance) => st_distance::value(&self.lines, goal, level, execution),
        };
        debug_assert!(!value.is_nan(), "a fitness value is a number");
        // a published 0 without acceptance is raised, so that 0 ⇔ met holds for the papers' formulas too
        let value = if met { 0.0 } else { value.max(f64::MIN_POSITIVE) };
        let missing = if self.secondary && !met { self.lines[..level].iter().map(|l| l.missing(execution)).sum() } else { 0 };
        Score { value, missing, met }
    }

    /// Adds one for each frame whose line the execution reached.
    pub fn count_frames(&self, execution: &Execution, counts: &mut Vec<u64>) {
        counts.resize(self.lines.len(), 0);
        counts.iter_mut().zip(&self.lines).for_each(|(n, line)| *n += u64::from(line.reached(execution)));
    }

    pub fn line(&self, level: usize) -> &LineGoal {
        &self.lines[level - 1]
    }
}
