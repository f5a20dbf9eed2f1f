use serde_json::{Value, json};

use super::shapes::{
    alone, application, cause, commands, evidence, failing, fleet, operated, operation, refused, saying,
};
use crate::shapes::{found, with};

const CREATE: &str = r#"configmaps is forbidden: User "system:serviceaccount:kube-system:argocd-manager" cannot create resource "configmaps" in API group "" in the namespace "web""#;
const GET: &str = r#"error when retrieving current configuration of: configmaps "settings" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "web""#;

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    vec![failing("forbidden", refused("ConfigMap", "settings", CREATE))]
}

#[test]
fn who_may_not_do_what_where_and_the_role_that_would_allow_it() {
    let snapshot = fleet(vec![failing("web", refused("ConfigMap", "settings", CREATE))], vec![]);
    assert_eq!(found(&snapshot), ["AR-SF-008 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply failed: system:serviceaccount:kube-system:argocd-manager may not create configmaps in namespace web on member-1, \
         so ConfigMap web/settings of application argocd/web wasn't applied."
    );
    insta::assert_snapshot!(commands(&snapshot)[..2].join("\n"));
}

#[test]
fn reading_may_be_forbidden_in_the_dry_run() {
    let mut dry = failing("web", refused("ConfigMap", "settings", GET));
    dry["status"]["operationState"]["message"] = "one or more objects failed to apply (dry run)".into();
    let snapshot = alone(dry);
    assert!(cause(&snapshot).contains("jane may not get configmaps in namespace web"), "{}", cause(&snapshot));
    assert!(commands(&snapshot)[1].contains(r#""kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane""#));
}

#[test]
fn listing_that_is_forbidden_looks_like_a_failed_generation() {
    let text = r#"Failed to load live state: failed to get cluster info for "https://10.0.0.7:6443": error synchronizing cache state : failed to sync cluster https://10.0.0.7:6443: failed to load initial state of resource ConfigMap: configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope"#;
    let error = operation("Error", &format!("ComparisonError: {text}"), json!([]));
    let snapshot = alone(saying(operated(application("web"), error), "ComparisonError", text));
    assert_eq!(found(&snapshot), ["AR-SF-008 Application/argocd/web"]);
    assert!(cause(&snapshot).starts_with("The comparison failed: nothing was applied."), "{}", cause(&snapshot));
    assert!(commands(&snapshot)[0].contains(r#""kind":"ClusterRole""#));
    assert!(evidence(&snapshot)[0].contains("status.conditions[ComparisonError]"));
}

#[test]
fn impersonation_needs_an_account() {
    let v3_5 = "no matching service account found for destination server https://10.0.0.7:6443 and namespace web";
    let v3_2 = format!("failed to find a matching service account to impersonate: {v3_5}");
    for text in [v3_5, &v3_2] {
        lacks_an_account(text);
    }
}

fn lacks_an_account(text: &str) {
    let application = operated(application("web"), operation("Error", text, json!([])));
    let project = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default", "namespace": "argocd"},
        "spec": {"destinationServiceAccounts": [{"server": "*", "namespace": "other", "defaultServiceAccount": "x"}]},
    });
    let snapshot = fleet(vec![application, project], vec![]);
    assert_eq!(found(&snapshot), ["AR-SF-008 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("project default names no service account"), "{}", cause(&snapshot));
    assert!(evidence(&snapshot)[1].contains("AppProject/argocd/default spec.destinationServiceAccounts: [{"));
    assert!(commands(&snapshot)[0].ends_with("edit appprojects.argoproj.io/default -n argocd"));
}

#[test]
fn the_healthy_twin_is_silent() {
    let settings = refused("ConfigMap", "settings", "configmap/settings created");
    let settings = with(with(settings, "/status", "Synced"), "/hookPhase", "Running");
    let synced = operation("Succeeded", "successfully synced (all tasks run)", json!([settings]));
    assert_eq!(found(&alone(with(application("web"), "/status/operationState", synced))), [""; 0]);
}
