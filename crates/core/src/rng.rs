//! The only source of chance: a seeded generator (xoshiro256++ seeded by SplitMix64, both in the public domain by Blackman and Vigna).
//!
//! Own code, so that a seed means the same run for ever. Each engine draws from its own stream derived from (seed, name).

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut s = seed;
        let mut next = || {
            s = s.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = s;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Rng { state: [next(), next(), next(), next()] }
    }
    /// An independent stream for one purpose.
    pub fn stream(seed: u64, name: &str) -> Rng {
        // FNV-1a: any fixed hash does, it only has to keep names apart
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Rng::new(seed ^ hash)
    }
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
    /// Uniform in `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high);
        let span = high.wrapping_sub(low) as u64;
        if span == u64::MAX {
            return self.next_u64() as i64;
        }
        let off = ((u128::from(self.next_u64()) * u128::from(span + 1)) >> 64) as u64;
        low.wrapping_add(off as i64)
    }
    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len())]) }
    }
    /// Index drawn by weight; `None` if no weight is positive.
    pub fn weighted(&mut self, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
        let total: f64 = weights.clone().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let mut left = self.unit() * total;
        let mut last = None;
        for (i, w) in weights.enumerate() {
            if w > 0.0 {
                last = Some(i);
                if left < w {
                    return last;
                }
                left -= w;
            }
        }
        last
    }
    /// Standard normal (Box–Muller).
    pub fn gauss(&mut self) -> f64 {
        let (a, b) = (self.unit().max(f64::MIN_POSITIVE), self.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_numbers_for_ever() {
        let mut r = Rng::new(1);
        assert_eq!([r.next_u64(), r.next_u64()], [0xcfc5_d07f_6f03_c29b, 0xbf42_4132_963f_e08d]);
    }

    #[test]
    fn streams_of_different_names_differ() {
        assert_ne!(Rng::stream(7, "genetic").next_u64(), Rng::stream(7, "grt").next_u64());
    }

    #[test]
    fn below_and_between_stay_in_range() {
        let mut r = Rng::new(3);
        for n in 1..200 {
            assert!(r.below(n) < n);
            let (low, high) = (-(n as i64), n as i64);
            assert!((low..=high).contains(&r.between(low, high)));
        }
        assert_eq!(r.below(0), 0);
        r.between(i64::MIN, i64::MAX);
    }

    #[test]
    fn weighted_never_picks_a_zero_weight() {
        let mut r = Rng::new(5);
        for _ in 0..500 {
            assert_eq!(r.weighted([0.0, 2.0, 0.0].into_iter()), Some(1));
        }
        assert_eq!(r.weighted([0.0].into_iter()), None);
    }
}
