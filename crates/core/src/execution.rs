//! What one execution of a test case showed. A function of the test alone; scoring it is `objective`'s business.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::{Prim, TypeId};
use crate::testcase::Value;
use crate::trace::Throwable;

/// How a test ended. What a test does is an outcome, never an error of the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Normal,
    /// Statement `at` threw; `chain` is the throwable and its causes, outermost wrapper first.
    Thrown {
        at: u32,
        chain: Arc<[Throwable]>,
    },
    /// Statement `at` could not be executed: an argument has another type than declared, a receiver is null.
    Invalid {
        at: u32,
        why: String,
    },
    /// The step budget ended an endless loop.
    StepLimit {
        at: u32,
    },
    /// The wall clock ended it: not reproducible by seed, so it is recorded.
    TimeLimit {
        at: u32,
    },
    /// It asked the process to end.
    Exit {
        at: u32,
        code: i32,
    },
    /// The worker died under it.
    Died {
        why: String,
    },
}

/// The nearest that one conditional branch came to its other side in this execution: `left - right` of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchSeen {
    pub branch: u32,
    /// Smallest positive difference, `INFINITY` if none.
    pub above: f64,
    /// Smallest magnitude of a negative difference, `INFINITY` if none.
    pub below: f64,
    /// A difference of zero occurred.
    pub equal: bool,
    /// How far a predicate that was false was from true (edit distance and the like), `INFINITY` if unknown.
    pub hint: f64,
}

/// A value that a comparison of the program saw: seeds for literals.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seen {
    Int(i64),
    Str(Arc<str>),
    /// Two texts that were compared and are not equal.
    Pair(Arc<str>, Arc<str>),
    /// A text that a regular expression was looked for in, mostly in vain.
    Unfit {
        text: Arc<str>,
        pattern: Arc<str>,
    },
}

/// The value of a statement, as far as a test can assert it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Returned {
    Null,
    /// Some object.
    Object,
    Prim(Value),
    Text(String),
    /// Plain data, as an expression of the language.
    Written(String),
    /// A short array of primitives, as it was when the test ended.
    Prims(Prim, Vec<Value>),
    /// A short array of texts, likewise.
    Texts(Vec<Option<String>>),
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Execution {
    pub outcome: Outcome,
    /// Probes hit, ascending.
    pub hits: Vec<u32>,
    /// By branch number, ascending.
    pub branches: Vec<BranchSeen>,
    /// (switch number, value), at most a few hundred.
    pub switches: Vec<(u32, i32)>,
    /// Run-time type of each statement's value, where it is a known reference.
    pub types: Vec<Option<TypeId>>,
    pub seen: Vec<Seen>,
    /// What the jail refused, as far as it was noticed: `delete /x`.
    pub refused: Vec<String>,
    /// For each frame of the plan's chain, how far out the chain was unbroken when its line was reached: the number of the outermost such frame, at
    /// best of all times; 0 if the line was not reached. Empty if the session does not observe callers.
    pub reach: Vec<u32>,
    /// Method entries and loop rounds of the program: what the test cost, whatever the machine.
    pub steps: u32,
    /// By statement, only where the values were asked for ([`crate::target::Session::inspect`]).
    pub values: Vec<Option<Returned>>,
}

impl Execution {
    pub fn ended(outcome: Outcome) -> Execution {
        Execution {
            outcome,
            hits: Vec::new(),
            branches: Vec::new(),
            switches: Vec::new(),
            types: Vec::new(),
            seen: Vec::new(),
            refused: Vec::new(),
            reach: Vec::new(),
            steps: 0,
            values: Vec::new(),
        }
    }
    pub fn hit(&self, probe: u32) -> bool {
        self.hits.binary_search(&probe).is_ok()
    }
    pub fn branch(&self, branch: u32) -> Option<&BranchSeen> {
        self.branches.binary_search_by_key(&branch, |b| b.branch).ok().map(|i| &self.branches[i])
    }
    pub fn thrown(&self) -> Option<(u32, &[Throwable])> {
        match &self.outcome {
            Outcome::Thrown { at, chain } => Some((*at, chain)),
            _ => None,
        }
    }
}
