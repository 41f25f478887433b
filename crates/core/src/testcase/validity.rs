//! When a test case is well formed (V1–V11 of the design), and who may name what from the package that the test lives in.

use super::{Stmt, TestCase, Var};
use crate::program::{Access, Assignability, FieldId, Flags, MethodId, MethodKind, Program, Ty, TypeId};

/// The place a test is written to: it decides which members it can name (V3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub package: String,
}

impl Scope {
    /// Public all the way out, or of the same package.
    pub fn nameable(&self, program: &Program, ty: TypeId) -> bool {
        let def = program.ty(ty);
        if def.missing || def.flags.has(Flags::UNNAMEABLE) || def.flags.has(Flags::SYNTHETIC) {
            return false;
        }
        let open = def.access == Access::Public || (def.access != Access::Private && program.text(def.package) == self.package);
        open && def.outer.is_none_or(|o| self.nameable(program, o))
    }
    pub fn nameable_ty(&self, program: &Program, ty: Ty) -> bool {
        match ty.base {
            crate::program::Base::Ref(t) => self.nameable(program, t),
            _ => true,
        }
    }
    pub(super) fn open(&self, program: &Program, owner: TypeId, access: Access, flags: Flags) -> bool {
        let same = program.package(owner) == self.package;
        let visible = access == Access::Public || (access != Access::Private && same);
        visible && !flags.has(Flags::SYNTHETIC) && !flags.has(Flags::BRIDGE) && self.nameable(program, owner)
    }
    /// Whether the test may call it; constructors of abstract types may not.
    pub fn callable(&self, program: &Program, method: MethodId) -> bool {
        let def = program.method(method);
        let owner = program.ty(def.owner);
        let buildable = !owner.flags.has(Flags::ABSTRACT) && !owner.flags.has(Flags::ENUM) && !owner.flags.has(Flags::INTERFACE);
        let fits = match def.kind {
            MethodKind::TypeInitializer => false,
            MethodKind::Constructor => buildable,
            MethodKind::Static | MethodKind::Instance => true,
        };
        fits && self.open(program, def.owner, def.access, def.flags)
    }
    pub fn readable(&self, program: &Program, field: FieldId) -> bool {
        let def = program.field(field);
        self.open(program, def.owner, def.access, def.flags)
    }
}

/// The type that operand number `i` of a statement must have, in the order of [`Stmt::operands`].
pub fn operand_ty(program: &Program, test: &TestCase, stmt: &Stmt, i: usize) -> Ty {
    match stmt {
        Stmt::New { ctor, .. } => program.signature(*ctor).params[i],
        Stmt::Call { method, recv, .. } => match (recv, i) {
            (Some(_), 0) => Ty::reference(program.method(*method).owner),
            (Some(_), i) => program.signature(*method).params[i - 1],
            (None, i) => program.signature(*method).params[i],
        },
        Stmt::GetField { field, .. } => Ty::reference(program.field(*field).owner),
        Stmt::SetField { field, recv, .. } => match (recv, i) {
            (Some(_), 0) => Ty::reference(program.field(*field).owner),
            _ => program.field(*field).ty,
        },
        Stmt::Stub(stub) => stub.operand_ty(program, i),
        Stmt::ArraySet { array, .. } if i == 1 => test.ty(program, *array).element().unwrap_or(Ty::VOID),
        Stmt::ArraySet { array, .. } | Stmt::ArrayGet { array, .. } => test.ty(program, *array),
        _ => program.well_known().object,
    }
}

/// A rule that a test case breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    pub rule: &'static str,
    pub at: usize,
}

/// The limits of V7.
pub const MAX_STATEMENTS: usize = 40;

/// V1–V5, V7, V9: everything that follows from the test and the program alone.
pub fn check(program: &Program, scope: &Scope, test: &TestCase) -> Result<(), Broken> {
    if test.len() > 2 * MAX_STATEMENTS {
        return Err(Broken { rule: "V7 length", at: test.len() });
    }
    for (at, stmt) in test.stmts.iter().enumerate() {
        let broken = |rule| Err(Broken { rule, at });
        if stmt.operands().iter().any(|v| v.0 as usize >= at) {
            return broken("V1 operands precede use");
        }
        if !operands_fit(program, test, stmt) {
            return broken("V2 types");
        }
        if !members_open(program, scope, stmt) {
            return broken("V3 access");
        }
        if receiver(program, stmt).is_some_and(|r| matches!(test.stmt(r), Stmt::Null(_))) {
            return broken("V4 null receiver");
        }
        if let Stmt::ArraySet { array, index, .. } | Stmt::ArrayGet { array, index } = stmt
            && let Stmt::NewArray { len, .. } = test.stmt(*array)
            && index >= len
        {
            return broken("V5 array index");
        }
    }
    Ok(())
}

/// The test without what the scope does not see, and without what needs that.
pub fn opened(program: &Program, scope: &Scope, test: &TestCase) -> TestCase {
    let mut closed: Vec<bool> = test.stmts.iter().map(|stmt| !members_open(program, scope, stmt)).collect();
    if !closed.contains(&true) {
        return test.clone();
    }
    test.close_over_users(&mut closed);
    test.without(&closed).sweep()
}

fn operands_fit(program: &Program, test: &TestCase, stmt: &Stmt) -> bool {
    let arity = match stmt {
        Stmt::New { ctor: m, args } | Stmt::Call { method: m, args, .. } => args.len() == program.signature(*m).params.len(),
        Stmt::Stub(stub) => stub.fits(program),
        _ => true,
    };
    if let Stmt::Call { method, recv, .. } = stmt
        && recv.is_some() != super::needs_receiver(program, *method)
        // a class's own function may be called on a class below it
        && !(program.is_dynamic() && recv.is_some() && program.method(*method).kind == MethodKind::Static)
    {
        return false;
    }
    arity
        && stmt.operands().iter().enumerate().all(|(i, v)| {
            let (from, to) = (test.ty(program, *v), operand_ty(program, test, stmt, i));
            match stmt {
                Stmt::Cast { ty, .. } => program.assignable(from, *ty) != Assignability::No,
                _ if program.is_dynamic() => program.assignable(from, to) != Assignability::No,
                _ => program.assignable(from, to) == Assignability::Yes,
            }
        })
}

fn members_open(program: &Program, scope: &Scope, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::New { ctor: m, .. } | Stmt::Call { method: m, .. } => scope.callable(program, *m),
        Stmt::GetStatic(f) | Stmt::GetField { field: f, .. } => scope.readable(program, *f),
        Stmt::SetField { field, .. } => scope.readable(program, *field) && !program.field(*field).flags.has(Flags::FINAL),
        Stmt::Stub(stub) => stub.is_open(program, scope),
        Stmt::Env(env) => env.is_sound(),
        Stmt::Class(ty) | Stmt::Cast { ty, .. } | Stmt::NewArray { elem: ty, .. } => scope.nameable_ty(program, *ty),
        _ => true,
    }
}

/// The operand that must not be null for the statement to run at all.
pub fn receiver(program: &Program, stmt: &Stmt) -> Option<Var> {
    match stmt {
        Stmt::New { ctor, args } if program.takes_outer(*ctor) => args.first().copied(),
        Stmt::Call { recv, .. } | Stmt::SetField { recv, .. } => *recv,
        Stmt::GetField { recv, .. } => Some(*recv),
        Stmt::ArraySet { array, .. } | Stmt::ArrayGet { array, .. } => Some(*array),
        _ => None,
    }
}
