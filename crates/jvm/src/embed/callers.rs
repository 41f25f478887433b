//! The native method `Probe.callers`: who called a frame of the trace when its line was reached (BBC-3).
//!
//! Only the lines of the trace's frames call it, a few times in a test, so that nothing else gets slower. It walks the stack as far as the trace is
//! long and compares by class, method and line, as the printed trace will be compared; frames of the platform and of ours do not count.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint, jmethodID};
use jvmti_bindings::sys::jvmti::{jvmtiError, jvmtiFrameInfo, jvmtiLineNumberEntry};
use rustc_hash::FxHashMap;

use super::probes::Probes;
use super::setup::{ChainFrame, Setup};
use super::vm::{Env, Tools, c_bytes, c_string, jni, jvmti};
use crate::instrument::runtime::CALLERS_DESCRIPTOR;

/// Walks for one frame in one test: a line that is reached from many places is asked again, up to this.
const MAX_WALKS: u32 = 24;
/// Calls of the native method in one test.
const MAX_CALLS: i32 = 400;
/// Frames looked at for each frame of the trace: the platform's own stand between them.
const PER_FRAME: usize = 3;
const BESIDE: usize = 16;
const PLATFORM: [&[u8]; 5] = [b"Ljava/", b"Ljavax/", b"Lsun/", b"Ljdk/", b"Lcom/sun/"];

struct Callers {
    tools: Tools,
    chain: Vec<ChainFrame>,
    /// By point: the frames of the trace whose line it is on.
    by_point: FxHashMap<u32, Vec<usize>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reach: Vec<u32>,
    walks: Vec<u32>,
    methods: FxHashMap<usize, Method>,
    buffer: Vec<jvmtiFrameInfo>,
}

// SAFETY: the buffer's method ids are valid in every thread, and the lock guards the rest.
unsafe impl Send for State {}

/// What a method on the stack means for the trace.
struct Method {
    /// Of the platform or ours: not looked at.
    skipped: bool,
    /// The frames of the trace with its class and name.
    frames: Vec<usize>,
    /// Ascending: where each line begins.
    lines: Vec<(i64, u32)>,
}

static CALLERS: OnceLock<Callers> = OnceLock::new();

/// Registers the native method if a trace is watched.
pub fn install(env: Env, tools: Tools, probes: &Probes, setup: &Setup) -> Result<(), String> {
    if setup.chain.is_empty() {
        return Ok(());
    }
    let mut by_point: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (i, frame) in setup.chain.iter().enumerate() {
        frame.points.iter().for_each(|p| by_point.entry(*p).or_default().push(i));
    }
    let len = setup.chain.len();
    let state = State { reach: vec![0; len], walks: vec![0; len], ..State::default() };
    let callers = Callers { tools, chain: setup.chain.clone(), by_point, state: Mutex::new(state) };
    CALLERS.set(callers).map_err(|_| "two JVMs in one process")?;
    let (probe, _) = probes.hint_target();
    let (name, desc) = (c_string("callers"), c_string(CALLERS_DESCRIPTOR));
    let native = JNINativeMethod { name: name.as_ptr(), signature: desc.as_ptr(), fnPtr: on_callers as *mut c_void };
    if jni!(env, RegisterNatives, probe.0, &raw const native, 1) != 0 {
        env.clear_exception();
        return Err("this JVM refuses the native method of the probes".to_owned());
    }
    let limit = env.static_field(probe, "maxMarks", "I")?;
    jni!(env, SetStaticIntField, probe.0, limit, MAX_CALLS);
    Ok(())
}

/// For each frame of the trace how far out the chain was unbroken, since the last call; empty if no trace is watched.
pub fn take_reach() -> Vec<u32> {
    let Some(callers) = CALLERS.get() else { return Vec::new() };
    let mut state = callers.lock();
    let reach = state.reach.clone();
    state.reach.fill(0);
    state.walks.fill(0);
    reach
}

unsafe extern "system" fn on_callers(_env: *mut JNIEnv, _class: jclass, point: jint) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Some(callers) = CALLERS.get() {
            callers.note(point as u32);
        }
    }));
}

impl Callers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, point: u32) {
        let Some(frames) = self.by_point.get(&point) else { return };
        let mut state = self.lock();
        let whole = self.chain.len() as u32;
        let open = |state: &State, at: usize| state.reach[at] < whole && state.walks[at] < MAX_WALKS;
        let Some(first) = frames.iter().copied().find(|at| open(&state, *at)) else { return };
        let depth = self.walk(&mut state, (self.chain.len() - first) * PER_FRAME + BESIDE);
        for at in frames.iter().copied() {
            if open(&state, at) {
                state.walks[at] += 1;
                let outermost = self.outermost(&mut state, depth, at);
                state.reach[at] = state.reach[at].max(outermost);
            }
        }
    }

    /// Reads the stack of this thread into the buffer, innermost first.
    fn walk(&self, state: &mut State, wanted: usize) -> usize {
        // SAFETY: all-zero is a valid value of this plain struct of a pointer and a number.
        state.buffer.resize_with(wanted, || unsafe { std::mem::zeroed() });
        let mut count = 0;
        let code = jvmti!(self.tools, GetStackTrace, null_mut(), 0, wanted as jint, state.buffer.as_mut_ptr(), &raw mut count);
        if code == jvmtiError::NONE { (count.max(0) as usize).min(wanted) } else { 0 }
    }

    /// The number of the outermost frame, counted from 1, up to which the stack shows the trace's frames without a gap.
    fn outermost(&self, state: &mut State, depth: usize, at: usize) -> u32 {
        let mut next = at;
        for i in 0..depth {
            let (id, location) = (state.buffer[i].method, state.buffer[i].location);
            let method = state.methods.entry(id as usize).or_insert_with(|| self.method(id));
            if method.skipped {
                continue;
            }
            if next >= self.chain.len() || !method.frames.contains(&next) || !method.is_on(location, self.chain[next].line) {
                break;
            }
            next += 1;
        }
        // The frame itself is where the probe stands, even if its method tells no name.
        next.max(at + 1) as u32
    }

    fn method(&self, id: jmethodID) -> Method {
        let skipped = Method { skipped: true, frames: Vec::new(), lines: Vec::new() };
        let mut class: jclass = null_mut();
        if jvmti!(self.tools, GetMethodDeclaringClass, id, &raw mut class) != jvmtiError::NONE {
            return skipped;
        }
        let mut signature: *mut c_char = null_mut();
        jvmti!(self.tools, GetClassSignature, class, &raw mut signature, null_mut());
        let signature = self.taken(signature);
        let hidden = signature.windows(8).any(|w| w == b"$$Lambda");
        if hidden || signature.starts_with(b"Lrethrow/rt/") || PLATFORM.iter().any(|p| signature.starts_with(p)) {
            return skipped;
        }
        let mut name: *mut c_char = null_mut();
        jvmti!(self.tools, GetMethodName, id, &raw mut name, null_mut(), null_mut());
        let name = self.taken(name);
        let same = |f: &ChainFrame| signature.get(1..signature.len().saturating_sub(1)) == Some(f.class.as_bytes()) && name == f.method.as_bytes();
        let frames: Vec<usize> = self.chain.iter().enumerate().filter(|(_, f)| same(f)).map(|(i, _)| i).collect();
        let lines = if frames.is_empty() { Vec::new() } else { self.lines(id) };
        Method { skipped: false, frames, lines }
    }

    /// A text that JVMTI made, freed.
    fn taken(&self, text: *mut c_char) -> Vec<u8> {
        // SAFETY: JVMTI has just made this string, or it is null.
        let bytes = unsafe { c_bytes(text) }.unwrap_or_default().to_vec();
        if !text.is_null() {
            jvmti!(self.tools, Deallocate, text.cast());
        }
        bytes
    }

    fn lines(&self, id: jmethodID) -> Vec<(i64, u32)> {
        let mut table: *mut jvmtiLineNumberEntry = null_mut();
        let mut count = 0;
        if jvmti!(self.tools, GetLineNumberTable, id, &raw mut count, &raw mut table) != jvmtiError::NONE || table.is_null() {
            return Vec::new();
        }
        // SAFETY: JVMTI has just made this table of `count` entries.
        let entries = unsafe { std::slice::from_raw_parts(table, count.max(0) as usize) };
        let mut lines: Vec<(i64, u32)> = entries.iter().map(|e| (e.start_location, e.line_number.max(0) as u32)).collect();
        jvmti!(self.tools, Deallocate, table.cast());
        lines.sort_unstable();
        lines
    }
}

impl Method {
    fn is_on(&self, location: i64, line: Option<u32>) -> bool {
        let Some(line) = line else { return true };
        let at = self.lines.partition_point(|(start, _)| *start <= location);
        at.checked_sub(1).is_none_or(|i| self.lines[i].1 == line)
    }
}
