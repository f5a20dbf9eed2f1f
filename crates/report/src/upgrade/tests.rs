//! Tests of all reports, on a record written by hand.

use record::Outcome;
use record::UpgradeRecord;
use schemas::DocumentSchema;

use super::baseline::Baseline;
use super::difference::DifferencePeriod;
use super::fixture::{old, record, scenario};
use super::report::UpgradeReport;
use super::{html, json, text};
use crate::comparison::compare;
use crate::comparison::difference::{DifferenceKind, DifferenceVerdict, OutcomeBefore};
use crate::comparison::scenario_observations::ScenarioObservations;
use crate::text::style::OutputLayout;

fn report() -> UpgradeReport {
    UpgradeReport::of(&record(), &Baseline::default())
}

/// Returns the verdicts on a report's differences of a kind.
fn verdicts(report: &UpgradeReport, when: DifferencePeriod, kind: DifferenceKind) -> Vec<DifferenceVerdict> {
    report.differences.iter().filter(|d| d.when == when && d.kind == kind).map(|d| d.verdict).collect()
}

#[test]
fn as_text() {
    let text = text::render(&report(), OutputLayout::default());
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
}

#[test]
fn as_text_with_colours() {
    insta::assert_snapshot!(
        text::render(&report(), OutputLayout::default()).escape_debug().to_string().replace("\\n", "\n")
    );
}

#[test]
fn as_json() {
    let whole: serde_json::Value = serde_json::from_str(&json::render(&record(), &report()).unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<record::UpgradeRecord>(whole["record"].clone()).unwrap(), record());
    let mut shape = whole;
    shape.as_object_mut().unwrap().remove("record");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shape).unwrap());
}

#[test]
fn schema_is_published() {
    let published = DocumentSchema { document: "upgrade", number: json::SCHEMA };
    published.publish::<json::JsonUpgradeReport<'_>>("Report about an upgrade (`fleetdrill upgrade --json`)");
    let document = |record: &UpgradeRecord| {
        let report = UpgradeReport::of(record, &Baseline::default());
        serde_json::from_str(&json::render(record, &report).unwrap()).unwrap()
    };
    published.check_that_changes_are_noticed(&document(&record()));
    published.check(&document(&only_in_flight()));
    published.check(&serde_json::to_value(report()).unwrap());
    published.check(&document(&super::fixture_argocd::record()));
}

#[test]
fn as_html() {
    let page = html::render(&record(), &report()).unwrap();
    for outside in ["src=", "<link", "@import", "url(", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("<succeeds>"), "names are escaped");
    insta::assert_snapshot!(page);
}

#[test]
fn an_upgrade_of_argo_cd_names_it_in_all_reports() {
    let record = super::fixture_argocd::record();
    let report = UpgradeReport::of(&record, &Baseline::default());
    let text = text::render(&report, OutputLayout::default());
    let (html, json) = (html::render(&record, &report).unwrap(), json::render(&record, &report).unwrap());
    for report in [&text, &html] {
        assert!(!report.contains("KubeFleet"), "{report}");
    }
    let mut shape: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::from_value::<UpgradeRecord>(shape["record"].take()).unwrap(), record);
    insta::assert_snapshot!("argocd_as_text", anstream::adapter::strip_str(&text).to_string());
    insta::assert_snapshot!("argocd_as_json", serde_json::to_string_pretty(&shape).unwrap());
    insta::assert_snapshot!("argocd_as_html", html);
}

#[test]
fn the_advice_about_a_failed_upgrade_of_argo_cd_names_no_order() {
    let mut record = super::fixture_argocd::record();
    record.orders[0].forth.error = Some("argocd-repo-server ended (exit status: 1)".to_owned());
    let report = UpgradeReport::of(&record, &Baseline::default());
    assert_eq!(report.actions[0].what, "don't upgrade to v3.5.7");
}

#[test]
fn a_record_that_names_no_product_is_about_kubefleet() {
    let mut older = serde_json::to_value(record()).unwrap();
    older.as_object_mut().unwrap().remove("product");
    assert_eq!(serde_json::from_value::<UpgradeRecord>(older).unwrap(), record());
}

#[test]
fn one_version_differs_from_itself_in_nothing() {
    for (before, after) in old("aaaa").iter().zip(&old("zzzz")) {
        let found =
            compare::stories(&ScenarioObservations::of(before, "aaaa"), &ScenarioObservations::of(after, "zzzz"));
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn what_a_condition_only_passed_through_does_not_count() {
    let [stuck, ..] = &old("aaaa")[..] else { panic!("scenarios") };
    let mut other = stuck.clone();
    other.entries.remove(1);
    assert!(
        compare::stories(&ScenarioObservations::of(stuck, "aaaa"), &ScenarioObservations::of(&other, "aaaa"))
            .is_empty()
    );
    // Only states that were current at an assertion count.
    other.entries.remove(1);
    let found = compare::stories(&ScenarioObservations::of(stuck, "aaaa"), &ScenarioObservations::of(&other, "aaaa"));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn what_a_failed_scenario_did_not_come_to_is_not_gone() {
    let before = scenario("s", Outcome::Passed, old("aaaa")[0].entries.clone());
    let after = scenario("s", Outcome::Failed, Vec::new());
    let found = compare::stories(&ScenarioObservations::of(&before, "aaaa"), &ScenarioObservations::of(&after, "aaaa"));
    assert_eq!(
        found.iter().map(|f| (f.kind, f.verdict)).collect::<Vec<_>>(),
        [(DifferenceKind::Outcome, DifferenceVerdict::Breaks)]
    );
}

#[test]
fn a_loss_that_was_foretold_breaks_nothing() {
    assert_eq!(
        verdicts(&report(), DifferencePeriod::Forth, DifferenceKind::Loss),
        [DifferenceVerdict::Breaks, DifferenceVerdict::Differs]
    );
}

#[test]
fn an_upgrade_that_fails_breaks_in_its_order() {
    assert_eq!(verdicts(&report(), DifferencePeriod::Forth, DifferenceKind::Upgrade), [DifferenceVerdict::Breaks]);
    assert_eq!(verdicts(&report(), DifferencePeriod::Back, DifferenceKind::Upgrade), [DifferenceVerdict::Breaks]);
}

#[test]
fn one_that_ended_early_says_so_in_all_reports() {
    let why = "process `etcd` of the fleet has ended";
    let cut_off = UpgradeRecord { cut_off: Some(why.to_owned()), ..record() };
    let report = UpgradeReport::of(&cut_off, &Baseline::default());
    assert_eq!(report.cut_off.as_deref(), Some(why));
    assert_eq!(report.differences, self::report().differences, "what was seen is told all the same");
    let text = text::render(&report, OutputLayout::default());
    assert!(anstream::adapter::strip_str(&text).to_string().contains(&format!("ended early: {why}\n")), "{text}");
    assert!(html::render(&cut_off, &report).unwrap().contains("ended early"));
    assert!(json::render(&cut_off, &report).unwrap().contains(why));
}

#[test]
fn what_was_only_in_flight_has_all_reports_too() {
    let mut in_flight = only_in_flight();
    let report = UpgradeReport::of(&in_flight, &Baseline::default());
    assert!(report.matrix.iter().all(|row| row.before.is_none()) && !report.matrix.is_empty());
    let seen = in_flight.orders[0].forth.scenarios[0].scenario.clone();
    assert!(html::render(&in_flight, &report).unwrap().contains(&seen));
    in_flight.orders.clear();
    html::render(&in_flight, &UpgradeReport::of(&in_flight, &Baseline::default())).unwrap();
}

/// Returns the record of `--only in-flight`: without a run on the old version and without a run on the new one.
fn only_in_flight() -> UpgradeRecord {
    let mut record = record();
    record.before.scenarios.clear();
    for order in &mut record.orders {
        order.after = None;
    }
    record
}

/// Returns the report's difference about the scenario that fails in flight.
fn failed_in_flight(record: &UpgradeRecord) -> (DifferenceVerdict, Option<OutcomeBefore>, Option<String>) {
    let report = UpgradeReport::of(record, &Baseline::default());
    let mut failed = report
        .differences
        .into_iter()
        .filter(|d| d.when == DifferencePeriod::Forth && d.kind == DifferenceKind::Outcome);
    let failed = failed.next().expect("a scenario fails in flight");
    (failed.verdict, failed.before, failed.was)
}

#[test]
fn a_scenario_that_was_not_tried_without_an_upgrade_is_not_said_to_fail_without_one() {
    let not_tried =
        (DifferenceVerdict::Breaks, Some(OutcomeBefore::NotTried), Some("not tried without an upgrade".to_owned()));
    assert_eq!(failed_in_flight(&only_in_flight()), not_tried);

    let mut not_run = record();
    for scenario in &mut not_run.before.scenarios {
        scenario.outcome = Outcome::NotRun;
    }
    assert_eq!(failed_in_flight(&not_run), not_tried, "the run after the upgrade is no run without one");
}

#[test]
fn a_scenario_in_flight_is_compared_with_the_run_before_the_upgrade() {
    let (verdict, before, was) = failed_in_flight(&record());
    assert_eq!((verdict, before), (DifferenceVerdict::Breaks, Some(OutcomeBefore::Passed)));
    assert_eq!(was.as_deref(), Some("passed without an upgrade"));

    let mut failed = record();
    for scenario in &mut failed.before.scenarios {
        scenario.outcome = Outcome::Failed;
    }
    let (verdict, before, was) = failed_in_flight(&failed);
    assert_eq!((verdict, before), (DifferenceVerdict::Differs, Some(OutcomeBefore::Failed)));
    assert_eq!(was.as_deref(), Some("failed without an upgrade as well"));
}

#[test]
fn only_in_flight_says_in_all_reports_what_was_not_tried() {
    let record = only_in_flight();
    let report = UpgradeReport::of(&record, &Baseline::default());
    assert_eq!(
        (report.counts.breaks, report.counts.without_comparison, report.verdict),
        (1, 1, DifferenceVerdict::Breaks)
    );
    let text = anstream::adapter::strip_str(&text::render(&report, OutputLayout::default())).to_string();
    let (html, json) = (html::render(&record, &report).unwrap(), json::render(&record, &report).unwrap());
    for (report, not_tried) in [(&text, "was: not tried without"), (&html, ">not tried<"), (&json, "\"not_tried\"")] {
        assert!(report.contains(not_tried) && !report.contains("failed without"), "{report}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_scenario_that_no_upgrade_has_met_is_not_called_safe() {
    let mut record = only_in_flight();
    for scenario in &mut record.orders[0].forth.scenarios {
        *scenario = super::fixture::scenario(&scenario.scenario, Outcome::NotRun, Vec::new());
    }
    let counts = UpgradeReport::of(&record, &Baseline::default()).counts;
    assert_eq!((counts.safe, counts.not_tried), (0, record.orders[0].forth.scenarios.len()));
}

#[test]
fn a_baseline_accepts_what_it_has_and_nothing_else() {
    let baseline = Baseline::parse(&json::render(&record(), &report()).unwrap()).unwrap();
    let accepted = UpgradeReport::of(&record(), &baseline);
    assert!(accepted.differences.iter().all(|d| d.accepted));
    assert_eq!(report().verdict, DifferenceVerdict::Breaks);
    assert_ne!(accepted.verdict, DifferenceVerdict::Breaks);
    assert_eq!(accepted.counts.breaks, 0);

    // A difference that the baseline has for one order only is new in another order.
    let mut one = record();
    one.orders.truncate(1);
    let one = json::render(&one, &UpgradeReport::of(&one, &Baseline::default())).unwrap();
    let report = UpgradeReport::of(&record(), &Baseline::parse(&one).unwrap());
    let new: Vec<&str> = report.differences.iter().filter(|d| !d.accepted).map(|d| d.about.as_str()).collect();
    assert_eq!((new, report.verdict), (vec!["the upgrade"], DifferenceVerdict::Breaks));
    Baseline::parse("{}").unwrap_err();
}
