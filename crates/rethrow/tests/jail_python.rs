//! The jail, through the binary, for Python: the fixtures of `jail.rs` in that language.

#![allow(clippy::unwrap_used)]

#[path = "support/bait.rs"]
mod bait;
#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bait::Bait;
use binary::{Ran, assert_no_survivor, command, folder, living, repository, snapshot};

/// What a run may take beyond its budget, by its own account …
const GRACE: Duration = Duration::from_secs(2);
/// … and by the clock on the wall of a loaded machine.
const LOADED_GRACE: Duration = Duration::from_secs(10);
/// What every deed of the fixture is called, in its order; some machines allow nobody to trace, and some lack IPv6.
const DEEDS: &str = "read delete delete-io write append truncate rename link mkdir tmp modules environ memory ptrace kill tcp tcp6 udp udp6";
const OPTIONAL: [&str; 3] = ["ptrace", "tcp6", "udp6"];

/// A folder with the fixture's module.
fn modules(dir: &Path) -> PathBuf {
    let modules = dir.join("modules");
    std::fs::create_dir(&modules).unwrap();
    for name in ["escape.py", "stop.py"] {
        std::fs::copy(repository().join("testdata/jail/python").join(name), modules.join(name)).unwrap();
    }
    modules
}

fn set(name: &str, nap: &str) -> Bait {
    let bait = Bait::set(&folder("jail-python", name), nap);
    let modules = modules(&bait.dir);
    let aims = serde_json::json!({
        "home": bait.path("home"), "modules": &modules, "tmp": bait.outside(), "port": bait.port, "bait": bait.process.id(), "nap": &bait.nap,
    });
    std::fs::write(modules.join("where.json"), aims.to_string()).unwrap();
    bait
}

/// The traceback of a crash in the line that is marked with `# crash`.
fn traceback(module: &str, function: &str, exception: &str) -> String {
    let text = std::fs::read_to_string(repository().join("testdata/jail/python").join(module)).unwrap();
    let line = text.lines().position(|line| line.ends_with("# crash")).expect("one line is marked") + 1;
    format!("Traceback (most recent call last):\n  File \"{module}\", line {line}, in {function}\n{exception}\n")
}

/// `reproduce` in a folder of its own, with that home; checks what holds for every run.
fn reproduce(dir: &Path, home: &Path, log: &str, args: &[&str], budget_s: u64) -> Ran {
    let (cwd, modules) = (dir.join("cwd"), dir.join("modules"));
    std::fs::create_dir(&cwd).unwrap();
    std::fs::write(cwd.join("traceback.txt"), log).unwrap();
    let before = [snapshot(&cwd), snapshot(home), snapshot(&modules)];
    let budget = format!("{budget_s}s");
    let usual = ["reproduce", "traceback.txt", "--python", "python3", "--source", modules.to_str().unwrap(), "--budget", &budget];
    let started = Instant::now();
    let ran = Ran::of(command(&cwd, &[&usual[..], args].concat()).env("HOME", home).output().unwrap(), started, &cwd.join("rethrow.out"));
    assert_no_survivor(&cwd, cwd.to_str().unwrap());
    assert_eq!(before, [snapshot(&cwd), snapshot(home), snapshot(&modules)], "nothing changes outside the run directory");
    assert!([0, 1, 5].contains(&ran.code.unwrap()), "{ran:?}");
    let (own, budget) = (Duration::from_millis(ran.record["elapsed_ms"]["total"].as_u64().unwrap()), Duration::from_secs(budget_s));
    assert!(own <= budget + GRACE && ran.took <= budget + LOADED_GRACE, "{own:?}, {:?} of {budget:?}", ran.took);
    ran
}

/// Without it the tests below could pass because the fixture is broken.
#[test]
fn every_deed_works_outside_the_jail() {
    let mut bait = set("control", "86411.25");
    let python = Command::new("python3").arg("-B").arg(bait.path("modules/escape.py")).output().unwrap();
    let said = String::from_utf8_lossy(&python.stdout).trim().to_string();
    let needed = |deeds: &str| deeds.split(' ').filter(|d| !OPTIONAL.contains(d)).collect::<Vec<_>>().join(" ");
    let done = said.strip_prefix("got through: ").unwrap_or_default();
    assert_eq!(needed(done), needed(DEEDS), "{said}{}", String::from_utf8_lossy(&python.stderr));
    assert!(bait.heard().len() >= 2 && !bait.alive() && !bait.path("home/canary").exists() && bait.outside().exists());
    let nap = living(Path::new("/nowhere"), "86411.25");
    assert_eq!(nap.len(), 1, "the grandchild lives on: {nap:?}");
    let pid = nap[0].split(' ').next().unwrap();
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

#[test]
fn a_program_that_does_harm_is_reproduced_and_does_none() {
    let mut bait = set("escape", "86412.25");
    let log = traceback("escape.py", "crash", "RuntimeError: all refused");
    let ran = reproduce(&bait.dir, &bait.path("home"), &log, &["--workers", "1", "--confirm-runs", "2"], 60);
    ran.check_verdict(0, "reproduced");
    assert_eq!(bait.heard(), Vec::<&str>::new(), "no packet arrived");
    assert!(bait.alive(), "the process outside lives");
    assert!(!bait.outside().exists());
    assert_no_survivor(Path::new("/nowhere"), &bait.nap);
}

fn stopping(name: &str) -> (PathBuf, PathBuf) {
    let dir = folder("jail-python", name);
    let home = dir.join("home");
    std::fs::create_dir(&home).unwrap();
    modules(&dir);
    (dir, home)
}

#[test]
fn a_program_that_stops_or_hangs_is_still_reproduced() {
    let (dir, home) = stopping("stop");
    let ran = reproduce(&dir, &home, &traceback("stop.py", "crash", "RuntimeError: armed"), &["--confirm-runs", "2"], 120);
    ran.check_verdict(0, "reproduced");
    assert_eq!(ran.test().unwrap().matches(".arm(").count(), 1, "{ran:?}");
}

#[test]
fn a_search_among_stops_and_hangs_ends_with_the_budget() {
    let (dir, home) = stopping("stop-in-vain");
    let ran = reproduce(&dir, &home, &traceback("stop.py", "crash", "ZeroDivisionError: division by zero"), &[], 20);
    ran.check_verdict(1, "not_reproduced");
    let stats = &ran.record["stats"];
    for kind in ["exits", "timeouts"] {
        assert!(stats[kind].as_u64().unwrap() > 0, "no test met {kind}: {stats:#}");
    }
    assert_eq!(ran.record["deterministic"], false, "clocks decided");
}
