//! Probes that show whether a hub-agent that was just started works: placements that select no member and are deleted
//! at the end.

use std::convert::Infallible;
use std::time::Duration;

use clusters::cluster::Cluster;
use diagnosis::kubefleet::{PARENT_PLACEMENT, RESOURCE_INDEX};
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use record::{Capabilities, Capability};
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::kinds::{CLUSTER_RESOURCE_PLACEMENT, CONFIG_MAP, RESOURCE_PLACEMENT, RESOURCE_SNAPSHOT, ResourceKind};
use crate::labels::MEMBER_LABEL;
use crate::member::OURS;
use crate::objects::{create, delete};
use crate::observe::{Observer, Verdict, WatchSelection, WatchedObjects};

/// Time limit for a new agent to work. A new hub-agent took about 3 s here (v0.1.2, v0.14.0).
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// Name of the probe placements, and of the probe of Argo CD.
pub(crate) const PROBE: &str = "fleetdrill-probe";

/// Index of the first resource snapshot that the hub-agent takes because it has noticed a change. Snapshot 1 may come from a
/// reconcile with another reason, such as the first scheduling of the probe (v0.1.2).
const NOTICED_INDEX: u32 = 2;

/// Interval between changes of the ConfigMap whose snapshots [`notices_changes`] waits for.
const CHANGE_INTERVAL: Duration = Duration::from_millis(250);

/// Waits until the hub-agent has scheduled a probe placement, and until the deleted probe is gone.
pub(crate) async fn schedules(hub: &Cluster, observer: &Observer) -> Result<(), FleetError> {
    let kind = CLUSTER_RESOURCE_PLACEMENT;
    let selector = json!({"group": "", "version": "v1", "kind": "Namespace", "name": "fleetdrill-nothing"});
    create(hub, kind, None, probe(kind, &selector)).await?;
    let watched = WatchSelection::one(&hub.name, kind, None, PROBE);
    let answered = observer
        .until(hub, &watched, "the new hub-agent answers", ANSWER_LIMIT, |objects| {
            if objects.get(PROBE).is_some_and(|object| is_scheduled(object)) {
                Verdict::Holds
            } else {
                Verdict::Pending("it hasn't scheduled a placement".into())
            }
        })
        .await;
    delete(hub, kind, None, PROBE).await?;
    answered?;
    is_gone(hub, &watched, observer).await
}

/// Waits until the hub-agent takes a new resource snapshot of a probe ResourcePlacement after a change of its ConfigMap.
///
/// A hub-agent discovers the API's kinds at its start and every 30 s. It watches ResourcePlacements only from the first
/// discovery after it has seen an object in a namespace that may be placed. Before that discovery it misses changes of
/// resources that ResourcePlacements select, and doesn't place them later (v0.1.2, and v0.3.1 by its source). A hub in
/// production has such objects when the hub-agent starts. Does nothing on a version without ResourcePlacements.
pub(crate) async fn notices_changes(
    hub: &Cluster,
    capabilities: &Capabilities,
    observer: &Observer,
) -> Result<(), FleetError> {
    if !capabilities.can(Capability::NamespacedPlacements) {
        return Ok(());
    }
    let selector = json!({"group": "", "version": "v1", "kind": "ConfigMap", "name": OURS});
    create(hub, RESOURCE_PLACEMENT, Some(OURS), probe(RESOURCE_PLACEMENT, &selector)).await?;
    let noticed = async {
        snapshot(hub, observer, "the hub-agent takes a resource snapshot", 0).await?;
        tokio::select! {
            noticed = snapshot(hub, observer, "the hub-agent notices a change of a resource", NOTICED_INDEX) => noticed,
            Err(error) = change_repeatedly(hub) => Err(error),
        }
    }
    .await;
    let watched = WatchSelection::one(&hub.name, RESOURCE_PLACEMENT, Some(OURS), PROBE);
    delete(hub, RESOURCE_PLACEMENT, Some(OURS), PROBE).await?;
    noticed?;
    is_gone(hub, &watched, observer).await
}

/// Returns a placement that selects a resource and no member.
fn probe(kind: ResourceKind, selector: &Value) -> Value {
    let nobody = json!({"labelSelector": {"matchLabels": {MEMBER_LABEL: "nobody"}}});
    let terms = json!({"clusterSelectorTerms": [nobody]});
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": PROBE},
        "spec": {
            "resourceSelectors": [selector],
            "policy": {"placementType": "PickAll", "affinity": {"clusterAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": terms}}},
        },
    })
}

fn is_scheduled(placement: &Value) -> bool {
    diagnosis::Object::new(placement).condition("ClusterResourcePlacementScheduled").is_some()
}

/// Waits for a resource snapshot of the probe with at least this index.
async fn snapshot(hub: &Cluster, observer: &Observer, expectation: &str, index: u32) -> Result<(), FleetError> {
    let labels = format!("{PARENT_PLACEMENT}={PROBE}");
    let watched = WatchSelection::labelled(&hub.name, RESOURCE_SNAPSHOT, Some(OURS), &labels);
    observer
        .until(hub, &watched, expectation, ANSWER_LIMIT, |objects| match last_index(objects) {
            Some(last) if last >= index => Verdict::Holds,
            Some(last) => Verdict::Pending(format!("the last resource snapshot has index {last}")),
            None => Verdict::Pending("there is no resource snapshot".into()),
        })
        .await
        .map(drop)
}

fn last_index(snapshots: &WatchedObjects) -> Option<u32> {
    snapshots.values().filter_map(|object| diagnosis::Object::new(object).label(RESOURCE_INDEX)?.parse().ok()).max()
}

/// Changes the ConfigMap that the probe selects once per [`CHANGE_INTERVAL`]. Returns only if a change is refused.
async fn change_repeatedly(hub: &Cluster) -> Result<Infallible, FleetError> {
    let api = CONFIG_MAP.api(&hub.client, Some(OURS));
    let mut interval = tokio::time::interval(CHANGE_INTERVAL);
    loop {
        interval.tick().await;
        let patch = json!({"data": {"changed-at": Timestamp::now()}});
        let patched = api.patch(OURS, &PatchParams::default(), &Patch::Merge(&patch)).await;
        patched.map_err(FleetError::api(&hub.name, format!("change ConfigMap/{OURS}/{OURS}")))?;
    }
}

/// Waits until the hub-agent has removed the finalizer of the deleted probe.
async fn is_gone(hub: &Cluster, watched: &WatchSelection, observer: &Observer) -> Result<(), FleetError> {
    let gone = "the hub-agent lets a deleted placement go";
    observer.until(hub, watched, gone, ANSWER_LIMIT, |objects| Verdict::gone(objects, PROBE)).await.map(drop)
}
