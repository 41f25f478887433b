//! The worker's side of the class `rethrow/rt/Probe`: starting a test, reading what the probes noted, putting static fields back.

use jvmti_bindings::sys::jni::{JNI_ABORT, jfieldID, jmethodID, jobject, jvalue};
use rethrow_core::program::Prim;
use rethrow_worker::protocol::{Branch, SeenValue};
use rustc_hash::FxHashMap;

use super::classes::Classes;
use super::descriptor::{self, Kind};
use super::hook;
use super::setup::Setup;
use super::vm::{Env, Global, c_string, jni};
use crate::instrument::runtime;

/// Static fields that can be logged; what a program has beyond makes the worker retire after writing them.
const MAX_STATICS: i32 = 1 << 15;
/// Compared integers reported of one test.
const MAX_SEEN: usize = 64;

/// Pending values of one test.
#[derive(Default)]
pub struct Noted {
    pub hits: Vec<u32>,
    pub branches: Vec<Branch>,
    pub switches: Vec<(u32, i32)>,
    pub seen: Vec<SeenValue>,
}

/// See the module documentation.
pub struct Probes {
    class: Global,
    pub exit: Global,
    exit_code: jfieldID,
    begin: jmethodID,
    fields: Fields,
    arrays: Arrays,
    statics: FxHashMap<i32, Place>,
    /// Memory of an earlier test, used again.
    spare: Noted,
    numbers: Vec<i32>,
}

struct Fields {
    steps: jfieldID,
    n: jfieldID,
    bn: jfieldID,
    vn: jfieldID,
    sn: jfieldID,
    dn: jfieldID,
    lost: jfieldID,
    exits: jfieldID,
}

struct Arrays {
    list: Global,
    blist: Global,
    dist: Global,
    vals: Global,
    sids: Global,
    svals: Global,
    saved_idx: Global,
    saved_j: Global,
    saved_l: Global,
}

#[derive(Clone)]
struct StaticField {
    class: Global,
    id: jfieldID,
    kind: Kind,
    owner: String,
}

/// Where a static field that was written is found.
#[derive(Clone)]
enum Place {
    At(StaticField),
    /// In a class whose initialiser failed: nobody can see it.
    Dead,
    Unknown,
}

/// What the JVM answers who asks for such a class.
const INITIALISER_FAILED: [&str; 2] = ["java.lang.ExceptionInInitializerError", "java.lang.NoClassDefFoundError"];

/// What could not be put back as it was.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Unrestored {
    /// Some field was not logged or could not be found.
    pub lost: bool,
    /// Classes first used in this test whose static fields it wrote: their state before the test is unknown.
    pub fresh: bool,
}

impl Probes {
    /// Defines the classes and sizes the tables.
    pub fn define(env: Env, setup: &Setup) -> Result<Probes, String> {
        for (name, bytes) in runtime::probe_classes() {
            let class = jni!(env, DefineClass, c_string(name).as_ptr(), std::ptr::null_mut(), bytes.as_ptr().cast(), bytes.len() as i32);
            if env.clear_exception() || class.is_null() {
                return Err(format!("this JVM refuses {name}"));
            }
        }
        let class = env.class(runtime::PROBE)?;
        let init = env.static_method(class, "init", "(III)V")?;
        let sizes = [setup.probes as i32, setup.branches as i32, MAX_STATICS].map(|i| jvalue { i });
        jni!(env, CallStaticVoidMethodA, class.0, init, sizes.as_ptr());
        if env.clear_exception() {
            return Err("no memory for the probe tables".to_owned());
        }
        let exit = env.class(runtime::EXIT)?;
        let int = |name| env.static_field(class, name, "I");
        let fields = Fields {
            steps: int("steps")?,
            n: int("n")?,
            bn: int("bn")?,
            vn: int("vn")?,
            sn: int("sn")?,
            dn: int("dn")?,
            lost: int("lost")?,
            exits: int("exits")?,
        };
        let array = |name, desc| env.static_field(class, name, desc).map(|f| env.global(jni!(env, GetStaticObjectField, class.0, f)));
        let arrays = Arrays {
            list: array("list", "[I")?,
            blist: array("blist", "[I")?,
            dist: array("dist", "[D")?,
            vals: array("vals", "[J")?,
            sids: array("sids", "[I")?,
            svals: array("svals", "[I")?,
            saved_idx: array("savedIdx", "[I")?,
            saved_j: array("savedJ", "[J")?,
            saved_l: array("savedL", "[Ljava/lang/Object;")?,
        };
        Ok(Probes {
            class,
            exit,
            exit_code: env.field(exit, "code", "I")?,
            begin: env.static_method(class, "begin", "(I)V")?,
            fields,
            arrays,
            statics: FxHashMap::default(),
            spare: Noted::default(),
            numbers: Vec::new(),
        })
    }

    /// The class with the native method, and the array it writes to.
    pub fn hint_target(&self) -> (Global, Global) {
        (self.class, self.arrays.dist)
    }

    pub fn begin(&self, env: Env, steps: u32) {
        let steps = i32::try_from(steps).unwrap_or(i32::MAX);
        jni!(env, CallStaticVoidMethodA, self.class.0, self.begin, [jvalue { i: steps }].as_ptr());
        env.clear_exception();
    }

    pub fn allow_steps(&self, env: Env, steps: i32) {
        jni!(env, SetStaticIntField, self.class.0, self.fields.steps, steps);
    }

    /// Steps since `begin(limit)`.
    pub fn steps_used(&self, env: Env, limit: u32) -> u32 {
        let left = self.int(env, self.fields.steps).max(0);
        limit.saturating_sub(left.cast_unsigned())
    }

    pub fn steps_spent(&self, env: Env) -> bool {
        self.int(env, self.fields.steps) < 0
    }

    pub fn exits(&self, env: Env) -> bool {
        self.int(env, self.fields.exits) > 0
    }

    pub fn exit_code(&self, env: Env, exit: jobject) -> i32 {
        jni!(env, GetIntField, exit, self.exit_code)
    }

    fn int(&self, env: Env, field: jfieldID) -> i32 {
        jni!(env, GetStaticIntField, self.class.0, field)
    }

    fn ints(&self, env: Env, array: Global, len: i32) -> Vec<i32> {
        let mut out = Vec::new();
        self.fill(env, array, len, &mut out);
        out
    }

    /// The first `len` elements in place of what `out` held.
    fn fill(&self, env: Env, array: Global, len: i32, out: &mut Vec<i32>) {
        out.clear();
        if len <= 0 {
            return;
        }
        let len = len.min(jni!(env, GetArrayLength, array.0));
        out.resize(len as usize, 0);
        jni!(env, GetIntArrayRegion, array.0, 0, len, out.as_mut_ptr());
    }

    fn longs(&self, env: Env, array: Global, len: i32) -> Vec<i64> {
        let len = len.clamp(0, jni!(env, GetArrayLength, array.0));
        let mut out = vec![0; len as usize];
        jni!(env, GetLongArrayRegion, array.0, 0, len, out.as_mut_ptr());
        out
    }

    /// What the probes noted since `begin`.
    pub fn read(&mut self, env: Env) -> Noted {
        let mut noted = std::mem::take(&mut self.spare);
        let mut numbers = std::mem::take(&mut self.numbers);
        self.fill(env, self.arrays.list, self.int(env, self.fields.n), &mut numbers);
        noted.hits.extend(numbers.iter().map(|n| n.cast_unsigned()));
        noted.hits.sort_unstable();
        self.fill(env, self.arrays.blist, self.int(env, self.fields.bn), &mut numbers);
        numbers.sort_unstable();
        self.branches(env, &numbers, &mut noted.branches);
        let sn = self.int(env, self.fields.sn);
        if sn > 0 {
            self.fill(env, self.arrays.sids, sn, &mut numbers);
            let values = self.ints(env, self.arrays.svals, sn);
            noted.switches.extend(numbers.iter().map(|id| id.cast_unsigned()).zip(values));
            noted.switches.sort_unstable();
            noted.switches.dedup();
        }
        self.numbers = numbers;
        let vn = self.int(env, self.fields.vn);
        if vn > 0 {
            let mut values = self.longs(env, self.arrays.vals, vn);
            values.truncate(MAX_SEEN);
            values.sort_unstable();
            values.dedup();
            noted.seen.extend(values.into_iter().map(SeenValue::Int));
        }
        noted
    }

    /// Takes memory back that [`Self::read`] gave.
    pub fn recycle(&mut self, mut noted: Noted) {
        noted.hits.clear();
        noted.branches.clear();
        noted.switches.clear();
        noted.seen.clear();
        self.spare = noted;
    }

    /// Appends what was noted of these branches.
    fn branches(&self, env: Env, numbers: &[i32], out: &mut Vec<Branch>) {
        if numbers.is_empty() {
            return;
        }
        let table = self.arrays.dist.0;
        let len = jni!(env, GetArrayLength, table).max(0) as usize;
        let start: *const f64 = jni!(env, GetPrimitiveArrayCritical, table, std::ptr::null_mut()).cast();
        if start.is_null() {
            env.clear_exception();
            return;
        }
        // SAFETY: the JVM keeps the array of `len` doubles in place until it is released below; threads that the test left behind may still write.
        let slot = |at: usize| unsafe { start.add(at).read_volatile() };
        let known = numbers.iter().filter(|number| usize::try_from(**number).is_ok_and(|n| n * 4 + 4 <= len));
        out.extend(known.map(|number| branch(*number, slot)));
        jni!(env, ReleasePrimitiveArrayCritical, table, start.cast_mut().cast(), JNI_ABORT);
    }

    /// Puts the static fields back that the test wrote, last write first. `fresh` names the classes first used in this test: what was in their
    /// fields before is not a state to go back to.
    pub fn restore(&mut self, env: Env, classes: &mut Classes, fresh: &[String]) -> Unrestored {
        let mut result = Unrestored { lost: self.int(env, self.fields.lost) != 0, fresh: false };
        let dn = self.int(env, self.fields.dn);
        if dn == 0 {
            return result;
        }
        let numbers = self.ints(env, self.arrays.saved_idx, dn);
        let bits = self.longs(env, self.arrays.saved_j, dn);
        for (place, number) in numbers.iter().enumerate().rev() {
            match self.static_field(env, classes, *number) {
                Place::At(field) if fresh.contains(&field.owner) => result.fresh = true,
                Place::At(field) => self.put_back(env, &field, place as i32, bits[place]),
                Place::Dead => {}
                Place::Unknown => result.lost = true,
            }
        }
        result
    }

    fn static_field(&mut self, env: Env, classes: &mut Classes, number: i32) -> Place {
        if let Some(known) = self.statics.get(&number) {
            return known.clone();
        }
        let found = find_static(env, classes, number);
        self.statics.insert(number, found.clone());
        found
    }

    fn put_back(&self, env: Env, field: &StaticField, place: i32, bits: i64) {
        let (class, id) = (field.class.0, field.id);
        match &field.kind {
            Kind::Ref(_) => {
                let value = jni!(env, GetObjectArrayElement, self.arrays.saved_l.0, place);
                jni!(env, SetStaticObjectField, class, id, value);
                env.drop_local(value);
            }
            Kind::Prim(Prim::Bool) => jni!(env, SetStaticBooleanField, class, id, u8::from(bits & 1 != 0)),
            Kind::Prim(Prim::Byte) => jni!(env, SetStaticByteField, class, id, bits as i8),
            Kind::Prim(Prim::Char) => jni!(env, SetStaticCharField, class, id, bits as u16),
            Kind::Prim(Prim::Short) => jni!(env, SetStaticShortField, class, id, bits as i16),
            Kind::Prim(Prim::Int) => jni!(env, SetStaticIntField, class, id, bits as i32),
            Kind::Prim(Prim::Long) => jni!(env, SetStaticLongField, class, id, bits),
            Kind::Prim(Prim::Float) => jni!(env, SetStaticFloatField, class, id, f32::from_bits(bits as u32)),
            Kind::Prim(Prim::Double) => jni!(env, SetStaticDoubleField, class, id, f64::from_bits(bits as u64)),
            Kind::Void => {}
        }
    }
}

/// The four slots of a branch; see `instrument::runtime`.
fn branch(number: i32, slot: impl Fn(usize) -> f64) -> Branch {
    let [above, below, equal, hint] = [0, 1, 2, 3].map(|i| slot(number as usize * 4 + i));
    Branch { branch: number as u32, above: above.into(), below: below.into(), equal: equal != 0.0, hint: hint.into() }
}

/// The class is loaded, since its field was written. A field named through a subclass is found through it as well.
fn find_static(env: Env, classes: &mut Classes, number: i32) -> Place {
    let Some(field) = usize::try_from(number).ok().and_then(hook::static_field) else { return Place::Unknown };
    let owner = field.owner.replace('/', ".");
    let (Ok(class), Some(kind)) = (classes.find(env, &owner), descriptor::field(&field.descriptor)) else { return Place::Unknown };
    let id = jni!(env, GetStaticFieldID, class.0, c_string(&field.name).as_ptr(), c_string(&field.descriptor).as_ptr());
    if let Some(thrown) = env.take_exception() {
        // asking for a field asks for its class to be initialised
        let why = classes.of(env, thrown);
        return if INITIALISER_FAILED.contains(&&*why.name) { Place::Dead } else { Place::Unknown };
    }
    if id.is_null() { Place::Unknown } else { Place::At(StaticField { class, id, kind, owner }) }
}
