//! Impurity: values near known constants (GRT-5, GRT-6). Objects are changed by impure methods where they are drawn (GRT-8, `build::drawn`), and which
//! methods are impure is `program::purity`'s answer.

use crate::rng::Rng;
use crate::testcase::build::literals;

/// Standard deviation around a constant.
const SIGMA: f64 = 30.0;

/// N(µ = v, σ = 30), rounded.
pub fn fuzz_int(rng: &mut Rng, v: i64) -> i64 {
    v.wrapping_add((rng.gauss() * SIGMA).round() as i64)
}

/// N(µ = v, σ = 30).
pub fn fuzz_float(rng: &mut Rng, v: f64) -> f64 {
    v + rng.gauss() * SIGMA
}

/// One of the four: a character inserted, removed, replaced, or a substring taken.
pub fn fuzz_text(rng: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = rng.below(chars.len() + 1);
    match rng.below(4) {
        0 => chars.insert(at, literals::char_noise(rng)),
        1 if at < chars.len() => drop(chars.remove(at)),
        2 if at < chars.len() => chars[at] = literals::char_noise(rng),
        3 => {
            let end = at + rng.below(chars.len() - at + 1);
            chars = chars[at..end].to_vec();
        }
        _ => {}
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grt_5_numbers_scatter_around_the_constant() {
        let mut rng = Rng::new(1);
        let all: Vec<i64> = (0..4000).map(|_| fuzz_int(&mut rng, 1000)).collect();
        let mean = all.iter().sum::<i64>() as f64 / all.len() as f64;
        let deviation = (all.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        assert!((mean - 1000.0).abs() < 2.0 && (deviation - SIGMA).abs() < 1.5, "{mean} {deviation}");
        assert_eq!(fuzz_int(&mut Rng::new(2), i64::MAX).wrapping_sub(i64::MAX).unsigned_abs() >> 8, 0, "it wraps near the end");
    }

    #[test]
    fn grt_6_texts_change_in_four_ways() {
        let mut rng = Rng::new(1);
        let all: Vec<String> = (0..400).map(|_| fuzz_text(&mut rng, "abcdef")).collect();
        assert!(all.iter().any(|s| s.len() == 7), "inserted");
        assert!(all.iter().any(|s| s.len() == 5 && !"abcdef".contains(s.as_str())), "removed inside");
        assert!(all.iter().any(|s| s.len() == 6 && s != "abcdef"), "replaced");
        assert!(all.iter().any(|s| s.len() < 5 && "abcdef".contains(s.as_str())), "a substring");
        assert!((0..50).all(|_| fuzz_text(&mut rng, "").len() <= 1));
    }
}
