//! The surroundings of a test as statements: files with content, settings of the process, locale and time zone, what is typed in.
//!
//! They hold from their statement until the test ends and are undone after it. A file or folder stands in a temporary folder of its own, and its
//! value is its path as text; the other statements have no value. How each is set up and written is the language's business.

use serde::{Deserialize, Serialize};

/// See the module documentation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Env {
    File {
        name: String,
        content: String,
    },
    /// An empty folder.
    Folder {
        name: String,
    },
    /// A named setting of the process: a system property, an environment variable.
    Setting {
        name: String,
        value: String,
    },
    /// The default locale, as a language tag.
    Locale(String),
    /// The default time zone, by its name.
    TimeZone(String),
    /// What standard input gives.
    Input(String),
}

/// The name that a file has unless another is needed.
pub const PLAIN_NAME: &str = "file";
const MAX_NAME: usize = 60;

impl Env {
    /// Whether its value is a path.
    pub fn is_path(&self) -> bool {
        matches!(self, Env::File { .. } | Env::Folder { .. })
    }
    /// The text that can be anything.
    pub fn text(&self) -> Option<&str> {
        match self {
            Env::File { content: text, .. } | Env::Setting { value: text, .. } | Env::Input(text) => Some(text),
            Env::Folder { .. } | Env::Locale(_) | Env::TimeZone(_) => None,
        }
    }
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Env::File { content: text, .. } | Env::Setting { value: text, .. } | Env::Input(text) => Some(text),
            Env::Folder { .. } | Env::Locale(_) | Env::TimeZone(_) => None,
        }
    }
    /// The name of a file or folder.
    pub fn name_mut(&mut self) -> Option<&mut String> {
        match self {
            Env::File { name, .. } | Env::Folder { name } => Some(name),
            _ => None,
        }
    }
    /// Whether it can be set up: names are checked, since a record may come from anywhere.
    pub fn is_sound(&self) -> bool {
        match self {
            Env::File { name, .. } | Env::Folder { name } => is_file_name(name),
            Env::Setting { name, value } => !name.is_empty() && !name.contains(['\0', '=']) && !value.contains('\0'),
            Env::Locale(_) | Env::TimeZone(_) | Env::Input(_) => true,
        }
    }
}

/// Whether a file of that name can stand in a folder of any system, and nowhere else.
pub fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain) && !name.starts_with('.') && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_leads_nowhere_else() {
        for good in ["file", "build.xml", "a-b_1.tar.gz"] {
            assert!(is_file_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "../x", ".hidden", "a\\b", "a\0", "x y", &"n".repeat(61)] {
            assert!(!is_file_name(bad), "{bad}");
        }
        assert!(!Env::Setting { name: "a=b".into(), value: String::new() }.is_sound());
    }
}
