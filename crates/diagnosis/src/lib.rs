//! Names the cause of a failure from a snapshot of a fleet's objects.
//!
//! Data flows one way: a [`Snapshot`] of objects goes in, [`Finding`]s come out. The crate reads no clock, calls no API
//! server and never waits; rules take the snapshot's time as the present. The texts are in `catalogue/`. The rules
//! are code, one file per family, under `rules/`.

mod access;
mod apply_strategy;
mod catalogue;
mod code;
mod command;
mod hidden;
mod in_progress;
mod json;
pub mod kinds;
pub mod kubefleet;
mod object;
mod object_list;
mod object_list_reader;
mod object_query;
mod read_record;
mod rules;
mod snapshot;
mod template;
mod waiver;

use access::HUB;
pub use access::{KubectlAccess, quoted};
pub use apply_strategy::APPLY_DEFAULTS;
pub use catalogue::{CatalogueEntry, RenderError, RenderedTexts, catalogue, entry};
pub use code::is_meant_as_code;
pub use hidden::codes_that_need;
pub use in_progress::{Diagnosis, InProgress};
pub use json::{JsonElements, JsonFields, JsonList, JsonRef, ValueLimit};
pub use kinds::{
    APP_PROJECT, APPLICATION, APPLICATION_SET, DESTINATION_KINDS, FIRST_HUB_KINDS, GroupKind, HUB_KINDS, MEMBER_KINDS,
};
pub use object::{Condition, Object, conditions};
pub use object_list::ObjectList;
pub use object_list_reader::{ObjectListReader, RECORD_SEPARATOR, ReadObjectsError};
pub use object_query::{ObjectQuery, ObjectSelection};
pub use read_record::ReadRecord;
pub use record::{Evidence, FailureCode, Finding, FindingWaiver, GuideSection, Remedy, Severity, Subject};
pub use rules::{
    ClusterQueries, PATIENCE, WantedLog, WantedObjects, WantedPart, WantedResource, diagnose, diagnose_with,
    diagnose_without, examine, examine_by_cause, examine_with_waivers, hub_is_destination, unanswered_queries,
    wanted_logs, wanted_objects,
};
pub use snapshot::{AbsentObject, ClusterSnapshot, PodLog, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
pub use waiver::{ObjectPattern, Waiver};
