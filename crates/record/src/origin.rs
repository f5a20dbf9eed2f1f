//! Origin of an object on a member: the placement that put it there, with everything between the two.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ObjectPath;

/// Origin of an object on a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectOrigin {
    /// The object.
    pub object: ObjectPath,
    /// Name of the member.
    pub member: String,
    /// True if the object is on the member.
    pub exists: bool,
    /// Owners of the object on the member, from its own one to the object that KubeFleet applied. Empty if it applied the object itself.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub owners: Vec<ObjectPath>,
    /// Works that have applied the object, or the last of its owners.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub placed_by: Vec<WorkOrigin>,
    /// Works that contain the object, or the last of its owners, and haven't applied it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub wanted_by: Vec<WorkOrigin>,
    /// Clients that have written the object, outside of its status; the last one first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub writers: Vec<ObjectWriter>,
}

/// Work with the objects on the hub that it was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkOrigin {
    /// The `AppliedWork` on the member that owns the object; none if the Work hasn't applied it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub applied_work: Option<ObjectPath>,
    /// The Work on the hub.
    pub work: ObjectPath,
    /// True if the Work is on the hub.
    pub work_exists: bool,
    /// What the Work reports of the object: its condition Applied, or `DiffReported`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub manifest: Option<ManifestReport>,
    /// The placement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<ObjectPath>,
    /// True if the placement is on the hub.
    pub placement_exists: bool,
    /// The placement's binding for the member.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub binding: Option<ObjectPath>,
    /// The resource snapshot that is rolled out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resource_snapshot: Option<ObjectPath>,
    /// The envelope that the Work was made of; none for objects that are placed as they are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub envelope: Option<ObjectPath>,
    /// Snapshots of the overrides that select the object.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub overrides: Vec<ObjectPath>,
}

/// What a Work reports of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestReport {
    /// Type of the condition: `Applied` or `DiffReported`.
    pub condition: String,
    /// Status of the condition.
    pub status: String,
    /// Reason of the condition.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
}

/// Client that has written an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectWriter {
    /// Name of the field manager, e.g. `work-api-agent` for KubeFleet's agent.
    pub manager: String,
    /// Time of its last write, by the API server's clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
}
