//! A diagnosis as Markdown, to be pasted into a ticket.

use std::fmt::Write as _;

use diagnosis::{Evidence, Finding, Remedy, Severity};

use super::diagnosis_report::DiagnosisReport;
use super::subjects::subjects_text;
use crate::text::clean;

/// Returns the whole report. Texts of objects are escaped and can't become markup, links or HTML.
#[must_use]
pub fn render(report: &DiagnosisReport<'_>) -> String {
    let mut text = format!("## fleetdrill: {}\n\n{}\n", plain(report.fleet()), plain(&report.origin()));
    let _ = writeln!(text, "\n{}", plain(&report.summary()));
    let in_progress = report.in_progress().into_iter().map(|state| format!("in progress: {state}"));
    let notes: Vec<String> = in_progress.chain(report.gaps()).collect();
    if !notes.is_empty() {
        text.push('\n');
        for note in notes {
            let _ = writeln!(text, "- {}", plain(&note));
        }
    }
    for finding in report.findings() {
        write_finding(&mut text, finding, 3);
    }
    text
}

fn write_finding(text: &mut String, finding: &Finding, level: usize) {
    let marks = "#".repeat(level.min(6));
    let note = match (&finding.waived, finding.severity) {
        (Some(waiver), _) => format!(" (waived until {})", waiver.until),
        (None, Severity::Notice) => " (notice)".to_owned(),
        (None, Severity::Failure) => String::new(),
    };
    let _ = writeln!(text, "\n{marks} {}{note}: {}\n", plain(&finding.code.0), plain(&finding.title));
    if let Some(waiver) = &finding.waived {
        let _ = writeln!(text, "**Waived:** {}\n", plain(&waiver.reason));
    }
    if let Some(loss) = &finding.data_loss {
        let _ = writeln!(text, "**Warning:** {}\n", plain(loss));
    }
    let _ = writeln!(text, "{} on {}\n", plain(&subjects_text(finding)), plain(&finding.subject.cluster));
    let _ = writeln!(text, "{}", plain(&finding.cause));
    if !finding.evidence.is_empty() {
        text.push_str("\n**Evidence**\n\n");
        for evidence in &finding.evidence {
            write_evidence(text, evidence);
        }
    }
    if !finding.remedies.is_empty() {
        text.push_str("\n**Remedies, in the order to try them**\n\n");
        for (number, remedy) in finding.remedies.iter().enumerate() {
            write_remedy(text, number + 1, remedy);
        }
    }
    if let Some(guide) = &finding.guide {
        let _ = writeln!(text, "\nGuide: {}, section \"{}\"", plain(&guide.name), plain(&guide.section));
        if let Some(url) = &guide.url {
            let _ = writeln!(text, "<{url}>");
        }
    }
    if !finding.consequences.is_empty() {
        text.push_str("\n**This explains:**\n");
        for consequence in &finding.consequences {
            write_finding(text, consequence, level + 1);
        }
    }
}

fn write_evidence(text: &mut String, Evidence { cluster, object, path, value, at, .. }: &Evidence) {
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    let _ = writeln!(text, "1. {} {} {}{at}\n", plain(cluster), plain(&object.to_string()), plain(path));
    write_block(text, value);
}

fn write_remedy(text: &mut String, number: usize, remedy: &Remedy) {
    let _ = writeln!(text, "{number}. {}\n", plain(&remedy.action));
    if !remedy.commands.is_empty() {
        write_block(text, &remedy.commands.join("\n"));
    }
    if !remedy.expect.is_empty() {
        let _ = writeln!(text, "   Expect: {}\n", plain(&remedy.expect));
    }
}

/// Writes a code block that belongs to a list item. The fence is longer than any row of backticks in the content.
fn write_block(text: &mut String, content: &str) {
    let content = clean(content);
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "   {fence}");
    for line in content.lines() {
        let _ = writeln!(text, "   {line}");
    }
    let _ = writeln!(text, "   {fence}\n");
}

/// Returns the text on one line, with all markup escaped.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '\n' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A forge would notify the user of that name.
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use diagnosis::Diagnosis;

    use super::super::diagnosis_report::{ObjectSource, tests::snapshot};
    use super::*;
    use crate::run::fixture;

    #[test]
    fn a_finding_with_a_consequence() {
        let mut finding = fixture::member_namespace_finding();
        finding.consequences.push(fixture::stale_approval_finding());
        let (snapshot, contexts) = (snapshot(), BTreeMap::new());
        let diagnosis = Diagnosis { findings: vec![finding], in_progress: Vec::new() };
        let report = DiagnosisReport::new(("prod_hub", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis);
        insta::assert_snapshot!(render(&report).replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    #[test]
    fn a_waived_finding_begins_with_the_waiver() {
        let mut text = String::new();
        write_finding(&mut text, &fixture::waived_finding(), 3);
        let head: Vec<&str> = text.lines().take(4).collect();
        insta::assert_snapshot!(head.join("\n"), @"
        ### KF-WS-001 (waived until 2027-01-31): the member's namespace on the hub is being deleted

        **Waived:** the team repairs it with the next release
        ");
    }

    #[test]
    fn texts_of_objects_are_no_markup() {
        let said = "see [here](http://x) <img src=x> **now** @all\n# title\u{1b}[31m `rm`";
        assert_eq!(
            plain(said),
            "see \\[here\\](http://x) &lt;img src=x&gt; \\*\\*now\\*\\* &#64;all \\# title \\`rm\\`"
        );
        let mut text = String::new();
        write_block(&mut text, "a\n```\n# b");
        assert_eq!(text, "   ````\n   a\n   ```\n   # b\n   ````\n\n");
    }
}
