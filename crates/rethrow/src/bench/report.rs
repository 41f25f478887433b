//! `rethrow bench report`: what the results files say about each variant, as tables (Markdown, CSV) and plots (SVG).
//!
//! Reads and writes files; the sums are in `study`, the words in `tables`, the drawings in `plots`.

pub mod plots;
mod study;
mod tables;

use std::collections::BTreeSet;

use study::Study;

use super::results;
use crate::cli::BenchReportArgs;
use crate::config::Host;
use crate::error::UserError;
use crate::record::write_atomically;
use crate::report::{complain, say, short};

pub fn run(args: &BenchReportArgs, host: &Host) -> Result<u8, UserError> {
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    for path in args.results.iter().map(|path| host.cwd.join(path)) {
        let (found, odd) = results::read(&path)?;
        if odd > 0 {
            complain(&format!("{}: {odd} lines are not whole results and are left out\n", path.display()));
        }
        // The same run may be in two files.
        lines.extend(found.into_iter().filter(|line| seen.insert(line.key.clone())));
    }
    if lines.is_empty() {
        return Err(UserError::BenchInput { path: args.results[0].clone(), why: "has no results".into() });
    }
    let baseline = args.baseline.as_deref().unwrap_or("default");
    let study = Study::of(&lines, baseline);
    if args.baseline.is_some() && !study.variants.iter().any(|variant| variant.label == baseline) {
        let known: Vec<&str> = study.variants.iter().map(|variant| variant.label.as_str()).collect();
        return Err(UserError::BadFlags { why: format!("there is no variant {baseline} among {}", known.join(", ")) });
    }
    let out = host.cwd.join(&args.out);
    for (name, text) in files(&study) {
        let path = out.join(name);
        write_atomically(&path, text.as_bytes()).map_err(|e| UserError::RunDirUnusable { path, why: e.to_string() })?;
    }
    say(&tables::overview(&study));
    say(&format!("\n{}\n", short(&out.join("report.md"), &host.cwd)));
    Ok(0)
}

/// All files of the report.
fn files(study: &Study) -> [(&'static str, String); 7] {
    [
        ("report.md", tables::markdown(study)),
        ("runs.csv", tables::runs_csv(study)),
        ("crashes.csv", tables::crashes_csv(study)),
        ("comparisons.csv", tables::comparisons_csv(study)),
        ("time.svg", plots::boxes(study, plots::Cost::Seconds)),
        ("evaluations.svg", plots::boxes(study, plots::Cost::Evaluations)),
        ("survival.svg", plots::survival(study)),
    ]
}

#[cfg(test)]
mod tests {
    use super::results::tests::setting;
    use super::results::{Line, Outcome};
    use super::*;

    fn line(crash: &str, variant: &str, seed: u64, (reached, wall_ms, evaluations): (usize, u64, u64)) -> Line {
        let verdict = if reached > 0 { "reproduced" } else { "not_reproduced" }.to_string();
        let note = (reached == 0).then(|| "not reached: a.B.c:7".to_string());
        Line::new(setting(crash, variant, seed), Outcome { exit: Some(0), verdict, reached, target: 3, total: 4, evaluations, wall_ms, search_ms: 1, note })
    }

    /// A is easy for both; B only `new` reproduces, to frame 2 of 3; C nobody does.
    fn lines() -> Vec<Line> {
        let mut lines = Vec::new();
        for seed in 1..=4 {
            let slow = 1000 * seed;
            lines.push(line("A", "old", seed, (3, 2000 + slow, 400)));
            lines.push(line("A", "new", seed, (3, 1000 + slow / 10, 100)));
            lines.push(line("B", "old", seed, (usize::from(seed == 1), 9000, 900)));
            lines.push(line("B", "new", seed, (2, 4000 + slow, 500)));
            lines.push(line("C", "old", seed, (0, 10_000, 1000)));
            lines.push(line("C", "new", seed, (0, 10_000, 1500)));
        }
        lines
    }

    fn file(study: &Study, name: &str) -> String {
        files(study).into_iter().find(|(n, _)| *n == name).unwrap().1
    }

    #[test]
    fn the_tables_of_a_small_study() {
        let study = Study::of(&lines(), "old");
        let text = file(&study, "report.md");
        for part in [
            "# Benchmark: 3 crashes, 2 variants, 24 runs",
            "| old | 12 | 1 of 3 | 1 of 3 | 1 of 3 | 5.0 | 400 | 0 | 0 |",
            "| new | 12 | 2 of 3 | 2 of 3 | 1 of 3 | 3.2 | 300 | 0 | 0 |",
            "| A | 3 of 3 | 4/4 | 4/4 |",
            "| B | 2 of 3 | **0/4** (1: 1/4) | 4/4 |",
            "| C | – | 0/4 | 0/4 |",
            "## new against old",
            "| B | 2 | 81.00 | 0.029 | 0.00 | 0.021 |",
            "* C, old: not_reproduced, not reached: a.B.c:7",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
    }

    #[test]
    fn failed_runs_cost_the_whole_budget() {
        let csv = file(&Study::of(&lines(), "old"), "crashes.csv");
        // Frame 2 of B: `old` never got there, so it cost the ten seconds and what anybody spent on B.
        assert!(csv.contains("B,old,2,0,4,10000,900\n") && csv.contains("B,old,1,1,4,10000,900\n"), "{csv}");
        assert!(csv.contains("B,new,2,4,4,6500,500\n"), "{csv}");
    }

    #[test]
    fn comparisons_have_effect_and_significance() {
        let csv = file(&Study::of(&lines(), "old"), "comparisons.csv");
        let row = csv.lines().find(|l| l.starts_with("A,")).unwrap();
        // Equal odds; `new` is always faster: Â12 0, and the smallest p that four against four can have.
        assert_eq!(row, "A,3,new,old,1.0000,1.000000,0.0000,0.028571,0.0000,0.013124");
    }

    #[test]
    fn results_of_other_inputs_are_kept_apart() {
        let mut lines = lines();
        let mut other = lines[0].clone();
        other.setting.binary = "another".into();
        lines.push(other);
        let mut changed = lines[1].clone();
        changed.setting.inputs[0] = "another log".into();
        lines.push(changed);
        let study = Study::of(&lines, "old");
        assert_eq!(study.variants.len(), 3);
        assert!(study.variants.iter().filter(|v| v.label.starts_with("old@")).count() == 2 && study.variants.iter().any(|v| v.label == "new"));
        assert_eq!(study.crashes.iter().filter(|c| c.label.starts_with("A@")).count(), 2);
    }

    #[test]
    fn the_order_is_not_that_of_the_file() {
        let order = |baseline: &str| Study::of(&lines(), baseline).variants.iter().map(|v| v.label.clone()).collect::<Vec<_>>();
        assert_eq!((order("old"), order("default")), (vec!["old".into(), "new".into()], vec!["new".to_string(), "old".to_string()]));
    }

    #[test]
    fn the_plots_show_every_variant() {
        let study = Study::of(&lines(), "old");
        for name in ["time.svg", "evaluations.svg", "survival.svg"] {
            let svg = file(&study, name);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains(">old</text>") && svg.contains(">new</text>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        // Of the 12 runs of `new`, 8 reproduced something in the end.
        assert!(file(&study, "survival.svg").contains("8 of 12"));
    }
}
