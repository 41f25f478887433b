//! Literal pass: numbers towards 0, strings shorter and plainer, arrays shorter.

use super::{Oracle, data};
use crate::search::Stop;
use crate::testcase::env::PLAIN_NAME;
use crate::testcase::{Env, Stmt, TestCase, Value};

pub fn pass(oracle: &mut Oracle<'_, '_>, test: &TestCase) -> Result<TestCase, Stop> {
    let mut best = test.clone();
    let mut at = 0;
    while at < best.len() {
        best = match best.stmts[at].clone() {
            Stmt::Lit(v) => number(oracle, best, at, v)?,
            Stmt::Str(s) => string(oracle, best, at, s)?,
            Stmt::NewArray { .. } => array(oracle, best, at)?,
            Stmt::Data(_) => data::pass(oracle, best, at)?,
            Stmt::Env(env) => surroundings(oracle, best, at, *env)?,
            _ => best,
        };
        at += 1;
    }
    Ok(best)
}

fn replaced(oracle: &mut Oracle<'_, '_>, test: &TestCase, at: usize, stmt: Stmt) -> Result<Option<TestCase>, Stop> {
    let mut candidate = test.clone();
    candidate.stmts[at] = stmt;
    oracle.accept(candidate)
}

/// 0, 1 and -1 at once, else by halving the distance to 0.
fn number(oracle: &mut Oracle<'_, '_>, mut best: TestCase, at: usize, value: Value) -> Result<TestCase, Stop> {
    let prim = value.prim();
    for simple in [0, 1, -1] {
        let simple = Value::of_int(prim, simple);
        if simple == value {
            return Ok(best);
        }
        if let Some(accepted) = replaced(oracle, &best, at, Stmt::Lit(simple))? {
            return Ok(accepted);
        }
    }
    let Some(mut current) = value.as_i64() else {
        return rounded(oracle, best, at, value);
    };
    let mut step = current / 2;
    while step != 0 {
        match replaced(oracle, &best, at, Stmt::Lit(Value::of_int(prim, current - step)))? {
            Some(accepted) => {
                best = accepted;
                current -= step;
                step = step.signum() * step.abs().min(current.abs() / 2);
            }
            None => step /= 2,
        }
    }
    Ok(best)
}

fn rounded(oracle: &mut Oracle<'_, '_>, best: TestCase, at: usize, value: Value) -> Result<TestCase, Stop> {
    let x = value.as_f64();
    let near = [x.round(), (x * 10.0).round() / 10.0];
    for y in near {
        let simple = if matches!(value, Value::Float(_)) { Value::float(y as f32) } else { Value::double(y) };
        if simple != value
            && y.is_finite()
            && let Some(accepted) = replaced(oracle, &best, at, Stmt::Lit(simple))?
        {
            return Ok(accepted);
        }
    }
    Ok(best)
}

/// Chunks of characters by halves, then each character as plain as it can be.
fn string(oracle: &mut Oracle<'_, '_>, best: TestCase, at: usize, text: String) -> Result<TestCase, Stop> {
    shorten(oracle, best, text, &|test, text| test.stmts[at] = Stmt::Str(text))
}

/// A plain name, then a short content.
fn surroundings(oracle: &mut Oracle<'_, '_>, mut best: TestCase, at: usize, env: Env) -> Result<TestCase, Stop> {
    let mut plain = env.clone();
    if let Some(name) = plain.name_mut().filter(|name| *name != PLAIN_NAME) {
        *name = PLAIN_NAME.to_string();
        best = replaced(oracle, &best, at, Stmt::Env(Box::new(plain)))?.unwrap_or(best);
    }
    let Some(text) = env.text().map(str::to_string) else { return Ok(best) };
    shorten(oracle, best, text, &|test, text| {
        if let Some(Stmt::Env(env)) = test.stmts.get_mut(at)
            && let Some(old) = env.text_mut()
        {
            *old = text;
        }
    })
}

/// The same for a text anywhere: `put` writes one into a test.
pub fn shorten(oracle: &mut Oracle<'_, '_>, mut best: TestCase, text: String, put: &dyn Fn(&mut TestCase, String)) -> Result<TestCase, Stop> {
    let mut chars: Vec<char> = text.chars().collect();
    let attempt = |oracle: &mut Oracle<'_, '_>, best: &mut TestCase, text: &[char]| {
        let mut candidate = best.clone();
        put(&mut candidate, text.iter().collect());
        let accepted = oracle.accept(candidate)?;
        let yes = accepted.is_some();
        accepted.into_iter().for_each(|a| *best = a);
        Ok::<bool, Stop>(yes)
    };
    let mut size = chars.len();
    while size >= 1 {
        let mut end = chars.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let shorter: Vec<char> = chars[..start].iter().chain(&chars[end..]).copied().collect();
            if attempt(oracle, &mut best, &shorter)? {
                chars = shorter;
            }
            end = start;
        }
        size /= 2;
    }
    for i in 0..chars.len() {
        for plain in ['a', '0'] {
            if chars[i] == plain || (chars[i].is_ascii_alphanumeric() && chars[i] < plain) {
                break;
            }
            let mut plainer = chars.clone();
            plainer[i] = plain;
            if attempt(oracle, &mut best, &plainer)? {
                chars = plainer;
                break;
            }
        }
    }
    Ok(best)
}

fn array(oracle: &mut Oracle<'_, '_>, mut best: TestCase, at: usize) -> Result<TestCase, Stop> {
    while let Stmt::NewArray { elem, len } = best.stmts[at].clone() {
        let used = best
            .stmts
            .iter()
            .any(|s| matches!(s, Stmt::ArraySet { array, index, .. } | Stmt::ArrayGet { array, index } if array.0 as usize == at && *index + 1 == len));
        if len == 0 || used {
            break;
        }
        match replaced(oracle, &best, at, Stmt::NewArray { elem, len: len - 1 })? {
            Some(accepted) => best = accepted,
            None => break,
        }
    }
    Ok(best)
}
