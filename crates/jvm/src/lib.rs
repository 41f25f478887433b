//! Everything that knows Java.

pub mod classfile;
pub mod embed;
pub mod instrument;
pub mod classpath;
pub mod jdk;
pub mod junit;
pub mod launch;
pub mod lower;
pub mod trace;
pub mod rules;
