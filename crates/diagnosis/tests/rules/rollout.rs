use serde_json::{Value, json};

use crate::shapes::{NOW, at, condition, found, green, hub, in_both_scopes, member_cluster, with};

/// Placement on member-1 with this condition in place of the healthy ones.
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
    in_both_scopes(std::slice::from_ref(&placement), &["KF-OV-001 {c}ResourcePlacement/{ns}web (member-1)"]);
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
        "Placement web isn't rolled out to member-1, because no more than 25% of its members may be unavailable at a time. It \
         asks for 3 members and 1 was found; members that are missing count as unavailable."
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

/// Placement on both members, held back on member-1. On member-2 it is rolled out and has these conditions as well.
fn held_back_by(there: Vec<Value>, failed: Value) -> Value {
    let mut placement = green("web", &["member-1", "member-2"]);
    let reason = "RolloutNotStartedYet";
    let top = condition("ClusterResourcePlacementRolloutStarted", "False", reason, "");
    let text = "The rollout is being blocked by the rollout strategy";
    placement["status"]["conditions"] = json!([top]);
    let statuses = &mut placement["status"]["placementStatuses"];
    statuses[0]["conditions"] = json!([condition("RolloutStarted", "False", reason, text)]);
    let mut conditions = vec![condition("RolloutStarted", "True", "RolloutStarted", "")];
    conditions.extend(there);
    statuses[1]["conditions"] = conditions.into();
    statuses[1]["failedPlacements"] = failed;
    placement
}

fn not_applied(reason: &str, message: &str) -> Value {
    let there = condition("Applied", "False", "NotAllWorkHaveBeenApplied", "");
    let failed = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings",
        "condition": condition("Applied", "False", reason, message),
    }]);
    held_back_by(vec![condition("WorkSynchronized", "True", "AllWorkSynced", ""), there], failed)
}

/// Returns all commands and actions of the consequence.
fn advice(snapshot: &diagnosis::Snapshot) -> String {
    let findings = diagnosis::diagnose(snapshot);
    let held = findings.iter().flat_map(diagnosis::Finding::flatten).find(|f| f.code.0 == "KF-RO-002").unwrap();
    let texts = held.remedies.iter().flat_map(|r| r.commands.iter().chain([&r.action, &r.expect]));
    texts.cloned().collect::<Vec<_>>().join("\n")
}

fn assert_limits_stay(snapshot: &diagnosis::Snapshot) {
    let advice = advice(snapshot);
    for loosening in ["maxUnavailable", "kubectl --context hub edit", "kubectl --context hub patch", "more members"] {
        assert!(!advice.contains(loosening), "{advice}");
    }
}

#[test]
fn an_object_that_is_not_taken_over_on_another_member_holds_the_rollout_back() {
    let placement = not_applied("NotTakenOver", "takeover is needed");
    let expected =
        ["KF-AP-002 {c}ResourcePlacement/{ns}web (member-2)", "  KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(std::slice::from_ref(&placement), &expected);
    assert_limits_stay(&hub(vec![placement.clone()]));
    let held = &diagnosis::diagnose(&hub(vec![placement]))[0].consequences[0];
    assert!(held.cause.ends_with("member-2 is not available."), "{}", held.cause);
    assert!(held.remedies[0].action.contains("Fix the cause"), "{}", held.remedies[0].action);
    let quoted = held.evidence.iter().find(|e| e.path.contains("member-2")).unwrap();
    assert_eq!(quoted.value, "Applied=False NotAllWorkHaveBeenApplied");
}

#[test]
fn an_object_that_another_member_refuses_holds_the_rollout_back() {
    let message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
    let placement = not_applied("ManifestApplyFailed", message);
    let expected =
        ["KF-AP-014 {c}ResourcePlacement/{ns}web (member-2)", "  KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(std::slice::from_ref(&placement), &expected);
    assert_limits_stay(&hub(vec![placement]));
}

/// Conditions of resources that are applied on member-2 but unavailable since the given time.
fn unavailable(since: &str) -> Value {
    let there = at(since, condition("Available", "False", "NotAllWorkAreAvailable", ""));
    held_back_by(vec![condition("Applied", "True", "AllWorkHaveBeenApplied", ""), there], json!([]))
}

#[test]
fn what_is_unavailable_on_another_member_holds_the_rollout_back() {
    let placement = unavailable("2026-01-08T11:50:00Z");
    let expected =
        ["KF-AV-003 {c}ResourcePlacement/{ns}web (member-2)", "  KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(std::slice::from_ref(&placement), &expected);
    assert_limits_stay(&hub(vec![placement]));
}

#[test]
fn a_rollout_that_is_still_on_its_way_on_another_member_is_no_failure() {
    in_both_scopes(&[unavailable("2026-01-08T11:59:00Z")], &[]);
    let just_begun = held_back_by(vec![], json!([]));
    in_both_scopes(&[just_begun], &[]);
}

/// The hub-agent begins with the next member an instant after it has seen that the one before is available.
#[test]
fn a_rollout_whose_turn_has_just_come_is_no_failure() {
    let available = |since: &str| {
        let there = at(since, condition("Available", "True", "AllWorkAreAvailable", ""));
        held_back_by(vec![there], json!([]))
    };
    let long_held = |mut placement: Value| {
        let there = &mut placement["status"]["placementStatuses"][0]["conditions"][0];
        *there = at("2026-01-08T11:58:40Z", there.clone());
        placement
    };
    let held = ["KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(&[available("2026-01-08T11:59:55Z")], &[]);
    in_both_scopes(&[long_held(available("2026-01-08T11:59:00Z"))], &[]);
    in_both_scopes(&[long_held(available("2026-01-08T11:58:40Z"))], &held);
    let impatient = with(available("2026-01-08T11:59:00Z"), "/spec/strategy/rollingUpdate/unavailablePeriodSeconds", 5);
    in_both_scopes(&[impatient], &held);
}

/// A placement that moves to other members waits for those that it has left.
#[test]
fn a_rollout_that_nothing_visible_holds_back_has_its_period() {
    let held_since = |since: &str| {
        let mut placement = with(held_back(), "/spec/policy", json!({"placementType": "PickAll"}));
        let there = &mut placement["status"]["placementStatuses"][0]["conditions"][0];
        *there = at(since, there.clone());
        placement
    };
    in_both_scopes(&[held_since("2026-01-08T11:58:50Z")], &[]);
    in_both_scopes(&[held_since("2026-01-08T11:58:40Z")], &["KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn a_member_that_is_unavailable_for_no_known_reason_is_named_and_the_limits_stay() {
    let there = at("2026-01-08T11:50:00Z", condition("Available", "Unknown", "", ""));
    let placement = held_back_by(vec![there], json!([]));
    let expected =
        ["KF-XX-001 {c}ResourcePlacement/{ns}web (member-2)", "  KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(std::slice::from_ref(&placement), &expected);
    assert_limits_stay(&hub(vec![placement]));
}

#[test]
fn a_silent_member_holds_the_rollout_back() {
    let there = vec![
        condition("WorkSynchronized", "True", "AllWorkSynced", ""),
        condition("Applied", "False", "ApplyInProgress", ""),
    ];
    let placement = held_back_by(there, json!([]));
    let heartbeat = json!([{"type": "MemberAgent", "lastReceivedHeartbeat": "2026-01-08T11:50:00Z"}]);
    let silent = with(member_cluster("member-2"), "/status/agentStatus", heartbeat);
    let expected = [
        "KF-MC-001 MemberCluster/member-2",
        "  KF-AP-001 {c}ResourcePlacement/{ns}web (member-2)",
        "    KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)",
    ];
    in_both_scopes(&[silent.clone(), member_cluster("member-1"), placement.clone()], &expected);
    assert_limits_stay(&hub(vec![silent, member_cluster("member-1"), placement]));
}

#[test]
fn where_nothing_else_has_failed_the_limits_may_be_changed() {
    let advice = advice(&hub(vec![held_back()]));
    assert!(advice.contains(r#"{"rollingUpdate":{"maxUnavailable":"50%"}}"#), "{advice}");
    assert!(advice.contains("kubectl --context hub edit"), "{advice}");
}

#[test]
fn of_many_members_that_use_up_the_limit_three_are_named() {
    let mut placement = unavailable("2026-01-08T11:50:00Z");
    let statuses = placement["status"]["placementStatuses"].as_array_mut().unwrap();
    for n in 3..=6 {
        let another = with(statuses[1].clone(), "/clusterName", format!("member-{n}"));
        statuses.push(another);
    }
    let findings = diagnosis::diagnose(&hub(vec![placement]));
    let held = findings.iter().flat_map(diagnosis::Finding::flatten).find(|f| f.code.0 == "KF-RO-002").unwrap();
    assert!(held.cause.ends_with("Now member-2, member-3, member-4, 2 more are not available."), "{}", held.cause);
    assert_eq!(held.evidence.iter().filter(|e| e.value.starts_with("Available=False")).count(), 3);
}

#[test]
fn a_limit_of_zero_is_the_cause() {
    for limit in [json!(0), json!("0%")] {
        let placement = with(held_back(), "/spec/policy", json!({"placementType": "PickAll"}));
        let placement = with(placement, "/spec/strategy/rollingUpdate/maxUnavailable", limit);
        in_both_scopes(std::slice::from_ref(&placement), &["KF-RO-002 {c}ResourcePlacement/{ns}web (member-1)"]);
        let finding = diagnosis::diagnose(&hub(vec![placement.clone()])).remove(0);
        assert!(finding.cause.contains("none of its members may be unavailable"), "{}", finding.cause);
        let advice = advice(&hub(vec![placement]));
        assert!(advice.contains("maxUnavailable") && !advice.contains("Let more members join"), "{advice}");
    }
}
