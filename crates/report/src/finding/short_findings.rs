//! Short form of a finding, printed below a scenario's step. The JSON report and `diagnose` print findings in full.

use record::{ConditionPlace, Evidence, Finding, Severity};

use crate::text::style::{ERROR, HINT, PLAIN, WARNING};
use crate::text::{PrintedTexts, TextPage, shorten};

/// Maximum number of columns of a line of prose.
const MEASURE: usize = 80;
/// Maximum number of characters of a quoted value.
const QUOTE: usize = 160;
/// Maximum number of lines of a piece of evidence.
const EVIDENCE: usize = 2;
/// Columns of a list's number.
const NUMBER: usize = 3;

/// Kinds whose condition types begin with the kind.
const PLACEMENTS: [&str; 2] = ["ClusterResourcePlacement", "ResourcePlacement"];

/// Writes code, title and subject on one line, then cause, evidence, and the first remedy. Writes only one line if the
/// finding was printed before.
pub fn write(page: &mut TextPage, finding: &Finding, said: &mut PrintedTexts) {
    let (label, style) = match finding.severity {
        Severity::Failure => (finding.code.to_string(), ERROR),
        Severity::Notice => (format!("{} (notice)", finding.code), WARNING),
    };
    let new = said.finding(format!("{} {} {}", finding.code, finding.subject, finding.cause));
    let subject = subject_of(finding, said);
    if !new {
        page.item(&format!("{label} "), style, 2, &format!("{subject}, as above"));
        return;
    }
    page.item(&format!("{label} "), style, 2, &format!("{}: {subject}", finding.title));
    page.indented(2, |page| {
        page.measured(MEASURE, |page| {
            page.text(&finding.cause);
            if let Some(loss) = &finding.data_loss {
                page.item("warning: ", WARNING, 2, loss);
            }
        });
        // The end of a value is often its most useful part. A value gets the page's width, or else one more line.
        let lines = if page.columns() > MEASURE { EVIDENCE } else { EVIDENCE + 1 };
        for (number, evidence) in finding.evidence.iter().enumerate() {
            page.at_most(lines, &format!("{}. ", number + 1), NUMBER, &quote(evidence, said));
        }
        if let Some(remedy) = finding.remedies.first() {
            page.measured(MEASURE, |page| page.item("remedy: ", HINT, 2, &remedy.action));
            if let Some(loss) = &remedy.data_loss {
                page.measured(MEASURE, |page| page.item("warning: ", WARNING, 2, loss));
            }
            page.indented(2, |page| remedy.commands.iter().for_each(|command| page.unwrapped(command)));
            if !remedy.expect.is_empty() {
                page.measured(MEASURE, |page| page.item("expect: ", HINT, 2, &remedy.expect));
            }
        }
        for consequence in &finding.consequences {
            page.item("this explains ", PLAIN, 2, &format!("{} {}", consequence.code, subject_of(consequence, said)));
        }
    });
}

/// Returns `web (member-4)`, preceded by the kind if the object wasn't printed before.
fn subject_of(finding: &Finding, said: &mut PrintedTexts) -> String {
    let subject = &finding.subject;
    format!("{}{}", said.object(&subject.path()), subject.part())
}

/// Returns `web on member-4: WorkSynchronized=False SyncWorkFailed: ...`, without the message if it was printed before.
fn quote(evidence: &Evidence, said: &mut PrintedTexts) -> String {
    let Evidence { cluster, object, path, value, condition, .. } = evidence;
    let on = if cluster == "hub" { String::new() } else { format!("{cluster} ") };
    let place = format!("{on}{}", said.object(object));
    let Some(condition) = condition else {
        return format!("{place} {path}: {}", shorten(value, QUOTE));
    };
    let (type_, state) = (short_type(&object.kind, &condition.type_), condition.state());
    let text = match condition.message.as_str() {
        message if message.is_empty() || said.has_message(message) => state,
        message => shorten(&format!("{state}: {message}"), QUOTE),
    };
    format!("{place}{}: {type_}={text}", part_of(&condition.place))
}

/// ` on member-4`, ` on member-4, Deployment app` or ` in stage canary, member-1`,
/// or `, Deployment app` of a Work; empty for the object itself.
fn part_of(place: &ConditionPlace) -> String {
    match place {
        ConditionPlace::Object => String::new(),
        ConditionPlace::Stage { .. } | ConditionPlace::StageMember { .. } => format!(" in {place}"),
        ConditionPlace::Manifest { .. } => format!(", {place}"),
        ConditionPlace::Member { .. } | ConditionPlace::FailedPlacement { .. } | ConditionPlace::SyncResult { .. } => {
            format!(" on {place}")
        }
    }
}

/// Returns a condition's type without the kind of its object, if the object is a placement.
#[must_use]
pub fn short_type<'a>(kind: &str, condition: &'a str) -> &'a str {
    let placement = PLACEMENTS.into_iter().find(|placement| *placement == kind);
    placement.and_then(|kind| condition.strip_prefix(kind)).filter(|rest| !rest.is_empty()).unwrap_or(condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    fn plain(findings: &[&Finding], said: &mut PrintedTexts) -> String {
        let mut page = TextPage::new(100);
        for finding in findings {
            write(&mut page, finding, said);
        }
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn said_twice_it_is_one_line() {
        let mut finding = fixture::member_namespace_finding();
        finding.consequences.push(fixture::stale_approval_finding());
        insta::assert_snapshot!(plain(&[&finding, &finding], &mut PrintedTexts::default()));
    }

    #[test]
    fn a_message_that_stands_above_is_not_quoted_again() {
        let finding = fixture::member_namespace_finding();
        let mut said = PrintedTexts::default();
        assert!(plain(&[&finding], &mut said).contains("Failed to synchronize"));
        let mut said = PrintedTexts::default();
        said.message(&format!("{} and more", finding.evidence[0].value));
        assert!(!plain(&[&finding], &mut said).contains("Failed to synchronize"));
    }

    #[test]
    fn a_remedy_that_destroys_more_says_so_before_its_commands() {
        let mut finding = fixture::member_namespace_finding();
        finding.remedies[0].data_loss = Some("Everything else in it is deleted.".to_owned());
        let text = plain(&[&finding], &mut PrintedTexts::default());
        let (before, _) = text.split_once(&finding.remedies[0].commands[0]).unwrap();
        assert!(before.contains("warning: Everything else in it is deleted.\n"), "{before}");
    }

    #[test]
    fn commands_are_never_wrapped() {
        let finding = fixture::member_namespace_finding();
        let text = plain(&[&finding], &mut PrintedTexts::default());
        for command in &finding.remedies[0].commands {
            assert!(text.contains(&format!("\n    {command}\n")), "{command}");
        }
    }

    #[test]
    fn types_lose_their_placement_kind_only() {
        assert_eq!(short_type("ClusterResourcePlacement", "ClusterResourcePlacementApplied"), "Applied");
        assert_eq!(short_type("ResourcePlacement", "ResourcePlacementApplied"), "Applied");
        assert_eq!(short_type("ClusterResourcePlacement", "Applied"), "Applied");
        assert_eq!(short_type("Namespace", "NamespaceContentRemaining"), "NamespaceContentRemaining");
    }
}
