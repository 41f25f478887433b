//! The native method `Probe.hint`: how far a predicate on strings or collections is from being true, and which values it compared.
//!
//! Called in the middle of the program, before the predicate itself. It must not change what the program does: it calls methods of a fixed list of
//! JDK classes only, leaves no exception pending and keeps no reference.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::{Mutex, OnceLock, PoisonError};

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jfieldID, jint, jmethodID, jobject};
use rethrow_worker::protocol::SeenValue;

use super::distance;
use super::probes::Probes;
use super::vm::{Env, Global, c_string, jni};
use crate::instrument::HintOp;
use crate::instrument::runtime::HINT_DESCRIPTOR;

/// Longer strings are neither measured beyond this nor reported.
const MAX_UNITS: usize = distance::MAX_UNITS;
/// A little more is read, so that a longer string is known to be longer.
const READ_UNITS: usize = MAX_UNITS * 4;
/// Longer regular expressions are not reported.
const MAX_PATTERN: usize = 500;
const MAX_SEEN: usize = 48;
const MAX_ELEMENTS: i32 = 20;
/// Copying a larger collection would cost more than its elements tell.
const MAX_SIZE: i32 = 1000;

/// Classes whose `size`, `toArray`, `keySet` and `values` run no code but the JDK's.
const COLLECTIONS: [&str; 21] = [
    "java/util/ArrayList",
    "java/util/HashSet",
    "java/util/LinkedList",
    "java/util/LinkedHashSet",
    "java/util/TreeSet",
    "java/util/Arrays$ArrayList",
    "java/util/Vector",
    "java/util/Stack",
    "java/util/ArrayDeque",
    "java/util/Collections$EmptyList",
    "java/util/Collections$EmptySet",
    "java/util/Collections$SingletonList",
    "java/util/Collections$SingletonSet",
    "java/util/ImmutableCollections$ListN",
    "java/util/ImmutableCollections$List12",
    "java/util/ImmutableCollections$SetN",
    "java/util/ImmutableCollections$Set12",
    "java/util/HashMap$KeySet",
    "java/util/LinkedHashMap$LinkedKeySet",
    "java/util/HashMap$Values",
    "java/util/concurrent/CopyOnWriteArrayList",
];
const MAPS: [&str; 8] = [
    "java/util/HashMap",
    "java/util/LinkedHashMap",
    "java/util/TreeMap",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/ImmutableCollections$MapN",
    "java/util/ImmutableCollections$Map1",
];

struct Hints {
    dist: Global,
    string: Global,
    boxes: Vec<(Global, Boxed, jfieldID)>,
    collections: Vec<Global>,
    maps: Vec<Global>,
    collection_size: jmethodID,
    to_array: jmethodID,
    map_size: jmethodID,
    key_set: jmethodID,
    values: jmethodID,
    /// Where a matcher keeps its text and its pattern, and that its own text.
    matcher: Option<[jfieldID; 3]>,
    seen: Mutex<Vec<SeenValue>>,
}

// SAFETY: method and field ids and global references are valid in every thread.
unsafe impl Send for Hints {}
unsafe impl Sync for Hints {}

#[derive(Clone, Copy)]
enum Boxed {
    Byte,
    Char,
    Short,
    Int,
    Long,
}

/// A value that can be compared by distance.
enum Operand {
    Text(Vec<u16>),
    Number(i64),
}

static HINTS: OnceLock<Hints> = OnceLock::new();

/// Registers the native method and lets the probes call it.
pub fn install(env: Env, probes: &Probes) -> Result<(), String> {
    let (probe, dist) = probes.hint_target();
    let existing = |names: &[&str]| names.iter().filter_map(|n| env.class(n).ok()).collect();
    let collection = env.class("java/util/Collection")?;
    let map = env.class("java/util/Map")?;
    let boxes =
        [("Integer", Boxed::Int, "I"), ("Long", Boxed::Long, "J"), ("Character", Boxed::Char, "C"), ("Short", Boxed::Short, "S"), ("Byte", Boxed::Byte, "B")];
    let boxed = |(name, kind, desc): (&str, Boxed, &str)| {
        let class = env.class(&format!("java/lang/{name}"))?;
        Ok((class, kind, env.field(class, "value", desc)?))
    };
    let hints = Hints {
        dist,
        string: env.class("java/lang/String")?,
        boxes: boxes.into_iter().map(boxed).collect::<Result<_, String>>()?,
        collections: existing(&COLLECTIONS),
        maps: existing(&MAPS),
        collection_size: env.method(collection, "size", "()I")?,
        to_array: env.method(collection, "toArray", "()[Ljava/lang/Object;")?,
        map_size: env.method(map, "size", "()I")?,
        key_set: env.method(map, "keySet", "()Ljava/util/Set;")?,
        values: env.method(map, "values", "()Ljava/util/Collection;")?,
        matcher: matcher_fields(env).ok(),
        seen: Mutex::default(),
    };
    HINTS.set(hints).map_err(|_| "two JVMs in one process")?;
    let (name, desc) = (c_string("hint"), c_string(HINT_DESCRIPTOR));
    let native = JNINativeMethod { name: name.as_ptr(), signature: desc.as_ptr(), fnPtr: on_hint as *mut c_void };
    if jni!(env, RegisterNatives, probe.0, &raw const native, 1) != 0 {
        env.clear_exception();
        return Err("this JVM refuses the native method of the probes".to_owned());
    }
    let enabled = env.static_field(probe, "hints", "Z")?;
    jni!(env, SetStaticBooleanField, probe.0, enabled, 1);
    Ok(())
}

fn matcher_fields(env: Env) -> Result<[jfieldID; 3], String> {
    let (matcher, pattern) = (env.class("java/util/regex/Matcher")?, env.class("java/util/regex/Pattern")?);
    let text = env.field(matcher, "text", "Ljava/lang/CharSequence;")?;
    let parent = env.field(matcher, "parentPattern", "Ljava/util/regex/Pattern;")?;
    Ok([text, parent, env.field(pattern, "pattern", "Ljava/lang/String;")?])
}

/// The values compared since the last call.
pub fn take_seen() -> Vec<SeenValue> {
    let Some(hints) = HINTS.get() else { return Vec::new() };
    let mut seen = std::mem::take(&mut *hints.seen.lock().unwrap_or_else(PoisonError::into_inner));
    seen.sort_unstable();
    seen.dedup();
    seen
}

unsafe extern "system" fn on_hint(env: *mut JNIEnv, _class: jclass, a: jobject, b: jobject, packed: jint) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let (Some(hints), Some((branch, op))) = (HINTS.get(), HintOp::decode(packed)) else { return };
        let env = Env(env);
        if let Some(distance) = hints.measure(env, op, a, b) {
            hints.note(env, branch, distance);
        }
        env.clear_exception();
    }));
}

impl Hints {
    fn measure(&self, env: Env, op: HintOp, a: jobject, b: jobject) -> Option<f64> {
        match op {
            HintOp::StringEquals | HintOp::ObjectEquals => self.compare(env, a, b, distance::edit),
            HintOp::StringEqualsIgnoreCase => self.compare(env, a, b, distance::edit_ignoring_case),
            HintOp::StringStartsWith => self.compare(env, a, b, distance::starts_with),
            HintOp::StringEndsWith => self.compare(env, a, b, distance::ends_with),
            HintOp::StringContains => self.compare(env, a, b, distance::contains),
            HintOp::StringIsEmpty => env.is_instance(a, self.string.0).then(|| env.string_len(a) as f64),
            HintOp::Contains => self.nearest(env, self.collection(env, a)?, b),
            HintOp::ContainsKey => self.nearest(env, self.part_of_map(env, a, self.key_set)?, b),
            HintOp::ContainsValue => self.nearest(env, self.part_of_map(env, a, self.values)?, b),
            HintOp::IsEmpty => self.size(env, a).map(f64::from),
            HintOp::StringMatches => {
                self.remember_pattern(env, a, b);
                None
            }
            HintOp::Matches => {
                let [text, parent, pattern] = self.matcher.filter(|_| !a.is_null())?;
                let parent = jni!(env, GetObjectField, a, parent);
                if !parent.is_null() {
                    self.remember_pattern(env, jni!(env, GetObjectField, a, text), jni!(env, GetObjectField, parent, pattern));
                }
                None
            }
        }
    }

    /// A text that a regular expression is looked for in. That it is not found is not known yet, but then texts that fit are as good.
    fn remember_pattern(&self, env: Env, text: jobject, pattern: jobject) {
        let is_short = |object: jobject, most: usize| !object.is_null() && env.is_instance(object, self.string.0) && env.string_len(object) <= most;
        if is_short(text, MAX_UNITS) && is_short(pattern, MAX_PATTERN) {
            let [text, pattern] = [(text, MAX_UNITS), (pattern, MAX_PATTERN)].map(|(object, most)| String::from_utf16_lossy(&env.utf16(object, most)));
            self.see(SeenValue::Unfit { text, pattern });
        }
    }

    fn compare(&self, env: Env, a: jobject, b: jobject, by: fn(&[u16], &[u16]) -> u32) -> Option<f64> {
        let (a, b) = (self.operand(env, a)?, self.operand(env, b)?);
        self.remember(&a);
        self.remember(&b);
        self.remember_pair(&a, &b);
        between(&a, &b, by)
    }

    fn operand(&self, env: Env, object: jobject) -> Option<Operand> {
        if object.is_null() {
            return None;
        }
        if env.is_instance(object, self.string.0) {
            return Some(Operand::Text(env.utf16(object, READ_UNITS)));
        }
        let (_, kind, field) = self.boxes.iter().find(|(class, ..)| env.is_instance(object, class.0))?;
        let field = *field;
        Some(Operand::Number(match kind {
            Boxed::Byte => jni!(env, GetByteField, object, field).into(),
            Boxed::Char => jni!(env, GetCharField, object, field).into(),
            Boxed::Short => jni!(env, GetShortField, object, field).into(),
            Boxed::Int => jni!(env, GetIntField, object, field).into(),
            Boxed::Long => jni!(env, GetLongField, object, field),
        }))
    }

    fn collection(&self, env: Env, object: jobject) -> Option<jobject> {
        let size = is_one_of(env, object, &self.collections).then(|| jni!(env, CallIntMethodA, object, self.collection_size, null()))?;
        (!env.clear_exception() && size <= MAX_SIZE).then_some(object)
    }

    fn part_of_map(&self, env: Env, object: jobject, part: jmethodID) -> Option<jobject> {
        let size = is_one_of(env, object, &self.maps).then(|| jni!(env, CallIntMethodA, object, self.map_size, null()))?;
        if env.clear_exception() || size > MAX_SIZE {
            return None;
        }
        env.call_object(object, part)
    }

    fn size(&self, env: Env, object: jobject) -> Option<i32> {
        let method = if is_one_of(env, object, &self.collections) {
            self.collection_size
        } else if is_one_of(env, object, &self.maps) {
            self.map_size
        } else {
            return None;
        };
        let size = jni!(env, CallIntMethodA, object, method, null());
        (!env.clear_exception()).then_some(size)
    }

    /// The distance of `wanted` from the nearest element.
    fn nearest(&self, env: Env, elements: jobject, wanted: jobject) -> Option<f64> {
        let wanted = self.operand(env, wanted)?;
        self.remember(&wanted);
        let array = env.call_object(elements, self.to_array)?;
        let mut best: Option<f64> = None;
        for i in 0..jni!(env, GetArrayLength, array).min(MAX_ELEMENTS) {
            let element = jni!(env, GetObjectArrayElement, array, i);
            if let Some(found) = self.operand(env, element) {
                self.remember(&found);
                self.remember_pair(&wanted, &found);
                let d = between(&wanted, &found, distance::edit);
                best = d.into_iter().chain(best).reduce(f64::min);
            }
            env.drop_local(element);
        }
        best
    }

    fn remember(&self, value: &Operand) {
        match value {
            Operand::Number(n) => self.see(SeenValue::Int(*n)),
            Operand::Text(t) if t.len() <= MAX_UNITS => self.see(SeenValue::Str(String::from_utf16_lossy(t))),
            Operand::Text(_) => {}
        }
    }

    fn remember_pair(&self, a: &Operand, b: &Operand) {
        if let (Operand::Text(a), Operand::Text(b)) = (a, b)
            && !a.is_empty()
            && !b.is_empty()
            && a != b
            && a.len().max(b.len()) <= MAX_UNITS
        {
            self.see(SeenValue::Pair(String::from_utf16_lossy(a), String::from_utf16_lossy(b)));
        }
    }

    fn see(&self, value: SeenValue) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_SEEN && !seen.contains(&value) {
            seen.push(value);
        }
    }

    /// Keeps the smallest distance of the branch.
    fn note(&self, env: Env, branch: u32, distance: f64) {
        let Some(slot) = branch.checked_mul(4).and_then(|s| i32::try_from(s + 3).ok()) else { return };
        let mut known = f64::INFINITY;
        jni!(env, GetDoubleArrayRegion, self.dist.0, slot, 1, &raw mut known);
        if !env.clear_exception() && distance < known {
            jni!(env, SetDoubleArrayRegion, self.dist.0, slot, 1, &raw const distance);
        }
    }
}

fn between(a: &Operand, b: &Operand, by: fn(&[u16], &[u16]) -> u32) -> Option<f64> {
    match (a, b) {
        (Operand::Text(a), Operand::Text(b)) => Some(f64::from(by(a, b))),
        (Operand::Number(a), Operand::Number(b)) => Some((*a as f64 - *b as f64).abs()),
        _ => None,
    }
}

/// Whether its class is exactly one of these: a subclass may have overridden anything.
fn is_one_of(env: Env, object: jobject, classes: &[Global]) -> bool {
    let class = env.class_of(object);
    let found = classes.iter().any(|c| env.same(c.0, class));
    env.drop_local(class);
    found
}
