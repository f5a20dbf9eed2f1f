//! Tests of the sums and the texts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemas::DocumentSchema;
use serde_json::Value;

use super::drill::{CauseResult, DrillResult, FaultResult, ScenarioPlace, TrafficResult, WrongFinding};
use super::{AccuracyReport, AccuracyRun, ConfusionKind, DrillPlan, PlannedScenario, SCHEMA, plan_text, text};
use crate::text::style::OutputLayout;

fn place(name: &str, line: usize) -> ScenarioPlace {
    ScenarioPlace { file: "kubefleet/applying.feature".into(), line, name: name.into() }
}

/// Cause that was found after this many seconds, or missed with these codes instead.
fn cause(code: &str, result: Result<f64, &[&str]>) -> CauseResult {
    CauseResult {
        code: code.into(),
        expected: vec![format!("{code} for ClusterResourcePlacement/web-abcd000 (member-1)")],
        found: result.is_ok(),
        seconds: result.ok(),
        instead: result.err().unwrap_or_default().iter().map(ToString::to_string).collect(),
    }
}

fn fault(codes: &[&str], causes: Vec<CauseResult>) -> FaultResult {
    FaultResult {
        scenario: place("An object isn't applied", 68),
        suffix: "abcd000".into(),
        offset: 2.5,
        codes: codes.iter().map(ToString::to_string).collect(),
        not_induced: causes.is_empty().then(|| "Then placement \"web\" reports: after 90 s: it isn't there".into()),
        causes,
    }
}

fn wrong(code: &str, beside: &[&str], at_end: bool) -> WrongFinding {
    WrongFinding {
        code: code.into(),
        subject: "ClusterResourcePlacement/web-abcd001 (member-2)".into(),
        cause: "The rollout of web-abcd001 is held back on member-2 by the placement's own limits.".into(),
        beside: beside.iter().map(ToString::to_string).collect(),
        first_seconds: 4.2,
        last_seconds: 9.7,
        at_end,
        bundle: Some(PathBuf::from("report/accuracy/seed-1-drill-2-wrong-1.tar.gz")),
    }
}

fn drill(number: u32, findings: usize, faults: Vec<FaultResult>) -> DrillResult {
    DrillResult { number, seed: 1, seconds: 31.0, snapshots: 25, findings, faults, ..DrillResult::default() }
}

/// Report of three drills, the last of them all right.
fn report() -> AccuracyReport {
    let missed = cause("KF-AP-004", Err(&["KF-RO-002"]));
    let healthy = TrafficResult {
        scenario: place("An object is applied", 90),
        suffix: "abcd001".into(),
        offset: 0.0,
        ended_early: Some("it isn't healthy: the agent of member-1 stopped".into()),
    };
    let second = DrillResult {
        healthy: vec![healthy],
        wrong: vec![wrong("KF-RO-002", &["KF-AP-004"], true), wrong("KF-RO-002", &[], false)],
        symptoms: vec![wrong("KF-UR-006", &["KF-MC-001"], true)],
        bundle: Some(PathBuf::from("report/accuracy/seed-1-drill-2-missed.tar.gz")),
        ..drill(2, 4, vec![fault(&["KF-AP-004"], vec![missed]), fault(&["KF-UR-001"], Vec::new())])
    };
    let first = fault(&["KF-AP-004", "KF-WS-001"], vec![cause("KF-AP-004", Ok(1.5)), cause("KF-WS-001", Ok(0.5))]);
    let silent = drill(1, 1, vec![fault(&["KF-MC-001"], vec![cause("KF-MC-001", Err(&[]))])]);
    let third = drill(3, 2, vec![first, fault(&["KF-AP-004"], vec![cause("KF-AP-004", Ok(2.5))])]);
    let run = AccuracyRun {
        seed: 1,
        fleetdrill: "0.1.0".into(),
        kubefleet: "v0.1.2".into(),
        members: 3,
        jobs: 2,
        fault_cases: 120,
        healthy_cases: 20,
        left_out: BTreeMap::from([("Argo CD".to_owned(), 66), ("KubeFleet is upgraded".to_owned(), 1)]),
        seconds: 93.4,
    };
    AccuracyReport::new(run, vec![third, silent, second], vec![wrong("KF-MC-001", &[], false)])
}

fn plain(report: &AccuracyReport) -> String {
    anstream::adapter::strip_str(&text(report, OutputLayout::default())).to_string()
}

#[test]
fn everything_there_can_be() {
    insta::assert_snapshot!(plain(&report()));
}

#[test]
fn all_is_right() {
    let full = report();
    let third = full.results[2].clone();
    let good = AccuracyReport::new(full.run, vec![third], Vec::new());
    assert!(good.is_good());
    insta::assert_snapshot!(plain(&good));
}

#[test]
fn schema_is_published() {
    let published = DocumentSchema { document: "scores", number: SCHEMA };
    published.publish::<AccuracyReport>("Scores of the diagnosis (`fleetdrill accuracy --output json`)");
    let full = report();
    published.check_that_changes_are_noticed(&serde_json::to_value(&full).expect("JSON"));
    let nothing = AccuracyReport::new(full.run, Vec::new(), Vec::new());
    published.check(&serde_json::to_value(nothing).expect("JSON"));
}

#[test]
fn sums_are_numbers_at_the_top() {
    let value: Value = serde_json::to_value(report()).expect("JSON");
    let top: Vec<(&String, &Value)> = value.as_object().expect("an object").iter().take(9).collect();
    let names = ["schema", "drills", "causes", "found", "missed", "wrong", "symptoms", "findings", "not_induced"];
    assert_eq!(top.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    let numbers: Vec<u64> = top.iter().map(|(_, number)| number.as_u64().expect("a number")).collect();
    assert_eq!(numbers, [1, 3, 5, 3, 2, 3, 1, 8, 1]);
    assert_eq!(value["results"][0]["number"], 1, "drills are ordered");
}

#[test]
fn codes_have_medians_and_count_each_drill_once() {
    let report = report();
    let of = |code: &str| report.codes.iter().find(|score| score.code == code).expect("a score");
    let applied = of("KF-AP-004");
    assert_eq!((applied.drills, applied.found, applied.missed), (2, 2, 1));
    assert_eq!(applied.median_seconds, Some(1.5), "the lower one of 1.5 and 2.5");
    assert_eq!((of("KF-RO-002").wrong, of("KF-RO-002").drills), (2, 0));
    assert_eq!((of("KF-MC-001").wrong, of("KF-MC-001").missed), (1, 1));
    assert_eq!(of("KF-UR-006").symptoms, 1);
}

#[test]
fn what_was_said_instead_is_not_counted_again_as_beside() {
    let report = report();
    let rows = report.confusions.iter().map(|c| (c.expected.join(" "), c.said.as_deref(), c.kind, c.times));
    let rows: Vec<_> = rows.collect();
    assert!(rows.contains(&("KF-AP-004".into(), Some("KF-RO-002"), ConfusionKind::Instead, 1)), "{rows:?}");
    assert!(rows.contains(&("KF-MC-001".into(), None, ConfusionKind::Instead, 1)), "{rows:?}");
    assert!(rows.contains(&(String::new(), Some("KF-RO-002"), ConfusionKind::ForAWhile, 1)), "{rows:?}");
    assert!(!rows.iter().any(|(expected, _, kind, _)| expected == "KF-AP-004" && *kind == ConfusionKind::Beside));
    assert_eq!(rows.len(), 5, "{rows:?}");
}

#[test]
fn good_is_95_percent_found_and_2_percent_wrong() {
    let of = |causes: usize, found: usize, findings: usize, wrong: usize, symptoms: usize| {
        AccuracyReport { causes, found, wrong, symptoms, findings, ..report() }.is_good()
    };
    assert!(of(100, 95, 100, 2, 0) && of(100, 95, 100, 1, 1));
    assert!(!of(100, 94, 100, 0, 0));
    assert!(!of(100, 100, 100, 3, 0) && !of(100, 100, 100, 2, 1));
    assert!(!of(0, 0, 0, 0, 0), "nothing was shown");
}

#[test]
fn a_plan_names_scenarios_with_their_offsets() {
    let planned = |name: &str, codes: &[&str], offset: f64| PlannedScenario {
        scenario: place(name, 68),
        codes: codes.iter().map(ToString::to_string).collect(),
        offset,
    };
    let faults = vec![planned("An object isn't applied", &["KF-AP-004"], 2.5)];
    let drill = DrillPlan { number: 7, faults, healthy: vec![planned("An object is applied", &[], 0.0)] };
    let text = plan_text(1, &[drill], 80);
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
}
