//! Orienteering: among objects that would do, those that are cheap to make come more often (GRT-11).
//!
//! Cost is counted in steps of the program (method entries, loop rounds) and calls, not in seconds, so that a seed repeats a run on any machine; it is that
//! of the first run, as in Randoop.

/// `weight(seq) = 1 / (Σ_{i=1..k} time_i · √calls)`; `selected` is k, which starts at 1; neither time nor calls count less than 1.
pub fn weight(selected: u32, time: f64, calls: u32) -> f64 {
    1.0 / (f64::from(selected.max(1)) * time.max(1.0) * f64::from(calls.max(1)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P16, by hand.
    #[test]
    fn grt_11_weights_follow_the_table() {
        for (selected, time, calls, expected) in
            [(1, 1.0, 1, 1.0), (2, 1.0, 1, 0.5), (1, 4.0, 4, 0.125), (3, 10.0, 9, 1.0 / 90.0), (0, 0.0, 0, 1.0), (1, 100.0, 2, 0.007_071_067_8)]
        {
            assert!((weight(selected, time, calls) - expected).abs() < 1e-9, "{selected} {time} {calls}");
        }
    }
}
