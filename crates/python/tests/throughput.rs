//! What probes cost, and how many tests a second a worker runs: on a parser of the interpreter's own library, or on PyYAML where
//! `RETHROW_TEST_YAML` names an interpreter that has it.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rethrow_core::execution::Outcome;
use rethrow_core::target::Session;
use rethrow_core::testcase::{Data, TestCase};
use rethrow_python::interpreter::{Question, ask};
use rethrow_python::launch;
use support::{Fixture, LAUNCHER, interpreters};

const TESTS: usize = 640;

/// Processor time of one test in microseconds, and tests by the clock's second.
fn measure(f: &Fixture, instrument: bool, sources: &[PathBuf], tests: &[TestCase]) -> (f64, f64) {
    let mut config = f.config();
    config.instrument = instrument;
    config.sources = sources.to_vec();
    let mut session = launch::start(&f.program, &f.watch, &config).unwrap();
    for e in session.execute(&tests[..1]).unwrap() {
        assert!(matches!(e.outcome, Outcome::Normal | Outcome::Thrown { .. }), "{:?}", e.outcome);
    }
    let before = session.stats().cpu_us;
    let start = Instant::now();
    session.execute(tests).unwrap();
    let took = start.elapsed().as_secs_f64();
    ((session.stats().cpu_us - before) as f64 / tests.len() as f64, tests.len() as f64 / took)
}

#[test]
fn probes_cost_little() {
    let (f, sources, function) = match std::env::var_os("RETHROW_TEST_YAML") {
        Some(python) => {
            let temp = std::env::temp_dir();
            let python = ask(Path::new(&python), &Question::new(Path::new(LAUNCHER), &temp)).unwrap();
            let yaml = python.site_packages.iter().map(|p| p.join("yaml")).find(|p| p.is_dir()).expect("it has PyYAML");
            let files =
                [("__init__", "yaml"), ("scanner", "yaml.scanner"), ("parser", "yaml.parser"), ("reader", "yaml.reader"), ("composer", "yaml.composer")];
            let files: Vec<(PathBuf, String)> = files.iter().map(|(file, module)| (yaml.join(format!("{file}.py")), (*module).to_owned())).collect();
            (Fixture::of(&python, &files), vec![], "safe_load")
        }
        None => {
            let python = interpreters().last().unwrap();
            let library = python.stdlib.iter().map(|p| p.join("shlex.py")).find(|p| p.is_file()).unwrap();
            let folder = support::folder("throughput");
            let copy = folder.join("copied_shlex.py");
            std::fs::copy(library, &copy).unwrap();
            (Fixture::new(python, &copy, "copied_shlex"), vec![folder], "split")
        }
    };
    let texts = ["a: [1, 2, {b: c}]", "- x\n- 'y z'\n- \"q\"\n", "key: value\nother:\n  - 1\n  - 2\n", "&a b: *c", "%YAML 1.1\n---\n? x\n: y\n"];
    let parameters = f.program.signature(f.method("", function)).params.len();
    let args = |text: &str| -> Vec<Data> { std::iter::once(Data::text(text)).chain((1..parameters).map(|_| Data::Absent)).collect() };
    let tests: Vec<TestCase> = (0..TESTS).map(|i| f.call(function, &args(&format!("{}# {i}", texts[i % texts.len()])))).collect();
    let (plain, _) = measure(&f, false, &sources, &tests);
    let (probed, rate) = measure(&f, true, &sources, &tests);
    println!("{}: {probed:.0} us a test with probes, {plain:.0} without ({:.2} times), {rate:.0} tests a second", f.python.label(), probed / plain);
    assert!(probed / plain < 6.0, "{probed} us with probes, {plain} without");
}
