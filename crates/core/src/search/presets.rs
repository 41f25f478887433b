//! The presets: each published configuration in one table, and the one that measures best.
//!
//! | | evocrash | botsing | default |
//! |---|---|---|---|
//! | fitness | WeightedSum (EVO-3) | STDistance as published (BBC-2, BBC-3) | STDistance, then the trace distance |
//! | ties | none | BBC after the paper (BBC-6) | instructions reached (BBC-10) |
//! | line blocked by an exception | 1 (its source) | φ(1) (its source) | φ(1) |
//! | a line counts as reached | at its first instruction | at its first instruction | where it crashes or calls on |
//! | trace distance | set, 3/2/φ (EVO-7, EVO-8) | the tool's (EVO-10) | set |
//! | population | 50, each restart +25 up to 300 (EVO-22) | 50, no restart | 50, +25 up to 300 on a plateau |
//! | crossover, mutation | 0.75, 1/n (EVO-23) | 0.8 (BBC-12), 1/n | 0.75, 1/n |
//! | survivors | µ+λ (EVO-11) | pairwise, one elite (EVO-12) | µ+λ |
//! | parents that are discoveries | none | none | up to 0.3 while nothing improves |
//! | hill climbing on literals | none | none | up to a quarter of the tests while nothing improves |
//! | a text that is picked is changed | 1 of 3 times (EVO-18) | 1 of 3 | 0.7 |
//! | a literal is one of the class that takes it | never | never | 0.2 |
//! | an insertion repeats a call | never | never | 0.12 |
//! | an object may be the argument of its own call | always | always | 0.15; always where the crash is a recursion |
//! | a hit that only earlier tests made possible | set aside | set aside | joined with the one it needs |
//! | longest initial test | 40 | 40 | 12 |
//!
//! *Paper or tool.* Where a paper and its tool differ: `evocrash` follows the paper (µ+λ, where the tool is monotonic; the value 1 for a blocked line
//! stands only in its source). `botsing` follows the tool where the paper is silent (monotonic replacement, trace distance, rank selection with bias
//! 1.7) and the paper where both speak (crossover 0.8 instead of the tool's 0.75; blocks compared by the paper's rule); the tool's regression of
//! 2020-04 (distance of an inner frame against the outermost line) is not copied. Values of arguments follow EvoSuite's probabilities.
//!
//! *`beacon`*, for hunts only, is an engine of its own ([`super::beacon`]): F of BCN-4, 64 individuals of 8 statements, at most 500 generations,
//! tournaments of 5, one child from a single cut, each statement replaced with probability 0.01, no elite, greedy minimisation.
//!
//! *Kept from rethrow in all presets*, because it is the walk and not the search: time comes from `--budget` (published: 30 minutes for each attempt,
//! 5 minutes); all frames are tried, inner ones first, instead of one that the user names; a restart of EvoCrash counts evaluations, 62,328 for an
//! attempt, the published budget of its study on JCrashPack, instead of minutes; jail, confirmation and minimisation; a test that ran into its
//! step or time limit is worth one less than its distance says.

use super::beacon;
use super::genetic::{Parameters, Replacement, Restart};
use super::portfolio::Schedule;
use crate::objective::trace_distance::TraceDistance;
use crate::objective::{Kind, LineTarget, Secondary, Settings, squash};
use crate::testcase::build::Policy;

/// A published configuration, or ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    Default,
    EvoCrash,
    Botsing,
    /// For hunts.
    Beacon,
}

/// Evaluations of one attempt in the study of EvoCrash on JCrashPack.
const ATTEMPT: u64 = 62_328;
/// EvoSuite's `chromosome_length`.
const CHROMOSOME_LENGTH: usize = 40;

impl Preset {
    pub fn objective(self) -> Settings {
        match self {
            Preset::Default => Settings::from(Kind::StDistance),
            Preset::EvoCrash => Settings {
                kind: Kind::WeightedSum,
                secondary: Secondary::None,
                trace: TraceDistance::Set,
                line_target: LineTarget::Frame,
                blocked: 1.0,
                staged: false,
                crash_sites: false,
                obstacles: false,
                context: false,
                message: false,
            },
            Preset::Botsing => Settings {
                kind: Kind::StDistance,
                secondary: Secondary::Bbc,
                trace: TraceDistance::Tool,
                line_target: LineTarget::Frame,
                blocked: squash(1.0),
                staged: false,
                crash_sites: false,
                obstacles: false,
                context: true,
                message: false,
            },
            Preset::Beacon => Settings { secondary: Secondary::None, ..Settings::from(Kind::Beacon) },
        }
    }

    pub fn parameters(self) -> Parameters {
        match self {
            Preset::Default | Preset::Beacon => Parameters::default(),
            Preset::EvoCrash => Parameters {
                restart: Restart::Every(ATTEMPT),
                max_initial: CHROMOSOME_LENGTH,
                from_seeds: 0.0,
                discoveries: 0.0,
                climb: 0.0,
                ..Parameters::default()
            },
            Preset::Botsing => Parameters {
                crossover: 0.8,
                restart: Restart::Never,
                replacement: Replacement::Monotonic { elite: 1 },
                max_initial: CHROMOSOME_LENGTH,
                from_seeds: 0.0,
                discoveries: 0.0,
                climb: 0.0,
                ..Parameters::default()
            },
        }
    }

    /// How values are made: as EvoSuite's `Properties` have it, or as measured.
    fn policy(self) -> Policy {
        // what no published configuration has
        let published = Policy {
            own: 0.0,
            itself: 1.0,
            repeat: 0.0,
            derive: false,
            trusting: false,
            aimed: false,
            follows: false,
            notations: false,
            messages: false,
            ..Policy::default()
        };
        match self {
            Preset::Default => Policy { environment: true, ..Policy::default() },
            Preset::Beacon => published,
            Preset::EvoCrash | Preset::Botsing => {
                Policy { reuse_object: 0.9, reuse_primitive: 0.5, null: 0.1, pool: 0.5, max_depth: 10, max_array: 10, change_text: 1.0 / 3.0, ..published }
            }
        }
    }

    pub fn schedule(self) -> Schedule {
        let beacon = (self == Preset::Beacon).then(beacon::Settings::default);
        Schedule { parameters: self.parameters(), policy: self.policy(), beacon, ..Schedule::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EVO-22, EVO-23, BBC-12: the published numbers.
    #[test]
    fn the_published_numbers_are_in_the_table() {
        let p = Preset::EvoCrash.parameters();
        assert_eq!((p.population, p.growth, p.max_population, p.crossover), (50, 25, 300, 0.75));
        assert_eq!((p.replacement, p.restart), (Replacement::MuPlusLambda, Restart::Every(62_328)));
        let o = Preset::EvoCrash.objective();
        assert_eq!((o.kind, o.secondary, o.trace, o.blocked, o.context), (Kind::WeightedSum, Secondary::None, TraceDistance::Set, 1.0, false));
        let p = Preset::Botsing.parameters();
        assert_eq!((p.population, p.crossover, p.bias), (50, 0.8, 1.7));
        assert_eq!((p.replacement, p.restart), (Replacement::Monotonic { elite: 1 }, Restart::Never));
        let o = Preset::Botsing.objective();
        assert_eq!((o.kind, o.secondary, o.trace, o.blocked, o.context), (Kind::StDistance, Secondary::Bbc, TraceDistance::Tool, 0.5, true));
        assert!(!o.staged && !o.crash_sites && !o.obstacles && !Preset::EvoCrash.objective().crash_sites);
    }
}
