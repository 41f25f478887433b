//! How far one stack is from another (EVO-7 … EVO-9), platform frames removed from both.

use super::squash;
use crate::trace::Frame;

/// EVO-8: 3 if the class differs, 2 if the method does, else φ of the difference of lines.
pub fn difference(want: &Frame, got: &Frame) -> f64 {
    if want.class != got.class {
        3.0
    } else if want.method != got.method {
        2.0
    } else {
        match (want.line, got.line) {
            (Some(a), Some(b)) => squash(f64::from(a.abs_diff(b))),
            _ => 0.0,
        }
    }
}

/// EVO-7: each wanted frame against the nearest frame of the stack.
pub fn set_distance(want: &[Frame], got: &[Frame]) -> f64 {
    let program: Vec<&Frame> = got.iter().filter(|f| !f.platform).collect();
    let nearest = |w: &Frame| program.iter().map(|g| difference(w, g)).fold(3.0, f64::min);
    want.iter().map(nearest).sum()
}

/// EVO-9: φ(D), in [0, 1).
pub fn normalised(want: &[Frame], got: &[Frame]) -> f64 {
    squash(set_distance(want, got))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(class: &str, method: &str, line: u32) -> Frame {
        Frame::new(class, method, Some(line))
    }

    #[test]
    fn difference_is_zero_iff_equal_and_grows_with_the_line() {
        let a = frame("A", "m", 10);
        assert_eq!(difference(&a, &a), 0.0);
        assert_eq!(difference(&a, &frame("B", "m", 10)), 3.0);
        assert_eq!(difference(&a, &frame("A", "n", 10)), 2.0);
        let by: Vec<f64> = (11..20).map(|l| difference(&a, &frame("A", "m", l))).collect();
        assert!(by.windows(2).all(|w| w[0] < w[1]) && by.iter().all(|d| *d > 0.0 && *d < 1.0));
    }

    #[test]
    fn set_distance_takes_the_nearest_frame_and_ignores_the_platform() {
        let want = [frame("A", "m", 1), frame("B", "n", 2)];
        let mut platform = frame("A", "m", 1);
        platform.platform = true;
        assert_eq!(set_distance(&want, &[platform, frame("B", "n", 2)]), 3.0);
        assert_eq!(set_distance(&want, &[frame("B", "n", 2), frame("A", "m", 1)]), 0.0);
    }
}
