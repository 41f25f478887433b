//! From lines to traces: which frames and exceptions belong together.

use rethrow_core::parsed::{Diagnostic, Parsed};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rustc_hash::FxHashMap;

use super::FoundTrace;
use super::frame::{arrow, exception, frame, notebook, old_notebook, plain, repeated};
use super::line::{HEADER, begins_record, strip};
use super::{group, pytest};

const MAX_FRAMES: usize = 1 << 14;
const MAX_CHAIN: usize = 100;
const MAX_DIAGNOSTICS: usize = 100;
/// Lines of a message beyond these are not kept.
const MAX_MESSAGE_LINES: usize = 40;
/// Other lines in a row after which a traceback is taken to be cut off.
const MAX_FOREIGN: usize = 60;
const LINKS: [&str; 2] =
    ["During handling of the above exception, another exception occurred:", "The above exception was the direct cause of the following exception:"];

/// A traceback whose exception is not yet named.
struct Open {
    prefix: String,
    /// Outermost first.
    frames: Vec<Frame>,
    /// IPython's format, and the exception it names above.
    notebook: Option<String>,
    number: usize,
    foreign: usize,
    truncated: bool,
}

/// An exception whose message may go on.
struct Tail {
    prefix: String,
    lines: usize,
}

/// See the module documentation.
#[derive(Default)]
pub struct Assembler {
    found: Vec<FoundTrace>,
    index: FxHashMap<Trace, usize>,
    /// In the order printed, with the line that names each.
    chain: Vec<(Throwable, usize)>,
    truncated: bool,
    open: Option<Open>,
    tail: Option<Tail>,
    report: Option<pytest::Report>,
    block: Vec<(usize, String)>,
    /// The last line that may be an exception without traceback.
    bare: Option<(usize, String)>,
    linked: bool,
    thread: Option<String>,
    depth: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Assembler {
    pub fn line(&mut self, number: usize, text: &str) {
        if !self.block.is_empty() {
            if group::bar(text).is_some() && self.block.len() < MAX_FRAMES * 4 {
                self.block.push((number, text.to_string()));
                return;
            }
            self.close_block();
        }
        if group::begins(text) {
            self.begin_chain();
            self.block.push((number, text.to_string()));
            return;
        }
        if LINKS.iter().any(|link| text.contains(link)) {
            return self.link();
        }
        if let Some(at) = text.find(HEADER) {
            return self.header(number, text, at);
        }
        if self.place(number, text) || self.pytest_line(number, text) || self.message_line(text) {
            return;
        }
        self.open_line(number, text);
        self.remember(number, text);
    }

    /// A link joins what was printed before with what follows.
    fn link(&mut self) {
        let reporting = self.report.is_some();
        self.close_report();
        self.report = reporting.then(pytest::Report::default);
        self.tail = None;
        self.drop_open();
        if self.chain.is_empty()
            && let Some((number, text)) = self.bare.take()
            && let Some((name, message)) = exception(&text)
        {
            let thrown = Throwable { exception: name.to_string(), message: message.map(String::from), ..Throwable::default() };
            self.chain.push((thrown, number));
        }
        self.linked = !self.chain.is_empty();
    }

    fn header(&mut self, number: usize, text: &str, at: usize) {
        self.begin_chain();
        let before = &text[..at];
        let rest = &text[at + HEADER.len()..];
        let named = before.trim();
        let notebook = (!rest.starts_with(':') && exception(named).is_some() && before.ends_with("  ")).then(|| named.to_string());
        let prefix = if notebook.is_some() { String::new() } else { before.to_string() };
        self.open = Some(Open { prefix, frames: Vec::new(), notebook, number, foreign: 0, truncated: false });
    }

    /// Whatever was open is finished, unless a link joins it to what comes.
    fn begin_chain(&mut self) {
        self.close_report();
        self.drop_open();
        self.tail = None;
        if !std::mem::take(&mut self.linked) {
            self.flush();
        }
    }

    fn drop_open(&mut self) {
        if let Some(open) = self.open.take()
            && !open.frames.is_empty()
        {
            self.tell(open.number, "a traceback without exception");
        }
    }

    fn tell(&mut self, number: usize, text: &str) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(Diagnostic::at(number, text));
        }
    }

    /// A frame line, in any of the formats.
    fn place(&mut self, number: usize, text: &str) -> bool {
        if let Some(found) = plain(text) {
            let lead = found.lead.trim_end_matches([' ', '\t']);
            if self.open.is_none() {
                // a message quotes a place now and then; a frame of its own stands at the indentation of frames
                let lead_is_blank = lead.is_empty();
                if found.name.is_none() && !lead_is_blank || self.tail.is_some() && found.name.is_none() {
                    return false;
                }
                self.begin_chain();
                let prefix = found.lead.strip_suffix("  ").unwrap_or(lead).to_string();
                self.open = Some(Open { prefix, frames: Vec::new(), notebook: None, number, foreign: 0, truncated: found.name.is_some() });
            }
            if let (Some(name), Some(open)) = (found.name, &mut self.open) {
                open.push(frame(found.path, name, Some(found.line)));
            }
            return true;
        }
        let Some(open) = &mut self.open else { return false };
        let rest = strip(text, &open.prefix).unwrap_or(text);
        let notebook = notebook(rest).or_else(|| open.notebook.as_ref().and_then(|_| old_notebook(rest)));
        if let Some(frame) = notebook {
            open.push(frame);
            return true;
        }
        if open.notebook.is_some()
            && let Some(line) = arrow(rest)
        {
            if let Some(last) = open.frames.last_mut() {
                last.line.get_or_insert(line);
            }
            return true;
        }
        if let Some(times) = repeated(rest) {
            open.repeat(times);
            return true;
        }
        false
    }

    /// A line below frames: source, or the exception.
    fn open_line(&mut self, number: usize, text: &str) {
        let Some(open) = &mut self.open else { return };
        let rest = match strip(text, &open.prefix) {
            Some(rest) => rest,
            None => text,
        };
        if rest.trim().is_empty() || rest.starts_with([' ', '\t']) {
            return;
        }
        let named = exception(rest).filter(|(name, _)| {
            let asked = open.notebook.as_deref().map(|n| n.rsplit('.').next());
            !begins_record(rest) && asked.is_none_or(|asked| asked == name.rsplit('.').next())
        });
        let Some((name, message)) = named else {
            open.foreign += 1;
            if open.foreign > MAX_FOREIGN {
                self.drop_open();
            }
            return;
        };
        let (exception, message) = (name.to_string(), message.map(String::from));
        let Some(mut open) = self.open.take() else { return };
        open.frames.reverse();
        self.truncated |= open.truncated;
        self.push(Throwable { exception, message, frames: open.frames, suppressed: Vec::new() }, number);
        self.tail = Some(Tail { prefix: open.prefix, lines: 0 });
    }

    fn push(&mut self, thrown: Throwable, number: usize) {
        if self.chain.len() < MAX_CHAIN {
            self.chain.push((thrown, number));
        } else {
            self.truncated = true;
        }
    }

    /// A further line of a message.
    fn message_line(&mut self, text: &str) -> bool {
        let Some(tail) = &mut self.tail else { return false };
        let plain_prefix = tail.prefix.trim().is_empty();
        let rest = strip(text, &tail.prefix).unwrap_or(text);
        let goes_on = !rest.trim().is_empty() && !begins_record(rest) && (plain_prefix || rest.starts_with([' ', '\t'])) && !pytest::is_rule(rest);
        if !goes_on || tail.lines >= MAX_MESSAGE_LINES {
            self.tail = None;
            return false;
        }
        tail.lines += 1;
        if let Some((thrown, _)) = self.chain.last_mut() {
            let message = thrown.message.get_or_insert_with(String::new);
            message.push('\n');
            message.push_str(rest.trim_end());
        }
        true
    }

    fn pytest_line(&mut self, number: usize, text: &str) -> bool {
        if self.open.is_some() {
            return false;
        }
        if pytest::is_rule(text) {
            self.close_report();
            self.tail = None;
            if !std::mem::take(&mut self.linked) {
                self.flush();
            }
            self.report = Some(pytest::Report::default());
            return true;
        }
        if self.report.is_none() && (pytest::is_error(text) || pytest::place(text).is_some_and(|p| p.rest.starts_with("in "))) {
            if !std::mem::take(&mut self.linked) {
                self.flush();
            }
            self.report = Some(pytest::Report::default());
        }
        self.report.as_mut().is_some_and(|report| report.line(number, text))
    }

    fn close_report(&mut self) {
        let Some(report) = self.report.take().filter(pytest::Report::is_whole) else { return };
        self.linked = false;
        let mut frames = report.frames;
        frames.reverse();
        let message = Some(report.message.join("\n")).filter(|m| !m.is_empty());
        self.push(Throwable { exception: report.exception.unwrap_or_default(), message, frames, suppressed: Vec::new() }, report.first_line.max(1));
    }

    /// What may matter to a traceback below.
    fn remember(&mut self, number: usize, text: &str) {
        if let Some((_, rest)) = text.split_once("Exception in thread ") {
            self.thread = Some(rest.trim_end_matches(':').to_string());
        }
        if self.open.is_none() && exception(text).is_some() {
            self.bare = Some((number, text.to_string()));
        }
    }

    fn close_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let Some(column) = block.first().and_then(|(_, line)| group::bar(line)) else { return };
        if let Some((thrown, number, causes)) = self.group(&block, column) {
            causes.into_iter().rev().for_each(|c| self.push(c, number));
            self.push(thrown, number);
        }
    }

    fn group(&mut self, lines: &[(usize, String)], column: usize) -> Option<(Throwable, usize, Vec<Throwable>)> {
        let block = group::split(lines, column);
        let mut own = self.inner(&block.own).into_iter().last()?;
        for inner in &block.inner {
            let Some(column) = inner.first().and_then(|(_, line)| group::bar(line)) else { continue };
            let nested = group::split(inner, column);
            let trace = if nested.inner.is_empty() || self.depth + 1 >= group::MAX_DEPTH {
                self.inner(&nested.own).into_iter().last().map(|f| f.trace)
            } else {
                self.depth += 1;
                let found = self.group(inner, column);
                self.depth -= 1;
                found.map(|(thrown, _, causes)| Trace { thrown, causes, truncated: false })
            };
            own.trace.thrown.suppressed.extend(trace);
        }
        Some((own.trace.thrown, own.first_line, own.trace.causes))
    }

    /// The traces in lines without bars; an exception without traceback counts here.
    fn inner(&mut self, lines: &[(usize, String)]) -> Vec<FoundTrace> {
        let mut reader = Assembler::default();
        lines.iter().for_each(|(number, text)| reader.line(*number, text));
        reader.close_report();
        reader.drop_open();
        if reader.chain.is_empty()
            && let Some((number, text)) = reader.bare.take()
            && let Some((name, message)) = exception(&text)
        {
            reader.push(Throwable { exception: name.to_string(), message: message.map(String::from), ..Throwable::default() }, number);
        }
        reader.keep_frameless();
        reader.found
    }

    /// The chain so far is a trace.
    fn flush(&mut self) {
        if self.chain.iter().all(|(t, _)| t.frames.is_empty()) {
            self.chain.clear();
            self.truncated = false;
            return;
        }
        self.keep_frameless();
    }

    fn keep_frameless(&mut self) {
        let truncated = std::mem::take(&mut self.truncated);
        let mut chain = std::mem::take(&mut self.chain);
        let thread = self.thread.take();
        let Some((thrown, first_line)) = chain.pop() else { return };
        let trace = Trace { thrown, causes: chain.into_iter().rev().map(|(t, _)| t).collect(), truncated };
        match self.index.get(&trace) {
            Some(known) => self.found[*known].count += 1,
            None => {
                self.index.insert(trace.clone(), self.found.len());
                self.found.push(FoundTrace { trace, first_line, count: 1, thread });
            }
        }
    }

    pub fn finish(mut self) -> Parsed<Vec<FoundTrace>> {
        if !self.block.is_empty() {
            self.close_block();
        }
        self.linked = false;
        self.begin_chain();
        Parsed { value: self.found, diagnostics: self.diagnostics }
    }
}

impl Open {
    fn push(&mut self, frame: Frame) {
        self.foreign = 0;
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(frame);
        } else {
            self.truncated = true;
        }
    }

    fn repeat(&mut self, times: usize) {
        let Some(last) = self.frames.last().cloned() else { return };
        let room = MAX_FRAMES.saturating_sub(self.frames.len());
        self.truncated |= times > room;
        self.frames.extend(std::iter::repeat_n(last, times.min(room)));
    }
}
