//! Run-time classes and their names: looking a class up by name, and naming the class of an object without calling its code.

use std::ptr::null;

use jvmti_bindings::sys::jni::{jclass, jmethodID, jobject, jvalue};
use rustc_hash::FxHashMap;

use super::vm::{Env, Global, jni};

/// Longest class name that is read.
const NAME_CAP: usize = 4096;

/// How many classes are compared before a name is asked for.
const RECENT: usize = 8;

/// A class met at run time.
#[derive(Clone)]
pub struct ClassInfo {
    pub class: Global,
    /// As `Class.getName` gives it.
    pub name: std::rc::Rc<str>,
    /// Its number among all classes met.
    pub number: u32,
}

/// See the module documentation.
pub struct Classes {
    class_class: Global,
    get_name: jmethodID,
    for_name: jmethodID,
    hash_code: jmethodID,
    is_interface: jmethodID,
    loader: Global,
    /// By the hash of the name; loaders may give several classes one name, so a bucket is compared by identity.
    /// (Identity hashes would not do: the worker's options make them all equal.)
    by_hash: FxHashMap<i32, Vec<ClassInfo>>,
    met: u32,
    /// The classes asked for last, newest first: most objects are of one of these, and comparing is cheaper than asking for a name.
    recent: Vec<ClassInfo>,
    by_name: FxHashMap<String, Result<Global, String>>,
}

impl Classes {
    pub fn new(env: Env) -> Result<Classes, String> {
        let class_class = env.class("java/lang/Class")?;
        let loader_class = env.class("java/lang/ClassLoader")?;
        let string = env.class("java/lang/String")?;
        let get_loader = env.static_method(loader_class, "getSystemClassLoader", "()Ljava/lang/ClassLoader;")?;
        let loader = env.call_static_object(loader_class, get_loader, &[]).map_err(|_| "this JVM has no system class loader")?;
        Ok(Classes {
            class_class,
            get_name: env.method(class_class, "getName", "()Ljava/lang/String;")?,
            for_name: env.static_method(class_class, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")?,
            hash_code: env.method(string, "hashCode", "()I")?,
            is_interface: env.method(class_class, "isInterface", "()Z")?,
            loader: env.global(loader),
            by_hash: FxHashMap::default(),
            met: 0,
            recent: Vec::with_capacity(RECENT + 1),
            by_name: FxHashMap::default(),
        })
    }

    /// The loader of the class path.
    pub fn loader(&self) -> Global {
        self.loader
    }

    /// The class of `object`, which is not null.
    pub fn of(&mut self, env: Env, object: jobject) -> ClassInfo {
        let class = env.class_of(object);
        let info = match self.recent.iter().position(|c| env.same(c.class.0, class)) {
            Some(place) => {
                self.recent[..=place].rotate_right(1);
                self.recent[0].clone()
            }
            None => {
                let info = self.info(env, class);
                self.recent.insert(0, info.clone());
                self.recent.truncate(RECENT);
                info
            }
        };
        env.drop_local(class);
        info
    }

    pub fn info(&mut self, env: Env, class: jclass) -> ClassInfo {
        // Both calls give what the class and its name remember.
        let Some(name) = env.call_object(class, self.get_name) else {
            return ClassInfo { class: env.global(class), name: "?".into(), number: self.next_number() };
        };
        let hash = jni!(env, CallIntMethodA, name, self.hash_code, null());
        env.clear_exception();
        if let Some(known) = self.by_hash.get(&hash).and_then(|b| b.iter().find(|c| env.same(c.class.0, class))) {
            env.drop_local(name);
            return known.clone();
        }
        let text = env.text(name, NAME_CAP);
        env.drop_local(name);
        let info = ClassInfo { class: env.global(class), name: text.into(), number: self.next_number() };
        self.by_hash.entry(hash).or_default().push(info.clone());
        info
    }

    fn next_number(&mut self) -> u32 {
        self.met += 1;
        self.met - 1
    }

    /// Whether the class of that name is an interface.
    pub fn is_interface(&mut self, env: Env, name: &str) -> Result<bool, String> {
        let class = self.find(env, name)?;
        let answer = jni!(env, CallBooleanMethodA, class.0, self.is_interface, null()) != 0;
        env.clear_exception();
        Ok(answer)
    }

    /// The class of that name (as `Class.forName` takes it), not initialised. A failure is remembered: it would come again.
    pub fn find(&mut self, env: Env, name: &str) -> Result<Global, String> {
        if let Some(known) = self.by_name.get(name) {
            return known.clone();
        }
        let found = self.load(env, name);
        self.by_name.insert(name.to_owned(), found.clone());
        found
    }

    fn load(&mut self, env: Env, name: &str) -> Result<Global, String> {
        let text = env.new_string(name);
        let args = [jvalue { l: text }, jvalue { z: 0 }, jvalue { l: self.loader.0 }];
        let result = env.call_static_object(self.class_class, self.for_name, &args);
        env.drop_local(text);
        match result {
            Ok(class) => {
                let global = env.global(class);
                env.drop_local(class);
                Ok(global)
            }
            Err(Some(thrown)) => Err(format!("class {name} cannot be loaded: {}", self.of(env, thrown).name)),
            Err(None) => Err(format!("class {name} cannot be loaded")),
        }
    }
}
