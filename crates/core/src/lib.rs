//! The language-neutral and pure heart of rethrow.
//!
//! Nothing here names a language, reads a file, the clock or the environment, prints or spawns.

pub mod execution;
pub mod genyal;
pub mod goal;
pub mod message;
pub mod minimize;
pub mod objective;
pub mod parsed;
pub mod probe;
pub mod program;
pub mod report;
pub mod rng;
pub mod search;
pub mod target;
pub mod testcase;
#[doc(hidden)]
pub mod toy;
pub mod trace;
