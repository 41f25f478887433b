//! What keeps a search from the next frame: how far the tests came, which predicate on the way was never decided as it must be, and what was thrown
//! instead. Counted while the search runs, because afterwards nobody remembers.
//!
//! Only executions that came as far as the best count; when one comes further, counting begins anew.

use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::objective::Objective;
use crate::objective::line_distance::{Step, leads_on};
use crate::objective::words;
use crate::program::{MethodId, Program};

use super::bump;

/// How often one side of a branch was seen.
#[derive(Clone, Debug)]
struct Side {
    method: MethodId,
    step: Step,
    taken: u64,
    missed: u64,
}

/// See the module documentation. One for each level.
#[derive(Clone, Debug, Default)]
pub struct Blocked {
    /// The first frame (from 0, outermost first) that the best executions did not cover; `None` if they covered all and the exception is missing.
    frame: Option<usize>,
    /// They reached its line, and a branch of the line itself led away.
    within: bool,
    /// Executions that came as far; 0 if nothing was executed at this level.
    executions: u64,
    sides: Vec<Side>,
    /// What they threw, and where.
    instead: Vec<(String, u64)>,
}

/// A predicate on the way to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    pub class: String,
    pub line: Option<u32>,
    /// What must hold: `this.count > 3`.
    pub wanted: String,
    /// Executions in which it held, and in which it was decided the other way only.
    pub held: u64,
    pub failed: u64,
}

/// What is told of a level that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The number of the innermost frame whose line was reached through those outward of it; `None` if not even the outermost one's was.
    pub deepest: Option<usize>,
    /// The number of the frame whose line was not reached; `None` if the deepest one's line did not go on, or the exception did not come.
    pub missed: Option<usize>,
    pub executions: u64,
    pub predicate: Option<Predicate>,
    /// The commonest first.
    pub instead: Vec<(String, u64)>,
}

impl Blocked {
    pub fn count(&mut self, objective: &Objective, goal: &CrashGoal, level: usize, execution: &Execution) {
        let frame = objective.first_uncovered(goal, level, execution);
        let within = frame.is_some_and(|f| objective.stops_within(goal, level, f, execution));
        let (came, before) = ((depth(frame), within), (depth(self.frame), self.within));
        if self.executions > 0 && came < before {
            return;
        }
        if self.executions == 0 || came > before {
            *self = Blocked { frame, within, ..Blocked::default() };
            for method in frame.into_iter().flat_map(|f| &objective.line(f + 1).methods) {
                let steps = if within { &method.in_line } else { &method.steps };
                self.sides.extend(steps.iter().map(|step| Side { method: method.method, step: step.clone(), taken: 0, missed: 0 }));
            }
        }
        self.executions += 1;
        for side in &mut self.sides {
            match leads_on(&side.step, execution) {
                Some(true) => side.taken += 1,
                Some(false) => side.missed += 1,
                None => {}
            }
        }
        if let Some(thrown) = execution.thrown().and_then(|(_, chain)| chain.first()) {
            bump(&mut self.instead, super::place_of(thrown));
        }
    }

    /// What to tell; `None` if nothing was executed.
    pub fn obstacle(&self, program: &Program, level: usize) -> Option<Obstacle> {
        if self.executions == 0 {
            return None;
        }
        let mut instead = self.instead.clone();
        instead.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let deepest = match self.frame {
            None => Some(1),
            Some(frame) if self.within => Some(frame + 1),
            Some(frame) => Some(frame + 2).filter(|number| *number <= level),
        };
        let missed = self.frame.filter(|_| !self.within).map(|f| f + 1);
        Some(Obstacle { deepest, missed, executions: self.executions, predicate: self.predicate(program), instead })
    }

    /// Of the predicates that were decided but never as they must be, the one nearest to the line; where all held at times, none is to blame.
    fn predicate(&self, program: &Program) -> Option<Predicate> {
        // another side of the same branch may lead on as well: only one that no execution passed is in the way
        let passed = |s: &Side| self.sides.iter().any(|o| o.method == s.method && o.step.level <= s.step.level && o.taken > 0);
        let stuck = self.sides.iter().filter(|s| s.missed > 0 && s.taken == 0 && !passed(s));
        let side = stuck.min_by_key(|s| (s.step.level, std::cmp::Reverse(s.missed), s.step.pc))?;
        let wanted = program.body(side.method).map_or("a condition".into(), |body| words::of_step(program, &body, &side.step));
        let class = program.type_name(program.method(side.method).owner).to_string();
        Some(Predicate { class, line: side.step.line, wanted, held: side.taken, failed: side.missed })
    }
}

/// Deeper is larger.
fn depth(frame: Option<usize>) -> usize {
    frame.map_or(usize::MAX, |f| usize::MAX - 1 - f)
}
