//! The class-file reader takes any bytes: every part of what it accepts can be read to the end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethrow_jvm::classfile::ClassFile;

fuzz_target!(|bytes: &[u8]| {
    let Ok(class) = ClassFile::parse(bytes) else { return };
    let _ = (class.name(), class.super_name(), class.interfaces().count(), class.source_file(), class.signature(), class.nest_host());
    let _ = (class.inner_classes(), class.enclosing_method(), class.bootstrap_methods(), class.record(), class.permitted_subclasses());
    for member in class.fields.iter().chain(&class.methods) {
        let _ = (member.constant_value(&class.pool), member.exceptions(&class.pool), member.signature(&class.pool));
        if let Some(Ok(code)) = member.code(&class.pool) {
            let _ = (code.instructions().count(), code.line_at(0));
        }
    }
});
