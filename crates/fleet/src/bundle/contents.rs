//! Reads everything in a bundle: what a diagnosis needs, and the events and logs that are there for people.

use std::collections::BTreeMap;
use std::path::Path;

use diagnosis::ObjectList;

use super::error::BundleError;
use super::file;
use super::limit::{Budget, SizeLimit};
use super::logs::LogTail;
use super::read::{BundleScope, LoadedBundle, is_one_part, not_a_bundle, truncated};

/// A bundle with everything that is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct BundleContents {
    /// The table of contents, the objects, and the logs that the diagnosis quotes.
    pub bundle: LoadedBundle,
    /// Events by the name of their cluster.
    pub events: BTreeMap<String, ObjectList>,
    /// Ends of the logs of agents and control planes.
    pub logs: Vec<LogTail>,
}

impl BundleContents {
    /// Reads a directory or a `.tar.gz` file. Blocks the thread.
    ///
    /// # Errors
    /// Returns an error if the file is no bundle, a newer fleetdrill wrote the bundle, a part of it is missing, or it
    /// is larger than the limit. Events and logs may be missing: somebody who passes a bundle on may delete them.
    pub fn read(path: &Path, limit: SizeLimit) -> Result<Self, BundleError> {
        let budget = &mut Budget::new(path, limit);
        let (bundle, mut files) = LoadedBundle::open(path, budget, BundleScope::Everything)?;
        let (mut events, mut logs) = (BTreeMap::new(), Vec::new());
        for cluster in &bundle.manifest.clusters {
            let name = file::of_cluster(&cluster.directory, file::EVENTS);
            let Some(list) = files.take_objects(path, &name, budget)? else { continue };
            budget.count_objects(list.len())?;
            if list.len() != cluster.events {
                let why = format!("{name} has {} events instead of {}", list.len(), cluster.events);
                return Err(truncated(path, why));
            }
            events.insert(cluster.name.clone(), list);
        }
        for log in &bundle.manifest.logs {
            if !is_one_part(&log.file) {
                return Err(not_a_bundle(path, &format!("`{}` is no log's file", log.file)));
            }
            let name = file::log(log.file.strip_suffix(".gz").unwrap_or(&log.file));
            let Some(text) = files.take(&name, budget)? else { continue };
            let text = String::from_utf8_lossy(&text).into_owned();
            logs.push(LogTail { process: log.process.clone(), text, cut: log.cut });
        }
        Ok(Self { bundle, events, logs })
    }
}
