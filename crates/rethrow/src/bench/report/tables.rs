//! The study in words and numbers: Markdown for people, CSV for programs.

use std::fmt::Write as _;

use super::study::{Comparison, Run, Study, median};

/// The p of a difference, and whether it is for the better.
type Judge = fn(&Comparison) -> (f64, bool);

/// Differences with a smaller p are told; the others are counted only.
const SIGNIFICANT: f64 = 0.05;

pub fn markdown(study: &Study) -> String {
    let runs: usize = (0..study.variants.len()).map(|v| study.all_runs(v).count()).sum();
    let mut out = format!("# Benchmark: {}, {}, {runs} runs\n\n", count(study.crashes.len(), "crash", "es"), count(study.variants.len(), "variant", "s"));
    for v in &study.variants {
        let flags = if v.flags.is_empty() { "no flags".into() } else { format!("`{}`", v.flags) };
        let _ = writeln!(out, "* **{}**: {flags}, {} s, rethrow {} ({})", v.label, v.budget_ms as f64 / 1000.0, v.tool, v.binary);
    }
    out += "\nA crash counts where more than half of the runs reach the frame. *Best* is the highest frame that any variant reached in any run; \
            *outermost* is all that fits the program.\n\n";
    out += &overview(study);
    out += "\n![crashes reproduced over time](survival.svg)\n\n![time](time.svg)\n\n![evaluations](evaluations.svg)\n";
    out += &by_crash(study);
    for variant in 1..study.variants.len() {
        out += &against_first(study, variant);
    }
    out + &failures(study)
}

/// One line for each variant.
pub fn overview(study: &Study) -> String {
    let mut out = "| variant | runs | at some frame | at the best frame | at the outermost | median s | median tests | late | errors |\n\
                   |---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for (v, variant) in study.variants.iter().enumerate() {
        let crashes: Vec<usize> = (0..study.crashes.len()).filter(|c| !study.runs(*c, v).is_empty()).collect();
        let mostly = |frame: &dyn Fn(usize) -> usize| {
            let n = crashes.iter().filter(|c| study.mostly(**c, v, frame(**c))).count();
            format!("{n} of {}", crashes.len())
        };
        let reached = || study.all_runs(v).filter(|(_, run)| run.reached > 0);
        let seconds = median(reached().map(|(_, run)| run.wall_ms as f64 / 1000.0));
        let tests = median(reached().map(|(_, run)| run.evaluations as f64));
        let number = |n: Option<f64>, digits: usize| n.map_or("–".into(), |n| format!("{n:.digits$}"));
        let counted = |what: &dyn Fn(&Run) -> bool| study.all_runs(v).filter(|(_, run)| what(run)).count();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            variant.label,
            study.all_runs(v).count(),
            mostly(&|_| 1),
            mostly(&|c| study.crashes[c].best),
            mostly(&|c| study.crashes[c].target),
            number(seconds, 1),
            number(tests, 0),
            counted(&Run::late),
            counted(&|run| run.verdict == "error"),
        );
    }
    out
}

fn by_crash(study: &Study) -> String {
    let names: Vec<&str> = study.variants.iter().map(|v| v.label.as_str()).collect();
    let mut out = format!(
        "\n## Runs that reach the best frame\n\nIn brackets: inner frames, where more runs reach them.\n\n| crash | best frame | {} |\n|---|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for (c, crash) in study.crashes.iter().enumerate() {
        let best = if crash.best == 0 { "–".into() } else { format!("{} of {}", crash.best, crash.target) };
        let cells: Vec<String> = (0..names.len()).map(|v| cell(study, c, v)).collect();
        let _ = writeln!(out, "| {} | {best} | {} |", crash.label, cells.join(" | "));
    }
    out
}

/// `2/3 (1: 3/3)`; bold where others reach the frame and this variant mostly does not.
fn cell(study: &Study, crash: usize, variant: usize) -> String {
    let best = study.crashes[crash].best;
    let (reached, all) = study.ratio(crash, variant, best);
    if all == 0 {
        return String::new();
    }
    let ratio = format!("{reached}/{all}");
    let ratio = if best > 0 && 2 * reached <= all { format!("**{ratio}**") } else { ratio };
    // Frames at which the number changes, outermost last.
    let inner: Vec<String> =
        steps(study, crash, variant).into_iter().filter(|(frame, _)| *frame < best).map(|(frame, n)| format!("{frame}: {n}/{all}")).collect();
    if inner.is_empty() { ratio } else { format!("{ratio} ({})", inner.join(", ")) }
}

/// The highest frame of each different number of runs, where that is not zero.
fn steps(study: &Study, crash: usize, variant: usize) -> Vec<(usize, u64)> {
    let mut frames: Vec<usize> = study.runs(crash, variant).iter().map(|run| run.reached).filter(|n| *n > 0).collect();
    frames.sort_unstable();
    frames.dedup();
    frames.into_iter().map(|frame| (frame, study.ratio(crash, variant, frame).0)).collect()
}

fn against_first(study: &Study, variant: usize) -> String {
    let (name, base) = (&study.variants[variant].label, &study.variants[0].label);
    let pooled = study.pooled(variant);
    let mut out = format!(
        "\n## {name} against {base}\n\nAll runs at the best frame: {} of {} against {} of {}, odds ratio {:.2}, p {}.\n\n",
        pooled.a.0,
        pooled.a.0 + pooled.a.1,
        pooled.b.0,
        pooled.b.0 + pooled.b.1,
        pooled.odds_ratio(),
        p_value(pooled.fisher())
    );
    let all: Vec<(usize, Comparison)> = (0..study.crashes.len()).filter_map(|c| Some((c, study.compare(c, variant)?))).collect();
    let count = |what: &dyn Fn(&Comparison) -> bool| all.iter().filter(|(_, c)| what(c)).count();
    let _ = writeln!(out, "| of {} | {name} better | {base} better | p ≥ {SIGNIFICANT} |\n|---|---|---|---|", self::count(all.len(), "crash", "es"));
    let rows: [(&str, Judge); 3] = [
        ("reproduced more often (Fisher)", |c| (c.fisher, c.odds_ratio > 1.0)),
        ("less time (Wilcoxon)", |c| (c.time.p, c.time.a12 < 0.5)),
        ("fewer tests (Wilcoxon)", |c| (c.evaluations.p, c.evaluations.a12 < 0.5)),
    ];
    for (what, judge) in rows {
        let better = count(&|c| matches!(judge(c), (p, true) if p < SIGNIFICANT));
        let worse = count(&|c| matches!(judge(c), (p, false) if p < SIGNIFICANT));
        let _ = writeln!(out, "| {what} | {better} | {worse} | {} |", all.len() - better - worse);
    }
    let told: Vec<&(usize, Comparison)> = all.iter().filter(|(_, c)| c.fisher.min(c.time.p).min(c.evaluations.p) < SIGNIFICANT).collect();
    if told.is_empty() {
        return out;
    }
    out += "\nWhere they differ (Â12 below 0.5: less than the other):\n\n\
            | crash | frame | odds ratio | p | Â12 time | p | Â12 tests | p |\n|---|---|---|---|---|---|---|---|\n";
    for (crash, c) in told {
        let _ = writeln!(
            out,
            "| {} | {} | {:.2} | {} | {:.2} | {} | {:.2} | {} |",
            study.crashes[*crash].label,
            c.frame,
            c.odds_ratio,
            p_value(c.fisher),
            c.time.a12,
            p_value(c.time.p),
            c.evaluations.a12,
            p_value(c.evaluations.p)
        );
    }
    out
}

/// One line for each crash that a variant mostly does not reproduce at any frame.
fn failures(study: &Study) -> String {
    let mut out = "\n## Not reproduced\n\n".to_string();
    let before = out.len();
    for (c, crash) in study.crashes.iter().enumerate() {
        for (v, variant) in study.variants.iter().enumerate() {
            let failed = study.runs(c, v).iter().find(|run| run.reached == 0);
            if let Some(run) = failed.filter(|_| !study.mostly(c, v, 1)) {
                let note = run.note.as_deref().map(|note| format!(", {note}")).unwrap_or_default();
                let _ = writeln!(out, "* {}, {}: {}{note}", crash.label, variant.label, run.verdict);
            }
        }
    }
    if out.len() == before { String::new() } else { out }
}

pub fn runs_csv(study: &Study) -> String {
    let mut out = "crash,variant,seed,verdict,reached,target,wall_ms,budget_ms,late,evaluations,note\n".to_string();
    for (v, variant) in study.variants.iter().enumerate() {
        for (c, run) in study.all_runs(v) {
            let crash = &study.crashes[c];
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{}",
                crash.label,
                variant.label,
                run.seed,
                run.verdict,
                run.reached,
                crash.target,
                run.wall_ms,
                run.budget_ms,
                u8::from(run.late()),
                run.evaluations,
                csv_cell(run.note.as_deref().unwrap_or_default())
            );
        }
    }
    out
}

/// Every frame at which a ratio changes, and the best one.
pub fn crashes_csv(study: &Study) -> String {
    let mut out = "crash,variant,frame,reproduced,runs,median_ms,median_evaluations\n".to_string();
    for (c, crash) in study.crashes.iter().enumerate() {
        for (v, variant) in study.variants.iter().enumerate().filter(|(v, _)| !study.runs(c, *v).is_empty()) {
            let mut frames: Vec<usize> = steps(study, c, v).into_iter().map(|(frame, _)| frame).chain([crash.best.max(1)]).collect();
            frames.sort_unstable();
            frames.dedup();
            for frame in frames {
                let (reached, all) = study.ratio(c, v, frame);
                let (ms, tests) = (median(study.times(c, v, frame)), median(study.evaluations(c, v, frame)));
                let _ = writeln!(out, "{},{},{frame},{reached},{all},{},{}", crash.label, variant.label, ms.unwrap_or_default(), tests.unwrap_or_default());
            }
        }
    }
    out
}

pub fn comparisons_csv(study: &Study) -> String {
    let mut out = "crash,frame,variant,against,odds_ratio,fisher_p,a12_time,p_time,a12_evaluations,p_evaluations\n".to_string();
    for (v, variant) in study.variants.iter().enumerate().skip(1) {
        for (crash, c) in study.crashes.iter().enumerate().filter_map(|(i, crash)| Some((crash, study.compare(i, v)?))) {
            let _ = writeln!(
                out,
                "{},{},{},{},{:.4},{:.6},{:.4},{:.6},{:.4},{:.6}",
                crash.label, c.frame, variant.label, study.variants[0].label, c.odds_ratio, c.fisher, c.time.a12, c.time.p, c.evaluations.a12, c.evaluations.p
            );
        }
    }
    out
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

fn count(n: usize, one: &str, more: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}{more}") }
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!((csv_cell("a b"), csv_cell("a, \"b\"")), ("a b".into(), "\"a, \"\"b\"\"\"".into()));
    }

    #[test]
    fn tiny_p_values_are_not_zero() {
        assert_eq!((p_value(0.0000001), p_value(0.0286)), ("< 0.001".into(), "0.029".into()));
    }
}
