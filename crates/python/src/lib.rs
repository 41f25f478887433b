//! Everything that knows Python: tracebacks, source, the worker script, pytest.

mod lower;
pub mod plan;
pub mod rules;
pub mod source;
pub mod trace;
