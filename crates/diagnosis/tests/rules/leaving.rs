use serde_json::{Value, json};

use crate::shapes::{
    NOW, at, binding, condition, deleted, found, green, hub, in_both_scopes, member_cluster, placement, with,
};

/// Placement that selects no member.
fn empty() -> Value {
    let scheduled = condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", "");
    let placement = placement("web", json!([scheduled]), &[]);
    with(placement, "/spec/policy", json!({"placementType": "PickN", "numberOfClusters": 0}))
}

/// Binding for member-1 that the scheduler has given up, with this condition, since the given time.
fn unscheduled(unmet: Value, since: &str) -> Value {
    let left = with(binding("web", "member-1", "web-0-snapshot", json!([unmet])), "/spec/state", "Unscheduled");
    with(left, "/metadata/managedFields", json!([{"manager": "hub-agent", "time": since}]))
}

fn not_applied() -> Value {
    condition("Applied", "False", "NotAllWorkHaveBeenApplied", "")
}

const LONG_AGO: &str = "2026-01-08T11:59:00Z";
const KEPT: &str = "KF-RO-004 {c}ResourcePlacement/{ns}web (member-1)";

#[test]
fn the_last_member_stays_while_it_is_not_available() {
    in_both_scopes(&[empty(), unscheduled(not_applied(), LONG_AGO)], &[KEPT]);
    let finding = diagnosis::diagnose(&hub(vec![empty(), unscheduled(not_applied(), LONG_AGO)])).remove(0);
    assert!(finding.cause.contains("It selects no member at all"), "{}", finding.cause);
    let delete =
        "kubectl --context hub delete clusterresourcebindings.placement.kubernetes-fleet.io/web-member-1-2afc7d7f";
    assert_eq!(finding.remedies[1].commands, [delete]);
}

#[test]
fn a_member_that_goes_in_its_time_says_nothing() {
    // A moment after the scheduler's decision.
    in_both_scopes(&[empty(), unscheduled(not_applied(), NOW)], &[]);
    // The binding is available, so the rollout deletes it.
    let available = condition("Available", "True", "AllWorkAreAvailable", "");
    in_both_scopes(&[empty(), unscheduled(available, LONG_AGO)], &[]);
    // It may still become available.
    let young = condition("Available", "False", "NotAllWorkAreAvailable", "");
    in_both_scopes(&[empty(), unscheduled(young, LONG_AGO)], &[]);
    let old = at("2026-01-08T11:50:00Z", condition("Available", "False", "NotAllWorkAreAvailable", ""));
    in_both_scopes(&[empty(), unscheduled(old, LONG_AGO)], &[KEPT]);
    // The member has left and joins again.
    let joins = |since: &str| with(member_cluster("member-1"), "/metadata/creationTimestamp", since);
    let of_member = |since: &str| found(&hub(vec![empty(), unscheduled(not_applied(), LONG_AGO), joins(since)]));
    assert_eq!(of_member("2026-01-08T11:59:50Z"), [""; 0]);
    assert_eq!(of_member("2026-01-08T11:00:00Z"), [KEPT.replace("{c}", "Cluster").replace("{ns}", "")]);
    // Deleted already.
    assert_eq!(found(&hub(vec![empty(), deleted(unscheduled(not_applied(), LONG_AGO))])), [""; 0]);
    // All members are available, and the rollout is about to delete the binding.
    in_both_scopes(&[green("web", &["member-2"]), unscheduled(not_applied(), LONG_AGO)], &[]);
}

#[test]
fn other_members_that_fail_keep_the_one_that_was_left() {
    let mut placement = green("web", &["member-2"]);
    let top = condition("ClusterResourcePlacementApplied", "False", "ApplyFailed", "");
    placement["status"]["conditions"][3] = top;
    placement["status"]["conditions"].as_array_mut().unwrap().truncate(4);
    let there = &mut placement["status"]["placementStatuses"][0];
    there["conditions"] = json!([condition("RolloutStarted", "True", "RolloutStarted", ""), not_applied()]);
    there["failedPlacements"] = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web-app", "name": "settings",
        "condition": condition("Applied", "False", "NotTakenOver", "takeover is needed"),
    }]);
    let objects = [placement, unscheduled(not_applied(), LONG_AGO)];
    // What is young there may still pass.
    in_both_scopes(
        &objects,
        &["KF-AP-002 {c}ResourcePlacement/{ns}web (member-2)", "  KF-RO-004 {c}ResourcePlacement/{ns}web (member-1)"],
    );
}

#[test]
fn a_rollout_that_starts_late_on_the_others_says_nothing() {
    let mut placement = green("web", &["member-2"]);
    placement["status"]["conditions"].as_array_mut().unwrap().truncate(1);
    let mut waiting = |status: &str, since: &str| {
        let held = at(since, condition("RolloutStarted", status, "RolloutNotStartedYet", ""));
        placement["status"]["placementStatuses"][0]["conditions"] = json!([held]);
        placement.clone()
    };
    let left = unscheduled(condition("Available", "True", "AllWorkAreAvailable", ""), LONG_AGO);
    in_both_scopes(&[waiting("False", "2026-01-08T11:59:58Z"), left.clone()], &[]);
    in_both_scopes(&[waiting("Unknown", "2026-01-08T11:59:40Z"), left.clone()], &[]);
    let undecided = "KF-XX-001 {c}ResourcePlacement/{ns}web (member-2)";
    in_both_scopes(&[waiting("Unknown", "2026-01-08T11:50:00Z"), left], &[undecided, &format!("  {KEPT}")]);
}

/// Placement on member-1 that is undecided since the given time.
fn undecided(since: &str) -> Value {
    let unknown = |type_: &str| at(since, condition(type_, "Unknown", "RolloutStartedUnknown", ""));
    let mut placement = green("web", &["member-1"]);
    placement["status"]["conditions"] = json!([unknown("ClusterResourcePlacementRolloutStarted")]);
    placement["status"]["placementStatuses"][0]["conditions"] = json!([unknown("RolloutStarted")]);
    placement
}

/// Old and new binding for member-1.
fn old_and_new(finalizers: Value) -> [Value; 2] {
    let old =
        with(deleted(binding("web", "member-1", "web-0-snapshot", json!([]))), "/metadata/finalizers", finalizers);
    let new = with(binding("web", "member-1", "", json!([])), "/metadata/name", "web-member-1-9d31c05a");
    [old, new]
}

#[test]
fn an_old_binding_stops_the_whole_placement() {
    let [old, new] = old_and_new(json!(["example.com/protect"]));
    let objects = [undecided(LONG_AGO), old, new];
    in_both_scopes(
        &objects,
        &[
            "KF-DL-002 {c}ResourceBinding/{ns}web-member-1-2afc7d7f (member-1)",
            "  KF-DL-004 {c}ResourcePlacement/{ns}web (member-1)",
        ],
    );
}

#[test]
fn what_only_the_hub_agent_holds_is_not_taken_off() {
    let [old, new] = old_and_new(json!(["kubernetes-fleet.io/work-cleanup"]));
    in_both_scopes(&[undecided(LONG_AGO), old, new], &["KF-DL-004 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn an_old_binding_that_has_just_been_deleted_says_nothing() {
    let [old, new] = old_and_new(json!(["kubernetes-fleet.io/work-cleanup"]));
    let just_deleted = with(old.clone(), "/metadata/deletionTimestamp", "2026-01-08T11:59:50Z");
    in_both_scopes(&[undecided(LONG_AGO), just_deleted, new.clone()], &[]);
    // The hub-agent takes its time on a busy hub; it doesn't wait for somebody's finalizer.
    let going = with(old.clone(), "/metadata/deletionTimestamp", "2026-01-08T11:59:25Z");
    in_both_scopes(&[undecided(LONG_AGO), going, new.clone()], &[]);
    in_both_scopes(&[undecided(NOW), old.clone(), new], &[]);
    // Nothing follows the binding that goes.
    in_both_scopes(&[green("web", &["member-1"]), binding("web", "member-1", "web-0-snapshot", json!([]))], &[]);
}
