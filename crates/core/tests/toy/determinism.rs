//! The same seed means the same run, however the batches are spread.

use crate::worlds::{self, Pieces, World};

fn check(world: &World, seed: u64, max: u64) {
    let whole = world.search(&mut world.session(), seed, max);
    let again = world.search(&mut world.session(), seed, max);
    assert_eq!(whole, again, "seed {seed}");
    for size in [1, 3, 17] {
        assert_eq!(whole, world.search(&mut Pieces::new(world.session(), size), seed, max), "seed {seed} in pieces of {size}");
    }
}

#[test]
fn a_seed_means_the_same_test_evaluations_and_events_in_any_batch_size() {
    for world in [worlds::press(), worlds::private_method(), worlds::three_frames()] {
        (1..=4).for_each(|seed| check(&world, seed, 3000));
    }
}

#[test]
fn another_seed_means_another_run() {
    let world = worlds::press();
    let runs: Vec<_> = (1..=3).map(|seed| world.search(&mut world.session(), seed, 500).events).collect();
    assert!(runs[0] != runs[1] || runs[1] != runs[2]);
}
