//! `rethrow bench` through the binary, on a sixth of the suite of real crashes: they are reproduced, results are kept and continued,
//! and the report counts them.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use binary::{command, folder, living, repository};

/// The quickest, of which none needs another jar. `scripts/jars.sh` fetches these.
const CRASHES: [(&str, &str); 12] = [
    ("LANG-412", "commons-lang:commons-lang:2.3"),
    ("LANG-552", "commons-lang:commons-lang:2.4"),
    ("LANG-587", "commons-lang:commons-lang:2.4"),
    ("CODEC-184", "commons-codec:commons-codec:1.9"),
    ("CLI-193", "commons-cli:commons-cli:1.2"),
    ("GSON-1013", "com.google.code.gson:gson:2.8.0"),
    ("COMMONMARK-27", "com.atlassian.commonmark:commonmark:0.2.0"),
    ("DIFFUTILS-8", "com.googlecode.java-diff-utils:diffutils:1.2"),
    ("UNIVOCITY-93", "com.univocity:univocity-parsers:2.1.1"),
    ("JCOMMANDER-270", "com.beust:jcommander:1.48"),
    ("HUTOOL-1984", "cn.hutool:hutool-core:5.7.16"),
    ("DEXX-11", "com.github.andrewoma.dexx:collection:0.6"),
];

fn jar_of(coordinate: &str) -> PathBuf {
    let parts: Vec<&str> = coordinate.split(':').collect();
    repository().join(format!("target/jars/{}-{}.jar", parts[1], parts[2]))
}

/// A cache that holds the jars as `rethrow bench fetch` would have put them there.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let coordinates = CRASHES.map(|(_, coordinate)| coordinate);
        let fetched = Command::new(repository().join("scripts/jars.sh")).args(coordinates).status().unwrap();
        assert!(fetched.success(), "scripts/jars.sh failed");
        let cache = folder("bench", "cache");
        for coordinate in coordinates {
            let (jar, dir) = (jar_of(coordinate), cache.join("jars").join(coordinate.replace(':', "_")));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::copy(&jar, dir.join(jar.file_name().unwrap())).unwrap();
        }
        cache
    })
}

fn bench(cwd: &Path, args: &[&str]) -> Command {
    let mut command = command(cwd, &["bench"]);
    command.args(args).env("RETHROW_CACHE", cache());
    command
}

/// `bench run` of these crashes of the repository's suite; a clock decides nothing unless the machine is very slow.
fn run(cwd: &Path, ids: &str) -> Command {
    let suite = repository().join("bench/suites/java.toml");
    let variant = "quick=--max-evaluations 20000 --confirm-runs 2";
    bench(cwd, &["run", suite.to_str().unwrap(), "--only", ids, "--variant", variant, "--budget", "120s", "--jobs", "2"])
}

fn results(cwd: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(cwd.join("results.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32, said: &str) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}{err}");
    assert!(out.contains(said) || err.contains(said), "no {said:?} in {out}{err}");
}

#[test]
fn a_sixth_of_the_suite_is_reproduced_and_reported() {
    let _turn = ONE_SUITE.lock().unwrap_or_else(|broken| broken.into_inner());
    let cwd = folder("bench", "sixth");
    let ids = CRASHES.map(|(id, _)| id).join(",");
    check(&run(&cwd, &ids).output().unwrap(), 0, "12 runs, 0 of them done before");
    let lines = results(&cwd);
    assert_eq!(lines.len(), CRASHES.len());
    for line in &lines {
        assert_eq!((line["verdict"].as_str(), line["exit"].as_i64()), (Some("reproduced"), Some(0)), "{line}");
        assert!(line["reached"].as_u64().unwrap() > 0, "{line}");
    }
    // What is there is not run again.
    check(&run(&cwd, &ids).output().unwrap(), 0, "12 runs, 12 of them done before");
    assert_eq!(results(&cwd), lines);

    check(&bench(&cwd, &["report", "results.jsonl", "--out", "report"]).output().unwrap(), 0, "| quick | 12 | 12 of 12 |");
    let report = std::fs::read_to_string(cwd.join("report/report.md")).unwrap();
    assert!(report.contains("# Benchmark: 12 crashes, 1 variant, 12 runs") && report.contains("| CLI-193 | "), "{report}");
    for plot in ["time.svg", "evaluations.svg", "survival.svg"] {
        assert!(cwd.join("report").join(plot).is_file());
    }
}

/// One suite at a time: they would take the cores from each other, and tests that run into their time limit change what a seed finds.
static ONE_SUITE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Of the suite of Python crashes: the quickest. Their environments are made once.
const PYTHON_CRASHES: &str = "TEXTDISTANCE-31,PRETTYTABLE-377,DICTTOXML-53,W2N-1,JSON5-90,LARK-188,MARKO-82";

#[test]
fn a_sixth_of_the_python_suite_is_reproduced() {
    let _turn = ONE_SUITE.lock().unwrap_or_else(|broken| broken.into_inner());
    let cwd = folder("bench", "python");
    let suite = repository().join("bench/suites/python.toml");
    let variant = "quick=--max-evaluations 20000 --confirm-runs 2";
    let mut command = command(&cwd, &["bench", "run", suite.to_str().unwrap(), "--only", PYTHON_CRASHES, "--variant", variant]);
    let ran = command.args(["--budget", "120s", "--jobs", "2"]).env("RETHROW_CACHE", repository().join("target/cache")).output().unwrap();
    check(&ran, 0, "7 runs, 0 of them done before");
    for line in results(&cwd) {
        assert_eq!((line["verdict"].as_str(), line["reached"].as_u64()), (Some("reproduced"), line["total"].as_u64()), "{line}");
    }
}

#[test]
fn a_folder_of_crashes_is_a_suite_too() {
    let cwd = folder("bench", "folder");
    cache();
    let crash = cwd.join("crashes/MINE-1");
    std::fs::create_dir_all(crash.join("bin")).unwrap();
    std::fs::copy(repository().join("testdata/crashes/java/CODEC-184/crash.log"), crash.join("crash.log")).unwrap();
    std::fs::copy(jar_of("commons-codec:commons-codec:1.9"), crash.join("bin/codec.jar")).unwrap();
    // A folder that is something else.
    std::fs::create_dir(cwd.join("crashes/notes")).unwrap();
    let ran = bench(&cwd, &["run", "--suite-dir", "crashes", "--budget", "120s"]).output().unwrap();
    check(&ran, 0, "MINE-1 default seed 1: reproduced 1/1");
    assert_eq!(results(&cwd).len(), 1);
    // What never began is no result.
    let wrong = bench(&cwd, &["run", "--suite-dir", "crashes", "--variant", "wrong=--no-such-flag"]).output().unwrap();
    check(&wrong, 1, "MINE-1 wrong seed 1 did not run: error: unexpected argument '--no-such-flag'");
    assert_eq!(results(&cwd).len(), 1);
    // Another program is another run.
    std::fs::copy(jar_of("commons-cli:commons-cli:1.2"), crash.join("bin/more.jar")).unwrap();
    check(&bench(&cwd, &["run", "--suite-dir", "crashes", "--budget", "120s"]).output().unwrap(), 0, "0 of them done before");
    assert_eq!(results(&cwd).len(), 2);
}

#[test]
fn an_interrupted_benchmark_keeps_whole_results_and_leaves_nothing_running() {
    let cwd = folder("bench", "interrupted");
    let child = run(&cwd, "LANG-587,CLI-193,GSON-1013,CODEC-184").stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    while results(&cwd).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let scratch = std::env::temp_dir().join(format!("rethrow-bench-{pid}"));
    binary::assert_no_survivor(&scratch, scratch.to_str().unwrap());
    assert!(!scratch.exists() && living(&cwd, &scratch.display().to_string()).is_empty());
    let done = results(&cwd).len();
    assert!((1..4).contains(&done), "{done}");
    check(&run(&cwd, "LANG-587,CLI-193,GSON-1013,CODEC-184").output().unwrap(), 0, &format!("4 runs, {done} of them done before"));
    assert_eq!(results(&cwd).len(), 4);
}

#[test]
fn unusable_suites_and_results_are_told() {
    let cwd = folder("bench", "unusable");
    std::fs::write(cwd.join("bad.toml"), "crashes = 'x'\n[[crash]]\nid = 'A'\n").unwrap();
    std::fs::write(cwd.join("empty.jsonl"), "").unwrap();
    check(&bench(&cwd, &["run", "bad.toml"]).output().unwrap(), 3, "missing field `issue`");
    check(&bench(&cwd, &["run", "none.toml"]).output().unwrap(), 3, "none.toml");
    check(&bench(&cwd, &["run"]).output().unwrap(), 2, "SUITE.toml");
    check(&bench(&cwd, &["run", "bad.toml", "--variant", "x=--seed 3"]).output().unwrap(), 2, "--seed is set by the benchmark");
    check(&bench(&cwd, &["report", "empty.jsonl"]).output().unwrap(), 3, "has no results");
}
