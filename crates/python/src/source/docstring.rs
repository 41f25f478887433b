//! Types of parameters in docstrings: `:param str x:`, `:type x: str`, `x (str): …` (Google), `x : str` (numpy).

use rethrow_core::program::Shape;
use ruff_python_ast::{Expr, Stmt};

use super::annotation::Context;

/// Longer docstrings are manuals.
const MAX_LINES: usize = 200;

/// The docstring that a body begins with.
pub fn of(body: &[Stmt]) -> Option<&str> {
    match body.first()? {
        Stmt::Expr(first) => match &*first.value {
            Expr::StringLiteral(text) => Some(text.value.to_str()),
            _ => None,
        },
        _ => None,
    }
}

/// The shapes that a docstring gives a parameter.
pub fn shapes(text: &str, name: &str, context: &Context<'_>) -> Vec<Shape> {
    let mut out = Vec::new();
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        if let Some(described) = typed(line, name) {
            let words = described.split(['|', ',']).flat_map(|part| part.split(" or "));
            out.extend(words.take(6).flat_map(|w| context.described(w.trim_start_matches("or "))));
        }
    }
    out
}

/// The type text of a line about `name`.
fn typed<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    if let Some(rest) = line.strip_prefix(":type ").or_else(|| line.strip_prefix("@type ")) {
        let (who, what) = rest.split_once(':')?;
        return (who.trim() == name).then_some(what);
    }
    if let Some(rest) = line.strip_prefix(":param ") {
        let (head, _) = rest.split_once(':')?;
        let (what, who) = head.rsplit_once(' ')?;
        return (who.trim_start_matches('*') == name).then_some(what);
    }
    let rest = line.trim_start_matches(['*', '`', '-', ' ']).strip_prefix(name)?.trim_start_matches(['`', '*']);
    if let Some(rest) = rest.trim_start().strip_prefix('(') {
        return rest.split_once(')').map(|(what, _)| what);
    }
    rest.strip_prefix(" : ").or_else(|| rest.strip_prefix(": ")).filter(|what| what.len() < 60)
}
