//! Features by which versions of KubeFleet differ.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};

/// Feature of KubeFleet that one version has and another lacks.
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
pub enum Capability {
    /// ResourcePlacements, and update runs of them.
    NamespacedPlacements,
    /// An update run's Progressing says how it goes: `UpdateRunProgressing`, and False once it has ended.
    RunProgress,
    /// An update run says that it is stuck, with reason `UpdateRunStuck`.
    StuckRuns,
    /// An update run says that it waits, with reason `UpdateRunWaiting`, and not only its stage.
    WaitingRuns,
    /// `kubectl get csur` shows update runs, with a column for their progress.
    RunColumns,
    /// A stage of a strategy has tasks before it.
    BeforeStageTasks,
    /// An update run may leave its resource snapshot index out.
    OptionalIndex,
    /// An update run has a `spec.state`, whatever it does.
    RunStateField,
    /// `spec.state` says whether an update run goes: `Initialize`, `Run`, `Stop`.
    RunStates,
    /// Update runs take the resource snapshots of placements with strategy External; nothing else does.
    SnapshotsByRuns,
    /// A placement with strategy External keeps that strategy: the API server refuses another.
    LastingExternal,
    /// A placement that gets another strategy is rolled out at once, and not only when something else of it changes.
    StrategyChanges,
    /// A placement with strategy External says in its status that its rollout is another's.
    ExternalReported,
    /// The status of a placement with strategy External names the update runs to look at.
    ExternalNamesRuns,
    /// Approval requests are labelled with their task.
    TaskLabels,
    /// An update run skips stages that select no cluster, with their tasks.
    SkippedStages,
    /// Resources are wrapped in a ClusterResourceEnvelope or a ResourceEnvelope, and not in a ConfigMap.
    Envelopes,
    /// Overrides are served as `v1beta1`, and not only as `v1alpha1`.
    BetaOverrides,
    /// Overrides apply to the objects in an envelope, and not only to the envelope.
    EnvelopeOverrides,
    /// A Work goes only after the member has deleted what it had placed.
    AwaitedDeletion,
    /// An object that can't be compared by a dry run is compared as a whole, and the reason says so.
    DegradedComparison,
    /// The hub-agent goes on after a panic of one of its controllers.
    RecoveredPanics,
    /// The API server refuses a policy that lacks the number of its clusters.
    PolicyRules,
}

impl Capability {
    /// All capabilities.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }
}

/// Features that an installed version of KubeFleet has.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeSet<Capability>);

impl Capabilities {
    /// True if the version has the capability.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    /// True if the version has none of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The capabilities, in the order of [`Capability`].
    pub fn iter(&self) -> impl Iterator<Item = Capability> {
        self.0.iter().copied()
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<T: IntoIterator<Item = Capability>>(capabilities: T) -> Self {
        Self(capabilities.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_can_what_it_was_given_and_nothing_else() {
        let version: Capabilities = [Capability::Envelopes].into_iter().collect();
        let can: Vec<Capability> = Capability::all().filter(|capability| version.can(*capability)).collect();
        assert_eq!(can, [Capability::Envelopes]);
        assert_eq!(version.iter().collect::<Vec<_>>(), can);
        assert!(!version.is_empty());
        assert!(Capabilities::default().is_empty());
    }
}
