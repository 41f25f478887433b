//! The threads beside the one that runs the tests: whether any of them may still wake it, and ending what a test left running.

use std::ffi::CStr;
use std::ptr::null_mut;
use std::time::Duration;

use jvmti_bindings::sys::jni::{jint, jmethodID, jobject, jthrowable};
use jvmti_bindings::sys::jvmti::{
    JVMTI_THREAD_STATE_IN_NATIVE, JVMTI_THREAD_STATE_RUNNABLE, JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT, jvmtiError, jvmtiFrameInfo, jvmtiThreadGroupInfo,
    jvmtiThreadInfo,
};

use super::vm::{Env, Global, Tools, jvmti};

/// Groups of the platform's own threads, some of which wake up now and then to clean.
const PLATFORM_GROUPS: [&[u8]; 2] = [b"system", b"InnocuousThreadGroup"];

/// A pool replaces a thread that was stopped between two tasks, and what it was at is lost only if it was stopped in a task: so it is looked this often …
const LOOKS: u32 = 40;
/// … at first without stopping anything, since what runs code of the program ends by itself when it has no steps left …
const PATIENT: u32 = 5;
/// … with so long between …
const PAUSE: Duration = Duration::from_micros(200);
/// … until nothing runs so many times in a row: the new thread may be on its way, a timer may wait for its next turn.
const QUIET: u32 = 4;

/// A class whose initialiser was stopped is broken for the process; a thread that tells of its own end is about to end.
const DELICATE: [&[u8]; 2] = [b"<clinit>", b"dispatchUncaughtException"];
const MAX_FRAMES: usize = 48;

/// Belongs to the thread that asks.
pub struct Others {
    env: Env,
    tools: Tools,
    /// The tests' thread and those that were there before any test.
    known: Vec<Global>,
}

impl Others {
    pub fn new(env: Env, tools: Tools) -> Others {
        let mut others = Others { env, tools, known: Vec::new() };
        let known = others.all(|thread| env.global(thread));
        others.known = known;
        others
    }

    /// Whether a thread that tests started runs, or will by itself.
    pub fn may_act(&self) -> bool {
        self.all(|thread| !self.is_known(thread) && self.acts(thread)).contains(&true)
    }

    /// Stops the threads that tests started and that run on; false if some do not end. One in native code would not notice, and mostly waits there.
    pub fn end_running(&self, throwable: jthrowable) -> bool {
        let mut quiet = 0;
        for look in 0..LOOKS {
            let spared = |thread| look < PATIENT || self.is_delicate(thread);
            let running = |thread| !self.is_known(thread) && self.computes(thread) && (spared(thread) || self.stop(thread, throwable));
            quiet = if self.all(running).contains(&true) { 0 } else { quiet + 1 };
            if quiet == QUIET {
                return true;
            }
            std::thread::sleep(PAUSE);
        }
        false
    }

    /// False if it has ended meanwhile.
    fn stop(&self, thread: jobject, throwable: jthrowable) -> bool {
        jvmti!(self.tools, StopThread, thread, throwable) == jvmtiError::NONE
    }

    /// Whether stopping it now would break a class, or it is ending already.
    fn is_delicate(&self, thread: jobject) -> bool {
        // SAFETY: all-zero is a valid value of this plain struct of a pointer and a number.
        let mut frames: [jvmtiFrameInfo; MAX_FRAMES] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        jvmti!(self.tools, GetStackTrace, thread, 0, MAX_FRAMES as jint, frames.as_mut_ptr(), &raw mut count);
        frames.iter().take(usize::try_from(count).unwrap_or(0)).any(|frame| self.is_delicate_method(frame.method))
    }

    fn is_delicate_method(&self, method: jmethodID) -> bool {
        let mut name = null_mut();
        if jvmti!(self.tools, GetMethodName, method, &raw mut name, null_mut(), null_mut()) != jvmtiError::NONE {
            return false;
        }
        // SAFETY: JVMTI gives a string that ends with a zero, which is freed after it was compared.
        let delicate = !name.is_null() && DELICATE.contains(&unsafe { CStr::from_ptr(name) }.to_bytes());
        self.free(name);
        delicate
    }

    fn computes(&self, thread: jobject) -> bool {
        self.state(thread) & (JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE) == JVMTI_THREAD_STATE_RUNNABLE && !self.is_of_platform(thread)
    }

    fn is_known(&self, thread: jobject) -> bool {
        self.known.iter().any(|known| self.env.same(known.0, thread))
    }

    fn state(&self, thread: jobject) -> jint {
        let mut state = 0;
        jvmti!(self.tools, GetThreadState, thread, &raw mut state);
        state
    }

    fn acts(&self, thread: jobject) -> bool {
        let state = self.state(thread);
        let runs = state & JVMTI_THREAD_STATE_RUNNABLE != 0;
        runs || (state & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT != 0 && !self.is_of_platform(thread))
    }

    fn is_of_platform(&self, thread: jobject) -> bool {
        let mut info = jvmtiThreadInfo { name: null_mut(), priority: 0, is_daemon: 0, thread_group: null_mut(), context_class_loader: null_mut() };
        if jvmti!(self.tools, GetThreadInfo, thread, &raw mut info) != jvmtiError::NONE {
            return false;
        }
        self.free(info.name);
        self.env.drop_local(info.context_class_loader);
        // a thread that has just ended has no group
        let of_platform = !info.thread_group.is_null() && self.is_platform_group(info.thread_group);
        self.env.drop_local(info.thread_group);
        of_platform
    }

    fn is_platform_group(&self, group: jobject) -> bool {
        let mut info = jvmtiThreadGroupInfo { parent: null_mut(), name: null_mut(), max_priority: 0, is_daemon: 0 };
        if jvmti!(self.tools, GetThreadGroupInfo, group, &raw mut info) != jvmtiError::NONE {
            return false;
        }
        // SAFETY: JVMTI gives a string that ends with a zero, which is freed after it was compared.
        let of_platform = !info.name.is_null() && PLATFORM_GROUPS.contains(&unsafe { CStr::from_ptr(info.name) }.to_bytes());
        self.free(info.name);
        self.env.drop_local(info.parent);
        of_platform
    }

    /// What `of` tells of each thread that lives.
    fn all<T>(&self, of: impl Fn(jobject) -> T) -> Vec<T> {
        let (mut count, mut threads): (jint, *mut jobject) = (0, null_mut());
        if jvmti!(self.tools, GetAllThreads, &raw mut count, &raw mut threads) != jvmtiError::NONE || threads.is_null() {
            return Vec::new();
        }
        let mut told = Vec::new();
        for i in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: JVMTI gives `count` references, which are freed below.
            let thread = unsafe { *threads.add(i) };
            told.push(of(thread));
            self.env.drop_local(thread);
        }
        self.free(threads);
        told
    }

    fn free<T>(&self, memory: *mut T) {
        jvmti!(self.tools, Deallocate, memory.cast());
    }
}
