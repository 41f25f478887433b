//! The jail, attacked by real processes. Each attack also runs with the sandbox off, to prove that it is one.

// Functions that only tests call are tests too.
#![allow(unsafe_code, clippy::unwrap_used)]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rethrow_worker::process::tree::{self, survivors};
use rethrow_worker::process::{Finished, JailedCommand, Output, Scratch, SpawnError, probe, run_to_end, spawn};
use rethrow_worker::sandbox::{Layer, Sandbox};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_jail-launcher");
const LIMIT: Duration = Duration::from_secs(60);
const MAX_OUTPUT: usize = 1 << 20;

const FILES: &str = include_str!("programs/files.py");
const NETWORK: &str = include_str!("programs/network.py");
const PROCESSES: &str = include_str!("programs/processes.py");

/// Everything the kernel grants.
const FULL: &[Layer] = &[];
/// As on a system that refuses user namespaces.
const NO_NAMESPACES: &[Layer] =
    &[Layer::UserNamespace, Layer::PidNamespace, Layer::NetNamespace, Layer::IpcNamespace, Layer::UtsNamespace, Layer::MountNamespace];
/// As on a kernel without Landlock, the filter left out as well.
const ONLY_NAMESPACES: &[Layer] = &[Layer::Landlock, Layer::Seccomp];

fn scratch() -> Scratch {
    Scratch::create(&std::env::temp_dir()).unwrap()
}

fn command(place: &Scratch, program: &str, args: &[&str]) -> JailedCommand {
    JailedCommand::new(LAUNCHER, place.path(), program).args(args)
}

fn run(command: &JailedCommand) -> Finished {
    let finished = run_to_end(command, LIMIT, MAX_OUTPUT).unwrap();
    assert!(!finished.timed_out, "{finished:?}");
    finished
}

fn shell(script: &str) -> Finished {
    let place = scratch();
    run(&command(&place, "sh", &["-c", script]))
}

fn python(place: &Scratch, script: &str, args: &[&str]) -> JailedCommand {
    command(place, "python3", &["-c", script]).args(args)
}

fn withholding(mut command: JailedCommand, layers: &[Layer]) -> JailedCommand {
    command.withhold = layers.to_vec();
    command
}

/// A number that names one test's processes in their command lines; `sleep` takes it as a duration.
fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("7777.{}{number:04}", std::process::id())
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The attempts of an attack that succeeded, and how many there were.
fn successes(finished: &Finished) -> (Vec<String>, usize) {
    let text = finished.stdout.text();
    let lines: Vec<&str> = text.lines().collect();
    let succeeded = lines.iter().filter_map(|line| line.strip_suffix(" SUCCEEDED"));
    (succeeded.map(str::to_owned).collect(), lines.len())
}

// ---- files

/// A directory outside scratch with a file and a directory in it.
fn canary_directory() -> Scratch {
    let outside = scratch();
    fs::write(outside.path().join("canary"), "alive").unwrap();
    fs::create_dir(outside.path().join("child")).unwrap();
    outside
}

fn assert_canary_intact(outside: &Path, before: &fs::Metadata) {
    let canary = outside.join("canary");
    assert_eq!(fs::read_to_string(&canary).unwrap(), "alive");
    let now = fs::metadata(&canary).unwrap();
    assert_eq!(now.permissions().mode(), before.permissions().mode());
    assert_eq!((now.mtime(), now.mtime_nsec()), (before.mtime(), before.mtime_nsec()));
    assert_eq!((now.ctime(), now.ctime_nsec()), (before.ctime(), before.ctime_nsec()));
    assert_eq!(now.nlink(), 1);
    assert_eq!(fs::read_dir(outside).unwrap().count(), 2, "entries made or removed");
}

fn assert_files_are_safe(withheld: &[Layer]) {
    let (outside, place) = (canary_directory(), scratch());
    let before = fs::metadata(outside.path().join("canary")).unwrap();
    // Readable on purpose, as a class path is: reading must not open a way to writing.
    let attack = python(&place, FILES, &[outside.path().to_str().unwrap()]).read(outside.path());
    let finished = run(&withholding(attack, withheld));
    let (mut succeeded, attempts) = successes(&finished);
    if withheld.contains(&Layer::Seccomp) {
        // Within scratch, and nobody else can enter the directory that scratch lies in.
        succeeded.retain(|name| name != "suid");
    }
    assert_eq!(succeeded, [""; 0], "{finished:?}");
    assert_eq!(attempts, 16, "{finished:?}");
    assert_canary_intact(outside.path(), &before);
}

#[test]
fn files_outside_are_safe() {
    assert_files_are_safe(FULL);
}

#[test]
fn files_outside_are_safe_without_namespaces() {
    assert_files_are_safe(NO_NAMESPACES);
}

#[test]
fn files_outside_are_safe_without_a_user_namespace() {
    // Root gets the other namespaces all the same, an ordinary user none.
    assert_files_are_safe(&[Layer::UserNamespace]);
}

#[test]
fn files_outside_are_safe_behind_read_only_mounts_alone() {
    if probe(Path::new(LAUNCHER), Sandbox::Default).unwrap().mountns {
        assert_files_are_safe(ONLY_NAMESPACES);
    }
}

#[test]
fn without_a_sandbox_the_file_attacks_work() {
    let (outside, place) = (canary_directory(), scratch());
    let attack = python(&place, FILES, &[outside.path().to_str().unwrap()]).mode(Sandbox::Off);
    let (succeeded, _) = successes(&run(&attack));
    for name in ["overwrite", "truncate", "chmod", "utime", "create", "directory link", "suid", "rename"] {
        assert!(succeeded.iter().any(|done| done == name), "{name}: {succeeded:?}");
    }
}

#[test]
fn only_listed_paths_are_readable() {
    let (outside, place) = (canary_directory(), scratch());
    let canary = outside.path().join("canary");
    let read = command(&place, "cat", &[canary.to_str().unwrap()]);
    for withheld in [FULL, NO_NAMESPACES] {
        let refused = run(&withholding(read.clone(), withheld));
        assert_eq!((refused.stdout.text().as_str(), refused.success()), ("", false));
        let allowed = run(&withholding(read.clone().read(outside.path()), withheld));
        assert_eq!((allowed.stdout.text().as_str(), allowed.success()), ("alive", true));
    }
}

#[test]
fn scratch_is_fully_usable() {
    let script = "set -e; mkdir -p a b; echo 1 > a/x; mv a/x b/y; ln -s b c; cat c/y; rm -r a b; chmod 700 .; pwd; echo $HOME $TMPDIR";
    let place = scratch();
    let finished = run(&command(&place, "sh", &["-c", script]));
    let path = place.path().display();
    assert_eq!(finished.stdout.text(), format!("1\n{path}\n{path} {path}\n"), "{finished:?}");
}

#[test]
fn a_file_cannot_grow_beyond_its_limit() {
    let place = scratch();
    let mut write = command(&place, "sh", &["-c", "head -c 3000000 /dev/zero > big"]);
    write.file_size = 1 << 20;
    assert!(!run(&write).success());
    assert_eq!(fs::metadata(place.path().join("big")).unwrap().len(), 1 << 20);
}

// ---- network

struct Listeners {
    tcp: TcpListener,
    udp: UdpSocket,
    v6: Option<(TcpListener, UdpSocket)>,
    unix: UnixListener,
    place: Scratch,
}

impl Listeners {
    fn open() -> Listeners {
        let place = scratch();
        let listeners = Listeners {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            // Machines without IPv6 exist.
            v6: TcpListener::bind("[::1]:0").and_then(|tcp| Ok((tcp, UdpSocket::bind("[::1]:0")?))).ok(),
            unix: UnixListener::bind(place.path().join("socket")).unwrap(),
            place,
        };
        listeners.tcp.set_nonblocking(true).unwrap();
        listeners.udp.set_nonblocking(true).unwrap();
        listeners.unix.set_nonblocking(true).unwrap();
        if let Some((tcp, udp)) = &listeners.v6 {
            tcp.set_nonblocking(true).unwrap();
            udp.set_nonblocking(true).unwrap();
        }
        listeners
    }

    fn args(&self) -> Vec<String> {
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
        let udp_port = |socket: &UdpSocket| socket.local_addr().unwrap().port().to_string();
        let (tcp6, udp6) = match &self.v6 {
            Some((tcp, udp)) => (port(tcp), udp_port(udp)),
            None => ("9".to_owned(), "9".to_owned()),
        };
        let path = self.place.path().join("socket").to_str().unwrap().to_owned();
        vec![port(&self.tcp), udp_port(&self.udp), tcp6, udp6, path]
    }

    /// What arrived.
    fn received(&self) -> Vec<&'static str> {
        let silent = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
        let mut received = Vec::new();
        let mut note = |name, nothing: bool| received.extend((!nothing).then_some(name));
        note("tcp", self.tcp.accept().is_err_and(silent));
        note("udp", self.udp.recv(&mut [0; 9]).is_err_and(silent));
        if let Some((tcp, udp)) = &self.v6 {
            note("tcp6", tcp.accept().is_err_and(silent));
            note("udp6", udp.recv(&mut [0; 9]).is_err_and(silent));
        }
        note("unix", self.unix.accept().is_err_and(silent));
        received
    }
}

fn attack_network(mode: Sandbox, withheld: &[Layer]) -> (Vec<String>, Vec<&'static str>) {
    let (listeners, place) = (Listeners::open(), scratch());
    let attack = python(&place, NETWORK, &[]).args(listeners.args()).mode(mode);
    let finished = run(&withholding(attack, withheld));
    let (succeeded, attempts) = successes(&finished);
    assert_eq!(attempts, 5, "{finished:?}");
    (succeeded, listeners.received())
}

#[test]
fn nothing_reaches_the_network() {
    for withheld in [FULL, NO_NAMESPACES, &[Layer::Landlock], &[Layer::NetNamespace]] {
        let (succeeded, received) = attack_network(Sandbox::Default, withheld);
        assert_eq!(succeeded, [""; 0], "without {withheld:?}");
        assert_eq!(received, [""; 0], "without {withheld:?}");
    }
}

#[test]
fn a_network_namespace_alone_stops_packets() {
    if probe(Path::new(LAUNCHER), Sandbox::Default).unwrap().netns {
        let (_, received) = attack_network(Sandbox::Default, ONLY_NAMESPACES);
        assert!(received.is_empty() || received == ["unix"], "{received:?}");
    }
}

/// Listens and connects to itself, then tries what `NETWORK` tries.
const TALKS_TO_ITSELF: &str = "import socket, threading
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(1)
threading.Thread(target=lambda: server.accept()[0].sendall(b'heard')).start()
client = socket.create_connection(server.getsockname(), timeout=10)
print(client.recv(9).decode())
";

#[test]
fn a_loopback_of_its_own_leads_nowhere_else() {
    let place = scratch();
    if !probe(Path::new(LAUNCHER), Sandbox::Default).unwrap().netns {
        let mut refused = command(&place, "true", &[]);
        refused.loopback = true;
        assert!(matches!(spawn(&refused), Err(SpawnError::Missing { .. })));
        return;
    }
    let mut talks = python(&place, TALKS_TO_ITSELF, &[]);
    assert!(!run(&talks).stdout.text().contains("heard"), "there was a network before it was asked for");
    talks.loopback = true;
    assert_eq!(run(&talks).stdout.text().trim(), "heard");
    let listeners = Listeners::open();
    let mut attack = python(&place, NETWORK, &[]).args(listeners.args());
    attack.loopback = true;
    let (succeeded, attempts) = successes(&run(&attack));
    assert_eq!((succeeded, attempts, listeners.received()), (vec![], 5, vec![]));
    let mut without = withholding(command(&place, "true", &[]), &[Layer::NetNamespace]);
    without.loopback = true;
    let Err(SpawnError::Missing { missing }) = spawn(&without) else { panic!("it ran in the network of this machine") };
    assert_eq!(missing, [Layer::NetNamespace]);
}

#[test]
fn without_a_sandbox_the_network_attacks_work() {
    let (succeeded, received) = attack_network(Sandbox::Off, FULL);
    for name in ["tcp", "udp", "unix"] {
        assert!(succeeded.iter().any(|done| done == name), "{name}: {succeeded:?}");
        assert!(received.contains(&name), "{name}: {received:?}");
    }
}

// ---- processes

/// A process outside, ended with the test.
struct Victim(Child);

impl Victim {
    fn start() -> Victim {
        let mut sleep = Command::new("sleep");
        Victim(sleep.arg("600").env("SECRET", "hidden").spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn attack_processes(mode: Sandbox, withheld: &[Layer]) -> (Vec<String>, bool) {
    let (mut victim, place) = (Victim::start(), scratch());
    let pid = victim.0.id().to_string();
    let attack = python(&place, PROCESSES, &[&pid]).mode(mode);
    let finished = run(&withholding(attack, withheld));
    let (succeeded, attempts) = successes(&finished);
    assert_eq!(attempts, 6, "{finished:?}");
    // a killed process takes a moment to die
    let alive = (0..25).all(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        victim.0.try_wait().unwrap().is_none()
    });
    (succeeded, alive)
}

#[test]
fn processes_outside_are_out_of_reach() {
    let weakest = [NO_NAMESPACES, &[Layer::Landlock]].concat();
    for withheld in [FULL, NO_NAMESPACES, &[Layer::Landlock]] {
        let (succeeded, alive) = attack_processes(Sandbox::Default, withheld);
        assert_eq!(succeeded, [""; 0], "without {withheld:?}");
        assert!(alive, "without {withheld:?}");
    }
    // The filter alone cannot hide /proc, but it stops every signal.
    let (succeeded, alive) = attack_processes(Sandbox::Default, &weakest);
    assert!(alive);
    for name in ["prlimit", "ptrace", "kill"] {
        assert!(!succeeded.iter().any(|done| done == name), "{name}");
    }
}

#[test]
fn without_a_sandbox_the_process_attacks_work() {
    let (succeeded, alive) = attack_processes(Sandbox::Off, FULL);
    assert!(succeeded.iter().any(|done| done == "environ"), "{succeeded:?}");
    assert!(!alive);
}

#[test]
fn the_environment_of_the_caller_is_hidden() {
    for pid in [std::process::id(), std::os::unix::process::parent_id()] {
        for withheld in [FULL, NO_NAMESPACES] {
            let place = scratch();
            let file = format!("/proc/{pid}/environ");
            let finished = run(&withholding(command(&place, "cat", &[&file]), withheld));
            assert!(!finished.success() && finished.stdout.bytes.is_empty());
        }
    }
}

// ---- survivors

/// A detached grandchild and a direct child, both named by the token.
fn detaching(place: &Scratch, token: &str, then: &str) -> JailedCommand {
    let script = format!("(setsid setsid sleep {token} >/dev/null 2>&1 &); {then}");
    command(place, "sh", &["-c", &script])
}

#[test]
fn killing_leaves_no_survivor() {
    for withheld in [FULL, NO_NAMESPACES] {
        let (place, token) = (scratch(), token());
        let tree = detaching(&place, &token, &format!("sleep {token}"));
        let mut jailed = spawn(&withholding(tree, withheld)).unwrap();
        eventually("both sleep", || survivors(&format!("sleep\0{token}")).len() == 2);
        jailed.kill();
        assert_eq!(survivors(&token), [0; 0], "without {withheld:?}");
        jailed.kill();
        assert_eq!(jailed.try_wait().unwrap().unwrap().signal(), Some(libc::SIGKILL));
    }
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    for withheld in [FULL, NO_NAMESPACES] {
        let (place, token) = (scratch(), token());
        let started = Instant::now();
        let finished = run(&withholding(detaching(&place, &token, "sleep 0.2; exit 4"), withheld));
        assert_eq!(finished.status.code(), Some(4));
        assert_eq!(survivors(&token), [0; 0], "without {withheld:?}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_process_that_keeps_forking_away_is_caught() {
    let hop = "import os, time\nos.fork() and time.sleep(600)\nwhile True:\n os.setsid()\n os.fork() and os._exit(0)";
    for withheld in [FULL, NO_NAMESPACES] {
        let (place, token) = (scratch(), token());
        let mut jailed = spawn(&withholding(python(&place, hop, &[&token]), withheld)).unwrap();
        eventually("it runs", || !survivors(&token).is_empty());
        std::thread::sleep(Duration::from_millis(200));
        let started = Instant::now();
        jailed.kill();
        assert!(started.elapsed() < Duration::from_secs(4), "{:?} without {withheld:?}", started.elapsed());
        // A look at all processes may just miss one that moves; many looks do not.
        for _ in 0..30 {
            assert_eq!(survivors(&token), [0; 0], "without {withheld:?}");
        }
    }
}

#[test]
fn dropping_the_handle_ends_the_jail() {
    let (place, token) = (scratch(), token());
    let jailed = spawn(&detaching(&place, &token, &format!("sleep {token}"))).unwrap();
    eventually("both sleep", || survivors(&format!("sleep\0{token}")).len() == 2);
    drop(jailed);
    assert_eq!(survivors(&token), [0; 0]);
}

#[test]
fn a_killed_supervisor_takes_the_program_along() {
    let pidns = probe(Path::new(LAUNCHER), Sandbox::Default).unwrap().pidns;
    for withheld in [FULL, NO_NAMESPACES] {
        let (place, token) = (scratch(), token());
        let sleeping = withholding(command(&place, "sleep", &[&token]), withheld);
        let mut jailed = spawn(&sleeping).unwrap();
        eventually("it sleeps", || survivors(&token).len() == 1);
        // SAFETY: the pid is that of our own child, not yet reaped.
        unsafe { libc::kill(jailed.pid() as libc::pid_t, libc::SIGKILL) };
        assert_eq!(jailed.wait_timeout(LIMIT).unwrap().unwrap().signal(), Some(libc::SIGKILL));
        eventually("no survivor", || survivors(&token).is_empty());
    }
    if pidns {
        let (place, token) = (scratch(), token());
        let jailed = spawn(&detaching(&place, &token, &format!("sleep {token}"))).unwrap();
        eventually("both sleep", || survivors(&format!("sleep\0{token}")).len() == 2);
        // SAFETY: as above.
        unsafe { libc::kill(jailed.pid() as libc::pid_t, libc::SIGKILL) };
        eventually("no survivor, detached ones included", || survivors(&token).is_empty());
    }
}

/// A caller of its own process, to be killed.
fn holder(place: &Scratch, token: &str, withheld: &[Layer]) -> Child {
    let mut holder = Command::new(LAUNCHER);
    holder.arg("hold").arg(place.path()).arg(token).args(withheld.iter().map(|layer| layer.name()));
    holder.stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_killed_caller_leaves_no_survivor() {
    for withheld in [FULL, NO_NAMESPACES] {
        let (place, token) = (scratch(), token());
        let mut caller = holder(&place, &token, withheld);
        caller.stdout.take().unwrap().read_exact(&mut [0; 7]).unwrap();
        eventually("both sleep", || survivors(&format!("sleep\0{token}")).len() == 2);
        caller.kill().unwrap();
        caller.wait().unwrap();
        eventually("no survivor", || survivors(&token).is_empty());
    }
}

#[test]
fn a_caller_killed_at_any_moment_leaves_no_survivor() {
    for withheld in [FULL, NO_NAMESPACES] {
        for round in 0..12 {
            let (place, token) = (scratch(), token());
            let mut caller = holder(&place, &token, withheld);
            std::thread::sleep(Duration::from_micros(300 * round * round));
            let launched = tree::descendants(caller.id());
            caller.kill().unwrap();
            caller.wait().unwrap();
            // A zombie waits only for the system's own process 1.
            let gone = |pid: &u32| {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
                stat.map_or(true, |stat| stat.contains(") Z "))
            };
            eventually("no survivor", || survivors(&token).is_empty() && launched.iter().all(gone));
        }
    }
}

#[test]
fn a_jail_outlives_the_thread_that_made_it() {
    let place = scratch();
    let made = command(&place, "sleep", &["600"]);
    let mut jailed = std::thread::spawn(move || spawn(&made).unwrap()).join().unwrap();
    assert_eq!(jailed.wait_timeout(Duration::from_millis(300)).unwrap(), None);
}

// ---- what a program is given

#[test]
fn standard_input_is_at_its_end() {
    assert_eq!(shell("cat; echo end").stdout.text(), "end\n");
}

#[test]
fn output_goes_to_the_caller_if_asked() {
    let place = scratch();
    let mut look = command(&place, "sh", &["-c", "readlink /proc/self/fd/2 > link"]);
    let link = |path: &Path| fs::read_to_string(path.join("link")).unwrap();
    run(&look);
    let own = fs::read_link("/proc/self/fd/2").unwrap();
    let own = format!("{}\n", own.display());
    assert_ne!(link(place.path()), own);
    look.output = Output::Inherited;
    run(&look);
    assert_eq!(link(place.path()), own);
}

#[test]
fn the_environment_is_scrubbed() {
    let place = scratch();
    let finished = run(&command(&place, "env", &[]).env("GIVEN", "1").env("LANG", "C"));
    let text = finished.stdout.text();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["GIVEN", "HOME", "LANG", "PATH", "TMPDIR"]);
    assert!(text.contains("LANG=C\n"));
}

#[test]
fn descriptors_are_closed_and_the_protocol_has_its_own() {
    // SAFETY: a copy that `execve` does not close, as a careless library would leave it.
    let leaked = unsafe { libc::dup(2) };
    let place = scratch();
    let script = "import os\nfor fd in range(1000):\n try: os.fstat(fd); print(fd)\n except OSError: pass";
    let mut list = python(&place, script, &[]);
    let without = run(&list).stdout.text();
    list.protocol = true;
    let with = run(&list).stdout.text();
    // SAFETY: closes the copy made above.
    unsafe { libc::close(leaked) };
    assert_eq!(without, "0\n1\n2\n");
    assert_eq!(with, "0\n1\n2\n3\n");
}

#[test]
fn the_protocol_stream_works_both_ways_and_ends_with_the_program() {
    let place = scratch();
    let mut echo = command(&place, "sh", &["-c", "read line <&3; echo noise; echo \"got $line\" >&3"]);
    echo.protocol = true;
    let mut jailed = spawn(&echo).unwrap();
    let mut stream = jailed.take_protocol().unwrap();
    stream.write_all(b"hello\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "got hello\n");
    assert!(jailed.wait_timeout(LIMIT).unwrap().unwrap().success());
}

#[test]
fn the_program_has_no_privileges_and_no_terminal() {
    let script = "grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status; umask; ulimit -c; (: </dev/tty) 2>/dev/null || echo no tty";
    let text = shell(script).stdout.text();
    let zero = "0000000000000000";
    for line in [format!("CapPrm:\t{zero}"), format!("CapEff:\t{zero}"), format!("CapAmb:\t{zero}")] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "0077", "no tty"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains("\n0\n"), "core size: {text}");
}

#[test]
fn new_namespaces_cannot_be_made_inside() {
    assert!(!shell("unshare --user true").success());
    assert!(!shell("unshare --mount true").success());
}

// ---- ends, limits, output

#[test]
fn the_end_is_reported_truthfully() {
    assert_eq!(shell("exit 7").status.code(), Some(7));
    assert_eq!(shell("kill -9 $$").status.signal(), Some(libc::SIGKILL));
    assert_eq!(shell("kill -SEGV $$").status.signal(), Some(libc::SIGSEGV));
}

#[test]
fn time_limits_hold() {
    let place = scratch();
    let started = Instant::now();
    let sleep = command(&place, "sleep", &["600"]);
    let finished = run_to_end(&sleep, Duration::from_millis(300), MAX_OUTPUT).unwrap();
    assert!(finished.timed_out && !finished.success());
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_millis(300) && elapsed < Duration::from_secs(5), "{elapsed:?}");
}

#[test]
fn processor_time_limits_hold() {
    let place = scratch();
    let mut spin = command(&place, "sh", &["-c", "while :; do :; done"]);
    spin.cpu_seconds = Some(1);
    assert!(run(&spin).status.signal().is_some());
}

#[test]
fn endless_output_does_not_grow_memory() {
    let place = scratch();
    let total = 100_000_000;
    let before = tree_less_rss();
    let mut jailed = spawn(&command(&place, "sh", &["-c", &format!("head -c {total} /dev/zero; echo end >&2")])).unwrap();
    assert!(jailed.wait_timeout(LIMIT).unwrap().unwrap().success());
    eventually("all is read", || jailed.stdout().total == total);
    assert_eq!(jailed.stdout().bytes.len(), 64 << 10);
    assert!(jailed.stdout().truncated());
    eventually("stderr is read", || jailed.stderr().text() == "end\n");
    assert!(tree_less_rss().saturating_sub(before) < 20 << 20);
}

/// This process's own resident memory.
fn tree_less_rss() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn memory_is_counted_over_the_whole_tree() {
    let place = scratch();
    let child = "x = bytearray(60 << 20); import time; time.sleep(600)";
    let script = format!("python3 -c '{child}' & python3 -c '{child}'");
    let mut jailed = spawn(&command(&place, "sh", &["-c", &script])).unwrap();
    eventually("both hold memory", || jailed.rss_bytes() > 120 << 20);
    assert!(jailed.rss_bytes() < 400 << 20);
    jailed.kill();
    assert_eq!(jailed.rss_bytes(), 0);
}

// ---- modes and errors

#[test]
fn strict_refuses_when_a_layer_is_missing() {
    let cases: [(&[Layer], Layer); 4] = [
        (&[Layer::Landlock], Layer::Landlock),
        (&[Layer::Seccomp], Layer::Seccomp),
        (&[Layer::Seccomp, Layer::NetNamespace], Layer::NetNamespace),
        (&[Layer::PidNamespace], Layer::PidNamespace),
    ];
    for (withheld, expected) in cases {
        let place = scratch();
        let write = command(&place, "touch", &["ran"]).mode(Sandbox::Strict);
        match spawn(&withholding(write, withheld)) {
            Err(SpawnError::Missing { missing }) => {
                assert!(missing.contains(&expected), "{missing:?}")
            }
            other => panic!("without {withheld:?}: {other:?}"),
        }
        assert!(!place.path().join("ran").exists());
    }
}

#[test]
fn strict_runs_where_every_layer_exists() {
    let launcher = Path::new(LAUNCHER);
    let found = probe(launcher, Sandbox::Default).unwrap();
    let strict = probe(launcher, Sandbox::Strict);
    match strict {
        Ok(layers) => assert_eq!(layers, found),
        Err(SpawnError::Missing { missing }) => assert_eq!(missing, found.missing_for_strict()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn off_means_no_layers_but_still_supervision() {
    let (place, token) = (scratch(), token());
    let finished = run(&detaching(&place, &token, "sleep 0.1").mode(Sandbox::Off));
    assert_eq!(finished.layers.to_string(), "none");
    assert_eq!(survivors(&token), [0; 0]);
}

#[test]
fn withheld_layers_are_not_reported() {
    let place = scratch();
    let finished = run(&withholding(command(&place, "true", &[]), NO_NAMESPACES));
    let layers = finished.layers;
    assert!(!layers.userns && !layers.pidns && !layers.netns && !layers.mountns);
    assert!(layers.seccomp && layers.no_new_privs && layers.rlimits);
}

#[test]
fn what_cannot_start_is_an_error() {
    let place = scratch();
    let fault = |command: &JailedCommand| spawn(command).err();
    let missing = command(&place, "no-such-program", &[]);
    assert!(matches!(fault(&missing), Some(SpawnError::NotFound(_))));
    let absent = command(&place, "/no/such/program", &[]);
    assert!(matches!(fault(&absent), Some(SpawnError::NotExecutable { .. })));
    let directory = command(&place, "/usr", &[]);
    assert!(matches!(fault(&directory), Some(SpawnError::NotExecutable { .. })));
    let nowhere = JailedCommand::new(LAUNCHER, "/no/such/scratch", "true");
    assert!(matches!(fault(&nowhere), Some(SpawnError::Scratch { .. })));
    let unlaunched = JailedCommand::new("/no/such/launcher", place.path(), "true");
    assert!(matches!(fault(&unlaunched), Some(SpawnError::Launcher { .. })));
    // A binary that does not know the launcher's argument.
    let wrong = JailedCommand::new("/bin/true", place.path(), "true");
    assert!(matches!(fault(&wrong), Some(SpawnError::Launcher { .. })));
}

#[test]
fn arguments_pass_unchanged() {
    let place = scratch();
    let long = "x".repeat(100_000);
    let finished = run(&command(&place, "printf", &["%s|", "", "a b", "ü\n", "$HOME", &long]));
    assert_eq!(finished.stdout.text(), format!("|a b|ü\n|$HOME|{long}|"));
}

// ---- a JVM

/// JDKs of this machine: `JAVA_HOME`, the one on `PATH`, the usual directory.
fn jdks() -> Vec<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let compilers = std::env::split_paths(&path).map(|dir| dir.join("javac"));
    let on_path = compilers.filter_map(|javac| Some(javac.canonicalize().ok()?.parent()?.parent()?.to_owned()));
    let usual = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let all = home.into_iter().chain(on_path).chain(usual);
    let mut found: Vec<_> = all.filter_map(|jdk| jdk.canonicalize().ok()).filter(|jdk| jdk.join("bin/javac").is_file()).collect();
    found.sort();
    found.dedup();
    found
}

fn jdk_tool(place: &Scratch, jdk: &Path, tool: &str, args: &[&str]) -> JailedCommand {
    command(place, jdk.join("bin").join(tool).to_str().unwrap(), args).read(jdk)
}

fn assert_java_is_jailed(jdk: &Path, withheld: &[Layer]) {
    let (outside, place, listeners) = (canary_directory(), scratch(), Listeners::open());
    let canary = outside.path().join("canary");
    let before = fs::metadata(&canary).unwrap();
    fs::write(place.path().join("Foreign.java"), include_str!("programs/Foreign.java")).unwrap();
    let compile = jdk_tool(&place, jdk, "javac", &["-proc:none", "-encoding", "UTF-8", "Foreign.java"]);
    let compiled = run(&withholding(compile, withheld));
    assert!(compiled.success(), "{}: {}", jdk.display(), compiled.stderr.text());
    let options = ["-Xmx64m", "-XX:-UsePerfData", "-cp", ".", "Foreign", canary.to_str().unwrap()];
    let java = jdk_tool(&place, jdk, "java", &options).args([&listeners.args()[0]]).read(outside.path());
    let finished = run(&withholding(java, withheld));
    let text = finished.stdout.text();
    assert_eq!(finished.status.code(), Some(3), "{}: {finished:?}", jdk.display());
    for line in ["sum 4950", "stdin -1", "child 5", "own 4"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let (succeeded, lines) = successes(&finished);
    assert_eq!((succeeded, lines), (vec![], 10), "{}: {text}", jdk.display());
    assert_canary_intact(outside.path(), &before);
    assert_eq!(listeners.received(), [""; 0]);
}

#[test]
fn java_runs_and_is_jailed() {
    for jdk in jdks() {
        assert_java_is_jailed(&jdk, FULL);
        assert_java_is_jailed(&jdk, NO_NAMESPACES);
    }
}
