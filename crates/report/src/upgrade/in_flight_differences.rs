//! Differences that an upgrade makes in a scenario in flight.
//!
//! A scenario continues by itself while its fleet is upgraded. A state of its objects after the upgrade counts as a
//! difference only if the same scenario has never shown this state on the old version or on the new version without an
//! upgrade.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use jiff::{SignedDuration, Timestamp};
use record::VersionChangeRecord;
use record::{RecordEntry, RecordedEvent, UpgradePhase};

use crate::comparison::compare::{FindingKey, condition, titles, told};
use crate::comparison::difference::{DifferenceDraft, DifferenceKind, DifferenceVerdict, OutcomeBefore};
use crate::comparison::scenario_observations::{MaskedConditionKey, MaskedState, ScenarioObservations, StateSpan};

/// Times during an upgrade at which a scenario's states are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparisonTimes {
    /// Last diagnosis before the upgrade, when the scenario was ready for it.
    pub(super) before: Timestamp,
    /// Time just before hub and members have the same version again; `None` if their versions never differ.
    pub(super) skew: Option<Timestamp>,
    /// Time when the new version runs everywhere and the scenario continues with its remedy.
    pub(super) after: Timestamp,
}

impl ComparisonTimes {
    /// Finds the times of a scenario; `None` if the scenario didn't see the end of the upgrade.
    pub(super) fn of(story: &ScenarioObservations<'_>, passage: &VersionChangeRecord) -> Option<Self> {
        let end = story.upgraded(UpgradePhase::After)?;
        let entries = &story.record.entries;
        let begun = story.upgraded(UpgradePhase::Skew).unwrap_or(end);
        let before = entries.iter().take_while(|e| e.at < begun).filter(|e| e.diagnosed().is_some()).last()?.at;
        let after = entries.iter().find(|e| e.at >= end && e.diagnosed().is_some()).map_or(end, |e| e.at);
        // The exchange of the agents began some time before the phase was reached.
        let exchanged = passage.phases.iter().find(|phase| phase.phase == UpgradePhase::After)?;
        let took = SignedDuration::try_from_secs_f64(exchanged.seconds).unwrap_or_default();
        let skew = story.upgraded(UpgradePhase::Skew).and(exchanged.at.checked_sub(took).ok());
        Some(Self { before, skew, after })
    }
}

/// Stories of the same scenario without an upgrade, on each version on which it was started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObservationsWithoutUpgrade<'s, 'a> {
    /// Story on the old version.
    pub(super) before: Option<&'s ScenarioObservations<'a>>,
    /// Story on the upgraded fleet.
    pub(super) after: Option<&'s ScenarioObservations<'a>>,
}

impl<'s, 'a> ObservationsWithoutUpgrade<'s, 'a> {
    /// Returns the stories that exist.
    fn all(self) -> impl Iterator<Item = &'s ScenarioObservations<'a>> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// Returns the differences that a scenario in flight shows and that it doesn't show on either version without an
/// upgrade.
pub(super) fn differences(
    story: &ScenarioObservations<'_>,
    passage: &VersionChangeRecord,
    known: ObservationsWithoutUpgrade<'_, '_>,
) -> Vec<DifferenceDraft> {
    if !story.was_run() {
        return Vec::new();
    }
    let before = OutcomeBefore::of(known.before.map(|before| before.record.outcome));
    let mut outcome = outcome(story, passage, before);
    let mut found = losses(story);
    if let Some(moments) = ComparisonTimes::of(story, passage) {
        let findings = findings(story, &moments, known);
        let new: Vec<&DifferenceDraft> = findings.iter().filter(|finding| finding.is.is_some()).collect();
        // A finding that appears for the first time may explain why the scenario fails.
        if let Some(outcome) = outcome.as_mut().filter(|_| !new.is_empty()) {
            outcome.codes = new.iter().flat_map(|finding| finding.codes.iter().cloned()).collect();
            let told: Vec<&str> = new.iter().filter_map(|finding| finding.is.as_deref()).collect();
            outcome.is = outcome.is.take().map(|failed| format!("{} ({failed})", told.join(", ")));
        }
        found.extend(findings);
        found.extend(conditions(story, &moments, known));
    }
    outcome.into_iter().chain(found).collect()
}

/// Returns the failure of a scenario in flight. It breaks, unless the scenario is known to fail without an upgrade: an
/// operator has to look at scenarios that fail only in flight, or that weren't tried without an upgrade.
fn outcome(
    story: &ScenarioObservations<'_>,
    passage: &VersionChangeRecord,
    before: OutcomeBefore,
) -> Option<DifferenceDraft> {
    story.failure()?;
    let step = story.last_step().unwrap_or_default();
    let breaks = match before {
        OutcomeBefore::Passed | OutcomeBefore::NotTried => DifferenceVerdict::Breaks,
        OutcomeBefore::Failed => DifferenceVerdict::Differs,
    };
    let (verdict, about) = match (story.upgraded(UpgradePhase::After), story.upgraded(UpgradePhase::Skew)) {
        // The error of the upgrade is reported only once.
        (None, _) if passage.error.is_some() => return None,
        (Some(_), _) => (breaks, "the remedy on the new version"),
        (None, Some(_)) => (breaks, "while hub and members run different versions"),
        (None, None) => (DifferenceVerdict::Differs, "it came not as far as the upgrade"),
    };
    let is = Some(told(story));
    let found =
        DifferenceDraft::new(verdict, DifferenceKind::Outcome, about, None, is).keyed(format!("fails at: {step}"));
    Some(found.compared_with(before))
}

/// Returns the objects that were lost on members. If a finding before the upgrade warned of the loss, the fault is the
/// cause and not the upgrade.
fn losses(story: &ScenarioObservations<'_>) -> Vec<DifferenceDraft> {
    let mut foretold = BTreeSet::new();
    let mut upgraded = false;
    let mut found = BTreeMap::new();
    for entry in &story.record.entries {
        match &entry.what {
            RecordedEvent::Upgraded { .. } => upgraded = true,
            RecordedEvent::Diagnosed { findings } if !upgraded => {
                let warned = findings.iter().flat_map(Finding::flatten).filter(|finding| finding.data_loss.is_some());
                foretold.extend(warned.filter_map(|finding| finding.subject.member.as_deref()));
            }
            RecordedEvent::Lost(loss) => {
                let expected = loss.member.as_deref().is_some_and(|member| foretold.contains(member));
                let verdict = if expected { DifferenceVerdict::Differs } else { DifferenceVerdict::Breaks };
                let was = if expected { "there; the diagnosis had warned of this loss" } else { "there" };
                let masked = story.mask(&loss.to_string());
                let about = story.mask(&loss.object.to_string());
                found.entry(masked.clone()).or_insert_with(|| {
                    DifferenceDraft::new(verdict, DifferenceKind::Loss, about, Some(was.into()), Some(masked.clone()))
                        .keyed(masked.clone())
                });
            }
            _ => {}
        }
    }
    found.into_values().collect()
}

/// Titles of the findings that the diagnosis made at a time.
fn diagnosed(story: &ScenarioObservations<'_>, at: Timestamp) -> BTreeMap<FindingKey, String> {
    let findings = story.record.entries.iter().filter(|entry| entry.at == at).find_map(RecordEntry::diagnosed);
    titles(findings.into_iter().flatten().flat_map(Finding::flatten))
}

fn findings(
    story: &ScenarioObservations<'_>,
    moments: &ComparisonTimes,
    known: ObservationsWithoutUpgrade<'_, '_>,
) -> Vec<DifferenceDraft> {
    let (was, is) = (diagnosed(story, moments.before), diagnosed(story, moments.after));
    let elsewhere: BTreeMap<FindingKey, String> = known.all().flat_map(|story| titles(story.findings())).collect();
    let gone = was.iter().filter(|(key, _)| !is.contains_key(*key));
    let new = is.iter().filter(|(key, _)| !was.contains_key(*key) && !elsewhere.contains_key(*key));
    let gone = gone.map(|(key, title)| key.found(Some(title), None));
    let new = new.map(|(key, title)| key.found(None, Some(title)));
    gone.chain(new).collect()
}

/// Returns the spans that cover a time. Several objects may have the same place.
fn standing<'s>(story: &'s ScenarioObservations<'_>, at: Timestamp) -> impl Iterator<Item = &'s StateSpan<'s>> {
    story.spans.iter().filter(move |span| span.stood(at))
}

fn conditions(
    story: &ScenarioObservations<'_>,
    moments: &ComparisonTimes,
    known: ObservationsWithoutUpgrade<'_, '_>,
) -> Vec<DifferenceDraft> {
    let mut elsewhere: BTreeSet<(&MaskedConditionKey, &MaskedState)> =
        known.all().flat_map(ScenarioObservations::ever).collect();
    elsewhere.extend(standing(story, moments.before).map(|span| (&span.place, &span.said)));
    let after = standing(story, moments.after).map(|span| (span, span.said.clone()));
    let skew = moments.skew.into_iter().flat_map(|skew| standing(story, skew));
    let skew = skew.filter(|span| !span.stood(moments.after)).map(|span| {
        let message = format!("(only while hub and members differed) {}", span.said.message);
        (span, MaskedState { message, ..span.said.clone() })
    });
    let mut found = BTreeMap::new();
    for (span, is) in after.chain(skew).filter(|(span, _)| !elsewhere.contains(&(&span.place, &span.said))) {
        let was = standing(story, moments.before).find(|before| same_condition(before, span));
        let difference = condition(&span.place, was.map(|was| &was.said), Some(&is));
        found.entry((span.place.clone(), is)).or_insert(difference);
    }
    found.into_values().collect()
}

/// True if both spans are about the same condition of the same object.
fn same_condition(one: &StateSpan<'_>, other: &StateSpan<'_>) -> bool {
    let (one, other) = (one.real.transition, other.real.transition);
    (&one.cluster, &one.object, &one.place, &one.condition)
        == (&other.cluster, &other.object, &other.place, &other.condition)
}

/// States of one condition of one object before and after an upgrade, with the real names.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ConditionComparison {
    /// Cluster, object and part.
    pub object: String,
    /// Type of the condition.
    pub condition: String,
    /// State before the upgrade.
    pub before: Option<String>,
    /// State after the upgrade, before the remedy.
    pub after: Option<String>,
}

/// Spans before and after an upgrade.
type SpansBeforeAndAfter<'s> = (Option<&'s StateSpan<'s>>, Option<&'s StateSpan<'s>>);

/// Returns the conditions whose state differs before and after the upgrade.
pub(super) fn moved(story: &ScenarioObservations<'_>, moments: &ComparisonTimes) -> Vec<ConditionComparison> {
    let mut all = BTreeMap::<(String, String), SpansBeforeAndAfter<'_>>::new();
    for (at, after) in [(moments.before, false), (moments.after, true)] {
        for span in standing(story, at) {
            let t = span.real.transition;
            let part = if t.place.is_object() { String::new() } else { format!(" ({})", t.place) };
            let object = format!("{} {}{part}", t.cluster, t.object);
            let both = all.entry((object, span.place.condition.clone())).or_default();
            if after { both.1 = Some(span) } else { both.0 = Some(span) }
        }
    }
    let otherwise = all.into_iter().filter(|(_, (was, is))| was.map(|was| &was.said) != is.map(|is| &is.said));
    let told = otherwise.map(|((object, condition), (was, is))| ConditionComparison {
        object,
        condition,
        before: was.map(state_text),
        after: is.map(state_text),
    });
    told.collect()
}

/// State and message.
fn state_text(span: &StateSpan<'_>) -> String {
    match span.real.state.message.as_str() {
        "" => span.real.state.to_string(),
        message => format!("{}: {message}", span.real.state),
    }
}
