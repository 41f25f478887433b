//! The command line: what can be typed, and nothing else.
//!
//! Parsing only. Defaults that depend on the machine, and the meaning of the options, are `config`'s business; a wrong flag ends
//! here with exit code 2.

mod bench;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::mechanism::{Without, parse_without};

pub use bench::{BeaconArgs, BenchFetchArgs, BenchGenerateArgs, BenchReportArgs, BenchRunArgs, Extent, SuiteArgs, Variant};

/// Longer budgets are typing errors.
const LONGEST_BUDGET: Duration = Duration::from_secs(7 * 24 * 3600);

/// Give it a stack trace and the program, get a minimal failing test.
#[derive(Debug, Parser)]
#[command(name = "rethrow", version, about, disable_help_subcommand = true, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    reproduced and confirmed, test written
  1    not reproduced within the budget
  2    wrong flags
  3    unusable input: no trace, or the program does not match it
  4    environment: no JDK, sandbox unavailable, run directory in use
  5    reproduced, but not confirmed or weaker than asked
  70   a bug in rethrow
  130  interrupted, best so far saved";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find a test that makes the program crash as in the log
    Reproduce(ReproduceArgs),
    /// Find a test that throws a certain exception, without a trace: from the callables of a Python module or of a Java class
    Hunt(HuntArgs),
    /// Write tests for Java classes or Python modules: a regression suite, and failing tests for what looks like defects
    Generate(GenerateArgs),
    /// Confirm the test case of an earlier run once more
    Replay(ReplayArgs),
    /// Tell what is installed, what is missing and how to get it
    Doctor(DoctorArgs),
    /// Run any command in the sandbox that tests run in
    Jail(JailArgs),
    /// Measure rethrow itself
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Ends as a bug would: keeps the road to exit code 70 tested.
    #[cfg(debug_assertions)]
    #[command(name = "__panic", hide = true)]
    Panic,
}

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// File with the stack trace, in any log; `-` reads standard input
    pub log: PathBuf,
    /// Accept only a test that goes through program frames 1..N of the trace (innermost is 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub target_frame: Option<u32>,
    /// Which of several traces in the log
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub pick: u32,
    #[command(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    pub search: SearchOptions,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true))]
pub struct HuntArgs {
    /// The Python module whose functions and classes are called: `mypkg.mod`
    #[arg(long, value_name = "NAME", group = "where")]
    pub module: Option<String>,
    /// The Java class whose methods are called: `org.example.Foo`
    #[arg(long, value_name = "NAME", group = "where", requires = "classpath")]
    pub class: Option<String>,
    /// The exception wanted, or one of its subtypes; the end of the name is enough
    #[arg(long, value_name = "TYPE")]
    pub exception: Option<String>,
    /// Words that its message has to contain; capitals matter if there are any in them
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// A function that has to be on the stack when it is thrown
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// `beacon` is the published configuration: a module's functions only, no types
    #[arg(long, value_name = "NAME", value_enum, default_value_t = HuntPreset::Default)]
    pub preset: HuntPreset,
    #[command(flatten)]
    pub run: RunOptions,
}

/// What every search for one test is given: the program, the time, where things go, how the test is written and confirmed.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Jars and class folders, colon-separated (`lib/*` takes all jars of a folder); also `-cp`
    #[arg(long, value_name = "PATHS")]
    pub classpath: Vec<OsString>,
    /// The Python interpreter that has the program's packages [default: that of the active virtual environment, .venv, else python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// A folder with the program's own Python modules; repeatable
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Time for everything: search, minimisation and confirmation (500ms, 90s, 5m, 1h)
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Stop the search after so many executed tests
    #[arg(long, value_name = "N")]
    pub max_evaluations: Option<u64>,
    /// Start of all chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where the test goes [default: <run-dir>/tests]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where the run record goes
    #[arg(long, value_name = "DIR", default_value = "rethrow.out")]
    pub run_dir: PathBuf,
    /// JUnit version of the test [default: as found on the class path, else 4]
    #[arg(long, value_name = "VERSION", value_parser = parse_junit)]
    pub junit: Option<u32>,
    /// `failing`: red until the defect is fixed; `expect` (`raises`): green now, expects the exception; `xfail`: green now, marked as known to fail
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = Style::Failing)]
    pub style: Style,
    /// The JDK to run the program with
    #[arg(long, value_name = "DIR")]
    pub java_home: Option<PathBuf>,
    #[command(flatten)]
    pub jail: JailOptions,
    /// Worker processes [default: one for each core, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: Option<u32>,
    /// Fresh processes that have to agree before the test counts as confirmed; 0 skips confirmation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub confirm_runs: u32,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HuntPreset {
    Default,
    Beacon,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Jars and class folders, colon-separated (`lib/*` takes all jars of a folder); also `-cp`
    #[arg(long, value_name = "PATHS")]
    pub classpath: Vec<OsString>,
    /// Classes to test: names in which `*` stands for anything, comma-separated [default: all of the first entry]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub classes: Vec<String>,
    /// Python modules to test, comma-separated; a package stands for all modules in it
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["classpath", "classes"])]
    pub module: Vec<String>,
    /// The Python interpreter that has the program's packages [default: that of the active virtual environment, .venv, else python3]
    #[arg(long, value_name = "PATH", requires = "module")]
    pub python: Option<PathBuf>,
    /// A folder with the program's own Python modules; repeatable
    #[arg(long, value_name = "DIR", requires = "module")]
    pub source: Vec<PathBuf>,
    /// Time for everything: search, compilation and confirmation (500ms, 90s, 5m, 1h)
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Stop the search after so many executed tests
    #[arg(long, value_name = "N")]
    pub max_tests: Option<u64>,
    /// Start of all chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where the tests go [default: <run-dir>/tests]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where the run record and the coverage page go
    #[arg(long, value_name = "DIR", default_value = "rethrow.out")]
    pub run_dir: PathBuf,
    /// `grt`: the paper's parameters; `randoop`: feedback-directed random testing alone
    #[arg(long, value_name = "NAME", value_enum, default_value_t = GeneratePreset::Default)]
    pub preset: GeneratePreset,
    /// Only these components of guided random testing
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "without")]
    pub only: Vec<ComponentName>,
    /// All components but these
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub without: Vec<ComponentName>,
    /// The JDK to run the program with
    #[arg(long, value_name = "DIR")]
    pub java_home: Option<PathBuf>,
    #[command(flatten)]
    pub jail: JailOptions,
    /// Worker processes [default: one for each core, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: Option<u32>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratePreset {
    Default,
    Grt,
    Randoop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentName {
    ConstantMining,
    Impurity,
    ElephantBrain,
    Detective,
    Orienteering,
    Bloodhound,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The run directory of the earlier run
    #[arg(default_value = "rethrow.out")]
    pub run_dir: PathBuf,
    /// Time for the confirmation
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// The JDK to run the program with [default: that of the earlier run]
    #[arg(long, value_name = "DIR")]
    pub java_home: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct JailArgs {
    #[command(flatten)]
    pub jail: JailOptions,
    /// TCP on the loopback of a network that only the command is in, for programs whose processes talk to each other
    #[arg(long)]
    pub loopback: bool,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// What code of the program may do while it runs.
#[derive(Clone, Debug, Args)]
pub struct JailOptions {
    /// `strict` refuses to run when a layer of the sandbox is missing
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Sandbox::Default)]
    pub sandbox: Sandbox,
    /// A folder that the program may read in the sandbox; repeatable
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
}

/// Which search: a preset, and what differs from it.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchOptions {
    /// `evocrash` and `botsing` are the published configurations
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Preset::Default)]
    pub preset: Preset,
    /// The fitness function [default: the preset's]
    #[arg(long, value_name = "NAME", value_enum)]
    pub objective: Option<Objective>,
    /// What decides between tests of equal fitness: covered blocks, as the paper compares them or by instructions [default: the preset's]
    #[arg(long, value_name = "NAME", value_enum)]
    pub secondary: Option<Secondary>,
    /// How stacks are compared: each frame with the nearest, or one by one [default: the preset's]
    #[arg(long, value_name = "NAME", value_enum)]
    pub trace_distance: Option<TraceDistance>,
    /// Only an exception with the same message counts
    #[arg(long)]
    pub match_message: bool,
    /// Mechanisms to switch off, comma-separated: messages, environment, casts, constant-mining, impurity, detective,
    /// elephant-brain, notations, mod-ref, novelty, obstacles, climbing, near
    #[arg(long, value_name = "NAMES", default_value = "", hide = true, value_parser = parse_without)]
    pub without: Without,
}

/// How much is printed, and in which form.
#[derive(Clone, Copy, Debug, Args)]
pub struct Output {
    /// `json` prints one object at the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// No banner and no progress, only the verdict
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also tell what was odd in the input
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Executed tests per second on the classes of a jar
    Throughput(ThroughputArgs),
    /// Reproduce every crash of a suite with every variant and seed; continues where it was interrupted
    Run(BenchRunArgs),
    /// Generate suites for the libraries of a table with every variant and seed, and measure what they cover; continues where it was interrupted
    Generate(BenchGenerateArgs),
    /// Compare the variants of finished runs: tables, statistics, plots
    Report(BenchReportArgs),
    /// Fetch what the crashes of a suite need, and print the class path of each
    Fetch(BenchFetchArgs),
    /// Beacon's three experiments, with the published configuration and with the default
    Beacon(BeaconArgs),
}

#[derive(Debug, Args)]
pub struct ThroughputArgs {
    /// The jar whose classes are exercised; commons-lang3 3.12.0 if none is given, fetched once with Maven
    #[arg(long, value_name = "JAR")]
    pub jar: Option<PathBuf>,
    /// How long to measure
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
    /// Worker processes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: u32,
    /// Start of all chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The JDK to run the classes with
    #[arg(long, value_name = "DIR")]
    pub java_home: Option<PathBuf>,
    #[command(flatten)]
    pub jail: JailOptions,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Failing,
    /// `pytest.raises`, in Python's words.
    #[value(alias = "raises")]
    Expect,
    /// Marked as a known failure; where the framework has no such mark, as `expect`.
    Xfail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Default,
    Strict,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    Default,
    Evocrash,
    Botsing,
    /// Of hunts.
    #[value(skip)]
    Beacon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    WeightedSum,
    StDistance,
    /// Of hunts.
    #[value(skip)]
    Beacon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secondary {
    None,
    Bbc,
    Lattice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceDistance {
    Set,
    Prefix,
    Tool,
}

/// Parses the command line; a wrong flag is reported and ends the process with exit code 2.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Cli {
    Cli::try_parse_from(spell_out(args)).unwrap_or_else(|error| error.exit())
}

/// `-cp` as Java users type it: clap has no short options of two letters. What follows `--` is left alone.
fn spell_out(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut ours = true;
    let spell = |arg: OsString| {
        ours &= arg != "--";
        if ours && arg == "-cp" { "--classpath".into() } else { arg }
    };
    args.into_iter().map(spell).collect()
}

/// `90s`, `5m`, `1h`, `500ms`; a bare number has no unit and is refused.
fn parse_budget(text: &str) -> Result<Duration, String> {
    let wanted = || "give a number and a unit, like 500ms, 90s, 5m or 1h".to_string();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().map_err(|_| wanted())?;
    let unit_ms = match &text[digits..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wanted()),
    };
    let budget = number.checked_mul(unit_ms).map(Duration::from_millis);
    match budget {
        Some(b) if b.is_zero() => Err("there is nothing to do in no time".into()),
        Some(b) if b <= LONGEST_BUDGET => Ok(b),
        _ => Err("at most 168h".into()),
    }
}

fn parse_junit(text: &str) -> Result<u32, String> {
    match text {
        "4" => Ok(4),
        "5" => Ok(5),
        _ => Err("4 or 5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(words: &str) -> Vec<OsString> {
        words.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn budgets_have_a_unit() {
        for (text, ms) in [("500ms", 500), ("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("168h", 604_800_000)] {
            assert_eq!(parse_budget(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in
            ["", "60", "s", "1.5m", "-1s", "0s", "0ms", "5 m", "5min", "169h", "99999999999999999999s", "5 400 000 000h", "18446744073709551615h", "１s"]
        {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cp_is_classpath_but_not_after_the_dashes() {
        assert_eq!(spell_out(os("rethrow reproduce x -cp a.jar")), os("rethrow reproduce x --classpath a.jar"));
        assert_eq!(spell_out(os("rethrow jail -- java -cp a.jar M")), os("rethrow jail -- java -cp a.jar M"));
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let Command::Reproduce(args) = Cli::try_parse_from(os("rethrow reproduce crash.log")).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((args.run.budget, args.run.seed, args.pick, args.run.confirm_runs), (Duration::from_secs(60), 1, 1, 5));
        assert_eq!((args.run.style, args.run.junit, args.run.out), (Style::Failing, None, None));
        assert_eq!((args.run.run_dir, args.run.jail.sandbox), (PathBuf::from("rethrow.out"), Sandbox::Default));
    }
}
