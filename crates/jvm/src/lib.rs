//! Everything that knows Java.

pub mod classfile;
pub mod classpath;
pub mod embed;
pub mod instrument;
pub mod jdk;
pub mod junit;
pub mod launch;
pub mod lower;
pub mod message;
pub mod rules;
pub(crate) mod signature;
pub mod trace;
