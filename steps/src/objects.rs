//! The objects that scenarios speak of, with their kinds in both scopes.

use std::time::Instant;

use clusters::cluster::Cluster;
use diagnosis::kubefleet::RESOURCE_INDEX;

pub(crate) use diagnosis::kubefleet::PARENT_PLACEMENT as PARENT;
use fleet::FleetError;
use fleet::argocd;
use fleet::capability::Capabilities;
use fleet::kinds::{self, ResourceKind};
use fleet::observe::WatchSelection;
use kube::api::ListParams;
use record::ObjectPath;
use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::selected_members::SelectedMembers;

/// Cluster-scoped or namespaced: placements, runs, strategies and approval requests come in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlacementScope {
    /// ClusterResourcePlacement, ClusterStagedUpdateRun and so on.
    Cluster,
    /// ResourcePlacement, StagedUpdateRun and so on, in this namespace.
    Namespace(String),
}

impl PlacementScope {
    /// The namespace, where there is one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Cluster => None,
            Self::Namespace(namespace) => Some(namespace),
        }
    }

    fn pick(&self, cluster: ResourceKind, namespaced: ResourceKind) -> ResourceKind {
        match self {
            Self::Cluster => cluster,
            Self::Namespace(_) => namespaced,
        }
    }

    /// The placement's kind.
    #[must_use]
    pub fn placement(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::RESOURCE_PLACEMENT)
    }

    /// The binding's kind.
    #[must_use]
    pub fn binding(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_RESOURCE_BINDING, kinds::RESOURCE_BINDING)
    }

    /// The resource snapshot's kind.
    #[must_use]
    pub fn resource_snapshot(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_RESOURCE_SNAPSHOT, kinds::RESOURCE_SNAPSHOT)
    }

    /// The policy snapshot's kind.
    #[must_use]
    pub fn policy_snapshot(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_POLICY_SNAPSHOT, kinds::POLICY_SNAPSHOT)
    }

    /// The run's kind.
    #[must_use]
    pub fn run(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_RUN, kinds::RUN)
    }

    /// The strategy's kind.
    #[must_use]
    pub fn strategy(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_STRATEGY, kinds::STRATEGY)
    }

    /// The approval request's kind.
    #[must_use]
    pub fn approval_request(&self) -> ResourceKind {
        self.pick(kinds::CLUSTER_APPROVAL_REQUEST, kinds::APPROVAL_REQUEST)
    }
}

/// A placement of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placement {
    /// Real name of the placement.
    pub name: String,
    /// Scope of the placement.
    pub scope: PlacementScope,
    /// The namespace whose contents it places.
    pub content: String,
    /// The members that it selected at first.
    pub(crate) choice: SelectedMembers,
    /// Number of changes to its ConfigMap.
    pub revision: u32,
    /// Number of resource snapshots that there should be.
    pub snapshots: u32,
    /// True if its Deployment, if it has one, is wrapped in a ResourceEnvelope.
    pub enveloped: bool,
    /// True if only update runs take its resource snapshots: strategy External, from v0.3 on.
    pub snapshots_by_runs: bool,
}

impl Placement {
    /// The condition type of the placement itself: `WorkSynchronized` is `ClusterResourcePlacementWorkSynchronized` on a
    /// ClusterResourcePlacement.
    #[must_use]
    pub fn condition(&self, type_: &str) -> String {
        format!("{}{type_}", self.scope.placement().kind)
    }

    /// Path of the placement.
    pub(crate) fn path(&self) -> ObjectPath {
        ObjectPath::new(self.scope.placement().kind, self.scope.namespace(), &self.name)
    }

    /// Kind and name, as sentences have them: `ResourcePlacement/web`, without the namespace.
    pub(crate) fn kind_and_name(&self) -> String {
        format!("{}/{}", self.scope.placement().kind, self.name)
    }

    /// Returns what to watch for the placement.
    pub(crate) fn watched(&self) -> WatchSelection {
        WatchSelection::one("hub", self.scope.placement(), self.scope.namespace(), &self.name)
    }
}

/// An update run of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UpdateRun {
    /// Real name of the update run.
    pub name: String,
    /// The placement's name in the feature.
    pub placement: String,
    /// Scope of the update run, which is the placement's.
    pub scope: PlacementScope,
    /// Since when it waits for the cluster whose stuck threshold has passed; none before it has.
    #[serde(skip)]
    pub waits_since: Option<Instant>,
    /// Features of the version under which the run was made. A run names its approval requests once, and keeps the names through an
    /// upgrade.
    pub(crate) made_under: Capabilities,
}

impl UpdateRun {
    /// Path of the update run.
    pub(crate) fn path(&self) -> ObjectPath {
        ObjectPath::new(self.scope.run().kind, self.scope.namespace(), &self.name)
    }

    /// Kind and name, as sentences have them: `StagedUpdateRun/run`, without the namespace.
    pub(crate) fn kind_and_name(&self) -> String {
        format!("{}/{}", self.scope.run().kind, self.name)
    }

    /// Returns what to watch for the update run.
    pub(crate) fn watched(&self) -> WatchSelection {
        WatchSelection::one("hub", self.scope.run(), self.scope.namespace(), &self.name)
    }
}

/// An Application of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Application {
    /// Real name of the Application.
    pub name: String,
    /// The repository's name in the feature.
    pub repository: String,
    /// The member that it deploys to; none for the hub.
    pub member: Option<String>,
}

impl Application {
    /// Path of the Application.
    pub(crate) fn path(&self) -> ObjectPath {
        ObjectPath::new(kinds::APPLICATION.kind, Some(argocd::NAMESPACE), &self.name)
    }

    /// Returns what to watch for the Application.
    pub(crate) fn watched(&self) -> WatchSelection {
        WatchSelection::one("hub", kinds::APPLICATION, Some(argocd::NAMESPACE), &self.name)
    }
}

/// Name of the envelope that a placement may have; a cluster-scoped one carries the placement's name before it.
pub(crate) const ENVELOPE: &str = "envelope";

/// Returns the name of the Work that KubeFleet makes of a placement's resources outside of envelopes.
pub(crate) fn work_name(placement: &Placement) -> String {
    match placement.scope.namespace() {
        Some(namespace) => format!("{namespace}.{}-work", placement.name),
        None => format!("{}-work", placement.name),
    }
}

/// Returns the name of the second Work of a placement's envelope that a scenario makes.
pub(crate) fn second_work(placement: &Placement) -> String {
    format!("{}-second-work", placement.name)
}

/// The greatest index of the placement's resource snapshots; none where it has none.
pub(crate) async fn latest_snapshot(hub: &Cluster, p: &Placement) -> Result<Option<u32>, StepError> {
    let params = ListParams::default().labels(&format!("{PARENT}={}", p.name));
    let listed = p.scope.resource_snapshot().api(&hub.client, p.scope.namespace()).list_metadata(&params).await;
    let listed = listed.map_err(FleetError::api("hub", format!("list the resource snapshots of {}", p.name)))?;
    let labels = listed.items.iter().filter_map(|snapshot| snapshot.metadata.labels.as_ref());
    Ok(labels.filter_map(|labels| labels.get(RESOURCE_INDEX)?.parse().ok()).max())
}
