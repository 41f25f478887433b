//! Guided random testing: the feedback-directed loop (GRT-1) and its six components, each of which can be switched off (GRT-14).
//!
//! A round chooses methods, builds a call of each from what earlier calls made, executes them, and keeps what covered something new. What becomes a
//! test file, and whether a thrown exception is a defect, is decided elsewhere (`suite`, `oracle`). By tests, not by seconds: the same seed and number of
//! tests give the same result.

pub mod bloodhound;
pub mod constant_mining;
pub mod contract;
pub mod coverage;
pub mod detective;
pub mod elephant_brain;
pub mod impurity;
mod memory;
pub mod oracle;
pub mod orienteering;
mod palettes;
pub mod settings;
pub mod slice;
pub mod subjects;
pub mod suite;
pub mod tally;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{Execution, Outcome};
use crate::probe::{MethodProbes, ProbePlan};
use crate::program::mod_ref::Touching;
use crate::program::purity::Purity;
use crate::program::{MethodId, Program, TypeId};
use crate::rng::Rng;
use crate::search::facts::Facts;
use crate::search::targets::BuildRules;
use crate::search::{Limits, Stop};
use crate::target::{Session, SessionLost};
use crate::testcase::build::{Maker, Palette, Policy};
use crate::testcase::{Stmt, TestCase};
use crate::trace::Throwable;
use bloodhound::Chooser;
use constant_mining::Mined;
use coverage::{Coverage, Share};
use elephant_brain::Pool;
use oracle::OracleRules;
use palettes::subjects_of;
pub use settings::{Component, Settings};
use subjects::Subject;
use suite::{Ending, Kept};
pub use tally::Tally;

/// What is generated for, and by which rules.
pub struct World<'p> {
    pub program: &'p Program,
    pub plan: &'p ProbePlan,
    /// The classes under test.
    pub types: &'p [TypeId],
    pub rules: &'p BuildRules,
    pub oracle: &'p OracleRules,
}

/// An exception that a call under test threw, with the smallest test that shows it.
#[derive(Clone, Debug)]
pub struct Crash {
    pub subject: usize,
    pub test: TestCase,
    pub chain: Arc<[Throwable]>,
    pub count: u64,
}

/// What a user interface sees after each round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub tests: u64,
    pub kept: usize,
    pub branches: Share,
}

/// Tests executed at once.
const BATCH: usize = 256;
/// The same where many of them take their worker along: the clock is looked at between rounds only.
const SMALL_BATCH: usize = 24;
/// Choices that may fail in a row before a round is executed with what it has.
const MAX_MISSES: usize = 2_000;
/// Sequences longer than this are not remembered.
const MAX_REMEMBERED: usize = 30;
/// Hashes of tests kept against duplicates; beyond it the memory is emptied.
const MAX_KNOWN: usize = 2_000_000;
/// Ways to make an unavailable type that are tried before the search.
const MAX_WAYS: usize = 4;
/// Hangs and deaths after which a method is not called any more.
const MAX_COSTLY: u32 = 2;
/// Distinct crashes kept.
const MAX_CRASHES: usize = 2_000;
/// Program frames that tell crashes apart (GRT-18).
pub const TRIAGE_FRAMES: usize = 3;

/// See the module documentation.
pub struct Generator<'p> {
    world: World<'p>,
    settings: Settings,
    palettes: Vec<Palette<'p>>,
    pub subjects: Vec<Subject>,
    state: Vec<State>,
    chooser: Chooser,
    pub pool: Pool<'p>,
    purity: Rc<Purity>,
    /// What the bodies under test read.
    reads: FxHashMap<MethodId, Touching>,
    mined: Mined,
    facts: Facts,
    /// Without constant mining, values that comparisons saw are not used either.
    no_facts: Facts,
    policy: Policy,
    pub coverage: Coverage,
    pub kept: Vec<Kept>,
    pub crashes: Vec<Crash>,
    crash_keys: FxHashMap<u64, usize>,
    public: FxHashMap<MethodId, bool>,
    known: FxHashSet<u64>,
    /// Methods that hung or killed their worker, and how often.
    costly: FxHashMap<MethodId, u32>,
    rng: Rng,
    pub tally: Tally,
    looked: u64,
    /// Tests of the next round.
    batch: usize,
    opened: bool,
    /// Whatever is chosen was run before.
    exhausted: bool,
    /// What is executed before anything is chosen.
    waiting: VecDeque<Opening>,
}

/// What the search opens with.
enum Opening {
    /// A way to make a type that no subject makes.
    Way(TestCase),
    /// A call of that subject, with what there is when its turn comes.
    Subject(usize),
    /// The same, with what has to be built for it.
    Late(usize),
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    base: f64,
    /// Choices since the last look.
    k: u32,
    /// Choices since one covered something.
    fruitless: u32,
    successes: u32,
}

/// A test to be executed, and the subject it is for.
struct Planned {
    subject: Option<usize>,
    test: TestCase,
}

impl<'p> Generator<'p> {
    pub fn new(world: World<'p>, settings: Settings) -> Generator<'p> {
        let program = world.program;
        let mined = if settings.has(Component::ConstantMining) { constant_mining::mine(program, world.types) } else { Mined::default() };
        let purity = Rc::new(Purity::new(world.rules.purity));
        let (palettes, subjects) = subjects_of(&world, &mined.global, &purity);
        let policy = Policy {
            build: settings.has(Component::Detective),
            fuzz: if settings.has(Component::Impurity) { settings.fuzz } else { 0.0 },
            null: 0.05,
            // the component has its own (GRT-4)
            own: 0.0,
            derive: false,
            // whatever is known of values belongs to one of the six, so that without them it is random testing alone
            notations: settings.has(Component::ConstantMining),
            cast: if settings.has(Component::Detective) { Policy::default().cast } else { 0.0 },
            exact_types: settings.has(Component::ElephantBrain),
            // what was made before costs nothing to load and link
            draw: 0.95,
            max_depth: 4,
            ..Policy::default()
        };
        let mut generator = Generator {
            pool: Pool::new(program, settings.has(Component::Orienteering)),
            coverage: Coverage::new(world.plan),
            state: vec![State::default(); subjects.len()],
            chooser: Chooser::default(),
            rng: Rng::stream(settings.seed, "grt"),
            world,
            settings,
            palettes,
            subjects,
            purity,
            reads: FxHashMap::default(),
            mined,
            facts: Facts::default(),
            no_facts: Facts::default(),
            policy,
            kept: Vec::new(),
            crashes: Vec::new(),
            crash_keys: FxHashMap::default(),
            public: FxHashMap::default(),
            known: FxHashSet::default(),
            costly: FxHashMap::default(),
            tally: Tally::default(),
            looked: 0,
            batch: BATCH,
            opened: false,
            exhausted: false,
            waiting: VecDeque::new(),
        };
        generator.look();
        generator
    }

    /// The package that tests of a subject live in.
    pub fn package(&self, subject: usize) -> &str {
        &self.palettes[self.subjects[subject].palette].scope.package
    }

    /// Whether all tests that were allowed have run, or none is left that was not run.
    pub fn is_done(&self) -> bool {
        self.exhausted || self.tally.tests >= self.settings.max_tests
    }

    /// What is observed of a method.
    pub fn probes(&self, method: MethodId) -> Option<&'p MethodProbes> {
        self.world.plan.of(method)
    }

    /// No further test calls the method: no file with such a call can be compiled. What only such tests covered is open again.
    pub fn give_up(&mut self, method: MethodId) {
        if self.costly.insert(method, MAX_COSTLY) == Some(MAX_COSTLY) {
            return;
        }
        self.looked = 0;
        for kept in &mut self.kept {
            if kept.test.stmts.iter().any(|s| s.callee() == Some(method)) {
                kept.elements.clear();
            }
        }
        self.coverage.start_anew();
        for kept in &self.kept {
            self.coverage.cover(&kept.elements);
        }
    }

    /// Rounds until something stops them; may be called again to go on.
    pub fn run(&mut self, session: &mut dyn Session, limits: &dyn Limits, events: &mut dyn FnMut(Round)) -> Stop {
        if !std::mem::replace(&mut self.opened, true) {
            self.waiting = self.opening();
        }
        // looked at before anything is taken from what waits: it would be lost
        while !limits.cancelled() && !limits.time_is_up() && !self.is_done() {
            let mut batch = self.opening_batch();
            if batch.is_empty() {
                batch = self.next_batch();
            }
            if batch.is_empty() {
                self.exhausted = true;
                break;
            }
            if let Err(lost) = self.round(batch, session, events) {
                return lost.into();
            }
        }
        if limits.cancelled() { Stop::Cancelled } else { Stop::BudgetSpent }
    }

    fn round(&mut self, mut batch: Vec<Planned>, session: &mut dyn Session, events: &mut dyn FnMut(Round)) -> Result<(), SessionLost> {
        let room = self.settings.max_tests.saturating_sub(self.tally.tests);
        batch.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        let tests: Vec<TestCase> = batch.iter().map(|p| p.test.clone()).collect();
        let executions = session.execute(&tests)?;
        for (planned, execution) in batch.iter().zip(&executions) {
            self.take_in(planned, execution);
        }
        let costly = executions.iter().filter(|e| self.is_costly(e)).count();
        self.batch = if costly * 16 > executions.len() { SMALL_BATCH } else { BATCH };
        if self.tally.tests - self.looked >= self.settings.interval {
            self.look();
        }
        events(Round { tests: self.tally.tests, kept: self.kept.len(), branches: self.coverage.branches() });
        Ok(())
    }

    /// New base weights from the coverage so far; the counts of choices start anew.
    fn look(&mut self) {
        self.looked = self.tally.tests;
        let most = self.state.iter().map(|s| s.successes).max().unwrap_or(0);
        let guided = self.settings.has(Component::Bloodhound);
        let mut weights = Vec::with_capacity(self.subjects.len());
        for (subject, state) in self.subjects.iter().zip(&mut self.state) {
            state.k = 0;
            state.base = 1.0;
            if guided {
                let open = open(&self.coverage, self.world.plan, subject);
                state.base = bloodhound::base(bloodhound::uncovered(open), state.successes, most);
                if self.settings.learns {
                    state.base *= bloodhound::promise(open.open(), state.fruitless);
                }
            }
            if self.costly.get(&subject.entry).is_some_and(|n| *n >= MAX_COSTLY) {
                state.base = 0.0;
            }
            weights.push(state.base);
        }
        self.chooser = Chooser::new(weights);
    }

    fn choose(&mut self) -> Option<usize> {
        let chosen = self.chooser.choose(&mut self.rng)?;
        if self.settings.has(Component::Bloodhound) {
            let state = &mut self.state[chosen];
            state.k += 1;
            state.fruitless += 1;
            self.chooser.set(chosen, bloodhound::weight(state.base, state.k, self.subjects.len()));
        }
        Some(chosen)
    }

    /// Each subject once, and between them what the detective wants to try: with many classes and little time neither may wait for the other. Further
    /// ways to the same type come after all subjects.
    fn opening(&mut self) -> VecDeque<Opening> {
        let (mut first, mut further) = (VecDeque::new(), Vec::new());
        if self.settings.has(Component::Detective) {
            for ty in detective::unavailable(self.world.program, &self.subjects) {
                let mut ways = self.ways_to(ty).into_iter();
                first.extend(ways.next());
                further.extend(ways);
            }
        }
        let (many, all) = (first.len(), self.subjects.len());
        let mut out = VecDeque::new();
        for subject in 0..all {
            let due = many * (subject + 1) / all - many * subject / all;
            out.extend(first.drain(..due).map(Opening::Way));
            out.push_back(Opening::Subject(subject));
        }
        out.extend(further.into_iter().map(Opening::Way));
        out
    }

    fn opening_batch(&mut self) -> Vec<Planned> {
        let mut out = Vec::with_capacity(BATCH);
        while out.len() < self.batch {
            let planned = match self.waiting.pop_front() {
                None => break,
                Some(Opening::Way(test)) => Some(Planned { subject: None, test }),
                Some(Opening::Subject(subject)) => self.build_with_what_is_there(subject).map(|test| Planned { subject: Some(subject), test }),
                Some(Opening::Late(subject)) => self.build(subject).map(|test| Planned { subject: Some(subject), test }),
            };
            out.extend(planned.filter(|p| self.is_fresh(&p.test)));
        }
        out
    }

    /// One test for each way to make a type that no subject makes.
    fn ways_to(&mut self, ty: TypeId) -> Vec<TestCase> {
        let Some(palette) = self.palettes.first() else { return Vec::new() };
        let ways = palette.producers(ty);
        let mut out = Vec::new();
        for way in ways.iter().take(MAX_WAYS) {
            let mut maker = Maker::new(palette, &self.no_facts, &self.policy, &mut self.rng, TestCase::default());
            if maker.produced(way).is_some() {
                out.push(maker.test);
            }
        }
        out
    }

    fn next_batch(&mut self) -> Vec<Planned> {
        let mut out = Vec::with_capacity(BATCH);
        let mut misses = 0;
        while out.len() < self.batch && misses < MAX_MISSES {
            let Some(subject) = self.choose() else { break };
            match self.build(subject).filter(|test| self.is_fresh(test)) {
                Some(test) => out.push(Planned { subject: Some(subject), test }),
                None => misses += 1,
            }
        }
        out
    }

    fn is_fresh(&mut self, test: &TestCase) -> bool {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let mut hasher = rustc_hash::FxHasher::default();
        test.hash(&mut hasher);
        self.known.insert(hasher.finish())
    }

    /// In the opening nothing is built on demand before all that needs nothing had its turn: with many classes and little time that is most of what can
    /// be covered at all.
    fn build_with_what_is_there(&mut self, index: usize) -> Option<TestCase> {
        let builds = std::mem::replace(&mut self.policy.build, false);
        let test = self.build(index);
        self.policy.build = builds;
        if test.is_none() && builds {
            self.waiting.push_back(Opening::Late(index));
        }
        test
    }

    /// A test that ends with a call of the subject.
    fn build(&mut self, index: usize) -> Option<TestCase> {
        let subject = &self.subjects[index];
        let palette = &mut self.palettes[subject.palette];
        let local = self.mined.local.get_mut(&subject.class).filter(|_| self.rng.chance(self.settings.p_const));
        let mut swapped = local;
        if let Some(pool) = &mut swapped {
            std::mem::swap(*pool, &mut palette.literals);
        }
        let facts = if self.settings.has(Component::ConstantMining) { &self.facts } else { &self.no_facts };
        let (program, rules) = (self.world.program, self.world.rules.purity);
        let reads = &mut self.reads;
        let aims = self.settings.learns && self.settings.has(Component::Impurity);
        let aim = aims.then(|| &*reads.entry(subject.body).or_insert_with(|| Touching::read_by(program, &[subject.body], rules)));
        let mut maker = Maker::new(palette, facts, &self.policy, &mut self.rng, TestCase::default()).drawing_from(&self.pool).aiming_at(aim);
        let made = if subject.drawn { maker.call_drawn(subject.entry, subject.class) } else { maker.call(subject.entry) };
        let test = made.map(|_| maker.test);
        let shunned = |m: MethodId| self.costly.get(&m).is_some_and(|n| *n >= MAX_COSTLY);
        let test = test.filter(|t| self.costly.is_empty() || !t.stmts.iter().filter_map(Stmt::callee).any(shunned));
        if let Some(pool) = swapped {
            std::mem::swap(pool, &mut palette.literals);
        }
        test
    }

    fn take_in(&mut self, planned: &Planned, execution: &Execution) {
        self.tally.count(&planned.test, execution);
        self.facts.learn(&planned.test, execution);
        let Some(subject) = planned.subject else {
            self.remember(&planned.test, execution, true);
            return;
        };
        match &execution.outcome {
            Outcome::Normal => {
                self.state[subject].successes += 1;
                self.remember(&planned.test, execution, false);
            }
            Outcome::Thrown { at, chain } if chain.iter().any(|t| self.world.oracle.poison.contains(&t.exception.as_str())) => {
                self.shun(&planned.test, *at as usize);
            }
            Outcome::Thrown { at, chain } if *at as usize + 1 == planned.test.len() => self.note_crash(subject, &planned.test, chain),
            Outcome::TimeLimit { at } => self.shun(&planned.test, *at as usize),
            Outcome::Died { .. } => self.shun(&planned.test, planned.test.len()),
            _ => {}
        }
        self.keep_if_new(subject, &planned.test, execution);
    }

    /// Whether the test took its worker along, or as long as many others.
    fn is_costly(&self, execution: &Execution) -> bool {
        match &execution.outcome {
            Outcome::TimeLimit { .. } | Outcome::Died { .. } | Outcome::StepLimit { .. } => true,
            Outcome::Thrown { chain, .. } => chain.iter().any(|t| self.world.oracle.poison.contains(&t.exception.as_str())),
            _ => false,
        }
    }

    /// What hangs or kills its worker costs as much time as thousands of others: the second time is the last.
    fn shun(&mut self, test: &TestCase, at: usize) {
        let blamed = test.stmts.iter().take(at + 1).rev().find_map(Stmt::callee);
        if let Some(method) = blamed {
            *self.costly.entry(method).or_default() += 1;
            self.looked = 0;
        }
    }

    fn keep_if_new(&mut self, subject: usize, test: &TestCase, execution: &Execution) {
        let (cut, ending) = match &execution.outcome {
            Outcome::Normal => (test.len(), Ending::Normal),
            Outcome::Thrown { at, chain } => {
                let exception = chain.first().map(|t| t.exception.clone()).unwrap_or_default();
                (*at as usize + 1, Ending::Thrown { exception })
            }
            Outcome::Invalid { at, .. } if *at > 0 => (*at as usize, Ending::Normal),
            _ => return,
        };
        if !self.coverage.is_new(execution) {
            return;
        }
        let elements = self.coverage.elements(execution);
        self.coverage.cover(&elements);
        self.state[subject].fruitless = 0;
        self.kept.push(Kept { subject, test: test.prefix(cut), ending, elements });
    }
}

/// Of the branches of a subject's body, and of what only it leads to; without branches, of its points (GRT-12).
fn open(coverage: &Coverage, plan: &ProbePlan, subject: &Subject) -> Share {
    let (mut branches, mut points) = (Share::default(), Share::default());
    for probes in subject.reached.iter().filter_map(|m| plan.of(*m)) {
        branches.add(coverage.branches_of(probes));
        points.add(coverage.points_of(probes));
    }
    if branches.total > 0 { branches } else { points }
}
