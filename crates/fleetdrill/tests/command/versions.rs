//! Scenarios that not every version of KubeFleet can run. Nothing here starts a fleet.

use serde_json::Value;

use crate::place::Place;

/// Feature with two scenarios that KubeFleet v0.1.2 can't run: one needs a capability that v0.1.2 lacks, the other the
/// absence of a capability that v0.1.2 has.
const FOR_OTHERS: &str = "Feature: for others

  @needs-run-states
  Scenario: ahead
    Given a placement \"web\" has put its resources on \"member-1\"

  Scenario Outline: <where>
    Given a placement \"web\" has put its resources on \"member-1\"

    @without-envelopes
    Examples:
      | where  |
      | behind |
";

#[test]
fn scenarios_for_another_version_are_reported_and_not_run() {
    let place = Place::new();
    let file = place.write("own.feature", FOR_OTHERS);
    let (junit, json) = (place.path("junit.xml"), place.path("run.json"));
    let args = ["run", &file, "--kubefleet", "v0.1.2", "--junit", "junit.xml", "--json", "run.json"];
    let said = place.run(args);
    said.expect(
        2,
        &["error: nothing was run: none of the scenarios is for this fleet, of KubeFleet v0.1.2", "hint: --kubefleet"],
    );
    place.nothing_is_left();

    let ahead = "needs KubeFleet with run-states; this fleet runs v0.1.2";
    let behind = "needs KubeFleet without envelopes; this fleet runs v0.1.2";
    for (reason, name) in [(ahead, "ahead"), (behind, "behind")] {
        let group = format!("not run: 1 scenario: {reason}\n      {name} (");
        assert!(said.stdout.contains(&group), "{}", said.stdout);
    }
    assert!(said.stdout.ends_with("\n0 passed, 0 failed, 2 skipped\n"), "{}", said.stdout);

    // The other jobs of a sharded run may have scenarios, so an empty shard is no error.
    place.run(["run", &file, "--kubefleet", "v0.1.2", "--shard", "1/2"]).expect(0, &[]);

    // With a report on standard output, nothing else is printed there.
    let piped = place.run(["run", &file, "--kubefleet", "v0.1.2", "--junit", "-"]);
    piped.expect(2, &["0 passed, 0 failed, 2 skipped", "JUnit: standard output"]);
    assert!(piped.stdout.starts_with("<?xml") && piped.stdout.ends_with("</testsuites>\n"), "{}", piped.stdout);

    let junit = std::fs::read_to_string(junit).expect("the JUnit file");
    for reason in [ahead, behind] {
        assert!(junit.contains(&format!("<skipped message=\"{reason}\"/>")), "{junit}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(json).expect("the JSON file")).expect("JSON");
    let scenarios = json["scenarios"].as_array().expect("scenarios").iter();
    let told: Vec<_> = scenarios.map(|s| [&s["scenario"], &s["outcome"], &s["reason"]]).collect();
    // The same list as in guides/measured/v0.1.2.yaml.
    let can = "namespaced-placements run-progress stuck-runs waiting-runs run-columns before-stage-tasks optional-index \
               run-state-field strategy-changes external-reported envelopes beta-overrides awaited-deletion \
               degraded-comparison recovered-panics";
    assert_eq!(json["capabilities"], serde_json::json!(can.split_whitespace().collect::<Vec<_>>()));
    assert_eq!(told, [["ahead", "not_run", ahead], ["behind", "not_run", behind]]);
}

#[test]
fn a_list_says_which_versions_a_scenario_needs() {
    let place = Place::new();
    let file = place.write("own.feature", FOR_OTHERS);
    let text = place.run(["list", &file]).expect(0, &[]).stdout.clone();
    assert!(text.contains("@needs-run-states; needs KubeFleet with run-states\n"), "{text}");
    let json = place.run(["list", &file, "-o", "json"]).expect(0, &[]).stdout.clone();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[1]["needs"], serde_json::json!(["KubeFleet without envelopes"]));
}

#[test]
fn a_tag_that_names_no_capability() {
    let place = Place::new();
    let file = place.write("own.feature", &FOR_OTHERS.replace("@without-envelopes", "@without-magic"));
    let wrong =
        "own.feature:13: tag @without-magic names nothing that a version of KubeFleet can or can't do; there are: ";
    for command in ["run", "list"] {
        place.run([command, &file]).expect(2, &[wrong]);
    }
}
