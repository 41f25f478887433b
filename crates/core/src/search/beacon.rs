//! Beacon (BCN-2 … BCN-7), but for two rules (below): sequences of calls of a module's functions with arguments that know no types, evolved by [`crate::genyal`].
//!
//! Functions only, and only those with code: methods, classes and built-in functions are what the other engine is for (BCN-11). A statement is one gene;
//! an argument is a random number or text, or the result of an earlier statement. Where there is none yet, a value takes its place, so that a mistake of
//! the harness is never taken for an exception of the program (BCN-11). The objective has to be [`crate::objective::Kind::Beacon`].
//!
//! *Not in the paper:* optional parameters are mostly left to their defaults; and a child that begins with statements which are known to end in an
//! exception gets new ones, because running them again shows nothing new. (The inverted mutation of Genyal, which replaced 99 % of a child's statements,
//! is what kept the original from running the same ones over and over.)

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use super::{Evaluator, Scored, Stop};
use crate::genyal::Genyal;
use crate::goal::CrashGoal;
use crate::objective::hunting::FULL;
use crate::program::{Flags, MethodId, MethodKind, Program, Taking};
use crate::rng::Rng;
use crate::testcase::{Data, Stmt, TestCase, Var};

/// What random values look like; one entry for each type (BCN-2).
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Whole numbers from the first to the last.
    Int(i64, i64),
    /// Texts of these characters, with so many of them at least and at most.
    Text { characters: String, min: usize, max: usize },
    /// One of these values: how a user adds a type.
    OneOf(Vec<Data>),
}

/// The paper's parameters (BCN-6, BCN-9).
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub population: usize,
    /// Statements of an individual.
    pub genes: usize,
    pub generations: usize,
    /// The probability with which a statement of a child is replaced.
    pub mutation: f64,
    /// Individuals in a tournament.
    pub matches: usize,
    pub inputs: Vec<Input>,
}

/// Chance that an argument is the result of an earlier statement: one kind of value beside those of the input factory.
const EARLIER: f64 = 1.0 / 3.0;
/// Chance that an optional parameter is left to its default.
const LEAVE_OUT: f64 = 0.8;
/// The printable characters of ASCII, as Python lists them.
const PRINTABLE: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\x0b\x0c";

impl Default for Settings {
    fn default() -> Self {
        let inputs = vec![Input::Int(-i64::MAX, i64::MAX), Input::Text { characters: PRINTABLE.into(), min: 0, max: 50 }];
        Settings { population: 64, genes: 8, generations: 500, mutation: 0.01, matches: 5, inputs }
    }
}

/// A statement: a function and its arguments (BCN-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gene {
    method: MethodId,
    args: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Argument {
    Value(Data),
    /// The result of an earlier statement, by a number that is taken modulo how many there are; the value if there is none.
    Earlier(usize, Data),
}

/// The functions that a module has for Beacon: its own, not those of its classes; with code, and to be called by name.
pub fn functions(program: &Program, goal: &CrashGoal) -> Vec<MethodId> {
    let callable = |m: &MethodId| {
        let def = program.method(*m);
        def.kind == MethodKind::Static && !def.flags.has(Flags::SYNTHETIC) && program.body(*m).is_some()
    };
    program.methods_of(goal.frame(1).class).filter(callable).collect()
}

/// A random statement.
pub fn gene(program: &Program, functions: &[MethodId], inputs: &[Input], rng: &mut Rng) -> Gene {
    let method = functions[rng.below(functions.len())];
    let parameters = program.parameters(method);
    let argument = |i: usize, rng: &mut Rng| {
        let known = parameters.get(i);
        let rest = known.is_some_and(|p| matches!(p.taking, Taking::Rest | Taking::RestNamed));
        if rest || known.is_some_and(|p| p.optional) && rng.chance(LEAVE_OUT) {
            return Argument::Value(Data::Absent);
        }
        let value = value(inputs, rng);
        if rng.chance(EARLIER) { Argument::Earlier(rng.below(usize::from(u16::MAX)), value) } else { Argument::Value(value) }
    };
    let args = (0..program.signature(method).params.len()).map(|i| argument(i, rng)).collect();
    Gene { method, args }
}

fn value(inputs: &[Input], rng: &mut Rng) -> Data {
    match rng.pick(inputs) {
        None => Data::None,
        Some(Input::Int(low, high)) => Data::Int(i128::from(rng.between(*low, *high))),
        Some(Input::Text { characters, min, max }) => {
            let characters: Vec<char> = characters.chars().collect();
            let len = min + rng.below(max - min + 1);
            Data::Str((0..len).filter_map(|_| rng.pick(&characters)).collect())
        }
        Some(Input::OneOf(values)) => rng.pick(values).cloned().unwrap_or(Data::None),
    }
}

/// The statements in order, as a test.
pub fn test_of(genes: &[Gene]) -> TestCase {
    let mut test = TestCase::default();
    let mut results: Vec<Var> = Vec::new();
    for gene in genes {
        let args = gene.args.iter().map(|argument| match argument {
            Argument::Earlier(which, _) if !results.is_empty() => results[which % results.len()],
            Argument::Earlier(_, data) | Argument::Value(data) => test.push(Stmt::Data(data.clone())),
        });
        let args = args.collect();
        results.push(test.push(Stmt::Call { method: gene.method, recv: None, args }));
    }
    test
}

/// Evolves until the goal is met, the generations are over or something stops it.
pub fn run(evaluator: &mut Evaluator<'_>, program: &Program, settings: &Settings, seed: u64) -> Stop {
    let functions = functions(program, evaluator.goal);
    if functions.is_empty() {
        return Stop::BudgetSpent;
    }
    evaluator.pursue(1, "beacon");
    let stop: RefCell<Option<Stop>> = RefCell::new(None);
    evaluator.remember_ends();
    let seen: RefCell<Seen> = RefCell::new(Seen::default());
    let state = {
        let make = |rng: &mut Rng| gene(program, &functions, &settings.inputs, rng);
        let rate = |all: &[Vec<Gene>]| match evaluator.evaluate(all.iter().map(|genes| test_of(genes)).collect()) {
            Ok(scored) => {
                all.iter().for_each(|genes| seen.borrow_mut().add(genes, evaluator.end_of(&test_of(genes))));
                fitness(all, &scored)
            }
            Err(why) => {
                *stop.borrow_mut() = Some(why);
                Vec::new()
            }
        };
        let over = |_: &crate::genyal::State<Gene>| stop.borrow().is_some();
        let engine = Genyal::in_batches(make, rate).population(settings.population).genes(settings.genes).matches(settings.matches);
        let engine = engine.mutation(settings.mutation).elite(0).generations(settings.generations);
        engine.known(|genes| seen.borrow().knows(genes)).until(over).run(seed)
    };
    evaluator.tally.generations += state.generation as u64;
    stop.into_inner().unwrap_or(Stop::BudgetSpent)
}

/// The beginnings of individuals whose outcome is known: up to the statement that threw, or all of one that did not.
#[derive(Default)]
struct Seen(FxHashSet<Vec<Gene>>);

impl Seen {
    /// `end` is the number of the test's statement that threw.
    fn add(&mut self, genes: &[Gene], end: Option<u32>) {
        let test = test_of(genes);
        let calls = |end: u32| test.stmts.iter().take(end as usize + 1).filter(|s| matches!(s, Stmt::Call { .. })).count();
        self.0.insert(genes[..end.map_or(genes.len(), calls)].to_vec());
    }

    fn knows(&self, genes: &[Gene]) -> bool {
        (1..=genes.len()).any(|n| self.0.contains(&genes[..n]))
    }
}

/// F of each individual; 0 of those that the budget left out.
fn fitness(all: &[Vec<Gene>], scored: &[Scored]) -> Vec<f64> {
    let mut rest = scored.iter();
    let of = |genes: &Vec<Gene>| {
        let test = test_of(genes);
        let next = rest.clone().position(|s| s.test == test)?;
        rest.nth(next).map(|s| FULL - s.score.value)
    };
    all.iter().map(of).map(|f| f.unwrap_or(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gene_of(method: u32, args: Vec<Argument>) -> Gene {
        Gene { method: MethodId(method), args }
    }

    /// BCN-2, BCN-9: the published numbers and the input factory's own types.
    #[test]
    fn bcn_2_bcn_9_the_published_parameters_are_the_defaults() {
        let s = Settings::default();
        assert_eq!((s.population, s.genes, s.generations, s.mutation, s.matches), (64, 8, 500, 0.01, 5));
        assert_eq!(s.inputs[0], Input::Int(-i64::MAX, i64::MAX));
        assert!(matches!(&s.inputs[1], Input::Text { characters, min: 0, max: 50 } if characters.len() == 100));
        let mut rng = Rng::new(1);
        let values: Vec<Data> = (0..200).map(|_| value(&s.inputs, &mut rng)).collect();
        assert!(values.iter().all(|v| matches!(v, Data::Int(_)) || matches!(v, Data::Str(t) if t.chars().count() <= 50)));
        assert!(values.iter().any(|v| matches!(v, Data::Int(_))) && values.iter().any(|v| matches!(v, Data::Str(_))));
        let own = [Input::OneOf(vec![Data::None])];
        assert_eq!(value(&own, &mut rng), Data::None);
    }

    #[test]
    fn what_follows_a_known_exception_is_known() {
        let gene = |n| gene_of(n, vec![Argument::Value(Data::Int(1))]);
        let mut seen = Seen::default();
        // two statements for each gene: the second call is statement 3
        seen.add(&[gene(1), gene(2), gene(3)], Some(3));
        assert!(seen.knows(&[gene(1), gene(2), gene(9)]) && !seen.knows(&[gene(1), gene(9), gene(3)]));
        seen.add(&[gene(1), gene(4)], None);
        assert!(seen.knows(&[gene(1), gene(4)]) && !seen.knows(&[gene(4), gene(1)]));
    }

    /// BCN-3, BCN-11: an argument is a value or an earlier result; where there is no earlier one, a value takes its place.
    #[test]
    fn bcn_3_bcn_11_an_earlier_result_that_is_not_there_is_no_mistake_of_the_harness() {
        let earlier = || Argument::Earlier(7, Data::Int(5));
        let test = test_of(&[gene_of(1, vec![earlier()]), gene_of(2, vec![earlier(), Argument::Value(Data::text("x"))])]);
        let first = Stmt::Call { method: MethodId(1), recv: None, args: vec![Var(0)] };
        let second = Stmt::Call { method: MethodId(2), recv: None, args: vec![Var(1), Var(2)] };
        assert_eq!(test.stmts, [Stmt::Data(Data::Int(5)), first, Stmt::Data(Data::text("x")), second]);
    }
}
