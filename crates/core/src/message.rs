//! What the message of an exception tells of the values at the crash (§5.1), without knowing a language: the language's grammar reads [`Clue`]s out
//! of it, and the program's own templates are unified with it ([`template`]).
//!
//! A clue is something to try, never a condition: messages are cut, translated and written by hand.

pub mod template;

use crate::program::Shape;

/// One thing that a message tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// An index, a length, a bound.
    Number(i64),
    /// A value as it was.
    Text(String),
    /// The class of an object that was there, by its name.
    Type(String),
    /// What a value looked like, where types are not declared.
    Like(Shape),
    /// The parameter of that number (from 0) of the innermost frame's method was null.
    NullParameter(usize),
}

/// A value that a parameter had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Null,
    Text(String),
}

/// The least whole number that a text shows, if it shows one.
pub fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Numbers that stand by themselves in a text, in order.
pub fn numbers(text: &str) -> impl Iterator<Item = i64> + '_ {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.' || c == '_'));
    words.filter_map(|word| word.trim_matches('.').parse().ok())
}

/// What stands in quotation marks of one kind.
pub fn quoted(text: &str, mark: char) -> impl Iterator<Item = &str> + '_ {
    let pairs = text.matches(mark).count() / 2;
    text.split(mark).skip(1).step_by(2).take(pairs)
}

/// How runtimes say that a text is no number; what they quote behind it is the text.
const NO_NUMBER: [&str; 5] =
    ["invalid literal for int()", "could not convert string to float", "Invalid literal for Fraction", "For input string", "not a number"];

/// The text that was refused because it is no number; it may be empty.
pub fn no_number(message: &str) -> Option<&str> {
    let rest = NO_NUMBER.iter().find_map(|phrase| Some(message.split_once(phrase)?.1))?;
    ['\'', '"'].into_iter().find_map(|mark| quoted(rest, mark).next())
}

/// The member that an object was asked for in vain: `'Thing' object has no attribute 'size'`.
pub fn no_member(message: &str) -> Option<&str> {
    quoted(message.split_once(" has no attribute ")?.1, '\'').next().filter(|name| !name.is_empty())
}

/// The class that an object was refused for not being: `class a.B cannot be cast to class c.D (…)`. Arrays are left alone.
pub fn no_instance(message: &str) -> Option<&str> {
    let rest = message.split_once(" cannot be cast to ")?.1;
    let name = rest.strip_prefix("class ").unwrap_or(rest).split(' ').next()?;
    Some(name).filter(|n| !n.is_empty() && !n.starts_with('['))
}

/// Adds a clue that is not there yet.
pub fn add(clues: &mut Vec<Clue>, clue: Clue) {
    const MOST: usize = 40;
    if clues.len() < MOST && !clues.contains(&clue) {
        clues.push(clue);
    }
}

/// How far one message is from another, in [0, 1]: the edit distance after masking what differs from run to run, over the longer length.
pub fn distance(wanted: &str, got: &str) -> f64 {
    let (a, b) = (masked(wanted), masked(got));
    let longer = a.len().max(b.len());
    if longer == 0 { 0.0 } else { edits(&a, &b) as f64 / longer as f64 }
}

/// Longer messages are compared by their beginning.
const COMPARED: usize = 200;

/// Without the hexadecimal identity behind `@`.
fn masked(text: &str) -> Vec<char> {
    let mut out = Vec::new();
    let mut chars = text.chars().take(COMPARED).peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        while c == '@' && chars.peek().is_some_and(char::is_ascii_hexdigit) {
            chars.next();
        }
    }
    out
}

fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let kept = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = kept.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_differ_by_their_edits_and_not_by_identities() {
        assert_eq!(distance("a.B@1f2e is bad", "a.B@77 is bad"), 0.0);
        assert_eq!(distance("", ""), 0.0);
        assert_eq!(distance("abcd", "abxd"), 0.25);
        assert!(distance("Value 29 for day", "Value 28 for day") < distance("Value 29 for day", "nothing of the kind"));
    }

    #[test]
    fn what_is_no_number_is_quoted() {
        assert_eq!(no_number("invalid literal for int() with base 10: 'x;'"), Some("x;"));
        assert_eq!(no_number("could not convert string to float: ''"), Some(""));
        assert_eq!(no_number("For input string: \"1e\" under radix 16"), Some("1e"));
        assert_eq!(no_number("unknown option 'x'"), None);
    }

    #[test]
    fn a_refused_cast_names_the_class() {
        assert_eq!(no_instance("class a.B cannot be cast to class c.D (a.B and c.D are in unnamed module)"), Some("c.D"));
        assert_eq!(no_instance("a.B cannot be cast to java.lang.String"), Some("java.lang.String"));
        assert_eq!(no_instance("a.B cannot be cast to [I"), None);
        assert_eq!(no_instance("cannot be cast"), None);
    }

    #[test]
    fn numbers_stand_by_themselves() {
        assert_eq!(numbers("Index -1 out of bounds for length 3. x2 [1,28]").collect::<Vec<_>>(), [-1, 3, 1, 28]);
        assert_eq!(quoted("'a' isn't", '\'').collect::<Vec<_>>(), ["a"]);
    }
}
