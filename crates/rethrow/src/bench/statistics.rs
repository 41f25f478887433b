//! The statistics of the published comparisons: odds ratio with Fisher's exact test for how often, Vargha–Delaney Â12 with the
//! Wilcoxon rank-sum test for how fast. Pure functions; checked against the values that SciPy gives (P22).

/// Successes and failures of two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    pub a: (u64, u64),
    pub b: (u64, u64),
}

impl Table {
    /// How many times greater the odds of `a` are. One half is added to each cell if one is empty (Haldane's correction), so that it
    /// is always a number.
    pub fn odds_ratio(self) -> f64 {
        let cells = [self.a.0, self.a.1, self.b.0, self.b.1];
        let add = if cells.contains(&0) { 0.5 } else { 0.0 };
        let [a, b, c, d] = cells.map(|n| n as f64 + add);
        (a * d) / (b * c)
    }

    /// Two-sided p of Fisher's exact test: the tables with the same margins that are no likelier than this one.
    pub fn fisher(self) -> f64 {
        let (row_a, row_b) = (self.a.0 + self.a.1, self.b.0 + self.b.1);
        let successes = self.a.0 + self.b.0;
        let factorials = ln_factorials(row_a + row_b);
        let ln_choose = |n: u64, k: u64| factorials[n as usize] - factorials[k as usize] - factorials[(n - k) as usize];
        let ln_p = |x: u64| ln_choose(row_a, x) + ln_choose(row_b, successes - x) - ln_choose(row_a + row_b, successes);
        let observed = ln_p(self.a.0);
        let possible = successes.saturating_sub(row_b)..=successes.min(row_a);
        // Equal probabilities differ by rounding.
        let total: f64 = possible.map(ln_p).filter(|ln| *ln <= observed + 1e-7).map(f64::exp).sum();
        total.min(1.0)
    }
}

/// `ln 0!, ln 1!, …, ln n!`
fn ln_factorials(n: u64) -> Vec<f64> {
    let mut sum = 0.0;
    (0..=n)
        .map(|k| {
            sum += (k.max(1) as f64).ln();
            sum
        })
        .collect()
}

/// Â12: how likely a value of `a` is greater than one of `b`, equal ones counted half. For costs, less than one half is better.
pub fn a12(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.5;
    }
    mann_whitney_u(a, b) / (a.len() as f64 * b.len() as f64)
}

fn mann_whitney_u(a: &[f64], b: &[f64]) -> f64 {
    let beats = |x: &f64| b.iter().map(|y| if x > y { 1.0 } else { f64::from(u8::from(x == y)) / 2.0 }).sum::<f64>();
    a.iter().map(beats).sum()
}

/// More values than this on one side are left to the normal approximation, as in R.
const EXACT: usize = 50;

/// Two-sided p of the Wilcoxon rank-sum test (Mann–Whitney): exact for small samples without ties, else the normal approximation
/// with the correction for ties and for continuity. NaN does not occur in costs.
pub fn rank_sum(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: Vec<f64> = all.chunk_by(|x, y| x == y).map(|group| group.len() as f64).collect();
    let u = mann_whitney_u(a, b);
    let (m, n) = (a.len() as f64, b.len() as f64);
    let greater = u.max(m * n - u);
    if ties.len() == all.len() && a.len() < EXACT && b.len() < EXACT {
        return (2.0 * exact_tail(a.len(), b.len(), greater as usize)).min(1.0);
    }
    let count = m + n;
    let tied: f64 = ties.iter().map(|t| t * t * t - t).sum();
    let variance = m * n / 12.0 * ((count + 1.0) - tied / (count * (count - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (greater - m * n / 2.0 - 0.5) / variance.sqrt();
    (2.0 * normal_tail(z)).min(1.0)
}

/// P(U ≥ u) for samples of these sizes without ties: counts the orders by how many pairs they swap.
fn exact_tail(m: usize, n: usize, u: usize) -> f64 {
    // ways[k][s]: choices of k of the values so far whose swaps are s; each further value of the second sample shifts the rest.
    let most = m * n;
    let mut ways = vec![vec![0.0_f64; most + 1]; m + 1];
    ways[0][0] = 1.0;
    for rank in 0..m + n {
        for k in (1..=m.min(rank + 1)).rev() {
            // The k-th value of the first sample at this rank is above `rank + 1 - k` of the second.
            let Some(above) = (rank + 1).checked_sub(k).filter(|above| *above <= n) else { continue };
            let (fewer, here) = ways.split_at_mut(k);
            for swaps in above..=most {
                here[0][swaps] += fewer[k - 1][swaps - above];
            }
        }
    }
    let all: f64 = ways[m].iter().sum();
    ways[m][u.min(most + 1)..].iter().sum::<f64>() / all
}

/// P(Z ≥ z) of the standard normal distribution.
fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        // Taylor series of the integral from 0 to z.
        let (mut term, mut sum, mut k) = (z, z, 1.0);
        while term > 1e-18 * sum {
            term *= z * z / (2.0 * k + 1.0);
            sum += term;
            k += 1.0;
        }
        return 0.5 - density * sum;
    }
    // Laplace's continued fraction, from its end.
    density / (1..=200).rev().fold(z, |rest, k| z + f64::from(k) / rest)
}

/// The value below which this part of the sorted values lies, with linear interpolation (type 7, as in R and NumPy).
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = part.clamp(0.0, 1.0) * last as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want.abs().max(1e-6), "{got} is not {want}");
    }

    /// P22, BBC-13: `scipy.stats.fisher_exact`, SciPy 1.x.
    #[test]
    fn p22_fisher() {
        for (a, b, p) in [
            ((10, 0), (0, 10), 1.082508822446903e-05),
            ((8, 2), (1, 9), 0.005477494641581329),
            ((5, 5), (5, 5), 1.0),
            ((3, 0), (0, 3), 0.1),
            ((15, 15), (20, 10), 0.29491247843872004),
            ((30, 0), (28, 2), 0.4915254237288136),
            ((1, 9), (11, 3), 0.0027594561852200836),
            ((0, 10), (0, 10), 1.0),
            ((100, 50), (70, 80), 0.0007003772753720399),
        ] {
            close(Table { a, b }.fisher(), p);
            close(Table { a: b, b: a }.fisher(), p);
        }
        close(Table { a: (0, 0), b: (0, 0) }.fisher(), 1.0);
    }

    /// P22: by hand.
    #[test]
    fn p22_odds_ratio() {
        close(Table { a: (8, 2), b: (1, 9) }.odds_ratio(), 36.0);
        close(Table { a: (5, 5), b: (5, 5) }.odds_ratio(), 1.0);
        close(Table { a: (3, 0), b: (1, 2) }.odds_ratio(), 3.5 * 2.5 / (0.5 * 1.5));
        close(Table { a: (0, 3), b: (0, 3) }.odds_ratio(), 1.0);
    }

    /// P22, BBC-13: `scipy.stats.mannwhitneyu`, two-sided, exact without ties and asymptotic with them; Â12 by its definition.
    #[test]
    fn p22_rank_sum_and_a12() {
        let cases: [(&[f64], &[f64], f64, f64); 7] = [
            (&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0], 0.007936507936507936, 0.0),
            (&[1.1, 2.2, 3.3], &[0.5, 2.5, 4.5, 6.5], 0.6285714285714286, 1.0 / 3.0),
            (&[12.0, 3.0, 7.0, 9.5, 1.0], &[2.0, 4.0, 6.0, 8.0, 10.0, 11.0], 0.9307359307359306, 14.0 / 30.0),
            (&[60.0, 60.0, 60.0], &[60.0, 60.0, 1.5], 0.5049850750938458, 2.0 / 3.0),
            (&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0], &[2.0, 3.0, 4.0, 4.0, 5.0, 5.0], 0.047967873742731204, 0.1527777777777778),
            (&[60.0; 10], &[5.0, 6.0, 7.0, 60.0, 60.0, 60.0, 8.0, 9.0, 10.0, 11.0], 0.0022125420307360353, 0.85),
            (&[5.0; 3], &[5.0; 3], 1.0, 0.5),
        ];
        for (a, b, p, effect) in cases {
            close(rank_sum(a, b), p);
            close(rank_sum(b, a), p);
            close(a12(a, b), effect);
            close(a12(b, a), 1.0 - effect);
        }
        let ramp = |n: u32, shift: f64| (1..=n).map(|i| f64::from(i) + shift).collect::<Vec<f64>>();
        close(rank_sum(&ramp(30, 0.0), &ramp(30, 4.5)), 0.0653991147132789);
        close(rank_sum(&ramp(60, 0.0), &ramp(60, 10.25)), 0.0025668879435241754);
        close(rank_sum(&[], &[1.0]), 1.0);
        close(a12(&[], &[1.0]), 0.5);
    }

    /// P22: `scipy.stats.norm.sf`.
    #[test]
    fn p22_normal_tail() {
        for (z, p) in [
            (0.0, 0.5),
            (0.5, 0.3085375387259869),
            (1.96, 0.024997895148220435),
            (3.0, 0.0013498980316300933),
            (5.0, 2.866515718791933e-07),
            (8.0, 6.22096057427174e-16),
            (-1.0, 1.0 - 0.15865525393145707),
        ] {
            assert!((normal_tail(z) / p - 1.0).abs() < 1e-9, "{z}: {} is not {p}", normal_tail(z));
        }
    }

    /// P22: `numpy.quantile`.
    #[test]
    fn p22_quantiles() {
        let values = sorted([10.0, 1.0, 3.0, 20.0, 2.0, 4.0]);
        let got = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| quantile(&values, part));
        assert_eq!(got, [1.0, 2.25, 3.5, 8.5, 20.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
