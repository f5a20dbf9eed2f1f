//! Placements that carry Applications to members.

use serde_json::{Value, json};

use super::shapes::{cause, evidence, fleet, object};
use crate::shapes::{BEFORE, condition, found, green, placement, with};

const NO_KIND: &str = "Failed to apply the manifest (error: failed to decode manifest: failed to find GVR from member cluster client REST mapping: no matches for kind \"Application\" in version \"argoproj.io/v1alpha1\")";

fn reference() -> Value {
    json!({"group": "argoproj.io", "version": "v1alpha1", "kind": "Application", "namespace": "apps", "name": "web"})
}

fn refused(others: &[Value]) -> Value {
    let applied = condition("Applied", "False", "NotAllWorkHaveBeenApplied", "");
    let carrying = placement("apps", json!([]), &[("member-1", json!([applied]))]);
    let failed = with(reference(), "/condition", condition("Applied", "False", "DecodingErred", NO_KIND));
    let failed: Vec<Value> = std::iter::once(failed).chain(others.iter().cloned()).collect();
    let carrying = with(carrying, "/status/placementStatuses/0/failedPlacements", json!(failed));
    with(carrying, "/status/selectedResources", json!([reference()]))
}

fn arrived() -> Value {
    with(green("apps", &["member-1"]), "/status/selectedResources", json!([reference()]))
}

fn on_member(created: &str) -> Value {
    with(object("argoproj.io/v1alpha1", "Application", Some("apps"), "web"), "/metadata/creationTimestamp", created)
}

#[test]
fn a_member_without_argo_cds_kinds_is_the_cause() {
    let snapshot = fleet(vec![refused(&[])], Vec::new());
    let expected =
        ["AR-KF-004 ClusterResourcePlacement/apps (member-1)", "  KF-AP-005 ClusterResourcePlacement/apps (member-1)"];
    assert_eq!(found(&snapshot), expected);
    assert!(cause(&snapshot).contains("the member doesn't have Argo CD's kinds (applications.argoproj.io)"));
    let widget = json!({"group": "example.io", "version": "v1", "kind": "Widget", "namespace": "apps", "name": "blue"});
    let widget =
        with(widget, "/condition", condition("Applied", "False", "DecodingErred", "no matches for kind \"Widget\""));
    let snapshot = fleet(vec![refused(&[widget])], Vec::new());
    let both =
        ["AR-KF-004 ClusterResourcePlacement/apps (member-1)", "KF-AP-005 ClusterResourcePlacement/apps (member-1)"];
    assert_eq!(found(&snapshot), both, "the other kind is missing for another reason");
}

#[test]
fn an_application_without_status_is_not_taken_up() {
    let snapshot = fleet(vec![arrived()], vec![on_member(BEFORE)]);
    assert_eq!(found(&snapshot), ["AR-KF-005 ClusterResourcePlacement/apps (member-1)"]);
    assert_eq!(evidence(&snapshot)[1], "member-1 Application/apps/web status: (absent)");
    let taken_up = with(on_member(BEFORE), "/status", json!({"sync": {"status": "Synced"}}));
    assert_eq!(found(&fleet(vec![arrived()], vec![taken_up])), [""; 0]);
    assert_eq!(found(&fleet(vec![arrived()], vec![on_member("2026-01-08T11:59:30Z")])), [""; 0], "it is new");
    assert_eq!(found(&fleet(vec![green("apps", &["member-1"])], vec![on_member(BEFORE)])), [""; 0], "not placed");
}

#[test]
fn a_member_that_got_applications_is_read() {
    let mut snapshot = fleet(vec![arrived()], Vec::new());
    for cluster in &mut snapshot.clusters {
        cluster.read = diagnosis::ReadRecord::nothing();
    }
    let asks_member =
        |snapshot| diagnosis::unanswered_queries(snapshot).iter().any(|(cluster, _)| cluster == "member-1");
    assert!(asks_member(&snapshot));
    let mut ordinary = fleet(vec![green("apps", &["member-1"])], Vec::new());
    ordinary.clusters[1].read = diagnosis::ReadRecord::nothing();
    assert!(!asks_member(&ordinary));
}

#[test]
fn an_original_that_the_hub_runs_is_said() {
    let original =
        with(on_member(BEFORE), "/status", json!({"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}));
    let snapshot = fleet(vec![arrived(), original], vec![on_member(BEFORE)]);
    assert!(cause(&snapshot).ends_with("The hub's Argo CD runs the original on the hub."), "{}", cause(&snapshot));
}

/// Placements that carry Applications.
pub fn troubled() -> Vec<Value> {
    vec![refused(&[])]
}
