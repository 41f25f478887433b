//! What the tests of whole runs share: starting the binary, its record, compiling Java, what a run left behind.

// Each test file uses its own part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub const BINARY: &str = env!("CARGO_BIN_EXE_rethrow");
/// The kernel needs a moment to end a process, and a loaded machine more than one.
const LAST_MOMENT: Duration = Duration::from_secs(10);

/// A run of the binary that has ended.
#[derive(Debug)]
pub struct Ran {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
    /// `run.json`, or null.
    pub record: serde_json::Value,
}

impl Ran {
    pub fn of(output: Output, started: Instant, run_dir: &Path) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("only UTF-8 is printed");
        let record = std::fs::read(run_dir.join("run.json")).ok();
        let record = record.map_or(serde_json::Value::Null, |bytes| serde_json::from_slice(&bytes).expect("a record is JSON"));
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr), took: started.elapsed(), record }
    }

    #[track_caller]
    pub fn check(&self, code: i32, err: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}{:#}", self.out, self.err, self.record);
        for part in err {
            assert!(self.err.contains(part), "no {part:?} in {}", self.err);
        }
    }

    #[track_caller]
    pub fn check_verdict(&self, code: i32, verdict: &str) {
        self.check(code, &[]);
        assert_eq!(self.record["verdict"], verdict, "{:#}", self.record);
        assert_eq!(self.record["exit_code"], code);
    }

    /// The text of the written test.
    pub fn test(&self) -> Option<String> {
        std::fs::read_to_string(self.record["test"].as_str()?).ok()
    }
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The compiled fixture programs and the logs of their crashes; made if they are not there or older than their sources.
pub fn fixtures() -> &'static Path {
    static FIXTURES: OnceLock<PathBuf> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let target = repository().join("target");
        std::fs::create_dir_all(&target).unwrap();
        // Another test program may be making them.
        let lock = std::fs::File::create(target.join("fixtures.lock")).unwrap();
        lock.lock().unwrap();
        let made = Command::new(repository().join("scripts/fixtures.sh")).status().unwrap();
        assert!(made.success(), "scripts/fixtures.sh failed");
        target.join("fixtures")
    })
}

/// A fresh folder with a name of its own.
pub fn folder(group: &str, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(group).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

pub fn command(cwd: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(cwd).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// Runs to the end; the run directory is the default one below `cwd`.
pub fn rethrow(cwd: &Path, args: &[&str]) -> Ran {
    let started = Instant::now();
    Ran::of(command(cwd, args).output().unwrap(), started, &cwd.join("rethrow.out"))
}

/// A program of a JDK that has a compiler.
pub fn jdk_tool(name: &str) -> PathBuf {
    let output = command(Path::new("/"), &["doctor", "--format", "json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let jdks = found["jdks"].as_array().unwrap();
    let javac = jdks.iter().find_map(|jdk| jdk["javac"].as_str()).expect("the tests need a JDK: make test installs one");
    Path::new(javac).with_file_name(name)
}

/// Compiles all sources of a folder.
pub fn compile(sources: &Path, classes: &Path) {
    let files = std::fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path());
    let mut javac = Command::new(jdk_tool("javac"));
    let compiled = javac.args(["-g", "-nowarn", "-encoding", "UTF-8", "-d"]).arg(classes).args(files).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// The log of a crash in the line of `source` that is marked with `// crash`.
pub fn log_of(exception: &str, class: &str, method: &str, source: &Path) -> String {
    let text = std::fs::read_to_string(source).unwrap();
    let line = text.lines().position(|line| line.ends_with("// crash")).expect("one line is marked") + 1;
    let file = source.file_name().unwrap().to_str().unwrap();
    format!("Exception in thread \"main\" {exception}\n\tat {class}.{method}({file}:{line})\n")
}

/// Living processes that work in a folder or below it, or have a word of their command line that contains `word`.
pub fn living(dir: &Path, word: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let own = std::process::id().to_string();
    let told = |entry: std::fs::DirEntry| {
        let line = String::from_utf8_lossy(&std::fs::read(entry.path().join("cmdline")).ok()?).replace('\0', " ");
        let below = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
        let named = !line.is_empty() && line.contains(word) && entry.file_name() != own.as_str();
        (below || named).then(|| format!("{} {line}", entry.file_name().display()))
    };
    processes.filter_map(told).collect()
}

#[track_caller]
pub fn assert_no_survivor(dir: &Path, word: &str) {
    let until = Instant::now() + LAST_MOMENT;
    while !living(dir, word).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(living(dir, word), Vec::<String>::new());
}

/// Every path below a folder, with the size and a hash of what is in files; a run directory is left out.
pub fn snapshot(dir: &Path) -> BTreeMap<PathBuf, (usize, u64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "rethrow.out") {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let content = if kind.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            if kind.is_dir() {
                folders.push(path.clone());
            }
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            found.insert(path, (content.len(), hasher.finish()));
        }
    }
    found
}
