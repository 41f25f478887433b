//! What the parent tells a worker before its JVM exists. Opaque to the generic protocol.

use serde::{Deserialize, Serialize};

use crate::instrument::Detail;

/// See the module documentation. Paths are bytes, because they need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    pub libjvm: Vec<u8>,
    /// Complete options for `JNI_CreateJavaVM`.
    pub options: Vec<Vec<u8>>,
    /// The file that both sides share; see [`rethrow_worker::protocol::Progress`].
    pub progress: Vec<u8>,
    /// Stack of the thread that runs the tests.
    pub stack_bytes: u32,
    /// Without probes: no coverage, no step limit, `exit` ends the process.
    pub instrument: bool,
    /// The watched classes, with their first numbers.
    pub watched: Vec<Watched>,
    /// Totals of the probe plan: sizes of the tables.
    pub probes: u32,
    pub branches: u32,
    pub switches: u32,
    /// The frames of the trace, innermost first, whose callers are noted; may be empty.
    pub chain: Vec<ChainFrame>,
}

/// A frame of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainFrame {
    /// With slashes.
    pub class: String,
    pub method: String,
    pub line: Option<u32>,
    /// The probes on its line.
    pub points: Vec<u32>,
}

/// A watched class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// With slashes.
    pub class: String,
    pub detail: Detail,
    pub first_probe: u32,
    pub first_branch: u32,
    pub first_switch: u32,
}
