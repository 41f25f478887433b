//! The options a worker's JVM is created with. A pure function of the configuration; options that a JDK does not know are ignored by it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::SessionConfig;

/// Whatever the JDK.
const FIXED: [&str; 21] = [
    // First: it governs those after it, as do the next two.
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+UnlockDiagnosticVMOptions",
    // Each exception would be noted several times for a crash report of the JVM that nobody reads.
    "-XX:-LogEvents",
    // Tests are many and short: the first compiler is enough, and starts at once.
    "-XX:TieredStopAtLevel=1",
    // … and is to be used early: a search calls thousands of methods, each a few hundred times.
    "-XX:CompileThresholdScaling=0.05",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    // Or hot code throws exceptions without frames, and their distance to the goal is unknown.
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    // Order in hash tables of objects without `hashCode` must not depend on chance.
    "-XX:hashCode=2",
    // Signals end the process; no shutdown hooks.
    "-Xrs",
    "-XX:+DisableAttachMechanism",
    "-XX:-CreateCoredumpOnCrash",
    "-XX:MaxDirectMemorySize=64m",
    "-XX:MaxMetaspaceSize=256m",
    "-XX:ReservedCodeCacheSize=64m",
    // Threads that the program makes.
    "-Xss1m",
    "-XX:+EnableDynamicAgentLoading",
    "-Djava.security.egd=file:/dev/urandom",
];
/// From this version on, some calls print warnings unless they are allowed.
const WARNS_ABOUT_UNSAFE: u32 = 23;
const UNSAFE: [&str; 2] = ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"];

pub fn options(config: &SessionConfig, scratch: &Path) -> Vec<Vec<u8>> {
    let mut options: Vec<Vec<u8>> = FIXED.iter().map(|o| o.as_bytes().to_vec()).collect();
    if config.jdk.feature >= 9 {
        options.push(b"-Xlog:disable".to_vec());
    }
    if config.jdk.feature >= WARNS_ABOUT_UNSAFE {
        options.extend(UNSAFE.iter().map(|o| o.as_bytes().to_vec()));
    }
    if config.assertions {
        options.push(b"-ea".to_vec());
    }
    if let Some(depth) = config.trace_depth {
        options.push(format!("-XX:MaxJavaStackTraceDepth={depth}").into_bytes());
    }
    // A heap that grows and shrinks around each large array costs more in page faults than the test itself.
    options.extend(["-Xms", "-Xmx"].map(|o| format!("{o}{}m", config.heap_mb.max(32)).into_bytes()));
    let error_file = scratch.join("hs_err.log");
    for (option, path) in [("-Djava.io.tmpdir=", scratch), ("-Duser.home=", scratch), ("-XX:ErrorFile=", &error_file)] {
        options.push([option.as_bytes(), path.as_os_str().as_bytes()].concat());
    }
    let entries: Vec<&[u8]> = config.classpath.iter().map(|p| p.as_os_str().as_bytes()).collect();
    options.push([b"-Djava.class.path=".as_slice(), &entries.join(&b':')].concat());
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdk::Jdk;

    fn config(feature: u32) -> SessionConfig {
        let jdk =
            Jdk { home: "/jdk".into(), feature, libjvm: "/jdk/libjvm.so".into(), javac: None, java: "/jdk/bin/java".into(), version: feature.to_string() };
        SessionConfig::new("/rethrow".into(), jdk, vec!["/a.jar".into(), "/b c".into()], "/tmp".into())
    }

    fn has(config: &SessionConfig, option: &str) -> bool {
        options(config, Path::new("/s")).iter().any(|o| o == option.as_bytes())
    }

    #[test]
    fn paths_and_sizes_are_given() {
        let config = config(17);
        for option in ["-Djava.class.path=/a.jar:/b c", "-Djava.io.tmpdir=/s", "-Duser.home=/s", "-XX:ErrorFile=/s/hs_err.log", "-Xmx128m"] {
            assert!(has(&config, option), "{option}");
        }
        assert_eq!(options(&config, Path::new("/s"))[0], b"-XX:+IgnoreUnrecognizedVMOptions");
    }

    #[test]
    fn versions_and_assertions_make_a_difference() {
        assert!(!has(&config(8), "-Xlog:disable") && has(&config(11), "-Xlog:disable"));
        assert!(!has(&config(21), UNSAFE[0]) && has(&config(25), UNSAFE[0]));
        assert!(!has(&config(17), "-ea") && has(&SessionConfig { assertions: true, ..config(17) }, "-ea"));
        assert!(has(&SessionConfig { trace_depth: Some(200), ..config(17) }, "-XX:MaxJavaStackTraceDepth=200"));
    }
}
