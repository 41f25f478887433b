//! Measurements of rethrow itself: executed tests per second, and how many real crashes are reproduced how fast.

pub mod beacon;
mod calls;
pub mod fetch;
mod machine;
pub mod report;
mod results;
pub mod run;
mod statistics;
mod subject;
mod suite;
pub mod throughput;
