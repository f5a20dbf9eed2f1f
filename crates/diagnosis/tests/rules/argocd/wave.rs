use serde_json::{Value, json};

use super::shapes::{UNSUCCESSFUL, alone, application, cause, evidence, fleet, operated, operation};
use crate::availability::pods;
use crate::shapes::{found, with};

const LONG_AGO: &str = "2026-01-08T11:53:00Z";

fn deployment(phase: &str, message: &str) -> Value {
    json!({
        "group": "apps", "version": "v1", "kind": "Deployment", "namespace": "apps", "name": "web",
        "status": "Synced", "hookPhase": phase, "syncPhase": "Sync", "message": message,
    })
}

/// Sync that has waited for a Deployment since the given time.
fn waiting(since: &str) -> Value {
    let running =
        operation("Running", "waiting for healthy state of apps/Deployment/web", json!([deployment("Running", "")]));
    operated(application("web"), with(running, "/startedAt", since))
}

fn on_member(reason: &str) -> Vec<Value> {
    let mut objects = pods(reason);
    objects[0]["metadata"]["annotations"] = json!({"argocd.argoproj.io/sync-wave": "-1"});
    objects
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![waiting(LONG_AGO)]
}

#[test]
fn a_pod_that_says_why_it_cant_start_isnt_waited_for() {
    let snapshot = fleet(vec![waiting("2026-01-08T11:59:30Z")], on_member("ImagePullBackOff"));
    assert_eq!(found(&snapshot), ["AR-SF-006 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply doesn't end: the sync of application argocd/web has waited for Deployment apps/web on member-1 (wave -1) for 0 \
         min; Pod/apps/web-578cf755cd-rz2f4 (ImagePullBackOff) can't start with the image nginx:::no. Later waves were not \
         applied."
    );
    let last = evidence(&snapshot).pop().unwrap();
    assert_eq!(
        last,
        "member-1 Pod/apps/web-578cf755cd-rz2f4 status.containerStatuses[nginx].state.waiting: ImagePullBackOff"
    );
}

#[test]
fn what_gives_no_reason_is_late_after_five_minutes() {
    let starting = || on_member("ContainerCreating");
    assert_eq!(found(&fleet(vec![waiting("2026-01-08T11:56:00Z")], starting())), [""; 0]);
    let late = fleet(vec![waiting(LONG_AGO)], starting());
    assert_eq!(found(&late), ["AR-SF-006 Application/argocd/web (member-1)"]);
    assert!(cause(&late).contains("for 7 min. Later waves"), "{}", cause(&late));
    assert_eq!(found(&alone(waiting(LONG_AGO))), ["AR-SF-006 Application/argocd/web"], "without its cluster");
    let health = json!([{"group": "apps", "kind": "Deployment", "namespace": "apps", "name": "web", "health": {"status": "Healthy"}}]);
    assert_eq!(found(&alone(with(waiting(LONG_AGO), "/status/resources", health))), [""; 0], "it is about to go on");
}

#[test]
fn a_progress_deadline_ends_it() {
    let message = r#"Deployment "web" exceeded its progress deadline"#;
    let failed = operation("Failed", UNSUCCESSFUL, json!([deployment("Failed", message)]));
    let health = json!([{"group": "apps", "kind": "Deployment", "namespace": "apps", "name": "web", "health": {"status": "Degraded"}}]);
    let application = with(operated(application("web"), failed), "/status/resources", health);
    let snapshot = fleet(vec![application], on_member("ContainerCreating"));
    assert_eq!(found(&snapshot), ["AR-SF-006 Application/argocd/web (member-1)"]);
    assert!(
        cause(&snapshot)
            .starts_with("The apply failed: Deployment apps/web of application argocd/web (wave -1) didn't become")
    );
    let evidence = evidence(&snapshot);
    assert!(
        evidence[1].ends_with(&format!("resources[Deployment apps/web]: Synced, Failed: {message}")),
        "{}",
        evidence[1]
    );
    assert!(evidence[2].ends_with("status.resources[Deployment apps/web].health: Degraded"), "{}", evidence[2]);
}

#[test]
fn a_hook_that_takes_its_time_is_a_notice() {
    let hook = json!({
        "group": "batch", "kind": "Job", "namespace": "web", "name": "db-migrate", "hookType": "PreSync", "hookPhase": "Running",
    });
    let running = operation("Running", "waiting for completion of hook batch/Job/db-migrate", json!([hook]));
    let application = operated(application("web"), with(running, "/startedAt", LONG_AGO));
    let findings = diagnosis::diagnose(&alone(application));
    assert_eq!(findings[0].code.0, "AR-SF-006");
    assert!(!findings[0].is_failure());
}

#[test]
fn a_sync_that_runs_and_isnt_late_is_silent() {
    let running = operation("Running", "one or more tasks are running", json!([]));
    assert_eq!(found(&alone(operated(application("web"), with(running, "/startedAt", LONG_AGO)))), [""; 0]);
    let ending = operation("Terminating", "operation is terminating", json!([deployment("Running", "")]));
    assert_eq!(found(&alone(operated(application("web"), ending))), [""; 0]);
}
