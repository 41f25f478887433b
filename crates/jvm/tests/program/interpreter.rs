//! Executes lowered code of static methods, so that lowering can be compared with a JVM.
//!
//! Knows numbers, arrays, statics and exceptions; objects have a type and nothing else, calls into the platform do nothing but box.

use std::collections::BTreeMap;

use rethrow_core::program::ir::{BinOp, Body, Const, EdgeKind, Op, Operand, Reg, Relation};
use rethrow_core::program::{MethodId, Prim, Program, TypeId};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Val {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Null,
    Array(usize),
    Object(TypeId),
}

struct Machine<'p> {
    program: &'p Program,
    arrays: Vec<Vec<Val>>,
    statics: BTreeMap<String, Val>,
}

enum Step {
    Next(Option<Val>),
    Take(EdgeKind),
    Return(Option<Val>),
    Raise(TypeId),
}

/// The result, or the type of the exception that came out.
pub fn run(program: &Program, method: MethodId, args: [i32; 2]) -> String {
    let mut machine = Machine { program, arrays: Vec::new(), statics: BTreeMap::new() };
    match machine.call(method, args.map(Val::Int).to_vec()) {
        Ok(Some(Val::Int(v))) => v.to_string(),
        Ok(other) => panic!("unexpected result {other:?}"),
        Err(raised) => program.type_name(raised).to_owned(),
    }
}

impl Machine<'_> {
    fn call(&mut self, method: MethodId, args: Vec<Val>) -> Result<Option<Val>, TypeId> {
        let body = self.program.body(method).expect("only methods with code are called");
        let mut regs: BTreeMap<Reg, Val> = body.frame.params.iter().map(|(reg, _)| *reg).zip(args).collect();
        let mut block = body.entry();
        for _ in 0..100_000 {
            let mut taken = None;
            for at in body.block(block).insns.clone() {
                match self.step(&body.insns[at as usize].op, &regs) {
                    Step::Next(value) => {
                        if let (Some(to), Some(value)) = (body.insns[at as usize].op.written(), value) {
                            regs.insert(to, value);
                        }
                    }
                    Step::Take(kind) => taken = Some(kind),
                    Step::Return(value) => return Ok(value),
                    Step::Raise(ty) => {
                        block = self.handler(&body, at as usize, ty).ok_or(ty)?;
                        let Op::Caught { to, .. } = body.insns_of(block)[0].op else { panic!("a handler begins with Caught") };
                        regs.insert(to, Val::Object(ty));
                        taken = Some(EdgeKind::Exception(None));
                        break;
                    }
                }
            }
            if taken == Some(EdgeKind::Exception(None)) {
                continue;
            }
            let edges = &body.block(block).succs;
            let default = || edges.iter().find(|e| e.kind == EdgeKind::Case(None));
            let edge = match taken {
                Some(kind) => edges.iter().find(|e| e.kind == kind).or_else(default),
                None => edges.iter().find(|e| !e.kind.is_exception()),
            };
            block = edge.expect("control goes on").to;
        }
        panic!("endless loop")
    }

    fn handler(&self, body: &Body, insn: usize, raised: TypeId) -> Option<rethrow_core::program::ir::BlockId> {
        assert!(!body.insns[insn].hazards.is_empty(), "only an instruction with a hazard raises");
        let edge = body.raise_edges(insn).find(|edge| match edge.kind {
            EdgeKind::Exception(Some(ty)) => self.program.is_subtype(raised, ty),
            _ => true,
        })?;
        (edge.to != body.raised()).then_some(edge.to)
    }

    fn raise(&self, name: &str) -> Step {
        Step::Raise(self.program.find_type(&format!("java.lang.{name}")).expect("the platform has it"))
    }

    fn step(&mut self, op: &Op, regs: &BTreeMap<Reg, Val>) -> Step {
        let get = |reg: &Reg| *regs.get(reg).unwrap_or_else(|| panic!("{reg:?} is read before it is written"));
        let value = match op {
            Op::Nop | Op::Goto | Op::Caught { .. } => return Step::Next(None),
            Op::Copy { from, .. } | Op::Cast { of: from, .. } => get(from),
            Op::Const { value, .. } => constant(value),
            Op::Binary { op, ty, left, right, .. } => match binary(*op, *ty, get(left), get(right)) {
                Some(value) => value,
                None => return self.raise("ArithmeticException"),
            },
            Op::Negate { of, .. } => match get(of) {
                Val::Int(v) => Val::Int(v.wrapping_neg()),
                Val::Long(v) => Val::Long(v.wrapping_neg()),
                Val::Float(v) => Val::Float(-v),
                Val::Double(v) => Val::Double(-v),
                other => panic!("{other:?} negated"),
            },
            Op::Convert { of, into, .. } => convert(get(of), *into),
            Op::Compare { left, right, kind, .. } => {
                let order = match (get(left), get(right)) {
                    (Val::Long(a), Val::Long(b)) => Some(a.cmp(&b)),
                    (Val::Float(a), Val::Float(b)) => a.partial_cmp(&b),
                    (Val::Double(a), Val::Double(b)) => a.partial_cmp(&b),
                    other => panic!("{other:?} compared"),
                };
                Val::Int(order.map_or(i32::from(kind.nan), |o| o as i32))
            }
            Op::If { left, relation, right } => {
                let right = match right {
                    Operand::Reg(reg) => get(reg),
                    Operand::Zero => Val::Int(0),
                    Operand::Null => Val::Null,
                };
                return Step::Take(EdgeKind::Branch { taken: holds(get(left), *relation, right) });
            }
            Op::Switch { on } => match get(on) {
                Val::Int(key) => return Step::Take(EdgeKind::Case(Some(key))),
                other => panic!("switch on {other:?}"),
            },
            Op::Return { value } => return Step::Return(value.as_ref().map(get)),
            Op::Throw { value } => match get(value) {
                Val::Object(ty) => return Step::Raise(ty),
                other => panic!("{other:?} thrown"),
            },
            Op::New { class, .. } => Val::Object(*class),
            Op::GetStatic { field, .. } => *self.statics.get(&*field.name).unwrap_or(&Val::Null),
            Op::PutStatic { field, value } => {
                self.statics.insert(field.name.to_string(), get(value));
                return Step::Next(None);
            }
            Op::NewArray { ty, lengths, .. } => match get(&lengths[0]) {
                Val::Int(len @ 0..) => {
                    let element = ty.element().expect("an array has elements");
                    self.arrays.push(vec![zero(element.as_prim()); len as usize]);
                    Val::Array(self.arrays.len() - 1)
                }
                _ => return self.raise("NegativeArraySizeException"),
            },
            Op::Length { array, .. } => match get(array) {
                Val::Array(a) => Val::Int(self.arrays[a].len() as i32),
                _ => return self.raise("NullPointerException"),
            },
            Op::LoadElement { array, index, .. } => match self.element(get(array), get(index)) {
                Ok((a, i)) => self.arrays[a][i],
                Err(step) => return step,
            },
            Op::StoreElement { array, index, value, element } => match self.element(get(array), get(index)) {
                Ok((a, i)) => {
                    self.arrays[a][i] = element.map_or(get(value), |prim| convert(get(value), prim));
                    return Step::Next(None);
                }
                Err(step) => return step,
            },
            Op::Call { method, args, .. } if *method.name == *"<init>" => {
                assert!(!args.is_empty());
                return Step::Next(None);
            }
            // boxing and unboxing of floats, the only calls in the samples
            Op::Call { args, .. } => match get(&args[0]) {
                Val::Int(v) => Val::Float(v as f32),
                other => other,
            },
            other => panic!("not in the samples: {other:?}"),
        };
        Step::Next(Some(value))
    }

    fn element(&self, array: Val, index: Val) -> Result<(usize, usize), Step> {
        let (Val::Array(a), Val::Int(i)) = (array, index) else { return Err(self.raise("NullPointerException")) };
        match usize::try_from(i) {
            Ok(i) if i < self.arrays[a].len() => Ok((a, i)),
            _ => Err(self.raise("ArrayIndexOutOfBoundsException")),
        }
    }
}

fn constant(value: &Const) -> Val {
    match value {
        Const::Int(v) => Val::Int(*v),
        Const::Long(v) => Val::Long(*v),
        Const::Float(v) => Val::Float(*v),
        Const::Double(v) => Val::Double(*v),
        _ => Val::Null,
    }
}

fn zero(prim: Option<Prim>) -> Val {
    match prim {
        None => Val::Null,
        Some(Prim::Long) => Val::Long(0),
        Some(Prim::Float) => Val::Float(0.0),
        Some(Prim::Double) => Val::Double(0.0),
        Some(_) => Val::Int(0),
    }
}

/// `None` is division by zero.
fn binary(op: BinOp, ty: Prim, left: Val, right: Val) -> Option<Val> {
    Some(match (left, right) {
        (Val::Int(a), Val::Int(b)) if ty == Prim::Int => Val::Int(whole(op, i64::from(a), i64::from(b), 31)? as i32),
        (Val::Long(a), Val::Long(b)) => Val::Long(whole(op, a, b, 63)?),
        (Val::Long(a), Val::Int(b)) => Val::Long(whole(op, a, i64::from(b), 63)?),
        (Val::Float(a), Val::Float(b)) => Val::Float(match op {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::Div => a / b,
            _ => a % b,
        }),
        (Val::Double(a), Val::Double(b)) => Val::Double(match op {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::Div => a / b,
            _ => a % b,
        }),
        other => panic!("{op:?} of {other:?}"),
    })
}

/// Ints are computed as longs and cut; `mask` bounds shifts.
fn whole(op: BinOp, a: i64, b: i64, mask: i64) -> Option<i64> {
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div => (b != 0).then(|| a.wrapping_div(b))?,
        BinOp::Rem => (b != 0).then(|| a.wrapping_rem(b))?,
        BinOp::Shl => a << (b & mask),
        BinOp::Shr => a >> (b & mask),
        BinOp::Ushr if mask == 31 => i64::from((a as i32).cast_unsigned() >> (b & mask)),
        BinOp::Ushr => (a.cast_unsigned() >> (b & mask)).cast_signed(),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    })
}

fn convert(value: Val, into: Prim) -> Val {
    let (long, double) = match value {
        Val::Int(v) => (i64::from(v), f64::from(v)),
        Val::Long(v) => (v, v as f64),
        Val::Float(v) => (v as i64, f64::from(v)),
        Val::Double(v) => (v as i64, v),
        other => return other,
    };
    let real = matches!(value, Val::Float(_) | Val::Double(_));
    match into {
        Prim::Bool | Prim::Int => Val::Int(if real { double as i32 } else { long as i32 }),
        Prim::Byte => Val::Int(i32::from(long as i8)),
        Prim::Char => Val::Int(i32::from(long as u16)),
        Prim::Short => Val::Int(i32::from(long as i16)),
        Prim::Long => Val::Long(long),
        Prim::Float => Val::Float(if real { double as f32 } else { long as f32 }),
        Prim::Double => Val::Double(double),
    }
}

fn holds(left: Val, relation: Relation, right: Val) -> bool {
    match (left, right) {
        (Val::Int(a), Val::Int(b)) => match relation {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Lt => a < b,
            Relation::Ge => a >= b,
            Relation::Gt => a > b,
            Relation::Le => a <= b,
        },
        (a, b) => (a == b) == (relation == Relation::Eq),
    }
}
