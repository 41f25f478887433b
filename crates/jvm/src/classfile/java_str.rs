//! Strings as class files hold them: "modified UTF-8", which writes U+0000 in two bytes, characters beyond
//! U+FFFF as two surrogates of three bytes each, and lone surrogates as they come.
//!
//! Kept as the raw bytes and decoded on demand. Malformed sequences decode to U+FFFD; nothing is rejected.

use std::borrow::Cow;
use std::fmt;

/// A borrowed string of a constant pool. Equality is equality of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JavaStr<'a>(&'a [u8]);

const REPLACEMENT: u16 = 0xFFFD;

impl<'a> JavaStr<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The raw modified UTF-8.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The text without copying, when it needs no decoding (all but NUL, surrogates, and damage).
    pub fn as_str(&self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The text, with lone surrogates and damage replaced by U+FFFD.
    pub fn to_str_lossy(&self) -> Cow<'a, str> {
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(String::from_utf16_lossy(&self.to_utf16())),
        }
    }

    /// The exact UTF-16 units the JVM would see, lone surrogates included.
    pub fn to_utf16(&self) -> Vec<u16> {
        let mut units = Vec::with_capacity(self.0.len());
        let mut rest = self.0;
        while let Some((unit, length)) = first_unit(rest) {
            units.push(unit);
            rest = &rest[length..];
        }
        units
    }
}

/// The first UTF-16 unit and how many bytes it took.
fn first_unit(bytes: &[u8]) -> Option<(u16, usize)> {
    let first = u16::from(*bytes.first()?);
    let continuation = |i: usize| bytes.get(i).filter(|b| **b & 0xC0 == 0x80).map(|b| u16::from(*b & 0x3F));
    Some(match first {
        0x00..=0x7F => (first, 1),
        0xC0..=0xDF => match continuation(1) {
            Some(low) => ((first & 0x1F) << 6 | low, 2),
            None => (REPLACEMENT, 1),
        },
        0xE0..=0xEF => match (continuation(1), continuation(2)) {
            (Some(middle), Some(low)) => ((first & 0x0F) << 12 | middle << 6 | low, 3),
            _ => (REPLACEMENT, 1),
        },
        _ => (REPLACEMENT, 1),
    })
}

impl PartialEq<str> for JavaStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for JavaStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for JavaStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str_lossy())
    }
}

impl fmt::Debug for JavaStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str_lossy(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(JavaStr::new("größe".as_bytes()).to_str_lossy(), Cow::Borrowed("größe")));
    }

    #[test]
    fn nul_and_surrogate_pairs_decode() {
        let smiley = [b'a', 0xC0, 0x80, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80];
        assert_eq!(JavaStr::new(&smiley).to_str_lossy(), "a\0\u{1F600}");
    }

    #[test]
    fn lone_surrogates_survive_as_units() {
        let lone = JavaStr::new(&[0xED, 0xA0, 0xBD]);
        assert_eq!(lone.to_utf16(), [0xD83D]);
        assert_eq!(lone.to_str_lossy(), "\u{FFFD}");
    }

    #[test]
    fn damage_becomes_replacement_characters() {
        assert_eq!(JavaStr::new(&[0xE0, 0x80, b'x', 0xFF]).to_utf16(), [0xFFFD, 0xFFFD, u16::from(b'x'), 0xFFFD]);
    }
}
