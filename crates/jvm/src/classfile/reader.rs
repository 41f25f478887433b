//! A big-endian cursor over bytes that answers "too short" instead of panicking.

use super::ClassError;

#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor that starts inside `bytes`; a start beyond the end makes every read fail.
    pub fn at(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Everything read since an earlier position.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    pub fn whole(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], ClassError> {
        let end = self.at.checked_add(count).ok_or(ClassError::Truncated { at: self.at })?;
        let slice = self.bytes.get(self.at..end).ok_or(ClassError::Truncated { at: self.at })?;
        self.at = end;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ClassError> {
        let chunk = self.bytes[self.at..].first_chunk::<N>().ok_or(ClassError::Truncated { at: self.at })?;
        self.at += N;
        Ok(*chunk)
    }

    pub fn u8(&mut self) -> Result<u8, ClassError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub fn u16(&mut self) -> Result<u16, ClassError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub fn i16(&mut self) -> Result<i16, ClassError> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, ClassError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> Result<i32, ClassError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn i64(&mut self) -> Result<i64, ClassError> {
        Ok(i64::from_be_bytes(self.array()?))
    }
}
