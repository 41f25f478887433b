//! Which tests are kept: each that covered something new, and of those, at the end, few enough that together cover the same.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::testcase::TestCase;

/// How a kept test ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Normal,
    /// Its last statement throws that.
    Thrown {
        exception: String,
    },
}

/// A test that covered something new when it was run.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Index of the subject that it calls last.
    pub subject: usize,
    pub test: TestCase,
    pub ending: Ending,
    /// What it covers, ascending.
    pub elements: Vec<u32>,
}

/// Chooses tests to be written, a part at a time.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    taken: BTreeSet<usize>,
    dropped: BTreeSet<usize>,
}

impl Selection {
    /// Up to `max` further tests that add to what the taken ones cover: always the one that adds most, of equals the shorter and then the earlier. They
    /// count as taken until they are dropped.
    pub fn next(&mut self, kept: &[Kept], max: usize, usable: impl Fn(&Kept) -> bool) -> Vec<usize> {
        let size = kept.iter().flat_map(|k| &k.elements).max().map_or(0, |e| *e as usize + 1);
        let mut covered = vec![false; size];
        for i in &self.taken {
            kept[*i].elements.iter().for_each(|e| covered[*e as usize] = true);
        }
        let gain = |k: &Kept, covered: &[bool]| k.elements.iter().filter(|e| !covered[**e as usize]).count();
        let entry = |i: usize, gain: usize| (gain, Reverse(kept[i].test.len()), Reverse(i));
        let open = |i: &usize| !self.taken.contains(i) && !self.dropped.contains(i) && usable(&kept[*i]);
        let mut heap: BinaryHeap<_> = (0..kept.len()).filter(open).map(|i| entry(i, kept[i].elements.len())).collect();
        let mut chosen = Vec::new();
        while let Some((promised, _, Reverse(i))) = heap.pop().filter(|_| chosen.len() < max) {
            // gains only shrink, so one that still holds is the largest
            let now = gain(&kept[i], &covered);
            if now == 0 {
                continue;
            }
            if now < promised {
                heap.push(entry(i, now));
                continue;
            }
            kept[i].elements.iter().for_each(|e| covered[*e as usize] = true);
            chosen.push(i);
        }
        self.taken.extend(&chosen);
        chosen.sort_unstable();
        chosen
    }

    /// How many tests are taken.
    pub fn taken(&self) -> usize {
        self.taken.len()
    }

    /// A test that may be chosen again.
    pub fn release(&mut self, index: usize) {
        self.taken.remove(&index);
    }

    /// A test that cannot be written after all: what it covers is open again.
    pub fn drop(&mut self, index: usize) {
        self.taken.remove(&index);
        self.dropped.insert(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_tests_cover_all_and_none_is_idle() {
        let kept = |elements: &[u32]| Kept { subject: 0, test: TestCase::default(), ending: Ending::Normal, elements: elements.to_vec() };
        let all = [kept(&[0, 1]), kept(&[1, 2]), kept(&[0, 1, 2, 3]), kept(&[4]), kept(&[3, 4])];
        let mut selection = Selection::default();
        assert_eq!(selection.next(&all, 1, |_| true), [2]);
        assert_eq!(selection.next(&all, 9, |_| true), [3]);
        assert_eq!(selection.next(&all, 9, |_| true), [0usize; 0]);
        selection.drop(3);
        assert_eq!(selection.next(&all, 9, |k| k.elements.len() > 1), [4], "what a dropped test covered is open again");
        selection.release(4);
        assert_eq!(selection.next(&all, 9, |k| k.elements.len() > 1), [4], "it may be taken again");
        assert_eq!(Selection::default().next(&[], 9, |_| true), [0usize; 0]);
    }
}
