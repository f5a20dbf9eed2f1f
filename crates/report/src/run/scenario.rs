//! One scenario as text: a line if it passed and no details were requested, otherwise the whole story.

use diagnosis::Finding;
use owo_colors::OwoColorize;
use record::{Outcome, RecordEntry, RecordedEvent, RunRecord, SCALE_TAG, ScenarioRecord};

use super::scenario_details;
use crate::text::style::OutputLayout;
pub(super) use crate::text::style::{seconds, sign};
use crate::text::{TextPage, clean};

/// Returns the failure codes among a scenario's tags.
pub(super) fn codes(record: &ScenarioRecord) -> impl Iterator<Item = &str> {
    record.tags.iter().map(String::as_str).filter(|tag| diagnosis::is_meant_as_code(tag))
}

/// Returns the reason why a scenario didn't pass: the recorded reason, or else the error of its failed step.
pub(super) fn reason(record: &ScenarioRecord) -> &str {
    let said = record.entries.iter().find_map(|entry| match &entry.what {
        RecordedEvent::Failed { error } => Some(error.as_str()),
        _ => None,
    });
    record.reason.as_deref().or(said).unwrap_or("no reason was recorded")
}

/// Returns the main finding of a scenario's last diagnosis: the first that is a failure, or else the first.
fn diagnosed(record: &ScenarioRecord) -> Option<&Finding> {
    let findings = record.entries.iter().rev().find_map(RecordEntry::diagnosed)?;
    findings.iter().find(|finding| finding.severity.is_failure()).or(findings.first())
}

/// The reason in a sentence or two that can be understood without the rest: the reason's first line, behind the diagnosis of a
/// scenario that failed; without a diagnosis, the reason's second line as well, which says what was seen instead.
pub(super) fn headline(record: &ScenarioRecord) -> String {
    let mut lines = reason(record).lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    if record.outcome == Outcome::Failed
        && let Some(Finding { code, title, subject, .. }) = diagnosed(record)
    {
        return format!("{code} {subject}: {title}; {first}");
    }
    match lines.next() {
        Some(second) => format!("{first}; {second}"),
        None => first.to_owned(),
    }
}

/// Returns the scenario as one line: outcome, seconds, name, codes.
pub(super) fn line(record: &ScenarioRecord, look: OutputLayout) -> String {
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

/// Returns the whole story with a heading.
pub(super) fn block(record: &ScenarioRecord, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.story);
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
    page.indented(2, |page| scenario_details::write(page, record, look.symbols));
    page.finish()
}

/// Returns the whole story without colours, for files.
pub(super) fn story(record: &ScenarioRecord, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.story);
    scenario_details::write(&mut page, record, look.symbols);
    anstream::adapter::strip_str(&page.finish()).to_string()
}

/// True if the local provider's simulated kubelet (KWOK) ran a scenario's pods.
pub(super) fn pods_were_played(run: &RunRecord, record: &ScenarioRecord) -> bool {
    run.provider == "local" && record.outcome != Outcome::NotRun && record.tags.iter().any(|tag| tag == "pods")
}

/// True if most members of a scenario's fleet were hollow: the steps that make such fleets are for scenarios with this tag.
pub(super) fn has_hollow_members(record: &ScenarioRecord) -> bool {
    record.outcome != Outcome::NotRun && record.tags.iter().any(|tag| tag == SCALE_TAG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;
    use crate::text::style::{STORY_WIDTH, Symbols};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn whole_story_of_a_passed_scenario() {
        insta::assert_snapshot!(plain(&block(&fixture::passed(), OutputLayout::default())));
    }

    #[test]
    fn whole_story_of_a_failed_scenario() {
        insta::assert_snapshot!(plain(&block(&fixture::failed(), OutputLayout::default())));
    }

    #[test]
    fn whole_story_in_ascii() {
        let text =
            plain(&block(&fixture::failed(), OutputLayout { symbols: Symbols::ASCII, ..OutputLayout::default() }));
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_line_each() {
        let lines: String =
            fixture::run().scenarios.iter().map(|record| line(record, OutputLayout::default())).collect();
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
             Then the run goes on within 60 s: run-x2: Progressing True UpdateRunProgressing: not so after 60 s"
        );
        record.outcome = Outcome::Interrupted;
        assert!(headline(&record).starts_with("Then the run goes on within 60 s: "), "{}", headline(&record));
        record.outcome = Outcome::Failed;
        record
            .entries
            .push(RecordEntry { at: record.started_at, what: RecordedEvent::Diagnosed { findings: Vec::new() } });
        assert!(headline(&record).contains("; last seen: Progressing's status is"), "{}", headline(&record));
    }

    #[test]
    fn a_limit_that_ran_out_marks_the_last_step() {
        let mut record = fixture::failed();
        record.entries.retain(|entry| entry.failed_wait().is_none());
        record.entries.truncate(9);
        record.reason = Some("the scenario's limit of 120 s ran out".to_owned());
        insta::assert_snapshot!(plain(&block(&record, OutputLayout::default())));
    }

    #[test]
    fn only_commands_are_wider_than_the_page() {
        for record in fixture::run().scenarios {
            for line in plain(&block(&record, OutputLayout::default())).lines() {
                assert!(line.chars().count() <= STORY_WIDTH || line.contains("kubectl"), "{line}");
            }
        }
    }
}
