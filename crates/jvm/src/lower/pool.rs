//! Constants of a class as register code refers to them.

use std::cell::RefCell;
use std::sync::Arc;

use rethrow_core::program::ir::{Const as IrConst, FieldRef, MethodRef};
use rethrow_core::program::{Program, Ty, TypeId};
use rustc_hash::FxHashMap;

use crate::classfile::{BootstrapMethod, ClassFile, Const, FieldType, JavaStr, MethodDescriptor};
use crate::classpath::{UNKNOWN_TYPE, binary_name, ty_from};

/// Resolves constants of one class; each reference is built once.
pub(super) struct Names<'p, 'a> {
    pub program: &'p Program,
    pub class: &'p ClassFile<'a>,
    methods: RefCell<FxHashMap<u16, Arc<MethodRef>>>,
    fields: RefCell<FxHashMap<u16, Arc<FieldRef>>>,
    bootstraps: Vec<BootstrapMethod<'a>>,
}

/// What an `invokedynamic` instruction does.
pub(super) enum Dynamic {
    Lambda { interface: TypeId, implementation: Arc<MethodRef> },
    Concat(Arc<str>),
    Opaque,
}

type Outcome<T> = Result<T, String>;

impl<'p, 'a> Names<'p, 'a> {
    pub fn new(program: &'p Program, class: &'p ClassFile<'a>) -> Self {
        Names { program, class, methods: RefCell::default(), fields: RefCell::default(), bootstraps: class.bootstrap_methods() }
    }

    /// The id of an internal name. What only code of the platform mentions has none and is the unknown type.
    pub fn type_id(&self, internal: JavaStr<'_>) -> TypeId {
        let found = self.program.find_mentioned(&binary_name(internal)).or_else(|| self.program.find_mentioned(UNKNOWN_TYPE));
        found.unwrap_or_else(|| self.object())
    }

    fn object(&self) -> TypeId {
        self.program.well_known().object.as_ref().unwrap_or(TypeId(0))
    }

    pub fn ty(&self, parsed: &FieldType<'_>) -> Ty {
        ty_from(parsed, |name| self.type_id(name))
    }

    /// A class constant, which may name an array.
    pub fn class_ty(&self, index: u16) -> Outcome<Ty> {
        let name = self.class.pool.class_name(index).map_err(|e| e.to_string())?;
        self.named_ty(name)
    }

    fn named_ty(&self, name: JavaStr<'_>) -> Outcome<Ty> {
        match name.as_bytes().first() {
            Some(b'[') => FieldType::parse(name).map(|parsed| self.ty(&parsed)).map_err(|e| e.to_string()),
            _ => Ok(Ty::reference(self.type_id(name))),
        }
    }

    /// A class constant that must not name an array.
    pub fn class_id(&self, index: u16) -> Outcome<TypeId> {
        self.class_ty(index)?.as_ref().ok_or_else(|| format!("constant {index} names an array"))
    }

    fn text(&self, text: JavaStr<'_>) -> Arc<str> {
        self.program.shared_text(&text.to_str_lossy())
    }

    pub fn field(&self, index: u16) -> Outcome<Arc<FieldRef>> {
        if let Some(known) = self.fields.borrow().get(&index) {
            return Ok(known.clone());
        }
        let member = self.class.pool.member(index).map_err(|e| e.to_string())?;
        let parsed = FieldType::parse(member.descriptor).map_err(|e| e.to_string())?;
        let field = Arc::new(FieldRef { owner: self.type_id(member.owner), name: self.text(member.name), ty: self.ty(&parsed) });
        self.fields.borrow_mut().insert(index, field.clone());
        Ok(field)
    }

    /// The method and its descriptor. Methods of arrays are those of the root type.
    pub fn method(&self, index: u16) -> Outcome<(Arc<MethodRef>, MethodDescriptor<'a>)> {
        let member = self.class.pool.member(index).map_err(|e| e.to_string())?;
        let parsed = MethodDescriptor::parse(member.descriptor).map_err(|e| e.to_string())?;
        if let Some(known) = self.methods.borrow().get(&index) {
            return Ok((known.clone(), parsed));
        }
        let owner = match member.owner.as_bytes().first() {
            Some(b'[') => self.object(),
            _ => self.type_id(member.owner),
        };
        let method = Arc::new(MethodRef { owner, name: self.text(member.name), desc: self.text(member.descriptor) });
        self.methods.borrow_mut().insert(index, method.clone());
        Ok((method, parsed))
    }

    /// A constant that `ldc` loads, and the descriptor of what it is if that does not show (dynamic constants).
    pub fn loadable(&self, index: u16) -> Outcome<(IrConst, Option<FieldType<'a>>)> {
        let constant = self.class.pool.get(index).map_err(|e| e.to_string())?;
        Ok(match constant {
            Const::Integer(v) => (IrConst::Int(v), None),
            Const::Long(v) => (IrConst::Long(v), None),
            Const::Float(v) => (IrConst::Float(v), None),
            Const::Double(v) => (IrConst::Double(v), None),
            Const::String(text) => (IrConst::Str(text.to_str_lossy().as_ref().into()), None),
            Const::Class(name) => (IrConst::Class(self.named_ty(name)?), None),
            Const::MethodType(_) | Const::MethodHandle { .. } => (IrConst::Opaque, None),
            Const::Dynamic { descriptor, .. } => (IrConst::Opaque, Some(FieldType::parse(descriptor).map_err(|e| e.to_string())?)),
            _ => return Err(format!("constant {index} cannot be loaded")),
        })
    }

    pub fn dynamic(&self, index: u16) -> Outcome<(Dynamic, MethodDescriptor<'a>)> {
        let Const::InvokeDynamic { bootstrap, descriptor, .. } = self.class.pool.get(index).map_err(|e| e.to_string())? else {
            return Err(format!("constant {index} is no call site"));
        };
        let parsed = MethodDescriptor::parse(descriptor).map_err(|e| e.to_string())?;
        let known = self.bootstraps.get(usize::from(bootstrap)).and_then(|method| self.known_bootstrap(method, &parsed));
        Ok((known.unwrap_or(Dynamic::Opaque), parsed))
    }

    fn known_bootstrap(&self, method: &BootstrapMethod<'a>, site: &MethodDescriptor<'a>) -> Option<Dynamic> {
        let pool = &self.class.pool;
        let Const::MethodHandle { reference, .. } = pool.get(method.handle).ok()? else { return None };
        let factory = pool.member(reference).ok()?;
        match (factory.owner.as_str()?, factory.name.as_str()?) {
            ("java/lang/invoke/LambdaMetafactory", _) => {
                let Const::MethodHandle { reference, .. } = pool.get(method.arguments().nth(1)?).ok()? else { return None };
                let interface = self.ty(&site.returns?).as_ref()?;
                Some(Dynamic::Lambda { interface, implementation: self.method(reference).ok()?.0 })
            }
            ("java/lang/invoke/StringConcatFactory", "makeConcat") => Some(Dynamic::Concat("\u{1}".repeat(site.parameters.len()).into())),
            ("java/lang/invoke/StringConcatFactory", _) => self.recipe(method).map(Dynamic::Concat),
            _ => None,
        }
    }

    /// The recipe with its constants (U+0002) filled in.
    fn recipe(&self, method: &BootstrapMethod<'a>) -> Option<Arc<str>> {
        let mut arguments = method.arguments();
        let Const::String(recipe) = self.class.pool.get(arguments.next()?).ok()? else { return None };
        let recipe = recipe.to_str_lossy();
        let mut filled = String::with_capacity(recipe.len());
        for c in recipe.chars() {
            match c {
                '\u{2}' => filled.push_str(&self.constant_text(arguments.next()?)),
                c => filled.push(c),
            }
        }
        Some(filled.into())
    }

    fn constant_text(&self, index: u16) -> String {
        match self.class.pool.get(index) {
            Ok(Const::String(text)) => text.to_str_lossy().into_owned(),
            Ok(Const::Integer(v)) => v.to_string(),
            Ok(Const::Long(v)) => v.to_string(),
            _ => String::new(),
        }
    }
}
