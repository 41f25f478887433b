//! Bloodhound: which method to call next (GRT-12, GRT-13). Methods with uncovered branches first, and among equals those that seldom succeed; a method
//! that was chosen since the last look at the coverage loses weight, but never all of it.
//!
//! The weights are pure functions; [`Chooser`] draws by them in logarithmic time. It does not measure coverage.

use super::coverage::Share;
use crate::rng::Rng;

/// The paper's numbers.
pub const ALPHA: f64 = 0.9;
pub const P: f64 = 0.99;
/// For methods without coverage information (Randoop's choice; the paper is silent).
pub const UNKNOWN: f64 = 0.5;

/// The share that is not covered.
pub fn uncovered(share: Share) -> f64 {
    if share.total == 0 { UNKNOWN } else { f64::from(share.open()) / f64::from(share.total) }
}

/// w(m, 0): `uncovered` is the share of branches not covered, `successes` of `most` how often calls of the method returned.
pub fn base(uncovered: f64, successes: u32, most: u32) -> f64 {
    let success = if most == 0 { 0.0 } else { f64::from(successes) / f64::from(most) };
    ALPHA * uncovered + (1.0 - ALPHA) * (1.0 - success)
}

/// w(m, k) after `k` choices since the coverage was last looked at, among `methods` methods.
pub fn weight(base: f64, k: u32, methods: usize) -> f64 {
    if k == 0 {
        return base;
    }
    let decay = -3.0 / (1.0 - P).ln() * P.powi(i32::try_from(k).unwrap_or(i32::MAX)) / f64::from(k);
    decay.max(floor(methods)) * base
}

/// Choices that led nowhere after which a method has half of its weight.
const PATIENCE: f64 = 10.0;

/// Not the paper's: where more is open there is more to find, and where `fruitless` choices in a row found nothing the next will hardly
/// either.
pub fn promise(open: u32, fruitless: u32) -> f64 {
    f64::from(1 + open).sqrt() / (1.0 + f64::from(fruitless) / PATIENCE)
}

fn floor(methods: usize) -> f64 {
    1.0 / ((methods + 3) as f64).ln()
}

/// Draws indices by weight. Weights can change one by one: a binary indexed tree holds their sums.
#[derive(Clone, Debug, Default)]
pub struct Chooser {
    weights: Vec<f64>,
    sums: Vec<f64>,
}

impl Chooser {
    pub fn new(weights: Vec<f64>) -> Chooser {
        let mut chooser = Chooser { sums: vec![0.0; weights.len() + 1], weights: vec![0.0; weights.len()] };
        weights.into_iter().enumerate().for_each(|(i, w)| chooser.set(i, w));
        chooser
    }

    pub fn set(&mut self, index: usize, weight: f64) {
        let change = weight - self.weights[index];
        self.weights[index] = weight;
        let mut at = index + 1;
        while at < self.sums.len() {
            self.sums[at] += change;
            at += at & at.wrapping_neg();
        }
    }

    pub fn total(&self) -> f64 {
        let (mut at, mut sum) = (self.weights.len(), 0.0);
        while at > 0 {
            sum += self.sums[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }

    /// `None` if nothing has weight.
    pub fn choose(&self, rng: &mut Rng) -> Option<usize> {
        let total = self.total();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let mut left = rng.unit() * total;
        let mut at = 0;
        let mut step = self.sums.len().next_power_of_two() / 2;
        while step > 0 {
            let next = at + step;
            if next < self.sums.len() && self.sums[next] <= left {
                left -= self.sums[next];
                at = next;
            }
            step /= 2;
        }
        Some(at.min(self.weights.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    /// P16, by hand: -3/ln(0.01) = 0.65144; times 0.99 = 0.64493; times 0.9801/2 = 0.31924.
    #[test]
    fn grt_12_weights_follow_the_table() {
        for (uncovered, successes, most, expected) in [(1.0, 0, 0, 1.0), (1.0, 10, 10, 0.9), (0.0, 5, 10, 0.05), (0.25, 0, 7, 0.325), (0.0, 3, 3, 0.0)] {
            assert!(near(base(uncovered, successes, most), expected), "{uncovered} {successes} {most}");
        }
        for (k, methods, expected) in [(0, 100, 1.0), (1, 100, 0.64493), (2, 100, 0.31924), (3, 100, 0.21577), (1_000_000, 100, 0.21577), (5, 1, 0.72135)] {
            assert!(near(weight(1.0, k, methods), expected), "k {k} of {methods}: {}", weight(1.0, k, methods));
        }
        assert!(near(weight(0.5, 1, 100), 0.322466), "in proportion to w(m, 0)");
    }

    #[test]
    fn what_was_tried_in_vain_promises_less_and_what_is_open_more() {
        for (open, fruitless, expected) in [(0, 0, 1.0), (3, 0, 2.0), (3, 10, 1.0), (99, 30, 2.5)] {
            assert!(near(promise(open, fruitless), expected), "{open} {fruitless}");
        }
        assert!(near(uncovered(Share { covered: 3, total: 4 }), 0.25));
        assert!(near(uncovered(Share::default()), UNKNOWN), "GRT-13");
    }

    #[test]
    fn indices_come_in_proportion_to_their_weights() {
        let mut chooser = Chooser::new(vec![1.0, 5.0, 0.0, 2.0, 1.0]);
        chooser.set(1, 0.0);
        chooser.set(4, 5.0);
        let mut counts = [0u32; 5];
        let mut rng = Rng::new(3);
        for _ in 0..8000 {
            counts[chooser.choose(&mut rng).expect("weights are positive")] += 1;
        }
        assert_eq!((counts[1], counts[2]), (0, 0));
        assert!((900..1100).contains(&counts[0]) && (1850..2150).contains(&counts[3]) && (4800..5200).contains(&counts[4]), "{counts:?}");
        assert_eq!(Chooser::new(vec![0.0; 3]).choose(&mut rng), None);
        assert_eq!(Chooser::new(Vec::new()).choose(&mut rng), None);
    }
}
