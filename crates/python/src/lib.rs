//! Everything that knows Python: tracebacks, source, the worker script, pytest.

pub mod interpreter;
pub mod launch;
mod lower;
pub mod message;
pub mod plan;
pub mod pytest;
pub mod rules;
pub mod source;
pub mod trace;
