//! Where on its line a frame's code goes on or raises: `if (i < 0) throw …`, `a == null || b.isEmpty()` and `assert …` reach their line long before they
//! do what the log tells.
//!
//! The innermost frame raises the log's exception, the others call the method of the next frame inwards. Instructions that cannot do that are no
//! crash site; where all that can lie behind branches of the line itself, the way there is part of the distance. Not published.

use crate::goal::CrashGoal;
use crate::message::quoted;
use crate::program::ir::{BlockId, Body, Hazards, Insn, Op};

/// What a frame did last.
pub enum Last<'g> {
    /// It called a method of that name.
    Called(&'g str),
    /// It raised, in one of these ways; or it looked for a member that was not there.
    Raised { hazards: Hazards, member: Option<&'g str> },
}

impl<'g> Last<'g> {
    /// Of the frame (from 0, the innermost first).
    pub fn of(goal: &'g CrashGoal, frame: usize) -> Last<'g> {
        match frame.checked_sub(1) {
            Some(inner) => Last::Called(&goal.frames[inner].frame.method),
            None => {
                let message = goal.message.as_deref().filter(|_| goal.exception == "AttributeError");
                Last::Raised { hazards: ways(&goal.exception), member: message.and_then(|m| quoted(m, '\'').last()) }
            }
        }
    }

    fn may_be(&self, insn: &Insn) -> bool {
        match (self, &insn.op) {
            (Last::Called(name), Op::Call { method, .. }) => *method.name == **name,
            (Last::Called(_), _) => false,
            (Last::Raised { member: Some(name), .. }, Op::Call { method, .. }) => *method.name == **name,
            (Last::Raised { member: Some(name), .. }, Op::GetField { field, .. }) => *field.name == **name,
            (Last::Raised { member: Some(_), .. }, _) => false,
            (Last::Raised { hazards, member: None }, _) => insn.hazards.meets(*hazards),
        }
    }
}

/// How an exception of that type comes about.
fn ways(exception: &str) -> Hazards {
    const WAYS: [(&str, Hazards); 12] = [
        ("NullPointerException", Hazards::NULL),
        ("AttributeError", Hazards::NULL),
        ("ArrayIndexOutOfBoundsException", Hazards::BOUNDS),
        ("IndexError", Hazards::BOUNDS),
        ("KeyError", Hazards::BOUNDS),
        ("ArithmeticException", Hazards::DIV_ZERO),
        ("ZeroDivisionError", Hazards::DIV_ZERO),
        ("NegativeArraySizeException", Hazards::NEGATIVE_SIZE),
        ("ClassCastException", Hazards::CAST),
        ("ArrayStoreException", Hazards::ARRAY_STORE),
        ("ExceptionInInitializerError", Hazards::INIT),
        ("NoClassDefFoundError", Hazards::INIT),
    ];
    let own = WAYS.iter().find(|(name, _)| exception.rsplit('.').next() == Some(name)).map_or(Hazards::NONE, |(_, way)| *way);
    own.with(Hazards::EXPLICIT)
}

/// The blocks of the line in which a frame may have done its last; none if that may be anywhere on it.
pub fn blocks(body: &Body, line: u32, last: &Last<'_>) -> Vec<BlockId> {
    let mut sites: Vec<BlockId> = body.insns_on_line(line).filter(|i| last.may_be(&body.insns[*i])).map(|i| body.block_of(i)).collect();
    sites.dedup();
    let begins = body.insns_on_line(line).next().map(|i| body.block_of(i));
    if begins.is_none_or(|b| sites.contains(&b)) { Vec::new() } else { sites }
}
