//! What kept an execution from going on: a `throw` of the program's own on the way to the line, mostly in something that the frame calls, and how near
//! the conditions before it were to letting the execution pass.
//!
//! It decides between tests of equal score that were stopped at the same place, never between places: whoever passes one obstacle meets the next, from
//! which it may be far. Not published.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::line_distance::{Side, Step, branch_distance, negated, steps};
use super::squash;
use crate::execution::Execution;
use crate::probe::ProbePlan;
use crate::program::Program;
use crate::program::ir::{BlockId, Op};
use crate::trace::Throwable;

/// Where an execution was stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// Stands for class and line.
    pub place: u64,
    /// How far from passing: conditions that were not even come to, and the distance of the one that failed.
    pub distance: f64,
}

/// The lines of the observed classes that throw behind a condition: by class and line, the sides of branches that lead straight there.
#[derive(Debug, Default)]
pub struct Obstacles {
    by_class: FxHashMap<Box<str>, FxHashMap<u32, Vec<Step>>>,
}

impl Obstacles {
    pub fn new(program: &Program, plan: &ProbePlan) -> Obstacles {
        let mut found = Obstacles::default();
        for probes in plan.methods().iter().filter(|p| !p.branches.is_empty() || !p.switches.is_empty()) {
            let Some(body) = program.body(probes.method) else { continue };
            let mut throwing: FxHashMap<u32, Vec<BlockId>> = FxHashMap::default();
            for (i, insn) in body.insns.iter().enumerate().filter(|(_, insn)| matches!(insn.op, Op::Throw { .. })) {
                if let Some(line) = insn.line {
                    throwing.entry(line).or_default().push(body.block_of(i));
                }
            }
            let class = program.type_name(program.method(probes.method).owner);
            for (line, blocks) in throwing {
                let direct: Vec<Step> = steps(&body, probes, &blocks).into_iter().filter(|s| s.level == 0).collect();
                if !direct.is_empty() {
                    found.by_class.entry(class.into()).or_default().entry(line).or_default().extend(direct);
                }
            }
        }
        found
    }

    /// The first of what happened: an exception that was caught and wrapped is told last.
    pub fn met(&self, execution: &Execution) -> Option<Obstacle> {
        let (_, chain) = execution.thrown()?;
        chain.iter().rev().find_map(|thrown| self.stopped_by(thrown, execution))
    }

    fn stopped_by(&self, thrown: &Throwable, execution: &Execution) -> Option<Obstacle> {
        let frame = thrown.frames.iter().find(|f| !f.platform)?;
        let line = frame.line?;
        let steps = self.by_class.get(frame.class.as_str())?.get(&line)?;
        let mut hasher = FxHasher::default();
        (&frame.class, line).hash(&mut hasher);
        Some(Obstacle { place: hasher.finish(), distance: distance(steps, execution) })
    }
}

fn distance(steps: &[Step], execution: &Execution) -> f64 {
    let seen: Vec<f64> = steps.iter().filter_map(|s| escape(s, execution)).collect();
    let failed = seen.iter().copied().filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min);
    (steps.len() - seen.len()) as f64 + squash(failed)
}

/// How near the branch was to leading elsewhere, if it was executed.
fn escape(step: &Step, execution: &Execution) -> Option<f64> {
    match &step.side {
        Side::Branch(branch, relation) => Some(branch_distance(execution.branch(*branch)?, negated(*relation))),
        Side::Case(switch, wanted, others) => {
            let mut values = execution.switches.iter().filter(|(s, _)| s == switch).map(|(_, v)| f64::from(*v)).peekable();
            values.peek()?;
            let nearest = |v: f64| others.iter().map(|k| (v - f64::from(*k)).abs()).fold(f64::INFINITY, f64::min);
            Some(if wanted.is_some() { 1.0 } else { values.map(nearest).fold(f64::INFINITY, f64::min) })
        }
    }
}

/// Orders tests of equal score: the best of each place first, then the second best, so that no place takes the room of another. What was stopped by
/// nothing known is a place of its own. The order within a place is kept among equals.
pub fn arrange<T>(group: &mut [T], obstacle: impl Fn(&T) -> Option<Obstacle>) {
    if group.iter().all(|t| obstacle(t).is_none()) {
        return;
    }
    let mut places: FxHashMap<Option<u64>, Vec<(f64, usize)>> = FxHashMap::default();
    for (i, t) in group.iter().enumerate() {
        let met = obstacle(t);
        places.entry(met.map(|o| o.place)).or_default().push((met.map_or(0.0, |o| o.distance), i));
    }
    let mut turn = vec![(0, 0); group.len()];
    for members in places.values_mut() {
        members.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let first = members.iter().map(|(_, i)| *i).min().unwrap_or(0);
        members.iter().enumerate().for_each(|(round, (_, i))| turn[*i] = (round, first));
    }
    let mut order: Vec<usize> = (0..group.len()).collect();
    order.sort_by_key(|i| turn[*i]);
    permute(group, order);
}

/// Puts at each place what `order` says belongs there.
fn permute<T>(group: &mut [T], mut order: Vec<usize>) {
    for i in 0..order.len() {
        let mut from = order[i];
        while from < i {
            from = order[from];
        }
        group.swap(i, from);
        order[i] = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_turn_and_the_nearest_of_it_comes_first() {
        let at = |place: u64, distance: f64| Some(Obstacle { place, distance });
        let mut group = vec![("a", at(1, 0.5)), ("b", at(1, 0.2)), ("c", None), ("d", at(2, 3.0)), ("e", at(1, 0.2)), ("f", None)];
        arrange(&mut group, |(_, o)| *o);
        assert_eq!(group.iter().map(|(name, _)| *name).collect::<String>(), "bcdefa");
        let mut plain = vec![("x", None), ("y", None)];
        arrange(&mut plain, |(_, o)| *o);
        assert_eq!(plain[0].0, "x");
    }
}
