//! Values without declared type: left out where they may be, parts removed, texts shortened, numbers towards 0.

use super::{Oracle, literals};
use crate::search::Stop;
use crate::testcase::{Data, Stmt, TestCase};

/// The value of statement `at`, made as small as it can be.
pub fn pass(oracle: &mut Oracle<'_, '_>, mut best: TestCase, at: usize) -> Result<TestCase, Stop> {
    if value(&best, at).is_none_or(|d| *d == Data::Absent) {
        return Ok(best);
    }
    if let Some(left_out) = attempt(oracle, &best, at, |d| *d = Data::Absent)? {
        return Ok(left_out);
    }
    let mut n = 0;
    while let Some(node) = value(&best, at).and_then(|d| d.nth(n)).cloned() {
        best = match smaller(oracle, &best, at, n, &node)? {
            // what took its place is looked at again
            Some(smaller) => {
                best = smaller;
                continue;
            }
            None => scalar(oracle, best, at, n, &node)?,
        };
        n += 1;
    }
    Ok(best)
}

fn value(test: &TestCase, at: usize) -> Option<&Data> {
    match test.stmts.get(at) {
        Some(Stmt::Data(data)) => Some(data),
        _ => None,
    }
}

fn attempt(oracle: &mut Oracle<'_, '_>, best: &TestCase, at: usize, edit: impl FnOnce(&mut Data)) -> Result<Option<TestCase>, Stop> {
    let mut candidate = best.clone();
    let Stmt::Data(data) = &mut candidate.stmts[at] else { return Ok(None) };
    edit(data);
    if candidate == *best { Ok(None) } else { oracle.accept(candidate) }
}

/// One part less, or one of the parts instead of the whole.
fn smaller(oracle: &mut Oracle<'_, '_>, best: &TestCase, at: usize, n: usize, node: &Data) -> Result<Option<TestCase>, Stop> {
    for candidate in reductions(node) {
        let accepted = attempt(oracle, best, at, |d| {
            if let Some(place) = d.nth_mut(n) {
                *place = candidate;
            }
        })?;
        if accepted.is_some() {
            return Ok(accepted);
        }
    }
    Ok(None)
}

fn reductions(node: &Data) -> Vec<Data> {
    let without = |items: &Vec<Data>| (0..items.len()).map(|i| [&items[..i], &items[i + 1..]].concat()).collect::<Vec<_>>();
    let mut out = match node {
        Data::List(items) => without(items).into_iter().map(Data::List).collect(),
        Data::Tuple(items) => without(items).into_iter().map(Data::Tuple).collect(),
        Data::Set(items) => without(items).into_iter().map(Data::Set).collect(),
        Data::Iterator(items) => without(items).into_iter().map(Data::Iterator).collect(),
        Data::Dict(pairs) => (0..pairs.len()).map(|i| Data::Dict([&pairs[..i], &pairs[i + 1..]].concat())).collect(),
        Data::Object(pairs) => (0..pairs.len()).map(|i| Data::Object([&pairs[..i], &pairs[i + 1..]].concat())).collect(),
        Data::Class { bases, members, record } => {
            let class = |bases: Vec<Data>, members: Vec<(String, Data)>| Data::Class { bases, members, record: *record };
            let plain = record.then(|| Data::Class { bases: bases.clone(), members: members.clone(), record: false });
            let fewer = (0..members.len()).map(|i| class(bases.clone(), [&members[..i], &members[i + 1..]].concat()));
            plain.into_iter().chain(fewer).chain(without(bases).into_iter().map(|b| class(b, members.clone()))).collect()
        }
        Data::Made { class, args } => without(args).into_iter().map(|args| Data::Made { class: class.clone(), args }).collect(),
        _ => Vec::new(),
    };
    out.extend(node.children().into_iter().cloned());
    match node {
        Data::Function(inner) if **inner != Data::None => out.push(Data::Function(Box::new(Data::None))),
        // in the test each of them takes lines of its own
        Data::Class { .. } | Data::Made { .. } | Data::Object(_) => out.push(Data::None),
        _ => {}
    }
    out
}

fn scalar(oracle: &mut Oracle<'_, '_>, mut best: TestCase, at: usize, n: usize, node: &Data) -> Result<TestCase, Stop> {
    let put = move |test: &mut TestCase, data: Data| {
        if let Stmt::Data(whole) = &mut test.stmts[at]
            && let Some(place) = whole.nth_mut(n)
        {
            *place = data;
        }
    };
    match node {
        Data::Str(text) => literals::shorten(oracle, best, text.clone(), &|test, text| put(test, Data::Str(text))),
        Data::Bytes(bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => literals::shorten(oracle, best, text, &|test, text| put(test, Data::Bytes(text.into_bytes()))),
            Err(_) => Ok(best),
        },
        Data::Int(v) => {
            for simple in towards_zero(*v) {
                let mut candidate = best.clone();
                put(&mut candidate, Data::Int(simple));
                if let Some(accepted) = oracle.accept(candidate)? {
                    best = accepted;
                    break;
                }
            }
            Ok(best)
        }
        Data::Float(bits) => {
            let x = f64::from_bits(*bits);
            for simple in simpler_floats(x) {
                let mut candidate = best.clone();
                put(&mut candidate, Data::float(simple));
                if let Some(accepted) = oracle.accept(candidate)? {
                    return Ok(accepted);
                }
            }
            Ok(best)
        }
        _ => Ok(best),
    }
}

/// Simpler numbers, simplest first: none is tried for one that is simpler itself, so that no two take turns.
fn simpler_floats(x: f64) -> Vec<f64> {
    let rank = |v: f64| (v != 0.0, v != 1.0, v != v.round(), v.abs());
    let mut out = vec![0.0, 1.0, x.round()];
    out.retain(|s| s.is_finite() && rank(*s) < rank(x));
    out
}

/// Simpler numbers, simplest first.
fn towards_zero(v: i128) -> Vec<i128> {
    let mut out = vec![0, 1, -1];
    // from a power of two near zero up to half of the number
    let mut part = v.signum() * 2;
    while part.abs() < v.abs() && out.len() < 40 {
        out.push(part);
        part = part.saturating_mul(2);
    }
    // a positive number is simpler than its negative, never the other way round
    out.retain(|s| (s.unsigned_abs(), *s < 0) < (v.unsigned_abs(), v < 0));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_reduced_by_each_part_and_to_each_part() {
        let list = Data::List(vec![Data::Int(1), Data::text("a")]);
        let all = reductions(&list);
        assert_eq!(all, [Data::List(vec![Data::text("a")]), Data::List(vec![Data::Int(1)]), Data::Int(1), Data::text("a")]);
        assert!(reductions(&Data::None).is_empty());
        let own = Data::Class { bases: Vec::new(), members: Vec::new(), record: false };
        assert_eq!(reductions(&own), [Data::None]);
    }

    #[test]
    fn numbers_that_are_tried_are_never_farther_from_zero() {
        assert_eq!(towards_zero(9), [0, 1, -1, 2, 4, 8]);
        assert_eq!((towards_zero(-1), towards_zero(1)), (vec![0, 1], vec![0]));
        assert!(simpler_floats(0.0).is_empty());
        assert_eq!((simpler_floats(1.0), simpler_floats(2.5)), (vec![0.0], vec![0.0, 1.0, 3.0]));
        assert!(towards_zero(0).is_empty());
    }
}
