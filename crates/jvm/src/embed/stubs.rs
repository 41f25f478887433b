//! Makes stubs: their classes are defined when first needed, one for each type, constructor and set of calls; then each object gets its answers.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use jvmti_bindings::sys::jni::jmethodID;
use rethrow_core::program::{MethodId, TypeId};
use rethrow_core::testcase::{Given, Stub};
use rustc_hash::{FxHashMap, FxHasher};

use super::call::{self, Slot};
use super::descriptor;
use super::members::Param;
use super::statement::{Done, Statements, Stop};
use super::stub_class::{self, Call, Defined, Plan, Source};
use super::vm::{Global, c_string, jni};
use crate::instrument::assemble::assemble;

/// What makes one class differ from another.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    ty: TypeId,
    ctor: Option<MethodId>,
    /// What it defines although it need not.
    overridden: Vec<MethodId>,
    /// By method: what it calls, with what.
    acts: Vec<(MethodId, MethodId, Vec<Source>)>,
}

impl Shape {
    /// The same in every worker: the name of the class shows in what tests throw, and what they throw decides where the search goes.
    fn number(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

struct StubClass {
    class: Global,
    init: jmethodID,
    params: Vec<Param>,
}

/// The classes defined so far; a failure is remembered too.
#[derive(Default)]
pub struct Stubs {
    known: FxHashMap<Shape, Result<Rc<StubClass>, String>>,
}

fn source(given: Given) -> Source {
    match given {
        Given::This => Source::This,
        Given::Param(i) => Source::Param(i),
        Given::Var(_) => Source::Field,
    }
}

impl Statements {
    pub(super) fn stub(&mut self, stub: &Stub) -> Done<Slot> {
        let class = self.stub_class(stub)?;
        let object = jni!(self.env, AllocObject, class.class.0);
        let object = self.check_thrown(object)?;
        self.set_answers(stub, &class, object)?;
        self.pass(&class.params, &stub.args)?;
        jni!(self.env, CallNonvirtualVoidMethodA, object, class.class.0, class.init, self.args.as_ptr());
        self.check_thrown(Slot::Ref(object))
    }

    fn set_answers(&mut self, stub: &Stub, class: &StubClass, object: jvmti_bindings::sys::jni::jobject) -> Done<()> {
        let defined = self.defined(stub)?;
        for answer in &stub.answers {
            let Some(m) = defined.iter().position(|r| *r == answer.method) else {
                return Err(Stop::Invalid("an answer for a method that the stub does not have".to_owned()));
            };
            if let Some(value) = answer.value {
                let desc = self.members.named_method(answer.method)?.desc.clone();
                let (_, result) = descriptor::method(&desc).ok_or_else(|| format!("bad descriptor {desc}"))?;
                self.set_stub_field(class, object, &stub_class::value_field(m), result, self.slot(value)?)?;
            }
            let Some(act) = &answer.act else { continue };
            let called = self.members.named_method(act.method)?.clone();
            let (params, _) = descriptor::method(&called.desc).ok_or_else(|| format!("bad descriptor {}", called.desc))?;
            let kinds = std::iter::once(descriptor::Kind::Ref(called.owner)).chain(params);
            for (n, (given, kind)) in act.recv.iter().chain(&act.args).zip(kinds).enumerate() {
                if let Given::Var(v) = given {
                    self.set_stub_field(class, object, &stub_class::given_field(m, n), kind, self.slot(*v)?)?;
                }
            }
        }
        Ok(())
    }

    /// Its methods: those that it has to define, then the others.
    fn defined(&self, stub: &Stub) -> Result<Vec<MethodId>, String> {
        let mut out = self.members.stub_methods(stub.ty)?.to_vec();
        out.extend(stub.overridden(&out));
        Ok(out)
    }

    fn set_stub_field(&mut self, class: &StubClass, object: jvmti_bindings::sys::jni::jobject, name: &str, kind: descriptor::Kind, slot: Slot) -> Done<()> {
        let desc = descriptor::text(&kind);
        let param = super::members::param(self.env, &mut self.classes, kind);
        self.check_type(&param, slot)?;
        let field = self.env.field(class.class, name, &desc)?;
        call::set_field(self.env, object, field, slot);
        Ok(())
    }

    fn stub_class(&mut self, stub: &Stub) -> Done<Rc<StubClass>> {
        let acts = stub.answers.iter().filter_map(|a| {
            let act = a.act.as_ref()?;
            Some((a.method, act.method, act.recv.iter().chain(&act.args).map(|g| source(*g)).collect()))
        });
        let overridden = stub.overridden(self.members.stub_methods(stub.ty)?);
        let shape = Shape { ty: stub.ty, ctor: stub.ctor, overridden, acts: acts.collect() };
        if let Some(known) = self.stubs.known.get(&shape) {
            return Ok(known.clone()?);
        }
        // The initialiser of an abstract class belongs to the statement, and what it throws is what the statement throws.
        let params = match stub.ctor {
            None => Vec::new(),
            Some(ctor) => self.members.method(self.env, &mut self.classes, ctor)?.params.clone(),
        };
        let made = self.define_stub(&shape, params);
        self.stubs.known.insert(shape, made.clone());
        Ok(made?)
    }

    fn define_stub(&mut self, shape: &Shape, params: Vec<Param>) -> Result<Rc<StubClass>, String> {
        let number = shape.number();
        let mut interfaces = Vec::new();
        for (_, called, _) in &shape.acts {
            let owner = self.members.named_method(*called)?.owner.clone();
            interfaces.push(self.classes.is_interface(self.env, &owner)?);
        }
        let ty = self.members.type_name(rethrow_core::program::Ty::reference(shape.ty)).ok_or("a stub of an unknown type")?;
        let mut methods = Vec::new();
        for m in self.members.stub_methods(shape.ty)?.iter().chain(&shape.overridden) {
            let def = self.members.named_method(*m)?;
            let act = match shape.acts.iter().position(|(answered, ..)| answered == m) {
                None => None,
                Some(i) => {
                    let (_, called, given) = &shape.acts[i];
                    let to = self.members.named_method(*called)?;
                    Some(Call { owner: &to.owner, interface: interfaces[i], name: &to.name, desc: &to.desc, given: given.clone() })
                }
            };
            methods.push(Defined { name: &def.name, desc: &def.desc, act });
        }
        let ctor = shape.ctor.map(|c| self.members.named_method(c)).transpose()?;
        let ctor_desc = ctor.map_or("()V", |c| &c.desc).to_owned();
        let plan = Plan { number, ty: &ty, ctor: ctor.map(|c| c.desc.as_str()), methods };
        let bytes = assemble(&stub_class::text(&plan)?)?;
        let class = self.define_class(&stub_class::name(&ty, number), &bytes)?;
        let init = self.env.method(class, "<init>", &ctor_desc)?;
        Ok(Rc::new(StubClass { class, init, params }))
    }

    fn define_class(&mut self, name: &str, bytes: &[u8]) -> Result<Global, String> {
        let name = c_string(name);
        let class = jni!(self.env, DefineClass, name.as_ptr(), self.classes.loader().0, bytes.as_ptr().cast(), bytes.len() as i32);
        match self.env.take_exception() {
            None if !class.is_null() => Ok(self.env.global(class)),
            None => Err("a stub's class was not defined".to_owned()),
            Some(thrown) => Err(format!("a stub's class was not defined: {}", self.classes.of(self.env, thrown).name)),
        }
    }
}
