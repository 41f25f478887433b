//! A compiler that stays: one JVM that compiles job after job, so that the second is several times faster than a new javac would be.
//!
//! Jobs are files: `job-N` lists sources, `done-N` says how long it took and where errors are. The program is a single source file that the JVM itself
//! compiles when it starts, which needs Java 11. Nothing is started here.

use std::ffi::OsString;
use std::path::PathBuf;

use rethrow_core::target::confirmation::{Command, joined};
use rethrow_core::target::suite::{CompilerPlan, JOBS_FOLDER};

use super::suite_plan::SuiteConfig;

/// The first Java that runs source files.
const RUNS_SOURCE: u32 = 11;
const SOURCE_FILE: &str = "RethrowCompiler.java";

/// The plan of a compiler for `config`; `None` if its Java cannot run it.
pub fn compiler_plan(config: &SuiteConfig<'_>, java: &std::path::Path, feature: u32) -> Option<CompilerPlan> {
    if feature < RUNS_SOURCE {
        return None;
    }
    let classes = config.scratch.join("classes");
    let class_path = joined(std::iter::once(classes.as_path()).chain(config.class_path.iter().map(PathBuf::as_path)));
    let mut args: Vec<OsString> = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xms128m", "-Xss4m"].map(OsString::from).to_vec();
    args.push(config.scratch.join(SOURCE_FILE).into());
    args.extend([config.scratch.join(JOBS_FOLDER).into(), classes.into(), class_path]);
    let mut readable = vec![config.scratch.to_path_buf()];
    readable.extend(config.homes.iter().chain(config.class_path).cloned());
    Some(CompilerPlan {
        files: vec![(PathBuf::from(SOURCE_FILE), SOURCE.to_string())],
        folders: vec![PathBuf::from(JOBS_FOLDER), PathBuf::from("classes")],
        command: Command { program: java.to_path_buf(), args, env: Vec::new() },
        readable,
    })
}

const SOURCE: &str = r#"import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public class RethrowCompiler {
    public static void main(String[] args) throws Exception {
        Path jobs = Paths.get(args[0]);
        List<String> options = Arrays.asList("-nowarn", "-proc:none", "-Xlint:none", "-g:none", "-implicit:none", "-Xmaxerrs", "100000",
            "-encoding", "UTF-8", "-d", args[1], "-cp", args[2]);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        for (int n = 1; ; n++) {
            Path job = jobs.resolve("job-" + n);
            while (!Files.exists(job)) {
                Thread.sleep(10);
            }
            long begun = System.nanoTime();
            List<File> sources = new ArrayList<>();
            for (String line : Files.readAllLines(job, StandardCharsets.UTF_8)) {
                sources.add(new File(line));
            }
            DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
            StringBuilder out = new StringBuilder();
            try {
                boolean done = compiler.getTask(null, manager, said, options, null, manager.getJavaFileObjectsFromFiles(sources)).call();
                for (Diagnostic<? extends JavaFileObject> d : said.getDiagnostics()) {
                    if (d.getKind() == Diagnostic.Kind.ERROR) {
                        String file = d.getSource() == null ? "?" : new File(d.getSource().toUri()).getPath();
                        String message = d.getMessage(java.util.Locale.ENGLISH).replace('\n', ' ');
                        out.append("E ").append(d.getLineNumber()).append(' ').append(file).append('\t').append(message).append('\n');
                    }
                }
                out.append(done ? "OK " : "BAD ");
            } catch (Throwable t) {
                out.append("X ").append(t).append('\n').append("BAD ");
            }
            out.append((System.nanoTime() - begun) / 1000000).append('\n');
            Path written = jobs.resolve("done-" + n + ".tmp");
            Files.write(written, out.toString().getBytes(StandardCharsets.UTF_8));
            Files.move(written, jobs.resolve("done-" + n), StandardCopyOption.ATOMIC_MOVE);
        }
    }
}
"#;
