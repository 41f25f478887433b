//! The jail, through the binary: a program that does all the harm it can while it is searched harms nothing, and the run ends in time.

#![allow(clippy::unwrap_used)]

#[path = "support/bait.rs"]
mod bait;
#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bait::Bait;
use binary::{Ran, assert_no_survivor, command, compile, folder, jdk_tool, living, log_of, repository, snapshot};

/// What a run may take beyond its budget, by its own account …
const GRACE: Duration = Duration::from_secs(2);
/// … and by the clock on the wall of a loaded machine.
const LOADED_GRACE: Duration = Duration::from_secs(10);
/// What every deed of the fixture is called, in its order.
const DEEDS: &str = "got through: read delete delete-io write append truncate rename link mkdir tmp class path environ memory kill tcp tcp6 udp udp6";
/// The deeds that need IPv6, which some machines lack.
const DEEDS_IPV6: [&str; 2] = [" tcp6", " udp6"];

fn source(class: &str) -> PathBuf {
    repository().join("testdata/jail/src/jail").join(class).with_extension("java")
}

/// With the compiled fixture beside it, which reads what to aim at.
fn java_bait(name: &str, nap: &str) -> Bait {
    let bait = Bait::set(&folder("jail", name), nap);
    let classes = bait.path("classes");
    std::fs::create_dir(&classes).unwrap();
    compile(&repository().join("testdata/jail/src/jail"), &classes);
    let paths = format!("home={}\nclasses={}\ntmp={}\n", bait.path("home").display(), classes.display(), bait.outside().display());
    let properties = format!("{paths}port={}\nbait={}\nnap={}\n", bait.port, bait.process.id(), bait.nap);
    std::fs::write(classes.join("where.properties"), properties).unwrap();
    bait
}

/// `reproduce` in a folder of its own, with that home; checks what holds for every run.
fn reproduce(dir: &Path, classes: &Path, home: &Path, log: &str, args: &[&str], budget_s: u64) -> Ran {
    let cwd = dir.join("cwd");
    std::fs::create_dir(&cwd).unwrap();
    std::fs::write(cwd.join("crash.log"), log).unwrap();
    let before = [snapshot(&cwd), snapshot(home), snapshot(classes)];
    let budget = format!("{budget_s}s");
    let all = [&["reproduce", "crash.log", "-cp", classes.to_str().unwrap(), "--budget", &budget], args].concat();
    let started = Instant::now();
    let ran = Ran::of(command(&cwd, &all).env("HOME", home).output().unwrap(), started, &cwd.join("rethrow.out"));
    assert_no_survivor(&cwd, cwd.to_str().unwrap());
    assert_eq!(before, [snapshot(&cwd), snapshot(home), snapshot(classes)], "nothing changes outside the run directory");
    assert!([0, 1, 5].contains(&ran.code.unwrap()), "{ran:?}");
    let (own, budget) = (Duration::from_millis(ran.record["elapsed_ms"]["total"].as_u64().unwrap()), Duration::from_secs(budget_s));
    assert!(own <= budget + GRACE && ran.took <= budget + LOADED_GRACE, "{own:?}, {:?} of {budget:?}", ran.took);
    let left: Vec<_> = std::fs::read_dir(cwd.join("rethrow.out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| ["run.json", "lock", "tests"].iter().any(|known| name == known)), "scratch stays behind: {left:?}");
    ran
}

/// Without it the tests below could pass because the fixture is broken.
#[test]
fn every_deed_works_outside_the_jail() {
    let mut bait = java_bait("control", "86401.25");
    let java = Command::new(jdk_tool("java")).arg("-cp").arg(bait.path("classes")).arg("jail.Control").output().unwrap();
    let said = String::from_utf8_lossy(&java.stdout).trim().to_string();
    let expected = if bait.listeners.len() == 2 { DEEDS.to_string() } else { DEEDS_IPV6.iter().fold(DEEDS.to_string(), |d, six| d.replace(six, "")) };
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&java.stderr));
    assert_eq!(bait.heard().len(), bait.listeners.len() + bait.receivers.len());
    assert!(!bait.alive() && !bait.path("home/canary").exists() && bait.outside().exists());
    let nap = living(Path::new("/nowhere"), "86401.25");
    assert_eq!(nap.len(), 1, "the grandchild lives on: {nap:?}");
    let pid = nap[0].split(' ').next().unwrap();
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

#[test]
fn a_program_that_does_harm_is_reproduced_and_does_none() {
    let mut bait = java_bait("escape", "86402.25");
    let log = log_of("java.lang.IllegalStateException: all refused", "jail.Escape", "crash", &source("Escape"));
    let ran = reproduce(&bait.dir, &bait.path("classes"), &bait.path("home"), &log, &["--workers", "1"], 60);
    ran.check_verdict(0, "reproduced");
    assert_eq!(bait.heard(), Vec::<&str>::new(), "no packet arrived");
    assert!(bait.alive(), "the process outside lives");
    assert!(!bait.outside().exists());
    assert_no_survivor(Path::new("/nowhere"), &bait.nap);
}

#[test]
fn what_the_jail_refused_to_the_test_is_told() {
    let bait = java_bait("save", "86403.25");
    let log = log_of("java.lang.IllegalStateException: not saved", "jail.Save", "wrapped", &source("Save"));
    let ran = reproduce(&bait.dir, &bait.path("classes"), &bait.path("home"), &log, &["--confirm-runs", "2"], 60);
    ran.check_verdict(0, "reproduced");
    let refused = ran.record["refused"].to_string();
    assert!(refused.contains("java.io.FileNotFoundException") && refused.contains("home/truncated"), "{refused}");
    assert!(ran.test().unwrap().contains("refused in the jail") && ran.out.contains("refused"), "{ran:?}");
}

#[test]
fn a_refusal_is_no_reproduction_of_another_failure() {
    let bait = java_bait("open", "86404.25");
    let log = log_of("java.io.FileNotFoundException: /data/x (No such file or directory)", "jail.Open", "bare", &source("Open"));
    let ran = reproduce(&bait.dir, &bait.path("classes"), &bait.path("home"), &log, &["--max-evaluations", "300"], 30);
    ran.check_verdict(1, "not_reproduced");
}

#[test]
fn a_program_that_stops_or_hangs_is_still_reproduced() {
    let (dir, classes, home) = stopping("stop");
    let log = log_of("java.lang.IllegalStateException: armed", "jail.Stop", "crash", &source("Stop"));
    let ran = reproduce(&dir, &classes, &home, &log, &[], 120);
    ran.check_verdict(0, "reproduced");
    assert_eq!(ran.test().unwrap().matches(".arm(").count(), 1, "{ran:?}");
}

#[test]
fn a_search_among_stops_and_hangs_ends_with_the_budget() {
    let (dir, classes, home) = stopping("stop-in-vain");
    let log = log_of("java.lang.ArithmeticException", "jail.Stop", "crash", &source("Stop"));
    let ran = reproduce(&dir, &classes, &home, &log, &[], 15);
    ran.check_verdict(1, "not_reproduced");
    let stats = &ran.record["stats"];
    for kind in ["exits", "step_limits", "timeouts"] {
        assert!(stats[kind].as_u64().unwrap() > 0, "no test met {kind}: {stats:#}");
    }
    assert_eq!(ran.record["deterministic"], false, "clocks decided");
}

fn stopping(name: &str) -> (PathBuf, PathBuf, PathBuf) {
    let dir = folder("jail", name);
    let [home, classes] = ["home", "classes"].map(|sub| dir.join(sub));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&classes).unwrap();
    compile(&repository().join("testdata/jail/src/jail"), &classes);
    (dir, classes, home)
}
