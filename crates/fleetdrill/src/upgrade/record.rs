//! What an upgrade showed: the one record that its reports are made of.

use fleet::upgrade::{Order, Phase};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use steps::record::{RunRecord, ScenarioRecord};

/// What `fleetdrill upgrade` saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpgradeRecord {
    /// fleetdrill's version.
    pub fleetdrill: String,
    /// KubeFleet's version before.
    pub from: String,
    /// KubeFleet's version after.
    pub to: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How long all of it took, in seconds.
    pub seconds: f64,
    /// The scenarios on a fleet of the old version.
    pub before: RunRecord,
    /// What each order of upgrade showed, each on a fleet of its own.
    pub orders: Vec<OrderRecord>,
    /// Why it ended before all orders were gone: it was interrupted, or the environment is at fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut_off: Option<String>,
}

impl UpgradeRecord {
    /// Whether it has seen nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before.scenarios.is_empty() && self.orders.is_empty()
    }
}

/// One order of upgrade.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// Which one.
    pub order: Order,
    /// The scenarios that were in the middle of things when the fleet was upgraded.
    pub forth: Passage,
    /// The scenarios on the upgraded fleet; none where the upgrade failed or they weren't asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<RunRecord>,
    /// The way back, where it was asked for and the upgrade didn't fail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub back: Option<Passage>,
}

/// A fleet's way from one version to another, with scenarios in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The id of the run of its scenarios, which the names of what they made end with.
    #[serde(default)]
    pub id: String,
    /// The version that it comes from.
    pub from: String,
    /// The version that it goes to.
    pub to: String,
    /// The phases that were reached.
    pub phases: Vec<PhaseRecord>,
    /// Why it was not gone to its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The scenarios in flight, in the features' order: their entries say in which phase something happened
    /// (`upgraded`) and what was lost (`lost`). What comes behind the last phase is the remedy.
    pub scenarios: Vec<ScenarioRecord>,
}

/// A phase of an upgrade.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Which one.
    pub phase: Phase,
    /// When its agents were all there.
    pub at: Timestamp,
    /// How long it took from the first CRD until all new agents worked, in seconds.
    pub seconds: f64,
}
