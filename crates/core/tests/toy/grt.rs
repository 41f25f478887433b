//! Guided random testing on the toy language: each component by what it can do and what the search cannot do without it.

use std::cell::Cell;

use rethrow_core::probe::ProbePlan;
use rethrow_core::program::mod_ref::Touching;
use rethrow_core::program::purity::{Purity, PurityRules};
use rethrow_core::program::{Literal, Program, TypeId};
use rethrow_core::search::grt::suite::{Kept, Selection};
use rethrow_core::search::grt::{Component, Generator, Settings, World, detective, slice};
use rethrow_core::search::targets::BuildRules;
use rethrow_core::search::{Limits, Stop};
use rethrow_core::target::Session;
use rethrow_core::testcase::{Stmt, TestCase, Value, Var};
use rethrow_core::toy::{self, run::Interpreter};

use crate::worlds::{PRESS, Unlimited};

struct Place {
    program: Program,
    plan: ProbePlan,
    types: Vec<TypeId>,
    rules: BuildRules,
}

impl Place {
    fn new(text: &str) -> Place {
        let program = toy::load(text).unwrap();
        let types = program.types().filter(|t| !program.ty(*t).platform && !program.ty(*t).missing).collect();
        Place { plan: toy::plan(&program), types, rules: BuildRules { elsewhere: "elsewhere", ..BuildRules::default() }, program }
    }

    fn generator(&self, settings: Settings) -> Generator<'_> {
        let world = World { program: &self.program, plan: &self.plan, types: &self.types, rules: &self.rules, oracle: &toy::ORACLE };
        Generator::new(world, settings)
    }

    /// What `tests` tests with these components cover and keep.
    fn generate(&self, components: &[Component], tests: u64, seed: u64) -> Generator<'_> {
        let settings = Settings { components: components.to_vec(), max_tests: tests, interval: 100, ..Settings::all(seed) };
        let mut generator = self.generator(settings);
        let stop = generator.run(&mut Interpreter::new(&self.program, &self.plan), &Unlimited, &mut |_| {});
        assert_eq!(stop, Stop::BudgetSpent);
        generator
    }

    fn method(&self, class: &str, name: &str) -> rethrow_core::program::MethodId {
        self.program.methods_named(self.program.find_type(class).unwrap(), name).next().unwrap()
    }
}

fn throws(generator: &Generator<'_>, exception: &str) -> bool {
    generator.crashes.iter().any(|c| c.chain[0].exception == exception)
}

#[test]
fn grt_1_the_loop_builds_on_what_earlier_calls_made() {
    let place = Place::new(PRESS);
    let generator = place.generate(&Component::ALL, 3_000, 1);
    assert_eq!(generator.tally.tests, 3_000);
    let share = generator.coverage.branches();
    assert!(share.covered * 10 >= share.total * 9, "{share:?}");
    assert!(generator.kept.len() > 5 && generator.tally.calls > generator.tally.tests);
    let chosen = Selection::default().next(&generator.kept, usize::MAX, |_| true);
    assert!(!chosen.is_empty() && chosen.len() < generator.kept.len(), "{} of {}", chosen.len(), generator.kept.len());
}

/// So many rounds, then it is over.
struct Rounds(Cell<u32>);

impl Limits for Rounds {
    fn time_is_up(&self) -> bool {
        self.0.replace(self.0.get().saturating_sub(1)) == 0
    }
    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn what_is_given_up_is_not_called_again_and_what_only_it_covered_is_open() {
    let place = Place::new(PRESS);
    let worn = place.method("Press", "worn");
    let mut generator = place.generator(Settings { max_tests: 3_000, interval: 100, ..Settings::all(1) });
    let mut session = Interpreter::new(&place.program, &place.plan);
    let calls = |test: &TestCase| test.stmts.iter().any(|s| s.callee() == Some(worn));
    generator.run(&mut session, &Rounds(Cell::new(2)), &mut |_| {});
    let body = place.plan.of(worn).unwrap();
    assert!(generator.coverage.points_of(body).covered > 0 && generator.kept.iter().any(|k| calls(&k.test)));
    generator.give_up(worn);
    assert_eq!(generator.coverage.points_of(body).covered, 0);
    assert!(generator.kept.iter().all(|k| calls(&k.test) == k.elements.is_empty()), "what is left covers what it covered");
    let before = generator.kept.len();
    generator.run(&mut session, &Unlimited, &mut |_| {});
    assert!(generator.kept.len() > before && generator.kept[before..].iter().all(|k| !calls(&k.test)));
}

#[test]
fn grt_2_constants_of_the_program_open_its_branches() {
    let text = "class Safe { new() { }\nmethod open(n int) int {\nm = 800000 + 12345\nif n == m throw Opened\nreturn 0\n} }";
    let place = Place::new(text);
    let seeds = |components: &[Component]| (1..=5).filter(|seed| throws(&place.generate(components, 4_000, *seed), "Opened")).count();
    assert_eq!(seeds(&Component::ALL), 5);
    let without: Vec<Component> = Component::ALL.into_iter().filter(|c| *c != Component::ConstantMining).collect();
    assert_eq!(seeds(&without), 0);
}

#[test]
fn grt_2_constants_are_propagated_through_branches_and_folded() {
    let place = Place::new("class T { new() { }\nmethod go(n int) int {\nm = 60\nk = 1\nif n > 3 {\nk = 2\n}\nm = m * 70\nk = k * 1000\nreturn m\n} }");
    let body = place.program.body(place.method("T", "go")).unwrap();
    let found = body.literals();
    assert!(found.contains(&Literal::Int(4200)), "{found:?}");
    assert!(!found.contains(&Literal::Int(2000)), "k is 1 or 2: {found:?}");
}

#[test]
fn grt_7_purity_tells_what_a_call_changes() {
    let place = Place::new(
        "class Box {\nfield n int\nfield next Box\nstatic field last Box\nnew() {\n}\nmethod set(n int) {\nthis.n = n\n}\nmethod get() int {\nreturn this.n\n}
method through() {\nthis.set(3)\n}\nmethod fill(other Box) {\nother.set(1)\n}\nmethod deep() {\nb = this.next\nb.n = 1\n}\nmethod keep() {\nBox.last = this\n}
method fresh() Box {\nb = new Box()\nb.set(2)\nreturn b\n}\n}",
    );
    let purity = Purity::new(PurityRules::default());
    let effects = |name: &str| purity.effects(&place.program, place.method("Box", name));
    assert!(effects("get").is_pure());
    for name in ["set", "through", "deep"] {
        assert!(effects(name).changes(0), "{name}");
    }
    assert!(!effects("fill").changes(0) && effects("fill").changes(1));
    assert!(effects("keep").statics);
    assert!(effects("fresh").is_pure(), "what a method makes itself is nobody else's");
}

#[test]
fn methods_that_touch_what_a_crash_reads_are_told_from_the_others() {
    let place = Place::new(
        "class Box {\nfield n int\nfield other int\nfield next Box\nnew() {\n}\nmethod set(n int) {\nthis.n = n\n}\nmethod through() {\nthis.set(3)\n}
method link(b Box) {\nthis.next = b\n}\nmethod aside() {\nthis.other = 1\n}\nmethod get() int {\nreturn this.n\n}
method crash() int {\nb = this.next\nreturn b.get()\n}\n}
class Shelf {\nfield box Box\nnew() {\n}\nmethod box() Box {\nreturn this.box\n}\nmethod named(n int) Box {\nreturn this.box\n}\n}",
    );
    let touching = Touching::read_by(&place.program, &[place.method("Box", "crash")], PurityRules::default());
    let touches = |class: &str, name: &str| touching.touches(&place.program, place.method(class, name));
    for name in ["set", "through", "link"] {
        assert!(touches("Box", name), "{name}");
    }
    for name in ["aside", "get", "crash"] {
        assert!(!touches("Box", name), "{name}");
    }
    assert!(touches("Shelf", "box"), "the way to the box leads over it");
    assert!(!touches("Shelf", "named"), "what takes arguments may be anything");
}

#[test]
fn grt_8_an_object_is_cut_to_what_made_and_changed_it() {
    let place = Place::new("class Box {\nfield n int\nnew() {\n}\nmethod set(n int) {\nthis.n = n\n}\nmethod get() int {\nreturn this.n\n}\n}");
    let mut test = TestCase::default();
    let other = test.push(Stmt::New { ctor: place.method("Box", "new"), args: vec![] });
    let object = test.push(Stmt::New { ctor: place.method("Box", "new"), args: vec![] });
    let n = test.push(Stmt::Lit(Value::Int(4)));
    test.push(Stmt::Call { method: place.method("Box", "set"), recv: Some(object), args: vec![n] });
    test.push(Stmt::Call { method: place.method("Box", "get"), recv: Some(object), args: vec![] });
    test.push(Stmt::Call { method: place.method("Box", "set"), recv: Some(other), args: vec![n] });
    let (cut, var) = slice::slice(&place.program, &Purity::new(PurityRules::default()), &test, object);
    assert_eq!(var, Var(0));
    assert_eq!(cut.stmts.iter().filter_map(Stmt::callee).collect::<Vec<_>>(), [place.method("Box", "new"), place.method("Box", "set")]);
}

#[test]
fn grt_8_objects_are_changed_in_what_the_call_under_test_reads() {
    let others: String = (0..40).map(|i| format!("field f{i} int\nmethod set{i}() {{\nthis.f{i} = {i}\n}}\n")).collect();
    let text = format!(
        "class Lock {{\nfield turns int\nnew() {{\n}}\n{others}method turn() {{\nthis.turns = this.turns + 1\n}}\nmethod open() {{\nif this.turns > 1 throw Opened\n}}\n}}"
    );
    let place = Place::new(&text);
    let seeds = |components: &[Component]| (1..=10).filter(|seed| throws(&place.generate(components, 2_000, *seed), "Opened")).count();
    assert!(seeds(&[Component::Impurity, Component::Detective]) >= 9);
    assert_eq!(seeds(&[Component::Detective]), 0);
}

const FACTORY: &str = "class Base {\nprivate new() {\n}\nstatic method any(n int) object {\nif n > 3 return new Rare()\nreturn new Base()\n}\n}
class Rare extends Base {\nprivate new() {\n}\nmethod only() {\nthrow Only\n}\n}
class User {\nnew() {\n}\nmethod use(r Rare) {\nr.only()\n}\n}";

#[test]
fn grt_9_objects_are_known_by_their_exact_type() {
    let place = Place::new(FACTORY);
    let with = |components: &[Component]| (1..=5).filter(|seed| throws(&place.generate(components, 1_500, *seed), "Only")).count();
    // the builder casts what it has seen as well, so it is left out
    let all: Vec<Component> = Component::ALL.into_iter().filter(|c| *c != Component::Detective).collect();
    assert_eq!(with(&all), 5);
    let without: Vec<Component> = all.into_iter().filter(|c| *c != Component::ElephantBrain).collect();
    assert_eq!(with(&without), 0);
}

#[test]
fn grt_10_types_that_nobody_returns_are_built() {
    let text =
        "class Part {\nfield n int\nnew(n int) {\nthis.n = n\n}\n}\nclass User {\nnew() {\n}\nmethod use(p Part) {\nif p == null return\nthrow Used\n}\n}";
    let mut place = Place::new(text);
    // the part is not under test: only the detective makes one
    place.types = vec![place.program.find_type("User").unwrap()];
    let part = place.program.find_type("Part").unwrap();
    let generator = place.generate(&Component::ALL, 200, 1);
    assert_eq!(detective::unavailable(&place.program, &generator.subjects), [part]);
    assert!(throws(&generator, "Used"));
    let without: Vec<Component> = Component::ALL.into_iter().filter(|c| *c != Component::Detective).collect();
    assert!(!throws(&place.generate(&without, 200, 1), "Used"));
}

#[test]
fn grt_12_methods_with_open_branches_are_called_more_often() {
    let many: String = (0..30).map(|i| format!("method m{i}(n int) int {{\nreturn {i}\n}}\n")).collect();
    let hard: String = (0..12).map(|i| format!("if n == {} return {i}\n", 1000 + 7 * i)).collect();
    let place = Place::new(&format!("class T {{\nnew() {{\n}}\n{many}method hard(n int) int {{\n{hard}return 0\n}}\n}}"));
    let calls = |components: &[Component]| {
        let mut spy = Spy { inner: Interpreter::new(&place.program, &place.plan), method: place.method("T", "hard"), calls: 0 };
        let settings = Settings { components: components.to_vec(), max_tests: 3_000, interval: 100, ..Settings::all(1) };
        place.generator(settings).run(&mut spy, &Unlimited, &mut |_| {});
        spy.calls
    };
    let (guided, blind) = (calls(&[Component::Bloodhound, Component::Detective]), calls(&[Component::Detective]));
    assert!(guided > 2 * blind, "{guided} and {blind}");
}

struct Spy<'p> {
    inner: Interpreter<'p>,
    method: rethrow_core::program::MethodId,
    calls: usize,
}

impl Session for Spy<'_> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<rethrow_core::execution::Execution>, rethrow_core::target::SessionLost> {
        self.calls += batch.iter().filter(|t| t.stmts.last().and_then(Stmt::callee) == Some(self.method)).count();
        self.inner.execute(batch)
    }
    fn execute_pristine(&mut self, test: &TestCase) -> Result<rethrow_core::execution::Execution, rethrow_core::target::SessionLost> {
        self.inner.execute_pristine(test)
    }
}

#[test]
fn grt_14_each_component_can_be_switched_off() {
    let place = Place::new(PRESS);
    assert_eq!(Settings::randoop(1).components, []);
    assert_eq!(Settings::grt(1).components, Component::ALL);
    for component in Component::ALL {
        let without: Vec<Component> = Component::ALL.into_iter().filter(|c| *c != component).collect();
        for set in [&without[..], &[component]] {
            let generator = place.generate(set, 400, 1);
            assert_eq!(generator.tally.tests, 400, "{set:?}");
        }
    }
    assert!(place.generate(&[], 400, 1).coverage.branches().covered > 0);
}

#[test]
fn grt_18_crashes_are_told_apart_by_their_frames() {
    let place = Place::new("class T {\nnew() {\n}\nmethod a(n int) {\nif n > 5 {\nthrow X\n}\nthrow X\n}\nmethod b(n int) {\nthis.a(n)\n}\n}");
    let generator = place.generate(&Component::ALL, 400, 1);
    let mut lines: Vec<(usize, Option<u32>)> = generator.crashes.iter().map(|c| (c.chain[0].frames.len(), c.chain[0].frames[0].line)).collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 4, "two lines, directly and through another method: {lines:?}");
    assert!(generator.crashes.iter().all(|c| c.count > 1));
}

#[test]
fn the_same_seed_keeps_the_same_tests() {
    let place = Place::new(PRESS);
    let kept = |seed| place.generate(&Component::ALL, 1_000, seed).kept.into_iter().map(|k: Kept| k.test).collect::<Vec<_>>();
    assert_eq!(kept(7), kept(7));
    assert_ne!(kept(7), kept(8));
}

/// Time is up after each round, as between the slices of `generate`.
struct OneRound(std::cell::Cell<u32>);

impl Limits for OneRound {
    fn time_is_up(&self) -> bool {
        self.0.replace(self.0.get() + 1) > 0
    }
    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn what_waits_for_its_turn_is_not_lost_between_slices() {
    let place = Place::new(PRESS);
    let tests = |slices: bool| {
        let mut generator = place.generator(Settings { max_tests: 2_000, ..Settings::all(3) });
        let mut session = Interpreter::new(&place.program, &place.plan);
        while !generator.is_done() {
            if slices {
                generator.run(&mut session, &OneRound(std::cell::Cell::default()), &mut |_| {});
            } else {
                generator.run(&mut session, &Unlimited, &mut |_| {});
            }
        }
        generator.kept.into_iter().map(|k: Kept| k.test).collect::<Vec<_>>()
    };
    assert_eq!(tests(true), tests(false));
}

#[test]
fn where_nothing_new_can_be_tried_the_search_is_done() {
    let place = Place::new("class Only {\n  static method one() int {\n    return 1\n  }\n}\n");
    let mut generator = place.generator(Settings::all(1));
    let stop = generator.run(&mut Interpreter::new(&place.program, &place.plan), &Unlimited, &mut |_| {});
    assert!(stop == Stop::BudgetSpent && generator.is_done());
    assert!((1..20).contains(&generator.tally.tests), "{}", generator.tally.tests);
}

#[test]
fn a_search_that_is_cancelled_or_late_stops() {
    struct Late;
    impl Limits for Late {
        fn time_is_up(&self) -> bool {
            true
        }
        fn cancelled(&self) -> bool {
            false
        }
    }
    let place = Place::new(PRESS);
    let mut generator = place.generator(Settings::all(1));
    let mut session = Interpreter::new(&place.program, &place.plan);
    assert_eq!(generator.run(&mut session, &Late, &mut |_| {}), Stop::BudgetSpent);
    assert_eq!((generator.tally.tests, session.execute(&[]).unwrap().len()), (0, 0));
}
