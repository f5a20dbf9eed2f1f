//! Taking a bundle from a fleet.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diagnosis::{ClusterSnapshot, Role, Snapshot};
use futures::future::join_all;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::time::timeout;

use super::logs::{self, Log, Logs};
use super::manifest::{Missing, lacking};
use super::redact::Redactor;
use crate::error::{FleetError, in_full};
use crate::fleet::Fleet;
use crate::kinds::{EVENT, Kind};
use crate::snapshot::{Asked, Taken, is_needed, list, take_what_can_be_had};
use crate::start::HUB;

/// Where a bundle comes from.
#[derive(Clone)]
pub struct Source {
    /// The fleet's name, or the hub's context.
    pub fleet: String,
    /// KubeFleet's version, where it is known.
    pub kubefleet: Option<String>,
    /// The hub.
    pub hub: Asked,
    /// The members that can be asked, by name.
    pub members: BTreeMap<String, Asked>,
    /// The directory of a fleet that is up here, with its tokens.
    pub directory: Option<PathBuf>,
    /// Whether the agents' logs are in that directory. Elsewhere they are their pods'.
    pub processes: bool,
}

/// What a fleet looked like, in memory. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The fleet's name, or the hub's context.
    pub fleet: String,
    /// KubeFleet's version, where it is known.
    pub kubefleet: Option<String>,
    /// What it was taken for, e.g. the scenario that failed.
    pub about: Option<String>,
    /// What the diagnosis reads.
    pub snapshot: Snapshot,
    /// Each cluster's events.
    pub events: BTreeMap<String, Vec<Value>>,
    /// The ends of the logs.
    pub logs: Vec<Log>,
    /// What couldn't be read.
    pub missing: Vec<Missing>,
}

impl Source {
    /// A fleet that fleetdrill has made.
    pub async fn of(fleet: &Fleet) -> Self {
        let members = fleet.members().await.into_iter().map(|(name, member)| (name, Asked::of(&member.cluster)));
        Self {
            fleet: fleet.name().to_owned(),
            kubefleet: Some(fleet.version()),
            hub: Asked::of(fleet.hub()),
            members: members.collect(),
            directory: Some(fleet.keeper().dir().to_owned()),
            processes: fleet.keeps_logs(),
        }
    }
}

impl Bundle {
    /// Reads everything that can be had, objects first. Never fails: what can't be read is said in the bundle. Clusters
    /// that don't answer within `limit` count as unreachable; it is waited as long again for events and logs.
    pub async fn collect(source: &Source, limit: Duration) -> Self {
        let redactor = Redactor::knowing(source.directory.as_deref().map(tokens).unwrap_or_default());
        let taking = take_what_can_be_had(&source.hub, &source.members, &redactor);
        let taken = timeout(limit, taking).await.unwrap_or_else(|_| nothing(source, limit));
        let snapshot = taken.snapshot;
        let mut missing = unread(&snapshot, &taken.missing);
        let members = source.members.iter().map(|(name, member)| (name.as_str(), &member.client));
        let clients = std::iter::once((HUB, &source.hub.client)).chain(members);
        let clients = clients.zip(&snapshot.clusters).filter(|(_, cluster)| cluster.unreachable.is_none());
        let clients: Vec<_> = clients.map(|(client, _)| client).collect();
        let late = |what: &str| Missing { cluster: None, what: what.to_owned(), why: no_answer(limit), needed: false };
        let (events, logs) = futures::join!(
            timeout(limit, events(&clients, &redactor)),
            timeout(limit, logs_of(source, &clients, &redactor))
        );
        let (events, unread) = events.unwrap_or_else(|_| (BTreeMap::new(), vec![late("events")]));
        let (logs, unread_logs) = logs.unwrap_or_else(|_| (Vec::new(), vec![late("logs")]));
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

    /// What a diagnosis can't do without and isn't there: what it is, and why it isn't.
    #[must_use]
    pub fn lacks(&self) -> Option<(String, String)> {
        lacking(&self.snapshot, &self.missing).map(|(what, why)| (what, why.to_owned()))
    }
}

/// The lists that clusters didn't give, as the bundle's table of contents says it. `of_hub` are the hub's with their errors.
fn unread(snapshot: &Snapshot, of_hub: &[(Kind, FleetError)]) -> Vec<Missing> {
    let needed: Vec<&str> =
        of_hub.iter().filter(|(kind, error)| is_needed(*kind, error)).map(|(kind, _)| kind.plural).collect();
    let lists = snapshot.clusters.iter().flat_map(|cluster| cluster.unread.iter().map(move |unread| (cluster, unread)));
    let lists = lists.filter(|(_, unread)| unread.may_have_objects());
    let missing = lists.map(|(cluster, unread)| Missing {
        cluster: Some(cluster.name.clone()),
        what: unread.resource.clone(),
        why: unread.message.clone(),
        needed: cluster.role == Role::Hub && needed.contains(&unread.resource.as_str()),
    });
    missing.collect()
}

fn no_answer(limit: Duration) -> String {
    format!("no answer within {} s", limit.as_secs())
}

/// What is known of a fleet that doesn't answer.
fn nothing(source: &Source, limit: Duration) -> Taken {
    let cluster = |name: &str, role| ClusterSnapshot {
        name: name.to_owned(),
        role,
        server: None,
        objects: Vec::new(),
        logs: Vec::new(),
        unreachable: Some(no_answer(limit)),
        unread: Vec::new(),
    };
    let members = source.members.keys().map(|name| cluster(name, Role::Member));
    let clusters = std::iter::once(cluster(HUB, Role::Hub)).chain(members).collect();
    Taken { snapshot: Snapshot { taken_at: Timestamp::now(), clusters }, missing: Vec::new() }
}

async fn events(clients: &[(&str, &Client)], redactor: &Redactor) -> (BTreeMap<String, Vec<Value>>, Vec<Missing>) {
    let (mut events, mut missing) = (BTreeMap::new(), Vec::new());
    let lists = clients.iter().map(|(name, client)| async move { (*name, list(name, client, EVENT, redactor).await) });
    for (name, list) in join_all(lists).await {
        let cluster = name.to_owned();
        match list {
            Ok(list) => drop(events.insert(cluster, list.unwrap_or_default())),
            Err(error) => missing.push(Missing {
                cluster: Some(cluster),
                what: EVENT.plural.to_owned(),
                why: in_full(&error),
                needed: false,
            }),
        }
    }
    (events, missing)
}

async fn logs_of(source: &Source, clients: &[(&str, &Client)], redactor: &Redactor) -> Logs {
    let Some(dir) = source.directory.clone().filter(|_| source.processes) else {
        let pods = clients.iter().map(|(name, client)| logs::of_pods(name, client, redactor));
        let (logs, missing): (Vec<_>, Vec<_>) = join_all(pods).await.into_iter().unzip();
        return (logs.concat(), missing.concat());
    };
    let redactor = redactor.clone();
    // Up to 1 MiB for each process is gone through, while others may wait for this thread.
    tokio::task::spawn_blocking(move || logs::of_processes(&dir, &redactor)).await.unwrap_or_default()
}

/// The tokens that a local fleet's agents have.
fn tokens(dir: &Path) -> Vec<String> {
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
