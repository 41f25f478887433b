//! Test cases by names instead of ids: what run records keep and what a replay reads, valid across runs and versions of the program.

use serde::{Deserialize, Serialize};

use super::stub::{PortableStub, find_stub, name_stub};
use super::{Data, Env, Stmt, TestCase, Value, Var};
use crate::program::{Base, FieldId, MethodId, Prim, Program, Ty};

/// A type by name: `int`, `java.lang.String`, with `[]` for each dimension.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TyName(pub String);

/// A member by owner, name and signature text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MemberName {
    pub class: String,
    pub name: String,
    pub desc: String,
}

/// A statement by names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PortableStmt {
    Lit { value: Value },
    Str { value: String },
    Null { ty: TyName },
    GetStatic { field: MemberName },
    Class { ty: TyName },
    New { ctor: MemberName, args: Vec<Var> },
    Call { method: MemberName, recv: Option<Var>, args: Vec<Var> },
    GetField { field: MemberName, recv: Var },
    SetField { field: MemberName, recv: Option<Var>, value: Var },
    NewArray { elem: TyName, len: u32 },
    ArraySet { array: Var, index: u32, value: Var },
    ArrayGet { array: Var, index: u32 },
    Cast { value: Var, ty: TyName },
    Data { data: Data },
    Stub { stub: PortableStub },
    Env { env: Env },
}

/// A whole test by names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortableTest {
    pub stmts: Vec<PortableStmt>,
}

/// A name that the program does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the program has no {0}")]
pub struct Unknown(pub String);

/// The text of a primitive type.
pub fn prim_name(p: Prim) -> &'static str {
    match p {
        Prim::Bool => "boolean",
        Prim::Byte => "byte",
        Prim::Char => "char",
        Prim::Short => "short",
        Prim::Int => "int",
        Prim::Long => "long",
        Prim::Float => "float",
        Prim::Double => "double",
    }
}

const PRIMS: [Prim; 8] = [Prim::Bool, Prim::Byte, Prim::Char, Prim::Short, Prim::Int, Prim::Long, Prim::Float, Prim::Double];

pub fn ty_name(program: &Program, ty: Ty) -> TyName {
    let base = match ty.base {
        Base::Void => "void".to_string(),
        Base::Prim(p) => prim_name(p).to_string(),
        Base::Ref(t) => program.type_name(t).to_string(),
    };
    TyName(base + &"[]".repeat(ty.dims as usize))
}

pub fn find_ty(program: &Program, name: &TyName) -> Result<Ty, Unknown> {
    let base_name = name.0.trim_end_matches("[]");
    let dims = ((name.0.len() - base_name.len()) / 2) as u8;
    let base = match PRIMS.iter().find(|p| prim_name(**p) == base_name) {
        Some(p) => Base::Prim(*p),
        None if base_name == "void" => Base::Void,
        None => Base::Ref(program.find_mentioned(base_name).ok_or_else(|| Unknown(format!("type {base_name}")))?),
    };
    Ok(Ty { base, dims })
}

pub fn method_name(program: &Program, id: MethodId) -> MemberName {
    let class = program.type_name(program.method(id).owner).to_string();
    MemberName { class, name: program.method_name(id).to_string(), desc: program.method_desc(id).to_string() }
}

pub fn field_name(program: &Program, id: FieldId) -> MemberName {
    let def = program.field(id);
    MemberName { class: program.type_name(def.owner).to_string(), name: program.field_name(id).to_string(), desc: ty_name(program, def.ty).0 }
}

pub(super) fn find_method(program: &Program, name: &MemberName) -> Result<MethodId, Unknown> {
    let unknown = || Unknown(format!("method {}.{}{}", name.class, name.name, name.desc));
    let class = program.find_type(&name.class).ok_or_else(unknown)?;
    program.find_method(class, &name.name, &name.desc).ok_or_else(unknown)
}

fn find_field(program: &Program, name: &MemberName) -> Result<FieldId, Unknown> {
    let unknown = || Unknown(format!("field {}.{}", name.class, name.name));
    let class = program.find_type(&name.class).ok_or_else(unknown)?;
    program.find_field(class, &name.name).ok_or_else(unknown)
}

impl PortableTest {
    pub fn of(program: &Program, test: &TestCase) -> PortableTest {
        PortableTest { stmts: test.stmts.iter().map(|s| name_stmt(program, s)).collect() }
    }
    /// The test in terms of `program`; operands out of order are refused.
    pub fn resolve(&self, program: &Program) -> Result<TestCase, Unknown> {
        let mut test = TestCase::default();
        for (i, s) in self.stmts.iter().enumerate() {
            let stmt = find_stmt(program, s)?;
            if stmt.operands().iter().any(|v| v.0 as usize >= i) {
                return Err(Unknown(format!("value used by statement {i} before it is made")));
            }
            test.push(stmt);
        }
        Ok(test)
    }
}

fn name_stmt(program: &Program, stmt: &Stmt) -> PortableStmt {
    let (ty, method, field) = (|t: &Ty| ty_name(program, *t), |m: &MethodId| method_name(program, *m), |f: &FieldId| field_name(program, *f));
    match stmt.clone() {
        Stmt::Lit(value) => PortableStmt::Lit { value },
        Stmt::Str(value) => PortableStmt::Str { value },
        Stmt::Null(t) => PortableStmt::Null { ty: ty(&t) },
        Stmt::GetStatic(f) => PortableStmt::GetStatic { field: field(&f) },
        Stmt::Class(t) => PortableStmt::Class { ty: ty(&t) },
        Stmt::New { ctor, args } => PortableStmt::New { ctor: method(&ctor), args },
        Stmt::Call { method: m, recv, args } => PortableStmt::Call { method: method(&m), recv, args },
        Stmt::GetField { field: f, recv } => PortableStmt::GetField { field: field(&f), recv },
        Stmt::SetField { field: f, recv, value } => PortableStmt::SetField { field: field(&f), recv, value },
        Stmt::NewArray { elem, len } => PortableStmt::NewArray { elem: ty(&elem), len },
        Stmt::ArraySet { array, index, value } => PortableStmt::ArraySet { array, index, value },
        Stmt::ArrayGet { array, index } => PortableStmt::ArrayGet { array, index },
        Stmt::Cast { value, ty: t } => PortableStmt::Cast { value, ty: ty(&t) },
        Stmt::Data(data) => PortableStmt::Data { data },
        Stmt::Stub(stub) => PortableStmt::Stub { stub: name_stub(program, &stub) },
        Stmt::Env(env) => PortableStmt::Env { env: *env },
    }
}

fn find_stmt(program: &Program, stmt: &PortableStmt) -> Result<Stmt, Unknown> {
    Ok(match stmt.clone() {
        PortableStmt::Lit { value } => Stmt::Lit(value),
        PortableStmt::Str { value } => Stmt::Str(value),
        PortableStmt::Null { ty } => Stmt::Null(find_ty(program, &ty)?),
        PortableStmt::GetStatic { field } => Stmt::GetStatic(find_field(program, &field)?),
        PortableStmt::Class { ty } => Stmt::Class(find_ty(program, &ty)?),
        PortableStmt::New { ctor, args } => Stmt::New { ctor: find_method(program, &ctor)?, args },
        PortableStmt::Call { method, recv, args } => Stmt::Call { method: find_method(program, &method)?, recv, args },
        PortableStmt::GetField { field, recv } => Stmt::GetField { field: find_field(program, &field)?, recv },
        PortableStmt::SetField { field, recv, value } => Stmt::SetField { field: find_field(program, &field)?, recv, value },
        PortableStmt::NewArray { elem, len } => Stmt::NewArray { elem: find_ty(program, &elem)?, len },
        PortableStmt::ArraySet { array, index, value } => Stmt::ArraySet { array, index, value },
        PortableStmt::ArrayGet { array, index } => Stmt::ArrayGet { array, index },
        PortableStmt::Cast { value, ty } => Stmt::Cast { value, ty: find_ty(program, &ty)? },
        PortableStmt::Data { data } => Stmt::Data(data),
        PortableStmt::Stub { stub } => Stmt::Stub(Box::new(find_stub(program, &stub)?)),
        PortableStmt::Env { env } if !env.is_sound() => return Err(Unknown("surroundings like these".into())),
        PortableStmt::Env { env } => Stmt::Env(Box::new(env)),
    })
}
