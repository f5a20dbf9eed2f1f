//! A diagnosis as metrics in the text format of `OpenMetrics`, which Prometheus and its textfile collector read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;

use diagnosis::{Finding, Severity};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::diagnosis_report::DiagnosisReport;

/// Labels of findings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EncodeLabelSet)]
struct FindingLabels {
    code: String,
    severity: SeverityLabel,
}

/// Severity of a finding, or that it is waived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum SeverityLabel {
    Failure,
    Notice,
    Waived,
}

impl EncodeLabelValue for SeverityLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        let name = match self {
            Self::Failure => "failure",
            Self::Notice => "notice",
            Self::Waived => "waived",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

/// Label of members: whether they were read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MemberLabels {
    state: &'static str,
}

/// Findings with the same labels.
#[derive(Default)]
struct FindingGroup {
    count: i64,
    /// Start of the oldest one, where the objects tell.
    since: Option<Timestamp>,
}

/// Content type of the metrics.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the metrics of a diagnosis that failed: only that it did.
#[must_use]
pub fn render_failed() -> String {
    let mut registry = Registry::with_prefix("fleetdrill");
    register_succeeded(&mut registry, false);
    encoded(&registry)
}

fn register_succeeded(registry: &mut Registry, succeeded: bool) {
    let gauge: Gauge = Gauge::default();
    gauge.set(i64::from(succeeded));
    registry.register("diagnosis_succeeded", "1 if the fleet could be diagnosed, 0 if its hub couldn't be read", gauge);
}

fn encoded(registry: &Registry) -> String {
    let mut text = String::new();
    // A write to a String can't fail.
    let _ = encode(&mut text, registry);
    text
}

/// Returns the metrics of a diagnosis. Findings that another finding explains don't count.
#[must_use]
pub fn render(report: &DiagnosisReport<'_>) -> String {
    let mut groups = BTreeMap::<FindingLabels, FindingGroup>::new();
    for finding in report.findings() {
        let group = groups.entry(FindingLabels::of(finding)).or_default();
        group.count += 1;
        group.since = group.since.into_iter().chain(finding.since).min();
    }
    let (findings, ages) = (Family::<FindingLabels, Gauge>::default(), Family::<FindingLabels, Gauge>::default());
    for (labels, FindingGroup { count, since }) in groups {
        if let Some(since) = since {
            ages.get_or_create(&labels).set(report.now().duration_since(since).as_secs().max(0));
        }
        findings.get_or_create(&labels).set(count);
    }
    let members = Family::<MemberLabels, Gauge>::default();
    for (state, count) in report.members_by_state() {
        members.get_or_create(&MemberLabels { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    let (complete, taken_at): (Gauge, Gauge<f64, AtomicU64>) = (Gauge::default(), Gauge::default());
    complete.set(i64::from(report.is_complete()));
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
    taken_at.set(report.taken_at().as_millisecond() as f64 / 1000.0);

    let count = |label| report.findings().iter().filter(|finding| SeverityLabel::of(finding) == label).count();
    let [failures, notices, waived] =
        [SeverityLabel::Failure, SeverityLabel::Notice, SeverityLabel::Waived].map(|label| {
            let gauge = Gauge::<i64>::default();
            gauge.set(i64::try_from(count(label)).unwrap_or(i64::MAX));
            gauge
        });

    let mut registry = Registry::with_prefix("fleetdrill");
    registry.register("failures", "Findings that are failures", failures);
    registry.register("notices", "Findings that are notices", notices);
    registry.register("waived", "Findings that a waiver covers; they are neither failures nor notices", waived);
    registry.register("findings", "Findings by failure code and severity", findings);
    let help = "Age of the oldest finding by failure code and severity";
    registry.register_with_unit("oldest_finding_age", help, Unit::Seconds, ages);
    registry.register("members", "Members by whether they were read", members);
    registry.register("diagnosis_complete", "1 if everything that the diagnosis needs could be read", complete);
    let help = "Time at which the objects were read, in seconds since 1970";
    registry.register_with_unit("diagnosis_timestamp", help, Unit::Seconds, taken_at);
    register_succeeded(&mut registry, true);
    encoded(&registry)
}

impl FindingLabels {
    fn of(finding: &Finding) -> Self {
        Self { code: finding.code.to_string(), severity: SeverityLabel::of(finding) }
    }
}

impl SeverityLabel {
    fn of(finding: &Finding) -> Self {
        match finding.severity {
            _ if finding.waived.is_some() => Self::Waived,
            Severity::Failure => Self::Failure,
            Severity::Notice => Self::Notice,
        }
    }
}

#[cfg(test)]
mod tests {
    use diagnosis::Diagnosis;

    use super::super::diagnosis_report::{ObjectSource, tests::snapshot};
    use super::*;
    use crate::run::fixture;

    fn metrics(findings: Vec<Finding>) -> String {
        let (snapshot, contexts) = (snapshot(), BTreeMap::new());
        let diagnosis = Diagnosis { findings, in_progress: Vec::new() };
        render(&DiagnosisReport::new(("prod", ObjectSource::Live), &snapshot, &contexts, None, &diagnosis))
    }

    #[test]
    fn findings_are_counted_by_code() {
        let mut second = fixture::stale_approval_finding();
        second.since = Some("2026-11-21T02:10:00Z".parse().unwrap());
        let mut third = second.clone();
        third.since = None;
        let text = metrics(vec![fixture::stale_approval_finding(), second, third, fixture::waived_finding()]);
        // The families have no order of their own.
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_diagnosis_that_failed_has_no_counts() {
        insta::assert_snapshot!(render_failed());
    }

    #[test]
    fn a_fleet_that_is_well_has_no_findings() {
        let text = metrics(Vec::new());
        assert!(text.contains("fleetdrill_failures 0\n"), "{text}");
        assert!(!text.contains("fleetdrill_findings{"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
