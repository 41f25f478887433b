//! One source file: its text, its lines, and its syntax tree when asked for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ruff_python_ast::{ModModule, Stmt};
use ruff_text_size::{Ranged, TextSize};

use super::index::Index;

/// Larger files are tables, not code.
pub const MAX_FILE: u64 = 4 << 20;

/// See the module documentation.
pub struct File {
    pub path: PathBuf,
    pub module: String,
    pub is_package: bool,
    pub text: Arc<str>,
    /// Offsets of line starts.
    starts: Vec<u32>,
    pub index: Index,
    tree: Mutex<Option<Arc<Tree>>>,
}

/// A syntax tree. Dropping a deep one takes a deep stack.
pub struct Tree {
    module: Option<ModModule>,
    stack: usize,
}

impl Tree {
    pub fn body(&self) -> &[Stmt] {
        self.module.as_ref().map_or(&[], |m| &m.body)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let module = self.module.take();
        stacker::grow(self.stack, || drop(module));
    }
}

/// Why a file is not part of the program.
pub type Problem = String;

impl File {
    /// Reads and parses; `version` decides what is code of its own.
    pub fn read(path: &Path, module: &str, version: (u32, u32)) -> Result<File, Problem> {
        let size = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
        if size > MAX_FILE {
            return Err(format!("too large ({size} bytes)"));
        }
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        File::of_text(path, module, decode(bytes)?, version)
    }

    pub fn of_text(path: &Path, module: &str, text: String, version: (u32, u32)) -> Result<File, Problem> {
        let starts = line_starts(&text);
        let tree = parse(&text)?;
        let is_package = path.file_name().is_some_and(|n| n == "__init__.py");
        let lines = Lines { text: &text, starts: &starts };
        let index = Index::of(tree.body(), &lines, version);
        Ok(File { path: path.to_path_buf(), module: module.to_string(), is_package, text: text.into(), starts, index, tree: Mutex::new(None) })
    }

    /// Parsed again when first needed: most files of a program never are.
    pub fn tree(&self) -> Result<Arc<Tree>, Problem> {
        let mut tree = self.tree.lock().expect("no holder panics");
        if let Some(tree) = &*tree {
            return Ok(tree.clone());
        }
        let parsed = Arc::new(parse(&self.text)?);
        *tree = Some(parsed.clone());
        Ok(parsed)
    }

    pub fn lines(&self) -> Lines<'_> {
        Lines { text: &self.text, starts: &self.starts }
    }
}

fn parse(text: &str) -> Result<Tree, Problem> {
    // brackets nest, and so do chains of operators: at most one level for each byte
    let stack = (1 << 20) + text.len() * 256;
    let parsed = stacker::grow(stack, || ruff_python_parser::parse_module(text).map(|p| p.into_syntax()));
    let module = parsed.map_err(|e| format!("does not parse: {e}"))?;
    Ok(Tree { module: Some(module), stack })
}

/// Text of a source file: UTF-8, or what its coding line says, of which only the Latin ones are known.
fn decode(bytes: Vec<u8>) -> Result<String, Problem> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            let bytes = e.into_bytes();
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).to_lowercase();
            let latin = head.lines().take(2).any(|l| l.contains("coding") && (l.contains("latin") || l.contains("iso-8859") || l.contains("cp1252")));
            if !latin {
                return Err("not UTF-8".into());
            }
            bytes.into_iter().map(char::from).collect()
        }
    };
    Ok(text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text))
}

fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (i, b) in bytes.iter().enumerate() {
        if *b == b'\n' || (*b == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
            starts.push(i as u32 + 1);
        }
    }
    starts
}

/// Offsets as lines and columns.
#[derive(Clone, Copy)]
pub struct Lines<'f> {
    text: &'f str,
    starts: &'f [u32],
}

impl Lines<'_> {
    /// From 1.
    pub fn line(&self, at: TextSize) -> u32 {
        self.starts.partition_point(|s| *s <= at.to_u32()) as u32
    }
    /// Line from 1 and byte offset in it.
    pub fn position(&self, pc: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|s| *s <= pc);
        (line as u32, pc - self.starts[line.saturating_sub(1)])
    }
    /// Where a statement begins: that of a decorated function or class at its `def` or `class`, as CPython has it.
    pub fn start_of(&self, stmt: &Stmt) -> u32 {
        let decorators = match stmt {
            Stmt::FunctionDef(s) => &s.decorator_list,
            Stmt::ClassDef(s) => &s.decorator_list,
            _ => return stmt.range().start().to_u32(),
        };
        let Some(last) = decorators.last() else { return stmt.range().start().to_u32() };
        let mut at = last.range.end().to_usize();
        let bytes = self.text.as_bytes();
        while let Some(b) = bytes.get(at) {
            match b {
                b'#' => at += bytes[at..].iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count(),
                b if b.is_ascii_whitespace() || *b == 0x0c || *b == b'\\' => at += 1,
                _ => break,
            }
        }
        at as u32
    }
}
