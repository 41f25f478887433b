//! The grammar of the messages that the JDK's own exceptions have, versions 8 to 25, read for what they tell of the values at the crash.
//!
//! Total and pure: a message is foreign text. Templates of the program's own messages are `rethrow_core::message::template`'s business.

use rethrow_core::message::template::Joining;
use rethrow_core::message::{Clue, add, number, numbers, quoted};

/// How Java joins texts, beside `+` of newer compilers.
pub const JOINING: Joining = Joining {
    builders: &["java.lang.StringBuilder", "java.lang.StringBuffer"],
    append: "append",
    percent: &[("java.lang.String", "format"), ("java.lang.String", "formatted")],
    braces: &[("java.text.MessageFormat", "format")],
};

/// What the message of an exception tells.
pub fn clues(exception: &str, message: &str) -> Vec<Clue> {
    let mut out = Vec::new();
    match exception.rsplit(['.', '$']).next().unwrap_or(exception) {
        "ArrayIndexOutOfBoundsException" | "StringIndexOutOfBoundsException" | "IndexOutOfBoundsException" | "NegativeArraySizeException" => {
            numbers(message).for_each(|n| add(&mut out, Clue::Number(n)));
        }
        "ArithmeticException" if message.contains("by zero") => add(&mut out, Clue::Number(0)),
        "NumberFormatException" | "InputMismatchException" => number_format(message, &mut out),
        "ClassCastException" => class_cast(message, &mut out),
        "ArrayStoreException" => type_named(message, &mut out),
        "IllegalArgumentException" if message.starts_with("No enum const") => {
            let name = message.rsplit(['.', ' ', '$']).next().unwrap_or_default();
            add(&mut out, Clue::Text(name.to_string()));
        }
        "NullPointerException" => null(message, &mut out),
        "UnsupportedEncodingException"
        | "UnsupportedCharsetException"
        | "IllegalCharsetNameException"
        | "ClassNotFoundException"
        | "NoSuchMethodException"
        | "NoSuchFieldException"
        | "MissingResourceException"
        | "NoSuchFileException"
        | "UnknownHostException" => add(&mut out, Clue::Text(message.to_string())),
        "FileNotFoundException" => add(&mut out, Clue::Text(message.split(" (").next().unwrap_or(message).to_string())),
        "PatternSyntaxException" => {
            // the pattern stands on the second line
            message.lines().nth(1).into_iter().for_each(|line| add(&mut out, Clue::Text(line.to_string())));
        }
        "UnknownFormatConversionException" => {
            quoted(message, '\'').for_each(|c| add(&mut out, Clue::Text(format!("%{c}"))));
        }
        _ => {}
    }
    anything(message, &mut out);
    out
}

/// `For input string: "abc" under radix 16`, `Value out of range. Value:"300" Radix:10`, `Zero length BigInteger`, `null`.
fn number_format(message: &str, out: &mut Vec<Clue>) {
    if let (Some(start), Some(end)) = (message.find('"'), message.rfind('"'))
        && start < end
    {
        add(out, Clue::Text(message[start + 1..end].to_string()));
    } else if message.contains("ero length") || message == "empty String" {
        add(out, Clue::Text(String::new()));
    }
}

/// `class a.B cannot be cast to class c.D (a.B and c.D are in …)`, `a.B cannot be cast to c.D`, `a.B incompatible with c.D`, `a.B`.
fn class_cast(message: &str, out: &mut Vec<Clue>) {
    let actual = [" cannot be cast to ", " incompatible with "].iter().find_map(|m| message.split_once(m)).map_or(message, |(actual, _)| actual);
    type_named(actual, out);
}

fn type_named(text: &str, out: &mut Vec<Clue>) {
    let text = text.trim();
    let text = ["class ", "interface "].iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text);
    if let Some(name) = type_name(text) {
        add(out, Clue::Type(name));
    }
}

/// As the program writes it: `[Ljava.lang.String;` is `java.lang.String[]`.
fn type_name(text: &str) -> Option<String> {
    let dims = text.bytes().take_while(|b| *b == b'[').count();
    let base = &text[dims..];
    let base = match (dims, base) {
        (0, name) => name,
        (_, "I") => "int",
        (_, "J") => "long",
        (_, "B") => "byte",
        (_, "C") => "char",
        (_, "S") => "short",
        (_, "Z") => "boolean",
        (_, "F") => "float",
        (_, "D") => "double",
        (_, object) => object.strip_prefix('L')?.strip_suffix(';')?,
    };
    let named = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$');
    (!base.is_empty() && dims < 5 && base.len() < 300 && base.chars().all(named)).then(|| format!("{base}{}", "[]".repeat(dims)))
}

/// `Cannot invoke "C.m()" because "<parameter2>" is null`: without debug information parameters are told by number.
fn null(message: &str, out: &mut Vec<Clue>) {
    let Some((_, because)) = message.rsplit_once(" because ") else { return };
    let parameter = because.strip_prefix("\"<parameter").and_then(|rest| rest.split_once(">\" is null")).and_then(|(n, _)| number(n));
    if let Some(n) = parameter.and_then(|n| usize::try_from(n).ok()?.checked_sub(1)) {
        add(out, Clue::NullParameter(n));
    }
}

/// What any message may mention: quoted words, what stands behind the last colon, numbers.
fn anything(message: &str, out: &mut Vec<Clue>) {
    const LONGEST: usize = 200;
    if message.starts_with("Cannot ") && message.ends_with(" is null") || message.contains(" cannot be cast to ") {
        return;
    }
    let short = |s: &&str| !s.is_empty() && s.len() <= LONGEST;
    for mark in ['"', '\'', '`'] {
        quoted(message, mark).filter(short).for_each(|s| add(out, Clue::Text(s.to_string())));
    }
    if let Some((_, rest)) = message.rsplit_once(": ").filter(|(_, rest)| short(rest)) {
        add(out, Clue::Text(rest.to_string()));
    }
    numbers(message).take(8).for_each(|n| add(out, Clue::Number(n)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(exception: &str, message: &str) -> Vec<Clue> {
        clues(&format!("java.lang.{exception}"), message)
    }
    fn n(v: i64) -> Clue {
        Clue::Number(v)
    }
    fn text(s: &str) -> Clue {
        Clue::Text(s.into())
    }

    #[test]
    fn indices_and_lengths_of_all_versions() {
        assert_eq!(all("ArrayIndexOutOfBoundsException", "-1"), [n(-1)]);
        assert_eq!(all("ArrayIndexOutOfBoundsException", "Index 5 out of bounds for length 3"), [n(5), n(3)]);
        assert_eq!(all("StringIndexOutOfBoundsException", "String index out of range: -8")[0], n(-8));
        assert_eq!(all("StringIndexOutOfBoundsException", "begin 0, end -1, length 0"), [n(0), n(-1)]);
        assert_eq!(all("StringIndexOutOfBoundsException", "index 3, length 3")[0], n(3));
        assert_eq!(all("IndexOutOfBoundsException", "Index: 3, Size: 2")[..2], [n(3), n(2)]);
        assert_eq!(all("NegativeArraySizeException", "-2"), [n(-2)]);
        assert_eq!(all("ArithmeticException", "/ by zero"), [n(0)]);
        assert_eq!(all("ArithmeticException", "BigInteger divide by zero"), [n(0)]);
    }

    #[test]
    fn texts_that_were_parsed() {
        assert_eq!(all("NumberFormatException", "For input string: \"a\"b\"")[0], text("a\"b"));
        assert_eq!(all("NumberFormatException", "For input string: \"xyz\" under radix 16")[0], text("xyz"));
        assert_eq!(all("NumberFormatException", "Value out of range. Value:\"300\" Radix:10")[0], text("300"));
        assert_eq!(all("NumberFormatException", "Zero length BigInteger"), [text("")]);
        assert_eq!(all("NumberFormatException", "null"), []);
        assert_eq!(clues("java.util.InputMismatchException", "For input string: \"99999999999\"")[0], text("99999999999"));
        assert_eq!(all("IllegalArgumentException", "No enum constant a.B.Color.red")[0], text("red"));
        assert_eq!(all("IllegalArgumentException", "No enum const class a.B$Color.red")[0], text("red"));
        assert_eq!(clues("java.io.UnsupportedEncodingException", "utf-99")[0], text("utf-99"));
        assert_eq!(clues("java.io.FileNotFoundException", "/x/y.txt (No such file or directory)")[0], text("/x/y.txt"));
        assert_eq!(clues("java.util.regex.PatternSyntaxException", "Unclosed group near index 3\n(ab\n")[0], text("(ab"));
        assert_eq!(clues("java.util.UnknownFormatConversionException", "Conversion = 'p'")[0], text("%p"));
        assert_eq!(clues("java.time.format.DateTimeParseException", "Text '2015-x' could not be parsed at index 5")[0], text("2015-x"));
        assert_eq!(clues("a.BadInput", "Invalid format: _XY"), [text("_XY")]);
    }

    #[test]
    fn classes_that_were_cast() {
        let of = |name: &str| vec![Clue::Type(name.to_string())];
        assert_eq!(
            all("ClassCastException", "class a.B$C cannot be cast to class d.E (a.B$C is in unnamed module of loader 'app'; d.E is in module java.base)"),
            of("a.B$C")
        );
        assert_eq!(all("ClassCastException", "java.util.ArrayList cannot be cast to java.lang.String"), of("java.util.ArrayList"));
        assert_eq!(all("ClassCastException", "[Ljava.lang.String; cannot be cast to a.B"), of("java.lang.String[]"));
        assert_eq!(all("ClassCastException", "class [[I cannot be cast to class a.B"), of("int[][]"));
        assert_eq!(all("ClassCastException", "a.B"), of("a.B"));
        assert_eq!(all("ArrayStoreException", "java.lang.Integer"), of("java.lang.Integer"));
    }

    #[test]
    fn what_was_null() {
        let helpful = "Cannot invoke \"String.length()\" because \"<parameter2>\" is null";
        assert_eq!(all("NullPointerException", helpful), [Clue::NullParameter(1)]);
        for other in ["\"this.name\"", "\"<local4>\"", "the return value of \"a.B.c()\"", "\"a.B.c().d\""] {
            assert_eq!(all("NullPointerException", &format!("Cannot read field \"f\" because {other} is null")), [], "{other}");
        }
        assert_eq!(all("NullPointerException", "name must not be null"), []);
    }

    #[test]
    fn nothing_that_is_printed_makes_it_fail() {
        for exception in ["ClassCastException", "NumberFormatException", "NullPointerException", "IndexOutOfBoundsException", "X"] {
            for message in ["", "\"", "[", "[L;", "[[[[[[[[", " because ", "because \"<parameter0>\" is null", "\u{1F600}\"'`: ", "9".repeat(400).as_str()] {
                all(exception, message);
            }
        }
    }
}
