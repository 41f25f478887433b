//! What a dotted name means in a module: imports and re-exports are followed, assignments of plain names too.

use super::Sources;
use super::index::Binding;

/// The meaning of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entity {
    Module(usize),
    /// A file and one of its classes.
    Class(usize, usize),
    /// A file and one of its codes.
    Function(usize, usize),
    /// A module variable of a file.
    Variable(usize, String),
    /// Outside the program, by its full dotted name.
    External(String),
}

/// Imports may go in circles.
const MAX_STEPS: usize = 24;

impl Sources {
    /// What `parts`, as written in `file`, mean.
    pub fn resolve<S: AsRef<str>>(&self, file: usize, parts: &[S]) -> Option<Entity> {
        self.resolve_at(file, parts, 0)
    }

    fn resolve_at<S: AsRef<str>>(&self, file: usize, parts: &[S], steps: usize) -> Option<Entity> {
        let (first, rest) = parts.split_first()?;
        let mut entity = self.name(file, first.as_ref(), steps).unwrap_or_else(|| Entity::External(format!("builtins.{}", first.as_ref())));
        for part in rest {
            entity = self.member(entity, part.as_ref(), steps)?;
        }
        Some(entity)
    }

    fn member(&self, of: Entity, name: &str, steps: usize) -> Option<Entity> {
        match of {
            Entity::Module(file) => self.name(file, name, steps).or_else(|| self.submodule(file, name)),
            Entity::Class(file, class) => {
                let index = &self.files[file].index;
                let nested = index.classes.iter().position(|c| c.outer == Some(class) && c.qualname.rsplit('.').next() == Some(name));
                let method = || index.codes.iter().rposition(|c| c.class == Some(class) && c.name == name && !c.nested);
                nested.map(|c| Entity::Class(file, c)).or_else(|| method().map(|m| Entity::Function(file, m)))
            }
            Entity::External(full) => Some(Entity::External(format!("{full}.{name}"))),
            Entity::Function(..) | Entity::Variable(..) => None,
        }
    }

    fn submodule(&self, file: usize, name: &str) -> Option<Entity> {
        self.by_module.get(&format!("{}.{name}", self.files[file].module)).map(|f| Entity::Module(*f))
    }

    /// A name of a module.
    fn name(&self, file: usize, name: &str, steps: usize) -> Option<Entity> {
        if steps > MAX_STEPS {
            return None;
        }
        let index = &self.files[file].index;
        match index.names.get(name) {
            Some(Binding::Class(class)) => Some(Entity::Class(file, *class)),
            Some(Binding::Function(code)) => Some(Entity::Function(file, *code)),
            Some(Binding::Module(full)) => Some(self.module(full)),
            Some(Binding::From { module, level, name }) => self.imported(file, (module, *level), name, steps + 1),
            Some(Binding::Alias(parts)) if parts[0] != name => {
                let known =
                    self.resolve_at(file, parts, steps + 1).filter(|e| !matches!(e, Entity::External(f) if f.starts_with("builtins.")) || parts.len() == 1);
                known.or_else(|| Some(Entity::Variable(file, name.to_string())))
            }
            Some(_) => Some(Entity::Variable(file, name.to_string())),
            None => index.stars.iter().find_map(|(module, level)| {
                let base = self.absolute(file, module, *level)?;
                let source = *self.by_module.get(&base)?;
                if source == file { None } else { self.name(source, name, steps + 1) }
            }),
        }
    }

    fn module(&self, full: &str) -> Entity {
        self.by_module.get(full).map_or_else(|| Entity::External(full.to_string()), |f| Entity::Module(*f))
    }

    fn imported(&self, file: usize, (module, level): (&str, u32), name: &str, steps: usize) -> Option<Entity> {
        let base = self.absolute(file, module, level)?;
        match self.by_module.get(&base) {
            Some(source) if *source == file => self.submodule(file, name),
            Some(source) => self.name(*source, name, steps).or_else(|| self.submodule(*source, name)),
            None => Some(match self.by_module.get(&format!("{base}.{name}")) {
                Some(f) => Entity::Module(*f),
                None => Entity::External(format!("{base}.{name}")),
            }),
        }
    }

    /// The module that `from <level dots>module` means.
    fn absolute(&self, file: usize, module: &str, level: u32) -> Option<String> {
        if level == 0 {
            return Some(module.to_string());
        }
        let file = &self.files[file];
        let mut parts: Vec<&str> = file.module.split('.').collect();
        let up = level as usize - usize::from(file.is_package);
        if up > parts.len() {
            return None;
        }
        parts.truncate(parts.len() - up);
        if !module.is_empty() {
            parts.push(module);
        }
        Some(parts.join("."))
    }

    /// The classes above a class, itself first, depth first; and the names of those outside the program.
    pub fn ancestry(&self, file: usize, class: usize) -> (Vec<(usize, usize)>, Vec<String>) {
        let (mut found, mut outside) = (vec![(file, class)], Vec::new());
        let mut i = 0;
        while i < found.len() && found.len() < 200 {
            let (f, c) = found[i];
            for base in self.files[f].index.classes[c].bases.iter() {
                match self.resolve(f, base) {
                    Some(Entity::Class(bf, bc)) if !found.contains(&(bf, bc)) => found.push((bf, bc)),
                    Some(Entity::External(name)) => outside.push(name),
                    _ => {}
                }
            }
            i += 1;
        }
        (found, outside)
    }

    /// The type name of a class.
    pub fn class_name(&self, file: usize, class: usize) -> String {
        let file = &self.files[file];
        format!("{}:{}", file.module, file.index.classes[class].qualname)
    }

    /// The type that owns a code.
    pub fn owner_name(&self, file: usize, code: usize) -> String {
        match self.files[file].index.codes[code].class {
            Some(class) => self.class_name(file, class),
            None => self.files[file].module.clone(),
        }
    }
}

/// `collections.OrderedDict` as the type name `collections:OrderedDict`.
pub fn external_type(full: &str) -> String {
    match full.rsplit_once('.') {
        Some((module, class)) => format!("{module}:{class}"),
        None => format!("builtins:{full}"),
    }
}
