use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, fleet, object};
use crate::shapes::{BEFORE, found, with};

const SYNCED: &str = "2026-01-08T11:40:00Z";
const LATER: &str = "2026-01-08T11:50:00Z";

/// Application that is `OutOfSync` at the commit that it has synced, with one resource.
fn out_of_sync(group: &str, kind: &str, name: &str) -> Value {
    let web = with(application("web"), "/status/sync/status", "OutOfSync");
    let web = with(web, "/status/operationState/startedAt", SYNCED);
    let web = with(web, "/status/operationState/finishedAt", SYNCED);
    let resource =
        json!({"group": group, "version": "v1", "kind": kind, "namespace": "web", "name": name, "status": "OutOfSync"});
    with(web, "/status/resources", json!([resource]))
}

/// Live object of which Argo CD has applied this manifest.
fn live(api_version: &str, kind: &str, name: &str, applied: &Value) -> Value {
    let live = object(api_version, kind, Some("web"), name);
    let annotation = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    let live = with(with(live, "/metadata/annotations", annotation), "/metadata/generation", 1);
    with(live, "/metadata/managedFields", json!([write("argocd-controller", "Update", "", SYNCED)]))
}

/// Write that `managedFields` record. Those of the scale have no time.
fn write(manager: &str, operation: &str, subresource: &str, time: &str) -> Value {
    let write = json!({"manager": manager, "operation": operation});
    let write = if subresource == "scale" { write } else { with(write, "/time", time) };
    if subresource.is_empty() { write } else { with(write, "/subresource", subresource) }
}

fn written(mut live: Value, write: Value) -> Value {
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(write);
    live
}

fn settings(colour: &str) -> Value {
    let applied = json!({"metadata": {"labels": {"colour": "blue"}}});
    with(live("v1", "ConfigMap", "settings", &applied), "/metadata/labels", json!({"colour": colour}))
}

fn deployment(replicas: i64) -> Value {
    with(live("apps/v1", "Deployment", "web", &json!({"spec": {"replicas": 1}})), "/spec/replicas", replicas)
}

#[test]
fn a_write_after_the_sync_names_its_manager() {
    let edited = written(settings("red"), write("kubectl-edit", "Update", "", LATER));
    let snapshot = fleet(vec![out_of_sync("", "ConfigMap", "settings")], vec![edited]);
    assert_eq!(found(&snapshot), ["AR-OS-004 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "Application argocd/web is OutOfSync, although its last sync succeeded: kubectl-edit (Update) has written ConfigMap \
         web/settings on member-1 at 2026-01-08T11:50:00Z, after the sync, and metadata.labels.colour differs from what was applied."
    );
    let evidence = evidence(&snapshot);
    assert_eq!(evidence[1], "member-1 ConfigMap/web/settings metadata.labels.colour: red (applied: blue)");
    assert_eq!(
        evidence[2],
        "member-1 ConfigMap/web/settings metadata.managedFields[kubectl-edit]: kubectl-edit (Update)"
    );
    let ignore = commands(&snapshot).pop().unwrap();
    assert!(ignore.contains(r#""jsonPointers":["/metadata/labels/colour"]"#), "{ignore}");
    assert!(ignore.contains("RespectIgnoreDifferences=true"), "{ignore}");
}

#[test]
fn a_write_before_the_sync_is_not_to_blame() {
    let mutated = written(settings("green"), write("kubectl-edit", "Update", "", BEFORE));
    let mutated = with(mutated, "/metadata/managedFields/1/time", "2026-01-08T11:30:00Z");
    let snapshot = fleet(vec![out_of_sync("", "ConfigMap", "settings")], vec![mutated]);
    assert_eq!(found(&snapshot), ["AR-OS-001 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("An admission webhook or a policy changes the object"), "{}", cause(&snapshot));
}

#[test]
fn a_field_that_the_schema_lacks_is_dropped() {
    let applied = json!({"spec": {"color": "blue", "ports": [{"port": 80}]}});
    let widget = with(live("example.io/v1", "Widget", "blue", &applied), "/spec/ports", json!([{"port": 80}]));
    // An operator's finalizer.
    let widget = written(widget, write("operator", "Update", "", LATER));
    let snapshot = fleet(vec![out_of_sync("example.io", "Widget", "blue")], vec![widget]);
    assert_eq!(found(&snapshot), ["AR-OS-002 Application/argocd/web (member-1)"]);
    assert_eq!(evidence(&snapshot)[1], "member-1 Widget/web/blue spec.color: (absent) (applied: blue)");
    assert!(commands(&snapshot)[0].contains("get customresourcedefinitions.apiextensions.k8s.io/widgets.example.io"));
}

#[test]
fn defaults_within_a_list_are_no_difference() {
    let applied = json!({"spec": {"ports": [{"port": 80}]}});
    let widget =
        |ports: Value| with(live("example.io/v1", "Widget", "blue", &applied), "/spec", json!({"ports": ports}));
    let diagnosed = |widget: Value| found(&fleet(vec![out_of_sync("example.io", "Widget", "blue")], vec![widget]));
    assert_eq!(diagnosed(widget(json!([{"port": 80, "protocol": "TCP"}]))), [""; 0]);
    let two = json!([{"port": 80}, {"port": 81}]);
    assert_eq!(diagnosed(widget(two)), ["AR-OS-001 Application/argocd/web (member-1)"]);
}

#[test]
fn an_autoscaler_is_known_by_its_write_of_the_scale() {
    let scaled = written(deployment(3), write("kube-controller-manager", "Update", "scale", LATER));
    let scaled = written(scaled, write("kube-controller-manager", "Update", "status", LATER));
    let snapshot = fleet(vec![out_of_sync("apps", "Deployment", "web")], vec![scaled]);
    assert_eq!(found(&snapshot), ["AR-OS-003 Application/argocd/web (member-1)"]);
    let by_hand = written(deployment(3), write("kubectl", "Update", "scale", LATER));
    let snapshot = fleet(vec![out_of_sync("apps", "Deployment", "web")], vec![by_hand]);
    assert_eq!(found(&snapshot), ["AR-OS-004 Application/argocd/web (member-1)"]);
}

#[test]
fn self_heal_fights_from_the_third_time_on() {
    let edited = written(settings("red"), write("kubectl-edit", "Update", "", LATER));
    let healing = |count: i64, finished: &str| {
        let web = out_of_sync("", "ConfigMap", "settings");
        let web = with(web, "/spec/syncPolicy", json!({"automated": {"selfHeal": true}}));
        let web = with(web, "/status/operationState/finishedAt", finished);
        let sync = json!({"autoHealAttemptsCount": count, "resources": [{"kind": "ConfigMap", "name": "settings"}]});
        found(&fleet(vec![with(web, "/status/operationState/operation/sync", sync)], vec![edited.clone()]))
    };
    assert_eq!(healing(3, "2026-01-08T11:59:00Z"), ["AR-OS-006 Application/argocd/web (member-1)"]);
    assert_eq!(healing(2, "2026-01-08T11:59:00Z"), [""; 0], "it may hold now");
    assert_eq!(healing(3, "2026-01-08T11:00:00Z"), [""; 0], "a fight of the past");
}

#[test]
fn what_is_ignored_elsewhere_is_named() {
    let edited = written(settings("red"), write("kubectl-edit", "Update", "", LATER));
    let ignored = json!([{"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/color"]}]);
    let web = with(out_of_sync("", "ConfigMap", "settings"), "/spec/ignoreDifferences", ignored);
    let snapshot = fleet(vec![web], vec![edited]);
    assert_eq!(found(&snapshot), ["AR-OS-004 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).ends_with("ignores differences of this kind at /metadata/labels/color only."),
        "{}",
        cause(&snapshot)
    );
    assert!(commands(&snapshot).pop().unwrap().contains("/metadata/labels/color\"]},{"), "{:?}", commands(&snapshot));
}

#[test]
fn the_healthy_twins_are_silent() {
    let edited = written(settings("red"), write("kubectl-edit", "Update", "", LATER));
    let web = out_of_sync("", "ConfigMap", "settings");
    let silent = |web: Value, live: Value| assert_eq!(found(&fleet(vec![web], vec![live])), [""; 0]);
    silent(with(web.clone(), "/status/sync/status", "Synced"), edited.clone());
    silent(web.clone(), settings("blue"));
    silent(web.clone(), written(settings("red"), write("kubectl-edit", "Update", "", "2026-01-08T11:59:50Z")));
    silent(with(web.clone(), "/status/sync/revision", super::shapes::OLD), edited.clone());
    silent(with(web.clone(), "/status/reconciledAt", "2026-01-08T11:39:00Z"), edited.clone());
    silent(with(web.clone(), "/status/operationState/operation/sync/dryRun", true), edited.clone());
    let partial = json!([{"kind": "ConfigMap", "name": "settings"}]);
    silent(with(web.clone(), "/status/operationState/operation/sync/resources", partial), edited.clone());
    silent(with(web, "/status/resources/0/requiresPruning", true), edited);
}

#[test]
fn what_differs_in_its_notation_alone_is_left_out() {
    let container =
        |cpu: &str, image: &str| json!({"name": "web", "image": image, "resources": {"limits": {"cpu": cpu}}});
    let applied = json!({"spec": {"template": {"spec": {"containers": [container("1000m", "web:1")]}}}});
    let sidecar = json!({"name": "sidecar"});
    let live = live("apps/v1", "Deployment", "web", &applied);
    let live = with(live, "/spec/template/spec", json!({"containers": [sidecar, container("1", "web:2")]}));
    let edited = written(live, write("kubectl-set", "Update", "", LATER));
    let snapshot = fleet(vec![out_of_sync("apps", "Deployment", "web")], vec![edited]);
    assert_eq!(found(&snapshot), ["AR-OS-004 Application/argocd/web (member-1)"]);
    let path = "spec.template.spec.containers[name=web].image: web:2 (applied: web:1)";
    assert_eq!(evidence(&snapshot)[1], format!("member-1 Deployment/web/web {path}"));
    assert!(evidence(&snapshot)[2].contains("managedFields"), "{:?}", evidence(&snapshot));
    let ignore = commands(&snapshot).pop().unwrap();
    assert!(ignore.contains(r#"select(.name == \"web\") | .\"image\""#), "{ignore}");
}

#[test]
fn nothing_that_is_missing_or_of_another_type_stops_a_diagnosis() {
    let application = with(out_of_sync("", "ConfigMap", "settings"), "/spec/destination/name", "in-cluster");
    let objects = [application, written(settings("red"), write("kubectl-edit", "Update", "", LATER))];
    assert_eq!(found(&crate::shapes::hub(objects.to_vec())), ["AR-OS-004 Application/argocd/web"]);
    crate::robustness::take_apart(&objects, &[]);
}
