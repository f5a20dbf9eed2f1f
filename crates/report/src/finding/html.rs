//! A diagnosis as one self-contained HTML page.

use serde::Serialize;

use super::diagnosis_report::DiagnosisReport;
use crate::html as page;
use crate::html::finding_view::FindingView;
use crate::run::ReportError;

/// Template of the page.
const PAGE: &str = include_str!("diagnosis.html");

/// Everything on the page.
#[derive(Serialize)]
struct DiagnosisPage<'a> {
    fleet: &'a str,
    origin: String,
    summary: String,
    /// CSS class: `failed` if there is a failure, `notice` if there are notices and waived findings only, `passed` if nothing was found.
    verdict: &'static str,
    findings: Vec<FindingView>,
    in_progress: Vec<String>,
    gaps: Vec<String>,
}

/// Returns the page.
///
/// # Errors
/// Returns an error if the template can't be filled: a bug.
pub fn render(report: &DiagnosisReport<'_>) -> Result<String, ReportError> {
    let findings = report.findings();
    let verdict = if findings.iter().any(diagnosis::Finding::is_failure) {
        "failed"
    } else if findings.is_empty() {
        "passed"
    } else {
        "notice"
    };
    let known = DiagnosisPage {
        fleet: report.fleet(),
        origin: report.origin(),
        summary: report.summary(),
        verdict,
        findings: findings.iter().map(FindingView::of).collect(),
        in_progress: report.in_progress(),
        gaps: report.gaps(),
    };
    page::render(PAGE, &known)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use diagnosis::Diagnosis;

    use super::super::diagnosis_report::{ObjectSource, tests::snapshot};
    use super::*;
    use crate::run::fixture;

    fn page(findings: Vec<diagnosis::Finding>) -> String {
        let (snapshot, contexts) = (snapshot(), BTreeMap::new());
        let diagnosis = Diagnosis { findings, in_progress: Vec::new() };
        let report = DiagnosisReport::new(("<prod>", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis);
        render(&report).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }

    #[test]
    fn a_finding_with_a_consequence() {
        let mut finding = fixture::member_namespace_finding();
        finding.consequences.push(fixture::stale_approval_finding());
        let page = page(vec![finding]);
        insta::assert_snapshot!(page[page.find("<body>").unwrap()..]);
    }

    #[test]
    fn a_waived_finding_is_no_failure() {
        let page = page(vec![fixture::waived_finding()]);
        assert!(page.contains("<p>Waived until 2027-01-31: the team repairs it with the next release</p>"), "{page}");
        assert!(page.contains("class=\"badge notice\"") && !page.contains("class=\"badge failed\""), "{page}");
    }

    #[test]
    fn nothing_was_found_and_names_are_no_markup() {
        let page = page(Vec::new());
        assert!(page.contains("<title>fleetdrill: &lt;prod&gt;</title>"), "{page}");
        assert!(page.contains("nothing found in 2 members (1 read)"), "{page}");
        assert!(!page.contains("<article"), "{page}");
    }
}
