//! The constants of a body, with what can be computed from them (`60 * 60`, `-1`, `1L << 32` split over instructions and blocks).
//!
//! Abstract interpretation over {unknown, constant}: a register is constant at the start of a block if it is the same constant at the end of every block
//! before it (GRT-2). Folding never raises: division by zero is left alone.

use rustc_hash::FxHashMap;

use super::ir::{BinOp, Body, Const, EdgeKind, Op, Reg};
use super::{Literal, Prim, Ty};

impl Body {
    /// Values that the code names, compares with, or computes from these; each once, in code order. Switch keys are among them.
    pub fn literals(&self) -> Vec<Literal> {
        let mut found = Vec::new();
        let mut add = |literal: Option<Literal>| {
            if let Some(literal) = literal
                && !found.iter().any(|known| same(known, &literal))
            {
                found.push(literal);
            }
        };
        let starts = self.constants_at_starts();
        for (id, block) in self.real_blocks() {
            let mut known: FxHashMap<Reg, Const> = starts[id.0 as usize].clone().unwrap_or_default();
            for insn in self.insns_of(id) {
                if let Op::Concat { recipe, .. } = &insn.op {
                    recipe.split('\u{1}').filter(|part| !part.is_empty()).for_each(|part| add(Some(Literal::Str(part.to_owned()))));
                }
                let value = evaluate(&insn.op, &known);
                if !matches!(insn.op, Op::Copy { .. }) {
                    add(value.as_ref().and_then(Const::literal));
                }
                if let Some(to) = insn.op.written() {
                    match value {
                        Some(value) => known.insert(to, value),
                        None => known.remove(&to),
                    };
                }
            }
            for edge in &block.succs {
                if let EdgeKind::Case(Some(key)) = edge.kind {
                    add(Some(Literal::Int(key)));
                }
            }
        }
        found
    }

    /// By block: the registers that hold a constant whichever way it is entered; `None` where no way leads.
    fn constants_at_starts(&self) -> Vec<Option<FxHashMap<Reg, Const>>> {
        let mut starts: Vec<Option<FxHashMap<Reg, Const>>> = vec![None; self.blocks.len()];
        starts[self.entry().0 as usize] = Some(FxHashMap::default());
        let mut queue = vec![self.entry()];
        // each visit takes constants away from a start, so this ends; the bound is for bodies that no compiler writes
        let mut left = 8 * self.blocks.len();
        while let Some(id) = queue.pop().filter(|_| left > 0) {
            left -= 1;
            let mut known = starts[id.0 as usize].clone().unwrap_or_default();
            // an exception may leave a block anywhere: only what the block does not write is known then
            let mut raised = known.clone();
            for insn in self.insns_of(id) {
                let value = evaluate(&insn.op, &known);
                if let Some(to) = insn.op.written() {
                    raised.remove(&to);
                    match value {
                        Some(value) => known.insert(to, value),
                        None => known.remove(&to),
                    };
                }
            }
            for edge in &self.block(id).succs {
                let coming = if edge.kind.is_exception() { &raised } else { &known };
                let start = &mut starts[edge.to.0 as usize];
                let met = match start {
                    None => coming.clone(),
                    Some(had) => had.iter().filter(|(reg, value)| coming.get(reg) == Some(value)).map(|(reg, value)| (*reg, value.clone())).collect(),
                };
                if start.as_ref() != Some(&met) {
                    *start = Some(met);
                    queue.push(edge.to);
                }
            }
        }
        starts
    }

    /// Types whose class objects the code names (`Foo.class`); each once, in code order.
    pub fn class_literals(&self) -> Vec<Ty> {
        let mut found = Vec::new();
        for insn in &self.insns {
            if let Op::Const { value: Const::Class(ty), .. } = insn.op
                && !found.contains(&ty)
            {
                found.push(ty);
            }
        }
        found
    }
}

/// Equality by bits, so that NaN is found once and −0.0 is not 0.0.
fn same(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
        (Literal::Double(a), Literal::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn evaluate(op: &Op, known: &FxHashMap<Reg, Const>) -> Option<Const> {
    match op {
        Op::Const { value, .. } => Some(value.clone()),
        Op::Copy { from, .. } => known.get(from).cloned(),
        Op::Binary { op, left, right, .. } => binary(*op, known.get(left)?, known.get(right)?),
        Op::Negate { of, .. } => Some(match known.get(of)? {
            Const::Int(v) => Const::Int(v.wrapping_neg()),
            Const::Long(v) => Const::Long(v.wrapping_neg()),
            Const::Float(v) => Const::Float(-v),
            Const::Double(v) => Const::Double(-v),
            _ => return None,
        }),
        Op::Convert { of, into, .. } => convert(known.get(of)?, *into),
        _ => None,
    }
}

fn binary(op: BinOp, left: &Const, right: &Const) -> Option<Const> {
    Some(match (left, right) {
        (Const::Int(a), Const::Int(b)) => Const::Int(int(op, *a, *b)?),
        (Const::Long(a), Const::Long(b)) => Const::Long(long(op, *a, *b)?),
        (Const::Long(a), Const::Int(b)) => Const::Long(long(op, *a, i64::from(*b))?),
        (Const::Float(a), Const::Float(b)) => Const::Float(double(op, f64::from(*a), f64::from(*b))? as f32),
        (Const::Double(a), Const::Double(b)) => Const::Double(double(op, *a, *b)?),
        _ => return None,
    })
}

fn int(op: BinOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div => (b != 0).then(|| a.wrapping_div(b))?,
        BinOp::Rem => (b != 0).then(|| a.wrapping_rem(b))?,
        BinOp::Shl => a.wrapping_shl(b.cast_unsigned()),
        BinOp::Shr => a.wrapping_shr(b.cast_unsigned()),
        BinOp::Ushr => a.cast_unsigned().wrapping_shr(b.cast_unsigned()).cast_signed(),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    })
}

fn long(op: BinOp, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div => (b != 0).then(|| a.wrapping_div(b))?,
        BinOp::Rem => (b != 0).then(|| a.wrapping_rem(b))?,
        BinOp::Shl => a.wrapping_shl(b as u32),
        BinOp::Shr => a.wrapping_shr(b as u32),
        BinOp::Ushr => a.cast_unsigned().wrapping_shr(b as u32).cast_signed(),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    })
}

fn double(op: BinOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::Rem => a % b,
        _ => return None,
    })
}

/// Saturating and NaN-to-zero, as Rust's casts are too.
fn convert(value: &Const, into: Prim) -> Option<Const> {
    let (whole, real) = match value {
        Const::Int(v) => (i64::from(*v), f64::from(*v)),
        Const::Long(v) => (*v, *v as f64),
        Const::Float(v) => (*v as i64, f64::from(*v)),
        Const::Double(v) => (*v as i64, *v),
        _ => return None,
    };
    let is_real = matches!(value, Const::Float(_) | Const::Double(_));
    Some(match into {
        Prim::Byte => Const::Int(i32::from(whole as i8)),
        Prim::Char => Const::Int(i32::from(whole as u16)),
        Prim::Short => Const::Int(i32::from(whole as i16)),
        Prim::Int | Prim::Bool => Const::Int(if is_real { real as i32 } else { whole as i32 }),
        Prim::Long => Const::Long(whole),
        Prim::Float => Const::Float(if is_real { real as f32 } else { whole as f32 }),
        Prim::Double => Const::Double(real),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_follows_the_machine() {
        let (min, minus) = (Const::Int(i32::MIN), Const::Int(-1));
        assert_eq!(binary(BinOp::Div, &min, &minus), Some(min.clone()));
        assert_eq!(binary(BinOp::Div, &min, &Const::Int(0)), None);
        assert_eq!(binary(BinOp::Ushr, &minus, &Const::Int(28)), Some(Const::Int(15)));
        assert_eq!(binary(BinOp::Shl, &Const::Long(1), &Const::Int(40)), Some(Const::Long(1 << 40)));
        assert_eq!(binary(BinOp::Add, &Const::Null, &minus), None);
        assert_eq!(convert(&Const::Int(-1), Prim::Char), Some(Const::Int(65535)));
        assert_eq!(convert(&Const::Double(1e20), Prim::Int), Some(Const::Int(i32::MAX)));
        assert_eq!(convert(&Const::Float(f32::NAN), Prim::Long), Some(Const::Long(0)));
    }
}
