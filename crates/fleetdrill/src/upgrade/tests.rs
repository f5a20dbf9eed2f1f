//! What a record made by hand shows, in all reports.

use steps::record::Outcome;

use super::baseline::Baseline;
use super::compare;
use super::difference::{Kind, OutcomeBefore, Verdict, When};
use super::fixture::{old, record, scenario};
use super::record::UpgradeRecord;
use super::report::Report;
use super::story::Story;
use super::{html, json, text};
use crate::exit::Exit;
use crate::output::style::Look;

fn report() -> Report {
    Report::of(&record(), &Baseline::default())
}

/// The verdicts on what a report has of a kind.
fn verdicts(report: &Report, when: When, kind: Kind) -> Vec<Verdict> {
    report.differences.iter().filter(|d| d.when == when && d.kind == kind).map(|d| d.verdict).collect()
}

#[test]
fn as_text() {
    let text = text::render(&report(), Look::default());
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
}

#[test]
fn as_text_with_colours() {
    insta::assert_snapshot!(text::render(&report(), Look::default()).escape_debug().to_string().replace("\\n", "\n"));
}

#[test]
fn as_json() {
    let whole: serde_json::Value = serde_json::from_str(&json::render(&record(), &report()).unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<super::record::UpgradeRecord>(whole["record"].clone()).unwrap(), record());
    let mut shape = whole;
    shape.as_object_mut().unwrap().remove("record");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shape).unwrap());
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
fn one_version_differs_from_itself_in_nothing() {
    for (before, after) in old("aaaa").iter().zip(&old("zzzz")) {
        let found = compare::stories(&Story::of(before, "aaaa"), &Story::of(after, "zzzz"));
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn what_a_condition_only_passed_through_does_not_count() {
    let [stuck, ..] = &old("aaaa")[..] else { panic!("scenarios") };
    let mut other = stuck.clone();
    other.entries.remove(1);
    assert!(compare::stories(&Story::of(stuck, "aaaa"), &Story::of(&other, "aaaa")).is_empty());
    // What stood when it was asserted does.
    other.entries.remove(1);
    let found = compare::stories(&Story::of(stuck, "aaaa"), &Story::of(&other, "aaaa"));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn what_a_failed_scenario_did_not_come_to_is_not_gone() {
    let before = scenario("s", Outcome::Passed, old("aaaa")[0].entries.clone());
    let after = scenario("s", Outcome::Failed, Vec::new());
    let found = compare::stories(&Story::of(&before, "aaaa"), &Story::of(&after, "aaaa"));
    assert_eq!(found.iter().map(|f| (f.kind, f.verdict)).collect::<Vec<_>>(), [(Kind::Outcome, Verdict::Breaks)]);
}

#[test]
fn a_loss_that_was_foretold_breaks_nothing() {
    assert_eq!(verdicts(&report(), When::Forth, Kind::Loss), [Verdict::Breaks, Verdict::Differs]);
}

#[test]
fn an_upgrade_that_fails_breaks_in_its_order() {
    assert_eq!(verdicts(&report(), When::Forth, Kind::Upgrade), [Verdict::Breaks]);
    assert_eq!(verdicts(&report(), When::Back, Kind::Upgrade), [Verdict::Breaks]);
}

#[test]
fn one_that_ended_early_says_so_in_all_reports() {
    let why = "process `etcd` of the fleet has ended";
    let cut_off = UpgradeRecord { cut_off: Some(why.to_owned()), ..record() };
    let report = Report::of(&cut_off, &Baseline::default());
    assert_eq!(report.exit(), Exit::Environment);
    assert_eq!(report.differences, self::report().differences, "what was seen is told all the same");
    let text = text::render(&report, Look::default());
    assert!(anstream::adapter::strip_str(&text).to_string().contains(&format!("ended early: {why}\n")), "{text}");
    assert!(html::render(&cut_off, &report).unwrap().contains("ended early"));
    assert!(json::render(&cut_off, &report).unwrap().contains(why));
}

#[test]
fn what_was_only_in_flight_has_all_reports_too() {
    let mut in_flight = only_in_flight();
    let report = Report::of(&in_flight, &Baseline::default());
    assert!(report.matrix.iter().all(|row| row.before.is_none()) && !report.matrix.is_empty());
    let seen = in_flight.orders[0].forth.scenarios[0].scenario.clone();
    assert!(html::render(&in_flight, &report).unwrap().contains(&seen));
    in_flight.orders.clear();
    html::render(&in_flight, &Report::of(&in_flight, &Baseline::default())).unwrap();
}

/// The record of `--only in-flight`: no run before the upgrade, none after it.
fn only_in_flight() -> UpgradeRecord {
    let mut record = record();
    record.before.scenarios.clear();
    for order in &mut record.orders {
        order.after = None;
    }
    record
}

/// What a report says of the scenario that fails in flight.
fn failed_in_flight(record: &UpgradeRecord) -> (Verdict, Option<OutcomeBefore>, Option<String>) {
    let report = Report::of(record, &Baseline::default());
    let mut failed = report.differences.into_iter().filter(|d| d.when == When::Forth && d.kind == Kind::Outcome);
    let failed = failed.next().expect("a scenario fails in flight");
    (failed.verdict, failed.before, failed.was)
}

#[test]
fn a_scenario_that_was_not_tried_without_an_upgrade_is_not_said_to_fail_without_one() {
    let not_tried = (Verdict::Breaks, Some(OutcomeBefore::NotTried), Some("not tried without an upgrade".to_owned()));
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
    assert_eq!((verdict, before), (Verdict::Breaks, Some(OutcomeBefore::Passed)));
    assert_eq!(was.as_deref(), Some("passed without an upgrade"));

    let mut failed = record();
    for scenario in &mut failed.before.scenarios {
        scenario.outcome = Outcome::Failed;
    }
    let (verdict, before, was) = failed_in_flight(&failed);
    assert_eq!((verdict, before), (Verdict::Differs, Some(OutcomeBefore::Failed)));
    assert_eq!(was.as_deref(), Some("failed without an upgrade as well"));
}

#[test]
fn only_in_flight_says_in_all_reports_what_was_not_tried() {
    let record = only_in_flight();
    let report = Report::of(&record, &Baseline::default());
    assert_eq!((report.counts.breaks, report.counts.without_comparison, report.exit()), (1, 1, Exit::Found));
    let text = anstream::adapter::strip_str(&text::render(&report, Look::default())).to_string();
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
    let counts = Report::of(&record, &Baseline::default()).counts;
    assert_eq!((counts.safe, counts.not_tried), (0, record.orders[0].forth.scenarios.len()));
}

#[test]
fn a_baseline_accepts_what_it_has_and_nothing_else() {
    let baseline = Baseline::parse(&json::render(&record(), &report()).unwrap()).unwrap();
    let accepted = Report::of(&record(), &baseline);
    assert!(accepted.differences.iter().all(|d| d.accepted));
    assert_eq!((report().exit(), accepted.exit()), (Exit::Found, Exit::Fine));
    assert_eq!(accepted.counts.breaks, 0);

    // What it has of one order only is new in another one.
    let mut one = record();
    one.orders.truncate(1);
    let one = json::render(&one, &Report::of(&one, &Baseline::default())).unwrap();
    let report = Report::of(&record(), &Baseline::parse(&one).unwrap());
    let new: Vec<&str> = report.differences.iter().filter(|d| !d.accepted).map(|d| d.about.as_str()).collect();
    assert_eq!((new, report.exit()), (vec!["the upgrade"], Exit::Found));
    Baseline::parse("{}").unwrap_err();
}
