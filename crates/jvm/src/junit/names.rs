//! Names in a rendered test: types with their imports, locals, the test method.
//!
//! A local is called after what it holds, never after its number; a second of the same kind is `list2`. No local hides a type or
//! package that the test mentions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rethrow_core::program::{Base, Prim, Program, Ty, TypeId};
use rethrow_core::testcase::portable::prim_name;

use super::access;

/// Simple names that the surrounding class needs for itself.
const OWN_IMPORTS: [&str; 2] = ["Test", "Assert"];

/// How types are written in one compilation unit; collects the imports.
pub(super) struct TypeNames<'p> {
    program: &'p Program,
    package: &'p str,
    /// The test class, whose simple name is taken.
    unit: String,
    imports: RefCell<BTreeMap<String, TypeId>>,
}

impl<'p> TypeNames<'p> {
    pub fn new(program: &'p Program, package: &'p str, unit: &str) -> Self {
        Self { program, package, unit: unit.to_string(), imports: RefCell::default() }
    }

    pub fn ty(&self, ty: Ty) -> Result<String, String> {
        let base = match ty.base {
            Base::Void => "void".to_string(),
            Base::Prim(p) => prim_name(p).to_string(),
            Base::Ref(id) => self.reference(id)?,
        };
        Ok(base + &"[]".repeat(usize::from(ty.dims)))
    }

    /// A class or interface, imported if that is needed and possible.
    pub fn reference(&self, id: TypeId) -> Result<String, String> {
        if !access::type_nameable(self.program, id, self.package) {
            return Err(format!("{} cannot be named from {}", self.program.type_name(id), shown_package(self.package)));
        }
        let mut parts = Vec::new();
        let outermost = access::outermost(self.program, id);
        let mut at = id;
        while at != outermost {
            parts.push(access::simple_name(self.program, at).unwrap_or_default());
            at = self.program.ty(at).outer.expect("only the outermost has none");
        }
        let top = self.top_level(outermost)?;
        parts.push(&top);
        parts.reverse();
        Ok(parts.join("."))
    }

    /// A class of `java.lang` that need not be in the program's tables.
    pub fn java_lang(&self, simple: &str) -> String {
        if self.in_package(simple) { format!("java.lang.{simple}") } else { simple.to_string() }
    }

    /// Whether the test's package has a type of that simple name.
    pub fn in_package(&self, simple: &str) -> bool {
        let full = if self.package.is_empty() { simple.to_string() } else { format!("{}.{simple}", self.package) };
        self.program.find_type(&full).is_some()
    }

    /// Full names of what was imported, sorted.
    pub fn imports(&self) -> Vec<String> {
        let mut full: Vec<String> = self.imports.borrow().values().map(|id| self.program.type_name(*id).to_string()).collect();
        full.sort();
        full
    }

    fn top_level(&self, id: TypeId) -> Result<String, String> {
        let simple = access::simple_name(self.program, id).unwrap_or_default();
        let (package, full) = (self.program.package(id), self.program.type_name(id));
        if package == self.package {
            // the import of the annotation gives way, see `in_package`
            let free = simple != self.unit;
            return if free || package.is_empty() { Ok(simple.to_string()) } else { Ok(full.to_string()) };
        }
        if package == "java.lang" {
            return Ok(self.java_lang(simple));
        }
        let taken =
            simple == self.unit || OWN_IMPORTS.contains(&simple) || self.in_package(simple) || self.program.find_type(&format!("java.lang.{simple}")).is_some();
        if taken || *self.imports.borrow_mut().entry(simple.to_string()).or_insert(id) != id {
            return Ok(full.to_string());
        }
        Ok(simple.to_string())
    }
}

fn shown_package(package: &str) -> &str {
    if package.is_empty() { "the unnamed package" } else { package }
}

/// Gives out names of local variables.
pub(super) struct Locals {
    taken: BTreeSet<String>,
}

impl Locals {
    /// `reserved`: names that would be hidden.
    pub fn new(reserved: impl IntoIterator<Item = String>) -> Self {
        Self { taken: reserved.into_iter().collect() }
    }

    /// `wish`, or `wish2`, `wish3`, …
    pub fn fresh(&mut self, wish: &str) -> String {
        let wish = if access::is_type_identifier(wish) { wish.to_string() } else { format!("{wish}Value") };
        let wish = if access::is_type_identifier(&wish) { wish } else { "value".to_string() };
        let numbered = (2..).map(|n| format!("{wish}{n}"));
        let name = std::iter::once(wish.clone()).chain(numbered).find(|name| !self.taken.contains(name)).expect("numbers do not end");
        self.taken.insert(name.clone());
        name
    }
}

/// What names a type hides or would be hidden by: its simple names and the first part of its package.
pub(super) fn reserved_by(program: &Program, id: TypeId) -> impl Iterator<Item = String> + use<> {
    let full = program.type_name(id);
    let parts: Vec<String> = full.rsplit('.').next().into_iter().flat_map(|last| last.split('$')).chain(full.split('.').next()).map(str::to_string).collect();
    parts.into_iter()
}

/// What a value of this type is called.
pub(super) fn of_type(program: &Program, ty: Ty) -> String {
    if let Some(element) = ty.element() {
        return plural(&of_type(program, element));
    }
    match ty.base {
        Base::Void => "nothing".to_string(),
        Base::Prim(p) => of_prim(p).to_string(),
        Base::Ref(id) => of_class(program.type_name(id)),
    }
}

fn of_prim(p: Prim) -> &'static str {
    match p {
        Prim::Bool => "flag",
        Prim::Char => "character",
        Prim::Byte | Prim::Short | Prim::Int | Prim::Long => "number",
        Prim::Float | Prim::Double => "amount",
    }
}

/// `BoundedFifoBuffer` → `buffer`, `URL` → `url`: the last word says what it is.
fn of_class(name: &str) -> String {
    match name {
        "java.lang.String" => return "text".into(),
        "java.lang.Class" => return "type".into(),
        _ => {}
    }
    let simple = name.rsplit(['.', '$']).next().unwrap_or(name);
    let simple = simple.strip_suffix("Impl").filter(|s| !s.is_empty()).unwrap_or(simple);
    let words = words(simple);
    let long_enough = words.iter().rposition(|w| w.chars().count() >= 3 && w.chars().all(char::is_alphabetic));
    camel(&words[long_enough.unwrap_or(0)..])
}

/// What the result of a member of that name is: `getCategory` → `category`. `None` if the name tells nothing.
/// `noun`: a single word is what it gives (`size`), not what it does (`decorate`).
pub(super) fn of_member(name: &str, noun: bool) -> Option<String> {
    let words = words(name);
    let verb = ["get", "create", "new", "make", "build", "find", "to", "as", "read", "next"].contains(&words.first()?.as_str());
    let told = camel(if verb { &words[1..] } else { &words });
    let usable = told.len() >= 3 && told.is_ascii() && told != "instance" && told != "value" && (verb || noun && words.len() == 1);
    usable.then_some(told)
}

/// Lower-case words: camel case, capitals and digits separated.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut out: Vec<String> = Vec::new();
    for (i, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            out.push(String::new());
            continue;
        }
        let after_lower = i > 0 && !chars[i - 1].is_uppercase();
        let before_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        if out.is_empty() || (c.is_uppercase() && (after_lower || before_lower)) {
            out.push(String::new());
        }
        out.last_mut().expect("one was pushed").extend(c.to_lowercase());
    }
    out.retain(|w| !w.is_empty());
    if out.is_empty() { vec!["value".into()] } else { out }
}

fn camel(words: &[String]) -> String {
    let mut out = String::new();
    for word in words {
        if out.is_empty() { out.push_str(word) } else { out.push_str(&capitalised(word)) }
    }
    out
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn plural(word: &str) -> String {
    match word {
        w if w.ends_with("ies") || w.ends_with("es") && w.len() > 4 => w.to_string(),
        w if w.ends_with('s') || w.ends_with('x') || w.ends_with("ch") => format!("{w}es"),
        w if w.ends_with("ry") || w.ends_with("ty") => format!("{}ies", &w[..w.len() - 1]),
        w => format!("{w}s"),
    }
}

/// `decorateThrowsNullPointerException`.
pub(super) fn test_method(class: &str, method: &str, exception: &str) -> String {
    let class = ascii_word(class.rsplit(['.', '$']).next().unwrap_or(class));
    let method = method.strip_prefix("lambda$").and_then(|m| m.split('$').next()).filter(|m| !m.is_empty()).unwrap_or(method);
    let subject = match method {
        "<init>" => format!("new{}", capitalised(&class)),
        "<clinit>" => format!("initialising{}", capitalised(&class)),
        name => ascii_word(name),
    };
    let subject = if access::is_type_identifier(&subject) { subject } else { format!("call{}", capitalised(&subject)) };
    format!("{subject}Throws{}", ascii_word(exception.rsplit(['.', '$']).next().unwrap_or(exception)))
}

pub(super) fn ascii_word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_give_their_last_word() {
        for (class, name) in [
            ("org.x.BoundedFifoBuffer", "buffer"),
            ("java.net.URL", "url"),
            ("org.x.LRUMap", "map"),
            ("java.util.Map$Entry", "entry"),
            ("org.x.CategoryImpl", "category"),
            ("java.lang.String", "text"),
            ("a.b", "b"),
            ("org.x.Vector3D", "vector3D"),
            ("org.x.__", "value"),
        ] {
            assert_eq!(of_class(class), name, "{class}");
        }
    }

    #[test]
    fn members_tell_what_they_give() {
        assert_eq!(of_member("getCategory", false).as_deref(), Some("category"));
        assert_eq!(of_member("size", true).as_deref(), Some("size"));
        assert_eq!(of_member("getInstance", true), None);
        assert_eq!(of_member("decorate", false), None);
    }

    #[test]
    fn locals_are_numbered_and_never_keywords() {
        let mut locals = Locals::new(["list".to_string()]);
        assert_eq!([locals.fresh("list"), locals.fresh("list"), locals.fresh("double"), locals.fresh("map")], ["list2", "list3", "doubleValue", "map"]);
    }

    #[test]
    fn test_methods_say_what_throws() {
        for (class, method, name) in [
            ("a.Foo", "decorate", "decorateThrowsNullPointerException"),
            ("a.Foo$Bar", "<init>", "newBarThrowsNullPointerException"),
            ("a.Foo", "<clinit>", "initialisingFooThrowsNullPointerException"),
            ("a.Foo", "lambda$run$3", "runThrowsNullPointerException"),
            ("a.Foo", "a-b", "a_bThrowsNullPointerException"),
        ] {
            assert_eq!(test_method(class, method, "java.lang.NullPointerException"), name);
        }
    }
}
