//! The standard library of the interpreter found is read, lowered and asked for parameters without a panic: every file with `RETHROW_FULL=1`, else a
//! sample.

use std::path::PathBuf;
use std::process::Command;

use rethrow_core::program::MethodKind;
use rethrow_python::plan;
use rethrow_python::source::{self, Places};

fn stdlib() -> Option<PathBuf> {
    let output = Command::new("python3").args(["-c", "import os; print(os.path.dirname(os.__file__))"]).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

#[test]
fn the_standard_library_is_lowered() {
    let Some(dir) = stdlib() else {
        eprintln!("no python3 found: nothing to read");
        return;
    };
    let full = std::env::var_os("RETHROW_FULL").is_some();
    let mut modules: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&dir).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(module) = name.strip_suffix(".py") {
            modules.push(module.to_string());
        } else if entry.path().join("__init__.py").is_file() && name != "test" {
            modules.push(name);
        }
    }
    modules.sort();
    let sample: Vec<String> = if full { modules } else { modules.into_iter().step_by(7).collect() };
    let places = Places { search: vec![dir], stdlib: Vec::new(), version: (3, 11), shown: Vec::new() };
    let loaded = source::load(&[], &sample, &places);
    let program = &loaded.program;
    let mut lowered = 0;
    for ty in program.types().filter(|t| !program.ty(*t).platform) {
        for method in program.methods_of(ty) {
            if let Some(body) = program.body(method) {
                assert!(body.blocks.len() >= 3);
                assert!(body.blocks.iter().flat_map(|b| &b.succs).all(|e| (e.to.0 as usize) < body.blocks.len()));
                assert!(program.method(method).kind == MethodKind::TypeInitializer || !body.insns.is_empty());
                lowered += 1;
            }
            assert_eq!(program.parameters(method).len(), program.signature(method).params.len(), "{}", program.qualified(method));
        }
    }
    assert!(lowered > 1000, "{lowered}");
    assert_eq!(program.unreadable(), []);
    let types: Vec<_> = program.types().take(40).collect();
    let watch = plan::watch(program, &loaded.sources, &types);
    for probes in watch.plan.methods() {
        let body = program.body(probes.method).expect("watched code has a body");
        assert!(probes.points.iter().all(|p| body.insns_at(p.pc).next().is_some()), "{}", program.qualified(probes.method));
    }
}
