//! Findings as text in full, as `diagnose` prints them. [`super::short_findings`] has their short form.

use diagnosis::{Evidence, FailureCode, Finding, GuideSection, Remedy, Severity};
use owo_colors::OwoColorize;

use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, HINT, PLAIN, WARNING};

/// Columns of a list's number, by which the item's text is indented.
pub const NUMBER: usize = 4;

/// Writes all findings, numbered if there are several. A finding stands before those that it explains.
pub fn write_all(page: &mut TextPage, findings: &[Finding]) {
    for (number, finding) in findings.iter().enumerate() {
        page.blank();
        if findings.len() > 1 {
            heading(page, &format!("finding {} of {}", number + 1, findings.len()));
            page.blank();
        }
        write(page, finding);
    }
}

/// Writes one finding in full and, indented, the findings that it explains.
pub fn write(page: &mut TextPage, finding: &Finding) {
    if let Some(loss) = &finding.data_loss {
        page.item("warning: ", WARNING, 2, loss);
        page.blank();
    }
    write_title(page, &finding.code, finding.severity, &finding.title);
    page.text(&format!("{} on {}", finding.subject, finding.subject.cluster));
    page.blank();
    page.text(&finding.cause);
    if !finding.evidence.is_empty() {
        page.blank();
        heading(page, "evidence:");
        write_evidence(page, &finding.evidence);
    }
    write_remedies(page, &finding.remedies);
    if let Some(guide) = &finding.guide {
        page.blank();
        write_guide(page, guide);
    }
    if !finding.consequences.is_empty() {
        page.blank();
        heading(page, "this explains:");
        for consequence in &finding.consequences {
            page.blank();
            page.indented(2, |page| write(page, consequence));
        }
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
    for (number, Evidence { cluster, object, path, value, at, condition: _ }) in evidence.iter().enumerate() {
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
    if remedies.is_empty() {
        return;
    }
    page.blank();
    heading(page, if remedies.len() > 1 { "remedies, in the order to try them:" } else { "remedy:" });
    for (number, remedy) in remedies.iter().enumerate() {
        write_remedy(page, number + 1, remedy);
    }
}

fn write_remedy(page: &mut TextPage, number: usize, remedy: &Remedy) {
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
            remedy.commands.iter().for_each(|command| page.unwrapped(command));
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
        let mut page = TextPage::new(WIDTH);
        write_all(&mut page, findings);
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
