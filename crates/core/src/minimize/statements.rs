//! Statement pass: chunks by halves (ddmin), then one by one until no single statement can go. Removing a value removes its users too.

use super::Oracle;
use crate::search::Stop;
use crate::testcase::TestCase;

pub fn pass(oracle: &mut Oracle<'_, '_>, test: &TestCase) -> Result<TestCase, Stop> {
    let mut best = test.clone();
    let mut size = best.len() / 2;
    while size >= 1 {
        let mut end = best.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            match without(oracle, &best, start, end)? {
                Some(smaller) => {
                    best = smaller;
                    end = best.len().min(start);
                }
                None => end = start,
            }
        }
        size /= 2;
    }
    one_by_one(oracle, best)
}

/// 1-minimal: repeated until a whole round removes nothing.
fn one_by_one(oracle: &mut Oracle<'_, '_>, mut best: TestCase) -> Result<TestCase, Stop> {
    let mut at = best.len();
    while at > 0 {
        at -= 1;
        if at < best.len()
            && let Some(smaller) = without(oracle, &best, at, at + 1)?
        {
            best = smaller;
            at = best.len();
        }
    }
    Ok(best)
}

fn without(oracle: &mut Oracle<'_, '_>, test: &TestCase, start: usize, end: usize) -> Result<Option<TestCase>, Stop> {
    let mut remove = vec![false; test.len()];
    remove[start..end].iter_mut().for_each(|r| *r = true);
    test.close_over_users(&mut remove);
    if remove.iter().all(|r| *r) {
        return Ok(None);
    }
    let smaller = test.without(&remove).sweep();
    if smaller.is_empty() { Ok(None) } else { oracle.accept(smaller) }
}
