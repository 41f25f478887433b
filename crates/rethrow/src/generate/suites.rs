//! From kept tests to files: what is asserted, how tests are grouped and named.

use std::collections::BTreeMap;

use rethrow_core::execution::{Execution, Outcome, Returned};
use rethrow_core::program::{MethodKind, Program, TypeId};
use rethrow_core::search::grt::Generator;
use rethrow_core::search::grt::suite::{Ending, Kept, Selection};
use rethrow_core::target::SessionLost;
use rethrow_core::target::suite::{Expect, SuiteFile, SuiteTest};
use rethrow_core::testcase::{Stmt, TestCase, Var};

use crate::error::UserError;
use crate::language::Live;

/// Test methods in one file.
const MAX_TESTS: usize = 50;
/// Longer texts say little in an assertion.
const MAX_TEXT: usize = 200;
/// Exceptions that depend on the machine: no test expects them.
const MACHINE: [&str; 4] = ["java.lang.StackOverflowError", "java.lang.OutOfMemoryError", "java.lang.ThreadDeath", "java.lang.ExceptionInInitializerError"];

/// The regression suite in the making.
#[derive(Default)]
pub struct Regression {
    pub selection: Selection,
    naming: Naming,
}

impl Regression {
    /// Tests that would still have to be written to cover all that was covered.
    pub fn open(&self, generator: &Generator<'_>) -> usize {
        self.selection.clone().next(&generator.kept, usize::MAX, is_usable).len()
    }

    /// Files with up to `max` further tests, each with the assertions that held twice.
    pub fn next(
        &mut self,
        (program, generator): (&Program, &Generator<'_>),
        session: &mut dyn Live,
        max: usize,
        wanted: impl Fn(&TestCase) -> bool,
    ) -> Result<Vec<SuiteFile>, UserError> {
        let chosen = self.selection.next(&generator.kept, max, |kept| is_usable(kept) && wanted(&kept.test));
        let tests: Vec<TestCase> = chosen.iter().map(|i| generator.kept[*i].test.clone()).collect();
        let (first, second) = twice(session, tests)?;
        let mut groups: Groups = BTreeMap::new();
        for (place, index) in chosen.iter().enumerate() {
            let kept = &generator.kept[*index];
            if !same_end(&first[place], kept) || !same_end(&second[place], kept) {
                self.selection.drop(*index);
                continue;
            }
            let test = suite_test(program, generator, *index, checks(&kept.test, &first[place], &second[place]));
            groups.entry(group(program, generator, kept.subject)).or_default().push(test);
        }
        let header = [format!("Regression tests written by rethrow {}: what the classes do now.", env!("CARGO_PKG_VERSION")), String::new()];
        Ok(self.naming.files(program, groups, "RegressionTest", &header))
    }
}

/// Runs tests twice, in both orders.
fn twice(session: &mut dyn Live, mut tests: Vec<TestCase>) -> Result<(Vec<Execution>, Vec<Execution>), UserError> {
    let lost = |e: SessionLost| UserError::WorkerWillNotStart { why: e.0 };
    let first = session.inspect(&tests).map_err(lost)?;
    tests.reverse();
    let mut second = session.inspect(&tests).map_err(lost)?;
    // what there was no time for did not end, so that the others keep their places
    second.resize_with(tests.len(), || Execution::ended(Outcome::TimeLimit { at: 0 }));
    second.reverse();
    Ok((first, second))
}

fn is_usable(kept: &Kept) -> bool {
    !matches!(&kept.ending, Ending::Thrown { exception } if MACHINE.contains(&exception.as_str()))
}

/// Tests by package and class.
pub type Groups = BTreeMap<(String, String), Vec<SuiteTest>>;

pub fn group(program: &Program, generator: &Generator<'_>, subject: usize) -> (String, String) {
    (generator.package(subject).to_string(), unit(program, generator.subjects[subject].class))
}

fn suite_test(program: &Program, generator: &Generator<'_>, id: usize, checks: Vec<(Var, Returned)>) -> SuiteTest {
    let kept = &generator.kept[id];
    let expect = match &kept.ending {
        Ending::Normal => Expect::Pass,
        Ending::Thrown { exception } => Expect::Throws { exception: exception.clone() },
    };
    let name = method_name(program, generator.subjects[kept.subject].body);
    SuiteTest { id, name, test: kept.test.clone(), checks, expect, comment: Vec::new() }
}

/// Both runs must end as the first one did.
fn same_end(execution: &Execution, kept: &Kept) -> bool {
    match (&execution.outcome, &kept.ending) {
        (Outcome::Normal, Ending::Normal) => true,
        (Outcome::Thrown { at, chain }, Ending::Thrown { exception }) => {
            *at as usize + 1 == kept.test.len() && chain.first().is_some_and(|t| t.exception == *exception)
        }
        _ => false,
    }
}

/// What calls returned, as far as both runs agree and a reader can check it.
fn checks(test: &TestCase, first: &Execution, second: &Execution) -> Vec<(Var, Returned)> {
    let last = test.len().saturating_sub(1);
    let mut out = Vec::new();
    for (i, stmt) in test.stmts.iter().enumerate() {
        let (Stmt::Call { .. }, Some(Some(a)), Some(Some(b))) = (stmt, first.values.get(i), second.values.get(i)) else { continue };
        let telling = match a {
            Returned::Object => i == last,
            Returned::Text(text) => text.chars().count() <= MAX_TEXT && !names_identity(text),
            Returned::Null | Returned::Prim(_) => true,
        };
        if a == b && telling {
            out.push((Var(i as u32), a.clone()));
        }
    }
    out
}

/// `Foo@1b2c3d`, or a text that could not be read whole: neither is the same in another process.
fn names_identity(text: &str) -> bool {
    text.contains('\u{FFFD}') || text.split('@').skip(1).any(|rest| rest.chars().take_while(char::is_ascii_hexdigit).count() >= 1)
}

pub fn method_name(program: &Program, method: rethrow_core::program::MethodId) -> String {
    match program.method(method).kind {
        MethodKind::Constructor => format!("new{}", simple(program.type_name(program.method(method).owner))),
        _ => program.method_name(method).to_string(),
    }
}

fn simple(class: &str) -> String {
    class.rsplit(['.', '$']).next().unwrap_or(class).to_string()
}

/// The outermost class, whose tests share files.
fn unit(program: &Program, class: TypeId) -> String {
    let name = program.type_name(class);
    simple(name.split('$').next().unwrap_or(name))
}

/// Gives files their names: no class of the program is hidden, and no name comes twice.
#[derive(Default)]
pub struct Naming {
    used: BTreeMap<(String, String), usize>,
}

impl Naming {
    /// Splits groups into files of bounded size.
    pub fn files(&mut self, program: &Program, groups: Groups, suffix: &str, header: &[String]) -> Vec<SuiteFile> {
        let mut out = Vec::new();
        for ((package, class), tests) in groups {
            let used = self.used.entry((package.clone(), class.clone())).or_default();
            for part in tests.chunks(MAX_TESTS) {
                *used += 1;
                let number = if *used == 1 { String::new() } else { used.to_string() };
                let mut unit = format!("{}_{suffix}{number}", ascii(&class));
                while program.find_type(&format!("{package}.{unit}")).is_some() {
                    unit.push('_');
                }
                out.push(SuiteFile { package: package.clone(), unit, header: header.to_vec(), tests: part.to_vec() });
            }
        }
        out
    }
}

fn ascii(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_not_asserted() {
        for (text, named) in [("a.B@1f2e", true), ("x@y.z", false), ("Hex@1[", true), ("me@ab12", true), ("plain", false), ("\u{FFFD}", true), ("@", false)] {
            assert_eq!(names_identity(text), named, "{text}");
        }
    }
}
