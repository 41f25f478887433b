//! The run record of `generate` (`run.json`): what it was given, what came out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethrow_core::search::Stop;
use rethrow_core::search::grt::{Generator, Settings, Tally};
use rethrow_core::target::suite::{RenderedSuite, SuiteFile, SuiteKind};
use serde::Serialize;

use super::Options;
use super::fresh::Losses;
use crate::cli::GeneratePreset;
use crate::config::Config;
use crate::error::UserError;
use crate::language::Live;
use crate::record::{Jail, Runtime, write_atomically};
use crate::report::{short, short_number, short_time};

const RECORD_FILE: &str = "run.json";
const SCHEMA: u32 = 1;

/// See the module documentation.
#[derive(Debug, Serialize)]
pub struct GenerateRecord {
    pub schema: u32,
    pub command: &'static str,
    pub tool: &'static str,
    pub exit_code: u8,
    pub seed: u64,
    pub preset: GeneratePreset,
    pub components: Vec<&'static str>,
    pub classes: Vec<String>,
    pub modules: Vec<String>,
    pub classpath: Vec<PathBuf>,
    pub budget_ms: u64,
    pub max_tests: Option<u64>,
    pub out: PathBuf,
    pub runtime: Runtime,
    pub elapsed_ms: Elapsed,
    /// Sides of branches, as the search saw them.
    pub branches: Covered,
    pub search: Counts,
    pub regression: Suite,
    pub error: Suite,
    pub lost: Lost,
    pub jail: Jail,
    pub workers: usize,
    pub restarts: u64,
    /// Why workers were replaced, and how often.
    pub replaced: BTreeMap<String, u64>,
    /// Processor time of the workers.
    pub worker_cpu_ms: u64,
    /// Tests that the compiler took in a second.
    pub compiled_per_s: Option<f64>,
    /// No clock decided anything: the same seed gives the same suites.
    pub deterministic: bool,
    pub interrupted: bool,
    pub diagnostics: Vec<String>,
    #[serde(skip)]
    pub settings: Settings,
}

#[derive(Debug, Default, Serialize)]
pub struct Elapsed {
    pub total: u64,
    pub prepare: u64,
    pub search: u64,
    pub confirm: u64,
}

#[derive(Debug, Default, Serialize)]
pub struct Covered {
    pub covered: u32,
    pub total: u32,
}

#[derive(Debug, Default, Serialize)]
pub struct Counts {
    pub tests: u64,
    pub calls: u64,
    pub normal: u64,
    pub thrown: u64,
    pub invalid: u64,
    pub step_limits: u64,
    pub timeouts: u64,
    pub exits: u64,
    pub deaths: u64,
    /// Methods under test.
    pub methods: usize,
    /// Tests that covered something new when they ran.
    pub kept: usize,
    /// Run-time types of which objects were made.
    pub types: usize,
}

#[derive(Debug, Default, Serialize)]
pub struct Suite {
    pub tests: usize,
    pub files: Vec<PathBuf>,
}

/// Tests that were chosen and did not stay: they cannot be written, do not compile, or end otherwise in a fresh process.
#[derive(Debug, Default, Serialize)]
pub struct Lost {
    pub unwritable: usize,
    pub uncompiled: usize,
    pub differing: usize,
    /// Did not end as before when they were run twice more beside others.
    pub unsteady: usize,
}

impl GenerateRecord {
    pub fn new(config: &Config, settings: Settings, options: &Options, runtime: Runtime) -> GenerateRecord {
        GenerateRecord {
            schema: SCHEMA,
            command: "generate",
            tool: env!("CARGO_PKG_VERSION"),
            exit_code: 1,
            seed: config.seed,
            preset: options.preset,
            components: settings.components.iter().map(|c| c.name()).collect(),
            classes: options.under_test.classes.clone(),
            modules: options.under_test.modules.clone(),
            classpath: config.classpath.clone(),
            budget_ms: config.budget_ms,
            max_tests: config.max_evaluations,
            out: config.out.clone(),
            runtime,
            elapsed_ms: Elapsed::default(),
            branches: Covered::default(),
            search: Counts::default(),
            regression: Suite::default(),
            error: Suite::default(),
            lost: Lost::default(),
            jail: Jail::default(),
            workers: config.workers,
            restarts: 0,
            replaced: BTreeMap::new(),
            worker_cpu_ms: 0,
            compiled_per_s: None,
            deterministic: true,
            interrupted: false,
            diagnostics: Vec::new(),
            settings,
        }
    }

    pub fn note_search(&mut self, generator: &Generator<'_>, stop: &Stop) {
        let Tally { tests, calls, normal, thrown, invalid, step_limit, time_limit, exit, died } = generator.tally;
        self.search = Counts {
            tests,
            calls,
            normal,
            thrown,
            invalid,
            step_limits: step_limit,
            timeouts: time_limit,
            exits: exit,
            deaths: died,
            methods: generator.subjects.len(),
            kept: generator.kept.len(),
            types: generator.pool.types().len(),
        };
        let branches = generator.coverage.branches();
        self.branches = Covered { covered: branches.covered, total: branches.total };
        self.interrupted = *stop == Stop::Cancelled;
        // a search that the clock ended may be longer the next time
        self.deterministic = time_limit == 0 && died == 0 && tests >= self.settings.max_tests;
        if let Stop::SessionLost(why) = stop {
            self.diagnostics.push(format!("the search ended early: {why}"));
        }
    }

    pub fn note_workers(&mut self, session: &dyn Live, config: &Config) {
        let stats = session.stats();
        self.restarts = stats.starts.saturating_sub(config.workers as u64);
        self.worker_cpu_ms = stats.cpu_us / 1000;
        self.replaced = stats.replaced;
        let layers = session.layers().map(|l| l.to_string()).unwrap_or_default();
        self.jail.layers = layers.split('+').filter(|l| !l.is_empty()).map(String::from).collect();
    }

    pub fn note_suite(&mut self, files: &[(RenderedSuite, SuiteFile)], losses: Losses, unsteady: usize) {
        let suite = |kind: SuiteKind| {
            let files = files.iter().filter(|(_, file)| file.kind == kind);
            Suite { tests: files.clone().map(|(_, file)| file.tests.len()).sum(), files: files.map(|(f, _)| f.path.clone()).collect() }
        };
        (self.regression, self.error) = (suite(SuiteKind::Regression), suite(SuiteKind::Error));
        self.lost = Lost { unwritable: losses.unwritable, uncompiled: losses.uncompiled, differing: losses.differing, unsteady };
        self.diagnostics.extend(losses.diagnostics);
        self.exit_code = match (self.interrupted, files.is_empty()) {
            (true, _) => 130,
            (false, true) => 1,
            (false, false) => 0,
        };
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record that was built is a JSON object")
    }

    pub fn write(&self, run_dir: &Path) -> Result<(), UserError> {
        let path = run_dir.join(RECORD_FILE);
        write_atomically(&path, (self.json() + "\n").as_bytes()).map_err(|e| UserError::RunDirUnusable { path, why: e.to_string() })
    }

    /// The closing words.
    pub fn summary(&self, cwd: &Path) -> String {
        let percent = 100.0 * f64::from(self.branches.covered) / f64::from(self.branches.total.max(1));
        let rate = self.search.tests as f64 / Duration::from_millis(self.elapsed_ms.search.max(1)).as_secs_f64();
        let mut out = format!(
            "{} regression tests in {} files, {} failing tests in {}\n",
            self.regression.tests,
            self.regression.files.len(),
            self.error.tests,
            short(&self.out, cwd)
        );
        out.push_str(&format!(
            "branches {}/{} ({percent:.1} %)  {} tests run, {rate:.0}/s  {}\n",
            self.branches.covered,
            self.branches.total,
            short_number(self.search.tests),
            short_time(self.elapsed_ms.total)
        ));
        out
    }
}
