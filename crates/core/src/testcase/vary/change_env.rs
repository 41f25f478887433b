//! The surroundings of a test: set up, or changed.

use super::{Context, edit_text};
use crate::rng::Rng;
use crate::testcase::{Env, Stmt, TestCase};

/// Sets something up that the trace's code looks at.
pub fn insert(context: &Context<'_, '_>, rng: &mut Rng, test: &TestCase) -> Option<TestCase> {
    if !context.policy.environment || !context.palette.looked.any() {
        return None;
    }
    let mut maker = context.maker_of(rng, test.clone());
    maker.surround().then_some(maker.test)
}

/// Another content, value or place.
pub fn change(context: &Context<'_, '_>, rng: &mut Rng, env: &Env) -> Option<Stmt> {
    let mut new = env.clone();
    let fresh = rng.chance(0.3);
    match &mut new {
        Env::Setting { value, .. } if fresh => *value = context.maker_of(rng, TestCase::default()).setting_value(),
        Env::Locale(tag) => *tag = (*rng.pick(context.palette.readers.locales)?).to_string(),
        Env::TimeZone(id) => *id = (*rng.pick(context.palette.readers.time_zones)?).to_string(),
        Env::Folder { .. } => return None,
        other => {
            let text = other.text_mut()?;
            *text = edit_text::edit(context, rng, text).replace('\0', "");
        }
    }
    new.is_sound().then(|| Stmt::Env(Box::new(new)))
}
