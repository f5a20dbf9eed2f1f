//! What a scenario did and saw, in the order in which it happened. Reporters read records and nothing else.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use diagnosis::Finding;
use fleet::capability::Capabilities;
pub use fleet::observe::{State, Transition};
pub use fleet::upgrade::Phase;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every step passed.
    Passed,
    /// A step failed, was undefined, or the scenario's limit ran out.
    Failed,
    /// It was not started; [`ScenarioRecord::reason`] says why.
    NotRun,
    /// The run was interrupted or the fleet broke while it ran.
    Interrupted,
}

/// One scenario of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// The feature's name.
    pub feature: String,
    /// The feature's file, e.g. `kubefleet/work_synchronized.feature`.
    pub file: String,
    /// The scenario's line in it (an outline's example row, where there is one), from 1.
    pub line: usize,
    /// The scenario's name.
    pub scenario: String,
    /// Its tags and the feature's, without `@`.
    pub tags: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it was not run, or what failed: the step and its error.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What happened.
    pub entries: Vec<Entry>,
    /// The guides' statements that it names and has shown; none unless it passed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub statements: Vec<Shown>,
}

/// A guide's statement as a scenario has shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The statement's id, e.g. `work-synchronized/terminating-namespace/member-work-synchronized/cluster`.
    pub statement: String,
    /// Whether it is so.
    #[serde(flatten)]
    pub state: ShownState,
}

/// Whether what a guide says is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ShownState {
    /// It is so.
    Holds,
    /// It is otherwise.
    Differs {
        /// What the controller wrote, where the statement is about a condition.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        seen: Option<Seen>,
    },
}

/// A condition as it was seen, with holes for the names in it: `{placement}`, `{member}`, `{number}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase.
    pub reason: String,
    /// The controller's words.
    pub message: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

impl Entry {
    /// The condition's change, if it is one.
    #[must_use]
    pub fn transition(&self) -> Option<&Transition> {
        match &self.what {
            What::Transition(transition) => Some(transition),
            _ => None,
        }
    }

    /// What the diagnosis found, if it was asked.
    #[must_use]
    pub fn diagnosed(&self) -> Option<&[Finding]> {
        match &self.what {
            What::Diagnosed { findings } => Some(findings),
            _ => None,
        }
    }

    /// What was lost, if something was.
    #[must_use]
    pub fn lost(&self) -> Option<&str> {
        match &self.what {
            What::Lost { loss } => Some(loss),
            _ => None,
        }
    }
}

/// What can happen in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// A step began; what follows up to the next one belongs to it.
    Step {
        /// `Given`, `When`, `Then`, `And`, `But`, as written.
        keyword: String,
        /// The step's text as written.
        text: String,
    },
    /// A fault was put in.
    Induced {
        /// What was done, with the real names: "namespace fleet-member-member-4 deleted on the hub".
        action: String,
    },
    /// A remedy was applied.
    Remedied {
        /// What was done, with the real names.
        action: String,
    },
    /// Something else was done to the fleet.
    Did {
        /// What was done, with the real names.
        action: String,
    },
    /// A start time was moved into the past, so that a controller's threshold passes now.
    FastForwarded {
        /// Which one, and by how much.
        action: String,
    },
    /// KubeFleet was upgraded this far.
    Upgraded {
        /// The phase that the fleet is in from now on.
        phase: Phase,
    },
    /// Something on a member or of a placement isn't there any more since an upgrade.
    Lost {
        /// What, with the real names: "Deployment/app/web on member-1 was deleted".
        loss: String,
    },
    /// A condition changed.
    Transition(Transition),
    /// Something that was waited for held.
    Held {
        /// What, e.g. "WorkSynchronized False SyncWorkFailed on member-4".
        expectation: String,
        /// After how many seconds of waiting.
        seconds: f64,
    },
    /// The diagnosis was asked.
    Diagnosed {
        /// What it found; empty on a healthy fleet.
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

/// A whole run, as JSON and HTML show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id; everything that it makes is labelled with it.
    pub id: String,
    /// fleetdrill's version.
    pub fleetdrill: String,
    /// The versions of what ran, e.g. `kubefleet` to `v0.1.2`, `kubernetes` to `v1.36.3`.
    #[serde(with = "version_map")]
    pub versions: Vec<(String, String)>,
    /// What this version of KubeFleet can do.
    pub capabilities: Capabilities,
    /// Where the clusters came from.
    pub provider: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in seconds, with the fleet's start and end.
    pub seconds: f64,
    /// How long the fleet took from nothing to all members joined, in seconds.
    pub fleet_seconds: f64,
    /// The scenarios, in the features' order.
    pub scenarios: Vec<ScenarioRecord>,
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
        struct Components;

        impl<'de> Visitor<'de> for Components {
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

        deserializer.deserialize_any(Components)
    }
}

/// Collects a scenario's entries while it runs; clones share one list.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Vec<Entry>>>);

impl Recorder {
    /// Adds what happens now.
    pub fn add(&self, what: What) {
        let entry = Entry { at: Timestamp::now(), what };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// A copy of everything so far.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
