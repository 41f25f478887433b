//! Which files are watched, and under which numbers: the core's [`ProbePlan`] and what the workers are told.

use std::path::PathBuf;

use rethrow_core::probe::{BranchPoint, Point, ProbePlan, Relation};
use rethrow_core::program::{Program, TypeId};
use rustc_hash::FxHashSet;

use crate::lower;
use crate::source::Sources;
use crate::source::index::CodeKind;

/// A place in a file: `col` is the byte offset in the line, as in CPython's own syntax trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub line: u32,
    pub col: u32,
    pub number: u32,
}

/// A code object: `first_line` and `name` are its `co_firstlineno` and `co_name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    pub first_line: u32,
    pub name: String,
    /// The type whose method it is.
    pub class: String,
}

/// A file with probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedFile {
    pub path: PathBuf,
    pub module: String,
    pub points: Vec<Site>,
    pub branches: Vec<Site>,
    pub codes: Vec<Code>,
}

/// The code objects of a file without probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCodes {
    pub path: PathBuf,
    pub codes: Vec<Code>,
}

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub plan: ProbePlan,
    pub files: Vec<WatchedFile>,
    /// Of the program's other files.
    pub codes: Vec<FileCodes>,
}

/// Lines of files near the trace that are watched.
const NEAR_LINES: u32 = 2500;

/// Watches the files of `types` in full, and those of `near` up to a length; the other files of the program only tell their code objects.
///
/// Code without statements (lambdas, comprehensions) has branches only. What a module or class does when it is imported is not watched.
pub fn watch_near(program: &Program, sources: &Sources, types: &[TypeId], near: &[TypeId]) -> Watch {
    let mut watch = Watch::default();
    let mut wanted: FxHashSet<&str> = types.iter().map(|t| program.package(*t)).collect();
    let mut room = NEAR_LINES;
    for module in near.iter().map(|t| program.package(*t)) {
        let lines = sources.by_module.get(module).map_or(0, |f| sources.files[*f].index.codes[0].last_line);
        if lines <= room && wanted.insert(module) {
            room -= lines;
        }
    }
    for (number, file) in sources.files.iter().enumerate() {
        let codes = codes(sources, number);
        if wanted.contains(file.module.as_str()) {
            let (points, branches) = probes(program, sources, number, &mut watch.plan);
            watch.files.push(WatchedFile { path: file.path.clone(), module: file.module.clone(), points, branches, codes });
        } else {
            watch.codes.push(FileCodes { path: file.path.clone(), codes });
        }
    }
    watch
}

/// Watches the files of `types` and no others.
pub fn watch(program: &Program, sources: &Sources, types: &[TypeId]) -> Watch {
    watch_near(program, sources, types, &[])
}

fn codes(sources: &Sources, file: usize) -> Vec<Code> {
    let codes = sources.files[file].index.codes.iter().enumerate();
    codes.map(|(i, c)| Code { first_line: c.first_line, name: c.name.clone(), class: sources.owner_name(file, i) }).collect()
}

/// Numbers the places of a file.
fn probes(program: &Program, sources: &Sources, number: usize, plan: &mut ProbePlan) -> (Vec<Site>, Vec<Site>) {
    let file = &sources.files[number];
    let site = |pc: u32, number: u32| {
        let (line, col) = file.lines().position(pc);
        Site { line, col, number }
    };
    let (mut points, mut branches) = (Vec::new(), Vec::new());
    for (at, code) in file.index.codes.iter().enumerate() {
        let Some(method) = sources.methods.get(&(number, at)).filter(|_| !matches!(code.kind, CodeKind::Module | CodeKind::Class)) else { continue };
        let Ok(lowered) = lower::lower(program, sources, (number, at)) else { continue };
        points.extend((plan.points..).zip(&lowered.points).map(|(n, (pc, _))| site(*pc, n)));
        branches.extend((plan.branches..).zip(&lowered.branches).map(|(n, pc)| site(*pc, n)));
        let watched = lowered.points.iter().map(|(pc, line)| Point { pc: *pc, line: Some(*line) }).collect();
        let decided = lowered.branches.iter().map(|pc| BranchPoint { pc: *pc, taken_if: Relation::Ne }).collect();
        plan.add(*method, watched, decided, Vec::new());
    }
    (points, branches)
}
