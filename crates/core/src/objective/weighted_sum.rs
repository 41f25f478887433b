//! WeightedSum (EVO-3, BBC-1): f = 3·d_line + 2·d_exception + d_trace in [0, 6], each term counting only when the one before is 0.

use super::{LineTarget, Objective, trace_distance};
use crate::execution::Execution;
use crate::goal::CrashGoal;

pub fn value(objective: &Objective, goal: &CrashGoal, level: usize, execution: &Execution) -> f64 {
    let line = objective.lines[line_of(objective.settings.line_target, level)].distance(execution);
    if line > 0.0 {
        return 3.0 * line + 2.0 + 1.0;
    }
    let thrown = execution.thrown().and_then(|(_, chain)| chain.iter().find(|t| t.exception == goal.exception));
    match thrown {
        None => 2.0 + 1.0,
        Some(thrown) => trace_distance::normalised(objective.settings.trace, goal.wanted(level).frames, &thrown.frames),
    }
}

/// EVO-2: the frame (from 0) whose line counts.
pub fn line_of(target: LineTarget, level: usize) -> usize {
    match target {
        LineTarget::Frame => level - 1,
        LineTarget::Throw => 0,
    }
}
