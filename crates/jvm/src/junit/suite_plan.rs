//! How files of many tests are confirmed: one compilation for all, one fresh JVM that runs them one after the other by a small main of ours.
//!
//! Where the class path has no JUnit, the few members that the tests use are compiled along. Nothing is started here.

use std::path::{Path, PathBuf};

use rethrow_core::target::confirmation::{Command, RESULT_FILE, RUN_FOLDER, joined};
use rethrow_core::target::suite::{LIST_FILE, RenderedSuite, SuitePlan, parse_results};

use super::confirm::{java_options, javac_options};

const RUNNER: &str = "rethrow.generated.RethrowSuite";

/// What the plan is made for.
#[derive(Clone, Debug)]
pub struct SuiteConfig<'a> {
    /// Absolute; everything is written below it.
    pub scratch: &'a Path,
    pub java: &'a Path,
    pub javac: &'a Path,
    pub homes: Vec<PathBuf>,
    pub class_path: &'a [PathBuf],
    /// The class path has JUnit 4.
    pub has_framework: bool,
    /// A test that takes longer hangs.
    pub test_limit_ms: u32,
}

/// The plan for these files.
pub fn suite_plan(files: &[RenderedSuite], config: &SuiteConfig<'_>) -> SuitePlan {
    let sources = PathBuf::from("src");
    let classes = config.scratch.join("classes");
    let mut all: Vec<(PathBuf, String)> = files.iter().map(|f| (sources.join(&f.path), f.text.clone())).collect();
    all.push((sources.join(RUNNER.replace('.', "/") + ".java"), RUNNER_SOURCE.replace("LIMIT", &config.test_limit_ms.to_string())));
    if !config.has_framework {
        all.push((sources.join("org/junit/Test.java"), ANNOTATION.to_string()));
        all.push((sources.join("org/junit/Assert.java"), ASSERT.to_string()));
    }
    let quoted = |path: &Path| format!("\"{}\"", config.scratch.join(path).display().to_string().replace('\\', "\\\\"));
    let list: Vec<String> = all.iter().map(|(path, _)| quoted(path)).collect();
    let list_path = PathBuf::from("sources.txt");
    let compile = javac(config, &classes, &config.scratch.join(&list_path));
    all.push((list_path, list.join("\n") + "\n"));
    let run = java(config, &classes);
    let mut readable = vec![config.scratch.to_path_buf()];
    readable.extend(config.homes.iter().chain(config.class_path).cloned());
    SuitePlan { files: all, folders: vec![PathBuf::from("classes")], compile, errors: parse_errors, run, results: parse_results, readable, sources }
}

fn javac(config: &SuiteConfig<'_>, classes: &Path, list: &Path) -> Command {
    let mut args = javac_options();
    args.extend(["-Xmaxerrs", "100000", "-Xlint:none", "-g:none", "-implicit:none"].map(Into::into));
    args.extend(["-d".into(), classes.into()]);
    args.extend(["-cp".into(), joined(std::iter::once(classes).chain(config.class_path.iter().map(PathBuf::as_path)))]);
    args.push(format!("@{}", list.display()).into());
    Command { program: config.javac.to_path_buf(), args, env: Vec::new() }
}

fn java(config: &SuiteConfig<'_>, classes: &Path) -> Command {
    let mut args = java_options();
    args.extend(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"].map(Into::into));
    args.extend(["-cp".into(), joined(std::iter::once(classes).chain(config.class_path.iter().map(PathBuf::as_path)))]);
    args.extend([RUNNER.into(), format!("{RUN_FOLDER}/{LIST_FILE}").into(), format!("{RUN_FOLDER}/{RESULT_FILE}").into()]);
    Command { program: config.java.to_path_buf(), args, env: Vec::new() }
}

/// `/path/File.java:12: error: …`
fn parse_errors(text: &str) -> Vec<(PathBuf, usize)> {
    let place = |line: &str| {
        let (place, _) = line.split_once(": error")?;
        let (path, number) = place.rsplit_once(':')?;
        Some((PathBuf::from(path), number.parse().ok()?))
    };
    text.lines().filter_map(place).collect()
}

const ANNOTATION: &str = "package org.junit;

@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
public @interface Test {
}
";

const ASSERT: &str = r#"package org.junit;

public class Assert {
    public static void fail(String why) {
        throw new AssertionError(why);
    }
    public static void assertTrue(boolean value) {
        if (!value) fail("expected true");
    }
    public static void assertFalse(boolean value) {
        if (value) fail("expected false");
    }
    public static void assertNull(Object value) {
        if (value != null) fail("expected null");
    }
    public static void assertNotNull(Object value) {
        if (value == null) fail("expected an object");
    }
    public static void assertEquals(long expected, long actual) {
        if (expected != actual) fail("expected " + expected + " but was " + actual);
    }
    public static void assertEquals(double expected, double actual, double delta) {
        if (Double.compare(expected, actual) != 0 && !(Math.abs(expected - actual) <= delta)) fail("expected " + expected + " but was " + actual);
    }
    public static void assertEquals(float expected, float actual, float delta) {
        if (Float.compare(expected, actual) != 0 && !(Math.abs(expected - actual) <= delta)) fail("expected " + expected + " but was " + actual);
    }
    public static void assertArrayEquals(byte[] expected, byte[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(char[] expected, char[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(short[] expected, short[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(int[] expected, int[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(long[] expected, long[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(float[] expected, float[] actual, float delta) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(double[] expected, double[] actual, double delta) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertArrayEquals(Object[] expected, Object[] actual) {
        if (!java.util.Arrays.equals(expected, actual)) fail("expected " + java.util.Arrays.toString(expected) + " but was " + java.util.Arrays.toString(actual));
    }
    public static void assertEquals(Object expected, Object actual) {
        if (expected == null ? actual != null : !expected.equals(actual)) fail("expected " + expected + " but was " + actual);
    }
}
"#;

/// Runs the listed tests in order. A thread of its own watches for one that hangs: then the process ends, and what follows is run by another.
const RUNNER_SOURCE: &str = r#"package rethrow.generated;

public final class RethrowSuite {
    private static volatile int current = -1;
    private static volatile long since;

    public static void main(String[] args) throws Exception {
        java.util.List<String> tests = new java.util.ArrayList<String>();
        java.io.BufferedReader list = new java.io.BufferedReader(new java.io.InputStreamReader(new java.io.FileInputStream(args[0]), "UTF-8"));
        for (String line = list.readLine(); line != null; line = list.readLine()) {
            tests.add(line);
        }
        final java.io.FileOutputStream out = new java.io.FileOutputStream(args[1]);
        Thread clock = new Thread() {
            public void run() {
                watch(out);
            }
        };
        clock.setDaemon(true);
        clock.start();
        for (int i = 0; i < tests.size(); i++) {
            String test = tests.get(i);
            if (test.length() == 0) {
                continue;
            }
            since = System.nanoTime();
            current = i;
            String line = outcome(i, test);
            current = -1;
            out.write((line + "\n").getBytes("UTF-8"));
        }
        out.close();
        Runtime.getRuntime().halt(0);
    }

    private static String outcome(int i, String test) {
        try {
            int space = test.indexOf(' ');
            Class<?> type = Class.forName(test.substring(0, space));
            Object object = type.getConstructor().newInstance();
            type.getMethod(test.substring(space + 1)).invoke(object);
            return "P " + i;
        } catch (java.lang.reflect.InvocationTargetException e) {
            return "F " + i + " " + shown(e.getCause());
        } catch (Throwable e) {
            return "F " + i + " " + shown(e);
        }
    }

    private static String shown(Throwable t) {
        String message;
        try {
            message = t.getMessage();
        } catch (Throwable broken) {
            message = null;
        }
        StringBuilder out = new StringBuilder(t.getClass().getName());
        if (message != null) {
            out.append(": ");
            for (int i = 0; i < message.length() && i < 200; i++) {
                char c = message.charAt(i);
                out.append(c >= ' ' && c < 127 ? c : '?');
            }
        }
        return out.toString();
    }

    private static void watch(java.io.FileOutputStream out) {
        while (true) {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                continue;
            }
            int test = current;
            if (test >= 0 && System.nanoTime() - since > LIMIT * 1000000L && test == current) {
                try {
                    out.write(("H " + test + "\n").getBytes("UTF-8"));
                    out.close();
                } catch (java.io.IOException e) {
                    // nobody to tell
                }
                Runtime.getRuntime().halt(1);
            }
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_file_and_line() {
        let text = "/s/src/a/B.java:12: error: cannot find symbol\n  x();\n/s/src/a/C.java:3: error: boo: error\n2 errors\nwarning: x\n";
        assert_eq!(parse_errors(text), [(PathBuf::from("/s/src/a/B.java"), 12), (PathBuf::from("/s/src/a/C.java"), 3)]);
    }
}
