//! Result of a diagnosis: the findings, and the objects that aren't well yet but may become so by themselves.

use jiff::Timestamp;
use record::{Evidence, Finding, Subject};
use schemars::JsonSchema;
use serde::Serialize;

/// Diagnosis of a snapshot. Everything that was read and that no finding and no entry of `in_progress` is about is well.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Diagnosis {
    /// Findings: data loss first, then failures, then notices.
    pub findings: Vec<Finding>,
    /// Objects that aren't well, but for no longer than is usual.
    pub in_progress: Vec<InProgress>,
}

/// Object, or part of one, that isn't well yet.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct InProgress {
    /// Object, with the member if only that part isn't well yet.
    pub subject: Subject,
    /// Condition or field that will change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Evidence>,
    /// Time at which the state began; absent if the object doesn't tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Seconds for which the state has lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
    /// Seconds for which the state usually lasts at most; absent if it lasts as long as something else that is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_seconds: Option<i64>,
}
