//! Names in a rendered test: imports, locals, and which words are free.

use std::collections::{BTreeMap, BTreeSet};

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
    "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
/// Names that the rendered code uses itself, or that a reader would take for the built-in ones.
const USED: [&str; 28] = [
    "float",
    "set",
    "iter",
    "str",
    "list",
    "dict",
    "tuple",
    "bytes",
    "int",
    "bool",
    "object",
    "type",
    "io",
    "types",
    "importlib",
    "pytest",
    "tmp_path",
    "setattr",
    "getattr",
    "Exception",
    "args",
    "kwargs",
    "input",
    "file",
    "id",
    "hash",
    "len",
    "map",
];

/// The module of a type: `yaml.scanner` for `yaml.scanner:Scanner`.
pub fn module_of(type_name: &str) -> &str {
    type_name.split_once(':').map_or(type_name, |(module, _)| module)
}

pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic()) && chars.all(|c| c == '_' || c.is_alphanumeric()) && !KEYWORDS.contains(&name)
}

/// A name made of ASCII letters, digits and underscores, without those at its ends.
pub fn word(text: &str) -> String {
    let mapped: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let trimmed = mapped.trim_matches('_');
    if trimmed.is_empty() { "code".into() } else { trimmed.to_string() }
}

/// `scanner_error` for `ScannerError`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        before = c;
    }
    out
}

/// What a file imports, and under which names.
#[derive(Default)]
pub struct Imports {
    /// (module, name) to the name it has here.
    named: BTreeMap<(String, String), String>,
    whole: BTreeSet<&'static str>,
}

impl Imports {
    /// How to write `path` (`Outer.Inner`) of a module.
    pub fn path(&mut self, module: &str, path: &str) -> String {
        if module == "builtins" {
            return path.to_string();
        }
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let first = self.name(module, first);
        rest.map_or(first.clone(), |rest| format!("{first}.{rest}"))
    }

    fn name(&mut self, module: &str, name: &str) -> String {
        let key = (module.to_string(), name.to_string());
        if let Some(known) = self.named.get(&key) {
            return known.clone();
        }
        // A function that pytest would take for a test is not to be collected.
        let wish = if name.starts_with("test") || name.starts_with("Test") { format!("_{name}") } else { name.to_string() };
        let taken = |wish: &str, named: &BTreeMap<_, String>| named.values().any(|n| n == wish) || USED.contains(&wish);
        let numbered = (2..).map(|n| format!("{wish}{n}"));
        let free = std::iter::once(wish.clone()).chain(numbered).find(|n| !taken(n, &self.named)).expect("numbers do not end");
        self.named.insert(key, free.clone());
        free
    }

    /// A module of the standard library.
    pub fn whole(&mut self, module: &'static str) -> &'static str {
        self.whole.insert(module);
        module
    }

    pub fn taken(&self) -> BTreeSet<String> {
        self.named.values().cloned().collect()
    }

    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.whole.iter().map(|m| format!("import {m}")).collect();
        let mut by_module: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((module, name), here) in &self.named {
            let written = if name == here { name.clone() } else { format!("{name} as {here}") };
            by_module.entry(module).or_default().push(written);
        }
        if !lines.is_empty() && !by_module.is_empty() {
            lines.push(String::new());
        }
        lines.extend(by_module.into_iter().map(|(module, names)| format!("from {module} import {}", names.join(", "))));
        lines
    }
}

/// Gives out names of local variables.
pub struct Locals {
    taken: BTreeSet<String>,
}

impl Locals {
    pub fn new(taken: BTreeSet<String>) -> Locals {
        Locals { taken }
    }

    /// `wish`, or `wish2`, `wish3`, …
    pub fn fresh(&mut self, wish: &str) -> String {
        let word = word(wish);
        let wish = if is_identifier(&word) && !USED.contains(&word.as_str()) && word != "code" { word } else { "value".to_string() };
        let numbered = (2..).map(|n| format!("{wish}{n}"));
        let name = std::iter::once(wish.clone()).chain(numbered).find(|n| !self.taken.contains(n)).expect("numbers do not end");
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_the_language() {
        assert_eq!(
            (word("<lambda>").as_str(), word("__init__").as_str(), word("<module>").as_str(), word("\u{e9}").as_str()),
            ("lambda", "init", "module", "code")
        );
        assert_eq!((snake("ScannerError").as_str(), snake("HTTPServer").as_str()), ("scanner_error", "httpserver"));
        assert!(is_identifier("_x1") && !is_identifier("1x") && !is_identifier("class") && !is_identifier("<lambda>"));
        let mut locals = Locals::new(BTreeSet::from(["data".to_string()]));
        assert_eq!((locals.fresh("data"), locals.fresh("list"), locals.fresh("class")), ("data2".into(), "value".into(), "value2".into()));
    }

    #[test]
    fn imports_do_not_collide() {
        let mut imports = Imports::default();
        assert_eq!((imports.path("a.b", "C.D"), imports.path("c", "C"), imports.path("a.b", "C")), ("C.D".into(), "C2".into(), "C".into()));
        imports.whole("io");
        assert_eq!(imports.lines(), ["import io", "", "from a.b import C", "from c import C as C2"]);
    }
}
