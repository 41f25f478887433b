//! How well the engines do: "reproduces C within N evaluations for at least k of n seeds".

use rethrow_core::objective::Kind;
use rethrow_core::search::Stop;

use crate::worlds::{self, World};

const SEEDS: u64 = 20;

/// How many seeds reach the outermost frame within a number of evaluations.
fn reaching(world: &World, within: u64) -> usize {
    let runs = (1..=SEEDS).map(|seed| world.search(&mut world.session(), seed, within));
    runs.filter(|run| run.level == world.goal.outermost() && run.stop == Stop::Reproduced).count()
}

fn check(make: fn() -> World, within: u64, at_least: usize) {
    for kind in [Kind::WeightedSum, Kind::StDistance] {
        let mut world = make();
        world.kind = kind;
        let found = reaching(&world, within);
        assert!(found >= at_least, "{found} of {SEEDS} seeds within {within} evaluations by {kind:?}");
    }
}

#[test]
fn a_number_two_calls_deep_is_found() {
    check(worlds::deep_number, 6000, 16);
}

#[test]
fn equal_strings_are_found() {
    check(worlds::string_equality, 200, 19);
}

#[test]
fn an_object_prepared_by_two_setters_is_found() {
    check(worlds::object_state, 2500, 18);
}

#[test]
fn a_private_method_is_reached_through_its_caller() {
    check(worlds::private_method, 1500, 18);
}

#[test]
fn the_third_frame_of_three_is_reached() {
    check(worlds::three_frames, 2500, 18);
}

/// A known failure, kept so that a fix is noticed: lines count as reached whoever called them, so a test that calls the inner frame's method itself
/// looks as good as one that comes through the outer frame, and hides how near the latter is (BBC-3 asks for the chain of callers).
#[test]
fn fixme_a_direct_call_of_the_inner_frame_hides_the_way_through_the_outer_one() {
    let found = reaching(&worlds::open_number(), 4000);
    assert!(found < SEEDS as usize / 2, "{found} of {SEEDS}: fixed, so demand it");
}

#[test]
fn an_impossible_crash_is_not_found() {
    let text = "class A {\nnew() {\n}\nmethod m(n int) {\nif n < n {\nthrow Never # never\n}\n}\n}";
    let world = World::new(text, "Never A.m:never");
    let searched = world.search(&mut world.session(), 1, 2000);
    assert_eq!((searched.stop, searched.level), (Stop::BudgetSpent, 0));
}
