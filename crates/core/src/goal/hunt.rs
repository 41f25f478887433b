//! A goal without a trace (BCN-1): an exception of some type, with some words in its message, with some function on the stack. Each of the three may be
//! left open.
//!
//! What counts is what the test throws, not what that came from (BCN-5). It has to come out of the program: an exception without any frame of it tells
//! only of the test itself, unless [`Hunt::bare`] says that the callables have no frames to show.

use std::sync::Arc;

use super::{CrashGoal, GoalFrame};
use crate::program::ir::{Const, Op};
use crate::program::{MethodId, Program, TypeId};
use crate::trace::{Frame, Throwable};

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Hunt {
    /// As it was asked for: a whole name, or the end of one.
    pub exception: Option<String>,
    /// The names of its subtypes, itself among them.
    pub subtypes: Vec<String>,
    /// Words that the message has to contain. Without a capital letter in them, capitals do not matter.
    pub message: Option<String>,
    /// A function that has to be on the stack: its name, or with that of its class or module before it.
    pub function: Option<String>,
    /// Exceptions without a frame of the program count: built-in functions have none.
    pub bare: bool,
    /// Places whose code may throw such an exception, most convincing first.
    pub sites: Vec<GoalFrame>,
    /// The methods that `function` names.
    pub functions: Vec<MethodId>,
    /// Types to be observed beside that of the calls.
    pub types: Vec<TypeId>,
}

/// What of a hunt an exception fulfils; what was not asked for counts as fulfilled (BCN-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub exception: bool,
    pub message: bool,
    pub function: bool,
}

impl Verdict {
    pub fn all(self) -> bool {
        self.exception && self.message && self.function
    }
    /// F = 2·t_ex + t_arg + 2·t_fn (BCN-4), at most 5.
    pub fn fitness(self) -> f64 {
        2.0 * f64::from(u8::from(self.exception)) + f64::from(u8::from(self.message)) + 2.0 * f64::from(u8::from(self.function))
    }
}

/// More places than these blur the way.
const MAX_SITES: usize = 12;
/// A piece of a text shorter than this says nothing.
const MIN_PIECE: usize = 4;

impl Hunt {
    /// `None` if the exception does not come out of the program.
    pub fn judge(&self, chain: &[Throwable]) -> Option<Verdict> {
        let thrown = chain.first()?;
        if !self.bare && thrown.frames.iter().all(|f| f.platform) {
            return None;
        }
        Some(Verdict {
            exception: self.is_exception(&thrown.exception),
            message: self.message.as_deref().is_none_or(|wanted| thrown.message.as_deref().is_some_and(|m| contains(m, wanted))),
            function: self.function.as_deref().is_none_or(|name| thrown.frames.iter().any(|f| (self.bare || !f.platform) && is_function(f, name))),
        })
    }

    fn is_exception(&self, thrown: &str) -> bool {
        let Some(asked) = self.exception.as_deref() else { return true };
        ends_with_name(thrown, asked) || self.subtypes.iter().any(|name| name == thrown)
    }

    /// Where the program may throw it: by the words of the message in the code's own texts, most of them first.
    fn find_sites(&self, program: &Program, types: &[TypeId]) -> Vec<GoalFrame> {
        let Some(message) = self.message.as_deref() else { return Vec::new() };
        let mut found: Vec<(usize, GoalFrame)> = Vec::new();
        for ty in types {
            for method in program.methods_of(*ty) {
                let Some(body) = program.body(method) else { continue };
                for insn in &body.insns {
                    let Op::Const { value: Const::Str(text), .. } = &insn.op else { continue };
                    let shared = shared(text, message);
                    if shared > 0 && found.iter().all(|(_, f)| f.methods != [method] || f.frame.line != insn.line) {
                        let frame = Frame::new(program.type_name(*ty), program.method_name(method), insn.line);
                        found.push((shared, GoalFrame { frame, class: *ty, methods: vec![method], first_use: false }));
                    }
                }
            }
        }
        found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        let best = found.first().map_or(0, |(n, _)| *n);
        found.into_iter().take_while(|(n, _)| 2 * n >= best).map(|(_, f)| f).take(MAX_SITES).collect()
    }
}

/// Whether a message contains the words.
pub fn contains(message: &str, wanted: &str) -> bool {
    match wanted.chars().any(char::is_uppercase) {
        true => message.contains(wanted),
        false => message.to_lowercase().contains(wanted),
    }
}

/// `a.b.C` ends with the names `C`, `b.C` and `a.b.C`.
fn ends_with_name(full: &str, end: &str) -> bool {
    full.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '$', ':']))
}

fn is_function(frame: &Frame, name: &str) -> bool {
    match name.rsplit_once(['.', '#', ':']) {
        None => frame.method == name,
        Some((owner, method)) => frame.method == method && ends_with_name(&frame.class.replace(':', "."), owner),
    }
}

/// How many characters of the message the text explains: those of its pieces between placeholders, if all of them occur; or of the message, if the text
/// contains it.
fn shared(text: &str, message: &str) -> usize {
    let (text, message) = (text.to_lowercase(), message.to_lowercase());
    if text.contains(&message) {
        return message.len();
    }
    let pieces: Vec<&str> = text.split(['%', '{', '}', '\n']).map(str::trim).filter(|p| p.len() >= MIN_PIECE).collect();
    if pieces.is_empty() {
        return 0;
    }
    pieces.iter().map(|p| if message.contains(p) { p.len() } else { 0 }).min().unwrap_or(0)
}

impl CrashGoal {
    /// A goal for calls of `methods`, members of `class` or of what belongs to it. `types` is where the places are looked for that may throw.
    pub fn of_hunt(mut hunt: Hunt, program: &Program, class: TypeId, methods: Vec<MethodId>, types: &[TypeId]) -> CrashGoal {
        hunt.sites = hunt.find_sites(program, types);
        if let Some(name) = hunt.function.as_deref() {
            let named = |m: &MethodId| is_function(&Frame::new(program.type_name(program.method(*m).owner), program.method_name(*m), None), name);
            let ours = program.types().filter(|t| !program.ty(*t).platform);
            hunt.functions = ours.flat_map(|t| program.methods_of(t)).filter(named).collect();
        }
        let frame = Frame::new(program.type_name(class), "", None);
        CrashGoal {
            exception: hunt.exception.clone().unwrap_or_default(),
            message: hunt.message.clone(),
            messages: Vec::new(),
            platform: Vec::new(),
            same_message: false,
            causes: Vec::new(),
            frames_of: 0,
            frames: vec![GoalFrame { frame, class, methods, first_use: false }],
            total: 1,
            mismatches: Vec::new(),
            overflow: false,
            wanted: Arc::new([]),
            near: Vec::new(),
            hunt: Some(Arc::new(hunt)),
        }
    }

    /// The crash itself, once something was thrown: what a written test tells of. Its package is still that of the hunt.
    #[must_use]
    pub fn shown(&self, program: &Program, thrown: &Throwable, called: &str) -> CrashGoal {
        let home = self.frames.last().map(|f| f.class);
        let class = |f: &Frame| program.find_type(&f.class).or(home);
        let located = |f: &Frame| class(f).map(|class| GoalFrame { frame: f.clone(), class, methods: Vec::new(), first_use: false });
        let mut frames: Vec<GoalFrame> = thrown.program_frames().iter().filter_map(located).collect();
        if frames.is_empty() {
            frames.extend(self.frames.iter().cloned().map(|f| GoalFrame { frame: Frame::new(f.frame.class.clone(), called, None), ..f }));
        }
        if let (Some(outermost), Some(home)) = (frames.last_mut(), home) {
            outermost.class = home;
        }
        let (exception, message) = (thrown.exception.clone(), thrown.message.clone());
        CrashGoal { exception, message, total: frames.len(), wanted: frames.iter().map(|f| f.frame.clone()).collect(), frames, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thrown(exception: &str, message: &str, frames: &[(&str, &str)]) -> Vec<Throwable> {
        let frames = frames.iter().map(|(c, m)| Frame { platform: c.starts_with("lib"), ..Frame::new(*c, *m, Some(1)) }).collect();
        vec![Throwable { exception: exception.into(), message: Some(message.into()), frames, suppressed: Vec::new() }]
    }

    fn hunt(exception: Option<&str>, message: Option<&str>, function: Option<&str>) -> Hunt {
        Hunt { exception: exception.map(Into::into), message: message.map(Into::into), function: function.map(Into::into), ..Hunt::default() }
    }

    /// BCN-1: type, words of the message and function, each of which may be left open.
    #[test]
    fn bcn_1_a_target_is_a_type_words_and_a_function() {
        let crash = thrown("yaml.scanner.ScannerError", "while scanning an anchor", &[("yaml.scanner:Scanner", "scan"), ("yaml", "compose")]);
        let all = |h: Hunt| h.judge(&crash).unwrap().all();
        assert!(all(hunt(Some("ScannerError"), Some("an anchor"), Some("compose"))));
        assert!(all(hunt(Some("yaml.scanner.ScannerError"), None, Some("yaml.compose"))));
        assert!(all(hunt(None, Some("an anchor"), None)) && all(hunt(None, None, Some("Scanner.scan"))));
        assert!(!all(hunt(Some("Error"), None, None)) && !all(hunt(Some("ValueError"), None, None)));
        assert!(!all(hunt(None, Some("an alias"), None)) && !all(hunt(None, None, Some("load"))) && !all(hunt(None, None, Some("xyaml.compose"))));
    }

    /// BCN-4: F = 2·t_ex + t_arg + 2·t_fn; what is not asked for counts as satisfied; a wrong type still earns the function.
    #[test]
    fn bcn_4_the_fitness_of_what_is_thrown() {
        let crash = thrown("ValueError", "Buffer size, 3, is too small", &[("m", "f")]);
        let f = |h: Hunt| h.judge(&crash).unwrap().fitness();
        assert_eq!(f(hunt(Some("ValueError"), Some("buffer size"), Some("f"))), 5.0);
        assert_eq!(f(hunt(Some("ValueError"), None, None)), 5.0);
        assert_eq!(f(hunt(None, Some("buffer size"), None)), 5.0);
        assert_eq!(f(hunt(Some("KeyError"), Some("x"), Some("f"))), 2.0);
        assert_eq!(f(hunt(Some("ValueError"), Some("x"), Some("g"))), 2.0);
        assert_eq!(f(hunt(Some("KeyError"), Some("BUFFER"), Some("g"))), 0.0);
    }

    /// BCN-5: what the first exception is, not what it came from.
    #[test]
    fn bcn_5_only_what_is_thrown_counts() {
        let mut crash = thrown("ValueError", "bad", &[("m", "f")]);
        crash.extend(thrown("KeyError", "k", &[("m", "g")]));
        assert!(hunt(Some("ValueError"), None, Some("f")).judge(&crash).unwrap().all());
        assert!(!hunt(Some("KeyError"), None, None).judge(&crash).unwrap().all());
        assert!(!hunt(None, None, Some("g")).judge(&crash).unwrap().all());
    }

    #[test]
    fn subtypes_count_and_what_the_test_itself_does_wrong_does_not() {
        let wanted = Hunt { subtypes: vec!["KeyError".into(), "IndexError".into()], ..hunt(Some("LookupError"), None, None) };
        assert!(wanted.judge(&thrown("KeyError", "x", &[("m", "f")])).unwrap().all());
        assert_eq!(wanted.judge(&thrown("KeyError", "x", &[("lib.json", "f")])), None);
        assert_eq!(wanted.judge(&[]), None);
        let bare = Hunt { bare: true, ..wanted };
        assert!(bare.judge(&thrown("KeyError", "x", &[])).unwrap().all());
    }

    #[test]
    fn texts_with_placeholders_explain_messages() {
        assert_eq!(shared("while scanning an %s", "while scanning an anchor"), "while scanning an".len());
        assert_eq!(shared("Buffer size, %s, is too big.", "buffer size"), "buffer size".len());
        assert_eq!((shared("while scanning a %s", "while parsing"), shared("a", "a b"), shared("", "x")), (0, 0, 0));
    }
}
