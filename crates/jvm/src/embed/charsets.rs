//! Names of character sets that nobody knows, which invented arguments mostly are.
//!
//! For each of them the JDK asks all providers, and makes these anew each time: some 100 µs, as long as several tests. The providers of the
//! JDK itself were asked before that, so where the class path brings none the answer is always no. The JDK skips that search in a thread that is in
//! the middle of one; the thread that runs the tests is told to be. On a JDK that keeps this in yet another way nothing changes.

use jvmti_bindings::sys::jni::jvalue;

use super::vm::{Env, c_string, jni};

const CHARSET: &str = "java/nio/charset/Charset";
const SERVICE: &str = "META-INF/services/java.nio.charset.spi.CharsetProvider";

/// From here on this thread finds the JDK's own character sets only, if there are no others.
pub fn settle(env: Env) {
    if !others_may_be(env) {
        let _ = begin_lookup(env).or_else(|_| shut_gate(env));
    }
}

/// Whether a class path entry names a provider; unknown counts as yes.
fn others_may_be(env: Env) -> bool {
    let found = || {
        let loader = env.class("java/lang/ClassLoader")?;
        let find = env.static_method(loader, "getSystemResource", "(Ljava/lang/String;)Ljava/net/URL;")?;
        Ok::<_, String>(env.call_static_object(loader, find, &[jvalue { l: env.new_string(SERVICE) }]))
    };
    !matches!(found(), Ok(Err(None)))
}

/// JDK 21 and later: the thread is in a set of threads that are looking.
fn begin_lookup(env: Env) -> Result<(), String> {
    let charset = env.class(CHARSET)?;
    let begin = env.static_method(charset, "tryBeginLookup", "()Ljava/lang/Object;")?;
    env.call_static_object(charset, begin, &[]).map(drop).map_err(|_| "the lookup has begun already".to_owned())
}

/// Before: a value of the thread's own says that it is looking.
fn shut_gate(env: Env) -> Result<(), String> {
    let charset = env.class(CHARSET)?;
    let field = env.static_field(charset, "gate", "Ljava/lang/ThreadLocal;")?;
    let gate = jni!(env, GetStaticObjectField, charset.0, field);
    let set = jni!(env, GetMethodID, env.class_of(gate), c_string("set").as_ptr(), c_string("(Ljava/lang/Object;)V").as_ptr());
    jni!(env, CallVoidMethodA, gate, set, [jvalue { l: gate }].as_ptr());
    if env.clear_exception() { Err("the gate does not shut".to_owned()) } else { Ok(()) }
}
