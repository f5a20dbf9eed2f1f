//! Data of one drill.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// Scenario of a built-in feature.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub struct ScenarioPlace {
    /// File of the feature.
    pub file: String,
    /// Line of the scenario, or of its row in an outline.
    pub line: usize,
    /// Name of the scenario.
    pub name: String,
}

/// Result of a drill.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct DrillResult {
    /// Number of the drill, counted from 1.
    pub number: u32,
    /// Seed that it was made from.
    pub seed: u64,
    /// Seconds from the start of the drill to the last snapshot.
    pub seconds: f64,
    /// Number of snapshots that were diagnosed.
    pub snapshots: usize,
    /// Number of different findings of the severity of a failure, right ones and wrong ones, that were roots at any time.
    pub findings: usize,
    /// The faults.
    pub faults: Vec<FaultResult>,
    /// Healthy traffic beside the faults.
    pub healthy: Vec<TrafficResult>,
    /// Roots that the diagnosis named in the last snapshot, about the drill's objects.
    pub said: Vec<SaidFinding>,
    /// Findings that no fault of the drill accounts for, at any time of the drill.
    pub wrong: Vec<WrongFinding>,
    /// Consequences of an expected cause that were roots in the last snapshot.
    pub symptoms: Vec<WrongFinding>,
    /// Bundle of the last snapshot, if a cause was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<PathBuf>,
}

/// Result of a fault.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FaultResult {
    /// Scenario that the fault was taken from.
    pub scenario: ScenarioPlace,
    /// End of the names of the fault's objects.
    pub suffix: String,
    /// Seconds from the start of the drill to the fault's first step.
    pub offset: f64,
    /// Failure codes that name the fault.
    pub codes: Vec<String>,
    /// Error of the step that failed before the fault showed; such a fault isn't scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_induced: Option<String>,
    /// Causes that the diagnosis had to name; empty if the fault wasn't induced.
    pub causes: Vec<CauseResult>,
}

/// Result of a cause.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CauseResult {
    /// Failure code of the cause.
    pub code: String,
    /// Findings that had to be there, e.g. `KF-AP-001 for ClusterResourcePlacement/web-x (east-x)`.
    pub expected: Vec<String>,
    /// True if the last snapshot's findings had them.
    pub found: bool,
    /// Seconds from the end of the fault's steps until the diagnosis was right for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Codes of other roots that the last snapshot had about the fault's objects, if the cause was missed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
}

/// Result of a healthy scenario.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TrafficResult {
    /// The scenario.
    pub scenario: ScenarioPlace,
    /// End of the names of the scenario's objects.
    pub suffix: String,
    /// Seconds from the start of the drill to the scenario's first step.
    pub offset: f64,
    /// Reason why the scenario isn't judged to its end, e.g. the error of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
}

/// Root that the diagnosis named.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SaidFinding {
    /// Failure code.
    pub code: String,
    /// Subject, e.g. `ClusterResourcePlacement/web-x (east-x)`.
    pub subject: String,
    /// Codes of all its consequences, without doubles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<String>,
}

/// Finding that was wrong.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct WrongFinding {
    /// Failure code.
    pub code: String,
    /// Subject, e.g. `ClusterResourcePlacement/web-x (east-x)`.
    pub subject: String,
    /// The finding's sentence about the cause.
    pub cause: String,
    /// Codes of the fault whose objects the finding is about; empty for healthy traffic and objects of no scenario.
    pub beside: Vec<String>,
    /// Seconds from the start of the drill to the first snapshot with the finding.
    pub first_seconds: f64,
    /// Seconds from the start of the drill to the last snapshot with the finding.
    pub last_seconds: f64,
    /// True if the drill's last snapshot has the finding.
    pub at_end: bool,
    /// Bundle of the first snapshot with the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<PathBuf>,
}
