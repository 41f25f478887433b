//! The study in drawings: box plots of the costs, and how many runs had reproduced their crash after how long. Plain SVG.

use std::fmt::Write as _;

use super::super::statistics::{quantile, sorted};
use super::study::Study;

pub const WIDTH: f64 = 720.0;
/// Room for the names of the variants and the numbers of the axis.
const LEFT: f64 = 150.0;
const RIGHT: f64 = 110.0;
const ROW: f64 = 40.0;
pub const COLORS: [&str; 8] = ["#1b6ca8", "#d1495b", "#2e8b57", "#e08e0b", "#6a4c93", "#5c677d", "#00798c", "#8d5524"];

/// What a run costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Seconds,
    Evaluations,
}

/// A scale from values to places, starting at zero.
struct Axis {
    greatest: f64,
}

impl Axis {
    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (value / self.greatest).clamp(0.0, 1.0)
    }

    /// Five round values or so.
    fn ticks(&self) -> Vec<f64> {
        let rough = self.greatest / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough).unwrap_or(rough);
        (0..=10).map(|n| f64::from(n) * step).take_while(|value| *value <= self.greatest * 1.0001).collect()
    }

    fn draw(&self, bottom: f64, title: &str) -> String {
        let mut out = String::new();
        for value in self.ticks() {
            let x = self.x(value);
            let _ = write!(out, "<line x1=\"{x:.1}\" y1=\"30\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#ddd\"/>");
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>", bottom + 16.0);
        }
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{title}</text>", (LEFT + WIDTH - RIGHT) / 2.0, bottom + 34.0);
        out
    }
}

/// All runs of each variant at the best frame of their crash; failed ones cost the whole budget.
pub fn boxes(study: &Study, cost: Cost) -> String {
    let values: Vec<Vec<f64>> = (0..study.variants.len())
        .map(|v| {
            let of = |c: usize| match cost {
                Cost::Seconds => study.times(c, v, study.crashes[c].best).into_iter().map(|ms| ms / 1000.0).collect(),
                Cost::Evaluations => study.evaluations(c, v, study.crashes[c].best),
            };
            sorted((0..study.crashes.len()).flat_map(of))
        })
        .collect();
    let axis = Axis { greatest: values.iter().flatten().copied().fold(1.0, f64::max) };
    let bottom = 40.0 + ROW * values.len() as f64;
    let (title, unit) = match cost {
        Cost::Seconds => ("Time to the best frame", "seconds; failed runs count as the whole budget"),
        Cost::Evaluations => ("Executed tests to the best frame", "tests; failed runs count as the most that any run of the crash executed"),
    };
    let mut body = axis.draw(bottom, unit);
    for (v, values) in values.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
        body += &one_box(&axis, values, (v, &study.variants[v].label));
    }
    svg(title, bottom + 50.0, &body)
}

fn one_box(axis: &Axis, values: &[f64], (row, name): (usize, &str)) -> String {
    let middle = 40.0 + ROW * (row as f64 + 0.5);
    let at = |part: f64| axis.x(quantile(values, part));
    let (low, q1, median, q3, high) = (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0));
    let color = COLORS[row % COLORS.len()];
    let (top, height) = (middle - 11.0, 22.0);
    let mut out = format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", LEFT - 10.0, middle + 4.0, escaped(name));
    let _ = write!(out, "<line x1=\"{low:.1}\" y1=\"{middle:.1}\" x2=\"{high:.1}\" y2=\"{middle:.1}\" stroke=\"{color}\"/>");
    let _ = write!(out, "<rect x=\"{q1:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height}\" fill=\"#fff\" stroke=\"{color}\"/>", (q3 - q1).max(1.0));
    let _ = write!(out, "<line x1=\"{median:.1}\" y1=\"{top:.1}\" x2=\"{median:.1}\" y2=\"{:.1}\" stroke=\"{color}\" stroke-width=\"3\"/>", top + height);
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{:.1}</text>", WIDTH - RIGHT + 8.0, middle + 4.0, quantile(values, 0.5));
    out
}

/// How many runs of each variant had reproduced their crash (at any frame) after how long.
pub fn survival(study: &Study) -> String {
    let budget = study.variants.iter().map(|v| v.budget_ms as f64 / 1000.0).fold(1.0, f64::max);
    let axis = Axis { greatest: budget };
    let (top, bottom) = (40.0, 320.0);
    let y = |part: f64| bottom - (bottom - top) * part;
    let mut body = axis.draw(bottom, "seconds");
    for percent in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>", LEFT - 8.0, y(percent) + 4.0, percent * 100.0);
    }
    for (v, variant) in study.variants.iter().enumerate() {
        let all = study.all_runs(v).count();
        let found = sorted(study.all_runs(v).filter(|(_, run)| run.reached > 0).map(|(_, run)| run.wall_ms as f64 / 1000.0));
        let part = |n: usize| n as f64 / all.max(1) as f64;
        let mut path = format!("M{:.1} {:.1}", axis.x(0.0), y(0.0));
        for (n, seconds) in found.iter().enumerate() {
            let _ = write!(path, " H{:.1} V{:.1}", axis.x(*seconds), y(part(n + 1)));
        }
        let _ = write!(path, " H{:.1}", axis.x(budget));
        let color = COLORS[v % COLORS.len()];
        let _ = writeln!(body, "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>");
        let line = top + 16.0 * v as f64;
        let _ = write!(body, "<text x=\"10\" y=\"{line:.1}\" fill=\"{color}\">{}</text>", escaped(&variant.label));
        let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{line:.1}\" fill=\"{color}\">{} of {all}</text>", WIDTH - RIGHT + 8.0, found.len());
    }
    svg("Crashes reproduced over time", bottom + 50.0, &body)
}

pub fn svg(title: &str, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">{title}</text>\n{body}</svg>\n"
    )
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_few_round_ticks() {
        for greatest in [1.0, 7.3, 60.0, 61.9, 12345.0] {
            let ticks = Axis { greatest }.ticks();
            assert!((3..=6).contains(&ticks.len()), "{greatest}: {ticks:?}");
        }
        assert_eq!(Axis { greatest: 60.0 }.ticks(), [0.0, 20.0, 40.0, 60.0]);
    }
}
