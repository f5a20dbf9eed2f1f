//! Summary of a run on the terminal: counts, scenarios that were not run and why, notes about the run, and failures.

use std::collections::BTreeSet;
use std::fmt;

use owo_colors::OwoColorize;
use record::{Outcome, RecordedEvent, RunRecord, ScenarioRecord, ShownStatement, ShownStatementState};
use schemars::JsonSchema;
use serde::Serialize;

use super::false_alarms;
use super::file::ReportFile;
use super::scenario::{has_hollow_members, headline, pods_were_played, reason};
use crate::text::TextPage;
use crate::text::style::{BOLD, HINT, OutputLayout, PLAIN, WARNING, seconds, sign};

/// Maximum number of names of scenarios that weren't run for one reason; the others are only counted.
const MOST_NAMES: usize = 8;

/// Maximum number of lines of a failed scenario's reason.
const REASON: usize = 4;

/// Number of scenarios per outcome.
///
/// The displayed text is the closing line: `2 passed, 1 failed, 3 skipped`, or
/// `2 passed, 0 failed, 4 interrupted, 3 skipped` if scenarios were interrupted, as in the other reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OutcomeCounts {
    /// Number of scenarios that passed.
    pub passed: usize,
    /// Number of scenarios that failed.
    pub failed: usize,
    /// Number of scenarios that were interrupted.
    pub interrupted: usize,
    /// Number of scenarios that were not run.
    pub not_run: usize,
}

impl OutcomeCounts {
    /// Counts the scenarios of a run.
    #[must_use]
    pub fn of(run: &RunRecord) -> Self {
        let mut counts = Self::default();
        for record in &run.scenarios {
            *match record.outcome {
                Outcome::Passed => &mut counts.passed,
                Outcome::Failed => &mut counts.failed,
                Outcome::Interrupted => &mut counts.interrupted,
                Outcome::NotRun => &mut counts.not_run,
            } += 1;
        }
        counts
    }
}

impl fmt::Display for OutcomeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, ", self.passed, self.failed)?;
        if self.interrupted > 0 {
            write!(f, "{} interrupted, ", self.interrupted)?;
        }
        write!(f, "{} skipped", self.not_run)
    }
}

/// Returns the summary. Failures come last, where the end of a long log still shows them; the last line is [`OutcomeCounts`],
/// with the number of false alarms if there are any.
pub(super) fn text(run: &RunRecord, reports: &[&ReportFile], look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    let counts = OutcomeCounts::of(run);
    page.styled(&"summary".style(BOLD).to_string());
    page.indented(2, |page| {
        write_counts(page, run, counts);
        write_not_run(page, run);
        write_notes(page, run);
        write_repeated_shards(page, run);
        write_worked_around(page, run);
        write_statements(page, run);
        false_alarms::write_count(page, run);
        let versions: Vec<_> = run.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        page.item("versions: ", BOLD, 2, &versions.join(", "));
        let seed = run.seed.map(|seed| format!(", --seed {seed}")).unwrap_or_default();
        page.item(
            "run: ",
            BOLD,
            2,
            &format!("{} on provider {}, fleetdrill {}{seed}", run.id, run.provider, run.fleetdrill),
        );
        for report in reports {
            let path = if report.is_stdout() { "standard output".into() } else { report.path.display().to_string() };
            page.styled(&format!("{} {path}", format!("{}:", report.format).style(BOLD)));
        }
        write_failed(page, run, look);
        false_alarms::write_all(page, run, look);
    });
    page.blank();
    let closing = match run.false_alarms().len() {
        0 => counts.to_string(),
        alarms => format!("{counts}, {}", false_alarms::counted(alarms)),
    };
    page.styled(&closing);
    page.finish()
}

fn write_counts(page: &mut TextPage, run: &RunRecord, counts: OutcomeCounts) {
    let said: Vec<_> = [
        (counts.passed, "passed"),
        (counts.failed, "failed"),
        (counts.interrupted, "interrupted"),
        (counts.not_run, "not run"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let said = if said.is_empty() { "no scenario".to_owned() } else { said.join(", ") };
    let fleet = if run.fleet_seconds > 0.0 {
        format!(", the fleet was ready after {}", seconds(run.fleet_seconds))
    } else {
        String::new()
    };
    page.text(&format!("{said} in {}{fleet}", seconds(run.seconds)));
}

fn write_failed(page: &mut TextPage, run: &RunRecord, look: OutputLayout) {
    for record in &run.scenarios {
        if record.outcome.is_failure() {
            let (sign, style) = sign(record.outcome, look.symbols);
            page.item(&format!("{sign} "), style, 2, &format!("{} ({}:{})", record.scenario, record.file, record.line));
            page.indented(4, |page| page.at_most(REASON, "", 0, &headline(record)));
        }
    }
}

/// Writes the scenarios that were not run, grouped by reason, in the order in which the reasons first appear.
fn write_not_run(page: &mut TextPage, run: &RunRecord) {
    let mut groups: Vec<(&str, Vec<&ScenarioRecord>)> = Vec::new();
    for record in run.scenarios.iter().filter(|record| record.outcome == Outcome::NotRun) {
        let reason = reason(record);
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, group)) => group.push(record),
            None => groups.push((reason, vec![record])),
        }
    }
    for (reason, group) in groups {
        page.item("not run: ", HINT, 2, &format!("{}: {reason}", scenarios(group.len())));
        page.indented(4, |page| {
            for record in group.iter().take(MOST_NAMES) {
                page.item("", PLAIN, 2, &format!("{} ({}:{})", record.scenario, record.file, record.line));
            }
            let more = group.len().saturating_sub(MOST_NAMES);
            if more > 0 {
                page.text(&format!("and {more} more"));
            }
        });
    }
}

/// Writes notes about what differs from a real fleet: fast-forward, simulated pods and hollow members.
fn write_notes(page: &mut TextPage, run: &RunRecord) {
    let forwarded = run
        .scenarios
        .iter()
        .filter(|record| record.entries.iter().any(|entry| matches!(entry.what, RecordedEvent::FastForwarded(_))));
    let forwarded = forwarded.count();
    if forwarded > 0 {
        page.item(
            "note: ",
            WARNING,
            2,
            &format!(
                "{} used fast-forward: a start time was moved into the past, so that a threshold passed at once; \
                 --real-time waits it out",
                scenarios(forwarded)
            ),
        );
    }
    let played = run.scenarios.iter().filter(|record| pods_were_played(run, record)).count();
    if played > 0 {
        page.item(
            "note: ",
            WARNING,
            2,
            &format!("in {} a simulated kubelet (KWOK) played the pods", scenarios(played)),
        );
    }
    let hollow = run.scenarios.iter().filter(|record| has_hollow_members(record)).count();
    if hollow > 0 {
        let text =
            format!("in {} most members were hollow: no clusters, one process played their agents", scenarios(hollow));
        page.item("note: ", WARNING, 2, &text);
    }
}

/// Writes which shards a Job repeated, and why.
fn write_repeated_shards(page: &mut TextPage, run: &RunRecord) {
    for shard in &run.repeated_shards {
        page.item("repeated: ", WARNING, 2, &shard.to_string());
    }
}

/// Writes how often races of controllers were worked around, and which.
fn write_worked_around(page: &mut TextPage, run: &RunRecord) {
    if let Some(text) = worked_around(run) {
        page.item("worked around: ", WARNING, 2, &text);
    }
}

/// Returns how often races of controllers were worked around, and which; `None` if none was.
pub(super) fn worked_around(run: &RunRecord) -> Option<String> {
    let races = run.worked_around();
    let all: usize = races.values().sum();
    let each: Vec<String> = races.iter().map(|(race, count)| format!("{} ({count})", race.told())).collect();
    let named = if all == 1 { "1 race of a controller" } else { &format!("{all} races of controllers") };
    (all > 0).then(|| format!("{named}: {}", each.join(", ")))
}

/// Writes how many of the guides' statements the run has shown. A statement counts once, however many scenarios show
/// it.
fn write_statements(page: &mut TextPage, run: &RunRecord) {
    let shown = run.scenarios.iter().flat_map(|record| &record.statements);
    let differ = shown.clone().filter(|s| s.state != ShownStatementState::Holds);
    let (all, differ) = (count_statements(shown), count_statements(differ));
    if all > 0 {
        let text = format!("statements shown: {all}, of which differ from the guide: {differ} (`fleetdrill guides`)");
        page.item("guides: ", BOLD, 2, &text);
    }
}

fn count_statements<'a>(shown: impl Iterator<Item = &'a ShownStatement>) -> usize {
    shown.map(|s| &s.statement).collect::<BTreeSet<_>>().len()
}

fn scenarios(count: usize) -> String {
    if count == 1 { "1 scenario".to_owned() } else { format!("{count} scenarios") }
}

#[cfg(test)]
mod tests {
    use record::{PodEnd, RepeatedShard};

    use super::*;
    use crate::run::{ReportFormat, fixture};

    fn plain(run: &RunRecord, reports: &[&ReportFile]) -> String {
        anstream::adapter::strip_str(&text(run, reports, OutputLayout::default())).to_string()
    }

    #[test]
    fn everything_there_can_be() {
        let mut run = fixture::run();
        run.scenarios[0].tags.push("pods".to_owned());
        let files =
            [ReportFile::new(ReportFormat::Junit, "target/junit.xml"), ReportFile::new(ReportFormat::Json, "run.json")];
        insta::assert_snapshot!(plain(&run, &[&files[0], &files[1]]));
    }

    #[test]
    fn all_is_well() {
        let mut run = fixture::run();
        run.scenarios.truncate(1);
        let text = plain(&run, &[]);
        assert_eq!(text.lines().last(), Some("1 passed, 0 failed, 0 skipped"));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn false_alarms_come_last_and_are_counted() {
        let text = plain(&fixture::run_with_false_alarms(), &[]);
        assert_eq!(text.lines().last(), Some("1 passed, 0 failed, 0 skipped, 2 false alarms"));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn repeated_shards_are_named_with_the_reason() {
        let mut run = fixture::run();
        let ends = [
            PodEnd::Evicted { message: "The node was low on resource: memory.".to_owned() },
            PodEnd::Disrupted { reason: "EvictionByEvictionAPI".to_owned() },
            PodEnd::OutOfMemory,
            PodEnd::Killed { signal: 9 },
            PodEnd::Exited { code: 3 },
            PodEnd::Deleted,
        ];
        let repeated =
            (1..).zip(ends).map(|(shard, end)| RepeatedShard { shard, pod: format!("drill-{shard}-x"), end });
        run.repeated_shards = repeated.collect();
        let text = plain(&run, &[]);
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("repeated: ")).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn interrupted_is_called_interrupted() {
        assert_eq!(OutcomeCounts::of(&fixture::run()).to_string(), "1 passed, 1 failed, 1 interrupted, 2 skipped");
    }
}
