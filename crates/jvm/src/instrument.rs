//! Probes for loaded classes: which points of a class are observed, under which numbers, and the rewritten class.
//!
//! [`plan`] and [`instrument`] are pure functions of the class bytes and the [`Detail`], so the parent process and
//! the workers agree on every number without talking. Only `Code` attributes are rewritten and constants appended;
//! all else is copied. Probes are straight-line calls of the class `rethrow/rt/Probe` (see [`runtime`]), inserted
//! *before* instructions such that jumps to an instruction run its probe first. No frame is computed: inserted code
//! leaves locals and the operand stack as they were, so the existing frames only move.
//!
//! Where numbers start is the caller's choice ([`Spec`]); a method that cannot hold its probes keeps its numbers
//! reserved and is reported. It does not decide which classes to observe, and classes of the JDK must not be given to it
//! (except to [`replace_exit`]).

mod analysis;
pub(crate) mod assemble;
mod constants;
mod edit;
mod exit;
mod frames;
mod rewrite;
pub mod runtime;

pub use exit::replace_exit;
pub use rewrite::{instrument, instrument_marked};
pub use runtime::probe_classes;

use crate::classfile::{ClassError, ClassFile};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How closely a class is watched. Steps, `exit` calls, and writes of static fields are covered at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detail {
    /// Hits after every instruction that may throw, at lines and blocks; distances of branches; switch values.
    Full,
    /// Hits at the start of basic blocks; distances of branches; switch values: what coverage needs, for many classes at once.
    Edges,
    /// Hits at the start of basic blocks only.
    Blocks,
    /// No hits.
    Steps,
}

/// What to insert, and the first number of each series for this class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    pub detail: Detail,
    pub first_probe: u32,
    pub first_branch: u32,
    pub first_switch: u32,
    pub first_static: u32,
}

/// Every observed point of a class. A number is `first_*` of the [`Spec`] + `first_*` of the method + position in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassProbes {
    /// One per method, in file order, also for those without code.
    pub methods: Vec<MethodProbes>,
    /// Static fields whose writes are logged; the position is the number.
    pub statics: Vec<StaticRef>,
    pub hits: u32,
    pub branches: u32,
    pub switches: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodProbes {
    pub name: String,
    pub descriptor: String,
    pub first_hit: u32,
    pub hits: Vec<HitPoint>,
    pub first_branch: u32,
    pub branches: Vec<BranchPoint>,
    pub first_switch: u32,
    pub switches: Vec<SwitchPoint>,
}

/// Control reached the instruction at `pc` (of the original class).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitPoint {
    pub pc: u32,
    pub line: Option<u16>,
    /// A basic block starts here.
    pub leader: bool,
}

/// A conditional jump whose operands are recorded as a difference `left - right`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchPoint {
    pub pc: u32,
    pub line: Option<u16>,
    /// Opcode of the jump, 153 (`ifeq`) to 166 (`if_acmpne`), 198, 199.
    pub opcode: u8,
    pub target: u32,
    /// The `lcmp` … `dcmpg` in front of the jump; then the difference is that of its operands.
    pub compare: Option<u8>,
    /// The predicate in front of the jump that also reports how far it is from being true.
    pub hint: Option<HintOp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchPoint {
    pub pc: u32,
    pub line: Option<u16>,
}

/// A static field that a class writes outside its initialiser.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StaticRef {
    /// Internal name of the class through which the field is named.
    pub owner: String,
    pub name: String,
    pub descriptor: String,
}

/// Known predicates; the number is the low four bits of the third argument of `Probe.hint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HintOp {
    StringEquals = 0,
    StringEqualsIgnoreCase = 1,
    StringStartsWith = 2,
    StringEndsWith = 3,
    StringContains = 4,
    /// The second operand is null.
    StringIsEmpty = 5,
    /// `equals` of anything but `String`, and `Objects.equals`.
    ObjectEquals = 6,
    /// `contains(Object)` of any owner.
    Contains = 7,
    ContainsKey = 8,
    ContainsValue = 9,
    /// `isEmpty()` of anything but `String`; the second operand is null.
    IsEmpty = 10,
    /// `String.matches`.
    StringMatches = 11,
    /// `matches()`, `find()` and `lookingAt()` of a `Matcher`; the second operand is null.
    Matches = 12,
}

impl HintOp {
    const ALL: [HintOp; 13] = [
        HintOp::StringEquals,
        HintOp::StringEqualsIgnoreCase,
        HintOp::StringStartsWith,
        HintOp::StringEndsWith,
        HintOp::StringContains,
        HintOp::StringIsEmpty,
        HintOp::ObjectEquals,
        HintOp::Contains,
        HintOp::ContainsKey,
        HintOp::ContainsValue,
        HintOp::IsEmpty,
        HintOp::StringMatches,
        HintOp::Matches,
    ];

    /// Splits the third argument of `Probe.hint` into branch number and operation.
    pub fn decode(packed: i32) -> Option<(u32, HintOp)> {
        let packed = u32::try_from(packed).ok()?;
        Some((packed >> 4, *Self::ALL.get((packed & 15) as usize)?))
    }

    fn is_unary(self) -> bool {
        matches!(self, HintOp::StringIsEmpty | HintOp::IsEmpty | HintOp::Matches)
    }
}

/// A rewritten class.
#[derive(Debug, Clone)]
pub struct Instrumented {
    pub bytes: Vec<u8>,
    pub probes: ClassProbes,
    /// Methods that record nothing. Steps, static fields and `exit` are still covered where that fits.
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub method: String,
    pub descriptor: String,
    pub reason: Reason,
}

/// Why a method records nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A conditional jump would exceed ±32 KiB; turning it round would need a new frame.
    JumpTooFar,
    /// The code would exceed 64 KiB.
    CodeTooLong,
    StackTooDeep,
    /// The constant pool is full, so the whole class is left plain.
    PoolFull,
    Malformed(ClassError),
}

impl From<ClassError> for Reason {
    fn from(error: ClassError) -> Self {
        Reason::Malformed(error)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::JumpTooFar => f.write_str("a conditional jump would become too long"),
            Reason::CodeTooLong => f.write_str("the code would exceed 64 KiB"),
            Reason::StackTooDeep => f.write_str("the operand stack would become too deep"),
            Reason::PoolFull => f.write_str("the constant pool is full"),
            Reason::Malformed(error) => error.fmt(f),
        }
    }
}

/// The points of a class, numbered from zero.
pub fn plan(class: &ClassFile<'_>, detail: Detail) -> ClassProbes {
    analysis::analyse(class, detail).0
}
