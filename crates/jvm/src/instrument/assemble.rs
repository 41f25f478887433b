//! A tiny assembler for the classes we emit ourselves, so that no compiler is needed at build time and no binary
//! lies in the sources.
//!
//! One class per text: a line `class NAME extends SUPER`, perhaps with `implements INTERFACE` behind it, then `field NAME TYPE`, `static NAME TYPE`,
//! `native NAME DESCRIPTOR`, and `method`/`static-method NAME DESCRIPTOR` followed by instructions, separated by line
//! ends and commas. `#` starts a comment, `word:` is a label. A member operand is `NAME TYPE` of the class itself
//! (for its fields just `NAME`) or `OWNER NAME TYPE`. Class version 49, hence no frames. Only what our texts use exists.

use super::constants::{Constants, PoolFull};
use rustc_hash::FxHashMap;

const VERSION: u16 = 49;
/// Generous for every method we have; the verifier accepts unused room.
const MAX_STACK: u16 = 12;
const MAX_LOCALS: u16 = 12;

/// Assembles a class. The message names the offending line.
pub(crate) fn assemble(text: &str) -> Result<Vec<u8>, String> {
    let mut class = Class::default();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        for statement in line.split(',').map(str::trim).filter(|s| !s.is_empty()) {
            let words: Vec<_> = statement.split_whitespace().collect();
            class.statement(&words).map_err(|what| format!("{what}: {statement}"))?;
        }
    }
    class.finish()
}

struct Class {
    constants: Constants,
    name: String,
    head: Vec<u8>,
    fields: Vec<u8>,
    field_count: u16,
    types: FxHashMap<String, String>,
    methods: Vec<u8>,
    method_count: u16,
    open: Option<Method>,
}

impl Default for Class {
    fn default() -> Self {
        Self {
            constants: Constants::after(1),
            name: String::new(),
            head: Vec::new(),
            fields: Vec::new(),
            field_count: 0,
            types: FxHashMap::default(),
            methods: Vec::new(),
            method_count: 0,
            open: None,
        }
    }
}

#[derive(Default)]
struct Method {
    head: Vec<u8>,
    /// Slots of the parameters, the receiver's included.
    arguments: u16,
    /// What the calls in it need.
    stack: u16,
    code: Vec<u8>,
    labels: FxHashMap<String, usize>,
    jumps: Vec<(usize, String)>,
}

impl From<PoolFull> for String {
    fn from(_: PoolFull) -> Self {
        "constant pool full".to_owned()
    }
}

impl Class {
    fn statement(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            ["class", name, "extends", superclass] => self.head(name, superclass, None),
            ["class", name, "extends", superclass, "implements", interface] => self.head(name, superclass, Some(interface)),
            ["field", name, ty] => self.field(0x01, name, ty),
            ["static", name, ty] => self.field(0x09, name, ty),
            ["method", name, ty] => self.method(0x01, name, ty),
            ["static-method", name, ty] => self.method(0x09, name, ty),
            ["native", name, ty] => {
                self.method(0x109, name, ty)?;
                self.close_method(false)
            }
            _ => self.instruction(words),
        }
    }

    fn head(&mut self, name: &str, superclass: &str, interface: Option<&str>) -> Result<(), String> {
        self.name = name.to_owned();
        let (this, superclass) = (self.constants.class(name)?, self.constants.class(superclass)?);
        // public final super
        let mut head = vec![0x31, this, superclass, u16::from(interface.is_some())];
        if let Some(interface) = interface {
            head.push(self.constants.class(interface)?);
        }
        self.head = head.iter().flat_map(|v: &u16| v.to_be_bytes()).collect();
        Ok(())
    }

    fn member_head(&mut self, access: u16, name: &str, ty: &str) -> Result<Vec<u8>, String> {
        let (name, ty) = (self.constants.utf8(name)?, self.constants.utf8(ty)?);
        Ok([access, name, ty].iter().flat_map(|v| v.to_be_bytes()).collect())
    }

    fn field(&mut self, access: u16, name: &str, ty: &str) -> Result<(), String> {
        let head = self.member_head(access, name, ty)?;
        self.fields.extend_from_slice(&head);
        self.fields.extend_from_slice(&[0, 0]);
        self.field_count += 1;
        self.types.insert(name.to_owned(), ty.to_owned());
        Ok(())
    }

    fn method(&mut self, access: u16, name: &str, ty: &str) -> Result<(), String> {
        self.close_method(true)?;
        let head = self.member_head(access, name, ty)?;
        self.open = Some(Method { head, arguments: slots(ty) + 1, ..Method::default() });
        self.method_count += 1;
        Ok(())
    }

    fn close_method(&mut self, has_code: bool) -> Result<(), String> {
        let Some(mut method) = self.open.take() else {
            return Ok(());
        };
        method.resolve()?;
        self.methods.extend_from_slice(&method.head);
        self.methods.extend_from_slice(&u16::from(has_code).to_be_bytes());
        if has_code {
            let name = self.constants.utf8("Code")?;
            self.methods.extend_from_slice(&name.to_be_bytes());
            // What surrounds the code in the attribute: four counts of 12 bytes in all.
            let length = method.code.len() as u32;
            self.methods.extend_from_slice(&(length + 12).to_be_bytes());
            self.methods.extend_from_slice(&method.stack.max(MAX_STACK).to_be_bytes());
            self.methods.extend_from_slice(&method.arguments.max(MAX_LOCALS).to_be_bytes());
            self.methods.extend_from_slice(&length.to_be_bytes());
            self.methods.extend_from_slice(&method.code);
            self.methods.extend_from_slice(&[0; 4]);
        }
        Ok(())
    }

    fn instruction(&mut self, words: &[&str]) -> Result<(), String> {
        let mut method = self.open.take().ok_or("instruction outside a method")?;
        let done = self.operands(words, &mut method);
        self.open = Some(method);
        done
    }

    fn operands(&mut self, words: &[&str], method: &mut Method) -> Result<(), String> {
        if let [label] = words
            && let Some(label) = label.strip_suffix(':')
        {
            method.labels.insert(label.to_owned(), method.code.len());
            return Ok(());
        }
        let number = |word: &str| word.parse::<i32>().map_err(|_| "not a number".to_owned());
        match *words {
            ["int", value] => Ok(self.constants.push_int(number(value)?, &mut method.code)?),
            ["iinc", slot, by] => {
                method.code.extend_from_slice(&[132, number(slot)? as u8, number(by)? as u8]);
                Ok(())
            }
            ["newarray", ty] => {
                let ty = ["double", "int", "long"].iter().position(|t| *t == ty).ok_or("unknown type")?;
                method.code.extend_from_slice(&[188, [7, 10, 11][ty]]);
                Ok(())
            }
            [mnemonic @ ("new" | "anewarray" | "checkcast"), class] => {
                let index = self.constants.class(class)?;
                method.with_index(opcode(mnemonic)?, index);
                Ok(())
            }
            [mnemonic, slot] if SLOTTED.contains(&mnemonic) => {
                method.code.extend_from_slice(&[opcode(mnemonic)?, number(slot)? as u8]);
                Ok(())
            }
            [mnemonic, label] if mnemonic == "goto" || mnemonic.starts_with("if") => {
                method.jumps.push((method.code.len(), label.to_owned()));
                method.with_index(opcode(mnemonic)?, 0);
                Ok(())
            }
            [mnemonic] => {
                method.code.push(opcode(mnemonic)?);
                Ok(())
            }
            [mnemonic, ref member @ ..] => self.member(mnemonic, member, method),
            [] => Ok(()),
        }
    }

    fn member(&mut self, mnemonic: &str, member: &[&str], method: &mut Method) -> Result<(), String> {
        let own = self.name.clone();
        let (owner, name, ty) = match *member {
            [name] => {
                let ty = self.types.get(name).cloned().ok_or("unknown field")?;
                (own.as_str(), name, ty)
            }
            [name, ty] => (own.as_str(), name, ty.to_owned()),
            [owner, name, ty] => (owner, name, ty.to_owned()),
            _ => return Err("unknown instruction".to_owned()),
        };
        let index = match mnemonic {
            "invokeinterface" => self.constants.interface_method(owner, name, &ty)?,
            _ if mnemonic.starts_with("invoke") => self.constants.method(owner, name, &ty)?,
            _ => self.constants.field(owner, name, &ty)?,
        };
        method.with_index(opcode(mnemonic)?, index);
        if mnemonic.starts_with("invoke") {
            let count = slots(&ty) + 1;
            // a result may take two slots
            method.stack = method.stack.max(count + 2);
            if mnemonic == "invokeinterface" {
                method.code.extend_from_slice(&[u8::try_from(count).map_err(|_| "too many arguments")?, 0]);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, String> {
        self.close_method(true)?;
        let mut out = 0xCAFE_BABE_u32.to_be_bytes().to_vec();
        for value in [0, VERSION, self.constants.count()] {
            out.extend_from_slice(&value.to_be_bytes());
        }
        out.extend_from_slice(self.constants.bytes());
        out.extend_from_slice(&self.head);
        out.extend_from_slice(&self.field_count.to_be_bytes());
        out.extend_from_slice(&self.fields);
        out.extend_from_slice(&self.method_count.to_be_bytes());
        out.extend_from_slice(&self.methods);
        out.extend_from_slice(&[0, 0]);
        Ok(out)
    }
}

/// Stack slots of the parameters of a method descriptor; of a type's own text, none.
fn slots(descriptor: &str) -> u16 {
    let mut count = 0;
    let mut chars = descriptor.strip_prefix('(').unwrap_or(")").chars();
    while let Some(c) = chars.next().filter(|c| *c != ')') {
        let mut last = c;
        while last == '[' {
            last = chars.next().unwrap_or(')');
        }
        if last == 'L' {
            chars.by_ref().find(|c| *c == ';');
        }
        count += if matches!(c, 'J' | 'D') { 2 } else { 1 };
    }
    count
}

impl Method {
    fn with_index(&mut self, opcode: u8, index: u16) {
        let [high, low] = index.to_be_bytes();
        self.code.extend_from_slice(&[opcode, high, low]);
    }

    fn resolve(&mut self) -> Result<(), String> {
        for (at, label) in &self.jumps {
            let target = self.labels.get(label).ok_or_else(|| format!("no label {label}"))?;
            let offset = i16::try_from(*target as i64 - *at as i64).map_err(|_| "jump too far".to_owned())?;
            self.code[at + 1..at + 3].copy_from_slice(&offset.to_be_bytes());
        }
        Ok(())
    }
}

const SLOTTED: [&str; 10] = ["iload", "lload", "fload", "dload", "aload", "istore", "lstore", "fstore", "dstore", "astore"];

const MNEMONICS: [(&str, u8); 86] = [
    ("aconst_null", 1),
    ("iconst_m1", 2),
    ("iconst_0", 3),
    ("iconst_1", 4),
    ("iconst_2", 5),
    ("iconst_3", 6),
    ("iconst_4", 7),
    ("lconst_0", 9),
    ("dconst_0", 14),
    ("dconst_1", 15),
    ("iload", 21),
    ("lload", 22),
    ("fload", 23),
    ("dload", 24),
    ("aload", 25),
    ("iaload", 46),
    ("laload", 47),
    ("daload", 49),
    ("istore", 54),
    ("lstore", 55),
    ("fstore", 56),
    ("dstore", 57),
    ("astore", 58),
    ("iastore", 79),
    ("lastore", 80),
    ("dastore", 82),
    ("aastore", 83),
    ("pop", 87),
    ("pop2", 88),
    ("dup", 89),
    ("iadd", 96),
    ("ladd", 97),
    ("isub", 100),
    ("lsub", 101),
    ("dsub", 103),
    ("imul", 104),
    ("dmul", 107),
    ("dneg", 119),
    ("ishl", 120),
    ("lshl", 121),
    ("ishr", 122),
    ("lushr", 125),
    ("iand", 126),
    ("land", 127),
    ("lor", 129),
    ("lxor", 131),
    ("i2l", 133),
    ("i2d", 135),
    ("l2d", 138),
    ("f2d", 141),
    ("lcmp", 148),
    ("fcmpl", 149),
    ("fcmpg", 150),
    ("dcmpl", 151),
    ("dcmpg", 152),
    ("ifeq", 153),
    ("ifne", 154),
    ("iflt", 155),
    ("ifge", 156),
    ("ifgt", 157),
    ("ifle", 158),
    ("if_icmpeq", 159),
    ("if_icmpne", 160),
    ("if_icmpge", 162),
    ("if_acmpeq", 165),
    ("goto", 167),
    ("ireturn", 172),
    ("lreturn", 173),
    ("freturn", 174),
    ("dreturn", 175),
    ("areturn", 176),
    ("return", 177),
    ("getstatic", 178),
    ("putstatic", 179),
    ("getfield", 180),
    ("putfield", 181),
    ("invokevirtual", 182),
    ("invokespecial", 183),
    ("invokestatic", 184),
    ("invokeinterface", 185),
    ("new", 187),
    ("anewarray", 189),
    ("arraylength", 190),
    ("athrow", 191),
    ("checkcast", 192),
    ("ifnull", 198),
];

fn opcode(mnemonic: &str) -> Result<u8, String> {
    let row = MNEMONICS.iter().find(|(name, _)| *name == mnemonic);
    row.map(|(_, opcode)| *opcode).ok_or_else(|| "unknown instruction".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        let in_method = |text: &str| format!("class A extends B\nstatic-method m ()V\n{text}");
        for text in ["nop", &in_method("goto nowhere"), &in_method("fly"), &in_method("int x"), &in_method("getstatic f")] {
            assert!(assemble(text).is_err(), "{text}");
        }
    }
}
