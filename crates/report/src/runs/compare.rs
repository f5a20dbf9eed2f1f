//! Compares runs with earlier runs: outcomes, findings, conditions, durations.

use std::collections::{BTreeMap, BTreeSet};

use record::{FailureCode, RunRecord, ScenarioName, ScenarioRecord};
use schemars::JsonSchema;
use serde::Serialize;

use super::merge::{MergedRuns, ScenarioOutcomes};
use crate::comparison::compare::{self, ScenarioKey, by_name, is_other_duration};
use crate::comparison::difference::{DifferenceDraft, DifferenceKind, DifferenceVerdict};
use crate::comparison::scenario_observations::ScenarioObservations;
use crate::run::OutcomeCounts;

/// What has changed between runs and earlier runs.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct RunComparison {
    /// The earlier runs.
    pub before: ComparedRuns,
    /// The runs.
    pub after: ComparedRuns,
    /// Number of scenarios that both have.
    pub in_both: usize,
    /// Scenarios that only the earlier runs have.
    pub gone: Vec<ScenarioName>,
    /// Scenarios that only the runs have.
    pub new: Vec<ScenarioName>,
    /// Failures that the continuous diagnosis named without a fault, and not in the earlier runs.
    pub new_false_alarms: Vec<FailureCode>,
    /// Differences, the most severe first.
    pub differences: Vec<RunDifference>,
}

/// Runs that are compared.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ComparedRuns {
    /// Ids of the runs, separated by commas.
    pub id: String,
    /// Start of the first run.
    pub started_at: jiff::Timestamp,
    /// Versions, from component to version.
    pub versions: BTreeMap<String, String>,
    /// Number of scenarios per outcome.
    pub counts: OutcomeCounts,
}

/// Difference that scenarios show.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct RunDifference {
    /// Severity.
    pub verdict: DifferenceVerdict,
    /// Kind.
    pub kind: DifferenceKind,
    /// Subject: an object and a condition's type, a failure code, or the expectation of a wait. Names are masked, e.g. `{run}`.
    pub about: String,
    /// State in the earlier runs; `None` if there was none.
    pub was: Option<String>,
    /// State in the runs; `None` if there is none.
    pub is: Option<String>,
    /// Failure codes that the difference is about.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<FailureCode>,
    /// Scenarios that show it.
    pub scenarios: Vec<ScenarioName>,
}

impl RunComparison {
    /// Compares runs with earlier runs.
    #[must_use]
    pub fn of(before: &MergedRuns, after: &MergedRuns) -> Self {
        let known = outcomes_by_name(before);
        let mut differences = Vec::new();
        let mut in_both = 0;
        for ((key, record), outcomes) in by_name(&after.record.scenarios).into_iter().zip(&after.outcomes) {
            let Some((was, was_outcomes)) = known.get(&key) else { continue };
            in_both += 1;
            let (was, is) =
                (ScenarioObservations::of(was, &was_outcomes.run), ScenarioObservations::of(record, &outcomes.run));
            let found = compare::stories(&was, &is).into_iter().chain(duration(was_outcomes, outcomes));
            found.for_each(|found| add(&mut differences, found, record));
        }
        differences.sort_by_key(|difference| {
            (std::cmp::Reverse(difference.verdict), difference.kind, std::cmp::Reverse(difference.scenarios.len()))
        });
        Self {
            in_both,
            gone: only_in(&before.record, &outcomes_by_name(after)),
            new: only_in(&after.record, &known),
            new_false_alarms: new_false_alarms(&before.record, &after.record),
            differences,
            before: ComparedRuns::of(&before.record),
            after: ComparedRuns::of(&after.record),
        }
    }

    /// True if something doesn't work any more: a scenario fails that passed, or the diagnosis raises a new false alarm.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        !self.new_false_alarms.is_empty() || self.with_verdict(DifferenceVerdict::Breaks).next().is_some()
    }

    /// Returns the differences of one severity.
    pub fn with_verdict(&self, verdict: DifferenceVerdict) -> impl Iterator<Item = &RunDifference> {
        self.differences.iter().filter(move |difference| difference.verdict == verdict)
    }
}

impl RunDifference {
    /// Subject of the difference on one line. A difference of outcomes is of one scenario.
    pub(super) fn title(&self) -> String {
        let Self { kind, verdict, about, scenarios, .. } = self;
        match (kind, scenarios.first()) {
            (DifferenceKind::Outcome, Some(ScenarioName { file, line, scenario })) => {
                format!("{scenario} ({file}:{line})")
            }
            (DifferenceKind::Timing, _) if *verdict == DifferenceVerdict::Safe => format!("takes less time: {about}"),
            (DifferenceKind::Timing, _) => format!("takes longer: {about}"),
            _ => about.clone(),
        }
    }
}

impl ComparedRuns {
    fn of(run: &RunRecord) -> Self {
        Self {
            id: run.id.clone(),
            started_at: run.started_at,
            versions: run.versions.iter().cloned().collect(),
            counts: OutcomeCounts::of(run),
        }
    }

    /// Returns the versions on one line, for reports.
    pub(super) fn versions_text(&self) -> String {
        let versions: Vec<_> = self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        versions.join(", ")
    }
}

fn name_of(record: &ScenarioRecord) -> ScenarioName {
    ScenarioName { file: record.file.clone(), line: record.line, scenario: record.scenario.clone() }
}

type OutcomesByName<'a> = BTreeMap<ScenarioKey<'a>, (&'a ScenarioRecord, &'a ScenarioOutcomes)>;

fn outcomes_by_name(runs: &MergedRuns) -> OutcomesByName<'_> {
    let named = by_name(&runs.record.scenarios).into_iter().zip(&runs.outcomes);
    named.map(|((key, record), outcomes)| (key, (record, outcomes))).collect()
}

fn only_in(run: &RunRecord, others: &OutcomesByName<'_>) -> Vec<ScenarioName> {
    let only = by_name(&run.scenarios).into_iter().filter(|(key, _)| !others.contains_key(key));
    only.map(|(_, record)| name_of(record)).collect()
}

/// Returns the difference of a scenario's duration; its start on the fleet and all of its steps count.
fn duration(was: &ScenarioOutcomes, is: &ScenarioOutcomes) -> Option<DifferenceDraft> {
    let (was, is) = was.median_seconds().zip(is.median_seconds())?;
    let verdict = if is > was { DifferenceVerdict::Differs } else { DifferenceVerdict::Safe };
    let [from, to] = [was, is].map(|seconds| Some(format!("{seconds:.0} s")));
    let draft = DifferenceDraft::new(verdict, DifferenceKind::Timing, "the whole scenario", from, to);
    is_other_duration(was, is).then_some(draft)
}

/// Adds a difference, to one with the same texts if there is one.
fn add(all: &mut Vec<RunDifference>, found: DifferenceDraft, record: &ScenarioRecord) {
    let scenario = name_of(record);
    let DifferenceDraft { verdict, kind, about, was, is, codes, .. } = found;
    let same = all.iter_mut().find(|known| {
        known.verdict == verdict && known.kind == kind && known.about == about && known.was == was && known.is == is
    });
    match same {
        // Outcomes are told one by one.
        Some(known) if kind != DifferenceKind::Outcome => known.scenarios.push(scenario),
        _ => all.push(RunDifference { verdict, kind, about, was, is, codes, scenarios: vec![scenario] }),
    }
}

fn new_false_alarms(before: &RunRecord, after: &RunRecord) -> Vec<FailureCode> {
    let known: BTreeSet<&FailureCode> = before.false_alarms().iter().map(|alarm| &alarm.finding.code).collect();
    let new: BTreeSet<&FailureCode> = after.false_alarms().iter().map(|alarm| &alarm.finding.code).collect();
    new.difference(&known).map(|code| (*code).clone()).collect()
}
