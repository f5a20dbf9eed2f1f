//! Labels and annotations of fleetdrill's own.

use clusters::cluster::Cluster;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::error::FleetError;
use crate::install::FIELD_MANAGER;
use crate::kinds::NAMESPACE;

/// Prefix of fleetdrill's labels and annotations.
pub(crate) const OURS: &str = "fleetdrill.dev/";

/// Label with value `true` on a cluster's kube-system namespace, which permits fleetdrill to break anything in the
/// cluster.
pub const DISPOSABLE: &str = "fleetdrill.dev/disposable";

/// Label with a run's id on every object that the run makes, and annotation with this id on the MemberClusters that it
/// uses.
pub const RUN_LABEL: &str = "fleetdrill.dev/run";

/// Label that each MemberCluster has from its creation, with the MemberCluster's name as the value. Selectors use this
/// label instead of new ones: each change of a MemberCluster's labels makes the hub-agent schedule all placements again
/// (v0.1.2).
pub const MEMBER_LABEL: &str = "fleetdrill.dev/member";

/// Annotation on a MemberCluster to which a run has added the label [`crate::MEMBER_LABEL`].
pub(crate) const LABELLED: &str = "fleetdrill.dev/labelled";

/// Namespace that every cluster has, and whose uid differs from cluster to cluster.
pub(crate) const SYSTEM: &str = "kube-system";

/// Marks a cluster that fleetdrill has made as disposable.
pub(crate) async fn mark_disposable(cluster: &Cluster) -> Result<(), FleetError> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM, "labels": {DISPOSABLE: "true"}},
    });
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let applied = NAMESPACE.api(&cluster.client, None).patch(SYSTEM, &params, &Patch::Apply(namespace)).await;
    applied.map(drop).map_err(FleetError::api(&cluster.name, format!("label Namespace/{SYSTEM}")))
}
