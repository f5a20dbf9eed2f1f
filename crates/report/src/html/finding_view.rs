//! Finding as a template prints it.

use diagnosis::{Evidence, Finding, Remedy, Severity};
use jiff::Timestamp;
use serde::Serialize;

use crate::finding::subjects::subjects_text;

/// Finding with all its texts.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FindingView {
    code: String,
    title: String,
    /// CSS class: `failed` or `notice`; the latter also for a waived finding.
    severity: &'static str,
    subjects: String,
    cluster: String,
    cause: String,
    since: Option<String>,
    data_loss: Option<String>,
    superseded_by: Option<String>,
    waived: Option<WaiverView>,
    evidence: Vec<EvidenceView>,
    remedies: Vec<RemedyView>,
    guide: Option<GuideView>,
    consequences: Vec<FindingView>,
}

#[derive(Clone, Debug, Serialize)]
struct WaiverView {
    until: String,
    reason: String,
}

#[derive(Clone, Debug, Serialize)]
struct EvidenceView {
    cluster: String,
    object: String,
    path: String,
    value: String,
    at: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct RemedyView {
    action: String,
    data_loss: Option<String>,
    /// Commands, one on a line.
    commands: String,
    expect: String,
}

#[derive(Clone, Debug, Serialize)]
struct GuideView {
    name: String,
    section: String,
    url: Option<String>,
}

impl FindingView {
    /// Takes the texts of a finding and of those that it explains.
    pub(crate) fn of(finding: &Finding) -> Self {
        Self {
            code: finding.code.to_string(),
            title: finding.title.clone(),
            severity: if finding.severity == Severity::Notice || finding.waived.is_some() {
                "notice"
            } else {
                "failed"
            },
            subjects: subjects_text(finding),
            cluster: finding.subject.cluster.clone(),
            cause: finding.cause.clone(),
            since: finding.since.map(time),
            data_loss: finding.data_loss.clone(),
            superseded_by: finding.superseded_by.as_ref().map(ToString::to_string),
            waived: finding
                .waived
                .as_ref()
                .map(|waiver| WaiverView { until: waiver.until.to_string(), reason: waiver.reason.clone() }),
            evidence: finding.evidence.iter().map(EvidenceView::of).collect(),
            remedies: finding.remedies.iter().map(RemedyView::of).collect(),
            guide: finding.guide.as_ref().map(|guide| GuideView {
                name: guide.name.clone(),
                section: guide.section.clone(),
                url: guide.url.clone(),
            }),
            consequences: finding.consequences.iter().map(Self::of).collect(),
        }
    }
}

impl EvidenceView {
    fn of(evidence: &Evidence) -> Self {
        let Evidence { cluster, object, path, value, at, .. } = evidence;
        Self {
            cluster: cluster.clone(),
            object: object.to_string(),
            path: path.clone(),
            value: value.clone(),
            at: at.map(time),
        }
    }
}

impl RemedyView {
    fn of(remedy: &Remedy) -> Self {
        Self {
            action: remedy.action.clone(),
            data_loss: remedy.data_loss.clone(),
            commands: remedy.commands.join("\n"),
            expect: remedy.expect.clone(),
        }
    }
}

/// Formats a time to the second, in UTC.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.0}")
}
