//! `rethrow generate` through the binary, for Java and for Python: both suites are written, compile, and do what they say; the same seed writes the same files.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};

use binary::{Ran, assert_no_survivor, compile, folder, repository, rethrow, snapshot};

fn classes(name: &str) -> PathBuf {
    classes_of("shop", name)
}

fn classes_of(package: &str, name: &str) -> PathBuf {
    let folder = folder("generate", name);
    std::fs::create_dir_all(folder.join("classes")).unwrap();
    compile(&repository().join("crates/rethrow/tests/generate").join(package), &folder.join("classes"));
    folder
}

fn generate(cwd: &Path, out: &str, more: &[&str]) -> Ran {
    let mut args = vec!["generate", "--classpath", "classes", "--classes", "shop.*", "--out", out, "--budget", "60s", "--workers", "1"];
    args.extend(more);
    rethrow(cwd, &args)
}

fn text(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn both_suites_are_written_and_confirmed() {
    let cwd = classes("suites");
    let ran = generate(&cwd, "out", &["--max-tests", "4000"]);
    ran.check(0, &[]);
    let record = &ran.record;
    assert!(record["regression"]["tests"].as_u64().unwrap() >= 5, "{record:#}");
    let covered = |key: &str| record["branches"][key].as_u64().unwrap();
    assert!(covered("covered") * 100 >= covered("total") * 90, "{record:#}");
    assert_eq!((&record["lost"]["uncompiled"], &record["lost"]["unwritable"]), (&0.into(), &0.into()), "{record:#}");
    let regression = text(&cwd, "out/shop/Ledger_RegressionTest.java");
    for part in ["import org.junit.Test;", "Assert.assertEquals(", "catch (IllegalArgumentException expected)", "4711"] {
        assert!(regression.contains(part), "no {part} in {regression}");
    }
    assert!(!regression.contains("quit"), "a test that ends the process is no test");
    let error = text(&cwd, "out/shop/Ledger_ErrorTest.java");
    for part in ["// throws ArrayIndexOutOfBoundsException", "equals(null) is not false", "Assert.assertFalse("] {
        assert!(error.contains(part), "no {part} in {error}");
    }
    assert!(!error.contains("IllegalArgumentException"), "a rejected argument is no defect: {error}");
    assert_eq!(error.matches("ledger.put(").count(), 3, "minimal: {error}");
    let promises = text(&cwd, "out/shop/Parcel_ErrorTest.java");
    for part in ["equal objects have different hash codes", "compareTo is not antisymmetric", "compareTo is not reflexive", "-Integer.signum("] {
        assert!(promises.contains(part), "GRT-15: no {part} in {promises}");
    }
    assert!(!promises.contains("perItem"), "deprecated members are left out: {promises}");
    assert!(text(&cwd, "rethrow.out/coverage.md").contains("shop.Ledger"));
    assert_no_survivor(&cwd, "generate/suites");
}

#[test]
fn arrays_are_asserted_as_they_are_in_the_end() {
    let cwd = classes_of("stock", "arrays");
    let args = ["generate", "--classpath", "classes", "--classes", "stock.*", "--out", "out", "--budget", "60s", "--workers", "1", "--max-tests", "300"];
    let ran = rethrow(&cwd, &args);
    ran.check(0, &[]);
    let lost = &ran.record["lost"];
    assert_eq!((&lost["uncompiled"], &lost["differing"]), (&0.into(), &0.into()), "{lost:#}");
    let written = text(&cwd, "out/stock/Labels_RegressionTest.java");
    for part in [
        "assertArrayEquals(new byte[] {-1, 65, 127}, ",
        "assertArrayEquals(new String[] {\"first\", \"last\"}, ",
        "assertArrayEquals(new String[] {\"first\", null}, ",
        "assertArrayEquals(new double[] {0.5, Double.NaN}, ",
        "assertTrue(java.util.Arrays.equals(new boolean[] {false}, ",
        ", 7}, ",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
    let written = text(&cwd, "out/stock/Ticket_RegressionTest2.java");
    assert!(written.contains(".number()") && !written.contains("Assert"), "what only one process says is called, not asserted: {written}");
}

#[test]
fn the_same_seed_writes_the_same_suites() {
    let cwd = classes("seeds");
    let written = |out: &str, seed: &str| {
        generate(&cwd, out, &["--max-tests", "1500", "--seed", seed]).check(0, &[]);
        snapshot(&cwd.join(out))
            .into_iter()
            .filter(|(path, _)| path.is_file())
            .map(|(path, content)| (path.strip_prefix(cwd.join(out)).unwrap().to_path_buf(), content))
            .collect::<Vec<_>>()
    };
    let first = written("a", "5");
    assert!(!first.is_empty());
    assert_eq!(first, written("b", "5"));
    assert_ne!(first, written("c", "6"));
}

#[test]
fn components_and_presets_are_switches() {
    let cwd = classes("switches");
    let components = |more: &[&str]| {
        let ran = generate(&cwd, "out", &[&["--max-tests", "200"], more].concat());
        ran.check(0, &[]);
        ran.record["components"].as_array().unwrap().len()
    };
    assert_eq!(components(&["--preset", "randoop"]), 0);
    assert_eq!(components(&["--preset", "grt", "--without", "bloodhound,detective"]), 4);
    assert_eq!(components(&["--only", "constant-mining"]), 1);
    generate(&cwd, "out", &["--only", "impurity", "--without", "detective"]).check(2, &["cannot be used with"]);
}

#[test]
fn classes_that_are_not_there_are_told() {
    let cwd = classes("absent");
    let ran = rethrow(&cwd, &["generate", "--classpath", "classes", "--classes", "org.nowhere.*"]);
    ran.check(3, &["no class on the class path matches org.nowhere.*", "shop.Ledger"]);
}

/// A folder with the Python module under test.
fn depot(name: &str) -> PathBuf {
    let folder = folder("generate", name);
    std::fs::create_dir_all(folder.join("modules")).unwrap();
    std::fs::copy(repository().join("crates/rethrow/tests/generate_python/depot.py"), folder.join("modules/depot.py")).unwrap();
    folder
}

fn generate_python(cwd: &Path, out: &str, more: &[&str]) -> Ran {
    let mut args = vec!["generate", "--module", "depot", "--source", "modules", "--out", out, "--budget", "60s", "--workers", "1"];
    args.extend(more);
    rethrow(cwd, &args)
}

#[test]
fn both_suites_of_a_python_module_are_written_and_confirmed() {
    let cwd = depot("python");
    let ran = generate_python(&cwd, "out", &["--max-tests", "4000"]);
    ran.check(0, &[]);
    let record = &ran.record;
    let covered = |key: &str| record["branches"][key].as_u64().unwrap();
    assert!(covered("covered") * 100 >= covered("total") * 90, "{record:#}");
    assert_eq!((&record["lost"]["uncompiled"], &record["lost"]["unwritable"]), (&0.into(), &0.into()), "{record:#}");
    let regression = text(&cwd, "out/test_depot_regression.py");
    for part in ["import pytest", "from depot import", "with pytest.raises(OverflowError):", "with pytest.raises(ValueError):", "4711", "is None", " == ["] {
        assert!(regression.contains(part), "no {part} in {regression}");
    }
    assert!(!regression.contains("leave") && !regression.contains("_share"), "neither what ends the process nor what is hidden: {regression}");
    let errors = text(&cwd, "out/test_depot_errors.py");
    for part in ["number(", "first(", ".mean()", "# raises AttributeError", "# raises UnboundLocalError", "# raises ZeroDivisionError"] {
        assert!(errors.contains(part), "no {part} in {errors}");
    }
    assert_eq!(errors.matches("\ndef test_").count(), 3, "a rejected argument is no defect: {errors}");
    assert!(text(&cwd, "rethrow.out/coverage.md").contains("depot:Shelf"));
    assert_no_survivor(&cwd, "generate/python");
}

#[test]
fn the_same_seed_writes_the_same_python_suites() {
    let cwd = depot("python-seeds");
    let written = |out: &str, seed: &str| {
        generate_python(&cwd, out, &["--max-tests", "1000", "--seed", seed]).check(0, &[]);
        text(&cwd, &format!("{out}/test_depot_regression.py"))
    };
    let first = written("a", "5");
    assert_eq!(first, written("b", "5"));
    assert_ne!(first, written("c", "6"));
}

#[test]
fn modules_that_cannot_be_tested_are_told() {
    let cwd = depot("python-absent");
    let generate = |module: &str| rethrow(&cwd, &["generate", "--module", module, "--source", "modules"]);
    generate("nowhere").check(4, &["nowhere cannot be imported"]);
    generate("math").check(3, &["math defines no function or class"]);
    rethrow(&cwd, &["generate", "--module", "depot", "--classpath", "x"]).check(2, &["cannot be used with"]);
}
