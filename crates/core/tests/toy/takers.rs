//! What a call is given: literals of the class that takes them (GRT-4), and whether it may be the object itself.

use rethrow_core::rng::Rng;
use rethrow_core::testcase::build::own::{self, Taker};
use rethrow_core::testcase::build::{Maker, Policy};
use rethrow_core::testcase::{Stmt, TestCase};

use crate::worlds::World;

const MODES: &str = r#"
class Mode {
  field value string
  method choose(value string) {
    this.value = value
  }
}
class Glob extends Mode {
  new() {
  }
  method known() string {
    return "glob"
  }
}
class Target {
  static method copy(mode Mode, from string) {
    if mode.value == "somewhere else" {
      return
    }
    if from == null {
      throw NoSource # crash
    }
  }
}
"#;

#[test]
fn what_a_subclass_names_is_given_to_the_method_that_it_inherits() {
    let world = World::new(MODES, "NoSource Target.copy:crash");
    let palette = world.palette(1);
    let policy = Policy { own: 1.0, ..Policy::default() };
    let (choose, glob) = (world.method("Mode", "choose"), world.program.find_type("Glob").expect("it is there"));
    let mut rng = Rng::new(1);
    let mut drawn = |class| (0..20).filter_map(|_| own::text(&palette, &policy, &mut rng, Some(Taker { method: choose, class }))).collect::<Vec<_>>();
    assert_eq!(drawn(glob), vec!["glob"; 20]);
    assert!(drawn(world.program.method(choose).owner).is_empty(), "its own class names nothing");
    let never = Policy { own: 0.0, ..Policy::default() };
    assert_eq!(own::text(&palette, &never, &mut rng, Some(Taker { method: choose, class: glob })), None);
}

#[test]
fn the_taker_of_a_value_is_the_class_that_it_is_called_on() {
    let world = World::new(MODES, "NoSource Target.copy:crash");
    let palette = world.palette(1);
    let (mut rng, facts, policy) = (Rng::new(1), Default::default(), Policy { own: 1.0, null: 0.0, messages: false, ..Policy::default() });
    let (new, choose) = (world.method("Glob", "new"), world.method("Mode", "choose"));
    let mut maker = Maker::new(&palette, &facts, &policy, &mut rng, TestCase::default());
    let mode = maker.call(new).expect("it can be made");
    maker.call_on(choose, mode).expect("it can be called");
    let given = maker.test.stmts.iter().find_map(|s| if let Stmt::Str(text) = s { Some(text.as_str()) } else { None });
    assert_eq!(given, Some("glob"));
}

#[test]
fn an_object_is_its_own_argument_as_often_as_the_policy_says() {
    const RINGS: &str = r"
class Ring {
  field next Ring
  new() {
  }
  method join(next Ring) {
    this.next = next
    if next == null {
      throw Open # crash
    }
  }
}
";
    let world = World::new(RINGS, "Open Ring.join:crash");
    let palette = world.palette(1);
    let (new, join, facts) = (world.method("Ring", "new"), world.method("Ring", "join"), Default::default());
    let own = |itself: f64| {
        let policy = Policy { itself, null: 0.0, ..Policy::default() };
        let mut rng = Rng::new(1);
        let joined = |_| {
            let mut maker = Maker::new(&palette, &facts, &policy, &mut rng, TestCase::default());
            let ring = maker.call(new).expect("it can be made");
            maker.call_on(join, ring).expect("it can be called");
            usize::from(maker.test.stmts.iter().any(|s| matches!(s, Stmt::Call { recv: Some(recv), args, .. } if args.contains(recv))))
        };
        (0..100).map(joined).sum::<usize>()
    };
    assert_eq!(own(0.0), 0);
    assert!(own(1.0) > 50, "{}", own(1.0));
}
