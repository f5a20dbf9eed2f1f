use serde_json::{Value, json};

use super::shapes::{application, cause, commands, evidence, fleet, object};
use crate::shapes::{found, with};

/// Application that is to prune a ConfigMap.
fn pruning(name: &str) -> Value {
    let web = with(application(name), "/status/sync/status", "OutOfSync");
    let resource = json!({
        "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "foreign", "status": "OutOfSync", "requiresPruning": true,
    });
    with(web, "/status/resources", json!([resource]))
}

fn skipped(application: Value) -> Value {
    let result = json!([{
        "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "foreign", "status": "PruneSkipped",
        "hookPhase": "Succeeded", "message": "ignored (requires pruning)",
    }]);
    with(application, "/status/operationState/syncResult/resources", result)
}

/// ConfigMap that somebody has written, with this label.
fn labelled(label: &str, name: &str, manager: &str) -> Value {
    let live = with(object("v1", "ConfigMap", Some("web"), "foreign"), "/metadata/labels", json!({label: name}));
    let write = json!({"manager": manager, "operation": "Update", "time": "2026-01-08T11:50:00Z"});
    with(live, "/metadata/managedFields", json!([write]))
}

#[test]
fn what_somebody_else_has_made_isnt_to_be_pruned() {
    for web in [pruning("web"), skipped(pruning("web"))] {
        let snapshot = fleet(vec![web], vec![labelled("app.kubernetes.io/instance", "web", "helm")]);
        assert_eq!(found(&snapshot), ["AR-OS-008 Application/argocd/web (member-1)"]);
        assert!(
            cause(&snapshot).contains("helm (Update) has written it, and Argo CD never has."),
            "{}",
            cause(&snapshot)
        );
        let evidence = evidence(&snapshot);
        assert_eq!(
            evidence[1], "member-1 ConfigMap/web/foreign metadata.labels[app.kubernetes.io/instance]: web",
            "{evidence:?}"
        );
        let commands = commands(&snapshot);
        assert!(commands[1].contains("label configmaps/foreign -n web app.kubernetes.io/instance-"), "{commands:?}");
        assert!(commands.iter().all(|command| !command.contains("prune")), "{commands:?}");
    }
}

#[test]
fn another_key_may_be_the_label() {
    let snapshot = fleet(vec![pruning("web")], vec![labelled("argocd.example/app", "web", "helm")]);
    assert!(cause(&snapshot).contains("carries the label argocd.example/app"), "{}", cause(&snapshot));
}

#[test]
fn an_object_of_another_application_is_told_by_its_warning() {
    let listed =
        json!([{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "foreign", "status": "Synced"}]);
    let shop = with(application("shop"), "/status/resources", listed);
    let live = labelled("app.kubernetes.io/instance", "web", "kubectl-label");
    assert_eq!(found(&fleet(vec![pruning("web"), shop], vec![live])), [""; 0]);
}

#[test]
fn what_argo_cd_has_applied_is_its_own() {
    let own = labelled("app.kubernetes.io/instance", "web", "argocd-controller");
    assert_eq!(
        found(&fleet(vec![skipped(pruning("web"))], vec![own])),
        ["AR-DL-006 Application/argocd/web (member-1)"]
    );
    let tracked = json!({"argocd.argoproj.io/tracking-id": "web:/ConfigMap:web/foreign"});
    let tracked = with(labelled("app.kubernetes.io/instance", "web", "velero"), "/metadata/annotations", tracked);
    assert_eq!(found(&fleet(vec![pruning("web")], vec![tracked])), [""; 0]);
    let unlabelled = labelled("app.kubernetes.io/instance", "release", "helm");
    assert_eq!(found(&fleet(vec![pruning("web")], vec![unlabelled])), [""; 0]);
}

#[test]
fn nothing_that_is_missing_or_of_another_type_stops_a_diagnosis() {
    let mut objects = [pruning("web"), labelled("app.kubernetes.io/instance", "web", "helm")];
    objects[0] = with(objects[0].take(), "/spec/destination/name", "in-cluster");
    assert_eq!(found(&crate::shapes::hub(objects.to_vec())), ["AR-OS-008 Application/argocd/web"]);
    crate::robustness::take_apart(&objects, &[]);
}
