//! Decides which instructions of a class get which probes, and numbers them in the order of the file.

use super::{BranchPoint, ClassProbes, Detail, HintOp, HitPoint, MethodProbes, StaticRef, SwitchPoint};
use crate::classfile::insn::{Invoke, Op, opcode};
use crate::classfile::{ClassError, ClassFile, Code, Insn, JavaStr, Member, MemberRef, access};
use rustc_hash::FxHashMap;

/// What to do at an instruction. Numbers count from zero within the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Record a hit.
    Hit(u32),
    /// Record a hit and count a step.
    HitStep(u32),
    /// Count a step.
    Step,
    /// Record the operands of the conditional jump itself.
    Branch(u32),
    /// Let the probe do the comparison of long, float, or double, for the jump that follows.
    Compare(u32),
    Hint(u32, HintOp),
    Switch(u32),
    /// Log the old value of the static field that is about to be written.
    Save {
        number: u32,
        field: u16,
        kind: u8,
    },
    /// Call the probe instead of `System.exit`.
    Exit,
    /// Call the probe instead of `Runtime.exit` or `Runtime.halt`.
    RuntimeExit,
}

/// A method that can be rewritten.
pub(super) struct Body<'a> {
    pub code: Code<'a>,
    pub ops: Vec<Op<'a>>,
    /// In the order of the code; those of one instruction in the order in which they run.
    pub actions: Vec<(u32, Action)>,
}

/// The public plan, and per method the body to rewrite: `None` without code, or why it cannot be read.
pub(super) fn analyse<'a>(class: &ClassFile<'a>, detail: Detail) -> (ClassProbes, Vec<Option<Result<Body<'a>, ClassError>>>) {
    let mut numbers = Numbers::default();
    let (methods, bodies) = class.methods.iter().map(|method| numbers.method(class, method, detail)).unzip();
    let Numbers { hits, branches, switches, statics, .. } = numbers;
    (ClassProbes { methods, statics, hits, branches, switches }, bodies)
}

/// The next free number of each series.
#[derive(Default)]
struct Numbers {
    hits: u32,
    branches: u32,
    switches: u32,
    statics: Vec<StaticRef>,
    known_statics: FxHashMap<StaticRef, u32>,
}

impl Numbers {
    fn method<'a>(&mut self, class: &ClassFile<'a>, method: &Member<'a>, detail: Detail) -> (MethodProbes, Option<Result<Body<'a>, ClassError>>) {
        let mut probes = MethodProbes {
            name: method.name.to_string(),
            descriptor: method.descriptor.to_string(),
            first_hit: self.hits,
            first_branch: self.branches,
            first_switch: self.switches,
            ..MethodProbes::default()
        };
        let body = method.code(&class.pool).map(|code| {
            let code = code?;
            let ops = code.instructions().collect::<Result<Vec<_>, _>>()?;
            let marks = Marks::of(&code, &ops, detail)?;
            let actions = {
                let mut walk = Walk { class, method, code: &code, ops: &ops, marks, numbers: self, probes: &mut probes, actions: Vec::new() };
                walk.run(detail);
                walk.actions
            };
            Ok(Body { code, ops, actions })
        });
        (probes, body)
    }

    fn static_field(&mut self, member: &MemberRef<'_>) -> u32 {
        let row = StaticRef { owner: member.owner.to_string(), name: member.name.to_string(), descriptor: member.descriptor.to_string() };
        let statics = &mut self.statics;
        *self.known_statics.entry(row).or_insert_with_key(|row| {
            statics.push(row.clone());
            statics.len() as u32 - 1
        })
    }
}

/// One pass over the instructions of a method.
struct Walk<'w, 'a> {
    class: &'w ClassFile<'a>,
    method: &'w Member<'a>,
    code: &'w Code<'a>,
    ops: &'w [Op<'a>],
    marks: Marks,
    numbers: &'w mut Numbers,
    probes: &'w mut MethodProbes,
    actions: Vec<(u32, Action)>,
}

impl<'a> Walk<'_, 'a> {
    fn run(&mut self, detail: Detail) {
        for i in 0..self.ops.len() {
            self.control(self.ops[i].pc);
            if matches!(detail, Detail::Full | Detail::Edges) {
                self.distance(i);
            }
            self.effects(self.ops[i]);
        }
    }

    fn act(&mut self, pc: u32, action: Action) {
        self.actions.push((pc, action));
    }

    /// Hits and steps.
    fn control(&mut self, pc: u32) {
        let step = self.marks.has(pc, STEP);
        if self.marks.has(pc, HIT) {
            let number = self.numbers.hits;
            self.act(pc, if step { Action::HitStep(number) } else { Action::Hit(number) });
            let leader = self.marks.has(pc, LEADER);
            self.probes.hits.push(HitPoint { pc, line: self.code.line_at(pc), leader });
            self.numbers.hits += 1;
        } else if step {
            self.act(pc, Action::Step);
        }
    }

    /// Branches, what stands in front of them, and switches.
    fn distance(&mut self, i: usize) {
        let op = self.ops[i];
        let (pc, line) = (op.pc, self.code.line_at(op.pc));
        match op.insn {
            Insn::Switch(_) => {
                self.act(pc, Action::Switch(self.numbers.switches));
                self.probes.switches.push(SwitchPoint { pc, line });
                self.numbers.switches += 1;
            }
            // The jump that follows takes the next branch number: nothing between can take one.
            Insn::Compare(_) if self.is_tested(i, opcode::IFEQ..=opcode::IFLE) => {
                self.act(pc, Action::Compare(self.numbers.branches));
            }
            Insn::Invoke(kind, index) if self.is_tested(i, opcode::IFEQ..=opcode::IFNE) => {
                if let Some(hint) = self.hint(kind, index) {
                    self.act(pc, Action::Hint(self.numbers.branches, hint));
                }
            }
            _ => {}
        }
        if let Some(target) = op.insn.jump_target().filter(|_| op.insn.is_conditional()) {
            let (compare, hint) = self.tested_before(i);
            if compare.is_none() && !self.may_be_uninitialized(i) {
                self.act(pc, Action::Branch(self.numbers.branches));
            }
            self.probes.branches.push(BranchPoint { pc, line, opcode: op.opcode, target, compare, hint });
            self.numbers.branches += 1;
        }
    }

    /// The next instruction is a jump on the result of this one, and nothing else leads to it.
    fn is_tested(&self, i: usize, jumps: std::ops::RangeInclusive<u8>) -> bool {
        self.ops.get(i + 1).is_some_and(|next| jumps.contains(&next.opcode) && !self.marks.has(next.pc, TARGET))
    }

    /// What the actions of the previous instruction record for the jump at `i`.
    fn tested_before(&self, i: usize) -> (Option<u8>, Option<HintOp>) {
        let Some(previous) = i.checked_sub(1).map(|i| self.ops[i]) else {
            return (None, None);
        };
        let last = self.actions.iter().rev().take_while(|(pc, _)| *pc >= previous.pc);
        let mut recorded = (None, None);
        for (pc, action) in last {
            match action {
                Action::Compare(_) if *pc == previous.pc => recorded.0 = Some(previous.opcode),
                Action::Hint(_, hint) if *pc == previous.pc => recorded.1 = Some(*hint),
                _ => {}
            }
        }
        recorded
    }

    fn hint(&self, kind: Invoke, index: u16) -> Option<HintOp> {
        let member = self.class.pool.member(index).ok()?;
        match kind {
            Invoke::Virtual | Invoke::Interface => known_predicate(&member),
            Invoke::Static if member.owner == "java/util/Objects" && member.name == "equals" => {
                (member.descriptor == "(Ljava/lang/Object;Ljava/lang/Object;)Z").then_some(HintOp::ObjectEquals)
            }
            _ => None,
        }
    }

    /// A reference that is compared before its constructor ran must not be passed to a probe. Legal, though no known
    /// compiler does it; the two shapes in which it could appear without passing through a local are left out.
    fn may_be_uninitialized(&self, i: usize) -> bool {
        if !matches!(self.ops[i].insn, Insn::IfNull { .. } | Insn::IfAcmp { .. }) {
            return false;
        }
        let before = |n: usize| i.checked_sub(n).map(|i| self.ops[i].insn);
        let this = Some(Insn::Load(crate::classfile::insn::Kind::Ref, 0));
        let in_constructor = self.method.name == "<init>";
        (1..=3).any(|n| matches!(before(n), Some(Insn::New(_)))) || in_constructor && (1..=2).any(|n| before(n) == this) && !self.is_constructed_before(i)
    }

    /// Some constructor was called earlier in the code (in the absence of jumps: `this` or `super`).
    fn is_constructed_before(&self, i: usize) -> bool {
        self.ops[..i].iter().any(|op| match op.insn {
            Insn::Invoke(Invoke::Special, index) => self.class.pool.member(index).is_ok_and(|m| m.name == "<init>"),
            _ => false,
        })
    }

    /// What must be undone or stopped, at every level of detail.
    fn effects(&mut self, op: Op<'a>) {
        match op.insn {
            Insn::PutStatic(field) => self.save(op.pc, field),
            Insn::Invoke(Invoke::Static, index) if self.is_call(index, "java/lang/System", &["exit"]) => {
                self.act(op.pc, Action::Exit);
            }
            Insn::Invoke(Invoke::Virtual, index) if self.is_call(index, "java/lang/Runtime", &["exit", "halt"]) => {
                self.act(op.pc, Action::RuntimeExit);
            }
            _ => {}
        }
    }

    fn is_call(&self, index: u16, owner: &str, names: &[&str]) -> bool {
        let Ok(member) = self.class.pool.member(index) else {
            return false;
        };
        member.owner == *owner && names.iter().any(|name| member.name == **name) && member.descriptor == "(I)V"
    }

    fn save(&mut self, pc: u32, field: u16) {
        let Ok(member) = self.class.pool.member(field) else {
            return;
        };
        let own = member.owner == self.class.name();
        if own && (self.method.name == "<clinit>" || self.is_final(member.name, member.descriptor)) {
            return;
        }
        let Some(kind) = member.descriptor.as_bytes().first().and_then(|first| save_kind(*first)) else {
            return;
        };
        let number = self.numbers.static_field(&member);
        self.act(pc, Action::Save { number, field, kind });
    }

    fn is_final(&self, name: JavaStr<'_>, descriptor: JavaStr<'_>) -> bool {
        let field = self.class.fields.iter().find(|f| f.name == name && f.descriptor == descriptor);
        field.is_some_and(|f| f.access & access::FINAL != 0)
    }
}

/// Which `Probe.save*` takes a value of a type, by the first character of its descriptor.
fn save_kind(first: u8) -> Option<u8> {
    match first {
        b'Z' | b'B' | b'C' | b'S' | b'I' => Some(b'I'),
        b'J' | b'F' | b'D' => Some(first),
        b'L' | b'[' => Some(b'L'),
        _ => None,
    }
}

fn known_predicate(member: &MemberRef<'_>) -> Option<HintOp> {
    let in_string = member.owner == "java/lang/String";
    match (member.name.as_bytes(), member.descriptor.as_bytes()) {
        (b"equals", b"(Ljava/lang/Object;)Z") if in_string => Some(HintOp::StringEquals),
        (b"equals", b"(Ljava/lang/Object;)Z") => Some(HintOp::ObjectEquals),
        (b"equalsIgnoreCase", b"(Ljava/lang/String;)Z") if in_string => Some(HintOp::StringEqualsIgnoreCase),
        (b"startsWith", b"(Ljava/lang/String;)Z") if in_string => Some(HintOp::StringStartsWith),
        (b"endsWith", b"(Ljava/lang/String;)Z") if in_string => Some(HintOp::StringEndsWith),
        (b"contains", b"(Ljava/lang/CharSequence;)Z") if in_string => Some(HintOp::StringContains),
        (b"contains", b"(Ljava/lang/Object;)Z") => Some(HintOp::Contains),
        (b"containsKey", b"(Ljava/lang/Object;)Z") => Some(HintOp::ContainsKey),
        (b"containsValue", b"(Ljava/lang/Object;)Z") => Some(HintOp::ContainsValue),
        (b"isEmpty", b"()Z") if in_string => Some(HintOp::StringIsEmpty),
        (b"isEmpty", b"()Z") => Some(HintOp::IsEmpty),
        (b"matches", b"(Ljava/lang/String;)Z") if in_string => Some(HintOp::StringMatches),
        (b"matches" | b"find" | b"lookingAt", b"()Z") if member.owner == "java/util/regex/Matcher" => Some(HintOp::Matches),
        _ => None,
    }
}

const START: u8 = 1;
/// A jump or an exception leads here.
const TARGET: u8 = 2;
const LEADER: u8 = 4;
const STEP: u8 = 8;
const HIT: u8 = 16;

/// Flags per pc.
struct Marks(Vec<u8>);

impl Marks {
    fn of(code: &Code<'_>, ops: &[Op<'_>], detail: Detail) -> Result<Self, ClassError> {
        let mut marks = Marks(vec![0; code.bytecode.len()]);
        marks.set(0, STEP | LEADER);
        for op in ops {
            marks.set(op.pc, START);
            marks.jumps(op);
        }
        for row in &code.handlers {
            // Only a handler in front of what it guards can loop without a jump. Those that guard themselves must
            // not count: they release monitors, and throwing there would either skip that or never end.
            let step = if row.handler < row.start { STEP } else { 0 };
            marks.set(u32::from(row.handler), TARGET | LEADER | step);
        }
        marks.check()?;
        if detail != Detail::Steps {
            marks.hits(code, ops, detail);
        }
        Ok(marks)
    }

    fn jumps(&mut self, op: &Op<'_>) {
        let mut jump = |target: u32| {
            let step = if target <= op.pc { STEP } else { 0 };
            self.set(target, TARGET | LEADER | step);
        };
        if let Some(target) = op.insn.jump_target() {
            jump(target);
        }
        if let Insn::Switch(switch) = op.insn {
            jump(switch.default);
            switch.cases().for_each(|(_, target)| jump(target));
        }
        if op.insn.is_conditional() || matches!(op.insn, Insn::Jsr(_)) {
            self.set(op.pc + op.len, LEADER);
        }
    }

    fn hits(&mut self, code: &Code<'_>, ops: &[Op<'_>], detail: Detail) {
        for flags in self.0.iter_mut().filter(|flags| **flags & LEADER != 0) {
            *flags |= HIT;
        }
        if detail != Detail::Full {
            return;
        }
        for line in &code.lines {
            if self.has(u32::from(line.pc), START) {
                self.set(u32::from(line.pc), HIT);
            }
        }
        for op in ops.iter().filter(|op| op.insn.may_throw() && !op.insn.ends_flow()) {
            self.set(op.pc + op.len, HIT);
        }
    }

    /// Jumps into the middle of an instruction are refused by the JVM too.
    fn check(&self) -> Result<(), ClassError> {
        match self.0.iter().position(|flags| flags & (TARGET | START) == TARGET) {
            Some(pc) => Err(ClassError::Code { pc: pc as u32, what: "jump into an instruction" }),
            None => Ok(()),
        }
    }

    fn set(&mut self, pc: u32, flags: u8) {
        if let Some(slot) = self.0.get_mut(pc as usize) {
            *slot |= flags;
        }
    }

    fn has(&self, pc: u32, flags: u8) -> bool {
        self.0.get(pc as usize).is_some_and(|found| found & flags != 0)
    }
}
