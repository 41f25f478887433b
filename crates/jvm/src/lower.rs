//! Bytecode → register code ([`rethrow_core::program::ir`]), one method at a time and when first asked for.
//!
//! Total: code that no JVM would accept gives an error text. It does not verify beyond what lowering needs (stack depths and value widths).

mod draft;
mod generic;
mod pool;
mod stack;
mod translate;

use std::sync::{Arc, Mutex};

use rethrow_core::program::ir::{Body, Hazards};
use rethrow_core::program::{BodySource, Generic, MethodId, Program, TypeId};

use crate::classfile::{ClassFile, Member};
use crate::classpath::ClassPath;

/// Lowers the methods of a class path.
pub struct Lowering {
    classpath: Arc<ClassPath>,
    /// Classes read last, the newest at the end: methods of one class are asked for together.
    recent: Mutex<Vec<(TypeId, Arc<[u8]>)>>,
}

const RECENT: usize = 8;

impl Lowering {
    pub fn new(classpath: Arc<ClassPath>) -> Self {
        Self { classpath, recent: Mutex::default() }
    }

    fn bytes(&self, program: &Program, ty: TypeId) -> Result<Arc<[u8]>, String> {
        let mut recent = self.recent.lock().expect("no holder panics");
        if let Some((_, bytes)) = recent.iter().find(|(known, _)| *known == ty) {
            return Ok(bytes.clone());
        }
        let name = program.type_name(ty).replace('.', "/");
        let place = self.classpath.find_in(program.ty(ty).origin, &name).ok_or("the class is gone")?;
        let bytes: Arc<[u8]> = self.classpath.read(place).map_err(|e| e.to_string())?.into();
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push((ty, bytes.clone()));
        Ok(bytes)
    }
}

/// Members were added in the order of the file.
fn member<'c, 'b>(program: &Program, class: &'c ClassFile<'b>, method: MethodId) -> Result<&'c Member<'b>, String> {
    let first = program.methods_of(program.method(method).owner).next().ok_or("the method is gone")?;
    let member = class.methods.get((method.0 - first.0) as usize);
    let member = member.filter(|m| m.name == *program.method_name(method) || m.name.to_str_lossy() == program.method_name(method));
    Ok(member.ok_or("the class has changed since it was loaded")?)
}

impl BodySource for Lowering {
    fn body(&self, program: &Program, method: MethodId) -> Result<Option<Body>, String> {
        let owner = program.method(method).owner;
        let bytes = self.bytes(program, owner)?;
        let class = ClassFile::parse(&bytes).map_err(|e| e.to_string())?;
        let member = member(program, &class, method)?;
        match member.code(&class.pool) {
            None => Ok(None),
            Some(code) => translate::lower(program, owner, &class, member, &code.map_err(|e| e.to_string())?).map(Some),
        }
    }

    fn generics(&self, program: &Program, method: MethodId) -> Vec<Generic> {
        let Ok(bytes) = self.bytes(program, program.method(method).owner) else { return Vec::new() };
        let Ok(class) = ClassFile::parse(&bytes) else { return Vec::new() };
        let signature = member(program, &class, method).ok().and_then(|m| m.signature(&class.pool));
        let Some(signature) = signature.map(|s| s.to_str_lossy().into_owned()) else { return Vec::new() };
        let around = class.signature().map(|s| s.to_str_lossy().into_owned());
        generic::parameters(program, around.as_deref(), &signature, program.signature(method).params.len())
    }

    /// By the table of chapter 6 of the JVM specification. Only exact types: the JVM never raises a subclass.
    fn hazards(&self, exception: &str) -> Hazards {
        let implicit = match exception {
            "java.lang.NullPointerException" => Hazards::NULL,
            "java.lang.ArrayIndexOutOfBoundsException" => Hazards::BOUNDS,
            "java.lang.ArithmeticException" => Hazards::DIV_ZERO,
            "java.lang.NegativeArraySizeException" => Hazards::NEGATIVE_SIZE,
            "java.lang.ClassCastException" => Hazards::CAST,
            "java.lang.ArrayStoreException" => Hazards::ARRAY_STORE,
            "java.lang.IllegalMonitorStateException" => Hazards::MONITOR,
            "java.lang.ExceptionInInitializerError" => Hazards::INIT,
            "java.lang.StackOverflowError" => Hazards::CALL,
            "java.lang.NoClassDefFoundError"
            | "java.lang.NoSuchMethodError"
            | "java.lang.NoSuchFieldError"
            | "java.lang.AbstractMethodError"
            | "java.lang.IllegalAccessError"
            | "java.lang.IncompatibleClassChangeError"
            | "java.lang.UnsatisfiedLinkError"
            | "java.lang.VerifyError"
            | "java.lang.BootstrapMethodError" => Hazards::CALL.with(Hazards::INIT),
            _ => Hazards::NONE,
        };
        implicit.with(Hazards::EXPLICIT)
    }
}

#[cfg(test)]
mod tests;
