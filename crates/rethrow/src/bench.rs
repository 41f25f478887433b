//! Measurements of rethrow itself: executed tests per second, how many real crashes are reproduced how fast, and what
//! generated suites cover.

pub mod beacon;
mod calls;
pub mod fetch;
pub mod generate;
mod machine;
pub mod report;
mod results;
pub mod run;
mod statistics;
mod subject;
mod suite;
pub mod throughput;
