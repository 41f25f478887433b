//! Stack traces: what a log printed and what an execution threw, and when the two are the same crash.
//!
//! Innermost frame first. Platform frames (those of the language's own library) are neither counted nor compared, so that a
//! trace of one platform version matches that of another. Reading a trace out of text is the business of the language crates;
//! scoring how far an execution is from a trace is that of `objective`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// How many program frames of a runaway recursion are looked at: enough for any sane cycle, independent of the stack's depth.
const CYCLE_WINDOW: usize = 400;

/// The exceptions that end a runaway recursion. Where the stack happened to be exhausted is chance, so only the cycle counts.
const RECURSION: [&str; 2] = ["StackOverflowError", "RecursionError"];
/// Those that say that there is no more memory.
const EXHAUSTION: [&str; 2] = ["OutOfMemoryError", "MemoryError"];

/// One activation on the stack. Names are plain strings of the language at hand; only `line` may be compared loosely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub class: String,
    pub method: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub native: bool,
    /// Belongs to the platform's own library: neither counted nor compared.
    pub platform: bool,
    /// Version evidence, such as the archive or module the class came from.
    pub origin: Option<String>,
}

/// One exception with the frames it was created in. An exception may have no frames: runtimes omit them for hot code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Throwable {
    pub exception: String,
    pub message: Option<String>,
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// Exceptions that were set aside while this one was on its way, each with its own causes.
    pub suppressed: Vec<Trace>,
}

/// What a log prints for one crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trace {
    /// What the log prints first: the target.
    pub thrown: Throwable,
    /// The printed causes, outermost first, each with all its frames.
    pub causes: Vec<Throwable>,
    /// Some frames or causes were on the stack but are not in the log.
    pub truncated: bool,
}

/// The crash that a test has to bring about.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Program frames 1..k, innermost first. For a runaway recursion: all that the log prints.
    pub frames: &'a [Frame],
    pub exception: &'a str,
    /// The types of the printed causes, in order.
    pub causes: &'a [String],
    /// Whose frames `frames` are: 0 the exception's own, n those of its n-th printed cause.
    /// Not 0 only where the exception has no program frames of its own, as when an initialiser fails.
    pub frames_of: usize,
}

/// How the wanted exception left the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Via {
    /// It is what the test throws.
    Direct,
    /// A handler wrapped it: it stands in the cause chain of what the test throws.
    Cause,
}

/// How much of the wanted crash a test brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Matching program frames, from the innermost.
    pub frames: usize,
    pub via: Via,
}

impl Frame {
    /// A program frame; the caller sets `platform` where it is one.
    pub fn new(class: impl Into<String>, method: impl Into<String>, line: Option<u32>) -> Self {
        Self { class: class.into(), method: method.into(), line, ..Self::default() }
    }

    /// The same place in the program, as far as both frames tell: a frame without line matches by method.
    pub fn matches(&self, other: &Frame) -> bool {
        let same_line = match (self.line, other.line) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        self.class == other.class && self.method == other.method && same_line
    }
}

impl Throwable {
    /// The frames that count: those of the platform removed. The first one has number 1.
    pub fn program_frames(&self) -> Vec<Frame> {
        program(&self.frames).cloned().collect()
    }
}

impl Trace {
    /// The frames of the target that count, innermost (number 1) first.
    pub fn program_frames(&self) -> Vec<Frame> {
        self.thrown.program_frames()
    }

    /// The target and its printed causes, in order.
    pub fn chain(&self) -> impl Iterator<Item = &Throwable> {
        std::iter::once(&self.thrown).chain(&self.causes)
    }

    /// The types of the printed causes, in order.
    pub fn cause_types(&self) -> Vec<String> {
        self.causes.iter().map(|cause| cause.exception.clone()).collect()
    }

    /// Whether the crash is a runaway recursion, whose frames are compared as a cycle.
    pub fn is_recursion(&self) -> bool {
        is_recursion(&self.thrown.exception)
    }
}

/// Whether an exception of this name ends a runaway recursion.
pub fn is_recursion(exception: &str) -> bool {
    RECURSION.iter().any(|name| exception.ends_with(name))
}

/// Whether an exception of this name says that there is no more memory.
pub fn is_exhaustion(exception: &str) -> bool {
    EXHAUSTION.iter().any(|name| exception.ends_with(name))
}

/// How many frames agree, from the innermost, before the first that does not. Both lists without platform frames.
pub fn matched_prefix(want: &[Frame], got: &[Frame]) -> usize {
    prefix(want, got.iter())
}

/// Whether two runaway recursions go round in the same methods: those that come again within the window. The calls at the innermost end are
/// those that happened to find the stack full, and come only once. Both lists without platform frames.
pub fn same_cycle(want: &[Frame], got: &[Frame]) -> bool {
    let (want, got) = (Methods::of(want), Methods::of(got));
    match want.recurring() {
        // a report that was cut before anything came again
        again if again.is_empty() => alike(&want.all(), &got.all()),
        again => alike(&again, &got.recurring()) || alike(&want.all(), &got.all()),
    }
}

/// Whether two runaway recursions also end in the same methods. Both lists without platform frames.
pub fn same_end(want: &[Frame], got: &[Frame]) -> bool {
    alike(&Methods::of(want).all(), &Methods::of(got).all())
}

type Place<'f> = (&'f str, &'f str);

/// How often each method stands in the window.
struct Methods<'f>(BTreeMap<Place<'f>, usize>);

impl<'f> Methods<'f> {
    fn of(frames: &'f [Frame]) -> Methods<'f> {
        let mut counts = BTreeMap::new();
        for frame in frames.iter().take(CYCLE_WINDOW) {
            *counts.entry((frame.class.as_str(), frame.method.as_str())).or_insert(0) += 1;
        }
        Methods(counts)
    }
    fn all(&self) -> BTreeSet<Place<'f>> {
        self.0.keys().copied().collect()
    }
    fn recurring(&self) -> BTreeSet<Place<'f>> {
        self.0.iter().filter(|(_, n)| **n > 1).map(|(place, _)| *place).collect()
    }
}

/// Two sets overlap by at least 0.9 (Jaccard).
fn alike(a: &BTreeSet<Place<'_>>, b: &BTreeSet<Place<'_>>) -> bool {
    let (common, all) = (a.intersection(b).count(), a.union(b).count());
    // 10 c >= 9 a is c / a >= 0.9 without rounding.
    !a.is_empty() && 10 * common >= 9 * all
}

/// The best match of the wanted crash in the chain of throwables that a test ended with (outermost first, platform frames
/// marked). `None` if the exception is not in the chain, or never with its causes.
pub fn reached(wanted: &Wanted<'_>, chain: &[Throwable]) -> Option<Reached> {
    let mut best: Option<Reached> = None;
    for (start, thrown) in chain.iter().enumerate() {
        if thrown.exception != wanted.exception {
            continue;
        }
        let Some(found) = causes_in_order(wanted, &chain[start..]) else {
            continue;
        };
        let via = if start == 0 { Via::Direct } else { Via::Cause };
        let frames = matched_frames(wanted, &found.frames);
        if best.is_none_or(|b| frames > b.frames) {
            best = Some(Reached { frames, via });
        }
    }
    best
}

/// Whether the chain of throwables that a test ended with is the wanted crash: one of them has the type, all wanted frames
/// match in order, and the printed causes' types follow in order. Without any frame there is nothing to tell two crashes
/// apart, so nothing is accepted.
pub fn accepts(wanted: &Wanted<'_>, chain: &[Throwable]) -> Option<Via> {
    let reached = reached(wanted, chain)?;
    (!wanted.frames.is_empty() && reached.frames == wanted.frames.len()).then_some(reached.via)
}

/// The throwable whose frames are wanted, if the types of the causes follow in order in `chain`, which begins with the exception.
fn causes_in_order<'c>(wanted: &Wanted<'_>, chain: &'c [Throwable]) -> Option<&'c Throwable> {
    let mut rest = chain.iter();
    let mut framed = rest.next()?;
    for (i, cause) in wanted.causes.iter().enumerate() {
        let found = rest.find(|t| t.exception == *cause)?;
        if i + 1 == wanted.frames_of {
            framed = found;
        }
    }
    Some(framed)
}

fn matched_frames(wanted: &Wanted<'_>, got: &[Frame]) -> usize {
    if !is_recursion(wanted.exception) {
        return prefix(wanted.frames, program(got));
    }
    let got: Vec<Frame> = program(got).take(CYCLE_WINDOW).cloned().collect();
    if same_cycle(wanted.frames, &got) { wanted.frames.len() } else { 0 }
}

fn program(frames: &[Frame]) -> impl Iterator<Item = &Frame> {
    frames.iter().filter(|f| !f.platform)
}

fn prefix<'f>(want: &[Frame], got: impl Iterator<Item = &'f Frame>) -> usize {
    want.iter().zip(got).take_while(|(w, g)| w.matches(g)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<Frame> {
        text.split_whitespace().map(frame).collect()
    }

    /// `Class.method:line`; the line may be missing; a class beginning with `lib` is the platform's.
    fn frame(text: &str) -> Frame {
        let (place, line) = match text.split_once(':') {
            Some((place, line)) => (place, Some(line.parse().unwrap())),
            None => (text, None),
        };
        let (class, method) = place.rsplit_once('.').unwrap();
        Frame { platform: class.starts_with("lib"), ..Frame::new(class, method, line) }
    }

    fn throwable(exception: &str, text: &str) -> Throwable {
        Throwable { exception: exception.into(), frames: frames(text), ..Throwable::default() }
    }

    /// `chain`: `Type frame frame … | Type frame …`.
    fn chain(text: &str) -> Vec<Throwable> {
        let split = |one: &str| match one.trim().split_once(' ') {
            Some((exception, rest)) => throwable(exception, rest),
            None => throwable(one.trim(), ""),
        };
        text.split('|').map(split).collect()
    }

    fn check(want: &str, got: &str, expected: Option<Via>) {
        let want = chain(want);
        let causes: Vec<String> = want[1..].iter().map(|t| t.exception.clone()).collect();
        let program = want[0].program_frames();
        let wanted = Wanted { frames: &program, exception: &want[0].exception, causes: &causes, frames_of: 0 };
        assert_eq!(accepts(&wanted, &chain(got)), expected, "{got}");
    }

    #[test]
    fn exceptions_that_say_that_memory_ran_out() {
        assert!(is_exhaustion("java.lang.OutOfMemoryError") && is_exhaustion("MemoryError") && !is_exhaustion("java.lang.Error"));
    }

    #[test]
    fn platform_frames_are_not_counted() {
        let trace = Trace { thrown: throwable("E", "lib.x:1 A.a:2 lib.y:3 B.b:4"), ..Trace::default() };
        assert_eq!(trace.program_frames(), frames("A.a:2 B.b:4"));
    }

    #[test]
    fn a_frame_without_line_matches_by_method() {
        assert!(frame("A.a:2").matches(&frame("A.a")));
        assert!(frame("A.a").matches(&frame("A.a:2")));
        assert!(!frame("A.a:2").matches(&frame("A.a:3")));
        assert!(!frame("A.a:2").matches(&frame("A.b:2")));
        assert!(!frame("A.a:2").matches(&frame("B.a:2")));
    }

    #[test]
    fn file_origin_and_nativeness_are_not_compared() {
        let evidence = Frame { file: Some("A.src".into()), native: true, origin: Some("a-1.jar:1".into()), ..frame("A.a:2") };
        assert!(evidence.matches(&frame("A.a:2")));
    }

    #[test]
    fn the_prefix_ends_at_the_first_difference() {
        let want = frames("A.a:1 B.b:2 C.c:3");
        for (got, n) in [("A.a:1 B.b:2 C.c:3 T.t:9", 3), ("A.a:1 B.b:9 C.c:3", 1), ("A.a:1", 1), ("", 0), ("X.x:1 A.a:1", 0)] {
            assert_eq!(matched_prefix(&want, &frames(got)), n, "{got}");
        }
    }

    /// The same crash under two versions of the platform: other platform frames, other lines in them, one of them gone.
    #[test]
    fn versions_of_the_platform_do_not_matter() {
        let old = "E lib.range:653 lib.get:429 A.pick:12 lib.call:498 lib.invoke:62 B.run:40";
        let new = "E lib.outOfBounds:64 lib.check:266 lib.get:427 A.pick:12 lib.direct:103 B.run:40 T.test:5 lib.invoke:77";
        check(old, new, Some(Via::Direct));
    }

    #[test]
    fn mutated_traces_are_not_the_crash() {
        let want = "E A.a:1 B.b:2 C.c:3 | R D.d:4";
        check(want, "E A.a:1 B.b:2 C.c:3 T.t:1 | R D.d:9", Some(Via::Direct));
        for mutant in [
            "F A.a:1 B.b:2 C.c:3 | R D.d:4",
            "E A.a:2 B.b:2 C.c:3 | R D.d:4",
            "E A.a:1 B.b:2 C.x:3 | R D.d:4",
            "E A.a:1 C.c:3 B.b:2 | R D.d:4",
            "E B.b:2 C.c:3 | R D.d:4",
            "E A.a:1 X.x:1 B.b:2 C.c:3 | R D.d:4",
            "E A.a:1 B.b:2 | R D.d:4",
            "E A.a:1 B.b:2 C.c:3",
            "E A.a:1 B.b:2 C.c:3 | S D.d:4",
            "E | R A.a:1 B.b:2 C.c:3",
            "R D.d:4 | E A.a:1 B.b:2 C.c:3",
        ] {
            check(want, mutant, None);
        }
    }

    #[test]
    fn a_wrapped_target_counts_as_cause() {
        check("E A.a:1", "W T.t:1 | E A.a:1 T.t:1", Some(Via::Cause));
        check("E A.a:1", "E X.x:1 | E A.a:1 T.t:1", Some(Via::Cause));
        check("E A.a:1", "E A.a:1 T.t:1 | E A.a:1 T.t:1", Some(Via::Direct));
    }

    #[test]
    fn causes_follow_in_order_but_not_at_once() {
        check("E A.a:1 | R | S", "E A.a:1 | X | R | Y | S", Some(Via::Direct));
        check("E A.a:1 | R | S", "E A.a:1 | S | R", None);
        check("E A.a:1 | E", "E A.a:1", None);
        check("E A.a:1 | E", "E A.a:1 | E", Some(Via::Direct));
    }

    #[test]
    fn no_frames_no_acceptance() {
        check("E lib.x:1", "E lib.x:1", None);
        check("StackOverflowError", "StackOverflowError A.a:1", None);
    }

    #[test]
    fn the_best_match_in_the_chain_counts() {
        let frames = frames("A.a:1 B.b:2 C.c:3");
        let wanted = Wanted { frames: &frames, exception: "E", causes: &[], frames_of: 0 };
        let got = chain("E A.a:1 | E A.a:1 B.b:2 T.t:1 | E X.x:1");
        assert_eq!(reached(&wanted, &got), Some(Reached { frames: 2, via: Via::Cause }));
        assert_eq!(accepts(&wanted, &got), None);
        assert_eq!(reached(&wanted, &chain("F A.a:1")), None);
    }

    #[test]
    fn frames_of_a_failed_initialiser_are_its_causes() {
        let (frames, causes) = (frames("A.init:1"), ["R".to_string()]);
        let wanted = Wanted { frames: &frames, exception: "E", causes: &causes, frames_of: 1 };
        assert_eq!(accepts(&wanted, &chain("E T.t:3 | R A.init:1 T.t:3")), Some(Via::Direct));
        assert_eq!(accepts(&wanted, &chain("E A.init:1 | R B.init:1")), None);
    }

    #[test]
    fn recursion_is_compared_as_a_cycle() {
        let repeat = |unit: &str, n: usize| format!("x.StackOverflowError {}", format!("{unit} ").repeat(n));
        let want = repeat("A.a:1 B.b:2", 500);
        check(&want, &repeat("B.b:3 A.a:1", 300), Some(Via::Direct));
        check(&want, &repeat("A.a:1", 500), None);
        check(&want, &repeat("A.a:1 B.b:2 C.c:3", 500), None);
        // What lies beyond the window, such as the way into the recursion, is not looked at.
        check(&want, &format!("{} M.main:1 T.t:2", repeat("A.a:1 B.b:2", 200)), Some(Via::Direct));
    }

    #[test]
    fn what_found_the_stack_full_does_not_belong_to_the_cycle() {
        let log = frames("T.clean:1 A.make:2 T.value:3 A.make:2 T.value:3 A.make:2");
        let other = frames("T.next:9 T.clean:1 A.make:2 T.value:3 A.make:2 T.value:3 A.make:2 Main.main:1");
        assert!(same_cycle(&log, &other) && !same_end(&log, &other));
        assert!(same_end(&log, &log));
        assert!(!same_cycle(&log, &frames("T.clean:1 B.make:2 T.value:3 B.make:2 T.value:3 B.make:2")));
    }

    #[test]
    fn the_cycle_threshold_is_nine_tenths() {
        let unit = |n: usize| frames(&(0..n).map(|i| format!("A.m{i}:1 ")).collect::<String>());
        assert!(same_cycle(&unit(9), &unit(10)));
        assert!(!same_cycle(&unit(8), &unit(9)));
        assert!(!same_cycle(&[], &[]));
    }
}
