//! Compiles files and runs every test in a fresh process, both beside whatever else goes on; what does not compile or does not end as it should is
//! dropped, not its file.
//!
//! Everything foreign happens in the jail. What to compile and run is the language crate's plan.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethrow_core::program::Program;
use rethrow_core::target::confirmation::Command;
use rethrow_core::target::suite::{Compiled, Expect, Placed, RenderedSuite, SuiteFile, SuitePlan, SuiteTest, TestEnd};
use rethrow_worker::process::{Finished, JailedCommand, Scratch, run_to_end};

use super::compiler::Compiler;
use super::running::{Goes, Running};
use super::suspects::Suspects;
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::Config;
use crate::error::UserError;
use crate::language::Suites;

/// What is kept of a compiler's words: many errors are many words.
const KEPT_OUTPUT: usize = 8 << 20;
/// Compilations of a part until what does not compile is out of it: javac tells some errors only when others are gone. Before the last one whole files
/// go, so that what is wrong with one file never costs the others.
const MAX_COMPILATIONS: usize = 5;
/// What a test takes in a fresh process, until one has shown it.
const FIRST_RUN: Duration = Duration::from_millis(1);
const POLL: Duration = Duration::from_millis(5);
const MAX_RESULT_BYTES: u64 = 32 << 20;

/// What was not confirmed, and why.
#[derive(Default)]
pub struct Losses {
    /// Cannot be written in the language.
    pub unwritable: usize,
    pub uncompiled: usize,
    /// Ended otherwise, hung, or were not reached in time.
    pub differing: usize,
    pub diagnostics: Vec<String>,
}

/// Files that are compiled together.
#[derive(Default)]
pub struct Part {
    pub files: Vec<SuiteFile>,
    pub rendered: Vec<RenderedSuite>,
    /// The compiler's job, while it is at work.
    job: Option<u32>,
    tries: usize,
}

impl Part {
    fn tests(&self) -> usize {
        self.files.iter().map(|f| f.tests.len()).sum()
    }
}

/// What compiles and runs tests; lives as long as the search, so that its compiler is warm when the last part is ready.
pub struct Fresh<'a> {
    config: &'a Config,
    program: &'a Program,
    suites: &'a dyn Suites,
    scratch: Scratch,
    compiler: Option<Compiler>,
    pending: Option<Part>,
    /// Compiled, to be run.
    compiled: Vec<Part>,
    running: Option<Running>,
    confirmed: Vec<Part>,
    runs: usize,
    /// What the tests need beside the program is compiled: while tests run it must not be written again.
    has_support: bool,
    /// Compiled tests per second, as last measured.
    pub rate: Option<f64>,
    /// What one test takes in a fresh process.
    run_each: Duration,
    pub losses: Losses,
    pub suspects: Suspects,
    /// Tests that will not be written, by their own numbers.
    lost: Vec<usize>,
    /// Tests of which only an assertion did not hold.
    loud: Vec<usize>,
}

impl<'a> Fresh<'a> {
    pub fn new(config: &'a Config, program: &'a Program, suites: &'a dyn Suites, scratch: &Path) -> Result<Fresh<'a>, UserError> {
        let scratch = Scratch::create(scratch).map_err(|e| UserError::WorkerWillNotStart { why: e.to_string() })?;
        let plan = suites.compiler(scratch.path())?;
        let compiler = plan.map(|plan| Compiler::start(config, &plan, scratch.path())).transpose()?;
        Ok(Fresh {
            config,
            program,
            suites,
            scratch,
            compiler,
            pending: None,
            compiled: Vec::new(),
            running: None,
            confirmed: Vec::new(),
            runs: 0,
            has_support: false,
            rate: None,
            run_each: FIRST_RUN,
            losses: Losses::default(),
            suspects: Suspects::default(),
            lost: Vec::new(),
            loud: Vec::new(),
        })
    }

    /// Tests that were dropped since the last time this was asked.
    pub fn take_lost(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.lost)
    }

    /// Tests whose assertions did not hold in a fresh process, since the last time this was asked: a worker's identity hashes are not another process's.
    pub fn take_loud(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.loud)
    }

    /// Whether tests were dropped since, or have to be written anew.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty() || !self.loud.is_empty()
    }

    /// Whether a part is being compiled: nothing else can be handed in.
    pub fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// Nothing is compiled, run, or waits for it.
    pub fn is_idle(&self) -> bool {
        self.pending.is_none() && self.compiled.is_empty() && self.running.is_none()
    }

    /// How long so many tests take to be compiled and run; `None` before the first part.
    pub fn time_for(&self, tests: usize) -> Option<Duration> {
        let waiting: usize = self.pending.iter().chain(&self.compiled).map(Part::tests).sum::<usize>() + self.running.as_ref().map_or(0, Running::open);
        let compiling = tests + self.pending.as_ref().map_or(0, Part::tests);
        let runs = self.run_each * u32::try_from(tests + waiting).unwrap_or(u32::MAX);
        self.rate.map(|rate| Duration::from_secs_f64((compiling as f64 / rate).min(1e6)).saturating_add(runs))
    }

    /// Hands in files to be compiled, beside the search or before the end.
    pub fn submit(&mut self, files: Vec<SuiteFile>, deadline: Instant) -> Result<(), UserError> {
        let part = Part { files, ..Part::default() };
        self.hand_in(part, deadline)
    }

    fn hand_in(&mut self, mut part: Part, deadline: Instant) -> Result<(), UserError> {
        self.render(&mut part);
        if part.files.is_empty() || part.tries >= MAX_COMPILATIONS {
            self.losses.uncompiled += self.lose(&part, |_, _| true);
            return Ok(());
        }
        part.tries += 1;
        let plan = self.suites.plan(&part.rendered, self.config, self.scratch.path())?;
        write_files(&plan, self.scratch.path())?;
        if let Some(compiler) = &mut self.compiler {
            let own = |path: &PathBuf| !self.has_support || part.rendered.iter().any(|r| path.ends_with(&r.path));
            let sources: Vec<PathBuf> = sources(&plan, self.scratch.path()).into_iter().filter(own).collect();
            part.job = Some(compiler.submit(&sources)?);
            self.pending = Some(part);
            return Ok(());
        }
        let answer = self.compile_plainly(&plan, deadline)?;
        self.judge(part, answer, deadline)
    }

    /// By a compiler that ends, where none stays.
    fn compile_plainly(&self, plan: &SuitePlan, deadline: Instant) -> Result<Option<Compiled>, UserError> {
        let Some(limit) = left(deadline) else { return Ok(None) };
        let ended = self.start(plan, &plan.compile, self.scratch.path(), limit)?;
        if ended.timed_out {
            return Ok(None);
        }
        let said = format!("{}\n{}", ended.stderr.text(), ended.stdout.text());
        let errors = (plan.errors)(&said).into_iter().map(|(path, line)| (path, line, String::new())).collect();
        Ok(Some(Compiled { succeeded: ended.success(), millis: 0, errors }))
    }

    /// Takes in what is ready and starts what can be started; never waits.
    pub fn tick(&mut self, deadline: Instant) -> Result<(), UserError> {
        let answer = match (&self.compiler, &self.pending) {
            (Some(compiler), Some(Part { job: Some(job), .. })) => compiler.answer(*job),
            _ => None,
        };
        let gone = answer.is_none() && self.pending.is_some() && self.compiler.as_mut().is_none_or(Compiler::is_gone);
        if gone {
            // from now on by one that ends
            self.compiler = None;
        }
        if answer.is_some() || gone {
            let part = self.pending.take().expect("only what is pending has an answer");
            self.judge(part, answer, deadline)?;
        }
        self.advance()
    }

    fn judge(&mut self, mut part: Part, answer: Option<Compiled>, deadline: Instant) -> Result<(), UserError> {
        let Some(answer) = answer else {
            self.note("the compiler did not end in time".to_string());
            self.losses.uncompiled += self.lose(&part, |_, _| true);
            return Ok(());
        };
        self.note_rate(part.tests(), answer.millis);
        if answer.succeeded {
            self.has_support = true;
            part.files.iter().flat_map(|f| &f.tests).for_each(|t| self.suspects.note_fine(&t.test));
            self.compiled.push(part);
            return Ok(());
        }
        let mut bad = blamed(&part.rendered, &part.files, answer.errors.iter().map(|(path, line, _)| (path.as_path(), *line)));
        let first = answer.errors.first().map(|(path, line, what)| shown(&part.rendered, path, *line, what)).unwrap_or_default();
        self.note(format!("{} tests do not compile: {first}", bad.len()));
        if bad.is_empty() {
            self.losses.uncompiled += self.lose(&part, |_, _| true);
            return Ok(());
        }
        for (path, line, _) in &answer.errors {
            let text = line_of(&part.rendered, path, *line);
            for (file, test) in blamed(&part.rendered, &part.files, std::iter::once((path.as_path(), *line))) {
                self.suspects.note_bad(self.program, &part.files[file].tests[test].test, text);
            }
        }
        if part.tries + 1 >= MAX_COMPILATIONS {
            bad = with_their_files(&bad, &part.files);
        }
        self.losses.uncompiled += self.lose(&part, |file, test| bad.contains(&(file, test)));
        remove(&mut part, &bad);
        self.hand_in(part, deadline)
    }

    /// The best that was seen: a compiler gets faster as it gets warm, and small parts say little.
    fn note_rate(&mut self, tests: usize, millis: u64) {
        let rate = tests as f64 * 1000.0 / (millis.max(1) as f64);
        self.rate = Some(self.rate.map_or(rate, |known| known.max(rate)));
    }

    /// Notes tests as lost; how many.
    fn lose(&mut self, part: &Part, which: impl Fn(usize, usize) -> bool) -> usize {
        let before = self.lost.len();
        for (f, file) in part.files.iter().enumerate() {
            self.lost.extend(file.tests.iter().enumerate().filter(|(t, _)| which(f, *t)).map(|(_, test)| test.id));
        }
        self.lost.len() - before
    }

    /// Renders all files; tests that cannot be written go, and files without tests.
    fn render(&mut self, part: &mut Part) {
        loop {
            part.files.retain(|f| !f.tests.is_empty());
            let render = self.suites.render();
            part.rendered = part.files.iter().map(|f| render.render_suite(self.program, f)).collect();
            let bad: Vec<(usize, usize)> = places(&part.rendered, |m| m.is_err());
            let Some((file, test)) = bad.first() else { return };
            if let Err(why) = &part.rendered[*file].methods[*test] {
                self.note(format!("{} tests cannot be written, the first because {why}", bad.len()));
            }
            self.losses.unwritable += self.lose(part, |file, test| bad.contains(&(file, test)));
            remove(part, &bad);
        }
    }

    fn note(&mut self, text: String) {
        self.losses.diagnostics.push(text);
    }

    /// Starts a fresh process for what was compiled, and looks after the one that runs.
    fn advance(&mut self) -> Result<(), UserError> {
        if let Some(mut running) = self.running.take() {
            match running.look() {
                Goes::On => self.running = Some(running),
                Goes::Again => self.run_on(running)?,
                Goes::Ended => self.take_in(running),
            }
        }
        if self.running.is_some() || self.compiled.is_empty() {
            return Ok(());
        }
        let mut all = Part::default();
        for part in std::mem::take(&mut self.compiled) {
            all.files.extend(part.files);
            all.rendered.extend(part.rendered);
        }
        let tests = places(&all.rendered, |m| m.is_ok());
        self.run_on(Running::new(all, tests))
    }

    /// In a process of its own, what has not run yet.
    fn run_on(&mut self, mut running: Running) -> Result<(), UserError> {
        self.runs += 1;
        let folder = self.scratch.path().join(format!("run-{}", self.runs));
        let plan = self.suites.plan(&running.part.rendered, self.config, self.scratch.path())?;
        let command = self.jailed(&plan, &plan.run, &folder)?;
        running.start(&command, &folder, plan.results)?;
        self.running = Some(running);
        Ok(())
    }

    fn take_in(&mut self, running: Running) {
        if let Some(each) = running.each() {
            self.run_each = each;
        }
        let Running { part, tests, ends, .. } = running;
        self.keep_fitting(part, &tests, &ends);
    }

    /// Waits until nothing is open or `deadline` comes; what is not confirmed by then is lost.
    pub fn settle(&mut self, deadline: Instant) -> Result<(), UserError> {
        while !self.is_idle() && Instant::now() < deadline {
            self.tick(deadline)?;
            std::thread::sleep(POLL);
        }
        if let Some(part) = self.pending.take() {
            self.judge(part, None, deadline)?;
        }
        if let Some(mut running) = self.running.take() {
            running.stop();
            self.take_in(running);
        }
        for part in std::mem::take(&mut self.compiled) {
            self.losses.differing += self.lose(&part, |_, _| true);
        }
        Ok(())
    }

    fn keep_fitting(&mut self, mut part: Part, tests: &[(usize, usize)], ends: &[Option<TestEnd>]) {
        let fit = |((f, t), end): &(&(usize, usize), &Option<TestEnd>)| fits(&part.files[*f].tests[*t].expect, end.as_ref());
        let bad: Vec<(usize, usize)> = tests.iter().zip(ends).filter(|both| !fit(both)).map(|(place, _)| *place).collect();
        if let Some((place, end)) = tests.iter().zip(ends).find(|(place, _)| bad.contains(place)) {
            self.note(format!("{} tests do not end as they should in a fresh process, the first ({}): {end:?}", bad.len(), listed(&part, place.0, place.1)));
        }
        let loud = |((f, t), end): &(&(usize, usize), &Option<TestEnd>)| only_asserts_otherwise(&part.files[*f].tests[*t], end.as_ref());
        let loud: Vec<(usize, usize)> = tests.iter().zip(ends).filter(|both| !fit(both) && loud(both)).map(|(place, _)| *place).collect();
        self.loud.extend(loud.iter().map(|(f, t)| part.files[*f].tests[*t].id));
        self.losses.differing += self.lose(&part, |file, test| bad.contains(&(file, test)) && !loud.contains(&(file, test)));
        remove(&mut part, &bad);
        // a file that loses methods still compiles
        self.render(&mut part);
        self.confirmed.push(part);
    }

    /// Files whose tests all ended as they should.
    pub fn into_files(self) -> (Vec<(RenderedSuite, SuiteFile)>, Losses) {
        let files = self.confirmed.into_iter().flat_map(|part| part.rendered.into_iter().zip(part.files));
        (files.collect(), self.losses)
    }

    fn start(&self, plan: &SuitePlan, command: &Command, folder: &Path, limit: Duration) -> Result<Finished, UserError> {
        let jailed = self.jailed(plan, command, folder)?;
        run_to_end(&jailed, limit, KEPT_OUTPUT).map_err(|e| UserError::WorkerWillNotStart { why: e.to_string() })
    }

    fn jailed(&self, plan: &SuitePlan, command: &Command, folder: &Path) -> Result<JailedCommand, UserError> {
        let command = command.in_folder(folder);
        let mut jailed = JailedCommand::new(&own_executable()?, folder, &command.program).args(&command.args).mode(sandbox_mode(self.config.sandbox));
        jailed.read.extend(plan.readable.iter().chain(&self.config.allow_read).cloned());
        jailed.env.extend(command.env);
        Ok(jailed)
    }
}

/// Takes tests out of their files.
fn remove(part: &mut Part, bad: &[(usize, usize)]) {
    for (file, test) in bad.iter().rev() {
        part.files[*file].tests.remove(*test);
    }
}

pub fn listed(part: &Part, file: usize, test: usize) -> String {
    let file = &part.rendered[file];
    file.methods[test].as_ref().map(|p| format!("{} {}", file.name, p.method)).unwrap_or_default()
}

fn left(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

fn fits(expect: &Expect, end: Option<&TestEnd>) -> bool {
    match expect {
        Expect::Pass | Expect::Throws { .. } => end == Some(&TestEnd::Passed),
        Expect::Fails { exception } => matches!(end, Some(TestEnd::Failed(what)) if what.split(": ").next() == Some(exception)),
        Expect::Broken { .. } | Expect::Unfit { .. } => matches!(end, Some(TestEnd::Failed(what)) if what.starts_with("java.lang.AssertionError")),
    }
}

/// Whether a test of the regression suite went its way, as far as one can tell, and only what was asserted on it did not hold.
fn only_asserts_otherwise(test: &SuiteTest, end: Option<&TestEnd>) -> bool {
    let failed = matches!(end, Some(TestEnd::Failed(what)) if what.split(": ").next().is_some_and(|name| name.ends_with("AssertionError")));
    failed && test.expect == Expect::Pass && !test.checks.is_empty()
}

/// An error of the compiler with the line that it is about: the file is gone when somebody reads this.
fn shown(rendered: &[RenderedSuite], path: &Path, line: usize, what: &str) -> String {
    let shown = rendered.iter().find(|f| path.ends_with(&f.path)).map_or(path, |f| &f.path);
    format!("{}:{line}: {what}: {}", shown.display(), line_of(rendered, path, line).trim())
}

fn line_of<'r>(rendered: &'r [RenderedSuite], path: &Path, line: usize) -> &'r str {
    let file = rendered.iter().find(|f| path.ends_with(&f.path));
    file.and_then(|f| f.text.lines().nth(line.saturating_sub(1))).unwrap_or_default()
}

/// All tests of the files that any of `bad` is in.
fn with_their_files(bad: &[(usize, usize)], files: &[SuiteFile]) -> Vec<(usize, usize)> {
    let mut whole: Vec<usize> = bad.iter().map(|(file, _)| *file).collect();
    whole.dedup();
    whole.into_iter().flat_map(|file| (0..files[file].tests.len()).map(move |test| (file, test))).collect()
}

/// The tests in whose lines the compiler found errors.
fn blamed<'e>(rendered: &[RenderedSuite], files: &[SuiteFile], errors: impl Iterator<Item = (&'e Path, usize)>) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (path, line) in errors {
        let Some(file) = rendered.iter().position(|f| path.ends_with(&f.path)) else { continue };
        let inside = |m: &Result<Placed, String>| m.as_ref().is_ok_and(|p| (p.lines.0..=p.lines.1).contains(&line));
        match rendered[file].methods.iter().position(inside) {
            Some(test) => out.push((file, test)),
            // outside any method: an import or the class itself
            None => out.extend((0..files[file].tests.len()).map(|t| (file, t))),
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn sources(plan: &SuitePlan, scratch: &Path) -> Vec<PathBuf> {
    plan.files.iter().map(|(path, _)| scratch.join(path)).filter(|p| p.extension().is_some_and(|e| e == "java")).collect()
}

/// The tests (file, place in it) that `wanted` picks, in order.
fn places(rendered: &[RenderedSuite], wanted: impl Fn(&Result<rethrow_core::target::suite::Placed, String>) -> bool) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (file, suite) in rendered.iter().enumerate() {
        out.extend(suite.methods.iter().enumerate().filter(|(_, m)| wanted(m)).map(|(test, _)| (file, test)));
    }
    out
}

fn write_files(plan: &SuitePlan, scratch: &Path) -> Result<(), UserError> {
    for folder in &plan.folders {
        let path = scratch.join(folder);
        std::fs::create_dir_all(&path).map_err(|e| unusable(path, &e))?;
    }
    plan.files.iter().try_for_each(|(path, text)| write(&scratch.join(path), text))
}

pub fn write(path: &Path, text: &str) -> Result<(), UserError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|e| unusable(parent.to_path_buf(), &e))?;
    }
    std::fs::write(path, text).map_err(|e| unusable(path.to_path_buf(), &e))
}

fn unusable(path: PathBuf, e: &std::io::Error) -> UserError {
    UserError::RunDirUnusable { path, why: e.to_string() }
}

/// The jailed program wrote it, so it may be anything: only a plain file of moderate size is read.
pub fn read_result(path: &Path) -> Option<String> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let plain = meta.file_type().is_file() && meta.len() <= MAX_RESULT_BYTES;
    plain.then(|| std::fs::read(path).ok()).flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
