//! What a test of a Python program may use: knowledge about the platform that the search, which knows no language, is given.

use rethrow_core::goal::CrashGoal;
use rethrow_core::search::targets::BuildRules;
use rethrow_core::testcase::build::surroundings::Readers;

use crate::message;

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

/// Tests live outside every package, and may name all of them.
const ELSEWHERE: &str = "";

/// The rules; a test can import anything.
pub fn build_rules(goal: &CrashGoal) -> BuildRules {
    let clues = goal.messages.iter().flat_map(|(exception, text)| message::clues(exception, text)).collect();
    BuildRules {
        plain_packages: PLAIN_PACKAGES,
        banned: BANNED,
        closed_packages: Vec::new(),
        elsewhere: ELSEWHERE,
        readers: READERS,
        clues,
        ..BuildRules::default()
    }
}
