//! Literals: from the program's own constants, from values that comparisons saw, else from a generator (§3.3).

use super::{Palette, Policy, Taker, notations, own, pattern, told};
use crate::program::{Literal, Prim, Program, TypeId};
use crate::rng::Rng;
use crate::search::facts::Facts;
use crate::search::grt::impurity;
use crate::testcase::Value;

#[derive(Clone, Debug, Default)]
struct Near {
    ints: Vec<i64>,
    strings: Vec<String>,
    /// Parts of the trace's names.
    words: Vec<String>,
}

/// Sizes of buffers that a text may overrun: smaller ones need no help, larger ones take too long.
const OVERRUN: std::ops::RangeInclusive<usize> = 16..=20_000;

/// Constants worth trying: those of the trace's methods first, then of its classes, then of the exception's message.
#[derive(Clone, Debug, Default)]
pub struct LiteralPool {
    ints: Vec<i64>,
    floats: Vec<f64>,
    strings: Vec<String>,
    /// Words and single marks inside the strings: what sentences are made of.
    tokens: Vec<String>,
    /// Those of the strings that are regular expressions.
    patterns: Vec<String>,
    /// Those of the strings and tokens that look like names: keys, options, attributes.
    words: Vec<String>,
    /// Those that the methods of the trace themselves mention, and the message.
    near: Near,
    /// Kinds of text that the names on the trace speak of.
    notations: Vec<&'static notations::Notation>,
    /// The crash is a recursion: texts may be as deep as that needs.
    deep: bool,
    /// How much some buffer of the program holds, as an index beyond its end tells.
    overrun: Vec<usize>,
    /// Sums of weights by place, for ints, floats and strings; empty: all weigh the same.
    sums: [Vec<f64>; 3],
    /// How many of the ints, floats, strings and tokens are the trace's own: those behind them come from code that lies only near it.
    own: Option<[usize; 4]>,
}

impl LiteralPool {
    pub fn add(&mut self, literal: &Literal) {
        match literal {
            Literal::Int(v) => self.add_int(i64::from(*v)),
            Literal::Long(v) => self.add_int(*v),
            Literal::Float(v) => self.add_float(f64::from(*v)),
            Literal::Double(v) => self.add_float(*v),
            Literal::Str(s) => self.add_string(s),
        }
    }
    /// Adds a constant that stands on the way to the crash: it is tried more often than others.
    pub fn prefer(&mut self, literal: &Literal) {
        match literal {
            Literal::Int(v) if !self.near.ints.contains(&i64::from(*v)) => self.near.ints.push(i64::from(*v)),
            Literal::Long(v) if !self.near.ints.contains(v) => self.near.ints.push(*v),
            Literal::Str(s) if s.len() <= 60 && !self.near.strings.contains(s) => self.near.strings.push(s.clone()),
            _ => {}
        }
        self.add(literal);
    }
    pub fn add_int(&mut self, v: i64) {
        if !self.ints.contains(&v) {
            self.ints.push(v);
        }
    }
    pub fn add_float(&mut self, v: f64) {
        if !self.floats.contains(&v) {
            self.floats.push(v);
        }
    }
    pub fn add_string(&mut self, s: &str) {
        if s.len() <= MAX_PATTERN && pattern::looks_like_pattern(s) && !self.patterns.iter().any(|t| t == s) {
            self.patterns.push(s.to_string());
        }
        if s.len() <= 200 && !self.strings.iter().any(|t| t == s) {
            self.strings.push(s.to_string());
            tokens(s).for_each(|t| self.add_token(t));
            // as the tables of generated parsers name their tokens
            if let Some(token) = unquoted(s) {
                self.add_string(token);
                self.add_token(token);
            }
        }
    }
    fn add_token(&mut self, token: &str) {
        if self.tokens.len() >= MAX_TOKENS || self.tokens.iter().any(|t| t == token) {
            return;
        }
        self.tokens.push(token.to_string());
        if token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            self.words.push(token.to_string());
        }
    }
    /// The constants in the bodies and constant fields of a type.
    pub fn add_type(&mut self, program: &Program, ty: TypeId) {
        for f in program.fields_of(ty) {
            if let Some(c) = &program.field(f).constant {
                self.add(c);
            }
        }
        for m in program.methods_of(ty) {
            if let Some(body) = program.body(m) {
                body.literals().iter().for_each(|l| self.add(l));
            }
        }
    }
    /// Numbers and quoted words of an exception's message.
    pub fn add_message(&mut self, message: &str) {
        for word in message.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.')) {
            if let Ok(v) = word.trim_matches('.').parse::<i64>() {
                self.add_int(v);
            }
            if let Some(v) = word.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok()) {
                self.add_int(v);
                self.add_string(&v.to_string());
            }
        }
        for quote in ['"', '\'', '`'] {
            for inner in message.split(quote).skip(1).step_by(2) {
                self.add_string(&unescaped(inner));
                self.add_string(inner);
            }
        }
        if let Some((_, rest)) = message.rsplit_once(": ") {
            self.add_string(rest);
        }
    }
    /// What the names on a trace speak of is what its texts may be.
    pub fn read_names<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        self.notations = notations::spoken_of(names);
    }
    /// From now on texts may be deeply nested.
    pub fn deepen(&mut self) {
        self.deep = true;
    }
    /// From now on texts may be longer than the numbers in the message of an index that was out of bounds.
    pub fn overrun(&mut self, message: &str) {
        let numbers = message.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        self.overrun.extend(numbers.filter(|n| OVERRUN.contains(n)));
    }
    /// See [`LiteralPool::overrun`].
    pub fn overruns(&self) -> &[usize] {
        &self.overrun
    }
    /// A name that the program may look up, as a whole.
    pub fn add_name(&mut self, name: &str) {
        if !self.strings.iter().any(|t| t == name) {
            self.strings.push(name.to_string());
        }
    }
    /// The words that a name on the trace is put together from, in small letters.
    pub fn prefer_words_of(&mut self, name: &str) {
        let last = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
        let mut word = String::new();
        for c in last.chars().chain(['_']) {
            if !c.is_alphanumeric() || c.is_uppercase() {
                if word.len() > 1 {
                    self.add_token(&word);
                    if !self.near.words.contains(&word) {
                        self.near.words.push(word.clone());
                    }
                }
                word.clear();
            }
            word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        }
    }
    /// Whether the methods of the trace themselves mention the text.
    pub fn is_on_trace(&self, text: &str) -> bool {
        self.near.strings.iter().any(|s| s == text)
    }
    /// From now on constants are drawn by weight.
    pub fn weigh(&mut self, weight: impl Fn(&Literal) -> f64) {
        fn sums(weights: impl Iterator<Item = f64>) -> Vec<f64> {
            let mut sum = 0.0;
            weights
                .map(|w| {
                    sum += w;
                    sum
                })
                .collect()
        }
        self.sums = [
            sums(self.ints.iter().map(|v| weight(&Literal::Long(*v)))),
            sums(self.floats.iter().map(|v| weight(&Literal::Double(*v)))),
            sums(self.strings.iter().map(|s| weight(&Literal::Str(s.clone())))),
        ];
    }
    /// What is added from now on lies only near the trace: however much it is, it is not drawn more often than what is there.
    pub fn only_near_from_here(&mut self) {
        self.own = Some([self.ints.len(), self.floats.len(), self.strings.len(), self.tokens.len()]);
    }
    fn own_of<'t, T>(&self, items: &'t [T], kind: usize, rng: &mut Rng) -> &'t [T] {
        match self.own {
            Some(own) if own[kind] > 0 && rng.chance(OWN) => &items[..own[kind]],
            _ => items,
        }
    }
    fn pick_int(&self, rng: &mut Rng) -> Option<&i64> {
        drawn(self.own_of(&self.ints, 0, rng), &self.sums[0], rng)
    }
    fn pick_float(&self, rng: &mut Rng) -> Option<&f64> {
        drawn(self.own_of(&self.floats, 1, rng), &self.sums[1], rng)
    }
    fn pick_string(&self, rng: &mut Rng) -> Option<&String> {
        drawn(self.own_of(&self.strings, 2, rng), &self.sums[2], rng)
    }
    fn pick_token(&self, rng: &mut Rng) -> Option<&String> {
        let tokens = self.own_of(&self.tokens, 3, rng);
        rng.pick(tokens)
    }
    pub fn ints(&self) -> &[i64] {
        &self.ints
    }
    pub fn strings(&self) -> &[String] {
        &self.strings
    }
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// By weight if there are weights, which are as many as the items.
fn drawn<'t, T>(items: &'t [T], sums: &[f64], rng: &mut Rng) -> Option<&'t T> {
    match sums.last() {
        Some(total) if sums.len() == items.len() => {
            let at = rng.unit() * total;
            items.get(sums.partition_point(|s| *s <= at).min(items.len() - 1))
        }
        _ => rng.pick(items),
    }
}

/// Tokens kept; a program with more is known well enough by these.
const MAX_TOKENS: usize = 1500;
const MAX_WORD: usize = 20;
const MAX_PATTERN: usize = 1000;

/// Runs of letters and digits, and each other character by itself.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let whole = (text.len() <= 6 && !text.is_empty()).then_some(text);
    let parts = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').flat_map(|part| {
        let mark = part.char_indices().next_back().filter(|(_, c)| !c.is_alphanumeric() && *c != '_').map_or(part.len(), |(i, _)| i);
        [&part[..mark], &part[mark..]]
    });
    whole.into_iter().chain(parts).filter(|t| !t.is_empty() && t.len() <= MAX_WORD)
}

/// What stands between two quotation marks, if that is all there is.
fn unquoted(text: &str) -> Option<&str> {
    let inside = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q))?;
    (!inside.is_empty() && !inside.contains(['"', '\''])).then_some(inside)
}

/// Messages often quote a value as source would write it: `'a\\nb'`.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(e @ ('n' | 't' | 'r' | '\\' | '\'' | '"'))) => {
                out.push(match e {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// From here on an integer is taken from a pool only with [`LARGE_CHANCE`] where it may become a size.
const LARGE: u64 = 100_000;
const LARGE_CHANCE: f64 = 0.15;

/// A value of a primitive type, for `taker` if that is known.
pub fn value(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng, prim: Prim, taker: Option<Taker>) -> Value {
    if !matches!(prim, Prim::Bool | Prim::Float | Prim::Double)
        && let Some(v) = own::int(palette, policy, rng, taker).filter(|v| v.unsigned_abs() < LARGE)
    {
        return Value::of_int(prim, v);
    }
    match prim {
        Prim::Bool => Value::Bool(rng.chance(0.5)),
        Prim::Float => Value::float(float(palette, facts, policy, rng) as f32),
        Prim::Double => Value::double(float(palette, facts, policy, rng)),
        Prim::Char => Value::Char(character(palette, facts, policy, rng)),
        Prim::Long => Value::Long(int(palette, facts, policy, rng, 1.0)),
        _ => Value::of_int(prim, int(palette, facts, policy, rng, LARGE_CHANCE)),
    }
}

/// How often a number or a text is one that met the goal further in.
const MET: f64 = 0.1;

/// `large` is the chance that a large number of a pool is taken.
pub fn int(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng, large: f64) -> i64 {
    if let Some(v) = told::int(palette, rng) {
        return v;
    }
    if policy.follows
        && !facts.met().is_empty()
        && rng.chance(MET)
        && let Some(v) = rng.pick(facts.met()).and_then(|v| i64::try_from(*v).ok())
    {
        return v;
    }
    let near = &palette.literals.near.ints;
    if policy.constants && !near.is_empty() && rng.chance(NEAR) {
        let v = near[rng.below(near.len())];
        if v.unsigned_abs() < LARGE {
            return v;
        }
    }
    if policy.constants && rng.chance(policy.pool) {
        let dynamic = facts.ints();
        let from = if rng.chance(0.5) && !dynamic.is_empty() { rng.pick(dynamic) } else { palette.literals.pick_int(rng) };
        // a large number mostly becomes a size, and is then seen again and larger
        if let Some(v) = from.filter(|v| v.unsigned_abs() < LARGE || rng.chance(large)) {
            if policy.fuzz > 0.0 && rng.chance(policy.fuzz) {
                return impurity::fuzz_int(rng, *v);
            }
            return v.wrapping_add(if rng.chance(0.2) { rng.between(-1, 1) } else { 0 });
        }
    }
    match rng.below(40) {
        0..=24 => rng.between(-2, 10),
        25..=38 => (rng.gauss() * 300.0) as i64,
        _ => *rng.pick(&[i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN, 1 << 16, -(1 << 16)]).expect("not empty"),
    }
}

pub fn float(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng) -> f64 {
    if policy.constants
        && rng.chance(policy.pool / 2.0)
        && let Some(v) = palette.literals.pick_float(rng)
    {
        return if policy.fuzz > 0.0 && rng.chance(policy.fuzz) { impurity::fuzz_float(rng, *v) } else { *v };
    }
    match rng.below(12) {
        0 => *rng.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, -0.0]).expect("not empty"),
        1..=4 => rng.gauss() * 100.0,
        _ => int(palette, facts, policy, rng, 1.0) as f64,
    }
}

fn character(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng) -> u16 {
    if rng.chance(0.5) {
        let v = int(palette, facts, policy, rng, LARGE_CHANCE);
        if (1..0xD800).contains(&v) {
            return v as u16;
        }
    }
    if policy.constants
        && rng.chance(0.3)
        && let Some(c) = rng.pick(palette.literals.strings()).and_then(|s| s.chars().next())
    {
        return u16::try_from(u32::from(c)).unwrap_or(b'?'.into());
    }
    rng.between(32, 126) as u16
}

/// A string: a constant, one that a comparison saw, what a pattern of the program accepts, a number, two constants in a row, a sentence of tokens, or
/// noise.
pub fn text(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng, taker: Option<Taker>) -> String {
    if let Some(text) = told::text(palette, rng).or_else(|| own::text(palette, policy, rng, taker)) {
        return text;
    }
    if policy.follows
        && !facts.met_texts().is_empty()
        && rng.chance(MET)
        && let Some(text) = rng.pick(facts.met_texts())
    {
        return text.to_string();
    }
    if !policy.constants {
        return if rng.chance(0.3) { int(palette, facts, policy, rng, 1.0).to_string() } else { noise(rng, 8) };
    }
    let near = &palette.literals.near.strings;
    if !near.is_empty() && rng.chance(NEAR) {
        return near[rng.below(near.len())].clone();
    }
    if rng.chance(PATTERN)
        && let Some(p) = rng.pick(&palette.literals.patterns)
    {
        return pattern::sample(p, rng);
    }
    if policy.follows
        && rng.chance(LOOKED_FOR)
        && let Some(p) = rng.pick(facts.patterns())
    {
        return pattern::sample(p, rng);
    }
    if rng.chance(TOLD)
        && let Some(word) = rng.pick(facts.told())
    {
        return word.to_string();
    }
    if palette.literals.deep && rng.chance(DEEP) {
        return repeated(palette, rng);
    }
    if policy.notations && rng.chance(if palette.literals.notations.is_empty() { NOTATION_UNKNOWN } else { NOTATION_KNOWN }) {
        return notation(palette, facts, rng);
    }
    if rng.chance(policy.pool) {
        let dynamic = facts.strings();
        if rng.chance(0.5)
            && let Some(s) = rng.pick(dynamic)
        {
            return if policy.fuzz > 0.0 && rng.chance(policy.fuzz) { impurity::fuzz_text(rng, s) } else { s.to_string() };
        }
        if let Some(s) = palette.literals.pick_string(rng) {
            if policy.fuzz > 0.0 && rng.chance(policy.fuzz) {
                return impurity::fuzz_text(rng, s);
            }
            let second = rng.chance(0.15).then(|| palette.literals.pick_string(rng).cloned()).flatten().unwrap_or_default();
            return format!("{s}{second}");
        }
    }
    match rng.below(8) {
        0 => String::new(),
        1 => int(palette, facts, policy, rng, 1.0).to_string(),
        2..=4 => sentence(palette, rng),
        _ => noise(rng, 8),
    }
}

/// One or two tokens again and again: what nests for as long as there is text.
fn repeated(palette: &Palette<'_>, rng: &mut Rng) -> String {
    const LONGEST: usize = 20_000;
    let known = &palette.literals.notations;
    let whole = if rng.chance(0.4) { notations::sample(known, rng).to_string() } else { token(palette, rng) };
    let cut = 1 + rng.below(whole.chars().count().max(1));
    let unit: String = whole.chars().take(if rng.chance(0.7) { cut } else { usize::MAX }).collect();
    let length = LONGEST >> rng.below(4);
    unit.repeat(length / unit.len().max(1))
}

/// A sample of a notation, often with a word of the program in it, now and then with another behind it.
fn notation(palette: &Palette<'_>, facts: &Facts, rng: &mut Rng) -> String {
    let known = &palette.literals.notations;
    let mut out = notations::sample(known, rng).to_string();
    while rng.chance(0.25) {
        out.push_str(rng.pick(&["\n", " ", "", "\n\n", ","]).expect("not empty"));
        out.push_str(notations::sample(known, rng));
    }
    while rng.chance(0.35) {
        let near = rng.pick(&palette.literals.near.strings).filter(|s| s.len() <= MAX_WORD).cloned();
        let word = match (near, rng.pick(facts.told())) {
            (Some(word), _) if rng.chance(0.4) => word,
            (_, Some(word)) if rng.chance(0.2) => word.to_string(),
            _ => token(palette, rng),
        };
        out = notations::reworded(&out, &word, rng);
    }
    out
}

/// How often a token is a part of a name on the trace: handlers are often called by what a text says.
const NAMED: f64 = 0.06;

/// Tokens of the program's own constants in a row: what a parser is likely to know, without knowing its grammar.
pub fn sentence(palette: &Palette<'_>, rng: &mut Rng) -> String {
    let gap = *rng.pick(&["", "", " ", " ", "\n"]).expect("not empty");
    let mut out = String::new();
    loop {
        out.push_str(&token(palette, rng));
        if rng.chance(0.3) {
            return out;
        }
        out.push_str(if rng.chance(0.8) { gap } else { "" });
    }
}

/// How often a constant is one of the trace's own classes, where there are others.
const OWN: f64 = 0.5;
/// How often a constant of the trace's own methods is taken.
const NEAR: f64 = 0.15;
/// How often a text is what an exception quoted.
const TOLD: f64 = 0.05;
/// How often a text nests deeply, where the crash is a recursion.
const DEEP: f64 = 0.1;
/// How often a text is a sample of a notation that the trace speaks of; of any, where it speaks of none.
const NOTATION_KNOWN: f64 = 0.22;
const NOTATION_UNKNOWN: f64 = 0.08;
/// How often a text comes from a pattern, where the program has some.
const PATTERN: f64 = 0.2;
/// How often it comes from one that was not found in a text.
const LOOKED_FOR: f64 = 0.12;

/// One token: of the program's constants, a small number, or a word.
pub fn token(palette: &Palette<'_>, rng: &mut Rng) -> String {
    if rng.chance(PATTERN / 2.0)
        && let Some(p) = rng.pick(&palette.literals.patterns)
    {
        return pattern::sample(p, rng);
    }
    if rng.chance(NAMED)
        && let Some(word) = rng.pick(&palette.literals.near.words)
    {
        return word.clone();
    }
    match palette.literals.pick_token(rng) {
        Some(token) if rng.chance(0.65) => token.clone(),
        _ if rng.chance(0.6) => rng.between(0, 12).to_string(),
        _ if rng.chance(0.5) => char_noise(rng).to_string(),
        _ => noise(rng, 3),
    }
}

/// Printable ASCII of at most `max` characters, letters and digits more often.
pub fn noise(rng: &mut Rng, max: usize) -> String {
    let len = rng.below(max + 1);
    (0..len).map(|_| char_noise(rng)).collect()
}

/// One printable character.
pub fn char_noise(rng: &mut Rng) -> char {
    let low_high = if rng.chance(0.6) { (b'a', b'z') } else { (b' ', b'~') };
    char::from(rng.between(low_high.0.into(), low_high.1.into()) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_trace_are_taken_apart() {
        let mut pool = LiteralPool::default();
        ["_func_avg", "org.example.ForeachDirective", "<init>"].iter().for_each(|name| pool.prefer_words_of(name));
        assert_eq!(pool.near.words, ["func", "avg", "foreach", "directive", "init"]);
    }

    #[test]
    fn constants_fall_into_words_and_marks() {
        let all: Vec<&str> = tokens("--max-len=%d (see x_1)").collect();
        assert_eq!(all, ["-", "-", "max", "-", "len", "=", "%", "d", " ", "(", "see", " ", "x_1", ")"]);
        assert_eq!(tokens("P1W").collect::<Vec<_>>(), ["P1W", "P1W"]);
    }

    #[test]
    fn a_table_of_tokens_gives_the_tokens() {
        let mut pool = LiteralPool::default();
        ["\"${\"", "'while'", "\"", "\"\"", "\"a\" or \"b\"", "<EOF>"].iter().for_each(|s| pool.add_string(s));
        assert!(["${", "while"].iter().all(|t| pool.tokens.iter().any(|known| known == t)), "{:?}", pool.tokens);
        assert_eq!(pool.strings().len(), 8, "{:?}", pool.strings());
    }

    #[test]
    fn what_a_message_quotes_is_known_as_value_and_as_written() {
        let mut pool = LiteralPool::default();
        pool.add_message("expected name token at '<![\\n'");
        assert!(pool.strings().contains(&"<![\n".to_string()), "{:?}", pool.strings());
        assert!(pool.strings().contains(&"<![\\n".to_string()), "{:?}", pool.strings());
    }

    #[test]
    fn an_index_out_of_bounds_tells_how_much_a_buffer_holds() {
        let mut pool = LiteralPool::default();
        pool.overrun("Index 200 out of bounds for length 200");
        pool.overrun("String index out of range: -1");
        assert_eq!(pool.overruns(), [200, 200]);
    }
}
