//! Report about several runs as JSON.

use std::collections::BTreeMap;

use record::ControllerRace;
use schemars::JsonSchema;
use serde::Serialize;

use super::compare::RunComparison;
use super::merge::{FlakyScenario, MergedRuns};
use crate::run::OutcomeCounts;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
pub(super) const SCHEMA: u32 = 1;

/// Report about several runs, and what has changed since earlier ones.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RunsReport<'a> {
    /// Number of the schema.
    schema: u32,
    /// Ids of the runs, separated by commas.
    id: &'a str,
    /// Number of scenarios per outcome.
    counts: OutcomeCounts,
    /// Number of false alarms of the continuous diagnosis.
    false_alarms: usize,
    /// How often each race of a controller was worked around.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    worked_around: BTreeMap<ControllerRace, usize>,
    /// Scenarios that passed in some of the runs and failed in others.
    flaky: Vec<FlakyScenario>,
    /// What has changed since earlier runs; absent if no earlier run was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a RunComparison>,
}

impl<'a> RunsReport<'a> {
    /// Makes the report.
    #[must_use]
    pub fn of(runs: &'a MergedRuns, comparison: Option<&'a RunComparison>) -> Self {
        Self {
            schema: SCHEMA,
            id: &runs.record.id,
            counts: OutcomeCounts::of(&runs.record),
            false_alarms: runs.record.false_alarms().len(),
            worked_around: runs.record.worked_around(),
            flaky: runs.flaky(),
            comparison,
        }
    }
}
