//! `rethrow hunt` through the binary: an exception without a trace becomes a confirmed test; what cannot be hunted has its message and exit code.

#![allow(clippy::unwrap_used)]

#[path = "support/binary.rs"]
mod binary;

use std::path::{Path, PathBuf};

use binary::{Ran, compile, folder, repository, rethrow};

const SHOP: &str = "\
import math
from stock import reserve, Shelf
from operator import truth


class EmptyError(ValueError):
    pass


def price(text):
    amount, unit = text.split(' ')
    if unit != 'EUR':
        raise EmptyError('unknown unit %s' % unit)
    return math.sqrt(int(amount))


def order(text):
    return price(text.strip())


floor = math.floor
";
const STOCK: &str = "\
class Shelf:
    def __init__(self, size):
        self.size = size

    def take(self, n):
        return self.size // n


def reserve(shelf, n):
    return shelf.take(n)
";

fn python(name: &str) -> PathBuf {
    let dir = folder("hunt", name);
    std::fs::create_dir_all(dir.join("src/shop")).unwrap();
    std::fs::write(dir.join("src/shop.py"), SHOP).unwrap();
    std::fs::write(dir.join("src/stock.py"), STOCK).unwrap();
    std::fs::remove_dir(dir.join("src/shop")).unwrap();
    dir
}

fn hunt(dir: &Path, target: &[&str]) -> Ran {
    let usual = ["hunt", "--python", "python3", "--source", "src", "--budget", "60s", "--confirm-runs", "2", "-q"];
    rethrow(dir, &[&usual[..], target].concat())
}

/// BCN-1 through the binary: type, words and function together; what a fresh process threw is recorded.
#[test]
fn bcn_1_an_exception_by_type_words_and_function() {
    let dir = python("unit");
    let ran = hunt(&dir, &["--module", "shop", "--exception", "ValueError", "--message", "unknown unit", "--function", "order"]);
    ran.check_verdict(0, "reproduced");
    let test = ran.test().unwrap();
    assert!(test.contains("from shop import order") && test.contains("# raises EmptyError"), "{test}");
    let thrown = &ran.record["thrown"];
    assert_eq!(thrown["exception"], "shop.EmptyError");
    assert!(thrown["message"].as_str().unwrap().contains("unknown unit"), "{thrown:#}");
    assert_eq!(thrown["frames"].as_array().unwrap().iter().map(|f| f["method"].as_str().unwrap()).collect::<Vec<_>>(), ["price", "order"]);
}

/// BCN-11: methods of classes are called as well.
#[test]
fn bcn_11_methods_are_called() {
    let dir = python("method");
    let ran = hunt(&dir, &["--module", "stock", "--exception", "ZeroDivisionError", "--function", "Shelf.take", "--style", "xfail"]);
    ran.check_verdict(0, "reproduced");
    let test = ran.test().unwrap();
    assert!(test.contains("Shelf(") && test.contains("@pytest.mark.xfail(strict=True, raises=ZeroDivisionError)"), "{test}");
    // its numbers come back from the record
    let again = rethrow(&dir, &["replay", "--budget", "30s"]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

/// BCN-11: so is what is built in, of which nothing is known and which is never on the stack.
#[test]
fn bcn_11_built_in_functions_are_called() {
    let dir = python("built-in");
    let ran = hunt(&dir, &["--module", "math", "--exception", "ValueError", "--message", "math domain error", "--style", "raises"]);
    ran.check_verdict(0, "reproduced");
    let test = ran.test().unwrap();
    assert!(test.contains("from math import") && test.contains("with pytest.raises(ValueError):"), "{test}");
}

/// BCN-2 … BCN-7 through the binary: the published configuration finds what needs two statements, and drops the others.
#[test]
fn bcn_7_the_preset_finds_and_minimises() {
    let dir = folder("hunt", "beacon");
    let source = repository().join("bench/beacon");
    let target = ["hunt", "--module", "list_reduction", "--exception", "AttributeError", "--preset", "beacon", "--budget", "60s"];
    let ran = rethrow(&dir, &[&target[..], &["--source", source.to_str().unwrap(), "--confirm-runs", "1", "--python", "python3", "-q"]].concat());
    ran.check_verdict(0, "reproduced");
    let test = ran.test().unwrap();
    assert!(test.contains("append(") && test.contains("reduction("), "{test}");
    let body = test.lines().filter(|line| line.starts_with("    ")).count();
    assert!(body <= 3, "{test}");
    assert!(ran.record["stats"]["generations"].as_u64().unwrap() <= 500);
}

#[test]
fn a_java_class_is_hunted_through() {
    let dir = folder("hunt", "java");
    let (sources, classes) = (dir.join("sources"), dir.join("classes"));
    std::fs::create_dir(&sources).unwrap();
    std::fs::create_dir(&classes).unwrap();
    let text = "package p; public class Shop { private int n; public void add(int by) { n += by; } \
        public int share(int parts) { if (parts > 100) throw new IllegalArgumentException(\"too many parts: \" + parts); return half() / parts; } \
        private int half() { return n / 2; } }";
    std::fs::write(sources.join("Shop.java"), text).unwrap();
    compile(&sources, &classes);
    let usual = ["hunt", "-cp", "classes", "--class", "p.Shop", "--budget", "60s", "--confirm-runs", "2", "-q"];
    let ran = rethrow(&dir, &[&usual[..], &["--exception", "RuntimeException", "--message", "too many parts"]].concat());
    ran.check_verdict(0, "reproduced");
    assert_eq!(ran.record["thrown"]["exception"], "java.lang.IllegalArgumentException");
    assert!(ran.test().unwrap().contains(".share("), "{ran:?}");
    let ran = rethrow(&dir, &["hunt", "-cp", "classes", "--class", "p.Stop", "--exception", "E"]);
    ran.check(3, &["p.Stop is not on the class path", "p.Shop"]);
}

#[test]
fn what_cannot_be_hunted_is_told() {
    let dir = python("errors");
    hunt(&dir, &["--module", "shop"]).check(2, &["at least one of --exception, --message and --function"]);
    hunt(&dir, &["--module", "nowhere", "--exception", "E"]).check(4, &["nowhere cannot be imported"]);
    hunt(&dir, &["--exception", "E"]).check(2, &["--module"]);
    let java = rethrow(&dir, &["hunt", "--class", "A", "--classpath", "x.jar", "--preset", "beacon", "--exception", "E"]);
    java.check(2, &["give --module"]);
    std::fs::write(dir.join("src/empty.py"), "import os\nfrom json import loads\n").unwrap();
    hunt(&dir, &["--module", "empty", "--exception", "E"]).check(3, &["empty defines no function or class"]);
    let ran = hunt(&dir, &["--module", "stock", "--exception", "OSError", "--max-evaluations", "300"]);
    ran.check_verdict(1, "not_reproduced");
    assert!(ran.out.contains("not found") && ran.out.contains("OSError"), "{}", ran.out);
}
