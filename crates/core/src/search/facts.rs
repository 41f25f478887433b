//! What executions taught: values that comparisons saw, run-time types of results, how often a call succeeds.
//!
//! Merged in submission order by the evaluator, so the same seed learns the same whatever the number of workers.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{Execution, Outcome, Seen};
use crate::message;
use crate::program::{MethodId, TypeId};
use crate::testcase::{Data, Stmt, TestCase};

/// Values kept of each kind; the oldest give way.
const MAX_SEEN: usize = 400;

#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    tried: u32,
    returned: u32,
    /// Times that it did not come to an end.
    hung: u32,
}

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    ints: Ring<i64>,
    strings: Ring<Arc<str>>,
    /// Texts that were compared with each other and were not equal.
    pairs: Ring<(Arc<str>, Arc<str>)>,
    /// Texts, each with a regular expression that was looked for in it.
    unfit: Ring<(Arc<str>, Arc<str>)>,
    /// Those expressions, each once however many texts it met.
    patterns: Ring<Arc<str>>,
    /// Words that exceptions quoted: what was expected, missing or unknown.
    told: Ring<Arc<str>>,
    /// Members that objects were asked for in vain.
    lacking: Ring<Arc<str>>,
    /// Texts that were refused because they are no number.
    no_numbers: Ring<Arc<str>>,
    /// Numbers and texts of tests that met the goal further in.
    met: Ring<i128>,
    met_texts: Ring<Arc<str>>,
    returned: FxHashMap<MethodId, Vec<TypeId>>,
    /// Classes that objects were refused for not being.
    refused: FxHashMap<MethodId, Vec<Arc<str>>>,
    calls: FxHashMap<MethodId, Calls>,
}

#[derive(Clone, Debug)]
struct Ring<T> {
    items: Vec<T>,
    known: FxHashSet<T>,
    next: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { items: Vec::new(), known: FxHashSet::default(), next: 0 }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Ring<T> {
    fn add(&mut self, item: T) {
        if !self.known.insert(item.clone()) {
            return;
        }
        if self.items.len() < MAX_SEEN {
            self.items.push(item);
        } else {
            self.known.remove(&self.items[self.next]);
            self.items[self.next] = item;
            self.next = (self.next + 1) % MAX_SEEN;
        }
    }
}

impl Facts {
    pub fn ints(&self) -> &[i64] {
        &self.ints.items
    }
    pub fn strings(&self) -> &[Arc<str>] {
        &self.strings.items
    }
    /// Texts that were compared with each other and were not equal.
    pub fn pairs(&self) -> &[(Arc<str>, Arc<str>)] {
        &self.pairs.items
    }
    /// Texts, each with a regular expression that was looked for in it, mostly in vain.
    pub fn unfit(&self) -> &[(Arc<str>, Arc<str>)] {
        &self.unfit.items
    }
    /// Regular expressions that were looked for in some text, mostly in vain.
    pub fn patterns(&self) -> &[Arc<str>] {
        &self.patterns.items
    }
    /// Words that exceptions quoted: what was expected, missing or unknown.
    pub fn told(&self) -> &[Arc<str>] {
        &self.told.items
    }
    /// Members that objects were asked for in vain.
    pub fn lacking(&self) -> &[Arc<str>] {
        &self.lacking.items
    }
    /// Texts that were refused because they are no number.
    pub fn no_numbers(&self) -> &[Arc<str>] {
        &self.no_numbers.items
    }
    /// Numbers of tests that met the goal further in.
    pub fn met(&self) -> &[i128] {
        &self.met.items
    }
    /// Texts of tests that met the goal further in.
    pub fn met_texts(&self) -> &[Arc<str>] {
        &self.met_texts.items
    }
    /// Run-time types of what a method returned.
    pub fn returned(&self, method: MethodId) -> &[TypeId] {
        self.returned.get(&method).map_or(&[], |v| v)
    }
    /// Names of classes that a call of the method asked an object to be, in vain.
    pub fn asked_for(&self, method: MethodId) -> &[Arc<str>] {
        self.refused.get(&method).map_or(&[], |v| v)
    }
    /// How much a way to build an object deserves another try, in (0, 1]: the share of its calls that returned.
    pub fn trust(&self, method: Option<MethodId>) -> f64 {
        let calls = method.and_then(|m| self.calls.get(&m)).copied().unwrap_or_default();
        (f64::from(calls.returned) + 1.0) / (f64::from(calls.tried) + 1.0)
    }
    /// How readily a call is put into a test for its effect, in (0, 1]: one that has hung hardly ever, one that mostly throws less than others.
    pub fn patience(&self, method: MethodId) -> f64 {
        const THROWS: f64 = 0.4;
        const HANGS: f64 = 0.02;
        let least = if self.calls.get(&method).is_some_and(|c| c.hung > 0) { HANGS } else { THROWS };
        self.trust(Some(method)).max(least)
    }
    /// The texts and numbers of a test that met the goal further in: what crashes there is often part of what crashes further out.
    pub fn remember(&mut self, test: &TestCase) {
        let (mut texts, mut numbers): (Vec<&str>, Vec<i128>) = (Vec::new(), Vec::new());
        for stmt in &test.stmts {
            match stmt {
                Stmt::Str(text) => texts.push(text),
                Stmt::Lit(value) => numbers.extend(value.as_i64().map(i128::from)),
                Stmt::Data(data) => leaves_of(data, &mut texts, &mut numbers),
                Stmt::Env(env) => texts.extend(env.text()),
                _ => {}
            }
        }
        numbers.into_iter().filter(|n| n.unsigned_abs() > COMMON).for_each(|n| self.met.add(n));
        for text in texts.into_iter().filter(|t| !t.is_empty() && t.len() <= 200) {
            self.told.add(text.into());
            self.met_texts.add(text.into());
        }
    }
    pub fn learn(&mut self, test: &TestCase, execution: &Execution) {
        for seen in &execution.seen {
            match seen {
                Seen::Int(v) => self.ints.add(*v),
                Seen::Str(s) => self.strings.add(s.clone()),
                Seen::Pair(a, b) => self.pairs.add((a.clone(), b.clone())),
                Seen::Unfit { text, pattern } => {
                    self.unfit.add((text.clone(), pattern.clone()));
                    self.patterns.add(pattern.clone());
                }
            }
        }
        let message = execution.thrown().and_then(|(_, chain)| chain.first()?.message.as_deref());
        message.into_iter().flat_map(quoted).for_each(|word| self.told.add(word.into()));
        message.and_then(message::no_member).into_iter().for_each(|name| self.lacking.add(name.into()));
        message.and_then(message::no_number).into_iter().for_each(|text| self.no_numbers.add(text.into()));
        let stopped = stopped_at(&execution.outcome);
        let asked = message.and_then(message::no_instance).zip(test.stmts.get(stopped).and_then(Stmt::callee));
        if let Some((class, callee)) = asked {
            let known = self.refused.entry(callee).or_default();
            if known.len() < MAX_CLASSES && known.iter().all(|k| **k != *class) {
                known.push(class.into());
            }
        }
        let cost = if costly(&execution.outcome) { COSTLY } else { 1 };
        for (i, stmt) in test.stmts.iter().enumerate() {
            let Some(callee) = stmt.callee() else {
                continue;
            };
            if i > stopped {
                break;
            }
            let calls = self.calls.entry(callee).or_default();
            calls.tried = calls.tried.saturating_add(cost);
            calls.returned = calls.returned.saturating_add(u32::from(i < stopped && cost == 1));
            calls.hung = calls.hung.saturating_add(u32::from(i == stopped && cost > 1));
            if let (Stmt::Call { method, .. }, Some(Some(ty))) = (stmt, execution.types.get(i)) {
                let known = self.returned.entry(*method).or_default();
                if !known.contains(ty) && known.len() < MAX_CLASSES {
                    known.push(*ty);
                }
            }
        }
    }
}

/// Classes that are kept for one method.
const MAX_CLASSES: usize = 16;

/// Numbers up to this come by themselves.
const COMMON: u128 = 10;

fn leaves_of<'d>(data: &'d Data, texts: &mut Vec<&'d str>, numbers: &mut Vec<i128>) {
    match data {
        Data::Str(text) => texts.push(text),
        Data::Int(n) => numbers.push(*n),
        _ => data.children().into_iter().for_each(|child| leaves_of(child, texts, numbers)),
    }
}

/// The short texts in quotation marks of a message.
fn quoted(message: &str) -> Vec<&str> {
    const LONGEST: usize = 30;
    let inside = |mark: char| message.split(mark).skip(1).step_by(2).take(4);
    ['\'', '"', '`'].into_iter().flat_map(inside).filter(|word| !word.is_empty() && word.len() <= LONGEST).collect()
}

/// A hang or a death costs as much time as hundreds of tests: whatever took part in it is tried less from now on.
const COSTLY: u32 = 20;

fn costly(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::TimeLimit { .. } | Outcome::Died { .. })
}

/// The statement that did not complete; past the end if all did.
fn stopped_at(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Normal => usize::MAX,
        Outcome::Thrown { at, .. } | Outcome::Invalid { at, .. } | Outcome::StepLimit { at } | Outcome::TimeLimit { at } | Outcome::Exit { at, .. } => {
            *at as usize
        }
        Outcome::Died { .. } => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Throwable;

    #[test]
    fn texts_and_numbers_of_a_crash_further_in_are_remembered() {
        let mut facts = Facts::default();
        let nested = Data::List(vec![Data::Int(1), Data::text("&x")]);
        facts.remember(&TestCase { stmts: vec![Stmt::Str("a: b".into()), Stmt::Data(nested), Stmt::Data(Data::Int(4711))] });
        for texts in [facts.told(), facts.met_texts()] {
            assert_eq!(texts.iter().map(|t| &**t).collect::<Vec<_>>(), ["a: b", "&x"]);
        }
        assert_eq!(facts.met(), [4711], "small numbers come by themselves");
    }

    #[test]
    fn classes_of_refused_casts_are_remembered_for_the_call() {
        let method = MethodId(3);
        let test = TestCase { stmts: vec![Stmt::Call { method, recv: None, args: Vec::new() }] };
        let refused = |to: &str| {
            let thrown = Throwable { message: Some(format!("a.B cannot be cast to {to}")), ..Throwable::default() };
            Execution::ended(Outcome::Thrown { at: 0, chain: vec![thrown].into() })
        };
        let mut facts = Facts::default();
        ["c.D", "c.E", "c.D"].iter().for_each(|to| facts.learn(&test, &refused(to)));
        assert_eq!(facts.asked_for(method).iter().map(|t| &**t).collect::<Vec<_>>(), ["c.D", "c.E"]);
        assert!(facts.asked_for(MethodId(4)).is_empty());
    }

    #[test]
    fn words_in_quotation_marks_are_taken_from_messages() {
        assert_eq!(quoted("operation does not contain 'path' or \"op\""), ["path", "op"]);
        assert!(quoted("no quotes here, don't").iter().all(|w| w.len() <= 30));
        assert!(quoted(&format!("'{}'", "x".repeat(40))).is_empty());
    }
}
