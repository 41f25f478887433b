//! Change of a literal (EVO-19, §3.4): now and then a fresh one, mostly a small step from the old.

use super::{Context, change_data, change_env, edit_text};
use crate::program::Flags;
use crate::rng::Rng;
use crate::testcase::build::{Taker, binary, literals, splice};
use crate::testcase::{Stmt, TestCase, Value, Var};

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize) -> Option<TestCase> {
    let fresh = rng.chance(0.25);
    let (palette, facts, policy) = (context.palette, context.facts, context.policy);
    let taker = || Taker::of(palette, test, Var(at as u32));
    let new = match &test.stmts[at] {
        Stmt::Lit(v) if fresh => Stmt::Lit(literals::value(palette, facts, policy, rng, v.prim(), taker())),
        Stmt::Lit(v) => Stmt::Lit(nudge(rng, *v)),
        Stmt::Str(s) if palette.customs.is_binary(test, at) => {
            let old = binary::from_text(s);
            let new = if fresh { binary::bytes(palette, facts, policy, rng) } else { change_data::bytes(context, rng, &old) };
            Stmt::Str(binary::to_text(&new))
        }
        Stmt::Str(_) if fresh => Stmt::Str(literals::text(palette, facts, policy, rng, taker())),
        Stmt::Str(s) => Stmt::Str(edit_text::edit(context, rng, s)),
        Stmt::Data(_) => return change_data::apply(context, rng, test, at),
        Stmt::Class(_) => Stmt::Class(palette.class_literal(rng)),
        Stmt::Env(env) => change_env::change(context, rng, env)?,
        Stmt::NewArray { elem, len } => return resize(test, at, *elem, *len, rng),
        Stmt::GetStatic(f) if palette.customs.is_encoding(*f) => return None,
        Stmt::GetStatic(f) => {
            let def = palette.program.field(*f);
            let same = palette.program.fields_of(def.owner).filter(|g| {
                let other = palette.program.field(*g);
                other.ty == def.ty && other.flags.has(Flags::STATIC) && palette.scope.readable(palette.program, *g)
            });
            Stmt::GetStatic(*rng.pick(&same.collect::<Vec<_>>())?)
        }
        Stmt::Null(ty) => return unnull(context, rng, test, at, *ty),
        _ => return None,
    };
    let mut changed = test.clone();
    changed.stmts[at] = new;
    (changed != *test).then_some(changed)
}

/// Null becomes an object.
fn unnull(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase, at: usize, ty: crate::program::Ty) -> Option<TestCase> {
    let mut made = None;
    let longer = splice(test, at, |head| {
        let mut maker = context.maker_of(rng, head);
        made = maker.receiver(ty);
        made.map(|_| maker.test)
    })?;
    let null = Var((longer.len() - test.len() + at) as u32);
    let made = made?;
    let mut changed = longer.clone();
    for s in &mut changed.stmts {
        s.operands_mut().into_iter().filter(|v| **v == null).for_each(|v| *v = made);
    }
    Some(changed.sweep())
}

fn resize(test: &TestCase, at: usize, elem: crate::program::Ty, len: u32, rng: &mut Rng) -> Option<TestCase> {
    let new = if rng.chance(0.5) { len + 1 } else { len.checked_sub(1)? };
    let mut changed = test.clone();
    changed.stmts[at] = Stmt::NewArray { elem, len: new };
    let mut remove: Vec<bool> = changed
        .stmts
        .iter()
        .map(|s| matches!(s, Stmt::ArraySet { array, index, .. } | Stmt::ArrayGet { array, index } if array.0 as usize == at && *index >= new))
        .collect();
    changed.close_over_users(&mut remove);
    Some(changed.without(&remove))
}

/// A value near `v`.
pub fn nudge(rng: &mut Rng, v: Value) -> Value {
    let prim = v.prim();
    match (v, v.as_i64()) {
        (Value::Bool(b), _) => Value::Bool(!b),
        (_, Some(i)) => {
            // bits are flipped rarely: most large numbers become sizes, and allocating those costs more than a thousand tests
            let step = match rng.below(12) {
                0..=4 => rng.between(1, 20) * sign(rng),
                5..=6 => (rng.gauss() * 30.0) as i64,
                // any order of magnitude up to thousands, so that a far value is not a long walk
                7..=10 => step_of_any_size(rng),
                _ => return Value::of_int(prim, i ^ (1 << rng.below(32))),
            };
            Value::of_int(prim, i.wrapping_add(step))
        }
        (_, None) => {
            let x = v.as_f64();
            let y = match rng.below(3) {
                0 => x + rng.gauss(),
                1 => x + rng.gauss() * x.abs().max(1.0) * 0.1,
                _ => x.round(),
            };
            if matches!(v, Value::Float(_)) { Value::float(y as f32) } else { Value::double(y) }
        }
    }
}

fn step_of_any_size(rng: &mut Rng) -> i64 {
    let most = 1 << rng.below(14);
    rng.between(1, most) * sign(rng)
}

fn sign(rng: &mut Rng) -> i64 {
    if rng.chance(0.5) { -1 } else { 1 }
}
