//! Test support: interpreters of this machine, and programs described by their own interpreter.

#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rethrow_core::probe::{Point, ProbePlan};
use rethrow_core::program::{Access, BodySource, Flags, MethodId, MethodKind, NewField, NewMethod, NewType, Program, ProgramBuilder, Signature, Ty, ir};
use rethrow_core::testcase::{Data, Stmt, TestCase, Var};
use rethrow_python::interpreter::{Interpreter, Question, ask};
use rethrow_python::launch::{self, PySession, SessionConfig};
use rethrow_python::plan::{Code, Site, Watch, WatchedFile};
use serde_json::Value as Json;

pub const LAUNCHER: &str = env!("CARGO_BIN_EXE_python-launcher");

/// A folder of its own for a test, empty.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Every usable interpreter: those on PATH and those of pyenv, one of each version.
pub fn interpreters() -> &'static [Interpreter] {
    static FOUND: OnceLock<Vec<Interpreter>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut candidates: Vec<PathBuf> = Vec::new();
        for dir in std::env::split_paths(&path) {
            candidates.push(dir.join("python3"));
            candidates.extend((8..=20).map(|minor| dir.join(format!("python3.{minor}"))));
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for version in std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten() {
            candidates.push(version.path().join("bin/python3"));
        }
        let temp = std::env::temp_dir();
        let question = Question::new(Path::new(LAUNCHER), &temp);
        let shim = |p: &PathBuf| p.to_string_lossy().contains("/shims/");
        let mut found: Vec<Interpreter> = candidates.into_iter().filter(|p| p.is_file() && !shim(p)).filter_map(|p| ask(&p, &question).ok()).collect();
        // Of one version, the one that has pytest.
        found.sort_by_key(|i| (i.version.0, i.version.1, i.pytest.is_none()));
        found.dedup_by_key(|i| (i.version.0, i.version.1));
        assert!(!found.is_empty(), "these tests need a Python interpreter");
        found
    })
}

/// A program of one module.
pub struct Fixture {
    pub python: Interpreter,
    pub file: PathBuf,
    pub module: String,
    pub program: Program,
    pub watch: Watch,
}

struct NoBodies;

impl BodySource for NoBodies {
    fn body(&self, _: &Program, _: MethodId) -> Result<Option<ir::Body>, String> {
        Ok(None)
    }
}

fn number(json: &Json) -> u32 {
    u32::try_from(json.as_u64().unwrap()).unwrap()
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

pub fn describe(python: &Interpreter, file: &Path, module: &str) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/describe.py");
    let done = Command::new(&python.path).arg("-B").arg(script).arg(file).arg(module).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

impl Fixture {
    pub fn new(python: &Interpreter, file: &Path, module: &str) -> Fixture {
        Fixture::of(python, &[(file.to_owned(), module.to_owned())])
    }

    /// The first file's module is the one tests call.
    pub fn of(python: &Interpreter, files: &[(PathBuf, String)]) -> Fixture {
        let mut watch = Watch::default();
        let described: Vec<Json> = files.iter().map(|(file, module)| describe(python, file, module)).collect();
        let mut points = 0;
        let mut branches = 0;
        for ((file, module), json) in files.iter().zip(&described) {
            let sites = |key: &str, first: &mut u32| -> Vec<Site> {
                let sites = json[key].as_array().unwrap().iter();
                sites
                    .map(|s| {
                        *first += 1;
                        Site { line: number(&s[0]), col: number(&s[1]), number: *first - 1 }
                    })
                    .collect()
            };
            let codes = json["codes"].as_array().unwrap().iter();
            let codes = codes.map(|c| Code { first_line: number(&c[0]), name: text(&c[1]).to_owned(), class: text(&c[2]).to_owned() }).collect();
            let file = WatchedFile {
                path: file.clone(),
                module: module.clone(),
                points: sites("points", &mut points),
                branches: sites("branches", &mut branches),
                codes,
            };
            watch.files.push(file);
        }
        let program = program(files, &described);
        let method = program.types().flat_map(|t| program.methods_of(t).collect::<Vec<_>>()).next().unwrap();
        let mut plan = ProbePlan::default();
        plan.add(method, (0..points).map(|pc| Point { pc, line: None }).collect(), Vec::new(), Vec::new());
        plan.branches = branches;
        watch.plan = plan;
        Fixture { python: python.clone(), file: files[0].0.clone(), module: files[0].1.clone(), program, watch }
    }

    pub fn config(&self) -> SessionConfig {
        let mut config = SessionConfig::new(LAUNCHER.into(), self.python.clone(), std::env::temp_dir());
        config.sources = vec![self.file.parent().unwrap().to_owned()];
        config
    }

    pub fn session(&self) -> PySession<'_> {
        launch::start(&self.program, &self.watch, &self.config()).unwrap()
    }

    pub fn method(&self, owner: &str, name: &str) -> MethodId {
        let owner = if owner.is_empty() { self.module.clone() } else { format!("{}:{owner}", self.module) };
        let ty = self.program.find_type(&owner).unwrap_or_else(|| panic!("no {owner}"));
        self.program.methods_named(ty, name).next().unwrap_or_else(|| panic!("no {owner}.{name}"))
    }

    /// A call of a module-level function with these arguments.
    pub fn call(&self, function: &str, args: &[Data]) -> TestCase {
        let mut test = TestCase::default();
        let args: Vec<Var> = args.iter().map(|d| test.push(Stmt::Data(d.clone()))).collect();
        test.push(Stmt::Call { method: self.method("", function), recv: None, args });
        test
    }

    /// The line of the file that holds `text`.
    pub fn line(&self, text: &str) -> u32 {
        let source = std::fs::read_to_string(&self.file).unwrap();
        let found: Vec<usize> = source.lines().enumerate().filter(|(_, l)| l.contains(text)).map(|(i, _)| i + 1).collect();
        assert_eq!(found.len(), 1, "{text} stands on {found:?}");
        found[0] as u32
    }

    /// The numbers of the points on the line that holds `text`.
    pub fn points(&self, text: &str) -> Vec<u32> {
        let line = self.line(text);
        self.watch.files[0].points.iter().filter(|s| s.line == line).map(|s| s.number).collect()
    }

    /// The numbers of the branches on the line that holds `text`, from left to right.
    pub fn branches(&self, text: &str) -> Vec<u32> {
        let line = self.line(text);
        self.watch.files[0].branches.iter().filter(|s| s.line == line).map(|s| s.number).collect()
    }
}

fn program(files: &[(PathBuf, String)], described: &[Json]) -> Program {
    let mut builder = ProgramBuilder::new();
    builder.well_known("builtins:object", "builtins:str", "builtins:type");
    builder.dynamic();
    let object = Ty::reference(builder.mention("builtins:object"));
    for ((_, module), json) in files.iter().zip(described) {
        let mut owners = vec![module.as_str()];
        owners.extend(json["classes"].as_array().unwrap().iter().map(text));
        for owner in owners {
            let new = NewType {
                name: owner,
                package: module,
                access: Access::Public,
                flags: Flags::default(),
                superclass: Some("builtins:object"),
                interfaces: Vec::new(),
                outer: None,
                origin: 0,
                platform: false,
            };
            let Some(id) = builder.define(new) else { continue };
            for f in json["functions"].as_array().unwrap().iter().filter(|f| text(&f[0]) == owner) {
                let kind = match text(&f[4]) {
                    "new" => MethodKind::Constructor,
                    "instance" => MethodKind::Instance,
                    _ => MethodKind::Static,
                };
                let count = number(&f[3]) as usize;
                let new = NewMethod { name: text(&f[1]), desc: text(&f[2]), kind, access: Access::Public, flags: Flags::default() };
                builder.add_method(id, new, |_| Signature { params: vec![object; count].into(), ret: object });
            }
            let new = NewField { name: "state", ty: object, access: Access::Public, flags: Flags::STATIC, constant: None };
            builder.add_field(id, new);
        }
    }
    builder.finish(Box::new(NoBodies))
}
