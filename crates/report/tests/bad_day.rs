//! A bad day of a fleet of 1,000 members: what a person sees first.

use std::collections::BTreeMap;

use diagnosis::{ClusterSnapshot, KubectlAccess, Snapshot, SnapshotRole};
use report::finding::diagnosis_report::{DiagnosisReport, ObjectSource};
use report::finding::text::Detail;
use serde_json::{Value, json};

const NOW: &str = "2026-01-08T12:00:00Z";
const SINCE: &str = "2026-01-08T11:46:00Z";
const JUST_NOW: &str = "2026-01-08T11:59:50Z";
const PLACEMENT_API: &str = "placement.kubernetes-fleet.io/v1beta1";

fn member_name(number: usize) -> String {
    format!("m-{number:04}")
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message, "observedGeneration": 1,
        "lastTransitionTime": SINCE})
}

fn member(name: &str, heartbeat: &str) -> Value {
    json!({"apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
        "metadata": {"name": name, "generation": 1},
        "spec": {"identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"},
            "heartbeatPeriodSeconds": 60},
        "status": {"agentStatus": [{"type": "MemberAgent", "lastReceivedHeartbeat": heartbeat}],
            "conditions": [condition("Joined", "True", "MemberClusterJoined", "")]}})
}

fn namespace(member: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("fleet-member-{member}")},
        "status": {"phase": "Active"}})
}

/// Placement on some members. Of those that fail, the condition and the failed placement are given.
fn placement(name: &str, members: &[String], failure: impl Fn(&str) -> Option<(Value, Value)>) -> Value {
    let each = |member: &String| {
        let mut conditions = vec![
            condition("Scheduled", "True", "Scheduled", ""),
            condition("RolloutStarted", "True", "RolloutStarted", ""),
            condition("WorkSynchronized", "True", "AllWorkSynced", ""),
        ];
        let failed = failure(member);
        if failed.as_ref().is_none_or(|(condition, _)| condition["type"] == "Available") {
            conditions.push(condition("Applied", "True", "AllWorkHaveBeenApplied", ""));
        }
        match failed {
            None => {
                conditions.push(condition("Available", "True", "AllWorkAreAvailable", ""));
                json!({"clusterName": member, "conditions": conditions})
            }
            Some((failed, placements)) => {
                conditions.push(failed);
                json!({"clusterName": member, "conditions": conditions, "failedPlacements": [placements]})
            }
        }
    };
    let all_well = members.iter().all(|member| failure(member).is_none());
    let top = |type_: &str| {
        let type_ = format!("ClusterResourcePlacement{type_}");
        if type_.ends_with("Available") && !all_well {
            condition(&type_, "False", "ResourceNotAvailableYet", "")
        } else {
            condition(&type_, "True", "Done", "")
        }
    };
    let conditions: Vec<Value> =
        ["Scheduled", "RolloutStarted", "WorkSynchronized", "Applied", "Available"].map(top).into();
    json!({"apiVersion": PLACEMENT_API, "kind": "ClusterResourcePlacement", "metadata": {"name": name, "generation": 1},
        "spec": {"strategy": {"type": if name.starts_with("staged") { "External" } else { "RollingUpdate" }}},
        "status": {"conditions": conditions, "placementStatuses": members.iter().map(each).collect::<Vec<_>>()}})
}

/// Deployment of a placement that isn't available.
fn unavailable(placement: &str) -> (Value, Value) {
    let not_yet = "Manifest is not yet available; Fleet will check again later";
    let failed = json!({"group": "apps", "version": "v1", "kind": "Deployment", "namespace": placement, "name": "web",
        "condition": condition("Available", "False", "ManifestNotAvailableYet", not_yet)});
    (condition("Available", "False", "NotAllWorkAreAvailable", "Work object is not yet available"), failed)
}

/// Deployment and Pod of a placement on a member, where the image can't be pulled.
fn pods(placement: &str) -> Vec<Value> {
    let of = |kind: &str, api_version: &str, name: &str| json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": placement, "name": name, "generation": 1}});
    let mut deployment = of("Deployment", "apps/v1", "web");
    deployment["status"] = json!({"replicas": 1, "unavailableReplicas": 1, "conditions": [
        {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": ""}]});
    let mut pod = of("Pod", "v1", "web-578cf755cd-rz2f4");
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-578cf755cd"}]);
    pod["spec"] = json!({"containers": [{"name": "app", "image": "registry.example/web:2.0"}]});
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "not found"}});
    pod["status"] = json!({"containerStatuses": [{"name": "app", "image": "", "state": waiting}]});
    vec![deployment, pod]
}

/// Work of a placement that is available on a member.
fn work(placement: &str, member: &str) -> Value {
    json!({"apiVersion": PLACEMENT_API, "kind": "Work",
        "metadata": {"name": format!("{placement}-work"), "namespace": format!("fleet-member-{member}"), "generation": 1,
            "labels": {"kubernetes-fleet.io/parent-CRP": placement}},
        "status": {"conditions": [condition("Applied", "True", "", ""), condition("Available", "True", "", "")]}})
}

/// Update run that is stuck on a member.
fn stuck_run(name: &str, placement: &str, member: &str) -> Value {
    let stuck = format!(
        "The updateRun is stuck waiting for {member} cluster(s) in stage canary to finish updating, please check placement \
         status for potential errors"
    );
    let conditions = json!([
        condition("Initialized", "True", "UpdateRunInitializedSuccessfully", ""),
        condition("Progressing", "False", "UpdateRunStuck", &stuck)
    ]);
    let started = json!([condition("Started", "True", "ClusterUpdatingStarted", "")]);
    json!({"apiVersion": PLACEMENT_API, "kind": "ClusterStagedUpdateRun", "metadata": {"name": name, "generation": 1},
        "spec": {"placementName": placement, "resourceSnapshotIndex": "0", "stagedRolloutStrategyName": "rings"},
        "status": {"conditions": conditions, "resourceSnapshotIndexUsed": "0",
            "stagesStatus": [{"stageName": "canary", "clusters": [{"clusterName": member, "conditions": started}]}]}})
}

/// The fleet. 1,000 members, of which 30 are silent and 40 can't be read; an image that can't be pulled on 97 of 100 members of
/// three placements; 20 placements that aren't available on one member each; 12 update runs that are stuck on silent members.
fn bad_day() -> Snapshot {
    let members: Vec<String> = (1..=1000).map(member_name).collect();
    let is_silent = |member: &str| member > "m-0970";
    let mut hub: Vec<Value> = Vec::new();
    for name in &members {
        hub.push(member(name, if is_silent(name) { SINCE } else { JUST_NOW }));
        hub.push(namespace(name));
    }
    let first: Vec<String> = members[..100].to_vec();
    for name in ["web", "shop", "billing"] {
        hub.push(placement(name, &first, |member| (member <= "m-0097").then(|| unavailable(name))));
    }
    for number in 0..20 {
        let name = format!("app-{number:02}");
        let some = &members[100 + number * 10..110 + number * 10];
        hub.push(placement(&name, some, |member| (member == some[0]).then(|| unavailable(&name))));
    }
    for number in 0..12 {
        let name = format!("staged-{number:02}");
        let some = &members[970..980];
        hub.push(placement(&name, some, |_| None));
        hub.extend(some.iter().map(|member| work(&name, member)));
        hub.push(stuck_run(&format!("run-{number:02}"), &name, &some[number % 10]));
    }
    let mut clusters = vec![ClusterSnapshot::new("hub", SnapshotRole::Hub, hub)];
    for (number, name) in members.iter().enumerate() {
        let objects =
            if number < 97 { ["web", "shop", "billing"].into_iter().flat_map(pods).collect() } else { Vec::new() };
        let mut cluster = ClusterSnapshot::new(name, SnapshotRole::Member, objects);
        if number >= 960 {
            cluster.unreachable = Some(format!("failed to list deployments on {name}: connection refused"));
        }
        clusters.push(cluster);
    }
    Snapshot { taken_at: NOW.parse().expect("a time"), clusters }
}

#[test]
fn the_first_screen_of_a_bad_day_says_what_is_wrong_and_what_to_do() {
    let (snapshot, contexts) = (bad_day(), BTreeMap::new());
    let found = diagnosis::examine_by_cause(&snapshot, &KubectlAccess::unknown());
    let report = DiagnosisReport::new(("prod", ObjectSource::Live), &snapshot, &contexts, None, &found);
    let text = anstream::adapter::strip_str(&report.text(100, Detail::Short)).to_string();
    let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(100).max(1)).sum();
    assert!(rows <= 40, "{rows} rows:\n{text}");
    insta::assert_snapshot!(text);
}
