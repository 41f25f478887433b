use std::fs;

use super::zip::tests::zip;
use super::*;
use crate::jdk;

/// A directory of its own for each test.
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("rethrow-classpath-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn any_jdk() -> Jdk {
    let (java_home, path) = (std::env::var_os("JAVA_HOME"), std::env::var_os("PATH"));
    let search = jdk::Search { java_home: java_home.as_deref(), path: path.as_deref(), ..jdk::Search::default() };
    jdk::find(search).into_iter().next().expect("tests need a JDK")
}

fn open(elements: &[&str]) -> Result<Parsed<ClassPath>, ClassPathError> {
    let spec: Vec<String> = elements.iter().map(|s| (*s).to_owned()).collect();
    ClassPath::open(&spec, &any_jdk())
}

#[test]
fn directories_jars_and_wildcards_in_order_each_once() {
    let dir = scratch("order");
    fs::create_dir_all(dir.join("classes/p")).unwrap();
    fs::write(dir.join("classes/p/A.class"), "dir").unwrap();
    fs::create_dir_all(dir.join("lib")).unwrap();
    fs::write(dir.join("lib/b.jar"), zip(&[("p/A.class", b"b"), ("p/B.class", b"b")], true)).unwrap();
    fs::write(dir.join("lib/a.jar"), zip(&[("p/B.class", b"a")], true)).unwrap();
    fs::write(dir.join("lib/notes.txt"), "not a jar").unwrap();
    let text = |path: &str| dir.join(path).display().to_string();
    let joined = format!("{}:{}", text("classes"), text("lib/*"));
    let opened = open(&[&joined, &text("lib/a.jar")]).unwrap();
    assert_eq!(opened.diagnostics, []);
    let classpath = opened.value;
    let names: Vec<_> = classpath.entries().filter(|e| !e.platform).map(|e| e.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["classes", "a.jar", "b.jar"]);
    assert_eq!(classpath.class_bytes("p.A").unwrap().as_ref(), b"dir");
    assert_eq!(classpath.class_bytes("p/B").unwrap().as_ref(), b"a");
    assert!(classpath.class_bytes("p.C").is_none());
    assert_eq!(&classpath.class_bytes("java.lang.Object").unwrap()[..4], [0xCA, 0xFE, 0xBA, 0xBE]);
    assert_eq!(classpath.files(), [dir.join("classes/p/A.class"), dir.join("lib/a.jar"), dir.join("lib/b.jar")]);
    assert!(classpath.missing_hint("p.Zzz").unwrap().contains("package p"));
    assert!(classpath.is_closed("java.util") && !classpath.is_closed("p"));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn unreadable_entries_are_told_and_fatal_only_if_nothing_is_left() {
    let dir = scratch("broken");
    fs::write(dir.join("good.jar"), zip(&[("A.class", b"")], false)).unwrap();
    fs::write(dir.join("bad.jar"), "certainly no zip").unwrap();
    let text = |path: &str| dir.join(path).display().to_string();
    let opened = open(&[&text("good.jar"), &text("bad.jar"), &text("none.jar"), &text("none/*")]).unwrap();
    assert_eq!(opened.diagnostics.len(), 3);
    assert!(opened.diagnostics[0].text.contains("bad.jar") && opened.diagnostics[1].text.contains("none.jar"));
    match open(&[&text("bad.jar"), &text("none.jar")]) {
        Err(ClassPathError::Unreadable(list)) => assert_eq!(list.len(), 2),
        other => panic!("{:?}", other.map(|_| ()).err()),
    }
    assert!(matches!(open(&["", ":"]), Err(ClassPathError::Empty)));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn manifests_are_followed_and_what_they_miss_is_remembered() {
    let dir = scratch("manifest");
    let manifest: &[u8] = b"Manifest-Version: 1.0\nClass-Path: lib/x.jar lib/gone.jar main.jar\n";
    fs::create_dir_all(dir.join("lib")).unwrap();
    fs::write(dir.join("main.jar"), zip(&[("META-INF/MANIFEST.MF", manifest), ("M.class", b"m")], true)).unwrap();
    fs::write(dir.join("lib/x.jar"), zip(&[("org/junit/Test.class", b"x")], true)).unwrap();
    let classpath = open(&[&dir.join("main.jar").display().to_string()]).unwrap().value;
    assert_eq!(classpath.entries().filter(|e| !e.platform).count(), 2);
    assert_eq!(classpath.has_junit(), Some(4));
    assert!(classpath.missing_hint("q.Missing").unwrap().contains("lib/gone.jar"));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn nested_archives_are_laid_out_for_a_jvm() {
    let dir = scratch("nested");
    let library = zip(&[("org/junit/jupiter/api/Test.class", b"L")], true);
    let entries: [(&str, &[u8]); 3] = [("BOOT-INF/classes/app/A.class", b"A"), ("BOOT-INF/classes/app.properties", b"k=v"), ("BOOT-INF/lib/l.jar", &library)];
    fs::write(dir.join("app.jar"), zip(&entries, true)).unwrap();
    let classpath = open(&[&dir.join("app.jar").display().to_string()]).unwrap().value;
    assert_eq!(classpath.has_junit(), Some(5));
    assert_eq!(classpath.class_bytes("app.A").unwrap().as_ref(), b"A");
    assert_eq!(classpath.files(), [dir.join("app.jar")]);
    let launched = classpath.launch_entries(&dir.join("out")).unwrap();
    assert_eq!(fs::read(launched[0].join("app.properties")).unwrap(), b"k=v");
    assert_eq!(fs::read(launched[0].join("app/A.class")).unwrap(), b"A");
    assert_eq!(fs::read(&launched[1]).unwrap(), library);
    fs::remove_dir_all(dir).unwrap();
}
