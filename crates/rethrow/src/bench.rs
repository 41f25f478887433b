//! Measurements of rethrow itself, on the machine at hand.

pub mod throughput;
