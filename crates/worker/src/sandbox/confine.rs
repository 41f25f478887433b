//! The last steps before the foreign program: what a process is born with is taken away, then the limits, Landlock
//! and the system call filter are put in force. The order matters and is explained at each step.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;

use super::sys::{c_string, check, prctl};
use super::{Layer, Layers, PROTOCOL_FD, Sandbox, Spec, landlock, seccomp};

/// Open files; enough for large class paths, far from what exhausts a machine.
const OPEN_FILES: u64 = 4096;
/// Processes and threads in strict mode. Counted per user, hence not set by default.
const STRICT_PROCESSES: u64 = 1024;

/// A step that failed, for the report.
pub type Step<T> = Result<T, (&'static str, io::Error)>;

fn step<T>(name: &'static str, result: io::Result<T>) -> Step<T> {
    result.map_err(|error| (name, error))
}

/// Confines this process. Afterwards only `execve` and exiting make sense.
pub fn confine(spec: &Spec, layers: &mut Layers) -> Step<()> {
    reset_signals();
    prefer_as_victim();
    step("change to scratch", change_directory(&spec.scratch))?;
    step("close descriptors", close_on_exec_from(first_closed(spec)))?;
    step("set limits", set_limits(spec))?;
    layers.rlimits = true;
    if spec.mode == Sandbox::Off {
        return Ok(());
    }
    step("drop capabilities", drop_capabilities())?;
    step("forbid new privileges", prctl(libc::PR_SET_NO_NEW_PRIVS, 1))?;
    layers.no_new_privs = true;
    if let Some(abi) = landlock::abi().filter(|_| spec.wants(Layer::Landlock)) {
        step("apply Landlock", landlock::restrict(spec, abi))?;
        layers.landlock = Some(abi);
    }
    // Last, because it forbids much of the above.
    if spec.wants(Layer::Seccomp) {
        layers.seccomp = seccomp::apply(gaps(spec, layers), std::process::id()).is_ok();
    }
    Ok(())
}

fn gaps(spec: &Spec, layers: &Layers) -> seccomp::Gaps {
    seccomp::Gaps { file_attributes: !layers.mountns, signals: !layers.isolates_signals(), network: !(spec.loopback && layers.netns) }
}

fn first_closed(spec: &Spec) -> RawFd {
    PROTOCOL_FD + i32::from(spec.protocol.is_some())
}

/// Ignored signals and the signal mask outlive `execve`; the program shall start with the defaults.
fn reset_signals() {
    for number in 1..=64 {
        // SAFETY: restoring a default is sound; numbers that cannot be changed are refused harmlessly.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
    // SAFETY: an empty mask is built in place and installed.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

/// If memory runs out, the foreign program shall die rather than its supervisor.
fn prefer_as_victim() {
    // Advisory: without it the kernel chooses by size alone.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
}

fn change_directory(path: &[u8]) -> io::Result<()> {
    let path = c_string(path)?;
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::chdir(path.as_ptr()) })?;
    // SAFETY: `umask` cannot fail.
    unsafe { libc::umask(0o077) };
    Ok(())
}

const CLOSE_RANGE_CLOEXEC: u32 = 4;

/// Marks rather than closes: the report pipe must stay open until `execve` succeeds.
fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // SAFETY: only changes flags of descriptors.
    let marked = unsafe { libc::syscall(libc::SYS_close_range, first as u32, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if marked == 0 {
        return Ok(());
    }
    // Kernels before 5.11.
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_string_lossy().parse::<RawFd>();
        if let Ok(fd) = number.map_err(|_| ())
            && fd >= first
        {
            // SAFETY: only changes a flag; a descriptor closed meanwhile is refused harmlessly.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

fn set_limits(spec: &Spec) -> io::Result<()> {
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_FSIZE, spec.file_size)?;
    limit(libc::RLIMIT_NOFILE, OPEN_FILES)?;
    if let Some(seconds) = spec.cpu_seconds {
        limit(libc::RLIMIT_CPU, seconds)?;
    }
    if spec.mode == Sandbox::Strict {
        limit(libc::RLIMIT_NPROC, STRICT_PROCESSES)?;
    }
    Ok(())
}

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// Lowers a limit; one that is already lower stays.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid place for the answer.
    check(unsafe { libc::getrlimit(resource, &mut now) })?;
    let most = most.min(now.rlim_max);
    let new = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: a valid value.
    check(unsafe { libc::setrlimit(resource, &new) })?;
    Ok(())
}

const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
/// `SECBIT_NOROOT` and the lock that keeps it: user 0 has no special powers.
const SECURE_NO_ROOT_LOCKED: libc::c_ulong = 0b11;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

/// Gives up every capability for good, inside the user namespace or (started by root without one) outside.
fn drop_capabilities() -> io::Result<()> {
    // These two need capabilities that an ordinary user without a namespace lacks; he has nothing to drop either.
    for capability in 0..64 {
        if prctl(libc::PR_CAPBSET_DROP, capability).is_err() {
            break;
        }
    }
    let _ = prctl(libc::PR_SET_SECUREBITS, SECURE_NO_ROOT_LOCKED);
    let header = CapabilityHeader { version: CAPABILITY_VERSION_3, pid: 0 };
    let none = [0u32; 6];
    // SAFETY: version 3 reads two triples of 32-bit sets.
    check(unsafe { libc::syscall(libc::SYS_capset, std::ptr::from_ref(&header), none.as_ptr()) })?;
    Ok(())
}

/// Becomes the program; returns only the reason why not.
pub fn execute(spec: &Spec, program: &[u8]) -> io::Error {
    match try_execute(spec, program) {
        Ok(()) => io::Error::last_os_error(),
        Err(error) => error,
    }
}

fn try_execute(spec: &Spec, program: &[u8]) -> io::Result<()> {
    let path = c_string(program)?;
    let args = spec.args.iter().map(|arg| c_string(arg));
    let args: Vec<CString> = std::iter::once(c_string(program)).chain(args).collect::<Result<_, _>>()?;
    let variable = |(name, value): &(Vec<u8>, Vec<u8>)| c_string(&[name, b"=".as_slice(), value].concat());
    let env: Vec<CString> = spec.env.iter().map(variable).collect::<Result<_, _>>()?;
    let (args, env) = (pointers(&args), pointers(&env));
    // SAFETY: both arrays are NULL-terminated and their strings are alive.
    unsafe { libc::execve(path.as_ptr(), args.as_ptr(), env.as_ptr()) };
    Ok(())
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    let pointers = strings.iter().map(|text| text.as_ptr());
    pointers.chain(std::iter::once(std::ptr::null())).collect()
}
