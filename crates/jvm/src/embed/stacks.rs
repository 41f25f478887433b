//! Reads exceptions: class, message, frames and causes, each distinct stack and chain once.
//!
//! Frames come from `Throwable.getStackTrace` itself, never from an override; a stack that was seen before is recognised by `backtrace`. `getMessage` and `getCause` may be the program's code, so what they
//! throw is swallowed and the caller has made sure that they cannot run for ever.

use std::hash::{Hash, Hasher};
use std::ptr::null;
use std::rc::Rc;

use jvmti_bindings::sys::jni::{jfieldID, jmethodID, jobject, jthrowable, jvalue};
use rethrow_worker::protocol::{Known, StackFrame, Thrown};
use rustc_hash::{FxHashMap, FxHasher};

use super::backtrace::{Backtraces, Met};
use super::classes::{ClassInfo, Classes};
use super::vm::{Env, Global, jni};

const MESSAGE_CAP: usize = 2048;
const NAME_CAP: usize = 4096;
const MAX_CAUSES: usize = 20;
/// Beyond this, both sides forget what is interned, so that messages with ever new numbers do not fill memory.
const MAX_INTERNED: usize = 4096;
/// Lines at both ends of a stack that are part of its key, beside the hash of all its frames.
const KEYED_LINES: i32 = 6;
/// The exception whose message the JVM makes when it is asked for.
const NULL_REFERENCE: &str = "java.lang.NullPointerException";
/// Frames of ours, which the program's author would not see.
const OWN_PREFIX: &str = "rethrow.rt.";
/// The same prefixes mark frames of a printed trace as the platform's.
const PLATFORM: [&str; 5] = ["java.", "javax.", "sun.", "jdk.", "com.sun."];

/// See the module documentation.
pub struct Stacks {
    throwable: Global,
    get_stack: jmethodID,
    get_message: jmethodID,
    get_cause: jmethodID,
    /// The fields behind the two methods, for classes that do not override them; absent if this JDK has no such fields.
    message: Option<jfieldID>,
    cause: Option<jfieldID>,
    /// By the number of the class: whether it has its own `getMessage` and `getCause`.
    overrides: FxHashMap<u32, [bool; 2]>,
    backtraces: Backtraces,
    /// What the JVM itself says of a null reference, by the place in the code where it was met.
    null_messages: FxHashMap<u32, Option<String>>,
    arrays: Global,
    array_hash: jmethodID,
    element: ElementIds,
    stacks: FxHashMap<(i32, i32, u64), u32>,
    chains: FxHashMap<Rc<[Thrown]>, u32>,
    /// By the number of a stack.
    initialisers: FxHashMap<u32, Vec<String>>,
    known: Known,
}

/// Accessors of `StackTraceElement`.
struct ElementIds {
    class: jmethodID,
    method: jmethodID,
    file: jmethodID,
    line: jmethodID,
    /// Read directly: it is asked for far more often than the rest.
    line_field: jfieldID,
}

impl Stacks {
    pub fn new(env: Env) -> Result<Stacks, String> {
        let throwable = env.class("java/lang/Throwable")?;
        let arrays = env.class("java/util/Arrays")?;
        let element = env.class("java/lang/StackTraceElement")?;
        let text = "()Ljava/lang/String;";
        Ok(Stacks {
            throwable,
            get_stack: env.method(throwable, "getStackTrace", "()[Ljava/lang/StackTraceElement;")?,
            get_message: env.method(throwable, "getMessage", text)?,
            get_cause: env.method(throwable, "getCause", "()Ljava/lang/Throwable;")?,
            message: env.field(throwable, "detailMessage", "Ljava/lang/String;").ok(),
            cause: env.field(throwable, "cause", "Ljava/lang/Throwable;").ok(),
            overrides: FxHashMap::default(),
            backtraces: Backtraces::new(env, throwable),
            null_messages: FxHashMap::default(),
            arrays,
            array_hash: env.static_method(arrays, "hashCode", "([Ljava/lang/Object;)I")?,
            element: ElementIds {
                class: env.method(element, "getClassName", text)?,
                method: env.method(element, "getMethodName", text)?,
                file: env.method(element, "getFileName", text)?,
                line: env.method(element, "getLineNumber", "()I")?,
                line_field: env.field(element, "lineNumber", "I")?,
            },
            stacks: FxHashMap::default(),
            chains: FxHashMap::default(),
            initialisers: FxHashMap::default(),
            known: Known::default(),
        })
    }

    /// What was interned since the last call; the parent must get it before any result that uses it.
    pub fn take_known(&mut self) -> Known {
        std::mem::take(&mut self.known)
    }

    /// The number of the chain of `thrown` and its causes, and the chain itself.
    pub fn chain(&mut self, env: Env, classes: &mut Classes, thrown: jthrowable) -> (u32, Rc<[Thrown]>) {
        if self.chains.len() >= MAX_INTERNED || self.stacks.len() >= MAX_INTERNED {
            self.forget(env);
        }
        let mut links = Vec::new();
        let mut objects: Vec<jobject> = Vec::new();
        let mut next = Some(thrown);
        while let Some(link) = next {
            if links.len() >= MAX_CAUSES || objects.iter().any(|o| env.same(*o, link)) {
                break;
            }
            objects.push(link);
            let class = classes.of(env, link);
            let [own_message, own_cause] = self.overrides(env, &class);
            let (stack, met) = self.stack(env, link);
            let message = self.message_of(env, &class, own_message, link, met);
            links.push(Thrown { exception: class.name.to_string(), message, stack });
            let cause = self.read(env, link, self.cause.filter(|_| !own_cause), self.get_cause);
            // An exception that is its own cause has none yet.
            next = cause.filter(|cause| !env.same(*cause, link));
        }
        self.intern_chain(links)
    }

    /// Whether a class has its own `getMessage` and `getCause`: looking them up gives the methods of `Throwable` if not.
    fn overrides(&mut self, env: Env, class: &ClassInfo) -> [bool; 2] {
        if let Some(known) = self.overrides.get(&class.number) {
            return *known;
        }
        let message = env.method(class.class, "getMessage", "()Ljava/lang/String;");
        let cause = env.method(class.class, "getCause", "()Ljava/lang/Throwable;");
        let found = [message != Ok(self.get_message), cause != Ok(self.get_cause)];
        self.overrides.insert(class.number, found);
        found
    }

    /// The field if one is given, else what the method gives.
    fn read(&self, env: Env, thrown: jthrowable, field: Option<jfieldID>, method: jmethodID) -> Option<jobject> {
        match field {
            Some(field) => Some(jni!(env, GetObjectField, thrown, field)).filter(|value| !value.is_null()),
            None => env.call_object(thrown, method),
        }
    }

    fn forget(&mut self, env: Env) {
        self.backtraces.forget(env);
        self.null_messages.clear();
        self.chains.clear();
        self.stacks.clear();
        self.initialisers.clear();
        // Types keep their numbers: the executor remembers which it told.
        self.known.forget = true;
        self.known.stacks.clear();
        self.known.chains.clear();
    }

    fn intern_chain(&mut self, links: Vec<Thrown>) -> (u32, Rc<[Thrown]>) {
        if let Some((known, number)) = self.chains.get_key_value(&links[..]) {
            return (*number, known.clone());
        }
        let number = self.chains.len() as u32;
        let shared: Rc<[Thrown]> = links.clone().into();
        self.known.chains.push(links);
        self.chains.insert(shared.clone(), number);
        (number, shared)
    }

    /// The message; that of a null reference which the JVM met is told by the place in the code alone, and making it takes longer than most tests.
    fn message_of(&mut self, env: Env, class: &ClassInfo, own: bool, thrown: jthrowable, met: Option<Met>) -> Option<String> {
        let Some(met) = met.filter(|_| own && &*class.name == NULL_REFERENCE && self.told_message(env, thrown).is_none()) else {
            return self.read_text(env, thrown, self.message.filter(|_| !own), self.get_message);
        };
        if let Some(known) = self.null_messages.get(&met.place) {
            return known.clone();
        }
        let message = self.read_text(env, thrown, None, self.get_message);
        self.null_messages.insert(met.place, message.clone());
        message
    }

    /// What the exception was made with.
    fn told_message(&self, env: Env, thrown: jthrowable) -> Option<jobject> {
        self.message.and_then(|field| self.read(env, thrown, Some(field), self.get_message))
    }

    fn read_text(&self, env: Env, thrown: jthrowable, field: Option<jfieldID>, method: jmethodID) -> Option<String> {
        let message = self.read(env, thrown, field, method)?;
        let text = env.text(message, MESSAGE_CAP);
        env.drop_local(message);
        Some(text)
    }

    /// The number of its stack, and the stack itself if it can be recognised.
    fn stack(&mut self, env: Env, thrown: jthrowable) -> (u32, Option<Met>) {
        if let Some(met) = self.backtraces.recognise(env, thrown) {
            return (met.stack, Some(met));
        }
        let elements = jni!(env, CallNonvirtualObjectMethodA, thrown, self.throwable.0, self.get_stack, null());
        let failed = env.clear_exception() || elements.is_null();
        let number = self.number_of(env, elements, failed);
        let met = if failed { None } else { self.backtraces.remember(env, number) };
        (number, met)
    }

    fn number_of(&mut self, env: Env, elements: jobject, failed: bool) -> u32 {
        let key = if failed { (0, 0, 0) } else { self.key(env, elements) };
        if let Some(number) = self.stacks.get(&key) {
            env.drop_local(elements);
            return *number;
        }
        let frames = if failed { Vec::new() } else { self.frames(env, elements) };
        env.drop_local(elements);
        let number = self.stacks.len() as u32;
        let initialisers: Vec<String> = frames.iter().filter(|f| f.method == "<clinit>").map(|f| f.class.clone()).collect();
        if !initialisers.is_empty() {
            self.initialisers.insert(number, initialisers);
        }
        self.known.stacks.push(frames);
        self.stacks.insert(key, number);
        number
    }

    /// The classes whose initialisers are on an interned stack.
    pub fn initialisers(&self, stack: u32) -> &[String] {
        self.initialisers.get(&stack).map_or(&[], Vec::as_slice)
    }

    /// Tells stacks apart without reading their names: length, the hash of all frames, and some lines against chance.
    fn key(&self, env: Env, elements: jobject) -> (i32, i32, u64) {
        let len = jni!(env, GetArrayLength, elements);
        let hash = jni!(env, CallStaticIntMethodA, self.arrays.0, self.array_hash, [jvalue { l: elements }].as_ptr());
        env.clear_exception();
        let mut lines = FxHasher::default();
        for i in (0..len.min(KEYED_LINES)).chain((len - KEYED_LINES).max(KEYED_LINES)..len) {
            let element = jni!(env, GetObjectArrayElement, elements, i);
            if !element.is_null() {
                jni!(env, GetIntField, element, self.element.line_field).hash(&mut lines);
                env.drop_local(element);
            }
        }
        (len, hash, lines.finish())
    }

    fn frames(&mut self, env: Env, elements: jobject) -> Vec<StackFrame> {
        let len = jni!(env, GetArrayLength, elements);
        let mut frames = Vec::with_capacity(len as usize);
        for i in 0..len {
            let element = jni!(env, GetObjectArrayElement, elements, i);
            if element.is_null() {
                continue;
            }
            let frame = self.frame(env, element);
            env.drop_local(element);
            if !frame.class.starts_with(OWN_PREFIX) {
                frames.push(frame);
            }
        }
        frames
    }

    fn frame(&mut self, env: Env, element: jobject) -> StackFrame {
        let read = |method| {
            env.call_object(element, method).map(|s| {
                let text = env.text(s, NAME_CAP);
                env.drop_local(s);
                text
            })
        };
        let class = read(self.element.class).unwrap_or_default();
        let line = jni!(env, CallIntMethodA, element, self.element.line, null());
        env.clear_exception();
        StackFrame {
            platform: PLATFORM.iter().any(|p| class.starts_with(p)),
            class,
            method: read(self.element.method).unwrap_or_default(),
            file: read(self.element.file),
            line: u32::try_from(line).ok(),
            native: line == -2,
        }
    }
}
