//! Failures that the continuous diagnosis named during or after an upgrade, though no fault of a scenario accounts for them.

use std::collections::BTreeSet;

use record::{ContinuousDiagnosis, FalseAlarm, ScenarioName};

use crate::comparison::compare::FindingKey;
use crate::comparison::difference::DifferenceDraft;

/// Returns a difference for each false alarm that the old version didn't have, with the scenario that it is about.
pub(super) fn differences<'a>(
    before: Option<&ContinuousDiagnosis>,
    now: Option<&'a ContinuousDiagnosis>,
) -> Vec<(Option<&'a ScenarioName>, DifferenceDraft)> {
    let known: BTreeSet<_> = before.iter().flat_map(|before| &before.false_alarms).map(identity).collect();
    let alarms = now.into_iter().flat_map(|now| &now.false_alarms).filter(|alarm| !known.contains(&identity(alarm)));
    alarms.map(|alarm| (alarm.scenario.as_ref(), difference(alarm))).collect()
}

/// Identity of a false alarm in a comparison: the finding, and the scenario that it is about.
fn identity(alarm: &FalseAlarm) -> (FindingKey, Option<(&str, &str)>) {
    let scenario = alarm.scenario.as_ref().map(|name| (name.file.as_str(), name.scenario.as_str()));
    (FindingKey::of(&alarm.finding), scenario)
}

fn difference(alarm: &FalseAlarm) -> DifferenceDraft {
    let mut draft = FindingKey::of(&alarm.finding).found(None, Some(&alarm.finding.title));
    draft.about.push_str(", which no fault accounts for");
    let seconds = alarm.last_seen.duration_since(alarm.first_seen).as_secs();
    let bundle = alarm.bundle.as_ref().map(|bundle| format!("; fleetdrill diagnose --from {}", bundle.display()));
    let bundle = bundle.unwrap_or_default();
    draft.is = draft.is.map(|is| format!("{is} ({}), for {seconds} s{bundle}", alarm.finding.subject));
    draft.keyed("no fault accounts for it")
}
