//! Snapshots of large fleets, read as the rules need it: first the objects that say whether something isn't well, then, in rounds, what the
//! rules ask for. What is healthy costs nothing beyond the first lists.

mod cluster_reader;
mod focus;
mod plan;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clusters::cluster::HUB;
use diagnosis::{ClusterSnapshot, FIRST_HUB_KINDS, ObjectList, ObjectQuery, ReadRecord, Snapshot, SnapshotRole};
use futures::{StreamExt as _, stream};
use tokio::time::Instant;

pub use focus::Focus;

use self::cluster_reader::{ClusterReader, Failures};
use super::applications::add_logs;
use super::lists::ClusterAccess;
use super::take::{add_times, remove_from_errors};
use super::{clock, wanted_objects};
use crate::error::{FleetError, in_full};
use crate::redact::Redactor;

/// Clusters that are asked at the same time.
pub(super) const CLUSTERS_AT_ONCE: usize = 64;

/// Rounds of queries. Each one asks for what the answers of the one before have led to; four are usual.
const MOST_ROUNDS: usize = 20;

/// Time that each cluster has for all its answers, unless somebody gives another one.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(120);

/// Limits and observers of a read.
pub struct ReadOptions<'a> {
    /// Decides what is withheld.
    pub redactor: &'a Redactor,
    /// Single object that is diagnosed; `None` for the whole fleet.
    pub focus: Option<&'a Focus>,
    /// Time that each cluster has for all its answers.
    pub limit: Duration,
    /// Counts requests and objects.
    pub counter: &'a ReadCounter,
}

/// Number of requests and objects of a read.
#[derive(Debug, Default)]
pub struct ReadCounter {
    requests: AtomicUsize,
    objects: AtomicUsize,
}

impl ReadCounter {
    /// Number of requests so far; each page is one.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Number of objects so far.
    pub fn objects(&self) -> usize {
        self.objects.load(Ordering::Relaxed)
    }

    fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn add(&self, objects: usize) {
        self.objects.fetch_add(objects, Ordering::Relaxed);
    }
}

/// Reads a fleet as far as the rules need it. A list that a cluster doesn't return costs what depends on it, and is in the snapshot with the
/// reason, and so is a cluster that returns nothing. Members that no rule needs aren't asked.
///
/// # Errors
/// Returns an error if the hub returns nothing.
pub async fn take_as_needed(
    hub: &ClusterAccess,
    members: &BTreeMap<String, ClusterAccess>,
    options: &ReadOptions<'_>,
) -> Result<Snapshot, FleetError> {
    let mut reading = FleetReading::new(hub, members, options);
    reading.read_first().await?;
    reading.answer_rules().await;
    // These objects are known to the API servers alone, so that rules can't ask for them.
    wanted_objects::add(&mut reading.snapshot, hub, members, options.redactor, reading.deadline).await;
    add_logs(&mut reading.snapshot, hub, members, options.redactor).await;
    reading.answer_rules().await;
    add_times(&mut reading.snapshot, hub, members).await;
    reading.snapshot.taken_at = jiff::Timestamp::now();
    remove_from_errors(&mut reading.snapshot, options.redactor);
    Ok(reading.snapshot)
}

/// Fleet, as far as it was read.
struct FleetReading<'a> {
    snapshot: Snapshot,
    /// Readers of the clusters, in the order of the snapshot.
    readers: Vec<ClusterReader<'a>>,
    options: &'a ReadOptions<'a>,
    /// Time until which every cluster may answer.
    deadline: Instant,
}

impl<'a> FleetReading<'a> {
    fn new(hub: &'a ClusterAccess, members: &'a BTreeMap<String, ClusterAccess>, options: &'a ReadOptions<'a>) -> Self {
        let members = members.iter().map(|(name, member)| (name.as_str(), SnapshotRole::Member, member));
        let clusters: Vec<_> = std::iter::once((HUB, SnapshotRole::Hub, hub)).chain(members).collect();
        let deadline = Instant::now() + options.limit;
        let readers = clusters.iter().map(|(name, _, access)| ClusterReader {
            name,
            access,
            redactor: options.redactor,
            deadline,
            counter: options.counter,
            limit: options.limit,
            known: Mutex::default(),
        });
        let readers = readers.collect();
        let snapshots = clusters.iter().map(|(name, role, access)| nothing_read(name, *role, access));
        let snapshot = Snapshot { taken_at: jiff::Timestamp::now(), clusters: snapshots.collect() };
        Self { snapshot, readers, options, deadline }
    }

    /// Reads the first lists of the hub.
    async fn read_first(&mut self) -> Result<(), FleetError> {
        let (Some(reader), Some(hub)) = (self.readers.first(), self.snapshot.clusters.first_mut()) else {
            return Ok(());
        };
        let queries = FIRST_HUB_KINDS.iter().copied().map(ObjectQuery::all).collect();
        let mut requests = plan::plan(queries);
        if let Some(focus) = self.options.focus {
            focus.narrow(&mut requests, hub);
        }
        let count = requests.len();
        let failures = reader.read(hub, requests).await;
        if failures.len() >= count {
            let resources = failures.iter().map(|(kind, _)| kind.plural.to_owned()).collect();
            let first = failures.into_iter().next();
            return first
                .map_or(Ok(()), |(_, source)| Err(FleetError::Unlisted { resources, source: Box::new(source) }));
        }
        hub.time = clock::time(&reader.access.client).await;
        hub.unread = reader.unread(failures).await;
        Ok(())
    }

    /// Asks the clusters for what the rules need, until the rules need nothing more.
    async fn answer_rules(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut queries: BTreeMap<String, Vec<ObjectQuery>> =
                diagnosis::unanswered_queries(&self.snapshot).into_iter().collect();
            if queries.is_empty() {
                return;
            }
            let clusters = self.snapshot.clusters.iter_mut().zip(&self.readers);
            let asked =
                clusters.filter_map(|(cluster, reader)| Some((queries.remove(&cluster.name)?, cluster, reader)));
            let reads = asked.map(|(queries, cluster, reader)| answer(cluster, reader, queries));
            stream::iter(reads).for_each_concurrent(CLUSTERS_AT_ONCE, |read| read).await;
            self.renew_time().await;
        }
    }

    /// Sets the present time to that of the hub, so that nothing that was read is later.
    async fn renew_time(&mut self) {
        if let (Some(reader), Some(hub)) = (self.readers.first(), self.snapshot.clusters.first_mut()) {
            hub.time = clock::time(&reader.access.client).await.or(hub.time);
        }
        self.snapshot.taken_at = jiff::Timestamp::now();
    }
}

/// Reads what answers the queries of one cluster.
async fn answer(cluster: &mut ClusterSnapshot, reader: &ClusterReader<'_>, queries: Vec<ObjectQuery>) {
    let is_first = cluster.read.is_nothing();
    let (before, failures) = (cluster.objects.len(), reader.answer(cluster, queries).await);
    let nothing_came = is_first && cluster.objects.len() == before;
    // An API server that refuses, or doesn't serve a kind, has answered.
    match failures.first().filter(|_| nothing_came && failures.iter().all(|(_, error)| error.status().is_none())) {
        Some((_, error)) => cluster.unreachable = Some(in_full(error)),
        None => add_unread(cluster, reader, failures).await,
    }
}

async fn add_unread(cluster: &mut ClusterSnapshot, reader: &ClusterReader<'_>, failures: Failures) {
    for unread in reader.unread(failures).await {
        let is_same = |known: &diagnosis::UnreadKind| known.group == unread.group && known.resource == unread.resource;
        if !cluster.unread.iter().any(is_same) {
            cluster.unread.push(unread);
        }
    }
}

fn nothing_read(name: &str, role: SnapshotRole, access: &ClusterAccess) -> ClusterSnapshot {
    let (server, read) = (access.server.clone(), ReadRecord::nothing());
    ClusterSnapshot { server, read, ..ClusterSnapshot::new(name, role, ObjectList::default()) }
}
