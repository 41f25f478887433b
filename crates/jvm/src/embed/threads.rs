//! The threads beside the one that runs the tests: whether any of them may still wake it.

use std::ffi::CStr;
use std::ptr::null_mut;

use jvmti_bindings::sys::jni::{jint, jobject};
use jvmti_bindings::sys::jvmti::{JVMTI_THREAD_STATE_RUNNABLE, JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT, jvmtiError, jvmtiThreadGroupInfo, jvmtiThreadInfo};

use super::vm::{Env, Global, Tools, jvmti};

/// Groups of the platform's own threads, some of which wake up now and then to clean.
const PLATFORM_GROUPS: [&[u8]; 2] = [b"system", b"InnocuousThreadGroup"];

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

    fn is_known(&self, thread: jobject) -> bool {
        self.known.iter().any(|known| self.env.same(known.0, thread))
    }

    fn acts(&self, thread: jobject) -> bool {
        let mut state = 0;
        jvmti!(self.tools, GetThreadState, thread, &raw mut state);
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
