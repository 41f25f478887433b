//! The goal: which throwable, through which frames, resolved against the program; and when an execution meets it.
//!
//! Level `k` asks for the innermost program frames 1..=k (architecture: frames are counted innermost = 1). A hunt has no frames to go through; its one
//! level stands for the callables that tests may begin with.

pub mod hunt;

use std::sync::Arc;

use crate::execution::Execution;
use crate::message::distance;
use crate::program::near::near;
use crate::program::{MethodId, MethodKind, Program, TypeId};
use crate::trace::{Frame, Throwable, Trace, Via, Wanted, accepts, is_recursion, reached, same_end};
use hunt::Hunt;

/// A frame found in the program.
#[derive(Clone, Debug)]
pub struct GoalFrame {
    pub frame: Frame,
    pub class: TypeId,
    /// Methods of that name whose line table has the line (all of that name where lines are unknown).
    pub methods: Vec<MethodId>,
    /// It initialises its type: only the first use in a process runs it.
    pub first_use: bool,
}

/// Why a frame does not fit the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    NoClass,
    NoMethod { has: Vec<String> },
    NoLine { nearest: Option<u32>, span: Option<(u32, u32)> },
}

/// A frame that does not fit; `number` counts program frames from the innermost = 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub number: usize,
    pub frame: Frame,
    pub why: Misfit,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct CrashGoal {
    pub exception: String,
    pub message: Option<String>,
    /// The messages of the exception and its printed causes, each with the type.
    pub messages: Vec<(String, String)>,
    /// Only an exception with the same message will do.
    pub same_message: bool,
    /// Types of the printed causes, in order.
    pub causes: Vec<String>,
    /// Whose frames are wanted: 0 the exception's own, n those of its n-th printed cause.
    pub frames_of: usize,
    /// Innermost first; its length is the outermost target k.
    pub frames: Vec<GoalFrame>,
    /// Program frames that the log prints.
    pub total: usize,
    /// Frames beyond k that do not fit, the first of them being the reason why k is not larger.
    pub mismatches: Vec<Mismatch>,
    /// Compared by its cycle, not by depth.
    pub overflow: bool,
    /// All wanted program frames, for acceptance.
    pub(crate) wanted: Arc<[Frame]>,
    /// Types of the platform with frames in the log, each once: what the program was given is mostly one of their kind.
    pub platform: Vec<TypeId>,
    /// Types near the trace, whose code its methods run ([`crate::program::near`]).
    pub near: Vec<TypeId>,
    /// What to look for instead of frames.
    pub hunt: Option<Arc<Hunt>>,
}

impl CrashGoal {
    /// The outermost target k.
    pub fn outermost(&self) -> usize {
        self.frames.len()
    }

    /// What a test has to throw to meet the goal at `level`.
    pub fn wanted(&self, level: usize) -> Wanted<'_> {
        let frames = if self.overflow { &self.wanted[..] } else { &self.wanted[..level.min(self.wanted.len())] };
        Wanted { frames, exception: &self.exception, causes: &self.causes, frames_of: self.frames_of }
    }

    /// How the execution meets the goal at `level`, if it does.
    pub fn met_by(&self, level: usize, execution: &Execution) -> Option<Via> {
        self.accepts(level, execution.thrown()?.1)
    }

    /// How a thrown chain meets the goal at `level`, if it does.
    pub fn accepts(&self, level: usize, chain: &[Throwable]) -> Option<Via> {
        match &self.hunt {
            Some(hunt) => hunt.judge(chain).filter(|verdict| verdict.all()).map(|_| Via::Direct),
            None => accepts(&self.wanted(level), chain).filter(|_| self.tells_same(chain)),
        }
    }

    /// The outermost level that a thrown chain meets; 0 if none.
    pub fn level_of(&self, chain: &[Throwable]) -> usize {
        if self.hunt.is_some() {
            return usize::from(self.accepts(1, chain).is_some());
        }
        if !self.tells_same(chain) {
            return 0;
        }
        let reached = reached(&self.wanted(self.outermost()), chain).map_or(0, |r| r.frames);
        reached.min(self.outermost())
    }

    /// Whether a chain that meets the goal also ends like the log: of a runaway recursion, in the same methods, which is chance.
    pub fn ends_alike(&self, chain: &[Throwable]) -> bool {
        let ends = |t: &Throwable| t.exception == self.exception && same_end(&self.wanted, &t.program_frames());
        !self.overflow || chain.iter().any(ends)
    }

    /// Whether the message is the same, if it has to be.
    pub fn tells_same(&self, chain: &[Throwable]) -> bool {
        let same = |t: &Throwable| t.exception == self.exception && distance(self.message.as_deref().unwrap_or(""), t.message.as_deref().unwrap_or("")) == 0.0;
        !self.same_message || chain.iter().any(same)
    }

    /// Whether a frame of the level shows only in a process that has not used its type before.
    pub fn is_first_use(&self, level: usize) -> bool {
        self.frames[..level.min(self.frames.len())].iter().any(|f| f.first_use)
    }

    /// The types of its frames, innermost first, each once; of a hunt, also those of what it calls and aims at.
    pub fn classes(&self) -> Vec<TypeId> {
        let mut classes: Vec<TypeId> = Vec::new();
        let (frames, hunt) = (self.frames.iter().map(|f| f.class), self.hunt.as_deref());
        let aimed_at = hunt.into_iter().flat_map(|h| h.sites.iter().map(|s| s.class).chain(h.types.iter().copied()));
        for class in frames.chain(aimed_at) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// Finds the types near the trace, for searches that look beyond its own.
    #[must_use]
    pub fn with_near(mut self, program: &Program) -> CrashGoal {
        const MOST: usize = 30;
        const MOST_OF_MAKERS: usize = 15;
        let methods: Vec<MethodId> = self.frames.iter().rev().flat_map(|f| f.methods.iter().copied()).collect();
        self.near = near(program, &methods, &self.classes(), MOST);
        // what a test hands to a constructor is often taken apart there, long before the crash
        let mut owners: Vec<TypeId> = Vec::new();
        for owner in methods.iter().filter(|m| program.method(**m).kind == MethodKind::Instance).map(|m| program.method(*m).owner) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        let is_maker = |m: &MethodId| program.method(*m).kind == MethodKind::Constructor;
        let makers: Vec<MethodId> = owners.iter().flat_map(|t| program.methods_of(*t)).filter(is_maker).collect();
        let known = [self.classes(), self.near.clone()].concat();
        self.near.extend(near(program, &makers, &known, MOST_OF_MAKERS));
        self
    }

    /// The frame that a test for `level` calls into.
    pub fn frame(&self, level: usize) -> &GoalFrame {
        &self.frames[level - 1]
    }
}

/// Aligns a trace with the program. `Err` if not even the innermost program frame fits: then every misfit is listed.
///
/// Frames 1..=k are targeted, where k is the largest number such that all of them resolve to class, method and line
/// (a class without line table: method). Frames beyond are reported.
pub fn resolve(trace: &Trace, program: &Program) -> Result<CrashGoal, Unresolved> {
    let (frames_of, wanted) = target_frames(trace);
    let total = wanted.len();
    let mut frames = Vec::new();
    let mut mismatches = Vec::new();
    for (i, frame) in wanted.iter().enumerate() {
        match locate(frame, program) {
            Ok(found) if mismatches.is_empty() => frames.push(found),
            Ok(_) => {}
            Err(why) => mismatches.push(Mismatch { number: i + 1, frame: frame.clone(), why }),
        }
    }
    if frames.is_empty() {
        return Err(Unresolved { total, mismatches });
    }
    let overflow = is_recursion(&trace.thrown.exception);
    let wanted: Arc<[Frame]> = if overflow { wanted.into() } else { wanted[..frames.len()].into() };
    let causes = trace.cause_types();
    Ok(CrashGoal {
        exception: trace.thrown.exception.clone(),
        message: trace.thrown.message.clone(),
        messages: std::iter::once(&trace.thrown).chain(&trace.causes).filter_map(|t| Some((t.exception.clone(), t.message.clone()?))).collect(),
        same_message: false,
        causes,
        frames_of,
        frames,
        total,
        mismatches,
        overflow,
        wanted,
        platform: platform_types(trace, program),
        near: Vec::new(),
        hunt: None,
    })
}

fn platform_types(trace: &Trace, program: &Program) -> Vec<TypeId> {
    let mut out = Vec::new();
    for frame in std::iter::once(&trace.thrown).chain(&trace.causes).flat_map(|t| &t.frames).filter(|f| f.platform) {
        if let Some(ty) = program.find_type(&frame.class)
            && !out.contains(&ty)
        {
            out.push(ty);
        }
    }
    out
}

/// The program frames that count and whose they are: an exception without program frames of its own (a failed initialiser) is
/// recognised by those of its first cause that has some.
fn target_frames(trace: &Trace) -> (usize, Vec<Frame>) {
    let own = trace.program_frames();
    if !own.is_empty() && !trace.thrown.exception.ends_with("ExceptionInInitializerError") {
        return (0, own);
    }
    let cause = trace.causes.iter().enumerate().map(|(i, c)| (i + 1, c.program_frames())).find(|(_, f)| !f.is_empty());
    match cause {
        Some(found) if own.is_empty() => found,
        _ => (0, own),
    }
}

fn locate(frame: &Frame, program: &Program) -> Result<GoalFrame, Misfit> {
    let class = program.find_type(&frame.class).ok_or(Misfit::NoClass)?;
    let named: Vec<MethodId> = program.methods_named(class, &frame.method).collect();
    if named.is_empty() {
        let has = program.methods_of(class).map(|m| program.method_name(m).to_string()).collect();
        return Err(Misfit::NoMethod { has });
    }
    let Some(line) = frame.line else {
        return Ok(goal_frame(program, frame, class, named));
    };
    let tables: Vec<(MethodId, Option<Vec<u32>>)> = named.iter().map(|m| (*m, lines_of(program, *m))).collect();
    let fits = |lines: &Option<Vec<u32>>| lines.as_ref().is_none_or(|l| l.contains(&line));
    let methods: Vec<MethodId> = tables.iter().filter(|(_, l)| fits(l)).map(|(m, _)| *m).collect();
    if methods.is_empty() {
        let all: Vec<u32> = tables.into_iter().filter_map(|(_, l)| l).flatten().collect();
        let nearest = all.iter().copied().min_by_key(|l| (l.abs_diff(line), *l));
        let span = all.iter().min().copied().zip(all.iter().max().copied());
        return Err(Misfit::NoLine { nearest, span });
    }
    Ok(goal_frame(program, frame, class, methods))
}

fn goal_frame(program: &Program, frame: &Frame, class: TypeId, methods: Vec<MethodId>) -> GoalFrame {
    let first_use = !program.is_dynamic() && methods.iter().any(|m| program.method(*m).kind == MethodKind::TypeInitializer);
    GoalFrame { frame: frame.clone(), class, methods, first_use }
}

/// The lines of a method; `None` if it has no line table.
fn lines_of(program: &Program, method: MethodId) -> Option<Vec<u32>> {
    let body = program.body(method)?;
    let lines: Vec<u32> = body.lines().map(|(line, _)| line).collect();
    (!lines.is_empty()).then_some(lines)
}

/// Not even the innermost program frame fits the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    pub total: usize,
    pub mismatches: Vec<Mismatch>,
}
