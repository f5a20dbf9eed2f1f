//! Tests that a diagnosis succeeds on any content of a saved bundle.

use diagnosis::{AbsentObject, Snapshot};
use serde_json::{Value, json};

use crate::argocd;
use crate::availability::{pods, unavailable};
use crate::shapes::{
    binding, condition, deleted, external, hub_and_member, member_cluster, policy_snapshot, request, resource_snapshot,
    run, stage, strategy, with, work,
};
use crate::work_synchronized::{terminating, unsynchronized};

/// Returns objects of each kind, most of them with a failure.
pub fn troubled() -> Vec<Value> {
    let started = json!([condition("Started", "True", "ClusterUpdatingStarted", "")]);
    let waiting = json!([condition("Progressing", "False", "StageUpdatingWaiting", "")]);
    let stages = json!([stage("staging", waiting, &[("member-1", started)])]);
    let initialized = condition("Initialized", "True", "UpdateRunInitializedSuccessfully", "");
    let failed = condition("Succeeded", "False", "UpdateRunFailed", "other words");
    let stuck = condition("Progressing", "False", "UpdateRunStuck", "");
    let late = condition("Initialized", "False", "UpdateRunInitializedFailed", "");
    let taken = condition("RolloutStarted", "True", "RolloutStarted", "updateRun: stuck");
    vec![
        external(unavailable("2026-01-08T11:50:00Z")),
        run("aborted", "web", "0", json!([initialized, failed]), stages.clone()),
        run("stuck", "web", "1", json!([initialized, stuck]), stages),
        run("late", "web", "7", json!([late]), json!([])),
        strategy(json!([{"name": "staging", "labelSelector": {"matchLabels": {"env": "test"}}}])),
        request("stuck-after-staging", "stuck", "staging", json!([])),
        binding("web", "member-1", "web-1-snapshot", json!([taken])),
        resource_snapshot("web", 0),
        policy_snapshot("web", 0, json!([condition("Scheduled", "False", "", "")])),
        member_cluster("member-1"),
        terminating("member-1"),
        deleted(work("member-1", "web")),
        with(unsynchronized("other words"), "/metadata/name", "api"),
    ]
}

/// Returns the JSON pointers of all values in a value.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(k, v)| (k.replace('~', "~0").replace('/', "~1"), v)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let pointer = format!("{at}/{name}");
        pointers(child, &pointer, all);
        all.push(pointer);
    }
}

/// Fleet with these objects. The member was asked for one that it doesn't have.
fn fleet(objects: Vec<Value>, member: &[Value]) -> Snapshot {
    let mut snapshot = hub_and_member(objects, "member-1", member.to_vec());
    let [group, kind, name] = ["", "ConfigMap", "settings"].map(str::to_owned);
    snapshot.clusters[1].absent = vec![AbsentObject { group, kind, namespace: Some("apps".to_owned()), name }];
    snapshot
}

/// Diagnoses the objects, together with `member`'s objects, once for each value in them that is missing or has another
/// type.
pub fn take_apart(objects: &[Value], member: &[Value]) {
    for (index, object) in objects.iter().enumerate() {
        let mut all = Vec::new();
        pointers(object, "", &mut all);
        for pointer in all {
            for other in [Value::Null, json!("ä")] {
                let mut objects = objects.to_vec();
                *objects[index].pointer_mut(&pointer).unwrap() = other;
                // A finding with a gap in its text panics in this build.
                let _ = diagnosis::diagnose(&fleet(objects, member));
            }
        }
    }
}

#[test]
fn nothing_that_is_missing_or_of_another_type_stops_a_diagnosis() {
    let (objects, member) = (troubled(), pods("ErrImagePull"));
    assert!(diagnosis::diagnose(&hub_and_member(objects.clone(), "member-1", member.clone())).len() > 2);
    take_apart(&objects, &member);
}

#[test]
fn nor_does_it_stop_that_of_an_application() {
    let member = pods("ErrImagePull");
    for application in argocd::troubled() {
        assert!(!diagnosis::diagnose(&fleet(vec![application.clone()], &member)).is_empty());
        take_apart(&[application], &member);
    }
}
