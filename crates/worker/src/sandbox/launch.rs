//! The launcher's processes.
//!
//! ```text
//! caller ──control socket── supervisor ── init ── program (execve)
//! ```
//!
//! * The **supervisor** outlives the program. It ends everything as soon as the caller's end of the control socket
//!   closes, which also happens when the caller is killed. (A parent-death signal would not do for this link: it
//!   fires when the *thread* that spawned ends.) Without a process namespace it adopts and kills what is left.
//! * **Init** is process 1 of the process namespace: when it ends, the kernel kills the rest. It only waits.
//! * The **program** is confined by [`confine`](super::confine) and then executed.
//!
//! From the supervisor down every link has a parent-death signal, so nothing is left if the supervisor is killed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::confine::{confine, execute};
use super::sys::{self, Forked};
use super::{LAUNCHER_ARGUMENT, Layers, Note, PROTOCOL_FD, Sandbox, Spec, namespace};
use super::{read_block, write_block};
use crate::process::tree;

/// Exit code of a launcher that could not do its work; the reason went over the control socket.
const LAUNCH_FAILED: i32 = 70;
/// How long the sweep without a process namespace fights a program that keeps forking.
const SWEEP_LIMIT: Duration = Duration::from_secs(5);

/// To be the first statement of `main` in every binary that is named as a launcher. Returns at once in an ordinary
/// start; in a launcher it never returns.
pub fn run_if_launcher() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == LAUNCHER_ARGUMENT) {
        let code = match start() {
            Ok(code) => code,
            Err(_) => LAUNCH_FAILED,
        };
        sys::exit(code);
    }
}

/// The pipes between the launcher's processes.
struct Pipes {
    /// Program → supervisor: notes; closed by a successful `execve`.
    report: (OwnedFd, OwnedFd),
    /// Init → supervisor: how the program ended.
    status: (OwnedFd, OwnedFd),
    /// Held open by the supervisor alone; init sees by it whether its parent still lives.
    alive: (OwnedFd, OwnedFd),
}

fn start() -> io::Result<i32> {
    let mut control = UnixStream::from(sys::duplicate_above(&0)?);
    let spec = read_block(&mut control)?;
    let mut spec: Spec = postcard::from_bytes(&spec).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    sys::duplicate_onto(&sys::open(c"/dev/null", libc::O_RDONLY)?, 0)?;
    let protocol = take_protocol(&mut spec)?;
    // Out of the caller's process group: an interrupt typed at the terminal is the caller's to handle.
    // SAFETY: `setsid` has no arguments.
    unsafe { libc::setsid() };
    let mut layers = Layers::default();
    if spec.mode != Sandbox::Off {
        namespace::unshare_all(&spec, &mut layers);
    }
    sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1)?;
    let pipes = Pipes { report: sys::pipe()?, status: sys::pipe()?, alive: sys::pipe()? };
    match sys::fork()? {
        Forked::Child => {
            drop(control);
            init(&spec, layers, pipes, protocol)
        }
        Forked::Parent(init) => {
            drop(protocol);
            let supervisor = Supervisor { control, init, own_pids: layers.pidns };
            supervisor.run(pipes)
        }
    }
}

/// Moves the protocol descriptor out of the way of the numbers used here.
fn take_protocol(spec: &mut Spec) -> io::Result<Option<OwnedFd>> {
    let Some(fd) = spec.protocol else {
        return Ok(None);
    };
    let moved = sys::duplicate_above(&fd)?;
    // SAFETY: the caller passed this descriptor to us alone; it is closed exactly once, here.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(Some(moved))
}

struct Supervisor {
    control: UnixStream,
    init: libc::pid_t,
    own_pids: bool,
}

impl Supervisor {
    fn run(mut self, pipes: Pipes) -> io::Result<i32> {
        let Pipes { report, status, alive } = pipes;
        drop((report.1, status.1, alive.0));
        silence()?;
        // Nothing inside may look into this process.
        let _ = sys::prctl(libc::PR_SET_DUMPABLE, 0);
        let ended = self.watch(File::from(report.0), File::from(status.0));
        self.end_all();
        drop(alive.1);
        end_like(ended?)
    }

    /// Passes the report on and waits for the end: of the program (its status) or of the caller.
    fn watch(&mut self, report: File, mut status: File) -> io::Result<i32> {
        let mut report = Some(report);
        let mut notes = Vec::new();
        loop {
            let watched = [
                Some(self.control.as_raw_fd()),
                report.as_ref().map(AsRawFd::as_raw_fd),
                // The report comes first, or a program that ends at once would end unreported.
                report.is_none().then(|| status.as_raw_fd()),
            ];
            let [caller_gone, reported, ended] = sys::poll(watched, None)?;
            if caller_gone {
                return Ok(libc::SIGKILL);
            }
            if reported && let Some(mut pipe) = report.take() {
                let mut chunk = [0; 1024];
                let len = pipe.read(&mut chunk)?;
                notes.extend_from_slice(&chunk[..len]);
                if len == 0 {
                    write_block(&mut self.control, &notes)?;
                } else {
                    report = Some(pipe);
                }
            }
            if ended {
                let mut raw = [0; 4];
                // Without a status init was killed.
                let known = status.read_exact(&mut raw).is_ok();
                return Ok(if known { i32::from_ne_bytes(raw) } else { libc::SIGKILL });
            }
        }
    }

    /// Returns when no process of the jail is left. With a process namespace the kernel guarantees it: init can be
    /// reaped only after all others were.
    fn end_all(&self) {
        sys::signal(self.init, libc::SIGKILL);
        if self.own_pids {
            sys::wait(self.init, 0);
        } else {
            sweep();
        }
    }
}

/// Kills and reaps all descendants. Orphans come to us, the nearest subreaper, however often they detach: so it is
/// enough to kill our own children until there are none. Short rounds, because a process may keep forking and
/// ending just to be elsewhere when its turn comes.
fn sweep() {
    let started = Instant::now();
    while started.elapsed() < SWEEP_LIMIT {
        for child in tree::children_of_this_process() {
            sys::signal(child as libc::pid_t, libc::SIGKILL);
        }
        while sys::wait(-1, libc::WNOHANG).is_some() {}
        if io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) {
            return;
        }
        std::thread::yield_now();
    }
}

/// Ends this process the way the program ended, so that the caller's `wait` sees the truth.
fn end_like(status: i32) -> io::Result<i32> {
    if libc::WIFEXITED(status) {
        return Ok(libc::WEXITSTATUS(status));
    }
    let number = libc::WTERMSIG(status);
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain values; the default action of `number` ends this process.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &no_core);
        libc::signal(number, libc::SIG_DFL);
        libc::raise(number);
    }
    Ok(128 + number)
}

/// Points our output at nothing: the caller shall see the end of the *program's* output.
fn silence() -> io::Result<()> {
    let null = sys::open(c"/dev/null", libc::O_WRONLY)?;
    sys::duplicate_onto(&null, 1)?;
    sys::duplicate_onto(&null, 2)
}

/// Process 1 of the jail.
fn init(spec: &Spec, mut layers: Layers, pipes: Pipes, protocol: Option<OwnedFd>) -> ! {
    let Pipes { report, status, alive } = pipes;
    drop((report.0, status.0, alive.1));
    let _ = sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    // The supervisor may have died before the line above; its pid cannot tell across namespaces, its pipe can.
    if sys::poll([Some(alive.0.as_raw_fd())], Some(0)).is_ok_and(|[hung_up]| hung_up) {
        sys::exit(LAUNCH_FAILED);
    }
    if layers.mountns {
        layers.mountns = namespace::arrange_mounts(&spec.scratch, layers.pidns).is_ok();
    }
    let own_pid = std::process::id();
    match sys::fork() {
        Ok(Forked::Child) => {
            drop((status.1, alive.0));
            become_program(spec, layers, File::from(report.1), protocol, own_pid)
        }
        Ok(Forked::Parent(program)) => {
            drop((report.1, alive.0, protocol));
            let _ = silence();
            let _ = sys::prctl(libc::PR_SET_DUMPABLE, 0);
            reap_until(program, File::from(status.1))
        }
        Err(error) => {
            let step = "fork".to_owned();
            let errno = sys::errno(&error);
            send(&mut File::from(report.1), &Note::Failed { step, errno });
            sys::exit(LAUNCH_FAILED)
        }
    }
}

/// Reaps orphans until the program ends, tells how it ended, and ends, which ends the namespace.
fn reap_until(program: libc::pid_t, mut status: File) -> ! {
    while let Some((pid, raw)) = sys::wait(-1, 0) {
        if pid == program {
            let _ = status.write_all(&raw.to_ne_bytes());
            break;
        }
    }
    sys::exit(0)
}

fn become_program(spec: &Spec, mut layers: Layers, mut report: File, protocol: Option<OwnedFd>, parent: u32) -> ! {
    // A session of its own, without a terminal.
    // SAFETY: `setsid` has no arguments.
    unsafe { libc::setsid() };
    let note = match enter(spec, &mut layers, protocol, parent) {
        Err((step, error)) => Note::Failed { step: step.to_owned(), errno: sys::errno(&error) },
        Ok(()) if !spec.missing(&layers).is_empty() => Note::Missing(spec.missing(&layers)),
        Ok(()) => Note::Entered(layers),
    };
    send(&mut report, &note);
    if let (Note::Entered(_), Some(program)) = (&note, &spec.program) {
        let errno = sys::errno(&execute(spec, program));
        send(&mut report, &Note::NotExecutable { errno });
    }
    sys::exit(if spec.program.is_none() { 0 } else { LAUNCH_FAILED })
}

fn enter(spec: &Spec, layers: &mut Layers, protocol: Option<OwnedFd>, parent: u32) -> super::confine::Step<()> {
    if let Some(protocol) = protocol {
        sys::duplicate_onto(&protocol, PROTOCOL_FD).map_err(|error| ("pass the protocol", error))?;
    }
    confine(spec, layers)?;
    // Last: losing capabilities may clear it.
    let _ = sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    if std::os::unix::process::parent_id() != parent {
        sys::exit(LAUNCH_FAILED);
    }
    Ok(())
}

/// Notes are best effort: a supervisor that is gone has its own way of ending us.
fn send(report: &mut File, note: &Note) {
    if let Ok(bytes) = postcard::to_stdvec(note) {
        let _ = report.write_all(&bytes);
    }
}
