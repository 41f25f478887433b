//! Which names a code object stores: its local variables.

use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use rustc_hash::FxHashSet;

use crate::source::walk::{self, MAX_DEPTH};

/// Names stored by statements, code of their own left aside.
pub fn stored<'a>(body: &'a [Stmt], out: &mut FxHashSet<&'a str>) {
    let mut global: FxHashSet<&'a str> = FxHashSet::default();
    let mut pending: Vec<(&'a [Stmt], usize)> = vec![(body, 0)];
    while let Some((suite, depth)) = pending.pop() {
        for stmt in suite {
            match stmt {
                Stmt::FunctionDef(s) => out.extend([s.name.as_str()]),
                Stmt::ClassDef(s) => out.extend([s.name.as_str()]),
                Stmt::Global(s) => global.extend(s.names.iter().map(|n| n.as_str())),
                Stmt::Nonlocal(s) => global.extend(s.names.iter().map(|n| n.as_str())),
                Stmt::Import(s) => out.extend(s.names.iter().map(|a| match &a.asname {
                    Some(name) => name.as_str(),
                    None => a.name.as_str().split('.').next().unwrap_or_default(),
                })),
                Stmt::ImportFrom(s) => out.extend(s.names.iter().map(|a| a.asname.as_ref().unwrap_or(&a.name).as_str())),
                Stmt::Try(s) => out.extend(s.handlers.iter().filter_map(|ExceptHandler::ExceptHandler(h)| h.name.as_ref()).map(|n| n.as_str())),
                Stmt::Match(s) => s.cases.iter().for_each(|c| {
                    walk::pattern_names(&c.pattern, &mut |n| out.extend([n]), 0);
                }),
                _ => {}
            }
            walk::own_exprs(stmt, &mut |e| in_expr(e, out));
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) && depth < MAX_DEPTH {
                walk::blocks(stmt, &mut |b| pending.push((b, depth + 1)));
            }
        }
    }
    out.retain(|n| !global.contains(n));
}

/// Names stored by an expression; targets of comprehensions are among them, which does no harm.
pub fn in_expr<'a>(expr: &'a Expr, out: &mut FxHashSet<&'a str>) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Name(n) if n.ctx.is_store() => out.extend([n.id.as_str()]),
            Expr::Lambda(_) => continue,
            _ => {}
        }
        walk::children(expr, &mut |e| pending.push(e));
    }
}
