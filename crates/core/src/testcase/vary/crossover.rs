//! Guided single-point crossover (EVO-16): one relative cut; the tail of the other parent is repaired; an offspring without target call becomes a
//! clone of its parent.

use super::{Context, mix_text, trim};
use crate::rng::Rng;
use crate::testcase::validity::MAX_STATEMENTS;
use crate::testcase::{TestCase, repair};

/// How often texts are crossed instead of statements.
const MIX: f64 = 0.2;

pub fn apply(context: &Context<'_, '_>, rng: &mut Rng, a: &TestCase, b: &TestCase) -> (TestCase, TestCase) {
    if rng.chance(MIX)
        && let (Some(c), Some(d)) = (mix_text::apply(rng, a, b), mix_text::apply(rng, b, a))
    {
        return (c, d);
    }
    let cut = rng.unit();
    (join(context, rng, a, b, cut), join(context, rng, b, a, cut))
}

fn join(context: &Context<'_, '_>, rng: &mut Rng, head: &TestCase, tail: &TestCase, cut: f64) -> TestCase {
    let keep = (cut * head.len() as f64) as usize;
    let from = (cut * tail.len() as f64) as usize;
    let mut maker = context.maker_of(rng, head.prefix(keep));
    repair::append_tail(&mut maker, tail, from);
    let child = maker.test;
    if context.has_target(&child) && child.len() <= MAX_STATEMENTS { trim(context, &child) } else { head.clone() }
}
