//! The binary as a user meets it: flags, unusable inputs, the environment, the jail. What a search finds is tested elsewhere.

// The whole file is a test, also the functions that are none.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const BINARY: &str = env!("CARGO_BIN_EXE_rethrow");
const GO_LOG: &str = "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:8 +0x1d\n";
const JDK_ONLY_LOG: &str =
    "java.net.ConnectException: refused\n\tat java.base/sun.nio.ch.Net.connect0(Native Method)\n\tat java.base/java.net.Socket.connect(Socket.java:600)\n";
/// The crash of fixture F13; what the lines are is not its business.
const PRIV_DEEP: &str = "java.lang.IllegalStateException: negative\n\tat f13.PrivDeep.p3(PrivDeep.java:LINE)\n";

/// Nobody opens it in a few tries.
const GATE: &str = "package g;
public class Gate {
  private int count;
  public void step() { count++; }
  public void open(int n) {
    if (n > 3) {
      if (count == n * 1000003) {
        throw new IllegalStateException();
      }
    }
  }
}
";

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("only UTF-8 is printed");
        Ran { code: output.status.code().expect("no signal ended it"), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    fn check(&self, code: i32, err: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        for part in err {
            assert!(self.err.contains(part), "no {part:?} in {}", self.err);
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {}", self.out))
    }
}

/// A fresh folder with a name of its own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn command(cwd: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(cwd).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

fn rethrow(cwd: &Path, args: &[&str]) -> Ran {
    Ran::of(command(cwd, args).output().unwrap())
}

/// `rethrow reproduce crash.log …` for a log of that text.
fn reproduce(name: &str, log: &str, args: &[&str]) -> Ran {
    let dir = folder(name);
    std::fs::write(dir.join("crash.log"), log).unwrap();
    rethrow(&dir, &[&["reproduce", "crash.log"], args].concat())
}

/// The fixture programs, compiled once.
fn fixtures() -> &'static str {
    static CLASSES: OnceLock<String> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let classes = folder("classes");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fixtures/src/f13/PrivDeep.java");
        let gate = folder("sources").join("Gate.java");
        std::fs::write(&gate, GATE).unwrap();
        let compiled = Command::new(javac()).arg("-g").arg("-d").arg(&classes).args([source, gate]).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        classes.to_str().unwrap().to_string()
    })
}

fn javac() -> String {
    let found = rethrow(Path::new("/"), &["doctor", "--format", "json"]).json();
    let jdks = found["jdks"].as_array().unwrap().clone();
    let javac = jdks.iter().find_map(|jdk| jdk["javac"].as_str());
    javac.expect("the tests need a JDK: make test installs one").to_string()
}

/// The line of the throw statement in fixture F13.
fn throw_line() -> String {
    let source = include_str!("../../../testdata/fixtures/src/f13/PrivDeep.java");
    let line = source.lines().position(|l| l.contains("throw new IllegalStateException")).unwrap() + 1;
    line.to_string()
}

#[test]
fn help_names_the_commands_and_exit_codes() {
    let ran = rethrow(Path::new("/"), &["--help"]);
    ran.check(0, &[]);
    for word in ["reproduce", "replay", "doctor", "jail", "bench", "130"] {
        assert!(ran.out.contains(word), "{word}");
    }
    assert!(!ran.out.contains("__"), "what is internal is not shown: {}", ran.out);
    let ran = rethrow(Path::new("/"), &["reproduce", "--help"]);
    for flag in ["--classpath", "--target-frame", "--budget", "--seed", "--confirm-runs", "--sandbox"] {
        assert!(ran.out.contains(flag), "{flag}");
    }
}

/// Lines are counted as the log has them, though most of it is not kept.
#[test]
fn a_trace_is_found_in_the_middle_of_a_large_log() {
    let noise = "2026-03-02 08:14:55,133 INFO  Orders - nothing of interest has happened so far\n".repeat(300_000);
    let log = format!("{noise}{}{noise}", PRIV_DEEP.replace("LINE", "1"));
    assert!(log.len() > 40 << 20);
    reproduce("large", &log, &["-cp", fixtures()]).check(3, &["IllegalStateException (1 program frame, line 300001)", "nearest"]);
}

#[test]
fn wrong_flags_are_exit_2() {
    let here = Path::new("/");
    rethrow(here, &[]).check(2, &["Usage"]);
    rethrow(here, &["reproduce"]).check(2, &["<LOG>"]);
    for (flag, value, told) in [
        ("--budget", "60", "a number and a unit"),
        ("--budget", "0s", "nothing to do"),
        ("--budget", "99999h", "at most"),
        ("--junit", "3", "4 or 5"),
        ("--style", "green", "failing"),
        ("--preset", "best", "default"),
        ("--workers", "0", "0 is not in"),
        ("--target-frame", "0", "0 is not in"),
        ("--seed", "x", "invalid"),
        ("--frobnicate", "1", "unexpected argument"),
    ] {
        rethrow(here, &["reproduce", "x.log", flag, value]).check(2, &[told]);
    }
    rethrow(here, &["reproduce", "x.log", "-q", "-v"]).check(2, &["cannot be used with"]);
    rethrow(here, &["jail"]).check(2, &["CMD"]);
}

#[test]
fn a_log_that_is_not_there() {
    let dir = folder("no_log");
    rethrow(&dir, &["reproduce", "nowhere.log", "-cp", "."]).check(3, &["cannot read nowhere.log", "standard input"]);
    assert!(!dir.join("rethrow.out").exists(), "a run that could not begin leaves nothing behind");
}

#[test]
fn text_without_a_trace_shows_the_nearest_lines() {
    let log = "starting\nsomething about java.lang.NullPointerException happened\nstopping\n";
    let ran = reproduce("no_trace", log, &["-cp", "."]);
    ran.check(3, &["no stack trace in crash.log (3 lines read)", "happened", "at pkg.Class.method"]);
    for (i, log) in ["", "\0\u{1}\u{2}", "{\"a\": [1, 2]}", "<html><body>at home</body></html>"].iter().enumerate() {
        reproduce(&format!("no_trace_{i}"), log, &["-cp", "."]).check(3, &["no stack trace"]);
    }
}

#[test]
fn a_trace_of_another_language_is_named() {
    reproduce("go", GO_LOG, &["-cp", "."]).check(3, &["Go stack trace", "Java"]);
}

#[test]
fn a_trace_without_program_frames() {
    reproduce("jdk_only", JDK_ONLY_LOG, &["-cp", "."]).check(3, &["java.net.ConnectException: all 2 frames belong to the language's own library"]);
}

#[test]
fn there_are_not_so_many_traces() {
    let log = PRIV_DEEP.replace("LINE", "1");
    reproduce("pick", &log, &["-cp", ".", "--pick", "2"]).check(3, &["has 1 trace, not 2", "line 1: java.lang.IllegalStateException", "--pick 1"]);
}

#[test]
fn class_paths_that_cannot_be_used() {
    let log = PRIV_DEEP.replace("LINE", "1");
    reproduce("cp_none", &log, &[]).check(2, &["no class path given", "--classpath"]);
    reproduce("cp_missing", &log, &["-cp", "gone.jar"]).check(3, &["gone.jar is not there"]);
    reproduce("cp_star", &log, &["-cp", "gone/*"]).check(3, &["is not there"]);
    let dir = folder("cp_corrupt");
    std::fs::write(dir.join("crash.log"), &log).unwrap();
    std::fs::write(dir.join("bad.jar"), "PK, but no jar").unwrap();
    rethrow(&dir, &["reproduce", "crash.log", "-cp", "bad.jar"]).check(3, &["cannot read", "bad.jar"]);
}

#[test]
fn another_version_of_the_program_is_told_frame_by_frame() {
    let log = "java.lang.IllegalStateException: negative\n\
        \tat f13.PrivDeep.p3(PrivDeep.java:413) ~[deep-3.9.jar:3.9]\n\
        \tat f13.PrivDeep.gone(PrivDeep.java:7)\n\
        \tat q.Nobody.run(Nobody.java:1)\n";
    let ran = reproduce("version", log, &["-cp", fixtures()]);
    ran.check(3, &["does not match the trace", "frame 1  ✓ class ✓ method ✗ line 413 (method spans", "nearest line", "f13.PrivDeep.p3:413"]);
    ran.check(3, &["frame 2  ✓ class ✗ method (has", "frame 3  ✗ class", "[deep-3.9.jar:3.9]", "the version of the program that printed the trace"]);
}

#[test]
fn a_frame_beyond_those_that_fit_cannot_be_asked_for() {
    let log = PRIV_DEEP.replace("LINE", &throw_line()) + "\tat q.Nobody.run(Nobody.java:1)\n";
    let ran = reproduce("too_far", &log, &["-cp", fixtures(), "--target-frame", "2"]);
    ran.check(3, &["--target-frame 2: only 1 frame of the trace fit", "frame 1  ✓ class ✓ method ✓ line", "frame 2  ✗ class"]);
}

#[test]
fn a_class_newer_than_every_jdk_names_the_one_it_needs() {
    let dir = folder("too_new");
    let mut class = std::fs::read(Path::new(fixtures()).join("f13/PrivDeep.class")).unwrap();
    class[6..8].copy_from_slice(&[0, 200]);
    std::fs::create_dir_all(dir.join("classes/f13")).unwrap();
    std::fs::write(dir.join("classes/f13/PrivDeep.class"), class).unwrap();
    std::fs::write(dir.join("crash.log"), PRIV_DEEP.replace("LINE", &throw_line())).unwrap();
    rethrow(&dir, &["reproduce", "crash.log", "-cp", "classes"]).check(4, &["f13.PrivDeep needs Java 156", "--java-home"]);
}

#[test]
fn a_java_home_that_is_none() {
    let log = PRIV_DEEP.replace("LINE", &throw_line());
    reproduce("java_home", &log, &["-cp", fixtures(), "--java-home", "/nowhere"]).check(4, &["/nowhere is not a usable JDK", "bin/java"]);
}

/// In a mount namespace where the usual folders are empty. Where those are forbidden there is no way to hide the JDK.
#[test]
fn a_machine_without_a_jdk() {
    let dir = folder("no_jdk");
    std::fs::write(dir.join("crash.log"), PRIV_DEEP.replace("LINE", &throw_line())).unwrap();
    let hide = "for d in /usr/lib/jvm /usr/java /opt; do [ ! -d $d ] || mount -t tmpfs none $d || exit 99; done; exec \"$0\" \"$@\"";
    let hidden = |args: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["-rm", "--", "/bin/sh", "-c", hide, BINARY]).args(args).current_dir(&dir);
        let clean = unshare.env("PATH", "/usr/bin:/bin").env("HOME", "/").env_remove("JAVA_HOME").stdin(Stdio::null());
        clean.output().ok().filter(|ran| !String::from_utf8_lossy(&ran.stderr).starts_with("unshare:")).map(Ran::of)
    };
    let Some(ran) = hidden(&["reproduce", "crash.log", "-cp", fixtures()]).filter(|ran| ran.code != 99) else {
        eprintln!("no mount namespaces here: not tested");
        return;
    };
    ran.check(4, &["no JDK found", "JAVA_HOME (not set)", "openjdk-17-jdk"]);
    let doctor = hidden(&["doctor"]).unwrap();
    assert_eq!(doctor.code, 4);
    assert!(doctor.out.contains("not ready") && doctor.out.contains("openjdk-17-jdk"), "{}", doctor.out);
}

#[test]
fn doctor_finds_the_jdk_and_the_sandbox() {
    let ran = rethrow(Path::new("/"), &["doctor"]);
    ran.check(0, &[]);
    assert!(ran.out.contains("✓ java") && ran.out.contains("✓ sandbox") && ran.out.contains("ready"), "{}", ran.out);
    let json = rethrow(Path::new("/"), &["doctor", "--format", "json"]).json();
    assert_eq!((json["schema"].as_u64(), json["ready"].as_bool()), (Some(1), Some(true)));
    assert!(json["jdks"][0]["feature"].as_u64().unwrap() >= 8);
}

#[test]
fn without_a_utf8_locale_everything_is_ascii() {
    let output = command(Path::new("/"), &["doctor"]).env("LC_ALL", "C").output().unwrap();
    assert!(output.stdout.is_ascii());
}

#[test]
fn a_reader_that_goes_away_is_no_bug() {
    let mut child = command(Path::new("/"), &["doctor"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn errors_are_data_for_programs() {
    let ran = reproduce("json_error", GO_LOG, &["-cp", ".", "--format", "json"]);
    let json = ran.json();
    assert_eq!((ran.code, json["exit_code"].as_i64()), (3, Some(3)));
    assert_eq!(json["error"]["code"], "other_language");
    assert!(json["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
}

#[test]
fn a_run_directory_in_use_is_refused() {
    let dir = folder("locked");
    std::fs::write(dir.join("crash.log"), PRIV_DEEP.replace("LINE", "1")).unwrap();
    std::fs::create_dir(dir.join("rethrow.out")).unwrap();
    let lock = File::create(dir.join("rethrow.out/lock")).unwrap();
    lock.lock().unwrap();
    std::fs::write(dir.join("rethrow.out/lock"), "4711").unwrap();
    let args = ["reproduce", "crash.log", "-cp", "gone.jar"];
    rethrow(&dir, &args).check(4, &["in use by another run (process 4711)", "--run-dir"]);
    drop(lock);
    rethrow(&dir, &args).check(3, &["gone.jar"]);
}

#[test]
fn a_run_directory_that_cannot_be_made() {
    let log = PRIV_DEEP.replace("LINE", "1");
    reproduce("run_dir", &log, &["-cp", ".", "--run-dir", "/proc/nowhere"]).check(4, &["cannot write /proc/nowhere"]);
}

#[test]
fn a_run_leaves_a_valid_record_and_nothing_half_written() {
    let dir = folder("record");
    let log = PRIV_DEEP.replace("LINE", &throw_line());
    let mut child = command(&dir, &["reproduce", "-", "-cp", fixtures(), "--budget", "10s", "--confirm-runs", "1", "-q"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), log.as_bytes()).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.join("rethrow.out/run.json")).unwrap()).unwrap();
    assert_eq!(record["exit_code"].as_i64(), Some(i64::from(ran.code)), "{}", ran.err);
    assert_eq!((record["schema"].as_u64(), record["frames"]["total"].as_u64(), record["seed"].as_u64()), (Some(1), Some(1), Some(1)));
    let inputs = record["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 2, "the log, kept from standard input, and the class folder");
    assert!(inputs.iter().all(|input| input["sha256"].as_str().is_some_and(|hash| hash.len() == 64)));
    assert_eq!(std::fs::read_to_string(dir.join("rethrow.out/crash.log")).unwrap(), log);
    let left: Vec<_> = std::fs::read_dir(dir.join("rethrow.out")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
}

#[test]
fn a_crash_becomes_a_test_that_can_be_replayed_while_the_inputs_stay() {
    let dir = folder("whole");
    std::fs::write(dir.join("crash.log"), PRIV_DEEP.replace("LINE", &throw_line())).unwrap();
    let ran = rethrow(&dir, &["reproduce", "crash.log", "-cp", fixtures(), "--confirm-runs", "2", "--format", "json"]);
    ran.check(0, &[]);
    let record = ran.json();
    assert_eq!((&record["verdict"], &record["frames"]["reached"]), (&"reproduced".into(), &1.into()));
    let test = std::fs::read_to_string(record["test"].as_str().unwrap()).unwrap();
    assert!(test.contains("package f13;") && test.contains("@Test"), "{test}");
    assert!(ran.err.is_empty(), "a program reads along: {}", ran.err);

    let replayed = rethrow(&dir, &["replay"]);
    replayed.check(0, &[]);
    assert!(replayed.out.starts_with("✔ reproduced"), "{}", replayed.out);
    std::fs::write(dir.join("crash.log"), "something else").unwrap();
    rethrow(&dir, &["replay"]).check(3, &["not those of the recorded run", "crash.log"]);
}

/// The exception of this log cannot be thrown where it says.
fn unreachable() -> String {
    PRIV_DEEP.replace("LINE", &throw_line()).replace("IllegalStateException: negative", "ArithmeticException")
}

#[test]
fn a_crash_that_cannot_be_ends_with_the_budget_and_without_a_test() {
    let dir = folder("unreachable");
    std::fs::write(dir.join("crash.log"), unreachable()).unwrap();
    let started = std::time::Instant::now();
    let ran = rethrow(&dir, &["reproduce", "crash.log", "-cp", fixtures(), "--budget", "12s"]);
    ran.check(1, &[]);
    assert!(started.elapsed() < std::time::Duration::from_secs(22), "the budget bounds everything");
    assert!(ran.out.contains("✘ not reproduced") && ran.out.contains("deepest") && ran.out.contains("--budget"), "{}", ran.out);
    assert!(!dir.join("rethrow.out/tests").exists(), "no test pretends to be one");
}

/// What is told without what the clock decides.
fn told(out: &str) -> String {
    let timed = |line: &str| line.contains("not reproduced in") || line.starts_with("  tried ");
    out.lines().filter(|line| !timed(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_failure_explains_itself() {
    let line = throw_line();
    let args = ["-cp", fixtures(), "--max-evaluations", "60", "--workers", "1", "--budget", "60s", "--confirm-runs", "0"];
    let ran = reproduce("explained-exception", &unreachable(), &args);
    ran.check(1, &[]);
    let expected = format!("  deepest   frame 1 f13.PrivDeep.p3:{line}, reached by ");
    assert!(told(&ran.out).starts_with(&expected), "{}", ran.out);
    assert!(ran.out.contains(&format!("\n  instead   java.lang.IllegalStateException at f13.PrivDeep.p3:{line} (")), "{}", ran.out);
    assert!(ran.out.contains("\n  next      other chance: --seed 2\n"), "{}", ran.out);
    let ran = reproduce("explained-predicate", "java.lang.IllegalStateException\n\tat g.Gate.open(Gate.java:8)\n", &args);
    ran.check(1, &[]);
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli/explained-predicate/rethrow.out/run.json");
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let explanation = &record["explanation"];
    assert_eq!(
        (&explanation["predicate"]["wanted"], &explanation["predicate"]["held"]),
        (&"this.count == argument 1 * 1000003".into(), &0.into()),
        "{explanation:#}"
    );
    assert!(ran.out.contains("\n  blocked   never true at g.Gate:7: this.count == argument 1 * 1000003  (0 of "), "{}", ran.out);
}

#[test]
fn an_interrupted_search_leaves_a_record_and_no_process() {
    let dir = folder("interrupted");
    std::fs::write(dir.join("crash.log"), unreachable()).unwrap();
    let mut child = command(&dir, &["reproduce", "crash.log", "-cp", fixtures(), "--budget", "5m", "--workers", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until the search runs: its workers have their scratch below the run directory.
    let marker = dir.join("rethrow.out").to_str().unwrap().to_string();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while running_below(&marker) == 0 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(running_below(&marker) > 0, "no worker was seen");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.join("rethrow.out/run.json")).unwrap()).unwrap();
    assert_eq!(record["verdict"], "interrupted");
    assert_eq!(running_below(&marker), 0);
}

/// How many processes work in that folder.
fn running_below(dir: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir))).count()
}

#[test]
fn a_replay_needs_a_record_of_a_found_test() {
    let dir = folder("replay");
    rethrow(&dir, &["replay"]).check(3, &["run.json: cannot be read"]);
    std::fs::create_dir(dir.join("rethrow.out")).unwrap();
    std::fs::write(dir.join("rethrow.out/run.json"), "{\"schema\": 7}").unwrap();
    rethrow(&dir, &["replay"]).check(3, &["has schema 7"]);
}

#[test]
fn the_jail_passes_output_and_exit_codes_through() {
    let ran = rethrow(Path::new("/"), &["jail", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (7, "out\n", "err\n"));
    rethrow(Path::new("/"), &["jail", "--", "sh", "-c", "kill -9 $$"]).check(137, &[]);
    rethrow(Path::new("/"), &["jail", "--", "no-such-command"]).check(4, &["cannot start no-such-command"]);
}

#[test]
fn the_jail_confines() {
    let dir = folder("jail");
    let (canary, written) = (dir.join("canary"), dir.join("written"));
    std::fs::write(&canary, "here").unwrap();
    let (canary, written) = (canary.to_str().unwrap(), written.to_str().unwrap());
    let shell = |options: &[&str], script: &str| rethrow(&dir, &[&["jail"], options, &["--", "sh", "-c", script]].concat());
    assert_ne!(shell(&[], &format!("echo x > {written}")).code, 0);
    assert!(!Path::new(written).exists());
    assert_ne!(shell(&[], &format!("rm {canary}")).code, 0);
    assert!(Path::new(canary).exists());
    assert_ne!(shell(&[], &format!("cat {canary}")).code, 0);
    let read = shell(&["--allow-read", "."], &format!("cat {canary}; echo x > mine && cat mine"));
    assert_eq!((read.code, read.out.as_str()), (0, "herex\n"));
}

#[test]
fn an_interrupt_ends_the_jail_and_all_in_it() {
    let dir = folder("interrupt");
    let started = std::time::Instant::now();
    // An odd number of seconds, by which the process can be told from others.
    let mut child = command(&dir, &["jail", "--", "sh", "-c", "sleep 61.7 & echo up; wait"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut up = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut up).unwrap();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "it did not wait for the command");
    assert_eq!(running("61.7"), 0);
}

/// How many processes have that word on their command line.
fn running(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let has_word = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        line.split(|byte| *byte == 0).any(|arg| arg == word.as_bytes()).then_some(())
    };
    processes.filter_map(has_word).count()
}

#[test]
#[cfg(debug_assertions)]
fn a_bug_is_exit_70_with_a_log_and_without_a_backtrace() {
    let dir = folder("bug");
    let ran = Ran::of(command(&dir, &["__panic"]).env("TMPDIR", &dir).output().unwrap());
    ran.check(70, &["this is a bug in rethrow", "__panic", "rethrow-bug-"]);
    assert_eq!(ran.err.lines().count(), 4, "{}", ran.err);
    let log = std::fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read_to_string(log).unwrap().contains("asked for"));
}
