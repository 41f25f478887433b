//! What a test of a Python program may use: knowledge about the platform that the search, which knows no language, is given.

use rethrow_core::goal::CrashGoal;
use rethrow_core::program::{Program, TypeId};
use rethrow_core::search::grt::oracle::OracleRules;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::testcase::build::derived::{DeclaredTypes, Declaring, Kind};
use rethrow_core::testcase::build::surroundings::Readers;

use crate::message;
use crate::source::Sources;

/// Standard modules whose classes hold data: the rest opens windows, sockets and processes.
const PLAIN_PACKAGES: &[&str] = &[
    "builtins",
    "argparse",
    "ast",
    "collections",
    "datetime",
    "decimal",
    "email",
    "fractions",
    "io",
    "pathlib",
    "re",
    "types",
    "uuid",
    "xml.etree.ElementTree",
];

/// Calls that end, stop, replace or wait for something outside the test (V10).
const BANNED: &[(&str, &str)] = &[
    ("sys", "exit"),
    ("sys", "setrecursionlimit"),
    ("sys", "settrace"),
    ("sys", "setprofile"),
    ("os", "_exit"),
    ("os", "abort"),
    ("os", "fork"),
    ("os", "forkpty"),
    ("os", "kill"),
    ("os", "killpg"),
    ("os", "system"),
    ("os", "popen"),
    ("os", "execv"),
    ("os", "execve"),
    ("os", "execvp"),
    ("os", "execl"),
    ("os", "execlp"),
    ("os", "spawnv"),
    ("os", "posix_spawn"),
    ("builtins", "input"),
    ("builtins", "breakpoint"),
    ("builtins", "exit"),
    ("builtins", "quit"),
    ("builtins", "exec"),
    ("pdb", "*"),
    ("signal", "*"),
    ("subprocess", "*"),
    ("multiprocessing", "*"),
    ("code", "*"),
    ("faulthandler", "*"),
    ("time", "sleep"),
    ("threading", "_shutdown"),
];

/// The environment is read as `os.environ[...]`, `os.environ.get(...)` or `os.getenv(...)`.
const READERS: Readers = Readers {
    settings: &[],
    settings_by_name: &["environ", "getenv"],
    paths: &[],
    makers: &[],
    locale: &[],
    time_zone: &[],
    input: &[],
    locales: &[],
    time_zones: &[],
};

/// What Python's exceptions mean. Nothing declares what a function takes, so a wrong type or value is the test's fault; a `None` that nobody passed is
/// not, nor a name without value.
pub const ORACLE: OracleRules = OracleRules {
    exception: exception_type,
    hidden: |program, method| {
        let owner = program.type_name(program.method(method).owner);
        is_hidden(program.method_name(method)) || owner.split_once(':').is_some_and(|(_, path)| path.split('.').any(is_hidden))
    },
    unsteady: &["RecursionError", "MemoryError", "KeyboardInterrupt", "SystemExit", "GeneratorExit"],
    unchecked: &["Exception"],
    rejections: &[
        "TypeError",
        "AttributeError",
        "ValueError",
        "NotImplementedError",
        "StopIteration",
        "StopAsyncIteration",
        "EOFError",
        "OverflowError",
        "BufferError",
        "SyntaxError",
        "Warning",
        "ExceptionGroup",
    ],
    machine: &["OSError", "ImportError", "MemoryError", "RecursionError", "SystemError", "ReferenceError"],
    poison: &[],
    checks: &[],
    nulls: &[("AttributeError", "'NoneType' object"), ("TypeError", "'NoneType' object")],
    order: ("", ""),
    ranges: &["LookupError", "ZeroDivisionError"],
};

/// The type of an exception as tracebacks name it: `KeyError`, `yaml.scanner.ScannerError`.
pub fn exception_type(program: &Program, printed: &str) -> Option<TypeId> {
    let dots = printed.match_indices('.').rev();
    let mut named = dots.map(|(at, _)| format!("{}:{}", &printed[..at], &printed[at + 1..]));
    named.find_map(|name| program.find_type(&name)).or_else(|| program.find_type(&format!("builtins:{printed}")))
}

/// Names with a leading underscore are the program's own business, but for those that the language gives a meaning.
fn is_hidden(name: &str) -> bool {
    name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"))
}

/// What classes of a test's own may have: methods that the language calls, and where declarative libraries look for settings.
const DECLARING: Declaring = Declaring {
    special: &[
        "__iter__",
        "__len__",
        "__getitem__",
        "__contains__",
        "__eq__",
        "__hash__",
        "__str__",
        "__repr__",
        "__bool__",
        "__call__",
        "__getattr__",
        "__int__",
        "__float__",
        "__lt__",
        "__getstate__",
        "__enter__",
    ],
    settings: &["Meta", "Config", "Options"],
    types: None,
};

/// The member of a class with the types that it declares.
pub const ANNOTATIONS: &str = "__annotations__";

/// How classes declare the types of their members, and what is declared most.
const TYPES: DeclaredTypes = DeclaredTypes {
    member: ANNOTATIONS,
    plain: &[
        ("builtins:int", Kind::Int),
        ("builtins:str", Kind::Str),
        ("builtins:float", Kind::Float),
        ("builtins:bool", Kind::Bool),
        ("builtins:bytes", Kind::Bytes),
        ("builtins:list", Kind::List),
        ("builtins:tuple", Kind::Tuple),
        ("builtins:set", Kind::Set),
        ("builtins:dict", Kind::Dict),
        ("datetime:datetime", Kind::Object),
        ("decimal:Decimal", Kind::Object),
    ],
    generic: &[
        ("builtins:list", 1),
        ("builtins:dict", 2),
        ("builtins:tuple", 2),
        ("builtins:set", 1),
        ("typing:Optional", 1),
        ("typing:Union", 2),
        ("typing:List", 1),
        ("typing:Dict", 2),
    ],
};

/// What code says that looks at declared types.
const LOOKS_AT_TYPES: [&str; 6] = ["__annotations__", "get_type_hints", "dataclass", "get_annotations", "attr.fields", "attrs.fields"];

/// Tests live outside every package, and may name all of them.
const ELSEWHERE: &str = "";

/// The rules for tests of whole modules: one place for all of them.
pub fn suite_rules(program: &Program, types: &[TypeId]) -> BuildRules {
    let mut closed_packages: Vec<String> = types.iter().map(|t| program.package(*t).to_string()).collect();
    closed_packages.dedup();
    BuildRules { plain_packages: PLAIN_PACKAGES, banned: BANNED, closed_packages, elsewhere: ELSEWHERE, ..BuildRules::default() }
}

/// The rules; a test can import anything.
pub fn build_rules(program: &Program, goal: &CrashGoal, sources: &Sources) -> BuildRules {
    let trace: Vec<TypeId> = goal.frames.iter().flat_map(|f| &f.methods).map(|m| program.method(*m).owner).collect();
    let looks = sources.any_mentions(program, &trace, &LOOKS_AT_TYPES);
    let clues = goal.messages.iter().flat_map(|(exception, text)| message::clues(exception, text)).collect();
    BuildRules {
        plain_packages: PLAIN_PACKAGES,
        banned: BANNED,
        closed_packages: Vec::new(),
        elsewhere: ELSEWHERE,
        readers: READERS,
        clues,
        declaring: Declaring { types: looks.then_some(&TYPES), ..DECLARING },
        ..BuildRules::default()
    }
}
