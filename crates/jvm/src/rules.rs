//! What a test of a Java program may use: knowledge about the platform that the search, which knows no language, is given.

use rethrow_core::goal::CrashGoal;
use rethrow_core::program::Program;
use rethrow_core::search::targets::BuildRules;

use crate::classpath::ClassPath;
use crate::junit::FALLBACK_PACKAGE;

/// Packages of the JDK whose classes hold data: the rest opens windows, sockets and compilers.
const PLAIN_PACKAGES: &[&str] = &[
    "java.lang",
    "java.util",
    "java.io",
    "java.math",
    "java.text",
    "java.time",
    "java.net",
    "java.nio",
    "java.nio.charset",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.function",
    "java.util.regex",
];

/// Calls that end, stop, replace or wait for something outside the test (V10).
const BANNED: &[(&str, &str)] = &[
    ("java.lang.Runtime", "*"),
    ("java.lang.ProcessBuilder", "*"),
    ("java.lang.System", "exit"),
    ("java.lang.System", "load"),
    ("java.lang.System", "loadLibrary"),
    ("java.lang.System", "setErr"),
    ("java.lang.System", "setIn"),
    ("java.lang.System", "setOut"),
    ("java.lang.System", "setSecurityManager"),
    ("java.lang.System", "gc"),
    ("java.lang.System", "runFinalization"),
    ("java.lang.Object", "notify"),
    ("java.lang.Object", "notifyAll"),
    ("java.lang.Object", "wait"),
    ("java.lang.Thread", "countStackFrames"),
    ("java.lang.Thread", "destroy"),
    ("java.lang.Thread", "join"),
    ("java.lang.Thread", "resume"),
    ("java.lang.Thread", "sleep"),
    ("java.lang.Thread", "stop"),
    ("java.lang.Thread", "suspend"),
    ("java.lang.ThreadGroup", "*"),
];

/// The rules for one goal: packages of its frames that are sealed, signed or the JDK's own take no further class.
pub fn build_rules(program: &Program, goal: &CrashGoal, classpath: &ClassPath) -> BuildRules {
    let packages = goal.frames.iter().map(|f| program.package(f.class)).filter(|p| classpath.is_closed(p));
    let closed_packages = packages.map(String::from).collect();
    BuildRules { plain_packages: PLAIN_PACKAGES, banned: BANNED, closed_packages, elsewhere: FALLBACK_PACKAGE }
}
