use serde_json::{Value, json};

use crate::shapes::{
    condition, deleted, found, green, hub, in_both_scopes, member_cluster, member_namespace, with, work,
};
use crate::work_synchronized::terminating;

const LONG_AGO: &str = "2026-01-08T11:57:00Z";

fn silent(name: &str) -> Value {
    with(member_cluster(name), "/status/agentStatus/0/lastReceivedHeartbeat", LONG_AGO)
}

/// Placement on a member that doesn't answer: being applied, with nothing failed.
fn being_applied() -> Value {
    let mut placement = green("web", &["member-1"]);
    let text = "Failed to apply resources to 1 cluster(s), please check the `failedPlacements` status";
    placement["status"]["conditions"][3] = condition("ClusterResourcePlacementApplied", "False", "ApplyFailed", text);
    let applying = condition("Applied", "False", "ApplyInProgress", "Resources are being applied");
    placement["status"]["placementStatuses"][0]["conditions"] =
        json!([condition("WorkSynchronized", "True", "AllWorkSynced", ""), applying]);
    placement
}

fn role_binding(member: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"namespace": format!("fleet-member-{member}"), "name": format!("fleet-rolebinding-{member}")},
        "subjects": [{"kind": "ServiceAccount", "namespace": "fleet-system", "name": format!("fleet-member-agent-{member}")}],
    })
}

fn account(member: &str) -> Value {
    let metadata = json!({"namespace": "fleet-system", "name": format!("fleet-member-agent-{member}")});
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
}

/// Fleet of two members. The first is silent and lacks one of the things that it needs.
fn fleet(without: &str) -> Vec<Value> {
    let mut objects = vec![
        silent("member-1"),
        member_cluster("member-2"),
        member_namespace("member-1"),
        member_namespace("member-2"),
        work("member-1", "web"),
        being_applied(),
        role_binding("member-1"),
        role_binding("member-2"),
        account("member-1"),
        account("member-2"),
    ];
    let is_missing = |o: &Value| o["kind"] == without && o["metadata"]["name"].as_str().unwrap().ends_with("member-1");
    objects.retain(|o| !is_missing(o));
    objects
}

#[test]
fn the_reasons_of_silence_are_told_apart() {
    for (without, code) in [("", "KF-MC-001"), ("RoleBinding", "KF-MC-002"), ("ServiceAccount", "KF-MC-003")] {
        let expected = [
            format!("{code} MemberCluster/member-1"),
            "  KF-AP-001 {c}ResourcePlacement/{ns}web (member-1)".to_owned(),
        ];
        in_both_scopes(&fleet(without), &expected.each_ref().map(String::as_str));
    }
}

#[test]
fn a_role_binding_for_somebody_else_is_quoted_and_not_said_to_be_missing() {
    let mut objects = fleet("");
    for binding in objects.iter_mut().filter(|object| object["kind"] == "RoleBinding") {
        binding["subjects"] = json!([]);
    }
    let finding = diagnosis::diagnose(&hub(objects)).remove(0);
    assert_eq!(finding.code.0, "KF-MC-002");
    let quoted = finding.evidence.iter().find(|evidence| evidence.object.kind == "RoleBinding").unwrap();
    assert_eq!((quoted.path.as_str(), quoted.value.as_str(), quoted.is_absent), ("subjects", "[]", false));
}

/// Heartbeats come late on a busy machine: a heartbeat that is 90 s old, with a period of 15 s, is no failure by
/// itself.
#[test]
fn a_late_heartbeat_alone_is_no_silence() {
    let mut objects = fleet("");
    objects.retain(|o| o["kind"] != "ClusterResourcePlacement" && o["kind"] != "Work");
    objects[0] = with(objects[0].clone(), "/status/agentStatus/0/lastReceivedHeartbeat", "2026-01-08T11:58:30Z");
    assert_eq!(found(&hub(objects.clone())), Vec::<String>::new());
    objects.retain(|o| o["kind"] != "RoleBinding" || o["metadata"]["name"] != "fleet-rolebinding-member-1");
    assert_eq!(found(&hub(objects))[0], "KF-MC-002 MemberCluster/member-1");
}

#[test]
fn what_was_never_read_is_not_missing() {
    let mut objects = fleet("");
    objects.retain(|o| o["kind"] != "RoleBinding" && o["kind"] != "ServiceAccount");
    assert_eq!(found(&hub(objects))[0], "KF-MC-001 MemberCluster/member-1");
}

#[test]
fn an_answering_member_may_take_its_time() {
    let mut objects = fleet("");
    objects[0] = member_cluster("member-1");
    in_both_scopes(&objects, &[]);
    let applied = "/status/placementStatuses/0/conditions/1/lastTransitionTime";
    objects[5] = with(being_applied(), applied, "2026-01-08T11:54:00Z");
    in_both_scopes(&objects, &["KF-AP-001 {c}ResourcePlacement/{ns}web (member-1)"]);
}

#[test]
fn the_heartbeats_period_is_taken_into_account() {
    let patient = with(silent("member-1"), "/spec/heartbeatPeriodSeconds", 60);
    assert_eq!(found(&hub(vec![patient])), [""; 0]);
}

#[test]
fn a_member_that_has_not_joined_is_not_silent() {
    let joining = with(silent("member-1"), "/status/conditions", json!([]));
    assert_eq!(found(&hub(vec![joining])), [""; 0]);
}

#[test]
fn the_deadlock_of_leaving_is_found() {
    let leaving = with(member_cluster("member-1"), "/metadata/deletionTimestamp", "2026-01-08T11:59:30Z");
    let objects = vec![leaving, terminating("member-1"), deleted(work("member-1", "base"))];
    assert_eq!(found(&hub(objects)), ["KF-MC-004 MemberCluster/member-1"]);
}

#[test]
fn a_member_that_leaves_in_order_is_left_alone() {
    let leaving = with(member_cluster("member-1"), "/metadata/deletionTimestamp", "2026-01-08T11:58:50Z");
    assert_eq!(found(&hub(vec![leaving.clone(), member_namespace("member-1")])), [""; 0]);
    assert_eq!(found(&hub(vec![leaving, deleted(member_namespace("member-1"))])), [""; 0]);
    // Both in the same second, and nothing holds the namespace.
    let since = |object: Value| with(object, "/metadata/deletionTimestamp", "2026-01-08T11:59:20Z");
    let both = vec![since(member_cluster("member-1")), since(member_namespace("member-1"))];
    assert_eq!(found(&hub(both.clone())), [""; 0]);
    let held = [both, vec![deleted(work("member-1", "base"))]].concat();
    assert_eq!(found(&hub(held)), ["KF-MC-004 MemberCluster/member-1"]);
}

#[test]
fn a_member_that_leaves_needs_its_agent() {
    let leaving = |name: &str| with(silent(name), "/metadata/deletionTimestamp", "2026-01-08T11:59:00Z");
    let objects = vec![leaving("member-1"), member_namespace("member-1"), work("member-1", "web")];
    assert_eq!(found(&hub(objects.clone())), ["KF-MC-006 MemberCluster/member-1"]);
    let commands = diagnosis::diagnose(&hub(objects)).remove(0).remedies.remove(1).commands;
    assert_eq!(
        commands,
        [
            "kubectl --context hub delete namespaces/fleet-member-member-1 --wait=false",
            "kubectl --context hub patch works.placement.kubernetes-fleet.io/web-work -n fleet-member-member-1 --type=merge -p \
             '{\"metadata\":{\"finalizers\":null}}'",
        ]
    );
    // An agent that has lost its rights gets them back first.
    let mut objects = fleet("RoleBinding");
    objects[0] = leaving("member-1");
    assert_eq!(found(&hub(objects))[0], "KF-MC-002 MemberCluster/member-1");
    let late = with(leaving("member-1"), "/status/agentStatus/0/lastReceivedHeartbeat", "2026-01-08T11:59:10Z");
    assert_eq!(found(&hub(vec![late])), [""; 0]);
}

#[test]
fn somebody_s_object_in_the_namespace_of_a_leaving_member_is_found() {
    let leaving = with(member_cluster("member-1"), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    let namespace = with(terminating("member-1"), "/metadata/deletionTimestamp", "2026-01-08T11:58:05Z");
    let text = "Some resources are remaining: configmaps. has 1 resource instances";
    let namespace = with(namespace, "/status/conditions/1/message", text);
    let holder = deleted(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "notes", "namespace": "fleet-member-member-1", "finalizers": ["example.com/protect"]},
    }));
    let objects = |namespace: Value| vec![leaving.clone(), namespace, holder.clone()];
    assert_eq!(found(&hub(objects(namespace.clone()))), ["KF-MC-007 MemberCluster/member-1"]);
    // Times have whole seconds.
    let same_second = with(namespace.clone(), "/metadata/deletionTimestamp", "2026-01-08T11:58:00Z");
    assert_eq!(found(&hub(objects(same_second))), ["KF-MC-007 MemberCluster/member-1"]);
    let young = with(namespace, "/metadata/deletionTimestamp", "2026-01-08T11:59:30Z");
    assert_eq!(found(&hub(objects(young))), [""; 0]);
}

/// Member that the hub is ready for, and whose agent has never answered.
fn never_joined(created: &str) -> Value {
    let member = with(member_cluster("ghost"), "/metadata/creationTimestamp", created);
    let ready = condition("ReadyToJoin", "True", "MemberClusterReadyToJoin", "");
    with(member, "/status", json!({"conditions": [ready]}))
}

#[test]
fn a_member_whose_agent_never_came_is_found_after_a_minute() {
    let old = never_joined("2026-01-08T11:55:00Z");
    assert_eq!(found(&hub(vec![old.clone()])), ["KF-MC-005 MemberCluster/ghost"]);
    assert_eq!(found(&hub(vec![never_joined("2026-01-08T11:59:30Z")])), [""; 0]);
    // A member that has joined, and one that the hub isn't ready for.
    assert_eq!(found(&hub(vec![with(member_cluster("east"), "/metadata/creationTimestamp", LONG_AGO)])), [""; 0]);
    assert_eq!(
        found(&hub(vec![with(old, "/status", json!({}))])),
        ["KF-XX-001 MemberCluster/ghost"],
        "the hub-agent hasn't reported on it"
    );
}

#[test]
fn a_placement_that_names_a_member_without_an_agent_is_a_consequence() {
    let mut short = green("web", &["member-1"]);
    short["spec"] = json!({"policy": {"placementType": "PickFixed", "clusterNames": ["ghost", "member-1"]}});
    short["status"]["conditions"] =
        json!([condition("ClusterResourcePlacementScheduled", "False", "SchedulingPolicyUnfulfilled", "")]);
    in_both_scopes(
        &[never_joined("2026-01-08T11:55:00Z"), member_cluster("member-1"), short],
        &["KF-MC-005 MemberCluster/ghost", "  KF-SC-006 {c}ResourcePlacement/{ns}web"],
    );
}

/// A changed Work keeps the conditions of its last generation, so that the placement gives another reason.
#[test]
fn a_changed_placement_on_a_silent_member_is_a_consequence() {
    let mut objects = fleet("");
    let changed = condition("Applied", "False", "NotAllWorkHaveBeenApplied", "");
    objects[5] = with(being_applied(), "/status/placementStatuses/0/conditions/1", changed);
    let applied = condition("Applied", "True", "AppliedManifestComplete", "");
    objects[4] = with(with(work("member-1", "web"), "/status/conditions", json!([applied])), "/metadata/generation", 2);
    let expected = ["KF-MC-001 MemberCluster/member-1", "  KF-AP-001 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(&objects, &expected);
}

/// Member whose agent says for a minute that its API server doesn't answer, and has sent a heartbeat at this time.
fn unhealthy(heartbeat: &str) -> Value {
    let member = with(member_cluster("member-1"), "/status/agentStatus/0/lastReceivedHeartbeat", heartbeat);
    let healthy =
        condition("Healthy", "False", "InternalMemberClusterUnhealthy", "health probe failed with status code 0");
    with(member, "/status/agentStatus/0/conditions/1", healthy)
}

/// Fleet with this member, which has got a placement that it doesn't apply.
fn fleet_with(member: Value) -> Vec<Value> {
    let mut objects = fleet("");
    objects[0] = member;
    objects
}

#[test]
fn a_member_whose_api_server_does_not_answer_is_found_with_its_placements() {
    let expected = ["KF-MC-008 MemberCluster/member-1", "  KF-AP-001 {c}ResourcePlacement/{ns}web (member-1)"];
    in_both_scopes(&fleet_with(unhealthy("2026-01-08T11:59:50Z")), &expected);
    // Heartbeats come less and less often.
    in_both_scopes(&fleet_with(unhealthy(LONG_AGO)), &expected);
    let finding = diagnosis::diagnose(&hub(fleet_with(unhealthy(LONG_AGO)))).remove(0);
    assert!(finding.cause.contains("for 60 s (health probe failed with status code 0)"), "{}", finding.cause);
}

#[test]
fn what_else_is_wrong_with_a_silent_member_is_told_first() {
    let mut without_rights = fleet("RoleBinding");
    without_rights[0] = unhealthy(LONG_AGO);
    assert_eq!(diagnosis::diagnose(&hub(without_rights)).remove(0).code.0, "KF-MC-002");
    // What it said last is too old.
    let gone = fleet_with(unhealthy("2026-01-08T11:30:00Z"));
    assert_eq!(diagnosis::diagnose(&hub(gone)).remove(0).code.0, "KF-MC-001");
}

#[test]
fn an_api_server_that_is_restarted_is_no_failure() {
    let mut member = unhealthy("2026-01-08T11:59:50Z");
    member["status"]["agentStatus"][0]["conditions"][1]["lastTransitionTime"] = "2026-01-08T11:59:45Z".into();
    assert_eq!(found(&hub(vec![member, member_namespace("member-1")])), [""; 0]);
}
