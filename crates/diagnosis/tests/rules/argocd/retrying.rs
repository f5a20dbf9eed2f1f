use serde_json::{Value, json};

use super::shapes::{
    OLD, REFUSED, alone, application, cause, commands, evidence, failing, operated, operation, refused, saying,
};
use crate::shapes::{BEFORE, found, with};

const CLUSTER_IP: &str =
    r#"Service "api" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set"#;

/// Automated sync between two attempts.
fn retrying() -> Value {
    let message = format!("{REFUSED}, reason: {CLUSTER_IP}. Retrying attempt #3 at 12:01PM.");
    let state = operation("Running", &message, json!([refused("Service", "api", CLUSTER_IP)]));
    let state = with(with(state, "/finishedAt", BEFORE), "/retryCount", 3);
    operated(application("web"), with(state, "/operation/retry", json!({"limit": 5})))
}

/// The same sync after a new commit was pushed.
fn pinned() -> Value {
    with(retrying(), "/status/operationState/syncResult/revision", OLD)
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![pinned()]
}

#[test]
fn while_the_commit_is_the_wanted_one_its_failure_is_all_there_is() {
    assert_eq!(found(&alone(retrying())), ["AR-SF-002 Application/argocd/web"]);
}

#[test]
fn an_old_commit_that_is_tried_again_is_the_root() {
    let snapshot = alone(pinned());
    assert_eq!(found(&snapshot), ["AR-SF-009 Application/argocd/web", "  AR-SF-002 Application/argocd/web"]);
    assert_eq!(
        cause(&snapshot),
        "The apply doesn't end, and a fix in git isn't used: the operation of application argocd/web continues with commit 4f0c2a91 \
         (attempt 3 of 5), although 9be1d377 is the current commit."
    );
    assert!(evidence(&snapshot)[1].ends_with(&format!("status.operationState.syncResult.revision: {OLD}")));
    assert!(commands(&snapshot)[0].contains("get applications.argoproj.io/web"), "what only reads comes first");
    assert!(commands(&snapshot)[1].contains(r#"{"status":{"operationState":{"phase":"Terminating"}}}"#));
    // During an attempt there is no result; the operation has the revision that was asked for.
    let mut attempt = pinned();
    let state = attempt["status"]["operationState"].as_object_mut().unwrap();
    for gone in ["syncResult", "finishedAt"] {
        state.remove(gone);
    }
    attempt["status"]["operationState"]["operation"]["sync"]["revision"] = OLD.into();
    assert_eq!(found(&alone(attempt)), ["AR-SF-009 Application/argocd/web"]);
}

#[test]
fn a_commit_that_no_comparison_has_seen_yet_is_no_old_one() {
    let stale = with(pinned(), "/status/reconciledAt", "2026-01-08T11:58:00Z");
    assert_eq!(found(&alone(stale)), ["AR-SF-002 Application/argocd/web"]);
}

/// Argo CD may refresh an application with the commit of its last comparison after an operation with a newer one began.
#[test]
fn a_commit_that_was_deployed_before_is_no_newer_one() {
    let target = pinned()["status"]["sync"]["revision"].clone();
    let history = |deployed: &str| json!([{"id": 0, "revision": target, "deployedAt": deployed}]);
    let before = with(pinned(), "/status/history", history("2026-01-08T10:00:00Z"));
    assert_eq!(found(&alone(before)), ["AR-SF-002 Application/argocd/web"]);
    let later = with(pinned(), "/status/history", history("2026-01-08T11:59:59Z"));
    assert_eq!(found(&alone(later))[0], "AR-SF-009 Application/argocd/web");
}

#[test]
fn one_that_asks_for_the_latest_commit_each_time_isnt_pinned() {
    let refreshing = with(pinned(), "/status/operationState/operation/retry/refresh", true);
    assert_eq!(found(&alone(refreshing)), ["AR-SF-002 Application/argocd/web"]);
}

#[test]
fn a_wave_that_waits_at_an_old_commit_hangs_under_it() {
    let deployment = json!({"group": "apps", "kind": "Deployment", "namespace": "web", "name": "api", "status": "Synced", "hookPhase": "Running"});
    let state = operation("Running", "waiting for healthy state of apps/Deployment/api", json!([deployment]));
    let state = with(with(state, "/startedAt", "2026-01-08T11:50:00Z"), "/syncResult/revision", OLD);
    let expected = ["AR-SF-009 Application/argocd/web", "  AR-SF-006 Application/argocd/web"];
    assert_eq!(found(&alone(operated(application("web"), state.clone()))), expected);
    let young = operated(application("web"), with(state, "/startedAt", BEFORE));
    assert_eq!(found(&alone(young)), [""; 0], "a rollback that goes on");
}

#[test]
fn what_automated_sync_doesnt_try_again_hangs_under_the_reason() {
    let gave_up = format!("Failed last sync attempt to [9be1d377]: {REFUSED}, reason: {CLUSTER_IP} (retried 5 times).");
    let failed = saying(failing("web", refused("Service", "api", CLUSTER_IP)), "SyncError", &gave_up);
    let failed = with(failed, "/status/operationState/retryCount", 5);
    let expected = ["AR-SF-002 Application/argocd/web", "  AR-SF-011 Application/argocd/web"];
    assert_eq!(found(&alone(failed.clone())), expected);
    let under = &diagnosis::diagnose(&alone(failed))[0].consequences[0];
    assert!(
        under.cause.starts_with("The apply failed 6 times, and automated sync doesn't try this commit"),
        "{}",
        under.cause
    );
    let wipe = "Skipping sync attempt to [9be1d377]: auto-sync will wipe out all resources";
    let held_back = alone(saying(application("web"), "SyncError", wipe));
    assert_eq!(found(&held_back), ["AR-SF-011 Application/argocd/web"]);
    assert!(
        cause(&held_back).starts_with("Nothing is applied: automated sync of application"),
        "{}",
        cause(&held_back)
    );
}
