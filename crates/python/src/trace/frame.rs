//! One frame or exception as Python, IPython and pytest print it, and whose code a path is.

use rethrow_core::trace::Frame;

/// `File "path", line N[, in name]` anywhere in a line: how far the line is prefixed or indented, the path, the line, and the name, which the place of a
/// syntax error lacks.
pub struct Plain<'l> {
    pub lead: &'l str,
    pub path: &'l str,
    pub line: u32,
    pub name: Option<&'l str>,
}

/// See [`Plain`].
pub fn plain(text: &str) -> Option<Plain<'_>> {
    let at = text.find("File \"")?;
    let rest = &text[at + 6..];
    let end = rest.find("\", line ")?;
    let (path, rest) = (&rest[..end], &rest[end + 8..]);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let line = rest[..digits].parse().ok()?;
    let name = rest[digits..].strip_prefix(", in ").map(str::trim_end).filter(|n| !n.is_empty());
    (name.is_some() || rest[digits..].trim().is_empty()).then_some(Plain { lead: &text[..at], path, line, name })
}

/// IPython's frames: `Cell In[3], line 5[, in f(x)]`, `File path:12, in f(x)`, `Input In [3], in <cell line: 1>()`.
pub fn notebook(text: &str) -> Option<Frame> {
    let trimmed = text.trim();
    if let Some(rest) = trimmed.strip_prefix("Cell In") {
        let (cell, rest) = rest.split_once(", line ")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line = rest[..digits].parse().ok()?;
        let name = rest[digits..].strip_prefix(", in ").map_or("<module>", called);
        return Some(frame(&format!("<Cell In{}>", cell.trim()), name, Some(line)));
    }
    if let Some(rest) = trimmed.strip_prefix("Input In") {
        let (cell, name) = rest.split_once(", in ")?;
        return Some(frame(&format!("<Cell In{}>", cell.trim()), called(name), None));
    }
    let (place, name) = trimmed.strip_prefix("File ")?.split_once(", in ")?;
    let (path, line) = place.rsplit_once(':')?;
    (!path.starts_with('"')).then_some(())?;
    Some(frame(path, called(name), Some(line.parse().ok()?)))
}

/// IPython before 8: `~/x.py in f(a, b)`, `<ipython-input-1-abc> in <module>`; the line follows behind an arrow.
pub fn old_notebook(text: &str) -> Option<Frame> {
    let (path, name) = text.trim_end().split_once(" in ")?;
    let is_path = path.starts_with("<ipython-input") || path.starts_with("/tmp/ipykernel") || path.ends_with(".py");
    let is_name = name.ends_with(')') || name.ends_with('>');
    (is_path && is_name && !path.contains(' ')).then(|| frame(path, called(name), None))
}

/// `---> 12   code`: the line of an IPython frame.
pub fn arrow(text: &str) -> Option<u32> {
    let rest = text.trim_start().trim_start_matches('-').strip_prefix("> ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// `f(x, y)` as `f`; `<cell line: 1>()` as `<module>`.
fn called(name: &str) -> &str {
    if name.starts_with("<cell line") {
        return "<module>";
    }
    name.split('(').next().unwrap_or(name).trim()
}

/// A frame of a printed path. Python prints the bare name of the code; tools that print a qualified one are cut to it.
pub fn frame(path: &str, name: &str, line: Option<u32>) -> Frame {
    let name = match name.rsplit_once('.') {
        Some((_, last)) if !last.is_empty() => last,
        _ => name,
    };
    Frame { file: Some(path.to_string()), platform: is_platform(path), ..Frame::new(path, name, line) }
}

/// Whether code at that path is the interpreter's own, or that of the test harness.
pub fn is_platform(path: &str) -> bool {
    if path.starts_with('<') {
        return !path.starts_with("<ipython-input") && !path.starts_with("<Cell");
    }
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').collect();
    if let Some(site) = parts.iter().rposition(|p| matches!(*p, "site-packages" | "dist-packages")) {
        return parts.get(site + 1).is_some_and(|p| matches!(*p, "pytest" | "_pytest" | "pluggy" | "pytest.py" | "py" | "IPython" | "ipykernel"));
    }
    parts.windows(2).any(|w| is_library(w[0], w[1])) || parts.iter().any(|p| p.starts_with("python3") && p.ends_with(".zip"))
}

/// `lib/python3.11` on Unix, `Python311/Lib` on Windows.
fn is_library(folder: &str, inside: &str) -> bool {
    let version = |name: &str| name.len() > 6 && name[6..].bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b't');
    let unix =
        matches!(folder, "lib" | "lib64" | "Lib") && (inside.starts_with("python3") || inside.starts_with("pypy3")) && inside.is_ascii() && version(inside);
    let windows = inside.eq_ignore_ascii_case("lib") && folder.is_ascii() && folder.len() >= 6 && folder[..6].eq_ignore_ascii_case("python");
    unix || windows
}

/// `name` or `name: message`, where `name` is dotted.
pub fn exception(text: &str) -> Option<(&str, Option<&str>)> {
    const LEVELS: [&str; 9] = ["DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTE", "TRACE"];
    let text = text.trim_end();
    let end = text.find([':', ' ']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let message = match rest.strip_prefix(':') {
        Some(message) if message.is_empty() || message.starts_with(' ') => Some(message.trim_start()).filter(|m| !m.is_empty()),
        None if rest.is_empty() => None,
        _ => return None,
    };
    let part = |p: &str| p == "<locals>" || is_identifier(p);
    (!name.is_empty() && name.split('.').all(part) && !LEVELS.contains(&name)).then_some((name, message))
}

pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic()) && chars.all(|c| c == '_' || c.is_alphanumeric())
}

/// `[Previous line repeated 12 more times]`.
pub fn repeated(text: &str) -> Option<usize> {
    let rest = text.trim().strip_prefix("[Previous line repeated ")?;
    rest.split_once(" more time")?.0.parse().ok()
}
