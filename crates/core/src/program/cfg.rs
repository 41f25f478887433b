//! The control-flow graph of a body as plain numbers, for graph algorithms.
//!
//! A node is a block; an edge keeps its index among the block's successors. Without exceptions, blocks that end in a `throw` are sinks and handlers have
//! no way in; with them, every exception edge counts.

use super::ir::Body;

/// A directed graph with nodes `0..len`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Targets, each with the index of its edge in the source.
    pub succs: Vec<Vec<(u32, u32)>>,
    pub preds: Vec<Vec<u32>>,
}

/// Whether exception edges are part of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceptions {
    Excluded,
    Included,
}

impl Graph {
    pub fn of(body: &Body, exceptions: Exceptions) -> Graph {
        let wanted = |kind: super::ir::EdgeKind| exceptions == Exceptions::Included || !kind.is_exception();
        let succs = body.blocks.iter().map(|block| {
            let edges = (0u32..).zip(&block.succs).filter(|(_, edge)| wanted(edge.kind));
            edges.map(|(i, edge)| (edge.to.0, i)).collect()
        });
        Graph::from_succs(succs.collect())
    }

    /// Edges are numbered in the order given.
    pub fn from_edges(len: usize, edges: &[(u32, u32)]) -> Graph {
        let mut succs: Vec<Vec<(u32, u32)>> = vec![Vec::new(); len];
        for (from, to) in edges {
            let list = &mut succs[*from as usize];
            list.push((*to, list.len() as u32));
        }
        Graph::from_succs(succs)
    }

    fn from_succs(succs: Vec<Vec<(u32, u32)>>) -> Graph {
        let mut preds = vec![Vec::new(); succs.len()];
        for (from, list) in succs.iter().enumerate() {
            list.iter().for_each(|(to, _)| preds[*to as usize].push(from as u32));
        }
        Graph { succs, preds }
    }

    pub fn len(&self) -> usize {
        self.succs.len()
    }
    pub fn is_empty(&self) -> bool {
        self.succs.is_empty()
    }

    pub fn add_node(&mut self) -> u32 {
        self.succs.push(Vec::new());
        self.preds.push(Vec::new());
        self.len() as u32 - 1
    }
    pub fn add_edge(&mut self, from: u32, to: u32) {
        let index = self.succs[from as usize].len() as u32;
        self.succs[from as usize].push((to, index));
        self.preds[to as usize].push(from);
    }

    #[must_use]
    pub fn reversed(&self) -> Graph {
        let edges: Vec<(u32, u32)> = self.succs.iter().enumerate().flat_map(|(from, list)| list.iter().map(move |(to, _)| (*to, from as u32))).collect();
        Graph::from_edges(self.len(), &edges)
    }

    /// Nodes reachable from `root`, children before parents in a depth-first walk.
    pub fn postorder(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut path = vec![(root, 0)];
        seen[root as usize] = true;
        while let Some((node, next)) = path.last_mut() {
            match self.succs[*node as usize].get(*next) {
                Some((to, _)) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        path.push((*to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
        order
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A reproducible random graph.
    pub(crate) fn random(seed: u64) -> Graph {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % bound
        };
        let len = 2 + next(9);
        let count = next(len * 2 + 1);
        let edges: Vec<(u32, u32)> = (0..count).map(|_| (next(len) as u32, next(len) as u32)).collect();
        Graph::from_edges(len as usize, &edges)
    }

    pub(crate) fn reachable(graph: &Graph, root: u32, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.len()];
        let mut pending = if without == Some(root) { Vec::new() } else { vec![root] };
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                pending.extend(graph.succs[node as usize].iter().map(|(to, _)| *to).filter(|to| Some(*to) != without));
            }
        }
        seen
    }

    #[test]
    fn postorder_lists_what_can_be_reached_once() {
        for seed in 0..300 {
            let graph = random(seed);
            let mut order = graph.postorder(0);
            assert_eq!(order.last(), Some(&0));
            order.sort_unstable();
            let seen = reachable(&graph, 0, None);
            let expected: Vec<u32> = (0..graph.len() as u32).filter(|n| seen[*n as usize]).collect();
            assert_eq!(order, expected);
        }
    }
}
