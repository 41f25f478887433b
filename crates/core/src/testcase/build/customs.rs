//! What people use of a platform: its usual implementations of an interface, its usual factories, how its containers are filled.
//!
//! A platform has hundreds of types for some wanted ones, and most of them open files, wait for another thread, or are never seen as arguments.
//! The lists are the language's; here they are looked up once.

use rustc_hash::FxHashMap;

use super::{Maker, binary};
use crate::program::{FieldId, MethodId, MethodKind, Program, Ty, TypeId};
use crate::rng::Rng;
use crate::search::targets::BuildRules;
use crate::testcase::{Stmt, TestCase, Var};

/// A new container gets its first element with this probability, and each further one.
const FILL: f64 = 0.45;
/// How often an array of bytes is anything, rather than a plain text or a few elements.
const BINARY: f64 = 0.6;

/// See the module documentation.
#[derive(Default)]
pub struct Customs {
    /// Types that are used everywhere, by their rank.
    staples: FxHashMap<TypeId, usize>,
    /// By the type they return.
    factories: FxHashMap<Ty, Vec<MethodId>>,
    fillers: Vec<MethodId>,
    /// What makes bytes of a text, one for each character, and the encoding that it is given.
    bytes: Option<(MethodId, FieldId)>,
}

impl Customs {
    pub fn new(program: &Program, rules: &BuildRules) -> Customs {
        let staples = rules.staples.iter().enumerate().filter_map(|(i, name)| Some((program.find_type(name)?, i))).collect();
        let mut factories: FxHashMap<Ty, Vec<MethodId>> = FxHashMap::default();
        for m in named(program, rules.factories) {
            factories.entry(program.signature(m).ret).or_default().push(m);
        }
        Customs { staples, factories, fillers: named(program, rules.fillers), bytes: rules.bytes.and_then(|members| encoder(program, members)) }
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
    /// Whether the text at `at` stands for bytes.
    pub fn is_binary(&self, test: &TestCase, at: usize) -> bool {
        let Some((encode, _)) = self.bytes else { return false };
        let text = Var(at as u32);
        test.uses(text).any(|i| matches!(&test.stmts[i], Stmt::Call { method, recv, .. } if *method == encode && *recv == Some(text)))
    }
    /// The encoding under which a text stands for bytes.
    pub fn is_encoding(&self, field: FieldId) -> bool {
        self.bytes.is_some_and(|(_, encoding)| encoding == field)
    }
    pub fn factories(&self, ty: Ty) -> &[MethodId] {
        self.factories.get(&ty).map_or(&[], |m| m)
    }
}

fn encoder(program: &Program, [(class, name), (holder, encoding)]: [(&str, &str); 2]) -> Option<(MethodId, FieldId)> {
    let field = program.fields_of(program.find_type(holder)?).find(|f| program.field_name(*f) == encoding)?;
    let takes_it = |m: &MethodId| program.signature(*m).params[..] == [program.field(field).ty];
    let method = program.methods_named(program.find_type(class)?, name).find(takes_it)?;
    Some((method, field))
}

fn named(program: &Program, members: &[(&str, &str)]) -> Vec<MethodId> {
    let types = members.iter().filter_map(|(class, name)| Some((program.find_type(class)?, *name)));
    types.flat_map(|(t, name)| program.methods_named(t, name).collect::<Vec<_>>()).filter(|m| program.method(*m).kind != MethodKind::Constructor).collect()
}

impl Maker<'_, '_> {
    /// An array that comes out of something else, such as the bytes of a text.
    pub(super) fn array_from_factory(&mut self, ty: Ty) -> Option<Var> {
        let program = self.palette.program;
        if let Some(made) = self.bytes_of_text(ty) {
            return Some(made);
        }
        let plain: Vec<MethodId> = self.palette.customs.factories(ty).iter().copied().filter(|m| program.signature(*m).params.is_empty()).collect();
        let method = *self.rng.pick(&plain)?;
        self.depth += 1;
        let made = if self.rng.chance(0.6) { self.call(method) } else { None };
        self.depth -= 1;
        made
    }

    /// Bytes of any kind, written as a text: formats begin with words, and a text is changed more easily than hundreds of elements.
    fn bytes_of_text(&mut self, ty: Ty) -> Option<Var> {
        let (method, encoding) = self.palette.customs.bytes.filter(|(m, _)| self.palette.program.signature(*m).ret == ty)?;
        if !self.rng.chance(BINARY) {
            return None;
        }
        let text = binary::to_text(&binary::bytes(self.palette, self.facts, self.policy, self.rng));
        let recv = Some(self.test.push(Stmt::Str(text)));
        let encoding = self.test.push(Stmt::GetStatic(encoding));
        Some(self.test.push(Stmt::Call { method, recv, args: vec![encoding] }))
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
