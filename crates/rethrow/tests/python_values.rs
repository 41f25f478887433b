//! What Python tests are made of beyond plain data, through the binary: classes of the test's own, objects and functions of the program, options and keys
//! that only documentation or a failed look-up tells.

// The whole file is a test, also the functions that are none.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_rethrow");

/// Nothing here can be found by chance or by comparisons: what is compared is a checksum, or the object itself.
const MODULE: &str = "\
import re
import zlib
from dataclasses import dataclass


class Registry:
    @classmethod
    def names(cls):
        found = [name for name in vars(cls) if not name.startswith('_')]
        return found if cls is Registry else 100 // (len(found) - 1)


def verify(data, decode):
    return decode(data, 7)


def decode_pair(data, order):
    return data[order]


SECRET = object()


class Curve:
    def __init__(self, order, token):
        if token is not SECRET:
            raise PermissionError('use the curves of this module')
        self.order = order


FLAT = Curve(0, SECRET)


def divide(number, curve):
    if type(curve) is not Curve:
        raise TypeError('not a curve')
    return number // curve.order


def table(rows, **options):
    '''Prints rows.

    title - what stands above
    underline - whether there is a line below
    '''
    for name in options:
        if zlib.crc32(name.encode()) == zlib.crc32(b'enilrednu'[::-1]):
            return 1 // 0
    return rows


def show(kind, number):
    handlers = {chr(120) + chr(118) + chr(119): 0}
    return number // handlers[kind]


@dataclass
class Defaults:
    pages: int = 1
    float_to_top: bool = False


class Settings(Defaults):
    def __init__(self, **overrides):
        super().__init__(**overrides)


def sort(text, **options):
    settings = Settings(**options)
    return len(text) // (0 if settings.float_to_top else 1)


def rename(first, second):
    if len(first) > 3 and zlib.crc32(first.encode()) == zlib.crc32(second.encode()):
        return 2 // 0
    return first


def serial(text):
    pattern = re.compile(''.join(map(chr, (81, 90, 91, 48, 45, 57, 93, 123, 51, 125, 58, 91, 120, 121, 93, 43))))
    return 3 // 0 if text and pattern.match(text) else text


def area(shape):
    return 1 // getattr(shape, 'd' + str(zlib.crc32(b'x')))
";

/// A library to declare things with.
const DECLARING: &str = "\
class Field:
    def __init__(self, limit=None):
        self.limit = limit


class Model:
    def total(self):
        whole = 0
        for field in vars(type(self)).values():
            if isinstance(field, Field):
                whole += field.limit
        return whole
";

/// Objects that only another object makes as they have to be, and a state that takes several calls.
const BOOK: &str = "\
import zlib


class Sheet:
    def share(self):
        if vars(self).get('mark') != zlib.crc32(b'sheet'):
            raise RuntimeError('not of a book')
        return 100 // self.rows


class Book:
    kinds = [Sheet]

    def add_sheet(self):
        sheet = self.kinds[0]()
        vars(sheet).update(mark=zlib.crc32(b'sheet'), rows=0)
        return sheet


class Grid:
    def __init__(self):
        self.rows = []

    def add_row(self, row):
        self.rows.append(row)

    def lines(self, **options):
        '''All lines.

        title - what stands above
        width - of a column
        border - whether there is one
        padding - left and right
        header - whether there is one
        format - of numbers
        limit - of lines
        by - name of a column
        '''
        if len(self.rows) > 2 and options.get('by'):
            return sorted(self.rows)
        return self.rows
";

/// What reads the declared types of a class.
const CONVERTING: &str = "\
import dataclasses
import typing


def structure(cls, values):
    made = {}
    for field in dataclasses.fields(cls):
        made[field.name] = convert(field.type, values)
    return cls(**made)


def convert(kind, value):
    if typing.get_origin(kind) is dict:
        return 1 // (len(typing.get_args(kind)) - 2)
    return value
";

/// The traceback of a crash at these lines, outermost first.
fn traceback(module: &str, frames: &[(&str, &str)], error: &str) -> String {
    let mut text = "Traceback (most recent call last):\n".to_string();
    for (function, code) in frames {
        let line = module.lines().position(|l| l.trim() == *code).unwrap() + 1;
        write!(text, "  File \"/srv/app/stock.py\", line {line}, in {function}\n    {code}\n").unwrap();
    }
    text + error + "\n"
}

/// Runs the binary; the test that it wrote, which goes through all frames.
#[track_caller]
fn reproduced(name: &str, frames: &[(&str, &str)], error: &str, tests: u32) -> String {
    reproduced_in(MODULE, name, frames, error, tests)
}

#[track_caller]
fn reproduced_in(module: &str, name: &str, frames: &[(&str, &str)], error: &str, tests: u32) -> String {
    let (test, said) = from_trace(name, module, &traceback(module, frames, error), tests);
    assert!(said.contains(&format!("frame {0} of {0}", frames.len())), "{said}");
    test
}

#[track_caller]
fn from_trace(name: &str, module: &str, trace: &str, tests: u32) -> (String, String) {
    from_trace_beside(&[], name, module, trace, tests)
}

/// The same with further modules.
#[track_caller]
fn from_trace_beside(others: &[(&str, &str)], name: &str, module: &str, trace: &str, tests: u32) -> (String, String) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python_values").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(dir.join("src")).unwrap();
    std::fs::write(dir.join("src/stock.py"), module).unwrap();
    for (file, text) in others {
        std::fs::create_dir_all(dir.join("src").join(file).parent().unwrap()).unwrap();
        std::fs::write(dir.join("src").join(file), text).unwrap();
    }
    std::fs::write(dir.join("traceback.txt"), trace).unwrap();
    let mut command = Command::new(BINARY);
    command.current_dir(&dir).args(["reproduce", "traceback.txt", "--python", "python3", "--source", "src", "--budget", "90s"]);
    let output = command.args(["--max-evaluations", &tests.to_string()]).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n");
    assert_eq!(output.status.code(), Some(0), "{text}");
    (std::fs::read_to_string(dir.join("rethrow.out/tests/test_stock_crash.py")).unwrap(), text)
}

const DIVIDED: &str = "ZeroDivisionError: integer division or modulo by zero";

#[test]
fn a_class_is_derived_with_the_members_that_its_base_looks_for() {
    let error = "TypeError: unsupported operand type(s) for +=: 'int' and 'NoneType'";
    let test = reproduced_in(DECLARING, "model", &[("total", "whole += field.limit")], error, 2_000);
    assert!(test.contains("class Thing(Model):") && test.contains("Field()") && test.contains("Thing().total()"), "{test}");
}

#[test]
fn a_class_declares_types_where_the_program_looks_at_them() {
    let frames = [("structure", "made[field.name] = convert(field.type, values)"), ("convert", "return 1 // (len(typing.get_args(kind)) - 2)")];
    let test = reproduced_in(CONVERTING, "declared", &frames, DIVIDED, 5_000);
    assert!(test.contains("@dataclasses.dataclass\n    class Thing:") && test.contains("structure("), "{test}");
    assert!(test.contains(": dict[") || test.contains(": Dict["), "{test}");
}

#[test]
fn what_another_package_compares_with_is_known() {
    let module = "from pointer import parts\n\n\ndef total(path):\n    return 1 // len(parts(path))\n";
    let inside = "def parts(path):\n    if path[:3] != 'zq:':\n        raise ValueError(path)\n    return None if path[3:] == 'yw' else [path]\n";
    let others = [("pointer/__init__.py", "from .inside import parts\n"), ("pointer/inside.py", inside)];
    let trace = traceback(module, &[("total", "return 1 // len(parts(path))")], "TypeError: object of type 'NoneType' has no len()");
    let (test, _) = from_trace_beside(&others, "imported", module, &trace, 3_000);
    assert!(test.contains("total(\"zq:yw\")"), "{test}");
}

#[test]
fn an_object_is_made_by_the_method_that_is_named_after_it() {
    let test = reproduced_in(BOOK, "book", &[("share", "return 100 // self.rows")], DIVIDED, 5_000);
    assert!(test.contains(".add_sheet()"), "{test}");
}

#[test]
fn items_have_the_types_that_the_message_names() {
    let error = "TypeError: '<' not supported between instances of 'str' and 'int'";
    let test = reproduced_in(BOOK, "grid", &[("lines", "return sorted(self.rows)")], error, 20_000);
    assert!(test.matches(".add_row(").count() >= 2 && test.contains(".lines(by="), "{test}");
}

#[test]
fn a_function_of_a_class_is_called_on_a_class_below_it() {
    let line = "return found if cls is Registry else 100 // (len(found) - 1)";
    let test = reproduced("registry", &[("names", line)], DIVIDED, 5_000);
    assert!(test.contains("class Thing(Registry):") && test.contains("Thing.names()"), "{test}");
}

#[test]
fn a_function_of_the_trace_is_what_is_called_back() {
    let frames = [("verify", "return decode(data, 7)"), ("decode_pair", "return data[order]")];
    let test = reproduced("verify", &frames, "IndexError: list index out of range", 5_000);
    assert!(test.contains("decode_pair)"), "{test}");
}

#[test]
fn objects_that_a_module_has_made_are_given() {
    let test = reproduced("divide", &[("divide", "return number // curve.order")], DIVIDED, 5_000);
    assert!(test.contains("FLAT") || test.contains("SECRET"), "{test}");
}

#[test]
fn options_are_those_that_the_documentation_describes() {
    let test = reproduced("table", &[("table", "return 1 // 0")], DIVIDED, 5_000);
    assert!(test.contains("underline="), "{test}");
}

#[test]
fn options_are_the_fields_of_the_class_that_takes_them() {
    let test = reproduced("sort", &[("sort", "return len(text) // (0 if settings.float_to_top else 1)")], DIVIDED, 5_000);
    assert!(test.contains("float_to_top="), "{test}");
}

#[test]
fn keys_are_those_of_the_table_that_did_not_have_another() {
    let test = reproduced("show", &[("show", "return number // handlers[kind]")], DIVIDED, 5_000);
    assert!(test.contains("\"xvw\""), "{test}");
}

#[test]
fn one_argument_may_be_the_text_of_another() {
    let test = reproduced("rename", &[("rename", "return 2 // 0")], DIVIDED, 5_000);
    assert!(test.contains("rename("), "{test}");
}

#[test]
fn texts_fit_the_patterns_that_are_made_while_the_program_runs() {
    let test = reproduced("serial", &[("serial", "return 3 // 0 if text and pattern.match(text) else text")], DIVIDED, 5_000);
    assert!(test.contains("serial(\"QZ"), "{test}");
}

#[test]
fn objects_get_what_they_were_asked_for_in_vain() {
    let test = reproduced("area", &[("area", "return 1 // getattr(shape, 'd' + str(zlib.crc32(b'x')))")], DIVIDED, 20_000);
    assert!(test.contains("SimpleNamespace(d"), "{test}");
}
