//! The class behind a stub, as text for the assembler: a field for every answer, methods that act and return it.
//!
//! It is what javac makes of the anonymous class in the rendered test, but that one class serves all stubs with the same calls: values are
//! in fields, which are set before the constructor runs, as javac sets what an anonymous class captures.

use rethrow_core::program::Prim;

use super::descriptor::{self, Kind};

/// Part of the name of every stub's class; a rendered test's name ends the same way.
const MARK: &str = "_CrashTest$";

/// Whether a class (with slashes) is a stub's.
pub fn is_stub(name: &[u8]) -> bool {
    name.windows(MARK.len()).any(|w| w == MARK.as_bytes())
}

/// What the class is made of. Names with dots.
pub struct Plan<'a> {
    pub number: u64,
    pub ty: &'a str,
    /// Descriptor of the superclass's constructor; `None` for an interface.
    pub ctor: Option<&'a str>,
    pub methods: Vec<Defined<'a>>,
}

/// A method that the class defines.
pub struct Defined<'a> {
    pub name: &'a str,
    pub desc: &'a str,
    pub act: Option<Call<'a>>,
}

/// A call in such a method.
pub struct Call<'a> {
    pub owner: &'a str,
    pub interface: bool,
    pub name: &'a str,
    pub desc: &'a str,
    /// Receiver and arguments.
    pub given: Vec<Source>,
}

/// Where a call's operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    This,
    Param(u8),
    /// A field: see [`given_field`].
    Field,
}

/// The field with what method `m` returns.
pub fn value_field(m: usize) -> String {
    format!("v{m}")
}

/// The field with operand `n` of the call in method `m`.
pub fn given_field(m: usize, n: usize) -> String {
    format!("g{m}x{n}")
}

/// The name of the class, with slashes: beside the type if classes can be added there.
pub fn name(ty: &str, number: u64) -> String {
    let platform = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.", "org.xml.", "org.ietf."];
    let place = if platform.iter().any(|p| ty.starts_with(p)) { "rethrow/generated/Stub".to_owned() } else { slashed(ty) };
    format!("{place}{MARK}{number}")
}

/// The text, or why there is none.
pub fn text(plan: &Plan<'_>) -> Result<String, String> {
    let ty = slashed(plan.ty);
    let name = name(plan.ty, plan.number);
    let mut lines = vec![match plan.ctor {
        Some(_) => format!("class {name} extends {ty}"),
        None => format!("class {name} extends java/lang/Object implements {ty}"),
    }];
    for (m, method) in plan.methods.iter().enumerate() {
        lines.extend(fields(m, method)?);
    }
    let (superclass, ctor) = plan.ctor.map_or(("java/lang/Object", "()V"), |desc| (ty.as_str(), desc));
    lines.push(format!("method <init> {ctor}"));
    lines.push("aload 0".to_owned());
    lines.extend(parameters(ctor)?.into_iter().map(|(_, load)| load));
    lines.push(format!("invokespecial {superclass} <init> {ctor}"));
    lines.push("return".to_owned());
    for (m, method) in plan.methods.iter().enumerate() {
        lines.extend(body(m, method)?);
    }
    let odd = |c: char| c.is_control() || matches!(c, ',' | '#' | ':') || u32::from(c) > 0xffff;
    if lines.iter().any(|line| line.contains(odd)) {
        return Err(format!("{} has names that a stub cannot write", plan.ty));
    }
    Ok(lines.join("\n"))
}

fn fields(m: usize, method: &Defined<'_>) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    if !result_text(method.desc).starts_with('V') {
        out.push(format!("field {} {}", value_field(m), result_text(method.desc)));
    }
    if let Some(call) = &method.act {
        let types = given_types(call)?;
        let given = call.given.iter().zip(types).enumerate();
        out.extend(given.filter(|(_, (source, _))| **source == Source::Field).map(|(n, (_, ty))| format!("field {} {ty}", given_field(m, n))));
    }
    Ok(out)
}

fn body(m: usize, method: &Defined<'_>) -> Result<Vec<String>, String> {
    let mut out = vec![format!("method {} {}", method.name, method.desc)];
    if let Some(call) = &method.act {
        let params = parameters(method.desc)?;
        for (n, source) in call.given.iter().enumerate() {
            match source {
                Source::This => out.push("aload 0".to_owned()),
                Source::Param(i) => out.push(params.get(usize::from(*i)).ok_or("no such parameter")?.1.clone()),
                Source::Field => out.extend(["aload 0".to_owned(), format!("getfield {}", given_field(m, n))]),
            }
        }
        let mnemonic = if call.interface { "invokeinterface" } else { "invokevirtual" };
        out.push(format!("{mnemonic} {} {} {}", slashed(call.owner), call.name, call.desc));
        match result_text(call.desc).as_bytes().first() {
            Some(b'V') => {}
            Some(b'J' | b'D') => out.push("pop2".to_owned()),
            _ => out.push("pop".to_owned()),
        }
    }
    let (_, result) = descriptor::method(method.desc).ok_or("bad descriptor")?;
    if result != Kind::Void {
        out.extend(["aload 0".to_owned(), format!("getfield {}", value_field(m))]);
    }
    out.push(match letter(&result) {
        ' ' => "return".to_owned(),
        l => format!("{l}return"),
    });
    Ok(out)
}

/// The types of a call's operands, as descriptors.
fn given_types(call: &Call<'_>) -> Result<Vec<String>, String> {
    let mut types = vec![format!("L{};", slashed(call.owner))];
    types.extend(parameters(call.desc)?.into_iter().map(|(text, _)| text));
    Ok(types)
}

/// Descriptor and load instruction of each parameter of an instance method.
fn parameters(desc: &str) -> Result<Vec<(String, String)>, String> {
    let (kinds, _) = descriptor::method(desc).ok_or("bad descriptor")?;
    let mut slot = 1;
    let mut out = Vec::with_capacity(kinds.len());
    for kind in &kinds {
        let text = match kind {
            Kind::Void => return Err("bad descriptor".to_owned()),
            Kind::Prim(p) => descriptor::letter(*p).to_string(),
            Kind::Ref(name) if name.starts_with('[') => slashed(name),
            Kind::Ref(name) => format!("L{};", slashed(name)),
        };
        if slot > 250 {
            return Err("too many parameters".to_owned());
        }
        out.push((text, format!("{}load {slot}", letter(kind))));
        slot += if matches!(kind, Kind::Prim(Prim::Long | Prim::Double)) { 2 } else { 1 };
    }
    Ok(out)
}

fn result_text(desc: &str) -> &str {
    desc.rsplit(')').next().unwrap_or("V")
}

/// As instructions begin.
fn letter(kind: &Kind) -> char {
    match kind {
        Kind::Void => ' ',
        Kind::Ref(_) => 'a',
        Kind::Prim(Prim::Long) => 'l',
        Kind::Prim(Prim::Float) => 'f',
        Kind::Prim(Prim::Double) => 'd',
        Kind::Prim(_) => 'i',
    }
}

fn slashed(name: &str) -> String {
    name.replace('.', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classfile::ClassFile;
    use crate::instrument::assemble::assemble;

    #[test]
    fn the_class_has_all_methods_and_a_field_for_each_answer() {
        let act = Call { owner: "a.Bus", interface: false, name: "add", desc: "(La/L;J)J", given: vec![Source::Param(1), Source::This, Source::Field] };
        let methods =
            vec![Defined { name: "on", desc: "(DLa/Bus;)V", act: Some(act) }, Defined { name: "many", desc: "(JJJJJJJ[[I)[Ljava/lang/String;", act: None }];
        let text = text(&Plan { number: 3, ty: "a.L", ctor: None, methods }).unwrap();
        let class = assemble(&text).unwrap();
        let class = ClassFile::parse(&class).unwrap();
        let names: Vec<_> = class.methods.iter().map(|m| m.name.to_str_lossy().into_owned()).collect();
        assert_eq!(names, ["<init>", "on", "many"]);
        let fields: Vec<_> = class.fields.iter().map(|f| f.name.to_str_lossy().into_owned()).collect();
        assert_eq!(fields, ["g0x2", "v1"]);
        assert!(is_stub(name("a.L", 3).as_bytes()) && !is_stub(b"a/L"));
    }

    #[test]
    fn names_that_are_no_words_are_refused() {
        let methods = vec![Defined { name: "a#b", desc: "()V", act: None }];
        assert!(text(&Plan { number: 1, ty: "a.L", ctor: None, methods }).is_err());
    }
}
