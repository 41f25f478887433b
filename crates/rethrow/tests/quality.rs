//! What the search can do, on the fixture programs and through the binary: so many seeds reach so many frames in so many evaluations.
//!
//! A fixture that cannot be reproduced yet has a file in `tests/quality/fixme` with the reason, and is run too: the day it succeeds, the
//! test fails and the fixture moves to the table.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use binary::{Ran, fixtures, folder, repository, rethrow};

const SEEDS: u64 = 10;
/// Runs at a time; each has one worker beside the parent.
const PARALLEL: usize = 2;
/// No clock decides: a run that needs it has failed anyway.
const BUDGET: &str = "60s";

/// At least `least` of the seeds 1 to [`SEEDS`] reach `frames` frames within `evaluations`; seed 1 is one of them, and confirmed.
struct Row {
    fixture: &'static str,
    frames: u64,
    evaluations: u64,
    least: usize,
}

const fn row(fixture: &'static str, frames: u64, evaluations: u64) -> Row {
    Row { fixture, frames, evaluations, least: 9 }
}

const REACHED: &[Row] = &[
    row("F01", 1, 1000),
    row("F02", 1, 1000),
    row("F03", 1, 2000),
    row("F04", 1, 100_000),
    row("F05", 1, 1000),
    row("F06", 1, 200_000),
    row("F07", 1, 2000),
    row("F08", 3, 20_000),
    row("F09", 3, 2000),
    row("F10", 1, 10_000),
    row("F11", 3, 20_000),
    row("F12", 1, 20_000),
    row("F13", 3, 1000),
    row("F14", 2, 2000),
    row("F15", 2, 1000),
    row("F16", 1, 200),
    row("F17", 1, 2000),
    row("F18", 1, 20_000),
    row("F19", 2, 2000),
    row("F20", 1, 30_000),
    row("F22", 1, 400_000),
    row("F23", 1, 2000),
    row("F24", 1, 10_000),
    row("F25", 1, 2000),
];

/// What a fixture stands for, switched off: with `on` it reaches the outermost frame within `within` evaluations, with `off` beside that not within
/// `evaluations`, which are ten times as many or more than enough for what cannot be found at all.
struct Negative {
    fixture: &'static str,
    on: &'static [&'static str],
    off: &'static str,
    within: u64,
    evaluations: u64,
}

const fn negative(fixture: &'static str, on: &'static [&'static str], off: &'static str, within: u64, evaluations: u64) -> Negative {
    Negative { fixture, on, off, within, evaluations }
}

/// The day that a mechanism no longer matters to its fixture, the fixture says nothing about it.
const NEGATIVE: &[Negative] = &[
    negative("F09", &["--match-message"], "messages", 100, 1500),
    negative("F10", &[], "casts", 1000, 10_000),
    negative("F11", &["--match-message"], "messages", 2000, 20_000),
    negative("F16", &[], "environment", 20, 40),
    // without calls on the builder nothing is left to try: the same tests come again, and cost no evaluation
    negative("F20", &[], "impurity", 12_000, 12_000),
    negative("F22", &[], "constant-mining", 400_000, 200_000),
    negative("F23", &[], "detective", 100, 2000),
    negative("F24", &[], "elephant-brain", 2000, 20_000),
    negative("F25", &[], "environment", 60, 600),
];
/// Seeds of the negative runs.
const WITHOUT: std::ops::RangeInclusive<u64> = 1..=3;

/// A fixture that is not reproduced yet.
struct Fixme {
    fixture: String,
    reason: String,
    evaluations: u64,
}

impl Fixme {
    /// A file of `key = value` lines, the part of TOML that is needed here.
    fn read(path: &Path) -> Fixme {
        let text = std::fs::read_to_string(path).unwrap();
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
            line.unwrap_or_else(|| panic!("no {key} in {}", path.display())).trim().trim_matches('"').to_string()
        };
        let fixture = path.file_stem().unwrap().to_str().unwrap().to_string();
        Fixme { fixture, reason: value("reason"), evaluations: value("evaluations").parse().unwrap() }
    }

    fn all() -> Vec<Fixme> {
        let files = std::fs::read_dir(repository().join("tests/quality/fixme")).unwrap();
        let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
        paths.sort();
        paths.iter().map(|path| Fixme::read(path)).collect()
    }
}

struct Job {
    fixture: String,
    seed: u64,
    evaluations: u64,
    confirm_runs: u32,
    more: Vec<&'static str>,
}

impl Job {
    fn run(&self) -> Ran {
        let dir = folder("quality", &format!("{}-{}{}", self.fixture, self.seed, self.more.concat()));
        let log = fixtures().join("logs").join(&self.fixture).with_extension("log");
        let (classes, seed, evaluations, runs) =
            (fixtures().join("classes"), self.seed.to_string(), self.evaluations.to_string(), self.confirm_runs.to_string());
        let args = ["reproduce", log.to_str().unwrap(), "-cp", classes.to_str().unwrap(), "--seed", &seed, "-q"];
        let limits = ["--budget", BUDGET, "--max-evaluations", &evaluations, "--confirm-runs", &runs, "--workers", "1"];
        rethrow(&dir, &[&args[..], &limits, &self.more].concat())
    }
}

/// Runs jobs, [`PARALLEL`] at a time, whatever test they belong to; results in the order of the jobs.
fn run_all(jobs: &[Job]) -> Vec<Ran> {
    // The test harness starts all tests of this file at once, and they would take the cores from each other.
    static ONE_TEST: Mutex<()> = Mutex::new(());
    let _turn = ONE_TEST.lock().unwrap_or_else(|broken| broken.into_inner());
    fixtures();
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Ran>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < jobs.len()) {
                    *results[i].lock().unwrap() = Some(jobs[i].run());
                }
            });
        }
    });
    results.into_iter().map(|ran| ran.into_inner().unwrap().expect("every job was run")).collect()
}

/// What is wrong with the runs of a fixture, if anything is.
fn judge(row: &Row, runs: &[Ran]) -> Option<String> {
    let told = |ran: &Ran| format!("{} frames {} evaluations {} in {:?}", ran.record["verdict"], ran.record["frames"], ran.record["evaluations"], ran.took);
    let first = &runs[0];
    let confirmed = first.code == Some(0) && first.record["verdict"] == "reproduced" && first.test().is_some();
    if !confirmed || first.record["frames"]["reached"].as_u64() < Some(row.frames) {
        return Some(format!("{}: seed 1 is not confirmed: {}\n{}{}", row.fixture, told(first), first.err, first.record["diagnostics"]));
    }
    let reached = |ran: &&Ran| ran.code == Some(5) && ran.record["verdict"] == "unconfirmed" && ran.record["frames"]["reached"].as_u64() >= Some(row.frames);
    let good = 1 + runs[1..].iter().filter(reached).count();
    let misses: Vec<String> = runs[1..].iter().filter(|ran| !reached(ran)).map(|ran| format!("seed {}: {}", ran.record["seed"], told(ran))).collect();
    (good < row.least).then(|| format!("{}: {good} of {SEEDS} seeds, not {}: {}", row.fixture, row.least, misses.join("; ")))
}

#[test]
fn what_can_be_reached_is_reproduced_for_nine_seeds_of_ten() {
    let seeds = |row: &Row| {
        let job = |seed| Job { fixture: row.fixture.into(), seed, evaluations: row.evaluations, confirm_runs: if seed == 1 { 5 } else { 0 }, more: Vec::new() };
        (1..=SEEDS).map(job).collect::<Vec<_>>()
    };
    let jobs: Vec<Job> = REACHED.iter().flat_map(seeds).collect();
    let runs = run_all(&jobs);
    let wrong: Vec<String> = REACHED.iter().zip(runs.chunks(SEEDS as usize)).filter_map(|(row, runs)| judge(row, runs)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_fixture_stands_for_is_what_reproduces_it() {
    let job = |n: &Negative, seed, off: bool| {
        let more = if off { [n.on, &["--without", n.off]].concat() } else { n.on.to_vec() };
        Job { fixture: n.fixture.into(), seed, evaluations: if off { n.evaluations } else { n.within }, confirm_runs: 0, more }
    };
    let all: Vec<(&Negative, u64, bool)> = NEGATIVE.iter().flat_map(|n| WITHOUT.flat_map(move |seed| [(n, seed, false), (n, seed, true)])).collect();
    let jobs: Vec<Job> = all.iter().map(|(n, seed, off)| job(n, *seed, *off)).collect();
    let runs = run_all(&jobs);
    let found = |ran: &Ran| ran.record["verdict"] == "unconfirmed" && ran.record["frames"]["reached"] == ran.record["frames"]["target"];
    let wrong = all.iter().zip(&runs).filter(|((_, _, off), ran)| found(ran) == *off);
    let told = |((n, seed, off), ran): (&(&Negative, u64, bool), &Ran)| {
        let how = if *off { format!("without {}", n.off) } else { "with everything".into() };
        format!("{} seed {seed} {how}: {} after {} evaluations {}", n.fixture, ran.record["verdict"], ran.record["evaluations"], ran.err)
    };
    let wrong: Vec<String> = wrong.map(told).collect();
    // one seed of a fixture may be lucky or unlucky, as among the ten above
    let fixtures = |n: &Negative| wrong.iter().filter(|w| w.starts_with(n.fixture)).count();
    assert!(NEGATIVE.iter().all(|n| fixtures(n) <= 1), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_reached_yet_is_noticed_when_it_is() {
    let fixmes = Fixme::all();
    let jobs: Vec<Job> =
        fixmes.iter().map(|f| Job { fixture: f.fixture.clone(), seed: 1, evaluations: f.evaluations, confirm_runs: 0, more: Vec::new() }).collect();
    for (fixme, ran) in fixmes.iter().zip(run_all(&jobs)) {
        let place = format!("tests/quality/fixme/{}.toml", fixme.fixture);
        assert_eq!(ran.code, Some(1), "{} is no longer missed: move it from {place} to the table (it says: {})\n{}", fixme.fixture, fixme.reason, ran.err);
        assert_eq!(ran.record["verdict"], "not_reproduced");
        assert!(ran.test().is_none(), "no test pretends to be one");
    }
}

#[test]
fn every_fixture_is_either_reached_or_explained() {
    let mut known: Vec<String> = REACHED.iter().map(|row| row.fixture.to_string()).chain(Fixme::all().into_iter().map(|f| f.fixture)).collect();
    known.sort();
    let all: Vec<String> = (1..=25).map(|n| format!("F{n:02}")).collect();
    assert_eq!(known, all);
    assert!(Fixme::all().iter().all(|fixme| fixme.reason.len() > 20), "a reason is a sentence");
}
