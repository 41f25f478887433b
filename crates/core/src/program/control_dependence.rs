//! Control dependence.
