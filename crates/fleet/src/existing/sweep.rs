//! Deletes the objects that a run has made, found by the run's label.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clusters::cluster::{Cluster, HUB};
use futures::StreamExt as _;
use futures::future::try_join_all;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::discovery::{Discovery, verbs};
use serde_json::{Value, json};

use crate::Fleet;
use crate::error::FleetError;
use crate::existing_error::ExistingFleetError;
use crate::kinds::{CLUSTER_RESOURCE_PLACEMENT, CLUSTER_RUN, MEMBER_CLUSTER, NAMESPACE, RESOURCE_PLACEMENT, RUN};
use crate::labels::{LABELLED, MEMBER_LABEL, OURS, RUN_LABEL};

/// Time limit until all objects are gone. The deletion of a placement first removes its resources from members.
const LIMIT: Duration = Duration::from_secs(120);

/// Interval between two checks whether objects are left.
const INTERVAL: Duration = Duration::from_millis(500);

/// Number of kinds that are listed at the same time.
const AT_ONCE: usize = 8;

/// An object that carries a run's label.
struct LabelledObject {
    cluster: Cluster,
    resource: ApiResource,
    object: DynamicObject,
}

impl LabelledObject {
    fn is(&self, kind: crate::kinds::ResourceKind) -> bool {
        self.resource.group == kind.group && self.resource.kind == kind.kind
    }

    fn api(&self) -> Api<DynamicObject> {
        let client = self.cluster.client.clone();
        match self.object.metadata.namespace.as_deref() {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }

    fn name(&self) -> String {
        let metadata = &self.object.metadata;
        let (kind, name) = (&self.resource.kind, metadata.name.as_deref().unwrap_or_default());
        match metadata.namespace.as_deref() {
            Some(namespace) => format!("{kind}/{namespace}/{name} on {}", self.cluster.name),
            None => format!("{kind}/{name} on {}", self.cluster.name),
        }
    }

    /// Rank in the order of deletion: update runs first, then placements, which remove their resources from members;
    /// namespaces last.
    fn turn(&self) -> u8 {
        if self.is(CLUSTER_RUN) || self.is(RUN) {
            0
        } else if self.is(CLUSTER_RESOURCE_PLACEMENT) || self.is(RESOURCE_PLACEMENT) {
            1
        } else if self.is(NAMESPACE) {
            3
        } else {
            2
        }
    }

    async fn delete(&self) -> Result<(), FleetError> {
        let name = self.object.metadata.name.as_deref().unwrap_or_default();
        match self.api().delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            deleted => {
                deleted.map(drop).map_err(FleetError::api(&self.cluster.name, format!("delete {}", self.name())))
            }
        }
    }
}

/// Result of a sweep.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// Number of objects that were deleted.
    pub objects: usize,
    /// Kinds that may not be listed. Objects of these kinds may be left.
    pub unseen: BTreeSet<UnlistableKind>,
}

/// A kind that the credentials may not list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnlistableKind {
    /// Name of the cluster in the fleet.
    pub cluster: String,
    /// Plural name of the kind, with its group.
    pub resource: String,
}

/// Deletes the objects that a run has made on these clusters, the hub's first, and takes the run's labels and
/// annotations off the hub's MemberClusters. A second call finds nothing.
///
/// # Errors
/// Returns an error if a cluster refuses a request, or objects aren't gone after two minutes.
pub async fn sweep(clusters: &[Cluster], run: &str) -> Result<SweepResult, FleetError> {
    let started = Instant::now();
    let mut swept = SweepResult::default();
    let mut asked: Vec<String> = Vec::new();
    let kinds = try_join_all(clusters.iter().map(kinds)).await?;
    loop {
        let mut left = Vec::new();
        for (cluster, kinds) in clusters.iter().zip(&kinds) {
            left.extend(labelled(cluster, kinds, run, &mut swept.unseen).await?);
        }
        let Some(turn) = left.iter().map(LabelledObject::turn).min() else { break };
        if started.elapsed() > LIMIT {
            let objects = left.iter().map(LabelledObject::name).collect();
            let (run, seconds) = (run.to_owned(), LIMIT.as_secs());
            return Err(ExistingFleetError::Left { run, seconds, objects }.into());
        }
        for object in left.iter().filter(|object| object.turn() == turn) {
            if !asked.contains(&object.name()) {
                object.delete().await?;
                asked.push(object.name());
                swept.objects += 1;
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
    if let Some(hub) = clusters.iter().find(|cluster| cluster.name == HUB) {
        give_back(hub, run).await?;
    }
    Ok(swept)
}

impl Fleet {
    /// Deletes all objects that the run with this id has made on the fleet's clusters, and waits until they are gone.
    ///
    /// # Errors
    /// Returns an error if a cluster refuses a deletion, or an object isn't gone in time.
    pub async fn sweep(&self, run: &str) -> Result<(), FleetError> {
        let members = self.members().await.into_values().map(|member| member.cluster);
        let clusters: Vec<Cluster> = std::iter::once(self.hub().clone()).chain(members).collect();
        sweep(&clusters, run).await.map(drop)
    }
}

/// Kinds of a cluster whose objects can be listed and deleted.
async fn kinds(cluster: &Cluster) -> Result<Vec<ApiResource>, FleetError> {
    let discovery = Discovery::new(cluster.client.clone()).run().await;
    let discovery = discovery.map_err(FleetError::api(&cluster.name, "ask for the kinds that it knows"))?;
    let all = discovery.groups().flat_map(kube::discovery::ApiGroup::recommended_resources);
    let all = all.filter(|(_, can)| can.supports_operation(verbs::LIST) && can.supports_operation(verbs::DELETE));
    Ok(all.map(|(resource, _)| resource).collect())
}

/// Lists all objects of these kinds that carry the run's label. Kinds that may not be listed are added to `unseen`.
async fn labelled(
    cluster: &Cluster,
    kinds: &[ApiResource],
    run: &str,
    unseen: &mut BTreeSet<UnlistableKind>,
) -> Result<Vec<LabelledObject>, FleetError> {
    let params = ListParams::default().labels(&format!("{RUN_LABEL}={run}"));
    let lists: Vec<_> = futures::stream::iter(kinds)
        .map(async |resource| {
            let api: Api<DynamicObject> = Api::all_with(cluster.client.clone(), resource);
            match api.list(&params).await {
                Ok(list) => Ok((resource, Some(list.items))),
                Err(kube::Error::Api(status)) if status.code == 403 => Ok((resource, None)),
                // The kind was removed meanwhile, or can't be listed at all.
                Err(kube::Error::Api(status)) if [404, 405].contains(&status.code) => Ok((resource, Some(Vec::new()))),
                Err(error) => Err(FleetError::api(&cluster.name, format!("list {}", resource.plural))(error)),
            }
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut labelled = Vec::new();
    for list in lists {
        let (resource, objects) = list?;
        let Some(objects) = objects else {
            let group = if resource.group.is_empty() { String::new() } else { format!(".{}", resource.group) };
            let resource = format!("{}{group}", resource.plural);
            unseen.insert(UnlistableKind { cluster: cluster.name.clone(), resource });
            continue;
        };
        labelled.extend(objects.into_iter().map(|object| {
            let (cluster, resource) = (cluster.clone(), resource.clone());
            LabelledObject { cluster, resource, object }
        }));
    }
    Ok(labelled)
}

/// Object with null for each key: a merge patch with it removes the keys.
fn nulls<'a>(keys: impl Iterator<Item = &'a String>) -> Value {
    keys.map(|key| (key.clone(), Value::Null)).collect()
}

/// Takes a run's labels and annotations off the MemberClusters that it used.
pub(super) async fn give_back(hub: &Cluster, run: &str) -> Result<(), FleetError> {
    let api = MEMBER_CLUSTER.api(&hub.client, None);
    let members = api.list(&ListParams::default()).await.map_err(FleetError::api(HUB, "list MemberClusters"))?;
    for member in members.items {
        let Some(name) = &member.metadata.name else { continue };
        let annotations = member.metadata.annotations.clone().unwrap_or_default();
        if annotations.get(RUN_LABEL).is_none_or(|of| of != run) {
            continue;
        }
        let ours =
            |key: &&String| key.starts_with(OURS) && (*key != MEMBER_LABEL || annotations.contains_key(LABELLED));
        let labels = member.metadata.labels.as_ref().into_iter().flat_map(|l| l.keys()).filter(ours);
        let annotated = annotations.keys().filter(|key| key.starts_with(OURS));
        let patch = json!({"metadata": {"labels": nulls(labels), "annotations": nulls(annotated)}});
        let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await;
        patched.map_err(FleetError::api(HUB, format!("take labels off MemberCluster/{name}")))?;
    }
    Ok(())
}
