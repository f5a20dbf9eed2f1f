//! Jobs of placements that are available.

use diagnosis::Snapshot;
use serde_json::{Value, json};

use crate::shapes::{BEFORE, condition, found, green, hub_and_member, with, work};
use crate::switched_off::diagnose;

const AFTER: &str = "2026-01-08T11:59:40Z";

/// Available placement of a Job, and its Work.
fn placed() -> Vec<Value> {
    let selected = json!([{"group": "batch", "version": "v1", "kind": "Job", "namespace": "apps", "name": "migrate"}]);
    let placement = with(green("web", &["member-1"]), "/status/selectedResources", selected);
    let applied = json!([{
        "identifier": {"group": "batch", "kind": "Job", "namespace": "apps", "name": "migrate", "ordinal": 0},
        "conditions": [condition("Applied", "True", "Applied", "")],
    }]);
    let work = with(work("member-1", "web"), "/status", json!({"manifestConditions": applied}));
    vec![placement, work]
}

/// Job and its Pod on the member.
fn job(created: &str, conditions: Value) -> Vec<Value> {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"namespace": "apps", "name": "migrate", "creationTimestamp": created},
        "spec": {"ttlSecondsAfterFinished": 60}, "status": {"conditions": conditions},
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "apps", "name": "migrate-x",
                     "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "migrate"}]},
        "status": {"containerStatuses": [{"name": "app", "state": {"terminated": {"exitCode": 3}}}]},
    });
    vec![job, pod]
}

fn has_failed() -> Value {
    json!([{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": BEFORE}])
}

fn fleet(job: Vec<Value>) -> Snapshot {
    hub_and_member(placed(), "member-1", job)
}

#[test]
fn a_failed_job_of_an_available_placement_is_a_notice() {
    let findings = diagnose(&fleet(job(BEFORE, has_failed())));
    assert_eq!(findings.len(), 1);
    let finding = &findings[0];
    assert_eq!((finding.code.0.as_str(), finding.severity.is_failure()), ("KF-AV-011", false));
    assert_eq!(
        finding.cause,
        "Job apps/migrate of placement web failed on member-1 (BackoffLimitExceeded). KubeFleet doesn't track Jobs: the \
         placement says that it is available."
    );
    let trail: Vec<_> = finding.evidence.iter().map(|e| e.object.to_string()).collect();
    assert_eq!(trail, ["ClusterResourcePlacement/web", "Job/apps/migrate", "Pod/apps/migrate-x"]);
    let complete = json!([{"type": "Complete", "status": "True"}]);
    assert_eq!(found(&fleet(job(BEFORE, complete))), [""; 0]);
}

#[test]
fn a_job_that_was_made_after_it_was_applied_runs_again() {
    let findings = diagnose(&fleet(job(AFTER, json!([]))));
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].code.0.as_str(), findings[0].severity.is_failure()), ("KF-AV-012", false));
    assert!(findings[0].cause.contains("60 s after its end it is deleted"), "{}", findings[0].cause);
    let last = findings[0].evidence.last().unwrap();
    assert_eq!((last.path.as_str(), last.value.as_str()), ("metadata.creationTimestamp", AFTER));
    assert_eq!(found(&fleet(job(BEFORE, json!([])))), [""; 0]);
    let mut by_hand = job(AFTER, json!([]));
    by_hand[0]["spec"] = json!({});
    assert_eq!(found(&fleet(by_hand)), [""; 0]);
}
