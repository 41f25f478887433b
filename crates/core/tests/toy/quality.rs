//! How well the engines do: "reproduces C within N evaluations for at least k of n seeds".

use rethrow_core::objective::{Kind, Secondary};
use rethrow_core::search::Stop;
use rethrow_core::search::presets::Preset;

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
        world.settings = kind.into();
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

/// EVO-13.
#[test]
fn a_private_method_is_reached_through_its_caller() {
    check(worlds::private_method, 1500, 18);
}

/// BBC-11: all frames of a crash are tried.
#[test]
fn the_third_frame_of_three_is_reached() {
    check(worlds::three_frames, 2500, 18);
}

/// BBC-3: lines count only with the chain of callers, so a test that calls the inner frame's method itself does not look as good as one that comes
/// through the outer frame, whether callers are observed or only the thrown stack tells.
#[test]
fn bbc_3_a_direct_call_of_the_inner_frame_does_not_hide_the_way_through_the_outer_one() {
    for world in [worlds::open_number(), worlds::open_number().without_callers()] {
        let found = reaching(&world, 6000);
        assert!(found >= 18, "{found} of {SEEDS}");
    }
}

/// §5.13: steps of all sizes are tried on the literals of the best test while nothing else improves.
#[test]
fn hill_climbing_finds_a_number_sooner_than_chance() {
    let with = |climb| {
        let mut world = worlds::deep_number();
        world.schedule.parameters.climb = climb;
        reaching(&world, 2000)
    };
    let [none, quarter] = [0.0, 0.25].map(with);
    assert!(quarter >= 18 && none + 5 <= quarter, "{none} without and {quarter} with climbing, of {SEEDS}");
}

/// BBC-4, BBC-8: without a branch there is no gradient but the blocks and instructions reached.
#[test]
fn bbc_8_a_branchless_method_is_crashed_on_its_last_line() {
    let within = 4000;
    let with = |secondary| {
        let mut world = worlds::branchless();
        world.settings.secondary = secondary;
        world.schedule.parameters.discoveries = 0.0;
        reaching(&world, within)
    };
    let [none, bbc, lattice] = [Secondary::None, Secondary::Bbc, Secondary::Lattice].map(with);
    assert!(bbc >= 18 && lattice >= 18, "none {none}, bbc {bbc}, lattice {lattice} of {SEEDS}");
    assert!(none < bbc.min(lattice), "none {none}, bbc {bbc}, lattice {lattice} of {SEEDS}");
}

/// Where no distance tells the way, parents that did something new do.
#[test]
fn discoveries_lead_where_no_distance_does() {
    let with = |discoveries| {
        let mut world = worlds::branchless();
        world.settings.secondary = Secondary::None;
        world.schedule.parameters.discoveries = discoveries;
        reaching(&world, 6000)
    };
    let (off, on) = (with(0.0), with(0.3));
    assert!(on >= 16 && 2 * off < on, "{off} without, {on} with, of {SEEDS}");
}

/// EVO-11, EVO-12, EVO-22, EVO-23, BBC-12: the published configurations reproduce what they should.
#[test]
fn the_presets_search() {
    for preset in [Preset::EvoCrash, Preset::Botsing, Preset::Default] {
        for (make, within) in [(worlds::object_state as fn() -> World, 10_000), (worlds::private_method, 6000), (worlds::three_frames, 10_000)] {
            let mut world = make();
            world.settings = preset.objective();
            world.schedule = preset.schedule();
            let found = reaching(&world, within);
            assert!(found >= 14, "{found} of {SEEDS} seeds within {within} evaluations by {preset:?}");
        }
    }
}

#[test]
fn an_impossible_crash_is_not_found() {
    let text = "class A {\nnew() {\n}\nmethod m(n int) {\nif n < n {\nthrow Never # never\n}\n}\n}";
    let world = World::new(text, "Never A.m:never");
    let searched = world.search(&mut world.session(), 1, 2000);
    assert_eq!((searched.stop, searched.level), (Stop::BudgetSpent, 0));
}
