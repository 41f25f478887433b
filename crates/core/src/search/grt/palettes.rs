//! What tests of a package are built from, and what can be called with it: one palette for each package of the classes under test.

use std::rc::Rc;

use super::World;
use super::subjects::{self, Subject};
use crate::program::purity::Purity;
use crate::program::{Flags, Program, TypeId};
use crate::search::targets::{BuildRules, banned};
use crate::testcase::build::customs::Customs;
use crate::testcase::build::producers::PaletteSpec;
use crate::testcase::build::{LiteralPool, Palette};
use crate::testcase::validity::Scope;

/// Types named as class literals in one package.
const MAX_LITERAL_TYPES: usize = 12;

/// A palette for each package, and what can be called with it.
pub fn subjects_of<'p>(world: &World<'p>, literals: &LiteralPool, purity: &Rc<Purity>) -> (Vec<Palette<'p>>, Vec<Subject>) {
    let program = world.program;
    let mut packages: Vec<&str> = Vec::new();
    for ty in world.types {
        let package = package_of(program, world.rules, *ty);
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let banned = banned(program, world.rules);
    let (mut palettes, mut all) = (Vec::new(), Vec::new());
    for (index, package) in packages.iter().enumerate() {
        let here: Vec<TypeId> = world.types.iter().copied().filter(|t| package_of(program, world.rules, *t) == *package).collect();
        let mut palette = Palette::new(PaletteSpec {
            program,
            scope: Scope { package: (*package).to_string() },
            trace_types: Vec::new(),
            literals: literals.clone(),
            plain_packages: world.rules.plain_packages,
            customs: Customs::new(program, world.rules),
            banned: banned.clone(),
        });
        palette.name_as_literals(literal_types(program, &here));
        palette.know_purity(purity.clone());
        all.extend(here.iter().flat_map(|t| subjects::of_class(&palette, index, *t, world.oracle.hidden)));
        palettes.push(palette);
    }
    (palettes, all)
}

fn package_of<'p>(program: &'p Program, rules: &'p BuildRules, ty: TypeId) -> &'p str {
    let package = program.package(ty);
    if rules.closed_packages.iter().any(|p| p == package) { rules.elsewhere } else { package }
}

/// Enumerations first: they are what types are most often asked for.
fn literal_types(program: &Program, types: &[TypeId]) -> Vec<TypeId> {
    let mut out: Vec<TypeId> = types.to_vec();
    out.sort_by_key(|t| !program.ty(*t).flags.has(Flags::ENUM));
    out.truncate(MAX_LITERAL_TYPES);
    out
}
