use serde_json::{Value, json};

use crate::shapes::{at, condition, found, green, hub, member_cluster, with};

/// `InternalMemberCluster` whose agent has sent this heartbeat, and wrote it at this time of the hub's clock.
pub fn internal(member: &str, sent: &str, written: &str) -> Value {
    json!({
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "InternalMemberCluster",
        "metadata": {
            "name": member, "namespace": format!("fleet-member-{member}"), "generation": 1,
            "managedFields": [{"manager": "memberagent", "operation": "Update", "subresource": "status", "time": written}],
        },
        "status": {"agentStatus": [{"type": "MemberAgent", "lastReceivedHeartbeat": sent}]},
    })
}

/// `MemberCluster` to which the hub-agent has copied this heartbeat.
pub fn copied(member: &str, heartbeat: &str) -> Value {
    with(member_cluster(member), "/status/agentStatus/0/lastReceivedHeartbeat", heartbeat)
}

/// Placement without a status that was created at this time.
fn ignored(created: &str) -> Value {
    let placement = with(green("second", &[]), "/metadata/creationTimestamp", created);
    with(placement, "/status", json!({}))
}

#[test]
fn a_hub_agent_that_copies_no_heartbeats_is_found_and_explains_what_it_ignores() {
    let objects = vec![
        copied("member-1", "2026-01-08T11:57:30Z"),
        internal("member-1", "2026-01-08T11:59:45Z", "2026-01-08T11:59:45Z"),
        ignored("2026-01-08T11:59:00Z"),
    ];
    let expected = ["KF-HA-001 Deployment/fleet-system/hub-agent", "  KF-XX-001 ClusterResourcePlacement/second"];
    assert_eq!(found(&hub(objects.clone())), expected);
    let finding = diagnosis::diagnose(&hub(objects)).remove(0);
    // 135 s between the heartbeats, less one period of 15 s, and 15 s since the last.
    assert!(finding.cause.contains("of member-1 for 135 s"), "{}", finding.cause);
    assert!(finding.cause.contains("1 new or changed object got no answer"), "{}", finding.cause);
    let quoted: Vec<_> = finding.evidence.iter().map(|e| e.object.to_string()).collect();
    let expected = [
        "InternalMemberCluster/fleet-member-member-1/member-1",
        "MemberCluster/member-1",
        "ClusterResourcePlacement/second",
    ];
    assert_eq!(quoted, expected);
}

/// A hub-agent with hundreds of members is minutes behind after its restart, and works.
#[test]
fn a_hub_agent_that_writes_something_else_is_behind_and_has_not_stopped() {
    let placement = |written: &str| {
        let writes = json!([{"manager": "hubagent", "operation": "Update", "subresource": "status", "time": written}]);
        with(green("web", &["member-1"]), "/metadata/managedFields", writes)
    };
    let objects = |written: &str| {
        vec![
            copied("member-1", "2026-01-08T11:57:30Z"),
            internal("member-1", "2026-01-08T11:59:45Z", "2026-01-08T11:59:45Z"),
            ignored("2026-01-08T11:59:00Z"),
            placement(written),
        ]
    };
    let working = hub(objects("2026-01-08T11:59:50Z"));
    assert_eq!(found(&working), [""; 0]);
    let in_progress = diagnosis::examine(&working, &diagnosis::KubectlAccess::same_names()).in_progress;
    let subjects: Vec<_> = in_progress.iter().map(|state| state.subject.to_string()).collect();
    assert_eq!(subjects, ["ClusterResourcePlacement/second", "Deployment/fleet-system/hub-agent"]);
    assert_eq!(in_progress[1].seconds, Some(135));
    assert!(found(&hub(objects("2026-01-08T11:59:00Z")))[0].starts_with("KF-HA-001"));
}

/// At its start, a hub-agent lists everything before it writes anything. The last write here is 41 s old.
#[test]
fn a_hub_agent_with_many_members_may_write_nothing_for_longer() {
    let fleet = |members: usize| {
        let names: Vec<String> = (1..=members).map(|number| format!("member-{number}")).collect();
        let writes = json!([
            {"manager": "hubagent", "operation": "Update", "subresource": "status", "time": "2026-01-08T11:59:19Z"}
        ]);
        let members = names.iter().flat_map(|name| {
            let copied = with(copied(name, "2026-01-08T11:58:44Z"), "/metadata/managedFields", writes.clone());
            [copied, internal(name, "2026-01-08T11:59:45Z", "2026-01-08T11:59:45Z")]
        });
        hub(members.collect())
    };
    assert_eq!(found(&fleet(3)), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
    assert_eq!(found(&fleet(100)), [""; 0]);
    let in_progress = diagnosis::examine(&fleet(100), &diagnosis::KubectlAccess::same_names()).in_progress;
    let subjects: Vec<_> = in_progress.iter().map(|state| state.subject.to_string()).collect();
    assert_eq!(subjects, ["Deployment/fleet-system/hub-agent"]);
}

#[test]
fn members_are_not_blamed_for_the_hub_agent() {
    // The heartbeat that the hub-agent has copied last is old; the agent's own is fresh.
    let objects = vec![
        copied("member-1", "2026-01-08T11:50:00Z"),
        internal("member-1", "2026-01-08T11:59:55Z", "2026-01-08T11:59:55Z"),
    ];
    assert_eq!(found(&hub(objects)), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
}

#[test]
fn a_heartbeat_that_was_late_itself_may_have_arrived_just_now() {
    // The heartbeat before is 75 s older than the one that arrived 1 s ago.
    let late = vec![
        copied("member-1", "2026-01-08T11:58:44Z"),
        internal("member-1", "2026-01-08T11:59:59Z", "2026-01-08T11:59:59Z"),
    ];
    assert_eq!(found(&hub(late)), [""; 0]);
    let uncopied = vec![
        copied("member-1", "2026-01-08T11:58:40Z"),
        internal("member-1", "2026-01-08T11:59:55Z", "2026-01-08T11:59:55Z"),
    ];
    assert_eq!(found(&hub(uncopied)), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
}

#[test]
fn a_copy_that_takes_seconds_is_no_failure() {
    let objects = vec![
        copied("member-1", "2026-01-08T11:59:35Z"),
        internal("member-1", "2026-01-08T11:59:50Z", "2026-01-08T11:59:50Z"),
    ];
    assert_eq!(found(&hub(objects)), [""; 0]);
}

/// The agent's clock is 10 min behind the hub's: the copied heartbeat looks old, and so does the one that was sent.
#[test]
fn another_clock_on_the_member_is_not_taken_for_silence() {
    let behind = vec![
        copied("member-1", "2026-01-08T11:49:50Z"),
        internal("member-1", "2026-01-08T11:49:50Z", "2026-01-08T11:59:50Z"),
    ];
    assert_eq!(found(&hub(behind)), ["KF-MC-009 MemberCluster/member-1"]);
}

#[test]
fn a_silent_agent_is_told_from_a_silent_hub_agent() {
    let silent = vec![
        copied("member-1", "2026-01-08T11:55:00Z"),
        internal("member-1", "2026-01-08T11:55:00Z", "2026-01-08T11:55:00Z"),
    ];
    assert_eq!(found(&hub(silent)), ["KF-MC-001 MemberCluster/member-1"]);
}

#[test]
fn what_nobody_reports_on_is_found_without_heartbeats() {
    assert_eq!(found(&hub(vec![ignored("2026-01-08T11:59:00Z")])), ["KF-XX-001 ClusterResourcePlacement/second"]);
    assert_eq!(found(&hub(vec![ignored("2026-01-08T11:59:45Z")])), [""; 0]);
    // Changed a while ago, and reported on at the generation before.
    let scheduled = at("2026-01-08T11:00:00Z", condition("ClusterResourcePlacementScheduled", "True", "Scheduled", ""));
    let stale = with(ignored("2026-01-08T11:00:00Z"), "/status/conditions", json!([scheduled]));
    let stale = with(stale, "/metadata/generation", 2);
    assert_eq!(found(&hub(vec![stale.clone()])), ["KF-XX-001 ClusterResourcePlacement/second"]);
    let changed_now = json!([{"manager": "kubectl", "operation": "Update", "time": "2026-01-08T11:59:50Z"}]);
    assert_eq!(found(&hub(vec![with(stale, "/metadata/managedFields", changed_now)])), [""; 0]);
}

/// Hub whose hub-agent has copied no heartbeat for 135 s, with more objects.
fn idle(more: impl IntoIterator<Item = Value>) -> diagnosis::Snapshot {
    let objects = vec![
        copied("member-1", "2026-01-08T11:57:30Z"),
        internal("member-1", "2026-01-08T11:59:45Z", "2026-01-08T11:59:45Z"),
    ];
    hub(objects.into_iter().chain(more).collect())
}

/// Configuration of KubeFleet's webhooks, one of which has this policy.
fn webhooks(failure_policy: &str) -> Value {
    let webhook = |name: &str, policy: &str, resource: &str| json!({"name": name, "failurePolicy": policy, "rules": [{"operations": ["CREATE"], "resources": [resource]}]});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "fleet-validating-webhook-configuration"},
        "webhooks": [
            webhook("fleet.pod.validating", failure_policy, "pods"),
            webhook("fleet.other.validating", "Ignore", "others"),
        ],
    })
}

#[test]
fn webhooks_that_fail_closed_refuse_while_the_hub_agent_is_idle() {
    let snapshot = idle([webhooks("Fail")]);
    let expected = [
        "KF-HA-001 Deployment/fleet-system/hub-agent",
        "  KF-HA-002 ValidatingWebhookConfiguration/fleet-validating-webhook-configuration",
    ];
    assert_eq!(found(&snapshot), expected);
    let finding = diagnosis::diagnose(&snapshot).remove(0).consequences.remove(0);
    assert!(finding.cause.contains("create or change pods with"), "{}", finding.cause);
    assert_eq!(finding.evidence.len(), 1);
    assert_eq!(finding.evidence[0].path, "webhooks[fleet.pod.validating].failurePolicy");
    assert_eq!(found(&idle([webhooks("Ignore")])), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
    let healthy = [copied("member-1", "2026-01-08T11:59:45Z"), webhooks("Fail")];
    assert_eq!(found(&hub(healthy.to_vec())), [""; 0]);
}

/// `ServiceAccount` of KubeFleet's chart, and a `ClusterRoleBinding` with a subject of this name.
fn account_and_binding(subject: &str) -> [Value; 2] {
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "hub-agent-sa", "namespace": "fleet-system"},
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "some"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "fleet-system", "name": subject}],
    });
    [account, binding]
}

#[test]
fn a_hub_agent_without_a_binding_of_its_account_has_no_rights() {
    let snapshot = idle(account_and_binding("somebody").into_iter().chain([webhooks("Fail")]));
    // It lives, and answers as a webhook.
    assert_eq!(found(&snapshot), ["KF-HA-003 Deployment/fleet-system/hub-agent"]);
    let finding = diagnosis::diagnose(&snapshot).remove(0);
    assert!(finding.cause.contains("fleet-system/hub-agent-sa"), "{}", finding.cause);
    let absent: Vec<_> = finding.evidence.iter().filter(|e| e.is_absent).map(|e| e.object.to_string()).collect();
    assert_eq!(absent, ["ClusterRoleBinding/hub-agent-role-binding"]);
    assert_eq!(found(&idle(account_and_binding("hub-agent-sa"))), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
}

#[test]
fn bindings_that_could_not_be_read_take_no_rights() {
    let [account, _] = account_and_binding("somebody");
    assert_eq!(found(&idle([account])), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
}

#[test]
fn a_hub_agent_that_has_just_got_its_rights_back_is_behind() {
    let with_binding = |created: &str| {
        let [account, binding] = account_and_binding("hub-agent-sa");
        let second = ignored("2026-01-08T11:59:00Z");
        idle([account, with(binding, "/metadata/creationTimestamp", created), second])
    };
    let snapshot = with_binding("2026-01-08T11:59:55Z");
    assert_eq!(found(&snapshot), [""; 0]);
    let in_progress = diagnosis::examine(&snapshot, &diagnosis::KubectlAccess::same_names()).in_progress;
    let subjects: Vec<_> = in_progress.iter().map(|state| state.subject.to_string()).collect();
    assert_eq!(subjects, ["ClusterResourcePlacement/second", "Deployment/fleet-system/hub-agent"]);
    assert!(found(&with_binding("2026-01-08T11:50:00Z"))[0].starts_with("KF-HA-001"));

    // On a fleet that was just made, the hub-agent has used its rights before it stopped.
    let [account, binding] = account_and_binding("hub-agent-sa");
    let binding = with(binding, "/metadata/creationTimestamp", "2026-01-08T11:59:00Z");
    let writes = json!([
        {"manager": "hubagent", "operation": "Update", "subresource": "status", "time": "2026-01-08T11:59:10Z"}
    ]);
    let member = with(copied("member-1", "2026-01-08T11:58:30Z"), "/metadata/managedFields", writes);
    let heartbeat = internal("member-1", "2026-01-08T11:59:45Z", "2026-01-08T11:59:45Z");
    assert_eq!(found(&hub(vec![account, binding, member, heartbeat])), ["KF-HA-001 Deployment/fleet-system/hub-agent"]);
}
