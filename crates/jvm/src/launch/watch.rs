//! Which classes are watched how closely, and under which numbers: the core's [`ProbePlan`] and what the workers are told are made together.

use std::borrow::Cow;

use rethrow_core::probe::{self, Point, ProbePlan, Relation};
use rethrow_core::program::{Program, TypeId};

use crate::classfile::ClassFile;
use crate::embed::setup::Watched;
use crate::instrument::{self, Detail, MethodProbes};

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub plan: ProbePlan,
    pub classes: Vec<Watched>,
    /// Classes that cannot be watched, and why.
    pub problems: Vec<String>,
}

/// Watches `types` in full. `bytes` gives a class by its run-time name.
pub fn watch<'b>(program: &Program, types: &[TypeId], bytes: impl Fn(&str) -> Option<Cow<'b, [u8]>>) -> Watch {
    watch_at(Detail::Full, program, types, bytes)
}

/// The same, as closely as `detail` says.
pub fn watch_at<'b>(detail: Detail, program: &Program, types: &[TypeId], bytes: impl Fn(&str) -> Option<Cow<'b, [u8]>>) -> Watch {
    let mut watch = Watch::default();
    watch.also(detail, program, types, bytes);
    watch
}

impl Watch {
    /// Watches more types, as closely as `detail` says.
    pub fn also<'b>(&mut self, detail: Detail, program: &Program, types: &[TypeId], bytes: impl Fn(&str) -> Option<Cow<'b, [u8]>>) {
        for ty in types {
            let name = program.type_name(*ty);
            let Some(bytes) = bytes(name) else {
                self.problems.push(format!("{name} is not on the class path"));
                continue;
            };
            match ClassFile::parse(&bytes) {
                Ok(class) => self.add(detail, program, *ty, &class),
                Err(e) => self.problems.push(format!("{name}: {e}")),
            }
        }
    }

    fn add(&mut self, detail: Detail, program: &Program, ty: TypeId, class: &ClassFile<'_>) {
        let probes = instrument::plan(class, detail);
        let plan = &mut self.plan;
        let first = (plan.points, plan.branches, plan.switches);
        let class = program.type_name(ty).replace('.', "/");
        self.classes.push(Watched { class, detail, first_probe: first.0, first_branch: first.1, first_switch: first.2 });
        for method in &probes.methods {
            // Numbers follow the order of the file, so the lists agree as long as every method takes its share.
            plan.points = first.0 + method.first_hit;
            plan.branches = first.1 + method.first_branch;
            plan.switches = first.2 + method.first_switch;
            if let Some(id) = program.find_method(ty, &method.name, &method.descriptor) {
                let switches = method.switches.iter().map(|s| s.pc).collect();
                plan.add(id, points(method), branches(method), switches);
            }
        }
        plan.points = first.0 + probes.hits;
        plan.branches = first.1 + probes.branches;
        plan.switches = first.2 + probes.switches;
    }
}

fn points(method: &MethodProbes) -> Vec<Point> {
    method.hits.iter().map(|h| Point { pc: h.pc, line: h.line.map(u32::from) }).collect()
}

fn branches(method: &MethodProbes) -> Vec<probe::BranchPoint> {
    method.branches.iter().map(|b| probe::BranchPoint { pc: b.pc, taken_if: relation(b.opcode) }).collect()
}

/// What the difference of the operands has to be for the jump; null counts as 0, anything else as 1.
fn relation(opcode: u8) -> Relation {
    match opcode {
        154 | 160 | 166 | 199 => Relation::Ne,
        155 | 161 => Relation::Lt,
        156 | 162 => Relation::Ge,
        157 | 163 => Relation::Gt,
        158 | 164 => Relation::Le,
        // 153, 159, 165, 198: the instrumenter reports no other opcode.
        _ => Relation::Eq,
    }
}
