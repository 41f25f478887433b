//! A file with many tests. Each function stands by itself: what cannot be written is left out with its reason, not the file.

use rethrow_core::execution::Returned;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::target::suite::{Claim, Expect, Placed, RenderSuite, RenderedSuite, SuiteFile, SuiteKind, SuiteTest};
use rethrow_core::testcase::{Value, Var};

use super::body::{self, Body};
use super::names::{self, Imports};
use super::{Pytest, exception, literal, simple};

impl RenderSuite for Pytest {
    /// All of a module is tested in one file.
    fn unit(&self, program: &Program, class: TypeId, kind: SuiteKind, number: usize) -> String {
        let module = names::word(&names::module_of(program.type_name(class)).replace('.', "_"));
        let what = match kind {
            SuiteKind::Regression => "regression",
            SuiteKind::Error => "errors",
        };
        let number = if number == 1 { String::new() } else { format!("_{number}") };
        format!("test_{module}_{what}{number}")
    }

    fn render_suite(&self, program: &Program, file: &SuiteFile) -> RenderedSuite {
        let mut imports = Imports::default();
        let mut writer = Writer { program, imports: &mut imports, uses_pytest: false };
        let rendered: Vec<Result<(String, Vec<String>), String>> = file.tests.iter().enumerate().map(|(i, test)| writer.function(i, test)).collect();
        let uses_pytest = writer.uses_pytest;
        let mut lines: Vec<String> = file.header.iter().map(|l| if l.is_empty() { String::new() } else { format!("# {}", literal::comment(l)) }).collect();
        let named = imports.lines();
        if uses_pytest {
            lines.extend(["import pytest".to_string(), String::new()]);
        }
        lines.extend(named);
        let mut methods = Vec::new();
        for one in rendered {
            methods.push(one.map(|(method, text)| {
                lines.extend([String::new(), String::new()]);
                let first = lines.len() + 1;
                lines.extend(text);
                Placed { method, lines: (first, lines.len()) }
            }));
        }
        RenderedSuite { path: format!("{}.py", file.unit).into(), name: file.unit.clone(), text: lines.join("\n") + "\n", methods }
    }
}

struct Writer<'a> {
    program: &'a Program,
    imports: &'a mut Imports,
    uses_pytest: bool,
}

impl Writer<'_> {
    fn function(&mut self, index: usize, test: &SuiteTest) -> Result<(String, Vec<String>), String> {
        let last = Var(test.test.len().saturating_sub(1) as u32);
        let mut named: Vec<Var> = test.checks.iter().map(|(var, _)| *var).collect();
        match test.expect {
            Expect::Broken { .. } | Expect::Unfit { claim: Claim::Zero } => named.push(last),
            Expect::Unfit { claim: Claim::SameAs(var) | Claim::OppositeSign(var) } => named.extend([var, last]),
            Expect::Pass | Expect::Throws { .. } | Expect::Fails { .. } => {}
        }
        let body = body::render_named(self.program, &test.test, &named, self.imports)?;
        let method = format!("test_{}_{}", names::word(&test.name), index + 1);
        let mut inside = self.statements(test, &body)?;
        if let Some(head) = body.inside {
            inside = std::iter::once(head).chain(inside.into_iter().map(|line| format!("    {line}"))).collect();
        }
        let mut lines: Vec<String> = test.comment.iter().map(|l| format!("# {}", literal::comment(l))).collect();
        lines.push(format!("def {method}({}):", if body.needs_folder { "tmp_path" } else { "" }));
        lines.extend(inside.into_iter().map(|line| format!("    {line}")));
        Ok((method, lines))
    }

    fn statements(&mut self, test: &SuiteTest, body: &Body) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        let mut at = 0;
        for (i, end) in body.ends.iter().enumerate() {
            lines.extend_from_slice(&body.lines[at..*end]);
            at = *end;
            for (var, value) in test.checks.iter().filter(|(var, _)| var.0 as usize == i) {
                lines.push(check(name_of(body, *var)?, value));
            }
        }
        let last = || name_of(body, Var(test.test.len().saturating_sub(1) as u32));
        match &test.expect {
            Expect::Pass => {}
            Expect::Throws { exception: printed } => {
                let call = lines.pop().ok_or("nothing is called")?;
                self.uses_pytest = true;
                lines.push(format!("with pytest.raises({}):", exception(self.program, printed, self.imports)));
                lines.push(format!("    {call}"));
            }
            Expect::Fails { exception } => {
                let call = lines.last_mut().ok_or("nothing is called")?;
                call.push_str(&format!("  # raises {}", literal::comment(simple(exception))));
            }
            Expect::Broken { should } => lines.push(format!("assert {} is {}", last()?, if *should { "True" } else { "False" })),
            Expect::Unfit { claim } => lines.push(match claim {
                Claim::Zero => format!("assert {} == 0", last()?),
                Claim::SameAs(var) => format!("assert {} == {}", last()?, name_of(body, *var)?),
                Claim::OppositeSign(var) => format!("assert ({} > 0) == ({} < 0)", last()?, name_of(body, *var)?),
            }),
        }
        Ok(lines)
    }
}

fn name_of(body: &Body, var: Var) -> Result<&str, String> {
    body.locals.get(var.0 as usize).and_then(|name| name.as_deref()).ok_or_else(|| "a value that is asserted has no name".to_string())
}

fn check(local: &str, value: &Returned) -> String {
    match value {
        Returned::Null => format!("assert {local} is None"),
        // its workers tell arrays as what is written
        Returned::Object | Returned::Prims(..) | Returned::Texts(_) => format!("assert {local} is not None"),
        Returned::Prim(Value::Bool(true)) => format!("assert {local} is True"),
        Returned::Prim(Value::Bool(false)) => format!("assert {local} is False"),
        Returned::Prim(value) => format!("assert {local} == {}", body::lit(*value)),
        Returned::Text(text) => format!("assert {local} == {}", literal::text(text)),
        Returned::Written(expression) => format!("assert {local} == {expression}"),
    }
}
