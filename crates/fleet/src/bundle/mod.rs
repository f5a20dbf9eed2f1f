//! Bundles: what a fleet looked like at one moment, saved for later, with nothing secret in it.
//!
//! A bundle is a directory or a `.tar.gz` file of one:
//!
//! ```text
//! bundle.json                    the format's version, who took it, when, of what, and what couldn't be read
//! clusters/<name>/objects.json   what the diagnosis reads
//! clusters/<name>/logs.json      the ends of the logs that the diagnosis quotes, where there are such
//! clusters/<name>/events.json    core v1 Events, for people
//! logs/<process>.log             the ends of the agents' and control planes' logs, for people
//! ```
//!
//! [`Bundle::collect`] takes one, [`Bundle::write`] saves it, [`Saved::read`] reads what a diagnosis needs. Nothing secret
//! gets in: no Secret and no `ConfigMap` is read, and a [`Redactor`] goes through everything, once as it is read and
//! once more as it is written.

mod collect;
mod error;
mod limit;
mod logs;
mod manifest;
mod read;
mod redact;
mod write;

pub use self::collect::{Bundle, Source};
pub use self::error::BundleError;
pub use self::limit::SizeLimit;
pub use self::logs::Log;
pub use self::manifest::{ClusterEntry, LogEntry, Manifest, Missing, SCHEMA};
pub use self::read::Saved;
pub use self::redact::{REMOVED, Redactor};

/// The files' names, for writer and reader.
mod file {
    pub(super) const MANIFEST: &str = "bundle.json";
    pub(super) const OBJECTS: &str = "objects.json";
    pub(super) const LOGS: &str = "logs.json";
    pub(super) const EVENTS: &str = "events.json";

    /// A file of a cluster.
    pub(super) fn of_cluster(directory: &str, file: &str) -> String {
        format!("clusters/{directory}/{file}")
    }

    /// A log.
    pub(super) fn log(file: &str) -> String {
        format!("logs/{file}")
    }
}

/// Whether a bundle of this name is a compressed archive.
#[must_use]
pub fn is_archive(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| without_archive_ending(&name.to_string_lossy()).is_some())
}

/// A file's name without `.tar.gz` or `.tgz`, in upper or lower case; none when it has no such ending.
fn without_archive_ending(name: &str) -> Option<&str> {
    [".tar.gz", ".tgz"].into_iter().find_map(|ending| {
        let (stem, found) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        found.eq_ignore_ascii_case(ending).then_some(stem)
    })
}

/// A name as one part of a path: what might lead elsewhere becomes a dash.
#[must_use]
pub fn path_part(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let part: String = name.chars().map(safe).take(100).collect();
    // No hidden files, and no way up.
    let part = part.trim_start_matches(['.', '-']);
    if part.is_empty() { "unnamed".into() } else { part.to_owned() }
}

#[cfg(test)]
mod tests;
