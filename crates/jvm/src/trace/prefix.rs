//! What loggers, containers, mail and markup put before the text that a program printed.
//!
//! Strips it, and keeps two facts: whether the line begins a log record (has a time), and which thread or process it is of.

/// No prefix has more parts; a bound against lines made of brackets.
const MAX_PARTS: usize = 16;
const MAX_BRACKET: usize = 100;

const LEVELS: [&str; 20] = [
    "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL", "SEVERE", "CRITICAL", "NOTICE", "CONFIG", "FINE", "FINER", "FINEST", "error", "warn",
    "STDERR", "STDOUT", "stderr", "stdout",
];
/// Build tools that put their task before each line; these are no threads.
const TASKS: [&str; 10] = ["java", "exec", "junit", "javac", "testng", "apply", "scalac", "groovyc", "artifact", "antcall"];
const MARKUP: [&str; 12] = ["p", "pre", "code", "br", "br/", "br /", "li", "div", "span", "td", "blockquote", "tt"];
const WIKI_FENCES: [&str; 6] = ["{code", "{noformat", "{quote", "[code", "[/code", "[quote"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A line without its prefix.
#[derive(Debug, Default, PartialEq)]
pub struct Stripped<'a> {
    /// With its leading blanks: they tell nesting.
    pub rest: &'a str,
    /// The thread, process or container that the prefix names.
    pub lane: Option<&'a str>,
    /// The lane is a thread's name, as far as can be told.
    pub is_thread: bool,
    /// The line begins a log record: it has a time.
    pub record: bool,
}

/// One part of a prefix.
enum Part<'a> {
    Decoration(usize),
    Time(usize),
    Level(usize),
    Thread(usize, &'a str),
    Process(usize, &'a str),
}

pub fn strip(line: &str) -> Stripped<'_> {
    let mut out = Stripped { rest: line, ..Stripped::default() };
    let mut levelled = false;
    for _ in 0..MAX_PARTS {
        let text = out.rest.trim_start();
        let at_start = out.rest.len() == line.len();
        let context = Context { logged: out.record || levelled, record: out.record, at_start };
        let Some(part) = part(text, &context) else {
            break;
        };
        let length = match part {
            Part::Decoration(length) => length,
            Part::Time(length) => {
                out.record = true;
                length
            }
            Part::Level(length) => {
                levelled = true;
                length
            }
            Part::Thread(length, name) => {
                levelled = true;
                (out.lane, out.is_thread) = if out.lane.is_none() { (Some(name), true) } else { (out.lane, out.is_thread) };
                length
            }
            Part::Process(length, name) => {
                out.lane = out.lane.or(Some(name));
                length
            }
        };
        out.rest = &text[length..];
    }
    out
}

struct Context {
    /// A time or a level was seen.
    logged: bool,
    record: bool,
    at_start: bool,
}

fn part<'a>(text: &'a str, context: &Context) -> Option<Part<'a>> {
    decoration(text)
        .map(Part::Decoration)
        .or_else(|| timestamp(text).map(Part::Time))
        .or_else(|| level(text).map(Part::Level))
        .or_else(|| bracket(text))
        .or_else(|| context.at_start.then(|| container(text)).flatten())
        .or_else(|| logcat(text).map(Part::Level))
        .or_else(|| if context.record { syslog(text).or_else(|| round_bracket(text)) } else { None })
        .or_else(|| if context.logged { separator(text).or_else(|| logger(text)).map(Part::Decoration) } else { None })
}

/// Quoting, bullets, comments, code fences and tags.
fn decoration(text: &str) -> Option<usize> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    if ticks > 0 {
        let info = text[ticks..].trim();
        let is_info = ticks >= 3 && !info.is_empty() && info.len() < 16 && info.bytes().all(|b| b.is_ascii_alphabetic());
        return Some(if is_info { text.len() } else { ticks });
    }
    if text.starts_with(['>', '|']) || text.starts_with("~~~") {
        return Some(if text.starts_with('~') { 3 } else { 1 });
    }
    if let Some(tag) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(tag, _)| tag) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or(tag);
        return (MARKUP.contains(&name) || MARKUP.contains(&tag)).then_some(tag.len() + 2);
    }
    if WIKI_FENCES.iter().any(|fence| text.starts_with(fence)) {
        return text.find(['}', ']']).filter(|at| *at < 40).map(|at| at + 1);
    }
    ["* ", "- ", "+ ", "\u{2022} ", "# ", "// "].iter().find(|bullet| text.starts_with(**bullet)).map(|bullet| bullet.len())
}

fn level(text: &str) -> Option<usize> {
    let word = LEVELS.iter().filter(|word| text.starts_with(**word)).max_by_key(|word| word.len())?;
    let rest = &text[word.len()..];
    // A container runtime says whether the line is full or partial.
    if rest.starts_with(" F ") || rest.starts_with(" P ") {
        return Some(word.len() + 2);
    }
    match rest.chars().next() {
        None => Some(word.len()),
        Some(' ' | '\t' | ':' | '|') => Some(word.len() + 1),
        Some(_) => None,
    }
}

/// `[…]`: a time, a level, a task or a thread.
fn bracket(text: &str) -> Option<Part<'_>> {
    let inner = text.strip_prefix('[')?;
    let close = inner.char_indices().take(MAX_BRACKET).find(|(_, c)| *c == ']')?.0;
    let (name, length) = (inner[..close].trim(), close + 2);
    if name.starts_with("CIRCULAR REFERENCE") {
        return None;
    }
    if timestamp(name).is_some_and(|end| name[end..].trim().is_empty()) {
        return Some(Part::Time(length));
    }
    if LEVELS.contains(&name) || name.is_empty() || name.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Some(Part::Level(length));
    }
    if name.contains('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$')) {
        // A logger.
        return Some(Part::Level(length));
    }
    Some(if TASKS.contains(&name) { Part::Process(length, name) } else { Part::Thread(length, name) })
}

/// `(default task-1)`, as WildFly prints the thread.
fn round_bracket(text: &str) -> Option<Part<'_>> {
    let inner = text.strip_prefix('(')?;
    let close = inner.char_indices().take(MAX_BRACKET).find(|(_, c)| *c == ')')?.0;
    Some(Part::Thread(close + 2, &inner[..close]))
}

/// `web_1  | `
fn container(text: &str) -> Option<Part<'_>> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
    let bar = text[end..].trim_start_matches(' ');
    let is_container = end > 0 && end < MAX_BRACKET && text[end..].starts_with(' ') && (bar.starts_with("| ") || bar == "|" || bar.starts_with("|\t"));
    is_container.then(|| Part::Process(text.len() - bar.len() + 1, &text[..end]))
}

/// `E/AndroidRuntime( 1234): ` or `E AndroidRuntime: `
fn logcat(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let priority = chars.next().is_some_and(|c| "VDIWEF".contains(c));
    let separator = chars.next();
    if !priority || !matches!(separator, Some('/' | ' ')) {
        return None;
    }
    let colon = text.char_indices().take(60).find(|(_, c)| *c == ':')?.0;
    let tag = text[2..colon].split('(').next().unwrap_or_default().trim_end();
    let is_tag = !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    (is_tag && !super::head::is_exception_name(tag)).then_some(colon + 1)
}

/// `host app[123]: `, after the time.
fn syslog(text: &str) -> Option<Part<'_>> {
    let colon = text.char_indices().take(MAX_BRACKET).find(|(at, c)| *c == ':' && text[at + 1..].starts_with([' ', '\t']))?.0;
    let mut words = text[..colon].split(' ');
    let (first, second) = (words.next()?, words.next());
    let tag = second.unwrap_or(first);
    let is_tag = tag.ends_with(']') && tag.find('[').is_some_and(|at| at > 0);
    (words.next().is_none() && is_tag).then_some(Part::Process(colon + 1, &text[..colon]))
}

/// Process numbers and rules between the parts of a record.
fn separator(text: &str) -> Option<usize> {
    let word = text.split([' ', '\t']).next()?;
    let rule = matches!(word, "---" | "--" | "-" | ":" | "|");
    let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    (rule || number).then_some(word.len())
}

/// `com.acme.Service - ` or `c.a.Service   : `; not the exception that may stand there.
fn logger(text: &str) -> Option<usize> {
    let end = text.find([' ', '\t'])?;
    let name = &text[..end];
    let rest = text[end..].trim_start();
    let rule = rest.starts_with("- ") || rest.starts_with(": ") || rest == "-" || rest == ":";
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._$[]/-".contains(&b));
    (rule && plain && !super::head::is_exception_name(name)).then_some(text.len() - rest.len() + 1)
}

/// The length of the date, the time or both that the text begins with.
fn timestamp(text: &str) -> Option<usize> {
    let day = DAYS.iter().find(|day| text.starts_with(**day)).map_or(0, |day| day.len());
    let mut end = if day > 0 { skip(text, day, ", ") } else { 0 };
    let date = date(&text[end..]);
    if let Some(length) = date {
        end = skip(text, end + length, ", T_:");
    }
    let Some(length) = time(&text[end..]) else {
        let length = date.map(|_| text[..end].trim_end_matches([',', ' ', 'T', '_', ':']).len());
        return length.or_else(|| epoch(text)).filter(|n| ends_word(&text[*n..]));
    };
    end += length;
    // `Mon Jan 01 10:00:00 UTC 2024` ends in a zone and a year.
    if day > 0 {
        let tail = text[end..].trim_start().split(' ').take(2).collect::<Vec<_>>();
        if let [zone, year] = tail[..]
            && zone.bytes().all(|b| b.is_ascii_uppercase())
            && digits(year) == 4
        {
            end += text[end..].find(year).map_or(0, |at| at + 4);
        }
    }
    ends_word(&text[end..]).then_some(end)
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'))
}

fn skip(text: &str, from: usize, chars: &str) -> usize {
    from + text[from..].bytes().take(2).take_while(|b| chars.as_bytes().contains(b)).count()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// `2024-01-31`, `31/01/2024`, `31-Jan-2024`, `Jan 31`, `Jan 31, 2024`, `01-31`
fn date(text: &str) -> Option<usize> {
    if let Some(month) = MONTHS.iter().find(|month| text.starts_with(**month)) {
        let day = month.len() + text[month.len()..].bytes().take_while(|b| *b == b' ').count();
        let end = day + digits(&text[day..]);
        if end == day || end - day > 2 {
            return None;
        }
        let year = text[end..].strip_prefix(", ").map_or(0, digits);
        return Some(if year == 4 { end + 6 } else { end });
    }
    let first = digits(text);
    let mut end = first;
    let (mut parts, mut longest, mut shortest) = (1, first, first);
    while parts < 3 && matches!(first, 1 | 2 | 4) && text[end..].starts_with(['-', '/', '.']) {
        let rest = &text[end + 1..];
        let month = MONTHS.iter().any(|month| rest.starts_with(*month));
        let length = if month { 3 } else { digits(rest) };
        if length == 0 || length > 4 {
            break;
        }
        end += 1 + length;
        parts += 1;
        (longest, shortest) = (longest.max(length), shortest.min(length));
    }
    // `1.2.3` is a version: a date has a long year or two digits everywhere.
    let dated = longest == 4 || shortest == 2;
    let month_and_day = parts == 2 && first == 2 && end == 5 && text[end..].starts_with(' ');
    (parts == 3 && dated || month_and_day).then_some(end)
}

/// `10:15:30`, `10:15:30.123`, `1:02:03 PM`, `10:15:30Z`, `10:15:30,123+0200`
fn time(text: &str) -> Option<usize> {
    let hours = digits(text);
    if !(1..=2).contains(&hours) || !text[hours..].starts_with(':') || digits(&text[hours + 1..]) != 2 {
        return None;
    }
    let mut end = hours + 3;
    if text[end..].starts_with(':') && digits(&text[end + 1..]) == 2 {
        end += 3;
    }
    if text[end..].starts_with(['.', ',']) && digits(&text[end + 1..]) > 0 {
        end += 1 + digits(&text[end + 1..]);
    }
    if text[end..].starts_with(" AM") || text[end..].starts_with(" PM") {
        end += 3;
    }
    if text[end..].starts_with('Z') {
        end += 1;
    } else {
        let zone = text[end..].trim_start_matches(' ');
        let at = text.len() - zone.len();
        if zone.starts_with(['+', '-']) && digits(&zone[1..]) >= 2 {
            end = at + 1 + digits(&zone[1..]);
            if text[end..].starts_with(':') {
                end += 1 + digits(&text[end + 1..]);
            }
        }
    }
    Some(end)
}

/// Seconds or milliseconds since 1970.
fn epoch(text: &str) -> Option<usize> {
    let n = digits(text);
    let fraction = text[n..].strip_prefix('.').map_or(0, |rest| 1 + digits(rest));
    ((10..=13).contains(&n) && text[n + fraction..].starts_with(' ')).then_some(n + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_go_and_leave_the_text() {
        for (prefix, lane, record) in [
            ("", None, false),
            ("2024-03-01 10:15:30,123 ERROR [main] com.acme.App -", Some("main"), true),
            ("10:15:30.123 [worker-1] ERROR com.acme.App -", Some("worker-1"), true),
            ("2024-03-01T10:15:30.123Z ERROR 4711 --- [nio-8080-exec-1] c.acme.App        :", Some("nio-8080-exec-1"), true),
            ("2024-03-01T10:15:30.123456789Z stderr F", None, true),
            ("Mar  1 10:15:30 host app[4711]:", Some("host app[4711]"), true),
            ("web_1  |", Some("web_1"), false),
            ("[ERROR]", None, false),
            ("     [java]", Some("java"), false),
            ("SEVERE:", None, false),
            ("> >", None, false),
            ("- `", None, false),
            ("<p><code>", None, false),
            ("E/AndroidRuntime( 4711):", None, false),
            ("03-01 10:15:30.123  4711  4711 E AndroidRuntime:", None, true),
            ("10:15:30,123 ERROR [org.acme.Foo] (default task-1)", Some("default task-1"), true),
            ("[2024-03-01 10:15:30]", None, true),
            ("01-Mar-2024 10:15:30.123 SEVERE [main]", Some("main"), true),
            ("1709288130123 ", None, true),
        ] {
            let line = format!("{prefix} java.lang.X: y");
            let got = strip(&line);
            assert_eq!((got.rest.trim_start(), got.lane, got.record), ("java.lang.X: y", lane, record), "{prefix}");
        }
    }

    #[test]
    fn text_that_is_no_prefix_stays() {
        for line in ["java.lang.X: 10:15", "com.acme.Problem: x", "Cause 1: y", "12 items", "1.2.3 is out", "Januar: x", "MyError: x", "E: x", "10.0.0.1 - x"] {
            assert_eq!(strip(line).rest, line);
        }
        assert_eq!(strip("2024-03-01 10:15:30 com.acme.AppException - x").rest.trim_start(), "com.acme.AppException - x");
    }

    #[test]
    fn fences_are_empty_lines() {
        for line in ["```", "```java", "{code}", "{noformat:title=x}", "</pre>", "~~~"] {
            assert_eq!(strip(line).rest.trim(), "", "{line}");
        }
    }

    #[test]
    fn indentation_after_a_prefix_stays() {
        assert_eq!(strip("[java] \tat x").rest, " \tat x");
    }
}
