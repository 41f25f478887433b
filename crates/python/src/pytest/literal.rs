//! Values as Python source, in ASCII.

/// A text; what is not printable ASCII is escaped.
pub fn text(value: &str) -> String {
    let quote = if value.contains('"') && !value.contains('\'') { '\'' } else { '"' };
    let mut out = String::from(quote);
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push(quote);
    out
}

pub fn bytes(value: &[u8]) -> String {
    let mut out = String::from("b\"");
    for b in value {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\\""),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(*b)),
            b => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out.push('"');
    out
}

pub fn float(value: f64) -> String {
    if value.is_nan() {
        "float(\"nan\")".into()
    } else if value.is_infinite() {
        format!("float(\"{}inf\")", if value < 0.0 { "-" } else { "" })
    } else {
        format!("{value:?}")
    }
}

/// Text for a comment: nothing in it ends the line.
pub fn comment(value: &str) -> String {
    let mut out = String::new();
    for c in value.chars() {
        match c {
            ' '..='~' => out.push(c),
            c => out.extend(c.escape_default()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_ascii() {
        assert_eq!(text("a\"b'\\\n\u{0}\u{e9}\u{20ac}\u{1f600}"), "\"a\\\"b'\\\\\\n\\x00\\xe9\\u20ac\\U0001f600\"");
        assert_eq!(text("say \"x\""), "'say \"x\"'");
        assert_eq!(bytes(b"\x00\"\xff\n"), "b\"\\x00\\\"\\xff\\n\"");
        for (value, expected) in [(1.0, "1.0"), (-0.0, "-0.0"), (1e300, "1e300"), (f64::INFINITY, "float(\"inf\")"), (f64::NAN, "float(\"nan\")")] {
            assert_eq!(float(value), expected);
        }
        assert_eq!(comment("a\nb\u{e9}"), "a\\nb\\u{e9}");
    }
}
