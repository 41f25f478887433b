//! The class path and the JDK's own classes, as named bytes.
//!
//! Opens jars (nested and multi-release ones too), directories, wildcards and the JDK image, and answers which class is where.
//! It reads names and bytes only; what the bytes mean is for [`load`] and [`crate::lower`]. Nothing is executed.

mod archive;
mod directory;
mod image;
mod load;
mod manifest;
mod source;
mod zip;

pub use load::load;
pub(crate) use load::{UNKNOWN_TYPE, binary_name, ty_from};

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rethrow_core::parsed::{Diagnostic, Parsed};

use crate::jdk::Jdk;
use archive::Archive;
use directory::Directory;
use image::{Image, Location};
use source::Source;

/// Why there is no class path to work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClassPathError {
    #[error("the class path is empty")]
    Empty,
    /// Path and reason of each entry.
    #[error("no class path entry can be read: {}", list(.0))]
    Unreadable(Vec<(PathBuf, String)>),
    #[error("the JDK at {} has no readable classes: {why}", home.display())]
    Platform { home: PathBuf, why: String },
}

fn list(entries: &[(PathBuf, String)]) -> String {
    entries.iter().map(|(path, why)| format!("{} ({why})", path.display())).collect::<Vec<_>>().join(", ")
}

/// Everything that classes are read from: the program's entries first, then the platform.
pub struct ClassPath {
    roots: Vec<Root>,
    /// Roots before this one are the program's.
    platform_start: usize,
    /// Archives that manifests name but that do not exist: (who, what).
    absent: Vec<(PathBuf, String)>,
    feature: u32,
    highest_version: OnceLock<u16>,
}

/// One place of classes.
struct Root {
    /// The file or directory on disk.
    path: PathBuf,
    /// Where in it, for an archive inside an archive.
    inside: String,
    contents: Contents,
}

enum Contents {
    Archive(Archive),
    Directory(Directory),
    Image { image: Image, classes: Vec<Location> },
}

/// A class of one root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub root: u16,
    pub index: u32,
}

/// A place of classes, for messages and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    pub path: &'a Path,
    /// `BOOT-INF/lib/x.jar`; empty for the file or directory itself.
    pub inside: &'a str,
    pub platform: bool,
}

const MAX_ROOTS: usize = u16::MAX as usize;

impl ClassPath {
    /// Opens every element of `spec`, each of which may itself be a colon-separated list or end in `/*`. Elements that cannot be
    /// read are diagnostics, unless none can.
    pub fn open(spec: &[String], jdk: &Jdk) -> Result<Parsed<ClassPath>, ClassPathError> {
        let mut opening = Opening { feature: jdk.feature, ..Opening::default() };
        let elements: Vec<&str> = spec.iter().flat_map(|s| s.split(':')).filter(|s| !s.is_empty()).collect();
        if elements.is_empty() {
            return Err(ClassPathError::Empty);
        }
        for element in elements {
            opening.add_element(element);
        }
        opening.follow_manifests();
        if opening.roots.is_empty() {
            return Err(ClassPathError::Unreadable(opening.failed));
        }
        let platform_start = opening.roots.len();
        opening.add_platform(jdk)?;
        Ok(opening.finish(platform_start))
    }

    /// The bytes of a class by run-time name (`java.util.Map$Entry`; slashes do too): the program's if it has one, else the platform's.
    pub fn class_bytes(&self, binary_name: &str) -> Option<Cow<'_, [u8]>> {
        let place = self.find(&binary_name.replace('.', "/"))?;
        self.read(place).ok().map(Cow::Owned)
    }

    pub fn contains(&self, binary_name: &str) -> bool {
        self.find(&binary_name.replace('.', "/")).is_some()
    }

    /// Places of classes in search order. The index is what types give as their origin.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let entry = |(i, root)| {
            let Root { path, inside, .. }: &Root = root;
            Entry { path, inside, platform: i >= self.platform_start }
        };
        self.roots.iter().enumerate().map(entry)
    }

    /// The program's files (archives, and every class file of directories), each once: what a record of a run hashes.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for root in &self.roots[..self.platform_start] {
            match &root.contents {
                Contents::Directory(dir) => files.extend((0..dir.len()).map(|i| dir.file(i))),
                _ if files.last() == Some(&root.path) => {}
                _ => files.push(root.path.clone()),
            }
        }
        files
    }

    /// What to give to a JVM as its class path: the entries, and in place of those inside other archives copies of them written to
    /// `scratch`, since the system class loader does not look there.
    pub fn launch_entries(&self, scratch: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::create_dir_all(scratch)?;
        let mut entries = Vec::new();
        for (i, root) in self.roots[..self.platform_start].iter().enumerate() {
            let entry = match &root.contents {
                Contents::Archive(archive) if root.inside.ends_with('/') => {
                    let target = scratch.join(format!("{i:03}"));
                    archive.extract_to(&root.inside, &target)?;
                    target
                }
                Contents::Archive(archive) if !root.inside.is_empty() => {
                    let name = root.inside.rsplit('/').next().unwrap_or(&root.inside);
                    let target = scratch.join(format!("{i:03}-{name}"));
                    archive.copy_to(&target)?;
                    target
                }
                _ => root.path.clone(),
            };
            entries.push(entry);
        }
        Ok(entries)
    }

    /// The feature version of the JDK that it was opened for.
    pub fn feature(&self) -> u32 {
        self.feature
    }

    /// The highest class-file version of the program's classes (61 is Java 17), as far as they can be read.
    pub fn highest_class_version(&self) -> u16 {
        *self.highest_version.get_or_init(|| {
            let version = |place| {
                let bytes = self.read(place).ok()?;
                Some(u16::from_be_bytes([*bytes.get(6)?, *bytes.get(7)?]))
            };
            (0..self.platform_start).flat_map(|root| self.places(root as u16)).filter_map(version).max().unwrap_or(0)
        })
    }

    /// The JUnit generation (5 or 4) that the program's class path carries.
    pub fn has_junit(&self) -> Option<u8> {
        let has = |name: &str| self.roots[..self.platform_start].iter().any(|root| root.find(name).is_some());
        if has("org/junit/jupiter/api/Test") { Some(5) } else { has("org/junit/Test").then_some(4) }
    }

    /// Whether a class of ours may not join that package (dotted): signed or sealed archives, and the platform's own.
    pub fn is_closed(&self, package: &str) -> bool {
        let package = package.replace('.', "/");
        package.starts_with("java/")
            || self.roots.iter().any(|root| match &root.contents {
                Contents::Archive(archive) => archive.closed && archive.has_package(&package),
                Contents::Directory(_) => false,
                Contents::Image { image, .. } => image.has_package(&package),
            })
    }

    /// Why a class may be missing, in a sentence.
    pub fn missing_hint(&self, binary_name: &str) -> Option<String> {
        let package = binary_name.rsplit_once('.').map_or("", |(package, _)| package);
        let internal = package.replace('.', "/");
        let holder = self.roots.iter().find(|root| root.has_package(&internal));
        if let Some(root) = holder.filter(|_| !package.is_empty()) {
            return Some(format!("package {package} is in {}, but {binary_name} is not; is it another version?", root.label()));
        }
        let (who, what) = self.absent.first()?;
        Some(format!("{} names {what} in its Class-Path, which does not exist", who.display()))
    }

    pub(crate) fn is_platform(&self, root: u16) -> bool {
        usize::from(root) >= self.platform_start
    }

    pub(crate) fn root_count(&self) -> u16 {
        self.roots.len() as u16
    }

    /// By internal name.
    pub(crate) fn find(&self, name: &str) -> Option<Place> {
        (0..self.root_count()).find_map(|root| self.find_in(root, name))
    }

    pub(crate) fn find_in(&self, root: u16, name: &str) -> Option<Place> {
        let index = self.roots.get(usize::from(root))?.find(name)?;
        Some(Place { root, index })
    }

    /// All classes of a root, in its own order.
    pub(crate) fn places(&self, root: u16) -> Vec<Place> {
        let indices = match &self.roots[usize::from(root)].contents {
            Contents::Archive(archive) => archive.classes(),
            Contents::Directory(dir) => (0..dir.len()).collect(),
            Contents::Image { classes, .. } => (0..classes.len() as u32).collect(),
        };
        indices.into_iter().map(|index| Place { root, index }).collect()
    }

    /// Internal name.
    pub(crate) fn name(&self, place: Place) -> Cow<'_, str> {
        match &self.roots[usize::from(place.root)].contents {
            Contents::Archive(archive) => archive.name(place.index).into(),
            Contents::Directory(dir) => dir.name(place.index).into(),
            Contents::Image { image, classes } => image.class_name(&classes[place.index as usize]).into(),
        }
    }

    pub(crate) fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        match &self.roots[usize::from(place.root)].contents {
            Contents::Archive(archive) => archive.read_class(place.index),
            Contents::Directory(dir) => dir.read_class(place.index),
            Contents::Image { image, classes } => image.read_class(&classes[place.index as usize]),
        }
    }

    /// `app.jar!BOOT-INF/lib/x.jar`, for messages.
    pub(crate) fn label(&self, root: u16) -> String {
        self.roots[usize::from(root)].label()
    }

    pub(crate) fn image(&self) -> Option<&Image> {
        self.roots.iter().find_map(|root| match &root.contents {
            Contents::Image { image, .. } => Some(image),
            _ => None,
        })
    }

    pub(crate) fn set_highest_version(&self, version: u16) {
        // A second load finds the same number.
        let _ = self.highest_version.set(version);
    }
}

impl Root {
    fn label(&self) -> String {
        match self.inside.as_str() {
            "" => self.path.display().to_string(),
            inside => format!("{}!{inside}", self.path.display()),
        }
    }

    fn find(&self, name: &str) -> Option<u32> {
        match &self.contents {
            Contents::Archive(archive) => archive.find(name),
            Contents::Directory(dir) => dir.find(name),
            Contents::Image { image, classes } => {
                let location = image.find(name)?;
                classes.binary_search_by_key(&location.offset(), |l| l.offset()).ok().map(|i| i as u32)
            }
        }
    }

    fn has_package(&self, package: &str) -> bool {
        match &self.contents {
            Contents::Archive(archive) => archive.has_package(package),
            Contents::Directory(dir) => dir.has_package(package),
            Contents::Image { image, .. } => image.has_package(package),
        }
    }
}

/// A class path on its way.
#[derive(Default)]
struct Opening {
    roots: Vec<Root>,
    seen: Vec<PathBuf>,
    /// Manifest entries still to follow: (archive, relative URL).
    pending: Vec<(PathBuf, String)>,
    absent: Vec<(PathBuf, String)>,
    failed: Vec<(PathBuf, String)>,
    diagnostics: Vec<Diagnostic>,
    feature: u32,
}

/// More oddities of one archive than this are only counted.
const TOLD_PER_ARCHIVE: usize = 8;

impl Opening {
    fn add_element(&mut self, element: &str) {
        match element.strip_suffix('*').filter(|dir| dir.is_empty() || dir.ends_with('/')) {
            Some("") => self.add_wildcard(Path::new(".")),
            Some(dir) => self.add_wildcard(Path::new(dir)),
            None => self.add_path(Path::new(element)),
        }
    }

    fn add_wildcard(&mut self, dir: &Path) {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) => return self.fail(dir, e.to_string()),
        };
        let is_jar = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar"));
        let mut jars: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_jar).collect();
        jars.sort();
        if jars.is_empty() {
            self.fail(dir, "no jar in this directory".to_owned());
        }
        jars.iter().for_each(|jar| self.add_path(jar));
    }

    fn fail(&mut self, path: &Path, why: String) {
        self.diagnostics.push(Diagnostic::general(format!("class path entry {} cannot be read: {why}", path.display())));
        self.failed.push((path.to_path_buf(), why));
    }

    fn add_path(&mut self, path: &Path) {
        let canonical = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if self.seen.contains(&canonical) {
            return;
        }
        self.seen.push(canonical);
        if self.roots.len() >= MAX_ROOTS / 2 {
            return self.fail(path, "too many class path entries".to_owned());
        }
        let opened = if path.is_dir() { self.add_directory(path) } else { self.add_archive(path) };
        if let Err(why) = opened {
            self.fail(path, why);
        }
    }

    fn add_directory(&mut self, path: &Path) -> Result<(), String> {
        let dir = Directory::open(path).map_err(|e| e.to_string())?;
        self.roots.push(Root { path: path.to_path_buf(), inside: String::new(), contents: Contents::Directory(dir) });
        Ok(())
    }

    fn add_archive(&mut self, path: &Path) -> Result<(), String> {
        let source = Source::open(path).map_err(|e| e.to_string())?;
        let opened = archive::open(source, self.feature)?;
        let told = opened.oddities.len().min(TOLD_PER_ARCHIVE);
        for text in &opened.oddities[..told] {
            self.diagnostics.push(Diagnostic::general(format!("{}: {text}", path.display())));
        }
        if opened.oddities.len() > told {
            let more = opened.oddities.len() - told;
            self.diagnostics.push(Diagnostic::general(format!("{}: {more} more oddities", path.display())));
        }
        self.pending.extend(opened.manifest.class_path.into_iter().map(|url| (path.to_path_buf(), url)));
        for part in opened.parts.into_iter().take(MAX_ROOTS / 2) {
            self.roots.push(Root { path: path.to_path_buf(), inside: part.inside, contents: Contents::Archive(part.archive) });
        }
        Ok(())
    }

    /// Archives named by manifests come after all that the user named. (The JVM puts each behind its archive; the difference
    /// shows only when two archives hold the same class.)
    fn follow_manifests(&mut self) {
        let mut i = 0;
        while i < self.pending.len().min(4096) {
            let (archive, url) = self.pending[i].clone();
            i += 1;
            let relative = url.strip_prefix("file:").unwrap_or(&url).replace("%20", " ");
            let path = archive.parent().unwrap_or(Path::new("")).join(relative);
            match path.exists() {
                true => self.add_path(&path),
                false => self.absent.push((archive, url)),
            }
        }
    }

    fn add_platform(&mut self, jdk: &Jdk) -> Result<(), ClassPathError> {
        let failed = |why: String| ClassPathError::Platform { home: jdk.home.clone(), why };
        if let Some(path) = jdk.image() {
            let image = Image::open(&path).map_err(failed)?;
            let classes = image.classes();
            self.roots.push(Root { path, inside: String::new(), contents: Contents::Image { image, classes } });
            return Ok(());
        }
        let jars = jdk.platform_jars();
        if jars.is_empty() {
            return Err(failed("neither lib/modules nor rt.jar".to_owned()));
        }
        self.pending.clear();
        jars.iter().try_for_each(|jar| self.add_archive(jar).map_err(failed))
    }

    fn finish(self, platform_start: usize) -> Parsed<ClassPath> {
        let Opening { roots, absent, feature, diagnostics, .. } = self;
        let value = ClassPath { roots, platform_start, absent, feature, highest_version: OnceLock::new() };
        Parsed { value, diagnostics }
    }
}

#[cfg(test)]
mod tests;
