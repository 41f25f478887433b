//! Random tests for measuring: calls of static methods, whose arguments are literals, constants, small arrays or plain new objects, else null.
//!
//! A function of the seed. Not a search: nothing is reused and nothing is learned, so that every test costs what its calls cost.

use rethrow_core::program::{Access, Assignability, FieldId, Flags, MethodId, MethodKind, Prim, Program, Ty, TypeId};
use rethrow_core::rng::Rng;
use rethrow_core::testcase::{Stmt, TestCase, Value, Var};
use rustc_hash::FxHashMap;

/// Calls in one test.
const CALLS: usize = 5;
/// How often a reference is null although there is something else.
const NULL: f64 = 0.1;
const MAX_ARRAY: usize = 3;
const MAX_DEPTH: u32 = 3;

const INTS: [i64; 10] = [0, 1, -1, 2, 5, 10, 97, 100, i32::MAX as i64, i32::MIN as i64];
const REALS: [f64; 8] = [0.0, 1.0, -1.5, 0.1, 100.0, 1e10, f64::NAN, f64::INFINITY];
const TEXTS: [&str; 14] = ["", "a", "abc", "Hello World", "12", "-1.5e3", "0x1F", "true", "  x ", "en_GB", "a,b,c", "Zz9", "yyyy-MM-dd", "&lt;\u{e9}"];
/// What stands for an interface.
const STAND_INS: [(&str, &str); 5] = [
    ("java.util.List", "java.util.ArrayList"),
    ("java.util.Collection", "java.util.ArrayList"),
    ("java.lang.Iterable", "java.util.ArrayList"),
    ("java.util.Set", "java.util.HashSet"),
    ("java.util.Map", "java.util.HashMap"),
];

/// A way to get an object.
#[derive(Clone, Copy)]
enum Way {
    Constant(FieldId),
    New(MethodId),
}

/// See the module documentation.
pub struct Calls<'p> {
    program: &'p Program,
    methods: Vec<MethodId>,
    rng: Rng,
    ways: FxHashMap<TypeId, Vec<Way>>,
    test: TestCase,
}

impl<'p> Calls<'p> {
    pub fn new(program: &'p Program, methods: Vec<MethodId>, seed: u64) -> Calls<'p> {
        Calls { program, methods, rng: Rng::stream(seed, "bench"), ways: FxHashMap::default(), test: TestCase::default() }
    }

    pub fn take(mut self, count: usize) -> Vec<TestCase> {
        (0..count).map(|_| self.test()).collect()
    }

    fn test(&mut self) -> TestCase {
        for _ in 0..CALLS {
            if let Some(method) = self.rng.pick(&self.methods).copied() {
                let args = self.arguments(method, 0);
                self.test.push(Stmt::Call { method, recv: None, args });
            }
        }
        std::mem::take(&mut self.test)
    }

    fn arguments(&mut self, method: MethodId, depth: u32) -> Vec<Var> {
        let program = self.program;
        program.signature(method).params.iter().map(|ty| self.value(*ty, depth)).collect()
    }

    fn value(&mut self, ty: Ty, depth: u32) -> Var {
        if let Some(prim) = ty.as_prim() {
            let value = self.number(prim);
            return self.test.push(Stmt::Lit(value));
        }
        if self.rng.chance(NULL) || depth >= MAX_DEPTH {
            return self.test.push(Stmt::Null(ty));
        }
        let known = self.program.well_known();
        if self.program.assignable(known.string, ty) == Assignability::Yes {
            let text = TEXTS[self.rng.below(TEXTS.len())];
            return self.test.push(Stmt::Str(text.into()));
        }
        if ty == known.class {
            return self.test.push(Stmt::Class(known.string));
        }
        match ty.element() {
            Some(elem) => self.array(elem, depth),
            None => self.object(ty, depth),
        }
    }

    fn number(&mut self, prim: Prim) -> Value {
        match prim {
            Prim::Double => Value::double(REALS[self.rng.below(REALS.len())]),
            Prim::Float => Value::float(REALS[self.rng.below(REALS.len())] as f32),
            _ => Value::of_int(prim, INTS[self.rng.below(INTS.len())]),
        }
    }

    fn array(&mut self, elem: Ty, depth: u32) -> Var {
        let len = self.rng.below(MAX_ARRAY + 1) as u32;
        let array = self.test.push(Stmt::NewArray { elem, len });
        for index in 0..len {
            let value = self.value(elem, depth + 1);
            self.test.push(Stmt::ArraySet { array, index, value });
        }
        array
    }

    fn object(&mut self, ty: Ty, depth: u32) -> Var {
        let Some(id) = ty.as_ref() else { return self.test.push(Stmt::Null(ty)) };
        if !self.ways.contains_key(&id) {
            let ways = ways(self.program, id);
            self.ways.insert(id, ways);
        }
        match self.rng.pick(&self.ways[&id]).copied() {
            None => self.test.push(Stmt::Null(ty)),
            Some(Way::Constant(field)) => self.test.push(Stmt::GetStatic(field)),
            Some(Way::New(ctor)) => {
                let args = self.arguments(ctor, depth + 1);
                self.test.push(Stmt::New { ctor, args })
            }
        }
    }
}

/// Constants of the type itself, and constructors that need no further objects.
fn ways(program: &Program, ty: TypeId) -> Vec<Way> {
    let stand_in = STAND_INS.iter().find(|(name, _)| *name == program.type_name(ty)).and_then(|(_, class)| program.find_type(class));
    let ty = stand_in.unwrap_or(ty);
    let def = program.ty(ty);
    if def.access != Access::Public || def.missing {
        return Vec::new();
    }
    let constant = Flags::STATIC.with(Flags::FINAL);
    let fields = program.fields_of(ty).filter(|f| {
        let field = program.field(*f);
        field.access == Access::Public && field.flags.has(constant) && field.ty == Ty::reference(ty)
    });
    let mut ways: Vec<Way> = fields.map(Way::Constant).collect();
    if !def.flags.has(Flags::ABSTRACT) && !def.flags.has(Flags::INTERFACE) {
        let string = program.well_known().string;
        let plain = |m: &MethodId| program.signature(*m).params.iter().all(|p| p.as_prim().is_some() || *p == string);
        let public = |m: &MethodId| program.method(*m).kind == MethodKind::Constructor && program.method(*m).access == Access::Public;
        ways.extend(program.methods_of(ty).filter(public).filter(plain).map(Way::New));
    }
    ways
}

/// Every public static method of the public classes of the program.
pub fn public_statics(program: &Program) -> Vec<MethodId> {
    let types = program.types().filter(|t| !program.ty(*t).platform && !program.ty(*t).missing && is_public(program, *t));
    types.flat_map(|t| program.methods_of(t)).filter(|m| is_public_static(program, *m)).collect()
}

/// Methods of the JDK that compute numbers from numbers and can touch nothing else.
pub fn harmless(program: &Program) -> Vec<MethodId> {
    let classes = ["java.lang.Math", "java.lang.Integer", "java.lang.Long", "java.lang.Double", "java.lang.Character"];
    let methods = classes.iter().filter_map(|name| program.find_type(name)).flat_map(|t| program.methods_of(t));
    let numbers = |m: &MethodId| {
        let signature = program.signature(*m);
        signature.ret.as_prim().is_some() && signature.params.iter().all(|p| p.as_prim().is_some())
    };
    methods.filter(|m| is_public_static(program, *m)).filter(numbers).collect()
}

fn is_public(program: &Program, ty: TypeId) -> bool {
    let def = program.ty(ty);
    def.access == Access::Public && def.outer.is_none_or(|outer| is_public(program, outer))
}

fn is_public_static(program: &Program, method: MethodId) -> bool {
    let def = program.method(method);
    def.kind == MethodKind::Static && def.access == Access::Public && !def.flags.has(Flags::SYNTHETIC)
}
