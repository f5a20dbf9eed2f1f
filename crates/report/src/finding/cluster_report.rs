//! A cluster in the output of `diagnose`: whether it was read, and what of it wasn't.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, SnapshotRole, UnreadKind, UnreadReason};
use schemars::JsonSchema;
use serde::Serialize;

/// Objects that were read from a cluster, and the kinds that weren't.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ClusterReport<'a> {
    /// `hub`, or the member's name.
    pub(super) name: &'a str,
    /// Role of the cluster.
    pub(super) role: SnapshotRole,
    /// Context of the kubeconfig, if one was given for the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    /// Address of the API server, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    /// True if something was read from the cluster.
    read: bool,
    /// False if the diagnosis needed nothing of the cluster.
    needed: bool,
    /// Reason why nothing could be read from the cluster, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    /// Number of objects that were read.
    objects: usize,
    /// Kinds that couldn't be read although other kinds could.
    pub(super) unread: Vec<UnreadReport<'a>>,
}

/// Kind that couldn't be read from a cluster.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct UnreadReport<'a> {
    /// Plural name of the kind with its group, e.g. `applications.argoproj.io`.
    pub(super) kind: String,
    /// Reason why the objects couldn't be read.
    pub(super) reason: UnreadReason,
    /// Error message of the API server or of the client.
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

/// True if the diagnosis needed nothing of a cluster.
pub(super) fn is_not_needed(cluster: &ClusterSnapshot) -> bool {
    cluster.read.is_nothing() && cluster.unreachable.is_none()
}

impl<'a> ClusterReport<'a> {
    pub(super) fn of(cluster: &'a ClusterSnapshot, contexts: &'a BTreeMap<String, String>) -> Self {
        Self {
            name: &cluster.name,
            role: cluster.role,
            context: contexts.get(&cluster.name).map(String::as_str),
            server: cluster.server.as_deref(),
            read: cluster.unreachable.is_none() && !cluster.read.is_nothing(),
            needed: !is_not_needed(cluster),
            reason: cluster.unreachable.as_deref(),
            objects: cluster.objects.len(),
            unread: cluster.unread.iter().map(UnreadReport::of).collect(),
        }
    }

    /// Names of the kinds that couldn't be read for a reason.
    pub(super) fn unread_kinds(&self, reason: UnreadReason) -> Vec<&str> {
        let unread = self.unread.iter().filter(|unread| unread.reason == reason);
        unread.map(|unread| unread.kind.as_str()).collect()
    }
}

impl<'a> UnreadReport<'a> {
    fn of(unread: &'a UnreadKind) -> Self {
        Self { kind: unread.full_name(), reason: unread.reason, message: &unread.message }
    }
}
