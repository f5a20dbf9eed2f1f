//! A difference between before and after an upgrade: where, when and in which orders of upgrade it was seen.

use std::collections::{BTreeSet, HashMap};

use record::{FailureCode, UpgradeOrder};
use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;

use crate::comparison::difference::{DifferenceDraft, DifferenceKind, DifferenceVerdict, OutcomeBefore};

/// Time at which a difference was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Display)]
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

/// Difference that was seen in one scenario, or in the upgrade as a whole.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Difference {
    /// Id that stays the same from run to run, whatever the names, times, ids and versions.
    pub id: String,
    /// Severity of the difference.
    pub verdict: DifferenceVerdict,
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

impl Difference {
    /// Returns the difference as seen in this scenario and order of upgrade; without a scenario it is about the upgrade
    /// itself.
    pub(super) fn seen(
        draft: DifferenceDraft,
        scenario: Option<(&str, &str)>,
        when: DifferencePeriod,
        order: UpgradeOrder,
    ) -> Self {
        let DifferenceDraft { verdict, kind, about, before, was, is, key, codes, place } = draft;
        let (object, condition) = place.map(|place| (place.object, place.condition)).unzip();
        let (file, name) = scenario.unzip();
        let source = scenario.map_or("the upgrade".to_owned(), |(file, name)| format!("{file}: {name}"));
        Self {
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
