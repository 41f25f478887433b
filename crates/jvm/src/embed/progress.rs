//! The worker's side of the shared page that tells which test is running.
//!
//! Plain stores into a mapped file: nothing that a test does to this process, not even killing it, loses them.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rethrow_worker::protocol::PROGRESS_BYTES;

/// See the module documentation.
pub struct ProgressPage {
    words: &'static [AtomicU32; PROGRESS_BYTES / 4],
}

impl ProgressPage {
    pub fn open(path: &Path) -> io::Result<ProgressPage> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < PROGRESS_BYTES as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the file is the parent's for this worker alone; both sides use it through single-word accesses only.
        let map = unsafe { memmap2::MmapOptions::new().len(PROGRESS_BYTES).map_mut(&file)? };
        // Lives as long as the process.
        let map = Box::leak(Box::new(map));
        // SAFETY: a mapping is page-aligned and has the length asked for; atomics have the layout of their integers.
        let words = unsafe { &*map.as_ptr().cast::<[AtomicU32; PROGRESS_BYTES / 4]>() };
        Ok(ProgressPage { words })
    }
    pub fn begin(&self, test: u32) {
        self.words[0].fetch_add(1, Ordering::Relaxed);
        self.words[2].store(0, Ordering::Relaxed);
        self.words[1].store(test + 1, Ordering::Release);
    }
    pub fn at(&self, statement: u32) {
        self.words[2].store(statement, Ordering::Relaxed);
    }
    pub fn statement(&self) -> u32 {
        self.words[2].load(Ordering::Relaxed)
    }
    pub fn end(&self) {
        self.words[1].store(0, Ordering::Release);
    }
    pub fn timed_out(&self) {
        self.words[3].store(1, Ordering::Release);
    }
}
