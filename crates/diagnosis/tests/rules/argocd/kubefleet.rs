//! A placement and an Application want the same object on a member. Texts as KubeFleet v0.1.2 and Argo CD v3.5.7 write them.

use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, fleet, object, operated, operation, saying};
use crate::shapes::{condition, found, green, placement, with};

const SYNCED: &str = "2026-01-08T11:40:00Z";
const LATER: &str = "2026-01-08T11:40:05Z";

/// Resource of a placement's or an Application's status.
fn settings() -> Value {
    json!({"group": "", "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings"})
}

/// Placement that is available on member-1 with the object.
fn placing(object: Value) -> Value {
    with(green("apps", &["member-1"]), "/status/selectedResources", json!([object]))
}

/// Placement that can't apply objects on member-1.
fn failing(reason: &str, message: &str, objects: &[Value]) -> Value {
    let applied = condition("Applied", "False", "NotAllWorkHaveBeenApplied", "");
    let failing = placement("apps", json!([]), &[("member-1", json!([applied]))]);
    let entries: Vec<Value> = objects
        .iter()
        .map(|object| with(object.clone(), "/condition", condition("Applied", "False", reason, message)))
        .collect();
    let failing = with(failing, "/status/placementStatuses/0/failedPlacements", json!(entries));
    with(failing, "/status/selectedResources", json!(objects))
}

/// Application that is Synced at member-1 with the object.
fn synced() -> Value {
    let resource = with(settings(), "/status", "Synced");
    let web = with(application("web"), "/status/resources", json!([resource]));
    with(with(web, "/status/operationState/startedAt", SYNCED), "/status/operationState/finishedAt", SYNCED)
}

fn out_of_sync() -> Value {
    let web = with(synced(), "/status/sync/status", "OutOfSync");
    with(web, "/status/resources/0/status", "OutOfSync")
}

fn write(manager: &str, time: &str) -> Value {
    json!({"manager": manager, "operation": "Update", "time": time})
}

/// Object that Argo CD has applied with one colour, and its live colour is another or the same one.
fn applied_by_argo_cd(colour: &str, live_colour: &str) -> Value {
    let live = object("v1", "ConfigMap", Some("web"), "settings");
    let applied = json!({"metadata": {"labels": {"colour": colour}, "annotations": {"argocd.argoproj.io/tracking-id": "web:/ConfigMap:web/settings"}}});
    let annotations = json!({
        "argocd.argoproj.io/tracking-id": "web:/ConfigMap:web/settings",
        "kubectl.kubernetes.io/last-applied-configuration": applied.to_string(),
    });
    let live =
        with(with(live, "/metadata/annotations", annotations), "/metadata/labels", json!({"colour": live_colour}));
    with(live, "/metadata/managedFields", json!([write("argocd-controller", SYNCED)]))
}

/// The same object, which the member agent has applied with its own colour and owns.
fn applied_by_both(git: &str, hub: &str) -> Value {
    let owner =
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "AppliedWork", "name": "apps-work"});
    let mut live = with(applied_by_argo_cd(git, hub), "/metadata/ownerReferences", json!([owner]));
    let applied =
        json!({"metadata": {"labels": {"colour": hub}, "annotations": {"kubernetes-fleet.io/spec-hash": "1"}}});
    live["metadata"]["annotations"]["kubernetes-fleet.io/last-applied-configuration"] = applied.to_string().into();
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(write("work-api-agent", LATER));
    live
}

fn with_placement(web: Value, placement: Value, live: Value) -> diagnosis::Snapshot {
    fleet(vec![web, placement], vec![live])
}

#[test]
fn two_writers_are_found_while_argo_cd_says_synced() {
    let snapshot = with_placement(synced(), placing(settings()), applied_by_both("git", "hub"));
    assert_eq!(found(&snapshot), ["AR-KF-001 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "Placement apps and application argocd/web both write ConfigMap web/settings on member-1, with different content in \
         metadata.labels.colour. Argo CD has written it at 2026-01-08T11:40:00Z, and the member agent has written the placement's content \
         over it at 2026-01-08T11:40:05Z. The application says Synced, although the object hasn't what is in git: Argo CD doesn't compare \
         when an object with an owner changes, but with the next comparison of the whole application."
    );
    assert_eq!(
        evidence(&snapshot),
        [
            "member-1 ConfigMap/web/settings metadata.managedFields[work-api-agent]: work-api-agent (Update)",
            "member-1 ConfigMap/web/settings metadata.managedFields[argocd-controller]: argocd-controller (Update)",
            "member-1 ConfigMap/web/settings metadata.labels.colour: the placement applies hub, the application git",
            "member-1 ConfigMap/web/settings metadata.ownerReferences[AppliedWork]: apps-work",
            "member-1 ConfigMap/web/settings metadata.annotations[argocd.argoproj.io/tracking-id]: web:/ConfigMap:web/settings",
            "hub ClusterResourcePlacement/apps status.placementStatuses[member-1].conditions[Applied]: Applied=True AllWorkHaveBeenApplied",
            "hub Application/argocd/web status.sync.status: Synced",
            "hub Application/argocd/web status.operationState: Succeeded: successfully synced (all tasks run)",
        ]
    );
    let commands = commands(&snapshot);
    assert!(commands.iter().any(|c| c == "kubectl --context hub delete configmaps/settings -n web"), "{commands:?}");
}

#[test]
fn what_argo_cd_says_of_the_difference_is_an_effect() {
    let both = with_placement(out_of_sync(), placing(settings()), applied_by_both("git", "hub"));
    let expected = ["AR-KF-001 Application/argocd/web (member-1)", "  AR-OS-004 Application/argocd/web (member-1)"];
    assert_eq!(found(&both), expected);
    // Data of ConfigMaps isn't in a snapshot: what differs there isn't seen, only that the Application is OutOfSync.
    let hidden = with_placement(out_of_sync(), placing(settings()), applied_by_both("same", "same"));
    assert_eq!(found(&hidden), expected);
    let unplaced = fleet(vec![out_of_sync(), green("apps", &["member-1"])], vec![applied_by_both("git", "hub")]);
    assert_eq!(found(&unplaced), ["AR-OS-004 Application/argocd/web (member-1)"], "no placement has selected it");
}

#[test]
fn self_heal_is_shown_as_a_fight() {
    let healing = with(synced(), "/spec/syncPolicy", json!({"automated": {"selfHeal": true}}));
    let healing = with(healing, "/status/operationState/operation/sync/autoHealAttemptsCount", 2);
    let snapshot = with_placement(healing, placing(settings()), applied_by_both("git", "hub"));
    assert!(cause(&snapshot).ends_with("(2 syncs of this commit so far), and the member agent writes again after it."));
    assert_eq!(evidence(&snapshot).last().unwrap().split(' ').next_back(), Some("2"));
}

#[test]
fn one_content_or_one_writer_is_no_conflict() {
    let nothing = |web: Value, live: Value| found(&with_placement(web, placing(settings()), live));
    assert_eq!(nothing(synced(), applied_by_both("same", "same")), [""; 0]);
    assert_eq!(nothing(synced(), applied_by_argo_cd("git", "git")), [""; 0], "the placement is about to be applied");
    let on_another = with(placing(settings()), "/status/placementStatuses/0/clusterName", "member-2");
    assert_eq!(found(&with_placement(synced(), on_another, applied_by_both("git", "hub"))), [""; 0]);
    let running = with(operation("Running", "", json!([])), "/startedAt", "2026-01-08T11:59:58Z");
    let running = with(with(synced(), "/status/operationState", running), "/operation", json!({}));
    assert_eq!(nothing(running, applied_by_both("git", "hub")), [""; 0]);
    // Argo CD has just written, and the member agent hasn't looked yet.
    let mut young = applied_by_both("git", "hub");
    young["metadata"]["managedFields"][0]["time"] = "2026-01-08T11:59:50Z".into();
    assert_eq!(nothing(synced(), young), [""; 0]);
}

#[test]
fn what_a_placement_says_of_its_failure_is_an_effect() {
    let conflict = "Failed to apply the manifest (error: failed to apply the manifest: failed to apply the manifest object: an error is returned by the API server: Apply failed with 1 conflict: conflict with \"argocd-controller\" using v1: .data.colour)";
    let refused = failing("ManifestApplyFailed", conflict, &[settings()]);
    let snapshot = with_placement(synced(), refused, applied_by_both("git", "git"));
    let expected =
        ["AR-KF-001 Application/argocd/web (member-1)", "  KF-AP-016 ClusterResourcePlacement/apps (member-1)"];
    assert_eq!(found(&snapshot), expected);
    assert!(cause(&snapshot).contains("the member agent doesn't apply the placement's content any more"));
    assert!(commands(&snapshot).iter().any(|c| c.contains(r#""serverSideApplyConfig":{"force":true}"#)));
    let drifted = failing("FoundDrifts", "drifts are found", &[settings()]);
    let snapshot = with_placement(synced(), drifted, applied_by_both("git", "git"));
    assert_eq!(found(&snapshot)[1], "  KF-AP-004 ClusterResourcePlacement/apps (member-1)");
    assert!(commands(&snapshot).iter().any(|c| c.contains(r#""whenToApply":"Always""#)));
}

#[test]
fn an_object_that_is_not_taken_over_names_the_application() {
    let message =
        "Failed to apply the manifest (error: no ownership of the object in the member cluster; takeover is needed)";
    let namespace = json!({"group": "", "version": "v1", "kind": "Namespace", "name": "web"});
    let refused = failing("NotTakenOver", message, &[namespace, settings()]);
    let expected =
        ["AR-KF-002 Application/argocd/web (member-1)", "  KF-AP-002 ClusterResourcePlacement/apps (member-1)"];
    assert_eq!(found(&with_placement(synced(), refused, applied_by_argo_cd("git", "git"))), expected);
    // Another object of the placement fails, too, so that its failure has more than this cause.
    let other = with(settings(), "/name", "other");
    let more = failing("NotTakenOver", message, &[other, settings()]);
    let found_both = found(&with_placement(synced(), more, applied_by_argo_cd("git", "git")));
    assert_eq!(
        found_both,
        ["AR-KF-002 Application/argocd/web (member-1)", "KF-AP-002 ClusterResourcePlacement/apps (member-1)"]
    );
    // Nobody's object: KubeFleet's own finding says all.
    let plain = object("v1", "ConfigMap", Some("web"), "settings");
    let refused = failing("NotTakenOver", message, &[settings()]);
    assert_eq!(
        found(&with_placement(synced(), refused, plain)),
        ["KF-AP-002 ClusterResourcePlacement/apps (member-1)"]
    );
}

/// Object that a placement has carried with the tracking id of an Application on the hub.
fn carried() -> Value {
    let mut live = applied_by_both("hub", "hub");
    live["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "base:/ConfigMap:web/settings".into();
    live["metadata"]["annotations"].as_object_mut().unwrap().remove("kubectl.kubernetes.io/last-applied-configuration");
    with(live, "/metadata/managedFields", json!([write("work-api-agent", LATER)]))
}

fn base() -> Value {
    with(application("base"), "/spec/destination", json!({"name": "in-cluster"}))
}

const SHARED: &str = "ConfigMap/settings is part of applications argocd/web and base";

fn refused() -> Value {
    let message = format!("Shared resource found: {SHARED}");
    let state = with(
        operation("Failed", &message, json!([])),
        "/operation/sync/syncOptions",
        json!(["FailOnSharedResource=true"]),
    );
    saying(
        with(operated(out_of_sync(), state), "/status/resources/0/status", "OutOfSync"),
        "SharedResourceWarning",
        SHARED,
    )
}

#[test]
fn a_tracking_id_from_the_hub_explains_a_shared_resource() {
    let snapshot = fleet(vec![refused(), base(), placing(settings())], vec![carried()]);
    assert_eq!(
        found(&snapshot),
        ["AR-KF-003 Application/argocd/web (member-1)", "  AR-SF-007 Application/argocd/web (member-1)"]
    );
    assert!(cause(&snapshot).contains("has the tracking id of application base"), "{}", cause(&snapshot));
    let warned = saying(with(out_of_sync(), "/status/operationState", Value::Null), "SharedResourceWarning", SHARED);
    let snapshot = fleet(vec![warned, base(), placing(settings())], vec![carried()]);
    assert_eq!(found(&snapshot)[0], "AR-KF-003 Application/argocd/web (member-1)");
    assert_eq!(diagnosis::diagnose(&snapshot)[0].severity, diagnosis::Severity::Notice);
    // Two Applications of one member are what AR-SF-007 is about.
    let both_on_member = fleet(vec![refused(), application("base"), placing(settings())], vec![carried()]);
    assert_eq!(found(&both_on_member), ["AR-SF-007 Application/argocd/web (member-1)"]);
}

#[test]
fn tracking_ids_that_a_placement_carries_are_no_finding() {
    assert_eq!(found(&fleet(vec![base(), placing(settings())], vec![carried()])), [""; 0]);
}

/// Applications that share objects with placements.
pub fn troubled() -> Vec<Value> {
    vec![refused(), failing("NotTakenOver", "takeover is needed", &[settings()])]
}
