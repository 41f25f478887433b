//! Which methods a class that extends or implements a type has to define. Whether anybody may write such a class is not asked here.

use super::{Assignability, Flags, MethodId, MethodKind, Program, Ty, TypeId};

impl Program {
    /// Abstract methods that nothing in the hierarchy of `ty` implements, each name and signature once, nearest declaration first.
    pub fn abstract_methods(&self, ty: TypeId) -> Vec<MethodId> {
        let supertypes = self.supertypes(ty);
        let mut declared: Vec<MethodId> = supertypes.iter().flat_map(|t| self.methods_of(*t)).filter(|m| self.is_overridable(*m)).collect();
        // what every object has implements what an interface declares
        if let Some(root) = self.well_known().object.as_ref()
            && !supertypes.contains(&root)
        {
            declared.extend(self.methods_of(root).filter(|m| self.is_overridable(*m)));
        }
        let mut out: Vec<MethodId> = Vec::new();
        for m in declared.iter().filter(|m| self.method(**m).flags.has(Flags::ABSTRACT)) {
            let known = out.iter().any(|o| self.same_call(*o, *m));
            if !known && !declared.iter().any(|other| self.implements(*other, *m)) {
                out.push(*m);
            }
        }
        out
    }

    /// Whether source cannot define `method` in a subtype of `ty`: another method with its name and parameters returns what its result cannot be at the
    /// same time, as when a platform gained a method that an older interface declares otherwise.
    pub fn clashes(&self, ty: TypeId, method: MethodId) -> bool {
        let (name, signature) = (self.method(method).name, self.signature(method));
        let others = self.supertypes(ty).into_iter().flat_map(|t| self.methods_of(t)).filter(|m| self.method(*m).name == name && self.is_overridable(*m));
        let fits = |a: Ty, b: Ty| {
            a == b || (a.is_reference() && b.is_reference() && (self.assignable(a, b) != Assignability::No || self.assignable(b, a) != Assignability::No))
        };
        others.map(|m| self.signature(m)).any(|other| other.params == signature.params && !fits(other.ret, signature.ret))
    }

    /// Whether everything else is below the type.
    pub fn is_root(&self, ty: TypeId) -> bool {
        self.well_known().object == Ty::reference(ty)
    }

    /// Public methods that every object has and a subtype of `ty` may define anew: what a user's own class says of itself (`toString`, `equals`).
    pub fn universal_methods(&self, ty: TypeId) -> Vec<MethodId> {
        let Some(root) = self.well_known().object.as_ref() else { return Vec::new() };
        let open = |m: &MethodId| self.is_overridable(*m) && self.method(*m).access == super::Access::Public && !self.method(*m).flags.has(Flags::FINAL);
        let mut out: Vec<MethodId> = self.methods_of(root).filter(open).collect();
        let closed: Vec<MethodId> =
            self.supertypes(ty).into_iter().flat_map(|t| self.methods_of(t)).filter(|m| self.method(*m).flags.has(Flags::FINAL)).collect();
        out.retain(|m| !closed.iter().any(|c| self.same_call(*c, *m)));
        out
    }

    fn is_overridable(&self, method: MethodId) -> bool {
        self.method(method).kind == MethodKind::Instance && self.method(method).access != super::Access::Private
    }

    fn same_call(&self, a: MethodId, b: MethodId) -> bool {
        let (a, b) = (self.method(a), self.method(b));
        a.name == b.name && a.desc == b.desc
    }

    /// Whether `other` gives `method` its code: a class's code counts before any interface's, an interface's only below the declaration.
    fn implements(&self, other: MethodId, method: MethodId) -> bool {
        if !self.same_call(other, method) || self.method(other).flags.has(Flags::ABSTRACT) {
            return false;
        }
        let (owner, declares) = (self.method(other).owner, self.method(method).owner);
        let of_class = |t: TypeId| !self.ty(t).flags.has(Flags::INTERFACE);
        // a class that declares a method abstract again takes the code away from its subclasses
        (of_class(owner) && !of_class(declares)) || self.is_subtype(owner, declares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Access, BodySource, NewMethod, NewType, ProgramBuilder, Signature, ir};
    use crate::testcase::stub::stubbable;
    use crate::testcase::validity::{Scope, check};
    use crate::testcase::{Answer, Stmt, Stub, TestCase, Value, Var};

    struct NoBodies;
    impl BodySource for NoBodies {
        fn body(&self, _: &Program, _: MethodId) -> Result<Option<ir::Body>, String> {
            Ok(None)
        }
    }

    const PLAIN: Flags = Flags(0);

    fn define(b: &mut ProgramBuilder, name: &str, above: (Option<&str>, &[&str]), flags: Flags, methods: &[(&str, Flags)]) -> TypeId {
        let package = if name.starts_with("other") { "other" } else { "p" };
        let (superclass, interfaces) = (above.0, above.1.to_vec());
        let new = NewType { name, package, access: Access::Public, flags, superclass, interfaces, outer: None, origin: 0, platform: false };
        let id = b.define(new).unwrap();
        for (name, flags) in methods {
            let access = if name.starts_with("package") { Access::Package } else { Access::Public };
            let new = NewMethod { name, desc: "()I", kind: MethodKind::Instance, access, flags: *flags };
            b.add_method(id, new, |_| Signature { params: Box::new([]), ret: Ty::INT });
        }
        id
    }

    fn program() -> Program {
        let mut b = ProgramBuilder::new();
        b.well_known("object", "string", "class");
        let interface = Flags::INTERFACE.with(Flags::ABSTRACT);
        define(&mut b, "object", (None, &[]), PLAIN, &[("hash", PLAIN)]);
        define(&mut b, "string", (Some("object"), &[]), PLAIN, &[]);
        define(&mut b, "class", (Some("object"), &[]), PLAIN, &[]);
        define(&mut b, "top", (Some("object"), &[]), interface, &[("a", Flags::ABSTRACT), ("b", Flags::ABSTRACT), ("hash", Flags::ABSTRACT)]);
        define(&mut b, "mid", (Some("object"), &["top"]), interface, &[("b", PLAIN), ("c", Flags::ABSTRACT)]);
        define(&mut b, "base", (Some("object"), &["mid"]), Flags::ABSTRACT, &[("a", PLAIN)]);
        define(&mut b, "again", (Some("base"), &["mid"]), Flags::ABSTRACT, &[("a", Flags::ABSTRACT)]);
        define(&mut b, "other.closed", (Some("object"), &[]), interface, &[("package", Flags::ABSTRACT)]);
        let older = define(&mut b, "older", (Some("object"), &["mid"]), interface, &[]);
        let clash = NewMethod { name: "b", desc: "()V", kind: MethodKind::Instance, access: Access::Public, flags: Flags::ABSTRACT };
        b.add_method(older, clash, |_| Signature { params: Box::new([]), ret: Ty::VOID });
        b.finish(Box::new(NoBodies))
    }

    #[test]
    fn what_something_implements_need_not_be_defined() {
        let program = program();
        let names = |ty: &str| -> Vec<String> {
            let required = program.abstract_methods(program.find_type(ty).unwrap());
            required.iter().map(|m| program.qualified(*m)).collect()
        };
        assert_eq!(names("top"), ["top.a", "top.b"], "every object has a hash");
        assert_eq!(names("mid"), ["mid.c", "top.a"], "the interface implements one itself");
        assert_eq!(names("base"), ["mid.c"]);
        assert_eq!(names("again"), ["again.a", "mid.c"], "declared abstract again");
        let scope = Scope { package: "p".into() };
        assert!(stubbable(&program, &scope, program.find_type("other.closed").unwrap()).is_none(), "nobody else can define a method of that package");
        assert!(stubbable(&program, &scope, program.find_type("mid").unwrap()).is_some());
        assert!(stubbable(&program, &scope, program.find_type("older").unwrap()).is_none(), "two results for one call");
    }

    #[test]
    fn an_answer_is_a_value_of_a_method_that_the_stub_has() {
        let program = program();
        let (ty, scope) = (program.find_type("mid").unwrap(), Scope { package: "p".into() });
        let test = |method: MethodId, value: Value| {
            let answers = vec![Answer { method, value: Some(Var(0)), act: None }];
            TestCase { stmts: vec![Stmt::Lit(value), Stmt::Stub(Box::new(Stub { ty, ctor: None, args: Vec::new(), answers }))] }
        };
        let required = program.abstract_methods(ty);
        assert_eq!(check(&program, &scope, &test(required[0], Value::Int(1))), Ok(()));
        assert_eq!(check(&program, &scope, &test(required[0], Value::Bool(true))).unwrap_err().rule, "V2 types");
        let implemented = program.methods_of(ty).next().unwrap();
        assert_eq!(check(&program, &scope, &test(implemented, Value::Int(1))).unwrap_err().rule, "V2 types");
    }
}
