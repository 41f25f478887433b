//! Everything that knows Python: tracebacks, source, the worker script, pytest. Empty: no part of it is written yet; the crate exists so that the
//! slots of a language are visible and Cargo keeps the languages apart.
