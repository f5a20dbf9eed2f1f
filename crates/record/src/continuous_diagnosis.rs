//! Continuous diagnosis of a run: what was said of the fleet while the scenarios ran, and shouldn't have been said.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Finding;

/// Result of a run's continuous diagnosis; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ContinuousDiagnosis {
    /// Number of snapshots that were diagnosed.
    pub snapshots: usize,
    /// Failures that no fault of a running scenario accounted for, in the order in which they were seen first.
    pub false_alarms: Vec<FalseAlarm>,
}

/// Failure that the diagnosis named in at least two snapshots in a row though no fault of a running scenario accounted for it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FalseAlarm {
    /// The finding, as the kept snapshot has it.
    pub finding: Finding,
    /// Scenario that the finding is about; none for objects of no scenario.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scenario: Option<ScenarioName>,
    /// Time of the first snapshot with the finding.
    pub first_seen: Timestamp,
    /// Time of the last snapshot with the finding.
    pub last_seen: Timestamp,
    /// Number of snapshots with the finding.
    pub snapshots: usize,
    /// Bundle of the snapshot that confirmed the false alarm.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bundle: Option<PathBuf>,
}

/// Name and place of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ScenarioName {
    /// File of the feature.
    pub file: String,
    /// Line of the scenario, or of its row in an outline.
    pub line: usize,
    /// Name of the scenario.
    pub scenario: String,
}
