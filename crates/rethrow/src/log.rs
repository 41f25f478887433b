//! Reads a log, however large it is, packed by gzip or not: of a log beyond [`SMALL`] only the lines that may belong to a trace are kept, and what stands near them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Logs up to this are kept whole.
const SMALL: u64 = 32 << 20;
/// So much of a larger one is kept; the rest is not looked at.
const MOST: usize = 48 << 20;
/// Lines before and behind a line of a trace that are kept: its exception, its causes, what the reporter says.
const BEFORE: usize = 200;
const AFTER: usize = 60;
/// A longer line is cut.
const LONGEST: usize = 64 << 10;
/// The first bytes of a file that gzip made.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// So much of what is packed in it is looked at: a small file may hold any amount.
const MOST_UNPACKED: u64 = 4 << 30;

/// See the module documentation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub bytes: Vec<u8>,
    /// The number (from 1) in the log of each line that was kept; empty if all were.
    numbers: Vec<usize>,
    /// Lines that were looked at.
    lines: usize,
}

impl Log {
    pub fn open(path: &Path) -> io::Result<Log> {
        Log::read(File::open(path)?)
    }

    pub fn read(from: impl Read) -> io::Result<Log> {
        Log::read_above(from, SMALL)
    }

    fn read_above(mut from: impl Read, small: u64) -> io::Result<Log> {
        let mut head = Vec::new();
        from.by_ref().take(GZIP.len() as u64).read_to_end(&mut head)?;
        if head.starts_with(&GZIP) {
            let packed = MultiGzDecoder::new(io::Cursor::new(head).chain(from));
            return Log::read_plain(packed.take(MOST_UNPACKED), small);
        }
        Log::read_plain(io::Cursor::new(head).chain(from), small)
    }

    fn read_plain(mut from: impl Read, small: u64) -> io::Result<Log> {
        let mut head = Vec::new();
        from.by_ref().take(small + 1).read_to_end(&mut head)?;
        if head.len() as u64 <= small {
            return Ok(Log { bytes: head, ..Log::default() });
        }
        scan(BufReader::with_capacity(1 << 20, io::Cursor::new(head).chain(from)))
    }

    /// The number in the log of a line (from 1) of what was kept.
    pub fn number(&self, line: usize) -> usize {
        if self.numbers.is_empty() { line } else { line.checked_sub(1).and_then(|i| self.numbers.get(i)).copied().unwrap_or(line) }
    }

    /// How many lines the log has, if it was not kept whole.
    pub fn lines(&self) -> Option<usize> {
        (self.lines > 0).then_some(self.lines)
    }

    fn keep(&mut self, line: &[u8], number: usize) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.numbers.push(number);
    }
}

fn scan(mut from: impl BufRead) -> io::Result<Log> {
    let mut log = Log::default();
    let mut before: VecDeque<Vec<u8>> = VecDeque::new();
    let mut line = Vec::new();
    let mut left = 0;
    while log.bytes.len() < MOST && next_line(&mut from, &mut line)? {
        log.lines += 1;
        if telling(&line) {
            // a blank line keeps what is apart in the log apart
            if left == 0 && before.len() == BEFORE && !log.bytes.is_empty() {
                log.keep(b"", log.lines - BEFORE - 1);
            }
            let first = log.lines - before.len();
            for (i, earlier) in before.drain(..).enumerate() {
                log.keep(&earlier, first + i);
            }
            left = AFTER + 1;
        }
        if left > 0 {
            left -= 1;
            log.keep(&line, log.lines);
        } else {
            let mut spare = if before.len() == BEFORE { before.pop_front().unwrap_or_default() } else { Vec::new() };
            spare.clear();
            spare.extend_from_slice(&line);
            before.push_back(spare);
        }
    }
    Ok(log)
}

/// The next line without its end, cut at [`LONGEST`]; `false` at the end of the log.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&part[..part.len().min(LONGEST - line.len())]);
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Whether the line may be one of a trace. Too many are kept rather than one too few.
fn telling(line: &[u8]) -> bool {
    const SIGNS: [&[u8]; 5] = [b"File \"", b".py:", b"Caused by: ", b"Traceback (", b"at "];
    let bracket = || line.contains(&b'(') && line.contains(&b')');
    SIGNS.iter().any(|sign| line.windows(sign.len()).any(|w| w == *sign) && (*sign != b"at " || bracket()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(lines: usize) -> String {
        "2026-03-02 08:14:55 INFO nothing to see\n".repeat(lines)
    }

    #[test]
    fn of_a_large_log_traces_and_what_is_near_them_are_kept() {
        let trace = "java.lang.IllegalStateException: x\n\tat a.B.c(B.java:3)\n";
        let text = format!("{}{trace}{}{trace}{}", noise(1000), noise(1000), noise(1000));
        let log = Log::read_above(text.as_bytes(), 100).unwrap();
        let kept = String::from_utf8(log.bytes.clone()).unwrap();
        let lines: Vec<&str> = kept.lines().collect();
        let places: Vec<usize> = (1..=lines.len()).filter(|i| lines[i - 1].starts_with("\tat")).map(|i| log.number(i)).collect();
        assert_eq!(places, [1002, 2004]);
        assert!(lines.len() < 700 && lines.len() == log.numbers.len(), "{}", lines.len());
        assert!((1..lines.len()).all(|i| log.number(i) < log.number(i + 1)), "in order");
        for (i, line) in lines.iter().enumerate().filter(|(_, l)| !l.is_empty()) {
            assert_eq!(text.lines().nth(log.number(i + 1) - 1), Some(*line));
        }
        assert_eq!(log.lines(), Some(3004));
    }

    #[test]
    fn a_small_log_is_kept_whole() {
        let log = Log::read("a\nb".as_bytes()).unwrap();
        assert_eq!((&log.bytes[..], log.number(2), log.lines()), (&b"a\nb"[..], 2, None));
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let endless = "at x(".to_string() + &"y)".repeat(200_000);
        assert!(Log::read_above(endless.as_bytes(), 100).unwrap().bytes.len() <= LONGEST + 1);
    }

    #[test]
    fn a_packed_log_is_read_and_a_broken_one_told() {
        let text = format!("{}at a.B.c(B.java:3)\n", noise(50));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(Log::read(&packed[..]).unwrap(), Log::read(text.as_bytes()).unwrap());
        assert_eq!(Log::read_above(&packed[..], 100).unwrap(), Log::read_above(text.as_bytes(), 100).unwrap());
        assert!(Log::read(&packed[..packed.len() / 2]).is_err());
    }
}
