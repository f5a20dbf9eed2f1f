//! `run` with its continuous diagnosis: a failure that no scenario accounts for fails the run.

use schemas::DocumentSchema;
use serde_json::Value;

use crate::place::{Place, turn};

/// Writes a feature with a scenario that passes while the diagnosis of its placement is KF-SC-002, and returns its path.
fn unfulfilled(place: &Place, tags: &str) -> String {
    let text = format!(
        "Feature: unfulfilled

  {tags}
  Scenario: a member that doesn't exist is named
    Given a cluster-scoped placement \"web\" selects by name \"member-1\" and \"nowhere\"
    Then placement \"web\" reports for 8 seconds
      | condition | status | reason                      |
      | Scheduled | False  | SchedulingPolicyUnfulfilled |
"
    );
    place.write("unfulfilled.feature", &text)
}

fn run(place: &Place, tags: &str, more: &[&str], code: i32, last_line: &str) -> Value {
    let json = place.path("run.json").display().to_string();
    let feature = unfulfilled(place, tags);
    let args = ["run", &feature, "--members", "1", "--json", &json];
    let said = place.run(args.iter().chain(more));
    said.expect(code, &[]);
    assert_eq!(said.stdout.lines().last(), Some(last_line), "{}", said.stdout);
    place.soon_nothing_is_left();
    let record = serde_json::from_slice(&std::fs::read(json).expect("the JSON file is there")).expect("JSON");
    DocumentSchema { document: "run", number: 3 }.check(&record);
    record
}

#[test]
fn a_failure_that_no_scenario_accounts_for_fails_the_run_and_leaves_its_snapshot() {
    let _turn = turn();
    let place = Place::new();
    let report = run(&place, "@drill", &[], 1, "1 passed, 0 failed, 0 skipped, 1 false alarm");
    let alarm = &report["continuous_diagnosis"]["false_alarms"][0];
    assert_eq!(alarm["finding"]["code"], "KF-SC-002", "{alarm}");
    assert_eq!(alarm["scenario"]["line"], 4, "{alarm}");
    assert!(alarm["snapshots"].as_u64().is_some_and(|snapshots| snapshots >= 2), "{alarm}");
    let bundle = alarm["bundle"].as_str().expect("a bundle");
    place.run(["diagnose", "--from", bundle]).expect(1, &["KF-SC-002"]);

    let report = run(&place, "@drill", &["--no-continuous-diagnosis"], 0, "1 passed, 0 failed, 0 skipped");
    assert!(report.get("continuous_diagnosis").is_none(), "{report}");
}

#[test]
fn a_failure_that_the_scenario_names_doesn_t_fail_the_run() {
    let _turn = turn();
    let place = Place::new();
    for tag in ["@KF-SC-002", "@passes:KF-SC-002"] {
        let report = run(&place, tag, &[], 0, "1 passed, 0 failed, 0 skipped");
        let diagnosed = &report["continuous_diagnosis"];
        assert!(diagnosed["snapshots"].as_u64().is_some_and(|snapshots| snapshots >= 5), "{diagnosed}");
        assert_eq!(diagnosed["false_alarms"], serde_json::json!([]));
    }
}
