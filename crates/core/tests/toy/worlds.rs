//! Programs with a crash, and what it takes to search in them.

use rethrow_core::execution::Execution;
use rethrow_core::goal::{self, CrashGoal};
use rethrow_core::objective::{Kind, Objective, Settings, context};
use rethrow_core::probe::ProbePlan;
use rethrow_core::program::{MethodId, Program};
use rethrow_core::search::portfolio::{self, Schedule};
use rethrow_core::search::targets::{BuildRules, palette};
use rethrow_core::search::{Evaluator, Event, Limits, Setup, Stop};
use rethrow_core::target::{Session, SessionLost};
use rethrow_core::testcase::TestCase;
use rethrow_core::testcase::build::Palette;
use rethrow_core::toy::{self, run::Interpreter};

/// A program, its probes, and the crash that is wanted.
pub struct World {
    pub program: Program,
    pub plan: ProbePlan,
    pub goal: CrashGoal,
    /// The fitness that searches use.
    pub settings: Settings,
    pub schedule: Schedule,
}

impl World {
    pub fn new(text: &str, crash: &str) -> World {
        let program = toy::load(text).expect("the fixture is well formed");
        let trace = toy::trace(text, crash).expect("the crash is well formed");
        let goal = goal::resolve(&trace, &program).expect("the crash fits the program");
        let mut plan = toy::plan(&program);
        plan.chain = context::chain(&program, &plan, &goal);
        World { plan, program, goal, settings: Kind::StDistance.into(), schedule: Schedule::default() }
    }
    /// The same in a session that does not observe callers.
    pub fn without_callers(mut self) -> World {
        self.plan.chain.clear();
        self
    }
    pub fn session(&self) -> Interpreter<'_> {
        Interpreter::new(&self.program, &self.plan)
    }
    pub fn palette(&self, level: usize) -> Palette<'_> {
        palette(&self.program, &self.goal, level, &BuildRules::default())
    }
    pub fn objective(&self, settings: impl Into<Settings>) -> Objective {
        Objective::new(settings, &self.program, &self.plan, &self.goal)
    }
    pub fn execute(&self, test: &TestCase) -> Execution {
        self.session().execute(std::slice::from_ref(test)).expect("the interpreter does not get lost").remove(0)
    }
    /// The only method of that name in that class.
    pub fn method(&self, class: &str, name: &str) -> MethodId {
        let class = self.program.find_type(class).expect("the class is there");
        self.program.methods_named(class, name).next().expect("the method is there")
    }
    /// Runs `f` with an evaluator and gives its result and the events.
    pub fn evaluate<R>(&self, with: With<'_>, f: impl FnOnce(&mut Evaluator<'_>) -> R) -> (R, Vec<Event>) {
        let mut events = Vec::new();
        let mut keep = |event| events.push(event);
        let With { session, limits, max_evaluations } = with;
        let objective = self.objective(self.settings);
        let mut evaluator = Evaluator::new(Setup { session, goal: &self.goal, objective, limits, max_evaluations, events: &mut keep });
        let result = f(&mut evaluator);
        drop(evaluator);
        (result, events)
    }
    /// What the portfolio does within a number of evaluations.
    pub fn search(&self, session: &mut dyn Session, seed: u64, max_evaluations: u64) -> Searched {
        let with = With { session, limits: &Unlimited, max_evaluations };
        let ((stop, level, test, evaluations), events) = self.evaluate(with, |evaluator| {
            let stop = portfolio::run(evaluator, &self.program, &BuildRules::default(), &self.schedule, seed);
            (stop, evaluator.reached(), evaluator.found().map(|f| f.test.clone()), evaluator.evaluations())
        });
        Searched { stop, level, test, evaluations, events }
    }
}

/// What an evaluator is given.
pub struct With<'a> {
    pub session: &'a mut dyn Session,
    pub limits: &'a dyn Limits,
    pub max_evaluations: u64,
}

#[derive(Debug, PartialEq)]
pub struct Searched {
    pub stop: Stop,
    pub level: usize,
    pub test: Option<TestCase>,
    pub evaluations: u64,
    pub events: Vec<Event>,
}

pub struct Unlimited;
impl Limits for Unlimited {
    fn time_is_up(&self) -> bool {
        false
    }
    fn cancelled(&self) -> bool {
        false
    }
}

/// Executes a batch in pieces and keeps what was executed.
pub struct Pieces<'p> {
    pub inner: Interpreter<'p>,
    pub size: usize,
    pub executed: Vec<TestCase>,
    pub pristine: Vec<TestCase>,
}

impl<'p> Pieces<'p> {
    pub fn new(inner: Interpreter<'p>, size: usize) -> Pieces<'p> {
        Pieces { inner, size, executed: Vec::new(), pristine: Vec::new() }
    }
}

impl Session for Pieces<'_> {
    fn execute(&mut self, batch: &[TestCase]) -> Result<Vec<Execution>, SessionLost> {
        self.executed.extend_from_slice(batch);
        let mut results = Vec::new();
        for piece in batch.chunks(self.size) {
            results.extend(self.inner.execute(piece)?);
        }
        Ok(results)
    }
    fn execute_pristine(&mut self, test: &TestCase) -> Result<Execution, SessionLost> {
        self.pristine.push(test.clone());
        self.inner.execute_pristine(test)
    }
}

/// Inheritance, factories, arrays, static and private members: something for every operator.
pub const PRESS: &str = r#"
abstract class Shape {
  field name string
  field size int
  method grow(n int) {
    this.size = this.size + n
  }
  method weigh(other Shape) int {
    if other == null return this.size
    return other.size
  }
}
class Square extends Shape {
  static field unit Square
  static field two Square
  new(size int) {
    this.size = size
  }
  static method of(name string) Shape {
    made = new Square(3)
    made.name = name
    return made
  }
  method copy() object {
    return new Square(this.size)
  }
}
class Bar extends Shape {
  new(inner Shape, marks int[]) {
    this.size = marks.length
    if inner == null throw NoInner
  }
  method grow(n int) {
    this.size = this.size * n
  }
}
class Press {
  field left Shape
  private field count int
  new() {
  }
  private new(count int) {
    this.count = count
  }
  static method worn(count int) Press {
    return new Press(count)
  }
  method put(shape Shape, shapes Shape[]) {
    this.left = shape
    this.count = this.count + shapes.length
  }
  method squeeze(force int, label string, extra object) int {
    if force > this.left.size {
      if label == "hard" {
        this.burst(force) # through
      }
    }
    return force
  }
  private method burst(force int) {
    if force > 1000 {
      throw Boom # boom
    }
  }
}
"#;

pub fn press() -> World {
    World::new(PRESS, "Boom Press.burst:boom Press.squeeze:through")
}

/// A number two calls deep, which only one public method leads to.
pub fn deep_number() -> World {
    number("private ", "Overload Meter.check:overload Meter.scale:middle Meter.add:outer")
}

/// The same with methods that a test may call at each depth.
pub fn open_number() -> World {
    number("", "Overload Meter.check:overload Meter.scale:middle")
}

fn number(access: &str, crash: &str) -> World {
    let text = r"
class Meter {
  field total int
  new(start int) {
    this.total = start
  }
  method add(n int) {
    more = n + 7
    this.scale(more) # outer
  }
  ACCESS method scale(n int) {
    times = n * 3
    this.check(times) # middle
  }
  ACCESS method check(n int) {
    this.total = this.total + n
    if n == 12345 {
      throw Overload # overload
    }
  }
}
";
    World::new(&text.replace("ACCESS ", access), crash)
}

/// Two texts that must be equal to each other and to a constant.
pub fn string_equality() -> World {
    let text = r#"
class Gate {
  field word string
  new(word string) {
    this.word = word
  }
  method open(guess string) int {
    if guess == "sesame" {
      if this.word == guess {
        throw Opened # opened
      }
    }
    return 0
  }
}
"#;
    World::new(text, "Opened Gate.open:opened")
}

/// Two setters must have prepared the object.
pub fn object_state() -> World {
    let text = r"
class Valve {
  private field pressure int
  private field pipe Pipe
  new() {
  }
  method raise(by int) {
    if by > 0 {
      if by < 50 {
        this.pressure = this.pressure + by
      }
    }
  }
  method attach(pipe Pipe) {
    this.pipe = pipe
  }
  method turn() {
    if this.pressure > 80 {
      if this.pipe != null {
        this.pipe.flow(this.pressure)
        throw Leak # leak
      }
    }
  }
}
class Pipe {
  field seen int
  new(width int) {
    if width < 1 throw TooThin
    this.seen = width
  }
  method flow(n int) {
    this.seen = n
  }
}
";
    World::new(text, "Leak Valve.turn:leak")
}

/// A private method that only one public way leads to.
pub fn private_method() -> World {
    let text = r#"
class Parser {
  private field depth int
  new() {
  }
  method open() {
    this.depth = this.depth + 1
  }
  method close(text string) int {
    if text == null return 0
    return this.leave(this.depth)
  }
  private method leave(n int) int {
    if n > 2 {
      return this.fail(n)
    }
    return n
  }
  private method fail(n int) int {
    if n != 4 return n
    throw Unbalanced # unbalanced
  }
}
"#;
    World::new(text, "Unbalanced Parser.fail:unbalanced")
}

/// No branch on the way: each line needs another field to be set.
pub fn branchless() -> World {
    let text = r#"
class Wagon {
  field load string
  new() {
  }
  method fill(load string) {
    this.load = load
  }
}
class Train {
  private field a Wagon
  private field b Wagon
  private field c Wagon
  private field d Wagon
  private field e Wagon
  private field f Wagon
  new() {
  }
  method setA(w Wagon) {
    this.a = w
  }
  method setB(w Wagon) {
    this.b = w
  }
  method setC(w Wagon) {
    this.c = w
  }
  method setD(w Wagon) {
    this.d = w
  }
  method setE(w Wagon) {
    this.e = w
  }
  method weigh() {
    one = this.a.load
    two = this.b.load
    three = this.c.load
    four = this.d.load
    five = this.e.load
    six = this.f.load # last
  }
}
"#;
    World::new(text, "NullDeref Train.weigh:last")
}

/// Three frames in three classes, the outer ones choosing what the inner ones get.
pub fn three_frames() -> World {
    let text = r#"
class Store {
  static method fetch(key int, owner Owner) string {
    if key > 90 {
      return owner.name # fetch
    }
    return "none"
  }
}
class Owner {
  field name string
  new(name string) {
    this.name = name
  }
}
class Service {
  field store int
  field owner Owner
  new(owner Owner) {
    this.owner = owner
  }
  method look(key int) string {
    if key < 200 {
      return Store.fetch(key, this.owner) # look
    }
    return "far"
  }
}
class Desk {
  field service Service
  new(service Service) {
    this.service = service
  }
  method answer(question string, key int) string {
    if question == "who" {
      answer = this.service.look(key) # answer
      return answer
    }
    return question
  }
}
"#;
    World::new(text, "NullDeref Store.fetch:fetch Service.look:look Desk.answer:answer")
}
