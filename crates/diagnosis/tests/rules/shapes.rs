//! Objects as the controllers write them, reduced to what the rules read, and the fleet around them.

use diagnosis::{Finding, Snapshot};
use serde_json::{Value, json};

use crate::{perturbed, reading, switched_off};

/// Time at which all snapshots of these tests were taken.
pub const NOW: &str = "2026-01-08T12:00:00Z";
/// Transition time of all conditions of these tests, unless a test sets another.
pub const BEFORE: &str = "2026-01-08T11:59:00Z";
/// Namespace of namespaced objects.
pub const NAMESPACE: &str = "apps";

/// Condition of generation 1.
pub fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message,
        "observedGeneration": 1, "lastTransitionTime": BEFORE,
    })
}

/// Returns the condition with another transition time.
pub fn at(time: &str, mut condition: Value) -> Value {
    condition["lastTransitionTime"] = time.into();
    condition
}

/// Returns the condition with another observed generation.
pub fn of(generation: i64, mut condition: Value) -> Value {
    condition["observedGeneration"] = generation.into();
    condition
}

/// Returns the object with a field set at a JSON pointer. Missing parents are created.
pub fn with(mut object: Value, pointer: &str, value: impl Into<Value>) -> Value {
    let mut at = &mut object;
    for name in pointer.split('/').skip(1) {
        at = match name.parse::<usize>() {
            Ok(index) if at.is_array() => &mut at[index],
            _ => &mut at[name],
        };
    }
    *at = value.into();
    object
}

/// Returns the object while it is being deleted.
pub fn deleted(object: Value) -> Value {
    with(object, "/metadata/deletionTimestamp", BEFORE)
}

/// Object of the placement group.
fn object(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name, "generation": 1},
    })
}

/// Placement with conditions of its own and for each member.
pub fn placement(name: &str, conditions: Value, clusters: &[(&str, Value)]) -> Value {
    let clusters: Vec<_> =
        clusters.iter().map(|(member, conditions)| json!({"clusterName": member, "conditions": conditions})).collect();
    let status = json!({"conditions": conditions, "placementStatuses": clusters});
    with(object("ClusterResourcePlacement", name), "/status", status)
}

/// Placement whose resources are available on all of these members.
pub fn green(name: &str, members: &[&str]) -> Value {
    let prefixed = |t: &str| format!("ClusterResourcePlacement{t}");
    let top = json!([
        condition(&prefixed("Scheduled"), "True", "SchedulingPolicyFulfilled", "found all cluster needed"),
        condition(&prefixed("RolloutStarted"), "True", "RolloutStarted", ""),
        condition(&prefixed("WorkSynchronized"), "True", "WorkSynchronized", ""),
        condition(&prefixed("Applied"), "True", "ApplySucceeded", ""),
        condition(&prefixed("Available"), "True", "ResourceAvailable", ""),
    ]);
    let each = json!([
        condition("Scheduled", "True", "Scheduled", ""),
        condition("RolloutStarted", "True", "RolloutStarted", ""),
        condition("WorkSynchronized", "True", "AllWorkSynced", ""),
        condition("Applied", "True", "AllWorkHaveBeenApplied", ""),
        condition("Available", "True", "AllWorkAreAvailable", ""),
    ]);
    let clusters: Vec<_> = members.iter().map(|m| (*m, each.clone())).collect();
    placement(name, top, &clusters)
}

/// Update run.
pub fn run(name: &str, placement: &str, index: &str, conditions: Value, stages: Value) -> Value {
    let spec = json!({
        "placementName": placement, "resourceSnapshotIndex": index, "stagedRolloutStrategyName": "strategy",
    });
    let status = json!({"conditions": conditions, "stagesStatus": stages, "resourceSnapshotIndexUsed": index});
    with(with(object("ClusterStagedUpdateRun", name), "/spec", spec), "/status", status)
}

/// Update run that has begun at this time, and has updated no cluster.
pub fn initialized_run(name: &str, placement: &str, time: &str) -> Value {
    let conditions = json!([
        at(time, condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "")),
        at(time, condition("Progressing", "True", "UpdateRunProgressing", "")),
    ]);
    run(name, placement, "0", conditions, json!([]))
}

/// Stage of a run's status.
pub fn stage(name: &str, conditions: Value, clusters: &[(&str, Value)]) -> Value {
    let clusters: Vec<_> =
        clusters.iter().map(|(member, conditions)| json!({"clusterName": member, "conditions": conditions})).collect();
    json!({"stageName": name, "conditions": conditions, "clusters": clusters})
}

/// Binding of a placement on a member, at a resource snapshot.
pub fn binding(placement: &str, member: &str, snapshot: &str, conditions: Value) -> Value {
    let binding = object("ClusterResourceBinding", &format!("{placement}-{member}-2afc7d7f"));
    let binding = with(binding, "/metadata/labels", json!({"kubernetes-fleet.io/parent-CRP": placement}));
    let spec = json!({"state": "Bound", "resourceSnapshotName": snapshot, "targetCluster": member});
    with(with(binding, "/spec", spec), "/status", json!({"conditions": conditions}))
}

/// Resource snapshot of a placement.
pub fn resource_snapshot(placement: &str, index: u32) -> Value {
    let labels = json!({
        "kubernetes-fleet.io/parent-CRP": placement, "kubernetes-fleet.io/resource-index": index.to_string(),
    });
    with(object("ClusterResourceSnapshot", &format!("{placement}-{index}-snapshot")), "/metadata/labels", labels)
}

/// Latest policy snapshot of a placement.
pub fn policy_snapshot(placement: &str, index: u32, conditions: Value) -> Value {
    let labels = json!({
        "kubernetes-fleet.io/parent-CRP": placement, "kubernetes-fleet.io/policy-index": index.to_string(),
        "kubernetes-fleet.io/is-latest-snapshot": "true",
    });
    let snapshot =
        with(object("ClusterSchedulingPolicySnapshot", &format!("{placement}-{index}")), "/metadata/labels", labels);
    with(snapshot, "/status", json!({"conditions": conditions}))
}

/// Strategy of all runs in these tests.
pub fn strategy(stages: Value) -> Value {
    with(object("ClusterStagedUpdateStrategy", "strategy"), "/spec", json!({"stages": stages}))
}

/// Returns the placement with the External strategy, which leaves the rollout to update runs.
pub fn external(placement: Value) -> Value {
    with(placement, "/spec/strategy/type", "External")
}

/// Request to approve a stage of a run.
pub fn request(name: &str, run: &str, stage: &str, conditions: Value) -> Value {
    let spec = json!({"parentStageRollout": run, "targetStage": stage});
    with(with(object("ClusterApprovalRequest", name), "/spec", spec), "/status", json!({"conditions": conditions}))
}

/// Work of a placement for a member.
pub fn work(member: &str, placement: &str) -> Value {
    let mut work = object("Work", &format!("{placement}-work"));
    work["metadata"]["namespace"] = format!("fleet-member-{member}").into();
    work["metadata"]["labels"] = json!({"kubernetes-fleet.io/parent-CRP": placement});
    work["metadata"]["finalizers"] = json!(["kubernetes-fleet.io/work-cleanup"]);
    work
}

/// Namespace of a member on the hub.
pub fn member_namespace(member: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": format!("fleet-member-{member}")},
        "status": {"phase": "Active"},
    })
}

/// Member that has joined.
pub fn member_cluster(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
        "metadata": {"name": name, "generation": 1, "labels": {"env": "test"}},
        "spec": {
            "identity": {"kind": "ServiceAccount", "name": format!("fleet-member-agent-{name}"), "namespace": "fleet-system"},
            "heartbeatPeriodSeconds": 15,
        },
        "status": {
            "agentStatus": [{
                "type": "MemberAgent", "lastReceivedHeartbeat": "2026-01-08T11:59:50Z",
                "conditions": [
                    condition("Joined", "True", "InternalMemberClusterJoined", ""),
                    condition("Healthy", "True", "InternalMemberClusterHealthy", ""),
                ],
            }],
            "conditions": [condition("Joined", "True", "MemberClusterJoined", "")],
        },
    })
}

/// Returns a snapshot with a member's objects added to the hub's.
pub fn hub_and_member(objects: Vec<Value>, member: &str, member_objects: Vec<Value>) -> Snapshot {
    let mut snapshot = hub(objects);
    let member = json!({"name": member, "role": "member", "objects": member_objects});
    snapshot.clusters.push(serde_json::from_value(member).expect("a well-formed cluster"));
    snapshot
}

/// Returns the objects with those of cluster scope turned into their namespaced counterparts, if their kinds have one.
pub fn namespaced(objects: &[Value]) -> Vec<Value> {
    const TWINS: [&str; 7] = [
        "ClusterResourcePlacement",
        "ClusterStagedUpdateRun",
        "ClusterStagedUpdateStrategy",
        "ClusterApprovalRequest",
        "ClusterResourceBinding",
        "ClusterResourceSnapshot",
        "ClusterSchedulingPolicySnapshot",
    ];
    let twin = |object: &Value| {
        let mut object = object.clone();
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        if TWINS.contains(&kind.as_str()) {
            object["kind"] = kind.trim_start_matches("Cluster").into();
            object["metadata"]["namespace"] = NAMESPACE.into();
        }
        if kind == "Work" {
            object["metadata"]["labels"]["kubernetes-fleet.io/parent-placement-namespace"] = NAMESPACE.into();
        }
        for condition in object.pointer_mut("/status/conditions").and_then(Value::as_array_mut).into_iter().flatten() {
            let type_ = condition["type"].as_str().unwrap_or_default();
            if let Some(name) = type_.strip_prefix("ClusterResourcePlacement") {
                condition["type"] = format!("ResourcePlacement{name}").into();
            }
        }
        object
    };
    objects.iter().map(twin).collect()
}

/// Snapshot of a fleet with these objects on the hub.
pub fn hub(objects: Vec<Value>) -> Snapshot {
    serde_json::from_value(json!({
        "taken_at": NOW,
        "clusters": [{"name": "hub", "role": "hub", "objects": objects}],
    }))
    .expect("a well-formed snapshot")
}

/// Returns all findings as `CODE subject`, roots first and consequences indented.
pub fn found(snapshot: &Snapshot) -> Vec<String> {
    if !switched_off::is_child() {
        reading::check(snapshot);
        perturbed::check(snapshot);
    }
    found_without_reading_check(snapshot)
}

/// Returns the findings as [`found()`] does, of a snapshot in which a rule sees more than it would ask for.
pub fn found_without_reading_check(snapshot: &Snapshot) -> Vec<String> {
    fn lines(findings: &[Finding], depth: usize, all: &mut Vec<String>) {
        for finding in findings {
            all.push(format!("{}{} {}", "  ".repeat(depth), finding.code, finding.subject));
            lines(&finding.consequences, depth + 1, all);
        }
    }
    let mut all = Vec::new();
    lines(&switched_off::diagnose(snapshot), 0, &mut all);
    all
}

/// Asserts that both scopes give the same findings. `{c}` stands for the kinds' prefix, `{ns}` for the namespace.
pub fn in_both_scopes(objects: &[Value], expected: &[&str]) {
    let fill = |prefix: &str, namespace: &str| -> Vec<String> {
        expected.iter().map(|e| e.replace("{c}", prefix).replace("{ns}", namespace)).collect()
    };
    perturbed::check_both_scopes(objects);
    assert_eq!(found(&hub(objects.to_vec())), fill("Cluster", ""), "in cluster scope");
    assert_eq!(found(&hub(namespaced(objects))), fill("", &format!("{NAMESPACE}/")), "in one namespace");
}
