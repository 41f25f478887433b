//! Reads `lib/modules`, the image with the classes of JDK 9 and later.
//!
//! The index (names and positions, a few megabytes) is kept; contents are read from the file when asked for. Look-ups use the
//! image's own perfect hash. Images that jlink packed with `zip` are read, `compact-cp` is not.

use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::source::Source;
use super::zip::limit;

pub(crate) struct Image {
    source: Source,
    index: Vec<u8>,
    big_endian: bool,
    /// Slots of the hash table.
    slots: u32,
    locations: usize,
    strings: usize,
    /// First byte of contents in the file.
    data: u64,
    /// Which module holds a package (`java/util` → offset of `java.base`).
    modules: FxHashMap<Box<str>, u32>,
}

/// One resource: offsets of its names in the string table, and where its contents are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Location {
    module: u32,
    parent: u32,
    base: u32,
    extension: u32,
    offset: u64,
    packed: u64,
    size: u64,
}

impl Location {
    /// Of the contents, which no two classes share.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

const HEADER: usize = 28;
const MAGIC: u32 = 0xCAFE_DADA;
const SEED: u32 = 0x0100_0193;

impl Image {
    pub fn open(path: &Path) -> Result<Image, String> {
        Self::read(Source::open(path).map_err(|e| e.to_string())?)
    }

    fn read(source: Source) -> Result<Image, String> {
        let header = source.read(0, HEADER as u64).map_err(|e| e.to_string())?;
        let big_endian = match header.first_chunk::<4>() {
            Some(magic) if u32::from_le_bytes(*magic) == MAGIC => false,
            Some(magic) if u32::from_be_bytes(*magic) == MAGIC => true,
            _ => return Err("not a JDK image".to_owned()),
        };
        let word = |at| read_u32(&header, at, big_endian).unwrap_or(0);
        let (slots, locations_len, strings_len) = (word(16), word(20), word(24));
        let tables = HEADER as u64 + u64::from(slots) * 8;
        let data = tables + u64::from(locations_len) + u64::from(strings_len);
        let index = source.read(0, data).map_err(|_| "the JDK image is cut off".to_owned())?;
        let (locations, strings) = (tables as usize, tables as usize + locations_len as usize);
        let mut image = Image { source, index, big_endian, slots, locations, strings, data, modules: FxHashMap::default() };
        image.index_packages();
        Ok(image)
    }

    fn index_packages(&mut self) {
        let mut modules = FxHashMap::default();
        let mut last = (0, 0);
        for location in self.classes() {
            if last != (location.module, location.parent) {
                last = (location.module, location.parent);
                modules.entry(self.string(location.parent).into()).or_insert(location.module);
            }
        }
        self.modules = modules;
    }

    /// Every class but module declarations, in the order of the file.
    pub fn classes(&self) -> Vec<Location> {
        let mut classes: Vec<Location> = (0..self.slots)
            .filter_map(|slot| self.location(slot))
            .filter(|l| self.string(l.extension) == "class" && !matches!(self.string(l.module), "" | "modules" | "packages"))
            .filter(|l| self.string(l.base) != "module-info")
            .collect();
        classes.sort_by_key(|l| l.offset);
        classes
    }

    /// Module and contents of every `module-info.class`.
    pub fn module_declarations(&self) -> Vec<(&str, Vec<u8>)> {
        let locations = (0..self.slots).filter_map(|slot| self.location(slot));
        let declarations = locations.filter(|l| self.string(l.base) == "module-info" && self.string(l.extension) == "class");
        declarations.filter_map(|l| Some((self.string(l.module), self.read_class(&l).ok()?))).collect()
    }

    /// `java/util/List`.
    pub fn class_name(&self, location: &Location) -> String {
        match self.string(location.parent) {
            "" => self.string(location.base).to_owned(),
            parent => format!("{parent}/{}", self.string(location.base)),
        }
    }

    pub fn has_package(&self, package: &str) -> bool {
        self.modules.contains_key(package)
    }

    /// The class of that internal name (`java/util/List`).
    pub fn find(&self, name: &str) -> Option<Location> {
        let (package, base) = name.rsplit_once('/').unwrap_or(("", name));
        let module = self.string(*self.modules.get(package)?);
        let path = format!("/{module}/{name}.class");
        let slot = match self.redirect(hash(&path, SEED) % self.slots.max(1))? {
            value if value < 0 => u32::try_from(-1 - i64::from(value)).ok()?,
            0 => return None,
            seed => hash(&path, seed.cast_unsigned()) % self.slots.max(1),
        };
        let location = self.location(slot)?;
        let same = self.string(location.module) == module && self.string(location.parent) == package && self.string(location.base) == base;
        (same && self.string(location.extension) == "class").then_some(location)
    }

    pub fn read_class(&self, location: &Location) -> io::Result<Vec<u8>> {
        let too_large = || io::Error::new(io::ErrorKind::InvalidData, "larger than allowed");
        if location.size > limit::CLASS_BYTES || location.packed > limit::CLASS_BYTES {
            return Err(too_large());
        }
        let at = self.data.checked_add(location.offset).ok_or_else(too_large)?;
        match location.packed {
            0 => self.source.read(at, location.size),
            packed => unpack(&self.source.read(at, packed)?, location.size, |at| self.string(at), self.big_endian),
        }
    }

    fn redirect(&self, slot: u32) -> Option<i32> {
        Some(read_u32(&self.index, HEADER + slot as usize * 4, self.big_endian)?.cast_signed())
    }

    fn location(&self, slot: u32) -> Option<Location> {
        if slot >= self.slots {
            return None;
        }
        let table = HEADER + self.slots as usize * 4;
        let offset = read_u32(&self.index, table + slot as usize * 4, self.big_endian)?;
        let mut rest = self.index.get(self.locations.checked_add(offset as usize)?..self.strings)?;
        let mut location = Location::default();
        loop {
            let head = *rest.first()?;
            let (kind, len) = (head >> 3, usize::from(head & 7) + 1);
            if kind == 0 {
                return Some(location);
            }
            let value = rest.get(1..=len)?.iter().fold(0u64, |v, b| v << 8 | u64::from(*b));
            rest = &rest[1 + len..];
            let name = value as u32;
            match kind {
                1 => location.module = name,
                2 => location.parent = name,
                3 => location.base = name,
                4 => location.extension = name,
                5 => location.offset = value,
                6 => location.packed = value,
                7 => location.size = value,
                _ => {}
            }
        }
    }

    /// The text at that offset of the string table; empty if there is none.
    fn string(&self, offset: u32) -> &str {
        let Some(rest) = self.index.get(self.strings.saturating_add(offset as usize)..) else {
            return "";
        };
        let end = rest.iter().position(|b| *b == 0).unwrap_or(0);
        std::str::from_utf8(&rest[..end]).unwrap_or("")
    }
}

fn read_u32(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let word = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

fn read_u64(bytes: &[u8], at: usize, big_endian: bool) -> Option<u64> {
    let word = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
}

fn hash(text: &str, seed: u32) -> u32 {
    text.bytes().fold(seed, |h, b| h.wrapping_mul(SEED) ^ u32::from(b)) & 0x7FFF_FFFF
}

/// Undoes one layer of jlink's `zip` compression.
fn unpack<'a>(bytes: &[u8], size: u64, string: impl Fn(u32) -> &'a str, big_endian: bool) -> io::Result<Vec<u8>> {
    const LAYER: usize = 29;
    let invalid = |text: &'static str| io::Error::new(io::ErrorKind::InvalidData, text);
    let damaged = || invalid("damaged compressed data");
    if read_u32(bytes, 0, big_endian) != Some(0xCAFE_FAFA) {
        return Err(damaged());
    }
    let name = string(read_u32(bytes, 20, big_endian).ok_or_else(damaged)?);
    let layer_size = read_u64(bytes, 12, big_endian).ok_or_else(damaged)?;
    if name != "zip" || layer_size != size {
        return Err(invalid("compressed in a way that is not supported"));
    }
    let mut out = vec![0; usize::try_from(size).map_err(|_| damaged())?];
    let payload = bytes.get(LAYER..).ok_or_else(damaged)?;
    match libdeflater::Decompressor::new().zlib_decompress(payload, &mut out) {
        Ok(written) if written == out.len() => Ok(out),
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn read(bytes: &[u8]) -> Result<Image, String> {
        Image::read(Source::Memory(Arc::from(bytes)))
    }

    /// An image of one slot that holds `/m/p/C.class`.
    fn image(contents: &[u8]) -> Vec<u8> {
        let strings = b"\0m\0p\0C\0class\0";
        let location = [8, 1, 16, 3, 24, 5, 32, 7, 40, 0, 56, contents.len() as u8, 0];
        let mut out = Vec::new();
        for word in [MAGIC, 1 << 16, 0, 1, 1, location.len() as u32, strings.len() as u32] {
            out.extend(word.to_le_bytes());
        }
        out.extend((-1i32).to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend(location);
        out.extend(strings);
        out.extend(contents);
        out
    }

    #[test]
    fn classes_are_listed_found_and_read() {
        let image = read(&image(b"bytes")).unwrap();
        let names: Vec<_> = image.classes().iter().map(|l| image.class_name(l)).collect();
        assert_eq!(names, ["p/C"]);
        let found = image.find("p/C").unwrap();
        assert_eq!(image.read_class(&found).unwrap(), b"bytes");
        assert!(image.find("p/D").is_none() && image.find("q/C").is_none() && image.find("C").is_none());
    }

    #[test]
    fn damage_is_survived() {
        let good = image(b"bytes");
        assert!(read(b"").is_err());
        assert!(read(&[0; 64]).is_err());
        for i in 0..good.len() {
            let _ = read(&good[..i]).map(|image| image.classes().len());
            for change in [1u8, 0x80, 0xFF] {
                let mut bytes = good.clone();
                bytes[i] ^= change;
                if let Ok(image) = read(&bytes) {
                    image.classes().iter().for_each(|l| drop(image.read_class(l)));
                    image.find("p/C");
                }
            }
        }
    }
}
