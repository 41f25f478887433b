//! Arguments in the examples of docstrings and reports: `>>> apply(doc, patch)` shows what the function is given, if what is given is plain data.
//!
//! Nothing is executed: names that an example assigns a constant to are followed, everything else is left out.

use rethrow_core::testcase::data::Data;
use ruff_python_ast::{Expr, ExprCall, Stmt};
use rustc_hash::FxHashMap;

use super::annotation::constant;
use super::index::Param;
use super::walk;

/// Longer ones are programs; and what is parsed is nested at most so deep.
const MAX_EXAMPLE: usize = 2000;
const MAX_EXAMPLES: usize = 60;
/// Values of one parameter that are kept.
const MAX_VALUES: usize = 4;

/// What the pieces of code pass to the parameter `name` of `callee`. What is no code is passed over.
pub fn values<'c>(code: impl Iterator<Item = &'c str>, callee: &str, params: &[Param], name: &str) -> Vec<Data> {
    let mut known: FxHashMap<String, Data> = FxHashMap::default();
    let mut found: Vec<Data> = Vec::new();
    for example in code.filter(|e| e.len() <= MAX_EXAMPLE) {
        let Ok(parsed) = ruff_python_parser::parse_module(example) else { continue };
        for stmt in parsed.into_syntax().body {
            if let Stmt::Assign(s) = &stmt
                && let [Expr::Name(target)] = &s.targets[..]
                && let Some(data) = constant(&s.value)
            {
                known.insert(target.id.to_string(), data);
            }
            let mut pending = Vec::new();
            walk::own_exprs(&stmt, &mut |e| pending.push(e));
            while let Some(expr) = pending.pop() {
                if let Expr::Call(call) = expr {
                    let value = argument(call, callee, params, name).and_then(|e| plain(e, &known));
                    found.extend(value.filter(|v| !found.contains(v)));
                }
                walk::children(expr, &mut |e| pending.push(e));
            }
        }
    }
    found.truncate(MAX_VALUES);
    found
}

fn plain(expr: &Expr, known: &FxHashMap<String, Data>) -> Option<Data> {
    match expr {
        Expr::Name(n) => known.get(n.id.as_str()).cloned(),
        other => constant(other),
    }
}

/// The argument for the parameter, if it is a call of `callee`.
fn argument<'e>(call: &'e ExprCall, callee: &str, params: &[Param], name: &str) -> Option<&'e Expr> {
    let called = walk::dotted(&call.func)?.last().copied()?;
    if called != callee {
        return None;
    }
    let named = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|a| a.as_str() == name));
    let place = params.iter().position(|p| p.name == name)?;
    named.map(|k| &k.value).or_else(|| call.arguments.args.get(place))
}

/// The statements after prompts, with their continuation lines.
pub fn examples(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(code) = line.strip_prefix(">>> ") {
            out.push(code.to_string());
            open = true;
        } else if let Some(code) = line.strip_prefix("... ")
            && open
            && let Some(last) = out.last_mut()
        {
            last.push('\n');
            last.push_str(code);
        } else {
            open = false;
        }
    }
    out.truncate(MAX_EXAMPLES);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rethrow_core::program::Taking;

    fn param(name: &str) -> Param {
        Param { name: name.into(), taking: Taking::Any, optional: false }
    }

    #[test]
    fn trees_are_constants_too() {
        let mut text = "1".to_string();
        for _ in 0..5 {
            text = format!("[{{'children': {text}}}]");
        }
        let code = [format!("plant({text})")];
        assert_eq!(values(code.iter().map(String::as_str), "plant", &[param("tree")], "tree").len(), 1);
    }

    #[test]
    fn constants_and_names_that_stand_for_them_are_arguments() {
        let text =
            "Applies.\n\n    >>> doc = {'a': 1}\n    >>> x = apply(doc, [\n    ...     {'op': 'add'}], deep=True)\n    {'a': 2}\n    >>> apply(other(), [])\n";
        let params = [param("doc"), param("patch"), param("deep")];
        let code = examples(text);
        let of = |name: &str| values(code.iter().map(String::as_str), "apply", &params, name);
        assert_eq!(of("doc"), [Data::Dict(vec![(Data::text("a"), Data::Int(1))])]);
        assert_eq!(of("patch"), [Data::List(vec![Data::Dict(vec![(Data::text("op"), Data::text("add"))])]), Data::List(vec![])]);
        assert_eq!(of("deep"), [Data::Bool(true)]);
        assert!(values(["apply("].into_iter(), "apply", &params, "doc").is_empty());
    }
}
