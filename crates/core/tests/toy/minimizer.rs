//! Minimised tests: accepted, 1-minimal, stable, and never larger on the way (P17).

use rethrow_core::minimize::{Effort, arguments::weight, minimize};
use rethrow_core::program::MethodKind;
use rethrow_core::rng::Rng;
use rethrow_core::search::facts::Facts;
use rethrow_core::search::targets::{BuildRules, scope_of};
use rethrow_core::testcase::build::Policy;
use rethrow_core::testcase::vary::{Context, insert_call, insert_write};
use rethrow_core::testcase::{Stmt, TestCase, Value, Var, validity};

use crate::worlds::{self, Pieces, Unlimited, With, World};

/// A test that meets the goal at the outermost frame, with statements that it does not need.
fn padded(world: &World, seed: u64) -> Option<TestCase> {
    let level = world.goal.outermost();
    let found = world.search(&mut world.session(), seed, 5000);
    let mut test = found.test.filter(|_| found.level == level)?;
    let palette = world.palette(level);
    let context = Context { palette: &palette, facts: &Facts::default(), policy: &Policy::default() };
    let mut rng = Rng::new(seed);
    for _ in 0..30 {
        let at = rng.below(test.len());
        let insert = if rng.chance(0.2) { insert_write::apply } else { insert_call::apply };
        let longer = insert(&context, &mut rng, &test, at).filter(|t| t.len() <= validity::MAX_STATEMENTS);
        test = longer.filter(|t| world.goal.met_by(level, &world.execute(t)).is_some()).unwrap_or(test);
    }
    Some(test)
}

/// The minimised test and, in order, those that were accepted on the way.
pub fn minimized(world: &World, test: &TestCase) -> (TestCase, Vec<TestCase>) {
    let level = world.goal.outermost();
    let scope = scope_of(&world.program, &world.goal, level, &BuildRules::default());
    let mut session = Pieces::new(world.session(), 1);
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 1 };
    let (result, _) = world.evaluate(with, |evaluator| {
        evaluator.pursue(level, "test");
        assert!(evaluator.evaluate(vec![test.clone()]).is_err(), "the test meets the goal");
        let effort = Effort { executions: 10_000, out_of_time: &|| false };
        minimize(evaluator, &world.program, level, test, effort).unwrap()
    });
    assert_eq!(validity::check(&world.program, &scope, &result), Ok(()));
    let accepted = session.executed.iter().filter(|t| meets(world, t)).cloned().collect();
    (result, accepted)
}

fn meets(world: &World, test: &TestCase) -> bool {
    world.goal.met_by(world.goal.outermost(), &world.execute(test)).is_some()
}

/// Each of the tests that follow from removing one statement and what depends on it.
fn smaller_by_one(test: &TestCase) -> impl Iterator<Item = TestCase> + '_ {
    (0..test.len()).map(|at| {
        let mut remove: Vec<bool> = (0..test.len()).map(|i| i == at).collect();
        test.close_over_users(&mut remove);
        test.without(&remove)
    })
}

fn worlds() -> [World; 6] {
    [worlds::press(), worlds::deep_number(), worlds::string_equality(), worlds::object_state(), worlds::private_method(), worlds::three_frames()]
}

/// EVO-21; P17.
#[test]
fn a_minimised_test_is_accepted_one_minimal_and_stable() {
    let mut checked = 0;
    for world in worlds() {
        for test in (1..=6).filter_map(|seed| padded(&world, seed)) {
            let (small, accepted) = minimized(&world, &test);
            assert!(meets(&world, &small), "{small:#?}");
            assert!(smaller_by_one(&small).all(|t| !meets(&world, &t)), "not minimal: {small:#?}");
            assert_eq!(minimized(&world, &small).0, small, "not stable");
            let weights: Vec<_> = accepted.iter().map(weight).collect();
            assert!(weights.windows(2).all(|w| w[0] >= w[1]), "{weights:?}");
            assert!(weight(&small) <= weight(&test));
            checked += 1;
        }
    }
    assert!(checked >= 24, "only {checked} tests to minimise");
}

#[test]
fn known_crashes_shrink_to_what_they_need() {
    for (world, statements) in [(worlds::deep_number(), 4), (worlds::string_equality(), 6), (worlds::private_method(), 7)] {
        let small = (1..=8).filter_map(|seed| padded(&world, seed)).map(|test| minimized(&world, &test).0);
        let longest = small.max_by_key(TestCase::len).unwrap();
        assert!(longest.len() <= statements, "{longest:#?}");
    }
}

#[test]
fn an_object_is_made_without_arguments_where_that_is_enough() {
    let world = World::new(
        "class Lamp {\nfield watts int\nnew() {\n}\nnew(watts int) {\nthis.watts = watts\n}\nmethod light(on int) {\nif on > 5 {\nthrow Blown # blown\n}\n}\n}",
        "Blown Lamp.light:blown",
    );
    let lamp = world.program.find_type("Lamp").unwrap();
    let constructor = |params: usize| {
        world.program.methods_of(lamp).find(|m| world.program.method(*m).kind == MethodKind::Constructor && world.program.signature(*m).params.len() == params)
    };
    let with_watts = constructor(1).unwrap();
    let stmts = vec![
        Stmt::Lit(Value::Int(60)),
        Stmt::New { ctor: with_watts, args: vec![Var(0)] },
        Stmt::Lit(Value::Int(6)),
        Stmt::Call { method: world.method("Lamp", "light"), recv: Some(Var(1)), args: vec![Var(2)] },
    ];
    let (small, _) = minimized(&world, &TestCase { stmts });
    assert!(small.stmts.contains(&Stmt::New { ctor: constructor(0).unwrap(), args: Vec::new() }), "{small:#?}");
    assert_eq!(small.len(), 3);
}

#[test]
fn out_of_executions_the_test_stays_as_it_is() {
    let world = worlds::deep_number();
    let test = (1..=9).find_map(|seed| padded(&world, seed)).unwrap();
    let mut session = world.session();
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 1 };
    let (result, _) = world.evaluate(with, |evaluator| {
        evaluator.pursue(world.goal.outermost(), "test");
        assert!(evaluator.evaluate(vec![test.clone()]).is_err());
        minimize(evaluator, &world.program, world.goal.outermost(), &test, Effort { executions: 0, out_of_time: &|| false })
    });
    assert_eq!(result, Ok(test));
}
