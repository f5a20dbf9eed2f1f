//! Runs: what each scenario did and saw, in the order in which it happened. Reporters read records and nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Capabilities, ContinuousDiagnosis, ControllerRace, FailedWait, FalseAlarm, Finding, Loss, ObjectPath,
    RepeatedShard, Transition, UpgradePhase,
};

/// End of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every step passed.
    Passed,
    /// A step failed, was undefined, or the scenario's limit ran out.
    Failed,
    /// The scenario was not started; `reason` says why.
    NotRun,
    /// The run was interrupted or the fleet broke while it ran.
    Interrupted,
}

impl Outcome {
    /// True if the scenario was started and didn't pass.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Interrupted)
    }
}

/// Scenario of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// Name of the feature.
    pub feature: String,
    /// The feature's file, e.g. `kubefleet/work_synchronized.feature`.
    pub file: String,
    /// The scenario's line in it (an outline's example row, where there is one), from 1.
    pub line: usize,
    /// The scenario's name.
    pub scenario: String,
    /// Tags of the scenario and of the feature, without `@`.
    pub tags: Vec<String>,
    /// Outcome of the scenario.
    pub outcome: Outcome,
    /// Reason why the scenario was not run, or the failure: the step and its error.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// Start of the scenario.
    pub started_at: Timestamp,
    /// Duration in seconds.
    pub seconds: f64,
    /// Events in the order in which they happened.
    pub entries: Vec<RecordEntry>,
    /// The guides' statements that it names and has shown; none unless it passed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub statements: Vec<ShownStatement>,
}

/// A guide's statement as a scenario has shown it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ShownStatement {
    /// The statement's id, e.g. `work-synchronized/terminating-namespace/member-work-synchronized/cluster`.
    pub statement: String,
    /// State of the statement.
    #[serde(flatten)]
    pub state: ShownStatementState,
}

/// State of a guide's statement: it holds, or the controller does something else.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ShownStatementState {
    /// The controller behaves as the guide says.
    Holds,
    /// The controller behaves differently.
    Differs {
        /// Condition that the controller wrote, where the statement is about a condition.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        seen: Option<ConditionTemplate>,
    },
}

/// A condition as it was seen, with holes for the names in it: `{placement}`, `{member}`, `{number}`.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ConditionTemplate {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase.
    pub reason: String,
    /// The controller's words.
    pub message: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RecordEntry {
    /// Time of the answer.
    pub at: Timestamp,
    /// Event.
    #[serde(flatten)]
    pub what: RecordedEvent,
}

impl RecordEntry {
    /// The condition's change, if it is one.
    #[must_use]
    pub fn transition(&self) -> Option<&Transition> {
        match &self.what {
            RecordedEvent::Transition(transition) => Some(transition),
            _ => None,
        }
    }

    /// The race, if one of a controller was worked around.
    #[must_use]
    pub fn race(&self) -> Option<ControllerRace> {
        match self.what {
            RecordedEvent::WorkedAround { race, .. } => Some(race),
            _ => None,
        }
    }

    /// Returns the findings, if the entry is a diagnosis.
    #[must_use]
    pub fn diagnosed(&self) -> Option<&[Finding]> {
        match &self.what {
            RecordedEvent::Diagnosed { findings } => Some(findings),
            _ => None,
        }
    }

    /// The wait that failed, if one did.
    #[must_use]
    pub fn failed_wait(&self) -> Option<&FailedWait> {
        match &self.what {
            RecordedEvent::WaitFailed(wait) => Some(wait),
            _ => None,
        }
    }

    /// The loss, if something was lost.
    #[must_use]
    pub fn lost(&self) -> Option<&Loss> {
        match &self.what {
            RecordedEvent::Lost(loss) => Some(loss),
            _ => None,
        }
    }
}

/// Action on the fleet, with its objects.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Action {
    /// Action in a sentence with the real names: "Namespace/fleet-member-member-4 deleted on the hub".
    pub action: String,
    /// Objects that the action changed or made, in the order of the sentence. The sentence may name a namespaced
    /// object without its namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectPath>,
}

impl Action {
    /// Creates an action without objects.
    #[must_use]
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { action: sentence.into(), objects: Vec::new() }
    }

    /// Adds an object that the action changed or made.
    #[must_use]
    pub fn on(mut self, object: impl Into<ObjectPath>) -> Self {
        self.objects.push(object.into());
        self
    }
}

impl From<String> for Action {
    fn from(sentence: String) -> Self {
        Self::new(sentence)
    }
}

impl From<&str> for Action {
    fn from(sentence: &str) -> Self {
        Self::new(sentence)
    }
}

/// Event in a scenario.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum RecordedEvent {
    /// A step began; what follows up to the next one belongs to it.
    Step {
        /// `Given`, `When`, `Then`, `And`, `But`, as written.
        keyword: String,
        /// The step's text as written.
        text: String,
    },
    /// A fault was put in.
    Induced(Action),
    /// A remedy was applied.
    Remedied(Action),
    /// Something else was done to the fleet.
    Did(Action),
    /// A start time was moved into the past, so that a controller's threshold passes now.
    FastForwarded(Action),
    /// A race of a controller was worked around, because the scenario is about something else.
    WorkedAround {
        /// The race.
        race: ControllerRace,
        /// What was done about it.
        #[serde(flatten)]
        action: Action,
    },
    /// KubeFleet was upgraded this far.
    Upgraded {
        /// The phase that the fleet is in from now on.
        phase: UpgradePhase,
    },
    /// Something on a member or of a placement isn't there any more since an upgrade.
    Lost(Loss),
    /// A condition changed.
    Transition(Transition),
    /// Something that was waited for held.
    Held {
        /// Expectation, e.g. "WorkSynchronized False SyncWorkFailed on member-4".
        expectation: String,
        /// After how many seconds of waiting.
        seconds: f64,
    },
    /// Something that was waited for didn't hold. The failure of the step, if it fails, follows.
    WaitFailed(FailedWait),
    /// The diagnosis was asked.
    Diagnosed {
        /// Findings; none on a healthy fleet.
        findings: Vec<Finding>,
    },
    /// A step failed.
    Failed {
        /// The error, with the last state seen.
        error: String,
    },
    /// A bundle was left, as `fleetdrill diagnose --from` reads it.
    Collected {
        /// The bundle.
        path: PathBuf,
    },
}

/// A whole run, as the JSON report has it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id; everything that it makes is labelled with it.
    pub id: String,
    /// Version of fleetdrill.
    pub fleetdrill: String,
    /// The versions of what ran, e.g. `kubefleet` to `v0.1.2`, `kubernetes` to `v1.36.3`.
    #[serde(with = "version_map")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub versions: Vec<(String, String)>,
    /// Features of the version of KubeFleet.
    pub capabilities: Capabilities,
    /// Provider of the clusters.
    pub provider: String,
    /// Start of the command.
    pub started_at: Timestamp,
    /// Duration in seconds, with the fleet's start and end.
    pub seconds: f64,
    /// Time from the fleet's creation until all members had joined, in seconds.
    pub fleet_seconds: f64,
    /// The scenarios, in the features' order.
    pub scenarios: Vec<ScenarioRecord>,
    /// Continuous diagnosis beside the scenarios; none if it was off.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continuous_diagnosis: Option<ContinuousDiagnosis>,
    /// Shards that a Kubernetes Job repeated; none if the run wasn't one of a Job.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub repeated_shards: Vec<RepeatedShard>,
    /// Seed of the order of scenarios and of the names of objects; none in a merge of several runs, and in an upgrade.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u32>,
    /// Load of the machine when the run had ended: the number of processes that ran or wanted to run, on average of five minutes. In ledgers
    /// only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<f64>,
}

impl RunRecord {
    /// Returns how often each race of a controller was worked around.
    #[must_use]
    pub fn worked_around(&self) -> BTreeMap<ControllerRace, usize> {
        let mut counts = BTreeMap::new();
        for race in self.scenarios.iter().flat_map(|scenario| &scenario.entries).filter_map(RecordEntry::race) {
            *counts.entry(race).or_default() += 1;
        }
        counts
    }

    /// Returns the run with each scenario's place, name, outcome, reason and duration, and of what happened in it only which races of
    /// controllers were worked around.
    #[must_use]
    pub fn without_events(&self) -> Self {
        let scenario = |scenario: &ScenarioRecord| ScenarioRecord {
            feature: String::new(),
            tags: Vec::new(),
            entries: scenario.entries.iter().filter(|entry| entry.race().is_some()).cloned().collect(),
            statements: Vec::new(),
            ..scenario.clone()
        };
        Self { scenarios: self.scenarios.iter().map(scenario).collect(), ..self.clone() }
    }

    /// Returns the false alarms of the continuous diagnosis.
    #[must_use]
    pub fn false_alarms(&self) -> &[FalseAlarm] {
        self.continuous_diagnosis.as_ref().map_or(&[], |diagnosis| &diagnosis.false_alarms)
    }
}

/// Versions as a map from component to version, in their order. Reports before schema 2 had a list of pairs, which is read as well.
mod version_map {
    use std::fmt;

    use serde::de::{MapAccess, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    type Versions = Vec<(String, String)>;

    pub fn serialize<S: Serializer>(versions: &Versions, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(versions.iter().map(|(component, version)| (component, version)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Versions, D::Error> {
        struct VersionMapVisitor;

        impl<'de> Visitor<'de> for VersionMapVisitor {
            type Value = Versions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from component to version")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Versions, A::Error> {
                let mut versions = Versions::new();
                while let Some(entry) = map.next_entry()? {
                    versions.push(entry);
                }
                Ok(versions)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Versions, A::Error> {
                let mut versions = Versions::new();
                while let Some(pair) = list.next_element()? {
                    versions.push(pair);
                }
                Ok(versions)
            }
        }

        deserializer.deserialize_any(VersionMapVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_action_has_its_objects_beside_the_sentence() {
        let at = "2026-11-21T02:10:00Z";
        for (action, json) in [
            (
                Action::new("the stage's label moved").on("MemberCluster/east").on("Work/fleet-member-east/web"),
                json!({
                    "at": at, "what": "induced", "action": "the stage's label moved",
                    "objects": ["MemberCluster/east", "Work/fleet-member-east/web"],
                }),
            ),
            ("hub-agent killed".into(), json!({"at": at, "what": "induced", "action": "hub-agent killed"})),
        ] {
            let entry = RecordEntry { at: at.parse().unwrap(), what: RecordedEvent::Induced(action) };
            assert_eq!(serde_json::to_value(&entry).unwrap(), json);
            assert_eq!(serde_json::from_value::<RecordEntry>(json).unwrap(), entry);
        }
    }
}
