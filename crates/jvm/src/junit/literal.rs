//! Java literals in pure ASCII: characters, strings, numbers.
//!
//! Unicode escapes are translated before javac looks for tokens, so line ends, quotes and backslashes must never be written as
//! `\u....`; they get their own escapes. Naming `Double.NaN` and the like is left to the caller's `java_lang`, since a program
//! may have its own class `Double` in scope.

use std::fmt::Write;

use rethrow_core::testcase::Value;

/// A string constant may take this many bytes of modified UTF-8 in a class file.
const MAX_CONSTANT_BYTES: usize = 65_535;

/// `text` as a string literal. Too long for a constant: an error.
pub fn string(text: &str) -> Result<String, String> {
    let bytes: usize = text.encode_utf16().map(modified_utf8_len).sum();
    if bytes > MAX_CONSTANT_BYTES {
        return Err(format!("a string of {bytes} bytes is too long for a Java constant"));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    text.encode_utf16().for_each(|unit| push_unit(&mut out, unit, '"'));
    out.push('"');
    Ok(out)
}

/// A UTF-16 unit as a character literal.
pub fn character(unit: u16) -> String {
    let mut out = String::from("'");
    push_unit(&mut out, unit, '\'');
    out.push('\'');
    out
}

/// A primitive value as an expression of exactly its type. `java_lang` names a class of `java.lang`.
pub fn value(value: Value, java_lang: impl FnOnce(&str) -> String) -> String {
    match value {
        Value::Bool(v) => v.to_string(),
        Value::Byte(v) => format!("(byte) {v}"),
        Value::Short(v) => format!("(short) {v}"),
        Value::Char(v) => character(v),
        Value::Int(i32::MIN) => java_lang("Integer") + ".MIN_VALUE",
        Value::Int(i32::MAX) => java_lang("Integer") + ".MAX_VALUE",
        Value::Int(v) => v.to_string(),
        Value::Long(i64::MIN) => java_lang("Long") + ".MIN_VALUE",
        Value::Long(i64::MAX) => java_lang("Long") + ".MAX_VALUE",
        Value::Long(v) => format!("{v}L"),
        Value::Float(bits) => match f32::from_bits(bits) {
            v if v.is_finite() => format!("{v:?}F"),
            v => java_lang("Float") + not_finite(f64::from(v)),
        },
        Value::Double(bits) => match f64::from_bits(bits) {
            v if v.is_finite() => format!("{v:?}"),
            v => java_lang("Double") + not_finite(v),
        },
    }
}

/// The same where the context converts constants by itself: `byte b = 5`.
pub fn assigned(constant: Value, java_lang: impl FnOnce(&str) -> String) -> String {
    match constant {
        Value::Byte(v) => v.to_string(),
        Value::Short(v) => v.to_string(),
        other => value(other, java_lang),
    }
}

/// Replaces everything outside ASCII by Unicode escapes, which Java allows anywhere, in identifiers too.
pub fn ascii(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for c in source.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| push_escape(&mut out, *unit));
        }
    }
    out
}

/// One line of a comment: no line end, and no backslash that could begin an escape.
pub fn comment(text: &str) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    ascii(&shown.collect::<String>().replace('\\', "\\\\"))
}

fn not_finite(v: f64) -> &'static str {
    match v {
        v if v.is_nan() => ".NaN",
        v if v > 0.0 => ".POSITIVE_INFINITY",
        _ => ".NEGATIVE_INFINITY",
    }
}

fn push_unit(out: &mut String, unit: u16, quote: char) {
    match char::from_u32(u32::from(unit)) {
        Some('\n') => out.push_str("\\n"),
        Some('\r') => out.push_str("\\r"),
        Some('\t') => out.push_str("\\t"),
        Some('\\') => out.push_str("\\\\"),
        Some(c) if c == quote => out.extend(['\\', c]),
        Some(c) if c == ' ' || c.is_ascii_graphic() => out.push(c),
        _ => push_escape(out, unit),
    }
}

fn push_escape(out: &mut String, unit: u16) {
    write!(out, "\\u{unit:04x}").expect("writing to a string does not fail");
}

fn modified_utf8_len(unit: u16) -> usize {
    match unit {
        1..=0x7f => 1,
        0 | 0x80..=0x7ff => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(v: Value) -> String {
        value(v, |name| name.to_string())
    }

    #[test]
    fn strings_are_ascii_and_never_break_the_line() {
        for (text, literal) in [
            ("", r#""""#),
            ("a\"b'c\\", r#""a\"b'c\\""#),
            ("\n\r\t\0\u{7f}", r#""\n\r\t\u0000\u007f""#),
            ("\\u0041", r#""\\u0041""#),
            ("é€\u{1F600}", r#""\u00e9\u20ac\ud83d\ude00""#),
        ] {
            assert_eq!(string(text).unwrap(), literal);
        }
    }

    #[test]
    fn a_constant_has_a_largest_length() {
        assert!(string(&"x".repeat(65_535)).is_ok());
        assert!(string(&"x".repeat(65_536)).is_err());
        assert!(string(&"\0".repeat(32_768)).is_err());
    }

    #[test]
    fn characters() {
        for (unit, literal) in [(b'a'.into(), "'a'"), (b'\''.into(), r"'\''"), (b'"'.into(), "'\"'"), (10, r"'\n'"), (92, r"'\\'"), (0xd800, r"'\ud800'")] {
            assert_eq!(character(unit), literal);
        }
    }

    #[test]
    fn numbers() {
        for (v, literal) in [
            (Value::Int(i32::MIN), "Integer.MIN_VALUE"),
            (Value::Int(-1), "-1"),
            (Value::Long(5), "5L"),
            (Value::Long(i64::MIN), "Long.MIN_VALUE"),
            (Value::Byte(-128), "(byte) -128"),
            (Value::Short(7), "(short) 7"),
            (Value::double(f64::NAN), "Double.NaN"),
            (Value::double(-0.0), "-0.0"),
            (Value::double(5e-324), "5e-324"),
            (Value::double(f64::NEG_INFINITY), "Double.NEGATIVE_INFINITY"),
            (Value::float(f32::INFINITY), "Float.POSITIVE_INFINITY"),
            (Value::float(1.5), "1.5F"),
            (Value::Bool(true), "true"),
        ] {
            assert_eq!(plain(v), literal);
        }
    }

    #[test]
    fn comments_cannot_hold_an_escape() {
        assert_eq!(comment("a\nb \\u000a ü"), "a b \\\\u000a \\u00fc");
    }
}
