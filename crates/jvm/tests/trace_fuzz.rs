//! Properties of the trace reader on generated and mangled input: it never panics, takes linear time, and reads what it prints.
//! The same properties are fuzzed with coverage in `fuzz/`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rethrow_core::trace::{Frame, Throwable, Trace};
use rethrow_jvm::trace::{Standard, decode_text, foreign_language, is_platform, looks_obfuscated, nearest_lines, parse_all};

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

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

const EXCEPTIONS: [&str; 7] =
    ["java.lang.NullPointerException", "org.shop.ShopException", "a.B$CError", "MyException", "scala.MatchError", "größe.Fehler", "org.shop.Problem"];
const CLASSES: [&str; 9] = [
    "org.shop.Till",
    "Till",
    "java.util.ArrayList$Itr",
    "a.b.C$1",
    "a.C$$Lambda$12/0x0000000800c03000",
    "sun.reflect.X",
    "größe.Lager",
    "clojure.core$map__1",
    "com.sun.proxy.$Proxy3",
];
const METHODS: [&str; 8] = ["run", "<init>", "<clinit>", "lambda$run$0", "access$000", "prüfe", "$plus$plus", "a"];
const MESSAGES: [&str; 8] = ["no", "Index 3 out of bounds for length 3", "at home (again)", "a: b: c", "two\nlines", "", "[x] {y}", "null"];

fn frame(rng: &mut Rng) -> Frame {
    let class = rng.pick(&CLASSES).to_string();
    let native = rng.one_in(8);
    let file = (!native && !rng.one_in(4)).then(|| rng.pick(&["Till.java", "Store.kt", "SourceFile"]).to_string());
    let line = (!native && !rng.one_in(4)).then(|| u32::try_from(rng.below(5000)).expect("small"));
    let origin = rng.one_in(5).then(|| rng.pick(&["java.base", "java.base@17.0.1", "x-1.2.jar:1.2", "app"]).to_string());
    Frame { platform: is_platform(&class), class, method: rng.pick(&METHODS).to_string(), file, line, native, origin }
}

fn throwable(rng: &mut Rng, depth: usize) -> Throwable {
    let frames = (0..1 + rng.below(6)).map(|_| frame(rng)).collect();
    let suppressed = if depth < 3 { (0..rng.below(3)).map(|_| trace(rng, depth + 1)).collect() } else { Vec::new() };
    let message = rng.one_in(2).then(|| rng.pick(&MESSAGES).to_string());
    Throwable { exception: rng.pick(&EXCEPTIONS).to_string(), message, frames, suppressed }
}

/// A well-formed trace: causes share their outer frames, or not.
fn trace(rng: &mut Rng, depth: usize) -> Trace {
    let thrown = throwable(rng, depth);
    let mut causes: Vec<Throwable> = Vec::new();
    for _ in 0..rng.below(3) {
        let mut cause = throwable(rng, depth + 1);
        let enclosing = &causes.last().unwrap_or(&thrown).frames;
        if rng.one_in(2) {
            cause.frames.extend_from_slice(&enclosing[rng.below(enclosing.len())..]);
        }
        causes.push(cause);
    }
    Trace { thrown, causes, truncated: false }
}

#[test]
fn what_is_printed_is_read_again() {
    let mut rng = Rng(1);
    for round in 0..2000 {
        let trace = trace(&mut rng, 0);
        let text = Standard(&trace).to_string();
        let parsed = parse_all(text.as_bytes());
        assert_eq!(parsed.value.len(), 1, "round {round}:\n{text}");
        assert_eq!(parsed.value[0].trace, trace, "round {round}:\n{text}");
        assert_eq!(parsed.diagnostics, [], "round {round}:\n{text}");
    }
}

#[test]
fn a_log_around_a_trace_does_not_change_it() {
    let mut rng = Rng(2);
    for round in 0..1000 {
        let trace = trace(&mut rng, 2);
        if trace.chain().any(|t| t.message.as_ref().is_some_and(|m| m.contains(['\n', '['])) || !t.suppressed.is_empty()) {
            continue;
        }
        let prefix = rng.pick(&[
            "2024-05-06 07:08:09,100 ERROR [main] org.shop.App - ",
            "> ",
            "[ERROR] ",
            "web_1  | ",
            "\u{1b}[31m",
            "2024-05-06T07:08:09.1Z stderr F ",
        ]);
        let end = rng.pick(&["\n", "\r\n", "\r"]);
        let text: String = Standard(&trace).to_string().lines().map(|line| format!("{prefix}{line}{end}")).collect();
        let parsed = parse_all(format!("{prefix}hello world{end}{text}{prefix}good bye{end}").as_bytes());
        let got: Vec<&Trace> = parsed.value.iter().map(|found| &found.trace).collect();
        assert_eq!(got, [&trace], "round {round}:\n{text}");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/logs/java");
    let mut paths: Vec<_> = fs::read_dir(dir).expect("the corpus is in the repository").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "log"))
        .map(|path| fs::read(path).expect("readable"))
        .filter(|log| log.len() < 10_000)
        .collect()
}

const TOKENS: [&str; 24] = [
    "at ",
    "\tat a.B.c(D.java:1)\n",
    "Caused by: ",
    "Suppressed: ",
    "Wrapped by: ",
    "... 3 more",
    "... 99999999999999999999 more",
    "[CIRCULAR REFERENCE:",
    "\n",
    "\r",
    "{\"log\":\"",
    "\\n\\tat ",
    "#012#011at ",
    "\u{1b}[",
    "\u{1b}]",
    "(",
    ")",
    "[",
    "java.lang.X: ",
    "Exception in thread \"",
    "2024-05-06 07:08:09 ",
    "é店",
    "&lt;",
    "```",
];

fn mangle(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + rng.below(8) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(6) {
            0 if at < bytes.len() => {
                bytes[at] = u8::try_from(rng.below(256)).expect("a byte");
            }
            1 => bytes.truncate(at.max(bytes.len() / 2)),
            2 => {
                let end = (at + rng.below(80)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let from = rng.below(other.len() + 1);
                let piece = other[from..(from + rng.below(200)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                bytes.splice(at..at, rng.pick(&TOKENS).bytes());
            }
        }
    }
}

fn read_everything(bytes: &[u8]) {
    let parsed = parse_all(bytes);
    let lines = 1 + bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count();
    for found in &parsed.value {
        assert!(found.count > 0 && found.first_line > 0 && found.first_line <= lines);
        assert!(!found.trace.thrown.exception.is_empty());
        assert!(found.trace.chain().any(|thrown| !thrown.frames.is_empty()));
        looks_obfuscated(&found.trace);
    }
    assert!(parsed.value.windows(2).all(|pair| pair[0].first_line <= pair[1].first_line), "in order of appearance");
    let text = decode_text(bytes);
    foreign_language(&text);
    assert!(nearest_lines(&text).len() <= 3);
}

#[test]
fn mangled_logs_never_panic() {
    let seeds = seeds();
    assert!(seeds.len() >= 36);
    let mut rng = Rng(3);
    for _ in 0..3000 {
        let mut bytes = seeds[rng.below(seeds.len())].clone();
        let other = seeds[rng.below(seeds.len())].clone();
        mangle(&mut rng, &mut bytes, &other);
        read_everything(&bytes);
    }
}

#[test]
fn noise_never_panics() {
    let mut rng = Rng(4);
    for _ in 0..1000 {
        let bytes: Vec<u8> = if rng.one_in(2) {
            (0..rng.below(500)).map(|_| u8::try_from(rng.below(256)).expect("a byte")).collect()
        } else {
            (0..rng.below(60)).flat_map(|_| rng.pick(&TOKENS).bytes()).collect()
        };
        read_everything(&bytes);
    }
}

/// Input made to be slow: what repeats is scanned again and again by a reader that is not linear.
#[test]
fn time_is_linear() {
    let units = [
        "at ",
        "at a.b(",
        "at a.b.c(D.java:1)",
        " at a.b.c(D.java:1)\n",
        "... ",
        "...",
        "Caused by: ",
        "Caused by: a.E\n\t... 1 more\n",
        "Suppressed: a.E\n",
        "[",
        "[x]",
        "(",
        "{\"log\":\"",
        "\\n\\tat ",
        "java.lang.X: \n",
        "a.",
        "a.bError ",
        "`",
        "> ",
        "\n",
        "\tat a.b.c\n",
        "at\n",
        "\u{1b}[",
        "&lt;",
        "2024-05-06 07:08:09 x\n",
        "[t1] x\n[t2]\tat a.b.c(D.java:1)\n",
        " ",
    ];
    let time = |text: &str| {
        let start = cpu_seconds();
        parse_all(text.as_bytes());
        cpu_seconds() - start
    };
    for unit in units {
        let text = |size: usize| format!("a.E: x\n\tat a.b.c(D.java:1)\n{}", unit.repeat(size / unit.len()));
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

#[test]
fn multiplied_frames_are_bounded() {
    let head: String = "a.E\n".to_string() + &"\tat a.b.c(D.java:1)\n".repeat(5000);
    let text = head + &"Caused by: a.F\n\t... 5000 more\n".repeat(5000);
    let parsed = parse_all(text.as_bytes());
    let frames: usize = parsed.value[0].trace.chain().map(|thrown| thrown.frames.len()).sum();
    assert!(frames <= 1 << 14, "{frames}");
    assert!(parsed.value[0].trace.truncated);
    assert!(parsed.diagnostics.len() <= 100);
}

#[test]
fn deep_nesting_is_bounded() {
    let text: String = "a.E\n\tat a.b.c(D.java:1)\n".to_string()
        + &(1..3000).map(|n| format!("{}Suppressed: a.F\n{0}\tat a.b.c(D.java:1)\n", "\t".repeat(n))).collect::<String>();
    let parsed = parse_all(text.as_bytes());
    assert_eq!(parsed.value.len(), 1);
    assert!(depth(&parsed.value[0].trace) <= 16);
}

fn depth(trace: &Trace) -> usize {
    1 + trace.chain().flat_map(|thrown| &thrown.suppressed).map(depth).max().unwrap_or(0)
}

#[test]
fn suppressed_exceptions_are_bounded() {
    let text = "a.E\n\tat a.b.c(D.java:1)\n".to_string() + &"\tSuppressed: a.F\n".repeat(100_000);
    let found = parse_all(text.as_bytes()).value.remove(0);
    assert!(found.trace.thrown.suppressed.len() <= 1000);
    assert!(found.trace.truncated);
}
