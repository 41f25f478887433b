//! What the log's message told, where values are made: numbers and texts to try, classes to pass, and what certain parameters were.

use super::{Maker, Palette};
use crate::message::template::{Joining, Template, templates};
use crate::message::{Clue, Told, add, number};
use crate::program::{Assignability, MethodId, Program, Shape, Ty};
use crate::rng::Rng;
use crate::testcase::portable::{TyName, find_ty};
use crate::testcase::{Data, Stmt, Value, Var};

/// How often a value is one that the message tells.
const TOLD: f64 = 0.12;
/// How often a parameter gets what the message tells it had.
const PINNED: f64 = 0.45;
/// How often an object has the class that the message tells, where it fits.
const TOLD_TYPE: f64 = 0.35;
/// How far a parameter is followed into the methods that it is handed on to.
const HANDED_ON: u32 = 4;

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    pub ints: Vec<i64>,
    pub texts: Vec<String>,
    pub types: Vec<Ty>,
    /// What values looked like.
    pub shapes: Vec<Shape>,
    /// What a parameter (the receiver not counted) of a method of the trace was.
    pub pins: Vec<((MethodId, usize), Told)>,
}

impl Hints {
    /// From the clues of the language, and from the templates of the trace's methods that fit one of the messages.
    pub fn new(program: &Program, clues: &[Clue], messages: &[&str], methods: &[MethodId], joining: &Joining) -> Hints {
        let mut clues = clues.to_vec();
        let mut pins = Vec::new();
        for method in methods {
            let Some(body) = program.body(*method) else { continue };
            for template in templates(program, &body, joining) {
                for message in messages {
                    for (hole, text) in filled(&template, message) {
                        let param = hole.and_then(|(at, reg)| body.param_at(at, reg));
                        pins.extend(param.map(|i| ((*method, i), Told::Text(text.clone()))));
                        clues.insert(0, number(&text).map_or(Clue::Text(text), Clue::Number));
                    }
                }
            }
        }
        let innermost = methods.first();
        let null = |clue: &Clue| if let Clue::NullParameter(i) = clue { innermost.map(|m| ((*m, *i), Told::Null)) } else { None };
        pins.extend(clues.iter().filter_map(null));
        let mut hints = Hints { pins, ..Hints::default() };
        let mut once = Vec::new();
        clues.into_iter().for_each(|clue| add(&mut once, clue));
        once.into_iter().for_each(|clue| hints.note(program, clue));
        hints
    }

    fn note(&mut self, program: &Program, clue: Clue) {
        match clue {
            Clue::Number(n) => self.ints.push(n),
            Clue::Text(text) => self.texts.push(text),
            Clue::Type(name) => self.types.extend(find_ty(program, &TyName(name)).ok()),
            Clue::Like(shape) => self.shapes.push(shape),
            Clue::NullParameter(_) => {}
        }
    }
}

/// Holes with what is in them, where the message fits.
fn filled(template: &Template, message: &str) -> Vec<(crate::message::template::Hole, String)> {
    let texts = template.unify(message).unwrap_or_default();
    template.holes.iter().copied().zip(texts.into_iter().map(str::to_string)).collect()
}

impl Palette<'_> {
    /// What parameter `i` of the method was, or of the method that it is handed on to.
    fn told_of(&self, method: MethodId, i: usize) -> Option<Told> {
        if self.hints.pins.is_empty() {
            return None;
        }
        if let Some(known) = self.told.borrow().get(&(method, i)) {
            return known.clone();
        }
        let found = self.find_told(method, i, HANDED_ON);
        self.told.borrow_mut().insert((method, i), found.clone());
        found
    }

    fn find_told(&self, method: MethodId, i: usize, depth: u32) -> Option<Told> {
        if let Some((_, told)) = self.hints.pins.iter().find(|(place, _)| *place == (method, i)) {
            return Some(told.clone());
        }
        let program = self.program;
        if depth == 0 || program.ty(program.method(method).owner).platform {
            return None;
        }
        program.body(method)?.hands_on(i).into_iter().find_map(|(callee, n)| {
            let found = program.resolve_method(callee.owner, &callee.name, &callee.desc)?;
            if found == method { None } else { self.find_told(found, n, depth - 1) }
        })
    }
}

/// An integer of the message, now and then a neighbour.
pub(super) fn int(palette: &Palette<'_>, rng: &mut Rng) -> Option<i64> {
    if palette.hints.ints.is_empty() || !rng.chance(TOLD) {
        return None;
    }
    let v = *rng.pick(&palette.hints.ints)?;
    Some(if rng.chance(0.15) { v.wrapping_add(rng.between(-1, 1)) } else { v })
}

/// A text of the message.
pub(super) fn text(palette: &Palette<'_>, rng: &mut Rng) -> Option<String> {
    if palette.hints.texts.is_empty() || !rng.chance(TOLD) {
        return None;
    }
    rng.pick(&palette.hints.texts).cloned()
}

impl Maker<'_, '_> {
    /// What the message tells that the parameter was.
    pub(super) fn told_value(&mut self, ty: Ty, param: Option<(MethodId, usize)>) -> Option<Var> {
        let (method, i) = param?;
        let told = self.palette.told_of(method, i)?;
        if !self.rng.chance(PINNED) {
            return None;
        }
        let program = self.palette.program;
        let stmt = match (told, ty.as_prim()) {
            (Told::Null, None) if program.is_dynamic() => Stmt::Data(Data::None),
            (Told::Null, None) => Stmt::Null(ty),
            (Told::Text(text), _) if program.is_dynamic() => Stmt::Data(number(&text).map_or(Data::Str(text), |n| Data::Int(n.into()))),
            (Told::Text(text), None) if program.assignable(program.well_known().string, ty) == Assignability::Yes => Stmt::Str(text),
            (Told::Text(text), Some(prim)) => Stmt::Lit(read(prim, &text)?),
            _ => return None,
        };
        Some(self.test.push(stmt))
    }

    /// A class that the message tells of, where an object of it would fit.
    pub(super) fn told_type(&mut self, ty: Ty) -> Option<Ty> {
        let program = self.palette.program;
        if self.palette.hints.types.is_empty() || !self.rng.chance(TOLD_TYPE) {
            return None;
        }
        let fits = |t: &&Ty| **t != ty && program.assignable(**t, ty) == Assignability::Yes && self.palette.scope.nameable_ty(program, **t);
        let fitting: Vec<Ty> = self.palette.hints.types.iter().filter(fits).copied().collect();
        self.rng.pick(&fitting).copied()
    }
}

/// A primitive as the message shows it.
fn read(prim: crate::program::Prim, text: &str) -> Option<Value> {
    use crate::program::Prim;
    let mut chars = text.chars();
    match prim {
        Prim::Bool => text.parse().ok().map(Value::Bool),
        Prim::Char => chars.next().filter(|_| chars.next().is_none()).and_then(|c| u16::try_from(u32::from(c)).ok()).map(Value::Char),
        Prim::Float => text.parse().ok().map(Value::float),
        Prim::Double => text.parse().ok().map(Value::double),
        _ => number(text).map(|n| Value::of_int(prim, n)),
    }
}
