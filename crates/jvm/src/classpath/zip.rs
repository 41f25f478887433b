//! A total reader of zip archives: the central directory, and the contents of one entry at a time.
//!
//! Knows zip64, archives with a script in front, stored and deflated entries. Does not know encryption, spanned
//! archives, or any other compression; such entries are refused when read. Checksums are not compared: neither
//! does the JVM when it loads a class.

use std::cell::RefCell;
use std::io;

use libdeflater::Decompressor;

use super::source::Source;

/// Bounds that no real archive meets, against archives that were made to exhaust memory.
pub(crate) mod limit {
    pub const DIRECTORY_BYTES: u64 = 512 << 20;
    pub const CLASS_BYTES: u64 = 64 << 20;
    pub const NESTED_BYTES: u64 = 256 << 20;
    /// Deflate cannot pack better than 1032 to 1.
    pub const RATIO: u64 = 1040;
}

/// Where the central directory is and what offsets in it are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Directory {
    start: u64,
    len: u64,
    base: u64,
}

/// One row of the central directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Of the local header, in the source.
    pub header: u64,
    pub packed: u64,
    pub size: u64,
    pub method: u16,
    pub encrypted: bool,
}

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Calls `each` for every entry with its raw name, in directory order. The string says what is wrong.
pub(crate) fn for_each_entry(source: &Source, mut each: impl FnMut(&[u8], Entry)) -> Result<(), String> {
    let directory = find_directory(source)?;
    let rows = source.read(directory.start, directory.len).map_err(|e| e.to_string())?;
    let mut at = 0;
    while let Some(row) = rows.get(at..).filter(|row| row.starts_with(b"PK\x01\x02")) {
        let (name, entry, len) = parse_row(row, directory.base).ok_or("damaged zip directory")?;
        each(name, entry);
        at += len;
    }
    match at {
        0 if !rows.is_empty() => Err("damaged zip directory".to_owned()),
        _ => Ok(()),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn parse_row(row: &[u8], base: u64) -> Option<(&[u8], Entry, usize)> {
    let flags = u16_at(row, 8)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(row, at).map(usize::from));
    let (name_end, extra_end) = (46 + name?, 46 + name? + extra?);
    let mut fields = [24, 20, 42].map(|at| u32_at(row, at).map_or(0, u64::from));
    u32_at(row, 42)?;
    widen(row.get(name_end..extra_end)?, &mut fields);
    let [size, packed, header] = fields;
    let entry = Entry { header: base.checked_add(header)?, packed, size, method: u16_at(row, 10)?, encrypted: flags & 1 != 0 };
    Some((row.get(46..name_end)?, entry, extra_end + comment?))
}

/// Replaces the fields that did not fit 32 bits by those of the zip64 extra field, which lists only these.
fn widen(mut extra: &[u8], fields: &mut [u64; 3]) {
    while let (Some(id), Some(len)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let Some(body) = extra.get(4..4 + usize::from(len)) else {
            return;
        };
        if id == 1 {
            let wide = fields.iter_mut().filter(|field| **field == u64::from(u32::MAX));
            for (i, field) in wide.enumerate() {
                *field = u64_at(body, i * 8).unwrap_or(*field);
            }
            return;
        }
        extra = &extra[4 + usize::from(len)..];
    }
}

fn find_directory(source: &Source) -> Result<Directory, String> {
    const END_LEN: u64 = 22;
    let tail_len = source.len().min(END_LEN + u64::from(u16::MAX));
    let tail_start = source.len() - tail_len;
    let tail = source.read(tail_start, tail_len).map_err(|e| e.to_string())?;
    let mut end = tail.len();
    while let Some(at) = tail[..end].windows(4).rposition(|w| w == b"PK\x05\x06") {
        if let Some(directory) = directory_at(source, &tail[at..], tail_start + at as u64) {
            return Ok(directory);
        }
        end = at + 3;
    }
    Err(if tail.is_empty() { "empty file".to_owned() } else { "not a zip archive, or cut off".to_owned() })
}

/// The directory that the end record `end` at `position` describes, if it can be one.
fn directory_at(source: &Source, end: &[u8], position: u64) -> Option<Directory> {
    let narrow = (u32_at(end, 12)?, u32_at(end, 16)?);
    let is_wide = narrow.0 == u32::MAX || narrow.1 == u32::MAX || u16_at(end, 10)? == u16::MAX;
    let wide = if is_wide { wide_end(source, position) } else { None };
    let (len, offset, after) = wide.unwrap_or((u64::from(narrow.0), u64::from(narrow.1), position));
    let start = after.checked_sub(len)?;
    let base = start.checked_sub(offset)?;
    let fits = len <= limit::DIRECTORY_BYTES && (len == 0 || source.read(start, 4).is_ok_and(|sig| sig == b"PK\x01\x02"));
    fits.then_some(Directory { start, len, base })
}

/// Length, offset and end of the directory by the zip64 end record.
fn wide_end(source: &Source, end: u64) -> Option<(u64, u64, u64)> {
    let locator = source.read(end.checked_sub(20)?, 20).ok().filter(|l| l.starts_with(b"PK\x06\x07"))?;
    // The locator's offset ignores anything put in front of the archive, hence the second guess right before it.
    for at in [u64_at(&locator, 8)?, end.checked_sub(20 + 56)?] {
        if let Some(record) = source.read(at, 56).ok().filter(|r| r.starts_with(b"PK\x06\x06")) {
            return Some((u64_at(&record, 40)?, u64_at(&record, 48)?, at));
        }
    }
    None
}

/// Where the bytes of a stored entry lie, so that a nested archive need not be copied.
pub(crate) fn stored_part(source: &Source, entry: &Entry) -> io::Result<Option<Source>> {
    if entry.method != STORED || entry.encrypted {
        return Ok(None);
    }
    source.part(data_start(source, entry)?, entry.size).map(Some)
}

fn data_start(source: &Source, entry: &Entry) -> io::Result<u64> {
    let header = source.read(entry.header, 30)?;
    let lengths = u16_at(&header, 26).zip(u16_at(&header, 28));
    match lengths.filter(|_| header.starts_with(b"PK\x03\x04")) {
        Some((name, extra)) => Ok(entry.header + 30 + u64::from(name) + u64::from(extra)),
        None => Err(invalid("damaged zip entry")),
    }
}

thread_local! {
    /// Building one costs more than inflating a small class.
    static INFLATE: RefCell<(Decompressor, Vec<u8>)> = RefCell::new((Decompressor::new(), Vec::new()));
}

/// The contents of an entry, refused if larger than `limit` or than its packed size can explain.
pub(crate) fn read_entry(source: &Source, entry: &Entry, limit: u64) -> io::Result<Vec<u8>> {
    if entry.encrypted {
        return Err(invalid("encrypted"));
    }
    if entry.size > limit || entry.size > entry.packed.saturating_mul(limit::RATIO).saturating_add(1024) {
        return Err(invalid("larger than allowed"));
    }
    let start = data_start(source, entry)?;
    match entry.method {
        STORED => source.read(start, entry.size),
        DEFLATED => INFLATE.with_borrow_mut(|(decompressor, packed)| {
            source.read_into(packed, start, entry.packed)?;
            inflate(decompressor, packed, entry.size)
        }),
        _ => Err(invalid("unknown compression method")),
    }
}

fn inflate(decompressor: &mut Decompressor, packed: &[u8], size: u64) -> io::Result<Vec<u8>> {
    let mut out = vec![0; usize::try_from(size).map_err(|_| invalid("larger than allowed"))?];
    match decompressor.deflate_decompress(packed, &mut out) {
        Ok(written) if written == out.len() => Ok(out),
        Ok(_) => Err(invalid("shorter than the archive says")),
        Err(_) => Err(invalid("damaged compressed data")),
    }
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;

    /// A zip with these entries; deflated if `deflate`.
    pub(crate) fn zip(entries: &[(&str, &[u8])], deflate: bool) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, contents) in entries {
            let (method, packed) = if deflate { (8u16, deflated(contents)) } else { (0, contents.to_vec()) };
            let offset = out.len() as u32;
            let mut common = Vec::new();
            common.extend([20, 0, 0, 0]);
            common.extend(method.to_le_bytes());
            common.extend([0; 8]);
            common.extend((packed.len() as u32).to_le_bytes());
            common.extend((contents.len() as u32).to_le_bytes());
            common.extend((name.len() as u16).to_le_bytes());
            out.extend(b"PK\x03\x04");
            out.extend(&common);
            out.extend([0, 0]);
            out.extend(name.as_bytes());
            out.extend(packed);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 12]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, len) = (out.len() as u32, directory.len() as u32);
        out.extend(directory);
        out.extend(b"PK\x05\x06\0\0\0\0");
        out.extend([(entries.len() as u16).to_le_bytes(), (entries.len() as u16).to_le_bytes()].concat());
        out.extend(len.to_le_bytes());
        out.extend(start.to_le_bytes());
        out.extend([0, 0]);
        out
    }

    fn deflated(contents: &[u8]) -> Vec<u8> {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut out = vec![0; compressor.deflate_compress_bound(contents.len())];
        let len = compressor.deflate_compress(contents, &mut out).unwrap();
        out.truncate(len);
        out
    }

    pub(crate) fn memory(bytes: &[u8]) -> Source {
        Source::Memory(Arc::from(bytes))
    }

    fn list(source: &Source) -> Result<Vec<(String, Entry)>, String> {
        let mut rows = Vec::new();
        for_each_entry(source, |name, entry| rows.push((String::from_utf8_lossy(name).into_owned(), entry)))?;
        Ok(rows)
    }

    #[test]
    fn stored_and_deflated_entries_read_back() {
        let text = b"abcabcabcabcabcabcabc".repeat(9);
        for deflate in [false, true] {
            let plain = zip(&[("a/B.class", &text), ("empty", b"")], deflate);
            let with_script = [b"#!/bin/sh\nexec java\n".to_vec(), plain.clone()].concat();
            for bytes in [plain, with_script] {
                let source = memory(&bytes);
                let rows = list(&source).unwrap();
                assert_eq!(rows.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), ["a/B.class", "empty"]);
                assert_eq!(read_entry(&source, &rows[0].1, 1 << 20).unwrap(), text);
                assert_eq!(read_entry(&source, &rows[1].1, 1 << 20).unwrap(), b"");
            }
        }
    }

    #[test]
    fn lies_about_sizes_are_refused() {
        let source = memory(&zip(&[("x", &[7; 500])], true));
        let entry = list(&source).unwrap()[0].1;
        assert!(read_entry(&source, &entry, 100).is_err());
        assert!(read_entry(&source, &Entry { size: 499, ..entry }, 1 << 20).is_err());
        assert!(read_entry(&source, &Entry { size: 60 << 20, ..entry }, 64 << 20).is_err());
        assert!(read_entry(&source, &Entry { header: 3, ..entry }, 1 << 20).is_err());
        assert!(read_entry(&source, &Entry { method: 12, ..entry }, 1 << 20).is_err());
        assert!(read_entry(&source, &Entry { encrypted: true, ..entry }, 1 << 20).is_err());
    }

    #[test]
    fn every_truncation_and_every_flipped_byte_is_survived() {
        let bytes = zip(&[("a/B.class", &[1; 300]), ("c", b"hello")], true);
        let survive = |bytes: &[u8]| {
            let source = memory(bytes);
            for (_, entry) in list(&source).unwrap_or_default() {
                let _ = read_entry(&source, &entry, 1 << 16);
            }
        };
        for i in 0..bytes.len() {
            survive(&bytes[..i]);
            for bit in [1, 0x80, 0xFF] {
                let mut changed = bytes.clone();
                changed[i] ^= bit;
                survive(&changed);
            }
        }
        assert!(list(&memory(b"")).is_err());
        assert!(list(&memory(&[b'x'; 100])).is_err());
    }
}
