//! The error suite: one failing test for each distinct defect, as small as it gets, with the reason why it counts as one.
//!
//! Whether an exception is a defect is `oracle`'s say; what stays is what fresh processes confirm.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rethrow_core::execution::{Execution, Outcome, Returned};
use rethrow_core::goal;
use rethrow_core::minimize::{Effort, minimize};
use rethrow_core::objective::{Kind, Objective, Settings};
use rethrow_core::probe::ProbePlan;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::search::grt::contract::{Contract, RootMethods};
use rethrow_core::search::grt::oracle::{Judgement, judge};
use rethrow_core::search::grt::{Crash, Generator, TRIAGE_FRAMES};
use rethrow_core::search::{Evaluator, Limits, Setup};
use rethrow_core::target::suite::{Expect, SuiteFile, SuiteKind, SuiteTest};
use rethrow_core::testcase::{TestCase, Var};
use rethrow_core::trace::{Frame, Throwable, Trace};

use super::suites::{Groups, Naming, group, method_name, simple};
use crate::error::UserError;
use crate::language::{Live, Suites};

/// Defects told of at most.
const MAX_DEFECTS: usize = 60;
const MINIMIZE_EXECUTIONS: u32 = 200;
/// Objects of one type that contracts are checked on.
const OBJECTS: usize = 3;
const MAX_CONTRACT_TESTS: usize = 3_000;
/// Their numbers must not meet those of regression tests.
const FIRST_ID: usize = usize::MAX / 2;

/// What looking for defects needs.
pub struct Search<'a, 'p> {
    pub program: &'p Program,
    pub plan: &'p ProbePlan,
    pub suites: &'a dyn Suites,
    pub generator: &'a Generator<'p>,
    pub types: &'a [TypeId],
    pub until: Instant,
}

/// A defect and the test that shows it.
struct Finding {
    subject: usize,
    name: String,
    test: TestCase,
    checks: Vec<(Var, Returned)>,
    expect: Expect,
    comment: Vec<String>,
}

impl Search<'_, '_> {
    /// The files of the error suite.
    pub fn files(&self, session: &mut dyn Live) -> Result<Vec<SuiteFile>, UserError> {
        let mut findings = self.crashes(session);
        findings.extend(self.contracts(session)?);
        findings.truncate(MAX_DEFECTS);
        let mut groups: Groups = BTreeMap::new();
        for (n, f) in findings.into_iter().enumerate() {
            let test = SuiteTest { id: FIRST_ID + n, name: f.name, test: f.test, checks: f.checks, expect: f.expect, comment: f.comment };
            groups.entry(group(self.generator, f.subject)).or_default().push(test);
        }
        let header = [format!("Failing tests written by rethrow {}: each shows what looks like a defect.", env!("CARGO_PKG_VERSION")), String::new()];
        Ok(Naming::default().files(self.program, self.suites.render(), groups, SuiteKind::Error, &header))
    }

    /// One finding for each exception and innermost program frame (GRT-18).
    fn crashes(&self, session: &mut dyn Live) -> Vec<Finding> {
        let mut by_place: BTreeMap<String, &Crash> = BTreeMap::new();
        for crash in &self.generator.crashes {
            if let Judgement::Defect(_) = judge(self.program, self.suites.oracle(), &crash.test, &crash.chain, &[]) {
                let best = by_place.entry(place(&crash.chain)).or_insert(crash);
                if crash.test.len() < best.test.len() {
                    *best = crash;
                }
            }
        }
        let mut crashes: Vec<&Crash> = by_place.into_values().collect();
        crashes.sort_by_key(|c| (c.test.len(), c.subject));
        crashes.truncate(MAX_DEFECTS);
        crashes.into_iter().filter_map(|crash| self.finding(crash, session)).collect()
    }

    fn finding(&self, crash: &Crash, session: &mut dyn Live) -> Option<Finding> {
        let small = self.minimized(crash, session);
        // what became smaller by passing null is no defect any more, nor what handed a null on
        let mut reason = |test: &TestCase| {
            let execution = session.inspect(std::slice::from_ref(test)).ok()?.pop()?;
            match judge(self.program, self.suites.oracle(), test, &crash.chain, &execution.values) {
                Judgement::Defect(reason) if execution.thrown().is_some() => Some(reason),
                _ => None,
            }
        };
        let (test, reason) = match reason(&small) {
            Some(reason) => (small, reason),
            None => (crash.test.clone(), reason(&crash.test)?),
        };
        let thrown = crash.chain.first()?;
        let mut comment = vec![format!("Defect: {reason}.")];
        comment.extend(
            thrown
                .frames
                .iter()
                .filter(|f| !f.platform)
                .take(TRIAGE_FRAMES)
                .map(|f| format!("    at {}.{}({}:{})", f.class, f.method, file_name(f), f.line.unwrap_or(0))),
        );
        let name = method_name(self.program, self.generator.subjects[crash.subject].body);
        let expect = Expect::Fails { exception: thrown.exception.clone() };
        Some(Finding { subject: crash.subject, name, test, checks: Vec::new(), expect, comment })
    }

    fn minimized(&self, crash: &Crash, session: &mut dyn Live) -> TestCase {
        let out_of_time = || Instant::now() >= self.until;
        let trace = Trace { thrown: crash.chain[0].clone(), causes: crash.chain[1..].to_vec(), truncated: false };
        let Ok(goal) = goal::resolve(&trace, self.program) else { return crash.test.clone() };
        if out_of_time() {
            return crash.test.clone();
        }
        let objective = Objective::new(Settings { obstacles: false, ..Kind::StDistance.into() }, self.program, self.plan, &goal);
        let level = goal.outermost().clamp(1, TRIAGE_FRAMES);
        let setup = Setup { session, goal: &goal, objective, limits: &Unlimited, max_evaluations: u64::MAX, events: &mut |_| {} };
        let mut evaluator = Evaluator::new(setup);
        let effort = Effort { executions: MINIMIZE_EXECUTIONS, out_of_time: &out_of_time };
        minimize(&mut evaluator, self.program, level, &crash.test, effort).unwrap_or_else(|_| crash.test.clone())
    }

    /// Contracts of `Object` and of order, on a few objects of each type under test.
    fn contracts(&self, session: &mut dyn Live) -> Result<Vec<Finding>, UserError> {
        let Some(root) = RootMethods::find(self.program, self.suites.oracle().order) else { return Ok(Vec::new()) };
        let mut asked: Vec<(TypeId, Contract, TestCase)> = Vec::new();
        for ty in self.generator.pool.types().iter().filter(|t| self.types.contains(t)) {
            let objects = self.generator.pool.of_exact(*ty, OBJECTS);
            for contract in root.contracts(self.program, *ty) {
                for (i, (made, var)) in objects.iter().enumerate() {
                    // two made in the same way are the likeliest to be equal
                    let others = if contract.is_of_two() { &objects[i..] } else { &objects[i..=i] };
                    asked.extend(others.iter().map(|(other, at)| (*ty, contract, root.test(contract, (made, *var), (other, *at)))));
                }
            }
        }
        asked.truncate(MAX_CONTRACT_TESTS);
        let tests: Vec<TestCase> = asked.iter().map(|(_, _, test)| test.clone()).collect();
        let executions = session.inspect(&tests).map_err(|e| UserError::WorkerWillNotStart { why: e.0 })?;
        let mut told: Vec<(TypeId, Contract)> = Vec::new();
        let mut out = Vec::new();
        for ((ty, contract, test), execution) in asked.into_iter().zip(&executions) {
            if told.contains(&(ty, contract)) {
                continue;
            }
            if let Some(finding) = self.broken(ty, contract, test, execution) {
                told.push((ty, contract));
                out.push(finding);
            }
        }
        Ok(out)
    }

    fn broken(&self, ty: TypeId, contract: Contract, test: TestCase, execution: &Execution) -> Option<Finding> {
        let (expect, checks, reason) = match &execution.outcome {
            Outcome::Thrown { at, chain } if *at as usize + 1 == test.len() && !contract.is_of_two() => {
                let Judgement::Defect(why) = judge(self.program, self.suites.oracle(), &test, chain, &execution.values) else { return None };
                (Expect::Fails { exception: chain.first()?.exception.clone() }, Vec::new(), why)
            }
            Outcome::Normal => {
                let (expect, checks) = contract.broken(&execution.values)?;
                (expect, checks, contract.reason().to_string())
            }
            _ => return None,
        };
        let subject = self.generator.subjects.iter().position(|s| s.class == ty)?;
        let class = simple(self.program.type_name(ty));
        Some(Finding { subject, name: format!("contract{class}"), test, checks, expect, comment: vec![format!("Defect: {reason}.")] })
    }
}

struct Unlimited;

impl Limits for Unlimited {
    fn time_is_up(&self) -> bool {
        false
    }
    fn cancelled(&self) -> bool {
        false
    }
}

/// Where the program lies on this machine is of no interest.
fn file_name(frame: &Frame) -> &str {
    let file = frame.file.as_deref().unwrap_or("?");
    file.rsplit('/').next().unwrap_or(file)
}

/// The exception and its innermost program frame.
fn place(chain: &[Throwable]) -> String {
    let thrown = &chain[0];
    let frame = thrown.frames.iter().find(|f| !f.platform).map(|f| format!("{}.{}:{:?}", f.class, f.method, f.line));
    format!("{} {}", thrown.exception, frame.unwrap_or_default())
}

/// How long looking for defects may take, of what is left.
pub fn share(left: Duration) -> Duration {
    left.mul_f64(0.15)
}
