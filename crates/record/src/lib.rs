//! Facts as data: what a scenario, a run, a wait, an upgrade and a diagnosis have seen.
//!
//! The crates that do something (`steps`, `fleet`, `diagnosis`) write these types, and `report` prints them. Nothing in this crate
//! asks a cluster, reads a clock or writes a file. The serde form of [`RunRecord`] and [`UpgradeRecord`] is the public JSON of
//! `run --json` and `upgrade --json`; that of [`Finding`] is part of `diagnose -o json`.

mod capability;
mod condition;
mod continuous_diagnosis;
mod duration;
mod finding;
mod hollow;
mod loss;
mod object_path;
mod origin;
mod product;
mod race;
mod run;
mod shard;
mod upgrade;
mod wait;

pub use capability::{Capabilities, Capability};
pub use condition::{ConditionPlace, ConditionState, DELETION, Transition};
pub use continuous_diagnosis::{ContinuousDiagnosis, FalseAlarm, ScenarioName};
pub use duration::duration_text;
pub use finding::{
    Evidence, FailureCode, Finding, FindingWaiver, GuideSection, QuotedCondition, Remedy, Severity, Subject,
};
pub use hollow::{HOLLOW_LABEL, SCALE_TAG};
pub use loss::{Loss, LossKind};
pub use object_path::ObjectPath;
pub use origin::{ManifestReport, ObjectOrigin, ObjectWriter, WorkOrigin};
pub use product::Product;
pub use race::ControllerRace;
pub use run::{
    Action, ConditionTemplate, Outcome, RecordEntry, RecordedEvent, RunRecord, ScenarioRecord, ShownStatement,
    ShownStatementState,
};
pub use shard::{PodEnd, RepeatedShard};
pub use upgrade::{
    FleetPart, UpgradeOrder, UpgradeOrderRecord, UpgradePhase, UpgradePhaseRecord, UpgradeRecord, VersionChangeRecord,
};
pub use wait::{FailedWait, Observation, ObservedCondition, ObservedObject, WaitEnd};
