//! `bundle.json`: the contents of a bundle, and what couldn't be read.

use diagnosis::{AbsentObject, SnapshotRole, UnreadKind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Newest version of the format that this fleetdrill reads and writes. It changes when an older fleetdrill would misread the
/// new format: bundles of version 2 are streamed, with compressed lists.
pub const SCHEMA: u32 = 2;

/// Version of the format of bundles that come from memory. Every fleetdrill reads it.
pub(super) const PLAIN_SCHEMA: u32 = 1;

/// Value of [`BundleManifest::bundle`] that marks a bundle.
pub(super) const KIND: &str = "fleetdrill";

/// A bundle's table of contents.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BundleManifest {
    /// Always `fleetdrill`.
    #[schemars(extend("const" = KIND))]
    pub bundle: String,
    /// Version of the format.
    pub schema: u32,
    /// Version of the fleetdrill that wrote the bundle.
    pub fleetdrill: String,
    /// Name of the fleet, or the hub's context.
    pub fleet: String,
    /// Version of KubeFleet, if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kubefleet: Option<String>,
    /// Reason for taking the bundle, e.g. the scenario that failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// Time when all objects had been read. The diagnosis uses it as the current time.
    pub taken_at: Timestamp,
    /// Clusters, hub first.
    pub clusters: Vec<BundleClusterEntry>,
    /// Logs of agents and control planes.
    pub logs: Vec<BundleLogEntry>,
    /// Lists and logs that couldn't be read. A cluster that couldn't be read at all has `unreachable` instead.
    pub missing: Vec<MissingBundlePart>,
}

/// A cluster in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BundleClusterEntry {
    /// `hub`, or the member's name.
    pub name: String,
    /// Role of the cluster: hub or member.
    pub role: SnapshotRole,
    /// Address of the API server, if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// Time on the clock of the cluster's API server when the bundle was taken. Absent in bundles of fleetdrill v0.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<Timestamp>,
    /// Directory of the cluster's files, below `clusters/`.
    pub directory: String,
    /// Number of objects in `objects.json` or `objects.json.gz`.
    pub objects: usize,
    /// Number of events in `events.json` or `events.json.gz`.
    pub events: usize,
    /// Reason why nothing could be read from the cluster, if so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unreachable: Option<String>,
    /// Kinds that couldn't be read although other kinds could. Bundles of fleetdrill 0.1.0 have none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unread: Vec<UnreadKind>,
    /// Objects that were asked for by name, and that the cluster doesn't have.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub absent: Vec<AbsentObject>,
}

/// A log in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BundleLogEntry {
    /// Name of the process, e.g. `hub-agent`.
    pub process: String,
    /// Name of the log's file, below `logs/`.
    pub file: String,
    /// True if only the end of the log is in the file.
    pub cut: bool,
}

/// A list or log that couldn't be read.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct MissingBundlePart {
    /// Name of the cluster; none for the logs of a local fleet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// Missing list or log, e.g. `works`.
    pub what: String,
    /// Reason why it couldn't be read.
    pub why: String,
    /// True if a diagnosis without this list leaves out findings that rest on it. An older fleetdrill refuses to diagnose such a bundle.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub needed: bool,
}
