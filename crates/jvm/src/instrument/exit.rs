//! `java.lang.Runtime` without the power to end the process: for code that reaches `exit` on ways no call site shows.

use super::constants::{Constants, PoolFull, push_constant};
use super::rewrite::splice;
use crate::classfile::insn::opcode;
use crate::classfile::{ClassError, ClassFile, Member};

/// Replaces the bodies of `exit` and `halt` by `throw new InternalError("rethrow: exit")`. Adds no member, so
/// that the result can be used to retransform the loaded class.
pub fn replace_exit(runtime: &[u8]) -> Result<Vec<u8>, ClassError> {
    let class = ClassFile::parse(runtime)?;
    let mut constants = Constants::after(class.pool.len());
    let body = throwing_body(&mut constants).map_err(|_| ClassError::TooLarge("the constant pool"))?;
    let ends_process = |m: &Member<'_>| m.descriptor == "(I)V" && (m.name == "exit" || m.name == "halt") && !m.is_static();
    let codes: Vec<_> = class.methods.iter().map(|m| ends_process(m).then(|| body.clone())).collect();
    splice(runtime, &class, &constants, &codes)
}

/// Contents of a `Code` attribute for an instance method with one int parameter.
fn throwing_body(constants: &mut Constants) -> Result<Vec<u8>, PoolFull> {
    const ERROR: &str = "java/lang/InternalError";
    let class = constants.class(ERROR)?;
    let constructor = constants.method(ERROR, "<init>", "(Ljava/lang/String;)V")?;
    let message = constants.string("rethrow: exit")?;
    let mut code = vec![opcode::NEW];
    code.extend_from_slice(&class.to_be_bytes());
    code.push(opcode::DUP);
    push_constant(message, &mut code);
    code.push(opcode::INVOKESPECIAL);
    code.extend_from_slice(&constructor.to_be_bytes());
    code.push(opcode::ATHROW);
    let (max_stack, max_locals) = (3u16, 2u16);
    let mut body = Vec::new();
    body.extend_from_slice(&max_stack.to_be_bytes());
    body.extend_from_slice(&max_locals.to_be_bytes());
    body.extend_from_slice(&(code.len() as u32).to_be_bytes());
    body.extend_from_slice(&code);
    // No handlers, no attributes.
    body.extend_from_slice(&[0; 4]);
    Ok(body)
}
