//! Merges the records of several runs: the shards of one suite, or repetitions of the same scenarios.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, ToSpan as _};
use record::{ContinuousDiagnosis, Outcome, RunRecord, ScenarioRecord};
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::comparison::compare::{ScenarioKey, by_name};

/// Error about runs that can't be merged.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MergeError {
    /// There is no run.
    #[error("there is no run to merge")]
    NoRun,
    /// A run is there twice.
    #[error("run {0} is given twice")]
    SameRun(String),
    /// Two runs had different versions of a component.
    #[error("the runs {} and {} can't be merged: {component} {} and {}", ids[0], ids[1], versions[0], versions[1])]
    Versions {
        /// Ids of the runs.
        ids: [String; 2],
        /// The component.
        component: String,
        /// Its versions in these runs.
        versions: [String; 2],
    },
    /// Two runs had different providers.
    #[error("the runs {} and {} can't be merged: provider {} and {}", ids[0], ids[1], providers[0], providers[1])]
    Providers {
        /// Ids of the runs.
        ids: [String; 2],
        /// Their providers.
        providers: [String; 2],
    },
}

/// Several runs as one.
#[derive(Clone, Debug)]
pub struct MergedRuns {
    /// One record of all runs. Each scenario is there once: its worst outcome, or its last if several are alike.
    pub record: RunRecord,
    /// What the runs say of each scenario, in the order of the record's scenarios.
    pub(super) outcomes: Vec<ScenarioOutcomes>,
}

/// What the runs say of one scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct ScenarioOutcomes {
    /// Id of the run that the record of the scenario is of.
    pub(super) run: String,
    /// Durations in seconds, of the runs in which the scenario passed.
    pub(super) passed_seconds: Vec<f64>,
    /// Number of runs in which it failed.
    pub(super) failed: usize,
}

impl ScenarioOutcomes {
    /// Returns the median of the durations in which the scenario passed, in seconds.
    pub(super) fn median_seconds(&self) -> Option<f64> {
        let mut seconds = self.passed_seconds.clone();
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied()
    }
}

/// Scenario that passed in some of the runs and failed in others.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FlakyScenario {
    /// File of the feature.
    pub file: String,
    /// Line of the scenario.
    pub line: usize,
    /// Name of the scenario.
    pub scenario: String,
    /// Number of runs in which it passed.
    pub passed: usize,
    /// Number of runs in which it failed.
    pub failed: usize,
}

impl MergedRuns {
    /// Merges runs of the same versions.
    ///
    /// # Errors
    /// Returns an error if there is no run, a run is there twice, or the runs had different versions or providers.
    pub fn of(runs: &[RunRecord]) -> Result<Self, MergeError> {
        let versions = merged_versions(runs)?;
        let Some(first) = runs.first() else { return Err(MergeError::NoRun) };
        let mut scenarios = BTreeMap::<ScenarioKey<'_>, (&ScenarioRecord, ScenarioOutcomes)>::new();
        for run in runs {
            for (key, record) in by_name(&run.scenarios) {
                let (kept, outcomes) = scenarios.entry(key).or_insert((record, ScenarioOutcomes::default()));
                if outcomes.run.is_empty() || severity(record.outcome) >= severity(kept.outcome) {
                    *kept = record;
                    outcomes.run.clone_from(&run.id);
                }
                match record.outcome {
                    Outcome::Passed => outcomes.passed_seconds.push(record.seconds),
                    Outcome::Failed => outcomes.failed += 1,
                    Outcome::Interrupted | Outcome::NotRun => {}
                }
            }
        }
        let mut merged: Vec<(&ScenarioRecord, ScenarioOutcomes)> = scenarios.into_values().collect();
        merged.sort_by(|(a, _), (b, _)| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let (scenarios, outcomes) = merged.into_iter().map(|(record, outcomes)| (record.clone(), outcomes)).unzip();
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let record = RunRecord {
            id: ids.join(", "),
            versions,
            started_at: runs.iter().map(|run| run.started_at).min().unwrap_or(first.started_at),
            seconds: covered_seconds(runs),
            fleet_seconds: runs.iter().map(|run| run.fleet_seconds).fold(0.0, f64::max),
            scenarios,
            continuous_diagnosis: merged_diagnosis(runs),
            repeated_shards: runs.iter().flat_map(|run| run.repeated_shards.iter().cloned()).collect(),
            // Runs have a seed each.
            seed: first.seed.filter(|_| runs.len() == 1),
            ..first.clone()
        };
        Ok(Self { record, outcomes })
    }

    /// Returns the scenarios that passed in some of the runs and failed in others.
    #[must_use]
    pub fn flaky(&self) -> Vec<FlakyScenario> {
        let all = self.record.scenarios.iter().zip(&self.outcomes);
        let flaky = all.filter(|(_, outcomes)| outcomes.failed > 0 && !outcomes.passed_seconds.is_empty());
        let named = flaky.map(|(record, outcomes)| FlakyScenario {
            file: record.file.clone(),
            line: record.line,
            scenario: record.scenario.clone(),
            passed: outcomes.passed_seconds.len(),
            failed: outcomes.failed,
        });
        named.collect()
    }
}

/// Rank of an outcome; the highest of several runs counts.
fn severity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::NotRun => 0,
        Outcome::Passed => 1,
        Outcome::Interrupted => 2,
        Outcome::Failed => 3,
    }
}

/// Returns the versions of all runs. A shard without scenarios of Argo CD has no version of it.
fn merged_versions(runs: &[RunRecord]) -> Result<Vec<(String, String)>, MergeError> {
    let mut known: Vec<(&String, &String, &String)> = Vec::new();
    let mut ids = BTreeSet::new();
    for run in runs {
        if !ids.insert(&run.id) {
            return Err(MergeError::SameRun(run.id.clone()));
        }
        if run.provider != runs[0].provider {
            let ids = [runs[0].id.clone(), run.id.clone()];
            return Err(MergeError::Providers { ids, providers: [runs[0].provider.clone(), run.provider.clone()] });
        }
        for (component, version) in &run.versions {
            match known.iter().find(|(name, ..)| *name == component) {
                None => known.push((component, version, &run.id)),
                Some((_, other, _)) if *other == version => {}
                Some((_, other, id)) => {
                    return Err(MergeError::Versions {
                        ids: [(*id).clone(), run.id.clone()],
                        component: component.clone(),
                        versions: [(*other).clone(), version.clone()],
                    });
                }
            }
        }
    }
    Ok(known.into_iter().map(|(component, version, _)| (component.clone(), version.clone())).collect())
}

/// Returns the time in which at least one of the runs was under way, in seconds: shards run beside each other, repetitions don't.
fn covered_seconds(runs: &[RunRecord]) -> f64 {
    let mut spans: Vec<(Timestamp, Timestamp)> = runs.iter().map(|run| (run.started_at, end(run))).collect();
    spans.sort();
    let mut covered = 0.0;
    let mut until = Timestamp::MIN;
    for (from, to) in spans {
        covered += to.duration_since(from.max(until).min(to)).as_secs_f64();
        until = until.max(to);
    }
    covered
}

fn end(run: &RunRecord) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a run's duration in milliseconds fits")]
    let milliseconds = (run.seconds * 1000.0) as i64;
    run.started_at.checked_add(milliseconds.milliseconds()).unwrap_or(run.started_at)
}

fn merged_diagnosis(runs: &[RunRecord]) -> Option<ContinuousDiagnosis> {
    let mut diagnosed = runs.iter().filter_map(|run| run.continuous_diagnosis.as_ref());
    let mut merged = diagnosed.next()?.clone();
    for other in diagnosed {
        merged.snapshots += other.snapshots;
        merged.false_alarms.extend(other.false_alarms.iter().cloned());
    }
    Some(merged)
}
