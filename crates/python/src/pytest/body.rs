//! The statements of a test as lines of Python: literals stand where they are used once, everything else has a name.

use rethrow_core::program::parameter::Taking;
use rethrow_core::program::{Base, FieldId, MethodId, Program, Ty};
use rethrow_core::testcase::{Data, Env, Stmt, TestCase, Value, Var};

use super::literal;
use super::names::{Imports, Locals, is_identifier, module_of, snake};
use crate::rules::ANNOTATIONS;

/// The lines, and whether they need a temporary folder.
pub struct Body {
    pub lines: Vec<String>,
    pub needs_folder: bool,
    /// The line inside which they have to stand, if the test has surroundings.
    pub inside: Option<String>,
    /// For each statement, how many lines there are up to its end, and the name of its value.
    pub ends: Vec<usize>,
    pub locals: Vec<Option<String>>,
}

/// Where the value of a statement is.
#[derive(Clone, PartialEq)]
enum Place {
    /// Written where it is used.
    Inline,
    Local(String),
    /// Nobody uses it.
    Dropped,
}

struct Writer<'a> {
    program: &'a Program,
    test: &'a TestCase,
    imports: &'a mut Imports,
    locals: Locals,
    places: Vec<Place>,
    lines: Vec<String>,
    needs_folder: bool,
    /// Entries of the environment, written.
    settings: Vec<String>,
}

pub fn render(program: &Program, test: &TestCase, imports: &mut Imports) -> Result<Body, String> {
    render_named(program, test, &[], imports)
}

/// The values in `named` get names, whoever uses them.
pub fn render_named(program: &Program, test: &TestCase, named: &[Var], imports: &mut Imports) -> Result<Body, String> {
    // Once to learn what is imported, so that no local hides it.
    Writer::new(program, test, imports).write(named)?;
    Writer::new(program, test, imports).write(named)
}

/// The declared parameters in `12(a, /, b, c=, *rest, d, **named)`.
fn declared(desc: &str) -> Vec<(String, Taking)> {
    let inside = desc.split_once('(').map_or("", |(_, rest)| rest.rsplit_once(')').map_or(rest, |(inside, _)| inside));
    let mut found: Vec<(String, Taking)> = Vec::new();
    let mut taking = Taking::Any;
    for part in inside.split(',').map(|p| p.trim().trim_end_matches('=')).filter(|p| !p.is_empty()) {
        match part {
            "/" => found.iter_mut().for_each(|(_, t)| *t = Taking::PositionalOnly),
            "*" => taking = Taking::KeywordOnly,
            _ => {
                if let Some(name) = part.strip_prefix("**") {
                    found.push((name.to_string(), Taking::RestNamed));
                } else if let Some(name) = part.strip_prefix('*') {
                    found.push((name.to_string(), Taking::Rest));
                    taking = Taking::KeywordOnly;
                } else {
                    found.push((part.to_string(), taking));
                }
            }
        }
    }
    found
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, test: &'a TestCase, imports: &'a mut Imports) -> Self {
        let locals = Locals::new(imports.taken());
        Writer { program, test, imports, locals, places: Vec::new(), lines: Vec::new(), needs_folder: false, settings: Vec::new() }
    }

    fn write(mut self, named: &[Var]) -> Result<Body, String> {
        let mut uses = vec![0usize; self.test.len()];
        for stmt in &self.test.stmts {
            stmt.operands().iter().for_each(|v| uses[v.0 as usize] += 1);
        }
        // to look at a value is a use that needs its name
        named.iter().for_each(|v| uses[v.0 as usize] += 2);
        let mut ends = Vec::new();
        for (i, stmt) in self.test.stmts.iter().enumerate() {
            let last = i + 1 == self.test.len();
            let place = match (stmt, uses[i]) {
                (Stmt::Data(Data::Absent), _) => Place::Inline,
                (Stmt::Data(_) | Stmt::Lit(_) | Stmt::Str(_) | Stmt::Null(_) | Stmt::Class(_) | Stmt::GetStatic(_), 1) if !last => Place::Inline,
                (Stmt::Null(_) | Stmt::Class(_), _) if !last => Place::Inline,
                (Stmt::SetField { .. } | Stmt::ArraySet { .. }, _) | (_, 0) => Place::Dropped,
                _ => Place::Local(String::new()),
            };
            self.places.push(place.clone());
            if place == Place::Inline {
                ends.push(self.lines.len());
                continue;
            }
            let text = self.statement(stmt)?;
            match place {
                Place::Local(_) => {
                    let name = self.locals.fresh(&self.wish(i));
                    self.lines.push(format!("{name} = {text}"));
                    self.places[i] = Place::Local(name);
                }
                _ if matches!(stmt, Stmt::Env(_)) => {}
                _ => self.lines.push(text),
            }
            ends.push(self.lines.len());
        }
        if self.lines.is_empty() {
            self.lines.push("pass".into());
        }
        let inside = self.surrounded();
        let name = |place: Place| if let Place::Local(name) = place { Some(name) } else { None };
        let locals = self.places.into_iter().map(name).collect();
        Ok(Body { lines: self.lines, needs_folder: self.needs_folder, inside, ends, locals })
    }

    /// What a value would be called: after its class, the function it comes from, or the parameter it is for.
    fn wish(&self, i: usize) -> String {
        match &self.test.stmts[i] {
            Stmt::New { ctor, .. } => {
                let owner = self.program.type_name(self.program.method(*ctor).owner);
                snake(owner.rsplit([':', '.']).next().unwrap_or(owner))
            }
            Stmt::Call { method, .. } => {
                let name = self.program.method_name(*method).trim_start_matches('_');
                let short = ["get_", "make_", "create_", "to_", "from_"].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
                if short == name && !name.contains('_') { "result".into() } else { short.to_string() }
            }
            Stmt::GetStatic(f) | Stmt::GetField { field: f, .. } => self.program.field_name(*f).to_lowercase(),
            _ => self.parameter_for(Var(i as u32)).unwrap_or_else(|| "value".into()),
        }
    }

    fn parameter_for(&self, var: Var) -> Option<String> {
        self.test.stmts.iter().find_map(|stmt| {
            let (Stmt::New { ctor: method, args } | Stmt::Call { method, args, .. }) = stmt else { return None };
            let place = args.iter().position(|a| *a == var)?;
            declared(self.program.method_desc(*method)).get(place).map(|(name, _)| name.clone())
        })
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<String, String> {
        match stmt {
            Stmt::Lit(value) => Ok(lit(*value)),
            Stmt::Str(value) => Ok(literal::text(value)),
            Stmt::Null(_) => Ok("None".into()),
            Stmt::Data(data) => self.data(data),
            Stmt::Env(env) => self.surroundings(env),
            Stmt::Stub(_) => Err("a stub of a declared type cannot be written in Python".into()),
            Stmt::Class(ty) => self.class(*ty),
            Stmt::GetStatic(field) => self.static_field(*field),
            Stmt::New { ctor, args } => {
                let owner = self.program.type_name(self.program.method(*ctor).owner).to_string();
                let class = self.type_path(&owner)?;
                Ok(format!("{class}({})", self.arguments(*ctor, args)?))
            }
            Stmt::Call { method, recv, args } => self.call(*method, *recv, args),
            Stmt::GetField { field, recv } => {
                let name = self.program.field_name(*field).to_string();
                let receiver = self.receiver(*recv)?;
                Ok(if is_identifier(&name) { format!("{receiver}.{name}") } else { format!("getattr({receiver}, {})", literal::text(&name)) })
            }
            Stmt::SetField { field, recv, value } => self.set_field(*field, *recv, *value),
            Stmt::NewArray { len, .. } => Ok(format!("[None] * {len}")),
            Stmt::ArraySet { array, index, value } => Ok(format!("{}[{index}] = {}", self.receiver(*array)?, self.operand(*value)?)),
            Stmt::ArrayGet { array, index } => Ok(format!("{}[{index}]", self.receiver(*array)?)),
            Stmt::Cast { value, .. } => self.operand(*value),
        }
    }

    fn operand(&mut self, var: Var) -> Result<String, String> {
        match self.places[var.0 as usize].clone() {
            Place::Local(name) => Ok(name),
            _ => {
                let stmt = self.test.stmt(var).clone();
                self.statement(&stmt)
            }
        }
    }

    /// An operand that a dot can follow.
    fn receiver(&mut self, var: Var) -> Result<String, String> {
        let text = self.operand(var)?;
        let plain = text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '[' || c == '{') && !text.starts_with("lambda") && !text.contains(" * ");
        Ok(if plain || text.starts_with(['"', '\'']) { text } else { format!("({text})") })
    }

    fn type_path(&mut self, name: &str) -> Result<String, String> {
        let Some((module, path)) = name.split_once(':') else { return Err(format!("{name} is a module, not a class")) };
        if !path.split('.').all(is_identifier) {
            return Err(format!("{name} cannot be named"));
        }
        Ok(self.imports.path(module, path))
    }

    fn class(&mut self, ty: Ty) -> Result<String, String> {
        match ty.base {
            Base::Ref(id) => self.type_path(self.program.type_name(id)),
            _ => Err("not a class".into()),
        }
    }

    /// A member of a module or class.
    fn member(&mut self, owner: &str, name: &str) -> Result<String, String> {
        if !is_identifier(name) {
            return Err(format!("{owner}.{name} cannot be named"));
        }
        if owner.contains(':') { Ok(format!("{}.{name}", self.type_path(owner)?)) } else { Ok(self.imports.path(owner, name)) }
    }

    fn static_field(&mut self, field: FieldId) -> Result<String, String> {
        let owner = self.program.type_name(self.program.field(field).owner).to_string();
        let name = self.program.field_name(field).to_string();
        let written = self.test.stmts.iter().any(|s| matches!(s, Stmt::SetField { field: f, recv: None, .. } if *f == field));
        if written && !owner.contains(':') { self.module_member(&owner, &name) } else { self.member(&owner, &name) }
    }

    fn module_member(&mut self, module: &str, name: &str) -> Result<String, String> {
        let importlib = self.imports.whole("importlib");
        if is_identifier(name) {
            Ok(format!("{importlib}.import_module({}).{name}", literal::text(module)))
        } else {
            Err(format!("{module}.{name} cannot be named"))
        }
    }

    fn set_field(&mut self, field: FieldId, recv: Option<Var>, value: Var) -> Result<String, String> {
        let owner = self.program.type_name(self.program.field(field).owner).to_string();
        let name = self.program.field_name(field).to_string();
        let target = match recv {
            Some(recv) => {
                let receiver = self.receiver(recv)?;
                if !is_identifier(&name) {
                    return Ok(format!("setattr({receiver}, {}, {})", literal::text(&name), self.operand(value)?));
                }
                format!("{receiver}.{name}")
            }
            None if owner.contains(':') => self.member(&owner, &name)?,
            None => self.module_member(&owner, &name)?,
        };
        Ok(format!("{target} = {}", self.operand(value)?))
    }

    fn call(&mut self, method: MethodId, recv: Option<Var>, args: &[Var]) -> Result<String, String> {
        let owner = self.program.type_name(self.program.method(method).owner).to_string();
        let name = self.program.method_name(method).to_string();
        if name == "<module>" {
            let importlib = self.imports.whole("importlib");
            return Ok(format!("{importlib}.import_module({})", literal::text(module_of(&owner))));
        }
        let target = match recv {
            Some(recv) => {
                if !is_identifier(&name) {
                    return Err(format!("{owner}.{name} cannot be called by a test"));
                }
                format!("{}.{}", self.receiver(recv)?, mangled(&owner, &name))
            }
            None => self.member(&owner, &mangled(&owner, &name))?,
        };
        let mark = self.program.method_desc(method).rsplit_once(')').map_or("", |(_, mark)| mark);
        if mark.contains('@') {
            return Ok(target);
        }
        let call = format!("{target}({})", self.arguments(method, args)?);
        Ok(match mark {
            // the body of a generator runs when it is iterated, that of a coroutine when it is awaited
            "*" => format!("list({call})"),
            "~" => format!("{}.run({call})", self.imports.whole("asyncio")),
            _ => call,
        })
    }

    /// As the worker passes them: positional as long as nothing is left out, then by name.
    fn arguments(&mut self, method: MethodId, args: &[Var]) -> Result<String, String> {
        let declared = declared(self.program.method_desc(method));
        let mut out = Vec::new();
        let mut skipped = false;
        for (i, var) in args.iter().enumerate() {
            let (name, taking) = declared.get(i).cloned().unwrap_or((String::new(), Taking::PositionalOnly));
            if matches!(self.test.stmt(*var), Stmt::Data(Data::Absent)) {
                skipped |= matches!(taking, Taking::Any | Taking::PositionalOnly);
                continue;
            }
            match taking {
                Taking::Rest => self.rest(*var, skipped, &mut out)?,
                Taking::RestNamed => self.rest_named(*var, &mut out)?,
                Taking::PositionalOnly if skipped => return Err("a positional argument after one that is left out".into()),
                Taking::KeywordOnly => out.push(format!("{name}={}", self.operand(*var)?)),
                Taking::Any if skipped => out.push(format!("{name}={}", self.operand(*var)?)),
                Taking::Any | Taking::PositionalOnly => out.push(self.operand(*var)?),
            }
        }
        Ok(out.join(", "))
    }

    fn rest(&mut self, var: Var, skipped: bool, out: &mut Vec<String>) -> Result<(), String> {
        let inline = self.places[var.0 as usize] == Place::Inline;
        match self.test.stmt(var).clone() {
            Stmt::Data(Data::List(items) | Data::Tuple(items)) if inline => {
                if skipped && !items.is_empty() {
                    return Err("further positional arguments after one that is left out".into());
                }
                for item in &items {
                    out.push(self.data(item)?);
                }
            }
            _ => out.push(format!("*{}", self.receiver(var)?)),
        }
        Ok(())
    }

    fn rest_named(&mut self, var: Var, out: &mut Vec<String>) -> Result<(), String> {
        let inline = self.places[var.0 as usize] == Place::Inline;
        match self.test.stmt(var).clone() {
            Stmt::Data(Data::Dict(pairs)) if inline && pairs.iter().all(|(k, _)| matches!(k, Data::Str(name) if is_identifier(name))) => {
                for (key, value) in &pairs {
                    let Data::Str(name) = key else { continue };
                    out.push(format!("{name}={}", self.data(value)?));
                }
            }
            _ => out.push(format!("**{}", self.receiver(var)?)),
        }
        Ok(())
    }

    fn data(&mut self, data: &Data) -> Result<String, String> {
        Ok(match data {
            Data::None => "None".into(),
            Data::Bool(v) => if *v { "True" } else { "False" }.into(),
            Data::Int(v) => v.to_string(),
            Data::Float(bits) => literal::float(f64::from_bits(*bits)),
            Data::Str(v) => literal::text(v),
            Data::Bytes(v) => literal::bytes(v),
            Data::List(items) => format!("[{}]", self.all(items)?),
            Data::Tuple(items) if items.len() == 1 => format!("({},)", self.all(items)?),
            Data::Tuple(items) => format!("({})", self.all(items)?),
            Data::Set(items) if items.is_empty() => "set()".into(),
            Data::Set(items) => format!("{{{}}}", self.all(items)?),
            Data::Dict(pairs) => {
                let pairs: Result<Vec<String>, String> = pairs.iter().map(|(k, v)| Ok(format!("{}: {}", self.data(k)?, self.data(v)?))).collect();
                format!("{{{}}}", pairs?.join(", "))
            }
            Data::Var(var) => self.operand(*var)?,
            Data::Absent => return Err("an argument that is left out stands inside a value".into()),
            Data::Function(result) => format!("lambda *args, **kwargs: {}", self.shared(result)?),
            Data::Iterator(items) => format!("iter([{}])", self.all(items)?),
            Data::Stream(content) => {
                let class = if matches!(**content, Data::Bytes(_)) { "BytesIO" } else { "StringIO" };
                format!("{}.{class}({})", self.imports.whole("io"), self.data(content)?)
            }
            Data::File(content) => self.file(content)?,
            Data::Object(attributes) => self.object(attributes)?,
            Data::Class { bases, members, record } => self.derived(bases, members, *record)?,
            Data::Of { class, args } => format!("{}[{}]", self.data(class)?, self.all(args)?),
            Data::Made { class, args } => format!("{}({})", self.data(class)?, self.all(args)?),
        })
    }

    fn all(&mut self, items: &[Data]) -> Result<String, String> {
        let items: Result<Vec<String>, String> = items.iter().map(|d| self.data(d)).collect();
        Ok(items?.join(", "))
    }

    /// A value that is made once, however often it is asked for.
    fn shared(&mut self, data: &Data) -> Result<String, String> {
        let text = self.data(data)?;
        let simple = matches!(data, Data::None | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) | Data::Bytes(_) | Data::Var(_));
        if simple {
            return Ok(text);
        }
        let name = self.locals.fresh("returned");
        self.lines.push(format!("{name} = {text}"));
        Ok(name)
    }

    fn file(&mut self, content: &Data) -> Result<String, String> {
        self.needs_folder = true;
        let name = self.locals.fresh("path");
        let written = match content {
            Data::Str(text) => format!("write_text({}, encoding=\"utf-8\")", literal::text(text)),
            Data::Bytes(bytes) => format!("write_bytes({})", literal::bytes(bytes)),
            _ => return Err("a file contains text or bytes".into()),
        };
        self.lines.push(format!("{name} = tmp_path / {}", literal::text(&name)));
        self.lines.push(format!("{name}.{written}"));
        Ok(format!("str({name})"))
    }

    /// Settings hold for the whole test, whose lines they are put around.
    fn surroundings(&mut self, env: &Env) -> Result<String, String> {
        match env {
            Env::Setting { name, value } => {
                self.settings.push(format!("{}: {}", literal::text(name), literal::text(value)));
                Ok(String::new())
            }
            _ => Err("files are values, and the rest of the surroundings is not set up in Python".into()),
        }
    }

    /// The line that sets up the surroundings.
    fn surrounded(&mut self) -> Option<String> {
        if self.settings.is_empty() {
            return None;
        }
        let (mock, os) = (self.imports.whole("unittest.mock"), self.imports.whole("os"));
        Some(format!("with {mock}.patch.dict({os}.environ, {{{}}}):", self.settings.join(", ")))
    }

    /// A class of the test's own: lines before the one that uses its name.
    fn derived(&mut self, bases: &[Data], members: &[(String, Data)], record: bool) -> Result<String, String> {
        let bases = self.all(bases)?;
        let declared = typed(members);
        let own: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).chain(declared.iter().map(|(name, _)| *name)).collect();
        let mut lines = Vec::with_capacity(own.len());
        for (name, ty) in &declared {
            let ty = self.in_class(ty, &own)?;
            lines.push(match members.iter().find(|(member, _)| member == name) {
                Some((_, value)) => format!("    {name}: {ty} = {}", self.in_class(value, &own)?),
                None => format!("    {name}: {ty}"),
            });
        }
        for (name, value) in members {
            let written = declared.iter().any(|(known, _)| known == name) || (name == ANNOTATIONS && !declared.is_empty());
            if written {
                continue;
            }
            if !is_identifier(name) {
                return Err(format!("{name} cannot be a member"));
            }
            lines.push(format!("    {name} = {}", self.in_class(value, &own)?));
        }
        let class = self.locals.fresh("Thing");
        if record {
            let dataclasses = self.imports.whole("dataclasses");
            self.lines.push(format!("@{dataclasses}.dataclass"));
        }
        self.lines.push(if bases.is_empty() { format!("class {class}:") } else { format!("class {class}({bases}):") });
        self.lines.extend(if lines.is_empty() { vec!["    pass".to_string()] } else { lines });
        Ok(class)
    }

    /// A value in a class whose own names hide those around it.
    fn in_class(&mut self, value: &Data, own: &[&str]) -> Result<String, String> {
        let text = self.data(value)?;
        let hidden = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| own.contains(&word));
        Ok(if hidden { self.outside(&text) } else { text })
    }

    fn outside(&mut self, value: &str) -> String {
        let name = self.locals.fresh("given");
        self.lines.push(format!("{name} = {value}"));
        name
    }

    fn object(&mut self, attributes: &[(String, Data)]) -> Result<String, String> {
        let class = format!("{}.SimpleNamespace", self.imports.whole("types"));
        let plain = attributes.iter().all(|(name, _)| is_identifier(name));
        let mut parts = Vec::new();
        for (name, value) in attributes {
            let value = self.data(value)?;
            parts.push(if plain { format!("{name}={value}") } else { format!("{}: {value}", literal::text(name)) });
        }
        Ok(if plain { format!("{class}({})", parts.join(", ")) } else { format!("{class}(**{{{}}})", parts.join(", ")) })
    }
}

/// The members that a class declares with types, if they can be written so.
fn typed<'a>(members: &'a [(String, Data)]) -> Vec<(&'a str, &'a Data)> {
    let Some((_, Data::Dict(pairs))) = members.iter().find(|(name, _)| name == ANNOTATIONS) else { return Vec::new() };
    let named = |(key, ty): &'a (Data, Data)| match key {
        Data::Str(name) if is_identifier(name) => Some((name.as_str(), ty)),
        _ => None,
    };
    pairs.iter().map(named).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The name under which a class keeps what its body calls `__name`.
fn mangled(owner: &str, name: &str) -> String {
    match owner.split_once(':') {
        Some((_, class)) if name.starts_with("__") && !name.ends_with("__") => {
            format!("_{}{name}", class.rsplit('.').next().unwrap_or(class).trim_start_matches('_'))
        }
        _ => name.to_string(),
    }
}

pub fn lit(value: Value) -> String {
    match value {
        Value::Bool(v) => if v { "True" } else { "False" }.into(),
        Value::Float(_) | Value::Double(_) => literal::float(value.as_f64()),
        _ => value.as_i64().unwrap_or_default().to_string(),
    }
}
