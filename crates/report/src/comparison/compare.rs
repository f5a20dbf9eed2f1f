//! Compares a scenario in one run with the same scenario in another run, e.g. on another version.
//!
//! Two runs of one version pass through different states, because a controller's intermediate writes depend on which of
//! its watches fires first. Therefore a state counts only if it was current when an assertion of the scenario had
//! passed, or when the diagnosis ran. It differs only if the other run has never shown it, not even in passing. Between
//! two runs of all scenarios on v0.1.2 no difference is left (155 scenarios, 2678 states that count).

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use record::{FailureCode, Outcome, RecordedEvent, RunRecord, ScenarioRecord};

use super::difference::{DifferenceDraft, DifferenceKind, DifferenceVerdict};
use super::scenario_observations::{MaskedConditionKey, MaskedState, ScenarioObservations};

/// Ratio of two durations above which they count as different, if [`SECONDS`] is exceeded as well.
const FACTOR: f64 = 2.0;
/// Difference of two durations, in seconds, above which they count as different, if [`FACTOR`] is exceeded as well. Two
/// runs of one version differ by up to 38 s: machines are noisy, and controllers reconcile again after 15 s or 30 s.
const SECONDS: f64 = 45.0;

/// Key of a scenario: file, name, and number among the scenarios with this name.
pub(crate) type ScenarioKey<'a> = (&'a str, &'a str, usize);

/// Returns the scenarios, each with its key.
pub(crate) fn by_name(scenarios: &[ScenarioRecord]) -> Vec<(ScenarioKey<'_>, &ScenarioRecord)> {
    let mut seen = BTreeMap::<(&str, &str), usize>::new();
    let named = scenarios.iter().map(|record| {
        let name = (record.file.as_str(), record.scenario.as_str());
        let nth = seen.entry(name).or_default();
        *nth += 1;
        ((name.0, name.1, *nth), record)
    });
    named.collect()
}

/// Returns the differences between two runs by scenario, in the order of the second run.
pub(crate) fn runs<'a>(before: &RunRecord, after: &'a RunRecord) -> Vec<(&'a ScenarioRecord, DifferenceDraft)> {
    let known: BTreeMap<ScenarioKey<'_>, &ScenarioRecord> = by_name(&before.scenarios).into_iter().collect();
    let pairs = by_name(&after.scenarios).into_iter().filter_map(|(which, record)| Some((*known.get(&which)?, record)));
    let compared = pairs.flat_map(|(was, is)| {
        let found = stories(&ScenarioObservations::of(was, &before.id), &ScenarioObservations::of(is, &after.id));
        found.into_iter().map(move |found| (is, found))
    });
    compared.collect()
}

/// Returns the differences between two stories of one scenario.
pub(crate) fn stories(before: &ScenarioObservations<'_>, after: &ScenarioObservations<'_>) -> Vec<DifferenceDraft> {
    let mut found: Vec<DifferenceDraft> = outcome(before, after).into_iter().collect();
    if before.was_run() && after.was_run() {
        found.extend(findings(before, after));
        found.extend(conditions(before, after));
    }
    if before.passed() && after.passed() {
        found.extend(timing(before, after));
    }
    found
}

/// Returns the outcome of a scenario, in words.
pub(crate) fn told(story: &ScenarioObservations<'_>) -> String {
    let record = story.record;
    match record.outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::NotRun => format!("not run: {}", record.reason.as_deref().unwrap_or("it was not started")),
        Outcome::Interrupted => format!("interrupted: {}", story.failure().unwrap_or_default()),
        Outcome::Failed => format!("failed: {}", story.failure().unwrap_or_default()),
    }
}

fn outcome(before: &ScenarioObservations<'_>, after: &ScenarioObservations<'_>) -> Option<DifferenceDraft> {
    use Outcome::{Failed, Interrupted, NotRun, Passed};
    let failed_at = after.last_step().unwrap_or_default();
    let (verdict, key) = match (before.record.outcome, after.record.outcome) {
        (Passed, Passed) | (NotRun, NotRun) => return None,
        (Passed, Failed | Interrupted) => (DifferenceVerdict::Breaks, format!("fails at: {failed_at}")),
        (Passed | Failed | Interrupted, NotRun) => (DifferenceVerdict::Differs, "is not run any more".to_owned()),
        (Failed | Interrupted, Passed) => (DifferenceVerdict::Safe, "passes".to_owned()),
        (NotRun, Passed) => (DifferenceVerdict::Safe, "can be run".to_owned()),
        (NotRun, Failed | Interrupted) => (DifferenceVerdict::Differs, format!("can be run and fails at: {failed_at}")),
        (Failed | Interrupted, Failed | Interrupted) if before.last_step() == after.last_step() => return None,
        (Failed | Interrupted, Failed | Interrupted) => (DifferenceVerdict::Differs, format!("fails at: {failed_at}")),
    };
    Some(
        DifferenceDraft::new(verdict, DifferenceKind::Outcome, "the scenario", Some(told(before)), Some(told(after)))
            .keyed(key),
    )
}

/// Identity of findings in a comparison: the code, and the kind of the object that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FindingKey {
    code: FailureCode,
    subject_kind: String,
}

impl FindingKey {
    /// Identity of a finding.
    pub(crate) fn of(finding: &Finding) -> Self {
        Self { code: finding.code.clone(), subject_kind: finding.subject.kind.clone() }
    }

    /// A difference in whether the finding is made; the texts are its title.
    pub(crate) fn found(&self, was: Option<&str>, is: Option<&str>) -> DifferenceDraft {
        let about = format!("{} of a {}", self.code, self.subject_kind);
        let [was, is] = [was, is].map(|title| title.map(|title| format!("{} {title}", self.code)));
        DifferenceDraft::new(DifferenceVerdict::Differs, DifferenceKind::Finding, about, was, is)
            .of_code(self.code.clone())
    }
}

/// Titles of findings.
pub(crate) fn titles<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> BTreeMap<FindingKey, String> {
    findings.into_iter().map(|finding| (FindingKey::of(finding), finding.title.clone())).collect()
}

fn findings(before: &ScenarioObservations<'_>, after: &ScenarioObservations<'_>) -> Vec<DifferenceDraft> {
    let (was, is) = (titles(before.findings()), titles(after.findings()));
    let (was_settled, is_settled) = (titles(before.settled_findings()), titles(after.settled_findings()));
    // A scenario that failed early has not seen the later findings.
    let gone = was_settled.iter().filter(|(key, _)| after.passed() && !is.contains_key(*key));
    let new = is_settled.iter().filter(|(key, _)| before.passed() && !was.contains_key(*key));
    let gone = gone.map(|(key, title)| key.found(Some(title), None));
    let new = new.map(|(key, title)| key.found(None, Some(title)));
    gone.chain(new).collect()
}

fn conditions(before: &ScenarioObservations<'_>, after: &ScenarioObservations<'_>) -> Vec<DifferenceDraft> {
    let (was, is) = (before.ever(), after.ever());
    let (was_settled, is_settled) = (before.settled(), after.settled());
    let gone = pairs(was_settled.difference(&is).copied());
    let mut new = pairs(is_settled.difference(&was).copied());
    let mut found = Vec::new();
    for (place, gone) in gone {
        let mut new = new.remove(place).unwrap_or_default();
        for said in gone {
            let nearest = new.iter().copied().max_by(|a, b| likeness(said, a).total_cmp(&likeness(said, b)));
            new.retain(|other| Some(*other) != nearest);
            // A scenario that failed may have ended before it reached this state.
            if nearest.is_some() || after.passed() {
                found.push(condition(place, Some(said), nearest));
            }
        }
        found.extend(new.into_iter().filter(|_| before.passed()).map(|said| condition(place, None, Some(said))));
    }
    if before.passed() {
        let rest = new.into_iter().flat_map(|(place, new)| new.into_iter().map(move |said| (place, said)));
        found.extend(rest.map(|(place, said)| condition(place, None, Some(said))));
    }
    found
}

fn pairs<'a>(
    all: impl Iterator<Item = (&'a MaskedConditionKey, &'a MaskedState)>,
) -> BTreeMap<&'a MaskedConditionKey, BTreeSet<&'a MaskedState>> {
    let mut places = BTreeMap::<_, BTreeSet<_>>::new();
    all.for_each(|(place, said)| _ = places.entry(place).or_default().insert(said));
    places
}

/// Returns the similarity of two states of a condition; status and reason weigh most.
fn likeness(one: &MaskedState, other: &MaskedState) -> f64 {
    2.0 * f64::from(one.status == other.status)
        + f64::from(one.reason == other.reason)
        + strsim::normalized_damerau_levenshtein(&one.message, &other.message)
}

pub(crate) fn condition(
    place: &MaskedConditionKey,
    was: Option<&MaskedState>,
    is: Option<&MaskedState>,
) -> DifferenceDraft {
    let about = format!("{}: {}", place.object, place.condition);
    let (was, is) = (was.map(ToString::to_string), is.map(ToString::to_string));
    DifferenceDraft::new(DifferenceVerdict::Differs, DifferenceKind::Condition, about, was, is).of_condition(place)
}

/// Returns the expectations of all waits, without names, each with its longest wait in seconds.
fn waits(story: &ScenarioObservations<'_>) -> BTreeMap<String, f64> {
    let mut waits = BTreeMap::new();
    for entry in &story.record.entries {
        let RecordedEvent::Held { expectation, seconds } = &entry.what else { continue };
        let longest = waits.entry(story.mask(expectation)).or_insert(0.0_f64);
        *longest = longest.max(*seconds);
    }
    waits
}

/// True if two durations, in seconds, differ by more than two runs of one version do.
pub(crate) fn is_other_duration(was: f64, is: f64) -> bool {
    let (less, more) = (was.min(is), was.max(is));
    more - less > SECONDS && more > less * FACTOR
}

fn timing(before: &ScenarioObservations<'_>, after: &ScenarioObservations<'_>) -> Vec<DifferenceDraft> {
    let was = waits(before);
    let otherwise = waits(after).into_iter().filter_map(|(about, is)| {
        let was = *was.get(&about)?;
        let (verdict, key) =
            if is > was { (DifferenceVerdict::Differs, "slower") } else { (DifferenceVerdict::Safe, "faster") };
        let [from, to] = [was, is].map(|seconds| Some(format!("{seconds:.0} s")));
        is_other_duration(was, is)
            .then(|| DifferenceDraft::new(verdict, DifferenceKind::Timing, about, from, to).keyed(key))
    });
    otherwise.collect()
}
