//! Kinds of frames and of inputs, each by a small program through the binary: what needs a stub, an object of a class that cannot be named, or
//! a container of the platform with something in it.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};

use binary::{Ran, fixtures, folder, rethrow};

fn run(kind: &str) -> Ran {
    run_log(kind, &log_of(kind))
}

fn log_of(kind: &str) -> PathBuf {
    fixtures().join("kinds/logs").join(kind).with_extension("log")
}

fn run_log(kind: &str, log: &Path) -> Ran {
    let classes = fixtures().join("kinds/classes");
    let args = ["reproduce", log.to_str().unwrap(), "-cp", classes.to_str().unwrap(), "-q", "--workers", "1"];
    rethrow(&folder("kinds", kind), &[&args[..], &["--budget", "60s", "--max-evaluations", "60000", "--confirm-runs", "1"]].concat())
}

/// All of the trace's frames are reached; gives the test.
#[track_caller]
fn reproduced(kind: &str) -> String {
    let ran = run(kind);
    ran.check_verdict(0, "reproduced");
    assert_eq!(ran.record["frames"]["reached"], ran.record["frames"]["total"], "{kind}: {:#}", ran.record);
    ran.test().unwrap()
}

#[test]
fn stubs_of_generic_types_compile() {
    let class = reproduced("generic-class");
    assert!(class.contains("public Object area()") && class.contains("public void draw(StringBuilder given, Object given2)"), "{class}");
    let interface = reproduced("generic-interface");
    assert!(interface.contains("public String choose(String given, String given2)"), "{interface}");
}

#[test]
fn frames_behind_what_the_test_implements_are_reached() {
    assert!(reproduced("default").contains(" = () -> null;"));
    let constructor = reproduced("constructor");
    assert!(constructor.contains("new Implemented.Sized("), "{constructor}");
}

#[test]
fn a_class_of_the_users_own_may_say_anything_of_itself() {
    let test = reproduced("textless");
    assert!(test.contains("public String toString()") && test.contains("return null;"), "{test}");
    // no object of the platform or the program does
    let (classes, log) = (fixtures().join("kinds/classes"), log_of("textless"));
    let args = ["reproduce", log.to_str().unwrap(), "-cp", classes.to_str().unwrap(), "-q", "--workers", "1", "--without", "classes"];
    let without = rethrow(&folder("kinds", "textless-without"), &[&args[..], &["--budget", "60s", "--max-evaluations", "5000"]].concat());
    without.check_verdict(1, "not_reproduced");
}

#[test]
fn frames_of_hidden_classes_and_compiled_methods_are_reached() {
    for kind in ["private-class", "accessor", "bridge", "lambda"] {
        reproduced(kind);
    }
}

#[test]
fn objects_of_the_platform_have_something_in_them() {
    for kind in ["document", "lines", "magic", "dates", "entries"] {
        reproduced(kind);
    }
}

#[test]
fn bytes_are_written_as_a_text_of_as_many_characters() {
    let test = reproduced("chunk");
    assert!(test.contains(".getBytes(StandardCharsets.ISO_8859_1)"), "{test}");
}

#[test]
fn containers_hold_what_they_are_declared_to_hold() {
    let test = reproduced("typed");
    assert!(test.matches(".put(").count() >= 2 && test.contains("BitSet"), "{test}");
}

#[test]
fn a_refused_cast_tells_what_an_erased_parameter_has_to_be() {
    let test = reproduced("erased");
    assert!(test.contains("BitSet"), "{test}");
}

/// What no search would find, the reporter shows.
#[test]
fn what_the_report_shows_is_tried() {
    let crash = std::fs::read_to_string(log_of("sealed")).unwrap();
    let report = folder("kinds", "report").join("report.md");
    std::fs::write(&report, format!("Doesn't work:\n\n    String to = \"Rue de la Paix 7\";\n    Inputs.sealed(to);\n\n{crash}")).unwrap();
    let ran = run_log("sealed-report", &report);
    ran.check_verdict(0, "reproduced");
    assert!(ran.test().unwrap().contains("sealed(\"Rue de la Paix 7\")"), "{:?}", ran.test());
    assert!(ran.record["evaluations"].as_u64().unwrap() < 2000, "{:#}", ran.record);
}

/// The write that makes the inner frame crash is open to its own package only, so the test for the outer frame lives there as well.
#[test]
fn an_outer_frame_is_reached_from_the_package_of_the_inner_one() {
    let test = reproduced("package-state");
    assert!(test.contains("package kinds.near;") && test.contains("new Client()"), "{test}");
}
