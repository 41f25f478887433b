//! `rethrow doctor`: what is installed, what is missing, and how to get it. Exit code 0 if a reproduction could run.

use std::path::PathBuf;

use rethrow_jvm::jdk::Jdk;
use rethrow_worker::process::probe;
use rethrow_worker::sandbox::{Layers, Sandbox};
use serde_json::json;

use crate::cli::{DoctorArgs, Format};
use crate::commands::jail::own_executable;
use crate::config::Host;
use crate::error::install_jdk;
use crate::report::{Glyphs, say};

/// The environment does not allow a reproduction.
const UNFIT: u8 = 4;

/// What was found.
struct Findings {
    jdks: Vec<Jdk>,
    pythons: Vec<PathBuf>,
    /// The layers a test would get, or why there is no sandbox at all.
    sandbox: Result<Layers, String>,
    /// Places searched for a JDK.
    places: Vec<String>,
}

/// Something that is missing, and how to get it.
struct Gap {
    what: String,
    how: String,
    /// Without it nothing can be reproduced.
    fatal: bool,
}

pub fn run(args: &DoctorArgs, host: &Host) -> u8 {
    let findings = examine(host);
    let gaps = findings.gaps();
    let fit = !gaps.iter().any(|gap| gap.fatal);
    match args.format {
        Format::Text => say(&findings.text(&gaps, Glyphs::for_locale(host.unicode))),
        Format::Json => say(&format!("{:#}\n", findings.json(&gaps, fit))),
    }
    if fit { 0 } else { UNFIT }
}

/// Where a JDK is looked for, in words.
pub fn places(host: &Host) -> Vec<String> {
    let java_home = match &host.java_home {
        Some(home) => format!("JAVA_HOME ({})", home.display()),
        None => "JAVA_HOME (not set)".into(),
    };
    let path = format!("PATH ({} folders)", host.path.len());
    vec![java_home, path, "/usr/lib/jvm, /usr/java, /opt, ~/.sdkman, ~/.jdks".into()]
}

fn examine(host: &Host) -> Findings {
    let sandbox = own_executable().map_err(|e| e.to_string());
    let sandbox = sandbox.and_then(|exe| probe(&exe, Sandbox::Default).map_err(|e| e.to_string()));
    let pythons = host.pythons();
    Findings { jdks: host.jdks(None), pythons, sandbox, places: places(host) }
}

impl Findings {
    fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if self.jdks.is_empty() {
            gaps.push(Gap { what: format!("no JDK in {}", self.places.join("; ")), how: install_jdk(17), fatal: true });
        } else if self.jdks.iter().all(|jdk| jdk.javac.is_none()) {
            gaps.push(Gap { what: "no javac, only Java runtimes".into(), how: install_jdk(17), fatal: true });
        }
        match &self.sandbox {
            Err(why) => gaps.push(Gap { what: format!("no worker process starts: {why}"), how: "see the reason".into(), fatal: true }),
            Ok(layers) => {
                let missing: Vec<&str> = layers.missing_for_strict().iter().map(|layer| layer.name()).collect();
                if !missing.is_empty() {
                    let what = format!("--sandbox strict would refuse: no {}", missing.join(", "));
                    let how = "Linux 6.2 or newer with Landlock, and unprivileged user namespaces".into();
                    gaps.push(Gap { what, how, fatal: false });
                }
            }
        }
        gaps
    }

    fn text(&self, gaps: &[Gap], glyphs: Glyphs) -> String {
        let mut out = String::new();
        let mut row = |ok: bool, name: &str, text: String| {
            let mark = if ok { glyphs.yes } else { glyphs.no };
            out += &format!("{mark} {name:<8} {text}\n");
        };
        for jdk in &self.jdks {
            let javac = if jdk.javac.is_some() { "with javac" } else { "without javac" };
            row(true, "java", format!("{:<10} {}  ({javac})", jdk.version, jdk.home.display()));
        }
        for python in &self.pythons {
            row(true, "python", python.display().to_string());
        }
        if let Ok(layers) = &self.sandbox {
            row(true, "sandbox", layers.to_string());
        }
        for gap in gaps {
            row(false, if gap.fatal { "missing" } else { "note" }, format!("{}\n           {} {}", gap.what, glyphs.arrow, gap.how));
        }
        let fit = !gaps.iter().any(|gap| gap.fatal);
        let languages = if self.pythons.is_empty() { "Java" } else { "Java and Python" };
        out += &if fit { format!("ready: crashes of {languages} programs can be reproduced\n") } else { "not ready\n".to_string() };
        out
    }

    fn json(&self, gaps: &[Gap], fit: bool) -> serde_json::Value {
        let jdk = |jdk: &Jdk| json!({ "home": jdk.home, "version": jdk.version, "feature": jdk.feature, "javac": jdk.javac });
        let gap = |gap: &Gap| json!({ "what": gap.what, "how": gap.how, "fatal": gap.fatal });
        json!({
            "schema": crate::record::SCHEMA,
            "tool": env!("CARGO_PKG_VERSION"),
            "ready": fit,
            "jdks": self.jdks.iter().map(jdk).collect::<Vec<_>>(),
            "pythons": self.pythons,
            "sandbox": self.sandbox.as_ref().ok(),
            "missing": gaps.iter().map(gap).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(jdks: Vec<Jdk>, sandbox: Result<Layers, String>) -> Findings {
        Findings { jdks, pythons: vec![], sandbox, places: vec!["PATH".into()] }
    }

    fn jdk(javac: bool) -> Jdk {
        Jdk {
            home: "/j".into(),
            feature: 17,
            libjvm: "/j/lib/server/libjvm.so".into(),
            javac: javac.then(|| "/j/bin/javac".into()),
            java: "/j/bin/java".into(),
            version: "17.0.1".into(),
        }
    }

    #[test]
    fn what_makes_a_machine_unfit() {
        let unfit = |f: Findings| f.gaps().iter().any(|gap| gap.fatal);
        assert!(!unfit(findings(vec![jdk(true)], Ok(Layers::default()))));
        assert!(unfit(findings(vec![], Ok(Layers::default()))));
        assert!(unfit(findings(vec![jdk(false)], Ok(Layers::default()))));
        assert!(unfit(findings(vec![jdk(true)], Err("no".into()))));
    }

    #[test]
    fn a_missing_jdk_comes_with_the_way_to_get_one() {
        let f = findings(vec![], Ok(Layers::default()));
        let text = f.text(&f.gaps(), Glyphs::ASCII);
        assert!(text.contains("apt install openjdk-17-jdk") && text.ends_with("not ready\n"), "{text}");
    }
}
