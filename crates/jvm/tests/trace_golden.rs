//! Golden logs of Java, and what holds for all of them.

#[path = "../../core/tests/support/golden.rs"]
mod golden;

use std::fs;

use rethrow_core::trace::{Frame, Throwable, Trace, Via, Wanted, accepts};
use rethrow_jvm::trace::{Standard, parse_all};

/// EVO-1: exception, frames with class, method and line, and all that reports have around them.
#[test]
fn every_log_is_read_as_expected() {
    golden::check("java", parse_all);
}

#[test]
fn the_corpus_is_complete() {
    golden::check_complete("java", 36);
}

/// What was read can be printed as a JVM would, and is then read as the same.
#[test]
fn every_whole_trace_survives_printing() {
    let mut survived = 0;
    for log in golden::logs("java") {
        for found in parse_all(&fs::read(&log).unwrap()).value.iter().filter(|found| is_printable(&found.trace)) {
            let again = parse_all(Standard(&found.trace).to_string().as_bytes());
            assert_eq!(again.value.first().map(|f| &f.trace), Some(&found.trace), "{}", log.display());
            survived += 1;
        }
    }
    assert!(survived >= 30, "{survived}");
}

/// Printing has no place for what is missing.
fn is_printable(trace: &Trace) -> bool {
    let named = |frame: &Frame| !frame.class.is_empty();
    let whole = |thrown: &Throwable| thrown.frames.iter().all(named) && thrown.suppressed.iter().all(is_printable);
    !trace.truncated && trace.chain().all(whole)
}

/// The same crash as JDK 8 and JDK 17 print it, the latter from a test: it is recognised, and mutants of it are not.
#[test]
fn the_jdk_does_not_matter_and_the_program_does() {
    let old = "java.lang.IndexOutOfBoundsException: Index: 2, Size: 1
\tat java.util.ArrayList.rangeCheck(ArrayList.java:657)
\tat java.util.ArrayList.get(ArrayList.java:433)
\tat org.shop.Shelf.take(Shelf.java:27)
\tat sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
\tat java.lang.reflect.Method.invoke(Method.java:498)
\tat org.shop.Shop.sell(Shop.java:14)";
    let new = "java.lang.IndexOutOfBoundsException: Index 2 out of bounds for length 1
\tat java.base/jdk.internal.util.Preconditions.outOfBounds(Preconditions.java:64)
\tat java.base/java.util.Objects.checkIndex(Objects.java:359)
\tat java.base/java.util.ArrayList.get(ArrayList.java:427)
\tat app//org.shop.Shelf.take(Shelf.java:27)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:568)
\tat app//org.shop.Shop.sell(Shop.java:14)
\tat app//org.shop.Shelf_CrashTest.test(Shelf_CrashTest.java:9)";
    let read = |text: &str| parse_all(text.as_bytes()).value.remove(0).trace;
    let want = read(old);
    let frames = want.program_frames();
    let wanted = Wanted { frames: &frames, exception: &want.thrown.exception, causes: &[], frames_of: 0 };
    let via = |text: &str| accepts(&wanted, &read(text).chain().cloned().collect::<Vec<_>>());
    assert_eq!(via(new), Some(Via::Direct));
    assert_eq!(via(&format!("a.WrapperException\n\tat a.B.c(B.java:1)\nCaused by: {new}")), Some(Via::Cause));
    for (from, to) in
        [("Shelf.java:27", "Shelf.java:28"), ("Shelf.take", "Shelf.put"), ("org.shop.Shop.sell", "org.shop.Stop.sell"), ("IndexOutOf", "StringIndexOutOf")]
    {
        assert_eq!(via(&new.replace(from, to)), None, "{to}");
    }
}
