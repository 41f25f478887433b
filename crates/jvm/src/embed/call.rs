//! Typed access to JNI: calls by result kind, fields and array elements by kind. JNI has one function for each, so this is where they are chosen.
//!
//! The caller has checked that objects, classes and arguments have the types the ids were made for.

use jvmti_bindings::sys::jni::{jclass, jfieldID, jmethodID, jobject, jvalue};
use rethrow_core::program::Prim;
use rethrow_core::testcase::Value;

use super::descriptor::Kind;
use super::vm::{Env, jni};

/// The value of a statement.
#[derive(Clone, Copy)]
pub enum Slot {
    Void,
    Prim(Value),
    Ref(jobject),
}

pub fn jvalue_of(slot: Slot) -> jvalue {
    match slot {
        Slot::Void => jvalue { j: 0 },
        Slot::Ref(l) => jvalue { l },
        Slot::Prim(value) => match value {
            Value::Bool(v) => jvalue { z: u8::from(v) },
            Value::Byte(b) => jvalue { b },
            Value::Char(c) => jvalue { c },
            Value::Short(s) => jvalue { s },
            Value::Int(i) => jvalue { i },
            Value::Long(j) => jvalue { j },
            Value::Float(bits) => jvalue { f: f32::from_bits(bits) },
            Value::Double(bits) => jvalue { d: f64::from_bits(bits) },
        },
    }
}

/// Calls a method whose arguments were checked; looks for no exception.
pub fn virtual_call(env: Env, object: jobject, id: jmethodID, result: &Kind, args: &[jvalue]) -> Slot {
    let a = args.as_ptr();
    match result {
        Kind::Void => {
            jni!(env, CallVoidMethodA, object, id, a);
            Slot::Void
        }
        Kind::Ref(_) => Slot::Ref(jni!(env, CallObjectMethodA, object, id, a)),
        Kind::Prim(p) => Slot::Prim(match p {
            Prim::Bool => Value::Bool(jni!(env, CallBooleanMethodA, object, id, a) != 0),
            Prim::Byte => Value::Byte(jni!(env, CallByteMethodA, object, id, a)),
            Prim::Char => Value::Char(jni!(env, CallCharMethodA, object, id, a)),
            Prim::Short => Value::Short(jni!(env, CallShortMethodA, object, id, a)),
            Prim::Int => Value::Int(jni!(env, CallIntMethodA, object, id, a)),
            Prim::Long => Value::Long(jni!(env, CallLongMethodA, object, id, a)),
            Prim::Float => Value::float(jni!(env, CallFloatMethodA, object, id, a)),
            Prim::Double => Value::double(jni!(env, CallDoubleMethodA, object, id, a)),
        }),
    }
}

/// The same for a static method.
pub fn static_call(env: Env, class: jclass, id: jmethodID, result: &Kind, args: &[jvalue]) -> Slot {
    let a = args.as_ptr();
    match result {
        Kind::Void => {
            jni!(env, CallStaticVoidMethodA, class, id, a);
            Slot::Void
        }
        Kind::Ref(_) => Slot::Ref(jni!(env, CallStaticObjectMethodA, class, id, a)),
        Kind::Prim(p) => Slot::Prim(match p {
            Prim::Bool => Value::Bool(jni!(env, CallStaticBooleanMethodA, class, id, a) != 0),
            Prim::Byte => Value::Byte(jni!(env, CallStaticByteMethodA, class, id, a)),
            Prim::Char => Value::Char(jni!(env, CallStaticCharMethodA, class, id, a)),
            Prim::Short => Value::Short(jni!(env, CallStaticShortMethodA, class, id, a)),
            Prim::Int => Value::Int(jni!(env, CallStaticIntMethodA, class, id, a)),
            Prim::Long => Value::Long(jni!(env, CallStaticLongMethodA, class, id, a)),
            Prim::Float => Value::float(jni!(env, CallStaticFloatMethodA, class, id, a)),
            Prim::Double => Value::double(jni!(env, CallStaticDoubleMethodA, class, id, a)),
        }),
    }
}

pub fn get_field(env: Env, object: jobject, id: jfieldID, kind: &Kind) -> Slot {
    match kind {
        Kind::Void => Slot::Void,
        Kind::Ref(_) => Slot::Ref(jni!(env, GetObjectField, object, id)),
        Kind::Prim(p) => Slot::Prim(match p {
            Prim::Bool => Value::Bool(jni!(env, GetBooleanField, object, id) != 0),
            Prim::Byte => Value::Byte(jni!(env, GetByteField, object, id)),
            Prim::Char => Value::Char(jni!(env, GetCharField, object, id)),
            Prim::Short => Value::Short(jni!(env, GetShortField, object, id)),
            Prim::Int => Value::Int(jni!(env, GetIntField, object, id)),
            Prim::Long => Value::Long(jni!(env, GetLongField, object, id)),
            Prim::Float => Value::float(jni!(env, GetFloatField, object, id)),
            Prim::Double => Value::double(jni!(env, GetDoubleField, object, id)),
        }),
    }
}

pub fn get_static(env: Env, class: jclass, id: jfieldID, kind: &Kind) -> Slot {
    match kind {
        Kind::Void => Slot::Void,
        Kind::Ref(_) => Slot::Ref(jni!(env, GetStaticObjectField, class, id)),
        Kind::Prim(p) => Slot::Prim(match p {
            Prim::Bool => Value::Bool(jni!(env, GetStaticBooleanField, class, id) != 0),
            Prim::Byte => Value::Byte(jni!(env, GetStaticByteField, class, id)),
            Prim::Char => Value::Char(jni!(env, GetStaticCharField, class, id)),
            Prim::Short => Value::Short(jni!(env, GetStaticShortField, class, id)),
            Prim::Int => Value::Int(jni!(env, GetStaticIntField, class, id)),
            Prim::Long => Value::Long(jni!(env, GetStaticLongField, class, id)),
            Prim::Float => Value::float(jni!(env, GetStaticFloatField, class, id)),
            Prim::Double => Value::double(jni!(env, GetStaticDoubleField, class, id)),
        }),
    }
}

pub fn set_field(env: Env, object: jobject, id: jfieldID, slot: Slot) {
    match slot {
        Slot::Void => {}
        Slot::Ref(v) => jni!(env, SetObjectField, object, id, v),
        Slot::Prim(value) => match value {
            Value::Bool(v) => jni!(env, SetBooleanField, object, id, u8::from(v)),
            Value::Byte(v) => jni!(env, SetByteField, object, id, v),
            Value::Char(v) => jni!(env, SetCharField, object, id, v),
            Value::Short(v) => jni!(env, SetShortField, object, id, v),
            Value::Int(v) => jni!(env, SetIntField, object, id, v),
            Value::Long(v) => jni!(env, SetLongField, object, id, v),
            Value::Float(v) => jni!(env, SetFloatField, object, id, f32::from_bits(v)),
            Value::Double(v) => jni!(env, SetDoubleField, object, id, f64::from_bits(v)),
        },
    }
}

pub fn set_static(env: Env, class: jclass, id: jfieldID, slot: Slot) {
    match slot {
        Slot::Void => {}
        Slot::Ref(v) => jni!(env, SetStaticObjectField, class, id, v),
        Slot::Prim(value) => match value {
            Value::Bool(v) => jni!(env, SetStaticBooleanField, class, id, u8::from(v)),
            Value::Byte(v) => jni!(env, SetStaticByteField, class, id, v),
            Value::Char(v) => jni!(env, SetStaticCharField, class, id, v),
            Value::Short(v) => jni!(env, SetStaticShortField, class, id, v),
            Value::Int(v) => jni!(env, SetStaticIntField, class, id, v),
            Value::Long(v) => jni!(env, SetStaticLongField, class, id, v),
            Value::Float(v) => jni!(env, SetStaticFloatField, class, id, f32::from_bits(v)),
            Value::Double(v) => jni!(env, SetStaticDoubleField, class, id, f64::from_bits(v)),
        },
    }
}

pub fn new_prim_array(env: Env, prim: Prim, len: i32) -> jobject {
    match prim {
        Prim::Bool => jni!(env, NewBooleanArray, len),
        Prim::Byte => jni!(env, NewByteArray, len),
        Prim::Char => jni!(env, NewCharArray, len),
        Prim::Short => jni!(env, NewShortArray, len),
        Prim::Int => jni!(env, NewIntArray, len),
        Prim::Long => jni!(env, NewLongArray, len),
        Prim::Float => jni!(env, NewFloatArray, len),
        Prim::Double => jni!(env, NewDoubleArray, len),
    }
}

/// Reads an element; an index out of bounds leaves an exception pending, as in Java.
pub fn get_element(env: Env, array: jobject, index: i32, kind: &Kind) -> Slot {
    macro_rules! read {
        ($function:ident, $zero:expr) => {{
            let mut v = $zero;
            jni!(env, $function, array, index, 1, &raw mut v);
            v
        }};
    }
    match kind {
        Kind::Void => Slot::Void,
        Kind::Ref(_) => Slot::Ref(jni!(env, GetObjectArrayElement, array, index)),
        Kind::Prim(p) => Slot::Prim(match p {
            Prim::Bool => Value::Bool(read!(GetBooleanArrayRegion, 0u8) != 0),
            Prim::Byte => Value::Byte(read!(GetByteArrayRegion, 0i8)),
            Prim::Char => Value::Char(read!(GetCharArrayRegion, 0u16)),
            Prim::Short => Value::Short(read!(GetShortArrayRegion, 0i16)),
            Prim::Int => Value::Int(read!(GetIntArrayRegion, 0i32)),
            Prim::Long => Value::Long(read!(GetLongArrayRegion, 0i64)),
            Prim::Float => Value::float(read!(GetFloatArrayRegion, 0f32)),
            Prim::Double => Value::double(read!(GetDoubleArrayRegion, 0f64)),
        }),
    }
}

/// Writes an element; an index out of bounds or a wrong reference leaves an exception pending, as in Java.
pub fn set_element(env: Env, array: jobject, index: i32, slot: Slot) {
    macro_rules! write {
        ($function:ident, $v:expr) => {{
            let v = $v;
            jni!(env, $function, array, index, 1, &raw const v);
        }};
    }
    match slot {
        Slot::Void => {}
        Slot::Ref(v) => jni!(env, SetObjectArrayElement, array, index, v),
        Slot::Prim(value) => match value {
            Value::Bool(v) => write!(SetBooleanArrayRegion, u8::from(v)),
            Value::Byte(v) => write!(SetByteArrayRegion, v),
            Value::Char(v) => write!(SetCharArrayRegion, v),
            Value::Short(v) => write!(SetShortArrayRegion, v),
            Value::Int(v) => write!(SetIntArrayRegion, v),
            Value::Long(v) => write!(SetLongArrayRegion, v),
            Value::Float(v) => write!(SetFloatArrayRegion, f32::from_bits(v)),
            Value::Double(v) => write!(SetDoubleArrayRegion, f64::from_bits(v)),
        },
    }
}
