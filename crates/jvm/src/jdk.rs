//! Finds the JDKs of a machine by looking at files; no JVM is started, no environment variable read.
//!
//! It does not choose: it lists what there is, the most wanted first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// An installed JDK or JRE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// With symbolic links resolved.
    pub home: PathBuf,
    /// 8, 11, 17, …
    pub feature: u32,
    pub libjvm: PathBuf,
    /// Absent in a JRE.
    pub javac: Option<PathBuf>,
    pub java: PathBuf,
    /// As the vendor writes it (`17.0.15`, `1.8.0_392`).
    pub version: String,
}

/// Where to look. Everything that comes from the environment is handed in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search<'a> {
    /// What the user asked for.
    pub explicit: Option<&'a Path>,
    /// The value of `JAVA_HOME`.
    pub java_home: Option<&'a OsStr>,
    /// The value of `PATH`.
    pub path: Option<&'a OsStr>,
    /// The user's home directory, under which tools such as SDKMAN install.
    pub user_home: Option<&'a Path>,
}

/// All JDKs: the explicit one, `JAVA_HOME`, those on `PATH`, then the rest, newest first. Each once.
pub fn find(search: Search<'_>) -> Vec<Jdk> {
    let mut found: Vec<Jdk> = Vec::new();
    let mut add = |home: &Path| {
        if let Some(jdk) = Jdk::at(home)
            && found.iter().all(|known| known.home != jdk.home)
        {
            found.push(jdk);
        }
    };
    search.explicit.into_iter().for_each(&mut add);
    search.java_home.map(Path::new).into_iter().for_each(&mut add);
    homes_on_path(search.path).iter().for_each(|home| add(home));
    let mut others: Vec<Jdk> = install_dirs(search.user_home).iter().flat_map(|dir| children(dir)).filter_map(|home| Jdk::at(&home)).collect();
    others.sort_by(|a, b| b.feature.cmp(&a.feature).then_with(|| a.home.cmp(&b.home)));
    for jdk in others {
        if found.iter().all(|known| known.home != jdk.home) {
            found.push(jdk);
        }
    }
    found
}

impl Jdk {
    /// The JDK whose home is `home`, if there is one. A `jre` directory inside a JDK counts as that JDK.
    pub fn at(home: &Path) -> Option<Jdk> {
        let mut home = home.canonicalize().ok()?;
        if home.file_name() == Some(OsStr::new("jre"))
            && let Some(outer) = home.parent().filter(|outer| outer.join("bin/javac").is_file())
        {
            home = outer.to_path_buf();
        }
        let version = version(&home)?;
        let java = Some(home.join("bin/java")).filter(|java| java.is_file())?;
        let javac = Some(home.join("bin/javac")).filter(|javac| javac.is_file());
        Some(Jdk { feature: feature(&version)?, libjvm: libjvm(&home)?, javac, java, version, home })
    }

    /// The image with the platform's classes, of JDK 9 and later.
    pub fn image(&self) -> Option<PathBuf> {
        Some(self.home.join("lib/modules")).filter(|path| path.is_file())
    }

    /// The archives with the platform's classes, up to JDK 8.
    pub fn platform_jars(&self) -> Vec<PathBuf> {
        let dirs = [self.home.join("jre/lib"), self.home.join("lib")];
        let Some(dir) = dirs.iter().find(|dir| dir.join("rt.jar").is_file()) else {
            return Vec::new();
        };
        let names = ["resources.jar", "rt.jar", "jsse.jar", "jce.jar", "charsets.jar"];
        names.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect()
    }
}

/// `JAVA_VERSION` of the `release` file; some JDK 8 have none (Debian's), but they have an `rt.jar`.
fn version(home: &Path) -> Option<String> {
    let release = ["release", "jre/release"].iter().find_map(|name| std::fs::read_to_string(home.join(name)).ok()).unwrap_or_default();
    let quoted = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    if let Some(version) = quoted.map(|text| text.trim().trim_matches('"')) {
        return Some(version.to_owned());
    }
    ["lib/rt.jar", "jre/lib/rt.jar"].iter().any(|jar| home.join(jar).is_file()).then(|| "1.8".to_owned())
}

/// `17.0.15` → 17, `1.8.0_392` → 8, `25-ea` → 25.
fn feature(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().ok()
}

fn libjvm(home: &Path) -> Option<PathBuf> {
    let flat = ["lib/server/libjvm.so", "lib/server/libjvm.dylib", "jre/lib/server/libjvm.dylib", "lib/minimal/libjvm.so"];
    if let Some(path) = flat.iter().map(|p| home.join(p)).find(|p| p.is_file()) {
        return Some(path);
    }
    // JDK 8 puts the processor's name in between
    let by_processor = [home.join("jre/lib"), home.join("lib")];
    by_processor.iter().flat_map(|dir| children(dir)).map(|dir| dir.join("server/libjvm.so")).find(|p| p.is_file())
}

fn homes_on_path(path: Option<&OsStr>) -> Vec<PathBuf> {
    let dirs = path.map(std::env::split_paths).into_iter().flatten();
    let binaries = dirs.filter_map(|dir| dir.join("java").canonicalize().ok());
    binaries.filter_map(|java| Some(java.parent()?.parent()?.to_path_buf())).collect()
}

fn install_dirs(user_home: Option<&Path>) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = ["/usr/lib/jvm", "/usr/java", "/opt"].iter().map(PathBuf::from).collect();
    if let Some(home) = user_home {
        dirs.extend([".sdkman/candidates/java", ".jdks"].map(|dir| home.join(dir)));
    }
    dirs
}

/// Sorted, so that the same machine gives the same answer.
fn children(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_versions() {
        for (version, expected) in [("17.0.15", Some(17)), ("1.8.0_392", Some(8)), ("25-ea", Some(25)), ("25", Some(25)), ("x", None)] {
            assert_eq!(feature(version), expected, "{version}");
        }
    }

    fn fake(dir: &Path, release: &str, files: &[&str]) {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join("release"), release).unwrap();
        for file in files {
            let path = dir.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn order_layouts_links_and_duplicates() {
        let root = std::env::temp_dir().join(format!("rethrow-jdk-{}", std::process::id()));
        let root = {
            std::fs::create_dir_all(&root).unwrap();
            root.canonicalize().unwrap()
        };
        let old = root.join("jdk8");
        fake(&old, "JAVA_VERSION=\"1.8.0_392\"\n", &["bin/java", "bin/javac", "jre/lib/amd64/server/libjvm.so", "jre/lib/rt.jar", "jre/bin/java"]);
        let new = root.join("jdk21");
        fake(&new, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.2\"\n", &["bin/java", "lib/server/libjvm.so", "lib/modules"]);
        let link = root.join("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&new, &link).unwrap();

        let path = std::env::join_paths([new.join("bin"), old.join("jre/bin")]).unwrap();
        let found = find(Search { explicit: Some(&old), java_home: Some(link.as_os_str()), path: Some(&path), user_home: None });
        assert_eq!((found[0].home.clone(), found[0].feature), (old.clone(), 8));
        assert_eq!(found[0].libjvm, old.join("jre/lib/amd64/server/libjvm.so"));
        assert_eq!(found[0].platform_jars(), [old.join("jre/lib/rt.jar")]);
        assert!(found[0].javac.is_some() && found[0].image().is_none());
        assert_eq!((found[1].home.clone(), found[1].feature, found[1].javac.clone()), (new.clone(), 21, None));
        assert!(found[1].image().is_some());
        assert!(found[2..].iter().all(|jdk| !jdk.home.starts_with(&root)), "each is listed once");
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_jdk_8_without_release_file_is_known_by_its_archive() {
        let root = std::env::temp_dir().join(format!("rethrow-jdk8-{}", std::process::id()));
        fake(&root, "", &["bin/java", "bin/javac", "jre/lib/amd64/server/libjvm.so", "jre/lib/rt.jar"]);
        std::fs::remove_file(root.join("release")).unwrap();
        assert_eq!(Jdk::at(&root).map(|jdk| (jdk.feature, jdk.javac.is_some())), Some((8, true)));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_directory_without_java_is_no_jdk() {
        assert_eq!(Jdk::at(&std::env::temp_dir()), None);
        assert_eq!(Jdk::at(Path::new("/does/not/exist")), None);
    }
}
