//! Applications that are unusual, but possible: very many resources, an operation that runs for hours, times in the future.

use serde_json::{Value, json};

use super::shapes::{application, cause, fleet, operated, operation};
use crate::shapes::{found, with};

const LATER: &str = "2026-01-08T13:30:00Z";

/// Application with resources that aren't in sync.
fn with_resources(name: &str, count: usize) -> Value {
    let listed: Vec<Value> = (0..count)
        .map(|n| {
            json!({"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": format!("{name}-{n}"), "status": "OutOfSync"})
        })
        .collect();
    let out_of_sync = with(application(name), "/status/sync/status", "OutOfSync");
    with(out_of_sync, "/status/resources", Value::from(listed))
}

#[test]
fn of_many_resources_some_are_read() {
    let snapshot = fleet(vec![with_resources("web", 500)], Vec::new());
    assert_eq!(diagnosis::wanted_objects(&snapshot).len(), 10);
    let many = (0..100).map(|n| with_resources(&format!("web-{n}"), 20)).collect();
    assert_eq!(diagnosis::wanted_objects(&fleet(many, Vec::new())).len(), 500);
}

#[test]
fn what_was_not_read_is_not_missing() {
    let results: Vec<Value> = (0..500)
        .map(|n| json!({"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": format!("web-{n}"), "status": "Synced"}))
        .collect();
    let synced = operation("Succeeded", "successfully synced (all tasks run)", Value::from(results));
    let web = with(with_resources("web", 500), "/status/operationState", synced);
    assert_eq!(found(&fleet(vec![web], Vec::new())), [""; 0]);
}

#[test]
fn an_operation_that_runs_for_hours_is_told_by_what_it_waits_for() {
    let waits = "waiting for healthy state of apps/Deployment/web";
    let resource = json!({"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "web", "name": "web",
        "status": "Synced", "hookPhase": "Running", "syncPhase": "Sync"});
    let old = with(operation("Running", waits, json!([resource])), "/startedAt", "2026-01-08T04:00:00Z");
    let snapshot = fleet(vec![operated(application("web"), old)], Vec::new());
    assert_eq!(found(&snapshot), ["AR-SF-006 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot).contains("has waited for Deployment web/web on member-1 for 480 min"),
        "{}",
        cause(&snapshot)
    );
}

#[test]
fn times_in_the_future_are_taken_for_the_present() {
    let ill = with(application("web"), "/status/health", json!({"status": "Degraded", "lastTransitionTime": LATER}));
    let ill = with(ill, "/status/reconciledAt", LATER);
    let ill = with(ill, "/status/operationState/finishedAt", LATER);
    let mut new = with(application("shop"), "/metadata/creationTimestamp", LATER);
    new["status"].take();
    let going = with(application("old"), "/metadata/deletionTimestamp", LATER);
    let going = with(going, "/metadata/finalizers", json!(["resources-finalizer.argocd.argoproj.io"]));
    assert_eq!(found(&fleet(vec![ill, new, going], Vec::new())), [""; 0]);
}
