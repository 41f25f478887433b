//! The jail that foreign code runs in: which layers exist, which of them a process got, and the launcher that
//! enters them and then becomes the foreign program.
//!
//! The launcher is an ordinary process image of ours (the binary re-executed with [`LAUNCHER_ARGUMENT`]), because
//! namespaces, Landlock and seccomp are set up after a fork, which is only sound in a single-threaded process.
//! This module does not decide what is run or for how long: that is [`crate::process`], the only caller.
//!
//! Deliberately absent: memory limits (`RLIMIT_AS` does not work for a JVM; the caller watches the resident size)
//! and any promise against kernel exploits.

#![allow(unsafe_code)]

mod confine;
mod landlock;
mod launch;
mod namespace;
mod seccomp;
mod sys;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use launch::run_if_launcher;

/// First argument that turns a process of ours into a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__jail";

/// The descriptor under which the jailed program finds its protocol stream.
pub const PROTOCOL_FD: i32 = 3;

/// How much isolation is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sandbox {
    /// Every layer that the kernel grants; what is missing is reported, not fatal.
    #[default]
    Default,
    /// Refuse to run unless files, network and processes are all isolated.
    Strict,
    /// No isolation; only supervision, a scrubbed environment and closed descriptors.
    Off,
}

/// One mechanism of isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layer {
    Landlock,
    Seccomp,
    UserNamespace,
    PidNamespace,
    NetNamespace,
    IpcNamespace,
    UtsNamespace,
    /// A mount namespace in which all but scratch is read-only.
    MountNamespace,
}

impl Layer {
    /// The short name used in banners and errors.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
            Layer::UserNamespace => "userns",
            Layer::PidNamespace => "pidns",
            Layer::NetNamespace => "netns",
            Layer::IpcNamespace => "ipcns",
            Layer::UtsNamespace => "utsns",
            Layer::MountNamespace => "mountns",
        }
    }
}

/// The layers a process really got, each established separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The Landlock ABI in force.
    pub landlock: Option<u32>,
    pub seccomp: bool,
    pub userns: bool,
    pub pidns: bool,
    pub netns: bool,
    pub ipcns: bool,
    pub utsns: bool,
    pub mountns: bool,
    pub no_new_privs: bool,
    pub rlimits: bool,
}

/// First Landlock ABI that governs `truncate`; below it a file outside could be emptied.
const ABI_TRUNCATE: u32 = 3;
/// First Landlock ABI that keeps signals and abstract sockets inside.
const ABI_SCOPES: u32 = 6;

impl Layers {
    /// Files outside scratch can neither be changed nor, beyond the readable paths, read.
    pub fn isolates_files(&self) -> bool {
        self.landlock.is_some_and(|abi| abi >= ABI_TRUNCATE || self.mountns) && (self.mountns || self.seccomp)
    }

    /// No packet leaves.
    pub fn isolates_network(&self) -> bool {
        self.netns || self.seccomp
    }

    /// Processes outside cannot be signalled, and none inside outlives the jail.
    pub fn isolates_processes(&self) -> bool {
        self.pidns
    }

    /// Whether signals to processes outside are stopped.
    pub(crate) fn isolates_signals(&self) -> bool {
        self.pidns || self.landlock.is_some_and(|abi| abi >= ABI_SCOPES)
    }

    /// What strict mode would have needed and did not get.
    pub fn missing_for_strict(&self) -> Vec<Layer> {
        let wanted = [
            (self.isolates_files(), Layer::Landlock),
            (self.seccomp, Layer::Seccomp),
            (self.isolates_network(), Layer::NetNamespace),
            (self.isolates_processes(), Layer::PidNamespace),
        ];
        let missing = wanted.into_iter().filter(|(present, _)| !present);
        missing.map(|(_, layer)| layer).collect()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(abi) = self.landlock {
            parts.push(format!("landlock({abi})"));
        }
        let flags = [
            (self.seccomp, Layer::Seccomp),
            (self.userns, Layer::UserNamespace),
            (self.pidns, Layer::PidNamespace),
            (self.netns, Layer::NetNamespace),
            (self.ipcns, Layer::IpcNamespace),
            (self.utsns, Layer::UtsNamespace),
            (self.mountns, Layer::MountNamespace),
        ];
        let present = flags.iter().filter(|(present, _)| *present);
        parts.extend(present.map(|(_, layer)| layer.name().to_owned()));
        if parts.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&parts.join("+"))
    }
}

/// What the launcher is told. Byte strings, because paths and arguments need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// `None`: enter the jail, report the layers and end.
    pub program: Option<Vec<u8>>,
    pub args: Vec<Vec<u8>>,
    /// The complete environment.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub read: Vec<Vec<u8>>,
    pub scratch: Vec<u8>,
    pub mode: Sandbox,
    pub withhold: Vec<Layer>,
    pub cpu_seconds: Option<u64>,
    pub file_size: u64,
    /// TCP on the loopback interface of a network namespace of its own; without one nothing is started.
    pub loopback: bool,
    /// The launcher's descriptor that becomes [`PROTOCOL_FD`].
    pub protocol: Option<i32>,
}

impl Spec {
    /// Whether a layer shall be tried.
    fn wants(&self, layer: Layer) -> bool {
        self.mode != Sandbox::Off && !self.withhold.contains(&layer)
    }

    /// What is missing of the layers without which this must not run.
    fn missing(&self, layers: &Layers) -> Vec<Layer> {
        match self.mode {
            Sandbox::Strict => layers.missing_for_strict(),
            // sockets are only as safe as the network they are in
            Sandbox::Default if self.loopback && !layers.netns => vec![Layer::NetNamespace],
            Sandbox::Default | Sandbox::Off => Vec::new(),
        }
    }
}

/// What the launcher tells back before the foreign program runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Note {
    /// Inside; the next step is `execve`.
    Entered(Layers),
    /// It must not run without these.
    Missing(Vec<Layer>),
    /// A step without which nothing may run failed.
    Failed { step: String, errno: i32 },
    /// `execve` failed.
    NotExecutable { errno: i32 },
}

/// No specification is larger; it bounds what a broken header can make the launcher allocate.
const MAX_SPEC_BYTES: usize = 64 << 20;

/// A length (little endian) and that many bytes.
pub(crate) fn write_block(to: &mut impl std::io::Write, bytes: &[u8]) -> std::io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(|_| std::io::ErrorKind::InvalidInput)?;
    to.write_all(&len.to_le_bytes())?;
    to.write_all(bytes)
}

/// The counterpart of [`write_block`].
pub(crate) fn read_block(from: &mut impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    from.read_exact(&mut header)?;
    let len = u32::from_le_bytes(header) as usize;
    if len > MAX_SPEC_BYTES {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Whether the other end of `stream` closed, waiting at most `limit_ms` for it.
pub(crate) fn hung_up(stream: &impl std::os::fd::AsRawFd, limit_ms: i32) -> std::io::Result<bool> {
    sys::poll_hang_up(stream.as_raw_fd(), limit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Layers {
        Layers {
            landlock: Some(7),
            seccomp: true,
            userns: true,
            pidns: true,
            netns: true,
            ipcns: true,
            utsns: true,
            mountns: true,
            no_new_privs: true,
            rlimits: true,
        }
    }

    #[test]
    fn layers_are_named_in_a_fixed_order() {
        assert_eq!(full().to_string(), "landlock(7)+seccomp+userns+pidns+netns+ipcns+utsns+mountns");
        assert_eq!(Layers::default().to_string(), "none");
    }

    #[test]
    fn strict_names_what_is_missing() {
        assert_eq!(full().missing_for_strict(), []);
        let no_files = Layers { landlock: None, ..full() };
        assert_eq!(no_files.missing_for_strict(), [Layer::Landlock]);
        let no_pids = Layers { pidns: false, ..full() };
        assert_eq!(no_pids.missing_for_strict(), [Layer::PidNamespace]);
        assert_eq!(Layers::default().missing_for_strict().len(), 4);
    }

    #[test]
    fn old_landlock_counts_only_with_a_read_only_mount() {
        let old = Layers { landlock: Some(1), mountns: false, ..full() };
        assert!(!old.isolates_files());
        let old_with_mounts = Layers { landlock: Some(1), ..full() };
        assert!(old_with_mounts.isolates_files());
    }

    #[test]
    fn blocks_survive_the_round_trip_and_lying_headers_are_refused() {
        let mut wire = Vec::new();
        write_block(&mut wire, b"abc").unwrap();
        assert_eq!(read_block(&mut wire.as_slice()).unwrap(), b"abc");
        assert!(read_block(&mut [0xff; 8].as_slice()).is_err());
        assert!(read_block(&mut [9, 0, 0, 0, 1].as_slice()).is_err());
    }
}
