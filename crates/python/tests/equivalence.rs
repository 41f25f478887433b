//! Code with probes does what code without does: values, exceptions, lines, on a corpus of awkward code and on the interpreter's own library.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::interpreters;

#[test]
fn code_with_probes_does_what_code_without_does() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for python in interpreters() {
        let corpus: Vec<PathBuf> =
            [8, 10, 11, 12].into_iter().filter(|v| *v <= python.version.1).map(|v| here.join(format!("tests/fixtures/equivalence/v3_{v}.py"))).collect();
        let done = Command::new(&python.path)
            .arg("-B")
            .args(["-W", "ignore"])
            .arg(here.join("tests/support/equivalence.py"))
            .arg(here.join("src/worker"))
            .args(&corpus)
            .args(python.stdlib.last())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let wrong: Vec<&str> = said.lines().filter(|l| !["CASES ", "LIBRARY ", "RAN "].iter().any(|p| l.starts_with(p))).collect();
        assert!(done.status.success() && wrong.is_empty(), "{}\n{said}\n{}", python.label(), String::from_utf8_lossy(&done.stderr));
        let number = |line: &str| line.split(' ').nth(1).unwrap().parse::<u32>().unwrap();
        assert!(said.lines().filter(|l| l.starts_with("LIBRARY ")).all(|l| number(l) > 30), "{said}");
        assert_eq!((said.matches("CASES ").count(), said.matches("RAN ").count()), (corpus.len(), 11), "{said}");
    }
}
