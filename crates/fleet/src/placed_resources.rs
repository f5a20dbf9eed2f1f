//! Records the resources that KubeFleet has placed on members at one moment, so that losses can be found later.

use std::collections::{BTreeMap, BTreeSet};

use clusters::cluster::Cluster;
use diagnosis::kubefleet::PARENT_BINDING;
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use record::{Loss, LossKind, ObjectPath};
use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{APPLIED_WORK, CLUSTER_RESOURCE_BINDING, POD, RESOURCE_BINDING, WORK};

/// Resources, with their uids, that the Works of some placements have put on members, and Pods in the same namespaces
/// with their restart counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PlacedResources {
    /// Resources and Pods by member.
    members: BTreeMap<String, MemberResources>,
    /// Text that the names of the recorded Works contain.
    ours: String,
}

/// Resources and Pods on one member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct MemberResources {
    /// Uids by resource.
    #[serde(with = "pairs")]
    resources: BTreeMap<AppliedResource, String>,
    /// Uids and restart counts by namespace and name.
    #[serde(with = "pairs")]
    pods: BTreeMap<(String, String), (String, i64)>,
}

/// An entry of an AppliedWork's `status.appliedResources`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct AppliedResource {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
    #[serde(rename = "resource")]
    plural: String,
    #[serde(default)]
    namespace: String,
    name: String,
}

impl AppliedResource {
    fn path(&self) -> ObjectPath {
        ObjectPath::new(&self.kind, Some(&self.namespace), &self.name)
    }

    /// Uid that the resource has now, if it exists.
    async fn uid(&self, cluster: &Cluster) -> Result<Option<String>, FleetError> {
        let api_version =
            if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) };
        let kind = ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version,
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        };
        let api: Api<DynamicObject> = match self.namespace.as_str() {
            "" => Api::all_with(cluster.client.clone(), &kind),
            namespace => Api::namespaced_with(cluster.client.clone(), namespace, &kind),
        };
        let found = api.get_metadata_opt(&self.name).await;
        // A resource that is being deleted is lost as well.
        let found = found.map_err(FleetError::api(&cluster.name, format!("read {}", self.path())))?;
        Ok(found.filter(|object| object.metadata.deletion_timestamp.is_none()).and_then(|object| object.uid()))
    }
}

impl PlacedResources {
    /// Records the resources that Works with `ours` in their names have put on the members of a fleet.
    ///
    /// # Errors
    /// Returns an error if a member doesn't answer.
    pub async fn on(fleet: &Fleet, ours: &str) -> Result<Self, FleetError> {
        let members = fleet.members().await;
        let read = members.values().map(|member| on_member(&member.cluster, ours));
        let read = try_join_all(read).await?;
        Ok(Self { members: members.into_keys().zip(read).collect(), ours: ours.to_owned() })
    }

    /// Finds the recorded resources and Pods that don't exist any more or aren't the same, and Works that belong to no
    /// binding.
    ///
    /// # Errors
    /// Returns an error if a cluster doesn't answer.
    pub async fn lost(&self, fleet: &Fleet) -> Result<Vec<Loss>, FleetError> {
        let members = fleet.members().await;
        let here = self.members.iter().filter_map(|(name, before)| Some((before, members.get(name)?.cluster.clone())));
        let lost = try_join_all(here.map(async |(before, cluster)| lost_on(before, &cluster).await)).await?;
        let mut lost: Vec<Loss> = lost.into_iter().flatten().collect();
        lost.extend(self.orphans(fleet.hub()).await?);
        Ok(lost)
    }

    /// Finds Works whose binding doesn't exist.
    async fn orphans(&self, hub: &Cluster) -> Result<Vec<Loss>, FleetError> {
        let works = list(hub, WORK).await?;
        let mut bindings = list(hub, CLUSTER_RESOURCE_BINDING).await?;
        bindings.extend(list(hub, RESOURCE_BINDING).await?);
        let bindings: BTreeSet<String> = bindings.iter().map(kube::ResourceExt::name_any).collect();
        let ours = works.iter().filter(|work| is_ours(&work.name_any(), &self.ours));
        let orphans =
            ours.filter(|work| work.labels().get(PARENT_BINDING).is_some_and(|parent| !bindings.contains(parent)));
        Ok(orphans.map(orphaned).collect())
    }
}

/// Lists all objects of a kind; none if the hub's version of KubeFleet doesn't serve the kind.
async fn list(hub: &Cluster, kind: crate::kinds::ResourceKind) -> Result<Vec<DynamicObject>, FleetError> {
    match kind.api(&hub.client, None).list(&ListParams::default()).await {
        Ok(objects) => Ok(objects.items),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(FleetError::api(&hub.name, format!("list {}", kind.plural))(error)),
    }
}

/// True if a name contains `ours`, and no letter or digit follows it.
fn is_ours(name: &str, ours: &str) -> bool {
    name.match_indices(ours).any(|(at, _)| !name[at + ours.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()))
}

async fn on_member(cluster: &Cluster, ours: &str) -> Result<MemberResources, FleetError> {
    let works = APPLIED_WORK.api(&cluster.client, None).list(&ListParams::default()).await;
    let works = works.map_err(FleetError::api(&cluster.name, "list appliedworks"))?;
    let works = works.items.iter().filter(|work| is_ours(&work.name_any(), ours));
    let resources = works.filter_map(|work| work.data.pointer("/status/appliedResources")?.as_array()).flatten();
    let mut on = MemberResources::default();
    for resource in resources {
        let uid = resource.get("uid").and_then(|uid| uid.as_str()).unwrap_or_default().to_owned();
        if let Ok(resource) = serde_json::from_value::<AppliedResource>(resource.clone()) {
            on.resources.insert(resource, uid);
        }
    }
    let namespaces: BTreeSet<&str> =
        on.resources.keys().map(|r| r.namespace.as_str()).filter(|n| !n.is_empty()).collect();
    for namespace in namespaces.into_iter().map(str::to_owned).collect::<Vec<_>>() {
        on.pods.extend(pods(cluster, &namespace).await?);
    }
    Ok(on)
}

/// Pods of a namespace that aren't being deleted.
async fn pods(cluster: &Cluster, namespace: &str) -> Result<BTreeMap<(String, String), (String, i64)>, FleetError> {
    let pods = POD.api(&cluster.client, Some(namespace)).list(&ListParams::default()).await;
    let pods = pods.map_err(FleetError::api(&cluster.name, format!("list the Pods of {namespace}")))?;
    let there = pods.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(there.map(|p| ((namespace.to_owned(), p.name_any()), (p.uid().unwrap_or_default(), restarts(p)))).collect())
}

/// Restarts of all containers of a Pod.
fn restarts(pod: &DynamicObject) -> i64 {
    let containers = pod.data.pointer("/status/containerStatuses").and_then(|c| c.as_array());
    containers.into_iter().flatten().filter_map(|c| c.get("restartCount")?.as_i64()).sum()
}

fn orphaned(work: &DynamicObject) -> Loss {
    let object = ObjectPath::new(WORK.kind, work.namespace().as_deref(), &work.name_any());
    Loss { object, member: None, how: LossKind::Orphaned }
}

async fn lost_on(before: &MemberResources, cluster: &Cluster) -> Result<Vec<Loss>, FleetError> {
    let mut lost = Vec::new();
    for (resource, uid) in &before.resources {
        let how = match resource.uid(cluster).await? {
            None => LossKind::Deleted,
            Some(now) if now != *uid => LossKind::Recreated,
            Some(_) => continue,
        };
        lost.push(Loss { object: resource.path(), member: Some(cluster.name.clone()), how });
    }
    let namespaces: BTreeSet<&String> = before.pods.keys().map(|(namespace, _)| namespace).collect();
    let mut now = BTreeMap::new();
    for namespace in namespaces {
        now.extend(pods(cluster, namespace).await?);
    }
    for (key, (uid, restarts)) in &before.pods {
        let how = match now.get(key) {
            Some((same, more)) if same == uid && more > restarts => LossKind::Restarted,
            Some((same, _)) if same == uid => continue,
            _ => LossKind::Deleted,
        };
        let object = ObjectPath::new(POD.kind, Some(&key.0), &key.1);
        lost.push(Loss { object, member: Some(cluster.name.clone()), how });
    }
    Ok(lost)
}

/// Maps whose keys aren't strings, stored as lists of pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: DeserializeOwned + Ord,
        V: DeserializeOwned,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn a_name_is_ours_by_its_suffix_and_not_by_a_longer_one() {
        for name in ["web-abcd1", "web-abcd1-work", "app-abcd1.web-abcd1-work"] {
            assert!(is_ours(name, "-abcd1"), "{name}");
        }
        assert!(!is_ours("web-abcd12", "-abcd1"));
    }
}
