//! The closing block of a run, from its record alone: what came out, where it is, and what to type next.

use std::fmt::Write as _;
use std::path::Path;

use rethrow_core::trace::{Throwable, Via};

use super::{Glyphs, printable, short, short_number, short_time};
use crate::config::HuntChoice;
use crate::explain::{Explanation, advice};
use crate::record::{RunRecord, Verdict};

/// See the module documentation. `cwd` shortens paths.
pub fn block(record: &RunRecord, glyphs: Glyphs, cwd: &Path) -> String {
    let mut out = headline(record, glyphs);
    for (name, text) in rows(record, cwd) {
        let _ = writeln!(out, "  {name:<9} {}", printable(&text));
    }
    out
}

fn headline(r: &RunRecord, glyphs: Glyphs) -> String {
    let time = short_time(r.elapsed_ms.total);
    let frames = format!("frame {} of {}", r.frames.reached, r.frames.total);
    let fresh = if r.test.as_ref().is_some_and(|t| t.extension().is_some_and(|e| e == "py")) { "fresh interpreters" } else { "fresh JVMs" };
    let agreed = format!("{}/{} {fresh}", r.confirmed.agreed, r.confirmed.runs);
    if let Some(hunt) = &r.config.hunt {
        return hunted(r, hunt, (fresh, &agreed), glyphs);
    }
    let (glyph, text) = match r.verdict {
        Verdict::Reproduced => (glyphs.check, format!("reproduced in {time}: {frames}, same type and lines, {agreed}")),
        Verdict::Partial => (glyphs.cross, format!("reproduced only up to {frames} in {time}, {agreed}; asked for frame {}", r.frames.target)),
        Verdict::Flaky if r.confirmed.alike < r.confirmed.agreed => {
            let alike = r.confirmed.alike;
            (
                glyphs.cross,
                format!("reproduced but for its end: the same recursion in {agreed}; in {alike} of them the log's call found the stack full, which is chance"),
            )
        }
        Verdict::Flaky => (glyphs.cross, format!("reproduced but flaky: {frames}, {agreed}")),
        Verdict::Unconfirmed => (glyphs.cross, format!("found in {time}: {frames}, not confirmed in {fresh}")),
        Verdict::NotReproduced => (glyphs.cross, format!("not reproduced in {time}")),
        Verdict::Interrupted => (glyphs.cross, format!("interrupted after {time}")),
    };
    format!("{glyph} {text}\n")
}

/// The same for a hunt, which has no frames to count.
fn hunted(r: &RunRecord, hunt: &HuntChoice, (fresh, agreed): (&str, &str), glyphs: Glyphs) -> String {
    let time = short_time(r.elapsed_ms.total);
    let what = r.thrown.as_ref().map_or_else(|| hunt.words(), thrown);
    let (glyph, text) = match r.verdict {
        Verdict::Reproduced => (glyphs.check, format!("found in {time}: {what}, {agreed}")),
        Verdict::Partial | Verdict::Flaky => (glyphs.cross, format!("found but flaky: {what}, {agreed}")),
        Verdict::Unconfirmed => (glyphs.cross, format!("found in {time}: {what}, not confirmed in {fresh}")),
        Verdict::NotReproduced => (glyphs.cross, format!("not found in {time}: {}", hunt.words())),
        Verdict::Interrupted => (glyphs.cross, format!("interrupted after {time}")),
    };
    format!("{glyph} {}\n", printable(&text))
}

/// `ValueError: too big`, the message cut to one short line.
fn thrown(thrown: &Throwable) -> String {
    const LENGTH: usize = 80;
    let line = thrown.message.as_deref().and_then(|m| m.lines().next()).unwrap_or_default();
    let message: String = line.chars().take(LENGTH).collect();
    if message.is_empty() { thrown.exception.clone() } else { format!("{}: {message}", thrown.exception) }
}

fn rows(r: &RunRecord, cwd: &Path) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(test) = &r.test {
        rows.push(("test", short(test, cwd)));
    }
    if r.via == Some(Via::Cause) {
        rows.push(("wrapped", format!("{} is a cause of what the test throws", r.exception)));
    }
    if !r.refused.is_empty() {
        rows.push(("refused", format!("in the sandbox: {}", r.refused.join(", "))));
    }
    if let Some(run) = &r.run {
        rows.push(("run", run.clone()));
    }
    let explained = r.explanation.as_ref().filter(|_| r.test.is_none());
    match (explained, &r.nearest) {
        (Some(told), _) if told.tests > 0 => rows.extend(told.rows()),
        (_, Some(nearest)) => {
            // What blocked says whether the place itself was reached.
            rows.push(("nearest", nearest.place.clone()));
            rows.extend(nearest.blocked.iter().map(|why| ("blocked", why.clone())));
        }
        _ => {}
    }
    if r.test.is_none() {
        rows.push(("tried", tried(r)));
    }
    if r.verdict == Verdict::NotReproduced {
        let next = r.explanation.as_ref().map_or_else(|| advice(&Explanation::default(), &r.config, 0), |told| told.next.clone());
        rows.push(("next", next.join("; ")));
    }
    rows.push(("record", short(&r.config.run_dir.join("run.json"), cwd)));
    if r.test_case.is_some() {
        rows.push(("replay", r.replay.clone()));
    }
    rows
}

fn tried(r: &RunRecord) -> String {
    let mut text = format!("{} tests, {}/s", short_number(r.evaluations), short_number(r.stats.tests_per_s as u64));
    for (n, what) in [(r.stats.timeouts, "hung"), (r.stats.deaths, "killed a worker"), (r.stats.exits, "asked to exit")] {
        if n > 0 {
            let _ = write!(text, ", {} {what}", short_number(n));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::{Config, Host};
    use crate::record::{Confirmed, Frames};
    use clap::Parser;

    fn record(verdict: Verdict) -> RunRecord {
        let Command::Reproduce(args) = Cli::try_parse_from(["rethrow", "reproduce", "crash.log"]).unwrap().command else {
            panic!("another command");
        };
        let config = Config::resolve(args, Host { cwd: "/p".into(), ..Host::default() }).unwrap();
        let mut record = RunRecord::new(&config, "java.lang.NullPointerException", Frames { reached: 3, target: 3, total: 5 }, vec![]);
        record.set_verdict(verdict);
        record.elapsed_ms.total = 12_345;
        record.confirmed = Confirmed { runs: 5, agreed: 5, alike: 5 };
        record
    }

    #[test]
    fn a_reproduction() {
        let mut r = record(Verdict::Reproduced);
        r.test = Some("/p/rethrow.out/tests/a/B_CrashTest.java".into());
        r.test_case = Some(rethrow_core::testcase::portable::PortableTest { stmts: vec![] });
        r.run = Some("mvn test -Dtest=B_CrashTest".into());
        r.refused = vec!["delete /x".into()];
        let want = "\
✔ reproduced in 12.3s: frame 3 of 5, same type and lines, 5/5 fresh JVMs
  test      rethrow.out/tests/a/B_CrashTest.java
  refused   in the sandbox: delete /x
  run       mvn test -Dtest=B_CrashTest
  record    rethrow.out/run.json
  replay    rethrow replay rethrow.out
";
        assert_eq!(block(&r, Glyphs::UNICODE, Path::new("/p")), want);
    }

    #[test]
    fn a_failure_says_what_was_tried_and_what_may_help() {
        let mut r = record(Verdict::NotReproduced);
        r.evaluations = 41_234;
        r.stats.tests_per_s = 880.4;
        r.stats.timeouts = 2;
        let want = "\
[no] not reproduced in 12.3s
  tried     41.2k tests, 880/s, 2 hung
  next      more time: --budget 5m; other chance: --seed 2
  record    rethrow.out/run.json
";
        assert_eq!(block(&r, Glyphs::ASCII, Path::new("/p")), want);
    }

    #[test]
    fn a_recursion_that_ends_elsewhere_says_so() {
        let mut r = record(Verdict::Flaky);
        r.confirmed.alike = 2;
        let told = block(&r, Glyphs::ASCII, Path::new("/p"));
        assert!(told.starts_with("[no] reproduced but for its end: the same recursion in 5/5 fresh JVMs; in 2 of them"), "{told}");
    }

    #[test]
    fn only_a_confirmed_reproduction_gets_the_check_mark() {
        for verdict in [Verdict::Partial, Verdict::NotReproduced, Verdict::Unconfirmed, Verdict::Flaky, Verdict::Interrupted] {
            assert!(block(&record(verdict), Glyphs::UNICODE, Path::new("/")).starts_with('✘'), "{verdict:?}");
        }
    }
}
