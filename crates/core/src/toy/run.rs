//! The in-process session: executes test cases on the lowered code and observes what the probe plan asks for.
//!
//! Every test starts from a fresh state, so an execution is a function of the test alone and a pristine one is no different.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{CAUSE, NULL_DEREF, OVERFLOW};
use crate::execution::{BranchSeen, Execution, Outcome, Returned, Seen};
use crate::objective::context;
use crate::probe::ProbePlan;
use crate::program::ir::{BinOp, Body, CallKind, Const, EdgeKind, FieldRef, Op, Operand, Reg, Relation};
use crate::program::{FieldId, MethodId, Program, Ty, TypeId};
use crate::target::{Session, SessionLost};
use crate::testcase::{self, Stmt, TestCase, Var};
use crate::trace::{Frame, Throwable};

/// Raised by a test's own cast.
pub const BAD_CAST: &str = "BadCast";
/// Raised by a test's own array access.
pub const BOUNDS: &str = "Bounds";

const MAX_DEPTH: usize = 100;
const MAX_SEEN: usize = 200;

/// See the module documentation.
pub struct Interpreter<'p> {
    program: &'p Program,
    plan: &'p ProbePlan,
    step_limit: u32,
}

impl<'p> Interpreter<'p> {
    pub fn new(program: &'p Program, plan: &'p ProbePlan) -> Interpreter<'p> {
        Interpreter { program, plan, step_limit: 5_000 }
    }

    fn run(&self, test: &TestCase) -> Execution {
        let mut machine = Machine::new(self.program, self.plan, self.step_limit);
        let mut values: Vec<Value> = Vec::new();
        let mut outcome = Outcome::Normal;
        for (at, stmt) in (0u32..).zip(&test.stmts) {
            match machine.stmt(stmt, &values) {
                Ok(value) => values.push(value),
                Err(stop) => {
                    outcome = machine.outcome(at, stop);
                    break;
                }
            }
        }
        let types = values.iter().map(|v| machine.type_of(v)).collect();
        let hits = (0u32..).zip(&machine.hits).filter(|(_, hit)| **hit).map(|(n, _)| n).collect();
        let branches = machine.branches.into_values().collect();
        let steps = self.step_limit - machine.steps_left;
        let values = (0u32..).zip(&values).map(|(i, v)| returned(test.ty(self.program, Var(i)), v)).collect();
        Execution { outcome, hits, branches, switches: Vec::new(), types, seen: machine.seen, refused: Vec::new(), reach: machine.reach, steps, values }
    }
}

impl Session for Interpreter<'_> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        Ok(batch.iter().map(|test| self.run(test)).collect())
    }
    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost> {
        Ok(self.run(test))
    }
}

/// What a test can assert of a value.
fn returned(ty: Ty, value: &Value) -> Option<Returned> {
    match value {
        _ if ty.is_void() => None,
        Value::Int(v) => Some(Returned::Prim(testcase::Value::Int(*v))),
        Value::Str(text) => Some(Returned::Text(text.to_string())),
        Value::Null => Some(Returned::Null),
        Value::Ref(_) => Some(Returned::Object),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(i32),
    Str(Arc<str>),
    Null,
    /// An object, an array or an exception on the heap.
    Ref(usize),
}

#[derive(Default)]
struct Object {
    class: Option<TypeId>,
    fields: FxHashMap<Arc<str>, Value>,
    items: Vec<Value>,
    /// Where an exception was made.
    frames: Vec<Frame>,
}

impl Object {
    fn field(&self, name: &str, ty: Ty) -> Value {
        self.fields.get(name).cloned().unwrap_or(default_of(ty))
    }
}

/// Why a call did not return.
enum Stopped {
    Raised(Value),
    Steps,
    /// The statement makes no sense: a null receiver.
    Invalid(&'static str),
}

/// Where control goes behind an instruction.
enum Flow {
    On,
    Branch(bool),
    Return(Value),
}

struct Machine<'p> {
    program: &'p Program,
    plan: &'p ProbePlan,
    steps_left: u32,
    heap: Vec<Object>,
    statics: FxHashMap<FieldId, Value>,
    /// Methods being executed and their current lines.
    stack: Vec<(MethodId, Option<u32>)>,
    caught: Value,
    /// How far the last string comparison was from equality.
    hint: f64,
    hits: Vec<bool>,
    branches: BTreeMap<u32, BranchSeen>,
    seen: Vec<Seen>,
    reach: Vec<u32>,
}

fn default_of(ty: Ty) -> Value {
    if ty.is_reference() { Value::Null } else { Value::Int(0) }
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, plan: &'p ProbePlan, steps_left: u32) -> Machine<'p> {
        Machine {
            program,
            plan,
            steps_left,
            heap: Vec::new(),
            statics: FxHashMap::default(),
            stack: Vec::new(),
            caught: Value::Null,
            hint: f64::INFINITY,
            hits: vec![false; plan.points as usize],
            branches: BTreeMap::new(),
            seen: Vec::new(),
            reach: vec![0; plan.chain.len()],
        }
    }

    fn outcome(&self, at: u32, stop: Stopped) -> Outcome {
        match stop {
            Stopped::Raised(exception) => Outcome::Thrown { at, chain: self.chain(exception).into() },
            Stopped::Steps => Outcome::StepLimit { at },
            Stopped::Invalid(why) => Outcome::Invalid { at, why: why.to_string() },
        }
    }

    fn chain(&self, mut exception: Value) -> Vec<Throwable> {
        let mut chain = Vec::new();
        while let Value::Ref(i) = exception {
            let object = &self.heap[i];
            let name = object.class.map_or("", |class| self.program.type_name(class));
            chain.push(Throwable { exception: name.to_string(), frames: object.frames.clone(), ..Throwable::default() });
            exception = object.fields.get(CAUSE).cloned().unwrap_or(Value::Null);
        }
        chain
    }

    fn type_of(&self, value: &Value) -> Option<TypeId> {
        match value {
            Value::Str(_) => self.program.well_known().string.as_ref(),
            Value::Ref(i) => self.heap[*i].class,
            Value::Int(_) | Value::Null => None,
        }
    }

    fn stmt(&mut self, stmt: &Stmt, values: &[Value]) -> Result<Value, Stopped> {
        let value = |v: &Var| values[v.0 as usize].clone();
        let all = |vars: &[Var]| vars.iter().map(value).collect::<Vec<_>>();
        Ok(match stmt {
            Stmt::Lit(v) => Value::Int(v.as_i64().unwrap_or(0) as i32),
            Stmt::Str(text) => Value::Str(text.as_str().into()),
            Stmt::Null(_) | Stmt::Class(_) => Value::Null,
            Stmt::GetStatic(f) => self.statics.get(f).cloned().unwrap_or(default_of(self.program.field(*f).ty)),
            Stmt::New { ctor, args } => {
                let object = self.new_object(self.program.method(*ctor).owner);
                self.call(*ctor, std::iter::once(object.clone()).chain(all(args)).collect())?;
                object
            }
            Stmt::Call { method, recv: None, args } => self.call(*method, all(args))?,
            Stmt::Call { method, recv: Some(recv), args } => {
                let class = self.type_of(&value(recv)).ok_or(Stopped::Invalid("the receiver is null"))?;
                let method = self.dispatch(class, *method);
                self.call(method, std::iter::once(value(recv)).chain(all(args)).collect())?
            }
            Stmt::GetField { field, recv } => {
                let program = self.program;
                self.object(&value(recv))?.field(program.field_name(*field), program.field(*field).ty)
            }
            Stmt::SetField { field, recv, value: new } => {
                let name = self.program.field_name(*field);
                match recv {
                    None => self.statics.insert(*field, value(new)),
                    Some(recv) => self.object(&value(recv))?.fields.insert(name.into(), value(new)),
                };
                Value::Null
            }
            Stmt::NewArray { elem, len } => self.allocate(Object { items: vec![default_of(*elem); *len as usize], ..Object::default() }),
            Stmt::ArraySet { array, index, value: new } => {
                let (array, new) = (value(array), value(new));
                let in_bounds = self.object(&array)?.items.get_mut(*index as usize).map(|item| *item = new).is_some();
                if in_bounds { Value::Null } else { return Err(self.raise(BOUNDS)) }
            }
            Stmt::ArrayGet { array, index } => match self.object(&value(array))?.items.get(*index as usize).cloned() {
                Some(item) => item,
                None => return Err(self.raise(BOUNDS)),
            },
            Stmt::Env(_) => return Err(Stopped::Invalid("nothing surrounds a toy")),
            Stmt::Data(_) => return Err(Stopped::Invalid("the language declares its types")),
            Stmt::Stub(_) => return Err(Stopped::Invalid("the language has no stubs")),
            Stmt::Cast { value: of, ty } => {
                let fits = self.type_of(&value(of)).zip(ty.as_ref()).is_none_or(|(from, to)| self.program.is_subtype(from, to));
                if fits { value(of) } else { return Err(self.raise(BAD_CAST)) }
            }
        })
    }

    fn object(&mut self, value: &Value) -> Result<&mut Object, Stopped> {
        match value {
            Value::Ref(i) => Ok(&mut self.heap[*i]),
            _ => Err(Stopped::Invalid("the receiver is null")),
        }
    }

    fn allocate(&mut self, object: Object) -> Value {
        self.heap.push(object);
        Value::Ref(self.heap.len() - 1)
    }

    /// An exception remembers the stack.
    fn new_object(&mut self, class: TypeId) -> Value {
        let program = self.program;
        let frames = if program.ty(class).platform { self.stack.iter().rev().map(|place| frame_of(program, place)).collect() } else { Vec::new() };
        self.allocate(Object { class: Some(class), frames, ..Object::default() })
    }

    fn raise(&mut self, name: &str) -> Stopped {
        let class = self.program.find_type(name).expect("the loader defines it");
        Stopped::Raised(self.new_object(class))
    }

    fn dispatch(&self, class: TypeId, method: MethodId) -> MethodId {
        self.program.resolve_method(class, self.program.method_name(method), self.program.method_desc(method)).unwrap_or(method)
    }

    fn call(&mut self, method: MethodId, args: Vec<Value>) -> Result<Value, Stopped> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.raise(OVERFLOW));
        }
        let Some(body) = self.program.body(method) else { return Ok(Value::Null) };
        let mut regs = args;
        regs.resize(body.frame.locals as usize, Value::Null);
        self.stack.push((method, None));
        let result = self.body(&body, regs);
        self.stack.pop();
        result
    }

    fn body(&mut self, body: &Body, mut regs: Vec<Value>) -> Result<Value, Stopped> {
        let mut block = body.entry();
        let mut at = body.block(block).insns.start as usize;
        loop {
            self.observe(body, at)?;
            let taken = match self.insn(body, at, &mut regs) {
                Ok(Flow::Return(value)) => return Ok(value),
                Ok(Flow::On) => None,
                Ok(Flow::Branch(taken)) => Some(taken),
                Err(Stopped::Raised(exception)) => {
                    let to = body.raise_edges(at).next().map(|edge| edge.to).filter(|to| *to != body.raised());
                    let Some(handler) = to else { return Err(Stopped::Raised(exception)) };
                    self.caught = exception;
                    (block, at) = (handler, body.block(handler).insns.start as usize);
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            at += 1;
            if at == body.block(block).insns.end as usize {
                let fits = |kind: EdgeKind| match (kind, taken) {
                    (EdgeKind::Branch { taken: side }, Some(taken)) => side == taken,
                    (EdgeKind::Fall | EdgeKind::Jump, None) => true,
                    _ => false,
                };
                block = body.block(block).succs.iter().find(|edge| fits(edge.kind)).expect("lowering gives each block its way out").to;
                at = body.block(block).insns.start as usize;
            }
        }
    }

    /// Counts the step and notes the place.
    fn observe(&mut self, body: &Body, at: usize) -> Result<(), Stopped> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Stopped::Steps)?;
        let insn = &body.insns[at];
        let top = self.stack.last_mut().expect("a body runs in a frame");
        top.1 = insn.line;
        if let Some(point) = self.plan.of(top.0).and_then(|probes| probes.point_at(insn.pc)) {
            self.hits[point as usize] = true;
            self.observe_callers(point);
        }
        Ok(())
    }

    fn observe_callers(&mut self, point: u32) {
        let (program, chain) = (self.program, &self.plan.chain);
        for at in (0..chain.len()).filter(|at| chain[*at].points.binary_search(&point).is_ok()) {
            let callers: Vec<Frame> = self.stack.iter().rev().skip(1).map(|place| frame_of(program, place)).collect();
            self.reach[at] = self.reach[at].max(context::outermost(chain, at, callers.iter()));
        }
    }

    fn insn(&mut self, body: &Body, at: usize, regs: &mut [Value]) -> Result<Flow, Stopped> {
        let get = |reg: &Reg| regs[reg.0 as usize].clone();
        let op = &body.insns[at].op;
        let value = match op {
            Op::Const { value: Const::Int(v), .. } => Value::Int(*v),
            Op::Const { value: Const::Str(text), .. } => Value::Str(text.clone()),
            Op::Copy { from, .. } => get(from),
            Op::Binary { op, left, right, .. } => arithmetic(*op, &get(left), &get(right)),
            Op::GetField { object, field, .. } => self.deref(&get(object))?.field(&field.name, field.ty),
            Op::PutField { object, field, value } => {
                self.deref(&get(object))?.fields.insert(field.name.clone(), get(value));
                Value::Null
            }
            Op::GetStatic { field, .. } => self.static_field(field).and_then(|f| self.statics.get(&f)).cloned().unwrap_or(default_of(field.ty)),
            Op::PutStatic { field, value } => {
                self.static_field(field).map(|f| self.statics.insert(f, get(value)));
                Value::Null
            }
            Op::Length { array, .. } => Value::Int(self.deref(&get(array))?.items.len() as i32),
            Op::New { class, .. } => self.new_object(*class),
            Op::Call { kind, method, args, .. } => {
                let args: Vec<Value> = args.iter().map(get).collect();
                let mut callee = self.program.resolve_ref(method).expect("lowering looked it up");
                if *kind != CallKind::Static {
                    self.deref(&args[0])?;
                }
                if let (CallKind::Virtual, Some(class)) = (*kind, self.type_of(&args[0])) {
                    callee = self.dispatch(class, callee);
                }
                self.call(callee, args)?
            }
            Op::Opaque { args, .. } => self.same_string(&get(&args[0]), &get(&args[1])),
            Op::Caught { .. } => std::mem::replace(&mut self.caught, Value::Null),
            Op::If { left, relation, right } => {
                let right = if let Operand::Reg(reg) = right { get(reg) } else { Value::Null };
                return Ok(Flow::Branch(self.branch(body, at, (&get(left), &right), *relation)));
            }
            Op::Return { value } => return Ok(Flow::Return(value.as_ref().map_or(Value::Null, get))),
            Op::Throw { value } => return Err(Stopped::Raised(get(value))),
            _ => Value::Null,
        };
        if let Some(to) = op.written() {
            regs[to.0 as usize] = value;
        }
        Ok(Flow::On)
    }

    fn deref(&mut self, value: &Value) -> Result<&mut Object, Stopped> {
        match value {
            Value::Ref(i) => Ok(&mut self.heap[*i]),
            _ => Err(self.raise(NULL_DEREF)),
        }
    }

    fn static_field(&self, field: &FieldRef) -> Option<FieldId> {
        self.program.find_field(field.owner, &field.name)
    }

    fn same_string(&mut self, left: &Value, right: &Value) -> Value {
        for value in [left, right] {
            self.note(value);
        }
        let text = |value: &Value| if let Value::Str(text) = value { Some(text.clone()) } else { None };
        self.hint = match (text(left), text(right)) {
            (Some(a), Some(b)) => {
                self.note_pair(&a, &b);
                edit_distance(&a, &b) as f64
            }
            (Some(a), None) | (None, Some(a)) => a.chars().count() as f64 + 1.0,
            (None, None) => 0.0,
        };
        Value::Int(i32::from(self.hint == 0.0))
    }

    fn note_pair(&mut self, a: &Arc<str>, b: &Arc<str>) {
        if a != b && self.seen.len() < MAX_SEEN {
            self.seen.push(Seen::Pair(a.clone(), b.clone()));
        }
    }

    fn note(&mut self, value: &Value) {
        let seen = match value {
            Value::Int(v) => Seen::Int(i64::from(*v)),
            Value::Str(text) => Seen::Str(text.clone()),
            Value::Null | Value::Ref(_) => return,
        };
        if self.seen.len() < MAX_SEEN && !self.seen.contains(&seen) {
            self.seen.push(seen);
        }
    }

    /// Decides a condition and notes how near it came to the other side.
    fn branch(&mut self, body: &Body, at: usize, (left, right): (&Value, &Value), relation: Relation) -> bool {
        let hint = std::mem::replace(&mut self.hint, f64::INFINITY);
        let difference = match (left, right) {
            (Value::Int(a), Value::Int(b)) => i64::from(*a) - i64::from(*b),
            (Value::Int(a), _) => i64::from(*a),
            _ => i64::from(left != right),
        };
        if hint.is_infinite() {
            self.note(left);
            self.note(right);
        }
        let (method, _) = *self.stack.last().expect("a body runs in a frame");
        if let Some((branch, _)) = self.plan.of(method).and_then(|probes| probes.branch_at(body.insns[at].pc)) {
            let none = BranchSeen { branch, above: f64::INFINITY, below: f64::INFINITY, equal: false, hint: f64::INFINITY };
            let seen = self.branches.entry(branch).or_insert(none);
            match difference {
                0 => {
                    seen.equal = true;
                    seen.hint = seen.hint.min(hint);
                }
                d if d > 0 => seen.above = seen.above.min(d as f64),
                d => seen.below = seen.below.min(-d as f64),
            }
        }
        match relation {
            Relation::Eq => difference == 0,
            Relation::Ne => difference != 0,
            Relation::Lt => difference < 0,
            Relation::Ge => difference >= 0,
            Relation::Gt => difference > 0,
            Relation::Le => difference <= 0,
        }
    }
}

fn frame_of(program: &Program, (method, line): &(MethodId, Option<u32>)) -> Frame {
    Frame::new(program.type_name(program.method(*method).owner), program.method_name(*method), *line)
}

fn arithmetic(op: BinOp, left: &Value, right: &Value) -> Value {
    let (Value::Int(a), Value::Int(b)) = (left, right) else { return Value::Int(0) };
    Value::Int(match op {
        BinOp::Sub => a.wrapping_sub(*b),
        BinOp::Mul => a.wrapping_mul(*b),
        _ => a.wrapping_add(*b),
    })
}

/// Levenshtein.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}
