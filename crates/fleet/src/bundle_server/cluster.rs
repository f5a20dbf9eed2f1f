//! The clusters of a bundle, as they are served.

use std::collections::BTreeSet;
use std::path::Path;

use diagnosis::{ClusterSnapshot, Object, ObjectList};
use jiff::Timestamp;

use super::request::{GroupVersion, ObjectsRoute};
use super::resource::{self, ServedResource};
use super::status::ApiError;
use crate::bundle::{BundleContents, BundleError, BundleManifest, LogTail, SizeLimit, path_part};
use crate::kinds::EVENT;

/// A bundle whose clusters are served.
#[derive(Debug)]
pub struct ServedBundle {
    /// The bundle's table of contents.
    pub manifest: BundleManifest,
    pub(super) clusters: Vec<ServedCluster>,
}

/// A cluster of the bundle, with what its API server answers from.
#[derive(Debug)]
pub(super) struct ServedCluster {
    /// Part of the cluster's address, and the name of its context: the cluster's name, without characters that don't belong there.
    pub(super) context: String,
    pub(super) snapshot: ClusterSnapshot,
    pub(super) events: ObjectList,
    /// Logs of all processes of the bundle. Those of a cluster's Pods have the cluster's name in theirs.
    pub(super) logs: Vec<LogTail>,
    pub(super) resources: Vec<ServedResource>,
    /// Version of all lists: the time of the bundle.
    pub(super) resource_version: String,
}

impl ServedBundle {
    /// Reads a bundle. Blocks the thread.
    ///
    /// # Errors
    /// Returns an error if the file is no bundle, or can't be read.
    pub fn read(path: &Path, limit: SizeLimit) -> Result<Self, BundleError> {
        BundleContents::read(path, limit).map(Self::new)
    }

    /// Prepares a bundle for being served.
    #[must_use]
    pub fn new(contents: BundleContents) -> Self {
        let BundleContents { bundle, mut events, logs } = contents;
        let mut taken = BTreeSet::new();
        let clusters = bundle.snapshot.clusters.into_iter().map(|snapshot| {
            let events = events.remove(&snapshot.name).unwrap_or_default();
            let prefix = format!("{}-", snapshot.name);
            let logs = logs.iter().filter(|log| log.process.starts_with(&prefix)).cloned().collect();
            let context = unique(&path_part(&snapshot.name), &mut taken);
            ServedCluster::new(context, snapshot, events, logs, bundle.snapshot.taken_at)
        });
        Self { clusters: clusters.collect(), manifest: bundle.manifest }
    }

    /// Names of the contexts, hub first.
    #[must_use]
    pub fn contexts(&self) -> Vec<&str> {
        self.clusters.iter().map(|cluster| cluster.context.as_str()).collect()
    }

    pub(super) fn cluster(&self, context: &str) -> Option<&ServedCluster> {
        self.clusters.iter().find(|cluster| cluster.context == context)
    }
}

impl ServedCluster {
    fn new(
        context: String,
        snapshot: ClusterSnapshot,
        events: ObjectList,
        logs: Vec<LogTail>,
        taken_at: Timestamp,
    ) -> Self {
        let resources = resource::of_cluster(&snapshot);
        let resource_version = taken_at.as_second().max(1).to_string();
        Self { context, snapshot, events, logs, resources, resource_version }
    }

    /// Returns the resource of a path.
    pub(super) fn resource(&self, version: &GroupVersion, plural: &str) -> Result<&ServedResource, ApiError> {
        if let Some(why) = &self.snapshot.unreachable {
            return Err(ApiError::ClusterUnread(why.clone()));
        }
        let found = self.resources.iter().find(|resource| resource.version == *version && resource.plural == plural);
        found.ok_or(ApiError::NoResource)
    }

    /// Returns the objects of a resource in the path's namespace, in the order of an API server: by namespace and name.
    pub(super) fn objects(&self, resource: &ServedResource, route: &ObjectsRoute) -> Vec<Object<'_>> {
        let is_event = resource.version.group == EVENT.group && resource.kind == EVENT.kind;
        let mut objects: Vec<Object<'_>> = if is_event {
            self.events.iter().collect()
        } else {
            let of_kind = self.snapshot.objects.of_kind(&resource.version.group, &resource.kind);
            let api_version = resource.version.api_version();
            of_kind.filter(|object| object.str("/apiVersion") == Some(&api_version)).collect()
        };
        if let Some(namespace) = &route.namespace {
            objects.retain(|object| object.namespace() == Some(namespace));
        }
        objects.sort_by_key(|object| (object.namespace(), object.name()));
        objects
    }
}

/// Returns a name that isn't taken yet.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let candidates = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name}-{n}")));
    let free = candidates.into_iter().find(|candidate| taken.insert(candidate.clone()));
    free.unwrap_or_else(|| name.to_owned())
}
