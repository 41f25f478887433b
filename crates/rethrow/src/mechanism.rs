//! What of the search can be switched off to see what it is worth: `--without messages,environment`.

use rethrow_core::search::portfolio::Schedule;
use serde::{Deserialize, Serialize};

/// A mechanism by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    /// What the log's message tells: values, types, a distance.
    Messages,
    /// Files, settings, locale, time zone and input that the test sets up.
    Environment,
    /// Samples of well-known notations as texts.
    Notations,
    /// Arguments of the types that the program casts them to.
    Casts,
    /// Constants of the program and values that its comparisons saw.
    ConstantMining,
    /// Objects are changed by calls of their own methods.
    Impurity,
    /// Objects that no value at hand can stand for are built.
    Detective,
    /// Values are used as what they turned out to be.
    ElephantBrain,
    /// Calls that touch what the way to the crash reads are preferred.
    ModRef,
    /// Tests that did something new are kept as parents.
    Novelty,
    /// Among equals, how near a test was to passing what stopped it.
    Obstacles,
    /// Hill climbing on literals.
    Climbing,
    /// Constants, comparisons and coverage of the classes near the trace.
    Near,
    /// Literals of the class that takes them.
    Takers,
    /// Calls that are there are repeated.
    Repetition,
    /// Tests define classes of their own: where types are not declared, and else objects that answer anew what every object has.
    Classes,
}

const ALL: [(&str, Mechanism); 16] = [
    ("messages", Mechanism::Messages),
    ("environment", Mechanism::Environment),
    ("notations", Mechanism::Notations),
    ("casts", Mechanism::Casts),
    ("constant-mining", Mechanism::ConstantMining),
    ("impurity", Mechanism::Impurity),
    ("detective", Mechanism::Detective),
    ("elephant-brain", Mechanism::ElephantBrain),
    ("mod-ref", Mechanism::ModRef),
    ("novelty", Mechanism::Novelty),
    ("obstacles", Mechanism::Obstacles),
    ("climbing", Mechanism::Climbing),
    ("near", Mechanism::Near),
    ("takers", Mechanism::Takers),
    ("repetition", Mechanism::Repetition),
    ("classes", Mechanism::Classes),
];

/// The mechanisms that are off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Without(u16);

impl Without {
    fn has(self, mechanism: Mechanism) -> bool {
        ALL.iter().position(|(_, m)| *m == mechanism).is_some_and(|i| self.0 & 1 << i != 0)
    }
    pub fn messages(self) -> bool {
        self.has(Mechanism::Messages)
    }
    pub fn obstacles(self) -> bool {
        self.has(Mechanism::Obstacles)
    }
    pub fn near(self) -> bool {
        self.has(Mechanism::Near)
    }
    pub fn apply(self, schedule: &mut Schedule) {
        let policy = &mut schedule.policy;
        policy.messages &= !self.has(Mechanism::Messages);
        policy.environment &= !self.has(Mechanism::Environment);
        policy.notations &= !self.has(Mechanism::Notations);
        policy.constants &= !self.has(Mechanism::ConstantMining);
        policy.impurity &= !self.has(Mechanism::Impurity);
        policy.build &= !self.has(Mechanism::Detective);
        policy.exact_types &= !self.has(Mechanism::ElephantBrain);
        policy.aimed &= !self.has(Mechanism::ModRef);
        policy.derive &= !self.has(Mechanism::Classes);
        if self.has(Mechanism::Takers) {
            policy.own = 0.0;
        }
        if self.has(Mechanism::Repetition) {
            policy.repeat = 0.0;
        }
        if self.has(Mechanism::Casts) {
            policy.cast = 0.0;
        }
        if self.has(Mechanism::Novelty) {
            schedule.parameters.discoveries = 0.0;
        }
        if self.has(Mechanism::Climbing) {
            schedule.parameters.climb = 0.0;
        }
    }
}

/// `messages,casts`
pub fn parse_without(text: &str) -> Result<Without, String> {
    let mut without = Without::default();
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        match ALL.iter().position(|(name, _)| *name == word) {
            Some(i) => without.0 |= 1 << i,
            None => return Err(format!("one of {}", ALL.map(|(name, _)| name).join(", "))),
        }
    }
    Ok(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_switches_its_own_mechanism_off() {
        let mut plain = Schedule::default();
        plain.policy.environment = true;
        for (name, _) in ALL {
            let mut schedule = plain.clone();
            let without = parse_without(name).unwrap();
            without.apply(&mut schedule);
            let p = &schedule.policy;
            let off = [
                !p.messages,
                !p.environment,
                !p.notations,
                p.cast == 0.0,
                !p.constants,
                !p.impurity,
                !p.build,
                !p.exact_types,
                !p.aimed,
                schedule.parameters.discoveries == 0.0,
                schedule.parameters.climb == 0.0,
                without.obstacles(),
                without.near(),
                p.own == 0.0,
                p.repeat == 0.0,
                !p.derive,
            ];
            assert_eq!(off.iter().filter(|o| **o).count(), 1, "{name}");
        }
        assert_eq!(parse_without(""), Ok(Without::default()));
        assert!(parse_without("messages,luck").unwrap_err().contains("elephant-brain"));
    }
}
