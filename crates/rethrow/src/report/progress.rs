//! Progress of a run as lines: one live line on a terminal, plain lines elsewhere, nothing when asked to be quiet.
//!
//! Frames reached are the headline; a fitness value means nothing to who reads a terminal. What a line says is a pure function of
//! the numbers and the time, so that it can be tested without a terminal.

use std::io::Write;
use std::time::Duration;

use super::{Event, Glyphs, Phase, Progress, printable, short_number, short_time};

/// How often a log file hears of a search that goes on.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);
/// How often a live line is redrawn: fast enough to look alive.
const LIVE_INTERVAL: Duration = Duration::from_millis(100);
const ERASE_LINE: &str = "\r\x1b[2K";

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A terminal: one line, redrawn.
    Live,
    /// A file or a pipe: whole lines, few of them.
    Plain,
    /// A program, or somebody who asked for quiet.
    Silent,
}

/// What the banner says of the run's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub budget: Duration,
    pub verbose: bool,
    pub glyphs: Glyphs,
}

/// See the module documentation.
pub struct Reporter<W: Write> {
    out: W,
    mode: Mode,
    settings: Settings,
    phase: Phase,
    drawn: Option<Duration>,
    live_line_shown: bool,
}

impl<W: Write> Reporter<W> {
    pub fn new(out: W, mode: Mode, settings: Settings) -> Self {
        Reporter { out, mode, settings, phase: Phase::Search, drawn: None, live_line_shown: false }
    }

    /// Shows an event that happened `elapsed` after the start.
    pub fn on(&mut self, event: &Event, elapsed: Duration) {
        match event {
            Event::Progress(progress) => self.progress(progress, elapsed),
            Event::Phase { phase } => {
                self.phase = *phase;
                self.drawn = None;
            }
            _ => {
                if let Some(line) = line_of(event, &self.settings) {
                    self.line(&line);
                }
            }
        }
    }

    /// Takes the live line away, so that what follows begins in a clean one.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.live_line_shown) {
            self.write(ERASE_LINE);
        }
    }

    fn progress(&mut self, progress: &Progress, elapsed: Duration) {
        let interval = match self.mode {
            Mode::Live => LIVE_INTERVAL,
            Mode::Plain => PLAIN_INTERVAL,
            Mode::Silent => return,
        };
        let due = match self.drawn {
            Some(last) => elapsed >= last + interval,
            // The first plain line comes after one interval too: many runs are over by then.
            None => self.mode == Mode::Live,
        };
        self.drawn = self.drawn.or(Some(elapsed));
        if !due {
            return;
        }
        self.drawn = Some(elapsed);
        let line = progress_line(self.phase, progress, elapsed, &self.settings);
        if self.mode == Mode::Live {
            self.live_line_shown = true;
            self.write(&format!("{ERASE_LINE}{line}"));
        } else {
            self.write(&format!("{line}\n"));
        }
    }

    fn line(&mut self, line: &str) {
        if self.mode == Mode::Silent {
            return;
        }
        self.finish();
        self.write(&format!("{line}\n"));
    }

    /// A terminal that went away is no reason to stop a search.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// The line of an event that is told once.
fn line_of(event: &Event, settings: &Settings) -> Option<String> {
    let dot = settings.glyphs.dot;
    Some(match event {
        Event::Sandbox { layers } => {
            let (version, budget) = (env!("CARGO_PKG_VERSION"), short_budget(settings.budget));
            format!("rethrow {version}  seed {}  budget {budget}  sandbox: {layers}", settings.seed)
        }
        Event::Trace { exception, frames, line, others } => {
            let line = line.map(|l| format!(", line {l}")).unwrap_or_default();
            let others = match others {
                0 => String::new(),
                n => format!("; {n} more in the log, see --pick"),
            };
            format!("trace     {} ({}{line}{others})", printable(exception), plural(*frames, "program frame", "program frames"))
        }
        Event::Program { source, classes, runtime } => {
            format!("program   {source} {dot} {} {dot} {runtime}", plural(*classes, "class", "classes"))
        }
        Event::Aligned { fit, total, platform } => {
            let ignored = if *platform > 0 { format!("  ({platform} frames of the platform ignored)") } else { String::new() };
            format!("align     {fit}/{total} frames match{ignored}")
        }
        Event::Hunt { wanted, callables } => format!("hunt      {} {dot} {}", printable(wanted), plural(*callables, "callable", "callables")),
        Event::Found { evaluations } => format!("found     after {} tests", short_number(*evaluations)),
        Event::Note { text } if settings.verbose => format!("note      {}", printable(text)),
        Event::Reached { frame, of, place } => format!("reached   frame {frame} of {of}  {}", printable(place)),
        Event::Confirmed { runs, agreed, of } if settings.verbose => format!("confirm   {agreed}/{runs} of {of} fresh processes"),
        Event::Note { .. } | Event::Confirmed { .. } | Event::Phase { .. } | Event::Progress(_) => return None,
    })
}

pub fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `search 0:47/5:00  frames 2/6  41.2k runs  880/s  best 0.52`
fn progress_line(phase: Phase, p: &Progress, elapsed: Duration, settings: &Settings) -> String {
    let rate = p.evaluations as f64 / elapsed.as_secs_f64().max(0.001);
    let mut line = format!(
        "{}  {}/{}  frames {}/{}  {} runs  {}/s",
        phase.name(),
        clock(elapsed),
        clock(settings.budget),
        p.reached,
        p.target,
        short_number(p.evaluations),
        short_number(rate as u64),
    );
    if let Some(best) = p.best.filter(|_| p.reached < p.target) {
        line += &format!("  best {best:.2}");
    }
    for (n, what) in [(p.timeouts, "hangs"), (p.refused, "refused in the sandbox")] {
        if n > 0 {
            line += &format!("  {} {what}", short_number(n));
        }
    }
    line
}

fn clock(time: Duration) -> String {
    let s = time.as_secs();
    if s < 3600 { format!("{}:{:02}", s / 60, s % 60) } else { format!("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60) }
}

/// As it is typed: `60s`, `5m`, `500ms`.
fn short_budget(budget: Duration) -> String {
    let ms = budget.as_millis() as u64;
    match ms {
        _ if !ms.is_multiple_of(1000) => format!("{ms}ms"),
        _ if ms > 60_000 && ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        _ if ms > 60_000 => short_time(ms),
        _ => format!("{}s", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { seed: 1, budget: Duration::from_secs(60), verbose: false, glyphs: Glyphs::ASCII }
    }

    fn shown(mode: Mode, events: &[(u64, Event)]) -> String {
        let mut out = Vec::new();
        let mut reporter = Reporter::new(&mut out, mode, settings());
        for (ms, event) in events {
            reporter.on(event, Duration::from_millis(*ms));
        }
        reporter.finish();
        String::from_utf8(out).unwrap()
    }

    fn progress(evaluations: u64) -> Event {
        Event::Progress(Progress { evaluations, reached: 1, target: 3, best: Some(0.517), ..Progress::default() })
    }

    #[test]
    fn the_banner() {
        let text = shown(
            Mode::Plain,
            &[
                (0, Event::Sandbox { layers: "landlock+seccomp".into() }),
                (0, Event::Trace { exception: "java.lang.NullPointerException".into(), frames: 3, line: Some(8), others: 1 }),
                (0, Event::Program { source: "1 entry on the class path".into(), classes: 469, runtime: "JDK 17".into() }),
                (0, Event::Aligned { fit: 3, total: 3, platform: 2 }),
            ],
        );
        let version = env!("CARGO_PKG_VERSION");
        let want = format!(
            "\
rethrow {version}  seed 1  budget 60s  sandbox: landlock+seccomp
trace     java.lang.NullPointerException (3 program frames, line 8; 1 more in the log, see --pick)
program   1 entry on the class path | 469 classes | JDK 17
align     3/3 frames match  (2 frames of the platform ignored)
"
        );
        assert_eq!(text, want);
    }

    #[test]
    fn plain_output_has_at_most_one_line_in_five_seconds() {
        let events: Vec<(u64, Event)> = (0..=120).map(|i| (i * 100, progress(i * 1000))).collect();
        let text = shown(Mode::Plain, &events);
        let want = "search  0:05/1:00  frames 1/3  50.0k runs  10.0k/s  best 0.52\nsearch  0:10/1:00  frames 1/3  100.0k runs  10.0k/s  best 0.52\n";
        assert_eq!(text, want);
    }

    #[test]
    fn a_live_line_is_taken_away_before_other_text() {
        let reached = Event::Reached { frame: 2, of: 3, place: "a.B.c:7".into() };
        let text = shown(Mode::Live, &[(200, progress(10)), (250, progress(20)), (300, reached)]);
        let want = format!("{ERASE_LINE}search  0:00/1:00  frames 1/3  10 runs  50/s  best 0.52{ERASE_LINE}reached   frame 2 of 3  a.B.c:7\n");
        assert_eq!(text, want);
    }

    #[test]
    fn silence_is_silent() {
        let note = Event::Note { text: "odd".into() };
        assert_eq!(shown(Mode::Silent, &[(0, note), (9000, progress(1))]), "");
    }

    #[test]
    fn notes_are_for_those_who_ask() {
        assert_eq!(shown(Mode::Plain, &[(0, Event::Note { text: "odd".into() })]), "");
    }

    #[test]
    fn budgets_are_told_as_typed() {
        let told = [500, 60_000, 90_000, 300_000].map(|ms| short_budget(Duration::from_millis(ms)));
        assert_eq!(told, ["500ms", "60s", "1m30s", "5m"]);
    }
}
