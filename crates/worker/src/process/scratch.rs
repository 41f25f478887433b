//! Scratch directories: the only place a jailed program may write.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::SpawnError;

/// A private directory, removed with its contents when dropped.
///
/// It lies in an outer directory that only we can enter and that the jail cannot change, so whatever modes the
/// program gives its files, no other user reaches them.
#[derive(Debug)]
pub struct Scratch {
    outer: PathBuf,
    inner: PathBuf,
}

/// Attempts to find an unused name.
const ATTEMPTS: u32 = 1000;

impl Scratch {
    /// Makes a fresh one under `parent`, which must exist.
    pub fn create(parent: &Path) -> Result<Scratch, SpawnError> {
        let fault = |source| SpawnError::Scratch { path: parent.to_owned(), source };
        // Symlinks in the parent's path would make the paths that programs see differ from ours.
        let parent = parent.canonicalize().map_err(fault)?;
        let outer = create_unused(&parent).map_err(fault)?;
        let inner = outer.join("scratch");
        let scratch = Scratch { outer, inner };
        private_directory(&scratch.inner).map_err(fault)?;
        Ok(scratch)
    }

    pub fn path(&self) -> &Path {
        &self.inner
    }

    /// Removes from `parent` what processes left that were killed before they could.
    pub fn sweep(parent: &Path) {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for folder in folders.filter(|entry| entry.file_name().to_str().and_then(maker).is_some_and(|pid| !is_running(pid))) {
            remove(&folder.path());
        }
    }
}

/// Which process made the directory of that name.
fn maker(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix("rethrow-")?.split_once('-')?;
    number.parse::<u64>().ok()?;
    pid.parse().ok()
}

fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.outer);
    }
}

/// Numbers tried so far in this process, so that directories made at once do not collide.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn create_unused(parent: &Path) -> io::Result<PathBuf> {
    let pid = std::process::id();
    for _ in 0..ATTEMPTS {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("rethrow-{pid}-{number}"));
        match private_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Removes a tree. `remove_dir_all` does not follow symlinks; directories that were made unreadable are opened up
/// first. Failure leaves a directory behind, which is no reason to fail a run.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        open_up(path);
        let _ = fs::remove_dir_all(path);
    }
}

fn open_up(root: &Path) {
    // A list, not recursion: the tree is foreign and may be deep.
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        // Only directories get here, and by `file_type`, which does not follow symlinks; no process is left that
        // could exchange one for a symlink meanwhile.
        let _ = fs::set_permissions(&dir, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        pending.extend(directories.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_fresh_and_removed() {
        let first = Scratch::create(&std::env::temp_dir()).unwrap();
        let second = Scratch::create(&std::env::temp_dir()).unwrap();
        assert_ne!(first.path(), second.path());
        let mode = fs::metadata(first.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let outer = first.outer.clone();
        drop(first);
        assert!(!outer.exists());
    }

    #[test]
    fn removal_does_not_follow_symlinks_and_opens_locked_directories() {
        let outside = Scratch::create(&std::env::temp_dir()).unwrap();
        let canary = outside.path().join("canary");
        fs::write(&canary, "here").unwrap();
        let scratch = Scratch::create(&std::env::temp_dir()).unwrap();
        std::os::unix::fs::symlink(outside.path(), scratch.path().join("out")).unwrap();
        let locked = scratch.path().join("locked/inner");
        fs::create_dir_all(&locked).unwrap();
        fs::set_permissions(locked.parent().unwrap(), fs::Permissions::from_mode(0o000)).unwrap();
        let outer = scratch.outer.clone();
        drop(scratch);
        assert!(!outer.exists());
        assert_eq!(fs::read_to_string(canary).unwrap(), "here");
    }

    #[test]
    fn only_what_dead_processes_left_is_swept() {
        let parent = Scratch::create(&std::env::temp_dir()).unwrap();
        let ours = Scratch::create(parent.path()).unwrap();
        // No process has that number: it is beyond the kernel's largest.
        let left = ["rethrow-4294967295-7", "rethrow-out", "rethrow-1-x", "data"].map(|name| parent.path().join(name));
        left.iter().for_each(|path| fs::create_dir(path).unwrap());
        Scratch::sweep(parent.path());
        assert_eq!(left.map(|path| path.exists()), [false, true, true, true]);
        assert!(ours.path().exists());
        Scratch::sweep(Path::new("/nonexistent/parent"));
    }

    #[test]
    fn a_missing_parent_is_an_error() {
        assert!(Scratch::create(Path::new("/nonexistent/parent")).is_err());
    }
}
