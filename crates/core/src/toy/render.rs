//! A test as a class of the toy language itself, so that the written text can be loaded and run with the program it is for.

use std::fmt::Write;

use crate::goal::CrashGoal;
use crate::program::{FieldId, MethodKind, Program};
use crate::target::{Render, RenderStyle, RenderedTest};
use crate::testcase::{Stmt, TestCase, Var};

/// See the module documentation.
pub struct Renderer;

impl Render for Renderer {
    fn render(&self, program: &Program, goal: &CrashGoal, level: usize, test: &TestCase, style: &RenderStyle) -> Result<RenderedTest, String> {
        let class = format!("{}_Crash", program.type_name(goal.frame(level).class));
        let mut text = format!("# {} {}\nclass {class} {{\n  static method crash() {{\n", style.header.tool, style.header.reached);
        for (var, stmt) in (0u32..).map(Var).zip(&test.stmts) {
            let value = if test.ty(program, var).is_void() { String::new() } else { format!("v{} = ", var.0) };
            writeln!(text, "    {value}{}", statement(program, stmt)?).expect("a string takes any text");
        }
        text.push_str("  }\n}\n");
        Ok(RenderedTest { path: format!("{class}.toy").into(), name: class, method: "crash".into(), text })
    }
}

fn statement(program: &Program, stmt: &Stmt) -> Result<String, String> {
    let list = |args: &[Var]| args.iter().map(|v| format!("v{}", v.0)).collect::<Vec<_>>().join(", ");
    let place = |field: FieldId, recv: Option<Var>| match recv {
        Some(recv) => format!("v{}.{}", recv.0, program.field_name(field)),
        None => format!("{}.{}", program.type_name(program.field(field).owner), program.field_name(field)),
    };
    Ok(match stmt {
        Stmt::Lit(v) => v.as_i64().ok_or("the language has no floats")?.to_string(),
        Stmt::Str(s) => format!("\"{}\"", s.escape_default()),
        Stmt::Null(_) => "null".to_string(),
        Stmt::GetStatic(f) => place(*f, None),
        Stmt::GetField { field, recv } => place(*field, Some(*recv)),
        Stmt::SetField { field, recv, value } => format!("{} = v{}", place(*field, *recv), value.0),
        Stmt::New { ctor, args } => format!("new {}({})", program.type_name(program.method(*ctor).owner), list(args)),
        Stmt::Call { method, recv, args } => {
            let def = program.method(*method);
            let on = match (def.kind, recv) {
                (MethodKind::Instance, Some(recv)) => format!("v{}", recv.0),
                _ => program.type_name(def.owner).to_string(),
            };
            format!("{on}.{}({})", program.method_name(*method), list(args))
        }
        Stmt::Class(_)
        | Stmt::NewArray { .. }
        | Stmt::ArraySet { .. }
        | Stmt::ArrayGet { .. }
        | Stmt::Cast { .. }
        | Stmt::Data(_)
        | Stmt::Stub(_)
        | Stmt::Env(_) => {
            return Err("the language has no arrays, casts, class literals, stubs and untyped values".to_string());
        }
    })
}
