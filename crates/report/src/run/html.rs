//! Writes a run as one self-contained HTML page: what failed and why, then each scenario with its steps and a drawing of all conditions.

use std::collections::BTreeSet;

use diagnosis::Finding;
use jiff::Timestamp;
use record::{Action, FalseAlarm, Outcome, RecordEntry, RecordedEvent, RunRecord, ScenarioRecord, Transition};
use serde::Serialize;

use super::false_alarms;
use super::file::ReportError;
use super::scenario::{codes, headline, reason, seconds};
use super::scenario_details::{StepEntries, steps};
use super::summary::{OutcomeCounts, worked_around};
use crate::html as page;
use crate::html::condition_spans::{ConditionSpan, condition_spans};
use crate::html::finding_view::{FindingView, time};
use crate::html::timeline::{Axis, LanePeriods, Period, Timeline, condition_lanes, state_and_seconds};
use crate::runs::changes::{RunChanges, RunChangesView};

/// Template of the page.
const PAGE: &str = include_str!("run.html");
/// Script of the page.
const SCRIPT: &str = include_str!("run.js");

/// Everything on the page.
#[derive(Serialize)]
struct RunPage<'a> {
    run: &'a str,
    fleetdrill: &'a str,
    provider: &'a str,
    versions: &'a [(String, String)],
    started_at: String,
    took: String,
    /// CSS class by the worst outcome: `passed`, `failed` or `not_run`.
    verdict: &'static str,
    counts: Vec<OutcomeCount>,
    snapshots: Option<usize>,
    false_alarms: Vec<FalseAlarmView>,
    files: Vec<FileView<'a>>,
    not_run: Vec<NotRunView<'a>>,
    /// Shards that a Job repeated, each as a sentence.
    repeated_shards: Vec<String>,
    /// How often races of controllers were worked around, and which; `None` if none was.
    worked_around: Option<String>,
    /// Codes, kinds and members that the filters offer.
    codes: BTreeSet<&'a str>,
    kinds: BTreeSet<&'a str>,
    members: BTreeSet<&'a str>,
    /// What several runs say together, if the record is of several.
    changes: RunChangesView<'a>,
    script: &'static str,
}

#[derive(Serialize)]
struct OutcomeCount {
    count: usize,
    what: &'static str,
    class: &'static str,
}

/// False alarm of the continuous diagnosis.
#[derive(Serialize)]
struct FalseAlarmView {
    headline: String,
    finding: FindingView,
    bundle: Option<String>,
}

/// Feature file with the scenarios that were run.
#[derive(Serialize)]
struct FileView<'a> {
    file: &'a str,
    feature: &'a str,
    scenarios: Vec<ScenarioView<'a>>,
}

/// Scenarios that weren't run for one reason.
#[derive(Serialize)]
struct NotRunView<'a> {
    reason: &'a str,
    scenarios: Vec<String>,
}

/// Scenario that was run.
#[derive(Serialize)]
struct ScenarioView<'a> {
    id: String,
    scenario: &'a str,
    line: usize,
    outcome: Outcome,
    took: String,
    codes: Vec<&'a str>,
    /// What failed, in a sentence; `None` if it passed.
    headline: Option<String>,
    /// Failure that no step has, e.g. of a scenario that was interrupted.
    reason: Option<&'a str>,
    /// Names and kinds of its objects, and names of its members, for the filters.
    objects: String,
    members: String,
    timeline: Option<Timeline>,
    steps: Vec<StepView<'a>>,
    transitions: Vec<TransitionView<'a>>,
}

/// Step with what happened in it.
#[derive(Serialize)]
struct StepView<'a> {
    keyword: &'a str,
    text: &'a str,
    at: String,
    took: Option<String>,
    outcome: Outcome,
    events: Vec<EventView>,
}

/// Event other than a transition.
#[derive(Serialize)]
struct EventView {
    class: &'static str,
    label: &'static str,
    text: String,
    findings: Vec<FindingView>,
}

/// Change of a condition.
#[derive(Serialize)]
struct TransitionView<'a> {
    id: String,
    at: String,
    object: String,
    condition: String,
    from: String,
    to: String,
    message: &'a str,
}

/// Returns the page.
///
/// # Errors
/// Returns an error if the template can't be filled: a bug.
pub(crate) fn to_html(run: &RunRecord, changes: &RunChanges) -> Result<String, ReportError> {
    page::render(PAGE, &RunPage::of(run, changes))
}

impl<'a> RunPage<'a> {
    fn of(run: &'a RunRecord, changes: &'a RunChanges) -> Self {
        let counts = OutcomeCounts::of(run);
        let alarms = run.false_alarms();
        let verdict = if counts.failed + counts.interrupted + alarms.len() > 0 {
            "failed"
        } else if counts.passed > 0 {
            "passed"
        } else {
            "not_run"
        };
        let named = [
            (counts.failed, "failed", "failed"),
            (counts.interrupted, "interrupted", "interrupted"),
            (counts.passed, "passed", "passed"),
            (counts.not_run, "not run", "not_run"),
        ];
        let was_run = || run.scenarios.iter().filter(|scenario| scenario.outcome != Outcome::NotRun);
        Self {
            run: &run.id,
            fleetdrill: &run.fleetdrill,
            provider: &run.provider,
            versions: &run.versions,
            started_at: time(run.started_at),
            took: seconds(run.seconds),
            verdict,
            counts: named
                .into_iter()
                .filter(|(count, ..)| *count > 0)
                .map(|(count, what, class)| OutcomeCount { count, what, class })
                .collect(),
            snapshots: run.continuous_diagnosis.as_ref().map(|diagnosis| diagnosis.snapshots),
            false_alarms: alarms.iter().map(FalseAlarmView::of).collect(),
            files: files(run),
            not_run: not_run(run),
            repeated_shards: run.repeated_shards.iter().map(ToString::to_string).collect(),
            worked_around: worked_around(run),
            codes: was_run().flat_map(codes).collect(),
            kinds: was_run().flat_map(objects).map(|object| object.kind.as_str()).collect(),
            members: was_run().flat_map(members).collect(),
            changes: RunChangesView::of(changes),
            script: SCRIPT,
        }
    }
}

/// Groups the scenarios that were run by file, in the run's order.
fn files(run: &RunRecord) -> Vec<FileView<'_>> {
    let mut files: Vec<FileView<'_>> = Vec::new();
    for (number, record) in run.scenarios.iter().enumerate() {
        if record.outcome == Outcome::NotRun {
            continue;
        }
        let view = ScenarioView::of(record, &format!("s{number}"));
        match files.iter_mut().find(|file| file.file == record.file) {
            Some(file) => file.scenarios.push(view),
            None => files.push(FileView { file: &record.file, feature: &record.feature, scenarios: vec![view] }),
        }
    }
    files
}

/// Groups the scenarios that weren't run by reason, in the order in which the reasons first appear.
fn not_run(run: &RunRecord) -> Vec<NotRunView<'_>> {
    let mut groups: Vec<NotRunView<'_>> = Vec::new();
    for record in run.scenarios.iter().filter(|record| record.outcome == Outcome::NotRun) {
        let (reason, name) = (reason(record), format!("{} ({}:{})", record.scenario, record.file, record.line));
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.scenarios.push(name),
            None => groups.push(NotRunView { reason, scenarios: vec![name] }),
        }
    }
    groups
}

impl FalseAlarmView {
    fn of(alarm: &FalseAlarm) -> Self {
        Self {
            headline: false_alarms::headline(alarm),
            finding: FindingView::of(&alarm.finding),
            bundle: alarm.bundle.as_ref().map(|path| path.display().to_string()),
        }
    }
}

impl<'a> ScenarioView<'a> {
    fn of(record: &'a ScenarioRecord, id: &str) -> Self {
        let axis = Axis::new(record.started_at, record.entries.last().map_or(record.started_at, |entry| entry.at));
        let is_failed = record.outcome != Outcome::Passed;
        let steps = steps(record);
        let has_failed_step = steps.iter().any(|step| step.entries.iter().any(is_failure));
        let names: BTreeSet<String> = objects(record).map(ToString::to_string).collect();
        Self {
            id: id.to_owned(),
            scenario: &record.scenario,
            line: record.line,
            outcome: record.outcome,
            took: seconds(record.seconds),
            codes: codes(record).collect(),
            headline: is_failed.then(|| headline(record)),
            reason: record.reason.as_deref().filter(|_| is_failed && !has_failed_step),
            objects: names.into_iter().collect::<Vec<_>>().join(" "),
            members: members(record).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" "),
            timeline: draw(record, &steps, id, &axis),
            steps: steps.iter().map(|step| StepView::of(step, &axis)).collect(),
            transitions: transitions(record, id, &axis),
        }
    }
}

fn is_failure(entry: &RecordEntry) -> bool {
    matches!(entry.what, RecordedEvent::Failed { .. })
}

/// Returns the objects whose conditions changed.
fn objects(record: &ScenarioRecord) -> impl Iterator<Item = &record::ObjectPath> {
    record.entries.iter().filter_map(RecordEntry::transition).map(|transition| &transition.object)
}

/// Returns the members that have an object whose conditions changed, or that a part of an object is about.
fn members(record: &ScenarioRecord) -> impl Iterator<Item = &str> {
    let transitions = record.entries.iter().filter_map(RecordEntry::transition);
    transitions.flat_map(|transition| {
        let cluster = Some(transition.cluster.as_str()).filter(|cluster| *cluster != "hub");
        cluster.into_iter().chain(transition.place.member())
    })
}

impl<'a> StepView<'a> {
    fn of(step: &StepEntries<'a>, axis: &Axis) -> Self {
        let (keyword, text) = step.step.unwrap_or_default();
        Self {
            keyword,
            text,
            at: at(step.at, axis),
            took: step.seconds.map(seconds),
            outcome: step.outcome,
            events: step.entries.iter().filter_map(EventView::of).collect(),
        }
    }
}

impl EventView {
    /// `None` for transitions, which have a table of their own, and for waits that held.
    fn of(entry: &RecordEntry) -> Option<Self> {
        let (class, label, text) = match &entry.what {
            RecordedEvent::Step { .. } | RecordedEvent::Transition(_) | RecordedEvent::Held { .. } => return None,
            RecordedEvent::Diagnosed { findings } => return Some(Self::diagnosed(findings)),
            RecordedEvent::Lost(loss) => ("lost", "lost", loss.to_string()),
            RecordedEvent::WaitFailed(wait) => ("error", "wait", wait.headline()),
            RecordedEvent::Failed { error } => ("error", "error", error.clone()),
            RecordedEvent::Collected { path } => {
                ("did", "bundle", format!("fleetdrill diagnose --from {}", path.display()))
            }
            what => {
                let (class, label, text) = action(what)?;
                (class, label, text.to_owned())
            }
        };
        Some(Self { class, label, text, findings: Vec::new() })
    }

    fn diagnosed(findings: &[Finding]) -> Self {
        let text = if findings.is_empty() { "nothing found".to_owned() } else { String::new() };
        Self { class: "did", label: "diagnosis", text, findings: findings.iter().map(FindingView::of).collect() }
    }
}

/// Returns class, label and text of something that was done to the fleet.
fn action(what: &RecordedEvent) -> Option<(&'static str, &'static str, &str)> {
    match what {
        RecordedEvent::Induced(Action { action, .. }) => Some(("induced", "induced", action)),
        RecordedEvent::Remedied(Action { action, .. }) => Some(("remedied", "remedied", action)),
        RecordedEvent::Did(Action { action, .. }) => Some(("did", "done", action)),
        RecordedEvent::FastForwarded(Action { action, .. }) => Some(("forwarded", "fast-forward", action)),
        RecordedEvent::WorkedAround { action, .. } => Some(("forwarded", "worked around", &action.action)),
        RecordedEvent::Upgraded { phase } => Some(("forwarded", "upgrade", phase.told())),
        _ => None,
    }
}

/// Returns the changes of conditions in their order.
fn transitions<'a>(record: &'a ScenarioRecord, id: &str, axis: &Axis) -> Vec<TransitionView<'a>> {
    let changes = record.entries.iter().enumerate();
    let changes = changes.filter_map(|(index, entry)| Some((index, entry.at, entry.transition()?)));
    let views = changes.map(|(index, when, transition)| {
        let Transition { object, from, to, .. } = transition;
        let absent = || "–".to_owned();
        TransitionView {
            id: entry_id(id, index),
            at: at(when, axis),
            object: if transition.cluster == "hub" {
                object.to_string()
            } else {
                format!("{object} on {}", transition.cluster)
            },
            condition: condition(transition),
            from: from.as_ref().map_or_else(absent, ToString::to_string),
            to: to.as_ref().map_or_else(absent, ToString::to_string),
            message: to.as_ref().map_or("", |to| &to.message),
        }
    });
    views.collect()
}

/// Returns the type of a condition with the part of the object that has it.
fn condition(Transition { place, condition, .. }: &Transition) -> String {
    if place.is_object() { condition.clone() } else { format!("{condition} ({place})") }
}

fn entry_id(scenario: &str, index: usize) -> String {
    format!("{scenario}e{index}")
}

fn at(at: Timestamp, axis: &Axis) -> String {
    format!("{:.1} s", axis.seconds(at))
}

/// Draws the steps, the actions, the waits and the conditions of a scenario; `None` if nothing happened.
fn draw(record: &ScenarioRecord, steps: &[StepEntries<'_>], id: &str, axis: &Axis) -> Option<Timeline> {
    let actions = actions(record);
    let marks: Vec<Period> = actions.iter().filter(|period| period.class != "did").cloned().collect();
    let lane = |name: &str, periods| LanePeriods { group: "scenario".into(), name: name.into(), periods };
    let mut lanes = vec![lane("steps", step_periods(steps))];
    lanes.extend([("last action", actions), ("waits", waits(record))].map(|(name, periods)| lane(name, periods)));
    lanes.retain(|lane| !lane.periods.is_empty());
    let spans = condition_spans(&record.entries);
    let told = |span: &ConditionSpan<'_>| state_and_seconds(span, axis);
    lanes.extend(condition_lanes(&spans, told, |span| Some(entry_id(id, span.entry))));
    Timeline::draw(axis, &[], &marks, lanes)
}

fn step_periods(steps: &[StepEntries<'_>]) -> Vec<Period> {
    let ends = steps.iter().skip(1).map(|step| Some(step.at)).chain([None]);
    let mut class = "given";
    let periods = steps.iter().zip(ends).filter_map(|(step, until)| {
        let (keyword, text) = step.step?;
        class = match keyword.trim() {
            "Given" => "given",
            "When" => "when",
            "Then" => "then",
            _ => class,
        };
        let class = if step.outcome == Outcome::Passed { class } else { "error" };
        let label = format!("{keyword} {text}");
        Some(Period { from: step.at, until, class, title: label.clone(), label, link: None })
    });
    periods.collect()
}

/// Returns the actions, each until the next one.
fn actions(record: &ScenarioRecord) -> Vec<Period> {
    let actions = record.entries.iter().filter_map(|entry| Some((entry.at, action(&entry.what)?)));
    let actions: Vec<_> = actions.collect();
    let ends = actions.iter().skip(1).map(|(at, _)| Some(*at)).chain([None]);
    let periods = actions.iter().zip(ends).map(|((from, (class, label, text)), until)| {
        let text = format!("{label}: {text}");
        Period { from: *from, until, class, title: text.clone(), label: text, link: None }
    });
    periods.collect()
}

/// Returns the waits that took a tenth of a second or more.
fn waits(record: &ScenarioRecord) -> Vec<Period> {
    let waits = record.entries.iter().filter_map(|entry| {
        let (expectation, seconds, class) = match &entry.what {
            RecordedEvent::Held { expectation, seconds } => (expectation, *seconds, "wait"),
            RecordedEvent::WaitFailed(wait) => (&wait.expectation, wait.seconds, "error"),
            _ => return None,
        };
        let took = std::time::Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds >= 0.1)?;
        let title = format!("waited {seconds:.1} s: {expectation}");
        let (from, until) = (entry.at.checked_sub(took).ok()?, Some(entry.at));
        Some(Period { from, until, class, label: expectation.clone(), title, link: None })
    });
    waits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    #[test]
    fn a_run_as_html() {
        insta::assert_snapshot!(to_html(&fixture::run(), &RunChanges::default()).unwrap());
    }

    #[test]
    fn repeated_shards_are_named() {
        let mut run = fixture::run();
        let end = record::PodEnd::Killed { signal: 9 };
        run.repeated_shards = vec![record::RepeatedShard { shard: 2, pod: "drill-1-x".to_owned(), end }];
        let page = to_html(&run, &RunChanges::default()).unwrap();
        assert!(page.contains("<p>Repeated: shard 2, because Pod drill-1-x was killed by signal 9.</p>"), "{page}");
    }

    #[test]
    fn texts_of_objects_are_no_markup() {
        let mut run = fixture::run();
        run.scenarios[0].scenario = "</summary><script>alert(1)</script>".into();
        let page = to_html(&run, &RunChanges::default()).unwrap();
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    }
}
