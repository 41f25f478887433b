//! `load JDK_HOME CLASS_PATH [--lower]`: how long headers (and bodies) take to read, and how much memory they cost.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::Jdk;

fn memory(key: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    line.map_or_else(|| format!("{key} ?"), |line| line.replace('\t', " "))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [home, spec, rest @ ..] = &args[..] else {
        return Err("usage: load JDK_HOME CLASS_PATH [--lower]".into());
    };
    let jdk = Jdk::at(Path::new(home)).ok_or("no JDK there")?;
    let start = Instant::now();
    let opened = ClassPath::open(std::slice::from_ref(spec), &jdk)?;
    println!("opened after {:?}", start.elapsed());
    let loaded = load(Arc::new(opened.value));
    println!("loaded after {:?}", start.elapsed());
    for diagnostic in opened.diagnostics.iter().chain(&loaded.diagnostics) {
        println!("  {diagnostic}");
    }
    let program = loaded.value;
    let (types, methods) = (program.types().count(), program.types().map(|t| program.methods_of(t).len()).sum::<usize>());
    println!("{types} types, {methods} methods; {}; {}", memory("VmRSS:"), memory("VmHWM:"));
    if rest.iter().any(|arg| arg == "--lower") {
        let start = Instant::now();
        let ids = program.types().flat_map(|t| program.methods_of(t));
        let (mut bodies, mut insns) = (0, 0);
        for id in ids {
            if let Some(body) = program.body(id) {
                bodies += 1;
                insns += body.insns.len();
            }
        }
        println!("{bodies} bodies, {insns} instructions lowered in {:?}; {}", start.elapsed(), memory("VmRSS:"));
        for (id, why) in program.unreadable().iter().take(20) {
            println!("  {}{}: {why}", program.qualified(*id), program.method_desc(*id));
        }
    }
    Ok(())
}
