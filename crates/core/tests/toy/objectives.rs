//! Fitness values: range, gating, zero if and only if the goal is met, monotonicity (P13).

use rethrow_core::execution::{BranchSeen, Execution, Outcome};
use rethrow_core::objective::line_distance::{branch_distance, negated};
use rethrow_core::objective::{Kind, Score};
use rethrow_core::program::ir::Relation;
use rethrow_core::rng::Rng;
use rethrow_core::search::facts::Facts;
use rethrow_core::search::genetic::init;
use rethrow_core::testcase::build::Policy;
use rethrow_core::testcase::vary::Context;
use rethrow_core::trace::{Frame, Throwable};

use crate::worlds::{self, World};

fn thrown(exception: &str, frames: Vec<Frame>) -> Outcome {
    Outcome::Thrown { at: 0, chain: [Throwable { exception: exception.into(), frames, ..Throwable::default() }].into() }
}

/// Whatever an execution may show: any probes, any distances, a crash made of pieces of the wanted one.
fn any_execution(world: &World, rng: &mut Rng) -> Execution {
    let hit = rng.unit();
    let wanted = world.goal.wanted(world.goal.outermost());
    let frames = wanted.frames[..rng.below(wanted.frames.len() + 1)].iter().map(|frame| {
        let line = frame.line.map(|l| if rng.chance(0.3) { l + rng.below(4) as u32 } else { l });
        let method = if rng.chance(0.1) { "other".to_string() } else { frame.method.clone() };
        let class = if rng.chance(0.1) { "Other".to_string() } else { frame.class.clone() };
        Frame { line, method, class, ..frame.clone() }
    });
    let frames = frames.collect();
    let outcome = match rng.below(4) {
        0 => Outcome::Normal,
        1 => thrown("Else", frames),
        _ => thrown(wanted.exception, frames),
    };
    let mut execution = Execution::ended(outcome);
    execution.hits = (0..world.plan.points).filter(|_| rng.chance(hit)).collect();
    for branch in (0..world.plan.branches).filter(|_| rng.chance(hit)).collect::<Vec<_>>() {
        let side = |rng: &mut Rng| if rng.chance(0.5) { f64::INFINITY } else { rng.below(1 << 40) as f64 + 1.0 };
        execution.branches.push(BranchSeen { branch, above: side(rng), below: side(rng), equal: rng.chance(0.3), hint: side(rng) });
    }
    execution
}

/// Executions made up and real ones, with their score at each level.
fn scores(kind: Kind, mut check: impl FnMut(&World, usize, &Execution, Score)) {
    for world in [worlds::press(), worlds::deep_number(), worlds::three_frames(), worlds::string_equality()] {
        let objective = world.objective(kind);
        let mut rng = Rng::new(11);
        for i in 0..1200 {
            let level = 1 + i % world.goal.outermost();
            let execution = if i < 1000 { any_execution(&world, &mut rng) } else { real_execution(&world, level, &mut rng) };
            let score = objective.score(&world.goal, level, &execution);
            check(&world, level, &execution, score);
        }
    }
}

fn real_execution(world: &World, level: usize, rng: &mut Rng) -> Execution {
    let palette = world.palette(level);
    let context = Context { palette: &palette, facts: &Facts::default(), policy: &Policy::default() };
    world.execute(&init::guided(&context, rng, 12).unwrap())
}

fn throws_wanted(world: &World, execution: &Execution) -> bool {
    execution.thrown().is_some_and(|(_, chain)| chain.iter().any(|t| t.exception == world.goal.exception))
}

#[test]
fn the_value_is_zero_if_and_only_if_the_goal_is_met() {
    for kind in [Kind::WeightedSum, Kind::StDistance] {
        let mut met = 0;
        scores(kind, |world, level, execution, score| {
            assert_eq!(score.met, world.goal.met_by(level, execution).is_some());
            assert_eq!(score.value == 0.0, score.met, "{execution:?}");
            met += usize::from(score.met);
        });
        assert!(met > 0, "no execution met the goal");
    }
}

#[test]
fn a_weighted_sum_counts_each_term_only_when_the_one_before_is_zero() {
    let mut cases = [0; 3];
    scores(Kind::WeightedSum, |world, level, execution, score| {
        let line = world.objective(Kind::WeightedSum).line(level).distance(execution);
        let value = score.value;
        assert!((0.0..=6.0).contains(&value) && (0.0..=1.0).contains(&line));
        let case = match (score.met, line > 0.0, throws_wanted(world, execution)) {
            (true, _, _) => return,
            (false, true, _) => {
                assert!((value - (3.0 * line + 3.0)).abs() < 1e-12);
                0
            }
            (false, false, false) => {
                assert_eq!(value, 3.0);
                1
            }
            (false, false, true) => {
                assert!(value < 1.0);
                2
            }
        };
        cases[case] += 1;
    });
    assert!(cases.iter().all(|n| *n > 20), "{cases:?}");
}

#[test]
fn an_st_distance_loses_at_most_one_for_each_frame_and_two_for_the_crash() {
    scores(Kind::StDistance, |world, level, execution, score| {
        let objective = world.objective(Kind::StDistance);
        assert!((0.0..=level as f64 + 2.0).contains(&score.value));
        let open = (1..=level).rev().find(|l| objective.line(*l).distance(execution) > 0.0);
        match open {
            _ if score.met => {}
            Some(frame) => assert!(score.value > frame as f64 + 1.0 && score.value <= frame as f64 + 2.0),
            None if throws_wanted(world, execution) => assert!(score.value < 1.0),
            None => assert_eq!(score.value, 2.0),
        }
    });
}

#[test]
fn the_value_grows_with_the_difference_of_lines() {
    let world = worlds::press();
    let wanted = world.goal.wanted(2);
    for kind in [Kind::WeightedSum, Kind::StDistance] {
        let objective = world.objective(kind);
        for changed in 0..2 {
            let values: Vec<f64> = (0..30)
                .map(|off| {
                    let mut frames = wanted.frames.to_vec();
                    frames[changed].line = frames[changed].line.map(|l| l + off);
                    let mut execution = Execution::ended(thrown(wanted.exception, frames));
                    execution.hits = (0..world.plan.points).collect();
                    objective.score(&world.goal, 2, &execution).value
                })
                .collect();
            assert_eq!(values[0], 0.0);
            assert!(values.windows(2).all(|w| w[0] < w[1]), "{values:?}");
        }
    }
}

const RELATIONS: [Relation; 6] = [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Ge, Relation::Gt, Relation::Le];

fn holds(relation: Relation, d: i32) -> bool {
    match relation {
        Relation::Eq => d == 0,
        Relation::Ne => d != 0,
        Relation::Lt => d < 0,
        Relation::Ge => d >= 0,
        Relation::Gt => d > 0,
        Relation::Le => d <= 0,
    }
}

fn seen(differences: &[i32]) -> BranchSeen {
    let nearest = |keep: fn(&i32) -> bool| differences.iter().filter(|d| keep(d)).map(|d| f64::from(d.abs())).fold(f64::INFINITY, f64::min);
    BranchSeen { branch: 0, above: nearest(|d| *d > 0), below: nearest(|d| *d < 0), equal: differences.contains(&0), hint: f64::INFINITY }
}

#[test]
fn the_distance_of_a_branch_is_the_smallest_change_that_makes_its_relation_hold() {
    for relation in RELATIONS {
        for d in -9..=9 {
            let expected = (0..).find(|change| holds(relation, d + change) || holds(relation, d - change)).unwrap();
            assert_eq!(branch_distance(&seen(&[d]), relation), f64::from(expected), "{d} {relation:?}");
        }
    }
}

#[test]
fn of_several_differences_the_nearest_counts() {
    let mut rng = Rng::new(2);
    for relation in RELATIONS {
        for _ in 0..300 {
            let many: Vec<i32> = (0..1 + rng.below(4)).map(|_| rng.between(-6, 6) as i32).collect();
            let nearest = many.iter().map(|d| branch_distance(&seen(&[*d]), relation)).fold(f64::INFINITY, f64::min);
            assert_eq!(branch_distance(&seen(&many), relation), nearest, "{many:?} {relation:?}");
            assert_eq!(nearest == 0.0, many.iter().any(|d| holds(relation, *d)));
        }
    }
}

#[test]
fn a_false_predicate_is_as_far_from_true_as_its_hint_says() {
    let hinted = BranchSeen { hint: 4.0, ..seen(&[0]) };
    for (relation, distance) in [(Relation::Ne, 4.0), (Relation::Gt, 4.0), (Relation::Eq, 0.0), (Relation::Le, 0.0)] {
        assert_eq!(branch_distance(&hinted, relation), distance, "{relation:?}");
    }
    assert_eq!(branch_distance(&BranchSeen { hint: 4.0, ..seen(&[0, 1]) }, Relation::Ne), 0.0);
}

#[test]
fn one_of_a_relation_and_its_negation_holds() {
    for relation in RELATIONS {
        assert!((-3..=3).all(|d| holds(relation, d) != holds(negated(relation), d)));
        assert_eq!(negated(negated(relation)), relation);
    }
}
