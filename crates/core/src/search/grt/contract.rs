//! The promises that objects make about equality, hash codes, order and texts (GRT-15), each with the test that would show it broken.
//!
//! Whether a run of that test breaks the promise is read from its values. Nothing here executes anything, nor judges exceptions (`oracle`).

use crate::execution::Returned;
use crate::program::{MethodId, MethodKind, Program, Ty, TypeId};
use crate::target::suite::{Claim, Expect};
use crate::testcase::{Stmt, TestCase, Value, Var};

/// A promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    EqualsReflexive,
    EqualsNull,
    HashCode,
    ToString,
    CompareReflexive,
    /// Of two objects.
    EqualsSymmetric,
    HashCodeEquals,
    CompareAntisymmetric,
    CompareEquals,
}

/// Of one object.
const ALONE: [Contract; 5] = [Contract::EqualsReflexive, Contract::EqualsNull, Contract::HashCode, Contract::ToString, Contract::CompareReflexive];
const PAIRS: [Contract; 4] = [Contract::EqualsSymmetric, Contract::HashCodeEquals, Contract::CompareAntisymmetric, Contract::CompareEquals];

impl Contract {
    pub fn reason(self) -> &'static str {
        match self {
            Contract::EqualsReflexive => "equals is not reflexive: an object does not equal itself",
            Contract::EqualsNull => "equals(null) is not false",
            Contract::EqualsSymmetric => "equals is not symmetric: a equals b, but b does not equal a",
            Contract::HashCode => "hashCode throws",
            Contract::ToString => "toString throws",
            Contract::HashCodeEquals => "hashCode is not consistent with equals: equal objects have different hash codes",
            Contract::CompareReflexive => "compareTo is not reflexive: an object is not in one place with itself",
            Contract::CompareAntisymmetric => "compareTo is not antisymmetric: sgn(a.compareTo(b)) is not -sgn(b.compareTo(a))",
            Contract::CompareEquals => "compareTo is not consistent with equals: equal objects do not compare as equal",
        }
    }

    /// Whether it is about two objects.
    pub fn is_of_two(self) -> bool {
        PAIRS.contains(&self)
    }

    /// What a run that gave `values` shows to be broken: how the test ends, and what it asserts on the way. `None` if the promise was kept.
    pub fn broken(self, values: &[Option<Returned>]) -> Option<(Expect, Vec<(Var, Returned)>)> {
        let last = values.len().checked_sub(1)?;
        let at = |back: usize| last.checked_sub(back).map(|i| (Var(i as u32), values[i].clone()));
        let truth = |back: usize| match at(back)? {
            (_, Some(Returned::Prim(Value::Bool(v)))) => Some(v),
            _ => None,
        };
        let number = |back: usize| match at(back)? {
            (_, Some(Returned::Prim(Value::Int(v)))) => Some(v),
            _ => None,
        };
        let said = |back: usize| at(back).and_then(|(var, value)| Some((var, value?))).into_iter().collect::<Vec<_>>();
        let bool_should = |should: bool| (truth(0)? != should).then(|| (Expect::Broken { should }, Vec::new()));
        let unfit = |claim: Claim, said: Vec<(Var, Returned)>| Some((Expect::Unfit { claim }, said));
        match self {
            Contract::EqualsReflexive => bool_should(true),
            Contract::EqualsNull => bool_should(false),
            Contract::HashCode | Contract::ToString => None,
            Contract::CompareReflexive => (number(0)? != 0).then(|| unfit(Claim::Zero, Vec::new()))?,
            Contract::EqualsSymmetric => (truth(1)? != truth(0)?).then(|| (Expect::Broken { should: !truth(0).unwrap_or_default() }, said(1))),
            Contract::HashCodeEquals => (truth(2)? && number(1)? != number(0)?).then(|| unfit(Claim::SameAs(at(1)?.0), said(2)))?,
            Contract::CompareAntisymmetric => (number(1)?.signum() != -number(0)?.signum()).then(|| unfit(Claim::OppositeSign(at(1)?.0), Vec::new()))?,
            Contract::CompareEquals => (truth(1)? && number(0)? != 0).then(|| unfit(Claim::Zero, said(1)))?,
        }
    }
}

/// The methods that contracts are about.
#[derive(Clone, Copy, Debug)]
pub struct RootMethods {
    equals: MethodId,
    hash: MethodId,
    text: MethodId,
    root: TypeId,
    order: Option<(TypeId, MethodId)>,
}

impl RootMethods {
    /// `order`: the type that orders objects, and its method.
    pub fn find(program: &Program, order: (&str, &str)) -> Option<RootMethods> {
        let root = program.well_known().object.as_ref()?;
        let named = |ty: TypeId, name: &str, params: usize| program.methods_named(ty, name).find(|m| program.signature(*m).params.len() == params);
        let order = program.find_type(order.0).and_then(|ty| Some((ty, named(ty, order.1, 1)?)));
        Some(RootMethods { equals: named(root, "equals", 1)?, hash: named(root, "hashCode", 0)?, text: named(root, "toString", 0)?, root, order })
    }

    /// Whether the type, or one above it, says for itself what the method does.
    fn overrides(&self, program: &Program, ty: TypeId, method: MethodId) -> bool {
        let (name, desc) = (program.method_name(method), program.method_desc(method));
        program.resolve_method(ty, name, desc).is_some_and(|m| program.method(m).owner != self.root && program.method(m).kind == MethodKind::Instance)
    }

    /// What a type promises of its own.
    pub fn contracts(&self, program: &Program, ty: TypeId) -> Vec<Contract> {
        let (equals, hash, text) = (self.overrides(program, ty, self.equals), self.overrides(program, ty, self.hash), self.overrides(program, ty, self.text));
        let ordered = self.order.is_some_and(|(order, _)| program.is_subtype(ty, order));
        let made = |c: &Contract| match c {
            Contract::EqualsReflexive | Contract::EqualsNull | Contract::EqualsSymmetric | Contract::HashCodeEquals => equals,
            Contract::HashCode => hash,
            Contract::ToString => text,
            Contract::CompareReflexive | Contract::CompareAntisymmetric => ordered,
            Contract::CompareEquals => ordered && equals,
        };
        ALONE.into_iter().chain(PAIRS).filter(made).collect()
    }

    /// The test that would show that the contract is broken for objects; for one that is about a single object, `b` is not looked at.
    pub fn test(&self, contract: Contract, a: (&TestCase, Var), b: (&TestCase, Var)) -> TestCase {
        let mut test = a.0.clone();
        let x = a.1;
        let y = if contract.is_of_two() { append(&mut test, b) } else { x };
        let call = |method, recv, args| Stmt::Call { method, recv: Some(recv), args };
        let compare = self.order.map_or(self.equals, |(_, m)| m);
        match contract {
            Contract::EqualsReflexive => drop(test.push(call(self.equals, x, vec![x]))),
            Contract::EqualsNull => {
                let null = test.push(Stmt::Null(Ty::reference(self.root)));
                test.push(call(self.equals, x, vec![null]));
            }
            Contract::HashCode => drop(test.push(call(self.hash, x, Vec::new()))),
            Contract::ToString => drop(test.push(call(self.text, x, Vec::new()))),
            Contract::CompareReflexive => drop(test.push(call(compare, x, vec![x]))),
            Contract::EqualsSymmetric => {
                test.push(call(self.equals, x, vec![y]));
                test.push(call(self.equals, y, vec![x]));
            }
            Contract::HashCodeEquals => {
                test.push(call(self.equals, x, vec![y]));
                test.push(call(self.hash, x, Vec::new()));
                test.push(call(self.hash, y, Vec::new()));
            }
            Contract::CompareAntisymmetric => {
                test.push(call(compare, x, vec![y]));
                test.push(call(compare, y, vec![x]));
            }
            Contract::CompareEquals => {
                test.push(call(self.equals, x, vec![y]));
                test.push(call(compare, x, vec![y]));
            }
        }
        test
    }
}

/// Puts another test behind; where its value is then.
fn append(test: &mut TestCase, (other, var): (&TestCase, Var)) -> Var {
    Var(var.0 + test.append(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(v: i32) -> Option<Returned> {
        Some(Returned::Prim(Value::Int(v)))
    }
    fn truth(v: bool) -> Option<Returned> {
        Some(Returned::Prim(Value::Bool(v)))
    }

    #[test]
    fn grt_15_equality_promises() {
        assert!(Contract::EqualsReflexive.broken(&[truth(false)]).is_some() && Contract::EqualsReflexive.broken(&[truth(true)]).is_none());
        assert!(Contract::EqualsNull.broken(&[None, truth(true)]).is_some() && Contract::EqualsNull.broken(&[None, truth(false)]).is_none());
        let (expect, said) = Contract::EqualsSymmetric.broken(&[truth(true), truth(false)]).unwrap();
        assert_eq!((expect, said.len()), (Expect::Broken { should: true }, 1));
        assert!(Contract::EqualsSymmetric.broken(&[truth(true), truth(true)]).is_none());
    }

    #[test]
    fn grt_15_equal_objects_have_one_hash_code() {
        let (expect, said) = Contract::HashCodeEquals.broken(&[truth(true), int(1), int(2)]).unwrap();
        assert_eq!((expect, said), (Expect::Unfit { claim: Claim::SameAs(Var(1)) }, vec![(Var(0), Returned::Prim(Value::Bool(true)))]));
        assert!(Contract::HashCodeEquals.broken(&[truth(false), int(1), int(2)]).is_none(), "others may differ");
        assert!(Contract::HashCodeEquals.broken(&[truth(true), int(2), int(2)]).is_none());
    }

    #[test]
    fn grt_15_order_promises() {
        let shown = |a, b| Contract::CompareAntisymmetric.broken(&[int(a), int(b)]).is_some();
        assert!(shown(1, 1) && shown(0, -3) && !shown(5, -1) && !shown(0, 0));
        assert!(Contract::CompareReflexive.broken(&[int(1)]).is_some() && Contract::CompareReflexive.broken(&[int(0)]).is_none());
        assert!(Contract::CompareEquals.broken(&[truth(true), int(4)]).is_some() && Contract::CompareEquals.broken(&[truth(false), int(4)]).is_none());
    }

    #[test]
    fn what_did_not_return_breaks_nothing() {
        for contract in ALONE.into_iter().chain(PAIRS) {
            assert!(contract.broken(&[]).is_none() && contract.broken(&[None]).is_none() && contract.broken(&[None, None, None]).is_none(), "{contract:?}");
        }
    }
}
