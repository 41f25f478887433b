use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rethrow_core::goal;
use rethrow_core::program::{Access, MethodKind, Program, Shape};
use rethrow_core::testcase::data::Data;
use rethrow_core::trace::Frame;

use super::*;
use crate::trace::parse_all;

/// A folder with files, gone when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(files: &[(&str, &str)]) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let dir = std::env::temp_dir().join(format!("rethrow-python-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        for (name, text) in files {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(dir)
    }
    pub fn places(&self, version: (u32, u32)) -> Places {
        Places { search: vec![self.0.clone()], stdlib: Vec::new(), version, shown: Vec::new() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One module `m` as a program.
pub fn program_of(text: &str, version: (u32, u32)) -> (Program, Arc<Sources>) {
    let file = File::of_text(Path::new("/x/m.py"), "m", text.to_string(), version).unwrap();
    build::build(Places { search: vec!["/x".into()], stdlib: Vec::new(), version, shown: Vec::new() }, vec![file], None)
}

fn shapes_of(text: &str, function: &str, parameter: &str) -> Vec<Shape> {
    let (program, _) = program_of(text, (3, 11));
    let methods = program.types().flat_map(|t| program.methods_of(t)).filter(|m| program.method_name(*m) == function);
    methods.flat_map(|m| program.parameters(m).to_vec()).find(|p| p.name == parameter).unwrap().shapes.clone()
}

fn list(of: Shape) -> Shape {
    Shape::List(Box::new(of))
}

#[test]
fn shapes_follow_annotations_defaults_docstrings_use_and_names() {
    let any_dict = Shape::Dict(Box::new((Shape::Any, Shape::Any)));
    let table: Vec<(&str, Shape)> = vec![
        ("def f(x: int): pass", Shape::Int),
        ("from typing import *\ndef f(x: Optional[List[str]] = None): pass", list(Shape::Str)),
        ("def f(x: 'dict[str, int] | None'): pass", Shape::Dict(Box::new((Shape::Str, Shape::Int)))),
        ("import typing as t\ndef f(x: t.Callable[[int], str]): pass", Shape::Function),
        ("def f(x: 'Literal[\"a\", 3]'): pass", Shape::Value(Data::text("a"))),
        ("def f(x=3): pass", Shape::Int),
        ("def f(x=True): pass", Shape::Bool),
        ("def f(x):\n    '''Does.\n\n    :param str x: text\n    '''", Shape::Str),
        ("def f(x):\n    '''Does.\n\n    Args:\n        x (list of str): text\n    '''", list(Shape::Str)),
        ("def f(x):\n    return x.strip()", Shape::Str),
        ("def f(x):\n    for k, v in x.items(): pass", any_dict),
        ("def f(x):\n    return x['key']", Shape::Dict(Box::new((Shape::Value(Data::text("key")), Shape::Any)))),
        ("def f(x):\n    for y in x:\n        y.strip()", list(Shape::Str)),
        ("def f(x):\n    return x.read()", Shape::Stream),
        ("def f(x):\n    with open(x) as y: pass", Shape::File),
        ("def f(x):\n    return x(1)", Shape::Function),
        ("def f(x):\n    return x + 1", Shape::Int),
        ("def f(x):\n    return x * 1.5", Shape::Float),
        ("def f(x):\n    if isinstance(x, (bytes, dict)): pass", Shape::Bytes),
        ("import re\ndef f(x):\n    return re.match('a', x)", Shape::Str),
        ("def g(y):\n    return y.splitlines()\ndef f(x):\n    return g(x)", Shape::Str),
        ("class C:\n    def f(self, x):\n        self.y = x\n    def g(self):\n        self.y.keys()", Shape::Dict(Box::new((Shape::Any, Shape::Any)))),
        ("def f(x):\n    pass", Shape::Float),
        ("def f(*x): pass", list(Shape::Float)),
    ];
    for (text, wanted) in table {
        assert_eq!(shapes_of(text, "f", "x").first(), Some(&wanted), "{text}");
    }
}

#[test]
fn attributes_find_the_classes_that_have_them() {
    let text = "class Node:\n    def __init__(self):\n        self.start_mark = 1\nclass Other:\n    pass\ndef f(x, y, Nod):\n    x.start_mark\n    y.unheard_of\n    Nod()";
    let (program, _) = program_of(text, (3, 11));
    let node = program.find_type("m:Node").unwrap();
    assert_eq!(shapes_of(text, "f", "x").first(), Some(&Shape::Instance(node)));
    assert_eq!(shapes_of(text, "f", "y").first(), Some(&Shape::Having(vec!["unheard_of".into()])));
    assert!(shapes_of(text, "f", "Nod").contains(&Shape::Function));
}

#[test]
fn values_that_are_compared_with_are_told() {
    let shapes = shapes_of("def f(x):\n    if x == 'abc' or x in ('u', 'v'): pass\n    if x is None: pass", "f", "x");
    for wanted in [Shape::Str, Shape::None, Shape::Value(Data::text("abc")), Shape::Value(Data::text("v"))] {
        assert!(shapes.contains(&wanted), "{wanted:?} in {shapes:?}");
    }
    assert_eq!(shapes[0], Shape::Str);
}

#[test]
fn members_are_those_of_the_source() {
    let text = "
from dataclasses import dataclass
LIMIT = 7
class Base:
    def __init__(self, a, /, b=1, *rest, c, d=2, **named): self.kept = a
    @property
    def size(self): return 1
    @size.setter
    def size(self, v): pass
    @staticmethod
    def make(x): pass
    @classmethod
    def build(cls, y): pass
    def gen(self):
        yield 1
    async def wait(self): pass
class Derived(Base):
    class Inner: pass
@dataclass
class Point:
    x: int
    y: int = 0
def top(q):
    def nested(z): return lambda: z
    return [i for i in q]
";
    let (program, _) = program_of(text, (3, 11));
    let desc = |ty: &str, name: &str| {
        let ty = program.find_type(ty).unwrap_or_else(|| panic!("no type {ty}"));
        let m = program.methods_named(ty, name).next().unwrap_or_else(|| panic!("no {name}"));
        let def = program.method(m);
        (program.method_desc(m).to_string(), def.kind, def.access)
    };
    assert_eq!(desc("m:Base", "__init__"), ("5(a, /, b=, *rest, c, d=, **named)".into(), MethodKind::Constructor, Access::Public));
    assert_eq!(desc("m:Derived", "__init__"), ("0(a, /, b=, *rest, c, d=, **named)".into(), MethodKind::Constructor, Access::Public));
    assert_eq!(desc("m:Derived.Inner", "__init__").0, "0()");
    assert_eq!(desc("m:Point", "__init__").0, "0(x, y=)");
    assert_eq!(desc("m:Base", "size"), ("6()@".into(), MethodKind::Instance, Access::Public));
    assert_eq!(desc("m:Base", "make").1, MethodKind::Static);
    assert_eq!(desc("m:Base", "build").0, "12(y)");
    assert_eq!(desc("m:Base", "gen").0, "14()*");
    assert_eq!(desc("m:Base", "wait").0, "16()~");
    assert_eq!(desc("m", "top"), ("23(q)".into(), MethodKind::Static, Access::Public));
    for nested in ["nested", "<lambda>", "<listcomp>", "Base"] {
        assert_eq!(desc("m", nested).2, Access::Private, "{nested}");
    }
    assert_eq!(desc("m", "<module>").1, MethodKind::TypeInitializer);
    let base = program.find_type("m:Base").unwrap();
    let derived = program.find_type("m:Derived").unwrap();
    assert!(program.is_subtype(derived, base));
    assert!(program.find_field(base, "kept").is_some() && program.find_field(base, "size").is_some());
    let limit = program.find_field(program.find_type("m").unwrap(), "LIMIT").unwrap();
    assert_eq!(program.field(limit).constant, Some(rethrow_core::program::Literal::Int(7)));
    let (newer, _) = program_of(text, (3, 12));
    let m = newer.find_type("m").unwrap();
    assert!(newer.methods_named(m, "<listcomp>").next().is_none());
}

const SHOP: [(&str, &str); 6] = [
    ("shop/__init__.py", "from .till import *\nfrom . import errors as e\n"),
    (
        "shop/till.py",
        "from .errors import NoPrice as N\nclass Till(N):\n    def price(self, item):\n        return [PRICES[i]\n                for i in item]\n",
    ),
    ("shop/errors.py", "class NoPrice(LookupError):\n    pass\n"),
    ("shop/broken.py", "def f(:\n"),
    ("shop/tests/test_till.py", "import shop\n"),
    ("shop/test_prices.py", "import shop\n"),
];

#[test]
fn printed_paths_are_found_and_frames_named() {
    let folder = Folder::new(&SHOP);
    let text = |path: &str| {
        format!("Traceback (most recent call last):\n  File \"{path}\", line 4, in price\n  File \"{path}\", line 4, in <listcomp>\nKeyError: 'x'\n")
    };
    for path in [
        "site-packages/shop/till.py",
        "/home/ann/venv/lib/python3.9/site-packages/shop/till.py",
        "C:\\Users\\ann\\venv\\Lib\\site-packages\\shop\\till.py",
        "/app/shop/till.py",
        "shop/till.py",
        "./shop/till.py",
    ] {
        let trace = parse_all(&text(path)).value.remove(0).trace;
        let loaded = load(&[&trace], &[], &folder.places((3, 11)));
        let aligned = align(&trace, &loaded.sources);
        let goal = goal::resolve(&aligned, &loaded.program).unwrap_or_else(|u| panic!("{path}: {u:?}"));
        assert_eq!((goal.frames.len(), goal.mismatches.len()), (2, 0), "{path}");
        assert_eq!(aligned.thrown.frames[0].class, "shop.till:Till", "{path}");
        assert_eq!(loaded.sources.paths().count(), 3, "tests and broken files are left out");
        assert!(loaded.diagnostics.iter().any(|d| d.text.contains("broken.py")), "{:?}", loaded.diagnostics);
        let newer = load(&[&trace], &[], &folder.places((3, 12)));
        let merged = align(&trace, &newer.sources);
        let lines: Vec<(&str, Option<u32>)> = merged.thrown.frames.iter().map(|f: &Frame| (f.method.as_str(), f.line)).collect();
        assert_eq!(lines, [("price", Some(4))], "{path}");
    }
}

#[test]
fn bases_are_followed_through_imports() {
    let folder = Folder::new(&SHOP);
    let loaded = load(&[], &["shop".to_string()], &folder.places((3, 11)));
    let find = |name: &str| loaded.program.find_type(name).unwrap_or_else(|| panic!("no {name}"));
    assert!(loaded.program.is_subtype(find("shop.till:Till"), find("builtins:LookupError")));
    let shop = loaded.sources.by_module["shop"];
    assert!(matches!(loaded.sources.resolve(shop, &["Till"]), Some(resolve::Entity::Class(..))));
    assert!(matches!(loaded.sources.resolve(shop, &["e", "NoPrice"]), Some(resolve::Entity::Class(..))));
}

#[test]
fn deep_source_is_taken() {
    for text in [
        "x = ".to_string() + &"(".repeat(3000) + "1" + &")".repeat(3000),
        "x = ".to_string() + &"1 + ".repeat(20_000) + "1",
        "x = ".to_string() + &"not ".repeat(5000) + "1",
        "x = a".to_string() + &".b".repeat(20_000),
    ] {
        let Ok(file) = File::of_text(Path::new("/x/m.py"), "m", text, (3, 11)) else { continue };
        let (program, _) = build::build(Places { search: Vec::new(), stdlib: Vec::new(), version: (3, 11), shown: Vec::new() }, vec![file], None);
        let module = program.find_type("m").unwrap();
        program.methods_of(module).for_each(|m| drop(program.body(m)));
        assert_eq!(program.unreadable().len(), 0);
    }
}

#[test]
fn examples_show_what_a_parameter_is_given() {
    let text = "class C:\n  '''\n  >>> C([1], 'a')\n  '''\n  def __init__(self, items, name): pass\ndef f(doc, patch):\n  '''Applies.\n\n  >>> doc = {'a': 'b'}\n  >>> other = f(doc, [{'op': 'add'}])\n  '''\n  return doc\n";
    let patch = Data::List(vec![Data::Dict(vec![(Data::text("op"), Data::text("add"))])]);
    assert!(shapes_of(text, "f", "patch").contains(&Shape::Value(patch)), "{:?}", shapes_of(text, "f", "patch"));
    assert!(shapes_of(text, "f", "doc").contains(&Shape::Value(Data::Dict(vec![(Data::text("a"), Data::text("b"))]))));
    assert!(shapes_of(text, "__init__", "items").contains(&Shape::Value(Data::List(vec![Data::Int(1)]))), "{:?}", shapes_of(text, "__init__", "items"));
}

/// Named arguments that a function collects have the keys that it and the functions it hands them to look for.
#[test]
fn collected_arguments_have_the_keys_that_are_looked_for() {
    let many: String = (0..20).map(|i| format!("  o.get('k{i}', {i})\n")).collect();
    let text = format!(
        "def check(o):\n{many}\nclass C:\n  def __init__(self, **kw):\n    self.t = kw.get('tab', 4)\ndef g(x, wide=False, **rest):\n  return rest['deep']\ndef f(x, **opts):\n  check(opts)\n  C(**opts)\n  return g(x, **opts)\n"
    );
    let keys: Vec<String> = shapes_of(&text, "f", "opts")
        .iter()
        .filter_map(|s| match s {
            Shape::Dict(kv) => match &kv.0 {
                Shape::Value(Data::Str(key)) => Some(key.clone()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    for key in ["k0", "k19", "tab", "wide", "deep", "x"] {
        assert!(keys.iter().any(|k| k == key), "no {key} in {keys:?}");
    }
}
