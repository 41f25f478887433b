//! Results by crash and variant, and the sums over them.
//!
//! Runs of different inputs are never put together: a variant whose flags, budget or binary changed, or a crash whose log or program
//! did, appears once for each, with a mark.

use std::collections::{BTreeMap, BTreeSet};

use super::super::results::Line;
use super::super::statistics::{Table, a12, quantile, rank_sum, sorted};
use crate::record::sha256;

#[derive(Clone, Debug)]
pub struct Study {
    /// The first is what the others are compared with.
    pub variants: Vec<Variant>,
    pub crashes: Vec<Crash>,
    /// `[crash][variant]`
    runs: Vec<Vec<Vec<Run>>>,
}

#[derive(Clone, Debug)]
pub struct Variant {
    pub label: String,
    pub flags: String,
    pub budget_ms: u64,
    pub binary: String,
    pub tool: String,
}

#[derive(Clone, Debug)]
pub struct Crash {
    pub label: String,
    /// The highest frame that any variant reached in any run; 0 if none did.
    pub best: usize,
    /// The outermost that was aimed at.
    pub target: usize,
    /// The most tests that any run executed.
    most_evaluations: u64,
}

#[derive(Clone, Debug)]
pub struct Run {
    pub seed: u64,
    pub verdict: String,
    pub reached: usize,
    pub wall_ms: u64,
    pub budget_ms: u64,
    pub evaluations: u64,
    pub note: Option<String>,
}

/// One variant against the first, for a crash.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    pub frame: usize,
    pub odds_ratio: f64,
    pub fisher: f64,
    /// Of the time; less than one half is faster.
    pub time: Effect,
    pub evaluations: Effect,
}

#[derive(Clone, Copy, Debug)]
pub struct Effect {
    pub a12: f64,
    pub p: f64,
}

impl Study {
    /// Sorted by name, but the baseline first: runs end in any order.
    pub fn of(lines: &[Line], baseline: &str) -> Study {
        let variant_labels = labels(lines, |l| l.setting.variant.clone(), |l| format!("{:?} {} {}", l.setting.flags, l.setting.budget_ms, l.setting.binary));
        let crash_labels = labels(lines, |l| l.setting.crash.clone(), |l| format!("{:?}", l.setting.inputs));
        let (mut variants, crashes) = (distinct(&variant_labels), distinct(&crash_labels));
        variants.sort_by_key(|label| label != baseline);
        let mut runs = vec![vec![Vec::new(); variants.len()]; crashes.len()];
        let place = |all: &[String], label: &String| all.iter().position(|l| l == label).expect("every label is among the distinct ones");
        for (i, line) in lines.iter().enumerate() {
            runs[place(&crashes, &crash_labels[i])][place(&variants, &variant_labels[i])].push(Run::of(line));
        }
        let variant = |label: &String| Variant::of(label, &lines[place(&variant_labels, label)]);
        let crash = |(label, runs): (&String, &Vec<Vec<Run>>)| Crash::of(label, runs, lines, &crash_labels);
        Study { variants: variants.iter().map(variant).collect(), crashes: crashes.iter().zip(&runs).map(crash).collect(), runs }
    }

    pub fn runs(&self, crash: usize, variant: usize) -> &[Run] {
        &self.runs[crash][variant]
    }

    pub fn all_runs(&self, variant: usize) -> impl Iterator<Item = (usize, &Run)> {
        (0..self.crashes.len()).flat_map(move |crash| self.runs[crash][variant].iter().map(move |run| (crash, run)))
    }

    /// Runs that reached the frame, and all.
    pub fn ratio(&self, crash: usize, variant: usize, frame: usize) -> (u64, u64) {
        let runs = self.runs(crash, variant);
        (runs.iter().filter(|run| run.reached >= frame.max(1)).count() as u64, runs.len() as u64)
    }

    /// More than half of the runs reached the frame.
    pub fn mostly(&self, crash: usize, variant: usize, frame: usize) -> bool {
        let (reached, all) = self.ratio(crash, variant, frame);
        2 * reached > all
    }

    /// Milliseconds of each run until it had reached the frame; the whole budget where it did not.
    pub fn times(&self, crash: usize, variant: usize, frame: usize) -> Vec<f64> {
        let cost = |run: &Run| if run.reached >= frame.max(1) { run.wall_ms.min(run.budget_ms) } else { run.budget_ms };
        self.runs(crash, variant).iter().map(|run| cost(run) as f64).collect()
    }

    /// Executed tests likewise. How many a whole budget holds is not known; it is at least what any run of the crash executed.
    pub fn evaluations(&self, crash: usize, variant: usize, frame: usize) -> Vec<f64> {
        let most = self.crashes[crash].most_evaluations;
        let cost = |run: &Run| if run.reached >= frame.max(1) { run.evaluations } else { most };
        self.runs(crash, variant).iter().map(|run| cost(run) as f64).collect()
    }

    /// `None` where one of them has no run.
    pub fn compare(&self, crash: usize, variant: usize) -> Option<Comparison> {
        let frame = self.crashes[crash].best.max(1);
        let table = Table { a: self.split(crash, variant, frame), b: self.split(crash, 0, frame) };
        let effect = |a: &[f64], b: &[f64]| Effect { a12: a12(a, b), p: rank_sum(a, b) };
        let (time, evaluations) = (
            effect(&self.times(crash, variant, frame), &self.times(crash, 0, frame)),
            effect(&self.evaluations(crash, variant, frame), &self.evaluations(crash, 0, frame)),
        );
        let both = !self.runs(crash, variant).is_empty() && !self.runs(crash, 0).is_empty();
        both.then(|| Comparison { frame, odds_ratio: table.odds_ratio(), fisher: table.fisher(), time, evaluations })
    }

    /// Over the crashes that both have.
    pub fn pooled(&self, variant: usize) -> Table {
        let both = |crash: &usize| !self.runs(*crash, variant).is_empty() && !self.runs(*crash, 0).is_empty();
        let sum = |variant: usize| {
            let each = (0..self.crashes.len()).filter(both).map(|crash| self.split(crash, variant, self.crashes[crash].best));
            each.fold((0, 0), |(a, b), (yes, no)| (a + yes, b + no))
        };
        Table { a: sum(variant), b: sum(0) }
    }

    fn split(&self, crash: usize, variant: usize, frame: usize) -> (u64, u64) {
        let (reached, all) = self.ratio(crash, variant, frame);
        (reached, all - reached)
    }
}

impl Run {
    fn of(line: &Line) -> Run {
        let o = &line.outcome;
        Run {
            seed: line.setting.seed,
            verdict: o.verdict.clone(),
            reached: o.reached,
            wall_ms: o.wall_ms,
            budget_ms: line.setting.budget_ms,
            evaluations: o.evaluations,
            note: o.note.clone(),
        }
    }

    /// Ended more than two seconds after its budget.
    pub fn late(&self) -> bool {
        self.wall_ms > self.budget_ms + 2000
    }
}

impl Variant {
    fn of(label: &str, line: &Line) -> Variant {
        let s = &line.setting;
        Variant { label: label.into(), flags: s.flags.join(" "), budget_ms: s.budget_ms, binary: s.binary.clone(), tool: line.tool.clone() }
    }
}

impl Crash {
    fn of(label: &str, runs: &[Vec<Run>], lines: &[Line], labels: &[String]) -> Crash {
        let mine = lines.iter().zip(labels).filter(|(_, l)| *l == label).map(|(line, _)| line);
        let all = || runs.iter().flatten();
        Crash {
            label: label.into(),
            best: all().map(|run| run.reached).max().unwrap_or(0),
            target: mine.map(|line| line.outcome.target).max().unwrap_or(0),
            most_evaluations: all().map(|run| run.evaluations).max().unwrap_or(0),
        }
    }
}

/// The name of each line, with a mark where one name stands for several things.
fn labels(lines: &[Line], name: impl Fn(&Line) -> String, what: impl Fn(&Line) -> String) -> Vec<String> {
    let mut meanings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        meanings.entry(name(line)).or_default().insert(what(line));
    }
    let label = |line: &Line| match meanings[&name(line)].len() {
        1 => name(line),
        _ => format!("{}@{}", name(line), &sha256(what(line).as_bytes())[..6]),
    };
    lines.iter().map(label).collect()
}

/// Each once, sorted.
fn distinct(labels: &[String]) -> Vec<String> {
    labels.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values = sorted(values);
    (!values.is_empty()).then(|| quantile(&values, 0.5))
}
