//! Sees every class as it is loaded, puts the probes in, and counts what a test leaves behind: classes made ready, threads started.
//!
//! JVMTI callbacks carry no data of ours, so the state is one static, set before the first callback. A callback never lets a panic out.

use std::ffi::{c_char, c_uchar};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jobject, jthread};
use jvmti_bindings::sys::jvmti::{
    JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START, jvmtiCapabilities, jvmtiEnv,
    jvmtiError, jvmtiEventCallbacks,
};
use rustc_hash::FxHashMap;

use super::setup::{Setup, Watched};
use super::vm::{Env, Global, Tools, c_bytes, jvmti};
use crate::instrument::{self, Detail, Spec, StaticRef};

const RUNTIME: &[u8] = b"java/lang/Runtime";
/// Classes that the JDK makes at run time in the program's loaders, and ours.
const GENERATED: [&str; 7] = ["java/", "javax/", "sun/", "jdk/", "com/sun/", "rethrow/rt/", "$Proxy"];

/// The methods that lead to a change of system properties, as a class that calls them names them.
const PROPERTY_CHANGERS: [&[u8]; 4] = [b"setProperty", b"setProperties", b"clearProperty", b"getProperties"];

/// See the module documentation.
struct Hook {
    /// Classes are changed, not only seen.
    rewrites: bool,
    watched: FxHashMap<Vec<u8>, Watched>,
    /// Probes that note their callers, ascending.
    marked: Vec<u32>,
    /// Loads the JDK's classes that the boot loader does not. Absent before JDK 9 only in odd builds.
    platform_loader: Option<Global>,
    statics: Mutex<Vec<StaticRef>>,
    prepared: Mutex<Vec<String>>,
    prepared_count: AtomicU32,
    threads: AtomicI32,
    /// Some class of the program may change system properties.
    properties: AtomicBool,
}

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Gets the capabilities and installs the callbacks; with `instrument`, classes get their probes and `Runtime.exit` is stopped.
pub fn install(env: Env, ti: Tools, setup: &Setup, platform_loader: Option<Global>) -> Result<(), String> {
    let mut possible = jvmtiCapabilities::default();
    check(jvmti!(ti, GetPotentialCapabilities, &raw mut possible), "to tell its capabilities")?;
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_signal_thread(true);
    // JDK 8 gives it only while it starts; classes that are loaded later are seen without it
    wanted.set_can_generate_all_class_hook_events(possible.can_generate_all_class_hook_events());
    wanted.set_can_retransform_classes(true);
    wanted.set_can_get_line_numbers(true);
    check(jvmti!(ti, AddCapabilities, &raw const wanted), "capabilities")?;
    let watched = setup.watched.iter().map(|w| (w.class.clone().into_bytes(), w.clone())).collect();
    let mut marked: Vec<u32> = setup.chain.iter().flat_map(|f| f.points.iter().copied()).collect();
    marked.sort_unstable();
    let hook = Hook {
        rewrites: setup.instrument,
        watched,
        marked,
        platform_loader,
        statics: Mutex::default(),
        prepared: Mutex::default(),
        prepared_count: AtomicU32::new(0),
        threads: AtomicI32::new(0),
        properties: AtomicBool::new(false),
    };
    HOOK.set(hook).map_err(|_| "two JVMs in one process")?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.ClassFileLoadHook = Some(on_class_file);
    callbacks.ClassPrepare = Some(on_class_prepare);
    callbacks.ThreadStart = Some(on_thread_start);
    callbacks.ThreadEnd = Some(on_thread_end);
    check(jvmti!(ti, SetEventCallbacks, &raw const callbacks, size_of::<jvmtiEventCallbacks>() as jint), "callbacks")?;
    for event in [JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END] {
        check(jvmti!(ti, SetEventNotificationMode, JVMTI_ENABLE, event, null_mut()), "events")?;
    }
    if !setup.instrument {
        return Ok(());
    }
    let runtime = env.class("java/lang/Runtime")?;
    check(jvmti!(ti, RetransformClasses, 1, &raw const runtime.0), "retransformation of Runtime")
}

fn check(code: jvmtiError, what: &str) -> Result<(), String> {
    if code == jvmtiError::NONE { Ok(()) } else { Err(format!("JVMTI refuses {what}: {code:?}")) }
}

/// The static field of that number.
pub fn static_field(number: usize) -> Option<StaticRef> {
    lock(&HOOK.get()?.statics).get(number).cloned()
}

/// Counts classes of the program made ready; when it grows, [`take_prepared`] names them.
pub fn prepared_count() -> u32 {
    HOOK.get().map_or(0, |h| h.prepared_count.load(Ordering::Relaxed))
}

/// The classes (with dots) made ready since the last call.
pub fn take_prepared() -> Vec<String> {
    HOOK.get().map_or_else(Vec::new, |h| std::mem::take(&mut *lock(&h.prepared)))
}

/// Whether some class of the program may change system properties; unknown counts as yes.
pub fn may_change_properties() -> bool {
    HOOK.get().is_none_or(|h| h.properties.load(Ordering::Relaxed))
}

/// Threads started and not yet ended, since the start.
pub fn live_threads() -> i32 {
    HOOK.get().map_or(0, |h| h.threads.load(Ordering::Relaxed))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "system" fn on_class_file(
    ti: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _domain: jobject,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    // SAFETY: JVMTI gives a valid name (or null) and `len` bytes at `data`.
    let (name, bytes) = unsafe { (c_bytes(name), std::slice::from_raw_parts(data, len.max(0) as usize)) };
    let (Some(hook), Some(name)) = (HOOK.get(), name) else { return };
    let rewritten = catch_unwind(AssertUnwindSafe(|| hook.rewrite(Env(env), loader, name, bytes)));
    let Ok(Some(rewritten)) = rewritten else { return };
    let mut memory = null_mut();
    if jvmti!(Tools(ti), Allocate, rewritten.len() as i64, &raw mut memory) == jvmtiError::NONE {
        // SAFETY: `memory` has room for the bytes; the out pointers are JVMTI's.
        unsafe {
            std::ptr::copy_nonoverlapping(rewritten.as_ptr(), memory, rewritten.len());
            *new_len = rewritten.len() as jint;
            *new_data = memory;
        }
    }
}

impl Hook {
    fn rewrite(&self, env: Env, loader: jobject, name: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        if name == RUNTIME && self.rewrites {
            return instrument::replace_exit(bytes).ok();
        }
        if loader.is_null() || self.platform_loader.is_some_and(|p| env.same(p.0, loader)) || is_generated(name) {
            return None;
        }
        if PROPERTY_CHANGERS.iter().any(|name| contains(bytes, name)) {
            self.properties.store(true, Ordering::Relaxed);
        }
        if !self.rewrites {
            return None;
        }
        // Held over the rewriting, because the numbers of this class begin where the last one's end.
        let mut statics = lock(&self.statics);
        let spec = self.spec(name, statics.len() as u32);
        let done = instrument::instrument_marked(bytes, &spec, &self.marked).ok()?;
        statics.extend(done.probes.statics);
        Some(done.bytes)
    }

    fn spec(&self, name: &[u8], first_static: u32) -> Spec {
        match self.watched.get(name) {
            Some(w) => Spec { detail: w.detail, first_probe: w.first_probe, first_branch: w.first_branch, first_switch: w.first_switch, first_static },
            None => Spec { detail: Detail::Steps, first_probe: 0, first_branch: 0, first_switch: 0, first_static },
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|w| w == part)
}

fn is_generated(name: &[u8]) -> bool {
    GENERATED.iter().any(|g| name.starts_with(g.as_bytes())) || name.windows(8).any(|w| w == b"$$Lambda") || super::stub_class::is_stub(name)
}

unsafe extern "system" fn on_class_prepare(ti: *mut jvmtiEnv, _env: *mut JNIEnv, _thread: jthread, class: jclass) {
    let Some(hook) = HOOK.get() else { return };
    let mut signature: *mut c_char = null_mut();
    if jvmti!(Tools(ti), GetClassSignature, class, &raw mut signature, null_mut()) != jvmtiError::NONE {
        return;
    }
    // SAFETY: JVMTI has just made this string.
    let text = unsafe { c_bytes(signature) }.unwrap_or_default();
    let name = text.strip_prefix(b"L").and_then(|t| t.strip_suffix(b";")).unwrap_or_default();
    if !name.is_empty() && !is_generated(name) {
        let dotted = String::from_utf8_lossy(name).replace('/', ".");
        lock(&hook.prepared).push(dotted);
        hook.prepared_count.fetch_add(1, Ordering::Relaxed);
    }
    jvmti!(Tools(ti), Deallocate, signature.cast());
}

unsafe extern "system" fn on_thread_start(_ti: *mut jvmtiEnv, _env: *mut JNIEnv, _thread: jthread) {
    if let Some(hook) = HOOK.get() {
        hook.threads.fetch_add(1, Ordering::Relaxed);
    }
}

unsafe extern "system" fn on_thread_end(_ti: *mut jvmtiEnv, _env: *mut JNIEnv, _thread: jthread) {
    if let Some(hook) = HOOK.get() {
        hook.threads.fetch_sub(1, Ordering::Relaxed);
    }
}
