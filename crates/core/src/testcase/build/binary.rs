//! Bytes: what formats begin with, filled up to sizes that programs ask for. Texts stand for bytes one character for each, as far as that goes: so constants,
//! compared values and edits of texts serve for bytes as well.

use super::{Palette, Policy, literals};
use crate::rng::Rng;
use crate::search::facts::Facts;

/// Sizes of headers and blocks; beside them, numbers that comparisons saw.
const SIZES: [usize; 8] = [4, 8, 12, 16, 32, 64, 128, 512];
const LARGEST: i64 = 4096;

/// One byte for each character; in UTF-8 if some have none.
pub fn from_text(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).ok()).collect::<Option<Vec<u8>>>().unwrap_or_else(|| text.as_bytes().to_vec())
}

/// The other way round.
pub fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// Something to begin with, and mostly something behind it.
pub fn bytes(palette: &Palette<'_>, facts: &Facts, policy: &Policy, rng: &mut Rng) -> Vec<u8> {
    let mut out = from_text(&literals::text(palette, facts, policy, rng, None));
    if rng.chance(0.5) {
        fill(facts, rng, &mut out);
    }
    out
}

/// Up to a size: with zeros, or with anything.
pub fn fill(facts: &Facts, rng: &mut Rng, bytes: &mut Vec<u8>) {
    let seen = rng.pick(facts.ints()).copied().filter(|n| (1..=LARGEST).contains(n));
    let size = match seen {
        Some(n) if rng.chance(0.5) => n as usize,
        _ => SIZES[rng.below(SIZES.len())],
    };
    let zeros = rng.chance(0.4);
    while bytes.len() < size {
        bytes.push(if zeros { 0 } else { rng.below(256) as u8 });
    }
}

/// Writes a number of two, four or eight bytes over what is there, either end first.
pub fn write_number(facts: &Facts, rng: &mut Rng, bytes: &mut [u8]) {
    let width = [2, 4, 8][rng.below(3)].min(bytes.len());
    let at = rng.below(bytes.len() - width + 1);
    let value = match (rng.below(4), rng.pick(facts.ints())) {
        (0, Some(seen)) => *seen as u64,
        (1, _) => rng.below(300) as u64,
        (2, _) => 1u64 << rng.below(64),
        _ => (1u64 << rng.below(64)).wrapping_sub(1),
    };
    let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
    bytes[at..at + width].copy_from_slice(if rng.chance(0.5) { &little[..width] } else { &big[8 - width..] });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_bytes_stand_for_each_other() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_text(&to_text(&all)), all);
        assert_eq!(from_text("\u{1F600}"), "\u{1F600}".as_bytes());
    }

    #[test]
    fn numbers_are_written_within_what_is_there() {
        let mut rng = Rng::new(1);
        for size in 1..20 {
            let mut bytes = vec![7; size];
            (0..50).for_each(|_| write_number(&Facts::default(), &mut rng, &mut bytes));
            assert_eq!(bytes.len(), size);
            assert!(bytes.iter().any(|b| *b != 7));
        }
    }

    #[test]
    fn what_is_there_stays_and_is_filled_up() {
        let mut rng = Rng::new(1);
        for _ in 0..50 {
            let mut bytes = b"RIFF".to_vec();
            fill(&Facts::default(), &mut rng, &mut bytes);
            assert!(bytes.starts_with(b"RIFF") && SIZES.contains(&bytes.len()), "{}", bytes.len());
        }
    }
}
