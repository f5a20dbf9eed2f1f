use serde_json::{Value, json};

use super::shapes::{OLD, alone, application, cause, commands, evidence, fleet, operated, operation};
use crate::shapes::{found, green, hub, with};

/// ConfigMap that git doesn't have any more, in a status.
fn left() -> Value {
    json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "old", "status": "OutOfSync", "requiresPruning": true,
    }])
}

/// Application whose last sync has left a ConfigMap, with this message.
fn skipped(message: &str) -> Value {
    let result = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "old", "status": "PruneSkipped",
        "hookPhase": "Succeeded", "message": message,
    }]);
    let web = operated(application("web"), operation("Succeeded", "successfully synced (all tasks run)", result));
    with(web, "/status/resources", left())
}

fn waiting(message: &str) -> Value {
    let web = operated(application("web"), operation("Running", message, json!([])));
    with(web, "/status/resources", left())
}

fn old(options: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "old", "namespace": "web", "annotations": {"argocd.argoproj.io/sync-options": options}},
    })
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    let waiting = waiting("waiting for pruning confirmation of /ConfigMap/old and 2 more resources");
    vec![skipped("ignored (requires pruning)"), with(waiting, "/metadata/name", "api")]
}

#[test]
fn a_sync_without_pruning_leaves_resources() {
    let snapshot = fleet(vec![skipped("ignored (requires pruning)")], vec![old("")]);
    assert_eq!(found(&snapshot), ["AR-DL-006 Application/argocd/web (member-1)"]);
    assert!(!diagnosis::diagnose(&snapshot)[0].is_failure());
    assert_eq!(
        cause(&snapshot),
        "Application argocd/web stays OutOfSync: ConfigMap web/old on member-1 isn't in git any more, and the last sync didn't prune."
    );
    assert!(
        evidence(&snapshot)[1].ends_with("PruneSkipped, Succeeded: ignored (requires pruning)"),
        "{:?}",
        evidence(&snapshot)
    );
    assert!(commands(&snapshot)[1].contains(r#""prune":true"#), "{:?}", commands(&snapshot));
}

#[test]
fn an_object_may_be_there_to_stay() {
    let snapshot = fleet(vec![skipped("ignored (no prune)")], vec![old("Validate=false,Prune=false")]);
    assert!(
        cause(&snapshot).contains("has the sync option Prune=false, so no sync deletes it"),
        "{}",
        cause(&snapshot)
    );
    assert!(commands(&snapshot).iter().all(|command| !command.contains("\"prune\":true")));
}

#[test]
fn automated_sync_without_pruning_doesnt_sync_a_removal() {
    let behind = with(operation("Succeeded", "", json!([])), "/syncResult/revision", OLD);
    let web = with(operated(application("web"), behind), "/status/resources", left());
    assert_eq!(found(&alone(web.clone())), [""; 0], "nobody has synced it yet");
    let automated = with(web.clone(), "/spec/syncPolicy", json!({"automated": {}}));
    assert_eq!(found(&alone(automated)), ["AR-DL-006 Application/argocd/web"]);
    let pruning = with(web, "/spec/syncPolicy", json!({"automated": {"prune": true}}));
    assert_eq!(found(&alone(pruning)), [""; 0]);
}

#[test]
fn a_confirmation_is_awaited_in_both_versions_words() {
    for message in [
        "waiting for pruning confirmation of /ConfigMap/old and 2 more resources",
        "waiting for pruning confirmation of /ConfigMap/old",
        "Waiting for pruning confirmation of v1/ConfigMap/old and 2 more resources",
    ] {
        let snapshot = alone(waiting(message));
        assert_eq!(found(&snapshot), ["AR-DL-007 Application/argocd/web"], "{message}");
        assert!(cause(&snapshot).contains("it is to delete ConfigMap web/old on member-1"), "{}", cause(&snapshot));
    }
    assert_eq!(found(&alone(waiting("waiting for deletion of /ConfigMap/old"))), [""; 0]);
}

#[test]
fn the_healthy_twin_is_silent() {
    let synced = with(skipped("ignored (requires pruning)"), "/status/sync/status", "Synced");
    assert_eq!(found(&alone(synced)), [""; 0], "the application ignores extraneous resources");
}

/// Application on the hub of which git doesn't have a resource any more.
fn on_hub(resource: Value) -> Value {
    let web = with(left_of(resource), "/spec/destination", json!({"name": "in-cluster", "namespace": "web"}));
    with(web, "/metadata/name", "gitops")
}

fn left_of(resource: Value) -> Value {
    let resource = with(with(resource, "/status", "OutOfSync"), "/requiresPruning", true);
    let web = operated(application("web"), operation("Succeeded", "successfully synced (all tasks run)", json!([])));
    with(web, "/status/resources", json!([resource]))
}

fn placement_with_settings() -> Value {
    let selected = json!({"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "old"});
    with(green("apps", &["member-1", "member-2"]), "/status/selectedResources", json!([selected]))
}

#[test]
fn pruning_on_the_hub_reaches_members() {
    let placement =
        json!({"group": "placement.kubernetes-fleet.io", "kind": "ClusterResourcePlacement", "name": "apps"});
    let snapshot = hub(vec![on_hub(placement.clone()), placement_with_settings()]);
    assert_eq!(found(&snapshot), ["AR-KF-006 Application/argocd/gitops"]);
    assert_eq!(
        cause(&snapshot),
        "The source of application argocd/gitops doesn't have ClusterResourcePlacement apps any more. The next sync with pruning deletes it on \
         the hub, and KubeFleet then deletes from member-1, member-2 what placement apps has put there."
    );
    assert!(
        diagnosis::diagnose(&snapshot)[0]
            .data_loss
            .as_ref()
            .unwrap()
            .contains("ConfigMap web/old on member-1, member-2")
    );
    // An object that the placement has selected.
    let settings = json!({"group": "", "kind": "ConfigMap", "namespace": "web", "name": "old"});
    let snapshot = hub(vec![on_hub(settings.clone()), placement_with_settings(), old("")]);
    assert_eq!(found(&snapshot), ["AR-KF-006 Application/argocd/gitops"]);
    // It is to stay, it is nobody's, or it is a member's.
    let kept = hub(vec![on_hub(settings.clone()), placement_with_settings(), old("Prune=false")]);
    assert_eq!(found(&kept), [""; 0]);
    assert_eq!(found(&hub(vec![on_hub(settings.clone()), green("apps", &["member-1"]), old("")])), [""; 0]);
    assert_eq!(found(&fleet(vec![left_of(settings), placement_with_settings()], vec![old("")])), [""; 0]);
    let empty = with(green("apps", &[]), "/metadata/name", "apps");
    assert_eq!(found(&hub(vec![on_hub(placement), empty])), [""; 0], "nothing is on members");
}

#[test]
fn a_skipped_pruning_that_reaches_members_is_told_once() {
    let skipped = with(skipped("ignored (requires pruning)"), "/spec/destination", json!({"name": "in-cluster"}));
    let snapshot = hub(vec![skipped, placement_with_settings(), old("")]);
    assert_eq!(found(&snapshot), ["AR-KF-006 Application/argocd/web"]);
}
