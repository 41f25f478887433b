//! How far an execution is from what a hunt looks for: Beacon's F (BCN-4) turned round, and the same refined.
//!
//! Beacon's value knows six steps. Refined, it also tells how near the execution came to the places that may throw such an exception, whether the
//! function asked for ran at all, and how much of the message is there; among equals, the execution that ran more of the program is ahead.

use super::line_distance::LineGoal;
use super::{Kind, Objective, Score};
use crate::execution::Execution;
use crate::goal::CrashGoal;
use crate::goal::hunt::Hunt;
use crate::probe::ProbePlan;
use crate::program::Program;

/// The greatest F.
pub const FULL: f64 = 5.0;
/// What reaching a place that may throw is worth, beside F.
const SITE_WEIGHT: f64 = 4.0;

/// What a hunt aims at, as far as it is observed.
#[derive(Default)]
pub struct Sites {
    lines: Vec<LineGoal>,
    /// The first probes of the functions asked for.
    entries: Vec<u32>,
    points: u32,
}

impl Sites {
    pub fn new(program: &Program, plan: &ProbePlan, goal: &CrashGoal) -> Sites {
        let Some(hunt) = &goal.hunt else { return Sites::default() };
        let observed = |line: &LineGoal| !line.methods.is_empty();
        let lines = hunt.sites.iter().map(|site| LineGoal::new(program, plan, site)).filter(observed).collect();
        let entries = hunt.functions.iter().filter_map(|m| plan.of(*m)).filter(|p| !p.points.is_empty()).map(|p| p.first_point).collect();
        Sites { lines, entries, points: plan.points }
    }

    /// In [0, 1]; 0 where nothing is aimed at.
    fn distance(&self, execution: &Execution) -> f64 {
        let nearest = self.lines.iter().map(|l| l.distance(execution)).fold(f64::INFINITY, f64::min);
        if nearest.is_finite() { nearest } else { 0.0 }
    }
}

/// The score of an execution that does not meet the goal.
pub fn score(objective: &Objective, hunt: &Hunt, execution: &Execution) -> Score {
    let verdict = execution.thrown().and_then(|(_, chain)| hunt.judge(chain));
    let plain = verdict.map_or(0.0, |v| v.fitness());
    if objective.settings.kind == Kind::Beacon {
        return Score { value: (FULL - plain).max(f64::MIN_POSITIVE), missing: 0, blocks: None, obstacle: None, met: false };
    }
    let ran = objective.sites.entries.iter().any(|p| execution.hit(*p));
    let function = if ran && verdict.is_none_or(|v| !v.function) { 1.0 } else { 0.0 };
    let message = if verdict.is_some_and(|v| !v.message) { likeness(hunt, execution) } else { 0.0 };
    let value = FULL - plain - function - message + SITE_WEIGHT * objective.sites.distance(execution);
    let missing = objective.sites.points.saturating_sub(execution.hits.len() as u32);
    Score { value: value.max(f64::MIN_POSITIVE), missing, blocks: None, obstacle: None, met: false }
}

/// The share of the message's words that are there, below 1.
fn likeness(hunt: &Hunt, execution: &Execution) -> f64 {
    let thrown = execution.thrown().and_then(|(_, chain)| chain.first()).and_then(|t| t.message.as_deref());
    let (Some(wanted), Some(message)) = (hunt.message.as_deref(), thrown) else { return 0.0 };
    let (wanted, message) = (wanted.to_lowercase(), message.to_lowercase());
    let (mut there, mut all) = (0.0, 0.0);
    for word in wanted.split_whitespace() {
        all += 1.0;
        there += f64::from(u8::from(message.contains(word)));
    }
    0.9 * there / f64::max(all, 1.0)
}
