use diagnosis::Snapshot;
use serde_json::{Value, json};

use crate::shapes::{at, condition, found, green, hub, hub_and_member, with, work};

/// Placement whose Deployment isn't available on member-1 since the given time.
pub fn unavailable(since: &str) -> Value {
    let mut placement = green("web", &["member-1"]);
    let not_yet = "Manifest is not yet available; Fleet will check again later";
    let text = "Work object web-work is not yet available";
    let conditions = &mut placement["status"]["placementStatuses"][0]["conditions"];
    conditions[4] = at(since, condition("Available", "False", "NotAllWorkAreAvailable", text));
    placement["status"]["conditions"][4] =
        condition("ClusterResourcePlacementAvailable", "False", "ResourceNotAvailableYet", "");
    let failed = json!([{
        "group": "apps", "version": "v1", "kind": "Deployment", "namespace": "apps", "name": "web",
        "envelope": {"type": "ResourceEnvelope", "namespace": "apps", "name": "e1"},
        "condition": condition("Available", "False", "ManifestNotAvailableYet", not_yet),
    }]);
    with(placement, "/status/placementStatuses/0/failedPlacements", failed)
}

/// Objects on member-1: the Deployment and one Pod that waits for the given reason.
pub fn pods(reason: &str) -> Vec<Value> {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "apps", "name": "web", "generation": 1},
        "status": {"replicas": 1, "unavailableReplicas": 1, "conditions": [
            {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable",
             "message": "Deployment does not have minimum availability."},
        ]},
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "apps", "name": "web-578cf755cd-rz2f4",
                     "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-578cf755cd"}]},
        "spec": {"containers": [{"name": "nginx", "image": "nginx:::no"}]},
        "status": {"containerStatuses": [{"name": "nginx", "image": "", "state": {"waiting": {"reason": reason}}}]},
    });
    vec![deployment, pod]
}

fn fleet(since: &str, reason: &str) -> Snapshot {
    let not_available =
        condition("Available", "False", "SomeManifestsAreNotAvailable", "Some manifests are not available");
    let work = with(work("member-1", "web"), "/status", json!({"conditions": [not_available]}));
    hub_and_member(vec![unavailable(since), work], "member-1", pods(reason))
}

const JUST_NOW: &str = "2026-01-08T11:59:50Z";
const LONG_AGO: &str = "2026-01-08T11:54:00Z";

#[test]
fn an_image_at_fault_is_found_at_once() {
    for (reason, code) in
        [("InvalidImageName", "KF-AV-001"), ("ErrImagePull", "KF-AV-002"), ("ImagePullBackOff", "KF-AV-002")]
    {
        assert_eq!(found(&fleet(JUST_NOW, reason)), [format!("{code} ClusterResourcePlacement/web (member-1)")]);
    }
}

#[test]
fn the_trail_leads_to_the_pod_on_the_member() {
    let findings = diagnosis::diagnose(&fleet(JUST_NOW, "InvalidImageName"));
    assert_eq!(
        findings[0].cause,
        "Deployment apps/web of placement web isn't available on member-1, because the image name of \
         Pod/apps/web-578cf755cd-rz2f4 is invalid: nginx:::no."
    );
    let trail: Vec<_> =
        findings[0].evidence.iter().map(|e| (e.cluster.as_str(), e.object.to_string(), e.path.as_str())).collect();
    let trail: Vec<_> = trail.iter().map(|(cluster, object, path)| (*cluster, object.as_str(), *path)).collect();
    let placement = "ClusterResourcePlacement/web";
    let pod = "Pod/apps/web-578cf755cd-rz2f4";
    assert_eq!(
        trail,
        [
            ("hub", placement, "status.placementStatuses[member-1].conditions[Available]"),
            (
                "hub",
                placement,
                "status.placementStatuses[member-1].failedPlacements[Deployment apps/web in ResourceEnvelope apps/e1]\
                 .conditions[Available]"
            ),
            ("hub", "Work/fleet-member-member-1/web-work", "status.conditions[Available]"),
            ("member-1", "Deployment/apps/web", "status.conditions[Available]"),
            ("member-1", "Deployment/apps/web", "status.availableReplicas"),
            ("member-1", pod, "status.containerStatuses[nginx].state.waiting"),
        ]
    );
}

#[test]
fn what_is_on_its_way_is_left_alone_for_five_minutes() {
    assert_eq!(found(&fleet(JUST_NOW, "ContainerCreating")), [""; 0]);
    assert_eq!(found(&fleet(LONG_AGO, "ContainerCreating")), ["KF-AV-003 ClusterResourcePlacement/web (member-1)"]);
    assert_eq!(found(&hub(vec![unavailable(LONG_AGO)])), ["KF-AV-003 ClusterResourcePlacement/web (member-1)"]);
}

#[test]
fn a_pod_of_another_workload_says_nothing() {
    let mut objects = pods("ErrImagePull");
    objects[1]["metadata"]["ownerReferences"][0]["name"] = "web-api-578cf755cd".into();
    assert_eq!(found(&hub_and_member(vec![unavailable(JUST_NOW)], "member-1", objects)), [""; 0]);
}

/// Returns the cause of KF-AV-003 where the objects on the member are changed like this.
fn cause(change: impl Fn(&mut [Value])) -> String {
    let mut objects = pods("ContainerCreating");
    change(&mut objects);
    let findings = diagnosis::diagnose(&hub_and_member(vec![unavailable(LONG_AGO)], "member-1", objects));
    assert_eq!(findings[0].code.0, "KF-AV-003");
    findings[0].cause.clone()
}

#[test]
fn the_cause_has_what_the_member_says_about_the_workload() {
    let known = "Deployment apps/web of placement web has been unavailable on member-1 for more than 5 min";
    assert_eq!(cause(|_| ()), format!("{known}."));

    let quota = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
        "message": "pods \"web-578cf755cd-\" is forbidden: exceeded quota: small"});
    let refused = cause(|objects| objects[0]["status"]["conditions"].as_array_mut().unwrap().push(quota.clone()));
    assert_eq!(refused, format!("{known}: pods \"web-578cf755cd-\" is forbidden: exceeded quota: small."));

    let no_node = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu"}]);
    let unscheduled = cause(|objects| objects[1]["status"]["conditions"] = no_node.clone());
    let pod = "Pod/apps/web-578cf755cd-rz2f4";
    assert_eq!(unscheduled, format!("{known}: {pod} has no node: 0/3 nodes are available: 3 Insufficient cpu."));

    let crashing = json!([{"name": "nginx", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]);
    let waiting = cause(|objects| objects[1]["status"]["containerStatuses"] = crashing.clone());
    assert_eq!(waiting, format!("{known}: {pod} (CrashLoopBackOff) can't start."));
}

#[test]
fn an_envelope_of_v0_14_0_is_a_config_map() {
    let mut placement = unavailable(LONG_AGO);
    placement["status"]["placementStatuses"][0]["failedPlacements"][0]["envelope"]["type"] = "ConfigMap".into();
    let snapshot = hub_and_member(vec![placement, work("member-1", "web")], "member-1", pods("InvalidImageName"));
    let findings = diagnosis::diagnose(&snapshot);
    let commands: Vec<_> = findings[0].remedies.iter().flat_map(|remedy| &remedy.commands).collect();
    let edit = "kubectl --context hub edit configmaps/e1 -n apps";
    assert!(commands.iter().any(|command| *command == edit), "{commands:?}");
}
