//! Which branch decides whether a block runs (Ferrante, Ottenstein and Warren 1987, by the post-dominator tree).

use std::collections::BTreeMap;

use super::cfg::{Exceptions, Graph};
use super::dominators::PostDominators;
use super::ir::{BlockId, Body};

/// A branch: a block and the index of one of its successor edges.
pub type BranchEdge = (BlockId, usize);

/// For each block the edges that it directly depends on: taken, the block must run; not taken, it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlDependence {
    parents: Vec<Vec<BranchEdge>>,
}

impl ControlDependence {
    /// On normal edges only: what may raise is not a decision.
    pub fn of(body: &Body) -> ControlDependence {
        Self::of_graph(&Graph::of(body, Exceptions::Excluded))
    }

    /// With exception edges, on which handlers and everything after a raising instruction depend.
    pub fn with_exceptions(body: &Body) -> ControlDependence {
        Self::of_graph(&Graph::of(body, Exceptions::Included))
    }

    pub fn of_graph(graph: &Graph) -> ControlDependence {
        let post = PostDominators::of(graph);
        let mut parents = vec![Vec::new(); graph.len()];
        for (from, edges) in graph.succs.iter().enumerate() {
            let stop = post.immediate(from as u32);
            for (to, edge) in edges {
                let mut node = Some(*to).filter(|to| Some(*to) != stop);
                while let Some(n) = node.filter(|n| *n != post.exit()) {
                    parents[n as usize].push((BlockId(from as u32), *edge as usize));
                    node = post.immediate(n).filter(|up| Some(*up) != stop);
                }
            }
        }
        ControlDependence { parents }
    }

    /// The edges that a block directly depends on, ascending.
    pub fn parents(&self, block: BlockId) -> &[BranchEdge] {
        &self.parents[block.0 as usize]
    }

    /// For every edge that a target depends on, how many decisions lie between: 0 if a target directly depends on it.
    pub fn distance_to(&self, targets: &[BlockId]) -> BTreeMap<BranchEdge, u32> {
        let mut levels = BTreeMap::new();
        let mut seen = vec![false; self.parents.len()];
        let mut layer: Vec<BlockId> = targets.to_vec();
        let mut level = 0;
        while !layer.is_empty() {
            let mut next = Vec::new();
            for block in layer {
                if std::mem::replace(&mut seen[block.0 as usize], true) {
                    continue;
                }
                for edge in self.parents(block) {
                    levels.entry(*edge).or_insert(level);
                    next.push(edge.0);
                }
            }
            layer = next;
            level += 1;
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::super::cfg::tests::random;
    use super::*;

    #[test]
    fn agrees_with_the_definition_on_random_graphs() {
        for seed in 0..1500 {
            let graph = random(seed);
            let post = PostDominators::of(&graph);
            let dependence = ControlDependence::of_graph(&graph);
            for w in 0..graph.len() as u32 {
                let mut expected = Vec::new();
                for (u, edges) in graph.succs.iter().enumerate() {
                    for (v, edge) in edges {
                        let strictly = post.dominates(w, u as u32) && w != u as u32;
                        if post.dominates(w, *v) && !strictly {
                            expected.push((BlockId(u as u32), *edge as usize));
                        }
                    }
                }
                assert_eq!(dependence.parents(BlockId(w)), expected, "block {w} of {graph:?}");
            }
        }
    }

    #[test]
    fn levels_count_decisions() {
        // 0: if a { 1: if b { 2: target } } 3: end, with an endless loop beside it
        let graph = Graph::from_edges(5, &[(0, 3), (0, 1), (1, 3), (1, 2), (2, 3), (4, 4)]);
        let dependence = ControlDependence::of_graph(&graph);
        let levels = dependence.distance_to(&[BlockId(2)]);
        assert_eq!(levels.into_iter().collect::<Vec<_>>(), [((BlockId(0), 1), 1), ((BlockId(1), 1), 0)]);
        assert!(dependence.distance_to(&[BlockId(3)]).is_empty());
    }

    #[test]
    fn a_loop_depends_on_itself() {
        // 0 -> 1: while c { 2 } -> 3
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]);
        let dependence = ControlDependence::of_graph(&graph);
        assert_eq!(dependence.parents(BlockId(2)), [(BlockId(1), 0)]);
        assert_eq!(dependence.parents(BlockId(1)), [(BlockId(1), 0)]);
        assert!(dependence.parents(BlockId(3)).is_empty());
        assert_eq!(dependence.distance_to(&[BlockId(2)])[&(BlockId(1), 0)], 0);
    }
}
