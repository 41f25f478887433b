//! Turns planned actions into bytes and puts the class together again.

use super::analysis::{self, Action, Body};
use super::constants::{Constants, PoolFull};
use super::edit::{self, Edit};
use super::runtime::PROBE;
use super::{ClassProbes, Instrumented, Reason, Skipped, Spec};
use crate::classfile::insn::{Insn, opcode};
use crate::classfile::reader::Reader;
use crate::classfile::{ClassError, ClassFile, Pool};
use rustc_hash::FxHashMap;

/// Deepest operand stack a probe needs on top of what is there: an old long, and a number.
const EXTRA_STACK: u16 = 4;

/// Rewrites a class as `spec` says. Fails only if the bytes are no class file or the numbers are out of range.
pub fn instrument(bytes: &[u8], spec: &Spec) -> Result<Instrumented, ClassError> {
    instrument_marked(bytes, spec, &[])
}

/// The same; the probes with these numbers (ascending) also note who called their method.
pub fn instrument_marked(bytes: &[u8], spec: &Spec, marked: &[u32]) -> Result<Instrumented, ClassError> {
    let class = ClassFile::parse(bytes)?;
    let (probes, bodies) = analysis::analyse(&class, spec.detail);
    check_numbers(spec, &probes)?;
    let mut emitter = Emitter { spec, marked, constants: Constants::after(class.pool.len()), methods: FxHashMap::default() };
    let mut skipped = Vec::new();
    let mut skip = |index: usize, reason: Reason| {
        let method = &probes.methods[index];
        skipped.push(Skipped { method: method.name.clone(), descriptor: method.descriptor.clone(), reason });
    };
    let mut codes = Vec::with_capacity(bodies.len());
    for (index, body) in bodies.iter().enumerate() {
        let result = match body {
            None => Ok(None),
            Some(Err(error)) => Err(Reason::Malformed(*error)),
            Some(Ok(body)) => emitter.method(body, &body.actions, &class.pool),
        };
        let code = match (result, body) {
            (Ok(code), _) => code,
            (Err(Reason::PoolFull), _) => return Ok(left_plain(bytes, probes)),
            (Err(reason), body) => {
                skip(index, reason);
                let body = body.as_ref().and_then(|body| body.as_ref().ok());
                body.and_then(|body| emitter.method(body, &without_records(&body.actions), &class.pool).ok()).flatten()
            }
        };
        codes.push(code);
    }
    let bytes = splice(bytes, &class, &emitter.constants, &codes)?;
    Ok(Instrumented { bytes, probes, skipped })
}

/// What keeps a test in bounds, though nothing of it is observed: for methods that have no room for more.
fn without_records(actions: &[(u32, Action)]) -> Vec<(u32, Action)> {
    let essential = actions.iter().filter_map(|(pc, action)| match action {
        Action::HitStep(_) | Action::Step => Some((*pc, Action::Step)),
        Action::Save { .. } | Action::Exit | Action::RuntimeExit => Some((*pc, *action)),
        _ => None,
    });
    essential.collect()
}

/// The result for a class whose pool has no room: half a set of probes would be worse than none.
fn left_plain(bytes: &[u8], probes: ClassProbes) -> Instrumented {
    let skipped = probes.methods.iter().map(|method| Skipped { method: method.name.clone(), descriptor: method.descriptor.clone(), reason: Reason::PoolFull });
    Instrumented { bytes: bytes.to_vec(), skipped: skipped.collect(), probes }
}

/// Numbers travel as positive ints, those of branches four bits to the left.
fn check_numbers(spec: &Spec, probes: &ClassProbes) -> Result<(), ClassError> {
    let statics = probes.statics.len() as u64;
    let series = [
        (spec.first_probe, u64::from(probes.hits), i32::MAX),
        (spec.first_branch, u64::from(probes.branches), i32::MAX >> 4),
        (spec.first_switch, u64::from(probes.switches), i32::MAX),
        (spec.first_static, statics, i32::MAX),
    ];
    let fits = |(first, count, limit): (u32, u64, i32)| u64::from(first) + count <= u64::from(limit.cast_unsigned());
    if series.into_iter().all(fits) { Ok(()) } else { Err(ClassError::TooLarge("a probe number")) }
}

struct Emitter<'s> {
    spec: &'s Spec,
    marked: &'s [u32],
    constants: Constants,
    /// Constants of the probe's methods, by name and descriptor.
    methods: FxHashMap<(&'static str, &'static str), u16>,
}

impl From<PoolFull> for Reason {
    fn from(_: PoolFull) -> Self {
        Reason::PoolFull
    }
}

impl Emitter<'_> {
    /// The new contents of the `Code` attribute; `None` if nothing changes.
    fn method(&mut self, body: &Body<'_>, actions: &[(u32, Action)], pool: &Pool<'_>) -> Result<Option<Vec<u8>>, Reason> {
        if actions.is_empty() {
            return Ok(None);
        }
        let mut edits: Vec<Edit> = Vec::new();
        let mut ops = body.ops.iter().peekable();
        for (pc, action) in actions {
            if edits.last().is_none_or(|edit| edit.pc != *pc) {
                edits.push(Edit { pc: *pc, ..Edit::default() });
            }
            let edit = edits.last_mut().expect("one was just pushed");
            while ops.peek().is_some_and(|op| op.pc < *pc) {
                ops.next();
            }
            let insn = ops.peek().map_or(Insn::Nop, |op| op.insn);
            self.action(*action, insn, edit)?;
        }
        edit::apply(body, pool, &edits, EXTRA_STACK).map(Some)
    }

    fn action(&mut self, action: Action, insn: Insn<'_>, edit: &mut Edit) -> Result<(), PoolFull> {
        let spec = self.spec;
        let out = &mut edit.before;
        match action {
            Action::Hit(n) => self.hit(spec.first_probe + n, "at", out)?,
            Action::HitStep(n) => self.hit(spec.first_probe + n, "hit", out)?,
            Action::Step => self.invoke("step", "()V", out)?,
            Action::Branch(n) => self.branch(spec.first_branch + n, insn, out)?,
            Action::Hint(n, op) => {
                let operands: &[u8] = if op.is_unary() { &[opcode::DUP, opcode::ACONST_NULL] } else { &[opcode::DUP2] };
                out.extend_from_slice(operands);
                let packed = (spec.first_branch + n) << 4 | u32::from(op as u8);
                self.call(packed, "predicate", "(Ljava/lang/Object;Ljava/lang/Object;I)V", out)?;
            }
            Action::Switch(n) => {
                out.push(opcode::DUP);
                self.call(spec.first_switch + n, "sw", "(II)V", out)?;
            }
            Action::Save { number, field, kind } => self.save(spec.first_static + number, field, kind, out)?,
            Action::Compare(n) => {
                let mut call = Vec::new();
                self.compare(spec.first_branch + n, insn, &mut call)?;
                edit.replace = Some(call);
            }
            Action::Exit => edit.replace = Some(self.call_bytes("exit", "(I)V")?),
            Action::RuntimeExit => edit.replace = Some(self.call_bytes("exit", "(Ljava/lang/Runtime;I)V")?),
        }
        if matches!(action, Action::Hit(_) | Action::HitStep(_) | Action::Step) {
            edit.probe = edit.before.len();
        }
        Ok(())
    }

    fn hit(&mut self, number: u32, name: &'static str, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        self.call(number, name, "(I)V", out)?;
        if self.marked.binary_search(&number).is_ok() { self.call(number, "mark", "(I)V", out) } else { Ok(()) }
    }

    fn branch(&mut self, number: u32, insn: Insn<'_>, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        let (copy, name, descriptor) = match insn {
            Insn::IfIcmp { .. } => (opcode::DUP2, "icmp", "(III)V"),
            Insn::IfAcmp { .. } => (opcode::DUP2, "acmp", "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
            Insn::IfNull { .. } => (opcode::DUP, "nul", "(Ljava/lang/Object;I)V"),
            _ => (opcode::DUP, "i", "(II)V"),
        };
        out.push(copy);
        self.call(number, name, descriptor, out)
    }

    fn compare(&mut self, number: u32, insn: Insn<'_>, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        use crate::classfile::insn::Compare;
        let (name, descriptor) = match insn {
            Insn::Compare(Compare::Fcmpl) => ("fcmpl", "(FFI)I"),
            Insn::Compare(Compare::Fcmpg) => ("fcmpg", "(FFI)I"),
            Insn::Compare(Compare::Dcmpl) => ("dcmpl", "(DDI)I"),
            Insn::Compare(Compare::Dcmpg) => ("dcmpg", "(DDI)I"),
            _ => ("lcmp", "(JJI)I"),
        };
        self.call(number, name, descriptor, out)
    }

    fn save(&mut self, number: u32, field: u16, kind: u8, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        let (name, descriptor) = match kind {
            b'J' => ("saveJ", "(JI)V"),
            b'F' => ("saveF", "(FI)V"),
            b'D' => ("saveD", "(DI)V"),
            b'L' => ("saveL", "(Ljava/lang/Object;I)V"),
            _ => ("saveI", "(II)V"),
        };
        out.push(opcode::GETSTATIC);
        out.extend_from_slice(&field.to_be_bytes());
        self.call(number, name, descriptor, out)
    }

    /// Pushes a number and calls the probe.
    fn call(&mut self, number: u32, name: &'static str, descriptor: &'static str, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        self.constants.push_int(number.cast_signed(), out)?;
        self.invoke(name, descriptor, out)
    }

    fn invoke(&mut self, name: &'static str, descriptor: &'static str, out: &mut Vec<u8>) -> Result<(), PoolFull> {
        let method = match self.methods.get(&(name, descriptor)) {
            Some(known) => *known,
            None => self.constants.method(PROBE, name, descriptor)?,
        };
        self.methods.insert((name, descriptor), method);
        out.push(opcode::INVOKESTATIC);
        out.extend_from_slice(&method.to_be_bytes());
        Ok(())
    }

    fn call_bytes(&mut self, name: &'static str, descriptor: &'static str) -> Result<Vec<u8>, PoolFull> {
        let mut out = Vec::new();
        self.invoke(name, descriptor, &mut out)?;
        Ok(out)
    }
}

/// The class with constants appended and the `Code` of some methods replaced.
pub(super) fn splice(bytes: &[u8], class: &ClassFile<'_>, constants: &Constants, codes: &[Option<Vec<u8>>]) -> Result<Vec<u8>, ClassError> {
    let layout = class.layout();
    let grown: usize = codes.iter().flatten().map(Vec::len).sum();
    let mut out = Vec::with_capacity(bytes.len() + constants.bytes().len() + grown);
    // Magic number and versions; then the count, which is replaced.
    out.extend_from_slice(&bytes[..8]);
    out.extend_from_slice(&constants.count().to_be_bytes());
    out.extend_from_slice(&bytes[10..layout.pool_end]);
    out.extend_from_slice(constants.bytes());
    out.extend_from_slice(&bytes[layout.pool_end..layout.methods]);
    let mut r = Reader::at(bytes, layout.methods);
    out.extend_from_slice(&r.u16()?.to_be_bytes());
    for code in codes {
        method_bytes(&mut r, &class.pool, code.as_deref(), &mut out)?;
    }
    out.extend_from_slice(&bytes[layout.methods_end..]);
    Ok(out)
}

/// Copies one method, with other contents for its `Code` attribute.
fn method_bytes(r: &mut Reader<'_>, pool: &Pool<'_>, code: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), ClassError> {
    out.extend_from_slice(r.bytes(6)?);
    let count = r.u16()?;
    out.extend_from_slice(&count.to_be_bytes());
    let mut replacement = code;
    for _ in 0..count {
        let name = r.u16()?;
        let length = r.u32()?;
        let contents = r.bytes(length as usize)?;
        let is_code = pool.utf8(name).is_ok_and(|name| name == "Code");
        let contents = if is_code { replacement.take().unwrap_or(contents) } else { contents };
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&(contents.len() as u32).to_be_bytes());
        out.extend_from_slice(contents);
    }
    Ok(())
}
