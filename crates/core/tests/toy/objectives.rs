//! Fitness values: range, gating, zero if and only if the goal is met, monotonicity (P13); the items of the published fitness functions by name.

use rethrow_core::execution::{BranchSeen, Execution, Outcome};
use rethrow_core::objective::line_distance::{branch_distance, negated};
use rethrow_core::objective::trace_distance::TraceDistance;
use rethrow_core::objective::{Kind, LineTarget, Score, Secondary, Settings, squash};
use rethrow_core::program::ir::Relation;
use rethrow_core::rng::Rng;
use rethrow_core::search::facts::Facts;
use rethrow_core::search::genetic::init;
use rethrow_core::search::presets::Preset;
use rethrow_core::testcase::build::Policy;
use rethrow_core::testcase::vary::Context;
use rethrow_core::testcase::{Stmt, TestCase, Value};
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
fn scores(kind: Kind, check: impl FnMut(&World, usize, &Execution, Score)) {
    scores_of(kind.into(), check);
}

fn scores_of(settings: Settings, mut check: impl FnMut(&World, usize, &Execution, Score)) {
    for world in [worlds::press(), worlds::deep_number(), worlds::three_frames(), worlds::string_equality()] {
        let objective = world.objective(settings);
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

/// EVO-25: crash coverage is f = 0, the same type at the same lines.
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

/// EVO-3, BBC-1.
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

/// BBC-2, with the last stage of our own.
#[test]
fn an_st_distance_loses_at_most_one_for_each_frame_and_two_for_the_crash() {
    scores(Kind::StDistance, |world, level, execution, score| {
        let objective = world.objective(Kind::StDistance);
        assert!((0.0..=level as f64 + 2.0).contains(&score.value));
        let open = objective.first_uncovered(&world.goal, level, execution).map(|frame| frame + 1);
        match open {
            _ if score.met => {}
            Some(frame) => assert!(score.value > frame as f64 + 1.0 && score.value <= frame as f64 + 2.0),
            None if throws_wanted(world, execution) => assert!(score.value < 1.0),
            None => assert_eq!(score.value, 2.0),
        }
    });
}

/// A line that crashes behind a branch of its own has a distance after it was reached: not in the published configurations.
#[test]
fn the_way_within_a_line_counts() {
    let text = "class Tank {\nnew() {\n}\nmethod fill(n int) {\nif n > 1000 throw Full # full\n}\nmethod pour(n int) {\nthis.fill(n) # pour\n}\n}";
    let world = World::new(text, "Full Tank.fill:full Tank.pour:pour");
    let value = |settings: Settings, n: i32| {
        let mut test = TestCase::default();
        let tank = test.push(Stmt::New { ctor: world.method("Tank", "new"), args: Vec::new() });
        let lit = test.push(Stmt::Lit(Value::Int(n)));
        test.push(Stmt::Call { method: world.method("Tank", "pour"), recv: Some(tank), args: vec![lit] });
        world.objective(settings).score(&world.goal, 2, &world.execute(&test)).value
    };
    let ours: Vec<f64> = [1, 990, 1000, 1001].map(|n| value(Kind::StDistance.into(), n)).to_vec();
    assert!(ours.windows(2).all(|w| w[0] > w[1]) && ours[3] == 0.0, "{ours:?}");
    let published = Settings { crash_sites: false, ..Kind::StDistance.into() };
    assert_eq!(value(published, 1), value(published, 1000));
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
                    execution.reach = vec![2; 2];
                    objective.score(&world.goal, 2, &execution).value
                })
                .collect();
            assert_eq!(values[0], 0.0);
            assert!(values.windows(2).all(|w| w[0] < w[1]), "{values:?}");
        }
    }
}

/// `v = new Meter(n); v.method(n)` for each pair.
fn meter(world: &World, calls: &[(&str, i32)]) -> TestCase {
    let mut test = TestCase::default();
    for (method, n) in calls {
        let lit = test.push(Stmt::Lit(Value::Int(*n)));
        let recv = test.push(Stmt::New { ctor: world.method("Meter", "new"), args: vec![lit] });
        test.push(Stmt::Call { method: world.method("Meter", method), recv: Some(recv), args: vec![lit] });
    }
    test
}

fn scored(world: &World, settings: impl Into<Settings>, calls: &[(&str, i32)]) -> Score {
    world.objective(settings).score(&world.goal, world.goal.outermost(), &world.execute(&meter(world, calls)))
}

#[test]
fn bbc_3_a_frame_is_covered_only_through_the_frames_outward_of_it() {
    for world in [worlds::open_number(), worlds::open_number().without_callers()] {
        let through = scored(&world, Kind::StDistance, &[("scale", 5)]).value;
        let direct = scored(&world, Kind::StDistance, &[("scale", 5), ("check", 12345)]).value;
        assert!(through < direct && direct == 3.0, "{through} {direct}");
        let anywhere = Settings { context: false, ..Kind::StDistance.into() };
        assert!(scored(&world, anywhere, &[("scale", 5), ("check", 12345)]).value < 1.0);
        assert!(scored(&world, Kind::StDistance, &[("scale", 4115)]).met);
    }
}

/// What a session that observes callers reports: how far out the chain was unbroken, at best.
#[test]
fn bbc_3_callers_are_observed_when_a_line_is_reached() {
    let world = worlds::open_number();
    let reach = |calls: &[(&str, i32)]| world.execute(&meter(&world, calls)).reach;
    assert_eq!(reach(&[("scale", 5)]), [0, 2]);
    assert_eq!(reach(&[("check", 12345)]), [1, 0]);
    assert_eq!(reach(&[("scale", 5), ("check", 12345)]), [1, 2]);
    assert_eq!(reach(&[("scale", 4115)]), [2, 2]);
}

/// The published tool's last version measures the outermost frame instead (peers §2.3).
#[test]
fn bbc_2_the_distance_of_the_first_uncovered_frame_is_that_of_its_own_line() {
    let world = worlds::open_number();
    let values: Vec<f64> = [1, 1000, 4000, 4114].iter().map(|n| scored(&world, Kind::StDistance, &[("scale", *n)]).value).collect();
    assert!(values.windows(2).all(|w| w[0] > w[1]), "{values:?}");
    assert!(values.iter().all(|v| *v > 2.0 && *v < 3.0), "frame 2 is covered: {values:?}");
}

/// BBC-2 to the letter: at most n + 1, the exception's penalty is 0 or 1.
#[test]
fn bbc_2_the_published_st_distance_ends_at_one_for_each_frame_and_one_for_the_exception() {
    let published = Preset::Botsing.objective();
    let mut penalties = 0;
    scores_of(published, |world, level, execution, score| {
        assert!((0.0..=level as f64 + 1.0).contains(&score.value));
        let open = world.objective(published).first_uncovered(&world.goal, level, execution);
        match open {
            _ if score.met => {}
            Some(frame) => assert!(score.value > frame as f64 + 1.0 && score.value <= frame as f64 + 2.0),
            None if throws_wanted(world, execution) => assert!(score.value == 1.0 || score.value == f64::MIN_POSITIVE),
            None => {
                penalties += 1;
                assert_eq!(score.value, 1.0);
            }
        }
    });
    assert!(penalties > 20, "{penalties}");
}

#[test]
fn evo_2_the_line_is_that_of_the_target_frame_or_of_the_throw() {
    let world = worlds::open_number();
    let value = |line_target, calls: &[(&str, i32)]| scored(&world, Settings { line_target, ..Kind::WeightedSum.into() }, calls).value;
    // the line of scale is reached, that of the throw is not
    assert_eq!(value(LineTarget::Frame, &[("scale", 5)]), 3.0);
    assert!(value(LineTarget::Throw, &[("scale", 5)]) > 3.0);
}

#[test]
fn evo_4_a_line_behind_an_exception_is_at_the_distance_that_its_tool_gives_it() {
    let world = worlds::branchless();
    let mut test = TestCase::default();
    let train = test.push(Stmt::New { ctor: world.method("Train", "new"), args: vec![] });
    test.push(Stmt::Call { method: world.method("Train", "weigh"), recv: Some(train), args: vec![] });
    let execution = world.execute(&test);
    for (preset, distance) in [(Preset::EvoCrash, 1.0), (Preset::Botsing, squash(1.0))] {
        assert_eq!(world.objective(preset.objective()).line(1).distance(&execution), distance);
    }
    // the plateau of the published tool: 3 · 0.5 + 2 + 1
    let settings = Settings { secondary: Secondary::None, ..Kind::WeightedSum.into() };
    assert_eq!(world.objective(settings).score(&world.goal, 1, &execution).value, 4.5);
}

#[test]
fn evo_5_the_exception_is_compared_by_its_exact_name() {
    let world = worlds::open_number();
    let frames = world.goal.wanted(2).frames.to_vec();
    for (exception, value) in [("Overload", 0.0), ("Overload2", 3.0), ("overload", 3.0)] {
        let mut execution = Execution::ended(thrown(exception, frames.clone()));
        execution.hits = (0..world.plan.points).collect();
        assert_eq!(world.objective(Kind::WeightedSum).score(&world.goal, 2, &execution).value, value, "{exception}");
    }
}

#[test]
fn evo_6_and_evo_10_the_trace_distance_can_be_chosen() {
    let world = worlds::open_number();
    let frames = world.goal.wanted(2).frames[..1].to_vec();
    let mut execution = Execution::ended(thrown("Overload", frames));
    (execution.hits, execution.reach) = ((0..world.plan.points).collect(), vec![2; 2]);
    // the second frame is missing: another method of the same class is nearest (2), one frame too few (1), and φ(2) as the tool has it
    for (trace, distance) in [(TraceDistance::Set, 2.0), (TraceDistance::Prefix, 1.0), (TraceDistance::Tool, 2.0 / 3.0)] {
        for kind in [Kind::WeightedSum, Kind::StDistance] {
            let settings = Settings { trace, ..kind.into() };
            assert_eq!(world.objective(settings).score(&world.goal, 2, &execution).value, squash(distance), "{trace:?}");
        }
    }
}

/// ANT's FilterMapper: the subclass has a simpler override, which must count neither as the frame's line nor as its stack.
#[test]
fn evo_27_an_override_in_a_subclass_is_not_the_frame() {
    let text = r"
class Mapper {
  new() {
  }
  method map(n int) {
    if n == 77 {
      throw Bad # bad
    }
  }
}
class Simple extends Mapper {
  new() {
  }
  method map(n int) {
    throw Bad
  }
}
";
    let world = World::new(text, "Bad Mapper.map:bad");
    for kind in [Kind::WeightedSum, Kind::StDistance] {
        let value = |class: &str, n: i32| {
            let mut test = TestCase::default();
            let lit = test.push(Stmt::Lit(Value::Int(n)));
            let recv = test.push(Stmt::New { ctor: world.method(class, "new"), args: vec![] });
            test.push(Stmt::Call { method: world.method("Mapper", "map"), recv: Some(recv), args: vec![lit] });
            world.objective(kind).score(&world.goal, 1, &world.execute(&test)).value
        };
        assert!(value("Simple", 77) > value("Mapper", 5) && value("Mapper", 5) > value("Mapper", 70) && value("Mapper", 77) == 0.0);
    }
}

#[test]
fn bbc_7_blocks_decide_only_between_equals_and_bbc_8_without_any_branch() {
    let world = worlds::branchless();
    let weigh = |set: &[&str]| {
        let mut test = TestCase::default();
        let train = test.push(Stmt::New { ctor: world.method("Train", "new"), args: vec![] });
        let wagon = test.push(Stmt::New { ctor: world.method("Wagon", "new"), args: vec![] });
        for method in set {
            test.push(Stmt::Call { method: world.method("Train", method), recv: Some(train), args: vec![wagon] });
        }
        test.push(Stmt::Call { method: world.method("Train", "weigh"), recv: Some(train), args: vec![] });
        world.execute(&test)
    };
    for (secondary, decides) in [(Secondary::None, false), (Secondary::Bbc, true), (Secondary::Lattice, true)] {
        let objective = world.objective(Settings { secondary, ..Kind::StDistance.into() });
        let score = |set: &[&str]| objective.score(&world.goal, 1, &weigh(set));
        let (none, two, all) = (score(&[]), score(&["setA", "setB"]), score(&["setA", "setB", "setC", "setD", "setE"]));
        assert_eq!(two.rank(&none) == std::cmp::Ordering::Less, decides, "{secondary:?}");
        assert_eq!(none.value, two.value);
        assert!(all.met && all.rank(&two) == std::cmp::Ordering::Less);
    }
}

/// BBC-9: blocks from which the target cannot be reached do not count, nor does what is behind it.
#[test]
fn bbc_9_only_what_leads_to_the_target_counts() {
    let text = "
class Gate {
  field at int
  new() {
  }
  method pass(n int, m int) {
    if n != 77 {
      this.at = 1
      if m == 3 {
        this.at = 3
      }
      return
    }
    this.at = n
    if m == 5 {
      throw Bad # bad
    }
  }
}
";
    let world = World::new(text, "Bad Gate.pass:bad");
    let objective = world.objective(Settings { secondary: Secondary::Bbc, ..Kind::StDistance.into() });
    let score = |n: i32, m: i32| {
        let mut test = TestCase::default();
        let args = [n, m].map(|v| test.push(Stmt::Lit(Value::Int(v)))).to_vec();
        let recv = test.push(Stmt::New { ctor: world.method("Gate", "new"), args: vec![] });
        test.push(Stmt::Call { method: world.method("Gate", "pass"), recv: Some(recv), args });
        objective.score(&world.goal, 1, &world.execute(&test))
    };
    // both leave the way at the same place: how much of the other way they see is the same
    assert_eq!(score(1, 3).rank(&score(1, 4)), std::cmp::Ordering::Equal);
    assert_eq!(score(77, 4).rank(&score(1, 3)), std::cmp::Ordering::Less);
}

/// P14: what sorts populations is a total order.
#[test]
fn bbc_10_the_lattice_order_is_transitive() {
    let mut all: Vec<Score> = Vec::new();
    scores(Kind::StDistance, |_, _, _, score| all.push(score));
    all.truncate(300);
    let mut rng = Rng::new(4);
    for _ in 0..20_000 {
        let mut any = || &all[rng.below(all.len())];
        let (a, b, c) = (any(), any(), any());
        assert!(!(a.rank(b).is_le() && b.rank(c).is_le()) || a.rank(c).is_le());
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
