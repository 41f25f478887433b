//! The syntax node of a code object.

use ruff_python_ast::{Comprehension, Expr, ExprLambda, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::source::index::{Code, CodeKind};
use crate::source::walk;

/// A node that has code of its own.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Module(&'a [Stmt]),
    Class(&'a StmtClassDef),
    Function(&'a StmtFunctionDef),
    Lambda(&'a ExprLambda),
    Comprehension(&'a [Comprehension], [Option<&'a Expr>; 2]),
}

/// Looks only into what contains the code.
pub fn find<'a>(body: &'a [Stmt], code: &Code) -> Option<Node<'a>> {
    if code.kind == CodeKind::Module {
        return Some(Node::Module(body));
    }
    let mut suite = body;
    for _ in 0..walk::MAX_DEPTH {
        let stmt = suite.iter().find(|s| s.range().contains_range(code.range))?;
        match stmt {
            Stmt::FunctionDef(def) if code.kind == CodeKind::Function && code.is_of(def) => return Some(Node::Function(def)),
            Stmt::ClassDef(def) if code.kind == CodeKind::Class && code.is_of(def) => return Some(Node::Class(def)),
            _ => {}
        }
        let mut inside: Option<&'a [Stmt]> = None;
        walk::blocks(stmt, &mut |b| {
            if b.iter().any(|s| s.range().contains_range(code.range)) {
                inside = Some(b);
            }
        });
        match inside {
            Some(block) => suite = block,
            None => return in_statement(stmt, code),
        }
    }
    None
}

fn in_statement<'a>(stmt: &'a Stmt, code: &Code) -> Option<Node<'a>> {
    let mut pending: Vec<&'a Expr> = Vec::new();
    walk::own_exprs(stmt, &mut |e| pending.push(e));
    // parents come before children; strings inside f-strings may have ranges that overlap, so all are looked at
    while let Some(expr) = pending.pop() {
        if !expr.range().contains_range(code.range) {
            continue;
        }
        if code.is_of(expr)
            && let Some(node) = node_of(expr, code.kind)
        {
            return Some(node);
        }
        walk::children(expr, &mut |e| pending.push(e));
    }
    None
}

fn node_of(expr: &Expr, kind: CodeKind) -> Option<Node<'_>> {
    match (expr, kind) {
        (Expr::Lambda(e), CodeKind::Lambda) => Some(Node::Lambda(e)),
        (Expr::ListComp(e), CodeKind::Comprehension) => Some(Node::Comprehension(&e.generators, [Some(&e.elt), None])),
        (Expr::SetComp(e), CodeKind::Comprehension) => Some(Node::Comprehension(&e.generators, [Some(&e.elt), None])),
        (Expr::DictComp(e), CodeKind::Comprehension) => Some(Node::Comprehension(&e.generators, [e.key.as_deref(), Some(&e.value)])),
        (Expr::Generator(e), CodeKind::Generator) => Some(Node::Comprehension(&e.generators, [Some(&e.elt), None])),
        _ => None,
    }
}
