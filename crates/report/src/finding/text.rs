//! Findings as text, as `diagnose` prints them. [`super::short_findings`] has the form that stands below a step.

use diagnosis::{Evidence, FailureCode, Finding, GuideSection, Remedy, Severity};
use jiff::Timestamp;
use owo_colors::OwoColorize;
use record::duration_text;

use super::first_screen;
use super::subjects::subjects_text;
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, HINT, PLAIN, WARNING};

/// Columns of a list's number, by which the item's text is indented.
pub const NUMBER: usize = 4;

/// Amount of text for each finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What is wrong, since when, and the first remedy, as far as a screen has room for it.
    Short,
    /// Everything, but of several subjects with one cause the commands for the first one.
    FirstSubjects,
    /// Everything.
    Full,
}

/// Writes all findings, numbered if there are several. A finding stands before those that it explains. `now` is the
/// present time on the clock of the cluster that the findings are about.
pub fn write_all(page: &mut TextPage, findings: &[Finding], detail: Detail, now: Option<Timestamp>) {
    if detail == Detail::Short {
        first_screen::write(page, findings, now);
        return;
    }
    for (number, finding) in findings.iter().enumerate() {
        page.blank();
        if findings.len() > 1 {
            heading(page, &format!("finding {} of {}", number + 1, findings.len()));
            page.blank();
        }
        write_with(page, finding, detail, now);
    }
}

/// Writes one finding in full and, indented, the findings that it explains.
pub fn write(page: &mut TextPage, finding: &Finding, now: Option<Timestamp>) {
    write_with(page, finding, Detail::Full, now);
}

fn write_with(page: &mut TextPage, finding: &Finding, detail: Detail, now: Option<Timestamp>) {
    if let Some(loss) = &finding.data_loss {
        page.item("warning: ", WARNING, 2, loss);
        page.blank();
    }
    write_finding_title(page, finding, &finding.title);
    page.text(&format!("{} on {}{}", subjects_text(finding), finding.subject.cluster, since(finding, now)));
    page.blank();
    page.text(&cause(finding));
    write_successor(page, finding);
    write_waiver(page, finding);
    write_remedies_in(page, finding, detail);
    if !finding.evidence.is_empty() {
        page.blank();
        heading(page, "evidence:");
        write_evidence(page, &finding.evidence);
    }
    if let Some(guide) = &finding.guide {
        page.blank();
        write_guide(page, guide);
    }
    if !finding.consequences.is_empty() {
        page.blank();
        heading(page, "this explains:");
        for consequence in &finding.consequences {
            page.blank();
            page.indented(2, |page| write_with(page, consequence, detail, now));
        }
    }
}

/// Writes what is wrong, since when, the first remedy, and the codes of the findings that this one explains.
pub(super) fn write_short(page: &mut TextPage, finding: &Finding, now: Option<Timestamp>) {
    if let Some(loss) = &finding.data_loss {
        page.item("warning: ", WARNING, 2, loss);
    }
    write_finding_title(page, finding, &format!("{}: {}", finding.title, subjects_text(finding)));
    page.indented(2, |page| {
        page.text(&format!("{}{}", cause(finding), short_since(finding, now)));
        write_successor(page, finding);
        write_waiver(page, finding);
        if let Some(remedy) = finding.remedies.first().filter(|_| needs_remedy(finding)) {
            page.item("remedy: ", HINT, 2, &remedy.action);
            if let Some(loss) = &remedy.data_loss {
                page.item("warning: ", WARNING, 2, loss);
            }
            page.indented(2, |page| write_commands_of_first(page, finding, remedy));
        }
        write_explained(page, finding);
    });
}

/// Number of commands of a remedy that the short form prints.
const SHOWN_COMMANDS: usize = 4;

/// Number of subjects of a finding for which the commands are printed in any form.
const SHOWN_SUBJECTS: usize = 10;

/// Writes commands, at most this many. Of many subjects, those for the first one.
fn write_commands_of_first(page: &mut TextPage, finding: &Finding, remedy: &Remedy) {
    let others = finding.other_subjects.len();
    let is_long = others >= SHOWN_SUBJECTS && !remedy.commands_of_first.is_empty();
    let commands = if is_long { &remedy.commands_of_first } else { &remedy.commands };
    commands.iter().take(SHOWN_COMMANDS).for_each(|command| page.unwrapped(command));
    if commands.len() > SHOWN_COMMANDS {
        page.text(&format!("({} more commands: --verbose)", commands.len() - SHOWN_COMMANDS));
    }
    if is_long {
        page.text(&format!("(the same for the {others} others: --verbose)"));
    }
}

/// Returns the cause. If there are several subjects, it is about the first of them.
fn cause(finding: &Finding) -> String {
    let others = if finding.other_subjects.is_empty() { "" } else { " The others fail for the same reason." };
    format!("{}{others}", finding.cause)
}

/// Number of consequences that the short form names.
const NAMED_CONSEQUENCES: usize = 3;

fn write_explained(page: &mut TextPage, finding: &Finding) {
    let below: Vec<&Finding> = finding.flatten().skip(1).collect();
    let named =
        below.iter().take(NAMED_CONSEQUENCES).map(|finding| format!("{} {}", finding.code, subjects_text(finding)));
    let mut named: Vec<String> = named.collect();
    if below.len() > NAMED_CONSEQUENCES {
        named.push(format!("{} more", below.len() - NAMED_CONSEQUENCES));
    }
    if !named.is_empty() {
        page.item("this explains ", PLAIN, 2, &named.join(", "));
    }
}

/// Writes the object that has made up for the failure.
fn write_successor(page: &mut TextPage, finding: &Finding) {
    if let Some(successor) = &finding.superseded_by {
        page.text(&format!("{successor} was created later and has succeeded."));
    }
}

/// Writes why the finding is accepted.
fn write_waiver(page: &mut TextPage, finding: &Finding) {
    if let Some(waiver) = &finding.waived {
        page.item("waived: ", HINT, 2, &waiver.reason);
    }
}

/// True if somebody has to do something about the finding.
pub(super) fn needs_remedy(finding: &Finding) -> bool {
    finding.superseded_by.is_none() && finding.waived.is_none()
}

/// Returns `, since 2026-11-23T23:15:06Z (7 min)`; empty if the beginning isn't known.
fn since(finding: &Finding, now: Option<Timestamp>) -> String {
    let Some(since) = finding.since else { return String::new() };
    let age = now.map(|now| format!(" ({})", duration_text(now.duration_since(since).as_secs())));
    format!(", since {since}{}", age.unwrap_or_default())
}

/// Returns ` For 7 min now.`, or the time of the beginning if the present time isn't known; empty if neither is.
pub(super) fn short_since(finding: &Finding, now: Option<Timestamp>) -> String {
    match (finding.since, now) {
        (Some(since), Some(now)) => format!(" For {} now.", duration_text(now.duration_since(since).as_secs())),
        (Some(since), None) => format!(" Since {since}."),
        (None, _) => String::new(),
    }
}

/// Writes code and title of a finding, with the last day of its waiver if it has one.
pub(super) fn write_finding_title(page: &mut TextPage, finding: &Finding, title: &str) {
    match &finding.waived {
        Some(waiver) => page.item(&format!("{} (waived until {}): ", finding.code, waiver.until), HINT, 2, title),
        None => write_title(page, &finding.code, finding.severity, title),
    }
}

/// Writes code and title, and "(notice)" for a notice.
pub fn write_title(page: &mut TextPage, code: &FailureCode, severity: Severity, title: &str) {
    match severity {
        Severity::Failure => page.item(&format!("{code}: "), ERROR, 2, title),
        Severity::Notice => page.item(&format!("{code} (notice): "), WARNING, 2, title),
    }
}

/// Writes a heading.
pub fn heading(page: &mut TextPage, text: &str) {
    page.styled(&text.style(BOLD).to_string());
}

/// Writes each piece of evidence: its cluster, object and path on one line, its value below.
fn write_evidence(page: &mut TextPage, evidence: &[Evidence]) {
    for (number, Evidence { cluster, object, path, value, at, .. }) in evidence.iter().enumerate() {
        page.item(&format!("{:>2}. ", number + 1), PLAIN, NUMBER, &format!("{cluster} {object} {path}"));
        page.indented(NUMBER, |page| {
            page.text(value);
            // A time that is the value itself isn't printed twice.
            if let Some(at) = at.filter(|at| at.to_string() != *value) {
                page.text(&format!("at {at}"));
            }
        });
    }
}

/// Writes all remedies below a heading; writes nothing if there are none.
pub fn write_remedies(page: &mut TextPage, remedies: &[Remedy]) {
    write_numbered_remedies(page, remedies, |page, remedy| {
        remedy.commands.iter().for_each(|command| page.unwrapped(command));
    });
}

fn write_remedies_in(page: &mut TextPage, finding: &Finding, detail: Detail) {
    if detail == Detail::Full {
        write_remedies(page, &finding.remedies);
    } else {
        write_numbered_remedies(page, &finding.remedies, |page, remedy| write_commands_of_first(page, finding, remedy));
    }
}

fn write_numbered_remedies(page: &mut TextPage, remedies: &[Remedy], write_commands: impl Fn(&mut TextPage, &Remedy)) {
    if remedies.is_empty() {
        return;
    }
    page.blank();
    heading(page, if remedies.len() > 1 { "remedies, in the order to try them:" } else { "remedy:" });
    for (number, remedy) in remedies.iter().enumerate() {
        write_remedy(page, number + 1, remedy, &write_commands);
    }
}

fn write_remedy(page: &mut TextPage, number: usize, remedy: &Remedy, write_commands: &impl Fn(&mut TextPage, &Remedy)) {
    if number > 1 {
        page.blank();
    }
    page.item(&format!("{number:>2}. "), PLAIN, NUMBER, &remedy.action);
    page.indented(NUMBER, |page| {
        // The warning stands before the commands, so that a reader who pastes them has seen it.
        if let Some(loss) = &remedy.data_loss {
            page.item("warning: ", WARNING, 2, loss);
        }
        if !remedy.commands.is_empty() {
            page.blank();
            write_commands(page, remedy);
            page.blank();
        }
        if !remedy.expect.is_empty() {
            page.item("expect: ", HINT, 2, &remedy.expect);
        }
    });
}

/// Writes the guide and the section that describe the finding.
pub fn write_guide(page: &mut TextPage, GuideSection { name, section, url }: &GuideSection) {
    page.item("guide: ", BOLD, 2, &format!("{name}, section \"{section}\""));
    if let Some(url) = url {
        page.indented(2, |page| page.unwrapped(url));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;
    use crate::text::style::WIDTH;

    fn plain(findings: &[Finding]) -> String {
        plain_with(findings, Detail::Full)
    }

    fn plain_with(findings: &[Finding], detail: Detail) -> String {
        let now = "2026-01-08T12:00:00Z".parse().ok();
        let mut page = TextPage::new(WIDTH);
        write_all(&mut page, findings, detail, now);
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn one_finding() {
        insta::assert_snapshot!(plain(&[fixture::member_namespace_finding()]));
    }

    #[test]
    fn several_findings_with_a_consequence() {
        let mut root = fixture::member_namespace_finding();
        root.consequences.push(fixture::stale_approval_finding());
        insta::assert_snapshot!(plain(&[root, fixture::stale_approval_finding()]));
    }

    #[test]
    fn several_findings_in_short() {
        let mut root = fixture::member_namespace_finding();
        root.since = "2026-01-08T11:53:00Z".parse().ok();
        root.consequences.push(fixture::stale_approval_finding());
        let mut superseded = fixture::stale_approval_finding();
        superseded.severity = Severity::Notice;
        superseded.superseded_by = Some(record::ObjectPath::new("ClusterStagedUpdateRun", None, "release-8"));
        insta::assert_snapshot!(plain_with(&[root, superseded], Detail::Short));
    }

    #[test]
    fn a_waived_finding_in_short_and_in_full() {
        let finding = fixture::waived_finding();
        let texts = [Detail::Short, Detail::Full].map(|detail| plain_with(std::slice::from_ref(&finding), detail));
        insta::assert_snapshot!(texts.join("---\n"));
    }

    #[test]
    fn of_many_subjects_the_commands_for_the_first_are_printed_unless_all_are_wanted() {
        let mut finding = fixture::member_namespace_finding();
        let member = |number: usize| Some(format!("m-{number:04}"));
        let subject = |number| record::Subject { member: member(number), ..finding.subject.clone() };
        finding.other_subjects = (1..1000).map(subject).collect();
        for remedy in &mut finding.remedies {
            remedy.commands_of_first = std::mem::replace(&mut remedy.commands, vec!["for all".to_owned()]);
        }
        let first = finding.remedies[0].commands_of_first[0].clone();
        for detail in [Detail::Short, Detail::FirstSubjects] {
            let text = plain_with(std::slice::from_ref(&finding), detail);
            assert!(text.contains(&first) && !text.contains("for all"), "{text}");
            assert!(text.contains("(the same for the 999 others: --verbose)"), "{text}");
        }
        let text = plain_with(&[finding], Detail::Full);
        assert!(text.contains("for all") && !text.contains(&first), "{text}");
    }

    #[test]
    fn five_findings_in_short_fit_a_screen() {
        let finding = Finding { data_loss: None, ..fixture::member_namespace_finding() };
        let text = plain_with(&vec![finding; 5], Detail::Short);
        assert!(text.lines().count() <= 40 && text.matches("remedy: ").count() == 5, "{text}");
    }

    #[test]
    fn a_remedy_that_destroys_more_says_so_before_its_commands() {
        let mut finding = fixture::member_namespace_finding();
        finding.remedies[1].data_loss = Some("Everything else in it is deleted.".to_owned());
        let command = finding.remedies[1].commands[0].clone();
        let text = plain(&[finding]);
        let (before, _) = text.split_once(&command).unwrap();
        assert!(before.ends_with("    warning: Everything else in it is deleted.\n\n    "), "{before}");
        assert_eq!(text.matches("warning: Everything").count(), 1);
    }

    #[test]
    fn commands_are_never_wrapped() {
        let finding = fixture::member_namespace_finding();
        let text = plain(std::slice::from_ref(&finding));
        for command in finding.remedies.iter().flat_map(|remedy| &remedy.commands) {
            assert!(text.contains(&format!("\n    {command}\n")), "{command}");
        }
    }
}
