//! The program: files of a traceback, the packages they belong to, and what their source says.
//!
//! Nothing is executed or imported. What cannot be read or parsed is a diagnostic; the rest goes on without it.

mod align;
mod annotation;
mod bodies;
mod build;
mod docstring;
mod examples;
mod file;
mod find;
mod imports;
pub(crate) mod index;
mod member;
mod platform;
pub(crate) mod resolve;
mod shapes;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::program_of;
mod usage;
pub(crate) mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethrow_core::parsed::Diagnostic;
use rethrow_core::program::{MethodId, Program, TypeId};
use rethrow_core::trace::Trace;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::interpreter::Member;
pub use align::align;
pub(crate) use build::Origin;
pub(crate) use file::{File, Lines};
use find::Candidate;

/// Where to look, for which interpreter, and what is known beside the files.
#[derive(Clone, Debug)]
pub struct Places {
    /// `--source` folders, then the entries of `sys.path`, in order; those of the standard library may be among them.
    pub search: Vec<PathBuf>,
    /// Folders of the standard library.
    pub stdlib: Vec<PathBuf>,
    /// Major and minor version of the interpreter: since 3.12 comprehensions are not code of their own.
    pub version: (u32, u32),
    /// Code that the report shows: how the program was called.
    pub shown: Vec<String>,
}

/// More files, or bytes, than these are not read.
const MAX_FILES: usize = 3000;
const MAX_BYTES: usize = 60 << 20;
const MAX_DIAGNOSTICS: usize = 50;

/// The files of the program.
pub struct Sources {
    pub(crate) places: Places,
    pub(crate) files: Vec<File>,
    pub(crate) by_module: FxHashMap<String, usize>,
    pub(crate) by_path: FxHashMap<PathBuf, usize>,
    /// For each method of the program, in order of ids, where it comes from.
    pub(crate) origins: Vec<Origin>,
    pub(crate) methods: FxHashMap<(usize, usize), MethodId>,
    /// Which classes define an attribute: file, class.
    pub(crate) attributes: FxHashMap<String, Vec<(usize, usize)>>,
}

impl Sources {
    /// The folders that have to be on the interpreter's path for the program to be imported.
    pub fn search(&self) -> &[PathBuf] {
        &self.places.search
    }
    /// The program's files, those of the trace first.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|f| f.path.as_path())
    }
    /// The module of a file.
    pub fn module_of(&self, path: &Path) -> Option<&str> {
        self.by_path.get(path).map(|f| self.files[*f].module.as_str())
    }
    /// The file of a module.
    pub fn path_of(&self, module: &str) -> Option<&Path> {
        self.by_module.get(module).map(|f| self.files[*f].path.as_path())
    }
}

impl Sources {
    /// The types of files whose text has one of the words, at most `limit` files.
    pub fn mentioning(&self, program: &Program, words: &[String], limit: usize) -> Vec<TypeId> {
        let has = |file: &&File| {
            let text = file.text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        let modules: FxHashSet<&str> = self.files.iter().filter(has).take(limit).map(|f| f.module.as_str()).collect();
        program.types().filter(|t| !program.ty(*t).platform && modules.contains(program.package(*t))).collect()
    }

    /// Whether the file of one of the types has one of the words.
    pub fn any_mentions(&self, program: &Program, types: &[TypeId], words: &[&str]) -> bool {
        let files = types.iter().filter_map(|t| self.by_module.get(program.package(*t))).filter_map(|f| self.files.get(*f));
        files.into_iter().any(|file| words.iter().any(|word| file.text.contains(word)))
    }

    /// The type that defines what a method stands for: another module, where a name was imported.
    pub fn defined_in(&self, program: &Program, method: MethodId) -> TypeId {
        let like = match self.origins.get(method.0 as usize) {
            Some(Origin::Member { like: Some(like), .. }) => self.methods.get(like).copied(),
            _ => None,
        };
        program.method(like.unwrap_or(method)).owner
    }
}

/// A program and the files it was read from.
pub struct Loaded {
    pub program: Program,
    pub sources: Arc<Sources>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the packages of the traces' files and those of `modules` (dotted names, for a hunt without trace).
pub fn load(traces: &[&Trace], modules: &[String], places: &Places) -> Loaded {
    load_with(traces, modules, None, places)
}

/// Reads the package of a module and adds what can be called in it though its source does not define it.
pub fn load_module(module: &str, members: &[Member], places: &Places) -> Loaded {
    load_with(&[], &[module.to_string()], Some((module, members)), places)
}

fn load_with(traces: &[&Trace], modules: &[String], hunted: Option<(&str, &[Member])>, places: &Places) -> Loaded {
    let places = places.with_src();
    let mut reader = Reader { places: &places, files: Vec::new(), known: FxHashSet::default(), bytes: 0, skipped: 0, diagnostics: Vec::new() };
    let mut first = Vec::new();
    let printed = traces.iter().flat_map(|t| t.chain()).flat_map(|t| &t.frames).filter(|f| !f.platform).map(|f| f.class.as_str());
    let mut seen = FxHashSet::default();
    for path in printed.filter(|p| seen.insert(*p)) {
        match places.locate(path) {
            Some(found) if !places.is_stdlib(&found.path) => first.push(found),
            Some(_) => {}
            None if path.starts_with('<') => {}
            None => reader.diagnostics.push(Diagnostic::general(format!("{path} is not below the search paths"))),
        }
    }
    for module in modules {
        match places.module(module) {
            Some(found) => first.push(found),
            None => reader.diagnostics.push(Diagnostic::general(format!("module {module} is not below the search paths"))),
        }
    }
    first.iter().for_each(|c| reader.read(c));
    let mut packages = FxHashSet::default();
    for c in first.iter().filter(|c| packages.insert(c.module.split('.').next().unwrap_or("").to_string())) {
        places.siblings(c).iter().for_each(|c| reader.read(c));
    }
    if !traces.is_empty() {
        imports::read(&mut reader, &first);
    }
    let Reader { files, skipped, mut diagnostics, .. } = reader;
    if skipped > 0 {
        diagnostics.push(Diagnostic::general(format!("{skipped} further files of the packages were not read")));
    }
    let (program, sources) = build::build(places, files, hunted);
    Loaded { program, sources, diagnostics }
}

pub(crate) struct Reader<'p> {
    pub(crate) places: &'p Places,
    pub(crate) files: Vec<File>,
    known: FxHashSet<PathBuf>,
    bytes: usize,
    skipped: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(crate) fn read(&mut self, candidate: &Candidate) {
        if !self.known.insert(candidate.path.clone()) {
            return;
        }
        if self.files.len() >= MAX_FILES || self.bytes >= MAX_BYTES {
            self.skipped += 1;
            return;
        }
        match File::read(&candidate.path, &candidate.module, self.places.version) {
            Ok(file) => {
                self.bytes += file.text.len();
                self.files.push(file);
            }
            Err(why) if self.diagnostics.len() < MAX_DIAGNOSTICS => {
                self.diagnostics.push(Diagnostic::general(format!("{}: {why}", candidate.path.display())));
            }
            Err(_) => {}
        }
    }
}
