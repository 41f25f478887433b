//! Which crashes a benchmark runs: a suite in TOML, or a folder of crash folders. Reads names and texts only; what the programs
//! need is fetched by `fetch`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cli::SuiteArgs;
use crate::config::Host;
use crate::error::UserError;

/// One crash: its log, and how to get the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    pub id: String,
    pub log: PathBuf,
    pub program: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Maven coordinates, with all that they need at run time.
    Maven(Vec<String>),
    Jars(Vec<PathBuf>),
    /// A Python environment with the packages of this file.
    Requirements(PathBuf),
    /// A Python environment with these packages: `name==version`.
    Pip(Vec<String>),
}

/// `bench/suites/*.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The folder that has a folder for each crash, relative to the file.
    crashes: PathBuf,
    #[serde(rename = "crash")]
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    /// What goes wrong, in a few words; for readers.
    #[serde(rename = "about")]
    _about: Option<String>,
    /// Where the defect was reported; a crash without a report does not belong here.
    issue: String,
    /// Of the version that has the defect.
    #[serde(default)]
    maven: Vec<String>,
    /// The same for Python: `name==version`.
    #[serde(default)]
    pip: Vec<String>,
}

/// The crashes that were asked for, in the suite's order.
pub fn read(args: &SuiteArgs, host: &Host) -> Result<Vec<Crash>, UserError> {
    let (path, found) = match (&args.suite, &args.suite_dir) {
        (Some(file), _) => (host.cwd.join(file), from_file(&host.cwd.join(file))),
        (None, Some(dir)) => (host.cwd.join(dir), from_folder(&host.cwd.join(dir))),
        (None, None) => unreachable!("the command line demands one of them"),
    };
    let bad = |why: String| UserError::BenchInput { path: path.clone(), why };
    let mut crashes = found.map_err(bad)?;
    if let Some(unknown) = args.only.iter().find(|id| !crashes.iter().any(|crash| crash.id == **id)) {
        return Err(bad(format!("has no crash {unknown}")));
    }
    crashes.retain(|crash| args.only.is_empty() || args.only.contains(&crash.id));
    if crashes.is_empty() { Err(bad("has no crash".into())) } else { Ok(crashes) }
}

fn from_file(path: &Path) -> Result<Vec<Crash>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    parse(&text, path.parent().unwrap_or(Path::new(".")))
}

fn parse(text: &str, base: &Path) -> Result<Vec<Crash>, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut crashes: Vec<Crash> = Vec::new();
    for entry in file.entries {
        if !is_name(&entry.id) {
            return Err(format!("{:?} is no name for a crash", entry.id));
        }
        if crashes.iter().any(|crash| crash.id == entry.id) {
            return Err(format!("{} is there twice", entry.id));
        }
        if !entry.issue.starts_with("https://") {
            return Err(format!("{}: the issue is no address", entry.id));
        }
        if let Some(bad) = entry.maven.iter().find(|c| coordinates(c) != [c.as_str()]) {
            return Err(format!("{}: {bad:?} is not group:artifact:version", entry.id));
        }
        let folder = base.join(&file.crashes).join(&entry.id);
        let (log, program) = match (entry.maven.is_empty(), entry.pip.is_empty()) {
            (false, true) => ("crash.log", Source::Maven(entry.maven)),
            (true, false) if entry.pip.iter().all(|p| is_pinned(p)) => ("traceback.txt", Source::Pip(entry.pip)),
            (true, false) => return Err(format!("{}: {:?} are not all name==version", entry.id, entry.pip)),
            _ => return Err(format!("{}: give either maven or pip", entry.id)),
        };
        crashes.push(Crash { id: entry.id, log: folder.join(log), program });
    }
    Ok(crashes)
}

/// `name==version`: another day must not bring another program.
fn is_pinned(package: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.[]+!".contains(c));
    package.split_once("==").is_some_and(|(name, version)| plain(name) && plain(version))
}

/// Becomes the name of a folder.
fn is_name(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn from_folder(dir: &Path) -> Result<Vec<Crash>, String> {
    if let Ok(index) = std::fs::read_to_string(dir.join("index.csv")) {
        return from_index(&index, dir);
    }
    let entries = std::fs::read_dir(dir).map_err(|e| e.to_string())?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders.iter().filter_map(|folder| from_crash_folder(folder)).collect())
}

/// `None` for a folder that is something else.
fn from_crash_folder(folder: &Path) -> Option<Crash> {
    let id = folder.file_name()?.to_str().filter(|id| is_name(id))?.to_string();
    let (log, traceback) = (folder.join("crash.log"), folder.join("traceback.txt"));
    if traceback.is_file() {
        return Some(Crash { id, log: traceback, program: Source::Requirements(folder.join("requirements.txt")) });
    }
    let is_jar = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar"));
    let jars = std::fs::read_dir(folder.join("bin")).ok()?;
    let mut jars: Vec<PathBuf> = jars.flatten().map(|entry| entry.path()).filter(is_jar).collect();
    jars.sort();
    log.is_file().then_some(Crash { id, log, program: Source::Jars(jars) })
}

/// A table with columns `id` and `maven_coordinate`; rows without a coordinate have no program that could be fetched.
fn from_index(text: &str, dir: &Path) -> Result<Vec<Crash>, String> {
    let mut rows = text.lines().map(csv_row);
    let head = rows.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|c| c == name).ok_or_else(|| format!("index.csv has no column {name}"));
    let (id, maven) = (column("id")?, column("maven_coordinate")?);
    let crash = |row: Vec<String>| {
        let id = row.get(id).filter(|id| is_name(id))?.clone();
        let found = coordinates(row.get(maven)?);
        (!found.is_empty()).then(|| Crash { log: dir.join(&id).join("crash.log"), id, program: Source::Maven(found) })
    };
    Ok(rows.filter_map(crash).collect())
}

/// The cells of one line; quoted cells may hold commas and doubled quotes.
pub fn csv_row(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().expect("there is always a cell");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells
}

/// All `group:artifact:version` in a text that may say more.
fn coordinates(text: &str) -> Vec<String> {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || "._-:".contains(c));
    let is_coordinate = |word: &&str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3 && parts.iter().all(|p| !p.is_empty() && !p.starts_with('.')) && parts[2].starts_with(|c: char| c.is_ascii_digit())
    };
    text.split(outside).filter(is_coordinate).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        crashes = "../crashes"
        [[crash]]
        id = "CLI-193"
        about = "words"
        issue = "https://example.org/CLI-193"
        maven = ["commons-cli:commons-cli:1.2"]
    "#;

    #[test]
    fn a_suite_names_logs_and_coordinates() {
        let crashes = parse(SUITE, Path::new("/suites")).unwrap();
        let want = Source::Maven(vec!["commons-cli:commons-cli:1.2".into()]);
        assert_eq!(crashes, [Crash { id: "CLI-193".into(), log: "/suites/../crashes/CLI-193/crash.log".into(), program: want }]);
    }

    #[test]
    fn what_is_wrong_with_a_suite_is_told() {
        let why = |from: &str, to: &str| parse(&SUITE.replace(from, to), Path::new("/")).unwrap_err();
        assert!(why("about", "abuot").contains("abuot"));
        assert!(why("CLI-193\"\n        about", "../x\"\n        about").contains("no name"));
        assert!(why("commons-cli:1.2", "commons-cli").contains("group:artifact:version"));
        assert!(why("https://example.org/", "").contains("no address"));
        assert!(parse(&format!("{SUITE}{}", SUITE.split_once("\"../crashes\"").unwrap().1), Path::new("/")).unwrap_err().contains("twice"));
    }

    #[test]
    fn an_index_may_have_notes_beside_its_coordinates() {
        let index = "id,url,maven_coordinate\nA-1,\"x, \"\"y\"\"\",g.h:a:1.2? (fits best)\nA-2,z,not on Central\nA-3,z,g:a:2.0 g:b:1-rc\n";
        let crashes = from_index(index, Path::new("/d")).unwrap();
        let ids: Vec<&str> = crashes.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["A-1", "A-3"]);
        assert_eq!(crashes[0].program, Source::Maven(vec!["g.h:a:1.2".into()]));
        assert_eq!(crashes[1].program, Source::Maven(vec!["g:a:2.0".into(), "g:b:1-rc".into()]));
        assert!(from_index("id\nA-1\n", Path::new("/d")).is_err());
    }

    #[test]
    fn quoted_cells() {
        assert_eq!(csv_row("a,\"b, \"\"c\"\"\",,d"), ["a", "b, \"c\"", "", "d"]);
        assert_eq!(csv_row(""), [""]);
    }

    #[test]
    fn the_suite_of_the_repository_is_whole() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/suites/java.toml");
        let crashes = from_file(&path).unwrap();
        assert!(crashes.len() >= 25, "{}", crashes.len());
        let mut libraries: Vec<&str> = Vec::new();
        for crash in &crashes {
            let log = std::fs::read_to_string(&crash.log).unwrap();
            assert!(log.contains("\tat ") && !log.contains("Trigger"), "{}", crash.id);
            assert!(crash.log.with_file_name("Trigger.java").is_file(), "{}", crash.id);
            let Source::Maven(coordinates) = &crash.program else { panic!("{crash:?}") };
            libraries.extend(coordinates.iter().filter_map(|c| c.rsplit_once(':')).map(|(library, _)| library));
        }
        libraries.sort_unstable();
        libraries.dedup();
        assert!(libraries.len() >= 8, "{libraries:?}");
    }
}
