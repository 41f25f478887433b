//! What a program text says, as trees.

use std::fmt::Write;
use std::sync::Arc;

use crate::program::ir::{BinOp, Relation};

/// `int`, `string`, a class, or an array of one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    pub base: String,
    pub array: bool,
}

#[derive(Clone, Debug)]
pub struct Class {
    pub name: String,
    pub line: u32,
    pub superclass: Option<String>,
    pub is_abstract: bool,
    pub fields: Vec<Field>,
    pub methods: Vec<Method>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub ty: TypeName,
    pub private: bool,
    pub is_static: bool,
}

/// A method, or a constructor by the name [`super::NEW`].
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    pub params: Vec<(String, TypeName)>,
    pub ret: Option<TypeName>,
    pub private: bool,
    pub is_static: bool,
    pub body: Vec<Stmt>,
    /// Line of the closing brace.
    pub end: u32,
}

impl Method {
    /// The signature as text: `(int,Foo[])string`.
    pub fn desc(&self) -> String {
        let name = |ty: &TypeName| format!("{}{}", ty.base, if ty.array { "[]" } else { "" });
        let params: Vec<String> = self.params.iter().map(|(_, ty)| name(ty)).collect();
        let mut desc = format!("({})", params.join(","));
        write!(desc, "{}", self.ret.as_ref().map_or("void".into(), name)).expect("a string takes any text");
        desc
    }
}

/// `name.field.field`: a variable, `this` or a class, and fields read from it.
pub type Path = Vec<String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    Int(i32),
    Str(Arc<str>),
    Null,
    Path(Path),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Atom(Atom),
    Binary(Atom, BinOp, Atom),
    New(String, Vec<Atom>),
    /// The last name of the path is the method's.
    Call(Path, Vec<Atom>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cond {
    pub left: Atom,
    pub relation: Relation,
    pub right: Atom,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub line: u32,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Assign(Path, Expr),
    Do(Expr),
    Return(Option<Expr>),
    Throw(String),
    If(Cond, Vec<Stmt>),
    While(Cond, Vec<Stmt>),
    /// Whatever the block raises is wrapped in an exception of that name, raised at `line`.
    Wrap {
        block: Vec<Stmt>,
        exception: String,
        line: u32,
    },
}
