use serde_json::{Value, json};

use super::shapes::{alone, application, cause, commands, evidence, fleet, operation, saying};
use crate::shapes::{found, with};

const LONG_AGO: &str = "2026-01-08T11:53:00Z";
const CASCADE: &str = "resources-finalizer.argocd.argoproj.io";

/// Application that has been deleted at a time, with one resource.
fn deleted_at(time: &str, finalizers: Value) -> Value {
    let web = with(application("web"), "/metadata/deletionTimestamp", time);
    let web = with(web, "/metadata/finalizers", finalizers);
    with(web, "/status/resources", json!([resource(json!({}))]))
}

fn going() -> Value {
    deleted_at(LONG_AGO, json!([CASCADE]))
}

fn resource(more: Value) -> Value {
    let mut all =
        json!({"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings", "status": "Synced"});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn settings() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "web"}})
}

fn held(since: &str) -> Value {
    let settings = with(settings(), "/metadata/deletionTimestamp", since);
    with(settings, "/metadata/finalizers", json!(["example.com/protect"]))
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    let confirmed =
        with(going(), "/status/resources", json!([resource(json!({"requiresDeletionConfirmation": true}))]));
    let refused = saying(going(), "DeletionError", "failed to get cluster info for \"https://a\": dial tcp");
    let operated = with(going(), "/operation", json!({"sync": {}}));
    vec![confirmed, with(refused, "/metadata/name", "api"), with(operated, "/metadata/name", "shop")]
}

#[test]
fn an_object_with_a_finalizer_holds_its_application() {
    let snapshot = fleet(vec![going()], vec![held(LONG_AGO)]);
    assert_eq!(found(&snapshot), ["AR-DL-001 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "Application argocd/web is being deleted and doesn't go: on member-1, ConfigMap/web/settings has the finalizer \
         example.com/protect, and Argo CD waits until all its objects are gone."
    );
    let evidence = evidence(&snapshot);
    assert_eq!(evidence[2], format!("member-1 ConfigMap/web/settings metadata.deletionTimestamp: {LONG_AGO}"));
    assert_eq!(evidence[3], "member-1 ConfigMap/web/settings metadata.finalizers: [\"example.com/protect\"]");
}

#[test]
fn a_namespace_that_isnt_empty_holds_its_application() {
    let listed = json!([{"version": "v1", "kind": "Namespace", "name": "web"}]);
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web", "deletionTimestamp": LONG_AGO},
        "status": {"conditions": [{
            "type": "NamespaceFinalizersRemaining", "status": "True", "reason": "SomeFinalizersRemain",
            "message": "Some content in the namespace has finalizers remaining: example.com/protect in 1 resource instances",
        }]},
    });
    let snapshot = fleet(vec![with(going(), "/status/resources", listed)], vec![namespace]);
    assert_eq!(found(&snapshot), ["AR-DL-001 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("Namespace/web isn't empty"), "{}", cause(&snapshot));
}

#[test]
fn a_deletion_that_is_on_its_way_is_silent() {
    let young = "2026-01-08T11:59:30Z";
    assert_eq!(found(&fleet(vec![deleted_at(young, json!([CASCADE]))], vec![held(young)])), [""; 0]);
    let just_begun = fleet(vec![going()], vec![held(young)]);
    assert_eq!(found(&just_begun), ["AR-XX-001 Application/argocd/web"], "the object's own deletion has just begun");
    let stays = fleet(vec![going()], vec![settings()]);
    assert_eq!(found(&stays), ["AR-XX-001 Application/argocd/web"], "nothing shows a cause");
    let foreign = fleet(vec![deleted_at(LONG_AGO, json!(["example.com/protect"]))], vec![held(LONG_AGO)]);
    assert_eq!(found(&foreign), ["AR-XX-001 Application/argocd/web"], "Argo CD has nothing to do with it");
}

#[test]
fn an_error_of_the_destination_is_quoted() {
    let error = "failed to get cluster info for \"https://10.0.0.7:6443\": error synchronizing cache state : failed to get server \
                 version: dial tcp 10.0.0.7:6443: connect: connection refused";
    let refused = saying(going(), "DeletionError", error);
    assert_eq!(found(&alone(refused.clone())), ["AR-DL-002 Application/argocd/web"]);
    // The condition is that of an earlier attempt.
    assert_eq!(found(&fleet(vec![refused], vec![held(LONG_AGO)])), ["AR-DL-001 Application/argocd/web (member-1)"]);
    let project =
        saying(going(), "DeletionError", "error getting app project \"web\": appproject.argoproj.io \"web\" not found");
    assert_eq!(found(&alone(project)), ["AR-XX-001 Application/argocd/web"]);
}

#[test]
fn a_hook_that_cant_be_rendered_is_told() {
    let hooks = json!([
        "post-delete-finalizer.argocd.argoproj.io",
        "post-delete-finalizer.argocd.argoproj.io/cleanup",
        CASCADE
    ]);
    let error = "failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = repository not found";
    let snapshot = alone(saying(deleted_at(LONG_AGO, hooks.clone()), "DeletionError", error));
    assert_eq!(found(&snapshot), ["AR-DL-003 Application/argocd/web"]);
    let all = commands(&snapshot);
    assert!(
        all.iter().any(|command| command.contains(&format!("'{{\"metadata\":{{\"finalizers\":[\"{CASCADE}\"]}}}}'"))),
        "{all:?}"
    );
    let failed = alone(saying(deleted_at(LONG_AGO, hooks), "DeletionError", "PostDelete hook(s) failed: web/cleanup"));
    assert!(cause(&failed).contains("a hook for the deletion fails: PostDelete hook(s) failed"), "{}", cause(&failed));
}

#[test]
fn an_operation_holds_the_deletion() {
    let running = operation("Running", "Sync operation blocked by sync window", json!([]));
    let web = with(with(going(), "/operation", json!({"sync": {}})), "/status/operationState", running);
    let snapshot = fleet(vec![web], vec![held(LONG_AGO)]);
    assert_eq!(found(&snapshot), ["AR-DL-004 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).ends_with("in phase Running and says: Sync operation blocked by sync window."),
        "{}",
        cause(&snapshot)
    );
}

#[test]
fn the_deletion_begins_when_the_operation_has_ended() {
    let terminated = |finished: &str| {
        let ended = with(operation("Failed", "Operation terminated", json!([])), "/startedAt", "2026-01-08T11:49:00Z");
        let ended = with(ended, "/finishedAt", finished);
        fleet(vec![with(going(), "/status/operationState", ended)], vec![settings()])
    };
    assert_eq!(found(&terminated("2026-01-08T11:59:58Z")), [""; 0]);
    assert_eq!(found(&terminated("2026-01-08T11:50:00Z")), ["AR-XX-001 Application/argocd/web"]);
}

#[test]
fn a_confirmation_is_awaited() {
    let waiting = with(going(), "/status/resources", json!([resource(json!({"requiresDeletionConfirmation": true}))]));
    let snapshot = fleet(vec![waiting.clone()], vec![settings()]);
    assert_eq!(found(&snapshot), ["AR-DL-005 Application/argocd/web (member-1)"]);
    assert!(!diagnosis::diagnose(&snapshot)[0].is_failure());
    assert!(
        commands(&snapshot)[1].contains("argocd.argoproj.io/deletion-approved=$(date"),
        "{:?}",
        commands(&snapshot)
    );
    let annotated = |time: &str| {
        let annotations = json!({"argocd.argoproj.io/deletion-approved": time});
        found(&fleet(vec![with(waiting.clone(), "/metadata/annotations", annotations)], vec![settings()]))
    };
    assert_eq!(
        annotated("2026-01-08T11:50:00Z"),
        ["AR-DL-005 Application/argocd/web (member-1)"],
        "older than the deletion"
    );
    assert_eq!(annotated("2026-01-08T11:58:00Z"), ["AR-XX-001 Application/argocd/web"], "confirmed 2 min ago");
    assert_eq!(annotated("2026-01-08T11:59:30Z"), [""; 0], "just confirmed");
}
