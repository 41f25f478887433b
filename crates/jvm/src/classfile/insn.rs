//! Decoding of bytecode into instructions with absolute jump targets.
//!
//! [`Op`] pairs what an editor needs (pc, length, opcode) with what an analysis needs ([`Insn`], in which
//! the short forms and `wide` have been folded away). Targets are checked to lie inside the code, not to be
//! the start of an instruction.

use super::ClassError;
use super::reader::Reader;

/// Opcodes this crate names; the decoder knows all of them.
pub mod opcode {
    pub const ACONST_NULL: u8 = 1;
    pub const ICONST_0: u8 = 3;
    pub const BIPUSH: u8 = 16;
    pub const SIPUSH: u8 = 17;
    pub const LDC: u8 = 18;
    pub const LDC_W: u8 = 19;
    pub const POP: u8 = 87;
    pub const DUP: u8 = 89;
    pub const DUP2: u8 = 92;
    pub const LCMP: u8 = 148;
    pub const FCMPL: u8 = 149;
    pub const FCMPG: u8 = 150;
    pub const DCMPL: u8 = 151;
    pub const DCMPG: u8 = 152;
    pub const IFEQ: u8 = 153;
    pub const IFNE: u8 = 154;
    pub const IFLE: u8 = 158;
    pub const IF_ICMPEQ: u8 = 159;
    pub const IF_ICMPLE: u8 = 164;
    pub const IF_ACMPEQ: u8 = 165;
    pub const IF_ACMPNE: u8 = 166;
    pub const GOTO: u8 = 167;
    pub const JSR: u8 = 168;
    pub const TABLESWITCH: u8 = 170;
    pub const LOOKUPSWITCH: u8 = 171;
    pub const GETSTATIC: u8 = 178;
    pub const PUTSTATIC: u8 = 179;
    pub const INVOKEVIRTUAL: u8 = 182;
    pub const INVOKESPECIAL: u8 = 183;
    pub const INVOKESTATIC: u8 = 184;
    pub const INVOKEINTERFACE: u8 = 185;
    pub const NEW: u8 = 187;
    pub const ATHROW: u8 = 191;
    pub const WIDE: u8 = 196;
    pub const IFNULL: u8 = 198;
    pub const IFNONNULL: u8 = 199;
    pub const GOTO_W: u8 = 200;
    pub const JSR_W: u8 = 201;
}

/// Computational type of a local, operand, or result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    Ref,
}

/// Element type an array instruction works on. `Byte` also serves `boolean[]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    Int,
    Long,
    Float,
    Double,
    Ref,
    Byte,
    Char,
    Short,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StackOp {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
    Shl,
    Shr,
    Ushr,
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Convert {
    I2l,
    I2f,
    I2d,
    L2i,
    L2f,
    L2d,
    F2i,
    F2l,
    F2d,
    D2i,
    D2l,
    D2f,
    I2b,
    I2c,
    I2s,
}

/// `L` gives -1 and `G` gives 1 when an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    Lcmp,
    Fcmpl,
    Fcmpg,
    Dcmpl,
    Dcmpg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invoke {
    Virtual,
    Special,
    Static,
    Interface,
    Dynamic,
}

/// The jump table of `tableswitch` or `lookupswitch`, undecoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch<'a> {
    pub default: u32,
    pc: u32,
    /// First key of a table; `None` for a lookup, whose rows carry their keys.
    low: Option<i32>,
    rows: &'a [u8],
}

impl<'a> Switch<'a> {
    /// Number of cases without the default.
    pub fn len(&self) -> usize {
        self.rows.len() / if self.low.is_some() { 4 } else { 8 }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// First key of a `tableswitch`; `None` for a `lookupswitch`.
    pub fn low(&self) -> Option<i32> {
        self.low
    }

    /// Pairs of key and target, without the default.
    pub fn cases(self) -> impl Iterator<Item = (i32, u32)> + 'a {
        let word = |row: &[u8]| i32::from_be_bytes([row[0], row[1], row[2], row[3]]);
        let target = move |offset: i32| self.pc.wrapping_add_signed(offset);
        let width = if self.low.is_some() { 4 } else { 8 };
        (0i32..).zip(self.rows.chunks_exact(width)).map(move |(i, row)| match self.low {
            Some(low) => (low.wrapping_add(i), target(word(row))),
            None => (word(row), target(word(&row[4..]))),
        })
    }
}

/// What an instruction does. `u16` operands of references are constant indices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Insn<'a> {
    Nop,
    Null,
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Ldc(u16),
    Load(Kind, u16),
    Store(Kind, u16),
    ArrayLoad(Element),
    ArrayStore(Element),
    Stack(StackOp),
    Arith(Arith, Kind),
    Iinc {
        slot: u16,
        by: i16,
    },
    Convert(Convert),
    Compare(Compare),
    /// Compares an int with zero.
    If {
        cond: Cond,
        target: u32,
    },
    IfIcmp {
        cond: Cond,
        target: u32,
    },
    IfAcmp {
        equal: bool,
        target: u32,
    },
    IfNull {
        null: bool,
        target: u32,
    },
    Goto(u32),
    Jsr(u32),
    Ret(u16),
    Switch(Switch<'a>),
    /// `None` returns nothing.
    Return(Option<Kind>),
    GetStatic(u16),
    PutStatic(u16),
    GetField(u16),
    PutField(u16),
    Invoke(Invoke, u16),
    New(u16),
    /// Element type as in the `newarray` table: 4 boolean, 5 char, 6 float, 7 double, 8 byte, 9 short, 10 int, 11 long.
    NewArray(u8),
    NewRefArray(u16),
    NewMultiArray {
        class: u16,
        dimensions: u8,
    },
    ArrayLength,
    Throw,
    CheckCast(u16),
    InstanceOf(u16),
    MonitorEnter,
    MonitorExit,
}

impl Insn<'_> {
    /// Target of a jump that has exactly one, conditional or not.
    pub fn jump_target(&self) -> Option<u32> {
        match *self {
            Insn::If { target, .. }
            | Insn::IfIcmp { target, .. }
            | Insn::IfAcmp { target, .. }
            | Insn::IfNull { target, .. }
            | Insn::Goto(target)
            | Insn::Jsr(target) => Some(target),
            _ => None,
        }
    }

    /// A jump that may also fall through.
    pub fn is_conditional(&self) -> bool {
        matches!(self, Insn::If { .. } | Insn::IfIcmp { .. } | Insn::IfAcmp { .. } | Insn::IfNull { .. })
    }

    /// Control never reaches the next instruction directly. (After `jsr` it does, by `ret`.)
    pub fn ends_flow(&self) -> bool {
        matches!(self, Insn::Goto(_) | Insn::Ret(_) | Insn::Switch(_) | Insn::Return(_) | Insn::Throw)
    }

    /// May throw by itself or by what it calls, leaving aside errors of linking and memory for constants.
    pub fn may_throw(&self) -> bool {
        match self {
            Insn::Arith(Arith::Div | Arith::Rem, kind) => matches!(kind, Kind::Int | Kind::Long),
            Insn::ArrayLoad(_)
            | Insn::ArrayStore(_)
            | Insn::GetStatic(_)
            | Insn::PutStatic(_)
            | Insn::GetField(_)
            | Insn::PutField(_)
            | Insn::Invoke(..)
            | Insn::New(_)
            | Insn::NewArray(_)
            | Insn::NewRefArray(_)
            | Insn::NewMultiArray { .. }
            | Insn::ArrayLength
            | Insn::Throw
            | Insn::CheckCast(_)
            | Insn::MonitorEnter
            | Insn::MonitorExit => true,
            _ => false,
        }
    }
}

/// One decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Op<'a> {
    pub pc: u32,
    /// Bytes it takes, with prefix and padding.
    pub len: u32,
    /// Its opcode; for `wide` that of the widened instruction.
    pub opcode: u8,
    pub wide: bool,
    pub insn: Insn<'a>,
}

/// Iterates over bytecode; ends after the first error.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: usize,
}

impl<'a> Instructions<'a> {
    pub fn new(bytecode: &'a [u8]) -> Self {
        Self { code: bytecode, pc: 0 }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Op<'a>, ClassError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pc >= self.code.len() {
            return None;
        }
        let decoded = decode(self.code, self.pc);
        self.pc = match &decoded {
            Ok(op) => self.pc + op.len as usize,
            Err(_) => self.code.len(),
        };
        Some(decoded)
    }
}

/// Decodes the instruction at `pc`.
fn decode(code: &[u8], pc: usize) -> Result<Op<'_>, ClassError> {
    let at = u32::try_from(pc).map_err(|_| ClassError::TooLarge("code"))?;
    let mut d = Decoder { r: Reader::at(code, pc), code, pc: at };
    let first = d.u8()?;
    let (opcode, wide, insn) = if first == opcode::WIDE {
        let opcode = d.u8()?;
        (opcode, true, d.widened(opcode)?)
    } else {
        (first, false, d.operands(first)?)
    };
    Ok(Op { pc: at, len: (d.r.position() - pc) as u32, opcode, wide, insn })
}

const KINDS: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref];
const ELEMENTS: [Element; 8] = [Element::Int, Element::Long, Element::Float, Element::Double, Element::Ref, Element::Byte, Element::Char, Element::Short];
const STACK: [StackOp; 9] =
    [StackOp::Pop, StackOp::Pop2, StackOp::Dup, StackOp::DupX1, StackOp::DupX2, StackOp::Dup2, StackOp::Dup2X1, StackOp::Dup2X2, StackOp::Swap];
const ARITH: [Arith; 6] = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::Neg];
const BITS: [Arith; 6] = [Arith::Shl, Arith::Shr, Arith::Ushr, Arith::And, Arith::Or, Arith::Xor];
const CONVERT: [Convert; 15] = [
    Convert::I2l,
    Convert::I2f,
    Convert::I2d,
    Convert::L2i,
    Convert::L2f,
    Convert::L2d,
    Convert::F2i,
    Convert::F2l,
    Convert::F2d,
    Convert::D2i,
    Convert::D2l,
    Convert::D2f,
    Convert::I2b,
    Convert::I2c,
    Convert::I2s,
];
const COMPARE: [Compare; 5] = [Compare::Lcmp, Compare::Fcmpl, Compare::Fcmpg, Compare::Dcmpl, Compare::Dcmpg];
const CONDS: [Cond; 6] = [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le];

struct Decoder<'a> {
    r: Reader<'a>,
    code: &'a [u8],
    pc: u32,
}

impl<'a> Decoder<'a> {
    fn error(&self, what: &'static str) -> ClassError {
        ClassError::Code { pc: self.pc, what }
    }

    fn u8(&mut self) -> Result<u8, ClassError> {
        self.r.u8().map_err(|_| self.error("truncated instruction"))
    }

    fn u16(&mut self) -> Result<u16, ClassError> {
        self.r.u16().map_err(|_| self.error("truncated instruction"))
    }

    fn i16(&mut self) -> Result<i16, ClassError> {
        self.r.i16().map_err(|_| self.error("truncated instruction"))
    }

    fn i32(&mut self) -> Result<i32, ClassError> {
        self.r.i32().map_err(|_| self.error("truncated instruction"))
    }

    fn slot(&mut self) -> Result<u16, ClassError> {
        Ok(u16::from(self.u8()?))
    }

    fn target(&self, offset: i32) -> Result<u32, ClassError> {
        let target = i64::from(self.pc) + i64::from(offset);
        match u32::try_from(target) {
            Ok(target) if (target as usize) < self.code.len() => Ok(target),
            _ => Err(self.error("jump out of the code")),
        }
    }

    fn near(&mut self) -> Result<u32, ClassError> {
        let offset = self.i16()?;
        self.target(i32::from(offset))
    }

    fn far(&mut self) -> Result<u32, ClassError> {
        let offset = self.i32()?;
        self.target(offset)
    }

    fn widened(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        let slot = self.u16()?;
        Ok(match opcode {
            21..=25 => Insn::Load(KINDS[usize::from(opcode - 21)], slot),
            54..=58 => Insn::Store(KINDS[usize::from(opcode - 54)], slot),
            132 => Insn::Iinc { slot, by: self.i16()? },
            169 => Insn::Ret(slot),
            _ => return Err(self.error("wide before an instruction that has no wide form")),
        })
    }

    fn operands(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        match opcode {
            0..=20 => self.constant(opcode),
            21..=86 => self.variable(opcode),
            87..=152 => self.operator(opcode),
            153..=177 | 198..=201 => self.transfer(opcode),
            178..=197 => self.reference(opcode),
            _ => Err(self.error("unknown opcode")),
        }
    }

    fn constant(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        Ok(match opcode {
            0 => Insn::Nop,
            1 => Insn::Null,
            2..=8 => Insn::Int(i32::from(opcode) - 3),
            9..=10 => Insn::Long(i64::from(opcode) - 9),
            11..=13 => Insn::Float(f32::from(opcode - 11)),
            14..=15 => Insn::Double(f64::from(opcode - 14)),
            16 => Insn::Int(i32::from(self.u8()?.cast_signed())),
            17 => Insn::Int(i32::from(self.i16()?)),
            18 => Insn::Ldc(u16::from(self.u8()?)),
            _ => Insn::Ldc(self.u16()?),
        })
    }

    fn variable(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        let short = |first: u8| (KINDS[usize::from((opcode - first) / 4)], u16::from((opcode - first) % 4));
        Ok(match opcode {
            21..=25 => Insn::Load(KINDS[usize::from(opcode - 21)], self.slot()?),
            26..=45 => {
                let (kind, slot) = short(26);
                Insn::Load(kind, slot)
            }
            46..=53 => Insn::ArrayLoad(ELEMENTS[usize::from(opcode - 46)]),
            54..=58 => Insn::Store(KINDS[usize::from(opcode - 54)], self.slot()?),
            59..=78 => {
                let (kind, slot) = short(59);
                Insn::Store(kind, slot)
            }
            _ => Insn::ArrayStore(ELEMENTS[usize::from(opcode - 79)]),
        })
    }

    fn operator(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        Ok(match opcode {
            87..=95 => Insn::Stack(STACK[usize::from(opcode - 87)]),
            96..=119 => Insn::Arith(ARITH[usize::from((opcode - 96) / 4)], KINDS[usize::from((opcode - 96) % 4)]),
            120..=131 => Insn::Arith(BITS[usize::from((opcode - 120) / 2)], KINDS[usize::from((opcode - 120) % 2)]),
            132 => Insn::Iinc { slot: self.slot()?, by: i16::from(self.u8()?.cast_signed()) },
            133..=147 => Insn::Convert(CONVERT[usize::from(opcode - 133)]),
            _ => Insn::Compare(COMPARE[usize::from(opcode - 148)]),
        })
    }

    fn transfer(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        Ok(match opcode {
            153..=158 => Insn::If { cond: CONDS[usize::from(opcode - 153)], target: self.near()? },
            159..=164 => Insn::IfIcmp { cond: CONDS[usize::from(opcode - 159)], target: self.near()? },
            165 | 166 => Insn::IfAcmp { equal: opcode == 165, target: self.near()? },
            167 => Insn::Goto(self.near()?),
            168 => Insn::Jsr(self.near()?),
            169 => Insn::Ret(self.slot()?),
            170 => self.table_switch()?,
            171 => self.lookup_switch()?,
            172..=176 => Insn::Return(Some(KINDS[usize::from(opcode - 172)])),
            177 => Insn::Return(None),
            198 | 199 => Insn::IfNull { null: opcode == 198, target: self.near()? },
            200 => Insn::Goto(self.far()?),
            _ => Insn::Jsr(self.far()?),
        })
    }

    fn reference(&mut self, opcode: u8) -> Result<Insn<'a>, ClassError> {
        Ok(match opcode {
            178 => Insn::GetStatic(self.u16()?),
            179 => Insn::PutStatic(self.u16()?),
            180 => Insn::GetField(self.u16()?),
            181 => Insn::PutField(self.u16()?),
            182 => Insn::Invoke(Invoke::Virtual, self.u16()?),
            183 => Insn::Invoke(Invoke::Special, self.u16()?),
            184 => Insn::Invoke(Invoke::Static, self.u16()?),
            185 | 186 => {
                let index = self.u16()?;
                self.u16()?;
                Insn::Invoke(if opcode == 185 { Invoke::Interface } else { Invoke::Dynamic }, index)
            }
            187 => Insn::New(self.u16()?),
            188 => Insn::NewArray(self.u8()?),
            189 => Insn::NewRefArray(self.u16()?),
            190 => Insn::ArrayLength,
            191 => Insn::Throw,
            192 => Insn::CheckCast(self.u16()?),
            193 => Insn::InstanceOf(self.u16()?),
            194 => Insn::MonitorEnter,
            195 => Insn::MonitorExit,
            197 => Insn::NewMultiArray { class: self.u16()?, dimensions: self.u8()? },
            _ => return Err(self.error("unknown opcode")),
        })
    }

    fn padding(&mut self) -> Result<(), ClassError> {
        while !self.r.position().is_multiple_of(4) {
            self.u8()?;
        }
        Ok(())
    }

    fn table_switch(&mut self) -> Result<Insn<'a>, ClassError> {
        self.padding()?;
        let default = self.far()?;
        let (low, high) = (self.i32()?, self.i32()?);
        let count = i64::from(high) - i64::from(low) + 1;
        self.switch(default, Some(low), count, 4)
    }

    fn lookup_switch(&mut self) -> Result<Insn<'a>, ClassError> {
        self.padding()?;
        let default = self.far()?;
        let count = i64::from(self.i32()?);
        self.switch(default, None, count, 8)
    }

    fn switch(&mut self, default: u32, low: Option<i32>, count: i64, width: usize) -> Result<Insn<'a>, ClassError> {
        let count = usize::try_from(count).map_err(|_| self.error("switch with a negative number of cases"))?;
        let length = count.checked_mul(width).ok_or(self.error("truncated switch"))?;
        let rows = self.r.bytes(length).map_err(|_| self.error("truncated switch"))?;
        let switch = Switch { default, pc: self.pc, low, rows };
        match switch.cases().all(|(_, target)| (target as usize) < self.code.len()) {
            true => Ok(Insn::Switch(switch)),
            false => Err(self.error("jump out of the code")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &[u8], expected: &[(u32, u32, Insn<'_>)]) {
        let ops: Vec<_> = Instructions::new(code).map(|op| op.unwrap()).map(|op| (op.pc, op.len, op.insn)).collect();
        assert_eq!(ops, expected);
    }

    #[test]
    fn short_and_wide_forms_are_folded() {
        check(
            &[2, 28, 77, 16, 0xFF, 196, 132, 1, 0, 0xFF, 0xFE, 196, 24, 1, 2, 120, 177],
            &[
                (0, 1, Insn::Int(-1)),
                (1, 1, Insn::Load(Kind::Int, 2)),
                (2, 1, Insn::Store(Kind::Ref, 2)),
                (3, 2, Insn::Int(-1)),
                (5, 6, Insn::Iinc { slot: 256, by: -2 }),
                (11, 4, Insn::Load(Kind::Double, 258)),
                (15, 1, Insn::Arith(Arith::Shl, Kind::Int)),
                (16, 1, Insn::Return(None)),
            ],
        );
    }

    #[test]
    fn jumps_are_absolute() {
        check(
            &[3, 153, 0, 4, 0, 167, 0xFF, 0xFB],
            &[(0, 1, Insn::Int(0)), (1, 3, Insn::If { cond: Cond::Eq, target: 5 }), (4, 1, Insn::Nop), (5, 3, Insn::Goto(0))],
        );
    }

    #[test]
    fn switches_list_their_cases() {
        let table = [26, 170, 0, 0, 0, 0, 0, 23, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 23, 0, 0, 0, 24, 177, 177];
        let lookup = [170 + 1, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 20, 177];
        for (code, expected) in [(&table[..], vec![(5, 24), (6, 25)]), (&lookup[..], vec![(-1, 20)])] {
            let switch = Instructions::new(code).find_map(|op| match op.unwrap().insn {
                Insn::Switch(switch) => Some(switch),
                _ => None,
            });
            assert_eq!(switch.unwrap().cases().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn damage_is_an_error_and_ends_the_iteration() {
        let huge = [170, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF];
        let negative = [171, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0];
        for code in [&[17, 1][..], &[203], &[196, 0, 1], &[167, 0x7F, 0xFF], &huge, &negative] {
            let results: Vec<_> = Instructions::new(code).collect();
            assert!(matches!(results[..], [Err(ClassError::Code { .. })]), "{code:?}");
        }
    }
}
