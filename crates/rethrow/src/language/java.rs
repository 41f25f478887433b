//! Java: the class path, the JDK, JVM workers and JUnit, as the walk asks for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethrow_core::goal::CrashGoal;
use rethrow_core::objective::context;
use rethrow_core::program::{Access, Flags, MethodId, MethodKind, Program, TypeId};
use rethrow_core::search::grt::oracle::OracleRules;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::target::Render;
use rethrow_core::target::confirmation::ConfirmPlan;
use rethrow_core::target::suite::{CompilerPlan, RenderSuite, RenderedSuite, SuitePlan};
use rethrow_core::trace::{Frame, Trace};
use rethrow_jvm::classpath::{self, ClassPath, ClassPathError};
use rethrow_jvm::instrument::Detail;
use rethrow_jvm::jdk::Jdk;
use rethrow_jvm::junit::{self, ConfirmConfig, JUnit, SuiteConfig, compiler_plan, suite_plan};
use rethrow_jvm::launch::{self, SessionConfig, Watch, has_state, watch, watch_at};
use rethrow_jvm::rules::{ORACLE, build_rules, suite_rules};
use rethrow_jvm::trace::looks_obfuscated;

use super::{Opened, Platform, Rendered, Started, Suites, TEST_LIMIT_MS};
use crate::align::Aligned;
use crate::commands::jail::own_executable;
use crate::commands::sandbox_mode;
use crate::config::{Config, HuntChoice};
use crate::error::UserError;
use crate::generate::classes;
use crate::hunt;
use crate::record::Runtime;
use crate::report::progress::plural;

/// Classes of a package that are looked through for what throws.
const MAX_NEAR: usize = 300;
/// Of a test for a suite: what takes longer is not written.
const TIME_LIMIT_MS: u32 = 150;
/// Class files of Java N have version N + 44.
const CLASS_VERSION_OFFSET: u32 = 44;

/// See the module documentation.
struct Java {
    /// Runs the program.
    jdk: Jdk,
    /// Compiles the test: the same one if it has a compiler.
    compiler: Jdk,
    classpath: Arc<ClassPath>,
    junit: JUnit,
}

/// Chooses the JDK and reads the class path.
pub fn open(config: &Config, trace: &Trace, notes: &mut Vec<String>) -> Result<Opened, UserError> {
    if looks_obfuscated(trace) {
        notes.push("the names in the trace look obfuscated; give a trace and a class path with the original names".into());
    }
    check_classpath(config)?;
    let jdks = find_jdks(config)?;
    let Read { jdk, classpath, program } = read_program(config, trace, &jdks, notes)?;
    let compiler = find_compiler(&jdk, &jdks)?;
    let runtime = format!("JDK {}", jdk.version);
    let source = plural(classpath.entries().filter(|e| !e.platform).count(), "entry", "entries") + " on the class path";
    let platform = Box::new(Java { jdk, compiler, junit: JUnit::new(classpath.clone()), classpath });
    Ok(Opened { platform, program, trace: trace.clone(), runtime, source })
}

/// The classes that the patterns name; without patterns, all of the first entry.
pub fn open_generate(config: &Config, patterns: &[String], notes: &mut Vec<String>) -> Result<(Opened, Vec<TypeId>), UserError> {
    let opened = open(config, &Trace::default(), notes)?;
    let types = classes::select(&opened.program, patterns)?;
    Ok((opened, types))
}

/// The methods of a class: those of the function asked for, if it has them, else all that can be called.
pub fn open_hunt(config: &Config, choice: &HuntChoice, class: &str, notes: &mut Vec<String>) -> Result<(Opened, CrashGoal), UserError> {
    let opened = open(config, &Trace::default(), notes)?;
    let program = &opened.program;
    let found = program.find_type(class).or_else(|| nested(program, class)).filter(|t| !program.ty(*t).platform);
    let ty = found.ok_or_else(|| UserError::NoSuchClass { class: class.into(), near: alike(program, class) })?;
    let hidden = Flags::SYNTHETIC.0 | Flags::BRIDGE.0;
    let callable = |m: &MethodId| {
        let def = program.method(*m);
        def.kind != MethodKind::TypeInitializer && def.flags.0 & hidden == 0
    };
    let all: Vec<MethodId> = program.methods_of(ty).filter(callable).collect();
    let named: Vec<MethodId> = all.iter().copied().filter(|m| Some(program.method_name(*m)) == choice.function.as_deref()).collect();
    let open: Vec<MethodId> = all.iter().copied().filter(|m| program.method(*m).access != Access::Private).collect();
    let methods = [named, open, all].into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    let near = |t: &TypeId| program.package(*t) == program.package(ty) && !program.ty(*t).platform && !program.ty(*t).missing;
    let types: Vec<TypeId> = std::iter::once(ty).chain(program.types().filter(near)).take(MAX_NEAR).collect();
    let goal = CrashGoal::of_hunt(hunt::criteria(choice, program), program, ty, methods, &types);
    Ok((opened, goal))
}

/// A few classes of the same simple name, else of any.
fn alike(program: &Program, class: &str) -> Vec<String> {
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    let ours = || program.types().filter(|t| !program.ty(*t).platform && !program.ty(*t).missing).map(|t| program.type_name(t));
    let same: Vec<String> = ours().filter(|name| name.rsplit(['.', '$']).next() == Some(simple)).take(3).map(str::to_string).collect();
    if same.is_empty() { ours().take(3).map(str::to_string).collect() } else { same }
}

/// `a.B.C` as `a.B$C`.
fn nested(program: &Program, class: &str) -> Option<TypeId> {
    let dots: Vec<usize> = class.match_indices('.').map(|(at, _)| at).collect();
    dots.into_iter().rev().find_map(|at| program.find_type(&format!("{}{}", &class[..at], class[at..].replace('.', "$"))))
}

fn check_classpath(config: &Config) -> Result<(), UserError> {
    if config.classpath.is_empty() {
        return Err(UserError::NoClassPath);
    }
    match config.classpath.iter().find(|path| !path.exists()) {
        Some(path) => Err(UserError::ClassPathMissing { path: path.clone() }),
        None => Ok(()),
    }
}

fn find_jdks(config: &Config) -> Result<Vec<Jdk>, UserError> {
    if let Some(home) = &config.java_home
        && Jdk::at(home).is_none()
    {
        return Err(UserError::BadJavaHome { path: home.clone(), why: "no Java runtime there".into() });
    }
    let jdks = config.host.jdks(config.java_home.as_deref());
    if jdks.is_empty() {
        return Err(UserError::NoJdk { looked: crate::commands::doctor::places(&config.host) });
    }
    Ok(jdks)
}

struct Read {
    jdk: Jdk,
    classpath: Arc<ClassPath>,
    program: Program,
}

/// Reads the class path for the first JDK that can run it. A JDK that the user named is never replaced.
fn read_program(config: &Config, trace: &Trace, jdks: &[Jdk], notes: &mut Vec<String>) -> Result<Read, UserError> {
    let candidates = if config.java_home.is_some() { &jdks[..1] } else { jdks };
    let opened = read_with(config, trace, &candidates[0], notes)?;
    let needs = java_of(opened.classpath.highest_class_version());
    if needs <= opened.jdk.feature {
        return Ok(opened);
    }
    if let Some(newer) = candidates.iter().find(|jdk| jdk.feature >= needs) {
        notes.push(format!("using JDK {}, because the classes need Java {needs}", newer.version));
        return read_with(config, trace, newer, notes);
    }
    // Classes that the crash does not touch may stay out of reach.
    let newest = candidates.iter().max_by_key(|jdk| jdk.feature).expect("at least the first JDK");
    if let Some((class, needs)) = newest_on_trace(trace, &opened.classpath).filter(|(_, needs)| *needs > newest.feature) {
        return Err(UserError::ClassTooNew { class, needs, found: Some(newest.feature) });
    }
    notes.push(format!("some classes need Java {needs} and are left out"));
    if newest.home == opened.jdk.home { Ok(opened) } else { read_with(config, trace, newest, notes) }
}

fn read_with(config: &Config, trace: &Trace, jdk: &Jdk, notes: &mut Vec<String>) -> Result<Read, UserError> {
    let mut spec: Vec<String> = config.classpath.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    let read = read_spec(config, &spec, jdk, notes)?;
    // Whoever runs the test has JUnit, so what extends it can be loaded there.
    let jars: Vec<String> = framework_jars(config, 4).into_iter().filter(|jar| Path::new(jar).exists()).collect();
    match lacks_framework(&read.program, trace).filter(|_| !jars.is_empty()) {
        Some(class) => {
            notes.push(format!("{class} needs JUnit, which is taken from {}", jars[0]));
            spec.extend(jars);
            read_spec(config, &spec, jdk, notes)
        }
        None => Ok(read),
    }
}

/// The class of the trace that extends something of the test framework which is not on the class path.
fn lacks_framework(program: &Program, trace: &Trace) -> Option<String> {
    let lacks = |class: &str| {
        let above = program.supertypes(program.find_type(class)?);
        let framework = |name: &str| name.starts_with("junit.") || name.starts_with("org.junit.");
        above.into_iter().any(|t| program.ty(t).missing && framework(program.type_name(t))).then(|| class.to_string())
    };
    trace.chain().flat_map(|t| t.program_frames()).find_map(|frame| lacks(&frame.class))
}

fn read_spec(config: &Config, spec: &[String], jdk: &Jdk, notes: &mut Vec<String>) -> Result<Read, UserError> {
    let opened = ClassPath::open(spec, jdk).map_err(|e| class_path_error(e, config))?;
    let classpath = Arc::new(opened.value);
    let loaded = classpath::load(classpath.clone());
    for diagnostic in opened.diagnostics.iter().chain(&loaded.diagnostics) {
        let text = diagnostic.to_string();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    Ok(Read { jdk: jdk.clone(), classpath, program: loaded.value })
}

fn class_path_error(error: ClassPathError, config: &Config) -> UserError {
    let first = || config.classpath.first().cloned().unwrap_or_default();
    match error {
        ClassPathError::Empty => UserError::NoClassPath,
        ClassPathError::Unreadable(entries) => {
            let (path, why) = entries.into_iter().next().unwrap_or_else(|| (first(), "no classes in it".into()));
            UserError::ClassPathCorrupt { path, why }
        }
        ClassPathError::Platform { home, why } => UserError::BadJavaHome { path: home, why },
    }
}

/// The class of the trace that needs the newest Java, and which.
fn newest_on_trace(trace: &Trace, classpath: &ClassPath) -> Option<(String, u32)> {
    let frames = trace.chain().flat_map(|t| t.program_frames());
    let needs = |frame: Frame| {
        let bytes = classpath.class_bytes(&frame.class)?;
        let version = u16::from_be_bytes([*bytes.get(6)?, *bytes.get(7)?]);
        Some((frame.class, java_of(version)))
    };
    frames.filter_map(needs).max_by_key(|(_, java)| *java)
}

fn java_of(class_version: u16) -> u32 {
    u32::from(class_version).saturating_sub(CLASS_VERSION_OFFSET)
}

/// The JDK itself if it has a compiler, else the oldest other one that has and can read its class files.
fn find_compiler(jdk: &Jdk, jdks: &[Jdk]) -> Result<Jdk, UserError> {
    if jdk.javac.is_some() {
        return Ok(jdk.clone());
    }
    let others = jdks.iter().filter(|other| other.javac.is_some() && other.feature >= jdk.feature);
    let other = others.min_by_key(|other| other.feature);
    other.cloned().ok_or_else(|| UserError::NoCompiler { jdk: jdk.home.clone() })
}

impl Platform for Java {
    fn runtime(&self) -> Runtime {
        Runtime { version: self.jdk.version.clone(), home: self.jdk.home.clone() }
    }

    fn entries(&self) -> Vec<String> {
        let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
        self.classpath.entries().filter(|e| !e.platform).filter_map(|e| name(e.path)).collect()
    }

    fn missing_hint(&self, class: &str) -> Option<String> {
        self.classpath.missing_hint(class)
    }

    /// A class without its supertypes never loads: no test goes through the innermost frame then, and a note tells of the others.
    fn check(&self, program: &Program, goal: &CrashGoal, notes: &mut Vec<String>) -> Result<(), UserError> {
        for (i, frame) in goal.frames.iter().enumerate() {
            let Some(absent) = program.supertypes(frame.class).into_iter().find(|t| program.ty(*t).missing) else { continue };
            let (class, missing) = (frame.frame.class.clone(), program.type_name(absent).to_string());
            if i == 0 {
                let note = self.classpath.missing_hint(&missing);
                return Err(UserError::SupertypeMissing { class, missing, note });
            }
            notes.push(format!("frame {} ({class}) cannot be reached: its supertype {missing} is not on the class path", i + 1));
        }
        Ok(())
    }

    fn rules(&self, program: &Program, goal: &CrashGoal) -> BuildRules {
        build_rules(program, goal, &self.classpath)
    }

    fn start<'a>(&'a self, config: &Config, aligned: &'a Aligned, scratch: &Path) -> Result<Started<'a>, UserError> {
        let failed = |why: String| UserError::WorkerWillNotStart { why };
        let watch = self.watch_trace(aligned);
        let entries = self.classpath.launch_entries(scratch).map_err(|e| failed(e.to_string()))?;
        let mut session = SessionConfig::new(own_executable()?, self.jdk.clone(), entries, scratch.to_path_buf());
        session.allow_read = config.allow_read.clone();
        session.workers = config.workers;
        session.sandbox = sandbox_mode(config.sandbox);
        session.lazy = initialised_by_tests(&aligned.goal);
        session.assertions = self.needs_assertions(&aligned.goal);
        session.trace_depth = trace_depth(&aligned.goal);
        let session = launch::start(&aligned.program, &watch, &session).map_err(|e| failed(e.to_string()))?;
        Ok(Started { session: Box::new(session), plan: watch.plan, problems: watch.problems })
    }

    fn render(&self) -> &dyn Render {
        &self.junit
    }

    fn framework(&self, config: &Config) -> u32 {
        config.junit.or(self.classpath.has_junit().map(u32::from)).unwrap_or(4)
    }

    fn needs_assertions(&self, goal: &CrashGoal) -> bool {
        goal.exception == "java.lang.AssertionError"
    }

    fn confirmation(&self, config: &Config, aligned: &Aligned, tests: &Rendered, scratch: &Path) -> Result<ConfirmPlan, UserError> {
        let failed = |why: String| UserError::WorkerWillNotStart { why };
        let class_path = self.classpath.launch_entries(scratch).map_err(|e| failed(e.to_string()))?;
        let framework = self.framework(config);
        let confirm = ConfirmConfig {
            scratch,
            java: &self.jdk.java,
            javac: self.compiler.javac.as_deref().expect("alignment chose a JDK with a compiler"),
            homes: vec![self.jdk.home.clone(), self.compiler.home.clone()],
            class_path: &class_path,
            framework,
            has_framework: self.classpath.has_junit().map(u32::from) == Some(framework),
            assertions: self.needs_assertions(&aligned.goal),
        };
        Ok(junit::plan(&tests.failing, tests.expecting.as_ref(), &confirm))
    }

    fn run_command(&self, config: &Config, path: &Path, name: &str) -> String {
        run_command(config, path, name, self.framework(config))
    }

    fn suites(&self) -> &dyn Suites {
        self
    }
}

/// Enough of a stack to recognise the goal. Where a recursion overflows, every handler on the way out may throw again, and each exception walks as far.
fn trace_depth(goal: &CrashGoal) -> Option<u32> {
    const LEAST: usize = 128;
    let frames = LEAST + 4 * goal.total;
    (!goal.overflow).then(|| frames.min(1024) as u32)
}

impl Suites for Java {
    fn rules(&self, program: &Program, types: &[TypeId]) -> BuildRules {
        suite_rules(program, types, &self.classpath)
    }

    fn oracle(&self) -> &'static OracleRules {
        &ORACLE
    }

    fn start<'a>(&'a self, config: &Config, program: &'a Program, types: &[TypeId], scratch: &Path) -> Result<Started<'a>, UserError> {
        let failed = |why: String| UserError::WorkerWillNotStart { why };
        let watch = watch_at(Detail::Edges, program, types, |name| self.classpath.class_bytes(name));
        let entries = self.classpath.launch_entries(scratch).map_err(|e| failed(e.to_string()))?;
        let mut session = SessionConfig::new(own_executable()?, self.jdk.clone(), entries, scratch.to_path_buf());
        session.allow_read = config.allow_read.clone();
        session.time_limit_ms = TIME_LIMIT_MS;
        session.workers = config.workers;
        session.sandbox = sandbox_mode(config.sandbox);
        let mut session = launch::start(program, &watch, &session).map_err(|e| failed(e.to_string()))?;
        // not only those under test: what they use must not be initialised by a test either
        let origins: std::collections::BTreeSet<u16> = types.iter().map(|t| program.ty(*t).origin).collect();
        let beside = |t: &TypeId| !program.ty(*t).platform && !program.ty(*t).missing && origins.contains(&program.ty(*t).origin);
        session.prepare(program.types().filter(beside).filter(|t| has_state(program, *t)));
        Ok(Started { session: Box::new(session), plan: watch.plan, problems: watch.problems })
    }

    fn render(&self) -> &dyn RenderSuite {
        &self.junit
    }

    fn plan(&self, files: &[RenderedSuite], _config: &Config, scratch: &Path) -> Result<SuitePlan, UserError> {
        let class_path = self.entries_for(scratch)?;
        Ok(suite_plan(files, &self.suite_config(scratch, &class_path)))
    }

    fn compiler(&self, scratch: &Path) -> Result<Option<CompilerPlan>, UserError> {
        let class_path = self.entries_for(scratch)?;
        Ok(compiler_plan(&self.suite_config(scratch, &class_path), &self.compiler.java, self.compiler.feature))
    }
}

impl Java {
    fn entries_for(&self, scratch: &Path) -> Result<Vec<PathBuf>, UserError> {
        self.classpath.launch_entries(scratch).map_err(|e| UserError::WorkerWillNotStart { why: e.to_string() })
    }

    fn suite_config<'a>(&'a self, scratch: &'a Path, class_path: &'a [PathBuf]) -> SuiteConfig<'a> {
        SuiteConfig {
            scratch,
            java: &self.jdk.java,
            javac: self.compiler.javac.as_deref().expect("the JDK was chosen with a compiler"),
            homes: vec![self.jdk.home.clone(), self.compiler.home.clone()],
            class_path,
            has_framework: self.classpath.has_junit() == Some(4),
            test_limit_ms: TEST_LIMIT_MS,
        }
    }
}

impl Java {
    /// The trace's classes are watched in full, branches of those near it (architecture §13, probes).
    fn watch_trace(&self, aligned: &Aligned) -> Watch {
        let mut watch = watch(&aligned.program, &aligned.goal.classes(), |name| self.classpath.class_bytes(name));
        watch.also(Detail::Edges, &aligned.program, &aligned.goal.near, |name| self.classpath.class_bytes(name));
        watch.plan.chain = context::chain(&aligned.program, &watch.plan, &aligned.goal);
        watch
    }
}

/// Classes whose initialiser is on the trace: the tests must be the first to use them.
fn initialised_by_tests(goal: &CrashGoal) -> Vec<String> {
    let frames = goal.frames.iter().filter(|f| f.frame.method == "<clinit>");
    frames.map(|f| f.frame.class.clone()).collect()
}

/// How a user compiles and runs the written test: by the project's own build where there is one, else by hand.
fn run_command(config: &Config, path: &Path, name: &str, framework: u32) -> String {
    if path.components().any(|c| c.as_os_str() == "src") && config.host.cwd.join("pom.xml").exists() {
        return format!("mvn -q test -Dtest={}", name.rsplit('.').next().unwrap_or(name));
    }
    let short = |p: &Path| crate::report::short(p, &config.host.cwd);
    let jars = framework_jars(config, framework);
    let class_path: Vec<String> = config.classpath.iter().map(|p| short(p)).chain(jars).collect();
    let (class_path, classes, file) = (class_path.join(":"), short(&config.run_dir.join("classes")), short(path));
    let runner = match framework {
        5 => format!("org.junit.platform.console.ConsoleLauncher execute -c {name}"),
        _ => format!("org.junit.runner.JUnitCore {name}"),
    };
    format!("javac -cp {class_path} -d {classes} {file} && java -cp {classes}:{class_path} {runner}")
}

/// The jars that run a test: from the local Maven repository if they are there, else by the names under which they are known.
fn framework_jars(config: &Config, framework: u32) -> Vec<String> {
    const JUNIT_4: &[(&str, &str)] = &[("junit/junit/4.13.2", "junit-4.13.2.jar"), ("org/hamcrest/hamcrest-core/1.3", "hamcrest-core-1.3.jar")];
    const JUNIT_5: &[(&str, &str)] = &[("org/junit/platform/junit-platform-console-standalone/1.10.2", "junit-platform-console-standalone-1.10.2.jar")];
    let repository = config.host.home.as_ref().map(|home| home.join(".m2/repository"));
    let local = |(folder, jar): &(&str, &str)| {
        let found = repository.as_ref().map(|r| r.join(folder).join(jar)).filter(|p| p.exists());
        found.map_or_else(|| jar.to_string(), |p| p.display().to_string())
    };
    let jars = if framework == 5 { JUNIT_5 } else { JUNIT_4 };
    jars.iter().map(local).collect()
}
