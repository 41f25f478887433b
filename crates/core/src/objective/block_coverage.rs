//! Basic Block Coverage (BBC-4 … BBC-8): which blocks on the way to the line were covered wholly, which only in part.
//!
//! A secondary objective: it decides between tests of equal fitness. Blocks are those of the lowered body, covered by observed instructions rather
//! than lines (several raising instructions on one line are several places to get stuck). [`compare`] is the paper's rule to the letter, with its gap
//! (BBC-10: partly against wholly covered is a tie). The order without that gap, `Secondary::Lattice`, counts the instructions that were not reached:
//! whoever reached a superset misses fewer, so it extends the lattice to a total order.
//!
//! Of the published tool's deviations (BBC-9) the cap at the target, the removal of blocks that cannot reach it, and, with STDistance, the choice of
//! the first frame that is not covered are taken; the double weight of whole blocks and the restriction to the best fitness so far are not.

use std::cmp::Ordering;

use crate::execution::Execution;
use crate::probe::MethodProbes;
use crate::program::MethodId;
use crate::program::ir::{BlockId, Body};

/// The effective blocks of a method (BBC-4): those on some way from the entry to the target.
#[derive(Clone, Debug, Default)]
pub struct EffectiveBlocks {
    blocks: Vec<EffectiveBlock>,
}

#[derive(Clone, Debug)]
struct EffectiveBlock {
    /// Ascending; up to the target where that is in this block.
    points: Vec<u32>,
    /// Edges between it and the target.
    distance: u32,
}

/// What one execution covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCoverage {
    method: MethodId,
    /// For each effective block: 0 untouched, 1 in part, 2 wholly (BBC-5).
    levels: Vec<u8>,
    /// Instructions reached in the partly covered block that is nearest to the target.
    nearest: u32,
}

impl EffectiveBlocks {
    /// `targets` are the blocks of the target, `way` those from which it can be reached, `first` the first pc of the target.
    pub fn new(body: &Body, probes: &MethodProbes, targets: &[BlockId], is_target: impl Fn(u32) -> bool) -> EffectiveBlocks {
        let distances = distances(body, targets);
        let mut blocks: Vec<EffectiveBlock> = Vec::new();
        for (id, block) in body.real_blocks() {
            let Some(distance) = distances[id.0 as usize] else { continue };
            let pcs: Vec<u32> = body.insns[block.insns.start as usize..block.insns.end as usize].iter().map(|i| i.pc).collect();
            let mut points: Vec<(u32, u32)> = Vec::new();
            for (i, point) in probes.points.iter().enumerate().filter(|(_, p)| pcs.contains(&p.pc)) {
                points.push((point.pc, probes.first_point + i as u32));
            }
            let end = points.iter().position(|(pc, _)| distance == 0 && is_target(*pc)).map_or(points.len(), |i| i + 1);
            let points: Vec<u32> = points[..end].iter().map(|(_, n)| *n).collect();
            if !points.is_empty() {
                blocks.push(EffectiveBlock { points, distance });
            }
        }
        EffectiveBlocks { blocks }
    }

    pub fn covered(&self, method: MethodId, execution: &Execution) -> BlockCoverage {
        let reached = |b: &EffectiveBlock| b.points.iter().filter(|p| execution.hit(**p)).count() as u32;
        let level = |b: &EffectiveBlock| match (b.points.first(), b.points.last()) {
            (_, Some(last)) if execution.hit(*last) => 2,
            (Some(first), _) if execution.hit(*first) => 1,
            _ => 0,
        };
        let levels: Vec<u8> = self.blocks.iter().map(level).collect();
        let partly = self.blocks.iter().zip(&levels).filter(|(_, level)| **level == 1).map(|(b, _)| b);
        let nearest = partly.min_by_key(|b| b.distance).map_or(0, reached);
        BlockCoverage { method, levels, nearest }
    }
}

/// For each block the number of edges to the nearest target, `None` if there is no way.
fn distances(body: &Body, targets: &[BlockId]) -> Vec<Option<u32>> {
    let mut distance = vec![None; body.blocks.len()];
    let mut layer = targets.to_vec();
    let mut far = 0;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for block in layer {
            if distance[block.0 as usize].is_none() {
                distance[block.0 as usize] = Some(far);
                next.extend(&body.block(block).preds);
            }
        }
        (layer, far) = (next, far + 1);
    }
    distance
}

/// BBC-6: `Less` if `a` is the better one. Antisymmetric, but not transitive.
pub fn compare(a: &BlockCoverage, b: &BlockCoverage) -> Ordering {
    if a.method != b.method {
        return Ordering::Equal;
    }
    if a.levels == b.levels {
        return b.nearest.cmp(&a.nearest);
    }
    // both the wholly and the partly covered blocks of the one are among those of the other
    let within = |x: &[u8], y: &[u8]| x.iter().zip(y).all(|(x, y)| *x == 0 || x == y);
    if within(&a.levels, &b.levels) {
        Ordering::Greater
    } else if within(&b.levels, &a.levels) {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Outcome;
    use crate::rng::Rng;

    fn covered(levels: &[u8], nearest: u32) -> BlockCoverage {
        BlockCoverage { method: MethodId(0), levels: levels.to_vec(), nearest }
    }

    /// BBC-5: by the first and the last observed instruction of a block. The nearest of those covered in part tells how far it came.
    #[test]
    fn bbc_5_a_block_is_untouched_covered_in_part_or_wholly() {
        let block = |points: &[u32], distance| EffectiveBlock { points: points.to_vec(), distance };
        let effective = EffectiveBlocks { blocks: vec![block(&[1, 2], 2), block(&[3, 4, 5], 1), block(&[6, 7], 0)] };
        for (hits, levels, nearest) in
            [(vec![1], [1, 0, 0], 1), (vec![1, 2, 3, 4], [2, 1, 0], 2), (vec![1, 2, 3, 4, 5, 6, 7], [2, 2, 2], 0), (vec![], [0, 0, 0], 0)]
        {
            let execution = Execution { hits, ..Execution::ended(Outcome::Normal) };
            assert_eq!(effective.covered(MethodId(0), &execution), covered(&levels, nearest));
        }
    }

    /// BBC-6, its three cases, and BBC-10, the gap of the first.
    #[test]
    fn bbc_6_supersets_win_then_the_nearest_partly_covered_block_and_bbc_10_the_rest_are_ties() {
        for (a, b, expected) in [
            (covered(&[2, 2, 1], 0), covered(&[2, 0, 0], 0), Ordering::Less),
            (covered(&[2, 0, 0], 0), covered(&[2, 2, 0], 0), Ordering::Greater),
            (covered(&[2, 1, 0], 5), covered(&[2, 1, 0], 3), Ordering::Less),
            (covered(&[2, 1, 0], 3), covered(&[2, 1, 0], 3), Ordering::Equal),
            (covered(&[2, 2, 0], 0), covered(&[2, 0, 2], 0), Ordering::Equal),
            (covered(&[2, 1, 0], 9), covered(&[2, 2, 0], 0), Ordering::Equal),
        ] {
            assert_eq!(compare(&a, &b), expected, "{a:?} {b:?}");
        }
    }

    /// P14.
    #[test]
    fn the_comparison_is_antisymmetric() {
        let mut rng = Rng::new(5);
        for _ in 0..2000 {
            let mut any = || covered(&[rng.below(3) as u8, rng.below(3) as u8, rng.below(3) as u8], rng.below(3) as u32);
            let (a, b) = (any(), any());
            assert_eq!(compare(&a, &b), compare(&b, &a).reverse(), "{a:?} {b:?}");
        }
    }
}
