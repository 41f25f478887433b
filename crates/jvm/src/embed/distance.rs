//! How far a string predicate is from being true, in characters to change. Pure; zero exactly if it is true (up to the cap on length).

/// Longer strings are compared by this much of them.
pub const MAX_UNITS: usize = 64;

/// Insertions, deletions and replacements that make the two equal. Of longer strings the beginnings are compared and the difference in length is added.
pub fn edit(a: &[u16], b: &[u16]) -> u32 {
    let beyond = a.len().max(MAX_UNITS).abs_diff(b.len().max(MAX_UNITS));
    let differ = a != b;
    let (a, b) = (&a[..a.len().min(MAX_UNITS)], &b[..b.len().min(MAX_UNITS)]);
    let mut row: [u32; MAX_UNITS + 1] = std::array::from_fn(|i| i as u32);
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + u32::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    let distance = row[b.len()] + beyond as u32;
    distance.max(u32::from(differ))
}

/// The same, letters compared without case.
pub fn edit_ignoring_case(a: &[u16], b: &[u16]) -> u32 {
    edit(&folded(a), &folded(b))
}

fn folded(units: &[u16]) -> Vec<u16> {
    units.iter().map(|u| if (b'A' as u16..=b'Z' as u16).contains(u) { u + 32 } else { *u }).collect()
}

/// Characters of `prefix` that `text` lacks or has otherwise.
pub fn starts_with(text: &[u16], prefix: &[u16]) -> u32 {
    mismatches(text.iter(), prefix.iter())
}

/// Characters of `suffix` that `text` lacks or has otherwise.
pub fn ends_with(text: &[u16], suffix: &[u16]) -> u32 {
    mismatches(text.iter().rev(), suffix.iter().rev())
}

/// The fewest characters to change at one place of `text` for `part` to stand there.
pub fn contains(text: &[u16], part: &[u16]) -> u32 {
    let text = &text[..text.len().min(MAX_UNITS * 4)];
    (0..=text.len()).map(|start| starts_with(&text[start..], part)).min().unwrap_or(0)
}

fn mismatches<'a>(text: impl Iterator<Item = &'a u16>, wanted: impl Iterator<Item = &'a u16>) -> u32 {
    let mut text = text.fuse();
    wanted.filter(|unit| text.next() != Some(unit)).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(f: fn(&[u16], &[u16]) -> u32, a: &str, b: &str, expected: u32) {
        let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
        assert_eq!(f(&units(a), &units(b)), expected, "{a:?} {b:?}");
    }

    #[test]
    fn edit_distances() {
        for (a, b, d) in [("", "", 0), ("abc", "abc", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("abc", "", 3), ("abc", "axc", 1), ("ab", "ba", 2)] {
            check(edit, a, b, d);
        }
        let long = "x".repeat(100);
        check(edit, &long, &long, 0);
        check(edit, &long, "", 100);
        check(edit, "", &long, 100);
        check(edit, &format!("{long}a"), &format!("{long}b"), 1);
        check(edit_ignoring_case, "HeLLo", "hEllo", 0);
        check(edit_ignoring_case, "HeLLo", "help", 2);
    }

    #[test]
    fn places_within_a_string() {
        check(starts_with, "hello", "he", 0);
        check(starts_with, "hello", "hxl", 1);
        check(starts_with, "h", "hello", 4);
        check(ends_with, "hello", "lo", 0);
        check(ends_with, "hello", "xo", 1);
        check(ends_with, "", "ab", 2);
        check(contains, "abcde", "cd", 0);
        check(contains, "abcde", "cxe", 1);
        check(contains, "", "ab", 2);
        check(contains, "abc", "", 0);
    }
}
