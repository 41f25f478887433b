//! Control flow.
