//! Objects whose metadata tells what holds a deletion, and that aren't among the kinds which are read anyway.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::deletion::CONTENT_REMAINING;
use super::leftover;
use crate::kubefleet::{MEMBER_NAMESPACE_PREFIX, PLACEMENT_GROUP};
use crate::object::text_field;
use crate::{ClusterSnapshot, Object, Snapshot, SnapshotRole};

/// Objects of one resource whose metadata a snapshot should have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedMetadata {
    /// Name of the cluster.
    pub cluster: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Version of the group; `None` for the one that the API server prefers.
    pub version: Option<String>,
    /// Plural name of the resource, as in URLs.
    pub resource: String,
    /// Namespace; `None` for objects that are in none.
    pub namespace: Option<String>,
    /// Name; `None` for all objects of the resource in the namespace.
    pub name: Option<String>,
}

/// Part of the message of `NamespaceContentRemaining`: `configmaps. has 1 resource instances` or
/// `works.placement.kubernetes-fleet.io has 2 resource instances`. No other field has the resources (Kubernetes v1.36).
static RESOURCES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances").expect("a valid pattern"));

/// Returns the objects whose metadata the rules want besides what the snapshot has: those that a Work has placed while
/// the Work is being deleted, and the contents of namespaces that are being deleted.
#[must_use]
pub fn wanted_metadata(snapshot: &Snapshot) -> Vec<WantedMetadata> {
    let Some(hub) = snapshot.hub() else { return Vec::new() };
    let mut wanted = BTreeSet::new();
    for cluster in snapshot.clusters.iter().filter(|cluster| cluster.unreachable.is_none()) {
        for namespace in cluster.objects.of_kind("", "Namespace").filter(|namespace| namespace.deleted_at().is_some()) {
            wanted.extend(contents(cluster, namespace));
        }
        if cluster.role == SnapshotRole::Member {
            wanted.extend(placed(hub, cluster));
        }
    }
    wanted.into_iter().collect()
}

/// Returns what a namespace's conditions say that it still has.
fn contents(cluster: &ClusterSnapshot, namespace: Object<'_>) -> Vec<WantedMetadata> {
    let Some(remaining) = namespace.condition(CONTENT_REMAINING).filter(|condition| condition.status == "True") else {
        return Vec::new();
    };
    let of_resource = |captures: regex::Captures<'_>| WantedMetadata {
        cluster: cluster.name.clone(),
        group: captures[2].to_owned(),
        version: None,
        resource: captures[1].to_owned(),
        namespace: Some(namespace.name().to_owned()),
        name: None,
    };
    RESOURCES.captures_iter(&remaining.message).map(of_resource).collect()
}

/// Returns the objects of a member that Works have placed which are being deleted, or were deleted on the hub alone.
fn placed(hub: &ClusterSnapshot, member: &ClusterSnapshot) -> Vec<WantedMetadata> {
    let works = hub.objects.of_kind(PLACEMENT_GROUP, "Work").filter(|work| {
        let of_member = work.namespace().and_then(|namespace| namespace.strip_prefix(MEMBER_NAMESPACE_PREFIX));
        work.deleted_at().is_some() && of_member == Some(member.name.as_str())
    });
    let applied = works.filter_map(|work| member.objects.find(PLACEMENT_GROUP, "AppliedWork", None, work.name()));
    applied
        .chain(leftover::deleted(member))
        .flat_map(|applied| applied.list("/status/appliedResources"))
        .filter_map(|placed| {
            let [group, version, kind, resource, namespace, name] =
                ["group", "version", "kind", "resource", "namespace", "name"].map(|field| text_field(placed, field));
            let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
            let is_read = member.objects.find(group, kind, namespace, name).is_some();
            (!is_read && !resource.is_empty() && !name.is_empty()).then(|| WantedMetadata {
                cluster: member.name.clone(),
                group: group.to_owned(),
                version: Some(version.to_owned()),
                resource: resource.to_owned(),
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
            })
        })
        .collect()
}
