//! From lines to traces: which frames belong to which exception.
//!
//! Lines of different threads are kept apart ("lanes") where their prefixes allow it. A trace begins at its first frame; the
//! line that names the exception is then looked for backwards, since nothing tells it from other text before the frames are
//! seen. All buffers are bounded, and no line is looked at more than a constant number of times.

use std::collections::VecDeque;

use rethrow_core::parsed::{Diagnostic, Parsed};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rustc_hash::FxHashMap;

use super::FoundTrace;
use super::decode::Line;
use super::frame::{self, Piece};
use super::head::{self, Certainty, Head};
use super::prefix;

const MAX_LANES: usize = 64;
const MAX_TRACES: usize = 1000;
/// Of one trace, causes and suppressed included; `... n more` multiplies them.
const MAX_FRAMES: usize = 1 << 14;
/// Of all traces kept.
const MAX_ALL_FRAMES: usize = 1 << 20;
const MAX_CAUSES: usize = 200;
/// Of one trace, at all levels.
const MAX_SUPPRESSED: usize = 1000;
const MAX_NESTING: usize = 16;
const MAX_DIAGNOSTICS: usize = 100;
const MAX_MESSAGE: usize = 1 << 14;
/// How far back the head of a trace is looked for, in lines: messages can be long.
const MAX_RECENT: usize = 300;
const MAX_RECENT_LINE: usize = 1 << 12;
/// A mere mention of an exception is its head only if it is near.
const NEAR: usize = 10;
/// So many foreign lines between two frames do not end a trace.
const MAX_NOISE: usize = 2;

#[derive(Default)]
pub struct Assembler {
    lanes: Vec<Lane>,
    by_name: FxHashMap<String, usize>,
    current: usize,
    found: Vec<FoundTrace>,
    by_trace: FxHashMap<Trace, usize>,
    kept_frames: usize,
    diagnostics: Vec<Diagnostic>,
}

/// What is known of one thread's output.
#[derive(Default)]
struct Lane {
    thread: Option<String>,
    recent: VecDeque<Recent>,
    open: Option<Open>,
    cut_frame: Option<(usize, String)>,
    /// In a thread dump, whose frames are no trace of an exception.
    dump: bool,
}

/// A line that may turn out to be a head, part of a message, or nothing.
struct Recent {
    number: usize,
    /// With the prefix, for messages of traces that have none.
    whole: String,
    /// Where the text begins.
    start: usize,
    indent: usize,
    record: bool,
}

/// A trace that may go on.
struct Open {
    first_line: usize,
    thread: Option<String>,
    levels: Vec<Level>,
    frames: usize,
    suppressed: usize,
    truncated: bool,
    root_first: bool,
}

/// The trace itself, or one suppressed in the level below, with what is printed at its indentation.
struct Level {
    indent: usize,
    chain: Vec<Printed>,
}

/// A throwable as far as it was read.
#[derive(Default)]
struct Printed {
    thrown: Throwable,
    /// Frames are missing: none can follow, and its last ones are unknown.
    gap: bool,
    /// `... n more` and its line, where only an exception that wraps this one could have them.
    owed: Option<(usize, usize)>,
}

/// A line taken apart.
struct Context<'a> {
    number: usize,
    whole: &'a str,
    rest: &'a str,
    indent: usize,
    record: bool,
    /// What stands before the frame and is no prefix that we know.
    unknown: &'a str,
}

impl Assembler {
    pub fn line(&mut self, line: &Line<'_>) {
        let stripped = prefix::strip(line.text);
        let (name, is_thread) = match line.thread {
            Some(thread) => (Some(thread), true),
            None => (stripped.lane, stripped.is_thread),
        };
        self.select_lane(name, is_thread);
        if line.cut {
            self.diagnose(Diagnostic::at(line.number, "the line is very long; its end was not read"));
        }
        let indent = indent(stripped.rest);
        let mut context = Context { number: line.number, whole: line.text, rest: stripped.rest, indent, record: stripped.record, unknown: "" };
        if context.rest.trim().is_empty() {
            return self.text("", &context);
        }
        let joined = self.join_cut_frame(&context);
        if let Some(joined) = &joined {
            (context.whole, context.rest) = (joined, joined);
        }
        self.pieces(&mut context);
    }

    pub fn finish(mut self) -> Parsed<Vec<FoundTrace>> {
        for lane in 0..self.lanes.len() {
            self.note_cut_frame(lane);
            self.close(lane);
        }
        if self.found.is_empty() {
            self.explain_frameless();
        }
        self.found.sort_by_key(|found| found.first_line);
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
        Parsed { value: self.found, diagnostics: self.diagnostics }
    }

    /// A line without a name belongs to the same thread as the line before.
    fn select_lane(&mut self, name: Option<&str>, is_thread: bool) {
        if self.lanes.is_empty() {
            self.lanes.push(Lane::default());
        }
        let Some(name) = name else { return };
        if let Some(lane) = self.by_name.get(name) {
            self.current = *lane;
        } else if self.lanes.len() < MAX_LANES {
            self.current = self.lanes.len();
            self.by_name.insert(name.to_string(), self.current);
            self.lanes.push(Lane { thread: is_thread.then(|| name.to_string()), ..Lane::default() });
        } else {
            self.current = 0;
        }
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lanes[self.current]
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Mail programs break long frames: the line before and this one may be one frame.
    fn join_cut_frame(&mut self, context: &Context<'_>) -> Option<String> {
        let (_, start) = self.lane().cut_frame.as_ref()?;
        let end = context.rest.trim();
        let glues: &[&str] = if start == "at" { &[" "] } else { &["", " "] };
        for glue in glues {
            let joined = format!("{start}{glue}{end}");
            if frame::pieces(&joined).iter().any(|piece| matches!(piece, Piece::Frame(_))) {
                let lane = self.lane();
                lane.cut_frame = None;
                if lane.open.is_none() {
                    lane.recent.pop_back();
                }
                return Some(joined);
            }
        }
        self.note_cut_frame(self.current);
        None
    }

    fn note_cut_frame(&mut self, lane: usize) {
        let Some((number, _)) = self.lanes[lane].cut_frame.take() else { return };
        let Some(open) = &mut self.lanes[lane].open else { return };
        open.truncated = true;
        if let Some(last) = open.last() {
            last.gap = true;
        }
        self.diagnose(Diagnostic::at(number, "the frame is cut off"));
    }

    fn truncate(&mut self, lane: usize) {
        if let Some(open) = &mut self.lanes[lane].open {
            open.truncated = true;
        }
    }

    fn pieces<'a>(&mut self, context: &mut Context<'a>) {
        let pieces = frame::pieces(context.rest);
        let framed = pieces.iter().filter(|piece| matches!(piece, Piece::Frame(_))).count();
        for (i, piece) in pieces.into_iter().enumerate() {
            match piece {
                Piece::Text(text) if framed > 0 && i == 0 => self.before_frame(text, context),
                Piece::Text(text) => self.text(text, context),
                Piece::Frame(frame) => self.frame(frame, context),
                Piece::Caused(text) => self.caused(text, context),
                Piece::Suppressed(text) => self.suppressed(text, context),
                Piece::Wrapped(text) => self.wrapped(text, context),
                Piece::More(n) => self.more(n, context),
                Piece::Omitted => self.omitted(context),
                Piece::Circular => self.circular(context),
            }
        }
    }

    /// The text before the first frame of a line: a squeezed head, or a prefix of a kind that we do not know.
    fn before_frame<'a>(&mut self, text: &'a str, context: &mut Context<'a>) {
        if head::head(text).is_some() {
            self.text(text, context);
        } else {
            context.unknown = text;
        }
    }

    /// Text that is no part of a trace by itself; it begins where the line's prefix ends.
    fn text(&mut self, text: &str, context: &Context<'_>) {
        let lane = self.lane();
        let trimmed = text.trim();
        if trimmed.is_empty() && lane.recent.is_empty() {
            return;
        }
        if trimmed.starts_with("java.lang.Thread.State:") {
            lane.dump = true;
        }
        if frame::is_cut_frame(text) {
            lane.cut_frame = Some((context.number, clip(trimmed, MAX_RECENT_LINE).to_string()));
            if lane.open.is_some() {
                return;
            }
        }
        if lane.recent.len() == MAX_RECENT {
            lane.recent.pop_front();
        }
        let start = context.whole.len() - context.rest.len();
        let whole = clip(&context.whole[..start + text.len()], MAX_RECENT_LINE).to_string();
        lane.recent.push_back(Recent { number: context.number, whole, start, indent: context.indent, record: context.record });
    }

    fn frame(&mut self, frame: Frame, context: &Context<'_>) {
        if !self.lane().recent.is_empty() {
            self.settle_recent(context);
        } else if self.lane().open.is_none() && !self.lane().dump {
            self.orphan(context);
        }
        let Some(open) = self.lane().open.as_mut() else {
            return;
        };
        if !open.push(frame) {
            let lane = self.current;
            self.truncate(lane);
        }
    }

    /// A frame or cause follows other lines: they are a new head with its message, the rest of a message, or noise.
    fn settle_recent(&mut self, context: &Context<'_>) {
        let boundary = self.lane().recent.iter().any(|line| line.record && !context.record);
        if self.lane().open.as_ref().is_some_and(Open::awaits_frames) && !boundary {
            return self.continue_message(context);
        }
        if let Some((at, head)) = self.find_head(context) {
            return self.begin(at, head, context);
        }
        let recent = std::mem::take(&mut self.lane().recent);
        let noise: Vec<&Recent> = recent.iter().filter(|line| !line.text().trim().is_empty()).collect();
        if self.lane().open.is_some() && noise.len() <= MAX_NOISE && !noise.iter().any(|line| line.text().trim_end().ends_with(':')) {
            if let Some(line) = noise.first() {
                self.diagnose(Diagnostic::at(line.number, "a line that is no frame stands within the trace"));
            }
            return;
        }
        self.close(self.current);
        if !self.lane().dump {
            self.orphan(context);
        }
    }

    fn orphan(&mut self, context: &Context<'_>) {
        self.diagnose(Diagnostic::at(context.number, "frames without an exception: the line that names it is missing above"));
        // Frames that follow at once belong to the same fault, which is told once.
        self.lane().dump = true;
    }

    fn continue_message(&mut self, context: &Context<'_>) {
        let recent = std::mem::take(&mut self.lane().recent);
        let prefixed = context.rest.len() < context.whole.len();
        if let Some(last) = self.lane().open.as_mut().and_then(Open::last) {
            append_message(&mut last.thrown, recent.iter(), prefixed);
        }
    }

    /// The nearest certain head; else a possible one right before the frames; else what is nearest of the others, if near.
    fn find_head(&mut self, context: &Context<'_>) -> Option<(usize, Head)> {
        let (mut adjacent, mut weak) = (None, None);
        let mut seen = 0;
        for (at, line) in self.lane().recent.iter().enumerate().rev() {
            let text = line.after_same_prefix(context.unknown);
            if text.trim().is_empty() {
                continue;
            }
            seen += 1;
            let possible = |head: &Head| (!line.record || context.record) && (seen == 1 || head.exception.contains('.'));
            let head = head::head(text).filter(|head| head.certainty != Certainty::Possible || possible(head));
            match head.or_else(|| head::mentioned(text)) {
                // A name right before the frames may end the message of an exception that is named further up, not far.
                Some(head) if head.certainty == Certainty::Certain => {
                    return adjacent.filter(|_| seen > NEAR).or(Some((at, head)));
                }
                Some(head) if head.certainty == Certainty::Possible && seen == 1 => adjacent = Some((at, head)),
                Some(head) if weak.is_none() && seen <= NEAR => weak = Some((at, head)),
                _ => {}
            }
            if line.record && !context.record {
                break;
            }
        }
        adjacent.or(weak)
    }

    /// Begins the trace whose head is the given recent line.
    fn begin(&mut self, at: usize, head: Head, context: &Context<'_>) {
        self.close(self.current);
        let lane = self.lane();
        lane.dump = false;
        let recent = std::mem::take(&mut lane.recent);
        let line = &recent[at];
        let mut thrown = Throwable { exception: head.exception, message: head.message, ..Throwable::default() };
        if head.certainty != Certainty::Mentioned || thrown.message.is_some() {
            append_message(&mut thrown, recent.range(at + 1..), context.rest.len() < context.whole.len());
        }
        let level = Level::new(line.indent, thrown);
        let thread = head.thread.or_else(|| lane.thread.clone());
        lane.open = Some(Open { first_line: line.number, thread, levels: vec![level], frames: 0, suppressed: 0, truncated: false, root_first: false });
    }

    /// Makes sure that a trace is open to which a cause or suppressed exception can be added.
    fn reopen(&mut self, context: &Context<'_>) -> bool {
        if !self.lane().recent.is_empty() {
            let boundary = self.lane().recent.iter().any(|line| line.record && !context.record);
            let awaits = self.lane().open.as_ref().is_some_and(Open::awaits_frames);
            if awaits && !boundary {
                self.continue_message(context);
            } else if let Some((at, head)) = self.find_head(context).filter(|(_, head)| boundary || head.certainty != Certainty::Mentioned) {
                self.begin(at, head, context);
            } else if boundary {
                self.close(self.current);
            }
        }
        self.lane().recent.clear();
        self.lane().open.is_some()
    }

    fn caused(&mut self, text: &str, context: &Context<'_>) {
        let named = head::cause(text);
        if named.is_none() {
            let shown = clip(text, 60);
            self.diagnose(Diagnostic::at(context.number, format!("the cause does not tell its type: {shown}")));
        }
        // Without a name it lends its frames to the next cause, and is left out at the end.
        let (exception, message) = named.unwrap_or_default();
        let message = message.map(|message| clip(&message, MAX_MESSAGE).to_string());
        let cause = Throwable { exception, message, ..Throwable::default() };
        if !self.reopen(context) {
            if !cause.exception.is_empty() {
                self.begin_with_cause(cause, context);
            }
            return;
        }
        let Some(open) = self.lane().open.as_mut() else { return };
        if open.add_cause(cause, context.indent) {
            return;
        }
        open.truncated = true;
        if let Some(last) = open.last() {
            last.gap = true;
        }
        self.diagnose(Diagnostic::at(context.number, "too many causes; this one was not read"));
    }

    /// The log begins in the middle of a trace: the cause is the first that it prints.
    fn begin_with_cause(&mut self, thrown: Throwable, context: &Context<'_>) {
        self.diagnose(Diagnostic::at(context.number, "the beginning of the trace is missing above"));
        let lane = self.lane();
        lane.dump = false;
        let level = Level::new(context.indent, thrown);
        let thread = lane.thread.clone();
        lane.open = Some(Open { first_line: context.number, thread, levels: vec![level], frames: 0, suppressed: 0, truncated: true, root_first: false });
    }

    fn suppressed(&mut self, text: &str, context: &Context<'_>) {
        let Some((exception, message)) = head::named(text) else { return };
        if !self.reopen(context) {
            return self.diagnose(Diagnostic::at(context.number, "a suppressed exception without the one that it belongs to"));
        }
        let Some(open) = self.lane().open.as_mut() else { return };
        if open.add_suppressed(Throwable { exception, message, ..Throwable::default() }, context.indent) {
            return;
        }
        open.truncated = true;
        // Its frames belong to none of those that were kept.
        if let Some(last) = open.last() {
            last.gap = true;
        }
        self.diagnose(Diagnostic::at(context.number, "too many suppressed exceptions; this one was not read"));
    }

    /// Root cause first: the trace printed so far is the target; what wraps it only lends its frames.
    fn wrapped(&mut self, text: &str, context: &Context<'_>) {
        let Some((exception, message)) = head::named(text) else {
            return;
        };
        let thrown = Throwable { exception, message, ..Throwable::default() };
        if !self.reopen(context) {
            return self.begin_with_cause(thrown, context);
        }
        let Some(open) = self.lane().open.as_mut() else {
            return;
        };
        open.fold_levels(1);
        let first = !open.root_first;
        open.root_first = true;
        open.add_cause(thrown, 0);
        if first {
            self.diagnose(Diagnostic::at(context.number, "root cause first: the target is the innermost exception, not what wraps it"));
        }
    }

    fn more(&mut self, n: usize, context: &Context<'_>) {
        if self.lane().recent.iter().any(|line| !line.text().trim().is_empty()) {
            self.settle_recent(context);
        }
        let lane = self.lane();
        lane.recent.clear();
        let Some(open) = lane.open.as_mut() else {
            return;
        };
        if !open.expand(n, context.number) {
            open.truncated = true;
            self.diagnose(unknown_frames(context.number));
        }
    }

    fn omitted(&mut self, context: &Context<'_>) {
        let Some(open) = self.lane().open.as_mut() else {
            return;
        };
        open.truncated = true;
        if let Some(last) = open.last() {
            last.gap = true;
        }
        self.diagnose(Diagnostic::at(context.number, "the logger left out frames; those after the gap are not used"));
    }

    fn circular(&mut self, context: &Context<'_>) {
        if self.lane().open.is_some() {
            self.diagnose(Diagnostic::at(context.number, "the causes go round in a circle; they end here"));
        }
    }

    fn close(&mut self, lane: usize) {
        let Some(open) = self.lanes[lane].open.take() else {
            return;
        };
        let (first_line, thread) = (open.first_line, open.thread.clone());
        let (trace, owed) = open.finish();
        if let Some(line) = owed {
            self.diagnose(unknown_frames(line));
        }
        if trace.chain().all(|thrown| thrown.frames.is_empty()) {
            return self.diagnose(no_frames(first_line, &trace.thrown.exception));
        }
        if let Some(known) = self.by_trace.get(&trace) {
            let found = &mut self.found[*known];
            found.count += 1;
            found.first_line = found.first_line.min(first_line);
            return;
        }
        let frames = trace.chain().map(|thrown| thrown.frames.len()).sum::<usize>();
        if self.found.len() == MAX_TRACES || self.kept_frames + frames > MAX_ALL_FRAMES {
            return self.diagnose(Diagnostic::at(first_line, "too many different traces; this one was not kept"));
        }
        self.kept_frames += frames;
        self.by_trace.insert(trace.clone(), self.found.len());
        self.found.push(FoundTrace { trace, first_line, count: 1, thread });
    }

    /// JVMs omit the frames of exceptions in hot code: the reader should know that this is why nothing was found.
    fn explain_frameless(&mut self) {
        let lines = self.lanes.iter().flat_map(|lane| &lane.recent);
        let heads = lines.filter_map(|line| {
            Some((line.number, head::head(line.text()).filter(|h| h.certainty == Certainty::Certain && h.exception.contains('.'))?.exception))
        });
        let notes: Vec<Diagnostic> = heads.take(3).map(|(number, exception)| no_frames(number, &exception)).collect();
        notes.into_iter().for_each(|note| self.diagnose(note));
    }
}

fn unknown_frames(line: usize) -> Diagnostic {
    Diagnostic::at(line, "more frames are left out than the trace shows elsewhere")
}

fn no_frames(line: usize, exception: &str) -> Diagnostic {
    Diagnostic::at(line, format!("{exception} is printed without frames; a JVM omits them in hot code unless started with -XX:-OmitStackTraceInFastThrow"))
}

impl Recent {
    fn text(&self) -> &str {
        self.whole.get(self.start..).unwrap_or(&self.whole)
    }

    /// The text without a prefix of the same shape as that of the frames: digits may differ.
    fn after_same_prefix(&self, unknown: &str) -> &str {
        let (text, prefix) = (self.text(), unknown.trim_end());
        let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
        let same = !prefix.is_empty() && text.chars().map(shape).take(prefix.chars().count()).eq(prefix.chars().map(shape));
        let length: usize = if same { text.chars().take(prefix.chars().count()).map(char::len_utf8).sum() } else { 0 };
        &text[length..]
    }
}

impl Open {
    fn last(&mut self) -> Option<&mut Printed> {
        self.levels.last_mut()?.chain.last_mut()
    }

    /// An exception was named, and its frames are still to come.
    fn awaits_frames(&self) -> bool {
        let last = self.levels.last().and_then(|level| level.chain.last());
        last.is_some_and(|last| !last.gap && last.thrown.frames.is_empty() && last.thrown.suppressed.is_empty())
    }

    /// False if the frame could not be kept.
    fn push(&mut self, frame: Frame) -> bool {
        let room = self.frames < MAX_FRAMES;
        let Some(last) = self.last().filter(|last| room && !last.gap) else { return false };
        last.thrown.frames.push(frame);
        self.frames += 1;
        true
    }

    fn add_cause(&mut self, cause: Throwable, indent: usize) -> bool {
        // Where indentation is lost, causes are those of the trace itself.
        let lost = indent <= self.levels.first().map_or(0, |level| level.indent);
        let level = self.levels.iter().rposition(|level| level.indent <= indent).filter(|_| !lost).unwrap_or(0);
        self.fold_levels(level + 1);
        match self.levels.last_mut() {
            Some(level) if level.chain.len() <= MAX_CAUSES => {
                level.chain.push(Printed { thrown: cause, ..Printed::default() });
                true
            }
            _ => false,
        }
    }

    fn add_suppressed(&mut self, thrown: Throwable, indent: usize) -> bool {
        if self.suppressed == MAX_SUPPRESSED {
            return false;
        }
        self.suppressed += 1;
        let parent = self.levels.iter().rposition(|level| level.indent < indent).unwrap_or(0).min(MAX_NESTING - 2);
        self.fold_levels(parent + 1);
        self.levels.push(Level::new(indent, thrown));
        true
    }

    /// Ends the levels above the first `keep`: each becomes a suppressed trace of the last throwable of the level below it.
    fn fold_levels(&mut self, keep: usize) {
        while self.levels.len() > keep.max(1) {
            let Some(level) = self.levels.pop() else { return };
            let trace = level.into_trace(false);
            if let Some(parent) = self.last() {
                parent.thrown.suppressed.push(trace);
            }
        }
    }

    /// Adds the last n frames of the enclosing exception. False if they are not known.
    fn expand(&mut self, n: usize, line: usize) -> bool {
        if self.last().is_none_or(|last| last.gap) {
            return false;
        }
        let common = self.enclosing().filter(|e| !e.gap && e.thrown.frames.len() >= n).map(|e| e.thrown.frames[e.thrown.frames.len() - n..].to_vec());
        let alone = self.levels.len() == 1 && self.levels[0].chain.len() == 1;
        let room = self.frames + n <= MAX_FRAMES;
        let Some(last) = self.last() else { return false };
        match common {
            Some(common) if room => {
                last.thrown.frames.extend(common);
                self.frames += n;
                true
            }
            _ => {
                last.gap = true;
                last.owed = alone.then_some((n, line));
                alone
            }
        }
    }

    /// What the last throwable is the cause of, or was suppressed by.
    fn enclosing(&self) -> Option<&Printed> {
        let level = self.levels.last()?;
        match level.chain.len().checked_sub(2) {
            Some(before) => level.chain.get(before),
            None => self.levels.get(self.levels.len().checked_sub(2)?)?.chain.last(),
        }
    }

    /// The trace, and the line of a `... n more` whose frames are nowhere.
    fn finish(mut self) -> (Trace, Option<usize>) {
        self.fold_levels(1);
        let Some(mut level) = self.levels.pop() else { return Default::default() };
        if self.root_first {
            level.pay_root();
            level.chain.truncate(1);
        }
        let owed = level.chain.first().and_then(|first| first.owed).map(|(_, line)| line);
        (level.into_trace(self.truncated || owed.is_some()), owed)
    }
}

impl Level {
    fn new(indent: usize, thrown: Throwable) -> Self {
        Self { indent, chain: vec![Printed { thrown, ..Printed::default() }] }
    }

    /// A cause that did not tell its name cannot be asked for.
    fn into_trace(self, truncated: bool) -> Trace {
        let mut chain = self.chain.into_iter().map(|printed| printed.thrown);
        let thrown = chain.next().unwrap_or_default();
        Trace { thrown, causes: chain.filter(|cause| !cause.exception.is_empty()).collect(), truncated }
    }

    /// Root cause first: the exception that follows wraps it, and has the frames that the root owes.
    fn pay_root(&mut self) {
        let [root, wrapper, ..] = self.chain.as_mut_slice() else { return };
        let Some((n, _)) = root.owed else { return };
        let frames = &wrapper.thrown.frames;
        if !wrapper.gap && frames.len() >= n {
            root.thrown.frames.extend_from_slice(&frames[frames.len() - n..]);
            root.owed = None;
        }
    }
}

/// Adds the lines of a message; blank ones at its end are no part of it.
fn append_message<'r>(thrown: &mut Throwable, lines: impl Iterator<Item = &'r Recent>, prefixed: bool) {
    let mut message = thrown.message.take();
    let named = message.is_some();
    for line in lines {
        let text = if prefixed { line.text() } else { &line.whole };
        let message = message.get_or_insert_default();
        if message.len() < MAX_MESSAGE {
            message.push('\n');
            message.push_str(text.trim_end());
        }
    }
    thrown.message = message.map(|m| clip(m.trim_end(), MAX_MESSAGE).to_string()).filter(|m| named || !m.is_empty());
}

fn indent(text: &str) -> usize {
    text.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// The text, cut at a character near the limit.
fn clip(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}
