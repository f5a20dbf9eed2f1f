use serde_json::{Value, json};

use super::shapes::{alone, application, by_cause, cause, evidence, fleet};
use crate::shapes::{found, with};

const LONG_AGO: &str = "2026-01-08T11:50:00Z";
const A_MINUTE_AGO: &str = "2026-01-08T11:59:00Z";

/// Application that has no status, and was created at a time.
fn new(created: &str) -> Value {
    let mut new = with(application("web"), "/metadata/creationTimestamp", created);
    new.as_object_mut().unwrap().remove("status");
    new
}

/// Application of a namespace, compared at a time.
fn compared(namespace: &str, name: &str, at: &str) -> Value {
    let other = with(application(name), "/metadata/namespace", namespace);
    with(other, "/status/reconciledAt", at)
}

/// Application with a field that somebody has written at a time.
fn asked(pointer: &str, value: Value, at: &str) -> Value {
    let old = compared("argocd", "web", "2026-01-08T11:30:00Z");
    let written =
        with(old, "/metadata/managedFields", json!([{"manager": "kubectl", "operation": "Update", "time": at}]));
    with(written, pointer, value)
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![with(new(LONG_AGO), "/metadata/name", "unread")]
}

#[test]
fn an_application_that_nobody_compares_waits_for_the_controller() {
    let snapshot = alone(new(LONG_AGO));
    assert_eq!(found(&snapshot), ["AR-AC-001 Application/argocd/web"]);
    assert!(
        cause(&snapshot).ends_with("for 10 min: it has never been compared. It has compared no application at all: it doesn't run, or doesn't get on."),
        "{}",
        cause(&snapshot)
    );
    assert_eq!(evidence(&snapshot), ["hub Application/argocd/web status.reconciledAt: (absent)"]);
    assert_eq!(found(&alone(new(A_MINUTE_AGO))), [""; 0]);
}

#[test]
fn what_somebody_has_asked_for_waits_too() {
    let refresh = json!({"argocd.argoproj.io/refresh": "hard"});
    let snapshot = alone(asked("/metadata/annotations", refresh.clone(), LONG_AGO));
    assert_eq!(found(&snapshot), ["AR-AC-001 Application/argocd/web"]);
    assert!(cause(&snapshot).contains("a comparison was asked for, and hasn't been made. Its last comparison of any"));
    assert_eq!(
        evidence(&snapshot),
        ["hub Application/argocd/web metadata.annotations[argocd.argoproj.io/refresh]: hard"]
    );
    let snapshot = alone(asked("/operation", json!({"sync": {}}), LONG_AGO));
    assert_eq!(found(&snapshot), ["AR-AC-001 Application/argocd/web"]);
    assert!(cause(&snapshot).contains("an operation was asked for, and hasn't begun"));
    let running = asked("/operation", json!({"sync": {}}), LONG_AGO);
    let running = with(running, "/status/operationState/phase", "Running");
    let running = with(running, "/status/operationState/finishedAt", Value::Null);
    assert_eq!(found(&alone(running)), [""; 0], "it has begun");
    assert_eq!(found(&alone(asked("/metadata/annotations", refresh, A_MINUTE_AGO))), [""; 0]);
}

#[test]
fn a_controller_that_compares_others_doesnt_watch_the_namespace() {
    let team = with(new(LONG_AGO), "/metadata/namespace", "team");
    let snapshot = fleet(vec![team.clone(), compared("argocd", "shop", A_MINUTE_AGO)], Vec::new());
    assert_eq!(found(&snapshot), ["AR-AC-001 Application/team/web (member-1)"]);
    assert!(cause(&snapshot).ends_with("but none in namespace team: it doesn't watch this namespace."));
    assert_eq!(evidence(&snapshot)[1], "hub Application/argocd/shop status.reconciledAt: 2026-01-08T11:59:00Z");
    let watched = vec![team, compared("team", "shop", A_MINUTE_AGO)];
    assert_eq!(found(&fleet(watched, Vec::new())), [""; 0], "its turn comes");
}

/// Project `default` of an Argo CD.
fn default_project(namespace: &str) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
        "metadata": {"name": "default", "namespace": namespace}, "spec": {},
    })
}

#[test]
fn the_controllers_of_two_argo_cds_are_told_apart() {
    let waiting = asked("/metadata/annotations", json!({"argocd.argoproj.io/refresh": "hard"}), LONG_AGO);
    let other = compared("argocd-b", "shop", A_MINUTE_AGO);
    let projects = vec![default_project("argocd"), default_project("argocd-b")];
    let snapshot = fleet([vec![waiting.clone(), other.clone()], projects].concat(), vec![]);
    assert_eq!(found(&snapshot), ["AR-AC-001 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).contains("Its last comparison of any application was at 2026-01-08T11:30:00Z"),
        "{}",
        cause(&snapshot)
    );
    // With one Argo CD, its controller has compared the other application in the meantime.
    let snapshot = fleet(vec![waiting, other, default_project("argocd")], vec![]);
    assert_eq!(found(&snapshot), [""; 0]);
}

#[test]
fn one_controller_that_doesnt_run_is_one_finding() {
    let other = with(new(LONG_AGO), "/metadata/name", "shop");
    let last = compared("argocd", "old", "2026-01-08T11:30:00Z");
    let snapshot = fleet(vec![new(LONG_AGO), other, last], Vec::new());
    let findings = by_cause(&snapshot);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].other_subjects.len(), 1);
}
