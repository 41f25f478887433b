//! Constant mining: what the classes under test name, compare with and compute (GRT-2), weighted by how telling it is (GRT-3), and the constants of one
//! class for its own methods (GRT-4).
//!
//! Folding and propagation are those of `program::literals`; the pool is the one that every search builds with.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Literal, Program, TypeId};
use crate::testcase::build::LiteralPool;

/// See the module documentation.
#[derive(Debug, Default)]
pub struct Mined {
    /// All constants, by tf-idf.
    pub global: LiteralPool,
    /// Those of each class.
    pub local: FxHashMap<TypeId, LiteralPool>,
}

/// `tfidf(t, D) = tf · ln((|D| + 1) / (|D| + 1 − |{d ∈ D : t ∈ d}|))`; D are the classes, tf the occurrences in all of them.
pub fn tf_idf(occurrences: u32, classes: usize, containing: usize) -> f64 {
    let all = (classes + 1) as f64;
    f64::from(occurrences) * (all / (all - containing as f64)).ln()
}

/// A constant, comparable: numbers of any width that mean the same are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Int(i64),
    Real(u64),
    Text(String),
}

fn key(literal: &Literal) -> Key {
    match literal {
        Literal::Int(v) => Key::Int(i64::from(*v)),
        Literal::Long(v) => Key::Int(*v),
        Literal::Float(v) => Key::Real(f64::from(*v).to_bits()),
        Literal::Double(v) => Key::Real(v.to_bits()),
        Literal::Str(text) => Key::Text(text.clone()),
    }
}

/// Mines the bodies and constant fields of `types`.
pub fn mine(program: &Program, types: &[TypeId]) -> Mined {
    let mut mined = Mined::default();
    let mut occurrences: FxHashMap<Key, (u32, usize)> = FxHashMap::default();
    let mut known: FxHashSet<Key> = FxHashSet::default();
    for ty in types {
        let mut here: FxHashSet<Key> = FxHashSet::default();
        let mut local = LiteralPool::default();
        for literal in constants(program, *ty) {
            let key = key(&literal);
            let (count, classes) = occurrences.entry(key.clone()).or_default();
            *count += 1;
            if here.insert(key.clone()) {
                *classes += 1;
                local.add(&literal);
            }
            if known.insert(key) {
                mined.global.add(&literal);
            }
        }
        if !here.is_empty() {
            mined.local.insert(*ty, local);
        }
    }
    // what is in the pool but was not counted (parts of texts) keeps a chance
    mined.global.weigh(|l| occurrences.get(&key(l)).map_or(f64::MIN_POSITIVE, |(n, classes)| tf_idf(*n, types.len(), *classes)));
    mined
}

fn constants(program: &Program, ty: TypeId) -> Vec<Literal> {
    let fields = program.fields_of(ty).filter_map(|f| program.field(f).constant.clone());
    let bodies = program.methods_of(ty).filter_map(|m| program.body(m)).flat_map(|body| body.literals());
    fields.chain(bodies).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P16, by hand: ln(11/10) = 0.09531, ln(11/1) = 2.39790.
    #[test]
    fn grt_3_weights_follow_the_table() {
        for (occurrences, classes, containing, expected) in [(1, 10, 1, 0.095_310), (3, 10, 1, 0.285_930), (1, 10, 10, 2.397_895), (20, 10, 5, 12.122_716)] {
            let weight = tf_idf(occurrences, classes, containing);
            assert!((weight - expected).abs() < 1e-5, "{occurrences} {classes} {containing}: {weight}");
        }
        assert!(tf_idf(1, 1, 1) > 0.0, "every constant keeps a chance");
    }
}
