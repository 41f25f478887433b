//! Namespaces: a private view of users, processes, network, IPC, host name and mounts.
//!
//! Each is tried by itself, because distributions refuse them one by one. Nothing here is fatal: what was not
//! granted is simply not reported in [`Layers`].

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::sys::{Forked, c_string, check, exit, fork, wait};
use super::{Layer, Layers, Spec};

/// The user that root is shown as inside: nobody. The kernel identity stays that of the caller, without which the
/// class path might be unreadable, but a process that is not user 0 gains no capabilities by `execve`.
const ROOT_APPEARS_AS: u32 = 65534;

/// Files that only root can read, hidden because the kernel identity of a jail started by root is still root's.
const SECRETS: [&CStr; 4] = [c"/etc/shadow", c"/etc/shadow-", c"/etc/gshadow", c"/etc/gshadow-"];

/// Leaves the namespaces of the caller as far as possible. The process namespace takes effect at the next fork.
pub fn unshare_all(spec: &Spec, layers: &mut Layers) {
    // SAFETY: an empty group list. Only root may do this, and only before the user namespace is entered.
    let _ = unsafe { libc::setgroups(0, std::ptr::null()) };
    layers.userns = spec.wants(Layer::UserNamespace) && user_namespaces_work() && enter_user_namespace().is_ok();
    let unshared = |layer: Layer, flag: i32| spec.wants(layer) && unshare(flag).is_ok();
    layers.pidns = unshared(Layer::PidNamespace, libc::CLONE_NEWPID);
    layers.netns = unshared(Layer::NetNamespace, libc::CLONE_NEWNET) && (!spec.loopback || raise_loopback().is_ok());
    layers.ipcns = unshared(Layer::IpcNamespace, libc::CLONE_NEWIPC);
    layers.utsns = unshared(Layer::UtsNamespace, libc::CLONE_NEWUTS);
    layers.mountns = unshared(Layer::MountNamespace, libc::CLONE_NEWNS);
    if layers.utsns {
        set_host_name(b"localhost");
    }
}

fn unshare(flag: i32) -> io::Result<()> {
    // SAFETY: `unshare` takes any flags.
    check(unsafe { libc::unshare(flag) })?;
    Ok(())
}

/// Some systems let a namespace be made but not its users be mapped, and there is no way back out of it: tried in a
/// child first.
fn user_namespaces_work() -> bool {
    match fork() {
        Ok(Forked::Child) => exit(i32::from(enter_user_namespace().is_err())),
        Ok(Forked::Parent(child)) => wait(child, 0) == Some((child, 0)),
        Err(_) => false,
    }
}

fn enter_user_namespace() -> io::Result<()> {
    // SAFETY: these calls cannot fail.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER)?;
    let inside = |id: u32| if id == 0 { ROOT_APPEARS_AS } else { id };
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{} {uid} 1", inside(uid)))?;
    std::fs::write("/proc/self/gid_map", format!("{} {gid} 1", inside(gid)))
}

/// Switches on the loopback interface of a new network namespace, which is its only one.
fn raise_loopback() -> io::Result<()> {
    // SAFETY: plain values.
    let fd = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: a new descriptor owned by nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: a structure of plain values, for which zero is one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the request has the kernel's layout and outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, std::ptr::from_ref(&request)) })?;
    Ok(())
}

/// The same name everywhere: what a test sees must not depend on the machine.
fn set_host_name(name: &[u8]) {
    // SAFETY: pointer and length describe `name`. Failure leaves the old name, which is harmless.
    unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) };
}

/// Arranges the mounts: a `/proc` of our own if there is a process namespace, and everything but scratch
/// read-only. Returns whether the read-only part holds.
pub fn arrange_mounts(scratch: &[u8], own_proc: bool) -> io::Result<()> {
    let scratch = c_string(scratch)?;
    mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)?;
    if own_proc {
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        // Refused where parts of /proc are masked, as in containers; then the outer /proc stays.
        let _ = mount(Some(c"proc"), c"/proc", Some(c"proc"), flags);
    }
    for path in SECRETS {
        // Most systems lack some of them.
        let _ = mount(Some(c"/dev/null"), path, None, libc::MS_BIND);
    }
    mount(Some(&scratch), &scratch, None, libc::MS_BIND | libc::MS_REC)?;
    set_attributes(c"/", libc::AT_RECURSIVE as u32, MOUNT_ATTR_RDONLY, 0)?;
    set_attributes(&scratch, 0, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY)
}

fn mount(source: Option<&CStr>, target: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: all strings are NUL-terminated or absent; there is no data.
    check(unsafe { libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, std::ptr::null()) })?;
    Ok(())
}

const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const SYS_MOUNT_SETATTR: libc::c_long = 442;

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn set_attributes(path: &CStr, flags: u32, set: u64, clear: u64) -> io::Result<()> {
    let attributes = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: the structure has the kernel's layout and outlives the call.
    check(unsafe { libc::syscall(SYS_MOUNT_SETATTR, libc::AT_FDCWD, path.as_ptr(), flags, std::ptr::from_ref(&attributes), size_of::<MountAttributes>()) })?;
    Ok(())
}
