//! A cluster in the output of `diagnose`: whether it was read, and what of it wasn't.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, SnapshotRole, UnreadKind, UnreadReason};
use serde::Serialize;

/// Objects that were read from a cluster, and the kinds that weren't.
#[derive(Debug, Serialize)]
pub(super) struct ClusterReport<'a> {
    pub(super) name: &'a str,
    pub(super) role: SnapshotRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    read: bool,
    /// False if the diagnosis needed nothing of the cluster.
    needed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    objects: usize,
    pub(super) unread: Vec<UnreadReport<'a>>,
}

/// Kind that couldn't be read from a cluster.
#[derive(Debug, Serialize)]
pub(super) struct UnreadReport<'a> {
    pub(super) kind: String,
    pub(super) reason: UnreadReason,
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
