//! The options of `rethrow bench run`, `generate`, `report` and `fetch`. Parsing only, as in `cli`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::parse_budget;

#[derive(Debug, Args)]
pub struct BenchRunArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,
    /// A way to run `rethrow reproduce`: a name and its flags, as in `wide='--preset botsing --workers 1'`; repeatable
    #[arg(long = "variant", value_name = "NAME=FLAGS", value_parser = parse_variant)]
    pub variants: Vec<Variant>,
    /// Seeds 1 to N for each crash and variant
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Time for each run
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: u32,
    /// Where a line for each run is added; runs that are there already are not repeated
    #[arg(long, value_name = "FILE", default_value = "results.jsonl")]
    pub results: PathBuf,
}

/// Which crashes.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// A suite: crashes with the Maven coordinates of their programs
    #[arg(value_name = "SUITE.toml", required_unless_present = "suite_dir", conflicts_with = "suite_dir")]
    pub suite: Option<PathBuf>,
    /// A folder of crashes instead: each a folder with crash.log and bin/*.jar, or traceback.txt and requirements.txt; an index.csv
    /// beside them may give Maven coordinates
    #[arg(long, value_name = "DIR")]
    pub suite_dir: Option<PathBuf>,
    /// Only these crashes, comma-separated
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,
}

#[derive(Debug, Args)]
pub struct BenchFetchArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,
}

#[derive(Debug, Args)]
pub struct BeaconArgs {
    /// Seeds 1 to N for each experiment and preset
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Only these experiments: A, B, C; comma-separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub experiments: Vec<String>,
    /// Only this preset: `default` or `beacon`
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Time for each run; generations end it before
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_budget)]
    pub budget: Duration,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: u32,
    /// Where beacon.md and beacon.csv go
    #[arg(long, value_name = "DIR", default_value = "bench-beacon")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct BenchReportArgs {
    /// Results files of `bench run`
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// The variant that the others are compared with [default: the one called default, else the first by name]
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Where report.md, the CSV files and the plots go
    #[arg(long, value_name = "DIR", default_value = "bench-report")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct BenchGenerateArgs {
    /// A table with the columns subject, maven_coordinate and class: the libraries, and of each the classes listed
    #[arg(value_name = "SUBJECTS.csv")]
    pub subjects: PathBuf,
    /// Only these libraries, comma-separated
    #[arg(long, value_name = "SUBJECTS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// What is tested: all classes of the jar, or those listed
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',', default_value = "jar")]
    pub extent: Vec<Extent>,
    /// Time for a whole jar
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_budget)]
    pub jar_budget: Duration,
    /// Time for the listed classes
    #[arg(long, value_name = "TIME", default_value = "100s", value_parser = parse_budget)]
    pub classes_budget: Duration,
    /// A way to run `rethrow generate`: a name and its flags; repeatable [default: all six components, none, and each alone]
    #[arg(long = "variant", value_name = "NAME=FLAGS", value_parser = parse_variant)]
    pub variants: Vec<Variant>,
    /// Seeds 1 to N for each library and variant
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Of these libraries' listed classes, also the share of mutants that the tests notice (PIT; takes minutes for each run)
    #[arg(long, value_name = "SUBJECTS", value_delimiter = ',')]
    pub mutation: Vec<String>,
    /// Where a line for each run is added; runs that are there already are not repeated
    #[arg(long, value_name = "FILE", default_value = "generate.jsonl")]
    pub results: PathBuf,
    /// Where coverage.md, coverage.csv and the plots go
    #[arg(long, value_name = "DIR", default_value = "bench-report")]
    pub out: PathBuf,
    /// A table with what other tools reached, to be shown beside it: the column subject, then columns of numbers
    #[arg(long, value_name = "PEERS.csv")]
    pub peers: Option<PathBuf>,
    /// Make no runs: only write tables and plots of what is in the file
    #[arg(long)]
    pub report_only: bool,
}

/// What of a library is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Extent {
    Jar,
    Classes,
}

impl Extent {
    pub fn name(self) -> &'static str {
        match self {
            Extent::Jar => "jar",
            Extent::Classes => "classes",
        }
    }
}

/// One way to run `rethrow reproduce`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub name: String,
    pub flags: Vec<String>,
}

/// `NAME=FLAGS`; the flags are separated by blanks.
fn parse_variant(text: &str) -> Result<Variant, String> {
    let (name, flags) = text.split_once('=').unwrap_or((text, ""));
    let plain = |c: char| c.is_alphanumeric() || "-_+.".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return Err("give a name of letters, digits and -_+. before the =, as in default=".into());
    }
    // What the runner itself decides for each run cannot be the same for all runs of a variant.
    const OURS: [&str; 6] = ["--seed", "--budget", "--run-dir", "--out", "--classpath", "--format"];
    let flags: Vec<String> = flags.split_whitespace().map(str::to_string).collect();
    let taken = flags.iter().find(|flag| OURS.contains(&flag.split('=').next().unwrap_or_default()));
    match taken {
        Some(flag) => Err(format!("{flag} is set by the benchmark")),
        None => Ok(Variant { name: name.into(), flags }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_a_name_and_flags() {
        let wide = parse_variant("wide=--preset botsing --workers=1").unwrap();
        assert_eq!((wide.name.as_str(), wide.flags.join("|").as_str()), ("wide", "--preset|botsing|--workers=1"));
        assert_eq!(parse_variant("default").unwrap(), Variant { name: "default".into(), flags: vec![] });
        for bad in ["", "=--x", "a b=--x", "a/b", "x=--seed 3", "x=--budget=1s"] {
            assert!(parse_variant(bad).is_err(), "{bad}");
        }
    }
}
