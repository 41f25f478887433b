//! STDistance (BBC-2): frames from the outermost target inwards whose lines were reached, the distance of the first that was not, and a penalty for
//! the exception once all are covered.
//!
//! Frame coverage is by line here, without the chain of callers.

use super::line_distance::LineGoal;
use super::trace_distance;
use crate::execution::Execution;
use crate::goal::CrashGoal;

pub fn value(lines: &[LineGoal], goal: &CrashGoal, level: usize, execution: &Execution) -> f64 {
    for frame in (0..level).rev() {
        let distance = lines[frame].distance(execution);
        if distance > 0.0 {
            // frames still to come, then this one's share, below 1; the exception's penalty of 1 and the trace's of 1 stay
            return frame as f64 + distance + 2.0;
        }
    }
    let thrown = execution.thrown().and_then(|(_, chain)| chain.iter().find(|t| t.exception == goal.exception));
    match thrown {
        None => 2.0,
        Some(thrown) => trace_distance::normalised(goal.wanted(level).frames, &thrown.frames),
    }
}
