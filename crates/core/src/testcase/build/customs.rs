//! What people use of a platform: its usual implementations of an interface, its usual factories, how its containers are filled.
//!
//! A platform has hundreds of types for some wanted ones, and most of them open files, wait for another thread, or are never seen as arguments.
//! The lists are the language's; here they are looked up once.

use rustc_hash::FxHashMap;

use super::Maker;
use crate::program::{MethodId, MethodKind, Program, Ty, TypeId};
use crate::rng::Rng;
use crate::search::targets::BuildRules;
use crate::testcase::{Stmt, Var};

/// A new container gets its first element with this probability, and each further one.
const FILL: f64 = 0.45;

/// See the module documentation.
#[derive(Default)]
pub struct Customs {
    /// Types that are used everywhere, by their rank.
    staples: FxHashMap<TypeId, usize>,
    /// By the type they return.
    factories: FxHashMap<Ty, Vec<MethodId>>,
    fillers: Vec<MethodId>,
}

impl Customs {
    pub fn new(program: &Program, rules: &BuildRules) -> Customs {
        let staples = rules.staples.iter().enumerate().filter_map(|(i, name)| Some((program.find_type(name)?, i))).collect();
        let mut factories: FxHashMap<Ty, Vec<MethodId>> = FxHashMap::default();
        for m in named(program, rules.factories) {
            factories.entry(program.signature(m).ret).or_default().push(m);
        }
        Customs { staples, factories, fillers: named(program, rules.fillers) }
    }
    pub fn rank(&self, ty: TypeId) -> Option<usize> {
        self.staples.get(&ty).copied()
    }
    /// A type that is used everywhere, whichever.
    pub fn some_staple(&self, rng: &mut Rng) -> Option<TypeId> {
        let mut all: Vec<(usize, TypeId)> = self.staples.iter().map(|(ty, rank)| (*rank, *ty)).collect();
        all.sort_unstable_by_key(|(rank, _)| *rank);
        rng.pick(&all).map(|(_, ty)| *ty)
    }
    pub fn factories(&self, ty: Ty) -> &[MethodId] {
        self.factories.get(&ty).map_or(&[], |m| m)
    }
}

fn named(program: &Program, members: &[(&str, &str)]) -> Vec<MethodId> {
    let types = members.iter().filter_map(|(class, name)| Some((program.find_type(class)?, *name)));
    types.flat_map(|(t, name)| program.methods_named(t, name).collect::<Vec<_>>()).filter(|m| program.method(*m).kind != MethodKind::Constructor).collect()
}

impl Maker<'_, '_> {
    /// An array that comes out of something else, such as the bytes of a text.
    pub(super) fn array_from_factory(&mut self, ty: Ty) -> Option<Var> {
        let program = self.palette.program;
        let plain: Vec<MethodId> = self.palette.customs.factories(ty).iter().copied().filter(|m| program.signature(*m).params.is_empty()).collect();
        let method = *self.rng.pick(&plain)?;
        self.depth += 1;
        let made = if self.rng.chance(0.6) { self.call(method) } else { None };
        self.depth -= 1;
        made
    }

    /// Puts something into a container that was just made.
    pub(super) fn fill(&mut self, object: Var) {
        let program = self.palette.program;
        let Some(ty) = self.test.ty(program, object).as_ref() else { return };
        if !matches!(self.test.stmt(object), Stmt::New { .. }) {
            return;
        }
        let fits = |m: &&MethodId| program.is_subtype(ty, program.method(**m).owner);
        let fillers: Vec<MethodId> = self.palette.customs.fillers.iter().filter(fits).copied().collect();
        while !fillers.is_empty() && self.test.len() < crate::testcase::validity::MAX_STATEMENTS && self.rng.chance(FILL) {
            let filler = fillers[self.rng.below(fillers.len())];
            self.depth += 1;
            self.filling.clone_from(&self.bound);
            let filled = self.call_on(filler, object);
            self.filling = None;
            self.depth -= 1;
            if filled.is_none() {
                return;
            }
        }
    }
}
