//! Takes a bundle from a fleet.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clusters::cluster::HUB;
use diagnosis::{ClusterSnapshot, ObjectList, Snapshot, SnapshotRole};
use futures::future::join_all;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::time::timeout;

use super::logs::{self, CollectedLogs, LogTail};
use super::manifest::MissingBundlePart;
use crate::argocd;
use crate::error::{FleetError, in_full};
use crate::fleet::Fleet;
use crate::kinds::{EVENT, ResourceKind};
use crate::member::SYSTEM;
use crate::redact::Redactor;
use crate::snapshot::{ClusterAccess, TakenSnapshot, is_needed, list, take_what_can_be_had};

/// A fleet that a bundle is taken from.
#[derive(Clone)]
pub struct BundleSource {
    /// Name of the fleet, or the hub's context.
    pub fleet: String,
    /// Version of KubeFleet, if it is known.
    pub kubefleet: Option<String>,
    /// The hub's API server.
    pub hub: ClusterAccess,
    /// API servers of the members that are read, by name.
    pub members: BTreeMap<String, ClusterAccess>,
    /// Directory of a fleet that runs on this machine, with its tokens.
    pub directory: Option<PathBuf>,
    /// True if that directory has the agents' logs. Otherwise the logs are read from the agents' pods.
    pub processes: bool,
    /// True if the logs of Argo CD's Pods on the hub are read, too.
    pub argocd_pods: bool,
}

/// A bundle in memory: a fleet at one moment, without secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Name of the fleet, or the hub's context.
    pub fleet: String,
    /// Version of KubeFleet, if it is known.
    pub kubefleet: Option<String>,
    /// Reason for taking the bundle, e.g. the scenario that failed.
    pub about: Option<String>,
    /// Objects and logs that the diagnosis reads.
    pub snapshot: Snapshot,
    /// Events by cluster.
    pub events: BTreeMap<String, Vec<Value>>,
    /// Ends of the logs of agents and control planes.
    pub logs: Vec<LogTail>,
    /// Lists and logs that couldn't be read.
    pub missing: Vec<MissingBundlePart>,
}

impl BundleSource {
    /// Describes a fleet that fleetdrill runs scenarios on.
    pub async fn of(fleet: &Fleet) -> Self {
        Self {
            fleet: fleet.name().to_owned(),
            kubefleet: Some(fleet.version()),
            hub: ClusterAccess::of(fleet.hub()),
            members: fleet.member_access().await,
            directory: Some(fleet.supervisor().dir().to_owned()),
            processes: fleet.keeps_logs(),
            argocd_pods: fleet.has_argocd_in_pods().await,
        }
    }
}

impl BundleSource {
    /// Namespaces with the Pods of a cluster whose logs are read.
    fn log_namespaces(&self, cluster: &str) -> &'static [&'static str] {
        if self.argocd_pods && cluster == HUB { &[SYSTEM, argocd::NAMESPACE] } else { &[SYSTEM] }
    }
}

impl Bundle {
    /// Reads everything that can be read, objects first. Never fails: what can't be read is listed in the bundle.
    /// Clusters that don't answer within `limit` count as unreachable. Events and logs get the same time once more.
    pub async fn collect(source: &BundleSource, limit: Duration) -> Self {
        let redactor = Redactor::knowing(source.directory.as_deref().map(tokens).unwrap_or_default());
        let taking = take_what_can_be_had(&source.hub, &source.members, &redactor);
        let taken = timeout(limit, taking).await.unwrap_or_else(|_| nothing(source, limit));
        let snapshot = taken.snapshot;
        let mut missing = unread(&snapshot, &taken.missing);
        let members = source.members.iter().map(|(name, member)| (name.as_str(), &member.client));
        let clients = std::iter::once((HUB, &source.hub.client)).chain(members);
        let clients = clients.zip(&snapshot.clusters).filter(|(_, cluster)| cluster.unreachable.is_none());
        let clients: Vec<_> = clients.map(|(client, _)| client).collect();
        let (events, logs) = futures::join!(
            timeout(limit, events(&clients, &redactor)),
            timeout(limit, logs_of(source, &clients, &redactor))
        );
        let (events, unread) = events.unwrap_or_else(|_| (BTreeMap::new(), vec![late("events", limit)]));
        let (logs, unread_logs) = logs.unwrap_or_else(|_| (Vec::new(), vec![late("logs", limit)]));
        missing.extend(unread);
        missing.extend(unread_logs);
        Self {
            fleet: source.fleet.clone(),
            kubefleet: source.kubefleet.clone(),
            about: None,
            snapshot,
            events,
            logs,
            missing,
        }
    }
}

/// Lists that clusters didn't return, for the manifest. `of_hub` are the hub's, with their errors.
fn unread(snapshot: &Snapshot, of_hub: &[(ResourceKind, FleetError)]) -> Vec<MissingBundlePart> {
    let needed: Vec<&str> =
        of_hub.iter().filter(|(kind, error)| is_needed(*kind, error)).map(|(kind, _)| kind.plural).collect();
    let lists = snapshot.clusters.iter().flat_map(|cluster| cluster.unread.iter().map(move |unread| (cluster, unread)));
    let lists = lists.filter(|(_, unread)| unread.may_have_objects());
    let missing = lists.map(|(cluster, unread)| MissingBundlePart {
        cluster: Some(cluster.name.clone()),
        what: unread.resource.clone(),
        why: unread.message.clone(),
        needed: cluster.role == SnapshotRole::Hub && needed.contains(&unread.resource.as_str()),
    });
    missing.collect()
}

fn no_answer(limit: Duration) -> String {
    format!("no answer within {} s", limit.as_secs())
}

fn late(what: &str, limit: Duration) -> MissingBundlePart {
    MissingBundlePart { cluster: None, what: what.to_owned(), why: no_answer(limit), needed: false }
}

/// Snapshot of a fleet that doesn't answer: all clusters are unreachable.
fn nothing(source: &BundleSource, limit: Duration) -> TakenSnapshot {
    let members = source.members.keys().map(|name| unreachable(name, SnapshotRole::Member, limit));
    let clusters = std::iter::once(unreachable(HUB, SnapshotRole::Hub, limit)).chain(members).collect();
    TakenSnapshot { snapshot: Snapshot { taken_at: Timestamp::now(), clusters }, missing: Vec::new() }
}

fn unreachable(name: &str, role: SnapshotRole, limit: Duration) -> ClusterSnapshot {
    let unreachable = Some(no_answer(limit));
    ClusterSnapshot { unreachable, ..ClusterSnapshot::new(name, role, ObjectList::default()) }
}

async fn events(
    clients: &[(&str, &Client)],
    redactor: &Redactor,
) -> (BTreeMap<String, Vec<Value>>, Vec<MissingBundlePart>) {
    let (mut events, mut missing) = (BTreeMap::new(), Vec::new());
    let lists = clients.iter().map(|(name, client)| async move { (*name, list(name, client, EVENT, redactor).await) });
    for (name, (list, error)) in join_all(lists).await {
        missing.extend(error.map(|error| MissingBundlePart {
            cluster: Some(name.to_owned()),
            what: EVENT.plural.to_owned(),
            why: in_full(&error),
            needed: false,
        }));
        events.insert(name.to_owned(), list);
    }
    (events, missing)
}

async fn logs_of(source: &BundleSource, clients: &[(&str, &Client)], redactor: &Redactor) -> CollectedLogs {
    let Some(dir) = source.directory.clone().filter(|_| source.processes) else {
        let pods =
            clients.iter().map(|(name, client)| logs::of_pods(name, source.log_namespaces(name), client, redactor));
        let (logs, missing): (Vec<_>, Vec<_>) = join_all(pods).await.into_iter().unzip();
        return (logs.concat(), missing.concat());
    };
    let redactor = redactor.clone();
    // Reading takes up to 1 MiB for each process, and other tasks may wait for this thread.
    tokio::task::spawn_blocking(move || logs::of_processes(&dir, &redactor)).await.unwrap_or_default()
}

/// Reads the tokens of a local fleet's agents.
pub(super) fn tokens(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let tokens = files.filter(|file| file.extension().is_some_and(|e| e == "token"));
    tokens.filter_map(|file| fs::read_to_string(file).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleets_tokens_are_known() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("member-1.token"), "opaque").unwrap();
        fs::write(dir.path().join("kubeconfig"), "other").unwrap();
        assert_eq!(tokens(dir.path()), ["opaque"]);
    }
}
