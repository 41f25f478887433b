//! Whether a frame's line was reached *in context* (BBC-3): through the frames outward of it, not by a call from elsewhere.
//!
//! A session that observes the plan's chain says so exactly ([`Execution::reach`]). Where none does, the stack of what was thrown at the line is the
//! only witness: it can contradict, and what it does not contradict counts.

use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::probe::{ChainFrame, ProbePlan};
use crate::program::Program;
use crate::trace::Frame;

use super::line_distance::LineGoal;

/// The frames whose callers a session should observe; empty for a runaway recursion, whose cycle has no outermost frame.
pub fn chain(program: &Program, plan: &ProbePlan, goal: &CrashGoal) -> Vec<ChainFrame> {
    if goal.overflow {
        return Vec::new();
    }
    let frame = |f: &crate::goal::GoalFrame| ChainFrame { frame: f.frame.clone(), points: LineGoal::new(program, plan, f).targets() };
    goal.frames.iter().map(frame).collect()
}

/// How many frames stand in an unbroken chain: `callers` are the program frames that called frame `at` (from 0), innermost first. The result is the
/// number of the outermost one (from 1).
pub fn outermost<'f>(chain: &[ChainFrame], at: usize, callers: impl Iterator<Item = &'f Frame>) -> u32 {
    let matching = chain[at + 1..].iter().zip(callers).take_while(|(want, got)| want.frame.matches(got)).count();
    (at + 1 + matching) as u32
}

/// Whether `frame` (from 0), whose line was reached, was called through the frames outward of it up to `level`.
pub fn holds(goal: &CrashGoal, level: usize, frame: usize, execution: &Execution) -> bool {
    if goal.overflow {
        return true;
    }
    match execution.reach.get(frame) {
        // nobody looked: not observed at all, or not any more in this test
        None | Some(0) => !contradicted(goal, level, frame, execution),
        Some(outermost) => *outermost as usize >= level,
    }
}

/// The thrown stack shows the frame, but nowhere below the frames that should have called it.
fn contradicted(goal: &CrashGoal, level: usize, frame: usize, execution: &Execution) -> bool {
    let Some((_, thrown)) = execution.thrown() else { return false };
    let wanted = &goal.frames[frame..level];
    let mut shown = false;
    for throwable in thrown {
        let stack: Vec<&Frame> = throwable.frames.iter().filter(|f| !f.platform).collect();
        for at in (0..stack.len()).filter(|at| wanted[0].frame.matches(stack[*at])) {
            shown = true;
            let fits = wanted.iter().zip(&stack[at..]).filter(|(want, got)| want.frame.matches(got)).count();
            if fits == wanted.len() {
                return false;
            }
        }
    }
    shown
}
