//! What the runs of `bench generate` say: tables (Markdown, CSV) and bars like those of the paper (SVG). Pure functions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::report::plots::{COLORS, WIDTH, escaped, svg};
use super::super::results::Line;
use super::super::suite::csv_row;
use super::Generated;

const BAR: f64 = 9.0;
const GAP: f64 = 14.0;
const LEFT: f64 = 160.0;
const RIGHT: f64 = 150.0;

/// Means over seeds, of one extent (`jar`, `classes`).
struct Study<'l> {
    extent: &'l str,
    libraries: Vec<&'l str>,
    variants: Vec<&'l str>,
    runs: BTreeMap<(&'l str, &'l str), Vec<&'l Generated>>,
}

/// All files of the report. `peers` is a table of other tools, or empty.
pub fn files(lines: &[Line<Generated>], peers: &str) -> Vec<(String, String)> {
    let mut page = "# What generated suites cover\n\nCounted by JaCoCo over the written test files, in per cent; means over the seeds.\n".to_string();
    let mut out = Vec::new();
    for extent in ["jar", "classes"] {
        let study = Study::of(lines, extent);
        if study.libraries.is_empty() {
            continue;
        }
        page += &study.markdown(peers);
        out.push((format!("branches-{extent}.svg"), study.bars()));
    }
    out.push(("coverage.md".into(), page));
    out.push(("coverage.csv".into(), csv(lines)));
    out
}

impl<'l> Study<'l> {
    fn of(lines: &'l [Line<Generated>], extent: &'l str) -> Study<'l> {
        let mut study = Study { extent, libraries: Vec::new(), variants: Vec::new(), runs: BTreeMap::new() };
        for line in lines {
            let Some((library, kind)) = line.setting.crash.split_once('/') else { continue };
            if kind != extent {
                continue;
            }
            let variant = line.setting.variant.as_str();
            if !study.libraries.contains(&library) {
                study.libraries.push(library);
            }
            if !study.variants.contains(&variant) {
                study.variants.push(variant);
            }
            study.runs.entry((library, variant)).or_default().push(&line.outcome);
        }
        study
    }

    fn mean(&self, library: &'l str, variant: &'l str, of: impl Fn(&Generated) -> f64) -> Option<f64> {
        let runs = self.runs.get(&(library, variant))?;
        Some(runs.iter().map(|r| of(r)).sum::<f64>() / runs.len() as f64)
    }

    /// Over the libraries that both have.
    fn against(&self, variant: &'l str, base: &'l str) -> Option<f64> {
        let branch = |library, variant| self.mean(library, variant, |g| g.counted.branch.percent());
        let ratios: Vec<f64> = self.libraries.iter().filter_map(|l| Some(branch(l, variant)? / branch(l, base).filter(|b| *b > 0.0)?)).collect();
        (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
    }

    fn markdown(&self, peers: &str) -> String {
        let what = if self.extent == "jar" { "Whole jar" } else { "The listed classes" };
        let mut out = format!("\n## {what}\n");
        let (peer_names, peer_rows) = peers_of(peers);
        out += &self.table("Branches", &|g| g.counted.branch.percent(), (&peer_names, &peer_rows));
        if self.variants.contains(&"none") {
            out += "\nBranches against `none`, mean of the libraries' ratios:";
            for variant in self.variants.iter().filter(|v| **v != "none") {
                if let Some(ratio) = self.against(variant, "none") {
                    let _ = write!(out, " {variant} {:+.1} %;", 100.0 * (ratio - 1.0));
                }
            }
            out = out.trim_end_matches(';').to_string() + ".\n";
        }
        out += &self.table("Instructions", &|g| g.counted.instruction.percent(), (&[], &BTreeMap::new()));
        if self.runs.values().flatten().any(|g| g.counted.mutation.is_some()) {
            out += &self.mutants().table("Mutants noticed", &|g| g.counted.mutation.unwrap_or_default().percent(), (&[], &BTreeMap::new()));
        }
        out + &self.table("Seconds", &|g| g.wall_ms as f64 / 1000.0, (&[], &BTreeMap::new()))
    }

    /// Those runs alone whose mutants were counted.
    fn mutants(&self) -> Study<'l> {
        let mut runs = self.runs.clone();
        runs.retain(|_, of| {
            of.retain(|g| g.counted.mutation.is_some());
            !of.is_empty()
        });
        let libraries = self.libraries.iter().filter(|l| runs.keys().any(|(of, _)| of == *l)).copied().collect();
        Study { extent: self.extent, libraries, variants: self.variants.clone(), runs }
    }

    fn table(&self, title: &str, of: &dyn Fn(&Generated) -> f64, (peer_names, peers): (&[String], &BTreeMap<String, Vec<String>>)) -> String {
        let head = self.variants.iter().map(|v| v.to_string()).chain(peer_names.iter().cloned()).collect::<Vec<_>>();
        let mut out = format!("\n{title}:\n\n| library | {} |\n|---|{}\n", head.join(" | "), "--:|".repeat(head.len()));
        for library in &self.libraries {
            let mut cells: Vec<String> = self.variants.iter().map(|v| self.mean(library, v, of).map_or("–".into(), |m| format!("{m:.1}"))).collect();
            cells.extend((0..peer_names.len()).map(|i| peers.get(*library).and_then(|p| p.get(i)).cloned().unwrap_or_else(|| "–".into())));
            let _ = writeln!(out, "| {library} | {} |", cells.join(" | "));
        }
        out
    }

    /// A group of bars for each library, a bar for each variant.
    fn bars(&self) -> String {
        let group = BAR * self.variants.len() as f64 + GAP;
        let (top, scale) = (40.0, (WIDTH - LEFT - RIGHT) / 100.0);
        let bottom = top + group * self.libraries.len() as f64;
        let mut body = String::new();
        for percent in [0, 25, 50, 75, 100] {
            let x = LEFT + scale * f64::from(percent);
            let _ = write!(body, "<line x1=\"{x:.1}\" y1=\"30\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#ddd\"/>");
            let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{percent} %</text>", bottom + 16.0);
        }
        for (l, library) in self.libraries.iter().enumerate() {
            let start = top + group * l as f64;
            let middle = start + (group - GAP) / 2.0 + 4.0;
            let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>", LEFT - 8.0, escaped(library));
            for (v, variant) in self.variants.iter().enumerate() {
                let Some(mean) = self.mean(library, variant, |g| g.counted.branch.percent()) else { continue };
                let (y, width, color) = (start + BAR * v as f64, scale * mean, COLORS[v % COLORS.len()]);
                let _ = writeln!(body, "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{color}\"/>", BAR - 1.0);
            }
        }
        for (v, variant) in self.variants.iter().enumerate() {
            let (x, y, color) = (WIDTH - RIGHT + 12.0, top + 16.0 * (v as f64 + 0.5), COLORS[v % COLORS.len()]);
            let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{color}\">{}</text>", escaped(variant));
        }
        svg(&format!("Branch coverage by library and variant ({})", self.extent), bottom + 30.0, &body)
    }
}

/// The columns of a table of other tools, and its rows by library.
fn peers_of(text: &str) -> (Vec<String>, BTreeMap<String, Vec<String>>) {
    let mut rows = text.lines().map(csv_row);
    let names = rows.next().unwrap_or_default().into_iter().skip(1).collect();
    let rows = rows.filter(|row| !row[0].is_empty()).map(|mut row| {
        let rest = row.split_off(1);
        (row.remove(0), rest.into_iter().map(|c| if c.is_empty() { "–".into() } else { c }).collect())
    });
    (names, rows.collect())
}

fn csv(lines: &[Line<Generated>]) -> String {
    let mut out = "subject,variant,seed,budget_ms,wall_ms,branch,instruction,tests_run,calls,worker_cpu_ms,restarts,regression,error,dropped,failed,mutation\n"
        .to_string();
    for Line { setting: s, outcome: g, .. } in lines {
        let (branch, instruction) = (g.counted.branch.percent(), g.counted.instruction.percent());
        let mutation = g.counted.mutation.map(|share| format!("{:.1}", share.percent())).unwrap_or_default();
        let _ = writeln!(
            out,
            "{},{},{},{},{},{branch:.1},{instruction:.1},{},{},{},{},{},{},{},{},{mutation}",
            s.crash,
            s.variant,
            s.seed,
            s.budget_ms,
            g.wall_ms,
            g.tests,
            g.calls,
            g.worker_cpu_ms,
            g.restarts,
            g.regression,
            g.error,
            g.counted.dropped,
            g.counted.failed
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::results::tests::setting;
    use super::super::measure::{Counted, Share};
    use super::*;

    fn line(subject: &str, variant: &str, seed: u64, covered: u64) -> Line<Generated> {
        let counted = Counted { branch: Share { covered, missed: 100 - covered }, ..Counted::default() };
        Line::new(setting(subject, variant, seed), Generated { counted, wall_ms: 30_000, ..Generated::default() })
    }

    #[test]
    fn means_and_ratios_of_a_small_study() {
        let lines =
            [line("a/jar", "all", 1, 60), line("a/jar", "all", 2, 50), line("a/jar", "none", 1, 50), line("b/jar", "all", 1, 30), line("b/jar", "none", 1, 20)];
        let files: BTreeMap<String, String> = files(&lines, "subject,other\na,12.5\n").into_iter().collect();
        let page = &files["coverage.md"];
        for part in [
            "| library | all | none | other |",
            "| a | 55.0 | 50.0 | 12.5 |",
            "| b | 30.0 | 20.0 | – |",
            "against `none`, mean of the libraries' ratios: all +30.0 %.",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        assert!(!files.contains_key("branches-classes.svg"));
        assert_eq!(files["branches-jar.svg"].matches("<rect x=").count(), 4);
        assert!(files["coverage.csv"].contains("a/jar,all,2,10000,30000,50.0,0.0,"));
    }
}
