//! Probes do not change what a program does: the same random tests, with and without them, end in the same way. In the jail, on every JDK.

#![allow(clippy::unwrap_used)]

mod random;

use rethrow_core::target::Session;
use rethrow_core::testcase::TestCase;
use rethrow_jvm::launch::{self, JvmSession, SessionConfig, Watch};

use random::{Random, Shown, Subject, jdks};

const TESTS: usize = 1000;
const BATCH: usize = 50;
/// The first seed, and how many of them `make test-all` tries.
const SEED: u64 = 5;
const ALL_SEEDS: u64 = 10;

/// Both executions of a test.
struct Pair<'p> {
    subject: &'p Subject,
    probed: JvmSession<'p>,
    plain: JvmSession<'p>,
}

/// Why a difference is none of the probes.
#[derive(Default, Debug)]
struct Excused {
    /// Steps ended it; without probes nothing counts them.
    steps: usize,
    /// It asked the process to end; without probes the process does.
    exits: usize,
    /// Without probes static fields are not put back, so an earlier test showed. Alone in a new JVM both end alike.
    earlier: usize,
    /// Two runs without probes differ: it depends on time or chance.
    chance: usize,
}

impl<'p> Pair<'p> {
    fn start(subject: &'p Subject) -> Pair<'p> {
        let (config, program) = (subject.config(), &subject.program);
        let probed = launch::start(program, &subject.watch(), &config).unwrap();
        let plain = launch::start(program, &Watch::default(), &SessionConfig { instrument: false, ..config }).unwrap();
        Pair { subject, probed, plain }
    }

    /// Judges a difference; the text is that of a failure.
    fn judge(&mut self, test: &TestCase, probed: Shown, plain: Shown, excused: &mut Excused) -> Option<String> {
        if probed == plain || (probed.is_exhausted() && plain.is_exhausted()) {
            return None;
        }
        let count = match (&probed, &plain) {
            (Shown::Other(how), _) if how.starts_with("step limit") => &mut excused.steps,
            (Shown::Other(how), Shown::Other(other)) if how.starts_with("exit") && other == "died" => &mut excused.exits,
            _ => {
                let alone = |session: &mut JvmSession<'_>| Shown::of(&session.execute_pristine(test).unwrap());
                let (plain_alone, again, alone) = (alone(&mut self.plain), alone(&mut self.plain), alone(&mut self.probed));
                if plain_alone != again {
                    &mut excused.chance
                } else if alone == plain_alone && alone == probed {
                    &mut excused.earlier
                } else {
                    let shown = self.subject.show(test);
                    return Some(format!("with probes {probed:?}, alone {alone:?}\nwithout {plain:?}, alone {plain_alone:?}\n{shown}"));
                }
            }
        };
        *count += 1;
        None
    }
}

fn check(subject: &Subject, seed: u64) {
    let tests: Vec<TestCase> = subject.tests(seed, TESTS).into_iter().map(|Random { test, .. }| test).collect();
    let mut pair = Pair::start(subject);
    let (mut excused, mut failures) = (Excused::default(), Vec::new());
    let (mut normal, mut thrown, mut hits) = (0, 0, 0);
    for batch in tests.chunks(BATCH) {
        let (probed, plain) = (pair.probed.execute(batch).unwrap(), pair.plain.execute(batch).unwrap());
        for ((test, probed), plain) in batch.iter().zip(&probed).zip(&plain) {
            hits += probed.hits.len();
            let (probed, plain) = (Shown::of(probed), Shown::of(plain));
            normal += usize::from(probed == Shown::Normal);
            thrown += usize::from(matches!(probed, Shown::Thrown(..)));
            failures.extend(pair.judge(test, probed, plain, &mut excused));
        }
    }
    let jdk = subject.jdk.feature;
    println!("JDK {jdk}, seed {seed}: {normal} normal, {thrown} thrown, {excused:?}, {} differ", failures.len());
    assert!(failures.is_empty(), "JDK {jdk}, seed {seed}: {} of {TESTS} differ\n{}", failures.len(), failures.join("\n"));
    assert!(normal > TESTS / 5 && thrown > TESTS / 10, "too few tests do anything: {normal} normal, {thrown} thrown");
    assert!(hits > 10 * TESTS, "only {hits} probes were hit");
    let Excused { steps, exits, earlier, chance } = excused;
    assert!(steps + exits + earlier + chance <= TESTS / 20, "too much is excused: {excused:?}");
}

#[test]
fn instrumented_and_plain_runs_end_alike() {
    let seeds = if std::env::var_os("RETHROW_ALL").is_some() { ALL_SEEDS } else { 1 };
    for jdk in jdks() {
        let subject = Subject::open(jdk);
        (SEED..SEED + seeds).for_each(|seed| check(&subject, seed));
    }
}
