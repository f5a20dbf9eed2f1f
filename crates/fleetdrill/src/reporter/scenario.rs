//! One scenario as text: a line when all went well and nobody asked, the whole story otherwise.

use jiff::Timestamp;
use owo_colors::{OwoColorize, Style};
use steps::record::{Entry, Outcome, ScenarioRecord, State, Transition, What};

use crate::output::style::{BOLD, ERROR, HINT, Look, PLAIN, SUCCESS, Symbols, WARNING};
use crate::output::{Page, clean, findings};

/// Columns of the time before each thing that happened, with the space after it.
const TIME: usize = 9;
/// Findings stand less far to the right than other things: they are wide.
const FINDING: usize = 4;

/// The failure codes among a scenario's tags.
pub(super) fn codes(record: &ScenarioRecord) -> impl Iterator<Item = &str> {
    record.tags.iter().map(String::as_str).filter(|tag| tag.starts_with("KF-") || tag.starts_with("AR-"))
}

/// Why a scenario didn't pass: as recorded, or else what its failed step said.
pub(super) fn reason(record: &ScenarioRecord) -> &str {
    let said = record.entries.iter().find_map(|entry| match &entry.what {
        What::Failed { error } => Some(error.as_str()),
        _ => None,
    });
    record.reason.as_deref().or(said).unwrap_or("no reason was recorded")
}

/// The scenario on one line: outcome, seconds, name, codes.
pub(super) fn line(record: &ScenarioRecord, look: Look) -> String {
    let (sign, style) = sign(record.outcome, look.symbols);
    let time = if record.outcome == Outcome::NotRun { String::new() } else { seconds(record.seconds) };
    let mut line = format!("{} {time:>8}  {}", sign.style(style), clean(&record.scenario));
    let codes: Vec<_> = codes(record).collect();
    if !codes.is_empty() {
        line = format!("{line} ({})", codes.join(", "));
    }
    line.push('\n');
    line
}

/// The whole story with a heading.
pub(super) fn block(record: &ScenarioRecord, look: Look) -> String {
    let mut page = Page::new(look.width);
    let (sign, style) = sign(record.outcome, look.symbols);
    page.item(&format!("{sign} "), style, 2, &record.scenario);
    let mut facts = vec![record.feature.clone()];
    facts.extend(codes(record).map(str::to_owned));
    facts.push(match record.outcome {
        Outcome::Passed => format!("passed in {}", seconds(record.seconds)),
        Outcome::Failed => format!("failed after {}", seconds(record.seconds)),
        Outcome::Interrupted => format!("interrupted after {}", seconds(record.seconds)),
        Outcome::NotRun => "not run".to_owned(),
    });
    page.indented(2, |page| {
        page.text(&facts.join(", "));
        page.text(&format!("{}:{}", record.file, record.line));
    });
    page.blank();
    page.indented(2, |page| write_story(page, record, look.symbols));
    page.finish()
}

/// The whole story without colours, for files.
pub(super) fn story(record: &ScenarioRecord, look: Look) -> String {
    let mut page = Page::new(look.width);
    write_story(&mut page, record, look.symbols);
    anstream::adapter::strip_str(&page.finish()).to_string()
}

fn write_story(page: &mut Page, record: &ScenarioRecord, symbols: Symbols) {
    let is_step = |entry: &Entry| matches!(entry.what, What::Step { .. });
    let failed = |entries: &[Entry]| entries.iter().any(|entry| matches!(entry.what, What::Failed { .. }));
    let mut rest = record.entries.as_slice();
    while let Some(first) = rest.first() {
        // What follows a step up to the next one belongs to it; the first things may belong to none.
        let length = 1 + rest[1..].iter().position(is_step).unwrap_or(rest.len() - 1);
        let (group, later) = rest.split_at(length);
        rest = later;
        let mut below = group;
        if let What::Step { keyword, text } = &first.what {
            // Where no step says that it failed, the scenario ended in its last one.
            let outcome = match record.outcome {
                _ if failed(group) => Outcome::Failed,
                outcome if later.is_empty() && !failed(&record.entries) => outcome,
                _ => Outcome::Passed,
            };
            let (sign, style) = sign(outcome, symbols);
            page.item(&format!("{sign} "), style, 2 + keyword.len() + 1, &format!("{keyword} {text}"));
            below = &group[1..];
        }
        page.indented(4, |page| {
            for entry in below {
                write_entry(page, entry, record.started_at, symbols);
            }
        });
    }
    match &record.reason {
        Some(reason) if record.outcome == Outcome::NotRun => page.item("not run: ", WARNING, 2, reason),
        // Otherwise the step's own error has said it.
        Some(reason) if !failed(&record.entries) => page.item("error: ", ERROR, 2, reason),
        _ => {}
    }
}

fn write_entry(page: &mut Page, entry: &Entry, start: Timestamp, symbols: Symbols) {
    let time = format!("{:>1$} ", since(start, entry.at), TIME - 1);
    let mut say = |label: &str, style: Style, text: &str| {
        page.item(&format!("{time}{} ", label.style(style)), PLAIN, TIME, text);
    };
    match &entry.what {
        // A step is its group's heading.
        What::Step { .. } => {}
        What::Induced { action } => say("induced:", WARNING, action),
        What::Remedied { action } => say("remedied:", SUCCESS, action),
        What::Did { action } => say("done:", BOLD, action),
        What::FastForwarded { action } => say("FAST-FORWARD:", WARNING, action),
        What::Held { expectation, seconds: waited } => {
            let waited = if *waited < 0.05 { "at once".to_owned() } else { format!("waited {}", seconds(*waited)) };
            say("holds:", SUCCESS, &format!("{expectation} ({waited})"));
        }
        What::Failed { error } => say("error:", ERROR, error),
        What::Diagnosed { findings } if findings.is_empty() => say("diagnosis:", BOLD, "nothing found"),
        What::Diagnosed { findings } => {
            say("diagnosis:", BOLD, "");
            page.indented(FINDING, |page| {
                for finding in findings {
                    findings::write_brief(page, finding);
                }
            });
        }
        What::Transition(transition) => {
            let (place, change) = moved(transition, symbols);
            let line = format!("{place}: {change}");
            // A change that doesn't fit beside its place gets lines of its own, so that it can be read at a glance.
            let fits = page.columns() >= TIME + line.chars().count();
            page.item(&time, PLAIN, TIME, if fits { &line } else { &place });
            page.indented(TIME + 2, |page| {
                if !fits {
                    page.item("", PLAIN, 2, &change);
                }
                if let Some(to) = transition.to.as_ref().filter(|to| to.status != "True" && !to.message.is_empty()) {
                    page.indented(if fits { 0 } else { 2 }, |page| page.text(&to.message));
                }
            });
        }
    }
}

/// `hub ClusterResourcePlacement/web on member-4` and `WorkSynchronized True AllWorkSynced → False SyncWorkFailed`.
fn moved(Transition { cluster, object, part, condition, from, to }: &Transition, symbols: Symbols) -> (String, String) {
    let place = match part {
        Some(part) if part.starts_with("stage ") => format!(" in {part}"),
        Some(part) => format!(" on {part}"),
        None => String::new(),
    };
    let arrow = symbols.arrow;
    let change = match (from, to) {
        (Some(from), Some(to)) if from.to_string() == to.to_string() => format!("{to}{}", same_but(from, to, arrow)),
        (Some(from), Some(to)) => format!("{from} {arrow} {to}"),
        (None, Some(to)) => format!("{arrow} {to}"),
        (Some(from), None) => format!("{from} {arrow} gone"),
        (None, None) => "gone".to_owned(),
    };
    (format!("{cluster} {object}{place}"), format!("{condition} {change}"))
}

/// What changed where status and reason stayed.
fn same_but(from: &State, to: &State, arrow: &str) -> String {
    if from.observed_generation == to.observed_generation {
        ", with another message".to_owned()
    } else {
        format!(", observedGeneration {} {arrow} {}", from.observed_generation, to.observed_generation)
    }
}

/// The sign of an outcome with its style.
pub(super) fn sign(outcome: Outcome, symbols: Symbols) -> (&'static str, Style) {
    match outcome {
        Outcome::Passed => (symbols.passed, SUCCESS),
        Outcome::Failed => (symbols.failed, ERROR),
        Outcome::Interrupted => (symbols.failed, WARNING),
        Outcome::NotRun => (symbols.skipped, HINT),
    }
}

/// Seconds as all reports show them.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{seconds:.1}s")
}

fn since(start: Timestamp, at: Timestamp) -> String {
    format!("+{}", seconds(at.duration_since(start).as_secs_f64().max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::WIDTH;
    use crate::reporter::fixture;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn whole_story_of_a_passed_scenario() {
        insta::assert_snapshot!(plain(&block(&fixture::passed(), Look::default())));
    }

    #[test]
    fn whole_story_of_a_failed_scenario() {
        insta::assert_snapshot!(plain(&block(&fixture::failed(), Look::default())));
    }

    #[test]
    fn whole_story_in_ascii() {
        let text = plain(&block(&fixture::failed(), Look { width: WIDTH, symbols: Symbols::ASCII }));
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_line_each() {
        let lines: String = fixture::run().scenarios.iter().map(|record| line(record, Look::default())).collect();
        insta::assert_snapshot!(plain(&lines), @r"
        ✓    42.5s  The member's namespace on the hub is being deleted (KF-WS-001)
        ✗    61.1s  An approval carries a stale observedGeneration (KF-UR-007)
        ✗     3.2s  Two runs update the same cluster at once (KF-UR-004)
        –           A Deployment's image can't be pulled (KF-AV-001)
        –           A quota leaves no room (KF-AV-001)
        ");
    }

    #[test]
    fn a_limit_that_ran_out_marks_the_last_step() {
        let mut record = fixture::failed();
        record.entries.truncate(9);
        record.reason = Some("the scenario's limit of 120 s ran out".to_owned());
        insta::assert_snapshot!(plain(&block(&record, Look::default())));
    }

    #[test]
    fn only_commands_are_wider_than_the_page() {
        for record in fixture::run().scenarios {
            for line in plain(&block(&record, Look::default())).lines() {
                assert!(line.chars().count() <= WIDTH || line.contains("kubectl"), "{line}");
            }
        }
    }
}
