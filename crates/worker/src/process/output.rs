//! Draining a process's output: all of it is read, so that the process never blocks; the last part is kept.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The end of an output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The last bytes.
    pub bytes: Vec<u8>,
    /// How many there were in all.
    pub total: u64,
}

impl Captured {
    /// Whether the beginning was dropped.
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// As text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The last `limit` bytes of what was pushed.
#[derive(Debug)]
struct Ring {
    bytes: VecDeque<u8>,
    limit: usize,
    total: u64,
    at_end: bool,
}

impl Ring {
    fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let kept = &chunk[chunk.len().saturating_sub(self.limit)..];
        let room = self.limit - kept.len();
        let surplus = self.bytes.len().saturating_sub(room);
        self.bytes.drain(..surplus);
        self.bytes.extend(kept);
    }

    fn captured(&self) -> Captured {
        Captured { bytes: self.bytes.iter().copied().collect(), total: self.total }
    }
}

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    ended: Condvar,
}

impl Shared {
    /// A thread that panicked in `push` leaves a ring that is still a ring.
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that reads a stream to its end.
#[derive(Debug)]
pub struct Drain {
    shared: Arc<Shared>,
}

impl Drain {
    /// Starts reading; without a stream it is an empty one. The thread ends with the stream.
    pub fn start(stream: Option<impl Read + Send + 'static>, limit: usize) -> Drain {
        let ring = Ring { bytes: VecDeque::new(), limit, total: 0, at_end: stream.is_none() };
        let shared = Arc::new(Shared { ring: Mutex::new(ring), ended: Condvar::new() });
        if let Some(stream) = stream {
            let for_thread = Arc::clone(&shared);
            std::thread::spawn(move || drain(stream, &for_thread));
        }
        Drain { shared }
    }

    /// What is kept so far.
    pub fn captured(&self) -> Captured {
        self.shared.lock().captured()
    }

    /// What is kept at the end of the stream, or after `limit`.
    pub fn finished(&self, limit: Duration) -> Captured {
        let waited = self.shared.ended.wait_timeout_while(self.shared.lock(), limit, |ring| !ring.at_end);
        waited.unwrap_or_else(PoisonError::into_inner).0.captured()
    }
}

fn drain(mut stream: impl Read, shared: &Shared) {
    let mut chunk = [0; 16 << 10];
    loop {
        match stream.read(&mut chunk) {
            Ok(len) if len > 0 => shared.lock().push(&chunk[..len]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    shared.lock().at_end = true;
    shared.ended.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(text: &'static str, limit: usize) -> Captured {
        Drain::start(Some(text.as_bytes()), limit).finished(Duration::from_secs(10))
    }

    #[test]
    fn the_end_is_kept_and_everything_counted() {
        let captured = finished("0123456789", 4);
        assert_eq!((captured.text().as_str(), captured.total), ("6789", 10));
        assert!(captured.truncated());
        assert!(!finished("0123", 4).truncated());
    }

    #[test]
    fn any_chunking_keeps_the_same_end() {
        for size in 1..12 {
            let mut ring = Ring { bytes: VecDeque::new(), limit: 5, total: 0, at_end: false };
            for chunk in b"abcdefghijk".chunks(size) {
                ring.push(chunk);
            }
            assert_eq!(ring.captured().bytes, b"ghijk", "chunks of {size}");
        }
    }

    #[test]
    fn no_stream_is_an_empty_stream() {
        let drain = Drain::start(None::<&[u8]>, 4);
        assert_eq!(drain.finished(Duration::from_secs(10)), Captured::default());
    }
}
