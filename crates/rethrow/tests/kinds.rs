//! Kinds of frames and of inputs, each by a small program through the binary: what needs a stub, an object of a class that cannot be named, or
//! a container of the platform with something in it.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use binary::{Ran, fixtures, folder, rethrow};

fn run(kind: &str) -> Ran {
    let kinds = fixtures().join("kinds");
    let (log, classes) = (kinds.join("logs").join(kind).with_extension("log"), kinds.join("classes"));
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

/// The write that makes the inner frame crash is open to its own package only, so the test for the outer frame lives there as well.
#[test]
fn an_outer_frame_is_reached_from_the_package_of_the_inner_one() {
    let test = reproduced("package-state");
    assert!(test.contains("package kinds.near;") && test.contains("new Client()"), "{test}");
}
