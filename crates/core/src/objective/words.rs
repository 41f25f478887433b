//! A condition of the program in words, as far as the lowered code tells: `this.count > 3`, `argument 1 == null`, `text.isEmpty()`.
//!
//! For people who ask why a line was not reached; nothing is decided by it. Names of variables are not in the code, so parameters have numbers.

use crate::program::ir::{BinOp, Body, CallKind, Const, Op, Operand, Reg, Relation};
use crate::program::{Program, Ty};

use super::line_distance::{Side, Step, negated};

/// How deep an expression is written out; the rest is `…`.
const DEPTH: u32 = 5;

/// The condition under which the step leads towards the line.
pub fn of_step(program: &Program, body: &Body, step: &Step) -> String {
    let words = Words { program, body };
    let Some(at) = body.insns_at(step.pc).last() else { return "a condition".into() };
    match (&step.side, &body.insns[at].op) {
        (Side::Branch(_, wanted), Op::If { left, relation, right }) => words.condition(at, *left, *right, settled(*wanted, *relation)),
        (Side::Case(_, Some(key), _), Op::Switch { on }) => format!("{} == {key}", words.value(at, *on, DEPTH)),
        (Side::Case(_, None, keys), Op::Switch { on }) => {
            let keys: Vec<String> = keys.iter().take(8).map(|k| k.to_string()).collect();
            format!("{} is none of {}", words.value(at, *on, DEPTH), keys.join(", "))
        }
        _ => "a condition".into(),
    }
}

/// The plan's relation speaks of the jump; the code's own one, or its negation, is what a reader of the code expects.
fn settled(wanted: Relation, code: Relation) -> Relation {
    if wanted == code || wanted == negated(code) { wanted } else { code }
}

struct Words<'a> {
    program: &'a Program,
    body: &'a Body,
}

impl Words<'_> {
    fn condition(&self, at: usize, left: Reg, right: Operand, relation: Relation) -> String {
        let other = match right {
            Operand::Reg(reg) => self.value(at, reg, DEPTH),
            Operand::Null => "null".into(),
            Operand::Zero => return self.against_zero(at, left, relation),
        };
        format!("{} {} {other}", self.value(at, left, DEPTH), sign(relation))
    }

    /// What is compared with zero is a number, a truth value or the result of a comparison.
    fn against_zero(&self, at: usize, left: Reg, relation: Relation) -> String {
        if let Some(def) = self.definition(at, left) {
            match &self.body.insns[def].op {
                Op::Compare { left, right, .. } => {
                    return format!("{} {} {}", self.value(def, *left, DEPTH), sign(relation), self.value(def, *right, DEPTH));
                }
                op if self.is_truth(op) && matches!(relation, Relation::Eq | Relation::Ne) => {
                    let text = self.value(at, left, DEPTH);
                    return if relation == Relation::Ne { format!("{text} is true") } else { format!("{text} is false") };
                }
                _ => {}
            }
        }
        format!("{} {} 0", self.value(at, left, DEPTH), sign(relation))
    }

    fn is_truth(&self, op: &Op) -> bool {
        let boolean = Ty::prim(crate::program::Prim::Bool);
        match op {
            Op::InstanceOf { .. } => true,
            Op::Call { method, .. } => self.program.resolve_ref(method).is_some_and(|m| self.program.signature(m).ret == boolean),
            Op::GetField { field, .. } | Op::GetStatic { field, .. } => field.ty == boolean,
            _ => false,
        }
    }

    /// The one instruction whose value it is.
    fn definition(&self, at: usize, reg: Reg) -> Option<usize> {
        match self.body.definitions(at, reg) {
            (defs, false) if defs.len() == 1 => Some(defs[0]),
            _ => None,
        }
    }

    fn value(&self, at: usize, reg: Reg, depth: u32) -> String {
        let (defs, from_entry) = self.body.definitions(at, reg);
        match (&defs[..], from_entry) {
            ([], true) => self.parameter(reg),
            ([def], false) if depth > 0 => self.made(*def, depth - 1),
            _ => "…".into(),
        }
    }

    fn parameter(&self, reg: Reg) -> String {
        let frame = &self.body.frame;
        match frame.params.iter().position(|(r, _)| *r == reg) {
            Some(0) if frame.receiver => "this".into(),
            Some(i) => format!("argument {}", i + 1 - usize::from(frame.receiver)),
            None => "…".into(),
        }
    }

    fn made(&self, def: usize, depth: u32) -> String {
        let value = |reg: &Reg| self.value(def, *reg, depth);
        match &self.body.insns[def].op {
            Op::Copy { from, .. } => value(from),
            Op::Cast { of, .. } | Op::Convert { of, .. } => value(of),
            Op::Const { value: constant, .. } => literal(constant),
            Op::GetField { object, field, .. } => format!("{}.{}", value(object), field.name),
            Op::GetStatic { field, .. } => format!("{}.{}", self.short(self.program.type_name(field.owner)), field.name),
            Op::Length { array, .. } => format!("{}.length", value(array)),
            Op::LoadElement { array, index, .. } => format!("{}[{}]", value(array), value(index)),
            Op::Negate { of, .. } => format!("-{}", value(of)),
            Op::Binary { op, left, right, .. } => format!("{} {} {}", value(left), operator(*op), value(right)),
            Op::InstanceOf { of, ty, .. } => format!("{} instanceof {}", value(of), ty.as_ref().map_or("…", |t| self.short(self.program.type_name(t)))),
            Op::Call { kind, method, args, .. } => {
                let (receiver, args) = match (kind, args.split_first()) {
                    (CallKind::Static, _) | (_, None) => (self.short(self.program.type_name(method.owner)).to_string(), &args[..]),
                    (_, Some((receiver, rest))) => (value(receiver), rest),
                };
                let args: Vec<String> = args.iter().map(value).collect();
                format!("{receiver}.{}({})", method.name, args.join(", "))
            }
            Op::New { class, .. } => format!("new {}", self.short(self.program.type_name(*class))),
            Op::Caught { .. } => "the caught exception".into(),
            _ => "…".into(),
        }
    }

    fn short<'t>(&self, name: &'t str) -> &'t str {
        name.rsplit('.').next().unwrap_or(name)
    }
}

fn literal(constant: &Const) -> String {
    match constant {
        Const::Int(v) => v.to_string(),
        Const::Str(text) => {
            let short: String = text.chars().take(40).collect();
            format!("{short:?}{}", if short.len() < text.len() { "…" } else { "" })
        }
        other => other.literal().map_or("null".into(), |l| match l {
            crate::program::Literal::Long(v) => v.to_string(),
            crate::program::Literal::Float(v) => v.to_string(),
            crate::program::Literal::Double(v) => v.to_string(),
            _ => "…".into(),
        }),
    }
}

fn sign(relation: Relation) -> &'static str {
    match relation {
        Relation::Eq => "==",
        Relation::Ne => "!=",
        Relation::Lt => "<",
        Relation::Ge => ">=",
        Relation::Gt => ">",
        Relation::Le => "<=",
    }
}

fn operator(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Ushr => ">>>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
    }
}
