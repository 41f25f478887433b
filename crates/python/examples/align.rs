//! `cargo run -p rethrow-python --example align -- traceback.txt --path DIR… [--stdlib DIR…] [--version 3.11]`: how a traceback fits the source below the
//! paths: its frames with type and method, and what is known of their parameters.

use std::path::PathBuf;
use std::process::ExitCode;

use rethrow_core::goal;
use rethrow_core::program::Program;
use rethrow_core::trace::Trace;
use rethrow_python::source::{self, Places};
use rethrow_python::{plan, trace};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let mut places = Places { search: Vec::new(), stdlib: Vec::new(), version: (3, 11), shown: Vec::new() };
    let mut log = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--path" => places.search.extend(args.next().map(PathBuf::from)),
            "--stdlib" => places.stdlib.extend(args.next().map(PathBuf::from)),
            "--version" => {
                let text = args.next().unwrap_or_default();
                let parts: Vec<u32> = text.split('.').filter_map(|p| p.parse().ok()).collect();
                places.version = (parts.first().copied().unwrap_or(3), parts.get(1).copied().unwrap_or(11));
            }
            _ => log = Some(arg),
        }
    }
    let Some(bytes) = log.and_then(|log| std::fs::read(log).ok()) else {
        eprintln!("usage: align traceback.txt --path DIR…");
        return ExitCode::from(2);
    };
    let parsed = trace::parse_all(&String::from_utf8_lossy(&bytes));
    parsed.diagnostics.iter().for_each(|d| println!("note: {d}"));
    let all = parsed.value.iter().all(|found| show(&found.trace, &places));
    if all && !parsed.value.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(printed: &Trace, places: &Places) -> bool {
    let start = std::time::Instant::now();
    let loaded = source::load(&[printed], &[], places);
    let read = start.elapsed();
    loaded.diagnostics.iter().take(5).for_each(|d| println!("note: {d}"));
    let trace = source::align(printed, &loaded.sources);
    println!("{}: {}", trace.thrown.exception, trace.thrown.message.as_deref().unwrap_or(""));
    trace.causes.iter().for_each(|c| println!("  from {}", c.exception));
    let program = &loaded.program;
    match goal::resolve(&trace, program) {
        Err(unresolved) => {
            unresolved.mismatches.iter().for_each(|m| println!("MISFIT {} {}.{} {:?}: {:?}", m.number, m.frame.class, m.frame.method, m.frame.line, m.why));
            false
        }
        Ok(goal) => {
            let types: Vec<_> = goal.frames.iter().map(|f| f.class).collect();
            let watch = plan::watch(program, &loaded.sources, &types);
            for (i, frame) in goal.frames.iter().enumerate() {
                println!("{:3} {}.{} line {}", i + 1, frame.frame.class, frame.frame.method, frame.frame.line.unwrap_or(0));
                frame.methods.iter().for_each(|m| parameters(program, *m));
            }
            goal.mismatches.iter().for_each(|m| println!("MISFIT {} {}.{} {:?}: {:?}", m.number, m.frame.class, m.frame.method, m.frame.line, m.why));
            println!(
                "{} files in {:.2} s, {} watched in {:.2} s: {} points, {} branches",
                loaded.sources.paths().count(),
                read.as_secs_f64(),
                watch.files.len(),
                (start.elapsed() - read).as_secs_f64(),
                watch.plan.points,
                watch.plan.branches
            );
            goal.mismatches.is_empty()
        }
    }
}

fn parameters(program: &Program, method: rethrow_core::program::MethodId) {
    println!("      {}", program.method_desc(method));
    for p in program.parameters(method).iter() {
        let shapes: Vec<String> = p.shapes.iter().map(|s| shape(program, s)).collect();
        println!("        {}: {}", p.name, shapes.join(" | "));
    }
}

fn shape(program: &Program, shape: &rethrow_core::program::Shape) -> String {
    use rethrow_core::program::Shape;
    match shape {
        Shape::Instance(t) => program.type_name(*t).to_string(),
        Shape::Class(t) => format!("class {}", program.type_name(*t)),
        other => format!("{other:?}"),
    }
}
