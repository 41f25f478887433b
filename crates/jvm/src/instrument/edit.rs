//! The editor of one `Code` attribute: inserts code before instructions, replaces instructions, and moves everything
//! that names an offset.
//!
//! Inserted code must be straight and leave stack and locals as it found them. `goto` and `jsr` become their long
//! forms where needed; a conditional jump that would need one is refused. Attributes it does not know are
//! dropped, type annotations too: they name offsets and nothing at run time reads them.

use super::Reason;
use super::analysis::Body;
use super::frames::{self, Places};
use crate::classfile::Pool;
use crate::classfile::insn::{Insn, Op, Switch, opcode};
use crate::classfile::reader::Reader;

/// A change at one instruction.
#[derive(Debug, Default)]
pub(super) struct Edit {
    pub pc: u32,
    /// Runs before the instruction. The first `probe` bytes may throw only what the program must not catch, so
    /// handlers that start at the instruction do not guard them.
    pub before: Vec<u8>,
    pub probe: usize,
    /// Instead of the instruction, which must be no jump.
    pub replace: Option<Vec<u8>>,
}

/// The new contents of the `Code` attribute. `edits` are ordered by pc and lie on instructions.
pub(super) fn apply(body: &Body<'_>, pool: &Pool<'_>, edits: &[Edit], extra_stack: u16) -> Result<Vec<u8>, Reason> {
    let layout = Layout::solve(body, edits)?;
    let max_stack = body.code.max_stack.checked_add(extra_stack).ok_or(Reason::StackTooDeep)?;
    let mut out = Vec::with_capacity(layout.length as usize + 512);
    out.extend_from_slice(&max_stack.to_be_bytes());
    out.extend_from_slice(&body.code.max_locals.to_be_bytes());
    out.extend_from_slice(&layout.length.to_be_bytes());
    layout.emit(body, edits, &mut out)?;
    layout.handlers(body, &mut out);
    layout.attributes(body, pool, &mut out)?;
    Ok(out)
}

const NOWHERE: u32 = u32::MAX;

/// Where each instruction goes; indexed by old pc, with one entry more for the end of the code.
struct Layout {
    /// Start of what was inserted before the instruction.
    entry: Vec<u32>,
    /// End of the probe part of it.
    guarded: Vec<u32>,
    /// The instruction itself.
    at: Vec<u32>,
    /// The instruction takes the long form of its jump.
    long: Vec<bool>,
    length: u32,
}

impl Places for Layout {
    fn entry(&self, pc: u32) -> Option<u32> {
        self.entry.get(pc as usize).copied().filter(|new| *new != NOWHERE)
    }

    fn instruction(&self, pc: u32) -> Option<u32> {
        self.at.get(pc as usize).copied().filter(|new| *new != NOWHERE)
    }
}

impl Layout {
    /// Lengthens jumps until all fit; jumps only ever grow, so this ends.
    fn solve(body: &Body<'_>, edits: &[Edit]) -> Result<Self, Reason> {
        let size = body.code.bytecode.len() + 1;
        let unset = || vec![NOWHERE; size];
        let mut layout = Layout { entry: unset(), guarded: unset(), at: unset(), long: vec![false; size], length: 0 };
        loop {
            layout.place(body, edits)?;
            if !layout.lengthen(body)? {
                return Ok(layout);
            }
        }
    }

    fn place(&mut self, body: &Body<'_>, edits: &[Edit]) -> Result<(), Reason> {
        let mut edits = edits.iter().peekable();
        let mut here = 0u32;
        for op in &body.ops {
            let pc = op.pc as usize;
            let edit = edits.next_if(|edit| edit.pc == op.pc);
            self.entry[pc] = here;
            self.guarded[pc] = here + edit.map_or(0, |edit| edit.probe as u32);
            here += edit.map_or(0, |edit| edit.before.len() as u32);
            self.at[pc] = here;
            here += match edit.and_then(|edit| edit.replace.as_ref()) {
                Some(replacement) => replacement.len() as u32,
                None => self.size(op, here),
            };
            if here > u32::from(u16::MAX) {
                return Err(Reason::CodeTooLong);
            }
        }
        let end = body.code.bytecode.len();
        (self.entry[end], self.guarded[end], self.at[end]) = (here, here, here);
        self.length = here;
        Ok(())
    }

    fn size(&self, op: &Op<'_>, here: u32) -> u32 {
        match op.insn {
            // The padding depends on the place.
            Insn::Switch(_) => op.len - (3 - op.pc % 4) + (3 - here % 4),
            _ if self.long[op.pc as usize] => 5,
            _ => op.len,
        }
    }

    /// Marks short jumps that do not reach; says whether there were any.
    fn lengthen(&mut self, body: &Body<'_>) -> Result<bool, Reason> {
        let mut changed = false;
        for op in &body.ops {
            let Some(target) = op.insn.jump_target() else {
                continue;
            };
            let pc = op.pc as usize;
            if self.long[pc] || op.len == 5 || i16::try_from(self.offset(op.pc, target)).is_ok() {
                continue;
            }
            if op.insn.is_conditional() {
                return Err(Reason::JumpTooFar);
            }
            self.long[pc] = true;
            changed = true;
        }
        Ok(changed)
    }

    fn offset(&self, from: u32, to: u32) -> i32 {
        // Both are below 65536 for every jump that the analysis let through.
        self.entry[to as usize].cast_signed().wrapping_sub(self.at[from as usize].cast_signed())
    }

    fn emit(&self, body: &Body<'_>, edits: &[Edit], out: &mut Vec<u8>) -> Result<(), Reason> {
        let start = out.len();
        let mut edits = edits.iter().peekable();
        for op in &body.ops {
            let edit = edits.next_if(|edit| edit.pc == op.pc);
            if let Some(edit) = edit {
                out.extend_from_slice(&edit.before);
            }
            match edit.and_then(|edit| edit.replace.as_ref()) {
                Some(replacement) => out.extend_from_slice(replacement),
                None => self.instruction_bytes(body, op, start, out)?,
            }
        }
        Ok(())
    }

    fn instruction_bytes(&self, body: &Body<'_>, op: &Op<'_>, start: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        let old = &body.code.bytecode[op.pc as usize..(op.pc + op.len) as usize];
        if let Insn::Switch(switch) = op.insn {
            self.switch_bytes(op, switch, start, out);
        } else if let Some(target) = op.insn.jump_target() {
            let offset = self.offset(op.pc, target);
            if self.long[op.pc as usize] || op.len == 5 {
                let long = if matches!(op.insn, Insn::Goto(_)) { opcode::GOTO_W } else { opcode::JSR_W };
                out.push(long);
                out.extend_from_slice(&offset.to_be_bytes());
            } else {
                let near = i16::try_from(offset).map_err(|_| Reason::JumpTooFar)?;
                out.push(op.opcode);
                out.extend_from_slice(&near.to_be_bytes());
            }
        } else {
            out.extend_from_slice(old);
        }
        Ok(())
    }

    fn switch_bytes(&self, op: &Op<'_>, switch: Switch<'_>, start: usize, out: &mut Vec<u8>) {
        let word = |value: i32, out: &mut Vec<u8>| out.extend_from_slice(&value.to_be_bytes());
        out.push(op.opcode);
        while !(out.len() - start).is_multiple_of(4) {
            out.push(0);
        }
        word(self.offset(op.pc, switch.default), out);
        match switch.low() {
            Some(low) => {
                word(low, out);
                word(low.wrapping_add(switch.len() as i32).wrapping_sub(1), out);
            }
            None => word(switch.len() as i32, out),
        }
        for (key, target) in switch.cases() {
            if switch.low().is_none() {
                word(key, out);
            }
            word(self.offset(op.pc, target), out);
        }
    }

    /// Rows that name no instruction are dropped, as they cannot be moved; the JVM would refuse the class for them.
    fn handlers(&self, body: &Body<'_>, out: &mut Vec<u8>) {
        let guarded = |pc: u16| self.guarded.get(usize::from(pc)).copied().filter(|new| *new != NOWHERE);
        let rows = body.code.handlers.iter().filter_map(|row| {
            let (start, end) = (guarded(row.start)?, self.entry(u32::from(row.end))?);
            Some([start as u16, end as u16, self.entry(u32::from(row.handler))? as u16, row.catch_type])
        });
        table(rows, out);
    }

    fn attributes(&self, body: &Body<'_>, pool: &Pool<'_>, out: &mut Vec<u8>) -> Result<(), Reason> {
        let count_at = out.len();
        let mut count = 0u16;
        out.extend_from_slice(&[0, 0]);
        for (name, contents) in body.code.attributes().iter() {
            let Ok(text) = pool.utf8(name) else { continue };
            let moved = match text.as_bytes() {
                b"LineNumberTable" => self.lines(contents),
                b"LocalVariableTable" | b"LocalVariableTypeTable" => self.locals(contents),
                b"StackMapTable" => frames::relocate(contents, self)?,
                _ => continue,
            };
            out.extend_from_slice(&name.to_be_bytes());
            out.extend_from_slice(&(moved.len() as u32).to_be_bytes());
            out.extend_from_slice(&moved);
            count += 1;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    fn lines(&self, contents: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(contents.len());
        let rows = rows::<2>(contents);
        table(rows.filter_map(|[pc, line]| Some([self.entry(u32::from(pc))? as u16, line])), &mut out);
        out
    }

    fn locals(&self, contents: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(contents.len());
        let moved = rows::<5>(contents).filter_map(|[start, length, name, descriptor, slot]| {
            let end = self.entry(u32::from(start) + u32::from(length))?;
            let start = self.entry(u32::from(start))?;
            Some([start as u16, end.checked_sub(start)? as u16, name, descriptor, slot])
        });
        table(moved, &mut out);
        out
    }
}

/// The complete rows of a table of 16-bit fields.
fn rows<const N: usize>(contents: &[u8]) -> impl Iterator<Item = [u16; N]> + '_ {
    let mut r = Reader::new(contents);
    let count = r.u16().unwrap_or(0);
    (0..count).map_while(move |_| {
        let mut row = [0; N];
        for field in &mut row {
            *field = r.u16().ok()?;
        }
        Some(row)
    })
}

/// Appends a table of 16-bit fields with its count in front.
fn table<const N: usize>(rows: impl Iterator<Item = [u16; N]>, out: &mut Vec<u8>) {
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    let mut count = 0u16;
    for row in rows {
        row.iter().for_each(|field| out.extend_from_slice(&field.to_be_bytes()));
        count += 1;
    }
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
}
