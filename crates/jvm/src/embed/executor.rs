//! Runs tests one after the other, so that each finds the JVM as if it were the first: what a test changed is put back, and if that cannot be
//! done, the process says that it must be replaced.

use std::sync::Arc;

use jvmti_bindings::sys::jni::{jobject, jthrowable};
use rethrow_core::execution::Returned;
use rethrow_core::program::{MethodId, Ty};
use rethrow_core::testcase::{Stmt, TestCase};
use rethrow_worker::protocol::{Define, Done, Ended, Known, Observed, PREPARING, Reply, Run, Thrown, encode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{self, Slot};
use super::classes::Classes;
use super::descriptor::{self, Kind};
use super::platform::Platform;
use super::probes::{Noted, Probes};
use super::stacks::Stacks;
use super::statement::{Statements, Stop};
use super::threads::Others;
use super::vm::{Env, Global, Tools, c_string, jni};
use super::watch::Watch;
use super::{callers, hints, hook};

/// Steps for `getMessage` and `getCause` of the program's exceptions.
const READING_STEPS: i32 = 10_000;
/// A worker whose heap was exhausted more often than this is replaced.
const MAX_OUT_OF_MEMORY: u32 = 30;
/// Threads that a test may leave behind before the process is replaced …
const MAX_THREADS_LEFT: i32 = 20;
/// … and all tests together: mostly they sleep.
const MAX_THREADS: i32 = 500;
/// Threads that go on whatever stops them, before the process is replaced.
const MAX_UNSTOPPABLE: u32 = 20;
/// Tests that a process may have to stop before it is replaced: each may have left something half done.
const MAX_STOPPED: u32 = 30;
/// Results are sent when this much has come together …
const FLUSH_BYTES: usize = 32 << 10;
/// … or so many tests, lest a death loses many.
const FLUSH_TESTS: u32 = 64;
const STRING: &str = "java.lang.String";
/// What a class is answered with that needs another which is not there.
const UNLINKED: &str = "java.lang.NoClassDefFoundError";
/// How the message begins that tells of a class whose initialiser failed before.
const POISONED: &str = "Could not initialize class ";
/// Longer texts are cut: nobody asserts them whole.
const MAX_TEXT: usize = 400;
/// Elements of an array that somebody would still assert.
const MAX_ELEMENTS: i32 = 32;
/// How `Runtime.exit` ends when it was not called by the program itself; see `instrument::replace_exit`.
const STOPPED_EXIT: (&str, &str) = ("java.lang.InternalError", "rethrow: exit");

/// See the module documentation.
pub struct Executor {
    env: Env,
    statements: Statements,
    stacks: Stacks,
    probes: Option<Probes>,
    platform: Platform,
    watch: Arc<Watch>,
    /// The numbers under which the parent knows classes, counted from 1.
    told_types: FxHashMap<u32, u32>,
    /// The same, for statements that always give the same class.
    exact_types: FxHashMap<Exact, u32>,
    /// The class of what a method returned last, and its number: mostly it returns the like again.
    returned: FxHashMap<MethodId, (Global, u32)>,
    new_types: Vec<String>,
    unprepared: Vec<String>,
    unlinkable: Vec<String>,
    /// Classes that cannot be initialised by anyone.
    broken: FxHashSet<String>,
    /// Tests whose results were told.
    ran: u64,
    out_of_memory: u32,
    /// Tests that were stopped by the clock.
    stopped: u32,
    threads_at_start: i32,
    threads_before: i32,
    /// As many were there when none of them ran.
    threads_quiet: i32,
    /// The other threads, and what stops them.
    others: Option<(Others, Global)>,
    /// Threads that could not be stopped.
    unstoppable: u32,
}

/// A statement whose value always has the same class: nobody has to ask it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Exact {
    Text,
    Class,
    New(MethodId),
    Array(Ty),
}

impl Exact {
    fn of(stmt: &Stmt) -> Option<Exact> {
        match stmt {
            Stmt::Str(_) => Some(Exact::Text),
            Stmt::Class(_) => Some(Exact::Class),
            Stmt::New { ctor, .. } => Some(Exact::New(*ctor)),
            Stmt::NewArray { elem, .. } => Some(Exact::Array(*elem)),
            _ => None,
        }
    }
}

/// Whether a class can be used.
enum Prepared {
    Ready,
    /// It needs another that is not there: its initialiser has not run.
    Unlinkable,
    /// Its initialiser failed, or did not end.
    Broken,
}

/// One execution and what it left behind.
struct Attempt {
    observed: Observed,
    retire: Option<String>,
    /// It met a class that an earlier test has broken: its result says nothing.
    spoilt: bool,
    /// Classes that could not be initialised in it, or before it: perhaps only because a test was stopped there.
    failed: Vec<String>,
    /// Classes first used in it.
    fresh: Vec<String>,
    /// Static fields of those were written.
    fresh_written: bool,
}

/// How a test ended, before and after the exception is read.
struct Ending {
    ended: Ended,
    retire: Option<String>,
    spoilt: bool,
    failed: Vec<String>,
}

impl Executor {
    pub fn new(env: Env, classes: Classes, probes: Option<Probes>, watch: Arc<Watch>) -> Result<Executor, String> {
        Ok(Executor {
            env,
            statements: Statements::new(env, classes)?,
            stacks: Stacks::new(env)?,
            probes,
            platform: Platform::remember(env)?,
            watch,
            told_types: FxHashMap::default(),
            exact_types: FxHashMap::default(),
            returned: FxHashMap::default(),
            new_types: Vec::new(),
            unprepared: Vec::new(),
            unlinkable: Vec::new(),
            broken: FxHashSet::default(),
            ran: 0,
            out_of_memory: 0,
            stopped: 0,
            threads_at_start: hook::live_threads(),
            threads_before: 0,
            threads_quiet: 0,
            others: None,
            unstoppable: 0,
        })
    }

    /// From here on, threads that tests leave running are stopped. Those that are there now are left alone.
    pub fn look_after_threads(&mut self, tools: Tools, throwable: Global) {
        self.others = Some((Others::new(self.env, tools), throwable));
        self.threads_at_start = hook::live_threads();
        self.threads_quiet = self.threads_at_start;
    }

    pub fn define(&mut self, mut define: Define) {
        self.watch.set_limit(define.time_limit_ms);
        for (place, name) in std::mem::take(&mut define.prepare).into_iter().enumerate() {
            match self.prepare(place as u32, &name) {
                Prepared::Ready => {}
                Prepared::Unlinkable => self.unlinkable.push(name),
                Prepared::Broken => self.unprepared.push(name),
            }
        }
        self.broken.extend(std::mem::take(&mut define.broken));
        self.statements.members.define(define);
    }

    /// Initialises a class outside any test.
    fn prepare(&mut self, place: u32, name: &str) -> Prepared {
        let env = self.env;
        if let Some(probes) = &self.probes {
            probes.begin(env, u32::MAX);
        }
        self.watch.begin(PREPARING - 1);
        self.watch.progress.at(place);
        let ready = match self.statements.classes.find(env, name) {
            Ok(class) => {
                // Any lookup initialises; every class has this method.
                let (method, desc) = (c_string("hashCode"), c_string("()I"));
                jni!(env, GetMethodID, class.0, method.as_ptr(), desc.as_ptr());
                match env.take_exception() {
                    None => Prepared::Ready,
                    Some(thrown) if &*self.statements.classes.of(env, thrown).name == UNLINKED => Prepared::Unlinkable,
                    Some(_) => Prepared::Broken,
                }
            }
            Err(_) => Prepared::Unlinkable,
        };
        let stopped = self.watch.end();
        env.clear_exception();
        if stopped { Prepared::Broken } else { ready }
    }

    pub fn run(&mut self, run: &Run) -> Result<Done, String> {
        self.watch.set_limit(run.time_limit_ms);
        hook::take_prepared();
        let unprepared = std::mem::take(&mut self.unprepared);
        if !unprepared.is_empty() {
            let retire = Some(format!("{} cannot be initialised", unprepared.join(", ")));
            return Ok(Done { retire, unprepared, ..Done::default() });
        }
        let unprepared = std::mem::take(&mut self.unlinkable);
        if !unprepared.is_empty() {
            // nothing of it has run, so nothing is broken
            return Ok(Done { unprepared, ..Done::default() });
        }
        for (i, test) in run.tests.iter().enumerate() {
            let attempt = self.settled(i as u32, test, run);
            let unclear = attempt.fresh_written && !run.pristine;
            if unclear || (attempt.spoilt && self.ran > 0) {
                let prepare = if unclear { attempt.fresh } else { attempt.failed };
                return Ok(Done { ran: i as u32, retire: attempt.retire, prepare, ..Done::default() });
            }
            self.ran += 1;
            self.tell(attempt.observed, i as u32)?;
            if attempt.retire.is_some() {
                return Ok(Done { ran: i as u32 + 1, retire: attempt.retire, prepare: attempt.failed, ..Done::default() });
            }
        }
        Ok(Done { ran: run.tests.len() as u32, ..Done::default() })
    }

    /// Runs a test; if classes were first used in it, once more, since their initialisers took part.
    fn settled(&mut self, index: u32, test: &TestCase, run: &Run) -> Attempt {
        let first = self.attempt(index, test, run);
        let stopped = matches!(first.observed.ended, Ended::TimeLimit { .. });
        if run.pristine || first.fresh.is_empty() || first.retire.is_some() || first.spoilt || stopped {
            return first;
        }
        let second = self.attempt(index, test, run);
        // The first has broken a class without letting it show.
        if second.spoilt { Attempt { retire: second.retire, failed: second.failed, ..first } } else { second }
    }

    fn attempt(&mut self, index: u32, test: &TestCase, run: &Run) -> Attempt {
        let env = self.env;
        let ready = hook::prepared_count();
        self.threads_before = hook::live_threads();
        // some may have ended meanwhile
        self.threads_quiet = self.threads_quiet.min(self.threads_before);
        jni!(env, PushLocalFrame, test.len() as i32 * 2 + 64);
        if let Some(probes) = &self.probes {
            probes.begin(env, run.step_limit);
        }
        self.watch.begin(index);
        let result = self.statements.run(test, &self.watch.progress);
        let mut attempt = self.observe(index, test, result, run);
        let fresh = if hook::prepared_count() == ready { Vec::new() } else { hook::take_prepared() };
        self.put_back(&mut attempt, fresh);
        if self.watch.end() {
            attempt.observed.ended = Ended::TimeLimit { at: self.watch.progress.statement() };
            self.note_stopped(&mut attempt);
        }
        env.clear_exception();
        jni!(env, PopLocalFrame, std::ptr::null_mut());
        attempt
    }

    /// A test that was stopped while it waited or computed has unwound like after any exception, so the process can go on. If it was stopped in the
    /// initialiser of a class, that class says so to whoever uses it next, and the process is replaced then.
    fn note_stopped(&mut self, attempt: &mut Attempt) {
        self.stopped += 1;
        if self.stopped > MAX_STOPPED {
            attempt.retire.get_or_insert_with(|| "a test was stopped by its time limit".to_owned());
        }
        // the exception that stops it may still be on its way; it arrives in the next call
        self.statements.call_something();
    }

    fn observe(&mut self, index: u32, test: &TestCase, result: Result<(), (u32, Stop)>, run: &Run) -> Attempt {
        let env = self.env;
        // First of all: reading exceptions may run code of the program.
        let mut noted = self.probes.as_mut().map(|p| p.read(env)).unwrap_or_default();
        noted.seen.extend(hints::take_seen());
        let reach = callers::take_reach();
        let steps = self.probes.as_ref().map_or(0, |p| p.steps_used(env, run.step_limit));
        let values = if run.inspect { self.values() } else { Vec::new() };
        let ending = self.ending(test, result);
        to_differences(&mut noted.hits);
        let observed = Observed {
            test: index,
            ended: ending.ended,
            hits: noted.hits,
            branches: noted.branches,
            switches: noted.switches,
            types: self.types(test),
            seen: noted.seen,
            refused: Vec::new(),
            reach,
            steps,
            values,
        };
        Attempt { observed, retire: ending.retire, spoilt: ending.spoilt, failed: ending.failed, fresh: Vec::new(), fresh_written: false }
    }

    fn ending(&mut self, test: &TestCase, result: Result<(), (u32, Stop)>) -> Ending {
        let plain = |ended| Ending { ended, retire: None, spoilt: false, failed: Vec::new() };
        let last = (test.len() as u32).saturating_sub(1);
        let (at, stop) = match result {
            Ok(()) => (last, None),
            Err((at, Stop::Invalid(why))) => return plain(Ended::Invalid { at, why }),
            Err((at, Stop::Thrown(thrown))) => (at, Some(thrown)),
        };
        // Programs may catch what stops them, so the counters decide.
        if let Some(probes) = &self.probes {
            let exit = stop.filter(|t| self.env.is_instance(*t, probes.exit.0));
            if let Some(exit) = exit {
                return plain(Ended::Exit { at, code: probes.exit_code(self.env, exit) });
            }
            if probes.exits(self.env) {
                return plain(Ended::Exit { at, code: 0 });
            }
            if probes.steps_spent(self.env) {
                return plain(Ended::StepLimit { at });
            }
        }
        match stop {
            None => plain(Ended::Normal),
            Some(thrown) => self.thrown(at, thrown),
        }
    }

    fn thrown(&mut self, at: u32, thrown: jthrowable) -> Ending {
        if let Some(probes) = &self.probes {
            probes.allow_steps(self.env, READING_STEPS);
        }
        let (chain, links) = self.stacks.chain(self.env, &mut self.statements.classes, thrown);
        let is =
            |exception: &str, message: &str| links.iter().any(|l| l.exception == exception && l.message.as_deref().unwrap_or_default().starts_with(message));
        if is(STOPPED_EXIT.0, STOPPED_EXIT.1) {
            return Ending { ended: Ended::Exit { at, code: 0 }, retire: None, spoilt: false, failed: Vec::new() };
        }
        let (failed, known) = self.failed_initialisers(&links);
        let poisoned = is(UNLINKED, POISONED) && !known;
        let retire = if poisoned || (is("java.lang.ExceptionInInitializerError", "") && !known) {
            Some(format!("{} could not be initialised", failed.first().map_or("a class", String::as_str)))
        } else if is("java.lang.OutOfMemoryError", "") && !is("java.lang.OutOfMemoryError", "Requested array size") {
            // Mostly one array of an invented size, which was never made; what is really full stays full.
            self.out_of_memory += 1;
            (self.out_of_memory > MAX_OUT_OF_MEMORY || !is("java.lang.OutOfMemoryError", "Java heap space")).then(|| "memory ran out".to_owned())
        } else {
            None
        };
        Ending { ended: Ended::Thrown { at, chain }, retire, spoilt: poisoned, failed }
    }

    /// The classes that could not be initialised, as an exception tells, without those of which nothing else is to be expected; and whether it tells of
    /// those only.
    fn failed_initialisers(&self, links: &[Thrown]) -> (Vec<String>, bool) {
        let named = |l: &Thrown| l.message.as_deref().and_then(|m| m.strip_prefix(POISONED)).map(|name| name.trim().to_owned());
        let mut failed: Vec<String> = links.iter().filter(|l| l.exception == UNLINKED).filter_map(named).collect();
        failed.extend(links.iter().flat_map(|l| self.stacks.initialisers(l.stack)).cloned());
        let any = !failed.is_empty();
        failed.retain(|name| !self.broken.contains(name));
        let known = any && failed.is_empty();
        (failed, known)
    }

    /// Run-time types of the statements' values.
    fn types(&mut self, test: &TestCase) -> Vec<u32> {
        let ran = self.statements.slots().len();
        let values = test.stmts[..ran].iter().enumerate();
        values.map(|(i, stmt)| self.type_of(stmt, self.statements.slots()[i])).collect()
    }

    fn type_of(&mut self, stmt: &Stmt, slot: Slot) -> u32 {
        let Slot::Ref(object) = slot else { return 0 };
        if object.is_null() {
            return 0;
        }
        let exact = Exact::of(stmt);
        if let Some(known) = exact.and_then(|e| self.exact_types.get(&e)) {
            return *known;
        }
        if let Stmt::Call { method, .. } = stmt {
            return self.returned_type(*method, object);
        }
        let (_, number) = self.told_type(object);
        self.exact_types.extend(exact.map(|e| (e, number)));
        number
    }

    fn returned_type(&mut self, method: MethodId, object: jobject) -> u32 {
        let class = self.env.class_of(object);
        let known = self.returned.get(&method).filter(|(known, _)| self.env.same(known.0, class));
        let number = known.map(|(_, number)| *number);
        self.env.drop_local(class);
        number.unwrap_or_else(|| {
            let told = self.told_type(object);
            self.returned.insert(method, told);
            told.1
        })
    }

    fn told_type(&mut self, object: jobject) -> (Global, u32) {
        let class = self.statements.classes.of(self.env, object);
        let next = self.told_types.len() as u32 + 1;
        let number = *self.told_types.entry(class.number).or_insert_with(|| {
            self.new_types.push(class.name.to_string());
            next
        });
        (class.class, number)
    }

    /// What a test could assert of the statements' values.
    fn values(&mut self) -> Vec<Option<Returned>> {
        let slots = self.statements.slots().to_vec();
        let value = |slot: &Slot| match slot {
            Slot::Void => None,
            Slot::Prim(value) => Some(Returned::Prim(*value)),
            Slot::Ref(object) if object.is_null() => Some(Returned::Null),
            Slot::Ref(object) => Some(self.object_value(*object)),
        };
        slots.iter().map(value).collect()
    }

    fn object_value(&mut self, object: jobject) -> Returned {
        let name = self.statements.classes.of(self.env, object).name;
        if &*name == STRING {
            return Returned::Text(self.env.text(object, MAX_TEXT));
        }
        descriptor::element(&name).and_then(|element| self.array_value(object, &element)).unwrap_or(Returned::Object)
    }

    /// The elements of a short array of primitives or texts.
    fn array_value(&self, array: jobject, element: &Kind) -> Option<Returned> {
        let len = jni!(self.env, GetArrayLength, array);
        if len > MAX_ELEMENTS {
            return None;
        }
        let elements = (0..len).map(|i| call::get_element(self.env, array, i, element));
        match element {
            Kind::Prim(prim) => elements
                .map(|slot| if let Slot::Prim(value) = slot { Some(value) } else { None })
                .collect::<Option<_>>()
                .map(|values| Returned::Prims(*prim, values)),
            Kind::Ref(name) if name == STRING => elements.map(|slot| self.text_value(slot)).collect::<Option<_>>().map(Returned::Texts),
            _ => None,
        }
    }

    /// A short text or null.
    fn text_value(&self, slot: Slot) -> Option<Option<String>> {
        let Slot::Ref(text) = slot else { return None };
        if text.is_null() {
            return Some(None);
        }
        (self.env.string_len(text) <= MAX_TEXT).then(|| Some(self.env.text(text, MAX_TEXT)))
    }

    /// Undoes what the test changed outside its own objects.
    fn put_back(&mut self, attempt: &mut Attempt, fresh: Vec<String>) {
        let env = self.env;
        let settings = self.statements.restore();
        if let Some(probes) = &mut self.probes {
            let left = probes.restore(env, &mut self.statements.classes, &fresh);
            attempt.fresh_written = left.fresh;
            if left.lost || left.fresh {
                let why = if left.fresh { "static fields of a class first used in a test" } else { "static fields" };
                attempt.retire.get_or_insert_with(|| format!("{why} cannot be put back"));
            }
        }
        attempt.fresh = fresh;
        if !self.platform.restore(env, settings || hook::may_change_properties()) {
            attempt.retire.get_or_insert_with(|| "system properties cannot be put back".to_owned());
        }
        // what first uses a class may be in its initialiser, which must not be stopped
        if attempt.fresh.is_empty() && hook::live_threads() > self.threads_quiet {
            self.end_threads(attempt);
            self.threads_quiet = hook::live_threads();
        }
        let threads = hook::live_threads();
        if threads - self.threads_before > MAX_THREADS_LEFT || threads - self.threads_at_start > MAX_THREADS {
            attempt.retire.get_or_insert_with(|| "tests left threads behind".to_owned());
        }
    }

    /// A thread that a test left running would take the steps and the processor of those that follow.
    fn end_threads(&mut self, attempt: &mut Attempt) {
        let Some((others, throwable)) = &self.others else { return };
        if let Some(probes) = &self.probes {
            probes.allow_steps(self.env, -1);
        }
        if others.end_running(throwable.0) {
            return;
        }
        self.unstoppable += 1;
        if self.unstoppable > MAX_UNSTOPPABLE {
            attempt.retire.get_or_insert_with(|| "tests left threads running".to_owned());
        }
    }

    fn tell(&mut self, observed: Observed, index: u32) -> Result<(), String> {
        let known = Known { types: std::mem::take(&mut self.new_types), ..self.stacks.take_known() };
        let mut out = self.watch.out();
        if !known.is_empty() {
            encode(&Reply::Known(known), &mut out.buffer).map_err(|e| e.to_string())?;
        }
        let reply = Reply::Result(observed);
        encode(&reply, &mut out.buffer).map_err(|e| e.to_string())?;
        if let (Some(probes), Reply::Result(told)) = (&mut self.probes, reply) {
            probes.recycle(Noted { hits: told.hits, branches: told.branches, switches: told.switches, seen: told.seen });
        }
        if out.buffer.len() >= FLUSH_BYTES || index % FLUSH_TESTS == FLUSH_TESTS - 1 {
            out.flush().map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// Ascending numbers to their differences.
fn to_differences(hits: &mut [u32]) {
    let mut before = 0;
    for hit in hits {
        (*hit, before) = (*hit - before, *hit);
    }
}
