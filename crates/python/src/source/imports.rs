//! What a trace's files import from other packages: what their code is given is often taken apart there, and nobody else has its constants.
//!
//! Only the files that define what is imported are read, through re-exports; never whole packages.

use std::path::PathBuf;

use rustc_hash::FxHashSet;

use super::Reader;
use super::find::Candidate;
use super::index::Binding;

/// Files that are read for their imports' sake.
const MAX_READ: usize = 40;
/// A name may be imported and exported again so often.
const MAX_STEPS: usize = 4;

/// Reads what the files of `first` import from outside their packages.
pub(super) fn read(reader: &mut Reader<'_>, first: &[Candidate]) {
    let ours: FxHashSet<String> = first.iter().map(|c| top(&c.module).to_string()).collect();
    let paths: FxHashSet<&PathBuf> = first.iter().map(|c| &c.path).collect();
    let mut wanted: Vec<(String, Option<String>)> = Vec::new();
    for file in reader.files.iter().filter(|f| paths.contains(&f.path)) {
        let mut names: Vec<(&String, &Binding)> = file.index.names.iter().collect();
        names.sort_unstable_by_key(|(name, _)| *name);
        for (_, binding) in names {
            match binding {
                Binding::Module(module) => wanted.push((module.clone(), None)),
                Binding::From { module, level: 0, name } => wanted.push((module.clone(), Some(name.clone()))),
                _ => {}
            }
        }
    }
    let before = reader.files.len();
    for (module, name) in wanted.into_iter().filter(|(module, _)| !ours.contains(top(module))) {
        if reader.files.len() - before >= MAX_READ {
            break;
        }
        follow(reader, module, name);
    }
}

/// Reads the module, and that which defines the name.
fn follow(reader: &mut Reader<'_>, mut module: String, mut name: Option<String>) {
    for _ in 0..MAX_STEPS {
        let Some(found) = reader.places.module(&module) else { return };
        reader.read(&found);
        let Some(wanted) = &name else { return };
        let Some(file) = reader.files.iter().find(|f| f.path == found.path) else { return };
        let next = match file.index.names.get(wanted) {
            Some(Binding::From { module: from, level, name }) => absolute(&module, file.is_package, from, *level).map(|from| (from, Some(name.clone()))),
            Some(_) => return,
            None => Some((format!("{module}.{wanted}"), None)),
        };
        let Some(next) = next else { return };
        (module, name) = next;
    }
}

/// The module that `from <level dots>name` means in `module`.
fn absolute(module: &str, is_package: bool, from: &str, level: u32) -> Option<String> {
    if level == 0 {
        return Some(from.to_string());
    }
    let parts: Vec<&str> = module.split('.').collect();
    let kept = (parts.len() + usize::from(is_package)).checked_sub(level as usize).filter(|kept| *kept > 0)?;
    let mut parts: Vec<&str> = parts[..kept].to_vec();
    parts.extend((!from.is_empty()).then_some(from));
    Some(parts.join("."))
}

fn top(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports_count_from_their_package() {
        for (module, is_package, from, level, expected) in [
            ("a.b", false, "c", 1, Some("a.c")),
            ("a.b", true, "c", 1, Some("a.b.c")),
            ("a.b", false, "", 1, Some("a")),
            ("a.b.c", false, "d", 2, Some("a.d")),
            ("a", false, "b", 0, Some("b")),
            ("a", false, "b", 1, None),
            ("a", true, "b", 3, None),
        ] {
            assert_eq!(absolute(module, is_package, from, level).as_deref(), expected, "{module} {from} {level}");
        }
    }
}
