//! The results file: one JSON object per line and run, only ever added to.
//!
//! A run is known by a hash over everything that decides it: log, program, flags, seed, budget, and the binary itself. Results of
//! other inputs therefore never count as done, and the report can keep them apart.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::UserError;
use crate::record::sha256;

pub const SCHEMA: u32 = 1;

/// What decides a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    pub crash: String,
    pub language: String,
    pub variant: String,
    pub flags: Vec<String>,
    pub seed: u64,
    pub budget_ms: u64,
    /// Hashes of the log and of the program.
    pub inputs: Vec<String>,
    /// Hash of the binary.
    pub binary: String,
}

impl Setting {
    pub fn key(&self) -> String {
        let text = serde_json::to_string(&(SCHEMA, self)).expect("strings and numbers are JSON");
        sha256(text.as_bytes())[..32].into()
    }
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the process; `None` if it had to be killed.
    pub exit: Option<i32>,
    /// As in `run.json`, or `error` where there is none.
    pub verdict: String,
    /// Program frames of the confirmed test; 0 if there is none.
    pub reached: usize,
    /// The outermost frame that was aimed at, and all of the log.
    pub target: usize,
    pub total: usize,
    pub evaluations: u64,
    /// From start to end of the process.
    pub wall_ms: u64,
    pub search_ms: u64,
    /// Why there is no test, if that is known.
    pub note: Option<String>,
}

/// A line of the file; `O` is what the kind of benchmark measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<O = Outcome> {
    pub schema: u32,
    pub key: String,
    /// Version of rethrow.
    pub tool: String,
    #[serde(flatten)]
    pub setting: Setting,
    #[serde(flatten)]
    pub outcome: O,
}

impl<O> Line<O> {
    pub fn new(setting: Setting, outcome: O) -> Line<O> {
        Line { schema: SCHEMA, key: setting.key(), tool: env!("CARGO_PKG_VERSION").into(), setting, outcome }
    }
}

/// All whole lines of a text, and how many others there are: an interrupted write leaves half a line.
pub fn parse<O: DeserializeOwned>(text: &str) -> (Vec<Line<O>>, usize) {
    let mut odd = 0;
    let mut lines = Vec::new();
    for text in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Line<O>>(text) {
            // A line that was edited by hand is not what was measured.
            Ok(line) if line.schema == SCHEMA && line.key == line.setting.key() => lines.push(line),
            _ => odd += 1,
        }
    }
    (lines, odd)
}

pub fn read<O: DeserializeOwned>(path: &Path) -> Result<(Vec<Line<O>>, usize), UserError> {
    let bad = |why: String| UserError::BenchInput { path: path.to_path_buf(), why };
    let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
    Ok(parse(&text))
}

/// The file, open for adding; no other process adds to it meanwhile.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    done: BTreeSet<String>,
}

impl Log {
    pub fn open(path: &Path) -> Result<Log, UserError> {
        let bad = |why: String| UserError::BenchInput { path: path.to_path_buf(), why };
        let failed = |e: std::io::Error| bad(e.to_string());
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(failed)?;
        }
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(bad("another benchmark is adding to it".into())),
            // Some network file systems have no locks; two runs at once are then the user's to avoid.
            _ => file.seek(SeekFrom::Start(0)).map_err(failed)?,
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // The half line stays, but ends, so that it cannot spoil the next one.
            file.write_all(b"\n").map_err(failed)?;
        }
        let done = parse::<serde_json::Map<String, serde_json::Value>>(&text).0.into_iter().map(|line| line.key).collect();
        Ok(Log { path: path.to_path_buf(), file, done })
    }

    pub fn has(&self, setting: &Setting) -> bool {
        self.done.contains(&setting.key())
    }

    /// Adds a run, in one write.
    pub fn add<O: Serialize>(&mut self, line: Line<O>) -> Result<(), UserError> {
        let mut text = serde_json::to_string(&line).expect("a line that was built is JSON");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|e| UserError::BenchInput { path: self.path.clone(), why: e.to_string() })?;
        self.done.insert(line.key);
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn setting(crash: &str, variant: &str, seed: u64) -> Setting {
        Setting {
            crash: crash.into(),
            language: "java".into(),
            variant: variant.into(),
            flags: vec![],
            seed,
            budget_ms: 10_000,
            inputs: vec!["aa".into(), "bb".into()],
            binary: "cc".into(),
        }
    }

    #[test]
    fn whatever_decides_a_run_changes_its_key() {
        let base = setting("A", "v", 1);
        let changed: [fn(&mut Setting); 8] = [
            |s| s.crash = "B".into(),
            |s| s.language = "python".into(),
            |s| s.variant = "w".into(),
            |s| s.flags.push("--x".into()),
            |s| s.seed = 2,
            |s| s.budget_ms = 1,
            |s| s.inputs = vec!["aabb".into()],
            |s| s.binary = "dd".into(),
        ];
        let mut keys: Vec<String> = vec![base.key()];
        for change in changed {
            let mut other = base.clone();
            change(&mut other);
            keys.push(other.key());
        }
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!((keys.len(), base.key()), (all, base.clone().key()));
    }

    #[test]
    fn a_file_continues_where_it_was_interrupted() {
        let path = std::env::temp_dir().join(format!("rethrow-results-{}.jsonl", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut log = Log::open(&path).unwrap();
        log.add(Line::new(setting("A", "v", 1), Outcome { reached: 2, ..Outcome::default() })).unwrap();
        assert!(Log::open(&path).is_err(), "one writer at a time");
        drop(log);
        // The machine was switched off in the middle of a write.
        let half = serde_json::to_string(&Line::new(setting("A", "v", 2), Outcome::default())).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(&half.as_bytes()[..half.len() / 2]).unwrap();
        let mut log = Log::open(&path).unwrap();
        assert!(log.has(&setting("A", "v", 1)) && !log.has(&setting("A", "v", 2)));
        log.add(Line::new(setting("A", "v", 2), Outcome::default())).unwrap();
        drop(log);
        let (lines, odd) = read::<Outcome>(&path).unwrap();
        assert_eq!((lines.len(), odd, lines[0].outcome.reached), (2, 1, 2));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_was_edited_is_not_a_result() {
        let line = serde_json::to_string(&Line::new(setting("A", "v", 1), Outcome::default())).unwrap();
        assert_eq!(parse::<Outcome>(&line).0.len(), 1);
        assert_eq!(parse::<Outcome>(&line.replace("\"seed\":1", "\"seed\":7")), (vec![], 1));
    }
}
