//! Objects that are only read if Argo CD has Applications. All of them may be missing: without them rules find less,
//! but nothing wrong.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, Snapshot, SnapshotRole};
use futures::future::join_all;

use super::lists::{ClusterAccess, lists};
use super::logs;
use crate::kinds::{self, ResourceKind};
use crate::redact::Redactor;

/// Adds to a snapshot: projects, the objects on destinations, and the logs of containers that failed there.
pub(super) async fn add(
    snapshot: &mut Snapshot,
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
) {
    let application = diagnosis::APPLICATION;
    let any = snapshot.hub().is_some_and(|hub| hub.of_kind(application.group, application.kind).next().is_some());
    if !any {
        return;
    }
    let hub_is_destination = diagnosis::hub_is_destination(snapshot);
    let additions = snapshot.clusters.iter_mut().map(|cluster| async move {
        if let Some(asked) = asked(cluster, hub, members) {
            add_objects(cluster, asked, hub_is_destination, redactor).await;
        }
    });
    join_all(additions).await;
    add_logs(snapshot, hub, members, redactor).await;
}

/// Adds to a snapshot the logs of containers that failed.
pub(super) async fn add_logs(
    snapshot: &mut Snapshot,
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
) {
    let wanted = diagnosis::wanted_logs(snapshot);
    let wanted = &wanted;
    let logs = snapshot.clusters.iter_mut().map(|cluster| async move {
        if let Some(asked) = asked(cluster, hub, members) {
            let of_it = wanted.iter().filter(|log| log.cluster == cluster.name);
            let (logs, unread) = logs::ends(&asked.client, of_it, redactor).await;
            cluster.logs = logs;
            cluster.unread.extend(unread);
        }
    });
    join_all(logs).await;
}

/// Returns the access to a cluster, unless the cluster is unreachable, or nothing of it was needed so far.
pub(super) fn asked<'a>(
    cluster: &ClusterSnapshot,
    hub: &'a ClusterAccess,
    members: &'a BTreeMap<String, ClusterAccess>,
) -> Option<&'a ClusterAccess> {
    if cluster.unreachable.is_some() || cluster.read.is_nothing() {
        return None;
    }
    match cluster.role {
        SnapshotRole::Hub => Some(hub),
        SnapshotRole::Member => members.get(&cluster.name),
    }
}

async fn add_objects(
    cluster: &mut ClusterSnapshot,
    asked: &ClusterAccess,
    hub_is_destination: bool,
    redactor: &Redactor,
) {
    let kinds = kinds_of_destination(cluster.role, hub_is_destination);
    let lists = lists(&cluster.name, &asked.client, kinds, redactor).await;
    cluster.unread.extend(lists.unread);
    cluster.objects.extend(lists.objects);
}

/// Returns the kinds to read from a cluster besides the usual ones if Argo CD has Applications.
pub(crate) fn kinds_of_destination(role: SnapshotRole, hub_is_destination: bool) -> impl Iterator<Item = ResourceKind> {
    let is_hub = role == SnapshotRole::Hub;
    let project: &[_] = if is_hub { &[diagnosis::APP_PROJECT] } else { &[] };
    let workloads = if is_hub && hub_is_destination { diagnosis::MEMBER_KINDS } else { &[] };
    let destination = if is_hub && !hub_is_destination { &[] } else { diagnosis::DESTINATION_KINDS };
    let kinds = [project, workloads, destination].into_iter().flatten();
    // A hub's namespaces are read anyway.
    let kinds = kinds.filter(move |kind| !is_hub || !diagnosis::HUB_KINDS.contains(kind));
    kinds.filter_map(|kind| kinds::find(kind.group, kind.kind))
}
