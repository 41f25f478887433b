//! One resolved configuration for a run: options, the environment and built-in defaults, settled once.
//!
//! This is the only module that reads the environment. It goes into the run record, so that a replay starts from the same
//! settings on another day; what belongs to the machine and the moment ([`Host`]) does not.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rethrow_jvm::jdk::{self, Jdk};
use serde::{Deserialize, Serialize};

use crate::choice::SearchChoice;
use crate::cli::{GenerateArgs, HuntArgs, HuntPreset, Preset, ReproduceArgs, RunOptions, Sandbox, SearchOptions, Style};
use crate::error::UserError;
use crate::mechanism::Without;

/// More workers than this do not pay by default: each holds a whole JVM.
const DEFAULT_WORKERS: usize = 4;

/// Everything that decides a run. Paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    pub log: PathBuf,
    /// The log came from standard input; `log` is the copy that was kept.
    pub from_stdin: bool,
    pub classpath: Vec<PathBuf>,
    /// `--python`; `None`: as found.
    #[serde(default)]
    pub python: Option<PathBuf>,
    /// Folders with Python modules.
    #[serde(default)]
    pub source: Vec<PathBuf>,
    pub target_frame: Option<usize>,
    /// Which trace of the log, from 1.
    pub pick: usize,
    /// For everything: search, minimisation, confirmation.
    pub budget_ms: u64,
    pub max_evaluations: Option<u64>,
    pub seed: u64,
    pub out: PathBuf,
    pub run_dir: PathBuf,
    /// `None`: as found on the class path, else 4.
    pub junit: Option<u32>,
    pub style: Style,
    /// `--java-home`; `None`: the best JDK found.
    pub java_home: Option<PathBuf>,
    pub sandbox: Sandbox,
    pub allow_read: Vec<PathBuf>,
    pub workers: usize,
    pub confirm_runs: u32,
    #[serde(default)]
    pub search: SearchChoice,
    /// What to look for where there is no log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunt: Option<HuntChoice>,
    #[serde(skip)]
    pub host: Host,
}

/// The target of a hunt: a module or a class, and what is to be thrown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntChoice {
    pub module: Option<String>,
    pub class: Option<String>,
    pub exception: Option<String>,
    pub message: Option<String>,
    pub function: Option<String>,
}

impl HuntChoice {
    /// In a few words: `ValueError "buffer size" in compose`.
    pub fn words(&self) -> String {
        let mut words = vec![self.exception.clone().unwrap_or_else(|| "any exception".into())];
        words.extend(self.message.as_ref().map(|m| format!("\"{m}\"")));
        words.extend(self.function.as_ref().map(|f| format!("through {f}")));
        words.join(" ")
    }
}

/// The machine and the moment. Not recorded: it names what is private and changes from run to run.
#[derive(Clone, Debug)]
pub struct Host {
    /// When the process began: the budget counts from here.
    pub started: Instant,
    /// `$JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    /// `$VIRTUAL_ENV`.
    pub virtual_env: Option<PathBuf>,
    /// `$PATH`.
    pub path: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    /// Where fetched jars and environments of benchmarks live: `$RETHROW_CACHE`, else `rethrow` in the user's cache.
    pub cache: Option<PathBuf>,
    pub cwd: PathBuf,
    pub stderr_is_terminal: bool,
    /// The locale can show more than ASCII.
    pub unicode: bool,
    pub cores: usize,
    /// Set by the first Ctrl-C; whoever works for long polls it.
    pub interrupted: Arc<AtomicBool>,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            started: Instant::now(),
            java_home: None,
            virtual_env: None,
            path: Vec::new(),
            home: None,
            cache: None,
            cwd: PathBuf::from("/"),
            stderr_is_terminal: false,
            unicode: false,
            cores: 1,
            interrupted: Arc::default(),
        }
    }
}

impl Host {
    /// Reads the environment of this process.
    pub fn read(started: Instant) -> Host {
        let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(var).unwrap_or_default();
        Host {
            started,
            java_home: var("JAVA_HOME").map(PathBuf::from),
            virtual_env: var("VIRTUAL_ENV").map(PathBuf::from),
            path: var("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default(),
            home: var("HOME").map(PathBuf::from),
            cache: var("RETHROW_CACHE").map(PathBuf::from).or_else(|| {
                let user = var("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| var("HOME").map(|home| Path::new(&home).join(".cache")));
                user.map(|dir| dir.join("rethrow"))
            }),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            stderr_is_terminal: std::io::stderr().is_terminal() && var("TERM").is_none_or(|t| t != "dumb"),
            unicode: is_utf8(&locale),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            interrupted: Arc::default(),
        }
    }

    /// The JDKs of this machine, the most wanted first.
    pub fn jdks(&self, explicit: Option<&Path>) -> Vec<Jdk> {
        let path = self.search_path();
        let java_home = self.java_home.as_deref().map(Path::as_os_str);
        jdk::find(jdk::Search { explicit, java_home, path: path.as_deref(), user_home: self.home.as_deref() })
    }

    /// `$PATH` in one piece.
    pub fn search_path(&self) -> Option<OsString> {
        std::env::join_paths(&self.path).ok().filter(|path| !path.is_empty())
    }

    /// An executable of that name on `$PATH`.
    pub fn which(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|dir| dir.join(name)).find(|file| is_executable(file))
    }

    /// A program as the user names it: a plain name is looked for on `$PATH`, the rest is a path.
    pub fn command(&self, name: &Path) -> PathBuf {
        let plain = name.components().count() == 1 && !self.cwd.join(name).exists();
        plain.then(|| name.to_str().and_then(|n| self.which(n))).flatten().unwrap_or_else(|| self.cwd.join(name))
    }

    /// The Python interpreters of this machine, the most wanted first.
    pub fn pythons(&self) -> Vec<PathBuf> {
        let in_folder = |dir: PathBuf| dir.join("bin/python");
        let environments = self.virtual_env.iter().cloned().chain([self.cwd.join(".venv"), self.cwd.join("venv")]);
        let mut found: Vec<PathBuf> = environments.map(in_folder).filter(|p| is_executable(p)).collect();
        found.extend(["python3", "python"].into_iter().filter_map(|name| self.which(name)));
        found.dedup();
        found
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Config {
    pub fn resolve(args: ReproduceArgs, host: Host) -> Result<Config, UserError> {
        let run = Config::for_run(&args.run, host)?;
        let from_stdin = args.log == Path::new("-");
        Ok(Config {
            log: if from_stdin { run.run_dir.join("crash.log") } else { run.host.cwd.join(&args.log) },
            from_stdin,
            target_frame: args.target_frame.map(|n| n as usize),
            pick: args.pick as usize,
            search: SearchChoice::of(args.search),
            ..run
        })
    }

    /// What every search for one test has; what it looks for is not in it.
    fn for_run(args: &RunOptions, host: Host) -> Result<Config, UserError> {
        let absolute = |path: &Path| host.cwd.join(path);
        let run_dir = absolute(&args.run_dir);
        Ok(Config {
            log: PathBuf::new(),
            from_stdin: false,
            classpath: expand_classpath(&args.classpath, &host.cwd)?,
            python: args.python.as_deref().map(|p| host.command(p)),
            source: args.source.iter().map(|p| absolute(p)).collect(),
            target_frame: None,
            pick: 1,
            budget_ms: args.budget.as_millis() as u64,
            max_evaluations: args.max_evaluations,
            seed: args.seed,
            out: args.out.as_deref().map_or_else(|| run_dir.join("tests"), absolute),
            run_dir,
            junit: args.junit,
            style: args.style,
            java_home: args.java_home.as_deref().map(absolute),
            sandbox: args.jail.sandbox,
            allow_read: args.jail.allow_read.iter().map(|p| absolute(p)).collect(),
            workers: args.workers.map_or(host.cores.min(DEFAULT_WORKERS), |n| n as usize),
            confirm_runs: args.confirm_runs,
            search: SearchChoice::default(),
            hunt: None,
            host,
        })
    }

    /// For a run that has no log.
    pub fn for_generate(args: &GenerateArgs, host: Host) -> Result<Config, UserError> {
        let absolute = |path: &Path| host.cwd.join(path);
        let run_dir = absolute(&args.run_dir);
        Ok(Config {
            log: PathBuf::new(),
            from_stdin: false,
            classpath: expand_classpath(&args.classpath, &host.cwd)?,
            python: args.python.as_deref().map(|p| host.command(p)),
            source: args.source.iter().map(|p| absolute(p)).collect(),
            target_frame: None,
            pick: 1,
            budget_ms: args.budget.as_millis() as u64,
            max_evaluations: args.max_tests,
            seed: args.seed,
            out: args.out.as_deref().map_or_else(|| run_dir.join("tests"), absolute),
            run_dir,
            junit: Some(4),
            style: Style::Failing,
            java_home: args.java_home.as_deref().map(absolute),
            sandbox: args.jail.sandbox,
            allow_read: args.jail.allow_read.iter().map(|p| absolute(p)).collect(),
            workers: args.workers.map_or(host.cores.min(DEFAULT_WORKERS), |n| n as usize),
            confirm_runs: 1,
            search: SearchChoice::default(),
            hunt: None,
            host,
        })
    }

    /// For a run that has a target instead of a log.
    pub fn for_hunt(args: HuntArgs, host: Host) -> Result<Config, UserError> {
        let asked = |text: Option<String>| text.map(|t| t.trim().to_string()).filter(|t| !t.is_empty());
        let hunt = HuntChoice {
            module: asked(args.module),
            class: asked(args.class),
            exception: asked(args.exception),
            message: asked(args.message),
            function: asked(args.function),
        };
        let bad = |why: &str| Err(UserError::BadFlags { why: why.into() });
        if hunt.exception.is_none() && hunt.message.is_none() && hunt.function.is_none() {
            return bad("a hunt needs at least one of --exception, --message and --function");
        }
        if args.preset == HuntPreset::Beacon && hunt.class.is_some() {
            return bad("--preset beacon calls the functions of a Python module: give --module");
        }
        let preset = if args.preset == HuntPreset::Beacon { Preset::Beacon } else { Preset::Default };
        let search = SearchOptions { preset, objective: None, secondary: None, trace_distance: None, match_message: false, without: Without::default() };
        Ok(Config { search: SearchChoice::of(search), hunt: Some(hunt), ..Config::for_run(&args.run, host)? })
    }

    /// What messages call the log.
    pub fn log_name(&self) -> String {
        if self.from_stdin { "standard input".into() } else { crate::report::short(&self.log, &self.host.cwd) }
    }

    pub fn budget(&self) -> Duration {
        Duration::from_millis(self.budget_ms)
    }
}

/// Colon lists to single paths, in order, each once. `dir/*` is every jar of the folder, by name, as `java -cp` has it.
/// Whether an entry is there is checked when it is opened.
fn expand_classpath(lists: &[OsString], cwd: &Path) -> Result<Vec<PathBuf>, UserError> {
    let mut out: Vec<PathBuf> = Vec::new();
    for entry in lists.iter().flat_map(std::env::split_paths).filter(|e| !e.as_os_str().is_empty()) {
        let found = match entry.file_name() {
            Some(name) if name == "*" => jars_in(&cwd.join(&entry).with_file_name(""))?,
            _ => vec![cwd.join(&entry)],
        };
        for path in found {
            if !out.contains(&path) {
                out.push(path);
            }
        }
    }
    Ok(out)
}

fn jars_in(dir: &Path) -> Result<Vec<PathBuf>, UserError> {
    let entries = std::fs::read_dir(dir).map_err(|_| UserError::ClassPathMissing { path: dir.to_path_buf() })?;
    let is_jar = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar"));
    let mut jars: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_jar).collect();
    jars.sort();
    Ok(jars)
}

fn is_utf8(locale: &OsStr) -> bool {
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.ends_with("utf-8") || locale.ends_with("utf8")
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn config(options: &str) -> Config {
        let words = ["rethrow", "reproduce"].into_iter().chain(options.split_whitespace());
        let Command::Reproduce(args) = Cli::try_parse_from(words).unwrap().command else { panic!("another command") };
        let host = Host { cwd: PathBuf::from("/here"), cores: 16, ..Host::default() };
        Config::resolve(args, host).unwrap()
    }

    #[test]
    fn paths_become_absolute_and_out_follows_the_run_dir() {
        let c = config("crash.log --classpath a.jar:/b.jar --classpath c --run-dir r");
        assert_eq!((c.log.clone(), c.log_name()), ("/here/crash.log".into(), "crash.log".into()));
        assert_eq!(c.classpath, ["/here/a.jar", "/b.jar", "/here/c"].map(PathBuf::from));
        assert_eq!((c.run_dir, c.out), ("/here/r".into(), "/here/r/tests".into()));
        assert_eq!(config("x --run-dir r --out o").out, PathBuf::from("/here/o"));
    }

    #[test]
    fn a_dash_is_standard_input() {
        let c = config("- --run-dir r");
        assert_eq!((c.log.clone(), c.log_name()), ("/here/r/crash.log".into(), "standard input".into()));
    }

    #[test]
    fn workers_are_bounded_by_default_only() {
        assert_eq!(config("x").workers, DEFAULT_WORKERS);
        assert_eq!(config("x --workers 9").workers, 9);
    }

    #[test]
    fn entries_count_once_and_empty_ones_not_at_all() {
        assert_eq!(config("x --classpath a.jar::a.jar:").classpath, ["/here/a.jar"].map(PathBuf::from));
    }

    #[test]
    fn a_star_is_every_jar_of_the_folder() {
        let dir = std::env::temp_dir().join(format!("rethrow-config-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["b.jar", "a.JAR", "c.txt"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        let found = expand_classpath(&[dir.join("*").into()], Path::new("/"));
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(found.unwrap(), [dir.join("a.JAR"), dir.join("b.jar")]);
    }

    #[test]
    fn the_host_is_not_recorded() {
        let c = config("x --classpath a.jar --target-frame 2");
        let json = serde_json::to_value(&c).unwrap();
        assert!(json.get("host").is_none());
        let back: Config = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), json);
    }

    #[test]
    fn locales() {
        for (locale, utf8) in [("en_US.UTF-8", true), ("C.utf8", true), ("C", false), ("", false)] {
            assert_eq!(is_utf8(OsStr::new(locale)), utf8, "{locale}");
        }
    }
}
