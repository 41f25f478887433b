//! What can be switched and set: the six components (GRT-14) and their parameters.

/// A part of guided random testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    ConstantMining,
    Impurity,
    ElephantBrain,
    Detective,
    Orienteering,
    Bloodhound,
}

impl Component {
    pub const ALL: [Component; 6] =
        [Component::ConstantMining, Component::Impurity, Component::ElephantBrain, Component::Detective, Component::Orienteering, Component::Bloodhound];

    pub fn name(self) -> &'static str {
        match self {
            Component::ConstantMining => "constant-mining",
            Component::Impurity => "impurity",
            Component::ElephantBrain => "elephant-brain",
            Component::Detective => "detective",
            Component::Orienteering => "orienteering",
            Component::Bloodhound => "bloodhound",
        }
    }
}

/// How to generate.
#[derive(Clone, Debug)]
pub struct Settings {
    pub components: Vec<Component>,
    /// Chance that the constants of a test are those of the class under test (GRT-4).
    pub p_const: f64,
    /// Chance that a constant or a drawn object is changed.
    pub fuzz: f64,
    /// Tests after which the coverage is looked at and the weights start anew (GRT-12's t, by tests).
    pub interval: u64,
    /// Beyond the paper: bloodhound's weights also follow how much is open and what was tried in vain, and impurity changes what the call under test reads.
    pub learns: bool,
    pub max_tests: u64,
    pub seed: u64,
}

impl Settings {
    /// All six, with what measures best.
    pub fn all(seed: u64) -> Settings {
        Settings { components: Component::ALL.to_vec(), p_const: 0.5, fuzz: 0.25, interval: 2_000, learns: true, max_tests: u64::MAX, seed }
    }
    /// The paper's parameters.
    pub fn grt(seed: u64) -> Settings {
        Settings { p_const: 0.01, learns: false, ..Settings::all(seed) }
    }
    /// Feedback-directed random testing alone.
    pub fn randoop(seed: u64) -> Settings {
        Settings { components: Vec::new(), ..Settings::all(seed) }
    }
    pub fn has(&self, component: Component) -> bool {
        self.components.contains(&component)
    }
}
