//! Executes the statements of one test through JNI.
//!
//! JNI checks no argument types, so everything that is passed is checked here first: an ill-typed argument or a null receiver is
//! [`Stop::Invalid`], never a corrupted heap.

use jvmti_bindings::sys::jni::{jobject, jthrowable, jvalue};
use rethrow_core::program::{Base, FieldId, MethodId, Prim, Ty};
use rethrow_core::testcase::{Stmt, TestCase, Value, Var};
use rustc_hash::FxHashMap;

use super::call::{self, Slot};
use super::classes::Classes;
use super::descriptor::{self, Kind};
use super::members::{FieldEntry, Members, MethodEntry, Param, Unusable};
use super::progress::ProgressPage;
use super::vm::{Env, Global, jni};

/// Interned literals kept for reuse.
const MAX_LITERALS: usize = 4096;

/// Why a test did not reach its end.
pub enum Stop {
    Thrown(jthrowable),
    Invalid(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Invalid(why)
    }
}

impl From<Unusable> for Stop {
    fn from(unusable: Unusable) -> Stop {
        match unusable {
            Unusable::Invalid(why) => Stop::Invalid(why),
            Unusable::Thrown(thrown) => Stop::Thrown(thrown),
        }
    }
}

/// What statements need of the worker.
pub struct Statements {
    pub env: Env,
    pub classes: Classes,
    pub members: Members,
    /// String literals of Java are interned, and programs can tell.
    literals: FxHashMap<String, Global>,
    intern: jvmti_bindings::sys::jni::jmethodID,
    slots: Vec<Slot>,
    pub(super) args: Vec<jvalue>,
    /// Static fields that the test itself set, with what was in them.
    overwritten: Vec<(std::rc::Rc<FieldEntry>, Slot)>,
    pub(super) stubs: super::stubs::Stubs,
    pub(super) files: super::surroundings::Files,
}

pub(super) type Done<T> = Result<T, Stop>;

impl Statements {
    pub fn new(env: Env, classes: Classes) -> Result<Statements, String> {
        let string = env.class("java/lang/String")?;
        Ok(Statements {
            env,
            classes,
            members: Members::default(),
            literals: FxHashMap::default(),
            intern: env.method(string, "intern", "()Ljava/lang/String;")?,
            slots: Vec::new(),
            args: Vec::new(),
            overwritten: Vec::new(),
            stubs: super::stubs::Stubs::default(),
            files: super::surroundings::Files::default(),
        })
    }

    /// Runs `test`; on a stop, says at which statement.
    pub fn run(&mut self, test: &TestCase, progress: &ProgressPage) -> Result<(), (u32, Stop)> {
        self.slots.clear();
        for (i, stmt) in test.stmts.iter().enumerate() {
            progress.at(i as u32);
            let slot = self.stmt(stmt, test).map_err(|stop| (i as u32, stop))?;
            self.slots.push(slot);
        }
        Ok(())
    }

    /// A call that does nothing but give the JVM an occasion to deliver what it holds back.
    pub fn call_something(&self) {
        self.env.clear_exception();
        let made = self.env.new_string("");
        if !made.is_null() {
            jni!(self.env, CallObjectMethodA, made, self.intern, std::ptr::null());
        }
        self.env.clear_exception();
    }

    /// Puts the static fields back that statements of the test set, and removes its files; true if it set system properties. Before the test's
    /// references end.
    pub fn restore(&mut self) -> bool {
        while let Some((field, old)) = self.overwritten.pop() {
            call::set_static(self.env, field.class.0, field.id, old);
        }
        self.files.clear()
    }

    /// The values of the statements that completed.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn stmt(&mut self, stmt: &Stmt, test: &TestCase) -> Done<Slot> {
        match stmt {
            Stmt::Lit(value) => Ok(Slot::Prim(*value)),
            Stmt::Str(text) => self.literal(text).map(Slot::Ref),
            Stmt::Null(_) => Ok(Slot::Ref(std::ptr::null_mut())),
            Stmt::GetStatic(field) => self.get_static(*field),
            Stmt::Class(ty) => self.class_literal(*ty),
            Stmt::New { ctor, args } => self.new_object(*ctor, args),
            Stmt::Call { method, recv, args } => self.call(*method, *recv, args),
            Stmt::GetField { field, recv } => self.get_field(*field, *recv),
            Stmt::SetField { field, recv, value } => self.set_field(*field, *recv, *value),
            Stmt::NewArray { elem, len } => self.new_array(*elem, *len),
            Stmt::ArraySet { array, index, value } => self.array_set(*array, *index, *value, test),
            Stmt::ArrayGet { array, index } => self.array_get(*array, *index),
            Stmt::Cast { value, ty } => self.cast(*value, *ty),
            Stmt::Stub(stub) => self.stub(stub),
            Stmt::Env(what) => self.surround(what),
            Stmt::Data(_) => Err(Stop::Invalid("a value without declared type".to_owned())),
        }
    }

    pub(super) fn slot(&self, var: Var) -> Done<Slot> {
        self.slots.get(var.0 as usize).copied().ok_or_else(|| Stop::Invalid(format!("value {} is used before it is made", var.0)))
    }

    /// A reference that is not null.
    fn object(&self, var: Var) -> Done<jobject> {
        match self.slot(var)? {
            Slot::Ref(object) if !object.is_null() => Ok(object),
            Slot::Ref(_) => Err(Stop::Invalid(format!("value {} is null", var.0))),
            _ => Err(Stop::Invalid(format!("value {} is not an object", var.0))),
        }
    }

    pub(super) fn check_thrown<T>(&self, value: T) -> Done<T> {
        match self.env.take_exception() {
            None => Ok(value),
            Some(thrown) => Err(Stop::Thrown(thrown)),
        }
    }

    fn literal(&mut self, text: &str) -> Done<jobject> {
        if let Some(known) = self.literals.get(text) {
            return Ok(known.0);
        }
        let made = self.env.new_string(text);
        let made = self.check_thrown(made)?;
        let interned = jni!(self.env, CallObjectMethodA, made, self.intern, std::ptr::null());
        let interned = self.check_thrown(interned)?;
        if self.literals.len() < MAX_LITERALS {
            self.literals.insert(text.to_owned(), self.env.global(interned));
        }
        Ok(interned)
    }

    fn class_literal(&mut self, ty: Ty) -> Done<Slot> {
        match ty.base {
            Base::Prim(p) if ty.dims == 0 => self.prim_class(Some(p)),
            Base::Void if ty.dims == 0 => self.prim_class(None),
            _ => Ok(Slot::Ref(self.members.class(self.env, &mut self.classes, ty)?.0)),
        }
    }

    fn prim_class(&self, prim: Option<Prim>) -> Done<Slot> {
        let wrapper = match prim {
            None => "Void",
            Some(Prim::Bool) => "Boolean",
            Some(Prim::Byte) => "Byte",
            Some(Prim::Char) => "Character",
            Some(Prim::Short) => "Short",
            Some(Prim::Int) => "Integer",
            Some(Prim::Long) => "Long",
            Some(Prim::Float) => "Float",
            Some(Prim::Double) => "Double",
        };
        let class = self.env.class(&format!("java/lang/{wrapper}"))?;
        let field = self.env.static_field(class, "TYPE", "Ljava/lang/Class;")?;
        let value = jni!(self.env, GetStaticObjectField, class.0, field);
        jni!(self.env, DeleteGlobalRef, class.0);
        Ok(Slot::Ref(value))
    }

    fn method(&mut self, id: MethodId) -> Done<std::rc::Rc<MethodEntry>> {
        Ok(self.members.method(self.env, &mut self.classes, id)?)
    }

    fn field(&mut self, id: FieldId) -> Done<std::rc::Rc<FieldEntry>> {
        Ok(self.members.field(self.env, &mut self.classes, id)?)
    }

    fn new_object(&mut self, ctor: MethodId, args: &[Var]) -> Done<Slot> {
        let entry = self.method(ctor)?;
        self.pass(&entry.params, args)?;
        let made = jni!(self.env, NewObjectA, entry.class.0, entry.id, self.args.as_ptr());
        self.check_thrown(Slot::Ref(made))
    }

    fn call(&mut self, method: MethodId, recv: Option<Var>, args: &[Var]) -> Done<Slot> {
        // The receiver first: without one, looking the method up would initialise a class that Java would not.
        let object = recv.map(|r| self.object(r)).transpose()?;
        let entry = self.method(method)?;
        self.pass(&entry.params, args)?;
        let slot = match object {
            _ if entry.is_static => call::static_call(self.env, entry.class.0, entry.id, &entry.result, &self.args),
            None => return Err(Stop::Invalid("an instance method needs a receiver".to_owned())),
            Some(object) if !self.env.is_instance(object, entry.class.0) => return Err(Stop::Invalid("the receiver has another class".to_owned())),
            Some(object) => call::virtual_call(self.env, object, entry.id, &entry.result, &self.args),
        };
        self.check_thrown(slot)
    }

    /// Fills `self.args`, each checked against its declared type.
    pub(super) fn pass(&mut self, params: &[Param], args: &[Var]) -> Done<()> {
        if params.len() != args.len() {
            return Err(Stop::Invalid(format!("{} arguments for {} parameters", args.len(), params.len())));
        }
        self.args.clear();
        for (i, (param, arg)) in params.iter().zip(args).enumerate() {
            let slot = self.slot(*arg)?;
            self.check_type(param, slot).map_err(|why| Stop::Invalid(format!("argument {}: {why}", i + 1)))?;
            self.args.push(call::jvalue_of(slot));
        }
        Ok(())
    }

    pub(super) fn check_type(&self, param: &Param, slot: Slot) -> Result<(), String> {
        match (param, slot) {
            (Param::Prim(p), Slot::Prim(v)) if v.prim() == *p => Ok(()),
            (Param::Prim(p), _) => Err(format!("no {p:?}")),
            (Param::Object, Slot::Ref(_)) => Ok(()),
            (Param::Ref(..), Slot::Ref(object)) if object.is_null() => Ok(()),
            (Param::Ref(_, Some(class)), Slot::Ref(object)) if self.env.is_instance(object, class.0) => Ok(()),
            (Param::Ref(name, _), _) => Err(format!("no {name}")),
            (Param::Object, _) => Err("no object".to_owned()),
        }
    }

    fn get_static(&mut self, field: FieldId) -> Done<Slot> {
        let entry = self.field(field)?;
        if !entry.is_static {
            return Err(Stop::Invalid("the field is not static".to_owned()));
        }
        Ok(call::get_static(self.env, entry.class.0, entry.id, &entry.kind))
    }

    fn get_field(&mut self, field: FieldId, recv: Var) -> Done<Slot> {
        let object = self.object(recv)?;
        let entry = self.field(field)?;
        if entry.is_static {
            return Ok(call::get_static(self.env, entry.class.0, entry.id, &entry.kind));
        }
        self.check_receiver(&entry, object)?;
        Ok(call::get_field(self.env, object, entry.id, &entry.kind))
    }

    fn check_receiver(&self, entry: &FieldEntry, object: jobject) -> Done<()> {
        if self.env.is_instance(object, entry.class.0) { Ok(()) } else { Err(Stop::Invalid("the receiver has another class".to_owned())) }
    }

    fn set_field(&mut self, field: FieldId, recv: Option<Var>, value: Var) -> Done<Slot> {
        let object = recv.map(|r| self.object(r)).transpose()?;
        let entry = self.field(field)?;
        let slot = self.slot(value)?;
        let param = match &entry.kind {
            Kind::Prim(p) => Param::Prim(*p),
            Kind::Ref(name) => Param::Ref(name.clone(), self.classes.find(self.env, name).ok()),
            Kind::Void => return Err(Stop::Invalid("a field of type void".to_owned())),
        };
        self.check_type(&param, slot)?;
        match object {
            _ if entry.is_static => {
                let old = call::get_static(self.env, entry.class.0, entry.id, &entry.kind);
                self.overwritten.push((entry.clone(), old));
                call::set_static(self.env, entry.class.0, entry.id, slot);
            }
            None => return Err(Stop::Invalid("an instance field needs a receiver".to_owned())),
            Some(object) => {
                self.check_receiver(&entry, object)?;
                call::set_field(self.env, object, entry.id, slot);
            }
        }
        Ok(Slot::Void)
    }

    fn new_array(&mut self, elem: Ty, len: u32) -> Done<Slot> {
        let len = i32::try_from(len).map_err(|_| Stop::Invalid("the array is too long".to_owned()))?;
        let array = match elem.as_prim() {
            Some(prim) => call::new_prim_array(self.env, prim, len),
            None => {
                let class = self.members.class(self.env, &mut self.classes, elem)?;
                jni!(self.env, NewObjectArray, len, class.0, std::ptr::null_mut())
            }
        };
        self.check_thrown(Slot::Ref(array))
    }

    /// The array and what its elements are, by its run-time class.
    fn array(&mut self, var: Var) -> Done<(jobject, Kind)> {
        let array = self.object(var)?;
        let name = self.classes.of(self.env, array).name;
        let kind = descriptor::element(&name).ok_or_else(|| Stop::Invalid(format!("value {} is not an array", var.0)))?;
        Ok((array, kind))
    }

    fn array_set(&mut self, var: Var, index: u32, value: Var, test: &TestCase) -> Done<Slot> {
        let (array, prim) = match test.stmts.get(var.0 as usize) {
            // mostly the test has just made it, and nobody needs to ask what it is
            Some(Stmt::NewArray { elem, .. }) => (self.object(var)?, elem.as_prim()),
            _ => {
                let (array, kind) = self.array(var)?;
                (array, if let Kind::Prim(prim) = kind { Some(prim) } else { None })
            }
        };
        let slot = self.slot(value)?;
        match (prim, slot) {
            (Some(p), Slot::Prim(v)) if v.prim() == p => {}
            (None, Slot::Ref(_)) => {}
            _ => return Err(Stop::Invalid("the element has another type".to_owned())),
        }
        call::set_element(self.env, array, i32::try_from(index).unwrap_or(i32::MAX), slot);
        self.check_thrown(Slot::Void)
    }

    fn array_get(&mut self, array: Var, index: u32) -> Done<Slot> {
        let (array, kind) = self.array(array)?;
        let slot = call::get_element(self.env, array, i32::try_from(index).unwrap_or(i32::MAX), &kind);
        self.check_thrown(slot)
    }

    fn cast(&mut self, value: Var, ty: Ty) -> Done<Slot> {
        match (self.slot(value)?, ty.as_prim()) {
            (Slot::Prim(v), Some(prim)) => Ok(Slot::Prim(convert(v, prim))),
            (Slot::Ref(object), None) if object.is_null() => Ok(Slot::Ref(object)),
            (Slot::Ref(object), None) => {
                let class = self.members.class(self.env, &mut self.classes, ty)?;
                if self.env.is_instance(object, class.0) { Ok(Slot::Ref(object)) } else { Err(Stop::Invalid("the cast fails".to_owned())) }
            }
            _ => Err(Stop::Invalid("a cast between a primitive and a reference".to_owned())),
        }
    }
}

/// A conversion of primitives as Java does it.
fn convert(value: Value, to: Prim) -> Value {
    match (value.as_i64(), to) {
        (Some(v), _) => Value::of_int(to, v),
        (None, Prim::Double) => Value::double(value.as_f64()),
        (None, Prim::Float) => Value::float(value.as_f64() as f32),
        (None, Prim::Long) => Value::Long(value.as_f64() as i64),
        // Via int, which saturates.
        (None, _) => Value::of_int(to, i64::from(value.as_f64() as i32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_convert_as_in_java() {
        assert_eq!(convert(Value::Int(300), Prim::Byte), Value::Byte(44));
        assert_eq!(convert(Value::double(1e20), Prim::Int), Value::Int(i32::MAX));
        assert_eq!(convert(Value::double(-1.9), Prim::Short), Value::Short(-1));
        assert_eq!(convert(Value::double(f64::NAN), Prim::Long), Value::Long(0));
        assert_eq!(convert(Value::Char(65), Prim::Double), Value::double(65.0));
    }
}
