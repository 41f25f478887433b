//! Trees of exception groups: `+ Exception Group Traceback`, then lines behind `|`, each further exception one step to the right.

use super::line::{GROUP_HEADER, HEADER};

/// Lines of one group, without their bars.
#[derive(Default)]
pub struct Block {
    /// The group's own traceback.
    pub own: Vec<(usize, String)>,
    /// Those of the exceptions in it, bars kept from their own column on.
    pub inner: Vec<Vec<(usize, String)>>,
}

/// A group deeper than this is cut.
pub const MAX_DEPTH: usize = 8;
const MAX_INNER: usize = 1000;

/// The column of the bar or plus that a line begins with.
pub fn bar(line: &str) -> Option<usize> {
    let indent = line.bytes().take_while(|b| *b == b' ').count();
    matches!(line.as_bytes().get(indent), Some(b'|' | b'+')).then_some(indent)
}

pub fn begins(line: &str) -> bool {
    line.trim_start().strip_prefix("+ ").is_some_and(|rest| rest.starts_with(GROUP_HEADER))
}

/// Splits the lines of a group whose bar stands at `column`.
pub fn split(lines: &[(usize, String)], column: usize) -> Block {
    let mut block = Block::default();
    for (number, line) in lines {
        let Some(at) = bar(line) else { continue };
        let rest = &line[at + 1..];
        if at == column && line.as_bytes()[at] == b'|' {
            block.own.push((*number, content(rest)));
        } else if at == column && rest.starts_with(' ') {
            block.own.push((*number, HEADER.to_string() + ":"));
        } else if at == column && rest.starts_with("-+-") || at == column + 2 && rest.starts_with("--") && rest.contains("---- ") {
            if block.inner.len() < MAX_INNER {
                block.inner.push(Vec::new());
            }
        } else if let Some(inner) = block.inner.last_mut()
            && !rest.starts_with("-------")
        {
            inner.push((*number, line.clone()));
        }
    }
    block
}

fn content(rest: &str) -> String {
    let text = rest.strip_prefix(' ').unwrap_or(rest);
    text.replace(GROUP_HEADER, HEADER)
}
