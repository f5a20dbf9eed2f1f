//! A scenario's story: each step with what was done in it, how conditions moved, and what was diagnosed.

use jiff::Timestamp;
use owo_colors::OwoColorize;
use steps::record::{Entry, Outcome, ScenarioRecord, Transition, What};

use super::scenario::{seconds, sign};
use super::transitions;
use crate::output::style::{BOLD, ERROR, HINT, PLAIN, SUCCESS, Symbols, WARNING};
use crate::output::{Page, Said, brief, clean, shorten};

/// Columns of a step's sign, with the space after it.
const SIGN: usize = 2;
/// What belongs to a step stands this far to the right of it.
const BELOW: usize = 4;
/// What an action did may be seen before the call that did it has returned, by no more than these seconds.
const AHEAD: f64 = 2.0;
/// Before what was done besides faults and remedies.
const DONE: &str = "done: ";
/// Waits that are shorter, in seconds, aren't mentioned.
const AT_ONCE: f64 = 0.05;
/// A step in which nothing was waited for has its time mentioned from this many seconds on.
const LONG: f64 = 1.0;

/// Writes the story.
pub(super) fn write(page: &mut Page, record: &ScenarioRecord, symbols: Symbols) {
    let is_step = |entry: &Entry| matches!(entry.what, What::Step { .. });
    let failed = |entries: &[Entry]| entries.iter().any(|entry| matches!(entry.what, What::Failed { .. }));
    let mut said = Said::default();
    let mut rest = record.entries.as_slice();
    while let Some(first) = rest.first() {
        // What follows a step up to the next one belongs to it; the first things may belong to none.
        let length = 1 + rest[1..].iter().position(is_step).unwrap_or(rest.len() - 1);
        let (group, later) = rest.split_at(length);
        rest = later;
        // Where no step says that it failed, the scenario ended in its last one.
        let outcome = match record.outcome {
            _ if failed(group) => Outcome::Failed,
            outcome if later.is_empty() && !failed(&record.entries) => outcome,
            _ => Outcome::Passed,
        };
        let mut below = group;
        if let What::Step { keyword, text } = &first.what {
            let (sign, style) = sign(outcome, symbols);
            let end = later.first().or(group.last()).map_or(first.at, |entry| entry.at);
            let took = took(group, end).map(|time| format!("  ({})", seconds(time))).unwrap_or_default();
            page.item(&format!("{sign} "), style, SIGN + keyword.len() + 1, &format!("{keyword} {text}{took}"));
            below = &group[1..];
        }
        page.indented(BELOW, |page| write_group(page, below, later, outcome, &mut said, symbols));
    }
    match &record.reason {
        Some(reason) if record.outcome == Outcome::NotRun => page.item("not run: ", WARNING, 2, reason),
        // Otherwise the step's own error has said it.
        Some(reason) if !failed(&record.entries) => page.item("error: ", ERROR, 2, reason),
        _ => {}
    }
}

/// The seconds that a step waited, or else that it took; none where that is no time.
fn took(group: &[Entry], end: Timestamp) -> Option<f64> {
    let waits = group.iter().filter_map(|entry| match entry.what {
        What::Held { seconds, .. } => Some(seconds),
        _ => None,
    });
    let waits: Vec<f64> = waits.collect();
    if waits.is_empty() {
        let took = end.duration_since(group.first()?.at).as_secs_f64();
        return Some(took).filter(|took| *took >= LONG);
    }
    Some(waits.iter().sum()).filter(|waited| *waited >= AT_ONCE)
}

/// Transitions gather until something else happens; a wait that held is no such thing.
fn write_group(page: &mut Page, group: &[Entry], later: &[Entry], outcome: Outcome, said: &mut Said, symbols: Symbols) {
    let mut moved: Vec<(Timestamp, &Transition)> = Vec::new();
    for (number, entry) in group.iter().enumerate() {
        match &entry.what {
            What::Transition(transition) => moved.push((entry.at, transition)),
            What::Held { .. } | What::Step { .. } => {}
            // What else was done leads to what is seen in the step, whichever was recorded first.
            what @ What::Did { .. } => write_entry(page, what, outcome, said),
            what => {
                let effects = moved.extract_if(.., |(at, transition)| is_effect(*at, transition, entry)).collect();
                let later = transitions_in(&group[number..], later);
                let before = std::mem::replace(&mut moved, effects);
                transitions::write(page, &of(&before), &later, said, symbols);
                write_entry(page, what, outcome, said);
            }
        }
    }
    transitions::write(page, &of(&moved), &transitions_in(&[], later), said, symbols);
}

fn of<'a>(moved: &[(Timestamp, &'a Transition)]) -> Vec<&'a Transition> {
    moved.iter().map(|(_, transition)| *transition).collect()
}

/// Whether a transition is what an action, recorded after it, did to an object that it names. Cause stands before effect.
fn is_effect(at: Timestamp, transition: &Transition, action: &Entry) -> bool {
    let (What::Induced { action: said } | What::Remedied { action: said }) = &action.what else { return false };
    let named = said.split_whitespace().any(|word| word.trim_matches([',', ';', ':', '.']) == transition.object);
    named && action.at.duration_since(at).as_secs_f64() <= AHEAD
}

fn transitions_in<'a>(group: &'a [Entry], later: &'a [Entry]) -> Vec<&'a Transition> {
    group.iter().chain(later).filter_map(Entry::transition).collect()
}

fn write_entry(page: &mut Page, what: &What, outcome: Outcome, said: &mut Said) {
    match what {
        What::Step { .. } | What::Held { .. } | What::Transition(_) => {}
        What::Induced { action } => page.item("induced: ", WARNING, 2, action),
        What::Remedied { action } => page.item("remedied: ", SUCCESS, 2, action),
        What::Did { action } => {
            // One line: the step says the same in other words.
            let action = shorten(action, page.columns().saturating_sub(DONE.len()));
            page.aside(1, DONE, 2, &action);
            said.sentence(&action);
        }
        What::FastForwarded { action } => page.item("FAST-FORWARD: ", WARNING, 2, action),
        What::Upgraded { phase } => page.item("UPGRADE: ", WARNING, 2, phase.told()),
        What::Lost { loss } => page.item("LOST: ", ERROR, 2, loss),
        What::Failed { error } => write_error(page, error),
        What::Collected { path } => {
            let path = clean(&path.to_string_lossy());
            page.styled(&format!("{} fleetdrill diagnose --from {path}", "bundle:".style(HINT)));
        }
        // A step that passed expected nothing to be found, and says so.
        What::Diagnosed { findings } if findings.is_empty() && outcome == Outcome::Passed => {}
        What::Diagnosed { findings } if findings.is_empty() => page.item("diagnosis: ", BOLD, 2, "nothing found"),
        What::Diagnosed { findings } => findings.iter().for_each(|finding| brief::write(page, finding, said)),
    }
    if let What::Induced { action } | What::Remedied { action } = what {
        said.sentence(action);
    }
}

/// An error with the state that was seen last: each line keeps its indentation, and a condition's state stays whole.
fn write_error(page: &mut Page, error: &str) {
    let mut lines = error.trim_end().lines();
    page.item("error: ", ERROR, 2, lines.next().unwrap_or_default());
    for line in lines {
        let text = line.trim_start();
        let indent = (line.len() - text.len()).max(2);
        page.indented(indent, |page| match Condition::of(text) {
            Some(Condition { place, state, message }) if text.chars().count() > page.columns() => {
                let fits = place.chars().count() + state.chars().count() <= page.columns();
                let head = if fits { [format!("{place}{state}"), String::new()] } else { [place.into(), state.into()] };
                let rest = [head[1].as_str(), message];
                page.unwrapped(&head[0]);
                page.indented(4, |page| rest.iter().filter(|text| !text.is_empty()).for_each(|text| page.text(text)));
            }
            _ => page.item("", PLAIN, 4, text),
        });
    }
}

/// A line about a condition: where it is, what it is, what the controller said.
struct Condition<'a> {
    place: &'a str,
    state: &'a str,
    message: &'a str,
}

impl<'a> Condition<'a> {
    /// Of `east: Applied=False ApplyFailed: message`.
    fn of(line: &'a str) -> Option<Self> {
        let equals = ["=True ", "=False ", "=Unknown "].into_iter().find_map(|status| line.find(status))?;
        let start = line[..equals].rfind(' ').map_or(0, |space| space + 1);
        let end = equals + line[equals..].find(": ").map_or(line.len() - equals, |colon| colon + 1);
        Some(Self { place: &line[..start], state: &line[start..end], message: line[end..].trim_start() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::Look;
    use crate::reporter::{fixture, scenario};

    fn plain(record: &ScenarioRecord, look: Look) -> String {
        anstream::adapter::strip_str(&scenario::block(record, look)).to_string()
    }

    #[test]
    fn real_failure() {
        insta::assert_snapshot!(plain(&fixture::real("member_namespace_failed"), Look::default()));
    }

    #[test]
    fn real_failure_on_eighty_columns() {
        let look = Look { story: 80, ..Look::default() };
        insta::assert_snapshot!(plain(&fixture::real("member_namespace_failed"), look));
    }

    #[test]
    fn real_pass() {
        insta::assert_snapshot!(plain(&fixture::real("member_leaves_and_joins"), Look::default()));
    }

    #[test]
    fn real_preemption() {
        insta::assert_snapshot!(plain(&fixture::real("preemption"), Look::default()));
    }

    #[test]
    fn a_wait_that_failed_keeps_its_conditions_whole() {
        let mut page = Page::new(60);
        let error = "second reports: not so after 60 s\n  last seen: WorkSynchronized is True\n  \
            ClusterResourcePlacement/second (generation 1)\n    \
            east: WorkSynchronized=False SyncWorkFailed: Failed to synchronize the work to the latest: it is forbidden \
            (observedGeneration 1)\n    Applied=True ApplySucceeded (observedGeneration 1)";
        write_error(&mut page, error);
        insta::assert_snapshot!(anstream::adapter::strip_str(&page.finish()));
    }
}
