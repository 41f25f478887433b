//! What the `Signature` of a method tells of its parameters.

use rethrow_core::program::{Generic, Program, Ty};

use crate::signature::{Bindings, Text, arguments};

/// The parameters of a method of a class, both with their signatures. A method may have parameters that its signature does not show, at the beginning.
pub fn parameters(program: &Program, class: Option<&str>, method: &str, count: usize) -> Vec<Generic> {
    let formals = |text: &mut Text<'_>| text.formals(|_| Some(program.well_known().object)).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let variables = class.map(|text| formals(&mut Text(text))).unwrap_or_default();
    let mut text = Text(method);
    let own = formals(&mut text);
    let mut shown = Vec::new();
    if text.skip('(').is_none() {
        return Vec::new();
    }
    while !text.0.starts_with(')') {
        let Some(one) = text.next() else { return Vec::new() };
        let variable = one.strip_prefix('T').and_then(|v| v.strip_suffix(';')).filter(|v| own.iter().all(|o| o != v));
        let place = variable.and_then(|v| variables.iter().position(|known| known == v));
        shown.push(place.map_or_else(|| with(program, one), Generic::Variable));
    }
    let mut all = vec![Generic::Plain; count.saturating_sub(shown.len())];
    all.extend(shown);
    all
}

fn with(program: &Program, text: &str) -> Generic {
    let root = program.well_known().object;
    let args = if text.starts_with('L') { arguments(program, text, &Bindings::new()) } else { None };
    let told: Box<[Option<Ty>]> = args.unwrap_or_default().into_iter().map(|ty| Some(ty).filter(|ty| *ty != root)).collect();
    if told.iter().all(Option::is_none) { Generic::Plain } else { Generic::With(told) }
}

#[cfg(test)]
mod tests {
    use rethrow_core::program::ir::Body;
    use rethrow_core::program::{BodySource, MethodId, ProgramBuilder};

    use super::*;

    struct NoBodies;

    impl BodySource for NoBodies {
        fn body(&self, _: &Program, _: MethodId) -> Result<Option<Body>, String> {
            Ok(None)
        }
    }

    #[test]
    fn arguments_and_variables_of_parameters() {
        let mut builder = ProgramBuilder::new();
        builder.well_known("java.lang.Object", "java.lang.String", "java.lang.Class");
        for name in ["java.util.Map", "a.B$C"] {
            builder.mention(name);
        }
        let program = builder.finish(Box::new(NoBodies));
        let [text, inner] = ["java.lang.String", "a.B$C"].map(|name| Ty::reference(program.find_mentioned(name).unwrap()));
        let of = |method: &str, count| parameters(&program, Some("<K:Ljava/lang/Object;V::Ljava/lang/Comparable<TV;>;>La/X;"), method, count);
        let with = |args: &[Option<Ty>]| Generic::With(args.into());
        assert_eq!(of("(Ljava/util/Map<Ljava/lang/String;+La/B.C;>;TV;I)V", 3), [with(&[Some(text), Some(inner)]), Generic::Variable(1), Generic::Plain]);
        assert_eq!(of("<K:Ljava/lang/Object;>(TK;Ljava/util/Map<*TK;>;)V", 3), [Generic::Plain, Generic::Plain, Generic::Plain]);
        assert_eq!(of("(Ljava/util/Map<-[La/B$C;*>;)V", 2)[1], with(&[Some(Ty { dims: 1, ..inner }), None]));
        for damaged in ["", "(", "(L", "<K", "(Ljava/util/Map<", "(T"] {
            assert!(of(damaged, 1).is_empty(), "{damaged}");
        }
    }
}
