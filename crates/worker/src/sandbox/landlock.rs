//! Landlock: which files may be read, and that only scratch may be written.
//!
//! Every right that the running kernel can govern is governed, so whatever is not granted below is refused.
//! Raw system calls: three of them, and the mapping from ABI to rights is clearer here than behind a crate.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::Spec;
use super::sys::{c_string, check, open_path};

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// Connecting to a socket that has a path; newer than the numbered ABIs below, so it is probed.
const RESOLVE_UNIX: u64 = 1 << 16;

/// Rights that make sense on something that is no directory.
const ON_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/// Bind and connect over TCP.
const NET_TCP: u64 = 0b11;
/// What later kernels add (UDP); probed.
const NET_LATER: u64 = 0b1111;
/// Abstract sockets and signals.
const SCOPES: u64 = 0b11;

const CREATE_RULESET_VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;

/// What every program needs to start: loader, libraries, configuration, processor and cgroup facts.
const READABLE: [&CStr; 13] = [
    c"/usr",
    c"/lib",
    c"/lib32",
    c"/lib64",
    c"/libx32",
    c"/bin",
    c"/sbin",
    c"/etc",
    c"/proc",
    c"/sys/fs/cgroup",
    c"/sys/devices/system/cpu",
    c"/sys/devices/system/node",
    c"/sys/kernel/mm/transparent_hugepage",
];

const READABLE_DEVICES: [&CStr; 4] = [c"/dev/zero", c"/dev/random", c"/dev/urandom", c"/dev/full"];

/// The rights that a ruleset governs; the kernel's own layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handled {
    files: u64,
    net: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// The ABI of the running kernel, if it has Landlock and has it switched on.
pub fn abi() -> Option<u32> {
    // SAFETY: the version query takes no attribute.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<Handled>(), 0usize, CREATE_RULESET_VERSION) };
    u32::try_from(version).ok().filter(|abi| *abi > 0)
}

/// Confines this process (and all it starts) to the paths of `spec`. Needs `no_new_privs`.
pub fn restrict(spec: &Spec, abi: u32) -> io::Result<()> {
    let mut handled = widest(handled_at(abi));
    if spec.loopback {
        handled.net &= !NET_TCP;
    }
    let ruleset = create(&handled)?;
    let reading = EXECUTE | READ_FILE | READ_DIR;
    for path in READABLE {
        allow(&ruleset, path, reading)?;
    }
    for path in READABLE_DEVICES {
        allow(&ruleset, path, READ_FILE)?;
    }
    for path in &spec.read {
        allow(&ruleset, &c_string(path)?, reading)?;
    }
    let writing = handled.files & (READ_FILE | WRITE_FILE | TRUNCATE);
    allow(&ruleset, c"/dev/null", writing)?;
    let scratch = handled.files & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
    allow(&ruleset, &c_string(&spec.scratch)?, scratch)?;
    // SAFETY: a ruleset descriptor and no flags.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) })?;
    Ok(())
}

/// What the numbered ABI can govern.
fn handled_at(abi: u32) -> Handled {
    let base = REFER - 1;
    let since = |first: u32, rights: u64| if abi >= first { rights } else { 0 };
    Handled { files: base | since(2, REFER) | since(3, TRUNCATE) | since(5, IOCTL_DEV), net: since(4, NET_TCP), scopes: since(6, SCOPES) }
}

/// Adds the rights of newer kernels whose ABI number is not known here; the kernel refuses bits that it lacks.
fn widest(known: Handled) -> Handled {
    let mut handled = known;
    if known.net != 0 {
        let wider = Handled { net: NET_LATER, ..handled };
        handled = if create(&wider).is_ok() { wider } else { handled };
    }
    let wider = Handled { files: handled.files | RESOLVE_UNIX, ..handled };
    if create(&wider).is_ok() { wider } else { handled }
}

fn create(handled: &Handled) -> io::Result<OwnedFd> {
    // Older kernels know a shorter structure and accept a longer one whose rest is zero.
    // SAFETY: pointer and size describe one valid structure.
    let fd = check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::from_ref(handled), size_of::<Handled>(), 0u32) })?;
    let fd = i32::try_from(fd).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: a new descriptor owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Grants `rights` beneath `path`; a path that does not exist grants nothing.
fn allow(ruleset: &OwnedFd, path: &CStr, rights: u64) -> io::Result<()> {
    let Ok(parent) = open_path(path) else {
        return Ok(());
    };
    let rights = if is_directory(&parent)? { rights } else { rights & ON_FILES };
    let rule = PathBeneath { allowed: rights, parent: parent.as_raw_fd() };
    // SAFETY: the rule lives through the call and has the kernel's packed layout.
    check(unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), RULE_PATH_BENEATH, std::ptr::from_ref(&rule), 0u32) })?;
    Ok(())
}

fn is_directory(fd: &OwnedFd) -> io::Result<bool> {
    // SAFETY: an all-zero `stat` is a valid value to be overwritten.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a valid descriptor and a valid place.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) })?;
    Ok(stat.st_mode & libc::S_IFMT == libc::S_IFDIR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_abi_governs_at_least_what_the_one_before_did() {
        for abi in 1..9 {
            let (older, newer) = (handled_at(abi), handled_at(abi + 1));
            assert_eq!(newer.files & older.files, older.files, "ABI {abi}");
            assert_eq!(newer.net & older.net, older.net, "ABI {abi}");
            assert_eq!(newer.scopes & older.scopes, older.scopes, "ABI {abi}");
        }
        assert_eq!(handled_at(1).files, 0x1fff);
        assert_eq!(handled_at(2).files, 0x3fff);
        assert_eq!(handled_at(3).files, 0x7fff);
        assert_eq!((handled_at(3).net, handled_at(4).net), (0, 3));
        assert_eq!(handled_at(5).files, 0xffff);
        assert_eq!((handled_at(5).scopes, handled_at(6).scopes), (0, 3));
    }

    #[test]
    fn the_rule_has_the_layout_of_the_kernel() {
        assert_eq!(size_of::<PathBeneath>(), 12);
        assert_eq!(size_of::<Handled>(), 24);
    }
}
