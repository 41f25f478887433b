//! What a failed search says of itself: the frame it stopped at, the predicate in the way, what was thrown instead.

use rethrow_core::search::blocked::{Obstacle, Predicate};
use rethrow_core::search::portfolio;
use rethrow_core::search::targets::BuildRules;

use crate::worlds::{self, Unlimited, With, World};

/// What blocks the first level that a search of so many evaluations did not reach.
fn obstacle(world: &World, max_evaluations: u64) -> Obstacle {
    obstacle_at(world, max_evaluations, |reached| reached + 1)
}

fn obstacle_at(world: &World, max_evaluations: u64, level: fn(usize) -> usize) -> Obstacle {
    let mut session = world.session();
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations };
    let search = |evaluator: &mut rethrow_core::search::Evaluator<'_>| {
        portfolio::run(evaluator, &world.program, &BuildRules::default(), &world.schedule, 1);
        let level = level(evaluator.reached());
        evaluator.tally.blocked[level - 1].obstacle(&world.program, level)
    };
    world.evaluate(with, search).0.expect("something was executed")
}

fn predicate(found: &Obstacle) -> &Predicate {
    found.predicate.as_ref().unwrap_or_else(|| panic!("no predicate in {found:?}"))
}

#[test]
fn the_predicate_that_was_never_true_is_named() {
    let text = r#"
class Gate {
  field count int
  new() {
  }
  method open(n int) {
    if n > 3 {
      square = n * n
      limit = square + 1000003
      if this.count == limit {
        throw Opened # opened
      }
    }
  }
}
"#;
    let world = World::new(text, "Opened Gate.open:opened");
    let found = obstacle(&world, 300);
    assert_eq!((found.deepest, found.missed), (None, Some(1)));
    let predicate = predicate(&found);
    assert_eq!((predicate.class.as_str(), predicate.line, predicate.held), ("Gate", Some(10), 0));
    assert_eq!(predicate.wanted, "this.count == argument 1 * argument 1 + 1000003");
    assert!(predicate.failed > 50 && predicate.failed <= found.executions, "{found:?}");
}

#[test]
fn a_condition_on_the_crashing_line_itself_is_named() {
    let text = "class A {\nnew() {\n}\nmethod m(n int) {\nif n < n throw Far # far\n}\n}";
    let found = obstacle(&World::new(text, "Far A.m:far"), 100);
    assert_eq!((found.deepest, found.missed), (Some(1), None), "the line was reached: {found:?}");
    let predicate = predicate(&found);
    assert_eq!((predicate.line, predicate.held), (Some(5), 0));
    assert_eq!(predicate.failed, found.executions);
}

#[test]
fn what_cannot_be_true_is_told_with_both_counts() {
    let text = "class A {\nnew() {\n}\nmethod m(n int) {\nif n < n {\nthrow Never # never\n}\n}\n}";
    let found = obstacle(&World::new(text, "Never A.m:never"), 100);
    let predicate = predicate(&found);
    assert_eq!((predicate.wanted.as_str(), predicate.line, predicate.held), ("argument 1 < argument 1", Some(5), 0));
    assert_eq!(predicate.failed, found.executions);
}

#[test]
fn an_exception_on_the_way_is_what_blocks_where_no_predicate_does() {
    let mut world = worlds::branchless();
    world.settings.secondary = rethrow_core::objective::Secondary::None;
    let found = obstacle(&world, 5);
    assert_eq!((found.deepest, found.missed, &found.predicate), (None, Some(1), &None));
    assert!(found.instead[0].0.starts_with("NullDeref at Train.weigh:"), "{found:?}");
}

#[test]
fn the_exception_that_does_not_come_is_told_where_all_lines_are_reached() {
    let text = "class A {\nnew() {\n}\nmethod m(n int) {\nuse = n # here\n}\n}";
    let found = obstacle(&World::new(text, "Boom A.m:here"), 50);
    assert_eq!((found.deepest, found.missed, &found.predicate), (Some(1), None, &None));
    assert_eq!(found.instead, []);
}

#[test]
fn an_inner_frame_that_is_not_reached_names_the_outer_one_that_was() {
    let mut world = worlds::deep_number();
    world.schedule.first_slice = 20;
    let found = obstacle_at(&world, 300, |_| 3);
    assert_eq!((found.deepest, found.missed), (Some(2), Some(1)), "{found:?}");
    assert_eq!(predicate(&found).wanted, "argument 1 == 12345");
}
