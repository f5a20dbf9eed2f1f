//! `bundle.json`: what a bundle contains, and what it doesn't.

use diagnosis::{Role, Snapshot, UnreadKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The version of the format that is written. It changes when an older fleetdrill couldn't read the new one right.
pub const SCHEMA: u32 = 1;

/// What says that it is one.
pub(super) const KIND: &str = "fleetdrill";

/// A bundle's table of contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `fleetdrill`.
    pub bundle: String,
    /// The format's version.
    pub schema: u32,
    /// The fleetdrill that wrote it.
    pub fleetdrill: String,
    /// The fleet's name, or the hub's context.
    pub fleet: String,
    /// KubeFleet's version, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kubefleet: Option<String>,
    /// What it was taken for, e.g. the scenario that failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// When all objects had been read; the diagnosis takes this as now.
    pub taken_at: Timestamp,
    /// The clusters, hub first.
    pub clusters: Vec<ClusterEntry>,
    /// The logs.
    pub logs: Vec<LogEntry>,
    /// What couldn't be read. A cluster that couldn't be read at all says so itself.
    pub missing: Vec<Missing>,
}

/// A cluster in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterEntry {
    /// `hub`, or the member's name.
    pub name: String,
    /// Hub or member.
    pub role: Role,
    /// Its API server's address, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// Where its files are, below `clusters/`.
    pub directory: String,
    /// How many objects `objects.json` has.
    pub objects: usize,
    /// How many events `events.json` has.
    pub events: usize,
    /// Why nothing could be read, when nothing could.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unreachable: Option<String>,
    /// Kinds that were asked for and not given, when others were. Bundles of fleetdrill 0.1.0 have none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unread: Vec<UnreadKind>,
}

/// A log in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The process, e.g. `hub-agent`.
    pub process: String,
    /// Its file, below `logs/`.
    pub file: String,
    /// Whether only its end is there.
    pub cut: bool,
}

/// Something that couldn't be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Of which cluster; none for the logs of a local fleet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// What, e.g. `works`.
    pub what: String,
    /// Why.
    pub why: String,
    /// Whether a diagnosis without it would be wrong.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub needed: bool,
}

/// What a diagnosis can't do without and isn't there: what it is, and why it isn't.
pub(super) fn lacking<'a>(snapshot: &'a Snapshot, missing: &'a [Missing]) -> Option<(String, &'a str)> {
    if let Some(why) = snapshot.hub().and_then(|hub| hub.unreachable.as_deref()) {
        return Some(("the hub".into(), why));
    }
    missing
        .iter()
        .find(|missing| missing.needed)
        .map(|missing| (format!("the hub's {}", missing.what), missing.why.as_str()))
}
