//! The system call filter: a deny list compiled to classic BPF.
//!
//! A deny list because the JVM and CPython of any version must run; it closes what the other layers leave open
//! (sockets, ownership and mode of files, tracing, new namespaces, kernel interfaces with a bad record).
//! Calls are refused with an error number, never by killing, so that a test sees an ordinary failure.

use std::io;

use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W};
use libc::{c_long, sock_filter};

use super::sys::check;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Set in the number of calls made through the x32 interface, which would slip past the numbers below.
#[cfg(target_arch = "x86_64")]
const X32_BIT: u32 = 0x4000_0000;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

const EPERM: u16 = libc::EPERM as u16;
const EACCES: u16 = libc::EACCES as u16;
const ENOSYS: u16 = libc::ENOSYS as u16;

/// What the rest of the jail does not already prevent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// Files outside scratch are on writable mounts: Landlock does not govern mode, owner, times and attributes.
    pub file_attributes: bool,
    /// Processes outside can be signalled.
    pub signals: bool,
    /// No socket may be made; else TCP, in a network that has nothing but its loopback.
    pub network: bool,
}

/// A test of one argument. Only the low 32 bits are looked at: all tested arguments are ints or flag words.
#[derive(Clone, Copy)]
enum Test {
    Always,
    Differs { arg: u32, from: u32 },
    MaskedIs { arg: u32, mask: u32, value: u32 },
    AnyBit { arg: u32, mask: u32 },
}

#[derive(Clone, Copy)]
struct Rule {
    number: c_long,
    test: Test,
    errno: u16,
}

const fn deny(number: c_long, errno: u16) -> Rule {
    deny_if(number, Test::Always, errno)
}

const fn deny_if(number: c_long, test: Test, errno: u16) -> Rule {
    Rule { number, test, errno }
}

// Numbers that are the same on every architecture and too new for some C libraries.
const SYS_OPEN_TREE: c_long = 428;
const SYS_PIDFD_SEND_SIGNAL: c_long = 424;
const SYS_MOUNT_SETATTR: c_long = 442;
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;

const NEW_NAMESPACES: u32 =
    (libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC | libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET)
        as u32;

const SET_ID_BITS: u32 = libc::S_ISUID | libc::S_ISGID;
const TYPE_MASK: u32 = 0xf;
const PERSONALITY_QUERY: u32 = u32::MAX;
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541C;
const FS_IOC_SETFLAGS: u32 = 0x4008_6602;
const FS_IOC_FSSETXATTR: u32 = 0x401C_5820;

/// Refused whatever else is in force.
const ALWAYS: &[Rule] = &[
    deny_if(libc::SYS_socketpair, Test::Differs { arg: 0, from: libc::AF_UNIX as u32 }, EACCES),
    // A datagram pair can be re-addressed; AF_UNIX turns SOCK_RAW into datagrams.
    deny_if(libc::SYS_socketpair, masked(1, TYPE_MASK, libc::SOCK_DGRAM as u32), EACCES),
    deny_if(libc::SYS_socketpair, masked(1, TYPE_MASK, libc::SOCK_RAW as u32), EACCES),
    // Other processes.
    deny(libc::SYS_ptrace, EPERM),
    deny(libc::SYS_process_vm_readv, EPERM),
    deny(libc::SYS_process_vm_writev, EPERM),
    deny(libc::SYS_process_madvise, EPERM),
    deny(libc::SYS_pidfd_getfd, EPERM),
    deny(libc::SYS_kcmp, EPERM),
    deny_if(libc::SYS_prlimit64, Test::Differs { arg: 0, from: 0 }, EPERM),
    // Namespaces and mounts. The flags of clone3 lie in memory, where a filter cannot look: "not implemented"
    // makes C libraries fall back to clone.
    deny(libc::SYS_clone3, ENOSYS),
    deny_if(libc::SYS_clone, Test::AnyBit { arg: 0, mask: NEW_NAMESPACES }, EPERM),
    deny(libc::SYS_unshare, EPERM),
    deny(libc::SYS_setns, EPERM),
    deny(libc::SYS_mount, EPERM),
    deny(libc::SYS_umount2, EPERM),
    deny(libc::SYS_pivot_root, EPERM),
    deny(libc::SYS_chroot, EPERM),
    deny(SYS_OPEN_TREE, EPERM),
    deny(SYS_OPEN_TREE_ATTR, EPERM),
    deny(libc::SYS_move_mount, EPERM),
    deny(libc::SYS_fsopen, EPERM),
    deny(libc::SYS_fsconfig, EPERM),
    deny(libc::SYS_fsmount, EPERM),
    deny(libc::SYS_fspick, EPERM),
    deny(SYS_MOUNT_SETATTR, EPERM),
    deny(libc::SYS_name_to_handle_at, EPERM),
    deny(libc::SYS_open_by_handle_at, EPERM),
    // Kernel interfaces that no tested program needs.
    deny(libc::SYS_bpf, EPERM),
    deny(libc::SYS_io_uring_setup, ENOSYS),
    deny(libc::SYS_io_uring_enter, ENOSYS),
    deny(libc::SYS_io_uring_register, ENOSYS),
    deny(libc::SYS_keyctl, EPERM),
    deny(libc::SYS_add_key, EPERM),
    deny(libc::SYS_request_key, EPERM),
    deny(libc::SYS_perf_event_open, EPERM),
    deny(libc::SYS_userfaultfd, EPERM),
    deny(libc::SYS_fanotify_init, EPERM),
    deny(libc::SYS_kexec_load, EPERM),
    deny(libc::SYS_kexec_file_load, EPERM),
    deny(libc::SYS_reboot, EPERM),
    deny(libc::SYS_swapon, EPERM),
    deny(libc::SYS_swapoff, EPERM),
    deny(libc::SYS_init_module, EPERM),
    deny(libc::SYS_finit_module, EPERM),
    deny(libc::SYS_delete_module, EPERM),
    deny(libc::SYS_acct, EPERM),
    deny(libc::SYS_quotactl, EPERM),
    deny(libc::SYS_syslog, EPERM),
    deny(libc::SYS_settimeofday, EPERM),
    deny(libc::SYS_clock_settime, EPERM),
    deny(libc::SYS_sethostname, EPERM),
    deny(libc::SYS_setdomainname, EPERM),
    deny_if(libc::SYS_personality, Test::Differs { arg: 0, from: PERSONALITY_QUERY }, EPERM),
    // Typing into a terminal that we were started from.
    deny_if(libc::SYS_ioctl, masked(1, u32::MAX, TIOCSTI), EPERM),
    deny_if(libc::SYS_ioctl, masked(1, u32::MAX, TIOCLINUX), EPERM),
    // No set-user-id file of ours may come to lie in scratch. openat2 hides its mode in memory.
    deny(libc::SYS_openat2, ENOSYS),
    deny_if(libc::SYS_openat, Test::AnyBit { arg: 3, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_mknodat, Test::AnyBit { arg: 2, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_fchmod, Test::AnyBit { arg: 1, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_fchmodat, Test::AnyBit { arg: 2, mask: SET_ID_BITS }, EPERM),
    deny_if(SYS_FCHMODAT2, Test::AnyBit { arg: 2, mask: SET_ID_BITS }, EPERM),
];

/// No sockets of any family. Not `AF_UNIX` either: a path such as a container daemon's socket would lead out of
/// the jail, and neither Landlock (before its newest ABI) nor a read-only mount stops `connect`.
const NETWORK: &[Rule] = &[deny(libc::SYS_socket, EACCES)];

/// Streams over IPv4 alone.
const TCP_ALONE: &[Rule] = &[
    deny_if(libc::SYS_socket, Test::Differs { arg: 0, from: libc::AF_INET as u32 }, EACCES),
    deny_if(libc::SYS_socket, masked(1, TYPE_MASK, libc::SOCK_DGRAM as u32), EACCES),
    deny_if(libc::SYS_socket, masked(1, TYPE_MASK, libc::SOCK_RAW as u32), EACCES),
];

#[cfg(target_arch = "x86_64")]
const ALWAYS_OLD: &[Rule] = &[
    deny_if(libc::SYS_open, Test::AnyBit { arg: 2, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_creat, Test::AnyBit { arg: 1, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_mknod, Test::AnyBit { arg: 1, mask: SET_ID_BITS }, EPERM),
    deny_if(libc::SYS_chmod, Test::AnyBit { arg: 1, mask: SET_ID_BITS }, EPERM),
    deny(libc::SYS_iopl, EPERM),
    deny(libc::SYS_ioperm, EPERM),
    deny(libc::SYS_uselib, EPERM),
];
#[cfg(not(target_arch = "x86_64"))]
const ALWAYS_OLD: &[Rule] = &[];

/// Mode, owner, times and attributes of files.
const FILE_ATTRIBUTES: &[Rule] = &[
    deny(libc::SYS_fchmod, EPERM),
    deny(libc::SYS_fchmodat, EPERM),
    deny(SYS_FCHMODAT2, EPERM),
    deny(libc::SYS_fchown, EPERM),
    deny(libc::SYS_fchownat, EPERM),
    deny(libc::SYS_utimensat, EPERM),
    deny(libc::SYS_setxattr, EPERM),
    deny(libc::SYS_lsetxattr, EPERM),
    deny(libc::SYS_fsetxattr, EPERM),
    deny(libc::SYS_removexattr, EPERM),
    deny(libc::SYS_lremovexattr, EPERM),
    deny(libc::SYS_fremovexattr, EPERM),
    deny(SYS_SETXATTRAT, EPERM),
    deny(SYS_REMOVEXATTRAT, EPERM),
    deny(SYS_FILE_SETATTR, EPERM),
    deny_if(libc::SYS_ioctl, masked(1, u32::MAX, FS_IOC_SETFLAGS), EPERM),
    deny_if(libc::SYS_ioctl, masked(1, u32::MAX, FS_IOC_FSSETXATTR), EPERM),
];

#[cfg(target_arch = "x86_64")]
const FILE_ATTRIBUTES_OLD: &[Rule] = &[
    deny(libc::SYS_chmod, EPERM),
    deny(libc::SYS_chown, EPERM),
    deny(libc::SYS_lchown, EPERM),
    deny(libc::SYS_utime, EPERM),
    deny(libc::SYS_utimes, EPERM),
    deny(libc::SYS_futimesat, EPERM),
];
#[cfg(not(target_arch = "x86_64"))]
const FILE_ATTRIBUTES_OLD: &[Rule] = &[];

/// Signals to processes (threads of one's own process are reached by `tgkill`, which C libraries need).
const SIGNALS: &[Rule] =
    &[deny(libc::SYS_kill, EPERM), deny(libc::SYS_tkill, EPERM), deny(libc::SYS_rt_sigqueueinfo, EPERM), deny(SYS_PIDFD_SEND_SIGNAL, EPERM)];

const fn masked(arg: u32, mask: u32, value: u32) -> Test {
    Test::MaskedIs { arg, mask, value }
}

/// Puts the filter in force for this process and all it starts. Needs `no_new_privs`.
pub fn apply(gaps: Gaps, own_pid: u32) -> io::Result<()> {
    let mut code = compile(gaps, own_pid);
    let program = libc::sock_fprog { len: u16::try_from(code.len()).map_err(|_| io::ErrorKind::InvalidInput)?, filter: code.as_mut_ptr() };
    // SAFETY: the program outlives the call, which copies it.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0u32, std::ptr::from_ref(&program)) })?;
    Ok(())
}

fn compile(gaps: Gaps, own_pid: u32) -> Vec<sock_filter> {
    let mut code = vec![load(ARCH), jump(BPF_JEQ, ARCHITECTURE, 1, 0), ret(libc::SECCOMP_RET_KILL_PROCESS), load(NUMBER)];
    #[cfg(target_arch = "x86_64")]
    code.extend([jump(BPF_JSET, X32_BIT, 0, 1), refuse(ENOSYS)]);
    let mut sets = vec![ALWAYS, ALWAYS_OLD, if gaps.network { NETWORK } else { TCP_ALONE }];
    if gaps.file_attributes {
        sets.extend([FILE_ATTRIBUTES, FILE_ATTRIBUTES_OLD]);
    }
    // A child of the jailed program may no longer signal itself by number; that is the price of this fallback.
    let foreign_thread = [deny_if(libc::SYS_tgkill, Test::Differs { arg: 0, from: own_pid }, EPERM)];
    if gaps.signals {
        sets.extend([SIGNALS, &foreign_thread]);
    }
    for rule in sets.concat() {
        emit(&mut code, rule);
    }
    code.push(ret(libc::SECCOMP_RET_ALLOW));
    code
}

/// One rule: straight-line code that either refuses or falls through with the number loaded.
fn emit(code: &mut Vec<sock_filter>, rule: Rule) {
    let number = rule.number as u32;
    let (arg, masked, check) = match rule.test {
        Test::Always => {
            code.extend([jump(BPF_JEQ, number, 0, 1), refuse(rule.errno)]);
            return;
        }
        Test::Differs { arg, from } => (arg, u32::MAX, jump(BPF_JEQ, from, 1, 0)),
        Test::MaskedIs { arg, mask, value } => (arg, mask, jump(BPF_JEQ, value, 0, 1)),
        Test::AnyBit { arg, mask } => (arg, mask, jump(BPF_JSET, mask, 0, 1)),
    };
    code.extend([jump(BPF_JEQ, number, 0, 5), load(ARGUMENTS + 8 * arg), and(masked), check, refuse(rule.errno), load(NUMBER)]);
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

fn and(mask: u32) -> sock_filter {
    instruction(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0)
}

fn jump(condition: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    instruction(BPF_JMP | condition | BPF_K, value, if_true, if_false)
}

fn refuse(errno: u16) -> sock_filter {
    ret(libc::SECCOMP_RET_ERRNO | u32::from(errno))
}

fn ret(value: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, value, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Gaps = Gaps { file_attributes: true, signals: true, network: true };
    const LOOSE: Gaps = Gaps { file_attributes: false, signals: false, network: true };
    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

    /// Runs the filter as the kernel would.
    fn verdict(gaps: Gaps, arch: u32, number: u32, args: [u32; 6]) -> u32 {
        let code = compile(gaps, 77);
        let read = |offset: u32| match offset {
            NUMBER => number,
            ARCH => arch,
            _ => args[((offset - ARGUMENTS) / 8) as usize],
        };
        let (mut at, mut a) = (0, 0);
        loop {
            let step = code[at];
            at += 1;
            let branch = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            match u32::from(step.code) {
                c if c == BPF_LD | BPF_W | BPF_ABS => a = read(step.k),
                c if c == BPF_ALU | BPF_AND | BPF_K => a &= step.k,
                c if c == BPF_JMP | BPF_JEQ | BPF_K => at += branch(a == step.k),
                c if c == BPF_JMP | BPF_JSET | BPF_K => at += branch(a & step.k != 0),
                c if c == BPF_RET | BPF_K => return step.k,
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    fn call(gaps: Gaps, number: c_long, args: [u32; 6]) -> u32 {
        verdict(gaps, ARCHITECTURE, number as u32, args)
    }

    fn refused(errno: u16) -> u32 {
        libc::SECCOMP_RET_ERRNO | u32::from(errno)
    }

    #[test]
    fn ordinary_calls_pass() {
        for number in [libc::SYS_read, libc::SYS_openat, libc::SYS_mmap, libc::SYS_futex, libc::SYS_execve, libc::SYS_clone, libc::SYS_exit_group] {
            assert_eq!(call(TIGHT, number, [0; 6]), ALLOWED, "call {number}");
        }
    }

    #[test]
    fn no_socket_but_a_connected_stream_pair() {
        for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
            let args = [family as u32, 1, 0, 0, 0, 0];
            assert_eq!(call(LOOSE, libc::SYS_socket, args), refused(EACCES));
        }
        let cloexec = libc::SOCK_CLOEXEC as u32;
        let pair = |kind: i32| [1, kind as u32 | cloexec, 0, 0, 0, 0];
        let socketpair = |args| call(LOOSE, libc::SYS_socketpair, args);
        assert_eq!(socketpair(pair(libc::SOCK_STREAM)), ALLOWED);
        assert_eq!(socketpair(pair(libc::SOCK_DGRAM)), refused(EACCES));
        assert_eq!(socketpair(pair(libc::SOCK_RAW)), refused(EACCES));
        assert_eq!(socketpair([30, 1, 0, 0, 0, 0]), refused(EACCES));
    }

    #[test]
    fn with_a_loopback_of_its_own_there_is_tcp_and_nothing_else() {
        let inside = Gaps { network: false, ..LOOSE };
        let socket = |family: i32, kind: i32| call(inside, libc::SYS_socket, [family as u32, (kind | libc::SOCK_CLOEXEC) as u32, 0, 0, 0, 0]);
        assert_eq!(socket(libc::AF_INET, libc::SOCK_STREAM), ALLOWED);
        assert_eq!(socket(libc::AF_INET, libc::SOCK_DGRAM), refused(EACCES));
        assert_eq!(socket(libc::AF_INET, libc::SOCK_RAW), refused(EACCES));
        for family in [libc::AF_UNIX, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET] {
            assert_eq!(socket(family, libc::SOCK_STREAM), refused(EACCES));
        }
    }

    #[test]
    fn new_namespaces_are_refused_and_threads_are_not() {
        let clone = |flags: i32| call(LOOSE, libc::SYS_clone, [flags as u32, 0, 0, 0, 0, 0]);
        assert_eq!(clone(libc::CLONE_VM | libc::CLONE_THREAD), ALLOWED);
        assert_eq!(clone(libc::CLONE_NEWUSER), refused(EPERM));
        assert_eq!(clone(libc::CLONE_NEWNET | libc::CLONE_VM), refused(EPERM));
        assert_eq!(call(LOOSE, libc::SYS_clone3, [0; 6]), refused(ENOSYS));
    }

    #[test]
    fn set_id_bits_are_refused_even_where_modes_may_change() {
        let chmod = |gaps, mode| call(gaps, libc::SYS_fchmod, [5, mode, 0, 0, 0, 0]);
        assert_eq!(chmod(LOOSE, 0o755), ALLOWED);
        assert_eq!(chmod(LOOSE, 0o4755), refused(EPERM));
        assert_eq!(chmod(TIGHT, 0o755), refused(EPERM));
        let create = [0, 0, libc::O_CREAT as u32, 0o6755, 0, 0];
        assert_eq!(call(LOOSE, libc::SYS_openat, create), refused(EPERM));
    }

    #[test]
    fn signals_are_left_alone_unless_nothing_else_holds_them() {
        assert_eq!(call(LOOSE, libc::SYS_kill, [1, 9, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(call(TIGHT, libc::SYS_kill, [1, 9, 0, 0, 0, 0]), refused(EPERM));
        assert_eq!(call(TIGHT, libc::SYS_tgkill, [77, 78, 6, 0, 0, 0]), ALLOWED);
        assert_eq!(call(TIGHT, libc::SYS_tgkill, [1, 1, 9, 0, 0, 0]), refused(EPERM));
    }

    #[test]
    fn limits_of_other_processes_are_out_of_reach() {
        assert_eq!(call(LOOSE, libc::SYS_prlimit64, [0; 6]), ALLOWED);
        assert_eq!(call(LOOSE, libc::SYS_prlimit64, [9, 0, 0, 0, 0, 0]), refused(EPERM));
    }

    #[test]
    fn other_instruction_sets_do_not_slip_past() {
        let i386 = 0x4000_0003;
        assert_eq!(verdict(LOOSE, i386, 3, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(verdict(LOOSE, ARCHITECTURE, X32_BIT, [0; 6]), refused(ENOSYS));
    }
}
