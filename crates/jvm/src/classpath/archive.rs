//! What a jar means: which class each entry is for the chosen JDK, which archives lie inside, what its manifest asks for.

use std::io;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::manifest::Manifest;
use super::source::Source;
use super::zip::{self, Entry, limit};

/// The classes of one jar, or of one directory inside it, in directory order.
pub(crate) struct Archive {
    source: Source,
    /// Internal names of all members, one after the other.
    names: String,
    members: Vec<Member>,
    /// Members by name.
    sorted: Vec<u32>,
    /// Signed or sealed: no class of ours may join its packages.
    pub closed: bool,
}

struct Member {
    name: (u32, u32),
    entry: Entry,
}

/// A part of an opened jar: itself, a directory of classes inside it, or a jar inside it.
pub(crate) struct Part {
    pub archive: Archive,
    /// Where inside the jar; empty for the jar itself.
    pub inside: String,
}

/// A jar as found.
pub(crate) struct Opened {
    pub parts: Vec<Part>,
    pub manifest: Manifest,
    pub oddities: Vec<String>,
}

const CLASS_DIRS: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];
const LIBRARY_DIRS: [&str; 3] = ["BOOT-INF/lib/", "WEB-INF/lib/", "WEB-INF/lib-provided/"];
const VERSIONS: &str = "META-INF/versions/";

/// Opens a jar and, once, the jars inside it. `feature` is the JDK that multi-release entries are chosen for.
pub(crate) fn open(source: Source, feature: u32) -> Result<Opened, String> {
    let mut listing = Listing::read(&source)?;
    let manifest = listing.manifest(&source);
    let closed = listing.signed || manifest.sealed;
    let mut parts = Vec::new();
    for (dir, rows) in std::mem::take(&mut listing.class_dirs) {
        let archive = Archive::new(source.clone(), rows, closed, &mut listing.oddities);
        parts.push(Part { archive, inside: dir.to_owned() });
    }
    for (name, entry) in std::mem::take(&mut listing.libraries) {
        match open_library(&source, &entry, feature) {
            Ok(opened) => {
                listing.oddities.extend(opened.oddities.into_iter().map(|text| format!("{name}: {text}")));
                parts.extend(opened.parts.into_iter().map(|part| Part { inside: name.clone(), ..part }));
            }
            Err(why) => listing.oddities.push(format!("{name}: {why}")),
        }
    }
    let rows = listing.plain_rows(&manifest, feature);
    let archive = Archive::new(source, rows, closed, &mut listing.oddities);
    if parts.is_empty() || !archive.members.is_empty() {
        parts.push(Part { archive, inside: String::new() });
    }
    Ok(Opened { parts, manifest, oddities: listing.oddities })
}

/// Not followed further inwards: no tool nests deeper.
fn open_library(outer: &Source, entry: &Entry, feature: u32) -> Result<Opened, String> {
    let source = nested(outer, entry).map_err(|e| e.to_string())?;
    let mut listing = Listing::read(&source)?;
    let manifest = listing.manifest(&source);
    let closed = listing.signed || manifest.sealed;
    let rows = listing.plain_rows(&manifest, feature);
    let archive = Archive::new(source, rows, closed, &mut listing.oddities);
    Ok(Opened { parts: vec![Part { archive, inside: String::new() }], manifest, oddities: listing.oddities })
}

fn nested(outer: &Source, entry: &Entry) -> io::Result<Source> {
    match zip::stored_part(outer, entry)? {
        Some(part) => Ok(part),
        None => Ok(Source::Memory(zip::read_entry(outer, entry, limit::NESTED_BYTES)?.into())),
    }
}

type Row = (String, Entry);

/// The entries that matter, sorted into what they are.
#[derive(Default)]
struct Listing {
    plain: Vec<Row>,
    versioned: Vec<(u32, String, Entry)>,
    class_dirs: Vec<(&'static str, Vec<Row>)>,
    libraries: Vec<Row>,
    manifest: Option<Entry>,
    signed: bool,
    oddities: Vec<String>,
}

impl Listing {
    fn read(source: &Source) -> Result<Listing, String> {
        let mut listing = Listing::default();
        zip::for_each_entry(source, |name, entry| match std::str::from_utf8(name) {
            Ok(name) => listing.add(name, entry),
            Err(_) => listing.odd("entry name is not UTF-8", &String::from_utf8_lossy(name)),
        })?;
        Ok(listing)
    }

    fn odd(&mut self, what: &str, name: &str) {
        self.oddities.push(format!("{what}: {name}"));
    }

    fn add(&mut self, name: &str, entry: Entry) {
        if name.starts_with("META-INF/") && !name.starts_with(VERSIONS) {
            match &name["META-INF/".len()..] {
                "MANIFEST.MF" => self.manifest = Some(entry),
                other => self.signed |= other.ends_with(".SF"),
            }
        } else if LIBRARY_DIRS.iter().any(|dir| name.starts_with(dir)) && name.ends_with(".jar") {
            self.libraries.push((name.to_owned(), entry));
        } else if let Some(class) = name.strip_suffix(".class") {
            self.add_class(class, entry);
        }
    }

    fn add_class(&mut self, name: &str, entry: Entry) {
        if !is_sane(name) {
            self.odd("entry name leads out of the archive, ignored", name);
        } else if let Some(rest) = name.strip_prefix(VERSIONS) {
            if let Some((version, class)) = rest.split_once('/')
                && let Ok(version) = version.parse()
            {
                self.versioned.push((version, class.to_owned(), entry));
            }
        } else if let Some(dir) = CLASS_DIRS.iter().find(|dir| name.starts_with(**dir)) {
            let row = (name[dir.len()..].to_owned(), entry);
            match self.class_dirs.iter_mut().find(|(known, _)| known == dir) {
                Some((_, rows)) => rows.push(row),
                None => self.class_dirs.push((dir, vec![row])),
            }
        } else {
            self.plain.push((name.to_owned(), entry));
        }
    }

    fn manifest(&self, source: &Source) -> Manifest {
        let bytes = self.manifest.and_then(|entry| zip::read_entry(source, &entry, 16 << 20).ok());
        Manifest::parse(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
    }

    /// Classes of the jar itself; of a multi-release jar, for each the highest version that the JDK takes, first.
    fn plain_rows(&mut self, manifest: &Manifest, feature: u32) -> Vec<Row> {
        let plain = std::mem::take(&mut self.plain);
        let mut versioned = std::mem::take(&mut self.versioned);
        if !manifest.multi_release || feature < 9 {
            return plain;
        }
        versioned.retain(|(version, ..)| (9..=feature).contains(version));
        versioned.sort_by_key(|(version, ..)| std::cmp::Reverse(*version));
        let mut seen = FxHashSet::default();
        let chosen: Vec<Row> = versioned.into_iter().filter(|(_, name, _)| seen.insert(name.clone())).map(|(_, name, entry)| (name, entry)).collect();
        let rest = plain.into_iter().filter(|(name, _)| !seen.contains(name));
        chosen.iter().cloned().chain(rest).collect()
    }
}

/// Neither absolute nor with a component that leads upwards.
fn is_sane(name: &str) -> bool {
    !name.split('/').any(|part| matches!(part, "" | "." | "..")) && !name.contains(['\\', '\0'])
}

impl Archive {
    fn new(source: Source, rows: Vec<Row>, closed: bool, oddities: &mut Vec<String>) -> Archive {
        let mut archive = Archive { source, names: String::new(), members: Vec::with_capacity(rows.len()), sorted: Vec::new(), closed };
        for (name, entry) in rows {
            if name == "module-info" {
                continue;
            }
            let start = archive.names.len() as u32;
            archive.names.push_str(&name);
            archive.members.push(Member { name: (start, archive.names.len() as u32), entry });
        }
        archive.drop_duplicates(oddities);
        archive
    }

    /// The first of a name stays, as the JVM takes it.
    fn drop_duplicates(&mut self, oddities: &mut Vec<String>) {
        let mut sorted: Vec<u32> = (0..self.members.len() as u32).collect();
        sorted.sort_by(|a, b| self.name(*a).cmp(self.name(*b)).then(a.cmp(b)));
        sorted.dedup_by(|later, first| {
            let same = self.name(*later) == self.name(*first);
            if same {
                oddities.push(format!("entry occurs twice, the second is ignored: {}.class", self.name(*later)));
            }
            same
        });
        self.sorted = sorted;
    }

    /// Numbers of the classes, in directory order.
    pub fn classes(&self) -> Vec<u32> {
        let mut classes = self.sorted.clone();
        classes.sort_unstable();
        classes
    }

    pub fn name(&self, index: u32) -> &str {
        let (start, end) = self.members[index as usize].name;
        &self.names[start as usize..end as usize]
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        let at = self.sorted.binary_search_by(|i| self.name(*i).cmp(name)).ok()?;
        Some(self.sorted[at])
    }

    pub fn has_package(&self, package: &str) -> bool {
        let at = self.sorted.partition_point(|i| self.name(*i) < package);
        self.sorted[at..]
            .iter()
            .map(|i| self.name(*i))
            .take_while(|name| name.starts_with(package))
            .any(|name| name.rsplit_once('/').is_some_and(|(p, _)| p == package))
    }

    pub fn read_class(&self, index: u32) -> io::Result<Vec<u8>> {
        zip::read_entry(&self.source, &self.members[index as usize].entry, limit::CLASS_BYTES)
    }

    /// Writes the whole archive to a file (for archives inside others).
    pub fn copy_to(&self, file: &Path) -> io::Result<()> {
        std::fs::write(file, self.source.read(0, self.source.len())?)
    }

    /// Writes everything below the directory `inside` of the archive, resources too.
    pub fn extract_to(&self, inside: &str, target: &Path) -> io::Result<()> {
        let mut wanted = Vec::new();
        zip::for_each_entry(&self.source, |name, entry| {
            let name = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix(inside));
            if let Some(name) = name.filter(|name| is_sane(name)) {
                wanted.push((name.to_owned(), entry));
            }
        })
        .map_err(io::Error::other)?;
        for (name, entry) in wanted {
            let path = target.join(name);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, zip::read_entry(&self.source, &entry, limit::NESTED_BYTES)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::{memory, zip as make};
    use super::*;

    fn check(entries: &[(&str, &[u8])], feature: u32) -> Opened {
        open(memory(&make(entries, true)), feature).unwrap()
    }

    fn names(part: &Part) -> Vec<&str> {
        part.archive.classes().into_iter().map(|i| part.archive.name(i)).collect()
    }

    #[test]
    fn names_that_lead_out_and_duplicates_are_ignored_and_told() {
        let opened = check(&[("a/B.class", b"1"), ("../x/C.class", b"2"), ("/D.class", b"3"), ("a/B.class", b"4"), ("module-info.class", b"")], 17);
        assert_eq!(names(&opened.parts[0]), ["a/B"]);
        assert_eq!(opened.parts[0].archive.read_class(0).unwrap(), b"1");
        assert_eq!(opened.oddities.len(), 3, "{:?}", opened.oddities);
    }

    #[test]
    fn multi_release_entries_follow_the_jdk() {
        let manifest: &[u8] = b"Manifest-Version: 1.0\nMulti-Release: true\n";
        let entries: [(&str, &[u8]); 5] = [
            ("META-INF/MANIFEST.MF", manifest),
            ("a/B.class", b"base"),
            ("META-INF/versions/9/a/B.class", b"nine"),
            ("META-INF/versions/11/a/B.class", b"eleven"),
            ("META-INF/versions/11/a/New.class", b"new"),
        ];
        let read = |feature: u32, name: &str| {
            let opened = check(&entries, feature);
            let archive = &opened.parts[0].archive;
            archive.find(name).map(|i| archive.read_class(i).unwrap())
        };
        assert_eq!(read(8, "a/B").unwrap(), b"base");
        assert_eq!(read(10, "a/B").unwrap(), b"nine");
        assert_eq!(read(17, "a/B").unwrap(), b"eleven");
        assert_eq!((read(10, "a/New"), read(11, "a/New").unwrap()), (None, b"new".to_vec()));
        let without = check(&entries[1..], 17);
        assert_eq!(names(&without.parts[0]), ["a/B"]);
    }

    #[test]
    fn nested_archives_come_after_the_classes_they_serve() {
        let library = make(&[("lib/L.class", b"L")], true);
        for deflate in [false, true] {
            let entries: [(&str, &[u8]); 4] =
                [("boot/Loader.class", b"x"), ("BOOT-INF/lib/l.jar", &library), ("BOOT-INF/lib/bad.jar", b"no zip"), ("BOOT-INF/classes/app/A.class", b"A")];
            let opened = open(memory(&make(&entries, deflate)), 17).unwrap();
            let found: Vec<_> = opened.parts.iter().map(|p| (p.inside.as_str(), names(p))).collect();
            let expected = [("BOOT-INF/classes/", vec!["app/A"]), ("BOOT-INF/lib/l.jar", vec!["lib/L"]), ("", vec!["boot/Loader"])];
            assert_eq!(found, expected);
            assert_eq!(opened.parts[1].archive.read_class(0).unwrap(), b"L");
            assert!(opened.oddities[0].contains("bad.jar"));
        }
    }

    #[test]
    fn packages_are_known_and_signatures_close_them() {
        let opened = check(&[("a/b/C.class", b""), ("a/bc/D.class", b""), ("META-INF/X.SF", b"")], 17);
        let archive = &opened.parts[0].archive;
        assert!(archive.has_package("a/b") && archive.has_package("a/bc") && !archive.has_package("a"));
        assert!(archive.closed);
    }
}
