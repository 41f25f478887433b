//! Recognises a stack without building its `StackTraceElement`s, which takes longer than most tests.
//!
//! HotSpot keeps in the field `backtrace` of an exception, for each frame, the number of the method, the place in its code and its class. Where that
//! layout or the field is not as expected, or the program has set the trace itself, there is no answer and the caller reads the elements.

use std::cell::Cell;
use std::hash::Hasher;

use jvmti_bindings::sys::jni::{jfieldID, jobject, jthrowable};
use rustc_hash::{FxHashMap, FxHasher};

use super::vm::{Env, Global, c_string, jni};

/// Frames in the first, and here only, piece of a backtrace.
const MAX_DEPTH: usize = 32;
/// Places in a backtrace: methods, code positions, classes.
const METHODS: i32 = 0;
const POSITIONS: i32 = 1;
const CLASSES: i32 = 2;

/// See the module documentation.
pub struct Backtraces {
    layout: Option<Layout>,
    known: FxHashMap<u64, Vec<Known>>,
    /// What `recognise` has read, for `remember`.
    read: Option<(u64, Frames, jobject)>,
    met: u32,
}

/// A stack met before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Met {
    /// The number under which it was remembered.
    pub stack: u32,
    /// Its own: stacks with the same lines have one number, but places in the code of their own.
    pub place: u32,
}

struct Layout {
    backtrace: jfieldID,
    depth: jfieldID,
    stack: jfieldID,
    /// Stands in `stack` as long as no elements were made.
    unassigned: Global,
    objects: Global,
    shorts: Global,
    ints: Global,
    /// Once a backtrace was as expected, all of this JVM's are.
    verified: Cell<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Frames {
    depth: usize,
    methods: [i16; MAX_DEPTH],
    positions: [i32; MAX_DEPTH],
}

struct Known {
    frames: Frames,
    classes: Vec<Global>,
    met: Met,
}

impl Backtraces {
    pub fn new(env: Env, throwable: Global) -> Backtraces {
        Backtraces { layout: layout(env, throwable), known: FxHashMap::default(), read: None, met: 0 }
    }

    pub fn forget(&mut self, env: Env) {
        for class in self.known.drain().flat_map(|(_, bucket)| bucket).flat_map(|known| known.classes) {
            jni!(env, DeleteGlobalRef, class.0);
        }
    }

    /// The stack as it was remembered.
    pub fn recognise(&mut self, env: Env, thrown: jthrowable) -> Option<Met> {
        self.read = None;
        let layout = self.layout.as_ref()?;
        let (frames, classes) = layout.frames(env, thrown)?;
        let hash = frames.hash();
        self.read = Some((hash, frames, classes));
        let found = self.known.get(&hash)?.iter().find(|k| k.frames == frames && same_classes(env, &k.classes, classes));
        found.map(|k| k.met)
    }

    /// Remembers the stack that was last not recognised, before the reference to its exception ends. Its classes are kept, as the worker keeps all
    /// classes it meets.
    pub fn remember(&mut self, env: Env, stack: u32) -> Option<Met> {
        let (hash, frames, classes) = self.read.take()?;
        let met = Met { stack, place: self.met };
        self.met += 1;
        let class = |i| {
            let class = jni!(env, GetObjectArrayElement, classes, i);
            let kept = env.global(class);
            env.drop_local(class);
            kept
        };
        let classes = (0..frames.depth as i32).map(class).collect();
        self.known.entry(hash).or_default().push(Known { frames, classes, met });
        Some(met)
    }
}

impl Layout {
    /// The frames, and the array of their classes; none of the references is deleted, since the test's end with it.
    fn frames(&self, env: Env, thrown: jthrowable) -> Option<(Frames, jobject)> {
        let depth = usize::try_from(jni!(env, GetIntField, thrown, self.depth)).ok().filter(|d| (1..=MAX_DEPTH).contains(d))?;
        let stack = jni!(env, GetObjectField, thrown, self.stack);
        if !env.same(stack, self.unassigned.0) {
            return None;
        }
        let backtrace = jni!(env, GetObjectField, thrown, self.backtrace);
        if !self.is_array(env, backtrace, self.objects, CLASSES + 1) {
            return None;
        }
        let [methods, positions, classes] = [METHODS, POSITIONS, CLASSES].map(|place| jni!(env, GetObjectArrayElement, backtrace, place));
        let len = depth as i32;
        if !(self.is_array(env, methods, self.shorts, len) && self.is_array(env, positions, self.ints, len) && self.is_array(env, classes, self.objects, len)) {
            return None;
        }
        self.verified.set(true);
        let mut frames = Frames { depth, methods: [0; MAX_DEPTH], positions: [0; MAX_DEPTH] };
        jni!(env, GetShortArrayRegion, methods, 0, len, frames.methods.as_mut_ptr());
        jni!(env, GetIntArrayRegion, positions, 0, len, frames.positions.as_mut_ptr());
        Some((frames, classes))
    }

    fn is_array(&self, env: Env, array: jobject, class: Global, len: i32) -> bool {
        !array.is_null() && (self.verified.get() || (env.is_instance(array, class.0) && jni!(env, GetArrayLength, array) >= len))
    }
}

impl Frames {
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for i in 0..self.depth {
            hasher.write_u64((self.positions[i] as u32 as u64) << 16 | self.methods[i] as u16 as u64);
        }
        hasher.finish()
    }
}

/// Whether the array begins with these classes; it is long enough.
fn same_classes(env: Env, known: &[Global], classes: jobject) -> bool {
    known.iter().enumerate().all(|(i, class)| env.same(class.0, jni!(env, GetObjectArrayElement, classes, i as i32)))
}

fn layout(env: Env, throwable: Global) -> Option<Layout> {
    let elements = "[Ljava/lang/StackTraceElement;";
    let unassigned = env.static_field(throwable, "UNASSIGNED_STACK", elements).ok()?;
    let unassigned = jni!(env, GetStaticObjectField, throwable.0, unassigned);
    let class = |name: &str| {
        let class = jni!(env, FindClass, c_string(name).as_ptr());
        (!env.clear_exception()).then(|| env.global(class))
    };
    Some(Layout {
        backtrace: env.field(throwable, "backtrace", "Ljava/lang/Object;").ok()?,
        depth: env.field(throwable, "depth", "I").ok()?,
        stack: env.field(throwable, "stackTrace", elements).ok()?,
        unassigned: env.global(unassigned),
        objects: class("[Ljava/lang/Object;")?,
        shorts: class("[S")?,
        ints: class("[I")?,
        verified: Cell::new(false),
    })
}
