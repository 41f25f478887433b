//! The children of syntax nodes, one level at a time, so that whoever walks can bound how deep.

use ruff_python_ast::{ExceptHandler, Expr, FStringPart, InterpolatedStringElement, Parameters, Pattern, Stmt};

/// Deeper source is not looked into.
pub const MAX_DEPTH: usize = 900;

/// Calls `f` with each direct subexpression, in source order as far as it matters.
pub fn children<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::BoolOp(e) => e.values.iter().for_each(f),
        Expr::Named(e) => [&*e.target, &*e.value].into_iter().for_each(f),
        Expr::BinOp(e) => [&*e.left, &*e.right].into_iter().for_each(f),
        Expr::UnaryOp(e) => f(&e.operand),
        Expr::Lambda(e) => {
            if let Some(parameters) = &e.parameters {
                defaults(parameters, f);
            }
            f(&e.body);
        }
        Expr::If(e) => [&*e.test, &*e.body, &*e.orelse].into_iter().for_each(f),
        Expr::Dict(e) => e.items.iter().flat_map(|i| i.key.iter().chain([&i.value])).for_each(f),
        Expr::Set(e) => e.elts.iter().for_each(f),
        Expr::List(e) => e.elts.iter().for_each(f),
        Expr::Tuple(e) => e.elts.iter().for_each(f),
        Expr::ListComp(e) => comprehension([Some(&*e.elt), None], &e.generators, f),
        Expr::SetComp(e) => comprehension([Some(&*e.elt), None], &e.generators, f),
        Expr::DictComp(e) => comprehension([e.key.as_deref(), Some(&*e.value)], &e.generators, f),
        Expr::Generator(e) => comprehension([Some(&*e.elt), None], &e.generators, f),
        Expr::Await(e) => f(&e.value),
        Expr::Yield(e) => e.value.iter().for_each(|v| f(v)),
        Expr::YieldFrom(e) => f(&e.value),
        Expr::Compare(e) => [&*e.left].into_iter().chain(e.comparators.iter()).for_each(f),
        Expr::Call(e) => {
            f(&e.func);
            e.arguments.args.iter().chain(e.arguments.keywords.iter().map(|k| &k.value)).for_each(f);
        }
        Expr::FString(e) => e.value.iter().for_each(|part| {
            if let FStringPart::FString(s) = part {
                interpolated(s.elements.iter(), f, 0);
            }
        }),
        Expr::TString(e) => e.value.iter().for_each(|s| interpolated(s.elements.iter(), f, 0)),
        Expr::Attribute(e) => f(&e.value),
        Expr::Subscript(e) => [&*e.value, &*e.slice].into_iter().for_each(f),
        Expr::Starred(e) => f(&e.value),
        Expr::Slice(e) => [&e.lower, &e.upper, &e.step].into_iter().flatten().for_each(|e| f(e)),
        _ => {}
    }
}

fn comprehension<'a>(elements: [Option<&'a Expr>; 2], generators: &'a [ruff_python_ast::Comprehension], f: &mut dyn FnMut(&'a Expr)) {
    for g in generators {
        f(&g.iter);
        f(&g.target);
        g.ifs.iter().for_each(&mut *f);
    }
    elements.into_iter().flatten().for_each(f);
}

/// Expressions between the braces of an f-string, and the text around them by [`texts`].
fn interpolated<'a>(elements: impl Iterator<Item = &'a InterpolatedStringElement>, f: &mut dyn FnMut(&'a Expr), depth: usize) {
    for element in elements {
        if let InterpolatedStringElement::Interpolation(i) = element {
            f(&i.expression);
            if let Some(spec) = &i.format_spec
                && depth < 8
            {
                interpolated(spec.elements.iter(), f, depth + 1);
            }
        }
    }
}

/// The text parts of an f-string.
pub fn texts(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::FString(e) => e
            .value
            .iter()
            .flat_map(|part| match part {
                FStringPart::Literal(s) => vec![&*s.value],
                FStringPart::FString(s) => s.elements.iter().filter_map(text).collect(),
            })
            .collect(),
        Expr::TString(e) => e.value.iter().flat_map(|s| s.elements.iter().filter_map(text)).collect(),
        _ => Vec::new(),
    }
}

fn text(element: &InterpolatedStringElement) -> Option<&str> {
    if let InterpolatedStringElement::Literal(literal) = element { Some(&literal.value) } else { None }
}

/// Defaults of parameters.
pub fn defaults<'a>(parameters: &'a Parameters, f: &mut dyn FnMut(&'a Expr)) {
    parameters.iter_non_variadic_params().filter_map(|p| p.default.as_deref()).for_each(f);
}

/// Expressions that a statement evaluates itself: not those of statements inside it. Annotations of functions are left out.
pub fn own_exprs<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    match stmt {
        Stmt::FunctionDef(s) => {
            s.decorator_list.iter().for_each(|d| f(&d.expression));
            defaults(&s.parameters, f);
        }
        Stmt::ClassDef(s) => {
            s.decorator_list.iter().for_each(|d| f(&d.expression));
            if let Some(a) = &s.arguments {
                a.args.iter().chain(a.keywords.iter().map(|k| &k.value)).for_each(f);
            }
        }
        Stmt::Return(s) => s.value.iter().for_each(|e| f(e)),
        Stmt::Delete(s) => s.targets.iter().for_each(f),
        Stmt::Assign(s) => {
            f(&s.value);
            s.targets.iter().for_each(f);
        }
        Stmt::AugAssign(s) => [&*s.target, &*s.value].into_iter().for_each(f),
        Stmt::AnnAssign(s) => {
            s.value.iter().for_each(|e| f(e));
            f(&s.target);
        }
        Stmt::For(s) => [&*s.iter, &*s.target].into_iter().for_each(f),
        Stmt::While(s) => f(&s.test),
        Stmt::If(s) => [&*s.test].into_iter().chain(s.elif_else_clauses.iter().filter_map(|c| c.test.as_ref())).for_each(f),
        Stmt::With(s) => s.items.iter().for_each(|i| {
            f(&i.context_expr);
            i.optional_vars.iter().for_each(|e| f(e));
        }),
        Stmt::Match(s) => {
            f(&s.subject);
            s.cases.iter().for_each(|c| {
                pattern_exprs(&c.pattern, f, 0);
                c.guard.iter().for_each(|e| f(e));
            });
        }
        Stmt::Raise(s) => [&s.exc, &s.cause].into_iter().flatten().for_each(|e| f(e)),
        Stmt::Try(s) => s.handlers.iter().for_each(|ExceptHandler::ExceptHandler(h)| h.type_.iter().for_each(|e| f(e))),
        Stmt::Assert(s) => {
            f(&s.test);
            s.msg.iter().for_each(|e| f(e));
        }
        Stmt::Expr(s) => f(&s.value),
        _ => {}
    }
}

/// Values and classes that a pattern names.
pub fn pattern_exprs<'a>(pattern: &'a Pattern, f: &mut dyn FnMut(&'a Expr), depth: usize) {
    if depth > 50 {
        return;
    }
    match pattern {
        Pattern::MatchValue(p) => f(&p.value),
        Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| pattern_exprs(p, f, depth + 1)),
        Pattern::MatchMapping(p) => {
            p.keys.iter().for_each(&mut *f);
            p.patterns.iter().for_each(|p| pattern_exprs(p, f, depth + 1));
        }
        Pattern::MatchClass(p) => {
            f(&p.cls);
            let inner = p.arguments.patterns.iter().chain(p.arguments.keywords.iter().map(|k| &k.pattern));
            inner.for_each(|p| pattern_exprs(p, f, depth + 1));
        }
        Pattern::MatchAs(p) => p.pattern.iter().for_each(|p| pattern_exprs(p, f, depth + 1)),
        Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| pattern_exprs(p, f, depth + 1)),
        _ => {}
    }
}

/// Names that a pattern binds.
pub fn pattern_names<'a>(pattern: &'a Pattern, f: &mut dyn FnMut(&'a str), depth: usize) {
    if depth > 50 {
        return;
    }
    match pattern {
        Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| pattern_names(p, f, depth + 1)),
        Pattern::MatchMapping(p) => {
            p.patterns.iter().for_each(|p| pattern_names(p, f, depth + 1));
            p.rest.iter().for_each(|n| f(n.as_str()));
        }
        Pattern::MatchClass(p) => {
            let inner = p.arguments.patterns.iter().chain(p.arguments.keywords.iter().map(|k| &k.pattern));
            inner.for_each(|p| pattern_names(p, f, depth + 1));
        }
        Pattern::MatchStar(p) => p.name.iter().for_each(|n| f(n.as_str())),
        Pattern::MatchAs(p) => {
            p.pattern.iter().for_each(|p| pattern_names(p, f, depth + 1));
            p.name.iter().for_each(|n| f(n.as_str()));
        }
        Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| pattern_names(p, f, depth + 1)),
        _ => {}
    }
}

/// The statement lists inside a statement, those of functions and classes included.
pub fn blocks<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a [Stmt])) {
    match stmt {
        Stmt::FunctionDef(s) => f(&s.body),
        Stmt::ClassDef(s) => f(&s.body),
        Stmt::For(s) => [&*s.body, &*s.orelse].into_iter().for_each(f),
        Stmt::While(s) => [&*s.body, &*s.orelse].into_iter().for_each(f),
        Stmt::If(s) => [&*s.body].into_iter().chain(s.elif_else_clauses.iter().map(|c| &*c.body)).for_each(f),
        Stmt::With(s) => f(&s.body),
        Stmt::Match(s) => s.cases.iter().for_each(|c| f(&c.body)),
        Stmt::Try(s) => {
            f(&s.body);
            s.handlers.iter().for_each(|ExceptHandler::ExceptHandler(h)| f(&h.body));
            f(&s.orelse);
            f(&s.finalbody);
        }
        _ => {}
    }
}

/// `a.b.c` as its parts; `None` for anything else.
pub fn dotted(expr: &Expr) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Attribute(a) if parts.len() < 16 => {
                parts.push(a.attr.as_str());
                at = &a.value;
            }
            Expr::Name(n) => {
                parts.push(n.id.as_str());
                parts.reverse();
                return Some(parts);
            }
            _ => return None,
        }
    }
}
