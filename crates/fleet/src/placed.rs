//! What KubeFleet has put on members at one moment, so that one can say later what was lost.

use std::collections::{BTreeMap, BTreeSet};

use clusters::cluster::Cluster;
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::{APPLIED_WORK, CLUSTER_RESOURCE_BINDING, POD, RESOURCE_BINDING, WORK};

/// The label of a Work that names the binding which it was made for (v0.1.2, v0.14.0).
const PARENT_BINDING: &str = "kubernetes-fleet.io/parent-resource-binding";

/// What the Works of some placements have put on members: resources with their uids, and Pods with how often they restarted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Placed {
    /// By member.
    members: BTreeMap<String, OnMember>,
    /// The part that names of Works have.
    ours: String,
}

/// A difference between what placements had put on members at one moment and what is there later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacedLoss {
    /// A resource isn't there, or is being deleted.
    ResourceDeleted {
        /// `Kind/name` or `Kind/namespace/name`.
        resource: String,
        /// The member.
        member: String,
    },
    /// A resource has another uid.
    ResourceRecreated {
        /// As above.
        resource: String,
        /// The member.
        member: String,
    },
    /// A Pod isn't there, or has another uid.
    PodDeleted {
        /// `namespace/name`.
        pod: String,
        /// The member.
        member: String,
    },
    /// Containers of a Pod have restarted.
    PodRestarted {
        /// `namespace/name`.
        pod: String,
        /// The member.
        member: String,
    },
    /// The binding of a Work isn't there.
    WorkOrphaned {
        /// `namespace/name`.
        work: String,
    },
}

impl std::fmt::Display for PlacedLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ResourceDeleted { resource, member } => write!(f, "{resource} on {member} was deleted"),
            Self::ResourceRecreated { resource, member } => {
                write!(f, "{resource} on {member} was deleted and created again")
            }
            Self::PodDeleted { pod, member } => write!(f, "Pod/{pod} on {member} was deleted"),
            Self::PodRestarted { pod, member } => write!(f, "Pod/{pod} on {member} was restarted"),
            Self::WorkOrphaned { work } => write!(f, "Work/{work} belongs to no binding any more"),
        }
    }
}

/// What is on one member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OnMember {
    /// By resource, with the uid.
    #[serde(with = "pairs")]
    resources: BTreeMap<Resource, String>,
    /// By namespace and name, with the uid and how often its containers restarted.
    #[serde(with = "pairs")]
    pods: BTreeMap<(String, String), (String, i64)>,
}

/// One of an AppliedWork's `status.appliedResources`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Resource {
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

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{}/{}", self.kind, self.name),
            namespace => write!(f, "{}/{namespace}/{}", self.kind, self.name),
        }
    }
}

impl Resource {
    /// The uid that it has now, if it is there.
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
        // One that is being deleted is lost as well.
        let found = found.map_err(FleetError::api(&cluster.name, format!("read {self}")))?;
        Ok(found.filter(|object| object.metadata.deletion_timestamp.is_none()).and_then(|object| object.uid()))
    }
}

impl Placed {
    /// What Works with names that have `ours` in them have put on the members of a fleet.
    ///
    /// # Errors
    /// When a member doesn't answer.
    pub async fn on(fleet: &Fleet, ours: &str) -> Result<Self, FleetError> {
        let members = fleet.members().await;
        let read = members.values().map(|member| on_member(&member.cluster, ours));
        let read = try_join_all(read).await?;
        Ok(Self { members: members.into_keys().zip(read).collect(), ours: ours.to_owned() })
    }

    /// What of it isn't there any more or isn't the same; and Works that belong to no binding.
    ///
    /// # Errors
    /// When a cluster doesn't answer.
    pub async fn lost(&self, fleet: &Fleet) -> Result<Vec<PlacedLoss>, FleetError> {
        let members = fleet.members().await;
        let here = self.members.iter().filter_map(|(name, before)| Some((before, members.get(name)?.cluster.clone())));
        let lost = try_join_all(here.map(async |(before, cluster)| lost_on(before, &cluster).await)).await?;
        let mut lost: Vec<PlacedLoss> = lost.into_iter().flatten().collect();
        lost.extend(self.orphans(fleet.hub()).await?);
        Ok(lost)
    }

    /// Works whose binding isn't there.
    async fn orphans(&self, hub: &Cluster) -> Result<Vec<PlacedLoss>, FleetError> {
        let list = |kind: crate::kinds::Kind| async move {
            let failed = FleetError::api(&hub.name, format!("list {}", kind.plural));
            match kind.api(&hub.client, None).list(&ListParams::default()).await {
                Ok(objects) => Ok(objects.items),
                // A version that doesn't know the kind has none.
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
                Err(error) => Err(failed(error)),
            }
        };
        let works = list(WORK).await?;
        let bindings: BTreeSet<String> = [list(CLUSTER_RESOURCE_BINDING).await?, list(RESOURCE_BINDING).await?]
            .iter()
            .flatten()
            .map(kube::ResourceExt::name_any)
            .collect();
        let orphan = |work: &&DynamicObject| {
            let parent = work.labels().get(PARENT_BINDING);
            is_ours(&work.name_any(), &self.ours) && parent.is_some_and(|parent| !bindings.contains(parent))
        };
        let loss = |work: &DynamicObject| PlacedLoss::WorkOrphaned {
            work: format!("{}/{}", work.namespace().unwrap_or_default(), work.name_any()),
        };
        Ok(works.iter().filter(orphan).map(loss).collect())
    }
}

/// Whether a name has `ours` in it, and not only as the beginning of something longer.
fn is_ours(name: &str, ours: &str) -> bool {
    let behind = |at: usize| name[at + ours.len()..].chars().next();
    name.match_indices(ours).any(|(at, _)| behind(at).is_none_or(|c| !c.is_ascii_alphanumeric()))
}

async fn on_member(cluster: &Cluster, ours: &str) -> Result<OnMember, FleetError> {
    let works = APPLIED_WORK.api(&cluster.client, None).list(&ListParams::default()).await;
    let works = works.map_err(FleetError::api(&cluster.name, "list appliedworks"))?;
    let works = works.items.iter().filter(|work| is_ours(&work.name_any(), ours));
    let resources = works.filter_map(|work| work.data.pointer("/status/appliedResources")?.as_array()).flatten();
    let mut on = OnMember::default();
    for resource in resources {
        let uid = resource.get("uid").and_then(|uid| uid.as_str()).unwrap_or_default().to_owned();
        if let Ok(resource) = serde_json::from_value::<Resource>(resource.clone()) {
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

/// A namespace's Pods that aren't being deleted.
async fn pods(cluster: &Cluster, namespace: &str) -> Result<BTreeMap<(String, String), (String, i64)>, FleetError> {
    let pods = POD.api(&cluster.client, Some(namespace)).list(&ListParams::default()).await;
    let pods = pods.map_err(FleetError::api(&cluster.name, format!("list the Pods of {namespace}")))?;
    let restarts = |pod: &DynamicObject| -> i64 {
        let containers = pod.data.pointer("/status/containerStatuses").and_then(|c| c.as_array());
        containers.into_iter().flatten().filter_map(|c| c.get("restartCount")?.as_i64()).sum()
    };
    let there = pods.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(there.map(|p| ((namespace.to_owned(), p.name_any()), (p.uid().unwrap_or_default(), restarts(p)))).collect())
}

async fn lost_on(before: &OnMember, cluster: &Cluster) -> Result<Vec<PlacedLoss>, FleetError> {
    let mut lost = Vec::new();
    let member = || cluster.name.clone();
    for (resource, uid) in &before.resources {
        match resource.uid(cluster).await? {
            None => lost.push(PlacedLoss::ResourceDeleted { resource: resource.to_string(), member: member() }),
            Some(now) if now != *uid => {
                lost.push(PlacedLoss::ResourceRecreated { resource: resource.to_string(), member: member() });
            }
            Some(_) => {}
        }
    }
    let namespaces: BTreeSet<&String> = before.pods.keys().map(|(namespace, _)| namespace).collect();
    let mut now = BTreeMap::new();
    for namespace in namespaces {
        now.extend(pods(cluster, namespace).await?);
    }
    for (key, (uid, restarts)) in &before.pods {
        let pod = format!("{}/{}", key.0, key.1);
        match now.get(key) {
            Some((same, more)) if same == uid && more > restarts => {
                lost.push(PlacedLoss::PodRestarted { pod, member: member() });
            }
            Some((same, _)) if same == uid => {}
            _ => lost.push(PlacedLoss::PodDeleted { pod, member: member() }),
        }
    }
    Ok(lost)
}

/// Maps whose keys are no strings, as lists of pairs.
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
