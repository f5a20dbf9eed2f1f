use serde_json::{Value, json};

use super::shapes::{
    OLD, REFUSED, alone, application, cause, commands, evidence, failing, fleet, object, operated, operation, refused,
};
use crate::shapes::{found, with};

const IMMUTABLE: &str = r#"Deployment.apps "api" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"api2"}}: field is immutable"#;
const CLUSTER_IP: &str =
    r#"Service "api" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set"#;
const CRD: &str = "apiextensions.k8s.io/v1";

#[test]
fn an_immutable_field_is_named_and_quoted_from_the_live_object() {
    let live = with(object("apps/v1", "Deployment", Some("web"), "api"), "/spec/selector/matchLabels/app", "api");
    let snapshot = fleet(vec![failing("web", refused("Deployment", "api", IMMUTABLE))], vec![live]);
    assert_eq!(found(&snapshot), ["AR-SF-002 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        format!(
            "The apply failed: Deployment web/api of application argocd/web can't be changed in place on member-1, because \
             spec.selector is immutable: {IMMUTABLE}."
        )
    );
    assert_eq!(
        evidence(&snapshot),
        [
            format!("hub Application/argocd/web status.operationState: Failed: {REFUSED}, reason: {IMMUTABLE}"),
            format!(
                "hub Application/argocd/web status.operationState.syncResult.resources[Deployment web/api]: SyncFailed, Failed: {IMMUTABLE}"
            ),
            r#"member-1 Deployment/web/api spec.selector: {"matchLabels":{"app":"api"}}"#.to_owned(),
        ]
    );
    let commands = commands(&snapshot);
    assert!(
        commands.contains(&"kubectl --context member-1 delete deployments.apps/api -n web".to_owned()),
        "{commands:?}"
    );
}

#[test]
fn immutable_fields_have_several_wordings() {
    for message in [
        IMMUTABLE,
        CLUSTER_IP,
        r#"StatefulSet.apps "db" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"#,
        r#"PersistentVolumeClaim "data" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests"#,
        r#"RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: {}: cannot change roleRef"#,
    ] {
        let snapshot = alone(failing("web", refused("Service", "api", message)));
        assert_eq!(found(&snapshot), ["AR-SF-002 Application/argocd/web"], "{message}");
    }
}

fn unknown(message: &str) -> Value {
    json!({
        "group": "argoproj.io", "version": "v1alpha1", "kind": "Rollout", "namespace": "web", "name": "api",
        "status": "SyncFailed", "syncPhase": "Sync", "message": message,
    })
}

fn without_crd(message: &str) -> Value {
    operated(
        application("web"),
        operation("Failed", "one or more synchronization tasks are not valid", json!([unknown(message)])),
    )
}

#[test]
fn a_kind_that_is_missing_is_told_from_a_version() {
    let missing = r#"The Kubernetes API could not find argoproj.io/Rollout for requested resource web/api. Make sure the "Rollout" CRD is installed on the destination cluster."#;
    let other = object(CRD, "CustomResourceDefinition", None, "works.example.com");
    let snapshot = fleet(vec![without_crd(missing)], vec![other]);
    assert_eq!(found(&snapshot), ["AR-SF-003 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply failed before anything was applied: member-1 doesn't know the kind Rollout (argoproj.io), which Rollout \
         web/api of application argocd/web is of."
    );
    assert_eq!(
        evidence(&snapshot)[2],
        "member-1 CustomResourceDefinition/rollouts.argoproj.io metadata.name: (no such object)"
    );
    let version = r#"The Kubernetes API could not find version "v2" of argoproj.io/Rollout for requested resource web/api. Version "v1alpha1" of argoproj.io/Rollout is installed on the destination cluster."#;
    let version = with(without_crd(version), "/status/operationState/syncResult/resources/0/version", "v2");
    let version = cause(&fleet(vec![version], vec![]));
    assert!(version.contains("doesn't know version v2 of Rollout (argoproj.io), only v1alpha1, which"), "{version}");
    let group = r#"The Kubernetes API could not find version "v1alpha1" of argoproj.io/Rollout for requested resource web/api. Version "v1" of example.com/Rollout is installed on the destination cluster."#;
    let group = cause(&alone(without_crd(group)));
    assert!(group.ends_with("is of. There is a Rollout of the group example.com."), "{group}");
    assert!(group.contains("doesn't know the kind Rollout (argoproj.io), which"), "{group}");
    for text in [
        r#"resource mapping not found for name: "api" namespace: "web" from "/dev/shm/1": no matches for kind "Rollout" in version "argoproj.io/v1alpha1" ensure CRDs are installed first"#,
        "the server could not find the requested resource",
    ] {
        assert_eq!(found(&alone(without_crd(text))), ["AR-SF-003 Application/argocd/web"]);
    }
}

#[test]
fn a_definition_that_came_later_only_needs_a_sync() {
    let crd = object(CRD, "CustomResourceDefinition", None, "rollouts.argoproj.io");
    let text = "The Kubernetes API could not find argoproj.io/Rollout for requested resource web/api.";
    let with_crd =
        |made: &str| fleet(vec![without_crd(text)], vec![with(crd.clone(), "/metadata/creationTimestamp", made)]);
    let later = with_crd("2026-01-08T11:59:30Z");
    assert!(cause(&later).ends_with("Its CustomResourceDefinition was created after that."), "{}", cause(&later));
    let action = |s: &diagnosis::Snapshot| diagnosis::diagnose(s)[0].remedies[0].action.clone();
    assert!(action(&later).starts_with("Sync again"), "{}", action(&later));
    assert!(action(&with_crd("2026-01-07T00:00:00Z")).starts_with("Put the CustomResourceDefinition"));
}

#[test]
fn each_reason_has_a_finding_and_what_has_none_is_quoted() {
    let quota = r#"pods "api" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#;
    let resources = json!([
        refused("Deployment", "api", IMMUTABLE),
        refused("Service", "api", CLUSTER_IP),
        refused("Pod", "api", quota),
        {"group": "", "kind": "ConfigMap", "namespace": "web", "name": "fine", "status": "Synced", "hookPhase": "Running"},
    ]);
    let snapshot = alone(operated(application("web"), operation("Failed", REFUSED, resources)));
    assert_eq!(found(&snapshot), ["AR-SF-002 Application/argocd/web", "AR-SF-013 Application/argocd/web"]);
    assert!(cause(&snapshot).contains("Deployment web/api, Service web/api of application"), "{}", cause(&snapshot));
    let nothing = operated(application("web"), operation("Error", "Failed to get destination cluster: no", json!([])));
    let nothing = cause(&alone(nothing));
    assert!(
        nothing.ends_with("ended before anything was applied: Failed to get destination cluster: no."),
        "{nothing}"
    );
    assert_eq!(cause(&alone(failing("web", refused("Service", "x", "")))).matches("it gives no reason").count(), 1);
}

#[test]
fn what_somebody_ended_is_a_notice() {
    let resources = json!([{"group": "apps", "kind": "Deployment", "namespace": "web", "name": "api", "status": "Synced", "hookPhase": "Running"}]);
    let ended = alone(operated(application("web"), operation("Failed", "Operation terminated", resources)));
    assert_eq!(found(&ended), ["AR-SF-013 Application/argocd/web"]);
    assert!(!diagnosis::diagnose(&ended)[0].is_failure());
    assert!(cause(&ended).starts_with("The apply was terminated before it was complete"), "{}", cause(&ended));
}

#[test]
fn what_was_repaired_in_git_and_is_well_is_silent() {
    let failed = failing("web", refused("Deployment", "api", IMMUTABLE));
    let well = with(failed, "/status/sync/status", "Synced");
    assert_eq!(found(&alone(well.clone())), ["AR-SF-002 Application/argocd/web"], "at the same commit");
    let reverted = with(well, "/status/operationState/syncResult/revision", OLD);
    assert_eq!(found(&alone(reverted.clone())), [""; 0]);
    let ended_at = reverted["status"]["operationState"]["finishedAt"].clone();
    assert!(ended_at.is_string(), "{ended_at}");
    let in_the_same_second = with(reverted.clone(), "/status/reconciledAt", ended_at);
    assert_eq!(found(&alone(in_the_same_second)), [""; 0]);
    // The commit that failed is newer than the comparison that reports the application as synced and healthy.
    let stale = with(reverted, "/status/reconciledAt", "2026-01-08T11:58:00Z");
    assert_eq!(found(&alone(stale)), ["AR-SF-002 Application/argocd/web"]);
}

#[test]
fn a_sync_is_asked_for_with_the_applications_own_options() {
    let application = failing("web", refused("Deployment", "api", IMMUTABLE));
    let application = with(application, "/spec/syncPolicy/syncOptions", json!(["CreateNamespace=true"]));
    let commands = commands(&alone(application));
    let patch = r#"-p '{"operation":{"initiatedBy":{"username":"kubectl"},"sync":{"syncOptions":["CreateNamespace=true"]}},"status":{"operationState":null}}'"#;
    assert!(commands.iter().any(|c| c.ends_with(patch)), "{commands:?}");
}
