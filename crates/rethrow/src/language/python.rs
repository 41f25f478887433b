//! Python: the interpreter, the packages' source, forking workers and pytest, as the walk asks for them.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use rethrow_core::goal::CrashGoal;
use rethrow_core::objective::context;
use rethrow_core::program::{Flags, MethodId, MethodKind, Program, TypeId};
use rethrow_core::report::Report;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::target::Render;
use rethrow_core::target::confirmation::ConfirmPlan;
use rethrow_core::trace::{Frame, Trace};
use rethrow_python::interpreter::{self, Interpreter, InterpreterError, Member, MemberKind, Question};
use rethrow_python::launch::{self, SessionConfig};
use rethrow_python::plan::{self, Watch};
use rethrow_python::pytest::{self, ConfirmConfig, Pytest};
use rethrow_python::rules::build_rules;
use rethrow_python::source::{self, Loaded, Places, Sources};

use super::{Opened, Platform, Rendered, Started};
use crate::align::Aligned;
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::{Config, HuntChoice};
use crate::error::UserError;
use crate::hunt;
use crate::record::Runtime;
use crate::report::progress::plural;

/// Types beside the hunted module that are observed.
const MAX_WATCHED: usize = 20;
/// Files that are looked through for what throws.
const MAX_MENTIONING: usize = 60;

/// See the module documentation.
struct Python {
    interpreter: Interpreter,
    sources: Arc<Sources>,
    /// Made when first asked for.
    watch: OnceCell<Watch>,
}

/// Asks the interpreter where its modules are and reads the packages that the trace goes through.
pub fn open(config: &Config, trace: &Trace, report: &Report, notes: &mut Vec<String>) -> Result<Opened, UserError> {
    if let Some(path) = config.source.iter().find(|path| !path.is_dir()) {
        return Err(UserError::SourceMissing { path: path.clone() });
    }
    let interpreter = ask(config)?;
    if interpreter.pytest.is_none() {
        notes.push(format!("{} has no pytest: the test is confirmed without it; pip install pytest to run it", interpreter.path.display()));
    }
    let (major, minor, _) = interpreter.version;
    let search = config.source.iter().chain(&interpreter.sys_path).cloned().collect();
    let places = Places { search, stdlib: interpreter.stdlib.clone(), version: (major, minor), shown: report.code.clone() };
    let loaded = source::load(&[trace], &[], &places);
    notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
    let trace = source::align(trace, &loaded.sources);
    check_imports(config, &interpreter, &trace)?;
    let (runtime, source) = (interpreter.label(), plural(loaded.sources.paths().count(), "file", "files"));
    let platform = Box::new(Python { interpreter, sources: loaded.sources, watch: OnceCell::new() });
    Ok(Opened { platform, program: loaded.program, trace, runtime, source })
}

/// Asks the interpreter what can be called in a module and reads its package.
pub fn open_hunt(config: &Config, choice: &HuntChoice, module: &str, notes: &mut Vec<String>) -> Result<(Opened, CrashGoal), UserError> {
    if let Some(path) = config.source.iter().find(|path| !path.is_dir()) {
        return Err(UserError::SourceMissing { path: path.clone() });
    }
    let interpreter = ask(config)?;
    if interpreter.pytest.is_none() {
        notes.push(format!("{} has no pytest: the test is confirmed without it; pip install pytest to run it", interpreter.path.display()));
    }
    let launcher = own_executable()?;
    let asked = interpreter::members(&interpreter, module, &config.source, &question(config, &launcher));
    let members = asked.map_err(|e| UserError::NotImportable { why: e.to_string() })?;
    let (major, minor, _) = interpreter.version;
    let search = config.source.iter().chain(&interpreter.sys_path).cloned().collect();
    let places = Places { search, stdlib: interpreter.stdlib.clone(), version: (major, minor), shown: Vec::new() };
    let loaded = source::load_module(module, &members, &places);
    notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
    let goal = hunted(choice, module, &members, &loaded)?;
    let (runtime, source) = (interpreter.label(), plural(loaded.sources.paths().count(), "file", "files"));
    let platform = Box::new(Python { interpreter, sources: loaded.sources, watch: OnceCell::new() });
    Ok((Opened { platform, program: loaded.program, trace: Trace::default(), runtime, source }, goal))
}

/// The functions of the module and what its classes have; those of the function asked for, if there are such.
fn hunted(choice: &HuntChoice, module: &str, members: &[Member], loaded: &Loaded) -> Result<CrashGoal, UserError> {
    let (program, sources) = (&loaded.program, &loaded.sources);
    let nothing = || UserError::NothingToCall { module: module.into() };
    let ty = program.find_type(module).ok_or_else(nothing)?;
    let classes = members.iter().filter(|m| m.kind == MemberKind::Class);
    let classes: Vec<TypeId> = classes.filter_map(|m| program.find_type(&format!("{}:{}", m.module, m.qualname))).collect();
    let callable = |m: &MethodId| !program.method(*m).flags.has(Flags::SYNTHETIC) && program.method(*m).kind != MethodKind::TypeInitializer;
    let all: Vec<MethodId> = std::iter::once(ty).chain(classes).flat_map(|t| program.methods_of(t)).filter(callable).collect();
    let hidden = |m: &MethodId| program.method_name(*m).starts_with('_') && program.method_name(*m) != "__init__";
    let asked = choice.function.as_deref().map(|f| f.rsplit('.').next().unwrap_or(f));
    let named: Vec<MethodId> = all.iter().copied().filter(|m| Some(program.method_name(*m)) == asked).collect();
    let open: Vec<MethodId> = all.iter().copied().filter(|m| !hidden(m)).collect();
    let methods = [named, open, all].into_iter().find(|list| !list.is_empty()).ok_or_else(nothing)?;
    let mut criteria = hunt::criteria(choice, program);
    if asked.is_some() && methods.iter().all(|m| Some(program.method_name(*m)) == asked && program.body(*m).is_none()) {
        // what is built in is never on the stack; but nothing else is called
        criteria.function = None;
    }
    criteria.bare = methods.iter().any(|m| program.body(*m).is_none());
    for method in &methods {
        let home = sources.defined_in(program, *method);
        if home != ty && !criteria.types.contains(&home) && criteria.types.len() < MAX_WATCHED {
            criteria.types.push(home);
        }
    }
    let mentioning = sources.mentioning(program, &hunt::telling_words(choice), MAX_MENTIONING);
    Ok(CrashGoal::of_hunt(criteria, program, ty, methods, &mentioning))
}

/// A module that cannot be imported is told now, in a sentence; unless its import is what crashes.
fn check_imports(config: &Config, interpreter: &Interpreter, trace: &Trace) -> Result<(), UserError> {
    let frames = trace.program_frames();
    let found = |f: &&Frame| !f.class.contains(['/', '\\', '<']) && !f.class.ends_with(".py");
    if frames.iter().filter(found).any(|f| f.method == "<module>") {
        return Ok(());
    }
    let mut modules: Vec<String> = Vec::new();
    // what is not found stays as it is printed, and is told as a frame that does not fit
    for module in frames.iter().filter(found).map(|f| f.class.split(':').next().unwrap_or(&f.class)) {
        if !modules.iter().any(|m| m == module) {
            modules.push(module.to_string());
        }
    }
    let launcher = own_executable()?;
    let question = question(config, &launcher);
    interpreter::try_imports(interpreter, &modules, &config.source, &question).map_err(|e| UserError::NotImportable { why: e.to_string() })
}

fn question<'a>(config: &'a Config, launcher: &'a Path) -> Question<'a> {
    let mut question = Question::new(launcher, &config.run_dir);
    question.sandbox = sandbox_mode(config.sandbox);
    question
}

fn ask(config: &Config) -> Result<Interpreter, UserError> {
    let found = config.python.clone().or_else(|| config.host.pythons().into_iter().next()).ok_or(UserError::NoPython)?;
    let launcher = own_executable()?;
    let unusable = |e: std::io::Error| UserError::RunDirUnusable { path: config.run_dir.clone(), why: e.to_string() };
    std::fs::create_dir_all(&config.run_dir).map_err(unusable)?;
    let user_base = config.host.home.as_ref().map(|home| home.join(".local"));
    let mut question = question(config, &launcher);
    question.user_base = user_base.as_deref().filter(|base| base.is_dir());
    interpreter::ask(&found, &question).map_err(|e: InterpreterError| UserError::BadPython { why: e.to_string() })
}

impl Platform for Python {
    fn runtime(&self) -> Runtime {
        Runtime { version: self.interpreter.label(), home: self.interpreter.path.clone() }
    }

    fn entries(&self) -> Vec<String> {
        self.sources.paths().map(|path| path.display().to_string()).collect()
    }

    fn missing_hint(&self, class: &str) -> Option<String> {
        let what = if class.contains('/') || class.ends_with(".py") { "file" } else { "module" };
        let near = self.interpreter.site_packages.first().map(|p| p.display().to_string()).unwrap_or_default();
        Some(format!("{what} {class} is not found by {} (looked in {near} and --source)", self.interpreter.path.display()))
    }

    fn check(&self, _program: &Program, _goal: &CrashGoal, _notes: &mut Vec<String>) -> Result<(), UserError> {
        Ok(())
    }

    fn rules(&self, _program: &Program, goal: &CrashGoal) -> BuildRules {
        build_rules(goal)
    }

    fn start<'a>(&'a self, config: &Config, aligned: &'a Aligned, scratch: &Path) -> Result<Started<'a>, UserError> {
        let watch = self.watch(aligned);
        let mut session = SessionConfig::new(own_executable()?, self.interpreter.clone(), scratch.to_path_buf());
        session.sources = config.source.clone();
        session.allow_read = config.allow_read.clone();
        session.workers = config.workers;
        session.sandbox = sandbox_mode(config.sandbox);
        session.lazy = imported_by_tests(&aligned.goal);
        let failed = |why: String| UserError::WorkerWillNotStart { why };
        let session = launch::start(&aligned.program, watch, &session).map_err(|e| failed(e.to_string()))?;
        Ok(Started { session: Box::new(session), plan: watch.plan.clone(), problems: Vec::new() })
    }

    fn render(&self) -> &dyn Render {
        &Pytest
    }

    fn framework(&self, _config: &Config) -> u32 {
        0
    }

    fn needs_assertions(&self, _goal: &CrashGoal) -> bool {
        false
    }

    fn confirmation(&self, config: &Config, aligned: &Aligned, tests: &Rendered, scratch: &Path) -> Result<ConfirmPlan, UserError> {
        let watch = self.watch(aligned);
        let confirm = ConfirmConfig { scratch, interpreter: &self.interpreter, sources: &config.source, watch };
        Ok(pytest::plan(&tests.failing, tests.expecting.as_ref(), &confirm))
    }

    fn run_command(&self, config: &Config, path: &Path, _name: &str) -> String {
        let short = |p: &Path| crate::report::short(p, &config.host.cwd);
        let modules: Vec<String> = config.source.iter().map(|p| short(p)).collect();
        let prefix = if modules.is_empty() { String::new() } else { format!("PYTHONPATH={} ", modules.join(":")) };
        format!("{prefix}{} -m pytest {}", short(&self.interpreter.path), short(path))
    }
}

impl Python {
    /// The files of the trace are watched.
    fn watch(&self, aligned: &Aligned) -> &Watch {
        self.watch.get_or_init(|| {
            let mut watch = plan::watch(&aligned.program, &self.sources, &aligned.goal.classes());
            watch.plan.chain = context::chain(&aligned.program, &watch.plan, &aligned.goal);
            watch
        })
    }
}

/// Modules that fail while they are imported: the tests must be the first to import them.
fn imported_by_tests(goal: &CrashGoal) -> Vec<String> {
    let frames = goal.frames.iter().filter(|f| f.frame.method == "<module>");
    frames.map(|f| f.frame.class.clone()).collect()
}
