//! What a test of a Python program may use: knowledge about the platform that the search, which knows no language, is given.

use rethrow_core::search::targets::BuildRules;

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

/// Tests live outside every package, and may name all of them.
const ELSEWHERE: &str = "";

/// The rules; they do not depend on the goal, because a test can import anything.
pub fn build_rules() -> BuildRules {
    BuildRules { plain_packages: PLAIN_PACKAGES, banned: BANNED, closed_packages: Vec::new(), elsewhere: ELSEWHERE, ..BuildRules::default() }
}
