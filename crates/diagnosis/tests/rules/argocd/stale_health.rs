use serde_json::{Value, json};

use super::shapes::{application, by_cause, cause, evidence, fleet};
use crate::shapes::{at, condition, found, with};

const SHOWN: &str = "2026-01-08T11:40:00Z";
const CHANGED: &str = "2026-01-08T11:50:00Z";

/// Application that is Degraded since [`SHOWN`], by a comparison at this time.
fn degraded(name: &str, compared: &str) -> Value {
    let web = with(application(name), "/status/health", json!({"status": "Degraded", "lastTransitionTime": SHOWN}));
    let web = with(web, "/status/reconciledAt", compared);
    let resource = |group: &str, kind: &str, name: &str| json!({"group": group, "version": "v1", "kind": kind, "namespace": "apps", "name": name, "status": "Synced"});
    with(web, "/status/resources", json!([resource("apps", "Deployment", "web"), resource("", "ConfigMap", "web")]))
}

/// Deployment that is healthy since a time.
fn deployment(since: &str) -> Value {
    let available = at(since, condition("Available", "True", "MinimumReplicasAvailable", "it has them"));
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "apps", "generation": 1,
            "managedFields": [{"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "time": since}],
        },
        "spec": {"replicas": 1},
        "status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "conditions": [available],
        },
    })
}

#[test]
fn a_controller_that_hasnt_looked_since_is_told() {
    let snapshot = fleet(vec![degraded("web", SHOWN)], vec![deployment(CHANGED)]);
    assert_eq!(found(&snapshot), ["AR-HL-006 Application/argocd/web (member-1)"]);
    let text = cause(&snapshot);
    assert!(text.contains("Deployment apps/web, since 2026-01-08T11:50:00Z, 10 min ago."), "{text}");
    assert!(text.contains("Argo CD has last compared the application at 2026-01-08T11:40:00Z"), "{text}");
    let evidence = evidence(&snapshot);
    assert_eq!(evidence[0], "hub Application/argocd/web status.health.status: Degraded");
    assert!(evidence[2].contains("Deployment/apps/web status.conditions[Available]"), "{evidence:?}");
}

#[test]
fn applications_of_one_controller_are_one_finding() {
    let snapshot = fleet(vec![degraded("web", SHOWN), degraded("api", SHOWN)], vec![deployment(CHANGED)]);
    assert_eq!(by_cause(&snapshot).len(), 1);
}

#[test]
fn what_may_have_another_reason_is_left_alone() {
    let silent = |application: Value, live: Value| {
        let found = found(&fleet(vec![application], vec![live]));
        assert!(!found.iter().any(|finding| finding.contains("AR-HL-006")), "{found:?}");
    };
    let web = degraded("web", SHOWN);
    silent(web.clone(), deployment("2026-01-08T11:59:30Z"));
    silent(degraded("web", "2026-01-08T11:59:00Z"), deployment(CHANGED));
    silent(web.clone(), deployment("2026-01-08T11:30:00Z"));
    silent(web.clone(), with(deployment(CHANGED), "/metadata/generation", 2));
    silent(web.clone(), with(deployment(CHANGED), "/status/replicas", 2));
    silent(web.clone(), with(deployment(CHANGED), "/status/availableReplicas", 0));
    silent(with(web.clone(), "/status/resources/1/kind", "Widget"), deployment(CHANGED));
    silent(with(web.clone(), "/status/resources/0/name", "api"), deployment(CHANGED));
    silent(with(web.clone(), "/status/operationState/phase", "Running"), deployment(CHANGED));
    silent(with(web.clone(), "/status/sync/status", "OutOfSync"), deployment(CHANGED));
    silent(with(web, "/status/health/status", "Healthy"), deployment(CHANGED));
}

#[test]
fn nothing_that_is_missing_or_of_another_type_stops_a_diagnosis() {
    let mut objects = [degraded("web", SHOWN), deployment(CHANGED)];
    objects[0] = with(objects[0].take(), "/spec/destination/name", "in-cluster");
    assert_eq!(found(&crate::shapes::hub(objects.to_vec())), ["AR-HL-006 Application/argocd/web"]);
    crate::robustness::take_apart(&objects, &[]);
}
