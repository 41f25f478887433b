//! State of the JDK itself that a test may change and the next must not see: system properties, locale, time zone, standard streams, interruption.

use std::ptr::null;

use jvmti_bindings::sys::jni::{jfieldID, jmethodID, jvalue};

use super::vm::{Env, Global, c_string, jni};

/// Static fields that hold such state, as far as the JDK at hand has them.
const FIELDS: [(&str, &str, &str); 7] = [
    ("java/util/Locale", "defaultLocale", "Ljava/util/Locale;"),
    ("java/util/Locale", "defaultDisplayLocale", "Ljava/util/Locale;"),
    ("java/util/Locale", "defaultFormatLocale", "Ljava/util/Locale;"),
    ("java/util/TimeZone", "defaultTimeZone", "Ljava/util/TimeZone;"),
    ("java/lang/System", "in", "Ljava/io/InputStream;"),
    ("java/lang/System", "out", "Ljava/io/PrintStream;"),
    ("java/lang/System", "err", "Ljava/io/PrintStream;"),
];

/// See the module documentation.
pub struct Platform {
    fields: Vec<(Global, jfieldID, Global)>,
    system: Global,
    get_properties: jmethodID,
    set_properties: jmethodID,
    properties: Global,
    snapshot: Global,
    equals: jmethodID,
    clear: jmethodID,
    put_all: jmethodID,
    thread: Global,
    interrupted: jmethodID,
}

impl Platform {
    pub fn remember(env: Env) -> Result<Platform, String> {
        let system = env.class("java/lang/System")?;
        let class = env.class("java/util/Properties")?;
        let get_properties = env.static_method(system, "getProperties", "()Ljava/util/Properties;")?;
        let properties = env.call_static_object(system, get_properties, &[]).map_err(|_| "this JVM has no system properties")?;
        let clone = env.method(class, "clone", "()Ljava/lang/Object;")?;
        let snapshot = env.call_object(properties, clone).ok_or("system properties cannot be copied")?;
        let thread = env.class("java/lang/Thread")?;
        Ok(Platform {
            fields: FIELDS.iter().filter_map(|f| field(env, *f)).collect(),
            system,
            get_properties,
            set_properties: env.static_method(system, "setProperties", "(Ljava/util/Properties;)V")?,
            properties: env.global(properties),
            snapshot: env.global(snapshot),
            equals: env.method(class, "equals", "(Ljava/lang/Object;)Z")?,
            clear: env.method(class, "clear", "()V")?,
            put_all: env.method(class, "putAll", "(Ljava/util/Map;)V")?,
            thread,
            interrupted: env.static_method(thread, "interrupted", "()Z")?,
        })
    }

    /// Puts everything back, properties only if `properties`, since comparing them all takes longer than most tests; false if it cannot.
    pub fn restore(&self, env: Env, properties: bool) -> bool {
        jni!(env, CallStaticBooleanMethodA, self.thread.0, self.interrupted, null());
        for (class, id, value) in &self.fields {
            let now = jni!(env, GetStaticObjectField, class.0, *id);
            if !env.same(now, value.0) {
                jni!(env, SetStaticObjectField, class.0, *id, value.0);
            }
            env.drop_local(now);
        }
        !properties || self.restore_properties(env)
    }

    fn restore_properties(&self, env: Env) -> bool {
        let Ok(now) = env.call_static_object(self.system, self.get_properties, &[]) else { return false };
        let same = env.same(now, self.properties.0);
        env.drop_local(now);
        if !same {
            jni!(env, CallStaticVoidMethodA, self.system.0, self.set_properties, [jvalue { l: self.properties.0 }].as_ptr());
        }
        if self.unchanged(env) {
            return !env.clear_exception();
        }
        jni!(env, CallVoidMethodA, self.properties.0, self.clear, null());
        jni!(env, CallVoidMethodA, self.properties.0, self.put_all, [jvalue { l: self.snapshot.0 }].as_ptr());
        !env.clear_exception() && self.unchanged(env)
    }

    fn unchanged(&self, env: Env) -> bool {
        let equal = jni!(env, CallBooleanMethodA, self.snapshot.0, self.equals, [jvalue { l: self.properties.0 }].as_ptr());
        !env.clear_exception() && equal != 0
    }
}

fn field(env: Env, (class, name, desc): (&str, &str, &str)) -> Option<(Global, jfieldID, Global)> {
    let class = env.class(class).ok()?;
    let id = jni!(env, GetStaticFieldID, class.0, c_string(name).as_ptr(), c_string(desc).as_ptr());
    if env.clear_exception() || id.is_null() {
        return None;
    }
    let value = jni!(env, GetStaticObjectField, class.0, id);
    Some((class, id, env.global(value)))
}
