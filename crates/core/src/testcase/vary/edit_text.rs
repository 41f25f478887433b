//! Edits of a text: the four of guided random testing (insert, remove, replace a character or substring), and structure without a grammar: tokens of
//! the program's constants, parts copied, moved, repeated, wrapped in brackets, cut.

use std::sync::Arc;

use super::Context;
use crate::rng::Rng;
use crate::testcase::build::{literals, pattern};

const MAX_CHARS: usize = 300;
/// How often a part that was compared with something else becomes what it was compared with, and one that is no number becomes one.
const FOLLOW: f64 = 0.15;
const PAIRS: [(&str, &str); 8] = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("\"", "\""), ("'", "'"), ("`", "`"), ("\n", "\n")];

/// One edit, now and then several.
pub fn edit(context: &Context<'_, '_>, rng: &mut Rng, s: &str) -> String {
    let mut chars: Vec<char> = s.chars().collect();
    loop {
        if context.policy.follows && rng.chance(FOLLOW) && follow(context, rng, &mut chars) {
            break;
        }
        match rng.below(15) {
            14 if chars.contains(&'\n') || rng.chance(0.4) => edit_lines(context, rng, &mut chars),
            0..=6 => edit_chars(context, rng, &mut chars),
            7 | 8 => insert_token(context, rng, &mut chars),
            9 => edit_number(context, rng, &mut chars),
            10 if rng.chance(0.5) => replace_told(context, rng, &mut chars),
            11 if !context.palette.literals.overruns().is_empty() => lengthen(context, rng, &mut chars),
            _ => edit_parts(context, rng, &mut chars),
        }
        if rng.chance(0.6) {
            break;
        }
    }
    // a text that was made longer keeps its length
    let room = context.palette.literals.overruns().iter().max().map_or(0, |n| 2 * n);
    chars.truncate(MAX_CHARS.max(s.len()).max(room));
    chars.into_iter().collect()
}

/// A prefix of one text and a suffix of the other: what two parents know together.
pub fn splice(rng: &mut Rng, a: &str, b: &str) -> String {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (cut, from) = (rng.below(a.len() + 1), rng.below(b.len() + 1));
    a[..cut].iter().chain(&b[from..]).take(MAX_CHARS).collect()
}

/// As executions showed that the program would have it. Whether there was something to change.
fn follow(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) -> bool {
    make_number(context, rng, chars) || make_fitting(context, rng, chars) || follow_comparison(context, rng, chars)
}

/// A part that a regular expression was looked for in becomes a text that fits, or gets one before or behind it. Whether there was such a part.
fn make_fitting(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) -> bool {
    if context.facts.unfit().is_empty() || rng.chance(0.5) {
        return false;
    }
    let text: String = chars.iter().collect();
    let fitting: Vec<&(Arc<str>, Arc<str>)> = context.facts.unfit().iter().filter(|(have, _)| text.contains(&**have)).collect();
    let Some((have, pattern)) = rng.pick(&fitting) else { return false };
    let sample = pattern::sample(pattern, rng);
    let at = text.find(&**have).unwrap_or(0);
    let (from, to) = match rng.below(4) {
        0 | 1 => (at, at + have.len()),
        2 => (at, at),
        _ => (at + have.len(), at + have.len()),
    };
    *chars = [&text[..from], &sample, &text[to..]].concat().chars().collect();
    true
}

/// What was compared is mostly a piece of what was given: here it becomes what it was compared with, as the program would have it. Case is not looked
/// at: programs often compare what they have lowered. Whether something was found to be changed.
fn follow_comparison(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) -> bool {
    let folded: String = chars.iter().map(char::to_ascii_lowercase).collect();
    let both = context.facts.pairs().iter().flat_map(|(a, b)| [(a, b), (b, a)]);
    // comparisons of all tests are kept, and few of them are about this text
    let fitting: Vec<(String, &str)> =
        both.filter(|(have, _)| !have.is_empty()).map(|(have, want)| (have.to_ascii_lowercase(), &**want)).filter(|(have, _)| folded.contains(have)).collect();
    let Some((have, want)) = rng.pick(&fitting) else { return false };
    let places: Vec<usize> = folded.match_indices(have.as_str()).map(|(i, _)| i).collect();
    let Some(at) = rng.pick(&places).map(|i| folded[..*i].chars().count()) else { return false };
    chars.splice(at..at + have.chars().count(), want.chars());
    true
}

/// A part that was refused because it is no number becomes one: there is no distance through a parser of numbers. Whether there was such a part.
fn make_number(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) -> bool {
    let refused = context.facts.no_numbers();
    if refused.is_empty() || rng.chance(0.5) {
        return false;
    }
    let text: String = chars.iter().collect();
    let parts: Vec<&str> = refused.iter().map(|w| &**w).filter(|w| text.contains(w)).collect();
    let Some(part) = rng.pick(&parts) else { return false };
    let number = some_number(context, rng).to_string();
    if part.is_empty() {
        // what is missing was expected beside a mark or at an end
        let marks: Vec<usize> =
            (0..=chars.len()).filter(|i| *i == 0 || *i == chars.len() || !chars[*i].is_alphanumeric() || !chars[*i - 1].is_alphanumeric()).collect();
        let at = rng.pick(&marks).copied().unwrap_or(0);
        chars.splice(at..at, number.chars());
    } else {
        let last = rng.chance(0.5);
        let at = if last { text.rfind(part) } else { text.find(part) }.unwrap_or(0);
        *chars = [&text[..at], &number, &text[at + part.len()..]].concat().chars().collect();
    }
    true
}

fn some_number(context: &Context<'_, '_>, rng: &mut Rng) -> i64 {
    match rng.below(4) {
        0 => 0,
        1 => rng.pick(context.palette.literals.ints()).copied().unwrap_or(1),
        _ => rng.between(0, 100),
    }
}

/// A cut is among them: an index beyond the end needs a text that ends early, which single removals hardly reach.
fn edit_chars(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let at = rng.below(chars.len() + 1);
    match rng.below(6) {
        0 => chars.insert(at, some_char(context, rng)),
        1 if !chars.is_empty() => {
            let end = if rng.chance(0.3) { (at + 1 + rng.below(4)).min(chars.len()) } else { (at + 1).min(chars.len()) };
            chars.drain(at.min(end)..end);
        }
        2 if at < chars.len() => chars[at] = some_char(context, rng),
        3 if at < chars.len() => {
            let shifted = u32::from(chars[at]).wrapping_add_signed(rng.between(-2, 2) as i32);
            chars[at] = char::from_u32(shifted).unwrap_or('a');
        }
        4 => {
            let pool = if rng.chance(0.5) {
                context.facts.strings().iter().map(|s| s.to_string()).collect::<Vec<_>>()
            } else {
                context.palette.literals.strings().to_vec()
            };
            if let Some(word) = rng.pick(&pool) {
                chars.splice(at..at, word.chars());
            }
        }
        5 if rng.chance(0.7) => chars.truncate(at),
        5 => drop(chars.drain(..at)),
        _ => {}
    }
}

/// Half of the time set off by a mark: lists and fields grow that way.
fn insert_token(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let at = if rng.chance(0.4) { chars.len() } else { rng.below(chars.len() + 1) };
    let mut token = match (rng.pick(context.facts.met_texts()), rng.pick(context.facts.told())) {
        (Some(text), _) if rng.chance(0.15) => text.to_string(),
        (_, Some(word)) if rng.chance(0.3) => word.to_string(),
        _ => literals::token(context.palette, rng),
    };
    if rng.chance(0.5) {
        token.insert(0, mark(context, rng, chars));
    }
    chars.splice(at..at, token.chars());
}

/// What may set parts of a text off: a mark that it has already, one that the program's constants have, or a blank.
fn mark(context: &Context<'_, '_>, rng: &mut Rng, chars: &[char]) -> char {
    let is_mark = |c: &char| !c.is_alphanumeric();
    let own: Vec<char> = chars.iter().copied().filter(is_mark).collect();
    // most tokens are words
    let known = |rng: &mut Rng| (0..8).find_map(|_| literals::token(context.palette, rng).chars().find(is_mark));
    match rng.pick(&own) {
        Some(own) if rng.chance(0.6) => *own,
        _ if rng.chance(0.5) => known(rng).unwrap_or(' '),
        _ => *rng.pick(&[' ', ' ', '\n']).expect("not empty"),
    }
}

/// A part comes again until the text is longer than what overran in the log.
fn lengthen(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let Some(size) = rng.pick(context.palette.literals.overruns()).copied() else { return };
    if chars.is_empty() {
        chars.push(some_char(context, rng));
    }
    repeat(rng, chars, size);
}

/// A part of a text that is not empty comes again until there are more than `size` characters.
fn repeat(rng: &mut Rng, chars: &mut Vec<char>, size: usize) {
    let (start, end) = if rng.chance(0.5) { (rng.below(chars.len()), 0) } else { part(rng, chars) };
    let end = end.max(start + 1).min(chars.len());
    let again: Vec<char> = chars[start..end].to_vec();
    let missing = (size + 1 + rng.below(size / 2 + 2)).saturating_sub(chars.len());
    chars.splice(end..end, again.into_iter().cycle().take(missing));
}

/// What an exception quoted gives way to a number or another word: it was refused as it stands.
fn replace_told(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let text: String = chars.iter().collect();
    let quoted: Vec<&str> = context.facts.told().iter().map(|w| &**w).filter(|w| text.contains(w)).collect();
    let Some(word) = rng.pick(&quoted) else { return };
    let with = if rng.chance(0.5) { rng.between(0, 12).to_string() } else { literals::token(context.palette, rng) };
    *chars = text.replacen(word, &with, 1).chars().collect();
}

/// A number in the text becomes another: a neighbour, a border, or one that the program mentions.
fn edit_number(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let starts: Vec<usize> = (0..chars.len()).filter(|i| chars[*i].is_ascii_digit() && (*i == 0 || !chars[*i - 1].is_ascii_digit())).collect();
    let Some(start) = rng.pick(&starts).copied() else { return };
    let end = chars[start..].iter().position(|c| !c.is_ascii_digit()).map_or(chars.len(), |n| start + n);
    let old: i64 = chars[start..end].iter().collect::<String>().parse().unwrap_or(0);
    let new = match rng.below(6) {
        0 | 1 => 0,
        2 => old.saturating_add(rng.between(-1, 1)),
        3 => *rng.pick(&[1, 9, 12, 13, 24, 31, 32, 60, 99, 100, 255, 256, 9999, i64::MAX]).expect("not empty"),
        4 => rng.pick(context.palette.literals.ints()).copied().unwrap_or(old),
        _ => rng.between(0, 100),
    };
    let text = if rng.chance(0.2) { format!("{new:0width$}", width = end - start) } else { new.to_string() };
    chars.splice(start..end, text.chars());
}

fn edit_parts(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let (start, end) = part(rng, chars);
    let inside: Vec<char> = chars[start..end].to_vec();
    match rng.below(6) {
        // twice, or again somewhere else
        0 => drop(chars.splice(end..end, inside)),
        1 => {
            let at = rng.below(chars.len() + 1);
            chars.splice(at..at, inside);
        }
        2 => {
            let (open, close) = *rng.pick(&PAIRS).expect("not empty");
            chars.splice(end..end, close.chars());
            chars.splice(start..start, open.chars());
        }
        3 => drop(chars.drain(start..end)),
        4 => {
            let with = if rng.chance(0.5) { literals::token(context.palette, rng) } else { literals::sentence(context.palette, rng) };
            chars.splice(start..end, with.chars());
        }
        _ => {
            let times = 1 + rng.below(5);
            chars.splice(end..end, inside.iter().copied().cycle().take(inside.len() * times));
        }
    }
}

/// Many formats are read line by line: a line comes, goes, comes twice, changes places or is indented.
fn edit_lines(context: &Context<'_, '_>, rng: &mut Rng, chars: &mut Vec<char>) {
    let text: String = chars.iter().collect();
    let mut lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    let at = rng.below(lines.len());
    match rng.below(6) {
        0 | 1 => {
            let constant = rng.pick(context.palette.literals.strings()).cloned().filter(|_| rng.chance(0.5));
            let new = constant.unwrap_or_else(|| literals::sentence(context.palette, rng));
            let end = if rng.chance(0.5) { lines.len() } else { rng.below(lines.len() + 1) };
            lines.insert(end, new);
        }
        2 if lines.len() > 1 => drop(lines.remove(at)),
        3 => lines.insert(at, lines[at].clone()),
        4 => {
            let other = rng.below(lines.len());
            lines.swap(at, other);
        }
        _ => lines[at].insert_str(0, if rng.chance(0.7) { "  " } else { "\t" }),
    }
    *chars = lines.join("\n").chars().collect();
}

/// A stretch of the text: half of the time one token, else any.
fn part(rng: &mut Rng, chars: &[char]) -> (usize, usize) {
    if chars.is_empty() {
        return (0, 0);
    }
    let at = rng.below(chars.len());
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if rng.chance(0.5) {
        if !word(chars[at]) {
            return (at, at + 1);
        }
        let start = chars[..at].iter().rposition(|c| !word(*c)).map_or(0, |i| i + 1);
        let end = chars[at..].iter().position(|c| !word(*c)).map_or(chars.len(), |i| at + i);
        return (start, end);
    }
    let other = rng.below(chars.len() + 1);
    (at.min(other), at.max(other))
}

/// A character that a constant or a comparison mentions, else noise.
fn some_char(context: &Context<'_, '_>, rng: &mut Rng) -> char {
    if rng.chance(0.5) {
        let ints = if rng.chance(0.5) { context.facts.ints() } else { context.palette.literals.ints() };
        if let Some(c) = rng.pick(ints).and_then(|v| u32::try_from(*v).ok()).filter(|v| (1..0xD800).contains(v)).and_then(char::from_u32) {
            return c;
        }
    }
    if rng.chance(0.3)
        && let Some(c) = literals::token(context.palette, rng).chars().next()
    {
        return c;
    }
    literals::char_noise(rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_splice_keeps_a_prefix_of_one_and_a_suffix_of_the_other() {
        let mut rng = Rng::new(7);
        for _ in 0..200 {
            let s = splice(&mut rng, "abc", "xyz");
            let cut = s.chars().take_while(|c| "abc".contains(*c)).count();
            assert!("abc".starts_with(&s[..cut]) && "xyz".ends_with(&s[cut..]), "{s}");
        }
    }

    #[test]
    fn a_part_lies_within_the_text() {
        let mut rng = Rng::new(1);
        let text: Vec<char> = "ab, (c1)".chars().collect();
        for _ in 0..500 {
            let (start, end) = part(&mut rng, &text);
            assert!(start <= end && end <= text.len());
        }
        assert_eq!(part(&mut rng, &[]), (0, 0));
    }

    #[test]
    fn a_text_overruns_a_buffer() {
        for seed in 0..50 {
            let mut rng = Rng::stream(seed, "text");
            let mut chars: Vec<char> = "[1, 22]".chars().collect();
            repeat(&mut rng, &mut chars, 200);
            assert!((201..=302).contains(&chars.len()), "{}", chars.len());
            assert!(chars.starts_with(&['[']) && chars.iter().all(|c| "[1, 2]".contains(*c)));
        }
    }
}
