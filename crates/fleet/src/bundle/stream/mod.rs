//! Bundles that are written while they are taken, so that memory doesn't grow with the fleet.
//!
//! Every list is read page by page. Each page loses its secrets, is compressed, and goes to a file of a temporary
//! directory beside the bundle's path; at the end the directory becomes the bundle. First come the hub's objects,
//! without which nothing can be diagnosed, then the members', then events and logs, for people. At its limit of time or
//! size the bundle has what there is, and says what is missing. If it is dropped before [`BundleStream::finish`],
//! nothing is left behind.

mod cluster;
mod extras;
mod files;
mod kept_objects;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use clusters::cluster::HUB;
use diagnosis::{Snapshot, SnapshotRole};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::time::Instant;

use self::cluster::{ClusterParts, kinds_of_hub, kinds_of_member};
use self::files::{BundleFiles, DiskBudget};
use self::kept_objects::KeptObjects;
use super::collect::{BundleSource, tokens};
use super::error::BundleError;
use super::logs;
use super::manifest::{BundleLogEntry, BundleManifest, KIND, MissingBundlePart, SCHEMA};
use super::path_part;
use super::write::{default_name, unique};
use crate::error::FleetError;
use crate::pages::{ListError, PAGE_SIZE};
use crate::redact::Redactor;
use crate::snapshot::kinds_of_destination;

/// Members that are read at the same time.
const MEMBERS_AT_ONCE: usize = 32;

/// Limits of a bundle that is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Time for the objects of all clusters, and once more for events and logs.
    pub time: Duration,
    /// Time for the objects of one member, and once more for its events and logs.
    pub member_time: Duration,
    /// Size on disk, in bytes. The bundle exceeds it by a page of each list that is being read, at most.
    pub bytes: u64,
    /// Objects that are requested at once.
    pub page_size: u32,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(300),
            member_time: Duration::from_secs(60),
            bytes: 1 << 30,
            page_size: PAGE_SIZE,
        }
    }
}

/// Numbers of what has been read.
#[derive(Debug, Default)]
pub struct StreamProgress {
    /// Objects.
    pub objects: AtomicUsize,
    /// Events.
    pub events: AtomicUsize,
    /// Clusters whose objects were read, as far as they could be.
    pub clusters: AtomicUsize,
}

/// A bundle that has been read and has no name yet.
#[derive(Debug)]
pub struct BundleStream {
    /// The table of contents.
    pub manifest: BundleManifest,
    /// The clusters, and the few objects on which the content of the bundle depends, e.g. `MemberClusters` by name.
    pub snapshot: Snapshot,
    /// True if the bundle reached a limit of size or time: there is more than it has.
    pub is_cut: bool,
    directory: TempDir,
}

/// What all clusters' streams share.
struct StreamContext<'a> {
    files: BundleFiles,
    limits: StreamLimits,
    redactor: Redactor,
    kept_objects: KeptObjects,
    progress: &'a StreamProgress,
    /// True if a limit has kept something out of the bundle.
    is_cut: AtomicBool,
}

impl StreamContext<'_> {
    /// Returns the reason why nothing more is written; `None` if the bundle isn't full.
    fn full(&self) -> Option<String> {
        let why = self.files.full()?;
        self.is_cut.store(true, Ordering::Relaxed);
        Some(why)
    }

    /// Notes an error that may be the end of the bundle's time.
    fn note(&self, error: &FleetError) {
        if let FleetError::List { source: ListError::Late { .. } | ListError::Throttled { .. }, .. } = error {
            self.is_cut.store(true, Ordering::Relaxed);
        }
    }
}

impl BundleStream {
    /// Reads everything that can be read to a temporary directory in `parent`.
    ///
    /// # Errors
    /// Returns an error if the directory can't be written. What can't be read is listed in the bundle.
    pub async fn collect(
        source: &BundleSource,
        parent: &Path,
        limits: StreamLimits,
        progress: &StreamProgress,
    ) -> Result<Self, BundleError> {
        let written = |error| BundleError::write(parent)(error);
        let directory = super::write::temporary_directory(parent).map_err(written)?;
        let mut context = StreamContext {
            files: BundleFiles::new(directory.path().to_owned(), DiskBudget::new(limits.bytes)),
            limits,
            redactor: Redactor::knowing(source.directory.as_deref().map(tokens).unwrap_or_default()),
            kept_objects: KeptObjects::default(),
            progress,
            is_cut: AtomicBool::new(false),
        };
        let mut names = BTreeSet::new();
        let mut unique = |name: &str| unique(&path_part(name), &mut names);
        let end = Instant::now() + limits.time;
        let mut hub = ClusterParts::new(HUB, SnapshotRole::Hub, &source.hub, unique(HUB), end);
        let kinds = kinds_of_hub();
        hub.read_objects(&context, kinds).await.map_err(written)?;
        let hub_snapshot = Snapshot { taken_at: Timestamp::now(), clusters: vec![hub.snapshot()] };
        let has_applications = context.kept_objects.learn_from_hub(&hub_snapshot);
        if has_applications {
            let hub_is_destination = diagnosis::hub_is_destination(&hub_snapshot);
            let kinds = kinds_of_destination(SnapshotRole::Hub, hub_is_destination).collect();
            hub.read_objects(&context, kinds).await.map_err(written)?;
        }
        progress.clusters.fetch_add(1, Ordering::Relaxed);
        let members: Vec<_> =
            source.members.iter().map(|(name, access)| (name.as_str(), access, unique(name))).collect();
        let members = members.into_iter().map(|(name, access, directory)| {
            let context = &context;
            async move {
                let end = end.min(Instant::now() + limits.member_time);
                let mut member = ClusterParts::new(name, SnapshotRole::Member, access, directory, end);
                member.read_objects(context, kinds_of_member(has_applications)).await?;
                progress.clusters.fetch_add(1, Ordering::Relaxed);
                Ok(member)
            }
        });
        let members: Vec<std::io::Result<ClusterParts<'_>>> =
            stream::iter(members).buffered(MEMBERS_AT_ONCE).collect().await;
        let mut clusters = vec![hub];
        for member in members {
            clusters.push(member.map_err(written)?);
        }
        let taken_at = Timestamp::now();
        let mut snapshot =
            Snapshot { taken_at, clusters: clusters.iter_mut().map(ClusterParts::take_snapshot).collect() };
        let (wanted_logs, wanted_objects) = (diagnosis::wanted_logs(&snapshot), diagnosis::wanted_objects(&snapshot));
        let end = Instant::now() + limits.time;
        let extras = clusters.into_iter().map(|mut cluster| {
            let (context, wanted_logs, wanted_objects) = (&context, &wanted_logs, &wanted_objects);
            async move {
                let member_end = Instant::now() + limits.member_time;
                let end = if cluster.role == SnapshotRole::Hub { end } else { end.min(member_end) };
                cluster.read_extras(context, wanted_objects, wanted_logs, end, !source.processes).await?;
                Ok(cluster)
            }
        });
        let extras: Vec<std::io::Result<ClusterParts<'_>>> =
            stream::iter(extras).buffered(MEMBERS_AT_ONCE).collect().await;
        let (mut entries, mut logs, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for (cluster, snapshot) in extras.into_iter().zip(&mut snapshot.clusters) {
            let cluster = cluster.map_err(written)?;
            snapshot.time = cluster.time;
            let parts = cluster.into_entries(&context.redactor);
            entries.push(parts.entry);
            logs.extend(parts.logs);
            missing.extend(parts.missing);
        }
        let (of_processes, unread) = process_logs(source, &context).await.map_err(written)?;
        logs.extend(of_processes);
        missing.extend(unread);
        let manifest = BundleManifest {
            bundle: KIND.into(),
            schema: SCHEMA,
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            fleet: source.fleet.clone(),
            kubefleet: source.kubefleet.clone(),
            about: None,
            taken_at,
            clusters: entries,
            logs,
            missing,
        };
        context.files.manifest(&manifest).map_err(written)?;
        Ok(Self { manifest, snapshot, is_cut: context.is_cut.into_inner(), directory })
    }

    /// Default name of the bundle: fleet and time, in UTC.
    #[must_use]
    pub fn default_name(&self) -> PathBuf {
        default_name(&self.manifest.fleet, self.manifest.taken_at)
    }

    /// Gives the bundle its name. It becomes one file if the name ends with `.tar.gz` or `.tgz`. Only the owner may read
    /// it; nothing is overwritten. Blocks the thread.
    ///
    /// # Errors
    /// Returns an error if the name exists already, or the bundle can't be written; nothing is left behind then.
    pub fn finish(self, path: &Path) -> Result<(), BundleError> {
        let time = self.manifest.taken_at.as_second();
        super::write::finish_directory(self.directory, path, time).map_err(BundleError::write(path))
    }
}

/// Writes the logs of a fleet whose processes run on this machine.
async fn process_logs(
    source: &BundleSource,
    context: &StreamContext<'_>,
) -> std::io::Result<(Vec<BundleLogEntry>, Vec<MissingBundlePart>)> {
    let Some(dir) = source.directory.clone().filter(|_| source.processes) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let redactor = context.redactor.clone();
    // Reading takes up to 1 MiB for each process, and other tasks may wait for this thread.
    let read = tokio::task::spawn_blocking(move || logs::of_processes(&dir, &redactor)).await;
    let (logs, mut missing) = read.unwrap_or_default();
    let mut entries = Vec::new();
    for log in logs {
        match context.full() {
            None => entries.push(context.files.log(&log)?),
            Some(why) => {
                let what = format!("the log of {}", log.process);
                missing.push(MissingBundlePart { cluster: None, what, why, needed: false });
            }
        }
    }
    Ok((entries, missing))
}
