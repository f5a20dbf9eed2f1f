//! Scenarios that are for some versions of KubeFleet. Nothing here starts a fleet.

use serde_json::Value;

use crate::cache::with_cache;
use crate::place::Place;

/// A feature that no version of KubeFleet will do for, with a scenario for each side.
const FOR_OTHERS: &str = "Feature: for others

  @since-v900.0.0
  Scenario: far ahead
    Given a placement \"web\" has put its resources on \"member-1\"

  Scenario Outline: <where>
    Given a placement \"web\" has put its resources on \"member-1\"

    @before-v0.0.1
    Examples:
      | where      |
      | far behind |
";

#[test]
fn scenarios_for_another_version_are_reported_and_not_run() {
    let place = Place::new();
    let file = place.write("own.feature", FOR_OTHERS);
    let (junit, json) = (place.path("junit.xml"), place.path("run.json"));
    // An empty cache: a build would be noticed.
    let cache = place.path("cache");
    let args = ["run", &file, "--kubefleet", "v0.1.2", "--junit", "junit.xml", "--json", "run.json"];
    let said = with_cache(&place, &cache, &args);
    said.expect(
        0,
        &["nothing was run, and no fleet started: none of the scenarios is for KubeFleet v0.1.2", "hint: --kubefleet"],
    );
    assert!(!cache.join("toolchain").exists(), "something was built");
    place.nothing_is_left();

    let ahead = "needs KubeFleet v900.0.0 or later; this fleet runs v0.1.2";
    let behind = "needs KubeFleet before v0.0.1; this fleet runs v0.1.2";
    for (reason, name) in [(ahead, "far ahead"), (behind, "far behind")] {
        let group = format!("not run: 1 scenario: {reason}\n      {name} (");
        assert!(said.stdout.contains(&group), "{}", said.stdout);
    }
    assert!(said.stdout.ends_with("\n0 passed, 0 failed, 2 skipped\n"), "{}", said.stdout);

    let junit = std::fs::read_to_string(junit).expect("the JUnit file");
    for reason in [ahead, behind] {
        assert!(junit.contains(&format!("<skipped message=\"{reason}\"/>")), "{junit}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(json).expect("the JSON file")).expect("JSON");
    let scenarios = json["scenarios"].as_array().expect("scenarios").iter();
    let told: Vec<_> = scenarios.map(|s| [&s["scenario"], &s["outcome"], &s["reason"]]).collect();
    assert_eq!(told, [["far ahead", "not_run", ahead], ["far behind", "not_run", behind]]);
}

#[test]
fn a_list_says_which_versions_a_scenario_needs() {
    let place = Place::new();
    let file = place.write("own.feature", FOR_OTHERS);
    let text = place.run(["list", &file]).expect(0, &[]).stdout.clone();
    assert!(text.contains("@since-v900.0.0; needs KubeFleet v900.0.0 or later\n"), "{text}");
    let json = place.run(["list", &file, "-o", "json"]).expect(0, &[]).stdout.clone();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[1]["needs"], serde_json::json!(["KubeFleet before v0.0.1"]));
}

#[test]
fn a_tag_that_names_no_version() {
    let place = Place::new();
    let file = place.write("own.feature", &FOR_OTHERS.replace("@before-v0.0.1", "@before-0.1"));
    let wrong = "own.feature:13: tag @before-0.1 names no version: write it like @since-v0.2.0 or @before-v0.2.0";
    for command in ["run", "list"] {
        place.run([command, &file]).expect(2, &[wrong]);
    }
}

#[test]
fn a_build_of_kubefleet_is_registered_under_its_version() {
    let place = Place::new();
    let cache = place.path("cache");
    let said = with_cache(&place, &cache, &["toolchain", "add", "kubefleet", "main", "hub-agent=/bin/true"]);
    said.expect(2, &["`main` doesn't say which version of KubeFleet it is", "e.g. v0.3.1-mine"]);
}
