//! Sums over all drills.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::drill::{CauseResult, DrillResult, FaultResult, WrongFinding};

/// Facts of a run of drills that no drill has.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct AccuracyRun {
    /// Seed of the drills.
    pub seed: u64,
    /// Version of fleetdrill.
    pub fleetdrill: String,
    /// Version of KubeFleet.
    pub kubefleet: String,
    /// Number of members that scenarios share.
    pub members: usize,
    /// Maximum number of drills at the same time.
    pub jobs: usize,
    /// Number of scenarios with a fault that drills are made of; a scenario with several diagnoses counts once for each.
    pub fault_cases: usize,
    /// Number of healthy scenarios that drills are made of.
    pub healthy_cases: usize,
    /// Numbers of scenarios that no drill is made of, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// Seconds of all drills together with their cleanup.
    pub seconds: f64,
}

/// Number of the schema of the scores as JSON and YAML. It grows when a field goes away or changes its meaning; new fields leave it as
/// it is.
pub const SCHEMA: u32 = 1;

/// Scores of the diagnosis, as `fleetdrill accuracy` prints them.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct AccuracyReport {
    /// Number of the schema.
    pub schema: u32,
    /// Number of drills.
    pub drills: usize,
    /// Number of causes that had to be named.
    pub causes: usize,
    /// Number of causes that were named in a drill's last snapshot.
    pub found: usize,
    /// Number of causes that weren't.
    pub missed: usize,
    /// Number of findings that no fault accounts for.
    pub wrong: usize,
    /// Number of consequences that stood as a root in a drill's last snapshot.
    pub symptoms: usize,
    /// Number of different findings of the severity of a failure, right ones and wrong ones.
    pub findings: usize,
    /// Number of faults whose steps failed before the fault showed.
    pub not_induced: usize,
    /// Facts of the run.
    #[serde(flatten)]
    pub run: AccuracyRun,
    /// Scores of each code that was expected or wrong, ordered by code.
    pub codes: Vec<CodeScore>,
    /// What was said in place of what, the most frequent first.
    pub confusions: Vec<Confusion>,
    /// Wrong findings about objects of no scenario, such as the shared members.
    pub nobodys: Vec<WrongFinding>,
    /// Results of the drills, ordered by number.
    pub results: Vec<DrillResult>,
}

/// Scores of a failure code.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct CodeScore {
    /// Failure code.
    pub code: String,
    /// Number of drills in which the code had to be named.
    pub drills: usize,
    /// Number of causes that were found.
    pub found: usize,
    /// Number of causes that were missed.
    pub missed: usize,
    /// Number of wrong findings with this code, without symptoms.
    pub wrong: usize,
    /// Number of symptoms with this code that were taken for causes.
    pub symptoms: usize,
    /// Median of the seconds until the diagnosis was right; none if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
}

/// Relation of what was said to what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfusionKind {
    /// The cause was missed, and this was said about its objects in the last snapshot.
    Instead,
    /// The fault was there, and this was said as well in the last snapshot.
    Beside,
    /// This was said for a while, and no longer in the last snapshot.
    ForAWhile,
}

/// Something that was said in place of something else.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Confusion {
    /// Codes that were expected; empty for healthy objects.
    pub expected: Vec<String>,
    /// Code that was said; none for nothing.
    pub said: Option<String>,
    /// Relation of both.
    pub kind: ConfusionKind,
    /// Number of times.
    pub times: usize,
}

/// Least share of causes that have to be found, in percent.
const FOUND_PERCENT: usize = 95;

/// Greatest share of findings that may be wrong, in percent.
const WRONG_PERCENT: usize = 2;

impl AccuracyReport {
    /// Sums up drills. `nobodys` are wrong findings about objects of no scenario.
    #[must_use]
    pub fn new(run: AccuracyRun, mut results: Vec<DrillResult>, nobodys: Vec<WrongFinding>) -> Self {
        results.sort_by_key(|drill| drill.number);
        let causes = || results.iter().flat_map(|drill| &drill.faults).flat_map(|fault| &fault.causes);
        let found = causes().filter(|cause| cause.found).count();
        let faults = results.iter().flat_map(|drill| &drill.faults);
        Self {
            schema: SCHEMA,
            drills: results.len(),
            causes: causes().count(),
            found,
            missed: causes().count() - found,
            wrong: results.iter().map(|drill| drill.wrong.len()).sum::<usize>() + nobodys.len(),
            symptoms: results.iter().map(|drill| drill.symptoms.len()).sum(),
            findings: results.iter().map(|drill| drill.findings).sum::<usize>() + nobodys.len(),
            not_induced: faults.filter(|fault| fault.not_induced.is_some()).count(),
            run,
            codes: scores(&results, &nobodys),
            confusions: confusions(&results, &nobodys),
            nobodys,
            results,
        }
    }

    /// True if at least 95 % of the causes were found, and at most 2 % of the findings were wrong or symptoms. False if
    /// there was no cause: then nothing was shown.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.causes > 0
            && self.found * 100 >= self.causes * FOUND_PERCENT
            && (self.wrong + self.symptoms) * 100 <= self.findings * WRONG_PERCENT
    }
}

fn scores(results: &[DrillResult], nobodys: &[WrongFinding]) -> Vec<CodeScore> {
    let mut scores: BTreeMap<&str, CodeScore> = BTreeMap::new();
    let mut seconds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for drill in results {
        let causes: Vec<&CauseResult> = drill.faults.iter().flat_map(|fault| &fault.causes).collect();
        for (n, cause) in causes.iter().enumerate() {
            let score = scores.entry(&cause.code).or_default();
            score.drills += usize::from(!causes[..n].iter().any(|earlier| earlier.code == cause.code));
            *(if cause.found { &mut score.found } else { &mut score.missed }) += 1;
            seconds.entry(&cause.code).or_default().extend(cause.seconds);
        }
        for symptom in &drill.symptoms {
            scores.entry(&symptom.code).or_default().symptoms += 1;
        }
    }
    for wrong in results.iter().flat_map(|drill| &drill.wrong).chain(nobodys) {
        scores.entry(&wrong.code).or_default().wrong += 1;
    }
    let of_code = |(code, score): (&str, CodeScore)| CodeScore {
        code: code.to_owned(),
        median_seconds: seconds.remove(code).and_then(median),
        ..score
    };
    scores.into_iter().map(of_code).collect()
}

/// Returns the median; the lower one of the two in the middle of an even number.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

fn confusions(results: &[DrillResult], nobodys: &[WrongFinding]) -> Vec<Confusion> {
    let mut times: BTreeMap<(Vec<String>, Option<String>, ConfusionKind), usize> = BTreeMap::new();
    let mut count = |expected: &[String], said: Option<&String>, kind| {
        *times.entry((expected.to_vec(), said.cloned(), kind)).or_default() += 1;
    };
    for drill in results {
        for cause in drill.faults.iter().flat_map(|fault| &fault.causes).filter(|cause| !cause.found) {
            let expected = std::slice::from_ref(&cause.code);
            for said in &cause.instead {
                count(expected, Some(said), ConfusionKind::Instead);
            }
            if cause.instead.is_empty() {
                count(expected, None, ConfusionKind::Instead);
            }
        }
        for wrong in drill.wrong.iter().chain(&drill.symptoms).filter(|wrong| !is_instead(&drill.faults, wrong)) {
            count(&wrong.beside, Some(&wrong.code), kind(wrong));
        }
    }
    for wrong in nobodys {
        count(&wrong.beside, Some(&wrong.code), kind(wrong));
    }
    let of_counts = |((expected, said, kind), times)| Confusion { expected, said, kind, times };
    let mut confusions: Vec<Confusion> = times.into_iter().map(of_counts).collect();
    confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.times));
    confusions
}

fn kind(wrong: &WrongFinding) -> ConfusionKind {
    if wrong.at_end { ConfusionKind::Beside } else { ConfusionKind::ForAWhile }
}

/// True if a wrong finding was counted already as what was said in place of a missed cause.
fn is_instead(faults: &[FaultResult], wrong: &WrongFinding) -> bool {
    let beside = faults.iter().filter(|fault| fault.codes == wrong.beside);
    let mut missed = beside.flat_map(|fault| &fault.causes).filter(|cause| !cause.found);
    wrong.at_end && missed.any(|cause| cause.instead.contains(&wrong.code))
}
