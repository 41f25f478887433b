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

/// The names that a docstring describes one by one, as options of a function are: `:param x:`, `x (str): …`, `x - …`, `x: …`.
pub fn options(text: &str) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for line in text.lines().take(MAX_LINES).map(str::trim) {
        if let Some(name) = described(line).filter(|name| !out.contains(name)) {
            out.push(name);
        }
    }
    out
}

fn described(line: &str) -> Option<&str> {
    let fields = [":param ", ":keyword ", ":kwarg ", ":key ", "@param "];
    if let Some(rest) = fields.iter().find_map(|field| line.strip_prefix(field)) {
        return rest.split_once(':')?.0.rsplit(' ').next().map(|n| n.trim_start_matches('*')).filter(|n| is_option(n));
    }
    let line = line.trim_start_matches(['*', '`', '-', ' ']);
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(['`', '*']).trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    (is_option(name) && (rest.starts_with(':') || rest.starts_with("- ") || rest.starts_with("-- "))).then_some(name)
}

fn is_option(name: &str) -> bool {
    const LONGEST: usize = 40;
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && name.len() <= LONGEST && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_what_a_docstring_describes_one_by_one() {
        let text = "Return it.\n\nArguments:\n\nsortby - name of field\n``start`` (int): first row\n:param str end: last row\nReturns: a text\nsee also: that";
        assert_eq!(options(text), ["sortby", "start", "end"]);
    }
}
