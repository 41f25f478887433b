//! Texts that a regular expression accepts: programs say in their patterns what their input looks like.
//!
//! Reads the common core of regular expressions (alternatives, groups, classes, counts, escapes); anchors, looking around and back references are
//! passed over, so a sample may now and then not match. Total: any text may be asked for, nesting and repetition are bounded.

use crate::rng::Rng;

const MAX_DEPTH: u32 = 12;
const MAX_SAMPLE: usize = 200;
/// Repetitions without an upper bound end here.
const MAX_REPEAT: usize = 3;
/// What a dot or a negated class may stand for.
const ANY: &[u8] = b"aAzZ019 _-.,:;/";

/// Whether a constant is more likely a pattern than a plain text.
pub fn looks_like_pattern(text: &str) -> bool {
    let marks = [r"\d", r"\s", r"\w", r"\S", r"\.", r"\b", "(?", "[a-z", "[A-Z", "[0-9", "[^", ".*", ".+", ")?", ")*", ")+", "]+", "]*", "]?"];
    // classes in a row, as in `[Uu][Ss][Aa]`
    if text.matches("][").count() >= 2 {
        return true;
    }
    text.len() >= 3 && marks.iter().filter(|m| text.contains(**m)).count() >= if text.len() < 8 { 1 } else { 2 }
}

/// A text that the pattern accepts, as far as it was understood.
pub fn sample(pattern: &str, rng: &mut Rng) -> String {
    let verbose = pattern.contains('\n') && pattern.lines().count() > 1;
    let mut reader = Reader { chars: pattern.chars().collect(), at: 0, verbose, rng };
    let mut out = String::new();
    while reader.at < reader.chars.len() && out.len() < MAX_SAMPLE {
        let part = reader.alternatives(0);
        out.push_str(&part);
        // a bracket that closes nothing
        reader.at += usize::from(reader.peek() == Some(')'));
    }
    out.chars().take(MAX_SAMPLE).collect()
}

struct Reader<'r> {
    chars: Vec<char>,
    at: usize,
    /// Blanks and comments in the pattern mean nothing.
    verbose: bool,
    rng: &'r mut Rng,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn eat(&mut self, wanted: char) -> bool {
        let yes = self.peek() == Some(wanted);
        self.at += usize::from(yes);
        yes
    }

    /// One of the alternatives, chosen while reading: each replaces the one before with a chance that makes all equally likely.
    fn alternatives(&mut self, depth: u32) -> String {
        let mut chosen = self.sequence(depth);
        let mut count = 1;
        while self.eat('|') {
            let other = self.sequence(depth);
            count += 1;
            if self.rng.below(count) == 0 {
                chosen = other;
            }
        }
        chosen
    }

    fn sequence(&mut self, depth: u32) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let start = self.at;
            let first = self.atom(depth);
            let end = self.at;
            let times = self.count();
            let after = self.at;
            for n in 0..times {
                if out.len() > MAX_SAMPLE {
                    break;
                }
                // read again for each repetition, so that each may differ
                if n == 0 {
                    out.push_str(&first);
                } else {
                    self.at = start;
                    let again = self.atom(depth);
                    out.push_str(&again);
                    debug_assert_eq!(self.at, end, "the same text is read the same way");
                }
            }
            self.at = after;
        }
        out
    }

    fn atom(&mut self, depth: u32) -> String {
        match self.next() {
            None => String::new(),
            Some('(') if depth < MAX_DEPTH => self.group(depth),
            Some('[') => self.class(),
            Some('\\') => self.escape().map(String::from).unwrap_or_default(),
            Some('.') => self.any().to_string(),
            Some('^' | '$') => String::new(),
            Some('#') if self.verbose => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                String::new()
            }
            Some(c) if self.verbose && c.is_whitespace() => String::new(),
            Some(c) => c.to_string(),
        }
    }

    fn group(&mut self, depth: u32) -> String {
        let mut silent = false;
        if self.eat('?') {
            match self.next() {
                Some(':' | '>') => {}
                Some('P') | Some('<') => {
                    silent = matches!(self.peek(), Some('=' | '!'));
                    while self.next().is_some_and(|c| c != '>' && !silent) {}
                }
                Some('=' | '!') => silent = true,
                Some(_) => {
                    // flags, for the rest or for a group
                    while self.peek().is_some_and(|c| c != ':' && c != ')') {
                        self.at += 1;
                    }
                    self.eat(':');
                }
                None => {}
            }
        }
        let inside = self.alternatives(depth + 1);
        self.eat(')');
        if silent { String::new() } else { inside }
    }

    /// How often the atom before is repeated.
    fn count(&mut self) -> usize {
        let (least, most) = match self.peek() {
            Some('*') => (0, MAX_REPEAT),
            Some('+') => (1, MAX_REPEAT),
            Some('?') => (0, 1),
            Some('{') => match self.bounds() {
                Some(bounds) => bounds,
                None => return 1,
            },
            _ => return 1,
        };
        if self.peek().is_some_and(|c| "*+?".contains(c)) {
            self.at += 1;
        }
        // greedy or possessive
        if self.peek().is_some_and(|c| "+?".contains(c)) {
            self.at += 1;
        }
        least + self.rng.below(most.saturating_sub(least) + 1)
    }

    /// `{3}`, `{1,4}`, `{2,}`; anything else in braces is plain text.
    fn bounds(&mut self) -> Option<(usize, usize)> {
        let close = self.chars[self.at..].iter().take(12).position(|c| *c == '}')? + self.at;
        let inside: String = self.chars[self.at + 1..close].iter().collect();
        let (low, high) = inside.split_once(',').unwrap_or((&inside, &inside));
        let least: usize = if low.is_empty() { 0 } else { low.trim().parse().ok()? };
        let most: usize = if high.trim().is_empty() { least + MAX_REPEAT } else { high.trim().parse().ok()? };
        self.at = close + 1;
        let least = least.min(MAX_SAMPLE);
        Some((least, most.clamp(least, least + 2 * MAX_REPEAT)))
    }

    fn any(&mut self) -> char {
        char::from(ANY[self.rng.below(ANY.len())])
    }

    fn digit(&mut self) -> char {
        // zeros, ones and nines are where numbers go wrong
        let likely = b"0019";
        if self.rng.chance(0.5) { char::from(likely[self.rng.below(likely.len())]) } else { char::from(b'0' + self.rng.below(10) as u8) }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'd' => self.digit(),
            'w' => char::from(b"abz_09"[self.rng.below(6)]),
            's' | 'h' => ' ',
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'D' | 'W' | 'S' => self.any(),
            'b' | 'B' | 'A' | 'Z' | 'z' | 'G' | 'Q' | 'E' => return None,
            c if c.is_ascii_digit() => return None,
            c => c,
        })
    }

    fn class(&mut self) -> String {
        let negated = self.eat('^');
        let mut members: Vec<(char, char)> = Vec::new();
        let mut first = true;
        while let Some(c) = self.next() {
            if c == ']' && !first {
                break;
            }
            first = false;
            let low = if c == '\\' { self.escape().unwrap_or('a') } else { c };
            let range = self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
            let high = if range {
                self.at += 1;
                self.next().unwrap_or(low)
            } else {
                low
            };
            members.push((low, high.max(low)));
        }
        if negated {
            return self.outside(&members).to_string();
        }
        if members == [('0', '9')] {
            return self.digit().to_string();
        }
        let Some((low, high)) = self.rng.pick(&members).copied() else { return String::new() };
        let offset = self.rng.below((u32::from(high) - u32::from(low)) as usize + 1) as u32;
        char::from_u32(u32::from(low) + offset).unwrap_or(low).to_string()
    }

    fn outside(&mut self, members: &[(char, char)]) -> char {
        let allowed = |c: &char| members.iter().all(|(low, high)| c < low || c > high);
        (0..8).map(|_| self.any()).find(allowed).unwrap_or('x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(pattern: &str) -> Vec<String> {
        let mut rng = Rng::new(5);
        (0..200).map(|_| sample(pattern, &mut rng)).collect()
    }

    #[test]
    fn samples_have_the_form_of_the_pattern() {
        let date = samples(r"^(?P<year>\d{4})-(?:[0-9]{1,2})(T|\s+)?$");
        let fits = |s: &String| {
            let (year, rest) = s.split_once('-').unwrap();
            let month: String = rest.chars().take_while(char::is_ascii_digit).collect();
            year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) && (1..=2).contains(&month.len()) && ["", "T"].contains(&rest[month.len()..].trim())
        };
        assert!(date.iter().all(fits), "{date:?}");
        assert!(date.iter().any(|s| s.starts_with("0000")), "a year of zeros comes up");
        assert!(samples("a|bc|[x-z]+").iter().all(|s| s == "a" || s == "bc" || s.chars().all(|c| ('x'..='z').contains(&c))));
        assert!(samples("[^a-z]").iter().all(|s| s.chars().all(|c| !c.is_ascii_lowercase())));
        assert!(samples("x{2,3}").iter().all(|s| s == "xx" || s == "xxx"));
    }

    #[test]
    fn blanks_and_comments_of_a_verbose_pattern_are_left_out() {
        let all = samples("^ [0-9]  # a digit\n  (?: k | m )\n $");
        assert!(all.iter().all(|s| s.len() == 2 && s.ends_with(['k', 'm'])), "{all:?}");
    }

    #[test]
    fn any_text_may_be_asked_for() {
        let mut rng = Rng::new(2);
        for odd in [
            "",
            "(",
            ")",
            "[",
            "[]",
            "[^",
            "\\",
            "(?",
            "(?P<",
            "(?P<n",
            "(?<=a)b",
            "a{",
            "a{1",
            "a{99999999999999999999}",
            "**",
            "(((((((((((((((a",
            "x{500}{500}{500}",
            "[z-a]",
        ] {
            let made = sample(odd, &mut rng);
            assert!(made.chars().count() <= MAX_SAMPLE, "{odd}: {}", made.len());
        }
        let deep = "(a*)*".repeat(50);
        assert!(sample(&deep, &mut rng).chars().count() <= MAX_SAMPLE);
    }

    #[test]
    fn patterns_are_told_from_plain_texts() {
        for pattern in [r"\d+", r"(\w+)\s*=", "[0-9]+-[a-z]*", r"^P(?:(\d+)Y)?"] {
            assert!(looks_like_pattern(pattern), "{pattern}");
        }
        for plain in ["hello", "a.b", "%s: %d", "Value (see below)", "x*y"] {
            assert!(!looks_like_pattern(plain), "{plain}");
        }
    }
}
