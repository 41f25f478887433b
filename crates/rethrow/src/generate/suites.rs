//! From kept tests to files: what is asserted, how tests are grouped and named.

use std::collections::{BTreeMap, BTreeSet};

use rethrow_core::execution::{Execution, Outcome, Returned};
use rethrow_core::program::{MethodKind, Program, TypeId};
use rethrow_core::search::grt::Generator;
use rethrow_core::search::grt::suite::{Ending, Kept, Selection};
use rethrow_core::target::SessionLost;
use rethrow_core::target::suite::{Expect, RenderSuite, SuiteFile, SuiteKind, SuiteTest};
use rethrow_core::testcase::{Stmt, TestCase, Var};

use crate::error::UserError;
use crate::language::{Live, Suites};

/// Test methods in one file.
const MAX_TESTS: usize = 50;
/// Longer texts say little in an assertion.
const MAX_TEXT: usize = 200;

/// The regression suite in the making.
pub struct Regression<'s> {
    suites: &'s dyn Suites,
    pub selection: Selection,
    naming: Naming,
    /// Tests that did not end as before when they were run twice more.
    pub unsteady: usize,
    /// Tests that are written without assertions.
    silent: BTreeSet<usize>,
}

impl<'s> Regression<'s> {
    pub fn new(suites: &'s dyn Suites) -> Regression<'s> {
        Regression { suites, selection: Selection::default(), naming: Naming::default(), unsteady: 0, silent: BTreeSet::new() }
    }

    /// An assertion of the test held in two workers and not in a fresh process: the test is wanted again, without any.
    pub fn silence(&mut self, id: usize) {
        self.silent.insert(id);
        self.selection.release(id);
    }

    /// Tests that would still have to be written to cover all that was covered.
    pub fn open(&self, generator: &Generator<'_>) -> usize {
        self.selection.clone().next(&generator.kept, usize::MAX, |kept| self.is_usable(kept)).len()
    }

    /// Files with up to `max` further tests, each with the assertions that held twice.
    pub fn next(
        &mut self,
        (program, generator): (&Program, &Generator<'_>),
        session: &mut dyn Live,
        max: usize,
        wanted: impl Fn(&TestCase) -> bool,
    ) -> Result<Vec<SuiteFile>, UserError> {
        let mut selection = std::mem::take(&mut self.selection);
        let chosen = selection.next(&generator.kept, max, |kept| self.is_usable(kept) && wanted(&kept.test));
        self.selection = selection;
        let tests: Vec<TestCase> = chosen.iter().map(|i| generator.kept[*i].test.clone()).collect();
        let (first, second) = twice(session, tests)?;
        let mut groups: Groups = BTreeMap::new();
        for (place, index) in chosen.iter().enumerate() {
            let kept = &generator.kept[*index];
            if !same_end(&first[place], kept) || !same_end(&second[place], kept) {
                self.selection.drop(*index);
                self.unsteady += 1;
                continue;
            }
            let checks = if self.silent.contains(index) { Vec::new() } else { checks(program, &kept.test, &first[place], &second[place]) };
            let test = suite_test(program, generator, *index, checks);
            groups.entry(group(generator, kept.subject)).or_default().push(test);
        }
        let header = [format!("Regression tests written by rethrow {}: what the program does now.", env!("CARGO_PKG_VERSION")), String::new()];
        Ok(self.naming.files(program, self.suites.render(), groups, SuiteKind::Regression, &header))
    }

    fn is_usable(&self, kept: &Kept) -> bool {
        !matches!(&kept.ending, Ending::Thrown { exception } if self.suites.oracle().unsteady.contains(&exception.as_str()))
    }
}

/// Runs tests twice, in both orders.
fn twice(session: &mut dyn Live, mut tests: Vec<TestCase>) -> Result<(Vec<Execution>, Vec<Execution>), UserError> {
    let lost = |e: SessionLost| UserError::WorkerWillNotStart { why: e.0 };
    let first = one_for_each(session.inspect(&tests).map_err(lost)?, tests.len());
    tests.reverse();
    let mut second = one_for_each(session.inspect(&tests).map_err(lost)?, tests.len());
    second.reverse();
    Ok((first, second))
}

/// What there was no time for did not end, so that the others keep their places.
fn one_for_each(mut executions: Vec<Execution>, tests: usize) -> Vec<Execution> {
    executions.resize_with(tests, || Execution::ended(Outcome::TimeLimit { at: 0 }));
    executions
}

/// Tests by package and class.
pub type Groups = BTreeMap<(String, TypeId), Vec<SuiteTest>>;

pub fn group(generator: &Generator<'_>, subject: usize) -> (String, TypeId) {
    (generator.package(subject).to_string(), generator.subjects[subject].class)
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
fn checks(program: &Program, test: &TestCase, first: &Execution, second: &Execution) -> Vec<(Var, Returned)> {
    let last = test.len().saturating_sub(1);
    let mut out = Vec::new();
    for (i, stmt) in test.stmts.iter().enumerate() {
        let (Stmt::Call { method, .. }, Some(Some(a)), Some(Some(b))) = (stmt, first.values.get(i), second.values.get(i)) else { continue };
        // what is declared as an object is not compared as an array
        let array = program.signature(*method).ret.dims == 1;
        let telling = match a {
            Returned::Object => i == last,
            Returned::Text(text) | Returned::Written(text) => text.chars().count() <= MAX_TEXT && !names_identity(text),
            Returned::Null | Returned::Prim(_) => true,
            Returned::Prims(..) => array,
            Returned::Texts(texts) => array && texts.iter().flatten().all(|t| t.chars().count() <= MAX_TEXT && !names_identity(t)),
        };
        if a == b && telling {
            out.push((Var(i as u32), a.clone()));
        }
    }
    out
}

/// `Foo@1b2c3d`, `<Foo at 0x7f>`, or a text that could not be read whole: none is the same in another process.
fn names_identity(text: &str) -> bool {
    text.contains('\u{FFFD}') || text.contains(" at 0x") || text.split('@').skip(1).any(|rest| rest.chars().take_while(char::is_ascii_hexdigit).count() >= 1)
}

pub fn method_name(program: &Program, method: rethrow_core::program::MethodId) -> String {
    match program.method(method).kind {
        MethodKind::Constructor => format!("new{}", simple(program.type_name(program.method(method).owner))),
        _ => program.method_name(method).to_string(),
    }
}

pub fn simple(class: &str) -> &str {
    class.rsplit(['.', '$', ':']).next().unwrap_or(class)
}

/// Gives files their names: no class of the program is hidden, and no name comes twice.
#[derive(Default)]
pub struct Naming {
    used: BTreeMap<(String, String), usize>,
}

impl Naming {
    /// Splits groups into files of bounded size; classes whose files are called alike share them.
    pub fn files(&mut self, program: &Program, render: &dyn RenderSuite, groups: Groups, kind: SuiteKind, header: &[String]) -> Vec<SuiteFile> {
        let mut units: BTreeMap<(String, String), (TypeId, Vec<SuiteTest>)> = BTreeMap::new();
        for ((package, class), tests) in groups {
            let unit = render.unit(program, class, kind, 1);
            units.entry((package, unit)).or_insert_with(|| (class, Vec::new())).1.extend(tests);
        }
        let mut out = Vec::new();
        for ((package, first), (class, tests)) in units {
            let used = self.used.entry((package.clone(), first)).or_default();
            for part in tests.chunks(MAX_TESTS) {
                *used += 1;
                let mut unit = render.unit(program, class, kind, *used);
                while program.find_type(&format!("{package}.{unit}")).is_some() {
                    unit.push('_');
                }
                out.push(SuiteFile { package: package.clone(), unit, kind, header: header.to_vec(), tests: part.to_vec() });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_not_asserted() {
        for (text, named) in [
            ("<a.B object at 0x7f3a>", true),
            ("a.B@1f2e", true),
            ("x@y.z", false),
            ("Hex@1[", true),
            ("me@ab12", true),
            ("plain", false),
            ("\u{FFFD}", true),
            ("@", false),
        ] {
            assert_eq!(names_identity(text), named, "{text}");
        }
    }

    #[test]
    fn tests_that_there_was_no_time_for_did_not_end_as_before() {
        let kept = Kept { subject: 0, test: TestCase::default(), ending: Ending::Normal, elements: Vec::new() };
        let ran = one_for_each(vec![Execution::ended(Outcome::Normal)], 3);
        assert_eq!(ran.iter().map(|e| same_end(e, &kept)).collect::<Vec<_>>(), [true, false, false]);
    }
}
