//! One scenario as text: a line when all went well and nobody asked, the whole story otherwise.

use diagnosis::Finding;
use owo_colors::{OwoColorize, Style};
use steps::record::{Entry, Outcome, ScenarioRecord, What};

use super::story;
use crate::output::style::{ERROR, HINT, Look, SUCCESS, Symbols, WARNING};
use crate::output::{Page, clean};
use crate::suite;

/// The failure codes among a scenario's tags.
pub(super) fn codes(record: &ScenarioRecord) -> impl Iterator<Item = &str> {
    record.tags.iter().map(String::as_str).filter(|tag| suite::is_code(tag))
}

/// Why a scenario didn't pass: as recorded, or else what its failed step said.
pub(super) fn reason(record: &ScenarioRecord) -> &str {
    let said = record.entries.iter().find_map(|entry| match &entry.what {
        What::Failed { error } => Some(error.as_str()),
        _ => None,
    });
    record.reason.as_deref().or(said).unwrap_or("no reason was recorded")
}

/// The diagnosis of a scenario when it failed: its first finding that is a failure, or else its first one.
fn diagnosed(record: &ScenarioRecord) -> Option<&Finding> {
    let findings = record.entries.iter().rev().find_map(Entry::diagnosed)?;
    findings.iter().find(|finding| finding.severity.is_failure()).or(findings.first())
}

/// The reason in a sentence or two that can be understood without the rest: the diagnosis of a scenario that failed, where
/// there is one; the reason's first line; and, without a diagnosis, what was seen instead.
pub(super) fn headline(record: &ScenarioRecord) -> String {
    let mut lines = reason(record).lines();
    let first = lines.next().unwrap_or_default().trim_end();
    // "...; it has:" announces lines that don't come here.
    let first = match first.strip_suffix(':') {
        Some(rest) => rest.rsplit_once("; ").map_or(rest, |(head, _)| head),
        None => first,
    };
    let second = lines.next().unwrap_or_default().trim();
    if record.outcome == Outcome::Failed
        && let Some(Finding { code, title, subject, .. }) = diagnosed(record)
    {
        return format!("{code} {subject}: {title}; {first}");
    }
    let seen = ["last seen: ", "now: ", "caused by: "].iter().any(|label| second.starts_with(label));
    if seen { format!("{first}; {second}") } else { first.to_owned() }
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
    let mut page = Page::new(look.story);
    let (sign, style) = sign(record.outcome, look.symbols);
    page.item(&format!("{sign} "), style, 2, &record.scenario);
    let mut facts = vec![record.feature.clone()];
    facts.extend(codes(record).map(str::to_owned));
    facts.push(format!("{}:{}", record.file, record.line));
    facts.push(match record.outcome {
        Outcome::Passed => format!("passed in {}", seconds(record.seconds)),
        Outcome::Failed => format!("failed after {}", seconds(record.seconds)),
        Outcome::Interrupted => format!("interrupted after {}", seconds(record.seconds)),
        Outcome::NotRun => "not run".to_owned(),
    });
    page.indented(2, |page| page.text(&facts.join(", ")));
    page.blank();
    page.indented(2, |page| story::write(page, record, look.symbols));
    page.finish()
}

/// The whole story without colours, for files.
pub(super) fn story(record: &ScenarioRecord, look: Look) -> String {
    let mut page = Page::new(look.story);
    story::write(&mut page, record, look.symbols);
    anstream::adapter::strip_str(&page.finish()).to_string()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::STORY_WIDTH;
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
        let text = plain(&block(&fixture::failed(), Look { symbols: Symbols::ASCII, ..Look::default() }));
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
    fn the_headline_of_a_failure_is_its_diagnosis() {
        let mut record = fixture::failed();
        assert_eq!(
            headline(&record),
            "KF-UR-007 StagedUpdateRun/shop/run-x2 (stage staging): the approval is for another generation of the request; \
             Then the run goes on within 60 s: ClusterStagedUpdateRun/run-x2: Progressing True UpdateRunProgressing did \
             not come within 60 s"
        );
        record.outcome = Outcome::Interrupted;
        assert!(headline(&record).starts_with("Then the run goes on within 60 s: "), "{}", headline(&record));
        record.outcome = Outcome::Failed;
        record.entries.push(Entry { at: record.started_at, what: What::Diagnosed { findings: Vec::new() } });
        assert!(headline(&record).contains("; last seen: Progressing False"), "{}", headline(&record));
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
                assert!(line.chars().count() <= STORY_WIDTH || line.contains("kubectl"), "{line}");
            }
        }
    }
}
