//! What an upgrade did to a scenario that was in the middle of things.
//!
//! A scenario moves on by itself while its fleet is upgraded. What its objects say afterwards counts as a difference only if the
//! same scenario on the old version, or on the new one, has never said it.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use jiff::{SignedDuration, Timestamp};
use steps::record::{Entry, Phase, What};

use super::compare::{codes, condition, told};
use super::difference::{Found, Kind, OutcomeBefore, Verdict};
use super::record::Passage;
use super::story::{Place, Said, Span, Story};

/// The moments of an upgrade that a scenario saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// When it was ready for the upgrade.
    pub(super) before: Timestamp,
    /// Just before hub and members had one version again; none where they never had two.
    pub(super) skew: Option<Timestamp>,
    /// When the new version ran everywhere and the scenario went on, with its remedy.
    pub(super) after: Timestamp,
}

impl Moments {
    /// Those of a scenario; none if it didn't see the upgrade's end.
    pub(super) fn of(story: &Story<'_>, passage: &Passage) -> Option<Self> {
        let end = story.upgraded(Phase::After)?;
        let entries = &story.record.entries;
        let begun = story.upgraded(Phase::Skew).unwrap_or(end);
        let before = entries.iter().take_while(|e| e.at < begun).filter(|e| e.diagnosed().is_some()).last()?.at;
        let after = entries.iter().find(|e| e.at >= end && e.diagnosed().is_some()).map_or(end, |e| e.at);
        // Its agents were being exchanged for a while before it was reached.
        let exchanged = passage.phases.iter().find(|phase| phase.phase == Phase::After)?;
        let took = SignedDuration::try_from_secs_f64(exchanged.seconds).unwrap_or_default();
        let skew = story.upgraded(Phase::Skew).and(exchanged.at.checked_sub(took).ok());
        Some(Self { before, skew, after })
    }
}

/// The same scenario without an upgrade under it, on each version on which it was started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeacefulStories<'s, 'a> {
    /// On the version before.
    pub(super) before: Option<&'s Story<'a>>,
    /// On the upgraded fleet.
    pub(super) after: Option<&'s Story<'a>>,
}

impl<'s, 'a> PeacefulStories<'s, 'a> {
    /// Those that there are.
    fn all(self) -> impl Iterator<Item = &'s Story<'a>> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// What a scenario shows that was in flight, besides what it shows on either version without an upgrade.
pub(super) fn differences(story: &Story<'_>, passage: &Passage, known: PeacefulStories<'_, '_>) -> Vec<Found> {
    if !story.was_run() {
        return Vec::new();
    }
    let before = OutcomeBefore::of(known.before.map(|before| before.record.outcome));
    let mut outcome = outcome(story, passage, before);
    let mut found = losses(story);
    if let Some(moments) = Moments::of(story, passage) {
        let findings = findings(story, &moments, known);
        let new: Vec<&Found> = findings.iter().filter(|finding| finding.is.is_some()).collect();
        // What is found for the first time may be why the scenario fails.
        if let Some(outcome) = outcome.as_mut().filter(|_| !new.is_empty()) {
            outcome.codes =
                new.iter().filter_map(|finding| finding.about.split(' ').next().map(str::to_owned)).collect();
            let told: Vec<&str> = new.iter().filter_map(|finding| finding.is.as_deref()).collect();
            outcome.is = outcome.is.take().map(|failed| format!("{} ({failed})", told.join(", ")));
        }
        found.extend(findings);
        found.extend(conditions(story, &moments, known));
    }
    outcome.into_iter().chain(found).collect()
}

/// How a scenario in flight failed. It breaks unless the scenario is known to fail without an upgrade: what wasn't tried without
/// one, or failed only in flight, is the operator's to look at.
fn outcome(story: &Story<'_>, passage: &Passage, before: OutcomeBefore) -> Option<Found> {
    story.failure()?;
    let step = story.last_step().unwrap_or_default();
    let breaks = match before {
        OutcomeBefore::Passed | OutcomeBefore::NotTried => Verdict::Breaks,
        OutcomeBefore::Failed => Verdict::Differs,
    };
    let (verdict, about) = match (story.upgraded(Phase::After), story.upgraded(Phase::Skew)) {
        // Why the upgrade failed is said once.
        (None, _) if passage.error.is_some() => return None,
        (Some(_), _) => (breaks, "the remedy on the new version"),
        (None, Some(_)) => (breaks, "while hub and members run different versions"),
        (None, None) => (Verdict::Differs, "it came not as far as the upgrade"),
    };
    let is = Some(told(story));
    let found = Found::new(verdict, Kind::Outcome, about, None, is).keyed(format!("fails at: {step}"));
    Some(found.compared_with(before))
}

/// What isn't on members any more. A finding that was made before the upgrade may have foretold it: then the fault did it.
fn losses(story: &Story<'_>) -> Vec<Found> {
    let mut foretold = BTreeSet::new();
    let mut upgraded = false;
    let mut found = BTreeMap::new();
    for entry in &story.record.entries {
        match &entry.what {
            What::Upgraded { .. } => upgraded = true,
            What::Diagnosed { findings } if !upgraded => {
                let warned = findings.iter().flat_map(Finding::flatten).filter(|finding| finding.data_loss.is_some());
                foretold.extend(warned.filter_map(|finding| finding.subject.member.as_deref()));
            }
            What::Lost { loss } => {
                let expected = foretold.iter().any(|member| loss.split(' ').any(|word| word == *member));
                let verdict = if expected { Verdict::Differs } else { Verdict::Breaks };
                let was = if expected { "there; the diagnosis had warned of this loss" } else { "there" };
                let masked = story.mask(loss);
                let about = masked.split(' ').next().unwrap_or_default();
                found.entry(masked.clone()).or_insert_with(|| {
                    Found::new(verdict, Kind::Loss, about, Some(was.into()), Some(masked.clone())).keyed(masked.clone())
                });
            }
            _ => {}
        }
    }
    found.into_values().collect()
}

/// The findings that the diagnosis made at a time.
fn diagnosed(story: &Story<'_>, at: Timestamp) -> BTreeMap<String, String> {
    let findings = story.record.entries.iter().filter(|entry| entry.at == at).find_map(Entry::diagnosed);
    codes(findings.into_iter().flatten().flat_map(Finding::flatten))
}

fn findings(story: &Story<'_>, moments: &Moments, known: PeacefulStories<'_, '_>) -> Vec<Found> {
    let (was, is) = (diagnosed(story, moments.before), diagnosed(story, moments.after));
    let elsewhere: BTreeMap<String, String> = known.all().flat_map(|story| codes(story.findings())).collect();
    let gone = was.iter().filter(|(about, _)| !is.contains_key(*about));
    let gone = gone.map(|(about, told)| Found::new(Verdict::Differs, Kind::Finding, about, Some(told.clone()), None));
    let new = is.iter().filter(|(about, _)| !was.contains_key(*about) && !elsewhere.contains_key(*about));
    let new = new.map(|(about, told)| Found::new(Verdict::Differs, Kind::Finding, about, None, Some(told.clone())));
    gone.chain(new).collect()
}

/// What stood at a time. Several objects may have the same place.
fn standing<'s>(story: &'s Story<'_>, at: Timestamp) -> impl Iterator<Item = &'s Span<'s>> {
    story.spans.iter().filter(move |span| span.stood(at))
}

fn conditions(story: &Story<'_>, moments: &Moments, known: PeacefulStories<'_, '_>) -> Vec<Found> {
    let mut elsewhere: BTreeSet<(&Place, &Said)> = known.all().flat_map(Story::ever).collect();
    elsewhere.extend(standing(story, moments.before).map(|span| (&span.place, &span.said)));
    let mut found = BTreeMap::new();
    let mut say = |span: &Span<'_>, is: &Said| {
        let was = standing(story, moments.before).find(|before| same_condition(before, span));
        let difference = condition(&span.place, was.map(|was| &was.said), Some(is));
        found.entry((span.place.clone(), is.clone())).or_insert(difference);
    };
    let new = |span: &&Span<'_>| !elsewhere.contains(&(&span.place, &span.said));
    for span in standing(story, moments.after).filter(new) {
        say(span, &span.said);
    }
    let skew = moments.skew.into_iter().flat_map(|skew| standing(story, skew));
    for span in skew.filter(new).filter(|span| !span.stood(moments.after)) {
        let meanwhile = format!("(only while hub and members differed) {}", span.said.message);
        say(span, &Said { message: meanwhile, ..span.said.clone() });
    }
    found.into_values().collect()
}

/// Whether two spans are of one condition of one object.
fn same_condition(one: &Span<'_>, other: &Span<'_>) -> bool {
    let key = |span: &Span<'_>| {
        let t = span.transition;
        (t.cluster.clone(), t.object.clone(), t.part.clone(), t.condition.clone())
    };
    key(one) == key(other)
}

/// What one condition of one object said before, between and after an upgrade, with the real names.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Told {
    /// Cluster, object and part.
    pub object: String,
    /// The condition's type.
    pub condition: String,
    /// Before the upgrade.
    pub before: Option<String>,
    /// After it, before the remedy.
    pub after: Option<String>,
}

/// What stood before an upgrade and after it.
type BeforeAndAfter<'s> = (Option<&'s Span<'s>>, Option<&'s Span<'s>>);

/// What every condition said that said something else after the upgrade than before it.
pub(super) fn moved(story: &Story<'_>, moments: &Moments) -> Vec<Told> {
    let mut all = BTreeMap::<(String, String), BeforeAndAfter<'_>>::new();
    for (at, after) in [(moments.before, false), (moments.after, true)] {
        for span in standing(story, at) {
            let t = span.transition;
            let object = match &t.part {
                Some(part) => format!("{} {} ({part})", t.cluster, t.object),
                None => format!("{} {}", t.cluster, t.object),
            };
            let both = all.entry((object, span.place.condition.clone())).or_default();
            if after { both.1 = Some(span) } else { both.0 = Some(span) }
        }
    }
    let text = |span: Option<&Span<'_>>| {
        span.map(|span| match span.state.message.as_str() {
            "" => span.state.to_string(),
            message => format!("{}: {message}", span.state),
        })
    };
    let otherwise = all.into_iter().filter(|(_, (was, is))| was.map(|was| &was.said) != is.map(|is| &is.said));
    otherwise
        .map(|((object, condition), (was, is))| Told { object, condition, before: text(was), after: text(is) })
        .collect()
}
