use serde_json::{Value, json};

use crate::shapes::{NOW, at, condition, found, green, hub, in_both_scopes, member_cluster, with};

/// A placement on member-1 with this condition there instead of the healthy ones.
fn saying(top: &str, condition_there: Value) -> Value {
    let mut placement = green("web", &["member-1"]);
    let reason = condition_there["reason"].clone();
    let top = condition(&format!("ClusterResourcePlacement{top}"), "False", reason.as_str().unwrap_or_default(), "");
    placement["status"]["conditions"] = json!([top]);
    placement["status"]["placementStatuses"][0]["conditions"] = json!([condition_there]);
    placement
}

#[test]
fn a_failed_override_is_found_and_named() {
    let text = "Failed to apply the override rules on the resources: add operation does not apply: doc is missing path: \
                \"/metadata/labels/new-label\": missing value";
    let mut placement = saying("Overridden", condition("Overridden", "False", "OverriddenFailed", text));
    placement["status"]["placementStatuses"][0]["applicableResourceOverrides"] =
        json!([{"name": "odd-one-0", "namespace": "web-app"}]);
    placement["status"]["placementStatuses"][0]["applicableClusterResourceOverrides"] = json!(["all-1"]);
    in_both_scopes(&[placement.clone()], &["KF-OV-001 {c}ResourcePlacement/{ns}web (member-1)"]);
    let findings = diagnosis::diagnose(&hub(vec![placement]));
    assert_eq!(
        findings[0].remedies[0].commands,
        [
            "kubectl --context hub edit resourceoverrides.placement.kubernetes-fleet.io/odd-one -n web-app",
            "kubectl --context hub edit clusterresourceoverrides.placement.kubernetes-fleet.io/all",
        ]
    );
}

fn held_back() -> Value {
    let text = "The rollout is being blocked by the rollout strategy";
    let placement = saying("RolloutStarted", condition("RolloutStarted", "False", "RolloutNotStartedYet", text));
    with(placement, "/spec/policy", json!({"placementType": "PickN", "numberOfClusters": 3}))
}

#[test]
fn a_rollout_that_its_own_limits_hold_back_is_found_after_a_moment() {
    in_both_scopes(&[held_back()], &["KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"]);
    let cause = diagnosis::diagnose(&hub(vec![held_back()]))[0].cause.clone();
    assert_eq!(
        cause,
        "Placement web doesn't roll out to member-1, because it may have 25% unavailable at most of 3 members, of which 1 were \
         found; those that weren't count as unavailable."
    );
    let mut young = held_back();
    let there = &mut young["status"]["placementStatuses"][0]["conditions"][0];
    *there = at(NOW, there.clone());
    assert_eq!(found(&hub(vec![young])), [""; 0]);
}

#[test]
fn members_that_are_missing_are_the_root() {
    let mut placement = held_back();
    let unfulfilled = condition("ClusterResourcePlacementScheduled", "False", "SchedulingPolicyUnfulfilled", "");
    placement["status"]["conditions"].as_array_mut().unwrap().push(unfulfilled);
    in_both_scopes(
        &[member_cluster("member-1"), placement],
        &["KF-SC-001 {c}ResourcePlacement/{ns}web", "  KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"],
    );
}

#[test]
fn a_healthy_placement_and_an_older_generation_say_nothing() {
    in_both_scopes(&[green("web", &["member-1"])], &[]);
    in_both_scopes(&[with(held_back(), "/metadata/generation", 2)], &[]);
}
