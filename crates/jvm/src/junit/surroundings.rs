//! What surrounds a test, as Java source: the statements that set it up, the methods that make its files, and what puts everything back.

use rethrow_core::testcase::{Env, Stmt, TestCase};

use super::literal;
use super::names::TypeNames;

/// Locals that hold what was there before.
pub(super) const LOCALS: [&str; 4] = ["propertiesBefore", "localeBefore", "timeZoneBefore", "inputBefore"];

/// Which of the surroundings a test sets up.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Around {
    files: bool,
    folders: bool,
    settings: bool,
    locale: bool,
    time_zone: bool,
    input: bool,
}

impl Around {
    pub fn of(test: &TestCase) -> Around {
        let mut around = Around::default();
        for env in test.stmts.iter().filter_map(|s| if let Stmt::Env(env) = s { Some(env) } else { None }) {
            match **env {
                Env::File { .. } => around.files = true,
                Env::Folder { .. } => around.folders = true,
                Env::Setting { .. } => around.settings = true,
                Env::Locale(_) => around.locale = true,
                Env::TimeZone(_) => around.time_zone = true,
                Env::Input(_) => around.input = true,
            }
        }
        around
    }

    /// The lines of a test, with what puts the surroundings back.
    pub fn put_back(self, names: &TypeNames<'_>, lines: Vec<String>) -> Vec<String> {
        let system = names.java_lang("System");
        let [properties, locale, zone, input] = LOCALS;
        let pairs = [
            (
                self.settings,
                format!("java.util.Properties {properties} = (java.util.Properties) {system}.getProperties().clone();"),
                format!("{system}.setProperties({properties});"),
            ),
            (self.locale, format!("java.util.Locale {locale} = java.util.Locale.getDefault();"), format!("java.util.Locale.setDefault({locale});")),
            (self.time_zone, format!("java.util.TimeZone {zone} = java.util.TimeZone.getDefault();"), format!("java.util.TimeZone.setDefault({zone});")),
            (self.input, format!("java.io.InputStream {input} = {system}.in;"), format!("{system}.setIn({input});")),
        ];
        let used: Vec<_> = pairs.into_iter().filter(|(used, _, _)| *used).collect();
        if used.is_empty() {
            return lines;
        }
        let mut out: Vec<String> = used.iter().map(|(_, before, _)| before.clone()).collect();
        out.push("try {".into());
        out.extend(lines.into_iter().map(|line| format!("    {line}")));
        out.push("} finally {".into());
        out.extend(used.iter().map(|(_, _, after)| format!("    {after}")));
        out.push("}".into());
        out
    }

    /// Methods of the test class that make its files and folders, indented.
    pub fn helpers(self, names: &TypeNames<'_>) -> Vec<String> {
        let string = names.java_lang("String");
        let mut lines = Vec::new();
        if self.files {
            lines.extend([
                String::new(),
                format!("private static {string} temporaryFile({string} name, {string} content) throws java.io.IOException {{"),
                "    java.io.File file = new java.io.File(temporaryFolder(\"files\"), name);".into(),
                "    java.io.FileOutputStream out = new java.io.FileOutputStream(file);".into(),
                "    out.write(content.getBytes(\"UTF-8\"));".into(),
                "    out.close();".into(),
                "    file.deleteOnExit();".into(),
                "    return file.getPath();".into(),
                "}".into(),
            ]);
        }
        if self.files || self.folders {
            lines.extend([
                String::new(),
                format!("private static {string} temporaryFolder({string} name) throws java.io.IOException {{"),
                "    java.io.File parent = java.io.File.createTempFile(\"test\", \"\");".into(),
                "    java.io.File folder = new java.io.File(parent, name);".into(),
                "    if (!parent.delete() || !folder.mkdirs()) {".into(),
                "        throw new java.io.IOException(\"no folder \" + folder);".into(),
                "    }".into(),
                "    parent.deleteOnExit();".into(),
                "    folder.deleteOnExit();".into(),
                "    return folder.getPath();".into(),
                "}".into(),
            ]);
        }
        lines.into_iter().map(|line| if line.is_empty() { line } else { format!("    {line}") }).collect()
    }
}

/// The expression that sets it up.
pub(super) fn expression(names: &TypeNames<'_>, env: &Env) -> Result<String, String> {
    let quoted = literal::string;
    let system = names.java_lang("System");
    Ok(match env {
        Env::File { name, content } => format!("temporaryFile({}, {})", quoted(name)?, quoted(content)?),
        Env::Folder { name } => format!("temporaryFolder({})", quoted(name)?),
        Env::Setting { name, value } => format!("{system}.setProperty({}, {})", quoted(name)?, quoted(value)?),
        Env::Locale(tag) => format!("java.util.Locale.setDefault(java.util.Locale.forLanguageTag({}))", quoted(tag)?),
        Env::TimeZone(id) => format!("java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone({}))", quoted(id)?),
        Env::Input(content) => format!("{system}.setIn(new java.io.ByteArrayInputStream({}.getBytes(\"UTF-8\")))", quoted(content)?),
    })
}

/// What a path is called.
pub(super) fn wish(env: &Env) -> Option<String> {
    match env {
        Env::File { .. } => Some("path".into()),
        Env::Folder { .. } => Some("folder".into()),
        _ => None,
    }
}
