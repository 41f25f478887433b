//! The `Code` attribute: bytecode, exception table, and the debug tables attached to it.

use super::reader::Reader;
use super::{Attributes, ClassError, Instructions, Pool};

#[derive(Debug, Clone)]
pub struct Code<'a> {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytecode: &'a [u8],
    pub handlers: Vec<Handler>,
    /// All line tables merged, ordered by pc.
    pub lines: Vec<Line>,
    pub locals: Vec<Local>,
    /// Contents of `StackMapTable`, undecoded.
    pub stack_map: Option<&'a [u8]>,
    attributes: Attributes<'a>,
}

/// One row of the exception table, covering `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    pub start: u16,
    pub end: u16,
    pub handler: u16,
    /// Class constant; 0 catches everything.
    pub catch_type: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub pc: u16,
    pub line: u16,
}

/// A named local variable, alive in `start..start + length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    pub start: u16,
    pub length: u16,
    /// Text constant of the name.
    pub name: u16,
    /// Text constant of the descriptor.
    pub descriptor: u16,
    pub slot: u16,
}

impl<'a> Code<'a> {
    /// Decodes the contents of a `Code` attribute. Damaged debug tables are dropped, since code runs without them.
    pub fn parse(contents: &'a [u8], pool: &Pool<'a>) -> Result<Self, ClassError> {
        let mut r = Reader::new(contents);
        let (max_stack, max_locals) = (r.u16()?, r.u16()?);
        let length = r.u32()?;
        let bytecode = r.bytes(usize::try_from(length).map_err(|_| ClassError::TooLarge("code"))?)?;
        if bytecode.is_empty() || bytecode.len() > usize::from(u16::MAX) {
            return Err(ClassError::Malformed { what: "code is empty or longer than 65535 bytes", at: 4 });
        }
        let handlers = handlers(&mut r)?;
        let attributes = Attributes::skip(&mut r)?;
        let mut code = Self { max_stack, max_locals, bytecode, handlers, lines: Vec::new(), locals: Vec::new(), stack_map: None, attributes };
        code.read_attributes(pool);
        Ok(code)
    }

    fn read_attributes(&mut self, pool: &Pool<'a>) {
        for (name, contents) in self.attributes.iter() {
            let Ok(name) = pool.utf8(name) else { continue };
            match name.as_bytes() {
                b"LineNumberTable" => read_lines(contents, &mut self.lines),
                b"LocalVariableTable" => read_locals(contents, &mut self.locals),
                b"StackMapTable" => self.stack_map = Some(contents),
                _ => {}
            }
        }
        self.lines.sort_by_key(|line| line.pc);
    }

    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes
    }

    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytecode)
    }

    /// The line a stack trace shows for `pc`: that of the nearest row at or before it.
    pub fn line_at(&self, pc: u32) -> Option<u16> {
        let after = self.lines.partition_point(|line| u32::from(line.pc) <= pc);
        let last = self.lines.get(after.checked_sub(1)?)?;
        if u32::from(last.pc) != pc {
            return Some(last.line);
        }
        // Several rows at the very pc: HotSpot stops at the first exact match, but takes the last of those before.
        self.lines.get(self.lines.partition_point(|line| u32::from(line.pc) < pc)).map(|line| line.line)
    }
}

fn handlers(r: &mut Reader<'_>) -> Result<Vec<Handler>, ClassError> {
    let count = usize::from(r.u16()?);
    let mut rows = Reader::new(r.bytes(count * 8)?);
    let mut handlers = Vec::with_capacity(count);
    for _ in 0..count {
        let (start, end, handler, catch_type) = (rows.u16()?, rows.u16()?, rows.u16()?, rows.u16()?);
        handlers.push(Handler { start, end, handler, catch_type });
    }
    Ok(handlers)
}

fn read_lines(contents: &[u8], lines: &mut Vec<Line>) {
    let mut r = Reader::new(contents);
    for _ in 0..r.u16().unwrap_or(0) {
        let (Ok(pc), Ok(line)) = (r.u16(), r.u16()) else {
            return;
        };
        lines.push(Line { pc, line });
    }
}

fn read_locals(contents: &[u8], locals: &mut Vec<Local>) {
    let mut r = Reader::new(contents);
    for _ in 0..r.u16().unwrap_or(0) {
        let (Ok(start), Ok(length), Ok(name), Ok(descriptor), Ok(slot)) = (r.u16(), r.u16(), r.u16(), r.u16(), r.u16()) else {
            return;
        };
        locals.push(Local { start, length, name, descriptor, slot });
    }
}
