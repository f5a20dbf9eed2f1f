//! The essence of a finding, as it stands below a scenario's step. The JSON report and `diagnose` have all of it.

use diagnosis::{Evidence, Finding, Severity};

use super::style::{ERROR, HINT, PLAIN, WARNING};
use super::{Page, Said, shorten};

/// Columns of a line of prose.
const MEASURE: usize = 80;
/// Characters of a value that are quoted.
const QUOTE: usize = 160;
/// Lines that a piece of evidence may take.
const EVIDENCE: usize = 2;
/// Columns of a list's number.
const NUMBER: usize = 3;

/// Kinds whose condition types repeat the kind.
const PLACEMENTS: [&str; 2] = ["ClusterResourcePlacement", "ResourcePlacement"];

/// Code, title and subject on one line; cause, evidence, and the first remedy. One line only, if it was said before.
pub fn write(page: &mut Page, finding: &Finding, said: &mut Said) {
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
        // A value's end often says most: it gets the page's width, or else a line more.
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

/// `web (member-4)`, with the kind where it is new.
fn subject_of(finding: &Finding, said: &mut Said) -> String {
    let subject = finding.subject.to_string();
    let (object, part) = subject.split_once(' ').unwrap_or((&subject, ""));
    format!("{} {part}", said.object(object)).trim_end().to_owned()
}

/// `web on member-4: WorkSynchronized=False SyncWorkFailed: ...`; without the message, if it stands above.
fn quote(Evidence { cluster, object, path, value, at: _ }: &Evidence, said: &mut Said) -> String {
    let kind = object.split('/').next().unwrap_or_default();
    let on = if cluster == "hub" { String::new() } else { format!("{cluster} ") };
    let place = format!("{on}{}", said.object(object));
    let Some((part, condition)) = condition_of(path) else {
        return format!("{place} {path}: {}", shorten(value, QUOTE));
    };
    let short = short_type(kind, condition);
    let said_of_it = match value.strip_prefix(condition).and_then(|rest| rest.strip_prefix('=')) {
        Some(state) => match state.split_once(": ") {
            Some((state, message)) if said.has_message(message) => format!("{short}={state}"),
            _ => format!("{short}={}", shorten(state, QUOTE)),
        },
        None => format!("{short} {}", shorten(value, QUOTE)),
    };
    format!("{place}{part}: {said_of_it}")
}

/// ` on member-4`, ` on member-4, Deployment app` or ` in stage canary, member-1`, and the condition's type, from a path that ends with a condition.
fn condition_of(path: &str) -> Option<(String, &str)> {
    let (holder, rest) = path.rsplit_once("conditions[")?;
    let condition = rest.strip_suffix(']')?;
    let named = |list: &str| Some(holder.split_once(&format!("{list}["))?.1.split_once(']')?.0);
    let part = match (named("stagesStatus"), named("placementStatuses").or_else(|| named("clusters"))) {
        (Some(stage), Some(member)) => format!(" in stage {stage}, {member}"),
        (Some(stage), None) => format!(" in stage {stage}"),
        (None, Some(member)) => match named("failedPlacements") {
            Some(failed) => format!(" on {member}, {failed}"),
            None => format!(" on {member}"),
        },
        (None, None) => String::new(),
    };
    Some((part, condition))
}

/// A condition's type without the kind of its object, where that is a placement.
#[must_use]
pub fn short_type<'a>(kind: &str, condition: &'a str) -> &'a str {
    let placement = PLACEMENTS.into_iter().find(|placement| *placement == kind);
    placement.and_then(|kind| condition.strip_prefix(kind)).filter(|rest| !rest.is_empty()).unwrap_or(condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    fn plain(findings: &[&Finding], said: &mut Said) -> String {
        let mut page = Page::new(100);
        for finding in findings {
            write(&mut page, finding, said);
        }
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn said_twice_it_is_one_line() {
        let mut finding = fixture::member_namespace_finding();
        finding.consequences.push(fixture::stale_approval_finding());
        insta::assert_snapshot!(plain(&[&finding, &finding], &mut Said::default()));
    }

    #[test]
    fn a_message_that_stands_above_is_not_quoted_again() {
        let finding = fixture::member_namespace_finding();
        let mut said = Said::default();
        assert!(plain(&[&finding], &mut said).contains("Failed to synchronize"));
        let mut said = Said::default();
        said.message(&format!("{} and more", finding.evidence[0].value));
        assert!(!plain(&[&finding], &mut said).contains("Failed to synchronize"));
    }

    #[test]
    fn a_remedy_that_destroys_more_says_so_before_its_commands() {
        let mut finding = fixture::member_namespace_finding();
        finding.remedies[0].data_loss = Some("Everything else in it is deleted.".to_owned());
        let text = plain(&[&finding], &mut Said::default());
        let (before, _) = text.split_once(&finding.remedies[0].commands[0]).unwrap();
        assert!(before.contains("warning: Everything else in it is deleted.\n"), "{before}");
    }

    #[test]
    fn commands_are_never_wrapped() {
        let finding = fixture::member_namespace_finding();
        let text = plain(&[&finding], &mut Said::default());
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
