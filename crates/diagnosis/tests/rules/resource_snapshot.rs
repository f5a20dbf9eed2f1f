use serde_json::{Value, json};

use crate::shapes::{
    NOW, at, binding, condition, external, found, found_without_reading_check, green, hub, in_both_scopes,
    member_namespace, resource_snapshot, with, work,
};

/// Placement that isn't overridden on member-1, as v0.1.2 reports it when the resource snapshot is gone.
fn not_overridden() -> Value {
    let mut placement = external(green("web", &["member-1"]));
    let text = "Failed to override resources in 1 cluster(s)";
    placement["status"]["conditions"] =
        json!([condition("ClusterResourcePlacementOverridden", "False", "OverriddenFailed", text)]);
    let text = "the master resource snapshot is not found";
    placement["status"]["placementStatuses"][0]["conditions"] = json!([
        condition("RolloutStarted", "True", "RolloutStarted", ""),
        condition("Overridden", "False", "OverriddenFailed", text),
    ]);
    placement
}

#[test]
fn a_snapshot_that_is_gone_is_told_from_an_override_that_fails() {
    let wants_old = || binding("web", "member-1", "web-0-snapshot", json!([]));
    let gone = [not_overridden(), wants_old(), resource_snapshot("web", 1)];
    in_both_scopes(&gone, &["KF-RO-003 {c}ResourcePlacement/{ns}web (member-1)"]);
    let there = [not_overridden(), wants_old(), resource_snapshot("web", 0), resource_snapshot("web", 1)];
    in_both_scopes(&there, &["KF-OV-001 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn snapshots_that_were_not_read_are_not_missing() {
    let objects = [not_overridden(), binding("web", "member-1", "web-0-snapshot", json!([]))];
    in_both_scopes(&objects, &["KF-OV-001 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn a_snapshot_that_has_just_gone_says_nothing_yet() {
    let mut young = not_overridden();
    let there = &mut young["status"]["placementStatuses"][0]["conditions"][1];
    *there = at(NOW, there.clone());
    let objects = vec![young, binding("web", "member-1", "web-0-snapshot", json!([])), resource_snapshot("web", 1)];
    assert_eq!(found(&hub(objects)), [""; 0]);
}

/// Placement that reports that it is available on member-1.
fn available() -> Value {
    let selected = json!([{"version": "v1", "kind": "Namespace", "name": "web-app"}]);
    with(external(green("web", &["member-1"])), "/status/selectedResources", selected)
}

#[test]
fn a_member_that_has_got_nothing_is_found() {
    let pinned = || binding("web", "member-1", "web-0-snapshot", json!([]));
    let nothing = vec![available(), pinned(), resource_snapshot("web", 1), member_namespace("member-1")];
    let found_in_everything = found_without_reading_check(&hub(nothing.clone()));
    assert_eq!(found_in_everything, ["KF-WS-011 ClusterResourcePlacement/web (member-1)"]);
    // v0.1.2 lists no resources while members have different snapshots.
    let mut unlisted = nothing.clone();
    unlisted[0] = with(available(), "/status/selectedResources", Value::Null);
    in_both_scopes(&unlisted, &["KF-WS-011 {c}ResourcePlacement/{ns}web (member-1)"]);
    unlisted[0] = with(unlisted[0].clone(), "/spec/strategy/type", "RollingUpdate");
    in_both_scopes(&unlisted, &[]);
    let mut served = nothing.clone();
    served.push(work("member-1", "web"));
    in_both_scopes(&served, &[]);
}

#[test]
fn a_work_is_missed_only_where_works_were_read_and_had_the_time_to_come() {
    let objects = || vec![available(), member_namespace("member-1")];
    let mut unread = hub(objects());
    let works = json!({"group": "placement.kubernetes-fleet.io", "resource": "works", "reason": "forbidden"});
    unread.clusters[0].unread.push(serde_json::from_value(works).expect("a kind"));
    assert_eq!(found(&unread), [""; 0]);
    let mut new_namespace = objects();
    new_namespace[1] = with(member_namespace("member-1"), "/metadata/creationTimestamp", NOW);
    assert_eq!(found(&hub(new_namespace)), [""; 0]);
    let mut young = objects();
    let there = &mut young[0]["status"]["placementStatuses"][0]["conditions"][4];
    *there = at(NOW, there.clone());
    assert_eq!(found(&hub(young)), [""; 0]);
    assert_eq!(found(&hub(vec![available()])), [""; 0]);
}
