//! Beacon's three experiments (BCN-9) with the published configuration and with the default, beside the published figures (BCN-10).
//!
//! Each run is a `rethrow hunt` of its own, at most 500 generations of 64 tests, and is counted only if a fresh interpreter confirmed the written test.
//! Packages come into environments in the cache, as for suites.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::fetch;
use super::machine::Machine;
use crate::cli::BeaconArgs;
use crate::config::Host;
use crate::error::UserError;
use crate::record::{RunRecord, Verdict, write_atomically};
use crate::report::{complain, say};

/// One of the paper's experiments, and what it reports: PC1 to PC4.
struct Experiment {
    name: &'static str,
    module: &'static str,
    packages: &'static str,
    flags: &'static [&'static str],
    target: &'static str,
    time_ms: f64,
    generations: f64,
    lines: f64,
    accuracy: f64,
}

const EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        name: "A",
        module: "list_reduction",
        packages: "",
        flags: &["--exception", "AttributeError"],
        target: "list_reduction: AttributeError",
        time_ms: 105.31,
        generations: 4.09,
        lines: 2.06,
        accuracy: 93.75,
    },
    Experiment {
        name: "B",
        module: "numpy",
        packages: "numpy==1.26.4\n",
        flags: &["--message", "buffer size"],
        target: "numpy: \"buffer size\"",
        time_ms: 149.04,
        generations: 3.97,
        lines: 1.13,
        accuracy: 100.0,
    },
    Experiment {
        name: "C",
        module: "yaml",
        packages: "pyyaml==6.0.1\n",
        flags: &["--exception", "yaml.scanner.ScannerError", "--message", "while scanning an anchor", "--function", "compose"],
        target: "yaml: ScannerError \"while scanning an anchor\" through compose",
        time_ms: 9043.39,
        generations: 265.66,
        lines: 1.13,
        accuracy: 71.88,
    },
];

const LIST_REDUCTION: &str = include_str!("../../../../bench/beacon/list_reduction.py");
/// 64 tests of the first generation and of 500 more.
const MAX_EVALUATIONS: u64 = 64 * 501;
const INTERRUPTED: u8 = 130;

struct Job {
    experiment: usize,
    preset: &'static str,
    seed: u64,
    python: PathBuf,
}

/// What one run showed.
struct Line {
    experiment: usize,
    preset: &'static str,
    seed: u64,
    found: bool,
    search_ms: u64,
    total_ms: u64,
    generations: u64,
    evaluations: u64,
    lines: usize,
}

pub fn run(args: &BeaconArgs, host: &Host) -> Result<u8, UserError> {
    let scratch = Folder::create()?;
    let module = scratch.0.join("modules");
    let failed = |path: &Path, e: std::io::Error| UserError::RunDirUnusable { path: path.to_path_buf(), why: e.to_string() };
    write_atomically(&module.join("list_reduction.py"), LIST_REDUCTION.as_bytes()).map_err(|e| failed(&module, e))?;
    let jobs = plan(args, host)?;
    let total = jobs.len();
    let (queue, done) = (Mutex::new(jobs), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for number in 0..args.jobs {
            let (queue, done, module, dir) = (&queue, &done, &module, scratch.0.join(number.to_string()));
            scope.spawn(move || work(queue, done, module, &dir, (host, args, total)));
        }
    });
    if host.interrupted.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    let mut lines = done.into_inner().unwrap_or_default();
    lines.sort_by_key(|l: &Line| (l.experiment, l.preset, l.seed));
    let (table, csv) = (table(&lines, host), csv(&lines));
    let out = host.cwd.join(&args.out);
    for (name, text) in [("beacon.md", &table), ("beacon.csv", &csv)] {
        write_atomically(&out.join(name), text.as_bytes()).map_err(|e| failed(&out, e))?;
    }
    say(&table);
    Ok(0)
}

fn plan(args: &BeaconArgs, host: &Host) -> Result<VecDeque<Job>, UserError> {
    let cache = host.cache.as_ref().ok_or_else(|| bad("there is no folder for a cache; set RETHROW_CACHE"))?;
    let mut jobs = VecDeque::new();
    for (experiment, e) in EXPERIMENTS.iter().enumerate() {
        if !args.experiments.is_empty() && !args.experiments.iter().any(|name| name.eq_ignore_ascii_case(e.name)) {
            continue;
        }
        let python = fetch::environment(e.packages, cache, host).map_err(|why| bad(&why))?;
        for preset in ["default", "beacon"] {
            if args.preset.as_deref().is_none_or(|p| p == preset) {
                jobs.extend((1..=args.seeds).map(|seed| Job { experiment, preset, seed, python: python.clone() }));
            }
        }
    }
    if jobs.is_empty() { Err(bad("the experiments are A, B and C, the presets default and beacon")) } else { Ok(jobs) }
}

fn bad(why: &str) -> UserError {
    UserError::BadFlags { why: why.into() }
}

fn work(queue: &Mutex<VecDeque<Job>>, done: &Mutex<Vec<Line>>, module: &Path, dir: &Path, (host, args, total): (&Host, &BeaconArgs, usize)) {
    loop {
        let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
        let Some(job) = next.filter(|_| !host.interrupted.load(Ordering::Relaxed)) else { return };
        let line = hunt(&job, module, dir, args);
        let _ = std::fs::remove_dir_all(dir);
        let Ok(mut done) = done.lock() else { return };
        let e = &EXPERIMENTS[job.experiment];
        let verdict = if line.found { "found" } else { "not found" };
        complain(&format!(
            "{}/{total}  {} {} seed {}: {verdict} after {} generations, {} ms\n",
            done.len() + 1,
            e.name,
            job.preset,
            job.seed,
            line.generations,
            line.search_ms
        ));
        done.push(line);
    }
}

/// One run; one that could not even be started found nothing.
fn hunt(job: &Job, module: &Path, dir: &Path, args: &BeaconArgs) -> Line {
    let e = &EXPERIMENTS[job.experiment];
    let mut line = Line {
        experiment: job.experiment,
        preset: job.preset,
        seed: job.seed,
        found: false,
        search_ms: 0,
        total_ms: 0,
        generations: 0,
        evaluations: 0,
        lines: 0,
    };
    let Ok(binary) = crate::commands::jail::own_executable() else { return line };
    let mut command = Command::new(binary);
    command.args(["hunt", "--module", e.module, "--preset", job.preset, "--confirm-runs", "1", "--quiet", "--workers", "1"]).args(e.flags);
    command.arg("--python").arg(&job.python).args(["--seed", &job.seed.to_string(), "--max-evaluations", &MAX_EVALUATIONS.to_string()]);
    command.args(["--budget", &format!("{}ms", args.budget.as_millis()), "--run-dir"]).arg(dir);
    if e.packages.is_empty() {
        command.arg("--source").arg(module);
    }
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let Ok(record) = RunRecord::read(dir) else { return line };
    line.found = record.verdict == Verdict::Reproduced;
    (line.search_ms, line.total_ms) = (record.elapsed_ms.search, record.elapsed_ms.total);
    (line.generations, line.evaluations) = (record.stats.generations, record.evaluations);
    line.lines = record.test.and_then(|test| std::fs::read_to_string(test).ok()).map_or(0, |text| statements(&text));
    line
}

/// Lines of the test function.
fn statements(text: &str) -> usize {
    let body = text.lines().skip_while(|line| !line.starts_with("def ")).skip(1);
    body.filter(|line| line.starts_with("    ") && !line.trim().is_empty()).count()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    if n == 0.0 { 0.0 } else { sum / n }
}

fn table(lines: &[Line], host: &Host) -> String {
    let m = Machine::describe(host.cores);
    let mut out = format!("# Beacon's experiments\n\n{}, {} cores, {} MB, Linux {}, load {:.1}.\n\n", m.cpu, m.cores, m.memory_mb, m.kernel, m.load);
    out += "Time is that of the search alone, over the runs that found a test, as are generations and lines; the paper's were measured on another machine. \
            A run counts as found if a fresh interpreter confirmed the written test.\n\n";
    out += "| experiment | preset | found | accuracy | time (ms) | generations | tests | lines |\n|---|---|---|---|---|---|---|---|\n";
    for (number, e) in EXPERIMENTS.iter().enumerate() {
        let mut any = false;
        for preset in ["default", "beacon"] {
            let runs: Vec<&Line> = lines.iter().filter(|l| l.experiment == number && l.preset == preset).collect();
            if runs.is_empty() {
                continue;
            }
            any = true;
            let found: Vec<&&Line> = runs.iter().filter(|l| l.found).collect();
            let of = |f: fn(&Line) -> f64| mean(found.iter().map(|l| f(l)));
            let _ = writeln!(
                out,
                "| {} {} | {preset} | {}/{} | {:.2} % | {:.2} | {:.2} | {:.1} | {:.2} |",
                e.name,
                e.target,
                found.len(),
                runs.len(),
                100.0 * found.len() as f64 / runs.len() as f64,
                of(|l| l.search_ms as f64),
                of(|l| l.generations as f64),
                of(|l| l.evaluations as f64),
                of(|l| l.lines as f64),
            );
        }
        if any {
            let _ = writeln!(
                out,
                "| {} {} | *the paper* | /32 | {:.2} % | {:.2} | {:.2} |  | {:.2} |",
                e.name, e.target, e.accuracy, e.time_ms, e.generations, e.lines
            );
        }
    }
    out
}

fn csv(lines: &[Line]) -> String {
    let mut out = "experiment,preset,seed,found,search_ms,total_ms,generations,tests,lines\n".to_string();
    for l in lines {
        let e = EXPERIMENTS[l.experiment].name;
        let found = u8::from(l.found);
        let _ = writeln!(out, "{e},{},{},{found},{},{},{},{},{}", l.preset, l.seed, l.search_ms, l.total_ms, l.generations, l.evaluations, l.lines);
    }
    out
}

/// A folder that goes when the benchmark ends.
struct Folder(PathBuf);

impl Folder {
    fn create() -> Result<Folder, UserError> {
        let path = std::env::temp_dir().join(format!("rethrow-beacon-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| UserError::RunDirUnusable { path: path.clone(), why: e.to_string() })?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BCN-9, BCN-10: the published figures.
    #[test]
    fn bcn_9_bcn_10_the_papers_figures() {
        let told: Vec<(f64, f64, f64, f64)> = EXPERIMENTS.iter().map(|e| (e.time_ms, e.generations, e.lines, e.accuracy)).collect();
        assert_eq!(told, [(105.31, 4.09, 2.06, 93.75), (149.04, 3.97, 1.13, 100.0), (9043.39, 265.66, 1.13, 71.88)]);
        assert_eq!(MAX_EVALUATIONS, 64 + 500 * 64);
    }

    #[test]
    fn the_table_has_means_over_what_was_found() {
        let line = |seed, found, search_ms| Line {
            experiment: 0,
            preset: "beacon",
            seed,
            found,
            search_ms,
            total_ms: 9,
            generations: seed,
            evaluations: 64,
            lines: 2,
        };
        let text = table(&[line(1, true, 10), line(3, true, 20), line(5, false, 1000), line(7, false, 1)], &Host::default());
        assert!(text.contains("| beacon | 2/4 | 50.00 % | 15.00 | 2.00 | 64.0 | 2.00 |"), "{text}");
        assert!(text.contains("| *the paper* | /32 | 93.75 % | 105.31 |") && !text.contains("numpy"), "{text}");
    }

    #[test]
    fn the_body_of_the_test_is_its_length() {
        assert_eq!(statements("# x\nimport a\n\n\ndef test_f():\n    a.f(1)\n\n    a.g()\n"), 2);
    }
}
