//! The few headers of `META-INF/MANIFEST.MF` that decide what is on the class path.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub multi_release: bool,
    /// Some package, or all, may not be extended from outside.
    pub sealed: bool,
    /// Relative URLs of further archives.
    pub class_path: Vec<String>,
}

impl Manifest {
    pub fn parse(text: &str) -> Manifest {
        let mut manifest = Manifest::default();
        let mut main_section = true;
        for line in unfold(text) {
            let Some((key, value)) = line.split_once(':') else {
                main_section &= !line.is_empty();
                continue;
            };
            let is_true = value.trim().eq_ignore_ascii_case("true");
            match key.to_ascii_lowercase().as_str() {
                "multi-release" if main_section => manifest.multi_release = is_true,
                "sealed" => manifest.sealed |= is_true,
                "class-path" if main_section => {
                    manifest.class_path = value.split_whitespace().map(str::to_owned).collect();
                }
                _ => {}
            }
        }
        manifest
    }
}

/// Logical lines: a line that begins with a space continues the one before.
fn unfold(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match (line.strip_prefix(' '), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_headers_of_the_main_section() {
        let text =
            "Manifest-Version: 1.0\r\nClass-Path: lib/a.jar lib\r\n /b.jar\r\nMULTI-RELEASE: true\r\n\r\nName: p/\r\nSealed: true\r\nClass-Path: no.jar\r\n";
        let manifest = Manifest::parse(text);
        assert_eq!(manifest.class_path, ["lib/a.jar", "lib/b.jar"]);
        assert!(manifest.multi_release && manifest.sealed);
        assert_eq!(Manifest::parse(": \n\n  \nMulti-Release"), Manifest::default());
    }
}
