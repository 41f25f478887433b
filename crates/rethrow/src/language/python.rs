//! Python: the interpreter, the packages' source, forking workers and pytest, as the walk asks for them.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use rethrow_core::goal::CrashGoal;
use rethrow_core::objective::context;
use rethrow_core::program::{Flags, MethodId, MethodKind, Program, TypeId};
use rethrow_core::report::Report;
use rethrow_core::search::grt::oracle::OracleRules;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::target::Render;
use rethrow_core::target::confirmation::ConfirmPlan;
use rethrow_core::target::suite::{CompilerPlan, RenderSuite, RenderedSuite, SuitePlan};
use rethrow_core::trace::{Frame, Trace};
use rethrow_python::interpreter::{self, Interpreter, InterpreterError, Member, MemberKind, Question};
use rethrow_python::launch::{self, SessionConfig};
use rethrow_python::plan::{self, Watch};
use rethrow_python::pytest::{self, ConfirmConfig, Pytest, SuiteConfig};
use rethrow_python::rules::{ORACLE, build_rules, suite_rules};
use rethrow_python::source::{self, Loaded, Places, Sources};

use super::{Opened, Platform, Rendered, Started, Suites, TEST_LIMIT_MS};
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
    let interpreter = interpreter(config, notes)?;
    let loaded = source::load(&[trace], &[], &places(config, &interpreter, report.code.clone()));
    let trace = source::align(trace, &loaded.sources);
    check_imports(config, &interpreter, &trace)?;
    Ok(opened(interpreter, loaded, trace, notes))
}

/// Reads the packages of modules; what these define is under test.
pub fn open_generate(config: &Config, modules: &[String], notes: &mut Vec<String>) -> Result<(Opened, Vec<TypeId>), UserError> {
    let interpreter = interpreter(config, notes)?;
    let launcher = own_executable()?;
    let tried = interpreter::try_imports(&interpreter, modules, &config.source, &question(config, &launcher));
    tried.map_err(|e| UserError::NotImportable { why: e.to_string() })?;
    let loaded = source::load(&[], modules, &places(config, &interpreter, Vec::new()));
    let program = &loaded.program;
    let inside = |module: &str, of: &str| module.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let ours = |t: &TypeId| !program.ty(*t).platform && !program.ty(*t).missing;
    let under_test = |t: &TypeId| modules.iter().any(|m| inside(program.package(*t), m));
    let types: Vec<TypeId> = program.types().filter(ours).filter(under_test).collect();
    if types.iter().all(|t| program.methods_of(*t).next().is_none()) {
        return Err(UserError::NothingToCall { module: modules.join(", ") });
    }
    Ok((opened(interpreter, loaded, Trace::default(), notes), types))
}

/// Asks the interpreter what can be called in a module and reads its package.
pub fn open_hunt(config: &Config, choice: &HuntChoice, module: &str, notes: &mut Vec<String>) -> Result<(Opened, CrashGoal), UserError> {
    let interpreter = interpreter(config, notes)?;
    let launcher = own_executable()?;
    let asked = interpreter::members(&interpreter, module, &config.source, &question(config, &launcher));
    let members = asked.map_err(|e| UserError::NotImportable { why: e.to_string() })?;
    let loaded = source::load_module(module, &members, &places(config, &interpreter, Vec::new()));
    let goal = hunted(choice, module, &members, &loaded)?;
    Ok((opened(interpreter, loaded, Trace::default(), notes), goal))
}

/// The interpreter, after what can be told without it.
fn interpreter(config: &Config, notes: &mut Vec<String>) -> Result<Interpreter, UserError> {
    if let Some(path) = config.source.iter().find(|path| !path.is_dir()) {
        return Err(UserError::SourceMissing { path: path.clone() });
    }
    let interpreter = ask(config)?;
    if interpreter.pytest.is_none() {
        notes.push(format!("{} has no pytest: tests are confirmed without it; pip install pytest to run them", interpreter.path.display()));
    }
    Ok(interpreter)
}

fn places(config: &Config, interpreter: &Interpreter, shown: Vec<String>) -> Places {
    let (major, minor, _) = interpreter.version;
    let search = config.source.iter().chain(&interpreter.sys_path).cloned().collect();
    Places { search, stdlib: interpreter.stdlib.clone(), version: (major, minor), shown }
}

fn opened(interpreter: Interpreter, loaded: Loaded, trace: Trace, notes: &mut Vec<String>) -> Opened {
    notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
    let (runtime, source) = (interpreter.label(), plural(loaded.sources.paths().count(), "file", "files"));
    let platform = Box::new(Python { interpreter, sources: loaded.sources, watch: OnceCell::new() });
    Opened { platform, program: loaded.program, trace, runtime, source }
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

    fn rules(&self, program: &Program, goal: &CrashGoal) -> BuildRules {
        build_rules(program, goal, &self.sources)
    }

    fn start<'a>(&'a self, config: &Config, aligned: &'a Aligned, scratch: &Path) -> Result<Started<'a>, UserError> {
        let watch = self.watch(aligned);
        let mut session = self.session(config, scratch)?;
        session.lazy = imported_by_tests(&aligned.goal);
        started(&aligned.program, watch, &session)
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

    fn suites(&self) -> &dyn Suites {
        self
    }
}

impl Suites for Python {
    fn rules(&self, program: &Program, types: &[TypeId]) -> BuildRules {
        suite_rules(program, types)
    }

    fn oracle(&self) -> &'static OracleRules {
        &ORACLE
    }

    fn start<'a>(&'a self, config: &Config, program: &'a Program, types: &[TypeId], scratch: &Path) -> Result<Started<'a>, UserError> {
        let watch = self.watch.get_or_init(|| plan::watch(program, &self.sources, types));
        started(program, watch, &self.session(config, scratch)?)
    }

    fn render(&self) -> &dyn RenderSuite {
        &Pytest
    }

    fn plan(&self, files: &[RenderedSuite], config: &Config, scratch: &Path) -> Result<SuitePlan, UserError> {
        let config = SuiteConfig { scratch, interpreter: &self.interpreter, sources: &config.source, test_limit_ms: TEST_LIMIT_MS };
        Ok(pytest::suite_plan(files, &config))
    }

    /// A syntax check needs no warm compiler.
    fn compiler(&self, _scratch: &Path) -> Result<Option<CompilerPlan>, UserError> {
        Ok(None)
    }
}

fn started<'a>(program: &'a Program, watch: &Watch, session: &SessionConfig) -> Result<Started<'a>, UserError> {
    let failed = |why: String| UserError::WorkerWillNotStart { why };
    let session = launch::start(program, watch, session).map_err(|e| failed(e.to_string()))?;
    Ok(Started { session: Box::new(session), plan: watch.plan.clone(), problems: Vec::new() })
}

impl Python {
    fn session(&self, config: &Config, scratch: &Path) -> Result<SessionConfig, UserError> {
        let mut session = SessionConfig::new(own_executable()?, self.interpreter.clone(), scratch.to_path_buf());
        session.sources = config.source.clone();
        session.allow_read = config.allow_read.clone();
        session.workers = config.workers;
        session.sandbox = sandbox_mode(config.sandbox);
        Ok(session)
    }

    /// The files of the trace are watched, and those near it as far as they are short: all that is watched takes longer.
    fn watch(&self, aligned: &Aligned) -> &Watch {
        self.watch.get_or_init(|| {
            let mut watch = plan::watch_near(&aligned.program, &self.sources, &aligned.goal.classes(), &aligned.goal.near);
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
