//! Why a run did not get further, and what its user can do: from what the search counted to sentences.
//!
//! Only what was seen is told. The record keeps it ([`Explanation`]), the closing block prints it.

use rethrow_core::program::{Program, TypeId};
use rethrow_core::search::Evaluator;
use rethrow_core::search::blocked::Obstacle;
use rethrow_core::search::targets::{BuildRules, palette};
use serde::{Deserialize, Serialize};

use crate::align::Aligned;
use crate::config::Config;

/// So many of each kind are told.
const TOLD: usize = 3;

/// See the module documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The level that was not reached: program frames 1 to this.
    pub level: usize,
    pub deepest: Option<Place>,
    /// The frame that no test reached as it should; absent if all were and the exception did not come.
    pub missed: Option<Place>,
    /// Tests that came as far as any.
    pub tests: u64,
    pub predicate: Option<Predicate>,
    /// What those tests threw instead.
    pub instead: Vec<Counted>,
    /// What the jail refused, to any test.
    pub refused: Vec<Counted>,
    pub missing_classes: Vec<String>,
    /// Types that the calls into the frame need and that nothing builds.
    pub unbuilt: Vec<String>,
    /// What the user can do.
    pub next: Vec<String>,
}

/// A frame of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub frame: usize,
    /// `a.B.c:7`
    pub place: String,
}

/// A condition that the line depends on and that no test met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicate {
    pub class: String,
    pub line: Option<u32>,
    pub wanted: String,
    pub held: u64,
    pub failed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub what: String,
    pub times: u64,
}

/// What keeps the search from the level beyond what it reached; `None` if it reached all that was wanted.
pub fn explain(evaluator: &Evaluator<'_>, aligned: &Aligned, rules: &BuildRules, wanted: usize) -> Option<Explanation> {
    let level = evaluator.reached() + 1;
    if level > wanted {
        return None;
    }
    let obstacle = evaluator.tally.blocked.get(level - 1).and_then(|b| b.obstacle(&aligned.program, level));
    let mut told = obstacle.map_or_else(Explanation::default, |obstacle| of_obstacle(obstacle, aligned));
    told.level = level;
    told.refused = commonest(evaluator.tally.refused.clone());
    told.missing_classes = missing_classes(&aligned.program, &evaluator.tally.messages);
    told.unbuilt = unbuilt(aligned, rules, level);
    Some(told)
}

/// What a hunt met instead.
pub fn explain_hunt(evaluator: &Evaluator<'_>, program: &Program, config: &Config) -> Explanation {
    let tally = &evaluator.tally;
    let instead = commonest(tally.crashes.clone());
    let mut told = Explanation { level: 1, tests: evaluator.evaluations(), instead, refused: commonest(tally.refused.clone()), ..Explanation::default() };
    told.missing_classes = missing_classes(program, &tally.messages);
    told.next = advice(&told, config, 0);
    told
}

fn of_obstacle(obstacle: Obstacle, aligned: &Aligned) -> Explanation {
    let place = |number: usize| {
        let frame = &aligned.goal.frame(number).frame;
        let line = frame.line.map(|l| format!(":{l}")).unwrap_or_default();
        Place { frame: number, place: format!("{}.{}{line}", frame.class, frame.method) }
    };
    let predicate = obstacle.predicate.map(|p| Predicate { class: p.class, line: p.line, wanted: p.wanted, held: p.held, failed: p.failed });
    Explanation {
        deepest: obstacle.deepest.map(place),
        missed: obstacle.missed.map(place),
        tests: obstacle.executions,
        predicate,
        instead: commonest(obstacle.instead),
        ..Explanation::default()
    }
}

fn commonest(mut counts: Vec<(String, u64)>) -> Vec<Counted> {
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    counts.into_iter().take(TOLD).map(|(what, times)| Counted { what, times }).collect()
}

/// Names of classes that were looked for in vain, and that the program itself names: a test that invents a name finds no class either.
fn missing_classes(program: &Program, messages: &[(String, Vec<String>)]) -> Vec<String> {
    let of = |exception: &'static str| messages.iter().filter(move |(e, _)| e == exception).flat_map(|(_, messages)| messages);
    // the message may also tell of an initialiser that failed
    let unlinked = of("java.lang.NoClassDefFoundError").filter(|m| !m.is_empty() && !m.contains(' '));
    let unloaded = of("java.lang.ClassNotFoundException").filter(|m| program.find_mentioned(m).is_some());
    let mut names: Vec<String> = unlinked.chain(unloaded).map(|m| m.replace('/', ".")).collect();
    names.sort();
    names.dedup();
    names.truncate(TOLD);
    names
}

/// Types of receivers and parameters of the calls into the frame for which there is neither a constructor nor a method.
fn unbuilt(aligned: &Aligned, rules: &BuildRules, level: usize) -> Vec<String> {
    let program = &aligned.program;
    let palette = palette(program, &aligned.goal, level, rules);
    let mut types: Vec<TypeId> = Vec::new();
    for target in &palette.targets {
        let params = program.signature(target.method).params.iter().filter(|ty| !ty.is_array() && **ty != program.well_known().string);
        types.extend(params.filter_map(|ty| ty.as_ref()));
    }
    types.sort_unstable();
    types.dedup();
    let named = types.into_iter().filter(|t| palette.producers(*t).is_empty()).map(|t| program.type_name(t).to_string());
    named.take(TOLD).collect()
}

/// What the user can do, the likeliest help first.
pub fn advice(told: &Explanation, config: &Config, reached: usize) -> Vec<String> {
    let mut next = Vec::new();
    if !told.missing_classes.is_empty() {
        next.push(format!("add the jar with {} to --classpath", told.missing_classes.join(", ")));
    }
    // one test in a thousand that wanders off is chance, not a need of the program
    if told.refused.iter().any(|r| r.what.contains("Permission denied") && r.times.saturating_mul(100) >= told.tests) {
        next.push("let the program read what it needs: --allow-read DIR".into());
    }
    if config.max_evaluations.is_none() {
        next.push(format!("more time: --budget {}", longer(config.budget_ms)));
    }
    next.push(format!("other chance: --seed {}", config.seed.wrapping_add(1)));
    if reached == 0 && config.target_frame.is_none_or(|n| n > 1) && told.level > 1 {
        next.push("fewer frames: --target-frame 1".into());
    }
    next
}

/// Five times as much, in whole minutes.
fn longer(budget_ms: u64) -> String {
    format!("{}m", (budget_ms.saturating_mul(5)).div_ceil(60_000).clamp(1, 7 * 24 * 60))
}

impl Explanation {
    /// The rows of the closing block.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if let Some(deepest) = &self.deepest {
            let times = if self.missed.is_none() { format!(", reached by {} tests", self.tests) } else { String::new() };
            rows.push(("deepest", format!("frame {} {}{times}", deepest.frame, deepest.place)));
        }
        if let Some(missed) = &self.missed {
            rows.push(("missed", format!("frame {} {}, by the {} tests that came nearest", missed.frame, missed.place, self.tests)));
        }
        if let Some(p) = &self.predicate {
            let line = p.line.map(|l| format!(":{l}")).unwrap_or_default();
            rows.push(("blocked", format!("never true at {}{line}: {}  ({} of {} times)", p.class, p.wanted, p.held, p.held + p.failed)));
        }
        if !self.instead.is_empty() {
            rows.push(("instead", counted(&self.instead)));
        }
        if !self.refused.is_empty() {
            rows.push(("refused", format!("in the sandbox: {}", counted(&self.refused))));
        }
        if !self.missing_classes.is_empty() {
            rows.push(("missing", format!("classes {}", self.missing_classes.join(", "))));
        }
        if !self.unbuilt.is_empty() {
            rows.push(("unbuilt", format!("nothing makes a {}", self.unbuilt.join(", a "))));
        }
        rows
    }
}

fn counted(all: &[Counted]) -> String {
    all.iter().map(|c| format!("{} ({}x)", c.what, c.times)).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_classes_are_named_with_dots_and_failed_initialisers_and_invented_names_are_not() {
        let program = rethrow_core::toy::load("").unwrap();
        let messages = |e: &str, m: &[&str]| (e.to_string(), m.iter().map(|m| m.to_string()).collect::<Vec<_>>());
        let all = [
            messages("java.lang.NoClassDefFoundError", &["org/x/Y", "Could not initialize class a.B"]),
            messages("java.lang.ClassNotFoundException", &["org.x.Y", "a.Z"]),
            messages("java.lang.IllegalStateException", &["a/b"]),
        ];
        assert_eq!(missing_classes(&program, &all), ["org.x.Y"]);
    }

    #[test]
    fn reading_is_advised_only_where_it_is_refused_often() {
        use clap::Parser;
        let cli = crate::cli::Cli::try_parse_from(["rethrow", "reproduce", "x"]).unwrap();
        let crate::cli::Command::Reproduce(args) = cli.command else { panic!("another command") };
        let config = Config::resolve(args, crate::config::Host::default()).unwrap();
        let refused = |times| vec![Counted { what: "java.io.FileNotFoundException: /x (Permission denied)".into(), times }];
        for (times, advised) in [(1, false), (500, true)] {
            let told = Explanation { tests: 1000, refused: refused(times), ..Explanation::default() };
            assert_eq!(advice(&told, &config, 0).iter().any(|a| a.contains("--allow-read")), advised);
        }
    }

    #[test]
    fn a_predicate_is_told_with_its_line_and_counts() {
        let predicate = Predicate { class: "a.B".into(), line: Some(39), wanted: "this.isActive() is true".into(), held: 0, failed: 3120 };
        let missed = Place { frame: 2, place: "a.B.c:41".into() };
        let deepest = Place { frame: 3, place: "a.C.d:7".into() };
        let told = Explanation { deepest: Some(deepest), missed: Some(missed), tests: 3120, predicate: Some(predicate), ..Explanation::default() };
        let rows = told.rows();
        assert_eq!(rows[0], ("deepest", "frame 3 a.C.d:7".to_string()));
        assert_eq!(rows[1], ("missed", "frame 2 a.B.c:41, by the 3120 tests that came nearest".to_string()));
        assert_eq!(rows[2], ("blocked", "never true at a.B:39: this.isActive() is true  (0 of 3120 times)".to_string()));
    }
}
