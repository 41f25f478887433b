//! Which tests will probably not compile: those that call what was only ever seen where the compiler found an error. One such test costs its whole part a
//! second compilation, so they wait until nothing else is left, and no further ones are made.

use std::collections::{BTreeMap, BTreeSet};

use rethrow_core::program::{MethodId, Program};
use rethrow_core::testcase::{Stmt, TestCase};

use super::suites::method_name;

/// So many tests must have failed to compile before what they call is not called any more: one may have been the fault of its arguments.
const TELLING: u32 = 2;

/// See the module documentation.
#[derive(Default)]
pub struct Suspects {
    fine: BTreeSet<MethodId>,
    bad: BTreeMap<MethodId, u32>,
}

impl Suspects {
    pub fn note_fine(&mut self, test: &TestCase) {
        self.fine.extend(methods(test));
    }

    /// `line` is what the compiler refused: to blame is what the line names, or else all that the test calls.
    pub fn note_bad(&mut self, program: &Program, test: &TestCase, line: &str) {
        let mut blamed: BTreeSet<MethodId> = methods(test).filter(|m| names(line, &method_name(program, *m))).collect();
        if blamed.is_empty() {
            blamed = methods(test).collect();
        }
        blamed.into_iter().for_each(|m| *self.bad.entry(m).or_default() += 1);
    }

    pub fn suspects(&self, test: &TestCase) -> bool {
        !self.bad.is_empty() && methods(test).any(|m| self.bad.contains_key(&m) && !self.fine.contains(&m))
    }

    /// What the compiler refuses whenever it is called, as far as was seen.
    pub fn refused(&self) -> impl Iterator<Item = MethodId> {
        self.bad.iter().filter(|(m, times)| **times >= TELLING && !self.fine.contains(m)).map(|(m, _)| *m)
    }
}

/// Whether a line of code has the word; what `method_name` makes of a constructor is `newFoo`.
fn names(line: &str, method: &str) -> bool {
    let word = |name: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|w| w == name);
    word(method) || method.strip_prefix("new").is_some_and(|class| line.contains("new ") && word(class))
}

/// What a test calls, and what it implements.
fn methods(test: &TestCase) -> impl Iterator<Item = MethodId> {
    let implemented = |stmt: &Stmt| match stmt {
        Stmt::Stub(stub) => stub.answers.iter().map(|a| a.method).collect(),
        _ => Vec::new(),
    };
    test.stmts.iter().flat_map(move |stmt| stmt.callee().into_iter().chain(implemented(stmt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "class Till {
  new() {
  }
  method take(n int) int {
    return n
  }
  static method give(n int) int {
    return n
  }
}";

    #[test]
    fn to_blame_is_what_the_line_names_unless_it_compiled_elsewhere() {
        let program = rethrow_core::toy::load(CODE).unwrap();
        let till = program.find_type("Till").unwrap();
        let [new, take, give]: [MethodId; 3] = program.methods_of(till).collect::<Vec<_>>().try_into().unwrap();
        let calls = |ids: &[MethodId]| TestCase { stmts: ids.iter().map(|m| Stmt::Call { method: *m, recv: None, args: Vec::new() }).collect() };
        let mut suspects = Suspects::default();
        assert!(!suspects.suspects(&calls(&[give])));
        suspects.note_bad(&program, &calls(&[new, take, give]), "int i = till.take(3);");
        assert!(suspects.suspects(&calls(&[take])) && !suspects.suspects(&calls(&[new, give])));
        assert_eq!(suspects.refused().count(), 0, "once may be the fault of the arguments");
        suspects.note_bad(&program, &calls(&[new, take]), "Till till = new Till(); mistake();");
        assert_eq!(suspects.bad[&new], 1);
        suspects.note_bad(&program, &calls(&[take, give]), "}");
        assert_eq!(suspects.refused().collect::<Vec<_>>(), [take], "where the line names nothing, all are to blame");
        suspects.note_fine(&calls(&[take, give]));
        assert!(!suspects.suspects(&calls(&[take, give])) && suspects.suspects(&calls(&[new])));
        assert_eq!(suspects.refused().count(), 0);
    }
}
