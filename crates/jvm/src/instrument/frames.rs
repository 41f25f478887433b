//! Moves the frames of a `StackMapTable` to where their instructions went. Types are copied, never computed.

use crate::classfile::ClassError;
use crate::classfile::reader::Reader;

/// Where old offsets went; `None` for what is no instruction.
pub(super) trait Places {
    /// Where jumps to an instruction land, its probes included.
    fn entry(&self, pc: u32) -> Option<u32>;
    /// The instruction itself.
    fn instruction(&self, pc: u32) -> Option<u32>;
}

/// Re-encodes the contents of a `StackMapTable`.
pub(super) fn relocate(table: &[u8], places: &impl Places) -> Result<Vec<u8>, ClassError> {
    let mut mover = Mover { r: Reader::new(table), out: Vec::with_capacity(table.len() + 64), places };
    let count = mover.r.u16()?;
    mover.out.extend_from_slice(&count.to_be_bytes());
    let (mut old, mut new) = (-1i64, -1i64);
    for _ in 0..count {
        (old, new) = mover.frame(old, new)?;
    }
    Ok(mover.out)
}

struct Mover<'a, P> {
    r: Reader<'a>,
    out: Vec<u8>,
    places: &'a P,
}

impl<P: Places> Mover<'_, P> {
    /// Moves one frame, given the old and new offset of the previous one (-1 before the first).
    fn frame(&mut self, old: i64, new: i64) -> Result<(i64, i64), ClassError> {
        let at = self.r.position();
        let tag = self.r.u8()?;
        let delta = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            128..=246 => {
                return Err(ClassError::Malformed { what: "unknown stack map frame", at });
            }
            247..=255 => self.r.u16()?,
        };
        let old = old + i64::from(delta) + 1;
        let entry = u32::try_from(old).ok().and_then(|pc| self.places.entry(pc));
        let entry = entry.ok_or(ClassError::Malformed { what: "stack map frame inside an instruction", at })?;
        let moved = i64::from(entry);
        let delta = u16::try_from(moved - new - 1).map_err(|_| ClassError::TooLarge("stack map frame"))?;
        self.encode(tag, delta)?;
        Ok((old, moved))
    }

    fn encode(&mut self, tag: u8, delta: u16) -> Result<(), ClassError> {
        match tag {
            0..=63 | 251 => self.head(0, 251, delta),
            64..=127 | 247 => {
                self.head(64, 247, delta);
                self.types(1)?;
            }
            252..=254 => {
                self.long_head(tag, delta);
                self.types(u16::from(tag - 251))?;
            }
            255 => {
                self.long_head(tag, delta);
                self.counted_types()?;
                self.counted_types()?;
            }
            // Chop frames carry nothing but the offset; other tags were refused before.
            _ => self.long_head(tag, delta),
        }
        Ok(())
    }

    /// The short form, `short + delta`, where the delta fits into six bits.
    fn head(&mut self, short: u8, long: u8, delta: u16) {
        match u8::try_from(delta) {
            Ok(delta @ 0..=63) => self.out.push(short + delta),
            _ => self.long_head(long, delta),
        }
    }

    fn long_head(&mut self, tag: u8, delta: u16) {
        self.out.push(tag);
        self.out.extend_from_slice(&delta.to_be_bytes());
    }

    fn counted_types(&mut self) -> Result<(), ClassError> {
        let count = self.r.u16()?;
        self.out.extend_from_slice(&count.to_be_bytes());
        self.types(count)
    }

    fn types(&mut self, count: u16) -> Result<(), ClassError> {
        for _ in 0..count {
            let at = self.r.position();
            let tag = self.r.u8()?;
            self.out.push(tag);
            match tag {
                0..=6 => {}
                7 => self.out.extend_from_slice(&self.r.u16()?.to_be_bytes()),
                8 => {
                    // Names the `new` instruction that made the object, not the probe in front of it.
                    let place = self.places.instruction(u32::from(self.r.u16()?));
                    let place = place.and_then(|pc| u16::try_from(pc).ok());
                    let place = place.ok_or(ClassError::Malformed { what: "frame names no instruction", at })?;
                    self.out.extend_from_slice(&place.to_be_bytes());
                }
                _ => {
                    return Err(ClassError::Malformed { what: "unknown verification type", at });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every instruction moved by 100, with four bytes of probe in front of it.
    struct Shift;

    impl Places for Shift {
        fn entry(&self, pc: u32) -> Option<u32> {
            Some(pc + 100)
        }
        fn instruction(&self, pc: u32) -> Option<u32> {
            Some(pc + 104)
        }
    }

    #[test]
    fn short_frames_grow_and_later_ones_stay() {
        let table = [0, 3, 5, 64 + 3, 1, 250, 0, 1];
        let moved = relocate(&table, &Shift).unwrap();
        assert_eq!(moved, [0, 3, 251, 0, 105, 64 + 3, 1, 250, 0, 1]);
    }

    #[test]
    fn uninitialized_objects_name_the_new_instruction() {
        let table = [0, 1, 255, 0, 9, 0, 1, 8, 0, 2, 0, 1, 7, 0, 33];
        let moved = relocate(&table, &Shift).unwrap();
        assert_eq!(moved, [0, 1, 255, 0, 109, 0, 1, 8, 0, 106, 0, 1, 7, 0, 33]);
    }

    #[test]
    fn damaged_tables_are_refused() {
        for table in [&[0, 1][..], &[0, 1, 200], &[0, 1, 64, 9], &[0, 1, 252, 0, 0, 7, 1], &[0]] {
            assert!(relocate(table, &Shift).is_err(), "{table:?}");
        }
    }
}
