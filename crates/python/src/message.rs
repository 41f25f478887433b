//! The grammar of the messages that CPython's own exceptions have, read for what they tell of the values at the crash.
//!
//! Total and pure: a message is foreign text. f-strings and their like are `rethrow_core::message::template`'s business.

use rethrow_core::message::{Clue, add, numbers, quoted};
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
        "TypeError" | "AttributeError" => types(message, &mut out),
        "ZeroDivisionError" => add(&mut out, Clue::Number(0)),
        _ => {}
    }
    beyond(message, &mut out);
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
        _ => &[],
    };
    numbers.iter().for_each(|n| add(out, Clue::Number(*n)));
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

/// `'NoneType' object has no attribute 'x'`, `unsupported operand type(s) for +: 'int' and 'str'`, `expected str, bytes or os.PathLike object, not int`,
/// `argument of type 'int' is not iterable`, `can only concatenate str (not "int") to str`, `unhashable type: 'list'`.
fn types(message: &str, out: &mut Vec<Clue>) {
    let operands = message.split_once("operand type(s) for ").map_or("", |(_, rest)| rest);
    quoted(operands, '\'').filter_map(like).for_each(|clue| add(out, clue));
    let before = |mark: &str| message.split_once(mark).and_then(|(head, _)| head.strip_prefix('\'')?.strip_suffix('\''));
    let object = [" object ", " objects "].iter().find_map(|mark| before(mark));
    let after = ["type '", "type: '", "(not \""].iter().find_map(|mark| message.split_once(mark)).and_then(|(_, rest)| rest.split(['\'', '"']).next());
    let last = message.rsplit_once(", not ").or_else(|| message.rsplit_once(" not ")).map(|(_, t)| t.trim_matches(['\'', '"']));
    [object, after, last].into_iter().flatten().filter_map(like).for_each(|clue| add(out, clue));
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
        "bytes" => Shape::Bytes,
        "list" => Shape::List(any()),
        "set" => Shape::Set(any()),
        "tuple" => Shape::Tuple(vec![Shape::Any]),
        "dict" => Shape::Dict(Box::new((Shape::Str, Shape::Any))),
        "function" => Shape::Function,
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
        assert_eq!(clues("TypeError", "can only concatenate str (not \"int\") to str"), [ty("int")]);
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
