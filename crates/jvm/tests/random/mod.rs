//! Random tests of real libraries, built as the search builds them, and what of an execution must be the same however it is executed.

// Two test binaries share this; neither uses all of it.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use rethrow_core::execution::{Execution, Outcome};
use rethrow_core::goal::{CrashGoal, resolve};
use rethrow_core::program::{Access, Flags, Program, TypeId};
use rethrow_core::rng::Rng;
use rethrow_core::search::facts::Facts;
use rethrow_core::search::targets;
use rethrow_core::testcase::TestCase;
use rethrow_core::testcase::build::{Maker, Policy};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::{self, Jdk, Search};
use rethrow_jvm::launch::{SessionConfig, Watch, watch};
use rethrow_jvm::rules::build_rules;
use rethrow_jvm::trace::is_platform;

pub const WORKER: &str = env!("CARGO_BIN_EXE_jvm-worker");

const JARS: [&str; 2] = ["org.apache.commons:commons-lang3:3.12.0", "commons-collections:commons-collections:3.1"];
/// Tests made with the members of one class.
const PER_CLASS: usize = 25;
const MAX_CALLS: usize = 4;
/// Longer tests are cut off by the search as well.
const MAX_STATEMENTS: usize = 40;

/// The libraries as one JDK sees them.
pub struct Subject {
    pub jdk: Jdk,
    pub files: Vec<PathBuf>,
    pub classpath: Arc<ClassPath>,
    pub program: Program,
}

/// A test and the goal it was built for, which decides the package it is written to.
pub struct Random {
    pub goal: CrashGoal,
    pub test: TestCase,
}

/// The oldest and the newest JDK of this machine.
pub fn jdks() -> Vec<Jdk> {
    let (home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
    let found = jdk::find(Search { java_home: home.as_deref(), path: path.as_deref(), ..Search::default() });
    let mut usable: Vec<Jdk> = found.into_iter().filter(|j| j.javac.is_some()).collect();
    usable.sort_by_key(|j| j.feature);
    usable.dedup_by_key(|j| j.feature);
    assert!(!usable.is_empty(), "these tests need a JDK");
    if usable.len() > 2 {
        usable.drain(1..usable.len() - 1);
    }
    usable
}

/// The jar of `group:artifact:version`, fetched once.
fn jar(coordinates: &str) -> PathBuf {
    let cache = PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache/rethrow-test");
    let mut parts = coordinates.split(':').skip(1);
    let (artifact, version) = (parts.next().unwrap(), parts.next().unwrap());
    let jar = cache.join(format!("{artifact}-{version}.jar"));
    if !jar.is_file() {
        fs::create_dir_all(&cache).unwrap();
        let mut copy = Command::new("mvn");
        copy.args(["-q", "-B", "dependency:copy"]).arg(format!("-Dartifact={coordinates}")).arg(format!("-DoutputDirectory={}", cache.display()));
        assert!(copy.status().unwrap().success(), "{copy:?}");
    }
    jar
}

impl Subject {
    pub fn open(jdk: Jdk) -> Subject {
        let files: Vec<PathBuf> = JARS.iter().map(|j| jar(j)).collect();
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let classpath = Arc::new(ClassPath::open(&names, &jdk).unwrap().value);
        let program = load(classpath.clone()).value;
        Subject { jdk, files, classpath, program }
    }

    /// The classes of the libraries.
    fn types(&self) -> impl Iterator<Item = TypeId> + '_ {
        self.program.types().filter(|t| !self.program.ty(*t).platform && !self.program.ty(*t).missing)
    }

    /// All of them, in full.
    pub fn watch(&self) -> Watch {
        let types: Vec<TypeId> = self.types().collect();
        watch(&self.program, &types, |name| self.classpath.class_bytes(name))
    }

    pub fn config(&self) -> SessionConfig {
        let mut config = SessionConfig::new(WORKER.into(), self.jdk.clone(), self.files.clone(), std::env::temp_dir());
        config.time_limit_ms = 2000;
        config
    }

    /// Tests that call members of randomly chosen public classes. A function of the seed.
    pub fn tests(&self, seed: u64, count: usize) -> Vec<Random> {
        let program = &self.program;
        let public = |t: &TypeId| program.ty(*t).access == Access::Public && program.ty(*t).outer.is_none() && !program.ty(*t).flags.has(Flags::ANNOTATION);
        let classes: Vec<TypeId> = self.types().filter(public).collect();
        let (mut rng, facts, policy) = (Rng::stream(seed, "random tests"), Facts::default(), Policy::default());
        let mut made: Vec<Random> = Vec::with_capacity(count);
        while made.len() < count {
            let class = *rng.pick(&classes).expect("the libraries have public classes");
            let Some(goal) = self.goal(class) else { continue };
            let palette = targets::palette(program, &goal, 1, &build_rules(program, &goal, &self.classpath));
            for _ in 0..PER_CLASS.min(count - made.len()) {
                let calls = 1 + rng.below(MAX_CALLS);
                let mut test = TestCase::default();
                for _ in 0..calls {
                    let Some(member) = rng.pick(&palette.members).copied() else { break };
                    let mut maker = Maker::new(&palette, &facts, &policy, &mut rng, test);
                    maker.call(member);
                    test = maker.test;
                }
                if !test.is_empty() && test.len() <= MAX_STATEMENTS {
                    made.push(Random { goal: goal.clone(), test });
                }
            }
        }
        made
    }

    /// Any goal in the class: it stands for where a test is written.
    fn goal(&self, class: TypeId) -> Option<CrashGoal> {
        let method = self.program.methods_of(class).map(|m| self.program.method_name(m)).find(|name| !name.contains('<'))?;
        let frames = vec![Frame::new(self.program.type_name(class), method, None)];
        let thrown = Throwable { exception: "java.lang.RuntimeException".into(), frames, ..Throwable::default() };
        resolve(&Trace { thrown, ..Trace::default() }, &self.program).ok()
    }

    /// For messages.
    pub fn show(&self, test: &TestCase) -> String {
        let portable = rethrow_core::testcase::portable::PortableTest::of(&self.program, test);
        let lines = portable.stmts.iter().enumerate().map(|(i, s)| format!("    v{i} = {s:?}\n"));
        lines.collect()
    }
}

/// What must be the same: how it ended, where, and the exceptions with the program's own frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    Normal,
    /// The statement, if that is known.
    Thrown(Option<u32>, Vec<(String, Vec<String>)>),
    /// Ended by steps, time, exit, death, or because it could not be executed.
    Other(String),
}

impl Shown {
    pub fn of(execution: &Execution) -> Shown {
        match &execution.outcome {
            Outcome::Normal => Shown::Normal,
            Outcome::Thrown { at, chain } => Shown::Thrown(Some(*at), links(chain)),
            Outcome::Invalid { at, why } => Shown::Other(format!("invalid at {at}: {why}")),
            Outcome::StepLimit { at } => Shown::Other(format!("step limit at {at}")),
            Outcome::TimeLimit { .. } => Shown::Other("time limit".into()),
            Outcome::Exit { at, .. } => Shown::Other(format!("exit at {at}")),
            Outcome::Died { .. } => Shown::Other("died".into()),
        }
    }

    /// One of its exceptions is of this class.
    pub fn has(&self, exception: &str) -> bool {
        matches!(self, Shown::Thrown(_, chain) if chain.iter().any(|(name, _)| name == exception))
    }

    /// Memory or stack was exhausted: where exactly that happens depends on what else is there.
    pub fn is_exhausted(&self) -> bool {
        self.has("java.lang.StackOverflowError") || self.has("java.lang.OutOfMemoryError")
    }
}

/// Exception types with their program frames.
pub fn links(chain: &[Throwable]) -> Vec<(String, Vec<String>)> {
    let place = |f: &Frame| format!("{}.{}:{}", stable(&f.class), f.method, f.line.map(i64::from).unwrap_or(-1));
    // a stub is a class of the worker's here and a class or lambda of the test there
    let counts = |f: &&Frame| !is_platform(&f.class) && !f.class.contains("_CrashTest");
    let frames = |t: &Throwable| t.frames.iter().filter(counts).map(place).collect();
    chain.iter().map(|t| (stable(&t.exception), frames(t))).collect()
}

/// Classes that the JVM makes at run time are numbered as they come.
fn stable(class: &str) -> String {
    for made in ["$$Lambda", "$Proxy"] {
        if let Some(at) = class.find(made) {
            return class[..at + made.len()].to_owned();
        }
    }
    class.to_owned()
}
