//! Prints how conditions changed between two actions, in few lines.
//!
//! Controllers write a condition several times before it settles. Only its first and its last state are printed here.
//! The JSON report has every transition with its time and message.

use std::collections::BTreeMap;

use record::{ConditionPlace, ConditionState, DELETION, ObjectPath, Transition};

use crate::finding::short_findings::short_type;
use crate::text::style::{BOLD, PLAIN, Symbols};
use crate::text::{PrintedTexts, TextPage};

/// Maximum number of lines of a message.
const MESSAGE: usize = 3;
/// Order of printed conditions: the order in which a placement's and a run's conditions become true.
const ORDER: [&str; 10] = [
    "Scheduled",
    "RolloutStarted",
    "Overridden",
    "WorkSynchronized",
    "Applied",
    "Available",
    "Initialized",
    "Started",
    "Succeeded",
    "Progressing",
];

/// Change of one condition from its first to its last state in a list of transitions.
#[derive(Clone, Copy, Debug)]
struct ConditionChange<'a> {
    condition: &'a str,
    from: Option<&'a ConditionState>,
    to: Option<&'a ConditionState>,
}

/// Text about one part of an object. Parts with the same text share a line.
#[derive(Debug, PartialEq, Eq)]
struct TransitionLine<'a> {
    text: String,
    /// True if the text is about a failure.
    failed: bool,
    message: Option<&'a str>,
}

impl TransitionLine<'_> {
    fn no_failure(text: impl Into<String>) -> Self {
        TransitionLine { text: text.into(), failed: false, message: None }
    }
}

/// Changes of one object's conditions, by part. `None` is the object itself.
type ChangesByPart<'a> = BTreeMap<&'a ConditionPlace, Vec<ConditionChange<'a>>>;

/// Writes transitions, grouped by object. A pending state is left out if one of the `later` transitions overwrites it.
pub(super) fn write(
    page: &mut TextPage,
    transitions: &[&Transition],
    later: &[&Transition],
    said: &mut PrintedTexts,
    symbols: Symbols,
) {
    let mut objects: Vec<((&str, &ObjectPath), ChangesByPart<'_>)> = Vec::new();
    for transition in transitions {
        let key = (transition.cluster.as_str(), &transition.object);
        let at = objects.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            objects.push((key, ChangesByPart::new()));
            objects.len() - 1
        });
        let changes = objects[at].1.entry(&transition.place).or_default();
        match changes.iter_mut().find(|change| change.condition == transition.condition) {
            Some(change) => change.to = transition.to.as_ref(),
            None => changes.push(ConditionChange {
                condition: &transition.condition,
                from: transition.from.as_ref(),
                to: transition.to.as_ref(),
            }),
        }
    }
    for ((cluster, object), mut parts) in objects {
        for (place, changes) in &mut parts {
            changes.retain(|change| {
                let announced = change.is_pending() && decided(later, cluster, object, place, change);
                !announced && !change.is_nothing()
            });
        }
        write_object(page, cluster, object, &parts, said, symbols);
    }
}

/// True if a later transition changes the same condition again.
fn decided(
    later: &[&Transition],
    cluster: &str,
    object: &ObjectPath,
    place: &ConditionPlace,
    change: &ConditionChange<'_>,
) -> bool {
    later
        .iter()
        .any(|t| t.cluster == cluster && t.object == *object && t.place == *place && t.condition == change.condition)
}

fn write_object(
    page: &mut TextPage,
    cluster: &str,
    object: &ObjectPath,
    parts: &ChangesByPart<'_>,
    said: &mut PrintedTexts,
    symbols: Symbols,
) {
    let on = if cluster == "hub" { String::new() } else { format!("{cluster} ") };
    let labels = parts.keys().map(|place| place.to_string().chars().count());
    let labels = labels.chain([on.len() + object.to_string().chars().count()]);
    let room = page.columns().saturating_sub(labels.max().unwrap_or_default() + 4);
    let mut all = lines_by_places(&object.kind, parts, room, symbols);
    if all.is_empty() {
        return;
    }
    let mut name = format!("{on}{}", said.object(object));
    // Text that applies to the object itself and to its parts takes one line, if it fits.
    if let [(top, line), (parts, same), ..] = &all[..] {
        let both = format!("{name}, also on {}", join(parts));
        let columns = both.chars().count() + 2 + line.text.chars().count();
        if top.is_empty() && line == same && !is_stage(parts) && columns <= page.columns() {
            name = both;
            all.remove(1);
        }
    }
    let alone = all.len() == 1;
    for (number, (parts, TransitionLine { text, message, failed: _ })) in all.into_iter().enumerate() {
        let beside = match number {
            // The first line stands beside the name if it is about the object itself, or if it is the only line.
            0 if parts.is_empty() => Some(format!("{name}: ")),
            0 if alone => Some(format!("{name} {} {}: ", if is_stage(&parts) { "in" } else { "on" }, join(&parts))),
            _ => None,
        };
        if let Some(label) = beside {
            page.item(&label, BOLD, 4, &text);
        } else {
            if number == 0 {
                page.item(&format!("{name}:"), BOLD, 0, "");
            }
            let label = if parts.is_empty() { String::new() } else { format!("{}: ", join(&parts)) };
            page.indented(2, |page| page.item(&label, PLAIN, 2, &text));
        }
        if let Some(message) = message.filter(|message| said.message(message)) {
            page.indented(4, |page| page.at_most(MESSAGE, "", 0, message));
        }
    }
}

/// Returns the lines about an object and its parts, each with the parts that share it; no parts for a line about the
/// object itself.
fn lines_by_places<'a>(
    kind: &str,
    parts: &ChangesByPart<'a>,
    room: usize,
    symbols: Symbols,
) -> Vec<(Vec<&'a ConditionPlace>, TransitionLine<'a>)> {
    let mut all: Vec<(Vec<&ConditionPlace>, TransitionLine<'_>)> = Vec::new();
    for (&place, changes) in parts {
        for line in lines(kind, changes, room, symbols) {
            if place.is_object() {
                all.push((Vec::new(), line));
            } else if let Some((places, _)) =
                all.iter_mut().find(|(places, known)| !places.is_empty() && *known == line)
            {
                places.push(place);
            } else {
                all.push((vec![place], line));
            }
        }
    }
    all
}

fn is_stage(places: &[&ConditionPlace]) -> bool {
    places.iter().any(|place| place.is_in_stage())
}

/// Joins the names of parts: by "and" if a name contains a comma (members of a stage), otherwise by commas.
fn join(places: &[&ConditionPlace]) -> String {
    let separator = if places.iter().any(|place| place.has_two_names()) { " and " } else { ", " };
    places.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

/// Returns the lines about one part: first the conditions that are fine, in one line, then the removed and the unknown
/// ones, then each failure.
fn lines<'a>(kind: &str, changes: &[ConditionChange<'a>], room: usize, symbols: Symbols) -> Vec<TransitionLine<'a>> {
    let mut changes = changes.to_vec();
    changes.sort_by_key(|change| {
        ORDER.iter().position(|known| *known == short_type(kind, change.condition)).unwrap_or(ORDER.len())
    });
    if changes.iter().any(|change| change.condition == DELETION && change.to.is_none()) {
        return vec![TransitionLine::no_failure("gone")];
    }
    let mut lines = Vec::new();
    if changes.iter().any(|change| change.condition == DELETION) {
        lines.push(TransitionLine::no_failure("is being deleted"));
    }
    changes.retain(|change| change.condition != DELETION);
    let well: Vec<String> = [
        (names(kind, &changes, |c| c.became("True") && !c.was("True") && !c.was_failure()), "True"),
        (names(kind, &changes, |c| c.became("True") && c.was("True")), "True again"),
        (names(kind, &changes, ConditionChange::is_well_false), "False"),
    ]
    .into_iter()
    .filter(|(names, _)| !names.is_empty())
    .map(|(names, what)| format!("{} {what}", names.join(", ")))
    .collect();
    if !well.is_empty() {
        lines.push(TransitionLine::no_failure(well.join(", ")));
    }
    let gone = names(kind, &changes, |c| c.to.is_none());
    if !gone.is_empty() {
        lines.push(TransitionLine::no_failure(format!("{} gone", gone.join(", "))));
    }
    let unknown = names(kind, &changes, |c| c.became("Unknown"));
    if unknown.len() > 1 {
        lines.push(TransitionLine::no_failure(format!("{} Unknown", unknown.join(", "))));
    }
    for change in &changes {
        let Some(to) = change.to else { continue };
        let name = short_type(kind, change.condition);
        let from = change.from.filter(|from| from.status != "Unknown").map(|from| format!("{from} "));
        let from = format!("{name} {}{}", from.as_deref().unwrap_or_default(), symbols.arrow);
        match to.status.as_str() {
            "True" if change.was_failure() => lines.push(TransitionLine::no_failure(format!("{from} True"))),
            "Unknown" if unknown.len() == 1 => lines.push(TransitionLine::no_failure(format!("{from} {to}"))),
            "False" if !change.is_well_false() => {
                let message = Some(to.message.as_str()).filter(|message| !message.is_empty());
                lines.push(TransitionLine { text: format!("{from} {to}"), failed: true, message });
            }
            _ => {}
        }
    }
    joined(lines, room)
}

/// Short types of the conditions whose change fits.
fn names<'a>(kind: &str, changes: &[ConditionChange<'a>], fits: impl Fn(&ConditionChange<'a>) -> bool) -> Vec<&'a str> {
    changes.iter().filter(|change| fits(change)).map(|change| short_type(kind, change.condition)).collect()
}

/// Joins lines without a message up to `room` columns. Each failure keeps a line of its own.
fn joined(lines: Vec<TransitionLine<'_>>, room: usize) -> Vec<TransitionLine<'_>> {
    let mut all: Vec<TransitionLine<'_>> = Vec::new();
    for line in lines {
        match all.last_mut() {
            Some(last)
                if !(last.failed || line.failed)
                    && last.text.chars().count() + 2 + line.text.chars().count() <= room =>
            {
                last.text = format!("{}; {}", last.text, line.text);
            }
            _ => all.push(line),
        }
    }
    all
}

impl ConditionChange<'_> {
    fn was(&self, status: &str) -> bool {
        self.from.is_some_and(|from| from.status == status)
    }

    fn became(&self, status: &str) -> bool {
        self.to.is_some_and(|to| to.status == status)
    }

    fn was_failure(&self) -> bool {
        self.was("False") && !self.speaks_of_trouble() && !self.from.is_some_and(is_pending)
    }

    /// True if the condition's type is True when something is wrong, e.g. a namespace's
    /// `NamespaceDeletionContentFailure`.
    fn speaks_of_trouble(&self) -> bool {
        self.condition.ends_with("Failure") || self.condition.ends_with("Remaining")
    }

    /// True if the condition became False and that is fine: no trouble is left, or the object has succeeded and
    /// therefore doesn't progress any more.
    fn is_well_false(&self) -> bool {
        let succeeded = self.to.is_some_and(|to| to.reason.ends_with("Succeeded"));
        self.became("False") && (self.speaks_of_trouble() || succeeded)
    }

    /// True if the condition came and went, or if its first state says that there is no trouble.
    fn is_nothing(&self) -> bool {
        let no_trouble = self.from.is_none() && self.became("False") && self.speaks_of_trouble();
        no_trouble || (self.from.is_none() && self.to.is_none())
    }

    /// True if the new state only announces another state, and so did the old state.
    fn is_pending(&self) -> bool {
        self.from.is_none_or(is_pending) && self.to.is_some_and(is_pending)
    }
}

/// True for states after which another state follows by itself, e.g. `Unknown SchedulePending` and
/// `False ApplyInProgress`.
fn is_pending(state: &ConditionState) -> bool {
    match state.status.as_str() {
        "Unknown" => state.reason.ends_with("Pending") || state.reason.ends_with("Unknown"),
        "False" => state.reason.ends_with("InProgress") || state.reason == "NotAllWorkHaveBeenApplied",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACEMENT: &str = "ClusterResourcePlacement/web";

    const WHOLE: ConditionPlace = ConditionPlace::Object;

    fn on(member: &str) -> ConditionPlace {
        ConditionPlace::Member { member: member.to_owned() }
    }

    fn state(text: &str) -> Option<ConditionState> {
        let (status, rest) = text.split_once(' ')?;
        let (reason, message) = rest.split_once(": ").unwrap_or((rest, ""));
        Some(ConditionState {
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            observed_generation: 1,
        })
    }

    fn moved(object: &str, place: ConditionPlace, condition: &str, from: &str, to: &str) -> Transition {
        Transition {
            cluster: "hub".to_owned(),
            object: object.into(),
            place,
            condition: condition.to_owned(),
            from: state(from),
            to: state(to),
        }
    }

    fn written(transitions: &[Transition], later: &[Transition]) -> String {
        let mut page = TextPage::new(100);
        let transitions: Vec<_> = transitions.iter().collect();
        let later: Vec<_> = later.iter().collect();
        write(&mut page, &transitions, &later, &mut PrintedTexts::default(), Symbols::UNICODE);
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn what_became_true_shares_a_line_in_the_order_of_a_rollout() {
        let mut all = Vec::new();
        for member in ["member-1", "member-2"] {
            all.push(moved(PLACEMENT, on(member), "Applied", "", "False ApplyInProgress: Resources are being applied"));
            all.push(moved(PLACEMENT, on(member), "Scheduled", "Unknown SchedulePending", "True Scheduled"));
            all.push(moved(PLACEMENT, on(member), "Applied", "False ApplyInProgress", "True AllWorkHaveBeenApplied"));
        }
        all.push(moved(PLACEMENT, WHOLE, "ClusterResourcePlacementScheduled", "", "Unknown SchedulePending"));
        all.push(moved(PLACEMENT, WHOLE, "ClusterResourcePlacementScheduled", "Unknown SchedulePending", "True Ok"));
        insta::assert_snapshot!(written(&all, &[]), @r"
        ClusterResourcePlacement/web: Scheduled True
          member-1, member-2: Scheduled, Applied True
        ");
    }

    #[test]
    fn a_failure_has_its_message_once_and_at_most_three_lines() {
        let long = format!("False SyncWorkFailed: {}", "a message that goes on ".repeat(20));
        let all = [
            moved(PLACEMENT, WHOLE, "ClusterResourcePlacementWorkSynchronized", "True WorkSynchronized", &long),
            moved(PLACEMENT, on("member-1"), "WorkSynchronized", "", &long),
            moved(PLACEMENT, on("member-2"), "WorkSynchronized", "", &long),
        ];
        insta::assert_snapshot!(written(&all, &[]));
    }

    #[test]
    fn what_is_only_announced_is_left_to_what_decides_it() {
        let pending = moved(PLACEMENT, WHOLE, "ClusterResourcePlacementScheduled", "", "Unknown SchedulePending");
        let decided =
            moved(PLACEMENT, WHOLE, "ClusterResourcePlacementScheduled", "Unknown SchedulePending", "True Ok");
        assert_eq!(written(std::slice::from_ref(&pending), &[decided]), "");
        let alone = written(&[pending], &[]);
        assert_eq!(alone, "ClusterResourcePlacement/web: Scheduled → Unknown SchedulePending\n");
    }

    #[test]
    fn what_went_away_came_back_or_recovered() {
        let all = [
            moved(PLACEMENT, WHOLE, "ClusterResourcePlacementApplied", "True ApplySucceeded", ""),
            moved(PLACEMENT, WHOLE, "ClusterResourcePlacementAvailable", "True ResourceAvailable", ""),
            moved(PLACEMENT, WHOLE, "ClusterResourcePlacementApplied", "", "True ApplySucceeded"),
            moved(PLACEMENT, on("m"), "WorkSynchronized", "False SyncWorkFailed: no", "Unknown X"),
            moved(PLACEMENT, on("m"), "WorkSynchronized", "Unknown X", "True AllWorkSynced"),
            moved(
                "ClusterStagedUpdateRun/r",
                ConditionPlace::StageMember { stage: "one".into(), member: "m".into() },
                "Succeeded",
                "",
                "False ClusterUpdatingFailed: no",
            ),
        ];
        insta::assert_snapshot!(written(&all, &[]), @r"
        ClusterResourcePlacement/web: Applied True again; Available gone
          m: WorkSynchronized False SyncWorkFailed → True
        ClusterStagedUpdateRun/r in stage one, m: Succeeded → False ClusterUpdatingFailed
            no
        ");
    }

    #[test]
    fn a_namespace_that_goes() {
        let object = "Namespace/fleet-member-m";
        let all = [
            moved(object, WHOLE, DELETION, "", "True Terminating"),
            moved(object, WHOLE, "NamespaceContentRemaining", "", "True SomeResourcesRemain"),
            moved(object, WHOLE, "NamespaceDeletionContentFailure", "", "False ContentDeleted: All is well"),
        ];
        insta::assert_snapshot!(written(&all, &[]), @r"
        Namespace/fleet-member-m: is being deleted; NamespaceContentRemaining True
        ");
        assert_eq!(
            written(&[moved(object, WHOLE, DELETION, "True Terminating", "")], &[]),
            "Namespace/fleet-member-m: gone\n"
        );
    }

    #[test]
    fn success_ends_progress() {
        let run = "ClusterStagedUpdateRun/r";
        let all = [
            moved(
                run,
                WHOLE,
                "Progressing",
                "True UpdateRunProgressing",
                "False UpdateRunSucceeded: All stages are completed",
            ),
            moved(run, WHOLE, "Succeeded", "", "True UpdateRunSucceeded"),
        ];
        assert_eq!(written(&all, &[]), "ClusterStagedUpdateRun/r: Succeeded True, Progressing False\n");
    }
}
