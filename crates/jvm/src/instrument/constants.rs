//! Constants appended to a pool, each once; and pushing an int by the shortest instruction.

use crate::classfile::insn::opcode;
use rustc_hash::FxHashMap;

/// The pool has no free index left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolFull;

/// New constants behind the `first` ones that exist already.
pub(super) struct Constants {
    next: u32,
    bytes: Vec<u8>,
    known: FxHashMap<Vec<u8>, u16>,
}

impl Constants {
    /// `count` is `constant_pool_count` of the existing pool (1 if it is empty).
    pub fn after(count: usize) -> Self {
        Self { next: count.max(1) as u32, bytes: Vec::new(), known: FxHashMap::default() }
    }

    /// The new `constant_pool_count`.
    pub fn count(&self) -> u16 {
        u16::try_from(self.next).expect("add() keeps the count in 16 bits")
    }

    /// The encoded new constants.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, encoded: Vec<u8>) -> Result<u16, PoolFull> {
        if let Some(index) = self.known.get(&encoded) {
            return Ok(*index);
        }
        let index = u16::try_from(self.next).ok().filter(|index| *index < u16::MAX).ok_or(PoolFull)?;
        self.next += 1;
        self.bytes.extend_from_slice(&encoded);
        self.known.insert(encoded, index);
        Ok(index)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Result<u16, PoolFull> {
        let ([a, b], [c, d]) = (first.to_be_bytes(), second.to_be_bytes());
        self.add(vec![tag, a, b, c, d])
    }

    fn single(&mut self, tag: u8, index: u16) -> Result<u16, PoolFull> {
        let [a, b] = index.to_be_bytes();
        self.add(vec![tag, a, b])
    }

    /// Text must be ASCII without NUL, as all of ours is.
    pub fn utf8(&mut self, text: &str) -> Result<u16, PoolFull> {
        let mut encoded = vec![1];
        encoded.extend_from_slice(&(text.len() as u16).to_be_bytes());
        encoded.extend_from_slice(text.as_bytes());
        self.add(encoded)
    }

    pub fn class(&mut self, name: &str) -> Result<u16, PoolFull> {
        let name = self.utf8(name)?;
        self.single(7, name)
    }

    pub fn string(&mut self, text: &str) -> Result<u16, PoolFull> {
        let text = self.utf8(text)?;
        self.single(8, text)
    }

    pub fn integer(&mut self, value: i32) -> Result<u16, PoolFull> {
        let mut encoded = vec![3];
        encoded.extend_from_slice(&value.to_be_bytes());
        self.add(encoded)
    }

    pub fn interface_method(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        self.member(11, owner, name, descriptor)
    }

    pub fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        self.member(9, owner, name, descriptor)
    }

    pub fn method(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        self.member(10, owner, name, descriptor)
    }

    fn member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        let owner = self.class(owner)?;
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        let name_and_type = self.pair(12, name, descriptor)?;
        self.pair(tag, owner, name_and_type)
    }

    /// Appends the instruction that pushes `value`.
    pub fn push_int(&mut self, value: i32, code: &mut Vec<u8>) -> Result<(), PoolFull> {
        if let (-1..=5, Ok(small)) = (value, i8::try_from(value)) {
            code.push(opcode::ICONST_0.wrapping_add_signed(small));
        } else if let Ok(byte) = i8::try_from(value) {
            code.extend_from_slice(&[opcode::BIPUSH, byte.cast_unsigned()]);
        } else if let Ok(short) = i16::try_from(value) {
            let [high, low] = short.to_be_bytes();
            code.extend_from_slice(&[opcode::SIPUSH, high, low]);
        } else {
            let index = self.integer(value)?;
            push_constant(index, code);
        }
        Ok(())
    }
}

/// Appends `ldc` or `ldc_w`.
pub(super) fn push_constant(index: u16, code: &mut Vec<u8>) {
    match index.to_be_bytes() {
        [0, low] => code.extend_from_slice(&[opcode::LDC, low]),
        [high, low] => code.extend_from_slice(&[opcode::LDC_W, high, low]),
    }
}
