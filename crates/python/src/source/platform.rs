//! Types of the standard library that tests pass to programs, with what they take; and the built-in exceptions.

use rethrow_core::program::Shape;
use rethrow_core::testcase::data::Data;

/// One line each: `type [< base]: name(parameters)` with `parameter=shape`, `?` behind optional ones; shapes are those of [`shape`], values between bars.
const TABLE: &str = "
datetime:date: __init__(year=1|2000|2024|9999, month=1|2|12, day=1|28|31)
datetime:datetime < datetime:date: __init__(year=1|2000|2024|9999, month=1|2|12, day=1|28|31, hour=0|23?, minute=0|59?, second=0|59?)
datetime:time: __init__(hour=0|23?, minute=0|59?, second=0|59?)
datetime:timedelta: __init__(days=int?, seconds=int?, microseconds=int?)
datetime:timezone: __init__(offset=datetime:timedelta)
decimal:Decimal: __init__(value='1.5'|'0'|'NaN'|'Infinity'|'-1')
fractions:Fraction: __init__(numerator=int, denominator=1|2|-3?)
pathlib:PurePath: __init__(path=str)
pathlib:Path < pathlib:PurePath: __init__(path=str)
uuid:UUID: __init__(hex='12345678123456781234567812345678')
collections:OrderedDict < builtins:dict: __init__(items=dict)
collections:deque: __init__(items=list)
collections:defaultdict < builtins:dict: __init__(default_factory=function)
collections:Counter < builtins:dict: __init__(items=list)
io:StringIO: __init__(text=str)
io:BytesIO: __init__(data=bytes)
argparse:Namespace: __init__()
argparse:ArgumentParser: __init__()
types:SimpleNamespace: __init__()
string:Template: __init__(template=str)
random:Random: __init__(seed=int)
threading:Lock: __init__()
logging:Logger: __init__(name=str)
configparser:ConfigParser: __init__()
array:array: __init__(typecode='b'|'i'|'d', items=list)
builtins:bytearray: __init__(data=bytes)
builtins:complex: __init__(real=float, imag=float)
builtins:frozenset: __init__(items=list)
builtins:range: __init__(stop=int)
builtins:memoryview: __init__(data=bytes)
builtins:slice: __init__(start=int, stop=int)
builtins:object: __init__()
re: compile(pattern=str, flags=0|2|8?)
ast: parse(source=str)
email: message_from_string(s=str)
json: loads(s=str)
xml.etree.ElementTree: fromstring(text='<a/>'|'<a b=\"c\">d</a>'|'<a><b/></a>')
xml.etree.ElementTree: Element(tag=str)
";

/// Built-in exceptions, children behind their parent.
const EXCEPTIONS: &str = "
BaseException: Exception GeneratorExit KeyboardInterrupt SystemExit BaseExceptionGroup
Exception: ArithmeticError AssertionError AttributeError BufferError EOFError ImportError LookupError MemoryError NameError OSError ReferenceError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemError TypeError ValueError Warning ExceptionGroup
ArithmeticError: FloatingPointError OverflowError ZeroDivisionError
ImportError: ModuleNotFoundError
LookupError: IndexError KeyError
NameError: UnboundLocalError
OSError: BlockingIOError ChildProcessError ConnectionError FileExistsError FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError
ConnectionError: BrokenPipeError ConnectionAbortedError ConnectionRefusedError ConnectionResetError
RuntimeError: NotImplementedError RecursionError
SyntaxError: IndentationError
IndentationError: TabError
ValueError: UnicodeError
UnicodeError: UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError
Warning: BytesWarning DeprecationWarning EncodingWarning FutureWarning ImportWarning PendingDeprecationWarning ResourceWarning RuntimeWarning SyntaxWarning UnicodeWarning UserWarning
";

/// What stands for several types.
pub const TYPING: [&str; 4] = ["Optional", "Union", "List", "Dict"];

/// Plain built-in classes.
pub const BUILTINS: [&str; 12] = ["object", "type", "str", "int", "float", "bool", "bytes", "list", "tuple", "dict", "set", "property"];

/// A parameter of a known function.
pub struct KnownParam {
    pub name: &'static str,
    pub optional: bool,
    pub shapes: &'static str,
}

/// A function or constructor of the table.
pub struct Known {
    pub owner: &'static str,
    pub base: Option<&'static str>,
    pub name: &'static str,
    pub params: Vec<KnownParam>,
}

/// The table, entries of one owner behind each other.
pub fn known() -> Vec<Known> {
    TABLE.lines().filter_map(entry).collect()
}

fn entry(line: &'static str) -> Option<Known> {
    let (head, call) = line.split_once(": ")?;
    let (owner, base) = head.split_once(" < ").map_or((head, None), |(o, b)| (o, Some(b)));
    let (name, params) = call.strip_suffix(')')?.split_once('(')?;
    let param = |text: &'static str| {
        let (name, shapes) = text.split_once('=')?;
        let optional = shapes.ends_with('?');
        Some(KnownParam { name, optional, shapes: shapes.trim_end_matches('?') })
    };
    Some(Known { owner, base, name, params: params.split(", ").filter_map(param).collect() })
}

/// (exception, its parent).
pub fn exceptions() -> Vec<(&'static str, &'static str)> {
    let pairs = |line: &'static str| {
        let (parent, children) = line.split_once(": ")?;
        Some(children.split(' ').map(move |c| (c, parent)))
    };
    let mut all = vec![("BaseException", "object")];
    all.extend(EXCEPTIONS.lines().filter_map(pairs).flatten());
    all
}

/// The shapes that the table gives a parameter; `type_of` finds other types of the table.
pub fn shapes(text: &str, type_of: &dyn Fn(&str) -> Option<rethrow_core::program::TypeId>) -> Vec<Shape> {
    let value = |part: &str| match part.strip_prefix('\'').and_then(|p| p.strip_suffix('\'')) {
        Some(text) => Some(Shape::Value(Data::text(text))),
        None => part.parse().ok().map(|n| Shape::Value(Data::Int(n))),
    };
    let one = match text {
        "int" => Shape::Int,
        "str" => Shape::Str,
        "float" => Shape::Float,
        "bytes" => Shape::Bytes,
        "list" => Shape::List(Box::new(Shape::Any)),
        "dict" => Shape::Dict(Box::new((Shape::Any, Shape::Any))),
        "function" => Shape::Function,
        _ => match type_of(text) {
            Some(ty) => Shape::Instance(ty),
            None => return text.split('|').filter_map(value).collect(),
        },
    };
    vec![one]
}
