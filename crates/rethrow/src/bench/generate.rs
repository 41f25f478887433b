//! `rethrow bench generate`: library × variant × seed, each run a `rethrow generate` of its own, whose written files are then compiled, run under JUnit with
//! JaCoCo in the jail, and counted.
//!
//! What is already in the results file is not run again. One run at a time: the budget is wall time, so runs beside each other would measure each other.

mod measure;
mod mutation;
mod subjects;
mod tables;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::fetch;
use super::results::{self, Line, Log, Setting};
use super::run::{Scratch, copy_of_this_program};
use crate::cli::{BenchGenerateArgs, Extent, Variant};
use crate::config::Host;
use crate::error::UserError;
use crate::record::{Input, write_atomically};
use crate::report::{complain, say, short};
use measure::{Counted, Tools, Wanted};
use subjects::Subject;

/// How long after its budget a run is taken for hung.
const GRACE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
const INTERRUPTED: u8 = 130;
const INCOMPLETE: u8 = 1;

/// How a run went, and what its files cover.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generated {
    pub exit: Option<i32>,
    pub wall_ms: u64,
    /// Of the search, as its record tells.
    pub tests: u64,
    pub calls: u64,
    pub worker_cpu_ms: u64,
    pub restarts: u64,
    /// Tests in the written files.
    pub regression: u64,
    pub error: u64,
    #[serde(flatten)]
    pub counted: Counted,
    pub note: Option<String>,
}

/// One run that has to be made.
struct Job<'s> {
    setting: Setting,
    subject: &'s Subject,
    jars: Vec<PathBuf>,
    extent: Extent,
}

pub fn run(args: &BenchGenerateArgs, host: &Host) -> Result<u8, UserError> {
    let path = host.cwd.join(&args.subjects);
    let bad = |why: String| UserError::BenchInput { path: path.clone(), why };
    let text = std::fs::read_to_string(&path).map_err(|e| bad(e.to_string()))?;
    let subjects = subjects::parse(&text, &args.only).map_err(bad)?;
    let code = if args.report_only { 0 } else { make(args, host, &subjects)? };
    report(args, host)?;
    Ok(code)
}

fn make(args: &BenchGenerateArgs, host: &Host, subjects: &[Subject]) -> Result<u8, UserError> {
    let cache = host.cache.as_deref().ok_or_else(|| UserError::BadFlags { why: "there is no folder for a cache; set RETHROW_CACHE".into() })?;
    let tools = Tools::fetch(cache, host, !args.mutation.is_empty()).map_err(|why| UserError::WorkerWillNotStart { why })?;
    let scratch = Scratch::create()?;
    let (binary, hash) = copy_of_this_program(&scratch.0)?;
    let mut log = Log::open(&host.cwd.join(&args.results))?;
    let mut missing = 0;
    for job in plan(args, subjects, &hash, (cache, host), &mut missing) {
        if log.has(&job.setting) {
            continue;
        }
        let dir = scratch.0.join("run");
        let _ = std::fs::remove_dir_all(&dir);
        let Some(generated) = generate(&job, &binary, &dir, host) else { return Ok(INTERRUPTED) };
        let mutation = job.extent == Extent::Classes && args.mutation.contains(&job.subject.name);
        let generated = count(generated, &job, &tools, (&dir, mutation));
        tell(&job.setting, &generated);
        log.add(Line::new(job.setting, generated))?;
    }
    Ok(if missing > 0 { INCOMPLETE } else { 0 })
}

/// All runs. The seed changes slowest, as in `bench run`.
fn plan<'s>(args: &BenchGenerateArgs, subjects: &'s [Subject], binary: &str, (cache, host): (&Path, &Host), missing: &mut usize) -> Vec<Job<'s>> {
    let variants = if args.variants.is_empty() { default_variants() } else { args.variants.clone() };
    let mut ready: Vec<(&Subject, Vec<PathBuf>, Vec<String>)> = Vec::new();
    for subject in subjects {
        let jars = fetch::maven(&subject.coordinate, cache, host).and_then(|jars| subject.own_first(jars));
        let hashed = jars.and_then(|jars| {
            let hashes: Result<Vec<String>, String> = jars.iter().map(|j| Input::read(j).map(|i| i.sha256).map_err(|e| e.to_string())).collect();
            Ok((subject, jars, hashes?))
        });
        match hashed {
            Ok(subject) => ready.push(subject),
            Err(why) => {
                *missing += 1;
                complain(&format!("{} is left out: {why}\n", subject.name));
            }
        }
    }
    let mut jobs = Vec::new();
    for seed in 1..=args.seeds {
        for extent in &args.extent {
            for (subject, jars, inputs) in &ready {
                for variant in &variants {
                    let setting = setting((subject, *extent, inputs), variant, (seed, budget(args, *extent)), binary);
                    jobs.push(Job { setting, subject, jars: jars.clone(), extent: *extent });
                }
            }
        }
    }
    jobs
}

fn budget(args: &BenchGenerateArgs, extent: Extent) -> Duration {
    match extent {
        Extent::Jar => args.jar_budget,
        Extent::Classes => args.classes_budget,
    }
}

/// All six components, none, and each alone.
fn default_variants() -> Vec<Variant> {
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let mut out = vec![Variant { name: "all".into(), flags: Vec::new() }, Variant { name: "none".into(), flags: words("--preset randoop") }];
    let alone = rethrow_core::search::grt::Component::ALL.map(|c| Variant { name: c.name().into(), flags: words(&format!("--only {}", c.name())) });
    out.extend(alone);
    out
}

fn setting((subject, extent, inputs): (&Subject, Extent, &[String]), variant: &Variant, (seed, budget): (u64, Duration), binary: &str) -> Setting {
    let mut flags = variant.flags.clone();
    if !flags.iter().any(|flag| flag.starts_with("--workers")) {
        flags.extend(["--workers".into(), "1".into()]);
    }
    Setting {
        crash: format!("{}/{}", subject.name, extent.name()),
        language: "java".into(),
        variant: variant.name.clone(),
        flags,
        seed,
        budget_ms: budget.as_millis() as u64,
        inputs: inputs.to_vec(),
        binary: binary.into(),
    }
}

/// `None` if it was interrupted.
fn generate(job: &Job<'_>, binary: &Path, dir: &Path, host: &Host) -> Option<Generated> {
    let started = Instant::now();
    let error = |why: String| Some(Generated { note: Some(why), ..Generated::default() });
    if let Err(e) = std::fs::create_dir_all(dir) {
        return error(e.to_string());
    }
    let mut command = Command::new(binary);
    command.args(["generate", "--quiet", "--classpath", &fetch::class_path(&job.jars), "--seed", &job.setting.seed.to_string()]);
    command.args(["--budget", &format!("{}ms", job.setting.budget_ms), "--out", "tests", "--run-dir", "run"]).args(&job.setting.flags);
    if job.extent == Extent::Classes {
        command.args(["--classes", &job.subject.classes.join(",")]);
    }
    let mut child = match command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
        Ok(child) => child,
        Err(e) => return error(e.to_string()),
    };
    let patience = Duration::from_millis(job.setting.budget_ms) + GRACE;
    let exit = loop {
        if let Ok(Some(status)) = child.try_wait() {
            break status.code();
        }
        let interrupted = host.interrupted.load(Ordering::Relaxed);
        if interrupted || started.elapsed() > patience {
            // Its workers end with it.
            let _ = child.kill();
            let _ = child.wait();
            if interrupted {
                return None;
            }
            break None;
        }
        std::thread::sleep(POLL);
    };
    let wall_ms = started.elapsed().as_millis() as u64;
    if exit == Some(i32::from(INTERRUPTED)) {
        return None;
    }
    Some(Generated { exit, wall_ms, ..recorded(&dir.join("run/run.json")) })
}

/// What the run's own record says.
fn recorded(path: &Path) -> Generated {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let number = |place: &str| record.pointer(place).and_then(serde_json::Value::as_u64).unwrap_or(0);
    Generated {
        tests: number("/search/tests"),
        calls: number("/search/calls"),
        worker_cpu_ms: number("/worker_cpu_ms"),
        restarts: number("/restarts"),
        regression: number("/regression/tests"),
        error: number("/error/tests"),
        ..Generated::default()
    }
}

fn count(mut generated: Generated, job: &Job<'_>, tools: &Tools, (dir, mutation): (&Path, bool)) -> Generated {
    let classes: &[String] = if job.extent == Extent::Classes { &job.subject.classes } else { &[] };
    match tools.count(&job.jars, &dir.join("tests"), Wanted { classes, mutation }, dir) {
        Ok((counted, note)) => (generated.counted, generated.note) = (counted, note),
        Err(why) => generated.note = Some(why),
    }
    generated
}

fn tell(setting: &Setting, generated: &Generated) {
    let note = generated.note.as_deref().map(|note| format!("  {note}")).unwrap_or_default();
    let (branch, seconds) = (generated.counted.branch.percent(), generated.wall_ms as f64 / 1000.0);
    complain(&format!("{} {} seed {}: {branch:.1} % of branches in {seconds:.1} s{note}\n", setting.crash, setting.variant, setting.seed));
}

fn report(args: &BenchGenerateArgs, host: &Host) -> Result<(), UserError> {
    let (lines, odd) = results::read::<Generated>(&host.cwd.join(&args.results))?;
    if odd > 0 {
        complain(&format!("{odd} lines are not whole results and are left out\n"));
    }
    let peers = match &args.peers {
        Some(path) => {
            let path = host.cwd.join(path);
            std::fs::read_to_string(&path).map_err(|e| UserError::BenchInput { path, why: e.to_string() })?
        }
        None => String::new(),
    };
    let out = host.cwd.join(&args.out);
    for (name, text) in tables::files(&lines, &peers) {
        let path = out.join(name);
        write_atomically(&path, text.as_bytes()).map_err(|e| UserError::RunDirUnusable { path, why: e.to_string() })?;
    }
    say(&format!("{}\n", short(&out.join("coverage.md"), &host.cwd)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_variants_all_none_and_each_component_alone_are_measured() {
        let names: Vec<String> = default_variants().into_iter().map(|v| v.name).collect();
        assert_eq!(names[..3], ["all", "none", "constant-mining"]);
        assert_eq!(names.len(), 8);
    }

    #[test]
    fn a_missing_record_counts_as_nothing() {
        assert_eq!(recorded(Path::new("/nowhere/run.json")), Generated::default());
    }
}
