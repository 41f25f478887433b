//! Worker processes: the protocol, their supervision and the jail.

pub mod names;
mod patience;
pub mod pool;
pub mod process;
pub mod protocol;
pub mod sandbox;
pub mod session;
pub mod workers;
