//! From printed paths to files on this machine, and from these to the packages they belong to.
//!
//! A path may come from another machine or be cut: what counts is the longest end of it that exists below a search path.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::Places;

/// A file to be read, and the module it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub path: PathBuf,
    pub module: String,
}

/// Folders that hold what crashes never go through.
const SKIPPED: [&str; 8] = ["tests", "_tests", "test", "testsuite", "__pycache__", "testing", "node_modules", "site-packages"];
/// Entries of one folder tree that are looked at.
const MAX_ENTRIES: usize = 20_000;

impl Places {
    /// The places with `src` folders of the given sources added, as projects have them.
    pub fn with_src(&self) -> Places {
        let mut places = self.clone();
        for entry in &self.search {
            let src = entry.join("src");
            if !is_site(entry) && src.is_dir() && !src.join("__init__.py").exists() && !places.search.contains(&src) {
                places.search.push(src);
            }
        }
        places
    }

    /// Whether a file is the interpreter's own.
    pub fn is_stdlib(&self, path: &Path) -> bool {
        let in_site = path.components().any(|c| matches!(c.as_os_str().to_str(), Some("site-packages" | "dist-packages")));
        !in_site
            && self.stdlib.iter().any(|dir| path.starts_with(dir))
            && !self.search.iter().any(|s| path.starts_with(s) && !self.stdlib.contains(s) && longer(s, &self.stdlib))
    }

    /// The file that a printed path means, below the search paths but not in the standard library.
    pub fn locate(&self, printed: &str) -> Option<Candidate> {
        if printed.starts_with('<') {
            return None;
        }
        let printed = printed.replace('\\', "/");
        let own: Vec<&PathBuf> = self.search.iter().filter(|s| !self.stdlib.contains(s)).collect();
        if let Some(dir) = own.iter().filter(|s| Path::new(&printed).starts_with(s)).max_by_key(|s| s.components().count())
            && Path::new(&printed).is_file()
        {
            return candidate(dir, Path::new(&printed).strip_prefix(dir).ok()?);
        }
        let parts: Vec<&str> = printed.split('/').filter(|p| !p.is_empty() && *p != "." && *p != ".." && *p != "~").collect();
        let cut = parts.iter().rposition(|p| matches!(*p, "site-packages" | "dist-packages")).map_or(0, |i| i + 1);
        (cut..parts.len()).find_map(|start| {
            let end: PathBuf = parts[start..].iter().collect();
            let found = own.iter().find(|dir| dir.join(&end).is_file())?;
            candidate(found, &end)
        })
    }

    /// The file of a dotted module.
    pub fn module(&self, name: &str) -> Option<Candidate> {
        let relative: PathBuf = name.split('.').collect();
        self.search.iter().filter(|s| !self.stdlib.contains(s)).find_map(|dir| {
            let package = dir.join(&relative).join("__init__.py");
            let file = dir.join(&relative).with_extension("py");
            let path = [package, file].into_iter().find(|p| p.is_file())?;
            Some(Candidate { path, module: name.to_string() })
        })
    }

    /// All files of the package or single module that a file belongs to, nearest first.
    pub fn siblings(&self, of: &Candidate) -> Vec<Candidate> {
        let depth = of.module.split('.').count() - usize::from(!of.path.ends_with("__init__.py"));
        let Some(root) = of.path.ancestors().nth(1 + depth).filter(|_| depth > 0) else { return vec![of.clone()] };
        let Some(top) = of.module.split('.').next() else { return Vec::new() };
        let mut found = Vec::new();
        let mut pending: VecDeque<PathBuf> = VecDeque::from([root.join(top)]);
        let mut looked = 0;
        while let Some(dir) = pending.pop_front() {
            let Ok(entries) = std::fs::read_dir(&dir) else { continue };
            let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).take(MAX_ENTRIES).collect();
            paths.sort();
            looked += paths.len();
            for path in paths {
                let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
                if is_test(name) {
                    continue;
                }
                if path.extension().is_some_and(|e| e == "py") {
                    found.extend(path.strip_prefix(root).ok().and_then(|relative| candidate(root, relative)));
                } else if !SKIPPED.contains(&name) && !name.contains('.') && path.is_dir() && !path.is_symlink() {
                    pending.push_back(path);
                }
            }
            if looked > MAX_ENTRIES {
                break;
            }
        }
        found
    }
}

/// Whether a file holds tests, as pytest finds them: what they define is no way to build what a crash needs.
fn is_test(name: &str) -> bool {
    name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest")
}

fn longer(entry: &Path, stdlib: &[PathBuf]) -> bool {
    stdlib.iter().any(|dir| entry.starts_with(dir) && entry != dir)
}

fn is_site(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n == "site-packages" || n == "dist-packages")
}

fn candidate(dir: &Path, relative: &Path) -> Option<Candidate> {
    let mut parts: Vec<&str> = relative.iter().filter_map(|p| p.to_str()).collect();
    let file = parts.pop()?;
    let stem = file.strip_suffix(".py")?;
    if stem != "__init__" {
        parts.push(stem);
    }
    (!parts.is_empty()).then(|| Candidate { path: dir.join(relative), module: parts.join(".") })
}
