//! Every place of a plan is one that CPython's own parser gives a statement or an expression: the worker looks them up by line and column.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

use rethrow_python::plan;
use rethrow_python::source::{self, Places};

const MODULES: [&str; 6] = ["argparse", "dataclasses", "decimal", "textwrap", "typing", "inspect"];

const QUESTION: &str = "
import ast, sys
for node in ast.walk(ast.parse(open(sys.argv[1], encoding='utf-8').read())):
    if isinstance(node, (ast.stmt, ast.expr)): print('s' if isinstance(node, ast.stmt) else 'e', node.lineno, node.col_offset)
";

#[test]
fn cpython_has_the_same_places() {
    let python = |args: &[&str]| Command::new("python3").args(args).output().ok().and_then(|o| String::from_utf8(o.stdout).ok());
    let Some(dir) = python(&["-c", "import os; print(os.path.dirname(os.__file__))"]).map(|d| PathBuf::from(d.trim())).filter(|d| d.is_dir()) else {
        eprintln!("no python3 found: nothing to compare with");
        return;
    };
    let modules: Vec<String> = MODULES.iter().map(|m| m.to_string()).collect();
    let loaded = source::load(&[], &modules, &Places { search: vec![dir], stdlib: Vec::new(), version: (3, 11), shown: Vec::new() });
    let types: Vec<_> = loaded.program.types().filter(|t| !loaded.program.ty(*t).platform).collect();
    let watch = plan::watch(&loaded.program, &loaded.sources, &types);
    assert!(watch.files.len() >= 4 && watch.plan.points > 1000 && watch.plan.branches > 500);
    for file in &watch.files {
        let answer = python(&["-c", QUESTION, file.path.to_str().expect("a plain path")]).expect("it ran before");
        let known: HashSet<&str> = answer.lines().collect();
        let mut seen = HashSet::new();
        for (kind, site) in file.points.iter().map(|s| ("s", s)).chain(file.branches.iter().map(|s| ("e", s))) {
            assert!(known.contains(format!("{kind} {} {}", site.line, site.col).as_str()), "{} {kind} {site:?}", file.module);
            assert!(seen.insert((kind, site.line, site.col)), "{} has {site:?} twice", file.module);
        }
    }
}
