//! Dominators and post-dominators, by the iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm").

use super::cfg::Graph;

/// The dominator tree of what is reachable from a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    root: u32,
    /// Immediate dominator; `None` for the root and for unreachable nodes.
    idom: Vec<Option<u32>>,
    depth: Vec<u32>,
}

impl Dominators {
    pub fn of(graph: &Graph, root: u32) -> Dominators {
        let postorder = graph.postorder(root);
        let mut number = vec![u32::MAX; graph.len()];
        for (i, node) in postorder.iter().enumerate() {
            number[*node as usize] = i as u32;
        }
        // The root is its own dominator while the tree is built, which ends every walk.
        let mut idom: Vec<Option<u32>> = vec![None; graph.len()];
        idom[root as usize] = Some(root);
        let mut changed = true;
        while changed {
            changed = false;
            for node in postorder.iter().rev().filter(|node| **node != root) {
                let known = graph.preds[*node as usize].iter().filter(|p| idom[**p as usize].is_some());
                let new = known.copied().reduce(|a, b| meet(&idom, &number, a, b));
                if new.is_some() && idom[*node as usize] != new {
                    idom[*node as usize] = new;
                    changed = true;
                }
            }
        }
        idom[root as usize] = None;
        let mut depth = vec![0; graph.len()];
        for node in postorder.iter().rev() {
            if let Some(parent) = idom[*node as usize] {
                depth[*node as usize] = depth[parent as usize] + 1;
            }
        }
        Dominators { root, idom, depth }
    }

    /// `None` for the root and for nodes that the root does not reach.
    pub fn immediate(&self, node: u32) -> Option<u32> {
        self.idom[node as usize]
    }

    pub fn is_reachable(&self, node: u32) -> bool {
        node == self.root || self.idom[node as usize].is_some()
    }

    /// Whether every path from the root to `b` passes `a`; a node dominates itself. False for unreachable nodes.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        if !self.is_reachable(a) || !self.is_reachable(b) {
            return false;
        }
        let mut node = b;
        while self.depth[node as usize] > self.depth[a as usize] {
            node = self.idom[node as usize].expect("only the root has no parent, and its depth is 0");
        }
        node == a
    }
}

fn meet(idom: &[Option<u32>], number: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        let deeper = if number[a as usize] < number[b as usize] { &mut a } else { &mut b };
        *deeper = idom[*deeper as usize].expect("only nodes that have one are compared");
    }
    a
}

/// Dominators of the reversed graph, from a virtual exit. Sinks lead to it; so does one node of each endless loop, since otherwise nothing would post-dominate there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostDominators {
    tree: Dominators,
    exit: u32,
}

impl PostDominators {
    pub fn of(graph: &Graph) -> PostDominators {
        let (graph, exit) = with_exit(graph);
        PostDominators { tree: Dominators::of(&graph.reversed(), exit), exit }
    }

    /// The number of the virtual exit.
    pub fn exit(&self) -> u32 {
        self.exit
    }
    pub fn immediate(&self, node: u32) -> Option<u32> {
        self.tree.immediate(node)
    }
    /// Whether every path from `b` to the exit passes `a`.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        self.tree.dominates(a, b)
    }
}

/// The graph with a virtual exit that every node can reach.
fn with_exit(graph: &Graph) -> (Graph, u32) {
    let mut graph = graph.clone();
    let exit = graph.add_node();
    for node in (0..exit).filter(|n| graph.succs[*n as usize].is_empty()).collect::<Vec<_>>() {
        graph.add_edge(node, exit);
    }
    // Later nodes tend to be deeper inside, so a loop is left from its end rather than from before it.
    let mut ends = vec![false; graph.len()];
    mark_backwards(&graph, exit, &mut ends);
    for node in (0..exit).rev() {
        if !ends[node as usize] {
            graph.add_edge(node, exit);
            mark_backwards(&graph, node, &mut ends);
        }
    }
    (graph, exit)
}

fn mark_backwards(graph: &Graph, from: u32, seen: &mut [bool]) {
    let mut pending = vec![from];
    while let Some(node) = pending.pop() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            pending.extend(&graph.preds[node as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cfg::tests::{random, reachable};
    use super::*;

    /// `a` dominates `b` if `b` cannot be reached without `a`.
    fn check(graph: &Graph, root: u32, tree: &Dominators) {
        let all = reachable(graph, root, None);
        for a in 0..graph.len() as u32 {
            let without = reachable(graph, root, Some(a));
            for b in 0..graph.len() as u32 {
                let expected = all[a as usize] && all[b as usize] && (a == b || !without[b as usize]);
                assert_eq!(tree.dominates(a, b), expected, "{a} {b} in {graph:?}");
                if a != b && tree.immediate(b) == Some(a) {
                    let closer = (0..graph.len() as u32).find(|c| *c != a && *c != b && tree.dominates(a, *c) && tree.dominates(*c, b));
                    assert_eq!(closer, None);
                }
            }
        }
    }

    #[test]
    fn dominators_agree_with_their_definition() {
        for seed in 0..1500 {
            let graph = random(seed);
            check(&graph, 0, &Dominators::of(&graph, 0));
        }
    }

    #[test]
    fn post_dominators_are_dominators_of_the_reversed_graph_and_cover_all() {
        for seed in 0..1500 {
            let graph = random(seed);
            let (augmented, exit) = with_exit(&graph);
            let post = PostDominators::of(&graph);
            check(&augmented.reversed(), exit, &post.tree);
            assert!((0..exit).all(|node| post.dominates(exit, node)), "every node ends, also in endless loops");
        }
    }
}
