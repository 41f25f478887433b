//! WeightedSum (EVO-3, BBC-1): f = 3·d_line + 2·d_exception + d_trace in [0, 6], each term counting only when the one before is 0.

use super::line_distance::LineGoal;
use super::trace_distance;
use crate::execution::Execution;
use crate::goal::CrashGoal;

/// The line is that of the target frame (EVO-2, `--line-target=frame`).
pub fn value(lines: &[LineGoal], goal: &CrashGoal, level: usize, execution: &Execution) -> f64 {
    let line = lines[level - 1].distance(execution);
    if line > 0.0 {
        return 3.0 * line + 2.0 + 1.0;
    }
    let thrown = execution.thrown().and_then(|(_, chain)| chain.iter().find(|t| t.exception == goal.exception));
    match thrown {
        None => 2.0 + 1.0,
        Some(thrown) => trace_distance::normalised(goal.wanted(level).frames, &thrown.frames),
    }
}
