//! Objects that rules want to see, and that aren't among the kinds which are read anyway: those whose metadata tells what holds a
//! deletion, and those that Applications have on their destinations.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::deletion::CONTENT_REMAINING;
use super::index::resource_namespace;
use super::leftover;
use crate::kubefleet::{MEMBER_NAMESPACE_PREFIX, PLACEMENT_GROUP};
use crate::object::text_field;
use crate::{ClusterSnapshot, JsonRef, Object, Snapshot, SnapshotRole};

/// Objects of one resource that a snapshot should have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedObjects {
    /// Name of the cluster.
    pub cluster: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Version of the group; `None` for the one that the API server prefers.
    pub version: Option<String>,
    /// Name of the resource or of its kind.
    pub resource: WantedResource,
    /// Namespace; `None` for objects that are in none.
    pub namespace: Option<String>,
    /// Name; `None` for all objects of the resource in the namespace.
    pub name: Option<String>,
    /// Part of each object.
    pub part: WantedPart,
}

impl WantedObjects {
    /// Asks for the whole object that a reference in a status is to.
    pub(super) fn whole(cluster: &str, reference: JsonRef<'_>) -> Self {
        let [group, version, kind, name] =
            ["group", "version", "kind", "name"].map(|field| text_field(reference, field).to_owned());
        Self {
            cluster: cluster.to_owned(),
            group,
            version: Some(version),
            resource: WantedResource::Kind(kind),
            namespace: resource_namespace(reference).map(str::to_owned),
            name: Some(name),
            part: WantedPart::Whole,
        }
    }
}

/// Name of a resource, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedResource {
    /// Plural name, as in URLs.
    Plural(String),
    /// Kind.
    Kind(String),
}

/// Part of wanted objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedPart {
    /// Metadata alone.
    Metadata,
    /// Whole object.
    Whole,
}

/// Part of the message of `NamespaceContentRemaining`: `configmaps. has 1 resource instances` or
/// `works.placement.kubernetes-fleet.io has 2 resource instances`. No other field has the resources (Kubernetes v1.36).
static RESOURCES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances").expect("a valid pattern"));

/// Returns the objects that the rules want besides what the snapshot has: the metadata of those that a Work has placed while
/// the Work is being deleted, and of the contents of namespaces that are being deleted; and whole objects of Applications that aren't
/// in sync, not healthy, or being deleted.
#[must_use]
pub fn wanted_objects(snapshot: &Snapshot) -> Vec<WantedObjects> {
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
    wanted.extend(super::argocd::wanted_live_objects(snapshot));
    wanted.into_iter().collect()
}

/// Returns what a namespace's conditions say that it still has.
fn contents(cluster: &ClusterSnapshot, namespace: Object<'_>) -> Vec<WantedObjects> {
    let Some(remaining) = namespace.condition(CONTENT_REMAINING).filter(|condition| condition.status == "True") else {
        return Vec::new();
    };
    let of_resource = |captures: regex::Captures<'_>| WantedObjects {
        cluster: cluster.name.clone(),
        group: captures[2].to_owned(),
        version: None,
        resource: WantedResource::Plural(captures[1].to_owned()),
        namespace: Some(namespace.name().to_owned()),
        name: None,
        part: WantedPart::Metadata,
    };
    RESOURCES.captures_iter(&remaining.message).map(of_resource).collect()
}

/// Returns the objects of a member that Works have placed which are being deleted, or were deleted on the hub alone.
fn placed(hub: &ClusterSnapshot, member: &ClusterSnapshot) -> Vec<WantedObjects> {
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
            (!is_read && !resource.is_empty() && !name.is_empty()).then(|| WantedObjects {
                cluster: member.name.clone(),
                group: group.to_owned(),
                version: Some(version.to_owned()),
                resource: WantedResource::Plural(resource.to_owned()),
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
                part: WantedPart::Metadata,
            })
        })
        .collect()
}
