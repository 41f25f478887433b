//! What tests have covered: the observed points of the program and both sides of its branches.
//!
//! An *element* is a number: first the points, then two for each branch. Nothing here knows which test covered what; see `suite`.

use crate::execution::{BranchSeen, Execution};
use crate::probe::{MethodProbes, ProbePlan, Relation};

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Coverage {
    covered: Vec<bool>,
    points: u32,
    relations: Vec<Relation>,
    count: usize,
}

/// How much of something is covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub covered: u32,
    pub total: u32,
}

impl Share {
    pub fn add(&mut self, other: Share) {
        self.covered += other.covered;
        self.total += other.total;
    }
    pub fn open(self) -> u32 {
        self.total - self.covered
    }
    pub fn percent(self) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * f64::from(self.covered) / f64::from(self.total) }
    }
}

impl Coverage {
    pub fn new(plan: &ProbePlan) -> Coverage {
        let mut relations = vec![Relation::Eq; plan.branches as usize];
        for method in plan.methods() {
            for (i, branch) in method.branches.iter().enumerate() {
                relations[method.first_branch as usize + i] = branch.taken_if;
            }
        }
        Coverage { covered: vec![false; plan.points as usize + 2 * plan.branches as usize], points: plan.points, relations, count: 0 }
    }

    /// The elements that an execution covered, ascending.
    pub fn elements(&self, execution: &Execution) -> Vec<u32> {
        let mut out: Vec<u32> = execution.hits.iter().copied().filter(|h| *h < self.points).collect();
        for seen in &execution.branches {
            let Some(relation) = self.relations.get(seen.branch as usize) else { continue };
            let (jumps, falls) = sides(*relation, seen);
            let first = self.points + 2 * seen.branch;
            out.extend([(jumps, first), (falls, first + 1)].into_iter().filter(|(seen, _)| *seen).map(|(_, element)| element));
        }
        out
    }

    /// Whether an execution covers anything new; cheaper than [`Coverage::elements`].
    pub fn is_new(&self, execution: &Execution) -> bool {
        let open = |element: u32| self.covered.get(element as usize) == Some(&false);
        execution.hits.iter().any(|h| *h < self.points && open(*h))
            || execution.branches.iter().any(|seen| {
                let Some(relation) = self.relations.get(seen.branch as usize) else { return false };
                let first = self.points + 2 * seen.branch;
                if !open(first) && !open(first + 1) {
                    return false;
                }
                let (jumps, falls) = sides(*relation, seen);
                jumps && open(first) || falls && open(first + 1)
            })
    }

    /// Marks elements; how many of them were new.
    pub fn cover(&mut self, elements: &[u32]) -> usize {
        let mut new = 0;
        for element in elements {
            if let Some(slot) = self.covered.get_mut(*element as usize) {
                new += usize::from(!std::mem::replace(slot, true));
            }
        }
        self.count += new;
        new
    }

    /// Nothing is covered.
    pub fn start_anew(&mut self) {
        self.covered.fill(false);
        self.count = 0;
    }

    pub fn covered(&self) -> usize {
        self.count
    }

    /// Sides of the branches of a method.
    pub fn branches_of(&self, method: &MethodProbes) -> Share {
        let first = (self.points + 2 * method.first_branch) as usize;
        self.share(first, 2 * method.branches.len())
    }

    /// Observed points of a method.
    pub fn points_of(&self, method: &MethodProbes) -> Share {
        self.share(method.first_point as usize, method.points.len())
    }

    fn share(&self, first: usize, len: usize) -> Share {
        let covered = self.covered[first..first + len].iter().filter(|c| **c).count();
        Share { covered: covered as u32, total: len as u32 }
    }

    /// All branches of the program.
    pub fn branches(&self) -> Share {
        self.share(self.points as usize, 2 * self.relations.len())
    }
}

/// Whether the jump was taken, and whether it was not.
fn sides(relation: Relation, seen: &BranchSeen) -> (bool, bool) {
    let (above, below, equal) = (seen.above.is_finite(), seen.below.is_finite(), seen.equal);
    let unequal = above || below;
    match relation {
        Relation::Eq => (equal, unequal),
        Relation::Ne => (unequal, equal),
        Relation::Lt => (below, above || equal),
        Relation::Ge => (above || equal, below),
        Relation::Gt => (above, below || equal),
        Relation::Le => (below || equal, above),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_two_sides() {
        let seen = |above: bool, below: bool, equal| {
            let far = |yes| if yes { 1.0 } else { f64::INFINITY };
            BranchSeen { branch: 0, above: far(above), below: far(below), equal, hint: f64::INFINITY }
        };
        for (relation, above, below, equal) in [
            (Relation::Eq, (false, true), (false, true), (true, false)),
            (Relation::Ne, (true, false), (true, false), (false, true)),
            (Relation::Lt, (false, true), (true, false), (false, true)),
            (Relation::Ge, (true, false), (false, true), (true, false)),
            (Relation::Gt, (true, false), (false, true), (false, true)),
            (Relation::Le, (false, true), (true, false), (true, false)),
        ] {
            assert_eq!(sides(relation, &seen(true, false, false)), above, "{relation:?}");
            assert_eq!(sides(relation, &seen(false, true, false)), below, "{relation:?}");
            assert_eq!(sides(relation, &seen(false, false, true)), equal, "{relation:?}");
        }
        assert_eq!(sides(Relation::Lt, &seen(true, true, true)), (true, true));
    }
}
