//! Properties of the traceback reader on mangled input: it never panics, its results are bounded and it takes linear time.
//! The same properties are fuzzed with coverage in `fuzz/`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rethrow_core::trace::Trace;
use rethrow_python::trace::{looks_like_python, parse_all};

/// SplitMix64: seeded, so that a failure can be repeated.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).expect("it is below a usize")
    }
}

const TOKENS: [&str; 22] = [
    "Traceback (most recent call last):\n",
    "  File \"a.py\", line 1, in f\n",
    "  File \"",
    "\", line ",
    ", in ",
    "ValueError: x\n",
    "During handling of the above exception, another exception occurred:\n",
    "The above exception was the direct cause of the following exception:\n",
    "  + Exception Group Traceback (most recent call last):\n",
    "  | ",
    "  +-+---------------- 1 ----------------\n",
    "    | ",
    "[Previous line repeated 99999999999999 more times]\n",
    "  [Previous line repeated 9999999 more times]\n",
    "E   ",
    "a.py:3: in f\n",
    "a.py:3: ValueError\n",
    "____ test ____\n",
    "Cell In[3], line 5\n",
    "----> 5 x\n",
    "\u{1b}[",
    "é店\r",
];

fn seeds() -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/python");
    let mut paths: Vec<_> = fs::read_dir(dir).expect("the corpus is in the repository").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths.iter().filter(|path| path.extension().is_some_and(|e| e == "log")).map(|path| fs::read_to_string(path).expect("readable")).collect()
}

fn read_everything(text: &str) {
    let parsed = parse_all(text);
    for found in &parsed.value {
        assert!(found.count > 0 && found.first_line > 0);
        assert!(found.trace.chain().any(|thrown| !thrown.frames.is_empty()));
        assert!(found.trace.chain().all(|thrown| thrown.frames.len() <= 1 << 14));
        assert!(depth(&found.trace) <= 16);
    }
    assert!(parsed.diagnostics.len() <= 100);
    looks_like_python(text);
}

fn depth(trace: &Trace) -> usize {
    1 + trace.chain().flat_map(|thrown| &thrown.suppressed).map(depth).max().unwrap_or(0)
}

#[test]
fn mangled_logs_never_panic() {
    let seeds = seeds();
    assert!(seeds.len() >= 28);
    let mut rng = Rng(3);
    for _ in 0..3000 {
        let mut chars: Vec<char> = seeds[rng.below(seeds.len())].chars().collect();
        let other: Vec<char> = seeds[rng.below(seeds.len())].chars().collect();
        for _ in 0..1 + rng.below(8) {
            let at = rng.below(chars.len() + 1);
            match rng.below(4) {
                0 => chars.truncate(at.max(chars.len() / 2)),
                1 => drop(chars.drain(at..(at + rng.below(80)).min(chars.len()))),
                2 => {
                    let from = rng.below(other.len() + 1);
                    let piece = other[from..(from + rng.below(300)).min(other.len())].to_vec();
                    chars.splice(at..at, piece);
                }
                _ => drop(chars.splice(at..at, TOKENS[rng.below(TOKENS.len())].chars())),
            }
        }
        read_everything(&chars.into_iter().collect::<String>());
    }
}

#[test]
fn noise_never_panics() {
    let mut rng = Rng(4);
    for _ in 0..1000 {
        let text: String = (0..rng.below(60)).map(|_| TOKENS[rng.below(TOKENS.len())]).collect();
        read_everything(&text);
    }
}

#[test]
fn nesting_and_repetition_are_bounded() {
    let mut text = String::new();
    for n in 0..400 {
        let pad = " ".repeat(2 + 2 * n);
        text += &format!(
            "{pad}+ Exception Group Traceback (most recent call last):\n{pad}|   File \"a.py\", line 1, in f\n{pad}| G: x\n{pad}+-+--------- 1 -------\n"
        );
    }
    read_everything(&text);
    let repeated = "  [Previous line repeated 9999999 more times]\n".repeat(100);
    read_everything(&format!("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n{repeated}E: x\n"));
    read_everything(&format!("Traceback (most recent call last):\n{}E: x\n", "  File \"a.py\", line 1, in f\n".repeat(100_000)));
}

/// Input made to be slow: what repeats is scanned again and again by a reader that is not linear.
#[test]
fn time_is_linear() {
    let time = |text: &str| {
        let start = cpu_seconds();
        parse_all(text);
        cpu_seconds() - start
    };
    for unit in TOKENS.iter().chain(&["x\n", "\n", "{\"a\":\"Traceback (most recent call last)\\n", "a: b\n", " "]) {
        let text = |size: usize| format!("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nE: x\n{}", unit.repeat(size / unit.len()));
        // Eight times the input; quadratic would be 64 times. The floor is the coarsest tick of a CPU clock, with room.
        let best = |size: usize| (0..3).map(|_| time(&text(size))).fold(f64::MAX, f64::min);
        let (small, large) = (best(50_000), best(400_000));
        assert!(large < small.max(0.02) * 30.0, "{unit:?}: {small:.4} s, then {large:.4} s");
    }
}

/// Time that this thread was running: on a busy machine the clock on the wall measures the others.
fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns / 1e9)
}
