//! A difference between before and after an upgrade, and its severity.

use std::collections::{BTreeSet, HashMap};

use record::UpgradeOrder;
use record::{FailureCode, Outcome};
use serde::Serialize;
use strum::Display;

use super::scenario_observations::MaskedConditionKey;

/// Severity of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum UpgradeVerdict {
    /// No harm: something that failed passes now, or something is possible now that wasn't possible before.
    Safe,
    /// A text or a duration differs: runbooks, alerts and scripts may have to change.
    Differs,
    /// Something that worked doesn't work any more, or something was lost.
    Breaks,
}

/// Time at which a difference was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
pub enum DifferencePeriod {
    /// In scenarios that started on the upgraded fleet.
    #[strum(serialize = "after")]
    After,
    /// In scenarios that were between their fault and their remedy during the upgrade.
    #[strum(serialize = "in flight")]
    Forth,
    /// In scenarios that were between their fault and their remedy during the downgrade.
    #[strum(serialize = "on the way back")]
    Back,
}

/// Outcome of a scenario on the old version, without an upgrade. The outcome of the scenario in flight is compared with
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
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

/// Difference that was seen in one scenario, or in the upgrade as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Id that stays the same from run to run, whatever the names, times, ids and versions.
    pub id: String,
    /// Severity of the difference.
    pub verdict: UpgradeVerdict,
    /// True if the baseline has the difference in all of these orders.
    pub accepted: bool,
    /// Orders of upgrade in which the difference was seen.
    pub orders: BTreeSet<UpgradeOrder>,
    /// Time at which the difference was seen.
    pub when: DifferencePeriod,
    /// Kind of the difference.
    pub kind: DifferenceKind,
    /// File of the scenario; `None` if the difference is about the upgrade as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the scenario; `None` if the difference is about the upgrade as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Subject: an object and a condition's type, a failure code, or the expectation of a wait. Names are masked, e.g.
    /// `{run}`.
    pub about: String,
    /// Outcome of the scenario without an upgrade, for a scenario in flight that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<OutcomeBefore>,
    /// State seen before; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// State seen instead; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The failure code of a finding; of a scenario that fails, the codes of what is found only in flight and may be why.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<FailureCode>,
    /// Object with the condition that differs, with its part, e.g. `ClusterStagedUpdateRun/{run} in stage {stage}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The type of the condition that differs, without the kind of its object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// Difference that has no scenario and no order yet.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceDraft {
    pub(crate) verdict: UpgradeVerdict,
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
        verdict: UpgradeVerdict,
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
    pub(super) fn of_condition(mut self, place: &MaskedConditionKey) -> Self {
        self.place = Some(place.clone());
        self
    }

    /// Sets the failure code that the difference is about.
    pub(super) fn of_code(mut self, code: FailureCode) -> Self {
        self.codes = BTreeSet::from([code]);
        self
    }

    /// Identifies the difference by `key` instead of its texts before and after.
    pub(super) fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets the outcome that a scenario in flight is compared with, and the text about this outcome.
    pub(super) fn compared_with(mut self, before: OutcomeBefore) -> Self {
        self.before = Some(before);
        self.was = Some(before.text().to_owned());
        self
    }

    /// Returns the difference as seen in this scenario and order of upgrade; without a scenario it is about the upgrade
    /// itself.
    pub(super) fn seen(
        self,
        scenario: Option<(&str, &str)>,
        when: DifferencePeriod,
        order: UpgradeOrder,
    ) -> Difference {
        let Self { verdict, kind, about, before, was, is, key, codes, place } = self;
        let (object, condition) = place.map(|place| (place.object, place.condition)).unzip();
        let (file, name) = scenario.unzip();
        let source = scenario.map_or("the upgrade".to_owned(), |(file, name)| format!("{file}: {name}"));
        Difference {
            id: format!("{source} | {when} | {kind} | {about} | {key}"),
            verdict,
            accepted: false,
            orders: BTreeSet::from([order]),
            when,
            kind,
            file: file.map(str::to_owned),
            scenario: name.map(str::to_owned),
            about,
            before,
            was,
            is,
            codes,
            object,
            condition,
        }
    }
}

/// Merges differences with the same id, which several orders show.
pub(super) fn merged(all: impl IntoIterator<Item = Difference>) -> Vec<Difference> {
    let mut merged: Vec<Difference> = Vec::new();
    let mut at = HashMap::new();
    for difference in all {
        let index = *at.entry(difference.id.clone()).or_insert(merged.len());
        match merged.get_mut(index) {
            Some(known) => {
                known.verdict = known.verdict.max(difference.verdict);
                known.orders.extend(difference.orders);
                known.codes.extend(difference.codes);
            }
            None => merged.push(difference),
        }
    }
    merged
}
