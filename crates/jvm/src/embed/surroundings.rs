//! Sets up what surrounds a test: files below the worker's own folder, system properties, default locale and time zone, standard input.
//!
//! Files go when the test is over; the rest is put back by `platform`.

use std::path::PathBuf;

use jvmti_bindings::sys::jni::{jobject, jvalue};
use rethrow_core::testcase::Env as Surroundings;

use super::call::Slot;
use super::statement::{Done, Statements, Stop};
use super::vm::{Env, jni};

/// Files of the test that is running.
#[derive(Default)]
pub struct Files {
    made: u32,
    /// System properties were set.
    pub settings: bool,
}

impl Files {
    /// Always the same paths: a test must not see how many came before it.
    fn folder() -> PathBuf {
        std::env::temp_dir().join("surroundings")
    }

    fn next(&mut self, name: &str) -> Result<PathBuf, String> {
        self.made += 1;
        let folder = Self::folder().join(self.made.to_string());
        std::fs::create_dir_all(&folder).map_err(|e| format!("no folder for a file: {e}"))?;
        Ok(folder.join(name))
    }

    /// Removes the files; true if system properties were set.
    pub fn clear(&mut self) -> bool {
        if self.made > 0 {
            // what cannot be removed is overwritten by the next test that needs it
            let _ = std::fs::remove_dir_all(Self::folder());
        }
        self.made = 0;
        std::mem::take(&mut self.settings)
    }
}

impl Statements {
    pub(super) fn surround(&mut self, what: &Surroundings) -> Done<Slot> {
        if !what.is_sound() {
            return Err(Stop::Invalid("surroundings that cannot be set up".to_owned()));
        }
        match what {
            Surroundings::File { name, content } => {
                let path = self.files.next(name)?;
                std::fs::write(&path, content).map_err(|e| Stop::Invalid(format!("no file: {e}")))?;
                self.path(&path)
            }
            Surroundings::Folder { name } => {
                let path = self.files.next(name)?;
                std::fs::create_dir_all(&path).map_err(|e| Stop::Invalid(format!("no folder: {e}")))?;
                self.path(&path)
            }
            Surroundings::Setting { name, value } => {
                self.files.settings = true;
                let args = [self.text(name)?, self.text(value)?];
                self.call_void("java/lang/System", "setProperty", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", &args)
            }
            Surroundings::Locale(tag) => {
                let tag = self.text(tag)?;
                let locale = self.made_by("java/util/Locale", "forLanguageTag", "(Ljava/lang/String;)Ljava/util/Locale;", tag)?;
                self.call_void("java/util/Locale", "setDefault", "(Ljava/util/Locale;)V", &[locale])
            }
            Surroundings::TimeZone(id) => {
                let id = self.text(id)?;
                let zone = self.made_by("java/util/TimeZone", "getTimeZone", "(Ljava/lang/String;)Ljava/util/TimeZone;", id)?;
                self.call_void("java/util/TimeZone", "setDefault", "(Ljava/util/TimeZone;)V", &[zone])
            }
            Surroundings::Input(content) => {
                let stream = self.stream(content.as_bytes())?;
                self.call_void("java/lang/System", "setIn", "(Ljava/io/InputStream;)V", &[stream])
            }
        }
    }

    fn path(&mut self, path: &std::path::Path) -> Done<Slot> {
        let text = path.to_str().ok_or_else(|| Stop::Invalid("the path is not text".to_owned()))?;
        Ok(Slot::Ref(self.text(text)?))
    }

    fn text(&self, text: &str) -> Done<jobject> {
        let made = self.env.new_string(text);
        self.check_thrown(made)
    }

    fn made_by(&self, class: &str, method: &str, desc: &str, arg: jobject) -> Done<jobject> {
        let class = self.env.class(class)?;
        let id = self.env.static_method(class, method, desc)?;
        let made = jni!(self.env, CallStaticObjectMethodA, class.0, id, [jvalue { l: arg }].as_ptr());
        jni!(self.env, DeleteGlobalRef, class.0);
        self.check_thrown(made)
    }

    fn call_void(&self, class: &str, method: &str, desc: &str, args: &[jobject]) -> Done<Slot> {
        let class = self.env.class(class)?;
        let id = self.env.static_method(class, method, desc)?;
        let args: Vec<jvalue> = args.iter().map(|a| jvalue { l: *a }).collect();
        match desc.ends_with('V') {
            true => jni!(self.env, CallStaticVoidMethodA, class.0, id, args.as_ptr()),
            false => drop(jni!(self.env, CallStaticObjectMethodA, class.0, id, args.as_ptr())),
        }
        jni!(self.env, DeleteGlobalRef, class.0);
        self.check_thrown(Slot::Void)
    }

    fn stream(&self, content: &[u8]) -> Done<jobject> {
        let bytes = byte_array(self.env, content);
        let bytes = self.check_thrown(bytes)?;
        let class = self.env.class("java/io/ByteArrayInputStream")?;
        let ctor = self.env.method(class, "<init>", "([B)V")?;
        let made = jni!(self.env, NewObjectA, class.0, ctor, [jvalue { l: bytes }].as_ptr());
        jni!(self.env, DeleteGlobalRef, class.0);
        self.check_thrown(made)
    }
}

/// `null` with a pending exception if memory is short.
fn byte_array(env: Env, content: &[u8]) -> jobject {
    let array = jni!(env, NewByteArray, content.len() as i32);
    if array.is_null() {
        return std::ptr::null_mut();
    }
    let signed: Vec<i8> = content.iter().map(|b| b.cast_signed()).collect();
    jni!(env, SetByteArrayRegion, array, 0, signed.len() as i32, signed.as_ptr());
    array
}
