//! A JVM inside this process: loading `libjvm`, creating the machine, and thin access to JNI and JVMTI.
//!
//! Everything here that takes a reference relies on its being live and on `Env` belonging to the calling thread; JNI itself checks neither.

use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{null, null_mut};

use jvmti_bindings::sys::jni::{
    JNI_CreateJavaVM, JNI_OK, JNI_VERSION_1_8, JNIEnv, JavaVM, JavaVMInitArgs, JavaVMOption, describe_result, jclass, jfieldID, jmethodID, jobject, jthrowable,
    jvalue,
};
use jvmti_bindings::sys::jvmti::{JVMTI_VERSION_1_2, jvmtiEnv};

/// Calls a function of the JNI table.
macro_rules! jni {
    ($env:expr, $function:ident $(, $arg:expr)* $(,)?) => {{
        let env = $env.0;
        // SAFETY: the environment is this thread's, and the references given are live.
        #[allow(clippy::macro_metavars_in_unsafe)]
        unsafe { ((**env).$function)(env $(, $arg)*) }
    }};
}

/// Calls a function of the JVMTI table.
macro_rules! jvmti {
    ($ti:expr, $function:ident $(, $arg:expr)* $(,)?) => {{
        let ti = $ti.0;
        // SAFETY: the environment lives as long as the machine, and the pointers given are valid for the call.
        #[allow(clippy::macro_metavars_in_unsafe)]
        unsafe { ((*(*ti).functions).$function.expect("every JVMTI 1.2 has it"))(ti $(, $arg)*) }
    }};
}
pub(super) use {jni, jvmti};

/// The JNI environment of the current thread.
#[derive(Clone, Copy)]
pub struct Env(pub *mut JNIEnv);

/// The tool interface; any thread may use it.
#[derive(Clone, Copy)]
pub struct Tools(pub *mut jvmtiEnv);

/// The machine; any thread may attach to it.
#[derive(Clone, Copy)]
pub struct Machine(*mut JavaVM);

// SAFETY: JVMTI environments and the machine itself may be used from any thread; only `Env` is bound to one.
unsafe impl Send for Tools {}
unsafe impl Sync for Tools {}
unsafe impl Send for Machine {}
unsafe impl Sync for Machine {}

/// A global reference that may be handed to other threads. Never deleted: all live as long as the process.
#[derive(Clone, Copy)]
pub struct Global(pub jobject);
// SAFETY: global references are valid in every attached thread.
unsafe impl Send for Global {}
unsafe impl Sync for Global {}

/// Creates the machine; the calling thread becomes its main thread.
pub fn create(libjvm: &[u8], options: &[Vec<u8>]) -> Result<(Machine, Env), String> {
    let path = OsStr::from_bytes(libjvm);
    // SAFETY: loading runs the initialisers of a library that the user chose as his JVM.
    let library = unsafe { libloading::Library::new(path) }.map_err(|e| format!("cannot load {}: {e}", path.display()))?;
    // SAFETY: the symbol has this type in every JDK.
    let create = unsafe { library.get::<JNI_CreateJavaVM>(b"JNI_CreateJavaVM\0") }.map_err(|e| e.to_string())?;
    let texts: Vec<CString> = options.iter().map(|o| CString::new(o.clone())).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let option = |text: &CString| JavaVMOption { optionString: text.as_ptr().cast_mut(), extraInfo: null_mut() };
    let mut list: Vec<JavaVMOption> = texts.iter().map(option).collect();
    let mut args = JavaVMInitArgs { version: JNI_VERSION_1_8, nOptions: list.len() as i32, options: list.as_mut_ptr(), ignoreUnrecognized: 1 };
    let (mut vm, mut env) = (null_mut(), null_mut());
    // SAFETY: the argument block is complete and outlives the call.
    let code = unsafe { create(&raw mut vm, &raw mut env, &raw mut args) };
    // The machine cannot be unloaded, and neither may its code be.
    std::mem::forget(library);
    if code != JNI_OK {
        return Err(format!("the JVM of {} does not start: {}", path.display(), describe_result(code)));
    }
    Ok((Machine(vm), Env(env)))
}

/// Texts up to this length are read without memory of their own.
const SHORT: usize = 128;

impl Machine {
    pub fn tools(self) -> Result<Tools, String> {
        let mut ti: *mut c_void = null_mut();
        // SAFETY: `ti` receives the environment.
        let code = unsafe { ((**self.0).GetEnv)(self.0, &raw mut ti, JVMTI_VERSION_1_2) };
        if code == JNI_OK { Ok(Tools(ti.cast())) } else { Err(format!("no JVMTI: {}", describe_result(code))) }
    }
    /// Makes the calling thread known to the machine, without keeping it alive.
    pub fn attach(self) -> Result<Env, String> {
        let mut env: *mut c_void = null_mut();
        // SAFETY: `env` receives the environment.
        let code = unsafe { ((**self.0).AttachCurrentThreadAsDaemon)(self.0, &raw mut env, null_mut()) };
        if code == JNI_OK { Ok(Env(env.cast())) } else { Err(format!("cannot attach a thread: {}", describe_result(code))) }
    }
}

impl Env {
    /// A class of the JDK or of ours that must exist, as a global reference. Initialises it.
    pub fn class(self, name: &str) -> Result<Global, String> {
        let class = jni!(self, FindClass, c_string(name).as_ptr());
        self.no_exception(name)?;
        Ok(self.global(class))
    }
    pub fn global(self, object: jobject) -> Global {
        Global(jni!(self, NewGlobalRef, object))
    }
    pub fn method(self, class: Global, name: &str, desc: &str) -> Result<jmethodID, String> {
        let id = jni!(self, GetMethodID, class.0, c_string(name).as_ptr(), c_string(desc).as_ptr());
        self.no_exception(name)?;
        Ok(id)
    }
    pub fn static_method(self, class: Global, name: &str, desc: &str) -> Result<jmethodID, String> {
        let id = jni!(self, GetStaticMethodID, class.0, c_string(name).as_ptr(), c_string(desc).as_ptr());
        self.no_exception(name)?;
        Ok(id)
    }
    pub fn field(self, class: Global, name: &str, desc: &str) -> Result<jfieldID, String> {
        let id = jni!(self, GetFieldID, class.0, c_string(name).as_ptr(), c_string(desc).as_ptr());
        self.no_exception(name)?;
        Ok(id)
    }
    pub fn static_field(self, class: Global, name: &str, desc: &str) -> Result<jfieldID, String> {
        let id = jni!(self, GetStaticFieldID, class.0, c_string(name).as_ptr(), c_string(desc).as_ptr());
        self.no_exception(name)?;
        Ok(id)
    }
    fn no_exception(self, what: &str) -> Result<(), String> {
        match self.take_exception() {
            None => Ok(()),
            Some(_) => Err(format!("this JVM has no {what}")),
        }
    }
    /// The pending exception, which is then no longer pending.
    pub fn take_exception(self) -> Option<jthrowable> {
        if jni!(self, ExceptionCheck) == 0 {
            return None;
        }
        let thrown = jni!(self, ExceptionOccurred);
        jni!(self, ExceptionClear);
        (!thrown.is_null()).then_some(thrown)
    }
    /// Forgets a pending exception; true if there was one.
    pub fn clear_exception(self) -> bool {
        let pending = jni!(self, ExceptionCheck) != 0;
        if pending {
            jni!(self, ExceptionClear);
        }
        pending
    }
    pub fn same(self, a: jobject, b: jobject) -> bool {
        jni!(self, IsSameObject, a, b) != 0
    }
    pub fn is_instance(self, object: jobject, class: jclass) -> bool {
        jni!(self, IsInstanceOf, object, class) != 0
    }
    pub fn class_of(self, object: jobject) -> jclass {
        jni!(self, GetObjectClass, object)
    }
    pub fn drop_local(self, object: jobject) {
        jni!(self, DeleteLocalRef, object);
    }
    /// A Java string; `null` with a pending exception if memory is short.
    pub fn new_string(self, text: &str) -> jobject {
        let units: Vec<u16> = text.encode_utf16().collect();
        jni!(self, NewString, units.as_ptr(), units.len() as i32)
    }
    /// The first `cap` units of a Java string.
    pub fn utf16(self, string: jobject, cap: usize) -> Vec<u16> {
        let len = (jni!(self, GetStringLength, string).max(0) as usize).min(cap);
        let mut units = vec![0u16; len];
        jni!(self, GetStringRegion, string, 0, len as i32, units.as_mut_ptr());
        units
    }
    pub fn string_len(self, string: jobject) -> usize {
        jni!(self, GetStringLength, string).max(0) as usize
    }
    pub fn text(self, string: jobject, cap: usize) -> String {
        let len = self.string_len(string).min(cap);
        if len > SHORT {
            return String::from_utf16_lossy(&self.utf16(string, cap));
        }
        let mut units = [0u16; SHORT];
        jni!(self, GetStringRegion, string, 0, len as i32, units.as_mut_ptr());
        let units = &units[..len];
        // nearly all texts are ASCII, whose units are bytes
        if units.iter().all(|u| *u < 0x80) { units.iter().map(|u| char::from(*u as u8)).collect() } else { String::from_utf16_lossy(units) }
    }
    /// Calls a method without arguments that gives an object; `None` if it throws or gives null.
    pub fn call_object(self, object: jobject, method: jmethodID) -> Option<jobject> {
        let value = jni!(self, CallObjectMethodA, object, method, null());
        if self.clear_exception() {
            return None;
        }
        (!value.is_null()).then_some(value)
    }
    pub fn call_static_object(self, class: Global, method: jmethodID, args: &[jvalue]) -> Result<jobject, Option<jthrowable>> {
        let value = jni!(self, CallStaticObjectMethodA, class.0, method, args.as_ptr());
        match self.take_exception() {
            Some(thrown) => Err(Some(thrown)),
            None if value.is_null() => Err(None),
            None => Ok(value),
        }
    }
}

/// For JNI's names; an inner NUL, which no name has, ends it.
pub fn c_string(text: &str) -> CString {
    let clean = text.split('\0').next().unwrap_or_default();
    CString::new(clean).expect("has no NUL")
}

/// The bytes of a C string given by the JVM.
///
/// # Safety
/// `text` is null or points to a NUL-terminated string that outlives `'a`.
pub unsafe fn c_bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: as promised by the caller.
    (!text.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes())
}
