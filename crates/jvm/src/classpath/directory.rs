//! A directory of class files.

use std::io;
use std::path::{Path, PathBuf};

use super::zip::limit;

pub(crate) struct Directory {
    root: PathBuf,
    /// Internal names, sorted.
    names: Vec<Box<str>>,
}

/// Deeper than any package; stops symbolic links that lead in circles.
const MAX_DEPTH: usize = 48;
const MAX_FILES: usize = 1_000_000;

impl Directory {
    pub fn open(root: &Path) -> io::Result<Directory> {
        let mut names = Vec::new();
        let mut pending = vec![(root.to_path_buf(), String::new(), 0)];
        while let Some((dir, prefix, depth)) = pending.pop() {
            for entry in std::fs::read_dir(&dir)?.flatten() {
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                if let Some(class) = name.strip_suffix(".class") {
                    if class != "module-info" && names.len() < MAX_FILES {
                        names.push(format!("{prefix}{class}").into());
                    }
                } else if depth < MAX_DEPTH && entry.path().is_dir() && pending.len() < MAX_FILES {
                    pending.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
                }
            }
        }
        names.sort_unstable();
        Ok(Directory { root: root.to_path_buf(), names })
    }

    pub fn len(&self) -> u32 {
        self.names.len() as u32
    }

    pub fn name(&self, index: u32) -> &str {
        &self.names[index as usize]
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.binary_search_by(|n| n.as_ref().cmp(name)).ok().map(|i| i as u32)
    }

    pub fn has_package(&self, package: &str) -> bool {
        self.names.iter().any(|name| name.rsplit_once('/').map_or("", |(p, _)| p) == package)
    }

    pub fn file(&self, index: u32) -> PathBuf {
        self.root.join(format!("{}.class", self.name(index)))
    }

    pub fn read_class(&self, index: u32) -> io::Result<Vec<u8>> {
        let path = self.file(index);
        match std::fs::metadata(&path)?.len() {
            len if len > limit::CLASS_BYTES => Err(io::Error::new(io::ErrorKind::InvalidData, "larger than allowed")),
            _ => std::fs::read(path),
        }
    }
}
