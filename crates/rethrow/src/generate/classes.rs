//! Which classes are under test: patterns over names, in which `*` stands for anything.

use rethrow_core::program::{Flags, Program, TypeId};

use crate::error::UserError;

/// The classes that match, with their nested ones; without patterns, all of the first entry of the class path.
pub fn select(program: &Program, patterns: &[String]) -> Result<Vec<TypeId>, UserError> {
    let own = |t: &TypeId| {
        let def = program.ty(*t);
        !def.platform && !def.missing && !def.flags.has(Flags::ANNOTATION)
    };
    let chosen: Vec<TypeId> = program.types().filter(own).filter(|t| is_chosen(program, *t, patterns)).collect();
    if chosen.is_empty() {
        let wanted = if patterns.is_empty() { "the class path".to_string() } else { patterns.join(", ") };
        let near = program.types().filter(own).take(3).map(|t| program.type_name(t)).collect::<Vec<_>>().join(", ");
        return Err(UserError::NoClasses { wanted, near });
    }
    Ok(chosen)
}

fn is_chosen(program: &Program, ty: TypeId, patterns: &[String]) -> bool {
    let def = program.ty(ty);
    if patterns.is_empty() {
        return def.origin == 0;
    }
    let name = program.type_name(ty);
    let top = name.split('$').next().unwrap_or(name);
    patterns.iter().any(|p| matches(p, name) || matches(p, top))
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("a.b.*", "a.b.C", true),
            ("a.b.*", "a.b.c.D", true),
            ("a.b.*", "a.bc.D", false),
            ("a.b.C", "a.b.C", true),
            ("a.b.C", "a.b.CD", false),
            ("*", "x", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("*Test", "a.FooTest", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
