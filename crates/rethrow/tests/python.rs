//! Python through the binary: a crash of a module becomes a confirmed test; unusable inputs have their message and exit code.

// The whole file is a test, also the functions that are none.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_rethrow");
const MODULE: &str = "\
class Basket:
    def __init__(self, size):
        self.items = []
        self.size = size

    def add(self, item):
        if len(self.items) >= self.size:
            raise OverflowError('basket is full')
        self.items.append(item)


def fill(basket, items):
    for item in items:
        basket.add(item)
    return basket


def parse(text):
    fields = text.split(';')
    if len(fields) == 2 and fields[0] == 'basket':
        return 100 // int(fields[1])
    return None


def price(item, rounding=Basket):
    return item['price'] / rounding(1).size


def check(options):
    if options.get('strict', False) not in (True, False):
        raise TypeError('strict is a switch')


def render(text, **options):
    check(options)
    return wrap(text, **options)


def counted(function):
    def counting(*args):
        counting.times += 1
        return function(*args)
    counting.times = 0
    return counting


@counted
def share(total, parts):
    if total < 10 ** 6 or parts.missing:
        return total
    return total // parts


def wrap(text, strict=False, width=70, indent='', **rest):
    return len(text) // (0 if strict and rest.get('fold') else width)


def deliver(letter, stamps):
    import zlib
    if zlib.crc32(letter['to'].encode()) == 2559687638:
        return stamps[2]
";
const PARSE: &str = "\
2026-03-02 08:14:55 ERROR failed
Traceback (most recent call last):
  File \"/srv/app/shop.py\", line 21, in parse
    return 100 // int(fields[1])
ZeroDivisionError: integer division or modulo by zero
";
const FILL: &str = "\
Traceback (most recent call last):
  File \"/srv/app/shop.py\", line 14, in fill
    basket.add(item)
  File \"/srv/app/shop.py\", line 8, in add
    raise OverflowError('basket is full')
OverflowError: basket is full
";

const RENDER: &str = "\
Traceback (most recent call last):
  File \"/srv/app/shop.py\", line 36, in render
    return wrap(text, **options)
  File \"/srv/app/shop.py\", line 55, in wrap
    return len(text) // (0 if strict and rest.get('fold') else width)
ZeroDivisionError: integer division or modulo by zero
";

const REPORT: &str = "\
## Delivering a letter fails
The other day I tried
```python
import shop
letter = {'to': 'Rue de la Paix 7', 'from': 'me'}
shop.deliver(letter, ['air mail', 'priority'])
```
and it didn't work:

Traceback (most recent call last):
  File \"<stdin>\", line 1, in <module>
  File \"/srv/app/shop.py\", line 61, in deliver
    return stamps[2]
IndexError: list index out of range
";

/// Any object that is a way to call `rounding` would do, but so does its default.
const PRICE: &str = "\
Traceback (most recent call last):
  File \"/srv/app/shop.py\", line 26, in price
    return item['price'] / rounding(1).size
KeyError: 'price'
";

/// Through a decorator, and only where the second half of a condition is looked at.
const SHARE: &str = "\
Traceback (most recent call last):
  File \"/srv/app/shop.py\", line 42, in counting
    return function(*args)
  File \"/srv/app/shop.py\", line 49, in share
    if total < 10 ** 6 or parts.missing:
AttributeError: 'int' object has no attribute 'missing'
";

struct Ran {
    code: i32,
    text: String,
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("src")).unwrap();
    std::fs::write(path.join("src/shop.py"), MODULE).unwrap();
    path
}

fn rethrow(dir: &Path, traceback: &str, args: &[&str]) -> Ran {
    run(Command::new(BINARY), dir, traceback, args)
}

fn run(mut command: Command, dir: &Path, traceback: &str, args: &[&str]) -> Ran {
    std::fs::write(dir.join("traceback.txt"), traceback).unwrap();
    let output = command.current_dir(dir).args(["reproduce", "traceback.txt"]).args(args).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n");
    Ran { code: output.status.code().unwrap(), text }
}

const USUAL: [&str; 6] = ["--python", "python3", "--source", "src", "--budget", "60s"];

/// A run that reproduces, with the text of its test.
#[track_caller]
fn reproduced(dir: &Path, traceback: &str, more: &[&str]) -> (Ran, String) {
    let ran = rethrow(dir, traceback, &[&USUAL[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.text);
    let test = std::fs::read_to_string(dir.join("rethrow.out/tests/test_shop_crash.py")).unwrap();
    (ran, test)
}

#[test]
fn a_text_that_passes_every_test_but_the_last_is_found() {
    let dir = folder("parse");
    let (ran, test) = reproduced(&dir, PARSE, &[]);
    assert!(test.contains("from shop import parse") && test.contains("parse(\"basket;"), "{test}");
    assert!(ran.text.contains("5/5 fresh interpreters"), "{}", ran.text);
}

#[test]
fn an_object_is_built_for_the_outermost_frame() {
    let dir = folder("fill");
    let (ran, test) = reproduced(&dir, FILL, &[]);
    assert!(ran.text.contains("frame 2 of 2") && test.contains("fill("), "{}\n{test}", ran.text);
    assert!(!dir.join("src/__pycache__").exists(), "nothing is written beside the run's folder");
}

/// Options that a function collects are found where they are looked for, here two calls further.
#[test]
fn collected_options_are_the_ones_that_are_looked_for() {
    let dir = folder("render");
    let (ran, test) = reproduced(&dir, RENDER, &["--max-evaluations", "20000"]);
    assert!(ran.text.contains("frame 2 of 2") && (test.contains("fold=") || test.contains("width=")), "{}\n{test}", ran.text);
}

#[test]
fn a_decorated_function_is_called_for_what_its_decorator_made_of_it() {
    let dir = folder("share");
    let (ran, test) = reproduced(&dir, SHARE, &["--max-evaluations", "20000"]);
    assert!(ran.text.contains("frame 2 of 2") && test.contains("share("), "{}\n{test}", ran.text);
}

/// What no search would find, the reporter shows.
#[test]
fn what_the_report_shows_is_tried() {
    let dir = folder("report");
    let (_, test) = reproduced(&dir, REPORT, &["--max-evaluations", "1000"]);
    assert!(test.contains("deliver({\"to\": \"Rue de la Paix 7\"}, "), "{test}");
}

#[test]
fn an_option_that_is_not_needed_is_left_out() {
    for seed in ["1", "2", "3", "4"] {
        let dir = folder(&format!("price-{seed}"));
        let (_, test) = reproduced(&dir, PRICE, &["--seed", seed]);
        let call = test.lines().find(|l| l.trim_start().starts_with("price(")).unwrap_or_default();
        assert!(!call.contains(","), "{test}");
    }
}

/// `pip install --user` puts packages below the home folder, which the jail does not have.
#[test]
fn packages_of_the_user_are_found_also_when_the_test_is_confirmed() {
    let dir = folder("user-site");
    let home = dir.join("home");
    let asked = Command::new("python3").env("HOME", &home).args(["-c", "import site; print(site.getusersitepackages())"]).output().unwrap();
    let site = PathBuf::from(String::from_utf8(asked.stdout).unwrap().trim());
    assert!(site.starts_with(&home), "{}", site.display());
    std::fs::create_dir_all(&site).unwrap();
    std::fs::rename(dir.join("src/shop.py"), site.join("shop.py")).unwrap();
    let mut command = Command::new(BINARY);
    command.env("HOME", &home);
    let ran = run(command, &dir, &PARSE.replace("/srv/app/", "site-packages/"), &["--python", "python3", "--budget", "60s"]);
    assert_eq!(ran.code, 0, "{}", ran.text);
}

#[test]
fn unusable_inputs_have_their_message_and_exit_code() {
    let dir = folder("bad");
    let check = |traceback: &str, args: &[&str], code: i32, message: &str| {
        let ran = rethrow(&dir, traceback, args);
        assert_eq!(ran.code, code, "{}", ran.text);
        assert!(ran.text.contains(message), "no {message:?} in {}", ran.text);
    };
    check("nothing to see here\n", &USUAL, 3, "no stack trace");
    check(PARSE, &["--python", "./no/such/python", "--source", "src"], 4, "no interpreter at");
    check(PARSE, &["--python", "/bin/ls", "--source", "src"], 4, "is not a Python interpreter");
    check(PARSE, &["--python", "python3", "--source", "nowhere"], 3, "nowhere is not there");
    check(&PARSE.replace("line 21", "line 2100"), &USUAL, 3, "does not match");
    check(&PARSE.replace("shop.py", "other.py"), &USUAL, 3, "does not match");
    std::fs::write(dir.join("src/shop.py"), format!("import not_installed_here\n{MODULE}")).unwrap();
    check(&PARSE.replace("line 21", "line 22"), &USUAL, 4, "shop cannot be imported: ModuleNotFoundError");
    std::fs::write(dir.join("src/shop.py"), format!("import sys; sys.exit(3)\n{MODULE}")).unwrap();
    check(&PARSE.replace("line 21", "line 22"), &USUAL, 4, "ends the interpreter (exit 3)");
}
