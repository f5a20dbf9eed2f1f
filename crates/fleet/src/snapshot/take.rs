//! Snapshots of a fleet: one list per kind and cluster, all at once.

use std::collections::BTreeMap;

use clusters::cluster::HUB;
use diagnosis::{ClusterSnapshot, Snapshot, SnapshotRole};
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use tokio::time::Instant;

use super::as_needed::CLUSTERS_AT_ONCE;
use super::lists::{ClusterAccess, LIST_LIMIT, ListResults, addressed, lists};
use super::{applications, clock, wanted_objects};
use crate::error::{FleetError, in_full};
use crate::kinds::{
    APPLICATION, CLUSTER_ROLE_BINDING, INTERNAL_MEMBER_CLUSTER, LEASE, ROLE, ROLE_BINDING, ResourceKind,
    SERVICE_ACCOUNT, WEBHOOK_CONFIGURATION,
};
use crate::redact::Redactor;

/// A snapshot, and the lists that the hub didn't return.
#[derive(Debug)]
pub struct TakenSnapshot {
    /// Everything that could be read.
    pub snapshot: Snapshot,
    /// Lists that the hub didn't return, with the reason. Missing lists of members are only in the snapshot.
    pub missing: Vec<(ResourceKind, FleetError)>,
}

/// Takes a snapshot of a fleet. Lists that a cluster doesn't return are in the snapshot with the reason, and so are
/// members that don't answer at all.
///
/// # Errors
/// Returns an error if the hub returns nothing.
pub async fn take(hub: &ClusterAccess, members: &BTreeMap<String, ClusterAccess>) -> Result<Snapshot, FleetError> {
    take_with(hub, members, &Redactor::default()).await
}

/// Takes a snapshot of a fleet as [`take`] does, with a redactor that decides what is withheld.
///
/// # Errors
/// Returns an error if the hub returns nothing.
pub async fn take_with(
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
) -> Result<Snapshot, FleetError> {
    let TakenSnapshot { snapshot, missing } = take_what_can_be_had(hub, members, redactor).await;
    let is_reached = snapshot.hub().is_some_and(|hub| hub.unreachable.is_none());
    let resources = missing.iter().map(|(kind, _)| kind.plural.to_owned()).collect();
    match missing.into_iter().next().filter(|_| !is_reached) {
        Some((_, source)) => Err(FleetError::Unlisted { resources, source: Box::new(source) }),
        None => Ok(snapshot),
    }
}

/// Takes a snapshot of everything that the clusters return. A cluster that returns nothing at all is in the snapshot
/// with the reason. Objects that only matter to Applications are read if there is an Application.
pub async fn take_what_can_be_had(
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    redactor: &Redactor,
) -> TakenSnapshot {
    let on_hub = lists(HUB, &hub.client, addressed(diagnosis::HUB_KINDS), redactor);
    let on_members = members.iter().map(|(name, member)| async move {
        let lists = lists(name, &member.client, addressed(diagnosis::MEMBER_KINDS), redactor).await;
        cluster(name, SnapshotRole::Member, member, lists, diagnosis::MEMBER_KINDS.len()).0
    });
    let on_members = stream::iter(on_members.collect::<Vec<_>>()).buffered(CLUSTERS_AT_ONCE).collect::<Vec<_>>();
    let (on_hub, on_members) = futures::join!(on_hub, on_members);
    let (on_hub, missing) = cluster(HUB, SnapshotRole::Hub, hub, on_hub, diagnosis::HUB_KINDS.len());
    let clusters = std::iter::once(on_hub).chain(on_members).collect();
    let mut snapshot = Snapshot { taken_at: jiff::Timestamp::now(), clusters };
    applications::add(&mut snapshot, hub, members, redactor).await;
    wanted_objects::add(&mut snapshot, hub, members, redactor, Instant::now() + LIST_LIMIT).await;
    add_times(&mut snapshot, hub, members).await;
    snapshot.taken_at = jiff::Timestamp::now();
    remove_from_errors(&mut snapshot, redactor);
    TakenSnapshot { snapshot, missing }
}

/// Adds the time of each cluster. It is asked for last, so that nothing in the snapshot is later.
pub(super) async fn add_times(snapshot: &mut Snapshot, hub: &ClusterAccess, members: &BTreeMap<String, ClusterAccess>) {
    let times = snapshot.clusters.iter_mut().map(|cluster| async move {
        if let Some(asked) = applications::asked(cluster, hub, members) {
            cluster.time = clock::time(&asked.client).await;
        }
    });
    join_all(times).await;
}

/// Removes secrets from the errors of requests. An error may quote a URL, or the answer of a proxy or a webhook.
pub(super) fn remove_from_errors(snapshot: &mut Snapshot, redactor: &Redactor) {
    for cluster in &mut snapshot.clusters {
        let unread = cluster.unread.iter_mut().map(|unread| &mut unread.message);
        for message in cluster.unreachable.iter_mut().chain(unread) {
            *message = redactor.text(message).into_owned();
        }
    }
}

/// True if a diagnosis leaves out findings without a list that failed like this. Rules expect that credentials may lack the
/// right to read accounts, roles, leases, webhooks, applications and the members' heartbeats. An API server doesn't tell such credentials either if it serves the
/// kind.
pub(crate) fn is_needed(kind: ResourceKind, error: &FleetError) -> bool {
    let refused = error.status().is_some_and(|status| status.code == 403);
    let may_lack = [
        SERVICE_ACCOUNT,
        ROLE,
        ROLE_BINDING,
        CLUSTER_ROLE_BINDING,
        WEBHOOK_CONFIGURATION,
        LEASE,
        APPLICATION,
        INTERNAL_MEMBER_CLUSTER,
    ];
    !(refused && may_lack.contains(&kind))
}

/// Builds a cluster's part of the snapshot, and returns the missing lists with it. A cluster that returned none of
/// `asked_for` kinds is unreachable.
fn cluster(
    name: &str,
    role: SnapshotRole,
    asked: &ClusterAccess,
    lists: ListResults,
    asked_for: usize,
) -> (ClusterSnapshot, Vec<(ResourceKind, FleetError)>) {
    let nothing = lists.missing.first().filter(|_| lists.missing.len() == asked_for);
    let unreachable = nothing.map(|(_, error)| in_full(error));
    let unread = if unreachable.is_some() { Vec::new() } else { lists.unread };
    let server = asked.server.clone();
    let snapshot = ClusterSnapshot { server, unreachable, unread, ..ClusterSnapshot::new(name, role, lists.objects) };
    (snapshot, lists.missing)
}
