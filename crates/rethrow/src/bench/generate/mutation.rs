//! How many mutants of a library its written tests tell from the original: PIT, in the jail.
//!
//! PIT's processes talk to each other over TCP, so the jail gets a loopback of its own. Only tests that pass count: PIT wants a green suite, and the tests
//! of an error suite fail by design.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethrow_worker::process::{JailedCommand, run_to_end};

use super::super::fetch;
use super::super::suite::csv_row;
use super::measure::Share;
use crate::commands::jail::own_executable;

pub const PIT: &str = "org.pitest:pitest-command-line:1.20.3";
const MAIN: &str = "org.pitest.mutationtest.commandline.MutationCoverageReport";
const LIMIT: Duration = Duration::from_secs(1200);
const KEPT_OUTPUT: usize = 1 << 20;
/// A mutant may take that long beyond what its tests took.
const PATIENCE_MS: &str = "500";

/// What PIT works on.
pub struct Mutated<'a> {
    pub java: &'a Path,
    pub home: &'a Path,
    pub pit: &'a [PathBuf],
    /// The library first, then what it needs, and JUnit.
    pub class_path: &'a [PathBuf],
    /// The compiled tests …
    pub compiled: &'a Path,
    /// … and their names.
    pub tests: &'a [String],
    /// The classes that are changed.
    pub classes: &'a [String],
    pub scratch: &'a Path,
}

/// Mutants that some test noticed, and those that none did.
pub fn score(of: &Mutated<'_>) -> Result<Share, String> {
    let launcher = own_executable().map_err(|e| e.to_string())?;
    let mut command = JailedCommand::new(launcher, of.scratch, of.java).args(arguments(of));
    command.read = of.class_path.iter().chain(of.pit).cloned().chain([of.home.to_path_buf()]).collect();
    command.loopback = true;
    let ended = run_to_end(&command, LIMIT, KEPT_OUTPUT).map_err(|e| e.to_string())?;
    if ended.timed_out {
        return Err("PIT did not end in time".into());
    }
    let table = of.scratch.join("pit/mutations.csv");
    let said = || ended.stderr.text().lines().chain(ended.stdout.text().lines()).find(|line| line.contains("xception")).unwrap_or("nothing").to_string();
    let text = std::fs::read_to_string(table).map_err(|_| format!("PIT wrote no table; it said: {}", said()))?;
    Ok(noticed(&text))
}

fn arguments(of: &Mutated<'_>) -> Vec<String> {
    let class_path: Vec<String> = std::iter::once(of.compiled).chain(of.class_path.iter().map(PathBuf::as_path)).map(|p| p.display().to_string()).collect();
    let library = of.class_path.first().map(|p| p.display().to_string()).unwrap_or_default();
    let classes: Vec<String> = of.classes.iter().flat_map(|name| [name.clone(), format!("{name}$*")]).collect();
    // as the jail has it
    let surroundings = format!("-Djava.net.preferIPv4Stack=true,-Djava.awt.headless=true,-Djava.io.tmpdir={}", of.scratch.display());
    let mut out: Vec<String> = surroundings.split(',').map(str::to_string).collect();
    out.extend(["-cp".into(), fetch::class_path(of.pit), MAIN.into()]);
    for (name, value) in [
        ("--classPath", class_path.join(",")),
        // of a class path, PIT changes folders only unless it is told otherwise
        ("--mutableCodePaths", library),
        ("--targetClasses", classes.join(",")),
        ("--targetTests", of.tests.join(",")),
        ("--reportDir", of.scratch.join("pit").display().to_string()),
        ("--sourceDirs", of.scratch.display().to_string()),
        ("--jvmArgs", surroundings.clone()),
        ("--outputFormats", "CSV".into()),
        ("--timestampedReports", "false".into()),
        ("--skipFailingTests", "true".into()),
        ("--timeoutConst", PATIENCE_MS.into()),
        ("--threads", "2".into()),
    ] {
        out.extend([name.to_string(), value]);
    }
    out
}

/// The sixth column is the mutant's end. One that never ends, or takes all memory, was noticed; one that could not be made is none.
fn noticed(csv: &str) -> Share {
    let mut share = Share::default();
    for row in csv.lines().map(csv_row) {
        match row.get(5).map(String::as_str) {
            Some("KILLED" | "TIMED_OUT" | "MEMORY_ERROR" | "RUN_ERROR") => share.covered += 1,
            Some("SURVIVED" | "NO_COVERAGE") => share.missed += 1,
            _ => {}
        }
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_that_hang_were_noticed_and_those_never_run_were_not() {
        let csv = "A.java,p.A,M,f,3,KILLED,t\nA.java,p.A,M,f,4,SURVIVED,none\nA.java,p.A,M,f,5,NO_COVERAGE,none\nA.java,p.A,M,f,6,TIMED_OUT,t\nA.java,p.A,M,f,7,NON_VIABLE,none\n";
        assert_eq!(noticed(csv), Share { covered: 2, missed: 2 });
        assert_eq!(noticed("odd"), Share::default());
    }

    #[test]
    fn nested_classes_are_changed_too() {
        let (path, names) = (Path::new("/x"), ["p.A".to_string()]);
        let of = Mutated { java: path, home: path, pit: &[], class_path: &[], compiled: path, tests: &names, classes: &names, scratch: path };
        let args = arguments(&of);
        let at = args.iter().position(|a| a == "--targetClasses").unwrap();
        assert_eq!(args[at + 1], "p.A,p.A$*");
    }
}
