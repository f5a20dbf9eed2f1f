//! A difference between two runs of a scenario, and its severity.

use std::collections::BTreeSet;

use record::{FailureCode, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;

use super::scenario_observations::MaskedConditionKey;

/// Severity of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DifferenceVerdict {
    /// No harm: something that failed passes now, or something is possible now that wasn't possible before.
    Safe,
    /// A text or a duration differs: runbooks, alerts and scripts may have to change.
    Differs,
    /// Something that worked doesn't work any more, or something was lost.
    Breaks,
}

impl DifferenceVerdict {
    /// All severities, the most severe first.
    pub(crate) const WORST_FIRST: [Self; 3] = [Self::Breaks, Self::Differs, Self::Safe];
}

/// Outcome of a scenario on the old version, without an upgrade. The outcome of the scenario in flight is compared with
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeBefore {
    /// The scenario passed.
    Passed,
    /// The scenario failed.
    Failed,
    /// The scenario was not run, or not to its end: `--only in-flight`, or the old version can't run it.
    NotTried,
}

impl OutcomeBefore {
    /// Converts the outcome in the run on the old version; `None` if that run doesn't have the scenario.
    #[must_use]
    pub fn of(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Passed) => Self::Passed,
            Some(Outcome::Failed) => Self::Failed,
            Some(Outcome::NotRun | Outcome::Interrupted) | None => Self::NotTried,
        }
    }

    /// Returns the outcome in words, for reports.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Passed => "passed without an upgrade",
            Self::Failed => "failed without an upgrade as well",
            Self::NotTried => "not tried without an upgrade",
        }
    }
}

/// Kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DifferenceKind {
    /// The upgrade itself.
    Upgrade,
    /// Loss of an object on members or of a placement.
    Loss,
    /// Outcome of a scenario.
    Outcome,
    /// Findings of the diagnosis.
    Finding,
    /// State of a condition.
    Condition,
    /// Duration of a wait.
    Timing,
}

/// Difference of which isn't said yet in which scenario and run it was seen.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceDraft {
    pub(crate) verdict: DifferenceVerdict,
    pub(crate) kind: DifferenceKind,
    pub(crate) about: String,
    /// Outcome of the scenario without an upgrade, for a scenario in flight that fails.
    pub(crate) before: Option<OutcomeBefore>,
    pub(crate) was: Option<String>,
    pub(crate) is: Option<String>,
    /// Text that distinguishes the difference from others of the same kind and subject; a part of the id.
    pub(crate) key: String,
    /// Failure codes that may explain the difference.
    pub(crate) codes: BTreeSet<FailureCode>,
    /// Place of the condition that differs, where it is a condition.
    pub(crate) place: Option<MaskedConditionKey>,
}

impl DifferenceDraft {
    /// Creates a difference that is identified by its texts before and after.
    pub(crate) fn new(
        verdict: DifferenceVerdict,
        kind: DifferenceKind,
        about: impl Into<String>,
        was: Option<String>,
        is: Option<String>,
    ) -> Self {
        let key = [&was, &is].map(|text| text.as_deref().unwrap_or("nothing")).join(" -> ");
        let (about, codes) = (about.into(), BTreeSet::new());
        Self { verdict, kind, about, before: None, was, is, key, codes, place: None }
    }

    /// Sets the place of the condition that differs.
    pub(crate) fn of_condition(mut self, place: &MaskedConditionKey) -> Self {
        self.place = Some(place.clone());
        self
    }

    /// Sets the failure code that the difference is about.
    pub(crate) fn of_code(mut self, code: FailureCode) -> Self {
        self.codes = BTreeSet::from([code]);
        self
    }

    /// Identifies the difference by `key` instead of its texts before and after.
    pub(crate) fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets the outcome that a scenario in flight is compared with, and the text about this outcome.
    pub(crate) fn compared_with(mut self, before: OutcomeBefore) -> Self {
        self.before = Some(before);
        self.was = Some(before.text().to_owned());
        self
    }
}
