//! Elephant brain: remembers the objects that tests made by their exact run-time type (GRT-9), so that one declared as `Object` serves where its real
//! class is asked for; the cast is the builder's. Switched off, the declared type is all that counts.
//!
//! Entries are whole test cases cut to what the object needs. Which one is drawn is orienteering's say.

use std::cell::Cell;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::orienteering;
use crate::program::{Program, TypeId};
use crate::rng::Rng;
use crate::testcase::build::{Objects, Offer};
use crate::testcase::validity::Scope;
use crate::testcase::{TestCase, Var};

/// Entries kept of one type; then new ones take the places of old ones …
const MAX_OF_TYPE: usize = 60;
/// … but not of the first, which are the simplest.
const FIRST_KEPT: usize = 10;

/// An object and how it is made.
#[derive(Clone, Debug)]
struct Entry {
    test: Rc<TestCase>,
    var: Var,
    /// Steps of the run that showed it.
    cost: f64,
    calls: u32,
    selected: Cell<u32>,
    /// The package that it can be made in; `None` if everywhere.
    home: Option<Rc<str>>,
    /// Only good for building other objects (GRT-10).
    secondary: bool,
}

/// See the module documentation.
pub struct Pool<'p> {
    program: &'p Program,
    by_type: FxHashMap<TypeId, Vec<Entry>>,
    /// Types with entries, in the order of their first.
    types: Vec<TypeId>,
    known: FxHashSet<u64>,
    /// For a wanted type: how many of `types` were looked at, and those that fit.
    fitting: RefCell<FxHashMap<TypeId, Fitting>>,
    by_weight: bool,
}

type Fitting = (usize, Rc<[TypeId]>);

/// A value to remember.
pub struct Made<'t> {
    pub test: &'t TestCase,
    pub var: Var,
    /// Exact, or declared where exact types are not used.
    pub ty: TypeId,
    pub cost: f64,
    pub home: Option<Rc<str>>,
    pub secondary: bool,
}

impl<'p> Pool<'p> {
    /// `by_weight`: entries are drawn by their orienteering weight, else uniformly.
    pub fn new(program: &'p Program, by_weight: bool) -> Pool<'p> {
        Pool { program, by_type: FxHashMap::default(), types: Vec::new(), known: FxHashSet::default(), fitting: RefCell::default(), by_weight }
    }

    /// Remembers an object unless it is known. True if it is the first of its type.
    pub fn add(&mut self, made: Made<'_>) -> bool {
        let mut hasher = rustc_hash::FxHasher::default();
        (made.test, made.var, made.ty).hash(&mut hasher);
        if !self.known.insert(hasher.finish()) {
            return false;
        }
        let first = !self.by_type.contains_key(&made.ty);
        if first {
            self.types.push(made.ty);
        }
        let calls = made.test.stmts.iter().filter(|s| s.callee().is_some()).count() as u32;
        let entry = Entry {
            test: Rc::new(made.test.clone()),
            var: made.var,
            cost: made.cost,
            calls,
            selected: Cell::new(1),
            home: made.home,
            secondary: made.secondary,
        };
        let turn = self.known.len();
        let entries = self.by_type.entry(made.ty).or_default();
        if entries.len() < MAX_OF_TYPE {
            entries.push(entry);
        } else {
            entries[FIRST_KEPT + turn % (MAX_OF_TYPE - FIRST_KEPT)] = entry;
        }
        first
    }

    pub fn has(&self, ty: TypeId) -> bool {
        !self.fitting(ty).is_empty()
    }

    /// Up to `n` entries of exactly that type, lightest first: for checks that need an object of each type.
    pub fn of_exact(&self, ty: TypeId, n: usize) -> Vec<(Rc<TestCase>, Var)> {
        let mut entries: Vec<&Entry> = self.by_type.get(&ty).into_iter().flatten().collect();
        entries.sort_by_key(|e| e.test.len());
        entries.into_iter().take(n).map(|e| (e.test.clone(), e.var)).collect()
    }

    pub fn types(&self) -> &[TypeId] {
        &self.types
    }

    fn fitting(&self, ty: TypeId) -> Rc<[TypeId]> {
        let mut known = self.fitting.borrow_mut();
        let (seen, types) = known.entry(ty).or_insert_with(|| (0, Rc::new([])));
        if *seen < self.types.len() {
            let new = self.types[*seen..].iter().copied().filter(|t| self.program.is_subtype(*t, ty));
            *types = types.iter().copied().chain(new).collect();
            *seen = self.types.len();
        }
        types.clone()
    }

    fn draw(&self, entries: &[Entry], fits: impl Fn(&Entry) -> bool, rng: &mut Rng) -> Option<usize> {
        if self.by_weight {
            return rng.weighted(entries.iter().map(|e| if fits(e) { weight(e) } else { 0.0 }));
        }
        rng.weighted(entries.iter().map(|e| f64::from(u8::from(fits(e)))))
    }
}

fn weight(entry: &Entry) -> f64 {
    orienteering::weight(entry.selected.get(), entry.cost, entry.calls)
}

impl Objects for Pool<'_> {
    fn offer(&self, ty: TypeId, scope: &Scope, building: bool, rng: &mut Rng) -> Option<Offer> {
        let types = self.fitting(ty);
        for _ in 0..3 {
            let exact = rng.pick(&types)?;
            let entries = &self.by_type[exact];
            let fits = |e: &Entry| (building || !e.secondary) && e.home.as_ref().is_none_or(|h| **h == *scope.package);
            if let Some(i) = self.draw(entries, fits, rng) {
                let entry = &entries[i];
                entry.selected.set(entry.selected.get().saturating_add(1));
                return Some(Offer { test: entry.test.clone(), var: entry.var });
            }
        }
        None
    }
}
