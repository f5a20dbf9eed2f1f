use serde_json::{Value, json};

use super::shapes::{alone, application, operation};
use crate::availability::unavailable;
use crate::shapes::{found, green, hub, with};

const LONG_AGO: &str = "2026-01-08T11:50:00Z";

fn tracked(placement: Value) -> Value {
    let id = "gitops:placement.kubernetes-fleet.io/ClusterResourcePlacement:/web";
    with(placement, "/metadata/annotations", json!({"argocd.argoproj.io/tracking-id": id}))
}

fn on_hub() -> Value {
    with(application("gitops"), "/spec/destination", json!({"name": "in-cluster"}))
}

#[test]
fn a_placement_that_fails_explains_what_its_application_doesnt_say() {
    let expected = ["KF-AV-003 ClusterResourcePlacement/web (member-1)", "  AR-SF-015 Application/argocd/gitops"];
    assert_eq!(found(&hub(vec![on_hub(), tracked(unavailable(LONG_AGO))])), expected);
    assert_eq!(found(&hub(vec![on_hub(), unavailable(LONG_AGO)])), expected[..1], "it isn't the application's");
    assert_eq!(found(&hub(vec![on_hub(), tracked(green("web", &["member-1"]))])), [""; 0]);
    assert_eq!(found(&alone(on_hub())), [""; 0]);
}

#[test]
fn a_sync_that_waits_for_a_placement_hangs_under_its_failure() {
    let placement = json!({"group": "placement.kubernetes-fleet.io", "kind": "ClusterResourcePlacement", "name": "web", "status": "Synced", "hookPhase": "Running"});
    let state = operation(
        "Running",
        "waiting for healthy state of placement.kubernetes-fleet.io/ClusterResourcePlacement/web",
        json!([placement]),
    );
    let waiting = with(on_hub(), "/status/operationState", with(state, "/startedAt", LONG_AGO));
    let found = found(&hub(vec![waiting, tracked(unavailable(LONG_AGO))]));
    assert_eq!(found[0], "KF-AV-003 ClusterResourcePlacement/web (member-1)");
    assert_eq!(found[1], "  AR-SF-006 Application/argocd/gitops");
}
