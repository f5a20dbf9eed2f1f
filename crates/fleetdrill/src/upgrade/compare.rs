//! What differs between a scenario on one version and the same scenario on another.
//!
//! Two runs of one version pass through different states: what a controller writes on its way depends on which of its
//! watches comes first. So a state counts only if it stood when something that the scenario asserts had come, or when the
//! diagnosis was asked, and it differs only if the other run has never shown it, not even in passing. Between two runs of
//! all scenarios on v0.1.2 this leaves nothing (155 scenarios, 2678 states that count).

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use steps::record::{Outcome, RunRecord, ScenarioRecord, What};

use super::difference::{Found, Kind, Verdict};
use super::story::{Place, Said, Story};

/// Something took longer if it took more than this many times as long,
const FACTOR: f64 = 2.0;
/// and longer by more than this, in seconds. Two runs of one version differ by up to 38 s: machines are noisy, and controllers look
/// again every 15 s or every 30 s.
const SECONDS: f64 = 45.0;

/// What scenarios are told apart by: file, name, and which of that name it is.
pub(super) type Which<'a> = (&'a str, &'a str, usize);

/// Scenarios, each with what tells it apart.
pub(super) fn by_name(scenarios: &[ScenarioRecord]) -> Vec<(Which<'_>, &ScenarioRecord)> {
    let mut seen = BTreeMap::<(&str, &str), usize>::new();
    let named = scenarios.iter().map(|record| {
        let name = (record.file.as_str(), record.scenario.as_str());
        let nth = seen.entry(name).or_default();
        *nth += 1;
        ((name.0, name.1, *nth), record)
    });
    named.collect()
}

/// What differs between two runs, scenario by scenario, in the second one's order.
pub(super) fn runs<'a>(before: &RunRecord, after: &'a RunRecord) -> Vec<(&'a ScenarioRecord, Found)> {
    let known: BTreeMap<Which<'_>, &ScenarioRecord> = by_name(&before.scenarios).into_iter().collect();
    let pairs = by_name(&after.scenarios).into_iter().filter_map(|(which, record)| Some((*known.get(&which)?, record)));
    let compared = pairs.flat_map(|(was, is)| {
        let found = stories(&Story::of(was, &before.id), &Story::of(is, &after.id));
        found.into_iter().map(move |found| (is, found))
    });
    compared.collect()
}

/// What differs between two stories of one scenario.
pub(super) fn stories(before: &Story<'_>, after: &Story<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = outcome(before, after).into_iter().collect();
    if before.was_run() && after.was_run() {
        found.extend(findings(before, after));
        found.extend(conditions(before, after));
    }
    if before.passed() && after.passed() {
        found.extend(timing(before, after));
    }
    found
}

/// How a scenario ended, in words.
pub(super) fn told(story: &Story<'_>) -> String {
    let record = story.record;
    match record.outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::NotRun => format!("not run: {}", record.reason.as_deref().unwrap_or("it was not started")),
        Outcome::Interrupted => format!("interrupted: {}", story.failure().unwrap_or_default()),
        Outcome::Failed => format!("failed: {}", story.failure().unwrap_or_default()),
    }
}

fn outcome(before: &Story<'_>, after: &Story<'_>) -> Option<Found> {
    use Outcome::{Failed, Interrupted, NotRun, Passed};
    let failed_at = after.last_step().unwrap_or_default();
    let (verdict, key) = match (before.record.outcome, after.record.outcome) {
        (Passed, Passed) | (NotRun, NotRun) => return None,
        (Passed, Failed | Interrupted) => (Verdict::Breaks, format!("fails at: {failed_at}")),
        (Passed | Failed | Interrupted, NotRun) => (Verdict::Differs, "is not run any more".to_owned()),
        (Failed | Interrupted, Passed) => (Verdict::Safe, "passes".to_owned()),
        (NotRun, Passed) => (Verdict::Safe, "can be run".to_owned()),
        (NotRun, Failed | Interrupted) => (Verdict::Differs, format!("can be run and fails at: {failed_at}")),
        (Failed | Interrupted, Failed | Interrupted) if before.last_step() == after.last_step() => return None,
        (Failed | Interrupted, Failed | Interrupted) => (Verdict::Differs, format!("fails at: {failed_at}")),
    };
    Some(Found::new(verdict, Kind::Outcome, "the scenario", Some(told(before)), Some(told(after))).keyed(key))
}

/// What tells findings apart: the code, and the kind of object that it is about.
fn finding(finding: &Finding) -> (String, String) {
    let Finding { code, title, subject, .. } = finding;
    (format!("{code} of a {}", subject.kind), format!("{code} {title}"))
}

/// Findings by what tells them apart, with what they are called.
pub(super) fn codes<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> BTreeMap<String, String> {
    findings.into_iter().map(finding).collect()
}

fn findings(before: &Story<'_>, after: &Story<'_>) -> Vec<Found> {
    let (was, is) = (codes(before.findings()), codes(after.findings()));
    let (was_settled, is_settled) = (codes(before.settled_findings()), codes(after.settled_findings()));
    // One that failed earlier than the other has not seen the rest.
    let gone = was_settled.iter().filter(|(about, _)| after.passed() && !is.contains_key(*about));
    let new = is_settled.iter().filter(|(about, _)| before.passed() && !was.contains_key(*about));
    let gone = gone.map(|(about, told)| Found::new(Verdict::Differs, Kind::Finding, about, Some(told.clone()), None));
    let new = new.map(|(about, told)| Found::new(Verdict::Differs, Kind::Finding, about, None, Some(told.clone())));
    gone.chain(new).collect()
}

fn conditions(before: &Story<'_>, after: &Story<'_>) -> Vec<Found> {
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
            // What a scenario that failed doesn't show, it may not have come to.
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

fn pairs<'a>(all: impl Iterator<Item = (&'a Place, &'a Said)>) -> BTreeMap<&'a Place, BTreeSet<&'a Said>> {
    let mut places = BTreeMap::<_, BTreeSet<_>>::new();
    all.for_each(|(place, said)| _ = places.entry(place).or_default().insert(said));
    places
}

/// How much two texts of a condition have in common; the status and the reason count most.
fn likeness(one: &Said, other: &Said) -> f64 {
    let same = |yes: bool| if yes { 1.0 } else { 0.0 };
    2.0 * same(one.status == other.status)
        + same(one.reason == other.reason)
        + strsim::normalized_damerau_levenshtein(&one.message, &other.message)
}

pub(super) fn condition(place: &Place, was: Option<&Said>, is: Option<&Said>) -> Found {
    let about = format!("{}: {}", place.object, place.condition);
    Found::new(Verdict::Differs, Kind::Condition, about, was.map(ToString::to_string), is.map(ToString::to_string))
}

/// What was waited for, without names, with the longest time that it took.
fn waits(story: &Story<'_>) -> BTreeMap<String, f64> {
    let mut waits = BTreeMap::new();
    for entry in &story.record.entries {
        let What::Held { expectation, seconds } = &entry.what else { continue };
        let longest = waits.entry(story.mask(expectation)).or_insert(0.0_f64);
        *longest = longest.max(*seconds);
    }
    waits
}

fn timing(before: &Story<'_>, after: &Story<'_>) -> Vec<Found> {
    let was = waits(before);
    let otherwise = waits(after).into_iter().filter_map(|(about, is)| {
        let was = *was.get(&about)?;
        let (less, more) = (was.min(is), was.max(is));
        let (verdict, key) = if is > was { (Verdict::Differs, "slower") } else { (Verdict::Safe, "faster") };
        let told = |seconds: f64| Some(format!("{seconds:.0} s"));
        (more - less > SECONDS && more > less * FACTOR)
            .then(|| Found::new(verdict, Kind::Timing, about, told(was), told(is)).keyed(key))
    });
    otherwise.collect()
}
