//! Scenarios that run at the moment, by the suffixes of their objects' names.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use record::ScenarioName;
use steps::Recorder;

use super::accounted_codes::ScenarioFaults;

/// Scenario that runs.
#[derive(Clone)]
pub struct RunningScenario {
    /// The scenario.
    pub name: ScenarioName,
    /// What it accounts for.
    pub faults: ScenarioFaults,
    /// Its recorder, which knows whether a fault was induced.
    pub recorder: Recorder,
}

impl RunningScenario {
    /// True if the scenario accounts at this moment for a root with this code about its objects.
    #[must_use]
    pub fn accounts_for(&self, code: &str) -> bool {
        self.faults.account_for(code, self.recorder.has_induced())
    }
}

/// Scenarios that run at the moment. Clones share them.
#[derive(Clone, Default)]
pub struct RunningScenarios(Arc<Mutex<BTreeMap<String, RunningScenario>>>);

impl RunningScenarios {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, RunningScenario>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a scenario whose objects' names end with this suffix, before its first step.
    pub fn begin(&self, suffix: String, scenario: RunningScenario) {
        self.lock().insert(suffix, scenario);
    }

    /// Removes a scenario whose last step has ended, before its cleanup. What is said about it doesn't count any more.
    pub fn end(&self, suffix: &str) {
        self.lock().remove(suffix);
    }
}
