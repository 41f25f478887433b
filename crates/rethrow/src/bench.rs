//! Measurements of rethrow itself, on the machine at hand.

mod calls;
mod machine;
mod subject;
pub mod throughput;
