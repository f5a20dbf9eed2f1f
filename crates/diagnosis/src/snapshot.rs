//! Objects of a fleet at one moment, as the API servers returned them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::{APP_PROJECT, DESTINATION_KINDS, HUB_KINDS, MEMBER_KINDS};
use crate::{GroupKind, Object, ObjectList, ObjectQuery, ObjectSelection, ReadRecord};

/// Role of a cluster in the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotRole {
    /// The hub holds placements, update runs and the members' namespaces.
    Hub,
    /// A member receives the resources that placements select.
    Member,
}

/// Objects of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterSnapshot {
    /// Name: `hub`, or the name of the hub's `MemberCluster` for a member.
    pub name: String,
    /// Role: hub or member.
    pub role: SnapshotRole,
    /// Address of the cluster's API server, if known. An application may name its destination by address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// Time on the clock of the cluster's API server when the snapshot was complete, in whole seconds. Absent if the
    /// API server didn't tell, and in snapshots that fleetdrill v0.1 took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<Timestamp>,
    /// Complete objects as JSON, each with apiVersion and kind. `managedFields` have no `fieldsV1`.
    pub objects: ObjectList,
    /// Last lines of the logs that [`crate::wanted_logs`] asks for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub logs: Vec<PodLog>,
    /// Error text, if no object of the cluster could be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unreachable: Option<String>,
    /// Kinds whose objects couldn't be read, although objects of other kinds could.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unread: Vec<UnreadKind>,
    /// Objects that were asked for by name, and that the API server doesn't have.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub absent: Vec<AbsentObject>,
    /// Part of the cluster that was read. By default, everything was.
    #[serde(skip)]
    pub read: ReadRecord,
}

/// Object that a cluster doesn't have, by the answer of its API server.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AbsentObject {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; `None` for objects that are in none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// Kind whose objects couldn't be read from a cluster.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct UnreadKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Plural name of the resource, as in URLs, e.g. `serviceaccounts`.
    pub resource: String,
    /// Reason why the objects couldn't be read.
    pub reason: UnreadReason,
    /// Error message of the API server or of the client.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub message: String,
}

/// Reason why the objects of a kind couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnreadReason {
    /// The credentials aren't allowed to list the objects.
    Forbidden,
    /// The API server doesn't know the kind, so no objects of the kind exist.
    NotServed,
    /// The API server knows the kind's group, but not in the version that fleetdrill reads.
    OtherVersion,
    /// The request failed for another reason.
    Failed,
}

impl UnreadKind {
    /// True if objects of the kind may exist although they couldn't be read.
    #[must_use]
    pub fn may_have_objects(&self) -> bool {
        self.reason != UnreadReason::NotServed
    }

    /// Returns the resource with its group as kubectl writes it, e.g. `applications.argoproj.io`.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.group) }
    }
}

/// Last lines of a container's log.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PodLog {
    /// Namespace of the Pod.
    pub namespace: String,
    /// Name of the Pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
    /// Last lines of the log, at most ten.
    pub text: String,
}

/// Objects of a fleet at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Time at which the snapshot was complete. Rules take this time as the present.
    pub taken_at: Timestamp,
    /// Snapshots of the hub and of the members that could be asked.
    pub clusters: Vec<ClusterSnapshot>,
}

impl Snapshot {
    /// Returns the hub if it is part of the snapshot.
    #[must_use]
    pub fn hub(&self) -> Option<&ClusterSnapshot> {
        self.clusters.iter().find(|c| c.role == SnapshotRole::Hub)
    }

    /// Returns a member by name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&ClusterSnapshot> {
        self.clusters.iter().find(|c| c.role == SnapshotRole::Member && c.name == name)
    }
}

impl ClusterSnapshot {
    /// Creates the snapshot of a cluster from which everything was read: these objects.
    #[must_use]
    pub fn new(name: impl Into<String>, role: SnapshotRole, objects: impl Into<ObjectList>) -> Self {
        Self {
            name: name.into(),
            role,
            server: None,
            time: None,
            objects: objects.into(),
            logs: Vec::new(),
            unreachable: None,
            unread: Vec::new(),
            absent: Vec::new(),
            read: ReadRecord::default(),
        }
    }

    /// True if every requested kind could be read, or doesn't exist on the cluster.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unreachable.is_none() && !self.unread.iter().any(UnreadKind::may_have_objects)
    }

    /// True if objects of a kind could be listed. Of a snapshot of everything, an empty list counts as one that wasn't allowed.
    pub(crate) fn could_list(&self, kind: GroupKind, resource: &str) -> bool {
        if self.read.is_everything() {
            return self.objects.of_kind(kind.group, kind.kind).next().is_some();
        }
        !self.is_unread(kind.group, resource)
    }

    /// True if objects of a resource couldn't be read.
    pub(crate) fn is_unread(&self, group: &str, resource: &str) -> bool {
        let mut unread = self.unread.iter().filter(|unread| unread.may_have_objects());
        unread.any(|unread| unread.group == group && unread.resource == resource)
    }

    /// Returns all objects that were read, in the order in which they were read.
    pub fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        self.objects.iter()
    }

    /// Returns all objects of a kind in a group (`""` is the core group). The group is needed because several groups
    /// have kinds of the same name.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Object<'_>> {
        self.ask(group, kind, || ObjectSelection::All);
        self.objects.of_kind(group, kind)
    }

    /// Returns all objects of a kind in a namespace.
    pub fn in_namespace(&self, group: &str, kind: &str, namespace: &str) -> impl Iterator<Item = Object<'_>> {
        self.ask(group, kind, || ObjectSelection::InNamespace(namespace.to_owned()));
        self.objects.in_namespace(namespace).filter(move |object| object.kind() == kind && object.group() == group)
    }

    /// Returns an object by group, kind, namespace (`None` for cluster-scoped kinds) and name.
    #[must_use]
    pub fn object(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Object<'_>> {
        let object = self.objects.find(group, kind, namespace, name);
        if object.is_none() {
            self.ask(group, kind, || ObjectSelection::Named {
                namespace: namespace.map(str::to_owned),
                name: name.to_owned(),
            });
        }
        object
    }

    /// True if an object was asked for by name, and the API server doesn't have it.
    pub(crate) fn is_absent(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        self.absent.iter().any(|absent| {
            (absent.group.as_str(), absent.kind.as_str(), absent.name.as_str()) == (group, kind, name)
                && absent.namespace.as_deref() == namespace
        })
    }

    /// Records that a rule needs objects of a kind, if fleetdrill reads the kind from such a cluster.
    pub(crate) fn ask(&self, group: &str, kind: &str, selection: impl FnOnce() -> ObjectSelection) {
        if self.read.is_everything() || self.unreachable.is_some() {
            return;
        }
        if let Some(kind) = self.readable_kinds().find(|known| known.group == group && known.kind == kind) {
            self.read.ask(|| ObjectQuery { kind, selection: selection() });
        }
    }

    /// Returns the kinds that fleetdrill reads from a cluster of this role, if somebody needs them.
    fn readable_kinds(&self) -> impl Iterator<Item = GroupKind> {
        let of_hub: &[GroupKind] = match self.role {
            SnapshotRole::Hub => HUB_KINDS,
            SnapshotRole::Member => &[],
        };
        of_hub.iter().chain(MEMBER_KINDS).chain(DESTINATION_KINDS).copied().chain([APP_PROJECT])
    }
}
