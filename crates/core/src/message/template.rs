//! Messages that the program puts together itself: `"Value " + v + " for " + name` is a template with holes, and unified with what the log printed it
//! tells what was in them, and of which parameters.
//!
//! Templates are found in code that joins texts, wherever it stands in a method: which of them was meant shows by what fits. How a language joins
//! texts beside [`Op::Concat`] is its list ([`Joining`]).

use rustc_hash::FxHashMap;

use crate::program::Program;
use crate::program::ir::{Body, Const, Op, Reg};

/// How texts are joined.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joining {
    /// Classes to which one text after the other is appended.
    pub builders: &'static [&'static str],
    pub append: &'static str,
    /// (class, method) whose first argument is a pattern with `%s` and its like.
    pub percent: &'static [(&'static str, &'static str)],
    /// (class, method) whose first argument is a pattern with `{0}`.
    pub braces: &'static [(&'static str, &'static str)],
}

/// Pieces of text with holes between them, one fewer than pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub pieces: Vec<String>,
    pub holes: Vec<Hole>,
}

/// What fills a hole: the register before the instruction, if it is known.
pub type Hole = Option<(usize, Reg)>;

/// With fewer characters of its own a template fits anything.
const LEAST: usize = 3;
const MOST_HOLES: usize = 12;

impl Template {
    fn new() -> Template {
        Template { pieces: vec![String::new()], holes: Vec::new() }
    }
    fn text(&mut self, text: &str) {
        if let Some(last) = self.pieces.last_mut() {
            last.push_str(text);
        }
    }
    fn hole(&mut self, hole: Hole) {
        self.holes.push(hole);
        self.pieces.push(String::new());
    }
    fn is_telling(&self) -> bool {
        !self.holes.is_empty() && self.holes.len() <= MOST_HOLES && self.pieces.iter().map(String::len).sum::<usize>() >= LEAST
    }

    /// What is in the holes, if the whole message fits. Each hole is as short as can be.
    pub fn unify<'m>(&self, message: &'m str) -> Option<Vec<&'m str>> {
        let (first, rest) = self.pieces.split_first()?;
        let mut left = message.strip_prefix(first.as_str())?;
        let mut found = Vec::new();
        for (i, piece) in rest.iter().enumerate() {
            let end = match i + 1 == rest.len() {
                true => left.ends_with(piece.as_str()).then(|| left.len() - piece.len())?,
                false => left.find(piece.as_str())?,
            };
            found.push(&left[..end]);
            left = &left[end + piece.len()..];
        }
        left.is_empty().then_some(found)
    }
}

/// The templates in a body.
pub fn templates(program: &Program, body: &Body, joining: &Joining) -> Vec<Template> {
    let mut out = Vec::new();
    let mut builders: FxHashMap<Reg, usize> = FxHashMap::default();
    let mut built: Vec<Template> = Vec::new();
    for (at, insn) in body.insns.iter().enumerate() {
        match &insn.op {
            Op::Concat { recipe, args, .. } => out.push(concat(at, recipe, args)),
            Op::New { to, class } if joining.builders.contains(&program.type_name(*class)) => {
                builders.insert(*to, built.len());
                built.push(Template::new());
            }
            Op::Copy { to, from } => match builders.get(from).copied() {
                Some(n) => drop(builders.insert(*to, n)),
                None => drop(builders.remove(to)),
            },
            Op::Call { to, method, args, .. } => {
                let builder = args.first().and_then(|r| builders.get(r).copied());
                if let (Some(n), Some(value)) = (builder, args.get(1))
                    && (&*method.name == joining.append || &*method.name == "<init>")
                {
                    append(&mut built[n], body, at, *value, &method.desc);
                }
                let own = (program.type_name(method.owner), &*method.name);
                let pattern = args.iter().take(2).find_map(|r| constant(body, at, *r)).and_then(|c| if let Const::Str(s) = c { Some(s) } else { None });
                let is_one = |list: &[(&str, &str)]| list.contains(&own);
                match pattern {
                    Some(p) if is_one(joining.percent) => out.push(percent(&p)),
                    Some(p) if is_one(joining.braces) => out.push(braces(&p)),
                    _ => {}
                }
                if let Some(to) = to {
                    match builder.filter(|_| &*method.name == joining.append) {
                        Some(n) => drop(builders.insert(*to, n)),
                        None => drop(builders.remove(to)),
                    }
                }
            }
            other => {
                if let Some(to) = other.written() {
                    builders.remove(&to);
                }
            }
        }
    }
    out.extend(built);
    out.retain(Template::is_telling);
    out
}

fn concat(at: usize, recipe: &str, args: &[Reg]) -> Template {
    let mut template = Template::new();
    for (i, piece) in recipe.split('\u{1}').enumerate() {
        if i > 0 {
            template.hole(args.get(i - 1).map(|r| (at, *r)));
        }
        template.text(piece);
    }
    template
}

fn append(template: &mut Template, body: &Body, at: usize, value: Reg, desc: &str) {
    match constant(body, at, value) {
        Some(Const::Str(text)) => template.text(&text),
        Some(Const::Int(v)) if desc.starts_with("(C)") => template.text(&char::from_u32(v.cast_unsigned()).unwrap_or('?').to_string()),
        Some(Const::Int(v)) if desc.starts_with("(I)") => template.text(&v.to_string()),
        _ => template.hole(Some((at, value))),
    }
}

/// The constant in a register before an instruction, if it is one.
pub fn constant(body: &Body, insn: usize, reg: Reg) -> Option<Const> {
    let mut place = (insn, reg);
    for _ in 0..8 {
        let (defs, from_entry) = body.definitions(place.0, place.1);
        let [def] = defs[..] else { return None };
        match &body.insns[def].op {
            _ if from_entry => return None,
            Op::Const { value, .. } => return Some(value.clone()),
            Op::Copy { from, .. } => place = (def, *from),
            _ => return None,
        }
    }
    None
}

/// `%d of %s`, `%1$-5s`, `%%`.
fn percent(pattern: &str) -> Template {
    let mut template = Template::new();
    let mut parts = pattern.split('%');
    template.text(parts.next().unwrap_or_default());
    let mut whole = false;
    for part in parts {
        if whole {
            // the second of two marks
            whole = false;
            template.text(part);
            continue;
        }
        match part.find(|c: char| c.is_ascii_alphabetic()) {
            None if part.is_empty() => {
                template.text("%");
                whole = true;
            }
            Some(end) if part[end..].starts_with('n') => {
                template.text("\n");
                template.text(&part[end + 1..]);
            }
            Some(end) => {
                template.hole(None);
                template.text(&part[end + 1..]);
            }
            None => template.text(part),
        }
    }
    template
}

/// `{0} of {1,number}`; a doubled quotation mark is one.
fn braces(pattern: &str) -> Template {
    let mut template = Template::new();
    let mut left = pattern;
    while let Some(start) = left.find('{') {
        let Some(end) = left[start..].find('}') else { break };
        template.text(&left[..start].replace("''", "'"));
        template.hole(None);
        left = &left[start + end + 1..];
    }
    template.text(&left.replace("''", "'"));
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(recipe: &str) -> Template {
        concat(0, recipe, &[Reg(1), Reg(2), Reg(3), Reg(4)])
    }

    #[test]
    fn a_message_tells_what_was_in_the_holes_of_its_template() {
        let range = template("Value \u{1} for \u{1} must be in the range [\u{1},\u{1}]");
        assert_eq!(range.unify("Value 29 for day must be in the range [1,28]"), Some(vec!["29", "day", "1", "28"]));
        assert_eq!(range.unify("Value 29 for day"), None);
        assert_eq!(template("Invalid format: \u{1}").unify("Invalid format: _XY"), Some(vec!["_XY"]));
        assert_eq!(template("\u{1} not found").unify("a not found not found"), Some(vec!["a not found"]));
        assert_eq!(template("\u{1}\u{1}").unify("ab"), Some(vec!["", "ab"]));
        assert!(!template("\u{1}: \u{1}").is_telling());
    }

    #[test]
    fn patterns_have_holes_too() {
        assert_eq!(percent("%d%% of '%1$-5s'").unify("50% of 'x'"), Some(vec!["50", "x"]));
        assert_eq!(braces("can''t do {0} with {1,number}").unify("can't do this with 7"), Some(vec!["this", "7"]));
        assert_eq!(percent("100%").pieces, ["100%"]);
        assert_eq!(braces("{open").pieces, ["{open"]);
    }
}
