//! The search that the options choose: a preset of the core, changed by what is given beside it.
//!
//! What is recorded is the result, so that a record tells which search it was without knowing the presets of its day.

use rethrow_core::objective::trace_distance;
use rethrow_core::objective::{self, Settings};
use rethrow_core::search::portfolio::Schedule;
use rethrow_core::search::presets;
use serde::{Deserialize, Serialize};

use crate::cli::{Objective, Preset, SearchOptions, Secondary, TraceDistance};
use crate::mechanism::Without;

/// See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchChoice {
    pub preset: Preset,
    pub objective: Objective,
    pub secondary: Secondary,
    pub trace_distance: TraceDistance,
    #[serde(default)]
    pub match_message: bool,
    #[serde(default)]
    pub without: Without,
}

impl SearchChoice {
    pub fn of(options: SearchOptions) -> SearchChoice {
        let preset = core_preset(options.preset).objective();
        SearchChoice {
            preset: options.preset,
            objective: options.objective.unwrap_or(match preset.kind {
                objective::Kind::WeightedSum => Objective::WeightedSum,
                objective::Kind::StDistance => Objective::StDistance,
                objective::Kind::Beacon => Objective::Beacon,
            }),
            secondary: options.secondary.unwrap_or(match preset.secondary {
                objective::Secondary::None => Secondary::None,
                objective::Secondary::Bbc => Secondary::Bbc,
                objective::Secondary::Lattice => Secondary::Lattice,
            }),
            trace_distance: options.trace_distance.unwrap_or(match preset.trace {
                trace_distance::TraceDistance::Set => TraceDistance::Set,
                trace_distance::TraceDistance::Prefix => TraceDistance::Prefix,
                trace_distance::TraceDistance::Tool => TraceDistance::Tool,
            }),
            match_message: options.match_message,
            without: options.without,
        }
    }

    /// Whether the search looks at what lies near the trace; the published ones do not.
    pub fn looks_near(self) -> bool {
        self.preset == Preset::Default && !self.without.near()
    }

    /// The fitness function.
    pub fn objective(self) -> Settings {
        Settings {
            kind: match self.objective {
                Objective::WeightedSum => objective::Kind::WeightedSum,
                Objective::StDistance => objective::Kind::StDistance,
                Objective::Beacon => objective::Kind::Beacon,
            },
            secondary: match self.secondary {
                Secondary::None => objective::Secondary::None,
                Secondary::Bbc => objective::Secondary::Bbc,
                Secondary::Lattice => objective::Secondary::Lattice,
            },
            trace: match self.trace_distance {
                TraceDistance::Set => trace_distance::TraceDistance::Set,
                TraceDistance::Prefix => trace_distance::TraceDistance::Prefix,
                TraceDistance::Tool => trace_distance::TraceDistance::Tool,
            },
            message: core_preset(self.preset).objective().message && !self.without.messages(),
            obstacles: core_preset(self.preset).objective().obstacles && !self.without.obstacles(),
            ..core_preset(self.preset).objective()
        }
    }

    /// The engine's parameters.
    pub fn schedule(self) -> Schedule {
        let mut schedule = core_preset(self.preset).schedule();
        self.without.apply(&mut schedule);
        schedule
    }
}

impl Default for SearchChoice {
    fn default() -> SearchChoice {
        SearchChoice::of(SearchOptions {
            preset: Preset::Default,
            objective: None,
            secondary: None,
            trace_distance: None,
            match_message: false,
            without: Without::default(),
        })
    }
}

fn core_preset(preset: Preset) -> presets::Preset {
    match preset {
        Preset::Default => presets::Preset::Default,
        Preset::Evocrash => presets::Preset::EvoCrash,
        Preset::Botsing => presets::Preset::Botsing,
        Preset::Beacon => presets::Preset::Beacon,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_taken_as_it_is_and_what_is_given_beside_it_counts() {
        for preset in [Preset::Default, Preset::Evocrash, Preset::Botsing, Preset::Beacon] {
            let options = SearchOptions { preset, objective: None, secondary: None, trace_distance: None, match_message: false, without: Without::default() };
            assert_eq!(SearchChoice::of(options).objective(), core_preset(preset).objective());
            let changed = SearchOptions { objective: Some(Objective::WeightedSum), secondary: Some(Secondary::Bbc), ..options };
            let settings = SearchChoice::of(changed).objective();
            assert_eq!((settings.kind, settings.secondary), (objective::Kind::WeightedSum, objective::Secondary::Bbc));
            assert_eq!(settings.trace, core_preset(preset).objective().trace);
        }
    }
}
