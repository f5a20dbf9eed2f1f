//! Tests of the catalogue.

use std::path::Path;

use super::*;
use crate::selection::ScenarioSelection;

/// Catalogue of the built-in features for a version with all capabilities.
pub(in crate::accuracy) fn built_in() -> DrillCatalogue {
    let suite = Suite::load(&ScenarioSelection::default()).expect("usable features");
    let all = fleet::capability::Capability::all().collect();
    DrillCatalogue::of(&suite, &all, 3, |_| true)
}

fn of(text: &str) -> DrillCatalogue {
    let feature = suite::parse(Path::new("f.feature"), &format!("Feature: f\n{text}")).expect("a feature");
    DrillCatalogue::of(&Suite { features: vec![feature] }, &Capabilities::default(), 3, |_| true)
}

fn texts(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.value.as_str()).collect()
}

const TWO_PLACES: &str = "  Background:
    Given a member \"east\" of its own
  Scenario: s
    When a placement \"web\" selects \"east\"
    Then the diagnosis finds nothing
    When the agent of member \"east\" stops
    Then within 200 seconds the diagnosis of member \"east\" is KF-MC-001
    And the diagnosis of placement \"web\" is KF-AP-001 for \"east\", because of KF-MC-001
    When the agent of member \"east\" is restarted
    Then the diagnosis of placement \"web\" is KF-WS-001 for \"east\"
    When the resources of placement \"web\" change
";

#[test]
fn a_scenario_is_cut_at_each_diagnosis() {
    let catalogue = of(TWO_PLACES);
    let [first, second] = &catalogue.faults[..] else { panic!("{catalogue:?}") };
    let before = ["a member \"east\" of its own", "a placement \"web\" selects \"east\""];
    let stop = "the agent of member \"east\" stops";
    assert_eq!(texts(&first.steps), [before[0], before[1], stop]);
    assert_eq!(texts(&second.steps), [before[0], before[1], stop, "the agent of member \"east\" is restarted"]);
    assert_eq!(first.diagnoses.len(), 2);
    assert_eq!(first.codes(), BTreeSet::from(["KF-MC-001"]));
    assert_eq!(second.codes(), BTreeSet::from(["KF-WS-001"]));
    let accounted = |codes: &BTreeSet<String>| codes.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(accounted(&first.accounted.causes), "KF-MC-001");
    assert_eq!(accounted(&first.accounted.consequences), "KF-AP-001");
    assert_eq!(accounted(&second.accounted.causes), "KF-MC-001 KF-WS-001");
    assert!(first.joins_member && catalogue.healthy.is_empty() && catalogue.left_out.is_empty());
}

#[test]
fn a_scenario_without_a_code_that_finds_nothing_is_healthy() {
    let catalogue = of("  Scenario: s
Given a placement \"web\" selects \"member-1\"
Then the diagnosis finds nothing
When the resources of placement \"web\" change
Then the diagnosis finds nothing
");
    assert!(catalogue.faults.is_empty());
    let [healthy] = &catalogue.healthy[..] else { panic!("{catalogue:?}") };
    let steps = ["a placement \"web\" selects \"member-1\"", "the resources of placement \"web\" change"];
    assert_eq!(texts(&healthy.steps), steps);
    assert!(!healthy.joins_member && !healthy.is_healthy);
}

#[test]
fn a_member_may_join_in_a_healthy_scenario() {
    let catalogue = of("  @healthy @disruptive
  Scenario: s
Given a member \"east\" of its own
Then the diagnosis finds nothing
");
    assert!(matches!(&catalogue.healthy[..], [healthy] if healthy.joins_member && healthy.is_healthy));
}

#[test]
fn what_can_t_be_combined_is_counted_by_reason() {
    let finds = "    Then the diagnosis finds nothing\n";
    let scenario = |tags: &str, name: &str, steps: &str| format!("  {tags}\n  Scenario: {name}\n{steps}{finds}");
    let catalogue = of(&[
        scenario("@needs-run-states", "b", ""),
        scenario("@needs-run-states", "c", ""),
        scenario("@upgrade", "d", ""),
        scenario("@disruptive", "e", ""),
        scenario("", "f", "    Given a placement \"web\" selects \"member-4\"\n"),
        scenario("", "g", "    Given a fleet of its own with 1 member\n"),
        "  Scenario: h\n    Given a placement \"web\" selects \"member-1\"\n".to_owned(),
    ]
    .concat());
    let left_out: Vec<(&str, usize)> = catalogue.left_out.iter().map(|(why, n)| (why.as_str(), *n)).collect();
    let expected = [
        ("KubeFleet is upgraded", 1),
        ("for another version of KubeFleet", 2),
        ("for more members", 1),
        ("no step asserts what the diagnosis says", 1),
        ("on a fleet of its own", 1),
        ("something breaks, and no step asserts its diagnosis", 1),
    ];
    assert_eq!(left_out, expected);
    assert!(catalogue.faults.is_empty() && catalogue.healthy.is_empty());
}

#[test]
fn the_built_in_features_have_faults_of_all_families_and_healthy_traffic() {
    let catalogue = built_in();
    let codes: BTreeSet<&str> = catalogue.faults.iter().flat_map(FaultCase::codes).collect();
    for family in
        ["AR-SF-", "AR-XX-", "KF-AP-", "KF-AV-", "KF-DR-", "KF-MC-", "KF-OV-", "KF-RO-", "KF-SC-", "KF-UR-", "KF-WS-"]
    {
        assert!(codes.iter().any(|code| code.starts_with(family)), "{family}: {codes:?}");
    }
    assert!(catalogue.faults.iter().all(|fault| !fault.steps.is_empty()));
    assert!(catalogue.healthy.len() >= 10, "{}", catalogue.healthy.len());
}
