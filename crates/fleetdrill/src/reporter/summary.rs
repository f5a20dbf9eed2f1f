//! The end of a run on the terminal: counts, what was not run and why, what to know about the run, and what failed.

use std::collections::BTreeSet;
use std::fmt;

use owo_colors::OwoColorize;
use steps::record::{Outcome, RunRecord, ScenarioRecord, Shown, ShownState, What};

use super::file::ReportFile;
use super::scenario::{headline, reason, seconds, sign};
use crate::output::Page;
use crate::output::style::{BOLD, HINT, Look, PLAIN, WARNING};

/// Of scenarios that weren't run for one reason, more than this are only counted.
const MOST_NAMES: usize = 8;

/// Lines that a failed scenario's reason may take.
const REASON: usize = 4;

/// How many scenarios ended in which way.
///
/// Displayed, it is the closing line: `2 passed, 1 failed, 3 skipped`, and `2 passed, 0 failed, 4 interrupted, 3 skipped` where
/// scenarios were interrupted, as in the other reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Interrupted.
    pub interrupted: usize,
    /// Not run.
    pub not_run: usize,
}

impl Counts {
    /// The counts of a run.
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

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, ", self.passed, self.failed)?;
        if self.interrupted > 0 {
            write!(f, "{} interrupted, ", self.interrupted)?;
        }
        write!(f, "{} skipped", self.not_run)
    }
}

/// The summary. What failed comes last, where the end of a long log still shows it; its last line is [`Counts`] alone.
pub(super) fn text(run: &RunRecord, reports: &[&ReportFile], look: Look) -> String {
    let mut page = Page::new(look.width);
    let counts = Counts::of(run);
    page.styled(&"summary".style(BOLD).to_string());
    page.indented(2, |page| {
        write_counts(page, run, counts);
        write_not_run(page, run);
        write_notes(page, run);
        write_statements(page, run);
        let versions: Vec<_> = run.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        page.item("versions: ", BOLD, 2, &versions.join(", "));
        page.item("run: ", BOLD, 2, &format!("{} on provider {}, fleetdrill {}", run.id, run.provider, run.fleetdrill));
        for report in reports {
            let path = if report.is_stdout() { "standard output".into() } else { report.path.display().to_string() };
            page.styled(&format!("{} {path}", format!("{}:", report.format).style(BOLD)));
        }
        write_failed(page, run, look);
    });
    page.blank();
    page.styled(&counts.to_string());
    page.finish()
}

fn write_counts(page: &mut Page, run: &RunRecord, counts: Counts) {
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

fn write_failed(page: &mut Page, run: &RunRecord, look: Look) {
    for record in &run.scenarios {
        if matches!(record.outcome, Outcome::Failed | Outcome::Interrupted) {
            let (sign, style) = sign(record.outcome, look.symbols);
            page.item(&format!("{sign} "), style, 2, &format!("{} ({}:{})", record.scenario, record.file, record.line));
            page.indented(4, |page| page.at_most(REASON, "", 0, &headline(record)));
        }
    }
}

/// Grouped by reason, in the order in which the reasons first appear.
fn write_not_run(page: &mut Page, run: &RunRecord) {
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

/// What makes a run different from a fleet in life.
fn write_notes(page: &mut Page, run: &RunRecord) {
    let forwarded = run
        .scenarios
        .iter()
        .filter(|record| record.entries.iter().any(|entry| matches!(entry.what, What::FastForwarded { .. })));
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
}

/// What the run has shown of the guides. Several scenarios may show the same statement.
fn write_statements(page: &mut Page, run: &RunRecord) {
    let shown = || run.scenarios.iter().flat_map(|record| &record.statements);
    let count = |fits: fn(&&Shown) -> bool| shown().filter(fits).map(|s| &s.statement).collect::<BTreeSet<_>>().len();
    let (all, differ) = (count(|_| true), count(|s| s.state != ShownState::Holds));
    if all > 0 {
        let text = format!("statements shown: {all}, of which differ from the guide: {differ} (`fleetdrill guides`)");
        page.item("guides: ", BOLD, 2, &text);
    }
}

/// Whether a scenario's pods were played by the local provider's simulated kubelet.
pub(super) fn pods_were_played(run: &RunRecord, record: &ScenarioRecord) -> bool {
    run.provider == "local" && record.outcome != Outcome::NotRun && record.tags.iter().any(|tag| tag == "pods")
}

fn scenarios(count: usize) -> String {
    if count == 1 { "1 scenario".to_owned() } else { format!("{count} scenarios") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::{Format, fixture};

    fn plain(run: &RunRecord, reports: &[&ReportFile]) -> String {
        anstream::adapter::strip_str(&text(run, reports, Look::default())).to_string()
    }

    #[test]
    fn everything_there_can_be() {
        let mut run = fixture::run();
        run.scenarios[0].tags.push("pods".to_owned());
        let files = [ReportFile::new(Format::Junit, "target/junit.xml"), ReportFile::new(Format::Json, "run.json")];
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
    fn interrupted_is_called_interrupted() {
        assert_eq!(Counts::of(&fixture::run()).to_string(), "1 passed, 1 failed, 1 interrupted, 2 skipped");
    }
}
