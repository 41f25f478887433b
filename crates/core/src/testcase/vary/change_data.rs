//! Change of a value without declared type: a step somewhere inside it, another structure around it, another value of its kind, or any.

use super::{Context, edit_text};
use crate::program::{MethodId, Shape};
use crate::rng::Rng;
use crate::testcase::build::dynamic::{hashable, kind_of, magnitude};
use crate::testcase::build::{Maker, binary, splice};
use crate::testcase::{Data, Stmt, TestCase, Value, Var};

const MAX_SIZE: usize = 120;

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let Stmt::Data(old) = &test.stmts[at] else { return None };
    let param = param_of(test, at);
    if *old == Data::Absent || rng.chance(0.12) {
        return remade(context, rng, test, at, param);
    }
    if rng.chance(0.08) && param.is_some_and(|(m, i)| context.palette.program.parameters(m).get(i).is_some_and(|p| p.optional)) {
        return replaced(test, at, Data::Absent);
    }
    if old.size() > 1 && rng.chance(GRAFT) {
        let new = grafted(rng, old);
        return if new.size() > MAX_SIZE { None } else { replaced(test, at, new) };
    }
    let n = rng.below(old.size());
    let mut new = old.clone();
    let grown = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        if let Some(node) = new.nth_mut(n) {
            let step = step(context, &mut maker, node, n == 0);
            *node = step;
        }
        Some(maker.test)
    })?;
    tidy(&mut new);
    if new.size() > MAX_SIZE {
        return None;
    }
    let place = at + grown.len() - test.len();
    let mut changed = grown;
    // operands inside the old value moved nowhere: they precede `at`
    changed.stmts[place] = Stmt::Data(new);
    let changed = changed.sweep();
    (changed != *test).then_some(changed)
}

/// The parameter that the value is an argument of, if a call uses it directly.
fn param_of(test: &TestCase, at: usize) -> Option<(MethodId, usize)> {
    let var = Var(at as u32);
    test.stmts[at..].iter().find_map(|s| match s {
        Stmt::New { ctor: m, args } | Stmt::Call { method: m, args, .. } => args.iter().position(|a| *a == var).map(|i| (*m, i)),
        _ => None,
    })
}

fn replaced(test: &TestCase, at: usize, data: Data) -> Option<TestCase> {
    let mut changed = test.clone();
    changed.stmts[at] = Stmt::Data(data);
    let changed = changed.sweep();
    (changed != *test).then_some(changed)
}

/// Another value for the same place.
fn remade(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize, param: Option<(MethodId, usize)>) -> Option<TestCase> {
    let object = context.palette.program.well_known().object;
    let mut made = None;
    let longer = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        made = maker.value(object, param);
        made.map(|_| maker.test)
    })?;
    let (old, made) = (Var((longer.len() - test.len() + at) as u32), made?);
    let mut changed = longer;
    for s in &mut changed.stmts {
        s.operands_mut().into_iter().filter(|v| **v == old).for_each(|v| *v = made);
    }
    let changed = changed.sweep();
    (changed != *test).then_some(changed)
}

/// How often a part of a value is put in at another place of it: trees are made of trees.
const GRAFT: f64 = 0.06;

/// With a copy of one of its parts somewhere else.
fn grafted(rng: &mut Rng, old: &Data) -> Data {
    let mut new = old.clone();
    let part = old.nth(rng.below(old.size())).cloned().unwrap_or(Data::None);
    let listed = rng.chance(0.4);
    let to = rng.below(old.size());
    let whole = to == 0;
    let Some(place) = new.nth_mut(to) else { return new };
    match place {
        Data::List(items) => items.push(part),
        Data::Dict(pairs) if !pairs.is_empty() && (whole || rng.chance(0.5)) => {
            let at = rng.below(pairs.len());
            pairs[at].1 = if listed { Data::List(vec![part]) } else { part };
        }
        _ if whole => {}
        other => *other = if listed { Data::List(vec![part]) } else { part },
    }
    tidy(&mut new);
    new
}

/// How often a number changes by its digits: integers have no bounds, and the code that names or groups them often has.
const DIGITS: f64 = 0.15;

/// What a value inside becomes; `top` if it is the whole.
fn step(context: &Context<'_, '_>, maker: &mut Maker<'_, '_>, node: &Data, top: bool) -> Data {
    if !top && maker.rng.chance(0.1) {
        return maker.data(&Shape::Any, 1);
    }
    if maker.rng.chance(0.04) {
        return wrapped(maker.rng, node.clone());
    }
    if let Data::Class { bases, members, record } = node {
        let members = class_step(maker, bases, members);
        return Data::Class { bases: bases.clone(), members, record: *record };
    }
    if let Some(other) = type_step(maker, node) {
        return other;
    }
    let fresh = maker.rng.chance(0.2);
    match node {
        _ if fresh => maker.data(&kind_of(node), 1),
        Data::Bool(b) => Data::Bool(!b),
        Data::Int(v) => Data::Int(integer(maker.rng, *v)),
        Data::Float(bits) => match super::change_literal::nudge(maker.rng, Value::Double(*bits)) {
            Value::Double(bits) => Data::Float(bits),
            other => Data::float(other.as_f64()),
        },
        Data::Str(s) => Data::Str(edit_text::edit(context, maker.rng, s)),
        Data::Bytes(b) => Data::Bytes(bytes(context, maker.rng, b)),
        Data::List(items) => Data::List(items_step(maker, items)),
        Data::Tuple(items) => Data::Tuple(items_step(maker, items)),
        Data::Set(items) => Data::Set(items_step(maker, items)),
        Data::Iterator(items) => Data::Iterator(items_step(maker, items)),
        Data::Dict(pairs) => Data::Dict(pairs_step(maker, pairs)),
        Data::Object(attributes) if maker.rng.chance(0.5) && !maker.facts.lacking().is_empty() => grown(maker, attributes),
        Data::Object(attributes) if !attributes.is_empty() => {
            let mut attributes = attributes.clone();
            let i = maker.rng.below(attributes.len());
            attributes[i].1 = maker.data(&Shape::Any, 1);
            Data::Object(attributes)
        }
        _ => maker.data(&kind_of(node), 1),
    }
}

/// With one of the attributes that objects were asked for in vain.
fn grown(maker: &mut Maker<'_, '_>, attributes: &[(String, Data)]) -> Data {
    let mut attributes = attributes.to_vec();
    let lacking = maker.rng.pick(maker.facts.lacking()).filter(|name| attributes.iter().all(|(known, _)| **known != ***name));
    if let Some(name) = lacking {
        attributes.push((name.to_string(), maker.data(&Shape::Any, 1)));
    }
    Data::Object(attributes)
}

/// Another member, one less, or another value for one.
fn class_step(maker: &mut Maker<'_, '_>, bases: &[Data], members: &[(String, Data)]) -> Vec<(String, Data)> {
    let mut members = members.to_vec();
    let at = maker.rng.below(members.len() + 1);
    let base = bases.iter().find_map(|b| match b {
        Data::Var(v) => maker.test.stmts.get(v.0 as usize).and_then(|s| if let Stmt::Class(ty) = s { ty.as_ref() } else { None }),
        _ => None,
    });
    let (name, value) = maker.member(base, 1);
    match maker.rng.below(4) {
        0 if at < members.len() => drop(members.remove(at)),
        1 if at < members.len() => members[at].1 = value,
        _ if members.iter().all(|(known, _)| *known != name) => members.push((name, value)),
        _ => {}
    }
    members
}

/// Another type for one that is declared; what the members of a class are declared as is a dictionary of such.
fn type_step(maker: &mut Maker<'_, '_>, node: &Data) -> Option<Data> {
    let is_type = |data: &Data| match data {
        Data::Of { .. } => true,
        Data::Var(v) => matches!(maker.test.stmts.get(v.0 as usize), Some(Stmt::Class(_))),
        _ => false,
    };
    match node {
        Data::Dict(pairs) if !pairs.is_empty() && pairs.iter().all(|(_, v)| is_type(v)) => {
            let mut pairs = pairs.clone();
            let at = maker.rng.below(pairs.len());
            pairs[at].1 = maker.declared_type(1)?;
            Some(Data::Dict(pairs))
        }
        _ if is_type(node) && maker.rng.chance(0.8) => maker.declared_type(1),
        _ => None,
    }
}

fn wrapped(rng: &mut Rng, inner: Data) -> Data {
    match rng.below(4) {
        0 => Data::Tuple(vec![inner]),
        1 => Data::Dict(vec![(Data::text("a"), inner)]),
        _ => Data::List(vec![inner]),
    }
}

fn integer(rng: &mut Rng, v: i128) -> i128 {
    if rng.chance(DIGITS) {
        return match rng.below(4) {
            0 => v.saturating_mul(10),
            1 => v.saturating_mul(1000).saturating_add(rng.below(1000) as i128),
            2 => v / 10,
            _ => magnitude(rng),
        };
    }
    match i64::try_from(v) {
        Ok(v) => super::change_literal::nudge(rng, Value::Long(v)).as_i64().map_or(0, i128::from),
        Err(_) => v / 2,
    }
}

/// A step from `old`: as a text, or as numbers within it.
pub(super) fn bytes(context: &Context<'_, '_>, rng: &mut Rng, old: &[u8]) -> Vec<u8> {
    if rng.chance(0.4) {
        return binary::from_text(&edit_text::edit(context, rng, &binary::to_text(old)));
    }
    let mut new = old.to_vec();
    let at = rng.below(new.len() + 1);
    match rng.below(8) {
        5 => binary::fill(context.facts, rng, &mut new),
        6 | 7 if !new.is_empty() => binary::write_number(context.facts, rng, &mut new),
        0 => new.insert(at, byte(context, rng)),
        1 if at < new.len() => new[at] = byte(context, rng),
        2 => {
            let end = (at + 1 + rng.below(4)).min(new.len());
            new.extend_from_within(at..end);
        }
        3 => new.extend(std::iter::repeat_n(byte(context, rng), 1 + rng.below(3))),
        _ => new.truncate(at),
    }
    new
}

/// A byte: one that marks an end or a limit, one that a comparison saw, or any.
fn byte(context: &Context<'_, '_>, rng: &mut Rng) -> u8 {
    const MARKS: [u8; 6] = [0, 1, 0x7f, 0x80, 0x81, 0xff];
    let seen = rng.pick(context.facts.ints()).and_then(|v| u8::try_from(*v).ok());
    match (rng.below(3), seen) {
        (0, Some(seen)) => seen,
        (1, _) => MARKS[rng.below(MARKS.len())],
        _ => rng.below(256) as u8,
    }
}

fn items_step(maker: &mut Maker<'_, '_>, items: &[Data]) -> Vec<Data> {
    let mut items = items.to_vec();
    let at = maker.rng.below(items.len() + 1);
    match maker.rng.below(5) {
        0 | 1 => {
            let like = maker.rng.pick(&items).map_or(Shape::Any, kind_of);
            let shape = if maker.rng.chance(0.7) { like } else { Shape::Any };
            items.insert(at, maker.data(&shape, 1));
        }
        2 if at < items.len() => drop(items.remove(at)),
        3 if at < items.len() => items.insert(at, items[at].clone()),
        _ if items.len() >= 2 => {
            let other = maker.rng.below(items.len());
            items.swap(at.min(other), other);
        }
        _ => items.push(maker.data(&Shape::Any, 1)),
    }
    items
}

fn pairs_step(maker: &mut Maker<'_, '_>, pairs: &[(Data, Data)]) -> Vec<(Data, Data)> {
    let mut pairs = pairs.to_vec();
    let at = maker.rng.below(pairs.len() + 1);
    match maker.rng.below(4) {
        0 if at < pairs.len() => drop(pairs.remove(at)),
        1 if at < pairs.len() => pairs[at].1 = maker.data(&Shape::Any, 1),
        _ => {
            if let Data::Dict(more) = maker.data(&Shape::Dict(Box::new((Shape::Str, Shape::Any))), 1) {
                pairs.extend(more.into_iter().take(1));
            }
        }
    }
    pairs
}

/// Keys are hashable and differ; nothing but an argument is left out.
pub(super) fn tidy(data: &mut Data) {
    for child in data.children_mut() {
        if *child == Data::Absent {
            *child = Data::None;
        }
        tidy(child);
    }
    match data {
        Data::Dict(pairs) => {
            let mut kept: Vec<(Data, Data)> = Vec::with_capacity(pairs.len());
            for (key, value) in std::mem::take(pairs) {
                if hashable(&key) && kept.iter().all(|(k, _)| *k != key) {
                    kept.push((key, value));
                }
            }
            *pairs = kept;
        }
        Data::Set(items) => items.retain(hashable),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_grows_from_its_own_parts() {
        let leaf = Data::Dict(vec![(Data::text("name"), Data::text("a")), (Data::text("children"), Data::List(Vec::new()))]);
        let mut rng = Rng::new(3);
        let grown: Vec<Data> = (0..200).map(|_| grafted(&mut rng, &leaf)).collect();
        let nested = |d: &Data| matches!(d, Data::Dict(pairs) if pairs[1].1 == Data::List(vec![leaf.clone()]));
        assert!(grown.iter().any(nested), "a tree in its own list of children");
        assert!(grown.iter().all(|d| matches!(d, Data::Dict(_))), "the whole stays what it is");
    }
}
