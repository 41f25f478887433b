//! Class files of real programs through the reader and the instrumenter, judged by real JVMs.

#![allow(clippy::unwrap_used)] // helpers outside test functions may panic as well

use rethrow_jvm::classfile::{ClassFile, insn::opcode};
use rethrow_jvm::instrument::{
    BranchPoint, ClassProbes, Detail, HintOp, Instrumented, MethodProbes, Reason, Spec, instrument, plan, probe_classes, replace_exit,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Old and new compilers, class versions 45 to 52, `jsr`, obfuscation-free but large.
const JARS: [&str; 5] = [
    "commons-collections:commons-collections:3.1",
    "log4j:log4j:1.2.15",
    "org.apache.commons:commons-lang3:3.12.0",
    "com.google.guava:guava:31.1-jre",
    "ant:ant:1.6.5",
];

/// The newest class file features are in the JDK itself.
const JDK_MODULE: &str = "jdk.jshell";

/// Writes the class files of a module of the oldest JDK, which all JDKs here can read.
fn dump_module(into: &Path) {
    let image = jimage_rs::JImage::open(jdk().join("lib/modules")).unwrap();
    for name in image.resource_names_iter().map(|name| name.unwrap()) {
        if name.module == JDK_MODULE && name.extension == "class" && !name.parent.is_empty() {
            let relative = format!("{}/{}.class", name.parent, name.base);
            let bytes = image.find_resource(&format!("/{JDK_MODULE}/{relative}")).unwrap().unwrap();
            write(into, Path::new(&relative), &bytes);
        }
    }
}

fn spec(detail: Detail) -> Spec {
    Spec { detail, first_probe: 0, first_branch: 0, first_switch: 0, first_static: 0 }
}

/// Homes of the JDKs on this machine, by version.
fn jdks() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|dir| dir.join("javac").canonicalize().ok());
    homes.extend(on_path.filter_map(|javac| Some(javac.parent()?.parent()?.to_owned())));
    homes.extend(fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()));
    let complete = homes
        .into_iter()
        .filter_map(|home| home.canonicalize().ok())
        .filter(|home| ["bin/javac", "bin/jar", "lib/modules"].iter().all(|file| home.join(file).is_file()));
    complete.collect::<BTreeSet<_>>().into_iter().collect()
}

fn jdk() -> PathBuf {
    jdks().into_iter().next().expect("the tests need a JDK (JAVA_HOME, PATH, or /usr/lib/jvm)")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

/// An empty directory of this test.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instrument").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// The jar of `group:artifact:version`, fetched once.
fn jar(coordinates: &str) -> PathBuf {
    let cache = PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache/rethrow-test");
    let mut parts = coordinates.split(':').skip(1);
    let (artifact, version) = (parts.next().unwrap(), parts.next().unwrap());
    let jar = cache.join(format!("{artifact}-{version}.jar"));
    if !jar.is_file() {
        fs::create_dir_all(&cache).unwrap();
        let copy = ["-q", "-B", "dependency:copy", &format!("-Dartifact={coordinates}")].map(str::to_owned);
        run(Command::new("mvn").args(copy).arg(format!("-DoutputDirectory={}", cache.display())));
    }
    jar
}

fn unpack(coordinates: &str, into: &Path) {
    run(Command::new(jdk().join("bin/jar")).arg("xf").arg(jar(coordinates)).current_dir(into));
}

/// Class files below a directory, as pairs of relative path and contents, ordered.
fn classes(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(next) = pending.pop() {
        for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "class") && !path.ends_with("module-info.class") {
                found.push((path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn write(dir: &Path, relative: &Path, bytes: &[u8]) {
    let path = dir.join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn write_probe_classes(dir: &Path) {
    for (name, bytes) in probe_classes() {
        write(dir, Path::new(&format!("{name}.class")), &bytes);
    }
}

/// Instruments all classes of one directory into another; numbers run on, as in a worker.
fn instrument_all(from: &Path, to: &Path, detail: Detail) -> Vec<Instrumented> {
    let mut next = Spec { first_probe: 30_000, first_branch: 1_000, ..spec(detail) };
    let rewrite = |(path, bytes): (PathBuf, Vec<u8>)| {
        let result = instrument(&bytes, &next).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        next.first_probe += result.probes.hits;
        next.first_branch += result.probes.branches;
        next.first_switch += result.probes.switches;
        next.first_static += result.probes.statics.len() as u32;
        write(to, &path, &result.bytes);
        result
    };
    classes(from).into_iter().map(rewrite).collect()
}

fn javac(source: &str, out: &Path, class_path: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/instrument").join(source);
    let mut command = Command::new(jdk().join("bin/javac"));
    run(command.args(["-g", "-proc:none", "-nowarn", "-d"]).arg(out).arg("-cp").arg(class_path).arg(source));
}

#[test]
fn instrumented_classes_of_real_jars_link_like_the_originals() {
    let driver = scratch("link");
    write_probe_classes(&driver);
    javac("Link.java", &driver, &driver);
    let (mut total, mut directories) = (0, Vec::new());
    for program in JARS.into_iter().chain([JDK_MODULE]) {
        let name = program.replace(':', "_");
        let plain = scratch(&format!("{name}/plain"));
        if program == JDK_MODULE {
            dump_module(&plain)
        } else {
            unpack(program, &plain)
        }
        directories.push(plain.clone());
        for detail in [Detail::Steps, Detail::Blocks, Detail::Full] {
            let probed = scratch(&format!("{name}/{detail:?}"));
            let results = instrument_all(&plain, &probed, detail);
            let skipped: Vec<_> = results.iter().flat_map(|r| &r.skipped).collect();
            assert!(skipped.iter().all(|s| !matches!(s.reason, Reason::Malformed(_))), "{skipped:?}");
            assert!(skipped.len() * 1000 <= results.iter().map(|r| r.probes.methods.len()).sum::<usize>());
            directories.push(probed);
            total += results.len();
        }
    }
    for home in jdks() {
        let mut java = Command::new(home.join("bin/java"));
        java.args(["-Xverify:all", "-cp"]).arg(&driver).arg("Link").args(&directories);
        let output = run(&mut java);
        let lines: Vec<_> = output.lines().collect();
        let (summary, differences) = lines.split_last().expect("the driver prints a summary");
        assert!(differences.is_empty(), "{}: {differences:#?}", home.display());
        let linked: usize = summary.split_whitespace().next().unwrap().parse().unwrap();
        assert!(linked * 10 > total * 8, "{}: {summary} of {total}", home.display());
    }
}

/// What one run of `Sample` recorded, as the driver prints it.
struct Recorded {
    output: String,
    lines: Vec<String>,
}

impl Recorded {
    fn rows(&self, kind: &str) -> impl Iterator<Item = Vec<&str>> {
        let rows = self.lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(move |row| row[0] == kind)
    }
}

struct Fixture {
    source: String,
    probes: ClassProbes,
    /// Directory with plain classes, and with instrumented ones.
    plain: PathBuf,
    probed: PathBuf,
}

impl Fixture {
    fn new(name: &str, detail: Detail) -> Self {
        let (plain, probed) = (scratch(&format!("{name}/plain")), scratch(&format!("{name}/probed")));
        for dir in [&plain, &probed] {
            write_probe_classes(dir);
        }
        javac("Sample.java", &plain, &plain);
        javac("Drive.java", &plain, &plain);
        let mut probes = None;
        for (path, bytes) in classes(&plain) {
            let is_sample = path.to_string_lossy().starts_with("Sample");
            let bytes = if is_sample { instrument(&bytes, &spec(detail)).unwrap().bytes } else { bytes };
            if path == Path::new("Sample.class") {
                let plain_bytes = fs::read(plain.join(&path)).unwrap();
                probes = Some(plan(&ClassFile::parse(&plain_bytes).unwrap(), detail));
            }
            write(&probed, &path, &bytes);
        }
        let source = include_str!("fixtures/instrument/Sample.java").to_owned();
        Self { source, probes: probes.expect("Sample was compiled"), plain, probed }
    }

    fn run(&self, dir: &Path, arguments: &[&str]) -> Recorded {
        let mut java = Command::new(jdk().join("bin/java"));
        let text = run(java.args(["-Xverify:all", "-cp"]).arg(dir).arg("Drive").args(arguments));
        let (mut output, mut lines) = (String::new(), Vec::new());
        for line in text.lines() {
            match line.strip_prefix("@ ") {
                Some(recorded) => lines.push(recorded.to_owned()),
                None => writeln!(output, "{line}").unwrap(),
            }
        }
        Recorded { output, lines }
    }

    fn line(&self, marker: &str) -> u16 {
        let marker = format!("// @{marker}");
        let position = self.source.lines().position(|line| line.trim_end().ends_with(&marker));
        u16::try_from(position.unwrap_or_else(|| panic!("no line {marker}")) + 1).unwrap()
    }

    fn methods(&self) -> impl Iterator<Item = &MethodProbes> {
        self.probes.methods.iter()
    }

    /// Number and description of the first branch on a marked line.
    fn branch(&self, marker: &str) -> (u32, BranchPoint) {
        let line = Some(self.line(marker));
        let found = self.methods().find_map(|m| {
            let position = m.branches.iter().position(|b| b.line == line)?;
            Some((m.first_branch + position as u32, m.branches[position]))
        });
        found.unwrap_or_else(|| panic!("no branch at {marker}"))
    }

    fn hits_on(&self, marker: &str) -> Vec<u32> {
        let line = Some(self.line(marker));
        let numbered = self.methods().flat_map(|m| (m.first_hit..).zip(&m.hits));
        numbered.filter(|(_, hit)| hit.line == line).map(|(number, _)| number).collect()
    }

    fn switch(&self, marker: &str) -> u32 {
        let line = Some(self.line(marker));
        let numbered = self.methods().flat_map(|m| (m.first_switch..).zip(&m.switches));
        numbered.filter(|(_, s)| s.line == line).map(|(number, _)| number).next().expect("a switch")
    }
}

#[test]
fn the_probes_record_what_the_program_did() {
    let fixture = Fixture::new("record", Detail::Full);
    let recorded = fixture.run(&fixture.probed, &["distances"]);
    let inf = "Infinity";
    let max = "1.7976931348623157E308";
    // marker, smallest positive, smallest negative, zero seen
    let expected = [
        ("int", inf, "7.0", "0.0"),
        ("zero", "3.0", inf, "1.0"),
        ("overflow", "4.294967295E9", inf, "0.0"),
        ("long", inf, "5.0", "0.0"),
        ("longmax", "1.8446744073709552E19", inf, "0.0"),
        ("longnear", "1.0", inf, "0.0"),
        ("float", "0.5", inf, "0.0"),
        ("double", inf, "0.25", "0.0"),
        ("nan", inf, max, "0.0"),
        ("nan2", max, inf, "0.0"),
        ("infinities", inf, inf, "1.0"),
        ("null", "1.0", inf, "1.0"),
        ("same", "1.0", inf, "0.0"),
        ("instanceof", inf, inf, "1.0"),
        ("loop", "1.0", "1.0", "1.0"),
    ];
    for (marker, positive, negative, zero) in expected {
        let (number, _) = fixture.branch(marker);
        let number = number.to_string();
        let row = recorded.rows("branch").find(|row| row[1] == number);
        let row = row.unwrap_or_else(|| panic!("{marker} ({number}) was not recorded"));
        assert_eq!(&row[2..5], [positive, negative, zero], "{marker}");
    }
    assert!(recorded.rows("operands").any(|row| row[1..] == ["100", "107"]));
    let switch = fixture.switch("switch").to_string();
    let values: Vec<_> = recorded.rows("switch").filter(|row| row[1] == switch).map(|row| row[2].to_owned()).collect();
    assert_eq!(values, ["3", "-9"]);
}

#[test]
fn the_hits_show_how_far_a_line_went() {
    let fixture = Fixture::new("hits", Detail::Full);
    let recorded = fixture.run(&fixture.probed, &["hits"]);
    let list: Vec<u32> = recorded.rows("hit").map(|row| row[1].parse().unwrap()).collect();
    let on_line = fixture.hits_on("npe");
    let reached = on_line.iter().filter(|number| list.contains(number)).count();
    assert!(reached >= 1 && reached < on_line.len(), "{reached} of {on_line:?}");
    assert!(fixture.hits_on("after").iter().all(|number| !list.contains(number)));
    let distinct: BTreeSet<_> = list.iter().collect();
    assert_eq!(distinct.len(), list.len());
}

#[test]
fn predicates_in_front_of_branches_are_hinted() {
    let fixture = Fixture::new("hints", Detail::Full);
    let hints = [
        ("equals", HintOp::StringEquals),
        ("ignorecase", HintOp::StringEqualsIgnoreCase),
        ("startswith", HintOp::StringStartsWith),
        ("endswith", HintOp::StringEndsWith),
        ("contains", HintOp::StringContains),
        ("isempty", HintOp::StringIsEmpty),
        ("objequals", HintOp::ObjectEquals),
        ("listcontains", HintOp::Contains),
        ("containskey", HintOp::ContainsKey),
        ("containsvalue", HintOp::ContainsValue),
        ("mapempty", HintOp::IsEmpty),
    ];
    for (marker, hint) in hints {
        let (number, point) = fixture.branch(marker);
        assert_eq!(point.hint, Some(hint), "{marker}");
        let packed = (number << 4 | u32::from(hint as u8)).cast_signed();
        assert_eq!(HintOp::decode(packed), Some((number, hint)));
    }
    assert_eq!(fixture.branch("int").1.hint, None);
    assert_eq!(fixture.branch("long").1.compare, Some(opcode::LCMP));
}

#[test]
fn instrumented_programs_behave_as_before() {
    for detail in [Detail::Full, Detail::Blocks, Detail::Steps] {
        let fixture = Fixture::new(&format!("behave-{detail:?}"), detail);
        let before = fixture.run(&fixture.plain, &["behave"]);
        let after = fixture.run(&fixture.probed, &["behave"]);
        assert!(before.output.lines().count() > 40, "{}", before.output);
        assert_eq!(before.output, after.output, "{detail:?}");
    }
}

#[test]
fn loops_exits_and_statics_are_under_control() {
    for detail in [Detail::Full, Detail::Blocks, Detail::Steps] {
        let fixture = Fixture::new(&format!("control-{detail:?}"), detail);
        let recorded = fixture.run(&fixture.probed, &["control"]);
        let expected = "endless: StepLimit\nsynchronized: StepLimit\nswallow: StepLimit\nrecursion: StepLimit\n\
                        exit: Exit 42\nhalt: Exit 43\nnull runtime: NullPointerException\nexits: 2\n";
        assert_eq!(recorded.output, expected, "{detail:?}");
        let names: Vec<_> = fixture.probes.statics.iter().map(|s| format!("{}:{}", s.name, s.descriptor)).collect();
        assert_eq!(names, ["anInt:I", "aByte:B", "aLong:J", "aFloat:F", "aDouble:D", "aString:Ljava/lang/String;", "anArray:[I"]);
        let saved: Vec<_> = recorded.rows("saved").map(|row| row[1..].join(" ")).collect();
        let one = 1f32.to_bits();
        let half = 0.5f64.to_bits();
        let expected = [
            "0 7 null".to_owned(),
            "1 -3 null".to_owned(),
            "2 9000000000 null".to_owned(),
            format!("3 {one} null"),
            format!("4 {half} null"),
            "5 0 old".to_owned(),
            "6 0 array".to_owned(),
        ];
        assert_eq!(saved, expected, "{detail:?}");
    }
}

/// A method of some size: ten bytes of code per statement, and 22 with probes at blocks.
fn long_program(name: &str, statements: usize, loop_: [&str; 2]) -> String {
    let [head, tail] = loop_;
    let body = "      if (n == 5) n = f(n);\n".repeat(statements);
    format!(
        "public class {name} {{
  static int f(int n) {{ return n + 1; }}
  public static void main(String[] a) {{
    int n = 0;
    {head} {{
{body}      n++;
    {tail}
    System.out.println(n);
  }}
}}
"
    )
}

#[test]
fn long_methods_get_long_jumps_or_stay_plain() {
    let by_goto = ["while (true)", "if (n > 9) break; n = f(n); }"];
    let by_condition = ["do", "} while (n <= 9);"];
    let cases = [
        ("Short", 900, by_condition, None),
        ("Long", 2000, by_goto, None),
        ("TooFar", 2000, by_condition, Some(Reason::JumpTooFar)),
        ("TooLong", 3000, by_condition, Some(Reason::CodeTooLong)),
    ];
    for (name, statements, loop_, skipped) in cases {
        let (plain, probed) = (scratch(&format!("{name}/plain")), scratch(&format!("{name}/probed")));
        let source = plain.join(format!("{name}.java"));
        fs::write(&source, long_program(name, statements, loop_)).unwrap();
        run(Command::new(jdk().join("bin/javac")).args(["-g", "-d"]).arg(&plain).arg(&source));
        write_probe_classes(&probed);
        let results = instrument_all(&plain, &probed, Detail::Blocks);
        let reasons: Vec<_> = results[0].skipped.iter().map(|s| s.reason).collect();
        assert_eq!(reasons, Vec::from_iter(skipped), "{name}");
        let class = ClassFile::parse(&results[0].bytes).unwrap();
        let main = class.methods.iter().find(|m| m.name == "main").unwrap().code(&class.pool).unwrap().unwrap();
        let long_jumps = main.instructions().filter(|op| op.unwrap().opcode == opcode::GOTO_W).count();
        assert_eq!(long_jumps > 0, name == "Long", "{name}: {long_jumps}");
        let java = |dir: &Path| run(Command::new(jdk().join("bin/java")).arg("-Xverify:all").arg("-cp").arg(dir).arg(name));
        assert_eq!(java(&plain), java(&probed), "{name}");
    }
}

#[test]
fn every_class_of_the_jdk_is_read() {
    let image = jimage_rs::JImage::open(jdk().join("lib/modules")).unwrap();
    let (mut count, mut members) = (0usize, 0usize);
    for name in image.resource_names_iter().map(|name| name.unwrap()) {
        if name.extension != "class" || name.parent.is_empty() {
            continue;
        }
        let path = format!("/{}/{}/{}.class", name.module, name.parent, name.base);
        let bytes = image.find_resource(&path).unwrap().unwrap_or_else(|| panic!("{path}"));
        let class = ClassFile::parse(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        members += class.methods.len() + class.fields.len();
        // Bodies of a sample only, for time.
        if count.is_multiple_of(8) {
            for method in &class.methods {
                let Some(code) = method.code(&class.pool) else { continue };
                assert!(code.unwrap().instructions().all(|op| op.is_ok()), "{path} {}", method.name);
            }
            let result = instrument(&bytes, &spec(Detail::Full)).unwrap();
            assert!(result.skipped.iter().all(|s| !matches!(s.reason, Reason::Malformed(_))), "{path}");
            assert_eq!(result.probes, plan(&class, Detail::Full), "{path}");
        }
        count += 1;
    }
    assert!(count > 5_000 && members > 10 * count, "{count} classes, {members} members");
}

#[test]
fn runtime_loses_exit_and_halt_only() {
    let image = jimage_rs::JImage::open(jdk().join("lib/modules")).unwrap();
    let bytes = image.find_resource("/java.base/java/lang/Runtime.class").unwrap().unwrap();
    let changed = replace_exit(&bytes).unwrap();
    let (before, after) = (ClassFile::parse(&bytes).unwrap(), ClassFile::parse(&changed).unwrap());
    assert_eq!(before.methods.len(), after.methods.len());
    let mut replaced = Vec::new();
    for (old, new) in before.methods.iter().zip(&after.methods) {
        assert_eq!((old.name, old.descriptor, old.access), (new.name, new.descriptor, new.access));
        if old.code_bytes(&before.pool) != new.code_bytes(&after.pool) {
            replaced.push(new.name.to_string());
            let code = new.code(&after.pool).unwrap().unwrap();
            assert_eq!(code.instructions().last().unwrap().unwrap().opcode, opcode::ATHROW);
        }
    }
    assert_eq!(replaced, ["exit", "halt"]);
    let patch = scratch("runtime");
    write(&patch, Path::new("java/lang/Runtime.class"), &changed);
    let driver = scratch("runtime-driver");
    write_probe_classes(&driver);
    javac("Leave.java", &driver, &driver);
    let mut java = Command::new(jdk().join("bin/java"));
    java.arg("-Xverify:all").arg(format!("--patch-module=java.base={}", patch.display()));
    let out = run(java.arg("-cp").arg(&driver).arg("Leave"));
    assert_eq!(out, "java.lang.InternalError: rethrow: exit\n");
}

/// A small generator, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = 0xFF,
            2 => bytes[at] ^= 1 << random.below(8),
            3 => {
                let length = random.below(16).min(bytes.len() - at);
                bytes.drain(at..at + length);
                bytes.push(0);
            }
            4 => bytes.insert(at, random.next() as u8),
            _ => bytes[at] = random.next() as u8,
        }
    }
}

#[test]
fn damaged_classes_never_cause_a_panic() {
    let dir = scratch("damaged");
    unpack(JARS[2], &dir);
    unpack(JARS[1], &dir);
    let originals: Vec<_> = classes(&dir).into_iter().filter(|(_, bytes)| bytes.len() < 12_000).collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut parsed, mut rewritten) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = originals[random.below(originals.len())].1.clone();
        mutate(&mut bytes, &mut random);
        let detail = [Detail::Full, Detail::Blocks, Detail::Steps][random.below(3)];
        let Ok(class) = ClassFile::parse(&bytes) else { continue };
        parsed += 1;
        let _ = (class.super_name(), class.inner_classes(), class.record(), class.bootstrap_methods());
        let _ = (class.enclosing_method(), class.permitted_subclasses(), class.signature(), class.source_file());
        let constants = class.pool.iter().count();
        assert!(constants < class.pool.len());
        let planned = plan(&class, detail);
        if let Ok(result) = instrument(&bytes, &spec(detail)) {
            assert_eq!(result.probes, planned);
            assert!(ClassFile::parse(&result.bytes).is_ok());
            rewritten += 1;
        }
    }
    assert!(parsed > 2_000 && rewritten > 2_000, "{parsed} parsed, {rewritten} rewritten: mutations too harsh to test");
}
