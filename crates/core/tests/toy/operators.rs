//! Every operator makes well-formed tests (P12).

use rethrow_core::rng::Rng;
use rethrow_core::search::facts::Facts;
use rethrow_core::search::genetic::init;
use rethrow_core::testcase::TestCase;
use rethrow_core::testcase::build::Policy;
use rethrow_core::testcase::portable::PortableTest;
use rethrow_core::testcase::validity;
use rethrow_core::testcase::vary::{self, CHANGES, Context, crossover, delete, insert_call, insert_write, repeat_call};

use crate::worlds::{self, World};

/// Applies every operator to a growing pool of tests and hands each result to `check`, with whether it must call the target.
fn all_outputs(world: &World, level: usize, seed: u64, rounds: usize, mut check: impl FnMut(&Context<'_, '_>, &str, bool, &TestCase)) {
    let palette = world.palette(level);
    let mut facts = Facts::default();
    let policy = Policy { field_write: 0.3, ..Policy::default() };
    let mut rng = Rng::new(seed);
    let mut pool: Vec<TestCase> = Vec::new();
    for round in 0..rounds {
        let context = Context { palette: &palette, facts: &facts, policy: &policy };
        let rng = &mut rng;
        let mut outputs: Vec<(&str, bool, Option<TestCase>)> = vec![("guided", true, init::guided(&context, rng, 12))];
        if let (Some(a), Some(b)) = (rng.pick(&pool).cloned(), rng.pick(&pool).cloned()) {
            let at = rng.below(a.len());
            let cut = a.prefix(1 + rng.below(a.len()));
            outputs.push(("from_seed", true, init::from_seed(&context, rng, &a)));
            outputs.push(("from_seed of a prefix", true, init::from_seed(&context, rng, &cut)));
            outputs.push(("append_target", true, vary::append_target(&context, rng, cut)));
            let (c, d) = crossover::apply(&context, rng, &a, &b);
            outputs.extend([("crossover", true, Some(c)), ("crossover", true, Some(d))]);
            outputs.push(("mutate", true, vary::mutate(&context, rng, &a)));
            outputs.push(("delete", false, delete::apply(&context, rng, &a, at)));
            outputs.push(("insert_call", true, insert_call::apply(&context, rng, &a, at)));
            outputs.push(("repeat_call", true, repeat_call::apply(&context, rng, &a)));
            outputs.push(("insert_write", true, insert_write::apply(&context, rng, &a, at)));
            outputs.extend(CHANGES.iter().map(|(name, _, apply)| (*name, true, apply(&context, rng, &a, at))));
        }
        let made: Vec<TestCase> = outputs
            .into_iter()
            .filter_map(|(name, guided, test)| {
                let test = test?;
                check(&context, name, guided, &test);
                (context.has_target(&test) && test.len() <= validity::MAX_STATEMENTS).then_some(test)
            })
            .collect();
        made.iter().for_each(|test| facts.learn(test, &world.execute(test)));
        pool.extend(made);
        if pool.len() > 60 {
            let keep = 20 + round % 7;
            pool.drain(..pool.len() - keep);
        }
    }
}

/// EVO-15 … EVO-20: calls with receiver and arguments, crossover, repair, mutation, change, deletion; P12.
#[test]
fn every_operator_makes_valid_tests_and_guided_ones_keep_the_target() {
    let mut counts = std::collections::BTreeMap::new();
    for (world, levels) in [(worlds::press(), 2), (worlds::object_state(), 1), (worlds::three_frames(), 3)] {
        for level in 1..=levels {
            all_outputs(&world, level, level as u64, 400, |context, name, guided, test| {
                let valid = validity::check(&world.program, &context.palette.scope, test);
                assert_eq!(valid, Ok(()), "{name} at level {level} made {test:#?}");
                assert!(!guided || context.has_target(test), "{name} at level {level} lost the target: {test:#?}");
                *counts.entry(name.to_string()).or_insert(0) += 1;
            });
        }
    }
    for name in [
        "guided",
        "from_seed",
        "crossover",
        "mutate",
        "delete",
        "insert_call",
        "insert_write",
        "repeat_call",
        "change_literal",
        "change_argument",
        "change_call",
    ] {
        assert!(counts.get(name).is_some_and(|n| *n > 100), "{name} hardly ever applied: {counts:?}");
    }
}

#[test]
fn names_instead_of_ids_give_the_same_test_back() {
    let world = worlds::press();
    all_outputs(&world, 2, 5, 100, |_, name, _, test| {
        let portable = PortableTest::of(&world.program, test);
        assert_eq!(portable.resolve(&world.program).as_ref(), Ok(test), "{name}");
    });
}

/// EVO-14: for a test of n statements the first target call is equally likely at each of its n steps, so with n uniform in 1..=max,
/// P(step s) = (1 / max) · Σ_{n ≥ s} 1/n. Compared by χ² (11 degrees of freedom, 0.1 % critical value).
#[test]
fn the_first_target_call_of_an_initial_test_is_where_the_formula_has_it() {
    const MAX: usize = 12;
    const TESTS: usize = 24_000;
    const CRITICAL: f64 = 31.26;
    let text = "class Dice {\nstatic method hit() {\nthrow Hit # hit\n}\nstatic method a() {\n}\nstatic method b() {\n}\n}";
    let world = World::new(text, "Hit Dice.hit:hit");
    let mut palette = world.palette(1);
    let hit = world.method("Dice", "hit");
    palette.members.retain(|m| *m != hit);
    let context = Context { palette: &palette, facts: &Facts::default(), policy: &Policy::default() };
    let mut rng = Rng::new(1);
    let mut counts = [0u32; MAX];
    for _ in 0..TESTS {
        let test = init::guided(&context, &mut rng, MAX).unwrap();
        let first = test.stmts.iter().position(|s| context.is_target(s)).unwrap();
        assert!(first < MAX, "a target call had to be appended");
        counts[first] += 1;
    }
    let expected = |step: usize| (step..=MAX).map(|n| 1.0 / n as f64).sum::<f64>() * TESTS as f64 / MAX as f64;
    let chi2: f64 = counts.iter().zip(1..).map(|(n, step)| (f64::from(*n) - expected(step)).powi(2) / expected(step)).sum();
    assert!(chi2 < CRITICAL, "{chi2} {counts:?} {:?}", (1..=MAX).map(expected).collect::<Vec<_>>());
}
