//! Objects that the test implements itself: an interface or abstract class for which no other object will do.
//!
//! A stub of the root type is a class of the user's own: of what every object has (`toString`, `equals`) a stub defines what it has an answer for.
//!
//! Every abstract method gives what its [`Answer`] says: a value that the test has made before, and before that one call of its own, so that
//! listeners can act on what they are handed. Methods without an answer return what memory starts out with. A stub's own frames are no
//! frames of the program: a trace with one between two of the program's is another trace.

use serde::{Deserialize, Serialize};

use super::Var;
use super::portable::{MemberName, TyName, Unknown, find_method, find_ty, method_name, ty_name};
use super::validity::Scope;
use crate::program::{Access, Flags, MethodId, MethodKind, Program, Ty, TypeId};

/// See the module documentation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Stub {
    pub ty: TypeId,
    /// The constructor of an abstract class; interfaces have none.
    pub ctor: Option<MethodId>,
    pub args: Vec<Var>,
    /// By method, each once.
    pub answers: Vec<Answer>,
}

/// What one method does.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub method: MethodId,
    pub value: Option<Var>,
    pub act: Option<Act>,
}

/// A call that a stub makes; its result is dropped.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Act {
    pub method: MethodId,
    /// `None` for a static method.
    pub recv: Option<Given>,
    pub args: Vec<Given>,
}

/// What a stub's own call is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Given {
    Var(Var),
    /// A parameter of the method that is being answered.
    Param(u8),
    /// The stub.
    This,
}

impl Act {
    /// Receiver and arguments with the types that they must have.
    pub fn given<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = (Given, Ty)> + 'a {
        let owner = Ty::reference(program.method(self.method).owner);
        let params = program.signature(self.method).params.iter().copied();
        self.recv.iter().map(move |r| (*r, owner)).chain(self.args.iter().copied().zip(params))
    }
    fn givens_mut(&mut self) -> impl Iterator<Item = &mut Given> {
        self.recv.iter_mut().chain(self.args.iter_mut())
    }
}

impl Given {
    fn var(&mut self) -> Option<&mut Var> {
        match self {
            Given::Var(v) => Some(v),
            _ => None,
        }
    }
}

impl Answer {
    fn operands_mut(&mut self) -> impl Iterator<Item = &mut Var> {
        self.value.iter_mut().chain(self.act.iter_mut().flat_map(|a| a.givens_mut().filter_map(Given::var)))
    }
}

impl Stub {
    pub fn operands(&self) -> Vec<Var> {
        self.clone().operands_mut().into_iter().map(|v| *v).collect()
    }
    /// Arguments of the constructor, then for each answer its value and what its call is given.
    pub fn operands_mut(&mut self) -> Vec<&mut Var> {
        self.args.iter_mut().chain(self.answers.iter_mut().flat_map(Answer::operands_mut)).collect()
    }
    /// The type that operand `i` must have.
    pub fn operand_ty(&self, program: &Program, i: usize) -> Ty {
        let args = self.ctor.iter().flat_map(|c| program.signature(*c).params.iter().copied()).take(self.args.len());
        let answers = self.answers.iter().flat_map(|answer| {
            let value = answer.value.map(|_| program.signature(answer.method).ret);
            let given = answer.act.iter().flat_map(|act| act.given(program)).filter(|(g, _)| matches!(g, Given::Var(_))).map(|(_, ty)| ty);
            value.into_iter().chain(given).collect::<Vec<_>>()
        });
        args.chain(answers).nth(i).unwrap_or(program.well_known().object)
    }
    pub fn answer(&self, method: MethodId) -> Option<&Answer> {
        self.answers.iter().find(|a| a.method == method)
    }

    /// Methods with an answer that the stub would not have to define.
    pub fn overridden(&self, required: &[MethodId]) -> Vec<MethodId> {
        self.answers.iter().map(|a| a.method).filter(|m| !required.contains(m)).collect()
    }

    /// Whether numbers and the types of what is not a variable are right.
    pub fn fits(&self, program: &Program) -> bool {
        let mut known = program.abstract_methods(self.ty);
        known.extend(program.universal_methods(self.ty));
        let arity = self.ctor.map_or(0, |c| program.signature(c).params.len());
        let once = |a: &Answer| self.answers.iter().filter(|b| b.method == a.method).count() == 1;
        let valued = |a: &Answer| a.value.is_none() || !program.signature(a.method).ret.is_void();
        let acts = |a: &Answer| a.act.as_ref().is_none_or(|act| self.act_fits(program, a.method, act));
        self.args.len() == arity && self.answers.iter().all(|a| known.contains(&a.method) && once(a) && valued(a) && acts(a))
    }
    fn act_fits(&self, program: &Program, method: MethodId, act: &Act) -> bool {
        let def = program.method(act.method);
        let kind = match def.kind {
            MethodKind::Instance => matches!(act.recv, Some(Given::Param(_) | Given::Var(_))),
            MethodKind::Static => act.recv.is_none(),
            _ => false,
        };
        let params = &program.signature(method).params;
        let fits = |given: Given, ty: Ty| match given {
            Given::Var(_) => true,
            Given::Param(n) => params.get(usize::from(n)).is_some_and(|p| program.assignable(*p, ty) == crate::program::Assignability::Yes),
            Given::This => ty.as_ref().is_some_and(|t| program.is_subtype(self.ty, t)),
        };
        kind && act.args.len() == program.signature(act.method).params.len() && act.given(program).all(|(g, ty)| fits(g, ty))
    }

    /// Whether a test in `scope` may write it.
    pub fn is_open(&self, program: &Program, scope: &Scope) -> bool {
        let acts = self.answers.iter().filter_map(|a| a.act.as_ref());
        stubbable(program, scope, self.ty).is_some()
            && self.ctor.is_some() != program.ty(self.ty).flags.has(Flags::INTERFACE)
            && self.ctor.is_none_or(|c| program.method(c).owner == self.ty && usable_ctor(program, scope, c))
            && acts.into_iter().all(|act| scope.callable(program, act.method))
    }
}

/// The methods that a stub of the type has to define; `None` if a test in `scope` cannot write one.
pub fn stubbable(program: &Program, scope: &Scope, ty: TypeId) -> Option<Vec<MethodId>> {
    let def = program.ty(ty);
    let closed = [Flags::ENUM, Flags::ANNOTATION, Flags::FINAL, Flags::SEALED];
    let kind = (program.is_root(ty) || def.flags.has(Flags::ABSTRACT)) && !closed.iter().any(|f| def.flags.has(*f));
    let nested = def.outer.is_none() || def.flags.has(Flags::STATIC) || def.flags.has(Flags::INTERFACE);
    if !kind || !nested || !scope.nameable(program, ty) || program.supertypes(ty).iter().any(|t| program.ty(*t).missing) {
        return None;
    }
    let required = program.abstract_methods(ty);
    required.iter().all(|m| definable(program, scope, *m) && !program.clashes(ty, *m)).then_some(required)
}

/// Whether a subclass written in `scope` can define the method.
fn definable(program: &Program, scope: &Scope, method: MethodId) -> bool {
    let def = program.method(method);
    let here = program.package(def.owner) == scope.package;
    let signature = program.signature(method);
    let named = signature.params.iter().chain([&signature.ret]).all(|t| scope.nameable_ty(program, *t));
    named && !def.flags.has(Flags::SYNTHETIC) && (matches!(def.access, Access::Public | Access::Protected) || here)
}

/// Whether a subclass written in `scope` can call the constructor.
pub fn usable_ctor(program: &Program, scope: &Scope, ctor: MethodId) -> bool {
    let def = program.method(ctor);
    let open = matches!(def.access, Access::Public | Access::Protected) || (def.access == Access::Package && program.package(def.owner) == scope.package);
    let named = program.signature(ctor).params.iter().all(|t| !matches!(t.base, crate::program::Base::Ref(id) if program.ty(id).missing));
    def.kind == MethodKind::Constructor && open && named && !def.flags.has(Flags::SYNTHETIC)
}

/// A stub by names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortableStub {
    pub ty: TyName,
    pub ctor: Option<MemberName>,
    pub args: Vec<Var>,
    pub answers: Vec<PortableAnswer>,
}

/// An answer by names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortableAnswer {
    pub method: MemberName,
    pub value: Option<Var>,
    pub act: Option<PortableAct>,
}

/// A stub's call by names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortableAct {
    pub method: MemberName,
    pub recv: Option<Given>,
    pub args: Vec<Given>,
}

pub(super) fn name_stub(program: &Program, stub: &Stub) -> PortableStub {
    let name = |m: MethodId| method_name(program, m);
    let act = |act: &Act| PortableAct { method: name(act.method), recv: act.recv, args: act.args.clone() };
    let answer = |a: &Answer| PortableAnswer { method: name(a.method), value: a.value, act: a.act.as_ref().map(act) };
    PortableStub {
        ty: ty_name(program, Ty::reference(stub.ty)),
        ctor: stub.ctor.map(name),
        args: stub.args.clone(),
        answers: stub.answers.iter().map(answer).collect(),
    }
}

pub(super) fn find_stub(program: &Program, stub: &PortableStub) -> Result<Stub, Unknown> {
    let act = |act: &PortableAct| Ok(Act { method: find_method(program, &act.method)?, recv: act.recv, args: act.args.clone() });
    let answer = |a: &PortableAnswer| Ok(Answer { method: find_method(program, &a.method)?, value: a.value, act: a.act.as_ref().map(act).transpose()? });
    Ok(Stub {
        ty: find_ty(program, &stub.ty)?.as_ref().ok_or_else(|| Unknown(format!("type {}", stub.ty.0)))?,
        ctor: stub.ctor.as_ref().map(|c| find_method(program, c)).transpose()?,
        args: stub.args.clone(),
        answers: stub.answers.iter().map(answer).collect::<Result<_, Unknown>>()?,
    })
}
