//! Upgrades of a fleet: their orders and phases, and the record that an upgrade's reports are made of.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString};

use crate::{ContinuousDiagnosis, Product, RunRecord, ScenarioRecord};

/// In which order a fleet is upgraded. Argo CD, which runs on the hub only, is upgraded `at-once`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    JsonSchema,
    Serialize,
    Deserialize,
    Display,
    EnumIter,
    EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum UpgradeOrder {
    /// The hub, and then its members.
    HubFirst,
    /// The members, and then their hub.
    MembersFirst,
    /// Hub and members together.
    AtOnce,
}

/// Progress of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum UpgradePhase {
    /// The old version runs everywhere.
    Before,
    /// Hub and members run different versions.
    Skew,
    /// The new version runs everywhere.
    After,
}

impl UpgradePhase {
    /// In words.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Before => "the old version runs everywhere",
            Self::Skew => "hub and members run different versions",
            Self::After => "the new version runs everywhere",
        }
    }
}

impl UpgradeOrder {
    /// The phases of an upgrade of KubeFleet after [`UpgradePhase::Before`], each with what is exchanged at its beginning.
    #[must_use]
    pub fn phases(self) -> &'static [(UpgradePhase, &'static [FleetPart])] {
        match self {
            Self::HubFirst => &[(UpgradePhase::Skew, &[FleetPart::Hub]), (UpgradePhase::After, &[FleetPart::Members])],
            Self::MembersFirst => {
                &[(UpgradePhase::Skew, &[FleetPart::Members]), (UpgradePhase::After, &[FleetPart::Hub])]
            }
            Self::AtOnce => &[(UpgradePhase::After, &[FleetPart::Hub, FleetPart::Members])],
        }
    }
}

/// Part of a fleet that is upgraded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "kebab-case")]
pub enum FleetPart {
    /// The hub's CRDs and hub-agent.
    Hub,
    /// The members' CRDs and member-agents.
    Members,
    /// Argo CD: its CRDs, its rights and all of its components.
    #[strum(serialize = "Argo CD")]
    ArgoCd,
}

/// Record of `fleetdrill upgrade`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct UpgradeRecord {
    /// Version of fleetdrill.
    pub fleetdrill: String,
    /// Product that is upgraded. Records of earlier versions of fleetdrill don't name it: they are about KubeFleet.
    #[serde(default)]
    pub product: Product,
    /// Version of the product before the upgrade.
    pub from: String,
    /// Version of the product after the upgrade.
    pub to: String,
    /// Start of the command.
    pub started_at: Timestamp,
    /// Duration of the command in seconds.
    pub seconds: f64,
    /// Run of the scenarios on a fleet with the old version.
    pub before: RunRecord,
    /// Results of each order of upgrade, each on a fleet of its own.
    pub orders: Vec<UpgradeOrderRecord>,
    /// Reason why the command ended before all orders were tried: an interrupt, or an error of the environment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut_off: Option<String>,
}

impl UpgradeRecord {
    /// True if nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before.scenarios.is_empty() && self.orders.is_empty()
    }
}

/// Record of one order of upgrade.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct UpgradeOrderRecord {
    /// The order.
    pub order: UpgradeOrder,
    /// Upgrade, with the scenarios in flight.
    pub forth: VersionChangeRecord,
    /// Run of the scenarios on the upgraded fleet; `None` if the upgrade failed or the run wasn't requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<RunRecord>,
    /// Downgrade, if it was requested and the upgrade didn't fail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub back: Option<VersionChangeRecord>,
}

/// Upgrade or downgrade of a fleet, with scenarios in flight.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct VersionChangeRecord {
    /// Id of the run of the scenarios. The names of objects that the scenarios create end with it.
    #[serde(default)]
    pub id: String,
    /// Version before.
    pub from: String,
    /// Version after.
    pub to: String,
    /// Phases that were reached.
    pub phases: Vec<UpgradePhaseRecord>,
    /// Reason why the upgrade or downgrade didn't finish.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Scenarios in flight, in the features' order. Their entries show in which phase something happened (`upgraded`)
    /// and what was lost (`lost`). The entries after the last phase are the remedy.
    pub scenarios: Vec<ScenarioRecord>,
    /// Result of the continuous diagnosis; `None` if it was off.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continuous_diagnosis: Option<ContinuousDiagnosis>,
}

/// Record of a phase of an upgrade.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct UpgradePhaseRecord {
    /// The phase.
    pub phase: UpgradePhase,
    /// Time when all of the phase's agents worked.
    pub at: Timestamp,
    /// Duration in seconds, from the first CRD until all new agents worked.
    pub seconds: f64,
}
