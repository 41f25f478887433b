//! A test case: a straight-line sequence of statements, each of which may define one variable.
//!
//! `Var(i)` is the value of statement `i`, so operands always precede their use (V1). Edits return a new test case; nothing here executes one.
//! Building, variation and repair are in the submodules.

pub mod build;
pub mod data;
pub mod env;
pub mod portable;
pub mod repair;
pub mod stub;
pub mod validity;
pub mod vary;

use serde::{Deserialize, Serialize};

use crate::program::{FieldId, MethodId, MethodKind, Prim, Program, Ty, TypeId};
pub use data::Data;
pub use env::Env;
pub use stub::{Act, Answer, Given, Stub};

/// The value defined by the statement of that index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Var(pub u32);

/// A primitive value. Floats compare by bits, so that equality and hashing are total.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Value {
    Bool(bool),
    Byte(i8),
    Char(u16),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(u32),
    Double(u64),
}

impl Value {
    pub fn prim(self) -> Prim {
        match self {
            Value::Bool(_) => Prim::Bool,
            Value::Byte(_) => Prim::Byte,
            Value::Char(_) => Prim::Char,
            Value::Short(_) => Prim::Short,
            Value::Int(_) => Prim::Int,
            Value::Long(_) => Prim::Long,
            Value::Float(_) => Prim::Float,
            Value::Double(_) => Prim::Double,
        }
    }
    pub fn double(v: f64) -> Value {
        Value::Double(v.to_bits())
    }
    pub fn float(v: f32) -> Value {
        Value::Float(v.to_bits())
    }
    /// The value of `prim` nearest to `v`: integers wrap as the language's casts do.
    pub fn of_int(prim: Prim, v: i64) -> Value {
        match prim {
            Prim::Bool => Value::Bool(v != 0),
            Prim::Byte => Value::Byte(v as i8),
            Prim::Char => Value::Char(v as u16),
            Prim::Short => Value::Short(v as i16),
            Prim::Int => Value::Int(v as i32),
            Prim::Long => Value::Long(v),
            Prim::Float => Value::float(v as f32),
            Prim::Double => Value::double(v as f64),
        }
    }
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Bool(v) => f64::from(u8::from(v)),
            Value::Byte(v) => f64::from(v),
            Value::Char(v) => f64::from(v),
            Value::Short(v) => f64::from(v),
            Value::Int(v) => f64::from(v),
            Value::Long(v) => v as f64,
            Value::Float(v) => f64::from(f32::from_bits(v)),
            Value::Double(v) => f64::from_bits(v),
        }
    }
    /// Integral types as a number; `None` for floats.
    pub fn as_i64(self) -> Option<i64> {
        Some(match self {
            Value::Bool(v) => i64::from(v),
            Value::Byte(v) => i64::from(v),
            Value::Char(v) => i64::from(v),
            Value::Short(v) => i64::from(v),
            Value::Int(v) => i64::from(v),
            Value::Long(v) => v,
            Value::Float(_) | Value::Double(_) => return None,
        })
    }
}

/// One statement. The type of the variable it defines follows from it ([`TestCase::ty`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Stmt {
    Lit(Value),
    Str(String),
    Null(Ty),
    /// A static field read: enum constants, singletons, published constants.
    GetStatic(FieldId),
    Class(Ty),
    New {
        ctor: MethodId,
        args: Vec<Var>,
    },
    Call {
        method: MethodId,
        recv: Option<Var>,
        args: Vec<Var>,
    },
    GetField {
        field: FieldId,
        recv: Var,
    },
    SetField {
        field: FieldId,
        recv: Option<Var>,
        value: Var,
    },
    NewArray {
        elem: Ty,
        len: u32,
    },
    ArraySet {
        array: Var,
        index: u32,
        value: Var,
    },
    ArrayGet {
        array: Var,
        index: u32,
    },
    Cast {
        value: Var,
        ty: Ty,
    },
    /// A value of a language without declared types.
    Data(Data),
    /// An object of a type that the test implements itself.
    Stub(Box<Stub>),
    /// Something around the program is set up; a file's value is its path.
    Env(Box<Env>),
}

impl Stmt {
    pub fn operands(&self) -> Vec<Var> {
        match self {
            Stmt::Lit(_) | Stmt::Str(_) | Stmt::Null(_) | Stmt::GetStatic(_) | Stmt::Class(_) | Stmt::NewArray { .. } | Stmt::Env(_) => Vec::new(),
            Stmt::New { args, .. } => args.clone(),
            Stmt::Call { recv, args, .. } => recv.iter().chain(args).copied().collect(),
            Stmt::GetField { recv, .. } => vec![*recv],
            Stmt::SetField { recv, value, .. } => recv.iter().copied().chain([*value]).collect(),
            Stmt::ArraySet { array, value, .. } => vec![*array, *value],
            Stmt::ArrayGet { array, .. } => vec![*array],
            Stmt::Cast { value, .. } => vec![*value],
            Stmt::Stub(stub) => stub.operands(),
            Stmt::Data(data) => {
                let mut vars = Vec::new();
                data.vars(&mut vars);
                vars
            }
        }
    }
    pub fn operands_mut(&mut self) -> Vec<&mut Var> {
        match self {
            Stmt::Lit(_) | Stmt::Str(_) | Stmt::Null(_) | Stmt::GetStatic(_) | Stmt::Class(_) | Stmt::NewArray { .. } | Stmt::Env(_) => Vec::new(),
            Stmt::New { args, .. } => args.iter_mut().collect(),
            Stmt::Call { recv, args, .. } => recv.iter_mut().chain(args).collect(),
            Stmt::GetField { recv, .. } => vec![recv],
            Stmt::SetField { recv, value, .. } => recv.iter_mut().chain([value]).collect(),
            Stmt::ArraySet { array, value, .. } => vec![array, value],
            Stmt::ArrayGet { array, .. } => vec![array],
            Stmt::Cast { value, .. } => vec![value],
            Stmt::Stub(stub) => stub.operands_mut(),
            Stmt::Data(data) => {
                let mut vars = Vec::new();
                data.vars_mut(&mut vars);
                vars
            }
        }
    }
    /// The method it calls, constructors included.
    pub fn callee(&self) -> Option<MethodId> {
        match self {
            Stmt::New { ctor, .. } => Some(*ctor),
            Stmt::Call { method, .. } => Some(*method),
            Stmt::Stub(stub) => stub.ctor,
            _ => None,
        }
    }
    /// A plain value that runs no code of the program.
    pub fn is_literal(&self) -> bool {
        match self {
            Stmt::Lit(_) | Stmt::Str(_) | Stmt::Null(_) | Stmt::Class(_) => true,
            Stmt::Data(data) => !data.has_vars(),
            _ => false,
        }
    }
}

/// See the module documentation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct TestCase {
    pub stmts: Vec<Stmt>,
}

impl TestCase {
    pub fn len(&self) -> usize {
        self.stmts.len()
    }
    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty()
    }
    pub fn push(&mut self, stmt: Stmt) -> Var {
        self.stmts.push(stmt);
        Var(self.stmts.len() as u32 - 1)
    }
    pub fn stmt(&self, var: Var) -> &Stmt {
        &self.stmts[var.0 as usize]
    }
    /// The static type of a statement's value; `void` if it has none.
    pub fn ty(&self, program: &Program, var: Var) -> Ty {
        match self.stmt(var) {
            Stmt::Lit(v) => Ty::prim(v.prim()),
            Stmt::Str(_) => program.well_known().string,
            Stmt::Env(env) if env.is_path() => program.well_known().string,
            Stmt::Class(_) => program.well_known().class,
            Stmt::Data(_) => program.well_known().object,
            Stmt::Null(ty) | Stmt::Cast { ty, .. } => *ty,
            Stmt::GetStatic(f) | Stmt::GetField { field: f, .. } => program.field(*f).ty,
            Stmt::New { ctor, .. } => Ty::reference(program.method(*ctor).owner),
            Stmt::Call { method, .. } => program.signature(*method).ret,
            Stmt::Stub(stub) => Ty::reference(stub.ty),
            Stmt::NewArray { elem, .. } => elem.array_of(),
            Stmt::ArrayGet { array, .. } => self.ty(program, *array).element().unwrap_or(Ty::VOID),
            Stmt::SetField { .. } | Stmt::ArraySet { .. } | Stmt::Env(_) => Ty::VOID,
        }
    }
    /// The class of the program above that of an object whose class is the test's own.
    pub fn derived_from(&self, var: Var) -> Option<TypeId> {
        let Stmt::Data(Data::Made { class, .. }) = self.stmt(var) else { return None };
        let Data::Class { bases, .. } = &**class else { return None };
        let class_of = |base: &Data| if let Data::Var(v) = base { Some(self.stmt(*v)) } else { None };
        bases.iter().filter_map(class_of).find_map(|stmt| if let Stmt::Class(ty) = stmt { ty.as_ref() } else { None })
    }
    /// Inserts `stmt` before index `at`; later variables move up by one.
    pub fn insert(&mut self, at: usize, stmt: Stmt) -> Var {
        for s in &mut self.stmts[at..] {
            for v in s.operands_mut() {
                if v.0 as usize >= at {
                    v.0 += 1;
                }
            }
        }
        self.stmts.insert(at, stmt);
        Var(at as u32)
    }
    pub fn uses(&self, var: Var) -> impl Iterator<Item = usize> + '_ {
        self.stmts.iter().enumerate().filter(move |(_, s)| s.operands().contains(&var)).map(|(i, _)| i)
    }
    /// Removes the marked statements. The caller has made sure that nothing kept uses them.
    #[must_use]
    pub fn without(&self, remove: &[bool]) -> TestCase {
        let mut place = Vec::with_capacity(self.len());
        let mut next = 0;
        for r in remove {
            place.push(next);
            next += u32::from(!r);
        }
        let keep = self.stmts.iter().zip(remove).filter(|(_, r)| !**r);
        let stmts = keep
            .map(|(s, _)| {
                let mut s = s.clone();
                for v in s.operands_mut() {
                    debug_assert!(!remove[v.0 as usize], "a kept statement uses a removed one");
                    v.0 = place[v.0 as usize];
                }
                s
            })
            .collect();
        TestCase { stmts }
    }
    /// `remove` extended by everything that depends on it.
    pub fn close_over_users(&self, remove: &mut [bool]) {
        for (i, s) in self.stmts.iter().enumerate() {
            if s.operands().iter().any(|v| remove[v.0 as usize]) {
                remove[i] = true;
            }
        }
    }
    /// Which statements the one at `at` is made of, itself among them.
    pub fn needed_by(&self, at: usize) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        needed[at] = true;
        for (i, s) in self.stmts.iter().enumerate().take(at + 1).rev() {
            if needed[i] {
                s.operands().iter().for_each(|v| needed[v.0 as usize] = true);
            }
        }
        needed
    }
    /// Drops literals and casts whose value nobody uses.
    #[must_use]
    pub fn sweep(&self) -> TestCase {
        let mut used = vec![false; self.len()];
        let mut remove = vec![false; self.len()];
        for (i, s) in self.stmts.iter().enumerate().rev() {
            let idle = !used[i] && (s.is_literal() || idle_when_unused(s));
            if idle && i + 1 < self.len() {
                remove[i] = true;
            } else {
                s.operands().iter().for_each(|v| used[v.0 as usize] = true);
            }
        }
        self.without(&remove)
    }
    /// Puts all statements of another test behind its own; by how much their numbers grew.
    pub fn append(&mut self, other: &TestCase) -> u32 {
        let shift = self.len() as u32;
        for stmt in &other.stmts {
            let mut stmt = stmt.clone();
            stmt.operands_mut().into_iter().for_each(|v| v.0 += shift);
            self.stmts.push(stmt);
        }
        shift
    }
    /// The first `n` statements.
    #[must_use]
    pub fn prefix(&self, n: usize) -> TestCase {
        TestCase { stmts: self.stmts[..n.min(self.len())].to_vec() }
    }
    pub fn calls(&self, method: MethodId) -> bool {
        self.stmts.iter().any(|s| s.callee() == Some(method))
    }
}

/// What does nothing but give a value.
fn idle_when_unused(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Cast { .. } | Stmt::GetStatic(_) | Stmt::Data(_) => true,
        Stmt::Stub(stub) => stub.ctor.is_none(),
        Stmt::Env(env) => env.is_path(),
        _ => false,
    }
}

/// Whether a call of `method` needs a receiver variable.
pub fn needs_receiver(program: &Program, method: MethodId) -> bool {
    program.method(method).kind == MethodKind::Instance
}
