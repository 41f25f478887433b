//! What written tests cover: compiled with javac, run by JUnit with JaCoCo's agent in the jail, counted from JaCoCo's report.
//!
//! Failing tests still cover; a file that does not compile is dropped and counted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rethrow_worker::process::{JailedCommand, run_to_end};
use serde::{Deserialize, Serialize};

use super::super::fetch;
use super::super::suite::csv_row;
use super::mutation::{self, Mutated, PIT};
use crate::commands::jail::own_executable;
use crate::config::Host;

const JUNIT: &str = "junit:junit:4.13.2";
const AGENT: &str = "org.jacoco:org.jacoco.agent:0.8.13:jar:runtime";
const CLI: &str = "org.jacoco:org.jacoco.cli:0.8.13:jar:nodeps";
const RUNNER: &str = "org.junit.runner.JUnitCore";
/// Compilations until those files are out that do not compile.
const MAX_COMPILATIONS: usize = 4;
const TEST_LIMIT: Duration = Duration::from_secs(300);
const KEPT_OUTPUT: usize = 1 << 20;

/// Covered, and not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub covered: u64,
    pub missed: u64,
}

impl Share {
    pub fn percent(self) -> f64 {
        let all = self.covered + self.missed;
        if all == 0 { 0.0 } else { 100.0 * self.covered as f64 / all as f64 }
    }
}

/// What JaCoCo and JUnit tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub instruction: Share,
    pub branch: Share,
    /// Files that do not compile.
    pub dropped: u64,
    pub ran: u64,
    pub failed: u64,
    /// Mutants that were noticed, where that was asked for.
    #[serde(default)]
    pub mutation: Option<Share>,
}

/// What is counted of one run.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Only these, if there are any.
    pub classes: &'a [String],
    pub mutation: bool,
}

/// What measuring needs.
pub struct Tools {
    java: PathBuf,
    javac: PathBuf,
    home: PathBuf,
    junit: Vec<PathBuf>,
    agent: PathBuf,
    cli: PathBuf,
    /// Empty if no mutants are asked for.
    pit: Vec<PathBuf>,
}

impl Tools {
    pub fn fetch(cache: &Path, host: &Host, mutation: bool) -> Result<Tools, String> {
        let jdk = host.jdks(None).into_iter().find(|jdk| jdk.javac.is_some()).ok_or("no JDK with a compiler was found")?;
        let one = |coordinate: &str, end: &str| {
            let jars = fetch::maven(coordinate, cache, host)?;
            jars.into_iter().find(|j| j.to_string_lossy().ends_with(end)).ok_or_else(|| format!("{coordinate} has no such jar"))
        };
        let javac = jdk.javac.clone().expect("it was chosen by that");
        let (agent, cli) = (one(AGENT, "-runtime.jar")?, one(CLI, "-nodeps.jar")?);
        let pit = if mutation { fetch::maven(PIT, cache, host)? } else { Vec::new() };
        Ok(Tools { java: jdk.java, javac, home: jdk.home, junit: fetch::maven(JUNIT, cache, host)?, agent, cli, pit })
    }

    /// What the files below `tests` cover of the first jar, and why mutants could not be counted if they could not.
    pub fn count(&self, jars: &[PathBuf], tests: &Path, wanted: Wanted<'_>, dir: &Path) -> Result<(Counted, Option<String>), String> {
        let mut files = Vec::new();
        java_files(tests, &mut files, 0);
        files.sort();
        if files.is_empty() {
            return Err("no tests were written".into());
        }
        let found = files.len();
        let class_path: Vec<PathBuf> = jars.iter().chain(&self.junit).cloned().collect();
        let scratch = dir.join("measured");
        let compiled = scratch.join("classes");
        std::fs::create_dir_all(&compiled).map_err(|e| e.to_string())?;
        let files = self.compile(files, &class_path, &compiled)?;
        let names: Vec<String> = files.iter().filter_map(|f| class_name(f.strip_prefix(tests).ok()?)).collect();
        let (ran, failed) = self.run(&names, &class_path, &compiled, &scratch)?;
        let csv = self.report(&jars[0], &scratch)?;
        let counted = Counted { dropped: (found - files.len()) as u64, ran, failed, ..covered(&csv, wanted.classes) };
        if !wanted.mutation {
            return Ok((counted, None));
        }
        let mutated = Mutated {
            java: &self.java,
            home: &self.home,
            pit: &self.pit,
            class_path: &class_path,
            compiled: &compiled,
            tests: &names,
            classes: wanted.classes,
            scratch: &scratch,
        };
        Ok(match mutation::score(&mutated) {
            Ok(share) => (Counted { mutation: Some(share), ..counted }, None),
            Err(why) => (counted, Some(why)),
        })
    }

    fn compile(&self, mut files: Vec<PathBuf>, class_path: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>, String> {
        for _ in 0..MAX_COMPILATIONS {
            let mut javac = Command::new(&self.javac);
            javac.args(["-nowarn", "-proc:none", "-Xmaxerrs", "10000", "-encoding", "UTF-8", "-d"]).arg(out);
            let done = javac.arg("-cp").arg(fetch::class_path(class_path)).args(&files).stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
            if done.status.success() {
                return Ok(files);
            }
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let bad: Vec<&str> =
                said.lines().filter_map(|line| line.split_once(".java:")).filter(|(_, rest)| rest.contains(": error")).map(|(f, _)| f).collect();
            let before = files.len();
            files.retain(|f| !bad.contains(&f.with_extension("").to_string_lossy().as_ref()));
            if files.len() == before || files.is_empty() {
                return Err(format!("javac: {}", said.lines().next().unwrap_or("it failed")));
            }
        }
        Err("the files do not compile".into())
    }

    /// Tests run, and failed.
    fn run(&self, names: &[String], class_path: &[PathBuf], compiled: &Path, scratch: &Path) -> Result<(u64, u64), String> {
        let all: Vec<PathBuf> = std::iter::once(compiled.to_path_buf()).chain(class_path.iter().cloned()).collect();
        let agent = format!("-javaagent:{}=destfile={}", self.agent.display(), scratch.join("jacoco.exec").display());
        let mut args = vec![agent, "-XX:-UsePerfData".into(), "-Djava.awt.headless=true".into(), format!("-Djava.io.tmpdir={}", scratch.display())];
        args.extend(["-cp".into(), fetch::class_path(&all), RUNNER.into()]);
        args.extend(names.iter().cloned());
        let launcher = own_executable().map_err(|e| e.to_string())?;
        let mut command = JailedCommand::new(launcher, scratch, &self.java).args(args);
        command.read = class_path.iter().chain([&self.home, &self.agent]).cloned().collect();
        let ended = run_to_end(&command, TEST_LIMIT, KEPT_OUTPUT).map_err(|e| e.to_string())?;
        Ok(junit_result(&ended.stdout.text()))
    }

    fn report(&self, jar: &Path, scratch: &Path) -> Result<String, String> {
        let csv = scratch.join("jacoco.csv");
        let mut command = Command::new(&self.java);
        command.arg("-jar").arg(&self.cli).arg("report").arg(scratch.join("jacoco.exec")).arg("--classfiles").arg(jar).arg("--csv").arg(&csv);
        let done = command.stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
        if !done.status.success() {
            return Err(format!("JaCoCo: {}", String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or("it failed")));
        }
        std::fs::read_to_string(&csv).map_err(|e| e.to_string())
    }
}

fn java_files(folder: &Path, out: &mut Vec<PathBuf>, depth: usize) {
    const DEEPEST: usize = 40;
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.is_dir() && depth < DEEPEST {
            java_files(&path, out, depth + 1);
        } else if path.extension().is_some_and(|e| e == "java") {
            out.push(path);
        }
    }
}

/// `a/b/C.java` is `a.b.C`.
fn class_name(path: &Path) -> Option<String> {
    Some(path.with_extension("").to_str()?.replace('/', "."))
}

/// `OK (12 tests)`, or `Tests run: 12,  Failures: 3`.
fn junit_result(text: &str) -> (u64, u64) {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    for line in text.lines().rev() {
        if let Some(rest) = line.strip_prefix("OK (") {
            return (number(rest), 0);
        }
        if let Some((ran, failed)) = line.strip_prefix("Tests run: ").and_then(|rest| rest.split_once(",  Failures: ")) {
            return (number(ran), number(failed));
        }
    }
    (0, 0)
}

/// The sums of JaCoCo's table; nested classes count with their outermost one.
fn covered(csv: &str, classes: &[String]) -> Counted {
    let mut rows = csv.lines().map(csv_row);
    let head = rows.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|c| c == name);
    let mut counted = Counted::default();
    for row in rows {
        let cell = |name: &str| column(name).and_then(|i| row.get(i)).map_or("", String::as_str);
        let top = format!("{}.{}", cell("PACKAGE"), cell("CLASS").split('.').next().unwrap_or_default());
        if !classes.is_empty() && !classes.contains(&top) {
            continue;
        }
        for (share, covered, missed) in
            [(&mut counted.instruction, "INSTRUCTION_COVERED", "INSTRUCTION_MISSED"), (&mut counted.branch, "BRANCH_COVERED", "BRANCH_MISSED")]
        {
            share.covered += cell(covered).parse().unwrap_or(0);
            share.missed += cell(missed).parse().unwrap_or(0);
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_classes_count_with_their_outermost_one() {
        let csv = "GROUP,PACKAGE,CLASS,INSTRUCTION_MISSED,INSTRUCTION_COVERED,BRANCH_MISSED,BRANCH_COVERED\nx,p,A,1,3,1,1\nx,p,A.B,0,4,0,2\nx,p,C,9,0,9,0\n";
        let all = covered(csv, &[]);
        assert_eq!((all.branch, all.instruction), (Share { covered: 3, missed: 10 }, Share { covered: 7, missed: 10 }));
        assert_eq!(covered(csv, &["p.A".into()]).branch, Share { covered: 3, missed: 1 });
        assert_eq!(covered("", &[]), Counted::default());
        assert_eq!((Share { covered: 3, missed: 1 }.percent(), Share::default().percent()), (75.0, 0.0));
    }

    #[test]
    fn what_junit_says_last_counts() {
        assert_eq!(junit_result("..\nOK (1 test)\nTime: 1\n\nOK (12 tests)\n"), (12, 0));
        assert_eq!(junit_result("FAILURES!!!\nTests run: 12,  Failures: 3\n\n"), (12, 3));
        assert_eq!(junit_result("killed"), (0, 0));
    }

    #[test]
    fn files_name_classes() {
        assert_eq!(class_name(Path::new("a/b/C_Test.java")).as_deref(), Some("a.b.C_Test"));
    }
}
