//! Rendered tests against javac: what statements look like, and that whatever is rendered compiles.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use rethrow_core::goal::{CrashGoal, resolve};
use rethrow_core::program::{Flags, MethodId, MethodKind, Prim, Program, Ty, TypeId};
use rethrow_core::rng::Rng;
use rethrow_core::target::{Header, Render, RenderStyle, RenderedTest, TestStyle};
use rethrow_core::testcase::{Env, Stmt, TestCase, Value, Var};
use rethrow_core::trace::{Frame, Throwable, Trace};
use rethrow_jvm::classpath::{ClassPath, load};
use rethrow_jvm::jdk::{self, Jdk};
use rethrow_jvm::junit::{JUnit, access};

// ---------------------------------------------------------------- the fixture

struct World {
    jdk: Jdk,
    folder: PathBuf,
    class_path: Arc<ClassPath>,
    program: Program,
}

/// A folder below cargo's own for this crate's tests, empty.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("junit-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let java_home = std::env::var_os("JAVA_HOME");
        let path = std::env::var_os("PATH");
        let found = jdk::find(jdk::Search { explicit: None, java_home: java_home.as_deref(), path: path.as_deref(), user_home: None });
        let jdk = found.into_iter().find(|j| j.javac.is_some() && j.feature >= 11).expect("tests need a JDK");
        let folder = folder("classes");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/junit");
        let files: Vec<PathBuf> = ["fix/Shop", "fix/Kiosk", "fix/Echo", "fix/List", "fix/Till", "other/Base", "other/Deep"]
            .iter()
            .map(|f| sources.join(format!("{f}.java")))
            .collect();
        javac(&jdk, &folder, &[], &files).unwrap();
        let class_path = ClassPath::open(&[folder.display().to_string()], &jdk).unwrap().value;
        let class_path = Arc::new(class_path);
        let program = load(class_path.clone()).value;
        World { jdk, folder, class_path, program }
    })
}

fn javac(jdk: &Jdk, out: &Path, class_path: &[&Path], files: &[PathBuf]) -> Result<(), String> {
    let javac = jdk.javac.as_ref().unwrap();
    let mut class_path: Vec<String> = class_path.iter().map(|p| p.display().to_string()).collect();
    class_path.push(out.display().to_string());
    let done = Command::new(javac)
        .args(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-Xmaxerrs", "2000", "-d"])
        .arg(out)
        .args(["-cp", &class_path.join(":")])
        .args(files)
        .output()
        .unwrap();
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

/// Stand-ins for the annotations, so that tests need no network.
fn annotations(out: &Path) -> Vec<PathBuf> {
    ["org.junit", "org.junit.jupiter.api"]
        .iter()
        .map(|package| {
            let path = out.join(package.replace('.', "/")).join("Test.java");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("package {package}; public @interface Test {{}}")).unwrap();
            path
        })
        .collect()
}

fn ty(name: &str) -> TypeId {
    world().program.find_type(name).unwrap_or_else(|| panic!("{name}"))
}

fn method(class: &str, name: &str, desc: &str) -> MethodId {
    world().program.find_method(ty(class), name, desc).unwrap_or_else(|| panic!("{class}.{name}{desc}"))
}

fn goal(class: &str, method: &str) -> CrashGoal {
    let frames = vec![Frame { file: Some("Shop.java".into()), ..Frame::new(class, method, None) }];
    let thrown =
        Throwable { exception: "java.lang.IllegalStateException".into(), message: Some("no \\u000a */ \u{e9}".into()), frames, ..Throwable::default() };
    resolve(&Trace { thrown, ..Trace::default() }, &world().program).unwrap()
}

fn style(style: TestStyle, framework: u32) -> RenderStyle {
    let header = Header { tool: "rethrow 0".into(), seed: 1, reached: "frame 1 of 1".into(), ..Header::default() };
    RenderStyle { style, framework, header }
}

fn render(test: &TestCase) -> Result<RenderedTest, String> {
    let world = world();
    JUnit::new(world.class_path.clone()).render(&world.program, &goal("fix.Shop", "fail"), 1, test, &style(TestStyle::Failing, 4))
}

/// The lines of the test method, without the mark on the last.
fn body(text: &str) -> Vec<&str> {
    let inside = text.lines().skip_while(|l| !l.contains("throws Throwable {")).skip(1).take_while(|l| *l != "    }");
    inside.map(|l| l.trim().trim_end_matches(" // throws IllegalStateException")).collect()
}

// ---------------------------------------------------------------- statements

/// Builds test cases in few words.
#[derive(Default)]
struct Build(TestCase);

impl Build {
    fn lit(&mut self, value: Value) -> Var {
        self.0.push(Stmt::Lit(value))
    }
    fn int(&mut self, value: i32) -> Var {
        self.lit(Value::Int(value))
    }
    fn text(&mut self, text: &str) -> Var {
        self.0.push(Stmt::Str(text.into()))
    }
    fn null(&mut self, class: &str) -> Var {
        self.0.push(Stmt::Null(Ty::reference(ty(class))))
    }
    fn class(&mut self, class: &str) -> Var {
        self.0.push(Stmt::Class(Ty::reference(ty(class))))
    }
    fn make(&mut self, class: &str, desc: &str, args: &[Var]) -> Var {
        self.0.push(Stmt::New { ctor: method(class, "<init>", desc), args: args.to_vec() })
    }
    fn call(&mut self, class: &str, name: &str, desc: &str, recv: Option<Var>, args: &[Var]) -> Var {
        self.0.push(Stmt::Call { method: method(class, name, desc), recv, args: args.to_vec() })
    }
    fn get(&mut self, class: &str, field: &str) -> Var {
        self.0.push(Stmt::GetStatic(world().program.find_field(ty(class), field).unwrap()))
    }
    fn set(&mut self, class: &str, field: &str, recv: Option<Var>, value: Var) {
        self.0.push(Stmt::SetField { field: world().program.find_field(ty(class), field).unwrap(), recv, value });
    }
    fn shop(&mut self) -> Var {
        self.make("fix.Shop", "()V", &[])
    }
}

/// The lines expected for a test case; all of them must compile too.
type Case = (&'static str, fn(&mut Build), &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "the most specific overload needs no cast",
        |b| {
            let s = b.shop();
            let t = b.text("x");
            b.call("fix.Shop", "take", "(Ljava/lang/String;)V", Some(s), &[t]);
        },
        &["Shop shop = new Shop();", "shop.take(\"x\");"],
    ),
    (
        "an overload is not the more specific one if the other has type arguments",
        |b| {
            let n = b.null("java.util.Properties");
            b.call("fix.Shop", "sign", "(Ljava/util/Properties;)I", None, &[n]);
        },
        &["Shop.sign((Properties) null);"],
    ),
    (
        "a less specific overload is chosen by a cast",
        |b| {
            let s = b.shop();
            let t = b.text("x");
            b.call("fix.Shop", "take", "(Ljava/lang/Object;)V", Some(s), &[t]);
        },
        &["Shop shop = new Shop();", "shop.take((Object) \"x\");"],
    ),
    (
        "null is cast where it is ambiguous",
        |b| {
            let s = b.shop();
            let n = b.null("java.lang.Integer");
            b.call("fix.Shop", "take", "(Ljava/lang/Integer;)V", Some(s), &[n]);
        },
        &["Shop shop = new Shop();", "shop.take((Integer) null);"],
    ),
    (
        "null is plain where it is not",
        |b| {
            let s = b.shop();
            let n = b.null("fix.Shop$Item");
            b.call("fix.Shop", "weigh", "(Lfix/Shop$Item;)V", Some(s), &[n]);
        },
        &["Shop shop = new Shop();", "shop.weigh(null);"],
    ),
    (
        "long literals do not become int",
        |b| {
            let s = b.shop();
            let n = b.lit(Value::Long(3));
            b.call("fix.Shop", "take", "(J)V", Some(s), &[n]);
        },
        &["Shop shop = new Shop();", "shop.take(3L);"],
    ),
    (
        "primitives",
        |b| {
            let args =
                [Value::Byte(-1), Value::Short(2), Value::Char(10), Value::Long(i64::MIN), Value::float(-0.0), Value::double(f64::NAN), Value::Bool(true)]
                    .map(|v| b.lit(v));
            b.call("fix.Shop", "prims", "(BSCJFDZ)V", None, &args);
        },
        &["Shop.prims((byte) -1, (short) 2, '\\n', Long.MIN_VALUE, -0.0F, Double.NaN, true);"],
    ),
    (
        "an inner class is made by its outer instance",
        |b| {
            let s = b.shop();
            let w = b.int(7);
            let h = b.make("fix.Shop$Shelf", "(Lfix/Shop;I)V", &[s, w]);
            b.call("fix.Shop$Shelf", "width", "()I", Some(h), &[]);
        },
        &["Shop shop = new Shop();", "Shop.Shelf shelf = shop.new Shelf(7);", "shelf.width();"],
    ),
    (
        "an inner class that a subclass hides is made by the class that declares it",
        |b| {
            let k = b.make("fix.Kiosk", "()V", &[]);
            let w = b.int(7);
            let h = b.make("fix.Shop$Shelf", "(Lfix/Shop;I)V", &[k, w]);
            b.call("fix.Shop$Shelf", "width", "()I", Some(h), &[]);
        },
        &["Kiosk kiosk = new Kiosk();", "Shop.Shelf shelf = ((Shop) kiosk).new Shelf(7);", "shelf.width();"],
    ),
    (
        "a hidden type is declared as what can be named",
        |b| {
            let s = b.shop();
            let x = b.call("fix.Shop", "makeSecret", "()Lfix/Shop$Secret;", None, &[]);
            b.call("fix.Shop", "weigh", "(Lfix/Shop$Item;)V", Some(s), &[x]);
        },
        &["Shop shop = new Shop();", "Shop.Item secret = Shop.makeSecret();", "shop.weigh(secret);"],
    ),
    (
        "a method of a hidden type is called through an interface",
        |b| {
            let x = b.call("fix.Shop", "makeSecret", "()Lfix/Shop$Secret;", None, &[]);
            b.call("fix.Shop$Secret", "weight", "()I", Some(x), &[]);
        },
        &["Shop.Item secret = Shop.makeSecret();", "secret.weight();"],
    ),
    (
        "constants and class literals stand where they are used",
        |b| {
            let s = b.shop();
            let c = b.get("fix.Shop$Colour", "RED");
            let k = b.class("java.util.Map$Entry");
            b.call("fix.Shop", "paint", "(Lfix/Shop$Colour;Ljava/lang/Class;)V", Some(s), &[c, k]);
        },
        &["Shop shop = new Shop();", "shop.paint(Shop.Colour.RED, Map.Entry.class);"],
    ),
    (
        "a cast statement",
        |b| {
            let o = b.call("fix.Shop", "anything", "()Ljava/lang/Object;", None, &[]);
            let s = b.0.push(Stmt::Cast { value: o, ty: Ty::reference(ty("fix.Shop")) });
            b.call("fix.Shop", "guarded", "()V", Some(s), &[]);
        },
        &["Object object = Shop.anything();", "Shop shop = (Shop) object;", "shop.guarded();"],
    ),
    (
        "an argument that may fit is cast",
        |b| {
            let s = b.shop();
            let o = b.call("fix.Shop", "anything", "()Ljava/lang/Object;", None, &[]);
            b.call("fix.Shop", "weigh", "(Lfix/Shop$Item;)V", Some(s), &[o]);
        },
        &["Shop shop = new Shop();", "Object object = Shop.anything();", "shop.weigh((Shop.Item) object);"],
    ),
    (
        "an array with its elements",
        |b| {
            let a = b.0.push(Stmt::NewArray { elem: Ty::reference(ty("java.lang.String")), len: 3 });
            let t = b.text("a");
            b.0.push(Stmt::ArraySet { array: a, index: 1, value: t });
            b.call("fix.Shop", "join", "([Ljava/lang/String;)Ljava/lang/String;", None, &[a]);
        },
        &["Shop.join(new String[] {null, \"a\", null});"],
    ),
    (
        "an array that is set later",
        |b| {
            let a = b.0.push(Stmt::NewArray { elem: Ty::prim(Prim::Byte), len: 2 });
            let s = b.shop();
            let v = b.lit(Value::Byte(5));
            b.0.push(Stmt::ArraySet { array: a, index: 1, value: v });
            let e = b.0.push(Stmt::ArrayGet { array: a, index: 0 });
            b.set("fix.Shop", "code", Some(s), e);
            b.set("fix.Shop", "code", Some(s), v);
        },
        &["byte[] numbers = new byte[2];", "Shop shop = new Shop();", "numbers[1] = 5;", "byte number = numbers[0];", "shop.code = number;", "shop.code = 5;"],
    ),
    (
        "null is an array for varargs",
        |b| {
            let n = b.0.push(Stmt::Null(Ty::reference(ty("java.lang.String")).array_of()));
            b.call("fix.Shop", "join", "([Ljava/lang/String;)Ljava/lang/String;", None, &[n]);
        },
        &["Shop.join((String[]) null);"],
    ),
    (
        "fields",
        |b| {
            let s = b.get("fix.Shop", "current");
            let i = b.int(-1);
            b.set("fix.Shop", "count", Some(s), i);
            b.set("fix.Shop", "current", None, s);
        },
        &["Shop shop = Shop.current;", "shop.count = -1;", "Shop.current = shop;"],
    ),
    (
        "names tell what is held",
        |b| {
            let s = b.shop();
            b.shop();
            let n = b.call("fix.Shop", "getTotal", "()I", Some(s), &[]);
            let t = b.shop();
            b.call("fix.Shop", "take", "(I)V", Some(t), &[n]);
        },
        &["Shop shop = new Shop();", "new Shop();", "int total = shop.getTotal();", "Shop shop2 = new Shop();", "shop2.take(total);"],
    ),
    (
        "a type argument fixed by a subclass is undone",
        |b| {
            let n = b.make("fix.Shop$Names", "()V", &[]);
            let s = b.shop();
            b.call("fix.Shop$Box", "put", "(Ljava/lang/Object;)V", Some(n), &[s]);
        },
        &["Shop.Names names = new Shop.Names();", "Shop shop = new Shop();", "((Shop.Box) names).put(shop);"],
    ),
    (
        "a bounded type variable takes its bound",
        |b| {
            let t = b.text("a");
            let u = b.make("java.util.Date", "()V", &[]);
            b.call("fix.Shop", "max", "(Ljava/lang/Comparable;Ljava/lang/Comparable;)Ljava/lang/Comparable;", None, &[t, u]);
        },
        &["Date date = new Date();", "Shop.max((Comparable) \"a\", (Comparable) date);"],
    ),
    (
        "any class can be passed as a class",
        |b| {
            let k = b.class("fix.Shop");
            b.call("fix.Shop", "first", "(Ljava/lang/Class;)Ljava/lang/Enum;", None, &[k]);
        },
        &["Shop.first((Class) Shop.class);"],
    ),
    (
        "a simple name of the package is not imported over",
        |b| {
            let l = b.make("java.util.ArrayList", "()V", &[]);
            b.call("fix.List", "size", "(Ljava/util/List;)I", None, &[l]);
            let own = b.make("fix.List", "()V", &[]);
            b.call("fix.List", "link", "(Lfix/List;)Lfix/List;", Some(own), &[own]);
        },
        &["ArrayList list = new ArrayList();", "List.size(list);", "List list2 = new List();", "list2.link(list2);"],
    ),
    (
        "a qualified name where the simple one is taken",
        |b| {
            let own = b.make("fix.List", "()V", &[]);
            let f = world().program.find_field(ty("fix.List"), "items").unwrap();
            let i = b.0.push(Stmt::GetField { field: f, recv: own });
            b.call("java.util.List", "clear", "()V", Some(i), &[]);
        },
        &["List list = new List();", "java.util.List items = list.items;", "items.clear();"],
    ),
    (
        "text used twice is named",
        |b| {
            let t = b.text("a");
            b.call("java.lang.String", "concat", "(Ljava/lang/String;)Ljava/lang/String;", Some(t), &[t]);
        },
        &["String text = \"a\";", "text.concat(text);"],
    ),
    (
        "a public method of a hidden class is called on its public subclass",
        |b| {
            let s = b.make("java.lang.StringBuilder", "()V", &[]);
            let n = b.int(2);
            b.call("java.lang.AbstractStringBuilder", "setLength", "(I)V", Some(s), &[n]);
        },
        &["StringBuilder builder = new StringBuilder();", "builder.setLength(2);"],
    ),
    (
        "what overrides a method out of sight is called through its parent",
        |b| {
            let deep = b.make("other.Deep", "()V", &[]);
            b.call("fix.Till", "level", "()I", Some(deep), &[]);
        },
        &["Deep deep = new Deep();", "((Till) deep).level();"],
    ),
    (
        "arrays have the methods of objects",
        |b| {
            let s = b.shop();
            let a = b.call("fix.Shop", "numbers", "()[I", Some(s), &[]);
            b.call("java.lang.Object", "hashCode", "()I", Some(a), &[]);
        },
        &["Shop shop = new Shop();", "int[] numbers = shop.numbers();", "numbers.hashCode();"],
    ),
];

#[test]
fn statements_read_as_a_person_would_write_them() {
    let mut rendered = Vec::new();
    for (name, make, expected) in CASES {
        let mut build = Build::default();
        make(&mut build);
        let test = render(&build.0).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(body(&test.text), *expected, "{name}");
        rendered.push(test);
    }
    compile_all("statements", &rendered).unwrap();
}

#[test]
fn what_java_cannot_say_is_refused_with_the_reason() {
    let cases: &[Case] = &[
        (
            "protected in another package",
            |b| {
                let s = b.shop();
                b.call("other.Base", "hidden", "()V", Some(s), &[]);
            },
            &["other.Base.hidden cannot be used from fix"],
        ),
        (
            "private constructor",
            |b| {
                let n = b.lit(Value::Long(1));
                b.make("fix.Shop", "(J)V", &[n]);
            },
            &["fix.Shop.<init> cannot be used from fix"],
        ),
        (
            "private field",
            |b| {
                let s = b.shop();
                let n = b.int(1);
                b.set("fix.Shop", "secret", Some(s), n);
            },
            &["fix.Shop.secret cannot be used from fix"],
        ),
        (
            "final field",
            |b| {
                let s = b.shop();
                let n = b.int(1);
                b.set("fix.Shop", "fixed", Some(s), n);
            },
            &["fix.Shop.fixed cannot be used from fix"],
        ),
        (
            "abstract class",
            |b| {
                b.make("java.io.InputStream", "()V", &[]);
            },
            &["java.io.InputStream.<init> cannot be used from fix"],
        ),
        (
            "no enclosing instance",
            |b| {
                let n = b.null("fix.Shop");
                b.make("fix.Shop$Shelf", "(Lfix/Shop;)V", &[n]);
            },
            &["fix.Shop$Shelf needs an enclosing instance"],
        ),
        (
            "a receiver that is null",
            |b| {
                let n = b.null("fix.Shop");
                b.call("fix.Shop", "guarded", "()V", Some(n), &[]);
            },
            &["fix.Shop.guarded is called on no object"],
        ),
        (
            "a hidden class literal",
            |b| {
                let k = b.class("fix.Shop$Secret");
                let s = b.shop();
                b.call("fix.Shop", "take", "(Ljava/lang/Object;)V", Some(s), &[k]);
            },
            &["fix.Shop$Secret cannot be named from fix"],
        ),
        (
            "a value that cannot fit",
            |b| {
                let s = b.shop();
                let t = b.text("");
                b.call("fix.Shop", "take", "(Ljava/lang/Integer;)V", Some(s), &[t]);
            },
            &["java.lang.String where java.lang.Integer is needed"],
        ),
    ];
    for (name, make, why) in cases {
        let mut build = Build::default();
        make(&mut build);
        assert_eq!(render(&build.0).unwrap_err(), why[0], "{name}");
    }
}

#[test]
fn the_whole_file() {
    let mut b = Build::default();
    let shop = b.shop();
    let list = b.make("java.util.ArrayList", "()V", &[]);
    let depth = b.int(0);
    b.call("fix.Shop", "fail", "(Ljava/util/ArrayList;I)V", Some(shop), &[list, depth]);
    let mut rendering = style(TestStyle::Failing, 4);
    rendering.header.refused = vec!["delete /x".into()];
    rendering.header.needs_assertions = true;
    let world = world();
    let junit = JUnit::new(world.class_path.clone());
    let test = junit.render(&world.program, &goal("fix.Shop", "fail"), 1, &b.0, &rendering).unwrap();
    assert_eq!(
        (test.path.to_str().unwrap(), test.name.as_str(), test.method.as_str()),
        ("fix/Shop_CrashTest.java", "fix.Shop_CrashTest", "failThrowsIllegalStateException")
    );
    assert_eq!(test.text, include_str!("fixtures/junit/failing.txt"));
    assert!(test.text.is_ascii());
    let test = junit.render(&world.program, &goal("fix.Shop", "fail"), 1, &b.0, &style(TestStyle::Expect, 5)).unwrap();
    assert_eq!(test.text, include_str!("fixtures/junit/expecting.txt"));
}

#[test]
fn a_closed_package_moves_the_test_out() {
    let world = world();
    let junit = JUnit { is_closed: Box::new(|package| package == "fix"), ..JUnit::new(world.class_path.clone()) };
    let mut b = Build::default();
    b.shop();
    let test = junit.render(&world.program, &goal("fix.Shop", "fail"), 1, &b.0, &style(TestStyle::Failing, 4)).unwrap();
    assert_eq!(test.name, "rethrow.generated.Shop_CrashTest");
    assert!(test.text.contains("import fix.Shop;"));
    let text = b.text("x");
    b.make("fix.Shop", "(Ljava/lang/String;)V", &[text]);
    assert!(junit.render(&world.program, &goal("fix.Shop", "fail"), 1, &b.0, &style(TestStyle::Failing, 4)).is_err());
}

// ---------------------------------------------------------------- values

#[test]
fn values_survive_javac() {
    let mut b = Build::default();
    let mut expected = Vec::new();
    for text in ["", "a\"b'c\\", "\n\r\t\u{b}\u{c}\0\u{7f}", "\\u0041 \\\\u0022", "\u{e9}\u{20ac}\u{1f600}\u{2028}", "*/ // /*", "\u{ffff}"] {
        let var = b.text(text);
        b.call("fix.Echo", "say", "(Ljava/lang/String;)V", None, &[var]);
        expected.push(text.encode_utf16().fold("s".to_string(), |out, unit| format!("{out} {unit:x}")));
    }
    for (value, desc, text) in values() {
        let var = b.lit(value);
        b.call("fix.Echo", "say", desc, None, &[var]);
        expected.push(text);
    }
    let test = render(&b.0).unwrap();
    assert_eq!(run(&test), expected);
}

fn values() -> Vec<(Value, &'static str, String)> {
    let mut out = vec![(Value::Bool(true), "(Z)V", "z true".to_string()), (Value::Bool(false), "(Z)V", "z false".into())];
    out.extend([i8::MIN, -1, 0, i8::MAX].map(|v| (Value::Byte(v), "(B)V", format!("b {v}"))));
    out.extend([i16::MIN, -1, i16::MAX].map(|v| (Value::Short(v), "(S)V", format!("h {v}"))));
    out.extend([0, 10, 13, 34, 39, 92, 97, 0x7f, 0xe9, 0x2028, 0xd800, 0xdfff, 0xffff].map(|v| (Value::Char(v), "(C)V", format!("c {v:x}"))));
    out.extend([i32::MIN, i32::MIN + 1, -1, 0, i32::MAX].map(|v| (Value::Int(v), "(I)V", format!("i {v}"))));
    out.extend([i64::MIN, i64::MIN + 1, -1, 0, 1 << 40, i64::MAX].map(|v| (Value::Long(v), "(J)V", format!("l {v}"))));
    out.extend(
        [0.0, -0.0, 1.5, f32::MIN, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::INFINITY, f32::NEG_INFINITY, 1e10, 16777217.0]
            .map(|v| (Value::float(v), "(F)V", format!("f {:x}", v.to_bits()))),
    );
    out.extend(
        [0.0, -0.0, 0.1, f64::MIN, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e16]
            .map(|v| (Value::double(v), "(D)V", format!("d {:x}", v.to_bits()))),
    );
    out.push((Value::double(f64::NAN), "(D)V", "d 7ff8000000000000".into()));
    out
}

/// What a test that only calls fixture code prints.
fn run(test: &RenderedTest) -> Vec<String> {
    let world = world();
    let out = folder("run");
    let main = out.join("Main.java");
    std::fs::write(
        &main,
        format!("package fix; class Main {{ public static void main(String[] a) throws Throwable {{ new {}().{}(); }} }}", test.name, test.method),
    )
    .unwrap();
    let file = out.join("Shop_CrashTest.java");
    std::fs::write(&file, &test.text).unwrap();
    let mut files = annotations(&out);
    files.extend([main, file]);
    javac(&world.jdk, &out, &[&world.folder], &files).unwrap();
    let done = Command::new(&world.jdk.java).arg("-cp").arg(format!("{}:{}", out.display(), world.folder.display())).arg("fix.Main").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().lines().map(str::to_string).collect()
}

/// Compiles tests of one name in one call, each under a name of its own.
fn compile_all(name: &str, tests: &[RenderedTest]) -> Result<(), String> {
    let world = world();
    let out = folder(name);
    let mut files = annotations(&out);
    for (i, test) in tests.iter().enumerate() {
        let class = format!("Shop{i}_CrashTest");
        let file = out.join(format!("{class}.java"));
        std::fs::write(&file, test.text.replace("Shop_CrashTest", &class)).unwrap();
        files.push(file);
    }
    javac(&world.jdk, &out, &[&world.folder], &files)
}

// ---------------------------------------------------------------- random test cases (P18)

/// Where receivers, arguments and calls of random tests come from.
const PALETTE: &[&str] = &[
    "fix.Shop",
    "fix.Shop$Shelf",
    "fix.Shop$Box",
    "fix.Shop$Names",
    "fix.Shop$Item",
    "fix.Shop$Colour",
    "fix.Shop$Secret",
    "fix.List",
    "fix.Echo",
    "fix.Till",
    "other.Base",
    "other.Deep",
    "java.lang.String",
    "java.lang.StringBuilder",
    "java.lang.StringBuffer",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Character",
    "java.lang.Double",
    "java.lang.Boolean",
    "java.lang.Math",
    "java.lang.Object",
    "java.lang.Class",
    "java.lang.Thread",
    "java.lang.Enum",
    "java.lang.Iterable",
    "java.lang.Comparable",
    "java.lang.Throwable",
    "java.util.ArrayList",
    "java.util.LinkedList",
    "java.util.HashMap",
    "java.util.TreeMap",
    "java.util.LinkedHashMap",
    "java.util.HashSet",
    "java.util.EnumMap",
    "java.util.EnumSet",
    "java.util.Collections",
    "java.util.Arrays",
    "java.util.Objects",
    "java.util.Optional",
    "java.util.Properties",
    "java.util.Locale",
    "java.util.Date",
    "java.util.Calendar",
    "java.util.BitSet",
    "java.util.Scanner",
    "java.util.StringTokenizer",
    "java.util.UUID",
    "java.util.Vector",
    "java.util.Stack",
    "java.util.Iterator",
    "java.util.List",
    "java.util.Map",
    "java.util.Map$Entry",
    "java.util.AbstractMap$SimpleEntry",
    "java.util.PriorityQueue",
    "java.util.ArrayDeque",
    "java.util.StringJoiner",
    "java.util.Base64",
    "java.util.Formatter",
    "java.util.TimeZone",
    "java.util.concurrent.ConcurrentHashMap",
    "java.util.concurrent.TimeUnit",
    "java.util.concurrent.atomic.AtomicReference",
    "java.util.regex.Pattern",
    "java.text.SimpleDateFormat",
    "java.text.DecimalFormat",
    "java.text.MessageFormat",
    "java.math.BigDecimal",
    "java.math.BigInteger",
    "java.io.File",
    "java.io.StringReader",
    "java.io.StringWriter",
    "java.io.ByteArrayInputStream",
    "java.net.URI",
    "java.time.LocalDate",
    "java.time.Duration",
    "java.nio.ByteBuffer",
    "java.util.stream.Stream",
    "java.util.stream.Collectors",
    "java.util.function.Function",
    "java.awt.Rectangle",
    "java.awt.Point",
];

struct Random {
    rng: Rng,
    test: TestCase,
    methods: Vec<MethodId>,
}

impl Random {
    fn program(&self) -> &'static Program {
        &world().program
    }

    /// A test with a few calls; each call's operands are made or reused.
    fn generate(&mut self) -> TestCase {
        self.test = TestCase::default();
        for _ in 0..1 + self.rng.below(4) {
            let method = *self.rng.pick(&self.methods).unwrap();
            let before = self.test.clone();
            if self.call(method, 3).is_none() {
                self.test = before;
            }
        }
        std::mem::take(&mut self.test)
    }

    fn call(&mut self, method: MethodId, depth: usize) -> Option<Var> {
        let def = self.program().method(method);
        let params: Vec<Ty> = self.program().signature(method).params.to_vec();
        let recv = match def.kind {
            MethodKind::Instance => Some(self.object(Ty::reference(def.owner), depth)?),
            _ => None,
        };
        let outer = self.program().takes_outer(method);
        let mut args = Vec::new();
        for (i, param) in params.into_iter().enumerate() {
            let arg = if i == 0 && outer { self.object(param, depth)? } else { self.value(param, depth)? };
            args.push(arg);
        }
        let stmt = if def.kind == MethodKind::Constructor { Stmt::New { ctor: method, args } } else { Stmt::Call { method, recv, args } };
        Some(self.test.push(stmt))
    }

    fn value(&mut self, ty: Ty, depth: usize) -> Option<Var> {
        if let Some(prim) = ty.as_prim() {
            let v = *self.rng.pick(&[0, 1, -1, 65, i64::MAX, i64::MIN])?;
            return Some(self.test.push(Stmt::Lit(Value::of_int(prim, v))));
        }
        if depth == 0 || self.rng.chance(0.2) {
            return Some(self.test.push(Stmt::Null(ty)));
        }
        self.object(ty, depth).or_else(|| Some(self.test.push(Stmt::Null(ty))))
    }

    /// Something that is not the null literal.
    fn object(&mut self, ty: Ty, depth: usize) -> Option<Var> {
        let program = self.program();
        let fits = |t: Ty| !t.is_void() && t.as_prim().is_none() && program.assignable(t, ty) == rethrow_core::program::Assignability::Yes;
        let known: Vec<Var> =
            (0..self.test.len() as u32).map(Var).filter(|v| !matches!(self.test.stmt(*v), Stmt::Null(_)) && fits(self.test.ty(program, *v))).collect();
        if !known.is_empty() && self.rng.chance(0.5) {
            return self.rng.pick(&known).copied();
        }
        let literal = [
            (program.well_known().string, Stmt::Str("a\u{e9}".into())),
            (program.well_known().class, Stmt::Class(Ty::reference(*self.rng.pick(&[ty_or_object("fix.Shop"), ty_or_object("fix.Shop$Colour")])?))),
        ];
        for (t, stmt) in literal {
            if fits(t) && self.rng.chance(0.4) {
                return Some(self.test.push(stmt));
            }
        }
        if let Some(elem) = ty.element().filter(|e| access::nameable(program, *e, "fix")) {
            return self.array(elem, depth);
        }
        if depth == 0 {
            return None;
        }
        self.produced(fits, depth)
    }

    fn array(&mut self, elem: Ty, depth: usize) -> Option<Var> {
        let array = self.test.push(Stmt::NewArray { elem, len: 2 });
        if depth > 0 && self.rng.chance(0.7) {
            let value = self.value(elem, depth - 1)?;
            self.test.push(Stmt::ArraySet { array, index: 1, value });
        }
        Some(array)
    }

    fn produced(&mut self, fits: impl Fn(Ty) -> bool, depth: usize) -> Option<Var> {
        let program = self.program();
        let result = |m: MethodId| match program.method(m).kind {
            MethodKind::Constructor => Ty::reference(program.method(m).owner),
            _ => program.signature(m).ret,
        };
        let makers: Vec<MethodId> = self.methods.iter().copied().filter(|m| program.method(*m).kind != MethodKind::Instance && fits(result(*m))).collect();
        let fields: Vec<_> = PALETTE
            .iter()
            .filter_map(|n| program.find_type(n))
            .flat_map(|t| program.fields_of(t))
            .filter(|f| program.field(*f).flags.has(Flags::STATIC) && access::readable(program, *f, "fix") && fits(program.field(*f).ty))
            .collect();
        if !fields.is_empty() && (makers.is_empty() || self.rng.chance(0.3)) {
            return self.rng.pick(&fields).map(|f| self.test.push(Stmt::GetStatic(*f)));
        }
        let maker = *self.rng.pick(&makers)?;
        self.call(maker, depth - 1)
    }
}

fn ty_or_object(name: &str) -> TypeId {
    world().program.find_type(name).unwrap_or(TypeId(0))
}

#[test]
fn whatever_is_rendered_compiles() {
    let program = &world().program;
    let types = PALETTE.iter().map(|name| ty(name));
    let methods: Vec<MethodId> = types.flat_map(|t| program.methods_of(t)).filter(|m| access::callable(program, *m, "fix")).collect();
    let mut random = Random { rng: Rng::new(18), test: TestCase::default(), methods };
    let (mut rendered, mut refused) = (Vec::new(), Vec::new());
    while rendered.len() < 400 {
        let test = random.generate();
        match render(&test) {
            Ok(test) => rendered.push(test),
            Err(why) => refused.push(why),
        }
        assert!(refused.len() < 40, "too much is refused: {refused:?}");
    }
    compile_all("random", &rendered).unwrap();
}

#[test]
fn surroundings_are_set_up_and_put_back() {
    let setting = Env::Setting { name: "a.b".into(), value: "1\n".into() };
    let all = [setting, Env::Locale("tr".into()), Env::TimeZone("UTC".into()), Env::Input("x".into()), Env::Folder { name: "f".into() }];
    let mut test = TestCase { stmts: all.into_iter().map(|env| Stmt::Env(Box::new(env))).collect() };
    let path = test.push(Stmt::Env(Box::new(Env::File { name: "a.txt".into(), content: "\"k=v\"".into() })));
    test.push(Stmt::New { ctor: method("java.io.File", "<init>", "(Ljava/lang/String;)V"), args: vec![path] });
    let text = render(&test).unwrap().text;
    let inside = [
        "System.setProperty(\"a.b\", \"1\\n\");",
        "java.util.Locale.setDefault(java.util.Locale.forLanguageTag(\"tr\"));",
        "java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone(\"UTC\"));",
        "System.setIn(new java.io.ByteArrayInputStream(\"x\".getBytes(\"UTF-8\")));",
        "temporaryFolder(\"f\");",
        "String path = temporaryFile(\"a.txt\", \"\\\"k=v\\\"\");",
        "new File(path);",
    ];
    let lines = body(&text);
    let start = lines.iter().position(|l| *l == "try {").unwrap();
    assert_eq!(lines[start + 1..start + 8], inside, "{text}");
    assert_eq!(lines[start + 8..start + 10], ["} finally {", "System.setProperties(propertiesBefore);"], "{text}");
    let folder = folder("surroundings");
    let file = folder.join("Shop_CrashTest.java");
    std::fs::write(&file, text).unwrap();
    let files: Vec<PathBuf> = annotations(&folder).into_iter().chain([file]).collect();
    javac(&world().jdk, &folder, &[&world().folder], &files).unwrap();
}
