//! What a report says beside its trace. Who reports a crash often shows what the program was given: a call, a text in quotation marks, a block of
//! input. Those are things to try, as the clues of a message are.
//!
//! Total: any text is a report. Only what stands near the trace is looked at, and only so much of it is kept.

use crate::message::Clue;

/// Lines before and behind the beginning of the trace that are looked at.
const NEAR: usize = 200;
const MAX_TEXTS: usize = 24;
const MAX_CODE: usize = 60;
/// Folders of what is installed, and of the interpreter.
const INSTALLED: [&str; 4] = ["site-packages", "dist-packages", "lib/python", "\\Lib\\"];
/// Characters of one text or block.
const LONGEST: usize = 4000;

/// See the module documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What stands in quotation marks, and whole blocks.
    pub texts: Vec<String>,
    /// What may be code: blocks, and lines with a call.
    pub code: Vec<String>,
}

impl Report {
    /// What stands around the trace that begins in line `first_line` (from 1). The lines of code that the trace prints for frames of installed packages
    /// are not the reporter's.
    pub fn read(text: &str, first_line: usize) -> Report {
        let lines: Vec<&str> = text.lines().skip(first_line.saturating_sub(NEAR + 1)).take(2 * NEAR).collect();
        let mut report = Report::default();
        let own = reporters(&lines);
        let mut block: Option<Vec<&str>> = None;
        for line in &own {
            let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            match (&mut block, fence) {
                (None, true) => block = Some(Vec::new()),
                (Some(inside), true) => {
                    report.block(&inside.join("\n"));
                    block = None;
                }
                (Some(inside), false) => inside.push(line),
                (None, false) => {}
            }
        }
        let calls = own.iter().map(|l| l.trim().trim_start_matches(">>> ")).filter(|l| l.contains('(') && l.contains(')'));
        report.code.extend(calls.take(MAX_CODE).map(str::to_string));
        quoted(&own.join("\n")).into_iter().for_each(|text| report.text(text));
        let inline = report.texts.iter().filter(|t| t.contains('(') && t.ends_with(')'));
        report.code.extend(inline.cloned().collect::<Vec<_>>());
        report
    }

    /// Things to try, if they are not the program's own.
    pub fn clues(&self) -> impl Iterator<Item = Clue> + '_ {
        self.texts.iter().cloned().map(Clue::Text)
    }

    fn block(&mut self, inside: &str) {
        if inside.len() <= LONGEST && !inside.trim().is_empty() {
            self.code.push(inside.to_string());
            self.text(inside.to_string());
        }
    }

    fn text(&mut self, text: String) {
        if self.texts.len() < MAX_TEXTS && !text.trim().is_empty() && text.len() <= LONGEST && !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }
}

/// The lines that are no frames, nor the code of a frame of an installed package.
fn reporters<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut out = Vec::new();
    let mut skipping: Option<usize> = None;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        if skipping.is_some_and(|of| indent > of) {
            continue;
        }
        skipping = None;
        let start = line.trim_start();
        if start.starts_with("at ") || start.starts_with("Caused by: ") || start.starts_with("...") && !start.starts_with("... ") {
            continue;
        }
        match start.strip_prefix("File \"") {
            Some(path) if INSTALLED.iter().any(|folder| path.contains(folder)) => skipping = Some(indent),
            Some(_) => {}
            None => out.push(*line),
        }
    }
    out
}

/// What stands in quotation marks, as the program would see it. An apostrophe within a word is none; a mark that is not closed in its line is none.
fn quoted(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let mark = chars[at];
        if !matches!(mark, '"' | '\'' | '`') || at > 0 && within_word(&chars, at) {
            at += 1;
            continue;
        }
        let triple = mark != '`' && chars[at..].starts_with(&[mark; 3]);
        let open = if triple { 3 } else { 1 };
        match closing(&chars, at + open, mark, open) {
            Some(end) => {
                let inside = &chars[at + open..end];
                if mark == '`' {
                    let code: String = inside.iter().collect();
                    out.extend(std::iter::once(code.clone()).chain(quoted(&code)));
                } else {
                    out.push(unescaped(inside));
                }
                at = end + open;
            }
            None => at += open,
        }
    }
    out
}

/// A letter stands before the mark; but `b"…"` and the like are prefixes of a text.
fn within_word(chars: &[char], at: usize) -> bool {
    let word = chars[..at].iter().rev().take_while(|c| c.is_alphanumeric()).count();
    word > 2 || chars[at - word..at].iter().any(|c| !"rRbBuUfF".contains(*c))
}

/// Where the text that begins at `from` ends.
fn closing(chars: &[char], from: usize, mark: char, marks: usize) -> Option<usize> {
    let mut at = from;
    while at < chars.len() {
        match chars[at] {
            '\\' if mark != '`' => at += 1,
            '\n' if marks == 1 => return None,
            c if c == mark && chars[at..].iter().take(marks).filter(|c| **c == mark).count() == marks => {
                let apostrophe = mark == '\'' && marks == 1 && chars.get(at + 1).is_some_and(|c| c.is_alphanumeric());
                if !apostrophe {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn unescaped(chars: &[char]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        at += 1;
        let Some(next) = chars.get(at).filter(|_| *c == '\\') else {
            out.push(*c);
            continue;
        };
        at += 1;
        let digits = match next {
            'u' => 4,
            'x' => 2,
            _ => 0,
        };
        let code = || u32::from_str_radix(&chars.get(at..at + digits)?.iter().collect::<String>(), 16).ok().and_then(char::from_u32);
        match (next, code()) {
            ('u' | 'x', Some(c)) => {
                out.push(c);
                at += digits;
            }
            ('n', _) => out.push('\n'),
            ('t', _) => out.push('\t'),
            ('r', _) => out.push('\r'),
            ('0', _) => out.push('\0'),
            ('"' | '\'' | '\\', _) => out.push(*next),
            _ => out.extend(['\\', *next]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_quoted_texts_and_calls_are_what_the_reporter_shows() {
        let text = "It doesn't work with 'a b', isn't it?\n```yaml\na: &x\n  - 1\n```\nCall `f(\"q\\n\\u0041\")`:\n\n    f('''two\nlines''', b'\\x00')\n";
        let report = Report::read(text, 1);
        let texts: Vec<&str> = report.texts.iter().map(String::as_str).collect();
        assert_eq!(texts, ["a: &x\n  - 1", "a b", "f(\"q\\n\\u0041\")", "q\nA", "two\nlines", "\0"]);
        assert_eq!(report.code[0], "a: &x\n  - 1");
        assert!(report.code.iter().any(|c| c == "f(\"q\\n\\u0041\")"), "{:?}", report.code);
    }

    #[test]
    fn code_of_the_program_is_not_the_reporters() {
        let text = "Traceback (most recent call last):\n  File \"main.py\", line 4, in <module>\n    parse('basket;0')\n  File \"site-packages/shop.py\", line 21, in parse\n    if x == 'own':\nValueError: 'said'\n";
        let report = Report::read(text, 1);
        assert_eq!(report.texts, ["basket;0", "said"]);
        assert_eq!(report.code[1..], ["parse('basket;0')"]);
        let java = "x(\"a\")\n\tat a.B.c(\"no\")\nCaused by: X: \"no\"\n";
        assert_eq!(Report::read(java, 1).texts, ["a"]);
    }

    #[test]
    fn what_is_far_away_or_endless_is_left_out() {
        let far = format!("\"far\"\n{}\"near\"\n", "x\n".repeat(500));
        assert_eq!(Report::read(&far, 500).texts, ["near"]);
        let long = format!("\"{}\"", "y".repeat(LONGEST + 1));
        assert!(Report::read(&long, 1).texts.is_empty());
        for odd in ["", "\"", "'''", "\\", "\"\\", "```", "\"\\u12\"", "`\n`"] {
            Report::read(odd, 0);
        }
    }
}
