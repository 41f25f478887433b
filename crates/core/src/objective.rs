//! Objectives: how far an execution is from the goal. A closed set of pure functions; 0 if and only if the goal is met.

pub mod block_coverage;
pub mod context;
pub mod crash_site;
pub mod hunting;
pub mod line_distance;
pub mod obstacle;
pub mod st_distance;
pub mod trace_distance;
pub mod weighted_sum;
pub mod words;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::probe::ProbePlan;
use crate::program::Program;
use block_coverage::BlockCoverage;
use line_distance::LineGoal;
use obstacle::{Obstacle, Obstacles};
use trace_distance::TraceDistance;

/// How good a test is; smaller is better. Ordered by value, then by what is missing; [`Score::rank`] also asks the blocks.
#[derive(Clone, Debug)]
pub struct Score {
    /// The published fitness value; never NaN, 0 if and only if `met`.
    pub value: f64,
    /// Among equals: instructions on the way to the target that were *not* reached; 0 unless [`Secondary::Lattice`] is chosen.
    pub missing: u32,
    /// Blocks covered on the way to the first frame that is not; only if [`Secondary::Bbc`] is chosen.
    pub blocks: Option<Arc<BlockCoverage>>,
    /// What stopped the test before the lines were reached. Asked only where everything else is equal ([`obstacle::arrange`]).
    pub obstacle: Option<Obstacle>,
    pub met: bool,
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
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

impl Score {
    /// The order with the secondary objective (BBC-7: only for ties). Not transitive under BBC, so it must not be given to a sort.
    pub fn rank(&self, other: &Score) -> Ordering {
        self.cmp(other).then_with(|| match (&self.blocks, &other.blocks) {
            (Some(a), Some(b)) => block_coverage::compare(a, b),
            _ => Ordering::Equal,
        })
    }
}

/// Which fitness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// EvoCrash: 3·line + 2·exception + trace (EVO-3).
    WeightedSum,
    /// Botsing: frame by frame from the outermost inwards (BBC-2).
    StDistance,
    /// Beacon, for hunts only: 5 - F (BCN-4). Hunts with another fitness have it refined.
    Beacon,
}

/// What decides between tests of equal fitness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secondary {
    None,
    /// The paper's comparison of covered blocks (BBC-6).
    Bbc,
    /// Instructions reached on the way, counted: the order of BBC-10 made total.
    Lattice,
}

/// Whose line WeightedSum wants reached (EVO-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineTarget {
    /// That of the outermost frame wanted, as the tool has it.
    Frame,
    /// That of the innermost, as the paper says.
    Throw,
}

/// A fitness function, all choices made. The published combinations stand in `search::presets`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    pub kind: Kind,
    pub secondary: Secondary,
    pub trace: TraceDistance,
    pub line_target: LineTarget,
    /// d_line where the control dependence is satisfied and an exception kept the line from being reached: 1 in EvoCrash, φ(1) in Botsing (EVO-4).
    pub blocked: f64,
    /// STDistance goes on with the trace distance after lines and exception; not published.
    pub staged: bool,
    /// A line counts as reached only where it crashes or calls on ([`crash_site`]); not published.
    pub crash_sites: bool,
    /// Among equals, tests that were stopped at one place are ordered by how near they were to passing ([`obstacle`]); not published.
    pub obstacles: bool,
    /// A frame counts only if the frames outward of it called it (BBC-3).
    pub context: bool,
    /// After lines and exception, the message counts too (§5.1); not published, and only where `staged`.
    pub message: bool,
}

impl From<Kind> for Settings {
    fn from(kind: Kind) -> Settings {
        let (secondary, trace, line_target) = (Secondary::Lattice, TraceDistance::Set, LineTarget::Frame);
        Settings { kind, secondary, trace, line_target, blocked: squash(1.0), staged: true, crash_sites: true, obstacles: true, context: true, message: true }
    }
}

/// φ(x) = x / (x + 1): [0, ∞] → [0, 1].
pub fn squash(x: f64) -> f64 {
    if x.is_infinite() { 1.0 } else { x / (x + 1.0) }
}

/// A fitness function for one goal, with the line goals of its frames worked out.
pub struct Objective {
    settings: Settings,
    /// By frame, innermost first.
    lines: Vec<LineGoal>,
    /// What a hunt aims at.
    sites: hunting::Sites,
    obstacles: Obstacles,
}

impl Objective {
    pub fn new(settings: impl Into<Settings>, program: &Program, plan: &ProbePlan, goal: &CrashGoal) -> Objective {
        let settings = settings.into();
        let line = |(i, frame)| {
            let line = LineGoal { blocked: settings.blocked, ..LineGoal::new(program, plan, frame) };
            if settings.crash_sites { line.narrowed(program, plan, frame, &crash_site::Last::of(goal, i)) } else { line }
        };
        let lines = goal.frames.iter().enumerate().map(line).collect();
        let obstacles = if settings.obstacles { Obstacles::new(program, plan) } else { Obstacles::default() };
        Objective { settings, lines, sites: hunting::Sites::new(program, plan, goal), obstacles }
    }

    pub fn score(&self, goal: &CrashGoal, level: usize, execution: &Execution) -> Score {
        if goal.met_by(level, execution).is_some() {
            return Score { value: 0.0, missing: 0, blocks: None, obstacle: None, met: true };
        }
        if let Some(hunt) = &goal.hunt {
            return hunting::score(self, hunt, execution);
        }
        let value = match self.settings.kind {
            Kind::WeightedSum => weighted_sum::value(self, goal, level, execution),
            Kind::StDistance | Kind::Beacon => st_distance::value(self, goal, level, execution),
        };
        debug_assert!(!value.is_nan(), "a fitness value is a number");
        let lattice = self.settings.secondary == Secondary::Lattice;
        let missing = if lattice { self.lines[..level].iter().map(|l| l.missing(execution)).sum() } else { 0 };
        let blocks = if self.settings.secondary == Secondary::Bbc { self.blocks(goal, level, execution) } else { None };
        // a published 0 without acceptance is raised, so that 0 ⇔ met holds for the papers' formulas too
        let obstacle = self.first_uncovered(goal, level, execution).and_then(|_| self.obstacles.met(execution));
        Score { value: value.max(f64::MIN_POSITIVE), missing, blocks, obstacle, met: false }
    }

    /// The coverage of the target frame's method (WeightedSum) or of that of the first frame not covered (STDistance; BBC-9).
    fn blocks(&self, goal: &CrashGoal, level: usize, execution: &Execution) -> Option<Arc<BlockCoverage>> {
        let frame = match self.settings.kind {
            Kind::WeightedSum => weighted_sum::line_of(self.settings.line_target, level),
            Kind::StDistance | Kind::Beacon => self.first_uncovered(goal, level, execution).unwrap_or(0),
        };
        self.lines[frame].blocks(execution).map(Arc::new)
    }

    /// The first frame (from 0), counted from the outermost of `level` inwards, whose line was not reached in context, up to where it crashes.
    pub fn first_uncovered(&self, goal: &CrashGoal, level: usize, execution: &Execution) -> Option<usize> {
        (0..level).rev().find(|frame| self.lines[*frame].distance(execution) > 0.0 || !self.in_context(goal, level, *frame, execution))
    }

    /// Whether the line of a frame that is not covered was reached in context all the same: one of its own branches led away from where it crashes.
    pub fn stops_within(&self, goal: &CrashGoal, level: usize, frame: usize, execution: &Execution) -> bool {
        let line = &self.lines[frame];
        line.reached(execution) && line.distance(execution) > 0.0 && self.in_context(goal, level, frame, execution)
    }

    fn in_context(&self, goal: &CrashGoal, level: usize, frame: usize, execution: &Execution) -> bool {
        !self.settings.context || context::holds(goal, level, frame, execution)
    }

    /// In (0, 1], for a frame that is not covered: 1 if its line was reached, but not from the frames that should have called it.
    fn frame_distance(&self, frame: usize, execution: &Execution) -> f64 {
        match self.lines[frame].distance(execution) {
            0.0 => 1.0,
            distance => distance,
        }
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
