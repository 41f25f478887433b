//! A file with many JUnit 4 tests. Each method stands by itself: what cannot be written is left out with its reason, not the file.

use std::path::PathBuf;

use rethrow_core::execution::Returned;
use rethrow_core::program::{Access, Prim, Program, Ty, TypeId};
use rethrow_core::target::suite::{Claim, Expect, Placed, RenderSuite, RenderedSuite, SuiteFile, SuiteKind, SuiteTest};
use rethrow_core::testcase::{Value, Var};

use super::body::{self, Parts, Scope};
use super::names::{self, TypeNames};
use super::{JUnit, access, literal};

impl RenderSuite for JUnit {
    /// Nested classes share the files of the outermost one.
    fn unit(&self, program: &Program, class: TypeId, kind: SuiteKind, number: usize) -> String {
        let name = program.type_name(class);
        let outermost = simple(name.split('$').next().unwrap_or(name));
        let suffix = match kind {
            SuiteKind::Regression => "RegressionTest",
            SuiteKind::Error => "ErrorTest",
        };
        let number = if number == 1 { String::new() } else { number.to_string() };
        format!("{}_{suffix}{number}", names::ascii_word(outermost))
    }

    fn render_suite(&self, program: &Program, file: &SuiteFile) -> RenderedSuite {
        let names = TypeNames::new(program, &file.package, &file.unit);
        let writer = SuiteWriter { junit: self, program, file, names: &names };
        let rendered: Vec<Result<(String, Vec<String>), String>> = file.tests.iter().enumerate().map(|(i, t)| writer.method(i, t)).collect();
        let asserts = rendered.iter().flatten().any(|(_, text)| text.iter().any(|line| line.contains("Assert.")));
        let mut lines = writer.head(asserts);
        let mut methods = Vec::new();
        for one in rendered {
            methods.push(one.map(|(method, text)| {
                lines.push(String::new());
                let first = lines.len() + 1;
                lines.extend(text);
                Placed { method, lines: (first, lines.len()) }
            }));
        }
        lines.push("}".to_string());
        let folder: PathBuf = file.package.split('.').filter(|p| !p.is_empty()).collect();
        let name = if file.package.is_empty() { file.unit.clone() } else { format!("{}.{}", file.package, file.unit) };
        RenderedSuite { path: folder.join(format!("{}.java", file.unit)), name, text: literal::ascii(&(lines.join("\n") + "\n")), methods }
    }
}

struct SuiteWriter<'a> {
    junit: &'a JUnit,
    program: &'a Program,
    file: &'a SuiteFile,
    names: &'a TypeNames<'a>,
}

impl SuiteWriter<'_> {
    /// Everything up to the first method; after the methods, because they decide the imports.
    fn head(&self, asserts: bool) -> Vec<String> {
        let mut lines: Vec<String> = self.file.header.iter().map(|l| format!("// {}", literal::comment(l)).trim_end().to_string()).collect();
        if !self.file.package.is_empty() {
            lines.extend([format!("package {};", self.file.package), String::new()]);
        }
        let mut imports = self.names.imports();
        imports.extend(
            ["Assert", "Test"].into_iter().filter(|n| asserts || *n != "Assert").filter(|n| !self.names.in_package(n)).map(|n| format!("org.junit.{n}")),
        );
        imports.sort();
        lines.extend(imports.iter().map(|name| format!("import {name};")));
        lines.extend([String::new(), format!("public class {} {{", self.file.unit)]);
        lines
    }

    fn of_junit(&self, simple: &str) -> String {
        if self.names.in_package(simple) { format!("org.junit.{simple}") } else { simple.to_string() }
    }

    fn method(&self, index: usize, test: &SuiteTest) -> Result<(String, Vec<String>), String> {
        let scope = Scope { program: self.program, package: &self.file.package, names: self.names, generics: &*self.junit.generics };
        let mut named = vec![false; test.test.len()];
        test.checks.iter().for_each(|(var, _)| named[var.0 as usize] = true);
        if let Expect::Unfit { claim: Claim::SameAs(var) | Claim::OppositeSign(var) } = test.expect {
            named[var.0 as usize] = true;
        }
        if matches!(test.expect, Expect::Broken { .. } | Expect::Unfit { .. })
            && let Some(last) = named.last_mut()
        {
            *last = true;
        }
        let parts = body::render_parts(scope, &test.test, &named)?;
        let method = format!("{}_{}", names::ascii_word(&test.name), index + 1);
        let mut lines: Vec<String> = test.comment.iter().map(|l| format!("    // {}", literal::comment(l))).collect();
        if parts.raw {
            lines.push("    @SuppressWarnings({\"rawtypes\", \"unchecked\"})".replace("SuppressWarnings", &self.names.java_lang("SuppressWarnings")));
        }
        lines.push(format!("    @{}", self.of_junit("Test")));
        lines.push(format!("    public void {method}() throws {} {{", self.names.java_lang("Throwable")));
        lines.extend(self.statements(test, &parts)?.into_iter().map(|l| format!("        {l}")));
        lines.push("    }".to_string());
        Ok((method, lines))
    }

    fn statements(&self, test: &SuiteTest, parts: &Parts) -> Result<Vec<String>, String> {
        let assert = self.of_junit("Assert");
        let last = test.test.len().saturating_sub(1);
        let mut lines = Vec::new();
        for (i, line) in parts.lines.iter().enumerate() {
            let text = line.clone();
            if i == last
                && let Expect::Throws { exception } = &test.expect
            {
                lines.extend(self.expecting(text.unwrap_or_default(), exception, &assert));
                continue;
            }
            lines.extend(text);
            lines.extend(self.checks(test, parts, |var, value| var == i && !is_array(value))?);
        }
        // an array may change after it was returned
        lines.extend(self.checks(test, parts, |_, value| is_array(value))?);
        match (&test.expect, parts.locals.get(last)) {
            (Expect::Broken { should }, Some(Some(local))) => lines.push(format!("{assert}.{}({local});", if *should { "assertTrue" } else { "assertFalse" })),
            (Expect::Unfit { claim }, Some(Some(local))) => lines.push(self.claim(*claim, local, parts, &assert)),
            (Expect::Fails { exception }, _) => {
                if let Some(line) = lines.last_mut() {
                    line.push_str(&format!(" // throws {}", literal::comment(simple(exception))));
                }
            }
            _ => {}
        }
        Ok(lines)
    }

    fn claim(&self, claim: Claim, local: &str, parts: &Parts, assert: &str) -> String {
        let other = |var: Var| parts.locals[var.0 as usize].clone().unwrap_or_else(|| "0".to_string());
        let sign = |of: &str| format!("{}.signum({of})", self.names.java_lang("Integer"));
        match claim {
            Claim::Zero => format!("{assert}.assertEquals(0, {local});"),
            Claim::SameAs(var) => format!("{assert}.assertEquals({}, {local});", other(var)),
            Claim::OppositeSign(var) => format!("{assert}.assertEquals({}, -{});", sign(&other(var)), sign(local)),
        }
    }

    /// The assertions that `which` picks by statement and value.
    fn checks(&self, test: &SuiteTest, parts: &Parts, which: impl Fn(usize, &Returned) -> bool) -> Result<Vec<String>, String> {
        let assert = self.of_junit("Assert");
        let mut lines = Vec::new();
        for (var, value) in test.checks.iter().filter(|(var, value)| which(var.0 as usize, value)) {
            if let Some(local) = &parts.locals[var.0 as usize] {
                lines.push(self.check(local, value, &assert)?);
            }
        }
        Ok(lines)
    }

    fn check(&self, local: &str, value: &Returned, assert: &str) -> Result<String, String> {
        let java_lang = |name: &str| self.names.java_lang(name);
        Ok(match value {
            Returned::Null => format!("{assert}.assertNull({local});"),
            Returned::Object => format!("{assert}.assertNotNull({local});"),
            Returned::Text(text) => format!("{assert}.assertEquals({}, {local});", literal::string(text)?),
            Returned::Written(expression) => format!("{assert}.assertEquals({expression}, {local});"),
            Returned::Prim(Value::Bool(true)) => format!("{assert}.assertTrue({local});"),
            Returned::Prim(Value::Bool(false)) => format!("{assert}.assertFalse({local});"),
            Returned::Prim(v @ Value::Float(_)) => format!("{assert}.assertEquals({}, {local}, 0.0F);", literal::value(*v, java_lang)),
            Returned::Prim(v @ Value::Double(_)) => format!("{assert}.assertEquals({}, {local}, 0.0);", literal::value(*v, java_lang)),
            Returned::Prim(v) => format!("{assert}.assertEquals({}, {local});", literal::value(*v, java_lang)),
            // older releases of JUnit cannot compare these
            Returned::Prims(Prim::Bool, values) => format!("{assert}.assertTrue(java.util.Arrays.equals({}, {local}));", self.array(Prim::Bool, values)?),
            Returned::Prims(prim @ Prim::Float, values) => format!("{assert}.assertArrayEquals({}, {local}, 0.0F);", self.array(*prim, values)?),
            Returned::Prims(prim @ Prim::Double, values) => format!("{assert}.assertArrayEquals({}, {local}, 0.0);", self.array(*prim, values)?),
            Returned::Prims(prim, values) => format!("{assert}.assertArrayEquals({}, {local});", self.array(*prim, values)?),
            Returned::Texts(texts) => {
                let quoted = texts.iter().map(|t| t.as_ref().map_or_else(|| Ok("null".to_string()), |t| literal::string(t)));
                let elements = quoted.collect::<Result<Vec<_>, _>>()?.join(", ");
                format!("{assert}.assertArrayEquals(new {}[] {{{elements}}}, {local});", java_lang("String"))
            }
        })
    }

    fn array(&self, prim: Prim, values: &[Value]) -> Result<String, String> {
        let element = |value: &Value| literal::assigned(*value, |name| self.names.java_lang(name));
        let elements: Vec<String> = values.iter().map(element).collect();
        Ok(format!("new {}[] {{{}}}", self.names.ty(Ty::prim(prim))?, elements.join(", ")))
    }

    /// An unchecked exception is caught by its class; any other by name, since javac refuses to catch what no call declares.
    fn expecting(&self, line: String, exception: &str, assert: &str) -> Vec<String> {
        let caught = self.unchecked(exception).and_then(|t| self.names.reference(t).ok());
        match caught {
            Some(class) => vec![
                "try {".into(),
                format!("    {line}"),
                format!("    {assert}.fail(\"expected {}\");", simple(exception)),
                format!("}} catch ({class} expected) {{"),
                "    // as it was".into(),
                "}".into(),
            ],
            None => {
                let throwable = self.names.java_lang("Throwable");
                let quoted = literal::string(exception).unwrap_or_else(|_| "\"\"".into());
                vec![
                    format!("{throwable} thrown = null;"),
                    "try {".into(),
                    format!("    {line}"),
                    format!("}} catch ({throwable} expected) {{"),
                    "    thrown = expected;".into(),
                    "}".into(),
                    format!("{assert}.assertNotNull(thrown);"),
                    format!("{assert}.assertEquals({quoted}, thrown.getClass().getName());"),
                ]
            }
        }
    }

    fn unchecked(&self, exception: &str) -> Option<TypeId> {
        let ty = self.program.find_type(exception)?;
        let root = self.program.find_type("java.lang.RuntimeException")?;
        let open = self.program.ty(ty).access == Access::Public && access::type_nameable(self.program, ty, &self.file.package);
        (open && self.program.is_subtype(ty, root)).then_some(ty)
    }
}

fn is_array(value: &Returned) -> bool {
    matches!(value, Returned::Prims(..) | Returned::Texts(_))
}

fn simple(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}
