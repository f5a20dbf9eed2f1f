//! The objects of a fleet at one moment, as they came from the API servers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;

/// What a cluster is to the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Holds placements, runs and members' namespaces.
    Hub,
    /// Receives the resources.
    Member,
}

/// One cluster's objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterSnapshot {
    /// `hub`, or the member's name as the hub's `MemberCluster` has it.
    pub name: String,
    /// Hub or member.
    pub role: Role,
    /// Its API server's address, where it is known: applications may name their destination by it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// Whole objects, each with apiVersion and kind.
    pub objects: Vec<Value>,
    /// The ends of some logs, of those that [`crate::wanted_logs`] asks for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub logs: Vec<PodLog>,
    /// Why nothing could be read, when nothing could.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unreachable: Option<String>,
    /// Kinds that were asked for and not given, when others were.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unread: Vec<UnreadKind>,
}

/// A kind whose objects the cluster didn't give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural, as in URLs, e.g. `serviceaccounts`.
    pub resource: String,
    /// Why the objects weren't given.
    pub reason: UnreadReason,
    /// The API server's own words, or the client's.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub message: String,
}

/// Why a cluster didn't give the objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnreadReason {
    /// The credentials may not list them.
    Forbidden,
    /// The API server doesn't know the kind: there can be no objects of it.
    NotServed,
    /// The request failed in another way.
    Failed,
}

impl UnreadKind {
    /// Whether objects of the kind may exist all the same.
    #[must_use]
    pub fn may_have_objects(&self) -> bool {
        self.reason != UnreadReason::NotServed
    }

    /// The resource with its group as kubectl writes it, e.g. `applications.argoproj.io`.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.group) }
    }
}

/// The end of a container's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodLog {
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Its last lines, at most ten.
    pub text: String,
}

/// A fleet's objects at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When the snapshot was complete. Rules take this as now.
    pub taken_at: Timestamp,
    /// The hub and the members that could be asked.
    pub clusters: Vec<ClusterSnapshot>,
}

impl Snapshot {
    /// The hub, when it is part of the snapshot.
    #[must_use]
    pub fn hub(&self) -> Option<&ClusterSnapshot> {
        self.clusters.iter().find(|c| c.role == Role::Hub)
    }

    /// A member by its name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&ClusterSnapshot> {
        self.clusters.iter().find(|c| c.role == Role::Member && c.name == name)
    }
}

impl ClusterSnapshot {
    /// Whether all that was asked for could be read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unreachable.is_none() && !self.unread.iter().any(UnreadKind::may_have_objects)
    }

    /// All objects, in the order in which they were read.
    pub fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        self.objects.iter().map(Object::new)
    }

    /// All objects of a kind in a group (`""` is the core group); kind names repeat across groups.
    pub fn of_kind<'a>(&'a self, group: &'a str, kind: &'a str) -> impl Iterator<Item = Object<'a>> {
        self.objects().filter(move |o| o.group() == group && o.kind() == kind)
    }

    /// One object by kind, namespace (none for cluster-scoped kinds) and name.
    #[must_use]
    pub fn object(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'_>> {
        self.objects()
            .find(|o| o.group() == group && o.kind() == kind && o.namespace() == namespace && o.name() == name)
    }
}
