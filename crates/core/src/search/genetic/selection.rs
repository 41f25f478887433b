//! Rank selection with bias, as in EvoSuite and Whitley's GENITOR.

use crate::rng::Rng;

/// An index below `n`, smaller ones (fitter) more often; `bias` in (1, 2].
pub fn rank(rng: &mut Rng, n: usize, bias: f64) -> usize {
    let r = rng.unit();
    let d = bias - (bias * bias - 4.0 * (bias - 1.0) * r).sqrt();
    let share = d / 2.0 / (bias - 1.0);
    ((n as f64 * share) as usize).min(n.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitter_individuals_are_chosen_more_often_and_all_have_a_chance() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 10];
        (0..20_000).for_each(|_| counts[rank(&mut rng, 10, 1.7)] += 1);
        assert!(counts.windows(2).all(|w| w[0] + 150 > w[1]), "{counts:?}");
        assert!(counts[0] > 2 * counts[9] && counts[9] > 0, "{counts:?}");
    }
}
