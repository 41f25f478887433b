//! STDistance (BBC-2): frames from the outermost target inwards whose lines were reached in context, the distance of the first that was not, and a
//! penalty for the exception once all are covered.
//!
//! The distance is measured against the line of the uncovered frame itself; the published tool's last version measures that of the outermost frame
//! instead (a regression, peers §2.3), which is not copied. As published the value ends at n + 1; `staged` adds a last term, the distance of the
//! thrown stack, where the published value knows only right and wrong.

use super::{Objective, trace_distance};
use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::message;

/// What the message weighs beside the stack.
const MESSAGE: f64 = 0.25;

pub fn value(objective: &Objective, goal: &CrashGoal, level: usize, execution: &Execution) -> f64 {
    // what is still to come once all lines are covered: the exception, and the trace if it is staged
    let staged = objective.settings.staged;
    let rest = if staged { 2.0 } else { 1.0 };
    if let Some(frame) = objective.first_uncovered(goal, level, execution) {
        return frame as f64 + objective.frame_distance(frame, execution) + rest;
    }
    let thrown = execution.thrown().and_then(|(_, chain)| chain.iter().find(|t| t.exception == goal.exception));
    match thrown {
        None => rest,
        Some(thrown) if staged => {
            let trace = trace_distance::normalised(objective.settings.trace, goal.wanted(level).frames, &thrown.frames);
            match &goal.message {
                Some(wanted) if objective.settings.message => {
                    (1.0 - MESSAGE) * trace + MESSAGE * message::distance(wanted, thrown.message.as_deref().unwrap_or_default())
                }
                _ => trace,
            }
        }
        // ExceptionPenalty: right only at the line of frame 1
        Some(thrown) => {
            let at = thrown.frames.iter().find(|f| !f.platform);
            f64::from(u8::from(!at.is_some_and(|f| goal.frames[0].frame.matches(f))))
        }
    }
}
