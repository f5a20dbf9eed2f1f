//! What is read only where Argo CD has applications. All of it may be missing: rules say less without it, and nothing wrong.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, Role, Snapshot};
use futures::future::join_all;

use super::logs;
use super::take::{Asked, addressed, lists};
use crate::bundle::Redactor;

/// Adds it to a snapshot: projects, what the destinations have, and the logs of what failed there.
pub(super) async fn add(snapshot: &mut Snapshot, hub: &Asked, members: &BTreeMap<String, Asked>, redactor: &Redactor) {
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

/// How to ask a cluster, unless it has been found unreachable.
fn asked<'a>(cluster: &ClusterSnapshot, hub: &'a Asked, members: &'a BTreeMap<String, Asked>) -> Option<&'a Asked> {
    match (&cluster.unreachable, cluster.role) {
        (Some(_), _) => None,
        (None, Role::Hub) => Some(hub),
        (None, Role::Member) => members.get(&cluster.name),
    }
}

async fn add_objects(cluster: &mut ClusterSnapshot, asked: &Asked, hub_is_destination: bool, redactor: &Redactor) {
    let is_hub = cluster.role == Role::Hub;
    let project: &[_] = if is_hub { &[diagnosis::PROJECT] } else { &[] };
    let workloads = if is_hub && hub_is_destination { diagnosis::MEMBER_KINDS } else { &[] };
    let destination = if is_hub && !hub_is_destination { &[] } else { diagnosis::DESTINATION_KINDS };
    let kinds = [project, workloads, destination].into_iter().flat_map(addressed);
    let lists = lists(&cluster.name, &asked.client, kinds, redactor).await;
    cluster.unread.extend(lists.unread());
    cluster.objects.extend(lists.objects);
}
