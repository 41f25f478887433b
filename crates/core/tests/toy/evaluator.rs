//! What no engine can get around: budget, duplicates, the end at the first hit, confirmation, cancellation.

use rethrow_core::execution::{Execution, Outcome};
use rethrow_core::minimize::{Effort, minimize};
use rethrow_core::search::{Event, Limits, Stop};
use rethrow_core::target::{Session, SessionLost};
use rethrow_core::testcase::{Stmt, TestCase, Value};
use rethrow_core::toy::run::Interpreter;

use crate::worlds::{self, Pieces, Unlimited, With, World};

/// `v = new Meter(n); v.check(n)`: crashes for 12345.
fn check_of(world: &World, n: i32) -> TestCase {
    let mut test = TestCase::default();
    let lit = test.push(Stmt::Lit(Value::Int(n)));
    let recv = test.push(Stmt::New { ctor: world.method("Meter", "new"), args: vec![lit] });
    test.push(Stmt::Call { method: world.method("Meter", "check"), recv: Some(recv), args: vec![lit] });
    test
}

#[test]
fn the_budget_is_never_exceeded() {
    let world = worlds::private_method();
    for max in [0, 1, 7, 49, 50, 51, 333] {
        let mut session = Pieces::new(world.session(), 1000);
        let searched = world.search(&mut session, 3, max);
        let executed = session.executed.len() as u64;
        assert!(executed <= max);
        match searched.stop {
            Stop::BudgetSpent => assert_eq!((searched.evaluations, executed), (max, max)),
            // what follows the first hit in a batch was executed but does not count
            Stop::Reproduced => assert!(searched.evaluations <= executed),
            other => panic!("{other:?}"),
        }
    }
}

/// EVO-24: the search stops at f = 0.
#[test]
fn a_batch_ends_at_the_first_test_that_meets_the_goal() {
    let world = worlds::open_number();
    let mut session = world.session();
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 100 };
    let batch: Vec<TestCase> = [1, 2, 12345, 4, 5].iter().map(|n| check_of(&world, *n)).collect();
    let ((), events) = world.evaluate(with, |evaluator| {
        assert_eq!(evaluator.evaluate(batch.clone()).err(), Some(Stop::Reproduced));
        assert_eq!((evaluator.evaluations(), evaluator.reached()), (3, 1));
        assert_eq!(evaluator.found().map(|f| &f.test), Some(&batch[2]));
        assert_eq!(evaluator.tally.normal, 2);
    });
    assert_eq!(events.last(), Some(&Event::Reached { level: 1, evaluations: 3 }));
}

#[test]
fn an_inner_success_is_kept_while_the_search_goes_on() {
    let world = worlds::open_number();
    let mut session = world.session();
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 100 };
    world.evaluate(with, |evaluator| {
        evaluator.pursue(2, "test");
        let batch: Vec<TestCase> = [12345, 4].iter().map(|n| check_of(&world, *n)).collect();
        assert_eq!(evaluator.evaluate(batch).map(|scored| scored.len()), Ok(2));
        assert_eq!((evaluator.evaluations(), evaluator.reached()), (2, 1));
    });
}

#[test]
fn duplicates_cost_nothing() {
    let world = worlds::open_number();
    let mut session = Pieces::new(world.session(), 100);
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 100 };
    world.evaluate(with, |evaluator| {
        let batch: Vec<TestCase> = [1, 2, 1, 1].iter().map(|n| check_of(&world, *n)).collect();
        assert_eq!(evaluator.evaluate(batch.clone()).map(|scored| scored.len()), Ok(4));
        assert_eq!(evaluator.evaluate(batch).map(|scored| scored.len()), Ok(4));
        assert_eq!(evaluator.evaluations(), 2);
    });
    assert_eq!(session.executed.len(), 2);
}

/// Its history makes tests crash that do not crash elsewhere.
struct Haunted<'p>(Pieces<'p>);

impl Session for Haunted<'_> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.0.execute(batch)
    }
    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost> {
        self.0.execute_pristine(test).map(|_| Execution::ended(Outcome::Normal))
    }
}

/// EVO-24: and the test is executed again.
#[test]
fn a_hit_that_a_pristine_run_does_not_show_does_not_count() {
    let world = worlds::open_number();
    let mut session = Haunted(Pieces::new(world.session(), 100));
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 100 };
    let ((), events) = world.evaluate(with, |evaluator| {
        let batch = vec![check_of(&world, 12345), check_of(&world, 3)];
        assert!(evaluator.evaluate(batch).is_ok());
        assert!(evaluator.found().is_none() && evaluator.reached() == 0);
        assert_eq!(evaluator.evaluations(), 2);
    });
    assert_eq!(session.0.pristine.len(), 1);
    assert!(!events.iter().any(|e| matches!(e, Event::Reached { .. })));
}

/// `check(12345)` crashes only after a `check(3)`, in the same test or in one before it.
struct Leaving<'p> {
    inner: Interpreter<'p>,
    left: bool,
    renewed: u32,
}

impl Session for Leaving<'_> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        let mut results = Vec::new();
        for test in batch {
            self.left |= test.stmts.contains(&Stmt::Lit(Value::Int(3)));
            let shown = self.inner.execute_pristine(test)?;
            results.push(if self.left { shown } else { Execution::ended(Outcome::Normal) });
        }
        Ok(results)
    }
    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost> {
        let left = std::mem::replace(&mut self.left, false);
        let result = self.execute(std::slice::from_ref(test));
        self.left = left;
        Ok(result?.remove(0))
    }
    fn replay(&mut self, tests: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.left = false;
        self.execute(tests)
    }
    fn renew(&mut self) {
        self.left = false;
        self.renewed += 1;
    }
}

#[test]
fn a_hit_that_an_earlier_test_made_possible_is_joined_with_it() {
    let world = worlds::open_number();
    let mut session = Leaving { inner: world.session(), left: false, renewed: 0 };
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 1000 };
    world.evaluate(with, |evaluator| {
        let batch: Vec<TestCase> = (0..40).chain([12345]).map(|n| check_of(&world, n)).collect();
        assert_eq!(evaluator.evaluate(batch).err(), Some(Stop::Reproduced));
        let found = evaluator.found().unwrap().test.clone();
        assert_eq!(found.stmts[..3], check_of(&world, 3).stmts);
        assert_eq!((found.len(), &found.stmts[3]), (6, &Stmt::Lit(Value::Int(12345))));
        let effort = Effort { executions: 100, out_of_time: &|| false };
        let minimal = minimize(evaluator, &world.program, 1, &found, effort).unwrap();
        assert!(minimal.stmts.contains(&Stmt::Lit(Value::Int(3))), "what was left behind by candidates must not count: {minimal:?}");
    });
    assert_eq!(session.renewed, 1);
}

/// Published configurations: a hit that does not come again is none.
#[test]
fn no_history_is_looked_into_where_none_is_wanted() {
    let world = worlds::open_number();
    let mut session = Leaving { inner: world.session(), left: false, renewed: 0 };
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 1000 };
    world.evaluate(with, |evaluator| {
        evaluator.leave_history();
        assert!(evaluator.evaluate(vec![check_of(&world, 3), check_of(&world, 12345)]).is_ok());
        assert_eq!((evaluator.reached(), evaluator.evaluations()), (0, 2));
    });
    assert_eq!(session.renewed, 0);
}

#[test]
fn a_test_that_fresh_processes_refute_does_not_count_again_and_another_does() {
    let world = worlds::open_number();
    let mut session = Pieces::new(world.session(), 100);
    let with = With { session: &mut session, limits: &Unlimited, max_evaluations: 100 };
    world.evaluate(with, |evaluator| {
        let hit = check_of(&world, 12345);
        assert_eq!(evaluator.evaluate(vec![hit.clone()]).err(), Some(Stop::Reproduced));
        evaluator.refute(std::slice::from_ref(&hit));
        assert_eq!(evaluator.reached(), 0);
        let mut longer = hit.clone();
        longer.push(Stmt::Lit(Value::Int(7)));
        assert!(evaluator.evaluate(vec![longer]).is_ok(), "the same up to the statement that throws");
        let mut other = TestCase::default();
        other.push(Stmt::Lit(Value::Int(1)));
        let shift = |stmt: &Stmt| {
            let mut stmt = stmt.clone();
            stmt.operands_mut().into_iter().for_each(|v| v.0 += 1);
            stmt
        };
        hit.stmts.iter().map(shift).for_each(|s| {
            other.push(s);
        });
        assert_eq!(evaluator.evaluate(vec![other.clone()]).err(), Some(Stop::Reproduced));
        assert_eq!(evaluator.found().map(|f| &f.test), Some(&other));
    });
}

struct Ended {
    time: bool,
    cancelled: bool,
}

impl Limits for Ended {
    fn time_is_up(&self) -> bool {
        self.time
    }
    fn cancelled(&self) -> bool {
        self.cancelled
    }
}

#[test]
fn the_clock_and_the_user_end_the_search_before_anything_runs() {
    let world = worlds::open_number();
    for (limits, stop) in [(Ended { time: true, cancelled: false }, Stop::BudgetSpent), (Ended { time: true, cancelled: true }, Stop::Cancelled)] {
        let mut session = Pieces::new(world.session(), 100);
        let with = With { session: &mut session, limits: &limits, max_evaluations: 100 };
        let (result, _) = world.evaluate(with, |evaluator| evaluator.evaluate(vec![check_of(&world, 1)]).err());
        assert_eq!(result, Some(stop));
        assert!(session.executed.is_empty());
    }
}

struct Lost;

impl Session for Lost {
    fn execute(&mut self, _: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        Err(SessionLost("gone".into()))
    }
    fn execute_pristine(&mut self, _: &TestCase) -> Result<Execution, SessionLost> {
        Err(SessionLost("gone".into()))
    }
}

#[test]
fn a_lost_session_ends_the_search() {
    let world = worlds::open_number();
    let searched = world.search(&mut Lost, 1, 100);
    assert_eq!((searched.stop, searched.evaluations), (Stop::SessionLost("gone".into()), 0));
}
