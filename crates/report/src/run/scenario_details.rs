//! Story of a scenario: each step with its actions, the changes of conditions, and the diagnosis.

use jiff::Timestamp;
use owo_colors::{OwoColorize, Style};
use record::{
    Action, FailedWait, ObjectPath, ObservedCondition, ObservedObject, Outcome, RecordEntry, RecordedEvent,
    ScenarioRecord, Transition,
};

use super::scenario::{seconds, sign};
use super::transitions;
use crate::finding::short_findings;
use crate::text::style::{BOLD, ERROR, HINT, PLAIN, SUCCESS, Symbols, WARNING};
use crate::text::{PrintedTexts, TextPage, clean, shorten};

/// Columns of a step's sign, with the space after it.
const SIGN: usize = 2;
/// Indentation of a step's details, in columns.
const BELOW: usize = 4;
/// Maximum number of seconds by which an effect may be recorded before its action: an observer may see the effect
/// before the call has returned.
const AHEAD: f64 = 2.0;
/// Label of actions that are neither faults nor remedies.
const DONE: &str = "done: ";
/// Minimum total time of a step's waits that is printed, in seconds.
const AT_ONCE: f64 = 0.05;
/// Minimum duration of a step without waits that is printed, in seconds.
const LONG: f64 = 1.0;

/// Step with the entries that belong to it.
pub(super) struct StepEntries<'a> {
    /// Keyword and text as written; `None` for entries before the first step.
    pub(super) step: Option<(&'a str, &'a str)>,
    /// Time of the first entry.
    pub(super) at: Timestamp,
    pub(super) outcome: Outcome,
    /// Seconds that the step waited or took, if they are worth telling.
    pub(super) seconds: Option<f64>,
    /// Index of the first entry after the step.
    pub(super) first: usize,
    /// Entries after the step itself, up to the next step.
    pub(super) entries: &'a [RecordEntry],
    /// Entries of all later steps.
    later: &'a [RecordEntry],
}

/// Returns the steps of a scenario in their order.
pub(super) fn steps(record: &ScenarioRecord) -> Vec<StepEntries<'_>> {
    let is_step = |entry: &RecordEntry| matches!(entry.what, RecordedEvent::Step { .. });
    let mut steps = Vec::new();
    let mut rest = record.entries.as_slice();
    while let Some(first) = rest.first() {
        // The entries after a step belong to it, up to the next step. The first entries may belong to no step.
        let length = 1 + rest[1..].iter().position(is_step).unwrap_or(rest.len() - 1);
        let start = record.entries.len() - rest.len();
        let (group, later) = rest.split_at(length);
        rest = later;
        // If no step has failed, the scenario ended in its last step.
        let outcome = match record.outcome {
            _ if has_failed(group) => Outcome::Failed,
            outcome if later.is_empty() && !has_failed(&record.entries) => outcome,
            _ => Outcome::Passed,
        };
        let mut step =
            StepEntries { step: None, at: first.at, outcome, seconds: None, first: start, entries: group, later };
        if let RecordedEvent::Step { keyword, text } = &first.what {
            let end = later.first().or(group.last()).map_or(first.at, |entry| entry.at);
            step.step = Some((keyword.as_str(), text.as_str()));
            step.seconds = took(group, end);
            step.first += 1;
            step.entries = &group[1..];
        }
        steps.push(step);
    }
    steps
}

fn has_failed(entries: &[RecordEntry]) -> bool {
    entries.iter().any(|entry| matches!(entry.what, RecordedEvent::Failed { .. }))
}

/// Writes the story.
pub(super) fn write(page: &mut TextPage, record: &ScenarioRecord, symbols: Symbols) {
    let mut said = PrintedTexts::default();
    for StepEntries { step, outcome, seconds: took, entries, later, .. } in steps(record) {
        if let Some((keyword, text)) = step {
            let (sign, style) = sign(outcome, symbols);
            let took = took.map(|time| format!("  ({})", seconds(time))).unwrap_or_default();
            page.item(&format!("{sign} "), style, SIGN + keyword.len() + 1, &format!("{keyword} {text}{took}"));
        }
        page.indented(BELOW, |page| write_group(page, entries, later, outcome, &mut said, symbols));
    }
    match &record.reason {
        Some(reason) if record.outcome == Outcome::NotRun => page.item("not run: ", WARNING, 2, reason),
        // Otherwise the step's own error has been printed.
        Some(reason) if !has_failed(&record.entries) => page.item("error: ", ERROR, 2, reason),
        _ => {}
    }
}

/// Returns the seconds that a step waited, or else its duration; `None` if that is too short to be printed.
fn took(group: &[RecordEntry], end: Timestamp) -> Option<f64> {
    let waits = group.iter().filter_map(|entry| match entry.what {
        RecordedEvent::Held { seconds, .. } => Some(seconds),
        _ => None,
    });
    let waits: Vec<f64> = waits.collect();
    if waits.is_empty() {
        let took = end.duration_since(group.first()?.at).as_secs_f64();
        return Some(took).filter(|took| *took >= LONG);
    }
    Some(waits.iter().sum()).filter(|waited| *waited >= AT_ONCE)
}

/// Writes the entries of a step. Transitions are collected until another kind of entry comes; a wait that held doesn't
/// end the collection.
fn write_group(
    page: &mut TextPage,
    group: &[RecordEntry],
    later: &[RecordEntry],
    outcome: Outcome,
    said: &mut PrintedTexts,
    symbols: Symbols,
) {
    let mut moved: Vec<(Timestamp, &Transition)> = Vec::new();
    let wait = last_failed_wait(group);
    for (number, entry) in group.iter().enumerate() {
        match &entry.what {
            RecordedEvent::Transition(transition) => moved.push((entry.at, transition)),
            RecordedEvent::Held { .. } | RecordedEvent::WaitFailed(_) | RecordedEvent::Step { .. } => {}
            // Other actions stand before the transitions of the step, whichever was recorded first: they lead to the
            // transitions.
            what @ RecordedEvent::Did(_) => write_entry(page, what, wait, outcome, said),
            what => {
                let effects = moved.extract_if(.., |(at, transition)| is_effect(*at, transition, entry)).collect();
                let later = transitions_in(&group[number..], later);
                let before = std::mem::replace(&mut moved, effects);
                transitions::write(page, &of(&before), &later, said, symbols);
                write_entry(page, what, wait, outcome, said);
            }
        }
    }
    transitions::write(page, &of(&moved), &transitions_in(&[], later), said, symbols);
}

/// The wait in which a step failed: the last thing that it did. A failed wait after which it went on isn't the step's failure.
fn last_failed_wait(group: &[RecordEntry]) -> Option<&FailedWait> {
    let done = |entry: &&RecordEntry| {
        !matches!(
            entry.what,
            RecordedEvent::Failed { .. } | RecordedEvent::Transition(_) | RecordedEvent::Diagnosed { .. }
        )
    };
    group.iter().rev().find(done)?.failed_wait()
}

fn of<'a>(moved: &[(Timestamp, &'a Transition)]) -> Vec<&'a Transition> {
    moved.iter().map(|(_, transition)| *transition).collect()
}

/// True if a transition is the effect of an action on the object that was recorded after it. The cause is printed
/// before the effect.
fn is_effect(at: Timestamp, transition: &Transition, action: &RecordEntry) -> bool {
    let (RecordedEvent::Induced(done) | RecordedEvent::Remedied(done)) = &action.what else { return false };
    done.objects.contains(&transition.object) && action.at.duration_since(at).as_secs_f64() <= AHEAD
}

fn transitions_in<'a>(group: &'a [RecordEntry], later: &'a [RecordEntry]) -> Vec<&'a Transition> {
    group.iter().chain(later).filter_map(RecordEntry::transition).collect()
}

fn write_entry(
    page: &mut TextPage,
    what: &RecordedEvent,
    wait: Option<&FailedWait>,
    outcome: Outcome,
    said: &mut PrintedTexts,
) {
    match what {
        // The failure of the step says it, if the step failed.
        RecordedEvent::Step { .. }
        | RecordedEvent::Held { .. }
        | RecordedEvent::WaitFailed(_)
        | RecordedEvent::Transition(_) => {}
        RecordedEvent::Induced(action) => write_action(page, "induced: ", WARNING, action, said),
        RecordedEvent::Remedied(action) => write_action(page, "remedied: ", SUCCESS, action, said),
        RecordedEvent::Did(action) => {
            // One line is enough: the step's text says the same in other words.
            let line = shorten(&action.action, page.columns().saturating_sub(DONE.len()));
            page.aside(1, DONE, 2, &line);
            said.objects(printed(action, &line));
        }
        RecordedEvent::WorkedAround { action, .. } => page.item("WORKED AROUND: ", WARNING, 2, &action.action),
        RecordedEvent::FastForwarded(action) => page.item("FAST-FORWARD: ", WARNING, 2, &action.action),
        RecordedEvent::Upgraded { phase } => page.item("UPGRADE: ", WARNING, 2, phase.told()),
        RecordedEvent::Lost(loss) => page.item("LOST: ", ERROR, 2, &loss.to_string()),
        RecordedEvent::Failed { error } => match wait {
            Some(wait) => write_failed_wait(page, error, wait),
            None => write_error(page, error),
        },
        RecordedEvent::Collected { path } => {
            let path = clean(&path.to_string_lossy());
            page.styled(&format!("{} fleetdrill diagnose --from {path}", "bundle:".style(HINT)));
        }
        // The step's text already says that no finding is expected.
        RecordedEvent::Diagnosed { findings } if findings.is_empty() && outcome == Outcome::Passed => {}
        RecordedEvent::Diagnosed { findings } if findings.is_empty() => {
            page.item("diagnosis: ", BOLD, 2, "nothing found");
        }
        RecordedEvent::Diagnosed { findings } => {
            for finding in findings {
                short_findings::write(page, finding, said);
            }
        }
    }
}

fn write_action(page: &mut TextPage, label: &str, style: Style, action: &Action, said: &mut PrintedTexts) {
    page.item(label, style, 2, &action.action);
    said.objects(printed(action, &action.action));
}

/// Returns the objects of an action that its printed line has in full: a line may be cut, or omit a namespace.
fn printed<'a>(action: &'a Action, line: &str) -> impl Iterator<Item = &'a ObjectPath> {
    action.objects.iter().filter(move |object| line.contains(&object.to_string()))
}

/// An error; each line keeps its indentation.
fn write_error(page: &mut TextPage, error: &str) {
    let mut lines = error.trim_end().lines();
    page.item("error: ", ERROR, 2, lines.next().unwrap_or_default());
    for line in lines {
        let text = line.trim_start();
        let indent = (line.len() - text.len()).max(2);
        page.indented(indent, |page| page.item("", PLAIN, 4, text));
    }
}

/// A wait that failed, with the objects that were seen last.
fn write_failed_wait(page: &mut TextPage, error: &str, wait: &FailedWait) {
    page.item("error: ", ERROR, 2, error.lines().next().unwrap_or_default());
    page.indented(2, |page| {
        wait.seen_instead().iter().for_each(|text| page.item("", PLAIN, 4, text));
        for ObservedObject { object, generation, conditions } in wait.last.objects() {
            page.item("", PLAIN, 4, &format!("{object} (generation {generation})"));
            page.indented(2, |page| conditions.iter().for_each(|condition| write_condition(page, condition)));
        }
    });
}

/// A condition on one line, or, where that is too long, its state whole with the message below.
fn write_condition(page: &mut TextPage, condition: &ObservedCondition) {
    let line = condition.to_string();
    if line.chars().count() <= page.columns() || condition.state.message.is_empty() {
        page.item("", PLAIN, 4, &line);
        return;
    }
    page.unwrapped(&format!("{}:", condition.headline()));
    page.indented(4, |page| page.text(&condition.details()));
}

#[cfg(test)]
mod tests {
    use record::{ConditionPlace, ConditionState, Observation, WaitEnd};

    use super::*;
    use crate::run::{fixture, scenario};
    use crate::text::style::OutputLayout;

    fn plain(record: &ScenarioRecord, look: OutputLayout) -> String {
        anstream::adapter::strip_str(&scenario::block(record, look)).to_string()
    }

    #[test]
    fn real_failure() {
        insta::assert_snapshot!(plain(&fixture::real("member_namespace_failed"), OutputLayout::default()));
    }

    #[test]
    fn real_failure_on_eighty_columns() {
        let look = OutputLayout { story: 80, ..OutputLayout::default() };
        insta::assert_snapshot!(plain(&fixture::real("member_namespace_failed"), look));
    }

    #[test]
    fn real_pass() {
        insta::assert_snapshot!(plain(&fixture::real("member_leaves_and_joins"), OutputLayout::default()));
    }

    #[test]
    fn real_preemption() {
        insta::assert_snapshot!(plain(&fixture::real("preemption"), OutputLayout::default()));
    }

    #[test]
    fn an_effect_is_of_an_object_of_a_fault_or_a_remedy() {
        let at = |milliseconds| Timestamp::from_millisecond(milliseconds).expect("a time");
        let transition = Transition {
            cluster: "hub".into(),
            object: "ResourcePlacement/shop/web".into(),
            place: ConditionPlace::Object,
            condition: "Scheduled".into(),
            from: None,
            to: None,
        };
        let action = |object: &str| Action::new("ResourcePlacement/web: its policy changed").on(object);
        let entry = |what| RecordEntry { at: at(2000), what };
        let web = || action("ResourcePlacement/shop/web");
        assert!(is_effect(at(0), &transition, &entry(RecordedEvent::Induced(web()))));
        assert!(is_effect(at(0), &transition, &entry(RecordedEvent::Remedied(web()))));
        assert!(!is_effect(at(-1), &transition, &entry(RecordedEvent::Induced(web()))), "too long before it");
        assert!(!is_effect(at(0), &transition, &entry(RecordedEvent::Did(web()))));
        assert!(!is_effect(at(0), &transition, &entry(RecordedEvent::Induced(action("ResourcePlacement/other/web")))));
        assert!(!is_effect(at(0), &transition, &entry(RecordedEvent::Induced("web deleted".into()))));
    }

    #[test]
    fn a_line_prints_the_objects_that_it_has_in_full() {
        let action = Action::new("Namespace/a made for Namespace/b and Work/w")
            .on("Namespace/a")
            .on("Namespace/b")
            .on("Work/fleet-member-east/w");
        let objects = |line: &str| printed(&action, line).map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(objects(&action.action), ["Namespace/a", "Namespace/b"]);
        assert_eq!(objects("Namespace/a made for Name..."), ["Namespace/a"]);
    }

    #[test]
    fn a_wait_that_failed_keeps_its_conditions_whole() {
        let condition = |place, type_: &str, status: &str, reason: &str, message: &str| {
            let (status, reason, message) = (status.to_owned(), reason.to_owned(), message.to_owned());
            ObservedCondition {
                place,
                condition: type_.into(),
                state: ConditionState { status, reason, message, observed_generation: 1 },
            }
        };
        let east = ConditionPlace::Member { member: "east".into() };
        let message = "Failed to synchronize the work to the latest: it is forbidden";
        let conditions = vec![
            condition(east, "WorkSynchronized", "False", "SyncWorkFailed", message),
            condition(ConditionPlace::Object, "Applied", "True", "ApplySucceeded", ""),
        ];
        let object = ObservedObject { object: "ClusterResourcePlacement/second".into(), generation: 1, conditions };
        let wait = FailedWait {
            expectation: "second reports".into(),
            seconds: 60.0,
            end: WaitEnd::TimedOut { pending: Some("WorkSynchronized is True".into()) },
            last: Observation::Objects { objects: vec![object] },
        };
        let mut page = TextPage::new(60);
        write_failed_wait(&mut page, &wait.to_string(), &wait);
        insta::assert_snapshot!(anstream::adapter::strip_str(&page.finish()));
    }
}
