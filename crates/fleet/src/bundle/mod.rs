//! Bundles: snapshots of a fleet that are saved for later, without secrets.
//!
//! A bundle is a directory, or a `.tar.gz` file of a directory:
//!
//! ```text
//! bundle.json                    the format's version, who took it, when, of what, and what couldn't be read
//! clusters/<name>/objects.json   the objects that the diagnosis reads
//! clusters/<name>/logs.json      the ends of the logs that the diagnosis quotes, if there are any
//! clusters/<name>/events.json    core v1 Events, for people
//! logs/<process>.log             the ends of the agents' and control planes' logs, for people
//! ```
//!
//! This is the form of a bundle in memory, which [`Bundle::collect`] takes and [`Bundle::write`] saves. A
//! [`BundleStream`] is written while it is taken. Its lists and logs are compressed one by one, with names that end in
//! `.gz`; an older fleetdrill refuses it by its schema.
//!
//! [`LoadedBundle::read`] reads the part that a diagnosis
//! needs, [`BundleContents::read`] everything. Secrets stay out: no Secret and no `ConfigMap` is read, and a [`Redactor`](crate::redact::Redactor) goes
//! through everything twice, when it is read and when it is written.

mod collect;
mod contents;
mod error;
mod limit;
mod logs;
mod manifest;
mod objects;
mod objects_parser;
#[cfg(test)]
mod published_schemas;
mod read;
mod stream;
mod write;

pub use self::collect::{Bundle, BundleSource};
pub use self::contents::BundleContents;
pub use self::error::BundleError;
pub use self::limit::SizeLimit;
pub use self::logs::LogTail;
pub use self::manifest::{BundleClusterEntry, BundleLogEntry, BundleManifest, MissingBundlePart, SCHEMA};
pub use self::read::LoadedBundle;
pub use self::stream::{BundleStream, StreamLimits, StreamProgress};

/// File names, shared by the code that writes bundles and the code that reads them.
mod file {
    pub(super) const MANIFEST: &str = "bundle.json";
    pub(super) const OBJECTS: &str = "objects.json";
    pub(super) const OBJECTS_GZ: &str = "objects.json.gz";
    pub(super) const LOGS: &str = "logs.json";
    pub(super) const EVENTS: &str = "events.json";
    pub(super) const EVENTS_GZ: &str = "events.json.gz";

    /// Path of a cluster's file in a bundle.
    pub(super) fn of_cluster(directory: &str, file: &str) -> String {
        format!("clusters/{directory}/{file}")
    }

    /// Path of a log in a bundle.
    pub(super) fn log(file: &str) -> String {
        format!("logs/{file}")
    }
}

/// True if a bundle with this file name is a compressed archive.
#[must_use]
pub fn is_archive(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| without_archive_ending(&name.to_string_lossy()).is_some())
}

/// File name without `.tar.gz` or `.tgz`, in upper or lower case; `None` if the name has no such ending.
fn without_archive_ending(name: &str) -> Option<&str> {
    [".tar.gz", ".tgz"].into_iter().find_map(|ending| {
        let (stem, found) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        found.eq_ignore_ascii_case(ending).then_some(stem)
    })
}

/// Turns a name into one part of a path. Characters that might lead to another directory become dashes.
#[must_use]
pub fn path_part(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' });
    let part: String = safe.take(100).collect();
    // No hidden files, and no `..`.
    let part = part.trim_start_matches(['.', '-']);
    if part.is_empty() { "unnamed".into() } else { part.to_owned() }
}

#[cfg(test)]
mod tests;
