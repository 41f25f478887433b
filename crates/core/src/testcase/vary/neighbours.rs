//! The neighbourhood of a test: one literal of it changed by one small step, every such step once. Hill climbing looks through it where chance would
//! have to find one step among thousands.

use super::change_data::tidy;
use crate::execution::Seen;
use crate::rng::Rng;
use crate::testcase::build::binary::{from_text, to_text};
use crate::testcase::{Data, Stmt, TestCase, Value};

/// Characters and words that are put into a text.
const MAX_TOKENS: usize = 12;
/// Longer texts are changed around some places only.
const MAX_PLACES: usize = 40;
/// Steps of numbers: powers of two up to this.
const MAX_POWER: u32 = 20;
/// Numbers that a comparison saw.
const MAX_NUMBERS: usize = 12;

/// What the test's own execution compared: the steps worth taking.
#[derive(Debug, Default)]
struct Clues {
    tokens: Vec<String>,
    pairs: Vec<(String, String)>,
    numbers: Vec<i64>,
}

impl Clues {
    /// Of `binary` data, numbers are bytes, or several of them with either end first.
    fn of(seen: &[Seen], binary: bool) -> Clues {
        let mut clues = Clues::default();
        for value in seen {
            match value {
                Seen::Int(v) => {
                    clues.numbers.push(*v);
                    let character = u32::try_from(*v).ok().filter(|c| (9..0xD800).contains(c)).and_then(char::from_u32);
                    clues.tokens.extend(if binary { encoded(*v) } else { character.map(String::from).into_iter().collect() });
                }
                Seen::Str(s) => clues.tokens.push(s.to_string()),
                Seen::Pair(a, b) => {
                    clues.tokens.extend([a.to_string(), b.to_string()]);
                    clues.pairs.extend([(a.to_string(), b.to_string()), (b.to_string(), a.to_string())]);
                }
                // there is no end of texts that fit
                Seen::Unfit { .. } => {}
            }
        }
        clues.tokens.retain(|t| !t.is_empty() && t.len() <= 12);
        clues
    }
}

/// A number as bytes, each a character.
fn encoded(v: i64) -> Vec<String> {
    let width = match v {
        -128..=255 => 1,
        -32768..=65535 => 2,
        _ => 4,
    };
    let big = &v.to_be_bytes()[8 - width..];
    let little: Vec<u8> = big.iter().rev().copied().collect();
    let mut both = vec![to_text(big), to_text(&little)];
    both.dedup();
    both
}

/// At most `room` neighbours of the test, chosen by chance if there are more.
pub fn neighbours(rng: &mut Rng, test: &TestCase, is_binary: impl Fn(usize) -> bool, seen: &[Seen], room: usize) -> Vec<TestCase> {
    let (plain, binary) = (Clues::of(seen, false), Clues::of(seen, true));
    let mut all = Vec::new();
    for (at, stmt) in test.stmts.iter().enumerate() {
        for new in steps(rng, if is_binary(at) { &binary } else { &plain }, stmt) {
            let mut changed = test.clone();
            changed.stmts[at] = new;
            all.push(changed);
        }
    }
    shuffle(rng, &mut all);
    all.truncate(room);
    all
}

fn steps(rng: &mut Rng, clues: &Clues, stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Lit(value) => values(clues, *value).into_iter().map(Stmt::Lit).collect(),
        Stmt::Str(text) => texts(rng, clues, text).into_iter().map(Stmt::Str).collect(),
        Stmt::Data(data) => inside(rng, clues, data).into_iter().map(Stmt::Data).collect(),
        _ => Vec::new(),
    }
}

fn values(clues: &Clues, value: Value) -> Vec<Value> {
    let prim = value.prim();
    match (value, value.as_i64()) {
        (Value::Bool(b), _) => vec![Value::Bool(!b)],
        (_, Some(v)) => whole(clues, v.into()).into_iter().filter_map(|n| i64::try_from(n).ok()).map(|n| Value::of_int(prim, n)).collect(),
        (_, None) => {
            real(clues, value.as_f64()).into_iter().map(|x| if matches!(value, Value::Float(_)) { Value::float(x as f32) } else { Value::double(x) }).collect()
        }
    }
}

/// Steps of all sizes at once, as the alternating variable method makes them one after the other.
fn whole(clues: &Clues, v: i128) -> Vec<i128> {
    let powers = (0..=MAX_POWER).map(|k| 1i128 << k);
    let mut out: Vec<i128> = powers.flat_map(|p| [v.saturating_add(p), v.saturating_sub(p)]).collect();
    out.extend([0, v.saturating_neg()]);
    out.extend(clues.numbers.iter().take(MAX_NUMBERS).map(|n| i128::from(*n)));
    out.retain(|n| *n != v);
    out
}

fn real(clues: &Clues, x: f64) -> Vec<f64> {
    let powers = (-8..=MAX_POWER as i32).map(|k| 2f64.powi(k));
    let mut out: Vec<f64> = powers.flat_map(|p| [x + p, x - p]).collect();
    out.extend([0.0, -x, x * 2.0, x / 2.0, x.round()]);
    out.extend(clues.numbers.iter().take(MAX_NUMBERS).map(|n| *n as f64));
    out.retain(|y| y.to_bits() != x.to_bits());
    out
}

fn texts(rng: &mut Rng, clues: &Clues, text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let edited =
        |from: usize, to: usize, with: &str| -> String { chars[..from].iter().copied().chain(with.chars()).chain(chars[to..].iter().copied()).collect() };
    let tokens = tokens(rng, clues, &chars);
    let mut out = Vec::new();
    for (have, want) in &clues.pairs {
        out.extend(text.match_indices(have.as_str()).take(4).map(|(i, _)| [&text[..i], want, &text[i + have.len()..]].concat()));
    }
    for at in places(rng, chars.len()) {
        out.extend(tokens.iter().map(|t| edited(at, at, t)));
        if at < chars.len() {
            out.extend(tokens.iter().map(|t| edited(at, at + 1, t)));
            out.extend([edited(at, at + 1, ""), edited(at, chars.len(), ""), edited(0, at + 1, ""), edited(at, at, &chars[at].to_string())]);
        }
    }
    out.extend(numbers(clues, text));
    out.retain(|t| t != text);
    out
}

/// Every place of a short text, some of a long one.
fn places(rng: &mut Rng, len: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..=len).collect();
    if all.len() > MAX_PLACES {
        shuffle(rng, &mut all);
        all.truncate(MAX_PLACES);
    }
    all
}

/// What comparisons saw, and what the text is made of.
fn tokens(rng: &mut Rng, clues: &Clues, chars: &[char]) -> Vec<String> {
    let mut all = clues.tokens.clone();
    all.extend(chars.iter().map(char::to_string));
    all.sort_unstable();
    all.dedup();
    shuffle(rng, &mut all);
    all.truncate(MAX_TOKENS);
    all
}

/// Each number within the text one more, one less, none, or one that was compared.
fn numbers(clues: &Clues, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|i| rest + i) {
        let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |i| start + i);
        let old: i64 = text[start..end].parse().unwrap_or(0);
        let seen = clues.numbers.iter().take(MAX_NUMBERS).copied();
        let new = [old.saturating_add(1), old.saturating_sub(1), 0].into_iter().chain(seen);
        out.extend(new.map(|n| format!("{}{n}{}", &text[..start], &text[end..])));
        rest = end;
    }
    out
}

/// Steps of every value inside; items of containers go or come twice.
fn inside(rng: &mut Rng, clues: &Clues, data: &Data) -> Vec<Data> {
    let mut out = Vec::new();
    for n in 0..data.size() {
        for new in data.nth(n).map(|node| leaf(rng, clues, node)).unwrap_or_default() {
            let mut changed = data.clone();
            if let Some(node) = changed.nth_mut(n) {
                *node = new;
            }
            tidy(&mut changed);
            out.push(changed);
        }
    }
    out.retain(|d| d != data);
    out
}

fn leaf(rng: &mut Rng, clues: &Clues, node: &Data) -> Vec<Data> {
    match node {
        Data::Bool(b) => vec![Data::Bool(!b)],
        Data::Int(v) => whole(clues, *v).into_iter().map(Data::Int).collect(),
        Data::Float(bits) => real(clues, f64::from_bits(*bits)).into_iter().map(Data::float).collect(),
        Data::Str(text) => texts(rng, clues, text).into_iter().map(Data::Str).collect(),
        Data::Bytes(bytes) => texts(rng, clues, &to_text(bytes)).into_iter().map(|t| Data::Bytes(from_text(&t))).collect(),
        Data::List(items) => items_steps(items).into_iter().map(Data::List).collect(),
        Data::Tuple(items) => items_steps(items).into_iter().map(Data::Tuple).collect(),
        Data::Dict(pairs) => {
            (0..pairs.len()).map(|i| Data::Dict(pairs.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, p)| p.clone()).collect())).collect()
        }
        _ => Vec::new(),
    }
}

fn items_steps(items: &[Data]) -> Vec<Vec<Data>> {
    let without = |i: usize| items.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, d)| d.clone()).collect();
    let twice = |i: usize| items[..=i].iter().chain(&items[i..]).cloned().collect();
    (0..items.len()).flat_map(|i| [without(i), twice(i)]).collect()
}

fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.below(i + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(stmt: Stmt, seen: &[Seen]) -> Vec<Stmt> {
        let test = TestCase { stmts: vec![stmt] };
        neighbours(&mut Rng::new(1), &test, |_| false, seen, usize::MAX).into_iter().map(|t| t.stmts[0].clone()).collect()
    }

    #[test]
    fn a_text_takes_every_single_step() {
        let around = all_of(Stmt::Str("a1".into()), &[Seen::Int(39), Seen::Pair("a".into(), "xyz".into())]);
        for wanted in ["a", "1", "aa1", "a11", "'a1", "a'1", "a1'", "'1", "xyz1", "a2", "a0", "a39"] {
            assert!(around.contains(&Stmt::Str(wanted.into())), "{wanted}");
        }
        assert!(!around.contains(&Stmt::Str("a1".into())), "not the text itself");
    }

    #[test]
    fn a_number_takes_steps_of_every_size_and_what_it_was_compared_with() {
        let around = all_of(Stmt::Lit(Value::Int(5)), &[Seen::Int(4711)]);
        for wanted in [4, 6, 1029, -1019, 0, -5, 4711] {
            assert!(around.contains(&Stmt::Lit(Value::Int(wanted))), "{wanted}");
        }
        assert_eq!(all_of(Stmt::Lit(Value::Bool(true)), &[]), [Stmt::Lit(Value::Bool(false))]);
    }

    #[test]
    fn values_inside_others_take_steps_too() {
        let around = all_of(Stmt::Data(Data::List(vec![Data::Int(1), Data::text("k")])), &[]);
        for wanted in
            [vec![Data::Int(2), Data::text("k")], vec![Data::Int(1)], vec![Data::Int(1), Data::Int(1), Data::text("k")], vec![Data::Int(1), Data::text("kk")]]
        {
            assert!(around.contains(&Stmt::Data(Data::List(wanted.clone()))), "{wanted:?}");
        }
    }

    #[test]
    fn numbers_enter_binary_data_as_bytes() {
        assert_eq!(encoded(0x42), ["B"]);
        assert_eq!(encoded(-1), ["\u{ff}"]);
        assert_eq!(encoded(0x424d), ["BM", "MB"]);
        assert_eq!(encoded(0x0403_4b50), ["\u{4}\u{3}KP", "PK\u{3}\u{4}"]);
    }

    #[test]
    fn there_are_no_more_than_asked_for() {
        let test = TestCase { stmts: vec![Stmt::Str("a long text with many places ".repeat(20))] };
        assert_eq!(neighbours(&mut Rng::new(1), &test, |_| false, &[], 30).len(), 30);
    }
}
