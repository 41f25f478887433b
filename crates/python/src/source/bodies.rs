//! Bodies and parameters, made when first asked for.

use std::sync::Arc;

use rethrow_core::program::ir::{Body, Hazards};
use rethrow_core::program::{BodySource, MethodId, Parameter, Program, Taking};

use super::{Origin, Sources, platform, shapes};
use crate::lower;

pub struct Bodies {
    pub sources: Arc<Sources>,
}

impl BodySource for Bodies {
    fn body(&self, program: &Program, method: MethodId) -> Result<Option<Body>, String> {
        match self.sources.origins.get(method.0 as usize) {
            Some(Origin::Code(file, code)) => Ok(Some(lower::lower(program, &self.sources, (*file, *code))?.body)),
            Some(Origin::Implicit { params, by, .. }) => {
                let to = by.and_then(|by| self.sources.methods.get(&by).copied());
                Ok(Some(lower::forward(program, to, params.len())))
            }
            Some(Origin::Member { params, like: Some(like) }) => {
                let to = self.sources.methods.get(like).copied();
                Ok(Some(lower::forward(program, to, params.len())))
            }
            _ => Ok(None),
        }
    }

    /// Operations of the interpreter have no frames, so a call may be what raises.
    fn hazards(&self, exception: &str) -> Hazards {
        let explicit = Hazards::EXPLICIT.with(Hazards::CALL);
        match exception {
            "AttributeError" => explicit.with(Hazards::NULL),
            "IndexError" | "KeyError" => explicit.with(Hazards::BOUNDS),
            "ZeroDivisionError" => explicit.with(Hazards::DIV_ZERO),
            "TypeError" => explicit.with(Hazards::CAST).with(Hazards::BOUNDS).with(Hazards::NULL),
            "ValueError" => explicit.with(Hazards::CAST),
            "NameError" | "UnboundLocalError" | "ImportError" | "ModuleNotFoundError" => explicit.with(Hazards::INIT),
            "AssertionError" => Hazards::EXPLICIT,
            _ => explicit,
        }
    }

    fn parameters(&self, program: &Program, method: MethodId) -> Vec<Parameter> {
        match self.sources.origins.get(method.0 as usize) {
            Some(Origin::Code(file, code)) => shapes::of_code(program, &self.sources, (*file, *code)),
            Some(Origin::Implicit { params, by: Some(by), .. }) if !params.is_empty() => shapes::of_code(program, &self.sources, *by),
            Some(Origin::Implicit { params, of, .. }) => shapes::of_fields(program, &self.sources, *of, params),
            Some(Origin::Known(n)) => platform::known().get(*n).map(|known| known_parameters(program, known)).unwrap_or_default(),
            Some(Origin::Member { params, like }) => shapes::of_member(program, &self.sources, *like, params),
            None => Vec::new(),
        }
    }
}

fn known_parameters(program: &Program, known: &platform::Known) -> Vec<Parameter> {
    let one = |p: &platform::KnownParam| Parameter {
        name: p.name.to_string(),
        taking: Taking::PositionalOnly,
        optional: p.optional,
        shapes: platform::shapes(p.shapes, &|name| program.find_type(name)),
    };
    known.params.iter().map(one).collect()
}
