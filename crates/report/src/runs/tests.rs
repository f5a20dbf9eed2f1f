//! Tests on the runs of the fixture.

use jiff::ToSpan as _;
use record::{Outcome, PodEnd, RepeatedShard, RunRecord};
use schemas::DocumentSchema;

use super::changes::RunChanges;
use super::compare::RunComparison;
use super::json::{RunsReport, SCHEMA};
use super::merge::{FlakyScenario, MergeError, MergedRuns};
use super::text;
use crate::run::{fixture, to_html};
use crate::text::style::OutputLayout;

fn named(id: &str) -> RunRecord {
    RunRecord { id: id.to_owned(), ..fixture::run() }
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn repeated_shards_of_all_runs_are_kept() {
    let repeated = |shard| RepeatedShard { shard, pod: format!("drill-{shard}-x"), end: PodEnd::OutOfMemory };
    let with = |id, shard| RunRecord { repeated_shards: vec![repeated(shard)], ..named(id) };
    let merged = MergedRuns::of(&[with("abcd", 1), with("efgh", 3)]).unwrap().record;
    assert_eq!(merged.repeated_shards, [repeated(1), repeated(3)]);
}

#[test]
fn shards_become_the_whole() {
    let whole = named("abcd");
    let mut shards = [named("abcd"), named("efgh")];
    shards[0].scenarios.truncate(2);
    shards[1].scenarios.drain(..2);
    let merged = MergedRuns::of(&shards).unwrap().record;
    assert_eq!(merged.id, "abcd, efgh");
    let mut expected = whole.scenarios;
    expected.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    assert_eq!(merged.scenarios, expected);
    // They ran at the same time.
    assert!((merged.seconds - whole.seconds).abs() < 0.01, "{}", merged.seconds);
}

#[test]
fn repetitions_have_the_worst_outcome_and_are_flaky() {
    let mut again = named("efgh");
    again.started_at = again.started_at.checked_add(1.hour()).unwrap();
    for record in &mut again.scenarios {
        record.outcome = match record.outcome {
            Outcome::Passed => Outcome::Failed,
            Outcome::Failed => Outcome::Passed,
            other => other,
        };
    }
    let merged = MergedRuns::of(&[named("abcd"), again]).unwrap();
    let failed = merged.record.scenarios.iter().filter(|record| record.outcome == Outcome::Failed);
    assert_eq!(failed.count(), 2);
    assert!((merged.record.seconds - 2.0 * named("abcd").seconds).abs() < 0.01, "{}", merged.record.seconds);
    insta::assert_snapshot!(plain(&text::flaky(&merged.flaky(), OutputLayout::default())));
}

#[test]
fn runs_that_differ_are_refused() {
    let other = |change: fn(&mut RunRecord)| {
        let mut run = named("efgh");
        change(&mut run);
        MergedRuns::of(&[named("abcd"), run]).map(|_| ()).map_err(|error| error.to_string())
    };
    let versions = other(|run| run.versions[0].1 = "v9.9.9".to_owned());
    assert_eq!(versions, Err("the runs abcd and efgh can't be merged: kubefleet v0.1.2 and v9.9.9".to_owned()));
    let providers = other(|run| run.provider = "kind".to_owned());
    assert_eq!(providers, Err("the runs abcd and efgh can't be merged: provider local and kind".to_owned()));
    assert_eq!(other(|run| run.id = "abcd".to_owned()), Err("run abcd is given twice".to_owned()));
    assert_eq!(MergedRuns::of(&[]).unwrap_err(), MergeError::NoRun);
    // A shard without scenarios of Argo CD has no version of it.
    assert_eq!(other(|run| run.versions.truncate(1)), Ok(()));
}

/// Earlier and later runs: one scenario fails now, one passes now, one is slower, one is gone and one is new.
fn changed() -> (MergedRuns, MergedRuns) {
    let (mut before, mut after) = (named("abcd"), named("efgh"));
    before.scenarios.push(fixture::passed());
    after.scenarios.push(fixture::passed());
    let [slow_before, slow_after] = [&mut before, &mut after].map(|run| run.scenarios.last_mut().unwrap());
    slow_before.scenario = "A change arrives".to_owned();
    slow_after.scenario = "A change arrives".to_owned();
    slow_after.seconds = 2.5 * slow_before.seconds;
    after.scenarios[0].outcome = Outcome::Failed;
    after.scenarios[0].reason = Some("the placement isn't available".to_owned());
    after.scenarios[1].outcome = Outcome::Passed;
    after.scenarios[4].scenario = "A quota is used up".to_owned();
    (MergedRuns::of(&[before]).unwrap(), MergedRuns::of(&[after]).unwrap())
}

#[test]
fn what_has_changed() {
    let (before, after) = changed();
    let comparison = RunComparison::of(&before, &after);
    assert!(comparison.is_worse());
    insta::assert_snapshot!(plain(&text::comparison(&comparison, OutputLayout::default())));
    insta::assert_json_snapshot!(RunsReport::of(&after, Some(&comparison)));
}

#[test]
fn what_has_changed_is_on_the_page() {
    let (before, after) = changed();
    let changes = RunChanges {
        flaky: vec![FlakyScenario {
            file: "features/web.feature".into(),
            line: 7,
            scenario: "A <b>change</b> arrives".into(),
            passed: 3,
            failed: 1,
        }],
        comparison: Some(RunComparison::of(&before, &after)),
    };
    let page = to_html(&after.record, &changes).unwrap();
    let from = page.find("<section id=\"flaky\">").unwrap();
    let until = page.find("<section id=\"scenarios\">").unwrap();
    insta::assert_snapshot!(page[from..until].trim());
    assert!(page.contains("<a href=\"#flaky\">") && page.contains("<a href=\"#compared\">"));
    // A run that is compared with nothing has no such sections.
    let alone = to_html(&after.record, &RunChanges::default()).unwrap();
    assert!(!alone.contains("flaky") && !alone.contains("compared"));
}

#[test]
fn schema_is_published() {
    let published = DocumentSchema { document: "report", number: SCHEMA };
    published.publish::<RunsReport<'_>>("Report about several runs (`fleetdrill report --output json`)");
    let (before, after) = changed();
    let comparison = RunComparison::of(&before, &after);
    let document = |report: RunsReport<'_>| serde_json::to_value(report).unwrap();
    published.check_that_changes_are_noticed(&document(RunsReport::of(&after, Some(&comparison))));
    published.check(&document(RunsReport::of(&before, None)));
}

#[test]
fn a_run_doesnt_differ_from_itself() {
    let runs = MergedRuns::of(&[named("abcd")]).unwrap();
    let comparison = RunComparison::of(&runs, &runs);
    assert!(!comparison.is_worse());
    assert_eq!(comparison.differences.len(), 0, "{:?}", comparison.differences);
}

#[test]
fn a_false_alarm_is_worse_if_it_is_new() {
    let runs = |run: RunRecord| MergedRuns::of(&[run]).unwrap();
    let quiet = runs(RunRecord { continuous_diagnosis: None, ..fixture::run_with_false_alarms() });
    let alarmed = runs(fixture::run_with_false_alarms());
    assert!(RunComparison::of(&quiet, &alarmed).is_worse());
    assert!(!RunComparison::of(&alarmed, &alarmed).is_worse());
    assert!(!RunComparison::of(&alarmed, &quiet).is_worse());
}
