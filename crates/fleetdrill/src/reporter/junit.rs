//! The XML that CI systems know from `JUnit`: one test suite per feature, one test case per scenario.
//!
//! A scenario that failed is a `failure`, one that was interrupted an `error` (what it would have shown is unknown), one
//! that was not run `skipped`. The failure's text has everything that is needed to understand it without the run.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use steps::record::{Outcome, RunRecord, ScenarioRecord, What};

use super::{scenario, summary};
use crate::output::clean;
use crate::output::style::Look;

/// The report.
pub(super) fn to_xml(run: &RunRecord) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut report = Report::new("fleetdrill");
    report.set_time(duration(run.seconds));
    let mut files: Vec<&str> = Vec::new();
    for record in &run.scenarios {
        if !files.contains(&record.file.as_str()) {
            files.push(&record.file);
        }
    }
    for file in files {
        let scenarios: Vec<_> = run.scenarios.iter().filter(|record| record.file == file).collect();
        report.add_test_suite(suite(run, &scenarios));
    }
    Ok(report.to_string()?)
}

fn suite(run: &RunRecord, scenarios: &[&ScenarioRecord]) -> TestSuite {
    let mut suite = TestSuite::new(clean(scenarios.first().map_or("", |record| &record.feature)));
    suite.set_time(duration(scenarios.iter().map(|record| record.seconds).sum()));
    if let Some(start) = scenarios.iter().map(|record| record.started_at).min() {
        // quick-junit's own field wants chrono's type.
        suite.extra.insert("timestamp".into(), format!("{start:.0}").into());
    }
    suite.add_property(property("run", &run.id));
    suite.add_property(property("provider", &run.provider));
    suite.add_property(property("fleetdrill", &run.fleetdrill));
    for (component, version) in &run.versions {
        suite.add_property(property(component, version));
    }
    suite.add_test_cases(scenarios.iter().map(|record| case(run, record)));
    suite
}

fn case(run: &RunRecord, record: &ScenarioRecord) -> TestCase {
    let headline = clean(&scenario::headline(record));
    let status = match record.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::NotRun => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(headline.as_str());
            status
        }
        Outcome::Failed | Outcome::Interrupted => {
            let (kind, ty) = if record.outcome == Outcome::Failed {
                (NonSuccessKind::Failure, "failed")
            } else {
                (NonSuccessKind::Error, "interrupted")
            };
            let mut status = TestCaseStatus::non_success(kind);
            status
                .set_message(headline.as_str())
                .set_type(ty)
                .set_description(format!("\n{}", scenario::story(record, Look::default())));
            status
        }
    };
    let mut case = TestCase::new(clean(&record.scenario), status);
    case.set_classname(clean(&record.file));
    case.set_time(duration(record.seconds));
    case.add_property(property("line", &record.line.to_string()));
    for code in scenario::codes(record) {
        case.add_property(property("code", code));
    }
    for entry in &record.entries {
        if let What::FastForwarded { action } = &entry.what {
            case.add_property(property("fast-forward", action));
        }
    }
    if summary::pods_were_played(run, record) {
        case.add_property(property("pods", "simulated kubelet"));
    }
    case
}

fn property(name: &str, value: &str) -> Property {
    Property::new(clean(name), clean(value))
}

/// A record's seconds; what no duration can be counts as none.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(to_xml(&fixture::run()).unwrap());
    }

    #[test]
    fn stays_xml_whatever_a_message_contains() {
        let mut run = fixture::run();
        let ugly = "bell \u{7} colour \u{1b}[31mred\u{1b}[0m nul \0 ]]> <a b='\"&amp;'> \u{ffff}\u{85} end";
        for record in &mut run.scenarios {
            record.feature = ugly.to_owned();
            record.scenario = format!("{ugly}\n{ugly}");
            record.reason = record.reason.as_ref().map(|_| ugly.to_owned());
            for entry in &mut record.entries {
                if let What::Failed { error } = &mut entry.what {
                    ugly.clone_into(error);
                }
            }
        }
        let xml = to_xml(&run).unwrap();
        assert!(!xml.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{ffff}'), "{xml}");
        let read = Report::deserialize_from_str(&xml).unwrap();
        assert_eq!(read.tests, run.scenarios.len());
        assert_eq!((read.failures, read.errors, read.skipped), (1, 1, 2));
        assert!(xml.contains("colour red nul"), "{xml}");
    }
}
