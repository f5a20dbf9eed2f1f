//! How conditions moved between two things that were done, in few lines.
//!
//! Controllers write a condition several times on its way; what counts is what it was and what it became. The JSON report
//! has every transition with its time and message.

use std::collections::BTreeMap;

use steps::record::{State, Transition};

use crate::output::brief::short_type;
use crate::output::style::{BOLD, PLAIN, Symbols};
use crate::output::{Page, Said};

/// Lines that a message may take.
const MESSAGE: usize = 3;
/// The order in which a placement's and a run's conditions come true, which is the one to read them in.
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
/// What an observer calls the deletion of an object.
const DELETION: &str = "(deletion)";

/// One condition's way from the first to the last of some transitions.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    condition: &'a str,
    from: Option<&'a State>,
    to: Option<&'a State>,
}

/// What is said of a part of an object; parts of which the same is said share a line.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    text: String,
    /// It says that something has failed.
    failed: bool,
    message: Option<&'a str>,
}

/// What each condition of one object did, by part; the object itself is the part without a name.
type Parts<'a> = BTreeMap<Option<&'a str>, Vec<Change<'a>>>;

/// Writes transitions, grouped by object. Those that only announce what `later` ones decide are left out.
pub(super) fn write(
    page: &mut Page,
    transitions: &[&Transition],
    later: &[&Transition],
    said: &mut Said,
    symbols: Symbols,
) {
    let mut objects: Vec<((&str, &str), Parts<'_>)> = Vec::new();
    for transition in transitions {
        let key = (transition.cluster.as_str(), transition.object.as_str());
        let at = objects.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            objects.push((key, Parts::new()));
            objects.len() - 1
        });
        let changes = objects[at].1.entry(transition.part.as_deref()).or_default();
        match changes.iter_mut().find(|change| change.condition == transition.condition) {
            Some(change) => change.to = transition.to.as_ref(),
            None => changes.push(Change {
                condition: &transition.condition,
                from: transition.from.as_ref(),
                to: transition.to.as_ref(),
            }),
        }
    }
    for ((cluster, object), mut parts) in objects {
        for (part, changes) in &mut parts {
            changes.retain(|change| {
                let announced = change.is_pending() && decided(later, cluster, object, *part, change);
                !announced && !change.is_nothing()
            });
        }
        write_object(page, cluster, object, &parts, said, symbols);
    }
}

/// Whether a later transition overwrites what a change came to.
fn decided(later: &[&Transition], cluster: &str, object: &str, part: Option<&str>, change: &Change<'_>) -> bool {
    later.iter().any(|t| {
        t.cluster == cluster && t.object == object && t.part.as_deref() == part && t.condition == change.condition
    })
}

fn write_object(page: &mut Page, cluster: &str, object: &str, parts: &Parts<'_>, said: &mut Said, symbols: Symbols) {
    let kind = object.split('/').next().unwrap_or_default();
    let on = if cluster == "hub" { String::new() } else { format!("{cluster} ") };
    let labels = parts.keys().flatten().map(|part| part.chars().count()).chain([on.len() + object.chars().count()]);
    let room = page.columns().saturating_sub(labels.max().unwrap_or_default() + 4);
    let mut all: Vec<(Vec<&str>, Line<'_>)> = Vec::new();
    for (part, changes) in parts {
        for line in lines(kind, changes, room, symbols) {
            match (part, all.iter_mut().find(|(names, known)| !names.is_empty() && *known == line)) {
                (Some(part), Some((names, _))) => names.push(part),
                _ => all.push((part.iter().copied().collect(), line)),
            }
        }
    }
    if all.is_empty() {
        return;
    }
    let mut name = format!("{on}{}", said.object(object));
    // What is said of the object itself and of its parts alike takes one line, where there is room for it.
    if let [(top, line), (parts, same), ..] = &all[..] {
        let both = format!("{name}, also on {}", join(parts));
        let columns = both.chars().count() + 2 + line.text.chars().count();
        if top.is_empty() && line == same && !is_stage(parts) && columns <= page.columns() {
            name = both;
            all.remove(1);
        }
    }
    let alone = all.len() == 1;
    for (number, (parts, Line { text, message, failed: _ })) in all.into_iter().enumerate() {
        let beside = match number {
            // The first line stands beside the name where it is about the object itself, or the only one.
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

fn is_stage(parts: &[&str]) -> bool {
    parts.iter().any(|part| part.starts_with("stage "))
}

/// Names of parts; those of stages have commas of their own.
fn join(parts: &[&str]) -> String {
    parts.join(if parts.iter().any(|part| part.contains(',')) { " and " } else { ", " })
}

/// What is said of one part: first what is well in one line, then what went away or is unknown, then each failure.
fn lines<'a>(kind: &str, changes: &[Change<'a>], room: usize, symbols: Symbols) -> Vec<Line<'a>> {
    let mut changes = changes.to_vec();
    let rank = |change: &Change<'_>| {
        ORDER.iter().position(|known| *known == short_type(kind, change.condition)).unwrap_or(ORDER.len())
    };
    changes.sort_by_key(rank);
    if changes.iter().any(|change| change.condition == DELETION && change.to.is_none()) {
        return vec![Line { text: "gone".to_owned(), failed: false, message: None }];
    }
    let names = |fits: &dyn Fn(&Change<'_>) -> bool| {
        let names = changes.iter().filter(|change| change.condition != DELETION && fits(change));
        names.map(|change| short_type(kind, change.condition)).collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    let say = |lines: &mut Vec<Line<'a>>, text: String| lines.push(Line { text, failed: false, message: None });
    if changes.iter().any(|change| change.condition == DELETION) {
        say(&mut lines, "is being deleted".to_owned());
    }
    let well: Vec<String> = [
        (names(&|c| c.became("True") && !c.was("True") && !c.was_failure()), "True"),
        (names(&|c| c.became("True") && c.was("True")), "True again"),
        (names(&|c| c.is_well_false()), "False"),
    ]
    .into_iter()
    .filter(|(names, _)| !names.is_empty())
    .map(|(names, what)| format!("{} {what}", names.join(", ")))
    .collect();
    if !well.is_empty() {
        say(&mut lines, well.join(", "));
    }
    let gone = names(&|c| c.to.is_none());
    if !gone.is_empty() {
        say(&mut lines, format!("{} gone", gone.join(", ")));
    }
    let unknown = names(&|c| c.became("Unknown"));
    if unknown.len() > 1 {
        say(&mut lines, format!("{} Unknown", unknown.join(", ")));
    }
    for change in changes.iter().filter(|change| change.condition != DELETION) {
        let Some(to) = change.to else { continue };
        let name = short_type(kind, change.condition);
        let from = change.from.filter(|from| from.status != "Unknown").map(|from| format!("{from} "));
        let moved = |to: &str| format!("{name} {}{} {to}", from.as_deref().unwrap_or_default(), symbols.arrow);
        match to.status.as_str() {
            "True" if change.was_failure() => say(&mut lines, moved("True")),
            "Unknown" if unknown.len() == 1 => say(&mut lines, moved(&to.to_string())),
            "False" if !change.is_well_false() => {
                let message = Some(to.message.as_str()).filter(|message| !message.is_empty());
                lines.push(Line { text: moved(&to.to_string()), failed: true, message });
            }
            _ => {}
        }
    }
    joined(lines, room)
}

/// Lines that need no message share one, as far as there is room; each failure stands on its own.
fn joined(lines: Vec<Line<'_>>, room: usize) -> Vec<Line<'_>> {
    let mut all: Vec<Line<'_>> = Vec::new();
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

impl Change<'_> {
    fn was(&self, status: &str) -> bool {
        self.from.is_some_and(|from| from.status == status)
    }

    fn became(&self, status: &str) -> bool {
        self.to.is_some_and(|to| to.status == status)
    }

    fn was_failure(&self) -> bool {
        self.was("False") && !self.speaks_of_trouble() && !self.from.is_some_and(is_pending)
    }

    /// A type that is True when something is wrong, as a namespace's `NamespaceDeletionContentFailure`.
    fn speaks_of_trouble(&self) -> bool {
        self.condition.ends_with("Failure") || self.condition.ends_with("Remaining")
    }

    /// False, and that is well: no trouble is left, or nothing progresses any more because it has succeeded.
    fn is_well_false(&self) -> bool {
        let succeeded = self.to.is_some_and(|to| to.reason.ends_with("Succeeded"));
        self.became("False") && (self.speaks_of_trouble() || succeeded)
    }

    /// It came and went, or it says from the beginning that there is no trouble.
    fn is_nothing(&self) -> bool {
        let no_trouble = self.from.is_none() && self.became("False") && self.speaks_of_trouble();
        no_trouble || (self.from.is_none() && self.to.is_none())
    }

    /// It only says that it will say something.
    fn is_pending(&self) -> bool {
        self.from.is_none_or(is_pending) && self.to.is_some_and(is_pending)
    }
}

/// Such as `Unknown SchedulePending` and `False ApplyInProgress`: something else follows by itself.
fn is_pending(state: &State) -> bool {
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

    fn state(text: &str) -> Option<State> {
        let (status, rest) = text.split_once(' ')?;
        let (reason, message) = rest.split_once(": ").unwrap_or((rest, ""));
        Some(State {
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            observed_generation: 1,
        })
    }

    fn moved(object: &str, part: &str, condition: &str, from: &str, to: &str) -> Transition {
        Transition {
            cluster: "hub".to_owned(),
            object: object.to_owned(),
            part: Some(part.to_owned()).filter(|part| !part.is_empty()),
            condition: condition.to_owned(),
            from: state(from),
            to: state(to),
        }
    }

    fn written(transitions: &[Transition], later: &[Transition]) -> String {
        let mut page = Page::new(100);
        let transitions: Vec<_> = transitions.iter().collect();
        let later: Vec<_> = later.iter().collect();
        write(&mut page, &transitions, &later, &mut Said::default(), Symbols::UNICODE);
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn what_became_true_shares_a_line_in_the_order_of_a_rollout() {
        let mut all = Vec::new();
        for member in ["member-1", "member-2"] {
            all.push(moved(PLACEMENT, member, "Applied", "", "False ApplyInProgress: Resources are being applied"));
            all.push(moved(PLACEMENT, member, "Scheduled", "Unknown SchedulePending", "True Scheduled"));
            all.push(moved(PLACEMENT, member, "Applied", "False ApplyInProgress", "True AllWorkHaveBeenApplied"));
        }
        all.push(moved(PLACEMENT, "", "ClusterResourcePlacementScheduled", "", "Unknown SchedulePending"));
        all.push(moved(PLACEMENT, "", "ClusterResourcePlacementScheduled", "Unknown SchedulePending", "True Ok"));
        insta::assert_snapshot!(written(&all, &[]), @r"
        ClusterResourcePlacement/web: Scheduled True
          member-1, member-2: Scheduled, Applied True
        ");
    }

    #[test]
    fn a_failure_has_its_message_once_and_at_most_three_lines() {
        let long = format!("False SyncWorkFailed: {}", "a message that goes on ".repeat(20));
        let all = [
            moved(PLACEMENT, "", "ClusterResourcePlacementWorkSynchronized", "True WorkSynchronized", &long),
            moved(PLACEMENT, "member-1", "WorkSynchronized", "", &long),
            moved(PLACEMENT, "member-2", "WorkSynchronized", "", &long),
        ];
        insta::assert_snapshot!(written(&all, &[]));
    }

    #[test]
    fn what_is_only_announced_is_left_to_what_decides_it() {
        let pending = moved(PLACEMENT, "", "ClusterResourcePlacementScheduled", "", "Unknown SchedulePending");
        let decided = moved(PLACEMENT, "", "ClusterResourcePlacementScheduled", "Unknown SchedulePending", "True Ok");
        assert_eq!(written(std::slice::from_ref(&pending), &[decided]), "");
        let alone = written(&[pending], &[]);
        assert_eq!(alone, "ClusterResourcePlacement/web: Scheduled → Unknown SchedulePending\n");
    }

    #[test]
    fn what_went_away_came_back_or_recovered() {
        let all = [
            moved(PLACEMENT, "", "ClusterResourcePlacementApplied", "True ApplySucceeded", ""),
            moved(PLACEMENT, "", "ClusterResourcePlacementAvailable", "True ResourceAvailable", ""),
            moved(PLACEMENT, "", "ClusterResourcePlacementApplied", "", "True ApplySucceeded"),
            moved(PLACEMENT, "m", "WorkSynchronized", "False SyncWorkFailed: no", "Unknown X"),
            moved(PLACEMENT, "m", "WorkSynchronized", "Unknown X", "True AllWorkSynced"),
            moved("ClusterStagedUpdateRun/r", "stage one, m", "Succeeded", "", "False ClusterUpdatingFailed: no"),
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
            moved(object, "", DELETION, "", "True Terminating"),
            moved(object, "", "NamespaceContentRemaining", "", "True SomeResourcesRemain"),
            moved(object, "", "NamespaceDeletionContentFailure", "", "False ContentDeleted: All is well"),
        ];
        insta::assert_snapshot!(written(&all, &[]), @r"
        Namespace/fleet-member-m: is being deleted; NamespaceContentRemaining True
        ");
        assert_eq!(
            written(&[moved(object, "", DELETION, "True Terminating", "")], &[]),
            "Namespace/fleet-member-m: gone\n"
        );
    }

    #[test]
    fn success_ends_progress() {
        let run = "ClusterStagedUpdateRun/r";
        let all = [
            moved(
                run,
                "",
                "Progressing",
                "True UpdateRunProgressing",
                "False UpdateRunSucceeded: All stages are completed",
            ),
            moved(run, "", "Succeeded", "", "True UpdateRunSucceeded"),
        ];
        assert_eq!(written(&all, &[]), "ClusterStagedUpdateRun/r: Succeeded True, Progressing False\n");
    }
}
