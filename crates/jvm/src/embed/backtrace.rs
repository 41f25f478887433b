//! Recognises a stack without building its `StackTraceElement`s, which takes longer than most tests.
//!
//! HotSpot keeps in the field `backtrace` of an exception, for each frame, the number of the method, the place in its code and its class. Where that
//! layout or the field is not as expected, or the program has set the trace itself, there is no answer and the caller reads the elements.

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
    read: Option<(u64, Frames)>,
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
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Frames {
    depth: usize,
    methods: [i16; MAX_DEPTH],
    positions: [i32; MAX_DEPTH],
}

struct Known {
    frames: Frames,
    classes: Global,
    number: u32,
}

impl Backtraces {
    pub fn new(env: Env, throwable: Global) -> Backtraces {
        Backtraces { layout: layout(env, throwable), known: FxHashMap::default(), read: None }
    }

    pub fn forget(&mut self, env: Env) {
        for known in self.known.drain().flat_map(|(_, bucket)| bucket) {
            jni!(env, DeleteGlobalRef, known.classes.0);
        }
    }

    /// The number under which this stack was remembered.
    pub fn recognise(&mut self, env: Env, thrown: jthrowable) -> Option<u32> {
        self.read = None;
        let layout = self.layout.as_ref()?;
        let frames = layout.frames(env, thrown)?;
        let hash = frames.hash();
        self.read = Some((hash, frames));
        let bucket = self.known.get(&hash)?;
        let classes = layout.part(env, thrown, CLASSES);
        let found = bucket.iter().find(|k| k.frames == frames && same_classes(env, k.classes.0, classes, frames.depth));
        env.drop_local(classes);
        found.map(|k| k.number)
    }

    /// Remembers the stack that was last not recognised. Its classes are kept, as the worker keeps all classes it meets.
    pub fn remember(&mut self, env: Env, thrown: jthrowable, number: u32) {
        let (Some(layout), Some((hash, frames))) = (&self.layout, self.read.take()) else { return };
        let classes = layout.part(env, thrown, CLASSES);
        if !classes.is_null() {
            self.known.entry(hash).or_default().push(Known { frames, classes: env.global(classes), number });
            env.drop_local(classes);
        }
    }
}

impl Layout {
    fn frames(&self, env: Env, thrown: jthrowable) -> Option<Frames> {
        let depth = usize::try_from(jni!(env, GetIntField, thrown, self.depth)).ok().filter(|d| (1..=MAX_DEPTH).contains(d))?;
        let stack = jni!(env, GetObjectField, thrown, self.stack);
        let assigned = !env.same(stack, self.unassigned.0);
        env.drop_local(stack);
        if assigned {
            return None;
        }
        let mut frames = Frames { depth, methods: [0; MAX_DEPTH], positions: [0; MAX_DEPTH] };
        let methods = self.part(env, thrown, METHODS);
        let positions = self.part(env, thrown, POSITIONS);
        let fits = |array: jobject, class: Global| !array.is_null() && env.is_instance(array, class.0) && jni!(env, GetArrayLength, array) >= depth as i32;
        let ok = fits(methods, self.shorts) && fits(positions, self.ints);
        if ok {
            jni!(env, GetShortArrayRegion, methods, 0, depth as i32, frames.methods.as_mut_ptr());
            jni!(env, GetIntArrayRegion, positions, 0, depth as i32, frames.positions.as_mut_ptr());
        }
        env.drop_local(methods);
        env.drop_local(positions);
        (!env.clear_exception() && ok).then_some(frames)
    }

    /// One of the arrays of the backtrace; null if it has none.
    fn part(&self, env: Env, thrown: jthrowable, place: i32) -> jobject {
        let backtrace = jni!(env, GetObjectField, thrown, self.backtrace);
        let usable = !backtrace.is_null() && env.is_instance(backtrace, self.objects.0) && jni!(env, GetArrayLength, backtrace) > CLASSES;
        let part = if usable { jni!(env, GetObjectArrayElement, backtrace, place) } else { std::ptr::null_mut() };
        env.drop_local(backtrace);
        part
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

/// Whether both arrays hold the same classes in their first `depth` places.
fn same_classes(env: Env, a: jobject, b: jobject, depth: usize) -> bool {
    if b.is_null() || jni!(env, GetArrayLength, b) < depth as i32 {
        return false;
    }
    (0..depth as i32).all(|i| {
        let (x, y) = (jni!(env, GetObjectArrayElement, a, i), jni!(env, GetObjectArrayElement, b, i));
        let same = env.same(x, y);
        env.drop_local(x);
        env.drop_local(y);
        same
    })
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
    })
}
