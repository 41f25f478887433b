//! Random access to bytes: a file, a stretch of a file (an archive stored inside another), or memory.
//!
//! Files are read, not mapped: a mapping counts as our memory page by page and kills the process when somebody
//! truncates the file under it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(crate) enum Source {
    File { file: Arc<File>, start: u64, len: u64 },
    Memory(Arc<[u8]>),
}

impl Source {
    pub fn open(path: &Path) -> io::Result<Source> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Source::File { file: Arc::new(file), start: 0, len })
    }

    pub fn len(&self) -> u64 {
        match self {
            Source::File { len, .. } => *len,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The stretch `at..at + len`, which must lie inside.
    pub fn part(&self, at: u64, len: u64) -> io::Result<Source> {
        self.check(at, len)?;
        Ok(match self {
            Source::File { file, start, .. } => Source::File { file: file.clone(), start: start + at, len },
            Source::Memory(bytes) => Source::Memory(bytes[at as usize..(at + len) as usize].into()),
        })
    }

    /// Nothing is allocated unless the source is long enough.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes, at, len)?;
        Ok(bytes)
    }

    /// Replaces the contents of `buffer`.
    pub fn read_into(&self, buffer: &mut Vec<u8>, at: u64, len: u64) -> io::Result<()> {
        self.check(at, len)?;
        let len = usize::try_from(len).map_err(|_| out_of_range())?;
        match self {
            Source::Memory(bytes) => {
                buffer.clear();
                buffer.extend_from_slice(&bytes[at as usize..at as usize + len]);
                Ok(())
            }
            Source::File { file, start, .. } => {
                buffer.resize(len, 0);
                file.read_exact_at(buffer, start + at)
            }
        }
    }

    fn check(&self, at: u64, len: u64) -> io::Result<()> {
        match at.checked_add(len) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(out_of_range()),
        }
    }
}

fn out_of_range() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends early")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stay_inside() {
        let whole = Source::Memory(Arc::from(&b"0123456789"[..]));
        let part = whole.part(2, 5).unwrap();
        assert_eq!(part.read(1, 3).unwrap(), b"345");
        assert!(part.read(3, 3).is_err());
        assert!(part.read(u64::MAX, 2).is_err());
        assert!(whole.part(8, 3).is_err());
    }
}
