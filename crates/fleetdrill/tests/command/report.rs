//! `fleetdrill report`, which needs no fleet.

use ::report::run::{ReportFile, ReportFormat, fixture};
use record::{Outcome, RunRecord};
use schemas::DocumentSchema;
use serde_json::Value;

use crate::place::Place;

/// Writes the record of a run, and returns its path.
fn written(place: &Place, name: &str, run: &RunRecord) -> String {
    let path = place.write(name, "");
    ReportFile::new(ReportFormat::Json, &path).write(run).expect("written");
    path
}

/// A run in which everything passed.
fn passed(id: &str) -> RunRecord {
    let mut run = RunRecord { id: id.to_owned(), ..fixture::run() };
    run.scenarios.retain(|scenario| scenario.outcome == Outcome::Passed);
    run
}

#[test]
fn shards_are_merged_and_written_in_all_formats() {
    let place = Place::new();
    let (whole, good) = (fixture::run(), passed("good"));
    let bad = RunRecord { scenarios: whole.scenarios.into_iter().skip(1).collect(), ..fixture::run() };
    let [good, bad] = [("good.json", &good), ("bad.json", &bad)].map(|(name, run)| written(&place, name, run));
    let [junit, json, html] = ["junit.xml", "run.json", "run.html"].map(|name| place.write(name, ""));
    let said = place.run(["report", &good, &bad, "--junit", &junit, "--json", &json, "--html", &html]);
    said.expect(1, &[]);
    assert!(said.stdout.contains("1 passed, 1 failed, 1 interrupted, 2 skipped"), "{}", said.stdout);
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    assert!(read(&junit).starts_with("<?xml") && read(&html).starts_with("<!doctype html>"));
    let merged = serde_json::from_str(&read(&json)).expect("JSON");
    DocumentSchema { document: "run", number: 3 }.check(&merged);
    // What was merged can be read again.
    place.run(["report", &json]).expect(1, &[]);
    place.run(["report", &good]).expect(0, &[]);
    place.run(["report", &good, &good]).expect(2, &["run good is given twice"]);
}

#[test]
fn only_what_is_worse_fails_a_comparison() {
    let place = Place::new();
    let before = passed("old");
    let mut after = passed("new");
    let [old, same] = [("old.json", &before), ("same.json", &after)].map(|(name, run)| written(&place, name, run));
    place.run(["report", &same, "--against", &old]).expect(0, &[]);
    after.scenarios[0].outcome = Outcome::Failed;
    after.scenarios[0].reason = Some("it isn't there".to_owned());
    let new = written(&place, "new.json", &after);
    let said = place.run(["report", &new, "--against", &old]);
    said.expect(1, &[]);
    assert!(
        said.stdout.contains("\nfails now\n") && said.stdout.contains("now: failed: it isn't there"),
        "{}",
        said.stdout
    );
    let page = place.write("changes.html", "");
    place.run(["report", &new, "--against", &old, "--html", &page]).expect(1, &[]);
    assert!(std::fs::read_to_string(page).expect("written").contains("<section id=\"compared\">"));
    // It fails as before.
    place.run(["report", &new, "--against", &new]).expect(0, &[]);
    let said = place.run(["report", &new, "--against", &old, "-o", "json"]);
    let json: Value = serde_json::from_str(&said.stdout).expect("JSON");
    DocumentSchema { document: "report", number: 1 }.check(&json);
    assert_eq!(json["comparison"]["differences"][0]["verdict"], "breaks");
    // Another version is compared, and not merged.
    let mut other = passed("other");
    other.versions[0].1 = "v9.9.9".to_owned();
    let other = written(&place, "other.json", &other);
    place.run(["report", &same, &other]).expect(2, &["can't be merged: kubefleet", "report NEW --against OLD"]);
    place.run(["report", &other, "--against", &same]).expect(0, &[]);
}

#[test]
fn what_is_no_run_is_refused() {
    let place = Place::new();
    place.run(["report", "/nowhere.json"]).expect(2, &["failed to read /nowhere.json: No such file"]);
    let future = place.write("future.json", "{\"schema\": 99}");
    place
        .run(["report", &future])
        .expect(2, &["future.json can't be read: it has schema 99, and this fleetdrill reads schemas up to"]);
    place.run(["report"]).expect(2, &["<RUN.JSON>..."]);
    let run = written(&place, "run.json", &passed("good"));
    place.run(["report", &run, "--json", "-", "--html", "-"]).expect(2, &["only one of --junit, --json and --html"]);
    place.run(["report", &run, "--json", "-", "-o", "json"]).expect(2, &["leaves no place for --output"]);
}
