//! The grammar of the messages that CPython's own exceptions have, read for what they tell of the values at the crash.
//!
//! Total and pure: a message is foreign text. f-strings and their like are `rethrow_core::message::template`'s business.

use rethrow_core::message::{Clue, add, number, numbers, quoted};
use rethrow_core::program::Shape;
use rethrow_core::testcase::Data;

/// What the message of an exception tells.
pub fn clues(exception: &str, message: &str) -> Vec<Clue> {
    const LONGEST: usize = 200;
    let mut out = Vec::new();
    let simple = exception.rsplit(['.', ':']).next().unwrap_or(exception);
    match simple {
        // a key is printed as source would write it
        "KeyError" => add(&mut out, key(message)),
        "ValueError" | "OverflowError" => {
            let given = ["invalid literal for int() with base ", "could not convert string to float: "].iter().any(|m| message.starts_with(m));
            if let Some((_, literal)) = message.split_once(": ").filter(|_| given) {
                add(&mut out, key(literal));
            }
        }
        "ZeroDivisionError" => add(&mut out, Clue::Number(0)),
        "UnicodeEncodeError" => unencoded(message).into_iter().for_each(|c| add(&mut out, Clue::Text(c.to_string()))),
        "UnicodeDecodeError" => undecoded(message, &mut out),
        "TypeError" if message.contains("keyword") => quoted(message, '\'').for_each(|name| add(&mut out, Clue::Text(name.to_string()))),
        _ => {}
    }
    types(message, &mut out);
    beyond(message, &mut out);
    empty(message, &mut out);
    let short = |s: &&str| !s.is_empty() && s.len() <= LONGEST;
    // the attribute that is missing is in the code, not in a value
    if simple != "AttributeError" && simple != "TypeError" {
        for mark in ['"', '\'', '`'] {
            quoted(message, mark).filter(short).for_each(|s| add(&mut out, Clue::Text(s.to_string())));
        }
        if let Some((_, rest)) = message.rsplit_once(": ").filter(|(_, rest)| short(rest)) {
            add(&mut out, Clue::Text(rest.trim_matches(['\'', '"']).to_string()));
        }
    }
    numbers(message).take(8).for_each(|n| add(&mut out, Clue::Number(n)));
    out
}

/// Values beyond what a type can hold.
fn beyond(message: &str, out: &mut Vec<Clue>) {
    let floats: &[f64] = match message {
        "cannot convert float infinity to integer" => &[f64::INFINITY, f64::NEG_INFINITY],
        "cannot convert float NaN to integer" => &[f64::NAN],
        _ => &[],
    };
    floats.iter().for_each(|x| add(out, Clue::Like(Shape::Value(Data::float(*x)))));
    let date = message.contains("date value out of range") || (message.contains("year") && message.contains("out of range"));
    let numbers: &[i64] = match message {
        "math domain error" => &[-1, 0],
        // the first and the last year of dates, and those beside them
        _ if date => &[1, 9999, 0, 10000],
        _ if message.contains("too large to convert") || message.contains("cannot fit 'int'") => &[i64::MAX],
        _ if message.contains("chr() arg not in range") => &[0x11_0000, -1],
        _ if message.contains("zero") => &[0],
        _ if message.contains("negative") => &[-1],
        _ => &[],
    };
    numbers.iter().for_each(|n| add(out, Clue::Number(*n)));
    bounds(message).into_iter().flat_map(|(low, high)| [high.saturating_add(1), low.saturating_sub(1)]).for_each(|n| add(out, Clue::Number(n)));
}

/// What a value has to lie between: `month must be in 1..12`, `between 0 and 100`.
fn bounds(message: &str) -> Option<(i64, i64)> {
    let range = message.split(char::is_whitespace).find_map(|word| word.split_once(".."));
    let (low, high) = range.or_else(|| message.split_once("between ")?.1.split_once(" and "))?;
    Some((number(low)?, number(high.split([' ', ',', ')']).next()?.trim_end_matches('.'))?))
}

/// Of what nothing was there: `max() arg is an empty sequence`, `pop from empty list`, `empty separator`.
fn empty(message: &str, out: &mut Vec<Clue>) {
    if !message.contains("empty") {
        return;
    }
    add(out, Clue::Text(String::new()));
    for nothing in [Data::List(Vec::new()), Data::Dict(Vec::new())] {
        add(out, Clue::Like(Shape::Value(nothing)));
    }
}

/// `'ascii' codec can't encode character '\xe9' in position 0: ordinal not in range(128)`
fn unencoded(message: &str) -> Option<char> {
    let (_, rest) = message.split_once("character '")?;
    let mut chars = rest.split('\'').next()?.chars();
    let (slash, kind) = (chars.next()?, chars.next()?);
    if slash != '\\' || !matches!(kind, 'x' | 'u' | 'U') {
        return None;
    }
    char::from_u32(u32::from_str_radix(chars.as_str(), 16).ok()?)
}

/// `'utf-8' codec can't decode byte 0xff in position 0: invalid start byte`
fn undecoded(message: &str, out: &mut Vec<Clue>) {
    let byte = message.split_once("decode byte 0x").and_then(|(_, rest)| u8::from_str_radix(rest.get(..2)?, 16).ok());
    byte.into_iter().for_each(|b| add(out, Clue::Like(Shape::Value(Data::Bytes(vec![b])))));
}

/// `'a'` is the text, `3` the number, anything else as it stands.
fn key(literal: &str) -> Clue {
    let literal = literal.trim();
    let marked = |mark: char| literal.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    match (marked('\'').or_else(|| marked('"')), literal.parse()) {
        (Some(text), _) => Clue::Text(text.to_string()),
        (None, Ok(n)) => Clue::Number(n),
        _ => Clue::Text(literal.to_string()),
    }
}

/// The types of values that a message names: `'NoneType' object has no attribute 'x'`, `unsupported operand type(s) for +: 'int' and 'str'`,
/// `expected str, bytes or os.PathLike object, not int`, `'<' not supported between instances of 'str' and 'int'`, `cannot unpack non-iterable int object`.
fn types(message: &str, out: &mut Vec<Clue>) {
    let behind = |mark: &str| message.split_once(mark).map_or("", |(_, rest)| rest);
    let all = ["operand type(s) for ", "operand type for ", "between instances of "];
    let named = all.iter().flat_map(|mark| quoted(behind(mark), '\''));
    let leading = [" object ", " objects "].iter().filter_map(|mark| message.split_once(mark)?.0.strip_prefix('\'')?.strip_suffix('\''));
    let word = |rest: &'static str| behind(rest).trim_start_matches(['\'', '"']).split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
    let marked = [
        "type '",
        "type: '",
        "(not \"",
        "concatenate ",
        "non-iterable ",
        "passed to ",
        "to a '",
        "<class '",
        "bject of type ",
        "got ",
        "received ",
        "instance, ",
        "object, ",
        "buffer, ",
    ];
    let trailing = message.rsplit_once(", not ").or_else(|| message.rsplit_once(" not ")).map(|(_, t)| t.trim_matches(['\'', '"', '.']));
    let words = marked.iter().filter_map(|mark| word(mark));
    named.chain(leading).chain(words).chain(trailing).filter_map(like).for_each(|clue| add(out, clue));
}

/// A built-in type as what its values look like.
fn like(name: &str) -> Option<Clue> {
    let any = || Box::new(Shape::Any);
    Some(Clue::Like(match name {
        "NoneType" => Shape::None,
        "bool" => Shape::Bool,
        "int" => Shape::Int,
        "float" => Shape::Float,
        "str" => Shape::Str,
        "bytes" | "bytearray" => Shape::Bytes,
        "list" => Shape::List(any()),
        "set" | "frozenset" => Shape::Set(any()),
        "tuple" => Shape::Tuple(vec![Shape::Any]),
        "dict" => Shape::Dict(Box::new((Shape::Str, Shape::Any))),
        "function" | "method" | "builtin_function_or_method" => Shape::Function,
        "generator" | "range" | "map" | "filter" => Shape::Iterator(any()),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> Clue {
        Clue::Text(s.into())
    }
    fn ty(s: &str) -> Clue {
        like(s).unwrap()
    }

    #[test]
    fn values_that_were_given() {
        assert_eq!(clues("KeyError", "'name'")[0], text("name"));
        assert_eq!(clues("KeyError", "3")[0], Clue::Number(3));
        assert_eq!(clues("ValueError", "invalid literal for int() with base 10: '1x'")[0], text("1x"));
        assert_eq!(clues("ValueError", "could not convert string to float: 'a.b'")[0], text("a.b"));
        assert_eq!(clues("ValueError", "not enough values to unpack (expected 2, got 1)"), [Clue::Number(2), Clue::Number(1)]);
        assert_eq!(clues("IndexError", "list index out of range"), []);
        assert_eq!(clues("ZeroDivisionError", "division by zero"), [Clue::Number(0)]);
    }

    #[test]
    fn texts_and_bytes_that_were_not_encoded() {
        let encode = "'ascii' codec can't encode character '\\xe9' in position 0: ordinal not in range(128)";
        assert!(clues("UnicodeEncodeError", encode).contains(&text("\u{e9}")));
        let decode = "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte";
        assert_eq!(clues("UnicodeDecodeError", decode)[0], Clue::Like(Shape::Value(Data::Bytes(vec![0xff]))));
        assert_eq!(clues("TypeError", "f() got an unexpected keyword argument 'size'")[0], text("size"));
        assert!(clues("ValueError", "max() arg is an empty sequence").contains(&text("")));
    }

    #[test]
    fn values_beyond_bounds() {
        assert_eq!(bounds("month must be in 1..12"), Some((1, 12)));
        assert_eq!(bounds("value must be between 0 and 100, really"), Some((0, 100)));
        assert_eq!(bounds("between you and me"), None);
        assert!(clues("ValueError", "month must be in 1..12").contains(&Clue::Number(13)));
        assert!(clues("ValueError", "negative shift count").contains(&Clue::Number(-1)));
    }

    #[test]
    fn values_beyond_a_type() {
        let infinite = Clue::Like(Shape::Value(Data::float(f64::INFINITY)));
        assert!(clues("OverflowError", "cannot convert float infinity to integer").contains(&infinite));
        assert!(clues("OverflowError", "date value out of range").contains(&Clue::Number(9999)));
        assert!(clues("ValueError", "year 0 is out of range").contains(&Clue::Number(1)));
    }

    #[test]
    fn types_that_were_given() {
        assert_eq!(clues("AttributeError", "'NoneType' object has no attribute 'x'"), [ty("NoneType")]);
        assert_eq!(clues("TypeError", "unsupported operand type(s) for +: 'int' and 'str'"), [ty("int"), ty("str")]);
        assert_eq!(clues("TypeError", "expected str, bytes or os.PathLike object, not NoneType"), [ty("NoneType")]);
        assert_eq!(clues("TypeError", "unhashable type: 'list'"), [ty("list")]);
        assert_eq!(clues("TypeError", "can only concatenate str (not \"int\") to str"), [ty("int"), ty("str")]);
        for (message, types) in [
            ("'<' not supported between instances of 'str' and 'int'", &["str", "int"][..]),
            ("bad operand type for unary -: 'str'", &["str"]),
            ("sequence item 0: expected str instance, int found", &["int"]),
            ("decoding to str: need a bytes-like object, int found", &["int"]),
            ("cannot unpack non-iterable NoneType object", &["NoneType"]),
            ("unsupported format string passed to list.__format__", &["list"]),
            ("descriptor 'lower' for 'str' objects doesn't apply to a 'int' object", &["int"]),
            ("expected string or bytes-like object, got 'NoneType'", &["NoneType"]),
            ("Object of type set is not JSON serializable", &["set"]),
        ] {
            assert_eq!(
                clues("TypeError", message).into_iter().filter(|c| matches!(c, Clue::Like(_))).collect::<Vec<_>>(),
                types.iter().map(|t| ty(t)).collect::<Vec<_>>(),
                "{message}"
            );
        }
        assert!(clues("ValueError", "Unknown format code 'd' for object of type 'str'").contains(&ty("str")));
        assert!(clues("lib.Invalid", "must be a text, not <class 'float'>").contains(&ty("float")));
        assert_eq!(clues("TypeError", "argument of type 'float' is not iterable")[0], ty("float"));
        assert_eq!(clues("TypeError", "f() missing 1 required positional argument: 'y'"), [Clue::Number(1)]);
    }

    #[test]
    fn nothing_that_is_printed_makes_it_fail() {
        for exception in ["KeyError", "TypeError", "AttributeError", "ValueError", "X"] {
            for message in ["", "'", "\"'", ": ", "' object ", " not ", "type '", "\u{1F600}"] {
                clues(exception, message);
            }
        }
    }
}
