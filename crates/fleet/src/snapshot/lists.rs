//! Lists of all of a cluster's objects: one list per kind, several at once, page by page.
//!
//! Secrets are taken out of the objects as they come ([`Redactor`]), so that no finding can quote one, and a diagnosis
//! of a bundle says the same as a live one.

use std::time::Duration;

use diagnosis::UnreadKind;
use futures::{StreamExt as _, stream};
use kube::Client;
use serde_json::Value;
use tokio::time::Instant;

use crate::error::FleetError;
use crate::kinds::{self, ResourceKind};
use crate::pages::{self, ListQuery, cleaned};
use crate::redact::Redactor;

/// Lists that one API server is asked for at the same time.
const LISTS_AT_ONCE: usize = 32;

/// Time that each list has.
pub(super) const LIST_LIMIT: Duration = Duration::from_secs(60);

/// Access to a cluster whose objects are listed.
#[derive(Clone)]
pub struct ClusterAccess {
    /// Client for the cluster.
    pub client: Client,
    /// Address of the API server, if it is known.
    pub server: Option<String>,
}

impl ClusterAccess {
    /// Access to a cluster of a running fleet.
    #[must_use]
    pub fn of(cluster: &clusters::cluster::Cluster) -> Self {
        Self { client: cluster.client.clone(), server: Some(cluster.server.clone()) }
    }
}

/// Kinds that the diagnosis reads, with everything that is needed to address their objects.
pub(crate) fn addressed(wanted: &'static [diagnosis::GroupKind]) -> impl Iterator<Item = ResourceKind> {
    wanted.iter().filter_map(|w| kinds::find(w.group, w.kind))
}

/// Results of listing some kinds on a cluster.
#[derive(Debug, Default)]
pub(super) struct ListResults {
    /// Objects of the kinds that were listed.
    pub(super) objects: Vec<Value>,
    /// Kinds that aren't whole, in the form that the snapshot has.
    pub(super) unread: Vec<UnreadKind>,
    /// Kinds that couldn't be listed although the API server may serve them, with the reason.
    pub(super) missing: Vec<(ResourceKind, FleetError)>,
}

/// Lists all objects of some kinds. Lists that fail are part of the result.
pub(super) async fn lists(
    cluster: &str,
    client: &Client,
    kinds: impl Iterator<Item = ResourceKind>,
    redactor: &Redactor,
) -> ListResults {
    let lists = kinds.map(|kind| async move { (kind, list(cluster, client, kind, redactor).await) });
    let mut lists = stream::iter(lists.collect::<Vec<_>>()).buffered(LISTS_AT_ONCE);
    let (mut objects, mut failed) = (Vec::new(), Vec::new());
    while let Some((kind, (list, error))) = lists.next().await {
        objects.extend(list);
        failed.extend(error.map(|error| (kind, error)));
    }
    let unread = unread_kinds(client, &failed).await;
    let mut is_missing = unread.iter().map(UnreadKind::may_have_objects);
    failed.retain(|_| is_missing.next().unwrap_or(true));
    ListResults { objects, unread, missing: failed }
}

/// Returns what a snapshot says of kinds that couldn't be read, in the same order.
pub(super) async fn unread_kinds(client: &Client, failed: &[(ResourceKind, FleetError)]) -> Vec<UnreadKind> {
    let failed: Vec<_> = failed.iter().map(|(kind, error)| (*kind, error)).collect();
    if failed.is_empty() { Vec::new() } else { pages::unread(client, &failed).await }
}

/// Lists all objects of a kind, without secrets. Returns what came, and the reason if that isn't everything.
pub(crate) async fn list(
    cluster: &str,
    client: &Client,
    kind: ResourceKind,
    redactor: &Redactor,
) -> (Vec<Value>, Option<FleetError>) {
    let (objects, error) =
        pages::all(cluster, client, kind, &ListQuery::all_of(kind), Instant::now() + LIST_LIMIT).await;
    (objects.into_iter().map(|object| cleaned(kind, object, redactor)).collect(), error)
}

#[cfg(test)]
mod tests {
    use super::addressed;

    #[test]
    fn every_kind_that_the_diagnosis_reads_can_be_addressed() {
        let alone: &[diagnosis::GroupKind] = &[diagnosis::APP_PROJECT];
        let first = diagnosis::FIRST_HUB_KINDS;
        for wanted in [diagnosis::HUB_KINDS, diagnosis::MEMBER_KINDS, diagnosis::DESTINATION_KINDS, first, alone] {
            assert_eq!(addressed(wanted).count(), wanted.len());
        }
    }
}
