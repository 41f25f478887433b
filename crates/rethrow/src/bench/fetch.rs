//! Gets what the crashes of a suite need into the cache, each thing once: jars with Maven, Python environments with pip.
//!
//! A folder of the cache appears whole or not at all, so an interrupted fetch is simply done again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::suite::{Crash, Source};
use crate::cli::BenchFetchArgs;
use crate::config::Host;
use crate::error::UserError;
use crate::record::{Input, sha256};
use crate::report::say;

/// A crash whose program is there.
#[derive(Clone, Debug)]
pub struct Ready {
    pub id: String,
    pub log: PathBuf,
    pub program: Program,
    /// Of the log, then of everything that makes up the program.
    pub inputs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    Jars(Vec<PathBuf>),
    /// The interpreter of an environment.
    Python(PathBuf),
}

impl Program {
    pub fn language(&self) -> &'static str {
        match self {
            Program::Jars(_) => "java",
            Program::Python(_) => "python",
        }
    }

    /// How `rethrow reproduce` is told of it.
    pub fn flags(&self) -> Vec<String> {
        match self {
            Program::Jars(jars) => vec!["--classpath".into(), class_path(jars)],
            Program::Python(python) => vec!["--python".into(), python.display().to_string()],
        }
    }
}

/// `rethrow bench fetch`: a line for each crash, its id and its class path.
pub fn run(args: &BenchFetchArgs, host: &Host) -> Result<u8, UserError> {
    let mut missing = 0;
    for crash in super::suite::read(&args.suite, host)? {
        match program(&crash, host) {
            Ok(program) => say(&format!("{}\t{}\n", crash.id, program.flags()[1])),
            Err(why) => {
                missing += 1;
                crate::report::complain(&format!("{}: {why}\n", crash.id));
            }
        }
    }
    Ok(u8::from(missing > 0))
}

/// Fetches what is missing. `Err` says why the crash cannot be run.
pub fn ready(crash: &Crash, host: &Host) -> Result<Ready, String> {
    let program = program(crash, host)?;
    let mut files: Vec<&Path> = vec![&crash.log];
    match (&program, &crash.program) {
        (Program::Jars(jars), _) => files.extend(jars.iter().map(PathBuf::as_path)),
        (Program::Python(_), Source::Requirements(file)) => files.push(file),
        (Program::Python(_), _) => {}
    }
    let hash = |path: &Path| Input::read(path).map(|input| input.sha256).map_err(|e| format!("{}: {e}", path.display()));
    let mut inputs = files.into_iter().map(hash).collect::<Result<Vec<String>, String>>()?;
    if let Source::Pip(packages) = &crash.program {
        inputs.push(sha256(packages.join("\n").as_bytes()));
    }
    Ok(Ready { id: crash.id.clone(), log: crash.log.clone(), program, inputs })
}

/// The program alone: a new crash has no log yet.
fn program(crash: &Crash, host: &Host) -> Result<Program, String> {
    let cache = host.cache.as_ref().ok_or("there is no folder for a cache; set RETHROW_CACHE")?;
    let jars = match &crash.program {
        Source::Requirements(file) => {
            let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            return environment(&text, cache, host).map(Program::Python);
        }
        Source::Pip(packages) => return environment(&(packages.join("\n") + "\n"), cache, host).map(Program::Python),
        Source::Jars(jars) => jars.clone(),
        Source::Maven(coordinates) => {
            let fetched: Result<Vec<Vec<PathBuf>>, String> = coordinates.iter().map(|c| maven(c, cache, host)).collect();
            fetched?.concat()
        }
    };
    if jars.is_empty() { Err("has no jar".into()) } else { Ok(Program::Jars(jars)) }
}

pub fn class_path(jars: &[PathBuf]) -> String {
    jars.iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>().join(":")
}

/// The jar of these coordinates (`group:artifact:version`, or with `:jar:classifier`) and what it needs at run time.
pub fn maven(coordinate: &str, cache: &Path, host: &Host) -> Result<Vec<PathBuf>, String> {
    let folder = cache.join("jars").join(coordinate.replace(':', "_"));
    if folder.is_dir() {
        return jars_in(&folder);
    }
    let maven = host.which("mvn").ok_or_else(|| format!("{coordinate} is not in the cache, and mvn is not installed"))?;
    whole(&folder, |part| {
        let pom = part.join("pom.xml");
        std::fs::write(&pom, pom_for(coordinate)).map_err(|e| e.to_string())?;
        let run = |goal: &[String]| {
            let mut command = Command::new(&maven);
            command.args(["-q", "-B", "-f"]).arg(&pom).args(goal).current_dir(part);
            quietly(&mut command)
        };
        let out = format!("-DoutputDirectory={}", part.display());
        let with_dependencies = run(&["dependency:copy-dependencies".into(), "-DincludeScope=runtime".into(), out.clone()]);
        if with_dependencies.is_err() || jars_in(part)?.is_empty() {
            // Old artifacts name dependencies that are nowhere; the jar itself may do.
            run(&["dependency:copy".into(), format!("-Dartifact={coordinate}"), out])?;
        }
        let _ = std::fs::remove_file(&pom);
        if jars_in(part)?.is_empty() { Err(format!("Maven has no jar for {coordinate}")) } else { Ok(()) }
    })?;
    jars_in(&folder)
}

fn pom_for(coordinate: &str) -> String {
    let mut parts = coordinate.split(':');
    let mut part = || parts.next().unwrap_or_default();
    let (group, artifact, version, kind, classifier) = (part(), part(), part(), part(), part());
    let which = if classifier.is_empty() { String::new() } else { format!("<type>{kind}</type><classifier>{classifier}</classifier>") };
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies><dependency>\
         <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{which}</dependency></dependencies></project>\n"
    )
}

/// The interpreter of an environment with these packages and pytest.
pub fn environment(requirements: &str, cache: &Path, host: &Host) -> Result<PathBuf, String> {
    let folder = cache.join("venvs").join(&sha256(requirements.as_bytes())[..16]);
    let python = folder.join("bin/python");
    if folder.join("ready").is_file() {
        return Ok(python);
    }
    let system = host.which("python3").ok_or("python3 is not installed")?;
    // Environments know their own place and cannot be moved: a mark tells that it is whole.
    quietly(Command::new(system).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let file = folder.join("requirements.txt");
    std::fs::write(&file, requirements).map_err(|e| e.to_string())?;
    quietly(Command::new(&python).args(["-m", "pip", "install", "-q", "pytest", "-r"]).arg(&file))?;
    std::fs::write(folder.join("ready"), "").map_err(|e| e.to_string())?;
    Ok(python)
}

/// Makes a folder in one piece: filled beside its place, then renamed.
fn whole(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let mut name = folder.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = folder.with_file_name(name);
    std::fs::create_dir_all(&part).map_err(|e| format!("{}: {e}", part.display()))?;
    let done = fill(&part).and_then(|()| match std::fs::rename(&part, folder) {
        // Somebody else was faster.
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed.map_err(|e| e.to_string()),
    });
    // After a rename there is nothing left to remove.
    let _ = std::fs::remove_dir_all(&part);
    done
}

fn jars_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut jars: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "jar")).collect();
    jars.sort();
    Ok(jars)
}

/// Runs to the end; what it printed last is the reason if it failed.
fn quietly(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().map_err(|e| format!("{name}: {e}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find(|line| line.contains("ERROR")).or_else(|| said.lines().last()).unwrap_or("it failed");
    Err(format!("{name}: {}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_cache_is_there_whole_or_not_at_all() {
        let base = std::env::temp_dir().join(format!("rethrow-fetch-{}", std::process::id()));
        let folder = base.join("g_a_1");
        let half = whole(&folder, |part| {
            std::fs::write(part.join("a.jar"), "x").unwrap();
            Err("interrupted".into())
        });
        assert_eq!((half, folder.exists()), (Err("interrupted".into()), false));
        whole(&folder, |part| std::fs::write(part.join("a.jar"), "x").map_err(|e| e.to_string())).unwrap();
        // A second one finds it done.
        whole(&folder, |_| Ok(())).unwrap();
        let names: Vec<_> = std::fs::read_dir(&base).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!((jars_in(&folder).unwrap(), names), (vec![folder.join("a.jar")], vec!["g_a_1".into()]));
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn what_is_in_the_cache_needs_no_maven() {
        let cache = std::env::temp_dir().join(format!("rethrow-fetch-cached-{}", std::process::id()));
        let folder = cache.join("jars/g_a_1.0");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a-1.0.jar"), "x").unwrap();
        let host = Host { cache: Some(cache.clone()), ..Host::default() };
        let crash = |coordinate: &str| Crash { id: "A".into(), log: folder.join("a-1.0.jar"), program: Source::Maven(vec![coordinate.into()]) };
        let there = ready(&crash("g:a:1.0"), &host).unwrap();
        assert_eq!(there.program.flags(), ["--classpath".to_string(), folder.join("a-1.0.jar").display().to_string()]);
        assert_eq!(there.inputs.len(), 2);
        assert!(ready(&crash("g:a:2.0"), &host).unwrap_err().contains("mvn is not installed"));
        std::fs::remove_dir_all(&cache).unwrap();
    }
}
