//! Thin wrappers that turn system calls into `io::Result`. No policy here.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Converts the "-1 and errno" convention.
pub fn check<T: Into<i64> + Copy>(result: T) -> io::Result<T> {
    if result.into() < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// The number of the last error, for messages.
pub fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// A C string; an interior NUL is an invalid argument, never a truncation.
pub fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

pub enum Forked {
    Parent(libc::pid_t),
    Child,
}

/// Forks. Sound only in a single-threaded process, which the launcher is.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: the launcher never starts a thread, so the child may use the heap.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// Ends at once, without running destructors or `atexit` handlers of the forked image.
pub fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes any value and does not return.
    unsafe { libc::_exit(code) }
}

/// Our own descriptors start here, away from those that the program gets.
pub const FIRST_PRIVATE_FD: RawFd = 10;

/// A close-on-exec pipe: (reading end, writing end).
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for two descriptors.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: both descriptors are new and owned by nobody else.
    let [reading, writing] = fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    Ok((duplicate_above(&reading)?, duplicate_above(&writing)?))
}

/// A `prctl` whose arguments are plain numbers.
pub fn prctl(option: i32, value: libc::c_ulong) -> io::Result<i32> {
    let zero: libc::c_ulong = 0;
    // SAFETY: only options with scalar arguments are passed by this module's users.
    check(unsafe { libc::prctl(option, value, zero, zero, zero) })
}

/// Waits until one of `fds` is readable or hung up; without a limit for ever. Tells which.
pub fn poll<const N: usize>(fds: [Option<RawFd>; N], limit_ms: Option<i32>) -> io::Result<[bool; N]> {
    poll_for(libc::POLLIN, fds, limit_ms)
}

/// Waits until the other end of a stream is closed, whatever may still be read from it.
pub fn poll_hang_up(fd: RawFd, limit_ms: i32) -> io::Result<bool> {
    // A hang-up is reported even if no event is asked for.
    poll_for(0, [Some(fd)], Some(limit_ms)).map(|[hung_up]| hung_up)
}

fn poll_for<const N: usize>(events: libc::c_short, fds: [Option<RawFd>; N], limit_ms: Option<i32>) -> io::Result<[bool; N]> {
    let mut set = fds.map(|fd| libc::pollfd {
        // A negative descriptor is ignored by the kernel.
        fd: fd.unwrap_or(-1),
        events,
        revents: 0,
    });
    // SAFETY: `set` is valid for N entries during the call.
    let ready = check(unsafe { libc::poll(set.as_mut_ptr(), N as libc::nfds_t, limit_ms.unwrap_or(-1)) });
    match ready {
        Ok(_) => Ok(set.map(|entry| entry.revents != 0)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok([false; N]),
        Err(error) => Err(error),
    }
}

/// Waits for a child; `None` when there is none left, or (with `WNOHANG`) none has ended.
pub fn wait(pid: libc::pid_t, flags: i32) -> Option<(libc::pid_t, i32)> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place for the result.
        let ended = unsafe { libc::waitpid(pid, &mut status, flags) };
        if ended > 0 {
            return Some((ended, status));
        }
        if ended == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// Opens a path only to name it.
pub fn open_path(path: &CStr) -> io::Result<OwnedFd> {
    open(path, libc::O_PATH)
}

pub fn open(path: &CStr, flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: `path` is NUL-terminated; the result is a new descriptor.
    let fd = check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) })?;
    // SAFETY: just opened, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes `target` a copy of `fd` that survives `execve`.
pub fn duplicate_onto(fd: &impl AsRawFd, target: RawFd) -> io::Result<()> {
    let fd = fd.as_raw_fd();
    if fd == target {
        // SAFETY: clears close-on-exec of a descriptor we own.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })?;
        return Ok(());
    }
    // SAFETY: `target` is one of the launcher's fixed descriptors.
    check(unsafe { libc::dup2(fd, target) })?;
    Ok(())
}

/// A close-on-exec copy among our own descriptors.
pub fn duplicate_above(fd: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC makes a new descriptor.
    let copy = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD) })?;
    // SAFETY: just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Sends a signal; failing because the process is gone is fine.
pub fn signal(pid: libc::pid_t, signal: i32) {
    // SAFETY: `kill` takes any numbers.
    unsafe { libc::kill(pid, signal) };
}
