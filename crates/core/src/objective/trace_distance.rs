//! How far one stack is from another (EVO-6 … EVO-10), platform frames removed from both.
//!
//! A class is compared by its own name, never up to inheritance (EVO-27): an override in a subclass, which is often simpler, must not look as near as
//! the method of the trace. Only [`TraceDistance::Tool`] is as lenient as the tool it is named for.

use super::squash;
use crate::trace::Frame;

/// Which distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceDistance {
    /// EVO-7: each wanted frame against the nearest of the stack.
    Set,
    /// EVO-6: frame against frame from the innermost, and the difference of lengths (the preliminary study).
    Prefix,
    /// EVO-10, as Botsing's source has it: differences normalised once more, each at most 1; matches never go back; an inner class passes for its
    /// outer one; frames of reflection are not wanted.
    Tool,
}

/// EVO-8: 3 if the class differs, 2 if the method does, else φ of the difference of lines.
pub fn difference(want: &Frame, got: &Frame) -> f64 {
    if want.class == got.class { within_class(want, got) } else { 3.0 }
}

fn within_class(want: &Frame, got: &Frame) -> f64 {
    if want.method != got.method {
        return 2.0;
    }
    match (want.line, got.line) {
        (Some(a), Some(b)) => squash(f64::from(a.abs_diff(b))),
        _ => 0.0,
    }
}

/// EVO-7: each wanted frame against the nearest frame of the stack.
pub fn set_distance(want: &[Frame], got: &[Frame]) -> f64 {
    let program: Vec<&Frame> = got.iter().filter(|f| !f.platform).collect();
    let nearest = |w: &Frame| program.iter().map(|g| difference(w, g)).fold(3.0, f64::min);
    want.iter().map(nearest).sum()
}

/// EVO-6: position by position, and one for each frame that only one side has.
pub fn prefix_distance(want: &[Frame], got: &[Frame]) -> f64 {
    let program: Vec<&Frame> = got.iter().filter(|f| !f.platform).collect();
    let common: f64 = want.iter().zip(&program).map(|(w, g)| difference(w, g)).sum();
    common + want.len().abs_diff(program.len()) as f64
}

/// EVO-10.
pub fn tool_distance(want: &[Frame], got: &[Frame]) -> f64 {
    let program: Vec<&Frame> = got.iter().filter(|f| !f.platform).collect();
    let wanted = want.iter().filter(|w| !w.class.contains("reflect") && !w.class.contains("invoke"));
    let mut start = 0;
    let mut sum = 0.0;
    for w in wanted {
        let mut nearest = (1.0, start);
        for (i, g) in program.iter().enumerate().skip(start) {
            let d = squash(lenient(w, g));
            if d < nearest.0 {
                nearest = (d, i);
            }
        }
        start = nearest.1;
        sum += nearest.0;
    }
    sum
}

fn lenient(want: &Frame, got: &Frame) -> f64 {
    let outer = |class: &str| class.split('$').next().unwrap_or_default().to_string();
    let same = want.class == got.class || want.class.contains('$') && outer(&want.class) == got.class;
    if same { within_class(want, got) } else { 3.0 }
}

/// EVO-9: φ(D), in [0, 1).
pub fn normalised(which: TraceDistance, want: &[Frame], got: &[Frame]) -> f64 {
    squash(match which {
        TraceDistance::Set => set_distance(want, got),
        TraceDistance::Prefix => prefix_distance(want, got),
        TraceDistance::Tool => tool_distance(want, got),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(class: &str, method: &str, line: u32) -> Frame {
        Frame::new(class, method, Some(line))
    }

    #[test]
    fn evo_8_difference_is_zero_iff_equal_and_grows_with_the_line() {
        let a = frame("A", "m", 10);
        assert_eq!(difference(&a, &a), 0.0);
        assert_eq!(difference(&a, &frame("B", "m", 10)), 3.0);
        assert_eq!(difference(&a, &frame("A", "n", 10)), 2.0);
        let by: Vec<f64> = (11..20).map(|l| difference(&a, &frame("A", "m", l))).collect();
        assert!(by.windows(2).all(|w| w[0] < w[1]) && by.iter().all(|d| *d > 0.0 && *d < 1.0));
    }

    #[test]
    fn evo_7_set_distance_takes_the_nearest_frame_and_ignores_the_platform() {
        let want = [frame("A", "m", 1), frame("B", "n", 2)];
        let mut platform = frame("A", "m", 1);
        platform.platform = true;
        assert_eq!(set_distance(&want, &[platform, frame("B", "n", 2)]), 3.0);
        assert_eq!(set_distance(&want, &[frame("B", "n", 2), frame("A", "m", 1)]), 0.0);
    }

    #[test]
    fn evo_6_prefix_distance_goes_by_position_and_counts_what_only_one_side_has() {
        let want = [frame("A", "m", 1), frame("B", "n", 2)];
        assert_eq!(prefix_distance(&want, &want), 0.0);
        assert_eq!(prefix_distance(&want, &want[..1]), 1.0);
        assert_eq!(prefix_distance(&want[..1], &want), 1.0);
        assert_eq!(prefix_distance(&want, &[frame("B", "n", 2), frame("A", "m", 1)]), 6.0);
        assert_eq!(prefix_distance(&want, &[]), 2.0);
    }

    #[test]
    fn evo_9_the_distance_is_normalised_below_one() {
        let want = [frame("A", "m", 1), frame("B", "n", 2)];
        assert_eq!(normalised(TraceDistance::Set, &want, &want), 0.0);
        assert_eq!(normalised(TraceDistance::Set, &want, &[]), 6.0 / 7.0);
        assert_eq!(normalised(TraceDistance::Prefix, &want, &[]), 2.0 / 3.0);
    }

    #[test]
    fn evo_10_the_tool_normalises_twice_matches_forwards_and_takes_an_inner_class_for_its_outer_one() {
        let want = [frame("A", "m", 1), frame("B", "n", 2)];
        assert_eq!(tool_distance(&want, &want), 0.0);
        assert_eq!(tool_distance(&want[..1], &[frame("C", "x", 9)]), 0.75);
        assert_eq!(tool_distance(&want[..1], &[frame("A", "x", 9)]), 2.0 / 3.0);
        assert_eq!(tool_distance(&want[..1], &[]), 1.0);
        // B stands before A: after A was matched, the search does not go back
        assert_eq!(tool_distance(&want, &[frame("B", "n", 2), frame("A", "m", 1)]), 0.75);
        assert_eq!(tool_distance(&[frame("A$In", "m", 1)], &want[..1]), 0.0);
        assert_eq!(tool_distance(&[frame("java.lang.reflect.Method", "invoke", 1)], &[]), 0.0);
    }

    #[test]
    fn evo_27_an_override_in_a_subclass_is_another_class_and_so_is_an_outer_one() {
        let want = frame("Mapper", "map", 4);
        assert_eq!(difference(&want, &frame("SimpleMapper", "map", 4)), 3.0);
        assert_eq!(difference(&frame("A$In", "m", 1), &frame("A", "m", 1)), 3.0);
    }
}
