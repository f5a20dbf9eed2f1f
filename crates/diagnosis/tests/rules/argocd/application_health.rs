use diagnosis::{AbsentObject, Snapshot};
use serde_json::{Value, json};

use super::shapes::{OLD, alone, application, cause, evidence, fleet, operated, operation};
use crate::availability::pods;
use crate::shapes::{condition, found, with};

const LONG_AGO: &str = "2026-01-08T11:53:00Z";
const A_MINUTE_AGO: &str = "2026-01-08T11:59:00Z";

/// Application that is synced and has this health since a time, with resources.
fn ill(status: &str, since: &str, resources: &[(&str, &str, &str)]) -> Value {
    let web = with(application("web"), "/status/health", json!({"status": status, "lastTransitionTime": since}));
    let listed: Vec<Value> = resources
        .iter()
        .map(|(group, kind, name)| {
            json!({"group": group, "version": "v1", "kind": kind, "namespace": "apps", "name": name, "status": "Synced"})
        })
        .collect();
    with(web, "/status/resources", Value::from(listed))
}

fn object(api_version: &str, kind: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "apps"}, "spec": spec, "status": status,
    })
}

fn service(status: Value) -> Value {
    object("v1", "Service", json!({"type": "LoadBalancer"}), status)
}

fn deployment(spec: Value, status: Value) -> Value {
    object("apps/v1", "Deployment", spec, status)
}

/// Application one of whose two objects is to be there.
fn missing() -> Value {
    let names = ["settings", "more"];
    let results: Vec<Value> = names
        .iter()
        .map(
            |name| json!({"version": "v1", "kind": "ConfigMap", "namespace": "apps", "name": name, "status": "Synced"}),
        )
        .collect();
    let listed = json!([
        {"version": "v1", "kind": "ConfigMap", "namespace": "apps", "name": "settings", "status": "OutOfSync"},
        {"version": "v1", "kind": "ConfigMap", "namespace": "apps", "name": "more", "status": "Synced"},
    ]);
    let web = operated(
        application("web"),
        operation("Succeeded", "successfully synced (all tasks run)", Value::from(results)),
    );
    with(web, "/status/resources", listed)
}

/// Fleet whose member was asked for the object that isn't there, and said so.
fn fleet_without_settings(application: Value) -> Snapshot {
    let mut snapshot = fleet(vec![application], vec![more()]);
    let [group, kind, name] = ["", "ConfigMap", "settings"].map(str::to_owned);
    snapshot.clusters[1].absent = vec![AbsentObject { group, kind, namespace: Some("apps".to_owned()), name }];
    snapshot
}

fn more() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more", "namespace": "apps"}})
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    let ill = ill("Degraded", LONG_AGO, &[("apps", "Deployment", "web"), ("", "Service", "web")]);
    vec![ill, with(missing(), "/metadata/name", "api")]
}

#[test]
fn a_service_without_an_address_is_late_after_five_minutes() {
    let progressing = |since: &str, status: Value| {
        fleet(vec![ill("Progressing", since, &[("", "Service", "web")])], vec![service(status)])
    };
    let late = progressing(LONG_AGO, json!({"loadBalancer": {}}));
    assert_eq!(found(&late), ["AR-HL-001 Application/argocd/web (member-1)"]);
    assert!(
        cause(&late).contains("has been Progressing for 7 min, because Service apps/web on member-1 has no address")
    );
    assert_eq!(evidence(&late)[1], "member-1 Service/apps/web status.loadBalancer.ingress: (absent)");
    assert_eq!(found(&progressing(A_MINUTE_AGO, json!({}))), [""; 0]);
    let addressed = progressing(LONG_AGO, json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.7"}]}}));
    assert_eq!(found(&addressed), ["AR-XX-001 Application/argocd/web"], "it is something else");
}

#[test]
fn a_deployment_fails_by_its_progress_deadline() {
    let late = condition(
        "Progressing",
        "False",
        "ProgressDeadlineExceeded",
        "ReplicaSet \"web-1\" has timed out progressing.",
    );
    let failed = deployment(json!({"replicas": 1}), json!({"conditions": [late]}));
    let degraded =
        |since: &str| fleet(vec![ill("Degraded", since, &[("apps", "Deployment", "web")])], vec![failed.clone()]);
    assert_eq!(found(&degraded("2026-01-08T11:59:50Z")), [""; 0]);
    let snapshot = degraded(A_MINUTE_AGO);
    assert_eq!(found(&snapshot), ["AR-HL-002 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).contains("Deployment apps/web on member-1 has failed (ProgressDeadlineExceeded: "),
        "{}",
        cause(&snapshot)
    );
}

#[test]
fn a_pod_whose_image_cant_be_had_is_told_at_once() {
    let progressing = |reason: &str, since: &str| {
        fleet(vec![ill("Progressing", since, &[("apps", "Deployment", "web")])], pods(reason))
    };
    let young = "2026-01-08T11:59:55Z";
    let snapshot = progressing("ImagePullBackOff", young);
    assert_eq!(found(&snapshot), ["AR-HL-002 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).ends_with("(ImagePullBackOff) can't start with the image nginx:::no."),
        "{}",
        cause(&snapshot)
    );
    assert_eq!(
        found(&progressing("CrashLoopBackOff", A_MINUTE_AGO)),
        [""; 0],
        "a container may crash while another isn't ready"
    );
    assert_eq!(found(&progressing("CrashLoopBackOff", LONG_AGO)), ["AR-HL-002 Application/argocd/web (member-1)"]);
    assert_eq!(found(&progressing("ContainerCreating", A_MINUTE_AGO)), [""; 0]);
}

#[test]
fn objects_that_say_what_they_lack_are_quoted() {
    let claim = object("v1", "PersistentVolumeClaim", json!({"storageClassName": "fast"}), json!({"phase": "Pending"}));
    let snapshot = fleet(vec![ill("Progressing", LONG_AGO, &[("", "PersistentVolumeClaim", "web")])], vec![claim]);
    assert_eq!(found(&snapshot), ["AR-HL-003 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).ends_with("PersistentVolumeClaim apps/web on member-1 is Pending (StorageClass fast)."),
        "{}",
        cause(&snapshot)
    );
    let failed = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
    let job = object("batch/v1", "Job", json!({}), json!({"conditions": [failed]}));
    let snapshot = fleet(vec![ill("Degraded", A_MINUTE_AGO, &[("batch", "Job", "web")])], vec![job]);
    assert!(
        cause(&snapshot).ends_with("says BackoffLimitExceeded: Job has reached the specified backoff limit."),
        "{}",
        cause(&snapshot)
    );
    let inactive = condition("ScalingActive", "False", "FailedGetResourceMetric", "unable to get resource metric cpu");
    let able = condition("AbleToScale", "True", "SucceededGetScale", "");
    let autoscaler =
        object("autoscaling/v2", "HorizontalPodAutoscaler", json!({}), json!({"conditions": [able, inactive]}));
    let listed = [("autoscaling", "HorizontalPodAutoscaler", "web")];
    let snapshot = fleet(vec![ill("Degraded", A_MINUTE_AGO, &listed)], vec![autoscaler]);
    assert_eq!(found(&snapshot), ["AR-HL-003 Application/argocd/web (member-1)"]);
}

#[test]
fn a_paused_deployment_is_a_notice() {
    let paused = || vec![deployment(json!({"paused": true}), json!({}))];
    let listed = [("apps", "Deployment", "web")];
    let snapshot = fleet(vec![ill("Suspended", LONG_AGO, &listed)], paused());
    assert_eq!(found(&snapshot), ["AR-HL-005 Application/argocd/web (member-1)"]);
    assert!(!diagnosis::diagnose(&snapshot)[0].is_failure());
    assert_eq!(found(&fleet(vec![ill("Suspended", A_MINUTE_AGO, &listed)], paused())), [""; 0]);
}

#[test]
fn an_object_that_was_applied_and_isnt_there_was_deleted() {
    let snapshot = fleet_without_settings(missing());
    assert_eq!(found(&snapshot), ["AR-HL-004 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).contains("has synced ConfigMap apps/settings to member-1, and it isn't there any more"),
        "{}",
        cause(&snapshot)
    );
    assert!(
        evidence(&snapshot)[1].ends_with("ConfigMap/apps/settings metadata.name: (no such object)"),
        "{:?}",
        evidence(&snapshot)
    );
    let heals = with(missing(), "/spec/syncPolicy", json!({"automated": {"selfHeal": true}}));
    assert_eq!(found(&fleet_without_settings(heals)), [""; 0]);
    let disabled = json!({"automated": {"enabled": false, "selfHeal": true}});
    let snapshot = fleet_without_settings(with(missing(), "/spec/syncPolicy", disabled));
    assert_eq!(found(&snapshot), ["AR-HL-004 Application/argocd/web (member-1)"]);
    let newer = with(missing(), "/status/operationState/syncResult/revision", OLD);
    assert_eq!(found(&fleet_without_settings(newer)), [""; 0], "git has a commit that isn't synced");
    assert_eq!(found(&alone(missing())), [""; 0], "its cluster wasn't read");
    assert_eq!(found(&fleet(vec![missing()], vec![more()])), [""; 0], "nobody knows whether it is there");
    let unapplied = with(missing(), "/status/operationState/syncResult/resources", json!([]));
    assert_eq!(found(&fleet_without_settings(unapplied)), [""; 0], "it was never applied");
}

#[test]
fn the_healthy_twins_are_silent() {
    let listed = [("", "Service", "web"), ("apps", "Deployment", "web")];
    let ready = json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1});
    let objects =
        vec![service(json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.7"}]}})), deployment(json!({}), ready)];
    assert_eq!(found(&fleet(vec![ill("Healthy", LONG_AGO, &listed)], objects)), [""; 0]);
    let running = operation("Running", "waiting for healthy state of /Service/web", json!([]));
    let syncing = with(ill("Progressing", LONG_AGO, &listed), "/status/operationState", running);
    assert!(!found(&fleet(vec![syncing], vec![service(json!({}))])).iter().any(|found| found.starts_with("AR-HL")));
}
