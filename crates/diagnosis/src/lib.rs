//! Names the cause of a failure from a snapshot of a fleet's objects.
//!
//! Data flows one way: a [`Snapshot`] of objects goes in, [`Finding`]s come out. Nothing in here reads a clock, talks to
//! an API server or waits; the time a rule reasons about is the snapshot's own. Texts stand in `catalogue.yaml`, rules
//! are code, one file per family under `rules/`.

mod access;
mod apply_strategy;
mod catalogue;
mod command;
mod finding;
mod kinds;
mod object;
mod rules;
mod snapshot;
mod template;

use access::HUB;
pub use access::{Access, quoted};
pub use apply_strategy::APPLY_DEFAULTS;
pub use catalogue::{Entry, Guide, RenderError, Texts, catalogue, entry};
pub use finding::{Code, Evidence, Finding, Remedy, Severity, Subject};
pub use kinds::{APPLICATION, DESTINATION_KINDS, HUB_KINDS, Kind, MEMBER_KINDS, PROJECT};
pub use object::{Condition, Object, conditions};
pub use rules::{PATIENCE, WantedLog, diagnose, diagnose_with, hub_is_destination, wanted_logs};
pub use snapshot::{ClusterSnapshot, PodLog, Role, Snapshot, UnreadKind, UnreadReason};
