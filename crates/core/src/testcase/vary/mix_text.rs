//! Crossover inside literals: one text of a test becomes the prefix of its own and the suffix of one of the other parent's. Where the whole input is
//! one string, exchanging statements exchanges nothing.

use super::edit_text;
use crate::rng::Rng;
use crate::testcase::{Data, Stmt, TestCase};

/// A child of `a`; `None` if one of them has no text.
pub fn apply(rng: &mut Rng, a: &TestCase, b: &TestCase) -> Option<TestCase> {
    let (into, from) = (places(a), places(b));
    let (at, n) = *rng.pick(&into)?;
    let (other_at, other_n) = *rng.pick(&from)?;
    let mixed = edit_text::splice(rng, text(&a.stmts[at], n)?, text(&b.stmts[other_at], other_n)?);
    let mut child = a.clone();
    match &mut child.stmts[at] {
        Stmt::Str(s) => *s = mixed,
        Stmt::Data(data) => *data.nth_mut(n)? = Data::Str(mixed),
        _ => return None,
    }
    Some(child)
}

/// Statement and number within its value of each text.
fn places(test: &TestCase) -> Vec<(usize, usize)> {
    let within = |(at, stmt): (usize, &Stmt)| match stmt {
        Stmt::Str(_) => vec![(at, 0)],
        Stmt::Data(data) => (0..data.size()).filter(|n| matches!(data.nth(*n), Some(Data::Str(_)))).map(|n| (at, n)).collect(),
        _ => Vec::new(),
    };
    test.stmts.iter().enumerate().flat_map(within).collect()
}

fn text(stmt: &Stmt, n: usize) -> Option<&str> {
    match stmt {
        Stmt::Str(s) => Some(s),
        Stmt::Data(data) => match data.nth(n) {
            Some(Data::Str(s)) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_one_parent_ends_like_one_of_the_other() {
        let a = TestCase { stmts: vec![Stmt::Data(Data::List(vec![Data::Int(1), Data::text("abc")]))] };
        let b = TestCase { stmts: vec![Stmt::Str("xyz".into())] };
        let mut rng = Rng::new(3);
        let children: Vec<TestCase> = (0..50).filter_map(|_| apply(&mut rng, &a, &b)).collect();
        assert_eq!(children.len(), 50);
        let inside = |t: &TestCase| text(&t.stmts[0], 2).map(str::to_string);
        assert!(children.iter().any(|c| inside(c).is_some_and(|s| s.starts_with('a') && s.ends_with('z'))), "{children:?}");
        assert_eq!(apply(&mut rng, &a, &TestCase::default()), None);
    }
}
