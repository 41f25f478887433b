//! The run record (`run.json`): what a run was given, what came out, and how to do it again; and the folder it lives in.
//!
//! The format is versioned by [`SCHEMA`]: fields are added, never given another meaning. Files appear whole or not at all, and a
//! folder belongs to one run at a time.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use rethrow_core::testcase::portable::PortableTest;
use rethrow_core::trace::{Throwable, Via};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::error::UserError;
use crate::explain::Explanation;

pub const SCHEMA: u32 = 1;
const RECORD_FILE: &str = "run.json";
const LOCK_FILE: &str = "lock";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Confirmed in fresh processes.
    Reproduced,
    /// Confirmed, but for fewer frames than `--target-frame` asked for.
    Partial,
    NotReproduced,
    /// Found, but not run in fresh processes.
    Unconfirmed,
    /// Some of the fresh processes did not agree.
    Flaky,
    /// Stopped by the user; what was found so far is in the record.
    Interrupted,
}

impl Verdict {
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Reproduced => 0,
            Verdict::NotReproduced => 1,
            Verdict::Partial | Verdict::Unconfirmed | Verdict::Flaky => 5,
            Verdict::Interrupted => 130,
        }
    }
}

/// See the module documentation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub schema: u32,
    /// Version of rethrow.
    pub tool: String,
    pub verdict: Verdict,
    pub exit_code: u8,
    /// The exception wanted.
    pub exception: String,
    pub frames: Frames,
    /// The frame in whose package the test lives; 0 if there is none.
    #[serde(default)]
    pub home: usize,
    /// Of a hunt: what the written test throws, as fresh processes showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thrown: Option<Throwable>,
    /// How the exception left the test; `None` if nothing was reproduced.
    pub via: Option<Via>,
    pub seed: u64,
    pub evaluations: u64,
    pub elapsed_ms: Elapsed,
    /// The written test.
    pub test: Option<PathBuf>,
    pub test_sha256: Option<String>,
    /// How the user runs it.
    pub run: Option<String>,
    pub test_case: Option<PortableTest>,
    /// What came nearest, if nothing was reproduced.
    pub nearest: Option<Nearest>,
    /// Why the search did not get further, if it did not reach the outermost frame.
    #[serde(default)]
    pub explanation: Option<Explanation>,
    pub confirmed: Confirmed,
    pub config: Config,
    pub inputs: Vec<Input>,
    /// The command that confirms the test case again.
    pub replay: String,
    pub jail: Jail,
    /// What the jail refused to the written test: outside, it may do something else.
    pub refused: Vec<String>,
    /// No clock decided anything: the same seed gives the same run.
    pub deterministic: bool,
    pub diagnostics: Vec<String>,
    /// What ran the program (a JDK, a Python interpreter): version and place.
    #[serde(alias = "jdk")]
    pub runtime: Option<Runtime>,
    pub stats: Stats,
}

/// Program frames, innermost = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    /// Of the written test; 0 if there is none.
    pub reached: usize,
    /// The outermost that was aimed at.
    pub target: usize,
    /// In the log.
    pub total: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elapsed {
    pub total: u64,
    pub search: u64,
    pub minimize: u64,
    pub confirm: u64,
}

/// The best test of a run that reproduced nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// The first program frame, counted from the outermost tried, that was not reached: `a.B.c:7`.
    pub place: String,
    /// What stood in the way, in words.
    pub blocked: Option<String>,
    pub distance: f64,
    pub test_case: PortableTest,
}

/// Fresh processes that ran the written test: `agreed` of `runs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    pub runs: u32,
    pub agreed: u32,
    /// Of them, those that ended in the same call; a runaway recursion may find the stack full in another.
    #[serde(default)]
    pub alike: u32,
}

/// A file that the run depended on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    pub path: PathBuf,
    /// Of a folder: over the names and contents of all files in it.
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jail {
    /// `default`, `strict` or `off`.
    pub mode: String,
    pub layers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    pub version: String,
    pub home: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    pub tests_per_s: f64,
    pub workers: usize,
    /// Worker processes that had to be replaced.
    pub restarts: u64,
    /// Why, and how often.
    #[serde(default)]
    pub replaced: BTreeMap<String, u64>,
    pub timeouts: u64,
    pub step_limits: u64,
    pub deaths: u64,
    pub exits: u64,
    /// Generations of the search.
    #[serde(default)]
    pub generations: u64,
}

impl RunRecord {
    /// A record of a run that has found nothing yet.
    pub fn new(config: &Config, exception: &str, frames: Frames, inputs: Vec<Input>) -> RunRecord {
        let verdict = Verdict::NotReproduced;
        RunRecord {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION").into(),
            verdict,
            exit_code: verdict.exit_code(),
            exception: exception.into(),
            frames,
            home: 0,
            thrown: None,
            via: None,
            seed: config.seed,
            evaluations: 0,
            elapsed_ms: Elapsed::default(),
            test: None,
            test_sha256: None,
            run: None,
            test_case: None,
            nearest: None,
            explanation: None,
            confirmed: Confirmed::default(),
            config: config.clone(),
            inputs,
            replay: replay_command(&config.run_dir, &config.host.cwd),
            jail: Jail::default(),
            refused: Vec::new(),
            deterministic: true,
            diagnostics: Vec::new(),
            runtime: None,
            stats: Stats::default(),
        }
    }

    pub fn set_verdict(&mut self, verdict: Verdict) {
        self.verdict = verdict;
        self.exit_code = verdict.exit_code();
    }

    /// The record of an earlier run. `Err` says what is wrong with it.
    pub fn read(run_dir: &Path) -> Result<RunRecord, UserError> {
        let path = run_dir.join(RECORD_FILE);
        let bad = |why: String| UserError::BadRecord { path: path.clone(), why };
        let bytes = std::fs::read(&path).map_err(|e| bad(format!("cannot be read: {e}")))?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| bad(format!("is not a run record: {e}")))?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(schema) => return Err(bad(format!("has schema {schema}; this rethrow reads {SCHEMA}"))),
            None => return Err(bad("is not a run record".into())),
        }
        serde_json::from_value(value).map_err(|e| bad(format!("is not a run record: {e}")))
    }

    /// The inputs that are not what they were.
    pub fn changed_inputs(&self) -> Vec<PathBuf> {
        let same = |input: &Input| Input::read(&input.path).is_ok_and(|now| now.sha256 == input.sha256);
        self.inputs.iter().filter(|input| !same(input)).map(|input| input.path.clone()).collect()
    }
}

fn replay_command(run_dir: &Path, cwd: &Path) -> String {
    format!("rethrow replay {}", crate::report::quoted(&crate::report::short(run_dir, cwd)))
}

impl Input {
    /// Reads and hashes a file, or all files of a folder.
    pub fn read(path: &Path) -> std::io::Result<Input> {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        if path.is_dir() {
            let mut files = Vec::new();
            list_files(path, &mut files)?;
            files.sort();
            for file in files {
                let name = file.strip_prefix(path).unwrap_or(&file);
                hash.update(name.as_os_str().as_encoded_bytes());
                hash.update([0]);
                bytes += hash_file(&file, &mut hash)?;
            }
        } else {
            bytes = hash_file(path, &mut hash)?;
        }
        Ok(Input { path: path.to_path_buf(), sha256: hex(&hash.finalize()), bytes })
    }
}

/// The hash of what will be written.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hash_file(path: &Path, hash: &mut Sha256) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(total);
        }
        hash.update(&buffer[..n]);
        total += n as u64;
    }
}

/// Regular files below a folder. Links are not followed: they may lead round in circles.
fn list_files(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The folder of a run, held by this process until dropped.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The kernel releases the lock when the process ends, however it ends, so a lock cannot go stale.
    _lock: File,
}

impl RunDir {
    /// Makes the folder and takes it. What an earlier run left there stays until [`RunDir::clear`].
    pub fn open(path: &Path) -> Result<RunDir, UserError> {
        let unusable = |e: std::io::Error| UserError::RunDirUnusable { path: path.to_path_buf(), why: e.to_string() };
        std::fs::create_dir_all(path).map_err(unusable)?;
        let options = File::options().read(true).write(true).create(true).truncate(false).open(path.join(LOCK_FILE));
        let mut lock = options.map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = lock.read_to_string(&mut holder);
                return Err(UserError::RunDirLocked { path: path.to_path_buf(), pid: holder.trim().parse().ok() });
            }
            // Some network file systems have no locks; two runs at once are then the user's to avoid.
            Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(unusable(e)),
        }
        let mark = |lock: &mut File| {
            lock.set_len(0)?;
            lock.rewind()?;
            write!(lock, "{}", std::process::id())
        };
        mark(&mut lock).map_err(unusable)?;
        Ok(RunDir { path: path.to_path_buf(), _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives up a folder that holds nothing but the lock, so that a run that could not even begin leaves no trace.
    pub fn abandon(self) {
        let only_lock = std::fs::read_dir(&self.path).is_ok_and(|mut all| all.all(|e| e.is_ok_and(|e| e.file_name() == LOCK_FILE)));
        if only_lock {
            // Nothing depends on it: the next run makes the folder again.
            let _ = std::fs::remove_file(self.path.join(LOCK_FILE));
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// Removes the record of an earlier run, and the test it wrote in here unless somebody edited it, so that nothing old can be
    /// taken for a result of this run.
    pub fn clear(&self) -> Result<(), UserError> {
        if let Ok(old) = RunRecord::read(&self.path)
            && let (Some(test), Some(hash)) = (&old.test, &old.test_sha256)
            && test.starts_with(&self.path)
            && Input::read(test).is_ok_and(|now| now.sha256 == *hash)
        {
            self.remove(test)?;
        }
        // A run that was killed could not do so itself.
        rethrow_worker::process::Scratch::sweep(&self.path);
        self.remove(&self.path.join(RECORD_FILE))
    }

    /// Writes the record; it is there whole or not at all.
    pub fn write(&self, record: &RunRecord) -> Result<(), UserError> {
        let path = self.path.join(RECORD_FILE);
        let unusable = |why: String| UserError::RunDirUnusable { path: path.clone(), why };
        let mut text = serde_json::to_string_pretty(record).map_err(|e| unusable(e.to_string()))?;
        text.push('\n');
        write_atomically(&path, text.as_bytes()).map_err(|e| unusable(e.to_string()))
    }

    fn remove(&self, file: &Path) -> Result<(), UserError> {
        match std::fs::remove_file(file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(UserError::RunDirUnusable { path: file.to_path_buf(), why: e.to_string() }),
            _ => Ok(()),
        }
    }
}

/// The same without waiting for the disk: for many files at once, which a power failure may cost.
pub fn write_quickly(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path))
}

/// Writes beside the place and renames, making folders as needed, so that no reader ever sees half a file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    let done = written.and_then(|()| std::fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the one to tell; a file that cannot be removed either adds nothing.
        let _ = std::fs::remove_file(&temporary);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Host;
    use clap::Parser;

    /// A folder of its own for each test, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("rethrow-record-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn record(run_dir: &Path) -> RunRecord {
        let words = ["rethrow", "reproduce", "crash.log", "--run-dir", run_dir.to_str().unwrap()];
        let Command::Reproduce(args) = Cli::try_parse_from(words).unwrap().command else { panic!("another command") };
        let config = Config::resolve(args, Host::default()).unwrap();
        RunRecord::new(&config, "java.lang.NullPointerException", Frames { reached: 0, target: 2, total: 3 }, Vec::new())
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        let folder = Folder::new("round");
        let dir = RunDir::open(&folder.0).unwrap();
        let mut written = record(&folder.0);
        written.set_verdict(Verdict::Flaky);
        dir.write(&written).unwrap();
        let read = RunRecord::read(&folder.0).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&written).unwrap());
        assert_eq!((read.verdict, read.exit_code), (Verdict::Flaky, 5));
        let names: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "only the record and the lock: {names:?}");
    }

    #[test]
    fn the_names_that_other_programs_read() {
        let json = serde_json::to_value(record(Path::new("/r"))).unwrap();
        for name in ["schema", "verdict", "exit_code", "frames", "seed", "evaluations", "elapsed_ms", "test", "replay", "inputs", "config"] {
            assert!(json.get(name).is_some(), "{name}");
        }
        assert_eq!(json["verdict"], "not_reproduced");
        assert_eq!(json["frames"], serde_json::json!({ "reached": 0, "target": 2, "total": 3 }));
        assert_eq!(json["replay"], "rethrow replay r");
    }

    #[test]
    fn records_of_another_schema_are_refused() {
        let folder = Folder::new("schema");
        for (text, why) in [("{\"schema\": 99}", "schema 99"), ("{}", "not a run record"), ("nonsense", "not a run record")] {
            std::fs::write(folder.0.join(RECORD_FILE), text).unwrap();
            let error = RunRecord::read(&folder.0).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn a_folder_belongs_to_one_run_at_a_time() {
        let folder = Folder::new("lock");
        let first = RunDir::open(&folder.0).unwrap();
        let own = Some(std::process::id());
        assert!(matches!(RunDir::open(&folder.0), Err(UserError::RunDirLocked { pid, .. }) if pid == own));
        drop(first);
        assert!(RunDir::open(&folder.0).is_ok());
    }

    #[test]
    fn the_lock_of_a_dead_process_is_taken_over() {
        let folder = Folder::new("stale");
        std::fs::write(folder.0.join(LOCK_FILE), "999999999").unwrap();
        assert!(RunDir::open(&folder.0).is_ok());
    }

    #[test]
    fn what_an_earlier_run_wrote_is_removed_unless_edited() {
        let folder = Folder::new("clear");
        let dir = RunDir::open(&folder.0).unwrap();
        let test = folder.0.join("tests/A_CrashTest.java");
        for (edited, kept) in [(false, false), (true, true)] {
            write_atomically(&test, b"class A {}").unwrap();
            let mut old = record(&folder.0);
            old.test = Some(test.clone());
            old.test_sha256 = Some(sha256(b"class A {}"));
            dir.write(&old).unwrap();
            if edited {
                std::fs::write(&test, "class A { /* mine */ }").unwrap();
            }
            dir.clear().unwrap();
            assert_eq!(test.exists(), kept, "edited: {edited}");
            assert!(RunRecord::read(&folder.0).is_err());
        }
    }

    #[test]
    fn changed_inputs_are_noticed() {
        let folder = Folder::new("inputs");
        let (file, dir) = (folder.0.join("a.log"), folder.0.join("classes"));
        std::fs::create_dir_all(dir.join("p")).unwrap();
        std::fs::write(&file, "one").unwrap();
        std::fs::write(dir.join("p/A.class"), "two").unwrap();
        let mut record = record(&folder.0);
        record.inputs = [&file, &dir].map(|p| Input::read(p).unwrap()).to_vec();
        assert_eq!(record.inputs[0].sha256, sha256(b"one"));
        assert_eq!((record.inputs[0].bytes, record.inputs[1].bytes), (3, 3));
        assert!(record.changed_inputs().is_empty());
        std::fs::rename(dir.join("p/A.class"), dir.join("p/B.class")).unwrap();
        assert_eq!(record.changed_inputs(), [dir]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(record.changed_inputs().len(), 2);
    }
}
