//! Stubs as Java: a lambda where one method is all there is to define and the program knows lambdas, else an anonymous class.
//!
//! Every abstract method is defined, and whatever else has an answer, with erased types, so that javac accepts it whatever the type's own
//! parameters are. Methods without an answer return what memory starts out with.

use rethrow_core::program::{Flags, MethodId, Ty, TypeId};
use rethrow_core::testcase::{Act, Given, Stmt, Stub};

use super::access;
use super::body::{Expr, Writer, default_value, joined};
use super::erasure;

/// Class files of Java 8 and later.
const JAVA_8: u16 = 52;
/// Parameters of stubs' methods are called so.
pub(super) const PARAMETER: &str = "given";
/// More parameters than these have no name.
pub(super) const MAX_PARAMETERS: usize = 20;

/// A method to define.
struct Method<'m> {
    id: MethodId,
    name: &'m str,
    params: Vec<Ty>,
    ret: Ty,
}

pub(super) fn parameter(i: usize) -> String {
    if i == 0 { PARAMETER.to_string() } else { format!("{PARAMETER}{}", i + 1) }
}

impl Writer<'_> {
    /// The expression; its lines end with `\n`.
    pub(super) fn stub(&self, stub: &Stub) -> Result<String, String> {
        self.complete_type(stub.ty)?;
        let methods = self.stub_methods(stub)?;
        match &methods[..] {
            [only] if self.is_lambda(stub, only) => self.lambda(stub, only),
            _ => self.anonymous(stub, &methods),
        }
    }

    fn stub_methods(&self, stub: &Stub) -> Result<Vec<Method<'_>>, String> {
        let ty = stub.ty;
        let mut out: Vec<Method<'_>> = Vec::new();
        let mut defined = self.program.abstract_methods(ty);
        defined.extend(stub.overridden(&defined));
        for id in defined {
            let name = self.program.method_name(id);
            if !access::is_member_identifier(name) {
                return Err(format!("{name} is no name that Java can write"));
            }
            let (params, ret) = erasure::seen_from(self.program, self.scope.generics, ty, id)
                .ok_or_else(|| format!("{} has a signature that cannot be read", self.program.qualified(id)))?;
            if params.len() > MAX_PARAMETERS {
                return Err(format!("{} has too many parameters", self.program.qualified(id)));
            }
            // two declarations of one method: the one with the narrower result serves both
            match out.iter_mut().find(|m| m.name == name && m.params == params) {
                Some(known) if self.is_subtype(ret, known.ret) => known.ret = ret,
                Some(_) => {}
                None => out.push(Method { id, name, params, ret }),
            }
        }
        Ok(out)
    }

    fn is_lambda(&self, stub: &Stub, method: &Method<'_>) -> bool {
        if !self.program.method(method.id).flags.has(Flags::ABSTRACT) {
            return false;
        }
        let this = |act: &Act| act.recv.iter().chain(&act.args).any(|g| *g == Given::This);
        let generics = self.scope.generics.of(self.program, self.program.method(method.id).owner);
        let generic_method = generics.signature_of(self.program, method.id).is_some_and(|s| s.starts_with('<'));
        let acts = stub.answer(method.id).and_then(|a| a.act.as_ref());
        self.program.ty(stub.ty).flags.has(Flags::INTERFACE) && !generic_method && !acts.is_some_and(this) && self.knows_lambdas(stub.ty)
    }

    /// Whether the program was compiled for a Java that has lambdas.
    fn knows_lambdas(&self, ty: TypeId) -> bool {
        let callees = self.test.stmts.iter().filter_map(Stmt::callee).map(|m| self.program.method(m).owner);
        let mut own = callees.chain([ty]).filter(|t| !self.program.ty(*t).platform).peekable();
        own.peek().is_some() && own.all(|t| self.scope.generics.of(self.program, t).version >= JAVA_8)
    }

    fn lambda(&self, stub: &Stub, method: &Method<'_>) -> Result<String, String> {
        let names: Vec<String> = (0..method.params.len()).map(parameter).collect();
        let params = if let [one] = &names[..] { one.clone() } else { format!("({})", names.join(", ")) };
        let act = self.acts(stub, method)?;
        let result = self.result(stub, method)?.map(|value| self.unparameterised(stub, method, value)).transpose()?;
        Ok(match (act, result) {
            (None, None) => format!("{params} -> {{}}"),
            (None, Some(value)) => format!("{params} -> {value}"),
            (Some(act), None) => format!("{params} -> {act}"),
            (Some(act), Some(value)) => format!("{params} -> {{\n    {act};\n    return {value};\n}}"),
        })
    }

    /// A lambda's result is checked against the method's own result type, with its parameters: `Class<? extends Annotation>` takes no `Object.class`,
    /// but it takes any raw `Class`.
    fn unparameterised(&self, stub: &Stub, method: &Method<'_>, value: String) -> Result<String, String> {
        let generics = self.scope.generics.of(self.program, self.program.method(method.id).owner);
        let result = generics.signature_of(self.program, method.id).and_then(|s| s.rsplit_once(')'));
        let parameterised = result.is_some_and(|(_, result)| result.contains('<'));
        let answered = stub.answer(method.id).is_some_and(|a| a.value.is_some());
        Ok(if parameterised && answered { format!("({}) {value}", self.type_name(method.ret)?) } else { value })
    }

    fn anonymous(&self, stub: &Stub, methods: &[Method<'_>]) -> Result<String, String> {
        let args = match stub.ctor {
            None => String::new(),
            Some(ctor) => {
                let exprs = self.operands(ctor, &stub.args)?;
                joined(&self.arguments(ctor, stub.ty, exprs, self.is_raw(Ty::reference(stub.ty)))?)
            }
        };
        let mut lines = vec![format!("new {}({args}) {{", self.type_name(Ty::reference(stub.ty))?)];
        for (i, method) in methods.iter().enumerate() {
            if i > 0 {
                lines.push(String::new());
            }
            let params: Result<Vec<String>, String> =
                method.params.iter().enumerate().map(|(i, ty)| Ok(format!("{} {}", self.type_name(*ty)?, parameter(i)))).collect();
            lines.push(format!("    public {} {}({}) {{", self.type_name(method.ret)?, method.name, params?.join(", ")));
            lines.extend(self.acts(stub, method)?.map(|act| format!("        {act};")));
            lines.extend(self.result(stub, method)?.map(|value| format!("        return {value};")));
            lines.push("    }".into());
        }
        lines.push("}".into());
        Ok(lines.join("\n"))
    }

    /// What the method returns; `None` if nothing.
    fn result(&self, stub: &Stub, method: &Method<'_>) -> Result<Option<String>, String> {
        if method.ret.is_void() {
            return Ok(None);
        }
        match stub.answer(method.id).and_then(|a| a.value) {
            Some(value) => self.assigned(value, method.ret).map(Some),
            None => Ok(Some(default_value(method.ret).to_string())),
        }
    }

    /// The call that the method makes.
    fn acts(&self, stub: &Stub, method: &Method<'_>) -> Result<Option<String>, String> {
        let Some(act) = stub.answer(method.id).and_then(|a| a.act.as_ref()) else { return Ok(None) };
        self.check_callable(act.method)?;
        let generics = self.scope.generics.of(self.program, self.program.method(act.method).owner);
        if let Some(checked) = generics.thrown(self.program, act.method).iter().find(|e| self.is_checked(e)) {
            return Err(format!("{} throws {checked}, which a stub may not", self.program.qualified(act.method)));
        }
        let mut exprs: Vec<Expr> = Vec::new();
        for (given, need) in act.given(self.program) {
            exprs.push(match given {
                Given::Var(v) => self.operand(v, need)?,
                Given::This => Expr::primary("this".into(), Ty::reference(stub.ty)),
                Given::Param(i) => Expr::primary(parameter(usize::from(i)), method.params.get(usize::from(i)).copied().unwrap_or(need)),
            });
        }
        let receiver = exprs.remove(0);
        self.instance_call(act.method, receiver, exprs).map(Some)
    }

    fn is_checked(&self, exception: &str) -> bool {
        let above = |name: &str| self.program.find_type(exception).zip(self.program.find_type(name)).is_some_and(|(e, t)| self.program.is_subtype(e, t));
        !above("java.lang.RuntimeException") && !above("java.lang.Error")
    }
}
